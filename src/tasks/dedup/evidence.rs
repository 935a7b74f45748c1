//! Lists of kept and removed documents.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write as _;

use serde::Serialize;

use super::choose::{Choice, Fate, Removal};
use super::places::Places;
use super::{DedupSummary, Rejects, STAGE};
use crate::base::measure::Measure;
use crate::base::progress::Context;
use crate::engine::cluster::{ResultFormat, cell};
use crate::engine::collection::{InputRecord, InputRecords, Names};
use crate::engine::sample::Sampled;
use crate::store::table::{Cell, ColumnSpec, ColumnType, Table};
use crate::store::workspace::Workspace;
use crate::text::read::InputFile;
use crate::text::rewrite::annotate::{Annotation, Survivor};
use crate::text::rewrite::output::{OutputDirectory, OutputFile};
use crate::{Error, Result};
use ColumnType::{F64, I64, Text, U32};

/// The evidence for removed documents.
pub const REMOVED_FILE: &str = "removed.jsonl";
/// The lists of `--ids-only`.
pub const KEPT_LIST: &str = "kept.tsv";
/// The lists of `--ids-only`.
pub const REMOVED_LIST: &str = "removed.tsv";

/// The evidence as a table.
pub const REMOVED_TABLE: &str = "removed.parquet";
/// The kept documents of `--ids-only` as a table.
pub const KEPT_TABLE: &str = "kept.parquet";

/// The name of the evidence in a format.
pub(super) fn file_name(format: ResultFormat) -> &'static str {
    match format {
        ResultFormat::Tsv => REMOVED_FILE,
        ResultFormat::Parquet => REMOVED_TABLE,
    }
}

/// What a removed document and its survivor have in common.
#[derive(Clone, Copy, Debug)]
enum Score {
    /// Everything: they are equal, and have this number of shingles, perhaps none.
    Equal(u32),
    /// Shared shingles, and the shingles of each.
    Shared(u32, u32, u32),
}

impl Score {
    /// Shared shingles.
    fn shared(self) -> u32 {
        match self {
            Score::Equal(shared) | Score::Shared(shared, ..) => shared,
        }
    }

    fn text(self, measure: Measure) -> String {
        match self {
            Score::Equal(_) => "1.000000".into(),
            Score::Shared(shared, a, b) => measure.text(shared.into(), a.into(), b.into()),
        }
    }

    fn value(self, measure: Measure) -> f64 {
        match self {
            Score::Equal(_) => 1.0,
            Score::Shared(shared, a, b) => measure.value(shared.into(), a.into(), b.into()),
        }
    }
}

/// What is known about every document.
pub(super) struct Knowledge<'k> {
    pub workspace: &'k Workspace,
    pub inputs: &'k [InputFile],
    pub choice: &'k Choice,
    pub places: &'k Places,
    pub names: Names,
    pub sizes: Sampled,
    pub measure: Measure,
}

/// A document by its place.
#[derive(Serialize)]
struct DocumentPlace<'a> {
    file: &'a str,
    record: u32,
    docno: Cow<'a, str>,
}

impl Knowledge<'_> {
    fn place(&self, document: u32) -> Result<DocumentPlace<'_>> {
        let file = self.places.file(document) as usize;
        Ok(DocumentPlace {
            file: self.inputs.get(file).map_or("", |input| &input.docno),
            record: self.places.record(document),
            docno: self.names.get(document)?,
        })
    }

    /// What a removed document and its survivor have in common.
    fn score(&self, document: u32, fate: Fate) -> Option<Score> {
        let Fate::Removed {
            survivor: Some(survivor),
            reason,
            shared,
        } = fate
        else {
            return None;
        };
        let class = |document| self.choice.representative(document);
        let (a, b) = self.sizes.measured(class(document), class(survivor));
        Some(match reason {
            Removal::Exact => Score::Equal(a),
            _ => Score::Shared(shared, a, b),
        })
    }

    /// The score of a removed document and its survivor as text; empty without a survivor.
    pub fn score_text(&self, document: u32) -> String {
        let score = self.score(document, self.choice.fate(document));
        score.map_or_else(String::new, |score| score.text(self.measure))
    }

    /// What `--annotate` says about a document.
    pub fn annotation(&self, document: u32) -> Result<Annotation> {
        let fate = self.choice.fate(document);
        let cluster = self.choice.cluster(document);
        let survivor = match fate {
            Fate::Removed {
                survivor: Some(survivor),
                ..
            } => Some(self.place(survivor)?),
            _ => None,
        };
        Ok(Annotation {
            cluster: cluster.map(|(number, _)| number),
            cluster_size: cluster.map_or(1, |(_, size)| size),
            survivor: survivor.map(|place| Survivor {
                file: place.file.into(),
                record: place.record,
                docno: place.docno.into_owned(),
            }),
            measure: self.measure.column(),
            score: self.score_text(document),
            kept: fate == Fate::Kept,
        })
    }

    /// One line of `removed.jsonl`.
    fn line(&self, document: u32, offset: u64, fate: Fate) -> Result<String> {
        let Fate::Removed {
            reason, survivor, ..
        } = fate
        else {
            return Ok(String::new());
        };
        let place = json(&self.place(document)?)?;
        // The object is left open for what follows.
        let mut line = place.trim_end_matches('}').to_string();
        let _ = write!(
            line,
            ",\"offset\":{offset},\"reason\":\"{}\"",
            reason.text()
        );
        if let Some(survivor) = survivor {
            let shared = self.score(document, fate).map_or(0, Score::shared);
            let score = self.score_text(document);
            let survivor = json(&self.place(survivor)?)?;
            let column = self.measure.column();
            let _ = write!(
                line,
                ",\"survivor\":{survivor},\"{column}\":{score},\"shared\":{shared}"
            );
        }
        if let Some((number, size)) = self.choice.cluster(document) {
            let _ = write!(line, ",\"cluster\":{number},\"cluster_size\":{size}");
        }
        line.push_str("}\n");
        Ok(line)
    }

    /// Counts every document, and writes the evidence to `removed` and the lists to `lists`.
    pub fn write(
        &self,
        removed: Option<&OutputDirectory>,
        lists: Option<&OutputDirectory>,
        (format, rejects): (ResultFormat, Rejects),
        context: &Context<'_>,
    ) -> Result<DedupSummary> {
        let mut summary = DedupSummary::default();
        let mut sinks = Sinks::new(self, removed, lists, format)?;
        let mut entries = InputRecords::all(self.workspace);
        while let Some(entry) = entries.next()? {
            let (number, document) = match entry {
                InputRecord::Document(number, document) => (number, document),
                InputRecord::Rejected(reject) => {
                    summary.rejected += 1;
                    if rejects == Rejects::Drop && reject.source.length > 0 {
                        summary.rejected_dropped += 1;
                    }
                    continue;
                }
            };
            if number.is_multiple_of(4096) {
                context.stop.check(STAGE)?;
                context.progress.at(number.into());
            }
            let fate = self.choice.fate(number);
            summary.documents += 1;
            match fate {
                Fate::Kept => summary.kept += 1,
                Fate::Removed { reason, .. } => summary.removed[reason as usize] += 1,
            }
            sinks.put(self, number, document.offset, fate)?;
        }
        sinks.finish()?;
        Ok(summary)
    }

    /// A row of `kept.tsv` or `removed.tsv`.
    fn list_row(&self, document: u32, offset: u64, fate: Fate) -> Result<String> {
        let place = self.place(document)?;
        let (file, docno) = (cell(place.file), cell(&place.docno));
        let mut row = format!("{file}\t{}\t{offset}\t{docno}", place.record);
        if let Fate::Removed {
            reason, survivor, ..
        } = fate
        {
            let _ = write!(row, "\t{}", reason.text());
            match survivor {
                Some(survivor) => {
                    let place = self.place(survivor)?;
                    let (file, docno) = (cell(place.file), cell(&place.docno));
                    let score = self.score_text(document);
                    let _ = write!(row, "\t{file}\t{}\t{docno}\t{score}", place.record);
                }
                None => row.push_str("\t\t\t\t"),
            }
        }
        row.push('\n');
        Ok(row)
    }

    /// The columns of `removed.parquet`.
    fn removed_columns(&self) -> [ColumnSpec; 14] {
        [
            ColumnSpec::required("file", Text),
            ColumnSpec::required("record", I64),
            ColumnSpec::required("docno", Text),
            ColumnSpec::required("offset", I64),
            ColumnSpec::required("document", U32),
            ColumnSpec::required("reason", Text),
            ColumnSpec::optional("survivor_file", Text),
            ColumnSpec::optional("survivor_record", I64),
            ColumnSpec::optional("survivor_docno", Text),
            ColumnSpec::optional("survivor_document", U32),
            ColumnSpec::optional(self.measure.column(), F64),
            ColumnSpec::optional("shared", U32),
            ColumnSpec::optional("cluster", U32),
            ColumnSpec::optional("cluster_size", U32),
        ]
    }

    /// Adds a removed document to `removed.parquet`.
    fn removed_row(
        &self,
        table: &mut Table<OutputFile>,
        document: u32,
        offset: u64,
        fate: Fate,
    ) -> Result<()> {
        let Fate::Removed {
            reason, survivor, ..
        } = fate
        else {
            return Ok(());
        };
        let place = self.place(document)?;
        let other = survivor.map(|survivor| self.place(survivor)).transpose()?;
        let score = self.score(document, fate);
        let cluster = self.choice.cluster(document);
        let other = other.as_ref();
        table.row(&[
            Cell::Text(place.file),
            Cell::U64(place.record.into()),
            Cell::Text(&place.docno),
            Cell::U64(offset),
            Cell::U32(document),
            Cell::Text(reason.text()),
            other.map(|place| place.file).into(),
            other.map(|place| u64::from(place.record)).into(),
            other.map(|place| &*place.docno).into(),
            survivor.into(),
            score.map(|score| score.value(self.measure)).into(),
            score.map(Score::shared).into(),
            cluster.map(|(number, _)| number).into(),
            cluster.map(|(_, size)| size).into(),
        ])
    }
}

/// The columns of `kept.parquet`.
const KEPT_COLUMNS: [ColumnSpec; 5] = [
    ColumnSpec::required("file", Text),
    ColumnSpec::required("record", I64),
    ColumnSpec::required("offset", I64),
    ColumnSpec::required("docno", Text),
    ColumnSpec::required("document", U32),
];

/// The lists that are written: text files, or tables.
#[derive(Default)]
struct Sinks {
    evidence: Option<OutputFile>,
    kept_list: Option<OutputFile>,
    removed_list: Option<OutputFile>,
    kept_table: Option<Table<OutputFile>>,
    removed_table: Option<Table<OutputFile>>,
}

impl Sinks {
    fn new(
        knowledge: &Knowledge<'_>,
        removed: Option<&OutputDirectory>,
        lists: Option<&OutputDirectory>,
        format: ResultFormat,
    ) -> Result<Sinks> {
        // The copies of the inputs have the numbers below.
        let number = knowledge.inputs.len() as u32;
        if format == ResultFormat::Parquet {
            let begin = |output: Option<&OutputDirectory>, name, number, columns: &[ColumnSpec]| {
                let begin = |output: &OutputDirectory| {
                    let file = output.create(name, number)?;
                    Table::new(&output.path(name), file, columns, Vec::new())
                };
                output.map(begin).transpose()
            };
            let columns = knowledge.removed_columns();
            return Ok(Sinks {
                kept_table: begin(lists, KEPT_TABLE, number, &KEPT_COLUMNS)?,
                // Only one of the two directories is there.
                removed_table: begin(removed.or(lists), REMOVED_TABLE, number + 1, &columns)?,
                ..Sinks::default()
            });
        }
        let begin = |output: Option<&OutputDirectory>, name: &str, number: u32| {
            output.map(|output| output.create(name, number)).transpose()
        };
        let mut sinks = Sinks {
            evidence: begin(removed, REMOVED_FILE, number)?,
            kept_list: begin(lists, KEPT_LIST, number + 1)?,
            removed_list: begin(lists, REMOVED_LIST, number + 2)?,
            ..Sinks::default()
        };
        put(&mut sinks.kept_list, "file\trecord\toffset\tdocno\n")?;
        let column = knowledge.measure.column();
        put(
            &mut sinks.removed_list,
            &format!(
                "file\trecord\toffset\tdocno\treason\tsurvivor_file\tsurvivor_record\t\
                 survivor_docno\t{column}\n"
            ),
        )?;
        Ok(sinks)
    }

    /// Writes what becomes of a document to the lists that are wanted.
    fn put(
        &mut self,
        knowledge: &Knowledge<'_>,
        document: u32,
        offset: u64,
        fate: Fate,
    ) -> Result<()> {
        let kept = fate == Fate::Kept;
        if let (Some(table), true) = (&mut self.kept_table, kept) {
            let place = knowledge.place(document)?;
            table.row(&[
                Cell::Text(place.file),
                Cell::U64(place.record.into()),
                Cell::U64(offset),
                Cell::Text(&place.docno),
                Cell::U32(document),
            ])?;
        }
        if let (Some(table), false) = (&mut self.removed_table, kept) {
            knowledge.removed_row(table, document, offset, fate)?;
        }
        if self.evidence.is_some() && !kept {
            let line = knowledge.line(document, offset, fate)?;
            put(&mut self.evidence, &line)?;
        }
        let list = match kept {
            true => &mut self.kept_list,
            false => &mut self.removed_list,
        };
        if list.is_some() {
            put(list, &knowledge.list_row(document, offset, fate)?)?;
        }
        Ok(())
    }

    /// Puts the complete files in their places.
    fn finish(self) -> Result<()> {
        let files = [self.evidence, self.kept_list, self.removed_list];
        for out in files.into_iter().flatten() {
            out.finish()?;
        }
        for table in [self.kept_table, self.removed_table].into_iter().flatten() {
            table.finish()?.finish()?;
        }
        Ok(())
    }
}

fn put(out: &mut Option<OutputFile>, text: &str) -> Result<()> {
    match out {
        Some(out) => {
            let put = out.write_all(text.as_bytes());
            put.map_err(Error::io("write", out.path()))
        }
        None => Ok(()),
    }
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| Error::io("write", REMOVED_FILE.as_ref())(error.into()))
}
