//! What was counted.

use std::path::PathBuf;

use serde::Serialize;

use super::{Group, Keep, QrelsConfig};

/// Groups that are judged differently, by how alike the documents are that are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Differing {
    /// Groups.
    pub groups: u64,
    /// Of these, where exact duplicates of each other differ,
    pub exact: u64,
    /// and where only near-duplicates do.
    pub near: u64,
    /// Judged documents in the groups.
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

/// Counts of a topic, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TopicCounts {
    /// Judged documents: lines of the qrels.
    pub judged: u64,
    /// Of these, documents in a cluster.
    pub clustered: u64,
    /// Clusters of which two documents or more are judged.
    pub groups: u64,
    /// Of these, groups of exact duplicates of each other.
    pub exact_groups: u64,
    /// Judged documents in groups.
    pub documents: u64,
    /// Groups with relevant documents and others.
    pub inconsistent: Differing,
    /// Groups with more than one grade.
    pub grades_differ: Differing,
}

impl TopicCounts {
    fn add(&mut self, group: &Group<'_>) {
        let documents = group.placed.len() as u64;
        self.judged += documents;
        self.clustered += if group.clustered { documents } else { 0 };
        if documents >= 2 {
            self.groups += 1;
            self.exact_groups += u64::from(group.exact);
            self.documents += documents;
            self.inconsistent.add(group.relevance, documents);
            self.grades_differ.add(group.grades, documents);
        }
    }
}

/// Lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileCounts {
    /// The file.
    pub path: PathBuf,
    /// Lines read.
    pub lines: u64,
    /// Lines kept.
    pub kept: u64,
    /// Lines removed, as their topic has another of the cluster.
    pub removed: u64,
    /// Of those kept, lines with the docno of a representative in place of their own.
    pub renamed: u64,
    /// Lines with a docno that the collection does not have; nothing where its documents are not known.
    pub unknown: Option<u64>,
    /// Of a ranking, lines whose score is above that of the line before of the same topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores_rise: Option<u64>,
}

/// The whole report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QrelsReport {
    /// What was kept of a group.
    pub keep: Keep,
    /// The judgements.
    pub qrels: FileCounts,
    /// The ranking.
    pub run: Option<FileCounts>,
    /// The sum of all topics.
    pub all: TopicCounts,
    /// By topic, in the order of the qrels.
    pub topics: Vec<(String, TopicCounts)>,
}

impl QrelsReport {
    pub(super) fn new(config: &QrelsConfig, topics: &[String]) -> Self {
        let topics = topics
            .iter()
            .map(|topic| (topic.clone(), TopicCounts::default()));
        QrelsReport {
            keep: config.keep,
            qrels: FileCounts {
                path: config.qrels.clone(),
                ..FileCounts::default()
            },
            run: None,
            all: TopicCounts::default(),
            topics: topics.collect(),
        }
    }

    pub(super) fn add(&mut self, topic: u32, group: &Group<'_>) {
        self.all.add(group);
        if let Some((_, counts)) = self.topics.get_mut(topic as usize) {
            counts.add(group);
        }
    }
}
