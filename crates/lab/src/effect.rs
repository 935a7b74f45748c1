//! Measures the effect of near-duplicates on the metrics of retrieval systems.
//!
//! # Source
//! Bernstein & Zobel 2005 ("Redundant documents and search effectiveness", CIKM) count a document
//! as not relevant if one like it stands higher in the ranking, and remove such documents. Fröbe,
//! Bittner, Potthast & Hagen 2020 ("The effect of content-equivalent near-duplicates on the
//! evaluation of search engines", ECIR) repeat this on the TREC tracks and compare the orders of the
//! systems. Sakai 2007 ("Alternatives to Bpref", SIGIR) condenses rankings: documents without a
//! judgement are skipped. Chowdhury, Frieder, Grossman & McCabe 2002, section 4.6, find duplicates
//! that were judged differently. Fröbe et al. 2021 ("CopyCat", SIGIR) give a judgement to all
//! copies of a document.
//!
//! # In and out
//! In: judgements, rankings and clusters, as [`crate::qrels`] reads them, of one
//! relevance for each docno of a topic. Out: [`EffectReport`], with every metric of every ranking,
//! topic and [`Treatment`].
//!
//! # Definitions
//! A *unit* is a cluster, or a document that is in none. Its relevance is the highest of its judged
//! documents.
//!
//! | treatment | the ranking has | the judgements have |
//! | --- | --- | --- |
//! | given | every line with its own relevance | every line |
//! | unified | every line; a judged document has the relevance of its unit | every line, with the relevance of its unit |
//! | irrelevant | the first document of a unit with the relevance of the unit; later ones are not relevant | every unit once |
//! | removed | the first document of a unit, with the relevance of the unit | every unit once |
//! | condensed | the same without units that are not judged | every unit once |
//!
//! Metrics are those of trec_eval: a document is relevant above 0, and a document without a
//! judgement is not relevant. A ranking is in the order of falling scores, in single precision; of
//! equal ones, the docno that is greater byte by byte comes first. The gain of a document is its
//! relevance, or 0 if that is negative, and its discount is the binary logarithm of its rank and 1.
//! Means are over all topics of the judgements: a topic that a ranking lacks, or that has no
//! relevant document, counts 0 (`trec_eval -c`, and `ir_measures`).
//!
//! Kendall's tau is tau-b: systems that are equal in one of the orders do not count as a pair of it.
//!
//! # Cost
//! Memory: that of [`crate::qrels`], and 48 bytes for each line of the rankings.
//!
//! # Errors
//! Those of [`crate::qrels`].

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use serde::{Serialize, Serializer};

use crate::qrels::{
    Clusters, FileCounts, Held, Judgements, QrelsFormat, RankedLine, RankedRun, Source, read,
};
use lookalike_base::{Context, Result, keywords};

const STAGE: &str = "effect";

/// Memory of a judgement besides that of its line: two tables and three lists.
const JUDGED_BYTES: u64 = 200;

/// Memory of a line while its ranking is evaluated: hash and unit (32), and two lists of grades.
const LINE_BYTES: u64 = 48;

keywords! {
    /// The treatment of near-duplicates.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Treatment {
        /// Nothing.
        Given = "given",
        /// The judged documents of a cluster have its highest relevance.
        Unified = "unified",
        /// Documents whose cluster ranks higher are not relevant.
        Irrelevant = "irrelevant",
        /// These documents are removed.
        Removed = "removed",
        /// They and the documents without a judgement are removed.
        Condensed = "condensed",
    }
}

/// A value for each metric.
pub type Values = [f64; METRICS.len()];

/// A metric of the relevance of ranked documents, the first at the top, and of judged ones.
type Measure = fn(&[i64], &[i64]) -> f64;

/// The metrics: their names for people and for trec_eval.
pub const METRICS: [(&str, &str, Measure); 5] = [
    ("MAP", "map", average_precision),
    ("nDCG@10", "ndcg_cut_10", |ranked, judged| {
        let mut ideal = judged.to_vec();
        ideal.sort_unstable_by(|a, b| b.cmp(a));
        ratio(gain(ranked), gain(&ideal))
    }),
    ("P@10", "P_10", |ranked, _| relevant(ranked, 10) / 10.0),
    ("MRR", "recip_rank", |ranked, _| {
        let first = ranked.iter().position(|&grade| grade > 0);
        first.map_or(0.0, |place| 1.0 / (place + 1) as f64)
    }),
    ("R@1000", "recall_1000", |ranked, judged| {
        ratio(relevant(ranked, 1000), relevant(judged, usize::MAX))
    }),
];

fn average_precision(ranked: &[i64], judged: &[i64]) -> f64 {
    let (mut found, mut sum) = (0.0, 0.0);
    for (place, _) in ranked.iter().enumerate().filter(|(_, grade)| **grade > 0) {
        found += 1.0;
        sum += found / (place + 1) as f64;
    }
    ratio(sum, relevant(judged, usize::MAX))
}

/// The relevant ones of the first documents.
fn relevant(grades: &[i64], first: usize) -> f64 {
    grades
        .iter()
        .take(first)
        .filter(|grade| **grade > 0)
        .count() as f64
}

/// The discounted gain of ten documents.
fn gain(grades: &[i64]) -> f64 {
    let each = grades.iter().take(10).enumerate();
    let each = each.map(|(place, &grade)| grade.max(0) as f64 / ((place + 2) as f64).log2());
    // The sum of no numbers is -0.0.
    each.fold(0.0, |sum, gain| sum + gain)
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// The input files.
#[derive(Clone, Debug, clap::Args)]
pub struct EffectConfig {
    /// Judgements: lines of TOPIC ITERATION DOCNO RELEVANCE
    ///
    /// A document is relevant above 0. Judgements of subtopics (ndeval) and prels are refused. The
    /// file may be compressed.
    #[arg(long, value_name = "FILE")]
    pub qrels: PathBuf,
    /// Ranking: lines of TOPIC Q0 DOCNO RANK SCORE TAG; repeat it for each
    ///
    /// As for trec_eval, the scores decide about the order, and of equal ones the greater docno
    /// comes first. The file may be compressed.
    #[arg(long = "run", value_name = "FILE", required = true)]
    pub runs: Vec<PathBuf>,
    /// Output directory of a run, or its clusters.jsonl
    #[arg(long, value_name = "PATH")]
    pub clusters: PathBuf,
}

/// The metrics of a ranking.
#[derive(Clone, Debug, Serialize)]
pub struct SystemEffect {
    /// The lines of its file; those of judged topics that [`Treatment::Removed`] keeps and removes.
    pub file: FileCounts,
    /// Topics of the judgements that it lacks.
    pub missing: u64,
    /// The means by treatment.
    #[serde(serialize_with = "by_name")]
    pub means: Vec<Values>,
    /// The values by treatment and topic.
    #[serde(skip)]
    pub topics: Vec<Vec<Values>>,
}

/// The whole report.
#[derive(Clone, Debug, Serialize)]
pub struct EffectReport {
    /// The lines of the judgements.
    pub qrels: FileCounts,
    /// The topics of the judgements, in their order.
    pub topics: Vec<String>,
    /// Each ranking, in the order of the command.
    pub systems: Vec<SystemEffect>,
    /// Kendall's tau of the systems' order by treatment and metric, and the order as given; `None`
    /// without an order.
    #[serde(serialize_with = "by_name")]
    pub tau: Vec<[Option<f64>; METRICS.len()]>,
    /// Pairs of systems that change order by average precision, for each treatment and topic.
    #[serde(serialize_with = "by_treatment")]
    pub swaps: Vec<Vec<u64>>,
}

/// Writes rows by treatment.
fn by_treatment<R: Serialize, S: Serializer>(
    rows: impl AsRef<[R]>,
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    to.collect_map(Treatment::ALL.iter().map(|of| of.text()).zip(rows.as_ref()))
}

/// Writes rows by treatment, and the values of each by the name that trec_eval gives the metric.
fn by_name<V: Serialize, S: Serializer>(
    rows: &[[V; METRICS.len()]],
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    let named = |row| METRICS.iter().map(|of| of.1).zip(row).collect();
    let rows: Vec<BTreeMap<&str, &V>> = rows.iter().map(named).collect();
    by_treatment(rows, to)
}

/// The relevance of a topic's documents and units, and the grades of the judgements by treatment.
#[derive(Default)]
struct JudgedTopic {
    documents: HashMap<u128, i64>,
    units: BTreeMap<u128, i64>,
    given: Vec<i64>,
    unified: Vec<i64>,
    once: Vec<i64>,
}

/// The unit of a document: the number of its cluster, which is not a hash, or its own hash.
fn unit(clusters: &Clusters, key: u128) -> u128 {
    let member = clusters.member(key);
    member.map_or(key, |member| u128::from(member.cluster))
}

impl JudgedTopic {
    fn of(judgements: &Judgements, clusters: &Clusters) -> Vec<JudgedTopic> {
        let mut topics: Vec<JudgedTopic> = Vec::new();
        topics.resize_with(judgements.topics.len(), JudgedTopic::default);
        for judgement in &judgements.all {
            let topic = &mut topics[judgement.topic as usize];
            topic.documents.insert(judgement.key, judgement.grade);
            topic.given.push(judgement.grade);
            let most = topic.units.entry(unit(clusters, judgement.key));
            let most = most.or_insert(judgement.grade);
            *most = (*most).max(judgement.grade);
        }
        for judgement in &judgements.all {
            let topic = &mut topics[judgement.topic as usize];
            topic
                .unified
                .push(topic.units[&unit(clusters, judgement.key)]);
        }
        for topic in &mut topics {
            topic.once = topic.units.values().copied().collect();
        }
        topics
    }

    /// The grades of ranked documents, which are hashes and units, and of the judgements.
    fn grades(&self, ranked: &[(u128, u128)], treatment: Treatment) -> (Vec<i64>, &[i64]) {
        let mut seen = HashSet::new();
        let own = |key: &u128| self.documents.get(key).copied();
        let mut grade = |(key, of): &(u128, u128)| match treatment {
            Treatment::Given => Some(own(key).unwrap_or(0)),
            Treatment::Unified => Some(own(key).map_or(0, |_| self.units[of])),
            treatment => {
                let (unit, first) = (self.units.get(of).copied(), seen.insert(*of));
                match treatment {
                    Treatment::Irrelevant => Some(unit.filter(|_| first).unwrap_or(0)),
                    Treatment::Condensed => unit.filter(|_| first),
                    _ => first.then(|| unit.unwrap_or(0)),
                }
            }
        };
        let grades = ranked.iter().filter_map(&mut grade).collect();
        let judged = match treatment {
            Treatment::Given => &self.given,
            Treatment::Unified => &self.unified,
            _ => &self.once,
        };
        (grades, judged)
    }
}

/// Measures the effect on each ranking.
///
/// # Errors
/// See the module.
pub fn run(config: &EffectConfig, context: &Context<'_>) -> Result<EffectReport> {
    let source = Source::open(&config.clusters)?;
    let mut held = Held::new(STAGE, context, (0, JUDGED_BYTES));
    held.ranked_bytes = LINE_BYTES;
    let given = (config.qrels.as_path(), QrelsFormat::Trec);
    let (judgements, clusters, runs) = read(given, &source, &config.runs, false, &mut held)?;
    let judged = JudgedTopic::of(&judgements, &clusters);
    let of = (&judgements, &clusters, &judged[..]);
    let systems: Vec<SystemEffect> = runs.iter().map(|run| system(run, of)).collect();
    let order = |treatment: usize, metric: usize| -> Vec<f64> {
        let systems = systems.iter();
        systems.map(|of| of.means[treatment][metric]).collect()
    };
    let swaps = |treatment: usize, topic: usize| {
        let by = |treatment: usize| -> Vec<f64> {
            let systems = systems.iter();
            systems.map(|of| of.topics[treatment][topic][0]).collect()
        };
        PairOrders::of(&by(0), &by(treatment)).against
    };
    let kept = judged.iter().map(|topic| topic.once.len() as u64).sum();
    let treatments = 0..Treatment::ALL.len();
    Ok(EffectReport {
        qrels: FileCounts {
            kept,
            removed: judgements.all.len() as u64 - kept,
            ..judgements.counts(&config.qrels, &clusters)
        },
        tau: (treatments.clone())
            .map(|treatment| {
                let mut metric = 0..;
                METRICS.map(|_| {
                    let metric = metric.next().unwrap_or(0);
                    PairOrders::of(&order(0, metric), &order(treatment, metric)).tau()
                })
            })
            .collect(),
        swaps: treatments
            .map(|of| (0..judged.len()).map(|topic| swaps(of, topic)).collect())
            .collect(),
        topics: judgements.topics.clone(),
        systems,
    })
}

/// Measures the effect on one ranking.
fn system(
    run: &RankedRun,
    (judgements, clusters, judged): (&Judgements, &Clusters, &[JudgedTopic]),
) -> SystemEffect {
    let topics = run.topics.iter();
    let topics: HashMap<&str, &[RankedLine]> = topics
        .map(|topic| (&*topic.name, &topic.lines[..]))
        .collect();
    let mut effect = SystemEffect {
        file: run.counts(clusters),
        missing: 0,
        means: Vec::new(),
        topics: vec![Vec::new(); Treatment::ALL.len()],
    };
    for (name, topic) in judgements.topics.iter().zip(judged) {
        let lines = topics.get(&**name).copied().unwrap_or_default();
        effect.missing += u64::from(lines.is_empty());
        let ranked = lines
            .iter()
            .map(|line| (line.key, unit(clusters, line.key)));
        let ranked: Vec<_> = ranked.collect();
        for (values, treatment) in effect.topics.iter_mut().zip(Treatment::ALL) {
            let (grades, judged) = topic.grades(&ranked, treatment);
            values.push(METRICS.map(|(_, _, measure)| measure(&grades, judged)));
            if treatment == Treatment::Removed {
                effect.file.kept += grades.len() as u64;
                effect.file.removed += (ranked.len() - grades.len()) as u64;
            }
        }
    }
    let count = judged.len().max(1) as f64;
    let mean = |values: &Vec<Values>| {
        let sum = values.iter().fold([0.0; METRICS.len()], |mut sum, of| {
            sum.iter_mut().zip(of).for_each(|(sum, of)| *sum += of);
            sum
        });
        sum.map(|sum| sum / count)
    };
    effect.means = effect.topics.iter().map(mean).collect();
    effect
}

/// Pairs of things that have two values each, by their order.
#[derive(Default)]
struct PairOrders {
    with: u64,
    against: u64,
    /// Pairs that differ by each value.
    differ: [u64; 2],
}

impl PairOrders {
    fn of(before: &[f64], after: &[f64]) -> PairOrders {
        let mut pairs = PairOrders::default();
        let each: Vec<(f64, f64)> = before.iter().copied().zip(after.iter().copied()).collect();
        for (n, a) in each.iter().enumerate() {
            for b in &each[n + 1..] {
                let (x, y) = ((a.0 - b.0), (a.1 - b.1));
                pairs.differ[0] += u64::from(x != 0.0);
                pairs.differ[1] += u64::from(y != 0.0);
                pairs.with += u64::from(x * y > 0.0);
                pairs.against += u64::from(x * y < 0.0);
            }
        }
        pairs
    }

    fn tau(&self) -> Option<f64> {
        let [before, after] = self.differ.map(|pairs| pairs as f64);
        let differ = (before * after).sqrt();
        (differ > 0.0).then(|| (self.with as f64 - self.against as f64) / differ)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, and by trec_eval.
    #[test]
    fn metrics_of_one_ranking() {
        let values =
            |ranked: &[i64], judged: &[i64]| METRICS.map(|metric| metric.2(ranked, judged));
        // Relevant at ranks 2 and 4 of three relevant ones.
        let found = values(&[0, 2, -1, 1], &[0, 2, -1, 1, 1]);
        let dcg = 2.0 / 3f64.log2() + 1.0 / 5f64.log2();
        let ideal = 2.0 + 1.0 / 3f64.log2() + 0.5;
        let expected = [(0.5 + 0.5) / 3.0, dcg / ideal, 0.2, 0.5, 2.0 / 3.0];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
        // Nothing is relevant, or nothing found.
        assert_eq!(values(&[0, 0], &[0, -2]), [0.0; 5]);
        assert_eq!(values(&[], &[1]), [0.0; 5]);
        // The eleventh and the thousand-and-first document.
        let mut late = vec![0; 1000];
        late.push(1);
        assert_eq!(
            values(&late, &[1]),
            [1.0 / 1001.0, 0.0, 0.0, 1.0 / 1001.0, 0.0]
        );
        let eleventh = values(&[&[0; 10][..], &[1]].concat(), &[1]);
        assert_eq!(eleventh, [1.0 / 11.0, 0.0, 0.0, 1.0 / 11.0, 1.0]);
    }

    #[test]
    fn tau_counts_pairs() {
        let tau = |a: &[f64], b: &[f64]| PairOrders::of(a, b).tau();
        assert_eq!(tau(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]), Some(1.0));
        assert_eq!(tau(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        // Two of three pairs in order, one of them a tie: 2 / sqrt(3 * 2).
        let tied = tau(&[1.0, 2.0, 3.0], &[1.0, 2.0, 2.0]).unwrap();
        assert!((tied - 2.0 / 6f64.sqrt()).abs() < 1e-15);
        assert_eq!(tau(&[1.0], &[1.0]), None);
        assert_eq!(tau(&[1.0, 2.0], &[1.0, 1.0]), None);
    }
}
