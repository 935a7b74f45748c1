//! How methods treat documents and their edited copies.
//!
//! # Source
//! Found ratio and clusters: Chowdhury et al. 2002, section 4.3, Tables III and IV. An original and
//! its copies are a family. A document of the family is found if its cluster has another document
//! of the family. The clusters of a family are the clusters that contain its documents; a document
//! in no cluster counts as one (11 copies, none of them found, are 11 clusters; Table III's 36.4 %
//! are 4 of 11, in Table IV's 9 clusters). False positives (section 4.3) are the documents of these
//! clusters that do not belong to the family.
//!
//! Curves: Cherkasova et al. 2009, section 3: the similarity of original and copy by a method,
//! averaged over all copies with the same number of edits; and its distribution over pairs of
//! different originals.
//!
//! # Where we depart from the source
//! For a method that requires a number of shared features, or scores them by the lengths of the
//! documents, the curves show the resemblance of the two feature sets.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{CompareConfig, STAGE};
use lookalike_base::{Context, Key, Measure, PROCESS_BYTES, Result, UnionFind, counted};
use lookalike_engine::collection::{Catalogue, MappedSets, Representatives, each_document};
use lookalike_engine::join::{List, each_pair};
use lookalike_store::Workspace;
use lookalike_text::read::lines::Lines;

/// Limit on the originals that are compared with each other: 124,750 pairs.
const MOST_ORIGINALS: usize = 500;
/// Bytes of mapped sets kept in memory.
const RESIDENT: u64 = 64 << 20;
/// Limit on the bytes of a line of the edit list.
const MOST_LINE_BYTES: usize = 16 << 20;
/// Bytes per copy, with its docno stored twice.
const COPY_BYTES: u64 = 600;

/// The results for edited copies.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Families {
    /// Originals that have copies.
    pub originals: u64,
    /// Copies.
    pub copies: u64,
    /// Copies or originals of the edit list that are not in the collection.
    pub unknown: u64,
    /// One row per family: originals in the order of the edit list.
    pub rows: Vec<FamilyRow>,
    /// One curve per method.
    pub curves: Vec<Curve>,
    /// One distribution per method.
    pub distributions: Vec<Distribution>,
}

impl Families {
    /// Over all families: the documents, those that method number `method` found, the clusters
    /// that contain them, and its false positives.
    pub(crate) fn sums(&self, method: usize) -> [u64; 4] {
        let of = |counts: &[u64]| counts.get(method).copied().unwrap_or(0);
        self.rows
            .iter()
            .fold([0; 4], |[documents, found, clusters, strangers], row| {
                [
                    documents + row.documents,
                    found + of(&row.found),
                    clusters + of(&row.clusters),
                    strangers + of(&row.false_positives),
                ]
            })
    }
}

/// A family, with the result of each method.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FamilyRow {
    /// Docno of the original.
    pub original: String,
    /// Documents of the family.
    pub documents: u64,
    /// The number of them that each method found.
    pub found: Vec<u64>,
    /// The number of clusters that contain them.
    pub clusters: Vec<u64>,
    /// The number of documents in these clusters that do not belong to the family. Exact duplicates
    /// of other documents do not count.
    #[serde(default)]
    pub false_positives: Vec<u64>,
}

/// Average similarity of original and copy, by number of edits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Curve {
    /// The method.
    pub method: String,
    /// Number of edits, number of copies, mean of the similarity, minimum.
    pub points: Vec<(u64, u64, f64, f64)>,
}

/// Similarity of all pairs of originals.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Distribution {
    /// The method.
    pub method: String,
    /// Pairs compared.
    pub pairs: u64,
    /// The similarities above 0, ascending.
    pub similar: Vec<f64>,
}

/// A line of the edit list.
#[derive(Deserialize)]
struct Line {
    copy: String,
    original: String,
    edits: Vec<serde::de::IgnoredAny>,
}

/// An original, and with it its copies.
type Family = (u32, Vec<u32>);

struct Copy {
    original: u32,
    copy: u32,
    edits: u64,
}

pub(super) fn run(
    base: &Workspace,
    workspaces: &[Workspace],
    config: &CompareConfig,
    edits: &Path,
    context: &Context<'_>,
) -> Result<Families> {
    let (names, lines, unknown) = read(base, edits, context)?;
    let mut families: Vec<Family> = Vec::new();
    let mut place: HashMap<u32, usize> = HashMap::new();
    for line in &lines {
        let at = *place.entry(line.original).or_insert_with(|| {
            families.push((line.original, vec![line.original]));
            families.len() - 1
        });
        families[at].1.push(line.copy);
    }
    let documents = Catalogue::stats(base)?.documents;
    let held = lines.len() as u64 * COPY_BYTES + documents * 8;
    let what = || {
        let copies = counted(lines.len() as u64, "copy");
        format!("comparing {copies} of {}", counted(documents, "document"))
    };
    let least = PROCESS_BYTES + held + RESIDENT;
    context.budget.require(least, what)?;
    let row = |(original, members): &Family| FamilyRow {
        original: names.get(original).cloned().unwrap_or_default(),
        documents: members.len() as u64,
        ..FamilyRow::default()
    };
    let mut rows: Vec<FamilyRow> = families.iter().map(row).collect();
    let (mut curves, mut distributions) = (Vec::new(), Vec::new());
    for (workspace, spec) in workspaces.iter().zip(&config.methods) {
        context.stop.check(STAGE)?;
        let sets = UnionFind::new(documents as u32);
        count_clusters(workspace, sets, &families, &mut rows)?;
        let similar = Similar::new(workspace, spec.method.join.measure)?;
        let method = spec.to_string();
        let originals: Vec<u32> = families.iter().map(|f| f.0).take(MOST_ORIGINALS).collect();
        curves.push(similar.curve(method.clone(), &lines)?);
        distributions.push(similar.distribution(method, &originals, context)?);
    }
    Ok(Families {
        originals: families.len() as u64,
        copies: lines.len() as u64,
        unknown,
        rows,
        curves,
        distributions,
    })
}

/// Counts the documents that a method finds of each family, in its row. `sets` has every document
/// by itself.
fn count_clusters(
    workspace: &Workspace,
    sets: UnionFind,
    families: &[Family],
    rows: &mut [FamilyRow],
) -> Result<()> {
    let representatives = Catalogue::representatives(workspace)?;
    each_pair(workspace, List::Pairs, |pair| {
        sets.union(pair.a, pair.b);
        Ok(())
    })?;
    for (document, first) in (0..).zip(representatives.iter()) {
        sets.union(first, document);
    }
    let mut sizes: HashMap<u32, u64> = HashMap::new();
    for &member in families.iter().flat_map(|(_, members)| members) {
        sizes.insert(sets.find(member), 0);
    }
    for (document, first) in (0..).zip(representatives.iter()) {
        if document == first
            && let Some(size) = sizes.get_mut(&sets.find(document))
        {
            *size += 1;
        }
    }
    for ((_, members), row) in families.iter().zip(rows) {
        let mut roots: BTreeMap<u32, u64> = BTreeMap::new();
        let mut own = BTreeSet::new();
        for &member in members {
            *roots.entry(sets.find(member)).or_default() += 1;
            own.insert(representatives.of(member));
        }
        row.found.push(roots.values().filter(|&&n| n > 1).sum());
        row.clusters.push(roots.len() as u64);
        let all: u64 = roots.keys().filter_map(|root| sizes.get(root)).sum();
        row.false_positives.push(all - own.len() as u64);
    }
    Ok(())
}

/// The original of each copy of an edit list, the number of edits, and how similar the two are by a
/// method that was run.
pub fn each_copy(
    base: &Workspace,
    (workspace, measure): (&Workspace, Measure),
    edits: &Path,
    context: &Context<'_>,
) -> Result<Vec<(u32, u64, f64)>> {
    let (_, lines, _) = read(base, edits, context)?;
    let similar = Similar::new(workspace, measure)?;
    let of = |line: &Copy| {
        Ok((
            line.original,
            line.edits,
            similar.of(line.original, line.copy)?,
        ))
    };
    lines.iter().map(of).collect()
}

/// Similarity of two documents by a method.
struct Similar {
    sets: MappedSets,
    representatives: Representatives,
    measure: Measure,
}

impl Similar {
    fn new(workspace: &Workspace, measure: Measure) -> Result<Similar> {
        Ok(Similar {
            sets: MappedSets::open::<u64>(workspace, RESIDENT)?,
            representatives: Catalogue::representatives(workspace)?,
            measure,
        })
    }

    /// The similarities of copies to their originals, by the number of edits.
    fn curve(&self, method: String, copies: &[Copy]) -> Result<Curve> {
        let mut points: BTreeMap<u64, (u64, f64, f64)> = BTreeMap::new();
        for line in copies {
            let similarity = self.of(line.original, line.copy)?;
            let point = points.entry(line.edits).or_insert((0, 0.0, f64::INFINITY));
            *point = (point.0 + 1, point.1 + similarity, point.2.min(similarity));
        }
        let points = points.into_iter();
        let points = points.map(|(edits, (n, sum, least))| (edits, n, sum / n as f64, least));
        let points = points.collect();
        Ok(Curve { method, points })
    }

    /// The similarities of every two originals.
    fn distribution(
        &self,
        method: String,
        originals: &[u32],
        context: &Context<'_>,
    ) -> Result<Distribution> {
        let (mut similar, mut pairs) = (Vec::new(), 0);
        for (n, &a) in originals.iter().enumerate() {
            context.stop.check(STAGE)?;
            for &b in &originals[..n] {
                pairs += 1;
                let similarity = self.of(a, b)?;
                if similarity > 0.0 {
                    similar.push(similarity);
                }
            }
        }
        similar.sort_by(f64::total_cmp);
        Ok(Distribution {
            method,
            pairs,
            similar,
        })
    }

    fn of(&self, a: u32, b: u32) -> Result<f64> {
        let (a, b) = (self.representatives.of(a), self.representatives.of(b));
        if a == b {
            return Ok(1.0);
        }
        let sets = self.sets.look();
        let (left, right) = (sets.get(a)?, sets.get(b)?);
        let size = |set: &[u8]| (set.len() / u64::BYTES) as u64;
        let shared = match self.measure {
            Measure::Smallest(n) => u64::shared_smallest_le(left, right, n.into()),
            _ => u64::shared_le(left, right, 0).unwrap_or(0),
        };
        let measure = match self.measure {
            Measure::Shared(_) | Measure::S2 | Measure::S3 | Measure::S4 => Measure::Resemblance,
            other => other,
        };
        Ok(measure.value(shared, size(left), size(right)))
    }
}

type Read = (HashMap<u32, String>, Vec<Copy>, u64);

/// Reads the edit list and numbers its documents.
fn read(base: &Workspace, edits: &Path, context: &Context<'_>) -> Result<Read> {
    let (mut lines, mut names) = (Vec::new(), 0);
    let mut reader = Lines::open(edits, MOST_LINE_BYTES)?;
    while reader.advance()? {
        let line: Line = serde_json::from_slice(reader.line())
            .map_err(|e| reader.bad("JSON with `copy`, `original` and `edits`", e))?;
        names += (line.original.len() + line.copy.len()) as u64;
        lines.push((line.original, line.copy, line.edits.len() as u64));
        let held = lines.len() as u64 * COPY_BYTES + names;
        let what = || format!("{} of an edit list", counted(lines.len() as u64, "copy"));
        context.budget.require(PROCESS_BYTES + held, what)?;
    }
    let docnos = lines
        .iter()
        .flat_map(|(original, copy, _)| [original, copy]);
    let mut numbers: HashMap<&str, Option<u32>> =
        docnos.map(|docno| (docno.as_str(), None)).collect();
    each_document(base, |number, document| {
        context.tick(STAGE, number)?;
        if let Some(place) = numbers.get_mut(document.docno) {
            place.get_or_insert(number);
        }
        Ok(())
    })?;
    let unknown = numbers.values().filter(|number| number.is_none()).count();
    let find = |docno: &str| numbers.get(docno).copied().flatten();
    let mut names = HashMap::new();
    let mut copies = Vec::with_capacity(lines.len());
    for (original, copy, edits) in &lines {
        if let (Some(from), Some(to)) = (find(original), find(copy)) {
            names.insert(from, original.clone());
            copies.push(Copy {
                original: from,
                copy: to,
                edits: *edits,
            });
        }
    }
    Ok((names, copies, unknown as u64))
}
