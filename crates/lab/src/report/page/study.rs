//! The page of a sampling study: what sampling costs on this collection.

use crate::report::grid::{Grid, three};
use crate::report::study::{by_group, ratios, runs};
use crate::study::{
    Adaptive, Metric, Scope, Study, StudyComparison, StudyCost, USUAL, View, comparison,
};
use lookalike::report::page::frame::{Frame, Section};
use lookalike::report::page::markup::{html, visible};
use lookalike::report::wording::group_name;
use lookalike_base::{Result, count, counted};

/// The page of a study: HTML without scripts, in UTF-8. The same study, costs and program give the same
/// bytes.
///
/// # Errors
/// If the study's tables do not match its ratios, groups and thresholds.
pub fn page(study: &Study, cost: &StudyCost, program: &str) -> Result<Vec<u8>> {
    study.config.check()?;
    // The counts are checked before they are compared.
    let view = View::new(study)?;
    let compared = comparison(study, cost)?;
    let all = view.whole(Scope::All);
    let frame = Frame {
        below: Some(html! {
            (counted(all.documents, "document")) " with " (counted(all.shingles, "shingle")) ", "
            (counted(cost.count, "trial")) ". They repeat the measurements of Ye, Wen & Ma, "
            cite { "A systematic study on parameter correlations in large-scale duplicate document detection" }
            " (2008), on this collection."
        }),
        ..Frame::of("Sampling study", program)
    };
    Ok(frame.page(&[
        verdict(&Adaptive::of(&view), &view, &compared),
        definitions(&compared),
        runs_section(&compared),
        by_groups(&view),
        sizes(&view),
        files(),
    ]))
}

/// The words that the result and the tables use.
fn definitions(compared: &StudyComparison) -> Section {
    Section::bare(html! {
        section #words aria-label="Definitions" {
            p {
                "A run at 1/16 sorts one of sixteen classes of shingles and estimates resemblance from them. Among \
                 the pairs that it lists at " (compared.threshold) " or above, " em { "precision" }
                " is the share of true pairs. Among all true pairs, " em { "recall" }
                " is the share that the run lists. " em { "Uniform" } " sampling has one ratio for all documents, "
                em { "adaptive" } " sampling one for each size group: the coarsest that reaches the precision within \
                 the group, or the coarsest of all for a group without pairs. The " em { "lower limit" } " is the fewest shingles of any choice of ratios that reaches \
                 it over all pairs within groups. All shares are from 0 to 1."
            }
        }
    })
}

fn verdict(adaptive: &Adaptive, view: &View, compared: &StudyComparison) -> Section {
    Section::bare(html! {
        section #verdict aria-label="Result" {
            @for (n, sentence) in adaptive.sentences().iter().enumerate() {
                @if n == 0 { p.lead { strong { (visible(sentence)) } } } @else { p { (visible(sentence)) } }
            }
            @if let Some(ratios) = ratios(adaptive, view) {
                h2.small-head { (visible(&ratios.title)) }
                (ratios.markup())
            }
            p { (visible(&compared.verdict)) }
        }
    })
}

fn runs_section(of: &StudyComparison) -> Section {
    Section::new("runs", "Runs side by side").with(html! {
        p {
            "The table has the mean over all classes of a ratio, and then the worst and the best class. "
            "A " em { "verified" } " run checks each pair in the full sets if the sample estimates at least the \
             given resemblance, so that no listed pair is false. A " em { "plan" }
            " gives each size group the smallest ratio that keeps the given precision. " em { "Not sampled" }
            " are documents without a shingle in the sample: no pair contains them."
        }
        (runs(of).markup())
        p.soft.small {
            "CPU seconds are measured from the collection to the pairs at " (of.lowest)
            ", the lowest threshold of the study. Reading the collection took "
            (format!("{:.2}", of.reading_seconds)) " CPU seconds more."
        }
    })
}

/// Precision and recall of the pairs within each size group.
fn by_groups(view: &View) -> Section {
    let threshold = view.study.config.nearest(USUAL).unwrap_or(0);
    Section::new("groups", "By size group").with(html! {
        p {
            "Of the pairs of two documents in a group, and of all pairs. In .GOV, sampling costs the groups of \
             small documents most: at 1/16 and threshold 0.85, precision was 0.57 in the group of the smallest \
             and 0.70 over all pairs."
        }
        @for metric in [Metric::Precision, Metric::Recall] {
            @let grid = by_group(view, metric, threshold);
            h3 { (visible(&grid.title)) }
            (grid.markup())
        }
    })
}

fn sizes(view: &View) -> Section {
    let all = view.whole(Scope::All);
    let share = |part: u64, whole: u64| three(part as f64 / whole.max(1) as f64);
    let row = |scope: Scope| {
        let here = view.whole(scope);
        vec![
            group_name(view.words(scope)),
            count(here.documents),
            share(here.documents, all.documents),
            count(here.shingles),
            share(here.shingles, all.shingles),
        ]
    };
    let grid = Grid {
        title: "Documents and shingles by size group".into(),
        head: Grid::names("words,documents,share,shingles,share"),
        rows: view.scopes().map(row).collect(),
    };
    Section::new("sizes", "Sizes of documents").with(grid.markup())
}

/// The files with the numbers of every threshold, group and class.
fn files() -> Section {
    Section::new("files", "All numbers").with(html! {
        ul {
            @for (name, what) in [
                ("study.json", "the runs, the parameters and the costs"),
                ("trials.csv", "every class of every ratio"),
                ("summary.csv", "means and spread over the classes"),
                ("verified.csv", "pairs that are estimated and then verified"),
                ("figure4.csv", "shingles to process for each precision and threshold"),
            ] { li { a href=(name) { (name) } ": " (what) } }
        }
        p {
            code { "lookalike lab reproduce ye-2008 DIR -o PAPERS" } " makes the tables and figures of the paper from the \
             same trials, and says which of its claims hold here."
        }
    })
}
