//! Whether OpenBLAS gives the same bits on one thread and on several.
//!
//! ```text
//! cargo run --release -p egg-geometry --example openblas_threads
//! ```
//!
//! It does not, which is why this crate sets it to one thread before its first call.
//! Here the number is raised again, as no library should. For each operation and order
//! the table says how many numbers of the result differ in any bit from those on one
//! thread, and by how much.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::ffi::c_int;

use egg_geometry::dense::{Scratch, invert_positive_definite, multiply, symmetric_eigen, thin_svd};
use ndarray::Array2;

unsafe extern "C" {
    fn openblas_set_num_threads(count: c_int);
}

fn set_threads(count: c_int) {
    // SAFETY: it takes a plain integer, and no other thread of ours is in OpenBLAS.
    unsafe { openblas_set_num_threads(count) }
}

/// Numbers between -1/2 and 1/2.
fn random(order: usize) -> Array2<f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    Array2::from_shape_simple_fn((order, order), || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    })
}

type Outcome = Result<Vec<f64>, Box<dyn Error>>;
type Operation = fn(&Array2<f64>) -> Outcome;

fn gram(a: &Array2<f64>) -> Outcome {
    let mut out = Array2::zeros(a.dim());
    multiply(1.0, a.t(), a.view(), 0.0, &mut out.view_mut())?;
    Ok(out.into_raw_vec_and_offset().0)
}

fn eigenvectors(a: &Array2<f64>) -> Outcome {
    let mut square: Vec<f64> = (a + &a.t()).into_iter().collect();
    let mut values = vec![0.0; a.nrows()];
    symmetric_eigen(a.nrows(), &mut square, &mut values, &mut Scratch::default())?;
    Ok(square)
}

fn singular_vectors(a: &Array2<f64>) -> Outcome {
    Ok(thin_svd(a.view())?.vt.into_raw_vec_and_offset().0)
}

fn inverse(a: &Array2<f64>) -> Outcome {
    let mut square: Vec<f64> = (a.t().dot(a) + Array2::<f64>::eye(a.nrows()))
        .into_iter()
        .collect();
    invert_positive_definite(a.nrows(), &mut square, &mut Scratch::default())?;
    Ok(square)
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("kernels: {}\n", egg_geometry::blas_kernels().unwrap_or_default());
    println!(
        "| operation | order | numbers | differ on 2 threads | by at most | on 4 | by at most | again on 1 |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    let operations: [(&str, Operation); 4] = [
        ("A^T A (dgemm)", gram),
        ("eigenvectors (dsyevd)", eigenvectors),
        ("SVD (dgesdd)", singular_vectors),
        ("inverse (dpotrf, dpotri)", inverse),
    ];
    for order in [64, 129, 300] {
        let a = random(order);
        for (name, operation) in operations {
            // The first call sets one thread.
            let one = operation(&a)?;
            let mut cells = Vec::new();
            for threads in [2, 4, 1] {
                set_threads(threads);
                let other = operation(&a)?;
                let differ = one
                    .iter()
                    .zip(&other)
                    .filter(|(a, b)| a.to_bits() != b.to_bits())
                    .count();
                let apart = one
                    .iter()
                    .zip(&other)
                    .fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
                cells.push(if threads == 1 {
                    format!("{differ}")
                } else {
                    format!("{differ} | {apart:.0e}")
                });
            }
            println!("| {name} | {order} | {} | {} |", one.len(), cells.join(" | "));
        }
    }
    Ok(())
}
