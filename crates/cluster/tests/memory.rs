//! Memory grows with nodes and edges, not with pairs of nodes. A program of its own,
//! because it counts with the global allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use egg_cluster::Silent;
use egg_cluster::pipeline::{NodeClustering, Preset};
use egg_cluster::vgae::Likelihood;
use egg_graph::synthetic::BlockModel;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Bytes in use, and the most there were.
static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call goes to the system allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that clustering a block model takes, on top of the graph.
fn peak(nodes: usize, likelihood: Likelihood) -> usize {
    let model = BlockModel {
        nodes,
        ..BlockModel::default()
    };
    let dataset = model.generate(&mut ChaCha8Rng::seed_from_u64(0)).unwrap();
    let mut config = Preset::Paper.config();
    config.autoencoder_mut().epochs = 2;
    config.autoencoder_mut().likelihood = likelihood;
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let found = NodeClustering::new(config)
        .unwrap()
        .run(&dataset, None, &mut Silent)
        .unwrap();
    assert_eq!(found.labels.len(), nodes);
    PEAK.load(Ordering::Relaxed) - before
}

#[test]
fn twice_the_nodes_take_twice_the_memory() {
    for likelihood in [Likelihood::Exact, Likelihood::NegativeSampling] {
        let (small, large) = (peak(4000, likelihood), peak(8000, likelihood));
        // Pairs of nodes would take 4 times as much.
        assert!(2 * large < 5 * small, "{likelihood:?}: {small} and {large} bytes");
        // One n x n matrix of f32 would take this four times.
        assert!(large < 8000 * 8000, "{likelihood:?}: {large} bytes");
    }
}
