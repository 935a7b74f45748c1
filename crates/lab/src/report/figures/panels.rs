//! The figures of a study as small panels, with the same numbers as in its CSV files.

use super::adaptive::Adaptive;
use super::charts::{
    ByRank, MARGIN, Share, evenly, floor, means, precisions, ratio_axis, share_axes, share_points,
    signed,
};
use super::remarks;
use super::tables::{beside, drawn, gov_total};
use crate::report::charts::{Axis, Line, Plot, Strip, Tone, round_tenth_below};
use crate::study::{Metric, RatioTrials, Scope, Study, USUAL, View, plans};
use lookalike::report::wording::group_name;
use lookalike_base::Result;

/// Limit on the panels with adaptive and uniform sampling. If there are more thresholds, evenly
/// spaced ones are shown.
const MOST_THRESHOLDS: usize = 6;

/// A panel of a figure.
#[derive(Clone, Debug)]
pub(crate) struct StudyPanel {
    pub title: String,
    /// The file in the directory of the study with the numbers.
    pub csv: String,
    /// `None` if there is nothing to show.
    pub plot: Option<Plot>,
}

impl StudyPanel {
    fn new(title: String, csv: &str, plot: Option<Plot>) -> StudyPanel {
        let csv = csv.into();
        StudyPanel { title, csv, plot }
    }
}

/// A figure with its panels.
#[derive(Clone, Debug)]
pub(crate) struct StudyFigure {
    pub id: &'static str,
    pub title: &'static str,
    /// How to read it.
    pub about: String,
    pub panels: Vec<StudyPanel>,
    /// What the paper says.
    pub paper: Vec<&'static str>,
    /// The same numbers of this study: what a sentence is about, if not the figure, and the
    /// sentence.
    pub here: Vec<(String, String)>,
}

/// A size group, and the same group of the paper.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GroupRow {
    /// Its bounds, or `all`.
    pub words: String,
    pub documents: u64,
    pub shingles: u64,
    /// Shares of the documents and shingles, here and in .GOV.
    pub shares: [f64; 2],
    pub gov: Option<[f64; 2]>,
}

/// Everything that the page of a study shows, besides its table of runs.
#[derive(Clone, Debug)]
pub(crate) struct StudySheet {
    pub adaptive: Adaptive,
    pub figures: Vec<StudyFigure>,
    pub groups: Vec<GroupRow>,
}

/// Makes the figures.
pub(crate) fn sheet(study: &Study) -> Result<StudySheet> {
    let view = View::new(study)?;
    Ok(StudySheet {
        adaptive: Adaptive::of(&view),
        figures: figures(&view),
        groups: groups(&view),
    })
}

/// The figures, in the order of the page.
pub(super) fn figures(view: &View) -> Vec<StudyFigure> {
    let mut figures = vec![shares(view)];
    figures.push(by_threshold(view, Metric::Precision));
    figures.push(by_threshold(view, Metric::Recall));
    figures.extend(spread(view));
    figures.push(sizes(view));
    figures
}

/// A sentence about a whole figure.
fn whole(sentence: String) -> (String, String) {
    (String::new(), sentence)
}

fn shares(view: &View) -> StudyFigure {
    let plans = plans(view);
    let axes = share_axes(view, &plans);
    let kinds: [(&str, Tone, Share); 3] = [
        ("adaptive", Tone::First, |plan| plan.share),
        ("uniform", Tone::Second, |plan| plan.uniform_share),
        ("lower limit", Tone::Context, |plan| plan.least_share),
    ];
    let shown = evenly(view.thresholds().len(), MOST_THRESHOLDS);
    let panels = shown.into_iter().map(|place| {
        let title = format!("Threshold {}", view.threshold(place));
        let plot = axes.clone().map(|(x, y)| Plot {
            about: format!(
                "{title}: shingles to process for a mean precision, adaptive, uniform and the lower limit"
            ),
            x,
            y,
            lines: kinds
                .map(|(name, tone, share)| Line::new(name, tone, share_points(&plans, place, share)))
                .into(),
            strips: Vec::new(),
        });
        StudyPanel::new(title, "figure4.csv", plot)
    });
    StudyFigure {
        id: "adaptive",
        title: "Adaptive and uniform sampling",
        about: "Share of the shingles to process (vertical) for a mean precision over the classes \
                (horizontal). Adaptive: the coarsest ratio that reaches the precision in each size group. \
                Uniform: the coarsest ratio that reaches it over all pairs. Lower limit: the fewest shingles \
                of any choice of ratios by group that reaches it over all pairs within groups, known afterwards."
            .into(),
        panels: panels.collect(),
        paper: vec![remarks::paper("figure4", 0)],
        here: vec![whole(remarks::figure4(view))],
    }
}

/// The lines of a panel of precision or recall: over all pairs, and over the pairs within each
/// group. The first and the last group with values are labelled and drawn above the others.
fn lines_by_scope(view: &View, ratio: &RatioTrials, metric: Metric) -> Vec<Line> {
    let points = |scope| means(view, ratio, metric, scope);
    let mut lines = vec![Line::new("all pairs", Tone::Ink, points(Scope::All))];
    let named = view.study.groups.iter().enumerate();
    let groups = named.map(|(group, words)| {
        Line::new(
            group_name(words),
            Tone::Context,
            points(Scope::Group(group)),
        )
    });
    let mut groups: Vec<_> = groups.filter(Line::is_defined).collect();
    if groups.len() == 1 && view.study.groups.len() == 1 {
        groups.clear();
    }
    let last = groups.len().saturating_sub(1);
    for (n, line) in groups.iter_mut().enumerate() {
        match n {
            0 => line.look = Tone::First,
            n if n == last => line.look = Tone::Second,
            _ => line.label.clear(),
        }
    }
    groups.sort_by_key(|line| line.look == Tone::Context);
    lines.extend(groups);
    lines
}

/// Precision or recall against the threshold, a panel for each ratio.
fn by_threshold(view: &View, metric: Metric) -> StudyFigure {
    let (low, high) = view.first_and_last().unwrap_or((0.5, 1.0));
    let floor = floor(view, metric);
    let (id, title, figure, paper) = match metric {
        Metric::Precision => (
            "precision",
            "Precision by ratio and threshold",
            2,
            [4, 16].map(|n| remarks::paper("precision", n)),
        ),
        Metric::Recall => {
            // The remark on the ratios for which the paper has no figure.
            let others = remarks::paper("recall", 0).trim_start_matches("Not shown. ");
            let paper = [remarks::paper("recall", 16), others];
            ("recall", "Recall by ratio and threshold", 3, paper)
        }
    };
    let panel = |ratio: &RatioTrials| {
        let lines = lines_by_scope(view, ratio, metric);
        let title = format!("Ratio {}", ratio.name());
        let plot = lines.iter().any(Line::is_defined).then(|| Plot {
            about: format!("{title}: mean {} against the threshold", metric.text()),
            x: Axis::linear("Resemblance threshold", low - MARGIN, high + MARGIN, 5),
            y: Axis::linear(&format!("Mean {}", metric.text()), floor, 1.0, 5),
            lines,
            strips: Vec::new(),
        });
        StudyPanel::new(title, &format!("figure{figure}-{}.csv", ratio.n), plot)
    };
    let here = view.sampled_ratios().map(|ratio| {
        let sentence = remarks::by_threshold(view, ratio, metric);
        (format!("Ratio {}.", ratio.name()), sentence)
    });
    StudyFigure {
        id,
        title,
        about: format!(
            "Mean {} over the classes of a ratio (vertical) against the resemblance threshold \
             (horizontal): over all pairs, and over the pairs within a size group. The smallest and the \
             largest documents are labelled; the other groups are grey. The vertical axis need not begin at 0.",
            metric.text()
        ),
        panels: view.sampled_ratios().map(panel).collect(),
        paper: paper.into(),
        here: here.collect(),
    }
}

/// Precision of every class, over all pairs and within the group of the smallest documents.
fn spread(view: &View) -> Option<StudyFigure> {
    let threshold = view.study.config.nearest(USUAL)?;
    let at = view.thresholds().get(threshold)?;
    let ratios: Vec<&RatioTrials> = view.sampled_ratios().collect();
    let strips = |scope: Scope, tone: Tone| {
        let strips = ratios.iter().enumerate().filter_map(|(number, ratio)| {
            Some(Strip {
                tone,
                x: number as f64,
                values: precisions(ratio, scope, threshold),
                mean: ratio.precision(scope, drawn(scope), threshold).mean()?,
            })
        });
        strips.collect::<Vec<Strip>>()
    };
    let mut shown = vec![("All pairs".to_string(), strips(Scope::All, Tone::Ink))];
    if view.study.groups.len() > 1 {
        let words = group_name(view.words(Scope::Group(0)));
        let title = format!("Pairs within {words} words");
        shown.push((title, strips(Scope::Group(0), Tone::First)));
    }
    let values = shown.iter().flat_map(|(_, strips)| strips);
    let values = values.flat_map(|strip| &strip.values);
    let least = values.copied().fold(1.0, f64::min);
    let panels = shown.into_iter().map(|(title, strips)| {
        let plot = (!strips.is_empty()).then(|| Plot {
            about: format!("{title}: precision of every class at threshold {at}"),
            x: ratio_axis("Sampling ratio", &ratios),
            y: Axis::linear("Precision", round_tenth_below(least), 1.0, 5),
            lines: Vec::new(),
            strips,
        });
        StudyPanel::new(title, "spread.csv", plot)
    });
    Some(StudyFigure {
        id: "classes",
        title: "How much the class decides",
        about: format!(
            "Precision (vertical) of a run with each class of each ratio (horizontal), at threshold {at}. \
             A dot is a class; the bar is the mean. The vertical axis need not begin at 0."
        ),
        panels: panels.collect(),
        paper: vec![remarks::paper("spread", 0)],
        here: vec![whole(remarks::spread(view, threshold))],
    })
}

/// Sizes of documents by rank.
fn sizes(view: &View) -> StudyFigure {
    let plot = ByRank::of(view).map(|of| {
        let mut lines = vec![Line::new("documents", Tone::Ink, of.documents)];
        lines.extend(of.fitted.map(|(law, ends)| {
            let label = format!("slope {}", signed(law.slope));
            Line::new(label, Tone::Second, ends)
        }));
        let (x, y) = of.axes;
        Plot {
            about: "Words of a document against its rank by size, on logarithmic axes".into(),
            x,
            y,
            lines,
            strips: Vec::new(),
        }
    });
    StudyFigure {
        id: "sizes",
        title: "Sizes of documents",
        about: "Words of a document (vertical) against its rank by size (horizontal), on logarithmic axes, \
                and the documents and shingles in each size group."
            .into(),
        panels: vec![StudyPanel::new("Words by rank".into(), "figure1.csv", plot)],
        paper: vec![remarks::paper("figure1", 0), remarks::paper("table3", 0)],
        here: vec![whole(remarks::figure1(view)), whole(remarks::table3(view))],
    }
}

fn groups(view: &View) -> Vec<GroupRow> {
    let all = view.whole(Scope::All);
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    let whole = gov_total();
    let row = |scope: Scope| {
        let here = view.whole(scope);
        let there = beside(view, scope);
        GroupRow {
            words: match scope {
                Scope::Group(_) => group_name(view.words(scope)),
                Scope::All => "all".into(),
            },
            documents: here.documents,
            shingles: here.shingles,
            shares: [
                share(here.documents, all.documents),
                share(here.shingles, all.shingles),
            ],
            gov: there.map(|(d, s)| [share(d, whole.0), share(s, whole.1)]),
        }
    };
    view.scopes().map(row).collect()
}
