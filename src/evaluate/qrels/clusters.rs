//! What `clusters.jsonl` and the tables beside it say of the documents named.

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
use crate::evaluate::lines::Table;
use crate::read::Decompressed;
use crate::read::lines::shorten;
use crate::store::disk::READ_BUFFER;
use crate::{Error, Result};

/// What a member of a cluster is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum MemberKind {
    Representative,
    Exact,
    Near,
}

impl MemberKind {
    pub fn text(self) -> &'static str {
        match self {
            MemberKind::Representative => "representative",
            MemberKind::Exact => "exact",
            MemberKind::Near => "near",
        }
    }
}

/// A document in a cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemberPlace {
    pub cluster: u32,
    /// Which member it is, in the order of the collection.
    pub place: u64,
    pub kind: MemberKind,
}

/// The documents named, in their clusters.
pub(super) struct Clusters {
    names: Names,
    members: Vec<Option<MemberPlace>>,
    /// Exact duplicates of each other have the same.
    classes: Vec<u128>,
    /// Which documents the collection has, where that is known.
    known: Option<Vec<bool>>,
    /// By cluster, the docnos that stand for all of it, if they are to.
    representatives: Option<BTreeMap<u32, String>>,
    /// Where a representative with white space in its docno was found.
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
        held.check(|| "the docnos of representatives".into())?;
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

    /// Reads the clusters, member by member.
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
                // Nothing but white space follows.
                Ok(()) => return Ok(()),
                Err(error) if error.is_io() => Err(error),
                Err(_) => wanted.deserialize(&mut json),
            };
            if let Err(error) = read {
                held.stop(0)?;
                if error.is_io() {
                    return Err(Error::io("read", path)(error.into()));
                }
                return Err(Error::BadLine {
                    path: path.into(),
                    line: error.line() as u64,
                    expected: "a cluster as an object with id, representative and members".into(),
                    found: error.to_string(),
                });
            }
        }
    }

    /// The cluster of a document, if it is in one.
    pub fn member(&self, key: u128) -> Option<MemberPlace> {
        self.members[self.names.find(key)?]
    }

    /// The number of a document that is named.
    pub fn number(&self, key: u128) -> Option<u32> {
        self.names.find(key).map(|at| at as u32)
    }

    /// What all exact duplicates of a document have in common.
    pub fn class(&self, key: u128) -> u128 {
        self.names.find(key).map_or(key, |at| self.classes[at])
    }

    /// The docno that stands for that of a document, if it is in a cluster and docnos are to be replaced.
    pub fn renamed(&self, key: u128) -> Result<Option<&str>> {
        let (Some(representatives), Some(member)) = (&self.representatives, self.member(key))
        else {
            return Ok(None);
        };
        let docno = representatives
            .get(&member.cluster)
            .map_or("", String::as_str);
        if docno.is_empty() || docno.contains(|c: char| c.is_ascii_whitespace()) {
            return Err(Error::BadLine {
                path: self.path.clone(),
                line: u64::from(member.cluster) + 1,
                expected: "a representative whose docno can stand in qrels, without white space"
                    .into(),
                found: shorten(docno.as_bytes()),
            });
        }
        Ok(Some(docno))
    }

    /// How many of these the collection does not have, where its documents are known.
    pub fn tell_unknown(&self, keys: impl Iterator<Item = u128>) -> Option<u64> {
        let known = self.known.as_ref()?;
        let unknown = keys.filter(|&key| !self.names.find(key).is_some_and(|at| known[at]));
        Some(unknown.count() as u64)
    }

    /// Is it a document that the collection does not have, as far as these are known?
    pub fn unknown(&self, key: u128) -> Option<bool> {
        self.known.as_ref()?;
        self.tell_unknown([key].into_iter()).map(|n| n > 0)
    }
}

/// One cluster, to be read.
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
                .take(representative.len() as u64 + REPRESENTATIVE_BYTES)
        {
            representatives.insert(id, representative);
        }
        Ok(())
    }
}

/// Held of a representative beside its docno.
const REPRESENTATIVE_BYTES: u64 = 64;

/// The members of one cluster, to be read. Gives whether any of them is named.
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
            // The caller looks again and tells.
            held.stop(place + 1).map_err(A::Error::custom)?;
            let key = key_of(&member.docno);
            let first = *first.get_or_insert(key);
            near |= member.kind == MemberKind::Near;
            if let Some(at) = clusters.names.find(key) {
                named = true;
                // Of documents of one docno, the first counts.
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
