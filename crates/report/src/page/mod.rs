//! The report: one HTML page from one or several records.

mod clusters;
mod cohort;
mod details;
mod html;
mod methods;
mod repeat;
mod sweeps;
mod words;

use std::path::Path;

use html::Page;
pub(crate) use html::escape;

use crate::error::{Error, Result};
use crate::record::Record;
use cohort::cohorts;

/// The most points of a map.
const MOST_POINTS: usize = 1500;

/// The HTML page of some records: one self-contained file that needs no network. The same records
/// give the same bytes.
///
/// Methods of all records that were run on the same data, with the same
/// protocol and metric and of the same [`group`](crate::Method::group), share
/// their charts and are compared split by split.
///
/// ```
/// use egg_report::{Kind, Record, render};
/// let page = render(&[Record::new(Kind::Train, "EGG on <my> data")]).unwrap();
/// assert!(page.contains("EGG on &lt;my&gt; data"));
/// ```
///
/// # Errors
/// If there is no record, or a chart can't be drawn.
pub fn render(records: &[Record]) -> Result<String> {
    if records.is_empty() {
        return Err(Error::Nothing);
    }
    let mut records = records.to_vec();
    for record in &mut records {
        let seed = record.seed.unwrap_or(0);
        let of_methods = record
            .methods
            .iter_mut()
            .filter_map(|method| method.embedding.as_mut());
        let of_clusterings = record
            .clusterings
            .iter_mut()
            .filter_map(|clustering| clustering.embedding.as_mut());
        for embedding in of_methods.chain(of_clusterings) {
            embedding.reduce(MOST_POINTS, seed);
        }
    }
    let cohorts = cohorts(&records);
    let mut page = Page::new(&title(&records));
    words::head(&mut page, &records, &cohorts);
    for cohort in &cohorts {
        methods::section(&mut page, cohort)?;
    }
    for record in &records {
        clusters::section(&mut page, record)?;
        sweeps::section(&mut page, record)?;
    }
    words::notes(&mut page, &records);
    repeat::section(&mut page, &records);
    Ok(page.finish())
}

/// Writes [`render`]'s page atomically.
///
/// ```
/// use egg_report::{Kind, Record, write_html};
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("report.html");
/// write_html(&path, &[Record::new(Kind::Train, "EGG")]).unwrap();
/// assert!(std::fs::read_to_string(path).unwrap().starts_with("<!doctype html>"));
/// ```
///
/// # Errors
/// As [`render`], and those of the file system.
pub fn write_html(path: &Path, records: &[Record]) -> Result<()> {
    egg_files::write(path, render(records)?.as_bytes()).map_err(Error::io(path))
}

fn title(records: &[Record]) -> String {
    let mut titles: Vec<&str> = records.iter().map(|record| record.title.as_str()).collect();
    titles.dedup();
    match titles.as_slice() {
        [] | [""] => "EGG report".to_owned(),
        [title] => (*title).to_owned(),
        _ => format!("{} runs of EGG", records.len()),
    }
}
