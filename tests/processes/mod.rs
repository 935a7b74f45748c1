//! What goes wrong goes wrong well, where it takes a process of its own: signals, kills, power
//! cuts, panics, full disks, limits of the operating system, inputs made to do harm.

mod conversions;
mod full_disk;
mod hostile;
mod killed;
mod limits;
mod outputs;
#[cfg(feature = "faults")]
mod panics;
#[cfg(feature = "faults")]
mod signals;
#[cfg(feature = "faults")]
mod torture;

/// Lets the programs that a test starts receive SIGHUP, SIGINT and SIGTERM, even if this process
/// was started by `nohup` or in the background of a script and ignores them. A child inherits a
/// signal that is ignored; one that is caught has its default action in the child.
#[cfg(target_os = "linux")]
fn children_receive_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use std::sync::atomic::AtomicBool;

    static ONCE: std::sync::Once = std::sync::Once::new();
    // Nobody looks at it: the signals stay without effect here.
    static CAUGHT: AtomicBool = AtomicBool::new(false);
    ONCE.call_once(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = u64::from_str_radix(mask.unwrap().trim(), 16).unwrap();
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            if ignored & (1 << (signal - 1)) != 0 {
                signal_hook::flag::register(signal, &CAUGHT).unwrap();
            }
        }
    });
}
