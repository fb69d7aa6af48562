//! Settings that are changed by a JSON value, such as a data set's own part of a preset.

use serde_json::{Map, Value};

use super::config::NodeClusteringConfig;
use crate::error::{Error, Result};

impl NodeClusteringConfig {
    /// These settings with some of them replaced: an object with the same keys as the settings'
    /// JSON form, of which any may be left out. Nested settings are merged in the same way; an
    /// enum of another variant is replaced as a whole.
    ///
    /// # Errors
    /// [`Error::Overrides`] for a key that does not exist or a value of another type.
    ///
    /// ```
    /// use egg_cluster::pipeline::{FeatureUse, Links, Preset};
    /// use serde_json::json;
    ///
    /// let preset = Preset::Paper.config();
    /// let binary = preset.with_overrides(&json!({"features": "binary", "autoencoder": {"epochs": 5}}))?;
    /// assert_eq!((binary.features, binary.encoder.autoencoder().unwrap().epochs), (FeatureUse::Binary, 5));
    /// assert_eq!(binary.clusterer, preset.clusterer);
    /// assert_eq!(preset.with_overrides(&json!({"links": "all"}))?.links, Links::All);
    /// assert!(preset.with_overrides(&json!({"autoencoder": {"epoch": 5}})).is_err());
    /// # Ok::<(), egg_cluster::Error>(())
    /// ```
    pub fn with_overrides(&self, overrides: &Value) -> Result<Self> {
        let error = |source| Error::Overrides { source };
        let mut settings = serde_json::to_value(self).map_err(error)?;
        merge(&mut settings, overrides);
        serde_json::from_value(settings).map_err(error)
    }
}

/// Objects are merged if the settings have all keys of the overrides. Otherwise the variant of
/// an enum differs, or a key is unknown, which reading the result reports.
fn merge(settings: &mut Value, overrides: &Value) {
    let has_keys_of = |settings: &Map<String, Value>, overrides: &Map<String, Value>| {
        overrides.keys().all(|key| settings.contains_key(key))
    };
    match (settings, overrides) {
        (Value::Object(settings), Value::Object(overrides)) if has_keys_of(settings, overrides) => {
            for (key, value) in overrides {
                merge(settings.entry(key).or_insert(Value::Null), value);
            }
        }
        (settings, overrides) => *settings = overrides.clone(),
    }
}
