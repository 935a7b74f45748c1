//! Describes the results in numbers and sentences.

use super::choose::HUNDREDTHS;
use super::frame::many;
use super::markup::{Markup, html};
use super::panels::headline;
use super::sizes::histogram;
use crate::report::ledger::bytes;
use crate::report::rows::share;
use crate::report::wording::Wording;
use lookalike_base::{count, counted};
use lookalike_engine::pipeline::Summary;
use lookalike_text::parse::TokenKind;

/// The section. The scores of the pairs are there if pairs were listed.
pub(super) fn found(
    summary: &Summary,
    wording: &Wording<'_>,
    scores: Option<&[u64; HUNDREDTHS]>,
) -> Markup {
    let cluster = summary.cluster.unwrap_or_default();
    let (documents, exact) = counted_documents(summary);
    let redundant = cluster.redundant;
    // A condition parts equal documents, so that pairs of them are among the others.
    let of_new = match summary.others() == 0 && summary.collection.condition.is_none() {
        true => "near-duplicates",
        false => "redundant",
    };
    let parts = [
        ("kept", documents.saturating_sub(redundant)),
        (of_new, redundant.saturating_sub(exact)),
        ("exact duplicates", exact),
    ];
    let parts = if redundant > 0 { &parts[..] } else { &[] };
    html! {
        section id="found" {
            @if documents == 0 { p.headline { "There are no documents." } }
            @else { (headline(redundant, &sentence(documents, redundant), parts)) }
            div.side-by-side {
                div {
                    p { (compared(summary, wording)) }
                    p { (linked(summary, wording, scores.is_some())) }
                    (exactness(summary, wording))
                }
                @if let Some(scores) = scores { div { (histogram(wording, scores)) } }
            }
        }
    }
}

/// The documents, and the exact duplicates among them. Those of new documents are not counted by
/// themselves.
fn counted_documents(summary: &Summary) -> (u64, u64) {
    let catalogue = summary.catalogue.clone().unwrap_or_default();
    match summary.others() {
        0 => (catalogue.documents, catalogue.exact_duplicates),
        others => (catalogue.documents - others, 0),
    }
}

/// The finding, after the number of redundant documents.
fn sentence(documents: u64, redundant: u64) -> String {
    let of = many(documents, "document");
    match redundant {
        0 => format!("of {of} duplicate another one."),
        _ => format!(
            "of {of}{} can be left out, which keeps one document of each cluster.",
            share(redundant, documents)
        ),
    }
}

/// Describes the documents that were read, and how they were compared.
fn compared(summary: &Summary, wording: &Wording<'_>) -> String {
    let catalogue = summary.catalogue.clone().unwrap_or_default();
    let others = summary.others();
    let (documents, exact) = counted_documents(summary);
    let files = many(summary.inputs, "input file");
    let mut said = match others {
        0 => format!(
            "{files} ({}) gave {}.",
            bytes(summary.input_bytes),
            many(documents, "document")
        ),
        _ => format!(
            "{files} gave {}, compared with {} of an earlier run.",
            many(documents, "new document"),
            many(others, "document")
        ),
    };
    let rejected: u64 = summary.ingest.rejected.values().sum();
    if rejected > 0 {
        said += &format!(
            " {} gave no document; rejects.jsonl lists each with the reason.",
            many(rejected, "record")
        );
    }
    if exact > 0 {
        said += " An exact duplicate has the same words as an earlier document.";
        if let Some(identical) = summary.cluster.and_then(|cluster| cluster.identical) {
            said += &match identical {
                n if n == exact => " Their texts are also identical, byte for byte.".into(),
                n => format!(
                    " {} of {} are identical to that document, byte for byte; others may be \
                     identical to each other.",
                    count(n),
                    count(exact)
                ),
            };
        }
    }
    if documents > 0 {
        let by = match wording.method {
            None => format!(
                "their shingles (every sequence of {})",
                shingle_words(summary)
            ),
            Some(method) => format!("the features that the method {method} extracts"),
        };
        said += &format!(
            " {} compared by {by}. {}",
            match (exact, catalogue.representatives) {
                (_, 1) => "1 different document was".to_string(),
                (0, n) => format!("All {} were", count(n)),
                (_, n) => format!("The {} different documents were", count(n)),
            },
            wording.definition()
        );
    }
    said
}

/// The pairs, and the clusters that they make.
fn linked(summary: &Summary, wording: &Wording<'_>, listed: bool) -> String {
    let cluster = summary.cluster.unwrap_or_default();
    let pairs = summary.join.as_ref().map_or(0, |join| join.pairs);
    let reached = wording.listed();
    let equal = summary.catalogue.as_ref().map_or(0, |c| c.exact_duplicates);
    let of = if equal > 0 {
        "different texts"
    } else {
        "documents"
    };
    let limit = wording.limit();
    let mut said = match (listed, pairs) {
        (false, _) => format!(
            "Pairs were not listed (--pairs none). The join searched for pairs with {reached} only as far as the clusters need them, and did \
             not list them. To have them listed and shown here: lookalike run --from DIR --pairs all."
        ),
        (_, 0) => format!("No pair of {of}{limit} has {reached}."),
        (_, 1) => format!("{} of {of}{limit} has {reached}.", many(1, "pair")),
        (_, n) => format!("{} of {of}{limit} have {reached}.", many(n, "pair")),
    };
    said += &match cluster.clusters {
        0 => String::new(),
        n => format!(
            " Documents that are linked by such pairs{} form {} with {} in total. The \
             largest has {}.",
            if wording.condition.is_some() {
                ""
            } else {
                ", or that are equal,"
            },
            many(n, "cluster"),
            many(cluster.documents, "document"),
            many(cluster.largest, "document"),
        ),
    };
    said
}

/// Whether the numbers are exact, and if not, how they may be wrong.
fn exactness(summary: &Summary, wording: &Wording<'_>) -> Markup {
    let most = summary.join_config.and_then(|config| config.max_postings);
    let sampled = summary.is_sampled();
    let mut notes = Vec::new();
    let join = summary.join.as_ref();
    if let Some(undecided) = join.and_then(|join| join.undecided.as_ref()) {
        notes.push(format!("{undecided}."));
    }
    if sampled && let (Some(sampling), Some(sample)) = (&summary.sampling, &summary.sample) {
        let verified = summary
            .join_config
            .is_some_and(|config| config.candidates.is_some());
        let (what, errors) = if verified {
            (
                "Every listed pair was verified in the full sets, so its resemblance is exact, but pairs \
                 may be missing",
                "A pair that the sample does not show is not verified.",
            )
        } else {
            (
                "These figures are estimates",
                "Pairs near the threshold may be missing, and some listed pairs may be below it.",
            )
        };
        notes.push(format!(
            "{what}. The run used only a sample of the shingles ({sampling}: {} of {}{}). {errors} \
             Short documents are affected most, because few of their shingles are sampled.",
            count(sample.sampled),
            count(sample.shingles),
            share(sample.sampled, sample.shingles)
        ));
    }
    if let Some(most) = most {
        notes.push(format!(
            "The run left out {} that occur in more than {} (--max-postings). Documents may resemble \
             each other more than these numbers show, and pairs may be missing.",
            wording.features(),
            many(most.into(), "document")
        ));
    }
    let exact = match (!sampled && most.is_none(), wording.method) {
        (false, _) => None,
        (true, None) => Some(
            "The comparison is exact: it used every shingle of every document, and nothing is estimated.",
        ),
        (true, Some(_)) => Some(
            "The comparison used every feature of every document: these are all pairs that the method \
             finds.",
        ),
    };
    html! {
        @for note in notes { p.note { (note) } }
        @if let Some(exact) = exact { p { (exact) } }
    }
}

/// The length of a shingle in this run.
fn shingle_words(summary: &Summary) -> String {
    let shingle = &summary.collection.shingle;
    match &shingle.parse.tokens {
        TokenKind::Bytes(n) => format!("{n} bytes of text"),
        _ => counted(shingle.shingle_size.into(), "word"),
    }
}
