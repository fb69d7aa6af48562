//! The paper's grid by successive halving, in one file.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use egg_pool::data::PreparedGraphs;
use egg_pool::protocol::{Experiment, Grid, Halving, HalvingEvent, Parallelism, Rung};

use crate::Failure;

/// Goes on with the search at `path`; no run is begun after `budget` seconds.
pub(crate) fn search(
    path: &Path,
    experiment: Experiment,
    graphs: &PreparedGraphs,
    parallelism: Parallelism,
    revision: Option<String>,
    budget: f64,
) -> Result<(), Failure> {
    let begin = Instant::now();
    let search = Halving {
        experiment,
        grid: Grid::paper(),
        rungs: Rung::PAPER.to_vec(),
        parallelism,
    };
    let record = search.run(path, graphs, revision, &|event| {
        match event {
            HalvingEvent::Begin { .. } if begin.elapsed().as_secs_f64() > budget => {
                return ControlFlow::Break(());
            }
            HalvingEvent::Done { cell, run: Some(run) } => println!(
                "{cell} [{}]: validation loss {:.4} after {} epochs, {:.1} s",
                run.repetition, run.validation_loss, run.best_epoch, run.seconds
            ),
            HalvingEvent::Done { cell, run: None } => println!("{cell}: diverged"),
            _ => {}
        }
        ControlFlow::Continue(())
    })?;
    match record.chosen {
        Some(chosen) => println!("chosen by the validation loss: {chosen}"),
        None => println!("{}: time is up: call again to go on", path.display()),
    }
    Ok(())
}
