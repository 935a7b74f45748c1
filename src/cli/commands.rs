//! The commands of `lookalike`.

use super::*;
use flags::{Answering, Json, Limits, Memory, Output, Programs, Quiet, Threads, With};

crate::commands! {
    Find:
    /// Find near-duplicate pairs and clusters of documents
    ///
    /// Reads every INPUT and writes pairs.tsv, clusters.jsonl, exact-duplicates.tsv, documents.tsv,
    /// rejects.jsonl and summary.json to DIR. The same command continues a run that was stopped.
    /// With --from, searches the documents of a finished directory again, for example with another
    /// --threshold.
    "lookalike run sample-corpora/trec-web -o out"
    "lookalike run --from out --threshold 0.5"
    "lookalike run sample-corpora/files/a sample-corpora/warc -o pages --memory 512MiB"
    "lookalike run sample-corpora/jsonl -o rows --text-field text --id-field id"
    Run(With<run::RunOptions, Limits>),
    /// Copy the inputs without their duplicates
    ///
    /// Finds pairs as `lookalike run` does, and writes every INPUT again without the redundant
    /// records. Kept records do not change, and --removed lists the reason for each removal.
    "lookalike dedup sample-corpora/jsonl -o kept --removed removed"
    "lookalike dedup sample-corpora/trec-web -o long --threshold 0.7 --keep longest"
    "lookalike run sample-corpora/warc -o pages"
    "lookalike dedup --from pages -o latest --keep newest"
    Dedup(With<dedup::Options, Limits>),
    /// Find the passages that documents share, and their places
    ///
    /// A passage is a run of at least --length tokens that occurs at least twice, in two documents
    /// or in one. Writes spans.tsv (where each document repeats text), removable.tsv (the text that
    /// can be removed while one copy of each passage is kept) and coverage.tsv (how much of each
    /// document is repeated and removable) to the directory. With --remove, also writes copies of
    /// the inputs without the removable text.
    "lookalike passages sample-corpora/jsonl -o shared --length 20"
    "lookalike passages sample-corpora/jsonl/text.jsonl.zst --remove -o kept"
    "lookalike passages sample-corpora/jsonl/text.jsonl.zst --unit line --remove -o lines"
    "lookalike run sample-corpora/trec-web -o out"
    "lookalike passages out"
    Passages(With<passages::Options, Limits>),
    /// Find the items of test sets in a corpus
    ///
    /// An item is found in a document if they share a run of --ngram words; case, punctuation and
    /// line breaks do not matter. Prints how many items are covered: in the column "one document" by
    /// a single document, in "all together" by all documents. With -o, writes items.tsv (a line for
    /// each item), contaminated.jsonl (the documents and the places of the runs), drop.tsv (the
    /// documents to remove with `lookalike dedup --drop`), rejects.jsonl and contamination.json. The
    /// test sets are held in memory, and the corpus is read once.
    "printf '{\"id\":\"q1\",\"question\":\"the locale features of the operating system\"}\\n' > test.jsonl"
    "lookalike contamination --test-set test.jsonl --fields question sample-corpora/trec-web"
    "lookalike contamination --test-set test.jsonl --fields question sample-corpora/trec-web -o found"
    Contamination(With<contamination::Options, Answering>),
    /// Find documents of a collection that resemble new ones
    ///
    /// Prints one line for each document found, the most similar first; with --json, one line for
    /// each query. contains_query is the share of the query's shingles that the document has,
    /// in_query the share of the document's shingles that the query has, and keys_query and keys
    /// count their shingles. A document with exact duplicates in the collection is listed once, by
    /// the docno of its representative. Documents are read with the JSON fields of the collection
    /// unless flags name others.
    "lookalike run sample-corpora/trec-web -o out"
    "lookalike query out sample-corpora/files/a --top 3"
    "lookalike query out sample-corpora/files/a --containing 0.5 --json"
    Query(With<query::Options, Limits>),
    /// Add inputs to a collection, and update its results
    ///
    /// The results are the same as after a run over the old and the new inputs, but the command
    /// searches only for pairs with a new document. The first addition makes an index of the
    /// collection, and later ones extend it. Inputs that are already in the collection are left out,
    /// and the files of the old inputs need not exist any more. The same command continues an
    /// addition that was stopped.
    "lookalike run sample-corpora/trec-web/a.gz -o out"
    "lookalike add out sample-corpora/trec-web/b.gz"
    Add(With<run::AddOptions, With<Programs, Limits>>),

    Look:
    /// Write an HTML page with clusters, pairs and their texts
    ///
    /// The page is one file that loads nothing. Its script lists all clusters and finds documents.
    /// The command reads the texts from the inputs again. For the output directory of `dedup`, the
    /// page says what was removed, and shows removals and near misses to judge.
    "lookalike run sample-corpora/trec-web -o out"
    "lookalike report out"
    "lookalike report out --clusters 50 --output page.html"
    "lookalike dedup sample-corpora/warc -o kept"
    "lookalike report kept --by host --verdicts verdicts.jsonl"
    Report(With<report::Options, With<Memory, With<Threads, Quiet>>>),
    /// Print what is known about a document, and its text
    ///
    /// DOC is a docno, an address or a place as FILE:RECORD, as documents.tsv has them. Facts that need pairs
    /// or clusters are left out if DIR has none. The text is read from the input again; if that is
    /// gone or has changed, from DIR, if it keeps texts (--keep-text).
    "lookalike run sample-corpora/trec-web -o out"
    "lookalike show out PG-000004"
    "lookalike show out a.gz:4 --text"
    "lookalike show out PG-000004 --text-only > text"
    Show(With<show::Options, With<Memory, Json>>),
    /// Show where two documents differ, or what they share
    ///
    /// Prints the exact resemblance of documents A and B, and both texts with their differences.
    /// Words are compared as DIR compares them, so white space, case and punctuation usually make
    /// no difference. A and B are docnos, addresses, or places as FILE:RECORD. With --passages, lists all
    /// passages that both texts have. With -o, writes a page.
    "lookalike run sample-corpora/trec-web -o out"
    "lookalike diff out PG-000004 PG-000025"
    "lookalike diff out PG-000004 PG-000025 --passages --length 50"
    "lookalike diff out PG-000004 PG-000025 --output differences.html"
    Diff(With<diff::Options, With<Memory, Json>>),
    /// Show what a directory contains and what remains to do
    ///
    /// Prints the state of each stage and the ledger: the counts of documents, pairs and clusters,
    /// and what each stage cost.
    "lookalike run sample-corpora/trec-web -o out"
    "lookalike status out"
    "lookalike status out --json"
    Status(With<checks::StatusOptions, Json>),

    Measure:
    /// Compute precision and recall against a ground truth
    ///
    /// RUN and the ground truth are output directories or lists of pairs. A directory means its
    /// listed pairs, with exact duplicates in place of each representative, and the pairs of exact
    /// duplicates. A pair belongs to the size group of its document with fewer words. Values that
    /// are not defined, such as the precision of an empty list, are printed as `-`, and as null in
    /// JSON. If the ground truth is a directory, pairs with docnos that it does not have are ignored
    /// and counted as unknown.
    ///
    /// A ground truth that is a list may lack the pairs of exact duplicates. If it has none of the
    /// exact duplicates of the run, the command warns, and each of its pairs also stands for the
    /// exact duplicates of its documents.
    "lookalike run sample-corpora/trec-web -o exact"
    "lookalike run sample-corpora/trec-web -o sampled --sampling 1/4"
    "lookalike evaluate sampled --truth exact"
    "lookalike evaluate sampled/pairs.tsv --truth exact --thresholds 0.85,0.9"
    Evaluate(With<evaluate::Options, With<Memory, Output>>),
    /// Choose sampling ratios that keep a wanted precision
    ///
    /// Finds the coarsest sampling ratio of each size group that keeps the precision, as in Ye, Wen
    /// & Ma 2008, section 6. Prints the plan and writes it to DIR/plan.toml, for `lookalike run
    /// --sampling DIR/plan.toml`. Measures on all documents unless --subset is given.
    "lookalike stage ingest sample-corpora/trec-web -o out"
    "lookalike plan out --precision 0.8"
    "lookalike run --from out --sampling out/plan.toml"
    Plan(With<plan::Options, Limits>),

    Research:
    /// Start the laboratory: methods, studies, test corpora
    ///
    /// The laboratory is a program of its own, `lookalike-lab`, which is started with these
    /// arguments. It has the commands method, compare, reproduce, formulas, study, effect, perturb,
    /// qrels and transfer.
    "lookalike lab --help"
    "lookalike lab formulas kolcz-2008"
    Lab(lab::Options),

    More:
    /// Search on many machines: plan, run, status, finish
    ///
    /// `plan` cuts a search into tasks, `run` does one of them, and `finish` makes the output
    /// directory that `lookalike run` makes. The tasks share nothing but EXCHANGE, a directory that
    /// all machines see or a prefix of an object store, so any scheduler can start them: Slurm, AWS
    /// Batch, GNU parallel, xargs.
    #[command(subcommand)]
    "lookalike tasks plan sample-corpora/trec-web --tasks 2 -o shared"
    "seq 0 15 | xargs -P 2 -I {} lookalike tasks run shared --task {} --wait 600"
    "lookalike tasks status shared"
    "lookalike tasks finish shared -o out"
    Tasks(tasks::Commands),
    /// Do one stage of a run: ingest, join, cluster, index
    ///
    /// `lookalike run` does all of them. Each stage reuses what DIR has.
    #[command(subcommand)]
    "lookalike stage ingest sample-corpora/trec-web -o out"
    "lookalike stage join out"
    Stage(stage::Commands),
    /// Write results in another form: graph, versions, results
    ///
    /// The result files themselves are text; --results parquet writes tables.
    #[command(subcommand)]
    "lookalike run sample-corpora/trec-web -o out"
    "lookalike export graph out --output pairs.dot"
    Export(export::Commands),
    /// Check and count files: verify, inspect, count
    ///
    /// The commands only read.
    #[command(subcommand)]
    "lookalike run sample-corpora/trec-web -o out"
    "lookalike check verify out"
    Check(check::Commands),
    /// Print a completion script for a shell
    ///
    /// Install the script where your shell looks for completions.
    "lookalike completions bash > lookalike.bash"
    "lookalike completions zsh > _lookalike"
    "lookalike completions fish > lookalike.fish"
    Completions(shell::CompletionsOptions<Commands>),
    /// Write the manual pages to a directory
    ///
    /// One page for lookalike and one for each command, for section 1.
    "lookalike man man1"
    Man(shell::ManOptions<Commands>),
}

/// The stages of a run as commands.
mod stage {
    use super::flags::{Limits, With};
    use super::run;

    crate::commands! {
        Stages:
        /// Read documents into a collection, without finding pairs
        ///
        /// The collection in DIR is the input of the other commands.
        "lookalike stage ingest sample-corpora/trec-web -o out"
        "lookalike stage ingest sample-corpora/mail -o kept --keep-text"
        Ingest(With<run::IngestOptions, Limits>),
        /// Find the pairs and clusters of an ingested collection
        ///
        /// It is `lookalike run --from DIR`: it reuses the committed stages in DIR that the flags do
        /// not change, and replaces the results in DIR.
        "lookalike stage ingest sample-corpora/trec-web -o out"
        "lookalike stage join out --threshold 0.5"
        Join(With<run::JoinOptions, Limits>),
        /// Make clusters and result files from the pairs found
        ///
        /// `run` also does this. This command makes the files again, for example after --results
        /// none, or after a file was deleted.
        "lookalike run sample-corpora/trec-web -o out"
        "lookalike stage cluster out"
        #[command(mut_arg("publish", |arg| arg.hide(true)))]
        Cluster(With<run::ClusterOptions, Limits>),
        /// Make an index of a collection, for fast look-ups
        ///
        /// With an index, `query` and `add` read a few blocks for each document instead of all sets;
        /// the answers are the same. The index takes about 6 bytes for each shingle of a document.
        /// The same command continues after a stop.
        "lookalike stage ingest sample-corpora/trec-web -o out"
        "lookalike stage index out"
        "lookalike query out sample-corpora/files/a --top 3"
        Index(With<run::IndexOptions, Limits>),
    }
}

/// Results in other forms.
mod export {
    use super::flags::{Answering, Limits, Memory, Programs, With};
    use super::{exports, run};

    crate::commands! {
        Forms:
        /// Print the pairs as a graph: DOT, GraphML or TSV
        ///
        /// The graph has a vertex for each document that has a pair, and an edge for each pair with
        /// its score as the weight. DIR is an output directory, or the directory of a method
        /// (DIR/methods/SPEC).
        "lookalike run sample-corpora/trec-web -o out"
        "lookalike export graph out"
        "lookalike export graph out --format graphml --output pairs.graphml"
        Graph(With<exports::GraphOptions, Memory>),
        /// Say what changed between crawls: a row for each version of each address
        ///
        /// The directory in which all inputs lie has a folder or a file for each crawl. Each capture
        /// of an address is compared with the document that it had before: same bytes, same text,
        /// same words, edited (it reaches the threshold), or rewritten. Other rows say what is new,
        /// moved, gone or returned, and list `revisit` records. The inputs are read again.
        "lookalike run sample-corpora/warc -o pages"
        "lookalike export versions pages"
        "lookalike export versions pages --output versions.tsv --output versions.html"
        Versions(With<exports::VersionsOptions, With<Programs, Answering>>),
        /// Copy the result files of a directory to an object store
        ///
        /// Below ADDRESS (s3://, gs:// or az://) appear the result files and summary.json, each
        /// complete or not at all. An object that has the same bytes is left as it is, and no other
        /// object is replaced. Result files that DIR lacks are made first.
        "lookalike export results --help   # lookalike export results out s3://bucket/results"
        #[command(mut_arg("publish", |arg| {
            arg.long(None::<&str>).index(2).required(true).help("Address below which they appear")
        }))]
        Results(With<run::ClusterOptions, Limits>),
    }
}

/// The commands that check and count files.
mod check {
    use super::checks;
    use super::flags::{Answering, Memory, With};

    crate::commands! {
        Checks:
        /// Check every committed file of a directory for damage
        ///
        /// Compares the files with their checksums. Exits with 1 if a file is damaged, and says what
        /// to do.
        "lookalike run sample-corpora/trec-web -o out"
        "lookalike check verify out"
        Verify(With<checks::VerifyOptions, Memory>),
        /// Print a binary file of an output directory as text
        "lookalike run sample-corpora/trec-web -o out"
        "lookalike check inspect out/pairs/000000.pairs"
        "lookalike check inspect out/postings/000000.post --most 5"
        Inspect(With<checks::InspectOptions, Memory>),
        /// Count the documents, words and shingles of files
        ///
        /// Prints a line for each input file, and a line for all of them together. A shingle that
        /// several documents have is counted for each of them in the column "shingles", and once in
        /// "distinct shingles". The lengths of short, median and long documents help to choose
        /// --shingle-size: a document with fewer words than a shingle has one shingle, of all its
        /// words. Temporary files go to the system's directory (TMPDIR).
        "lookalike check count sample-corpora/trec-web"
        "lookalike check count sample-corpora/jsonl --shingle-size 5 --output counts.html"
        Count(With<checks::CountOptions, Answering>),
    }
}

impl Program for Commands {
    const NAME: &'static str = "lookalike";
    const STARTED: &'static str = "lookalike";
    const ABOUT: &'static str = "Find near-duplicate documents exactly, in bounded memory\n\n\
        lookalike reads collections that do not fit in memory, lists every pair of documents whose \
        resemblance reaches a threshold, and groups the pairs into clusters. Results go to standard \
        output, progress and messages to standard error. A command that was stopped can be \
        repeated: it continues from the last committed step. NO_COLOR in the environment turns \
        colours off.";
    const FIRST: (&'static str, &'static str) = (
        "lookalike run FOLDER -o out",
        "(HTML, JSONL, CSV, Parquet, WARC, ...)",
    );
    const GROUPS: &'static [(&'static str, &'static [&'static str])] = GROUPS;
    const MEANT: &'static str = "
        run: find detect duplicates near-duplicates pairs search scan analyze analyse
        dedup: deduplicate dedupe de-dup deduplication uniq unique distinct clean filter remove
        add: append insert update extend
        stage: import load read
        query: lookup look-up match similar nearest
        status: info ls list stat stats summary ledger
        show: view cat print display
        diff: side-by-side differences
        report: html page open browse view-report
        export: dot graphml edges publish versions crawls changes
        check: wc words tokens dump fsck validate
        evaluate: eval precision recall truth
        passages: substrings spans repeats fragments boilerplate
        contamination: decontaminate decontamination contaminated leakage leaks";
    const RENAMED: &'static str = "
        ingest: stage ingest
        join: stage join
        cluster: stage cluster
        index: stage index
        graph: export graph
        verify: check verify
        inspect: check inspect
        count: check count
        method: lab method
        compare: lab compare
        reproduce: lab reproduce
        formulas: lab formulas
        study: lab study
        perturb: lab perturb
        qrels: lab qrels
        transfer: lab transfer
        check inspect --records: --most
        contamination --against...: --test-set
        dedup --remove: --drop
        dedup --rule=cluster: one-per-cluster
        dedup --rule=none: drop-clusters
        dedup --rule=all: keep-all
        evaluate --run:
        evaluate --columns: --pair-columns
        report --pairs: --samples
        report --seed: --sample-seed";
}

#[cfg(test)]
mod meant_tests {
    use super::*;
    use std::ffi::OsString;

    #[test]
    fn a_word_that_means_a_command_suggests_it() {
        let told = |word: &str| {
            let arguments = ["lookalike", word, "x"].map(OsString::from);
            Arguments::<Commands>::read(arguments.into_iter())
                .unwrap_err()
                .to_string()
        };
        let tip = |command: &str| format!("a similar subcommand exists: '{command}'");
        let all = Commands::MEANT
            .lines()
            .filter_map(|line| line.trim().split_once(": "));
        for (command, words) in all {
            assert!(described::<Commands>().find_subcommand(command).is_some());
            for word in words.split(' ') {
                assert!(described::<Commands>().find_subcommand(word).is_none());
                assert!(told(word).contains(&tip(command)), "{}", told(word));
            }
        }
        assert!(told("statu").contains("'status'"), "{}", told("statu"));
        let file = told("Cargo.toml");
        assert!(file.contains("'lookalike run Cargo.toml -o DIR'"), "{file}");
    }

    #[test]
    fn a_flag_of_another_program_suggests_ours() {
        let told = |line: &str| {
            let arguments = line.split(' ').map(OsString::from);
            Arguments::<Commands>::read(arguments)
                .unwrap_err()
                .to_string()
        };
        let commands = [
            "run in -o out",
            "dedup in -o out",
            "passages in -o out",
            "query out in",
        ];
        let mut suggested = std::collections::BTreeSet::new();
        let all = || {
            arguments::MEANT_FLAGS
                .lines()
                .filter_map(|line| line.trim().split_once(": "))
        };
        for (flag, words) in all() {
            for word in words.split(' ') {
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
        assert_eq!(suggested.len(), all().count(), "{suggested:?}");
        // A flag that the command does not have is not suggested.
        let said = told("lookalike status out --ngram 5");
        assert!(!said.contains("similar argument"), "{said}");
    }
}
