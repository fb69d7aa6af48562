//! A result that can be kept, compared and repeated.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use egg_graph::Split;
use egg_results::{Machine, Summary};
use serde::{Deserialize, Serialize};

use super::experiment::Experiment;
use super::report::Report;
use super::search::RepetitionRecord;
use crate::data::PreparedGraphs;
use crate::error::{Error, Result};
use crate::json;

/// The format that is written, and the only one read.
const FORMAT: u64 = 1;

/// This one, with what decides how sums are rounded.
fn machine() -> Machine {
    let kernels = egg_autodiff::blas_kernels();
    Machine::here(rayon::current_num_threads()).with_backend(egg_autodiff::backend(), kernels.as_deref())
}

/// A [`Report`] without its epochs, with all that is needed to repeat it: the
/// settings, the seed, checksums of the data and of every split, the version of
/// the program, the machine.
///
/// ```
/// use egg_graph::synthetic::CovarianceSet;
/// use egg_pool::convolution::Gcn;
/// use egg_pool::protocol::{Experiment, Protocol, RunOptions, RunRecord};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// use std::ops::ControlFlow;
///
/// let small = CovarianceSet { graphs: 60, ..Default::default() };
/// let dataset = small.generate(&mut ChaCha8Rng::seed_from_u64(0))?;
/// let mut experiment = Experiment::new(&dataset, Protocol::Paper, Gcn, "sum".parse()?)?;
/// (experiment.repetitions, experiment.training.max_epochs) = (2, 2);
/// let graphs = experiment.prepare(dataset)?;
/// let run = experiment.run(&graphs, &RunOptions::default(), &|_, _| ControlFlow::Continue(()))?;
///
/// let record = RunRecord::new(&run.report, &run.splits, &graphs, Some("1a2b3c4".to_owned()))?;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("covariance-gcn-sum.json");
/// record.save(&path)?;
/// assert_eq!(RunRecord::load(&path)?, record);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The version of the format.
    pub format: u64,
    /// The data set's name.
    pub dataset: String,
    /// How many graphs it has.
    pub graphs: usize,
    /// Of the graphs as the model saw them, SHA-256.
    pub fingerprint: String,
    /// All settings, protocol and seed included.
    pub experiment: Experiment,
    /// A checksum of each repetition's split (FNV-1a of its three lists).
    pub splits: Vec<String>,
    /// What each repetition came to.
    pub repetitions: Vec<RepetitionRecord>,
    /// The mean validation loss and its deviation.
    pub validation_loss: Option<Summary>,
    /// The metric on the validation parts.
    pub validation: Option<Summary>,
    /// The metric on the test parts.
    pub test: Option<Summary>,
    /// How long all epochs took together.
    pub seconds: f64,
    /// Seconds since 1970 when the record was made.
    pub written: u64,
    /// The version of this crate.
    pub version: String,
    /// The revision of the source, if the program knows it.
    pub revision: Option<String>,
    /// Where it was made.
    pub machine: Machine,
}

impl RunRecord {
    /// Of a report, its splits and the graphs it is about.
    ///
    /// # Errors
    /// [`Error::OtherRun`] if the report is about others, [`Error::Cancelled`]
    /// if one of its repetitions was.
    pub fn new(
        report: &Report,
        splits: &[Split],
        graphs: &PreparedGraphs,
        revision: Option<String>,
    ) -> Result<Self> {
        if report.fingerprint != graphs.fingerprint() {
            return Err(Error::OtherRun {
                path: report.dataset.clone().into(),
                difference: "the report is about other graphs".to_owned(),
            });
        }
        let experiment = &report.experiment;
        let repetitions = report.outcomes.iter().map(RepetitionRecord::from_outcome);
        let repetitions: Vec<RepetitionRecord> = repetitions.collect::<Result<_>>()?;
        let losses: Vec<f64> = repetitions.iter().map(|run| run.validation.loss).collect();
        let seconds = repetitions.iter().map(|run| run.seconds).sum();
        Ok(Self {
            format: FORMAT,
            dataset: report.dataset.clone(),
            graphs: graphs.dataset().len(),
            fingerprint: report.fingerprint.clone(),
            splits: splits.iter().map(Split::digest).collect(),
            validation_loss: Summary::from_values(&losses, experiment.protocol.ddof()),
            validation: report.validation,
            test: report.test,
            experiment: experiment.clone(),
            repetitions,
            seconds,
            // A clock before 1970 is no reason to lose a result.
            written: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |time| time.as_secs()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            revision,
            machine: machine(),
        })
    }

    /// Writes it as JSON, atomically.
    ///
    /// # Errors
    /// [`Error::File`] if it can't be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
        }
        json::write(path, self)
    }

    /// Reads what [`Self::save`] wrote.
    ///
    /// # Errors
    /// [`Error::File`] if it can't be read, [`Error::Format`] if it is none.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let record: Self = json::read(path)?;
        if record.format != FORMAT {
            return Err(Error::Format {
                path: path.to_owned(),
                reason: format!("it has format {}, this program reads {FORMAT}", record.format),
            });
        }
        Ok(record)
    }
}
