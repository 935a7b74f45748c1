//! `show`: print what is known about a document, and its text.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use lookalike_base::{Result, count, counted, memory, percent};
use lookalike_engine::document::{self, Facts, Text};

use crate::report::terminal::{self, visible_lines};
use serde::Serialize;

use super::command::{Args, Command, Context, Out};
use super::flags::Programs;
use super::screen::ScreenFlags;
use lookalike_engine::pipeline::open_catalogued;
use lookalike_store::disk;
use lookalike_tasks::passages::OVERLAPS_FILE;
use lookalike_tasks::passages::shown::ranked;

/// Options of `show`.
#[derive(Debug, Args)]
pub struct Options {
    /// Output directory of an earlier `run`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Docno or address of a document, or its place as FILE:RECORD
    ///
    /// ADDRESS@DATE is one of several captures of an address. The beginning of its date is enough,
    /// such as 2024-01-31.
    #[arg(value_name = "DOC")]
    document: String,
    /// Print its text below the facts
    ///
    /// The text is the source of the words, in UTF-8: a field of a JSON object, or the text of a
    /// page without its tags.
    #[arg(long, conflicts_with = "text_only")]
    text: bool,
    /// Print only its text, byte for byte
    ///
    /// A terminal gets escapes in place of control characters.
    #[arg(long, conflicts_with_all = ["json", "most"])]
    text_only: bool,
    /// List at most this number of pairs, the most similar first
    ///
    /// Example: --most 3
    #[arg(long, value_name = "N", default_value_t = 10)]
    most: usize,
    #[command(flatten)]
    programs: Programs,
    #[command(flatten)]
    screen: ScreenFlags,
}

/// The result in JSON.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    facts: &'a Facts,
    #[serde(flatten)]
    text: Option<Text>,
}

/// The documents that share passages with this one, if a search listed pairs: at most `most` of them.
fn shared(directory: &Path, (of, most): (u32, usize), context: &Context<'_>) -> Result<String> {
    if !disk::exists(&directory.join(OVERLAPS_FILE))? {
        return Ok(String::new());
    }
    let shared = ranked(directory, Some(of), most, context)?;
    let partners = counted(shared.all, "document");
    let mut text = format!("passages          in common with {partners} (overlaps.tsv)\n");
    for pair in &shared.pairs {
        let own = usize::from(pair.documents[0] != of);
        let [words, share] = [count(pair.words[own]), percent(pair.shares[own], 1)];
        let other = terminal::visible(&pair.names[1 - own]);
        let _ = writeln!(text, "  {other}  {words} words of this document ({share})");
    }
    Ok(text)
}

/// Memory for the rest of the process while a text is printed, and its copies for a terminal.
const FIXED_BYTES: u64 = 24 << 20;
const COPIES: u64 = 6;

impl Command for Options {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let workspace = open_catalogued(&self.directory, context)?;
        let found = document::find(&workspace, &self.document, context)?;
        let text = match self.text || self.text_only {
            false => None,
            true => {
                let mut held = memory::Memory::new(&context.budget, FIXED_BYTES);
                let mut texts = document::texts(&workspace, &[&found], &mut held, context)?;
                let text = texts.pop();
                let escaped = !self.text_only || out.host.columns().is_some();
                if let (Some(Text::Found { text, .. }), true) = (&text, escaped) {
                    let _ = held.take(COPIES * text.len() as u64);
                }
                held.check(|| "showing a document with its text".into())?;
                text
            }
        };
        if self.text_only {
            return match text {
                Some(Text::Found { text, .. }) if out.host.columns().is_some() => {
                    out.show(&visible_lines(&text))
                }
                Some(Text::Found { text, .. }) => out.show(&text),
                Some(Text::Missing { reason }) => {
                    Err(document::no_text(&workspace, &found, &reason))
                }
                None => Ok(()),
            };
        }
        let facts = document::facts(&workspace, &found, self.most, context)?;
        if out.setup.json {
            let facts = &facts;
            let shown = Shown { facts, text };
            return out.say(&super::json(&shown)?);
        }
        let screen = self.screen.screen(None, out.host);
        let mut pages = self.screen.pages(out);
        terminal::shown(&facts, screen, &mut |piece| pages.put(piece))?;
        let of = (found.number, self.most);
        pages.put(&shared(&self.directory, of, context)?)?;
        match text {
            None => {}
            Some(Text::Found { text, source }) => {
                pages.put("\n")?;
                if let Some(remark) = source.remark() {
                    pages.put(&format!("({remark})\n\n"))?;
                }
                pages.put(&visible_lines(&text))?;
                if !text.ends_with('\n') {
                    pages.put("\n")?;
                }
            }
            Some(Text::Missing { reason }) => {
                let reason = terminal::visible(&reason);
                pages.put(&format!("\nThe text is not available: {reason}\n"))?;
            }
        }
        pages.finish()
    }
}
