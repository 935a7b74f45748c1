//! The errors of the library, in a form that a person can act on.
//!
//! Every error answers five questions: which file, where in it, what was expected, what was found,
//! and what to do now. Variants that callers tell apart carry data, not sentences; any other
//! failure is made with its sentence and its remedy ([`Error::of`]). [`std::fmt::Display`] prints
//! one line. Causes go through [`std::error::Error::source`], and the remedy through
//! [`Error::help`].
//!
//! A record that cannot be read is *not* an error of this type. It becomes a line of
//! `rejects.jsonl` (see `lookalike_text::read::Reject`), and the run continues.

use std::fmt::Display;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::byte_size::ByteSize;
use crate::numbers::counted;
use crate::words::path_word;

/// The result of every function of this library that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure that ends a stage. Committed data remains usable.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused an operation on a file.
    #[error("cannot {operation} {}: {}", path.display(), cause(source))]
    Io {
        /// The operation, as a verb: `read`, `write`, `sync`, `rename` ...
        operation: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
    /// Something else is in the place of one of our files or directories in an output directory.
    #[error("{} is {}, expected {}", .0.path.display(), .0.found, .0.expected)]
    WrongFileType(WrongFileType),
    /// A file in the place of one of ours does not begin with our magic bytes.
    #[error("{} is not a lookalike file: it begins with {found:02x?}", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// Its first bytes.
        found: Vec<u8>,
    },
    /// The inputs contain no file.
    #[error("there is nothing to read: {}", nothing_in(paths))]
    NoInput {
        /// The files and directories given.
        paths: Vec<PathBuf>,
    },
    /// The file ends too early.
    #[error("{} is cut off at byte {offset_bytes}: {what}", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// The offset at which it ends.
        offset_bytes: u64,
        /// The missing data.
        what: String,
    },
    /// The content contradicts itself or its checksum.
    #[error("{} is corrupt{}: {what}: expected {expected}, found {found}", path.display(), after(" at byte ", *offset_bytes))]
    Corrupt {
        /// The file, or the directory of several files that contradict each other.
        path: PathBuf,
        /// Where, as precisely as known; `None` if the whole file is meant.
        offset_bytes: Option<u64>,
        /// The check that failed.
        what: String,
        /// The value that the check expected.
        expected: String,
        /// The value found.
        found: String,
    },
    /// A line of a text file that cannot be read.
    #[error("{}{}: expected {expected}, found {found}", path.display(), after(", line ", (*line > 0).then_some(line)))]
    BadLine {
        /// The file.
        path: PathBuf,
        /// The line, from 1; 0 if the file has no line.
        line: u64,
        /// The expected content.
        expected: String,
        /// The content found.
        found: String,
        /// Advice besides correcting the line; may be empty.
        hint: &'static str,
    },
    /// The address of something on another machine in place of a path.
    #[error("{}", remote(path, scheme))]
    Remote {
        /// The address.
        path: PathBuf,
        /// Its scheme.
        scheme: String,
    },
    /// An input has changed since its segments were committed.
    #[error("input changed since it was read: {} has {found}, had {expected}", path.display())]
    InputChanged {
        /// The input file.
        path: PathBuf,
        /// The file as the manifest describes it.
        expected: String,
        /// The file's present state.
        found: String,
    },
    /// The output directory belongs to a run with other inputs or parameters.
    #[error("{} was made with {name} {found}; this command says {expected}", path.display())]
    Incompatible {
        /// The output directory.
        path: PathBuf,
        /// The parameter that differs.
        name: String,
        /// The value in this command.
        expected: String,
        /// The value that the directory was made with.
        found: String,
    },
    /// Something else was given in place of the output directory of a run.
    #[error("{}", not_output(path, what))]
    NotOutput {
        /// The path given.
        path: PathBuf,
        /// The kind of thing that the path is instead.
        what: &'static str,
        /// An output directory of almost the same name.
        near: Option<PathBuf>,
    },
    /// A stage was requested whose input has not been made.
    #[error("{} has no {}", path.display(), without(stage))]
    StageMissing {
        /// The output directory.
        path: PathBuf,
        /// The stage that must run first.
        stage: &'static str,
    },
    /// A name that no document has.
    #[error("{}: no document is called {given}{}", path.display(), after(": ", reason.as_ref()))]
    NoDocument {
        /// The output directory.
        path: PathBuf,
        /// The name given.
        given: String,
        /// The reason, if the name has the form of a place.
        reason: Option<String>,
        /// Docnos that resemble the name.
        near: Vec<String>,
    },
    /// A docno that several documents have.
    #[error("{}: {} are called {given}: {}", path.display(), counted(*documents, "document"), some_of(places, *documents))]
    SeveralDocuments {
        /// The output directory.
        path: PathBuf,
        /// The docno given.
        given: String,
        /// The number of documents that have it.
        documents: u64,
        /// File and record of the first ones.
        places: Vec<String>,
    },
    /// Another process works in the output directory.
    #[error("{} is in use by {holder}", path.display())]
    Locked {
        /// The output directory.
        path: PathBuf,
        /// Process and host, as written in the lock file.
        holder: String,
    },
    /// The memory budget is too small for the work.
    #[error("--memory {given} is too small: {what} needs at least {}", least.exact())]
    BudgetTooSmall {
        /// The budget given.
        given: ByteSize,
        /// The least budget that is enough.
        least: ByteSize,
        /// The work.
        what: String,
        /// Other flags with which the work is possible, if there are any.
        instead: Option<String>,
    },
    /// The disk of the output directory does not have the space that the rest of the run needs.
    #[error("{} has {available} of disk space left; {what} needs about {needed}", path.display())]
    DiskSpace {
        /// The output directory.
        path: PathBuf,
        /// The space that the next steps of the run need.
        needed: ByteSize,
        /// The space that the file system reports as available.
        available: ByteSize,
        /// The work.
        what: String,
    },
    /// A parameter outside its range.
    #[error("{}", bad(name, given, limit))]
    BadParameter {
        /// The parameter: its flag without dashes, or the name of its argument (`INPUT`).
        name: &'static str,
        /// The value given; empty if the parameter is missing.
        given: String,
        /// The range or rule that it breaks.
        limit: String,
    },
    /// Records were rejected, and `--strict` was given.
    #[error("{} rejected (--strict); the first: {first}", counted(*count, "record"))]
    Rejected {
        /// Number of rejects.
        count: u64,
        /// The first reject: its file, place, reason and detail.
        first: String,
    },
    /// A stop was requested (Ctrl-C, SIGTERM). Committed data is kept.
    #[error("stopped in stage {stage}; everything committed is kept")]
    Interrupted {
        /// The stage that stopped.
        stage: &'static str,
    },
    /// Any other failure. No caller decides by it, so it brings its line and its remedy along.
    #[error("{message}")]
    Other {
        /// The line.
        message: String,
        /// The file or directory that it is about, if it is about one.
        path: Option<PathBuf>,
        /// Advice to the user.
        help: String,
    },
    /// A worker thread panicked. This is a defect of the program.
    #[error("a {what} thread panicked: {message}")]
    Panicked {
        /// The kind of thread.
        what: &'static str,
        /// The panic's message.
        message: String,
    },
}

/// A file of another type than the expected one; the lower layer wraps it in an [`io::Error`].
#[derive(Debug, thiserror::Error)]
#[error("{found}, expected {expected}")]
pub struct WrongFileType {
    /// The path.
    pub path: PathBuf,
    /// The expected type: `a regular file` or `a directory`.
    pub expected: &'static str,
    /// The type found: `a symbolic link`, `a FIFO` ...
    pub found: &'static str,
}

/// Whether the process or the machine has reached its limit of open files.
fn too_many_files(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let limits = [Errno::MFILE, Errno::NFILE].map(|limit| Some(limit.raw_os_error()));
    limits.contains(&error.raw_os_error())
}

/// Names directories that contain no file.
fn nothing_in(paths: &[PathBuf]) -> String {
    let names = paths.iter().map(|path| path.display().to_string());
    let names: Vec<String> = names.collect();
    match &names[..] {
        [] => "no input is given".into(),
        [name] => format!("no file in {name} is read"),
        names => format!("no file in any of {} is read", names.join(", ")),
    }
}

/// Something after these words, if it is known.
fn after(words: &str, of: Option<impl Display>) -> String {
    of.map_or_else(String::new, |of| format!("{words}{of}"))
}

/// The message of the operating system, without its number.
fn cause(source: &io::Error) -> String {
    let text = source.to_string();
    let Some((before, number)) = text.rsplit_once(" (os error ") else {
        return text;
    };
    // A text that quotes it ends after the number.
    before.to_string() + number.split_once(')').map_or("", |(_, after)| after)
}

/// Says how to give the input or output instead of an address.
fn remote(path: &Path, scheme: &str) -> String {
    let path = path.display();
    match scheme {
        "file" => format!("{path} is an address: give the path alone, without file://"),
        "s3" | "gs" | "az" | "https" | "http" | "hf" if cfg!(feature = "remote") => format!(
            "{path} is not on this machine: only inputs and the outputs of dedup and report may be \
             objects of a store; give a directory or file here"
        ),
        "s3" | "gs" | "az" | "https" | "http" | "hf" => format!(
            "{path} is not on this machine, and this program was built without object stores: \
             install the package lookalike with `--features remote`, or copy the data here"
        ),
        scheme => format!(
            "{path} is not on this machine: copy the data here with a program for {scheme}, or \
             mount it as a directory"
        ),
    }
}

/// [`Error::NotOutput::what`] if nothing has the path.
pub const NOT_THERE: &str = "it does not exist";

/// Why a path is not an output directory.
fn not_output(path: &Path, what: &str) -> String {
    let path = path.display();
    match what {
        NOT_THERE => format!("{path} does not exist"),
        what => format!("{path} is not an output directory of lookalike: {what}"),
    }
}

/// The stage that a directory does not have.
fn without(stage: &str) -> String {
    match stage {
        "ingest" => "finished ingest: the inputs were not read to their end".into(),
        stage => format!("committed {stage} stage"),
    }
}

/// Says why a parameter is refused; an empty value means that it is missing.
fn bad(name: &str, given: &str, limit: &str) -> String {
    match given {
        "" => format!("{} is missing: {limit}", flag(name)),
        given => format!("{} {given} is not possible: {limit}", flag(name)),
    }
}

/// The first of some things, and how many more there are.
fn some_of(listed: &[String], all: u64) -> String {
    let more = all.saturating_sub(listed.len() as u64);
    let list = listed.join(", ");
    match more {
        0 => list,
        more => format!("{list} and {} more", crate::numbers::count(more)),
    }
}

/// The parameter as the user types it.
fn flag(name: &str) -> String {
    match name.chars().all(char::is_uppercase) {
        true => name.into(),
        false => format!("--{name}"),
    }
}

/// The beginning of an [`Error::BadParameter`].
pub struct BadParameter {
    name: &'static str,
    given: String,
}

impl BadParameter {
    /// The range or rule that the value breaks.
    pub fn because(self, limit: impl Into<String>) -> Error {
        let (name, given, limit) = (self.name, self.given, limit.into());
        Error::BadParameter { name, given, limit }
    }
}

/// [`Error::BadParameter`] as a result.
pub fn refuse<T>(name: &'static str, given: impl ToString, limit: impl Into<String>) -> Result<T> {
    Err(Error::parameter(name, given).because(limit))
}

/// The beginning of an [`Error::Corrupt`].
pub struct Corrupt {
    path: PathBuf,
    offset_bytes: Option<u64>,
    what: String,
}

impl Corrupt {
    /// The place in the file.
    pub fn at(mut self, offset_bytes: u64) -> Corrupt {
        self.offset_bytes = Some(offset_bytes);
        self
    }

    /// The values that the check expected and found.
    pub fn expected(self, expected: impl ToString, found: impl ToString) -> Error {
        Error::Corrupt {
            path: self.path,
            offset_bytes: self.offset_bytes,
            what: self.what,
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }
}

impl Error {
    /// A parameter with a value outside its range; `""` if it is missing.
    pub fn parameter(name: &'static str, given: impl ToString) -> BadParameter {
        let given = given.to_string();
        BadParameter { name, given }
    }

    /// A file or directory whose content fails a check.
    pub fn corrupt(path: impl Into<PathBuf>, what: impl Into<String>) -> Corrupt {
        Corrupt {
            path: path.into(),
            offset_bytes: None,
            what: what.into(),
        }
    }

    /// A line of a text file, from 1, that cannot be read; line 0 if the file has none.
    pub fn bad_line(
        path: impl Into<PathBuf>,
        line: u64,
        expected: impl ToString,
        found: impl ToString,
    ) -> Error {
        Error::BadLine {
            path: path.into(),
            line,
            expected: expected.to_string(),
            found: found.to_string(),
            hint: "",
        }
    }

    /// If this is about a directory that `-o` usually names, and that another flag named, it says
    /// so. `directory` is the value of that flag, if it was given.
    pub fn named_by(mut self, flag: &'static str, directory: Option<&Path>) -> Error {
        if let Error::BadParameter { name, given, .. } = &mut self
            && *name == "output"
            && directory.is_some_and(|directory| *given == directory.display().to_string())
        {
            *name = flag;
        }
        self
    }

    /// If a line cannot be read, says what to do about it.
    pub fn hinted(mut self, what: &'static str) -> Error {
        if let Error::BadLine { hint, .. } = &mut self {
            *hint = what;
        }
        self
    }

    /// A directory without the records of a stage.
    pub fn no_stage(path: impl Into<PathBuf>, stage: &'static str) -> Error {
        let path = path.into();
        Error::StageMissing { path, stage }
    }

    /// An input whose content differs from the content that was read.
    pub fn input_changed(
        path: impl Into<PathBuf>,
        expected: impl ToString,
        found: impl ToString,
    ) -> Error {
        Error::InputChanged {
            path: path.into(),
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }

    /// A file that ends at `offset_bytes`, before the data that it needs.
    pub fn truncated(
        path: impl Into<PathBuf>,
        offset_bytes: u64,
        what: impl Into<String>,
    ) -> Error {
        let (path, what) = (path.into(), what.into());
        Error::Truncated {
            path,
            offset_bytes,
            what,
        }
    }

    /// More items than can be numbered.
    pub fn too_many(what: &str, found: u64, most: u64) -> Error {
        let message = format!("too many {what}: {found}, at most {most} are possible");
        Error::other(message, "split the collection")
    }

    /// A file in a version of the format that this build, which reads some `formats`, does not read.
    pub fn version(path: &Path, found: u32, formats: RangeInclusive<u32>) -> Error {
        let (least, most) = formats.into_inner();
        let what = format!(" has format {found}; this build reads formats {least} to {most}");
        let first = match found > most {
            true => "upgrade lookalike",
            false => "read it with the lookalike that wrote it",
        };
        Error::of(
            path,
            what,
            format!("{first}, or start in a new directory with -o"),
        )
    }

    /// An input that cannot be opened, why, and how many `more` cannot.
    pub fn unreadable(path: &Path, what: impl Display, more: u64) -> Error {
        let more = match more {
            0 => String::new(),
            more => format!(" (and {} more)", counted(more, "input")),
        };
        Error::Other {
            message: format!("cannot read {}: {what}{more}", path.display()),
            path: Some(path.into()),
            help: "make it readable, or leave such inputs out with --skip-unreadable".into(),
        }
    }

    /// Any other failure: its line, and what the user can do about it.
    pub fn other(message: impl Into<String>, help: impl Into<String>) -> Error {
        Error::Other {
            message: message.into(),
            path: None,
            help: help.into(),
        }
    }

    /// Any other failure of a file or directory: what follows its path in the line, and what the
    /// user can do about it.
    pub fn of(path: &Path, what: impl Display, help: impl Into<String>) -> Error {
        Error::Other {
            message: format!("{}{what}", path.display()),
            path: Some(path.into()),
            help: help.into(),
        }
    }

    /// Makes an [`Error::Io`] for an operation on a path, for `map_err`. If the lower layer found
    /// something of another file type, the error is [`Error::WrongFileType`].
    pub fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| match source.downcast::<WrongFileType>() {
            Ok(wrong) => Error::WrongFileType(wrong),
            Err(source) => Error::Io {
                operation,
                path: path.to_path_buf(),
                source,
            },
        }
    }

    /// The file or directory that it is about; `None` if it is about none.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Error::Io { path, .. }
            | Error::WrongFileType(WrongFileType { path, .. })
            | Error::NotOurs { path, .. }
            | Error::Truncated { path, .. }
            | Error::Corrupt { path, .. }
            | Error::BadLine { path, .. }
            | Error::InputChanged { path, .. }
            | Error::Remote { path, .. }
            | Error::Incompatible { path, .. }
            | Error::NotOutput { path, .. }
            | Error::StageMissing { path, .. }
            | Error::Locked { path, .. }
            | Error::DiskSpace { path, .. } => Some(path),
            Error::Other { path, .. } => path.as_deref(),
            _ => None,
        }
    }

    /// Where in the file it is, in bytes; `None` if that is not known.
    #[must_use]
    pub fn offset_bytes(&self) -> Option<u64> {
        match self {
            Error::Truncated { offset_bytes, .. } => Some(*offset_bytes),
            Error::Corrupt { offset_bytes, .. } => *offset_bytes,
            _ => None,
        }
    }

    /// Advice to the user, in one line; `None` if nothing helps.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        if let Some(help) = self.fixed_help() {
            return Some(help.into());
        }
        Some(match self {
            Error::WrongFileType(WrongFileType { path, .. }) => {
                let elsewhere = match path.ends_with("scratch") {
                    true => "; to sort on another disk, give --scratch DIR",
                    false => "",
                };
                format!(
                    "remove it (of a link, only the link itself) and repeat the command: \
                     lookalike follows no links inside an output directory{elsewhere}"
                )
            }
            Error::Other { help, .. } => help.clone(),
            Error::BadLine { hint, .. } => format!("correct the line; {hint}"),
            Error::StageMissing { path, stage } => {
                let path = path_word(path);
                let command = match *stage {
                    "cluster" => "stage cluster",
                    "study" => "lab study",
                    "ingest" | "catalogue" => {
                        return Some(format!(
                            "repeat the command that was stopped: `lookalike run INPUT... -o {path}`, \
                             or `lookalike add {path} INPUT...`"
                        ));
                    }
                    _ => "run --from",
                };
                format!("run `lookalike {command} {path}` first")
            }
            Error::NoDocument { near, .. } => format!(
                "did you mean {}? Give a docno, an address, or a place as FILE:RECORD; documents.tsv of a run has them",
                near.join(" or ")
            ),
            Error::BudgetTooSmall { least, instead, .. } => {
                let instead = instead.iter().map(|instead| format!(", or {instead}"));
                let instead: String = instead.collect();
                format!("give --memory {} or more{instead}", least.exact())
            }
            Error::NotOutput {
                near: Some(near), ..
            } => format!("did you mean {}?", near.display()),
            Error::DiskSpace {
                needed, available, ..
            } => {
                let short = ByteSize(needed.0.saturating_sub(available.0)).round_up();
                format!(
                    "free {short} there, or give a directory on another disk with -o; a smaller \
                     sample (--sampling 1/16) takes less after reading; --ignore-disk-space \
                     starts anyway"
                )
            }
            _ => return None,
        })
    }

    /// The help that names nothing of the error.
    fn fixed_help(&self) -> Option<&'static str> {
        Some(match self {
            Error::Corrupt { path, .. } if path.extension().is_some_and(|end| end == "rows") => {
                "delete the file, and run the task by which it is named again"
            }
            Error::Corrupt { path, .. } if path.ends_with("manifest.json") => {
                "put back a copy of the file if you have one; otherwise delete it and repeat the \
                 command that made the directory, which reads the inputs again"
            }
            Error::Io { path, .. } if path == Path::new("standard output") => {
                "redirect standard output to a place that can be written"
            }
            Error::Io { source, .. } => io_help(source),
            Error::WrongFileType(wrong) if wrong.expected.starts_with("a file") => {
                "give the path of a file, which need not exist"
            }
            Error::NotOurs { found, .. } if found.starts_with(b"PAR1") => {
                "it is a Parquet file: read it with DuckDB, Polars or pandas"
            }
            Error::NotOurs { .. } => {
                "check that this is the right file; if it belongs to an output directory, it is \
                 damaged: delete it and repeat the command that made it"
            }
            Error::NoInput { .. } => {
                "give a file, or a directory that contains files; hidden files are read only with \
                 --hidden, files in the output directory never, and no file that --include or \
                 --exclude leave out"
            }
            Error::BadLine { hint: "", .. } => "correct the line",
            Error::InputChanged { .. } => {
                "restore it and give the same INPUT, --include, --exclude, --hidden and \
                 --read-outputs as before, or start in a new directory with -o"
            }
            Error::Incompatible { .. } => {
                "give the same value, or start in a new directory with -o"
            }
            Error::NotOutput {
                what, near: None, ..
            } if what.starts_with("it has records") => {
                "give the directory of its search, which was given as --from or --work"
            }
            Error::NotOutput { near: None, .. } => {
                "give the directory that `lookalike run INPUT... -o DIR` made"
            }
            Error::NoDocument { near, .. } if near.is_empty() => {
                "give a docno, an address, or a place as FILE:RECORD; documents.tsv of a run has them"
            }
            Error::SeveralDocuments { .. } => {
                "name one of them by its place, as FILE:RECORD, or a capture as ADDRESS@DATE"
            }
            Error::Locked { .. } => "wait for it to end, or stop it; no file needs to be removed",
            Error::Rejected { .. } => "see rejects.jsonl; without --strict they are only reported",
            Error::Interrupted { .. } => "repeat the same command to continue",
            Error::Panicked { .. } => {
                "this is a defect of lookalike; please report it with the input, and repeat the \
                 command: what was committed is kept"
            }
            Error::Truncated { .. } | Error::Corrupt { .. } => {
                "run `lookalike check verify` on the directory to see what else is damaged; then \
                 delete the file and repeat the command that made it, or start in a new \
                 directory with -o"
            }
            _ => return None,
        })
    }
}

/// Advice to the user about an error of the operating system.
fn io_help(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => {
            "check the path; to resume a run, put a moved input back; to restore a missing file \
             of an output directory, repeat `lookalike run INPUT... -o DIR`"
        }
        io::ErrorKind::IsADirectory => "give a file in it",
        io::ErrorKind::PermissionDenied => "check the permissions, or run as another user",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free space on that disk and repeat the command: it continues from the last \
             commit"
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            "give a directory that can be written to, or mount that disk for writing"
        }
        io::ErrorKind::FileTooLarge => {
            "let the process write larger files (`ulimit -f`), or give a directory on another \
             disk with -o"
        }
        _ if too_many_files(error) => {
            "let the process open more files (`ulimit -n`) and repeat the command: it \
             continues from the last commit"
        }
        io::ErrorKind::InvalidInput => "correct it and repeat the command",
        _ => "remove the cause and repeat the command: it continues from the last commit",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_has_no_number() {
        let of = |text: &str| cause(&io::Error::other(text));
        assert_eq!(of("Is a directory (os error 21)"), "Is a directory");
        assert_eq!(
            of("no use (Is a directory (os error 21))"),
            "no use (Is a directory)"
        );
    }

    /// An empty file has no line 0, and a flag that is missing has no value.
    #[test]
    fn what_is_missing_is_not_named() {
        let line = |line| Error::BadLine {
            path: "list.tsv".into(),
            line,
            expected: "columns".into(),
            found: "the end of the file".into(),
            hint: "",
        };
        let end = "expected columns, found the end of the file";
        assert_eq!(line(0).to_string(), format!("list.tsv: {end}"));
        assert_eq!(line(2).to_string(), format!("list.tsv, line 2: {end}"));
        let flag = |given: &str| Error::BadParameter {
            name: "output",
            given: given.into(),
            limit: "give -o DIR".into(),
        };
        assert_eq!(flag("").to_string(), "--output is missing: give -o DIR");
        assert_eq!(
            flag("x").to_string(),
            "--output x is not possible: give -o DIR"
        );
    }

    #[test]
    fn directories_without_files_are_named() {
        let told = |paths: &[&str]| {
            let paths = paths.iter().map(PathBuf::from).collect();
            Error::NoInput { paths }.to_string()
        };
        assert_eq!(
            told(&["a/b"]),
            "there is nothing to read: no file in a/b is read"
        );
        assert_eq!(
            told(&["a", "b"]),
            "there is nothing to read: no file in any of a, b is read"
        );
        assert_eq!(told(&[]), "there is nothing to read: no input is given");
    }

    /// An error about a whole file names no offset, not byte 0.
    #[test]
    fn an_offset_is_told_where_there_is_one() {
        let corrupt = |offset_bytes| Error::Corrupt {
            path: "a/b.post".into(),
            offset_bytes,
            what: "records".into(),
            expected: "2".into(),
            found: "3".into(),
        };
        let told = [None, Some(0), Some(64)].map(|offset| corrupt(offset).to_string());
        let end = "records: expected 2, found 3";
        assert_eq!(told[0], format!("a/b.post is corrupt: {end}"));
        assert_eq!(told[1], format!("a/b.post is corrupt at byte 0: {end}"));
        assert_eq!(told[2], format!("a/b.post is corrupt at byte 64: {end}"));
    }
}
