//! `.npy` files: a header in Python's notation, then the elements.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use ndarray::ArrayView2;

use super::numpy::{Layout, NumpyArray, byte_count};
use super::options::ReadOptions;
use crate::error::{Error, Result};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The header of an array of plain numbers takes about a hundred bytes.
const HEADER_LIMIT: u32 = 1 << 16;

/// Reads an array from a `.npy` file of format version 1, 2 or 3.
///
/// Numbers of either byte order and either memory order, booleans and
/// fixed-width text are read. Arrays of Python objects are not: they are
/// pickles in disguise.
///
/// # Errors
/// [`Error::Binary`] with the byte at which the file stops making sense or
/// ends, [`Error::Refused`] for elements that are not read,
/// [`Error::OverLimit`] beyond [`ReadOptions::max_bytes`], [`Error::Io`].
///
/// ```no_run
/// use egg_graph::{ReadOptions, read_npy};
/// let labels = read_npy("labels.npy".as_ref(), &ReadOptions::default())?.to_integers()?;
/// # Ok::<(), egg_graph::Error>(())
/// ```
pub fn read_npy(path: &Path, options: &ReadOptions) -> Result<NumpyArray<'static>> {
    let file = File::open(path).map_err(Error::io(path))?;
    let mut source = Source::new(BufReader::new(file), path);
    source.array(options.max_bytes)
}

/// Writes a matrix as a `.npy` file that NumPy reads, little endian, row by
/// row. The file is written atomically.
///
/// # Errors
/// [`Error::Io`].
///
/// ```
/// use egg_graph::{ReadOptions, read_npy, write_npy};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("row.npy");
/// write_npy(&path, ndarray::array![[0.5, -1.0, 2.0]].view())?;
/// assert_eq!(read_npy(&path, &ReadOptions::default())?.shape(), [1, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_npy(path: &Path, matrix: ArrayView2<'_, f32>) -> Result<()> {
    let (rows, columns) = matrix.dim();
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    // Magic, version and length take 10 bytes; data begin at a multiple of 64.
    while !(header.len() + 11).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let length = u16::try_from(header.len()).map_err(|_| Error::file(path, "the header is too long"))?;
    egg_files::write_with(path, |file| {
        file.write_all(MAGIC)?;
        file.write_all(&[1, 0])?;
        file.write_all(&length.to_le_bytes())?;
        file.write_all(header.as_bytes())?;
        matrix
            .iter()
            .try_for_each(|value| file.write_all(&value.to_le_bytes()))
    })
    .map_err(Error::io(path))
}

/// Bytes with where we are in them.
pub(crate) struct Source<'p, R> {
    input: R,
    file: &'p Path,
    offset: u64,
}

impl<'p, R: Read> Source<'p, R> {
    pub(crate) fn new(input: R, file: &'p Path) -> Self {
        Self {
            input,
            file,
            offset: 0,
        }
    }

    /// The array that begins here and ends where the input ends.
    pub(crate) fn array(&mut self, max_bytes: u64) -> Result<NumpyArray<'static>> {
        if self.array_of_bytes()? != *MAGIC {
            return Err(self.wrong(0, "this is not an .npy file: it does not begin with \\x93NUMPY"));
        }
        let (length, at) = match self.array_of_bytes()? {
            [1, _] => (u32::from(u16::from_le_bytes(self.array_of_bytes()?)), 10),
            [2 | 3, _] => (u32::from_le_bytes(self.array_of_bytes()?), 12),
            _ => return Err(self.wrong(6, "format versions 1, 2 and 3 are read, not this one")),
        };
        if length > HEADER_LIMIT {
            return Err(self.wrong(8, format!("a header of {length} bytes is too long")));
        }
        let header = self.bytes(u64::from(length))?;
        let header = String::from_utf8(header).map_err(|_| self.wrong(at, "the header is not text"))?;
        let header = Header::parse(&header).map_err(|problem| self.wrong(at, problem))?;
        let Some(layout) = Layout::parse(&header.elements) else {
            return Err(Error::Refused {
                file: self.file.to_owned(),
                offset: at,
                name: format!("elements of type {}", header.elements),
            });
        };
        let expected = byte_count(layout.element, &header.shape)
            .and_then(|count| u64::try_from(count).ok())
            .filter(|count| *count <= max_bytes);
        let Some(expected) = expected else {
            return Err(Error::OverLimit {
                file: self.file.to_owned(),
                what: "the size of the array in bytes",
                limit: max_bytes,
            });
        };
        let data = self.bytes(expected)?;
        if !self.is_at_end()? {
            return Err(self.wrong(
                self.offset,
                format!("there is more after the {expected} bytes of the array"),
            ));
        }
        let array = NumpyArray::new(self.file, layout, header.fortran, header.shape, Cow::Owned(data));
        array.map_err(|problem| self.wrong(at, problem))
    }

    /// This many bytes, in a buffer that grows with what is read.
    fn bytes(&mut self, count: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = self
            .input
            .by_ref()
            .take(count)
            .read_to_end(&mut bytes)
            .map_err(Error::io(self.file))?;
        self.offset += read as u64;
        if read as u64 == count {
            return Ok(bytes);
        }
        Err(self.wrong(
            self.offset,
            format!("the file ends {} bytes too early", count - read as u64),
        ))
    }

    /// As many bytes as the array has.
    fn array_of_bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.bytes(N as u64)?;
        let array = bytes.first_chunk().copied();
        array.ok_or_else(|| self.wrong(self.offset, "the file ends too early"))
    }

    fn is_at_end(&mut self) -> Result<bool> {
        let mut more = [0];
        loop {
            match self.input.read(&mut more) {
                Ok(read) => return Ok(read == 0),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(self.file)(error)),
            }
        }
    }

    fn wrong(&self, offset: u64, problem: impl Into<String>) -> Error {
        Error::Binary {
            file: self.file.to_owned(),
            offset,
            problem: problem.into(),
        }
    }
}

/// What the header says.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    elements: String,
    fortran: bool,
    shape: Vec<usize>,
}

impl Header {
    /// `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`, the keys
    /// in any order.
    fn parse(text: &str) -> std::result::Result<Self, String> {
        let mut rest = Notation(text);
        let (mut elements, mut fortran, mut shape) = (None, None, None);
        rest.expect("{")?;
        while !rest.take("}") {
            let key = rest.quoted()?;
            rest.expect(":")?;
            match key {
                "descr" => elements = Some(rest.elements()?),
                "fortran_order" => fortran = Some(rest.boolean()?),
                "shape" => shape = Some(rest.shape()?),
                other => return Err(format!("the header has an unknown key {other:?}")),
            }
            if !rest.take(",") {
                rest.expect("}")?;
                break;
            }
        }
        if !rest.0.trim().is_empty() {
            return Err("the header has more after its closing brace".into());
        }
        match (elements, fortran, shape) {
            (Some(elements), Some(fortran), Some(shape)) => Ok(Self {
                elements,
                fortran,
                shape,
            }),
            _ => Err("the header lacks descr, fortran_order or shape".into()),
        }
    }
}

/// What is left of a text in Python's notation.
struct Notation<'a>(&'a str);

impl<'a> Notation<'a> {
    fn take(&mut self, token: &str) -> bool {
        self.0 = self.0.trim_start();
        match self.0.strip_prefix(token) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> std::result::Result<(), String> {
        if self.take(token) {
            return Ok(());
        }
        let found: String = self.0.chars().take(20).collect();
        Err(format!("the header has {found:?} where {token:?} belongs"))
    }

    fn quoted(&mut self) -> std::result::Result<&'a str, String> {
        let quote = if self.take("'") { '\'' } else { '"' };
        if quote == '"' {
            self.expect("\"")?;
        }
        let (text, rest) = self
            .0
            .split_once(quote)
            .ok_or("the header has a text that does not end")?;
        self.0 = rest;
        Ok(text)
    }

    /// A type in NumPy's notation; of a structure, enough to name it.
    fn elements(&mut self) -> std::result::Result<String, String> {
        if !self.take("[") {
            return self.quoted().map(str::to_owned);
        }
        let end = self
            .0
            .rfind(']')
            .ok_or("the header has a list that does not end")?;
        let (fields, rest) = self.0.split_at(end);
        self.0 = rest;
        self.expect("]")?;
        Ok(format!("[{}]", fields.chars().take(60).collect::<String>()))
    }

    fn boolean(&mut self) -> std::result::Result<bool, String> {
        if self.take("False") {
            return Ok(false);
        }
        self.expect("True").map(|()| true)
    }

    fn shape(&mut self) -> std::result::Result<Vec<usize>, String> {
        let mut shape = Vec::new();
        self.expect("(")?;
        while !self.take(")") {
            self.0 = self.0.trim_start();
            let digits = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
            let (number, rest) = self.0.split_at(digits);
            let length = number
                .parse()
                .map_err(|_| format!("the shape has {number:?} where a length belongs"))?;
            shape.push(length);
            // Python 2 writes a long integer as 3L.
            self.0 = rest.strip_prefix('L').unwrap_or(rest);
            if shape.len() > 32 {
                return Err("the array has more axes than NumPy allows".into());
            }
            if !self.take(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(shape)
    }
}
