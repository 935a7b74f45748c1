//! The section of a sampling study, if there is one: `study/figures.json`, the SVGs that it names,
//! and the comparison of runs in `study/study.json`.

use std::path::Path;

use serde::Deserialize;

use super::html::Html;
use crate::experiments::study::{COST_FILE, DIRECTORY, FORMAT, MeanAndRange, StudyComparison};
use crate::numbers::{self, count, fraction};
use crate::store::disk;
use crate::{Error, Result};

/// Size limit of a figure in bytes. Ours have some ten thousand.
const MOST_BYTES: u64 = 4 << 20;

/// Size limit of all figures together in bytes. They are in memory, and their text in the page is a
/// third longer.
const MOST_TOGETHER: u64 = 8 << 20;

/// An entry of `figures.json`.
#[derive(Debug, Deserialize)]
struct FigureEntry {
    file: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    paper: String,
    #[serde(default)]
    here: String,
}

/// A figure and its sentences.
#[derive(Debug)]
pub(super) struct Figure {
    pub file: String,
    pub title: String,
    /// The paper's claim.
    pub paper: String,
    /// The numbers of this study.
    pub here: String,
    /// The file of the figure, or the reason why it is not shown; `None` for a table.
    pub svg: Option<std::result::Result<Vec<u8>, String>>,
}

/// The figures of a directory, in the order of their list; none if there is no list.
pub(super) fn figures(directory: &Path) -> Result<Vec<Figure>> {
    let list = directory.join(DIRECTORY).join("figures.json");
    if !disk::exists(&list)? {
        return Ok(Vec::new());
    }
    let entries: Vec<FigureEntry> =
        serde_json::from_slice(&bounded(&list, MOST_BYTES)?).map_err(|e| Error::Corrupt {
            path: list.clone(),
            offset_bytes: None,
            what: "list of figures".into(),
            expected: "JSON: file, title, paper, here of each".into(),
            found: e.to_string(),
        })?;
    let mut left = MOST_TOGETHER;
    let mut figures = Vec::new();
    for entry in entries {
        let FigureEntry {
            file,
            title,
            paper,
            here,
        } = entry;
        let svg = file.ends_with(".svg").then(|| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            if !file.chars().all(plain) {
                return Err(
                    "its name is not that of a file in the same directory as the list".into(),
                );
            }
            let bytes = bounded(&directory.join(DIRECTORY).join(&file), MOST_BYTES.min(left))
                .map_err(|error| error.to_string())?;
            left = left.saturating_sub(bytes.len() as u64);
            Ok(bytes)
        });
        figures.push(Figure {
            file,
            title,
            paper,
            here,
            svg,
        });
    }
    Ok(figures)
}

/// Exact and sampled runs side by side; `None` if there is no study.
pub(super) fn comparison(directory: &Path) -> Result<Option<StudyComparison>> {
    #[derive(Deserialize)]
    struct Versioned {
        format: u32,
    }
    #[derive(Deserialize)]
    struct Costs {
        comparison: StudyComparison,
    }
    let path = directory.join(DIRECTORY).join(COST_FILE);
    if !disk::exists(&path)? {
        return Ok(None);
    }
    let json = bounded(&path, MOST_BYTES)?;
    let corrupt = |e: serde_json::Error| Error::Corrupt {
        path: path.clone(),
        offset_bytes: None,
        what: "costs of a study".into(),
        expected: "JSON with a comparison".into(),
        found: e.to_string(),
    };
    // Checked before the fields are read: another format may have other fields.
    let Versioned { format } = serde_json::from_slice(&json).map_err(corrupt)?;
    if format != FORMAT {
        return Err(Error::Version {
            path,
            found: format,
            least: FORMAT,
            most: FORMAT,
        });
    }
    let costs: Costs = serde_json::from_slice(&json).map_err(corrupt)?;
    Ok(Some(costs.comparison))
}

/// Reads a file of at most `most` bytes.
fn bounded(path: &Path, most: u64) -> Result<Vec<u8>> {
    let size = disk::size(path)?;
    if size > most {
        return Err(Error::TooLong {
            path: path.into(),
            expected: most,
            found: size,
        });
    }
    disk::read_all(path)
}

pub(super) fn section(html: &mut Html, compared: Option<&StudyComparison>, figures: &[Figure]) {
    html.raw("<section id=\"study\" class=\"study\">\n<h2>Sampling study</h2>\n");
    html.raw(
        "<p>The accuracy of runs that use a sample of the shingles, on this collection and as ",
    );
    html.raw("Ye, Wen &amp; Ma (2008) reported it for theirs.</p>\n");
    if let Some(compared) = compared {
        comparison_table(html, compared);
    }
    for figure in figures {
        let title = match figure.title.as_str() {
            "" => &figure.file,
            title => title,
        };
        html.raw("<h3>").text(title).raw("</h3>\n");
        match &figure.svg {
            Some(Ok(svg)) => {
                html.raw("<figure class=\"scroll\">\n")
                    .image(svg, title)
                    .raw("\n</figure>\n");
            }
            Some(Err(problem)) => {
                html.raw("<p class=\"note\">study/")
                    .text(&figure.file)
                    .raw(" is not shown: ")
                    .text(problem)
                    .raw(".</p>\n");
            }
            None => {
                html.raw("<p class=\"soft\">study/")
                    .text(&figure.file)
                    .raw("</p>\n");
            }
        }
        for (who, sentence) in [("In the paper: ", &figure.paper), ("Here: ", &figure.here)] {
            if !sentence.is_empty() {
                html.raw("<p><span class=\"soft\">")
                    .text(who)
                    .raw("</span>")
                    .text(sentence)
                    .raw("</p>\n");
            }
        }
    }
    html.raw("</section>\n");
}

/// Exact, sampled, verified and planned runs side by side.
fn comparison_table(html: &mut Html, of: &StudyComparison) {
    html.raw("<h3>What to choose</h3>\n<p><strong>")
        .text(&of.verdict)
        .raw("</strong></p>\n<p>Of the pairs that a run lists at ")
        .show(of.threshold)
        .raw(
            " or above, <em>precision</em> is the share that is true. Of the true pairs, <em>recall</em> is the \
             share that the run lists. A run at 1/16 sorts one of sixteen classes of shingles. The table has \
             the mean over all classes and, in grey, the worst and the best class. A <em>verified</em> run \
             checks each pair in the full sets if the sample estimates at least the given resemblance, so \
             that no listed pair is false. A <em>plan</em> gives each size group the smallest ratio that \
             keeps the given precision. <em>Not sampled</em> are documents without a shingle in the \
             sample: no pair contains them.</p>\n\
             <div class=\"scroll\"><table>\n<thead><tr><th>Run</th><th class=\"n\">Shingles sorted</th>\
             <th class=\"n\">Precision</th><th class=\"n\">Recall</th><th class=\"n\">Pairs</th>\
             <th class=\"n\">Verified pairs</th><th class=\"n\">Not sampled</th>\
             <th class=\"n\">CPU seconds</th></tr></thead>\n<tbody>\n",
        );
    for row in &of.rows {
        html.raw("<tr><td>")
            .text(&row.name)
            .raw("</td><td class=\"n\">")
            .text(&numbers::percent(row.share, 2))
            .raw("</td>");
        spread(html, row.precision);
        spread(html, row.recall);
        for n in [row.found, row.looked_up, row.nothing_sampled] {
            html.raw("<td class=\"n\">");
            if n == 0.0 {
                html.raw("&ndash;");
            } else {
                html.text(&count(n.round() as u64));
            }
            html.raw("</td>");
        }
        html.raw("<td class=\"n\">");
        match row.cpu_seconds {
            None => html.raw("&ndash;"),
            Some(seconds) => html.show(format_args!("{seconds:.2}")),
        };
        html.raw("</td></tr>\n");
    }
    html.raw("</tbody></table></div>\n<p class=\"soft\">CPU seconds count the way from the collection to the pairs at ")
        .show(of.lowest)
        .raw(", the lowest threshold of the study. Reading the collection took ")
        .show(format_args!("{:.1}", of.reading_seconds))
        .raw(" CPU seconds more.</p>\n");
}

/// A share with its spread over classes.
fn spread(html: &mut Html, spread: Option<MeanAndRange>) {
    html.raw("<td class=\"n\">");
    match spread {
        None => html.raw("&ndash;"),
        Some(s) if s.least == s.greatest => html.text(&fraction(s.mean, 3)),
        Some(s) => html
            .text(&fraction(s.mean, 3))
            .raw(" <span class=\"soft\">")
            .text(&format!(
                "{} to {}",
                fraction(s.least, 3),
                fraction(s.greatest, 3)
            ))
            .raw("</span>"),
    };
    html.raw("</td>");
}
