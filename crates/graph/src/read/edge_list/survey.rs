//! A first pass over a table: what its columns hold, and whether its first row is a
//! header.

use std::path::{Path, PathBuf};

use super::table::Table;
use crate::error::{Error, Result};
use crate::read::options::{Header, ReadOptions};

/// Up to this many columns, values of the first row are searched in all of them.
const NARROW: usize = 8;

/// The first row of a table, and what the rows below it hold.
#[derive(Debug, Clone, Default)]
pub(super) struct Survey {
    file: PathBuf,
    /// Of the rows below, or of the first row if there are none.
    width: usize,
    first: Vec<String>,
    columns: Vec<Column>,
    /// Rows below the first.
    below: usize,
    /// R's `write.table` puts row names in front of the rows, and no name for them into
    /// the header: rows have a field more than it.
    unnamed_first: bool,
    /// Whether a row below is the first one again.
    first_recurs: bool,
    /// Whether fields are separated by commas.
    commas: bool,
    /// What a comment `# nodes: n` says.
    pub(super) declared_nodes: Option<usize>,
}

/// What a column holds below the first row.
#[derive(Debug, Clone)]
struct Column {
    /// Whether every value is a whole number, or any number, or is not known.
    integers: bool,
    numbers: bool,
    /// Whether none is written as a whole number.
    no_integers: bool,
    least: i64,
    most: i64,
    /// Whether the values count on from that of the first row, one by one.
    counts: bool,
    /// Whether the value of the first row stands below it, in this column ...
    recurs_here: bool,
    /// ... or in any, unless the table is wide.
    recurs: bool,
}

impl Default for Column {
    fn default() -> Self {
        Self {
            integers: true,
            numbers: true,
            no_integers: true,
            least: i64::MAX,
            most: i64::MIN,
            counts: true,
            recurs_here: false,
            recurs: false,
        }
    }
}

/// Whole numbers that a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) least: i64,
    pub(super) most: i64,
}

/// Why a first row may be a header or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unclear {
    /// It has words above words, of which none stands below it again.
    Words,
    /// It has the numbers 0, 1, ..., above numbers.
    Numbers,
}

/// What a header may be made of.
pub(super) struct Known<'a> {
    /// Whether a field is the name of a column in such a table.
    pub(super) names: &'a dyn Fn(&str) -> bool,
    /// What the table describes.
    pub(super) kind: Kind,
}

/// What a table describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `0,1` is then most likely an edge.
    Edges,
    /// Words are then names, of columns or of nodes.
    Features,
    Labels,
}

impl Survey {
    /// Reads all of a table. `skip_blank` as for [`Table::open`].
    pub(super) fn read(path: &Path, skip_blank: bool, options: &ReadOptions) -> Result<Self> {
        Self::up_to(usize::MAX, path, skip_blank, options)
    }

    /// Reads the first row of a table that must have a header, and what shows whether
    /// rows have a field more than it.
    pub(super) fn first_rows(path: &Path, options: &ReadOptions) -> Result<Self> {
        Self::up_to(1, path, true, options)
    }

    fn up_to(most: usize, path: &Path, skip_blank: bool, options: &ReadOptions) -> Result<Self> {
        let mut table = Table::open(path, skip_blank, options)?;
        let mut survey = Self {
            file: path.to_owned(),
            ..Self::default()
        };
        if table.advance()? {
            survey.width = table.width();
            survey.first = texts(&table);
        }
        let mut first_numbers = Vec::new();
        while survey.below < most && table.advance()? {
            if survey.below == 0 {
                let has_words = !survey.first.iter().any(|field| is_number(field));
                let one_more = table.width() == survey.first.len() + 1;
                survey.unnamed_first = has_words && one_more && table.may_have_row_names();
                if survey.unnamed_first {
                    survey.first.insert(0, String::new());
                }
                survey.width = survey.first.len();
                survey.columns = vec![Column::default(); survey.width];
                first_numbers = survey
                    .first
                    .iter()
                    .map(|field| integer(field.as_bytes()))
                    .collect();
            }
            survey.below += 1;
            let mut same = table.width() == survey.width;
            for (index, column) in survey.columns.iter_mut().enumerate() {
                let field = table.field(index);
                column.see(field, table.looks_numeric(index), table.is_missing(index));
                let step = i64::try_from(survey.below).unwrap_or(i64::MAX);
                let expected = first_numbers.get(index).copied().flatten();
                column.counts &= expected.and_then(|first| first.checked_add(step)) == integer(field);
                let is_first = survey
                    .first
                    .get(index)
                    .is_some_and(|first| first.as_bytes() == field);
                column.recurs_here |= is_first;
                column.recurs |= is_first;
                same &= is_first;
            }
            if survey.width <= NARROW {
                let fields = || (0..table.width()).map(|index| table.field(index));
                for (column, first) in survey.columns.iter_mut().zip(&survey.first) {
                    column.recurs = column.recurs || fields().any(|field| field == first.as_bytes());
                }
            }
            survey.first_recurs |= same;
        }
        survey.commas = table.has_commas();
        survey.declared_nodes = table.declared_nodes.and_then(|nodes| usize::try_from(nodes).ok());
        Ok(survey)
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Fields of the first row.
    pub(super) fn first(&self) -> &[String] {
        &self.first
    }

    /// How many rows there are below a header, or in all.
    pub(super) fn rows(&self, header: bool) -> usize {
        let first = usize::from(!header && !self.first.is_empty());
        self.below + first
    }

    /// The whole numbers in a column; `None` if something in it is none, or if there is
    /// nothing.
    pub(super) fn integers(&self, column: usize, header: bool) -> Option<Range> {
        let mut range = Range {
            least: i64::MAX,
            most: i64::MIN,
        };
        if let Some(facts) = self.columns.get(column).filter(|_| self.below > 0) {
            if !facts.integers {
                return None;
            }
            (range.least, range.most) = (facts.least, facts.most);
        }
        if !header {
            // Too long for a number is too long for a position.
            let field = self.first.get(column)?;
            let first = match is_whole(field.as_bytes()) {
                true => integer(field.as_bytes()).unwrap_or(i64::MAX),
                false => return None,
            };
            (range.least, range.most) = (range.least.min(first), range.most.max(first));
        }
        (range.least <= range.most).then_some(range)
    }

    /// Whether a column of a table without a header numbers its rows.
    pub(super) fn counts_rows(&self, column: usize) -> bool {
        const ENOUGH: usize = 2;
        let starts = self
            .first
            .get(column)
            .is_some_and(|first| first == "0" || first == "1");
        starts && self.below >= ENOUGH && self.columns.get(column).is_some_and(|facts| facts.counts)
    }

    /// Whether the first value of a column stands in it again.
    pub(super) fn first_value_recurs(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(|facts| facts.recurs_here)
    }

    /// Whether the first row is a header: by the option, by names that are known, and
    /// by what the columns hold below it. `Err` if that is ambiguous.
    pub(super) fn has_header(&self, option: Header, known: &Known<'_>) -> std::result::Result<bool, Unclear> {
        match option {
            Header::Yes => return Ok(true),
            Header::No => return Ok(false),
            Header::Auto => {}
        }
        if self.first.is_empty() || self.unnamed_first {
            return Ok(self.unnamed_first);
        }
        let fields = || self.first.iter().zip(&self.columns);
        let is_named = |field: &String| (known.names)(field);
        let recurs = || fields().any(|(_, column)| column.recurs);
        // A node may well be called u, and a class y; hardly source and target.
        let surely_named = self
            .first
            .iter()
            .filter(|field| is_named(field) && field.len() > 1)
            .count()
            > 1;
        // pandas and R leave the column of row numbers without a name.
        let blank_first = self.first.first().is_some_and(String::is_empty) && !self.first_value_recurs(0);
        if surely_named || blank_first || (self.first.iter().any(is_named) && !recurs()) {
            return Ok(true);
        }
        if self.below == 0 {
            return Ok(known.kind == Kind::Features && !self.first.iter().any(|field| is_number(field)));
        }
        let is_word = |field: &str| !field.is_empty() && !is_number(field) && !is_missing(field);
        // One word among numbers is a mistake, unless it heads the first column: `country,2019,2020`.
        let all_words = self.first.iter().all(|field| is_word(field));
        let first_word = self.first.first().is_some_and(|field| is_word(field));
        let mut above_numbers = fields().filter(|(field, column)| column.numbers && is_word(field));
        if (all_words || first_word) && above_numbers.next().is_some() {
            return Ok(true);
        }
        if fields().all(|(_, column)| !column.numbers) {
            // Words above words.
            return match recurs() {
                true => Ok(false),
                false => Err(Unclear::Words),
            };
        }
        // Numbers above what is, mostly, numbers. pandas names columns without names 0, 1, 2, ...
        let counted = self
            .first
            .iter()
            .enumerate()
            .all(|(at, field)| *field == at.to_string());
        if !counted {
            return Ok(false);
        }
        if fields().any(|(_, column)| !column.numbers) || fields().all(|(_, column)| column.no_integers) {
            return Ok(true);
        }
        // Many lists begin with the edge from 0 to 1. Not those in which it stands twice, or that pandas
        // may have written and that have no other node 0.
        let no_zero = self.columns.iter().all(|column| column.least > 0);
        match known.kind == Kind::Edges && self.width == 2 && !self.first_recurs && !(self.commas && no_zero)
        {
            true => Ok(false),
            false => Err(Unclear::Numbers),
        }
    }

    /// The first row may be either.
    pub(super) fn ambiguous_header(&self, why: Unclear) -> Error {
        let why = match why {
            Unclear::Words => {
                "what stands there does not occur again, as with names of columns, and with what occurs once"
            }
            Unclear::Numbers => "pandas calls columns so that have no names, and numbers stand below it too",
        };
        let shown = self.first.iter().take(6).cloned().collect::<Vec<_>>().join(",");
        Error::file(
            &self.file,
            format!(
                "the first line, `{}`, may be a header or data: {why}. Say which: --header yes or --header no \
                 (`Header` in `TableOptions`)",
                crate::read::text::shown(shown.as_bytes())
            ),
        )
    }
}

impl Column {
    fn see(&mut self, field: &[u8], is_number: bool, is_missing: bool) {
        if is_missing {
            self.integers = false;
            return;
        }
        let is_whole = is_whole(field);
        self.integers &= is_whole;
        self.numbers &= is_number;
        self.no_integers &= !is_whole;
        if is_whole {
            let value = integer(field).unwrap_or(i64::MAX);
            (self.least, self.most) = (self.least.min(value), self.most.max(value));
        }
    }
}

fn texts<R: std::io::BufRead>(table: &Table<R>) -> Vec<String> {
    let text = |index| String::from_utf8_lossy(table.field(index)).into_owned();
    (0..table.width()).map(text).collect()
}

fn integer(field: &[u8]) -> Option<i64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// Decimal digits with an optional sign, as many as there are.
pub(super) fn is_whole(field: &[u8]) -> bool {
    let digits = match field {
        [b'-' | b'+', digits @ ..] => digits,
        digits => digits,
    };
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

fn is_number(field: &str) -> bool {
    field.parse::<f64>().is_ok() || field.replacen(',', ".", 1).parse::<f64>().is_ok()
}

/// What pandas, R and databases write for what is not known.
pub(super) fn is_missing(field: &str) -> bool {
    let unknown = ["NA", "N/A", "n/a", "<NA>", "NULL", "null"];
    field.is_empty() || field.eq_ignore_ascii_case("nan") || unknown.contains(&field)
}
