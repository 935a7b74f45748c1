//! Our own binary files, behind checksums that are right.
//!
//! Two ways. Either the input is a whole part, of which the checksums of header and footer (and of
//! what is found of blocks) are put right; or it is the content of blocks, around which a part is
//! made.

use lookalike::base::budget::{Budget, ByteSize, Disk};
use lookalike::base::ids::Key;
use lookalike::engine::collection::{
    self, Catalogue, CatalogueEntry, Column, DocumentReader, DocumentWriter, MappedSets,
    RejectReader, RejectWriter, SET_BLOCK_BYTES, SetReader, TEXT_BLOCK_BYTES, TextReader,
};
use lookalike::engine::merge::{PackedBlock, PostingsDecoder, PostingsReader};
use lookalike::engine::pipeline;
use lookalike::engine::sort::{Record, RunFile};
use lookalike::store::workspace::Workspace;
use lookalike::store::{
    FOOTER_BYTES, Footer, HEADER_BYTES, Kind, PartFile, PartInfo, checksum, verify_part,
};
use lookalike::tasks::inspect::inspect;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::controls::Controls;
use super::place;

const KINDS: [Kind; 9] = [
    Kind::Documents,
    Kind::Fingerprints,
    Kind::Rejects,
    Kind::Column,
    Kind::Names,
    Kind::Run,
    Kind::Postings,
    Kind::Pairs,
    Kind::Text,
];

pub fn run(data: &[u8]) {
    let mut controls = Controls::new(data);
    let way = controls.byte();
    if way & 0x80 != 0 {
        whole(controls.rest());
        return;
    }
    if way & 0x70 == 0x70 {
        texts(controls);
        return;
    }
    let kind = KINDS[usize::from(way % 8)];
    let key_bytes = if way & 8 != 0 { 16 } else { 8 };
    match kind {
        Kind::Documents | Kind::Rejects => records(kind, controls),
        Kind::Run | Kind::Pairs => sorted(kind, key_bytes, controls),
        Kind::Postings => postings(key_bytes, controls),
        Kind::Column => column(controls),
        Kind::Names => names(controls),
        _ => sets(controls),
    }
}

/// The digest of the collection that parts are read in.
fn parameters() -> u128 {
    static DIGEST: OnceLock<u128> = OnceLock::new();
    *DIGEST.get_or_init(|| workspace().collection_parameters())
}

fn out() -> &'static PathBuf {
    static OUT: OnceLock<PathBuf> = OnceLock::new();
    OUT.get_or_init(|| place::finished_run("parts-run"))
}

/// The run's workspace, to be changed in memory.
fn workspace() -> Workspace {
    pipeline::open(out()).expect("the run is opened")
}

fn header(kind: Kind, key_bytes: u32, parameters: u128) -> Vec<u8> {
    let mut out = b"\x89LKA\r\n\x1a\n".to_vec();
    out.extend_from_slice(&kind.tag());
    out.extend_from_slice(&[1, 0, 0, 0]);
    out.extend_from_slice(&parameters.to_le_bytes());
    out.extend_from_slice(&3u64.to_le_bytes());
    out.extend_from_slice(&key_bytes.to_le_bytes());
    out.resize(56, 0);
    let sum = checksum(&out);
    out.extend_from_slice(&sum.to_le_bytes());
    out
}

/// A part around a payload.
struct Part {
    bytes: Vec<u8>,
}

impl Part {
    fn new(kind: Kind, key_bytes: u32, parameters: u128) -> Part {
        Part {
            bytes: header(kind, key_bytes, parameters),
        }
    }

    fn at(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn finish(mut self, path: &Path, footer: [u64; 3]) -> PartInfo {
        let payload = self.at() - HEADER_BYTES as u64;
        let [records, index, extra] = footer;
        for number in [records, payload, index, extra, 0, 0] {
            self.bytes.extend_from_slice(&number.to_le_bytes());
        }
        let sum = checksum(&self.bytes);
        self.bytes.extend_from_slice(&sum.to_le_bytes());
        self.bytes.extend_from_slice(b"\nLKAend\n");
        place::put(path, &self.bytes);
        PartInfo {
            name: path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            bytes: self.bytes.len() as u64,
            records,
            checksum: format!("{sum:016x}"),
        }
    }
}

/// Reads every kind's part in every way there is.
fn read(path: &Path, kind: Kind, info: Option<&PartInfo>) {
    let footer = verify_part(path, kind, info);
    let mut lines = 0u64;
    let _ = inspect(path, 1000, &mut |_| {
        lines += 1;
        Ok(true)
    });
    assert!(lines <= 1002);
    let most = footer.as_ref().map_or(0, |footer| footer.payload_bytes);
    match kind {
        Kind::Documents => read_documents(path, info),
        Kind::Rejects => read_rejects(path, info),
        Kind::Text => read_texts(path, info),
        Kind::Run | Kind::Pairs => {
            read_run::<u64>(kind, path, info);
            read_run::<u128>(kind, path, info);
        }
        Kind::Postings => {
            read_postings::<u64>(path, info, most);
            read_postings::<u128>(path, info, most);
        }
        Kind::Column => {
            if let Some(info) = info {
                let column = Column::load(path, parameters(), info);
                assert!(
                    column.is_err()
                        || column.is_ok_and(|column| column.len() as u64 == info.records)
                );
            }
        }
        _ => {}
    }
}

fn read_documents(path: &Path, info: Option<&PartInfo>) {
    let Ok(mut reader) = DocumentReader::open(path, None, info) else {
        return;
    };
    let mut documents = Vec::new();
    loop {
        match reader.next() {
            Ok(Some(document)) => documents.push(document),
            Ok(None) => break,
            Err(_) => return,
        }
        if documents.len() > 1 << 16 {
            return;
        }
    }
    if reader.finish().is_err() || info.is_some() {
        return;
    }
    // What is read is written again, and read the same.
    let directory = place::subdirectory("again");
    let mut writer = DocumentWriter::create(&directory, 1, 0).expect("a writer");
    for document in &documents {
        writer.push(document).expect("a document");
    }
    let info = writer.finish().expect("a part");
    let mut reader = DocumentReader::open(&directory.join(&info.name), Some(1), Some(&info))
        .expect("the part is opened");
    for document in &documents {
        assert_eq!(reader.next().expect("a document").as_ref(), Some(document));
    }
    assert_eq!(reader.next().expect("the end"), None);
    reader.finish().expect("the part is whole");
}

fn read_rejects(path: &Path, info: Option<&PartInfo>) {
    let Ok(mut reader) = RejectReader::open(path, None, info) else {
        return;
    };
    let mut rejects = Vec::new();
    loop {
        match reader.next_reject() {
            Ok(Some(reject)) => rejects.push(reject),
            Ok(None) => break,
            Err(_) => return,
        }
        if rejects.len() > 1 << 16 {
            return;
        }
    }
    if reader.finish().is_err() || info.is_some() {
        return;
    }
    let directory = place::subdirectory("again");
    let mut writer = RejectWriter::create(&directory, 1, 0).expect("a writer");
    for (reject, kept) in &rejects {
        writer.push(reject, *kept).expect("a reject");
    }
    let info = writer.finish().expect("a part");
    let mut reader = RejectReader::open(&directory.join(&info.name), Some(1), Some(&info))
        .expect("the part is opened");
    for reject in &rejects {
        assert_eq!(
            reader.next_reject().expect("a reject").as_ref(),
            Some(reject)
        );
    }
    reader.finish().expect("the part is whole");
}

fn read_texts(path: &Path, info: Option<&PartInfo>) {
    let Ok(mut reader) = TextReader::open(path, None, info) else {
        return;
    };
    let (mut text, mut all) = (Vec::new(), 0u64);
    loop {
        match reader.next(&mut text) {
            Ok(true) => all += text.len() as u64,
            Ok(false) => break,
            Err(_) => return,
        }
    }
    if reader.finish().is_err() {
        return;
    }
    // Stepped over, they are the same.
    let mut reader = TextReader::open(path, None, info).expect("it was opened");
    let mut again = 0;
    while let Ok(Some(length)) = reader.next_length() {
        again += length;
        if let Ok(Some(piece)) = reader.piece() {
            assert!(piece.len() <= TEXT_BLOCK_BYTES && piece.len() as u64 <= length);
        }
    }
    assert_eq!(again, all);
    reader.finish().expect("the part is whole");
}

fn read_run<K: Key + Ord>(kind: Kind, path: &Path, info: Option<&PartInfo>) {
    let Ok(run) = RunFile::<K>::open(kind, path, None, info) else {
        return;
    };
    let Ok(all) = cursor(&run, K::from_u128(0), K::MAX) else {
        return;
    };
    let sorted = all.is_sorted();
    let first_keys: Vec<K> = all
        .iter()
        .step_by(97)
        .map(|record| record.key)
        .take(8)
        .collect();
    for key in first_keys {
        let Ok(some) = cursor(&run, key, key) else {
            continue;
        };
        // In a run out of order, which verify finds, a range may be anything that ends.
        if sorted {
            let expected = all.iter().filter(|record| record.key == key);
            assert!(expected.eq(&some), "a range of a run");
        }
    }
}

fn cursor<K: Key>(run: &RunFile<K>, low: K, high: K) -> lookalike::Result<Vec<Record<K>>> {
    let mut cursor = run.range(low, high)?;
    let mut all = Vec::new();
    while let Some(record) = cursor.head() {
        let _ = cursor.next_key();
        all.push(record);
        cursor.advance()?;
    }
    Ok(all)
}

fn read_postings<K: Key>(path: &Path, info: Option<&PartInfo>, most: u64) {
    let Ok(mut reader) = PostingsReader::<K>::open(path, None, info) else {
        return;
    };
    let mut packed = PackedBlock::default();
    let mut decoder = PostingsDecoder::<K>::default();
    let mut bytes = 0u64;
    while let Ok(true) = reader.take_packed(&mut packed) {
        bytes += 32;
        assert!(bytes <= most.max(bytes), "blocks without bytes");
        let Ok(block) = decoder.decode(&packed) else {
            continue;
        };
        assert_eq!(block.keys.len(), block.lengths.len());
        let entries: u64 = block.lengths.iter().map(|&length| u64::from(length)).sum();
        assert_eq!(entries, block.documents.len() as u64);
        assert_eq!(packed.entries, block.documents.len());
        let documents = block.documents.clone();
        let lists = decoder
            .decode_lists(&packed)
            .expect("lists of a block that was decoded");
        assert_eq!(lists.documents, documents);
    }
    let _ = reader.finish();
}

/// A part from the input: its last bytes are the footer's numbers.
fn whole(data: &[u8]) {
    if data.len() < HEADER_BYTES + FOOTER_BYTES {
        return;
    }
    let mut bytes = data.to_vec();
    bytes[..8].copy_from_slice(b"\x89LKA\r\n\x1a\n");
    let kind = KINDS[usize::from(bytes[8]) % 8];
    let kind = KINDS
        .into_iter()
        .find(|kind| kind.tag() == bytes[8..12])
        .unwrap_or(kind);
    bytes[8..12].copy_from_slice(&kind.tag());
    bytes[12..16].copy_from_slice(&[1, 0, 0, 0]);
    bytes[44..56].fill(0);
    let sum = checksum(&bytes[..56]);
    bytes[56..64].copy_from_slice(&sum.to_le_bytes());
    let footer = bytes.len() - FOOTER_BYTES;
    blocks_put_right(kind, &mut bytes[HEADER_BYTES..footer]);
    let payload = (footer - HEADER_BYTES) as u64;
    bytes[footer + 8..footer + 16].copy_from_slice(&payload.to_le_bytes());
    bytes[footer + 32..footer + 48].fill(0);
    let sum = checksum(&bytes[..footer + 48]);
    bytes[footer + 48..footer + 56].copy_from_slice(&sum.to_le_bytes());
    bytes[footer + 56..].copy_from_slice(b"\nLKAend\n");
    let path = place::subdirectory("parts").join("000000.part");
    place::put(&path, &bytes);
    read(&path, kind, None);
    if let Ok(part) = PartFile::open(&path, kind, None, None) {
        let Footer { records, .. } = part.footer;
        let info = PartInfo {
            name: "000000.part".into(),
            bytes: bytes.len() as u64,
            records,
            checksum: format!("{:016x}", part.footer.checksum),
        };
        read(&path, kind, Some(&info));
    }
}

fn number(bytes: &[u8], at: usize) -> usize {
    let word = bytes.get(at..at + 4).unwrap_or(&[0; 4]);
    u32::from_le_bytes([word[0], word[1], word[2], word[3]]) as usize
}

/// Checksums of the blocks as their heads say they lie.
fn blocks_put_right(kind: Kind, payload: &mut [u8]) {
    let (head, length_at, sum_at) = match kind {
        Kind::Documents | Kind::Rejects | Kind::Text => (24, 4, 16),
        Kind::Run | Kind::Pairs => (24, 4, 16),
        Kind::Postings => (32, 8, 24),
        _ => return,
    };
    let mut at = 0;
    while at + head <= payload.len() {
        let length = number(payload, at + length_at);
        let Some(body) = payload.get(at + head..).and_then(|rest| rest.get(..length)) else {
            break;
        };
        let sum = checksum(body);
        payload[at + sum_at..at + sum_at + 8].copy_from_slice(&sum.to_le_bytes());
        at += head + length;
    }
    if matches!(kind, Kind::Run | Kind::Pairs) && payload.len() >= at + 8 {
        // The index, up to its checksum.
        let end = payload.len() - 8;
        let sum = checksum(&payload[at..end]);
        payload[end..].copy_from_slice(&sum.to_le_bytes());
    }
}

fn place_of(kind: Kind) -> PathBuf {
    place::subdirectory("parts").join(format!("000003.{}", kind.extension()))
}

/// Blocks of documents or rejects: what zstd holds is the input.
fn records(kind: Kind, mut controls: Controls<'_>) {
    let mut part = Part::new(kind, 0, 1);
    let mut all = 0;
    for _ in 0..controls.byte() % 3 + 1 {
        let records = u32::from(controls.byte());
        let wrong = controls.byte();
        let length = usize::from(controls.u16());
        let raw = controls.bytes(length);
        let packed = zstd::bulk::compress(raw, 1).expect("memory");
        let stated = match wrong {
            1 => u64::from(controls.u32()),
            2 => controls.u64(),
            _ => raw.len() as u64,
        };
        part.bytes.extend_from_slice(&records.to_le_bytes());
        part.bytes
            .extend_from_slice(&(packed.len() as u32).to_le_bytes());
        part.bytes.extend_from_slice(&stated.to_le_bytes());
        part.bytes
            .extend_from_slice(&checksum(&packed).to_le_bytes());
        part.bytes.extend_from_slice(&packed);
        all += u64::from(records);
    }
    if controls.byte() == 1 {
        all = controls.u64();
    }
    let path = place_of(kind);
    let info = part.finish(&path, [all, 0, 0]);
    read(&path, kind, None);
    read(&path, kind, Some(&info));
}

/// Texts in blocks; what the heads and the footer say of them may be wrong.
fn texts(mut controls: Controls<'_>) {
    let mut part = Part::new(Kind::Text, 0, 1);
    let (wrong, place, filling) = (controls.byte(), controls.u16(), controls.u32() % (1 << 19));
    let mut stream = Vec::new();
    let (mut all, mut bytes) = (0, 0);
    for _ in 0..controls.byte() % 6 {
        let length = usize::from(controls.byte());
        let long = if controls.flag() { filling as usize } else { 0 };
        let mut text = controls.bytes(length).to_vec();
        text.resize(text.len() + long, b'x');
        let stated = match wrong & 3 {
            1 => controls.u64(),
            _ => text.len() as u64,
        };
        stream.extend_from_slice(&stated.to_le_bytes());
        stream.extend_from_slice(&text);
        all += 1;
        bytes = u64::wrapping_add(bytes, stated);
    }
    if wrong & 4 != 0 {
        stream.truncate(usize::from(place));
    }
    let mut begun = if wrong & 8 != 0 { 0 } else { all as u32 };
    let size = if wrong & 16 != 0 {
        100
    } else {
        TEXT_BLOCK_BYTES
    };
    for block in stream.chunks(size) {
        let packed = zstd::bulk::compress(block, 1).expect("memory");
        part.bytes.extend_from_slice(&begun.to_le_bytes());
        part.bytes
            .extend_from_slice(&(packed.len() as u32).to_le_bytes());
        part.bytes
            .extend_from_slice(&(block.len() as u64).to_le_bytes());
        part.bytes
            .extend_from_slice(&checksum(&packed).to_le_bytes());
        part.bytes.extend_from_slice(&packed);
        begun = u32::from(wrong & 32 != 0);
    }
    match wrong & 0xc0 {
        0x40 => all = controls.u64(),
        0x80 => bytes = controls.u64(),
        _ => {}
    }
    let path = place_of(Kind::Text);
    let info = part.finish(&path, [all, 0, bytes]);
    read(&path, Kind::Text, None);
    read(&path, Kind::Text, Some(&info));
}

/// A run of a few blocks with an index.
fn sorted(kind: Kind, key_bytes: u32, mut controls: Controls<'_>) {
    let mut part = Part::new(kind, key_bytes, 1);
    let mut index = Vec::new();
    let mut all = 0;
    let blocks = u64::from(controls.byte() % 4);
    for _ in 0..blocks {
        let (records, distinct) = (u32::from(controls.u16()), u32::from(controls.u16()));
        let codec = controls.byte();
        let first = controls.bytes(key_bytes as usize);
        let length = usize::from(controls.u16());
        let mut body = first.to_vec();
        body.extend_from_slice(controls.bytes(length));
        let codec = match codec % 8 {
            1 => {
                let packed = zstd::bulk::compress(&body, 1).expect("memory");
                let raw = body.len() as u32;
                body = raw.to_le_bytes().to_vec();
                body.extend_from_slice(&packed);
                1
            }
            2 => 1,
            3 => u32::from(codec),
            _ => 0u32,
        };
        let mut key = first.to_vec();
        key.resize(key_bytes as usize, 0);
        index.extend_from_slice(&key);
        index.extend_from_slice(&part.at().to_le_bytes());
        for number in [records, body.len() as u32, codec, distinct] {
            part.bytes.extend_from_slice(&number.to_le_bytes());
        }
        part.bytes.extend_from_slice(&checksum(&body).to_le_bytes());
        part.bytes.extend_from_slice(&body);
        all += u64::from(records);
    }
    let mut extra = blocks;
    let mut at = part.at();
    match controls.byte() {
        1 => {
            let wrong = controls.u64();
            let place = usize::from(controls.byte()) % index.len().max(1);
            for (byte, new) in index.iter_mut().skip(place).zip(wrong.to_le_bytes()) {
                *byte = new;
            }
        }
        2 => extra = controls.u64(),
        3 => at = controls.u64(),
        4 => all = controls.u64(),
        _ => {}
    }
    part.bytes.extend_from_slice(&index);
    part.bytes
        .extend_from_slice(&checksum(&index).to_le_bytes());
    let path = place_of(kind);
    let info = part.finish(&path, [all, at, extra]);
    read(&path, kind, None);
    read(&path, kind, Some(&info));
}

/// Blocks of posting lists.
fn postings(key_bytes: u32, mut controls: Controls<'_>) {
    let mut part = Part::new(Kind::Postings, key_bytes, 1);
    let (mut all, mut entries_of_all) = (0, 0);
    for _ in 0..controls.byte() % 3 + 1 {
        let wrong = controls.byte();
        let (lists, entries) = if wrong & 8 != 0 {
            (controls.u32(), controls.u32())
        } else {
            (u32::from(controls.byte()), u32::from(controls.u16()))
        };
        let length = usize::from(controls.u16());
        let mut body = controls.bytes(length).to_vec();
        let mut raw = body.len() as u64;
        let mut codec = 0;
        if wrong & 1 != 0 {
            body = zstd::bulk::compress(&body, 1).expect("memory");
            codec = 1;
        }
        if wrong & 2 != 0 {
            raw = controls.u64();
        }
        if wrong & 4 != 0 {
            codec = controls.u32();
        }
        for number in [lists, entries, body.len() as u32, codec] {
            part.bytes.extend_from_slice(&number.to_le_bytes());
        }
        part.bytes.extend_from_slice(&raw.to_le_bytes());
        part.bytes.extend_from_slice(&checksum(&body).to_le_bytes());
        part.bytes.extend_from_slice(&body);
        all += u64::from(lists);
        entries_of_all += u64::from(entries);
    }
    let path = place_of(Kind::Postings);
    let info = part.finish(&path, [all, 0, entries_of_all]);
    read(&path, Kind::Postings, None);
    read(&path, Kind::Postings, Some(&info));
}

/// A column of numbers, of which the footer may say anything.
fn column(mut controls: Controls<'_>) {
    let width = controls.one_of(&[4u32, 8, 16, 0, 5, 4]);
    let wrong = controls.byte();
    let stated = controls.u64();
    let payload = controls.rest();
    let mut part = Part::new(Kind::Column, width, parameters());
    part.bytes.extend_from_slice(payload);
    let records = match wrong {
        1 => stated,
        _ => payload.len() as u64 / u64::from(width.max(1)),
    };
    let path = place_of(Kind::Column);
    let info = part.finish(&path, [records, 0, 0]);
    read(&path, Kind::Column, None);
    read(&path, Kind::Column, Some(&info));
}

/// Docnos and where they end, in the catalogue of a run.
fn names(mut controls: Controls<'_>) {
    let documents = u64::from(controls.byte() % 9);
    let wide = controls.flag();
    let mut workspace = workspace();
    let directory = workspace.path("catalogue");
    let parameters = workspace.collection_parameters();
    let mut ends = Part::new(Kind::Column, 8, parameters);
    for _ in 0..documents {
        let end = if wide {
            controls.u64()
        } else {
            u64::from(controls.byte())
        };
        ends.bytes.extend_from_slice(&end.to_le_bytes());
    }
    let mut names = Part::new(Kind::Names, 0, parameters);
    names.bytes.extend_from_slice(controls.rest());
    let ends = ends.finish(&directory.join("fuzz.col"), [documents, 0, 0]);
    let names = names.finish(&directory.join("fuzz.names"), [documents, 0, 0]);
    read(&directory.join(&names.name), Kind::Names, Some(&names));
    let Some(catalogue) = workspace.manifest.get_mut::<CatalogueEntry>() else {
        panic!("no catalogue");
    };
    (catalogue.first.names, catalogue.first.name_ends) = (names, ends);
    let names = [ByteSize(1 << 30), ByteSize(0)].map(|memory| {
        let budget = Budget {
            memory,
            threads: 1,
            disk: Disk::Unchecked,
        };
        Catalogue::names(&workspace, &budget).expect("the parts are whole")
    });
    let [mapped, read] = names;
    for document in (0..10).chain([u32::MAX]) {
        let name = mapped.get(document);
        assert!(name.is_err() || u64::from(document) < documents);
        assert_eq!(name.ok(), read.get(document).ok());
    }
}

/// The sets of a segment, and how many fingerprints each document has.
fn sets(mut controls: Controls<'_>) {
    let wrong = controls.byte();
    let documents = u32::from(controls.byte() % 9);
    let mut workspace = workspace();
    let parameters = workspace.collection_parameters();
    let mut stored = Part::new(Kind::Column, 4, parameters);
    let mut sizes = Vec::new();
    for _ in 0..documents {
        let size = if wrong & 1 != 0 {
            controls.u32()
        } else {
            u32::from(controls.byte() % 16)
        };
        sizes.push(size);
        stored.bytes.extend_from_slice(&size.to_le_bytes());
    }
    let (listed, index_wrong, first) = (controls.byte(), controls.u64(), controls.u32());
    let keys = controls.rest();
    let mut part = Part::new(Kind::Fingerprints, 8, parameters);
    part.bytes.extend_from_slice(keys);
    let index = part.at();
    for block in keys.chunks(SET_BLOCK_BYTES) {
        part.bytes.extend_from_slice(&checksum(block).to_le_bytes());
    }
    let records = if wrong & 2 != 0 {
        index_wrong
    } else {
        keys.len() as u64 / 8
    };
    let info = part.finish(
        &workspace.path("collection").join("fuzz.fps"),
        [records, index, 0],
    );
    let stored = stored.finish(
        &workspace.path("catalogue").join("fuzz.col"),
        [u64::from(documents), 0, 0],
    );
    read(
        &workspace.path("collection").join("fuzz.fps"),
        Kind::Fingerprints,
        Some(&info),
    );
    let Some(catalogue) = workspace.manifest.get_mut::<CatalogueEntry>() else {
        panic!("no catalogue");
    };
    catalogue.first.stored = stored;
    collection::segments_mut(&mut workspace.manifest).truncate(1);
    let Some(segment) = collection::segments_mut(&mut workspace.manifest).first_mut() else {
        panic!("no segment");
    };
    segment.fingerprints = info;
    segment.stats.documents = if wrong & 4 != 0 {
        u64::from(listed)
    } else {
        u64::from(documents)
    };
    segment.first_document = if wrong & 8 != 0 { first } else { 0 };
    let segment = segment.clone();
    if let Ok(sets) = MappedSets::open::<u64>(&workspace, 1 << 20) {
        for document in (0..10).chain([u32::MAX]) {
            if let Ok(set) = sets.look().get(document) {
                assert_eq!(
                    Some(set.len() as u32 / 8),
                    sizes.get(document as usize).copied()
                );
            }
        }
    }
    if let Ok(mut reader) = SetReader::<u64>::open(workspace.places(), &segment) {
        for &size in &sizes {
            let mut keys = 0;
            let read = reader.next(size, |piece| {
                keys += piece.len();
                Ok(())
            });
            if read.is_err() {
                return;
            }
            assert_eq!(keys, size as usize);
        }
        let _ = reader.finish();
    }
}
