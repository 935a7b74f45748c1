//! What a reproduction consists of: exhibits, which are tables and figures of a paper, and claims.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use super::Paper;
use lookalike_base::keywords::keywords;

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
    /// What became of a claim on this collection.
    #[derive(Hash)]
    pub enum Finding: "is not a finding; use" {
        /// The numbers of this collection agree with it.
        Holds = "holds",
        /// They do not.
        Differs = "differs",
        /// It needs what this collection or this program does not have.
        Untested = "cannot be tested here",
    }
}

/// A statement of a paper that its tables or figures support, and what this collection says to it.
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

impl Claim {
    /// A claim that numbers decide; `None` if they do not exist on this collection.
    pub fn new(
        (place, exhibit): (&str, &str),
        says: &str,
        holds: Option<bool>,
        here: impl Into<String>,
    ) -> Claim {
        Claim {
            place: place.into(),
            exhibit: exhibit.into(),
            says: says.into(),
            finding: match holds {
                Some(true) => Finding::Holds,
                Some(false) => Finding::Differs,
                None => Finding::Untested,
            },
            here: here.into(),
        }
    }
}

/// A table or a figure of a paper: its numbers on this collection, and the paper's beside them.
#[derive(Clone, Debug)]
pub struct Exhibit {
    /// Its name in names of files: `table-3`, `figure-7`, `section-4.3`.
    pub name: String,
    /// Its place in the paper: `Table III`.
    pub place: String,
    /// What it shows.
    pub title: String,
    /// What is counted, and what differs from the paper; whole sentences.
    pub about: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each with a cell for every column; none if it cannot be made here, as `about` says.
    pub rows: Vec<Vec<Cell>>,
    /// How a page draws the rows, if it does.
    pub plot: Option<Plotted>,
}

/// A column of an exhibit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name: lower case, words joined by `_`. The name ends with `_paper` if the values are the paper's.
    pub name: String,
    /// How its values are written.
    pub form: Form,
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
    /// A number with this number of decimals.
    Number(u8),
    /// Seconds. They differ from run to run.
    Seconds,
    /// Bytes.
    Bytes,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Serialize)]
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

/// How a page draws the rows of an exhibit. Numbers are columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plotted {
    /// Lines through the rows.
    Lines {
        /// The column along the x axis.
        x: usize,
        /// The columns along the y axis, each a line.
        y: Vec<usize>,
        /// The column whose values each have a panel of their own, over the lines of the others.
        panels: Option<usize>,
        /// Logarithmic axes: x and y.
        logarithmic: (bool, bool),
    },
    /// A bar for each row.
    Bars {
        /// The column with the name of a bar.
        label: usize,
        /// The columns with its length, each a panel of its own.
        values: Vec<usize>,
    },
}

impl Exhibit {
    /// An exhibit without rows, at its place in the paper: `("table-3", "Table III")`.
    pub fn new(
        (name, place): (&str, &str),
        title: impl Into<String>,
        about: impl Into<String>,
    ) -> Exhibit {
        Exhibit {
            name: name.into(),
            place: place.into(),
            title: title.into(),
            about: about.into(),
            columns: Vec::new(),
            rows: Vec::new(),
            plot: None,
        }
    }

    /// Adds a column for each name: the value of a row, by its number, in the column with another.
    #[must_use]
    pub fn columns<C: Into<Cell>, N: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = N>,
        form: Form,
        value: impl Fn(usize, usize) -> C,
    ) -> Exhibit {
        for (n, name) in names.into_iter().enumerate() {
            let name = name.into();
            self.columns.push(Column { name, form });
            let rows = self.rows.iter_mut().enumerate();
            rows.for_each(|(row, cells)| cells.push(value(row, n).into()));
        }
        self
    }

    /// Draws the rows as lines over a column, with a panel for each value of another.
    #[must_use]
    pub fn lines(self, x: &str, y: &[&str], panels: Option<&str>) -> Exhibit {
        let place = |name: &str| {
            let found = self.columns.iter().position(|column| column.name == name);
            debug_assert!(found.is_some(), "{name}");
            found.unwrap_or(0)
        };
        let plot = Plotted::Lines {
            x: place(x),
            y: y.iter().map(|name| place(name)).collect(),
            panels: panels.map(place),
            logarithmic: (false, false),
        };
        Exhibit {
            plot: Some(plot),
            ..self
        }
    }

    /// Makes axes logarithmic: x and y.
    #[must_use]
    pub fn decades(mut self, x: bool, y: bool) -> Exhibit {
        if let Some(Plotted::Lines { logarithmic, .. }) = &mut self.plot {
            *logarithmic = (x, y);
        }
        self
    }
}

/// Declares an exhibit: its name, place, title and what it is about; what a row is made of; and the
/// columns, each with its name, how its values are written, and the value of a row.
#[macro_export]
macro_rules! exhibit {
    ($name:expr, $place:expr, $title:expr, $about:expr;
     $row:pat in $rows:expr => $($column:ident: $form:ident $(($digits:literal))? = $cell:expr),+ $(,)?) => {{
        let columns = [$((stringify!($column), $crate::reproduce::Form::$form $(($digits))?)),+];
        let columns = columns.map(|(name, form)| $crate::reproduce::Column { name: name.into(), form });
        let rows = IntoIterator::into_iter($rows).map(|$row| vec![$($crate::reproduce::Cell::from($cell)),+]);
        $crate::reproduce::Exhibit {
            columns: columns.into(),
            rows: rows.collect(),
            ..$crate::reproduce::Exhibit::new(($name, $place), $title, $about)
        }
    }};
}
pub use exhibit;

/// Declares a claim: its place, its exhibit and what it says; the numbers that decide it, if there
/// are any; whether it holds with them, and what they are. `else` is said if there are none. With
/// `whether`, the same is said if something decides it and if nothing does.
macro_rules! claim {
    ($place:expr, $exhibit:expr, $says:expr; whether $holds:expr, $here:literal $(, $value:expr)*) => {
        $crate::reproduce::Claim::new(($place, $exhibit), $says, $holds, format!($here $(, $value)*))
    };
    ($place:expr, $exhibit:expr, $says:expr; $known:pat in $numbers:expr => $holds:expr, $here:literal $(, $value:expr)*) => {
        $crate::reproduce::model::claim!($place, $exhibit, $says; $known in $numbers => $holds, $here $(, $value)*;
            else "There are no such numbers on this collection.")
    };
    ($place:expr, $exhibit:expr, $says:expr; $known:pat in $numbers:expr => $holds:expr, $here:literal $(, $value:expr)*; else $other:expr) => {
        match $numbers {
            Some($known) => $crate::reproduce::Claim::new(($place, $exhibit), $says, Some($holds), format!($here $(, $value)*)),
            None => $crate::reproduce::Claim::new(($place, $exhibit), $says, None, $other),
        }
    };
}
pub(super) use claim;

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

/// Values by a function, with something between them.
pub(super) fn listed<T>(
    between: &str,
    values: impl IntoIterator<Item = T>,
    each: impl FnMut(T) -> String,
) -> String {
    let each: Vec<String> = values.into_iter().map(each).collect();
    each.join(between)
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
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(n: u64) -> Cell {
        Cell::Count(n)
    }
}

impl From<u32> for Cell {
    fn from(n: u32) -> Cell {
        Cell::Count(n.into())
    }
}

impl From<f64> for Cell {
    /// A number that is not finite is undefined.
    fn from(n: f64) -> Cell {
        match n.is_finite() {
            true => Cell::Number(n),
            false => Cell::Nothing,
        }
    }
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
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (column, cell) in self.0.iter().zip(self.1) {
            map.serialize_entry(&column.name, cell)?;
        }
        map.end()
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

/// Checks that a claim holds, differs and has no numbers, in this order, on three collections.
#[cfg(test)]
pub(super) fn assert_findings(claims: [Claim; 3]) {
    let wanted = [Finding::Holds, Finding::Differs, Finding::Untested];
    assert_eq!(findings(&claims), wanted, "{claims:?}");
    assert!(claims.iter().take(2).all(|claim| claim.here.ends_with('.')));
}

#[cfg(test)]
pub(super) fn findings(claims: &[Claim]) -> Vec<Finding> {
    claims.iter().map(|claim| claim.finding).collect()
}
