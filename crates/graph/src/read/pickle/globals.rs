//! The names that a pickle may use, and what stands behind them.

/// Something with a name that this machine knows. There is no other way to get
/// a new kind of object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Global {
    /// Makes an empty array, to be filled by its state.
    Reconstruct,
    NdArray,
    Dtype,
    Scalar,
    CsrMatrix,
    /// How protocols 0 and 1 make an object of a class.
    Reconstructor,
    Object,
    DefaultDict,
    OrderedDict,
    List,
    /// How Python 3 writes bytes in protocols that have no bytes: as text to be
    /// encoded in Latin-1 ...
    Encode,
    /// ... and if there are none, as a call without arguments.
    Bytes,
}

impl Global {
    /// The list. Python 2 and 3, and NumPy and SciPy of different ages, have
    /// different modules for the same thing.
    pub(super) fn find(module: &str, name: &str) -> Option<Self> {
        Some(match (module, name) {
            ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => Self::Reconstruct,
            ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar") => Self::Scalar,
            ("numpy", "ndarray") => Self::NdArray,
            ("numpy", "dtype") => Self::Dtype,
            ("scipy.sparse.csr" | "scipy.sparse._csr", "csr_matrix") => Self::CsrMatrix,
            ("copy_reg" | "copyreg", "_reconstructor") => Self::Reconstructor,
            ("__builtin__" | "builtins", "object") => Self::Object,
            ("__builtin__" | "builtins", "list") => Self::List,
            ("__builtin__" | "builtins", "bytes") => Self::Bytes,
            ("collections", "defaultdict") => Self::DefaultDict,
            ("collections", "OrderedDict") => Self::OrderedDict,
            ("_codecs", "encode") => Self::Encode,
            _ => return None,
        })
    }
}
