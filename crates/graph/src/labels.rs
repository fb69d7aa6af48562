//! Classes of graphs or nodes, and targets of graphs.

// Numbers in a file are no index: what they point at may not be there.
#![warn(clippy::indexing_slicing)]

use std::collections::BTreeSet;

use ndarray::Array2;

use crate::error::{Error, Result};

/// The mark of a node or graph whose class is not known.
const UNKNOWN: u32 = u32::MAX;

/// One class per graph or node, as 0..C, with the names the source gave them.
///
/// ```
/// use egg_graph::Labels;
///
/// let labels = Labels::from_values(&[1, -1, 1]);
/// assert_eq!(labels.class_count(), 2);
/// assert_eq!(labels.get(0), Some(1));
/// assert_eq!(labels.names(), ["-1", "1"]);
/// assert_eq!(labels.class_sizes(), [1, 2]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    classes: Vec<u32>,
    names: Vec<String>,
}

impl Labels {
    /// Classes from arbitrary values: the distinct ones, in ascending order,
    /// become 0, 1, 2, ...
    pub fn from_values(values: &[i64]) -> Self {
        let distinct: Vec<i64> = values
            .iter()
            .copied()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let class = |value: &i64| distinct.partition_point(|other| other < value);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "there are not 2^32 values in memory that differ"
        )]
        let classes = values.iter().map(|value| class(value) as u32).collect();
        Self {
            classes,
            names: distinct.iter().map(i64::to_string).collect(),
        }
    }

    /// Classes that are numbered already; `None` where the class is not known.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a class that has no name.
    ///
    /// ```
    /// use egg_graph::Labels;
    /// let labels = Labels::new(&[Some(1), None], vec!["theory".into(), "vision".into()])?;
    /// assert_eq!(labels.get(1), None);
    /// assert_eq!(labels.known(), 1);
    /// assert!(Labels::new(&[Some(2)], vec!["only".into()]).is_err());
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn new(classes: &[Option<u32>], names: Vec<String>) -> Result<Self> {
        if let Some(class) = classes
            .iter()
            .flatten()
            .find(|class| **class as usize >= names.len())
        {
            return Err(Error::parameter(
                "class",
                class,
                format!("there are {} class names", names.len()),
            ));
        }
        Ok(Self {
            classes: classes.iter().map(|class| class.unwrap_or(UNKNOWN)).collect(),
            names,
        })
    }

    /// How many graphs or nodes.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The class of one; `None` if it is not known or there is no such one.
    pub fn get(&self, index: usize) -> Option<u32> {
        self.classes.get(index).copied().filter(|class| *class != UNKNOWN)
    }

    /// All classes in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<u32>> + '_ {
        self.classes
            .iter()
            .map(|class| (*class != UNKNOWN).then_some(*class))
    }

    /// How many have a known class.
    pub fn known(&self) -> usize {
        self.iter().flatten().count()
    }

    /// How many classes there are, with or without members.
    pub fn class_count(&self) -> usize {
        self.names.len()
    }

    /// What the source calls each class.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many belong to each class.
    pub fn class_sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.names.len()];
        for class in self.iter().flatten() {
            if let Some(size) = sizes.get_mut(class as usize) {
                *size += 1;
            }
        }
        sizes
    }

    /// A choice of them, by index; the indices must be in range.
    #[expect(clippy::indexing_slicing, reason = "the caller has checked them")]
    pub(crate) fn select(&self, indices: impl Iterator<Item = usize>) -> Self {
        Self {
            classes: indices.map(|index| self.classes[index]).collect(),
            names: self.names.clone(),
        }
    }

    /// One set of labels after the other; they must name the same classes.
    pub(crate) fn concatenate<'a>(parts: impl Iterator<Item = &'a Self>) -> Result<Self> {
        let mut all = Self {
            classes: Vec::new(),
            names: Vec::new(),
        };
        for part in parts {
            if all.names.is_empty() {
                all.names.clone_from(&part.names);
            } else if all.names != part.names {
                return Err(Error::parameter(
                    "class names",
                    part.names.join(", "),
                    format!("all graphs must name the same classes: {}", all.names.join(", ")),
                ));
            }
            all.classes.extend_from_slice(&part.classes);
        }
        Ok(all)
    }

    /// The classes with `u32::MAX` for unknown, as a cache stores them.
    pub(crate) fn raw(&self) -> &[u32] {
        &self.classes
    }

    /// From what [`Self::raw`] gave.
    pub(crate) fn from_raw(classes: Vec<u32>, names: Vec<String>) -> Result<Self> {
        let unnamed = |class: &&u32| **class != UNKNOWN && **class as usize >= names.len();
        match classes.iter().find(unnamed) {
            Some(class) => Err(Error::parameter(
                "class",
                class,
                format!("there are {} class names", names.len()),
            )),
            None => Ok(Self { classes, names }),
        }
    }
}

/// What is to be predicted of each graph.
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// One class per graph.
    Classes(Labels),
    /// One row of numbers per graph.
    Values(Array2<f32>),
}

impl Targets {
    /// How many graphs.
    pub fn len(&self) -> usize {
        match self {
            Self::Classes(labels) => labels.len(),
            Self::Values(values) => values.nrows(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the target of a graph is known; not of one that is not there.
    ///
    /// ```
    /// use egg_graph::{Labels, Targets};
    /// let targets = Targets::Classes(Labels::new(&[Some(0), None], vec!["ring".into()])?);
    /// assert_eq!((targets.is_known(0), targets.is_known(1), targets.is_known(2)), (true, false, false));
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn is_known(&self, graph: usize) -> bool {
        match self {
            Self::Classes(labels) => labels.get(graph).is_some(),
            Self::Values(values) => {
                graph < values.nrows() && values.row(graph).iter().all(|value| value.is_finite())
            }
        }
    }

    /// Some of them, by index; the indices must be in range.
    pub(crate) fn select(&self, indices: &[usize]) -> Self {
        match self {
            Self::Classes(labels) => Self::Classes(labels.select(indices.iter().copied())),
            Self::Values(values) => Self::Values(values.select(ndarray::Axis(0), indices)),
        }
    }
}
