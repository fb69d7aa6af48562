//! Tests from outside, one program, a file per subject.

mod batching;
#[cfg(target_os = "linux")]
mod bomb;
#[cfg(feature = "conv")]
mod conv_bad_input;
#[cfg(feature = "conv")]
mod conv_determinism;
#[cfg(feature = "conv")]
mod conv_gradient;
#[cfg(feature = "conv")]
mod conv_properties;
#[cfg(feature = "conv")]
mod conv_tensors;
#[cfg(feature = "conv")]
mod conv_values;
mod edge_list;
mod gnn_benchmark;
mod graph_tables;
#[cfg(unix)]
mod killed;
mod limits;
mod loading;
#[cfg(unix)]
#[path = "../../../files/tests/killed/moments.rs"]
mod moments;
mod npy;
mod ogb;
mod ordinary_tables;
mod pickle;
mod planetoid;
mod propagated;
#[path = "../../../datasets/tests/shared/real_data.rs"]
mod real_data;
mod small_graphs;
mod splits;
mod tu;
mod tu_bad_input;
mod wiki_cs;
