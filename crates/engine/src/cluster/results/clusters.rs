//! The members of clusters, `clusters.jsonl` and `clusters.parquet`.

use crate::collection::{Catalogue, Names};
use crate::join::PairsEntry;
use crate::sample::Sampled;
use lookalike_base::Result;
use lookalike_base::budget::ByteSize;
use lookalike_base::measure::Measure;
use lookalike_base::progress::Context;
use lookalike_store::Sort;
use lookalike_store::disk::AtomicFile;
use lookalike_store::item::item;
use lookalike_store::table::{Cell, Column, Table, cells, columns};
use lookalike_store::workspace::{ResultFile, Workspace};
use std::fmt::Write;

use super::components::Components;
use super::lines::{json, parameters};
use super::members::MemberKind;
use super::{ClusterStats, TABLES};

const CLUSTERS_FILE: &str = "clusters.jsonl";

/// The columns of the members of clusters. The fifth has the name of the measure.
pub(super) fn columns(measure: Measure) -> [Column; 7] {
    let mut columns = columns! {
        cluster: U32, representative: Text, docno: Text, kind: Text, resemblance: F64 or "",
        representative_document: U32 in Parquet, document: U32 in Parquet,
    };
    columns[4].name = measure.column();
    columns
}

/// A document in a cluster.
struct Member {
    /// The number of the cluster.
    cluster: u32,
    /// The representative of the cluster.
    root: u32,
    /// The document.
    document: u32,
    kind: MemberKind,
    /// How much it resembles the representative; null if the two are not in the pair list. An exact
    /// duplicate resembles it as much as the document that it equals.
    likeness: Cell<'static>,
}

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

/// Passes the members of all clusters to `take`. They come from a sort by root and document.
fn each_member(
    workspace: &Workspace,
    components: &Components,
    sampled: &Sampled,
    memory: ByteSize,
    context: &Context<'_>,
    mut take: impl FnMut(&Member) -> Result<()>,
) -> Result<()> {
    let config = workspace.record::<PairsEntry>("join")?.config;
    let with_root = components.with_root(workspace, &config, sampled)?;
    let likeness = |root: u32, first: u32| {
        if first == root {
            return Cell::Real(1.0);
        }
        let (root_size, size) = sampled.measured(root, first);
        let sizes = |amount: u32| [amount.into(), root_size.into(), size.into()];
        let amount = with_root.amount(first);
        amount.map_or(Cell::Null, |amount| {
            Cell::Measured(config.measure, sizes(amount))
        })
    };
    let scratch = workspace.scratch(context)?;
    let mut sort = Sort::scratch(&scratch.path().join("clusters"), memory)?;
    Catalogue::each_representative(workspace, |document, first| {
        let Some((root, _)) = components.cluster(document) else {
            return Ok(());
        };
        sort.push(Placed {
            root,
            document,
            first,
        })
    })?;
    sort.finish()?.for_each(|member| {
        let (root, document, first) = (member.root, member.document, member.first);
        take(&Member {
            cluster: components.cluster(root).map_or(0, |(_, number)| number),
            root,
            document,
            kind: match document {
                d if d == root => MemberKind::Representative,
                d if d != first => MemberKind::Exact,
                _ => MemberKind::Near,
            },
            likeness: likeness(root, first),
        })
    })?;
    Ok(())
}

/// Writes a row for each member of a cluster.
pub(super) fn clusters_table(
    workspace: &Workspace,
    components: &Components,
    names: &Names,
    sampled: &Sampled,
    memory: ByteSize,
    context: &Context<'_>,
) -> Result<ResultFile> {
    let columns = columns(workspace.record::<PairsEntry>("join")?.config.measure);
    let parameters = parameters(&workspace.manifest);
    let directory = workspace.directory();
    let mut table = Table::create(directory, "clusters.parquet", &parameters, &columns)?;
    let mut written = 0u64;
    let take = |member: &Member| {
        context.tick(TABLES, written)?;
        written += 1;
        let (root, document) = (names.get(member.root)?, names.get(member.document)?);
        table.row(&cells! {
            member.cluster, &root, &document, member.kind.text(), member.likeness, member.root,
            member.document,
        })
    };
    each_member(workspace, components, sampled, memory, context, take)?;
    table.done()
}

/// Writes a line for each cluster. Returns the file, and counts clusters of exact duplicates only and
/// the documents of the largest cluster.
pub(super) fn write_clusters(
    workspace: &Workspace,
    components: &Components,
    names: &Names,
    sampled: &Sampled,
    memory: ByteSize,
    context: &Context<'_>,
) -> Result<(ResultFile, ClusterStats)> {
    let mut file = ClusterFile {
        out: AtomicFile::create(&workspace.directory().join(CLUSTERS_FILE))?,
        names,
        column: (workspace.record::<PairsEntry>("join")?.config.measure).column(),
        open: None,
        stats: ClusterStats::default(),
        line: String::new(),
    };
    let take = |member: &Member| file.push(member);
    each_member(workspace, components, sampled, memory, context, take)?;
    file.close()?;
    let written = ResultFile::new(CLUSTERS_FILE, file.out.finish()?);
    Ok((written, file.stats))
}

struct ClusterFile<'a> {
    out: AtomicFile,
    names: &'a Names,
    column: &'static str,
    open: Option<OpenCluster>,
    stats: ClusterStats,
    line: String,
}

/// The cluster whose line is being written.
struct OpenCluster {
    root: u32,
    members: u64,
    /// Whether it has a member that is not an exact duplicate of another one.
    near: bool,
}

impl ClusterFile<'_> {
    /// Appends a member to the line of its cluster. The members of a cluster come one after the
    /// other.
    fn push(&mut self, member: &Member) -> Result<()> {
        let root = member.root;
        self.line.clear();
        match &self.open {
            Some(open) if open.root == root => self.line.push(','),
            _ => {
                self.close()?;
                self.open = Some(OpenCluster {
                    root,
                    members: 0,
                    near: false,
                });
                let docno = json(&self.names.get(root)?);
                let id = member.cluster;
                let _ = write!(
                    self.line,
                    "{{\"id\":{id},\"representative\":{docno},\"members\":["
                );
            }
        }
        let kind = member.kind;
        if let Some(open) = &mut self.open {
            open.near |= kind == MemberKind::Near;
            open.members += 1;
        }
        let docno = json(&self.names.get(member.document)?);
        let (column, likeness) = (self.column, member.likeness.json());
        let _ = write!(
            self.line,
            "{{\"docno\":{docno},\"kind\":\"{kind}\",\"{column}\":{likeness}}}"
        );
        self.out.put(self.line.as_bytes())
    }

    /// Ends the line of the open cluster.
    fn close(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        self.stats.exact_only += u64::from(!open.near);
        if open.members > self.stats.largest {
            self.stats.largest = open.members;
            self.stats.largest_document = Some(open.root);
        }
        self.out.put(b"]}\n")
    }
}
