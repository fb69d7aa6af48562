//! k-means and nearest neighbours on the manifold.

use crate::strategies::{cases, random_point, rebased, rng, roomy_dimensions, tangent_of_length};
use approx::{abs_diff_eq, relative_eq};
use egg_geometry::{
    CentreKind, Distance, Extension, GrassmannKMeans, GrassmannPoint, distance, extended_distance,
    nearest_neighbours,
};
use proptest::prelude::*;

const KINDS: [CentreKind; 2] = [CentreKind::Extrinsic, CentreKind::Karcher];

/// m and p; `degenerate.rs` has the line R^1.
fn manifolds() -> impl Strategy<Value = (usize, usize)> {
    (2usize..=5).prop_flat_map(|m| (Just(m), 1..=m))
}

fn around(centre: &GrassmannPoint<f64>, count: u64, radius: f64, seed: u64) -> Vec<GrassmannPoint<f64>> {
    let one = |k: u64| {
        let d = tangent_of_length(centre, radius, seed.wrapping_add(k));
        centre.exp(&d).unwrap()
    };
    (0..count).map(one).collect()
}

/// Centres that are pairwise at least `apart` (geodesic).
fn distant_centres(m: usize, p: usize, count: usize, apart: f64, seed: u64) -> Vec<GrassmannPoint<f64>> {
    let mut centres: Vec<GrassmannPoint<f64>> = Vec::new();
    for attempt in 0..10_000 {
        let candidate = random_point(m, p, seed.wrapping_add(attempt));
        if centres
            .iter()
            .all(|centre| distance(centre, &candidate, Distance::Geodesic).unwrap() >= apart)
        {
            centres.push(candidate);
        }
        if centres.len() == count {
            return centres;
        }
    }
    panic!("no {count} points of Gr({p}, {m}) are {apart} apart");
}

/// Whether two labelings are the same up to names.
pub(crate) fn same_partition(a: &[usize], b: &[usize]) -> bool {
    (0..a.len()).all(|i| (0..i).all(|j| (a[i] == a[j]) == (b[i] == b[j])))
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn planted_clusters_are_found((m, p) in roomy_dimensions(), k in 2usize..4, seed in any::<u64>()) {
        let m = m.max(4);
        let centres = distant_centres(m, p, k, 0.9, seed);
        let mut points = Vec::new();
        let mut planted = Vec::new();
        for (label, centre) in centres.iter().enumerate() {
            let members = around(
                centre,
                3 + label as u64,
                0.1,
                seed.wrapping_add(100 * label as u64),
            );
            planted.extend(std::iter::repeat_n(label, members.len()));
            points.extend(members);
        }
        for centre in KINDS {
            let found = GrassmannKMeans {
                centre,
                ..GrassmannKMeans::new(k)
            }
            .fit(&points, &mut rng(seed))
            .unwrap();
            prop_assert!(
                same_partition(&found.labels, &planted),
                "{centre:?}: {:?}",
                found.labels
            );
            prop_assert!(found.converged);
            prop_assert_eq!(found.centres.len(), k);
            // Each label is the nearest centre, the inertia is the sum of squares.
            let mut inertia = 0.0;
            for (point, label) in points.iter().zip(&found.labels) {
                let d: Vec<f64> = found
                    .centres
                    .iter()
                    .map(|c| distance(point, c, centre.distance()).unwrap())
                    .collect();
                prop_assert!(d.iter().all(|other| d[*label] <= other + 1e-12));
                inertia += d[*label] * d[*label];
            }
            prop_assert!(abs_diff_eq!(found.inertia, inertia, epsilon = 1e-12));
        }
    }

    #[test]
    fn fewer_distinct_points_than_clusters_are_accepted(
        (m, p) in manifolds(),
        distinct in 1usize..3,
        seed in any::<u64>(),
        clusters in 1usize..=7,
    ) {
        let originals: Vec<_> = (0..distinct as u64)
            .map(|k| random_point(m, p, seed.wrapping_add(k)))
            .collect();
        for copies_are_exact in [true, false] {
            let points: Vec<_> = (0..7)
                .map(|k| {
                    let original = &originals[k % distinct];
                    if copies_are_exact {
                        original.clone()
                    } else {
                        rebased(original, seed.wrapping_add(k as u64))
                    }
                })
                .collect();
            for centre in KINDS {
                let settings = GrassmannKMeans {
                    centre,
                    starts: 3,
                    ..GrassmannKMeans::new(clusters)
                };
                let found = settings.fit(&points, &mut rng(seed)).unwrap();
                prop_assert_eq!(found.labels.len(), 7);
                prop_assert_eq!(found.centres.len(), clusters);
                prop_assert!(found.labels.iter().all(|label| *label < clusters));
                if clusters >= distinct {
                    prop_assert!(found.inertia <= 1e-25, "{:e}", found.inertia);
                }
                if clusters >= distinct && copies_are_exact {
                    // Exact copies always get the same label.
                    prop_assert!((0..7 - distinct).all(|k| found.labels[k] == found.labels[k + distinct]));
                }
            }
        }
    }

    #[test]
    fn neighbours_match_exhaustive_search(
        m in 2usize..6,
        seed in any::<u64>(),
        k in 1usize..=9,
        kind in 0..Distance::ALL.len(),
        extension in prop_oneof![
            Just(Extension::YeLim),
            Just(Extension::Containment),
            Just(Extension::Projector)
        ],
    ) {
        let kind = Distance::ALL[kind];
        let point = |index: u64| {
            random_point(
                m,
                1 + (seed.rotate_left(index as u32) as usize) % m,
                seed.wrapping_add(index),
            )
        };
        let queries: Vec<_> = (0..4).map(|index| point(index + 50)).collect();
        let mut points: Vec<_> = (0..6).map(point).collect();
        // Equally distant, and exactly so: copies.
        points.extend([points[2].clone(), points[0].clone(), points[2].clone()]);
        let found = nearest_neighbours(&queries, &points, k, kind, extension).unwrap();
        prop_assert_eq!((found.indices.dim(), found.distances.dim()), ((4, k), (4, k)));
        for (row, query) in queries.iter().enumerate() {
            let all: Vec<f64> = points
                .iter()
                .map(|p| extended_distance(query, p, kind, extension).unwrap())
                .collect();
            let chosen: Vec<usize> = found.indices.row(row).to_vec();
            let listed = found.distances.row(row).to_vec();
            for (rank, index) in chosen.iter().enumerate() {
                let tolerance = 1e-12 * all[*index].max(1.0);
                // Not `abs_diff_eq`: infinity minus itself is not a number.
                prop_assert!(
                    relative_eq!(listed[rank], all[*index], epsilon = tolerance, max_relative = 0.0),
                    "{} and {}",
                    listed[rank],
                    all[*index]
                );
                if rank > 0 {
                    prop_assert!(listed[rank - 1] <= listed[rank]);
                    // Of equals, the lower index first.
                    prop_assert!(
                        listed[rank - 1] < listed[rank] || chosen[rank - 1] < *index,
                        "{chosen:?} {listed:?}"
                    );
                }
                prop_assert!(!chosen[..rank].contains(index));
            }
            for (index, other) in all
                .iter()
                .enumerate()
                .filter(|(index, _)| !chosen.contains(index))
            {
                let last = listed[k - 1];
                let nearer = *other < last && last - other > 1e-12 * last.clamp(1.0, 1e3);
                prop_assert!(!nearer, "{index} at {other} was left out for {last}");
            }
            // Of copies, the first is taken first.
            for (early, late) in [(2, 6), (6, 8), (0, 7)] {
                let place = |index: usize| chosen.iter().position(|c| *c == index).unwrap_or(usize::MAX);
                prop_assert!(place(early) <= place(late), "{chosen:?}");
            }
        }
        // Each point's own nearest neighbour is itself or a copy of it.
        let own = nearest_neighbours(&points, &points, 1, kind, Extension::YeLim).unwrap();
        for (index, nearest) in own.indices.column(0).iter().enumerate() {
            prop_assert!(points[*nearest] == points[index] || own.distances[[index, 0]] <= 1e-14);
        }
    }
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn cost_does_not_increase_with_clusters((m, p) in roomy_dimensions(), seed in any::<u64>()) {
        let centre = random_point(m, p, seed);
        for (kind, points) in [
            (
                CentreKind::Extrinsic,
                (0..6).map(|k| random_point(m, p, seed.wrapping_add(k))).collect(),
            ),
            // Within pi/4 the Karcher mean is unique and quickly found.
            (CentreKind::Karcher, around(&centre, 6, 0.7, seed)),
        ] {
            let mut last = f64::INFINITY;
            for clusters in 1..=6 {
                // Six points have few local optima; thirty starts find the best.
                let settings = GrassmannKMeans {
                    clusters,
                    centre: kind,
                    starts: 30,
                    max_iterations: 50,
                };
                let inertia = settings.fit(&points, &mut rng(seed)).unwrap().inertia;
                prop_assert!(
                    inertia <= last * (1.0 + 1e-9) + 1e-12,
                    "{kind:?}, {clusters}: {inertia} after {last}"
                );
                last = inertia;
            }
            // One cluster each.
            prop_assert!(last <= 1e-25, "{last:e}");
        }
    }
}

/// The labels converge even with more clusters than distinct points: every assignment
/// gives the same ones.
#[test]
fn duplicated_points_converge() {
    for (copies, clusters) in [(3, 2), (7, 4), (4, 3)] {
        let points = vec![random_point(3, 1, 1); copies];
        for centre in KINDS {
            let settings = GrassmannKMeans {
                centre,
                starts: 1,
                ..GrassmannKMeans::new(clusters)
            };
            let found = settings.fit(&points, &mut rng(0)).unwrap();
            assert_eq!(found.labels, vec![found.labels[0]; copies]);
            assert!(found.converged, "after {} assignments", found.iterations);
        }
    }
}

#[test]
fn vote_counts_labels_then_breaks_ties_by_nearness() {
    let line = |degrees: f64| {
        let angle = degrees.to_radians();
        crate::strategies::point_of(ndarray::array![[angle.cos()], [angle.sin()]])
    };
    let points: Vec<_> = [0.0, 10.0, 12.0, 60.0, 65.0].map(line).to_vec();
    let labels = ["a", "b", "b", "c", "a"];
    let found = nearest_neighbours(
        &[line(4.0), line(63.0)],
        &points,
        3,
        Distance::Geodesic,
        Extension::YeLim,
    );
    let found = found.unwrap();
    assert_eq!(found.indices.row(0).to_vec(), [0, 1, 2]);
    assert_eq!(found.indices.row(1).to_vec(), [4, 3, 2]);
    assert_eq!(found.vote(&labels).unwrap(), ["b", "a"]);
}
