//! Poolings by name, with their settings.

use std::any::Any;
use std::fmt::Debug;

use egg_autodiff::RankRule;
use egg_nn::Scope;
use serde_json::{Map, Value};

use super::{POOLINGS, Pooling, check_features};
use crate::component::{Entry, Registry, Settings, component_traits, settings};
use crate::error::{Error, Result};

/// The settings of a pooling: its name, its defaults, and how it is built.
///
/// This is all there is to a pooling in configs, on the command line, in model
/// folders and in comparisons. `docs/tutorials/your-own-pooling.md` has one.
pub trait PoolingSettings: Settings {
    /// The name in configs and records: lower-case letters, digits, hyphens.
    const NAME: &'static str;

    /// Other names that are understood.
    const ALIASES: &'static [&'static str] = &[];

    /// Checks the settings.
    ///
    /// # Errors
    /// [`Error::PoolingParameter`](crate::Error::PoolingParameter) if one is outside
    /// its range.
    fn validate(&self) -> Result<()> {
        Ok(())
    }

    /// How many columns a graph's row has, for nodes with `features` numbers.
    fn width(&self, features: usize) -> usize {
        features
    }

    /// Builds the pooling of nodes with `features` numbers; its parameters are
    /// registered in `scope`. The settings are valid and there is a feature.
    ///
    /// # Errors
    /// [`Error::Layer`](crate::Error::Layer) if the scope has a pooling already.
    fn build(&self, scope: &mut Scope<'_>, features: usize) -> Result<Box<dyn Pooling>>;

    /// Whether the pooling makes coarser graphs.
    fn coarsens(&self) -> bool {
        false
    }

    /// The number that decides what is kept of a spectrum, for grids over it; of several parts that have one, the
    /// first part's.
    fn threshold_mut(&mut self) -> Option<&mut f64> {
        None
    }

    /// Which directions are kept, of poolings that give subspaces.
    fn rank_rule(&self) -> Option<RankRule> {
        None
    }

    /// Keeps directions by another rule.
    ///
    /// # Errors
    /// [`Error::Component`] if the pooling keeps none, or can't keep them by this rule.
    fn set_rank_rule(&mut self, _rule: RankRule) -> Result<()> {
        Err(Error::Component {
            kind: Self::NAME.to_owned(),
            reason: "it keeps no directions, so a rank rule has no effect".to_owned(),
        })
    }

    /// What each column is multiplied with so that the Euclidean distance of rows is
    /// that of the matrices they stand for; empty if rows stand for themselves.
    fn isometric_weights(&self, _features: usize) -> Vec<f32> {
        Vec::new()
    }
}

/// [`PoolingSettings`] of any type.
pub(crate) trait AnyPooling: Any + Debug + Send + Sync {
    fn name(&self) -> &'static str;
    fn settings(&self) -> Result<Map<String, Value>>;
    fn equals(&self, other: &dyn AnyPooling) -> bool;
    fn cloned(&self) -> PoolingConfig;
    fn validate(&self) -> Result<()>;
    fn width(&self, features: usize) -> usize;
    fn build(&self, scope: &mut Scope<'_>, features: usize) -> Result<Box<dyn Pooling>>;
    fn coarsens(&self) -> bool;
    fn threshold_mut(&mut self) -> Option<&mut f64>;
    fn rank_rule(&self) -> Option<RankRule>;
    fn set_rank_rule(&mut self, rule: RankRule) -> Result<()>;
    fn isometric_weights(&self, features: usize) -> Vec<f32>;
}

impl<T: PoolingSettings> AnyPooling for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn settings(&self) -> Result<Map<String, Value>> {
        settings(T::NAME, self)
    }

    fn equals(&self, other: &dyn AnyPooling) -> bool {
        (other as &dyn Any).downcast_ref::<T>() == Some(self)
    }

    fn cloned(&self) -> PoolingConfig {
        self.clone().into()
    }

    fn validate(&self) -> Result<()> {
        PoolingSettings::validate(self)
    }

    fn width(&self, features: usize) -> usize {
        PoolingSettings::width(self, features)
    }

    fn build(&self, scope: &mut Scope<'_>, features: usize) -> Result<Box<dyn Pooling>> {
        PoolingSettings::validate(self)?;
        check_features(T::NAME, features)?;
        PoolingSettings::build(self, scope, features)
    }

    fn coarsens(&self) -> bool {
        PoolingSettings::coarsens(self)
    }

    fn threshold_mut(&mut self) -> Option<&mut f64> {
        PoolingSettings::threshold_mut(self)
    }

    fn rank_rule(&self) -> Option<RankRule> {
        PoolingSettings::rank_rule(self)
    }

    fn set_rank_rule(&mut self, rule: RankRule) -> Result<()> {
        PoolingSettings::set_rank_rule(self, rule)
    }

    fn isometric_weights(&self, features: usize) -> Vec<f32> {
        PoolingSettings::isometric_weights(self, features)
    }
}

/// Which pooling, and its settings.
///
/// Made from [`PoolingSettings`], or read: in a file it is a table with its `kind`,
/// or a text, as on the command line. Settings that are left out have their defaults.
///
/// ```
/// use egg_autodiff::{Flatten, RankRule};
/// use egg_pool::PoolingConfig;
/// use egg_pool::pooling::{Egg, Sum, TopK};
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct File {
///     first: PoolingConfig,
///     second: PoolingConfig,
///     third: PoolingConfig,
/// }
/// let file: File = toml::from_str(
///     r#"
///     first = "sum"
///     second = { kind = "egg", rank = { relative = 0.1 }, flatten = "isometric" }
///     third = "topk:ratio=0.8"
///     "#,
/// )?;
/// assert_eq!(file.first, Sum.into());
/// let egg = Egg { rank: RankRule::Relative(0.1), flatten: Flatten::Isometric };
/// assert_eq!(file.second, egg.into());
/// assert_eq!(file.second.to_string(), "egg:flatten=isometric,relative=0.1");
/// assert_eq!(file.second.width(64), 2080);
/// assert_eq!(file.third.get::<TopK>(), Some(&TopK { ratio: 0.8 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PoolingConfig(Box<dyn AnyPooling>);

component_traits!(PoolingConfig);

impl<T: PoolingSettings> From<T> for PoolingConfig {
    fn from(settings: T) -> Self {
        Self(Box::new(settings))
    }
}

impl Default for PoolingConfig {
    /// EGG with the reference code's cut.
    fn default() -> Self {
        super::Egg::default().into()
    }
}

/// Makes a pooling available by its name: to configs, model folders and records that
/// are read from then on, in the whole program. To register it again changes nothing.
///
/// # Errors
/// [`Error::Component`](crate::Error::Component) if another pooling has the name.
pub fn register_pooling<T: PoolingSettings>() -> Result<()> {
    POOLINGS.add(PoolingConfig::entry::<T>())
}

impl PoolingConfig {
    /// A line of the table of poolings.
    pub(super) const fn entry<T: PoolingSettings>() -> Entry<Self> {
        Entry::new::<T>(T::NAME, T::ALIASES)
    }

    fn registry() -> &'static Registry<Self> {
        &POOLINGS
    }

    /// The names that can be read: the poolings built in, then those
    /// [registered](register_pooling).
    pub fn names() -> Vec<&'static str> {
        POOLINGS.names()
    }

    /// Every pooling that is built in, with its defaults, in the order of [`Self::names`].
    pub fn all() -> Vec<Self> {
        POOLINGS.defaults()
    }

    /// The name, without the settings.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// The settings, if they are a `T`.
    pub fn get<T: PoolingSettings>(&self) -> Option<&T> {
        (&*self.0 as &dyn Any).downcast_ref()
    }

    /// The settings, to change them, if they are a `T`.
    pub fn get_mut<T: PoolingSettings>(&mut self) -> Option<&mut T> {
        (&mut *self.0 as &mut dyn Any).downcast_mut()
    }

    /// As [`PoolingSettings::width`].
    pub fn width(&self, features: usize) -> usize {
        self.0.width(features)
    }

    /// As [`PoolingSettings::coarsens`].
    pub fn coarsens(&self) -> bool {
        self.0.coarsens()
    }

    /// As [`PoolingSettings::threshold_mut`].
    pub fn threshold_mut(&mut self) -> Option<&mut f64> {
        self.0.threshold_mut()
    }

    /// As [`PoolingSettings::rank_rule`].
    pub fn rank_rule(&self) -> Option<RankRule> {
        self.0.rank_rule()
    }

    /// As [`PoolingSettings::set_rank_rule`].
    ///
    /// # Errors
    /// [`Error::Component`] if the pooling keeps no directions, or can't keep them by this rule.
    ///
    /// ```
    /// use egg_autodiff::RankRule;
    /// use egg_pool::PoolingConfig;
    /// let mut both: PoolingConfig = "concat:parts=avg+egg".parse()?;
    /// both.set_rank_rule(RankRule::Fixed(3))?;
    /// assert_eq!(both.rank_rule(), Some(RankRule::Fixed(3)));
    /// # Ok::<(), egg_pool::Error>(())
    /// ```
    pub fn set_rank_rule(&mut self, rule: RankRule) -> Result<()> {
        self.0.set_rank_rule(rule)
    }

    /// As [`PoolingSettings::isometric_weights`].
    pub fn isometric_weights(&self, features: usize) -> Vec<f32> {
        self.0.isometric_weights(features)
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// [`Error::PoolingParameter`](crate::Error::PoolingParameter) or
    /// [`Error::Embedding`](crate::Error::Embedding) if one is outside its range.
    ///
    /// ```
    /// use egg_pool::pooling::TopK;
    /// use egg_pool::{Error, PoolingConfig};
    /// let refused = PoolingConfig::from(TopK { ratio: 1.5 }).validate();
    /// assert!(matches!(refused, Err(Error::PoolingParameter { name: "ratio", .. })));
    /// ```
    pub fn validate(&self) -> Result<()> {
        self.0.validate()
    }

    /// The pooling of nodes with `features` numbers; parameters are registered in
    /// `scope`.
    ///
    /// # Errors
    /// As [`Self::validate`]; [`Error::PoolingParameter`](crate::Error::PoolingParameter)
    /// if there is no feature; [`Error::Layer`](crate::Error::Layer) if the scope has a
    /// pooling already.
    ///
    /// ```
    /// use candle_core::{DType, Device};
    /// use egg_nn::Parameters;
    /// use egg_pool::PoolingConfig;
    /// use rand::SeedableRng;
    /// use rand_chacha::ChaCha8Rng;
    ///
    /// let mut rng = ChaCha8Rng::seed_from_u64(0);
    /// let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
    /// let config: PoolingConfig = "sag".parse()?;
    /// let pooling = config.build(&mut parameters.root(&mut rng).enter("pool"), 64)?;
    /// assert_eq!(pooling.width(), 64);
    /// assert!(parameters.get("pool.gnn.lin_rel.weight").is_some());
    /// # Ok::<(), egg_pool::Error>(())
    /// ```
    pub fn build(&self, scope: &mut Scope<'_>, features: usize) -> Result<Box<dyn Pooling>> {
        self.0.build(scope, features)
    }
}
