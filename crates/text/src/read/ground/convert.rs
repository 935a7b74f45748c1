//! Converts documents to text with a program of the user: `--convert 'pdf=pdftotext - -'`.
//!
//! # In and out
//! In: the bytes of a document, on the standard input of the program. Out: its standard output, as
//! plain text or markup in UTF-8; or a refusal with the first line of its standard error.
//!
//! # Algorithm
//! The command is split into words once, and no shell interprets them. Each document starts the
//! program anew, in a process group of its own. One thread feeds it and reads both outputs with `poll`, so
//! a program that reads nothing, prints without end or closes a pipe cannot block that thread.
//!
//! # Invariants
//! - No process of the group outlives the call. The group is killed before its leader is waited
//!   for, so its number cannot belong to another group.
//! - The limit on memory is set before the program starts. Programs of some languages reserve far
//!   more address space than they need, unless they find a limit when they start.
//! - A program runs, even for its version, only if the command that runs names it
//!   ([`Converter::check`]). A directory or plan that was received may name any program.
//! - After a stop, every conversion ends with a refusal. Callers check for a stop before they keep
//!   what they read.
//!
//! # Cost
//! Memory: the text, at most `--max-document`, which callers count like any body that
//! grows. The memory of the program itself is not part of `--memory`.
//!
//! # What is not guaranteed
//! - The limit on memory exists on Linux only.
//! - A process that leaves its group (`setsid`) is not killed.
//! - A program that prints something else next time, or that sometimes takes too long, makes other
//!   documents.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde::{Deserialize, Serialize};

use super::record::ContentKind;
use lookalike_base::{Stop, budget::ByteSize};
use lookalike_source::Reason;

/// The time in which a program has to print its version. Java programs take a second or two.
const VERSION_TIME: Duration = Duration::from_secs(10);

/// How long an answer is believed.
const FRESH: Duration = Duration::from_secs(60);

/// The versions of programs, by command, and when they were asked for.
static KNOWN: Mutex<BTreeMap<String, (Instant, Version)>> = Mutex::new(BTreeMap::new());

/// A version, if the program states one; or why it cannot be started.
type Version = Result<Option<String>, String>;

/// Bytes of standard error that are kept, and of its first line that a message states.
const ERROR_BYTES: usize = 4 << 10;
const LINE_BYTES: usize = 300;

/// Becomes a program with a limit on its address space, in KiB, which a child can only set for itself.
/// The limit is refused only if it is lower already.
const LIMITED: &str = r#"ulimit -v "$1" 2>/dev/null; shift; exec "$@""#;

/// How long a wait for output lasts before stop, time and exit are looked at again.
const WAIT: Duration = Duration::from_millis(50);

/// The program that converts one kind of document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Converter {
    /// An extension or a media type, in lower case.
    pub(crate) kind: String,
    /// Whether the program prints markup.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    html: bool,
    /// The command as it was given.
    command: String,
    /// The first line that the program prints for `--version` or `-v`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip)]
    named: Named,
}

/// Whether the command that runs names the program. No file says so, and no comparison. Clones
/// share it, so those of other threads know what one has checked.
#[derive(Clone, Debug, Default)]
struct Named(Arc<AtomicBool>);

impl Named {
    fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl PartialEq for Named {
    fn eq(&self, _: &Named) -> bool {
        true
    }
}

impl Eq for Named {}

impl fmt::Display for Converter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.given())?;
        match &self.version {
            Some(version) => write!(f, " ({version})"),
            None => Ok(()),
        }
    }
}

/// Reads `KIND=COMMAND` or `KIND:html=COMMAND`, and starts the program for its version, so a program
/// that does not exist is an error here.
impl FromStr for Converter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| {
            format!("`{text}` {what}; write KIND=COMMAND, such as 'pdf=pdftotext -enc UTF-8 - -'")
        };
        let (kind, command) = text.split_once('=').ok_or_else(|| wrong("has no `=`"))?;
        let kind = kind.to_ascii_lowercase();
        let (kind, html) = match kind.strip_suffix(":html") {
            Some(kind) => (kind, true),
            None => (&*kind, false),
        };
        let kind = kind.strip_prefix('.').unwrap_or(kind);
        let odd = |c: char| c.is_whitespace() || c.is_control() || ";:,\\".contains(c);
        if kind.is_empty() || kind.contains(odd) || (kind.contains('.') && !kind.contains('/')) {
            return Err(wrong("does not begin with an extension or a media type"));
        }
        let mut converter = Converter {
            kind: kind.into(),
            html,
            command: command.into(),
            version: None,
            named: Named(Arc::new(AtomicBool::new(true))),
        };
        if converter.words().is_empty() {
            return Err(wrong("has no command, or a quote that is not closed"));
        }
        converter.version = converter.look_up()?;
        Ok(converter)
    }
}

/// The flags for the programs that neither `named` nor the command so far names.
pub(crate) fn unnamed<'c>(all: impl Iterator<Item = &'c Converter>, named: &[String]) -> String {
    let unnamed = all.filter(|of| !of.is_named(named));
    unnamed.map(Converter::flag).collect::<Vec<_>>().join(" ")
}

/// Refuses programs that a command does not name, or as [`Converter::check`].
pub(crate) fn check<'c>(
    mut all: impl Iterator<Item = &'c Converter> + Clone,
    named: &[String],
) -> lookalike_base::Result<()> {
    let unnamed = unnamed(all.clone(), named);
    if !unnamed.is_empty() {
        let limit = format!(
            "documents were read with a program, which runs only if this command names it too; if \
             you know it, give {unnamed}"
        );
        return lookalike_base::error::refuse("convert", "", limit);
    }
    all.try_for_each(Converter::check)
}

impl Converter {
    /// Whether it converts files with this name. The extension of a compression is ignored.
    pub(crate) fn is_for_file(&self, name: &str) -> bool {
        extension(name).is_some_and(|extension| extension == self.kind)
    }

    /// Whether it converts records of this media type, in lower case. `pdf` also stands for
    /// `application/pdf`.
    pub(crate) fn is_for_type(&self, mime: &str) -> bool {
        mime == self.kind || mime.strip_prefix("application/") == Some(&self.kind)
    }

    /// The program as a command names it.
    pub fn given(&self) -> String {
        let html = if self.html { ":html" } else { "" };
        format!("{}{html}={}", self.kind, self.command)
    }

    /// Whether a command that has named `programs` names it, which it then remembers.
    pub(crate) fn is_named(&self, programs: &[String]) -> bool {
        if programs.contains(&self.given()) {
            self.named.0.store(true, Ordering::Relaxed);
        }
        self.named.get()
    }

    /// The flag to give, on one line.
    pub fn flag(&self) -> String {
        let given = harmless(&self.given());
        let quoted = given.replace('\'', "'\\''");
        format!("--convert '{quoted}'")
    }

    fn words(&self) -> Vec<String> {
        shlex::split(&self.command).unwrap_or_default()
    }

    /// The command that runs the program over a document.
    fn command(&self, memory: ByteSize) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", LIMITED, "sh"]);
        command.arg((memory.0 >> 10).to_string()).args(self.words());
        command
    }

    /// The version of the program as it is now, or was a moment ago; `None` if it does not state
    /// one.
    ///
    /// # Errors
    /// If the program cannot be started.
    fn look_up(&self) -> Result<Option<String>, String> {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((asked, version)) = known.get(&self.command)
            && asked.elapsed() < FRESH
        {
            return version.clone();
        }
        let version = self.ask();
        known.insert(self.command.clone(), (Instant::now(), version.clone()));
        version
    }

    /// Asks the program for its version.
    fn ask(&self) -> Result<Option<String>, String> {
        let limits = Limits {
            time: VERSION_TIME,
            output: ERROR_BYTES,
        };
        let program = self.words().into_iter().next().unwrap_or_default();
        for flag in ["--version", "-v"] {
            let mut command = Command::new(&program);
            command.arg(flag);
            match run(&mut command, &[], &limits, &Stop::default()) {
                Ok(ended) if ended.status.success() => {
                    let line = first_line(&ended.output).or_else(|| first_line(&ended.errors));
                    if line.is_some() {
                        return Ok(line);
                    }
                }
                Ok(_) => {}
                Err(Ending::Failed(error)) => {
                    return Err(format!(
                        "the program `{program}` cannot be started: {error}"
                    ));
                }
                Err(_) => break,
            }
        }
        Ok(None)
    }

    /// Refuses a program that is gone, or that has another version.
    pub(crate) fn check(&self) -> lookalike_base::Result<()> {
        let refused = |limit: String| lookalike_base::error::refuse("convert", self, &limit);
        match self.look_up() {
            Err(what) => refused(format!("{what}; install it, or correct PATH")),
            Ok(version) if version != self.version => refused(format!(
                "the version with which documents were converted; the program is now `{}`, whose \
                 texts may differ. Install that version, or start in a new directory",
                version.as_deref().unwrap_or("without a version")
            )),
            Ok(_) => Ok(()),
        }
    }

    /// Returns the kind of content that the program prints.
    pub(crate) fn content(&self) -> ContentKind {
        ContentKind::of(self.html)
    }

    /// The text of a document, or why there is none. `memory` is the address space of each process.
    pub(crate) fn convert(
        &self,
        document: &[u8],
        memory: ByteSize,
        limits: &Limits,
        stop: &Stop,
    ) -> Result<Vec<u8>, (Reason, String)> {
        let refused = |detail: String| Err((Reason::NotConverted, detail));
        if !self.named.get() {
            let flag = self.flag();
            return refused(format!(
                "this command does not name the program; if you know it, give {flag}"
            ));
        }
        let ended = match run(&mut self.command(memory), document, limits, stop) {
            Ok(ended) => ended,
            Err(Ending::Output) => {
                let detail = format!("a converted text of more than {} bytes", limits.output);
                return Err((Reason::TooLarge, detail));
            }
            Err(Ending::Time) => {
                let seconds = limits.time.as_secs();
                return refused(format!("it took more than {seconds} s"));
            }
            Err(Ending::Stopped) => return refused("interrupted".into()),
            Err(Ending::Failed(error)) => return refused(error.to_string()),
        };
        let mut message = reason(&ended.errors).map_or(String::new(), |line| format!(": {line}"));
        let says = String::from_utf8_lossy(&ended.errors).to_lowercase();
        let lacks_memory =
            ["memory", "alloc", "heap", "failed to map"].map(|word| says.contains(word));
        // Its own message, or a signal.
        if lacks_memory.contains(&true) && !ended.status.success() || ended.status.code().is_none()
        {
            let more = ByteSize(memory.0.saturating_mul(4));
            message += &format!("; if it lacks memory, give --convert-memory {more} or more");
        }
        if !ended.status.success() {
            return refused(format!("{}{message}", ended.status));
        }
        if ended.output.trim_ascii().is_empty() {
            return refused(format!("it printed no text{message}"));
        }
        Ok(ended.output)
    }
}

/// The extensions of compressed files.
const COMPRESSED: [&str; 6] = ["gz", "z", "bz2", "xz", "zst", "zstd"];

/// The extension of a file's name in lower case, without the one of a compression. A name without a
/// point is its own extension.
pub fn extension(name: &str) -> Option<String> {
    let name = name.rsplit(['/', '\\']).next()?.to_ascii_lowercase();
    let mut parts = name.rsplit('.');
    let extension = match parts.next()? {
        last if COMPRESSED.contains(&last) => parts.next()?,
        last => last,
    };
    (!extension.is_empty()).then(|| extension.into())
}

/// Whether the name of a file says that the file is compressed.
pub fn is_compressed(name: &str) -> bool {
    let last = name
        .rsplit_once('.')
        .map(|(_, last)| last.to_ascii_lowercase());
    last.is_some_and(|last| COMPRESSED.contains(&&*last))
}

/// The name of a file without the ending of a compression.
pub fn uncompressed(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match name.rsplit_once('.') {
        Some((plain, _)) if is_compressed(&name) => plain.into(),
        _ => name.into(),
    }
}

/// Why a program failed, as far as its standard error says: the first line that has text, or the
/// last one if Python traces its calls.
fn reason(errors: &[u8]) -> Option<String> {
    let first = first_line(errors)?;
    if !first.starts_with("Traceback (most recent call last)") {
        return Some(first);
    }
    let end = errors.trim_ascii_end();
    let last = memchr::memrchr(b'\n', end).map_or(end, |at| &end[at..]);
    first_line(last)
}

/// The first line that has text, made [`harmless`].
fn first_line(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(ERROR_BYTES)]);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(harmless(line))
}

/// The beginning of a text, with characters made visible that change a terminal.
fn harmless(text: &str) -> String {
    let mut harmless = String::new();
    for c in text.chars() {
        match c {
            '\'' | '"' | '\\' => harmless.push(c),
            c => harmless.extend(c.escape_debug()),
        }
        if harmless.len() >= LINE_BYTES {
            harmless.push_str("...");
            break;
        }
    }
    harmless
}

/// The limits of a program for one document.
pub(crate) struct Limits {
    pub time: Duration,
    /// Bytes of standard output.
    pub output: usize,
}

/// A program that ended by itself.
struct Ended {
    status: ExitStatus,
    output: Vec<u8>,
    /// The beginning of its standard error.
    errors: Vec<u8>,
}

/// Why a program was ended, or not started.
enum Ending {
    Time,
    Output,
    Stopped,
    Failed(io::Error),
}

impl From<io::Error> for Ending {
    fn from(error: io::Error) -> Self {
        Ending::Failed(error)
    }
}

/// The group of processes of a program, which ends with this.
struct Group {
    leader: Child,
    pid: Pid,
    /// Whether the leader was waited for, so that its number may belong to another process.
    is_over: bool,
}

impl Group {
    fn start(command: &mut Command, until: Instant, stop: &Stop) -> Result<Group, Ending> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        loop {
            match command.spawn() {
                Ok(leader) => {
                    let pid = Pid::from_child(&leader);
                    return Ok(Group {
                        leader,
                        pid,
                        is_over: false,
                    });
                }
                // Too many processes or open files, or too little memory: others end soon.
                Err(error) if may_pass(&error) && Instant::now() < until => {
                    if stop.requested() {
                        return Err(Ending::Stopped);
                    }
                    sleep(WAIT);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whether the leader has ended. It remains to be waited for.
    fn has_ended(&self) -> io::Result<bool> {
        let how = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(self.pid), how)?.is_some())
    }

    /// Kills the remaining processes of the group.
    fn kill(&self) {
        let _none_left = kill_process_group(self.pid, Signal::KILL);
    }

    fn wait(&mut self) -> io::Result<ExitStatus> {
        self.kill();
        self.is_over = true;
        self.leader.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_over {
            let _status = self.wait();
        }
    }
}

fn may_pass(error: &io::Error) -> bool {
    use rustix::io::Errno as E;
    let passing = [E::AGAIN, E::MFILE, E::NFILE, E::NOMEM, E::TXTBSY];
    E::from_io_error(error).is_some_and(|errno| passing.contains(&errno))
}

/// One end of a pipe to or from the program; `None` once it is closed.
struct Pipe<P>(Option<P>);

impl<P: AsFd> Pipe<P> {
    fn new(pipe: Option<P>) -> io::Result<Pipe<P>> {
        if let Some(pipe) = &pipe {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(Pipe(pipe))
    }

    fn poll_for(&self, flags: PollFlags) -> Option<PollFd<'_>> {
        let fd: BorrowedFd<'_> = self.0.as_ref()?.as_fd();
        Some(PollFd::from_borrowed_fd(fd, flags))
    }
}

impl<P: Read> Pipe<P> {
    /// Reads once. Returns the number of bytes, or `None` if there are none.
    fn read(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let pipe = self.0.as_mut()?;
        match pipe.read(buffer) {
            Ok(n @ 1..) => Some(n),
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                None
            }
            _ => {
                self.0 = None;
                None
            }
        }
    }
}

/// Runs a program over `input`.
fn run(command: &mut Command, input: &[u8], limits: &Limits, stop: &Stop) -> Result<Ended, Ending> {
    let until = Instant::now() + limits.time;
    let mut group = Group::start(command, until, stop)?;
    let mut feed = Pipe::new(group.leader.stdin.take())?;
    let mut out = Pipe::new(group.leader.stdout.take())?;
    let mut error = Pipe::new(group.leader.stderr.take())?;
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let mut buffer = vec![0; 64 << 10];
    let mut left = input;
    let mut ended = false;
    loop {
        if left.is_empty() {
            feed.0 = None;
        }
        if let Some(pipe) = &mut feed.0 {
            match pipe.write(left) {
                Ok(n) => left = &left[n..],
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                // The program has read enough.
                Err(_) => left = &[],
            }
        }
        let mut quiet = true;
        if let Some(n) = out.read(&mut buffer) {
            quiet = false;
            if output.len() + n > limits.output {
                return Err(Ending::Output);
            }
            if output.len() + n > output.capacity() {
                let larger = (2 * output.len()).clamp(output.len() + n, limits.output);
                output.reserve_exact(larger - output.len());
            }
            output.extend_from_slice(&buffer[..n]);
        }
        if let Some(n) = error.read(&mut buffer) {
            quiet = false;
            let room = ERROR_BYTES - errors.len();
            errors.extend_from_slice(&buffer[..n.min(room)]);
        }
        if stop.requested() {
            return Err(Ending::Stopped);
        }
        if Instant::now() >= until {
            return Err(Ending::Time);
        }
        if !quiet {
            continue;
        }
        if ended {
            break;
        }
        if group.has_ended()? {
            // The output of the leader is in the pipes. Others that hold them end now.
            group.kill();
            ended = true;
            continue;
        }
        let mut waits = Vec::from_iter(feed.poll_for(PollFlags::OUT));
        waits.extend(out.poll_for(PollFlags::IN));
        waits.extend(error.poll_for(PollFlags::IN));
        // Without an output there is only its end to wait for.
        let time = match out.0.is_none() && error.0.is_none() {
            true => Duration::from_millis(1),
            false => WAIT.min(until.saturating_duration_since(Instant::now())),
        };
        let time = Timespec::try_from(time).ok();
        match poll(&mut waits, time.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(Ending::Failed(errno.into())),
        }
    }
    Ok(Ended {
        status: group.wait()?,
        output,
        errors,
    })
}
