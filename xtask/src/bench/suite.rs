//! What a set of comparisons consists of. `suites.rs` has the sets themselves.

/// Who does a task: our bench program or the peer's script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Ours,
    Peer,
}

/// One task of ours against another, which may be ours as well.
#[derive(Debug, Clone, Copy)]
pub(super) struct Comparison {
    pub(super) name: &'static str,
    pub(super) ours: &'static str,
    pub(super) other: &'static str,
    /// Who does the other.
    pub(super) side: Side,
    /// The least ratio other/ours of the median times. `None`: for information.
    pub(super) target: Option<f64>,
    /// How far the checksums of the two sides may differ, relatively.
    pub(super) tolerance: f64,
    /// Whether it is among the few that `cargo xtask bench` alone measures.
    pub(super) quick: bool,
}

/// A set of comparisons between one bench program of ours and one script of the peers'.
#[derive(Debug)]
pub(super) struct Suite {
    pub(super) name: &'static str,
    /// The package whose bench program `ratio` is our side.
    pub(super) package: &'static str,
    /// Whether our side does linear algebra that OpenBLAS or faer is chosen for.
    pub(super) needs_backend: bool,
    /// The peer's side, relative to the workspace.
    pub(super) script: &'static str,
    pub(super) requirements: &'static str,
    pub(super) comparisons: &'static [Comparison],
    /// Seconds that a turn lasts at least: a task is done again until then, and the mean
    /// counts. The same on both sides, so that waking up and cold caches weigh about the
    /// same on both.
    pub(super) turn: f64,
    /// Benchmark data that some of them need and have in their names.
    pub(super) datasets: &'static [&'static str],
}

impl Suite {
    /// The data set that a comparison needs.
    pub(super) fn dataset_of(&self, comparison: &Comparison) -> Option<&'static str> {
        let mut needed = self.datasets.iter();
        needed.find(|name| comparison.name.contains(**name)).copied()
    }
}

/// A task of ours against one of the peer's.
pub(super) const fn peer(name: &'static str, ours: &'static str, other: &'static str) -> Comparison {
    Comparison {
        name,
        ours,
        other,
        side: Side::Peer,
        target: None,
        tolerance: 1e-6,
        quick: false,
    }
}

/// A task of ours against another of ours.
pub(super) const fn ourselves(name: &'static str, ours: &'static str, other: &'static str) -> Comparison {
    let mut comparison = peer(name, ours, other);
    comparison.side = Side::Ours;
    comparison
}

impl Comparison {
    pub(super) const fn at_least(mut self, ratio: f64) -> Self {
        self.target = Some(ratio);
        self
    }

    pub(super) const fn quick(mut self) -> Self {
        self.quick = true;
        self
    }

    pub(super) const fn within(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }
}
