//! The commands of the laboratory, in the frame of `lookalike` ([`lookalike::cli`]).

mod compare;
mod effect;
mod method;
mod papers;
mod perturb;
mod qrels;
mod study;
mod transfer;

use lookalike::cli::flags::{Answering, Limits, Memory, Output, Programs, With};
use lookalike::cli::{CompletionsOptions, ManOptions, Program};

lookalike::commands! {
    Methods:
    /// Find pairs by a published method, or list the methods
    ///
    /// Without SPEC, lists the methods. Without DIR, describes the method SPEC and its parameters.
    /// With both, finds pairs and clusters by the method and writes them to DIR/methods/SPEC. The
    /// same command continues a run that was stopped.
    "lookalike lab method"
    "lookalike lab method super-shingles"
    "lookalike stage ingest sample-corpora/trec-web -o kept --keep-text"
    "lookalike lab method super-shingles:k=4 kept"
    Method(With<method::Options, Limits>),
    /// Run published methods on a collection and compare them
    ///
    /// DIR is a collection that keeps its texts (`lookalike stage ingest --keep-text`). Each method runs
    /// in a process of its own, as `lookalike lab method` runs it; results of earlier runs are reused.
    /// Prints tables, and writes the page compare.html, CSV tables and compare.json to DIR/compare.
    "lookalike stage ingest sample-corpora/trec-web -o kept --keep-text"
    "lookalike lab compare kept --method super-shingles --method minhash"
    Compare(With<compare::Options, Limits>),

    Papers:
    /// Repeat the tables and figures of a paper on a collection
    ///
    /// DIR is a collection that keeps its texts (`lookalike stage ingest --keep-text`). Runs what the
    /// paper ran: methods, which stay in DIR, and edited copies and trials. Writes each table and
    /// figure as TSV, with the values of the paper in columns of their own, and a page that first
    /// says which claims of the paper hold on this collection.
    "lookalike stage ingest sample-corpora/trec-web -o kept --keep-text"
    "lookalike lab reproduce kolcz-2008 kept -o papers"
    "lookalike lab reproduce ye-2008 kept -o papers"
    Reproduce(With<papers::ReproduceOptions, With<Programs, Limits>>),
    /// Compute the formulas of a paper with values of your own
    ///
    /// Without VALUES, the values come from the paper: Kolcz & Chowdhury 2008, equations 1, 6 and
    /// 7 and Table 4; Bernstein & Zobel 2006, section 4.3; Fetterly, Manasse & Najork 2003, section
    /// 3 (super-shingles of Broder). Prints a table for each formula.
    "lookalike lab formulas kolcz-2008 changes=1,2,3 lexicons=5,10"
    "lookalike lab formulas bernstein-2006 chunks=100 every=25 shared=2"
    "lookalike lab formulas fetterly-2003 resemblance=0.9,0.95"
    Formulas(papers::FormulasOptions),

    Samples:
    /// Measure what sampling costs in precision and recall
    ///
    /// Tries every class of every ratio and compares the result with the exact one, by document
    /// size, as in Ye, Wen & Ma 2008, sections 4 to 6. Prints the ratio that each size group needs and
    /// a table of the runs, and writes the page study.html and CSV tables to DIR/study. The same command continues a study that was
    /// stopped.
    "lookalike stage ingest sample-corpora/trec-web -o out"
    "lookalike lab study out --ratios 1/2,1/4"
    Study(With<study::Options, Limits>),

    Corpora:
    /// Make a test corpus with known near-duplicates
    ///
    /// Copies documents of INPUT and edits the copies. The recipe of Chowdhury et al. 2002 takes
    /// ten documents of average length and makes ten copies of each; the recipe of Cherkasova et
    /// al. 2009 makes a copy of each document for every number of inserted or removed words from 1
    /// to 50. The same seed and inputs give the same bytes. Writes the corpus (originals.jsonl,
    /// copies.jsonl and background.jsonl), truth.tsv for `lookalike evaluate`, edits.jsonl with
    /// each edit of each copy, and perturb.json with parameters, counts and checksums to DIR.
    "lookalike lab perturb sample-corpora/trec-web -o corpus --recipe chowdhury"
    "lookalike lab perturb sample-corpora/trec-web -o other --recipe cherkasova --edits 1,5,10"
    Perturb(With<perturb::Options, With<Memory, Output>>),

    Labels:
    /// Check and deduplicate TREC judgements and rankings
    ///
    /// Counts, for each topic, the judged documents that are duplicates of each other, and how many
    /// of these groups were judged inconsistently: some documents relevant (above 0) and some not.
    /// Groups of exact duplicates and of near duplicates are counted separately. The row `all` sums
    /// up the topics; the row `distinct` counts each cluster and document once. With -o, writes the
    /// judgements and the rankings without duplicates, and lists the groups with different
    /// judgements in contradictions.jsonl.
    "lookalike run sample-corpora/trec-web -o out"
    "printf '1 0 PG-000004 1\\n1 0 PG-000025 0\\n' > judged.txt"
    "lookalike lab qrels judged.txt --clusters out"
    "lookalike lab qrels judged.txt --clusters out -o clean --keep best"
    Qrels(With<crate::qrels::QrelsConfig, With<Memory, Output>>),
    /// Measure what near-duplicates do to metrics of rankings
    ///
    /// Prints MAP, nDCG@10, P@10, MRR and recall@1000 of each ranking, as trec_eval computes them
    /// over all topics of the judgements, and again after each treatment of near-duplicates. unified: the
    /// judged documents of a cluster have its highest relevance. irrelevant: the cluster has it, and
    /// documents whose cluster ranks higher are not relevant. removed: these are removed (Bernstein &
    /// Zobel 2005; Froebe et al. 2020). condensed: so are documents without a judgement (Sakai 2007).
    /// If there are several rankings, it also says which of them change places, with Kendall's tau, and
    /// in which topics.
    "lookalike run sample-corpora/trec-web -o out"
    "printf '1 0 PG-000004 1\\n1 0 PG-000003 1\\n' > judged.txt"
    "printf '1 Q0 PG-000025 1 9.1 bm25\\n1 Q0 PG-000004 2 9.0 bm25\\n' > bm25.txt"
    "printf '1 Q0 PG-000003 1 9.1 bm25\\n1 Q0 PG-000001 2 9.0 bm25\\n' > bm25f.txt"
    "lookalike lab effect --qrels judged.txt --run bm25.txt --run bm25f.txt --clusters out"
    Effect(With<effect::EffectOptions, With<Memory, Output>>),
    /// Carry judgements over to near-duplicates elsewhere
    ///
    /// The labels may be judgements or any list of docno and label. Looks up each labelled document
    /// of collection OLD in collection NEW, without reading its text again. Each document of NEW
    /// gets, separately for each topic, the label of the most similar document of OLD whose
    /// resemblance reaches the threshold, or of the first one if several are equally similar. Exact
    /// duplicates get the same label. With -o, writes the labels in the form of the input,
    /// transferred.tsv with both docnos and their resemblance, and contradictions.jsonl with the
    /// documents whose near-duplicates have different labels.
    "lookalike stage ingest sample-corpora/trec-web/a.gz -o old"
    "lookalike stage ingest sample-corpora/trec-web/b.gz -o new"
    "printf '1 0 PG-000004 1\\n1 0 PG-000025 0\\n' > judged.txt"
    "lookalike lab transfer --labels judged.txt --from old --to new"
    "lookalike lab transfer --labels judged.txt --from old --to new -o carried --threshold 0.7"
    Transfer(With<crate::transfer::TransferConfig, Answering>),

    Program:
    /// Print a completion script for a shell
    ///
    /// It is for `lookalike-lab`. Install the script where your shell looks for completions.
    "lookalike lab completions bash > lookalike-lab.bash"
    Completions(CompletionsOptions<Commands>),
    /// Write the manual pages to a directory
    ///
    /// One page for lookalike-lab and one for each command, for section 1.
    "lookalike lab man man1"
    Man(ManOptions<Commands>),
}

impl Program for Commands {
    const NAME: &'static str = "lookalike-lab";
    const STARTED: &'static str = "lookalike lab";
    const ABOUT: &'static str = "Measure and compare published methods, sampling and test collections\n\n\
        The laboratory of lookalike runs the methods of the literature on a collection and compares \
        them, repeats what papers measured, measures what sampling costs, and makes test corpora. \
        Results go to standard output, progress and messages to standard error. A command that was \
        stopped can be repeated: it continues from the last committed step.";
    const FIRST: (&'static str, &'static str) = (
        "lookalike lab compare KEPT",
        "(KEPT: made with --keep-text)",
    );
    const GROUPS: &'static [(&'static str, &'static [&'static str])] = GROUPS;
    const RENAMED: &'static str = "
        compare --methods...: --method
        compare --against: --baseline
        compare --seed: --query-seed
        formulas --changes: changes=
        formulas --lexicons: lexicons=
        formulas --terms: terms=
        formulas --left-out: left-out=
        formulas --chunks: chunks=
        formulas --every: every=
        formulas --shared: shared=
        formulas --resemblance: resemblance=
        formulas --samples: samples=
        formulas --super-shingles: super-shingles=";
}
