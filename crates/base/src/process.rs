//! Resource usage of this process, as the kernel reports it (zero if it does not), and how much
//! freed memory the process keeps.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::SystemTime;

/// CPU seconds (user and system) of all threads so far.
#[must_use]
pub fn cpu_seconds() -> f64 {
    // Fields 14 and 15 of stat, counted after the name in parentheses, in hundredths of a second:
    // USER_HZ is 100 on every Linux.
    let stat = kernel_says("/proc/self/stat");
    let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
    let ticks = after
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|n| n.parse::<u64>().ok());
    ticks.sum::<u64>() as f64 / 100.0
}

/// Peak resident bytes since the process started. The program does not reset the peak for each
/// stage, because `/usr/bin/time` and other tools would then also see a lower peak.
#[must_use]
pub fn peak_bytes() -> u64 {
    stated("/proc/self/status", "VmHWM:").unwrap_or(0)
}

/// The word after a name at the beginning of a line.
pub(crate) fn after<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()
}

/// Returns, in bytes, the number of KiB that a file of the kernel states after this name.
pub(crate) fn stated(path: &str, name: &str) -> Option<u64> {
    let kib: u64 = after(&kernel_says(path), name)?.parse().ok()?;
    Some(kib << 10)
}

/// Lets the allocator return freed memory to the kernel. The allocator of glibc keeps up to 64 MiB
/// for each thread that has freed buffers of some MiB, and no budget covers this memory
/// (`docs/experiments.md`). With another allocator, it does nothing.
#[allow(unsafe_code)] // see `docs/unsafe.md`
pub fn return_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (parameter, bytes) in [
        (libc::M_TRIM_THRESHOLD, KEPT_BYTES),
        (libc::M_MMAP_THRESHOLD, 2 * KEPT_BYTES),
    ] {
        // SAFETY: `mallopt` takes two numbers, and takes the lock of the allocator before it sets a
        // parameter. These two parameters decide when memory returns to the kernel, not how it is
        // used.
        let _ = unsafe { libc::mallopt(parameter, bytes) };
    }
}

/// Bytes for counters that are reached in no order. Most of their time is spent on finding the pages
/// of the memory (`docs/experiments.md`), so the kernel is asked for large pages. Small ones serve
/// where it has none.
#[allow(unsafe_code)] // see `docs/unsafe.md`
pub fn counters_in_large_pages(count: usize) -> Vec<AtomicU8> {
    let mut counters = Vec::with_capacity(count);
    #[cfg(target_os = "linux")]
    {
        let place = counters.as_mut_ptr() as *mut libc::c_void;
        let before = place.align_offset(PAGE_BYTES);
        // SAFETY: the advice is about pages that begin within the memory of this vector. It changes
        // no byte of them, and the kernel refuses a range that is not its own.
        if let Some(bytes) = count.checked_sub(before) {
            let _ = unsafe { libc::madvise(place.byte_add(before), bytes, libc::MADV_HUGEPAGE) };
        }
    }
    counters.extend((0..count).map(|_| AtomicU8::new(0)));
    counters
}

/// The kernel takes advice only about memory that begins with a page. No Linux uses larger pages than
/// this for all memory (64 KiB on some ARM machines).
#[cfg(target_os = "linux")]
const PAGE_BYTES: usize = 64 << 10;

/// Whether standard output was closed when the process started. Rust's runtime opens `/dev/null` in
/// its place before `main`, and then nothing tells it from one that the user chose. Known only
/// where there is the C library of GNU.
pub fn stdout_was_closed() -> bool {
    STDOUT_WAS_CLOSED.load(Ordering::Relaxed)
}

static STDOUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Looks at standard output. It runs before the runtime of Rust.
#[allow(unsafe_code)] // see `docs/unsafe.md`
#[cfg(all(target_os = "linux", target_env = "gnu"))]
extern "C" fn look_at_stdout() {
    // SAFETY: this call only asks for flags, and fails if the descriptor is closed.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    STDOUT_WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
}

// SAFETY: the C library calls the functions in this section before `main`, on one thread. It passes
// arguments, which a function without parameters ignores. This one makes one call of the system and
// stores a flag: it cannot panic, and needs nothing that the runtime of Rust prepares.
#[allow(unsafe_code)] // see `docs/unsafe.md`
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = look_at_stdout;

/// How many freed bytes the allocator keeps at the end of a thread's memory. It maps each buffer of
/// at least twice this size, and unmaps it when it is freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_BYTES: libc::c_int = 4 << 20;

/// Seconds since the beginning of 1970 in UTC; 0 before it.
pub fn seconds_since_1970() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Bytes of mapped files that are in memory.
pub fn mapped_bytes() -> u64 {
    stated("/proc/self/status", "RssFile:").unwrap_or(0)
}

/// The content of a file of `/proc` or `/sys`; empty if there is no such file.
pub fn kernel_says(path: impl AsRef<std::path::Path>) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Number of files that this process has open; 3 if the system does not report it.
pub(crate) fn open_files() -> u64 {
    // The listing itself has one file open.
    std::fs::read_dir("/proc/self/fd").map_or(3, |open| open.count().saturating_sub(1) as u64)
}
