//! Cherkasova et al.: four algorithms over windows of bytes.
//!
//! # Source
//! Cherkasova, Eshghi, Morrey, Tucek & Veitch, *Applying syntactic similarity algorithms for
//! enterprise information management*, 2009: Tables 1 and 2, Figures 1 to 11.
//!
//! # Algorithm
//! The research corpus is the first [`ORIGINALS`] documents of the collection and copies of them
//! with known numbers of edits ([`crate::perturb`]): words inserted at random places, inserted
//! at even distances, or removed. Figures 2 to 8 compare the signatures of originals and copies.
//! Figure 9 and Table 2 join the collection once by each algorithm, at the lowest threshold, and
//! count the pairs of the list at every threshold.
//!
//! # Where we depart from the paper
//! It has copies with every number of edits from 1 to 50; we make copies with the numbers of [`EDITS`]. Its
//! documents have 9 to 540 KB.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

use super::Form::Count;
use super::model::{claim, exhibit, listed, mean, pairs};
use super::{Bench, Claim, Copies, Reproduction};
use crate::compare::{
    Agreement, Comparison, Distribution, Levels, agreement_at, at_levels, each_copy,
};
use crate::perturb::{Cherkasova, EditCounts, EditPlaces, Operation, Recipe};
use crate::study::Moments;
use lookalike_base::Result;
use lookalike_base::budget::PROCESS_BYTES;
use lookalike_base::ids::Threshold;
use lookalike_base::numbers::{count, percent};
use lookalike_engine::collection::{TextReader, config, each_document, segments};
use lookalike_methods::{Keyer, Spec};
use lookalike_store::workspace::Workspace;

/// Documents of the research corpus.
const ORIGINALS: u64 = 100;
/// The numbers of edits, and the greatest.
const EDITS: [u32; 8] = [1, 2, 5, 10, 20, 30, 40, MOST];
const MOST: u32 = 50;
/// Bytes in a window, for Figures 2 and 3, and the methods there.
const WINDOWS: [u64; 7] = [5, 10, 20, 40, 60, 80, 100];
const WINDOWED: [(&str, &str); 2] = [("Mod100", "mod:n=100"), ("BSW400", "bsw:n=400")];
/// The algorithms of Figure 7.
const RESEARCH: [&str; 4] = ["mod:n=500", "min", "sketch", "bsw:n=500"];
/// Coarse and fine samples, of Figures 5 and 6.
const FREQUENCIES: [&str; 4] = ["sketch:n=10", "sketch", "bsw:n=1000", "bsw:n=100"];
/// The algorithms of section 5, for short documents, and what they are called in the paper.
const METHODS: [&str; 4] = ["mod", "min", "sketch", "bsw"];
const NAMES: [&str; 4] = ["Mod100", "Min100", "Sketch100", "BSW100"];
/// The thresholds of Figure 9, in per cent, and the place of 70 %, that of Table 2.
const THRESHOLDS: [u64; 11] = [40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90];
const AT_70: usize = 6;
/// Similarities at which distributions are printed.
const SIMILARITIES: [f64; 9] = [0.0, 0.01, 0.02, 0.04, 0.06, 0.1, 0.2, 0.3, 0.5];
/// Bytes of the text of Figure 11, and its windows.
const TEXT_BYTES: usize = 500_000;
const TIMED_WINDOWS: [u64; 4] = [5, 20, 50, 100];

/// The exhibits and claims, in the order of the paper.
pub(super) fn reproduce(bench: &mut Bench<'_>, made: &mut Reproduction) -> Result<()> {
    let originals = bench.originals(ORIGINALS)?;
    if originals == 0 {
        return Ok(());
    }
    let research = Research::new(bench, originals)?;
    research.signatures(made);
    research.samples(made);
    research.algorithms(bench, originals, made)?;
    enterprise(bench, made)?;
    time(bench, made)
}

/// Mean similarity by the number of edits.
type Points = Vec<(u64, f64)>;

/// The curve of a method. Specifications of one method have one name.
fn curve(of: &Comparison, spec: &str) -> Points {
    let name = name(spec);
    let curves = of.families.iter().flat_map(|of| &of.curves);
    let points = curves
        .filter(|of| of.method == name)
        .flat_map(|of| &of.points);
    points.map(|&(edits, _, mean, _)| (edits, mean)).collect()
}

/// The name of a method that was run: parameters with their defaults are not in it.
fn name(spec: &str) -> String {
    Spec::read(spec).map_or_else(|_| spec.into(), |spec| spec.to_string())
}

/// A method with each window of Figures 2 and 3.
fn windows(method: &str) -> [String; 7] {
    WINDOWS.map(|bytes| format!("{method},window={bytes}"))
}

/// The last value of a curve: with the most edits.
fn last(points: &Points) -> Option<f64> {
    points.last().map(|(_, mean)| *mean)
}

/// Share of the pairs with a similarity of at most `most`.
fn share_at_most(of: &Distribution, most: f64) -> Option<f64> {
    let similar = of.similar.partition_point(|&similarity| similarity <= most) as u64;
    let none = of.pairs - of.similar.len() as u64;
    (of.pairs > 0).then(|| (none + similar) as f64 / of.pairs as f64)
}

/// A copy of each original with each number of edits: words inserted or removed, at random or
/// evenly. The methods are compared on them.
fn edited(
    bench: &Bench<'_>,
    originals: u64,
    (name, edit, spread): (&str, Operation, EditPlaces),
    specs: &[impl AsRef<str>],
) -> Result<(Copies, Comparison)> {
    let recipe = Recipe::Cherkasova(Cherkasova {
        edit,
        edits: EditCounts(EDITS.to_vec()),
        spread,
        ..Cherkasova::default()
    });
    let copies = bench.copies(name, recipe, originals, false)?;
    let compared = bench.compare(&copies.collection, specs, Some(&copies.edits))?;
    Ok((copies, compared))
}

/// Originals and their copies with insertions, for Table 1 and Figures 1 to 8.
struct Research {
    compared: Comparison,
    /// Words and number of each original, the shortest first.
    by_size: Vec<(u64, u32)>,
    /// The similarity of a copy, by method, original and edits.
    by_copy: HashMap<(&'static str, u32, u64), f64>,
}

impl Research {
    fn new(bench: &Bench<'_>, originals: u64) -> Result<Research> {
        let windowed = WINDOWED.into_iter().flat_map(|(_, method)| windows(method));
        let each = BTreeSet::from_iter([FREQUENCIES, RESEARCH].concat());
        let specs = windowed.chain(each.iter().map(ToString::to_string));
        let specs: BTreeSet<String> = specs.map(|spec| name(&spec)).collect();
        let specs: Vec<String> = specs.into_iter().collect();
        let insert = ("cherkasova-insert", Operation::Insert, EditPlaces::Random);
        let (copies, compared) = edited(bench, originals, insert, &specs)?;
        let mut by_copy = HashMap::new();
        for spec in each {
            let measure = Spec::read(spec)?.method().join().measure;
            let workspace = bench.method(&copies.collection, spec)?.0;
            let of = [(&workspace, measure)];
            for copy in each_copy(&copies.collection, &of, &copies.edits, &bench.context())? {
                by_copy
                    .entry((spec, copy.original, copy.edits))
                    .or_insert(copy.by[0]);
            }
        }
        let originals: BTreeSet<u32> = by_copy.keys().map(|(_, original, _)| *original).collect();
        let mut by_size = Vec::new();
        each_document(&copies.collection, |number, document| {
            if originals.contains(&number) {
                by_size.push((document.words, number));
            }
            Ok(())
        })?;
        by_size.sort_unstable();
        Ok(Research {
            compared,
            by_size,
            by_copy,
        })
    }

    fn curves<const N: usize>(&self, specs: [&str; N]) -> [Points; N] {
        specs.map(|spec| curve(&self.compared, spec))
    }

    /// Share of the pairs of originals with a similarity of at most `most`.
    fn share(&self, spec: &str, most: f64) -> Option<f64> {
        let name = name(spec);
        let mut all = self
            .compared
            .families
            .iter()
            .flat_map(|of| &of.distributions);
        share_at_most(all.find(|of| of.method == name)?, most)
    }

    fn of_copy(&self, spec: &'static str, original: u32, edits: u32) -> Option<f64> {
        self.by_copy.get(&(spec, original, edits.into())).copied()
    }

    /// The similarities of all copies with the most edits, that of the shortest document first.
    fn at_most(&self, spec: &'static str) -> Vec<f64> {
        let each = self.by_size.iter();
        each.filter_map(|&(_, original)| self.of_copy(spec, original, MOST))
            .collect()
    }

    /// Table 1 and Figures 1 to 4: signatures, and windows.
    fn signatures(&self, made: &mut Reproduction) {
        let entries = |spec: &str| {
            let row = self
                .compared
                .methods
                .iter()
                .find(|row| row.method == name(spec))?;
            Some(row.keys as f64 / self.compared.representatives.max(1) as f64)
        };
        let grows = |spec: &str| ["mod:n=500", "bsw:n=500"].contains(&spec);
        made.exhibits.push(exhibit!("table-1", "Table 1", "Sizes of the signatures",
            "Entries in the signature of a document of the research corpus, on average. Min and Sketch have a fixed size; \
             Mod and BSW grow with the document. Whether a method can approximate containment follows from its definition, \
             not from a collection.";
            spec in RESEARCH =>
            method: Text = spec, entries: Number(1) = entries(spec),
            size_paper: Text = if grows(spec) { "grows with the document" } else { "fixed" },
            containment_paper: Text = if grows(spec) { "yes" } else { "no" }));
        made.exhibits.push(exhibit!("figure-1", "Figure 1", "Sizes of the documents of the research corpus",
            "Words of each original, in the order of size. The paper's documents have 9 to 540 KB.";
            (n, (words, _)) in (1u64..).zip(&self.by_size) => document: Count = n, words: Count = *words)
            .lines("document", &["words"], None)
            .decades(false, true));
        let windowed = WINDOWED.map(|(_, method)| windows(method));
        let paper = |spec: &str, edits| match (spec, edits) {
            ("mod:n=100,window=5", 50) => Some(0.97),
            ("mod:n=100,window=100", 50) => Some(0.66),
            _ => None,
        };
        made.exhibits.push(exhibit!("figure-2", "Figure 2", "Similarity by window and number of insertions",
            "Mean similarity of an original and its copy, by the bytes in a window. The paper prints the values of Mod100 \
             at 50 insertions.";
            (spec, (edits, mean)) in windowed.iter().flatten().flat_map(|spec| pairs([spec], curve(&self.compared, spec))) =>
            method: Text = spec.as_str(), edits: Count = edits, similarity: Share = mean,
            similarity_paper: Share = paper(spec, edits))
            .lines("edits", &["similarity"], Some("method")));
        made.exhibits.push(exhibit!("figure-3", "Figure 3", "Similarity of different documents by window",
            "Share of the pairs of originals whose similarity is at most the given one. At 0 are the pairs without a common \
             entry. The paper leaves these pairs out of its figure.";
            (spec, similarity) in pairs(windowed.iter().flatten(), SIMILARITIES) =>
            method: Text = spec.as_str(), similarity: Number(2) = similarity,
            pairs_at_most: Share = self.share(spec, similarity))
            .lines("similarity", &["pairs_at_most"], Some("method")));
        let ends = windowed.each_ref().map(|specs| {
            specs
                .iter()
                .filter_map(|spec| last(&curve(&self.compared, spec)))
                .collect()
        });
        made.claims.push(larger_windows_lower_similarity(&ends));
        let some = |spec: &String| Some(1.0 - self.share(spec, 0.0)?);
        let overlaps = windowed
            .each_ref()
            .map(|specs| specs.iter().map(some).collect());
        made.claims.push(small_windows_overlap(&overlaps));
        let slightly = |spec: &str| Some(self.share(spec, 0.04)? - self.share(spec, 0.0)?);
        let specs = [
            ("mod:n=100", Some(0.28)),
            ("min", None),
            ("sketch", None),
            ("bsw:n=100", Some(0.10)),
        ];
        made.exhibits.push(exhibit!("figure-4", "Figure 4",
            "Similarity of different documents by algorithm, with windows of 20 bytes",
            "As Figure 3. The slightly similar pairs are those with a similarity above 0 and at most 4 %.";
            ((spec, paper), similarity) in pairs(specs, SIMILARITIES) =>
            method: Text = spec, similarity: Number(2) = similarity, pairs_at_most: Share = self.share(spec, similarity),
            slightly_similar: Share = slightly(spec).filter(|_| similarity == 0.04),
            slightly_similar_paper: Share = paper.filter(|_| similarity == 0.04))
            .lines("similarity", &["pairs_at_most"], Some("method")));
        made.claims.push(mod_overlaps_more_than_bsw(
            slightly("mod:n=100"),
            slightly("bsw:n=100"),
        ));
    }

    /// Figures 5 and 6: sampling frequency, and each document.
    fn samples(&self, made: &mut Reproduction) {
        let curves = self.curves(FREQUENCIES);
        let rows = FREQUENCIES.into_iter().zip(&curves);
        made.exhibits.push(exhibit!("figure-5", "Figure 5", "Similarity by sampling frequency and number of insertions",
            "Mean similarity of an original and its copy.";
            (spec, (edits, mean)) in rows.flat_map(|(spec, points)| pairs([spec], points.clone())) =>
            method: Text = spec, edits: Count = edits, similarity: Share = mean)
            .lines("edits", &["similarity"], Some("method")));
        made.claims.push(frequency_hardly_changes_the_mean(&curves));
        let rows = pairs(FREQUENCIES, (1u64..).zip(&self.by_size));
        let rows =
            rows.filter_map(|(spec, (n, (_, of)))| Some((spec, n, self.of_copy(spec, *of, MOST)?)));
        made.exhibits.push(exhibit!("figure-6", "Figure 6",
            "Similarity of each document and its copy with 50 insertions, by sampling frequency",
            "Documents are in the order of size, the shortest first.";
            (spec, n, similarity) in rows => method: Text = spec, document: Count = n, similarity: Share = similarity)
            .lines("document", &["similarity"], Some("method")));
        made.claims.push(coarse_sampling_scatters(
            &FREQUENCIES.map(|spec| self.at_most(spec)),
        ));
    }

    /// Figures 7 and 8: the algorithms side by side, and each document.
    fn algorithms(&self, bench: &Bench<'_>, originals: u64, made: &mut Reproduction) -> Result<()> {
        let inserted = self.curves(RESEARCH);
        let other = |name, edit, spread| -> Result<[Points; 4]> {
            let (_, compared) = edited(bench, originals, (name, edit, spread), &RESEARCH)?;
            Ok(RESEARCH.map(|spec| curve(&compared, spec)))
        };
        let removed = other("cherkasova-remove", Operation::Remove, EditPlaces::Random)?;
        let evenly = other("cherkasova-even", Operation::Insert, EditPlaces::Uniform)?;
        let at = |curve: &Points, edits| Some(curve.iter().find(|point| point.0 == edits)?.1);
        let rows = inserted.iter().enumerate();
        made.exhibits.push(exhibit!("figure-7", "Figure 7", "Similarity by algorithm and kind of edits",
            "Mean similarity of an original and its copy: words inserted at random places (a), words removed (b), and words \
             inserted at even distances, which the paper only mentions.";
            (n, (edits, mean)) in rows.flat_map(|(n, points)| pairs([n], points.clone())) =>
            method: Text = RESEARCH[n], edits: Count = edits, inserted: Share = mean,
            removed: Share = at(&removed[n], edits), inserted_evenly: Share = at(&evenly[n], edits))
            .lines("edits", &["inserted", "removed", "inserted_evenly"], Some("method")));
        made.claims.extend([
            few_edits_are_alike(&inserted),
            mod_and_min_report_more(("Section 4.3, Figure 7(a)", "insertions"), &inserted),
            mod_and_min_report_more(("Section 4.3, Figure 7(b)", "removals"), &removed),
            lower(
                "Section 4.3, Figure 7(b)",
                "Removed words lower the similarity slightly more than inserted ones.",
                &inserted,
                &removed,
            ),
            lower(
                "Section 4.3",
                "Edits at even distances lower the similarity more than edits at random places.",
                &inserted,
                &evenly,
            ),
        ]);
        made.exhibits.push(exhibit!("figure-8", "Figure 8", "Similarity of each document and its copy, by algorithm",
            "Documents are in the order of size, the shortest first: with 5 insertions (a) and with 50 (b).";
            (spec, (n, (_, of))) in pairs(RESEARCH, (1u64..).zip(&self.by_size)) =>
            method: Text = spec, document: Count = n, with_5: Share = self.of_copy(spec, *of, 5),
            with_50: Share = self.of_copy(spec, *of, MOST))
            .lines("document", &["with_5", "with_50"], Some("method")));
        made.claims.push(short_documents_suffer(
            &self.at_most("sketch"),
            &self.at_most("bsw:n=500"),
        ));
        Ok(())
    }
}

/// Figures 9 and 10, Table 2.
fn enterprise(bench: &Bench<'_>, made: &mut Reproduction) -> Result<()> {
    let context = bench.context();
    let thresholds = THRESHOLDS.iter();
    let thresholds = thresholds.filter_map(|&hundredths| Threshold::new(hundredths, 100));
    let thresholds: Vec<Threshold> = thresholds.collect();
    let (mut workspaces, mut levels, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for method in METHODS {
        let spec = format!("{method}:threshold=0.4");
        let (workspace, _) = bench.method(&bench.base, &spec)?;
        let measure = Spec::read(&spec)?.method().join().measure;
        let of = Levels::of_measure(&workspace, measure, &thresholds, &context)?;
        counts.push(at_levels(&workspace, &of, None, &context)?);
        workspaces.push(workspace);
        levels.push(of);
    }
    let pairs = |level: usize, method: usize| counts[method].get(level).map(|at| at.pairs);
    let names = NAMES.map(str::to_lowercase);
    made.exhibits.push(exhibit!("figure-9", "Figure 9", "Pairs by threshold",
        "Pairs of the collection whose similarity reaches the threshold. Each algorithm is joined once, at 40 %.";
        hundredths in THRESHOLDS => threshold: Share = hundredths as f64 / 100.0)
        .columns(&names, Count, pairs)
        .lines("threshold", &names.each_ref().map(String::as_str), None)
        .decades(false, true));
    made.exhibits.push(exhibit!("figure-10", "Figure 10", "Sizes of the documents",
        "Words of a document that is longer than the given share of all documents. The documents of the paper's first \
         collection mostly have 600 to 1,500 bytes, those of the second 2 to 4 KB.";
        (share, words) in sizes(&bench.base)? => share: Share = share, words: Count = words)
        .lines("share", &["words"], None)
        .decades(false, true));
    let agreement = agreement_at(&workspaces, &levels, AT_70, &context)?;
    let all = agreement.by_methods.last().copied().unwrap_or(0);
    let [a, b, c, d] = [0, 1, 2, 3].map(|method| pairs(AT_70, method).unwrap_or(0));
    // Pairs here; pairs and false ones of the paper's first collection; pairs of its second.
    let rows = [
        (NAMES[0], a, Some(61u64), Some(13u64), None),
        (NAMES[1], b, None, Some(1), None),
        (NAMES[2], c, None, Some(0), None),
        (NAMES[3], d, None, Some(1), None),
        ("any", agreement.any, Some(65), None, Some(81u64)),
        ("all four", all, Some(12), None, Some(45)),
    ];
    made.exhibits.push(exhibit!("table-2", "Table 2", "Pairs with a similarity of 70 % or more",
        "The paper has 5,040 documents in its first collection and 2,500 in the second. It looks at each pair and counts \
         the false ones, which this program cannot do; `lookalike evaluate --judged` does it for judged pairs.";
        (n, (name, pairs, pairs_1, false_1, pairs_2)) in rows.into_iter().enumerate() =>
        method: Text = name, pairs: Count = pairs, only_here: Count = agreement.alone.get(n).copied(),
        pairs_1_paper: Count = pairs_1, false_1_paper: Count = false_1, pairs_2_paper: Count = pairs_2));
    made.claims.push(mod_and_min_find_more_pairs(&[a, b, c, d]));
    made.claims.push(few_pairs_are_found_by_all(&agreement));
    made.claims.push(claim!("Section 5, Table 2", "table-2",
        "Mod100 lists the most false pairs, all of them pairs of short documents.";
        whether None, "Whether a pair is true has to be judged by people."));
    Ok(())
}

/// Words of documents by the share of documents that are shorter.
fn sizes(base: &Workspace) -> Result<Vec<(f64, u64)>> {
    // By the number of words: bounded by the number of different lengths, in steps of 1 % for long
    // documents.
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    let mut documents = 0u64;
    each_document(base, |_, document| {
        let step = (document.words / 100).max(1);
        *counts.entry(document.words / step * step).or_default() += 1;
        documents += 1;
        Ok(())
    })?;
    let mut shares = Vec::new();
    let (mut before, mut counts) = (0, counts.into_iter().peekable());
    for twentieth in 0..=20u64 {
        let wanted = (documents * twentieth / 20).min(documents.saturating_sub(1));
        while let Some((_, n)) = counts.next_if(|(_, n)| before + n <= wanted) {
            before += n;
        }
        if let Some((words, _)) = counts.peek() {
            shares.push((twentieth as f64 / 20.0, *words));
        }
    }
    Ok(shares)
}

/// Figure 11.
fn time(bench: &Bench<'_>, made: &mut Reproduction) -> Result<()> {
    let context = bench.context();
    let what = || "the features of a text of 500 KB".to_string();
    let least = PROCESS_BYTES + 64 * TEXT_BYTES as u64;
    context.budget.require(least, what)?;
    let text = text(&bench.base)?;
    let parse = &config(&bench.base.manifest).shingle.parse;
    let mut rows = Vec::new();
    for (method, window) in pairs(METHODS, TIMED_WINDOWS) {
        bench.note(&format!("{method}: window of {window} bytes"))?;
        let spec = Spec::read(&format!("{method}:window={window}"))?;
        let keys = spec.method().prepare(&bench.base, &context)?;
        let mut keyer = Keyer::new(&*keys, parse);
        let begin = Instant::now();
        keyer.keys(&text, &mut Vec::new());
        rows.push((method, window, begin.elapsed().as_secs_f64()));
    }
    let seconds = rows.chunks_exact(TIMED_WINDOWS.len());
    let seconds: Vec<Vec<f64>> = seconds
        .map(|of| of.iter().map(|row| row.2).collect())
        .collect();
    let about = format!(
        "Seconds to make the signature of a text of {} bytes, put together of documents of the collection, on one thread. \
         The paper's text has 500 KB. Its hash functions differ: Rabin fingerprints for Mod, Min and BSW, Jenkins's \
         functions for Sketch. Ours is xxh3 for all of them.",
        count(text.len() as u64)
    );
    made.exhibits.push(exhibit!("figure-11", "Figure 11", "Seconds to process a text", about;
        (method, window, seconds) in rows => method: Text = method, window: Count = window, seconds: Seconds = seconds)
        .lines("window", &["seconds"], Some("method"))
        .decades(false, true));
    made.claims.push(sketch_takes_longest(&seconds));
    Ok(())
}

/// Texts of the collection, one after the other, up to [`TEXT_BYTES`].
fn text(base: &Workspace) -> Result<String> {
    let mut bytes = Vec::new();
    'segments: for segment in segments(&base.manifest) {
        let Some(mut texts) = TextReader::of(base, segment)? else {
            continue;
        };
        while texts.next_length()?.is_some() {
            while let Some(piece) = texts.piece()? {
                bytes.extend_from_slice(piece);
                if bytes.len() >= TEXT_BYTES {
                    break 'segments;
                }
            }
            bytes.push(b' ');
        }
    }
    bytes.truncate(TEXT_BYTES);
    let whole = match std::str::from_utf8(&bytes) {
        Ok(_) => bytes.len(),
        Err(error) => error.valid_up_to(),
    };
    bytes.truncate(whole);
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

// The claims. Each is a function of counts.

/// `ends`: of Mod and BSW, the similarity with the most edits for each window.
fn larger_windows_lower_similarity(ends: &[Vec<f64>]) -> Claim {
    let sides = |of: &Vec<f64>| Some((*of.first()?, *of.last()?));
    let sides: Option<Vec<(f64, f64)>> = ends.iter().map(sides).collect();
    let each = |((name, _), (small, large)): ((&str, _), &(f64, f64))| {
        let [small, large] = [small, large].map(|share| percent(*share, 1));
        format!("{name}: {small} with 5 bytes, {large} with 100")
    };
    claim!("Section 4.1, Figure 2", "figure-2",
        "The larger the window, the less similar a document and its edited copy are.";
        sides in sides.filter(|sides| !sides.is_empty()) => sides.iter().all(|(small, large)| large < small),
        "With the most edits, {}.", listed("; ", WINDOWED.into_iter().zip(&sides), each))
}

/// `overlaps`: of Mod and BSW, the share of the pairs of different documents with some similarity
/// for each window.
fn small_windows_overlap(overlaps: &[Vec<Option<f64>>]) -> Claim {
    let shares = |of: &Vec<Option<f64>>| {
        let at = |window| {
            of.get(WINDOWS.iter().position(|bytes| *bytes == window)?)
                .copied()?
        };
        Some([at(5)?, at(10)?, at(20)?, at(100)?])
    };
    let known: Option<Vec<[f64; 4]>> = overlaps.iter().map(shares).collect();
    let each = |((name, _), of): ((&str, _), &[f64; 4])| {
        let [five, ten, twenty, hundred] = of.map(|share| percent(share, 1));
        format!("{name}: {five}, {ten}, {twenty} and {hundred}")
    };
    claim!("Section 4.1, Figure 3", "figure-3",
        "With a small window practically all pairs of different documents have something in common; larger windows \
         lower that overlap.";
        known in known.filter(|known| !known.is_empty()) =>
        known.iter().all(|of| of.is_sorted_by(|a, b| a >= b)) && known[0][0] > 0.9 && known[0][3] < known[0][0],
        "Pairs with some similarity for windows of 5, 10, 20 and 100 bytes: {}.",
        listed("; ", WINDOWED.into_iter().zip(&known), each))
}

/// The shares of pairs of different documents with some similarity of at most 4 %.
fn mod_overlaps_more_than_bsw(of_mod: Option<f64>, of_bsw: Option<f64>) -> Claim {
    claim!("Section 4.1, Figure 4", "figure-4",
        "Mod100 finds more slightly similar pairs (up to 4 %) of different documents than BSW100.";
        (of_mod, of_bsw) in of_mod.zip(of_bsw) => of_mod > of_bsw,
        "Mod100 {} of the pairs, BSW100 {}.", percent(of_mod, 2), percent(of_bsw, 2))
}

/// A difference of means up to this is no difference to the eye in Figure 5.
const NEAR: f64 = 0.05;

/// The curves of two coarse and fine samples: coarse, fine, coarse, fine.
fn frequency_hardly_changes_the_mean(curves: &[Points]) -> Claim {
    let pairs = curves.chunks_exact(2);
    let points = pairs.flat_map(|pair| pair[0].iter().zip(&pair[1]));
    let apart = points.map(|(coarse, fine)| (coarse.1 - fine.1).abs());
    claim!("Section 4.2, Figure 5", "figure-5",
        "The sampling frequency has little influence on the mean similarity (up to 0.05).";
        most in apart.reduce(f64::max) => most <= NEAR, "The means of two frequencies are at most {most:.4} apart.")
}

/// Similarities of all documents with 50 edits: Sketch10, Sketch100, BSW1000, BSW100.
fn coarse_sampling_scatters(of: &[Vec<f64>; 4]) -> Claim {
    let deviations: Option<Vec<f64>> = of
        .iter()
        .map(|values| Some(Moments::of(values)?.deviation))
        .collect();
    claim!("Section 4.2, Figure 6", "figure-6", "With few samples the similarities of single documents scatter more.";
        of in deviations => of[0] > of[1] && of[2] > of[3],
        "Standard deviation over the documents: Sketch10 {:.3}, Sketch100 {:.3}; BSW1000 {:.3}, BSW100 {:.3}.",
        of[0], of[1], of[2], of[3])
}

/// Curves of Mod, Min, Sketch and BSW.
fn few_edits_are_alike(curves: &[Points]) -> Claim {
    let few = curves
        .first()
        .into_iter()
        .flatten()
        .filter(|point| point.0 < 10);
    let apart = few.map(|(edits, _)| {
        let at = curves
            .iter()
            .flat_map(|points| points.iter().find(|p| p.0 == *edits));
        let range = (f64::INFINITY, f64::NEG_INFINITY);
        let (least, most) = at.fold(range, |(a, b), point| (a.min(point.1), b.max(point.1)));
        most - least
    });
    claim!("Section 4.3, Figure 7(a)", "figure-7",
        "With fewer than 10 edits the four algorithms report nearly the same mean similarity (up to 0.05).";
        most in apart.reduce(f64::max) => most <= NEAR, "Their means are at most {most:.4} apart.")
}

/// The ends of some curves.
fn ends(curves: &[Points]) -> Option<Vec<f64>> {
    let ends: Option<Vec<f64>> = curves.iter().map(last).collect();
    ends.filter(|ends| !ends.is_empty())
}

/// Curves of Mod, Min, Sketch and BSW.
fn mod_and_min_report_more((place, edits): (&str, &str), curves: &[Points]) -> Claim {
    let names = ["Mod500", "Min100", "Sketch100", "BSW500"];
    claim!(place, "figure-7",
        &format!("Mod and Min report a higher mean similarity than Sketch and BSW after many {edits}.");
        of in ends(curves).filter(|ends| ends.len() == 4) => of[0].min(of[1]) > of[2].max(of[3]),
        "With the most edits: {}.",
        listed(", ", names.iter().zip(&of), |(name, mean)| format!("{name} {}", percent(*mean, 1))))
}

/// Whether each curve of `others` ends below its curve of `inserted`.
fn lower(place: &str, says: &str, inserted: &[Points], others: &[Points]) -> Claim {
    let both = ends(inserted).zip(ends(others));
    let both = both.filter(|(a, b)| a.len() == b.len());
    claim!(place, "figure-7", says;
        (inserted, others) in both.map(|(a, b)| (mean(a), mean(b))) => others < inserted,
        "With the most edits, over the four algorithms: {}, and {} for words inserted at random.",
        percent(others, 1), percent(inserted, 1))
}

/// Similarities with 50 edits, the shortest document first: Sketch and BSW.
fn short_documents_suffer(sketch: &[f64], bsw: &[f64]) -> Claim {
    let halves = |of: &[f64]| {
        let (short, long) = of.split_at(of.len() / 2);
        (!short.is_empty()).then(|| (mean(short.to_vec()), mean(long.to_vec())))
    };
    claim!("Section 4.3, Figure 8", "figure-8",
        "Many edits lower the similarities of Sketch and BSW more in short documents.";
        (sketch, bsw) in halves(sketch).zip(halves(bsw)) => sketch.0 < sketch.1 && bsw.0 < bsw.1,
        "Shorter and longer half of the documents: Sketch {} and {}, BSW {} and {}.",
        percent(sketch.0, 1), percent(sketch.1, 1), percent(bsw.0, 1), percent(bsw.1, 1))
}

/// Pairs of Mod, Min, Sketch and BSW.
fn mod_and_min_find_more_pairs(pairs: &[u64; 4]) -> Claim {
    let known = pairs.iter().any(|pairs| *pairs > 0);
    let each = |(name, pairs): (&str, &u64)| format!("{name} {}", count(*pairs));
    claim!("Section 5, Table 2", "table-2", "At 70 %, Mod100 and Min100 find more pairs than Sketch100 and BSW100.";
        whether known.then(|| pairs[0].min(pairs[1]) > pairs[2].max(pairs[3])),
        "Pairs: {}.", listed(", ", NAMES.into_iter().zip(pairs), each))
}

/// In the paper 12 of 65 and 45 of 81 pairs.
fn few_pairs_are_found_by_all(agreement: &Agreement) -> Claim {
    let all = agreement.by_methods.last().copied().unwrap_or(0);
    let any = agreement.any;
    claim!("Section 5, Table 2", "table-2",
        "All four algorithms agree on fewer than 60 % of the pairs that any of them finds.";
        whether (any > 0).then(|| all * 10 < any * 6),
        "{} of {} pairs are found by all four.", count(all), count(any))
}

/// Seconds of Mod, Min, Sketch and BSW, by window.
fn sketch_takes_longest(seconds: &[Vec<f64>]) -> Claim {
    let known = seconds.len() == 4 && seconds.iter().all(|of| !of.is_empty());
    let means: Vec<f64> = seconds.iter().map(|of| mean(of.clone())).collect();
    claim!("Section 5, Figure 11", "figure-11", "Sketch takes longer than Mod, Min and BSW.";
        means in known.then_some(means) => [0, 1, 3].iter().all(|&other| means[2] > means[other]),
        "Mean over the windows: Mod {:.3} s, Min {:.3} s, Sketch {:.3} s, BSW {:.3} s.",
        means[0], means[1], means[2], means[3])
}

#[cfg(test)]
mod tests {
    use super::super::model::assert_findings;
    use super::*;

    /// Curves that fall by this much from 1 edit to 50.
    fn falling<const N: usize>(by: [f64; N]) -> [Points; N] {
        by.map(|by| vec![(1, 1.0 - by / 50.0), (50, 1.0 - by)])
    }

    #[test]
    fn claims_about_windows() {
        let ends = [
            [vec![0.97, 0.66], vec![0.9, 0.5]],
            [vec![0.97, 0.66], vec![0.5, 0.5]],
            [Vec::new(), vec![0.5, 0.4]],
        ];
        assert_findings(ends.map(|ends| larger_windows_lower_similarity(&ends)));
        let overlaps = |ten, twenty| {
            let windows = vec![Some(1.0), ten, twenty, None, None, None, Some(0.1)];
            small_windows_overlap(&[windows.clone(), windows])
        };
        assert_findings([
            overlaps(Some(0.9), Some(0.5)),
            overlaps(Some(0.4), Some(0.5)),
            overlaps(None, Some(0.5)),
        ]);
        let shares = [Some(0.28), Some(0.1), None];
        assert_findings(shares.map(|of| mod_overlaps_more_than_bsw(of, Some(0.1))));
    }

    #[test]
    fn claims_about_samples() {
        let (near, far) = (
            falling([0.4, 0.42, 0.3, 0.33]),
            falling([0.4, 0.42, 0.3, 0.36]),
        );
        assert_findings([&near[..], &far, &[]].map(frequency_hardly_changes_the_mean));
        let (wide, narrow) = (|| vec![0.1, 0.9], || vec![0.4, 0.6]);
        let samples = [
            [wide(), narrow(), wide(), narrow()],
            [wide(), narrow(), narrow(), wide()],
            [wide(), narrow(), Vec::new(), Vec::new()],
        ];
        assert_findings(samples.map(|of| coarse_sampling_scatters(&of)));
    }

    #[test]
    fn claims_about_algorithms() {
        let (near, far) = (falling([0.2, 0.2, 0.4, 0.4]), falling([0.2, 0.2, 9.0, 0.4]));
        assert_findings([&near[..], &far, &[]].map(few_edits_are_alike));
        let far = falling([0.2, 0.5, 0.4, 0.4]);
        let report = |curves: &[Points]| mod_and_min_report_more(("Section", "edits"), curves);
        assert_findings([&near[..], &far, &[]].map(report));
        let below = |others: &[Points]| lower("Section", "Lower.", &near, others);
        let claims = [&falling([0.3; 4])[..], &falling([0.1; 4]), &[]].map(below);
        assert!(claims.iter().all(|claim| claim.exhibit == "figure-7"));
        assert_findings(claims);
        let (rising, level) = ([0.1, 0.9], [0.5, 0.5]);
        let suffer = short_documents_suffer;
        assert_findings([
            suffer(&rising, &rising),
            suffer(&rising, &level),
            suffer(&[], &rising),
        ]);
        let seconds = |of: [f64; 4]| of.map(|seconds| vec![seconds; 2]);
        let (slow, other) = (seconds([0.1, 0.2, 1.0, 0.1]), seconds([0.1, 2.0, 1.0, 0.1]));
        assert_findings([&slow[..], &other, &[]].map(sketch_takes_longest));
    }

    #[test]
    fn claims_about_pairs() {
        let pairs = [[61, 50, 40, 45], [61, 40, 40, 45], [0; 4]];
        assert_findings(pairs.map(|pairs| mod_and_min_find_more_pairs(&pairs)));
        let agreement = |(all, any)| Agreement {
            any,
            by_methods: vec![any - all, 0, 0, all],
            ..Agreement::default()
        };
        let agreements = [(12, 65), (60, 65), (0, 0)].map(agreement);
        assert_findings(agreements.map(|of| few_pairs_are_found_by_all(&of)));
    }

    #[test]
    fn shares_of_a_distribution() {
        let of = Distribution {
            method: "m".into(),
            pairs: 10,
            similar: vec![0.02, 0.04, 0.3],
        };
        let shares = [0.0, 0.04, 0.1, 1.0].map(|most| share_at_most(&of, most));
        assert_eq!(shares, [Some(0.7), Some(0.9), Some(0.9), Some(1.0)]);
    }
}
