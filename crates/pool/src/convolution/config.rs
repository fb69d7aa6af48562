//! Convolutions by name, with their settings.

use std::any::Any;
use std::fmt::Debug;

use egg_nn::Scope;
use serde_json::{Map, Value};

use super::{CONVOLUTIONS, Convolution};
use crate::component::{Entry, Registry, Settings, component_traits, settings};
use crate::data::PropagationKind;
use crate::error::Result;
use crate::model::LayerDefaults;
use crate::protocol::SplitRule;

/// The settings of a convolution: its name, its defaults, and how a layer is built.
///
/// This is all there is to a convolution in configs, on the command line, in model
/// folders and in comparisons.
pub trait ConvolutionSettings: Settings {
    /// The name in configs and records: lower-case letters, digits, hyphens.
    const NAME: &'static str;

    /// Other names that are understood.
    const ALIASES: &'static [&'static str] = &[];

    /// Checks the settings.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting) if one is outside its range.
    fn validate(&self) -> Result<()> {
        Ok(())
    }

    /// Whether models of it have layers; without, a model is the sum of a graph's node features and a head.
    fn has_layers(&self) -> bool {
        true
    }

    /// The matrix that layers multiply with.
    fn propagation(&self) -> PropagationKind;

    /// The defaults of models with it.
    fn layers(&self) -> LayerDefaults {
        LayerDefaults::default()
    }

    /// How [`Protocol::Paper`](crate::protocol::Protocol::Paper) splits data sets for
    /// models of it.
    fn paper_splits(&self) -> SplitRule {
        SplitRule::Random
    }

    /// Builds a layer from `inputs` to `outputs` numbers per node; its parameters are
    /// registered in `scope`. The settings are valid.
    ///
    /// # Errors
    /// [`Error::Layer`](crate::Error::Layer) if a width is 0 or the scope has such a
    /// layer.
    fn build(&self, scope: &mut Scope<'_>, inputs: usize, outputs: usize) -> Result<Box<dyn Convolution>>;

    /// A lower bound, and a close one, for the parameters of a layer: files that describe absurdly large models
    /// are refused before any memory is asked for. A matrix by default; override it if a layer has less.
    fn least_parameters(&self, inputs: usize, outputs: usize) -> usize {
        inputs.saturating_mul(outputs)
    }
}

/// [`ConvolutionSettings`] of any type.
pub(crate) trait AnyConvolution: Any + Debug + Send + Sync {
    fn name(&self) -> &'static str;
    fn settings(&self) -> Result<Map<String, Value>>;
    fn equals(&self, other: &dyn AnyConvolution) -> bool;
    fn cloned(&self) -> ConvolutionConfig;
    fn validate(&self) -> Result<()>;
    fn has_layers(&self) -> bool;
    fn propagation(&self) -> PropagationKind;
    fn layers(&self) -> LayerDefaults;
    fn paper_splits(&self) -> SplitRule;
    fn build(&self, scope: &mut Scope<'_>, inputs: usize, outputs: usize) -> Result<Box<dyn Convolution>>;
    fn least_parameters(&self, inputs: usize, outputs: usize) -> usize;
}

impl<T: ConvolutionSettings> AnyConvolution for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn settings(&self) -> Result<Map<String, Value>> {
        settings(T::NAME, self)
    }

    fn equals(&self, other: &dyn AnyConvolution) -> bool {
        (other as &dyn Any).downcast_ref::<T>() == Some(self)
    }

    fn cloned(&self) -> ConvolutionConfig {
        self.clone().into()
    }

    fn validate(&self) -> Result<()> {
        ConvolutionSettings::validate(self)
    }

    fn has_layers(&self) -> bool {
        ConvolutionSettings::has_layers(self)
    }

    fn propagation(&self) -> PropagationKind {
        ConvolutionSettings::propagation(self)
    }

    fn layers(&self) -> LayerDefaults {
        ConvolutionSettings::layers(self)
    }

    fn paper_splits(&self) -> SplitRule {
        ConvolutionSettings::paper_splits(self)
    }

    fn build(&self, scope: &mut Scope<'_>, inputs: usize, outputs: usize) -> Result<Box<dyn Convolution>> {
        ConvolutionSettings::validate(self)?;
        ConvolutionSettings::build(self, scope, inputs, outputs)
    }

    fn least_parameters(&self, inputs: usize, outputs: usize) -> usize {
        ConvolutionSettings::least_parameters(self, inputs, outputs)
    }
}

/// Which convolution, and its settings.
///
/// Made from [`ConvolutionSettings`], or read: in a file it is a table with its `kind`,
/// or a text, as on the command line.
///
/// ```
/// use egg_pool::ConvolutionConfig;
/// use egg_pool::convolution::Gin;
/// let config: ConvolutionConfig = "gin".parse()?;
/// assert_eq!(config, Gin.into());
/// assert_eq!(config.to_string(), "gin");
/// # Ok::<(), egg_pool::Error>(())
/// ```
pub struct ConvolutionConfig(Box<dyn AnyConvolution>);

component_traits!(ConvolutionConfig);

impl<T: ConvolutionSettings> From<T> for ConvolutionConfig {
    fn from(settings: T) -> Self {
        Self(Box::new(settings))
    }
}

/// Makes a convolution available by its name: to configs, model folders and records that
/// are read from then on, in the whole program. To register it again changes nothing.
///
/// # Errors
/// [`Error::Component`](crate::Error::Component) if another convolution has the name.
pub fn register_convolution<T: ConvolutionSettings>() -> Result<()> {
    CONVOLUTIONS.add(ConvolutionConfig::entry::<T>())
}

impl ConvolutionConfig {
    /// A line of the table of convolutions.
    pub(super) const fn entry<T: ConvolutionSettings>() -> Entry<Self> {
        Entry::new::<T>(T::NAME, T::ALIASES)
    }

    fn registry() -> &'static Registry<Self> {
        &CONVOLUTIONS
    }

    /// The names that can be read: the convolutions built in, then those
    /// [registered](register_convolution).
    pub fn names() -> Vec<&'static str> {
        CONVOLUTIONS.names()
    }

    /// Every convolution that is built in, with its defaults, in the order of
    /// [`Self::names`].
    pub fn all() -> Vec<Self> {
        CONVOLUTIONS.defaults()
    }

    /// The name, without the settings.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// The settings, if they are a `T`.
    pub fn get<T: ConvolutionSettings>(&self) -> Option<&T> {
        (&*self.0 as &dyn Any).downcast_ref()
    }

    /// As [`ConvolutionSettings::has_layers`].
    pub fn has_layers(&self) -> bool {
        self.0.has_layers()
    }

    /// As [`ConvolutionSettings::propagation`].
    pub fn propagation(&self) -> PropagationKind {
        self.0.propagation()
    }

    /// As [`ConvolutionSettings::layers`].
    pub fn layers(&self) -> LayerDefaults {
        self.0.layers()
    }

    /// As [`ConvolutionSettings::paper_splits`].
    pub fn paper_splits(&self) -> SplitRule {
        self.0.paper_splits()
    }

    /// As [`ConvolutionSettings::validate`].
    ///
    /// # Errors
    /// As there.
    pub fn validate(&self) -> Result<()> {
        self.0.validate()
    }

    /// As [`ConvolutionSettings::build`], with settings that are checked first.
    ///
    /// # Errors
    /// As there.
    pub fn build(
        &self,
        scope: &mut Scope<'_>,
        inputs: usize,
        outputs: usize,
    ) -> Result<Box<dyn Convolution>> {
        self.0.build(scope, inputs, outputs)
    }

    /// As [`ConvolutionSettings::least_parameters`].
    pub fn least_parameters(&self, inputs: usize, outputs: usize) -> usize {
        self.0.least_parameters(inputs, outputs)
    }
}
