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

impl<C: PartialEq> Registry<C> {
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
        let names = || std::iter::once(&entry.name).chain(entry.aliases);
        if !names().all(|name| super::is_name(name)) {
            return refuse("a name consists of lower-case letters, digits and hyphens".to_owned());
        }
        (entry.defaults)()?;
        let mut added = self.added.write().unwrap_or_else(PoisonError::into_inner);
        let known = || self.built_in.iter().chain(&*added);
        if known().any(|known| known.name == entry.name && (known.settings)() == (entry.settings)()) {
            return Ok(());
        }
        match names().find(|name| known().any(|known| known.is_called(name))) {
            Some(name) => Err(self.taken(name)),
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
    pub(crate) fn read_value(&self, value: Value) -> Result<C> {
        match value {
            Value::String(text) => self.read_text(&text),
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
    pub(crate) fn read_text(&self, whole: &str) -> Result<C> {
        let (name, settings) = match whole.split_once(':') {
            Some((name, settings)) => (name, settings),
            None => (whole, ""),
        };
        let entry = self.find(name.trim())?;
        let check = |settings: &Map<String, Value>| match (entry.read)(settings.clone()) {
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        };
        let settings =
            text::read(settings, &(entry.defaults)()?, &check).map_err(|reason| Error::Component {
                kind: entry.name.to_owned(),
                reason,
            })?;
        self.read(entry, settings)
    }

    /// `name:setting=value,...`, with the settings that differ from the defaults.
    pub(crate) fn text(&self, name: &'static str, settings: Result<Map<String, Value>>) -> Result<String> {
        let settings = settings?;
        let whole = |defaults: &Map<String, Value>, is_short| {
            let settings = text::write(&settings, defaults, is_short);
            match settings.is_empty() {
                true => name.to_owned(),
                false => format!("{name}:{settings}"),
            }
        };
        // One that was never added has no defaults here: all settings are written.
        let Ok(entry) = self.find(name) else {
            return Ok(whole(&Map::new(), false));
        };
        let defaults = (entry.defaults)()?;
        let short = whole(&defaults, true);
        let comes_back = match (self.read_text(&short), (entry.read)(settings.clone())) {
            (Ok(read), Ok(written)) => read == written,
            _ => false,
        };
        Ok(match comes_back {
            true => short,
            false => whole(&defaults, false),
        })
    }

    /// Refuses a component under the name of another, which its settings would come back as.
    pub(crate) fn check_owner(&self, name: &'static str, settings: TypeId) -> Result<()> {
        match self.find(name) {
            Ok(entry) if (entry.settings)() != settings => Err(self.taken(name)),
            _ => Ok(()),
        }
    }

    fn taken(&self, name: &str) -> Error {
        Error::Component {
            kind: name.to_owned(),
            reason: format!("there is another {} of this name", self.sort),
        }
    }
}
