//! Which graphs, or nodes, are for training, validation and testing.

mod link;
mod mt19937;
mod random;
mod stratified;

pub use link::{LinkPart, LinkSplit};

use crate::error::{Error, Result};

/// Three lists of indices.
///
/// ```
/// use egg_graph::Split;
/// let split = Split { train: vec![0, 3], validation: vec![1], test: vec![2] };
/// assert_eq!(split.len(), 4);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Split {
    /// To fit the parameters on.
    pub train: Vec<usize>,
    /// To choose between models, and when to stop.
    pub validation: Vec<usize>,
    /// For the final evaluation only.
    pub test: Vec<usize>,
}

impl Split {
    /// How many indices in all.
    pub fn len(&self) -> usize {
        self.train.len() + self.validation.len() + self.test.len()
    }

    /// Identifies a split: FNV-1a of the three lists, the same everywhere.
    ///
    /// ```
    /// use egg_graph::Split;
    /// let split = |test| Split { train: vec![0, 1], validation: vec![2], test };
    /// assert_eq!(split(vec![3]).digest(), split(vec![3]).digest());
    /// assert_ne!(split(vec![3]).digest(), split(vec![4]).digest());
    /// assert_ne!(split(vec![3]).digest(), Split { train: vec![0], validation: vec![1, 2], test: vec![3] }.digest());
    /// ```
    pub fn digest(&self) -> String {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut add = |number: usize| {
            for byte in (number as u64).to_le_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        for list in [&self.train, &self.validation, &self.test] {
            add(list.len());
            list.iter().copied().for_each(&mut add);
        }
        format!("{hash:016x}")
    }

    /// Whether all three lists are empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Checks that all indices are below `items` and none occurs twice.
    pub(crate) fn check(&self, items: usize) -> Result<()> {
        let mut seen = vec![false; items];
        for &index in self.train.iter().chain(&self.validation).chain(&self.test) {
            match seen.get_mut(index) {
                None => {
                    return Err(Error::parameter(
                        "split index",
                        index,
                        format!("must be below {items}"),
                    ));
                }
                Some(seen) if *seen => {
                    return Err(Error::parameter(
                        "split index",
                        index,
                        "no index may be in a split twice",
                    ));
                }
                Some(seen) => *seen = true,
            }
        }
        Ok(())
    }
}
