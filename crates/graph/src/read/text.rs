//! Lines of numbers, read as a stream: only the current line is in memory.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, LineProblem, Result};
use crate::read::packed::most_unpacked;

/// No line of a file that we read is longer than this: the widest have some
/// thousand numbers.
const LINE_LIMIT: usize = 1 << 20;

/// What some editors begin a UTF-8 file with.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Text, line by line, with where we are in it.
pub(crate) struct Lines<R> {
    input: R,
    file: PathBuf,
    number: u64,
    buffer: Vec<u8>,
    /// How many more bytes may be read.
    remaining: u64,
    limit: u64,
    /// The size of the packed file, if it is that which sets the limit.
    packed: Option<u64>,
}

impl<R: BufRead> Lines<R> {
    /// `max_bytes` is the most that is read before giving up.
    pub(crate) fn new(input: R, file: impl Into<PathBuf>, max_bytes: u64) -> Self {
        Self {
            input,
            file: file.into(),
            number: 0,
            buffer: Vec::new(),
            remaining: max_bytes,
            limit: max_bytes,
            packed: None,
        }
    }

    /// The lines of a packed file of `packed` bytes, which may unpack to a multiple of them.
    pub(crate) fn unpacked(input: R, file: impl Into<PathBuf>, max_bytes: u64, packed: u64) -> Self {
        let most = most_unpacked(packed);
        let lines = Self::new(input, file, max_bytes.min(most));
        Self {
            packed: (most < max_bytes).then_some(packed),
            ..lines
        }
    }

    /// Moves to the next line; `false` at the end of the file. A line ends with
    /// LF or CRLF, the last one with either or nothing.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        self.buffer.clear();
        let most = (LINE_LIMIT as u64 + 2).min(self.remaining.saturating_add(1));
        let read = self
            .input
            .by_ref()
            .take(most)
            .read_until(b'\n', &mut self.buffer)
            .map_err(Error::io(&self.file))?;
        if read == 0 {
            return Ok(false);
        }
        self.number += 1;
        if read as u64 > self.remaining {
            let (file, limit) = (self.file.clone(), self.limit);
            return Err(match self.packed {
                Some(packed) => Error::Inflated { file, packed, limit },
                None => Error::OverLimit {
                    file,
                    what: "the number of bytes",
                    limit,
                },
            });
        }
        self.remaining -= read as u64;
        if self.buffer.last() == Some(&b'\n') {
            self.buffer.pop();
        }
        if self.buffer.last() == Some(&b'\r') {
            self.buffer.pop();
        }
        if self.number == 1 && self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.buffer.drain(..BYTE_ORDER_MARK.len());
        }
        if self.buffer.len() > LINE_LIMIT {
            return Err(self.wrong(LineProblem::TooLong { limit: LINE_LIMIT }));
        }
        Ok(true)
    }

    /// The current line, without its line break.
    pub(crate) fn line(&self) -> &[u8] {
        &self.buffer
    }

    /// Its one-based number.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// An error at the current line.
    pub(crate) fn wrong(&self, problem: LineProblem) -> Error {
        Error::Line {
            file: self.file.clone(),
            line: self.number,
            problem,
        }
    }

    /// The fields of the current line: between commas, trimmed.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        self.buffer.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
    }

    /// Whether the current line is blank.
    pub(crate) fn is_blank(&self) -> bool {
        self.buffer.trim_ascii().is_empty()
    }

    /// After blank lines at the end of a file there must be nothing more.
    pub(crate) fn only_blank_lines_left(&mut self) -> Result<()> {
        let first = self.number;
        while self.advance()? {
            if !self.is_blank() {
                self.number = first;
                return Err(self.wrong(LineProblem::Blank));
            }
        }
        Ok(())
    }

    pub(crate) fn integer(&self, field: &[u8]) -> Result<i64> {
        parse_integer(field).ok_or_else(|| self.not_a_number(field, "a whole number"))
    }

    pub(crate) fn float(&self, field: &[u8]) -> Result<f32> {
        let value = std::str::from_utf8(field)
            .ok()
            .and_then(|text| text.parse::<f32>().ok());
        value
            .filter(|value| value.is_finite())
            .ok_or_else(|| self.not_a_number(field, "a finite number"))
    }

    /// A whole number within bounds.
    pub(crate) fn within(&self, field: &[u8], what: &'static str, least: i64, most: i64) -> Result<i64> {
        // A whole number too large for 64 bits is out of every range.
        let value = match parse_integer(field) {
            Some(value) if (least..=most).contains(&value) => return Ok(value),
            None if !is_decimal(field) => return self.integer(field),
            _ => shown(field),
        };
        Err(self.wrong(LineProblem::OutOfRange {
            what,
            value,
            least,
            most,
        }))
    }

    fn not_a_number(&self, field: &[u8], expected: &'static str) -> Error {
        self.wrong(LineProblem::NotANumber {
            text: shown(field),
            expected,
        })
    }
}

/// Decimal digits with an optional sign, nothing else; `None` if it is no such
/// thing or does not fit.
pub(crate) fn parse_integer(field: &[u8]) -> Option<i64> {
    let (negative, digits) = match field {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let mut value = 0i64;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(i64::from(digit))?;
    }
    Some(if negative { -value } else { value })
}

fn is_decimal(field: &[u8]) -> bool {
    let digits = match field {
        [b'-' | b'+', digits @ ..] => digits,
        digits => digits,
    };
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// A field as it can be shown to a person.
pub(crate) fn shown(field: &[u8]) -> String {
    let text = String::from_utf8_lossy(field);
    let mut short: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().count() > 40 {
        short.push_str("...");
    }
    short
}
