//! In the steady state nothing is allocated per graph. A program of its own,
//! because it counts with the global allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use candle_core::{Device, Result, Tensor, Var};
use egg_autodiff::{Embedder, Filter, Flatten, RankRule, SoftEmbedder};

/// Of all threads: the work is shared.
static COUNT: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call goes to the system allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
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

const M: usize = 16;

/// Graphs of 9 rows (fewer than columns) and of 40 in turn.
fn batch(graphs: usize) -> Result<(Var, Vec<usize>)> {
    let mut offsets = vec![0];
    for graph in 0..graphs {
        offsets.push(offsets[graph] + if graph % 2 == 0 { 9 } else { 40 });
    }
    let rows = offsets[graphs];
    let numbers = (0..rows * M).map(|at| ((at * 31 + at / M * 17 + at * at) % 23) as f32 - 11.0);
    let h = Tensor::from_vec(numbers.collect::<Vec<_>>(), (rows, M), &Device::Cpu)?;
    Ok((Var::from_tensor(&h)?, offsets))
}

/// How many allocations a step takes after two to grow in.
fn steady(graphs: usize, embed: impl Fn(&Tensor, &[usize]) -> Result<Tensor>) -> Result<usize> {
    let (h, offsets) = batch(graphs)?;
    let step = || embed(&h, &offsets)?.backward();
    step()?;
    step()?;
    let before = COUNT.load(Ordering::Relaxed);
    let gradients = step()?;
    let allocations = COUNT.load(Ordering::Relaxed) - before;
    assert!(gradients.get(&h).is_some());
    Ok(allocations)
}

// One test: two concurrent ones would count each other's allocations.
#[test]
fn allocations_per_step_are_independent_of_the_number_of_graphs() -> Result<()> {
    // ndarray's own matrix product, used without OpenBLAS, packs into a buffer
    // that it allocates each time, and faer's solvers have buffers of their own.
    if egg_geometry::backend() != "openblas" {
        return Ok(());
    }
    let hard = Embedder::new(RankRule::Relative(0.3), Flatten::Upper).map_err(candle_core::Error::wrap)?;
    let filter = Filter::resolvent(0.5).map_err(candle_core::Error::wrap)?;
    let soft = SoftEmbedder::new(filter, Flatten::Upper);
    type Embed<'a> = &'a (dyn Fn(&Tensor, &[usize]) -> Result<Tensor> + Sync);
    let ways: [(&str, Embed<'_>); 2] = [
        ("hard", &|h, offsets| Ok(hard.embed(h, offsets)?.into())),
        ("soft", &|h, offsets| Ok(soft.embed(h, offsets)?.into())),
    ];
    // A thread: a scratch. Which of two threads works on how many graphs is
    // chance, and a scratch grows with the largest it has seen.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .map_err(candle_core::Error::wrap)?;
    for (name, embed) in ways {
        let [few, many] = [8, 64].map(|graphs| pool.install(|| steady(graphs, |h, o| embed(h, o))));
        let (few, many) = (few?, many?);
        // A sort of more than a few jobs takes a buffer, once forward and once
        // backward.
        assert!(many <= few + 4, "{name}: {few} for 8 graphs, {many} for 64");
    }
    Ok(())
}
