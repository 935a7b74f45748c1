//! Parquet files give the same documents as the same rows in JSONL, and damage in one row group
//! costs only that row group.

use super::reading::lines;
use crate::common::one_in;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use ::parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use ::parquet::data_type::{
    ByteArray, ByteArrayType, DataType, FixedLenByteArray, FixedLenByteArrayType, Int64Type,
};
use ::parquet::file::properties::{WriterProperties, WriterVersion};
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::parser::parse_message_type;
use lookalike::base::budget::ByteSize;
use lookalike::base::progress::Stop;
use lookalike::text::read::{
    Batch, Format, Interpreted, Piece, ReadConfig, Reason, RecordReader, Reject, interpret,
    list_inputs,
};

use tempfile::TempDir;

/// One row of the test files.
#[derive(Clone, Debug)]
struct Row {
    id: Option<i64>,
    url: Option<String>,
    text: Option<String>,
    turns: Vec<Option<String>>,
    uuid: [u8; 16],
}

const SCHEMA: &str = "message rows {
    optional int64 id;
    optional binary url (STRING);
    optional binary text (STRING);
    required group page { optional binary body (STRING); }
    optional group messages (LIST) {
        repeated group list {
            optional group element { optional binary content (STRING); }
        }
    }
    required fixed_len_byte_array(16) uuid (UUID);
    required boolean flag;
}";

fn rows() -> Vec<Row> {
    let words = ["apple", "pear", "quince", "medlar", "plum"];
    (0..1000u64)
        .map(|n| {
            let text: Vec<&str> = (0..n % 40)
                .map(|word| words[((n / 3 + word * word) % 5) as usize])
                .collect();
            Row {
                id: (n % 7 != 3).then_some(n as i64 * 3 - 50),
                url: (n % 5 != 0).then(|| format!("http://x.example/{n}")),
                text: (n % 11 != 5).then(|| format!("{} äö {n}", text.join(" "))),
                turns: (0..n % 4)
                    .map(|turn| (turn != 1).then(|| format!("turn {turn} of {n}")))
                    .collect(),
                uuid: std::array::from_fn(|byte| (n as usize * 7 + byte * 31) as u8),
            }
        })
        .collect()
}

fn column<D: DataType>(
    group: &mut SerializedRowGroupWriter<'_, fs::File>,
    values: &[D::T],
    levels: (&[i16], &[i16]),
) {
    let mut column = group.next_column().unwrap().unwrap();
    let levels = [levels.0, levels.1].map(|levels| (!levels.is_empty()).then_some(levels));
    let writer = column.typed::<D>();
    writer.write_batch(values, levels[0], levels[1]).unwrap();
    column.close().unwrap();
}

fn optional<D: DataType, V>(
    group: &mut SerializedRowGroupWriter<'_, fs::File>,
    rows: &[Row],
    value: impl Fn(&Row) -> Option<V>,
) where
    D::T: From<V>,
{
    let found: Vec<Option<V>> = rows.iter().map(value).collect();
    let levels: Vec<i16> = found
        .iter()
        .map(|value| i16::from(value.is_some()))
        .collect();
    let values: Vec<D::T> = found.into_iter().flatten().map(D::T::from).collect();
    column::<D>(group, &values, (&levels, &[]));
}

fn write(path: &Path, rows: &[Row], properties: WriterProperties, group_rows: usize) {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let file = fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    for rows in rows.chunks(group_rows) {
        let mut group = writer.next_row_group().unwrap();
        let bytes = |text: &String| ByteArray::from(text.as_str());
        optional::<Int64Type, _>(&mut group, rows, |row| row.id);
        optional::<ByteArrayType, _>(&mut group, rows, |row| row.url.as_ref().map(bytes));
        optional::<ByteArrayType, _>(&mut group, rows, |row| row.text.as_ref().map(bytes));
        optional::<ByteArrayType, _>(&mut group, rows, |row| row.text.as_ref().map(bytes));
        let (mut values, mut definitions, mut repetitions) = (vec![], vec![], vec![]);
        for row in rows {
            if row.turns.is_empty() {
                definitions.push(1);
                repetitions.push(0);
            }
            for (at, turn) in row.turns.iter().enumerate() {
                definitions.push(if turn.is_some() { 4 } else { 3 });
                repetitions.push(i16::from(at > 0));
                values.extend(turn.as_ref().map(bytes));
            }
        }
        column::<ByteArrayType>(&mut group, &values, (&definitions, &repetitions));
        let uuids: Vec<FixedLenByteArray> = rows
            .iter()
            .map(|row| ByteArray::from(row.uuid.to_vec()).into())
            .collect();
        column::<FixedLenByteArrayType>(&mut group, &uuids, (&[], &[]));
        let flags = vec![true; rows.len()];
        column::<::parquet::data_type::BoolType>(&mut group, &flags, (&[], &[]));
        group.close().unwrap();
    }
    writer.close().unwrap();
}

/// Docno, URL and text of each document, and the rejects.
type Found = (Vec<(String, Option<String>, String)>, Vec<Reject>);

fn drain(mut reader: RecordReader, config: &ReadConfig) -> Found {
    let (mut documents, mut rejects) = (Vec::new(), Vec::new());
    let mut batch = Batch::default();
    while reader.next_into(&mut batch) {}
    assert!(reader.failure().is_none());
    for record in &batch.records {
        match interpret(record, &batch.bytes[record.bytes.clone()], config) {
            Interpreted::Document(document) => documents.push((
                document.docno.into_owned(),
                document.url.map(Into::into),
                String::from_utf8_lossy(&document.body).into_owned(),
            )),
            Interpreted::Rejected(reject) => rejects.push(reject),
            Interpreted::Skipped(kind) => panic!("{kind}"),
        }
    }
    (documents, rejects)
}

fn read(path: &Path, config: &ReadConfig) -> Found {
    let inputs = list_inputs(&[path.to_path_buf()]).unwrap();
    drain(
        RecordReader::open(&inputs[0], 0, config, &Stop::default()),
        config,
    )
}

/// The rows as JSON objects, with the docnos that a Parquet file gives them.
fn json(rows: &[Row]) -> String {
    let mut lines = String::new();
    for (n, row) in rows.iter().enumerate() {
        let id = row
            .id
            .map_or(format!("rows.parquet:{}", n + 1), |id| id.to_string());
        let mut object = serde_json::json!({ "id": id, "url": row.url, "text": row.text });
        object["turns"] = row.turns.iter().flatten().cloned().collect();
        lines += &format!("{object}\n");
    }
    lines
}

fn by_fields(text: Option<&str>, id: Option<&str>) -> ReadConfig {
    ReadConfig {
        text_field: text.map(Into::into),
        id_field: id.map(Into::into),
        ..ReadConfig::default()
    }
}

fn properties() -> Vec<WriterProperties> {
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ];
    let mut all = Vec::new();
    for codec in codecs {
        for (version, dictionary) in [
            (WriterVersion::PARQUET_1_0, true),
            (WriterVersion::PARQUET_1_0, false),
            (WriterVersion::PARQUET_2_0, false),
        ] {
            let builder = WriterProperties::builder()
                .set_compression(codec)
                .set_writer_version(version)
                .set_dictionary_enabled(dictionary)
                .set_data_page_size_limit(1000)
                .set_write_batch_size(16);
            all.push(builder.build());
        }
    }
    all
}

#[test]
fn rows_are_the_objects_of_jsonl() {
    let dir = TempDir::new().unwrap();
    let (parquet, jsonl) = (
        dir.path().join("rows.parquet"),
        dir.path().join("rows.jsonl"),
    );
    let rows = rows();
    fs::write(&jsonl, json(&rows)).unwrap();
    let plain = read(&jsonl, &by_fields(None, None));
    let mut turns = read(&jsonl, &by_fields(Some("turns"), None)).0;
    // A list without a value is no text in Parquet, where null and an empty list look alike.
    turns.retain(|(.., text)| !text.is_empty());
    assert!(turns.len() > 700 && plain.0.len() > 900, "{}", turns.len());
    for properties in properties() {
        for group_rows in [1000, 170] {
            write(&parquet, &rows, properties.clone(), group_rows);
            let (documents, rejects) = read(&parquet, &by_fields(None, None));
            assert_eq!(documents, plain.0);
            let places: Vec<_> = rejects
                .iter()
                .map(|r| (r.source.offset, r.source.length))
                .collect();
            let missing = (0..1000).filter(|n| n % 11 == 5).map(|n| (n, 1));
            assert_eq!(places, missing.collect::<Vec<_>>());
            assert!(rejects.iter().all(|r| r.reason == Reason::MissingText));
            assert_eq!(
                read(&parquet, &by_fields(Some("page.body"), None)).0,
                plain.0
            );
            for path in [
                "messages.content",
                "messages[].content",
                "messages.list.element.content",
            ] {
                assert_eq!(read(&parquet, &by_fields(Some(path), None)).0, turns);
            }
        }
    }
}

/// Several columns are one text, as several fields are.
#[test]
fn several_columns_are_the_fields_of_jsonl() {
    let dir = TempDir::new().unwrap();
    let (parquet, jsonl) = (
        dir.path().join("rows.parquet"),
        dir.path().join("rows.jsonl"),
    );
    let rows = rows();
    fs::write(&jsonl, json(&rows)).unwrap();
    write(&parquet, &rows, WriterProperties::default(), 170);
    for (columns, fields) in [
        ("url,text", "url,text"),
        ("text,url", "text,url"),
        ("messages[].content,text", "turns,text"),
        ("text,messages.content,none", "text,turns,none"),
        ("text,text", "text,text"),
    ] {
        let mut expected = read(&jsonl, &by_fields(Some(fields), None)).0;
        // A list without a value is no text in Parquet, where null and an empty list look alike.
        expected.retain(|(.., text)| !text.is_empty());
        let (found, rejects) = read(&parquet, &by_fields(Some(columns), None));
        assert!(found.len() > 900);
        assert_eq!(found, expected, "{columns}");
        assert_eq!(found.len() + rejects.len(), rows.len(), "{columns}");
    }
    // The limit holds for all of them together.
    let config = ReadConfig {
        max_document: ByteSize(100),
        ..by_fields(Some("text,text"), None)
    };
    let (found, rejects) = read(&parquet, &config);
    let doubled = |row: &Row| row.text.as_ref().map_or(0, |text| 2 * text.len() + 1);
    let large = rows.iter().filter(|row| doubled(row) > 100).count();
    assert!(large > 100 && found.len() > 100);
    let too_large = |reject: &&Reject| reject.reason == Reason::TooLarge;
    assert_eq!(rejects.iter().filter(too_large).count(), large);
}

#[test]
fn a_uuid_is_written_as_such() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("rows.parquet");
    let rows = rows();
    write(&path, &rows[1..2], WriterProperties::default(), 10);
    let (documents, _) = read(&path, &by_fields(None, Some("uuid")));
    assert_eq!(documents[0].0, "07264564-83a2-c1e0-ff1e-3d5c7b9ab9d8");
}

#[test]
fn a_row_larger_than_the_limit_is_rejected_alone() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("rows.parquet");
    let mut rows = rows();
    rows[500].text = Some("x".repeat(5000));
    write(&path, &rows, WriterProperties::default(), 1000);
    let config = ReadConfig {
        max_document: ByteSize(4999),
        ..ReadConfig::default()
    };
    let (documents, rejects) = read(&path, &config);
    let large: Vec<_> = rejects
        .iter()
        .filter(|r| r.reason == Reason::TooLarge)
        .collect();
    assert_eq!(large.len(), 1, "{large:?}");
    assert_eq!(large[0].source.offset, 500);
    assert_eq!(large[0].detail, "5000 bytes, at most 4999 are read");
    assert_eq!(documents.len() + rejects.len(), 1000);
}

#[test]
fn a_file_without_the_column_rejects_each_row() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("rows.parquet");
    write(&path, &rows()[..20], WriterProperties::default(), 7);
    let (documents, rejects) = read(&path, &by_fields(Some("txt"), Some("nobody")));
    assert!(documents.is_empty());
    assert_eq!(rejects.len(), 20);
    assert_eq!(rejects[19].docno.as_deref(), Some("rows.parquet:20"));
    assert_eq!(rejects[19].reason, Reason::MissingText);
}

/// A file of a thousand rows in many row groups, one of which is damaged.
pub fn write_row_groups(path: &Path) {
    write(path, &rows(), WriterProperties::default(), 23);
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 40].fill(0xff);
    fs::write(path, bytes).unwrap();
}

/// The rows of pieces, one after the other, are those of the file, also if it is damaged.
#[test]
fn pieces_are_the_file() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("rows.parquet");
    write(&path, &rows(), WriterProperties::default(), 23);
    let sound = fs::read(&path).unwrap();
    let config = ReadConfig::default();
    let mut most = 0;
    for damage in (0..60).step_by(one_in(3)).map(|n| n * sound.len() / 59) {
        let mut bytes = sound.clone();
        if damage > 0 {
            bytes[damage - 1] ^= 0x55;
        }
        fs::write(&path, bytes).unwrap();
        let inputs = list_inputs(std::slice::from_ref(&path)).unwrap();
        let whole = read(&path, &config);
        for bytes in [1, 3_000, 20_000] {
            let pieces = Piece::all(&inputs[0], 0, &config, bytes, &Stop::default());
            most = most.max(pieces.len());
            let mut found: Found = Default::default();
            for piece in &pieces {
                let (documents, rejects) = drain(piece.open(&Stop::default()), &config);
                found.0.extend(documents);
                found.1.extend(rejects);
            }
            if !pieces.is_empty() {
                assert_eq!(
                    found, whole,
                    "byte {damage} changed, pieces of {bytes} bytes"
                );
                let sum: u64 = pieces.iter().map(Piece::bytes).sum();
                assert!(sum <= sound.len() as u64);
            }
        }
    }
    assert_eq!(most, 1000usize.div_ceil(23));
}

/// Damages each byte of a small file in turn: every row is a document or in one reject.
#[test]
fn damage_costs_a_row_group_and_never_panics() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("rows.parquet");
    let rows = &rows()[..60];
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let properties = WriterProperties::builder()
        .set_compression(zstd)
        .set_statistics_enabled(::parquet::file::properties::EnabledStatistics::None)
        .build();
    write(&path, rows, properties, 20);
    let whole = fs::read(&path).unwrap();
    let config = by_fields(None, None);
    let intact = drain(
        RecordReader::from_bytes(whole.clone(), "x", 0, &config),
        &config,
    );
    let mut seen: HashMap<Reason, u32> = HashMap::new();
    let mut one_group = 0;
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        let mut reader = RecordReader::from_bytes(bytes, "x", 0, &config);
        let mut batch = Batch::default();
        while reader.next_into(&mut batch) {}
        let mut row = 0;
        for record in &batch.records {
            if let Interpreted::Rejected(reject) =
                interpret(record, &batch.bytes[record.bytes.clone()], &config)
            {
                *seen.entry(reject.reason).or_default() += 1;
                let group = reject.source.length == 20 && reject.reason == Reason::BadParquet;
                one_group += u32::from(group && reject.detail.contains("column text"));
            }
            assert_eq!(record.source.offset, row, "byte {at}");
            row += record.source.length;
        }
        if (4..whole.len() / 2).contains(&at) {
            assert_eq!(row, 60, "byte {at}");
        }
    }
    assert!(intact.0.len() > 50);
    assert!(one_group > 100, "{one_group} {seen:?}");
    assert!(seen[&Reason::BadParquet] > 100, "{seen:?}");
}

#[test]
fn what_cannot_be_sought_in_is_rejected() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("rows.parquet");
    write(&path, &rows()[..20], WriterProperties::default(), 7);
    let bytes = fs::read(&path).unwrap();
    let packed = dir.path().join("rows.parquet.zst");
    fs::write(&packed, zstd::encode_all(&bytes[..], 3).unwrap()).unwrap();
    let config = ReadConfig::default();
    let (_, rejects) = read(&packed, &config);
    assert_eq!(rejects[0].reason, Reason::UnsupportedFormat);
    assert!(
        rejects[0].detail.contains("inside zstd"),
        "{}",
        rejects[0].detail
    );
    let piped = RecordReader::from_reader(std::io::Cursor::new(bytes.clone()), "-", 0, &config);
    let (_, rejects) = drain(piped, &config);
    assert_eq!(rejects[0].reason, Reason::UnsupportedFormat);
    assert!(
        rejects[0].detail.contains("in a pipe"),
        "{}",
        rejects[0].detail
    );
    let cut = RecordReader::from_bytes(bytes[..bytes.len() - 9].to_vec(), "x", 0, &config);
    let (_, rejects) = drain(cut, &config);
    assert_eq!(rejects[0].reason, Reason::BadParquet);
    let forced = ReadConfig {
        format: Some(Format::Parquet),
        ..ReadConfig::default()
    };
    let json = RecordReader::from_bytes(b"{\"id\": 1}".to_vec(), "x", 0, &forced);
    assert_eq!(drain(json, &forced).1[0].reason, Reason::WrongFormat);
}

/// A few bytes state 2^60 rows: one reject, not one for each.
#[test]
fn rows_without_bytes_are_no_rows() {
    let schema =
        Arc::new(parse_message_type("message m { optional binary text (STRING); }").unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    for _ in 0..40 {
        let levels = vec![0; 10_000];
        column
            .typed::<ByteArrayType>()
            .write_batch(&[], Some(&levels), None)
            .unwrap();
    }
    column.close().unwrap();
    group.close().unwrap();
    let bytes = writer.into_inner().unwrap();
    let config = ReadConfig {
        max_ratio: 100,
        ..ReadConfig::default()
    };
    let (documents, rejects) = drain(RecordReader::from_bytes(bytes, "x", 0, &config), &config);
    assert!(documents.is_empty());
    assert_eq!(rejects.len(), 1);
    assert_eq!(rejects[0].reason, Reason::DecompressionBomb);
}

/// The footer of a file whose columns are nested 5,000 deep used to overflow the stack.
#[test]
fn a_deep_schema_is_rejected() {
    let mut footer = vec![0x15, 2, 0x19, 0xfc];
    let nodes = 5000u16;
    footer.extend([(nodes & 0x7f) as u8 | 0x80, (nodes >> 7) as u8]);
    for _ in 0..nodes {
        // Optional, named `g`, with one child.
        footer.extend([0x35, 2, 0x18, 1, b'g', 0x15, 2, 0]);
    }
    footer.extend([0x16, 0, 0x19, 0x0c, 0]);
    let mut bytes = b"PAR1".to_vec();
    bytes.extend(&footer);
    bytes.extend((footer.len() as u32).to_le_bytes());
    bytes.extend(b"PAR1");
    let config = ReadConfig::default();
    let (_, rejects) = drain(RecordReader::from_bytes(bytes, "x", 0, &config), &config);
    assert_eq!(rejects[0].reason, Reason::BadParquet);
    assert_eq!(
        rejects[0].detail,
        "footer: columns that are nested too deep"
    );
}

/// A file of one row group, whose columns `fill` writes.
fn written(
    path: &Path,
    schema: &str,
    fill: impl FnOnce(&mut SerializedRowGroupWriter<'_, fs::File>),
) {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = fs::File::create(path).unwrap();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    fill(&mut group);
    group.close().unwrap();
    writer.close().unwrap();
}

/// A column of a map was called missing, and an empty string was the first value that is there.
#[test]
fn columns_that_are_no_text_and_blank_values_are_passed_over() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("f");
    let schema = "message rows { required binary a (STRING); required binary b (STRING);
        required group m (MAP) { repeated group key_value {
            required binary key (STRING); required binary value (STRING); } }
        required group s { required binary x (STRING); } optional double k;
        required binary twin (STRING); required binary twin (STRING);
        required group part { optional binary text; required binary content (STRING);
            required binary html (STRING); } }";
    written(&path, schema, |group| {
        for text in [
            "",
            "the text",
            "a longer key",
            "v",
            "y",
            "k",
            "one",
            "two",
            "null",
            "c<",
            "<p>h",
        ] {
            if text == "k" {
                use ::parquet::data_type::DoubleType;
                column::<DoubleType>(group, &[f64::NAN], (&[1], &[]));
                continue;
            }
            if text == "null" {
                column::<ByteArrayType>(group, &[], (&[0], &[]));
                continue;
            }
            let levels = if text.contains("key") || text == "v" {
                &[1][..]
            } else {
                &[]
            };
            let repetitions = if levels.is_empty() { &[][..] } else { &[0] };
            column::<ByteArrayType>(group, &[ByteArray::from(text)], (levels, repetitions));
        }
    });
    let file = fs::read(&path).unwrap();
    for (field, expected) in [
        ("a|b", "f:1: the text"),
        // JSON and tables gave this line, and Parquet did not.
        ("b", "f:1: the text; no docno: no k"),
        // Rows that differ in the second were copies of each other.
        (
            "twin",
            "f:1: one; part of a field left out: twin has another column of this name, and the first one counts",
        ),
        ("a|b,m.key_value[].value", "f:1: the text v"),
        // The next column of a part, as in JSON.
        (
            "part",
            "f:1: c<; part of a field left out: part has objects of which only the text counts, not html where it has a value",
        ),
        ("part.content,part.html", "f:1: c&lt; <p>h"),
        ("part.text|part.html", "f:1: <p>h"),
        (
            "b,m",
            "f:1: the text; field of --text-field missing: m is of type map, not string; it has a (string), b \
             (string), m.key_value[].key (string), m.key_value[].value (string), s.x (string), k (number), twin (string), twin (string), \
             part.text (bytes), part.content (string), part.html (string); did you mean the column m.key_value[].value?",
        ),
    ] {
        let config = by_fields(Some(field), (field == "b").then_some("k"));
        let mut reader = RecordReader::from_bytes(file.clone(), "f", 0, &config);
        let mut batch = Batch::default();
        while reader.next_into(&mut batch) {}
        let found = batch.records.iter().flat_map(|record| {
            let found = interpret(record, &batch.bytes[record.bytes.clone()], &config);
            lines(found, |text| text.replace('\n', " "))
        });
        assert_eq!(found.collect::<Vec<_>>().join("; "), expected, "{field}");
    }
}

/// Two decimals or floats became one docno, or none.
#[test]
fn docnos_are_the_digits_that_are_in_the_file() {
    use ::parquet::data_type::{DoubleType, FloatType, Int32Type};
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("rows.parquet");
    type Group<'g, 'f> = &'g mut SerializedRowGroupWriter<'f, fs::File>;
    fn put<D: DataType>(group: Group<'_, '_>, values: &[D::T]) {
        column::<D>(group, values, (&[], &[]));
    }
    let big = 34_028_236_692_093_846_346_337_460_743_176_821_145_i128;
    let fixed =
        |value: i128| FixedLenByteArray::from(ByteArray::from(value.to_be_bytes().to_vec()));
    let bytes = |bytes: &[u8]| ByteArray::from(bytes.to_vec());
    let few = |bytes: &[u8]| FixedLenByteArray::from(ByteArray::from(bytes.to_vec()));
    type Case<'c> = (&'c str, Box<dyn Fn(Group<'_, '_>) + 'c>, [&'c str; 2]);
    let cases: Vec<Case<'_>> = vec![
        (
            "fixed_len_byte_array(16) id (DECIMAL(38,0))",
            Box::new(|group| put::<FixedLenByteArrayType>(group, &[fixed(big), fixed(big + 1)])),
            [
                "34028236692093846346337460743176821145",
                "34028236692093846346337460743176821146",
            ],
        ),
        (
            "fixed_len_byte_array(16) id (DECIMAL(38,4))",
            Box::new(|group| put::<FixedLenByteArrayType>(group, &[fixed(-5), fixed(123_450_000)])),
            ["-0.0005", "12345.0000"],
        ),
        (
            "binary id (DECIMAL(9,2))",
            Box::new(|group| put::<ByteArrayType>(group, &[bytes(&[0xff, 0x38]), bytes(&[1, 0])])),
            ["-2.00", "2.56"],
        ),
        (
            "int32 id (DECIMAL(9,1))",
            Box::new(|group| put::<Int32Type>(group, &[-7, 120])),
            ["-0.7", "12.0"],
        ),
        (
            "int64 id (DECIMAL(18,18))",
            Box::new(|group| put::<Int64Type>(group, &[1, i64::MIN])),
            ["0.000000000000000001", "-9.223372036854775808"],
        ),
        (
            "double id",
            Box::new(|group| put::<DoubleType>(group, &[1.0, 0.1 + 0.2])),
            ["1.0", "0.30000000000000004"],
        ),
        (
            "float id",
            Box::new(|group| put::<FloatType>(group, &[16_777_216.0, 1e-7])),
            ["16777216.0", "1e-07"],
        ),
        (
            "fixed_len_byte_array(2) id (FLOAT16)",
            Box::new(|group| {
                put::<FixedLenByteArrayType>(group, &[few(&[0, 0x3e]), few(&[1, 0x80])])
            }),
            ["1.5", "-5.9604645e-08"],
        ),
        (
            "fixed_len_byte_array(2) id (FLOAT16)",
            Box::new(|group| {
                put::<FixedLenByteArrayType>(group, &[few(&[0, 0xfc]), few(&[0, 0x04])])
            }),
            ["-Infinity", "6.1035156e-05"],
        ),
        (
            "fixed_len_byte_array(12) id (INTERVAL)",
            Box::new(|group| {
                let interval = [1, 0, 0, 0, 2, 0, 0, 0, 0xac, 0x0d, 0, 0];
                put::<FixedLenByteArrayType>(group, &[few(&interval), few(&[0; 12])]);
            }),
            ["P1M2DT3.5S", "P0M0DT0S"],
        ),
        (
            "int64 id (TIME(MICROS,true))",
            Box::new(|group| put::<Int64Type>(group, &[0, 43_200_000_000])),
            ["0", "43200000000"],
        ),
        (
            "int64 id (INTEGER(64,false))",
            Box::new(|group| put::<Int64Type>(group, &[-1, 7])),
            ["18446744073709551615", "7"],
        ),
        (
            "int32 id (DATE)",
            Box::new(|group| put::<Int32Type>(group, &[0, 19_782])),
            ["1970-01-01", "2024-02-29"],
        ),
        (
            "int64 id (TIMESTAMP(MICROS,true))",
            Box::new(|group| put::<Int64Type>(group, &[1, 1_709_208_000_000_000])),
            ["1970-01-01T00:00:00.000001Z", "2024-02-29T12:00:00Z"],
        ),
    ];
    for (declared, fill, docnos) in &cases {
        let schema =
            format!("message rows {{ required {declared}; required binary text (STRING); }}");
        written(&path, &schema, |group| {
            fill(group);
            put::<ByteArrayType>(group, &[bytes(b"one"), bytes(b"two")]);
        });
        let (documents, rejects) = read(&path, &by_fields(None, None));
        let found: Vec<&str> = documents.iter().map(|(docno, ..)| &**docno).collect();
        assert_eq!(found, docnos, "{declared}");
        assert!(rejects.is_empty());
        // As a text, a number is written in the same way.
        let (documents, rejects) = read(&path, &by_fields(Some("id"), None));
        let found: Vec<&str> = documents.iter().map(|(.., text)| &**text).collect();
        assert_eq!(found, docnos, "{declared}");
        assert!(rejects.is_empty());
    }
}

/// Every path gives the text of a row that it gives of the same object in JSON.
#[test]
fn paths_into_lists_are_those_of_json() {
    let schema = "message rows {
        optional group messages (LIST) { repeated group list { optional group element {
            optional binary role (STRING); optional binary content (STRING); optional int32 n;
            optional group parts (LIST) { repeated group list {
                optional binary element (STRING); } }
        } } }
        optional group grid (LIST) { repeated group list { optional group element (LIST) {
            repeated group list { optional binary element (STRING); } } } }
        repeated binary tags (STRING);
        optional binary a.b (STRING);
    }";
    // The rows as JSON; the columns are made of them below.
    let mut state = 7u64;
    let mut below = |n: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    use serde_json::{Value, json};
    const ROLES: [&str; 3] = ["user", "assistant", "system"];
    let mut rows: Vec<Value> = Vec::new();
    let mut word = 0;
    for _ in 0..300 {
        let mut text = |below: &mut dyn FnMut(u64) -> u64| match below(4) {
            0 => Value::Null,
            _ => {
                word += 1;
                format!("w{word}").into()
            }
        };
        let mut texts = |below: &mut dyn FnMut(u64) -> u64| match below(5) {
            0 => Value::Null,
            _ => (0..below(4)).map(|_| text(below)).collect(),
        };
        let messages: Value = match below(6) {
            0 => Value::Null,
            _ => (0..below(5))
                .map(|_| match below(7) {
                    0 => Value::Null,
                    _ => json!({
                        "role": ROLES.get(below(4) as usize),
                        "content": (below(3) > 0).then(|| format!("c{}", below(1000))),
                        "n": (below(3) > 0).then(|| below(3)),
                        "parts": texts(&mut below),
                    }),
                })
                .collect(),
        };
        let grid: Value = match below(6) {
            0 => Value::Null,
            _ => (0..below(4)).map(|_| texts(&mut below)).collect(),
        };
        let tags: Vec<String> = (0..below(3)).map(|tag| format!("t{tag}")).collect();
        let dotted = (below(2) > 0).then(|| format!("d{}", below(9)));
        rows.push(json!({"messages": messages, "grid": grid, "tags": tags, "a.b": dotted}));
    }
    /// Appends the levels and values of a column: of each object or list on its way, a name, or
    /// nothing for the elements of a list.
    fn levels(
        value: &Value,
        way: &[&str],
        (definition, list): (i16, i16),
        repetition: i16,
        out: &mut (Vec<i16>, Vec<i16>, Vec<Value>),
    ) {
        let at = |out: &mut (Vec<i16>, Vec<i16>, Vec<Value>), level| {
            out.0.push(level);
            out.1.push(repetition);
        };
        match (value, way) {
            (Value::Null, _) => at(out, definition),
            (Value::Array(values), [_, rest @ ..]) => {
                if values.is_empty() {
                    return at(out, definition + 1);
                }
                for (number, value) in values.iter().enumerate() {
                    let repetition = if number > 0 { list + 1 } else { repetition };
                    levels(value, rest, (definition + 2, list + 1), repetition, out);
                }
            }
            (Value::Object(fields), [name, rest @ ..]) => {
                levels(
                    &fields[*name],
                    rest,
                    (definition + 1, list),
                    repetition,
                    out,
                );
            }
            (value, _) => {
                at(out, definition + 1);
                out.2.push(value.clone());
            }
        }
    }
    let dir = TempDir::new().unwrap();
    let (parquet, jsonl) = (
        dir.path().join("rows.parquet"),
        dir.path().join("rows.jsonl"),
    );
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
    fs::write(&jsonl, lines).unwrap();
    written(&parquet, schema, |group| {
        let strings = |values: &[Value]| -> Vec<ByteArray> {
            values
                .iter()
                .map(|value| ByteArray::from(value.as_str().unwrap()))
                .collect()
        };
        let leaves: [(&str, &[&str]); 5] = [
            ("messages", &["", "role"]),
            ("messages", &["", "content"]),
            ("messages", &["", "n"]),
            ("messages", &["", "parts", ""]),
            ("grid", &["", ""]),
        ];
        for (name, way) in leaves {
            let mut out = Default::default();
            for row in &rows {
                levels(&row[name], way, (0, 0), 0, &mut out);
            }
            let (definitions, repetitions, values) = out;
            if way.ends_with(&["n"]) {
                let numbers: Vec<i32> = values.iter().map(|n| n.as_u64().unwrap() as i32).collect();
                column::<::parquet::data_type::Int32Type>(
                    group,
                    &numbers,
                    (&definitions, &repetitions),
                );
            } else {
                column::<ByteArrayType>(group, &strings(&values), (&definitions, &repetitions));
            }
        }
        let (mut definitions, mut repetitions, mut values) = (vec![], vec![], vec![]);
        for row in &rows {
            let tags = row["tags"].as_array().unwrap();
            if tags.is_empty() {
                definitions.push(0);
                repetitions.push(0);
            }
            for (at, tag) in tags.iter().enumerate() {
                definitions.push(1);
                repetitions.push(i16::from(at > 0));
                values.push(tag.clone());
            }
        }
        column::<ByteArrayType>(group, &strings(&values), (&definitions, &repetitions));
        let dotted: Vec<Value> = rows.iter().map(|row| row["a.b"].clone()).collect();
        let there: Vec<i16> = dotted
            .iter()
            .map(|value| i16::from(!value.is_null()))
            .collect();
        let values: Vec<Value> = dotted
            .into_iter()
            .filter(|value| !value.is_null())
            .collect();
        column::<ByteArrayType>(group, &strings(&values), (&there, &[]));
    });
    let mut documents = 0;
    for path in [
        "messages.content",
        "messages[].content",
        "messages[0].content",
        "messages.2.content",
        "messages[role=user].content",
        "messages[role=assistant][0].content",
        "messages[role=user].1.content",
        "messages[n=2].content",
        "messages[role=nobody].content",
        "messages.parts",
        "messages[].parts[]",
        "messages[1].parts",
        "messages[role=system].parts[0]",
        "messages[role=user][1].parts[1]",
        "messages.parts[2]",
        "grid",
        "grid[1]",
        "grid[][0]",
        "grid[0][1]",
        "tags",
        "tags[1]",
        "a.b",
        "\"a.b\"",
        r"a\.b",
        "messages[role=user].content,tags,a.b",
    ] {
        let config = by_fields(Some(path), None);
        let places = |(documents, rejects): Found| {
            let texts = documents.into_iter().map(|(docno, _, text)| {
                (
                    docno.split_once(':').unwrap().1.parse::<u64>().unwrap(),
                    Some(text),
                )
            });
            // The offset of a row is its number.
            assert!(
                rejects
                    .iter()
                    .all(|reject| reject.reason == Reason::MissingText)
            );
            texts.collect::<Vec<_>>()
        };
        let [rows, objects] = [&parquet, &jsonl].map(|path| places(read(path, &config)));
        assert_eq!(rows, objects, "{path}");
        documents += rows.len();
    }
    assert!(documents > 2000, "{documents}");
}

/// A damaged file was named, with the advice to delete it.
#[test]
fn encrypted_columns_are_named() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/inputs");
    let (documents, rejects) = read(
        &fixtures.join("encrypted-text.parquet"),
        &by_fields(None, None),
    );
    assert_eq!((documents.len(), rejects.len()), (0, 1));
    assert_eq!(rejects[0].reason, Reason::UnsupportedFormat);
    assert_eq!(
        rejects[0].detail,
        "its column text is encrypted; decrypt the file first"
    );
    // Another column does not matter to a reader.
    let (documents, rejects) = read(
        &fixtures.join("encrypted-other.parquet"),
        &by_fields(None, None),
    );
    assert!(!documents.is_empty() && rejects.is_empty(), "{rejects:?}");
}

/// One byte of a page was changed, and the page states its checksum.
#[test]
fn checksums_of_pages_are_compared() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/inputs");
    let path = fixtures.join("wrong-checksum.parquet");
    let (documents, rejects) = read(&path, &by_fields(None, None));
    assert_eq!((documents.len(), rejects.len()), (2, 1), "{rejects:?}");
    assert_eq!(rejects[0].reason, Reason::BadParquet);
    assert!(rejects[0].detail.contains("checksum"), "{rejects:?}");
}
