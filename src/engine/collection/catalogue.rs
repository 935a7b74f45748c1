//! The catalogue: columns over all documents with docnos, representatives and stored set sizes.

use crate::base::budget::{Budget, ByteSize};
use crate::base::numbers::counted;
use crate::base::progress::{Context, Unit, caught, joined, joined_all};
use crate::base::threads;
use crate::base::workers::{Queue, in_order};
use crate::engine::collection::CatalogueEntry;
use crate::store::workspace::{Places, Workspace};
use crate::store::{
    HEADER_BYTES, Header, Kind, PartInfo, PartReader, PartWriter, Tagged, VERSION, sort_tagged,
};
use crate::text::read::{Reason, Reject, SourceSpan};
use crate::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::{Receiver, Sender, bounded};
use serde::{Deserialize, Serialize};

use super::column::{Column, ColumnBuilder, ColumnReader};
use super::documents::{DocumentReader, DocumentView, RejectWriter};
use super::names::Names;
use super::records::SegmentEntry;

const STAGE: &str = "catalogue";
const DIRECTORY: &str = "catalogue";
/// Numbers of the stage's parts.
const NAMES: u64 = 0;
const REPRESENTATIVES: u64 = 1;
const STORED: u64 = 2;
/// Memory for the buffers of readers and writers, beyond the columns and the sorts.
const FIXED_BYTES: u64 = 16 << 20;
/// Docnos are mapped if they take at most the budget divided by this.
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

/// Calls `each` with every document of the collection, in order.
pub(crate) fn each_document(
    workspace: &Workspace,
    each: impl FnMut(u32, DocumentView<'_>) -> Result<()>,
) -> Result<()> {
    each_document_of(workspace, super::segments(&workspace.manifest), each)
}

/// Calls `each` with every document of some segments, in order.
pub(crate) fn each_document_of(
    workspace: &Workspace,
    segments: &[SegmentEntry],
    mut each: impl FnMut(u32, DocumentView<'_>) -> Result<()>,
) -> Result<()> {
    let parameters = workspace.collection_parameters();
    let mut segments = segments.iter();
    segments.try_for_each(|segment| each_in(workspace.places(), parameters, segment, &mut each))
}

/// Calls `each` with every document of a segment, in order. One copy of the decoder is enough: the
/// program was 124 KB larger with those for all callers.
fn each_in(
    places: &Places,
    parameters: u128,
    segment: &SegmentEntry,
    each: &mut dyn FnMut(u32, DocumentView<'_>) -> Result<()>,
) -> Result<()> {
    let info = &segment.documents;
    let path = places.part("collection", &info.name);
    let mut documents = DocumentReader::open(&path, Some(parameters), Some(info))?;
    let mut number = segment.first_document;
    while let Some(document) = documents.view()? {
        each(number, document)?;
        number += 1;
    }
    documents.finish()
}

/// Passes on the keys of documents, which are sorted to find documents with the same key.
type Offer<'o> = &'o mut dyn FnMut(&mut dyn FnMut(u32, u128) -> Result<()>) -> Result<()>;

/// Passes on what other threads send. They stop waiting if this is dropped.
fn offered(
    keys: Receiver<Keys>,
) -> impl FnMut(&mut dyn FnMut(u32, u128) -> Result<()>) -> Result<()> {
    move |push| {
        let mut keys = keys.iter().flatten();
        keys.try_for_each(|(document, key)| push(document, key))
    }
}

/// Documents with their keys.
type Keys = Vec<(u32, u128)>;

/// Keys that one thread passes to another at once.
const PASSED: usize = 4096;
/// How many times as many may wait.
const PASSED_AT_ONCE: usize = 4;
/// Threads that read documents. More would wait for those that sort their keys, or write their
/// names.
const MOST_READERS: usize = 8;
/// Memory that one of them takes: the keys or the columns of some documents, and their blocks.
const READER_BYTES: u64 = 2 << 20;

/// Creates the columns, unless they exist.
pub fn run(workspace: &mut Workspace, context: &Context<'_>) -> Result<()> {
    if workspace.manifest.has::<CatalogueEntry>() {
        return Ok(());
    }
    if !super::ingested(&workspace.manifest) {
        return Err(workspace.missing("ingest"));
    }
    let documents: u64 = super::segments(&workspace.manifest)
        .iter()
        .map(|s| s.stats.documents)
        .sum();
    let both = context.budget.threads > 1;
    let scanned = if both { documents } else { documents * 2 };
    context.start(STAGE, Unit::Count("documents"), Some(scanned));
    // In memory: representatives as a column, and one bit per document for repeated docnos. Sorting
    // uses the rest.
    let columns = documents * 4 + documents / 8;
    let least = ByteSize(FIXED_BYTES + columns + (4 << 20));
    context.budget.require(least, || {
        format!("the catalogue of {}", counted(documents, "document"))
    })?;
    let memory = context.budget.memory.0 - FIXED_BYTES - columns;
    // Little memory is for sorting.
    let readers = (memory / 8 / READER_BYTES).clamp(1, MOST_READERS as u64);
    let readers = context.budget.threads.min(readers as usize);
    let beside = if readers > 1 {
        readers as u64 * READER_BYTES
    } else {
        0
    };
    let memory = (memory - beside) / if both { 2 } else { 1 };
    let memory = ByteSize(memory.min(1 << 30));
    let segments = super::segments(&workspace.manifest).to_vec();
    let places = &workspace.places().clone();
    let read = AtomicU64::new(0);
    let read_so_far = |more: usize| read.fetch_add(more as u64, Ordering::Relaxed) + more as u64;
    let scratch = workspace.scratch(context)?;
    let directory = workspace.path(DIRECTORY);
    let parameters = workspace.collection_parameters();
    let header = |kind, number, key_bytes| Header {
        kind,
        version: VERSION,
        parameters,
        number,
        key_bytes,
    };

    // Calls `repeats` with each document whose key an earlier document has, and with the first
    // document that has this key.
    let each_repeat = |name: &str, keys: Offer<'_>, repeats: &mut dyn FnMut(u32, u32)| {
        let mut last: Option<Tagged> = None;
        let offer = |push: &mut dyn FnMut(Tagged) -> Result<()>| {
            keys(&mut |document, key| {
                push(Tagged {
                    key,
                    document,
                    extra: 0,
                })
            })
        };
        let take = |item: Tagged| {
            match last {
                Some(first) if first.key == item.key => repeats(item.document, first.document),
                _ => last = Some(item),
            }
            Ok(())
        };
        sort_tagged(scratch.path(), name, memory, offer, take)
    };
    let find_representatives = |keys: Offer<'_>| -> Result<Vec<u32>> {
        let mut representatives: Vec<u32> = (0..documents as u32).collect();
        each_repeat("md5", keys, &mut |document, first| {
            representatives[document as usize] = first;
        })?;
        Ok(representatives)
    };
    let find_repeated = |keys: Offer<'_>| -> Result<(Vec<u64>, u64)> {
        let mut repeated = vec![0u64; documents.div_ceil(64) as usize];
        let mut docnos_repeated = 0;
        each_repeat("docno", keys, &mut |document, _| {
            repeated[document as usize / 64] |= 1 << (document % 64);
            docnos_repeated += 1;
        })?;
        Ok((repeated, docnos_repeated))
    };
    let scan = |of: u64, each: &mut dyn FnMut(u32, DocumentView<'_>) -> Result<()>| {
        each_document(workspace, |document, record| {
            if document.is_multiple_of(4096) {
                context.stop.check(STAGE)?;
                context.progress.at(of * documents + u64::from(document));
            }
            each(document, record)
        })
    };
    // A document without words duplicates nothing.
    let md5 =
        |record: &DocumentView<'_>| (record.words > 0).then(|| u128::from_be_bytes(record.md5));
    let docno = |record: &DocumentView<'_>| xxhash_rust::xxh3::xxh3_128(record.docno.as_bytes());
    let (representatives, (repeated, docnos_repeated)) = if both {
        // Some threads read the documents, and two sort the keys.
        let queue = Queue::new(&segments);
        let (to_md5s, md5s) = bounded::<Keys>(PASSED_AT_ONCE);
        let (to_docnos, docnos) = bounded::<Keys>(PASSED_AT_ONCE);
        let read = |to_md5s: Sender<Keys>, to_docnos: Sender<Keys>| -> Result<()> {
            while let Some(segment) = queue.next() {
                context.stop.check(STAGE)?;
                let (mut of_md5s, mut of_docnos) = (Keys::new(), Keys::new());
                // If nobody takes them, a sorting thread has failed, and says why.
                let pass = |to: &Sender<Keys>, keys: &mut Keys| {
                    let _ = to.send(std::mem::take(keys));
                };
                each_in(places, parameters, segment, &mut |document, record| {
                    if of_docnos.len() == PASSED {
                        context.stop.check(STAGE)?;
                        context.progress.at(read_so_far(of_docnos.len()));
                        pass(&to_docnos, &mut of_docnos);
                        pass(&to_md5s, &mut of_md5s);
                    }
                    of_docnos.push((document, docno(&record)));
                    of_md5s.extend(md5(&record).map(|key| (document, key)));
                    Ok(())
                })?;
                context.progress.at(read_so_far(of_docnos.len()));
                pass(&to_docnos, &mut of_docnos);
                pass(&to_md5s, &mut of_md5s);
            }
            Ok(())
        };
        threads::scope(|scope| {
            let read = &read;
            let readers: Vec<_> = (0..readers)
                .map(|_| {
                    let (to_md5s, to_docnos) = (to_md5s.clone(), to_docnos.clone());
                    scope.spawn(move || read(to_md5s, to_docnos))
                })
                .collect();
            drop((to_md5s, to_docnos));
            let repeated = scope.spawn(|| find_repeated(&mut offered(docnos)));
            let representatives = caught(STAGE, || find_representatives(&mut offered(md5s)));
            let repeated = joined(STAGE, repeated);
            // Without all keys, the rest means nothing.
            joined_all(STAGE, readers)?;
            Ok::<_, Error>((representatives?, repeated?))
        })?
    } else {
        let representatives = find_representatives(&mut |push| {
            scan(0, &mut |document, record| {
                md5(&record).map_or(Ok(()), |key| push(document, key))
            })
        })?;
        let repeated = find_repeated(&mut |push| {
            scan(1, &mut |document, record| push(document, docno(&record)))
        })?;
        (representatives, repeated)
    };

    let sizes = &super::config(&workspace.manifest).size_groups;
    let mut stats = CatalogueStats {
        documents,
        docnos_repeated,
        groups: (0..sizes.count())
            .map(|group| GroupStats {
                words: sizes.describe(group),
                ..GroupStats::default()
            })
            .collect(),
        ..CatalogueStats::default()
    };
    let mut names = NamesWriter::create(&directory, parameters)?;
    let mut stored = PartWriter::create(&directory, &header(Kind::Column, STORED, 4))?;
    let mut rejects = RejectWriter::create(&directory, parameters, 0)?;
    let add = |columns: &mut Columns, number: u32, document: DocumentView<'_>| {
        columns.names.extend(document.docno.as_bytes());
        columns.lengths.push(document.docno.len() as u32);
        // The size of a stored set counts even if its document takes no part, because readers have
        // to skip the set.
        let size = if document.stored {
            document.shingles
        } else {
            0
        };
        columns.stored.extend(size.to_le_bytes());
        if representatives[number as usize] == number {
            columns.of_groups.push((document.group, document.shingles));
        }
        if repeated[number as usize / 64] >> (number % 64) & 1 == 1 {
            let source = SourceSpan {
                file: document.file,
                offset: document.offset,
                length: document.length,
            };
            columns.rejects.push(Reject {
                source,
                docno: Some(document.docno.into()),
                reason: Reason::DuplicateDocno,
                detail: "an earlier document has the same docno; both are kept".into(),
            });
        }
    };
    in_order(
        STAGE,
        readers,
        |hand_out| segments.iter().try_for_each(hand_out),
        |segment, pass| {
            context.stop.check(STAGE)?;
            let mut columns = Columns::default();
            each_in(places, parameters, segment, &mut |number, document| {
                add(&mut columns, number, document);
                if columns.are_many() {
                    context.stop.check(STAGE)?;
                    pass(std::mem::take(&mut columns))?;
                }
                Ok(())
            })?;
            pass(columns)
        },
        |columns: Columns| {
            names.push(&columns.names, &columns.lengths)?;
            stored.put(&columns.stored)?;
            for (group, size) in columns.of_groups {
                let size = u64::from(size);
                stats.representatives += 1;
                stats.shingles += size;
                stats.without_shingles += u64::from(size == 0);
                let group = &mut stats.groups[usize::from(group)];
                group.documents += 1;
                group.shingles += size;
            }
            let mut repeated = columns.rejects.iter();
            repeated.try_for_each(|reject| rejects.push(reject, true))
        },
    )?;
    stats.exact_duplicates = documents - stats.representatives;
    let mut duplicated = vec![0u64; documents.div_ceil(64) as usize];
    let mut column = PartWriter::create(&directory, &header(Kind::Column, REPRESENTATIVES, 4))?;
    for (number, &first) in representatives.iter().enumerate() {
        column.put(&first.to_le_bytes())?;
        if first as usize != number {
            duplicated[first as usize / 64] |= 1 << (first % 64);
        }
    }
    stats.duplicated = duplicated
        .iter()
        .map(|bits| u64::from(bits.count_ones()))
        .sum();
    let (names, name_ends) = names.finish(documents)?;
    let entry = CatalogueEntry {
        names,
        name_ends,
        representatives: column.finish(documents, 0, 0)?,
        stored: stored.finish(documents, 0, 0)?,
        rejects: rejects.finish()?,
        stats,
    };
    workspace.manifest.set(entry);
    workspace.commit(&[DIRECTORY])
}

/// The columns of some documents.
#[derive(Default)]
struct Columns {
    names: Vec<u8>,
    /// Bytes of each name.
    lengths: Vec<u32>,
    /// Sizes of stored sets, as they are written.
    stored: Vec<u8>,
    /// Size groups and numbers of shingles of representatives.
    of_groups: Vec<(u8, u32)>,
    rejects: Vec<Reject>,
}

impl Columns {
    /// Whether they should be passed on, before they take more memory.
    fn are_many(&self) -> bool {
        self.lengths.len() >= PASSED || self.names.len() >= PASSED * 32
    }
}

/// Writes the docnos and the end of each.
struct NamesWriter {
    names: PartWriter,
    ends: PartWriter,
    end: u64,
}

/// Number of the part with the ends of the docnos.
const NAME_ENDS: u64 = 3;

impl NamesWriter {
    fn create(directory: &Path, parameters: u128) -> Result<Self> {
        let header = |kind, number, key_bytes| Header {
            kind,
            version: VERSION,
            parameters,
            number,
            key_bytes,
        };
        Ok(NamesWriter {
            names: PartWriter::create(directory, &header(Kind::Names, NAMES, 0))?,
            ends: PartWriter::create(directory, &header(Kind::Column, NAME_ENDS, 8))?,
            end: 0,
        })
    }

    /// Appends names, one after the other, of these lengths.
    fn push(&mut self, names: &[u8], lengths: &[u32]) -> Result<()> {
        self.names.put(names)?;
        for &length in lengths {
            self.end += u64::from(length);
            self.ends.put(&self.end.to_le_bytes())?;
        }
        Ok(())
    }

    fn finish(self, documents: u64) -> Result<(PartInfo, PartInfo)> {
        Ok((
            self.names.finish(documents, 0, 0)?,
            self.ends.finish(documents, 0, 0)?,
        ))
    }
}

/// For each document, the first document with the same MD5.
#[derive(Clone, Debug)]
pub struct Representatives {
    /// How far the first document is before each document.
    before: Column,
}

impl Representatives {
    /// The most bytes for this number of documents, some of which have the MD5 of an earlier one.
    #[must_use]
    pub fn most_bytes(documents: u64, exact_duplicates: u64) -> u64 {
        let most = exact_duplicates.saturating_mul(documents);
        Column::most_bytes(documents, most)
    }

    /// The first document with the MD5 of a document, which may be itself.
    #[must_use]
    #[inline]
    pub fn of(&self, document: u32) -> u32 {
        document - self.before.at(document)
    }

    /// Whether a document is the first with its MD5. `false` if there is no such document.
    #[must_use]
    pub fn has(&self, document: u32) -> bool {
        self.before.get(document) == Some(0)
    }

    /// The number of documents.
    #[must_use]
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
    path: PathBuf,
    document: u32,
}

impl RepresentativeReader {
    /// The first document with the MD5 of the next document; `None` at the end.
    #[expect(
        clippy::should_implement_trait,
        reason = "it can fail, and is not an iterator"
    )]
    pub fn next(&mut self) -> Result<Option<u32>> {
        let Some(first) = self.reader.next()? else {
            return Ok(None);
        };
        let document = self.document;
        self.document += 1;
        if first > document {
            let what = format!("representative of document {document}");
            return Err(Error::corrupt(&self.path, what)
                .at(HEADER_BYTES as u64 + u64::from(document) * 4)
                .expected("a document that is not after it", first));
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Documents.
    pub documents: u64,
    /// Stored fingerprints of all documents.
    pub fingerprints: u64,
}

impl Extent {
    /// The most bytes of a column of set sizes.
    #[must_use]
    pub fn column_bytes(self) -> u64 {
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

    /// The docnos. They are mapped into memory if they fit in a small share of the budget, which
    /// [`Catalogue::names_bytes`] gives.
    pub fn names(workspace: &Workspace, budget: &Budget) -> Result<Names> {
        let entry = Catalogue::entry(workspace)?;
        let files = (workspace.path(DIRECTORY), workspace.collection_parameters());
        let mapped = Catalogue::names_bytes(workspace, budget)? > 0;
        Names::open(files, (&entry.names, &entry.name_ends), mapped)
    }

    /// Calls `each` with every document and its docno, in order.
    pub(crate) fn each_name(
        workspace: &Workspace,
        mut each: impl FnMut(u32, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let entry = Catalogue::entry(workspace)?;
        let open = |kind, info: &PartInfo| {
            let path = workspace.path(DIRECTORY).join(&info.name);
            let parameters = Some(workspace.collection_parameters());
            PartReader::open(&path, kind, parameters, Some(info))
        };
        let mut names = open(Kind::Names, &entry.names)?;
        let mut ends = open(Kind::Column, &entry.name_ends)?;
        let mut start = 0;
        for document in 0..entry.stats.documents as u32 {
            let end = ends.take_u64()?;
            let length = end.checked_sub(start);
            let Some(length) = length.filter(|length| *length <= names.remaining()) else {
                let expected = format!("{start} to {}", start + names.remaining());
                return Err(ends.corrupt("end of a docno", expected, end));
            };
            each(document, names.take(length as usize)?)?;
            start = end;
        }
        names.finish()?;
        ends.finish()
    }

    /// Bytes of memory that look-ups of docnos take.
    pub fn names_bytes(workspace: &Workspace, budget: &Budget) -> Result<u64> {
        let entry = Catalogue::entry(workspace)?;
        let bytes = entry.names.bytes + entry.name_ends.bytes;
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

    /// Reads the representative of each document in order.
    pub fn representatives_in_order(workspace: &Workspace) -> Result<RepresentativeReader> {
        let info = &Catalogue::entry(workspace)?.representatives;
        let (reader, path) = Catalogue::open(workspace, info)?;
        Ok(RepresentativeReader {
            reader,
            path,
            document: 0,
        })
    }

    /// The number of stored fingerprints of each document.
    pub fn stored(workspace: &Workspace) -> Result<Column> {
        let mut column = ColumnBuilder::default();
        Catalogue::stored_in_order(workspace)?.each(|_, stored| {
            column.push(stored);
            Ok(())
        })?;
        Ok(column.finish())
    }

    /// Reads the number of stored fingerprints of each document in order.
    pub fn stored_in_order(workspace: &Workspace) -> Result<ColumnReader> {
        let info = &Catalogue::entry(workspace)?.stored;
        Ok(Catalogue::open(workspace, info)?.0)
    }

    /// The documents and their stored fingerprints, which bound the memory of columns.
    pub fn extent(workspace: &Workspace) -> Result<Extent> {
        let segments = super::segments(&workspace.manifest).iter();
        Ok(Extent {
            documents: Catalogue::stats(workspace)?.documents,
            fingerprints: segments.map(|segment| segment.fingerprints.records).sum(),
        })
    }

    /// The file of [`Catalogue::stored`].
    pub fn stored_file(workspace: &Workspace) -> Result<PathBuf> {
        let entry = Catalogue::entry(workspace)?;
        Ok(workspace.path(DIRECTORY).join(&entry.stored.name))
    }

    fn open(workspace: &Workspace, info: &PartInfo) -> Result<(ColumnReader, PathBuf)> {
        let path = workspace.path(DIRECTORY).join(&info.name);
        let documents = Catalogue::stats(workspace)?.documents;
        if info.records != documents {
            return Err(Error::corrupt(path, "numbers in the column (manifest)")
                .expected(format!("{documents}, one for each document"), info.records));
        }
        let reader = ColumnReader::open(&path, workspace.collection_parameters(), info)?;
        Ok((reader, path))
    }
}
