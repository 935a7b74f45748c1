//! The page of the audit of a deduplication: the removed documents, their sources, and pairs of
//! documents by which a person can judge it.

use std::collections::HashSet;
use std::path::Path;

use super::clusters::{MEMBER, member_row};
use super::documents::{PageDocuments, collection_name, title};
use super::frame::{Frame, Section, Sheet, many};
use super::markup::{Markup, html, isolated, json_block};
use super::pairs::{both_texts, names};
use super::panels::{headline, part, share_bar, short, short_below, table};
use super::side_by_side::options;
use super::texts;
use super::{FIXED_BYTES, PageConfig, PageStats, STAGE};
use crate::report::answer::named;
use crate::report::dedup::revisits;
use lookalike_base::{Context, Measure, Memory, Result, Unit, count, counted, percent};
use lookalike_engine::collection::{self, Condition};
use lookalike_engine::document::{ShownDocument, record_bytes};
use lookalike_store::{Workspace, disk, table::cell};
use lookalike_tasks::audit::review::{ReviewVerdict, Verdicts};
use lookalike_tasks::audit::{
    Audit, AuditedCluster, ClusterMember, MEMBERS_SHOWN, SampleKind, SamplePair, Source,
    SourceTable, Tally,
};
use lookalike_tasks::dedup::{Removal, Revisit};
use serde_json::{Map, Value, json};

/// The script with which a person judges pairs.
const JUDGE: &str = include_str!("judge.js");

/// Begins the memory of the page. Refuses a budget with which no page can be written, before the
/// audit takes its time.
pub(crate) fn check_memory(workspace: &Workspace, context: &Context<'_>) -> Result<Memory> {
    let memory = Memory::new(&context.budget, FIXED_BYTES + record_bytes(workspace));
    memory.check(|| "a page with the texts of pairs".into())?;
    Ok(memory)
}

/// Writes the page of an audit to `output`.
pub(crate) fn write(
    workspace: &Workspace,
    audit: &Audit,
    verdicts: Option<&Verdicts>,
    look: &PageConfig,
    output: &Path,
    context: &Context<'_>,
) -> Result<PageStats> {
    let what = || {
        let pairs = counted(audit.pairs.len() as u64, "pair");
        format!("a page of {pairs} with their texts")
    };
    let mut memory = check_memory(workspace, context)?;
    context.start(STAGE, Unit::Count("steps"), Some(2));
    let pairs = audit.pairs.iter();
    let wanted: HashSet<u32> = pairs.flat_map(|pair| [pair.document, pair.other]).collect();
    let (documents, texts_only) = (&audit.documents, (&wanted, &HashSet::new()));
    let read = texts::read(workspace, documents, texts_only, &mut memory, None, context)?;
    memory.check(what)?;
    context.progress.at(1);

    let page = Page {
        audit,
        verdicts,
        documents: PageDocuments::of(documents, &read, look),
        condition: collection::config(&workspace.manifest).condition.as_ref(),
    };
    let title = match &look.title {
        Some(title) => title.clone(),
        None => {
            let name = collection_name(workspace, &audit.kept)?;
            format!("What the deduplication of {name} removed")
        }
    };
    let tables = page.tables();
    let mut contents = vec![("found", "What was removed".to_string())];
    contents.extend(verdicts.map(|_| ("review", "What the review found".into())));
    let samples = || {
        let there = |kind: &SampleKind| audit.sample(*kind).next().is_some();
        SampleKind::ALL.into_iter().filter(there)
    };
    let of_samples = samples().map(Page::sample_name);
    contents.extend(of_samples.map(|(id, name)| (id, name.into())));
    contents.extend(tables.iter().map(|of| (of.id.as_str(), of.name.clone())));
    let frame = Frame {
        title: &title,
        script: (!audit.pairs.is_empty()).then_some(JUDGE),
        below: Some(page.below()),
        contents,
        program: &audit.program,
    };
    let mut sheet = Sheet::create(output, &frame)?;
    sheet.put(page.found())?;
    sheet.put(page.verdicts())?;
    if !audit.pairs.is_empty() {
        sheet.put(page.judged())?;
    }
    for kind in samples() {
        sheet.put(page.sample_head(kind))?;
        for (at, pair) in audit.sample(kind).enumerate() {
            context.stop.check(STAGE)?;
            sheet.put(page.pair(pair, at == 0))?;
        }
    }
    for section in tables {
        sheet.put(section.markup)?;
    }
    let written = sheet.finish()?;
    disk::sync_parent(output)?;
    let shown = [audit.clusters.len(), audit.pairs.len()];
    Ok(PageStats::end(workspace, written, shown, &read, context))
}

/// The data that the sections of the page show.
struct Page<'p> {
    audit: &'p Audit,
    verdicts: Option<&'p Verdicts>,
    documents: PageDocuments<'p>,
    /// The condition of the pairs.
    condition: Option<&'p Condition>,
}

impl Page<'_> {
    /// The sections after the samples.
    fn tables(&self) -> Vec<Section> {
        let audit = self.audit;
        let mut all = Vec::new();
        if audit.source.summary.documents > audit.source.summary.kept {
            all.push(Section::new("reasons", "By reason").with(self.reasons()));
        }
        let any = audit.source.summary.documents > 0;
        for (at, table) in audit.tables.iter().enumerate().filter(|_| any) {
            let name = match &table.source {
                None => "input file".into(),
                Some(Source::Host) => "host".into(),
                Some(Source::Year(_)) => "year".into(),
                Some(Source::Field(name)) => format!("field {name}"),
            };
            let section = Section::new(&format!("by-{at}"), &format!("By {name}"));
            all.push(section.with(self.sources(&name, table)));
        }
        if audit.all_clusters > 0 {
            all.push(Section::new("clusters", "Largest clusters").with(self.clusters()));
        }
        all
    }

    /// The pairs for the script: their ids, and the names of their documents as tables have them.
    fn judged(&self) -> Markup {
        let name = |number| self.documents.get(number).map(|found| cell(&found.docno));
        let names = |pair: &SamplePair| {
            let names = json!([name(pair.document)?, name(pair.other)?]);
            Some((pair.id.clone(), names))
        };
        let pairs: Map<String, Value> = self.audit.pairs.iter().filter_map(names).collect();
        let data = json!({ "deduplication": self.audit.digest, "pairs": pairs });
        html! { (json_block("pairs", &data.to_string())) (json_block("judged", "{}")) }
    }

    /// `resemblance` or `containment`.
    fn noun(&self) -> &'static str {
        match self.audit.criterion.measure {
            Measure::Containment => "containment",
            _ => "resemblance",
        }
    }

    fn reason_says(&self, reason: Removal) -> String {
        let (noun, threshold) = (self.noun(), self.audit.criterion.threshold);
        match reason {
            Removal::Identical => "It has the same text as the survivor, byte for byte.".into(),
            Removal::SameWords => "It has the same words as the survivor. Their texts differ in \
                what tokens leave out, such as white space."
                .into(),
            Removal::Exact => "It has the same words as the survivor.".into(),
            Removal::Near => {
                format!("Its {noun} with the survivor is at least {threshold}.")
            }
            Removal::Chain if self.condition.is_some() => format!(
                "A chain of near-duplicates connects it with the survivor of its cluster, with which \
                 it makes no pair of at least {threshold}."
            ),
            Removal::Chain => format!(
                "A chain of near-duplicates connects it with the survivor of its cluster, but its \
                 {noun} with that survivor is below {threshold}."
            ),
            Removal::Contained => {
                format!("The survivor contains at least {threshold} of its shingles.")
            }
            Removal::Clustered => {
                "It is in a cluster, and --rule drop-clusters keeps no document of a cluster."
                    .into()
            }
            Removal::Empty => "It has no words.".into(),
            Removal::Listed => "The list of --drop names it.".into(),
        }
    }

    fn sample_name(kind: SampleKind) -> (&'static str, &'static str) {
        match kind {
            SampleKind::Random => ("random", "Removals at random"),
            SampleKind::Nearest => ("nearest", "Removals nearest the threshold"),
            SampleKind::NearMiss => ("near-misses", "Near misses"),
        }
    }

    fn below(&self) -> Markup {
        let audit = self.audit;
        let config = &audit.source.config;
        html! {
            "lookalike dedup"
            @match config.identical {
                Some(which) => { " --identical " (which) }
                None => { " --rule " (config.rule) }
            }
            @for policy in &config.keep { " --keep " (isolated(&policy.to_string())) }
            @if config.revisit != Revisit::None { " --revisit=" (config.revisit) }
            @if config.identical.is_none() {
                ", " (self.noun()) " of at least " (audit.criterion.threshold)
            }
            @if let Some(condition) = self.condition {
                ", pairs for which " (isolated(&condition.to_string()))
            }
            @if let Some(against) = &audit.source.against {
                ", compared with the documents of " (isolated(against))
            }
        }
    }

    /// The finding in one sentence, and the numbers.
    fn found(&self) -> Markup {
        let summary = &self.audit.source.summary;
        let (read, kept) = (summary.documents, summary.kept);
        let removed = read - kept;
        let of = many(read, "document");
        let finding = match removed {
            0 => format!("of {of} were removed."),
            _ => format!("of {of} ({}) were removed.", part(removed, read)),
        };
        let mut parts = vec![("kept", kept)];
        let reasons = self.audit.reasons();
        parts.extend(reasons.map(|reason| (named(reason), summary.removed[reason as usize])));
        html! {
            section id="found" {
                @if read == 0 { p.headline { "There were no documents." } }
                @else { (headline(removed, &finding, &parts)) }
                @if summary.rejected > 0 {
                    p { (rejected(summary.rejected, summary.rejected_dropped)) }
                }
                @for line in revisits(summary) { p { (line) } }
                @if summary.companions > 0 {
                    p {
                        "With the removed captures, "
                        (many(summary.companions, "request or metadata record"))
                        " were also removed."
                    }
                }
            }
        }
    }

    /// Shows the verdicts of a person on the samples.
    fn verdicts(&self) -> Markup {
        let Some(verdicts) = self.verdicts else {
            return html! {};
        };
        html! {
            h2 id="review" { "What the review found" }
            p {
                "A removal is correct if the removed document is a near-duplicate of its survivor. \
                 A near miss is correct if both documents are rightly kept. The random sample \
                 stands for all removals with a survivor other than exact duplicates: the interval \
                 (Wilson) contains the share of all of them that are correct with a probability of \
                 95 %. The other samples are the pairs nearest the threshold, which are the \
                 hardest to decide. Their intervals stand for such pairs only."
            }
            (table("", &["sample", ">pairs", ">judged", ">correct", ">share correct", ">95 % interval"], &html! {
                @for kind in SampleKind::ALL {
                    tr {
                        th scope="row" { (Self::sample_name(kind).1) }
                        td.n { (count(self.audit.sample(kind).count() as u64)) }
                        @match verdicts.correct(self.audit, kind) {
                            Some(found) => {
                                td.n { (count(found.judged)) }
                                td.n { (count(found.correct)) }
                                td.n { (percent(found.share, 1)) }
                                td.n { (percent(found.low, 1)) " to " (percent(found.high, 1)) }
                            }
                            None => { td.n { "0" } td.n { "0" } td.n { "–" } td.n { "–" } }
                        }
                    }
                }
            }))
        }
    }

    fn reasons(&self) -> Markup {
        let summary = &self.audit.source.summary;
        let reasons: Vec<Removal> = self.audit.reasons().collect();
        html! {
            (table("", &["reason", ">documents", ">share of all", "why a document was removed"], &html! {
                @for reason in reasons {
                    @let number = summary.removed[reason as usize];
                    tr {
                        th scope="row" { (reason.text()) }
                        td.n { (count(number)) }
                        td.n { (part(number, summary.documents)) }
                        td.long { (self.reason_says(reason)) }
                    }
                }
            }))
        }
    }

    fn sources(&self, name: &str, of: &SourceTable) -> Markup {
        let reasons: Vec<Removal> = self.audit.reasons().collect();
        let (others, rest) = &of.rest;
        let mut rows: Vec<_> = of.rows.iter().collect();
        if matches!(of.source, Some(Source::Year(_))) {
            rows.sort_by(|a, b| a.value.cmp(&b.value));
        }
        let counted_by = reasons.iter().map(|reason| format!(">{}", reason.text()));
        let counted_by: Vec<String> = counted_by.collect();
        let mut columns = vec![name, ">documents", ">kept", ">share kept"];
        columns.extend(counted_by.iter().map(String::as_str));
        html! {
            @if let Some(Source::Year(field)) = &of.source {
                p {
                    "The year of "
                    @match field {
                        None => "the date that a record states, such as the date of its capture.",
                        Some(field) => { "the field " (isolated(field)) "." }
                    }
                }
            }
            (table("", &columns, &html! {
                @for row in rows {
                    (source_row(isolated(&row.value), &row.tally, &reasons))
                }
                @if *others > 0 {
                    (source_row(html! { em { (counted(*others, "other")) } }, rest, &reasons))
                }
                @if of.without.documents > 0 {
                    (source_row(html! { em { "none" } }, &of.without, &reasons))
                }
            }))
        }
    }

    fn clusters(&self) -> Markup {
        let audit = self.audit;
        let shown = audit.clusters.len() as u64;
        html! {
            p {
                @if shown < audit.all_clusters {
                    (count(shown)) " of " (many(audit.all_clusters, "cluster")) ". "
                }
                "A cluster is a chain of near-duplicates: each document resembles some \
                 other one in it. The survivors come first."
            }
            @for (at, cluster) in audit.clusters.iter().enumerate() {
                (self.cluster(cluster, at == 0))
            }
        }
    }

    fn cluster(&self, cluster: &AuditedCluster, open: bool) -> Markup {
        let first = cluster.shown.first();
        let first = first.and_then(|member| self.documents.get(member.document));
        let listed = cluster.shown.len() as u64;
        html! {
            details open[open] {
                summary {
                    @if let Some(first) = first { (isolated(title(first))) }
                    " " span.soft.small {
                        (many(cluster.members, "document")) ", " (many(cluster.kept, "survivor"))
                    }
                }
                div.in {
                    (table("", &[&["docno", "fate", &format!(">{}", self.noun())], &MEMBER[..]].concat(), &html! {
                        @for member in &cluster.shown { (self.member(member)) }
                    }))
                    @if cluster.members > listed {
                        p.soft.small { "The first " (MEMBERS_SHOWN) " of " (count(cluster.members)) ", survivors first." }
                    }
                }
            }
        }
    }

    fn member(&self, member: &ClusterMember) -> Markup {
        let fate = html! {
            @match (member.removed, member.of_other) {
                (None, true) => strong { "in the other collection" },
                (None, false) => strong { "survivor" },
                (Some(reason), _) => { (reason.text()) }
            }
        };
        let score = html! { (member.score.as_deref().map(short).unwrap_or_default()) };
        member_row(self.documents, member.document, [fate, score])
    }

    fn sample_head(&self, kind: SampleKind) -> Markup {
        let audit = self.audit;
        let (id, name) = Self::sample_name(kind);
        let (noun, threshold) = (self.noun(), audit.criterion.threshold);
        let shown = audit.sample(kind).count() as u64;
        html! {
            h2 id=(id) { (name) }
            p {
                (count(shown)) " of "
                @match kind {
                    SampleKind::Random => {
                        (many(audit.drawn_from, "removal")) " with a survivor, drawn at random with seed "
                        (audit.config.seed) ". Exact duplicates are left out, because both texts are the same. \
                        Use these pairs to estimate the share of removals that are correct."
                    }
                    SampleKind::Nearest => {
                        (many(audit.reaching, "removal")) ": those whose " (noun) " with the survivor is lowest, and \
                        so nearest to " (threshold) ". If these are correct, the threshold is not too low."
                    }
                    SampleKind::NearMiss => {
                        (many(audit.near_misses, "pair")) " of kept documents whose " (noun) " is below " (threshold)
                        ", but at least " (audit.near_from) ": those that are nearest to " (threshold) ". Both \
                        documents are kept. If these are not near-duplicates, the threshold is not too high."
                    }
                }
            }
            @if kind == SampleKind::Random {
                p.small {
                    del { "These words" } " are only in the removed document, "
                    ins { "these words" } " only in its survivor. Long passages without a \
                     difference are folded; open them to read on."
                }
            }
        }
    }

    fn pair(&self, pair: &SamplePair, open: bool) -> Markup {
        let Some([a, b]) = self.documents.both([pair.document, pair.other]) else {
            return html! {};
        };
        let verdict = self.verdicts.and_then(|verdicts| verdicts.0.get(&pair.id));
        let (size_a, size_b) = pair.sizes;
        let (left, right) = match pair.kind {
            SampleKind::NearMiss => ("kept", "kept"),
            _ => ("removed", "survivor"),
        };
        html! {
            details.pair open[open] {
                summary {
                    b { (short_below(&pair.score, self.audit.criterion.threshold.to_f64())) }
                    @if let Some(reason) = pair.reason { span.soft { (reason.text()) " " } }
                    (names(a, "and", b))
                    @if let Some(verdict) = verdict { " " (short_verdict(verdict)) }
                }
                div.in {
                    @if let Some(verdict) = verdict { (long_verdict(verdict, pair)) }
                    p.soft {
                        (many(pair.shared.into(), "shingle")) " shared, of " (count(size_a.into()))
                        " in the first and " (count(size_b.into())) " in the second. Pair "
                        code { (pair.id) } "."
                    }
                    fieldset.options id={ "judge-" (pair.id) } hidden {}
                    (options(false))
                    div.two-texts.heads { (self.head(a, left)) (self.head(b, right)) }
                    (both_texts(self.documents, [a, b]))
                }
            }
        }
    }

    /// The identity of a document of a pair, below its fate.
    fn head(&self, document: &ShownDocument, fate: &str) -> Markup {
        html! {
            div {
                p.soft { (fate) }
                (self.documents.heading(document))
            }
        }
    }
}

fn source_row(name: Markup, tally: &Tally, reasons: &[Removal]) -> Markup {
    html! {
        tr {
            th.name scope="row" { (name) }
            td.n { (count(tally.documents)) }
            td.n { (count(tally.kept())) }
            td.n { (share_bar(tally.kept(), tally.documents)) }
            @for reason in reasons { td.n { (count(tally.of(*reason))) } }
        }
    }
}

/// The sentence about rejected records.
fn rejected(rejected: u64, dropped: u64) -> String {
    let records = many(rejected, "record");
    let was = if rejected == 1 { "was" } else { "were" };
    match dropped {
        0 => format!("{records} gave no document, and {was} kept."),
        n if n == rejected => format!("{records} gave no document, and {was} removed."),
        n => format!(
            "{records} gave no document; {} of them were removed.",
            count(n)
        ),
    }
}

fn short_verdict(verdict: &ReviewVerdict) -> Markup {
    html! {
        @match verdict.correct {
            Some(true) => strong { "✓ correct" },
            Some(false) => strong { "✗ wrong" },
            None => em { "not judged" },
        }
    }
}

fn long_verdict(verdict: &ReviewVerdict, pair: &SamplePair) -> Markup {
    let says = match (verdict.correct, pair.kind) {
        (None, _) => "The review does not judge this pair.",
        (Some(true), SampleKind::NearMiss) => "The review says: rightly both kept.",
        (Some(false), SampleKind::NearMiss) => "The review says: one of them should go.",
        (Some(true), _) => "The review says: rightly removed.",
        (Some(false), _) => "The review says: wrongly removed.",
    };
    html! {
        p.note {
            (says)
            @if !verdict.note.is_empty() { " " (isolated(&verdict.note)) }
        }
    }
}
