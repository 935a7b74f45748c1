//! Shows, on the page of a run without pairs, the closest pair below the threshold and advice.

use super::Page;
use super::frame::Section;
use super::markup::{Markup, html};
use super::pairs::{marks, one_pair};
use crate::report::answer::{SHINGLE_SIZE_OF_SHORT, SHORT};
use lookalike_base::{Measure, count, counted, listed, path_word};
use lookalike_engine::join::closest::{MOST_FINGERPRINTS, Search};
use lookalike_text::parse::TokenKind;

/// The section.
pub(super) fn closest(page: &Page<'_>) -> Markup {
    let features = page.wording.features();
    Section::new("closest", "The closest pair").of(html! {
        @match (page.chosen.of_pairs.searched, page.chosen.of_pairs.below.first()) {
            (searched, Some(pair)) => {
                p {
                    "No pair has " (page.wording.listed()) ". "
                    @match searched {
                        Some(Search::Stopped) => "The search for the closest pair below the threshold ended \
                            early. These two documents have the highest resemblance that it found. ",
                        _ => {
                            "These two documents have the highest " (page.wording.noun()) " below the threshold. "
                        }
                    }
                    (marks(page))
                }
                (one_pair(page, pair, true))
            }
            (Some(Search::Complete), _) => p {
                "No two documents" (page.wording.limit()) " have " (page.wording.feature()) "s in common, so \
                 every pair has a resemblance of 0."
            },
            (Some(Search::Stopped), _) => p {
                "The search for the closest pair below the threshold ended early, before it found a pair."
            },
            (Some(Search::TooLarge), _) => p {
                "The page searches the closest pair below the threshold only in collections of at most "
                (count(MOST_FINGERPRINTS)) " " (features) "."
            },
            _ => p { "No pair has " (page.wording.listed()) "." },
        }
        h3 { "What to try" }
        ul { @for (command, why) in advice(page) { li { code { (command) } " " (why) } } }
    })
}

/// Returns commands or flags that may find pairs, each with the reason.
fn advice(page: &Page<'_>) -> Vec<(String, String)> {
    let mut advice = Vec::new();
    let directory = page.config.directory.as_deref().unwrap_or("DIR");
    let from = format!("lookalike run --from {}", path_word(directory.as_ref()));
    let chosen = &page.chosen.of_pairs;
    let nothing = chosen.searched == Some(Search::Complete) && chosen.below.is_empty();
    let measure = page.wording.measure;
    let hundredths = chosen.below.first().map(|pair| {
        let text = pair.score(measure);
        text.get(2..4)
            .and_then(|digits| digits.parse().ok())
            .unwrap_or(0u32)
    });
    match hundredths {
        Some(n @ 1..) => advice.push((
            format!("{from} --threshold 0.{n:02}"),
            "lists the pair above, and all others that are as close.".to_string(),
        )),
        // No threshold finds pairs that have nothing in common.
        Some(0) => {}
        None if nothing => {}
        _ => advice.push((
            format!("{from} --threshold 0.5"),
            "also lists pairs that have only half of their shingles in common.".into(),
        )),
    }
    let shingle = &page.summary.collection.shingle;
    let size = shingle.shingle_size;
    let words = !matches!(shingle.parse.tokens, TokenKind::Bytes(_));
    if page.wording.method.is_none() && words && size > SHINGLE_SIZE_OF_SHORT {
        let catalogue = page.summary.catalogue.clone().unwrap_or_default();
        let documents = catalogue.representatives - catalogue.without_shingles;
        let mean = catalogue.shingles / documents.max(1) + u64::from(size) - 1;
        let short = (mean < SHORT.into()).then(|| counted(mean, "word"));
        let has = |words| format!("The documents have about {words} on average. ");
        let short = listed("", short, has);
        advice.push((
            format!("--shingle-size {SHINGLE_SIZE_OF_SHORT}"),
            format!(
                "tolerates more changes: read the inputs again with it and another -o. {short}One changed word \
                 changes up to {size} shingles now."
            ),
        ));
    }
    if !nothing && measure != Measure::Containment {
        advice.push((
            format!("{from} --score containment"),
            "finds short texts within long ones.".into(),
        ));
    }
    advice
}
