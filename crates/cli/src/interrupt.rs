//! Ctrl-C: the first one asks, the second one ends.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::console::warn;

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C, and a polite request to end, are noted. The epoch at hand
/// is finished and kept; whoever asks again is obeyed at once.
pub(crate) fn listen() {
    // Where there are no signals, Ctrl-C ends the program as ever.
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        warn("finishing this epoch; press Ctrl-C again to stop at once and lose it");
    });
}

/// Whether to stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
