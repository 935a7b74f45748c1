//! The columns that a row is read from: which ones, and their values row by row.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::basic::{ConvertedType, IntType, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{
    ByteArrayType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::RowGroupMetaData;
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type};

use super::pages::{Limits, Pages, ReadAt};
use crate::read::config::ReadConfig;
use crate::read::json::{ID_FIELDS, TEXT_FIELDS, TYPE_FIELDS, URL_FIELDS};

/// The path of each leaf column as `--text-field` spells it: without the groups that only wrap
/// the elements of a list.
fn paths(schema: &SchemaDescriptor) -> Vec<String> {
    fn leaves(node: &Type, names: &mut Vec<String>, out: &mut Vec<String>) {
        if node.is_primitive() {
            out.push(names.join("."));
            return;
        }
        for field in node.get_fields() {
            names.push(field.name().to_string());
            match element_of(field) {
                Some(element) => leaves(element, names, out),
                None => leaves(field, names, out),
            }
            names.pop();
        }
    }
    let mut out = Vec::new();
    leaves(schema.root_schema(), &mut Vec::new(), &mut out);
    out
}

fn repeated(node: &Type) -> bool {
    let info = node.get_basic_info();
    info.has_repetition() && info.repetition() == Repetition::REPEATED
}

/// The element of a list, by the rules of `LogicalTypes.md` for old and new writers. Lists of
/// lists lose all their wrappers.
fn element_of(field: &Type) -> Option<&Type> {
    let info = field.get_basic_info();
    let is_list = info.logical_type_ref() == Some(&LogicalType::List)
        || info.converted_type() == ConvertedType::LIST;
    if field.is_primitive() || !is_list {
        return None;
    }
    let [wrapper] = field.get_fields() else {
        return None;
    };
    if !repeated(wrapper) {
        return None;
    }
    let is_element = wrapper.is_primitive()
        || wrapper.get_fields().len() != 1
        || wrapper.name() == "array"
        || wrapper.name() == format!("{}_tuple", field.name());
    let element = match wrapper.get_fields() {
        _ if is_element => wrapper,
        [element] => element,
        _ => wrapper,
    };
    Some(element_of(element).unwrap_or(element))
}

/// What a column is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Id,
    Url,
    Title,
    Kind,
    Text,
}

/// A column to read.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub role: Role,
    /// Its index among the leaf columns.
    pub leaf: usize,
    pub path: String,
}

/// Whether a column can have text, or can be a name.
fn fits(column: &ColumnDescPtr, role: Role) -> bool {
    match column.physical_type() {
        Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY => true,
        Physical::INT32 | Physical::INT64 => matches!(role, Role::Id | Role::Url),
        // For the preferences of `dedup`, which reads the field of a policy as the URL.
        Physical::FLOAT | Physical::DOUBLE => role == Role::Url,
        _ => false,
    }
}

/// Chooses the columns: the configured paths, or the first of the names that JSON objects are
/// searched for. There may be several columns of text; they are in the order of the paths.
pub(super) fn choose(schema: &SchemaDescriptor, config: &ReadConfig) -> Vec<Chosen> {
    let paths = paths(schema);
    let find = |path: &str, role| {
        let plain = path.replace("[]", "");
        (0..schema.num_columns()).find(|&leaf| {
            let column = schema.column(leaf);
            let named = paths.get(leaf).is_some_and(|known| *known == plain)
                || column.path().string() == path;
            named && fits(&column, role)
        })
    };
    let mut chosen = Vec::new();
    let mut add = |role, given: Option<&String>, names: &[&str]| {
        let found = match given {
            Some(path) => find(path, role).map(|leaf| (leaf, path.clone())),
            None => names
                .iter()
                .find_map(|name| Some((find(name, role)?, name.to_string()))),
        };
        chosen.extend(found.map(|(leaf, path)| Chosen { role, leaf, path }));
    };
    add(Role::Id, config.id_field.as_ref(), &ID_FIELDS);
    add(Role::Url, config.url_field.as_ref(), &URL_FIELDS);
    add(Role::Title, None, &["title"]);
    add(Role::Kind, None, &TYPE_FIELDS);
    match &config.text_field {
        Some(paths) => {
            for path in paths.split(',') {
                add(Role::Text, Some(&path.to_string()), &[]);
            }
        }
        None => add(Role::Text, None, &TEXT_FIELDS),
    }
    chosen
}

/// The columns that are the text of each row, in its order, if they are columns of strings.
///
/// # Errors
/// Why they are not.
pub(crate) fn text_columns(
    schema: &SchemaDescriptor,
    config: &ReadConfig,
) -> std::result::Result<Vec<usize>, String> {
    let mut leaves = Vec::new();
    for Chosen { path, leaf, role } in choose(schema, config) {
        if role != Role::Text {
            continue;
        }
        let column = schema.column(leaf);
        if column.max_rep_level() > 0 {
            return Err(format!("its column {path} has lists"));
        }
        if column.physical_type() != Physical::BYTE_ARRAY {
            return Err(format!("its column {path} has values of one length"));
        }
        if leaves.contains(&leaf) {
            return Err(format!("its column {path} is in the text twice"));
        }
        leaves.push(leaf);
    }
    match leaves.is_empty() {
        true => Err("it has no column of text".into()),
        false => Ok(leaves),
    }
}

/// How the bytes of a column are written as a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Text.
    Text,
    /// 16 bytes of a UUID.
    Uuid,
    /// Bytes of which the type says nothing: text if they are, else hexadecimal digits.
    Bytes,
    /// An integer with this sign.
    Integer { signed: bool },
}

fn form(column: &ColumnDescPtr) -> Form {
    let converted = column.converted_type();
    match column.logical_type_ref() {
        Some(LogicalType::Uuid) => Form::Uuid,
        Some(LogicalType::String | LogicalType::Json | LogicalType::Enum) => Form::Text,
        Some(LogicalType::Integer(IntType { is_signed, .. })) => {
            Form::Integer { signed: *is_signed }
        }
        _ => match column.physical_type() {
            Physical::INT32 | Physical::INT64 => Form::Integer {
                signed: !matches!(
                    converted,
                    ConvertedType::UINT_8
                        | ConvertedType::UINT_16
                        | ConvertedType::UINT_32
                        | ConvertedType::UINT_64
                ),
            },
            _ => match converted {
                ConvertedType::UTF8 | ConvertedType::JSON | ConvertedType::ENUM => Form::Text,
                _ => Form::Bytes,
            },
        },
    }
}

enum Reader {
    Bytes(
        ColumnReaderImpl<ByteArrayType>,
        Vec<parquet::data_type::ByteArray>,
    ),
    Fixed(
        ColumnReaderImpl<FixedLenByteArrayType>,
        Vec<parquet::data_type::FixedLenByteArray>,
    ),
    Int32(ColumnReaderImpl<Int32Type>, Vec<i32>),
    Int64(ColumnReaderImpl<Int64Type>, Vec<i64>),
    Float(ColumnReaderImpl<FloatType>, Vec<f32>),
    Double(ColumnReaderImpl<DoubleType>, Vec<f64>),
}

/// Reads one column of a row group.
///
/// One row at a time: a piece of several rows would keep all the pages in memory that its values
/// are slices of.
pub(super) struct Column {
    reader: Reader,
    form: Form,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    in_row: Arc<AtomicU64>,
}

impl Column {
    pub fn open(
        file: &Arc<dyn ReadAt>,
        group: &RowGroupMetaData,
        leaf: usize,
        limits: Limits,
    ) -> Result<Column> {
        let Some(chunk) = group.columns().get(leaf) else {
            return Err(ParquetError::General("the column is missing".into()));
        };
        let in_row = Arc::new(AtomicU64::new(0));
        let column = chunk.column_descr_ptr();
        let pages = Pages::new(file.clone(), chunk, limits, in_row.clone())?;
        let form = form(&column);
        let reader = match get_column_reader(column, Box::new(pages)) {
            ColumnReader::ByteArrayColumnReader(reader) => Reader::Bytes(reader, Vec::new()),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                Reader::Fixed(reader, Vec::new())
            }
            ColumnReader::Int32ColumnReader(reader) => Reader::Int32(reader, Vec::new()),
            ColumnReader::Int64ColumnReader(reader) => Reader::Int64(reader, Vec::new()),
            ColumnReader::FloatColumnReader(reader) => Reader::Float(reader, Vec::new()),
            ColumnReader::DoubleColumnReader(reader) => Reader::Double(reader, Vec::new()),
            _ => return Err(ParquetError::General("a column of another type".into())),
        };
        Ok(Column {
            reader,
            form,
            definitions: Vec::new(),
            repetitions: Vec::new(),
            in_row,
        })
    }

    /// Whether the type says that the bytes are UTF-8.
    pub fn is_text(&self) -> bool {
        self.form == Form::Text
    }

    /// Reads the next row; `false` if the column has no more.
    pub fn next(&mut self) -> Result<bool> {
        self.definitions.clear();
        self.repetitions.clear();
        self.in_row.store(0, Ordering::Relaxed);
        let levels = (&mut self.definitions, &mut self.repetitions);
        let (rows, ..) = match &mut self.reader {
            Reader::Bytes(reader, values) => {
                values.clear();
                reader.read_records(1, Some(levels.0), Some(levels.1), values)?
            }
            Reader::Fixed(reader, values) => {
                values.clear();
                reader.read_records(1, Some(levels.0), Some(levels.1), values)?
            }
            Reader::Int32(reader, values) => {
                values.clear();
                reader.read_records(1, Some(levels.0), Some(levels.1), values)?
            }
            Reader::Int64(reader, values) => {
                values.clear();
                reader.read_records(1, Some(levels.0), Some(levels.1), values)?
            }
            Reader::Float(reader, values) => {
                values.clear();
                reader.read_records(1, Some(levels.0), Some(levels.1), values)?
            }
            Reader::Double(reader, values) => {
                values.clear();
                reader.read_records(1, Some(levels.0), Some(levels.1), values)?
            }
        };
        // A row of many values must not keep its buffers.
        self.definitions.shrink_to(1 << 10);
        self.repetitions.shrink_to(1 << 10);
        Ok(rows == 1)
    }

    /// Calls `act` with the bytes of each value of the row that is not null.
    pub fn bytes<'c>(&'c self, mut act: impl FnMut(&'c [u8])) {
        match &self.reader {
            Reader::Bytes(_, values) => values.iter().for_each(|value| act(value.data())),
            Reader::Fixed(_, values) => values.iter().for_each(|value| act(value.data())),
            _ => {}
        }
    }

    /// The first value of the row as a name; `None` if it is null or empty. At most one byte more
    /// than `most`, by which a name that is too long shows.
    pub fn name(&self, most: usize) -> Option<String> {
        match &self.reader {
            Reader::Float(_, values) => return values.first().map(f32::to_string),
            Reader::Double(_, values) => return values.first().map(f64::to_string),
            _ => {}
        }
        let Form::Integer { signed } = self.form else {
            let mut first = None;
            self.bytes(|bytes| {
                first.get_or_insert(bytes);
            });
            return written(first?, self.form, most);
        };
        Some(match &self.reader {
            Reader::Int32(_, values) if signed => values.first()?.to_string(),
            Reader::Int32(_, values) => values.first()?.cast_unsigned().to_string(),
            Reader::Int64(_, values) if signed => values.first()?.to_string(),
            Reader::Int64(_, values) => values.first()?.cast_unsigned().to_string(),
            _ => return None,
        })
    }
}

fn written(bytes: &[u8], form: Form, most: usize) -> Option<String> {
    let hex = |bytes: &[u8]| -> String {
        let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
        let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        digits.take(most + 1).map(digit).collect()
    };
    let cut = &bytes[..bytes.len().min(most + 1)];
    let name = match form {
        Form::Uuid if bytes.len() == 16 => {
            let digits = hex(bytes);
            let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
            let parts = parts.map(|part| digits.get(part).unwrap_or_default());
            parts.join("-")
        }
        Form::Text => String::from_utf8_lossy(cut).into_owned(),
        _ => match std::str::from_utf8(cut) {
            Ok(text) if !text.contains(char::is_control) => text.to_string(),
            _ => hex(cut),
        },
    };
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_string())
}
