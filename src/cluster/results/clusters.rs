//! `clusters.jsonl`.

use crate::Result;
use crate::budget::ByteSize;
use crate::collection::Names;
use crate::measure::Measure;
use crate::progress::Context;
use crate::store::disk::AtomicFile;
use crate::store::{Tagged, sort_tagged};
use crate::workspace::{ResultFile, Workspace};
use std::fmt::Write;

use super::ClusterStats;
use super::components::{Components, NO_CLUSTER, RootPair};
use super::lines::{finished, json};

/// Writes a line for each cluster. The members come from a sort by root and document.
pub(super) fn write_clusters(
    workspace: &Workspace,
    components: &mut Components,
    (names, measure): (&Names, Measure),
    pairs_with_root: Vec<RootPair>,
    memory: ByteSize,
    stats: &mut ClusterStats,
    context: &Context<'_>,
) -> Result<ResultFile> {
    let Components {
        sets,
        firsts,
        numbers,
    } = components;
    let mut file = ClusterFile {
        out: AtomicFile::create(&workspace.directory().join("clusters.jsonl"))?,
        names,
        measure,
        numbers,
        pairs_with_root,
        open: None,
        exact_only: 0,
        line: String::new(),
    };
    let scratch = workspace.scratch(context)?;
    sort_tagged(
        scratch.path(),
        "clusters",
        memory,
        |push| {
            for (document, &first) in (0..).zip(&firsts.0) {
                let root = sets.find(document);
                if numbers[root as usize] != NO_CLUSTER {
                    push(Tagged {
                        key: root.into(),
                        document,
                        extra: first,
                    })?;
                }
            }
            Ok(())
        },
        |member| file.push(member.key as u32, member.document, member.extra),
    )?;
    file.close()?;
    stats.exact_only = file.exact_only;
    finished("clusters.jsonl", file.out)
}

struct ClusterFile<'a> {
    out: AtomicFile,
    names: &'a Names,
    measure: Measure,
    numbers: &'a [u32],
    pairs_with_root: Vec<RootPair>,
    open: Option<OpenCluster>,
    /// Clusters of exact duplicates only.
    exact_only: u64,
    line: String,
}

/// The cluster whose line is being written.
struct OpenCluster {
    root: u32,
    /// Whether it has a member that is no exact duplicate of another one.
    near: bool,
}

impl ClusterFile<'_> {
    /// Appends a document to the cluster of `root`. The members of a cluster come one after the
    /// other. `first` is the first document with the same MD5.
    fn push(&mut self, root: u32, document: u32, first: u32) -> Result<()> {
        self.line.clear();
        match &self.open {
            Some(open) if open.root == root => self.line.push(','),
            _ => {
                self.close()?;
                self.open = Some(OpenCluster { root, near: false });
                let docno = json(self.names.get(root)?);
                let id = self.numbers[root as usize];
                let _ = write!(
                    self.line,
                    "{{\"id\":{id},\"representative\":{docno},\"members\":["
                );
            }
        }
        let kind = match document {
            d if d == root => "representative",
            d if d != first => "exact",
            _ => {
                if let Some(open) = &mut self.open {
                    open.near = true;
                }
                "near"
            }
        };
        let (docno, column) = (json(self.names.get(document)?), self.measure.column());
        let resemblance = self.resemblance(root, first);
        let _ = write!(
            self.line,
            "{{\"docno\":{docno},\"kind\":\"{kind}\",\"{column}\":{resemblance}}}"
        );
        self.out.put(self.line.as_bytes())
    }

    /// The resemblance of the root to a document whose first exact duplicate is `first`; `null` if
    /// they are no pair. An exact duplicate resembles the root as much as `first` does.
    fn resemblance(&self, root: u32, first: u32) -> String {
        if first == root {
            return "1.000000".into();
        }
        let pairs = &self.pairs_with_root;
        match pairs.binary_search_by_key(&first, |pair| pair.document) {
            Ok(at) => {
                let pair = &pairs[at];
                let (root_size, size) = (pair.root_size.into(), pair.size.into());
                self.measure.text(pair.amount.into(), root_size, size)
            }
            Err(_) => "null".into(),
        }
    }

    /// Ends the line of the open cluster.
    fn close(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        self.exact_only += u64::from(!open.near);
        self.out.put(b"]}\n")
    }
}
