//! Nothing is allocated once the largest matrix has been seen. A program of its
//! own, because it counts with the global allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use egg_geometry::{Factors, Flatten, RankRule, Workspace, backend};
use ndarray::{Array1, Array2};

thread_local! {
    /// Of this thread only: the test harness has its own.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to the system allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn steady_state_allocates_nothing() {
    // More rows than columns and fewer; well and badly conditioned.
    let matrices = [(40, 1.0f32), (9, 1.0), (9, 0.3), (12, 0.7)];
    assert_steady(16, &matrices, RankRule::Relative(0.3));
}

/// Orders at which only the kept directions are made.
#[test]
fn kept_only_steady_state_allocates_nothing() {
    let matrices = [(100, 1.0f32), (50, 1.0), (90, 0.97)];
    assert_steady(64, &matrices, RankRule::Fixed(10));
}

/// Matrices of `m` columns by their numbers of rows and how these fall.
fn assert_steady(m: usize, matrices: &[(usize, f32)], rule: RankRule) {
    let matrices: Vec<Array2<f32>> = matrices
        .iter()
        .map(|&(n, decay)| {
            Array2::from_shape_fn((n, m), |(i, j)| {
                (((i * 31 + j * 17 + i * j) % 23) as f32 - 11.0) * decay.powi(i as i32)
            })
        })
        .collect();
    let mut outputs: Vec<Array2<f32>> = matrices.iter().map(|h| Array2::zeros(h.dim())).collect();
    let upstream = Array1::from_elem(Flatten::length(m), 0.1f32);
    let mut flat = vec![0.0f32; Flatten::length(m)];
    let (mut factors, mut workspace) = (Factors::new(), Workspace::new());

    let mut pass = || {
        for (h, out) in matrices.iter().zip(&mut outputs) {
            factors.compute(h.view(), rule, &mut workspace).unwrap();
            factors
                .embed_into(Flatten::Upper, &mut flat, &mut workspace)
                .unwrap();
            factors
                .gradient_of_embedding(
                    h.view(),
                    upstream.view(),
                    Flatten::Upper,
                    out.view_mut(),
                    &mut workspace,
                )
                .unwrap();
        }
    };
    // Twice: factors and workspace hand memory to each other.
    pass();
    pass();
    let before = COUNT.get();
    pass();
    let allocations = COUNT.get() - before;
    // ndarray's own matrix product, used without OpenBLAS (and for matrices of
    // less than 8 rows), packs into a buffer that it allocates each time;
    // nothing else may.
    if backend() == "openblas" {
        assert_eq!(allocations, 0);
    } else {
        // At most 4 to decompose, 1 to embed and 14 for the gradient.
        let products = 19 * matrices.len();
        assert!(
            allocations <= products,
            "{allocations} allocations in at most {products} products"
        );
    }
}
