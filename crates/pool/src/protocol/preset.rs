//! Settings for one data set, under a name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::experiment::Experiment;
use super::kind::Protocol;
use crate::data::InputFeatures;
use crate::metrics::Metric;
use crate::pooling::PoolingConfig;

/// What differs from the defaults for one data set, as the registry of `egg-datasets` has it
/// with the data set's entry, by a preset's name. Nothing is taken over unless it is asked
/// for.
///
/// ```
/// use egg_graph::synthetic::CovarianceSet;
/// use egg_pool::convolution::Gcn;
/// use egg_pool::protocol::{Experiment, Preset, Protocol};
///
/// let preset: Preset = toml::from_str("hidden = 64\n[convolution.gcn]\nlayers = 3")?;
/// let dataset = CovarianceSet::standard()?;
/// let mut experiment = Experiment::new(&dataset, Protocol::Paper, Gcn, "sum".parse()?)?;
/// experiment.apply(&preset);
/// assert_eq!((experiment.model.layers, experiment.model.hidden), (3, 64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Preset {
    /// What is done with the features first.
    pub features: Option<InputFeatures>,
    /// What runs are judged by.
    pub metric: Option<Metric>,
    /// Whether graphs have a virtual node.
    pub virtual_node: Option<bool>,
    /// How many convolutions.
    pub layers: Option<usize>,
    /// Their width.
    pub hidden: Option<usize>,
    /// Of the head.
    pub dropout: Option<f64>,
    /// Adam's rate.
    pub learning_rate: Option<f64>,
    /// Adam's L2 decay.
    pub weight_decay: Option<f64>,
    /// The pooling, with settings.
    pub pooling: Option<PoolingConfig>,
    /// More, by the name of the convolution.
    pub convolution: BTreeMap<String, Preset>,
    /// More, by the name of a pooling without settings of its own: what was chosen by the
    /// validation parts of the paper's splits. Not for [`Protocol::Fair`], where each fold's
    /// settings have to be chosen without the graphs that it is tested on.
    pub chosen: BTreeMap<String, Preset>,
}

impl Experiment {
    /// Takes over what a preset has for this protocol, convolution and pooling.
    pub fn apply(&mut self, preset: &Preset) {
        let (model, training) = (&mut self.model, &mut self.training);
        set(&mut model.features, preset.features);
        set(&mut training.metric, preset.metric);
        set(&mut model.virtual_node, preset.virtual_node);
        set(&mut model.layers, preset.layers);
        set(&mut model.hidden, preset.hidden);
        set(&mut model.head.dropout, preset.dropout);
        set(&mut training.learning_rate, preset.learning_rate);
        set(&mut training.weight_decay, preset.weight_decay);
        let convolution = model.convolution.name();
        let pooling = model.pooling.name();
        let plain = pooling
            .parse()
            .is_ok_and(|plain: PoolingConfig| plain == model.pooling);
        set(&mut model.pooling, preset.pooling.clone());
        if let Some(preset) = preset.convolution.get(convolution) {
            self.apply(preset);
        }
        if let Some(preset) = preset.chosen.get(pooling)
            && plain
            && self.protocol == Protocol::Paper
        {
            self.apply(preset);
        }
    }
}

fn set<T>(setting: &mut T, preset: Option<T>) {
    if let Some(preset) = preset {
        *setting = preset;
    }
}
