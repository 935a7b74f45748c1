//! Recall, precision and utility as averages over queries, and pure clusters.
//!
//! # Source
//! Kolcz & Chowdhury 2008, section 6.4, equations 3 to 5: a query is a document of the collection,
//! and the result is compared with the documents that the ground truth finds for the same query.
//! Section 7.1: a random sample of the documents are queries, and only those count for which the
//! ground truth finds another document. Tables 2 and 3: the increase of recall relative to one
//! method. Figure 4: pure clusters.
//!
//! # Algorithm
//! The pair lists of a method and of the ground truth are merged. A pair counts for each of its
//! documents that is a query. A cluster is pure if every pair that the method found in it is in the
//! ground truth; with labels, if all of its labelled documents have the same label.
//!
//! # Cost
//! One pass over two pair lists for each method and ground truth. Memory: 14 bytes per document, 12
//! per query, and 64 per label.
//!
//! # Where we depart from the source
//! - A query does not find itself, and exact duplicates count once. The paper's cosine neighbourhoods
//!   contain the query.
//! - Equation 3 divides all documents found by the true ones; only documents that are true count
//!   here, so that recall is at most 1.
//! - Equation 5 counts spam and legitimate mail. With labels, documents with the query's label count
//!   as spam and documents with another one as legitimate. Without labels, true pairs and false
//!   pairs count.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::{CompareConfig, STAGE, merged};
use lookalike_base::{
    Bits, Context, Error, Least, PROCESS_BYTES, Ranks, Result, UnionFind, counted, mix, refuse,
};
use lookalike_engine::collection::{Catalogue, Representatives, each_document};
use lookalike_engine::join::Pair;
use lookalike_engine::table::Table;
use lookalike_store::Workspace;
use lookalike_tasks::evaluate::{FAMILIES, each_row};
use lookalike_text::read::lines::{Lines, shorten};

/// Memory of a document: its cluster, whether it is in a false pair, its label, and the state of
/// its cluster.
const DOCUMENT_BYTES: u64 = 4 + 1 + 4 + 5;
/// Memory of a query for its counts, and of its docno while it is read.
const QUERY_BYTES: u64 = 12 + 48;
/// Memory of a label of a document while the file is read.
const LABEL_BYTES: u64 = 64;
/// The longest line of a list of docnos.
const LONGEST_DOCNO: usize = 1 << 20;
/// No label.
const NONE: u32 = u32::MAX;

/// The documents that are queries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sample {
    /// This number of documents that are not exact duplicates of earlier ones, chosen at random.
    Some(u64),
    /// All documents that are not exact duplicates of earlier ones.
    All,
    /// The documents whose docnos are the lines of a file.
    Listed(PathBuf),
}

/// The averages over the queries.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QueryResults {
    /// Queries.
    pub queries: u64,
    /// The method that the increase of recall is relative to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Documents with a label; `None` if no labels are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labelled: Option<u64>,
    /// A row for each method and ground truth, in this order.
    pub rows: Vec<QueryRow>,
}

/// The averages of a method compared with a ground truth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueryRow {
    /// The method.
    pub method: String,
    /// The ground truth.
    pub truth: String,
    /// Queries for which the ground truth finds another document.
    pub with_neighbours: u64,
    /// Mean, over these, of the share of the true documents that the method finds.
    pub recall: Option<f64>,
    /// Recall divided by the recall of [`QueryResults::against`], minus 1.
    pub increase: Option<f64>,
    /// Mean share of true documents among the found ones, over the queries of these that find any.
    pub precision: Option<f64>,
    /// Mean, over all queries, of documents found minus the cost of the wrong ones.
    pub utility: Option<f64>,
    /// Wrong documents found, over all queries.
    pub wrong: u64,
    /// Clusters of two or more documents, without exact duplicates.
    pub clusters: u64,
    /// The clusters in which all pairs found are true.
    pub pure: u64,
    /// The clusters with two or more labelled documents.
    pub labelled: u64,
    /// The clusters of these whose labelled documents have the same label.
    pub pure_by_label: u64,
}

/// The labels of documents.
pub struct Labels {
    /// The number of the label of each document.
    of: Vec<u32>,
    /// The labels.
    pub names: Vec<String>,
    /// Documents with a label.
    pub documents: u64,
}

impl Labels {
    /// Reads labels. An exact duplicate without a label of its own has none.
    pub(crate) fn read(base: &Workspace, path: &Path, context: &Context<'_>) -> Result<Labels> {
        let mut numbers: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut names = Vec::new();
        let mut of_docno: HashMap<u128, u32> = HashMap::new();
        let documents = Catalogue::stats(base)?.documents;
        each_row(Table::open(path)?, &FAMILIES, context, |table, row| {
            let [docno, label] = [&row[0], &row[1]];
            if label.is_empty() {
                return Err(table.bad("a label", "an empty field"));
            }
            let next = names.len() as u32;
            let number = *numbers.entry(label.clone()).or_insert_with(|| {
                names.push(String::from_utf8_lossy(label).into_owned());
                next
            });
            if *of_docno.entry(xxh3_128(docno)).or_insert(number) != number {
                let found = shorten(label);
                return Err(table.bad("the label that an earlier line gives this docno", found));
            }
            let held = of_docno.len() as u64 * LABEL_BYTES + documents * DOCUMENT_BYTES;
            let what = || format!("labels of {}", counted(of_docno.len() as u64, "document"));
            context.budget.require(PROCESS_BYTES + held, what)
        })?;
        let mut labels = Labels {
            of: vec![NONE; documents as usize],
            names,
            documents: 0,
        };
        each_document(base, |number, document| {
            context.tick(STAGE, number)?;
            if let Some(&label) = of_docno.get(&xxh3_128(document.docno.as_bytes())) {
                labels.of[number as usize] = label;
                labels.documents += 1;
            }
            Ok(())
        })?;
        Ok(labels)
    }

    /// Each label with its documents, and how many of them are representatives.
    pub(crate) fn sizes(&self, representatives: &Representatives) -> Vec<(String, u64, u64)> {
        let mut sizes: Vec<(String, u64, u64)> =
            self.names.iter().map(|name| (name.clone(), 0, 0)).collect();
        for (document, &of) in (0..).zip(&self.of) {
            if let Some((_, documents, distinct)) = sizes.get_mut(of as usize) {
                *documents += 1;
                *distinct += u64::from(representatives.of(document) == document);
            }
        }
        sizes.sort_unstable();
        sizes
    }

    /// The representatives with this label.
    pub(crate) fn with(&self, name: &str, representatives: &Representatives) -> Bits {
        let mut bits = Bits::new(self.of.len());
        let label = self.names.iter().position(|other| other == name);
        for (document, &of) in (0..).zip(&self.of) {
            if Some(of as usize) == label && representatives.of(document) == document {
                bits.insert(document);
            }
        }
        bits
    }
}

impl FromStr for Sample {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> std::result::Result<Sample, Self::Err> {
        Ok(match (text, text.parse()) {
            ("all", _) => Sample::All,
            (_, Ok(number)) => Sample::Some(number),
            (path, Err(_)) => Sample::Listed(path.into()),
        })
    }
}

impl Sample {
    /// The queries. Exact duplicates are replaced by the documents that they equal.
    pub(crate) fn choose(
        &self,
        base: &Workspace,
        seed: u64,
        context: &Context<'_>,
    ) -> Result<Bits> {
        let representatives = Catalogue::representatives(base)?;
        let documents = representatives.len() as u64;
        let mut bits = Bits::new(documents as usize);
        let all = || (0..).zip(representatives.iter()).filter(|(n, of)| n == of);
        let bounded = |queries: u64| {
            let held = documents * DOCUMENT_BYTES + queries * QUERY_BYTES;
            let what = || counted(queries, "query");
            context.budget.require(PROCESS_BYTES + held, what)
        };
        match self {
            Sample::All => all().for_each(|(document, _)| {
                bits.insert(document);
            }),
            Sample::Some(0) => return refuse("queries", "0", "at least 1, or a file of docnos"),
            Sample::Some(number) => {
                bounded(*number)?;
                choose(all().map(|(document, _)| document), *number, seed)
                    .for_each(|document| _ = bits.insert(document));
            }
            Sample::Listed(path) => {
                // The line of each docno, until its document is found.
                let mut docnos: HashMap<Vec<u8>, Option<u64>> = HashMap::new();
                let mut lines = Lines::open(path, LONGEST_DOCNO)?;
                while lines.advance()? {
                    if !lines.line().is_empty() {
                        let line = docnos.entry(lines.line().to_vec());
                        line.or_insert(Some(lines.number()));
                        bounded(docnos.len() as u64)?;
                    }
                }
                if docnos.is_empty() {
                    return refuse("queries", path.display(), "a file with docnos");
                }
                each_document(base, |number, document| {
                    context.tick(STAGE, number)?;
                    if let Some(line) = docnos.get_mut(document.docno.as_bytes())
                        && line.take().is_some()
                    {
                        bits.insert(representatives.of(number));
                    }
                    Ok(())
                })?;
                let unknown = docnos
                    .iter()
                    .filter_map(|(docno, line)| Some(((*line)?, docno)));
                if let Some((line, docno)) = unknown.min() {
                    let found = format!("`{}`", shorten(docno));
                    return Err(Error::bad_line(
                        path,
                        line,
                        "a docno of the collection",
                        found,
                    ));
                }
            }
        }
        Ok(bits)
    }
}

/// A number of some documents, at random.
fn choose(
    documents: impl Iterator<Item = u32>,
    number: u64,
    seed: u64,
) -> impl Iterator<Item = u32> {
    let mut kept = Least::new(usize::try_from(number).unwrap_or(usize::MAX));
    documents.for_each(|document| kept.offer((mix(document.into(), seed), document)));
    kept.sorted().into_iter().map(|(_, document)| document)
}

/// Counts the documents that a method and the ground truth find for a query.
#[derive(Clone, Copy, Default)]
struct Counts {
    found: u32,
    true_documents: u32,
    both: u32,
}

/// Compares the documents that a method finds for the queries with the ones in the ground truth.
pub fn of_method(
    (method, truth): (&Workspace, &Workspace),
    queries: &Ranks,
    labels: Option<&Labels>,
    cost: u64,
    context: &Context<'_>,
) -> Result<QueryRow> {
    let representatives = Catalogue::representatives(method)?;
    let documents = representatives.len();
    let held = documents as u64 * DOCUMENT_BYTES + u64::from(queries.count()) * QUERY_BYTES;
    let what = || counted(queries.count().into(), "query");
    context.budget.require(PROCESS_BYTES + held, what)?;
    let mut counts = vec![Counts::default(); queries.count() as usize];
    let clusters = UnionFind::new(documents as u32);
    let mut in_false = Bits::new(documents);
    let label = |document: u32| {
        let of = labels.and_then(|labels| labels.of.get(document as usize));
        of.copied().unwrap_or(NONE)
    };
    let mut right = 0u64;
    let mut row = QueryRow::default();
    merged(
        &[method, truth],
        |_, _| true,
        context,
        |key, having| {
            let (a, b) = Pair::of_key(key);
            let (found, is_true) = (having.contains(&0), having.contains(&1));
            if found {
                clusters.union(a, b);
                if !is_true {
                    in_false.insert(a);
                }
            }
            let same = match labels {
                None => is_true,
                Some(_) => label(a) == label(b),
            };
            let counted = labels.is_none() || (label(a) != NONE && label(b) != NONE);
            for query in [a, b]
                .into_iter()
                .filter_map(|document| queries.get(document))
            {
                let counts = &mut counts[query as usize];
                counts.found += u32::from(found);
                counts.true_documents += u32::from(is_true);
                counts.both += u32::from(found && is_true);
                right += u64::from(found && counted && same);
                row.wrong += u64::from(found && counted && !same);
            }
        },
    )?;
    let share = |part: u32, whole: u32| f64::from(part) / f64::from(whole);
    let neighbours = || counts.iter().filter(|counts| counts.true_documents > 0);
    row.with_neighbours = neighbours().count() as u64;
    row.recall = mean(neighbours().map(|of| share(of.both, of.true_documents)));
    let finding = neighbours().filter(|counts| counts.found > 0);
    row.precision = mean(finding.map(|of| share(of.both, of.found)));
    let worth = right as f64 - cost as f64 * row.wrong as f64;
    row.utility = (!counts.is_empty()).then(|| worth / counts.len() as f64);
    drop(counts);
    // The number of clusters of several documents, and of those that are pure.
    let of_several = |sizes: &[u32], impure: &Bits| {
        let several = (0..).zip(sizes).filter(|(_, size)| **size > 1);
        let pure = several.clone().filter(|(root, _)| !impure.contains(*root));
        (several.count() as u64, pure.count() as u64)
    };
    // The size of each cluster, and whether it is pure: so far, and by label.
    let roots = clusters.roots();
    let mut sizes = vec![0u32; documents];
    let mut impure = Bits::new(documents);
    for (document, &root) in (0..).zip(&roots) {
        if representatives.of(document) == document {
            sizes[root as usize] += 1;
        }
        if in_false.contains(document) {
            impure.insert(root);
        }
    }
    (row.clusters, row.pure) = of_several(&sizes, &impure);
    if labels.is_some() {
        // The label of each cluster, and the number of its labelled documents.
        let mut first = vec![NONE; documents];
        sizes.fill(0);
        impure.clear();
        for (document, &root) in (0..).zip(&roots) {
            let own = label(document);
            if own == NONE || representatives.of(document) != document {
                continue;
            }
            let first = &mut first[root as usize];
            if *first == NONE {
                *first = own;
            } else if *first != own {
                impure.insert(root);
            }
            sizes[root as usize] += 1;
        }
        (row.labelled, row.pure_by_label) = of_several(&sizes, &impure);
    }
    Ok(row)
}

/// The mean; `None` of nothing.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0u64);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / count as f64)
}

/// The averages of all methods.
pub(super) fn run(
    base: &Workspace,
    workspaces: &[(String, Workspace)],
    truths: &[usize],
    (sample, config): (&Sample, &CompareConfig),
    context: &Context<'_>,
) -> Result<QueryResults> {
    let queries = Ranks::of(sample.choose(base, config.query_seed, context)?);
    let labels = config.labels.as_deref();
    let labels = labels.map(|path| Labels::read(base, path, context));
    let labels = labels.transpose()?;
    let against = config.baseline.as_ref().map(ToString::to_string);
    let mut rows = Vec::new();
    for (name, workspace) in workspaces {
        for &truth in truths {
            let (truth, of) = &workspaces[truth];
            let both = (workspace, of);
            let row = of_method(both, &queries, labels.as_ref(), config.cost, context)?;
            rows.push(QueryRow {
                method: name.clone(),
                truth: truth.clone(),
                ..row
            });
        }
    }
    if let Some(against) = &against {
        increases(&mut rows.iter_mut().collect::<Vec<_>>(), against);
    }
    Ok(QueryResults {
        queries: queries.count().into(),
        against,
        labelled: labels.map(|labels| labels.documents),
        rows,
    })
}

/// Sets the increase of recall of each row relative to the row of a method with the same ground
/// truth.
pub fn increases(rows: &mut [&mut QueryRow], against: &str) {
    let base = rows.iter().filter(|row| row.method == against);
    let base = base.map(|row| (row.truth.clone(), row.recall));
    let base: HashMap<String, Option<f64>> = base.collect();
    for row in rows {
        let base = base.get(&row.truth).copied().flatten();
        let base = base.filter(|recall| *recall > 0.0);
        row.increase = row
            .recall
            .zip(base)
            .map(|(recall, base)| recall / base - 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_sample_is_random_and_stable() {
        let chosen = |n, seed| choose(0..100, n, seed).collect::<BTreeSet<u32>>();
        assert_eq!(chosen(10, 1), chosen(10, 1));
        assert_ne!(chosen(10, 1), chosen(10, 2));
        assert!(chosen(10, 1).is_subset(&chosen(50, 1)));
        assert_eq!(chosen(1_000, 3).len(), 100);
    }

    #[test]
    fn an_increase_is_relative_to_the_same_ground_truth() {
        let row = |method: &str, truth: &str, recall| QueryRow {
            method: method.into(),
            truth: truth.into(),
            recall,
            ..QueryRow::default()
        };
        let mut rows = [
            row("a", "t", Some(0.5)),
            row("a", "u", Some(0.0)),
            row("b", "t", Some(0.6)),
            row("b", "u", Some(0.6)),
            row("c", "t", None),
        ];
        increases(&mut rows.iter_mut().collect::<Vec<_>>(), "a");
        let found: Vec<Option<f64>> = rows.iter().map(|row| row.increase).collect();
        assert_eq!(found[..2], [Some(0.0), None]);
        assert!((found[2].unwrap() - 0.2).abs() < 1e-12);
        assert_eq!(found[3..], [None, None]);
    }
}
