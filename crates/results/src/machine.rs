//! The computer that a result was made on.

/// The processor's model name, where the system reports it.
///
/// ```
/// assert!(egg_results::processor().is_none_or(|name| !name.is_empty()));
/// ```
pub fn processor() -> Option<String> {
    // Elsewhere than on Linux there is no such file, and no name.
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    let name = line.split_once(':')?.1.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Cores, or threads of cores, that this process may use.
///
/// ```
/// assert!(egg_results::cores() >= 1);
/// ```
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The widest vectors of the processor that programs here use: they decide in which
/// order sums are rounded, and so on which machines a result repeats bit for bit.
fn vector_instructions() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            return "avx512f";
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return "avx2+fma";
        }
    }
    std::env::consts::ARCH
}

/// The computer that a result was made on.
///
/// ```
/// let here = egg_results::Machine::here(2);
/// assert!(here.cores >= 1 && here.threads == 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Machine {
    /// The operating system: `linux`, `macos`.
    pub os: String,
    /// The processor architecture: `x86_64`.
    pub architecture: String,
    /// The processor's model name, where the system reports it.
    pub processor: Option<String>,
    /// Cores, or threads of cores, that this process may use.
    pub cores: usize,
    /// Threads of the run.
    pub threads: usize,
    /// What decides how sums are rounded: the widest vectors of the processor and the kernels of the
    /// BLAS library, if there is one. `None` in records that did not keep it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub arithmetic: Option<String>,
}

impl Machine {
    /// This machine, for a run with `threads` threads.
    pub fn here(threads: usize) -> Self {
        Self {
            os: std::env::consts::OS.to_owned(),
            architecture: std::env::consts::ARCH.to_owned(),
            processor: processor(),
            cores: cores(),
            threads,
            arithmetic: None,
        }
    }

    /// Records what decides how sums are rounded: the linear-algebra backend, its kernels, and the
    /// processor's vector instructions.
    pub fn with_backend(mut self, backend: &str, kernels: Option<&str>) -> Self {
        let kernels = kernels.map_or(String::new(), |kernels| format!(" {kernels}"));
        self.arithmetic = Some(format!("{backend}{kernels}, {}", vector_instructions()));
        self
    }
}
