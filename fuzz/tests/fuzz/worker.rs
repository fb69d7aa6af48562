//! One target in a process of its own.
//!
//! The current input is in the file `current` before it is run: if the process
//! is ended by it, whoever started the process finds it there. A panic is caught
//! and noted, and the work continues; the same panic is noted once.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use egg_fuzz::{Outcome, Target, mutate};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::corpus;
use crate::request::Request;

/// Where the current input is, in the folder that `EGG_FUZZ_FOLDER` names.
pub(crate) const CURRENT: &str = "current";
/// How a worker ends that has found something.
pub(crate) const FOUND: u8 = 10;
/// How it ends when an input takes too long.
pub(crate) const TOO_LONG: u8 = 11;
/// The longest that an input may take, by the clock: a loaded machine is slow.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// Mutated inputs where no time was given: a second or so.
const FEW: u64 = 1000;
/// Inputs to continue from.
const POOL: usize = 1024;

/// The message of the last panic.
static PANIC_MESSAGE: Mutex<String> = Mutex::new(String::new());
/// When the current input was begun, in milliseconds; 0 between inputs.
static BEGUN: AtomicU64 = AtomicU64::new(0);

pub(crate) fn run(request: &Request) -> ExitCode {
    match work(request) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(FOUND),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Gives the number of different failures.
fn work(request: &Request) -> io::Result<usize> {
    let start = Instant::now();
    watch(start);
    panic::set_hook(Box::new(|info| {
        if let Ok(mut message) = PANIC_MESSAGE.lock() {
            *message = info.to_string();
        }
    }));
    let folder = std::env::var_os("EGG_FUZZ_FOLDER").map_or_else(std::env::temp_dir, PathBuf::from);
    let mut total = 0;
    for target in &request.targets {
        let mut bench = Bench {
            target,
            current: File::create(folder.join(CURRENT))?,
            start,
            crashes: &request.crashes,
            executions: 0,
            kinds: HashSet::new(),
            failures: HashSet::new(),
        };
        if let Some(path) = &request.input {
            let outcome = bench.execute(&fs::read(path)?)?;
            println!(
                "{}",
                outcome.map_or_else(String::new, |outcome| outcome.to_string())
            );
        } else {
            bench.search(request)?;
        }
        println!("executions {} kinds {}", bench.executions, bench.kinds.len());
        total += bench.failures.len();
    }
    Ok(total)
}

struct Bench<'a> {
    target: &'static Target,
    current: File,
    start: Instant,
    crashes: &'a Path,
    executions: u64,
    kinds: HashSet<Outcome>,
    failures: HashSet<String>,
}

impl Bench<'_> {
    /// Runs the saved inputs, then others made of them and of those that turned
    /// out to be new.
    fn search(&mut self, request: &Request) -> io::Result<()> {
        let mut pool = corpus::load(self.target.name)?;
        for seed in &pool {
            self.execute(seed)?;
        }
        let saved = pool.len();
        let mut rng = ChaCha8Rng::seed_from_u64(request.seed);
        loop {
            let done = match request.time {
                Some(time) => self.start.elapsed() >= time,
                None => self.executions >= FEW,
            };
            if done {
                return Ok(());
            }
            let input = mutate::mutated(&pool, self.target.words, &mut rng);
            if let Some(outcome) = self.execute(&input)?
                && self.kinds.insert(outcome)
            {
                if pool.len() < POOL {
                    pool.push(input);
                } else if saved < pool.len() {
                    let place = rng.random_range(saved..pool.len());
                    pool[place] = input;
                }
            }
        }
    }

    /// Runs an input; nothing if it made the target panic.
    fn execute(&mut self, input: &[u8]) -> io::Result<Option<Outcome>> {
        self.executions += 1;
        let (count, length) = (self.executions.to_le_bytes(), (input.len() as u64).to_le_bytes());
        self.current.seek(SeekFrom::Start(0))?;
        self.current.write_all(&[&count[..], &length, input].concat())?;
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        BEGUN.store(now.max(1), Ordering::Relaxed);
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| (self.target.run)(input)));
        BEGUN.store(0, Ordering::Relaxed);
        match outcome {
            Ok(outcome) => Ok(Some(outcome)),
            Err(_) => {
                self.note(input)?;
                Ok(None)
            }
        }
    }

    /// Keeps an input that something went wrong with, one of each kind.
    fn note(&mut self, input: &[u8]) -> io::Result<()> {
        let message = PANIC_MESSAGE
            .lock()
            .map(|message| message.clone())
            .unwrap_or_default();
        let kind: String = message
            .chars()
            .filter(|letter| !letter.is_ascii_digit())
            .take(160)
            .collect();
        // Most distinct messages are the same fault with other values.
        if self.failures.len() < 20 && self.failures.insert(kind) {
            let path = keep(self.crashes, self.target.name, input)?;
            println!("crash {} {}", path.display(), message.replace('\n', "\\n"));
        }
        Ok(())
    }
}

/// Writes an input under a name that is made of its bytes.
pub(crate) fn keep(folder: &Path, target: &str, input: &[u8]) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    // FNV-1a.
    let sum = input.iter().fold(0xcbf2_9ce4_8422_2325u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    let path = folder.join(format!("{target}-{sum:016x}"));
    fs::write(&path, input)?;
    Ok(path)
}

/// How many inputs a worker that is no more has run, and the last of them.
pub(crate) fn current(folder: &Path) -> Option<(u64, Vec<u8>)> {
    let bytes = fs::read(folder.join(CURRENT)).ok()?;
    let (count, rest) = bytes.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    Some((u64::from_le_bytes(*count), rest.get(..length)?.to_vec()))
}

/// Ends the process when an input takes too long.
fn watch(start: Instant) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(250));
            let begun = BEGUN.load(Ordering::Relaxed);
            let now = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
            if begun > 0 && u128::from(now.saturating_sub(begun)) > PATIENCE.as_millis() {
                std::process::exit(TOO_LONG.into());
            }
        }
    });
}
