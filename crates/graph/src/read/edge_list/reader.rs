//! The two layouts of tables, for the table of readers.

use std::path::{Path, PathBuf};

use super::graphs::{TABLES, find_table, is_graph_tables, possible_tables, read_graph_tables};
use super::{ENDINGS, EdgeListSource, NodeIds};
use crate::dataset::GraphDataset;
use crate::error::Result;
use crate::load::{DataSource, NamedDataset};
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
        Ok(self.read_named(source, options)?.dataset)
    }

    fn read_named(&self, source: &DataSource, options: &ReadOptions) -> Result<NamedDataset> {
        let read = read_graph_tables(&source.path, options)?;
        Ok(NamedDataset {
            graph_names: Some(read.names),
            ..read.dataset.into()
        })
    }

    fn claimed_paths(&self, source: &DataSource) -> Vec<PathBuf> {
        possible_tables(&source.path, TABLES)
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
        Ok(self.read_named(source, options)?.dataset)
    }

    fn read_named(&self, source: &DataSource, options: &ReadOptions) -> Result<NamedDataset> {
        let read = EdgeListSource::find(&source.path)?.read(options)?;
        Ok(NamedDataset {
            node_names: read.names,
            first_node: usize::from(read.ids == NodeIds::OneBased),
            ..read.dataset.with_name(&source.name).into()
        })
    }

    fn claimed_paths(&self, source: &DataSource) -> Vec<PathBuf> {
        let path = &source.path;
        if path.is_dir() {
            return possible_tables(path, ["edges", "nodes", "graphs", "features", "labels"]);
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let companions = ["features", "labels"].map(|what| format!("{stem}.{what}"));
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut paths = vec![path.clone()];
        paths.extend(possible_tables(folder, companions));
        paths
    }
}
