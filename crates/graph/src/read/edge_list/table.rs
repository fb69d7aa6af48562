//! Tables as spreadsheets export them: separators of any kind, quotes, headers,
//! comments, a byte order mark.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::Path;

use super::survey::{is_missing, is_whole};
use crate::adjacency::MAX_NODES;
use crate::error::{Error, LineProblem, Result};
use crate::read::options::ReadOptions;
use crate::read::text::{Lines, shown};

/// What stands between fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    Byte(u8),
    Spaces,
}

/// Where a field is in the text, and whether it was in quotes.
#[derive(Debug, Clone)]
struct Field {
    at: Range<usize>,
    quoted: bool,
}

/// A table, row by row.
pub(super) struct Table<R> {
    lines: Lines<R>,
    separator: Option<Separator>,
    /// The fields of the current row, without quotes, one after the other.
    text: Vec<u8>,
    fields: Vec<Field>,
    /// Whether blank lines are skipped wherever they are, not only at the end.
    skip_blank: bool,
    /// What a comment `# nodes: n` says.
    pub(super) declared_nodes: Option<i64>,
}

impl Table<BufReader<File>> {
    pub(super) fn open(path: &Path, skip_blank: bool, options: &ReadOptions) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path))?;
        let lines = Lines::new(BufReader::with_capacity(1 << 16, file), path, options.max_bytes);
        Ok(Self {
            lines,
            separator: None,
            text: Vec::new(),
            fields: Vec::new(),
            skip_blank,
            declared_nodes: None,
        })
    }
}

impl<R: BufRead> Table<R> {
    /// Moves to the next row that is not a comment; `false` at the end.
    pub(super) fn advance(&mut self) -> Result<bool> {
        while self.lines.advance()? {
            let mut line = self.lines.line();
            if self.lines.number() == 1 {
                if line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff") {
                    return Err(self.wrong("the file is UTF-16; save it as UTF-8 (CSV)"));
                }
                line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
            }
            let content = line.trim_ascii();
            if let [b'#' | b'%', comment @ ..] = content {
                let declared = comment
                    .trim_ascii()
                    .strip_prefix(b"nodes:")
                    .map(<[u8]>::trim_ascii);
                if let Some(count) = declared.filter(|count| is_whole(count)) {
                    let most = i64::try_from(MAX_NODES).unwrap_or(i64::MAX);
                    self.declared_nodes = Some(self.lines.within(count, "number of nodes", 0, most)?);
                }
                continue;
            }
            // A spreadsheet writes an empty row as its separators.
            if content
                .iter()
                .all(|byte| matches!(byte, b',' | b';' | b'\t' | b' '))
            {
                if self.skip_blank {
                    continue;
                }
                self.lines.only_blank_lines_left()?;
                return Ok(false);
            }
            let separator = *self.separator.get_or_insert_with(|| guess(line));
            // Tabs at the ends are white space, or empty fields between them.
            let line = if separator == Separator::Spaces {
                content
            } else {
                line
            };
            take_apart(line, separator, &mut self.text, &mut self.fields)
                .map_err(|problem| self.wrong(problem))?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Whether fields are separated by commas.
    pub(super) fn has_commas(&self) -> bool {
        self.separator == Some(Separator::Byte(b','))
    }

    /// Whether the current row could begin with a name that R gave it: R puts names in
    /// quotes, and spaces between fields.
    pub(super) fn may_have_row_names(&self) -> bool {
        let quoted = self.fields.first().is_some_and(|field| field.quoted);
        quoted || self.separator == Some(Separator::Spaces)
    }

    /// How many fields the current row has.
    pub(super) fn width(&self) -> usize {
        self.fields.len()
    }

    /// A field of the current row; empty if there is none.
    pub(super) fn field(&self, index: usize) -> &[u8] {
        self.fields
            .get(index)
            .and_then(|field| self.text.get(field.at.clone()))
            .unwrap_or_default()
    }

    /// Whether a field says that a value is not known: `NA`, `nan`, nothing at all. In
    /// quotes `"NA"` is a word.
    pub(super) fn is_missing(&self, index: usize) -> bool {
        let quoted = self.fields.get(index).is_some_and(|field| field.quoted);
        let field = self.field(index);
        field.is_empty() || (!quoted && std::str::from_utf8(field).is_ok_and(is_missing))
    }

    /// The weight of an edge: a finite number, or the `weight` of a dict as NetworkX
    /// writes it.
    pub(super) fn weight(&self, index: usize) -> Result<f32> {
        let field = self.field(index);
        if !field.starts_with(b"{") {
            return self.float(index);
        }
        let number = dict_weight(field).ok_or_else(|| self.wrong("the edge has no 'weight'"))?;
        self.lines.float(number)
    }

    /// A field as text.
    pub(super) fn name(&self, index: usize) -> Result<&str> {
        let field = self.field(index);
        std::str::from_utf8(field).map_err(|_| {
            self.wrong(format!(
                "`{}` is not UTF-8; save the file in that encoding",
                shown(field)
            ))
        })
    }

    /// An error unless the current row has `width` fields.
    pub(super) fn expect_width(&self, expected: usize) -> Result<()> {
        if self.width() == expected {
            return Ok(());
        }
        Err(self.lines.wrong(LineProblem::FieldCount {
            expected,
            found: self.width(),
        }))
    }

    /// Whether a field is a number, finite or not: `nan` heads no column.
    pub(super) fn looks_numeric(&self, index: usize) -> bool {
        let is_number = |text: &str| text.parse::<f64>().is_ok();
        self.float(index).is_ok() || std::str::from_utf8(self.field(index)).is_ok_and(is_number)
    }

    /// A finite number. Where fields are not separated by commas, a comma may
    /// be the decimal point: so spreadsheets do it in half of the world.
    pub(super) fn float(&self, index: usize) -> Result<f32> {
        let field = self.field(index);
        let commas = field.iter().filter(|byte| **byte == b',').count();
        if commas == 1 && !field.contains(&b'.') && self.separator != Some(Separator::Byte(b',')) {
            let pointed: Vec<u8> = field
                .iter()
                .map(|byte| if *byte == b',' { b'.' } else { *byte })
                .collect();
            return self.lines.float(&pointed);
        }
        self.lines.float(field)
    }

    /// A whole number within bounds.
    pub(super) fn within(&self, index: usize, what: &'static str, least: i64, most: i64) -> Result<i64> {
        self.lines.within(self.field(index), what, least, most)
    }

    pub(super) fn file(&self) -> &Path {
        self.lines.file()
    }

    pub(super) fn wrong(&self, problem: impl Into<String>) -> Error {
        self.lines.wrong(LineProblem::Syntax {
            problem: problem.into(),
        })
    }
}

/// What separates the fields of a first row: the rarest thing to be in a field.
fn guess(line: &[u8]) -> Separator {
    let mut quoted = false;
    let mut found = [false; 3];
    for byte in line {
        match byte {
            // Attributes, as NetworkX writes them behind the ends of an edge.
            b'{' if !quoted => break,
            b'"' => quoted = !quoted,
            b'\t' if !quoted => found[0] = true,
            b';' if !quoted => found[1] = true,
            b',' if !quoted => found[2] = true,
            _ => {}
        }
    }
    match found {
        [true, ..] => Separator::Byte(b'\t'),
        [_, true, _] => Separator::Byte(b';'),
        [.., true] => Separator::Byte(b','),
        _ => Separator::Spaces,
    }
}

/// Cuts a line into fields, without their quotes, one after the other in `text`.
fn take_apart(
    line: &[u8],
    separator: Separator,
    text: &mut Vec<u8>,
    fields: &mut Vec<Field>,
) -> std::result::Result<(), &'static str> {
    text.clear();
    fields.clear();
    let is_separator = |byte: &u8| match separator {
        Separator::Byte(own) => *byte == own,
        Separator::Spaces => byte.is_ascii_whitespace(),
    };
    // A tab is white space, but not where it separates.
    let is_padding = |byte: &u8| byte.is_ascii_whitespace() && separator != Separator::Byte(*byte);
    let mut rest = line;
    loop {
        let padding = match separator {
            Separator::Spaces => rest.iter().take_while(|byte| is_separator(byte)).count(),
            Separator::Byte(_) => rest.iter().take_while(|byte| is_padding(byte)).count(),
        };
        rest = rest.get(padding..).unwrap_or_default();
        let start = text.len();
        if let [b'"', quoted @ ..] = rest {
            rest = unquote(quoted, text).ok_or("a quoted field does not end on its line")?;
            fields.push(Field {
                at: start..text.len(),
                quoted: true,
            });
            let padding = rest.iter().take_while(|byte| is_padding(byte)).count();
            rest = match separator {
                Separator::Spaces => rest,
                Separator::Byte(_) => rest.get(padding..).unwrap_or_default(),
            };
            if rest.first().is_some_and(|byte| !is_separator(byte)) {
                return Err("there is something between a quoted field and the next");
            }
        } else {
            // The attributes of an edge, as NetworkX writes them: the rest of the line.
            let is_dict = separator == Separator::Spaces && rest.starts_with(b"{");
            let end = match is_dict {
                true => rest.len(),
                false => rest.iter().position(is_separator).unwrap_or(rest.len()),
            };
            let (field, after) = rest.split_at(end);
            text.extend_from_slice(field.trim_ascii_end());
            fields.push(Field {
                at: start..text.len(),
                quoted: false,
            });
            rest = after;
        }
        match rest.split_first() {
            Some((_, after)) => rest = after,
            None => return Ok(()),
        }
    }
}

/// Adds what stands before the closing quote and gives what stands after it.
fn unquote<'a>(mut rest: &'a [u8], text: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        match rest {
            [b'"', b'"', after @ ..] => {
                text.push(b'"');
                rest = after;
            }
            [b'"', after @ ..] => return Some(after),
            [byte, after @ ..] => {
                text.push(*byte);
                rest = after;
            }
            [] => return None,
        }
    }
}

/// The number after `'weight':` in `{'weight': 0.5, 'since': 1999}`.
pub(super) fn dict_weight(dict: &[u8]) -> Option<&[u8]> {
    let text = std::str::from_utf8(dict).ok()?;
    let key = ["'weight':", "\"weight\":"]
        .iter()
        .find_map(|key| Some(text.find(key)? + key.len()));
    let rest = text.get(key?..)?;
    let end = rest.find([',', '}']).unwrap_or(rest.len());
    Some(rest.get(..end)?.trim().as_bytes())
}
