//! Compares the run with pairs that people have judged.
//!
//! A pair has a grade. It is judged true if its grade is at least the least true one. The pairs may
//! come from several collections, which are also measured each by itself.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::Evaluating;
use super::bootstrap::{self, ByCollection, ByGrade, Graded, Judged, PAIR_BYTES};
use super::classes::Pair;
use super::documents::{AnyKnown, Documents, each_judged};
use super::rank::{Ranked, SAME, ranking};
use super::samples::{Found, Levels, Sample, each_pair, means, sample};
use lookalike_base::{Error, Result, counted, refuse};
use lookalike_engine::table::Table;
use lookalike_store::{AtomicFile, Sort, item, table::cell};
use lookalike_text::read::lines::{parsed, shorten};

/// Limits on the content of a file of judged pairs.
const MOST_GRADE: u32 = (1 << 16) - 1;
const MOST_COLLECTIONS: usize = 1 << 12;
/// Limit on the pairs that are kept in memory.
const MOST_IN_MEMORY: u64 = 1 << 20;
/// Limit on the bytes of a name of a collection.
const NAME_BYTES: usize = 1 << 10;

/// The place of judged pairs: behind the places of all pairs of the run. The lower bits hold the
/// fields of a [`Judgement`].
const JUDGED: u64 = 1 << 63;
/// Bits of the number of a line, and of the number of a collection.
const LINE_BITS: u32 = 35;
const COLLECTION_BITS: u32 = 12;

item! {
    /// A pair of classes of the run, or a judged pair of documents of these classes.
    struct JudgedLine {
        classes: Pair,
        /// The place of a pair of the run in the order of scores, or the place of a judgement.
        place: u64,
        /// The judged documents; of a pair of the run, the number of thresholds that it reaches, and
        /// 0.
        documents: Pair,
    }
}

item! {
    /// A judged pair in the file.
    struct Judgement {
        pair: Pair,
        line: u64,
        grade: u32,
        collection: u32,
    }
}

impl Judgement {
    /// Its place among the [`JudgedLine`]s.
    fn place(&self) -> u64 {
        let grade = u64::from(self.grade) << (LINE_BITS + COLLECTION_BITS);
        JUDGED | grade | u64::from(self.collection) << LINE_BITS | self.line
    }

    /// The judgement of a line with this place; `None` if it is a pair of the run.
    fn of_place(place: u64, pair: Pair) -> Option<Judgement> {
        let bits = place.checked_sub(JUDGED)?;
        Some(Judgement {
            pair,
            line: bits & ((1 << LINE_BITS) - 1),
            grade: (bits >> (LINE_BITS + COLLECTION_BITS)) as u32,
            collection: (bits >> LINE_BITS) as u32 & ((1 << COLLECTION_BITS) - 1),
        })
    }
}

item! {
    /// How the pair of a line of the file was found.
    struct Outcome {
        line: u64,
        /// Its place in the order of scores; 0 if it was not found.
        place: u64,
        level: u32,
    }
}

/// The names of collections, by number.
#[derive(Default)]
struct Collections {
    numbers: HashMap<Vec<u8>, u32>,
    names: Vec<String>,
}

impl Collections {
    fn number(&mut self, table: &Table, row: &[Vec<u8>]) -> Result<u32> {
        let Some(name) = row.get(3) else { return Ok(0) };
        if let Some(&number) = self.numbers.get(name) {
            return Ok(number);
        }
        if self.names.len() == MOST_COLLECTIONS {
            let expected = format!("one of at most {MOST_COLLECTIONS} collections");
            return Err(table.bad(expected, shorten(name)));
        }
        if name.len() > NAME_BYTES {
            let expected = format!("a collection of at most {NAME_BYTES} bytes");
            return Err(table.bad(expected, shorten(name)));
        }
        let number = self.names.len() as u32;
        self.names.push(String::from_utf8_lossy(name).into_owned());
        self.numbers.insert(name.clone(), number);
        Ok(number)
    }
}

/// Compares the run with judged pairs.
pub(super) fn judged(path: &Path, of: Evaluating<'_>, documents: &mut Documents) -> Result<Sample> {
    let (mut selected, mut lines_read) = (0u64, 0u64);
    let mut any_known = AnyKnown::default();
    each_judged(path, of.context, |table, row| {
        lines_read += 1;
        let (a, b) = (documents.of(table, &row[0])?, documents.of(table, &row[1])?);
        any_known.see(a, documents, table, &row[0]);
        any_known.see(b, documents, table, &row[1]);
        if a != b && documents.known(a) && documents.known(b) {
            selected += u64::from(documents.select(a));
        }
        Ok(())
    })?;
    any_known.check()?;
    let documents = &*documents;
    let in_memory = lines_read <= MOST_IN_MEMORY;
    let of = match in_memory {
        true => of.without(lines_read * PAIR_BYTES, || {
            format!("evaluating {}", counted(lines_read, "judged pair"))
        })?,
        false => of,
    };
    let mut lines = of.sort_beside(4, "judged")?;
    each_pair(of, documents, |classes, level, place| {
        lines.push(JudgedLine {
            classes,
            place,
            documents: Pair { a: level, b: 0 },
        })
    })?;
    let (mut all, mut unknown, mut not_in_run) = ([0; 2], 0, 0);
    let is_true = |judgement: &Judgement| judgement.grade >= of.sources.config.true_grade;
    let collections = distinct_judged(path, of, documents, |judgement| {
        let Pair { a, b } = judgement.pair;
        if !documents.known(a) || !documents.known(b) {
            unknown += 1;
            return Ok(());
        }
        all[usize::from(is_true(&judgement))] += 1;
        not_in_run += u64::from(!documents.in_run(a) || !documents.in_run(b));
        lines.push(JudgedLine {
            classes: Pair::new(documents.run.root(a), documents.run.root(b)),
            place: judgement.place(),
            documents: judgement.pair,
        })
    })?;
    let mut levels = Levels::new(of.top());
    let mut grades: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    let mut pairs = Vec::with_capacity(if in_memory { lines_read as usize } else { 0 });
    let mut found = of.sort_beside(4, "documents")?;
    let mut ranked = of.sort_beside(4, "ranking")?;
    let mut outcomes = of.sort_beside(4, "outcomes")?;
    let classes = |line: &JudgedLine| line.classes;
    lines.finish()?.groups(classes, |first, all| {
        let is_one_class = first.classes.a == first.classes.b;
        let (mut level, mut place) = match is_one_class {
            true => (of.top() as u32, SAME),
            false => (0, 0),
        };
        while let Some(line) = all.next()? {
            let Some(judgement) = Judgement::of_place(line.place, line.documents) else {
                // The highest score comes last.
                (level, place) = (line.documents.a, line.place);
                continue;
            };
            let right = is_true(&judgement);
            if place > 0 {
                ranked.push(Ranked::placed(place, [u64::from(!right), u64::from(right)]))?;
            }
            levels.0[level as usize][usize::from(right)] += 1;
            let of_grade = grades.entry(judgement.grade);
            of_grade.or_insert_with(|| vec![0; of.top() + 1])[level as usize] += 1;
            if of.sources.config.disagreements.is_some() {
                let line = judgement.line;
                outcomes.push(Outcome { line, place, level })?;
            }
            let Pair { a, b } = line.documents;
            if in_memory {
                pairs.push(Judged {
                    documents: [a, b],
                    place,
                    level,
                    collection: judgement.collection,
                    right,
                });
            }
            for class in [a, b] {
                if level > 0 && documents.selected(class) {
                    found.push(Found::new(class, 0, level, 1, u32::from(right)))?;
                }
            }
        }
        Ok(())
    })?;
    let means = means(found, of.top(), |_| 1)?;
    if let Some(output) = &of.sources.config.disagreements {
        write_disagreements(path, of, outcomes, output)?;
    }
    let ranking = ranking(ranked, all, of)?;
    let drawn = bootstrap::arrange(&mut pairs);
    let measured = (of.top(), ranking.is_some());
    let intervals = match in_memory {
        true => Some(bootstrap::intervals(&pairs, drawn, measured, of.context)?),
        false => None,
    };
    let grades = grades.into_iter().map(|(grade, levels)| ByGrade {
        grade,
        pairs: levels.iter().sum(),
        found: (1..=of.top())
            .map(|least| levels[least..].iter().sum())
            .collect(),
    });
    Ok(Sample {
        true_pairs: all[1],
        false_pairs: all[0],
        unknown,
        not_in_run,
        at: sample(of.thresholds, all, selected, &levels, &means),
        ranking,
        graded: Some(Graded {
            true_grade: of.sources.config.true_grade,
            grades: grades.collect(),
            collections: by_collection(&pairs, collections, measured),
            intervals,
        }),
    })
}

/// The measures of each collection, if the file names them.
fn by_collection(
    pairs: &[Judged],
    names: Vec<String>,
    (top, has_scores): (usize, bool),
) -> Vec<ByCollection> {
    let mut members: Vec<Vec<Judged>> = vec![Vec::new(); names.len()];
    for pair in pairs {
        if let Some(members) = members.get_mut(pair.collection as usize) {
            members.push(*pair);
        }
    }
    let each = names.into_iter().zip(&members);
    let each = each.filter(|(_, members)| !members.is_empty());
    let each = each.map(|(collection, members)| {
        let measures = bootstrap::measure(members.iter(), top, |_| 1.0);
        let true_pairs = members.iter().filter(|pair| pair.right).count() as u64;
        ByCollection {
            collection,
            true_pairs,
            false_pairs: members.len() as u64 - true_pairs,
            measures: measures.of_scores(has_scores),
        }
    });
    each.collect()
}

/// A grade in a field.
fn grade(table: &Table, field: &[u8]) -> Result<u32> {
    let grade = parsed(field).filter(|&grade| grade <= MOST_GRADE);
    grade.ok_or_else(|| {
        let expected = format!("a grade, a whole number from 0 (not alike) to {MOST_GRADE}");
        table.bad(expected, shorten(field))
    })
}

/// Passes on the distinct judged pairs. A pair with two grades is an error. Returns the names of the
/// collections.
fn distinct_judged(
    path: &Path,
    of: Evaluating<'_>,
    documents: &Documents,
    mut take: impl FnMut(Judgement) -> Result<()>,
) -> Result<Vec<String>> {
    let mut sort = of.sort_beside(3, "judgements")?;
    let mut collections = Collections::default();
    each_judged(path, of.context, |table, row| {
        let (a, b) = (documents.of(table, &row[0])?, documents.of(table, &row[1])?);
        let grade = grade(table, &row[2])?;
        let collection = collections.number(table, row)?;
        if table.number() >= 1 << LINE_BITS {
            let expected = format!("a line below {}", 1u64 << LINE_BITS);
            return Err(table.bad(expected, table.number()));
        }
        if a == b {
            return Ok(());
        }
        sort.push(Judgement {
            pair: Pair::new(a, b),
            line: table.number(),
            grade,
            collection,
        })
    })?;
    let pair = |judged: &Judgement| judged.pair;
    sort.finish()?.groups(pair, |first, all| {
        take(first)?;
        while let Some(other) = all.next()? {
            if other.grade != first.grade {
                let Judgement { grade, line, .. } = first;
                let expected = format!("the grade {grade} that line {line} has");
                return Err(Error::bad_line(path, other.line, expected, other.grade));
            }
        }
        Ok(())
    })?;
    Ok(collections.names)
}

/// How a list of disagreements begins.
pub(super) const HEAD: &str = "docno_a\tdocno_b\tgrade\tcollection\tscore\tdisagreement\n";

/// Writes the judged pairs about which the run and the people disagree, in the order of their file.
fn write_disagreements(
    path: &Path,
    of: Evaluating<'_>,
    outcomes: Sort<Outcome>,
    output: &Path,
) -> Result<()> {
    let mut out = AtomicFile::create(output)?;
    out.put(HEAD.as_bytes())?;
    let mut outcomes = outcomes.finish()?;
    let mut next = outcomes.next()?;
    each_judged(path, of.context, |table, row| {
        let Some(outcome) = next.filter(|next| next.line == table.number()) else {
            return Ok(());
        };
        next = outcomes.next()?;
        let grade = grade(table, &row[2])?;
        let kind = match (grade >= of.sources.config.true_grade, outcome.level > 0) {
            (true, false) => "missed",
            (false, true) => "wrong",
            _ => return Ok(()),
        };
        let score = match outcome.place {
            0 => String::new(),
            SAME => "1".into(),
            place => f64::from_bits(place - 1).to_string(),
        };
        let text = |at: usize| {
            let field = row.get(at).map_or(&b""[..], Vec::as_slice);
            String::from_utf8_lossy(field).into_owned()
        };
        let texts = [0, 1, 3].map(text);
        let [a, b, collection] = [0, 1, 2].map(|n| cell(&texts[n]));
        out.put(format!("{a}\t{b}\t{grade}\t{collection}\t{score}\t{kind}\n").as_bytes())
    })?;
    out.finish()?;
    Ok(())
}

/// Refuses grades and files that cannot be.
pub(super) fn check(true_grade: u32, any: bool, disagreements: Option<&Path>) -> Result<()> {
    if true_grade == 0 || true_grade > MOST_GRADE {
        let limit = format!("1 to {MOST_GRADE}: pairs of a lower grade are judged false");
        return refuse("true-grade", true_grade, limit);
    }
    let limit =
        "they are about judged pairs, or removed or kept documents; give --judged or --run-lists";
    match disagreements {
        Some(path) if !any => refuse("disagreements", path.display(), limit),
        _ => Ok(()),
    }
}
