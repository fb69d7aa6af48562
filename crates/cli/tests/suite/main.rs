//! The program from outside: what it says, where, and how it ends.

mod angles;
mod cluster;
mod data;
mod errors;
mod generated;
mod interrupted;
mod maps;
mod models;
mod outputs;
mod pages;
mod program;
mod reports;
mod sweep;
mod train;
