//! Signals that ask for an end: the first stops at the next safe point, the second at once.
//!
//! Both are safe: what a manifest names was synced before it. A signal that whoever started the command has it
//! ignore stays ignored: SIGHUP under `nohup`, SIGINT in the background of a script.

use lookalike::process;
use lookalike::progress::Stop;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Watches for signals in a thread of its own, which ends with the process. Where none can be had a signal
/// ends the process at once.
pub fn watch(stop: &Stop) {
    let ignored = ignored();
    let wanted = [SIGHUP, SIGINT, SIGTERM];
    let wanted = wanted
        .into_iter()
        .filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let Ok(mut signals) = Signals::new(wanted) else {
        return;
    };
    let stop = stop.clone();
    let handle = signals.handle();
    let thread = std::thread::Builder::new().spawn(move || {
        for _ in signals.forever() {
            if stop.requested() {
                std::process::exit(super::INTERRUPTED.into());
            }
            stop.request();
            // Said with --quiet, too: the next safe point may be far.
            super::tell("stopping at the next safe point; once more stops at once");
        }
    });
    if thread.is_err() {
        // Nobody would hear them: back to what they do by themselves.
        handle.close();
    }
}

/// Ends the process when standard input does, which a parent that lives holds open: however the parent ends, its
/// directory is free again.
pub fn end_with_parent() {
    // Without a thread it goes on to its end, and the directory is in use until then.
    let _ = std::thread::Builder::new().spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        std::process::exit(super::INTERRUPTED.into());
    });
}

/// The signals that this process was started to ignore, a bit for each.
fn ignored() -> u64 {
    let status = process::kernel_says("/proc/self/status");
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
