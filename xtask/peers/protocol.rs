//! What our side of every suite of `cargo xtask bench` has in common; each
//! bench program includes this file. `protocol.py` is the other end.
//!
//! With `--export DIR` a program writes its inputs there (raw little-endian
//! numbers, listed in `inputs.json`), so that the peers work on the same; then
//! each line on standard input is a task to run, answered by one line of JSON.

use std::cell::Cell;
use std::collections::HashSet;
use std::error::Error;
use std::fs;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Map, Value, json};

pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// One execution of a task.
pub(crate) struct Timed {
    seconds: f64,
    calls: usize,
    check: f64,
}

impl Timed {
    /// How long it took, how many calls it was, and a sum over the results.
    pub(crate) fn new(seconds: f64, calls: usize, check: f64) -> Self {
        Self {
            seconds,
            calls,
            check,
        }
    }
}

/// A task is done until this many seconds are over, and the mean time counts: one of a
/// few milliseconds says more of the scheduler than of the code. The peers do the same.
fn turn() -> Outcome<f64> {
    match std::env::var("EGG_BENCH_TURN") {
        Ok(seconds) => Ok(seconds
            .parse()
            .map_err(|_| format!("EGG_BENCH_TURN is no number of seconds: {seconds}"))?),
        Err(_) => Ok(0.05),
    }
}

thread_local! {
    /// Whether a task is done for the first time, once, to warm up. The peers do the same.
    static WARMING: Cell<bool> = const { Cell::new(false) };
}

/// Whether `cargo xtask test` is looking if all tasks still run: then inputs are as
/// small as they can be, no data set is looked for, and nothing is repeated.
pub(crate) fn tiny() -> bool {
    std::env::var_os("EGG_BENCH_TINY").is_some()
}

pub(crate) fn timed<T, E: Into<Box<dyn Error>>>(work: impl Fn() -> Result<T, E>) -> Outcome<(f64, T)> {
    let (turn, start) = (turn()?, Instant::now());
    let mut executions = 0.0;
    loop {
        let result = std::hint::black_box(work().map_err(Into::into)?);
        executions += 1.0;
        let elapsed = start.elapsed().as_secs_f64();
        if elapsed >= turn || WARMING.get() || tiny() {
            return Ok((elapsed / executions, result));
        }
    }
}

/// Numbers that the peers can read.
pub(crate) trait Number: Copy {
    /// NumPy's name of the type.
    const TYPE: &'static str;
    type Bytes: IntoIterator<Item = u8>;
    fn bytes(self) -> Self::Bytes;
}

macro_rules! number {
    ($($type:ty, $name:literal, $size:literal;)*) => {$(
        impl Number for $type {
            const TYPE: &'static str = $name;
            type Bytes = [u8; $size];
            fn bytes(self) -> Self::Bytes {
                self.to_le_bytes()
            }
        }
    )*};
}
number! { f32, "<f4", 4; f64, "<f8", 8; i64, "<i8", 8; }

/// The folder that the inputs go to.
pub(crate) struct Export {
    folder: PathBuf,
    index: Map<String, Value>,
}

impl Export {
    /// `None` unless the program was started by the driver.
    pub(crate) fn from_arguments() -> Outcome<Option<Self>> {
        let mut arguments = std::env::args().skip(1);
        let folder = arguments
            .find(|argument| argument == "--export")
            .and_then(|_| arguments.next());
        let Some(folder) = folder.map(PathBuf::from) else {
            return Ok(None);
        };
        fs::create_dir_all(&folder)?;
        Ok(Some(Self {
            folder,
            index: Map::new(),
        }))
    }

    /// Writes one array, in row-major order.
    pub(crate) fn array<T: Number>(
        &mut self,
        name: &str,
        shape: &[usize],
        numbers: impl IntoIterator<Item = T>,
    ) -> Outcome<()> {
        let bytes: Vec<u8> = numbers.into_iter().flat_map(T::bytes).collect();
        fs::write(self.folder.join(name), bytes)?;
        let entry = json!({"file": name, "type": T::TYPE, "shape": shape});
        self.index.insert(name.to_owned(), entry);
        Ok(())
    }

    /// Writes the list of arrays, says that this side is ready, and then runs
    /// tasks until there are no more. `about` goes into the report.
    pub(crate) fn serve(self, about: Value, run: impl Fn(&str) -> Outcome<Timed>) -> Outcome<()> {
        fs::write(
            self.folder.join("inputs.json"),
            serde_json::to_string(&self.index)?,
        )?;
        let mut ready = json!({"ready": true});
        if let (Value::Object(ready), Value::Object(about)) = (&mut ready, about) {
            ready.extend(about);
        }
        say(&ready)?;
        let mut warm = HashSet::new();
        for line in std::io::stdin().lock().lines() {
            let line = line?;
            let task = line.trim();
            let answer = if warm.insert(task.to_owned()) && !tiny() {
                WARMING.set(true);
                let warmed = run(task);
                WARMING.set(false);
                warmed.and_then(|_| run(task))
            } else {
                run(task)
            };
            say(&match answer {
                Ok(timed) => {
                    json!({"task": task, "seconds": timed.seconds, "calls": timed.calls, "check": timed.check})
                }
                Err(error) => json!({"task": task, "error": error.to_string()}),
            })?;
        }
        Ok(())
    }
}

fn say(answer: &Value) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{answer}")?;
    Ok(out.flush()?)
}
