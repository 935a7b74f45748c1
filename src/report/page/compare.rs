//! The page of a comparison of methods.

use super::html::Html;
use crate::budget::ByteSize;
use crate::experiments::compare::{Comparison, Families, TableFile};
use crate::methods::Spec;
use crate::numbers::{self, count, counted};

/// Limit on the families that have a row.
const FAMILIES_SHOWN: usize = 50;

/// The whole page.
pub(crate) fn page(comparison: &Comparison, specs: &[Spec], figures: &[TableFile]) -> Vec<u8> {
    let mut html = Html::default();
    super::old_frame::head(&mut html, "Methods side by side");
    let (documents, representatives) = (comparison.documents, comparison.representatives);
    html.raw("<p>")
        .show(counted(documents, "document"))
        .raw(". ")
        .show(count(representatives))
        .raw(
            " of them are not exact duplicates of earlier ones. Only these are compared, because every \
             method finds exact duplicates.</p>\n<nav aria-label=\"Contents\"><a href=\"#found\">Results and costs</a>\
             <a href=\"#accuracy\">Precision and recall</a><a href=\"#agreement\">Agreement</a>",
        );
    if comparison.families.is_some() {
        html.raw("<a href=\"#copies\">Edited copies</a>");
    }
    html.raw("<a href=\"#methods\">The methods</a></nav>\n</header>\n<main>\n");
    found(&mut html, comparison);
    accuracy(&mut html, comparison);
    agreement(&mut html, comparison);
    if let Some(families) = &comparison.families {
        copies(&mut html, comparison, families, figures);
    }
    methods(&mut html, specs);
    html.raw("</main>\n</body>\n</html>\n");
    html.as_bytes().to_vec()
}

/// A table of numbers: the first cell of a row names it.
fn table(html: &mut Html, head: &[&str], rows: &[Vec<String>]) {
    rows_of(html, head, rows, true);
}

fn rows_of(html: &mut Html, head: &[&str], rows: &[Vec<String>], numbers: bool) {
    html.raw("<div class=\"scroll\">\n<table>\n<thead><tr>");
    for (n, cell) in head.iter().enumerate() {
        html.raw(if n == 0 || !numbers {
            "<th scope=\"col\">"
        } else {
            "<th scope=\"col\" class=\"n\">"
        })
        .text(cell)
        .raw("</th>");
    }
    html.raw("</tr></thead>\n<tbody>\n");
    for row in rows {
        html.raw("<tr>");
        for (n, cell) in row.iter().enumerate() {
            if n == 0 {
                html.raw("<th scope=\"row\">").isolated(cell).raw("</th>");
            } else {
                html.raw(if numbers {
                    "<td class=\"n\">"
                } else {
                    "<td class=\"long\">"
                })
                .text(cell)
                .raw("</td>");
            }
        }
        html.raw("</tr>\n");
    }
    html.raw("</tbody>\n</table>\n</div>\n");
}

fn percent(value: Option<f64>) -> String {
    value.map_or("–".into(), |value| numbers::percent(value, 1))
}

fn share(part: u64, whole: u64) -> String {
    percent((whole > 0).then(|| part as f64 / whole as f64))
}

fn found(html: &mut Html, comparison: &Comparison) {
    html.raw(
        "<section id=\"found\">\n<h2>Results and costs</h2>\n<p>Ignored: documents without features, \
         which the method cannot find. Peak memory: resident memory of the process that ran the method. \
         Times and disk space do not include reading the collection, which all methods share.</p>\n",
    );
    let head = [
        "method",
        "ignored",
        "features per document",
        "pairs",
        "clusters",
        "documents in clusters",
        "largest cluster",
        "CPU time (s)",
        "wall time (s)",
        "peak memory",
        "disk space",
    ];
    let whole = comparison.representatives.max(1) as f64;
    let rows = comparison.methods.iter().map(|row| {
        vec![
            row.method.clone(),
            count(row.ignored),
            format!("{:.1}", row.keys as f64 / whole),
            count(row.pairs),
            count(row.clusters),
            count(row.documents),
            count(row.largest),
            format!("{:.1}", row.cpu_seconds),
            format!("{:.1}", row.wall_seconds),
            ByteSize(row.peak_bytes).to_string(),
            ByteSize(row.disk_bytes).to_string(),
        ]
    });
    table(html, &head, &rows.collect::<Vec<_>>());
    html.raw("</section>\n");
}

fn accuracy(html: &mut Html, comparison: &Comparison) {
    html.raw(
        "<section id=\"accuracy\">\n<h2>Precision and recall</h2>\n<p>Precision: the share of a method's pairs \
         that are in the ground truth. Recall: the share of the pairs of the ground truth that the method \
         finds. Utility: the number of true pairs minus a cost for each false one (Kołcz &amp; Chowdhury \
         2008, equation 5). A ground truth is itself the result of a method: two documents that it does \
         not pair may still be near-duplicates for a reader.</p>\n",
    );
    let first = comparison.methods.first();
    for (n, against) in first.iter().flat_map(|row| &row.against).enumerate() {
        html.raw("<h3>Against ")
            .isolated(&against.truth)
            .raw(": ")
            .show(counted(against.true_pairs, "pair"))
            .raw("</h3>\n");
        let rows = comparison.methods.iter().filter_map(|row| {
            let against = row.against.get(n)?;
            Some(vec![
                row.method.clone(),
                count(row.pairs),
                count(against.found),
                percent(against.precision),
                percent(against.recall),
                against.utility.to_string(),
            ])
        });
        let head = [
            "method",
            "pairs",
            "true pairs",
            "precision",
            "recall",
            "utility",
        ];
        table(html, &head, &rows.collect::<Vec<_>>());
    }
    html.raw("</section>\n");
}

fn agreement(html: &mut Html, comparison: &Comparison) {
    let agreement = &comparison.agreement;
    let all = agreement.by_methods.last().copied().unwrap_or(0);
    html.raw("<section id=\"agreement\">\n<h2>Agreement</h2>\n<p>")
        .raw("Found by any method: ")
        .show(counted(agreement.any, "pair"))
        .raw("; ")
        .show(count(all))
        .raw(
            " by all methods. Each row shows the share of its method's pairs that the method of the column \
             finds too, and the number of pairs found only by this method.</p>\n",
        );
    let mut head = vec!["method"];
    head.extend(comparison.methods.iter().map(|row| row.method.as_str()));
    head.push("only by this method");
    let rows = comparison.methods.iter().enumerate().map(|(a, row)| {
        let own = agreement.both[a][a];
        let mut cells = vec![row.method.clone()];
        cells.extend(agreement.both[a].iter().map(|&both| share(both, own)));
        cells.push(count(agreement.alone[a]));
        cells
    });
    table(html, &head, &rows.collect::<Vec<_>>());
    html.raw("<h3>Pairs by the number of methods that found them</h3>\n");
    let rows = agreement.by_methods.iter().enumerate().map(|(n, &pairs)| {
        vec![
            format!("{}", n + 1),
            count(pairs),
            share(pairs, agreement.any),
        ]
    });
    table(
        html,
        &["methods", "pairs", "share"],
        &rows.collect::<Vec<_>>(),
    );
    html.raw("</section>\n");
}

fn copies(html: &mut Html, comparison: &Comparison, families: &Families, figures: &[TableFile]) {
    html.raw("<section id=\"copies\">\n<h2>Edited copies</h2>\n<p>")
        .show(counted(families.copies, "copy"))
        .raw(" of ")
        .show(counted(families.originals, "original"))
        .raw(
            ". An original and its copies are a family. A document is found if its cluster has another \
             document of its family. A perfect method makes one cluster of each family (Chowdhury et al. \
             2002, Tables III and IV).</p>\n",
        );
    let members: u64 = families.rows.iter().map(|row| row.documents).sum();
    let rows = comparison.methods.iter().enumerate().map(|(n, method)| {
        let found: u64 = families.rows.iter().map(|row| row.found[n]).sum();
        let clusters: u64 = families.rows.iter().map(|row| row.clusters[n]).sum();
        vec![
            method.method.clone(),
            share(found, members),
            format!("{:.1}", clusters as f64 / families.originals.max(1) as f64),
        ]
    });
    let head = ["method", "documents found", "clusters per family"];
    table(html, &head, &rows.collect::<Vec<_>>());
    for figure in figures {
        html.raw("<figure class=\"scroll\">\n")
            .image(figure.text.as_bytes(), figure.name)
            .raw("\n</figure>\n");
    }
    html.raw(
        "<p>The first figure shows the similarity of copies to their original by each method's own measure, on \
         average over the copies with the same number of edits. For a method that counts common features, \
         it shows the resemblance of the feature sets. The second figure shows the same between \
         originals, which are different documents: the further to the left a line rises, the less similar \
         the method finds them (Cherkasova et al. 2009, Figures 2 to 8).</p>\n\
         <details>\n<summary>Each original</summary>\n",
    );
    let mut head = vec!["original", "documents"];
    head.extend(comparison.methods.iter().map(|row| row.method.as_str()));
    let rows = families.rows.iter().take(FAMILIES_SHOWN).map(|row| {
        let mut cells = vec![row.original.clone(), row.documents.to_string()];
        let each = row.found.iter().zip(&row.clusters);
        cells.extend(
            each.map(|(&found, clusters)| format!("{} in {clusters}", share(found, row.documents))),
        );
        cells
    });
    table(html, &head, &rows.collect::<Vec<_>>());
    html.raw("</details>\n</section>\n");
}

fn methods(html: &mut Html, specs: &[Spec]) {
    html.raw("<section id=\"methods\">\n<h2>The methods</h2>\n");
    let rows = specs.iter().map(|spec| {
        let entry = spec.entry();
        vec![
            spec.to_string(),
            entry.about.to_string(),
            entry.paper.to_string(),
            spec.whole(),
        ]
    });
    let head = ["method", "what it does", "paper", "all parameters"];
    rows_of(html, &head, &rows.collect::<Vec<_>>(), false);
    html.raw("</section>\n");
}
