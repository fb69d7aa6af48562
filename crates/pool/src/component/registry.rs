//! The components of one sort by name: those built in, and those a program adds.

use std::any::TypeId;
use std::sync::{PoisonError, RwLock};

use serde_json::{Map, Value};

use super::{KIND, Settings, text};
use crate::error::{Error, Result};

/// How one component is made from its name and settings.
#[derive(Debug)]
pub(crate) struct Entry<C> {
    name: &'static str,
    /// Other names that are read, never written.
    aliases: &'static [&'static str],
    settings: fn() -> TypeId,
    default: fn() -> C,
    defaults: fn() -> Result<Map<String, Value>>,
    read: fn(Map<String, Value>) -> serde_json::Result<C>,
}

impl<C> Clone for Entry<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Entry<C> {}

impl<C> Entry<C> {
    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// The entry of settings of type `T`.
    pub(crate) const fn new<T: Settings>(name: &'static str, aliases: &'static [&'static str]) -> Self
    where
        C: From<T>,
    {
        Self {
            name,
            aliases,
            settings: TypeId::of::<T>,
            default: || T::default().into(),
            defaults: || super::settings("the defaults", &T::default()),
            read: |settings| read::<T>(settings).map(C::from),
        }
    }
}

/// Settings of type `T`; no settings are also those of a struct without fields.
fn read<T: Settings>(settings: Map<String, Value>) -> serde_json::Result<T> {
    let none = settings.is_empty();
    serde_json::from_value(Value::Object(settings)).or_else(|error| match none {
        true => serde_json::from_value(Value::Null).map_err(|_| error),
        false => Err(error),
    })
}

/// All components of one sort.
#[derive(Debug)]
pub(crate) struct Registry<C: 'static> {
    /// What they are, in errors: `pooling`.
    sort: &'static str,
    built_in: &'static [Entry<C>],
    added: RwLock<Vec<Entry<C>>>,
}

impl<C> Registry<C> {
    pub(crate) const fn new(sort: &'static str, built_in: &'static [Entry<C>]) -> Self {
        Self {
            sort,
            built_in,
            added: RwLock::new(Vec::new()),
        }
    }

    /// Adds a component. To add the same settings again changes nothing.
    pub(crate) fn add(&self, entry: Entry<C>) -> Result<()> {
        let refuse = |reason: String| {
            Err(Error::Component {
                kind: entry.name.to_owned(),
                reason,
            })
        };
        if !super::is_name(entry.name) {
            return refuse("a name consists of lower-case letters, digits and hyphens".to_owned());
        }
        (entry.defaults)()?;
        let mut added = self.added.write().unwrap_or_else(PoisonError::into_inner);
        let taken = self
            .built_in
            .iter()
            .chain(&*added)
            .find(|known| known.is_called(entry.name));
        match taken {
            Some(known) if (known.settings)() == (entry.settings)() => Ok(()),
            Some(_) => refuse(format!("there is another {} of this name", self.sort)),
            None => {
                added.push(entry);
                Ok(())
            }
        }
    }

    /// The names of those built in, then of those added.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let added = self.added.read().unwrap_or_else(PoisonError::into_inner);
        self.built_in
            .iter()
            .chain(&*added)
            .map(|entry| entry.name)
            .collect()
    }

    /// Those built in, with their defaults.
    pub(crate) fn defaults(&self) -> Vec<C> {
        self.built_in.iter().map(|entry| (entry.default)()).collect()
    }

    fn find(&self, name: &str) -> Result<Entry<C>> {
        let added = self.added.read().unwrap_or_else(PoisonError::into_inner);
        let found = self
            .built_in
            .iter()
            .chain(&*added)
            .find(|entry| entry.is_called(name));
        match found {
            Some(entry) => Ok(*entry),
            None => {
                drop(added);
                Err(Error::UnknownName {
                    what: self.sort,
                    name: name.to_owned(),
                    known: self.names().join(", "),
                })
            }
        }
    }

    fn read(&self, entry: Entry<C>, settings: Map<String, Value>) -> Result<C> {
        if let (Some(key), true) = (settings.keys().next(), (entry.defaults)()?.is_empty()) {
            return Err(Error::Component {
                kind: entry.name.to_owned(),
                reason: format!("it has no settings, so no {key}; leave it out"),
            });
        }
        (entry.read)(settings).map_err(|error| Error::Component {
            kind: entry.name.to_owned(),
            reason: error.to_string(),
        })
    }

    /// From a table with its `kind`, or a text.
    pub(crate) fn from_value(&self, value: Value) -> Result<C> {
        match value {
            Value::String(text) => self.from_text(&text),
            Value::Object(mut settings) => match settings.remove(KIND) {
                Some(Value::String(name)) => self.read(self.find(&name)?, settings),
                _ => Err(Error::Component {
                    kind: self.sort.to_owned(),
                    reason: format!("a table needs its {KIND}, one of {}", self.names().join(", ")),
                }),
            },
            other => Err(Error::Component {
                kind: self.sort.to_owned(),
                reason: format!("{other} is neither a name nor a table with its {KIND}"),
            }),
        }
    }

    /// From `name:setting=value,...`.
    pub(crate) fn from_text(&self, whole: &str) -> Result<C> {
        let (name, settings) = match whole.split_once(':') {
            Some((name, settings)) => (name, settings),
            None => (whole, ""),
        };
        let entry = self.find(name.trim())?;
        let fits = |settings: &Map<String, Value>| (entry.read)(settings.clone()).is_ok();
        let settings =
            text::read(settings, &(entry.defaults)()?, &fits).map_err(|reason| Error::Component {
                kind: entry.name.to_owned(),
                reason,
            })?;
        self.read(entry, settings)
    }

    /// `name:setting=value,...`, with the settings that differ from the defaults.
    pub(crate) fn text(&self, name: &'static str, settings: Result<Map<String, Value>>) -> Result<String> {
        // One that was never added has no defaults here: all settings are written.
        let defaults = match self.find(name) {
            Ok(entry) => (entry.defaults)()?,
            Err(_) => Map::new(),
        };
        let settings = text::write(&settings?, &defaults);
        Ok(match settings.is_empty() {
            true => name.to_owned(),
            false => format!("{name}:{settings}"),
        })
    }
}
