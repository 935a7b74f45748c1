//! The summary as text.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};

use super::rows::{Rows, share};
use super::terminal::{named, visible};
use super::wording::Wording;
use crate::line;
use lookalike_base::{Result, budget::ByteSize, count, counted, listed, words};
use lookalike_engine::collection::{self, RejectReader};
use lookalike_engine::join::Pairs;
use lookalike_engine::pipeline::{Selected, Summary};
use lookalike_store::{Cost, InputList, Workspace, disk};

pub(super) fn bytes(n: u64) -> String {
    ByteSize(n).to_string()
}

/// The table at the end of a run.
#[must_use]
pub fn ledger(summary: &Summary) -> String {
    let rows = all_rows(summary);
    let mut out = rows.text(rows.longest().max(32) + 2);
    let costs = cost_rows(summary).into_iter().map(|(stage, cost)| {
        let seconds = [cost.wall_seconds, cost.cpu_seconds].map(|s| format!("{s:.2}"));
        line![stage, seconds[0], seconds[1], bytes(cost.peak_bytes)]
    });
    let names = "stage, wall s, CPU s, peak so far";
    named(names, costs.collect(), 1, &mut out);
    out
}

/// The rows of the ledger: name and value. The name of a part is indented below the name of the
/// whole.
#[must_use]
pub fn ledger_rows(summary: &Summary) -> Vec<(String, String)> {
    all_rows(summary).rows
}

/// The meanings of the rows of the ledger, by the beginning of their names.
const MEANINGS: &str = "\
records read: units of the input files: lines, rows, messages, pages
  skipped: records that are metadata, such as WARC requests
  rejected: records that are in no document, with the reasons
warnings in documents: documents that were used although something was odd
exact duplicates: documents with the same words as an earlier one
condition: pairs for which it does not hold are left out, also of documents with the same words
docnos not unique: names that several documents have
short documents: they have one shingle, of all their words
representatives: one document for each set of exact duplicates
distinct shingles: shingles, each counted once in a document
distinct features: features, each counted once in a document
sampled: shingles that are compared; full means all
sorted for the threshold: fingerprints that can show a pair at this threshold
runs spilled: sorted files that did not fit in memory
fingerprints of one: fingerprints that cannot be shared
fingerprints shared: fingerprints of two documents or more
longest posting list: documents that share one fingerprint
pair tokens counted: shared fingerprints, summed over all pairs
pruned before pairing: documents with too few shared fingerprints for any pair
pairs found there: pairs of documents in the posting lists, repeats included
candidates verified: pairs whose shared shingles were counted exactly
pairs at: pairs of representatives that reach the threshold
no answer: why a condition holds for no pair
pairs to review: pairs below the threshold (--review)
clusters: sets of documents that pairs or exact duplicates connect
  of exact duplicates: clusters without a pair
redundant documents: all documents of the clusters but one of each
documents with those of --against: the new and the old ones, of which the following rows count
";

/// Returns the meanings of the rows of a ledger, a line for each.
pub(crate) fn explained(summary: &Summary) -> String {
    let mut out = String::new();
    for (name, _) in &all_rows(summary).rows {
        let meanings = MEANINGS.lines().filter_map(|line| line.split_once(": "));
        let mut found = meanings.filter(|(begin, _)| name.starts_with(begin));
        if let Some((_, meaning)) = found.next() {
            let _ = writeln!(out, "  {}: {meaning}", name.trim_start());
        }
    }
    out
}

fn all_rows(summary: &Summary) -> Rows {
    let mut rows = Rows::default();
    read_rows(summary, &mut rows);
    collection_rows(summary, &mut rows);
    sort_rows(summary, &mut rows);
    join_rows(summary, &mut rows);
    if let Some(cluster) = &summary.cluster {
        let (clusters, documents) = (count(cluster.clusters), cluster.documents);
        let documents = counted(documents, "document");
        rows.row("clusters", format!("{clusters} of {documents}"));
        rows.count("  of exact duplicates only", cluster.exact_only);
        rows.count("  largest", cluster.largest);
        let all = summary.ingest.documents;
        rows.share("redundant documents", cluster.redundant, all);
    }
    rows
}

fn read_rows(summary: &Summary, rows: &mut Rows) {
    let ingest = &summary.ingest;
    let files = counted(summary.inputs, "file");
    rows.row(
        "inputs",
        match summary.others() {
            0 => format!("{files}, {}", bytes(summary.input_bytes)),
            // The bytes are those of both collections.
            _ => files,
        },
    );
    let skipped = &summary.skipped;
    rows.any("  hidden, not read", skipped.hidden);
    rows.any("  excluded by globs, not read", skipped.excluded);
    rows.any("  output directories, not read", skipped.outputs);
    // A method reads the texts that a collection keeps; the rest is in the collection's ledger.
    if let Some(method) = &summary.method {
        rows.row("method", method);
        rows.count("documents", ingest.documents);
        return;
    }
    let (records, size) = (count(ingest.records), bytes(ingest.bytes));
    rows.row("records read", format!("{records}, {size}"));
    reasons(rows, "  skipped, not documents", &ingest.skipped);
    reasons(rows, "  rejected", &ingest.rejected);
    rows.count("  documents", ingest.documents);
    rows.any("    no docno, named FILE:RECORD", ingest.unnamed);
    if let Some(fields) = fields(&ingest.fields) {
        rows.row("    text, without --text-field", fields);
    }
    reasons(rows, "warnings in documents used", &ingest.noticed);
    if summary.collection.text {
        let of = ingest.documents - ingest.omitted.min(ingest.documents);
        let value = format!("{} of {}", bytes(ingest.text), counted(of, "document"));
        rows.row("text kept", value);
    }
}

fn collection_rows(summary: &Summary, rows: &mut Rows) {
    let Some(catalogue) = &summary.catalogue else {
        return;
    };
    let (ingest, method) = (&summary.ingest, summary.method.is_some());
    let (all, part) = (catalogue.documents, catalogue.exact_duplicates);
    rows.count("empty documents", ingest.empty);
    if !method {
        let size = counted(summary.collection.shingle.shingle_size.into(), "word");
        rows.count(format!("short documents (under {size})"), ingest.short);
    }
    rows.any(
        "documents with those of --against",
        if summary.others() > 0 { all } else { 0 },
    );
    rows.share("exact duplicates", part, all);
    if let Some(condition) = &summary.collection.condition {
        rows.row("condition (--where)", visible(&condition.to_string()));
    }
    // They are counted among the new documents.
    let identical = summary.cluster.and_then(|cluster| cluster.identical);
    if summary.others() == 0 {
        rows.any("  identical, byte for byte", identical.unwrap_or(0));
    }
    rows.any("docnos not unique", catalogue.docnos_repeated);
    if let Some(excluded) = &summary.collection.shingle.excluded {
        let shingles = counted(excluded.shingles, "shingle");
        let value = format!("{shingles} of {}", counted(excluded.texts, "text"));
        rows.row("excluded (--exclude-text)", value);
    }
    rows.count("representatives", catalogue.representatives);
    let features = if method { "features" } else { "shingles" };
    rows.count(format!("distinct {features} in them"), catalogue.shingles);
}

/// The name of the features that a method compares.
fn fingerprint(summary: &Summary) -> &'static str {
    match summary.method {
        Some(_) => "feature",
        None => "fingerprint",
    }
}

fn sort_rows(summary: &Summary, rows: &mut Rows) {
    if let (Some(sampling), Some(sample)) = (&summary.sampling, &summary.sample) {
        if let Some(plan) = &summary.plan {
            let target = &plan.config.target;
            let documents = counted(plan.documents, "document");
            let value = format!("at {}, on {documents}", target.threshold);
            rows.row(format!("plan for precision {}", target.precision), value);
        }
        let name = format!("sampled ({sampling})");
        rows.share(name, sample.sampled, sample.shingles);
        let nothing = sample.nothing_sampled;
        rows.any("documents without sampled shingles", nothing);
    }
    if let Some(selected) = &summary.selected {
        let all = summary.sample.as_ref().map_or(0, |sample| sample.sampled);
        rows.share("sorted for the threshold", selected.stats.keys, all);
    }
    if let Some(sort) = &summary.sort {
        let each = sort.bytes as f64 / (sort.records as f64).max(1.0);
        let spilled = if sort.runs == 0 && sort.records > 0 {
            "none, all records fit in memory".into()
        } else {
            let size = bytes(sort.bytes);
            format!("{}, {size} ({each:.2} bytes per record)", count(sort.runs))
        };
        rows.row("runs spilled", spilled);
    }
    if let Some(merge) = &summary.merge {
        let fingerprint = fingerprint(summary);
        if summary.selected.is_none() {
            rows.count(format!("{fingerprint}s of one document"), merge.singles);
        }
        let postings = counted(merge.entries, "posting");
        let shared = format!("{} in {postings}", count(merge.lists));
        rows.row(format!("{fingerprint}s shared"), shared);
        rows.count("longest posting list", merge.longest);
    }
}

fn join_rows(summary: &Summary, rows: &mut Rows) {
    let (Some(join), Some(config)) = (&summary.join, &summary.join_config) else {
        return;
    };
    let fingerprint = fingerprint(summary);
    if let Some(joined) = &join.count {
        rows.count("pair tokens counted", joined.pair_tokens);
        if let Some(most) = config.max_postings {
            let dropped = counted(joined.lists_dropped, fingerprint);
            let lost = counted(joined.pair_tokens_dropped, "pair token");
            let over = counted(most.into(), "document");
            let name = format!("dropped (more than {over})");
            rows.row(name, format!("{dropped}, {lost}"));
        }
    }
    if let Some(added) = &join.added {
        let look_ups = counted(added.look_ups, fingerprint);
        let value = format!("{} by {look_ups}", count(added.documents));
        rows.row("added documents looked up", value);
        let verified = join.prefix.as_ref().map_or(0, |prefix| prefix.verified);
        rows.count("candidates verified", verified);
    } else if let Some(prefix) = &join.prefix {
        if let Some(Selected { stats, .. }) = &summary.selected {
            let documents = counted(stats.pruned, "document");
            let value = format!("{documents}{}", share(stats.pruned, stats.documents));
            rows.row("pruned before pairing", value);
        }
        rows.count("pairs found there", prefix.probes);
        rows.count("candidates verified", prefix.verified);
    }
    if let Some(looked_up) = join.looked_up {
        rows.count("verified in the full sets", looked_up);
    }
    match (config.pairs, Wording::of(summary)) {
        (Pairs::None, _) | (_, None) => rows.row("pairs", "not listed"),
        (_, Some(wording)) => rows.count(wording.row(), join.pairs),
    }
    if let Some(undecided) = &join.undecided {
        rows.row("no answer", undecided);
    }
    if let Some(n) = join.review {
        rows.count("pairs to review", n);
    }
}

/// The cost of each stage that has run, in order, and finally of `all`.
#[must_use]
pub fn cost_rows(summary: &Summary) -> Vec<(&'static str, Cost)> {
    let stages: [_; 11] =
        words("ingest keys catalogue plan sample sort merge index join cluster tables");
    let mut rows: Vec<_> = stages
        .into_iter()
        .filter_map(|stage| Some((stage, *summary.costs.get(stage)?)))
        .collect();
    let mut all = Cost::default();
    summary.costs.values().for_each(|cost| all.add(cost));
    rows.push(("all", all));
    rows
}

fn reasons(rows: &mut Rows, name: &str, counts: &BTreeMap<String, u64>) {
    rows.count(name, counts.values().sum());
    let mut sorted: Vec<_> = counts.iter().collect();
    sorted.sort_by_key(|&(reason, n)| (std::cmp::Reverse(*n), reason));
    for (reason, n) in sorted {
        rows.count(format!("    {reason}"), *n);
    }
}

/// The fields or elements that are the text of most documents, with the documents of each; `None`
/// if a flag names them, or if all are the field `text`, as anybody expects.
pub(super) fn fields(counts: &BTreeMap<String, u64>) -> Option<String> {
    const MOST: usize = 8;
    counts.keys().find(|name| *name != "text")?;
    let mut sorted: Vec<_> = counts.iter().collect();
    sorted.sort_by_key(|&(name, n)| (std::cmp::Reverse(*n), name));
    let named = |(name, n): &(&String, &u64)| format!("{} {}", visible(name), count(**n));
    let list = listed(", ", sorted.iter().take(MOST), named);
    Some(match sorted.len() {
        ..=MOST => list,
        all => format!("{list} and {} more", all - MOST),
    })
}

/// The most files that [`rejected_by_file`] names.
const MOST_FILES: usize = 10;

/// The files of a collection with rejected records, a line for each, below a line that names the
/// list of the records, if it was written; empty without any.
///
/// # Errors
/// Those of reading the rejects.
pub(crate) fn rejected_by_file(workspace: &Workspace) -> Result<String> {
    let manifest = &workspace.manifest;
    let first = collection::against(manifest).files;
    let mut files: Vec<(u32, BTreeMap<&'static str, u64>)> = Vec::new();
    let (mut more, mut last) = (0, None);
    for segment in collection::own_segments(manifest) {
        let mut rejects = RejectReader::of(workspace.places(), segment)?;
        while let Some((reject, used)) = rejects.next_reject()? {
            let file = reject.source.file;
            if used || file < first {
                continue;
            }
            if last != Some(file) {
                last = Some(file);
                match files.len() < MOST_FILES {
                    true => files.push((file, BTreeMap::new())),
                    false => more += 1,
                }
            }
            if let (0, Some((_, reasons))) = (more, files.last_mut()) {
                *reasons.entry(reject.reason.text()).or_default() += 1;
            }
        }
        rejects.finish()?;
    }
    if files.is_empty() {
        return Ok(String::new());
    }
    let list = workspace.directory().join("rejects.jsonl");
    let mut out = match disk::exists(&list)? {
        true => format!(
            "\nrejected, by file ({} has each record):\n",
            list.display()
        ),
        false => "\nrejected, by file:\n".into(),
    };
    let mut inputs = InputList::open(workspace.directory())?;
    for (file, reasons) in &files {
        let file = visible(inputs.path_of(*file)?);
        let _ = writeln!(out, "  {file}: {}", numbered(reasons));
    }
    if more > 0 {
        let _ = writeln!(out, "  and {}", counted(more, "other file"));
    }
    Ok(out)
}

/// Numbers by name: `no text field 3, too large 1`.
pub(super) fn numbered<'c>(
    counts: impl IntoIterator<Item = (&'c (impl Display + 'c), &'c u64)>,
) -> String {
    listed(", ", counts, |(name, n)| format!("{name} {}", count(*n)))
}
