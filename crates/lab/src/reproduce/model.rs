//! The parts of a reproduction: exhibits, which are tables and figures of a paper, and claims.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use super::Paper;
use lookalike_base::{count, keywords, percent};

/// A paper on a collection.
#[derive(Clone, Debug, Serialize)]
pub struct Reproduction {
    /// The paper.
    pub paper: Paper,
    /// Documents of the collection.
    pub documents: u64,
    /// Documents that are not exact duplicates of earlier ones.
    pub representatives: u64,
    /// The claims, in the order of the paper.
    pub claims: Vec<Claim>,
    /// The tables and figures, in the order of the paper.
    pub exhibits: Vec<Exhibit>,
}

keywords! {
    /// The finding about a claim on this collection.
    #[derive(Hash)]
    pub enum Finding: "is not a finding; use" {
        /// The numbers of this collection agree with it.
        Holds = "holds",
        /// They do not.
        Differs = "differs",
        /// It needs something that this collection or this program does not have.
        Untested = "cannot be tested here",
    }
}

/// A statement of a paper that its tables or figures support, and the finding on this collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Where the paper makes it: `Section 4.3, Table III`.
    pub place: String,
    /// The name of the exhibit with the numbers; empty if there is none.
    pub exhibit: String,
    /// The claim in one sentence of ours.
    pub says: String,
    /// Whether it holds here.
    pub finding: Finding,
    /// The numbers of this collection that decide it, or the reason why none can.
    pub here: String,
}

/// A table or a figure of a paper: its numbers on this collection, and the paper's beside them.
#[derive(Clone, Debug)]
pub struct Exhibit {
    /// Its name in names of files: `table-3`, `figure-7`, `section-4.3`.
    pub name: String,
    /// Its place in the paper: `Table III`.
    pub place: String,
    /// The title of the exhibit.
    pub title: String,
    /// Describes the counts and the differences from the paper, in whole sentences.
    pub about: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each with a cell for every column; none if it cannot be made here, as `about` says.
    pub rows: Vec<Vec<Cell>>,
    /// How a page draws the rows, if it does.
    pub plot: Option<Plotted>,
}

/// A column of an exhibit, or a value in a text, as `name: form`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Column {
    /// Its name: lower case, words joined by `_`. The name ends with `_paper` if the values are the paper's.
    pub name: String,
    /// How its values are written.
    pub form: Form,
}

impl TryFrom<String> for Column {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Column, String> {
        let (name, form) = text.split_once(": ").unwrap_or((&text, ""));
        let digits = form.strip_prefix("number ");
        let form = match (form, digits.and_then(|digits| digits.parse().ok())) {
            (_, Some(digits)) => Form::Number(digits),
            ("text", _) => Form::Text,
            ("count", _) => Form::Count,
            ("share", _) => Form::Share,
            ("percent", _) => Form::Percent,
            ("seconds", _) => Form::Seconds,
            ("bytes", _) => Form::Bytes,
            _ => return Err(format!("{text} has no form")),
        };
        let name = name.into();
        Ok(Column { name, form })
    }
}

impl Column {
    /// Whether the paper has its values.
    pub fn is_paper(&self) -> bool {
        self.name.ends_with("_paper")
    }
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As it is.
    Text,
    /// A whole number.
    Count,
    /// A share from 0 to 1; per cent on a page.
    Share,
    /// A share that the paper prints in per cent.
    Percent,
    /// A number with this number of decimals.
    Number(u8),
    /// Seconds. They differ from run to run.
    Seconds,
    /// Bytes.
    Bytes,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// A text.
    Text(String),
    /// A whole number.
    Count(u64),
    /// Any other number.
    Number(f64),
    /// There is none: the paper does not give it, or it is undefined here.
    Nothing,
}

/// The lines that a page draws through the rows of an exhibit. Texts are names of columns.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plotted {
    /// The column along the x axis.
    pub x: String,
    /// The columns along the y axis, each a line.
    pub y: Vec<String>,
    /// The column whose values each have a panel of their own, over the lines of the others.
    pub panels: Option<String>,
    /// Logarithmic axes: x and y.
    #[serde(default)]
    pub logarithmic: (bool, bool),
}

/// A row of values: some, and behind `;` all of a list.
macro_rules! cells {
    ($($cell:expr),* $(,)?) => { vec![$($crate::reproduce::Cell::from($cell)),*] };
    ($($cell:expr),*; $more:expr) => {{
        let first = $crate::reproduce::cells![$($cell),*];
        let more = $more.into_iter().map($crate::reproduce::Cell::from);
        first.into_iter().chain(more).collect::<Vec<_>>()
    }};
}
/// A row of values for each of some things.
macro_rules! rows {
    ($row:pat in $rows:expr => $($cells:tt)+) => {
        $rows.into_iter().map(|$row| $crate::reproduce::cells![$($cells)+]).collect::<Vec<_>>()
    };
}
/// Takes a table of `rows!`; the cells that its description shows may come first, in brackets.
macro_rules! table {
    ($made:ident, $name:expr, [$($about:expr),*] $($rows:tt)+) => {
        $made.table_about(
            $name,
            $crate::reproduce::cells![$($about),*],
            $crate::reproduce::rows!($($rows)+),
        )
    };
    ($made:ident, $name:expr, $($rows:tt)+) => {
        $made.table($name, $crate::reproduce::rows!($($rows)+))
    };
}
pub(crate) use {cells, rows, table};

/// Each of some things with each of some others.
pub(super) fn pairs<A: Clone, B>(
    all: impl IntoIterator<Item = A>,
    with: impl IntoIterator<Item = B> + Clone,
) -> impl Iterator<Item = (A, B)> {
    let with = move |one: A| with.clone().into_iter().map(move |b| (one.clone(), b));
    all.into_iter().flat_map(with)
}

/// The mean of some numbers; not a number of none.
pub(super) fn mean(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let all: Vec<f64> = numbers.into_iter().collect();
    all.iter().sum::<f64>() / all.len() as f64
}

impl Cell {
    /// Its value as a number.
    pub fn number(&self) -> Option<f64> {
        match self {
            Cell::Count(n) => Some(*n as f64),
            Cell::Number(n) => Some(*n),
            Cell::Text(_) | Cell::Nothing => None,
        }
    }

    /// The value for programs.
    pub(crate) fn field(&self) -> String {
        match self {
            Cell::Nothing => String::new(),
            Cell::Text(text) => text.clone(),
            Cell::Count(n) => n.to_string(),
            Cell::Number(n) => format!("{n:.6}"),
        }
    }

    /// The value for people.
    pub fn shown(&self, form: Form) -> String {
        match (self, form) {
            (Cell::Nothing, _) => "–".into(),
            (Cell::Text(text), _) => text.clone(),
            (Cell::Number(n), Form::Share | Form::Percent) => percent(*n, 1),
            (Cell::Number(n), Form::Number(digits)) => format!("{n:.*}", usize::from(digits)),
            (Cell::Number(n), Form::Seconds) => format!("{n:.2}"),
            (Cell::Number(n), _) => count(n.round() as u64),
            (Cell::Count(n), Form::Share) => percent(*n as f64, 1),
            (Cell::Count(n), _) => count(*n),
        }
    }
}

/// Declares the types from which a cell is made.
macro_rules! from {
    ($($value:ident: $type:ty => $cell:expr),+ $(,)?) => {
        $(impl From<$type> for Cell {
            fn from($value: $type) -> Cell {
                $cell
            }
        })+
    };
}

from! {
    text: &str => Cell::Text(text.into()),
    text: String => Cell::Text(text),
    n: u64 => Cell::Count(n),
    n: u32 => Cell::Count(n.into()),
    // 1 for yes.
    yes: bool => Cell::Count(yes.into()),
    // A number that is not finite is undefined.
    n: f64 => if n.is_finite() { Cell::Number(n) } else { Cell::Nothing },
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Nothing, Into::into)
    }
}

/// A row as a map from names of columns to values.
struct Named<'e>(&'e [Column], &'e [Cell]);

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = self.0.iter().map(|column| &column.name);
        serializer.collect_map(columns.zip(self.1))
    }
}

impl Serialize for Exhibit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = self.rows.iter().map(|row| Named(&self.columns, row));
        let rows: Vec<Named<'_>> = rows.collect();
        let mut map = serializer.serialize_map(Some(5))?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("place", &self.place)?;
        map.serialize_entry("title", &self.title)?;
        map.serialize_entry("about", &self.about)?;
        map.serialize_entry("rows", &rows)?;
        map.end()
    }
}
