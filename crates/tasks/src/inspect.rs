//! Reads the program's directories and files, checks every byte, and prints their records as text.

use lookalike_base::{Error, Key, Result, Utf8Check, count, counted, words};
use lookalike_engine::cluster::ResultsEntry;
use lookalike_engine::collection::{
    self, Catalogue, CatalogueEntry, DocumentReader, RejectReader, SET_BLOCK_BYTES, TextReader,
};
use lookalike_engine::join::{JoinProgress, PairsEntry, each_measured_pair, sizes_of_pairs};
use lookalike_engine::merge::{PostingsEntry, PostingsReader};
use lookalike_engine::sample::{SampleEntry, Sampled};
use lookalike_engine::sort::{RunFile, RunsEntry};
use lookalike_engine::{index, pipeline};
use lookalike_store::{
    Checkpoint, HEADER_BYTES, InputList, Kind, MANIFEST_FILE, Manifest, PartFile, PartInfo,
    PartReader, Places, Workspace, check_file, check_inputs, disk, read_header, read_sorted,
    verify_part,
};
use std::collections::BTreeSet;
use std::path::Path;

/// The result of [`verify`].
#[derive(Debug, Default)]
pub struct Verified {
    /// Files checked.
    pub files: u64,
    /// Bytes of these files.
    pub bytes: u64,
    /// The errors, file by file.
    pub errors: Vec<Error>,
}

/// Reads every committed file of a directory and checks size, header, checksums and structure:
/// parts, results, and the auxiliary files that the manifest names. It also checks the directories
/// that an interrupted study or plan left inside.
///
/// It does not read `lock`, and cannot check files that no manifest names.
pub fn verify(directory: &Path) -> Result<Verified> {
    let manifest = pipeline::look(directory)?;
    let mut found = Verified::default();
    let mut theirs = BTreeSet::new();
    look_through(directory, &manifest, &theirs, &mut found)?;
    theirs.extend(own(&manifest));
    // The columns and pairs of a damaged directory need not agree, so they are not compared.
    if found.errors.is_empty() {
        let workspace = Workspace::unlocked(directory, manifest);
        found.errors.extend(agree(&workspace).err());
    }
    for place in TRIALS {
        let directory = directory.join(place);
        match pipeline::look(&directory) {
            Ok(manifest) => {
                // A subset has its own collection; other trials build on the collection of the
                // directory or of the subset.
                let none = BTreeSet::new();
                let borrowed = if place == TRIALS[0] { &none } else { &theirs };
                look_through(&directory, &manifest, borrowed, &mut found)?;
                theirs.extend(own(&manifest));
            }
            // There is none, or it was interrupted before it wrote anything.
            Err(Error::NotOutput { .. }) if disk::is_gone(&directory.join(MANIFEST_FILE))? => {}
            Err(error) => {
                found.files += 1;
                found.errors.push(error);
            }
        }
    }
    Ok(found)
}

/// The directories of a plan's subset and of the trials of plans and studies. The subset comes
/// first, because other trials build on it.
const TRIALS: [&str; 5] = words("plan/subset plan/truth plan/trial study/truth study/trial");

/// A part by subdirectory, name and checksum.
type Named = (&'static str, String, String);

fn named(place: &'static str, info: &PartInfo) -> Named {
    (place, info.name.clone(), info.checksum.clone())
}

/// The parts of a manifest, in the form in which a manifest that builds on it names them.
fn own(manifest: &Manifest) -> impl Iterator<Item = Named> {
    let parts = manifest.parts().into_iter();
    parts.map(|(place, _, info)| named(place, info))
}

/// Checks the files that a manifest names, except the parts (`theirs`) of the directories on which
/// it builds.
fn look_through(
    directory: &Path,
    manifest: &Manifest,
    theirs: &BTreeSet<Named>,
    found: &mut Verified,
) -> Result<()> {
    let parameters = Some(manifest.parameters());
    let places = Places::of(directory, manifest);
    let catalogue = manifest.get::<CatalogueEntry>();
    let documents = catalogue.map_or(u64::MAX, |entry| entry.stats.documents);
    for (place, kind, info) in manifest.parts() {
        let path = places.part(place, &info.name);
        if places.is_lent(place, &info.name) {
            // Its content is checked there, but without it nothing can be read here.
            found.errors.extend(disk::open(&path).err());
            continue;
        }
        let borrowed = theirs.contains(&named(place, info));
        if borrowed && matches!(disk::is_gone(&path), Ok(true)) {
            continue;
        }
        found.files += 1;
        found.bytes += info.bytes;
        let of = (parameters, Some(info));
        let checked = verify_part(&path, kind, Some(info))
            .and_then(|_| decode(&path, kind, of, documents, &mut Show::default()));
        match checked {
            // Too little memory does not mean that the part is damaged.
            Err(error @ Error::BudgetTooSmall { .. }) => return Err(error),
            checked => found.errors.extend(checked.err()),
        }
    }
    // The inputs of a trial are the inputs of the directory on which it builds.
    if manifest.origin.is_none() {
        found.files += 1;
        found.bytes += manifest.inputs.list.bytes;
        let checked =
            check_inputs(directory, &manifest.inputs).and_then(|()| read_inputs(directory));
        found.errors.extend(checked.err());
    }
    for file in manifest.result_files().chain(&manifest.others) {
        found.files += 1;
        found.bytes += file.bytes;
        found.errors.extend(check_file(directory, file).err());
    }
    Ok(())
}

/// Reads each line of the list of inputs.
fn read_inputs(directory: &Path) -> Result<()> {
    let mut inputs = InputList::open(directory)?;
    while inputs.next()?.is_some() {}
    Ok(())
}

/// Checks that the columns, the index and the pairs of a directory say what its documents can have.
fn agree(workspace: &Workspace) -> Result<()> {
    let manifest = &workspace.manifest;
    if !manifest.has::<CatalogueEntry>() {
        return Ok(());
    }
    Catalogue::check(workspace)?;
    index::check_facts(workspace)?;
    if manifest.has::<SampleEntry>() {
        Sampled::load(workspace)?;
    }
    if let Some(pairs) = (manifest.get::<PairsEntry>()).filter(|_| manifest.has::<SampleEntry>()) {
        let sizes = sizes_of_pairs(workspace)?;
        let mut lists = pairs.lists();
        lists.try_for_each(|list| each_measured_pair(workspace, list, &sizes, |_, _| Ok(())))?;
    }
    Ok(())
}

/// Prints the records of a part while they are decoded, if somebody looks at them.
#[derive(Default)]
struct Show<'s> {
    /// The records that may still be printed.
    left: u64,
    line: Option<&'s mut dyn FnMut(String) -> Result<bool>>,
}

impl Show<'_> {
    /// Prints a record; `false` if no more are wanted.
    fn record(&mut self, text: impl FnOnce() -> Result<String>) -> Result<bool> {
        match &mut self.line {
            None => Ok(true),
            Some(_) if self.left == 0 => Ok(false),
            Some(line) => {
                self.left -= 1;
                line(text()?)
            }
        }
    }
}

/// The collection of a part, and its entry in the manifest; nothing, if it stands alone.
type Said<'s> = (Option<u128>, Option<&'s PartInfo>);

/// Decodes a part, of a collection of this number of documents, from end to end, or as far as its
/// records are shown.
fn decode(
    path: &Path,
    kind: Kind,
    (parameters, info): Said<'_>,
    documents: u64,
    show: &mut Show<'_>,
) -> Result<()> {
    let part = PartFile::open(path, kind, parameters, info)?;
    let (records, wide) = (part.footer.records, part.header.key_bytes == 16);
    match kind {
        Kind::Documents => {
            let mut reader = DocumentReader::open(path, parameters, info)?;
            while let Some(document) = reader.next()? {
                if !show.record(|| json(path, &document))? {
                    return Ok(());
                }
            }
            reader.finish()
        }
        Kind::Rejects => {
            let mut reader = RejectReader::open(path, parameters, info)?;
            while let Some(reject) = reader.next()? {
                if !show.record(|| json(path, &reject))? {
                    return Ok(());
                }
                // A reason of another version can be printed.
                if show.line.is_none() {
                    reader.reject(reject)?;
                }
            }
            reader.finish()
        }
        Kind::Run | Kind::Pairs if wide => decode_run::<u128>(path, kind, (parameters, info), show),
        Kind::Run | Kind::Pairs => decode_run::<u64>(path, kind, (parameters, info), show),
        Kind::Postings if wide => {
            decode_postings::<u128>(path, (parameters, info), documents, show)
        }
        Kind::Postings => decode_postings::<u64>(path, (parameters, info), documents, show),
        Kind::Fingerprints | Kind::Column => {
            let width = numbers(&part)?;
            let mut reader = PartReader::open(path, kind, parameters, info)?;
            for _ in 0..records.min(show.left) {
                let mut bytes = [0; 16];
                bytes[..width].copy_from_slice(reader.take(width)?);
                let value = u128::from_le_bytes(bytes);
                let text = if kind == Kind::Column {
                    value.to_string()
                } else {
                    format!("{value:0digits$x}", digits = width * 2)
                };
                if !show.record(|| Ok(text))? {
                    break;
                }
            }
            Ok(())
        }
        Kind::Names => {
            let mut reader = PartReader::open(path, kind, parameters, info)?;
            let most = show.left.saturating_mul(80).min(1 << 20);
            let text = reader.take(reader.remaining().min(most) as usize)?;
            show.record(|| json(path, &String::from_utf8_lossy(text)))?;
            Ok(())
        }
        Kind::Text => decode_texts(path, (parameters, info), show),
        Kind::Index => index::check_part(path, parameters, info, |key, documents| {
            show.record(|| Ok(format!("{key:012x} {documents:?}")))
        }),
        Kind::Facts => index::check_documents(path, parameters, info, |document, facts| {
            let md5 = u128::from_be_bytes(facts.md5);
            let (words, keys) = (facts.words, facts.keys);
            let text = || format!("{document} {md5:032x} {words} words {keys} keys");
            show.record(|| Ok(text()))
        }),
        Kind::Sorted => {
            let (mut items, mut before, mut more) = (0, None, true);
            read_sorted(path, parameters, info, |item| {
                if before.replace(item) > Some(item) {
                    return Err(out_of_order(path, items));
                }
                items += 1;
                let [a, b, c, d, document, extra] = item;
                let text = || format!("{a:08x}{b:08x}{c:08x}{d:08x} {document} {extra}");
                more = show.record(|| Ok(text()))?;
                Ok(more)
            })?;
            all_there(path, if more { records } else { items }, items)
        }
    }
}

/// Bytes of each number in a part that consists only of numbers.
fn numbers(part: &PartFile) -> Result<usize> {
    let width = part.header.key_bytes as usize;
    if !matches!(width, 2 | 4 | 8 | 16) {
        return Err(part.corrupt(40, "key size", "2, 4, 8 or 16", width));
    }
    let mut expected = part.footer.records.saturating_mul(width as u64);
    if part.header.kind == Kind::Fingerprints {
        // Each block is followed by a checksum.
        let index = (HEADER_BYTES as u64).saturating_add(expected);
        let found = part.footer.index_offset;
        if found != index {
            let at = part.payload_end() + 16;
            return Err(part.corrupt(at, "offset of the checksums", index, found));
        }
        expected = expected.saturating_add(expected.div_ceil(SET_BLOCK_BYTES as u64) * 8);
    }
    if part.footer.payload_bytes != expected {
        let (at, found) = (part.payload_end(), part.footer.payload_bytes);
        return Err(part.corrupt(at, "bytes of payload", expected, found));
    }
    Ok(width)
}

fn out_of_order(path: &Path, at: u64) -> Error {
    Error::corrupt(path, format!("order of record {at}"))
        .expected("not less than its predecessor", "less")
}

fn decode_run<K: Key>(
    path: &Path,
    kind: Kind,
    (parameters, info): Said<'_>,
    show: &mut Show<'_>,
) -> Result<()> {
    let run = RunFile::<K>::open(kind, path, parameters, info)?;
    let mut cursor = run.range(K::default(), K::MAX)?;
    let (mut records, mut before) = (0, None);
    while let Some(record) = cursor.head() {
        if before.replace(record) > Some(record) {
            return Err(out_of_order(path, records));
        }
        records += 1;
        let (key, value) = (record.key.to_u128(), record.value);
        let text = || match kind {
            Kind::Pairs => format!("{} {} {value}", key >> 32, key & u128::from(u32::MAX)),
            _ => format!("{key:0digits$x} {value}", digits = K::BYTES * 2),
        };
        if !show.record(|| Ok(text()))? {
            return Ok(());
        }
        cursor.advance()?;
    }
    all_there(path, run.records(), records)
}

fn decode_postings<K: Key>(
    path: &Path,
    (parameters, info): Said<'_>,
    documents: u64,
    show: &mut Show<'_>,
) -> Result<()> {
    let mut reader = PostingsReader::<K>::open(path, parameters, info)?.of(documents);
    let (mut lists, mut before) = (0, None);
    while let Some(block) = reader.next()? {
        let mut rest = &block.documents[..];
        for (&key, &length) in block.keys.iter().zip(&block.lengths) {
            let (list, after) = rest.split_at(length as usize);
            rest = after;
            if before >= Some(key) || list.windows(2).any(|pair| pair[0] >= pair[1]) {
                return Err(out_of_order(path, lists));
            }
            before = Some(key);
            lists += 1;
            let text = || format!("{key:0digits$x} {list:?}", digits = K::BYTES * 2);
            if !show.record(|| Ok(text()))? {
                return Ok(());
            }
        }
    }
    // Checks the number of lists.
    reader.finish()
}

/// A text consists of whole characters, though its pieces may not.
fn decode_texts(path: &Path, (parameters, info): Said<'_>, show: &mut Show<'_>) -> Result<()> {
    let mut reader = TextReader::open(path, parameters, info)?;
    let (mut texts, mut bytes) = (0, Vec::new());
    while let Some(length) = reader.next_length()? {
        let mut valid = Utf8Check::default();
        bytes.clear();
        while let Some(piece) = reader.piece()? {
            valid.push(piece);
            if show.left > 0 && bytes.len() < SHOWN_BYTES {
                bytes.extend_from_slice(piece);
            }
        }
        if !valid.is_valid() {
            return Err(Error::corrupt(path, format!("text {texts}"))
                .expected("UTF-8", "bytes that are none"));
        }
        texts += 1;
        let shown = || {
            // A text that is too long is cut at the end of a character.
            let mut shown = bytes.len().min(SHOWN_BYTES);
            while shown < bytes.len() && bytes[shown] & 0xc0 == 0x80 && shown > 0 {
                shown -= 1;
            }
            let text = json(path, &String::from_utf8_lossy(&bytes[..shown]))?;
            Ok(match length - shown as u64 {
                0 => text,
                more => format!("{text} and {more} bytes more"),
            })
        };
        if !show.record(shown)? {
            return Ok(());
        }
    }
    reader.finish()
}

fn all_there(path: &Path, expected: u64, found: u64) -> Result<()> {
    match expected == found {
        true => Ok(()),
        false => Err(Error::corrupt(path, "records").expected(expected, found)),
    }
}

/// Whether the beginning of a file is UTF-8 without a zero byte.
fn is_text(path: &Path) -> Result<bool> {
    let mut beginning = vec![0; 64 << 10];
    let read = disk::read_some(&mut disk::open(path)?, &mut beginning, path)?;
    // An incomplete sequence at the end may be the beginning of a character.
    let valid = match std::str::from_utf8(&beginning[..read]) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    Ok(valid && !beginning[..read].contains(&0))
}

/// The kind of a text file, by its name.
fn text_file(path: &Path) -> &'static str {
    match path.file_name().and_then(|name| name.to_str()) {
        Some("pairs.tsv") => "the pairs that were found, one per line",
        Some("review.tsv") => "the pairs below the threshold, one per line",
        Some("clusters.jsonl") => "the clusters, one per line, with their documents",
        Some("exact-duplicates.tsv") => "the exact duplicates, each with its representative",
        Some("documents.tsv") => "the documents, one per line, with their clusters",
        Some("rejects.jsonl") => "rejects and warnings, one per line",
        Some("summary.json") => "the counts and costs of all stages",
        Some("manifest.json") => "the list of the committed files",
        Some("inputs.jsonl") => "the list of the input files",
        Some("plan.toml") => "a sampling plan",
        Some("sets.jsonl") => "the documents of each key",
        Some("report.html") => "a page for a browser",
        _ => "not a file in lookalike's own format",
    }
}

/// Limit on the bytes of a text that are printed.
const SHOWN_BYTES: usize = 1 << 20;

/// Prints header, footer and up to `most` records of any part; `line` returns whether to continue.
pub fn inspect(path: &Path, most: u64, line: &mut dyn FnMut(String) -> Result<bool>) -> Result<()> {
    let header = match read_header(path) {
        Err(Error::NotOurs { .. } | Error::Truncated { .. }) if is_text(path)? => {
            let help = match path.extension().is_some_and(|end| end == "html") {
                true => "open it in a browser".into(),
                false => format!("read it with `less {}`", path.display()),
            };
            let what = format!(" is a text file: {}", text_file(path));
            return Err(Error::of(path, what, help));
        }
        header => header?,
    };
    let part = PartFile::open(path, header.kind, None, None)?;
    let footer = part.footer;
    let kind = format!("{:?}", header.kind).to_lowercase();
    let first = format!(
        "# {kind} part {}, format {}, parameters {:032x}, key bytes {}",
        header.number, header.version, header.parameters, header.key_bytes
    );
    let second = format!(
        "# {} records, {} bytes of payload, index at {}, extra {}, checksum {:016x}",
        footer.records, footer.payload_bytes, footer.index_offset, footer.extra, footer.checksum
    );
    if !(line(first)? && line(second)?) {
        return Ok(());
    }
    let mut show = Show {
        left: most,
        line: Some(line),
    };
    decode(path, header.kind, (None, None), u64::MAX, &mut show)
}

fn json<T: serde::Serialize>(path: &Path, value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|e| Error::io("print", path)(e.into()))
}

/// Each stage and its state.
pub fn stages(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let done = |yes: bool, doing: String| if yes { "done".to_string() } else { doing };
    let waiting = || "not begun".to_string();
    let segments = collection::segments(manifest);
    let place = segments.last().map_or(0, |segment| segment.next.file);
    let read = counted(segments.len() as u64, "segment");
    let files = manifest.inputs.files;
    let reading = format!("{read} committed, in file {place} of {files}");
    let sample = manifest.get::<SampleEntry>();
    let sort = manifest.get::<RunsEntry>().map_or_else(waiting, |runs| {
        let (number, records) = (runs.stats.runs, counted(runs.stats.records, "record"));
        done(
            runs.complete,
            format!("{}, {records}", counted(number, "run")),
        )
    });
    let merge = manifest.get::<PostingsEntry>();
    let merge = merge.map_or_else(waiting, |postings| {
        let ranges = counted(postings.ranges.into(), "range");
        done(
            postings.complete,
            format!("{} of {ranges}", postings.parts.len()),
        )
    });
    let join = match (manifest.get::<PairsEntry>(), manifest.get::<JoinProgress>()) {
        (Some(pairs), _) => format!("done (threshold {})", pairs.config.threshold),
        (None, Some(joining)) => match (&joining.stats.count, &joining.stats.prefix) {
            (Some(stats), _) => format!("{} counted", counted(stats.pair_tokens, "pair token")),
            (_, Some(stats)) if joining.prefix.is_some() => {
                let all = counted(stats.spilled, "candidate");
                format!("{} of {all} looked at", count(stats.candidates))
            }
            _ => "begun".into(),
        },
        (None, None) => waiting(),
    };
    let cluster = match manifest.has::<PairsEntry>() {
        true => "no result files; `lookalike stage cluster` writes them".to_string(),
        false => waiting(),
    };
    let mut out = vec![
        ("ingest", done(collection::ingested(manifest), reading)),
        (
            "catalogue",
            done(manifest.has::<CatalogueEntry>(), waiting()),
        ),
        (
            "sample",
            sample.map_or_else(waiting, |s| format!("done ({})", s.sampling)),
        ),
        ("sort", sort),
        ("merge", merge),
        ("join", join),
        ("cluster", done(manifest.has::<ResultsEntry>(), cluster)),
    ];
    // A search that has ended leaves no checkpoint.
    if let Some(begun) = manifest.get::<Checkpoint>() {
        let complete = begun.sorts.values().filter(|sort| sort.complete).count();
        let files: usize = begun.steps.values().map(|step| step.files.len()).sum();
        let [complete, files] = [complete, files].map(|n| n as u64);
        let (complete, files) = (counted(complete, "sort"), counted(files, "file"));
        out.push((
            "passages",
            format!("begun: {complete} complete, {files} written"),
        ));
    }
    out
}
