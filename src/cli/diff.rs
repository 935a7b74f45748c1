//! `diff`: show where two documents differ, or what they share.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use lookalike_base::{Error, listed, path_word, refuse, shell_word};
use lookalike_engine::collection;
use lookalike_engine::document::{self, CompareConfig, Compared};
use lookalike_engine::outputs::{self, Home};
use lookalike_tasks::passages::PassagesConfig;

use crate::report::{page, terminal};
use clap::{Args, ValueEnum};
use lookalike_engine::table::Table;
use lookalike_store::{Workspace, json};

use super::command::{Command, Context, Out, Result};
use super::flags::Programs;
use super::screen::ScreenFlags;
use lookalike_engine::pipeline::{open_catalogued, open_for};

/// Options of `diff`.
#[derive(Debug, Args)]
pub struct Options {
    /// Output directory of an earlier `run`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// First document: a docno, an address, or a place as FILE:RECORD
    #[arg(value_name = "A", required_unless_present = "pair")]
    a: Option<String>,
    /// Second document
    #[arg(value_name = "B", required_unless_present = "pair")]
    b: Option<String>,
    /// Take the documents from the first two columns of a line of a table
    ///
    /// Lines count from 1. The table is a list of pairs, such as a pairs.tsv or the disagreements
    /// that `lookalike evaluate` writes.
    ///
    /// Example: --pair out/pairs.tsv:30
    #[arg(long, value_name = "FILE:LINE", conflicts_with_all = ["a", "b"])]
    pair: Option<PairPlace>,
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
    layout: Layout,
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
    programs: Programs,
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
}

/// A line of a table of pairs.
#[derive(Clone, Debug)]
struct PairPlace {
    file: PathBuf,
    line: u64,
}

impl FromStr for PairPlace {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<PairPlace, String> {
        let place = text.rsplit_once(':').and_then(|(file, line)| {
            let line = line.parse().ok().filter(|&line| line > 0)?;
            Some(PairPlace {
                file: file.into(),
                line,
            })
        });
        place.ok_or_else(|| format!("`{text}` is not a line of a table; write FILE:LINE"))
    }
}

impl fmt::Display for PairPlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.file.display(), self.line)
    }
}

impl PairPlace {
    /// The two documents in the line, and its kind if the table is one of versions.
    fn documents(&self) -> Result<([String; 2], Option<String>)> {
        let mut table = Table::open(&self.file)?;
        let first = table.first()?;
        let has = |name: &&str| first.iter().any(|column| column == name);
        let names = ["docno_a", "docno_b", "kind"];
        let named = names[..2].iter().all(has);
        match named || table.is_json() {
            true => table.want_names(&names[..if has(&"kind") { 3 } else { 2 }])?,
            false => table.want_numbers(&[0, 1]),
        }
        let mut row = Vec::new();
        while table.next(&mut row)? {
            if table.number() == self.line {
                let text = |field: &Vec<u8>| String::from_utf8_lossy(field).into_owned();
                return Ok(([text(&row[0]), text(&row[1])], row.get(2).map(text)));
            }
        }
        refuse("pair", self, "that line of the file has no pair")
    }

    /// Explains an error about a line whose names are not those of two documents: a page that is
    /// new or gone has only one, and a record that was not read has none.
    fn unpaired(
        &self,
        error: Error,
        (names, kind): &([String; 2], Option<String>),
        workspace: &Workspace,
        context: &Context<'_>,
    ) -> Result<Error> {
        let is_empty = names.iter().any(String::is_empty);
        if !matches!(error, Error::NoDocument { .. }) || kind.is_none() && !is_empty {
            return Ok(error);
        }
        let mut known = Vec::new();
        for name in names.iter().filter(|name| !name.is_empty()) {
            match document::find(workspace, name, context) {
                Err(Error::NoDocument { .. }) => {}
                found => known.push(found.map(|_| name)?),
            }
        }
        let of = listed("", kind, |kind| format!(" `{kind}`"));
        let limit = match known[..] {
            [name] => format!(
                "the row{of} has one document, not two; show it: `lookalike show {} {}`",
                path_word(workspace.directory()),
                shell_word(name)
            ),
            [] if is_empty => format!("the row{of} has no document; its columns say what is known"),
            _ => return Ok(error),
        };
        Ok(Error::parameter("pair", self).because(limit))
    }
}

/// How the texts are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Layout {
    Auto,
    SideBySide,
    Unified,
}

/// Columns from which texts are put side by side.
const WIDE: usize = 100;

/// Bytes for each token that its display takes: rows, or the positions of a stretch.
const SHOWN_BYTES: u64 = 120;

impl Command for Options {
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
            let own = Home::Own(&workspace, &[]);
            outputs::check("output", output, own, &[outputs::PAGE])?;
            if workspace.other_name(output).is_some() {
                drop(workspace);
                workspace = open_for(&self.directory, output, context)?;
            }
        }
        let given = match (&self.pair, &self.a, &self.b) {
            (Some(pair), ..) => pair.documents()?,
            (None, a, b) => ([a, b].map(|name| name.clone().unwrap_or_default()), None),
        };
        let names = given.0.each_ref().map(String::as_str);
        let both = document::compare(&workspace, names, &config, context);
        let both = match (both, &self.pair) {
            (Err(error), Some(pair)) => {
                return Err(pair.unpaired(error, &given, &workspace, context)?);
            }
            (both, _) => both?,
        };
        let manifest = &workspace.manifest;
        let passages = PassagesConfig::before(manifest).and_then(|of| of.excluded);
        if passages.is_some() || collection::config(manifest).shingle.excluded.is_some() {
            let line = "warning: the texts are whole: they also have what --exclude-text leaves out in DIR";
            context.progress.lost(line);
        }
        let texts = both
            .a
            .words(&workspace)
            .and_then(|a| Ok([a, both.b.words(&workspace)?]));
        if out.setup.json {
            let compared = Compared::new(&both, &config);
            let line = json::line(&compared, "standard output")?;
            out.say(&super::plain_json(&line))?;
            return texts.map(|_| ());
        }
        if let Some(output) = &self.output {
            let passages = document::passages(texts?, &config);
            page::diff::write(&mut workspace, &both, &passages, around, output)?;
            let page = format!("page in {}\n", output.display());
            return out.say(&page);
        }
        let screen = self.screen.screen(self.width, out.host);
        let mut pages = self.screen.pages(out);
        let mut put = |piece: &str| pages.put(piece);
        match &texts {
            Err(_) => terminal::head(&both, screen, &mut put)?,
            Ok(texts) if self.passages => {
                let passages = document::passages(*texts, &config);
                terminal::passages(&both, *texts, &passages, around, screen, &mut put)?;
            }
            Ok(texts) => {
                let side_by_side = match self.layout {
                    Layout::Auto => screen.width >= WIDE,
                    layout => layout == Layout::SideBySide,
                };
                let shown = (side_by_side, around);
                terminal::compared(&both, *texts, shown, screen, &mut put)?;
            }
        }
        pages.finish()?;
        texts.map(|_| ())
    }
}
