//! The summary as text.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::wording::Wording;
use crate::Result;
use crate::base::budget::ByteSize;
use crate::base::numbers::{self, count, counted};
use crate::engine::collection::{self, RejectReader};
use crate::engine::join::Pairs;
use crate::engine::pipeline::Summary;
use crate::engine::sample::plan::Target;
use crate::store::disk;
use crate::store::workspace::{Cost, InputList, Workspace};

/// A share in brackets; empty if the total is 0.
pub(super) fn share(part: u64, whole: u64) -> String {
    numbers::share(part, whole).map_or_else(String::new, |share| format!(" ({share})"))
}

pub(super) fn bytes(n: u64) -> String {
    ByteSize(n).to_string()
}

/// The table at the end of a run.
#[must_use]
pub fn ledger(summary: &Summary) -> String {
    let mut out = String::new();
    let rows = ledger_rows(summary);
    let width = rows.iter().map(|(name, _)| name.chars().count()).max();
    let width = width.unwrap_or(0).max(32);
    for (name, value) in rows {
        let _ = writeln!(out, "{name:<width$}  {value}");
    }
    let _ = writeln!(
        out,
        "\n{:<10}  {:>8}  {:>8}  {:>12}",
        "stage", "wall s", "CPU s", "peak so far"
    );
    for (stage, cost) in cost_rows(summary) {
        let peak = bytes(cost.peak_bytes);
        let (wall, cpu) = (cost.wall_seconds, cost.cpu_seconds);
        let _ = writeln!(out, "{stage:<10}  {wall:>8.2}  {cpu:>8.2}  {peak:>12}");
    }
    out
}

/// The rows of the ledger: name and value. The name of a part is indented below that of the whole.
#[must_use]
pub fn ledger_rows(summary: &Summary) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let mut row = |name: &str, value: String| rows.push((name.to_string(), value));
    let ingest = &summary.ingest;
    row(
        "inputs",
        format!(
            "{}, {}",
            counted(summary.inputs, "file"),
            bytes(summary.input_bytes)
        ),
    );
    for (name, n) in [
        ("  hidden, not read", summary.skipped.hidden),
        ("  excluded by globs, not read", summary.skipped.excluded),
        ("  output directories, not read", summary.skipped.outputs),
    ] {
        if n > 0 {
            row(name, count(n));
        }
    }
    // A method reads the texts that a collection keeps; the rest is in the collection's ledger.
    let method = summary.method.as_ref();
    let (features, fingerprint) = match method {
        Some(_) => ("features", "feature"),
        None => ("shingles", "fingerprint"),
    };
    if let Some(method) = method {
        row("method", method.clone());
        row("documents", count(ingest.documents));
    } else {
        row(
            "records read",
            format!("{}, {}", count(ingest.records), bytes(ingest.bytes)),
        );
        reasons(&mut row, "  skipped, not documents", &ingest.skipped);
        reasons(&mut row, "  rejected", &ingest.rejected);
        row("  documents", count(ingest.documents));
        if ingest.unnamed > 0 {
            row("    no docno, named FILE:RECORD", count(ingest.unnamed));
        }
        reasons(&mut row, "warnings in documents used", &ingest.noticed);
    }
    if summary.collection.text && method.is_none() {
        let of = ingest.documents - ingest.omitted.min(ingest.documents);
        let value = format!("{} of {}", bytes(ingest.text), counted(of, "document"));
        row("text kept", value);
    }
    if let Some(catalogue) = &summary.catalogue {
        let all = catalogue.documents;
        let part = catalogue.exact_duplicates;
        row(
            "exact duplicates",
            format!("{}{}", count(part), share(part, all)),
        );
        if catalogue.docnos_repeated > 0 {
            row("docnos not unique", count(catalogue.docnos_repeated));
        }
        row("empty documents", count(ingest.empty));
        if method.is_none() {
            let size = summary.collection.shingle.shingle_size;
            row(
                &format!("short documents (under {})", counted(size.into(), "word")),
                count(ingest.short),
            );
        }
        row("representatives", count(catalogue.representatives));
        row(
            &format!("distinct {features} in them"),
            count(catalogue.shingles),
        );
    }
    if let (Some(sampling), Some(sample)) = (&summary.sampling, &summary.sample) {
        let share = share(sample.sampled, sample.shingles);
        if let Some(plan) = &summary.plan {
            let Target {
                precision,
                threshold,
                ..
            } = plan.config.target;
            row(
                &format!("plan for precision {precision}"),
                format!("at {threshold}, on {}", counted(plan.documents, "document")),
            );
        }
        row(
            &format!("sampled ({sampling})"),
            format!("{}{share}", count(sample.sampled)),
        );
        if sample.nothing_sampled > 0 {
            row(
                "documents without sampled shingles",
                count(sample.nothing_sampled),
            );
        }
    }
    if let Some(sort) = &summary.sort {
        let each = if sort.records == 0 {
            0.0
        } else {
            sort.bytes as f64 / sort.records as f64
        };
        let spilled = if sort.runs == 0 && sort.records > 0 {
            "none, all records fit in memory".into()
        } else {
            let size = bytes(sort.bytes);
            format!("{}, {size} ({each:.2} bytes per record)", count(sort.runs))
        };
        row("runs spilled", spilled);
    }
    if let Some(merge) = &summary.merge {
        row(
            &format!("{fingerprint}s of one document"),
            count(merge.singles),
        );
        row(
            &format!("{fingerprint}s shared"),
            format!(
                "{} in {}",
                count(merge.lists),
                counted(merge.entries, "posting")
            ),
        );
        row("longest posting list", count(merge.longest));
    }
    if let (Some(join), Some(config)) = (&summary.join, &summary.join_config) {
        if let Some(joined) = &join.count {
            row("pair tokens counted", count(joined.pair_tokens));
            if let Some(most) = config.max_postings {
                let dropped = joined.lists_dropped;
                let lost = counted(joined.pair_tokens_dropped, "pair token");
                let value = format!("{}, {lost}", counted(dropped, fingerprint));
                let over = counted(most.into(), "document");
                row(&format!("dropped (more than {over})"), value);
            }
        }
        if let Some(added) = &join.added {
            let look_ups = counted(added.look_ups, fingerprint);
            row(
                "added documents looked up",
                format!("{} by {look_ups}", count(added.documents)),
            );
            let verified = join.prefix.as_ref().map_or(0, |prefix| prefix.verified);
            row("candidates verified", count(verified));
        } else if let Some(prefix) = &join.prefix {
            let pruned: u64 = prefix.rounds.iter().map(|round| round.pruned).sum();
            let first = prefix.rounds.first().map_or(0, |round| round.documents);
            row(
                "pruned before pairing",
                format!("{}{}", counted(pruned, "document"), share(pruned, first)),
            );
            let (postings, all) = (prefix.prefix_postings, prefix.entries);
            row(
                "postings in prefixes",
                format!("{}{}", count(postings), share(postings, all)),
            );
            row("pairs found there", count(prefix.probes));
            row("candidates verified", count(prefix.verified));
        }
        if let Some(looked_up) = join.looked_up {
            row("verified in the full sets", count(looked_up));
        }
        match (config.pairs, Wording::of(summary)) {
            (Pairs::None, _) | (_, None) => row("pairs", "not listed".into()),
            (_, Some(wording)) => row(&wording.row(), count(join.pairs)),
        }
    }
    if let Some(cluster) = &summary.cluster {
        let documents = counted(cluster.documents, "document");
        row(
            "clusters",
            format!("{} of {documents}", count(cluster.clusters)),
        );
        row("  of exact duplicates only", count(cluster.exact_only));
        row("  largest", count(cluster.largest));
        let redundant = cluster.redundant;
        row(
            "redundant documents",
            format!("{}{}", count(redundant), share(redundant, ingest.documents)),
        );
    }
    rows
}

/// The cost of each stage that has run, in order, and finally of `all`.
#[must_use]
pub fn cost_rows(summary: &Summary) -> Vec<(&'static str, Cost)> {
    let stages = [
        "ingest",
        "keys",
        "catalogue",
        "plan",
        "sample",
        "sort",
        "merge",
        "index",
        "join",
        "cluster",
        "tables",
    ];
    let mut rows: Vec<_> = stages
        .into_iter()
        .filter_map(|stage| Some((stage, *summary.costs.get(stage)?)))
        .collect();
    let costs = summary.costs.values();
    let all = Cost {
        // A fold, because `sum()` of no values is -0.0.
        wall_seconds: costs.clone().fold(0.0, |sum, cost| sum + cost.wall_seconds),
        cpu_seconds: costs.clone().fold(0.0, |sum, cost| sum + cost.cpu_seconds),
        undivided_seconds: costs
            .clone()
            .fold(0.0, |sum, cost| sum + cost.undivided_seconds),
        peak_bytes: costs.clone().map(|cost| cost.peak_bytes).max().unwrap_or(0),
        ended: costs.map(|cost| cost.ended).max().unwrap_or(0),
    };
    rows.push(("all", all));
    rows
}

fn reasons(row: &mut impl FnMut(&str, String), name: &str, counts: &BTreeMap<String, u64>) {
    let total: u64 = counts.values().sum();
    row(name, count(total));
    let mut sorted: Vec<_> = counts.iter().collect();
    sorted.sort_by_key(|&(reason, n)| (std::cmp::Reverse(*n), reason));
    for (reason, n) in sorted {
        row(&format!("    {reason}"), count(*n));
    }
}

/// The most files that [`rejected_files`] names.
const MOST_FILES: usize = 10;

/// The files of a collection with rejected records, with reasons and counts, and where all rejects
/// are listed; empty if there are none.
///
/// # Errors
/// Those of reading the rejects.
pub fn rejected_files(workspace: &Workspace) -> Result<String> {
    let manifest = &workspace.manifest;
    let first = collection::against(manifest).files;
    let mut files: Vec<(u32, BTreeMap<&'static str, u64>)> = Vec::new();
    let (mut more, mut last) = (0, None);
    for segment in collection::own_segments(manifest) {
        let path = workspace.part("collection", &segment.rejects.name);
        let parameters = Some(workspace.collection_parameters());
        let mut rejects = RejectReader::open(&path, parameters, Some(&segment.rejects))?;
        while let Some((reject, used)) = rejects.next()? {
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
    let mut inputs = InputList::open(workspace.directory())?;
    let all = workspace.directory().join("rejects.jsonl");
    let mut out = match disk::exists(&all)? {
        true => format!("\nrejected, by file ({} has each record):\n", all.display()),
        false => "\nrejected, by file:\n".into(),
    };
    for (file, reasons) in files {
        let reasons = reasons
            .iter()
            .map(|(reason, n)| format!("{reason} {}", count(*n)));
        let reasons: Vec<String> = reasons.collect();
        let _ = writeln!(out, "  {}: {}", inputs.path_of(file)?, reasons.join(", "));
    }
    if more > 0 {
        let _ = writeln!(out, "  and {}", counted(more, "other file"));
    }
    Ok(out)
}
