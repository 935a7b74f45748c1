//! `dedup`: write the inputs again without their duplicates.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::report::page::PageConfig;
use crate::report::{self, dedup_ledger, unread};
use lookalike_base::{Measure, refuse};
use lookalike_engine::join::Pairs;
use lookalike_engine::pipeline;
use lookalike_rewrite::output;
use lookalike_store::{Cost, remote};
use lookalike_tasks::audit::AuditConfig;
use lookalike_tasks::dedup::{
    self, DedupConfig, DedupSource, DedupSummary, Form, Identical, Policy, Revisit, Rule, Search,
    Unusable,
};

use super::command::{Args, Command, Context, Out, Result};
use super::flags::{AuditFlags, CollectionFlags, CriterionFlags};
use super::run::{DEDUP_STAGES, ResultFlags};

/// Options of `dedup`.
#[derive(Debug, Args)]
#[command(mut_args(|arg| match arg.get_id().as_str() {
    "inputs" => arg
        .required(false)
        .required_unless_present("from")
        .help("Files and directories"),
    "output" => arg
        .value_name("KEPT")
        .help("Directory for the kept records, which must be new or empty")
        .long_help(
            "Directory for the kept records, which must be new or empty\n\n\
             It gets one file for each input file, under the same relative path, in the same \
             format, compression and order. The same command continues a directory that it began. \
             KEPT may also be an address of an object store: s3://, gs:// or az://.",
        ),
    "keep_text" => arg.hide(true),
    "results" => arg
        .help("Format of the lists of documents: tsv or parquet")
        .long_help(
            "Format of the lists of documents: tsv or parquet\n\n\
             parquet writes removed.parquet in place of removed.jsonl, and with --ids-only \
             kept.parquet and removed.parquet in place of the .tsv files. The working directory \
             gets pairs.parquet, clusters.parquet and documents.parquet beside its text files, \
             unless it is given by --from.\n\n\
             Example: --removed removed --results parquet",
        ),
    _ => arg,
}))]
pub struct Options {
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    comparison: CriterionFlags,
    /// Pairs to list in the working directory: all or none
    ///
    /// none only finds clusters, and compares the documents of a cluster with kept ones. The kept
    /// and removed records are the same. Use it for collections with thousands of pages of one
    /// template, which have millions of pairs. It is not possible with --against or --where, nor for
    /// --drop with --rule one-per-cluster or drop-clusters.
    ///
    /// Example: --pairs none
    #[arg(
        long,
        value_name = "PAIRS",
        default_value_t = Pairs::default(),
        conflicts_with = "from",
        help_heading = "Pairs"
    )]
    pairs: Pairs,
    /// Directory for the removed records, with the reason for each
    ///
    /// The directory mirrors the inputs, like KEPT. removed.jsonl in it has a line for each removed
    /// document: its place and docno, the reason, the document that was kept in its place, their
    /// resemblance, and the cluster. referred.jsonl has the same for duplicates that are kept because
    /// a revisit record of the inputs refers to them. With --results parquet these are tables. DIR
    /// may be an address of an object store, as KEPT may.
    ///
    /// Example: --removed removed
    #[arg(long, value_name = "DIR", help_heading = None)]
    removed: Option<PathBuf>,
    /// Working directory [default: KEPT.work]
    ///
    /// It has what `lookalike run` writes, and is reused if an earlier run made it from the same
    /// inputs with the same parameters. It is on this machine: for a KEPT in an object store, the
    /// default is NAME.work in the current directory, where NAME is the last part of the address.
    ///
    /// Example: --work run
    #[arg(long, value_name = "DIR", conflicts_with = "from", help_heading = None)]
    work: Option<PathBuf>,
    /// Use the pairs of a finished directory, in place of INPUT
    ///
    /// DIR is the output directory of `lookalike run`. Its inputs are read again. With --rule
    /// keep-all, DIR needs no pairs (`lookalike stage ingest`), except for --removed, --annotate,
    /// --report and --ids-only --results parquet.
    ///
    /// Example: --from run
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["inputs", "threshold", "score", "exclude_text", "condition", "ShingleFlags", "text_field",
            "id_field", "url_field"],
        help_heading = None
    )]
    from: Option<PathBuf>,
    #[command(flatten)]
    choice: ChoiceFlags,
    /// Write all records, and add to each whether it is kept (JSON, Parquet)
    ///
    /// Each object gets a member lookalike with cluster, cluster_size, survivor, resemblance and
    /// kept; each row of a Parquet file gets a column of that name.
    ///
    /// Example: --annotate
    #[arg(long, conflicts_with_all = ["removed", "ids_only"], help_heading = None)]
    annotate: bool,
    /// Write lists of the kept and removed documents, not the records
    ///
    /// KEPT gets kept.tsv and removed.tsv: file, record number, byte offset and docno of each
    /// document, and for removed ones the reason and the kept document.
    ///
    /// Example: --ids-only
    #[arg(long, conflicts_with = "removed", help_heading = None)]
    ids_only: bool,
    /// Make hard links of files that lose nothing, not copies
    ///
    /// A change of such an input then also changes the kept file. Files are copied if the file
    /// system has no links.
    ///
    /// Example: --link
    #[arg(long, hide_short_help = true, help_heading = None)]
    link: bool,
    /// Also write a page that says what was removed [default: KEPT.report.html]
    ///
    /// It is the page of `lookalike report KEPT`. FILE may be an address of an object store.
    ///
    /// Example: --report=removed.html --by host
    #[arg(
        long,
        value_name = "FILE",
        require_equals = true,
        help_heading = "Deduplication"
    )]
    #[expect(
        clippy::option_option,
        reason = "the flag may be missing, or have no value"
    )]
    report: Option<Option<PathBuf>>,
    #[command(flatten)]
    audit: AuditFlags,
    /// Seed of the random sample on the page of --report
    ///
    /// Example: --report --sample-seed 1
    #[arg(
        long,
        value_name = "N",
        default_value_t = AuditConfig::default().seed,
        help_heading = "Deduplication",
        hide_short_help = true
    )]
    sample_seed: u64,
    #[command(flatten)]
    end: ResultFlags,
}

/// The flags that choose the records to keep and to remove.
#[derive(Debug, Args)]
#[command(next_help_heading = "Choice")]
struct ChoiceFlags {
    /// Also remove records that resemble a document of OLD, an earlier run
    ///
    /// OLD is the output directory of a run with the same parameters, and is only read. Its documents
    /// come before the new ones in the order of preference; --keep decides among the new ones.
    ///
    /// Example: --against out
    #[arg(long, value_name = "OLD", conflicts_with = "from")]
    against: Option<PathBuf>,
    /// Also remove the documents that FILE lists, before the choice
    ///
    /// FILE is a table with the columns file and record, separated by tabs, such as the drop.tsv of
    /// `lookalike contamination`, or rows of documents.tsv below its header. A docno in it must match
    /// the document. A listed document is never kept in the place of another one, and a listed
    /// document that the inputs do not have is an error. To remove nothing else, add --rule
    /// keep-all.
    ///
    /// Example: --drop drop.tsv
    #[arg(long, value_name = "FILE")]
    drop: Option<PathBuf>,
    /// Prefer this document among duplicates (repeatable)
    ///
    /// first and last: in the order of the input. longest, shortest: by words. newest:FIELD,
    /// oldest:FIELD: by a date (RFC 3339, or a number) in the record; WARC-Date without FIELD.
    /// max:FIELD, min:FIELD: by a number or date. prefer:FIELD=A,B: A before B before all other
    /// values. prefer-input:GLOB,GLOB: by the name of the input file. The first --keep decides, the
    /// next ones break its ties, and the order of the input breaks the rest. A document without the
    /// field comes last. With --score containment, a document with more shingles comes first,
    /// whatever --keep says.
    ///
    /// Example: --keep prefer:source=wiki,books --keep longest
    #[arg(long, value_name = "POLICY")]
    keep: Vec<Policy>,
    /// Keep star, one-per-cluster, drop-clusters or keep-all
    ///
    /// star takes the documents in the order of --keep and removes each document that reaches the
    /// threshold with a document kept before. So no two kept documents reach it, and each removed
    /// one reaches it with the kept document that removed.jsonl names. one-per-cluster keeps one
    /// document of each cluster, even where a chain of similar documents connects dissimilar ones.
    /// drop-clusters removes all documents of every cluster. keep-all removes only what --drop and
    /// --empty drop name.
    ///
    /// Example: --rule one-per-cluster
    #[arg(long, value_name = "RULE", default_value_t = Rule::Star)]
    rule: Rule,
    /// Only remove a record whose payload, text or words are identical
    ///
    /// No near-duplicate is removed. payload: the body of the WARC record is the same, byte for byte;
    /// so with --revisit --keep oldest, each removed capture leaves a record that replay can follow.
    /// text: the text is the same, byte for byte. words: only the words are.
    ///
    /// Example: --identical text
    #[arg(long, value_name = "WHAT", conflicts_with_all = ["rule", "score", "condition"], hide_short_help = true)]
    identical: Option<Identical>,
    /// Keep or drop documents without words
    ///
    /// A message without text other than its subject counts as one: the rest of it is an
    /// attachment, an image or encrypted.
    ///
    /// Example: --empty drop
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "keep",
        hide_short_help = true
    )]
    empty: Unusable,
    /// Keep or drop records that could not be read as documents
    ///
    /// Example: --rejects drop
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "keep",
        hide_short_help = true
    )]
    rejects: Unusable,
    /// Leave a WARC revisit record in place of a removed record
    ///
    /// The record says which capture was removed, and refers to the kept one; the request and
    /// metadata records of the capture are kept. --revisit leaves one if the payloads have the same
    /// bytes and the kept capture is not the later one, as the WARC standard requires (use --keep
    /// oldest). --revisit=all also leaves one for every other removed response or resource that has a
    /// survivor, with a profile of lookalike's own.
    ///
    /// Example: --revisit --keep oldest
    #[arg(
        long,
        value_name = "WHICH",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "identical",
        conflicts_with_all = ["annotate", "ids_only"],
    )]
    revisit: Option<Revisit>,
}

impl Command for Options {
    fn stages(&self) -> &'static [&'static str] {
        match self.from {
            Some(_) => &["dedup", "write"],
            None => DEDUP_STAGES,
        }
    }

    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let flags = &self.collection;
        self.end.results.some()?;
        let config = self.config();
        let criterion = self.comparison.criterion();
        if !matches!(
            criterion.measure,
            Measure::Resemblance | Measure::Containment
        ) {
            let limit = "dedup uses resemblance or containment";
            return refuse("score", criterion.measure, limit);
        }
        if let Some(work) = self.work.as_deref().filter(|work| remote::is_address(work)) {
            let limit = "it is a directory of this machine; give one on a disk with room for it";
            return refuse("work", work.display(), limit);
        }
        let outputs = (flags.output.as_path(), self.removed.as_deref());
        let work = match (&self.from, &self.work) {
            (Some(directory), _) | (None, Some(directory)) => directory.clone(),
            (None, None) => dedup::work_directory(&flags.output),
        };
        let page = self.page(&work)?;
        let workspace = match &self.from {
            Some(directory) => {
                let workspace = pipeline::open(directory)?;
                if page.is_some() {
                    // The page has the clusters.
                    dedup::check_pairs("from", &workspace)?;
                }
                workspace
            }
            None => {
                let search = Search {
                    inputs: flags.choice(),
                    collection: flags.config(context)?,
                    criterion,
                    pairs: self.pairs,
                    against: self.choice.against.as_deref(),
                    strict: flags.strict,
                };
                dedup::search(&search, &work, &config, outputs, context)
                    .map_err(|error| error.named_by("work", Some(&work)))?
            }
        };
        if workspace.manifest.base.is_some() && !self.choice.keep.is_empty() {
            let line =
                "--keep decides among the new documents; those of --against come before them";
            context.progress.note(line);
        }
        self.note_policy(&work, context);
        let summary = dedup::run(&workspace, &config, outputs, context)?;
        let printed = Printed {
            summary: &summary,
            costs: &summary.costs,
        };
        out.result(&printed, || {
            let places = (outputs.0, outputs.1, page.as_deref());
            let searched = (&workspace, work.as_path());
            let answer = report::deduplicated(&summary, searched, places, &config)?;
            let ledger = || dedup_ledger(&summary, self.choice.rule);
            (self.end.verbose).text(answer, ledger, &workspace)
        })?;
        let Some(page) = page else {
            return unread::warn(&workspace, 0, context);
        };
        let audited = AuditConfig {
            seed: self.sample_seed,
            ..AuditConfig::default()
        };
        let (kept, look) = (&flags.output, PageConfig::default());
        let told = (self.audit).write(kept, &workspace, &page, audited, &look, context)?;
        out.note(|| Ok(told))?;
        unread::warn(&workspace, 0, context)
    }
}

impl Options {
    /// Says what --from without --keep leaves out of the command that made the copies beside `work`.
    fn note_policy(&self, work: &Path, context: &Context<'_>) {
        let copies = work.with_extension("");
        if self.from.is_some()
            && self.choice.keep.is_empty()
            && let Ok((DedupSource { config, .. }, _)) = DedupSource::read(&copies)
            && let Some(policy) = config.keep.first()
        {
            let copies = copies.display();
            let line = format!("--keep first, the default; {copies} was made with --keep {policy}");
            context.progress.note(&line);
        }
    }

    fn config(&self) -> DedupConfig {
        let choice = &self.choice;
        DedupConfig {
            keep: choice.keep.clone(),
            rule: choice.rule,
            identical: choice.identical,
            empty: choice.empty,
            rejects: choice.rejects,
            form: match (self.annotate, self.ids_only) {
                (true, _) => Form::Annotated,
                (_, true) => Form::Lists,
                _ => Form::Records,
            },
            link: self.link,
            revisit: choice.revisit.unwrap_or_default(),
            results: self.end.results.results.unwrap_or_default(),
            remove: choice.drop.clone(),
        }
    }

    /// The file of the page, if one is wanted.
    fn page(&self, work: &Path) -> Result<Option<PathBuf>> {
        let Some(page) = &self.report else {
            (self.audit).refuse(false, || "it needs a page; add --report".into())?;
            return Ok(None);
        };
        let review = self.audit.review();
        let taken = [Some(work), self.removed.as_deref()];
        let taken: Vec<&Path> = taken.into_iter().flatten().collect();
        let (kept, page) = (&self.collection.output, page.as_deref());
        let page = report::place_audit(kept, "report", page, review, &taken)?;
        for (parameter, file) in [("report", Some(page.as_path())), ("verdicts", review)] {
            let Some(file) = file else { continue };
            for input in &self.collection.input.inputs {
                output::check_outside(parameter, file, input)?;
            }
        }
        Ok(Some(page))
    }
}

/// The object that `--json` prints.
#[derive(serde::Serialize)]
struct Printed<'s> {
    #[serde(flatten)]
    summary: &'s DedupSummary,
    costs: &'s BTreeMap<&'static str, Cost>,
}
