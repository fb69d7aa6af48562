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

use crate::outcome::Outcome;

/// Something that reads bytes which nobody has looked at.
pub struct Target {
    /// What it is called on the command line; its seeds are in `corpus/NAME`.
    pub name: &'static str,
    /// Reads an input. Panics if anything but the input is wrong.
    pub run: fn(&[u8]) -> Outcome,
    /// What its files are made of.
    pub words: &'static [&'static str],
}

const fn entry(name: &'static str, run: fn(&[u8]) -> Outcome, words: &'static [&'static str]) -> Target {
    Target { name, run, words }
}

/// All there are.
pub const TARGETS: &[Target] = &[
    entry("cache", cache::run, &[]),
    #[cfg(feature = "models")]
    entry("checkpoint", checkpoint::run, checkpoint::WORDS),
    #[cfg(feature = "geometry")]
    entry("decomposition", decomposition::run, &[]),
    entry("edge_list", edge_list::run, edge_list::WORDS),
    entry("graph_tables", graph_tables::run, graph_tables::WORDS),
    #[cfg(feature = "models")]
    entry("model_folder", model_folder::run, model_folder::WORDS),
    entry("npy", npy::run, npy::WORDS),
    entry("npz", npz::run, npz::WORDS),
    entry("ogb", ogb::run, ogb::WORDS),
    entry("pickle", pickle::run, pickle::WORDS),
    entry("planetoid", planetoid::run, pickle::WORDS),
    #[cfg(feature = "models")]
    entry("record", record::run, record::WORDS),
    entry("registry", registry::run, registry::WORDS),
    #[cfg(feature = "models")]
    entry("settings", settings::run, settings::WORDS),
    #[cfg(feature = "geometry")]
    entry("subspaces", subspaces::run, &[]),
    entry("tu", tu::run, tu::WORDS),
    entry("wiki_cs", wiki_cs::run, wiki_cs::WORDS),
];

/// The target of a name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
