//! Numbers in JSON, which has no NaN and no infinity.
//!
//! A loss may be NaN, and must be written and read again. NaN is `null` and infinities are strings.

// Numbers read from a file must not be used as indices unchecked.
#![warn(clippy::indexing_slicing)]

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Number(f64),
    Word(Word),
    Nothing(()),
}

#[derive(Serialize, Deserialize)]
enum Word {
    #[serde(rename = "inf")]
    Infinity,
    #[serde(rename = "-inf")]
    MinusInfinity,
}

impl From<f64> for Written {
    fn from(number: f64) -> Self {
        if number.is_nan() {
            Self::Nothing(())
        } else if number == f64::INFINITY {
            Self::Word(Word::Infinity)
        } else if number == f64::NEG_INFINITY {
            Self::Word(Word::MinusInfinity)
        } else {
            Self::Number(number)
        }
    }
}

impl From<Written> for f64 {
    fn from(written: Written) -> Self {
        match written {
            Written::Number(number) => number,
            Written::Word(Word::Infinity) => f64::INFINITY,
            Written::Word(Word::MinusInfinity) => f64::NEG_INFINITY,
            Written::Nothing(()) => f64::NAN,
        }
    }
}

/// For a missing field.
pub(crate) fn nan() -> f64 {
    f64::NAN
}

pub(crate) fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Written::from(*number).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Written::deserialize(deserializer).map(f64::from)
}

/// The same for a number that may be missing: a missing one and NaN are both
/// `null`, and read as missing.
pub(crate) mod option {
    use super::{Deserialize, Deserializer, Serialize, Serializer, Written};

    pub(crate) fn serialize<S: Serializer>(number: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        number.map(Written::from).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        let written = Option::<Written>::deserialize(deserializer)?;
        Ok(written.map(f64::from).filter(|number| !number.is_nan()))
    }
}

/// The same for many.
pub(crate) mod list {
    use super::{Deserialize, Deserializer, Serializer, Written};

    pub(crate) fn serialize<S: Serializer>(numbers: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(numbers.iter().map(|&number| Written::from(number)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        let written = Vec::<Written>::deserialize(deserializer)?;
        Ok(written.into_iter().map(f64::from).collect())
    }
}

/// The same for single precision, where every non-finite number is `null`.
pub(crate) mod list32 {
    use super::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(numbers: &[f32], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(
            numbers
                .iter()
                .map(|number| Some(*number).filter(|x| x.is_finite())),
        )
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f32>, D::Error> {
        let written = Vec::<Option<f32>>::deserialize(deserializer)?;
        Ok(written
            .into_iter()
            .map(|number| number.unwrap_or(f32::NAN))
            .collect())
    }
}
