//! The columns that a row is read from: which ones, and their values row by row.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type, Int96Type,
};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type};

use super::pages::{Limits, Pages};
use super::written;
use crate::read::ground::config::ReadConfig;
use crate::read::ground::fields::{
    FieldPath, ID_FIELDS, Known, Step, TYPE_FIELDS, URL_FIELDS, quoted, short,
};
use crate::read::ground::record::{Field, Notice};
use crate::read::ground::resolve::{Level, Names, Texts};
use crate::read::json::values::{PART_FACTS, PART_TEXTS};
use lookalike_base::counted;
use lookalike_source::{ReadAt, Reason};

fn repeated(node: &Type) -> bool {
    let info = node.get_basic_info();
    info.has_repetition() && info.repetition() == Repetition::REPEATED
}

/// The repeated group of a list, and whether it is itself the element, by the rules of
/// `LogicalTypes.md` for old and new writers.
fn wrapper_of(field: &Type) -> Option<(&Type, bool)> {
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
    Some((wrapper, is_element))
}

/// The way from the root of the schema to a column.
#[derive(Clone, Default)]
struct Way<'s> {
    /// The names of the nodes, without the root.
    names: Vec<&'s str>,
    definition: i16,
    lists: Vec<List>,
    /// See [`Chosen::present`].
    present: Option<(i16, usize)>,
    conditions: Vec<Condition<'s>>,
    /// See [`Chosen::part`].
    part: Option<i16>,
    /// Which of the columns of a part that may have its text is taken, if there is only one part in a
    /// row. In a list of parts it is always the first.
    other: usize,
    is_alone: bool,
    /// See [`Chosen::beside`].
    beside: Option<&'s str>,
}

/// The way to the column of a condition.
#[derive(Clone)]
struct Condition<'s> {
    /// The number of the list on the way, from 0.
    list: usize,
    names: Vec<&'s str>,
}

impl<'s> Way<'s> {
    fn enter(&mut self, node: &'s Type) {
        self.names.push(node.name());
        let info = node.get_basic_info();
        let optional = info.has_repetition() && info.repetition() != Repetition::REQUIRED;
        self.definition += i16::from(optional);
    }

    /// Follows the steps from a node that has been entered.
    fn follow(&mut self, node: &'s Type, steps: &[Step<'_>], is_element: bool) -> Option<()> {
        if repeated(node) && !is_element {
            self.ends_here(steps, self.definition - 1);
            return self.element(node, steps, true);
        }
        if let Some((wrapper, is_element)) = wrapper_of(node) {
            self.ends_here(steps, self.definition);
            self.enter(wrapper);
            return self.element(wrapper, steps, is_element);
        }
        match (node.is_primitive(), steps) {
            (true, []) => Some(()),
            (false, [Step::Name(name), rest @ ..]) => {
                let child = node
                    .get_fields()
                    .iter()
                    .find(|child| child.name() == name)?;
                self.enter(child);
                self.follow(child, rest, false)
            }
            // The text of a part, as in JSON.
            (false, []) => {
                let children = node.get_fields();
                let of_name = |name: &&str| children.iter().find(|child| child.name() == *name);
                let mut texts = PART_TEXTS.iter().filter_map(of_name);
                // Without a value, those before it are passed over.
                let before: Vec<_> = texts
                    .by_ref()
                    .take(std::mem::take(&mut self.other))
                    .collect();
                let text = texts.next()?;
                let mut others = children.iter().filter(|child| {
                    !PART_FACTS.contains(&child.name())
                        && !before
                            .iter()
                            .chain([&text])
                            .any(|known| known.name() == child.name())
                });
                self.beside = self.beside.or(others.next().map(|child| child.name()));
                self.is_alone = self.part.is_none() && self.lists.is_empty();
                self.part = Some(self.definition);
                self.enter(text);
                self.follow(text, &[], false)
            }
            _ => None,
        }
    }

    /// Notes a list at the end of the steps, which is there from a definition level on.
    fn ends_here(&mut self, steps: &[Step<'_>], definition: i16) {
        if steps.is_empty() && self.present.is_none() {
            self.present = Some((definition, self.lists.len()));
        }
    }

    /// Follows the steps from a list, whose repeated group has been entered.
    fn element(&mut self, group: &'s Type, steps: &[Step<'_>], is_element: bool) -> Option<()> {
        let (step, mut rest) = match steps.split_first() {
            None => (None, steps),
            Some((step @ Step::Name(_), _)) if step.number().is_none() => (None, steps),
            Some((step, rest)) => (Some(step), rest),
        };
        let definition = self.definition;
        let mut here = self.clone();
        let taken = match step {
            None | Some(Step::All) => Taken::All,
            Some(Step::Where { value, .. }) => {
                let number = rest.first().and_then(Step::number);
                rest = &rest[usize::from(number.is_some())..];
                Taken::Where {
                    column: 0,
                    value: value.clone().into_owned(),
                    number,
                }
            }
            Some(step) => Taken::Number(step.number()?),
        };
        self.lists.push(List { definition, taken });
        let number = self.lists.len();
        let (element, itself) = match group {
            // A primitive type has no fields to ask for.
            _ if is_element || group.is_primitive() => (group, true),
            _ => match group.get_fields() {
                [element] => {
                    self.enter(element);
                    here.enter(element);
                    (&**element, false)
                }
                _ => (group, true),
            },
        };
        if let Some(Step::Where { field, .. }) = step {
            let names: Vec<_> = field.iter().cloned().map(Step::Name).collect();
            let any = List {
                definition,
                taken: Taken::All,
            };
            here.lists.push(any);
            here.follow(element, &names, itself)?;
            // A field that is a list has no one value.
            if here.lists.len() != number {
                return None;
            }
            self.conditions.push(Condition {
                list: number - 1,
                names: here.names,
            });
        }
        self.follow(element, rest, itself)
    }
}

/// The purpose of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Role {
    Id,
    Url,
    Title,
    Kind,
    Text,
    /// One of the fields that are kept, by its place.
    Kept(usize),
    /// The values of a condition on the elements of a list.
    #[default]
    Condition,
}

/// A list on the way to a column.
#[derive(Clone, Debug)]
struct List {
    /// The definition level from which on it has an element.
    definition: i16,
    taken: Taken,
}

/// The elements of a list that are taken.
#[derive(Clone, Debug)]
enum Taken {
    All,
    Number(usize),
    /// Those whose value in another one of the chosen columns is this one; of these all, or one.
    Where {
        column: usize,
        value: String,
        number: Option<usize>,
    },
}

/// A column to read.
#[derive(Clone, Debug, Default)]
pub(super) struct Chosen {
    pub role: Role,
    /// Its index among the leaf columns.
    pub leaf: usize,
    pub path: String,
    /// Whether its name says that it has HTML.
    pub html: bool,
    /// The definition level from which on there is an object whose text the column has.
    part: Option<i16>,
    /// The path leads through a list or into an object, so the column may be there without a text.
    pub beneath: bool,
    /// A column of this object that is not in the text.
    pub beside: Option<String>,
    /// Whether another column has its path.
    pub twin: bool,
    /// The lists on the way to it, unless all their elements are taken.
    lists: Vec<List>,
    /// The definition level from which on the list is there that the path ends with, and the lists
    /// before it.
    present: Option<(i16, usize)>,
}

/// Whether a column can have text, or can be a name.
fn fits(column: &ColumnDescPtr, role: Role, given: bool) -> bool {
    match (column.physical_type(), role) {
        (_, Role::Condition) => true,
        (Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY, Role::Text) => {
            given || matches!(form(column), Form::Text | Form::Bytes)
        }
        (_, Role::Text) => given,
        (Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY, _) => true,
        (_, Role::Kept(_)) => true,
        (Physical::BOOLEAN, _) => false,
        (_, role) => matches!(role, Role::Id | Role::Url),
    }
}

/// The columns of a file that can have a role; `given`: the user names the field.
struct Columns<'s> {
    schema: &'s SchemaDescriptor,
    role: Role,
    given: bool,
}

/// A column that a path leads to, and the path.
struct Led<'s> {
    leaf: usize,
    way: Way<'s>,
    path: String,
    html: bool,
}

impl<'s> Columns<'s> {
    /// The column that a path leads to, or the columns of which the first with a value counts.
    fn led(&self, path: &FieldPath<'_>) -> Option<Vec<Led<'s>>> {
        let mut led = vec![self.led_to(path, 0)?];
        if led.iter().all(|led| led.way.is_alone) {
            led.extend((1..).map_while(|other| self.led_to(path, other)));
        }
        Some(led)
    }

    fn led_to(&self, path: &FieldPath<'_>, other: usize) -> Option<Led<'s>> {
        let schema = self.schema;
        // The name of a column may be the whole path.
        let literal = [Step::Name(path.literal.into())];
        let way = [&literal[..], &path.steps].into_iter().find_map(|steps| {
            let mut way = Way {
                other,
                ..Way::default()
            };
            way.follow(schema.root_schema(), steps, false)?;
            (self.role == Role::Text || way.part.is_none()).then_some(way)
        });
        // All groups may be named, including groups that Parquet needs for a list.
        let raw = |leaf: &usize| schema.column(*leaf).path().string() == path.literal;
        let (leaf, way) = match way {
            Some(way) => (leaf_of(schema, &way.names)?, way),
            None if other > 0 => return None,
            None => ((0..schema.num_columns()).find(raw)?, Way::default()),
        };
        fits(&schema.column(leaf), self.role, self.given).then(|| Led {
            leaf,
            way,
            path: path.literal.trim().into(),
            html: path.last() == "html",
        })
    }

    /// Adds the columns of a path's conditions and the column that it leads to, whose number this
    /// is.
    fn add(&self, chosen: &mut Vec<Chosen>, led: Led<'_>) -> Option<usize> {
        let Led {
            leaf,
            mut way,
            path,
            html,
        } = led;
        let new = |role, leaf| Chosen {
            role,
            leaf,
            path: path.clone(),
            html,
            ..Chosen::default()
        };
        for Condition { list, names } in &way.conditions {
            let leaf = leaf_of(self.schema, names)?;
            if let Taken::Where { column, .. } = &mut way.lists.get_mut(*list)?.taken {
                *column = chosen.len();
            }
            chosen.push(new(Role::Condition, leaf));
        }
        let all = |list: &List| matches!(list.taken, Taken::All);
        let path_of = |leaf| self.schema.column(leaf).path().clone();
        let mut others = leaf + 1..self.schema.num_columns();
        chosen.push(Chosen {
            twin: others.any(|other| path_of(other) == path_of(leaf)),
            present: way.present,
            part: way.part.filter(|_| !way.is_alone),
            beneath: way.part.is_some() || !way.lists.is_empty(),
            beside: way.beside.map(|name| short(name).into_owned()),
            lists: match way.lists.iter().all(all) {
                true => Vec::new(),
                false => way.lists,
            },
            ..new(self.role, leaf)
        });
        Some(chosen.len() - 1)
    }
}

impl<'p, 's> Level<'p> for Columns<'s> {
    type Found = Vec<Led<'s>>;

    fn whole(&self, name: &'p str) -> Option<Vec<Led<'s>>> {
        self.led(&FieldPath::whole(name))
    }

    fn find(&self, path: &'p FieldPath<'p>) -> Option<Vec<Led<'s>>> {
        self.led(path)
    }
}

/// The columns of a file by the paths that lead to them, for a message.
pub(super) fn known_columns(metadata: &ParquetMetaData) -> Vec<Known> {
    fn leaves(node: &Type, is_element: bool, path: &str, out: &mut Vec<(String, bool)>) {
        // A list loses the groups that only wrap its elements.
        let (node, list) = match wrapper_of(node) {
            Some((wrapper, true)) => (wrapper, true),
            Some((wrapper, false)) => match wrapper.get_fields() {
                [element] => return leaves(element, true, path, out),
                _ => (wrapper, true),
            },
            None => (node, is_element || repeated(node)),
        };
        if node.is_primitive() {
            return out.push((path.into(), list));
        }
        for field in node.get_fields() {
            let name = quoted(field.name());
            let dot = match (path, list) {
                ("", _) => "",
                (_, true) => "[].",
                (_, false) => ".",
            };
            leaves(field, false, &format!("{path}{dot}{name}"), out);
        }
    }
    let schema = metadata.file_metadata().schema_descr();
    let mut all = Vec::new();
    leaves(schema.root_schema(), false, "", &mut all);
    let leaves = (0..).zip(all);
    let known = leaves.map_while(|(leaf, (path, list))| {
        let column = (leaf < schema.num_columns()).then(|| schema.column(leaf))?;
        let kind = type_name(&column);
        let groups = metadata.row_groups().iter();
        let sizes = groups.filter_map(|group| group.columns().get(leaf));
        let sizes = sizes.map(|column| u64::try_from(column.uncompressed_size()).unwrap_or(0));
        // A footer can state any size.
        let size = sizes.fold(0, u64::saturating_add);
        Some(Known {
            path,
            kind: match list {
                true => format!("list of {kind}").into(),
                false => kind.into(),
            },
            text: fits(&column, Role::Text, false).then_some(size as usize),
        })
    });
    known.collect()
}

fn leaf_of(schema: &SchemaDescriptor, names: &[&str]) -> Option<usize> {
    (0..schema.num_columns()).find(|&leaf| schema.column(leaf).path().parts() == names)
}

/// The fields of the text, with the columns to which their paths lead: the number of each among the
/// chosen columns, and among the columns of the text.
pub(super) type TextColumns = Vec<Field<'static, (usize, usize)>>;

/// Chooses the columns: the configured paths, or the first of the names that JSON objects are
/// searched for. There may be several columns of text; they are in the order of the paths.
pub(super) fn choose(schema: &SchemaDescriptor, config: &ReadConfig) -> (Vec<Chosen>, TextColumns) {
    let mut chosen = Vec::new();
    let (id, url) = (config.id_field.as_deref(), config.url_field.as_deref());
    let usual = [
        (Role::Id, id, &ID_FIELDS[..]),
        (Role::Url, url, &URL_FIELDS),
        (Role::Title, None, &["title"]),
        (Role::Kind, None, &TYPE_FIELDS),
    ];
    let kept = config.fields.iter().enumerate();
    let kept = kept.map(|(at, field)| (Role::Kept(at), Some(&**field), &[][..]));
    for (role, given, usual) in usual.into_iter().chain(kept) {
        let columns = Columns {
            schema,
            role,
            given: given.is_some(),
        };
        // Of the usual names, one is looked at in all rows.
        let most = given.map_or(1, |_| usize::MAX);
        for led in Names::of(given, usual).all(&columns).take(most).flatten() {
            columns.add(&mut chosen, led);
        }
    }
    let columns = Columns {
        schema,
        role: Role::Text,
        given: config.text_field.is_some(),
    };
    let mut numbers = 0..;
    let texts = Texts::of(config);
    let texts = texts.fields(&columns).into_iter();
    let texts = texts.map(|Field { name, ways }| {
        let add = |led| Some((columns.add(&mut chosen, led)?, numbers.next()?));
        let ways = ways.into_iter().flatten().filter_map(add);
        Field {
            name: name.into_owned().into(),
            ways: ways.collect(),
        }
    });
    let texts = texts.collect();
    (chosen, texts)
}

/// The columns that are the text of each row, in its order, if they are columns of strings.
///
/// # Errors
/// Why they are not.
pub fn text_columns(
    schema: &SchemaDescriptor,
    config: &ReadConfig,
) -> std::result::Result<Vec<usize>, String> {
    let mut leaves = Vec::new();
    let chosen = choose(schema, config).0.into_iter();
    for Chosen { path, leaf, .. } in chosen.filter(|chosen| chosen.role == Role::Text) {
        let column = schema.column(leaf);
        let is_text = matches!(form(&column), Form::Text | Form::Bytes);
        let why = match column.physical_type() {
            _ if column.max_rep_level() > 0 => "has lists",
            _ if !is_text => &format!("is of type {}", type_name(&column)),
            Physical::BYTE_ARRAY if leaves.contains(&leaf) => "is in the text twice",
            Physical::BYTE_ARRAY => {
                leaves.push(leaf);
                continue;
            }
            _ => "has values of one length",
        };
        return Err(format!("its column {path} {why}"));
    }
    match leaves.is_empty() {
        true => Err("it has no column of text".into()),
        false => Ok(leaves),
    }
}

/// How the values of a column are written as a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Text.
    Text,
    /// 16 bytes of a UUID.
    Uuid,
    /// Bytes whose type says nothing: text if they are UTF-8, else hexadecimal digits.
    Bytes,
    /// An integer with this sign.
    Integer { signed: bool },
    /// An integer with this number of digits behind the point.
    Decimal { scale: i32 },
    /// Days since 1970.
    Date,
    /// A number of two bytes.
    Half,
    /// Months, days and milliseconds.
    Interval,
    /// Units since 1970, `unit` of them in a second, and whether they are in UTC.
    Timestamp { unit: i64, utc: bool },
    /// The physical type says enough.
    Plain,
}

/// The converted type, which the `parquet` crate also derives from a logical type, says enough of
/// most.
fn form(column: &ColumnDescPtr) -> Form {
    let time = |unit, utc| Form::Timestamp { unit, utc };
    match column.logical_type_ref() {
        Some(LogicalType::Uuid) => return Form::Uuid,
        Some(LogicalType::Float16) => return Form::Half,
        Some(LogicalType::Timestamp(kind)) => {
            let unit = match kind.unit {
                TimeUnit::MILLIS => 1_000,
                TimeUnit::MICROS => 1_000_000,
                TimeUnit::NANOS => 1_000_000_000,
            };
            return time(unit, kind.is_adjusted_to_u_t_c);
        }
        _ => {}
    }
    match (column.converted_type(), column.physical_type()) {
        (ConvertedType::TIMESTAMP_MILLIS, _) => time(1_000, true),
        (ConvertedType::TIMESTAMP_MICROS, _) => time(1_000_000, true),
        (ConvertedType::DECIMAL, _) => Form::Decimal {
            scale: column.type_scale(),
        },
        (ConvertedType::DATE, _) => Form::Date,
        (ConvertedType::INTERVAL, _) => Form::Interval,
        (ConvertedType::UTF8 | ConvertedType::JSON | ConvertedType::ENUM, _) => Form::Text,
        (
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64,
            _,
        ) => Form::Integer { signed: false },
        (_, Physical::INT32 | Physical::INT64) => Form::Integer { signed: true },
        (_, Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY) => Form::Bytes,
        _ => Form::Plain,
    }
}

/// Returns the name of a column's type for messages.
pub(super) fn type_name(column: &ColumnDescPtr) -> &'static str {
    match (form(column), column.physical_type()) {
        (Form::Text, _) => "string",
        (Form::Uuid, _) => "UUID",
        (Form::Bytes, _) => "bytes",
        (Form::Integer { .. }, _) => "integer",
        (Form::Decimal { .. }, _) => "decimal",
        (Form::Date, _) => "date",
        (Form::Interval, _) => "interval",
        (Form::Timestamp { .. }, _) | (_, Physical::INT96) => "timestamp",
        (Form::Plain, Physical::BOOLEAN) => "boolean",
        (Form::Plain | Form::Half, _) => "number",
    }
}

/// A value of a physical type.
enum Value<'v> {
    Bytes(&'v [u8]),
    Boolean(bool),
    /// As a number with and without a sign.
    Integer(i64, u64),
    Int96(&'v [u32]),
    Single(f32),
    Double(f64),
}

/// The values of a row of a column that are not null.
trait Values: Send {
    /// Reads the next row and its levels. Returns the number of rows.
    fn next(&mut self, definitions: &mut Vec<i16>, repetitions: &mut Vec<i16>) -> Result<usize>;
    fn count(&self) -> usize;
    fn at(&self, at: usize) -> Option<Value<'_>>;
}

struct Typed<T: DataType> {
    reader: ColumnReaderImpl<T>,
    values: Vec<T::T>,
}

macro_rules! typed {
    ($($kind:ident $reader:ident $value:ident => $as:expr;)*) => {
        $(impl Values for Typed<$kind> {
            fn next(&mut self, definitions: &mut Vec<i16>, repetitions: &mut Vec<i16>) -> Result<usize> {
                self.values.clear();
                let levels = (Some(definitions), Some(repetitions));
                let read = self.reader.read_records(1, levels.0, levels.1, &mut self.values);
                read.map(|(rows, ..)| rows)
            }

            fn count(&self) -> usize {
                self.values.len()
            }

            fn at(&self, at: usize) -> Option<Value<'_>> {
                self.values.get(at).map(|$value| $as)
            }
        })*

        fn values_of(reader: ColumnReader) -> Box<dyn Values> {
            match reader {
                $(ColumnReader::$reader(reader) => Box::new(Typed { reader, values: Vec::new() }),)*
            }
        }
    };
}

typed! {
    BoolType BoolColumnReader value => Value::Boolean(*value);
    ByteArrayType ByteArrayColumnReader value => Value::Bytes(value.data());
    FixedLenByteArrayType FixedLenByteArrayColumnReader value => Value::Bytes(value.data());
    Int32Type Int32ColumnReader value => {
        Value::Integer((*value).into(), value.cast_unsigned().into())
    };
    Int64Type Int64ColumnReader value => Value::Integer(*value, value.cast_unsigned());
    Int96Type Int96ColumnReader value => Value::Int96(value.data());
    FloatType FloatColumnReader value => Value::Single(*value);
    DoubleType DoubleColumnReader value => Value::Double(*value);
}

/// Reads one column of a row group.
///
/// One row at a time: a piece of several rows would keep all the pages in memory that its values
/// are slices of.
pub(super) struct Column {
    values: Box<dyn Values>,
    form: Form,
    /// The definition level of a value that is not null.
    most: i16,
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
        let most = column.max_def_level();
        let values = values_of(get_column_reader(column, Box::new(pages)));
        Ok(Column {
            values,
            form,
            most,
            definitions: Vec::new(),
            repetitions: Vec::new(),
            in_row,
        })
    }

    /// Whether the type says that the bytes are UTF-8.
    pub fn is_text(&self) -> bool {
        self.form == Form::Text
    }

    /// Reads the next row.
    pub fn next(&mut self) -> Result<()> {
        self.definitions.clear();
        self.repetitions.clear();
        self.in_row.store(0, Ordering::Relaxed);
        let rows = (self.values).next(&mut self.definitions, &mut self.repetitions)?;
        // A row of many values must not keep its buffers.
        self.definitions.shrink_to(1 << 10);
        self.repetitions.shrink_to(1 << 10);
        match rows {
            1 => Ok(()),
            _ => Err(ParquetError::General("fewer values than rows".into())),
        }
    }

    /// Value number `at` of those that are not null, if it is of bytes.
    fn bytes(&self, at: usize) -> Option<&[u8]> {
        match self.values.at(at)? {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Value number `at` of those that are not null, as a name; `None` if it is empty or no number.
    /// At most one byte more than `most`, by which a name that is too long shows.
    fn name(&self, at: usize, most: usize) -> Option<String> {
        match (self.values.at(at)?, self.form) {
            (Value::Boolean(value), _) => Some(value.to_string()),
            (Value::Integer(value, unsigned), form) => Some(match form {
                Form::Integer { signed: false } => unsigned.to_string(),
                Form::Decimal { scale } => written::decimal(&value.to_be_bytes(), scale),
                Form::Date => written::date(value),
                Form::Timestamp { unit, utc } => written::timestamp(value, unit, utc),
                _ => value.to_string(),
            }),
            (Value::Int96(value), _) => written::int96(value),
            (Value::Single(value), _) => written::float(value),
            (Value::Double(value), _) => written::float(value),
            (Value::Bytes(bytes), Form::Half) => written::half(bytes),
            (Value::Bytes(bytes), Form::Interval) => written::interval(bytes),
            (Value::Bytes(bytes), Form::Decimal { scale })
                if bytes.len() <= written::LONGEST_DECIMAL =>
            {
                Some(written::decimal(bytes, scale))
            }
            (Value::Bytes(bytes), form) => name_of(bytes, form, most),
        }
    }

    /// Calls `act` with the number of each value of the row that is taken and not null, among
    /// those that are not null. Returns whether the list is there that the path ends with, if only
    /// an empty one or one of nulls.
    fn each(&self, chosen: &Chosen, columns: &[Column], mut act: impl FnMut(usize)) -> bool {
        let lists = &chosen.lists;
        let is_there = |definition: &i16| {
            let present = chosen.present;
            present.is_some_and(|(present, _)| *definition >= present)
        };
        if lists.is_empty() {
            (0..self.values.count()).for_each(act);
            let whole = self.definitions.is_empty() && chosen.present.is_some();
            return whole || self.definitions.iter().any(is_there);
        }
        let before = chosen.present.map(|(_, before)| before);
        let mut there = false;
        let meet: Vec<Vec<bool>> = (1..)
            .zip(lists)
            .map(|(level, list)| match &list.taken {
                Taken::Where {
                    column,
                    value,
                    number,
                } => match columns.get(*column) {
                    Some(column) => column.meet((level, list.definition), value, *number),
                    None => Vec::new(),
                },
                _ => Vec::new(),
            })
            .collect();
        // For each list, the element within it, and among all of its level in the row.
        let mut at = vec![(0usize, 0usize); lists.len()];
        let mut seen = vec![0usize; lists.len()];
        let mut value = 0;
        for (&definition, &repetition) in self.definitions.iter().zip(&self.repetitions) {
            let mut taken = true;
            for (depth, list) in lists.iter().enumerate() {
                there |= taken && before == Some(depth) && is_there(&definition);
                if definition < list.definition {
                    taken = false;
                    break;
                }
                let level = i16::try_from(depth + 1).unwrap_or(i16::MAX);
                if repetition <= level {
                    let again = usize::from(repetition == level);
                    at[depth] = ((at[depth].0 + 1) * again, seen[depth]);
                    seen[depth] += 1;
                }
                let (within, all) = at[depth];
                taken &= match &list.taken {
                    Taken::All => true,
                    Taken::Number(number) => *number == within,
                    Taken::Where { .. } => meet[depth].get(all) == Some(&true),
                };
            }
            if definition == self.most {
                if taken {
                    act(value);
                }
                value += 1;
            }
        }
        there
    }

    /// For each element of a list, which has one such value, whether the value is the one wanted;
    /// with a number, only for the element with that number in each list.
    fn meet(
        &self,
        (level, definition): (i16, i16),
        wanted: &str,
        number: Option<usize>,
    ) -> Vec<bool> {
        let (mut value, mut met) = (0, 0);
        let mut all = Vec::new();
        for (&here, &repetition) in self.definitions.iter().zip(&self.repetitions) {
            if repetition < level {
                met = 0;
            }
            if here < definition {
                continue;
            }
            let mut is = false;
            if here == self.most {
                is = match self.bytes(value) {
                    Some(bytes) if bytes == wanted.as_bytes() => true,
                    Some(_) if matches!(self.form, Form::Text) => false,
                    _ => self.name(value, wanted.len()).as_deref() == Some(wanted),
                };
                value += 1;
            }
            met += usize::from(is);
            all.push(is && number.is_none_or(|number| met - 1 == number));
        }
        all
    }
}

impl Chosen {
    /// The first value of the row that is taken, as a name.
    pub fn name(&self, at: usize, columns: &[Column], most: usize) -> Option<String> {
        let column = columns.get(at)?;
        let mut first = None;
        column.each(self, columns, |value| {
            first.get_or_insert(value);
        });
        column.name(first?, most)
    }

    /// Lines about values that are not in the text of a row, of whose objects `without` have no
    /// text.
    pub fn left_out(&self, without: usize, has_text: bool) -> impl Iterator<Item = Notice> {
        let twin = "another column of this name, and the first one counts";
        let parts = || format!("{} without text", counted(without as u64, "part"));
        let beside = self.beside.as_ref().filter(|_| has_text).map(|beside| {
            format!("objects of which only the text counts, not {beside} where it has a value")
        });
        let left = [
            self.twin.then(|| twin.into()),
            (without > 0).then(parts),
            beside,
        ];
        let line = move |what: String| (Reason::PartsLeft, format!("{} has {what}", self.path));
        left.into_iter().flatten().map(line)
    }

    /// Calls `act` with the text of each value of the row that is taken. Returns whether the list is
    /// there that the path ends with, and how many of the objects in the row have no such value.
    pub fn texts(
        &self,
        at: usize,
        columns: &[Column],
        mut act: impl FnMut(&[u8]),
    ) -> (bool, usize) {
        let Some(column) = columns.get(at) else {
            return (false, 0);
        };
        let is_list = column.each(self, columns, |value| match column.bytes(value) {
            Some(bytes) if matches!(column.form, Form::Text | Form::Bytes) => act(bytes),
            _ => {
                let name = column.name(value, usize::MAX - 1);
                act(name.unwrap_or_default().as_bytes());
            }
        });
        let without = |&&definition: &&i16| {
            self.part
                .is_some_and(|part| (part..column.most).contains(&definition))
        };
        (is_list, column.definitions.iter().filter(without).count())
    }
}

fn name_of(bytes: &[u8], form: Form, most: usize) -> Option<String> {
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
