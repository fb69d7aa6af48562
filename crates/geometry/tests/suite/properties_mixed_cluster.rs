//! Clusters, distances and neighbours of subspaces of different dimension, in the
//! metric of their projectors.

use crate::properties_cluster::same_partition;
use crate::strategies::{
    cases, narrowed, orthonormal, planted_blocks, projectors_apart, random_point, range_of, rebased, related,
    rng, rotated, scattered, tangent_of_length,
};
use approx::abs_diff_eq;
use egg_geometry::{
    CentreKind, Distance, Extension, Flatten, GrassmannClustering, GrassmannKMeans, GrassmannPoint, Scalar,
    cross_distances, distance_matrix, extended_distance, extrinsic_mean, extrinsic_mean_within,
    nearest_neighbours, projector_distance,
};
use proptest::prelude::*;
use rand::RngExt;

/// Sums of a few squared norms of projectors.
const ROUNDING: f64 = 1e-12;

/// That the labels are those of the nearest centres and the inertia is the cost,
/// by explicit projectors.
fn check_assignment(
    points: &[GrassmannPoint<f64>],
    found: &GrassmannClustering<f64>,
) -> Result<(), TestCaseError> {
    let mut inertia = 0.0;
    for (point, label) in points.iter().zip(&found.labels) {
        let squares: Vec<f64> = found
            .centres
            .iter()
            .map(|centre| projectors_apart(point, centre).powi(2) / 2.0)
            .collect();
        prop_assert!(squares.iter().all(|other| squares[*label] <= other + ROUNDING));
        inertia += squares[*label];
    }
    prop_assert!(
        abs_diff_eq!(found.inertia, inertia, epsilon = ROUNDING),
        "{} and {inertia}",
        found.inertia
    );
    Ok(())
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn distances_and_neighbours_match_embedded_projectors(
        points in prop_oneof![scattered(), related()],
        seed in any::<u64>(),
    ) {
        let query = random_point(points[0].ambient(), points[points.len() - 1].dimension(), seed);
        let queries = [query, rebased(&points[0], seed)];
        let euclidean = |a: &GrassmannPoint<f64>, b: &GrassmannPoint<f64>| {
            let difference = a.embed(Flatten::Isometric) - b.embed(Flatten::Isometric);
            difference.dot(&difference).sqrt()
        };
        // A square root of rounding, where subspaces are equal.
        let close = |a: f64, b: f64| abs_diff_eq!(a * a, b * b, epsilon = ROUNDING);
        for (kind, weight) in [(Distance::ProjectionFull, 1.0), (Distance::Projection, 0.5f64.sqrt())] {
            let matrix = distance_matrix(&points, kind, Extension::Projector).unwrap();
            let cross = cross_distances(&queries, &points, kind, Extension::Projector).unwrap();
            for (j, point) in points.iter().enumerate() {
                for (i, other) in points.iter().enumerate() {
                    let wanted = weight * euclidean(other, point);
                    prop_assert!(close(matrix[[i, j]], wanted));
                    let alone = extended_distance(other, point, kind, Extension::Projector).unwrap();
                    prop_assert!(close(alone, wanted));
                    prop_assert!(close(weight * projector_distance(other, point).unwrap(), wanted));
                }
                for (i, query) in queries.iter().enumerate() {
                    prop_assert!(close(cross[[i, j]], weight * euclidean(query, point)));
                }
            }
            let k = points.len().min(3);
            let found = nearest_neighbours(&queries, &points, k, kind, Extension::Projector).unwrap();
            for (i, query) in queries.iter().enumerate() {
                let mut all: Vec<f64> = points.iter().map(|point| weight * euclidean(query, point)).collect();
                all.sort_by(f64::total_cmp);
                for rank in 0..k {
                    prop_assert!(close(found.distances[[i, rank]], all[rank]));
                    let there = &points[found.indices[[i, rank]]];
                    prop_assert!(close(weight * euclidean(query, there), all[rank]));
                }
            }
            // It is a metric.
            for i in 0..points.len() {
                for j in 0..points.len() {
                    for k in 0..points.len() {
                        prop_assert!(matrix[[i, k]] <= matrix[[i, j]] + matrix[[j, k]] + 1e-13);
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn planted_clusters_of_different_dimensions_are_found(
        m in 5usize..=8,
        k in 2usize..=4,
        seed in any::<u64>(),
    ) {
        // One dimension each, so that the projectors are at least 1 apart.
        let (mut points, mut planted) = (Vec::new(), Vec::new());
        for label in 0..k {
            let centre = random_point(m, 1 + label, seed.wrapping_add(label as u64));
            for member in 0..3 + label as u64 {
                let step = tangent_of_length(&centre, 0.1, seed.wrapping_add(100 * member));
                points.push(centre.exp(&step).unwrap());
                planted.push(label);
            }
        }
        let found = GrassmannKMeans::new(k).fit(&points, &mut rng(seed)).unwrap();
        prop_assert!(found.converged);
        prop_assert!(same_partition(&found.labels, &planted), "{:?}", found.labels);
        for (label, point) in found.labels.iter().zip(&points) {
            prop_assert_eq!(found.centres[*label].dimension(), point.dimension());
        }
        check_assignment(&points, &found)?;
    }

    #[test]
    fn planted_clusters_whose_members_differ_in_dimension_are_found(
        k in 2usize..=3,
        seed in any::<u64>(),
    ) {
        let (points, planted) = planted_blocks(k, 6, seed);
        let dimensions: Vec<usize> = points.iter().map(GrassmannPoint::dimension).collect();
        prop_assert!([3, 4, 5].iter().all(|p| dimensions.contains(p)));
        let found = GrassmannKMeans::new(k).fit(&points, &mut rng(seed)).unwrap();
        prop_assert!(same_partition(&found.labels, &planted), "{:?}", found.labels);
        prop_assert!(found.centres.iter().all(|centre| centre.dimension() == 4));
        check_assignment(&points, &found)?;

        // In another order, in other bases, elsewhere in R^m.
        let rotation = orthonormal(12, 12, seed ^ 5);
        let moved = |point| rotated(&rebased(point, seed), &rotation);
        let turned: Vec<_> = points.iter().rev().map(moved).collect();
        let again = GrassmannKMeans::new(k).fit(&turned, &mut rng(seed)).unwrap();
        let backwards: Vec<usize> = again.labels.iter().rev().copied().collect();
        prop_assert!(same_partition(&backwards, &planted));
        prop_assert!(abs_diff_eq!(found.inertia, again.inertia, epsilon = ROUNDING));

        let single: Vec<GrassmannPoint<f32>> = points.iter().map(narrowed).collect();
        let single = GrassmannKMeans::new(k).fit(&single, &mut rng(seed)).unwrap();
        prop_assert!(same_partition(&single.labels, &planted));
        prop_assert!(abs_diff_eq!(f64::from(single.inertia), found.inertia, epsilon = 1e-4));
    }

    #[test]
    fn no_iteration_increases_the_cost(points in prop_oneof![scattered(), related()], seed in any::<u64>()) {
        for clusters in 1..=points.len().min(4) {
            let mut last = f64::INFINITY;
            for max_iterations in 1..=12 {
                // The same start every time, one assignment longer.
                let settings = GrassmannKMeans {
                    starts: 1,
                    max_iterations,
                    ..GrassmannKMeans::new(clusters)
                };
                let found = settings.fit(&points, &mut rng(seed)).unwrap();
                check_assignment(&points, &found)?;
                prop_assert!(
                    found.inertia <= last + ROUNDING,
                    "{} after {last} in assignment {max_iterations}",
                    found.inertia
                );
                last = found.inertia;
                if !found.converged {
                    continue;
                }
                // Each centre was chosen from the dimensions of all points, not
                // only of its own. (One without points was made of others'.)
                let (least, most) = range_of(&points);
                let members = |cluster: usize| -> Vec<_> {
                    let own = |at: &usize| found.labels[*at] == cluster;
                    (0..points.len()).filter(own).map(|at| points[at].clone()).collect()
                };
                let all: Vec<_> = (0..clusters).map(members).collect();
                if all.iter().all(|members| !members.is_empty()) {
                    for (members, centre) in all.iter().zip(&found.centres) {
                        let mean = extrinsic_mean_within(members, least..=most).unwrap();
                        prop_assert_eq!(&mean.point, centre);
                    }
                }
                break;
            }
        }
    }

    #[test]
    fn one_cluster_is_the_mean_and_one_per_point_costs_0(
        points in prop_oneof![scattered(), related()],
        seed in any::<u64>(),
    ) {
        let found = GrassmannKMeans::new(1).fit(&points, &mut rng(seed)).unwrap();
        let (least, most) = range_of(&points);
        let mean = extrinsic_mean_within(&points, least..=most).unwrap().point;
        prop_assert_eq!(&found.centres[0], &mean);
        let each = GrassmannKMeans::new(points.len()).fit(&points, &mut rng(seed)).unwrap();
        prop_assert!(each.inertia <= 1e-25, "{:e}", each.inertia);
    }
}

/// One start of k-means over one Gr(p, m) as it was before dimensions could
/// differ: labels, centres and inertia. No cluster may lose all of its points.
fn on_one_manifold<T: Scalar>(
    points: &[GrassmannPoint<T>],
    clusters: usize,
    seed: u64,
) -> (Vec<usize>, Vec<GrassmannPoint<T>>, T) {
    let p = points[0].dimension();
    let to = |centres: &[GrassmannPoint<T>]| {
        cross_distances(points, centres, Distance::Projection, Extension::YeLim).unwrap()
    };
    let mut rng = rng(seed);
    let mut chosen = vec![rng.random_range(0..points.len())];
    let mut squares = vec![f64::INFINITY; points.len()];
    while chosen.len() < clusters {
        let last = *chosen.last().unwrap();
        for (square, d) in squares.iter_mut().zip(&to(&points[last..=last])) {
            *square = square.min(d.as_f64().powi(2));
        }
        squares[last] = 0.0;
        let mut rest = rng.random::<f64>() * squares.iter().sum::<f64>();
        let drawn = squares.iter().position(|weight| {
            rest -= weight;
            *weight > 0.0 && rest <= 0.0
        });
        chosen.push(drawn.unwrap());
    }
    let mut centres: Vec<_> = chosen.into_iter().map(|index| points[index].clone()).collect();
    let nearest = |centres: &[GrassmannPoint<T>]| -> (Vec<usize>, T) {
        let distances = to(centres);
        let labels: Vec<usize> = distances
            .rows()
            .into_iter()
            .map(|row| (0..clusters).fold(0, |best, next| if row[next] < row[best] { next } else { best }))
            .collect();
        let squares = labels
            .iter()
            .enumerate()
            .map(|(i, label)| distances[[i, *label]] * distances[[i, *label]]);
        let inertia = squares.sum();
        (labels, inertia)
    };
    let (mut labels, mut inertia) = nearest(&centres);
    for _ in 1..100 {
        for (cluster, centre) in centres.iter_mut().enumerate() {
            let members: Vec<_> = (0..points.len())
                .filter(|index| labels[*index] == cluster)
                .map(|index| points[index].clone())
                .collect();
            *centre = extrinsic_mean(&members, p).unwrap().point;
        }
        let before = std::mem::take(&mut labels);
        (labels, inertia) = nearest(&centres);
        if labels == before {
            break;
        }
    }
    (labels, centres, inertia)
}

fn assert_distances_on_one_manifold_match<T: Scalar>() {
    for seed in 0..40 {
        let (m, p) = (3 + (seed % 6) as usize, 1 + (seed % 3) as usize);
        let mut generator = rng(seed);
        let points: Vec<GrassmannPoint<T>> = (0..14)
            .map(|_| GrassmannPoint::random(m, p, &mut generator).unwrap())
            .collect();
        for clusters in 1..=3 {
            let (labels, centres, inertia) = on_one_manifold(&points, clusters, seed);
            let settings = GrassmannKMeans {
                starts: 1,
                ..GrassmannKMeans::new(clusters)
            };
            let found = settings.fit(&points, &mut rng(seed)).unwrap();
            assert_eq!(found.labels, labels);
            assert_eq!(found.centres, centres);
            assert_eq!(found.inertia.as_f64().to_bits(), inertia.as_f64().to_bits());
        }
    }
}

#[test]
fn k_means_on_one_manifold_is_bit_identical() {
    assert_distances_on_one_manifold_match::<f64>();
    assert_distances_on_one_manifold_match::<f32>();
}

#[test]
fn karcher_centres_of_mixed_dimensions_are_refused() {
    let points = [random_point(5, 1, 0), random_point(5, 2, 0)];
    let karcher = GrassmannKMeans {
        centre: CentreKind::Karcher,
        ..GrassmannKMeans::new(1)
    };
    let error = karcher.fit(&points, &mut rng(0)).unwrap_err().to_string();
    assert!(error.contains("CentreKind::Extrinsic"), "{error}");
    assert!(GrassmannKMeans::new(1).fit(&points, &mut rng(0)).is_ok());
}
