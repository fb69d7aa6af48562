//! Our side of `cargo xtask bench geometry`: reads task names, answers with times.
#![expect(clippy::print_stdout, reason = "run by hand, it says what it is for")]

use egg_geometry::{
    Distance, Extension, GrassmannPoint, RankRule, Tangent, backend, distance_matrix, exp_batch, log_batch,
    principal_angles_batch, project_batch,
};
use ndarray::{Array2, ArrayView2};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde_json::json;

#[path = "../../../xtask/peers/protocol.rs"]
mod protocol;
mod raw;

use protocol::{Export, Outcome, Timed, timed, tiny};

/// How large an input is, or how large if it is only to be seen whether tasks run.
fn size(full: usize, small: usize) -> usize {
    if tiny() { small } else { full }
}

type Point = GrassmannPoint<f64>;

/// What all tasks work on.
struct Inputs {
    narrow: (Vec<Point>, Vec<Point>),
    wide: (Vec<Point>, Vec<Point>),
    points: Vec<Point>,
    tangents: Vec<Tangent<f64>>,
    /// 64 matrices H of 30 nodes and 64 features.
    data: Vec<Array2<f64>>,
    data_f32: Vec<Array2<f32>>,
}

/// A rule that keeps about half of the spectrum of the Gaussian matrices.
const RULE: RankRule = RankRule::Relative(0.5);

impl Inputs {
    fn new() -> Outcome<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(64);
        let mut random = |count: usize, p: usize| -> Outcome<Vec<Point>> {
            Ok((0..count)
                .map(|_| Point::random(64, p, &mut rng))
                .collect::<Result<_, _>>()?)
        };
        let pairs = size(1000, 3);
        let narrow = (random(pairs, 8)?, random(pairs, 8)?);
        let wide = (random(pairs, 20)?, random(pairs, 20)?);
        let points = random(size(500, 3), 8)?;
        let mut gaussian = |rows: usize, columns: usize| {
            Array2::from_shape_simple_fn((rows, columns), || {
                let value: f64 = StandardNormal.sample(&mut rng);
                value
            })
        };
        let tangents = narrow
            .0
            .iter()
            // Lengths of about 1, well inside the injectivity radius.
            .map(|base| base.project_to_tangent((gaussian(64, 8) * 0.05).view()))
            .collect::<Result<_, _>>()?;
        let data: Vec<_> = (0..size(64, 2)).map(|_| gaussian(30, 64)).collect();
        #[expect(clippy::cast_possible_truncation, reason = "the same data in f32")]
        let data_f32 = data.iter().map(|h| h.mapv(|entry| entry as f32)).collect();
        Ok(Self {
            narrow,
            wide,
            points,
            tangents,
            data,
            data_f32,
        })
    }

    fn export(&self, export: &mut Export) -> Outcome<()> {
        let bases = |points: &[Point]| points.iter().map(|point| point.basis().to_owned()).collect();
        let tangents = self
            .tangents
            .iter()
            .map(|tangent| tangent.matrix().to_owned())
            .collect();
        let inputs: [(&str, Vec<Array2<f64>>); 9] = [
            ("angles_64x8_a", bases(&self.narrow.0)),
            ("angles_64x8_b", bases(&self.narrow.1)),
            ("angles_64x20_a", bases(&self.wide.0)),
            ("angles_64x20_b", bases(&self.wide.1)),
            ("points_500", bases(&self.points)),
            ("exp_base", bases(&self.narrow.0)),
            ("exp_tangent", tangents),
            ("log_a", bases(&self.narrow.0)),
            ("log_b", bases(&self.narrow.1)),
        ];
        for (name, matrices) in inputs {
            let (rows, columns) = matrices.first().map_or((0, 0), Array2::dim);
            let shape = [matrices.len(), rows, columns];
            export.array(name, &shape, matrices.iter().flatten().copied())?;
        }
        Ok(())
    }

    /// Runs one task: the number of calls in it and a checksum of the result.
    fn run(&self, task: &str) -> Outcome<Timed> {
        let pairs = |(a, b): &'_ (Vec<Point>, Vec<Point>)| {
            a.iter().cloned().zip(b.iter().cloned()).collect::<Vec<_>>()
        };
        let squares = |matrix: ArrayView2<'_, f64>| matrix.iter().map(|entry| entry * entry).sum::<f64>();
        Ok(match task {
            "angles_64x8" | "angles_64x20" => {
                let owned = pairs(if task == "angles_64x8" {
                    &self.narrow
                } else {
                    &self.wide
                });
                let pairs: Vec<_> = owned.iter().map(|(a, b)| (a, b)).collect();
                let (seconds, angles) = timed(|| principal_angles_batch(&pairs))?;
                Timed::new(seconds, 1000, angles.iter().map(|each| each.sum()).sum())
            }
            "distances_500" => {
                let (seconds, matrix) =
                    timed(|| distance_matrix(&self.points, Distance::Projection, Extension::YeLim))?;
                Timed::new(seconds, 124_750, matrix.sum())
            }
            "exp_64x8" | "exp_batch_64x8" => {
                let pairs: Vec<_> = self.narrow.0.iter().zip(&self.tangents).collect();
                let (seconds, ends) = if task == "exp_64x8" {
                    timed(|| {
                        pairs
                            .iter()
                            .map(|(base, tangent)| base.exp(tangent))
                            .collect::<Result<Vec<_>, _>>()
                    })?
                } else {
                    timed(|| exp_batch(&pairs))?
                };
                let check = pairs
                    .iter()
                    .zip(&ends)
                    .map(|((base, _), end)| squares(base.basis().t().dot(&end.basis()).view()))
                    .sum();
                Timed::new(seconds, 1000, check)
            }
            "log_64x8" | "log_batch_64x8" => {
                let pairs: Vec<_> = self.narrow.0.iter().zip(&self.narrow.1).collect();
                let (seconds, logs) = if task == "log_64x8" {
                    timed(|| pairs.iter().map(|(a, b)| a.log(b)).collect::<Result<Vec<_>, _>>())?
                } else {
                    timed(|| log_batch(&pairs))?
                };
                Timed::new(seconds, 1000, logs.iter().map(|log| squares(log.matrix())).sum())
            }
            "projector_64x30" => {
                let views: Vec<_> = self.data_f32.iter().map(|h| h.view()).collect();
                let (seconds, projectors) = timed(|| project_batch(&views, RULE))?;
                Timed::new(
                    seconds,
                    64,
                    projectors.iter().flatten().map(|entry| f64::from(*entry)).sum(),
                )
            }
            "projector_64x30_f64" => {
                let views: Vec<_> = self.data.iter().map(|h| h.view()).collect();
                let (seconds, projectors) = timed(|| project_batch(&views, RULE))?;
                Timed::new(seconds, 64, projectors.iter().flatten().sum())
            }
            "projector_64x30_raw" => {
                let (seconds, projectors) = timed(|| raw::projectors(&self.data_f32, 0.5))?;
                Timed::new(
                    seconds,
                    64,
                    projectors.iter().flatten().map(|entry| f64::from(*entry)).sum(),
                )
            }
            "projector_64x30_raw_f64" => {
                let (seconds, projectors) = timed(|| raw::projectors(&self.data, 0.5))?;
                Timed::new(seconds, 64, projectors.iter().flatten().sum())
            }
            _ => return Err(format!("no task of this name: {task}").into()),
        })
    }
}

fn main() -> Outcome<()> {
    let Some(mut export) = Export::from_arguments()? else {
        println!("ratio: run by `cargo xtask bench geometry`");
        return Ok(());
    };
    let inputs = Inputs::new()?;
    inputs.export(&mut export)?;
    export.serve(json!({"backend": backend()}), |task| inputs.run(task))
}
