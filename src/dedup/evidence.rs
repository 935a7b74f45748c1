//! Lists of kept and removed documents.

use std::fmt::Write as _;
use std::io::Write as _;

use serde::Serialize;

use super::choose::{Choice, Fate, Removal};
use super::output::OutputDirectory;
use super::parquet::Annotation;
use super::places::Places;
use super::{DedupSummary, Rejects, STAGE};
use crate::cluster::cell;
use crate::collection::{Catalogue, Names};
use crate::collection::{InputRecord, InputRecords};
use crate::measure::Measure;
use crate::progress::Context;
use crate::read::InputFile;
use crate::sample::Sampled;
use crate::workspace::Workspace;
use crate::{Error, Result};

/// The evidence for removed documents.
pub const REMOVED_FILE: &str = "removed.jsonl";
/// The lists of `--ids-only`.
pub const KEPT_LIST: &str = "kept.tsv";
/// The lists of `--ids-only`.
pub const REMOVED_LIST: &str = "removed.tsv";

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
    docno: &'a str,
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

    /// What a removed document and its survivor share, and their score.
    fn score(&self, document: u32, fate: Fate) -> (u32, String) {
        let Fate::Removed {
            survivor: Some(survivor),
            reason,
            shared,
        } = fate
        else {
            return (0, String::new());
        };
        let class = |document| self.choice.representative(document);
        let (a, b) = self.sizes.measured(class(document), class(survivor));
        // Equal documents may be too short to have shingles.
        if reason == Removal::Exact {
            return (a, "1.000000".into());
        }
        (shared, self.measure.text(shared.into(), a.into(), b.into()))
    }

    /// The object that `--annotate` adds, as a JSON member.
    pub fn member(&self, document: u32) -> Result<String> {
        let fate = self.choice.fate(document);
        let cluster = self.choice.cluster(document);
        let mut text = String::from("\"lookalike\":{\"cluster\":");
        match cluster {
            Some((number, size)) => {
                let _ = write!(text, "{number},\"cluster_size\":{size}");
            }
            None => text.push_str("null,\"cluster_size\":1"),
        }
        let survivor = match fate {
            Fate::Removed {
                survivor: Some(survivor),
                ..
            } => json(&self.place(survivor)?)?,
            _ => "null".into(),
        };
        let (_, score) = self.score(document, fate);
        let score = if score.is_empty() { "null" } else { &score };
        let kept = fate == Fate::Kept;
        let column = self.measure.column();
        let _ = write!(
            text,
            ",\"survivor\":{survivor},\"{column}\":{score},\"kept\":{kept}}}"
        );
        Ok(text)
    }

    /// The same for a row of a Parquet file. The survivor is `FILE:RECORD`.
    pub fn note(&self, document: u32) -> Result<Annotation> {
        let fate = self.choice.fate(document);
        let cluster = self.choice.cluster(document);
        let survivor = match fate {
            Fate::Removed {
                survivor: Some(survivor),
                ..
            } => Some(self.place(survivor)?),
            _ => None,
        };
        let (_, score) = self.score(document, fate);
        Ok(Annotation {
            cluster: cluster.map(|(number, _)| number.into()),
            cluster_size: Some(cluster.map_or(1, |(_, size)| size.into())),
            survivor: survivor.map(|place| format!("{}:{}", place.file, place.record)),
            resemblance: score.parse().ok(),
            kept: Some(fate == Fate::Kept),
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
            let (shared, score) = self.score(document, fate);
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

    /// Counts every document, and writes `removed.jsonl` to `removed` and the lists to `lists`.
    pub fn write(
        &self,
        removed: Option<&OutputDirectory>,
        lists: Option<&OutputDirectory>,
        rejects: Rejects,
        context: &Context<'_>,
    ) -> Result<DedupSummary> {
        let mut summary = DedupSummary::default();
        let number = self.inputs.len() as u32;
        let begin = |output: Option<&OutputDirectory>, name: &str, number: u32| {
            output.map(|output| output.create(name, number)).transpose()
        };
        let mut evidence = begin(removed, REMOVED_FILE, number)?;
        let mut kept_list = begin(lists, KEPT_LIST, number + 1)?;
        let mut removed_list = begin(lists, REMOVED_LIST, number + 2)?;
        let put = |out: &mut Option<super::output::OutputFile>, text: &str| match out {
            Some(out) => {
                let put = out.write_all(text.as_bytes());
                put.map_err(Error::io("write", out.path()))
            }
            None => Ok(()),
        };
        put(&mut kept_list, "file\trecord\toffset\tdocno\n")?;
        let column = self.measure.column();
        put(
            &mut removed_list,
            &format!(
                "file\trecord\toffset\tdocno\treason\tsurvivor_file\tsurvivor_record\t\
                 survivor_docno\t{column}\n"
            ),
        )?;
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
            let mut row = String::new();
            if kept_list.is_some() {
                let place = self.place(number)?;
                let (file, docno) = (cell(place.file), cell(place.docno));
                let _ = write!(
                    row,
                    "{file}\t{}\t{}\t{docno}",
                    place.record, document.offset
                );
            }
            match fate {
                Fate::Kept => {
                    summary.kept += 1;
                    row.push('\n');
                    put(&mut kept_list, &row)?;
                }
                Fate::Removed {
                    reason, survivor, ..
                } => {
                    summary.removed[reason as usize] += 1;
                    if evidence.is_some() {
                        let line = self.line(number, document.offset, fate)?;
                        put(&mut evidence, &line)?;
                    }
                    if removed_list.is_some() {
                        let _ = write!(row, "\t{}", reason.text());
                        match survivor {
                            Some(survivor) => {
                                let place = self.place(survivor)?;
                                let (file, docno) = (cell(place.file), cell(place.docno));
                                let (_, score) = self.score(number, fate);
                                let _ =
                                    writeln!(row, "\t{file}\t{}\t{docno}\t{score}", place.record);
                            }
                            None => row.push_str("\t\t\t\t\n"),
                        }
                        put(&mut removed_list, &row)?;
                    }
                }
            }
        }
        for out in [evidence, kept_list, removed_list].into_iter().flatten() {
            out.finish()?;
        }
        Ok(summary)
    }
}

/// The names of documents, by number.
pub(super) fn names(workspace: &Workspace) -> Result<Names> {
    Catalogue::names(workspace)
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| Error::io("write", REMOVED_FILE.as_ref())(error.into()))
}
