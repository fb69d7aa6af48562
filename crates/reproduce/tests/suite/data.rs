//! Published records, and the data that some tests repeat them on.

use std::io::Write;
use std::path::{Path, PathBuf};

use egg_graph::{Cache, DataSource, GraphDataset, ReadOptions};
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

/// Below `EGG_DATASETS`, or below `shared/datasets` beside the project; says so if there is none.
pub(crate) fn find(name: &str) -> Option<GraphDataset> {
    let beside = root().join("../shared/datasets");
    let folder = std::env::var_os("EGG_DATASETS").map_or(beside, PathBuf::from);
    if !folder.is_dir() {
        say(&format!(
            "skipped: no data ({name}); set EGG_DATASETS to the folder that has them"
        ));
        return None;
    }
    let source = DataSource::registered(name, &folder).ok()?;
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
