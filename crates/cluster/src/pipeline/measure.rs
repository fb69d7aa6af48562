//! The measures of a clustering that tables and records list.

use egg_nn::Goal;
use egg_results::Summary;

use super::repetitions::{Method, Repetition};
use super::report::ClusterReport;

/// A measure of a clustering: a number of its [`ClusterReport`], with a name and a direction.
///
/// A new measure is a constant here and its entry in [`Self::ALL`].
///
/// ```
/// use egg_cluster::pipeline::Measure;
/// use egg_nn::Goal;
///
/// let names: Vec<&str> = Measure::ALL.iter().map(|measure| measure.name).collect();
/// assert_eq!(names, ["acc", "nmi", "ari", "cs", "modularity", "conductance"]);
/// assert_eq!(Measure::CONDUCTANCE.goal, Goal::Min);
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Measure {
    /// The name in tables and records.
    pub name: &'static str,
    /// Whether larger or smaller values are better.
    pub goal: Goal,
    /// Whether clusters are compared with known classes.
    pub needs_classes: bool,
    value: fn(&ClusterReport) -> Option<f64>,
}

impl Measure {
    /// Accuracy, by the best assignment of clusters to classes.
    pub const ACCURACY: Self = Self::agreement("acc", |report| Some(report.agreement?.accuracy));
    /// Normalised mutual information of clusters and classes.
    pub const NMI: Self = Self::agreement("nmi", |report| {
        Some(report.agreement?.normalised_mutual_information)
    });
    /// Adjusted Rand index of clusters and classes.
    pub const ARI: Self = Self::agreement("ari", |report| Some(report.agreement?.adjusted_rand));
    /// Completeness: whether each class lies in one cluster.
    pub const COMPLETENESS: Self = Self::agreement("cs", |report| Some(report.agreement?.completeness));
    /// Modularity of the clusters.
    pub const MODULARITY: Self = Self::of_graph("modularity", Goal::Max, |report| report.modularity);
    /// Mean conductance of the clusters.
    pub const CONDUCTANCE: Self = Self::of_graph("conductance", Goal::Min, |report| report.conductance);

    /// Every measure, in the order of tables.
    pub const ALL: &[Self] = &[
        Self::ACCURACY,
        Self::NMI,
        Self::ARI,
        Self::COMPLETENESS,
        Self::MODULARITY,
        Self::CONDUCTANCE,
    ];

    /// The value for one clustering; `None` where it is not defined.
    pub fn value(self, report: &ClusterReport) -> Option<f64> {
        (self.value)(report)
    }

    const fn agreement(name: &'static str, value: fn(&ClusterReport) -> Option<f64>) -> Self {
        Self {
            name,
            goal: Goal::Max,
            needs_classes: true,
            value,
        }
    }

    const fn of_graph(name: &'static str, goal: Goal, value: fn(&ClusterReport) -> Option<f64>) -> Self {
        Self {
            name,
            goal,
            needs_classes: false,
            value,
        }
    }
}

/// The reports of one method over all repetitions.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MethodReports {
    /// The method's name.
    pub name: String,
    /// One per repetition, in order.
    pub reports: Vec<ClusterReport>,
}

impl MethodReports {
    /// No reports yet, of one method.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            reports: Vec::new(),
        }
    }

    /// No reports yet, for each method.
    pub fn empty(methods: &[Method]) -> Vec<Self> {
        methods.iter().map(|method| Self::new(&method.name)).collect()
    }

    /// The reports of each method of the repetitions.
    pub fn collect(methods: &[Method], repetitions: &[Repetition]) -> Vec<Self> {
        let mut collected = Self::empty(methods);
        for repetition in repetitions {
            Self::add(&mut collected, repetition);
        }
        collected
    }

    /// Adds one repetition to the reports of its methods.
    pub fn add(collected: &mut [Self], repetition: &Repetition) {
        for (method, clusters) in collected.iter_mut().zip(&repetition.clusterings) {
            method.reports.push(clusters.report);
        }
    }

    /// The values of a measure, in the repetitions where it is defined.
    pub fn values(&self, measure: Measure) -> Vec<f64> {
        let values = self.reports.iter().filter_map(|report| measure.value(report));
        values.collect()
    }

    /// Mean and standard deviation (divided by the count) of a measure; `None` where no
    /// repetition has a value.
    pub fn summary(&self, measure: Measure) -> Option<Summary> {
        Summary::from_values(&self.values(measure), 0)
    }
}
