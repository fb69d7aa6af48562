//! Which machine is it? Sensor windows compared as subspaces.
//!
//! Three kinds of machine shake a rig with 24 sensors. Each window of 60 samples
//! is a 60 x 24 matrix whose rows lie near a low-dimensional subspace: the
//! vibration modes that the machine excites. How strongly and in which phase a
//! mode sounds differs from window to window, so averages say little; the
//! subspace is what stays.
//!
//! ```text
//! cargo run --release -p egg-geometry --example compare_subspaces
//! ```
#![expect(clippy::print_stdout, reason = "a program")]

use egg_geometry::{
    CentreKind, Distance, Extension, GrassmannKMeans, GrassmannPoint, RankRule, distance_matrix,
    karcher_mean, nearest_neighbours, principal_angles, rectify_batch,
};
use ndarray::{Array2, Axis};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

const SENSORS: usize = 24;
const SAMPLES: usize = 60;
const MODES: usize = 3;
const WINDOWS_PER_MACHINE: usize = 20;
const MACHINES: [&str; 3] = ["pump", "fan", "press"];

/// One window: random amplitudes of the machine's modes, plus noise.
fn window(modes: &GrassmannPoint<f64>, rng: &mut ChaCha8Rng) -> Array2<f64> {
    let mut gaussian =
        |rows, columns| Array2::from_shape_simple_fn((rows, columns), || StandardNormal.sample(rng));
    let amplitudes: Array2<f64> = gaussian(SAMPLES, MODES);
    let noise: Array2<f64> = gaussian(SAMPLES, SENSORS);
    amplitudes.dot(&modes.basis().t()) + noise * 0.15
}

fn main() -> Result<(), egg_geometry::Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(2024);
    let modes = MACHINES
        .map(|_| GrassmannPoint::<f64>::random(SENSORS, MODES, &mut rng))
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;

    let labels: Vec<usize> = (0..MACHINES.len() * WINDOWS_PER_MACHINE)
        .map(|index| index / WINDOWS_PER_MACHINE)
        .collect();
    let windows: Vec<Array2<f64>> = labels
        .iter()
        .map(|machine| window(&modes[*machine], &mut rng))
        .collect();

    // From data to subspaces; the rule finds the number of modes by itself.
    let views: Vec<_> = windows.iter().map(|window| window.view()).collect();
    let rectified = rectify_batch(&views, RankRule::Relative(0.5))?;
    let first = &rectified[0];
    println!(
        "{} windows of {SAMPLES} samples x {SENSORS} sensors",
        windows.len()
    );
    println!(
        "first window: p = {} directions hold {:.0} % of the spectrum; the next would be {:.1} times weaker",
        first.choice.p,
        100.0 * first.choice.captured,
        first.singular_values[first.choice.p - 1] / first.singular_values[first.choice.p]
    );
    let points = rectified
        .into_iter()
        .map(|each| each.point())
        .collect::<Result<Vec<_>, _>>()?;

    let angles =
        |a: usize, b: usize| principal_angles(&points[a], &points[b]).map(|radians| radians.to_degrees());
    println!("\nprincipal angles in degrees");
    println!("  two windows of the pump   {:6.1}", angles(0, 1)?);
    println!(
        "  a pump and a fan          {:6.1}",
        angles(0, WINDOWS_PER_MACHINE)?
    );

    println!("\nmean distance within and between machines");
    for distance in [
        Distance::Geodesic,
        Distance::Projection,
        Distance::Procrustes,
        Distance::Asimov,
    ] {
        let all = distance_matrix(&points, distance, Extension::YeLim)?;
        let (mut within, mut between) = ((0.0, 0u32), (0.0, 0u32));
        for ((i, j), value) in all.indexed_iter().filter(|((i, j), _)| i < j) {
            let group = if labels[i] == labels[j] {
                &mut within
            } else {
                &mut between
            };
            *group = (group.0 + value, group.1 + 1);
        }
        println!(
            "  {:<11} {:5.2} {:5.2}",
            distance.name(),
            within.0 / f64::from(within.1),
            between.0 / f64::from(between.1)
        );
    }

    // Identify the machine: even windows are known, odd ones are queries.
    let (known, asked): (Vec<usize>, Vec<usize>) = (0..points.len()).partition(|index| index % 2 == 0);
    let pick = |chosen: &[usize]| {
        chosen
            .iter()
            .map(|index| points[*index].clone())
            .collect::<Vec<_>>()
    };
    let known_labels: Vec<usize> = known.iter().map(|index| labels[*index]).collect();
    let neighbours = nearest_neighbours(
        &pick(&asked),
        &pick(&known),
        3,
        Distance::Projection,
        Extension::YeLim,
    )?;
    let votes = neighbours.vote(&known_labels)?;
    let right = votes
        .iter()
        .zip(&asked)
        .filter(|(vote, index)| **vote == labels[**index])
        .count();
    println!(
        "\n3 nearest neighbours name {right} of {} windows rightly",
        asked.len()
    );

    // The average of all sensors over a window, the usual first-order summary.
    let means = Array2::from_shape_fn((windows.len(), SENSORS), |(window, sensor)| {
        windows[window].column(sensor).mean().unwrap_or(0.0)
    });
    let nearest_mean = |index: usize| {
        let apart = |other: &usize| {
            let difference = &means.index_axis(Axis(0), index) - &means.index_axis(Axis(0), *other);
            difference.dot(&difference)
        };
        known
            .iter()
            .min_by(|a, b| apart(a).total_cmp(&apart(b)))
            .map(|found| labels[*found])
    };
    let right = asked
        .iter()
        .filter(|index| nearest_mean(**index) == Some(labels[**index]))
        .count();
    println!(
        "the nearest mean vector names {right} (chance is {})",
        asked.len() / MACHINES.len()
    );

    // Without labels: k-means on the manifold, then how far each centre is from the truth.
    let found = GrassmannKMeans {
        centre: CentreKind::Karcher,
        ..GrassmannKMeans::new(MACHINES.len())
    }
    .fit(&points, &mut rng)?;
    println!("\nk-means with Karcher means finds");
    for (machine, name) in MACHINES.iter().enumerate() {
        let mut sizes = vec![0; MACHINES.len()];
        for (label, _) in found
            .labels
            .iter()
            .zip(&labels)
            .filter(|(_, truth)| **truth == machine)
        {
            sizes[*label] += 1;
        }
        println!("  {name:<6} in clusters {sizes:?}");
    }

    let pumps = karcher_mean(&points[..WINDOWS_PER_MACHINE])?;
    let off =
        |point: &GrassmannPoint<f64>| principal_angles(point, &modes[0]).map(|radians| radians.to_degrees());
    println!(
        "\nmean of the pump's windows after {} steps; angles to its true modes",
        pumps.iterations
    );
    println!("  one window      {:5.2}", off(&points[0])?);
    println!("  Karcher mean    {:5.2}", off(&pumps.point)?);
    Ok(())
}
