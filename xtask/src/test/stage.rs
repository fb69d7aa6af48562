//! The list of stages, and the cargo commands each consists of.

use std::time::Duration;

use super::supply::Need;
use crate::backend::PURE_RUST_FLAGS;

/// A stage that takes this many times its budget is ended ...
const LIMIT_FACTOR: u32 = 4;
/// ... but none before this: a quick one may wait for a registry, or for a disk.
const LEAST_LIMIT: Duration = Duration::from_secs(300);
/// How much longer test stages may take with `--full`.
const FULL: u32 = 5;
/// Where everything is compiled that else is only packed.
const FULL_PACKAGE: u32 = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    Words,
    Setup,
    Format,
    Clippy,
    Xtask,
    Tests,
    /// The geometry's tests on other kernels of OpenBLAS.
    Kernels,
    Agree,
    /// The benchmarks, without measuring.
    Bench,
    /// Random input.
    Fuzz,
    Doctests,
    Docs,
    GeometryOnly,
    /// A crate that adds components of its own.
    Own,
    /// Dependencies: licences, sources, versions, and whether they are used.
    Supply,
    Package,
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

/// The budgets add up to less than 25 minutes, which the whole may
/// take on two cores with an empty target directory.
#[rustfmt::skip] // It is a table.
pub(super) const STAGES: &[Stage] = &[
    stage("words", "names, documentation and help without the words that the glossary replaces", Check::Words, On::Neither, 5),
    stage("setup", "find or install OpenBLAS", Check::Setup, On::Neither, 45),
    stage("format", "cargo fmt", Check::Format, On::Neither, 5),
    stage("clippy-openblas", "lints, OpenBLAS backend", Check::Clippy, On::OpenBlas, 105),
    stage("clippy-pure-rust", "lints, pure-Rust backend", Check::Clippy, On::PureRust, 90),
    stage("xtask", "tests of xtask itself", Check::Xtask, On::Neither, 25),
    stage("test-openblas", "tests, OpenBLAS backend", Check::Tests, On::OpenBlas, 620),
    stage("kernels", "the geometry's tests with two other kernels of OpenBLAS", Check::Kernels, On::OpenBlas, 50),
    stage("test-pure-rust", "tests, pure-Rust backend (crates above it with --full)", Check::Tests, On::PureRust, 150),
    stage("bench", "every task of the benchmarks runs, on tiny inputs", Check::Bench, On::Chosen, 5),
    stage("fuzz", "random input for every reader, 30 s of it (10 minutes with --full)", Check::Fuzz, On::Chosen, 40),
    stage("agree", "both backends give the same results, in one process (only with --full)", Check::Agree, On::Both, 125),
    stage("doctest-openblas", "examples in the documentation, OpenBLAS", Check::Doctests, On::OpenBlas, 30),
    stage("doctest-pure-rust", "the same, pure Rust (only with --full or without OpenBLAS)", Check::Doctests, On::PureRust, 15),
    stage("docs", "documentation builds without warnings (on all features with --full)", Check::Docs, On::Chosen, 28),
    stage("geometry-only", "geometry needs no BLAS, candle or graphs, and runs by itself; reading and fetching graphs needs neither", Check::GeometryOnly, On::Neither, 60),
    stage("own", "docs/tutorials/own-components, a crate outside the workspace, builds and runs", Check::Own, On::Chosen, 100),
    stage("supply", "dependencies: licences, sources, duplicates, advisories, none unused", Check::Supply, On::Neither, 65),
    stage("package", "every crate packages (and builds from its package with --full)", Check::Package, On::Chosen, 3),
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

/// The one crate whose sources depend on the backend: what is linted and tested on the second one. All others meet
/// it through this one, and are tested with `--full`.
const BACKEND_CRATES: &str = "-p egg-geometry";

/// xtask has no backend, and its tests have a stage of their own.
pub(super) const ALL: &str = "--workspace --exclude xtask";

/// One call of cargo.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    /// What follows `cargo`, with a space between words.
    pub(super) line: String,
    /// Only compiles; if it fails, the backend itself does not build.
    pub(super) compiles: bool,
    /// In the crate that `outside.rs` writes, not in the workspace.
    pub(super) outside: bool,
    /// The step is skipped where this is missing.
    pub(super) need: Option<Need>,
}

fn step(line: &str) -> Step {
    Step {
        // Parts of a line may be empty.
        line: line.split_whitespace().collect::<Vec<_>>().join(" "),
        ..Step::default()
    }
}

impl Step {
    /// Whether it runs a program of ours.
    pub(super) fn runs(&self) -> bool {
        self.line.starts_with("run ")
    }

    fn outside(self) -> Self {
        Self {
            outside: true,
            ..self
        }
    }

    fn needs(self, need: Need) -> Self {
        Self {
            need: Some(need),
            ..self
        }
    }
}

impl Stage {
    pub(super) fn budget(&self, full: bool) -> Duration {
        let times = match self.check {
            _ if !full => 1,
            Check::Tests | Check::Agree | Check::Doctests | Check::Docs => FULL,
            Check::Package => FULL_PACKAGE,
            // Ten minutes, and what it takes besides.
            Check::Fuzz => 13,
            _ => 1,
        };
        Duration::from_secs(self.budget) * times
    }

    /// Whether it runs only with `--full`: what it shows is shown by other stages too, in
    /// less time. Without OpenBLAS (`pure`) they are not there.
    pub(super) fn needs_full(&self, pure: bool) -> bool {
        match self.check {
            Check::Doctests => self.on == On::PureRust && !pure,
            Check::Agree => true,
            _ => false,
        }
    }

    pub(super) fn limit(&self, full: bool) -> Duration {
        (self.budget(full) * LIMIT_FACTOR).max(LEAST_LIMIT)
    }

    /// The calls of cargo this stage consists of; none for `setup`. `pure` is
    /// whether set-up chose pure Rust, `full` whether all is to be run on both
    /// backends.
    pub(super) fn steps(&self, pure: bool, full: bool) -> Vec<Step> {
        let pure_rust = PURE_RUST_FLAGS.join(" ");
        let flags = match self.on {
            On::PureRust => &*pure_rust,
            On::Chosen if pure => &pure_rust,
            _ => "",
        };
        let is_second_backend = self.on == On::PureRust && !pure && !full;
        let packages_of = |all| if is_second_backend { BACKEND_CRATES } else { all };
        // Benchmarks and examples are the same on both backends.
        let targets = if is_second_backend {
            "--lib --tests"
        } else {
            "--all-targets"
        };
        match self.check {
            Check::Words | Check::Setup | Check::Kernels => vec![],
            Check::Format => vec![step("fmt --all --check")],
            Check::Clippy => {
                let packages = packages_of("--workspace");
                let mut steps = vec![step(&format!(
                    "clippy {packages} {flags} {targets} -- -D warnings"
                ))];
                // In the workspace others turn on the convolutions of egg-graph and the downloads of
                // egg-datasets, and the tests of egg-nn its feature for candle-nn.
                if self.on == On::PureRust {
                    steps.push(step(
                        "clippy -p egg-graph -p egg-datasets -p egg-nn --lib --no-default-features -- -D warnings",
                    ));
                }
                steps
            }
            // It is linted with the workspace.
            Check::Xtask => vec![step("test -p xtask")],
            Check::Tests => {
                // Criterion's benches run each measurement once here, as a
                // smoke test. Doctests are not among "all targets".
                let packages = packages_of(ALL);
                let run = format!("test {packages} {flags} {targets} --no-fail-fast");
                let compile = Step {
                    compiles: true,
                    ..step(&format!("{run} --no-run"))
                };
                vec![compile, step(&run)]
            }
            Check::Agree => vec![step(
                "test -p egg-geometry --features pure-rust --lib backends_agree",
            )],
            // The program is one of the tests', if all of them are named.
            Check::Fuzz => {
                let seconds = if full { 600 } else { 30 };
                vec![step(&format!(
                    "test {ALL} {flags} --test fuzz -- --seconds {seconds}"
                ))]
            }
            // The programs are those of the tests.
            Check::Bench => vec![step("run --package xtask -- bench --smoke")],
            Check::Doctests => vec![step(&format!("test {ALL} {flags} --doc --no-fail-fast"))],
            Check::Docs => {
                let candle_nn = "--features egg-nn/candle-nn";
                let (packages, features) = match (pure, full) {
                    (true, _) => (ALL, candle_nn),
                    // Both backends have to be compiled for it.
                    (false, true) => ("--workspace", "--all-features"),
                    (false, false) => ("--workspace", candle_nn),
                };
                vec![step(&format!("doc {packages} {flags} {features} --no-deps"))]
            }
            Check::GeometryOnly => {
                let tree = |what: &str| step(&format!("tree {what} -e normal --prefix none"));
                vec![
                    tree("-p egg-geometry"),
                    tree(&format!("-p egg-geometry {pure_rust}")),
                    tree("-p egg-graph --no-default-features"),
                    tree("-p egg-datasets --no-default-features --features fetch"),
                    tree("").outside(),
                    step("run --quiet").outside(),
                ]
            }
            Check::Own => vec![step(&format!("run --quiet {flags}")).outside()],
            Check::Supply => vec![
                step("deny check bans licenses sources").needs(Need::Tool("cargo-deny")),
                step("deny check --disable-fetch advisories").needs(Need::Advisories),
                step("machete").needs(Need::Installed("cargo-machete", "0.9.2")),
            ],
            Check::Package => {
                // From the files as they are; with `--full` each is compiled
                // from its archive, against the archives of the others. Offline:
                // cargo would ask the registry for each, and all is here. (On the
                // default backend only: not every crate has a feature to choose.)
                let how = if full && !pure { "" } else { "--no-verify" };
                vec![step(&format!(
                    "package {ALL} --exclude egg-fuzz --exclude egg-reproduce --allow-dirty --offline {how}"
                ))]
            }
        }
    }
}

/// Whether a line of what `cargo tree` prints names a package that the crate it
/// was asked about must do without: neural networks always, graphs in the geometry, BLAS
/// and LAPACK wherever the default backend is off.
pub(super) fn unwanted<'a>(tree_line: &'a str, step: &Step) -> Option<&'a str> {
    let package = tree_line.split_whitespace().next()?;
    let starts_with_any = |names: &[&str]| names.iter().any(|name| package.starts_with(name));
    let geometry = step.outside || step.line.contains("egg-geometry");
    let pure = step.outside || step.line.contains("--no-default-features");
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

    fn lines(name: &str, pure: bool, full: bool) -> Vec<String> {
        let stage = STAGES.iter().find(|stage| stage.name == name).unwrap();
        let steps = stage.steps(pure, full).into_iter();
        steps.map(|step| step.line).collect()
    }

    #[test]
    fn commands_are_as_documented() {
        assert!(lines("setup", false, false).is_empty());
        assert_eq!(
            lines("clippy-openblas", false, false),
            ["clippy --workspace --all-targets -- -D warnings"]
        );
        assert_eq!(
            lines("clippy-pure-rust", true, false),
            [
                "clippy --workspace --no-default-features --features pure-rust --all-targets -- -D warnings",
                "clippy -p egg-graph -p egg-datasets -p egg-nn --lib --no-default-features -- -D warnings",
            ]
        );
        assert_eq!(
            lines("docs", false, false),
            ["doc --workspace --features egg-nn/candle-nn --no-deps"]
        );
        assert!(lines("docs", true, false)[0].contains("--features pure-rust --features egg-nn/candle-nn"));
        assert!(lines("package", false, false)[0].ends_with("--no-verify"));
        // The second backend is looked at where it is met, and everywhere with `--full` or where it is the only one.
        for name in ["clippy-pure-rust", "test-pure-rust"] {
            assert!(lines(name, false, false)[0].contains("-p egg-geometry --no-default-features"));
            assert!(lines(name, false, false)[0].contains("--lib --tests"));
            for (pure, full) in [(true, false), (false, true)] {
                assert!(lines(name, pure, full)[0].contains("--workspace"));
            }
        }
    }

    #[test]
    fn tests_compile_first() {
        let stage = STAGES.iter().find(|stage| stage.name == "test-openblas").unwrap();
        let [compile, run] = &stage.steps(false, false)[..] else {
            panic!("two steps");
        };
        assert_eq!(compile.line, format!("{} --no-run", run.line));
        assert!(compile.compiles && !run.compiles);
    }

    #[test]
    fn all_stages_fit_in_25_minutes() {
        // Without OpenBLAS its stages are skipped; with it, two of the others.
        let with = |stage: &&Stage| !stage.needs_full(false);
        let without = |stage: &&Stage| !matches!(stage.on, On::OpenBlas | On::Both);
        let total = |stages: Vec<&Stage>| stages.iter().map(|stage| stage.budget(false)).sum::<Duration>();
        for total in [
            total(STAGES.iter().filter(with).collect()),
            total(STAGES.iter().filter(without).collect()),
        ] {
            assert!(total < Duration::from_secs(25 * 60), "{total:?}");
        }
    }

    #[test]
    fn unwanted_packages_are_recognised() {
        let geometry = &step("tree -p egg-geometry");
        let pure = &step("tree -p egg-geometry --no-default-features");
        let outside = &step("tree").outside();
        let graph = &step("tree -p egg-graph --no-default-features");
        for step in [geometry, pure, outside, graph] {
            assert_eq!(unwanted("candle-core v0.11.0", step), Some("candle-core"));
            assert_eq!(unwanted("ndarray v0.17.1", step), None);
            assert_eq!(unwanted("", step), None);
        }
        assert_eq!(unwanted("petgraph v0.8.3", outside), Some("petgraph"));
        assert_eq!(unwanted("openblas-src v0.10.16", outside), Some("openblas-src"));
        assert_eq!(unwanted("petgraph v0.8.3", geometry), Some("petgraph"));
        assert_eq!(unwanted("petgraph v0.8.3", graph), None);
        assert_eq!(unwanted("lapack-sys v0.15.0 (*)", pure), Some("lapack-sys"));
        assert_eq!(unwanted("lapack-sys v0.15.0 (*)", graph), Some("lapack-sys"));
        assert_eq!(unwanted("lapack-sys v0.15.0 (*)", geometry), None);
    }
}
