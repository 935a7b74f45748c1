//! Pairs of a labelled document and a near-duplicate, and the labels that they decide.

use std::cmp::Ordering;

use super::labels::Labels;
use super::{DUPLICATE_BYTES, Documents, STAGE};
use lookalike_base::{Context, Measure, Memory, Ratio, Result};
use lookalike_engine::collection::Catalogue;
use lookalike_store::Workspace;

/// A representative of the old collection that is labelled, and a representative of the new
/// collection that it finds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// The position of the old one among those that are looked up.
    pub old: u32,
    /// The number of the new one.
    pub new: u32,
    pub shared: u32,
    /// The shingles of the new one.
    pub shingles: u32,
}

/// All links, sorted by new document.
#[derive(Default)]
pub(super) struct Links {
    pub all: Vec<Link>,
    /// The shingles of each old document that is looked up.
    pub sizes: Vec<u32>,
}

/// A label that a document may get.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Topic and subtopic.
    pub topic: (u32, u32),
    pub link: Link,
    /// The number of the label.
    pub label: u32,
    /// The document that has it.
    document: u32,
}

/// A label that a representative gets: the link that decides, with the number of the label as `old`.
pub(super) type Decision = Link;

impl Links {
    /// For each label, whether its document finds any other.
    pub(crate) fn found(&self, documents: &Documents) -> Vec<bool> {
        let mut found = vec![false; documents.places.len()];
        for link in &self.all {
            for &label in documents.labels(link.old) {
                found[label as usize] = true;
            }
        }
        found
    }

    /// The candidates of a new document, whose links are given: by topic, the deciding document
    /// first.
    pub(crate) fn candidates(
        &self,
        links: &[Link],
        labels: &Labels,
        documents: &Documents,
        candidates: &mut Vec<Candidate>,
    ) {
        candidates.clear();
        for link in links {
            candidates.extend(documents.labels(link.old).iter().map(|&number| {
                let label = &labels.judgements.all[number as usize];
                Candidate {
                    topic: (label.topic, labels.judgements.subtopic(label)),
                    link: *link,
                    label: number,
                    document: documents.documents[number as usize],
                }
            }));
        }
        candidates.sort_unstable_by(|a, b| {
            (a.topic.cmp(&b.topic))
                .then_with(|| self.compare(&b.link, &a.link))
                .then_with(|| (a.document, a.label).cmp(&(b.document, b.label)))
        });
    }

    /// Compares two resemblances with one document. With an empty one, all are equal.
    fn compare(&self, a: &Link, b: &Link) -> Ordering {
        let [a, b] = [a, b].map(|link| {
            let sizes = (self.sizes[link.old as usize], link.shingles);
            Ratio::of(Measure::Resemblance, link.shared, sizes)
        });
        a.cmp(&b)
    }
}

/// The printed resemblance.
pub(super) fn resemblance(shared: u32, a: u32, b: u32) -> String {
    match a.max(b) {
        0 => "1.000000".into(),
        _ => Measure::Resemblance.text(shared.into(), a.into(), b.into()),
    }
}

/// The exact duplicates of the representatives that get labels.
pub(super) struct Duplicates {
    /// Representative and duplicate, in order.
    pairs: Vec<(u32, u32)>,
    /// The number of representatives and duplicates.
    pub documents: u64,
}

impl Duplicates {
    /// A representative and its exact duplicates, in order.
    pub(crate) fn of(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        let start = self.pairs.partition_point(|pair| pair.0 < first);
        let pairs = self.pairs[start..].iter();
        let duplicates = pairs.take_while(move |pair| pair.0 == first);
        std::iter::once(first).chain(duplicates.map(|pair| pair.1))
    }
}

/// Finds the exact duplicates of the documents that get labels, in the collection `to`.
pub(super) fn duplicates(
    decisions: &[Decision],
    to: &Workspace,
    held: &mut Memory,
    context: &Context<'_>,
) -> Result<Duplicates> {
    let mut found: Vec<u32> = decisions.iter().map(|decision| decision.new).collect();
    found.sort_unstable();
    found.dedup();
    let (mut pairs, mut count) = (Vec::new(), 0u64);
    Catalogue::each_representative(to, |document, first| {
        context.tick(STAGE, document)?;
        if document != first && found.binary_search(&first).is_ok() {
            count += 1;
            if held.take(DUPLICATE_BYTES) {
                pairs.push((first, document));
            }
        }
        Ok(())
    })?;
    held.check(|| format!("{count} exact duplicates of documents that were found"))?;
    pairs.sort_unstable();
    Ok(Duplicates {
        pairs,
        documents: found.len() as u64 + count,
    })
}
