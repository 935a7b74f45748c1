//! The terminal that results go to: its colours, and a pager.

use std::io::Write;
use std::process::{Child, Command, Stdio};

use clap::{Args, ColorChoice};

use super::command::Out;
use super::context::Host;
use super::progress::WIDTH;
use super::signals;
use crate::report::terminal::Screen;
use lookalike_base::{Error, Result};
use lookalike_store::disk;

/// The most columns: a wider screen is not easier to read.
const MOST_WIDTH: usize = 1000;

/// Flags for results that people read on a terminal.
#[derive(Debug, Args)]
#[command(next_help_heading = "Display")]
pub(crate) struct ScreenFlags {
    /// When to use colours: auto, always or never
    ///
    /// "auto" uses them on a terminal, unless NO_COLOR is in the environment or TERM is "dumb".
    ///
    /// Example: --color never
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
    /// Do not send long results to a pager
    ///
    /// On a terminal, results go through $PAGER, or `less` if it is not set.
    ///
    /// Example: --no-pager
    #[arg(long)]
    no_pager: bool,
}

impl ScreenFlags {
    /// How the terminal of a host looks, with the width that the user gave, if any.
    pub fn screen(&self, width: Option<u32>, host: &dyn Host) -> Screen {
        let columns = host.columns();
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let width = width.map(|width| width as usize).or(columns);
        Screen {
            colour: match self.color {
                ColorChoice::Always => true,
                ColorChoice::Never => false,
                ColorChoice::Auto => columns.is_some() && !dumb && !set("NO_COLOR"),
            },
            width: width.unwrap_or(WIDTH).min(MOST_WIDTH),
        }
    }

    /// Starts to print a result, through a pager if the output is a terminal.
    pub fn pages<'h>(&self, out: &'h Out<'h>) -> Pages<'h> {
        let paged = out.host.columns().is_some() && !self.no_pager;
        Pages {
            out,
            pager: paged.then(start).flatten(),
            text: String::new(),
        }
    }
}

/// Starts the pager; `None` if the user wants none, or there is none.
fn start() -> Option<Child> {
    let pager = std::env::var("PAGER").unwrap_or_else(|_| "less".into());
    let mut words = pager.split_whitespace();
    let program = words.find(|word| !word.contains('='))?;
    if program == "cat" || !is_there(program) {
        return None;
    }
    let mut command = Command::new("sh");
    command.args(["-c", &pager]);
    // Colours pass, a result of less than a screen is only printed, and it remains visible after
    // the end.
    for (name, usual) in [("LESS", "FRX"), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            command.env(name, usual);
        }
    }
    let pager = command.stdin(Stdio::piped()).spawn().ok();
    if pager.is_some() {
        signals::leave_interrupts_to_the_pager();
    }
    pager
}

/// Whether the shell finds a program.
fn is_there(program: &str) -> bool {
    let mut look = Command::new("sh");
    look.args(["-c", "command -v \"$1\"", "sh", program]);
    let look = look.stdin(Stdio::null()).stdout(Stdio::null()).status();
    look.is_ok_and(|status| status.success())
}

/// Bytes that are collected before they are printed.
const AT_ONCE: usize = 64 << 10;

/// A result on its way to the terminal, to a pager, or to another host.
pub struct Pages<'h> {
    out: &'h Out<'h>,
    pager: Option<Child>,
    text: String,
}

impl Pages<'_> {
    /// Prints a piece.
    pub fn put(&mut self, piece: &str) -> Result<()> {
        self.text.push_str(piece);
        match self.text.len() >= AT_ONCE {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<()> {
        let text = std::mem::take(&mut self.text);
        let Some(pager) = &mut self.pager else {
            return self.out.show(&text);
        };
        match &mut pager.stdin {
            // A reader that leaves the pager has seen enough.
            Some(pipe) => {
                let _wait = disk::wait();
                super::said(pipe.write_all(text.as_bytes()))
            }
            None => Ok(()),
        }
    }

    /// Prints the rest and waits until the pager ends.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        let Some(mut pager) = self.pager.take() else {
            return Ok(());
        };
        drop(pager.stdin.take());
        let ended = pager.wait();
        ended.map_err(Error::io("wait for", "the pager".as_ref()))?;
        Ok(())
    }
}
