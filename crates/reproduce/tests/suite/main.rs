//! The tests of the crate from outside, in one program with a file per subject.

mod data;
#[path = "../../../pool/tests/suite/small.rs"]
#[expect(dead_code, reason = "some of it is for others")]
mod small;

mod growing_record;
mod halving;
mod maps;
mod page;
mod pages;
mod repeated_clustering;
mod repeated_records;
mod settings;
