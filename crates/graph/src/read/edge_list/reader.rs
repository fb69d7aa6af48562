//! The two layouts of tables, for the table of readers.

use std::path::{Path, PathBuf};

use super::graphs::{TABLES, find_table, is_graph_tables, read_graph_tables};
use super::{ENDINGS, EdgeListSource};
use crate::dataset::GraphDataset;
use crate::error::Result;
use crate::load::DataSource;
use crate::read::options::ReadOptions;
use crate::read::reader::{Folder, Reader};

pub(crate) struct GraphTablesReader;

impl Reader for GraphTablesReader {
    fn name(&self) -> &'static str {
        "graph-tables"
    }

    fn title(&self) -> &'static str {
        "tables of many graphs"
    }

    fn folder_sign(&self) -> Option<&'static str> {
        Some("edges.csv with a column graph")
    }

    fn recognise(&self, folder: &Folder<'_>) -> Result<Option<String>> {
        Ok(is_graph_tables(folder.path).then(|| folder.name.to_owned()))
    }

    fn files(&self, source: &DataSource) -> Result<Vec<PathBuf>> {
        let tables = TABLES.iter();
        Ok(tables.filter_map(|name| find_table(&source.path, name)).collect())
    }

    fn read(&self, source: &DataSource, options: &ReadOptions) -> Result<GraphDataset> {
        Ok(read_graph_tables(&source.path, options)?.dataset)
    }
}

pub(crate) struct EdgeListReader;

impl Reader for EdgeListReader {
    fn name(&self) -> &'static str {
        "edge-list"
    }

    fn title(&self) -> &'static str {
        "edge list"
    }

    fn folder_sign(&self) -> Option<&'static str> {
        Some("edges.csv")
    }

    fn recognise(&self, folder: &Folder<'_>) -> Result<Option<String>> {
        let edges = find_table(folder.path, "edges");
        Ok(edges.map(|_| folder.name.to_owned()))
    }

    fn endings(&self) -> &'static [&'static str] {
        ENDINGS
    }

    fn files(&self, source: &DataSource) -> Result<Vec<PathBuf>> {
        let files = EdgeListSource::find(&source.path)?;
        Ok(files.files().map(Path::to_owned).collect())
    }

    fn read(&self, source: &DataSource, options: &ReadOptions) -> Result<GraphDataset> {
        let read = EdgeListSource::find(&source.path)?.read(options)?;
        Ok(read.dataset.with_name(&source.name))
    }
}
