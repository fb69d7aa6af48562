//! Stratified folds: every part has the classes in the same proportions.

use rand::Rng;

use super::Split;
use crate::draw;
use crate::error::{Error, Result};
use crate::labels::Labels;

impl Split {
    /// Stratified k-fold cross-validation with an inner validation part, as the
    /// fair protocol asks: every item is in the test part of exactly one of the
    /// `folds` splits; of the others, a share `validation` of each class is for
    /// choosing the model, the rest for fitting it.
    ///
    /// Each class is shuffled and dealt out in turn, so the class sizes of two
    /// test parts differ by at most one. Items of unknown class are left out.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless there are at least two folds and as many
    /// items in the largest class, and `validation` is in [0, 1).
    ///
    /// ```
    /// use egg_graph::{Labels, Split};
    /// use rand::SeedableRng;
    /// use rand_chacha::ChaCha8Rng;
    ///
    /// let labels = Labels::from_values(&[[0; 30], [1; 30]].concat());
    /// let folds = Split::stratified(&labels, 10, 0.1, &mut ChaCha8Rng::seed_from_u64(0))?;
    /// assert_eq!(folds.len(), 10);
    /// assert_eq!(folds[0].test.len(), 6); // three of each class
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn stratified(
        labels: &Labels,
        folds: usize,
        validation: f64,
        rng: &mut impl Rng,
    ) -> Result<Vec<Self>> {
        let largest = labels.class_sizes().into_iter().max().unwrap_or(0);
        if folds < 2 || folds > largest {
            return Err(Error::parameter(
                "folds",
                folds,
                format!("at least 2, and at most the size of the largest class, {largest}"),
            ));
        }
        if !(0.0..1.0).contains(&validation) {
            return Err(Error::parameter(
                "validation",
                validation,
                "at least 0 and below 1",
            ));
        }
        let mut classes: Vec<Vec<usize>> = vec![Vec::new(); labels.class_count()];
        for (item, class) in labels.iter().enumerate() {
            if let Some(class) = class {
                classes[class as usize].push(item);
            }
        }
        // By class, the items that each fold is tested on. Dealing continues from
        // class to class where it stopped, so that the folds stay of one size.
        let mut dealt = 0;
        let mut tests: Vec<Vec<Vec<usize>>> = vec![vec![Vec::new(); folds]; classes.len()];
        for (items, tests) in classes.iter_mut().zip(&mut tests) {
            draw::shuffle(rng, items);
            for item in items.iter() {
                tests[dealt % folds].push(*item);
                dealt += 1;
            }
        }
        let splits = (0..folds).map(|fold| {
            let mut split = Self::default();
            for tests in &tests {
                split.test.extend_from_slice(&tests[fold]);
                let others = (1..folds).map(|step| (fold + step) % folds);
                let mut rest: Vec<usize> = others.flat_map(|other| &tests[other]).copied().collect();
                draw::shuffle(rng, &mut rest);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    clippy::cast_precision_loss,
                    reason = "a share in [0, 1) of a count"
                )]
                let count = (validation * rest.len() as f64).round() as usize;
                split.validation.extend_from_slice(&rest[..count]);
                split.train.extend_from_slice(&rest[count..]);
            }
            for part in [&mut split.train, &mut split.validation, &mut split.test] {
                part.sort_unstable();
            }
            split
        });
        Ok(splits.collect())
    }
}
