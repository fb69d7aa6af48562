//! Published records, and the data that some tests repeat them on.

use std::io::Write;
use std::path::{Path, PathBuf};

use egg_datasets::DataFolders;
use egg_graph::{Cache, GraphDataset, ReadOptions};
use egg_results::Machine;

/// The root of the sources.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of the records.
pub(crate) fn results() -> PathBuf {
    root().join("docs/results")
}

/// Not by the macro, which the test harness would keep to itself.
pub(crate) fn say(line: &str) {
    let _ = std::io::stdout().write_all(format!("{line}\n").as_bytes());
}

/// A benchmark data set, wherever it is; says so if it is not here.
pub(crate) fn find(name: &str) -> Option<GraphDataset> {
    let Ok(source) = DataFolders::locate_from(&root()).source(name) else {
        say(&format!(
            "skipped: no data ({name}); `egg data fetch {name}` gets it"
        ));
        return None;
    };
    Some(source.load(&ReadOptions::default(), &Cache::Off).unwrap().dataset)
}

/// Whether sums are rounded here as they were there; says so if not.
pub(crate) fn is_repeatable(name: &str, arithmetic: Option<&str>) -> bool {
    let kernels = egg_geometry::blas_kernels();
    let here = Machine::here(1).with_backend(egg_geometry::backend(), kernels.as_deref());
    let same = arithmetic.is_some() && arithmetic == here.arithmetic.as_deref();
    if !same {
        say(&format!(
            "skipped: {name} was recorded with {arithmetic:?}, here is {:?}",
            here.arithmetic
        ));
    }
    same
}
