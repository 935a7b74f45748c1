//! Where a command runs, and how it opens a directory.

use std::io::IsTerminal;
use std::path::Path;

use clap::ValueEnum;

use crate::Result;
use crate::base::progress::{Context, Progress, Stop};
use crate::engine::collection;
use crate::engine::collection::CatalogueEntry;
use crate::engine::pipeline;
use crate::store::workspace::Workspace;

use super::json_lines::JsonLines;
use super::progress::Terminal;
use super::signals;

/// Where a command runs: it takes the results, shows the progress, and stops the command.
pub trait Host: Sync {
    /// Takes a result that goes to no file. A terminal gets escapes in place of control characters.
    fn say(&self, text: &str) -> Result<()>;
    /// Takes a result as it is: escape sequences in it are the program's own.
    fn show(&self, text: &str) -> Result<()> {
        self.say(text)
    }
    /// The number of columns, if results go to a terminal.
    fn columns(&self) -> Option<usize> {
        None
    }
    /// The request to stop. A command calls this once, before it begins.
    fn stop(&self) -> Stop;
    /// The receiver of progress reports; with `quiet`, none of them is shown.
    fn progress(&self, quiet: bool) -> Box<dyn Progress + '_>;
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressForm {
    /// For people.
    #[value(help = None)]
    Auto,
    /// For programs.
    #[value(help = None)]
    Json,
}

/// Columns of a terminal that does not report its size, and of output to a file.
pub const WIDTH: usize = 80;

/// A process of its own: results go to standard output, progress to standard error, and signals
/// stop the command.
pub struct Process(pub ProgressForm);

impl Host for Process {
    fn say(&self, text: &str) -> Result<()> {
        super::say(text)
    }

    fn show(&self, text: &str) -> Result<()> {
        super::print(text.as_bytes())
    }

    fn columns(&self) -> Option<usize> {
        let out = std::io::stdout();
        if !out.is_terminal() {
            return None;
        }
        let size = rustix::termios::tcgetwinsize(&out).ok();
        let columns = size.map(|size| usize::from(size.ws_col));
        Some(columns.filter(|&columns| columns > 0).unwrap_or(WIDTH))
    }

    fn stop(&self) -> Stop {
        let stop = Stop::default();
        signals::watch(&stop);
        stop
    }

    fn progress(&self, quiet: bool) -> Box<dyn Progress + '_> {
        match self.0 {
            ProgressForm::Auto => Box::new(Terminal::new(quiet)),
            ProgressForm::Json => Box::new(JsonLines::new(super::tell)),
        }
    }
}

/// Opens a directory to read it, which several commands can do at the same time. Nothing in it is
/// changed, so it may be on a read-only medium.
pub fn open_to_read(directory: &Path, context: &Context<'_>) -> Result<Workspace> {
    // Refuses a manifest without the parameters of a collection.
    pipeline::look(directory)?;
    let mut workspace = Workspace::open_to_read(directory, pipeline::RECORDS)?;
    workspace.read_without_gone(context)?;
    Ok(workspace)
}

/// As [`open_to_read`], and makes the catalogue first if it was lost, or the ingest was interrupted
/// before it.
pub fn open_catalogued(directory: &Path, context: &Context<'_>) -> Result<Workspace> {
    let base = open_to_read(directory, context)?;
    let ingested = collection::ingested(&base.manifest);
    if !ingested || base.manifest.has::<CatalogueEntry>() {
        return Ok(base);
    }
    drop(base);
    pipeline::catalogued(&mut pipeline::open(directory)?, context)?;
    open_to_read(directory, context)
}

/// As [`open_to_read`], for a command that writes `output`. If that is a file of the directory, the
/// manifest is going to name it, and no other command can use the directory.
pub fn open_for(directory: &Path, output: &Path, context: &Context<'_>) -> Result<Workspace> {
    let workspace = open_to_read(directory, context)?;
    if workspace.other_name(output).is_none() {
        return Ok(workspace);
    }
    drop(workspace);
    pipeline::open(directory)
}
