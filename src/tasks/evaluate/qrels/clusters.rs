//! Finds the documents of the qrels and the run in `clusters.jsonl` and the tables next to it.

use std::collections::BTreeMap;
use std::fmt;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::lines::{Names, key_of};
use super::{Held, NONE, Source};
use crate::base::keywords::keywords;
use crate::store::disk::READ_BUFFER;
use crate::text::read::Decompressed;
use crate::text::read::lines::shorten;
use crate::text::table::Table;
use crate::{Error, Result};

keywords! {
    /// The role of a document in its cluster.
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub(super) enum MemberKind {
        Representative = "representative",
        Exact = "exact",
        Near = "near",
    }
}

/// The place of a document in its cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemberPlace {
    pub cluster: u32,
    /// Its position among the members, which are in the order of the collection.
    pub place: u64,
    pub kind: MemberKind,
}

/// The documents of the qrels and the run, and their clusters. All lists are in the order of
/// `names`.
pub(super) struct Clusters {
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
    pub fn read(
        source: &Source,
        names: Names,
        renaming: bool,
        held: &mut Held<'_>,
    ) -> Result<Clusters> {
        let path = &source.clusters;
        let mut clusters = Clusters {
            members: vec![None; names.count()],
            classes: names.keys().to_vec(),
            known: None,
            representatives: renaming.then(BTreeMap::new),
            names,
            path: path.clone(),
        };
        clusters.stream(path, held)?;
        held.memory
            .check(|| "the docnos of representatives".into())?;
        if let Some([documents, duplicates]) = &source.tables {
            let mut known = vec![false; clusters.names.count()];
            each_row(documents, &["docno"], held, |_, row| {
                if let Some(at) = clusters.names.find(key_of_bytes(&row[0])) {
                    known[at] = true;
                }
                Ok(())
            })?;
            clusters.known = Some(known);
            clusters.classes.clear();
            clusters.classes.extend_from_slice(clusters.names.keys());
            each_row(duplicates, &["docno", "representative"], held, |_, row| {
                if let Some(at) = clusters.names.find(key_of_bytes(&row[0])) {
                    clusters.classes[at] = key_of_bytes(&row[1]);
                }
                Ok(())
            })?;
        }
        Ok(clusters)
    }

    /// Reads the clusters without holding one in memory.
    fn stream(&mut self, path: &Path, held: &mut Held<'_>) -> Result<()> {
        let input = BufReader::with_capacity(READ_BUFFER, Decompressed::open(path)?);
        let mut json = serde_json::Deserializer::from_reader(input);
        let mut number = 0u64;
        loop {
            held.stop(number)?;
            number += 1;
            let wanted = Line {
                clusters: &mut *self,
                held: &mut *held,
            };
            let read = match json.end() {
                // Only white space follows.
                Ok(()) => return Ok(()),
                Err(error) if error.is_io() => Err(error),
                Err(_) => wanted.deserialize(&mut json),
            };
            if let Err(error) = read {
                held.stop(0)?;
                if error.is_io() {
                    return Err(Error::io("read", path)(error.into()));
                }
                let expected = "a cluster as an object with id, representative and members";
                return Err(Error::bad_line(path, error.line() as u64, expected, error));
            }
        }
    }

    /// The place of a document, if it is in a cluster.
    pub fn member(&self, key: u128) -> Option<MemberPlace> {
        self.members[self.names.find(key)?]
    }

    /// The number of a document, if the qrels or the run name it.
    pub fn number(&self, key: u128) -> Option<u32> {
        self.names.find(key).map(|at| at as u32)
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
        let docno = representatives
            .get(&member.cluster)
            .map_or("", String::as_str);
        if docno.is_empty() || docno.contains(|c: char| c.is_ascii_whitespace()) {
            let expected = "a representative whose docno can stand in qrels, without white space";
            let (line, found) = (u64::from(member.cluster) + 1, shorten(docno.as_bytes()));
            return Err(Error::bad_line(&self.path, line, expected, found));
        }
        Ok(Some(docno))
    }

    /// The number of these documents that the collection does not contain, if its docnos are known.
    pub fn tell_unknown(&self, keys: impl Iterator<Item = u128>) -> Option<u64> {
        let known = self.known.as_ref()?;
        let unknown = keys.filter(|&key| !self.names.find(key).is_some_and(|at| known[at]));
        Some(unknown.count() as u64)
    }

    /// Whether the collection does not contain a document, if its docnos are known.
    pub fn unknown(&self, key: u128) -> Option<bool> {
        self.known.as_ref()?;
        self.tell_unknown([key].into_iter()).map(|n| n > 0)
    }
}

/// Deserializes one cluster.
struct Line<'c, 'h, 'x> {
    clusters: &'c mut Clusters,
    held: &'h mut Held<'x>,
}

impl<'de> DeserializeSeed<'de> for Line<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Line<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a cluster")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let (mut id, mut representative, mut named) = (None, None, None);
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "id" => {
                    let number = map.next_value::<u32>()?;
                    if number == NONE {
                        return Err(A::Error::custom("an id too large"));
                    }
                    id = Some(number);
                }
                "representative" => representative = Some(map.next_value::<String>()?),
                "members" => {
                    let cluster = id.ok_or_else(|| A::Error::custom("members before the id"))?;
                    named = Some(map.next_value_seed(Members {
                        clusters: &mut *self.clusters,
                        held: &*self.held,
                        cluster,
                    })?);
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let (Some(id), Some(representative), Some(named)) = (id, representative, named) else {
            return Err(A::Error::custom("id, representative or members missing"));
        };
        if let Some(representatives) = &mut self.clusters.representatives
            && named
            && self
                .held
                .memory
                .take(representative.len() as u64 + REPRESENTATIVE_BYTES)
        {
            representatives.insert(id, representative);
        }
        Ok(())
    }
}

/// Memory of a representative besides its docno.
const REPRESENTATIVE_BYTES: u64 = 64;

/// Deserializes the members of one cluster; returns whether the qrels or the run name any of them.
struct Members<'c, 'h, 'x> {
    clusters: &'c mut Clusters,
    held: &'h Held<'x>,
    cluster: u32,
}

impl<'de> DeserializeSeed<'de> for Members<'_, '_, '_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<bool, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Members<'_, '_, '_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the members of a cluster")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut members: A) -> Result<bool, A::Error> {
        #[derive(Deserialize)]
        struct Member {
            docno: String,
            kind: MemberKind,
        }
        let Members {
            clusters,
            held,
            cluster,
        } = self;
        let mut named = false;
        let (mut first, mut place, mut near) = (None, 0u64, false);
        while let Some(member) = members.next_element::<Member>()? {
            // The caller repeats this check and returns the real error.
            held.stop(place + 1).map_err(A::Error::custom)?;
            let key = key_of(&member.docno);
            let first = *first.get_or_insert(key);
            near |= member.kind == MemberKind::Near;
            if let Some(at) = clusters.names.find(key) {
                named = true;
                // If several documents have the same docno, the first one counts.
                if clusters.members[at].is_none() {
                    clusters.members[at] = Some(MemberPlace {
                        cluster,
                        place,
                        kind: member.kind,
                    });
                    if !near {
                        clusters.classes[at] = first;
                    }
                }
            }
            place += 1;
        }
        Ok(named)
    }
}

fn key_of_bytes(docno: &[u8]) -> u128 {
    xxhash_rust::xxh3::xxh3_128(docno)
}

fn each_row(
    path: &Path,
    names: &[&str],
    held: &Held<'_>,
    mut take: impl FnMut(&Table, &[Vec<u8>]) -> Result<()>,
) -> Result<()> {
    let mut table = Table::open(path)?;
    table.want_names(names)?;
    let mut row = Vec::new();
    while table.next(&mut row)? {
        held.stop(table.number())?;
        take(&table, &row)?;
    }
    Ok(())
}
