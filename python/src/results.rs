//! The result files of a directory as tables.
//!
//! The library checks a file against its manifest and gives its rows; here they become batches.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, Float64Builder, Int64Builder, StringBuilder, UInt32Builder,
};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use lookalike::store::table::{Cell, Column, Kind};
use lookalike::{Collection, Options, Result, ResultTable, Results};

use crate::arrow::Table;

/// A batch has at most this number of rows.
pub const ROWS: usize = 64 << 10;
/// A batch ends with the row in which its texts reach this number of bytes.
const BYTES: usize = 32 << 20;

/// The values of a column of a batch.
enum Values {
    Text(StringBuilder),
    U32(UInt32Builder),
    I64(Int64Builder),
    F64(Float64Builder),
}

impl Values {
    fn of(column: &Column) -> Values {
        match column.kind {
            Kind::Text => Values::Text(StringBuilder::new()),
            Kind::U32 => Values::U32(UInt32Builder::new()),
            Kind::I64 => Values::I64(Int64Builder::new()),
            Kind::F64 => Values::F64(Float64Builder::new()),
        }
    }

    /// Appends a cell; returns the bytes of its text.
    fn push(&mut self, cell: &Cell<'_>) -> usize {
        match (self, *cell) {
            (Values::Text(values), Cell::Text(text)) => {
                values.append_value(text);
                return text.len();
            }
            (Values::Text(values), _) => values.append_null(),
            // The library reads no number that its column cannot have.
            (Values::U32(values), Cell::Number(n)) => values.append_option(n.try_into().ok()),
            (Values::U32(values), _) => values.append_null(),
            (Values::I64(values), Cell::Number(n)) => values.append_option(n.try_into().ok()),
            (Values::I64(values), _) => values.append_null(),
            (Values::F64(values), Cell::Real(n)) => values.append_value(n),
            (Values::F64(values), _) => values.append_null(),
        }
        0
    }

    fn finish(&mut self) -> ArrayRef {
        let values: &mut dyn ArrayBuilder = match self {
            Values::Text(values) => values,
            Values::U32(values) => values,
            Values::I64(values) => values,
            Values::F64(values) => values,
        };
        values.finish()
    }
}

/// The columns as Arrow fields, with the types of the Parquet files. Documents are named as in the
/// results for texts in memory: `id` for `docno`.
pub fn fields(columns: &[Column]) -> Vec<Field> {
    let field = |column: &Column| {
        let kind = match column.kind {
            Kind::Text => DataType::Utf8,
            Kind::U32 => DataType::UInt32,
            Kind::I64 => DataType::Int64,
            Kind::F64 => DataType::Float64,
        };
        let name = match column.name.strip_prefix("docno") {
            Some(rest) => format!("id{rest}"),
            None => column.name.to_string(),
        };
        Field::new(name, kind, column.null.is_some())
    };
    columns.iter().map(field).collect()
}

struct Reading {
    table: ResultTable,
    schema: SchemaRef,
}

impl Iterator for Reading {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut columns: Vec<Values> = self.table.columns().iter().map(Values::of).collect();
        let (mut rows, mut bytes) = (0, 0);
        while rows < ROWS && bytes < BYTES {
            let push = |cells: &[Cell<'_>]| {
                let cells = columns.iter_mut().zip(cells);
                cells.map(|(values, cell)| values.push(cell)).sum::<usize>()
            };
            match self.table.row(push) {
                Ok(None) => break,
                Ok(Some(text)) => (rows, bytes) = (rows + 1, bytes + text),
                Err(error) => return Some(Err(external(error))),
            }
        }
        let columns = columns.iter_mut().map(Values::finish).collect();
        (rows > 0).then(|| RecordBatch::try_new(self.schema.clone(), columns))
    }
}

impl RecordBatchReader for Reading {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// An error of the library as one of Arrow.
pub fn external(error: lookalike::Error) -> ArrowError {
    ArrowError::ExternalError(Box::new(error))
}

/// A result file of a directory as a table.
pub fn table(directory: PathBuf, of: Results) -> Result<Table> {
    let open = move || {
        let table = Collection::open(&directory, Options::default())?.table(of)?;
        let schema = Arc::new(Schema::new(fields(table.columns())));
        Ok(Reading { table, schema })
    };
    Ok(Table {
        schema: open()?.schema,
        open: Arc::new(move || Ok(Box::new(open()?))),
    })
}
