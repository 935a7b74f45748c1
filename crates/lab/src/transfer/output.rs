//! The files of a transfer.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use super::labels::Labels;
use super::links::{Candidate, Decision, Links, resemblance};
use super::{LabelsFormat, TransferConfig, TransferReport};
use crate::qrels::{CONTRADICTIONS_FILE, QRELS_FILE, TRANSFERRED_FILE, key_of};
use lookalike_base::Result;
use lookalike_engine::outputs;
use lookalike_store::{AtomicFile, OwnDirectory, Workspace, disk, table::cell};

/// Bytes of memory of a label that is written, if several documents have the same docno: 32, and
/// the memory of a table while it grows.
pub(super) const SEEN_BYTES: u64 = 112;

/// Refuses an output directory in which an input or a file of a collection would be replaced.
pub(super) fn check_output(
    output: &Path,
    path: &Path,
    labels: &Labels,
    collections: [&Workspace; 2],
) -> Result<()> {
    outputs::check_files(output, names(labels), &collections, &[path])?;
    // `qrels` also writes files of these names.
    let there = |name: &str| disk::exists(&output.join(name));
    let theirs = there(QRELS_FILE)? && !there(TRANSFERRED_FILE)?;
    let is_ours = |name: &str| match name {
        QRELS_FILE => !theirs,
        _ => name.starts_with("labels.") || names(labels).contains(&name),
    };
    OwnDirectory::look(output, is_ours, "transfer")
}

/// The names of the files.
fn names(labels: &Labels) -> [&'static str; 3] {
    [labels.file_name(), TRANSFERRED_FILE, CONTRADICTIONS_FILE]
}

/// The files that are open; none without an output directory.
#[derive(Default)]
pub(super) struct Outputs {
    /// The labels, the transferred ones with their links, and the contradictions.
    files: Vec<AtomicFile>,
    directory: Option<OwnDirectory>,
    /// The topics, subtopics and docnos of the written labels, if docnos repeat.
    seen: Option<HashSet<(u32, u32, u128)>>,
}

impl Outputs {
    pub(crate) fn create(config: &TransferConfig, labels: &Labels) -> Result<Outputs> {
        let Some(output) = &config.output else {
            return Ok(Outputs::default());
        };
        let directory = OwnDirectory::create(output, CONTRADICTIONS_FILE, |_| false)?;
        let files = names(labels).map(|name| directory.file(name)).into_iter();
        Ok(Outputs {
            files: files.collect::<Result<_>>()?,
            directory: Some(directory),
            seen: None,
        })
    }

    /// Writes the candidates of a document that have different labels.
    pub(crate) fn contradiction(
        &mut self,
        docno: &str,
        candidates: &[Candidate],
        links: &Links,
        labels: &Labels,
    ) -> Result<()> {
        let Some(out) = self.files.get_mut(2) else {
            return Ok(());
        };
        let json = |text: &str| Value::from(text).to_string();
        let judgements = &labels.judgements;
        let of = |candidate: &Candidate| &judgements.all[candidate.label as usize];
        let first = of(&candidates[0]);
        let topic = json(&judgements.topics[first.topic as usize]);
        let shingles = candidates[0].link.shingles;
        let topic = match labels.format {
            LabelsFormat::Trec | LabelsFormat::Prels => format!("\"topic\":{topic},"),
            LabelsFormat::Ndeval => {
                let subtopic = json(judgements.repeated(first));
                format!("\"topic\":{topic},\"subtopic\":{subtopic},")
            }
            _ => String::new(),
        };
        let docno = json(docno);
        let start = format!("{{{topic}\"docno\":{docno},\"shingles\":{shingles},\"candidates\":[");
        out.put(start.as_bytes())?;
        let mut line = String::new();
        for (n, candidate) in candidates.iter().enumerate() {
            let (label, link) = (of(candidate), candidate.link);
            let size = links.sizes[link.old as usize];
            let text = match labels.format {
                LabelsFormat::Jsonl => judgements.repeated(label).to_string(),
                LabelsFormat::Tsv | LabelsFormat::Text | LabelsFormat::Csv => {
                    json(&labels.text(label))
                }
                _ => label.grade.to_string(),
            };
            line.clear();
            let _ = write!(
                line,
                "{}{{\"docno\":{},\"label\":{text},\"resemblance\":{},\"shared\":{},\"shingles\":{size}}}",
                if n > 0 { "," } else { "" },
                json(judgements.docno(label)),
                resemblance(link.shared, size, link.shingles),
                link.shared,
            );
            out.put(line.as_bytes())?;
        }
        out.put(b"]}\n")
    }

    /// Writes the part before the labels. `repeats` says whether docnos may repeat.
    pub(crate) fn begin(&mut self, labels: &Labels, repeats: bool) -> Result<()> {
        self.seen = repeats.then(HashSet::new);
        if let (Some(out), Some(line)) = (self.files.first_mut(), labels.first_line()) {
            out.put(line.as_bytes())?;
        }
        if let Some(out) = self.files.get_mut(1) {
            let columns = labels.columns();
            let line = format!(
                "# format: lookalike 1\n{columns}\tdocno_from\tdocno_to\tresemblance\tshared\t\
                 shingles_from\tshingles_to\n"
            );
            out.put(line.as_bytes())?;
        }
        Ok(())
    }

    /// Writes a label that a document gets. `size` is the number of shingles of the document that
    /// it comes from.
    pub(crate) fn transferred(
        &mut self,
        labels: &Labels,
        decision: &Decision,
        size: u32,
        docno: &str,
        report: &mut TransferReport,
    ) -> Result<()> {
        let label = &labels.judgements.all[decision.old as usize];
        report.written += 1;
        if let Some(out) = self.files.get_mut(1) {
            let line = format!(
                "{}\t{}\t{}\t{}\t{}\t{size}\t{}\n",
                labels.cells(label),
                cell(labels.judgements.docno(label)),
                cell(docno),
                resemblance(decision.shared, size, decision.shingles),
                decision.shared,
                decision.shingles,
            );
            out.put(line.as_bytes())?;
        }
        let Some(line) = labels.line(label, docno) else {
            report.unwritable += 1;
            return Ok(());
        };
        if let Some(seen) = &mut self.seen {
            let subtopic = labels.judgements.subtopic(label);
            if !seen.insert((label.topic, subtopic, key_of(docno))) {
                report.repeated += 1;
                return Ok(());
            }
        }
        match self.files.first_mut() {
            Some(out) => out.put(line.as_bytes()),
            None => Ok(()),
        }
    }

    pub(crate) fn finish(self) -> Result<()> {
        for file in self.files.into_iter().rev() {
            file.finish()?;
        }
        let mut directory = self.directory.iter().map(OwnDirectory::path);
        directory.try_for_each(disk::sync_directory)
    }
}
