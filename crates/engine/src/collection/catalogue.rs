//! The catalogue: columns over all documents with docnos, representatives and stored set sizes.
//!
//! Documents that are added get columns of their own, a *level*, so that an addition writes little.
//! If the levels before it have no more documents, it begins with a copy of them: so each level has
//! fewer documents than the one before, and additions of similar sizes leave about log2 of their
//! number.

use lookalike_base::{
    Bits, Budget, Context, Error, MOST_SORT_BYTES, Queue, Receiver, Result, Unit, bounded,
    budget::ByteSize, caught, counted, in_order, joined, joined_all, threads,
};
use lookalike_store::{
    Group, Header, Kind, MANIFEST_FILE, NAMES_WITH_CAPTURES, PartInfo, PartWriter, Places, Sort,
    VERSION, Workspace, disk, item, json, part_unit,
};
use lookalike_text::read::{Reason, Reject, SourceSpan};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::RejectReader;
use super::column::{Column, ColumnBuilder, ColumnReader};
use super::condition::{Condition, Rule};
use super::config::SizeGroups;
use super::documents::{DocumentReader, DocumentView, RejectWriter};
use super::names::{Captured, Names};
use super::records::{CatalogueBefore, CatalogueEntry, CatalogueLevel, SegmentEntry};

const STAGE: &str = "catalogue";
const DIRECTORY: &str = "catalogue";
/// Numbers of the stage's parts.
const NAMES: u64 = 0;
const REPRESENTATIVES: u64 = 1;
const STORED: u64 = 2;
/// Memory for the buffers of readers and writers, beyond the columns and the sorts.
const FIXED_BYTES: u64 = 16 << 20;
/// Memory for each added document, while the documents before it are read: in two tables.
const ADDED_BYTES: u64 = 192;
/// Docnos are held in memory if they take at most the budget divided by this.
const NAMES_SHARE: u64 = 16;

/// Counts over all documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogueStats {
    /// Documents.
    pub documents: u64,
    /// Documents that are the first with their MD5. Only these take part in later stages.
    pub representatives: u64,
    /// Documents that equal an earlier one.
    pub exact_duplicates: u64,
    /// Representatives that have exact duplicates.
    pub duplicated: u64,
    /// Distinct shingles, summed over representatives.
    pub shingles: u64,
    /// Representatives without shingles: empty ones, and short ones with `--short skip`.
    pub without_shingles: u64,
    /// Documents whose docno an earlier document has.
    pub docnos_repeated: u64,
    /// Counts by size group, like Ye, Wen & Ma 2008, Table 3.
    pub groups: Vec<GroupStats>,
}

/// A size group's representatives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupStats {
    /// Its bounds in words.
    pub words: String,
    /// Representatives in it.
    pub documents: u64,
    /// Sum of their distinct shingles.
    pub shingles: u64,
}

/// Passes on the number and the MD5 of each document before the given one, in order, except of
/// documents without words.
pub(crate) type EachMd5<'a> =
    &'a dyn Fn(&Workspace, u32, &mut dyn FnMut(u32, u128) -> Result<()>) -> Result<()>;

/// An [`EachMd5`] that reads the documents.
pub fn each_md5(
    workspace: &Workspace,
    end: u32,
    each: &mut dyn FnMut(u32, u128) -> Result<()>,
) -> Result<()> {
    let segments = super::segments(&workspace.manifest);
    let known = segments.partition_point(|segment| segment.first_document < end);
    let rule = own_rule(workspace)?;
    each_document_of(workspace, &segments[..known], |document, record| {
        key(rule.as_ref(), &record).map_or(Ok(()), |key| each(document, key))
    })
}

/// Calls `each` with every document of the collection, in order, and with those of another collection
/// with which its own are compared. [`super::each_place`] has the own ones alone.
pub fn each_document(
    workspace: &Workspace,
    each: impl FnMut(u32, DocumentView<'_>) -> Result<()>,
) -> Result<()> {
    each_document_of(workspace, super::segments(&workspace.manifest), each)
}

/// Calls `each` with every document of some segments, in order.
pub fn each_document_of(
    workspace: &Workspace,
    segments: &[SegmentEntry],
    mut each: impl FnMut(u32, DocumentView<'_>) -> Result<()>,
) -> Result<()> {
    let mut segments = segments.iter();
    segments.try_for_each(|segment| each_in(workspace.places(), segment, &mut each))
}

/// Calls `each` with every document of a segment, in order. One copy of the decoder is enough: one
/// for each caller made the program 124 KB larger.
fn each_in(
    places: &Places,
    segment: &SegmentEntry,
    each: &mut dyn FnMut(u32, DocumentView<'_>) -> Result<()>,
) -> Result<()> {
    let mut documents = DocumentReader::of(places, segment)?;
    let mut number = segment.first_document;
    while let Some(document) = documents.view()? {
        each(number, document)?;
        number += 1;
    }
    documents.finish()
}

item! {
    /// A document with its key, its MD5 or the hash of its docno.
    struct Keyed {
        key: u128,
        document: u32,
    }
}

/// Documents with their keys.
type Keys = Vec<Keyed>;

/// The MD5 of a document, or with a condition, of its words and the values of its fields. A document
/// without words duplicates nothing.
fn key(rule: Option<&Rule>, record: &DocumentView<'_>) -> Option<u128> {
    match rule {
        _ if record.words == 0 => None,
        None => Some(u128::from_be_bytes(record.md5)),
        Some(rule) => rule.key(&record.md5, record.fields.0),
    }
}

/// A condition over the fields that a collection keeps, unless it limits nothing.
pub(super) fn rule(workspace: &Workspace, of: Option<&Condition>) -> Result<Option<Rule>> {
    let kept = &super::config(&workspace.manifest).read.fields;
    let of = of.filter(|condition| !condition.is_true());
    of.map(|condition| Rule::new(condition, kept)).transpose()
}

/// The condition of a collection, if it has one.
pub(super) fn own_rule(workspace: &Workspace) -> Result<Option<Rule>> {
    rule(
        workspace,
        super::config(&workspace.manifest).condition.as_ref(),
    )
}

/// The hash of a docno, or of other bytes.
fn docno(name: &[u8]) -> u128 {
    xxhash_rust::xxh3::xxh3_128(name)
}

/// The documents that equal earlier ones, among the documents that are read.
struct Repeated {
    /// The first of these documents.
    first: u32,
    /// For each of them, the first document with the same MD5.
    representatives: Vec<u32>,
    /// Those whose docno an earlier document has, counted from the first.
    docnos: Bits,
}

impl Repeated {
    fn of(&self, document: u32) -> u32 {
        self.representatives[(document - self.first) as usize]
    }

    fn has_docno(&self, document: u32) -> bool {
        self.docnos.contains(document - self.first)
    }
}

/// Calls `repeat` with each document whose key an earlier document has, and with the first document
/// that has this key.
fn each_repeat(sort: Sort<Keyed>, mut repeat: impl FnMut(u32, u32)) -> Result<()> {
    let sorted = sort.finish()?;
    let repeats = |first: Keyed, all: &mut Group<'_, Keyed>| {
        all.next()?;
        while let Some(Keyed { document, .. }) = all.next()? {
            repeat(document, first.document);
        }
        Ok(())
    };
    sorted.groups(|keyed| keyed.key, repeats).map(|_| ())
}

/// Keys that one thread passes to another at once.
const PASSED: usize = 4096;
/// How many times as many may wait.
const PASSED_AT_ONCE: usize = 4;
/// Threads that read documents. More would wait for those that sort their keys, or write their
/// names.
const MOST_READERS: usize = 8;
/// Memory that one of them takes: the keys or the columns of some documents, and their blocks.
const READER_BYTES: u64 = 2 << 20;

/// Creates the columns, unless they exist. Those of a collection that documents were added to are
/// continued; `md5s` gives its earlier documents.
pub fn run(workspace: &mut Workspace, md5s: EachMd5<'_>, context: &Context<'_>) -> Result<()> {
    if workspace.manifest.has::<CatalogueEntry>() {
        return Ok(());
    }
    if !super::ingested(&workspace.manifest) {
        return Err(workspace.missing("ingest"));
    }
    let segments = super::segments(&workspace.manifest).to_vec();
    let making = Making::new(workspace, segments, context)?;
    let before = workspace.manifest.get::<CatalogueBefore>().cloned();
    let before = before.filter(|before| making.may_continue(&before.0));
    if before.is_none() && workspace.manifest.has::<CatalogueBefore>() {
        // Its files are going to be replaced.
        workspace.manifest.remove::<CatalogueBefore>();
        workspace.commit(&[])?;
    }
    let documents = Some(making.documents);
    context.start(STAGE, Unit::Count("documents"), documents);
    let entry = match before {
        Some(CatalogueBefore(before)) => making.continued(workspace, before, md5s)?,
        None => {
            let (first, stats) = making.write(workspace, &making.repeated()?, &[], &[])?;
            CatalogueEntry {
                first,
                added: Vec::new(),
                stats,
            }
        }
    };
    workspace.manifest.remove::<CatalogueBefore>();
    workspace.manifest.set(entry);
    workspace.commit(&[DIRECTORY])
}

/// The inputs from which the columns are made, and the tools that make them.
struct Making<'a> {
    /// The first document that is read.
    first: u32,
    /// The upper half of the numbers of the parts.
    level: u32,
    segments: Vec<SegmentEntry>,
    documents: u64,
    places: Places,
    /// Threads that read documents.
    readers: usize,
    /// Memory for each sort.
    memory: ByteSize,
    rule: Option<Rule>,
    scratch: disk::Scratch,
    directory: PathBuf,
    context: &'a Context<'a>,
}

impl<'a> Making<'a> {
    fn new(
        workspace: &Workspace,
        segments: Vec<SegmentEntry>,
        context: &'a Context<'a>,
    ) -> Result<Making<'a>> {
        let budget = &context.budget;
        let documents = Extent::of(&segments).documents;
        // In memory: representatives as a column, and one bit per document for repeated docnos.
        // Sorting uses the rest.
        let columns = documents * 4 + documents / 8;
        let what = || format!("the catalogue of {}", counted(documents, "document"));
        let memory = budget.rest(FIXED_BYTES + columns, 4 << 20, what)?;
        // Sorting gets most of the memory if there is little of it.
        let readers = (memory / 8 / READER_BYTES).clamp(1, MOST_READERS as u64);
        let readers = budget.threads.min(readers as usize);
        let reading = match readers {
            1 => 0,
            _ => readers as u64 * READER_BYTES,
        };
        Ok(Making {
            first: 0,
            level: 0,
            segments,
            documents,
            places: workspace.places().clone(),
            readers,
            memory: ByteSize(((memory - reading) / 2).min(MOST_SORT_BYTES)),
            rule: own_rule(workspace)?,
            scratch: workspace.scratch(context)?,
            directory: workspace.path(DIRECTORY),
            context,
        })
    }

    /// Whether the catalogue of the documents before an addition is continued. The documents that
    /// were added must fit in memory. If they are most, it costs less to make all columns again.
    fn may_continue(&self, before: &CatalogueEntry) -> bool {
        let known = before.stats.documents;
        let Some(added) = self.documents.checked_sub(known) else {
            return false;
        };
        let mut starts = self.segments.iter().map(|s| u64::from(s.first_document));
        added <= known
            && added * ADDED_BYTES <= self.memory.0
            && (added == 0 || starts.any(|start| start == known))
            && before.is_whole(|level| &level.names)
            && before.is_whole(|level| &level.representatives)
            && before.is_whole(|level| &level.stored)
    }

    /// Makes the columns of the documents that were added, and copies the columns that they
    /// replace.
    fn continued(
        mut self,
        workspace: &Workspace,
        mut before: CatalogueEntry,
        md5s: EachMd5<'_>,
    ) -> Result<CatalogueEntry> {
        self.first = before.stats.documents as u32;
        self.documents -= before.stats.documents;
        self.segments
            .retain(|segment| segment.first_document >= self.first);
        let numbers = before.levels().map(|l| part_unit(&l.names.name));
        self.level = numbers.max().unwrap_or(0) + 1;
        let levels: Vec<&CatalogueLevel> = before.levels().collect();
        let mut repeated = self.repeated()?;
        self.look_back(workspace, &levels, md5s, &mut repeated)?;
        let (mut kept, mut documents) = (levels.len(), self.documents);
        while kept > 1 && levels[kept - 1].names.records <= documents {
            kept -= 1;
            documents += levels[kept].names.records;
        }
        let (level, stats) = self.write(workspace, &repeated, &levels, &levels[kept..])?;
        before.added.truncate(kept - 1);
        before.added.push(level);
        before.stats.add(&stats);
        Ok(before)
    }

    /// Finds the documents that equal earlier ones, or have their docnos, among the documents of
    /// `levels`.
    fn look_back(
        &self,
        workspace: &Workspace,
        levels: &[&CatalogueLevel],
        md5s: EachMd5<'_>,
        repeated: &mut Repeated,
    ) -> Result<()> {
        let (mut of_md5s, mut of_docnos) = (HashMap::new(), HashMap::new());
        for segment in &self.segments {
            each_in(&self.places, segment, &mut |document, record| {
                if repeated.of(document) == document {
                    let key = key(self.rule.as_ref(), &record);
                    of_md5s.extend(key.map(|key| (key, document)));
                }
                if !repeated.has_docno(document) {
                    of_docnos.insert(docno(record.docno.as_bytes()), document);
                }
                Ok(())
            })?;
        }
        let mut firsts = HashMap::new();
        md5s(workspace, self.first, &mut |document, md5| {
            self.context.tick(STAGE, document)?;
            if let Some(added) = of_md5s.remove(&md5) {
                firsts.insert(added, document);
            }
            Ok(())
        })?;
        for representative in &mut repeated.representatives {
            *representative = *firsts.get(representative).unwrap_or(representative);
        }
        each_name_in(workspace, levels, |document, (_, name)| {
            self.context.tick(STAGE, document)?;
            if let Some(added) = of_docnos.remove(&docno(name)) {
                repeated.docnos.insert(added - self.first);
            }
            Ok(())
        })
    }

    fn sort(&self, name: &str) -> Result<Sort<Keyed>> {
        Sort::scratch(&self.scratch.path().join(name), self.memory)
    }

    fn representatives(&self, md5s: Sort<Keyed>) -> Result<Vec<u32>> {
        let end = self.first + self.documents as u32;
        let mut representatives: Vec<u32> = (self.first..end).collect();
        each_repeat(md5s, |document, first| {
            representatives[(document - self.first) as usize] = first;
        })?;
        Ok(representatives)
    }

    /// The documents whose docnos earlier ones have, counted from the first.
    fn repeated_docnos(&self, docnos: Sort<Keyed>) -> Result<Bits> {
        let mut repeated = Bits::new(self.documents as usize);
        each_repeat(docnos, |document, _| {
            _ = repeated.insert(document - self.first)
        })?;
        Ok(repeated)
    }

    /// Finds the documents that equal earlier ones. If there are several threads, some of them read
    /// the documents, and two sort the keys.
    fn repeated(&self) -> Result<Repeated> {
        let repeated = |representatives, docnos| Repeated {
            first: self.first,
            representatives,
            docnos,
        };
        let queue = &Queue::new(&self.segments);
        let read = &AtomicU64::new(0);
        if self.context.budget.threads <= 1 {
            let (mut md5s, mut docnos) = (self.sort("md5")?, self.sort("docno")?);
            self.each_keys(queue, read, |of_md5s, of_docnos| {
                of_md5s.into_iter().try_for_each(|key| md5s.push(key))?;
                of_docnos.into_iter().try_for_each(|key| docnos.push(key))
            })?;
            let docnos = self.repeated_docnos(docnos)?;
            return Ok(repeated(self.representatives(md5s)?, docnos));
        }
        let (to_md5s, md5s) = bounded::<Keys>(PASSED_AT_ONCE);
        let (to_docnos, docnos) = bounded::<Keys>(PASSED_AT_ONCE);
        let sorted = |name, keys: Receiver<Keys>| {
            let mut sort = self.sort(name)?;
            let mut keys = keys.iter().flatten();
            keys.try_for_each(|key| sort.push(key)).map(|()| sort)
        };
        threads::scope(|scope| {
            let readers: Vec<_> = (0..self.readers)
                .map(|_| {
                    let (to_md5s, to_docnos) = (to_md5s.clone(), to_docnos.clone());
                    let pass = move |md5s, docnos| {
                        // If they are not taken, a sorting thread has failed, and its error says
                        // why.
                        let _ = (to_docnos.send(docnos), to_md5s.send(md5s));
                        Ok(())
                    };
                    scope.spawn(move || self.each_keys(queue, read, pass))
                })
                .collect();
            drop((to_md5s, to_docnos));
            let docnos = scope.spawn(|| self.repeated_docnos(sorted("docno", docnos)?));
            let representatives = caught(STAGE, || self.representatives(sorted("md5", md5s)?));
            let docnos = joined(STAGE, docnos);
            // Without all keys, the rest means nothing.
            joined_all(STAGE, readers)?;
            Ok(repeated(representatives?, docnos?))
        })
    }

    /// Reads segments, and passes on the MD5s and the docnos of their documents.
    fn each_keys(
        &self,
        segments: &Queue<&SegmentEntry>,
        read: &AtomicU64,
        mut each: impl FnMut(Keys, Keys) -> Result<()>,
    ) -> Result<()> {
        let (mut md5s, mut docnos) = (Keys::new(), Keys::new());
        let mut pass = |md5s: &mut Keys, docnos: &mut Keys| {
            self.context.stop.check(STAGE)?;
            let more = docnos.len() as u64;
            let done = read.fetch_add(more, Ordering::Relaxed) + more;
            self.context.progress.at(done);
            each(std::mem::take(md5s), std::mem::take(docnos))
        };
        while let Some(segment) = segments.next() {
            each_in(&self.places, segment, &mut |document, record| {
                if docnos.len() == PASSED {
                    pass(&mut md5s, &mut docnos)?;
                }
                let key = docno(record.docno.as_bytes());
                docnos.push(Keyed { key, document });
                let key = self::key(self.rule.as_ref(), &record);
                md5s.extend(key.map(|key| Keyed { key, document }));
                Ok(())
            })?;
            pass(&mut md5s, &mut docnos)?;
        }
        Ok(())
    }

    /// Writes a level: copies of `replaced`, which are the last ones of `levels`, and the documents
    /// that are read. Returns it with the counts of these documents.
    fn write(
        &self,
        workspace: &Workspace,
        repeated: &Repeated,
        levels: &[&CatalogueLevel],
        replaced: &[&CatalogueLevel],
    ) -> Result<(CatalogueLevel, CatalogueStats)> {
        let mut out = LevelWriter::create(self, super::has_captures(&workspace.manifest))?;
        let captures = out.captures;
        out.copy(workspace, replaced)?;
        let sizes = &super::config(&workspace.manifest).size_groups;
        let mut stats = CatalogueStats::begin(self.documents, sizes);
        stats.docnos_repeated = repeated.docnos.iter().count() as u64;
        in_order(
            STAGE,
            self.readers,
            |hand_out| self.segments.iter().try_for_each(hand_out),
            |segment, pass| self.columns(segment, (repeated, captures), pass),
            |columns: Columns| {
                out.push_names(&columns.names, &columns.lengths)?;
                out.stored.put(&columns.stored)?;
                stats.count(&columns.of_groups);
                let mut repeated = columns.rejects.iter();
                repeated.try_for_each(|reject| out.rejects.push(reject, true).map(drop))
            },
        )?;
        stats.exact_duplicates = self.documents - stats.representatives;
        let end = u64::from(self.first) + self.documents;
        let mut duplicated = Bits::new(end as usize);
        if !levels.is_empty() {
            let before = column_in(workspace, levels, |level| &level.representatives)?;
            before.each(|number, first| {
                if first < number {
                    duplicated.insert(first);
                }
                Ok(())
            })?;
        }
        for (number, &first) in (self.first..).zip(&repeated.representatives) {
            out.representatives.put(&first.to_le_bytes())?;
            stats.duplicated += u64::from(first != number && duplicated.insert(first));
        }
        let copied: u64 = replaced.iter().map(|level| level.names.records).sum();
        Ok((out.finish(copied + self.documents)?, stats))
    }

    /// Passes on the columns of the documents of a segment, piece by piece.
    fn columns(
        &self,
        segment: &SegmentEntry,
        (repeated, captures): (&Repeated, bool),
        pass: &mut dyn FnMut(Columns) -> Result<()>,
    ) -> Result<()> {
        self.context.stop.check(STAGE)?;
        let mut columns = Columns::default();
        each_in(&self.places, segment, &mut |number, document| {
            let captured = captures.then(|| Captured::of(&document).stored());
            columns.add(number, (&captured.unwrap_or_default(), document), repeated);
            // They are passed on before they take more memory.
            if columns.lengths.len() >= PASSED || columns.names.len() >= PASSED * 32 {
                self.context.stop.check(STAGE)?;
                pass(std::mem::take(&mut columns))?;
            }
            Ok(())
        })?;
        pass(columns)
    }
}

impl CatalogueStats {
    /// Nothing but the number of documents, and the bounds of the size groups.
    fn begin(documents: u64, sizes: &SizeGroups) -> CatalogueStats {
        let groups = (0..sizes.count()).map(|group| GroupStats {
            words: sizes.describe(group),
            ..GroupStats::default()
        });
        CatalogueStats {
            documents,
            groups: groups.collect(),
            ..CatalogueStats::default()
        }
    }

    /// Returns a description of a number that contradicts this number of documents or the sums over
    /// the size groups.
    pub(super) fn other_number(&self, documents: u64) -> Option<String> {
        let sum =
            |of: fn(&GroupStats) -> u64| self.groups.iter().map(of).fold(0, u64::saturating_add);
        let (first, equal) = (self.representatives, self.exact_duplicates);
        let sums = [sum(|group| group.documents), sum(|group| group.shingles)];
        if self.documents != documents {
            return Some(format!("{} in its catalogue", self.documents));
        }
        let fits = first.checked_add(equal) == Some(documents) && sums == [first, self.shingles];
        (!fits).then(|| {
            let [of_groups, shingles] = sums;
            format!(
                "{first} and {equal} exact duplicates in its catalogue, with {} shingles, and \
                 {of_groups} with {shingles} in its size groups",
                self.shingles
            )
        })
    }

    /// Adds the counts of documents that were added.
    fn add(&mut self, more: &CatalogueStats) {
        lookalike_base::add!(self, more => documents, representatives, exact_duplicates, duplicated,
            shingles, without_shingles, docnos_repeated);
        for (group, more) in self.groups.iter_mut().zip(&more.groups) {
            group.documents += more.documents;
            group.shingles += more.shingles;
        }
    }

    /// Counts representatives by their size groups and numbers of shingles.
    fn count(&mut self, of_groups: &[(u8, u32)]) {
        for &(group, size) in of_groups {
            let size = u64::from(size);
            self.representatives += 1;
            self.shingles += size;
            self.without_shingles += u64::from(size == 0);
            let group = &mut self.groups[usize::from(group)];
            group.documents += 1;
            group.shingles += size;
        }
    }
}

/// The columns of some documents.
#[derive(Default)]
struct Columns {
    names: Vec<u8>,
    /// Bytes of each name.
    lengths: Vec<u32>,
    /// Sizes of stored sets, in the order of writing.
    stored: Vec<u8>,
    /// Size groups and numbers of shingles of representatives.
    of_groups: Vec<(u8, u32)>,
    rejects: Vec<Reject>,
}

impl Columns {
    fn add(
        &mut self,
        number: u32,
        (captured, document): (&str, DocumentView<'_>),
        repeated: &Repeated,
    ) {
        self.names.extend(captured.as_bytes());
        self.names.extend(document.docno.as_bytes());
        let length = captured.len() + document.docno.len();
        self.lengths.push(length as u32);
        // The size of a stored set counts even if its document takes no part, because readers have
        // to skip the set.
        let size = document.shingles * u32::from(document.stored);
        self.stored.extend(size.to_le_bytes());
        if repeated.of(number) == number {
            self.of_groups.push((document.group, document.shingles));
        }
        if repeated.has_docno(number) {
            let source = SourceSpan {
                file: document.file,
                offset: document.offset,
                length: document.length,
            };
            self.rejects.push(Reject {
                source,
                docno: Some(document.docno.into()),
                reason: Reason::DuplicateDocno,
                detail: "an earlier document has the same docno; both are kept".into(),
            });
        }
    }
}

/// Writes the columns of a level.
struct LevelWriter {
    names: PartWriter,
    /// Whether the names begin with captures.
    captures: bool,
    ends: PartWriter,
    /// Where the last name ends.
    end: u64,
    representatives: PartWriter,
    stored: PartWriter,
    rejects: RejectWriter,
}

/// Number of the part with the ends of the docnos.
const NAME_ENDS: u64 = 3;

impl LevelWriter {
    fn create(making: &Making<'_>, captures: bool) -> Result<Self> {
        let level = u64::from(making.level) << 32;
        let part = |kind, number, key_bytes| {
            let mut header = Header::new(kind, making.places.parameters, level | number, key_bytes);
            if !captures {
                header.version = VERSION;
            }
            PartWriter::create(&making.directory, &header)
        };
        Ok(LevelWriter {
            names: part(Kind::Names, NAMES, 0)?,
            captures,
            ends: part(Kind::Column, NAME_ENDS, 8)?,
            end: 0,
            representatives: part(Kind::Column, REPRESENTATIVES, 4)?,
            stored: part(Kind::Column, STORED, 4)?,
            rejects: RejectWriter::create(&making.directory, making.places.parameters, level)?,
        })
    }

    /// Copies the columns of consecutive levels.
    fn copy(&mut self, workspace: &Workspace, levels: &[&CatalogueLevel]) -> Result<()> {
        if levels.is_empty() {
            return Ok(());
        }
        each_name_in(workspace, levels, |_, (captured, docno)| {
            let captured = match (self.captures, captured.is_empty()) {
                (false, _) => &b""[..],
                (true, true) => b"\t",
                (true, false) => captured,
            };
            let name = [captured, docno].concat();
            self.push_names(&name, &[name.len() as u32])
        })?;
        column_in(workspace, levels, |level| &level.representatives)?
            .each(|_, first| self.representatives.put(&first.to_le_bytes()))?;
        column_in(workspace, levels, |level| &level.stored)?
            .each(|_, stored| self.stored.put(&stored.to_le_bytes()))?;
        for level in levels {
            let path = workspace.part(DIRECTORY, &level.rejects.name);
            let parameters = Some(workspace.collection_parameters());
            let mut rejects = RejectReader::open(&path, parameters, Some(&level.rejects))?;
            while let Some((reject, kept)) = rejects.next_reject()? {
                self.rejects.push(&reject, kept)?;
            }
            rejects.finish()?;
        }
        Ok(())
    }

    /// Appends names, one after the other, of these lengths.
    fn push_names(&mut self, names: &[u8], lengths: &[u32]) -> Result<()> {
        self.names.put(names)?;
        for &length in lengths {
            self.end += u64::from(length);
            self.ends.put(&self.end.to_le_bytes())?;
        }
        Ok(())
    }

    fn finish(self, documents: u64) -> Result<CatalogueLevel> {
        Ok(CatalogueLevel {
            names: self.names.finish(documents, 0, 0)?,
            name_ends: self.ends.finish(documents, 0, 0)?,
            representatives: self.representatives.finish(documents, 0, 0)?,
            stored: self.stored.finish(documents, 0, 0)?,
            rejects: self.rejects.finish()?,
        })
    }
}

/// Calls `each` with the captures and the docnos of consecutive levels, in order. They are numbered
/// from 0.
fn each_name_in<'l>(
    workspace: &Workspace,
    levels: impl IntoIterator<Item = &'l &'l CatalogueLevel>,
    mut each: impl FnMut(u32, (&[u8], &[u8])) -> Result<()>,
) -> Result<()> {
    let mut document = 0;
    for level in levels {
        let places = workspace.places();
        let mut names = places.open(DIRECTORY, Kind::Names, &level.names)?;
        let mut ends = places.open(DIRECTORY, Kind::Column, &level.name_ends)?;
        let mut start = 0;
        for _ in 0..level.names.records {
            let end = ends.take_u64()?;
            let length = end.checked_sub(start);
            let Some(length) = length.filter(|length| *length <= names.remaining()) else {
                let expected = format!("{start} to {}", start + names.remaining());
                return Err(ends.corrupt("end of a docno", expected, end));
            };
            let captures = names.header.version >= NAMES_WITH_CAPTURES;
            let name = names.take(length as usize)?;
            let captured = if captures { Captured::end(name) } else { 0 };
            each(document, name.split_at(captured))?;
            start = end;
            document += 1;
        }
        names.finish()?;
        ends.finish()?;
    }
    Ok(())
}

/// Opens a column of consecutive levels.
fn column_in(
    workspace: &Workspace,
    levels: &[&CatalogueLevel],
    part: fn(&CatalogueLevel) -> &PartInfo,
) -> Result<ColumnReader> {
    let parts: Vec<PartInfo> = levels.iter().map(|level| part(level).clone()).collect();
    let places = workspace.places().clone();
    let open = move |part: PartInfo| places.open(DIRECTORY, Kind::Column, &part);
    let mut parts = parts.into_iter().map(open);
    let first = parts.next().ok_or_else(|| workspace.missing("catalogue"))?;
    ColumnReader::of(first?, parts)
}

/// For each document, the first document with the same MD5.
#[derive(Clone, Debug)]
pub struct Representatives {
    /// How far the first document is before each document.
    before: Column,
}

impl Representatives {
    /// The most bytes for this number of documents, if some of them have the MD5 of an earlier one.
    pub fn most_bytes(documents: u64, exact_duplicates: u64) -> u64 {
        let most = exact_duplicates.saturating_mul(documents);
        Column::most_bytes(documents, most)
    }

    /// The first document with the MD5 of a document, which may be itself.
    #[inline]
    pub fn of(&self, document: u32) -> u32 {
        document - self.before.at(document)
    }

    /// Whether a document is the first with its MD5. `false` if there is no such document.
    pub fn has(&self, document: u32) -> bool {
        self.before.get(document) == Some(0)
    }

    /// The number of documents.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.before.len()
    }

    /// The first documents, in the order of the documents.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..)
            .zip(self.before.iter())
            .map(|(document, before)| document - before)
    }
}

/// Reads representatives in order.
pub struct RepresentativeReader {
    reader: ColumnReader,
    document: u32,
}

impl RepresentativeReader {
    /// The first document with the MD5 of the next document; `None` at the end.
    pub fn next(&mut self) -> Result<Option<u32>> {
        let Some(first) = self.reader.next()? else {
            return Ok(None);
        };
        let document = self.document;
        self.document += 1;
        if first > document {
            let what = format!("representative of document {document}");
            let expected = "a document that is not after it";
            return Err(self.reader.corrupt(what, expected, first));
        }
        Ok(Some(first))
    }

    /// Skips the documents before this one.
    pub fn skip_to(&mut self, document: u32) -> Result<()> {
        while self.document < document && self.next()?.is_some() {}
        Ok(())
    }

    /// Checks the whole part, once everything is read.
    pub fn finish(self) -> Result<()> {
        self.reader.finish()
    }
}

/// The size of a collection, as far as it decides on the memory of columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Documents.
    pub documents: u64,
    /// Stored fingerprints of all documents.
    pub fingerprints: u64,
    /// Bytes of the files that they are in.
    pub set_bytes: u64,
}

impl Extent {
    /// The size of these segments.
    pub fn of<'s>(segments: impl IntoIterator<Item = &'s SegmentEntry>) -> Extent {
        let add = |extent: Extent, segment: &SegmentEntry| {
            let (stats, sets) = (&segment.stats, &segment.fingerprints);
            // A manifest that this program did not write may have any numbers.
            Extent {
                documents: extent.documents.saturating_add(stats.documents),
                fingerprints: extent.fingerprints.saturating_add(sets.records),
                set_bytes: extent.set_bytes.saturating_add(sets.bytes),
            }
        };
        segments.into_iter().fold(Extent::default(), add)
    }

    /// The most bytes of a column of set sizes.
    pub(crate) fn column_bytes(self) -> u64 {
        Column::most_bytes(self.documents, self.fingerprints)
    }
}

/// The catalogue of a directory, opened for reading.
#[derive(Debug)]
pub struct Catalogue;

impl Catalogue {
    fn entry(workspace: &Workspace) -> Result<&CatalogueEntry> {
        workspace.record(STAGE)
    }

    /// The counts.
    pub fn stats(workspace: &Workspace) -> Result<&CatalogueStats> {
        Ok(&Catalogue::entry(workspace)?.stats)
    }

    /// The docnos and captures. They are held in memory if they fit in a small share of the budget,
    /// which `Catalogue::names_bytes` gives.
    pub fn names(workspace: &Workspace, budget: &Budget) -> Result<Names> {
        let entry = Catalogue::entry(workspace)?;
        let files = (workspace.path(DIRECTORY), workspace.collection_parameters());
        let held = Catalogue::names_bytes(workspace, budget)? > 0;
        let parts = entry.levels().map(|level| (&level.names, &level.name_ends));
        Names::open(files, &parts.collect::<Vec<_>>(), held)
    }

    /// Calls `each` with every document and its docno, in order.
    pub(crate) fn each_name(
        workspace: &Workspace,
        mut each: impl FnMut(u32, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let levels = Catalogue::whole(workspace, |level| &level.names)?;
        each_name_in(workspace, &levels, |document, (_, docno)| {
            each(document, docno)
        })
    }

    /// Bytes of memory that look-ups of docnos take.
    pub fn names_bytes(workspace: &Workspace, budget: &Budget) -> Result<u64> {
        let entry = Catalogue::entry(workspace)?;
        let levels = entry.levels();
        let bytes: u64 = levels.map(|l| l.names.bytes + l.name_ends.bytes).sum();
        let fits = bytes <= budget.memory.0 / NAMES_SHARE;
        Ok(if fits { bytes } else { 0 })
    }

    /// The representative of each document.
    pub fn representatives(workspace: &Workspace) -> Result<Representatives> {
        let mut before = ColumnBuilder::default();
        Catalogue::each_representative(workspace, |document, first| {
            before.push(document - first);
            Ok(())
        })?;
        let before = before.finish();
        Ok(Representatives { before })
    }

    /// Calls `each` with every document and its representative, in order.
    pub fn each_representative(
        workspace: &Workspace,
        mut each: impl FnMut(u32, u32) -> Result<()>,
    ) -> Result<()> {
        let mut reader = Catalogue::representatives_in_order(workspace)?;
        let mut document = 0;
        while let Some(first) = reader.next()? {
            each(document, first)?;
            document += 1;
        }
        reader.finish()
    }

    /// The representatives of some documents.
    pub fn representatives_of<const N: usize>(
        workspace: &Workspace,
        documents: [u32; N],
    ) -> Result<[u32; N]> {
        let mut firsts = [u32::MAX; N];
        Catalogue::each_representative(workspace, |document, first| {
            let wanted = documents.iter().zip(&mut firsts);
            wanted
                .filter(|(of, _)| **of == document)
                .for_each(|(_, of)| *of = first);
            Ok(())
        })?;
        let mut met = documents.iter().zip(&firsts);
        match met.find(|(_, first)| **first == u32::MAX) {
            Some((document, _)) => {
                let what = "representatives in the catalogue";
                Err(Error::corrupt(workspace.directory(), what)
                    .expected(format!("one of document {document}"), "none"))
            }
            None => Ok(firsts),
        }
    }

    /// Calls `each` with each document that has the words of an earlier one with the same root although
    /// the condition parts them, and with the first of these.
    pub fn each_parted(
        workspace: &Workspace,
        memory: ByteSize,
        context: &Context<'_>,
        mut root: impl FnMut(u32) -> Option<u32>,
        each: impl FnMut(u32, u32),
    ) -> Result<()> {
        if own_rule(workspace)?.is_none() {
            return Ok(());
        }
        let scratch = workspace.scratch(context)?;
        let mut sort = Sort::scratch(&scratch.path().join("words"), memory)?;
        each_document(workspace, |document, record| match root(document) {
            Some(root) if record.words > 0 => {
                let key = docno(&[&record.md5[..], &root.to_le_bytes()].concat());
                sort.push(Keyed { key, document })
            }
            _ => Ok(()),
        })?;
        each_repeat(sort, each)
    }

    /// Reads the representative of each document in order.
    pub fn representatives_in_order(workspace: &Workspace) -> Result<RepresentativeReader> {
        Ok(RepresentativeReader {
            reader: Catalogue::open(workspace, |level| &level.representatives)?,
            document: 0,
        })
    }

    /// Checks the columns: a representative represents itself, and each document has as many
    /// stored fingerprints as its record says.
    pub fn check(workspace: &Workspace) -> Result<()> {
        let representatives = Catalogue::representatives(workspace)?;
        let mut stored = Catalogue::stored_in_order(workspace)?;
        let stats = Catalogue::stats(workspace)?;
        let sizes = &super::config(&workspace.manifest).size_groups;
        let mut counted = CatalogueStats::begin(stats.documents, sizes);
        let mut duplicated = Bits::new(stats.documents as usize);
        each_document(workspace, |number, document| {
            let size = if document.stored {
                document.shingles
            } else {
                0
            };
            let found = stored.next()?.unwrap_or_default();
            if found != size {
                let what = format!("stored fingerprints of document {number}");
                return Err(stored.corrupt(what, &size.to_string(), found));
            }
            let first = representatives.of(number);
            if representatives.of(first) != first {
                let column = &Catalogue::entry(workspace)?.first.representatives.name;
                let what = format!("representative of document {number}");
                return Err(Error::corrupt(workspace.part(DIRECTORY, column), what)
                    .expected("a document that represents itself", first));
            }
            if first != number {
                counted.exact_duplicates += 1;
                counted.duplicated += u64::from(duplicated.insert(first));
            } else if usize::from(document.group) < counted.groups.len() {
                counted.count(&[(document.group, document.shingles)]);
            }
            Ok(())
        })?;
        // The rejects have them.
        counted.docnos_repeated = stats.docnos_repeated;
        let said = |of: &CatalogueStats| json::line(of, MANIFEST_FILE);
        match counted == *stats {
            true => Ok(()),
            false => {
                let path = workspace.directory().join(MANIFEST_FILE);
                let corrupt = Error::corrupt(path, "counts of the catalogue");
                Err(corrupt.expected(said(&counted)?.trim_end(), said(stats)?.trim_end()))
            }
        }
    }

    /// The number of stored fingerprints of each document.
    pub fn stored(workspace: &Workspace) -> Result<Column> {
        Catalogue::stored_in_order(workspace)?.column()
    }

    /// The number of fingerprints of each representative, and 0 for the other documents.
    pub fn sizes(workspace: &Workspace) -> Result<Column> {
        let mut sizes = Catalogue::stored(workspace)?;
        Catalogue::each_representative(workspace, |document, first| {
            if first != document && sizes.get(document).is_some() {
                sizes.set(document, 0);
            }
            Ok(())
        })?;
        Ok(sizes)
    }

    /// Reads the number of stored fingerprints of each document in order.
    pub fn stored_in_order(workspace: &Workspace) -> Result<ColumnReader> {
        Catalogue::open(workspace, |level| &level.stored)
    }

    /// The documents and their stored fingerprints, which bound the memory of columns.
    pub fn extent(workspace: &Workspace) -> Result<Extent> {
        Ok(Extent {
            documents: Catalogue::stats(workspace)?.documents,
            ..Extent::of(super::segments(&workspace.manifest))
        })
    }

    /// The first file of [`Catalogue::stored`].
    pub(crate) fn stored_file(workspace: &Workspace) -> Result<PathBuf> {
        let entry = Catalogue::entry(workspace)?;
        Ok(workspace.path(DIRECTORY).join(&entry.first.stored.name))
    }

    /// The levels, if a part of theirs has a record for each document.
    fn whole(
        workspace: &Workspace,
        part: fn(&CatalogueLevel) -> &PartInfo,
    ) -> Result<Vec<&CatalogueLevel>> {
        let entry = Catalogue::entry(workspace)?;
        if !entry.is_whole(part) {
            let path = workspace.path(DIRECTORY).join(&part(&entry.first).name);
            let records = entry.levels().map(|level| part(level).records);
            return Err(
                Error::corrupt(path, "numbers in the column (manifest)").expected(
                    format!("{}, one for each document", entry.stats.documents),
                    records.fold(0, u64::saturating_add),
                ),
            );
        }
        Ok(entry.levels().collect())
    }

    fn open(workspace: &Workspace, part: fn(&CatalogueLevel) -> &PartInfo) -> Result<ColumnReader> {
        column_in(workspace, &Catalogue::whole(workspace, part)?, part)
    }
}
