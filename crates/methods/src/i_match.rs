//! `i-match`: the fingerprint of a document is a hash of its terms that are in a lexicon.
//!
//! # Source
//! Chowdhury, Frieder, Grossman & McCabe 2002, sections 3, 4.1 and 4.3 and Table X, and Kolcz &
//! Chowdhury 2008, sections 3 (secondary lexicon, rejection), 4 (randomised lexicons) and 6.3 to
//! 6.6. `preset=chowdhury` uses the parameters of the former, `preset=kolcz` the parameters of the
//! latter.
//!
//! # In and out
//! In: texts, and a lexicon: the document frequencies of the collection itself or of another one
//! (`lexicon.rs`). Out: one feature for each document, or one for each lexicon. Documents without
//! features are ignored and counted.
//!
//! # Algorithm
//! U is the set of unique terms of a document (`terms.rs`), and idf is normalised to between 0 and
//! 1. S is the set of terms that are hashed. `variant` selects S, with X, A and B in hundredths:
//!
//! | variant | S |
//! | --- | --- |
//! | `doc-l-X` | U without the X % of lowest idf |
//! | `doc-h-X` | U without the X % of highest idf |
//! | `docr-i-A-B` | the part of U, by ascending idf, from A % to B % |
//! | `docr-o-A-B` | the rest of U |
//! | `idf-l-X` | terms with an idf of at least X |
//! | `idf-h-X` | terms with an idf below X |
//! | `idfr-i-A-B` | terms with an idf from A to B |
//! | `idfr-o-A-B` | terms with an idf below A or above B |
//! | `nidf-A-B` | as `idfr-i`, with A and B as decimals: Kolcz & Chowdhury's primary lexicon |
//!
//! 1. If |S|/|U| is below `secondary`, terms of U with an idf above the primary lexicon are added,
//!    lowest idf first, until the ratio is reached.
//! 2. If S is empty, |S| is below `reject-size`, or |S|/|U| is below `reject-ratio`, the document
//!    has no feature.
//! 3. The feature is the first 64 bits of the SHA-1 of S in ascending Unicode order, with a line
//!    feed after each term.
//! 4. The same is done with each of `lexicons` randomised lexicons, in which a random part of the
//!    terms of the primary and the secondary lexicon is missing. The number of the lexicon is mixed
//!    into the feature, so features of different lexicons are equal only by chance. Two documents
//!    match if they share one of their K + 1 features.
//!
//! # Invariants
//! - Ties of idf are broken by Unicode order, and thresholds are compared in integers. The same
//!   terms and frequencies give the same feature on every machine.
//! - A hash of seed, k and term decides whether lexicon k has a term, so randomised lexicons need
//!   no memory.
//!
//! # Cost
//! One pass over the texts for the lexicon, which other variants with the same terms reuse, and one
//! for the features. For each document, K + 1 hashes of its terms.
//!
//! # Where we depart from the papers
//! - Table X describes `l` as the X highest terms "used"; sections 4.1 and 4.3 describe it as the X
//!   lowest terms filtered, so that doc-l-90 uses a tenth. We follow the sections. Table IX, where
//!   higher thresholds of both kinds find more, agrees with them.
//! - Rounding of fractional numbers of terms: in Table IX, doc-l, doc-h and docr-o filter out no
//!   document that was not empty before, so we round down the number of terms that they remove.
//!   docr-i ignores the shortest documents, as section 4.1 says ("less than four unique tokens"),
//!   so we round down the number of terms that it keeps.
//! - idf-l keeps a term exactly at its threshold ("0.1 or greater", section 4.3). Its complement
//!   idf-h therefore does not, and neither does idfr-o.
//! - Chowdhury et al. do not say which terms their I-Match uses. The default is the filters of the
//!   baseline that they compare it with (Table X: stemming, no special characters).
//! - A bootstrap sample of a lexicon contains each term with a probability that tends to 1 - 1/e,
//!   63.2 %; section 6.6 prints 67 %. We keep each term independently with probability 1 - 1/e;
//!   `p=0.33` keeps the printed share.
//! - Each randomised lexicon is drawn term by term, so its size varies, and so does the size of a
//!   bootstrap sample.
//! - The secondary lexicon has no size limit. S and U are defined as in the papers. A term that the
//!   lexicon of another collection does not know is in U but in no lexicon, and `doc` variants omit
//!   it.

use std::path::PathBuf;
use std::sync::Arc;

use super::lexicon::{self, Lexicon, Share};
use super::syntactic::signature;
use super::terms::{LEAST_TERMS, Preprocessing, Terms, filters_help, least_terms};
use super::{Document, Entry, Keys, Method, Values, join_by_shared, mix};
use lookalike_base::Context;
use lookalike_store::Workspace;

pub(super) const METHOD: Entry = Entry {
    name: "i-match",
    about: "One hash of the document's terms that a lexicon has, by document frequency",
    paper: "Chowdhury et al. 2002; Kolcz & Chowdhury 2008",
    parameters: &[
        "preset=chowdhury: chowdhury: variant=idf-l-10, terms=chowdhury, filters=nosc+stem, lexicons=0; kolcz: \
             variant=nidf-0.2-0.8, terms=kolcz, lexicons=10",
        "variant=preset: doc-l-X, doc-h-X, docr-i-A-B, docr-o-A-B, idf-l-X, idf-h-X, idfr-i-A-B, idfr-o-A-B in hundredths, \
             or nidf-A-B in decimals (2002: doc-l-10 to idfr-o-40-60; 2008: nidf-0.2-0.8, nidf-0.2-0.3 for email)",
        "terms=preset: chowdhury: tokens that pass `filters`; kolcz: words of section 6.3 of 2008",
        concat!("filters=preset: ", filters_help!()),
        LEAST_TERMS,
        "secondary=0: share of the document's terms to reach, with terms above the primary lexicon if needed",
        "reject-size=0: documents with fewer terms left have no hash",
        "reject-ratio=0: documents with a smaller share of their terms left have no hash",
        "lexicons=preset: number of randomised lexicons besides the first (2008: 1 to 10)",
        "p=bootstrap: share of the terms that each randomised lexicon lacks; bootstrap: 1/e",
        "seed=0: seed of the randomised lexicons",
        "lexicon=own: own: document frequencies of this collection; or the file lexicon.tsv of another one",
    ],
    build: |values| {
        let method = build(values)?;
        let file = method.file.clone();
        let prepare = move |collection: &Workspace, context: &Context<'_>| {
            let lexicon = match &method.file {
                Some(path) => Lexicon::read(path, method.preprocessing, false, context),
                None => Lexicon::own(collection, method.preprocessing, context),
            };
            let lexicon = Arc::new(lexicon?);
            let held_bytes = lexicon.bytes();
            let signatures = method.signatures(lexicon);
            let keys = Keys::of(move |document, keys| signatures.keys(document, keys));
            Ok(Keys { held_bytes, ..keys })
        };
        Ok(Method {
            sets: true,
            file,
            ..Method::new(join_by_shared(1), prepare)
        })
    },
};

#[derive(Clone)]
pub(super) struct IMatch {
    preprocessing: Preprocessing,
    variant: Variant,
    least_terms: usize,
    secondary: Share,
    reject_size: usize,
    reject_ratio: Share,
    lexicons: u64,
    /// A term is in a randomised lexicon if its 64-bit hash is at least this.
    removed_below: u64,
    seed: u64,
    /// The file of another collection's lexicon.
    file: Option<PathBuf>,
}

/// Selects the terms to hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    /// The document's terms, by ascending idf, inside or outside a range of places.
    Document { range: Range, inside: bool },
    /// The terms with an idf inside or outside a range.
    Idf {
        from: Share,
        to: Share,
        inside: bool,
    },
}

/// A range of places among the document's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Range {
    /// All but this share at the beginning.
    From(Share),
    /// All but this share at the end.
    To(Share),
    /// Skips the first share, then takes the second.
    Middle(Share, Share),
}

impl Range {
    fn of(self, terms: usize) -> std::ops::Range<usize> {
        match self {
            Range::From(without) => without.down(terms)..terms,
            Range::To(without) => 0..terms - without.down(terms),
            Range::Middle(before, taken) => {
                let start = before.up(terms);
                start..start + taken.down(terms)
            }
        }
    }
}

fn share(values: &Values, name: &str) -> Result<Share, String> {
    let text = values.text(name);
    Share::read(text).ok_or_else(|| {
        format!("{name} is from 0 to 1 with at most three decimals, and not `{text}`")
    })
}

fn build(values: &Values) -> Result<IMatch, String> {
    let kolcz = values.one_of("preset", &[("chowdhury", false), ("kolcz", true)])?;
    let preset = match kolcz {
        true => [
            ("variant", "nidf-0.2-0.8"),
            ("terms", "kolcz"),
            ("lexicons", "10"),
        ],
        false => [
            ("variant", "idf-l-10"),
            ("terms", "chowdhury"),
            ("lexicons", "0"),
        ],
    };
    let values = values.filled(preset);
    let filters = match values.text("terms") {
        "kolcz" => "none",
        _ => "nosc+stem",
    };
    let values = &values.filled([("filters", filters)]);
    let variant = values.text("variant");
    let variant = Variant::read(variant).ok_or_else(|| {
        format!("variant is one of `lookalike lab method i-match`, and not `{variant}`")
    })?;
    let preprocessing = Preprocessing::read(values)?;
    let lexicons = values.number("lexicons", 0..=1000)?;
    let banded = matches!(variant, Variant::Idf { .. });
    if lexicons > 0 && !banded {
        return Err(
            "randomised lexicons are parts of one that idf defines: an idf or nidf variant".into(),
        );
    }
    let secondary = share(values, "secondary")?;
    if secondary.numerator > 0 && !matches!(variant, Variant::Idf { inside: true, .. }) {
        return Err(
            "a secondary lexicon is above the primary one: variant=nidf-A-B, idfr-i-A-B".into(),
        );
    }
    let removed_below = match values.text("p") {
        "bootstrap" => BOOTSTRAP_REMOVES,
        _ => {
            let p = share(values, "p")?;
            let of = (1u128 << 64) * u128::from(p.numerator) / u128::from(p.denominator);
            u64::try_from(of).map_err(|_| "p is below 1".to_string())?
        }
    };
    let file = match values.text("lexicon") {
        "own" => None,
        text if text.is_empty() || text.contains(char::is_control) => {
            return Err("lexicon is own or the path of a file".into());
        }
        path => Some(PathBuf::from(path)),
    };
    Ok(IMatch {
        preprocessing,
        variant,
        least_terms: least_terms(values)?,
        secondary,
        reject_size: values.number("reject-size", 0..=1_000_000_000)? as usize,
        reject_ratio: share(values, "reject-ratio")?,
        lexicons,
        removed_below,
        seed: values.number("seed", 0..=u64::MAX)?,
        file,
    })
}

/// 2^64 / e: a bootstrap sample of a large lexicon lacks 1/e of its terms.
const BOOTSTRAP_REMOVES: u64 = 6_786_177_901_268_885_274;

impl Variant {
    fn read(text: &str) -> Option<Variant> {
        if let Some(range) = text.strip_prefix("nidf-") {
            let (from, to) = range.split_once('-')?;
            let (from, to) = (Share::read(from)?, Share::read(to)?);
            return Variant::idf(from, to, true);
        }
        let mut parts = text.split('-');
        let (kind, side) = (parts.next()?, parts.next()?);
        let hundredths: Vec<u32> = parts
            .map(|part| {
                part.parse()
                    .ok()
                    .filter(|n: &u32| *n <= 100 && part == n.to_string())
            })
            .collect::<Option<_>>()?;
        let of = |n: u32| Share::new(n, 100);
        match (kind, side, &hundredths[..]) {
            ("doc", "l", &[x]) if x < 100 => Some(Variant::Document {
                range: Range::From(of(x)),
                inside: true,
            }),
            ("doc", "h", &[x]) if x < 100 => Some(Variant::Document {
                range: Range::To(of(x)),
                inside: true,
            }),
            ("docr", "i" | "o", &[a, b]) if a < b => Some(Variant::Document {
                range: Range::Middle(of(a), of(b - a)),
                inside: side == "i",
            }),
            ("idf", "l" | "h", &[x]) => Variant::idf(of(x), of(100), side == "l"),
            ("idfr", "i" | "o", &[a, b]) => Variant::idf(of(a), of(b), side == "i"),
            _ => None,
        }
    }

    fn idf(from: Share, to: Share, inside: bool) -> Option<Variant> {
        let rises = u64::from(from.numerator) * u64::from(to.denominator)
            <= u64::from(to.numerator) * u64::from(from.denominator);
        rises.then_some(Variant::Idf { from, to, inside })
    }
}

impl IMatch {
    /// A variant without the extensions of 2008.
    pub(super) fn plain(preprocessing: Preprocessing, variant: &str) -> Option<IMatch> {
        let nothing = Share::new(0, 1);
        Some(IMatch {
            preprocessing,
            variant: Variant::read(variant)?,
            least_terms: 0,
            secondary: nothing,
            reject_size: 0,
            reject_ratio: nothing,
            lexicons: 0,
            removed_below: 0,
            seed: 0,
            file: None,
        })
    }

    /// The signatures with a lexicon.
    pub(super) fn signatures(&self, lexicon: Arc<Lexicon>) -> Signatures {
        let band = match self.variant {
            Variant::Idf { from, to, .. } => {
                let documents = lexicon.documents;
                lexicon::least_with_idf_to(documents, to)
                    ..=lexicon::most_with_idf_from(documents, from)
            }
            Variant::Document { .. } => 0..=u32::MAX,
        };
        Signatures {
            method: self.clone(),
            lexicon,
            band,
        }
    }
}

pub(super) struct Signatures {
    method: IMatch,
    lexicon: Arc<Lexicon>,
    /// The document frequencies that correspond to the variant's range of idf.
    band: std::ops::RangeInclusive<u32>,
}

impl Signatures {
    fn keys(&self, document: &mut Document<'_>, keys: &mut Vec<u64>) {
        let mut terms = self.method.preprocessing.terms(document);
        if terms.len() < self.method.least_terms {
            return;
        }
        terms.sort();
        let known = self.lexicon.known(&terms);
        for k in 0..=self.method.lexicons {
            if let Some(chosen) = self.chosen(&known, k) {
                let key = sign(&terms, chosen);
                keys.push(if k == 0 { key } else { mix(key ^ mix(k)) });
            }
        }
    }

    /// The places of the terms to hash with lexicon k, or `None` if the document is rejected.
    pub(super) fn chosen(&self, known: &[(u64, u32)], k: u64) -> Option<Vec<usize>> {
        let method = &self.method;
        // Terms are represented by their places in Unicode order.
        let in_lexicon = |&at: &usize| {
            known.get(at).is_some_and(|&(fingerprint, frequency)| {
                frequency > 0 && (k == 0 || self.keeps(fingerprint, k))
            })
        };
        let frequency = |at: usize| known.get(at).map_or(0, |(_, frequency)| *frequency);
        let candidates: Vec<usize> = (0..known.len()).filter(in_lexicon).collect();
        // A stable sort, so that ties are in Unicode order.
        let by_idf = |mut places: Vec<usize>| {
            places.sort_by_key(|&at| std::cmp::Reverse(frequency(at)));
            places
        };
        let chosen: Vec<usize> = match method.variant {
            Variant::Document { range, inside } => {
                let ranked = by_idf(candidates);
                let range = range.of(ranked.len());
                let all = ranked.into_iter().enumerate();
                all.filter(|(at, _)| range.contains(at) == inside)
                    .map(|(_, term)| term)
                    .collect()
            }
            Variant::Idf { inside, .. } => {
                let is_in = |&at: &usize| self.band.contains(&frequency(at)) == inside;
                let mut chosen: Vec<usize> = candidates.iter().copied().filter(is_in).collect();
                let wanted = method.secondary.up(known.len());
                if chosen.len() < wanted {
                    let above = |at: &usize| frequency(*at) < *self.band.start();
                    let more = by_idf(candidates.into_iter().filter(above).collect());
                    let missing = wanted - chosen.len();
                    chosen.extend(more.into_iter().take(missing));
                }
                chosen
            }
        };
        let least = method.reject_ratio.up(known.len());
        if chosen.len() < least.max(method.reject_size).max(1) {
            return None;
        }
        Some(chosen)
    }

    /// Whether randomised lexicon k has a term.
    fn keeps(&self, fingerprint: u64, k: u64) -> bool {
        let method = &self.method;
        mix(fingerprint ^ mix(method.seed ^ mix(k))) >= method.removed_below
    }
}

/// The signature of the terms at these places.
pub(super) fn sign(terms: &Terms, mut chosen: Vec<usize>) -> u64 {
    chosen.sort_unstable();
    let mut chosen = chosen.into_iter().peekable();
    let lines = terms.lines().enumerate();
    let lines = lines.filter(|(at, _)| chosen.next_if_eq(at).is_some());
    signature(lines.map(|(_, line)| line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bootstrap_removes_one_in_e() {
        let e = BOOTSTRAP_REMOVES as f64 / 2f64.powi(64);
        assert!((e - (-1f64).exp()).abs() < 1e-15, "{e}");
    }

    #[test]
    fn the_52_variants_of_table_ix_read() {
        let variants = super::super::variants::variant_names();
        assert_eq!(variants.len(), 52);
        let mut read: Vec<Variant> = Vec::new();
        for variant in &variants {
            let one = Variant::read(variant).unwrap();
            assert!(!read.contains(&one), "{variant}");
            read.push(one);
        }
        for text in [
            "",
            "idf",
            "idf-l",
            "idf-l-",
            "idf-l-101",
            "idf-m-10",
            "idf-l-10-20",
            "doc-l-100",
            "docr-i-60-40",
            "idfr-i-90-10",
            "nidf-0.2",
            "nidf-0.8-0.2",
            "nidf-20-80",
            "idf-l-010",
            "idf-l-+10",
        ] {
            assert_eq!(Variant::read(text), None, "{text}");
        }
    }

    /// Checks what Table IX says about documents that are filtered by places of terms.
    #[test]
    fn places_of_short_documents() {
        let of = |text: &str, terms: usize| match Variant::read(text) {
            Some(Variant::Document { range, inside }) => {
                let range = range.of(terms);
                (0..terms).filter(|at| range.contains(at) == inside).count()
            }
            _ => unreachable!(),
        };
        for terms in 1..200 {
            for a in [10usize, 20, 30, 40] {
                let inner = of(&format!("docr-i-{a}-{}", 100 - a), terms);
                assert_eq!(inner, terms * (100 - 2 * a) / 100);
                let outer = of(&format!("docr-o-{a}-{}", 100 - a), terms);
                assert_eq!(inner + outer, terms);
                assert!(outer > 0);
            }
            for x in 1..100 {
                let left = terms - terms * x / 100;
                assert_eq!(of(&format!("doc-l-{x}"), terms), left);
                assert_eq!(of(&format!("doc-h-{x}"), terms), left);
            }
        }
    }
}
