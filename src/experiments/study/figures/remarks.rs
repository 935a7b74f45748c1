//! What the paper saw, and what this study shows: sentences made from numbers by rules.

use super::chart::thousands;
use super::charts::{pretty, signed, significant};
use super::fit::power_law;
use super::measure::{Measure, Ratio, Scope, View, bounds, value};
use super::plan::{Plan, plan};
use super::tables::drawn;

/// The paper's threshold for what it says in numbers.
const USUAL: f64 = 0.85;

/// Slopes of two halves of one straight line do not differ by more.
const STRAIGHT: f64 = 1.25;

const NO_THRESHOLDS: &str = "The study has no thresholds.";

/// Changes below this are said to be none: figures are given to two decimals.
const NOTICED: f64 = 0.005;

pub(super) const FIGURE1_PAPER: &str =
    "Document sizes in .GOV follow a power law: words against rank is a line on logarithmic axes.";

pub(super) fn figure1(view: &View) -> String {
    let Some(law) = power_law(&view.study.sizes) else {
        return "There are too few documents for a slope.".into();
    };
    let mut text = format!(
        "By least squares on logarithmic axes over ranks {} to {} the slope is {} and explains \
         {:.1} % of the variance",
        thousands(law.ranks.0),
        thousands(law.ranks.1),
        signed(law.slope),
        law.explained * 100.0,
    );
    if let Some((first, second)) = law.halves {
        let (less, more) = (first.abs().min(second.abs()), first.abs().max(second.abs()));
        let verdict = if more <= less * STRAIGHT {
            "much the same, as in a power law"
        } else {
            "so the sizes bend away from a power law"
        };
        text += &format!(
            "; over the first half of these ranks (on that axis) it is {}, over the second {}, \
             {verdict}",
            signed(first),
            signed(second)
        );
    }
    text + "."
}

pub(super) const TABLE3_PAPER: &str = "Documents of fewer than 500 words are 68 % of .GOV and have \
                                       17 % of its shingles; those of 9,000 words or more are 0.8 % \
                                       and have 14 %.";

pub(super) fn table3(view: &View) -> String {
    let all = view.whole(Scope::All);
    if all.documents == 0 || all.shingles == 0 {
        return "There are no documents with shingles.".into();
    }
    let one = |group: usize| {
        let here = view.whole(Scope::Group(group));
        let percent = |part: u64, whole: u64| significant(part as f64 * 100.0 / whole as f64);
        (
            percent(here.documents, all.documents),
            percent(here.shingles, all.shingles),
        )
    };
    let last = view.study.groups.len().saturating_sub(1);
    if last == 0 {
        return format!(
            "All {} documents, with {} shingles, are in one group.",
            thousands(all.documents),
            thousands(all.shingles)
        );
    }
    let ((documents, shingles), (documents_last, shingles_last)) = (one(0), one(last));
    format!(
        "{} has {documents} % of the {} documents and {shingles} % of the {} shingles; {} has \
         {documents_last} % and {shingles_last} %.",
        sentence(&group(view, 0)),
        thousands(all.documents),
        thousands(all.shingles),
        group(view, last),
    )
}

/// `group 0 (0–499 words)`.
fn group(view: &View, group: usize) -> String {
    let words = view.words(Scope::Group(group));
    match bounds(words) {
        Some((0, None)) => format!("group {group} (of any size)"),
        Some(_) => format!("group {group} ({} words)", pretty(words)),
        None => format!("group {group} ({words})"),
    }
}

/// With a capital.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// Is this number of the study the one that the paper names?
fn is(number: f64, of_paper: f64) -> bool {
    (number - of_paper).abs() < 1e-9
}

/// A measure of a ratio by threshold, and how to speak of it.
struct Course<'v, 'a> {
    view: &'v View<'a>,
    ratio: &'v Ratio<'a>,
    measure: Measure,
}

impl Course<'_, '_> {
    /// (threshold, mean), where defined.
    fn means(&self, scope: Scope) -> Vec<(usize, f64)> {
        let thresholds = 0..self.view.thresholds().len();
        thresholds
            .filter_map(|t| Some((t, self.mean(scope, t)?)))
            .collect()
    }

    fn mean(&self, scope: Scope, threshold: usize) -> Option<f64> {
        let spread = self
            .ratio
            .spread(self.measure, scope, drawn(scope), threshold);
        spread.mean()
    }

    fn threshold(&self, number: usize) -> String {
        let threshold = self.view.thresholds().get(number);
        threshold.map_or_else(String::new, ToString::to_string)
    }

    /// Groups in which it is defined at a threshold, the lowest first.
    fn groups(&self, threshold: usize) -> Vec<(usize, f64)> {
        let groups = 0..self.view.study.groups.len();
        let mut means: Vec<(usize, f64)> = groups
            .filter_map(|g| Some((g, self.mean(Scope::Group(g), threshold)?)))
            .collect();
        means.sort_by(|a, b| a.1.total_cmp(&b.1));
        means
    }

    /// How many pairs a group's number rests on: a few say little.
    fn true_pairs(&self, group: usize, threshold: usize) -> String {
        let scope = Scope::Group(group);
        let trial = self.ratio.trials.first();
        let counts = trial.map(|t| t.counts(scope, drawn(scope), threshold));
        match counts.unwrap_or_default().true_pairs() {
            0 => "no true pairs".into(),
            1 => "1 true pair".into(),
            n => format!("{} true pairs", thousands(n)),
        }
    }

    /// How it goes over all pairs, from the first threshold to the last; no full stop.
    fn whole(&self) -> Option<String> {
        let means = self.means(Scope::All);
        let (&(t0, first), &(t1, last)) = (means.first()?, means.last()?);
        let (name, ratio) = (self.measure.name(), self.ratio.name());
        let (at0, at1) = (self.threshold(t0), self.threshold(t1));
        if t0 == t1 {
            let text = format!("{name} over all pairs at {ratio} is {first:.2} at threshold {at0}");
            return Some(sentence(&text));
        }
        let verb = if last < first - NOTICED {
            "falls"
        } else {
            "rises"
        };
        let mut text = if (last - first).abs() <= NOTICED {
            format!(
                "{name} over all pairs at {ratio} is {first:.2} at threshold {at0} and {last:.2} at \
                 {at1}"
            )
        } else {
            format!(
                "{name} over all pairs at {ratio} {verb} from {first:.2} at threshold {at0} to \
                 {last:.2} at {at1}"
            )
        };
        let lowest = means.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        if lowest.1 < first.min(last) - NOTICED {
            text += &format!(
                ", with {:.2} at {} between them",
                lowest.1,
                self.threshold(lowest.0)
            );
        }
        Some(sentence(&text))
    }

    /// Which group falls most from its first threshold to its last.
    fn steepest(&self) -> Option<String> {
        let groups = 0..self.view.study.groups.len();
        let falls: Vec<(usize, f64, usize)> = groups
            .filter_map(|g| {
                let means = self.means(Scope::Group(g));
                (means.len() > 1).then_some(())?;
                Some((g, means.first()?.1 - means.last()?.1, means.last()?.0))
            })
            .collect();
        if falls.len() < 2 {
            return None;
        }
        // The first of several, which is the group of the smaller documents.
        let &(most, fall, last) = falls.iter().min_by(|a, b| b.1.total_cmp(&a.1))?;
        if fall < NOTICED {
            return Some("it falls in no group".into());
        }
        let mut text = format!(
            "it falls most in {}, by {fall:.2} ({} at {})",
            group(self.view, most),
            self.true_pairs(most, last),
            self.threshold(last)
        );
        if most != 0
            && let Some((_, smallest, _)) = falls.iter().find(|(g, ..)| *g == 0)
        {
            let by = if *smallest < NOTICED {
                "not at all".into()
            } else {
                format!("by {smallest:.2}")
            };
            text += &format!(", and in group 0 {by}");
        }
        Some(text)
    }
}

pub(super) fn precision_paper(n: u32) -> &'static str {
    match n {
        4 => {
            "Figure 2(a): precision falls as the threshold rises, in group 0 most, and stays high \
             for large documents."
        }
        16 => {
            "Figure 2(b): at 0.85 precision is 0.57 in group 0 and 0.70 overall; in groups under \
             3,000 words it is below 0.1 above 0.95."
        }
        2 | 8 => "Not shown; it is said to behave as at 1/4 and 1/16.",
        _ => "Precision at this ratio is not shown.",
    }
}

pub(super) fn precision(view: &View, ratio: &Ratio) -> String {
    let course = Course {
        view,
        ratio,
        measure: Measure::Precision,
    };
    if view.thresholds().is_empty() {
        return NO_THRESHOLDS.into();
    }
    let Some(whole) = course.whole() else {
        return format!("No run at {} found any pair.", ratio.name());
    };
    let mut text = whole;
    if let Some(steepest) = course.steepest() {
        text += &format!("; {steepest}");
    }
    text += ".";
    if let Some(usual) = view.nearest_threshold(USUAL) {
        let there = view.thresholds().get(usual).map(|&t| value(t));
        let compared = ratio.n == 16 && there.is_some_and(|t| is(t, USUAL));
        text += &at_usual(&course, usual, compared);
    }
    if ratio.n == 16 {
        text += &above_095(&course).unwrap_or_default();
    }
    text
}

/// Precision at the usual threshold: overall, lowest, in group 0.
fn at_usual(course: &Course, usual: usize, compared: bool) -> String {
    let groups = course.groups(usual);
    let (lowest, highest) = (groups.first(), groups.last());
    let apart = match (lowest, highest) {
        (Some(low), Some(high)) => high.1 - low.1 > NOTICED,
        _ => false,
    };
    let notes = |group: Option<usize>, paper: &str| {
        let mut notes = Vec::new();
        if apart && group.is_some() && group == lowest.map(|g| g.0) {
            notes.push("the lowest".to_string());
        }
        if apart && group.is_some() && group == highest.map(|g| g.0) {
            notes.push("the highest".to_string());
        }
        if compared && !paper.is_empty() {
            notes.push(format!("the paper saw {paper}"));
        }
        if notes.is_empty() {
            String::new()
        } else {
            format!(" ({})", notes.join("; "))
        }
    };
    let mut parts = Vec::new();
    if let Some(all) = course.mean(Scope::All, usual)
        && (compared || course.view.thresholds().len() > 1)
    {
        parts.push(format!("{all:.2} overall{}", notes(None, "0.70")));
    }
    if let Some((_, mean)) = groups.iter().find(|(g, _)| *g == 0)
        && (compared || course.view.study.groups.len() > 1)
    {
        let notes = notes(Some(0), "0.57");
        parts.push(format!("{mean:.2} in group 0{notes}"));
    }
    let others = [lowest, highest].into_iter().flatten();
    for &(group, mean) in others.filter(|(group, _)| apart && *group != 0) {
        let notes = notes(Some(group), "");
        parts.push(format!("{mean:.2} in group {group}{notes}"));
    }
    let Some(last) = parts.pop() else {
        return String::new();
    };
    let list = if parts.is_empty() {
        last
    } else {
        format!("{} and {last}", parts.join(", "))
    };
    format!(" At {} it is {list}.", course.threshold(usual))
}

/// The paper: below 0.1 in groups under 3,000 words, above 0.95.
fn above_095(course: &Course) -> Option<String> {
    let thresholds = course.view.thresholds().iter().enumerate();
    let high: Vec<usize> = thresholds
        .filter(|(_, t)| t.numerator() * 100 > t.denominator() * 95)
        .map(|(number, _)| number)
        .collect();
    let small = course
        .view
        .study
        .groups
        .iter()
        .enumerate()
        .filter(|(_, words)| matches!(bounds(words), Some((_, Some(last))) if last < 3000));
    let means = small.flat_map(|(group, _)| {
        let high = &high;
        high.iter()
            .filter_map(move |&t| Some((group, t, course.mean(Scope::Group(group), t)?)))
    });
    let (group, threshold, most) = means.max_by(|a, b| a.2.total_cmp(&b.2))?;
    Some(format!(
        " Above 0.95, groups under 3,000 words have at most {most:.2} (group {group} at {}); the \
         paper saw less than 0.1.",
        course.threshold(threshold)
    ))
}

pub(super) fn recall_paper(n: u32) -> &'static str {
    match n {
        16 => {
            "Figure 3: the least recall is above 0.6, and it hardly falls as the threshold rises."
        }
        _ => {
            "Not shown; sampling is said to cost recall only among small documents, of which too \
             little is sampled."
        }
    }
}

pub(super) fn recall(view: &View, ratio: &Ratio) -> String {
    let course = Course {
        view,
        ratio,
        measure: Measure::Recall,
    };
    if view.thresholds().is_empty() {
        return NO_THRESHOLDS.into();
    }
    let Some(mut text) = course.whole() else {
        return "No pair reaches any of the thresholds.".into();
    };
    let thresholds = 0..view.thresholds().len();
    let each = thresholds.flat_map(|t| {
        let groups = course.groups(t);
        groups.first().map(|&(group, mean)| (group, t, mean))
    });
    if let Some((lowest, threshold, mean)) = each.min_by(|a, b| a.2.total_cmp(&b.2)) {
        text += &format!(
            "; the least of a group is {mean:.2}, in {} at {} ({})",
            group(view, lowest),
            course.threshold(threshold),
            course.true_pairs(lowest, threshold)
        );
        if ratio.n == 16 {
            text += if mean > 0.6 {
                ", above 0.6 as in the paper"
            } else {
                ", where the paper has more than 0.6"
            };
        }
    }
    let all = view.whole(Scope::All).documents;
    let empty = ratio
        .trials
        .iter()
        .map(|t| t.sizes(Scope::All).nothing_sampled);
    if let Some(empty) = super::measure::mean(empty)
        && all > 0
    {
        text += &if empty > 0.0 {
            let percent = significant(empty * 100.0 / all as f64);
            format!(". Of {percent} % of the documents nothing is sampled")
        } else {
            ". Of every document something is sampled".into()
        };
    }
    text + "."
}

pub(super) const FIGURE4_PAPER: &str = "Size groups with their own ratios, 1/2 to 1/16, need 8 % of the \
                                        shingles for precision 0.8 at threshold 0.6 (4.72 % with 1/32 \
                                        too), and 5.55 % for 0.85 at 0.85.";

pub(super) fn figure4(view: &View) -> String {
    if view.sampled_ratios().next().is_none() {
        return "No sampled run was made.".into();
    }
    let share = |share: Option<f64>| share.map(|share| significant(share * 100.0));
    let mut parts = Vec::new();
    let mut without_pairs = 0;
    for (target, wanted, paper) in [(80, 0.6, "8 %"), (85, USUAL, "5.55 %")] {
        let Some(threshold) = view.nearest_threshold(wanted) else {
            return NO_THRESHOLDS.into();
        };
        let Plan {
            share: by_group,
            uniform_share,
            without_pairs: none,
            ..
        } = plan(view, target, threshold);
        let (Some(by_group), Some(uniform)) = (share(by_group), share(uniform_share)) else {
            return "There are no shingles to process.".into();
        };
        let Some(&at) = view.thresholds().get(threshold) else {
            continue;
        };
        let compared = if is(value(at), wanted) {
            format!(" (the paper: {paper})")
        } else {
            String::new()
        };
        without_pairs = none;
        parts.push(format!(
            "precision {} at threshold {at} takes {by_group} % of the shingles with a ratio for each \
             group{compared} and {uniform} % with one for all",
            f64::from(target) / 100.0
        ));
    }
    let mut text = sentence(&parts.join("; ")) + ".";
    let groups = view.study.groups.len();
    if without_pairs == groups {
        text += " No group has pairs of its own, so each takes the coarsest ratio.";
    } else if without_pairs > 0 {
        let (have, take) = match without_pairs {
            1 => ("has", "takes"),
            _ => ("have", "take"),
        };
        text += &format!(
            " In the last, {without_pairs} of {groups} groups {have} no pairs and {take} the \
             coarsest ratio."
        );
    }
    text
}

pub(super) const SPREAD_PAPER: &str =
    "There are only slight differences between the classes of a ratio, in precision and recall.";

pub(super) fn spread(view: &View, threshold: usize) -> String {
    let over = |ratio: &Ratio, scope| {
        let spread = ratio.precision(scope, drawn(scope), threshold);
        spread.moments.map(|m| (spread.defined, m))
    };
    if view.sampled_ratios().next().is_none() {
        return "No sampled run was made.".into();
    }
    let measured: Vec<_> = view
        .sampled_ratios()
        .filter_map(|ratio| Some((ratio, over(ratio, Scope::All)?)))
        .collect();
    let width = |(_, (_, m)): &(_, (usize, super::measure::Moments))| m.greatest - m.least;
    let widest = measured.iter().max_by(|a, b| width(a).total_cmp(&width(b)));
    let Some((ratio, (classes, moments))) = widest else {
        return "No sampled run found any pair.".into();
    };
    let at = view
        .thresholds()
        .get(threshold)
        .map_or_else(String::new, ToString::to_string);
    let name = ratio.name();
    if measured.iter().all(|(_, (classes, _))| *classes < 2) {
        return format!(
            "No ratio has more than one class with pairs; precision at {at} and {name} is {:.2}.",
            moments.mean
        );
    }
    let mut text = format!(
        "Over all pairs at {at} precision differs most between the {classes} classes of {name}, from \
         {:.3} to {:.3} (standard deviation {:.3})",
        moments.least, moments.greatest, moments.deviation
    );
    if view.study.groups.len() > 1
        && let Some((_, moments)) = over(ratio, Scope::Group(0))
    {
        text += &format!(
            "; in group 0 it is there between {:.3} and {:.3}",
            moments.least, moments.greatest
        );
    }
    text + "."
}
