//! The program from outside: what it says, where, and how it ends.

mod angles;
mod cluster;
mod data;
mod datasets;
mod determinism;
mod disks;
mod errors;
mod generated;
mod interrupted;
mod kept;
mod killed;
mod models;
#[path = "../../../files/tests/killed/moments.rs"]
mod moments;
mod outputs;
mod pages;
mod paths;
mod program;
mod reports;
#[cfg(feature = "fetch")]
#[allow(dead_code, reason = "other suites have more of it")]
#[path = "../../../datasets/tests/shared/server.rs"]
mod server;
#[cfg(target_os = "linux")]
#[path = "../../../files/tests/killed/small_disk.rs"]
mod small_disk;
mod sweep;
mod train;
