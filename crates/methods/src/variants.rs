//! The filters and variants of Chowdhury et al. 2002, all in one reading of the texts.
//!
//! # Source
//! Chowdhury, Frieder, Grossman & McCabe 2002: the 32 combinations of five filters (section 4.2,
//! Table II) and the 52 variants of I-Match with their baseline (section 4.1, Tables IX and X).
//!
//! # In and out
//! In: a collection that keeps its texts. Out: for each combination or variant, [`Counts`].
//!
//! # Algorithm
//! 1. The unique terms of a document are extracted once. Each combination or variant makes one
//!    signature of them, as `syntactic` and `i-match` do.
//! 2. An external sort brings the documents with the same signature together. They are a cluster.
//! 3. The lexicon of a combination of filters is counted by two more sorts: of all tokens, and of
//!    the stems of those that pass a set of filters. A variant marks the terms of the lexicon that
//!    a signature is made of; a term of one document is counted when it is used.
//!
//! # Invariants
//! - Each signature equals the signature of the method. So the clusters equal the clusters of the
//!   method, with exact duplicates.
//!
//! # Cost
//! Memory: 25 bytes per document, 8 per term of two or more documents and the lexicon, besides one
//! window of texts and a sort. 20 bytes on disk for each document and variant.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use super::Document;
use super::i_match::IMatch;
use super::lexicon::Lexicon;
use super::syntactic::signature;
use super::terms::{Filters, Preprocessing, Sifted};
use super::texts::Texts;
use lookalike_base::{Context, Result, budget::ByteSize, words};
use lookalike_engine::collection::{self, Catalogue, each_document};
use lookalike_store::{Scratch, Sort, Workspace, item};

const STAGE: &str = "variants";
/// Memory per document: its address and title, and a cluster of all documents.
const DOCUMENT_BYTES: u64 = 8 + 9;
/// Memory for each byte of text: the text, its tokens in lower case and their stems.
const TEXT_COST: u64 = 16;
/// Memory for the signatures of a window of documents.
const WINDOW_BYTES: u64 = 24 << 20;
/// The least memory of a sort.
const LEAST_SORT_BYTES: u64 = 2 << 20;
/// The most memory of a sort.
const MOST_SORT_BYTES: u64 = 64 << 20;

/// The sizes of some documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Documents.
    pub documents: u64,
    /// Their unique terms, without those that the filters of the collection remove.
    pub terms: u64,
    /// Their words.
    pub words: u64,
    /// The bytes of their texts.
    pub bytes: u64,
}

impl Sizes {
    /// Adds documents of the same size.
    pub fn add(&mut self, documents: u64, [terms, words, bytes]: [u64; 3]) {
        self.documents += documents;
        self.terms += documents * terms;
        self.words += documents * words;
        self.bytes += documents * bytes;
    }
}

/// The counts of a method that makes one signature of each document. All documents count, including
/// exact duplicates, which have the signature of the document that they equal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The combination of filters or the variant.
    pub name: String,
    /// Terms that take part in a signature, each counted once.
    pub lexicon: u64,
    /// Documents that have a signature.
    pub kept: Sizes,
    /// Terms of their signatures.
    pub hashed: u64,
    /// Documents with different signatures.
    pub unique: u64,
    /// Clusters of two or more documents.
    pub clusters: u64,
    /// The documents of the largest cluster, without the first.
    pub most_duplicates: u64,
    /// Documents of clusters with the address of an earlier document of the cluster.
    pub same_address: u64,
    /// Documents of clusters with the title of an earlier document of the cluster.
    pub same_title: u64,
}

impl Counts {
    /// Documents of clusters, without the first of each.
    pub fn duplicates(&self) -> u64 {
        self.kept.documents - self.unique
    }
}

/// The counts of several methods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variants {
    /// All documents.
    pub all: Sizes,
    /// Terms of all documents, each counted once.
    pub lexicon: u64,
    /// Documents with an address.
    pub with_address: u64,
    /// Documents with a title.
    pub with_title: u64,
    /// Each method.
    pub counts: Vec<Counts>,
}

/// The names of the 32 combinations of filters, in the order of Table II.
pub fn combinations() -> Vec<String> {
    const REST: [&str; 16] = words(
        "none sw tg5 sw+tg5 tl25 sw+tl25 tg5+tl25 sw+tg5+tl25 nosc nosc+sw nosc+tg5 nosc+tg5+sw \
         nosc+tl25 nosc+tl25+sw nosc+tl25+tg5 nosc+tl25+tg5+sw",
    );
    let with_stem = REST.map(|rest| match rest {
        "none" => "stem".into(),
        _ => format!("stem+{rest}"),
    });
    REST.map(Into::into).into_iter().chain(with_stem).collect()
}

/// The names of the 52 variants, in the order of Table IX.
pub fn variant_names() -> Vec<String> {
    let mut names = Vec::new();
    for kind in ["doc-h", "doc-l", "idf-h", "idf-l"] {
        names.extend((10..=90).step_by(10).map(|x| format!("{kind}-{x}")));
    }
    for kind in ["docr-o", "docr-i", "idfr-o", "idfr-i"] {
        let ranges = [10, 20, 30, 40].map(|a| format!("{kind}-{a}-{}", 100 - a));
        names.extend(ranges);
    }
    names
}

/// The numbers and signatures that a method makes of a document.
struct Made<E> {
    terms: u32,
    bytes: u64,
    signatures: Vec<Option<Signed>>,
    extra: E,
}

/// A signature, and the number of its terms.
#[derive(Clone, Copy)]
struct Signed {
    signature: u64,
    terms: u32,
}

item! {
    /// The signature of a document by a method.
    struct Of {
        method: u32,
        signature: u64,
        document: u32,
    }
}

item! {
    /// A token, the filters that remove it, and its stem.
    struct Token {
        token: u64,
        stem: u64,
        removed: u32,
    }
}

item! {
    /// A stem of a token that these filters remove.
    struct Stem {
        stem: u64,
        removed: u32,
    }
}

/// The combinations of filters of Table II. Temporary files are in a new directory in `scratch`.
///
/// # Errors
/// `BudgetTooSmall`, those of reading the texts, `Io`.
pub fn filters(base: &Workspace, scratch: &Path, context: &Context<'_>) -> Result<Variants> {
    let names = combinations();
    let sets: Vec<Filters> = names
        .iter()
        .filter_map(|name| Filters::read(name).ok())
        .collect();
    let scratch = Scratch::within(scratch)?;
    let memory = sort_memory(context);
    let mut tokens = Sort::scratch(&scratch.path().join("tokens"), memory)?;
    let sign = |document: &mut Document<'_>| {
        let sifted = Sifted::of(document);
        let signatures = sets.iter().map(|filters| {
            let mut terms = 0;
            let lines = sifted.through(*filters).inspect(|_| terms += 1);
            let signature = signature(lines);
            (terms > 0).then_some(Signed { signature, terms })
        });
        Made {
            terms: sifted.len() as u32,
            bytes: document.text().len() as u64,
            signatures: signatures.collect(),
            extra: sifted.tokens().collect::<Vec<_>>(),
        }
    };
    let mut made = count(
        base,
        names,
        (&scratch, 2 * memory.0),
        context,
        sign,
        |all| {
            all.into_iter().try_for_each(|(token, stem, removed)| {
                tokens.push(Token::new(token, stem, removed))
            })
        },
    )?;
    // How many tokens and stems each set of filters removes.
    let (mut by_removed, mut stems) = (
        [0u64; Filters::SETS],
        Sort::scratch(&scratch.path().join("stems"), memory)?,
    );
    tokens.finish()?.unique().for_each(|token| {
        by_removed[token.removed as usize % Filters::SETS] += 1;
        stems.push(Stem::new(token.stem, token.removed))
    })?;
    made.lexicon = by_removed.iter().sum();
    // With a set of filters, a stem is kept if one of its tokens is.
    let mut with_stem = [0u64; Filters::SETS];
    stems.finish()?.unique().groups(
        |stem| stem.stem,
        |_, group| {
            let mut kept = [false; Filters::SETS];
            while let Some(stem) = group.next()? {
                for (set, kept) in kept.iter_mut().enumerate() {
                    *kept |= set & stem.removed as usize == 0;
                }
            }
            let counted = with_stem.iter_mut().zip(kept);
            counted.for_each(|(n, kept)| *n += u64::from(kept));
            Ok(())
        },
    )?;
    for (counts, filters) in made.counts.iter_mut().zip(&sets) {
        let set = filters.set();
        counts.lexicon = match filters.stem() {
            true => with_stem[set],
            false => (0..Filters::SETS)
                .filter(|removed| removed & set == 0)
                .map(|removed| by_removed[removed])
                .sum(),
        };
    }
    Ok(made)
}

/// The baseline and the variants of Table IX. Temporary files are in a new directory in `scratch`.
///
/// # Errors
/// `BudgetTooSmall`, those of reading the texts, `Io`.
pub fn variants(base: &Workspace, scratch: &Path, context: &Context<'_>) -> Result<Variants> {
    let names = variant_names();
    let preprocessing = Preprocessing::Chowdhury(Filters::read("nosc+stem").unwrap_or_default());
    let lexicon = Arc::new(Lexicon::own(base, preprocessing, context)?);
    let methods: Vec<IMatch> = names
        .iter()
        .filter_map(|name| IMatch::plain(preprocessing, name))
        .collect();
    let signers: Vec<_> = methods
        .iter()
        .map(|method| method.signatures(lexicon.clone()))
        .collect();
    let mut all: Vec<String> = vec!["baseline".into()];
    all.extend(names);
    // A bit for each method, for each term of two or more documents.
    let marks: Vec<AtomicU64> = (0..lexicon.len()).map(|_| AtomicU64::new(0)).collect();
    let sign = |document: &mut Document<'_>| {
        let mut terms = preprocessing.terms(document);
        terms.sort();
        let known = lexicon.known(&terms);
        let mut used = vec![u64::from(!known.is_empty()); known.len()];
        let whole = Signed {
            signature: signature(terms.lines()),
            terms: terms.len() as u32,
        };
        let mut signatures = vec![(terms.len() > 0).then_some(whole)];
        let mut alone = vec![0u32; 1 + signers.len()];
        for (n, signer) in (1..).zip(&signers) {
            let chosen = signer.chosen(&known, 0);
            for &at in chosen.iter().flatten() {
                used[at] |= 1 << n;
            }
            signatures.push(chosen.map(|chosen| Signed {
                terms: chosen.len() as u32,
                signature: super::i_match::sign(&terms, chosen),
            }));
        }
        for (&(fingerprint, _), used) in known.iter().zip(used) {
            match lexicon.place(fingerprint) {
                Some(at) => _ = marks[at].fetch_or(used, Ordering::Relaxed),
                None => {
                    let counted = alone.iter_mut().enumerate();
                    counted.for_each(|(n, alone)| *alone += (used >> n & 1) as u32);
                }
            }
        }
        Made {
            terms: terms.len() as u32,
            bytes: document.text().len() as u64,
            signatures,
            extra: alone,
        }
    };
    let held = lexicon.bytes() + 8 * marks.len() as u64 + sort_memory(context).0;
    let scratch = Scratch::within(scratch)?;
    let mut sums = vec![0u64; all.len()];
    let mut made = count(base, all, (&scratch, held), context, sign, |alone| {
        sums.iter_mut()
            .zip(alone)
            .for_each(|(sum, n)| *sum += u64::from(n));
        Ok(())
    })?;
    for mark in marks {
        let used = mark.into_inner();
        let counted = sums.iter_mut().enumerate();
        counted.for_each(|(n, sum)| *sum += used >> n & 1);
    }
    made.lexicon = sums.first().copied().unwrap_or(0);
    for (counts, lexicon) in made.counts.iter_mut().zip(sums) {
        counts.lexicon = lexicon;
    }
    Ok(made)
}

/// The memory of a sort.
fn sort_memory(context: &Context<'_>) -> ByteSize {
    ByteSize((context.budget.memory.0 / 16).clamp(LEAST_SORT_BYTES, MOST_SORT_BYTES))
}

/// Hashes of address and title of each document; 0 if there is none.
fn facts(base: &Workspace, context: &Context<'_>) -> Result<Vec<[u32; 2]>> {
    let mut facts = Vec::with_capacity(Catalogue::stats(base)?.documents as usize);
    let hash = |text: Option<&str>| {
        let text = text.filter(|text| !text.is_empty());
        text.map_or(0, |text| (xxh3_64(text.as_bytes()) as u32).max(1))
    };
    each_document(base, |number, document| {
        context.tick(STAGE, number)?;
        facts.push([hash(document.url), hash(document.title)]);
        Ok(())
    })?;
    Ok(facts)
}

/// Reads the texts once and counts what the methods `names` make of them. `memory` is the memory in
/// use by the caller.
fn count<E: Send>(
    base: &Workspace,
    names: Vec<String>,
    (scratch, memory): (&Scratch, u64),
    context: &Context<'_>,
    sign: impl Fn(&mut Document<'_>) -> Made<E> + Sync,
    mut extra: impl FnMut(E) -> Result<()>,
) -> Result<Variants> {
    let documents = Catalogue::stats(base)?.documents;
    let sorting = sort_memory(context);
    let held = memory + sorting.0 + documents * DOCUMENT_BYTES + WINDOW_BYTES;
    let texts = Texts::new(base, STAGE, (held, TEXT_COST), true, context)?;
    let facts = facts(base, context)?;
    let mut made = Variants::default();
    for [address, title] in &facts {
        made.with_address += u64::from(*address != 0);
        made.with_title += u64::from(*title != 0);
    }
    let mut counts: Vec<Counts> = names
        .into_iter()
        .map(|name| Counts {
            name,
            ..Counts::default()
        })
        .collect();
    let mut sort = Sort::scratch(&scratch.path().join("signatures"), sorting)?;
    for segment in collection::segments(&base.manifest) {
        texts.segment(segment, &sign, |document, record, of| {
            let copies = texts.class(document).count() as u64;
            let Some(of) = of else {
                // An exact duplicate counts with its class; a document without words is ignored.
                made.all.add(copies, [0; 3]);
                return Ok(());
            };
            let size = [of.terms.into(), record.words, of.bytes];
            made.all.add(copies, size);
            for ((method, signed), counts) in (0..).zip(of.signatures).zip(&mut counts) {
                let Some(signed) = signed else { continue };
                counts.kept.add(copies, size);
                counts.hashed += copies * u64::from(signed.terms);
                sort.push(Of::new(method, signed.signature, document))?;
            }
            extra(of.extra)
        })?;
    }
    let mut distinct = [HashSet::new(), HashSet::new()];
    sort.finish()?.groups(
        |of| (of.method, of.signature),
        |first, group| {
            let mut size = 0u64;
            let mut named = [0u64; 2];
            while let Some(of) = group.next()? {
                for document in texts.class(of.document) {
                    size += 1;
                    let hashes = facts.get(document as usize).copied().unwrap_or_default();
                    for ((hash, distinct), named) in
                        hashes.into_iter().zip(&mut distinct).zip(&mut named)
                    {
                        *named += u64::from(hash != 0 && !distinct.insert(hash));
                    }
                }
            }
            distinct.iter_mut().for_each(HashSet::clear);
            let counts = &mut counts[first.method as usize];
            counts.unique += 1;
            counts.clusters += u64::from(size > 1);
            counts.most_duplicates = counts.most_duplicates.max(size.saturating_sub(1));
            counts.same_address += named[0];
            counts.same_title += named[1];
            Ok(())
        },
    )?;
    made.counts = counts;
    Ok(made)
}
