//! What a pickle can hold, and how to read it.

use std::borrow::Cow;
use std::ops::Range;

use super::Pickle;
use super::globals::Global;
use crate::error::{Error, Result};
use crate::read::csr::CsrParts;
use crate::read::numpy::{Layout, NumpyArray};
use crate::sparse::CsrMatrix;

/// A number, or the position of an object.
#[derive(Debug, Clone, Copy)]
pub(super) enum Item {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Object(u32),
}

/// An object that others may refer to.
#[derive(Debug)]
pub(super) enum Object {
    Bytes(Blob),
    Text(String),
    Tuple(Vec<Item>),
    List(Vec<Item>),
    Dict(Vec<(Item, Item)>),
    Global(Global),
    Dtype(Layout),
    /// `None` before its state is set.
    Array(Option<ArrayState>),
    /// `None` before its state is set; then a dict.
    Csr(Option<Item>),
}

/// Bytes that are in the pickle as they are, or had to be unescaped.
#[derive(Debug, Clone)]
pub(super) enum Blob {
    At(Range<usize>),
    Own(Vec<u8>),
}

impl Blob {
    /// The bytes; `input` is the pickle they came from.
    pub(super) fn bytes<'a>(&'a self, input: &'a [u8]) -> &'a [u8] {
        match self {
            Self::At(range) => input.get(range.clone()).unwrap_or_default(),
            Self::Own(bytes) => bytes,
        }
    }
}

#[derive(Debug)]
pub(super) struct ArrayState {
    pub(super) layout: Layout,
    pub(super) fortran: bool,
    pub(super) shape: Vec<usize>,
    pub(super) data: Blob,
}

/// A value in a pickle, borrowed.
///
/// ```
/// use egg_graph::pickle::{Pickle, Value};
/// use egg_graph::ReadOptions;
/// // Python 3: pickle.dumps((True, 2.5), 2)
/// let bytes = b"\x80\x02\x88G@\x04\x00\x00\x00\x00\x00\x00\x86q\x00.".to_vec();
/// let pickle = Pickle::from_bytes(bytes, "pair".as_ref(), &ReadOptions::default())?;
/// let Value::Tuple(items) = pickle.value() else { panic!("not a tuple") };
/// assert!(matches!(items.get(0), Some(Value::Bool(true))));
/// assert!(matches!(items.get(1), Some(Value::Float(2.5))));
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Value<'a> {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// Bytes, which is what Python 2 calls a string.
    Bytes(&'a [u8]),
    /// Text.
    Text(&'a str),
    /// A tuple.
    Tuple(Items<'a>),
    /// A list.
    List(Items<'a>),
    /// A dict, ordered, with a default or plain.
    Dict(Entries<'a>),
    /// A NumPy array.
    Array(NumpyArray<'a>),
    /// A SciPy matrix in compressed rows.
    Csr(CsrValue<'a>),
    /// Something that holds no data: a class, an element type, an array or
    /// matrix that was never filled.
    Opaque,
}

impl Value<'_> {
    /// What it is, for error messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Bool(_) => "a truth value",
            Self::Int(_) => "a whole number",
            Self::Float(_) => "a floating-point number",
            Self::Bytes(_) => "bytes",
            Self::Text(_) => "text",
            Self::Tuple(_) => "a tuple",
            Self::List(_) => "a list",
            Self::Dict(_) => "a dict",
            Self::Array(_) => "an array",
            Self::Csr(_) => "a CSR matrix",
            Self::Opaque => "an object without data",
        }
    }
}

/// The items of a list or tuple.
#[derive(Debug, Clone, Copy)]
pub struct Items<'a> {
    pickle: &'a Pickle,
    items: &'a [Item],
}

impl<'a> Items<'a> {
    /// How many.
    pub fn len(self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.items.is_empty()
    }

    /// One of them.
    pub fn get(self, index: usize) -> Option<Value<'a>> {
        self.items.get(index).map(|item| self.pickle.view(*item))
    }

    /// All of them in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Value<'a>> {
        self.items.iter().map(move |item| self.pickle.view(*item))
    }
}

/// The entries of a dict, in the order in which they were set; a key that was
/// set again is there again.
#[derive(Debug, Clone, Copy)]
pub struct Entries<'a> {
    pickle: &'a Pickle,
    entries: &'a [(Item, Item)],
}

impl<'a> Entries<'a> {
    /// How many.
    pub fn len(self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.entries.is_empty()
    }

    /// Keys and values in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = (Value<'a>, Value<'a>)> {
        let view = move |item: &Item| self.pickle.view(*item);
        self.entries
            .iter()
            .map(move |(key, value)| (view(key), view(value)))
    }

    /// The value last set under a text, be it text or bytes to Python.
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        let is_key = |candidate: &Value<'a>| match candidate {
            Value::Bytes(bytes) => *bytes == key.as_bytes(),
            Value::Text(text) => *text == key,
            _ => false,
        };
        let mut found = self.iter().filter(|(candidate, _)| is_key(candidate));
        let first = found.next();
        found.last().or(first).map(|(_, value)| value)
    }
}

/// A SciPy matrix in compressed rows, as its attributes.
#[derive(Debug, Clone, Copy)]
pub struct CsrValue<'a> {
    attributes: Entries<'a>,
}

impl<'a> CsrValue<'a> {
    /// The matrix, with the columns of each row sorted and the values of equal
    /// columns added up.
    ///
    /// # Errors
    /// [`Error::File`] if attributes are missing or don't fit each other.
    pub fn to_matrix(self) -> Result<CsrMatrix> {
        let file = &self.attributes.pickle.file;
        let shape = match self
            .attributes
            .get("_shape")
            .or_else(|| self.attributes.get("shape"))
        {
            Some(Value::Tuple(items)) => items
                .iter()
                .map(|length| match length {
                    Value::Int(length) => Ok(length),
                    other => Err(Error::file(
                        file,
                        format!("the shape holds {} for a length", other.kind()),
                    )),
                })
                .collect::<Result<Vec<i64>>>()?,
            _ => return Err(Error::file(file, "the CSR matrix has no shape")),
        };
        let parts = CsrParts {
            shape,
            offsets: self.array("indptr")?.to_integers()?,
            columns: self.array("indices")?.to_integers()?,
            values: self.array("data")?.to_floats()?,
        };
        parts.into_matrix(file)
    }

    fn array(self, name: &str) -> Result<NumpyArray<'a>> {
        match self.attributes.get(name) {
            Some(Value::Array(array)) => Ok(array),
            _ => Err(Error::file(
                &self.attributes.pickle.file,
                format!("the CSR matrix has no array `{name}`"),
            )),
        }
    }
}

impl Pickle {
    pub(super) fn view(&self, item: Item) -> Value<'_> {
        let index = match item {
            Item::None => return Value::None,
            Item::Bool(value) => return Value::Bool(value),
            Item::Int(value) => return Value::Int(value),
            Item::Float(value) => return Value::Float(value),
            Item::Object(index) => index as usize,
        };
        let items = |items| Items { pickle: self, items };
        match self.objects.get(index) {
            Some(Object::Bytes(blob)) => Value::Bytes(blob.bytes(&self.bytes)),
            Some(Object::Text(text)) => Value::Text(text),
            Some(Object::Tuple(all)) => Value::Tuple(items(all)),
            Some(Object::List(all)) => Value::List(items(all)),
            Some(Object::Dict(entries)) => Value::Dict(Entries {
                pickle: self,
                entries,
            }),
            Some(Object::Array(Some(state))) => {
                let bytes = Cow::Borrowed(state.data.bytes(&self.bytes));
                let array = NumpyArray::new(
                    &self.file,
                    state.layout,
                    state.fortran,
                    state.shape.clone(),
                    bytes,
                );
                array.map_or(Value::Opaque, Value::Array)
            }
            // Only a dict is accepted as state.
            Some(Object::Csr(Some(Item::Object(state)))) => match self.objects.get(*state as usize) {
                Some(Object::Dict(entries)) => Value::Csr(CsrValue {
                    attributes: Entries {
                        pickle: self,
                        entries,
                    },
                }),
                _ => Value::Opaque,
            },
            _ => Value::Opaque,
        }
    }
}
