//! Criterion benches of the operations users do most, at the sizes of the paper.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use egg_geometry::{
    Distance, Extension, Factors, Flatten, GrassmannPoint, RankRule, Workspace, distance_matrix,
    karcher_mean, principal_angles,
};
use ndarray::{Array1, Array2};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

fn points(count: usize, p: usize) -> Vec<GrassmannPoint<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    (0..count)
        .filter_map(|_| GrassmannPoint::random(64, p, &mut rng).ok())
        .collect()
}

fn nodes(n: usize) -> Array2<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    Array2::from_shape_simple_fn((n, 64), || StandardNormal.sample(&mut rng))
}

fn pairs(c: &mut Criterion) {
    for p in [8, 20] {
        let pair = points(2, p);
        c.bench_function(&format!("angles 64x{p}"), |b| {
            b.iter(|| principal_angles(&pair[0], &pair[1]));
        });
        c.bench_function(&format!("log 64x{p}"), |b| b.iter(|| pair[0].log(&pair[1])));
        let Ok(tangent) = pair[0].log(&pair[1]) else {
            unreachable!("random points of one manifold")
        };
        c.bench_function(&format!("exp 64x{p}"), |b| b.iter(|| pair[0].exp(&tangent)));
    }
}

fn sets(c: &mut Criterion) {
    let many = points(200, 8);
    for distance in [Distance::Projection, Distance::Geodesic] {
        c.bench_function(&format!("{} matrix of 200 64x8", distance.name()), |b| {
            b.iter(|| distance_matrix(&many, distance, Extension::YeLim));
        });
    }
    let Ok(tangent) = many[0].log(&many[1]) else {
        unreachable!("random points of one manifold")
    };
    let near: Vec<_> = (0..20)
        .filter_map(|step| many[0].exp(&tangent.scaled(f64::from(step) / 40.0)).ok())
        .collect();
    c.bench_function("karcher mean of 20 64x8", |b| b.iter(|| karcher_mean(&near)));
}

fn embedding(c: &mut Criterion) {
    let mut group = c.benchmark_group("embedding m=64 f32");
    for n in [10, 30, 100, 300] {
        let h = nodes(n);
        let (mut factors, mut workspace) = (Factors::new(), Workspace::new());
        let mut flat = vec![0.0f32; Flatten::length(64)];
        group.bench_with_input(BenchmarkId::new("forward", n), &h, |b, h| {
            b.iter(|| {
                factors.compute(h.view(), RankRule::Relative(0.5), &mut workspace)?;
                factors.embed_into(Flatten::Upper, &mut flat, &mut workspace)
            });
        });
        let upstream = Array1::from_elem(Flatten::length(64), 0.1f32);
        let mut out = Array2::zeros(h.dim());
        group.bench_with_input(BenchmarkId::new("backward", n), &h, |b, h| {
            b.iter(|| {
                factors.gradient_of_embedding(
                    h.view(),
                    upstream.view(),
                    Flatten::Upper,
                    out.view_mut(),
                    &mut workspace,
                )
            });
        });
    }
    group.finish();
}

criterion_group!(benches, pairs, sets, embedding);
criterion_main!(benches);
