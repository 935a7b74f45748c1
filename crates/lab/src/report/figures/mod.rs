//! Tables and figures of a study.
//!
//! # Source
//! Ye, Wen & Ma 2008: Table 3, Figures 1 to 4, and the discussion of them in sections 4 to 6.
//!
//! # In and out
//! In: a [`Study`]. Out: CSV tables, their SVG charts, and `figures.json`, which has for each chart and
//! for Table 3 a title, the paper's claim and the same numbers of this study. This module does no
//! I/O.
//!
//! | file | content |
//! | --- | --- |
//! | `trials.csv` | counts, precision, recall by trial, threshold, size group and kind of pairs |
//! | `summary.csv` | the same over the classes of each ratio: mean, deviation, minimum, maximum |
//! | `verified.csv` | pairs with estimates from c, verified against t: look-ups and recall |
//! | `table3.csv` | documents and shingles by size group, and the paper's for .GOV |
//! | `figure1.csv`, `.svg` | words against rank |
//! | `figure2-N.csv`, `.svg` | precision against the threshold at 1/N |
//! | `figure3-N.csv`, `.svg` | recall against the threshold at 1/N |
//! | `figure4.csv`, `.svg` | shingles to process for a required precision |
//! | `spread.csv`, `.svg` | precision over a ratio's classes, at the threshold nearest 0.85 |
//!
//! # Algorithm
//! Means are over the classes of a ratio, each class one value. A class in which precision or
//! recall is undefined (no pair found, no true pair) is left out and counted. Standard deviations
//! describe the population, because the statements concern only the classes that were tried. For a
//! group, the figures show the pairs of two of its documents, because the paper ran each group by
//! itself; for the whole collection they show all pairs.
//!
//! Figure 4: each group gets the coarsest ratio whose mean precision meets the target, or every
//! fingerprint if none does. A group without any pair, true or found, gets the coarsest ratio and
//! is counted. The single ratio for all groups must meet the target with the mean precision over
//! all pairs, including those between groups. The lower limit is the fewest shingles of any choice
//! of ratios by group for which all pairs within groups, counted together, reach the target.
//!
//! # Invariants
//! - The same study gives the same bytes.
//! - Verified pairs are all true, so their precision is 1 and is not listed.
//!
//! # Cost
//! For each trial, size group and kind of pairs, one pass over its table of (thresholds + 1)^2
//! cells; `verified.csv` has thresholds^2 lines for each ratio.
//!
//! # Where we depart from the source
//! The paper shows only means. The spread over classes, verification, and the single ratio that
//! suffices for all groups are ours. The paper's coarsest ratio is 1/16; here it is the coarsest
//! that was tried. Shares of shingles are those that were actually sampled.
//!
//! # Errors
//! `BadStudy` if a trial's tables do not have the study's groups and thresholds.

mod adaptive;
mod charts;
mod panels;
mod remarks;
mod tables;

pub(crate) use adaptive::AtTarget;
pub use adaptive::{Adaptive, adaptive};
pub(crate) use panels::{GroupRow, StudyFigure, sheet};

use serde::Serialize;

use crate::report::charts::{Plot, sheet as svg};
use crate::study::{Metric, Study, StudyFile, USUAL, View, plans};
use lookalike_base::Result;
use lookalike_store::json;

/// A line of `figures.json`.
#[derive(Serialize)]
struct Remark {
    file: String,
    title: String,
    paper: String,
    here: String,
}

/// All tables and figures, each table before its figure, `figures.json` last.
///
/// # Errors
/// If the study's tables do not match its ratios, groups and thresholds.
pub fn files(study: &Study) -> Result<Vec<StudyFile>> {
    let view = View::new(study)?;
    let panels = panels::figures(&view).into_iter().flat_map(|f| f.panels);
    let mut made = Made {
        panels: panels.map(|of| (of.csv, of.title, of.plot)).collect(),
        ..Made::default()
    };
    made.table("trials", tables::trials(&view));
    made.table("summary", tables::summary(&view));
    made.table("verified", tables::verified(&view));
    let title = "Documents and shingles by size group";
    made.table("table3", tables::table3(&view));
    let paper = remarks::paper("table3", 0);
    made.remark("table3.csv", title, paper, remarks::table3(&view));

    let title = "Sizes of documents by rank";
    made.table("figure1", tables::figure1(&view));
    let paper = remarks::paper("figure1", 0);
    made.chart("figure1", title, paper, remarks::figure1(&view));

    for (figure, measure) in [(2, Metric::Precision), (3, Metric::Recall)] {
        for ratio in view.sampled_ratios() {
            let name = format!("figure{figure}-{}", ratio.n);
            let title = match measure {
                Metric::Precision => "Precision",
                Metric::Recall => "Recall",
            };
            let title = format!("{title} at sampling ratio {}", ratio.name());
            made.table(&name, tables::by_threshold(&view, ratio, measure));
            let here = remarks::by_threshold(&view, ratio, measure);
            made.chart(&name, &title, remarks::paper(measure.text(), ratio.n), here);
        }
    }

    let title = "Shingles to process for a required precision";
    made.table("figure4", tables::figure4(&view, &plans(&view)));
    let paper = remarks::paper("figure4", 0);
    made.chart("figure4", title, paper, remarks::figure4(&view));

    if let Some(threshold) = view.study.config.nearest(USUAL) {
        let at = view.threshold(threshold);
        let title = format!("Precision of each class, at threshold {at}");
        made.table("spread", tables::spread(&view, threshold));
        let here = remarks::spread(&view, threshold);
        made.chart("spread", &title, remarks::paper("spread", 0), here);
    }
    made.finish()
}

/// The tables and figures made so far.
#[derive(Default)]
struct Made {
    /// The panels of all figures, with the name of their table and their title.
    panels: Vec<(String, String, Option<Plot>)>,
    files: Vec<StudyFile>,
    remarks: Vec<Remark>,
}

impl Made {
    fn file(&mut self, name: String, content: String) {
        self.files.push(StudyFile {
            name,
            content: content.into_bytes(),
        });
    }

    fn table(&mut self, name: &str, content: String) {
        self.file(format!("{name}.csv"), content);
    }

    fn remark(&mut self, file: &str, title: &str, paper: &str, here: String) {
        self.remarks.push(Remark {
            file: file.into(),
            title: title.into(),
            paper: paper.into(),
            here,
        });
    }

    /// The chart of a table: its panels.
    fn chart(&mut self, name: &str, title: &str, paper: &str, here: String) {
        let (file, csv) = (format!("{name}.svg"), format!("{name}.csv"));
        let of = self.panels.iter().filter(|(table, ..)| *table == csv);
        let of: Vec<_> = of
            .map(|(_, title, plot)| (title.clone(), plot.clone()))
            .collect();
        self.remark(&file, title, paper, here);
        self.file(file, svg(title, &of));
    }

    fn finish(mut self) -> Result<Vec<StudyFile>> {
        let name = "figures.json";
        let json = json::pretty(&self.remarks, name)?;
        self.file(name.into(), json);
        Ok(self.files)
    }
}
