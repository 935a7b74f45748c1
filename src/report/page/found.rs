//! What was found, in numbers and sentences.

use super::frame::{is_sampled, many};
use super::html::Html;
use crate::numbers::{count, counted};
use crate::parse::TokenKind;
use crate::pipeline::Summary;
use crate::report::ledger::{bytes, share};
use crate::report::wording::Wording;

pub(super) fn found(html: &mut Html, summary: &Summary, wording: &Wording<'_>, listed: bool) {
    let catalogue = summary.catalogue.clone().unwrap_or_default();
    let cluster = summary.cluster.unwrap_or_default();
    let pairs = summary.join.as_ref().map_or(0, |join| join.pairs);
    let (documents, exact) = (catalogue.documents, catalogue.exact_duplicates);
    html.raw("<section id=\"found\">\n<ul class=\"tiles\">\n");
    let mut tile = |value: String, name: &str| {
        html.raw("<li><b>")
            .text(&value)
            .raw("</b><span>")
            .text(name)
            .raw("</span></li>\n");
    };
    tile(count(documents), "documents");
    tile(count(exact), "exact duplicates");
    if listed {
        tile(count(pairs), &wording.row());
    }
    tile(count(cluster.clusters), "clusters");
    let redundant = cluster.redundant;
    tile(
        count(redundant),
        &format!("redundant documents{}", share(redundant, documents)),
    );
    html.raw("</ul>\n<p>");
    html.text(&format!(
        "{} ({}) gave {}.",
        many(summary.inputs, "input file"),
        bytes(summary.input_bytes),
        many(documents, "document")
    ));
    let rejected: u64 = summary.ingest.rejected.values().sum();
    if rejected > 0 {
        html.text(&format!(
            " {} could not be read; rejects.jsonl lists each with the reason.",
            many(rejected, "record")
        ));
    }
    if exact > 0 {
        html.text(&format!(
            " {}{} of them {} an earlier document word for word (exact duplicates).",
            count(exact),
            share(exact, documents),
            if exact == 1 { "repeats" } else { "repeat" }
        ));
    }
    if documents > 0 {
        let by = match wording.method {
            None => format!(
                "their shingles (every sequence of {})",
                shingle_words(summary)
            ),
            Some(method) => format!("the features that the method {method} extracts"),
        };
        html.text(&format!(
            " {} compared by {by}. {}",
            match catalogue.representatives {
                1 => "The 1 that remains was".to_string(),
                n => format!("The {} that remain were", count(n)),
            },
            wording.definition()
        ));
    }
    html.raw("</p>\n<p>");
    if listed {
        let reached = wording.listed();
        html.text(&match pairs {
            0 => format!("No pair of documents has {reached}."),
            1 => format!("{} of documents has {reached}.", many(1, "pair")),
            n => format!("{} of documents have {reached}.", many(n, "pair")),
        });
    } else {
        html.text(&format!(
            "The join searched for pairs with {} only as far as the clusters need them, and did not \
             list them (--pairs none).",
            wording.listed()
        ));
    }
    if cluster.clusters == 0 {
        html.text(" There are no clusters and no redundant documents.");
    } else {
        html.text(&format!(
            " Documents that are linked by such pairs, or that are equal, form {} with {} in total. The \
             largest has {}. Keeping one document of each cluster, and every document that is in no \
             cluster, would leave out {}{}.",
            many(cluster.clusters, "cluster"),
            many(cluster.documents, "document"),
            many(cluster.largest, "document"),
            many(redundant, "document"),
            share(redundant, documents)
        ));
    }
    html.raw("</p>\n");
    exactness(html, summary, wording);
    html.raw("</section>\n");
}

/// Whether the numbers are exact, and if not, how they may be wrong.
fn exactness(html: &mut Html, summary: &Summary, wording: &Wording<'_>) {
    let most = summary.join_config.and_then(|config| config.max_postings);
    let sampled = is_sampled(summary);
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
        html.raw("<p class=\"note\">").text(&format!(
            "{what}. The run used only a sample of the shingles ({sampling}: {} of {}{}). {errors} \
             Short documents are affected most, because few of their shingles are sampled.",
            count(sample.sampled),
            count(sample.shingles),
            share(sample.sampled, sample.shingles)
        ));
        html.raw("</p>\n");
    }
    if let Some(most) = most {
        html.raw("<p class=\"note\">").text(&format!(
            "The run left out {} that occur in more than {} (--max-postings). Documents may resemble \
             each other more than these numbers show, and pairs may be missing.",
            wording.features(),
            many(most.into(), "document")
        ));
        html.raw("</p>\n");
    }
    if !sampled && most.is_none() {
        html.raw(match wording.method {
            None => {
                "<p>The comparison is exact: it used every shingle of every document, and nothing is \
                 estimated.</p>\n"
            }
            Some(_) => {
                "<p>The comparison used every feature of every document: these are all pairs that the \
                 method finds.</p>\n"
            }
        });
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
