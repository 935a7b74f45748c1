//! The answer at the end of a command: the documents read, the results, and the next step.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::ledger::{fields, numbered};
use super::rows::part_of;
use super::terminal::visible;
use super::wording::Wording;
use lookalike_base::{
    Error, Measure, Result, count, counted, cut_after, flag_word, listed, path_word, shell_word,
};
use lookalike_engine::collection;
use lookalike_engine::document::stored;
use lookalike_engine::join::Pairs;
use lookalike_engine::pipeline::{Summary, first_reject};
use lookalike_store::{InputList, Workspace, disk};
use lookalike_tasks::dedup::{DedupConfig, DedupSource, Form, KEPT_TABLE, Removal};
use lookalike_tasks::passages::SPANS_FILE;
use lookalike_tasks::passages::shown::shows_passages;
use lookalike_text::read::Reason;

/// Documents of a smaller median number of words are short: one changed word leaves two texts of 60
/// words a resemblance of 0.67 with shingles of ten (docs/guide/threshold.md).
pub(super) const SHORT: u32 = 60;

/// Documents of at most this number of words on average are perhaps labels, and their texts are in
/// another field.
const TINY: u64 = 3;
const LEAST_DOUBTED: u64 = 10;

/// The shingle size for short documents.
pub(super) const SHINGLE_SIZE_OF_SHORT: u32 = 5;

/// Bytes of a list of rejects that are read for advice.
const MOST_READ: u64 = 64 << 20;

/// The answer of a run, in at most six lines. `results` is the directory with the results of
/// `collection`, usually its own.
///
/// # Errors
/// Those of reading rejects, documents and clusters.
pub(crate) fn answer(summary: &Summary, collection: &Workspace, results: &Path) -> Result<String> {
    let mut out = read_line(summary, collection);
    found_lines(summary, collection, &mut out)?;
    if summary.method.is_none() {
        not_used(collection, results, &mut out)?;
    }
    let place = results.display();
    let _ = match summary.join.is_some() && summary.cluster.is_none() {
        true => writeln!(out, "Pairs in {place}; its result files are not written."),
        false => writeln!(out, "Results in {place}{}.", to_review(summary)),
    };
    if let Some(next) = next(summary, collection, results)? {
        out += &(next + "\n");
    }
    Ok(out)
}

/// Describes the documents that were read: `Read 253 documents from 2 files.`
fn read_line(summary: &Summary, collection: &Workspace) -> String {
    let against = collection::against(&collection.manifest).files > 0;
    let what = if against { "new document" } else { "document" };
    let mut documents = counted(summary.ingest.documents, what);
    let wordless = summary.ingest.noticed.get(Reason::NotComparable.text());
    if let Some(wordless) = wordless {
        let _ = write!(documents, " ({} without words)", count(*wordless));
    }
    let files = counted(summary.inputs, "file");
    let skipped = &summary.skipped;
    let left_out = [
        (skipped.hidden, "hidden path"),
        (skipped.excluded, "excluded file"),
        (skipped.outputs, "output directory"),
    ];
    let left_out = left_out.iter().filter(|(n, _)| *n > 0);
    let left_out = match listed(", ", left_out, |&(n, what)| counted(n, what)) {
        none if none.is_empty() => none,
        some => format!(" (left out: {some})"),
    };
    let mut line = format!("Read {documents} from {files}{left_out}.\n");
    if !summary.ingest.tokens.is_empty() {
        let kinds = numbered(&summary.ingest.tokens);
        let _ = writeln!(line, "Tokens by name: {kinds}.");
    }
    if let Some(fields) = fields(&summary.ingest.fields) {
        let _ = writeln!(line, "Text, without --text-field: {fields}.");
    }
    line
}

/// Adds the lines about redundant documents and the largest cluster.
fn found_lines(summary: &Summary, collection: &Workspace, out: &mut String) -> Result<()> {
    let all = summary.ingest.documents;
    let exact = summary.catalogue.as_ref().map_or(0, |c| c.exact_duplicates);
    let against = collection::against(&collection.manifest).files > 0;
    let pairs = match (&summary.join, Wording::of(summary), &summary.join_config) {
        (Some(join), Some(wording), Some(config)) if config.pairs != Pairs::None => {
            let pairs = counted(join.pairs, "pair");
            let have = if join.pairs == 1 { "has" } else { "have" };
            let of = if exact > 0 { " of different texts" } else { "" };
            let limit = wording.limit();
            format!("{pairs}{of}{limit} {have} {}", wording.listed())
        }
        _ => String::new(),
    };
    let alone = match pairs.is_empty() {
        true => String::new(),
        false => format!("{pairs}.{}\n", reservation(summary)),
    };
    let Some(cluster) = &summary.cluster else {
        let repeated = match exact {
            // It may hold for none of them, or only for some.
            0 if summary.collection.condition.is_some() => {
                "Documents with the same words are pairs if --where holds for them".into()
            }
            1 => "1 document repeats the words of another one".into(),
            _ => format!("{} documents repeat the words of another one", count(exact)),
        };
        let _ = write!(out, "{repeated}.\n{alone}");
        return Ok(());
    };
    let redundant = cluster.redundant;
    let one = redundant == 1 || all == 1;
    let is = if one { "is" } else { "are" };
    let of = part_of(redundant, all, "document");
    // A condition parts equal documents, so that pairs of them are among the others.
    let told = against || summary.collection.condition.is_some();
    let near = redundant.checked_sub(exact).filter(|_| !told);
    let _ = match near {
        Some(near) if redundant > 0 => {
            let exact = exact_copies(exact, cluster.identical);
            let near = counted(near, "near-duplicate");
            writeln!(out, "{of} {is} redundant: {exact}, {near}.")
        }
        _ => writeln!(out, "{of} {is} redundant."),
    };
    if cluster.clusters == 0 {
        out.push_str(&alone);
        return Ok(());
    }
    let clusters = counted(cluster.clusters, "cluster");
    let largest = counted(cluster.largest, "document");
    let _ = write!(out, "{clusters}; the largest has {largest}");
    if let Some(number) = cluster.largest_document {
        let (document, _) = stored(collection, number)?;
        // Nothing in a name may end the line or control the terminal.
        let short = |name: String| cut_after(visible(&name), MOST_OF_NAME);
        let address = document.url.filter(|url| *url != document.docno);
        let address = address.map_or(String::new(), |url| format!(" ({})", short(url)));
        let (name, others) = (short(document.docno), counted(cluster.largest - 1, "other"));
        let _ = write!(out, ": {name}{address} and {others}");
    }
    if !pairs.is_empty() {
        let _ = write!(out, ". {pairs}");
    }
    let _ = writeln!(out, ".{}", reservation(summary));
    Ok(())
}

/// The documents that were removed for a reason.
pub(super) fn named(reason: Removal) -> &'static str {
    match reason {
        Removal::Exact => "exact duplicates",
        Removal::Near => "near-duplicates",
        Removal::Chain => "connected by a chain",
        Removal::Contained => "contained in a kept document",
        Removal::Clustered => "members of clusters",
        Removal::Empty => "documents without words",
        Removal::Listed => "listed (--drop)",
        reason => reason.text(),
    }
}

/// A number of documents that were removed for a reason.
pub(super) fn gone_for(reason: Removal, n: u64) -> String {
    match reason {
        Removal::Identical => counted(n, "identical copy"),
        Removal::SameWords => format!("{} with the same words", count(n)),
        Removal::Exact => counted(n, "exact copy"),
        Removal::Near => counted(n, "near-duplicate"),
        Removal::Chain | Removal::Contained | Removal::Listed => {
            format!("{} {}", count(n), named(reason))
        }
        Removal::Clustered => counted(n, "cluster member"),
        Removal::Empty => format!("{} without words", count(n)),
    }
}

/// A number of exact duplicates, divided into identical ones and others if that is known.
fn exact_copies(exact: u64, identical: Option<u64>) -> String {
    let Some(identical) = identical else {
        return gone_for(Removal::Exact, exact);
    };
    let others = exact.saturating_sub(identical);
    let parts = [
        (Removal::Identical, identical),
        (Removal::SameWords, others),
    ];
    let parts = parts.into_iter().filter(|(_, n)| *n > 0);
    listed(", ", parts, |(which, n)| gone_for(which, n))
}

/// A sentence for pairs that are not exactly those that reach the threshold, after a space.
fn reservation(summary: &Summary) -> &'static str {
    let config = summary.join_config.as_ref();
    let most = config.is_some_and(|config| config.max_postings.is_some());
    let verified = config.is_some_and(|config| config.candidates.is_some());
    match (summary.is_sampled(), verified) {
        (true, false) => " These figures are estimates, from a sample.",
        (true, true) => " Others may be missing, because only a sample was searched.",
        (false, _) if most => " Others may be missing (--max-postings).",
        (false, _) => "",
    }
}

/// The most characters of a name that are shown.
const MOST_OF_NAME: usize = 80;

/// The most reasons in a line.
const MOST_REASONS: usize = 4;

/// Appends a line about the records of a collection that are in no document, with the most frequent
/// reasons, and the list of them in `directory`; before there is one, the first.
pub(super) fn not_used(collection: &Workspace, directory: &Path, out: &mut String) -> Result<()> {
    let reasons = Summary::of(&collection.manifest).ingest.rejected;
    let mut sorted: Vec<_> = reasons.iter().collect();
    if sorted.is_empty() {
        return Ok(());
    }
    // Pages of errors and images are expected in a crawl; damage is not, so it comes first.
    let expected = [Reason::HttpStatus, Reason::NotText].map(Reason::text);
    let expected = |reason: &String| expected.contains(&reason.as_str());
    sorted.sort_by_key(|&(reason, n)| (expected(reason), std::cmp::Reverse(*n), reason));
    let all = reasons.values().sum();
    let others = "other reasons".to_string();
    let rest = sorted.iter().skip(MOST_REASONS).map(|(_, n)| **n).sum();
    let rest = (rest > 0).then_some((&others, &rest));
    let shown = numbered(sorted.into_iter().take(MOST_REASONS).chain(rest));
    let _ = write!(out, "Not used: {} ({shown}).", counted(all, "record"));
    let list = directory.join("rejects.jsonl");
    if disk::exists(&list)? {
        let each = if all == 1 { "it" } else { "each" };
        let _ = write!(out, " {} lists {each}.", list.display());
    } else if let Some(Error::Rejected { first, .. }) = first_reject(collection)? {
        let _ = write!(out, " The first: {first}");
    }
    out.push('\n');
    Ok(())
}

/// Returns a sentence of advice, which is not a command, if the documents are perhaps not those that
/// the user meant.
pub(super) fn doubt(summary: &Summary, results: &Path) -> Option<String> {
    let rejects = results.join("rejects.jsonl");
    let list = path_word(&rejects);
    let no_text = summary.ingest.rejected.get(Reason::MissingText.text());
    let no_text = no_text.is_some_and(|&n| n > summary.ingest.documents);
    let rejected: u64 = summary.ingest.rejected.values().sum();
    let format = summary.collection.read.format;
    if let Some(format) = format.filter(|_| rejected > summary.ingest.documents) {
        let field = if no_text { " and --text-field" } else { "" };
        let records = counted(rejected, "record");
        return Some(format!(
            "Check --format {format}{field}: {records} gave no document ({list} says why); without --format, each \
             file is read in its own."
        ));
    }
    if no_text {
        return Some(format!(
            "Read the inputs again with --text-field FIELD and another -o; {list} says which fields there are."
        ));
    }
    // A few in a crawl are pages that show pages.
    let several = summary.ingest.noticed.get(Reason::PerhapsSeveral.text());
    if let Some(&several) = several.filter(|&n| n * 100 >= summary.ingest.documents) {
        let documents = counted(several, "document");
        // Other files have no such records.
        let only = match summary.inputs > several {
            true => ", with --include for their files alone,",
            false => "",
        };
        let what = match advised(&rejects) {
            Some(flags) => format!("Read the inputs again with {flags}{only} and another -o"),
            None => "Check --format, --record, --split-at or --delimiter".into(),
        };
        return Some(format!(
            "{what}: {documents} may be several ({list} says which, and why)."
        ));
    }
    let lack = summary.ingest.noticed.get(Reason::MissingField.text());
    if let Some(&lack) = lack {
        let documents = counted(lack, "document");
        return Some(format!(
            "Check --text-field: {documents} without a field that it names ({list} says which)."
        ));
    }
    let (words, documents) = (summary.ingest.words, summary.ingest.documents);
    // Some records of any collection are empty.
    let wordless = summary.ingest.noticed.get(Reason::NotComparable.text());
    if let Some(&wordless) = wordless.filter(|&n| n * 10 >= documents) {
        let documents = counted(wordless, "document");
        let has = if wordless == 1 { "has" } else { "have" };
        return Some(format!(
            "Check what is compared: {documents} {has} no words ({list} says which, and where their text may be)."
        ));
    }
    if documents >= LEAST_DOUBTED && words <= TINY * documents {
        let mean = counted(words.div_ceil(documents), "word");
        return Some(format!(
            "Check what is compared (--text-field): on average, a document has at most {mean}."
        ));
    }
    None
}

/// The flags in the first warning about a document that may be several, among the first
/// [`MOST_READ`] bytes of the list.
fn advised(list: &Path) -> Option<String> {
    let reason = Reason::PerhapsSeveral.text();
    let lines = BufReader::with_capacity(disk::READ_BUFFER, disk::open(list).ok()?.take(MOST_READ));
    lines.lines().map_while(io::Result::ok).find_map(|line| {
        let line = Some(line).filter(|line| line.contains(reason))?;
        let line: serde_json::Value = serde_json::from_str(&line).ok()?;
        let (_, flags) = line["detail"].as_str()?.rsplit_once("use --")?;
        (line["reason"] == reason).then(|| format!("--{}", visible(flags)))
    })
}

/// The advice for the situation: a line with `Next: ` is a command that a shell takes as it stands.
fn next(summary: &Summary, collection: &Workspace, results: &Path) -> Result<Option<String>> {
    let place = path_word(results);
    let join = summary.join.as_ref();
    if join.is_some_and(|join| join.undecided.is_some()) {
        let next = format!("Try another condition: lookalike run --from {place} --where 'EXPR'");
        return Ok(Some(next));
    }
    if let Some(check) = doubt(summary, results) {
        return Ok(Some(check));
    }
    if summary.join.is_some() && summary.cluster.is_none() {
        return Ok(Some(format!(
            "Next: lookalike stage cluster {place}   # writes them, without another search"
        )));
    }
    let programs = programs(collection);
    let (Some(_), Some(cluster), Some(config)) =
        (&summary.join, &summary.cluster, &summary.join_config)
    else {
        // A search for passages was there, of the documents of that time.
        let found = results.join(SPANS_FILE);
        if summary.method.is_some() || !disk::exists(&found)? {
            return Ok(Some(format!("Next: lookalike run --from {place}")));
        }
        return Ok(Some(format!(
            "Next: lookalike passages {place}{programs}   # searches the documents that there are now"
        )));
    };
    if summary.method.is_some() {
        return Ok(None);
    }
    let by_shingles = matches!(config.measure, Measure::Resemblance | Measure::Containment);
    if cluster.clusters == 0 && by_shingles && summary.ingest.documents > 1 {
        let size = summary.collection.shingle.shingle_size;
        if let Some((smaller, median)) = smaller_shingles(collection, size)? {
            let words = counted(median.into(), "word");
            let line = format!(
                "Read the inputs again with --shingle-size {smaller} and another -o: half of the documents have at \
                 most {words}, and no pair was found."
            );
            return Ok(Some(line));
        }
    }
    let exact = reservation(summary).is_empty();
    // A deduplication needs the pairs of new documents as well.
    let new = config.pairs != Pairs::Across;
    // Standard input cannot be read a second time.
    let mut inputs = InputList::open(collection.directory())?;
    let mut readable = true;
    while let Some(input) = inputs.next()? {
        readable &= input.path != "-";
    }
    let again = readable && exact && by_shingles && new;
    // A work directory has copies already.
    let work = results.extension().is_some_and(|end| end == "work");
    let copies = match work {
        true => other_copies(&results.with_extension("")),
        false => path_word(&unused("kept")),
    };
    Ok(Some(match cluster.redundant {
        0 if config.threshold.to_f64() > 0.5 && by_shingles => {
            let parts =
                format!("; for parts that texts share: lookalike passages {place}{programs}");
            let passages = if readable { &*parts } else { "" };
            let shown = match reviewed(summary) {
                Some(1..) => "pairs to review",
                _ => "closest pair",
            };
            format!("Next: lookalike report {place}{programs}   # shows the {shown}{passages}")
        }
        0 => return Ok(None),
        _ if again => format!(
            "Next: lookalike report {place}{programs}   # then: lookalike dedup --from {place} -o {copies}"
        ),
        _ => format!("Next: lookalike report {place}{programs}"),
    }))
}

/// The pairs to review, after the place of the results.
fn to_review(summary: &Summary) -> String {
    let (Some(config), Some(n)) = (summary.join_config, reviewed(summary)) else {
        return String::new();
    };
    let (from, to) = (config.review.unwrap_or_default(), config.threshold);
    format!(
        "; to review: {} from {from} to {to} (review.tsv)",
        counted(n, "pair")
    )
}

/// Their number, if they were wanted.
fn reviewed(summary: &Summary) -> Option<u64> {
    summary.join.as_ref()?.review
}

/// Another directory of copies, and the flags with which the copies in `kept` were made.
fn other_copies(kept: &Path) -> String {
    let other = unused(kept);
    let Ok((source, _)) = DedupSource::read(kept) else {
        return path_word(&other);
    };
    // By name, so that no parameter of a later program is forgotten.
    let DedupConfig {
        keep,
        rule,
        identical,
        empty,
        rejects,
        form,
        link,
        revisit,
        results: _,
        remove,
    } = source.config;
    let usual = DedupConfig::default();
    // The record does not say the format of lists, and only these are certainly in `kept`.
    let tables = form == Form::Lists && disk::exists(&kept.join(KEPT_TABLE)).unwrap_or_default();
    let others = [
        (rule != usual.rule).then(|| format!("rule {rule}")),
        identical.map(|what| format!("identical {what}")),
        (empty != usual.empty).then(|| format!("empty {empty}")),
        (rejects != usual.rejects).then(|| format!("rejects {rejects}")),
        (revisit != usual.revisit).then(|| format!("revisit={revisit}")),
        (form == Form::Annotated).then(|| "annotate".into()),
        (form == Form::Lists).then(|| "ids-only".into()),
        tables.then(|| "results parquet".into()),
        link.then(|| "link".into()),
        remove.map(|list| format!("drop {}", path_word(&list))),
        (source.removed).then(|| format!("removed {}-removed", path_word(&other))),
    ];
    let keep = listed("", &keep, |of| flag_word(" --keep", &of.to_string()));
    let others = listed("", others.iter().flatten(), |flag| format!(" --{flag}"));
    path_word(&other) + &keep + &others
}

/// A name for the output of `dedup` that nothing has yet, nor a name that `dedup` or its advice makes
/// of it: this one, or this one with a number.
pub(crate) fn unused(name: impl AsRef<OsStr>) -> PathBuf {
    let with = |name: &OsStr, end: &str| [name, end.as_ref()].join(OsStr::new(""));
    let other = |n| with(name.as_ref(), &format!("-{n}"));
    let mut names = std::iter::once(name.as_ref().into()).chain((2..).map(other));
    let is_free = |path: OsString| !matches!(disk::is_gone(path.as_ref()), Ok(false));
    let ends = ["", ".work", "-removed"];
    let free = names.find(|name| ends.iter().all(|end| is_free(with(name, end))));
    free.unwrap_or_default().into()
}

/// The flags that name the programs of a collection, without which no command runs them.
pub(super) fn programs(collection: &Workspace) -> String {
    let programs = collection::config(&collection.manifest).read.convert.iter();
    programs
        .map(|program| format!(" {}", program.flag()))
        .collect()
}

/// A smaller shingle size that suits the documents, and their median number of words; `None` if the
/// size suits them.
fn smaller_shingles(collection: &Workspace, size: u32) -> Result<Option<(u32, u32)>> {
    let median = median_words(collection)?;
    let smaller = (median / 3).clamp(1, SHINGLE_SIZE_OF_SHORT);
    Ok((median < SHORT && smaller < size).then_some((smaller, median)))
}

/// A warning that most documents have fewer tokens than a shingle, so that only equal ones match.
///
/// # Errors
/// Those of reading the documents.
pub(super) fn short_documents(collection: &Workspace) -> Result<Option<String>> {
    let size = collection::config(&collection.manifest)
        .shingle
        .shingle_size;
    let summary = Summary::of(&collection.manifest);
    let (short, read) = (summary.ingest.short, &summary.ingest);
    let with_words = read.documents.saturating_sub(read.empty);
    if short < 2 || short <= with_words / 2 || summary.method.is_some() {
        return Ok(None);
    }
    let smaller = smaller_shingles(collection, size)?;
    let smaller = smaller.map_or(String::new(), |(smaller, _)| {
        format!("; --shingle-size {smaller} suits them")
    });
    Ok(Some(format!(
        "warning: {} of {} have fewer words than a shingle ({size}), so that they match only documents of the same \
         words, at any threshold: their near-duplicates are not found{smaller}",
        count(short),
        counted(with_words, "document")
    )))
}

/// The end of a search for passages of a collection: the documents and records that were not
/// searched, and the command that shows the pairs, or the `first` one if the page shows
/// near-duplicates. `length` is the least number of tokens of a passage, if passages are not whole
/// units.
///
/// # Errors
/// Those of reading documents and pairs.
pub(crate) fn searched(
    collection: &Workspace,
    length: Option<u32>,
    first: Option<&[String; 2]>,
) -> Result<String> {
    let mut out = String::new();
    let directory = collection.directory();
    if let Some(length) = length {
        let mut short = 0;
        each_length(collection, |_, words| {
            short += u64::from(words < length.into())
        })?;
        if short > 0 {
            let documents = counted(short, "document");
            let have = if short == 1 { "has" } else { "have" };
            let _ = writeln!(
                out,
                "{documents} {have} fewer than {length} words, too few for a passage (--length)."
            );
        }
    }
    not_used(collection, directory, &mut out)?;
    let (programs, place) = (programs(collection), path_word(directory));
    let _ = match (length, first) {
        (Some(_), Some(_)) if shows_passages(collection)? => writeln!(
            out,
            "Next: lookalike report {place}{programs}   # shows the passages side by side"
        ),
        (Some(length), Some(names)) => {
            let [a, b] = names.each_ref().map(|word| shell_word(word));
            writeln!(
                out,
                "Next: lookalike diff{programs} --length {length} --full -o diff.html -- {place} {a} {b}   # the pair that \
                 shares the most words"
            )
        }
        _ => Ok(()),
    };
    Ok(out)
}

/// The median number of words of the documents, or [`SHORT`] if it is larger.
fn median_words(collection: &Workspace) -> Result<u32> {
    let mut of_length = [0_u64; SHORT as usize + 1];
    each_length(collection, |_, words| {
        of_length[words.min(SHORT.into()) as usize] += 1
    })?;
    let half = of_length.iter().sum::<u64>().div_ceil(2);
    let mut so_far = 0;
    let median = of_length.iter().position(|n| {
        so_far += n;
        so_far >= half
    });
    Ok(median.map_or(SHORT, |words| words as u32))
}

/// Calls `take` with the docno and the number of words of each document.
pub(super) fn each_length(collection: &Workspace, mut take: impl FnMut(&str, u64)) -> Result<()> {
    let own = collection::own_segments(&collection.manifest);
    collection::each_document_of(collection, own, |_, document| {
        take(document.docno, document.words);
        Ok(())
    })
}
