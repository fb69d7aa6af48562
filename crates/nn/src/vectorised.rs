//! Loops compiled for the widest vectors that the processor has.

/// Defines a function whose body is compiled several times, for processors of
/// several generations, and runs the version for this one.
///
/// Borrowed arguments are of lifetime `'a`. What the body calls must be inlined
/// into it to profit: a loop, or a function marked `#[inline(always)]`. Results
/// are the same on all processors: a multiplication and an addition stay two
/// operations.
macro_rules! vectorised {
    ($(#[$note:meta])*
     $vis:vis fn $name:ident<$T:ident>($($argument:ident: $type:ty),+ $(,)?) -> $out:ty $body:block) => {
        $(#[$note])*
        $vis fn $name<'a, $T: $crate::element::Element>($($argument: $type),+) -> $out {
            struct Kernel<'a, $T> {
                $($argument: $type),+
            }
            impl<'a, $T: $crate::element::Element> pulp::WithSimd for Kernel<'a, $T> {
                type Output = $out;
                #[inline(always)]
                fn with_simd<S: pulp::Simd>(self, _: S) -> $out {
                    let Self { $($argument),+ } = self;
                    $body
                }
            }
            pulp::Arch::new().dispatch(Kernel { $($argument),+ })
        }
    };
}
pub(crate) use vectorised;

#[cfg(test)]
mod tests {
    /// A feature of pulp that is easily lost: without it, it finds nothing.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn wide_vectors_are_found_where_there_are_any() {
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            assert!(!matches!(pulp::Arch::new(), pulp::Arch::Scalar));
        }
    }
}
