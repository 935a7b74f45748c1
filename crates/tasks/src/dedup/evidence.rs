//! Lists of kept and removed documents.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use serde::Serialize;

use super::choose::Fate;
use super::{Decided, DedupConfig, DedupSummary, Form, STAGE, Unusable};
use lookalike_base::{Error, Result};
use lookalike_engine::cluster::ResultFormat;
use lookalike_engine::collection::{self, DocumentRecord, InputRecord, InputRecords};
use lookalike_engine::table as read;
use lookalike_rewrite::annotate::{Annotation, Survivor};
use lookalike_rewrite::output::{OutputDirectory, OutputFile, Outputs};
use lookalike_store::{Cell, Column, Table, cells, columns, only_if};

/// The evidence for removed documents.
const REMOVED_FILE: &str = "removed.jsonl";
/// The kept documents of `--ids-only`.
pub(super) const KEPT_LIST: &str = "kept.tsv";

/// The evidence as a table.
pub const REMOVED_TABLE: &str = "removed.parquet";
/// The kept documents of `--ids-only` as a table.
pub const KEPT_TABLE: &str = "kept.parquet";

/// The evidence for documents as JSON lines, as a list of `--ids-only`, and as a table.
type FileNames = [&'static str; 3];
pub(super) const REMOVED_NAMES: FileNames = [REMOVED_FILE, "removed.tsv", REMOVED_TABLE];
/// The evidence for documents that are kept only because `revisit` records refer to them.
pub(super) const REFERRED_NAMES: FileNames = ["referred.jsonl", "referred.tsv", "referred.parquet"];

/// The names of the evidence in a format.
pub(super) fn file_names(format: ResultFormat) -> [&'static str; 2] {
    let at = match format {
        ResultFormat::None | ResultFormat::Tsv => 0,
        ResultFormat::Parquet => 2,
    };
    [REMOVED_NAMES[at], REFERRED_NAMES[at]]
}

/// A document by its place.
#[derive(Serialize)]
struct DocumentPlace<'a> {
    file: &'a str,
    record: u32,
    docno: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<String>,
}

impl Decided<'_> {
    fn place(&self, document: u32) -> Result<DocumentPlace<'_>> {
        let (docno, captured) = self.names.named(document)?;
        let file = self.places.file(document) as usize;
        Ok(DocumentPlace {
            file: self.inputs.get(file).map_or("", |input| &input.docno),
            record: self.places.record(document),
            docno,
            address: captured.url,
            date: captured.date,
        })
    }

    /// Returns the value of the measure for a removed document and its survivor, and the number of
    /// their shared shingles. Equal documents may have none.
    fn score(&self, document: u32, fate: Fate) -> Option<(Cell<'static>, u32)> {
        let (survivor, shared) = (fate.survivor?, fate.shared);
        let (a, b) = self.measured(document, survivor);
        Some(match fate.reason.is_of_equals() {
            true => (Cell::Real(1.0), a),
            false => {
                let of = [shared.into(), a.into(), b.into()];
                (Cell::Measured(self.criterion.measure, of), shared)
            }
        })
    }

    /// The score of a removed document and its survivor in JSON; `null` without a survivor.
    pub(crate) fn score_text(&self, document: u32) -> String {
        let fate = self.choice.by_rule(document);
        let score = fate.and_then(|fate| self.score(document, fate));
        Cell::from(score.map(|(score, _)| score)).json()
    }

    /// Returns the annotation of a document for `--annotate`.
    pub(super) fn annotation(&self, document: u32) -> Result<Annotation> {
        let fate = self.choice.fate(document);
        let cluster = self.choice.cluster(document);
        let survivor = fate.and_then(|fate| fate.survivor);
        let survivor = survivor.map(|of| self.place(of)).transpose()?;
        Ok(Annotation {
            cluster: cluster.map(|(number, _)| number),
            cluster_size: cluster.map_or(1, |(_, size)| size),
            survivor: survivor.map(|place| Survivor {
                file: place.file.into(),
                record: place.record,
                docno: place.docno.into_owned(),
            }),
            measure: self.criterion.measure.column(),
            score: self.score_text(document),
            kept: fate.is_none(),
        })
    }

    /// One line of `removed.jsonl` or `referred.jsonl`.
    fn line(&self, document: u32, of: &DocumentRecord, fate: Fate) -> Result<String> {
        let place = json(&self.place(document)?)?;
        // The object is left open for more members.
        let mut line = place.trim_end_matches('}').to_string();
        let (reason, survivor) = (fate.reason.text(), fate.survivor);
        let offset = of.offset;
        let _ = write!(line, ",\"offset\":{offset},\"reason\":\"{reason}\"");
        if let Some(survivor) = survivor {
            let shared = self.score(document, fate).map_or(0, |(_, shared)| shared);
            let score = self.score_text(document);
            let survivor = json(&self.place(survivor)?)?;
            let column = self.criterion.measure.column();
            let _ = write!(
                line,
                ",\"survivor\":{survivor},\"{column}\":{score},\"shared\":{shared}"
            );
        }
        if let Some((number, size)) = self.choice.cluster(document) {
            let _ = write!(line, ",\"cluster\":{number},\"cluster_size\":{size}");
        }
        // That of a capture is beside its docno.
        if let (Some(url), None) = (&of.url, &of.date.0) {
            let _ = write!(line, ",\"address\":{}", json(url)?);
        }
        line.push_str("}\n");
        Ok(line)
    }

    /// Counts every document, and writes the evidence and the lists. Lists come without a directory
    /// of removed records.
    pub(super) fn write(&self, outputs: &Outputs, config: &DedupConfig) -> Result<DedupSummary> {
        let lists = (config.form == Form::Lists).then_some(&outputs.kept);
        let directory = lists.or(outputs.removed.as_ref());
        let captures = collection::has_captures(&self.workspace.manifest);
        let (mut columns, mut of_kept) = (REMOVED, KEPT);
        columns[11].name = self.criterion.measure.column();
        if captures {
            [columns[15]] = columns! { address: Text or "" };
        }
        only_if(&mut columns[16..], captures);
        only_if(&mut of_kept[5..], captures);
        let is_table = config.results == ResultFormat::Parquet;
        let name = if is_table { KEPT_TABLE } else { KEPT_LIST };
        // The copies of the inputs have the numbers below.
        let number = self.inputs.len() as u32;
        let kept = lists.map(|output| begin(output, name, number, &of_kept));
        let mut kept = kept.transpose()?;
        let evidence = |[lines, list, table]: FileNames, number| {
            let begun = directory.map(|output| match (is_table, lists) {
                (true, _) => begin(output, table, number, &columns).map(Evidence::Table),
                (_, Some(_)) => begin(output, list, number, &columns).map(Evidence::Table),
                (_, None) => output.create(lines, number).map(Evidence::Lines),
            });
            begun.transpose()
        };
        let mut removed = evidence(REMOVED_NAMES, number + 1)?;
        let mut referred = match self.choice.referred.is_some() {
            true => evidence(REFERRED_NAMES, number + 2)?,
            false => None,
        };
        let mut summary = DedupSummary::default();
        let mut entries = InputRecords::all(self.workspace);
        while let Some(entry) = entries.next_record()? {
            let (number, document) = match entry {
                InputRecord::Document(number, document) => (number, document),
                InputRecord::Rejected(reject) => {
                    summary.rejected += 1;
                    if config.rejects == Unusable::Drop && reject.source.length > 0 {
                        summary.rejected_dropped += 1;
                    }
                    continue;
                }
            };
            self.context.advance(STAGE, number)?;
            summary.documents += 1;
            if let Some(fate) = self.choice.fate(number) {
                summary.removed[fate.reason as usize] += 1;
                self.put(&mut removed, number, &document, fate)?;
                continue;
            }
            summary.kept += 1;
            if let Some(table) = &mut kept {
                let place = self.place(number)?;
                table.row(&cells! {
                    place.file, place.record, document.offset, &place.docno, number,
                    document.url.as_ref(), place.date.as_ref(),
                })?;
            }
            if self.choice.is_referred(number)
                && let Some(fate) = self.choice.by_rule(number)
            {
                self.put(&mut referred, number, &document, fate)?;
            }
        }
        // The complete files get their places.
        let lists = [kept.map(Evidence::Table), removed, referred];
        lists
            .into_iter()
            .flatten()
            .try_for_each(|list| match list {
                Evidence::Lines(lines) => lines.finish(),
                Evidence::Table(table) => table.finish()?.finish(),
            })?;
        Ok(summary)
    }

    /// Adds a removed document to its list, if there is one.
    fn put(
        &self,
        list: &mut Option<Evidence>,
        document: u32,
        of: &DocumentRecord,
        fate: Fate,
    ) -> Result<()> {
        let table = match list {
            None => return Ok(()),
            Some(Evidence::Lines(out)) => {
                let line = self.line(document, of, fate)?;
                let put = out.write_all(line.as_bytes());
                return put.map_err(Error::io("write", &out.path));
            }
            Some(Evidence::Table(table)) => table,
        };
        let place = self.place(document)?;
        let other = fate.survivor.map(|survivor| self.place(survivor));
        let other = other.transpose()?;
        let other = other.as_ref();
        let (file, record) = other.map(|place| (place.file, place.record)).unzip();
        let docno = other.map(|place| &place.docno);
        let (value, shared) = self.score(document, fate).unzip();
        let (cluster, cluster_size) = self.choice.cluster(document).unzip();
        table.row(&cells! {
            place.file, place.record, &place.docno, of.offset, &place.docno, document,
            fate.reason.text(), file, record, docno, fate.survivor, value, shared, cluster,
            cluster_size, of.url.as_ref(), place.date.as_ref(),
            other.and_then(|other| other.address.as_ref()),
            other.and_then(|other| other.date.as_ref()),
        })
    }
}

/// A list of documents with the reasons for their removal.
enum Evidence {
    /// Of JSON.
    Lines(OutputFile),
    Table(Table<OutputFile>),
}

/// The columns of `removed.tsv`, `removed.parquet` and the same for `referred`. The resemblance has the name of the measure.
const REMOVED: [Column; 19] = columns! {
    file: Text, record: I64, docno: Text in Parquet, offset: I64, docno: Text in Lines,
    document: U32 in Parquet, reason: Text, survivor_file: Text or "", survivor_record: I64 or "",
    survivor_docno: Text or "", survivor_document: U32 or "" in Parquet, resemblance: F64 or "",
    shared: U32 or "" in Parquet, cluster: U32 or "" in Parquet,
    cluster_size: U32 or "" in Parquet, address: Text or "" in Parquet, date: Text or "",
    survivor_address: Text or "", survivor_date: Text or "",
};

/// The columns of `kept.tsv` and `kept.parquet`.
const KEPT: [Column; 7] = columns! {
    file: Text, record: I64, offset: I64, docno: Text, document: U32 in Parquet,
    address: Text or "", date: Text or "",
};

/// The docnos in a list of removed documents (`removed.tsv`).
///
/// # Errors
/// `BadLine`, `Io`.
pub fn removed_docnos(list: &Path) -> Result<impl Iterator<Item = Result<String>> + use<>> {
    let mut table = read::Table::open(list)?;
    table.want_names(&["docno"])?;
    let mut row = Vec::new();
    Ok(std::iter::from_fn(move || match table.next(&mut row) {
        Ok(more) => more.then(|| Ok(String::from_utf8_lossy(&row[0]).into_owned())),
        Err(error) => Some(Err(error)),
    }))
}

fn begin(
    output: &OutputDirectory,
    name: &str,
    number: u32,
    columns: &[Column],
) -> Result<Table<OutputFile>> {
    let file = output.create(name, number)?;
    Table::new(&output.path(name), file, &[], columns)
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| Error::io("write", REMOVED_FILE.as_ref())(error.into()))
}
