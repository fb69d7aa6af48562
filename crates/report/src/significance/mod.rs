//! Whether two methods differ, or only their splits did.

mod compare;
mod student;

pub use compare::{Comparison, Verdict, compare, holm};
pub use student::two_sided_p;
