//! The commands, and the overview that `lookalike` prints without one.

use std::any::TypeId;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use lookalike_base::Result;
use lookalike_store::disk;
use lookalike_store::remote;
use lookalike_store::workspace::refuse_remote;

use super::command::Run;
use super::context::{Host, ProgressForm};
use super::flags::StoreFlags;
use super::*;

/// Find near-duplicate documents exactly, in bounded memory
///
/// lookalike reads collections that do not fit in memory, lists every pair of documents whose
/// resemblance reaches a threshold, and groups the pairs into clusters. Results go to standard
/// output, progress and messages to standard error. A command that was stopped can be repeated: it
/// continues from the last committed step. NO_COLOR in the environment turns colours off.
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    after_long_help = STATUS
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Chosen,
    /// How to show progress on standard error: auto or json
    ///
    /// "auto" draws a bar on a terminal and prints lines elsewhere. "json" prints a JSON object on
    /// a line when a stage begins and ends, once a second in between, and for each remark, even
    /// with --quiet.
    ///
    /// Example: --progress json
    #[arg(
        long,
        value_name = "FORM",
        global = true,
        default_value = "auto",
        hide_short_help = true
    )]
    pub progress: ProgressForm,
    #[command(flatten)]
    pub stores: StoreFlags,
    /// The first path that is an address and cannot be one.
    #[arg(skip)]
    pub remote: Option<PathBuf>,
    /// The arguments that are addresses.
    #[arg(skip)]
    pub addresses: Vec<PathBuf>,
}

const STATUS: &str = "Exit status:
  0    done
  1    failed; standard error says why and what to do
  2    wrong usage
  130  stopped by a signal; the same command continues";

/// Defines the commands of each group of the overview, in its order, with their help and examples,
/// and runs the chosen one.
macro_rules! commands {
    ($($group:ident: $($(#[$about:meta])* $($example:literal)+ $name:ident($options:ty),)*)*) => {
        /// The commands.
        #[derive(Debug, Subcommand)]
        pub enum Chosen {
            $($(
                $(#[$about])*
                #[command(after_long_help = concat!("Examples:" $(, "\n  ", $example)+))]
                $name($options),
            )*)*
        }

        /// The commands by purpose.
        const GROUPS: &[(&str, &[&str])] = &[$((stringify!($group), &[$(stringify!($name)),*])),*];

        impl Run for Chosen {
            fn main(&self, host: &dyn Host) -> Result<ExitCode> {
                match self {
                    $($(Chosen::$name(options) => options.main(host),)*)*
                }
            }
        }
    };
}

commands! {
    Find:
    /// Find near-duplicate pairs and clusters of documents
    ///
    /// Reads every INPUT and writes pairs.tsv, clusters.jsonl, exact-duplicates.tsv, documents.tsv,
    /// rejects.jsonl and summary.json to DIR. The same command continues a run that was stopped.
    /// Another --threshold, --sampling or --max-postings with the same DIR reuses the collection in
    /// it.
    "lookalike run sample-corpora/trec-web -o out"
    "lookalike run sample-corpora/trec-web -o out --threshold 0.5"
    "lookalike run sample-corpora/files/a sample-corpora/warc -o pages --memory 512MiB"
    "lookalike run sample-corpora/jsonl -o rows --text-field text --id-field id"
    Run(Box<run::RunOptions>),
    /// Copy the inputs without their duplicates
    ///
    /// Finds pairs as `lookalike run` does, and writes every INPUT again without the redundant
    /// records. Kept records do not change, and --removed lists the reason for each removal.
    "lookalike dedup sample-corpora/jsonl -o kept --removed removed"
    "lookalike dedup sample-corpora/trec-web -o long --threshold 0.7 --keep longest"
    "lookalike run sample-corpora/warc -o pages"
    "lookalike dedup --from pages -o latest --keep newest"
    Dedup(Box<dedup::Options>),
    /// Add inputs to a collection, and update its results
    ///
    /// The new documents follow the documents in DIR. The results are the same as after a run over
    /// the old and the new inputs, but the command searches only for pairs with a new document. The
    /// first addition makes an index of the collection, and later ones extend it. Inputs that are
    /// already in the collection are left out, and the files of the old inputs need not exist any
    /// more. The same command continues an addition that was stopped.
    "lookalike run sample-corpora/trec-web/a.gz -o out"
    "lookalike add out sample-corpora/trec-web/b.gz"
    Add(add::Options),
    /// Read documents into a collection, without finding pairs
    ///
    /// The collection in DIR is the input of the other commands.
    "lookalike ingest sample-corpora/trec-web -o out"
    "lookalike ingest sample-corpora/mail -o kept --keep-text"
    Ingest(run::IngestOptions),
    /// Find the pairs and clusters of an ingested collection
    ///
    /// Reuses the committed stages in DIR that the flags do not change, and replaces the results in
    /// DIR.
    "lookalike ingest sample-corpora/trec-web -o out"
    "lookalike join out --threshold 0.5"
    Join(run::JoinOptions),
    /// Make clusters and result files from the pairs found
    ///
    /// Writes pairs.tsv, clusters.jsonl and the other result files to DIR. `run` and `join` also do
    /// this. This command makes them again, for example after a file was deleted.
    "lookalike ingest sample-corpora/trec-web -o out"
    "lookalike join out"
    "lookalike cluster out"
    Cluster(run::ClusterOptions),
    /// Search on many machines, as an array of jobs
    ///
    /// `plan` cuts a search into tasks, `run` does one of them, and `finish` makes the output
    /// directory that `lookalike run` makes. The tasks share nothing but EXCHANGE, a directory that
    /// all machines see or a prefix of an object store, so any scheduler can start them: Slurm, AWS
    /// Batch, GNU parallel, xargs.
    "lookalike tasks plan sample-corpora/trec-web --tasks 2 -o shared"
    "seq 0 15 | xargs -P 2 -I {} lookalike tasks run shared --task {} --wait 600"
    "lookalike tasks status shared"
    "lookalike tasks finish shared -o out"
    Tasks(tasks::Options),
    /// Find pairs by a published method, or list the methods
    ///
    /// Without SPEC, lists the methods. Without DIR, describes the method SPEC and its parameters.
    /// With both, finds pairs and clusters by the method and writes them to DIR/methods/SPEC. The
    /// same command continues a run that was stopped.
    "lookalike method"
    "lookalike method super-shingles"
    "lookalike ingest sample-corpora/trec-web -o kept --keep-text"
    "lookalike method super-shingles:k=4 kept"
    Method(method::Options),
    /// Find documents of a collection that resemble new ones
    ///
    /// Prints one line for each document found, the most similar first; with --json, one line for
    /// each query. contains_query is the share of the query's shingles that the document has,
    /// in_query the share of the document's shingles that the query has, and keys_query and keys
    /// are the numbers of their shingles. A document that has exact duplicates in the collection
    /// is listed once, by the docno of its representative. `ingest` is enough: the command does not
    /// need the pairs. It reads the JSON fields that the collection was made with, unless flags
    /// name other fields.
    "lookalike run sample-corpora/trec-web -o out"
    "lookalike query out sample-corpora/files/a --top 3"
    "lookalike query out sample-corpora/files/a --containing 0.5 --json"
    Query(query::Options),
    /// Make an index of a collection, for fast look-ups
    ///
    /// With an index, `query` reads a few blocks for each document that it looks up, instead of all
    /// sets; the answers are the same. The index takes about 6 bytes for each shingle of a
    /// document. The same command continues after a stop.
    "lookalike ingest sample-corpora/trec-web -o out"
    "lookalike index out"
    "lookalike query out sample-corpora/files/a --top 3"
    Index(index::Options),
    /// Find the passages that documents share, and their places
    ///
    /// A passage is a run of at least --length tokens that occurs twice or more in the collection,
    /// in two documents or in one. Writes spans.tsv (where each document repeats text),
    /// removable.tsv (the text that can be removed while one copy of each passage is kept) and
    /// coverage.tsv (how much of each document is repeated and removable) to the directory. With
    /// --remove, it also writes copies of the inputs without the removable text.
    "lookalike passages sample-corpora/jsonl -o shared --length 20"
    "lookalike passages sample-corpora/jsonl/text.jsonl.zst --remove -o kept"
    "lookalike passages sample-corpora/jsonl/text.jsonl.zst --unit line --remove -o lines"
    "lookalike run sample-corpora/trec-web -o out"
    "lookalike passages out"
    Passages(Box<passages::Options>),
    /// Find the items of test sets in a corpus
    ///
    /// The test sets are held in memory, and the corpus is read once. An item is found in a
    /// document if they share a run of --ngram words. Case, punctuation and line breaks do not
    /// matter, because words are compared. Prints a table of covered items. The column "one
    /// document" counts the items with at least the given share of their words in a single
    /// document, and "all together" the items with that share in all documents together. With -o,
    /// writes items.tsv with a line for each item, contaminated.jsonl with the documents and the
    /// places of the runs, drop.tsv with the documents to remove (`lookalike dedup --remove`),
    /// rejects.jsonl and contamination.json.
    "printf '{\"id\":\"q1\",\"question\":\"the locale features of the operating system\"}\\n' > test.jsonl"
    "lookalike contamination sample-corpora/trec-web --against test.jsonl --fields question"
    "lookalike contamination sample-corpora/trec-web --against test.jsonl --fields question -o found"
    Contamination(Box<contamination::Options>),

    Look:
    /// Print what is known about a document, and its text
    ///
    /// DOC is a docno, or a place as FILE:RECORD, as documents.tsv has them. `ingest` is enough:
    /// facts that need pairs or clusters are left out. The text is read from the input again; if
    /// that is gone or has changed, from DIR, if it keeps texts (`ingest --keep-text`). The command
    /// only reads DIR.
    "lookalike run sample-corpora/trec-web -o out"
    "lookalike show out PG-000004"
    "lookalike show out a.gz:4 --text"
    "lookalike show out PG-000004 --text-only > text"
    Show(show::Options),
    /// Show where two documents differ, or what they share
    ///
    /// Prints the exact resemblance of documents A and B, and both texts with their differences.
    /// Words are compared as DIR compares them, so white space, case and punctuation usually make
    /// no difference. A and B are docnos, or places as FILE:RECORD. With --passages, lists instead
    /// all passages that both texts have. With -o, writes a page. The command only reads DIR.
    "lookalike run sample-corpora/trec-web -o out"
    "lookalike diff out PG-000004 PG-000025"
    "lookalike diff out PG-000004 PG-000025 --passages --length 50"
    "lookalike diff out PG-000004 PG-000025 --output differences.html"
    Diff(diff::Options),
    /// Write an HTML page with clusters, pairs and their texts
    ///
    /// The page is one file that loads nothing. A script in it lists all clusters and finds
    /// documents; no other script can run. The command reads the texts from the inputs again. For
    /// the output directory of `dedup`, the page says what was removed, and
    /// shows removals and near misses to judge.
    "lookalike run sample-corpora/trec-web -o out"
    "lookalike report out"
    "lookalike report out --clusters 50 --output page.html"
    "lookalike dedup sample-corpora/warc -o kept"
    "lookalike report kept --by host --review review.jsonl"
    Report(report::Options),
    /// Print the pairs as a graph: DOT, GraphML or TSV
    ///
    /// The graph has a vertex for each document that has a pair, and an edge for each pair with its
    /// score as the weight. DIR is an output directory, or the directory of a method
    /// (DIR/methods/SPEC).
    "lookalike run sample-corpora/trec-web -o out"
    "lookalike graph out"
    "lookalike graph out --format graphml --output pairs.graphml"
    Graph(graph::Options),
    /// Show what a directory contains and what remains to do
    ///
    /// Prints the state of each stage and the ledger: the counts of documents, pairs and clusters,
    /// and what each stage cost.
    "lookalike run sample-corpora/trec-web -o out"
    "lookalike status out"
    "lookalike status out --json"
    Status(status::Options),
    /// Count the documents, words and shingles of files
    ///
    /// Prints a line for each input file, and a line for all of them together. A shingle that
    /// several documents have is counted for each of them in the column "shingles", and once in
    /// "distinct shingles". The lengths of short, median and long documents help to choose
    /// --shingle-size: a document with fewer words than a shingle has one shingle, of all its words.
    /// lookalike puts temporary files into the system's directory (TMPDIR).
    "lookalike count sample-corpora/trec-web"
    "lookalike count sample-corpora/jsonl --shingle-size 5 --output counts.html"
    Count(count::Options),
    /// Print a binary file of an output directory as text
    "lookalike run sample-corpora/trec-web -o out"
    "lookalike inspect out/pairs/000000.pairs"
    "lookalike inspect out/postings/000000.post --records 5"
    Inspect(inspect::Options),

    Evaluate:
    /// Compute precision and recall against a ground truth
    ///
    /// Compares two output directories or lists of pairs. A directory means its listed pairs, with
    /// exact duplicates in place of each representative, and the pairs of exact duplicates. A pair
    /// belongs to the size group of its document with fewer words. Precision is undefined if
    /// nothing was found, recall if nothing is true, and F1 if both; undefined values are printed
    /// as `-`, and as null in JSON. If the ground truth is a directory, pairs with docnos that it
    /// does not have are ignored and counted as unknown.
    ///
    /// A ground truth that is a list may lack the pairs of exact duplicates. If it has none of the
    /// exact duplicates in the run's directory, the command warns and treats it as a list of
    /// representatives: each of its pairs then also stands for the exact duplicates of its
    /// documents.
    "lookalike run sample-corpora/trec-web -o exact"
    "lookalike run sample-corpora/trec-web -o sampled --sampling 1/4"
    "lookalike evaluate --truth exact --run sampled"
    "lookalike evaluate --truth exact --run sampled/pairs.tsv --thresholds 0.85,0.9"
    Evaluate(evaluate::Options),
    /// Run published methods on a collection and compare them
    ///
    /// DIR is a collection that keeps its texts (`lookalike ingest --keep-text`). Each method runs
    /// in a process of its own, as `lookalike method` runs it; results of earlier runs are reused.
    /// Prints tables, and writes the page compare.html, CSV tables and compare.json to DIR/compare.
    "lookalike ingest sample-corpora/trec-web -o kept --keep-text"
    "lookalike compare kept --methods super-shingles minhash"
    Compare(compare::Options),
    /// Repeat the tables and figures of a paper on a collection
    ///
    /// DIR is a collection that keeps its texts (`lookalike ingest --keep-text`). Runs what the
    /// paper ran: methods, which stay in DIR, and edited copies and trials. Writes each table and
    /// figure as TSV, with the values of the paper in columns of their own, and a page that first
    /// says which claims of the paper hold on this collection.
    "lookalike ingest sample-corpora/trec-web -o kept --keep-text"
    "lookalike reproduce kolcz-2008 kept -o papers"
    "lookalike reproduce ye-2008 kept -o papers"
    Reproduce(reproduce::Options),
    /// Compute the formulas of a paper with values of your own
    ///
    /// Without options, the values come from the paper: Kolcz & Chowdhury 2008, equations 1, 6 and
    /// 7 and Table 4; Bernstein & Zobel 2006, section 4.3; Fetterly, Manasse & Najork 2003, section
    /// 3 (super-shingles of Broder). Prints a table for each formula.
    "lookalike formulas kolcz-2008 --changes 1,2,3 --lexicons 5,10"
    "lookalike formulas bernstein-2006 --chunks 100 --every 25 --shared 2"
    "lookalike formulas fetterly-2003 --resemblance 0.9,0.95"
    Formulas(formulas::Options),
    /// Choose sampling ratios that keep a wanted precision
    ///
    /// Finds the coarsest sampling ratio of each size group that keeps the precision, as in Ye, Wen
    /// & Ma 2008, section 6. Prints the plan and writes it to DIR/plan.toml, for `lookalike run
    /// --sampling DIR/plan.toml`. Measures on all documents unless --subset is given.
    "lookalike ingest sample-corpora/trec-web -o out"
    "lookalike plan out --precision 0.8"
    "lookalike join out --sampling out/plan.toml"
    Plan(plan::Options),
    /// Measure what sampling costs in precision and recall
    ///
    /// Tries every class of every ratio and compares the result with the exact one, by document
    /// size, as in Ye, Wen & Ma 2008, sections 4 and 5. Prints a table, and writes the page
    /// study.html, CSV tables and figures to DIR/study. The same command continues a study that was
    /// stopped.
    "lookalike ingest sample-corpora/trec-web -o out"
    "lookalike study out --ratios 1/2,1/4"
    Study(study::Options),
    /// Make a test corpus with known near-duplicates
    ///
    /// Copies documents of INPUT and edits the copies. The recipe of Chowdhury et al. 2002 takes
    /// ten documents of average length and makes ten copies of each; the recipe of Cherkasova et
    /// al. 2009 makes a copy of each document for every number of inserted or removed words from 1
    /// to 50. The same seed and inputs give the same bytes. Writes the corpus (originals.jsonl,
    /// copies.jsonl and background.jsonl), truth.tsv for `lookalike evaluate`, edits.jsonl with
    /// each edit of each copy, and perturb.json with parameters, counts and checksums to DIR.
    "lookalike perturb sample-corpora/trec-web -o corpus --recipe chowdhury"
    "lookalike perturb sample-corpora/trec-web -o other --recipe cherkasova --edits 1,5,10"
    Perturb(perturb::Options),
    /// Check and deduplicate TREC judgements and rankings
    ///
    /// Counts, for each topic, the judged documents that are duplicates of each other, and how many
    /// of these groups were judged inconsistently: some documents relevant (above 0) and some not.
    /// Groups of exact duplicates and of near duplicates are counted separately. The row `all` sums
    /// up the topics; the row `distinct` counts each cluster and document once. With -o, writes the
    /// judgements and the ranking without duplicates, and lists the groups with different
    /// judgements in inconsistent.jsonl.
    "lookalike run sample-corpora/trec-web -o out"
    "printf '1 0 PG-000004 1\\n1 0 PG-000025 0\\n' > judged.txt"
    "lookalike qrels judged.txt --clusters out"
    "lookalike qrels judged.txt --clusters out -o clean --keep best"
    Qrels(qrels::Options),
    /// Carry judgements over to near-duplicates elsewhere
    ///
    /// The labels may be judgements or any list of docno and label. Looks up each labelled document
    /// of collection OLD in collection NEW, without reading its text again. Each document of NEW
    /// gets, separately for each topic, the label of the most similar document of OLD whose
    /// resemblance reaches the threshold, or of the first one if several are equally similar. Exact
    /// duplicates get the same label. With -o, writes the labels in the form of the input,
    /// transferred.tsv with both docnos and their resemblance, and conflicts.jsonl with the
    /// documents whose near-duplicates have different labels.
    "lookalike ingest sample-corpora/trec-web/a.gz -o old"
    "lookalike ingest sample-corpora/trec-web/b.gz -o new"
    "printf '1 0 PG-000004 1\\n1 0 PG-000025 0\\n' > judged.txt"
    "lookalike transfer --labels judged.txt --from old --to new"
    "lookalike transfer --labels judged.txt --from old --to new -o carried --threshold 0.7"
    Transfer(transfer::Options),

    Maintain:
    /// Check every committed file of a directory for damage
    ///
    /// Reads the files and compares them with their checksums. Exits with 1 if a file is damaged,
    /// and says what to do.
    "lookalike run sample-corpora/trec-web -o out"
    "lookalike verify out"
    Verify(verify::Options),
    /// Print a completion script for a shell
    ///
    /// Install the script where your shell looks for completions.
    "lookalike completions bash > lookalike.bash"
    "lookalike completions zsh > _lookalike"
    "lookalike completions fish > lookalike.fish"
    Completions(shell::CompletionsOptions),
    /// Write the manual pages to a directory
    ///
    /// One page for lookalike and one for each command, for section 1.
    "lookalike man man1"
    Man(shell::ManOptions),
}

impl Arguments {
    /// Reads arguments. The first one is the name of the program.
    ///
    /// # Errors
    /// A message to print: an error in the arguments, or the text for `--help` or `--version`.
    pub fn read(arguments: impl Iterator<Item = OsString>) -> Result<Arguments, clap::Error> {
        let mut command = described();
        let arguments: Vec<OsString> = arguments.collect();
        let named = arguments
            .get(1)
            .map(|name| name.to_string_lossy().into_owned());
        let matches = command.try_get_matches_from_mut(arguments);
        let matches = matches.map_err(|error| {
            let named = named.and_then(|name| command.find_subcommand(name));
            with_meant(error, named)
        })?;
        let read = Arguments::from_arg_matches(&matches);
        let mut read = read.map_err(|error| error.format(&mut command))?;
        (read.remote, read.addresses) = addresses(&command, &matches);
        Ok(read)
    }
}

/// Arguments with files that are read as documents, which may be objects of a store.
const READ: [&str; 4] = ["inputs", "documents", "exclude_text", "exchange"];

/// Arguments of commands that may be objects, beside inputs. The command itself says that a work
/// directory is none.
const WRITTEN: [(&str, &[&str]); 5] = [
    ("cluster", &["publish"]),
    ("dedup", &["output", "removed", "report", "work"]),
    ("report", &["directory", "output"]),
    ("tasks plan", &["output"]),
    ("tasks finish", &["output"]),
];

/// The first path among the arguments of a command that is an address where none is possible; and
/// all that are addresses.
fn addresses(
    command: &clap::Command,
    matches: &clap::ArgMatches,
) -> (Option<PathBuf>, Vec<PathBuf>) {
    let (mut wrong, mut all) = (None, Vec::new());
    let (mut command, mut matches, mut named) = (Some(command), matches, Vec::new());
    while let Some((name, of)) = matches.subcommand() {
        command = command.and_then(|command| command.find_subcommand(name));
        matches = of;
        named.push(name);
    }
    let named = named.join(" ");
    let written = WRITTEN.iter().filter(|(of, _)| *of == named);
    let written: Vec<&str> = written.flat_map(|(_, ids)| *ids).copied().collect();
    let arguments = command.into_iter().filter(|_| !named.is_empty());
    let arguments = arguments.flat_map(clap::Command::get_arguments);
    for argument in arguments
        .filter(|argument| argument.get_value_parser().type_id() == TypeId::of::<PathBuf>())
    {
        let id = argument.get_id().as_str();
        for path in matches.get_raw(id).into_iter().flatten().map(PathBuf::from) {
            let possible = READ.contains(&id) || written.contains(&id);
            let is_address = possible && remote::is_address(&path);
            if !is_address && refuse_remote(&path).is_ok() {
                continue;
            }
            if !is_address && wrong.is_none() {
                wrong = Some(path.clone());
            }
            all.push(path);
        }
    }
    (wrong, all)
}

/// Commands, and words that people try in their place.
const MEANT: &[(&str, &str)] = &[
    (
        "run",
        "find detect duplicates near-duplicates pairs search scan analyze analyse",
    ),
    (
        "dedup",
        "deduplicate dedupe de-dup deduplication uniq unique distinct clean filter remove",
    ),
    ("add", "append insert update extend"),
    ("ingest", "import load read"),
    ("query", "lookup look-up match similar nearest"),
    ("status", "info ls list stat stats summary ledger"),
    ("show", "view cat print display"),
    ("diff", "side-by-side differences"),
    ("report", "html page open browse view-report"),
    ("graph", "export dot graphml edges"),
    ("count", "wc words tokens"),
    ("inspect", "dump"),
    ("evaluate", "eval precision recall truth"),
    ("passages", "substrings spans repeats fragments boilerplate"),
    (
        "contamination",
        "decontaminate decontamination contaminated leakage leaks",
    ),
    ("verify", "check fsck validate"),
];

/// Flags of other programs, and the flags that do what they mean.
const MEANT_FLAGS: [(&str, &[&str]); 11] = [
    (
        "--shingle-size",
        &[
            "--ngram",
            "--ngrams",
            "--ngram-size",
            "--n-gram",
            "--k",
            "--shingles",
        ],
    ),
    (
        "--threshold",
        &[
            "--jaccard",
            "--jaccard-threshold",
            "--similarity",
            "--min-similarity",
            "--min-score",
        ],
    ),
    (
        "--text-field",
        &[
            "--column",
            "--text-column",
            "--field",
            "--text-key",
            "--key",
            "--text",
        ],
    ),
    (
        "--id-field",
        &["--id", "--id-column", "--id-key", "--idx-column"],
    ),
    ("--output", &["--out", "--output-dir", "--outdir", "--dest"]),
    (
        "--threads",
        &[
            "--jobs",
            "--workers",
            "--num-proc",
            "--num-workers",
            "--cores",
        ],
    ),
    ("--memory", &["--ram", "--mem", "--max-memory"]),
    (
        "--length",
        &[
            "--min-words",
            "--min-tokens",
            "--min-length",
            "--minimum-length",
        ],
    ),
    ("--ids-only", &["--dry-run", "--list", "--no-write"]),
    ("--report", &["--html", "--page"]),
    (
        "--tokens",
        &["--tokenizer", "--tokenize", "--chars", "--bytes"],
    ),
];

/// Suggests the command or the flag that a word means, in place of one that is spelt like it.
fn with_meant(mut error: clap::Error, command: Option<&clap::Command>) -> clap::Error {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    if error.kind() == ErrorKind::ArgumentConflict {
        let both = error.to_string();
        if both.contains("--from <") && ["--threshold", "--score"].iter().any(|f| both.contains(f))
        {
            let tip = "find other pairs first: lookalike join DIR --threshold T";
            let tip = ContextValue::StyledStrs(vec![tip.into()]);
            error.insert(ContextKind::Suggested, tip);
        }
        return error;
    }
    if let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) {
        let name = given.split('=').next().unwrap_or_default().to_lowercase();
        let known = MEANT_FLAGS
            .iter()
            .find(|(_, words)| words.contains(&name.as_str()));
        // The tip of the library, to give the word behind `--`, would make an input of it.
        error.remove(ContextKind::Suggested);
        let has = |flag: &str| {
            let mut flags = command.into_iter().flat_map(clap::Command::get_arguments);
            flags.any(|known| known.get_long() == flag.strip_prefix("--"))
        };
        if let Some((flag, _)) = known.filter(|(flag, _)| has(flag)) {
            let suggested = ContextValue::String((*flag).to_string());
            error.insert(ContextKind::SuggestedArg, suggested);
        }
        return error;
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let word = given.to_lowercase();
    let mut meant = MEANT.iter();
    if let Some((command, _)) = meant.find(|(_, words)| words.split(' ').any(|w| w == word)) {
        let suggested = ContextValue::Strings(vec![command.to_string()]);
        error.insert(ContextKind::SuggestedSubcommand, suggested);
    } else if disk::metadata(given.as_ref()).is_ok() {
        let tip = format!("to find near-duplicates in it, use 'lookalike run {given} -o DIR'");
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, tips);
    }
    error
}

/// The commands and their flags, with the overview as help.
#[must_use]
pub fn described() -> clap::Command {
    let command = Arguments::command();
    let overview = overview(&command);
    command.override_help(overview)
}

/// The overview: where to start, and the commands in groups, in lines of 80 columns.
fn overview(command: &clap::Command) -> clap::builder::StyledStr {
    let about = |command: &clap::Command| command.get_about().map(ToString::to_string);
    let styles = command.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text = format!("{}\n\n", about(command).unwrap_or_default());
    let _ = writeln!(
        text,
        "{header}Start{header:#}    {literal}lookalike run FOLDER -o out{literal:#}   (HTML, JSONL, CSV, Parquet, WARC, ...)"
    );
    for (group, names) in GROUPS {
        let mut group = *group;
        for name in names.iter().map(|name| name.to_lowercase()) {
            let about = command.find_subcommand(&name).and_then(about);
            let _ = writeln!(
                text,
                "{header}{:<9}{header:#}{literal}{name:<15}{literal:#}{}",
                std::mem::take(&mut group),
                about.unwrap_or_default()
            );
        }
    }
    text.push_str(
        "\nUsage: lookalike COMMAND ... (COMMAND -h: its flags; --help: with examples)\n\
         Exit status: 0 done, 1 failed, 2 wrong usage, 130 stopped (can be continued)",
    );
    text.into()
}

#[cfg(test)]
mod meant_tests {
    use super::*;

    #[test]
    fn a_word_that_means_a_command_suggests_it() {
        let told = |word: &str| {
            let arguments = ["lookalike", word, "x"].map(OsString::from);
            Arguments::read(arguments.into_iter())
                .unwrap_err()
                .to_string()
        };
        let tip = |command: &str| format!("a similar subcommand exists: '{command}'");
        for (command, words) in MEANT {
            assert!(described().find_subcommand(command).is_some());
            for word in words.split(' ') {
                assert!(described().find_subcommand(word).is_none());
                assert!(told(word).contains(&tip(command)), "{}", told(word));
            }
        }
        assert!(told("statu").contains(&tip("status")), "{}", told("statu"));
        let file = told("Cargo.toml");
        assert!(file.contains("'lookalike run Cargo.toml -o DIR'"), "{file}");
    }

    #[test]
    fn a_flag_of_another_program_suggests_ours() {
        let told = |line: &str| {
            let arguments = line.split(' ').map(OsString::from);
            Arguments::read(arguments).unwrap_err().to_string()
        };
        let commands = [
            "run in -o out",
            "dedup in -o out",
            "passages in -o out",
            "query out in",
        ];
        let mut suggested = std::collections::BTreeSet::new();
        for (flag, words) in MEANT_FLAGS {
            for word in words {
                for command in commands {
                    let said = told(&format!("lookalike {command} {word} 5"));
                    assert!(said.contains("unexpected argument"), "{said}");
                    assert!(!said.contains("as a value, use"), "{said}");
                    if said.contains(&format!("a similar argument exists: '{flag}'")) {
                        suggested.insert(flag);
                    }
                }
            }
        }
        assert_eq!(suggested.len(), MEANT_FLAGS.len(), "{suggested:?}");
        // A flag that the command does not have is not suggested.
        let said = told("lookalike status out --ngram 5");
        assert!(!said.contains("similar argument"), "{said}");
    }
}
