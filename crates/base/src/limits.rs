//! The limits of the operating system for this process: memory, address space, open files, threads.
//!
//! If an allocation fails, Rust aborts the process. If the process exceeds the memory limit of its
//! control group, the kernel kills it. So the program compares the needs of the budget with the
//! limits before the work begins. If a limit is too low, it refuses to start and names the least
//! limit that is enough.
//!
//! # In and out
//! In: `/proc/self/limits`, `/proc/self/cgroup` and the files of the memory controller (versions 1
//! and 2, at their usual mount points), `/proc/meminfo`. A missing file counts as no limit.
//!
//! # Invariants
//! - The least limit that a refusal names is enough: under it, the same command is not refused for
//!   the same limit.
//!
//! # What is not checked
//! This check ignores the memory that other processes of the same control group take.

use std::path::{Path, PathBuf};
use std::thread;

use crate::budget::{BEYOND_BUDGET, Budget, ByteSize};
use crate::numbers::counted;
use crate::process::after;
use crate::resource::Resource;
use crate::{Error, Result, process};

/// Address space of a thread's stack, at the default size of Rust, and of its guard page.
const STACK_BYTES: u64 = (2 << 20) + (4 << 10);
/// Address space that the allocator of glibc reserves for each thread's arena. Little of it is
/// memory.
const ARENA_BYTES: u64 = 64 << 20;
/// Threads in addition to `--threads`: the main thread, a reader, the thread that waits for
/// signals.
const OTHER_THREADS: u64 = 3;
/// Open files of a command in addition to the files of its threads and of a merge: standard
/// streams, the locks of a trial and of its collection, the manifest, an input, three parts, a
/// directory being synced.
const OTHER_FILES: u64 = 16;
/// Open files of a thread: the part it reads and the part it writes.
const FILES_OF_A_THREAD: u64 = 2;
/// The least number of runs that a merge must have open.
const LEAST_RUNS: u64 = 2;
/// Mappings other than parts: code, heaps, stacks.
const OTHER_MAPPINGS: u64 = 1 << 10;
/// Bounds of the default of `--memory`, if no limit is lower.
const DEFAULT_MEMORY: (ByteSize, ByteSize) = (ByteSize::mib(256), ByteSize::mib(4096));

/// Refuses a budget that exceeds the limits of this process.
///
/// # Errors
/// `Other` with the least limit that is enough.
pub fn check(budget: &Budget) -> Result<()> {
    let threads = budget.threads as u64;
    // Nobody gives a budget of nothing: it is the default if the limits leave no room for one.
    let (memory, whose) = match budget.memory {
        ByteSize(0) => (DEFAULT_MEMORY.0, ", the least default,"),
        given => (given, ""),
    };
    let what = || {
        let threads = counted(threads, "thread");
        format!("--memory {}{whose} with {threads}", memory.exact())
    };
    let (given, open) = (descriptors(), process::open_files());
    let least = open + OTHER_FILES + threads * FILES_OF_A_THREAD + LEAST_RUNS;
    if given < least {
        let instead = threads_within(given, open);
        return too_low(Resource::OpenFiles, [given, least], what(), instead);
    }
    for (of, given, beyond) in of_memory(threads) {
        let least = memory.0.saturating_add(beyond);
        if given < least {
            let instead = ByteSize(given.saturating_sub(beyond) >> 20 << 20);
            let instead = (instead.0 > 0).then(|| format!("--memory {} or less", instead.exact()));
            return too_low(of, [given, ByteSize(least).round_up().0], what(), instead);
        }
    }
    let wanted = budget.threads + 1;
    let given = startable(wanted);
    if given < wanted {
        let instead = (given > 1).then(|| format!("--threads {}", given - 1));
        let counts = [given as u64, wanted as u64];
        return too_low(Resource::Threads, counts, what(), instead);
    }
    Ok(())
}

/// The default of `--memory`: a quarter of the available memory, within bounds, and not more than
/// the limits of this process allow. It leaves half of the address space to mapped files.
pub fn default_memory(threads: usize) -> ByteSize {
    let (least, most) = DEFAULT_MEMORY;
    let mut most_allowed = u64::MAX;
    let mut available = process::stated("/proc/meminfo", "MemAvailable:").unwrap_or(least.0);
    for (of, given, beyond) in of_memory(threads as u64) {
        let left = given.saturating_sub(beyond);
        let share = match of {
            Resource::AddressSpace => left / 2,
            _ => left,
        };
        most_allowed = most_allowed.min(share);
        available = available.min(given);
    }
    let wanted = ByteSize(available / 4).clamp(least, most);
    ByteSize(wanted.0.min(most_allowed) >> 20 << 20)
}

/// Refuses to map files of `bytes` in total if the limit of address space or of mappings is too
/// low.
///
/// # Errors
/// `Other` with a limit that is enough.
pub fn room_for_mappings(files: usize, bytes: u64, what: impl Fn() -> String) -> Result<()> {
    if let Some(given) = soft("Max address space") {
        let mapped = process::stated("/proc/self/status", "VmSize:");
        // The address space must also hold the memory that is not allocated yet.
        let least = mapped.unwrap_or(0) + bytes + BEYOND_BUDGET.0;
        if given < least {
            // This leaves room for allocations and mappings between this check and the next.
            let least = ByteSize(least + BEYOND_BUDGET.0).round_up().0;
            return too_low(Resource::AddressSpace, [given, least], what(), None);
        }
    }
    let most = process::kernel_says("/proc/sys/vm/max_map_count");
    let given = most.trim().parse::<u64>().unwrap_or(u64::MAX);
    let least = files as u64 + OTHER_MAPPINGS;
    if given < least {
        let instead = Some("a larger --segment-size in a new directory".into());
        return too_low(Resource::Mappings, [given, least], what(), instead);
    }
    Ok(())
}

/// Refuses a limit. `instead` names a command that is possible under it.
fn too_low(
    of: Resource,
    [given, least]: [u64; 2],
    what: String,
    instead: Option<String>,
) -> Result<()> {
    let [given, enough] = [given, least].map(|n| of.amount(n));
    let message = format!("the limit of {of} is {given}; {what} needs at least {enough}");
    let instead = instead.map_or(String::new(), |instead| format!(", or give {instead}"));
    Err(Error::other(message, of.remedy(least) + &instead))
}

/// The number of files that can still be opened, after those that each of `threads` threads has
/// open.
pub fn files_left(threads: u64) -> u64 {
    let taken = process::open_files() + OTHER_FILES + threads * FILES_OF_A_THREAD;
    descriptors().saturating_sub(taken)
}

/// The most threads in addition to `--threads` that a command may start for a moment, to wait for
/// the disk.
const WAITING_THREADS: usize = 15;

/// How many threads may be started that only wait. Each takes address space that [`check`] does not
/// count.
#[must_use]
pub fn waiting_threads() -> usize {
    match soft("Max address space") {
        Some(_) => 0,
        None => WAITING_THREADS,
    }
}

/// A lower number of threads for which this limit of files is enough.
fn threads_within(files: u64, open: u64) -> Option<String> {
    let left = files.checked_sub(open + OTHER_FILES + LEAST_RUNS)?;
    let threads = left / FILES_OF_A_THREAD;
    (threads > 0).then(|| format!("--threads {threads}"))
}

/// Each limit of memory, with the amount that the process takes of it beyond the budget.
fn of_memory(threads: u64) -> impl Iterator<Item = (Resource, u64, u64)> {
    let stacks = (threads + OTHER_THREADS) * STACK_BYTES;
    let arenas = (threads + OTHER_THREADS) * ARENA_BYTES;
    let beyond = BEYOND_BUDGET.0;
    let limits = [
        (
            Resource::AddressSpace,
            soft("Max address space"),
            beyond + stacks + arenas,
        ),
        (Resource::Data, soft("Max data size"), beyond + stacks),
        (
            Resource::ControlGroup,
            control_group(Path::new("/sys/fs/cgroup")),
            beyond,
        ),
    ];
    limits
        .into_iter()
        .filter_map(|(of, given, beyond)| Some((of, given?, beyond)))
}

/// A soft limit; `None` without a limit.
fn soft(name: &str) -> Option<u64> {
    after(&process::kernel_says("/proc/self/limits"), name)?
        .parse()
        .ok()
}

/// The soft limit of open files.
fn descriptors() -> u64 {
    match after(&process::kernel_says("/proc/self/limits"), "Max open files") {
        Some("unlimited") => u64::MAX,
        // POSIX guarantees 20. Systems that do not report their limit here allow more.
        limit => limit.and_then(|limit| limit.parse().ok()).unwrap_or(256),
    }
}

/// How many of `wanted` threads can run at once.
fn startable(wanted: usize) -> usize {
    let (hold, wait) = crossbeam_channel::bounded::<()>(0);
    thread::scope(|scope| {
        let started = (0..wanted).take_while(|_| {
            let wait = wait.clone();
            let thread = thread::Builder::new();
            let started = thread.spawn_scoped(scope, move || {
                let _ = wait.recv();
            });
            started.is_ok()
        });
        let started = started.count();
        drop(hold);
        started
    })
}

/// The least memory limit of this process's control group and those above it.
fn control_group(mount: &Path) -> Option<u64> {
    let groups = process::kernel_says("/proc/self/cgroup");
    control_group_of(mount, &groups)
}

/// As [`control_group`], for a list of groups in the format of `/proc/self/cgroup`:
/// `number:controllers:path`.
fn control_group_of(mount: &Path, groups: &str) -> Option<u64> {
    let mut least = None;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        let (places, file): (&[&str], _) = if controllers.is_empty() {
            (&["", "unified"], "memory.max")
        } else if controllers.split(',').any(|name| name == "memory") {
            (&["memory"], "memory.limit_in_bytes")
        } else {
            continue;
        };
        for place in places {
            let root = mount.join(place);
            // In a container the path can be a path of the host, which is not visible. The limit of
            // the container is then at the root.
            for directory in Path::new(path.trim_start_matches('/')).ancestors() {
                let limit = limit_in(&root.join(directory).join(file));
                least = least.into_iter().chain(limit).min();
            }
        }
    }
    least
}

fn limit_in(file: &PathBuf) -> Option<u64> {
    let limit: u64 = process::kernel_says(file).trim().parse().ok()?;
    // Version 1 writes the largest number of whole pages if there is no limit.
    (limit < 1 << 62).then_some(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_groups_of_both_versions() {
        let mount = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = mount.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let of = |groups: &str| control_group_of(mount.path(), groups);
        put("memory/memory.limit_in_bytes", "9223372036854771712\n");
        put("memory/a/memory.limit_in_bytes", "3000\n");
        put("memory/a/b/memory.limit_in_bytes", "4000\n");
        // The parent group has the lower limit. Groups of other controllers do not count.
        assert_eq!(of("4:memory:/a/b\n3:cpu:/a\n"), Some(3000));
        assert_eq!(of("4:cpu,memory:/a\n"), Some(3000));
        assert_eq!(of("4:memory:/\n"), None);
        assert_eq!(of("3:cpu:/a\n"), None);
        // The path of the host is not visible here, so the root's limit counts.
        put("memory/memory.limit_in_bytes", "5000\n");
        assert_eq!(of("4:memory:/docker/0123\n"), Some(5000));
        put("x.slice/memory.max", "7000\n");
        put("x.slice/y.service/memory.max", "max\n");
        put("unified/z/memory.max", "6000\n");
        assert_eq!(of("0::/x.slice/y.service\n"), Some(7000));
        assert_eq!(of("0::/z\n"), Some(6000));
        assert_eq!(of("garbage\n0:\n"), None);
    }

    #[test]
    fn threads_are_counted_as_they_start() {
        assert_eq!(startable(3), 3);
    }

    #[test]
    fn words_after_names() {
        let text =
            "Max open files            1024   4096   files\nMax address space  unlimited x\n";
        assert_eq!(after(text, "Max open files"), Some("1024"));
        assert_eq!(after(text, "Max address space"), Some("unlimited"));
        assert_eq!(after(text, "Max data size"), None);
    }
}
