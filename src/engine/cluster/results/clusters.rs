//! The members of clusters, and `clusters.jsonl`.

use crate::Result;
use crate::base::budget::ByteSize;
use crate::base::measure::Measure;
use crate::base::progress::Context;
use crate::engine::collection::{Catalogue, Names};
use crate::engine::sample::Sampled;
use crate::store::Sort;
use crate::store::disk::AtomicFile;
use crate::store::item::item;
use crate::store::workspace::{ResultFile, Workspace};
use std::fmt::Write;

use super::components::{Components, WithRoot};
use super::lines::{finished, json};

/// A document in a cluster.
pub(super) struct Member {
    /// The number of the cluster.
    pub(super) cluster: u32,
    /// The representative of the cluster.
    pub(super) root: u32,
    /// The document.
    pub(super) document: u32,
    /// `representative`, `exact` or `near`.
    pub(super) kind: &'static str,
    /// How much it resembles the representative.
    pub(super) likeness: Likeness,
}

/// How much a member of a cluster resembles the representative. An exact duplicate resembles it as
/// much as the document that it equals.
pub(super) enum Likeness {
    /// It is the representative, or equals it.
    Equal,
    /// The two are a pair: the amount of the measure and both sizes.
    Pair(u64, u64, u64),
    /// The two are not in the pair list.
    Unlisted,
}

impl Likeness {
    /// As in JSON.
    fn text(&self, measure: Measure) -> String {
        match *self {
            Likeness::Equal => "1.000000".into(),
            Likeness::Pair(amount, root_size, size) => measure.text(amount, root_size, size),
            Likeness::Unlisted => "null".into(),
        }
    }

    /// As a number.
    pub(super) fn value(&self, measure: Measure) -> Option<f64> {
        match *self {
            Likeness::Equal => Some(1.0),
            Likeness::Pair(amount, root_size, size) => Some(measure.value(amount, root_size, size)),
            Likeness::Unlisted => None,
        }
    }
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
pub(super) fn each_member(
    workspace: &Workspace,
    (components, with_root): (&Components, &WithRoot),
    sampled: &Sampled,
    memory: ByteSize,
    context: &Context<'_>,
    mut take: impl FnMut(&Member) -> Result<()>,
) -> Result<()> {
    let likeness = |root: u32, first: u32| {
        if first == root {
            return Likeness::Equal;
        }
        with_root
            .amount(first)
            .map_or(Likeness::Unlisted, |amount| {
                let (root_size, size) = sampled.measured(root, first);
                Likeness::Pair(amount.into(), root_size.into(), size.into())
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
        let Placed {
            root,
            document,
            first,
        } = member;
        take(&Member {
            cluster: components.cluster(root).map_or(0, |(_, number)| number),
            root,
            document,
            kind: match document {
                d if d == root => "representative",
                d if d != first => "exact",
                _ => "near",
            },
            likeness: likeness(root, first),
        })
    })?;
    Ok(())
}

/// Writes a line for each cluster. Returns the file, the number of clusters of exact duplicates
/// only, and the size of the largest cluster.
pub(super) fn write_clusters(
    workspace: &Workspace,
    of: (&Components, &WithRoot),
    (names, sampled, measure): (&Names, &Sampled, Measure),
    memory: ByteSize,
    context: &Context<'_>,
) -> Result<(ResultFile, u64, u64)> {
    let mut file = ClusterFile {
        out: AtomicFile::create(&workspace.directory().join("clusters.jsonl"))?,
        names,
        measure,
        open: None,
        exact_only: 0,
        largest: 0,
        line: String::new(),
    };
    let take = |member: &Member| file.push(member);
    each_member(workspace, of, sampled, memory, context, take)?;
    file.close()?;
    let written = finished("clusters.jsonl", file.out)?;
    Ok((written, file.exact_only, file.largest))
}

struct ClusterFile<'a> {
    out: AtomicFile,
    names: &'a Names,
    measure: Measure,
    open: Option<OpenCluster>,
    /// Clusters of exact duplicates only.
    exact_only: u64,
    /// Members of the largest cluster.
    largest: u64,
    line: String,
}

/// The cluster whose line is being written.
struct OpenCluster {
    root: u32,
    members: u64,
    /// Whether it has a member that is no exact duplicate of another one.
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
            open.near |= kind == "near";
            open.members += 1;
        }
        let docno = json(&self.names.get(member.document)?);
        let column = self.measure.column();
        let resemblance = member.likeness.text(self.measure);
        let _ = write!(
            self.line,
            "{{\"docno\":{docno},\"kind\":\"{kind}\",\"{column}\":{resemblance}}}"
        );
        self.out.put(self.line.as_bytes())
    }

    /// Ends the line of the open cluster.
    fn close(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        self.exact_only += u64::from(!open.near);
        self.largest = self.largest.max(open.members);
        self.out.put(b"]}\n")
    }
}
