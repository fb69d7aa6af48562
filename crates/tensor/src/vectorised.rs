//! Loops compiled for the widest vectors that the processor has.

/// Defines a function whose body is compiled several times, for processors of
/// several generations, and runs the version for this one.
///
/// Borrowed arguments are of lifetime `'a`. A body that calls intrinsics of pulp names the
/// processor's vectors before a semicolon; callers leave that out. What the body calls must be
/// inlined into it to profit: a loop, or a function marked `#[inline(always)]`; a closure is not. Results
/// are the same on all processors: a multiplication and an addition stay two operations.
///
/// ```
/// egg_tensor::vectorised! {
///     /// Adds `b` to `a`.
///     fn add<T: egg_tensor::Element>(a: &'a mut [T], b: &'a [T]) -> () {
///         a.iter_mut().zip(b).for_each(|(a, b)| *a += *b);
///     }
/// }
/// let mut a = [1.0, 2.0];
/// add(&mut a, &[10.0, 20.0]);
/// assert_eq!(a, [11.0, 22.0]);
/// ```
#[macro_export]
macro_rules! vectorised {
    ($(#[$note:meta])*
     $vis:vis fn $name:ident<$T:ident: $bound:path>($($argument:ident: $type:ty),+ $(,)?) -> $out:ty $body:block) => {
        $crate::vectorised! {
            $(#[$note])*
            $vis fn $name<$T: $bound>(_simd; $($argument: $type),+) -> $out $body
        }
    };
    ($(#[$note:meta])*
     $vis:vis fn $name:ident<$T:ident: $bound:path>($simd:ident; $($argument:ident: $type:ty),+ $(,)?) -> $out:ty $body:block) => {
        $(#[$note])*
        $vis fn $name<'a, $T: $bound>($($argument: $type),+) -> $out {
            struct Kernel<'a, $T: $bound> {
                $($argument: $type),+
            }
            impl<'a, $T: $bound> $crate::macros::WithSimd for Kernel<'a, $T> {
                type Output = $out;
                #[inline(always)]
                fn with_simd<S: $crate::macros::Simd>(self, $simd: S) -> $out {
                    let Self { $($argument),+ } = self;
                    $body
                }
            }
            $crate::macros::Arch::new().dispatch(Kernel { $($argument),+ })
        }
    };
}

#[cfg(test)]
mod tests {
    /// A feature of pulp that is easily lost: without it, it finds nothing.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn avx2_vectors_are_used_where_available() {
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            assert!(!matches!(pulp::Arch::new(), pulp::Arch::Scalar));
        }
    }
}
