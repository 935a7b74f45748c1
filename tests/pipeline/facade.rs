//! The library in a few lines: `find_pairs`, `Collection` and the programs in `examples/`.

use std::fs;
use std::path::Path;

use lookalike::base::progress::Stop;
use lookalike::engine::collection::CollectionConfig;
use lookalike::engine::join::JoinConfig;
use lookalike::{
    ByteSize, Collection, DedupConfig, Disk, Error, MemberKind, Options, Pair, PassagesConfig,
    TokenKind, find_pairs,
};

use crate::common::corpus::{Shape, documents, random_corpus};
use crate::common::oracle::{self, Spec, THRESHOLDS};
use crate::common::{rows_of, sample_corpora, temporary};

#[allow(dead_code, reason = "its `main`")]
#[path = "../../examples/clean.rs"]
mod clean;
#[allow(dead_code, reason = "its `main`")]
#[path = "../../examples/files.rs"]
mod files;
#[allow(dead_code, reason = "its `main`")]
#[path = "../../examples/grow.rs"]
mod grow;
#[allow(dead_code, reason = "its `main`")]
#[path = "../../examples/look_up.rs"]
mod look_up;
#[allow(dead_code, reason = "its `main`")]
#[path = "../../examples/texts.rs"]
mod texts;

/// Small, on the memory of a test.
fn options() -> Options {
    Options::default().memory(256 << 20).threads(2)
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn pairs_of_texts_are_those_of_brute_force() {
    let place = temporary();
    let (mut near, mut exact) = (0, 0);
    for seed in 0..6 {
        let docs = random_corpus(seed, Shape::default());
        let spec = Spec {
            w: 1 + seed as usize % 4,
            threshold: THRESHOLDS[seed as usize % THRESHOLDS.len()],
            ..Spec::default()
        };
        let (facts, both) = oracle::pairs(&spec, &docs);
        let reach = both.iter().filter(|both| both.full.reach(spec.threshold));
        let mut expected: Vec<(usize, usize, usize)> = reach
            .map(|both| (both.a, both.b, both.full.shared))
            .collect();
        near += expected.len();
        for (document, fact) in facts.iter().enumerate() {
            if fact.first != document {
                expected.push((fact.first, document, fact.shingles));
                exact += 1;
            }
        }
        expected.sort_unstable();
        let texts = docs.iter().map(|doc| &doc.text);
        let options = options()
            .threshold(spec.threshold.0)
            .shingle_size(spec.w as u32)
            .scratch(place.path());
        let found = find_pairs(texts, options).unwrap();
        let shown = |pair: &Pair<usize>| (pair.a, pair.b, pair.shared as usize);
        let found_: Vec<_> = found.iter().map(shown).collect();
        assert_eq!(found_, expected, "seed {seed}, {spec:?}");
        for pair in &found {
            let sizes = facts[pair.a].shingles + facts[pair.b].shingles;
            let union = sizes - pair.shared as usize;
            let value = f64::from(pair.shared) / union as f64;
            assert!((pair.resemblance - value).abs() < 1e-6, "{pair:?}");
        }
    }
    assert!(near > 20 && exact > 5, "{near} and {exact}");
    assert!(is_empty(place.path()));
}

#[test]
fn texts_may_be_anything() {
    let none: [&str; 0] = [];
    assert_eq!(find_pairs(none, options()).unwrap(), []);
    let odd = [
        "",
        "\u{0}\n\t\"\\",
        "",
        "<p>a b c",
        "A b\u{2028}c <p>",
        "p a b c",
    ];
    let pairs = find_pairs(odd, options().shingle_size(2)).unwrap();
    let pairs: Vec<_> = pairs.iter().map(|pair| (pair.a, pair.b)).collect();
    assert_eq!(pairs, [(3, 5)], "text is not markup");
    // The limit of a document grows with the texts.
    let long = "word ".repeat(1 << 20);
    let pairs = find_pairs([&long, "other", &long], options()).unwrap();
    let exact = Pair {
        a: 0,
        b: 2,
        resemblance: 1.0,
        shared: 1,
        sizes: [1, 1],
    };
    assert_eq!(pairs, [exact]);
}

#[test]
fn errors_are_those_of_the_library() {
    let place = temporary();
    let scratch = options().scratch(place.path());
    for threshold in ["0", "1.5", "x"] {
        let error = find_pairs(["a"], scratch.clone().threshold(threshold)).unwrap_err();
        assert!(
            matches!(
                error,
                Error::BadParameter {
                    name: "threshold",
                    ..
                }
            ),
            "{error}"
        );
    }
    let error = find_pairs(["a"], scratch.clone().shingle_size(0)).unwrap_err();
    assert!(
        matches!(
            error,
            Error::BadParameter {
                name: "shingle-size",
                ..
            }
        ),
        "{error}"
    );
    let error = find_pairs(["a"], scratch.clone().memory(1)).unwrap_err();
    assert!(matches!(error, Error::BudgetTooSmall { .. }), "{error}");
    let error = find_pairs(["a"], options().scratch("/nowhere")).unwrap_err();
    assert!(
        matches!(
            error,
            Error::BadParameter {
                name: "scratch",
                ..
            }
        ),
        "{error}"
    );
    let stop = Stop::default();
    stop.request();
    let error = find_pairs(["a"], scratch.stop(stop)).unwrap_err();
    assert!(matches!(error, Error::Interrupted { .. }), "{error}");
    assert!(is_empty(place.path()));
    let error = Collection::open(place.path(), options()).unwrap_err();
    assert!(matches!(error, Error::NotOutput { .. }), "{error}");
}

/// A method that sets one parameter overrides those that set all, whatever the order.
#[test]
fn the_order_of_options_does_not_matter() {
    let texts = ["a b c d", "a b c d e", "a b x y"];
    let join = JoinConfig {
        threshold: "1".parse().unwrap(),
        ..JoinConfig::default()
    };
    let mut collection = CollectionConfig::default();
    collection.shingle.shingle_size = 9;
    let pairs = |options| find_pairs(texts, options).unwrap().len();
    let all = |options: Options| options.join(join.into()).collection(collection.clone());
    let one = |options: Options| {
        options
            .threshold(0.7)
            .shingle_size(2)
            .tokens(TokenKind::Words)
    };
    assert_eq!(pairs(one(all(options()))), 1);
    assert_eq!(pairs(all(one(options()))), 1);
    assert_eq!(pairs(all(options())), 0);
    let shown = format!("{:?}", one(all(options())));
    assert!(
        shown.contains("shingle_size: 2") && shown.contains("0.7"),
        "{shown}"
    );

    // Options that texts cannot have.
    collection.read.text_field = Some("body".into());
    let error = find_pairs(texts, options().collection(collection)).unwrap_err();
    assert!(
        error.to_string().contains("texts that are not in files"),
        "{error}"
    );
    let place = temporary();
    let little = options().disk(Disk::Bytes(ByteSize(1)));
    let error = Collection::create(
        place.path().join("out"),
        [sample_corpora("trec-web")],
        little,
    );
    assert!(matches!(error, Err(Error::DiskSpace { .. })), "{error:?}");
}

/// The pairs, clusters and files that the methods of a collection give.
#[test]
fn a_collection_gives_what_its_files_say() {
    let place = temporary();
    let path = |name: &str| place.path().join(name);
    let copy = |from: &str, to: &str| {
        fs::create_dir_all(path("in")).unwrap();
        fs::copy(sample_corpora(from), path("in").join(to)).unwrap();
    };
    copy("trec-web/a.gz", "a.gz");
    let collection =
        Collection::create(path("out"), [path("in")], options().threshold(0.5)).unwrap();
    copy("trec-web/b.gz", "b.gz");
    let before = collection.summary().unwrap().ingest.documents;
    let summary = collection.add([path("in")]).unwrap();
    assert!(before > 0 && summary.ingest.documents > before);

    let collection = Collection::open(path("out"), options()).unwrap();
    let pairs: Vec<Pair> = collection.pairs().unwrap().map(Result::unwrap).collect();
    let line = |pair: &Pair| {
        let Pair {
            a,
            b,
            resemblance,
            shared,
            sizes: [of_a, of_b],
        } = pair;
        format!("{a}\t{b}\t{resemblance:.6}\t{shared}\t{of_a}\t{of_b}")
    };
    let near = rows_of(&path("out"), "pairs.tsv");
    let exact = rows_of(&path("out"), "exact-duplicates.tsv");
    assert!(!near.is_empty() && !exact.is_empty());
    assert_eq!(pairs.len(), near.len() + exact.len());
    for (pair, row) in pairs.iter().zip(&near) {
        assert!(row.starts_with(&line(pair)), "{pair:?}: {row}");
    }
    let documents = rows_of(&path("out"), "documents.tsv");
    for (pair, row) in pairs[near.len()..].iter().zip(&exact) {
        assert!(
            row.starts_with(&format!("{}\t{}\t", pair.b, pair.a)),
            "{pair:?}: {row}"
        );
        let mut documents = documents
            .iter()
            .map(|row| row.split('\t').collect::<Vec<_>>());
        let document = documents.find(|row| row[0] == pair.b).unwrap();
        assert_eq!(document[3], pair.shared.to_string());
    }

    let clusters: Vec<_> = collection.clusters().unwrap().map(Result::unwrap).collect();
    assert_eq!(clusters.len() as u64, summary.cluster.unwrap().clusters);
    for cluster in &clusters {
        assert_eq!(cluster.members[0].docno, cluster.representative);
        assert_eq!(cluster.members[0].kind, MemberKind::Representative);
    }

    let removed = path("removed");
    let summary = collection.dedup(path("kept"), Some(&removed), &DedupConfig::default());
    assert!(summary.unwrap().removed_documents() >= exact.len() as u64);
    assert!(path("kept").join("a.gz").exists() && removed.join("removed.jsonl").exists());
    collection.passages(&PassagesConfig::default()).unwrap();
    assert!(path("out").join("spans.tsv").exists());
    let page = collection.report(None, &Default::default()).unwrap();
    assert_eq!(page, path("out").join("report.html"));

    // Pairs that are not those of the manifest.
    fs::write(path("out").join("pairs.tsv"), "").unwrap();
    let error = collection.pairs().map(drop).unwrap_err();
    assert!(error.to_string().contains("pairs.tsv"), "{error}");
    assert_eq!(collection.clusters().unwrap().count(), clusters.len());
}

/// A docno of two documents does not confuse the exact duplicates.
#[test]
fn docnos_may_repeat() {
    let place = temporary();
    let line = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    let [one, two] = ["one two three four", "five six seven"];
    let lines = [
        line("x", one),
        line("y", two),
        line("x", two),
        line("z", one),
    ]
    .concat();
    let input = place.path().join("in.jsonl");
    fs::write(&input, lines).unwrap();
    let options = options().shingle_size(1);
    let collection = Collection::create(place.path().join("out"), [input], options).unwrap();
    let pairs = collection.pairs().unwrap().map(Result::unwrap);
    let pairs: Vec<_> = pairs.map(|pair| (pair.a, pair.b, pair.shared)).collect();
    let pair = |a: &str, b: &str, shared| (a.to_string(), b.to_string(), shared);
    assert_eq!(pairs, [pair("y", "x", 3), pair("x", "z", 4)]);
}

#[test]
fn the_examples_run() {
    let place = temporary();
    let out = place.path().join("out");
    let inputs = vec![sample_corpora("trec-web")];
    let listed = files::near_duplicates(&out, inputs).unwrap();
    assert!(
        listed.contains("1.000 ") && listed.contains(" like "),
        "{listed}"
    );
    let sentence = "a cat sat on the mat and looked at the dog";
    let texts = [
        sentence.into(),
        "something else".into(),
        format!("Then {sentence}."),
    ];
    assert_eq!(texts::near_duplicates(&texts).unwrap(), "0.900 0 2\n");

    let docs = documents(&[sentence]);
    let input = place.path().join("one.txt");
    fs::write(&input, &docs[0].text).unwrap();
    files::near_duplicates(&place.path().join("one"), vec![input]).unwrap();
    let found = look_up::matches(&place.path().join("one"), sentence).unwrap();
    assert_eq!(found, "identical 1.000 one.txt\n");
    let found = look_up::matches(&place.path().join("one"), "nothing like it").unwrap();
    assert_eq!(found, "");

    let again = place.path().join("again.txt");
    fs::write(&again, &docs[0].text).unwrap();
    assert_eq!(
        grow::grow(&place.path().join("one"), vec![again]).unwrap(),
        2
    );
    let kept = place.path().join("kept");
    let counts = clean::without_duplicates(&place.path().join("one"), &kept).unwrap();
    assert_eq!(counts, (1, 1));
    assert!(kept.join("one.txt").exists() && !kept.join("again.txt").exists());
    assert_eq!(
        clean::repeated_tokens(&place.path().join("one")).unwrap(),
        0
    );
    assert!(clean::repeated_tokens(&out).unwrap() > 100);
}

/// The guide shows functions of the examples as they are.
#[test]
fn the_guide_shows_the_examples() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let examples = ["clean", "files", "grow", "look_up", "texts"];
    let examples = examples.map(|name| read(&format!("examples/{name}.rs")));
    let guide = read("docs/guide/library.md");
    let blocks = guide.split("```rust\n").skip(1);
    let blocks: Vec<_> = blocks
        .map(|block| block.split("```").next().unwrap())
        .collect();
    let shows = |example: &String, block: &&str| example.contains(*block);
    for block in &blocks {
        assert!(
            examples.iter().any(|example| shows(example, block)),
            "{block}"
        );
    }
    for example in &examples {
        assert!(
            blocks.iter().any(|block| shows(example, block)),
            "{example}"
        );
    }
}
