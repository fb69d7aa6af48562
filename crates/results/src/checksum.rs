//! Whether what is in a file is what was written.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// SHA-256 of a value as compact JSON, in hexadecimal. Against mistakes and edits by
/// hand, not against forgers: they could make another one.
///
/// # Errors
/// If the value can't be written as JSON.
///
/// ```
/// let a = egg_results::checksum(&[1, 2])?;
/// assert_eq!((a.len(), &a), (64, &egg_results::checksum(&vec![1, 2])?));
/// assert_ne!(a, egg_results::checksum(&[2, 1])?);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn checksum<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    let digest = Sha256::digest(serde_json::to_vec(value)?);
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[derive(Serialize, Deserialize)]
struct Sealed<T> {
    checksum: String,
    content: T,
}

/// A value with its checksum, as JSON to be read by [`unseal`].
///
/// # Errors
/// If the value can't be written as JSON.
pub fn seal<T: Serialize>(content: &T) -> serde_json::Result<String> {
    let sealed = Sealed {
        checksum: checksum(content)?,
        content,
    };
    serde_json::to_string_pretty(&sealed).map(|text| text + "\n")
}

/// Why a sealed text was not taken.
#[derive(Debug)]
pub enum Unsealed {
    /// It is not JSON of a value with a checksum.
    Format(serde_json::Error),
    /// The value was changed after it was written.
    Changed,
}

impl std::fmt::Display for Unsealed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Format(error) => write!(f, "it is no record with a checksum ({error})"),
            Self::Changed => f.write_str("it was changed after it was written"),
        }
    }
}

impl std::error::Error for Unsealed {}

/// What [`seal`] wrote.
///
/// # Errors
/// [`Unsealed::Format`] if it is something else, [`Unsealed::Changed`] if the checksum
/// is not that of the value.
///
/// ```
/// use egg_results::{Unsealed, seal, unseal};
///
/// let text = seal(&0.75)?;
/// assert_eq!(unseal::<f64>(&text)?, 0.75);
/// assert!(matches!(unseal::<f64>(&text.replace("0.75", "7.5")), Err(Unsealed::Changed)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn unseal<T: Serialize + DeserializeOwned>(text: &str) -> Result<T, Unsealed> {
    let sealed: Sealed<T> = serde_json::from_str(text).map_err(Unsealed::Format)?;
    match checksum(&sealed.content).map_err(Unsealed::Format)? == sealed.checksum {
        true => Ok(sealed.content),
        false => Err(Unsealed::Changed),
    }
}
