//! Better OpenBLAS kernels where OpenBLAS underrates the processor.
//!
//! A release that is older than the processor falls back to SSE kernels
//! ("Prescott"), which costs about a third of the speed. The remedy is the
//! variable `OPENBLAS_CORETYPE`, but OpenBLAS reads it when it is loaded, too
//! early for a program to set it for itself. So the choice is kept in
//! `.cargo/openblas.toml`, which cargo hands to whatever it runs.

use std::path::{Path, PathBuf};

use egg_results::better_openblas_kernels;

use crate::error::{Error, Result};
use crate::openblas::{OpenBlas, Probe};
use crate::workspace;

/// Which kernels OpenBLAS is to use.
pub(crate) const VARIABLE: &str = "OPENBLAS_CORETYPE";

/// What came of choosing the kernels: the library as it will be used, and
/// lines for the user, if any.
pub(crate) struct Chosen {
    pub(crate) openblas: OpenBlas,
    pub(crate) changed: Option<String>,
    pub(crate) warning: Option<String>,
}

pub(crate) fn choose(root: &Path, probe: &Probe) -> Result<Chosen> {
    let file = ConfigFile::in_workspace(root);
    let in_environment = std::env::var(VARIABLE).ok().filter(|core| !core.is_empty());
    if let Some(core) = users_own(in_environment, file.read().as_deref()) {
        // Whatever the user asked for stays; the file would lose against it.
        let mut openblas = probe
            .run(&core)
            .map_err(|e| Error::Failed(format!("OpenBLAS fails with {VARIABLE}={core}: {e}")))?;
        openblas.core_override = Some(core.clone());
        return Ok(Chosen {
            openblas,
            changed: None,
            warning: Some(format!(
                "{VARIABLE}={core} is set in your environment and is kept"
            )),
        });
    }

    let old = &probe.report.core;
    let cores = better_openblas_kernels(old);
    // Asking is not enough: a build for one processor only ignores the
    // variable, and a kernel the processor cannot run would crash.
    let verified = cores.iter().find_map(|core| {
        let report = probe.run(core).ok()?;
        report.core.eq_ignore_ascii_case(core).then_some(report)
    });
    if let Some(mut report) = verified {
        let core = report.core.clone();
        let is_new = file.write(&core, old)?;
        report.core_override = Some(core.clone());
        return Ok(Chosen {
            openblas: report,
            changed: is_new.then(|| format!("wrote .cargo/openblas.toml: {core} kernels instead of {old}")),
            warning: None,
        });
    }
    let warning = format!(
        "OpenBLAS uses its old {old} kernels and ignores {VARIABLE}; a newer release would be faster"
    );
    let removed = "removed .cargo/openblas.toml: no longer needed";
    Ok(Chosen {
        warning: (!cores.is_empty()).then_some(warning),
        changed: file.remove()?.then(|| removed.to_owned()),
        openblas: probe.report.clone(),
    })
}

/// The core type the user set. `cargo xtask` itself runs under the config
/// file, so a value equal to the file's is ours, from last time.
fn users_own(in_environment: Option<String>, in_file: Option<&str>) -> Option<String> {
    in_environment.filter(|core| Some(core.as_str()) != in_file)
}

struct ConfigFile(PathBuf);

impl ConfigFile {
    fn in_workspace(root: &Path) -> Self {
        Self(root.join(".cargo").join("openblas.toml"))
    }

    fn read(&self) -> Option<String> {
        let text = std::fs::read_to_string(&self.0).ok()?;
        let value = text
            .lines()
            .find_map(|line| line.trim().strip_prefix(VARIABLE)?.trim().strip_prefix('='))?;
        Some(value.trim().trim_matches('"').to_owned())
    }

    /// Says whether the file had to change.
    fn write(&self, core: &str, instead_of: &str) -> Result<bool> {
        let text = format!(
            "# Written by `cargo xtask setup` for this machine; safe to delete, not to commit.\n\
             # Left to itself OpenBLAS uses its old {instead_of} kernels here, which are slower.\n\
             [env]\n\
             {VARIABLE} = \"{core}\"\n"
        );
        if std::fs::read_to_string(&self.0).is_ok_and(|old| old == text) {
            return Ok(false);
        }
        workspace::write(&self.0, &text)?;
        Ok(true)
    }

    /// Says whether there was one.
    fn remove(&self) -> Result<bool> {
        match std::fs::remove_file(&self.0) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::while_doing(self.0.display(), error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_type_from_our_file_is_not_the_users() {
        let set = |core: &str| Some(core.to_owned());
        assert_eq!(users_own(set("Haswell"), Some("Haswell")), None);
        assert_eq!(users_own(set("Zen"), Some("Haswell")), set("Zen"));
        assert_eq!(users_own(set("Zen"), None), set("Zen"));
        assert_eq!(users_own(None, Some("Haswell")), None);
    }

    #[test]
    fn the_file_is_written_and_removed_once() {
        let directory = std::env::temp_dir().join(format!("xtask-kernel-{}", std::process::id()));
        std::fs::create_dir_all(directory.join(".cargo")).unwrap();
        let file = ConfigFile::in_workspace(&directory);
        assert_eq!(file.read(), None);
        assert!(file.write("Haswell", "Prescott").unwrap());
        assert!(!file.write("Haswell", "Prescott").unwrap());
        assert_eq!(file.read().as_deref(), Some("Haswell"));
        assert!(file.write("SkylakeX", "Prescott").unwrap());
        assert_eq!(file.read().as_deref(), Some("SkylakeX"));
        assert!(file.remove().unwrap());
        assert!(!file.remove().unwrap());
        assert_eq!(std::fs::read_dir(directory.join(".cargo")).unwrap().count(), 0);
        std::fs::remove_dir_all(directory).unwrap();
    }
}
