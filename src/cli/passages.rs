//! `passages`: find the text that documents share.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::report::page::PageConfig;
use crate::report::rows::Rows;
use crate::report::terminal::{Growing, visible};
use crate::report::{searched, unread};
use clap::builder::{OsStringValueParser, TypedValueParser};
use lookalike_base::{Threshold, count, percent, refuse};
use lookalike_engine::cluster::ResultFormat;
use lookalike_engine::collection::{self, Captured, Catalogue, Names};
use lookalike_engine::document;
use lookalike_engine::pipeline;
use lookalike_store::{Cost, disk};
use lookalike_tasks::dedup::Unusable;
use lookalike_tasks::passages::shown::{Shared, SharedPair, most_shared, ranked};
use lookalike_tasks::passages::{
    self, Align, BoilerplateConfig, By, FILES, MatchesConfig, OVERLAPS_FILE, Of, PassagesConfig,
    RemovalConfig, RemovalSummary, ReuseConfig, Scope, Stats, Task, TextUnit, UnitsConfig,
};

use super::command::{Args, Command, Context, Out, Result};
use super::flags::CollectionFlags;
use super::report::write_page;

/// Pairs in the table of those that share the most words.
const SHOWN: usize = 10;

/// Options of `passages`.
#[derive(Debug, Args)]
#[command(mut_args(|arg| match arg.get_id().as_str() {
    "inputs" => arg
        .value_name("DIR|INPUT")
        .help("A directory of `stage ingest` or `run`, or files and directories")
        .long_help(
            "A directory of `stage ingest` or `run`, or files and directories\n\n\
             DIR alone: its inputs are read again, and the result files are written to it. Flags of \
             its last search that are not given are kept. INPUT: its documents are read into the \
             directory that --output names.",
        ),
    // An empty path stands for none.
    "output" => arg
        .required(false)
        .value_parser(OsStringValueParser::new().map(PathBuf::from))
        .default_value("")
        .hide_default_value(true),
    "exclude_text" => arg
        .help_heading("Passages")
        .help("Leave out the text of FILE, such as a template (repeatable)")
        .long_help(
            "Leave out the text of FILE, such as a template (repeatable)\n\n\
             Runs of ten words (--shingle-size) that a document of FILE has count for no passage, and \
             break none: passages are found in the words that remain. FILE is read as the inputs \
             are, and may be a directory. `none` leaves out nothing again (./none is a file).\n\n\
             Example: --exclude-text template.txt",
        ),
    "condition" => arg
        .help_heading("Passages")
        .conflicts_with_all(["remove", "no_matches", "unit"])
        .help("List matches only of pairs for which EXPR holds")
        .long_help(
            "List matches only of pairs for which EXPR holds\n\n\
             EXPR is an expression as in `lookalike help run`. overlaps.tsv, matches.tsv and the page \
             have only pairs of documents for which it holds. DIR must have the values of its \
             fields, from an earlier --where. `--where true` lists all pairs again.\n\n\
             Example: --where 'a.folder != b.folder'",
        ),
    "keep_text" | "shingle_size" | "short" | "fingerprint" | "seed" | "size_groups" => {
        arg.hide(true)
    }
    _ => arg,
}))]
pub struct Options {
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    search: SearchFlags,
    /// Format of the result files: tsv, or parquet as well [default: tsv]
    ///
    /// parquet writes a table beside each text file, with the types of its columns.
    ///
    /// Example: --results parquet
    #[arg(long, value_name = "FORMAT", help_heading = None)]
    results: Option<ResultFormat>,
    /// Also write a page with the passages side by side
    ///
    /// It is the page of `lookalike report DIR`, and DIR/report.html without FILE.
    ///
    /// Example: --report
    #[arg(
        long,
        value_name = "FILE",
        require_equals = true,
        conflicts_with_all = ["remove", "no_matches", "unit"],
        help_heading = None,
    )]
    #[expect(
        clippy::option_option,
        reason = "the flag may be missing, or have no value"
    )]
    report: Option<Option<PathBuf>>,
    #[command(flatten)]
    removal: RemovalFlags,
}

/// The flags that define a passage, and choose the passages to list.
#[derive(Debug, Args)]
#[command(next_help_heading = "Passages")]
struct SearchFlags {
    /// Least length of a passage, in tokens (1 to 500) [default: 50]
    ///
    /// A smaller K finds more passages, but more of them are there by chance. 50 is common for
    /// training data of language models, 13 for contamination.
    ///
    /// Example: --length 13
    #[arg(long, value_name = "K")]
    length: Option<u32>,
    /// Compare all documents, or representatives [default: all]
    ///
    /// representatives leaves out exact duplicates of earlier documents.
    ///
    /// Example: --of representatives
    #[arg(long, value_name = "WHICH", hide_short_help = true)]
    of: Option<Of>,
    /// List pairs that share a passage in at most N documents [default: 100]
    ///
    /// All matches of such a pair are listed; the column common marks those that lie entirely in
    /// passages of more than N documents. Such passages are listed once each, in common.tsv.
    ///
    /// Example: --max-documents 20
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(2..)
    )]
    max_documents: Option<u32>,
    /// Find reuses: matches with at most G tokens between them [default: 0]
    ///
    /// A reuse has at least --length matched tokens, in runs of at least --match-length tokens that
    /// follow each other in both documents. reuse.tsv lists reuses, reuse-matches.tsv their runs,
    /// and reuse-clusters.tsv and reuse-places.tsv all places of a text, the earliest one first.
    /// overlaps.tsv has the pairs with a reuse, and the other files are about runs of
    /// --match-length tokens. 0 finds runs without gaps again. Scans have wrong letters, so give a
    /// --match-length of 3 and a --density of 0.2 for these.
    ///
    /// Example: --gap 20
    #[arg(
        long,
        value_name = "G",
        conflicts_with_all = ["remove", "no_matches", "unit"]
    )]
    gap: Option<u32>,
    /// Least length of a match in a reuse, in tokens [default: 8]
    ///
    /// With errors of character recognition, 3 or 4 find more.
    ///
    /// Example: --gap 20 --match-length 4
    #[arg(long, value_name = "M", hide_short_help = true)]
    match_length: Option<u32>,
    /// Least share of matched tokens in a reuse [default: 0.5]
    ///
    /// Example: --gap 20 --density 0.3
    #[arg(long, value_name = "D", hide_short_help = true)]
    density: Option<Threshold>,
    /// Write only spans.tsv, removable.tsv and coverage.tsv
    #[arg(long, conflicts_with = "max_documents", hide_short_help = true)]
    no_matches: bool,
    /// Also list the passages that most hosts, sources or values share
    ///
    /// host: the hosts of the URLs. source: the input files. field:NAME: the values of a field of
    /// JSON records, or of a header of WARC records. boilerplate.tsv has the passages in two groups
    /// or more, with their text, ordered by falling number of groups; boilerplate-places.tsv has
    /// all their documents.
    ///
    /// Example: --by source
    #[arg(long, value_name = "GROUP")]
    by: Option<By>,
    /// Number of passages in boilerplate.tsv [default: 1000]
    ///
    /// Example: --by source --top 20
    #[arg(long, value_name = "N")]
    top: Option<u32>,
    /// Find repeated lines or paragraphs, not runs of --length tokens
    ///
    /// Two lines are equal if their tokens are. Paragraphs are separated by empty lines. With
    /// --remove, whole lines or paragraphs go.
    ///
    /// Example: --unit line
    #[arg(long, value_name = "UNIT", conflicts_with = "length")]
    unit: Option<TextUnit>,
    /// Compare units of all documents, or of each [default: collection]
    ///
    /// Example: --unit line --scope document
    #[arg(long, value_name = "SCOPE", hide_short_help = true)]
    scope: Option<Scope>,
    /// Least tokens of a line or paragraph that counts [default: 1]
    ///
    /// Example: --unit line --least 5
    #[arg(long, value_name = "N", hide_short_help = true)]
    least: Option<u32>,
}

/// The flags for removing passages, and for the place of the copies.
#[derive(Debug, Args)]
#[command(next_help_heading = "Removing")]
struct RemovalFlags {
    /// Write copies of the inputs without removable text to KEPT
    ///
    /// --output names KEPT, which must be new or empty. It gets one file for each input file, under
    /// the same relative path, in the same format, compression and order. Only the text changes;
    /// the first occurrence of each passage is kept. The inputs must be JSON, Parquet or plain
    /// text. The same command continues after a stop.
    ///
    /// Example: --remove
    #[arg(long)]
    remove: bool,
    /// Remove tokens, or only whole lines or paragraphs [default: token]
    ///
    /// token removes runs of removable tokens. Punctuation and white space are kept on one side of
    /// them: the side with more line feeds, or the left side if both have the same number. line
    /// removes a line if all its tokens are removable. paragraph does the same for paragraphs,
    /// which are separated by empty lines.
    ///
    /// Example: --remove --align line
    #[arg(long, value_name = "TO", requires = "remove")]
    align: Option<Align>,
    /// Keep or drop documents that have no text left
    ///
    /// drop also leaves out documents that had no words.
    ///
    /// Example: --remove --empty drop
    #[arg(long, value_name = "WHAT", default_value = "keep", requires = "remove")]
    empty: Unusable,
    /// Directory for the removed text, a line of JSON for each range
    ///
    /// It gets a file NAME.removed.jsonl for each input file NAME that loses text. Each line has
    /// the removed text and its position in the text of its document.
    ///
    /// Example: --remove --removed removed
    #[arg(long, value_name = "REMOVED", requires = "remove")]
    removed: Option<PathBuf>,
    /// Working directory, for INPUT with --remove [default: KEPT.work]
    ///
    /// It has the documents and the result files. A directory that an earlier command made from the
    /// same inputs with the same parameters is reused.
    ///
    /// Example: --remove --work work
    #[arg(long, value_name = "DIR", requires = "remove", hide_short_help = true)]
    work: Option<PathBuf>,
}

impl Command for Options {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let (flags, removal) = (&self.collection, &self.removal);
        let inputs = flags.choice();
        let search = &self.search;
        let lists_pairs = !(removal.remove || search.no_matches || search.unit.is_some());
        let before = match passages::directory(&inputs.paths)? {
            Some(directory) => {
                let manifest = pipeline::look(directory)?;
                let before = PassagesConfig::before(&manifest).unwrap_or_default();
                let condition = collection::config(&manifest).condition.clone();
                PassagesConfig {
                    condition: before.condition.or(condition.filter(|_| lists_pairs)),
                    ..before
                }
            }
            None => PassagesConfig::default(),
        };
        let mut kept = said(&before);
        let config = self.config(before);
        search.check(&config)?;
        // Only parameters that the flags alone would not give are reported.
        let (alone, now) = (said(&self.config(PassagesConfig::default())), said(&config));
        kept.retain(|said| now.contains(said) && !alone.contains(said));
        if !kept.is_empty() {
            let line = format!("kept from the last search: {}", kept.join(", "));
            context.progress.note(&line);
        }
        let align = match &config.units {
            None => Align::Token,
            Some(units) if units.unit == TextUnit::Line => Align::Line,
            Some(_) => Align::Paragraph,
        };
        let task = Task {
            inputs,
            collection: flags.all_texts()?,
            strict: flags.strict,
            output: &flags.output,
            work: removal.work.as_deref(),
            remove: removal.remove.then(|| RemovalConfig {
                align: removal.align.unwrap_or(align),
                empty: removal.empty,
            }),
            removed: removal.removed.as_deref(),
            passages: config,
            exclude_text: match &flags.exclude_text[..] {
                [] => None,
                [none] if none.as_os_str() == "none" => Some(&[]),
                files => Some(files),
            },
            page: self.report == Some(None),
        };
        let done = task.run(context);
        let done = done.map_err(|error| error.named_by("work", task.work))?;
        let directory = &done.directory;
        out.result(&done, || {
            let mut text = table(&done.found, &task.passages, removal.remove, directory);
            if let Some(removed) = &done.removal {
                text += &removal_table(removed, &done.found, (task.output, task.removed));
            }
            let workspace = pipeline::open_shared(directory, context)?;
            let length = task
                .passages
                .units
                .is_none()
                .then_some(task.passages.length);
            let mut shared = match disk::exists(&directory.join(OVERLAPS_FILE))? {
                true => ranked(directory, None, SHOWN, context)?,
                false => Shared::default(),
            };
            let documents = shared.pairs.iter().flat_map(|pair| pair.documents);
            // Else no pair shares words of another one, which only longer tables say.
            if documents.collect::<HashSet<_>>().len() < 2 * shared.pairs.len() {
                shared = most_shared(directory, SHOWN, context)?;
            }
            let pairs = &shared.pairs;
            if !pairs.is_empty() {
                let names = Catalogue::names(&workspace, &context.budget)?;
                text += &pairs_table(pairs, &names, out.columns())?;
            }
            for line in &shared.repeated {
                let _ = writeln!(text, "{}", visible(line));
            }
            if !shared.repeated.is_empty() {
                text += "pairs that share only words of a row above come after the others\n";
            }
            let first = pairs.first().filter(|_| self.report.is_none());
            let name = |document| document::name_of(&workspace, document, context);
            let first = match first.map(|pair| pair.documents) {
                Some([a, b]) => Some([name(a)?, name(b)?]),
                None => None,
            };
            text += &searched(&workspace, length, first.as_ref())?;
            Ok(text)
        })?;
        if let Some(page) = &self.report {
            let (page, config) = (page.as_deref(), PageConfig::default());
            let written = write_page(directory, &config, page, out, context);
            written.map_err(|error| error.named_by("report", page))?;
        }
        unread::warn(&pipeline::open_shared(directory, context)?, 0, context)
    }
}

impl Options {
    /// Returns the parameters of the flags; the rest is as in the search before.
    fn config(&self, before: PassagesConfig) -> PassagesConfig {
        let flags = &self.search;
        let units = before
            .units
            .filter(|_| flags.length.is_none() && flags.gap.is_none_or(|gap| gap == 0));
        let unit = flags.unit.or(units.as_ref().map(|of| of.unit));
        let units = unit.map(|unit| UnitsConfig {
            unit,
            scope: (flags.scope).unwrap_or(units.as_ref().map_or(Scope::Collection, |of| of.scope)),
            least: flags.least.unwrap_or(units.map_or(1, |of| of.least)),
        });
        let matches = before.matches.filter(|_| !flags.no_matches);
        let asked = flags.max_documents.is_some() || flags.gap.is_some();
        let matches = matches.or(asked.then(MatchesConfig::default));
        let length = flags.length.unwrap_or(before.length);
        let matches = matches.map(|matches| MatchesConfig {
            max_documents: flags.max_documents.unwrap_or(matches.max_documents),
            reuse: flags.reuse(matches.reuse, length),
        });
        let (by, top) = before.boilerplate.map(|of| (of.by, of.top)).unzip();
        let boilerplate = flags.by.clone().or(by).map(|by| BoilerplateConfig {
            by,
            top: flags.top.or(top).unwrap_or(1000),
        });
        PassagesConfig {
            length,
            of: flags.of.unwrap_or(before.of),
            units,
            condition: self.collection.condition.clone().or(before.condition),
            excluded: (before.excluded).filter(|_| self.collection.exclude_text.is_empty()),
            matches,
            boilerplate,
            results: self.results.unwrap_or(before.results),
        }
    }
}

impl SearchFlags {
    /// Refuses flags of a search that is not asked for, now or before.
    fn check(&self, config: &PassagesConfig) -> Result<()> {
        let gap = ("gap", config.reuse().is_none());
        let unit = ("unit", config.units.is_none());
        let by = ("by", config.boilerplate.is_none());
        for (flag, given, (needed, missing)) in [
            ("match-length", self.match_length.is_some(), gap),
            ("density", self.density.is_some(), gap),
            ("scope", self.scope.is_some(), unit),
            ("least", self.least.is_some(), unit),
            ("top", self.top.is_some(), by),
        ] {
            if given && missing {
                return refuse(needed, "", format!("--{flag} needs it"));
            }
        }
        Ok(())
    }

    /// Returns the definition of a reuse of at least `length` tokens; the rest is as in the search
    /// before.
    fn reuse(&self, before: Option<ReuseConfig>, length: u32) -> Option<ReuseConfig> {
        let gap = self.gap.or(before.map(|of| of.gap));
        let before = before.unwrap_or_default();
        let of = ReuseConfig {
            gap: gap.unwrap_or(0),
            match_length: self.match_length.unwrap_or(before.match_length.min(length)),
            density: self.density.unwrap_or(before.density),
        };
        (of.gap > 0 && self.unit.is_none()).then_some(of)
    }
}

/// Lists the parameters of a search for people.
fn said(config: &PassagesConfig) -> Vec<String> {
    let parameters = config.parameters().into_iter();
    let said = parameters.map(|(name, value)| match name {
        "exclude-text" => "the excluded text".into(),
        _ => format!("{name} {value}"),
    });
    let matches = config.matches.map_or("no-matches".into(), |of| {
        format!("max-documents {}", of.max_documents)
    });
    let by = config.boilerplate.iter();
    let by = by.map(|of| format!("by {}, top {}", of.by, of.top));
    let others = [matches, format!("results {}", config.results)];
    said.chain(others).chain(by).collect()
}

/// Pairs as a table. Captures also have their addresses and dates.
fn pairs_table(pairs: &[SharedPair], names: &Names, columns: usize) -> Result<String> {
    let name = |(docno, captured): (Cow<'_, str>, Captured)| {
        let parts = [Some(docno.into_owned()), captured.url, captured.date];
        parts.into_iter().flatten().collect::<Vec<_>>().join("  ")
    };
    let rows = pairs.iter().map(|pair| {
        let [a, b] = pair.shares.map(|share| percent(share, 1));
        let [who, whom] = pair
            .documents
            .map(|document| names.named(document).map(name));
        Ok(vec![who?, whom?, count(pair.words[0]), a, b])
    });
    let head = "document,shares with,words,of the document,of the other";
    let table = Growing::new(head.split(','), 2, columns).rows(rows.collect::<Result<_>>()?);
    Ok(format!("\n{table}"))
}

/// Describes the removals for people.
fn removal_table(
    summary: &RemovalSummary,
    found: &Stats,
    (kept, removed): (&Path, Option<&Path>),
) -> String {
    let mut rows = Rows::new(14);
    let (documents, tokens) = (summary.documents, found.tokens);
    rows.part("documents that lose text", summary.changed, documents);
    rows.part("  all of it", summary.emptied, documents);
    rows.count("documents left out", summary.dropped);
    rows.count("ranges removed", summary.ranges);
    rows.part("  tokens", summary.removed_tokens, tokens);
    rows.part("  bytes of text", summary.removed_bytes, found.bytes);
    rows.count("files", summary.files);
    rows.count("  that lose nothing", summary.whole_files);
    let mut text = format!("\n{}", timed(rows, &summary.cost));
    let _ = writeln!(text, "copies in {}", kept.display());
    if let Some(removed) = removed {
        let _ = writeln!(text, "removed text in {}", removed.display());
    }
    text
}

/// The rows as text, with the time that the work took.
fn timed(mut rows: Rows, cost: &Cost) -> String {
    rows.row("seconds", format!("{:>14.1}", cost.wall_seconds));
    rows.row("CPU seconds", format!("{:>14.1}", cost.cpu_seconds));
    rows.text(28)
}

/// The findings as text for people.
fn table(stats: &Stats, config: &PassagesConfig, removed: bool, out: &Path) -> String {
    let title = match &config.units {
        Some(units) => format!("repeated {}s", units.unit),
        None => {
            let gaps = config.reuse().map(|of| {
                format!(
                    " with gaps of at most {}, of runs of at least {}",
                    of.gap, of.match_length
                )
            });
            let gaps = gaps.unwrap_or_default();
            format!("passages of at least {} tokens{gaps}", config.length)
        }
    };
    let of_runs = config.reuse().is_some();
    let repeats = if of_runs { "run" } else { "passage" };
    let config = config.units.is_none().then_some(config);
    let mut rows = Rows::new(14);
    let (documents, tokens) = (stats.documents, stats.tokens);
    rows.count("documents", documents);
    rows.part(
        &format!("  with a repeated {repeats}"),
        stats.repeating,
        documents,
    );
    rows.count("tokens", tokens);
    rows.part("  repeated", stats.repeated_tokens, tokens);
    rows.part("  removable", stats.removable_tokens, tokens);
    rows.any("  excluded", stats.excluded_tokens);
    rows.count("spans", stats.spans);
    rows.count("longest span, in tokens", stats.longest);
    let matches = config.is_some_and(|config| config.matches.is_some() && !removed);
    if matches {
        rows.count("pairs of documents", stats.pairs);
        rows.any("  with too many matches", stats.unlisted_pairs);
        rows.count("matches", stats.matches);
        if of_runs {
            rows.count("reuses", stats.reuses);
            rows.count("clusters of reuses", stats.reuse_clusters);
        }
        rows.count("common passages", stats.common);
    }
    let mut text = format!("{title}\n{}", timed(rows, &stats.cost));
    let most = config.and_then(|config| config.matches.as_ref());
    if let Some(most) = most.filter(|_| matches && stats.common > 0) {
        let most = count(most.max_documents.into());
        let _ = writeln!(
            text,
            "a common passage is in more than {most} documents, and makes no pairs of them: \
             --max-documents sets the limit"
        );
    }
    let mut files = FILES[..3].to_vec();
    if matches {
        match config.and_then(PassagesConfig::reuse) {
            Some(_) => files.extend(FILES[4..7].iter().chain(&FILES[9..])),
            None => files.extend(&FILES[3..7]),
        }
    }
    let conditional = config.and_then(|config| config.condition.as_ref());
    if conditional.is_some_and(|of| matches && !of.is_true()) {
        text += "--where limits the pairs and what they share, not the counts of passages\n";
    }
    if let Some(boilerplate) = config.and_then(|config| config.boilerplate.as_ref()) {
        files.extend(&FILES[7..9]);
        let name = format!("passages in several groups ({})", boilerplate.by);
        let _ = writeln!(text, "{name:<42}{:>14}", count(stats.boilerplate));
    }
    let _ = writeln!(text, "results in {}: {}", out.display(), files.join(", "));
    text
}
