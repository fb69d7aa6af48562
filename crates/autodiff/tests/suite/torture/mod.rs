//! A numerical stress test: random matrices of many shapes and degeneracies, each
//! in f32 or f64, with a rule of each kind and a soft cut, against an SVD in
//! double-double arithmetic.
//!
//! Every error is divided by what the conditioning of the matrix allows. With
//! `gap = sigma_p - sigma_{p+1}` of the reference, eps of the type and
//! `x = sigma_1 / r`, these are
//!
//! ```text
//! P, f64            sqrt(p) eps (1 + sigma_1 / gap)
//! P, f32            sqrt(p) (eps + eps64 sigma_1^2 / (sigma_p^2 - sigma_{p+1}^2))
//! P P = P           sqrt(p) eps
//! tr P = p          p eps
//! gradient          (eps + what P is allowed) / gap
//! soft P, f64       sqrt(min(n, m)) min(1, x^2) eps (1 + x + min(x^2, 1e4))
//! soft P, f32       sqrt(min(n, m)) min(1, x^2) (eps + eps64 (x + min(x^2, 1e8)))
//! soft gradient     the same without the root, times 1 / r
//! ```
//!
//! in Frobenius norms, for a gradient by P and a direction in H of length 1; a
//! pair of orders of the rows may be apart by twice as much. Derivatives are
//! compared with differences of the reference along one random direction, where
//! the gap is at least 1e-3 (f32: 1e-2) of `sigma_1`.

mod double_double;
mod hard;
mod jacobi;
mod soft;
mod specimen;
pub(crate) mod tally;
mod zoo;

use std::panic::{AssertUnwindSafe, catch_unwind};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use hard::Memory;
use specimen::{Number, Specimen};
use tally::{Findings, Tally};
use zoo::Family;

/// Judges about `count` matrices, as many of each family in each type. The same
/// count and seed give the same matrices.
pub(crate) fn run(count: usize, seed: u64) -> Vec<Findings> {
    let each = count.div_ceil(2 * Family::ALL.len());
    let findings = Family::ALL.into_iter().map(|family| Findings {
        family: family.name(),
        single: family_tally::<f32>(family, each, seed),
        double: family_tally::<f64>(family, each, seed),
    });
    findings.collect()
}

fn family_tally<T: Number>(family: Family, count: usize, seed: u64) -> Tally {
    (0..count)
        .into_par_iter()
        .map_init(Memory::default, |memory, index| {
            // A stream of random numbers for each matrix, independent of the threads.
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(((index as u64) << 8) | family as u64);
            let mut tally = Tally::default();
            let judged = catch_unwind(AssertUnwindSafe(|| judge::<T>(family, index, &mut rng, memory)));
            match judged {
                Ok(found) => tally = found,
                Err(_) => tally.fail(format!("panic at matrix {index} of {family:?}")),
            }
            tally
        })
        .reduce(Tally::default, Tally::merged)
}

fn judge<T: Number>(family: Family, index: usize, rng: &mut ChaCha8Rng, memory: &mut Memory) -> Tally {
    let specimen = Specimen::<T>::draw(family, rng);
    let mut tally = Tally::default();
    tally.matrices += 1;
    // Differences take two more references: of every fourth matrix, for one rule
    // after the other.
    let with_differences = index.is_multiple_of(4);
    for (number, rule) in specimen.rules(rng).into_iter().enumerate() {
        let is_turn = with_differences && index / 4 % 5 == number;
        hard::judge(&specimen, rule, is_turn, rng, memory, &mut tally);
    }
    soft::judge(&specimen, with_differences, rng, &mut tally);
    tally
}

/// 2,000 matrices, or 100,000 in the full run.
#[test]
fn errors_are_bounded_by_conditioning() {
    let full = std::env::var_os("EGG_TEST_FULL").is_some();
    let count = if full { 100_000 } else { 2_000 };
    let findings = run(count, 0);
    let failures: Vec<String> = findings.iter().flat_map(Findings::failures).collect();
    assert!(failures.is_empty(), "{failures:#?}\n{}", tally::table(&findings));
    let total = tally::total(&findings);
    assert!(total.matrices >= count);
    // What is excused is bounded: one decomposition in a thousand, one cut in five.
    assert!(1000 * total.on_the_edge <= total.decompositions, "{total:?}");
    assert!(5 * total.narrow_cuts <= total.cuts, "{total:?}");
    // Each cut can give two, and each soft cut two; some are beyond the type's range.
    assert!(total.derivatives >= 2 * total.cuts, "{total:?}");
}
