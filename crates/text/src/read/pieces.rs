//! Pieces of a large file that several threads can read at the same time.
//!
//! A file that is not compressed is cut where a record certainly begins: at a place that a reader
//! of the whole file reaches between two records, whatever came before. So the pieces, one after
//! the other, have the same records as the file. Such places are found in JSON, in bundles of TREC
//! and Reuters, in tables without quotes, and in text that is split at lines; other files are not cut. A Parquet file is cut
//! between row groups.
//!
//! In markup that is split at elements, no place is certain: it may be in a comment, or in a larger
//! element of the same name. So the records are found by a reader of the whole file before it is
//! cut, at several times the speed at which a thread takes documents in.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};

use super::ground::config::ReadConfig;
use super::ground::framer::{Cuts, Framer};
use super::ground::record::{Batch, Part, RecordKind};
use super::inputs::InputFile;
use super::reader::{RecordReader, State};
use lookalike_base::Stop;
use lookalike_source::{Codec, compression_of, read_all_at};
use lookalike_store::{File, disk, remote};

/// How far after its intended beginning a piece may begin.
const SEARCH: usize = 4 << 20;
/// Bytes read at a time while a beginning is searched.
const STEP: usize = 64 << 10;

/// Consecutive inputs, or a piece of one, that one thread reads.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// The indices of its inputs.
    pub files: Range<u32>,
    /// The piece, if it is not whole inputs.
    pub piece: Option<Piece>,
    /// Their bytes on disk.
    pub bytes: u64,
}

impl Stretch {
    /// Cuts the inputs from the one with the index `first` on into stretches of at least `least`
    /// bytes, and large files into pieces of about `of_piece`. If a stop is requested, the
    /// stretches may not be these, and the caller has to stop.
    pub fn all(
        inputs: &[InputFile],
        first: u32,
        config: &ReadConfig,
        [least, of_piece]: [u64; 2],
        stop: &Stop,
    ) -> Vec<Stretch> {
        let mut all = Vec::new();
        let mut add = |files, piece, bytes| {
            all.push(Stretch {
                files,
                piece,
                bytes,
            })
        };
        let (mut begin, mut bytes) = (first, 0);
        for (file, input) in (first..).zip(inputs.get(first as usize..).unwrap_or_default()) {
            let pieces = Piece::all(input, file, config, of_piece, stop);
            if !pieces.is_empty() {
                if begin < file {
                    add(begin..file, None, bytes);
                }
                for piece in pieces {
                    let bytes = piece.bytes();
                    add(file..file + 1, Some(piece), bytes);
                }
                (begin, bytes) = (file + 1, 0);
                continue;
            }
            bytes += input.size();
            // The length of standard input is unknown.
            let endless = input.identity.is_none() && input.path == Path::new("-");
            if bytes >= least || endless || file as usize + 1 == inputs.len() {
                add(begin..file + 1, None, bytes);
                (begin, bytes) = (file + 1, 0);
            }
        }
        all
    }
}

/// A file in pieces.
#[derive(Debug)]
pub struct Pieces {
    input: InputFile,
    file: u32,
    config: ReadConfig,
    /// Where each piece begins, and where the last one ends: bytes, or row groups of a Parquet
    /// file.
    bounds: Vec<u64>,
    /// The bytes of each piece of a Parquet file.
    sizes: Option<Vec<u64>>,
    /// Records and rejects in each piece, once somebody has counted them.
    counts: Vec<OnceLock<u64>>,
    /// Error number of a failure of the disk while records were counted.
    failure: AtomicI32,
}

/// A piece of a file.
#[derive(Clone, Debug)]
pub struct Piece {
    pieces: Arc<Pieces>,
    index: usize,
}

impl Piece {
    /// Cuts a file into pieces of about `bytes`, if it is large enough, and if there are places
    /// where it can be cut.
    ///
    /// If a stop is requested, the file may not be cut, and the caller has to stop.
    pub fn all(
        input: &InputFile,
        file: u32,
        config: &ReadConfig,
        bytes: u64,
        stop: &Stop,
    ) -> Vec<Piece> {
        let found = bounds(input, config, bytes, stop).unwrap_or_default();
        let pieces = found.begins.len().saturating_sub(1);
        if pieces < 2 {
            return Vec::new();
        }
        let mut counts = found.counts.into_iter().map(OnceLock::from);
        let all = Arc::new(Pieces {
            input: input.clone(),
            file,
            config: config.clone(),
            counts: (0..pieces)
                .map(|_| counts.next().unwrap_or_default())
                .collect(),
            bounds: found.begins,
            sizes: found.sizes,
            failure: AtomicI32::new(0),
        });
        let piece = |index| Piece {
            pieces: all.clone(),
            index,
        };
        (0..pieces).map(piece).collect()
    }

    /// Its bytes in the file.
    pub fn bytes(&self) -> u64 {
        match &self.pieces.sizes {
            Some(sizes) => sizes[self.index],
            None => self.end() - self.begin(),
        }
    }

    /// Its first byte in the file, or its first row group.
    pub fn begin(&self) -> u64 {
        self.pieces.bounds[self.index]
    }

    /// Where the next piece begins, or the file ends.
    pub fn end(&self) -> u64 {
        self.pieces.bounds[self.index + 1]
    }

    /// Whether the file ends with it.
    pub fn is_last(&self) -> bool {
        self.index + 1 == self.pieces.counts.len()
    }

    /// Opens it for reading. The first record reports any error.
    pub fn open(&self, stop: &Stop) -> RecordReader {
        let all = &*self.pieces;
        let (input, file, config) = (&all.input, all.file, &all.config);
        if all.sizes.is_some() {
            let groups = self.begin()..self.end();
            return RecordReader::open_groups(input, file, config, stop, groups);
        }
        let until = (!self.is_last()).then_some(self.end());
        RecordReader::open_part(input, file, config, stop, Arc::new(self.clone()), until)
    }

    /// Says how many records and rejects with a number a reader of the piece has delivered.
    pub fn counted(&self, records: u64) {
        // Somebody may have counted them already, and found the same number.
        let _ = self.pieces.counts[self.index].set(records);
    }

    /// The failure of the disk, if there was one while records were counted: names that were made
    /// from the count are wrong.
    pub fn failure(&self) -> Option<io::Error> {
        let failure = self.pieces.failure.load(Ordering::Relaxed);
        (failure != 0).then(|| remote::failed(failure))
    }

    fn count(&self) -> u64 {
        let mut reader = self.open(&Stop::default());
        let mut batch = Batch::default();
        while reader.next_of(&mut batch).is_some() {}
        if let Some(error) = reader.failure() {
            let number = remote::number_of(&error).unwrap_or(i32::MAX);
            self.pieces.failure.store(number, Ordering::Relaxed);
        }
        reader.number
    }
}

impl Part for Piece {
    fn begin(&self) -> u64 {
        self.begin()
    }

    /// Reads the pieces that nobody has read yet.
    fn records_before(&self) -> u64 {
        let count = |index: usize| {
            let pieces = self.pieces.clone();
            *self.pieces.counts[index].get_or_init(|| Piece { pieces, index }.count())
        };
        (0..self.index).map(count).sum()
    }
}

/// Where a file is cut.
#[derive(Default)]
struct Bounds {
    /// Where the pieces begin, and where the file ends.
    begins: Vec<u64>,
    /// The bytes of the pieces, if the places are not bytes.
    sizes: Option<Vec<u64>>,
    /// The number of records of each of the first pieces, as far as known.
    counts: Vec<u64>,
}

fn bounds(input: &InputFile, config: &ReadConfig, bytes: u64, stop: &Stop) -> io::Result<Bounds> {
    let size = input.size();
    let mut bounds = vec![0];
    if bytes == 0 || size / 2 < bytes || input.problem.is_some() {
        return Ok(Bounds::default());
    }
    let file = disk::open_input(&input.path)?;
    let mut head = vec![0; 16];
    read_all_at(&file, &mut head, 0)?;
    if !matches!(compression_of(&head), None | Some(Codec::None)) {
        return Ok(Bounds::default());
    }
    let framer = match RecordReader::framing(input, config)? {
        Some(State::Framed(_, framer)) => framer,
        Some(State::Parquet(mut framer)) => {
            let (begins, sizes) = framer.cuts(bytes);
            return Ok(Bounds {
                begins,
                sizes: Some(sizes),
                counts: Vec::new(),
            });
        }
        _ => return Ok(Bounds::default()),
    };
    match framer.cuts() {
        Cuts::Certain => {}
        Cuts::Found => return found_by_reading(input, config, (bytes, size), stop),
        Cuts::Nowhere => return Ok(Bounds::default()),
    }
    let mut from = bytes;
    // The last piece is not much smaller than the others.
    while from + bytes / 2 < size {
        if stop.requested() {
            return Ok(Bounds::default());
        }
        match next_begin(&file, &*framer, from)? {
            Some(begin) => {
                bounds.push(begin);
                from = begin + bytes;
            }
            None => from += SEARCH as u64,
        }
    }
    bounds.push(size);
    Ok(Bounds {
        begins: bounds,
        ..Bounds::default()
    })
}

/// Cuts a file of this size before records that a reader of all of it finds.
fn found_by_reading(
    input: &InputFile,
    config: &ReadConfig,
    (bytes, size): (u64, u64),
    stop: &Stop,
) -> io::Result<Bounds> {
    let mut reader = RecordReader::open(input, 0, config, stop);
    let mut batch = Batch::default();
    let (mut begins, mut counts) = (vec![0], vec![0]);
    let mut from = bytes;
    // The last piece is not much smaller than the others.
    while from + bytes / 2 < size
        && let Some((record, _)) = reader.next_of(&mut batch)
    {
        if stop.requested() {
            return Err(io::Error::other("a stop was asked for"));
        }
        if record.source.offset >= from && record.source.length > 0 {
            begins.push(record.source.offset);
            counts.push(0);
            from = record.source.offset + bytes;
        }
        if let Some(count) = counts.last_mut() {
            *count += u64::from(record.kind != RecordKind::Deletion);
        }
    }
    if let Some(error) = reader.failure() {
        return Err(error);
    }
    begins.push(size);
    // The records after the last place are not all counted.
    counts.pop();
    Ok(Bounds {
        begins,
        sizes: None,
        counts,
    })
}

/// The first place from `from` on where a record certainly begins.
fn next_begin(file: &File, framer: &dyn Framer, from: u64) -> io::Result<Option<u64>> {
    let mut window = Vec::new();
    while window.len() < SEARCH {
        // Twice as much each time, because all of it is searched again.
        let length = window.len();
        let mut step = vec![0; STEP.max(length)];
        read_all_at(file, &mut step, from + length as u64)?;
        let ended = step.len() < STEP.max(length);
        window.append(&mut step);
        if let Some(at) = framer.certain_begin(&window) {
            return Ok(Some(from + at as u64));
        }
        if ended {
            break;
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Record;
    use crate::read::ground::config::Format;
    use crate::read::ground::record::Origin;
    use proptest::prelude::*;
    use std::fs;

    /// Everything that a reader says about a record, with its number in the file.
    fn records(reader: &mut RecordReader, before: u64) -> Vec<(Record, Vec<u8>)> {
        let mut out = Vec::new();
        let mut batch = Batch::default();
        while reader.next_into(&mut batch) {
            let mut record = batch.records.pop().unwrap();
            let bytes = batch.bytes[record.bytes.clone()].to_vec();
            record.bytes = 0..0;
            assert_eq!(&*record.origin.name, "file");
            record.number += before;
            record.origin = Arc::new(Origin::default());
            out.push((record, bytes));
            batch.clear();
        }
        out
    }

    /// Reads a file whole and in pieces of about this many bytes; returns the number of pieces.
    fn same(bytes: &[u8], format: Option<Format>, each: u64, max_document: u64) -> usize {
        same_records(bytes, format, None, each, max_document)
    }

    fn same_records(
        bytes: &[u8],
        format: Option<Format>,
        record: Option<&str>,
        each: u64,
        max_document: u64,
    ) -> usize {
        let config = ReadConfig {
            format,
            record: record.map(Into::into),
            max_document: lookalike_base::byte_size::ByteSize(max_document),
            ..ReadConfig::default()
        };
        same_with(bytes, &config, each)
    }

    fn same_with(bytes: &[u8], config: &ReadConfig, each: u64) -> usize {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        fs::write(&path, bytes).unwrap();
        let input = InputFile {
            identity: Some(crate::read::FileIdentity::of(&path).unwrap()),
            ..InputFile::named(path, "file")
        };
        let stop = Stop::default();
        let whole = records(&mut RecordReader::open(&input, 3, config, &stop), 0);
        let pieces = Piece::all(&input, 3, config, each, &stop);
        let mut found = Vec::new();
        for piece in &pieces {
            let before = found
                .last()
                .map_or(0, |(record, _): &(Record, _)| record.number);
            assert_eq!(piece.records_before(), before);
            found.extend(records(&mut piece.open(&stop), before));
        }
        if !pieces.is_empty() {
            assert!(found == whole, "{:?}\n{:?}", found, whole);
            assert_eq!(pieces[0].begin(), 0);
            assert_eq!(pieces[pieces.len() - 1].end(), bytes.len() as u64);
        }
        pieces.len()
    }

    const JSON: &[&str] = &[
        "{\"id\":\"a\",\"text\":\"some words\"}\n",
        "{\"text\":\"no name\"}\n",
        "{\"a\":\n{\"b\":[1,\n{\"c\":2}]}}\n",
        "{\n \"a\": [\n{},\n{}\n]\n}\n",
        "{\"cut\":\"in a string\n",
        "{\"cut\":\"after a backslash\\\n",
        "{\"cut\":{\n",
        "{\"cut\":[\n",
        "{\"cut\":1,\n",
        "[\n",
        "[{\"x\":1},\n",
        "]\n",
        "}\n",
        ",\n",
        "\n",
        "  \t\r\n",
        "garbage\n",
        "garbage,\n",
        "\"\n",
        "{\"quoted\":\"\\\"\\n{\"}\n",
        "{\"a\":1}{\"b\":2}\n",
        "\u{feff}{\"after\":\"a mark\"}\n",
        "\u{1e}{\"after\":\"a separator\"}\n",
        "{\"cut\": \u{1e}",
        "\u{feff}",
        "{\"cut\": é",
        "\r\n{\"long\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}",
    ];

    const TREC: &[&str] = &[
        "<DOC>\n<DOCNO> a </DOCNO>\nwords\n</DOC>\n",
        "<DOC><DOCNO>b</DOCNO>words</DOC>\n",
        "<DOC id=\"c\">\nwords\n</DOC>\n",
        "<DOC>\nno name\n</DOC>\n",
        "<DOC>\n<DOCNO>open</DOCNO>\n",
        "</DOC>\n",
        "<!-- a comment -->\n",
        "<!-- an open comment\n",
        "-->\n",
        "<!DOCTYPE\n",
        "<?xml\n",
        ">\n",
        "stray\n",
        "DOC\n",
        "<DOC\n",
        "<DOC>\n",
        "  \n",
        "\r",
        "<DOC>                                                          \n<DOCNO>far</DOCNO></DOC>\n",
        "<doc>\n<docno>lower</docno>\n</doc>\n",
        "<Doc id=\"d\">\nwords\n</doc>\n",
        "</doc>\n",
        "<doc>\n",
        "<add>\n",
        "</add>\n",
    ];

    const LINES: &[&str] = &[
        "7\tsome words\n",
        "8\t\"more\n",
        "q\n",
        "\n",
        "\r\n",
        "9\twords\tand words\r\n",
        "\t\n",
        "10\t\"\"\r\n",
        "\r",
    ];

    const TEXT: &[&str] = &[
        "A begins\n",
        "b\n",
        "some words\r\n",
        "\n",
        "\r\n",
        " \n",
        "AA",
        "x A\n",
    ];

    const ACTIONS: &[&str] = &[
        "{\"index\":{\"_id\":\"a\"}}\n",
        "{\"text\":\"some words\"}\n",
        "{\"delete\":{\"_id\":\"a\"}}\n",
        "{\"update\":{}}\r\n",
        "{\"index\":{\"_id\":\"a\"}}",
        "\n",
        "garbage\n",
    ];

    const MARKUP: &[&str] = &[
        "<p>words</p>\n",
        "<p a='>'/>",
        "<p><p>inner</p></p>\n",
        "<p>open\n",
        "<p a=\"open\n",
        "</p>\n",
        "<!-- <p>no</p> -->\n",
        "<!-- open\n",
        "-->\n",
        "<![CDATA[\n",
        "]]>\n",
        "<? <p>\n",
        "?>\n",
        "<root>\n",
        "words\n",
        "<!DOCTYPE a [ '<p>'\n",
        "]>\n",
        "\"",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        /// The records of the pieces are the records of the file, whatever is in it.
        #[test]
        fn pieces_have_the_records_of_the_file(
            lines in proptest::collection::vec(0usize..200, 1..60),
            each in 1u64..300,
            most in prop_oneof![Just(40u64), Just(1 << 20)],
        ) {
            for (format, parts) in [
                (Format::Jsonl, JSON),
                (Format::TrecSgml, TREC),
                (Format::Tsv, LINES),
            ] {
                // Sound records are more frequent than others.
                let text: String = lines
                    .iter()
                    .map(|&line| parts[if line < 80 { line % parts.len() } else { line % 3 }])
                    .collect();
                same(text.as_bytes(), Some(format), each, most);
                same(text.as_bytes(), None, each, most);
                if format == Format::TrecSgml {
                    let lower = format!("<add>\n{}", text.to_ascii_lowercase());
                    same(lower.as_bytes(), Some(format), each, most);
                }
            }
            for expression in ["^A", "^A|^$", "s$", "^A|^(?<end>b)"] {
                let config = ReadConfig {
                    split_at: expression.parse().ok(),
                    max_document: lookalike_base::byte_size::ByteSize(most),
                    ..ReadConfig::default()
                };
                let text: String = lines.iter().map(|&line| TEXT[line % TEXT.len()]).collect();
                same_with(text.as_bytes(), &config, each);
            }
            let text: String = lines.iter().map(|&line| ACTIONS[line % ACTIONS.len()]).collect();
            same((ACTIONS[0].to_string() + &text).as_bytes(), None, each, most);
            let text: String = lines
                .iter()
                .map(|&line| MARKUP[if line < 80 { line % MARKUP.len() } else { line % 3 }])
                .collect();
            let text = format!("<root>{text}");
            same_records(text.as_bytes(), None, Some("p"), each, most);
        }
    }

    #[test]
    fn real_files_are_cut() {
        let lines = JSON[0].repeat(10_000);
        assert!(same(lines.as_bytes(), None, 30_000, 1 << 20) > 8);
        let lines = TREC[0].repeat(10_000);
        assert!(same(lines.as_bytes(), None, 41_000, 1 << 20) > 8);
        let lines = "7\twords, \"words\n".repeat(10_000);
        assert!(same(lines.as_bytes(), Some(Format::Tsv), 30_000, 1 << 20) > 3);
        let lines = "id\ttext\n7\twords, \"word\" and\n";
        let lines = lines.to_string() + &"8\t\"words\n".repeat(10_000);
        assert!(same(lines.as_bytes(), Some(Format::Tsv), 20_000, 1 << 20) > 3);
        let reuters = "<REUTERS TOPICS=\"YES\" NEWID=\"1\">\n<BODY>words</BODY>\n</REUTERS>\n";
        let reuters = format!(
            "<!DOCTYPE lewis SYSTEM \"lewis.dtd\">\n{}",
            reuters.repeat(1000)
        );
        assert!(same(reuters.as_bytes(), None, 5000, 1 << 20) > 10);
        // A piece could begin in each of the comments.
        let pages = "<page>\n<!--\n</page>\n<page>\n-->\n<page>words</page>\n</page>\n";
        let pages = format!("<dump>\n{}</dump>\n", pages.repeat(1000));
        let pieces = same_records(pages.as_bytes(), None, Some("page"), 5000, 1 << 20);
        assert!(pieces > 8);
    }

    #[test]
    fn sections_are_cut_where_a_line_matches() {
        let config = ReadConfig {
            split_at: "^A".parse().ok(),
            ..ReadConfig::default()
        };
        let text = "head\n".to_string() + &"A section\nof lines\n\n".repeat(10_000);
        assert!(same_with(text.as_bytes(), &config, 30_000) > 5);
        let text = "lines\n".repeat(100_000) + "A\n";
        assert_eq!(same_with(text.as_bytes(), &config, 30_000), 2);
        let actions = (ACTIONS[0].to_string() + ACTIONS[1]).repeat(10_000);
        assert!(same(actions.as_bytes(), None, 30_000, 1 << 20) > 5);
    }

    #[test]
    fn what_cannot_be_cut_is_not() {
        // An array has its commas at the ends of lines.
        let array = format!("[\n{}{{}}\n]\n", "{\"id\":\"a\"},\n".repeat(1000));
        assert_eq!(same(array.as_bytes(), None, 1000, 1 << 20), 0);
        let text = "A text of lines.\n".repeat(1000);
        assert_eq!(same(text.as_bytes(), None, 1000, 1 << 20), 0);
        let lines = JSON[0].repeat(1000);
        // A cell in quotes may have any line.
        let table = format!("id,text\n{}", "1,\"a\n2,b\"\n".repeat(1000));
        assert_eq!(same(table.as_bytes(), Some(Format::Csv), 1000, 1 << 20), 0);
        let gzip = zstd::encode_all(lines.as_bytes(), 1).unwrap();
        assert_eq!(same(&gzip, None, 10, 1 << 20), 0);
        // Too small for two.
        assert_eq!(same(lines.as_bytes(), None, lines.len() as u64, 1 << 20), 0);
    }
}
