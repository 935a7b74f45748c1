//! The files of a controlled corpus.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::edits::Edit;
use super::words::each_piece;
use super::{PerturbReport, STAGE};
use crate::base::error::refuse;
use crate::base::progress::Context;
use crate::engine::outputs;
use crate::store::disk::{self, AtomicFile};
use crate::store::json;
use crate::store::table::cell;
use crate::store::workspace::{LOCK_FILE, Lock};
use crate::text::parse::Parser;
use crate::text::read::RawDocument;
use crate::{Error, Result};

/// The documents that were copied.
pub const ORIGINALS: &str = "originals.jsonl";
/// Their copies.
pub const COPIES: &str = "copies.jsonl";
/// All other documents.
pub const BACKGROUND: &str = "background.jsonl";
/// The edits of each copy.
pub const EDITS: &str = "edits.jsonl";
/// The true pairs.
pub const TRUTH: &str = "truth.tsv";
/// Parameters, counts, checksums. Written last, so if it exists the other files are complete.
pub const REPORT: &str = "perturb.json";

const ALL: [&str; 6] = [ORIGINALS, COPIES, BACKGROUND, EDITS, TRUTH, REPORT];

/// Bytes of a text per write as JSON.
const TEXT_BYTES: usize = 64 << 10;

/// Size and checksum of a written file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileSum {
    /// Its size.
    pub bytes: u64,
    /// Its checksum, hexadecimal.
    pub xxh3: String,
}

/// The files during writing.
pub(super) struct Output {
    directory: PathBuf,
    _lock: Lock,
    originals: AtomicFile,
    copies: AtomicFile,
    background: Option<AtomicFile>,
    edits: AtomicFile,
    truth: AtomicFile,
}

/// A line of [`EDITS`].
#[derive(Serialize)]
struct EditsLine<'a> {
    copy: &'a str,
    original: &'a str,
    /// Hexadecimal: not every JSON parser has 64-bit integers.
    seed: String,
    edits: &'a [Edit],
}

impl Output {
    /// Returns an error if the directory has unrelated files, or if another process uses it.
    pub(crate) fn look_whether_free(directory: &Path) -> Result<()> {
        if !disk::exists(directory)? {
            return Ok(());
        }
        disk::claim(directory);
        Lock::look_whether_free(directory)?;
        let entries = disk::entries(directory).map_err(Error::io("list", directory))?;
        for entry in entries {
            let name = entry.map_err(Error::io("list", directory))?.file_name();
            let known = name.to_str().is_some_and(|name| {
                let whole = name.strip_suffix(".tmp").unwrap_or(name);
                name == LOCK_FILE || ALL.contains(&whole)
            });
            if !known {
                let limit = format!(
                    "it contains {}; use a new directory, or one of an earlier perturb",
                    name.display()
                );
                return refuse("output", directory.display(), limit);
            }
        }
        Ok(())
    }

    /// Returns an error if the output would replace a file that the command reads.
    pub fn check(directory: &Path, reads: &[&Path]) -> Result<()> {
        outputs::check_files(directory, ALL, &[], reads)
    }

    /// Opens the files. Removes or replaces the files of an earlier command, its report first.
    pub fn create(directory: &Path, background: bool) -> Result<Output> {
        disk::create_lasting_directory(directory)?;
        disk::claim(directory);
        let lock = Lock::take(directory)?;
        disk::remove(&directory.join(REPORT))?;
        disk::remove(&directory.join(BACKGROUND))?;
        disk::sync_directory(directory)?;
        let create = |name: &str| AtomicFile::create(&directory.join(name));
        let mut output = Output {
            directory: directory.into(),
            _lock: lock,
            originals: create(ORIGINALS)?,
            copies: create(COPIES)?,
            background: background.then(|| create(BACKGROUND)).transpose()?,
            edits: create(EDITS)?,
            truth: create(TRUTH)?,
        };
        output.truth.put(b"docno_a\tdocno_b\n")?;
        Ok(output)
    }

    pub fn original(&mut self, docno: &str, text: &str) -> Result<()> {
        put_document(&mut self.originals, docno, text)
    }

    /// Writes a document that is not copied while it is parsed.
    pub fn background(&mut self, document: &RawDocument<'_>, parser: &mut Parser) -> Result<()> {
        let Some(file) = &mut self.background else {
            return Ok(());
        };
        begin(file, &document.docno)?;
        let mut written = Ok(());
        each_piece(document, parser, |piece| {
            if written.is_ok() {
                written = file.put(piece.gap);
            }
            if written.is_ok() {
                written = put_text(file, &String::from_utf8_lossy(piece.bytes));
            }
        });
        written?;
        file.put(b"\"}\n")
    }

    pub fn copy(
        &mut self,
        copy: &str,
        original: &str,
        seed: u64,
        edits: &[Edit],
        text: &str,
    ) -> Result<()> {
        put_document(&mut self.copies, copy, text)?;
        let line = EditsLine {
            copy,
            original,
            seed: format!("{seed:016x}"),
            edits,
        };
        let line = json::line(&line, self.directory.join(EDITS))?;
        self.edits.put(line.as_bytes())
    }

    /// Writes every two documents of a family, an original and its copies, as true pairs, and
    /// returns their number.
    pub fn pairs(&mut self, family: &[String], context: &Context<'_>) -> Result<u64> {
        let mut pairs = 0;
        let mut rest = family;
        while let Some((a, others)) = rest.split_first() {
            context.stop.check(STAGE)?;
            for b in others {
                self.truth
                    .put(format!("{}\t{}\n", cell(a), cell(b)).as_bytes())?;
                pairs += 1;
            }
            rest = others;
        }
        Ok(pairs)
    }

    /// Commits the files and writes their report.
    pub fn finish(self, report: &mut PerturbReport) -> Result<()> {
        let files = [
            (ORIGINALS, Some(self.originals)),
            (COPIES, Some(self.copies)),
            (BACKGROUND, self.background),
            (EDITS, Some(self.edits)),
            (TRUTH, Some(self.truth)),
        ];
        for (name, file) in files {
            if let Some(file) = file {
                let (bytes, sum) = file.finish()?;
                let xxh3 = format!("{sum:016x}");
                report.files.insert(name, FileSum { bytes, xxh3 });
            }
        }
        let path = self.directory.join(REPORT);
        let text = json::pretty(report, &path)?;
        disk::sync_directory(&self.directory)?;
        let mut file = AtomicFile::create(&path)?;
        file.put(text.as_bytes())?;
        file.finish()?;
        disk::sync_directory(&self.directory)
    }
}

fn put_document(file: &mut AtomicFile, docno: &str, text: &str) -> Result<()> {
    begin(file, docno)?;
    put_text(file, text)?;
    file.put(b"\"}\n")
}

fn begin(file: &mut AtomicFile, docno: &str) -> Result<()> {
    file.put(b"{\"id\":\"")?;
    put_text(file, docno)?;
    file.put(b"\",\"text\":\"")
}

/// Escapes text for a JSON string, without the quotation marks.
fn put_text(file: &mut AtomicFile, mut text: &str) -> Result<()> {
    while !text.is_empty() {
        let mut end = text.len().min(TEXT_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let (piece, rest) = text.split_at(end);
        let quoted = serde_json::Value::from(piece).to_string();
        // The text between the quotation marks.
        let inside = quoted.get(1..quoted.len().saturating_sub(1));
        file.put(inside.unwrap_or_default().as_bytes())?;
        text = rest;
    }
    Ok(())
}
