//! Finding an OpenBLAS that links and runs, by linking and running one.
//!
//! Looking for files would not do: without a linkable library the whole
//! workspace compiles and only then fails, and a library that links may still
//! not be found at run time, or may lack LAPACK.

use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Error, Result};
use crate::process::output_of;
use crate::workspace::Workspace;

/// Names a BLAS, a LAPACK and OpenBLAS's own functions, so that linking it
/// proves all three.
const PROGRAM: &str = r#"
use std::ffi::{CStr, c_char, c_int};
unsafe extern "C" {
    fn openblas_get_corename() -> *const c_char;
    fn openblas_get_config() -> *const c_char;
    fn openblas_get_parallel() -> c_int;
    fn cblas_dgemm();
    fn dgesdd_();
    fn dsyevd_();
}
fn main() {
    std::hint::black_box([cblas_dgemm as *const (), dgesdd_ as *const (), dsyevd_ as *const ()]);
    // SAFETY: the functions take nothing; the first two return static strings.
    unsafe {
        println!("core={}", CStr::from_ptr(openblas_get_corename()).to_string_lossy());
        println!("config={}", CStr::from_ptr(openblas_get_config()).to_string_lossy());
        println!("parallel={}", openblas_get_parallel());
    }
}
"#;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threading {
    Sequential,
    Pthread,
    OpenMp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenBlas {
    pub(crate) version: String,
    /// The kernels in use, named after the processor they were written for.
    pub(crate) core: String,
    pub(crate) threading: Threading,
    /// What `OPENBLAS_CORETYPE` has to be for `core` to be in use.
    pub(crate) core_override: Option<String>,
}

impl Display for OpenBlas {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let threading = match self.threading {
            Threading::Sequential => "no threads",
            Threading::Pthread => "pthread",
            Threading::OpenMp => "OpenMP",
        };
        write!(f, "OpenBLAS {}, {} kernels, {threading}", self.version, self.core)
    }
}

pub(crate) enum Search {
    Found(Probe),
    /// Why there is none, in the linker's words where there are any.
    Missing(String),
}

/// A program linked to OpenBLAS.
pub(crate) struct Probe {
    program: PathBuf,
    /// Its report without `OPENBLAS_CORETYPE`.
    pub(crate) report: OpenBlas,
    _folder: Folder,
}

/// A directory that goes away with its value.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn find(workspace: &Workspace) -> Result<Search> {
    match link_flags("openblas") {
        Some(flags) => link(workspace, &flags),
        None => Ok(Search::Missing("neither pkg-config nor Homebrew knows it".into())),
    }
}

/// Where the build script of openblas-src looks in its `system` mode, in its
/// order. `None` where that script would give up.
fn link_flags(library: &str) -> Option<Vec<String>> {
    let pkg_config = env::var_os("PKG_CONFIG").unwrap_or_else(|| "pkg-config".into());
    if let Some(flags) = output_of(Command::new(pkg_config).args(["--libs", library])) {
        return Some(linker_words(&flags));
    }
    let mut flags = vec!["-l".into(), library.into()];
    if cfg!(target_os = "macos") {
        for formula in [library, "libomp"] {
            let prefix = output_of(Command::new("brew").args(["--prefix", formula]))?;
            flags.extend(["-L".into(), format!("{prefix}/lib")]);
        }
    }
    Some(flags)
}

/// rustc understands `-L` and `-l`; anything else is for a C compiler.
fn linker_words(flags: &str) -> Vec<String> {
    flags
        .split_whitespace()
        .filter(|word| word.starts_with("-L") || word.starts_with("-l"))
        .map(String::from)
        .collect()
}

fn link(workspace: &Workspace, flags: &[String]) -> Result<Search> {
    // The process id keeps two runs at the same time apart.
    let folder = Folder(workspace.scratch(&format!("xtask/openblas-probe-{}", std::process::id()))?);
    let program = folder.0.join(format!("probe{}", env::consts::EXE_SUFFIX));
    let source = folder.0.join("probe.rs");
    std::fs::write(&source, PROGRAM).map_err(|e| Error::while_doing(source.display(), e))?;

    let rustc = env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let output = Command::new(&rustc)
        .args(["--edition", "2024", "--crate-name", "probe"])
        // Somebody whose OpenBLAS is in an odd place says so here, as to cargo.
        .args(env::var("RUSTFLAGS").unwrap_or_default().split_whitespace())
        .args(flags)
        .arg("-o")
        .args([&program, &source])
        .stdin(Stdio::null())
        .output()
        .map_err(|e| Error::while_doing(format!("could not start {rustc:?}"), e))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Ok(Search::Missing(linker_complaint(&stderr)));
    }
    Ok(match run(&program, None) {
        Ok(report) => Search::Found(Probe {
            program,
            report,
            _folder: folder,
        }),
        Err(reason) => Search::Missing(format!(
            "it links, but a program that uses it does not run: {reason}"
        )),
    })
}

impl Probe {
    /// Starts the program with a core type asked for.
    pub(crate) fn run(&self, core: &str) -> std::result::Result<OpenBlas, String> {
        run(&self.program, Some(core))
    }
}

fn run(program: &Path, core: Option<&str>) -> std::result::Result<OpenBlas, String> {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    match core {
        Some(core) => command.env("OPENBLAS_CORETYPE", core),
        None => command.env_remove("OPENBLAS_CORETYPE"),
    };
    let output = command.output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let first = stderr.lines().next().unwrap_or_default();
        return Err(format!("{} {first}", output.status).trim_end().to_owned());
    }
    parse_report(&String::from_utf8_lossy(&output.stdout))
}

fn parse_report(text: &str) -> std::result::Result<OpenBlas, String> {
    let value = |key: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
            .ok_or_else(|| format!("it did not say its {key}"))
    };
    Ok(OpenBlas {
        // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..."; releases before
        // 0.3.4 leave the version out.
        version: value("config")?
            .split_whitespace()
            .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
            .unwrap_or("of unknown version")
            .to_owned(),
        core: value("core")?.to_owned(),
        threading: match value("parallel")? {
            "0" => Threading::Sequential,
            "1" => Threading::Pthread,
            "2" => Threading::OpenMp,
            other => return Err(format!("unknown kind of threads {other}")),
        },
        core_override: None,
    })
}

/// The one line that matters in a page of linker output.
fn linker_complaint(stderr: &str) -> String {
    let symptoms = [
        "unable to find library",
        "cannot find -l",
        "library not found",
        "library '",
        "undefined symbol",
        "undefined reference",
    ];
    stderr
        .lines()
        .find(|line| symptoms.iter().any(|words| line.contains(words)))
        .or_else(|| stderr.lines().find(|line| line.starts_with("error")))
        .unwrap_or("the linker failed without a word")
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_of_openblas_is_parsed() {
        let text = "core=Prescott\nconfig=OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH\nparallel=1\n";
        let report = parse_report(text).unwrap();
        assert_eq!(report.version, "0.3.21");
        assert_eq!(report.core, "Prescott");
        assert_eq!(report.threading, Threading::Pthread);
        assert!(parse_report("core=Zen\n").is_err());
        assert!(parse_report(&text.replace("=1", "=7")).is_err());
    }

    #[test]
    fn only_linker_words_are_kept() {
        assert_eq!(
            linker_words("-L/opt/blas/lib -fopenmp -lopenblas -lm"),
            ["-L/opt/blas/lib", "-lopenblas", "-lm"]
        );
    }

    #[test]
    fn the_linkers_error_line_is_found() {
        let text = "error: linking with `cc` failed\n  = note: many words\n   rust-lld: error: unable to find library -lopenblas\n";
        assert_eq!(
            linker_complaint(text),
            "rust-lld: error: unable to find library -lopenblas"
        );
        assert_eq!(linker_complaint("error: no `cc`\n"), "error: no `cc`");
    }

    #[test]
    fn missing_library_is_reported_missing() {
        let flags = link_flags("openblas_missing").unwrap_or_default();
        match link(&Workspace::find().unwrap(), &flags).unwrap() {
            Search::Missing(reason) => assert!(reason.contains("openblas"), "{reason}"),
            Search::Found(_) => panic!("found a library that does not exist"),
        }
    }
}
