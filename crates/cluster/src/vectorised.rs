//! Loops compiled for the widest vectors that the processor has.

/// Defines a function whose body is compiled several times, for processors of
/// several generations, and runs the version for this one.
///
/// The first argument names the processor's vectors within the body; callers
/// leave it out. Borrowed arguments are of lifetime `'a`. What the body calls must be inlined
/// into it to profit: a loop, or a function marked `#[inline(always)]`; a
/// closure is not. Results are the same on all processors: a multiplication and
/// an addition stay two operations.
macro_rules! vectorised {
    ($(#[$note:meta])*
     $vis:vis fn $name:ident<$T:ident>($simd:ident, $($argument:ident: $type:ty),+ $(,)?) -> $out:ty $body:block) => {
        $(#[$note])*
        $vis fn $name<'a, $T: egg_geometry::Scalar>($($argument: $type),+) -> $out {
            struct Kernel<'a, $T: egg_geometry::Scalar> {
                $($argument: $type),+
            }
            impl<'a, $T: egg_geometry::Scalar> pulp::WithSimd for Kernel<'a, $T> {
                type Output = $out;
                #[inline(always)]
                fn with_simd<S: pulp::Simd>(self, $simd: S) -> $out {
                    let Self { $($argument),+ } = self;
                    $body
                }
            }
            pulp::Arch::new().dispatch(Kernel { $($argument),+ })
        }
    };
}
pub(crate) use vectorised;
