//! What can go wrong, said so that a person can act on it.
//!
//! Every error answers five questions: which file, where in it, what was expected, what was found,
//! what to do now. Variants carry data, not sentences; [`std::fmt::Display`] is one line; causes go
//! through [`std::error::Error::source`]; the remedy is [`Error::help`].
//!
//! A record that cannot be read is *not* an error of this type: it becomes a line of
//! `rejects.jsonl` (see [`crate::read::Reject`]) and the run goes on.

use std::io;
use std::path::{Path, PathBuf};

use crate::budget::ByteSize;
use crate::limits::Resource;

/// The result of everything in this library that can fail as a whole.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure that ends a stage. What was committed before it stays usable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused an operation on a file.
    #[error("cannot {operation} {}: {source}", path.display())]
    Io {
        /// What was being done, as a verb: `read`, `write`, `sync`, `rename` ...
        operation: &'static str,
        /// The file or directory concerned.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
    /// A file that should be ours does not begin with our magic bytes.
    #[error("{} is not a lookalike file: it begins with {found:02x?}", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// Its first bytes.
        found: Vec<u8>,
    },
    /// A file of ours, but of another kind than was expected here.
    #[error("{} is a {found} file, expected {expected}", path.display())]
    WrongKind {
        /// The file.
        path: PathBuf,
        /// The kind expected.
        expected: String,
        /// The kind found in its header.
        found: String,
    },
    /// Written by a version of the format that this build does not read.
    #[error("{} has format {found}; this build reads formats {least} to {most}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The version in its header.
        found: u32,
        /// The oldest version that this build reads.
        least: u32,
        /// The newest.
        most: u32,
    },
    /// Written with other parameters than those of this run.
    #[error("{} was made with parameters {found}, expected {expected}", path.display())]
    WrongParameters {
        /// The file.
        path: PathBuf,
        /// Digest of the parameters expected.
        expected: String,
        /// Digest found in the header.
        found: String,
    },
    /// The file ends too early.
    #[error("{} is cut off at byte {offset_bytes}: {what}", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Where it ends.
        offset_bytes: u64,
        /// What is missing.
        what: String,
    },
    /// The file goes on after its footer.
    #[error("{} has {found} bytes, expected {expected}", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The size that its footer or the manifest states.
        expected: u64,
        /// The size found.
        found: u64,
    },
    /// The content contradicts itself or its checksum.
    #[error("{} is corrupt at byte {offset_bytes}: {what}: expected {expected}, found {found}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Where, as near as is known.
        offset_bytes: u64,
        /// The check that failed.
        what: String,
        /// What the check wanted.
        expected: String,
        /// What it got.
        found: String,
    },
    /// A line of a text file that cannot be read.
    #[error("{}, line {line}: expected {expected}, found {found}", path.display())]
    BadLine {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// An input is not what it was when its segments were committed.
    #[error("input changed since it was read: {} has {found}, had {expected}", path.display())]
    InputChanged {
        /// The input file.
        path: PathBuf,
        /// What the manifest says of it.
        expected: String,
        /// What it is now.
        found: String,
    },
    /// The output directory belongs to another run of other inputs or parameters.
    #[error("{} was made with {name} {found}; this command says {expected}", path.display())]
    Incompatible {
        /// The output directory.
        path: PathBuf,
        /// The parameter that differs.
        name: String,
        /// What this command says.
        expected: String,
        /// What the directory was made with.
        found: String,
    },
    /// A sampling plan for other parameters.
    #[error("{} is a plan for {name} {found}; this run has {expected}", path.display())]
    OtherPlan {
        /// The plan file.
        path: PathBuf,
        /// The parameter that differs.
        name: String,
        /// What this run has.
        expected: String,
        /// What the plan was measured with.
        found: String,
    },
    /// A file that is no plan, or a damaged one.
    #[error("{} is no sampling plan: {what}", path.display())]
    PlanFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A stage was asked for whose input has not been made.
    #[error("{} has no committed {stage} stage", path.display())]
    StageMissing {
        /// The output directory.
        path: PathBuf,
        /// The stage that must come first.
        stage: &'static str,
    },
    /// Another process works in the output directory.
    #[error("{} is in use by {holder}", path.display())]
    Locked {
        /// The output directory.
        path: PathBuf,
        /// Process and host, as its lock file says.
        holder: String,
    },
    /// The memory budget cannot do the work.
    #[error("--memory {given} is too small: {what} needs at least {}", least.exact())]
    BudgetTooSmall {
        /// The budget given.
        given: ByteSize,
        /// The least that would do.
        least: ByteSize,
        /// The work.
        what: String,
    },
    /// The operating system lets this process have less than the work takes.
    #[error("the limit of {of} is {}; {what} needs at least {}", of.amount(*given), of.amount(*least))]
    Limit {
        /// What is limited.
        of: Resource,
        /// The limit.
        given: u64,
        /// The least limit that would do.
        least: u64,
        /// The work.
        what: String,
        /// What would do under this limit, if anything.
        instead: Option<String>,
    },
    /// The disk of the output directory has not the space that the rest of the run will need.
    #[error("{} has {available} of disk space left; {what} needs about {needed}", path.display())]
    DiskSpace {
        /// The output directory.
        path: PathBuf,
        /// What the rest of the run is estimated to need at its worst moment.
        needed: ByteSize,
        /// What the file system has available.
        available: ByteSize,
        /// The work.
        what: String,
    },
    /// A parameter outside its range.
    #[error("{} {given} is not possible: {limit}", flag(name))]
    BadParameter {
        /// The parameter, as its flag is called without dashes, or as its argument is (`INPUT`).
        name: &'static str,
        /// The value given.
        given: String,
        /// The range or rule that it breaks.
        limit: String,
    },
    /// More than this build's formats can number.
    #[error("too many {what}: {found}, at most {most} are possible")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        found: u64,
        /// The limit.
        most: u64,
    },
    /// Something was rejected and `--strict` was given.
    #[error("{count} records were rejected (--strict); the first: {first}")]
    Rejected {
        /// How many.
        count: u64,
        /// The first of them, as its line in `rejects.jsonl`.
        first: String,
    },
    /// A stop was asked for (Ctrl-C, SIGTERM); what was committed stays.
    #[error("stopped in stage {stage}; everything committed is kept")]
    Interrupted {
        /// The stage that stopped.
        stage: &'static str,
    },
    /// A sampling study whose counts do not fit what it says was tried.
    #[error("the study's class {class} of 1/{n} has {found} {what}, expected {expected}")]
    BadStudy {
        /// The n of the trial's ratio.
        n: u32,
        /// The trial's class.
        class: u32,
        /// What does not fit.
        what: String,
        /// How many there should be.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// An edit that was drawn for a document and does not fit it: a defect of this program.
    #[error("edit {edit} of {document} does not fit: found {found}")]
    BadEdit {
        /// The document.
        document: String,
        /// Which of its edits, from 0.
        edit: u64,
        /// What is at its place.
        found: String,
    },
    /// A figure that could not be drawn.
    #[error("cannot draw {figure}: {message}")]
    Figure {
        /// The figure's file.
        figure: String,
        /// What the drawing library answered.
        message: String,
    },
    /// A command that this one started failed. What it said is said.
    #[error("`{what}` failed: {status}")]
    Failed {
        /// The command.
        what: String,
        /// How it ended.
        status: String,
    },
    /// A worker thread panicked: a defect of this program.
    #[error("a {what} thread panicked: {message}")]
    Panicked {
        /// Which thread.
        what: &'static str,
        /// The panic's message.
        message: String,
    },
}

/// Did the process, or the machine, have as many files open as it may?
fn too_many_files(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        let limits = [Errno::MFILE, Errno::NFILE].map(|limit| Some(limit.raw_os_error()));
        limits.contains(&error.raw_os_error())
    }
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}

/// A parameter as it is typed.
fn flag(name: &str) -> String {
    let argument = name.chars().all(char::is_uppercase);
    if argument {
        name.to_string()
    } else {
        format!("--{name}")
    }
}

impl Error {
    /// An [`Error::Io`] of an operation on a path, for `map_err`.
    pub fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Io {
            operation,
            path: path.to_path_buf(),
            source,
        }
    }

    /// What the user can do about it, one line, where there is something to do.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Error::Io { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => "check the path; an input that moved must be put back \
                                            before a run over it can be resumed, and what is gone \
                                            of an output directory is made again by `lookalike run \
                                            INPUT... -o DIR`"
                    .into(),
                io::ErrorKind::PermissionDenied => {
                    "check the permissions, or run as a user who may do this".into()
                }
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "free space on that disk and repeat the command: it goes on from the last \
                     commit"
                        .into()
                }
                io::ErrorKind::ReadOnlyFilesystem => {
                    "give a directory that can be written to, or mount that disk for writing".into()
                }
                io::ErrorKind::FileTooLarge => {
                    "let the process write larger files (`ulimit -f`), or give a directory on another \
                     disk with -o"
                        .into()
                }
                _ if too_many_files(source) => {
                    "let the process open more files (`ulimit -n`) and repeat the command: it goes on \
                     from the last commit"
                        .into()
                }
                _ => "repeat the command when the cause is gone: it goes on from the last commit"
                    .into(),
            },
            Error::NotOurs { .. } => {
                "was the right file given? One of an output directory is damaged: delete it and \
                 repeat the command that made it"
                    .into()
            }
            Error::WrongKind { .. } => {
                "do not exchange files of an output directory: delete the file named and repeat the \
                 command that made it, or start in a new directory with -o"
                    .into()
            }
            Error::Version { found, most, .. } if found > most => {
                "upgrade lookalike, or start in a new directory with -o".into()
            }
            Error::Version { .. } => {
                "read it with the lookalike that wrote it, or start in a new directory with -o"
                    .into()
            }
            Error::WrongParameters { .. } => {
                "it belongs to another run: delete it and repeat the command that made it, or start \
                 in a new directory with -o"
                    .into()
            }
            Error::Truncated { .. } | Error::TooLong { .. } | Error::Corrupt { .. } => {
                "run `lookalike verify` on the directory to see what else is damaged; delete the \
                 file named and repeat the command that made it, which makes it again, or start in a \
                 new directory with -o"
                    .into()
            }
            Error::BadLine { .. } => {
                "correct the line; of a list of pairs, name the columns by their header or by number: \
                 --truth-columns, --run-columns 2,3,5"
                    .into()
            }
            Error::InputChanged { .. } => {
                "restore it and give the same INPUT, --include, --exclude and --hidden as before, or start in \
                 a new directory with -o"
                    .into()
            }
            Error::Incompatible { .. } => {
                "give the same value, or start in a new directory with -o".into()
            }
            Error::OtherPlan { .. } => {
                "make a plan for these parameters with `lookalike plan`: precision measured with others \
                 says nothing about them"
                    .into()
            }
            Error::PlanFile { .. } => {
                "write it with `lookalike plan`; only its ratios are meant to be changed by hand".into()
            }
            Error::StageMissing {
                path,
                stage: "cluster",
            } => format!("run `lookalike cluster {}` first", path.display()),
            Error::StageMissing { .. } => "run `lookalike run INPUT... -o DIR` first".into(),
            Error::Locked { .. } => {
                "wait for it to end, or stop it; nothing needs to be removed by hand".into()
            }
            Error::BudgetTooSmall { least, .. } => format!("give --memory {} or more", least.exact()),
            Error::Limit {
                of, least, instead, ..
            } => {
                let remedy = of.remedy(*least);
                match instead {
                    Some(instead) => format!("{remedy}, or give {instead}"),
                    None => remedy,
                }
            }
            Error::DiskSpace {
                needed, available, ..
            } => {
                let short = ByteSize(needed.0.saturating_sub(available.0)).round_up();
                format!(
                    "free {short} there, or give a directory on another disk with -o; a smaller \
                     sample (--sampling 1/16) takes less after reading; --ignore-disk-space tries \
                     all the same"
                )
            }
            Error::BadParameter { .. } => return None,
            Error::TooMany { .. } => "split the collection".into(),
            Error::Rejected { .. } => {
                "see rejects.jsonl; without --strict they are only reported".into()
            }
            Error::Interrupted { .. } => "repeat the same command to go on from here".into(),
            Error::BadStudy { .. } => {
                "make the study again; its tables are not of one piece".into()
            }
            Error::BadEdit { .. } => {
                "this is a defect of lookalike; please report it with the document and --seed".into()
            }
            Error::Figure { .. } => {
                "this is a defect of lookalike; please report it with the study's tables".into()
            }
            Error::Failed { .. } => "see what it said above; the same command goes on from here".into(),
            Error::Panicked { .. } => {
                "this is a defect of lookalike; please report it with the input, and repeat the \
                 command: what was committed is kept"
                    .into()
            }
        })
    }
}
