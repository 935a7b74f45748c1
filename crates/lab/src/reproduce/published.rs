//! Reads what the papers print, from a file for each paper with its tables, figures, published values
//! and claims, and compares it with the measured values.
//!
//! # In and out
//! In: the file of a paper, and the [`Measured`] values: rows by the name of their table, and
//! values by the name of their claim. Out: exhibits and claims in the order of the file.
//!
//! # Invariants
//! A name that is not in the file, and too many or too few values are errors.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Cell, Claim, Column, Exhibit, Finding, Form, Paper, Plotted};
use lookalike_base::{Error, Result};

/// Rows of values.
pub(super) type Rows = Vec<Vec<Cell>>;

/// The values measured on a collection for the tables and claims of a paper.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// The values in the description of a table, and its rows.
    tables: BTreeMap<String, (Vec<Cell>, Rows)>,
    claims: BTreeMap<String, Vec<Cell>>,
}

impl Measured {
    /// Adds the measured rows of a table or figure. They lack the paper's own columns.
    pub fn table(&mut self, name: &str, rows: impl Into<Rows>) {
        self.table_about(name, Vec::new(), rows);
    }

    /// Adds the rows of a table or figure, and the values in its description.
    pub fn table_about(&mut self, name: &str, about: Vec<Cell>, rows: impl Into<Rows>) {
        self.tables.insert(name.into(), (about, rows.into()));
    }

    /// Adds the values of a claim, if there are any. It is not decided if one of those that it compares
    /// is nothing.
    pub fn claim(&mut self, name: &str, values: impl Into<Option<Vec<Cell>>>) {
        self.claims
            .extend(values.into().map(|values| (name.into(), values)));
    }
}

/// The file of a paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Published {
    exhibit: Vec<Sheet>,
    claim: Vec<Sentence>,
}

/// A table or figure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sheet {
    name: String,
    place: String,
    title: String,
    about: String,
    /// The values in its description.
    #[serde(default)]
    values: Vec<Column>,
    /// Replaces `about` if nothing is measured for it; without this text, the exhibit is left out.
    untested: Option<String>,
    /// The columns; none of a drawing.
    #[serde(default)]
    columns: Vec<Column>,
    /// The columns that say to which measured row a published one belongs.
    #[serde(default)]
    by: Vec<String>,
    /// The published rows are rows of their own, below the measured ones.
    #[serde(default)]
    below: bool,
    /// The published rows. A row has the values of `by` first, then the values of the paper's columns.
    #[serde(default)]
    published: Rows,
    plot: Option<Plotted>,
}

/// A claim.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sentence {
    #[serde(default)]
    name: String,
    place: String,
    /// The name of its table or figure, without which it is left out; empty if it has none.
    #[serde(default)]
    exhibit: String,
    says: String,
    /// The measured values.
    #[serde(default)]
    values: Vec<Column>,
    /// The conditions under which it holds: names of values and numbers with `<`, `<=`, `>` or `>=`
    /// between them, or a value that is not 0.
    #[serde(default)]
    holds: Vec<String>,
    /// The values that decide it, in a sentence.
    #[serde(default)]
    here: String,
    /// The sentence if they do not decide it; by default, the same sentence.
    undecided: Option<String>,
    /// The sentence if nothing is measured; without it, the claim is left out.
    untested: Option<String>,
}

/// The place of a name.
fn place(columns: &[Column], name: &str) -> Option<usize> {
    columns.iter().position(|column| column.name == name)
}

/// A text with values in the place of their names in braces.
fn filled(text: &str, names: &[Column], values: &[Cell]) -> Option<String> {
    let mut parts = text.split('{');
    let mut out = parts.next()?.to_string();
    for part in parts {
        let (name, text) = part.split_once('}')?;
        let at = place(names, name)?;
        out += &values.get(at)?.shown(names[at].form);
        out += text;
    }
    (names.len() == values.len()).then_some(out)
}

impl Sheet {
    /// The values of a published row, in the columns of the paper.
    fn of_paper<'s>(&'s self, row: &'s [Cell]) -> impl Iterator<Item = Cell> + 's {
        let columns = self.columns.iter().filter(|column| column.is_paper());
        columns.zip(row).map(|(column, cell)| match cell {
            Cell::Text(text) if text.is_empty() => Cell::Nothing,
            cell if column.form == Form::Percent => cell.number().map(|n| n / 100.0).into(),
            cell => cell.clone(),
        })
    }

    /// Measured rows with the published values.
    fn rows(&self, mut rows: Rows) -> Option<Rows> {
        let keys = self.by.iter().map(|name| place(&self.columns, name));
        let keys = keys.collect::<Option<Vec<usize>>>()?;
        let own = self.columns.iter().filter(|column| !column.is_paper());
        let own = own.count();
        let first = if self.below { rows.len() } else { 0 };
        for of in self.published.iter().filter(|_| self.below) {
            let mut row = vec![Cell::Nothing; own];
            for (&place, key) in keys.iter().zip(of) {
                *row.get_mut(place)? = key.clone();
            }
            rows.push(row);
        }
        for (n, row) in rows.iter_mut().enumerate() {
            let same = |of: &&Vec<Cell>| {
                let mut keys = keys.iter().zip(*of);
                n >= first && keys.all(|(&place, key)| row.get(place) == Some(key))
            };
            // A row may have values of the paper that follow from the program's own.
            match self.published.iter().find(same) {
                Some(of) if row.len() == own => row.extend(self.of_paper(of.get(keys.len()..)?)),
                None if row.len() == own => row.resize(self.columns.len(), Cell::Nothing),
                _ => {}
            }
        }
        let whole = |row: &Vec<Cell>| row.len() == self.columns.len();
        rows.iter().all(whole).then_some(rows)
    }

    /// Returns its description and rows; `None` if the measured values do not fit.
    fn content(&self, measured: Option<(Vec<Cell>, Rows)>) -> Option<(String, Rows)> {
        match measured {
            Some((about, rows)) => {
                let about = filled(&self.about, &self.values, &about)?;
                Some((about, self.rows(rows)?))
            }
            None => Some((
                self.untested.as_ref().unwrap_or(&self.about).clone(),
                Vec::new(),
            )),
        }
    }
}

impl Sentence {
    /// Whether it holds; `None` if a value is nothing.
    fn decided(&self, values: &[Cell]) -> Option<bool> {
        let number = |word: &str| match word.parse() {
            Ok(number) => Some(number),
            Err(_) => values.get(place(&self.values, word)?)?.number(),
        };
        let mut all = !self.holds.is_empty();
        for condition in &self.holds {
            let words: Vec<&str> = condition.split(' ').collect();
            if let [one] = words[..] {
                all &= number(one)? != 0.0;
            }
            for of in words.windows(3).step_by(2) {
                let (a, b) = (number(of[0])?, number(of[2])?);
                all &= match of[1] {
                    "<" => a < b,
                    "<=" => a <= b,
                    ">" => a > b,
                    ">=" => a >= b,
                    _ => return None,
                };
            }
        }
        Some(all)
    }

    /// Returns whether it holds, and the sentence about it; `None` if the values do not fit.
    fn found(&self, measured: Option<Vec<Cell>>) -> Option<(Finding, String)> {
        let Some(values) = measured else {
            return Some((Finding::Untested, self.untested.clone()?));
        };
        let here = filled(&self.here, &self.values, &values)?;
        Some(match self.decided(&values) {
            Some(true) => (Finding::Holds, here),
            Some(false) => (Finding::Differs, here),
            None => match &self.undecided {
                Some(text) => (Finding::Untested, filled(text, &self.values, &values)?),
                None => (Finding::Untested, here),
            },
        })
    }
}

impl Published {
    /// The file of a paper.
    ///
    /// # Errors
    /// `BadParameter` if it cannot be read, which a test excludes.
    pub fn of(paper: Paper) -> Result<Published> {
        let text = match paper {
            Paper::Chowdhury2002 => include_str!("published/chowdhury-2002.toml"),
            Paper::Bernstein2006 => include_str!("published/bernstein-2006.toml"),
            Paper::Ye2008 => include_str!("published/ye-2008.toml"),
            Paper::Kolcz2008 => include_str!("published/kolcz-2008.toml"),
            Paper::Cherkasova2009 => include_str!("published/cherkasova-2009.toml"),
        };
        toml::from_str(text)
            .map_err(|error| Error::parameter("PAPER", paper).because(error.message()))
    }

    /// The published rows of a table: the values that say which, then those of the paper.
    pub fn rows(&self, name: &str) -> &[Vec<Cell>] {
        let sheet = self.exhibit.iter().find(|sheet| sheet.name == name);
        sheet.map_or(&[], |sheet| &sheet.published)
    }

    /// The exhibits and claims of the paper.
    ///
    /// # Errors
    /// `BadParameter` if the measured values do not fit the file.
    pub fn with(&self, mut of: Measured) -> Result<(Vec<Exhibit>, Vec<Claim>)> {
        let unfit = |name: &str| {
            Error::parameter("PAPER", name).because("differs from what the file of the paper has")
        };
        let (mut exhibits, mut claims) = (Vec::<Exhibit>::new(), Vec::new());
        for sheet in &self.exhibit {
            let measured = of.tables.remove(&sheet.name);
            if measured.is_none() && sheet.untested.is_none() && !sheet.columns.is_empty() {
                continue;
            }
            let content = sheet.content(measured);
            let (about, rows) = content.ok_or_else(|| unfit(&sheet.name))?;
            exhibits.push(Exhibit {
                name: sheet.name.clone(),
                place: sheet.place.clone(),
                title: sheet.title.clone(),
                about,
                columns: sheet.columns.clone(),
                rows,
                plot: sheet.plot.clone(),
            });
        }
        for sentence in &self.claim {
            let measured = of.claims.remove(&sentence.name);
            let exhibit = &sentence.exhibit;
            let shown = exhibit.is_empty() || exhibits.iter().any(|of| of.name == *exhibit);
            if shown && (measured.is_some() || sentence.untested.is_some()) {
                let found = sentence.found(measured);
                let (finding, here) = found.ok_or_else(|| unfit(&sentence.name))?;
                claims.push(Claim {
                    place: sentence.place.clone(),
                    exhibit: exhibit.clone(),
                    says: sentence.says.clone(),
                    finding,
                    here,
                });
            }
        }
        match of.tables.keys().chain(of.claims.keys()).next() {
            Some(unknown) => Err(unfit(unknown)),
            None => Ok((exhibits, claims)),
        }
    }
}

/// Checks that a claim holds, differs and is not decided, in this order, with these values. Returns
/// the sentences about it.
#[cfg(test)]
pub(super) fn assert_findings<V: Into<Option<Vec<Cell>>>>(
    paper: Paper,
    claim: &str,
    values: [V; 3],
) -> [String; 3] {
    let wanted = [Finding::Holds, Finding::Differs, Finding::Untested];
    let found = values.map(|values| found(paper, |made| made.claim(claim, values)));
    for (found, wanted) in found.iter().zip(wanted) {
        let finding = found.first().map_or(Finding::Untested, |of| of.0);
        assert_eq!(finding, wanted, "{claim} {found:?}");
    }
    found.map(|of| of.into_iter().map(|of| of.1).collect())
}

/// Returns the findings on the measured claims, in the order of their names.
#[cfg(test)]
pub(super) fn found(paper: Paper, measure: impl FnOnce(&mut Measured)) -> Vec<(Finding, String)> {
    let of = Published::of(paper).unwrap();
    let mut made = Measured::default();
    measure(&mut made);
    let each = made.claims.into_iter().map(|(name, values)| {
        let claim = of.claim.iter().find(|of| of.name == name).expect(&name);
        claim.found(Some(values)).expect("as many values")
    });
    each.collect()
}

#[cfg(test)]
pub(super) fn findings(paper: Paper, measure: impl FnOnce(&mut Measured)) -> Vec<Finding> {
    found(paper, measure).into_iter().map(|of| of.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The program understands every name and every value of the files.
    #[test]
    fn the_files_are_whole() {
        for paper in Paper::ALL {
            let of = Published::of(paper).unwrap();
            let names: BTreeSet<&str> = of.exhibit.iter().map(|of| of.name.as_str()).collect();
            assert_eq!(names.len(), of.exhibit.len(), "{paper}");
            for sheet in &of.exhibit {
                let name = format!("{paper} {}", sheet.name);
                let known = |column: &String| place(&sheet.columns, column).is_some();
                let of_paper = sheet.columns.iter().filter(|of| of.is_paper()).count();
                let width = sheet.by.len() + of_paper;
                assert!(sheet.by.iter().all(known), "{name}");
                assert!(
                    sheet.published.iter().all(|row| row.len() == width),
                    "{name}"
                );
                assert!(sheet.published.len() < 2 || !sheet.by.is_empty(), "{name}");
                let keys = sheet
                    .published
                    .iter()
                    .map(|row| format!("{:?}", &row[..sheet.by.len()]));
                assert_eq!(
                    keys.collect::<BTreeSet<_>>().len(),
                    sheet.published.len(),
                    "{name}"
                );
                let drawn: Vec<&String> = match &sheet.plot {
                    Some(Plotted { x, y, panels, .. }) => {
                        [x].into_iter().chain(y).chain(panels).collect()
                    }
                    None => Vec::new(),
                };
                assert!(drawn.into_iter().all(known), "{name}");
                let values = vec![Cell::Count(1); sheet.values.len()];
                assert!(
                    filled(&sheet.about, &sheet.values, &values).is_some(),
                    "{name}"
                );
            }
            let claims: BTreeSet<&str> = of.claim.iter().map(|of| of.name.as_str()).collect();
            let tested = of.claim.iter().filter(|of| !of.holds.is_empty());
            assert!(tested.clone().all(|of| !of.name.is_empty()), "{paper}");
            assert_eq!(
                tested.count(),
                claims.iter().filter(|name| !name.is_empty()).count()
            );
            for claim in &of.claim {
                assert!(
                    claim.exhibit.is_empty() || names.contains(&*claim.exhibit),
                    "{claim:?}"
                );
                assert!(claim.untested.is_some() || !claim.name.is_empty());
                let values = vec![Cell::Count(1); claim.values.len()];
                assert!(
                    claim.name.is_empty() || claim.found(Some(values.clone())).is_some(),
                    "{claim:?}"
                );
                // A word that is neither a value nor a number decides nothing.
                assert!(
                    claim.name.is_empty() || claim.decided(&values).is_some(),
                    "{claim:?}"
                );
                for head in &claim.values {
                    let name = &head.name;
                    let held = claim
                        .holds
                        .iter()
                        .any(|of| of.split(' ').any(|word| word == name));
                    assert!(
                        held || format!("{} {:?}", claim.here, claim.undecided)
                            .contains(&format!("{{{name}}}")),
                        "{claim:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let file = |columns: &str| {
            let text = format!(
                "[[exhibit]]\nname = \"t\"\nplace = \"T\"\ntitle = \"\"\nabout = \"Of {{n}}.\"\nvalues = [\"n: count\"]\n\
                 columns = {columns}\nby = [\"k\"]\npublished = [[1, 50.0], [2, \"\"]]\n[[claim]]\nname = \"c\"\n\
                 place = \"\"\nsays = \"\"\nvalues = [\"a: share\", \"b: number 1\"]\nholds = [\"a < b <= 0.9\"]\n\
                 here = \"{{b}} {{a}}\""
            );
            toml::from_str::<Published>(&text)
        };
        assert!(
            file(r#"["k: counts"]"#)
                .unwrap_err()
                .message()
                .contains("has no form")
        );
        let file = file(r#"["k: count", "share_paper: percent"]"#).unwrap();
        let made = |about: Vec<Cell>, row: Vec<Cell>, claim: &str, values: Vec<Cell>| {
            let mut made = Measured::default();
            made.table_about("t", about, [row, vec![Cell::Count(1)]]);
            made.claim(claim, values);
            file.with(made).ok()
        };
        let (k, n, two) = (
            vec![Cell::Count(2)],
            vec![Cell::Count(7)],
            vec![Cell::Number(0.5); 2],
        );
        let (exhibits, claims) = made(n.clone(), k.clone(), "c", two.clone()).unwrap();
        assert_eq!(exhibits[0].about, "Of 7.");
        let rows = [
            [Cell::Count(2), Cell::Nothing],
            [Cell::Count(1), Cell::Number(0.5)],
        ];
        assert_eq!(exhibits[0].rows, rows);
        assert_eq!(
            (claims[0].finding, &*claims[0].here),
            (Finding::Differs, "0.5 50.0 %")
        );
        assert!(made(n.clone(), k.clone(), "d", two.clone()).is_none());
        assert!(made(n.clone(), k.clone(), "c", k.clone()).is_none());
        assert!(made(k.clone(), vec![Cell::Nothing; 3], "c", two.clone()).is_none());
        assert!(made(Vec::new(), k, "c", two).is_none());
    }
}
