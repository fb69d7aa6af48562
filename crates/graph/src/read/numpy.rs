//! Arrays as NumPy stores them: raw bytes, an element type, a shape.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use ndarray::{Array2, ShapeBuilder};

use crate::error::{Error, Result};

/// What an array's elements are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElementType {
    /// One byte, zero or not.
    Bool,
    /// Signed, 1 byte.
    I8,
    /// Signed, 2 bytes.
    I16,
    /// Signed, 4 bytes.
    I32,
    /// Signed, 8 bytes.
    I64,
    /// Unsigned, 1 byte.
    U8,
    /// Unsigned, 2 bytes.
    U16,
    /// Unsigned, 4 bytes.
    U32,
    /// Unsigned, 8 bytes.
    U64,
    /// Floating point, 4 bytes.
    F32,
    /// Floating point, 8 bytes.
    F64,
    /// Text of a fixed number of characters, 4 bytes each.
    Text {
        /// How many.
        characters: usize,
    },
}

/// An element type and whether its most significant byte comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) element: ElementType,
    pub(crate) big_endian: bool,
}

impl Layout {
    /// From NumPy's notation, such as `<f4`; `None` for what is not read here:
    /// objects, structures, complex numbers, dates, ...
    pub(crate) fn parse(notation: &str) -> Option<Self> {
        let mut rest = notation;
        let mut big_endian = cfg!(target_endian = "big");
        if let Some(after) = rest.strip_prefix(['<', '>', '|', '=']) {
            big_endian = byte_order(rest.chars().next()?)?;
            rest = after;
        }
        let kind = rest.chars().next()?;
        let size: usize = rest.get(kind.len_utf8()..)?.parse().ok()?;
        let element = match (kind, size) {
            ('b' | '?', 1) => ElementType::Bool,
            ('i', 1) => ElementType::I8,
            ('i', 2) => ElementType::I16,
            ('i', 4) => ElementType::I32,
            ('i', 8) => ElementType::I64,
            ('u', 1) => ElementType::U8,
            ('u', 2) => ElementType::U16,
            ('u', 4) => ElementType::U32,
            ('u', 8) => ElementType::U64,
            ('f', 4) => ElementType::F32,
            ('f', 8) => ElementType::F64,
            ('U', characters) => ElementType::Text { characters },
            _ => return None,
        };
        Some(Self { element, big_endian })
    }
}

/// Whether NumPy's sign for a byte order means the most significant byte first.
pub(crate) fn byte_order(sign: char) -> Option<bool> {
    match sign {
        '<' | '|' => Some(false),
        '>' => Some(true),
        '=' => Some(cfg!(target_endian = "big")),
        _ => None,
    }
}

impl ElementType {
    /// Bytes per element; `None` if that is beyond any memory.
    pub(crate) fn size(self) -> Option<usize> {
        match self {
            Self::Bool | Self::I8 | Self::U8 => Some(1),
            Self::I16 | Self::U16 => Some(2),
            Self::I32 | Self::U32 | Self::F32 => Some(4),
            Self::I64 | Self::U64 | Self::F64 => Some(8),
            Self::Text { characters } => characters.checked_mul(4),
        }
    }
}

/// How many bytes an array takes; `None` if that is beyond any memory.
pub(crate) fn byte_count(element: ElementType, shape: &[usize]) -> Option<usize> {
    // Not `try_fold`, which would call (2^40, 2^40, 0) too large.
    if shape.contains(&0) {
        return Some(0);
    }
    shape
        .iter()
        .try_fold(element.size()?, |product, length| product.checked_mul(*length))
}

/// An array that came out of a `.npy` file, an `.npz` archive or a pickle,
/// still in the bytes it was stored in; the methods convert.
///
/// ```
/// use egg_graph::{ReadOptions, read_npy, write_npy};
/// use ndarray::array;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("features.npy");
/// write_npy(&path, array![[1.0, 2.0], [3.0, 4.5]].view())?;
/// let stored = read_npy(&path, &ReadOptions::default())?;
/// assert_eq!(stored.shape(), [2, 2]);
/// assert_eq!(stored.to_matrix()?, array![[1.0, 2.0], [3.0, 4.5]]);
/// assert!(stored.to_integers().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct NumpyArray<'a> {
    file: PathBuf,
    layout: Layout,
    fortran: bool,
    shape: Vec<usize>,
    bytes: Cow<'a, [u8]>,
}

impl<'a> NumpyArray<'a> {
    /// The number of bytes must be what shape and element type say.
    pub(crate) fn new(
        file: &Path,
        layout: Layout,
        fortran: bool,
        shape: Vec<usize>,
        bytes: Cow<'a, [u8]>,
    ) -> std::result::Result<Self, String> {
        let expected = byte_count(layout.element, &shape);
        if expected != Some(bytes.len()) {
            return Err(format!(
                "an array of shape {shape:?} does not fit its {} bytes of data",
                bytes.len()
            ));
        }
        Ok(Self {
            file: file.to_owned(),
            layout,
            fortran,
            shape,
            bytes,
        })
    }

    /// The length along each axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// What the elements are.
    pub fn element_type(&self) -> ElementType {
        self.layout.element
    }

    /// Where it came from; within an archive, the archive's path and the member's.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// A matrix of numbers, rounded to f32.
    ///
    /// # Errors
    /// [`Error::File`] if the array does not have two axes or holds text.
    pub fn to_matrix(&self) -> Result<Array2<f32>> {
        let [rows, columns] = self.shape[..] else {
            return Err(self.wrong(format!("expected a matrix, found shape {:?}", self.shape)));
        };
        let numbers = self.numbers()?;
        Array2::from_shape_vec((rows, columns).set_f(self.fortran), numbers)
            .map_err(|error| self.wrong(error.to_string()))
    }

    /// A matrix of numbers with all their digits.
    ///
    /// # Errors
    /// As [`Self::to_matrix`].
    pub fn to_matrix_f64(&self) -> Result<Array2<f64>> {
        if self.layout.element != ElementType::F64 {
            return Ok(self.to_matrix()?.mapv(f64::from));
        }
        let [rows, columns] = self.shape[..] else {
            return Err(self.wrong(format!("expected a matrix, found shape {:?}", self.shape)));
        };
        let (bytes, big) = (&self.bytes[..], self.layout.big_endian);
        let numbers = decode(bytes, big, f64::from_le_bytes, f64::from_be_bytes, |x| x);
        Array2::from_shape_vec((rows, columns).set_f(self.fortran), numbers)
            .map_err(|error| self.wrong(error.to_string()))
    }

    /// A list of numbers, rounded to f32.
    ///
    /// # Errors
    /// [`Error::File`] if the array does not have one axis or holds text.
    pub fn to_floats(&self) -> Result<Vec<f32>> {
        self.one_axis()?;
        self.numbers()
    }

    /// A list of whole numbers.
    ///
    /// # Errors
    /// [`Error::File`] if the array does not have one axis, or its elements are
    /// not whole numbers within 64 bits.
    pub fn to_integers(&self) -> Result<Vec<i64>> {
        self.one_axis()?;
        let (bytes, big) = (&self.bytes[..], self.layout.big_endian);
        Ok(match self.layout.element {
            ElementType::Bool => bytes.iter().map(|byte| i64::from(*byte != 0)).collect(),
            ElementType::I8 => decode(bytes, big, i8::from_le_bytes, i8::from_be_bytes, i64::from),
            ElementType::I16 => decode(bytes, big, i16::from_le_bytes, i16::from_be_bytes, i64::from),
            ElementType::I32 => decode(bytes, big, i32::from_le_bytes, i32::from_be_bytes, i64::from),
            ElementType::I64 => decode(bytes, big, i64::from_le_bytes, i64::from_be_bytes, i64::from),
            ElementType::U8 => decode(bytes, big, u8::from_le_bytes, u8::from_be_bytes, i64::from),
            ElementType::U16 => decode(bytes, big, u16::from_le_bytes, u16::from_be_bytes, i64::from),
            ElementType::U32 => decode(bytes, big, u32::from_le_bytes, u32::from_be_bytes, i64::from),
            ElementType::U64 => {
                let all: Vec<u64> = decode(bytes, big, u64::from_le_bytes, u64::from_be_bytes, |value| value);
                let converted: std::result::Result<_, _> = all.into_iter().map(i64::try_from).collect();
                converted.map_err(|_| self.wrong("a number is above 2^63 - 1"))?
            }
            other => return Err(self.wrong(format!("expected whole numbers, found elements {other:?}"))),
        })
    }

    /// A list of texts, without the zeros that fill them up.
    ///
    /// # Errors
    /// [`Error::File`] if the array does not have one axis, or its elements are
    /// not text.
    pub fn to_texts(&self) -> Result<Vec<String>> {
        self.one_axis()?;
        let ElementType::Text { characters } = self.layout.element else {
            return Err(self.wrong(format!("expected text, found elements {:?}", self.layout.element)));
        };
        let codes: Vec<u32> = decode(
            &self.bytes,
            self.layout.big_endian,
            u32::from_le_bytes,
            u32::from_be_bytes,
            |code| code,
        );
        if characters == 0 {
            return Err(self.wrong("texts of no characters"));
        }
        let text = |codes: &[u32]| -> Option<String> {
            let used = codes
                .iter()
                .rposition(|code| *code != 0)
                .map_or(0, |last| last + 1);
            codes
                .iter()
                .take(used)
                .map(|code| char::from_u32(*code))
                .collect()
        };
        let texts: Option<Vec<String>> = codes.chunks(characters).map(text).collect();
        texts.ok_or_else(|| self.wrong("a code that is no character"))
    }

    /// All elements in the order they are stored in.
    fn numbers(&self) -> Result<Vec<f32>> {
        let (bytes, big) = (&self.bytes[..], self.layout.big_endian);
        Ok(match self.layout.element {
            ElementType::Bool => bytes.iter().map(|byte| f32::from(u8::from(*byte != 0))).collect(),
            ElementType::I8 => decode(bytes, big, i8::from_le_bytes, i8::from_be_bytes, f32::from),
            ElementType::I16 => decode(bytes, big, i16::from_le_bytes, i16::from_be_bytes, f32::from),
            ElementType::I32 => decode(bytes, big, i32::from_le_bytes, i32::from_be_bytes, |x| x as f32),
            ElementType::I64 => decode(bytes, big, i64::from_le_bytes, i64::from_be_bytes, |x| x as f32),
            ElementType::U8 => decode(bytes, big, u8::from_le_bytes, u8::from_be_bytes, f32::from),
            ElementType::U16 => decode(bytes, big, u16::from_le_bytes, u16::from_be_bytes, f32::from),
            ElementType::U32 => decode(bytes, big, u32::from_le_bytes, u32::from_be_bytes, |x| x as f32),
            ElementType::U64 => decode(bytes, big, u64::from_le_bytes, u64::from_be_bytes, |x| x as f32),
            ElementType::F32 => decode(bytes, big, f32::from_le_bytes, f32::from_be_bytes, |x| x),
            ElementType::F64 => {
                #[expect(clippy::cast_possible_truncation, reason = "rounding is what is asked for")]
                let rounded = |x: f64| x as f32;
                decode(bytes, big, f64::from_le_bytes, f64::from_be_bytes, rounded)
            }
            ElementType::Text { .. } => return Err(self.wrong("expected numbers, found text")),
        })
    }

    fn one_axis(&self) -> Result<()> {
        if self.shape.len() == 1 {
            return Ok(());
        }
        Err(self.wrong(format!("expected a list, found shape {:?}", self.shape)))
    }

    /// How many bytes the elements take.
    pub(crate) fn byte_len(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub(crate) fn wrong(&self, problem: impl Into<String>) -> Error {
        Error::file(&self.file, problem)
    }
}

fn decode<const SIZE: usize, T, U>(
    bytes: &[u8],
    big_endian: bool,
    little: impl Fn([u8; SIZE]) -> T,
    big: impl Fn([u8; SIZE]) -> T,
    convert: impl Fn(T) -> U,
) -> Vec<U> {
    let elements = bytes.as_chunks::<SIZE>().0.iter();
    if big_endian {
        elements.map(|element| convert(big(*element))).collect()
    } else {
        elements.map(|element| convert(little(*element))).collect()
    }
}
