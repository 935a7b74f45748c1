//! The clusters: the largest as a table each, and all of them as data for the script, which lists,
//! searches and opens them.

use super::choose::{Member, ShownCluster};
use super::documents::{PageDocuments, title};
use super::frame::{Sheet, many};
use super::markup::{Markup, html, isolated};
use super::pairs::{compared, names};
use super::panels::{short, table};
use super::{Page, Texts};
use lookalike_base::{Measure, Result, count};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The head of the section, with the controls of the list, which the script shows.
pub(super) fn head(page: &Page<'_>) -> Markup {
    let wording = page.wording;
    let all = page.summary.cluster.unwrap_or_default().clusters;
    let listed = page.chosen.clusters.len() as u64;
    let noun = wording.noun();
    html! {
        h2 { "Clusters" }
        @if all > 0 {
            p {
                "A cluster is a chain: each member reaches the threshold with some other member, but its "
                (noun) " to the first member, the representative, may be below it"
                @if page.wording.condition.is_some() {
                    ", or the condition leaves that pair out, which has no score then"
                }
                ". All clusters are in "
                code { "clusters.jsonl" } "."
                @if listed < all {
                    " This page lists the largest " (count(listed)) " of " (many(all, "cluster")) "; "
                    code { "lookalike report --split" } " makes pages of all."
                }
            }
            div #tools hidden {
                div.tools role="search" {
                    label.wide { "Find by name, address, title or beginning"
                        input #search type="search" autocomplete="off" spellcheck="false"; }
                    label { "Size, at least" input #least type="number" min="2" value="2"; }
                    label { "Lowest " (noun) " up to" input #most type="number" min="0" step="any"; }
                    label { "Kind" select #kind {
                        option value="all" { "all clusters" }
                        option value="near" { "with near-duplicates" }
                        option value="exact" { "exact duplicates only" }
                        option value="chain" { "with members below the threshold" }
                    } }
                    label { "Order" select #order {
                        option value="size" { "largest first" }
                        option value="low" { "lowest " (noun) " first" }
                        option value="high" { "highest " (noun) " first" }
                        option value="name" { "by name" }
                    } }
                }
                p #matches.soft.small role="status" {}
            }
            div #columns.cluster-line hidden aria-hidden="true" {
                span { "Cluster" } span.range-of { (noun) } span.size { "Documents" }
            }
            ul #list.list {}
            button #more type="button" hidden { "Show more" }
        }
    }
}

/// A cluster as a table. If pairs are listed, a pair that is not in the list is below the
/// threshold.
pub(super) fn one_cluster(
    page: &Page<'_>,
    cluster: &ShownCluster,
    most: usize,
    open: bool,
) -> Markup {
    let near = cluster.members.saturating_sub(1 + cluster.exact);
    let representative = page.chosen.documents.get(&cluster.root);
    let shown = cluster.shown.len().min(most);
    let name = representative.map(title);
    html! {
        details id={ "c" (cluster.number) } open[open] {
            summary {
                (isolated(name.unwrap_or_default())) " "
                span.soft.small {
                    (many(cluster.members, "document")) ": " (count(near)) " near, "
                    (count(cluster.exact)) " exact"
                }
            }
            div.in {
                (table("", &[&["docno", "kind", &format!(">{}", page.wording.noun())], &MEMBER[..]].concat(), &html! {
                    @for member in cluster.shown.iter().take(shown) {
                        (one_member(page, cluster, member))
                    }
                }))
                @if cluster.members > shown as u64 {
                    p.soft { "The first " (shown) " of " (many(cluster.members, "document")) "." }
                }
                (texts(page, cluster))
            }
        }
    }
}

/// Each different member side by side with the representative, or links to these texts.
fn texts(page: &Page<'_>, cluster: &ShownCluster) -> Markup {
    let there = match page.texts {
        Texts::Here(texts) => {
            let members = cluster.shown.iter().filter(|member| {
                texts.contains(&member.document) && member.document != cluster.root
            });
            return html! { @for member in members { (beside(page, cluster, member, false)) } };
        }
        Texts::There(pages) => pages.get(&cluster.number),
    };
    html! {
        @if let Some(file) = there {
            p { a href={ (file) "#t" (cluster.number) } { "The texts side by side" } }
        }
    }
}

/// The texts of a member and of the representative, side by side.
pub(super) fn beside(
    page: &Page<'_>,
    cluster: &ShownCluster,
    member: &Member,
    open: bool,
) -> Markup {
    let Some(pair) = page.documents.both([cluster.root, member.document]) else {
        return html! {};
    };
    let score = match &member.link {
        Some(link) => short(&link.score(page.wording.measure)),
        None => page.wording.unlisted(),
    };
    html! {
        details.pair id={ "pair-" (cluster.root) "-" (member.document) } open[open] {
            summary {
                (names(pair[1], "beside", pair[0])) " "
                span.soft.small { @if page.listed || member.link.is_some() { (score) } }
            }
            div.in { (compared(page.documents, pair)) }
        }
    }
}

fn kind(cluster: &ShownCluster, member: &Member) -> &'static str {
    if member.document == cluster.root {
        "representative"
    } else if member.first != member.document {
        "exact"
    } else {
        "near"
    }
}

/// The similarity of a member and the representative, if it is known.
fn similarity(page: &Page<'_>, cluster: &ShownCluster, member: &Member) -> Option<String> {
    if member.first == cluster.root {
        return Some("1.000000".into());
    }
    Some(member.link?.score(page.wording.measure))
}

fn one_member(page: &Page<'_>, cluster: &ShownCluster, member: &Member) -> Markup {
    let score = html! {
        @match similarity(page, cluster, member) {
            Some(similarity) => (short(&similarity)),
            None => span.soft {
                @if page.listed { (page.wording.unlisted()) } @else { "not listed" }
            }
        }
    };
    let kind = html! { (kind(cluster, member)) };
    member_row(page.documents, member.document, [kind, score])
}

/// The columns of a member of a cluster after its docno, kind and score.
pub(super) const MEMBER: [&str; 5] = [">words", "date", "title", "address", "file and record"];

/// A member of a cluster: its docno, kind, score, and [`MEMBER`].
pub(super) fn member_row(
    documents: PageDocuments<'_>,
    number: u32,
    [kind, score]: [Markup; 2],
) -> Markup {
    html! {
        @if let Some(document) = documents.get(number) {
            tr {
                td.name { (isolated(&document.docno)) }
                td { (kind) }
                td.n { (score) }
                td.n { (count(document.words)) }
                td.date { (isolated(&documents.date(document).unwrap_or_default())) }
                td.long { (isolated(document.title.as_deref().unwrap_or_default())) }
                td.long { (documents.address(document)) }
                td.long { (isolated(&document.place())) }
            }
        }
    }
}

/// Writes the data for the script, a cluster at a time.
///
/// An array for each cluster: number of members, of exact duplicates among them, number in
/// `clusters.jsonl`, members, links. A member is an array of number, docno, file, record, words,
/// place of the first member with its words, similarity to the representative, title, address, date
/// and beginning of its text; empty values at its end are left out. The links are the places of two
/// members and their similarity, one after the other.
pub(super) fn data(page: &Page<'_>, sheet: &mut Sheet) -> Result<()> {
    let documents = page.chosen.documents.values();
    let files: BTreeMap<u32, &str> = documents.map(|it| (it.place.file, &*it.file)).collect();
    let (places, names): (Vec<u32>, Vec<&str>) = files.into_iter().unzip();
    let head = json!({
        "noun": page.wording.noun(),
        "below": if page.listed { page.wording.unlisted() } else { "not listed".into() },
        "replay": page.config.replay.as_ref().map(|replay| &replay.0),
        "names": names,
        "directory": page.config.directory,
        "whole": matches!(page.wording.measure, Measure::Shared(_)),
    });
    let head = head.to_string();
    let open = head.strip_suffix('}').unwrap_or_default();
    let clusters = page.chosen.clusters.iter().enumerate();
    let clusters = clusters.map(|(at, cluster)| {
        let comma = if at == 0 { "" } else { ",\n" };
        format!("{comma}{}", one(page, cluster, &places))
    });
    let begin = [format!("{open},\"clusters\":[")].into_iter();
    sheet.data("data", begin.chain(clusters).chain(["]}".into()]))
}

fn one(page: &Page<'_>, cluster: &ShownCluster, places: &[u32]) -> Value {
    let at = |document: u32| cluster.place(document).unwrap_or(0);
    let members = cluster.shown.iter().enumerate().filter_map(|(n, member)| {
        let document = page.chosen.documents.get(&member.document)?;
        let known = page.documents.read.known.get(&member.document);
        let known = known.map(|known| (known.date.as_deref(), known.begins.as_str()));
        let (date, begins) = known.unwrap_or_default();
        let similarity = match n {
            0 => None,
            _ => similarity(page, cluster, member),
        };
        let mut values = vec![
            json!(member.document),
            json!(document.docno),
            json!(places.binary_search(&document.place.file).unwrap_or(0)),
            json!(document.record.unwrap_or(0)),
            json!(document.words),
            json!(at(member.first)),
            json!(similarity.unwrap_or_default()),
            json!(document.title.as_deref().unwrap_or_default()),
            json!(document.url.as_deref().unwrap_or_default()),
            json!(date.unwrap_or_default()),
            json!(begins),
        ];
        while values.last().is_some_and(|last| last == "") {
            values.pop();
        }
        Some(Value::Array(values))
    });
    let members: Vec<Value> = members.collect();
    let links = cluster.links.iter().flat_map(|link| {
        let [a, b] = link.documents().map(|document| json!(at(document)));
        [a, b, json!(link.score(page.wording.measure))]
    });
    let links: Vec<Value> = links.collect();
    json!([
        cluster.members,
        cluster.exact,
        cluster.number,
        members,
        links
    ])
}
