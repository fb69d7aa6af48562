//! What was asked for.

use std::path::{Path, PathBuf};
use std::time::Duration;

use egg_fuzz::{TARGETS, Target, target};

pub(crate) const HELP: &str = "\
fuzz [OPTIONS] [NAME]...

Runs the targets whose names contain a NAME, or all. `cargo xtask fuzz --help`
says more.

Options:
  --seconds N      run for so long in all (without: a fixed number of inputs)
  --target NAME    only this target; may be given several times
  --seed N         of all randomness; 0 without
  --input FILE     run one input, of the one target that was named
  --crashes DIR    where inputs go that something went wrong with
  --write-seeds    write the first inputs into corpus/
  --list           name the targets
";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Help,
    List,
    WriteSeeds,
    /// In a process of its own.
    Worker,
    Campaign,
}

pub(crate) struct Request {
    pub(crate) work: Work,
    pub(crate) targets: Vec<&'static Target>,
    /// How many were left out by name.
    pub(crate) filtered: usize,
    /// In all, or of one worker.
    pub(crate) time: Option<Duration>,
    pub(crate) seed: u64,
    pub(crate) input: Option<PathBuf>,
    pub(crate) crashes: PathBuf,
}

impl Request {
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut request = Self {
            work: Work::Campaign,
            targets: Vec::new(),
            filtered: 0,
            time: None,
            seed: 0,
            input: None,
            crashes: Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("fuzz"),
        };
        let mut filters = Vec::new();
        let mut words = words;
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--help" | "-h" => request.work = Work::Help,
                "--list" => request.work = Work::List,
                "--write-seeds" => request.work = Work::WriteSeeds,
                "--worker" => request.work = Work::Worker,
                "--seconds" => {
                    let seconds = value()?;
                    let time = seconds
                        .parse()
                        .ok()
                        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                    request.time = Some(time.ok_or_else(|| format!("--seconds: {seconds:?} is no time"))?);
                }
                "--seed" => {
                    let seed = value()?;
                    request.seed = seed
                        .parse()
                        .map_err(|_| format!("--seed: {seed:?} is no whole number"))?;
                }
                "--target" => {
                    let name = value()?;
                    let known = || {
                        TARGETS
                            .iter()
                            .map(|target| target.name)
                            .collect::<Vec<_>>()
                            .join(", ")
                    };
                    let found = target(&name);
                    request.targets.push(
                        found.ok_or_else(|| format!("there is no target {name:?}; there are {}", known()))?,
                    );
                }
                "--input" => request.input = Some(value()?.into()),
                "--crashes" => request.crashes = value()?.into(),
                // What `cargo test` passes on and what makes no difference here.
                "--nocapture" | "--quiet" | "-q" | "--include-ignored" => {}
                flag if flag.starts_with('-') => return Err(format!("{flag} is not understood")),
                _ => filters.push(word),
            }
        }
        if request.input.is_some() && request.targets.len() != 1 {
            return Err("--input needs one --target".to_owned());
        }
        if request.targets.is_empty() {
            let wanted = |target: &&Target| {
                filters.is_empty() || filters.iter().any(|filter| target.name.contains(filter.as_str()))
            };
            request.targets = TARGETS.iter().filter(wanted).collect();
        }
        request.filtered = TARGETS.len() - request.targets.len().min(TARGETS.len());
        Ok(request)
    }
}
