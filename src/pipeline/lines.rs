//! One line on what a stage has done, for the log.

use super::Summary;
use crate::budget::ByteSize;
use crate::join::Pairs;
use crate::numbers::count;
use crate::workspace::Workspace;

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
    let what = match stage {
        "ingest" => format!(
            "{} documents of {} in {} segments",
            count(summary.ingest.documents),
            bytes(summary.ingest.bytes),
            summary.segments
        ),
        "catalogue" => {
            let stats = summary.catalogue.unwrap_or_default();
            format!("{} exact duplicates", count(stats.exact_duplicates))
        }
        "keys" => {
            let without = summary.ingest.short + summary.ingest.empty;
            format!(
                "{} keys, {} documents without",
                count(summary.ingest.stored),
                count(without)
            )
        }
        "plan" => {
            let share = summary.plan.as_ref().map_or(1.0, |plan| plan.share);
            format!("{:.2} % of the shingles", share * 100.0)
        }
        "sample" => {
            let stats = summary.sample.unwrap_or_default();
            format!(
                "{} of {} shingles",
                count(stats.sampled),
                count(stats.shingles)
            )
        }
        "sort" => {
            let stats = summary.sort.unwrap_or_default();
            format!(
                "{} records in {} runs of {}",
                count(stats.records),
                stats.runs,
                bytes(stats.bytes)
            )
        }
        "merge" => {
            let stats = summary.merge.unwrap_or_default();
            format!(
                "{} shared fingerprints, {} of postings",
                count(stats.lists),
                bytes(stats.bytes)
            )
        }
        "join" => {
            let stats = summary.join.clone().unwrap_or_default();
            let pairs = match summary.join_config.map(|config| config.pairs) {
                Some(Pairs::None) => format!("{} documents linked", count(stats.pairs)),
                _ => format!("{} pairs", count(stats.pairs)),
            };
            match (stats.count, stats.prefix) {
                (Some(c), _) => format!("{pairs} of {} pair tokens", count(c.pair_tokens)),
                (_, Some(p)) => format!("{pairs} of {} candidates", count(p.candidates)),
                _ => pairs,
            }
        }
        "cluster" => {
            let stats = summary.cluster.unwrap_or_default();
            format!(
                "{} clusters of {} documents",
                count(stats.clusters),
                count(stats.documents)
            )
        }
        _ => String::new(),
    };
    format!("{what}, {seconds:.1} s")
}
