//! The counts of judgements, groups and lines that a report contains.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::lines::Judgements;
use super::{Clusters, Group, Keep, Marks, QrelsConfig, QrelsFormat};

/// Groups whose documents are judged differently, by the kind of duplicates that disagree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Differing {
    /// All such groups.
    pub groups: u64,
    /// Groups in which exact duplicates of each other are judged differently.
    pub exact: u64,
    /// Groups in which only near-duplicates are judged differently.
    pub near: u64,
    /// Judged documents in all these groups.
    pub documents: u64,
}

impl Differing {
    fn add(&mut self, exact: Option<bool>, documents: u64) {
        if let Some(exact) = exact {
            self.groups += 1;
            self.exact += u64::from(exact);
            self.near += u64::from(!exact);
            self.documents += documents;
        }
    }
}

/// Counts of one topic, or of all topics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TopicCounts {
    /// Judged documents, which are the lines of the qrels.
    pub judged: u64,
    /// Judged documents that are in a cluster.
    pub clustered: u64,
    /// Groups: clusters with at least two judged documents.
    pub groups: u64,
    /// Groups whose documents are all exact duplicates of each other.
    pub exact_groups: u64,
    /// Judged documents in groups.
    pub documents: u64,
    /// Groups in which some documents are relevant and some are not.
    pub inconsistent: Differing,
    /// Groups with more than one grade.
    pub grades_differ: Differing,
}

impl TopicCounts {
    /// Counts a cluster, or the documents that are in none, once.
    pub(super) fn add_cluster(&mut self, clustered: bool, documents: impl Iterator<Item = Marks>) {
        let mut whole = Marks::default();
        let (mut grouped, mut inconsistent, mut differ) = (0, 0, 0);
        for marks in documents {
            self.judged += 1;
            self.clustered += u64::from(clustered);
            grouped += u64::from(marks.grouped);
            inconsistent += u64::from(marks.relevance.is_some());
            differ += u64::from(marks.grades.is_some());
            whole = whole.and(marks);
        }
        self.groups += u64::from(whole.grouped);
        self.exact_groups += u64::from(whole.grouped && !whole.near);
        self.documents += grouped;
        self.inconsistent.add(whole.relevance, inconsistent);
        self.grades_differ.add(whole.grades, differ);
    }
}

/// Counts of the lines of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileCounts {
    /// The file.
    pub path: PathBuf,
    /// Lines read.
    pub lines: u64,
    /// Lines kept.
    pub kept: u64,
    /// Lines removed because the file keeps another line for their topic and cluster.
    pub removed: u64,
    /// Removed lines of topics without judgements; for rankings only.
    pub unjudged: u64,
    /// Kept lines in which another docno of the cluster replaces the document's own.
    pub renamed: u64,
    /// Kept lines with a higher score, so that the new docnos do not change the order of equal ones.
    pub rescored: u64,
    /// Lines whose docno the collection does not contain. `None` if the docnos of the collection
    /// are not known.
    pub unknown: Option<u64>,
    /// The docnos of some such lines, the first or best ranked, and the numbers of the lines, from 1.
    pub first_unknown: Vec<(String, u64)>,
    /// Lines with a higher score than the line before of the same topic; for rankings only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores_rise: Option<u64>,
}

/// Limit on [`FileCounts::first_unknown`].
const MOST_NAMED: usize = 3;

impl FileCounts {
    /// Counts lines with documents of these hashes and docnos, and of these numbers.
    pub(super) fn of<'l>(
        path: &Path,
        clusters: &Clusters,
        lines: impl Iterator<Item = (u128, &'l str, u64)>,
    ) -> FileCounts {
        let mut counts = FileCounts {
            path: path.into(),
            unknown: clusters.unknown(0).map(|_| 0),
            ..FileCounts::default()
        };
        for (key, docno, line) in lines {
            counts.lines += 1;
            if clusters.unknown(key) == Some(true) {
                counts.unknown = counts.unknown.map(|unknown| unknown + 1);
                if counts.first_unknown.len() < MOST_NAMED {
                    counts.first_unknown.push((docno.into(), line));
                }
            }
        }
        counts
    }
}

/// The whole report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QrelsReport {
    /// Which judgement of a group was kept.
    pub keep: Keep,
    /// The format of the lines of the judgements.
    pub format: QrelsFormat,
    /// The lines of the judgements.
    pub qrels: FileCounts,
    /// The lines of each ranking.
    pub runs: Vec<FileCounts>,
    /// The sum over all topics.
    pub all: TopicCounts,
    /// Clusters and documents of all topics, each counted once.
    pub distinct: TopicCounts,
    /// Each topic with its counts, in the order of the qrels.
    pub topics: Vec<(String, TopicCounts)>,
}

impl QrelsReport {
    pub(super) fn new(config: &QrelsConfig, judgements: &Judgements, qrels: FileCounts) -> Self {
        let topics = judgements.topics.iter();
        let topics = topics.map(|topic| (topic.clone(), TopicCounts::default()));
        QrelsReport {
            keep: config.keep,
            format: judgements.format,
            qrels,
            topics: topics.collect(),
            ..QrelsReport::default()
        }
    }

    pub(super) fn add(&mut self, topic: u32, group: &Group<'_>) {
        let of_topic = self.topics.get_mut(topic as usize);
        let of_topic = of_topic.map(|(_, counts)| counts);
        for counts in [&mut self.all].into_iter().chain(of_topic) {
            let documents = std::iter::repeat_n(group.marks, group.placed.len());
            counts.add_cluster(group.clustered, documents);
        }
    }
}
