//! Tests from outside, one program, a file per subject.

mod planetoid;
mod real_data;
