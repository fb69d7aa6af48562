//! What is refused, and by which error.

use egg_cluster::Error;
use egg_cluster::egg::{DenseMap, EggConfig, SparseMap, Weighting};
use egg_cluster::kmeans::{KMeansConfig, MiniBatchConfig};
use egg_cluster::manifold::cluster_subspaces;
use egg_cluster::metrics::{Contingency, Cut, rank};
use egg_cluster::spectral::SpectralConfig;
use egg_geometry::{GrassmannKMeans, RankRule};
use egg_graph::{CsrMatrix, Graph, Labels};
use ndarray::{Array2, array};

use crate::samples::rng;

#[test]
fn empty_and_non_finite_points_are_refused() {
    let kmeans = KMeansConfig::new(2).check().unwrap();
    for shape in [(0, 3), (3, 0)] {
        let refused = kmeans.fit(Array2::<f64>::zeros(shape).view(), &mut rng(0));
        assert!(matches!(refused, Err(Error::Empty { .. })));
    }
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut points = Array2::<f64>::ones((3000, 7));
        points[(2999, 5)] = bad;
        let refused = kmeans.fit(points.view(), &mut rng(0));
        assert!(matches!(
            refused,
            Err(Error::NonFinite {
                row: 2999,
                column: 5,
                ..
            })
        ));
    }
    let few = array![[1.0], [2.0]];
    let three = KMeansConfig::new(3).check().unwrap();
    assert!(matches!(
        three.fit(few.view(), &mut rng(0)),
        Err(Error::Setting { name: "clusters", .. })
    ));
    let batches = MiniBatchConfig::new(3).check().unwrap();
    assert!(batches.fit(few.view(), &mut rng(0)).is_err());
}

#[test]
fn centres_of_other_shapes_are_refused() {
    let kmeans = KMeansConfig::new(2).check().unwrap();
    let points = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
    let wrong = |centres: Array2<f64>| kmeans.fit_from(points.view(), centres.view()).unwrap_err();
    assert!(matches!(
        wrong(array![[1.0, 2.0]]),
        Error::Length {
            unit: "rows",
            expected: 2,
            found: 1,
            ..
        }
    ));
    assert!(matches!(
        wrong(array![[1.0], [2.0]]),
        Error::Length { unit: "columns", .. }
    ));
    assert!(matches!(
        wrong(array![[1.0, 2.0], [3.0, f64::NAN]]),
        Error::NonFinite {
            row: 1,
            column: 1,
            ..
        }
    ));
    let found = kmeans.fit(points.view(), &mut rng(0)).unwrap();
    assert!(matches!(
        found.predict(array![[1.0]].view()),
        Err(Error::Length { .. })
    ));
}

#[test]
fn settings_out_of_range_are_refused() {
    let good = KMeansConfig::new(2);
    for bad in [
        KMeansConfig { clusters: 0, ..good },
        KMeansConfig {
            clusters: usize::MAX,
            ..good
        },
        KMeansConfig { starts: 0, ..good },
        KMeansConfig {
            max_iterations: 0,
            ..good
        },
        KMeansConfig {
            tolerance: -1.0,
            ..good
        },
        KMeansConfig {
            tolerance: f64::NAN,
            ..good
        },
    ] {
        assert!(matches!(bad.check(), Err(Error::Setting { .. })), "{bad:?}");
    }
    let good = MiniBatchConfig::new(2);
    for bad in [
        MiniBatchConfig { batch: 0, ..good },
        MiniBatchConfig { epochs: 0, ..good },
        MiniBatchConfig { patience: 0, ..good },
        MiniBatchConfig { starts: 0, ..good },
        MiniBatchConfig {
            reassignment: 1.0,
            ..good
        },
    ] {
        assert!(matches!(bad.check(), Err(Error::Setting { .. })), "{bad:?}");
    }
    let bad = EggConfig {
        weighting: Weighting::Spectral(f64::NAN),
        ..EggConfig::new(RankRule::Fixed(1))
    };
    assert!(matches!(bad.check(), Err(Error::Setting { name: "alpha", .. })));
    assert!(matches!(
        EggConfig::new(RankRule::Fixed(0)).check(),
        Err(Error::Geometry(_))
    ));
    let good = SpectralConfig::new(2);
    assert!(
        SpectralConfig {
            components: 0,
            ..good
        }
        .check()
        .is_err()
    );
    assert!(
        SpectralConfig {
            tolerance: 0.0,
            ..good
        }
        .check()
        .is_err()
    );
    assert!(SpectralConfig::new(0).check().is_err());
}

#[test]
fn labels_of_another_length_are_refused() {
    assert!(matches!(Contingency::new(&[], &[]), Err(Error::Empty { .. })));
    assert!(matches!(
        Contingency::new(&[1, 2], &[1]),
        Err(Error::Length {
            expected: 2,
            found: 1,
            ..
        })
    ));
    let unknown = Labels::new(&[None, None], vec!["a".into()]).unwrap();
    assert!(matches!(
        Contingency::of_known(&unknown, &[0, 1]),
        Err(Error::Empty { .. })
    ));
    assert!(matches!(
        Contingency::of_known(&unknown, &[0]),
        Err(Error::Length { .. })
    ));
}

#[test]
fn measures_undefined_for_a_graph_are_refused() {
    let bare = Graph::from_edges(3, &[]).unwrap();
    assert!(matches!(Cut::new(&bare, &[0, 1]), Err(Error::Length { .. })));
    let cut = Cut::new(&bare, &[0, 1, 1]).unwrap();
    assert!(matches!(cut.modularity(), Err(Error::Undefined { .. })));
    assert!(matches!(cut.mean_conductance(), Err(Error::Undefined { .. })));
    let none = Graph::from_edges(0, &[]).unwrap();
    assert!(matches!(Cut::new(&none, &[]), Err(Error::Empty { .. })));
    let negative = Graph::from_weighted_edges(2, &[(0, 1, -1.0)]).unwrap();
    assert!(matches!(
        Cut::new(&negative, &[0, 1]),
        Err(Error::Undefined { .. })
    ));

    let spectral = SpectralConfig::new(2).check().unwrap();
    assert!(matches!(
        spectral.fit(&none, &mut rng(0)),
        Err(Error::Empty { .. })
    ));
    assert!(matches!(
        spectral.fit(&negative, &mut rng(0)),
        Err(Error::Undefined { .. })
    ));
    let one = Graph::from_edges(1, &[]).unwrap();
    assert!(matches!(
        spectral.fit(&one, &mut rng(0)),
        Err(Error::Setting {
            name: "components",
            ..
        })
    ));
}

#[test]
fn rankings_without_positives_or_negatives_are_refused() {
    assert!(matches!(rank::<f32>(&[], &[1.0]), Err(Error::Undefined { .. })));
    assert!(matches!(rank::<f32>(&[1.0], &[]), Err(Error::Undefined { .. })));
    assert!(matches!(
        rank(&[1.0, f64::NAN], &[1.0]),
        Err(Error::NonFinite { row: 1, .. })
    ));
    let infinite = rank(&[f64::INFINITY], &[f64::NEG_INFINITY, 0.0]).unwrap();
    assert_eq!((infinite.roc_auc, infinite.average_precision), (1.0, 1.0));
}

#[test]
fn empty_and_non_finite_embeddings_are_refused() {
    let egg = EggConfig::new(RankRule::Fixed(1)).check().unwrap();
    assert!(matches!(
        egg.embed(Array2::<f32>::zeros((0, 3)).view()),
        Err(Error::Empty { .. })
    ));
    let refused = egg.embed(array![[1.0, 2.0], [f64::NAN, 1.0]].view());
    assert!(matches!(
        refused,
        Err(Error::NonFinite {
            row: 1,
            column: 0,
            ..
        })
    ));
    assert!(DenseMap::new(array![[f64::INFINITY]].view()).is_err());
    assert!(SparseMap::new(CsrMatrix::new(vec![0], vec![], vec![], 4).unwrap()).is_err());
    // A power that no number can hold.
    let steep = EggConfig {
        weighting: Weighting::Spectral(500.0),
        ..EggConfig::new(RankRule::Fixed(1))
    };
    assert!(matches!(
        steep.check().unwrap().embed(array![[10.0]].view()),
        Err(Error::Setting { .. })
    ));
}

#[test]
fn subspaces_of_different_dimensions_are_refused() {
    let (plane, line) = (array![[2.0, 0.0], [0.0, 1.0]], array![[1.0, 0.0]]);
    let refused = cluster_subspaces(
        &[plane.view(), line.view()],
        2,
        &GrassmannKMeans::new(1),
        &mut rng(0),
    );
    assert!(matches!(refused, Err(Error::Setting { name: "p", .. })));
}
