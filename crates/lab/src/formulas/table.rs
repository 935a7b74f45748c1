//! The formulas of a paper with chosen values, as rows.

use serde::{Serialize, Serializer};

use super::{
    expected_trials, first_success, lexicon_unchanged, missed, selected_of_shared,
    signature_stability, super_shingles_shared,
};
use lookalike_base::{Result, Stop, keywords, refuse};

keywords! {
    /// A paper with formulas.
    pub(crate) enum FormulaPaper: "is not a paper with formulas; use" {
        /// Kołcz & Chowdhury 2008, equations 1, 6 and 7 and Table 4.
        Kolcz2008 = "kolcz-2008",
        /// Bernstein & Zobel 2006, section 4.3.
        Bernstein2006 = "bernstein-2006",
        /// Fetterly, Manasse & Najork 2003, section 3.
        Fetterly2003 = "fetterly-2003",
    }
}

/// Limit on the rows.
const MOST_ROWS: usize = 10_000;

/// The values of a formula's variables, and its result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FormulaRow {
    /// Where the paper has it.
    pub place: &'static str,
    /// A description of the result.
    pub about: &'static str,
    /// Its variables, by the names of the options.
    #[serde(serialize_with = "members")]
    pub values: Vec<(&'static str, f64)>,
    /// The result; `None` if it is undefined.
    pub result: Option<f64>,
}

/// Names and values as members of an object.
fn members<S: Serializer>(
    values: &[(&str, f64)],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(values.iter().copied())
}

/// Takes the place and the sense of a formula, its values and its result.
type Push<'p> =
    &'p mut dyn FnMut([&'static str; 2], Vec<(&'static str, f64)>, Option<f64>) -> Result<()>;

/// Each of some values with each of some others.
fn pairs<A: Copy, B: Copy>(all: &[A], with: &[B]) -> impl Iterator<Item = (A, B)> {
    all.iter().flat_map(|&a| with.iter().map(move |&b| (a, b)))
}

/// The values to compute with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FormulaValues {
    /// Changed words of the lexicon (n).
    pub changes: Vec<u32>,
    /// Randomised lexicons (K).
    pub lexicons: Vec<u32>,
    /// Terms of the lexicon (L).
    pub terms: Vec<u64>,
    /// Share of the terms that a randomised lexicon lacks (p, and M/L).
    pub left_out: f64,
    /// Chunks that two documents share.
    pub chunks: Vec<u64>,
    /// One chunk in this number is selected.
    pub every: Vec<u64>,
    /// Selected chunks, or super-shingles, that two documents must share.
    pub shared: u32,
    /// Resemblances of two documents.
    pub resemblance: Vec<f64>,
    /// Samples in a super-shingle.
    pub samples: u32,
    /// Super-shingles of a document.
    pub super_shingles: u32,
}

impl FormulaValues {
    /// The values of the papers.
    pub(crate) fn of(paper: FormulaPaper) -> FormulaValues {
        FormulaValues {
            changes: vec![2, 5, 10, 20, 50],
            lexicons: vec![1, 2, 5, 10],
            terms: vec![1_000, 10_000, 100_000],
            left_out: 0.33,
            chunks: vec![1024],
            every: vec![256],
            shared: match paper {
                FormulaPaper::Fetterly2003 => 2,
                _ => 1,
            },
            resemblance: vec![0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99],
            samples: 14,
            super_shingles: 6,
        }
    }

    /// The results of the formulas of a paper.
    ///
    /// # Errors
    /// `BadParameter` for a share that is not from 0 to 1, and for too many results; `Interrupted`.
    pub(crate) fn rows(&self, paper: FormulaPaper, stop: &Stop) -> Result<Vec<FormulaRow>> {
        let share = |name, value: f64| match (0.0..=1.0).contains(&value) {
            true => Ok(()),
            false => refuse(name, value, "from 0 to 1"),
        };
        share("left-out", self.left_out)?;
        for &value in &self.resemblance {
            share("resemblance", value)?;
        }
        let product = |a: usize, b: usize| a.saturating_mul(b);
        let results = match paper {
            FormulaPaper::Kolcz2008 => product(
                self.changes.len(),
                2 * (self.lexicons.len() + self.terms.len()),
            ),
            FormulaPaper::Bernstein2006 => {
                // One for each number of selected chunks, and one for those below.
                let selected = (self.shared as usize).saturating_add(2);
                product(product(self.chunks.len(), self.every.len()), selected)
            }
            FormulaPaper::Fetterly2003 => self.resemblance.len(),
        };
        if results > MOST_ROWS {
            let given = format!("for {results} results");
            return refuse("values", given, format!("for at most {MOST_ROWS} results"));
        }
        let mut rows = Vec::with_capacity(results);
        let push: Push<'_> = &mut |[place, about], values, result| {
            // A result with many factors takes milliseconds.
            stop.check("formulas")?;
            rows.push(FormulaRow {
                place,
                about,
                values,
                result,
            });
            Ok(())
        };
        match paper {
            FormulaPaper::Kolcz2008 => self.kolcz(push),
            FormulaPaper::Bernstein2006 => self.bernstein(push),
            FormulaPaper::Fetterly2003 => self.fetterly(push),
        }?;
        Ok(rows)
    }

    fn kolcz(&self, push: Push<'_>) -> Result<()> {
        let kept = "probability that a randomised lexicon keeps its signature";
        for (n, lexicons) in pairs(&self.changes, &self.lexicons) {
            let result = signature_stability(self.left_out, n, lexicons);
            let (changes, lexicons) = (("changes", n.into()), ("lexicons", lexicons.into()));
            let values = vec![("left-out", self.left_out), changes, lexicons];
            push(["Equation 1", kept], values, result)?;
        }
        let unchanged = |terms: u64, n: u32| {
            let left_out = (terms as f64 * self.left_out).floor() as u64;
            lexicon_unchanged(terms, left_out, n.into())
        };
        let of = |terms: u64, n: u32| vec![("terms", terms as f64), ("changes", n.into())];
        let none = "probability that a drawn lexicon has none of the changed terms left out";
        for (terms, n) in pairs(&self.terms, &self.changes) {
            push(["Equation 6", none], of(terms, n), unchanged(terms, n))?;
        }
        let first = "probability that this lexicon is the first that is unaffected";
        for (n, lexicons) in pairs(&self.changes, &self.lexicons) {
            let Some(&terms) = self.terms.last() else {
                continue;
            };
            let mut values = of(terms, n);
            values.push(("lexicons", lexicons.into()));
            let result = unchanged(terms, n).and_then(|q| first_success(q, lexicons.into()));
            push(["Equation 7", first], values, result)?;
        }
        let expected = "expected number of lexicons until one is unaffected";
        for (terms, n) in pairs(&self.terms, &self.changes) {
            let result = unchanged(terms, n).and_then(expected_trials);
            push(["Table 4", expected], of(terms, n), result)?;
        }
        Ok(())
    }

    fn bernstein(&self, push: Push<'_>) -> Result<()> {
        let number = "probability that this number of shared chunks is selected";
        let fewer = "probability that fewer shared chunks are selected, and the pair is missed";
        for (chunks, every) in pairs(&self.chunks, &self.every) {
            let (n, k) = (chunks as f64, every as f64);
            let of = |name, value: u32| vec![("chunks", n), ("every", k), (name, value.into())];
            for selected in 0..=self.shared {
                let result = selected_of_shared(n, k, selected);
                push(["Section 4.3", number], of("selected", selected), result)?;
            }
            let result = missed(n, k, self.shared);
            push(["Section 4.3", fewer], of("shared", self.shared), result)?;
        }
        Ok(())
    }

    fn fetterly(&self, push: Push<'_>) -> Result<()> {
        let about = "probability that two documents share super-shingles";
        let (samples, number, shared) = (self.samples, self.super_shingles, self.shared);
        for &resemblance in &self.resemblance {
            let values = vec![
                ("resemblance", resemblance),
                ("samples", samples.into()),
                ("super-shingles", number.into()),
                ("shared", shared.into()),
            ];
            let result = super_shingles_shared(resemblance, samples, number, shared);
            push(["Section 3", about], values, result)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(rows: &[FormulaRow], place: &str, wanted: &[(&'static str, f64)]) -> f64 {
        let is = |row: &&FormulaRow| {
            row.place == place && wanted.iter().all(|value| row.values.contains(value))
        };
        let found = rows.iter().find(is).and_then(|row| row.result);
        found.unwrap_or_else(|| panic!("{place} {wanted:?}"))
    }

    #[test]
    fn the_rows_have_the_published_values() {
        use FormulaPaper::*;
        let rows = |paper| {
            FormulaValues::of(paper)
                .rows(paper, &Stop::default())
                .unwrap()
        };
        let kolcz = rows(Kolcz2008);
        // Table 4 as printed.
        let printed = value(&kolcz, "Table 4", &[("terms", 1_000.0), ("changes", 20.0)]);
        assert!((printed - 3_309.92).abs() < 0.01);
        let first = value(&kolcz, "Equation 1", &[("changes", 2.0), ("lexicons", 1.0)]);
        assert!((first - 0.33 * 0.33).abs() < 1e-12);
        let q = value(
            &kolcz,
            "Equation 6",
            &[("terms", 100_000.0), ("changes", 2.0)],
        );
        let second = value(&kolcz, "Equation 7", &[("changes", 2.0), ("lexicons", 2.0)]);
        assert!((second - (1.0 - q) * q).abs() < 1e-12);
        // Bernstein & Zobel: a passage of 1,024 chunks with one in 256 selected.
        let bernstein = rows(Bernstein2006);
        let none = value(&bernstein, "Section 4.3", &[("selected", 0.0)]);
        let missed = value(&bernstein, "Section 4.3", &[("shared", 1.0)]);
        assert!((none - (-4f64).exp()).abs() < 1e-12 && (none - missed).abs() < 1e-12);
        let fetterly = rows(Fetterly2003);
        let p = 0.95f64.powi(14);
        let expected = 1.0 - (1.0 - p).powi(6) - 6.0 * p * (1.0 - p).powi(5);
        let found = value(&fetterly, "Section 3", &[("resemblance", 0.95)]);
        assert!((found - expected).abs() < 1e-9);
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let paper = FormulaPaper::Kolcz2008;
        for left_out in [-0.1, 1.1, f64::NAN] {
            let values = FormulaValues {
                left_out,
                ..FormulaValues::of(paper)
            };
            assert!(values.rows(paper, &Stop::default()).is_err(), "{left_out}");
        }
        // More changes than terms: the formula is undefined, and says so.
        let values = FormulaValues {
            terms: vec![10],
            changes: vec![20],
            ..FormulaValues::of(paper)
        };
        let rows = values.rows(paper, &Stop::default()).unwrap();
        assert!(
            rows.iter()
                .any(|row| row.place == "Table 4" && row.result.is_none())
        );
    }

    /// Few values may ask for many results.
    #[test]
    fn too_many_results_are_refused_and_a_stop_ends_the_others() {
        let paper = FormulaPaper::Bernstein2006;
        let values = |shared| FormulaValues {
            chunks: vec![1_000_000],
            shared,
            ..FormulaValues::of(paper)
        };
        let error = values(999_999).rows(paper, &Stop::default()).unwrap_err();
        let expected = "for 1000001 results";
        assert!(error.to_string().contains(expected), "{error}");
        let most = values(MOST_ROWS as u32 - 2);
        let stop = Stop::default();
        assert_eq!(most.rows(paper, &stop).unwrap().len(), MOST_ROWS);
        stop.request();
        for paper in FormulaPaper::ALL {
            let stopped = FormulaValues::of(paper).rows(paper, &stop).unwrap_err();
            assert!(
                matches!(stopped, lookalike_base::Error::Interrupted { .. }),
                "{paper}"
            );
        }
    }
}
