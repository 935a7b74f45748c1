//! Flags that select which pairs are found, and how.

use clap::Args;
use lookalike_base::{Criterion, Measure, Result, Threshold, refuse};
use lookalike_engine::collection::CollectionConfig;
use lookalike_engine::join::{Join, JoinConfig, Pairs};
use lookalike_engine::pipeline::{AppliedPlan, JoinParameters, Spill};
use lookalike_engine::sample::Sampling;
use lookalike_tasks::plan::{self, PlanConfig, Ratio, Subset, Target};

use super::values::{List, Lowest, SamplingChoice, lowest};

/// The threshold.
#[derive(Debug, Args)]
#[command(next_help_heading = "Pairs")]
pub struct ThresholdFlag {
    /// Lowest resemblance of the pairs to find
    ///
    /// A decimal or a fraction, above 0 and at most 1. It is compared in integers, so 0.85 is
    /// exactly 17/20.
    ///
    /// Example: --threshold 2/3
    #[arg(short, long, value_name = "T", default_value = "0.85")]
    pub threshold: Option<Threshold>,
}

/// The criterion that a pair must reach.
#[derive(Debug, Args)]
#[command(next_help_heading = "Pairs")]
pub(crate) struct CriterionFlags {
    #[command(flatten)]
    threshold: ThresholdFlag,
    /// Score to compare with --threshold, such as containment
    ///
    /// For the shingle sets A and B of two documents: resemblance is shared / union, containment (or
    /// overlap) is shared / smaller set, cosine is shared / sqrt(|A| |B|), and dice is
    /// 2 shared / (|A| + |B|). The scores of Bernstein & Zobel 2006: s1:N lists the pairs that share at least N shingles, whatever the threshold; s2 is
    /// shared / smaller number of words; s3 is shared / mean number of words; s4 is s3 with each
    /// shared shingle weighted by 1 / the number of documents that contain it (1/2 or less). All
    /// scores are exact. The paper takes chunks of 8 words (--shingle-size 8), and its threshold T3 is
    /// 0.1 for s3.
    ///
    /// Example: --score s3 --threshold 0.1
    #[arg(long, value_name = "SCORE", default_value = "resemblance")]
    score: Option<Measure>,
}

impl CriterionFlags {
    /// The criterion in the form that the library takes.
    pub fn criterion(&self) -> Criterion {
        Criterion {
            measure: self.score.unwrap_or_default(),
            threshold: self.threshold.threshold.unwrap_or_default(),
        }
    }
}

/// The parameters of a sampling plan.
#[derive(Debug, Args)]
pub(crate) struct Planning {
    /// Lowest recall to keep in every size group [default: any]
    ///
    /// Recall is the share of the true pairs that a sampled run finds.
    ///
    /// Example: --precision 0.8 --recall 0.5
    #[arg(long, value_name = "R")]
    recall: Option<Threshold>,
    /// Sampling ratios to choose from; each must divide the next
    ///
    /// Example: --precision 0.8 --ratios 1/2,1/4
    #[arg(
        long,
        value_name = "LIST",
        default_value_t = List::of(&PlanConfig::default().ratios),
        hide_short_help = true
    )]
    ratios: List<Ratio>,
    /// Share of the documents to measure on, drawn at random
    ///
    /// Each document is drawn independently, so 10% of the documents have about 1% of the pairs.
    ///
    /// Example: --precision 0.8 --subset 50%
    #[arg(long, value_name = "SHARE", hide_short_help = true)]
    subset: Option<Threshold>,
    /// Seed of the random choice of documents for --subset
    ///
    /// Example: --precision 0.8 --subset 50% --plan-seed 1
    #[arg(long, value_name = "N", default_value_t = 0, hide_short_help = true)]
    plan_seed: u64,
}

impl Planning {
    /// The parameters in the form that the library takes, after checking them.
    pub fn config(&self, threshold: Threshold, precision: Threshold) -> Result<PlanConfig> {
        let config = PlanConfig {
            target: Target {
                threshold,
                precision,
                recall: self.recall,
            },
            ratios: self.ratios.rising(),
            subset: self.subset.map(|share| Subset {
                share,
                seed: self.plan_seed,
            }),
        };
        config.check()?;
        Ok(config)
    }
}

/// The parameters of a join.
#[derive(Debug, Args)]
#[command(mut_args(|arg| match arg.get_id().as_str() {
    "recall" | "ratios" | "plan_seed" => of_precision(arg),
    "subset" => of_precision(arg).default_value("10%"),
    _ => arg,
}))]
#[command(next_help_heading = "Pairs")]
pub(crate) struct JoinFlags {
    #[command(flatten)]
    comparison: CriterionFlags,
    /// Use a sample of the fingerprints: 1/N, 1/N:CLASS, a list, or a plan
    ///
    /// full is exact. 1/N uses one of N classes of fingerprints (class 0, or CLASS). Resemblance is
    /// then an estimate: some pairs are missed and some false ones are listed, mostly among short
    /// documents. A list gives one ratio to each size group; two documents are compared at the
    /// coarser of their ratios. broder97 is 1/25 with at most 400 fingerprints per document and
    /// --max-postings 1000. A name that ends in .toml is the file of a plan that `lookalike plan`
    /// made for this collection.
    ///
    /// Example: --sampling 1/16:3
    #[arg(long, value_name = "SAMPLING", default_value = "full")]
    sampling: Option<SamplingChoice>,
    /// Plan the coarsest sampling that keeps this precision
    ///
    /// Precision is the share of the listed pairs that are true. The run measures it on a part of
    /// the documents after reading them, chooses a ratio for every size group as `lookalike plan`
    /// does, and applies the plan. The plan is written to DIR/plan.toml. A small collection has too
    /// few pairs to measure and is not sampled.
    ///
    /// Example: --precision 0.85
    #[arg(long, value_name = "P", conflicts_with = "sampling")]
    precision: Option<Threshold>,
    #[command(flatten)]
    planning: Planning,
    /// Check sampled pairs against the full fingerprint sets
    ///
    /// No listed pair is then false, and resemblances are exact. Recall does not improve.
    ///
    /// Example: --sampling 1/16 --verified --candidates 0.7
    #[arg(long)]
    verified: bool,
    /// With --verified: lowest estimate to check [default: the threshold]
    ///
    /// Estimates err in both directions. A lower value checks more pairs and finds more of the true
    /// ones; `lookalike lab study` measures how many.
    ///
    /// Example: --sampling 1/4 --verified --candidates 0.7
    #[arg(long, value_name = "C")]
    candidates: Option<Threshold>,
    /// Algorithm: auto, prefix, count or probabilistic
    ///
    /// All of them find the same pairs. prefix looks only at the rarest fingerprints of each
    /// document and verifies each candidate. count counts the shared fingerprints of every two
    /// documents that share any; its time grows with the square of the number of documents that
    /// share a fingerprint. probabilistic first counts hashes of pairs, to skip most pairs below
    /// the threshold, and then runs count. It writes less to disk than count if memory cannot hold
    /// all postings. auto chooses the faster one: prefix nearly always, count if thousands of
    /// documents resemble each other.
    ///
    /// Example: --join count
    #[arg(long, value_name = "JOIN", default_value = "auto")]
    join: Option<Join>,
    /// Pairs to list: all, none (only clusters) or across (of old and new)
    ///
    /// across is for `run --against`: it lists only pairs of a new document and one of OLD.
    /// With none, the join skips pairs that cannot change a cluster, and pairs.tsv has no lines.
    /// The clusters are the same. Use it for collections with thousands of pages of one template,
    /// which have millions of pairs.
    ///
    /// Example: --pairs none
    #[arg(long, value_name = "PAIRS", default_value = "all")]
    pairs: Option<Pairs>,
    /// Also list pairs below the threshold, down to T, to look at
    ///
    /// They are written to review.tsv, apart from the others, and a page shows the ones nearest the
    /// threshold. They change nothing else: pairs.tsv, clusters, counts and what `dedup` removes stay
    /// the same. Later searches of the directory list them too, until `--review none`.
    ///
    /// Example: --threshold 0.85 --review 0.7
    #[arg(long, value_name = "T", value_parser = lowest)]
    pub review: Option<Lowest>,
    /// Ignore fingerprints that occur in more than N documents
    ///
    /// As in Broder et al. 1997. It uses --join count and loses pairs: resemblance is
    /// underestimated. The ledger counts the dropped fingerprints, and in how many pairs of
    /// documents they occurred (lost pair tokens).
    ///
    /// Example: --max-postings 1000
    #[arg(long, value_name = "N")]
    max_postings: Option<u32>,
    /// Sort on disk: auto (if memory is too small) or always
    ///
    /// auto spills to disk if --memory cannot take all records in a few passes. Results are the
    /// same.
    ///
    /// Example: --spill always
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Resources"
    )]
    spill: Spill,
    /// Merge at most this number of runs at once [default: as memory allows]
    ///
    /// For measurements. Results are the same.
    ///
    /// Example: --spill always --fan-in 2
    #[arg(long, value_name = "RUNS", help_heading = "Resources")]
    fan_in: Option<usize>,
}

/// Marks that a flag of [`Planning`] requires `--precision`.
fn of_precision(arg: clap::Arg) -> clap::Arg {
    arg.requires("precision")
}

impl JoinFlags {
    /// The parameters in the form that the library takes, after checking them, and the parameters
    /// of the plan if one is to be made. Parameters without a flag are as in the search `before`.
    pub fn parameters(
        &self,
        collection: &CollectionConfig,
        before: JoinParameters,
    ) -> Result<(Option<PlanConfig>, JoinParameters)> {
        let old = before.join;
        let threshold = self.comparison.threshold.threshold.unwrap_or(old.threshold);
        // Another sampling has its own flags.
        let is_old = self.sampling.is_none() && self.precision.is_none();
        let (sampling, planning, plan) = match (&self.sampling, self.precision) {
            (None, None) => match before.plan {
                // Its plan is for another threshold.
                Some(AppliedPlan { plan, given: false })
                    if plan.config.target.threshold != threshold =>
                {
                    let target = Target {
                        threshold,
                        ..plan.config.target
                    };
                    let config = PlanConfig {
                        target,
                        ..plan.config
                    };
                    (Sampling::Full, Some(config), None)
                }
                plan => (before.sampling, None, plan),
            },
            (_, Some(precision)) => {
                let config = self.planning.config(threshold, precision)?;
                (Sampling::Full, Some(config), None)
            }
            (Some(SamplingChoice::As(sampling)), None) => (sampling.clone(), None, None),
            (Some(SamplingChoice::Plan(path)), None) => {
                let plan = plan::read(path)?;
                plan.check(path, collection, threshold)?;
                let applied = AppliedPlan { plan, given: true };
                (applied.plan.sampling(), None, Some(applied))
            }
        };
        let checked = old.candidates.filter(|_| is_old);
        let lower = checked.filter(|checked| *checked != old.threshold);
        let verified = self.verified || checked.is_some();
        let candidates = match (verified, self.candidates.or(lower)) {
            (true, candidates) => Some(candidates.unwrap_or(threshold)),
            (false, None) => None,
            (false, Some(candidates)) => {
                return refuse("candidates", candidates, "add --verified");
            }
        };
        let mut join = JoinConfig {
            join: self.join.unwrap_or(old.join),
            threshold,
            measure: self.comparison.score.unwrap_or(old.measure),
            max_postings: (self.max_postings)
                .or(old.max_postings.filter(|_| is_old))
                .or(sampling.max_postings()),
            pairs: self.pairs.unwrap_or(old.pairs),
            candidates,
            review: (self.review)
                .unwrap_or(old.review.filter(|_| is_old || sampling == Sampling::Full)),
        };
        // Other flags may leave no pairs to review.
        if self.review.is_none() && join.check().is_err() {
            join.review = None;
        }
        let parameters = JoinParameters {
            join,
            sampling,
            plan,
            spill: self.spill,
            fan_in: self.fan_in,
            ..JoinParameters::default()
        };
        parameters.check(&collection.size_groups, planning.is_some())?;
        Ok((planning, parameters))
    }
}
