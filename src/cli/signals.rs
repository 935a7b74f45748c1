//! Handles the signals that end a command. The first stops it at the next safe point, the second at
//! once. A command that waits for another process (for the other end of a FIFO, or the reader of
//! its results) does not reach a safe point: the first signal also ends it.
//!
//! All of this is safe, because a file is synced before the manifest names it. A signal that the
//! caller set to be ignored remains ignored: SIGHUP under `nohup`, SIGINT in the background of a
//! script.

use lookalike_base::{Stop, process};
use lookalike_store::disk;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether a pager shows the result.
static PAGED: AtomicBool = AtomicBool::new(false);

/// From here on an interrupt from the keyboard does not stop the command. The pager also gets it,
/// and uses it to stop a search.
pub(crate) fn leave_interrupts_to_the_pager() {
    PAGED.store(true, Ordering::Relaxed);
}

/// Watches for signals in a separate thread, which ends with the process. If the thread cannot be
/// started, a signal ends the process at once.
pub fn watch(stop: &Stop) {
    let ignored = ignored();
    let all = [SIGHUP, SIGINT, SIGTERM].into_iter();
    let wanted = all.filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let Ok(mut signals) = Signals::new(wanted) else {
        return;
    };
    let stop = stop.clone();
    let handle = signals.handle();
    let thread = std::thread::Builder::new().spawn(move || {
        for signal in signals.forever() {
            if signal == SIGINT && PAGED.load(Ordering::Relaxed) {
                continue;
            }
            if stop.requested() {
                std::process::exit(super::INTERRUPTED.into());
            }
            stop.request();
            // Printed even with --quiet: the next safe point may be far away.
            super::tell("stopping at the next safe point; a second signal stops at once");
            end_waits();
        }
    });
    if thread.is_err() {
        // Without the thread nothing handles the signals, so restore their default action.
        handle.close();
    }
}

/// How long a call may wait after a request to stop: a call that is only slow ends before.
const PATIENCE: Duration = Duration::from_millis(200);

/// From here on, the process ends as soon as it only waits for another process.
fn end_waits() {
    let end = || {
        let mut before = None;
        loop {
            let waits = disk::waiting();
            if waits.is_some() && waits == before {
                super::tell("stopped while waiting for another process");
                std::process::exit(super::INTERRUPTED.into());
            }
            before = waits;
            std::thread::sleep(PATIENCE);
        }
    };
    // Without the thread, a second signal ends the process.
    let _ = std::thread::Builder::new().spawn(end);
}

/// Ends the process when standard input ends. The parent keeps standard input open while it lives,
/// so its directory becomes free however the parent ends.
pub fn end_with_parent() {
    // If the thread cannot be started, the process runs to its end and keeps the directory in use.
    let _ = std::thread::Builder::new().spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        std::process::exit(super::INTERRUPTED.into());
    });
}

/// The signals that this process has ignored from its start, one bit for each.
fn ignored() -> u64 {
    let status = process::kernel_says("/proc/self/status");
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
