//! Pickles, read by a machine that can build data and nothing else.
//!
//! A pickle is a program for a stack machine, and Python's machine can call
//! anything. This one knows an explicit list of instructions (`machine.rs`) and
//! of names (`globals.rs`): numbers, texts, lists, tuples, dicts, NumPy arrays
//! and SciPy CSR matrices. Whatever else a pickle names is refused by that
//! name. No code is run, because there is none to run.
//!
//! Memory grows with the bytes of the file: objects live in one list and refer
//! to each other by position, so shared, nested and even circular content costs
//! no more than it took to write it down.

mod globals;
mod input;
mod machine;
mod objects;
mod text;
mod value;

use std::path::{Path, PathBuf};

use super::options::ReadOptions;
use super::whole::read_whole;
use crate::error::Result;
use machine::Machine;
pub use value::{CsrValue, Entries, Items, Value};
use value::{Item, Object};

/// The content of a pickle.
///
/// ```
/// use egg_graph::pickle::{Pickle, Value};
/// use egg_graph::{Error, ReadOptions};
///
/// // Python 2: pickle.dumps({'a': [1, 2]}, 2)
/// let bytes = b"\x80\x02}q\x00U\x01aq\x01]q\x02(K\x01K\x02es.".to_vec();
/// let pickle = Pickle::from_bytes(bytes, "example".as_ref(), &ReadOptions::default())?;
/// let Value::Dict(entries) = pickle.value() else { panic!("not a dict") };
/// assert!(matches!(entries.get("a"), Some(Value::List(items)) if items.len() == 2));
///
/// let harmful = b"cos\nsystem\n(S'ls'\ntR.".to_vec();
/// let refused = Pickle::from_bytes(harmful, "harmful".as_ref(), &ReadOptions::default());
/// assert!(matches!(refused, Err(Error::Refused { name, .. }) if name == "os.system"));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct Pickle {
    file: PathBuf,
    bytes: Vec<u8>,
    objects: Vec<Object>,
    root: Item,
}

impl Pickle {
    /// Reads a pickle of protocol 0 to 4.
    ///
    /// # Errors
    /// [`crate::Error::Refused`] for a name that is not on the list,
    /// [`crate::Error::Binary`] for what is not a pickle, is cut short or goes
    /// beyond a limit, [`crate::Error::OverLimit`] for a file that is larger than
    /// [`ReadOptions::max_pickle_bytes`], [`crate::Error::Io`].
    pub fn read(path: &Path, options: &ReadOptions) -> Result<Self> {
        let most = options.max_bytes.min(options.max_pickle_bytes);
        Self::from_bytes(read_whole(path, most)?, path, options)
    }

    /// The same from memory; `file` is what errors call it. Objects may take at
    /// most [`ReadOptions::max_pickle_bytes`].
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn from_bytes(bytes: Vec<u8>, file: &Path, options: &ReadOptions) -> Result<Self> {
        let most = options.max_bytes.min(options.max_pickle_bytes);
        let (objects, root) = Machine::new(&bytes, file, most).run()?;
        Ok(Self {
            file: file.to_owned(),
            bytes,
            objects,
            root,
        })
    }

    /// What was pickled.
    pub fn value(&self) -> Value<'_> {
        self.view(self.root)
    }

    /// How many bytes it was read from.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Where it came from.
    pub fn file(&self) -> &Path {
        &self.file
    }
}
