//! `diff`: show where two documents differ, or what they share.

use std::path::PathBuf;

use crate::Result;
use crate::base::error::refuse;
use crate::base::progress::Context;
use crate::engine::collection;
use crate::engine::document::{self, CompareConfig, Compared};
use crate::engine::outputs;

use crate::report::terminal::{self, Layout};
use crate::report::write_diff;
use crate::store::json;
use clap::{Args, ValueEnum};

use super::command::{Command, Out, Printed, Setup};
use super::flags::{Json, Memory};
use super::screen::ScreenFlags;
use crate::engine::pipeline::{open_catalogued, open_for};

/// Options of `diff`.
#[derive(Debug, Args)]
pub struct Options {
    /// Output directory of an earlier `ingest` or `run`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// First document: a docno, or a place as FILE:RECORD
    #[arg(value_name = "A")]
    a: String,
    /// Second document
    #[arg(value_name = "B")]
    b: String,
    /// List the passages that both texts have, in any order
    ///
    /// A passage is a run of equal tokens that cannot be extended to either side. One that a text
    /// repeats is listed for each place. Positions count from 0, the last one excluded; lines count
    /// from 1.
    #[arg(long)]
    passages: bool,
    /// Shortest passage to list, in tokens
    ///
    /// Two unrelated English texts rarely have 20 words in a row in common. Also for --json and -o.
    ///
    /// Example: --passages --length 50
    #[arg(long, value_name = "N", default_value_t = 20)]
    length: u32,
    /// List at most this number of passages
    ///
    /// The number of all passages, and the share of each text that they cover, do not depend on it.
    ///
    /// Example: --passages --most 10
    #[arg(long, value_name = "N", default_value_t = 1000)]
    most: usize,
    /// Words to show around a difference
    ///
    /// Example: --context 5
    #[arg(long, value_name = "N", default_value_t = 15, help_heading = "Display")]
    context: u32,
    /// Also show equal words, instead of their number
    #[arg(long, conflicts_with = "context", help_heading = "Display")]
    full: bool,
    /// Arrangement of the texts: auto, side-by-side or unified
    ///
    /// "auto" puts the texts side by side if there are at least 100 columns. In a unified text,
    /// words of A are red and words of B are green; without colours they are written as [-A-] and
    /// {+B+}.
    ///
    /// Example: --layout side-by-side
    #[arg(
        long,
        value_name = "LAYOUT",
        default_value = "auto",
        help_heading = "Display"
    )]
    layout: LayoutChoice,
    /// Columns to use [default: the width of the terminal, or 80]
    ///
    /// Example: --width 120
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(20..=1000),
        help_heading = "Display"
    )]
    width: Option<u32>,
    #[command(flatten)]
    screen: ScreenFlags,
    /// Write an HTML page instead
    ///
    /// The page is one file that loads nothing and runs no script. If the file is in DIR, the
    /// command needs DIR for itself, because the manifest there names the page.
    ///
    /// Example: --output differences.html
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["passages", "json"], help_heading = None)]
    output: Option<PathBuf>,
    #[command(flatten)]
    memory: Memory,
    #[command(flatten)]
    json: Json,
}

/// How the texts are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LayoutChoice {
    #[value(help = None)]
    Auto,
    #[value(help = None)]
    SideBySide,
    #[value(help = None)]
    Unified,
}

/// Columns from which texts are put side by side.
const WIDE: usize = 100;

/// Bytes for each token that its display takes: rows, or the positions of a stretch.
const SHOWN_BYTES: u64 = 120;

impl Command for Options {
    fn setup(&self) -> Setup {
        self.memory.alone(Printed::result(self.json.json))
    }

    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        if self.length == 0 {
            return refuse("length", "0", "a passage has at least one token");
        }
        let config = CompareConfig {
            length: self.length as usize,
            most: self.most,
            shown_bytes: SHOWN_BYTES,
        };
        let around = (!self.full).then_some(self.context as usize);
        let mut workspace = open_catalogued(&self.directory, context)?;
        if let Some(output) = &self.output {
            outputs::check(output, Some((&workspace, &[])), &[])?;
            outputs::check_place("output", output)?;
            if workspace.other_name(output).is_some() {
                drop(workspace);
                workspace = open_for(&self.directory, output, context)?;
            }
        }
        let names = [self.a.as_str(), self.b.as_str()];
        let both = document::compare(&workspace, names, &config, context)?;
        let parse = &collection::config(&workspace.manifest).shingle.parse;
        let texts = both
            .a
            .words(&workspace)
            .and_then(|a| Ok([a, both.b.words(&workspace)?]));
        if self.json.json {
            let compared = Compared::new(&both, parse, &config);
            let line = json::line(&compared, "standard output")?;
            out.host.say(&super::plain_json(&line))?;
            return texts.map(|_| ());
        }
        if let Some(output) = &self.output {
            let passages = document::passages(texts?, parse, &config);
            write_diff(&mut workspace, &both, &passages, around, output)?;
            let page = format!("page in {}\n", output.display());
            return out.host.say(&page);
        }
        let screen = self.screen.screen(self.width, out.host);
        let mut pages = self.screen.pages(out.host);
        let mut put = |piece: &str| pages.put(piece);
        match &texts {
            Err(_) => terminal::head(&both, screen, &mut put)?,
            Ok(texts) if self.passages => {
                let passages = document::passages(*texts, parse, &config);
                terminal::passages(&both, *texts, &passages, around, screen, &mut put)?;
            }
            Ok(texts) => {
                let layout = match self.layout {
                    LayoutChoice::SideBySide => Layout::SideBySide,
                    LayoutChoice::Auto if screen.width >= WIDE => Layout::SideBySide,
                    _ => Layout::Unified,
                };
                let shown = (layout, around);
                terminal::compared(&both, *texts, parse, shown, screen, &mut put)?;
            }
        }
        pages.finish()?;
        texts.map(|_| ())
    }
}
