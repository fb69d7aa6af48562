//! The same bits on any number of threads.

use egg_cluster::egg::{DenseMap, EggConfig, RandomisedConfig, SparseMap};
use egg_cluster::kmeans::{KMeansConfig, MiniBatchConfig, Start};
use egg_cluster::spectral::SpectralConfig;
use egg_geometry::RankRule;
use egg_graph::CsrMatrix;
use egg_graph::synthetic::BlockModel;

use crate::samples::{blobs, normal, rng};

#[track_caller]
fn same_on_any_number_of_threads<T: PartialEq + std::fmt::Debug + Send>(work: impl Fn() -> T + Sync) {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(&work)
    };
    let one = on(1);
    for threads in [2, 4] {
        assert!(
            on(threads) == one,
            "{threads} threads give another result than one"
        );
    }
}

#[test]
fn kmeans_has_the_same_bits_on_any_number_of_threads() {
    let points = blobs(9_000, 7, 9, 0.7, 1);
    for (starts, start) in [(1, Start::PlusPlus), (5, Start::PlusPlus), (3, Start::Random)] {
        let config = KMeansConfig {
            starts,
            start,
            ..KMeansConfig::new(9)
        };
        same_on_any_number_of_threads(|| config.check().unwrap().fit(points.view(), &mut rng(3)).unwrap());
    }
    let config = KMeansConfig::new(200);
    let centres = points.slice(ndarray::s![..200, ..]);
    same_on_any_number_of_threads(|| config.check().unwrap().fit_from(points.view(), centres).unwrap());
}

#[test]
fn mini_batch_kmeans_has_the_same_bits_on_any_number_of_threads() {
    let points = blobs(20_000, 5, 6, 0.7, 2).mapv(|x| x as f32);
    let config = MiniBatchConfig {
        epochs: 3,
        ..MiniBatchConfig::new(6)
    };
    same_on_any_number_of_threads(|| config.check().unwrap().fit(points.view(), &mut rng(3)).unwrap());
}

#[test]
fn egg_coordinates_has_the_same_bits_on_any_number_of_threads() {
    let h = normal(3000, 40, 4).mapv(|x| x as f32);
    let egg = EggConfig::new(RankRule::Ratio(0.3)).check().unwrap();
    same_on_any_number_of_threads(|| egg.embed(h.view()).unwrap());
    let svd = RandomisedConfig::new(20).check().unwrap();
    let map = DenseMap::new(h.view()).unwrap();
    same_on_any_number_of_threads(|| egg.embed_wide(&map, &svd, &mut rng(1)).unwrap());
    let sparse = SparseMap::new(CsrMatrix::from_dense(h.view()).unwrap()).unwrap();
    same_on_any_number_of_threads(|| svd.run(&sparse, &mut rng(1)).unwrap());
}

#[test]
fn spectral_clustering_has_the_same_bits_on_any_number_of_threads() {
    let model = BlockModel {
        nodes: 3000,
        blocks: 4,
        ..BlockModel::default()
    };
    let graph = model.generate(&mut rng(0)).unwrap().graph(0).unwrap().to_graph();
    let spectral = SpectralConfig::new(4).check().unwrap();
    same_on_any_number_of_threads(|| spectral.fit(&graph, &mut rng(5)).unwrap());
}
