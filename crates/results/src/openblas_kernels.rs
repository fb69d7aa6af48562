//! Better OpenBLAS kernels where OpenBLAS underrates the processor.

/// Kernels without AVX.
#[rustfmt::skip] // It is a list.
const SSE_ERA: &[&str] = &[
    "Unknown", "Generic", "Katmai", "Coppermine", "Northwood", "Prescott", "Banias", "Atom", "Core2",
    "Penryn", "Dunnington", "Nehalem", "Athlon", "Opteron", "Opteron_SSE3", "Barcelona", "Bobcat",
    "Nano",
];

/// What to set `OPENBLAS_CORETYPE` to, best first, instead of the kernels that OpenBLAS has `chosen` on this
/// machine; nothing where these are good.
///
/// A release that is older than the processor falls back to SSE kernels ("Prescott"), which costs about a third of
/// the speed.
///
/// ```
/// assert!(egg_results::better_openblas_kernels("Haswell").is_empty());
/// ```
pub fn better_openblas_kernels(chosen: &str) -> Vec<&'static str> {
    better(chosen, Features::detect())
}

fn better(chosen: &str, features: Features) -> Vec<&'static str> {
    if !SSE_ERA.iter().any(|core| core.eq_ignore_ascii_case(chosen)) {
        return Vec::new();
    }
    let mut cores = Vec::new();
    if features.avx512 {
        cores.push("SkylakeX");
    }
    if features.avx2_fma {
        cores.push("Haswell");
    }
    cores
}

#[derive(Debug, Clone, Copy, Default)]
struct Features {
    avx2_fma: bool,
    avx512: bool,
}

impl Features {
    #[cfg(target_arch = "x86_64")]
    fn detect() -> Self {
        Self {
            avx2_fma: is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            avx512: is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512cd"),
        }
    }

    /// Other processors have not been seen to be underrated.
    #[cfg(not(target_arch = "x86_64"))]
    fn detect() -> Self {
        Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_kernels_are_proposed_only_for_underrated_processors() {
        let modern = Features {
            avx2_fma: true,
            avx512: true,
        };
        let haswell = Features {
            avx512: false,
            ..modern
        };
        assert_eq!(better("Prescott", modern), ["SkylakeX", "Haswell"]);
        assert_eq!(better("Opteron_SSE3", haswell), ["Haswell"]);
        assert!(better("Nehalem", Features::default()).is_empty());
        for fine in ["Haswell", "Zen", "Cooperlake", "SkylakeX", "neoversen1"] {
            assert!(better(fine, modern).is_empty(), "{fine}");
        }
    }
}
