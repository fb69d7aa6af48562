//! Tests from outside, one program, a file per subject.

mod real_data;
