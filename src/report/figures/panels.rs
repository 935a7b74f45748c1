//! The figures of a study as small panels for its page, with the same numbers as in its CSV files.

use super::adaptive::Adaptive;
use super::charts::{evenly, figure1_axes, floor, significant};
use super::fit::power_law;
use super::measure::{Metric, RatioTrials, Scope, View, ratio_name};
use super::plan::{GroupRatios, TARGETS, plans};
use super::remarks;
use super::tables::{drawn, gov, gov_total};
use crate::Result;
use crate::lab::study::{Study, USUAL};
use crate::report::charts::{Axis, Plot, PlotLine, Strip, Tone, round_tenth_below};
use crate::report::wording::group_name;

/// Room for markers at both ends of an axis of thresholds.
const MARGIN: f64 = 0.01;

/// Limit on the panels with adaptive and uniform sampling. Of more thresholds, some evenly spaced
/// ones are shown.
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

/// A size group beside that of the paper.
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
    let mut figures = vec![shares(&view)];
    figures.push(by_threshold(&view, Metric::Precision));
    figures.push(by_threshold(&view, Metric::Recall));
    figures.extend(spread(&view));
    figures.push(sizes(&view));
    Ok(StudySheet {
        adaptive: Adaptive::of(&view),
        figures,
        groups: groups(&view),
    })
}

/// A sentence about a whole figure.
fn whole(sentence: String) -> (String, String) {
    (String::new(), sentence)
}

fn shares(view: &View) -> StudyFigure {
    let plans = plans(view);
    let each = |plan: &GroupRatios| [plan.share, plan.uniform_share];
    let known = plans.iter().flat_map(each).flatten();
    let ratios: Vec<u32> = view.sampled_ratios().map(|ratio| ratio.n).collect();
    let coarsest = ratios.last().copied().unwrap_or(2);
    let least = known.clone().fold(1.0 / f64::from(coarsest), f64::min);
    let mut ticks = vec![(1.0, "100 %".to_string())];
    ticks.extend(ratios.iter().map(|&n| {
        let share = 1.0 / f64::from(n);
        (share, format!("{} %", significant(share * 100.0)))
    }));
    let (first, last) = (*TARGETS.start(), *TARGETS.end());
    let x = Axis {
        low: f64::from(first) / 100.0,
        high: f64::from(last) / 100.0 + MARGIN,
        ..Axis::linear("", 0.5, 1.0, 5)
    };
    let y = Axis {
        title: String::new(),
        low: least / 1.15,
        high: 1.1,
        logarithmic: true,
        ticks,
    };
    let shown = evenly(view.thresholds().len(), MOST_THRESHOLDS);
    let panels = shown.into_iter().filter_map(|place| {
        let threshold = view.thresholds().get(place)?;
        let line = |label: &str, tone, share: fn(&GroupRatios) -> Option<f64>| {
            let at = plans.iter().filter(|plan| plan.threshold == place);
            let points = at.map(|plan| (f64::from(plan.target) / 100.0, share(plan)));
            PlotLine {
                label: label.into(),
                tone,
                points: points.collect(),
            }
        };
        let title = format!("Threshold {threshold}");
        let plot = Plot {
            about: format!(
                "{title}: shingles to process for a mean precision, adaptive and uniform"
            ),
            x: x.clone(),
            y: y.clone(),
            lines: vec![
                line("adaptive", Tone::First, |plan| plan.share),
                line("uniform", Tone::Second, |plan| plan.uniform_share),
            ],
            strips: Vec::new(),
        };
        Some(StudyPanel {
            title,
            csv: "figure4.csv".into(),
            plot: known.clone().next().map(|_| plot),
        })
    });
    StudyFigure {
        id: "adaptive",
        title: "Adaptive and uniform sampling",
        about: "Share of the shingles to process (vertical) for a mean precision over the classes \
                (horizontal). Adaptive: the coarsest ratio that reaches the precision in each size group. \
                Uniform: the coarsest ratio that reaches it over all pairs."
            .into(),
        panels: panels.collect(),
        paper: vec![remarks::paper("figure4", 0)],
        here: vec![whole(remarks::figure4(view))],
    }
}

/// Precision or recall against the threshold, a panel for each ratio.
fn by_threshold(view: &View, metric: Metric) -> StudyFigure {
    let at: Vec<f64> = view.thresholds().iter().map(|t| t.to_f64()).collect();
    let (low, high) = (
        at.first().copied().unwrap_or(0.5),
        at.last().copied().unwrap_or(1.0),
    );
    let floor = floor(view, metric);
    let panel = |ratio: &RatioTrials| {
        let line = |scope: Scope, label: String, tone: Tone| {
            let points = at.iter().enumerate().map(|(place, &x)| {
                let spread = ratio.spread(metric, scope, drawn(scope), place);
                (x, spread.mean())
            });
            PlotLine {
                label,
                tone,
                points: points.collect(),
            }
        };
        let mut lines = vec![line(Scope::All, "all pairs".into(), Tone::Ink)];
        let groups = view.study.groups.iter().enumerate();
        let groups = groups.map(|(group, words)| (Scope::Group(group), words));
        let mut groups: Vec<PlotLine> = groups
            .map(|(scope, words)| line(scope, group_name(words), Tone::Context))
            .filter(|line| line.points.iter().any(|(_, y)| y.is_some()))
            .collect();
        if groups.len() == 1 && view.study.groups.len() == 1 {
            groups.clear();
        }
        let last = groups.len().saturating_sub(1);
        for (n, line) in groups.iter_mut().enumerate() {
            match n {
                0 => line.tone = Tone::First,
                n if n == last => line.tone = Tone::Second,
                _ => line.label.clear(),
            }
        }
        groups.sort_by_key(|line| line.tone == Tone::Context);
        lines.extend(groups);
        let defined = lines.iter().flat_map(|line| &line.points);
        let defined = defined.clone().any(|(_, y)| y.is_some());
        let figure = match metric {
            Metric::Precision => 2,
            Metric::Recall => 3,
        };
        let title = format!("Ratio {}", ratio.name());
        StudyPanel {
            csv: format!("figure{figure}-{}.csv", ratio.n),
            plot: defined.then(|| Plot {
                about: format!("{title}: mean {} against the threshold", metric.text()),
                x: Axis::linear("", low - MARGIN, high + MARGIN, 5),
                y: Axis::linear("", floor, 1.0, 5),
                lines,
                strips: Vec::new(),
            }),
            title,
        }
    };
    let here = view.sampled_ratios().map(|ratio| {
        let sentence = remarks::by_threshold(view, ratio, metric);
        (format!("Ratio {}.", ratio.name()), sentence)
    });
    // Of the ratios that the paper has no figure of.
    let recall = remarks::paper("recall", 0).trim_start_matches("Not shown. ");
    let (id, title, paper) = match metric {
        Metric::Precision => (
            "precision",
            "Precision by ratio and threshold",
            vec![
                remarks::paper("precision", 4),
                remarks::paper("precision", 16),
            ],
        ),
        Metric::Recall => (
            "recall",
            "Recall by ratio and threshold",
            vec![remarks::paper("recall", 16), recall],
        ),
    };
    StudyFigure {
        id,
        title,
        about: format!(
            "Mean {} over the classes of a ratio (vertical) against the resemblance threshold \
             (horizontal): over all pairs, and over the pairs within a size group. The smallest and the \
             largest documents are labelled; the other groups are grey.",
            metric.text()
        ),
        panels: view.sampled_ratios().map(panel).collect(),
        paper,
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
            let counts = |t: &super::measure::Tried| t.counts(scope, drawn(scope), threshold);
            let values = ratio.trials.iter().filter_map(|t| counts(t).precision());
            Some(Strip {
                tone,
                x: number as f64,
                values: values.collect(),
                mean: ratio.precision(scope, drawn(scope), threshold).mean()?,
            })
        });
        strips.collect::<Vec<Strip>>()
    };
    let mut shown = vec![("All pairs".to_string(), strips(Scope::All, Tone::Ink))];
    if view.study.groups.len() > 1 {
        let words = group_name(view.words(Scope::Group(0)));
        shown.push((
            format!("Pairs within {words} words"),
            strips(Scope::Group(0), Tone::First),
        ));
    }
    let values = shown.iter().flat_map(|(_, strips)| strips);
    let values = values.flat_map(|strip| &strip.values);
    let least = values.copied().fold(1.0, f64::min);
    let panels = shown.into_iter().map(|(title, strips)| StudyPanel {
        csv: "spread.csv".into(),
        plot: (!strips.is_empty()).then(|| Plot {
            about: format!("{title}: precision of every class at threshold {at}"),
            x: Axis {
                title: String::new(),
                low: -0.5,
                high: ratios.len() as f64 - 0.5,
                logarithmic: false,
                ticks: (0..)
                    .zip(&ratios)
                    .map(|(k, ratio)| (f64::from(k), ratio_name(ratio.n)))
                    .collect(),
            },
            y: Axis::linear("", round_tenth_below(least), 1.0, 5),
            lines: Vec::new(),
            strips,
        }),
        title,
    });
    Some(StudyFigure {
        id: "classes",
        title: "How much the class decides",
        about: format!(
            "Precision (vertical) of a run with each class of each ratio (horizontal), at threshold {at}. \
             A dot is a class; the bar is the mean."
        ),
        panels: panels.collect(),
        paper: vec![remarks::paper("spread", 0)],
        here: vec![whole(remarks::spread(view, threshold))],
    })
}

/// Sizes of documents by rank.
fn sizes(view: &View) -> StudyFigure {
    let drawable = view.study.sizes.iter();
    let drawable = drawable.filter(|(rank, words)| *rank > 0 && *words > 0);
    let points: Vec<(f64, Option<f64>)> = drawable
        .map(|&(rank, words)| (rank as f64, Some(words as f64)))
        .collect();
    let mut lines = vec![PlotLine {
        label: "documents".into(),
        tone: Tone::Ink,
        points,
    }];
    if let Some(law) = power_law(&view.study.sizes) {
        let end = |rank: u64| {
            let rank = rank as f64;
            (rank, Some(law.scale * rank.powf(law.slope)))
        };
        lines.push(PlotLine {
            label: "fitted".into(),
            tone: Tone::Second,
            points: vec![end(law.ranks.0), end(law.ranks.1)],
        });
    }
    let title = "Words by rank".to_string();
    let plot = figure1_axes(view).map(|(x, y)| Plot {
        about: "Words of a document against its rank by size, on logarithmic axes".into(),
        x,
        y,
        lines,
        strips: Vec::new(),
    });
    StudyFigure {
        id: "sizes",
        title: "Sizes of documents",
        about: "Words of a document (vertical) against its rank by size (horizontal), on logarithmic axes, \
                and the documents and shingles in each size group."
            .into(),
        panels: vec![StudyPanel {
            csv: "figure1.csv".into(),
            plot,
            title,
        }],
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
        let there = match scope {
            Scope::Group(_) => gov(view.words(scope)),
            Scope::All => Some(whole),
        };
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
