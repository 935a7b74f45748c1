//! The tasks of `lookalike::tasks::distributed`, over Arrow batches.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    RecordBatchIterator, StringArray,
};
use arrow_schema::{DataType, Field, Schema};
use lookalike::base::byte_size::ByteSize;
use lookalike::base::ids::FingerprintKind;
use lookalike::base::measure::{Criterion, Measure};
use lookalike::engine::collection::{Condition, Rule as Where, SizeGroups};
use lookalike::engine::shingle::ShingleConfig;
use lookalike::tasks::dedup::{Policy, Rule, preference};
use lookalike::tasks::distributed::{
    Bands, Blocks, Candidates, Classes, Config, Found, Frequencies, Graph, Intake, PartResults,
    Prefixes, Row, Side, Stage, Verify,
};
use lookalike::text::parse::{Fold, ParseConfig};
use lookalike::text::read::{MOST_VALUE_BYTES, Markup, ReadConfig, stated};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::arrow::{Rows, Table, arrays, failed};
use crate::{locked, raise};

/// The parameters of a job, as Python passes them to every task.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    threshold: String,
    score: String,
    shingle_size: u32,
    tokens: String,
    #[serde(default)]
    fold: Fold,
    short: String,
    seed: u64,
    sampling: String,
    size_groups: Option<String>,
    partitions: u32,
    memory: String,
    scratch: PathBuf,
    bands: Option<(u32, u32)>,
    look_up: bool,
    markup: Markup,
    #[serde(rename = "where")]
    condition: Option<Condition>,
}

fn wrong(text: impl ToString) -> PyErr {
    PyValueError::new_err(text.to_string())
}

fn config(py: Python<'_>, given: &str) -> PyResult<Config> {
    let given: Given = serde_json::from_str(given).map_err(wrong)?;
    let measure: Measure = given.score.parse().map_err(wrong)?;
    let groups = given.size_groups.as_deref().map(str::parse::<SizeGroups>);
    let condition = given.condition.filter(|condition| !condition.is_true());
    let rule = condition.map(|condition| Where::new(&condition, condition.fields()).map(Arc::new));
    let config = Config {
        shingle: ShingleConfig {
            parse: ParseConfig {
                tokens: given.tokens.parse().map_err(wrong)?,
                fold: given.fold,
                ..ParseConfig::default()
            },
            shingle_size: given.shingle_size,
            short: given.short.parse().map_err(wrong)?,
            fingerprint: FingerprintKind::Xxh3,
            seed: given.seed,
            ..ShingleConfig::default()
        },
        criterion: Criterion {
            measure,
            threshold: given.threshold.parse().map_err(wrong)?,
        },
        sampling: given.sampling.parse().map_err(wrong)?,
        size_groups: groups.transpose().map_err(wrong)?.unwrap_or_default(),
        places: given.partitions,
        memory: given.memory.parse::<ByteSize>().map_err(wrong)?.0,
        scratch: given.scratch,
        bands: given.bands,
        look_up: given.look_up,
        rule: rule.transpose().map_err(|error| raise(py, &error))?,
    };
    config.check().map_err(|error| raise(py, &error))?;
    if config
        .rule
        .iter()
        .any(|rule| rule.condition.fields().contains(&"docno".into()))
    {
        return Err(wrong(
            "where: rows have no docno; name the column of the ids",
        ));
    }
    if let Some((bands, rows)) = config.bands {
        let made = lookalike::methods::MinHashes::new(bands, rows, 0);
        made.map_err(|error| raise(py, &error))?;
    }
    Ok(config)
}

/// Refuses parameters that the tasks would refuse, before any of them runs.
#[pyfunction]
pub fn check_job(py: Python<'_>, given: &str, policies: Vec<String>) -> PyResult<()> {
    config(py, given)?;
    parsed(&policies).map(drop)
}

fn parsed(policies: &[String]) -> PyResult<Vec<Policy>> {
    let policies = policies.iter().map(|policy| match policy.parse() {
        Ok(Policy::PreferInput(_)) => Err("`prefer-input` is for files".to_string()),
        parsed => parsed,
    });
    policies.collect::<Result<_, _>>().map_err(wrong)
}

/// The columns that policies look at.
#[pyfunction]
pub fn fields_of(policies: Vec<String>) -> PyResult<Vec<String>> {
    let policies = parsed(&policies)?;
    let fields = policies.iter().filter_map(Policy::field);
    Ok(fields.map(str::to_string).collect())
}

/// The values in the field of a policy: the values that it can read, the others, and the least of
/// these.
type Values = (u64, u64, Option<String>);

/// Counts the values that each policy can read in the columns `field_0`, `field_1` ...
#[pyfunction]
pub fn values_of(
    py: Python<'_>,
    policies: Vec<String>,
    object: &Bound<'_, PyAny>,
) -> PyResult<Vec<Values>> {
    let policies = parsed(&policies)?;
    let policies = policies.iter().filter(|policy| policy.field().is_some());
    let mut found: Vec<(&Policy, Values)> = policies.map(|policy| (policy, (0, 0, None))).collect();
    for batch in &batches(py, object)? {
        for (n, (policy, (read, unread, least))) in found.iter_mut().enumerate() {
            let name = format!("field_{n}");
            let values = Bytes::of(column(batch, &name)?, &name)?;
            for row in 0..batch.num_rows() {
                let Some(text) = values.text(row)? else {
                    continue;
                };
                if preference(policy, Some(text)).is_some() {
                    *read += 1;
                    continue;
                }
                *unread += 1;
                if least.as_deref().is_none_or(|least| text < least) {
                    *least = Some(text.to_string());
                }
            }
        }
    }
    Ok(found.into_iter().map(|(_, values)| values).collect())
}

/// The batches of a table.
fn batches(py: Python<'_>, table: &Bound<'_, PyAny>) -> PyResult<Vec<RecordBatch>> {
    let arrays = arrays(table)?;
    let batches = arrays.map(|array| Ok(RecordBatch::from(array?.as_struct().clone())));
    py.detach(|| batches.collect::<Result<_, _>>())
        .map_err(failed)
}

/// Values of strings or bytes of any layout.
enum Bytes<'a> {
    Utf8(&'a StringArray),
    LargeUtf8(&'a arrow_array::LargeStringArray),
    Utf8View(&'a arrow_array::StringViewArray),
    Binary(&'a arrow_array::BinaryArray),
    LargeBinary(&'a arrow_array::LargeBinaryArray),
    BinaryView(&'a arrow_array::BinaryViewArray),
}

impl<'a> Bytes<'a> {
    fn of(array: &'a ArrayRef, name: &str) -> PyResult<Self> {
        Ok(match array.data_type() {
            DataType::Utf8 => Bytes::Utf8(array.as_string()),
            DataType::LargeUtf8 => Bytes::LargeUtf8(array.as_string()),
            DataType::Utf8View => Bytes::Utf8View(array.as_string_view()),
            DataType::Binary => Bytes::Binary(array.as_binary()),
            DataType::LargeBinary => Bytes::LargeBinary(array.as_binary()),
            DataType::BinaryView => Bytes::BinaryView(array.as_binary_view()),
            kind => {
                let text = format!("the column {name} has the type {kind}, not strings");
                return Err(PyTypeError::new_err(text));
            }
        })
    }

    fn at(&self, row: usize) -> &'a [u8] {
        match self {
            Bytes::Utf8(array) => array.value(row).as_bytes(),
            Bytes::LargeUtf8(array) => array.value(row).as_bytes(),
            Bytes::Utf8View(array) => array.value(row).as_bytes(),
            Bytes::Binary(array) => array.value(row),
            Bytes::LargeBinary(array) => array.value(row),
            Bytes::BinaryView(array) => array.value(row),
        }
    }

    fn is_null(&self, row: usize) -> bool {
        match self {
            Bytes::Utf8(array) => array.is_null(row),
            Bytes::LargeUtf8(array) => array.is_null(row),
            Bytes::Utf8View(array) => array.is_null(row),
            Bytes::Binary(array) => array.is_null(row),
            Bytes::LargeBinary(array) => array.is_null(row),
            Bytes::BinaryView(array) => array.is_null(row),
        }
    }

    /// The text of a row, if it has one.
    fn text(&self, row: usize) -> PyResult<Option<&'a str>> {
        if self.is_null(row) {
            return Ok(None);
        }
        std::str::from_utf8(self.at(row)).map(Some).map_err(wrong)
    }
}

fn column<'b>(batch: &'b RecordBatch, name: &str) -> PyResult<&'b ArrayRef> {
    let column = batch.column_by_name(name);
    column.ok_or_else(|| wrong(format!("there is no column {name}")))
}

/// Identifiers: integers, or text. As bytes, they have the same order.
enum Ids<'a> {
    Numbers(&'a Int64Array),
    Texts(Bytes<'a>),
}

impl<'a> Ids<'a> {
    fn of(batch: &'a RecordBatch, name: &str) -> PyResult<Self> {
        let array = column(batch, name)?;
        if array.null_count() > 0 {
            return Err(wrong(format!("an identifier in the column {name} is null")));
        }
        Ok(match array.data_type() {
            DataType::Int64 => Ids::Numbers(array.as_primitive()),
            _ => Ids::Texts(Bytes::of(array, name)?),
        })
    }

    fn with<T>(&self, row: usize, take: impl FnOnce(&[u8]) -> T) -> T {
        match self {
            Ids::Numbers(array) => {
                let number = array.value(row).cast_unsigned() ^ (1 << 63);
                take(&number.to_be_bytes())
            }
            Ids::Texts(texts) => take(texts.at(row)),
        }
    }
}

/// A column of identifiers. `numbers` says which kind they were.
fn ids_column<'a>(numbers: bool, ids: impl Iterator<Item = &'a [u8]>) -> PyResult<ArrayRef> {
    if numbers {
        let numbers = ids.map(|id| {
            let bytes = <[u8; 8]>::try_from(id).ok();
            let number = bytes.map(|bytes| (u64::from_be_bytes(bytes) ^ (1 << 63)).cast_signed());
            number.ok_or_else(|| wrong("an identifier is not an integer"))
        });
        return Ok(Arc::new(Int64Array::from(
            numbers.collect::<PyResult<Vec<_>>>()?,
        )));
    }
    let texts = ids.map(|id| std::str::from_utf8(id).map_err(wrong));
    let texts = texts.collect::<PyResult<Vec<_>>>()?;
    Ok(Arc::new(StringArray::from(texts)))
}

fn table(batch: RecordBatch) -> Table {
    let schema = batch.schema();
    let rows = schema.clone();
    Table {
        schema,
        open: Arc::new(move || {
            let one = std::iter::once(Ok(batch.clone()));
            Ok(Box::new(RecordBatchIterator::new(one, rows.clone())) as Rows)
        }),
    }
}

/// Rows as a table; None if there are none.
fn rows(rows: Vec<Row>) -> PyResult<Option<Table>> {
    if rows.is_empty() {
        return Ok(None);
    }
    let places = Int32Array::from_iter_values(rows.iter().map(|row| row.place.cast_signed()));
    let bytes = rows.iter().map(|row| row.blob.len()).sum();
    let mut blobs = BinaryBuilder::with_capacity(rows.len(), bytes);
    rows.iter().for_each(|row| blobs.append_value(&row.blob));
    let schema = Schema::new(vec![
        Field::new("place", DataType::Int32, false),
        Field::new("blob", DataType::Binary, false),
    ]);
    let columns: Vec<ArrayRef> = vec![Arc::new(places), Arc::new(blobs.finish())];
    let batch = RecordBatch::try_new(Arc::new(schema), columns).map_err(failed)?;
    Ok(Some(table(batch)))
}

/// A task that takes texts.
#[pyclass(frozen, module = "lookalike._native")]
pub struct IntakeTask {
    intake: Mutex<Intake>,
    read: ReadConfig,
}

#[pymethods]
impl IntakeTask {
    #[new]
    fn new(py: Python<'_>, given: &str, policies: Vec<String>) -> PyResult<Self> {
        let made = Intake::new(&config(py, given)?, parsed(&policies)?);
        let Given { markup, .. } = serde_json::from_str(given).map_err(wrong)?;
        Ok(IntakeTask {
            intake: Mutex::new(made.map_err(|error| raise(py, &error))?),
            read: ReadConfig {
                markup: Some(markup),
                ..ReadConfig::default()
            },
        })
    }

    /// Takes rows with the columns `id`, `text`, `type`, `side` (1 for queries, 2 for the
    /// collection, 3 otherwise), `field_0`, `field_1` ... for the fields of the policies, and
    /// `where_` with the bytes of its name in hexadecimal digits for a field of the condition: Spark
    /// takes a column with a dot for a field of a struct.
    fn add(&self, py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Option<Table>> {
        let batches = batches(py, object)?;
        py.detach(|| {
            let mut out = Vec::new();
            for batch in &batches {
                self.add_batch(batch, &mut out)?;
            }
            rows(out)
        })
    }

    fn finish(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        let mut out = Vec::new();
        let done = py.detach(|| locked(&self.intake).finish(&mut out));
        done.map_err(|error| raise(py, &error))?;
        rows(out)
    }
}

impl IntakeTask {
    fn add_batch(&self, batch: &RecordBatch, out: &mut Vec<Row>) -> PyResult<()> {
        let mut intake = locked(&self.intake);
        let fields = intake.policies.iter().filter_map(Policy::field).count();
        let fields = (0..fields).map(|n| {
            let name = format!("field_{n}");
            Bytes::of(column(batch, &name)?, &name)
        });
        let fields = fields.collect::<PyResult<Vec<_>>>()?;
        let condition = intake.condition().to_vec();
        let known = condition.iter().map(|field| {
            let name = match &**field {
                "words" => return Ok(None),
                "host" | "path" => "url",
                field => field,
            };
            let name = name.bytes().fold("where_".to_string(), |name, byte| {
                format!("{name}{byte:02x}")
            });
            Bytes::of(column(batch, &name)?, &name).map(Some)
        });
        let known = known.collect::<PyResult<Vec<_>>>()?;
        let texts = Bytes::of(column(batch, "text")?, "text")?;
        let id = column(batch, "id")?;
        if let Some(row) = (0..batch.num_rows()).find(|&row| id.is_null(row)) {
            let text: String = texts
                .text(row)?
                .unwrap_or("null")
                .chars()
                .take(80)
                .collect();
            let what = "the column id is null beside the text";
            return Err(wrong(format!("{what} `{text}`")));
        }
        let ids = Ids::of(batch, "id")?;
        let types = Bytes::of(column(batch, "type")?, "type")?;
        let sides = column(batch, "side")?;
        let sides = sides.as_primitive_opt::<Int32Type>();
        let sides = sides.ok_or_else(|| PyTypeError::new_err("side is not an int"))?;
        for row in 0..batch.num_rows() {
            let Some(text) = texts.text(row)? else {
                continue;
            };
            let declared = types.text(row)?.map(str::to_lowercase);
            let content = self
                .read
                .content(false, declared.as_deref(), text.as_bytes());
            let values = fields.iter().map(|field| field.text(row));
            let values = values.collect::<PyResult<Vec<_>>>()?;
            let known = condition.iter().zip(&known);
            let known = known.map(|(field, values)| {
                let value = values
                    .as_ref()
                    .map_or(Ok(None), |values| values.text(row))?;
                let value = value.and_then(|value| stated(field, value));
                // As in files, a value that is too long is missing.
                Ok(value.filter(|value| value.len() <= MOST_VALUE_BYTES))
            });
            let values = (&values[..], known.collect::<PyResult<_>>()?);
            let side = match sides.value(row) {
                1 => Side::Query,
                2 => Side::Collection,
                _ => Side::Any,
            };
            ids.with(row, |id| intake.add(text, content, id, values, side, out))
                .map_err(|error| Python::attach(|py| raise(py, &error)))?;
        }
        Ok(())
    }
}

/// A task of another stage.
#[pyclass(frozen, module = "lookalike._native")]
pub struct StageTask(Mutex<Box<dyn Stage>>);

#[pymethods]
impl StageTask {
    #[new]
    fn new(py: Python<'_>, stage: &str, given: &str) -> PyResult<Self> {
        let config = config(py, given)?;
        Ok(StageTask(Mutex::new(match stage {
            "frequencies" => Box::new(Frequencies::new(&config)),
            "classes" => Box::new(Classes::new(&config)),
            "prefixes" => Box::new(Prefixes::new(&config)),
            "bands" => Box::new(Bands::new(&config).map_err(|error| raise(py, &error))?),
            "candidates" => Box::new(Candidates::new(&config)),
            "blocks" => Box::new(Blocks::new(&config)),
            "verify" => Box::new(Verify::new(&config)),
            _ => return Err(wrong(format!("there is no stage {stage}"))),
        })))
    }

    /// Takes rows with the columns `place` and `blob`.
    fn add(&self, py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Option<Table>> {
        let batches = batches(py, object)?;
        py.detach(|| {
            let mut out = Vec::new();
            for batch in &batches {
                let (places, blobs) = places_and_blobs(batch)?;
                let mut stage = locked(&self.0);
                for row in 0..batch.num_rows() {
                    let place = places.value(row).cast_unsigned();
                    let taken = stage.take(place, blobs.at(row), &mut out);
                    taken.map_err(|error| Python::attach(|py| raise(py, &error)))?;
                }
            }
            rows(out)
        })
    }

    /// Does a piece of the work. Returns whether there is more, and rows.
    fn step(&self, py: Python<'_>) -> PyResult<(bool, Option<Table>)> {
        let mut out = Vec::new();
        let more = py.detach(|| locked(&self.0).step(&mut out));
        Ok((more.map_err(|error| raise(py, &error))?, rows(out)?))
    }
}

fn places_and_blobs(batch: &RecordBatch) -> PyResult<(&Int32Array, Bytes<'_>)> {
    let places = column(batch, "place")?.as_primitive_opt();
    let places = places.ok_or_else(|| PyTypeError::new_err("place is not an int"))?;
    Ok((places, Bytes::of(column(batch, "blob")?, "blob")?))
}

/// A task that gives pairs.
#[pyclass(frozen, module = "lookalike._native")]
pub struct ResultsTask {
    results: Mutex<PartResults>,
    measure: Measure,
    numbers: [bool; 2],
}

#[pymethods]
impl ResultsTask {
    /// `numbers` says which of the two columns of identifiers has integers.
    #[new]
    fn new(py: Python<'_>, given: &str, numbers: [bool; 2]) -> PyResult<Self> {
        let config = config(py, given)?;
        Ok(ResultsTask {
            results: Mutex::new(PartResults::new(&config)),
            measure: config.criterion.measure,
            numbers,
        })
    }

    /// Takes rows with the columns `place` and `blob`.
    fn add(&self, py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Option<Table>> {
        let batches = batches(py, object)?;
        py.detach(|| {
            let mut out = Vec::new();
            for batch in &batches {
                let (_, blobs) = places_and_blobs(batch)?;
                let mut results = locked(&self.results);
                for row in 0..batch.num_rows() {
                    let taken = results.take(0, blobs.at(row), &mut out);
                    taken.map_err(|error| Python::attach(|py| raise(py, &error)))?;
                }
            }
            self.found(&out)
        })
    }

    /// Does a piece of the work. Returns whether there is more, and pairs.
    fn step(&self, py: Python<'_>) -> PyResult<(bool, Option<Table>)> {
        let mut out = Vec::new();
        let more = py.detach(|| locked(&self.results).step(&mut out));
        let more = more.map_err(|error| raise(py, &error))?;
        Ok((more, py.detach(|| self.found(&out))?))
    }
}

impl ResultsTask {
    fn found(&self, rows: &[Row]) -> PyResult<Option<Table>> {
        let mut found = Vec::new();
        for row in rows {
            let read = Found::each(&row.blob, |pair| {
                found.push(pair);
                Ok(())
            });
            read.map_err(|error| Python::attach(|py| raise(py, &error)))?;
        }
        if found.is_empty() {
            return Ok(None);
        }
        let score = found.iter().map(|found| {
            let [shared, a, b] = found.numbers.map(u64::from);
            let text = match found.exact {
                true => "1".into(),
                false => self.measure.text(shared, a, b),
            };
            text.parse().map_err(wrong)
        });
        let score = score.collect::<PyResult<Vec<f64>>>()?;
        let number = |n: usize| -> ArrayRef {
            let numbers = found.iter().map(|found| found.numbers[n].cast_signed());
            Arc::new(Int32Array::from_iter_values(numbers))
        };
        let rank = |n: usize| -> ArrayRef {
            let mut ranks = BinaryBuilder::new();
            let values = found.iter().map(|found| &found.ranks[n]);
            values.for_each(|rank| ranks.append_value(rank));
            Arc::new(ranks.finish())
        };
        let exact: Vec<bool> = found.iter().map(|found| found.exact).collect();
        let same: Vec<bool> = found.iter().map(|found| found.same_words).collect();
        let batch = RecordBatch::try_from_iter([
            (
                "a",
                ids_column(self.numbers[0], found.iter().map(|f| &*f.a))?,
            ),
            (
                "b",
                ids_column(self.numbers[1], found.iter().map(|f| &*f.b))?,
            ),
            ("score", Arc::new(Float64Array::from(score)) as ArrayRef),
            ("shared", number(0)),
            ("size_a", number(1)),
            ("size_b", number(2)),
            ("rank_a", rank(0)),
            ("rank_b", rank(1)),
            ("exact", Arc::new(BooleanArray::from(exact))),
            ("same_words", Arc::new(BooleanArray::from(same))),
        ]);
        Ok(Some(table(batch.map_err(failed)?)))
    }
}

/// A task that has all pairs, or some of them.
#[pyclass(frozen, module = "lookalike._native")]
pub struct GraphTask {
    graph: Mutex<Graph>,
    numbers: bool,
}

#[pymethods]
impl GraphTask {
    #[new]
    fn new(numbers: bool) -> Self {
        GraphTask {
            graph: Mutex::new(Graph::default()),
            numbers,
        }
    }

    /// Takes pairs with the columns `a` and `b`, and perhaps `rank_a`, `rank_b` and `exact`.
    fn add(&self, py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let batches = batches(py, object)?;
        py.detach(|| {
            for batch in &batches {
                let (a, b) = (Ids::of(batch, "a")?, Ids::of(batch, "b")?);
                let rank = |name| match batch.column_by_name(name) {
                    Some(array) => Bytes::of(array, name).map(Some),
                    None => Ok(None),
                };
                let ranks = [rank("rank_a")?, rank("rank_b")?];
                let flags = ["exact", "same_words"].map(|name| {
                    let column = batch.column_by_name(name);
                    column.and_then(|array| array.as_boolean_opt())
                });
                let mut graph = locked(&self.graph);
                for row in 0..batch.num_rows() {
                    let of = |rank: &Option<Bytes<'_>>| rank.as_ref().map(|r| r.at(row).to_vec());
                    let ranks = [&ranks[0], &ranks[1]].map(|rank| of(rank).unwrap_or_default());
                    let [exact, same] = flags.map(|flag| flag.is_some_and(|flag| flag.value(row)));
                    let exact = (exact, same);
                    let ranks = [&ranks[0][..], &ranks[1][..]];
                    let added = a.with(row, |a| b.with(row, |b| graph.add([a, b], ranks, exact)));
                    added.map_err(|error| Python::attach(|py| raise(py, &error)))?;
                }
            }
            Ok(())
        })
    }

    /// Each document, and the preferred document of its cluster; or only the others.
    fn clusters(&self, py: Python<'_>, others: bool) -> PyResult<Option<Table>> {
        py.detach(|| {
            let mut pairs = Vec::new();
            locked(&self.graph).clusters(|id, best| {
                if !others || id != best {
                    pairs.push((id.to_vec(), best.to_vec()));
                }
            });
            self.pairs(&pairs)
        })
    }

    /// Each document that is removed, and the document that is kept in its place. A document that
    /// is kept and has copies with the same identifier is its own.
    fn removed(&self, py: Python<'_>, rule: &str) -> PyResult<Option<Table>> {
        let mut star = true;
        match rule.parse().map_err(wrong)? {
            Rule::Star => {}
            Rule::Cluster => star = false,
            Rule::None | Rule::All => return Err(wrong("the rule is star or one-per-cluster")),
        }
        py.detach(|| {
            let mut pairs = Vec::new();
            let graph = locked(&self.graph);
            let take = |id: &[u8], best: &[u8]| {
                if id != best {
                    pairs.push((id.to_vec(), best.to_vec()));
                }
            };
            match star {
                true => graph.removed(take),
                false => graph.clusters(take),
            }
            // Copies of a kept document: each of them survives itself.
            let gone: HashSet<_> = pairs.iter().map(|(id, _)| id.clone()).collect();
            graph.copies(|id| {
                if !gone.contains(id) {
                    pairs.push((id.to_vec(), id.to_vec()));
                }
            });
            self.pairs(&pairs)
        })
    }
}

impl GraphTask {
    fn pairs(&self, pairs: &[(Vec<u8>, Vec<u8>)]) -> PyResult<Option<Table>> {
        if pairs.is_empty() {
            return Ok(None);
        }
        let batch = RecordBatch::try_from_iter([
            ("a", ids_column(self.numbers, pairs.iter().map(|p| &*p.0))?),
            ("b", ids_column(self.numbers, pairs.iter().map(|p| &*p.1))?),
        ]);
        Ok(Some(table(batch.map_err(failed)?)))
    }
}
