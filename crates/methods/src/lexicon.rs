//! The lexicon of I-Match: in how many documents of a collection each term occurs.
//!
//! # Source
//! Chowdhury, Frieder, Grossman & McCabe 2002, section 3 (idf, from the collection itself or from
//! another one) and section 4.1 (its normalisation). Kolcz & Chowdhury 2008, section 6.5 (the
//! lexicon of another collection).
//!
//! # In and out
//! In: a collection that keeps its texts. Out: `methods/terms_.../lexicon.tsv` in its directory.
//! The file lists the fingerprint of each term that occurs in at least two documents. Every method
//! that uses the same terms reads this file; a method in another collection reads it with
//! `lexicon=FILE`.
//!
//! # Algorithm
//! 1. Extract the terms of all representatives as features, as for any method, then sort and merge
//!    them into posting lists. The length of a list is the document frequency of its term.
//! 2. Write the lists as text in ascending order of fingerprint, with the number of documents and a
//!    checksum.
//! 3. To use the file, read it into memory. An index over the first bits of the fingerprints finds
//!    a term.
//!
//! # Invariants
//! - The normalised idf of a term is log(N/df) / log N. It ranges from 0 for a term that all N
//!   documents contain to 1 for a term of one document. To compare it with a threshold a/b, the
//!   code compares df^b with N^(b-a) in integers of arbitrary length, so rounding never decides.
//! - A file for other terms and a damaged file are errors that name the line.
//!
//! # Cost
//! The file has about 20 bytes for each term of two or more documents. In memory, each takes 13
//! bytes.
//!
//! # Where we depart from the papers
//! - Section 4.1 says that idf is normalised to between 0 and 1 "across the collection", but not
//!   how. Here the largest possible idf becomes 1. The smallest is not stretched to 0, which would
//!   make no difference where some term is in nearly all documents.
//! - N is the number of representatives: exact duplicates count once.
//! - The file omits terms that occur in one document. In the file's own collection, a term that is
//!   not in the file has frequency 1. In another collection its frequency is unknown, because the
//!   file's collection may not contain it at all.

use lookalike_base::{Context, Error, PROCESS_BYTES, Result};
use lookalike_engine::collection::Catalogue;
use lookalike_engine::merge::{self, AllPostings};
use lookalike_engine::pipeline;
use lookalike_store::{Workspace, disk};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use num_bigint::BigUint;
use xxhash_rust::xxh3::Xxh3;

use super::extract;
use super::terms::{Preprocessing, Terms};

/// The name of the file.
pub const LEXICON_FILE: &str = "lexicon.tsv";

const MAGIC: &str = "# lookalike lexicon 1";
const COLUMNS: &str = "# fingerprint\tdocuments";
/// The longest line that a reader accepts.
const LONGEST_LINE: u64 = 256;
/// The memory of one term: its fingerprint, its frequency, and its share of an index entry.
const TERM_BYTES: u64 = 8 + 4 + 1;
/// The memory for reading the file.
const FIXED_BYTES: u64 = 1 << 20;
/// The average number of terms per index entry.
const TERMS_OF_PLACE: usize = 4;

/// Document frequencies, in memory.
#[derive(Debug)]
pub(super) struct Lexicon {
    pub(super) documents: u64,
    fingerprints: Vec<u64>,
    frequencies: Vec<u32>,
    /// The index: the position of the first fingerprint for each value of the leading bits, then
    /// the position after the last one.
    places: Vec<u32>,
    /// How far to shift a fingerprint to get its leading bits; 64 if the index has one entry.
    shift: u32,
    /// True for the lexicon of the collection itself, which knows every term.
    own: bool,
}

impl Lexicon {
    /// Reads the lexicon of the collection, and makes it first if it does not exist.
    pub(super) fn own(
        base: &Workspace,
        preprocessing: Preprocessing,
        context: &Context<'_>,
    ) -> Result<Lexicon> {
        let path = make(base, preprocessing, context)?;
        Lexicon::read(&path, preprocessing, true, context)
    }

    /// The place of a term in the lexicon; `None` if no two documents contain it.
    pub(super) fn place(&self, fingerprint: u64) -> Option<usize> {
        let place = fingerprint.checked_shr(self.shift).unwrap_or(0) as usize;
        let bound = |at: usize| self.places.get(at).map_or(0, |&at| at as usize);
        let (from, to) = (bound(place), bound(place + 1));
        let these = self.fingerprints.get(from..to)?;
        Some(from + these.binary_search(&fingerprint).ok()?)
    }

    /// The number of documents that contain the term; 0 if it is unknown.
    pub(super) fn frequency(&self, fingerprint: u64) -> u32 {
        let frequency = self.place(fingerprint);
        let frequency = frequency.and_then(|at| self.frequencies.get(at));
        frequency.copied().unwrap_or(u32::from(self.own))
    }

    /// The fingerprint and the frequency of each of some terms.
    pub(super) fn known(&self, terms: &Terms) -> Vec<(u64, u32)> {
        let of = |fingerprint| (fingerprint, self.frequency(fingerprint));
        terms.fingerprints().map(of).collect()
    }

    /// The number of terms of two or more documents.
    pub(super) fn len(&self) -> usize {
        self.fingerprints.len()
    }

    /// The memory that the lexicon takes.
    pub(super) fn bytes(&self) -> u64 {
        self.fingerprints.len() as u64 * TERM_BYTES
    }

    /// Reads a lexicon. `own` says whether it was made from the collection itself.
    pub(super) fn read(
        path: &Path,
        preprocessing: Preprocessing,
        own: bool,
        context: &Context<'_>,
    ) -> Result<Lexicon> {
        let mut lines = Lines::open(path)?;
        lines.expect(MAGIC)?;
        lines.expect(&terms_line(preprocessing))?;
        let documents = lines.number("# documents: ")?;
        let shared = lines.number("# shared: ")?;
        lines.expect(COLUMNS)?;
        if !(1..=u64::from(u32::MAX)).contains(&documents) {
            return Err(lines.bad_line("at least one document", format!("{documents}")));
        }
        let least = PROCESS_BYTES + FIXED_BYTES + shared.saturating_mul(TERM_BYTES);
        let what = || format!("a lexicon of {shared} terms");
        context.budget.require(least, what)?;
        let mut lexicon = Lexicon {
            documents,
            fingerprints: Vec::with_capacity(shared as usize),
            frequencies: Vec::with_capacity(shared as usize),
            places: Vec::new(),
            shift: 64,
            own,
        };
        for at in 0..shared {
            context.tick("lexicon", at)?;
            let (fingerprint, frequency) = lines.term(documents)?;
            if lexicon
                .fingerprints
                .last()
                .is_some_and(|&last| last >= fingerprint)
            {
                return Err(lines.bad_line("fingerprints that rise", format!("{fingerprint:016x}")));
            }
            lexicon.fingerprints.push(fingerprint);
            lexicon.frequencies.push(frequency);
        }
        lines.end()?;
        lexicon.index();
        Ok(lexicon)
    }

    fn index(&mut self) {
        let places = (self.fingerprints.len() / TERMS_OF_PLACE).max(1);
        let bits = places.ilog2();
        self.shift = 64 - bits;
        let mut ends = self.fingerprints.iter().enumerate().peekable();
        self.places = vec![0];
        for place in 0..1u64 << bits {
            let of = |f: u64| f.checked_shr(self.shift).unwrap_or(0);
            while ends.next_if(|(_, f)| of(**f) <= place).is_some() {}
            let end = ends.peek().map_or(self.fingerprints.len(), |(at, _)| *at);
            self.places.push(u32::try_from(end).unwrap_or(u32::MAX));
        }
    }
}

fn terms_line(preprocessing: Preprocessing) -> String {
    format!("# terms: {preprocessing}")
}

/// Makes the file, reusing committed stages, and returns its path.
fn make(base: &Workspace, preprocessing: Preprocessing, context: &Context<'_>) -> Result<PathBuf> {
    let name = format!("terms:{preprocessing}");
    let directory = base
        .directory()
        .join("methods")
        .join(super::spec::file_name(&name));
    let path = directory.join(LEXICON_FILE);
    let whole = |workspace: &Workspace| workspace.is_whole(LEXICON_FILE);
    if super::run::to_read(base, &directory, &name, context)?.is_some_and(|there| whole(&there)) {
        return Ok(path);
    }
    let mut workspace = super::run::workspace(base, &directory, &name, &name)?;
    if whole(&workspace) {
        return Ok(path);
    }
    pipeline::keys(&mut workspace, context, |workspace| {
        extract::run(base, workspace, &preprocessing.keys(0), false, context)
    })?;
    pipeline::postings(&mut workspace, context)?;
    write(base, &mut workspace, preprocessing, context)?;
    Ok(path)
}

fn write(
    base: &Workspace,
    workspace: &mut Workspace,
    preprocessing: Preprocessing,
    context: &Context<'_>,
) -> Result<()> {
    let stats = Catalogue::stats(base)?;
    let (documents, all) = (stats.representatives, stats.documents);
    let shared = merge::stats(&workspace.manifest).lists;
    let postings = AllPostings::<u64>::of(workspace, all);
    workspace.write_other(LEXICON_FILE, |out| {
        let mut hash = Xxh3::new();
        let mut put = |text: &str| {
            hash.update(text.as_bytes());
            out.put(text.as_bytes()).map(|()| hash.digest())
        };
        let terms = terms_line(preprocessing);
        put(&format!(
            "{MAGIC}\n{terms}\n# documents: {documents}\n# shared: {shared}\n{COLUMNS}\n"
        ))?;
        postings.each(|block| {
            context.stop.check("lexicon")?;
            let mut text = String::new();
            for (key, length) in block.keys.iter().zip(&block.lengths) {
                text.push_str(&format!("{key:016x}\t{length}\n"));
            }
            put(&text).map(drop)
        })?;
        let sum = put("")?;
        out.put(format!("# checksum: {sum:016x}\n").as_bytes())
    })
}

/// Reads the file of a lexicon line by line.
struct Lines {
    path: PathBuf,
    file: BufReader<disk::File>,
    line: Vec<u8>,
    number: u64,
    hash: Xxh3,
}

impl Lines {
    fn open(path: &Path) -> Result<Lines> {
        Ok(Lines {
            path: path.into(),
            file: BufReader::with_capacity(1 << 16, disk::open(path)?),
            line: Vec::new(),
            number: 0,
            hash: Xxh3::new(),
        })
    }

    fn bad_line(&self, expected: &str, found: String) -> Error {
        Error::bad_line(&self.path, self.number, expected, found)
    }

    fn found(&self) -> String {
        format!(
            "`{}`",
            String::from_utf8_lossy(&self.line)
                .trim_end()
                .escape_debug()
        )
    }

    /// The next line without its line feed; empty at the end of the file.
    fn next(&mut self) -> Result<&str> {
        // The hash covers the lines before this one.
        self.hash.update(&self.line);
        self.line.clear();
        self.number += 1;
        let mut rest = (&mut self.file).take(LONGEST_LINE);
        rest.read_until(b'\n', &mut self.line)
            .map_err(Error::io("read", &self.path))?;
        let text = self.line.strip_suffix(b"\n").unwrap_or_default();
        Ok(std::str::from_utf8(text).unwrap_or_default())
    }

    fn expect(&mut self, text: &str) -> Result<()> {
        if self.next()? != text {
            return Err(self.bad_line(&format!("`{}`", text.escape_debug()), self.found()));
        }
        Ok(())
    }

    fn number(&mut self, before: &str) -> Result<u64> {
        let number = self
            .next()?
            .strip_prefix(before)
            .and_then(|n| n.parse().ok());
        number.ok_or_else(|| self.bad_line(&format!("`{before}` and a number"), self.found()))
    }

    fn term(&mut self, documents: u64) -> Result<(u64, u32)> {
        let read = |line: &str| {
            let (fingerprint, frequency) = line.split_once('\t')?;
            let lower = |b: u8| b.is_ascii_digit() || matches!(b, b'a'..=b'f');
            if fingerprint.len() != 16 || !fingerprint.bytes().all(lower) {
                return None;
            }
            let frequency: u32 = frequency.parse().ok()?;
            (2..=documents).contains(&frequency.into()).then_some(())?;
            Some((u64::from_str_radix(fingerprint, 16).ok()?, frequency))
        };
        let term = read(self.next()?);
        term.ok_or_else(|| {
            let expected = format!("a fingerprint, a tab and a number from 2 to {documents}");
            self.bad_line(&expected, self.found())
        })
    }

    fn end(&mut self) -> Result<()> {
        self.next()?;
        let sum = self.hash.digest();
        let expected = format!("# checksum: {sum:016x}\n");
        if self.line != expected.as_bytes() {
            return Err(self.bad_line(&format!("`{}`", expected.trim_end()), self.found()));
        }
        if !self.next()?.is_empty() || !self.line.is_empty() {
            return Err(self.bad_line("the end", self.found()));
        }
        Ok(())
    }
}

/// A fraction from 0 to 1, read from at most three decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) numerator: u32,
    pub(super) denominator: u32,
}

impl Share {
    pub(super) fn new(numerator: u32, denominator: u32) -> Share {
        Share {
            numerator,
            denominator,
        }
    }

    /// Reads a share such as `0`, `0.25` or `1`.
    pub(super) fn read(text: &str) -> Option<Share> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        let ends = text.ends_with('.') || part.len() > 3 || !digits(part);
        if ends || !matches!(whole, "0" | "1") {
            return None;
        }
        let denominator = 10u32.pow(part.len() as u32);
        let numerator = format!("{whole}{part}").parse().ok()?;
        (numerator <= denominator).then(|| Share::new(numerator, denominator))
    }

    /// This share of `of`, rounded up.
    pub(super) fn up(self, of: usize) -> usize {
        (of as u128 * u128::from(self.numerator)).div_ceil(u128::from(self.denominator)) as usize
    }

    /// This share of `of`, rounded down.
    pub(super) fn down(self, of: usize) -> usize {
        (of as u128 * u128::from(self.numerator) / u128::from(self.denominator)) as usize
    }
}

/// The greatest document frequency, in `documents` documents, whose normalised idf is at least
/// `share`.
pub(super) fn most_with_idf_from(documents: u64, share: Share) -> u32 {
    with_idf(documents, share, |power, bound| power <= bound)
}

/// The least document frequency whose normalised idf is at most `share`.
pub(super) fn least_with_idf_to(documents: u64, share: Share) -> u32 {
    with_idf(documents, share, |power, bound| power < bound).saturating_add(1)
}

/// The greatest document frequency whose idf is far enough from that of `share`; 0 if there is none.
fn with_idf(documents: u64, share: Share, is_far: fn(&BigUint, &BigUint) -> bool) -> u32 {
    let power = |of: u64, exponent| BigUint::from(of).pow(exponent);
    let bound = power(documents, share.denominator - share.numerator);
    let (mut yes, mut no) = (0, documents + 1);
    while no - yes > 1 {
        let middle = yes.midpoint(no);
        if is_far(&power(middle, share.denominator), &bound) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    u32::try_from(yes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_logarithms() {
        for documents in [1u64, 2, 3, 10, 100, 1000, 247_491] {
            for (a, b) in [(1, 10), (2, 10), (5, 10), (8, 10), (9, 10), (333, 1000)] {
                let share = Share::new(a, b);
                let idf =
                    |df: u32| (documents as f64 / f64::from(df)).ln() / (documents as f64).ln();
                let wanted = f64::from(a) / f64::from(b);
                let most = most_with_idf_from(documents, share);
                let least = least_with_idf_to(documents, share);
                if documents == 1 {
                    assert_eq!((most, least), (1, 1));
                    continue;
                }
                assert!(idf(most) >= wanted - 1e-12 && idf(most + 1) < wanted + 1e-12);
                assert!(idf(least) <= wanted + 1e-12);
                assert!(least == 1 || idf(least - 1) > wanted - 1e-12);
                // They are equal if a frequency has exactly this idf, and adjacent otherwise.
                assert!(least == most || least == most + 1, "{documents} {a}/{b}");
            }
        }
        // 10^10 to the power of 0.9 is exactly 10^9.
        let tenth = Share::new(1, 10);
        assert_eq!(most_with_idf_from(10_000_000_000, tenth), 1_000_000_000);
        assert_eq!(least_with_idf_to(10_000_000_000, tenth), 1_000_000_000);
        assert_eq!(most_with_idf_from(100, Share::new(0, 1)), 100);
        assert_eq!(least_with_idf_to(100, Share::new(0, 1)), 100);
        assert_eq!(most_with_idf_from(100, Share::new(1, 1)), 1);
        assert_eq!(least_with_idf_to(100, Share::new(1, 1)), 1);
    }

    #[test]
    fn shares_read() {
        for (text, a, b) in [
            ("0", 0, 1),
            ("1", 1, 1),
            ("0.2", 2, 10),
            ("0.125", 125, 1000),
            ("1.0", 10, 10),
        ] {
            assert_eq!(Share::read(text), Some(Share::new(a, b)), "{text}");
        }
        for text in [
            "", ".", "0.", ".5", "2", "1.1", "0.1234", "-0.1", "0,2", "a",
        ] {
            assert_eq!(Share::read(text), None, "{text}");
        }
        assert_eq!(
            (Share::new(1, 10).up(11), Share::new(1, 10).down(11)),
            (2, 1)
        );
    }

    #[test]
    fn frequencies_are_found_by_any_number_of_places() {
        for terms in [0usize, 1, 2, 7, 8, 100, 5000] {
            let mut lexicon = Lexicon {
                documents: 10_000,
                fingerprints: (0..terms as u64).map(super::super::mix).collect(),
                frequencies: (0..terms as u32).map(|i| i + 2).collect(),
                places: Vec::new(),
                shift: 64,
                own: false,
            };
            lexicon.fingerprints.sort_unstable();
            lexicon.index();
            for (at, fingerprint) in lexicon.fingerprints.iter().enumerate() {
                assert_eq!(lexicon.frequency(*fingerprint), at as u32 + 2);
                assert_eq!(lexicon.frequency(fingerprint ^ 1), 0);
            }
            assert_eq!(lexicon.frequency(u64::MAX), 0);
            assert_eq!(lexicon.frequency(0), 0);
        }
    }
}
