//! The index says what the sets say, has the same bytes however it is made, and its damage is
//! found.

use crate::common;
use lookalike::Error;
use lookalike::base::ids::{Key, Threshold};
use lookalike::base::measure::Criterion;
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::collection::{self, Catalogue, DocumentReader, SetReader};
use lookalike::engine::index::{Buffers, Index, IndexEntry, IndexSearcher, SHORT, key_of};
use lookalike::engine::pipeline;
use lookalike::store::workspace::Workspace;
use lookalike::tasks::inspect::verify;
use lookalike::tasks::query::{self, Answer, QueryConfig, Reply};

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use common::corpus::Random;
use common::stopped::StopAt;
use common::{Run, one_in, tree};

/// Documents that share a beginning, some in all of them and some in few, with copies, a document
/// without words, and documents shorter than a shingle.
fn write(path: &Path, documents: usize, seed: u64) {
    let mut random = Random(seed);
    let mut lines = String::new();
    let mut before = String::new();
    for n in 0..documents {
        let text = match n % 50 {
            7 => String::new(),
            8 => "two words".to_string(),
            9 => before.clone(),
            _ => {
                let mut text = "every document begins with these words ".to_string();
                if n % 7 == 0 {
                    text.push_str("and some of them go on like this ");
                }
                for _ in 0..random.below(12) {
                    write!(text, "w{} ", random.below(4000)).unwrap();
                }
                text
            }
        };
        writeln!(
            lines,
            "{}",
            serde_json::json!({"id": format!("d{n}"), "text": text})
        )
        .unwrap();
        before = text;
    }
    fs::write(path, lines).unwrap();
}

fn run() -> Run {
    Run::default()
        .segment_size(16 << 10)
        .shingle_size(3)
        .max_document(64 << 10)
}

/// The documents of each key, from the sets; only of the least keys that these pairs need.
pub fn lists<K: Key>(
    workspace: &Workspace,
    criterion: Option<Criterion>,
) -> BTreeMap<K, BTreeSet<u32>> {
    let representatives = Catalogue::representatives(workspace).unwrap();
    let stored = Catalogue::stored(workspace).unwrap();
    let mut lists: BTreeMap<K, BTreeSet<u32>> = BTreeMap::new();
    let mut document = 0;
    for segment in collection::segments(&workspace.manifest) {
        let mut sets = SetReader::<K>::open(workspace.places(), segment).unwrap();
        for _ in 0..segment.stats.documents {
            let size = stored.at(document);
            let prefix = criterion.map(|of| of.prefix(size, size).max(1).into());
            let mut left = prefix.map_or(u64::MAX, IndexSearcher::wanted);
            sets.next(size, |keys| {
                for &key in keys.iter().filter(|_| representatives.has(document)) {
                    if left > 0 {
                        lists.entry(key).or_default().insert(document);
                        left -= 1;
                    }
                }
                Ok(())
            })
            .unwrap();
            document += 1;
        }
    }
    let mut document = 0;
    for segment in collection::segments(&workspace.manifest) {
        let path = workspace.path("collection").join(&segment.documents.name);
        let mut records = DocumentReader::open(&path, None, None).unwrap();
        while let Some(record) = records.next().unwrap() {
            if representatives.has(document) && stored.at(document) == 0 && record.words > 0 {
                lists
                    .entry(key_of(record.md5))
                    .or_default()
                    .insert(document);
            }
            document += 1;
        }
    }
    lists
}

fn indexed(run: &Run, input: &Path, out: &Path, criterion: Option<Criterion>) -> Workspace {
    let (stop, silent) = (Stop::default(), Silent);
    let mut workspace = run.ingest(&[input], out).unwrap();
    pipeline::index(&mut workspace, criterion, &run.context(&stop, &silent)).unwrap();
    workspace
}

fn is_whole<K: Key>(run: &Run, documents: usize, criterion: Option<Criterion>) {
    let directory = common::temporary();
    let (input, out) = (
        directory.path().join("in.jsonl"),
        directory.path().join("out"),
    );
    write(&input, documents, 3);
    let workspace = indexed(run, &input, &out, criterion);
    let index = Index::open::<K>(&workspace, criterion).unwrap().unwrap();
    let expected = lists::<K>(&workspace, criterion);
    let kept: BTreeSet<u128> = expected
        .keys()
        .map(|key| key.to_u128() >> (K::BITS - 48))
        .collect();
    let mut buffers = Buffers::default();
    let mut found = Vec::new();
    let mut long = 0;
    for (&key, documents) in &expected {
        found.clear();
        let mut places = Vec::new();
        let lists = index.read(&[key], &mut buffers).unwrap();
        let count = lists.get(0, &mut found, &mut places);
        assert_eq!(count, documents.len() as u64, "{key:x}");
        for place in places {
            assert!(place.length > SHORT as u64);
            index
                .long(place, &mut buffers, |some| found.extend_from_slice(some))
                .unwrap();
            long += 1;
        }
        assert!(found.iter().eq(documents), "{key:x}");
        // A key beside it is not there.
        let shift = K::BITS - 48;
        let other = K::from_u128(key.to_u128() ^ (1 << shift));
        let leading = |key: K| key.to_u128() >> shift;
        if !kept.contains(&leading(other)) {
            let lists = index.read(&[other], &mut buffers).unwrap();
            assert_eq!(lists.get(0, &mut Vec::new(), &mut Vec::new()), 0);
        }
    }
    assert!(long > 1, "{long} long lists");
    let beside = |key: &K| K::from_u128(key.to_u128() ^ (1 << (K::BITS - 48)));
    let keys: Vec<K> = expected
        .keys()
        .flat_map(|key| [*key, beside(key)])
        .collect();
    common::assert_read_together(&index, &keys);
    let stats = workspace.manifest.get::<IndexEntry>().unwrap().stats();
    let entries: usize = expected.values().map(BTreeSet::len).sum();
    assert_eq!(
        (stats.lists, stats.entries),
        (expected.len() as u64, entries as u64)
    );
    drop(workspace);
    let verified = verify(&out).unwrap();
    assert!(verified.errors.is_empty(), "{:?}", verified.errors);
}

fn at(threshold: &str) -> Criterion {
    let threshold = threshold.parse().unwrap();
    Criterion {
        threshold,
        ..Criterion::default()
    }
}

#[test]
fn every_key_has_its_documents() {
    for criterion in [None, Some(at("1/2"))] {
        is_whole::<u64>(&run(), 600, criterion);
        is_whole::<u128>(&run().fingerprint("md5"), 600, criterion);
    }
}

/// Lists of several chunks, of which one is longer than a buffer.
#[test]
fn keys_of_many_documents() {
    let directory = common::temporary();
    let input = directory.path().join("in.jsonl");
    write(&input, 10_000, 5);
    let out = |name: &str| directory.path().join(name);
    let expected = {
        let workspace = indexed(&run().threads(1), &input, &out("whole"), None);
        let longest = lists::<u64>(&workspace, None)
            .values()
            .map(BTreeSet::len)
            .max();
        assert!(longest > Some(8500), "{longest:?}");
        tree(&out("whole").join("index"))
    };
    // Least memory, more threads.
    let (least, ()) = common::least_memory(|memory| {
        let run = run().threads(1).memory(memory);
        let stop = Stop::default();
        let mut workspace = pipeline::open(&out("whole"))?;
        workspace.manifest.remove::<IndexEntry>();
        pipeline::index(&mut workspace, None, &run.context(&stop, &Silent)).map(|_| ())
    });
    assert_eq!(tree(&out("whole").join("index")), expected, "{least} bytes");
    for threads in [2, 8] {
        let out = out(&format!("{threads} threads"));
        indexed(&run().threads(threads), &input, &out, None);
        assert_eq!(tree(&out.join("index")), expected, "{threads} threads");
    }
}

/// It is made from where it was stopped.
#[test]
fn an_index_is_made_from_where_it_stopped() {
    let directory = common::temporary();
    let (input, out) = (
        directory.path().join("in.jsonl"),
        directory.path().join("out"),
    );
    write(&input, 2000, 8);
    let run = run().threads(1);
    indexed(&run, &input, &out, None);
    let expected = tree(&out.join("index"));
    let mut stopped = 0;
    for after in 0..40 {
        let mut workspace = pipeline::open(&out).unwrap();
        workspace.manifest.remove::<IndexEntry>();
        workspace.commit(&[]).unwrap();
        let stop = StopAt::call(after);
        let result = pipeline::index(&mut workspace, None, &run.context(&stop.stop, &stop));
        stopped += u32::from(matches!(result, Err(Error::Interrupted { .. })));
        drop(workspace);
        indexed(&run, &input, &out, None);
        assert_eq!(
            tree(&out.join("index")),
            expected,
            "stopped after {after} calls"
        );
    }
    assert!(stopped > 0);
}

/// An index for pairs answers as the sets do, where those pairs are asked for, and only there.
#[test]
fn an_index_for_pairs_finds_them() {
    let directory = common::temporary();
    let input = directory.path().join("in.jsonl");
    write(&input, 250, 11);
    let out = directory.path().join("out");
    let mut found = 0;
    for [of, asked] in [["0.3", "0.3"], ["0.5", "0.85"], ["1", "1"]] {
        for measure in ["resemblance", "cosine", "s3"] {
            let [of, criterion] = [of, asked].map(|threshold| Criterion {
                measure: measure.parse().unwrap(),
                ..at(threshold)
            });
            let mut workspace = indexed(&run(), &input, &out, Some(of));
            let opened = |pairs| Index::open::<u64>(&workspace, pairs).unwrap().is_some();
            assert!(opened(Some(criterion)) && !opened(None));
            assert!(
                !opened(Some(at("0.1")))
                    && !opened(Some(Criterion {
                        measure: "dice".parse().unwrap(),
                        ..criterion
                    }))
            );
            let config = QueryConfig {
                criterion,
                containing: None,
                top: None,
            };
            let by_index = answers(&workspace, &input, &config).unwrap();
            workspace.manifest.remove::<IndexEntry>();
            let by_sets = answers(&workspace, &input, &config).unwrap();
            assert_eq!(by_index, by_sets, "{measure} {asked}");
            found += by_sets.iter().map(|answer| answer.found).sum::<u64>();
        }
    }
    assert!(found > 1000, "{found} matches");
}

fn ask(out: &Path, queries: &PathBuf, config: &QueryConfig) -> Result<Vec<Answer>, Error> {
    answers(&pipeline::open(out)?, queries, config)
}

fn answers(
    base: &Workspace,
    queries: &PathBuf,
    config: &QueryConfig,
) -> Result<Vec<Answer>, Error> {
    let run = run().threads(1);
    let stop = Stop::default();
    let inputs = pipeline::inputs(std::slice::from_ref(queries), base.directory())?;
    let mut answers = Vec::new();
    let read = &run.collection.read;
    query::run(
        base,
        None,
        &inputs,
        read,
        config,
        &run.context(&stop, &Silent),
        |reply| {
            match reply {
                Reply::Answer(answer) => answers.push(answer),
                Reply::Warning(_) => {}
                Reply::Rejected(rejected) => panic!("{rejected:?}"),
            }
            Ok(())
        },
    )?;
    Ok(answers)
}

/// Every damaged byte of the index is found by `verify`; a look-up finds it or does not need it.
#[test]
fn damage_is_found_or_makes_no_difference() {
    let directory = common::temporary();
    let (input, out) = (
        directory.path().join("in.jsonl"),
        directory.path().join("out"),
    );
    write(&input, 90, 13);
    drop(indexed(&run(), &input, &out, None));
    let config = QueryConfig {
        containing: Some("0.5".parse::<Threshold>().unwrap()),
        ..QueryConfig::default()
    };
    let expected = ask(&out, &input, &config).unwrap();
    assert!(expected.iter().any(|answer| answer.found > 10));
    let (mut refused, mut same) = (0, 0);
    for (name, bytes) in tree(&out.join("index")) {
        let path = out.join("index").join(&name);
        // `verify` sees every byte damaged in `scripts/every-bit.sh`.
        let ends = 64.min(bytes.len());
        let between = (ends..bytes.len() - ends).step_by(3);
        for at in (0..ends)
            .chain(between)
            .chain(bytes.len() - ends..bytes.len())
            .step_by(one_in(4))
        {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            fs::write(&path, &damaged).unwrap();
            match ask(&out, &input, &config) {
                Ok(answers) => {
                    assert_eq!(answers, expected, "byte {at} of {name}");
                    same += 1;
                }
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains(&name), "byte {at} of {name}: {text}");
                    refused += 1;
                }
            }
            if at % 64 == 0 {
                assert_eq!(verify(&out).unwrap().errors.len(), 1, "byte {at} of {name}");
            }
        }
        fs::write(&path, &bytes).unwrap();
    }
    // What is not read is checked by `verify` alone.
    assert!(refused > 9 * same, "{refused} refused, {same} the same");
    assert_eq!(ask(&out, &input, &config).unwrap(), expected);
    // Without the index, the sets answer; it can be made again.
    fs::remove_dir_all(out.join("index")).unwrap();
    assert_eq!(ask(&out, &input, &config).unwrap(), expected);
    drop(indexed(&run(), &input, &out, None));
    assert_eq!(ask(&out, &input, &config).unwrap(), expected);
}

/// Several processes look documents up at the same time, also on a read-only medium, and nothing in
/// the directory changes. While one of them does, no other changes the directory.
#[test]
fn several_processes_look_documents_up() {
    let directory = common::temporary();
    let (input, out) = (
        directory.path().join("in.jsonl"),
        directory.path().join("out"),
    );
    write(&input, 200, 21);
    drop(indexed(&run(), &input, &out, None));
    let before = tree(&out);
    let held = pipeline::open_to_read(&out).unwrap().unwrap();
    let again = pipeline::open_to_read(&out).unwrap().unwrap();
    let error = pipeline::open(&out).unwrap_err();
    assert!(matches!(&error, Error::Locked { .. }), "{error}");
    assert!(
        error.to_string().contains("a process that reads it"),
        "{error}"
    );
    let answers = std::process::Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .args([
            "query".as_ref(),
            out.as_os_str(),
            input.as_os_str(),
            "--json".as_ref(),
        ])
        .output()
        .unwrap();
    assert!(
        answers.status.success(),
        "{}",
        String::from_utf8_lossy(&answers.stderr)
    );
    assert_eq!(
        String::from_utf8_lossy(&answers.stdout).lines().count(),
        200
    );
    drop((held, again));
    assert_eq!(tree(&out), before);
    // Without its lock file, as after copying the parts by hand.
    fs::remove_file(out.join("lock")).unwrap();
    assert!(pipeline::open_to_read(&out).unwrap().is_some());
    assert!(!out.join("lock").exists());
    let mine = pipeline::open(&out).unwrap();
    let error = pipeline::open_to_read(&out).unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error}");
    drop(mine);
}
