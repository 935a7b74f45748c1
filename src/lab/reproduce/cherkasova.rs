//! Cherkasova et al.: four algorithms over windows of bytes.
//!
//! # Source
//! Cherkasova, Eshghi, Morrey, Tucek & Veitch, *Applying syntactic similarity algorithms for
//! enterprise information management*, 2009: Tables 1 and 2, Figures 1 to 11.
//!
//! # Algorithm
//! The research corpus is the first [`ORIGINALS`] documents of the collection and copies of them
//! with known numbers of edits ([`crate::lab::perturb`]): words inserted at random places, inserted
//! at even distances, or removed. Figures 2 to 8 compare the signatures of originals and copies.
//! Figure 9 and Table 2 join the collection once by each algorithm, at the lowest threshold, and
//! count the pairs of the list at every threshold.
//!
//! # Where we depart from the paper
//! It has copies with every number of edits from 1 to 50; we make copies with the numbers of [`EDITS`]. Its
//! documents have 9 to 540 KB.

use std::collections::BTreeMap;
use std::time::Instant;

use super::Form::{Count, Number, Seconds, Share, Text};
use super::{Bench, Claim, Exhibit};
use crate::base::budget::PROCESS_BYTES;
use crate::base::ids::Threshold;
use crate::base::numbers::{count, percent};
use crate::engine::collection::{TextReader, config, each_document, segments};
use crate::engine::methods::{Keyer, Spec};
use crate::lab::compare::{
    Agreement, Curve, Distribution, Levels, agreement_at, at_levels, each_copy,
};
use crate::lab::perturb::{Cherkasova, EditCounts, EditPlaces, Operation, Recipe};
use crate::store::workspace::Workspace;
use crate::{Error, Result};

/// Documents of the research corpus.
const ORIGINALS: u64 = 100;
/// The numbers of edits.
const EDITS: [u32; 8] = [1, 2, 5, 10, 20, 30, 40, 50];
/// Bytes in a window, for Figures 2 and 3.
const WINDOWS: [u64; 7] = [5, 10, 20, 40, 60, 80, 100];
/// The algorithms of Figure 7.
const RESEARCH: [&str; 4] = ["mod:n=500", "min", "sketch", "bsw:n=500"];
/// The algorithms of section 5, for short documents, at the lowest threshold of Figure 9.
const ENTERPRISE: [&str; 4] = [
    "mod:threshold=0.4",
    "min:threshold=0.4",
    "sketch:threshold=0.4",
    "bsw:threshold=0.4",
];
/// What they are called in the paper.
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
pub(super) fn reproduce(bench: &mut Bench<'_>) -> Result<(Vec<Exhibit>, Vec<Claim>)> {
    let (mut exhibits, mut claims) = (Vec::new(), Vec::new());
    let originals = bench.originals(ORIGINALS)?;
    if originals == 0 {
        return Ok((exhibits, claims));
    }
    research(bench, originals, &mut exhibits, &mut claims)?;
    enterprise(bench, &mut exhibits, &mut claims)?;
    time(bench, &mut exhibits, &mut claims)?;
    Ok((exhibits, claims))
}

/// Words inserted or removed, at random or evenly.
fn recipe(edit: Operation, spread: EditPlaces) -> Recipe {
    Recipe::Cherkasova(Cherkasova {
        edit,
        edits: EditCounts(EDITS.to_vec()),
        spread,
        ..Cherkasova::default()
    })
}

/// Mean similarity by the number of edits.
type Points = Vec<(u64, f64)>;

fn points(curve: &Curve) -> Points {
    let points = curve.points.iter();
    points.map(|&(edits, _, mean, _)| (edits, mean)).collect()
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

/// Table 1 and Figures 1 to 8.
fn research(
    bench: &Bench<'_>,
    originals: u64,
    exhibits: &mut Vec<Exhibit>,
    claims: &mut Vec<Claim>,
) -> Result<()> {
    let (insert, random) = (Operation::Insert, EditPlaces::Random);
    let copies = bench.copies(
        "cherkasova-insert",
        recipe(insert, random),
        originals,
        false,
    )?;
    let windows = |method: &str| WINDOWS.map(|window| format!("{method},window={window}"));
    let mut specs: Vec<String> = ["mod:n=100", "bsw:n=400", "bsw:n=100"]
        .iter()
        .flat_map(|method| windows(method))
        .collect();
    let others = ["sketch:n=10", "bsw:n=1000"];
    specs.extend(RESEARCH.iter().chain(&others).map(|s| (*s).to_string()));
    // With the default window, a specification has one name only.
    let mut specs: Vec<String> = specs
        .iter()
        .map(|spec| Spec::read(spec).map(|spec| spec.to_string()))
        .collect::<Result<_>>()?;
    specs.sort();
    specs.dedup();
    let named: Vec<&str> = specs.iter().map(String::as_str).collect();
    let compared = bench.compare(&copies.collection, &named, 0, Some(&copies.edits))?;
    let families = compared.families.as_ref().ok_or_else(|| no_copies(bench))?;
    let place = |spec: &str| -> Result<usize> {
        let name = Spec::read(spec)?.to_string();
        let found = specs.iter().position(|other| *other == name);
        found.ok_or_else(|| no_copies(bench))
    };
    let curve = |spec: &str| -> Result<Points> {
        let curve = families.curves.get(place(spec)?);
        Ok(curve.map(points).unwrap_or_default())
    };
    let distribution = |spec: &str| -> Result<&Distribution> {
        let found = families.distributions.get(place(spec)?);
        found.ok_or_else(|| no_copies(bench))
    };

    // Table 1: how large the signatures are.
    let entries = |spec: &str| -> Result<Option<f64>> {
        let row = compared.methods.get(place(spec)?);
        Ok(row.map(|row| row.keys as f64 / compared.representatives.max(1) as f64))
    };
    let mut sizes = Vec::new();
    for spec in RESEARCH {
        let grows = ["mod:n=500", "bsw:n=500"].contains(&spec);
        sizes.push((spec, entries(spec)?, grows));
    }
    let table = Exhibit::new(
        ("table-1", "Table 1"),
        "Sizes of the signatures",
        "Entries in the signature of a document of the research corpus, on average. Min and Sketch have a fixed \
         size; Mod and BSW grow with the document. Whether a method can approximate containment follows from its \
         definition, not from a collection.",
    )
    .rows(sizes)
    .column("method", Text, |row| row.0)
    .column("entries", Number(1), |row| row.1)
    .column("size_paper", Text, |row| if row.2 { "grows with the document" } else { "fixed" })
    .column("containment_paper", Text, |row| if row.2 { "yes" } else { "no" });
    exhibits.push(table.end());

    // Figures 6 and 8 need every copy.
    let each = [
        "sketch:n=10",
        "sketch",
        "bsw:n=1000",
        "bsw:n=100",
        "mod:n=500",
        "min",
        "bsw:n=500",
    ];
    let methods: Vec<(Workspace, Spec)> = each
        .iter()
        .map(|spec| Ok((bench.method(&copies.collection, spec)?.0, Spec::read(spec)?)))
        .collect::<Result<_>>()?;
    let by: Vec<_> = methods
        .iter()
        .map(|(workspace, spec)| (workspace, spec.method().join().measure))
        .collect();
    let similarities = each_copy(&copies.collection, &by, &copies.edits, &bench.context())?;
    drop(methods);
    let mut words: BTreeMap<u32, u64> = BTreeMap::new();
    words.extend(similarities.iter().map(|copy| (copy.original, 0)));
    each_document(&copies.collection, |number, document| {
        if let Some(words) = words.get_mut(&number) {
            *words = document.words;
        }
        Ok(())
    })?;
    let mut by_size: Vec<(u64, u32)> = words.iter().map(|(&n, &words)| (words, n)).collect();
    by_size.sort_unstable();

    let figure = Exhibit::new(
        ("figure-1", "Figure 1"),
        "Sizes of the documents of the research corpus",
        "Words of each original, in the order of size. The paper's documents have 9 to 540 KB.",
    )
    .rows((1u64..).zip(&by_size))
    .column("document", Count, |(n, _)| *n)
    .column("words", Count, |(_, (words, _))| *words)
    .end();
    exhibits.push(
        figure
            .lines("document", &["words"], None)
            .decades(false, true),
    );

    // Figure 2: windows.
    let (mut ends, mut rows) = (Vec::new(), Vec::new());
    for method in ["mod:n=100", "bsw:n=400"] {
        let mut of_method = Vec::new();
        for window in WINDOWS {
            let name = format!("{method},window={window}");
            let points = curve(&name)?;
            for &(edits, mean) in &points {
                let paper = match (method, window, edits) {
                    ("mod:n=100", 5, 50) => Some(0.97),
                    ("mod:n=100", 100, 50) => Some(0.66),
                    _ => None,
                };
                rows.push((name.clone(), edits, mean, paper));
            }
            of_method.extend(last(&points));
        }
        ends.push(of_method);
    }
    let figure = Exhibit::new(
        ("figure-2", "Figure 2"),
        "Similarity by window and number of insertions",
        "Mean similarity of an original and its copy, by the bytes in a window. The paper prints the values of Mod100 \
         at 50 insertions.",
    )
    .rows(rows)
    .column("method", Text, |row| row.0.clone())
    .column("edits", Count, |row| row.1)
    .column("similarity", Share, |row| row.2)
    .column("similarity_paper", Share, |row| row.3)
    .end();
    exhibits.push(figure.lines("edits", &["similarity"], Some("method")));
    claims.push(larger_windows_lower_similarity(&ends));

    // Figures 3 and 4: different documents.
    let (mut overlaps, mut rows) = (Vec::new(), Vec::new());
    for method in ["mod:n=100", "bsw:n=400"] {
        for window in WINDOWS {
            let spec = format!("{method},window={window}");
            let of = distribution(&spec)?;
            let none = share_at_most(of, 0.0);
            overlaps.push((method, window, none.map(|none| 1.0 - none)));
            rows.extend(SIMILARITIES.map(|similarity| (spec.clone(), similarity, of)));
        }
    }
    let figure = Exhibit::new(
        ("figure-3", "Figure 3"),
        "Similarity of different documents by window",
        "Share of the pairs of originals whose similarity is at most the given one. At 0 are the pairs without a common \
         entry. The paper leaves these pairs out of its figure.",
    )
    .rows(rows)
    .column("method", Text, |row| row.0.clone())
    .column("similarity", Number(2), |row| row.1)
    .column("pairs_at_most", Share, |row| share_at_most(row.2, row.1))
    .end();
    exhibits.push(figure.lines("similarity", &["pairs_at_most"], Some("method")));
    claims.push(small_windows_overlap(&overlaps));
    let (mut slightly, mut rows) = (Vec::new(), Vec::new());
    for (spec, paper) in [
        ("mod:n=100", Some(0.28)),
        ("min", None),
        ("sketch", None),
        ("bsw:n=100", Some(0.10)),
    ] {
        let of = distribution(spec)?;
        let some = share_at_most(of, 0.04).zip(share_at_most(of, 0.0));
        let some = some.map(|(most, none)| most - none);
        slightly.push(some);
        rows.extend(SIMILARITIES.map(|s| {
            let at_4 = [some, paper].map(|of| of.filter(|_| s == 0.04));
            (spec, s, share_at_most(of, s), at_4)
        }));
    }
    let figure = Exhibit::new(
        ("figure-4", "Figure 4"),
        "Similarity of different documents by algorithm, with windows of 20 bytes",
        "As Figure 3. The slightly similar pairs are those with a similarity above 0 and at most 4 %.",
    )
    .rows(rows)
    .column("method", Text, |row| row.0)
    .column("similarity", Number(2), |row| row.1)
    .column("pairs_at_most", Share, |row| row.2)
    .column("slightly_similar", Share, |row| row.3[0])
    .column("slightly_similar_paper", Share, |row| row.3[1])
    .end();
    exhibits.push(figure.lines("similarity", &["pairs_at_most"], Some("method")));
    claims.push(mod_overlaps_more_than_bsw(slightly[0], slightly[3]));

    // Figure 5: sampling frequency.
    let frequencies = ["sketch:n=10", "sketch", "bsw:n=1000", "bsw:n=100"];
    let mut rows = Vec::new();
    for spec in frequencies {
        rows.extend(curve(spec)?.into_iter().map(|point| (spec, point)));
    }
    let figure = Exhibit::new(
        ("figure-5", "Figure 5"),
        "Similarity by sampling frequency and number of insertions",
        "Mean similarity of an original and its copy.",
    )
    .rows(rows)
    .column("method", Text, |(spec, _)| *spec)
    .column("edits", Count, |(_, point)| point.0)
    .column("similarity", Share, |(_, point)| point.1)
    .end();
    exhibits.push(figure.lines("edits", &["similarity"], Some("method")));
    claims.push(frequency_hardly_changes_the_mean(
        &frequencies.map(|spec| curve(spec).unwrap_or_default()),
    ));

    // Figure 6: each document.
    let most = u64::from(EDITS[EDITS.len() - 1]);
    let of_copy = |original: u32, edits: u64, method: usize| -> Option<f64> {
        let copy = similarities
            .iter()
            .find(|copy| copy.original == original && copy.edits == edits)?;
        copy.by.get(method).copied()
    };
    let at = |edits: u64, method: usize| -> Vec<f64> {
        let each = by_size.iter();
        each.filter_map(|&(_, n)| of_copy(n, edits, method))
            .collect()
    };
    let mut rows = Vec::new();
    for (method, spec) in each.into_iter().enumerate().take(4) {
        let of_documents = (1u64..).zip(&by_size);
        rows.extend(
            of_documents.filter_map(|(n, &(_, document))| {
                Some((spec, n, of_copy(document, most, method)?))
            }),
        );
    }
    let figure = Exhibit::new(
        ("figure-6", "Figure 6"),
        "Similarity of each document and its copy with 50 insertions, by sampling frequency",
        "Documents are in the order of size, the shortest first.",
    )
    .rows(rows)
    .column("method", Text, |row| row.0)
    .column("document", Count, |row| row.1)
    .column("similarity", Share, |row| row.2)
    .end();
    exhibits.push(figure.lines("document", &["similarity"], Some("method")));
    claims.push(coarse_sampling_scatters(&[0, 1, 2, 3].map(|n| at(most, n))));

    // Figure 7: the algorithms side by side.
    let inserted = RESEARCH.map(|spec| curve(spec).unwrap_or_default());
    let mut edited = Vec::new();
    for (name, edit, spread) in [
        ("cherkasova-remove", Operation::Remove, EditPlaces::Random),
        ("cherkasova-even", Operation::Insert, EditPlaces::Uniform),
    ] {
        let copies = bench.copies(name, recipe(edit, spread), originals, false)?;
        let compared = bench.compare(&copies.collection, &RESEARCH, 0, Some(&copies.edits))?;
        let curves = compared.families.map_or(Vec::new(), |of| of.curves);
        edited.push(curves.iter().map(points).collect::<Vec<Points>>());
    }
    let other = |kind: usize, n: usize, edits: u64| -> Option<f64> {
        let points: &Points = edited.get(kind)?.get(n)?;
        points
            .iter()
            .find(|point| point.0 == edits)
            .map(|point| point.1)
    };
    let each_curve = inserted.iter().enumerate();
    let rows = each_curve.flat_map(|(n, points)| points.iter().map(move |point| (n, point)));
    let figure = Exhibit::new(
        ("figure-7", "Figure 7"),
        "Similarity by algorithm and kind of edits",
        "Mean similarity of an original and its copy: words inserted at random places (a), words removed (b), and \
         words inserted at even distances, which the paper only mentions.",
    )
    .rows(rows)
    .column("method", Text, |(n, _)| RESEARCH[*n])
    .column("edits", Count, |(_, point)| point.0)
    .column("inserted", Share, |(_, point)| point.1)
    .column("removed", Share, |(n, point)| other(0, *n, point.0))
    .column("inserted_evenly", Share, |(n, point)| other(1, *n, point.0))
    .end();
    let kinds = ["inserted", "removed", "inserted_evenly"];
    exhibits.push(figure.lines("edits", &kinds, Some("method")));
    claims.push(few_edits_are_alike(&inserted));
    claims.push(mod_and_min_report_more(
        ("Section 4.3, Figure 7(a)", "insertions"),
        &inserted,
    ));
    let empty = Vec::new();
    let removed = edited.first().unwrap_or(&empty);
    claims.push(mod_and_min_report_more(
        ("Section 4.3, Figure 7(b)", "removals"),
        removed,
    ));
    claims.push(lower(
        "Section 4.3, Figure 7(b)",
        "Removed words lower the similarity slightly more than inserted ones.",
        &inserted,
        removed,
    ));
    claims.push(lower(
        "Section 4.3",
        "Edits at even distances lower the similarity more than edits at random places.",
        &inserted,
        edited.get(1).unwrap_or(&empty),
    ));

    // Figure 8: each document by algorithm.
    let places = [4, 5, 1, 6].into_iter().zip(RESEARCH);
    let rows = places.flat_map(|(method, spec)| {
        let of_documents = (1u64..).zip(&by_size);
        of_documents.map(move |(n, &(_, document))| (spec, n, document, method))
    });
    let figure = Exhibit::new(
        ("figure-8", "Figure 8"),
        "Similarity of each document and its copy, by algorithm",
        "Documents are in the order of size, the shortest first: with 5 insertions (a) and with 50 (b).",
    )
    .rows(rows)
    .column("method", Text, |row| row.0)
    .column("document", Count, |row| row.1)
    .column("with_5", Share, |row| of_copy(row.2, 5, row.3))
    .column("with_50", Share, |row| of_copy(row.2, most, row.3))
    .end();
    exhibits.push(figure.lines("document", &["with_5", "with_50"], Some("method")));
    claims.push(short_documents_suffer(&at(most, 1), &at(most, 6)));
    Ok(())
}

fn no_copies(bench: &Bench<'_>) -> Error {
    Error::parameter("DIR", bench.base.directory().display())
        .because("the edited copies of its documents were not compared")
}

/// Figures 9 and 10, Table 2.
fn enterprise(
    bench: &Bench<'_>,
    exhibits: &mut Vec<Exhibit>,
    claims: &mut Vec<Claim>,
) -> Result<()> {
    let context = bench.context();
    let thresholds: Vec<Threshold> = THRESHOLDS
        .iter()
        .filter_map(|&hundredths| Threshold::new(hundredths, 100))
        .collect();
    let (mut workspaces, mut levels, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for spec in ENTERPRISE {
        let (workspace, _) = bench.method(&bench.base, spec)?;
        let measure = Spec::read(spec)?.method().join().measure;
        let of = Levels::of_measure(&workspace, measure, &thresholds, &context)?;
        counts.push(at_levels(&workspace, &of, None, &context)?);
        workspaces.push(workspace);
        levels.push(of);
    }
    let mut figure = Exhibit::new(
        ("figure-9", "Figure 9"),
        "Pairs by threshold",
        "Pairs of the collection whose similarity reaches the threshold. Each algorithm is joined once, at 40 %.",
    )
    .rows(THRESHOLDS.into_iter().enumerate())
    .column("threshold", Share, |(_, threshold)| *threshold as f64 / 100.0);
    let names = NAMES.map(str::to_lowercase);
    for (name, counts) in names.iter().zip(&counts) {
        figure = figure.column(name, Count, |(n, _)| counts.get(*n).map(|at| at.pairs));
    }
    let names = names.each_ref().map(String::as_str);
    exhibits.push(
        figure
            .end()
            .lines("threshold", &names, None)
            .decades(false, true),
    );

    let figure = Exhibit::new(
        ("figure-10", "Figure 10"),
        "Sizes of the documents",
        "Words of a document that is longer than the given share of all documents. The documents of the paper's first \
         collection mostly have 600 to 1,500 bytes, those of the second 2 to 4 KB.",
    )
    .rows(sizes(&bench.base)?)
    .column("share", Share, |row| row.0)
    .column("words", Count, |row| row.1)
    .end();
    exhibits.push(figure.lines("share", &["words"], None).decades(false, true));

    let agreement = agreement_at(&workspaces, &levels, AT_70, &context)?;
    let all = agreement.by_methods.last().copied().unwrap_or(0);
    let at_70 = counts
        .iter()
        .map(|counts| counts.get(AT_70).map_or(0, |at| at.pairs));
    let pairs: Vec<u64> = at_70.collect();
    // Pairs here and only here; pairs and false ones of the first collection, pairs of the second.
    let of_methods = NAMES
        .iter()
        .zip(&pairs)
        .enumerate()
        .map(|(n, (name, found))| {
            let first = (n == 0).then_some(61u64);
            let wrong = [13u64, 1, 0, 1].get(n).copied();
            (
                *name,
                *found,
                agreement.alone.get(n).copied(),
                [first, wrong, None],
            )
        });
    let both = [
        ("any", agreement.any, None, [Some(65), None, Some(81)]),
        ("all four", all, None, [Some(12), None, Some(45)]),
    ];
    let table = Exhibit::new(
        ("table-2", "Table 2"),
        "Pairs with a similarity of 70 % or more",
        "The paper has 5,040 documents in its first collection and 2,500 in the second. It looks at each pair and counts \
         the false ones, which this program cannot do; `lookalike evaluate --judged` does it for judged pairs.",
    )
    .rows(of_methods.chain(both))
    .column("method", Text, |row| row.0)
    .column("pairs", Count, |row| row.1)
    .column("only_here", Count, |row| row.2)
    .column("pairs_1_paper", Count, |row| row.3[0])
    .column("false_1_paper", Count, |row| row.3[1])
    .column("pairs_2_paper", Count, |row| row.3[2]);
    exhibits.push(table.end());
    claims.push(mod_and_min_find_more_pairs(&pairs));
    claims.push(few_pairs_are_found_by_all(&agreement));
    claims.push(Claim::new(
        ("Section 5, Table 2", "table-2"),
        "Mod100 lists the most false pairs, all of them pairs of short documents.",
        None,
        "Whether a pair is true has to be judged by people.",
    ));
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
fn time(bench: &Bench<'_>, exhibits: &mut Vec<Exhibit>, claims: &mut Vec<Claim>) -> Result<()> {
    let context = bench.context();
    let what = || "the features of a text of 500 KB".to_string();
    let least = PROCESS_BYTES + 64 * TEXT_BYTES as u64;
    context.budget.require(least, what)?;
    let text = text(&bench.base)?;
    let parse = &config(&bench.base.manifest).shingle.parse;
    let (mut seconds, mut rows) = (Vec::new(), Vec::new());
    for method in ["mod", "min", "sketch", "bsw"] {
        let mut of_method = Vec::new();
        for window in TIMED_WINDOWS {
            bench.note(&format!("{method}: window of {window} bytes"))?;
            let spec = Spec::read(&format!("{method}:window={window}"))?;
            let keys = spec.method().prepare(&bench.base, &context)?;
            let mut keyer = Keyer::new(&*keys, parse);
            let mut set = Vec::new();
            let begin = Instant::now();
            keyer.keys(&text, &mut set);
            let took = begin.elapsed().as_secs_f64();
            rows.push((method, window, took));
            of_method.push(took);
        }
        seconds.push(of_method);
    }
    let figure = Exhibit::new(
        ("figure-11", "Figure 11"),
        "Seconds to process a text",
        &format!(
            "Seconds to make the signature of a text of {} bytes, put together of documents of the collection, on one \
             thread. The paper's text has 500 KB. Its hash functions differ: Rabin fingerprints for Mod, Min and BSW, \
             Jenkins's functions for Sketch. Ours is xxh3 for all of them.",
            count(text.len() as u64)
        ),
    )
    .rows(rows)
    .column("method", Text, |row| row.0)
    .column("window", Count, |row| row.1)
    .column("seconds", Seconds, |row| row.2)
    .end();
    exhibits.push(
        figure
            .lines("window", &["seconds"], Some("method"))
            .decades(false, true),
    );
    claims.push(sketch_takes_longest(&seconds));
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
    let sides = sides.filter(|sides| !sides.is_empty());
    let holds = sides
        .as_ref()
        .map(|sides| sides.iter().all(|(small, large)| large < small));
    let here = sides.map_or_else(nothing, |sides| {
        let each = sides.iter().zip(["Mod100", "BSW400"]);
        let each = each.map(|((small, large), name)| {
            let [small, large] = [small, large].map(|share| percent(*share, 1));
            format!("{name}: {small} with 5 bytes, {large} with 100")
        });
        format!(
            "With the most edits, {}.",
            each.collect::<Vec<_>>().join("; ")
        )
    });
    Claim::new(
        ("Section 4.1, Figure 2", "figure-2"),
        "The larger the window, the less similar a document and its edited copy are.",
        holds,
        here,
    )
}

fn nothing() -> String {
    "There are no such numbers on this collection.".into()
}

/// `overlaps`: method, window, and the share of the pairs of different documents with some
/// similarity.
fn small_windows_overlap(overlaps: &[(&str, u64, Option<f64>)]) -> Claim {
    let of = |method: &str, window: u64| {
        let found = overlaps
            .iter()
            .find(|(of, bytes, _)| *of == method && *bytes == window);
        found.and_then(|found| found.2)
    };
    let each = ["mod:n=100", "bsw:n=400"].map(|method| {
        let [five, ten, twenty, hundred] = [5, 10, 20, 100].map(|window| of(method, window));
        Some((five?, ten?, twenty?, hundred?))
    });
    let known: Option<Vec<_>> = each.into_iter().collect();
    let holds = known.as_ref().map(|known| {
        let all = known.iter();
        all.clone()
            .all(|(five, ten, twenty, hundred)| five >= ten && ten >= twenty && twenty >= hundred)
            && known
                .first()
                .is_some_and(|(five, _, _, hundred)| *five > 0.9 && hundred < five)
    });
    let here = known.map_or_else(nothing, |known| {
        let each = known.iter().zip(["Mod100", "BSW400"]).map(|(of, name)| {
            let [five, ten, twenty, hundred] =
                [of.0, of.1, of.2, of.3].map(|share| percent(share, 1));
            format!("{name}: {five}, {ten}, {twenty} and {hundred}")
        });
        format!(
            "Pairs with some similarity for windows of 5, 10, 20 and 100 bytes: {}.",
            each.collect::<Vec<_>>().join("; ")
        )
    });
    Claim::new(
        ("Section 4.1, Figure 3", "figure-3"),
        "With a small window practically all pairs of different documents have something in common; larger windows \
         lower that overlap.",
        holds,
        here,
    )
}

/// The shares of pairs of different documents with some similarity of at most 4 %.
fn mod_overlaps_more_than_bsw(of_mod: Option<f64>, of_bsw: Option<f64>) -> Claim {
    let both = of_mod.zip(of_bsw);
    Claim::new(
        ("Section 4.1, Figure 4", "figure-4"),
        "Mod100 finds more slightly similar pairs (up to 4 %) of different documents than BSW100.",
        both.map(|(of_mod, of_bsw)| of_mod > of_bsw),
        both.map_or_else(nothing, |(of_mod, of_bsw)| {
            let [of_mod, of_bsw] = [of_mod, of_bsw].map(|share| percent(share, 2));
            format!("Mod100 {of_mod} of the pairs, BSW100 {of_bsw}.")
        }),
    )
}

/// A difference of means up to this is no difference to the eye in Figure 5.
const NEAR: f64 = 0.05;

/// The curves of two coarse and fine samples: coarse, fine, coarse, fine.
fn frequency_hardly_changes_the_mean(curves: &[Points]) -> Claim {
    let mut most: Option<f64> = None;
    for pair in curves.chunks_exact(2) {
        for (coarse, fine) in pair[0].iter().zip(&pair[1]) {
            let apart = (coarse.1 - fine.1).abs();
            most = Some(most.map_or(apart, |most| most.max(apart)));
        }
    }
    Claim::new(
        ("Section 4.2, Figure 5", "figure-5"),
        "The sampling frequency has little influence on the mean similarity (up to 0.05).",
        most.map(|most| most <= NEAR),
        most.map_or_else(nothing, |most| {
            format!("The means of two frequencies are at most {most:.4} apart.")
        }),
    )
}

fn deviation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (!values.is_empty()).then(|| (squares / n).sqrt())
}

/// Similarities of all documents with 50 edits: Sketch10, Sketch100, BSW1000, BSW100.
fn coarse_sampling_scatters(of: &[Vec<f64>; 4]) -> Claim {
    let deviations: Option<Vec<f64>> = of.iter().map(|values| deviation(values)).collect();
    let here = deviations.as_ref().map_or_else(nothing, |of| {
        format!(
            "Standard deviation over the documents: Sketch10 {:.3}, Sketch100 {:.3}; BSW1000 {:.3}, BSW100 {:.3}.",
            of[0], of[1], of[2], of[3]
        )
    });
    Claim::new(
        ("Section 4.2, Figure 6", "figure-6"),
        "With few samples the similarities of single documents scatter more.",
        deviations.map(|of| of[0] > of[1] && of[2] > of[3]),
        here,
    )
}

/// Curves of Mod, Min, Sketch and BSW.
fn few_edits_are_alike(curves: &[Points]) -> Claim {
    let mut most: Option<f64> = None;
    let edits: Vec<u64> = curves
        .first()
        .map_or(Vec::new(), |points| points.iter().map(|p| p.0).collect());
    for edits in edits.into_iter().filter(|edits| *edits < 10) {
        let at = curves
            .iter()
            .flat_map(|points| points.iter().find(|p| p.0 == edits));
        let at: Vec<f64> = at.map(|point| point.1).collect();
        let least = at.iter().copied().fold(f64::INFINITY, f64::min);
        let apart = at.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least;
        most = Some(most.map_or(apart, |most| most.max(apart)));
    }
    Claim::new(
        ("Section 4.3, Figure 7(a)", "figure-7"),
        "With fewer than 10 edits the four algorithms report nearly the same mean similarity (up to 0.05).",
        most.map(|most| most <= NEAR),
        most.map_or_else(nothing, |most| {
            format!("Their means are at most {most:.4} apart.")
        }),
    )
}

/// Curves of Mod, Min, Sketch and BSW.
fn mod_and_min_report_more((place, edits): (&str, &str), curves: &[Points]) -> Claim {
    let ends: Option<Vec<f64>> = curves.iter().map(last).collect();
    let ends = ends.filter(|ends| ends.len() == 4);
    Claim::new(
        (place, "figure-7"),
        &format!(
            "Mod and Min report a higher mean similarity than Sketch and BSW after many {edits}."
        ),
        ends.as_ref().map(|of| of[0].min(of[1]) > of[2].max(of[3])),
        ends.map_or_else(nothing, |of| {
            let names = ["Mod500", "Min100", "Sketch100", "BSW500"];
            let each = names.iter().zip(&of);
            let each = each.map(|(name, mean)| format!("{name} {}", percent(*mean, 1)));
            format!(
                "With the most edits: {}.",
                each.collect::<Vec<_>>().join(", ")
            )
        }),
    )
}

/// Whether each curve of `others` ends below its curve of `inserted`.
fn lower(place: &str, says: &str, inserted: &[Points], others: &[Points]) -> Claim {
    let ends = |curves: &[Points]| -> Option<Vec<f64>> {
        let ends: Option<Vec<f64>> = curves.iter().map(last).collect();
        ends.filter(|ends| !ends.is_empty())
    };
    let both = ends(inserted).zip(ends(others));
    let both = both.filter(|(a, b)| a.len() == b.len());
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    Claim::new(
        (place, "figure-7"),
        says,
        both.as_ref()
            .map(|(inserted, others)| mean(others) < mean(inserted)),
        both.map_or_else(nothing, |(inserted, others)| {
            let [inserted, others] = [&inserted, &others].map(|of| percent(mean(of), 1));
            format!("With the most edits, over the four algorithms: {others}, and {inserted} for words inserted at random.")
        }),
    )
}

/// Similarities with 50 edits, the shortest document first: Sketch and BSW.
fn short_documents_suffer(sketch: &[f64], bsw: &[f64]) -> Claim {
    let halves = |of: &[f64]| {
        let (short, long) = of.split_at(of.len() / 2);
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        (!short.is_empty()).then(|| (mean(short), mean(long)))
    };
    let both = halves(sketch).zip(halves(bsw));
    Claim::new(
        ("Section 4.3, Figure 8", "figure-8"),
        "Many edits lower the similarities of Sketch and BSW more in short documents.",
        both.map(|(sketch, bsw)| sketch.0 < sketch.1 && bsw.0 < bsw.1),
        both.map_or_else(nothing, |(sketch, bsw)| {
            let [a, b, c, d] = [sketch.0, sketch.1, bsw.0, bsw.1].map(|share| percent(share, 1));
            format!(
                "Shorter and longer half of the documents: Sketch {a} and {b}, BSW {c} and {d}."
            )
        }),
    )
}

/// Pairs of Mod, Min, Sketch and BSW.
fn mod_and_min_find_more_pairs(pairs: &[u64]) -> Claim {
    let known = pairs.len() == 4 && pairs.iter().any(|pairs| *pairs > 0);
    let each = NAMES.iter().zip(pairs);
    let each = each.map(|(name, pairs)| format!("{name} {}", count(*pairs)));
    Claim::new(
        ("Section 5, Table 2", "table-2"),
        "At 70 %, Mod100 and Min100 find more pairs than Sketch100 and BSW100.",
        known.then(|| pairs[0].min(pairs[1]) > pairs[2].max(pairs[3])),
        format!("Pairs: {}.", each.collect::<Vec<_>>().join(", ")),
    )
}

/// In the paper 12 of 65 and 45 of 81 pairs.
fn few_pairs_are_found_by_all(agreement: &Agreement) -> Claim {
    let all = agreement.by_methods.last().copied().unwrap_or(0);
    let any = agreement.any;
    Claim::new(
        ("Section 5, Table 2", "table-2"),
        "All four algorithms agree on fewer than 60 % of the pairs that any of them finds.",
        (any > 0).then(|| all * 10 < any * 6),
        format!(
            "{} of {} pairs are found by all four.",
            count(all),
            count(any)
        ),
    )
}

/// Seconds of Mod, Min, Sketch and BSW, by window.
fn sketch_takes_longest(seconds: &[Vec<f64>]) -> Claim {
    let mean = |of: &Vec<f64>| of.iter().sum::<f64>() / of.len() as f64;
    let known = seconds.len() == 4 && seconds.iter().all(|of| !of.is_empty());
    let means: Vec<f64> = seconds.iter().map(mean).collect();
    Claim::new(
        ("Section 5, Figure 11", "figure-11"),
        "Sketch takes longer than Mod, Min and BSW.",
        known.then(|| [0, 1, 3].iter().all(|&other| means[2] > means[other])),
        match known {
            true => format!(
                "Mean over the windows: Mod {:.3} s, Min {:.3} s, Sketch {:.3} s, BSW {:.3} s.",
                means[0], means[1], means[2], means[3]
            ),
            false => nothing(),
        },
    )
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
        assert_findings([
            larger_windows_lower_similarity(&[vec![0.97, 0.66], vec![0.9, 0.5]]),
            larger_windows_lower_similarity(&[vec![0.97, 0.66], vec![0.5, 0.5]]),
            larger_windows_lower_similarity(&[Vec::new(), vec![0.5, 0.4]]),
        ]);
        let overlaps = |shares: [Option<f64>; 4]| {
            let windows = [5, 10, 20, 100].into_iter().zip(shares);
            let both = ["mod:n=100", "bsw:n=400"].into_iter();
            let of = both.flat_map(|m| windows.clone().map(move |(w, share)| (m, w, share)));
            small_windows_overlap(&of.collect::<Vec<_>>())
        };
        assert_findings([
            overlaps([Some(1.0), Some(0.9), Some(0.5), Some(0.1)]),
            overlaps([Some(1.0), Some(0.4), Some(0.5), Some(0.1)]),
            overlaps([Some(1.0), None, Some(0.5), Some(0.1)]),
        ]);
        assert_findings([
            mod_overlaps_more_than_bsw(Some(0.28), Some(0.1)),
            mod_overlaps_more_than_bsw(Some(0.1), Some(0.1)),
            mod_overlaps_more_than_bsw(None, Some(0.1)),
        ]);
    }

    #[test]
    fn claims_about_samples() {
        assert_findings([
            frequency_hardly_changes_the_mean(&falling([0.4, 0.42, 0.3, 0.33])),
            frequency_hardly_changes_the_mean(&falling([0.4, 0.42, 0.3, 0.36])),
            frequency_hardly_changes_the_mean(&[]),
        ]);
        let (wide, narrow) = (vec![0.1, 0.9], vec![0.4, 0.6]);
        assert_findings([
            coarse_sampling_scatters(&[&wide, &narrow, &wide, &narrow].map(Clone::clone)),
            coarse_sampling_scatters(&[&wide, &narrow, &narrow, &wide].map(Clone::clone)),
            coarse_sampling_scatters(&[wide, narrow, Vec::new(), Vec::new()]),
        ]);
    }

    #[test]
    fn claims_about_algorithms() {
        let near = falling([0.2, 0.2, 0.4, 0.4]);
        let far = falling([0.2, 0.2, 9.0, 0.4]);
        let none: [Points; 0] = [];
        assert_findings([
            few_edits_are_alike(&near),
            few_edits_are_alike(&far),
            few_edits_are_alike(&none),
        ]);
        let report = |curves: &[Points]| mod_and_min_report_more(("Section", "edits"), curves);
        assert_findings([
            report(&near),
            report(&falling([0.2, 0.5, 0.4, 0.4])),
            report(&none),
        ]);
        let below = |others: &[Points]| lower("Section", "Lower.", &near, others);
        assert_findings(
            [
                below(&falling([0.3; 4])[..]),
                below(&falling([0.1; 4])[..]),
                below(&none),
            ]
            .map(|claim| {
                assert_eq!(claim.exhibit, "figure-7");
                claim
            }),
        );
        let (rising, level) = (vec![0.1, 0.9], vec![0.5, 0.5]);
        assert_findings([
            short_documents_suffer(&rising, &rising),
            short_documents_suffer(&rising, &level),
            short_documents_suffer(&[], &rising),
        ]);
        let seconds = |of: [f64; 4]| of.map(|seconds| vec![seconds; 2]);
        assert_findings([
            sketch_takes_longest(&seconds([0.1, 0.2, 1.0, 0.1])),
            sketch_takes_longest(&seconds([0.1, 2.0, 1.0, 0.1])),
            sketch_takes_longest(&[]),
        ]);
    }

    #[test]
    fn claims_about_pairs() {
        assert_findings([
            mod_and_min_find_more_pairs(&[61, 50, 40, 45]),
            mod_and_min_find_more_pairs(&[61, 40, 40, 45]),
            mod_and_min_find_more_pairs(&[0; 4]),
        ]);
        let agreement = |all, any| Agreement {
            any,
            by_methods: vec![any - all, 0, 0, all],
            ..Agreement::default()
        };
        assert_findings([
            few_pairs_are_found_by_all(&agreement(12, 65)),
            few_pairs_are_found_by_all(&agreement(60, 65)),
            few_pairs_are_found_by_all(&agreement(0, 0)),
        ]);
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
