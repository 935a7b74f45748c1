//! What the kernel says of this process. Zeros where it does not say.

use crate::store::disk;

/// CPU seconds, user and system, of all threads so far.
#[must_use]
pub fn cpu_seconds() -> f64 {
    // Fields 14 and 15 of stat, counted after the name in parentheses, in hundredths of a second:
    // USER_HZ is 100 on every Linux.
    let stat = disk::kernel_says("/proc/self/stat");
    let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
    let ticks = after
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|n| n.parse::<u64>().ok());
    ticks.sum::<u64>() as f64 / 100.0
}

/// Peak resident bytes since the process started. (The kernel could be told to begin anew for each
/// stage, but then `/usr/bin/time` and everybody else who asks it would be told less, too.)
#[must_use]
pub fn peak_bytes() -> u64 {
    let status = disk::kernel_says("/proc/self/status");
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}
