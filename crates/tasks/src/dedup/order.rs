//! The order of preference over all documents.

use globset::GlobSet;

use super::policy::Policy;
use super::{Choosing, STAGE};
use lookalike_base::{Bits, Context, Result};
use lookalike_engine::collection::{self, Catalogue, DocumentView, each_document};
use lookalike_store::{InputList, Rows, Workspace, item};
use lookalike_text::read::bad_globs;

/// The place of each document in the order of preference, from 0.
pub(super) enum Ranks {
    /// The order of the input.
    Input,
    /// A permutation of the documents.
    Given(Vec<u32>),
}

impl Ranks {
    pub fn of(&self, document: u32) -> u32 {
        match self {
            Ranks::Input => document,
            Ranks::Given(ranks) => ranks[document as usize],
        }
    }
}

/// Ranks the documents by the policies; with `largest_first`, by their shingles before that.
///
/// `values` has, for each policy that reads a field, the preference of each document. Documents of
/// `damaged` records come after all others.
///
/// Each policy costs one external sort, the last policy first: its value is the key, and the rank
/// that the later policies gave breaks ties.
pub(super) fn ranks(
    choosing: Choosing<'_>,
    policies: &[Policy],
    largest_first: bool,
    values: &[Option<Rows<2>>],
    damaged: Option<&Bits>,
) -> Result<Ranks> {
    let (workspace, context) = (choosing.workspace, choosing.context);
    let documents = Catalogue::stats(workspace)?.documents;
    let by_record = |ranks: &Ranks, value: &dyn Fn(&DocumentView<'_>) -> u128| {
        sorted(choosing, ranks, documents, |push| {
            each_document(workspace, |document, record| push(document, value(&record)))
        })
    };
    let by_number = |ranks: &Ranks, value: &dyn Fn(u32) -> u128| {
        sorted(choosing, ranks, documents, |push| {
            (0..documents as u32).try_for_each(|document| push(document, value(document)))
        })
    };
    let mut ranks = Ranks::Input;
    // Nothing after `first` or `last` can break a tie, because there is none.
    let decided = policies
        .iter()
        .position(|policy| matches!(policy, Policy::First | Policy::Last));
    let used = decided.map_or(policies.len(), |at| at + 1);
    for (at, policy) in policies[..used].iter().enumerate().rev() {
        match policy {
            Policy::First => {}
            Policy::Last => {
                ranks = Ranks::Given((0..documents as u32).rev().collect());
            }
            Policy::Longest | Policy::Shortest => {
                let longest = *policy == Policy::Longest;
                ranks = by_record(&ranks, &|DocumentView { words, .. }| {
                    if longest { u64::MAX - words } else { *words }.into()
                })?;
            }
            Policy::PreferInput(globs) => {
                let places = places_of_inputs(workspace, globs, context)?;
                ranks = by_record(&ranks, &|record| {
                    let place = places.get(record.file as usize).copied();
                    place.unwrap_or(u32::MAX).into()
                })?;
            }
            _ => {
                let Some(Some(values)) = values.get(at) else {
                    continue;
                };
                ranks = sorted(choosing, &ranks, documents, |push| {
                    values.each(documents as u32, |document, [high, low]| {
                        push(document, u128::from(high) << 64 | u128::from(low))
                    })
                })?;
            }
        }
    }
    if largest_first {
        ranks = by_record(&ranks, &|record| (u32::MAX - record.shingles).into())?;
    }
    if let Some(damaged) = damaged {
        ranks = by_number(&ranks, &|document| damaged.contains(document).into())?;
    }
    let against = collection::against(&workspace.manifest).documents;
    if against > 0 && matches!(ranks, Ranks::Given(_)) {
        // The documents of the other collection are kept, whatever is preferred among the own ones.
        ranks = by_number(&ranks, &|document| document.min(against).into())?;
    }
    Ok(ranks)
}

item! {
    /// A document behind its value, and its rank among documents with the same value.
    struct Ranked {
        value: u128,
        rank: u32,
        document: u32,
    }
}

/// Ranks by a value, and by the ranks so far where values are equal.
fn sorted(
    choosing: Choosing<'_>,
    before: &Ranks,
    documents: u64,
    values: impl FnOnce(&mut dyn FnMut(u32, u128) -> Result<()>) -> Result<()>,
) -> Result<Ranks> {
    let mut sort = choosing.sort("preference")?;
    values(&mut |document, value| {
        choosing.context.tick(STAGE, document)?;
        sort.push(Ranked::new(value, before.of(document), document))
    })?;
    let mut ranks = vec![0; documents as usize];
    let mut next = 0;
    sort.finish()?.for_each(|Ranked { document, .. }| {
        ranks[document as usize] = next;
        next += 1;
        Ok(())
    })?;
    Ok(Ranks::Given(ranks))
}

/// For each input file, the place of the first glob that matches its name or path.
fn places_of_inputs(
    workspace: &Workspace,
    globs: &[globset::Glob],
    context: &Context<'_>,
) -> Result<Vec<u32>> {
    let set = GlobSet::new(globs).map_err(bad_globs("keep"))?;
    let mut places = Vec::new();
    let mut inputs = InputList::open(workspace.directory())?;
    let mut unused: Vec<usize> = (0..globs.len()).collect();
    while let Some(input) = inputs.next()? {
        let (by_name, by_path) = (set.matches(&input.name), set.matches(&input.path));
        unused.retain(|place| !by_name.contains(place) && !by_path.contains(place));
        let first = by_name.first().into_iter().chain(by_path.first()).min();
        places.push(first.map_or(u32::MAX, |place| *place as u32));
    }
    for glob in unused.iter().filter_map(|place| globs.get(*place)) {
        let line = format!("warning: no input matches {glob} of --keep prefer-input");
        context.progress.note(&line);
    }
    Ok(places)
}
