//! The files of a controlled corpus.

use std::path::Path;

use serde::Serialize;

use super::edits::Edit;
use super::words::each_piece;
use super::{PerturbReport, STAGE};
use lookalike_base::{Context, Result, boundary_before};
use lookalike_engine::outputs;
use lookalike_store::{AtomicFile, OwnDirectory, json, table::cell};
use lookalike_text::parse::Parser;
use lookalike_text::read::RawDocument;

/// The documents that were copied.
pub(crate) const ORIGINALS: &str = "originals.jsonl";
/// Their copies.
pub(crate) const COPIES: &str = "copies.jsonl";
/// All other documents.
pub(crate) const BACKGROUND: &str = "background.jsonl";
/// The edits of each copy.
pub(crate) const EDITS: &str = "edits.jsonl";
/// The true pairs.
pub(crate) const TRUTH: &str = "truth.tsv";
/// Parameters, counts, checksums. Written last, so if it exists the other files are complete.
pub(crate) const REPORT: &str = "perturb.json";

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
    directory: OwnDirectory,
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
        OwnDirectory::look(directory, |name| ALL.contains(&name), "perturb")
    }

    /// Returns an error if the output would replace a file that the command reads.
    pub fn check(directory: &Path, reads: &[&Path]) -> Result<()> {
        outputs::check_files(directory, ALL, &[], reads)
    }

    /// Opens the files. Removes or replaces the files of an earlier command, its report first.
    pub(crate) fn create(directory: &Path, background: bool) -> Result<Output> {
        let directory = OwnDirectory::create(directory, REPORT, |name| name == BACKGROUND)?;
        let mut output = Output {
            originals: directory.file(ORIGINALS)?,
            copies: directory.file(COPIES)?,
            background: background.then(|| directory.file(BACKGROUND)).transpose()?,
            edits: directory.file(EDITS)?,
            truth: directory.file(TRUTH)?,
            directory,
        };
        output.truth.put(b"docno_a\tdocno_b\n")?;
        Ok(output)
    }

    pub(crate) fn original(&mut self, docno: &str, text: &str) -> Result<()> {
        put_document(&mut self.originals, docno, text)
    }

    /// Writes a document that is not copied while it is parsed.
    pub(crate) fn background(
        &mut self,
        document: &RawDocument<'_>,
        parser: &mut Parser,
    ) -> Result<()> {
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

    pub(crate) fn copy(
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
        let line = json::line(&line, self.directory.path().join(EDITS))?;
        self.edits.put(line.as_bytes())
    }

    /// Writes every two documents of a family, an original and its copies, as true pairs, and
    /// returns their number.
    pub(crate) fn pairs(&mut self, family: &[String], context: &Context<'_>) -> Result<u64> {
        let mut pairs = 0;
        for (n, a) in family.iter().enumerate() {
            context.stop.check(STAGE)?;
            for b in &family[n + 1..] {
                self.truth
                    .put(format!("{}\t{}\n", cell(a), cell(b)).as_bytes())?;
                pairs += 1;
            }
        }
        Ok(pairs)
    }

    /// Commits the files and writes their report.
    pub(crate) fn finish(self, report: &mut PerturbReport) -> Result<()> {
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
        self.directory.finish(report)
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
        let (piece, rest) = text.split_at(boundary_before(text, TEXT_BYTES));
        let quoted = serde_json::Value::from(piece).to_string();
        // The text between the quotation marks.
        let inside = quoted.get(1..quoted.len().saturating_sub(1));
        file.put(inside.unwrap_or_default().as_bytes())?;
        text = rest;
    }
    Ok(())
}
