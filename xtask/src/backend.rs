//! Which linear algebra everything else runs on, and what that means for the
//! processes we start.

use std::process::Command;

use crate::openblas::{OpenBlas, Threading};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Backend {
    OpenBlas(OpenBlas),
    /// faer: needs nothing from the system. The text says why it was chosen.
    PureRust(String),
}

/// What selects the pure-Rust backend in any package of the workspace.
pub(crate) const PURE_RUST_FLAGS: [&str; 3] = ["--no-default-features", "--features", "pure-rust"];

impl Backend {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::OpenBlas(_) => "OpenBLAS",
            Self::PureRust(_) => "pure-Rust",
        }
    }

    pub(crate) fn openblas(&self) -> Option<&OpenBlas> {
        match self {
            Self::OpenBlas(openblas) => Some(openblas),
            Self::PureRust(_) => None,
        }
    }

    pub(crate) fn cargo_flags(&self) -> &'static [&'static str] {
        match self {
            Self::OpenBlas(_) => &[],
            Self::PureRust(_) => &PURE_RUST_FLAGS,
        }
    }

    /// The environment for a child that may call OpenBLAS.
    pub(crate) fn apply(&self, command: &mut Command) {
        let Self::OpenBlas(openblas) = self else {
            return;
        };
        // OpenBLAS threads inside rayon threads fight for the cores. The
        // library sets one thread itself; this also covers what calls
        // OpenBLAS before, or besides, the library.
        command.env("OPENBLAS_NUM_THREADS", "1");
        if openblas.threading == Threading::OpenMp {
            command.env("OMP_NUM_THREADS", "1");
        }
        match &openblas.core_override {
            Some(core) => command.env("OPENBLAS_CORETYPE", core),
            // A choice that set-up has just withdrawn is still in our own
            // environment.
            None => command.env_remove("OPENBLAS_CORETYPE"),
        };
    }
}

/// candle's own threads wait for work in a busy loop, on the cores that rayon's
/// threads need.
pub(crate) fn limit_candle_threads(command: &mut Command) {
    if std::env::var_os("CANDLE_NUM_THREADS").is_none() {
        command.env("CANDLE_NUM_THREADS", "1");
    }
}

/// The choice made in `EGG_BACKEND`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forced {
    No,
    OpenBlas,
    PureRust,
}

impl Forced {
    pub(crate) fn parse(value: Option<&str>) -> Result<Self, String> {
        match value {
            None | Some("") => Ok(Self::No),
            Some("openblas") => Ok(Self::OpenBlas),
            Some("pure-rust") => Ok(Self::PureRust),
            Some(other) => Err(format!(
                "EGG_BACKEND is `{other}`; set it to `openblas` or `pure-rust`, or unset it"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_checked() {
        assert_eq!(Forced::parse(None), Ok(Forced::No));
        assert_eq!(Forced::parse(Some("pure-rust")), Ok(Forced::PureRust));
        assert!(Forced::parse(Some("mkl")).unwrap_err().contains("mkl"));
    }

    #[test]
    fn children_get_one_thread_and_the_kernel() {
        let backend = Backend::OpenBlas(OpenBlas {
            version: "0.3.21".into(),
            core: "Haswell".into(),
            threading: Threading::OpenMp,
            core_override: Some("Haswell".into()),
        });
        let mut command = Command::new("true");
        backend.apply(&mut command);
        let set: Vec<_> = command
            .get_envs()
            .map(|(name, _)| name.to_str().unwrap())
            .collect();
        assert_eq!(
            set,
            ["OMP_NUM_THREADS", "OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS"]
        );
        assert!(backend.cargo_flags().is_empty());
    }
}
