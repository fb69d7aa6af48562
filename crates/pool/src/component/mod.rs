//! What is chosen by name and has settings: poolings and convolutions.
//!
//! A component is a struct of settings under a name. In a file it is a table with
//! its `kind`, or a text; on the command line it is a text:
//!
//! ```toml
//! pooling = { kind = "egg", rank = { threshold = 0.8 } }
//! pooling = "egg:threshold=0.8"
//! ```
//!
//! Both forms come from the serde representation of the settings alone; see
//! [`text`] for the grammar. The components that are built in stand in one table
//! each ([`crate::pooling`], [`crate::convolution`]); a program adds its own with
//! [`register_pooling`](crate::register_pooling) and
//! [`register_convolution`](crate::register_convolution).

mod registry;
pub(crate) mod text;

use std::any::Any;
use std::fmt::Debug;

pub(crate) use registry::{Entry, Registry};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// What the settings of a component must be: plain data with defaults.
///
/// There is nothing to implement; derive the traits. `#[serde(default,
/// deny_unknown_fields)]` on the struct lets files name only what differs from the
/// defaults and refuses misspelled settings.
pub trait Settings:
    Any + Debug + Clone + PartialEq + Default + Serialize + DeserializeOwned + Send + Sync
{
}

impl<T> Settings for T where
    T: Any + Debug + Clone + PartialEq + Default + Serialize + DeserializeOwned + Send + Sync
{
}

/// The key that names a component in a table.
pub(crate) const KIND: &str = "kind";

/// Whether a component may be called so.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && name.chars().all(plain)
}

/// Settings as JSON, without the name.
pub(crate) fn settings<T: Serialize>(kind: &'static str, value: &T) -> Result<Map<String, Value>> {
    match serde_json::to_value(value) {
        Ok(Value::Object(map)) if !map.contains_key(KIND) => Ok(map),
        // A unit struct.
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => Err(Error::Component {
            kind: kind.to_owned(),
            reason: format!("its settings must be a struct with named fields, none of them called {KIND}"),
        }),
        Err(error) => Err(Error::Component {
            kind: kind.to_owned(),
            reason: error.to_string(),
        }),
    }
}

/// The trait implementations that every config of a component has, from its `name`,
/// `settings` and `registry`.
macro_rules! component_traits {
    ($config:ident) => {
        impl std::fmt::Debug for $config {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl PartialEq for $config {
            fn eq(&self, other: &Self) -> bool {
                self.0.equals(&*other.0)
            }
        }

        impl Clone for $config {
            fn clone(&self) -> Self {
                self.0.cloned()
            }
        }

        /// `egg`, `egg:threshold=0.8`: the name, and the settings that differ from the defaults.
        impl std::fmt::Display for $config {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                // Settings that can't be written as JSON leave the name.
                let text = Self::registry().text(self.name(), self.0.settings());
                f.write_str(text.as_deref().unwrap_or(self.name()))
            }
        }

        /// Reads what is displayed, and checks it.
        impl std::str::FromStr for $config {
            type Err = crate::error::Error;

            fn from_str(text: &str) -> crate::error::Result<Self> {
                Self::from_json(text.into())
            }
        }

        impl serde::Serialize for $config {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                use serde::ser::{Error, SerializeMap};
                let type_id = std::any::Any::type_id(&*self.0);
                Self::registry()
                    .check_owner(self.name(), type_id)
                    .map_err(S::Error::custom)?;
                let settings = self.0.settings().map_err(S::Error::custom)?;
                let mut map = serializer.serialize_map(Some(settings.len() + 1))?;
                map.serialize_entry(crate::component::KIND, self.name())?;
                // Tables last, for TOML.
                let (tables, plain): (Vec<_>, Vec<_>) =
                    settings.iter().partition(|(_, value)| value.is_object());
                for (key, value) in plain.into_iter().chain(tables) {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $config {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> std::result::Result<Self, D::Error> {
                let value = serde_json::Value::deserialize(deserializer)?;
                Self::from_json(value).map_err(serde::de::Error::custom)
            }
        }

        impl $config {
            /// From a table with its kind, or a text; checked.
            pub(crate) fn from_json(value: serde_json::Value) -> crate::error::Result<Self> {
                let config = Self::registry().read_value(value)?;
                config.validate()?;
                Ok(config)
            }
        }
    };
}
pub(crate) use component_traits;
