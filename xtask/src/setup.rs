//! `cargo xtask setup`: decides the backend and makes the machine fit for it.

use clap::Args;

use crate::backend::{Backend, Forced};
use crate::error::{Error, Result};
use crate::kernel::{self, Chosen};
use crate::openblas::{self, Probe, Search, Threading};
use crate::package_manager::PackageManager;
use crate::terminal;
use crate::workspace::Workspace;

/// Find OpenBLAS, install it if it is missing, choose its kernels
///
/// Links and runs a small program to see whether there is a usable OpenBLAS. If not, installs it with apt-get, dnf,
/// pacman or brew: as root, or with sudo where that asks no password. Then makes sure it uses the processor's best
/// kernels; a choice other than OpenBLAS's own is written to .cargo/openblas.toml, which is not committed and may be
/// deleted.
///
/// Without OpenBLAS the pure-Rust backend is used; nothing fails for want of it, unless EGG_BACKEND=openblas says so.
/// With EGG_BACKEND=pure-rust OpenBLAS is not looked for.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Look, but install nothing
    #[arg(long)]
    no_install: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Install {
    Allowed,
    Not,
}

pub(crate) fn command(workspace: &Workspace, options: &Options) -> Result<()> {
    let install = match options.no_install {
        true => Install::Not,
        false => Install::Allowed,
    };
    prepare(workspace, install).map(|_| ())
}

/// Decides the backend, prepares the machine for it, and says what was done.
pub(crate) fn prepare(workspace: &Workspace, install: Install) -> Result<Backend> {
    let (backend, lines) = examine(workspace, install)?;
    for line in lines {
        println!("{line}");
    }
    Ok(backend)
}

/// `prepare`, with the summary for the caller to print or not.
pub(crate) fn examine(workspace: &Workspace, install: Install) -> Result<(Backend, Vec<String>)> {
    let forced = Forced::parse(std::env::var("EGG_BACKEND").ok().as_deref()).map_err(Error::Failed)?;
    let decision = decide(
        forced,
        || openblas::find(workspace),
        || match install {
            Install::Allowed => try_install(),
            Install::Not => Err(advice("it was not installed because of --no-install")),
        },
    )?;
    Ok(match decision {
        Decision::OpenBlas { probe, installed } => {
            let chosen = kernel::choose(&workspace.root, &probe)?;
            let lines = summary(&chosen, installed);
            (Backend::OpenBlas(chosen.openblas), lines)
        }
        Decision::PureRust { reason, remedy } => {
            let mut lines = vec![format!("backend   pure Rust (faer): {reason}")];
            lines.extend(remedy.map(|remedy| terminal::doubtful(&format!("note      {remedy}"))));
            (Backend::PureRust(reason), lines)
        }
    })
}

enum Decision {
    OpenBlas { probe: Probe, installed: bool },
    PureRust { reason: String, remedy: Option<String> },
}

/// Only the logic: `find` looks for the library, `install` tries to get it
/// or says what the user can do.
fn decide(
    forced: Forced,
    find: impl Fn() -> Result<Search>,
    install: impl FnOnce() -> std::result::Result<(), String>,
) -> Result<Decision> {
    if forced == Forced::PureRust {
        return Ok(Decision::PureRust {
            reason: "EGG_BACKEND=pure-rust".into(),
            remedy: None,
        });
    }
    let openblas = |probe, installed| Ok(Decision::OpenBlas { probe, installed });
    let missing = match find()? {
        Search::Found(probe) => return openblas(probe, false),
        Search::Missing(why) => why,
    };
    println!("No usable OpenBLAS: {missing}");
    let (missing, remedy) = match install() {
        Ok(()) => match find()? {
            Search::Found(probe) => return openblas(probe, true),
            Search::Missing(why) => (
                why,
                "OpenBLAS was installed but still cannot be linked; see the line above".into(),
            ),
        },
        Err(remedy) => (missing, remedy),
    };
    if forced == Forced::OpenBlas {
        return Err(Error::Failed(format!(
            "EGG_BACKEND=openblas, but there is no usable OpenBLAS: {missing}\n{remedy}"
        )));
    }
    Ok(Decision::PureRust {
        reason: "no OpenBLAS".into(),
        remedy: Some(remedy),
    })
}

fn try_install() -> std::result::Result<(), String> {
    match PackageManager::find() {
        Some(manager) => manager.install().map_err(|why| advice(&why)),
        None => Err(advice("no package manager known here was found")),
    }
}

fn advice(why: &str) -> String {
    let command = match PackageManager::find() {
        Some(manager) => format!("run: {}", manager.advice()),
        None => "install OpenBLAS with its development files".into(),
    };
    format!("{why}; for the OpenBLAS backend {command}")
}

fn summary(chosen: &Chosen, installed: bool) -> Vec<String> {
    let openblas = &chosen.openblas;
    let mut lines = vec![format!("backend   {openblas}")];
    let installed = installed.then(|| "installed OpenBLAS".to_owned());
    let changed = installed.iter().chain(&chosen.changed);
    lines.extend(changed.map(|what| format!("changed   {what}")));
    if lines.len() == 1 {
        lines.push("changed   nothing".into());
    }
    let openmp = (openblas.threading == Threading::OpenMp).then(|| {
        "this is the OpenMP build, whose thread count belongs to each thread; the library sets it to \
         one on every thread it uses, but code that calls BLAS on its own from rayon fares better \
         with the pthread build (Debian: libopenblas-pthread-dev)"
            .to_owned()
    });
    let warnings = chosen.warning.iter().chain(&openmp);
    lines.extend(warnings.map(|what| terminal::doubtful(&format!("warning   {what}"))));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn missing() -> Result<Search> {
        Ok(Search::Missing("no -lopenblas".into()))
    }

    #[test]
    fn without_openblas_pure_rust_is_chosen_with_a_remedy() {
        let decision = decide(Forced::No, missing, || Err("run: this".into())).unwrap();
        match decision {
            Decision::PureRust { remedy, .. } => assert_eq!(remedy.unwrap(), "run: this"),
            Decision::OpenBlas { .. } => panic!("there is none"),
        }
    }

    #[test]
    fn an_install_without_effect_falls_back_to_pure_rust() {
        let looked = Cell::new(0);
        let find = || {
            looked.set(looked.get() + 1);
            missing()
        };
        let decision = decide(Forced::No, find, || Ok(())).unwrap();
        assert!(matches!(decision, Decision::PureRust { .. }));
        assert_eq!(looked.get(), 2);
    }

    #[test]
    fn forcing_openblas_makes_its_absence_an_error() {
        let error = decide(Forced::OpenBlas, missing, || Err("run: this".into()))
            .err()
            .unwrap();
        assert!(error.to_string().contains("run: this"));
    }

    #[test]
    fn forced_pure_rust_skips_the_search() {
        let decision = decide(Forced::PureRust, || panic!("looked"), || panic!("installed")).unwrap();
        assert!(matches!(decision, Decision::PureRust { remedy: None, .. }));
    }
}
