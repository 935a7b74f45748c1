//! The documents that any input names, numbered by the hashes of their docnos.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use super::list::{PairList, docno, hinted};
use super::{Opened, RunList, STAGE, Sources};
use lookalike_base::{Context, Error, Result, UnionFind, budget::ByteSize, counted};
use lookalike_engine::collection::SizeGroups;
use lookalike_engine::table::Table;
use lookalike_store::{List, Sort, item};
use lookalike_text::read::lines::{parsed, shorten};
use lookalike_text::read::{ID_FIELDS, uncompressed};

/// Columns of judged pairs. The third has one of [`GRADES`] as its name, and the last may be missing.
const JUDGED: [&str; 4] = ["docno_a", "docno_b", "judgement", "collection"];
/// Names of the column with the grades of judged pairs.
const GRADES: [&str; 3] = ["judgement", "grade", "label"];
/// Columns of families.
pub const FAMILIES: [&str; 2] = ["docno", "family"];

/// The value for no cluster or no family.
pub(super) const NONE: u32 = u32::MAX;

/// The ground truth's collection has the document.
const KNOWN: u8 = 1;
/// The directory of the run has the document.
const IN_RUN: u8 = 2;
/// A line of the judged pairs names the document first.
const SELECTED: u8 = 4;

/// The facts that one of the two lists records about the documents.
#[derive(Default)]
pub(super) struct Side {
    /// For each document, the document that represents all documents identical to it; empty if not
    /// recorded.
    roots: Vec<u32>,
    /// For each document, its cluster; empty if not recorded.
    pub clusters: Vec<u32>,
}

impl Side {
    /// The document that represents a document and all documents identical to it.
    pub fn root(&self, document: u32) -> u32 {
        let root = self.roots.get(document as usize).copied();
        root.unwrap_or(document)
    }

    /// Whether the list records exact duplicates.
    pub(crate) fn has_classes(&self) -> bool {
        !self.roots.is_empty()
    }
}

/// The hashes of all docnos, in ascending order.
#[derive(Default)]
struct Keys {
    /// Their upper halves, which are enough to find nearly all of them.
    halves: Vec<u64>,
    /// In full those that share their upper half with another one, and their ranks.
    twins: Vec<(u128, u32)>,
}

impl Keys {
    /// Appends a hash, which must be above its predecessor. `next` is its successor.
    fn push(&mut self, key: u128, next: Option<u128>) {
        let half = (key >> 64) as u64;
        let before = self.halves.last() == Some(&half);
        if before || next.is_some_and(|next| (next >> 64) as u64 == half) {
            self.twins.push((key, self.halves.len() as u32));
        }
        self.halves.push(half);
    }

    fn len(&self) -> usize {
        self.halves.len()
    }

    /// The rank of a hash that is among them.
    fn rank(&self, key: u128) -> Option<u32> {
        let half = (key >> 64) as u64;
        let at = self.halves.partition_point(|&other| other < half);
        if self.halves.get(at) != Some(&half) {
            return None;
        }
        if self.halves.get(at + 1) != Some(&half) {
            return Some(at as u32);
        }
        let twin = self.twins.binary_search_by_key(&key, |&(key, _)| key);
        twin.ok().map(|twin| self.twins[twin].1)
    }
}

/// All documents.
#[derive(Default)]
pub(super) struct Documents {
    keys: Keys,
    flags: Vec<u8>,
    groups: Vec<u8>,
    /// The ground truth.
    pub truth: Side,
    /// The run.
    pub run: Side,
    /// Whether the ground truth covers a known collection, so that other documents are unknown.
    pub closed: bool,
    /// The bounds of the size groups, if documents have size groups.
    pub size_groups: Option<SizeGroups>,
    /// For each docno of a list that is an address: its capture, or [`SEVERAL`]. Empty without
    /// captures.
    addresses: Vec<u32>,
    /// The same while the directories are read, and the tables that have captures.
    captures: Vec<u32>,
    tables: Vec<PathBuf>,
    /// On docnos that are not unique or not known.
    pub(super) notes: Vec<String>,
    /// The names that a list should have, if a collection is known.
    expected: String,
}

/// Whether a list names a document that the collections have. If it does not, it has another form,
/// or is of another collection.
#[derive(Default)]
pub(super) struct AnyKnown {
    any: bool,
    wrong: Option<Error>,
}

impl AnyKnown {
    /// Notes a document that the list names.
    pub fn see(&mut self, document: u32, of: &Documents, table: &Table, docno: &[u8]) {
        let expected = match (of.known(document), of.in_run(document)) {
            (true, true) => return self.any = true,
            (true, false) if of.closed => "a docno of the run too",
            _ => &of.expected,
        };
        let wrong = || table.bad(expected, shorten(docno));
        self.wrong.get_or_insert_with(wrong);
    }

    /// Refuses a list of which all documents are unknown.
    pub fn check(self) -> Result<()> {
        self.wrong.filter(|_| !self.any).map_or(Ok(()), Err)
    }
}

/// In place of the capture of an address that several have.
const SEVERAL: u32 = NONE - 1;

/// Memory of a document: half of its hash, flags, size group; representative and cluster on each
/// side; the documents identical to it; the capture of an address; and [`super::classes::Classes`].
pub(super) const DOCUMENT_BYTES: u64 = 8 + 2 + 2 * 8 + 4 + 4 + 12;

item! {
    /// The hash of a docno.
    pub(super) struct Docno {
        hash: u128,
    }
}

/// Passes on the hashes of all docnos, each with the number of its column, 0 or 1.
fn each_docno(sources: &Sources<'_>, mut add: impl FnMut(usize, u128) -> Result<()>) -> Result<()> {
    let (config, context) = (sources.config, sources.context);
    let is_docno = |name: &str| name.starts_with("docno") || name == "representative";
    let add = &mut add as &mut dyn FnMut(usize, u128) -> Result<()>;
    let add_all = |path: &Path, names: &[&str], add: &mut dyn FnMut(usize, u128) -> Result<()>| {
        each_row(Table::open(path)?, names, context, |table, row| {
            let mut docnos = (0..).zip(row).zip(names).filter(|(_, name)| is_docno(name));
            docnos.try_for_each(|((column, text), _)| add(column, docno(table, text)?))
        })
    };
    for list in sources.truth.iter().chain([&sources.run]) {
        if list.of != RunList::Pairs {
            each_member(list, context, |table, text, _| add(0, docno(table, text)?))?;
            continue;
        }
        let mut pairs = PairList::open(&list.pairs, list.columns.as_ref())?;
        while let Some(listed) = pairs.next(&[])? {
            stop(&pairs.table, context)?;
            add(0, listed.documents[0])?;
            add(1, listed.documents[1])?;
        }
        if let Some(directory) = &list.directory {
            add_all(&directory.join(DOCUMENTS), &["docno"], add)?;
            let names = ["docno", "representative"];
            add_all(&directory.join(DUPLICATES), &names, add)?;
        }
    }
    if let Some(path) = &config.documents {
        add_all(path, &["docno"], add)?;
    }
    if let Some(path) = &config.judged {
        each_judged(path, context, |table, row| {
            add(0, docno(table, &row[0])?)?;
            add(1, docno(table, &row[1])?)
        })?;
    }
    if let Some(path) = &config.families {
        add_all(path, &FAMILIES, add)?;
    }
    Ok(())
}

/// The distinct hashes of all docnos, in ascending order.
pub(super) fn collect(
    sources: &Sources<'_>,
    scratch: &Path,
    memory: ByteSize,
) -> Result<List<Docno>> {
    let mut sort = Sort::scratch(&scratch.join("docnos"), memory)?;
    // Lists are usually sorted by one of their columns, so repeated docnos are adjacent.
    let mut before = [0; 2];
    each_docno(sources, |column, hash| {
        match std::mem::replace(&mut before[column], hash) == hash {
            true => Ok(()),
            false => sort.push(Docno { hash }),
        }
    })?;
    let mut keys = List::new(scratch);
    let distinct = sort.finish()?.unique();
    distinct.for_each(|docno| keys.push(&docno))?;
    if keys.count() >= u64::from(u32::MAX) {
        let most = u64::from(u32::MAX) - 1;
        return Err(Error::too_many("documents", keys.count(), most));
    }
    Ok(keys)
}

/// A result file of a run.
pub(super) const DOCUMENTS: &str = "documents.tsv";
pub(super) const DUPLICATES: &str = "exact-duplicates.tsv";

impl Documents {
    /// Reads back the hashes, and the documents that the directories record.
    pub fn load(sources: &Sources<'_>, docnos: &List<Docno>) -> Result<Documents> {
        let mut keys = Keys::default();
        keys.halves.reserve_exact(docnos.count() as usize);
        let mut before = None;
        docnos.each(|Docno { hash }| {
            if let Some(before) = before.replace(hash) {
                keys.push(before, Some(hash));
            }
            Ok(())
        })?;
        if let Some(last) = before {
            keys.push(last, None);
        }
        let mut documents = Documents {
            flags: vec![0; keys.len()],
            keys,
            ..Documents::default()
        };
        let (truth, context) = (sources.truth.as_ref(), sources.context);
        let directory = truth.and_then(|list| list.directory.as_ref());
        if let Some(directory) = directory {
            documents.truth = documents.side(directory, KNOWN, context)?;
        }
        if let Some(directory) = &sources.run.directory {
            documents.run = documents.side(directory, IN_RUN, context)?;
        }
        if let Some(path) = &sources.config.documents {
            documents.collection(path, KNOWN, context)?;
        }
        // This must come last: a name that the directories call a docno is a docno, even if it is
        // an address.
        documents.addresses = std::mem::take(&mut documents.captures);
        for (capture, flags) in documents.addresses.iter_mut().zip(&documents.flags) {
            if flags & (KNOWN | IN_RUN) != 0 {
                *capture = NONE;
            }
        }
        let run = sources.run.directory.as_ref();
        let tables = [
            directory.map(|directory| ("ground truth", directory.join(DOCUMENTS))),
            (sources.config.documents.clone()).map(|path| ("ground truth", path)),
            run.map(|directory| ("run", directory.join(DOCUMENTS))),
        ];
        let Some((of, path)) = tables.into_iter().flatten().next() else {
            return Ok(documents);
        };
        documents.expected = format!("a docno of the {of}");
        let (mut table, mut row) = (Table::open(&path)?, Vec::new());
        if table.want_names(&["docno"]).is_ok() && table.next(&mut row)? {
            documents.expected += &format!(", such as {}", shorten(&row[0]));
        }
        if sources.run.of != RunList::Pairs {
            documents.members(&sources.run, context)?;
        }
        for list in truth.into_iter().chain([&sources.run]) {
            if list.of == RunList::Pairs && list.directory.is_none() {
                documents.one_known(list).map_err(hinted)?;
            }
        }
        Ok(documents)
    }

    /// Refuses a list of pairs of which the collections have no document.
    fn one_known(&self, list: &Opened) -> Result<()> {
        let mut pairs = PairList::open(&list.pairs, list.columns.as_ref())?;
        let mut known = AnyKnown::default();
        while let (false, Some(listed)) = (known.any, pairs.next(&[])?) {
            for (which, hash) in listed.documents.into_iter().enumerate() {
                let document = self.find(hash, &pairs.table)?;
                known.see(document, self, &pairs.table, pairs.docno(which));
            }
        }
        known.check()
    }

    /// Marks the documents of a list that has no pairs, and reads their clusters. Refuses a list
    /// without any that is known.
    fn members(&mut self, list: &Opened, context: &Context<'_>) -> Result<()> {
        let mut clusters = vec![NONE; self.keys.len()];
        let mut names: HashMap<u128, u32> = HashMap::new();
        let (mut unknown, mut first) = (0, Vec::new());
        let mut any_known = AnyKnown::default();
        each_member(list, context, |table, text, name| {
            let document = self.of(table, text)?;
            let next = names.len() as u32;
            let number = *names.entry(xxh3_128(name)).or_insert(next);
            let cluster = &mut clusters[document as usize];
            if ![NONE, number].contains(cluster) {
                return Err(table.bad("a docno of one cluster only", shorten(text)));
            }
            let new = std::mem::replace(cluster, number) == NONE;
            any_known.see(document, self, table, text);
            if new && !self.known(document) {
                unknown += 1;
                if first.len() < NAMED {
                    first.push(shorten(text));
                }
            }
            Ok(())
        })?;
        any_known.check().map_err(|wrong| {
            wrong.hinted(
                "no docno of the list is one of --truth; it takes them from a column docno or id, or \
                 else from the first: name another with --run-columns",
            )
        })?;
        if unknown > 0 {
            let more = if unknown > NAMED as u64 { ", ..." } else { "" };
            self.notes.push(format!(
                "ignored {} that the ground truth does not have: {}{more}",
                counted(unknown, "docno"),
                first.join(", ")
            ));
        }
        self.run.clusters = clusters;
        Ok(())
    }

    /// Whether the list of the run has the document.
    pub fn listed(&self, document: u32) -> bool {
        self.run.clusters[document as usize] != NONE
    }

    /// Reads the documents, clusters and duplicates that a directory records.
    fn side(&mut self, directory: &Path, flag: u8, context: &Context<'_>) -> Result<Side> {
        let clusters = self.collection(&directory.join(DOCUMENTS), flag, context)?;
        let sets = UnionFind::new(self.count());
        let table = Table::open(&directory.join(DUPLICATES))?;
        each_row(
            table,
            &["docno", "representative"],
            context,
            |table, row| {
                sets.union(self.of(table, &row[0])?, self.of(table, &row[1])?);
                Ok(())
            },
        )?;
        let roots = sets.roots();
        Ok(Side { roots, clusters })
    }

    /// Reads a `documents.tsv`; returns the clusters.
    fn collection(&mut self, path: &Path, flag: u8, context: &Context<'_>) -> Result<Vec<u32>> {
        let known = flag == KNOWN;
        let mut clusters = vec![NONE; self.keys.len()];
        let mut repeated = 0u64;
        let table = Table::open(path)?;
        let size_groups = match table.comment("size-groups") {
            Some(text) => text.parse().map_err(|found: String| {
                let what = format!(": the comment `# size-groups`: {found}");
                Error::of(path, what, "correct or remove the comment")
            })?,
            None => SizeGroups::default(),
        };
        if known {
            self.closed = true;
            self.groups = vec![0; self.keys.len()];
        }
        let mut names = vec!["docno", "size_group", "cluster"];
        // A table of another program may call a column so.
        let own = table.comment("format").is_some();
        let head = table.first()?;
        let of_captures = ["url", "date"];
        if own
            && of_captures
                .iter()
                .all(|name| head.iter().any(|of| of == name))
        {
            names.extend(of_captures);
            self.captures.resize(self.keys.len(), NONE);
            self.tables.push(path.into());
        }
        each_row(table, &names, context, |table, row| {
            let number = self.of(table, &row[0])?;
            let document = number as usize;
            if let [_, _, _, url, date] = row
                && !date.is_empty()
                && let Some(address) = self.keys.rank(xxh3_128(url))
            {
                let capture = &mut self.captures[address as usize];
                *capture = if [NONE, number].contains(capture) {
                    number
                } else {
                    SEVERAL
                };
            }
            repeated += u64::from(self.flags[document] & flag != 0);
            self.flags[document] |= flag;
            let number = |field: &[u8], below: u32, what: &str| {
                let number = parsed(field).filter(|&number| number < below);
                number.ok_or_else(|| table.bad(format!("{what} below {below}"), shorten(field)))
            };
            let group = number(&row[1], size_groups.count() as u32, "a size group")?;
            if known {
                self.groups[document] = group as u8;
            }
            if !row[2].is_empty() {
                clusters[document] = number(&row[2], NONE, "a cluster")?;
            }
            Ok(())
        })?;
        if repeated > 0 {
            self.notes.push(format!(
                "{}: {} with a docno that an earlier line has; documents with the same docno \
                 count as one",
                path.display(),
                counted(repeated, "line")
            ));
        }
        if known {
            self.size_groups = Some(size_groups);
        }
        Ok(clusters)
    }

    /// The number of documents.
    pub fn count(&self) -> u32 {
        self.keys.len() as u32
    }

    /// The number of the document whose docno, or address if it is a capture, has this hash.
    pub fn find(&self, key: u128, table: &Table) -> Result<u32> {
        let number = self.keys.rank(key).ok_or_else(|| {
            let expected = "a docno that was there when the file was read first";
            table.bad(expected, "a new one")
        })?;
        match self.addresses.get(number as usize) {
            None | Some(&NONE) => Ok(number),
            Some(&SEVERAL) => {
                let found = format!("an address of several: {}", self.captures_of(key)?);
                Err(table.bad("a docno, or the address of one capture", found))
            }
            Some(&document) => Ok(document),
        }
    }

    /// The first captures that have an address, with their dates.
    fn captures_of(&self, address: u128) -> Result<String> {
        let (mut names, mut row) = (Vec::new(), Vec::new());
        for path in &self.tables {
            let mut table = Table::open(path)?;
            table.want_names(&["docno", "url", "date"])?;
            while names.len() <= NAMED && table.next(&mut row)? {
                let name = || format!("{} of {}", shorten(&row[0]), shorten(&row[2]));
                if !row[2].is_empty() && xxh3_128(&row[1]) == address && !names.contains(&name()) {
                    names.push(name());
                }
            }
        }
        if let Some(more) = names.get_mut(NAMED) {
            *more = "...".into();
        }
        Ok(names.join(", "))
    }

    /// The number of the document whose docno is in a field.
    pub fn of(&self, table: &Table, field: &[u8]) -> Result<u32> {
        self.find(docno(table, field)?, table)
    }

    /// Whether the ground truth's collection has the document; true if the collection is not known.
    pub fn known(&self, document: u32) -> bool {
        !self.closed || self.flags[document as usize] & KNOWN != 0
    }

    /// Whether the run's collection has the document; true if the collection is not known.
    pub(crate) fn in_run(&self, document: u32) -> bool {
        !self.run.has_classes() || self.flags[document as usize] & IN_RUN != 0
    }

    /// Marks a document that the judged pairs name first. Returns whether it was unmarked.
    pub fn select(&mut self, document: u32) -> bool {
        let flags = &mut self.flags[document as usize];
        let new = *flags & SELECTED == 0;
        *flags |= SELECTED;
        new
    }

    /// Whether the document is marked.
    pub fn selected(&self, document: u32) -> bool {
        self.flags[document as usize] & SELECTED != 0
    }

    /// Its size group; 0 if not recorded.
    pub fn group(&self, document: u32) -> u8 {
        self.groups.get(document as usize).copied().unwrap_or(0)
    }
}

/// Reads the columns with these names from a table. If the first line does not have all of them and
/// the file is not our own, reads the first columns.
///
/// # Errors
/// Those of reading the table and of `take`.
pub fn each_row(
    mut table: Table,
    names: &[&str],
    context: &Context<'_>,
    take: impl FnMut(&Table, &[Vec<u8>]) -> Result<()>,
) -> Result<()> {
    let header = table.first()?;
    let is_named = |name: &&str| header.iter().any(|column| column == name);
    let named = names.iter().all(is_named);
    if named || table.is_json() || table.comment("format").is_some() {
        table.want_names(names)?;
    } else {
        table.want_numbers(&(0..names.len()).collect::<Vec<_>>());
    }
    each_selected(table, context, take)
}

/// Reads the columns that are selected in a table.
fn each_selected(
    mut table: Table,
    context: &Context<'_>,
    mut take: impl FnMut(&Table, &[Vec<u8>]) -> Result<()>,
) -> Result<()> {
    let mut row = Vec::new();
    while table.next(&mut row)? {
        stop(&table, context)?;
        take(&table, &row)?;
    }
    Ok(())
}

/// Docnos that a note names.
const NAMED: usize = 5;

/// Names of the column with the docnos of a list, besides [`ID_FIELDS`], and with the clusters.
const CLUSTERS: [&str; 3] = ["cluster", "cluster_id", "group"];

/// Reads the documents of a list that has no pairs: their docnos, and the name of the cluster of
/// each.
pub(super) fn each_member(
    list: &Opened,
    context: &Context<'_>,
    mut take: impl FnMut(&Table, &[u8], &[u8]) -> Result<()>,
) -> Result<()> {
    if list.of == RunList::ClusterLines {
        let mut table = Table::open_groups(&list.pairs)?;
        let mut row = Vec::new();
        while table.next_all(&mut row)? {
            stop(&table, context)?;
            let line = table.number().to_le_bytes();
            row.iter()
                .try_for_each(|docno| take(&table, docno, &line))?;
        }
        return Ok(());
    }
    let mut table = Table::open(&list.pairs)?;
    let member = |table: &Table, row: &[Vec<u8>]| {
        take(table, &row[0], row.get(1).map_or(&[], Vec::as_slice))
    };
    if let Some(columns) = &list.columns {
        columns.select(&mut table)?;
        return each_selected(table, context, member);
    }
    let of_clusters = list.of == RunList::Clusters;
    if !of_clusters {
        table.want_lines(None);
    }
    let header = table.first()?;
    let named = |names: &[&'static str]| {
        let is_there = |name: &&&str| header.iter().any(|column| column == **name);
        names.iter().find(is_there).copied()
    };
    let docno = named(&["docno"]).or(named(&ID_FIELDS));
    let cluster = of_clusters.then(|| named(&CLUSTERS).unwrap_or("cluster"));
    if !of_clusters {
        // Without the name of a column or a file, a comma is a part of a docno.
        let is_csv = docno.is_some() || uncompressed(&list.pairs).ends_with(".csv");
        table.want_lines(Some(b',').filter(|_| !is_csv));
    }
    let names: Vec<&str> = [docno.unwrap_or("docno")]
        .into_iter()
        .chain(cluster)
        .collect();
    each_row(table, &names, context, member)
}

/// Reads the judged pairs of a file: two docnos, a grade, and, if the file has it, a collection.
pub(super) fn each_judged(
    path: &Path,
    context: &Context<'_>,
    take: impl FnMut(&Table, &[Vec<u8>]) -> Result<()>,
) -> Result<()> {
    let table = Table::open(path)?;
    let first = table.first()?;
    let has = |name: &str| first.iter().any(|column| column == name);
    let grade = GRADES.into_iter().find(|name| has(name));
    let mut names = JUDGED;
    names[2] = grade.unwrap_or(JUDGED[2]);
    let is_named = names[..3].iter().all(|name| has(name)) || table.is_json();
    let with_collection = match is_named {
        true => has(JUDGED[3]),
        false => first.len() > 3,
    };
    let count = if with_collection { 4 } else { 3 };
    each_row(table, &names[..count], context, take)
}

/// Checks from time to time whether a stop was requested.
pub(super) fn stop(table: &Table, context: &Context<'_>) -> Result<()> {
    context.tick(STAGE, table.number())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Hashes with few different halves, so that many share one.
        #[test]
        fn every_hash_has_its_rank(
            parts in proptest::collection::btree_set((0u64..6, 0u64..6), 0..30),
            (half, rest) in (0u64..6, 0u64..6),
        ) {
            let key = |(half, rest)| u128::from(half) << 64 | u128::from(rest);
            let all: Vec<u128> = parts.into_iter().map(key).collect();
            let mut keys = Keys::default();
            for (at, &key) in all.iter().enumerate() {
                keys.push(key, all.get(at + 1).copied());
            }
            prop_assert_eq!(keys.len(), all.len());
            for (at, &key) in (0..).zip(&all) {
                prop_assert_eq!(keys.rank(key), Some(at));
            }
            // Another hash may have the rank of one with the same half, unless several have it.
            let other = key((half, rest));
            let same = all.iter().filter(|&&key| (key >> 64) as u64 == half).count();
            if !all.contains(&other) && same != 1 {
                prop_assert_eq!(keys.rank(other), None);
            }
        }
    }
}
