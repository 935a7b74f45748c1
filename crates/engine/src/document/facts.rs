//! The facts that a directory has about a document.

use serde::Serialize;
use std::cmp::Reverse;

use crate::cluster::{ResultsEntry, cluster_of, cluster_of_bytes};
use crate::collection::{self, Captured, Catalogue, Names, each_document};
use crate::join::{List, Pairs, PairsEntry, each_measured_pair, sizes_of_pairs};
use crate::sample::Sampled;
use lookalike_base::{Context, Least, Result, counted, path_word};
use lookalike_store::Workspace;

use super::find::Found;
use super::{FIXED_BYTES, Listed, STAGE};

/// Exact duplicates and members of the cluster that are listed.
const LISTED: usize = 10;

/// The facts about a document.
#[derive(Clone, Debug, Serialize)]
pub struct Facts {
    pub docno: String,
    pub url: Option<String>,
    /// The date of a capture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    pub title: Option<String>,
    /// The name of its input file, as in `documents.tsv`.
    pub file: String,
    /// The number of its record there.
    pub record: Option<u64>,
    /// Where its record begins in the decompressed file, in bytes.
    pub offset: u64,
    /// Bytes of its record there.
    pub length: u64,
    /// Its number in the collection.
    pub document: u32,
    pub charset: String,
    pub words: u64,
    pub shingles: u32,
    pub size_group: u8,
    /// The words of a document of this size group.
    pub size_group_words: String,
    /// The MD5 of its words.
    pub md5: String,
    /// The first document with the same words, which may be the document itself.
    pub representative: NamedDocument,
    /// Other documents with the same words.
    pub exact_duplicates: Listed<NamedDocument>,
    /// The number of these that have the same text, byte for byte.
    pub identical: Option<u64>,
    pub cluster: Known<Option<ClusterFacts>>,
    pub pairs: Known<PairFacts>,
}

/// Another document, in JSON its docno alone.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct NamedDocument {
    pub docno: String,
    /// The capture that it is.
    #[serde(skip)]
    pub captured: Captured,
}

impl NamedDocument {
    fn of(names: &Names, document: u32) -> Result<NamedDocument> {
        let (docno, captured) = names.named(document)?;
        let docno = docno.into_owned();
        Ok(NamedDocument { docno, captured })
    }
}

/// A fact that a later stage finds.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Known<T> {
    Is(T),
    NotYet {
        /// The command that makes it known.
        not_yet: String,
    },
}

/// The cluster of a document.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterFacts {
    /// Its number in `clusters.jsonl`.
    pub id: u32,
    pub representative: NamedDocument,
    #[serde(flatten)]
    pub members: Listed<NamedDocument>,
}

/// The pairs of a document, or of its representative if it is an exact duplicate.
#[derive(Clone, Debug, Serialize)]
pub struct PairFacts {
    /// `resemblance`, or the name of another score.
    pub measure: &'static str,
    /// Whether all pairs are listed, or only those that make the clusters.
    pub all: bool,
    /// The most similar first.
    #[serde(flatten)]
    pub pairs: Listed<PairFact>,
}

/// A pair.
#[derive(Clone, Debug, Serialize)]
pub struct PairFact {
    pub docno: String,
    /// The number of the other document.
    pub document: u32,
    /// The value of the measure, with six decimals.
    pub score: String,
    /// Shingles that both have, of those compared.
    pub shared: u32,
    /// The capture that the other document is.
    #[serde(flatten)]
    pub captured: Captured,
}

/// Gathers the facts about a document, with at most `most` pairs.
pub fn facts(
    workspace: &Workspace,
    found: &Found,
    most: usize,
    context: &Context<'_>,
) -> Result<Facts> {
    let manifest = &workspace.manifest;
    let pairs = manifest.get::<PairsEntry>();
    let results = manifest.get::<ResultsEntry>();
    let documents = Catalogue::extent(workspace)?.documents;
    let mut least = FIXED_BYTES + Catalogue::names_bytes(workspace, &context.budget)?;
    if let Some(pairs) = pairs {
        let sampled = Sampled::bytes_in(workspace, pairs.config.measure)?;
        least += sampled.max(cluster_of_bytes(documents));
    }
    let what = || format!("showing one of {}", counted(documents, "document"));
    context.budget.require(least, what)?;
    let names = Catalogue::names(workspace, &context.budget)?;
    let record = &found.record;
    let (first, exact_duplicates, identical) = exact_duplicates(workspace, found, &names, context)?;
    let cluster = match (pairs, results) {
        (Some(pairs), Some(results)) if pairs.digest == results.digest => {
            let cluster = cluster_of(workspace, found.number, LISTED, context)?;
            let facts = cluster.map(|cluster| -> Result<ClusterFacts> {
                let listed = cluster.listed.iter();
                let listed = listed.map(|&member| NamedDocument::of(&names, member));
                Ok(ClusterFacts {
                    id: cluster.number,
                    representative: NamedDocument::of(&names, cluster.root)?,
                    members: Listed {
                        total: cluster.members,
                        listed: listed.collect::<Result<_>>()?,
                    },
                })
            });
            Known::Is(facts.transpose()?)
        }
        (Some(_), _) => not_yet(workspace, "clusters", "stage cluster"),
        (None, _) => not_yet(workspace, "clusters", "run --from"),
    };
    let pairs = match pairs {
        None => not_yet(workspace, "pairs", "run --from"),
        Some(pairs) => Known::Is(pairs_of(workspace, pairs, first, &names, most, context)?),
    };
    let groups = &collection::config(manifest).size_groups;
    let group = usize::from(record.group);
    Ok(Facts {
        docno: record.docno.clone(),
        url: record.url.clone(),
        date: record.date.0.clone(),
        title: record.title.clone(),
        file: found.file.clone(),
        record: found.record_number,
        offset: record.offset,
        length: record.length,
        document: found.number,
        charset: record.charset.clone(),
        words: record.words,
        shingles: record.shingles,
        size_group: record.group,
        size_group_words: match group < groups.count() {
            true => groups.describe(group),
            false => String::new(),
        },
        md5: format!("{:032x}", u128::from_be_bytes(record.md5)),
        representative: NamedDocument::of(&names, first)?,
        exact_duplicates,
        identical,
        cluster,
        pairs,
    })
}

/// Advises the command that finds a fact.
fn not_yet<T>(workspace: &Workspace, what: &str, command: &str) -> Known<T> {
    let directory = path_word(workspace.directory());
    let not_yet = format!("no {what} yet: run `lookalike {command} {directory}`");
    Known::NotYet { not_yet }
}

/// The representative of a document, the other documents that it represents, and how many of these
/// have the same text.
fn exact_duplicates(
    workspace: &Workspace,
    found: &Found,
    names: &Names,
    context: &Context<'_>,
) -> Result<(u32, Listed<NamedDocument>, Option<u64>)> {
    let (number, record) = (found.number, &found.record);
    let [first] = Catalogue::representatives_of(workspace, [number])?;
    let mut others = Listed::default();
    Catalogue::each_representative(workspace, |document, its_first| {
        context.tick(STAGE, document)?;
        if its_first == first && document != number {
            others.total += 1;
            if others.listed.len() < LISTED {
                others.listed.push(NamedDocument::of(names, document)?);
            }
        }
        Ok(())
    })?;
    if others.total == 0 || record.text.is_unknown() {
        return Ok((first, others, None));
    }
    let mut identical = 0;
    each_document(workspace, |document, other| {
        context.tick(STAGE, document)?;
        let equal = (other.md5, other.text) == (record.md5, record.text);
        identical += u64::from(document != number && equal);
        Ok(())
    })?;
    Ok((first, others, Some(identical)))
}

/// The most similar pairs of a document.
fn pairs_of(
    workspace: &Workspace,
    entry: &PairsEntry,
    document: u32,
    names: &Names,
    most: usize,
    context: &Context<'_>,
) -> Result<PairFacts> {
    let (measure, criterion) = (entry.config.measure, entry.config.criterion());
    let all = entry.config.pairs != Pairs::None;
    let sampled = sizes_of_pairs(workspace)?;
    let mut total = 0;
    // The bits of positive values sort like the values: the most similar first.
    let mut best = Least::new(most);
    let mut n = 0u64;
    each_measured_pair(workspace, List::Pairs, &sampled, |pair, (a, b)| {
        n += 1;
        context.tick(STAGE, n)?;
        let other = match document {
            _ if pair.a == document => pair.b,
            _ if pair.b == document => pair.a,
            _ => return Ok(()),
        };
        // If pairs are not listed, the links of the clusters may be below the threshold.
        if !all && !criterion.reached(pair.shared.into(), a.into(), b.into()) {
            return Ok(());
        }
        total += 1;
        let value = measure.value(pair.amount(measure), a.into(), b.into());
        best.offer((Reverse(value.to_bits()), other, pair));
        Ok(())
    })?;
    let listed = best.sorted().into_iter().map(|(_, other, pair)| {
        let (a, b) = sampled.measured(pair.a, pair.b);
        let (docno, captured) = names.named(other)?;
        Ok(PairFact {
            docno: docno.into_owned(),
            document: other,
            score: measure.text(pair.amount(measure), a.into(), b.into()),
            shared: pair.shared,
            captured,
        })
    });
    Ok(PairFacts {
        measure: measure.column(),
        all,
        pairs: Listed {
            total,
            listed: listed.collect::<Result<_>>()?,
        },
    })
}
