//! Read lists of pairs: our own and lists of other programs.

use std::path::Path;
use std::str::FromStr;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use super::RunList;
use lookalike_base::{Error, Result, Threshold, counted, refuse};
use lookalike_engine::table::Table;
use lookalike_text::read::lines::{parsed, shorten};

/// The columns of a list that hold the docnos and the resemblance or the cluster, if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Columns {
    /// By the name in the first line, or in each JSON object.
    Names(Vec<String>),
    /// By number, from 0.
    Numbers(Vec<usize>),
}

impl FromStr for Columns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names: Vec<&str> = text.split(',').collect();
        let numbers = names.iter().filter_map(|name| name.parse::<usize>().ok());
        let numbers: Vec<usize> = numbers.collect();
        match numbers.len() {
            _ if names.len() > 3 || names.contains(&"") || numbers.contains(&0) => {}
            0 => return Ok(Columns::Names(names.into_iter().map(Into::into).collect())),
            all if all == names.len() => {
                return Ok(Columns::Numbers(numbers.iter().map(|n| n - 1).collect()));
            }
            _ => {}
        }
        Err(format!(
            "`{text}` are not columns; write docno_a,docno_b or docno_a,docno_b,score, or docno for \
             a list of documents: names from a header, or numbers from 1"
        ))
    }
}

impl Columns {
    fn count(&self) -> usize {
        match self {
            Columns::Names(names) => names.len(),
            Columns::Numbers(numbers) => numbers.len(),
        }
    }

    /// Refuses a number of columns that a list of this kind does not have.
    pub(super) fn check(&self, parameter: &'static str, of: RunList) -> Result<()> {
        let (fits, limit) = match (of, self.count()) {
            (RunList::Pairs, n) => (n > 1, "two docnos, and a resemblance if there is one"),
            (RunList::Clusters, n) => (n == 2, "a docno and a cluster"),
            (RunList::ClusterLines, _) => (false, "none: the whole line is a cluster"),
            (_, n) => (n == 1, "one, with the docnos"),
        };
        if fits {
            return Ok(());
        }
        let given = counted(self.count() as u64, "column");
        refuse(parameter, given, format!("for {of}, give {limit}"))
    }

    /// Selects them in a table.
    pub(super) fn select(&self, table: &mut Table) -> Result<()> {
        table.want_semicolons();
        if self.count() == 1 && table.first()?.len() == 1 {
            table.want_lines(None);
        }
        match self {
            Columns::Names(names) => {
                table.want_names(&names.iter().map(String::as_str).collect::<Vec<_>>())
            }
            Columns::Numbers(_) if table.is_json() => {
                let limit = "members of JSON objects have names";
                refuse("columns", "by number for JSON", limit)
            }
            Columns::Numbers(numbers) => {
                table.want_numbers(numbers);
                Ok(())
            }
        }
    }
}

/// The source of the resemblances of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scores {
    /// No resemblances: every pair counts at every threshold.
    #[default]
    None,
    /// Numbers of shared and of all shingles: exact.
    Integers,
    /// A decimal, compared digit by digit as written.
    Decimals,
    /// Whole numbers of common features, as of most methods: every pair counts at every threshold.
    Counts,
}

/// A reader of a list of pairs.
pub(super) struct PairList {
    pub table: Table,
    pub scores: Scores,
    fields: Vec<Vec<u8>>,
}

/// One line of the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    /// The hashes of the two docnos.
    pub documents: [u128; 2],
    /// The number of thresholds that its resemblance reaches; all of them without a resemblance.
    pub level: usize,
    /// The score of the list, rounded to a number that can be sorted; 0 if it has none.
    pub score: f64,
}

impl PairList {
    /// Opens a list. Without `columns`, it uses the columns of our own lists if they are there.
    /// Otherwise it uses the first two columns, and a third as the resemblance if there are three.
    pub fn open(path: &Path, columns: Option<&Columns>) -> Result<PairList> {
        PairList::opened(path, columns).map_err(hinted)
    }

    fn opened(path: &Path, columns: Option<&Columns>) -> Result<PairList> {
        let mut table = Table::open(path)?;
        let first = table.first()?;
        let has = |name: &str| first.iter().any(|column| column == name);
        let decimals = |some: bool| if some { Scores::Decimals } else { Scores::None };
        let scores = if let Some(columns) = columns {
            columns.select(&mut table)?;
            decimals(columns.count() == 3)
        } else if has("docno_a") && has("docno_b") || table.is_json() {
            let mut names = vec!["docno_a", "docno_b"];
            let integers = ["shared", "shingles_a", "shingles_b"];
            let decimal = ["resemblance", "score"].into_iter().find(|name| has(name));
            if integers.into_iter().all(has) {
                names.extend(integers);
            } else {
                names.extend(decimal);
            }
            table.want_names(&names)?;
            match names.len() {
                5 => Scores::Integers,
                length => decimals(length == 3),
            }
        } else {
            let three = first.len() == 3;
            table.want_numbers(if three { &[0, 1, 2] } else { &[0, 1] });
            decimals(three)
        };
        // Of the scores of methods, only the number of shared features (S1) is not between 0 and 1.
        let counts = |(name, value): &(String, String)| name == "score" && value.starts_with("s1:");
        let scores = match scores {
            Scores::Decimals if table.comments.iter().any(counts) => Scores::Counts,
            scores => scores,
        };
        Ok(PairList {
            table,
            scores,
            fields: Vec::new(),
        })
    }

    /// A docno of the current line: the first or the second.
    pub fn docno(&self, which: usize) -> &[u8] {
        self.fields.get(which).map_or(&[], Vec::as_slice)
    }

    /// The next line, and how many of the ascending `thresholds` its resemblance reaches.
    pub fn next(&mut self, thresholds: &[Threshold]) -> Result<Option<Listed>> {
        self.read(thresholds).map_err(hinted)
    }

    fn read(&mut self, thresholds: &[Threshold]) -> Result<Option<Listed>> {
        if !self.table.next(&mut self.fields)? {
            return Ok(None);
        }
        let documents = [
            docno(&self.table, &self.fields[0])?,
            docno(&self.table, &self.fields[1])?,
        ];
        let (level, score) = match self.scores {
            Scores::None => (thresholds.len(), 0.0),
            Scores::Counts => {
                let field = &self.fields[2];
                let wrong = || self.table.bad("a number of features", shorten(field));
                let shared: u64 = parsed(field).ok_or_else(wrong)?;
                (thresholds.len(), shared as f64)
            }
            Scores::Integers => {
                let mut numbers = [0u64; 3];
                for (number, field) in numbers.iter_mut().zip(&self.fields[2..]) {
                    let wrong = || self.table.bad("a number of shingles", shorten(field));
                    *number = parsed(field).ok_or_else(wrong)?;
                }
                let [shared, a, b] = numbers;
                if shared > a.min(b) || a.max(b) > u64::from(u32::MAX) {
                    let found = format!("{shared} of {a} and {b}");
                    let expected = "no more shared shingles than either document has";
                    return Err(self.table.bad(expected, found));
                }
                let level = thresholds.partition_point(|threshold| threshold.reached(shared, a, b));
                (level, shared as f64 / (a + b - shared).max(1) as f64)
            }
            Scores::Decimals => {
                let field = &self.fields[2];
                let expected = "a resemblance from 0 to 1 as a decimal";
                let wrong = || self.table.bad(expected, shorten(field));
                let decimal = Decimal::parse(field).ok_or_else(wrong)?;
                let level = thresholds.partition_point(|&threshold| decimal.reaches(threshold));
                (level, parsed(field).unwrap_or_default())
            }
        };
        // Without thresholds there is one level, which every pair reaches.
        let level = level.max(usize::from(thresholds.is_empty()));
        Ok(Some(Listed {
            documents,
            level,
            score,
        }))
    }
}

/// Adds to an error in a line the flags that state the form of a list.
pub(super) fn hinted(error: Error) -> Error {
    error.hinted(
        "if the list has other columns, name them by header or by number (--truth-columns, \
         --run-columns 2,3,5); if it has documents, not pairs, say which: --run-lists removed",
    )
}

/// The 128-bit hash of a docno, the same as in the catalogue. Two docnos of a collection are
/// assumed never to collide.
pub(super) fn docno(table: &Table, field: &[u8]) -> Result<u128> {
    if field.is_empty() {
        return Err(table.bad("a docno", "an empty field"));
    }
    Ok(xxh3_128(field))
}

/// Digits after the point that are read. A 64-bit floating-point number is written with 17.
const DIGITS: usize = 27;

/// An exact decimal from 0 to 1, in units of 10^-27.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decimal(u128);

impl Decimal {
    const ONE: u128 = 10u128.pow(DIGITS as u32);

    /// Reads `0.85`, `1`, `.5` or `8.5e-1`. Accepts up to a millionth above 1, because other
    /// programs add in floating point.
    fn parse(text: &[u8]) -> Option<Decimal> {
        let text = std::str::from_utf8(text).ok()?;
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let number = number.strip_prefix('+').unwrap_or(number);
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let digits: Vec<u8> = whole.bytes().chain(part.bytes()).collect();
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        // Digit number i counts units of 10^(point - 1 - i).
        let point = whole.len() as i64 + i64::from(exponent);
        let mut value = 0u128;
        for (i, digit) in digits.iter().enumerate() {
            let power = point - 1 - i as i64 + DIGITS as i64;
            if *digit == b'0' || power < 0 {
                continue;
            }
            // Numbers with more than nine digits before the point are refused.
            let power = u32::try_from(power).ok();
            let power = power.filter(|&power| power <= DIGITS as u32)?;
            value += u128::from(digit - b'0') * 10u128.pow(power);
        }
        (value <= Decimal::ONE + Decimal::ONE / 1_000_000).then_some(Decimal(value))
    }

    fn reaches(self, threshold: Threshold) -> bool {
        // Both sides are below 10^9 x 1.1 x 10^27.
        self.0 * u128::from(threshold.denominator())
            >= Decimal::ONE * u128::from(threshold.numerator())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let parse = |text: &str| Decimal::parse(text.as_bytes());
        for (text, units) in [
            ("0", 0),
            ("0.85", 85),
            (".85", 85),
            ("+0.850", 85),
            ("8.5e-1", 85),
            ("0.0085E2", 85),
            ("85e-2", 85),
            ("1", 100),
            ("1.", 100),
            ("0001.00", 100),
            ("1e-40", 0),
        ] {
            assert_eq!(
                parse(text),
                Some(Decimal(Decimal::ONE / 100 * units)),
                "{text}"
            );
        }
        assert!(parse("1.0000000000000002").is_some());
        for text in [
            "", ".", "-0.5", "1.1", "85", "1e3", "9e99", "nan", "0,85", "0.8 ", "e-1", "1e",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        let t: Threshold = "0.85".parse().unwrap();
        assert!(parse("0.85").unwrap().reaches(t));
        assert!(!parse("0.84999999999999997").unwrap().reaches(t));
        let third: Threshold = "1/3".parse().unwrap();
        assert!(!parse("0.33333333333333333").unwrap().reaches(third));
        assert!(parse("0.33333333333333334").unwrap().reaches(third));
    }

    #[test]
    fn columns_by_name_or_number() {
        let columns = |text: &str| text.parse::<Columns>();
        for (text, numbers) in [("1,3", &[0, 2][..]), ("2,1,5", &[1, 0, 4]), ("2", &[1])] {
            assert_eq!(columns(text), Ok(Columns::Numbers(numbers.into())));
        }
        let names = ["a.id", "b.id"].map(Into::into);
        assert_eq!(columns("a.id,b.id"), Ok(Columns::Names(names.into())));
        for text in ["", "0", "0,1", "1,b", "a,b,c,d", "a,,b", "1,2,3,4"] {
            assert!(columns(text).is_err(), "{text}");
        }
    }
}
