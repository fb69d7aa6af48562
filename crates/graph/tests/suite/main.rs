//! Tests from outside, one program, a file per subject.

mod edge_list;
mod gnn_benchmark;
mod loading;
mod npy;
mod ogb;
mod pickle;
mod planetoid;
mod real_data;
mod tu;
mod tu_bad_input;
mod wiki_cs;
