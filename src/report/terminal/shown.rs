//! The facts about a document, on a terminal.

use super::{Put, Screen, Style, visible};
use lookalike_base::{Result, count, counted, words};
use lookalike_engine::collection::Captured;
use lookalike_engine::document::{Facts, Known, Listed, NamedDocument};
use lookalike_store::table::cell;

/// Columns of the names of facts.
const NAMES: usize = 18;

/// Prints the facts about a document.
pub(crate) fn shown(facts: &Facts, screen: Screen, put: Put<'_>) -> Result<()> {
    let name = |docno: &str| visible(&cell(docno));
    put(&(screen.styled(Style::Strong, &name(&facts.docno)) + "\n"))?;
    let mut fact = |what: &str, value: String| {
        let what = screen.styled(Style::Soft, &format!("{what:<NAMES$}"));
        put(&format!("{what}{value}\n"))
    };
    let known = [
        ("title", &facts.title),
        ("address", &facts.url),
        ("date", &facts.date),
    ];
    for (what, name) in known {
        if let Some(name) = name {
            fact(what, visible(name))?;
        }
    }
    if let Some(record) = facts.record {
        fact("place", format!("{}:{record}", name(&facts.file)))?;
    } else {
        fact("file", name(&facts.file))?;
    }
    let (offset, length) = (count(facts.offset), counted(facts.length, "byte"));
    fact("bytes there", format!("{length} from byte {offset}"))?;
    fact("document", facts.document.to_string())?;
    fact("charset", facts.charset.clone())?;
    let group = match facts.size_group_words.as_str() {
        "" => facts.size_group.to_string(),
        words => format!("{} ({words} words)", facts.size_group),
    };
    fact("words", count(facts.words))?;
    fact("shingles", count(facts.shingles.into()))?;
    fact("size group", group)?;
    fact("MD5 of the words", facts.md5.clone())?;
    let representative = match facts.representative.docno == facts.docno {
        true => "itself".into(),
        false => named(&facts.representative),
    };
    fact("representative", representative)?;
    let duplicates = list(&facts.exact_duplicates);
    let duplicates = match (facts.exact_duplicates.total, facts.identical) {
        (0, _) => "none".into(),
        (_, None) => duplicates,
        (_, Some(0)) => format!("{duplicates}; none identical"),
        (_, Some(n)) => format!("{duplicates}; {} identical", count(n)),
    };
    fact("exact duplicates", duplicates)?;
    fact(
        "cluster",
        match &facts.cluster {
            Known::NotYet { not_yet } => visible(not_yet),
            Known::Is(None) => "none".into(),
            Known::Is(Some(cluster)) => {
                let members = counted(cluster.members.total, "document");
                let listed = list(&cluster.members);
                format!("{}: {members}: {listed}", cluster.id)
            }
        },
    )?;
    match &facts.pairs {
        Known::NotYet { not_yet } => fact("pairs", visible(not_yet)),
        Known::Is(pairs) => {
            let mut total = match pairs.pairs.total {
                0 => "none".into(),
                total => count(total),
            };
            let listed = pairs.pairs.listed.len() as u64;
            if listed < pairs.pairs.total {
                total.push_str(&format!("; {} of them follow", count(listed)));
            }
            if !pairs.all {
                total.push_str(" (of those that form the clusters; the others are not listed)");
            }
            fact("pairs", total)?;
            for pair in &pairs.pairs.listed {
                let shared = counted(pair.shared.into(), "shingle");
                let partner = name(&pair.docno);
                let mut about = about(&pair.captured);
                about.push(format!("{shared} in both"));
                let about = screen.styled(Style::Soft, &about.join("  "));
                put(&format!("  {}  {partner}  {about}\n", pair.score))?;
            }
            Ok(())
        }
    }
}

/// The first of some names, and how many more there are.
fn list(names: &Listed<NamedDocument>) -> String {
    let listed = words::listed(", ", &names.listed, named);
    let more = names.total.saturating_sub(names.listed.len() as u64);
    match more {
        0 => listed,
        more => format!("{listed} and {} more", count(more)),
    }
}

/// A docno, with the address and the date of a capture.
fn named(document: &NamedDocument) -> String {
    let docno = visible(&cell(&document.docno));
    match about(&document.captured).join(" ").as_str() {
        "" => docno,
        about => format!("{docno} ({about})"),
    }
}

/// The address and the date of a capture.
fn about(captured: &Captured) -> Vec<String> {
    let known = [&captured.url, &captured.date].into_iter().flatten();
    known.map(|it| visible(it)).collect()
}
