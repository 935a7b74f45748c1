//! Lines or paragraphs that occur twice or more.
//!
//! # Source
//! Wenzek et al. 2020 ("CCNet"), section 3.1, which removes repeated paragraphs of web pages by
//! hashes of their normalised text.
//!
//! # Definition
//! A *unit* is a line or a paragraph ([`super::Align`]). Two units are equal if their tokens are. A
//! unit with fewer tokens than [`UnitsConfig::least`], or with none, is equal to no other; excluded
//! words do not count as tokens here (`excluded`). All occurrences of a unit but the first one, by
//! input order and then by position, are removable; with [`Scope::Document`], all but the first one
//! in each document.
//!
//! # Algorithm
//! The units of all documents are hashed and sorted by hash and place. Equal ones then stand side
//! by side, the first one first.
//!
//! # Exactness
//! Units are compared by a key of 128 bits: 96 bits of XXH3 of their canonical text, and the number
//! of their tokens. The chance that any two of a billion different units with the same number of
//! tokens have equal keys is below 10^-11.
//!
//! # Cost
//! The inputs are read twice. Temporary files: about 20 bytes for each unit.
//!
//! # Where we depart from the source
//! Its hashes have 64 bits, and it replaces digits by 0 and removes accents. Our units are compared
//! by the tokens of the collection.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::cuts::Blocks;
use super::gaps::Gaps;
use super::grams::{Hashed, ITEMS};
use super::places::{Place, Repeat, Repeats};
use super::repeats::{REPEATS, Search, UNITS};
use super::{STAGE, Stats};
use lookalike_base::{Result, keywords, refuse};
use lookalike_store::{Sort, Sorted, UnitSort};
use lookalike_text::parse::{Parser, TokenConsumer, Tokens};

/// Bits of a key for the number of tokens.
const COUNT_BITS: u32 = 32;

keywords! {
    /// The unit of text that is compared.
    pub enum TextUnit: "is not" {
        /// Lines.
        Line = "line",
        /// Paragraphs: lines between empty ones.
        Paragraph = "paragraph",
    }
}

keywords! {
    /// Where the other occurrences of a unit are looked for.
    #[derive(Default)]
    pub enum Scope: "is not" {
        /// In all documents.
        #[default]
        Collection = "collection",
        /// In the same document.
        Document = "document",
    }
}

/// Parameters of a search for repeated lines or paragraphs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitsConfig {
    /// The unit of text that is compared.
    pub unit: TextUnit,
    /// Where equal units are looked for.
    pub scope: Scope,
    /// The least number of tokens of a unit that counts, at least 1.
    pub least: u32,
}

impl UnitsConfig {
    /// Refuses a least number of tokens of 0.
    ///
    /// # Errors
    /// `BadParameter`.
    pub fn check(&self) -> Result<()> {
        let limit = "at least 1 token: lines without tokens are never removed";
        match self.least {
            0 => refuse("least", 0, limit),
            _ => Ok(()),
        }
    }
}

/// Hashes the tokens of one unit.
#[derive(Default)]
struct UnitHash {
    /// The hash of a unit that comes in several portions.
    begun: Option<Box<Xxh3>>,
    hash: u128,
    tokens: u32,
}

impl TokenConsumer for UnitHash {
    fn take(&mut self, tokens: Tokens<'_>, last: bool) -> usize {
        self.tokens = self.tokens.saturating_add(tokens.len() as u32);
        if last && self.begun.is_none() {
            self.hash = xxh3_128(tokens.bytes);
            return tokens.bytes.len();
        }
        let bytes = tokens.whole(last);
        let hash = self.begun.get_or_insert_default();
        hash.update(bytes);
        self.hash = hash.digest128();
        bytes.len()
    }
}

/// Puts the lines or paragraphs of the documents of a unit of the inputs into a sort.
fn sort(
    search: &Search<'_, '_>,
    config: &UnitsConfig,
    unit: usize,
    parser: &mut Parser,
    sort: &UnitSort<'_, Hashed>,
) -> Result<()> {
    let (mut text, mut found) = (String::new(), Vec::new());
    let mut gaps = Gaps::new(search.gaps);
    let wanted = |number| search.only.is_none_or(|only| only.has(number));
    search.reread.each(unit, wanted, |document, _, raw| {
        text.clear();
        parser.text_as_read(raw, &mut text);
        gaps.begin(document)?;
        let blanked = (!gaps.is_empty()).then(|| gaps.blank(&text, &search.parse.of(&raw.docno)));
        let words = blanked.as_deref().unwrap_or(&text);
        let mut token = 0;
        for block in Blocks::new(&text, config.unit == TextUnit::Paragraph) {
            let mut hash = UnitHash::default();
            let block = words.get(block).unwrap_or_default();
            parser.plain(&raw.docno, block.as_bytes(), &mut hash);
            if hash.tokens >= config.least {
                found.push(Hashed {
                    hash: hash.hash << COUNT_BITS | u128::from(hash.tokens),
                    place: Place { document, token },
                });
            }
            token += hash.tokens;
            if found.len() >= ITEMS {
                sort.push(&mut found)?;
            }
        }
        Ok(())
    })?;
    sort.push(&mut found)
}

/// Finds the repeated units of all documents, as repeats of k-grams of one token.
pub(super) fn find(
    search: &Search<'_, '_>,
    config: &UnitsConfig,
    stats: &mut Stats,
) -> Result<Repeats> {
    search.run(stats, |stats| {
        let units = search.of_units(UNITS, false, |unit, parser, all| {
            sort(search, config, unit, parser, all)
        })?;
        let lasting = !units.untyped.parts().0.is_empty();
        let units = units.finish()?.unique();
        let mut repeats = search.sorter_if(lasting, REPEATS, 2)?;
        stats.units = compare(search, config, units, &mut repeats)?;
        if lasting {
            let sorts = &mut [(REPEATS, &mut repeats.untyped, true)];
            (search.checkpoints).save_all(sorts, &[(UNITS, stats.units)], &[UNITS])?;
        }
        Ok(repeats)
    })
}

/// Passes on the units that equal others, with the first one. Returns the number of units.
fn compare(
    search: &Search<'_, '_>,
    config: &UnitsConfig,
    units: Sorted<Hashed>,
    repeats: &mut Sort<Repeat>,
) -> Result<u64> {
    let mut taken = 0u64;
    let scope = |unit: &Hashed| match config.scope {
        Scope::Collection => 0,
        Scope::Document => unit.place.document,
    };
    units.groups(
        |unit| (unit.hash, scope(unit)),
        |Hashed { hash, place: first }, all| {
            let (count, is_repeated) = (hash as u32, !all.is_one());
            while let Some(Hashed { place, .. }) = all.next()? {
                taken += 1;
                search.context.tick(STAGE, taken)?;
                if is_repeated {
                    repeats.push(Repeat::new(place, first, count))?;
                }
            }
            Ok(())
        },
    )
}
