//! Deliberate failures at chosen places, such as disks, kernels and power supplies cause.
//!
//! Compiled only with the feature `faults`, for tests. Every operation of [`super`] passes through
//! [`doing`] or [`limit`], like every [`point`] of the stages. A [`Fault`] selects operations and
//! says what happens there. Faults are armed for the files below one directory ([`arm`]), so that
//! the tests of one process do not affect each other. A text can arm them for the whole process
//! ([`arm_process`]), which is how a test configures a program that it starts.
//!
//! # The journal of a power loss
//! A process that is killed loses nothing that it has written, because the kernel still has it. A
//! machine that stops may lose any data that was not synced. With `journal=DIR`, [`arm_process`]
//! records enough to reconstruct such a loss: a line for every creation, write, sync, renaming and
//! removal, and a second name for every file, so that replaced and removed files can come back.
//! From these, `tests/processes/torture` builds a directory as it could be on the disk after the
//! loss.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use super::Op;
use lookalike_base::lock;

/// The effect of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Do {
    /// The operation is not performed. It returns this error number (`EIO` is 5).
    Fail(i32),
    /// A read or write transfers only this number of bytes, at least one.
    Short(usize),
    /// The process is killed before the operation.
    Kill,
    /// The process is killed after the operation.
    KillAfter,
    /// The thread panics.
    Panic,
    /// The thread sleeps for this number of milliseconds.
    Sleep(u64),
    /// The thread creates this file and waits until it is removed. The test then knows that the
    /// thread is there and can take its time. The wait ends after a minute, so that a failed test
    /// leaves nothing running.
    Hold(&'static Path),
    /// No operation is affected. The buffers of sorts have room for this number of items only, and
    /// this number of complete files waits for names.
    Items(usize),
}

/// A failure: its place and its effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Only operations of this kind; all kinds if `None`.
    pub op: Option<Op>,
    /// Only operations that change the content of the disk.
    pub changes: bool,
    /// Only paths (or points) that contain this text.
    pub on: String,
    /// Whether the path must end with the text instead.
    pub ends: bool,
    /// The first matching operation that fails, counted from 1.
    pub nth: u64,
    /// The number of consecutive matching operations that fail.
    pub times: u64,
    /// The effect.
    pub what: Do,
}

impl Fault {
    /// A fault that happens once, at the `nth` operation of a kind.
    pub fn at(op: Op, nth: u64, what: Do) -> Fault {
        Fault {
            op: Some(op),
            changes: false,
            on: String::new(),
            ends: false,
            nth,
            times: 1,
            what,
        }
    }

    fn meets(&self, op: Op, path: &Path) -> bool {
        let path = path.to_string_lossy();
        !matches!(self.what, Do::Items(_))
            && self.op.is_none_or(|own| own == op)
            && (!self.changes || op.changes())
            && match self.ends {
                true => path.ends_with(&self.on),
                false => path.contains(&self.on),
            }
    }
}

/// Errors by name.
const ERRORS: [(&str, i32); 9] = [
    ("EPERM", 1),
    ("EINTR", 4),
    ("EIO", 5),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EMFILE", 24),
    ("ENOSPC", 28),
    ("EROFS", 30),
    ("EDQUOT", 122),
];

/// The number of an error, by its name.
pub fn errno(name: &str) -> Option<i32> {
    ERRORS.iter().find(|e| e.0 == name).map(|e| e.1)
}

/// The faults for the files below a directory, and the operations that they affected.
struct FaultPlan {
    scope: PathBuf,
    faults: Vec<(Fault, AtomicU64)>,
    trace: Option<Mutex<Vec<(Op, PathBuf)>>>,
    met: AtomicU64,
}

static ARMED: AtomicBool = AtomicBool::new(false);
static PLANS: RwLock<Vec<Arc<FaultPlan>>> = RwLock::new(Vec::new());
static JOURNAL: Mutex<Option<Journal>> = Mutex::new(None);
static JOURNALLED: AtomicBool = AtomicBool::new(false);

/// Keeps faults armed until it is dropped.
pub struct Armed(Arc<FaultPlan>);

impl Armed {
    /// The number of operations that a fault affected.
    pub fn met(&self) -> u64 {
        self.0.met.load(Ordering::SeqCst)
    }

    /// Every operation so far, in order, if a trace was requested.
    pub fn trace(&self) -> Vec<(Op, PathBuf)> {
        self.0
            .trace
            .as_ref()
            .map_or_else(Vec::new, |trace| lock(trace).clone())
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        let mut plans = PLANS.write().unwrap_or_else(PoisonError::into_inner);
        plans.retain(|plan| !Arc::ptr_eq(plan, &self.0));
        ARMED.store(!plans.is_empty(), Ordering::SeqCst);
    }
}

/// Arms faults for the files below `scope`. With `trace`, records all operations on them.
pub fn arm(scope: &Path, faults: Vec<Fault>, trace: bool) -> Armed {
    let plan = Arc::new(FaultPlan {
        scope: scope.to_path_buf(),
        faults: faults.into_iter().map(|f| (f, AtomicU64::new(0))).collect(),
        trace: trace.then(|| Mutex::new(Vec::new())),
        met: AtomicU64::new(0),
    });
    let mut plans = PLANS.write().unwrap_or_else(PoisonError::into_inner);
    plans.push(Arc::clone(&plan));
    ARMED.store(true, Ordering::SeqCst);
    Armed(plan)
}

/// Arms the faults that a text describes for the lifetime of the process.
///
/// Faults are separated by `;`. Each has some of these words:
/// `op=write on=manifest changes=1 nth=3 times=2 do=EIO`.
/// A `+` in `on` stands for a space. `do` is the name of an error, `short:N`, `kill`,
/// `kill-after`, `panic`, `sleep:MS` or `hold:FILE`. `journal=DIR` writes the journal of a power
/// loss to `DIR`. `trace=FILE` writes a line for every operation. With `command=NAME`, nothing is
/// armed in a process that runs another command.
///
/// # Errors
/// A part of the text that cannot be parsed.
pub fn arm_process(text: &str) -> Result<(), String> {
    let mut faults = Vec::new();
    let (command, rest): (Vec<_>, Vec<_>) = text
        .split(';')
        .map(str::trim)
        .filter(|one| !one.is_empty())
        .partition(|one| one.starts_with("command="));
    let this = std::env::args().nth(1).unwrap_or_default();
    if command.iter().any(|one| *one != format!("command={this}")) {
        return Ok(());
    }
    for one in rest {
        let mut fault = Fault {
            op: None,
            ..Fault::at(Op::Point, 1, Do::Kill)
        };
        let mut is_fault = true;
        for word in one.split_whitespace() {
            let (name, value) = word.split_once('=').ok_or_else(|| word.to_string())?;
            let number = || value.parse::<u64>().map_err(|_| word.to_string());
            match name {
                "op" => fault.op = Some(Op::named(value).ok_or_else(|| word.to_string())?),
                "on" => fault.on = value.replace('+', " "),
                "changes" => fault.changes = number()? == 1,
                "nth" => fault.nth = number()?,
                "times" => fault.times = number()?,
                "do" => fault.what = what(value).ok_or_else(|| word.to_string())?,
                "journal" | "trace" => {
                    is_fault = false;
                    let journal = Journal::open(Path::new(value), name == "journal");
                    *lock(&JOURNAL) = Some(journal.map_err(|e| format!("{word}: {e}"))?);
                    JOURNALLED.store(true, Ordering::SeqCst);
                }
                _ => return Err(word.to_string()),
            }
        }
        if is_fault {
            faults.push(fault);
        }
    }
    // Leaked on purpose: these faults are never disarmed.
    std::mem::forget(arm(Path::new(""), faults, false));
    Ok(())
}

fn what(text: &str) -> Option<Do> {
    let number = |prefix: &str| text.strip_prefix(prefix)?.parse::<u64>().ok();
    Some(match text {
        "kill" => Do::Kill,
        "kill-after" => Do::KillAfter,
        "panic" => Do::Panic,
        _ if text.starts_with("hold:") => {
            // Leaked on purpose, because these faults last as long as the process.
            let file = PathBuf::from(text.trim_start_matches("hold:"));
            Do::Hold(Box::leak(file.into_boxed_path()))
        }
        _ => match (number("short:"), number("sleep:"), number("items:")) {
            (Some(bytes), ..) => Do::Short(bytes as usize),
            (_, Some(milliseconds), _) => Do::Sleep(milliseconds),
            (.., Some(items)) => Do::Items(items as usize),
            _ => Do::Fail(errno(text)?),
        },
    })
}

/// The effect at an operation, from the first matching fault.
fn met(op: Op, path: &Path) -> Option<Do> {
    if !ARMED.load(Ordering::Relaxed) {
        return None;
    }
    let plans = PLANS.read().unwrap_or_else(PoisonError::into_inner);
    let mut happens = None;
    for plan in plans.iter().filter(|plan| path.starts_with(&plan.scope)) {
        if let Some(trace) = &plan.trace {
            lock(trace).push((op, path.to_path_buf()));
        }
        for (fault, count) in plan.faults.iter().filter(|(f, _)| f.meets(op, path)) {
            let nth = count.fetch_add(1, Ordering::SeqCst) + 1;
            if nth >= fault.nth && nth - fault.nth < fault.times && happens.is_none() {
                plan.met.fetch_add(1, Ordering::SeqCst);
                happens = Some(fault.what);
            }
        }
    }
    happens
}

/// Ends the process as `kill -9` does.
fn kill() -> ! {
    let own = rustix::process::getpid();
    let _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
    loop {
        std::thread::park();
    }
}

#[expect(clippy::panic, reason = "it is what was asked for")]
fn panic(op: Op, path: &Path) -> ! {
    panic!("a fault: {op:?} {}", path.display())
}

/// The longest time that a thread is held.
const MOST_HELD: Duration = Duration::from_secs(60);
/// Name of the lock file of an output directory.
const LOCK: &str = "lock";
/// Interval between two checks whether a held thread may continue.
const LOOK: Duration = Duration::from_millis(2);

/// Creates a file and waits until it is removed.
fn hold(file: &Path) {
    let began = Instant::now();
    if fs::write(file, "").is_ok() {
        while file.exists() && began.elapsed() < MOST_HELD {
            std::thread::sleep(LOOK);
        }
    }
}

/// The effect of a fault as far as it comes before the operation. Returns it, for what comes after.
fn before(op: Op, path: &Path) -> io::Result<Option<Do>> {
    let happens = met(op, path);
    match happens {
        Some(Do::Fail(errno)) => {
            if op == Op::Sync {
                lost(path);
            }
            return Err(io::Error::from_raw_os_error(errno));
        }
        Some(Do::Kill) => kill(),
        Some(Do::Panic) => panic(op, path),
        Some(Do::Sleep(milliseconds)) => std::thread::sleep(Duration::from_millis(milliseconds)),
        Some(Do::Hold(file)) => hold(file),
        Some(Do::KillAfter | Do::Short(_) | Do::Items(_)) | None => {}
    }
    Ok(happens)
}

/// Performs an operation, or the effect of a fault.
pub(super) fn doing<T>(
    op: Op,
    path: &Path,
    to: Option<&Path>,
    act: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    let happens = before(op, path)?;
    let done = if JOURNALLED.load(Ordering::Relaxed) && op.changes() {
        // Only one thread at a time, so that the journal has the operations in their true order.
        let mut journal = lock(&JOURNAL);
        if let Some(journal) = journal.as_mut() {
            journal.before(op, path, to);
        }
        let done = act();
        if let (Some(journal), Ok(_)) = (journal.as_mut(), &done) {
            journal.after(op, path);
        }
        done
    } else {
        act()
    };
    if happens == Some(Do::KillAfter) {
        kill();
    }
    done
}

/// The number of `bytes` that a read or write may transfer.
pub(super) fn limit(op: Op, path: &Path, bytes: usize) -> io::Result<usize> {
    let bytes = match before(op, path)? {
        Some(Do::Short(most)) => bytes.min(most.max(1)),
        Some(Do::KillAfter) => kill(),
        _ => bytes,
    };
    if op == Op::Write
        && JOURNALLED.load(Ordering::Relaxed)
        && let Some(journal) = lock(&JOURNAL).as_mut()
    {
        journal.line(&format!("write\t{}\t{bytes}", path.display()));
    }
    Ok(bytes)
}

/// The number of `items` that a buffer of a sort, or a batch of files, in this directory may have.
pub fn buffer(directory: &Path, items: usize) -> usize {
    if !ARMED.load(Ordering::Relaxed) {
        return items;
    }
    let plans = PLANS.read().unwrap_or_else(PoisonError::into_inner);
    let plans = plans
        .iter()
        .filter(|plan| directory.starts_with(&plan.scope));
    let faults = plans.flat_map(|plan| &plan.faults);
    let limits = faults.filter_map(|(fault, _)| match fault.what {
        Do::Items(items) => Some(items.max(1)),
        _ => None,
    });
    limits.min().map_or(items, |limit| limit.min(items))
}

/// A named point in a stage.
pub fn point(name: &'static str) {
    if let Ok(Some(Do::KillAfter)) = before(Op::Point, Path::new(name)) {
        kill();
    }
    if JOURNALLED.load(Ordering::Relaxed)
        && let Some(journal) = lock(&JOURNAL).as_mut()
    {
        journal.line(&format!("point\t{name}"));
    }
}

/// Simulates a failed sync. The kernel has dropped the pages and reports success afterwards: the
/// file keeps its size but loses its content.
fn lost(path: &Path) {
    let Ok(metadata) = fs::metadata(path) else {
        return;
    };
    if metadata.is_file()
        && let Ok(file) = fs::OpenOptions::new().write(true).open(path)
    {
        let _ = file.set_len(0);
        let _ = file.set_len(metadata.len());
    }
}

/// The lines for the operations, and second names for their files.
struct Journal {
    lines: fs::File,
    /// The directory and the number of the second names; `None` for a plain trace.
    names: Option<(PathBuf, u64)>,
    /// Number of each file's second name, by path, for debugging.
    files: BTreeMap<PathBuf, u64>,
}

impl Journal {
    fn open(path: &Path, names: bool) -> io::Result<Journal> {
        let lines = if names {
            fs::create_dir_all(path)?;
            path.join("journal")
        } else {
            path.to_path_buf()
        };
        let lines = fs::OpenOptions::new().append(true).create(true).open(lines);
        Ok(Journal {
            lines: lines?,
            names: names.then(|| (path.to_path_buf(), 0)),
            files: BTreeMap::new(),
        })
    }

    fn line(&mut self, line: &str) {
        // One write per line, so that a kill leaves no partial line. If the write fails, the test
        // notices.
        let _ = self.lines.write_all(format!("{line}\n").as_bytes());
    }

    fn before(&mut self, op: Op, path: &Path, to: Option<&Path>) {
        let to = to.map_or_else(String::new, |to| format!("\t{}", to.display()));
        self.line(&format!("{}\t{}{to}", op.text(), path.display()));
    }

    fn after(&mut self, op: Op, path: &Path) {
        match op {
            Op::Create => {
                // A lock file with a second name is refused. Its text does not matter.
                if let Some((directory, last)) = &mut self.names
                    && !path.ends_with(LOCK)
                {
                    *last += 1;
                    let name = format!("{}-{last}", std::process::id());
                    let linked = fs::hard_link(path, directory.join(&name)).is_ok();
                    self.files.insert(path.into(), *last);
                    if linked {
                        self.line(&format!("named\t{}\t{name}", path.display()));
                    }
                }
            }
            Op::Sync | Op::SyncDirectory => {
                self.line(&format!("{}-done\t{}", op.text(), path.display()));
            }
            _ => {}
        }
    }
}
