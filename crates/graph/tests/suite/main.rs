//! Tests from outside, one program, a file per subject.

mod edge_list;
mod gnn_benchmark;
mod npy;
mod ogb;
mod pickle;
mod planetoid;
mod real_data;
mod wiki_cs;
