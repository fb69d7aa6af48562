//! The bytes of a pickle, read from the beginning to the end.

use std::ops::Range;
use std::path::Path;

use crate::error::{Error, Result};

pub(super) struct Input<'a> {
    /// All of them; blobs are ranges of these.
    pub(super) bytes: &'a [u8],
    pub(super) file: &'a Path,
    at: usize,
    /// Where the current instruction begins.
    start: usize,
}

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8], file: &'a Path) -> Self {
        Self {
            bytes,
            file,
            at: 0,
            start: 0,
        }
    }

    /// How many bytes have not been read.
    pub(super) fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The first byte of the next instruction.
    pub(super) fn instruction(&mut self) -> Result<u8> {
        self.start = self.at;
        self.byte()
    }

    /// An error if there is more.
    pub(super) fn expect_end(&mut self) -> Result<()> {
        if self.remaining() > 0 {
            self.start = self.at;
            return Err(self.wrong("the pickle ends before the file does"));
        }
        Ok(())
    }

    /// Skips `length` bytes: where they are.
    pub(super) fn skip(&mut self, length: usize) -> Result<Range<usize>> {
        self.take(length)?;
        Ok(self.at - length..self.at)
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.bytes.get(self.at..).and_then(<[u8]>::first_chunk) {
            Some(bytes) => {
                self.at += N;
                Ok(*bytes)
            }
            None => Err(self.ends_early()),
        }
    }

    pub(super) fn length32(&mut self) -> Result<usize> {
        let length = i32::from_le_bytes(self.array()?);
        usize::try_from(length).map_err(|_| self.wrong("a negative length"))
    }

    pub(super) fn length64(&mut self) -> Result<usize> {
        let length = u64::from_le_bytes(self.array()?);
        usize::try_from(length).map_err(|_| self.ends_early())
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(length);
        match end.and_then(|end| self.bytes.get(self.at..end)) {
            Some(bytes) => {
                self.at += length;
                Ok(bytes)
            }
            None => Err(self.ends_early()),
        }
    }

    /// Up to the end of the line, which is left out.
    pub(super) fn line(&mut self) -> Result<&'a [u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        match memchr::memchr(b'\n', rest) {
            Some(length) => {
                let line = self.take(length)?;
                self.at += 1;
                Ok(line)
            }
            None => Err(self.ends_early()),
        }
    }

    fn ends_early(&self) -> Error {
        Error::Binary {
            file: self.file.to_owned(),
            offset: self.bytes.len() as u64,
            problem: format!(
                "the file ends within the instruction at byte {}; a pickle ends with a full stop",
                self.start
            ),
        }
    }

    pub(super) fn wrong(&self, problem: impl Into<String>) -> Error {
        Error::Binary {
            file: self.file.to_owned(),
            offset: self.start as u64,
            problem: problem.into(),
        }
    }

    pub(super) fn refused(&self, name: String) -> Error {
        Error::Refused {
            file: self.file.to_owned(),
            offset: self.start as u64,
            name,
        }
    }
}
