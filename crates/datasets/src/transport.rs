//! What carries files from their publishers to this machine.

use std::path::Path;
use std::time::Duration;

/// One file that is to be downloaded.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Download<'a> {
    /// Where it is published.
    pub url: &'a str,
    /// Its path in a data folder, with `/`.
    pub path: &'a str,
    /// The path to write. In its folder there may be temporary files of the transport meanwhile.
    pub to: &'a Path,
    /// Bytes, if known.
    pub size: Option<u64>,
    /// SHA-256 in hexadecimal, if known.
    pub sha256: Option<&'a str>,
}

/// Why a file could not be downloaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url}: {problem}")]
pub struct DownloadError {
    /// What was asked for in the end.
    pub url: String,
    /// What the network, the server or the disk said.
    pub problem: String,
}

/// What happens while a data set is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A download has come this far.
    Downloading {
        /// The address.
        url: &'a str,
        /// Bytes received.
        bytes: u64,
        /// Bytes of the whole file, if known.
        total: Option<u64>,
    },
    /// A download failed and will be resumed.
    Retrying {
        /// The address.
        url: &'a str,
        /// What went wrong.
        problem: &'a str,
        /// After this time.
        pause: Duration,
    },
    /// All files are here and are being unpacked, copied or checked.
    Checking,
}

/// A way to get files. `Https` (feature `fetch`) is one; a program may have its own.
pub trait Transport {
    /// Ends with the whole file at `download.to`, or with nothing there. If size and checksum are
    /// known, the file has them.
    ///
    /// # Errors
    /// Whatever the network, the server or the disk said, after as many tries as make sense.
    fn download(
        &self,
        download: &Download<'_>,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), DownloadError>;
}
