//! The list of stages, and the cargo commands each consists of.

use std::time::Duration;

use crate::backend::PURE_RUST_FLAGS;

/// A stage that takes this many times its budget is ended.
const PATIENCE: u32 = 4;
/// How much longer test stages may take with `--full`.
const FULL: u32 = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    Setup,
    Format,
    Clippy,
    Xtask,
    Tests,
    Agree,
    /// The benchmarks, without measuring.
    Bench,
    Doctests,
    Docs,
    Alone,
}

/// The backends a stage is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum On {
    OpenBlas,
    PureRust,
    /// Both in one build.
    Both,
    /// The one that set-up chose.
    Chosen,
    /// Nothing that is linked.
    Neither,
}

#[derive(Debug)]
pub(super) struct Stage {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) check: Check,
    pub(super) on: On,
    /// Seconds it may take on two cores, from nothing, without a warning.
    budget: u64,
}

/// The budgets add up to less than 25 minutes, which the whole may take on two
/// cores with an empty target directory.
#[rustfmt::skip] // It is a table.
pub(super) const STAGES: &[Stage] = &[
    stage("setup", "find or install OpenBLAS", Check::Setup, On::Neither, 100),
    stage("format", "cargo fmt", Check::Format, On::Neither, 10),
    stage("clippy-openblas", "lints, OpenBLAS backend", Check::Clippy, On::OpenBlas, 110),
    stage("clippy-pure-rust", "lints, pure-Rust backend", Check::Clippy, On::PureRust, 85),
    stage("xtask", "lints and tests of xtask itself, with `data`", Check::Xtask, On::Neither, 100),
    stage("test-openblas", "tests, OpenBLAS backend", Check::Tests, On::OpenBlas, 560),
    stage("test-pure-rust", "tests, pure-Rust backend (crates above the backend with --full)", Check::Tests, On::PureRust, 290),
    stage("bench", "every task of the benchmarks runs, on tiny inputs", Check::Bench, On::Chosen, 20),
    stage("agree", "both backends give the same results", Check::Agree, On::Both, 135),
    stage("doctest-openblas", "examples in the documentation, OpenBLAS", Check::Doctests, On::OpenBlas, 35),
    stage("doctest-pure-rust", "the same, pure Rust (only with --full or without OpenBLAS)", Check::Doctests, On::PureRust, 15),
    stage("docs", "documentation builds without warnings", Check::Docs, On::Chosen, 25),
    stage("alone", "geometry needs no BLAS, candle or graphs; reading graphs needs neither", Check::Alone, On::Neither, 10),
];

const fn stage(name: &'static str, about: &'static str, check: Check, on: On, budget: u64) -> Stage {
    Stage {
        name,
        about,
        check,
        on,
        budget,
    }
}

/// The crates that meet a backend themselves, and the program, which runs all
/// others. These are linted on the second backend, and tested with `--full`.
/// (egg-nn has none. It and the program turn on the features with which the first
/// backend's build of candle can be used again.)
#[rustfmt::skip] // They are pairs.
const BACKEND_CRATES: &[&str] = &[
    "-p", "egg-geometry", "-p", "egg-nn", "-p", "egg-autodiff", "-p", "egg-cli",
];

/// One call of cargo.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) words: Vec<&'static str>,
    /// Only compiles; if it fails, the backend itself does not build.
    pub(super) compiles: bool,
}

impl Stage {
    pub(super) fn budget(&self, full: bool) -> Duration {
        let slower = full && matches!(self.check, Check::Tests | Check::Agree | Check::Doctests);
        Duration::from_secs(self.budget) * if slower { FULL } else { 1 }
    }

    pub(super) fn limit(&self, full: bool) -> Duration {
        self.budget(full) * PATIENCE
    }

    /// The calls of cargo this stage consists of; none for `setup`. `pure` is
    /// whether set-up chose pure Rust, `full` whether all is to be run on both
    /// backends.
    pub(super) fn steps(&self, pure: bool, full: bool) -> Vec<Step> {
        let flags: &[&str] = match self.on {
            On::PureRust => &PURE_RUST_FLAGS,
            On::Chosen if pure => &PURE_RUST_FLAGS,
            _ => &[],
        };
        let step = |words: &[&[&'static str]]| Step {
            words: words.concat(),
            compiles: false,
        };
        // xtask has no backend, and its tests have a stage of their own.
        let all = &["--workspace", "--exclude", "xtask"][..];
        match self.check {
            Check::Setup => vec![],
            Check::Format => vec![step(&[&["fmt", "--all", "--check"]])],
            Check::Clippy => {
                let denied = &["--all-targets", "--", "-D", "warnings"][..];
                let mut steps = vec![step(&[&["clippy", "--workspace"], flags, denied])];
                // In the workspace others turn on its convolutions.
                if self.on == On::PureRust {
                    let alone = &["clippy", "-p", "egg-graph", "--no-default-features"];
                    steps.push(step(&[alone, denied]));
                }
                steps
            }
            Check::Xtask => vec![
                step(&[
                    &["clippy", "-p", "xtask", "--features", "data"],
                    &["--all-targets", "--", "-D", "warnings"],
                ]),
                step(&[&["test", "-p", "xtask", "--features", "data"]]),
            ],
            Check::Tests => {
                // Criterion's benches run each measurement once here, as a
                // smoke test. Doctests are not among "all targets".
                let is_second_backend = self.on == On::PureRust && !pure;
                let packages = if is_second_backend && !full {
                    BACKEND_CRATES
                } else {
                    all
                };
                let run = step(&[&["test"], packages, flags, &["--all-targets", "--no-fail-fast"]]);
                let compile = Step {
                    words: [&run.words[..], &["--no-run"]].concat(),
                    compiles: true,
                };
                vec![compile, run]
            }
            Check::Agree => vec![step(&[&[
                "test",
                "-p",
                "egg-geometry",
                "--features",
                "pure-rust",
                "--lib",
                "backends_agree",
            ]])],
            // The programs are those of the tests.
            Check::Bench => vec![step(&[&["run", "--package", "xtask", "--", "bench", "--smoke"]])],
            Check::Doctests => vec![step(&[&["test"], all, flags, &["--doc", "--no-fail-fast"]])],
            Check::Docs => {
                let packages = if pure { all } else { &all[..1] };
                vec![step(&[&["doc"], packages, flags, &["--no-deps"]])]
            }
            Check::Alone => [
                ("egg-geometry", &[][..]),
                ("egg-geometry", &PURE_RUST_FLAGS),
                ("egg-graph", &["--no-default-features"]),
            ]
            .into_iter()
            .map(|(package, flags)| {
                step(&[
                    &["tree", "-p", package],
                    flags,
                    &["-e", "normal", "--prefix", "none"],
                ])
            })
            .collect(),
        }
    }
}

/// Whether a line of what `cargo tree WORDS` prints names a package that the
/// crate must do without: neural networks always, graphs in the geometry, BLAS
/// and LAPACK wherever the default backend is off.
pub(super) fn unwanted<'a>(tree_line: &'a str, words: &[&str]) -> Option<&'a str> {
    let package = tree_line.split_whitespace().next()?;
    let starts_with_any = |names: &[&str]| names.iter().any(|name| package.starts_with(name));
    let geometry = words.contains(&"egg-geometry");
    let pure = words.contains(&"--no-default-features");
    let never = starts_with_any(&["candle", "egg-nn"]) || (geometry && package == "petgraph");
    let linear_algebra = starts_with_any(&[
        "openblas",
        "blas",
        "cblas",
        "lapack",
        "lax",
        "ndarray-linalg",
        "netlib",
        "intel-mkl",
        "accelerate",
    ]);
    (never || (pure && linear_algebra)).then_some(package)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(name: &str, pure: bool) -> Vec<String> {
        let stage = STAGES.iter().find(|stage| stage.name == name).unwrap();
        stage
            .steps(pure, false)
            .iter()
            .map(|step| step.words.join(" "))
            .collect()
    }

    #[test]
    fn commands_are_as_documented() {
        assert_eq!(
            lines("clippy-openblas", false),
            ["clippy --workspace --all-targets -- -D warnings"]
        );
        assert_eq!(
            lines("clippy-pure-rust", true),
            [
                "clippy --workspace --no-default-features --features pure-rust --all-targets -- -D warnings",
                "clippy -p egg-graph --no-default-features --all-targets -- -D warnings",
            ]
        );
        assert_eq!(lines("docs", false), ["doc --workspace --no-deps"]);
        assert!(lines("docs", true)[0].contains("--features pure-rust"));
        assert!(lines("setup", false).is_empty());
    }

    #[test]
    fn tests_compile_first() {
        let stage = STAGES.iter().find(|stage| stage.name == "test-openblas").unwrap();
        let steps = stage.steps(false, false);
        assert_eq!(steps.len(), 2);
        assert!(steps[0].compiles && steps[0].words.contains(&"--no-run"));
        assert!(!steps[1].compiles);
    }

    #[test]
    fn the_second_backend_is_tested_where_it_is_met_and_with_full_everywhere() {
        assert!(!lines("test-pure-rust", false)[1].contains("--workspace"));
        assert!(lines("test-pure-rust", false)[1].contains("-p egg-autodiff"));
        assert!(lines("test-pure-rust", true)[1].contains("--workspace"));
        let stage = STAGES
            .iter()
            .find(|stage| stage.name == "test-pure-rust")
            .unwrap();
        assert!(stage.steps(false, true)[1].words.contains(&"--workspace"));
    }

    #[test]
    fn the_whole_fits_in_25_minutes() {
        let total: Duration = STAGES.iter().map(|stage| stage.budget(false)).sum();
        assert!(total < Duration::from_secs(25 * 60), "{total:?}");
    }

    #[test]
    fn unwanted_packages_are_recognised() {
        let geometry = &["tree", "-p", "egg-geometry"][..];
        let pure = &["tree", "-p", "egg-geometry", "--no-default-features"][..];
        let graph = &["tree", "-p", "egg-graph", "--no-default-features"][..];
        for words in [geometry, pure, graph] {
            assert_eq!(unwanted("candle-core v0.11.0", words), Some("candle-core"));
            assert_eq!(unwanted("ndarray v0.17.1", words), None);
            assert_eq!(unwanted("", words), None);
        }
        assert_eq!(unwanted("petgraph v0.8.3", geometry), Some("petgraph"));
        assert_eq!(unwanted("petgraph v0.8.3", graph), None);
        assert_eq!(unwanted("lapack-sys v0.15.0 (*)", pure), Some("lapack-sys"));
        assert_eq!(unwanted("lapack-sys v0.15.0 (*)", graph), Some("lapack-sys"));
        assert_eq!(unwanted("lapack-sys v0.15.0 (*)", geometry), None);
    }
}
