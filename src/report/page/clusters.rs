//! The largest clusters.

use std::collections::HashMap;

use super::MEMBERS_SHOWN;
use super::choose::{Chosen, Member, ShownCluster, ShownDocument};
use super::frame::many;
use super::html::Html;
use crate::numbers::count;
use crate::pipeline::Summary;
use crate::report::wording::Wording;

pub(super) fn clusters_head(
    html: &mut Html,
    summary: &Summary,
    wording: &Wording<'_>,
    chosen: &Chosen,
) {
    html.raw("<section id=\"clusters\">\n<h2>Largest clusters</h2>\n");
    let all = summary.cluster.unwrap_or_default().clusters;
    if all == 0 {
        html.raw("<p>There are no clusters.</p>\n");
    } else {
        html.raw("<p>");
        let shown = chosen.clusters.len() as u64;
        if shown < all {
            html.text(&format!("{} of {}. ", count(shown), many(all, "cluster")));
        }
        html.raw("A cluster is a chain: each member is similar to some other member, but its ")
            .raw(wording.noun());
        html.raw(
            " to the first member, the representative, may be below the threshold. An exact duplicate has \
             the same words as an earlier member. All clusters are in <code>clusters.jsonl</code>.</p>\n",
        );
    }
}

/// If pairs are listed, a pair that is not in the list is below the threshold.
pub(super) fn one_cluster(
    html: &mut Html,
    cluster: &ShownCluster,
    wording: &Wording<'_>,
    listed: bool,
    documents: &HashMap<u32, ShownDocument>,
    open: bool,
) {
    html.raw(if open {
        "<details open><summary><b>"
    } else {
        "<details><summary><b>"
    });
    html.text(&many(cluster.members, "document")).raw("</b>");
    let near = cluster.members.saturating_sub(1 + cluster.exact);
    let representative = documents.get(&cluster.root);
    if let Some(document) = representative {
        html.isolated(document.title.as_deref().unwrap_or(&document.docno));
    }
    html.raw(" <span class=\"soft\">")
        .text(&format!(
            "({} near, {} exact)",
            count(near),
            count(cluster.exact)
        ))
        .raw("</span></summary><div class=\"in\">\n");
    if let Some(document) = representative {
        html.raw("<p>Representative: <strong>")
            .isolated(&document.docno)
            .raw("</strong>");
        if let Some(title) = &document.title {
            html.raw(", ").isolated(title);
        }
        if let Some(url) = &document.url {
            html.raw("<br>").link(url);
        }
        html.raw("</p>\n");
    }
    html.raw("<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">docno</th><th scope=\"col\">kind</th>");
    html.raw("<th scope=\"col\" class=\"n\">")
        .raw(wording.noun())
        .raw("</th><th scope=\"col\" class=\"n\">words</th>");
    html.raw("<th scope=\"col\">title</th><th scope=\"col\">address</th></tr></thead>\n<tbody>\n");
    for member in &cluster.shown {
        one_member(html, member, cluster.root, wording, listed, documents);
    }
    html.raw("</tbody></table></div>\n");
    if cluster.members > cluster.shown.len() as u64 {
        html.raw("<p class=\"soft\">")
            .text(&format!(
                "The first {MEMBERS_SHOWN} of {}.",
                many(cluster.members, "document")
            ))
            .raw("</p>\n");
    }
    html.raw("</div></details>\n");
}

fn one_member(
    html: &mut Html,
    member: &Member,
    root: u32,
    wording: &Wording<'_>,
    listed: bool,
    documents: &HashMap<u32, ShownDocument>,
) {
    let Some(document) = documents.get(&member.document) else {
        return;
    };
    html.raw("<tr><td class=\"name\">")
        .isolated(&document.docno)
        .raw("</td><td>");
    html.raw(if member.document == root {
        "representative"
    } else if member.first != member.document {
        "exact"
    } else {
        "near"
    });
    html.raw("</td><td class=\"n\">");
    match member.similarity {
        _ if member.first == root => {
            html.raw("1.000000");
        }
        Some((amount, (a, b))) => {
            html.text(&wording.measure.text(amount, a.into(), b.into()));
        }
        None => {
            let below = match listed {
                true => wording.below(),
                false => "not listed".into(),
            };
            html.raw("<span class=\"soft\">")
                .text(&below)
                .raw("</span>");
        }
    }
    html.raw("</td><td class=\"n\">")
        .text(&count(document.words))
        .raw("</td><td class=\"long\">");
    html.isolated(document.title.as_deref().unwrap_or_default())
        .raw("</td><td class=\"long\">");
    html.link(document.url.as_deref().unwrap_or_default())
        .raw("</td></tr>\n");
}
