//! The table of readers: which layouts of files are known, and who reads each.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::read::{self, reader::Reader};

/// Makes [`Layout`] and its list of readers of one line per layout.
macro_rules! layouts {
    ($($(#[$doc:meta])* $layout:ident => $reader:expr,)+) => {
        /// The layouts that can be read.
        ///
        /// ```
        /// use egg_graph::Layout;
        /// assert_eq!(Layout::GnnBenchmark.to_string(), "gnn-benchmark");
        /// assert_eq!("gnn-benchmark".parse::<Layout>()?, Layout::GnnBenchmark);
        /// # Ok::<(), egg_graph::Error>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Layout {
            $($(#[$doc])* $layout,)+
        }

        impl Layout {
            /// Every layout, in the order in which [`DataSource::detect`](crate::DataSource::detect)
            /// tries them.
            pub const ALL: &'static [Self] = &[$(Self::$layout,)+];

            pub(crate) fn reader(self) -> &'static dyn Reader {
                match self {
                    $(Self::$layout => &$reader,)+
                }
            }
        }
    };
}

// A reader is a file in `read/`, a line here, and a fuzz target. Of two that recognise the
// same folder the first is taken.
layouts! {
    /// `NAME_A.txt`, `NAME_graph_indicator.txt` and so on, in a folder or a zip.
    Tu => read::tu::TuReader,
    /// `ind.NAME.x` and its seven companions, in a folder.
    Planetoid => read::planetoid::PlanetoidReader,
    /// `raw/*.csv.gz` and `split/`, in a folder.
    Ogb => read::ogb::OgbReader,
    /// `edges.csv`, `nodes.csv` and `graphs.csv` of many graphs, in a folder.
    GraphTables => read::edge_list::GraphTablesReader,
    /// A text file with two node ids per line, or a folder with such a file.
    EdgeList => read::edge_list::EdgeListReader,
    /// One `.npz` with the parts of two CSR matrices.
    GnnBenchmark => read::gnn_benchmark::GnnBenchmarkReader,
    /// One `data.json`.
    WikiCs => read::wiki_cs::WikiCsReader,
}

impl Layout {
    /// As registries of data sets spell it.
    pub fn name(self) -> &'static str {
        self.reader().name()
    }

    /// Whether a data set can be read from the zip archive that it is published in, instead of the
    /// unpacked folder.
    ///
    /// ```
    /// use egg_graph::Layout;
    /// assert!(Layout::Tu.reads_archives() && !Layout::Ogb.reads_archives());
    /// ```
    pub fn reads_archives(self) -> bool {
        self.reader().reads_archives()
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Layout {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|layout| layout.name() == name);
        found.copied().ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|layout| layout.name()).collect();
            Error::parameter("layout", name, format!("known are {}", known.join(", ")))
        })
    }
}

impl Serialize for Layout {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Layout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_round_trip() {
        for layout in Layout::ALL {
            assert_eq!(layout.name().parse::<Layout>().unwrap(), *layout);
            let json = serde_json::to_string(layout).unwrap();
            assert_eq!(json, format!("\"{layout}\""));
            assert_eq!(serde_json::from_str::<Layout>(&json).unwrap(), *layout);
        }
        let unknown = "pajek".parse::<Layout>().unwrap_err().to_string();
        assert!(
            Layout::ALL.iter().all(|layout| unknown.contains(layout.name())),
            "{unknown}"
        );
    }

    /// Else a path could be read in two ways, or in none.
    #[test]
    fn every_layout_is_recognised_and_no_ending_belongs_to_two() {
        let mut endings: Vec<&str> = Vec::new();
        for layout in Layout::ALL {
            let reader = layout.reader();
            assert!(
                reader.folder_sign().is_some() || !reader.endings().is_empty(),
                "{layout}"
            );
            endings.extend(reader.endings());
        }
        let count = endings.len();
        endings.sort_unstable();
        endings.dedup();
        assert_eq!(endings.len(), count);
    }
}
