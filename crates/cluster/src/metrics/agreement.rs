//! Measures of agreement that do not match clusters to classes.

use super::contingency::Contingency;

impl Contingency {
    /// The mutual information of class and cluster, in nats.
    ///
    /// `sum_ij (n_ij / n) ln(n n_ij / (a_i b_j))` with `a` the sizes of the
    /// classes and `b` those of the clusters.
    pub fn mutual_information(&self) -> f64 {
        if self.class_sizes().len() == 1 || self.cluster_sizes().len() == 1 {
            return 0.0;
        }
        let n = self.points() as f64;
        let terms = self.overlaps().iter().map(|overlap| {
            let both = overlap.points as f64;
            let class = self.class_sizes()[overlap.class as usize] as f64;
            let cluster = self.cluster_sizes()[overlap.cluster as usize] as f64;
            // Products of sizes are exact below 2^53, and a term that should
            // be 0 then is.
            let term = both / n * ((both * n) / (class * cluster)).ln();
            if term.abs() < f64::EPSILON { 0.0 } else { term }
        });
        terms.sum::<f64>().max(0.0)
    }

    /// Normalised mutual information, `2 I / (H(classes) + H(clusters))` (the
    /// arithmetic mean, as in scikit-learn): 1 for the same partition, 0 for an
    /// independent one.
    ///
    /// One class and one cluster agree: 1.
    ///
    /// ```
    /// use egg_cluster::metrics::Contingency;
    /// let table = Contingency::new(&[0, 0, 1, 1], &[5, 5, 3, 3])?;
    /// assert!((table.normalised_mutual_information() - 1.0).abs() < 1e-15);
    /// # Ok::<(), egg_cluster::Error>(())
    /// ```
    pub fn normalised_mutual_information(&self) -> f64 {
        if self.class_sizes().len() == 1 && self.cluster_sizes().len() == 1 {
            return 1.0;
        }
        let information = self.mutual_information();
        if information == 0.0 {
            return 0.0;
        }
        information / (0.5 * (self.entropy(self.class_sizes()) + self.entropy(self.cluster_sizes())))
    }

    /// Whether clusters have points of one class only:
    /// `1 - H(classes | clusters) / H(classes)`; 1 if there is one class.
    ///
    /// ```
    /// use egg_cluster::metrics::Contingency;
    /// let table = Contingency::new(&[0, 0, 1, 1], &[0, 1, 2, 3])?;
    /// assert!((table.homogeneity() - 1.0).abs() < 1e-15 && table.completeness() < 0.51);
    /// # Ok::<(), egg_cluster::Error>(())
    /// ```
    pub fn homogeneity(&self) -> f64 {
        share(self.mutual_information(), self.entropy(self.class_sizes()))
    }

    /// Whether classes lie in one cluster each:
    /// `1 - H(clusters | classes) / H(clusters)`; 1 if there is one cluster.
    pub fn completeness(&self) -> f64 {
        share(self.mutual_information(), self.entropy(self.cluster_sizes()))
    }

    /// The harmonic mean of homogeneity and completeness.
    ///
    /// Equal to the normalised mutual information, except where one is not
    /// defined by its formula.
    pub fn v_measure(&self) -> f64 {
        let (h, c) = (self.homogeneity(), self.completeness());
        if h + c == 0.0 { 0.0 } else { 2.0 * h * c / (h + c) }
    }

    /// The Rand index adjusted for chance (Hubert and Arabie, 1985; the paper's
    /// "Average Rand"): 1 for the same partition, 0 on average for a random one.
    ///
    /// ```
    /// use egg_cluster::metrics::Contingency;
    /// let table = Contingency::new(&[0, 0, 1, 1], &[0, 0, 1, 2])?;
    /// assert!((table.adjusted_rand() - 4.0 / 7.0).abs() < 1e-15);
    /// # Ok::<(), egg_cluster::Error>(())
    /// ```
    pub fn adjusted_rand(&self) -> f64 {
        // Ordered pairs of points, in whole numbers: no cancellation.
        let squares = |sizes: &mut dyn Iterator<Item = u64>| -> i128 {
            sizes.map(|size| i128::from(size) * i128::from(size)).sum()
        };
        let n = i128::from(self.points());
        let in_both = squares(&mut self.overlaps().iter().map(|overlap| overlap.points));
        let classes = squares(&mut self.class_sizes().iter().copied());
        let clusters = squares(&mut self.cluster_sizes().iter().copied());
        let joined = in_both - n;
        let only_cluster = clusters - in_both;
        let only_class = classes - in_both;
        let separate = n * n - only_cluster - only_class - in_both;
        if only_cluster == 0 && only_class == 0 {
            return 1.0;
        }
        let product = |a: i128, b: i128| a as f64 * b as f64;
        let difference = match (joined.checked_mul(separate), only_class.checked_mul(only_cluster)) {
            (Some(same), Some(other)) => (same - other) as f64,
            _ => product(joined, separate) - product(only_class, only_cluster),
        };
        2.0 * difference
            / (product(joined + only_class, only_class + separate)
                + product(joined + only_cluster, only_cluster + separate))
    }

    /// `-sum_i (s_i / n) ln(s_i / n)`
    fn entropy(&self, sizes: &[u64]) -> f64 {
        if sizes.len() == 1 {
            return 0.0;
        }
        let n = self.points() as f64;
        let terms = sizes.iter().map(|size| {
            let share = *size as f64 / n;
            share * share.ln()
        });
        -terms.sum::<f64>()
    }
}

/// A part of an entropy; all of it if there is none.
fn share(information: f64, entropy: f64) -> f64 {
    if entropy == 0.0 {
        1.0
    } else {
        information / entropy
    }
}
