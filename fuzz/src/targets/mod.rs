//! The targets, one file each.

mod cache;
#[cfg(feature = "models")]
mod checkpoint;
#[cfg(feature = "geometry")]
mod decomposition;
mod edge_list;
mod graph_tables;
#[cfg(feature = "models")]
mod model_folder;
mod npy;
mod npz;
mod ogb;
mod pickle;
mod planetoid;
mod reader;
#[cfg(feature = "models")]
mod record;
mod registry;
#[cfg(feature = "models")]
mod settings;
#[cfg(feature = "geometry")]
mod subspaces;
mod tu;
mod wiki_cs;

#[cfg(feature = "models")]
use checkpoint::sealed as sealed_checkpoint;

pub use reader::{NamedSeed, Reader};

use crate::outcome::Outcome;

/// A function that reads untrusted bytes.
pub struct Target {
    /// What it is called on the command line; its seeds are in `corpus/NAME`.
    pub name: &'static str,
    /// Reads an input. Panics if anything but the input is wrong.
    pub run: fn(&[u8]) -> Outcome,
    /// What its files are made of.
    pub words: &'static [&'static str],
    /// The reader of data sets that it calls, if it calls one.
    pub reader: Option<Reader>,
}

/// All there are.
pub const TARGETS: &[Target] = &[
    cache::TARGET,
    #[cfg(feature = "models")]
    checkpoint::TARGET,
    #[cfg(feature = "geometry")]
    decomposition::TARGET,
    edge_list::TARGET,
    graph_tables::TARGET,
    #[cfg(feature = "models")]
    model_folder::TARGET,
    npy::TARGET,
    npz::TARGET,
    ogb::TARGET,
    pickle::TARGET,
    planetoid::TARGET,
    #[cfg(feature = "models")]
    record::TARGET,
    registry::TARGET,
    #[cfg(feature = "models")]
    settings::TARGET,
    #[cfg(feature = "geometry")]
    subspaces::TARGET,
    tu::TARGET,
    wiki_cs::TARGET,
];

/// The target of a name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
