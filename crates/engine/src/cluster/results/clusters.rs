//! The members of clusters, `clusters.jsonl` and `clusters.parquet`.

use crate::collection::{self, Catalogue};
use lookalike_base::{Bits, Measure, Result};
use lookalike_store::{
    AtomicFile, Cell, Column, Group, Manifest, ResultFile, Sort, Table, cells, columns, item,
    only_if,
};
use std::fmt::Write;

use super::components::UNLISTED;
use super::lines::{json, parameters};
use super::members::MemberKind;
use super::{ClusterStats, Clustered, TABLES};

const CLUSTERS_FILE: &str = "clusters.jsonl";

/// The columns of the members of clusters. The fifth has the name of the measure.
pub(super) fn columns(manifest: &Manifest, measure: Measure) -> [Column; 9] {
    let mut columns = columns! {
        cluster: U32, representative: Text, docno: Text, kind: Text, resemblance: F64 or "",
        representative_document: U32 in Parquet, document: U32 in Parquet, url: Text or "",
        date: Text or "",
    };
    only_if(&mut columns[7..], collection::has_captures(manifest));
    columns[4].name = measure.column();
    columns
}

/// A document in a cluster.
struct Member {
    document: u32,
    kind: MemberKind,
    /// How much it resembles the representative; null if the two are not in the pair list. An exact
    /// duplicate resembles it as much as the document that it equals.
    likeness: Cell<'static>,
}

/// The next member of a cluster.
type Next<'n> = dyn FnMut() -> Result<Option<Member>> + 'n;

item! {
    /// A member of a cluster in a sort.
    struct Placed {
        /// The first document of the cluster.
        root: u32,
        document: u32,
        /// The first document with its MD5.
        first: u32,
    }
}

/// Calls `take` for each cluster with its number, its representative and its members, in order. They
/// come from a sort by root and document.
fn each_cluster(
    of: &Clustered<'_>,
    mut take: impl FnMut(u32, u32, &mut Next<'_>) -> Result<()>,
) -> Result<()> {
    let (workspace, memory, context) = (of.workspace, of.memory, of.context);
    let (components, sampled, config) = (&of.components, &of.sampled, &of.config);
    let with_root = components.with_root(workspace, config, sampled)?;
    let likeness = |root: u32, first: u32| {
        if first == root {
            return Cell::Real(1.0);
        }
        let (root_size, size) = sampled.measured(root, first);
        let sizes = |amount: u32| [amount.into(), root_size.into(), size.into()];
        match with_root[first as usize] {
            UNLISTED => Cell::Null,
            amount => Cell::Measured(config.measure, sizes(amount)),
        }
    };
    let mut parted = Bits::new(components.roots.len());
    let root = |document| Some(components.cluster(document)?.0);
    Catalogue::each_parted(workspace, memory, context, root, |document, _| {
        parted.insert(document);
    })?;
    let scratch = workspace.scratch(context)?;
    let mut sort = Sort::scratch(&scratch.path().join("clusters"), memory)?;
    Catalogue::each_representative(workspace, |document, first| {
        let Some((root, _)) = components.cluster(document) else {
            return Ok(());
        };
        sort.push(Placed::new(root, document, first))
    })?;
    let clusters = |Placed { root, .. }, all: &mut Group<'_, Placed>| {
        let number = components.cluster(root).map_or(0, |(_, number)| number);
        let member = |placed: Placed| Member {
            document: placed.document,
            kind: match placed.document {
                d if d == root => MemberKind::Representative,
                d if d != placed.first || parted.contains(d) => MemberKind::Exact,
                _ => MemberKind::Near,
            },
            likeness: likeness(root, placed.first),
        };
        take(number, root, &mut || Ok(all.next()?.map(member)))
    };
    (sort.finish()?.groups(|placed| placed.root, clusters)).map(|_| ())
}

/// Writes a row for each member of a cluster.
pub(super) fn clusters_table(of: &Clustered<'_>) -> Result<ResultFile> {
    let (workspace, names) = (of.workspace, &of.names);
    let columns = columns(&workspace.manifest, of.config.measure);
    let parameters = parameters(&workspace.manifest);
    let directory = workspace.directory();
    let mut table = Table::create(directory, "clusters.parquet", &parameters, &columns)?;
    let mut written = 0u64;
    let take = |number: u32, root: u32, next: &mut Next<'_>| {
        let representative = names.get(root)?;
        while let Some(member) = next()? {
            of.context.tick(TABLES, written)?;
            written += 1;
            let (docno, captured) = names.named(member.document)?;
            table.row(&cells! {
                number, &representative, &docno, member.kind.text(), member.likeness, root,
                member.document, captured.url.as_ref(), captured.date.as_ref(),
            })?;
        }
        Ok(())
    };
    each_cluster(of, take)?;
    table.done()
}

/// Writes a line for each cluster. Returns the file, and counts clusters of exact duplicates only and
/// the documents of the largest cluster.
pub(super) fn write_clusters(of: &Clustered<'_>) -> Result<(ResultFile, ClusterStats)> {
    let (names, column) = (&of.names, of.config.measure.column());
    let mut out = AtomicFile::create(&of.workspace.directory().join(CLUSTERS_FILE))?;
    let mut stats = ClusterStats::default();
    let mut line = String::new();
    let take = |number: u32, root: u32, next: &mut Next<'_>| {
        let docno = json(&names.get(root)?);
        let _ = write!(
            line,
            "{{\"id\":{number},\"representative\":{docno},\"members\":["
        );
        let (mut members, mut near) = (0, false);
        while let Some(member) = next()? {
            near |= member.kind == MemberKind::Near;
            line.push_str(if members > 0 { "," } else { "" });
            members += 1;
            let (docno, captured) = names.named(member.document)?;
            let docno = json(&docno);
            let (kind, likeness) = (member.kind, member.likeness.json());
            let captured = serde_json::to_string(&captured).unwrap_or_default();
            let comma = if captured == "{}" { "" } else { "," };
            let captured = captured.replacen('{', comma, 1);
            let _ = write!(
                line,
                "{{\"docno\":{docno},\"kind\":\"{kind}\",\"{column}\":{likeness}{captured}"
            );
            out.put(line.as_bytes())?;
            line.clear();
        }
        stats.exact_only += u64::from(!near);
        if members > stats.largest {
            (stats.largest, stats.largest_document) = (members, Some(root));
        }
        out.put(b"]}\n")
    };
    each_cluster(of, take)?;
    let written = ResultFile::new(CLUSTERS_FILE, out.finish()?);
    Ok((written, stats))
}
