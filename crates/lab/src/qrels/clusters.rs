//! Finds the documents of the qrels and the run in `clusters.jsonl` and the tables next to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::lines::{Names, key_of};
use super::{Held, NONE, Source};
use lookalike_base::{Error, Result};
use lookalike_engine::cluster::{MemberKind, Members};
use lookalike_engine::table::Table;
use lookalike_tasks::evaluate::each_row;
use lookalike_text::read::lines::shorten;

/// The place of a document in its cluster.
#[derive(Clone, Copy, Debug)]
pub struct MemberPlace {
    pub cluster: u32,
    /// Its position among the members, which are in the order of the collection.
    pub place: u64,
    pub kind: MemberKind,
}

/// The documents of the qrels and the run, and their clusters. All lists are in the order of
/// `names`.
pub struct Clusters {
    names: Names,
    members: Vec<Option<MemberPlace>>,
    /// Equal for exact duplicates of each other.
    classes: Vec<u128>,
    /// Whether the collection contains each document; `None` if its docnos are not known.
    known: Option<Vec<bool>>,
    /// The docno of each cluster's representative; `None` unless docnos are replaced.
    representatives: Option<BTreeMap<u32, String>>,
    /// The file of the clusters, for the error about a docno with white space.
    path: PathBuf,
}

impl Clusters {
    pub(super) fn read(
        source: &Source,
        names: Names,
        renaming: bool,
        held: &mut Held<'_>,
    ) -> Result<Clusters> {
        let path = &source.clusters;
        let mut clusters = Clusters {
            members: vec![None; names.keys.len()],
            classes: names.keys.to_vec(),
            known: None,
            representatives: renaming.then(BTreeMap::new),
            names,
            path: path.clone(),
        };
        clusters.stream(path, held)?;
        held.memory
            .check(|| "the docnos of representatives".into())?;
        if let Some([documents, duplicates]) = &source.tables {
            let mut known = vec![false; clusters.names.keys.len()];
            let [documents, duplicates] = [Table::open(documents)?, Table::open(duplicates)?];
            each_row(documents, &["docno"], held.context, |_, row| {
                if let Some(at) = clusters.names.find(key_of(&row[0])) {
                    known[at] = true;
                }
                Ok(())
            })?;
            clusters.known = Some(known);
            clusters.classes = clusters.names.keys.to_vec();
            let names = ["docno", "representative"];
            each_row(duplicates, &names, held.context, |_, row| {
                if let Some(at) = clusters.names.find(key_of(&row[0])) {
                    clusters.classes[at] = key_of(&row[1]);
                }
                Ok(())
            })?;
        }
        Ok(clusters)
    }

    /// Reads the clusters without holding one in memory.
    fn stream(&mut self, path: &Path, held: &mut Held<'_>) -> Result<()> {
        let mut members = Members::open(path)?;
        let (mut read, mut first, mut near, mut named) = (0u64, 0, false, false);
        while let Some(member) = members.next_member()? {
            held.stop(read)?;
            read += 1;
            let (cluster, place, key) = (members.cluster, members.place, key_of(&member.docno));
            if place == 0 {
                (first, near, named) = (key, false, false);
            }
            if cluster == NONE {
                return Err(members.bad("an id too large"));
            }
            near |= member.kind == MemberKind::Near;
            let Some(at) = self.names.find(key) else {
                continue;
            };
            let representative = &members.representative;
            if let Some(representatives) = &mut self.representatives
                && !std::mem::replace(&mut named, true)
                && (held.memory).take(representative.len() as u64 + REPRESENTATIVE_BYTES)
            {
                representatives.insert(cluster, representative.clone());
            }
            // If several documents have the same docno, the first one counts.
            if self.members[at].is_none() {
                self.members[at] = Some(MemberPlace {
                    cluster,
                    place,
                    kind: member.kind,
                });
                if !near {
                    self.classes[at] = first;
                }
            }
        }
        Ok(())
    }

    /// The place of a document, if it is in a cluster.
    pub fn member(&self, key: u128) -> Option<MemberPlace> {
        self.members[self.names.find(key)?]
    }

    /// A value that exact duplicates of each other share.
    pub fn class(&self, key: u128) -> u128 {
        self.names.find(key).map_or(key, |at| self.classes[at])
    }

    /// The docno that replaces the docno of a document, if docnos are replaced and it is in a
    /// cluster.
    pub fn renamed(&self, key: u128) -> Result<Option<&str>> {
        let (Some(representatives), Some(member)) = (&self.representatives, self.member(key))
        else {
            return Ok(None);
        };
        let docno = representatives.get(&member.cluster);
        let docno = docno.map_or("", String::as_str);
        if docno.is_empty() || docno.contains(|c: char| c.is_ascii_whitespace()) {
            let expected = "a representative whose docno can stand in qrels, without white space";
            let (line, found) = (u64::from(member.cluster) + 1, shorten(docno.as_bytes()));
            return Err(Error::bad_line(&self.path, line, expected, found));
        }
        Ok(Some(docno))
    }

    /// Whether the collection does not contain a document, if its docnos are known.
    pub fn unknown(&self, key: u128) -> Option<bool> {
        let known = self.known.as_ref()?;
        Some(!self.names.find(key).is_some_and(|at| known[at]))
    }
}

/// Memory of a representative besides its docno.
const REPRESENTATIVE_BYTES: u64 = 64;
