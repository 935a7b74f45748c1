//! One line on what a stage has done, for the log.

use super::Summary;
use crate::cluster::TablesEntry;
use crate::index::IndexEntry;
use crate::join::Pairs;
use lookalike_base::{budget::ByteSize, count, counted, percent};
use lookalike_store::Workspace;

fn bytes(n: u64) -> String {
    ByteSize(n).to_string()
}

/// One line on what a stage has done, for the log.
pub(super) fn stage_line(workspace: &Workspace, stage: &str) -> String {
    let summary = Summary::of(&workspace.manifest);
    let seconds = summary
        .costs
        .get(stage)
        .map_or(0.0, |cost| cost.wall_seconds);
    let of = |part: String, whole: String| format!("{part} of {whole}");
    let what = match stage {
        "ingest" => {
            let documents = counted(summary.ingest.documents, "document");
            let read = of(documents, bytes(summary.ingest.bytes));
            format!("{read} in {}", counted(summary.segments, "segment"))
        }
        "catalogue" => {
            let stats = summary.catalogue.unwrap_or_default();
            counted(stats.exact_duplicates, "exact duplicate")
        }
        "index" => {
            let index = workspace.manifest.get::<IndexEntry>();
            let stats = index.map(IndexEntry::stats).unwrap_or_default();
            let keys = counted(stats.entries, "fingerprint");
            format!("{keys} in {}", bytes(stats.bytes))
        }
        "keys" => {
            let (keys, without) = (
                summary.ingest.stored,
                summary.ingest.short + summary.ingest.empty,
            );
            let without = counted(without, "document");
            format!("{}, {without} without", counted(keys, "key"))
        }
        "plan" => {
            let share = summary.plan.as_ref().map_or(1.0, |plan| plan.share);
            of(percent(share, 2), "the shingles".into())
        }
        "sample" => {
            let stats = summary.sample.unwrap_or_default();
            of(count(stats.sampled), counted(stats.shingles, "shingle"))
        }
        "sort" => {
            let stats = summary.sort.unwrap_or_default();
            let records = counted(stats.records, "record");
            match stats.runs {
                0 => format!("{records} in memory"),
                n => format!("{records} in {}", of(counted(n, "run"), bytes(stats.bytes))),
            }
        }
        "merge" => {
            let stats = summary.merge.unwrap_or_default();
            let lists = counted(stats.lists, "shared fingerprint");
            format!("{lists}, {}", of(bytes(stats.bytes), "postings".into()))
        }
        "join" => {
            let stats = summary.join.clone().unwrap_or_default();
            let pairs = match summary.join_config.map(|config| config.pairs) {
                Some(Pairs::None) => format!("{} linked", counted(stats.pairs, "document")),
                _ => counted(stats.pairs, "pair"),
            };
            match (stats.count, stats.prefix) {
                (Some(c), _) => of(pairs, counted(c.pair_tokens, "pair token")),
                (_, Some(p)) => of(pairs, counted(p.candidates, "candidate")),
                _ => pairs,
            }
        }
        "cluster" => {
            let stats = summary.cluster.unwrap_or_default();
            let clusters = counted(stats.clusters, "cluster");
            of(clusters, counted(stats.documents, "document"))
        }
        "tables" => {
            let tables = workspace.manifest.get::<TablesEntry>();
            let files = tables.map_or(&[][..], |tables| &tables.files);
            let size = files.iter().map(|file| file.bytes).sum();
            of(counted(files.len() as u64, "file"), bytes(size))
        }
        _ => String::new(),
    };
    format!("{what}, {seconds:.1} s")
}
