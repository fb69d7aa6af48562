//! What was found: the worst ratio of each kind, and what must not be.

use std::fmt::Write as _;

/// What is measured. Each number is an error over what the conditioning of the
/// matrix allows, see [`super`]; the limit is what the tests hold it to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// `||P - P_ref||_F`.
    Projector,
    /// `||P P - P||_F`, for any gap.
    Idempotent,
    /// `|tr P - p|`, for any gap.
    Trace,
    /// `||P - P'||_F` for the same rows in another order.
    Permuted,
    /// The derivative along a direction.
    Gradient,
    /// `||P_f - P_ref||_F` of soft EGG.
    Soft,
    /// The same for rows in another order.
    SoftPermuted,
    /// The derivative of soft EGG along a direction.
    SoftGradient,
}

impl Measure {
    pub(crate) const ALL: [Self; 8] = [
        Self::Projector,
        Self::Idempotent,
        Self::Trace,
        Self::Permuted,
        Self::Gradient,
        Self::Soft,
        Self::SoftPermuted,
        Self::SoftGradient,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Projector => "P",
            Self::Idempotent => "P P = P",
            Self::Trace => "tr P = p",
            Self::Permuted => "rows shuffled",
            Self::Gradient => "gradient",
            Self::Soft => "soft P",
            Self::SoftPermuted => "soft, shuffled",
            Self::SoftGradient => "soft gradient",
        }
    }

    /// The largest ratio that passes.
    pub(crate) fn limit(self) -> f64 {
        match self {
            Self::Projector | Self::Permuted => 64.0,
            _ => 16.0,
        }
    }
}

/// The findings for one family and type.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) matrices: usize,
    /// Decompositions: rules and filters, plain and shuffled.
    pub(crate) decompositions: usize,
    /// Derivatives compared with differences.
    pub(crate) derivatives: usize,
    /// Cuts that drop something, of those whose derivative is compared.
    pub(crate) cuts: usize,
    /// Those of them that are too narrow for differences.
    pub(crate) narrow_cuts: usize,
    /// Ranks that differ from the reference's, or from those of the same rows in
    /// another order, where a value lies within rounding of a bound.
    pub(crate) on_the_edge: usize,
    worst: [f64; Measure::ALL.len()],
    failures: Vec<String>,
}

impl Tally {
    pub(crate) fn worst(&self, measure: Measure) -> f64 {
        self.worst[measure as usize]
    }

    pub(crate) fn note(&mut self, measure: Measure, ratio: f64, what: impl FnOnce() -> String) {
        let worst = &mut self.worst[measure as usize];
        // NaN counts as the worst.
        if ratio.is_nan() || ratio > *worst {
            *worst = ratio;
        }
        if ratio.is_nan() || ratio > measure.limit() {
            let what = what();
            self.fail(format!(
                "{}: {ratio:.1} times what is allowed: {what}",
                measure.name()
            ));
        }
    }

    pub(crate) fn require(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.fail(what());
        }
    }

    pub(crate) fn fail(&mut self, what: String) {
        // The first few are enough.
        if self.failures.len() < 20 {
            self.failures.push(what);
        }
    }

    pub(crate) fn merged(mut self, other: Self) -> Self {
        self.matrices += other.matrices;
        self.decompositions += other.decompositions;
        self.derivatives += other.derivatives;
        self.cuts += other.cuts;
        self.narrow_cuts += other.narrow_cuts;
        self.on_the_edge += other.on_the_edge;
        for (worst, other) in self.worst.iter_mut().zip(other.worst) {
            *worst = if other.is_nan() || other > *worst {
                other
            } else {
                *worst
            };
        }
        for failure in other.failures {
            self.fail(failure);
        }
        self
    }
}

/// The findings for one family, in f32 and in f64.
pub(crate) struct Findings {
    pub(crate) family: &'static str,
    pub(crate) single: Tally,
    pub(crate) double: Tally,
}

impl Findings {
    /// What must not be, with where it was found.
    pub(crate) fn failures(&self) -> impl Iterator<Item = String> + '_ {
        let of = |name: &'static str, tally: &'_ Tally| {
            let named = |failure: &String| format!("{}, {name}: {failure}", self.family);
            tally.failures.iter().map(named).collect::<Vec<_>>()
        };
        of("f32", &self.single).into_iter().chain(of("f64", &self.double))
    }
}

/// Everything together.
pub(crate) fn total(findings: &[Findings]) -> Tally {
    let both = findings.iter().flat_map(|found| [&found.single, &found.double]);
    both.fold(Tally::default(), |sum, tally| sum.merged(tally.clone()))
}

/// The worst of each family as a table of a page, f32 / f64.
pub(crate) fn table(findings: &[Findings]) -> String {
    let mut out = String::from("| family |");
    for measure in Measure::ALL {
        let _ = write!(out, " {} |", measure.name());
    }
    out.push_str("\n|---|");
    out.push_str(&"---:|".repeat(Measure::ALL.len()));
    out.push('\n');
    let shown = |worst: f64| match worst {
        0.0 => "0".to_owned(),
        worst => format!("{worst:.2}"),
    };
    for Findings {
        family,
        single,
        double,
    } in findings
    {
        let _ = write!(out, "| {family} |");
        for measure in Measure::ALL {
            let _ = write!(
                out,
                " {} / {} |",
                shown(single.worst(measure)),
                shown(double.worst(measure))
            );
        }
        out.push('\n');
    }
    out
}
