//! Defects that were found and mended: a test for each, named for what went wrong.

use crate::common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Run, sample_corpora};
use lookalike::Error;
use lookalike::base::budget::ByteSize;
use lookalike::base::ids::Threshold;
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::cluster::ResultsEntry;
use lookalike::engine::collection::{CatalogueEntry, segments_mut};
use lookalike::engine::index::IndexEntry;
use lookalike::engine::join::{Pair, PairsEntry};
use lookalike::engine::pipeline;
use lookalike::engine::sample::{SampleEntry, Sampled};
use lookalike::engine::sort::{Record, RunWriter};
use lookalike::store::workspace::{Manifest, Workspace};
use lookalike::store::{Header, Kind, PartInfo, PartWriter, VERSION};
use lookalike::tasks::inspect::verify;
use lookalike::tasks::plan;

/// What is changed, and how.
type Change = (&'static str, fn(&mut Run));

/// The name of the parameter that was refused.
fn refused<T>(what: &str, result: Result<T, Error>) -> &'static str {
    match result {
        Err(Error::BadParameter { name, .. }) => name,
        Err(error) => panic!("{what}: {error}"),
        Ok(_) => panic!("{what} is accepted"),
    }
}

/// `--max-ratio 0` divided by zero: the configuration was checked by `perturb` alone.
#[test]
fn impossible_parameters_of_a_collection_are_refused_before_anything_is_made() {
    let directory = crate::common::temporary();
    let out = directory.path().join("out");
    let input = sample_corpora("trec-web");
    let change: [Change; 7] = [
        ("max-ratio", |run| run.collection.read.max_ratio = 0),
        ("max-document", |run| {
            run.collection.read.max_document = ByteSize(0);
        }),
        ("text-field", |run| {
            run.collection.read.text_field = Some("a..b".into());
        }),
        ("shingle-size", |run| {
            run.collection.shingle.shingle_size = 0
        }),
        ("segment-size", |run| {
            run.collection.segment_size = ByteSize(0);
        }),
        ("threads", |run| run.threads = 0),
        ("threads", |run| run.threads = 1025),
    ];
    for (name, change) in change {
        let mut run = Run::default();
        change(&mut run);
        assert_eq!(refused(name, run.ingest(&[&input], &out)), name);
        assert_eq!(refused(name, run.run(&[&input], &out)), name);
        assert!(!out.exists(), "{name}");
    }
}

#[test]
fn impossible_questions_are_refused_before_anything_is_read() {
    let directory = crate::common::temporary();
    let (out, there) = (directory.path().join("out"), directory.path().join("there"));
    let input = sample_corpora("trec-web");
    let mut workspace = Run::default().ingest(&[&input], &there).unwrap();
    let planning = |ratios: &[u32]| {
        let all = Threshold::new(1, 2).unwrap();
        plan::PlanConfig {
            target: plan::Target {
                threshold: all,
                precision: all,
                recall: None,
            },
            ratios: ratios.to_vec(),
            subset: None,
        }
    };
    let mut questions = vec![
        ("fan-in", Run::default().fan_in(1)),
        ("sampling", Run::default().sampling("1/2,1/4")),
        ("max-postings", Run::default().join("count")),
        ("verified", Run::default()),
        ("ratios", Run::default()),
        ("pairs", Run::default().join("count").pairs("none")),
    ];
    questions[2].1.question.join.max_postings = Some(1);
    questions[3].1.question.join.candidates = Some("0.85".parse().unwrap());
    questions[4].1.planning = Some(planning(&[3, 2]));
    for (name, run) in questions {
        assert_eq!(refused(name, run.run(&[&input], &out)), name);
        assert!(!out.exists(), "{name}");
        let stop = Stop::default();
        let context = run.context(&stop, &Silent);
        let joined = match &run.planning {
            None => pipeline::join(&mut workspace, &run.question, &context),
            Some(config) => plan::for_collection(&mut workspace, config, &context).map(drop),
        };
        assert_eq!(refused(name, joined), name);
    }
}

#[test]
fn a_query_is_not_read_with_impossible_parameters() {
    let directory = crate::common::temporary();
    let out = directory.path().join("out");
    let input = sample_corpora("trec-web");
    let run = Run::default();
    run.run(&[&input], &out).unwrap();
    let base = pipeline::open(&out).unwrap();
    let mut read = run.collection.read.clone();
    read.max_ratio = 0;
    let inputs = pipeline::inputs(&[input], &out).unwrap();
    let config = lookalike::tasks::query::QueryConfig {
        criterion: run.question.join.criterion(),
        containing: None,
        top: None,
    };
    let stop = Stop::default();
    let context = run.context(&stop, &Silent);
    let asked =
        lookalike::tasks::query::run(&base, None, &inputs, &read, &config, &context, |_| Ok(()));
    assert_eq!(refused("max-ratio", asked), "max-ratio");
}

/// A reader of its own, which no stage checks for, does not divide by it either.
#[test]
fn a_ratio_of_nothing_allows_nothing() {
    use lookalike::text::read::{Batch, ReadConfig, Reason, RecordReader};
    use std::io::Write;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&vec![b'a'; 20 << 20]).unwrap();
    let bytes = std::io::Cursor::new(gzip.finish().unwrap());
    let config = ReadConfig {
        max_ratio: 0,
        ..ReadConfig::default()
    };
    let mut reader = RecordReader::from_reader(bytes, "x.gz", 0, &config);
    let mut batch = Batch::default();
    while reader.next_into(&mut batch) {}
    let text = format!("{:?}", batch.records);
    assert!(
        text.contains(&format!("{:?}", Reason::DecompressionBomb)),
        "{text}"
    );
}

/// Writes a manifest anew, as `change` has it, with a checksum that is right.
fn change_manifest(out: &Path, change: impl Fn(&str) -> String) {
    let path = out.join("manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    let changed = change(&text);
    assert_ne!(changed, text);
    let sum = lookalike::store::checksum(changed.as_bytes());
    fs::write(&path, format!("{changed}{sum:016x}\n")).unwrap();
}

/// A digest that is none was that of nothing (0), and a format was cut to 32 bits.
#[test]
fn a_manifest_that_cannot_be_is_refused_and_named() {
    let directory = crate::common::temporary();
    let out = directory.path().join("out");
    Run::default()
        .run(&[&sample_corpora("trec-web")], &out)
        .unwrap();
    let whole = fs::read(out.join("manifest.json")).unwrap();
    let digest = common::manifest(&out).collection_digest.clone();
    let cases = [
        (
            digest.clone(),
            format!("{}g", &digest[1..]),
            "collection_digest",
        ),
        (
            "\"format\": 2,".into(),
            "\"format\": 4294967297,".into(),
            "format of the manifest",
        ),
        (
            "\"format\": 2,".into(),
            String::new(),
            "format of the manifest",
        ),
        (
            "\"max_ratio\": 1000".into(),
            "\"max_ratio\": 0".into(),
            "--max-ratio 0",
        ),
    ];
    for (from, to, says) in cases {
        fs::write(out.join("manifest.json"), &whole).unwrap();
        change_manifest(&out, |text| text.replacen(&from, &to, 1));
        let error = pipeline::open(&out).unwrap_err().to_string();
        let start = format!("{} is corrupt: ", out.join("manifest.json").display());
        assert!(error.starts_with(&start) && error.contains(says), "{error}");
    }
}

#[test]
fn size_groups_that_cannot_be_read_are_not_the_default() {
    let directory = crate::common::temporary();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let list = |path: PathBuf| lookalike::tasks::evaluate::ListFile {
        path,
        columns: None,
    };
    let pairs = "docno_a\tdocno_b\na\tb\n";
    let documents = "# size-groups: 5,3\ndocno\tsize_group\tcluster\na\t0\t\nb\t1\t\n";
    let scratch = directory.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    let config = lookalike::tasks::evaluate::EvaluateConfig {
        truth: Some(list(file("truth.tsv", pairs))),
        run: list(file("run.tsv", pairs)),
        documents: Some(file("documents.tsv", documents)),
        thresholds: Vec::new(),
        judged: None,
        true_grade: 1,
        run_lists: Default::default(),
        disagreements: None,
        families: None,
        scratch,
    };
    let stop = Stop::default();
    let context = Run::default().context(&stop, &Silent);
    let error = lookalike::tasks::evaluate::evaluate(&config, &context).unwrap_err();
    let path = directory.path().join("documents.tsv");
    let start = format!("{}: the comment `# size-groups`: `5,3` ", path.display());
    assert!(error.to_string().starts_with(&start), "{error}");
}

/// Writes the sizes of the samples anew, as `change` has them, and joins again; what the error
/// says.
fn joined_with_sizes(change: impl Fn(u32) -> u32) -> (PathBuf, String) {
    use lookalike::store::{Header, Kind, PartWriter, VERSION};
    let directory = crate::common::temporary();
    let out = directory.path().join("out");
    let run = Run::default();
    run.run(&[&sample_corpora("trec-web")], &out).unwrap();
    let mut workspace = pipeline::open(&out).unwrap();
    workspace
        .manifest
        .remove::<lookalike::engine::join::PairsEntry>();
    let sample = workspace.path("sample");
    let part = workspace.manifest.get::<SampleEntry>().unwrap().sizes[0].clone();
    let bytes = fs::read(sample.join(&part.name)).unwrap();
    let header = Header {
        kind: Kind::Column,
        version: VERSION,
        parameters: u128::from_str_radix(&workspace.manifest.collection_digest, 16).unwrap(),
        number: 0,
        key_bytes: 4,
    };
    let mut column = PartWriter::create_named(&sample.join("000099.col"), &header).unwrap();
    for size in bytes[64..][..4 * part.records as usize].chunks(4) {
        let size = u32::from_le_bytes(size.try_into().unwrap());
        column.put(&change(size).to_le_bytes()).unwrap();
    }
    let info = column.finish(part.records, 0, 0).unwrap();
    workspace.manifest.get_mut::<SampleEntry>().unwrap().sizes[0] = info;
    let stop = Stop::default();
    let context = run.context(&stop, &Silent);
    let error = pipeline::join(&mut workspace, &run.question, &context).unwrap_err();
    (out, error.to_string())
}

/// They were told as at byte 0 of `sample`, wherever the output directory was.
#[test]
fn what_contradicts_itself_is_told_by_its_path() {
    let wrong: [fn(u32) -> u32; 2] = [|size| size + u32::from(size > 0), |size| size.min(1)];
    for wrong in wrong {
        let (out, error) = joined_with_sizes(wrong);
        let start = format!(
            "{} is corrupt at byte ",
            out.join("sample/000099.col").display()
        );
        let rest = error
            .strip_prefix(&start)
            .unwrap_or_else(|| panic!("{error}"));
        let (offset, rest) = rest
            .split_once(": size of the sample of document ")
            .unwrap();
        let document: u64 = rest.split_once(':').unwrap().0.parse().unwrap();
        assert_eq!(offset, (64 + 4 * document).to_string(), "{error}");
    }
}

fn lookalike(arguments: &[&str]) -> std::process::Output {
    std::process::Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .output()
        .unwrap()
}

/// The position in standard input, whose size is not known, went back to 0 at its end.
#[test]
fn standard_input_of_several_batches_is_read_to_its_end() {
    let directory = crate::common::temporary();
    let input = directory.path().join("texts.jsonl");
    let line = |n: u32| {
        format!(
            "{{\"id\":{n},\"text\":\"{}\"}}\n",
            format!("word{n} ").repeat(20)
        )
    };
    fs::write(&input, (0..8000).map(line).collect::<String>()).unwrap();
    let out = directory.path().join("out");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .args(["run", "-", "--quiet", "-o"])
        .arg(&out)
        .stdin(fs::File::open(&input).unwrap())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn urls(glob: &str) -> lookalike::text::read::UrlGlobs {
    let glob = globset::Glob::new(glob).unwrap();
    vec![glob].try_into().unwrap()
}

/// `--detect-charset` was reported as `--detector`, and parameters were compared by their places.
#[test]
fn every_parameter_that_differs_is_reported_by_its_flag() {
    let directory = crate::common::temporary();
    let out = directory.path().join("out");
    let input = sample_corpora("trec-web");
    let help = lookalike(&["stage", "ingest", "--help"]).stdout;
    let help = String::from_utf8(help).unwrap();
    let change: [Change; 31] = [
        ("format", |run| {
            run.collection.read.format = Some(lookalike::text::read::Format::TrecWeb);
        }),
        ("record", |run| {
            run.collection.read.record = Some("x".into());
        }),
        ("records", |run| {
            run.collection.read.records = Some("a[]".into());
        }),
        ("split-at", |run| {
            run.collection.read.split_at = "^a".parse().ok();
        }),
        ("text-field", |run| {
            run.collection.read.text_field = Some("x".into());
        }),
        ("id-field", |run| {
            run.collection.read.id_field = Some("x".into())
        }),
        ("url-field", |run| {
            run.collection.read.url_field = Some("x".into());
        }),
        ("delimiter", |run| {
            run.collection.read.delimiter = Some("US".into());
        }),
        ("quote", |run| {
            run.collection.read.quote = Some("none".into());
        }),
        ("columns", |run| {
            run.collection.read.columns = Some("a,b".into());
        }),
        ("null", |run| {
            run.collection.read.null = vec!["NULL".into()];
        }),
        ("warc-type", |run| {
            run.collection.read.warc_type = Some("response".into());
        }),
        ("include-url", |run| {
            run.collection.read.include_url = urls("*")
        }),
        ("exclude-url", |run| {
            run.collection.read.exclude_url = urls("*")
        }),
        ("convert-timeout", |run| {
            run.collection.read.convert_timeout = Some(7);
        }),
        ("convert-memory", |run| {
            run.collection.read.convert_memory = Some(ByteSize::mib(64));
        }),
        ("max-document", |run| {
            run.collection.read.max_document = ByteSize(5 << 20);
        }),
        ("max-ratio", |run| run.collection.read.max_ratio = 17),
        ("markup", |run| {
            run.collection.read.markup = Some(lookalike::text::read::Markup::Auto);
        }),
        ("convert", |run| {
            run.collection.read.convert = vec!["pdf=cat".parse().unwrap()];
        }),
        ("detect-charset", |run| {
            run.collection.shingle.parse.detector = false;
        }),
        ("tokens", |run| {
            run.collection.shingle.parse.tokens = "whitespace".parse().unwrap();
        }),
        ("fold", |run| {
            run.collection.shingle.parse.fold = "compat".parse().unwrap();
        }),
        ("shingle-size", |run| {
            run.collection.shingle.shingle_size = 3
        }),
        ("short", |run| {
            run.collection.shingle.short = "skip".parse().unwrap();
        }),
        ("fingerprint", |run| {
            run.collection.shingle.fingerprint = "md5".parse().unwrap();
        }),
        ("seed", |run| run.collection.shingle.seed = 5),
        ("exclude-text", |run| {
            let files = [sample_corpora("files/a/PG-000025.html")];
            let (stop, made) = (Stop::default(), run.clone());
            let context = made.context(&stop, &Silent);
            let found = lookalike::engine::excluded::excluded(&files, &made.collection, &context);
            run.collection.shingle.excluded = found.unwrap();
        }),
        ("keep-text", |run| run.collection.text = true),
        ("size-groups", |run| {
            run.collection.size_groups = "7".parse().unwrap();
        }),
        ("where", |run| {
            let condition = "a.docno != b.docno".parse().unwrap();
            run.collection = run.collection.clone().with_condition(Some(condition));
        }),
    ];
    let flags = Run::default().collection.flags();
    let names: Vec<&str> = flags.iter().map(|(name, _)| *name).collect();
    let tried: Vec<&str> = change.iter().map(|(name, _)| *name).collect();
    // How input is cut does not matter once it is all in, and the fields follow from the condition.
    let (last, all) = tried.split_last().unwrap();
    assert_eq!(names, [all, &["segment-size", last, "fields"]].concat());
    let names = names.into_iter().filter(|name| *name != "fields");
    drop(Run::default().ingest(&[&input], &out).unwrap());
    for name in names {
        assert!(
            (help.split([' ', ',', '\n'])).any(|word| word == format!("--{name}")),
            "{name}"
        );
    }
    for (flag, change) in change {
        let mut run = Run::default();
        change(&mut run);
        match run.ingest(&[&input], &out) {
            Err(Error::Incompatible { name, .. }) => assert_eq!(name, format!("--{flag}")),
            // Texts can be added, and stay.
            Ok(workspace) if flag == "keep-text" => drop(workspace),
            other => panic!("{flag}: {:?}", other.map(drop)),
        }
    }
}

/// Help and version ended with 0 when nothing of them could be written.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_printed_is_an_error() {
    let directory = crate::common::temporary();
    let out = directory.path().join("out");
    Run::default()
        .run(&[&sample_corpora("trec-web")], &out)
        .unwrap();
    let out = out.to_str().unwrap();
    let commands: [&[&str]; 9] = [
        &["--help"],
        &["-h"],
        &["--version"],
        &["run", "--help"],
        &["help", "run"],
        &["lab", "method", "minhash"],
        &["status", out],
        &["export", "graph", out],
        &["check", "verify", out],
    ];
    for arguments in commands {
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_lookalike"))
            .args(arguments)
            .stdout(full)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
        assert!(
            told.contains("error: cannot write standard output: "),
            "{arguments:?}: {told}"
        );
    }
    // A reader that has seen enough and closes the pipe is not a failure.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .arg("--help")
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!(
        (output.status.code(), &output.stderr[..]),
        (Some(0), &b""[..])
    );
}

/// `all -0.00 -0.00 0B`: the sum over nothing is a negative zero.
#[test]
fn a_directory_where_nothing_ran_has_cost_nothing() {
    let directory = crate::common::temporary();
    let out = directory.path().join("out");
    drop(
        Run::default()
            .ingest(&[&sample_corpora("trec-web")], &out)
            .unwrap(),
    );
    let mut manifest = pipeline::look(&out).unwrap();
    manifest.costs.clear();
    let summary = lookalike::engine::pipeline::Summary::of(&manifest);
    let ledger = lookalike::report::ledger(&summary);
    let all = ledger.lines().last().unwrap();
    let cells: Vec<&str> = all.split_whitespace().collect();
    assert_eq!(cells, ["all", "0.00", "0.00", "0B"]);
}

/// 400,000 clusters asked for took an estimate of 72 GiB, whatever there was to show.
#[test]
fn a_page_needs_memory_for_what_there_is_to_show() {
    let directory = crate::common::temporary();
    let out = directory.path().join("out");
    let run = Run::default();
    run.run(&[&sample_corpora("trec-web")], &out).unwrap();
    let least_for = |clusters, pairs| {
        let (least, stats) = common::least_memory_in_steps(128 << 10, |memory| {
            let mut workspace = lookalike::engine::pipeline::open(&out)?;
            let config = lookalike::report::page::PageConfig {
                clusters,
                pairs,
                ..Default::default()
            };
            let stop = Stop::default();
            let run = Run::default().memory(memory);
            let page = directory.path().join("page.html");
            lookalike::report::write_page(
                &mut workspace,
                &config,
                &page,
                &run.context(&stop, &Silent),
            )
        });
        (least, stats)
    };
    let (all, stats) = least_for(400_000, 400_000);
    assert_eq!(
        least_for(stats.clusters as usize, stats.pairs as usize).0,
        all
    );
    let (few, _) = least_for(1, 0);
    // A record as large as is allowed, and the buffers; all the rest is what is shown.
    assert!(few < 20 << 20 && all > few, "{few} {all}");
    assert!(all < few + (20 << 20), "{few} {all}");
}

fn evaluated(truth: &Path, run: &Path) -> lookalike::tasks::evaluate::Evaluation {
    let scratch = crate::common::temporary();
    let list = |path: &Path| lookalike::tasks::evaluate::ListFile {
        path: path.into(),
        columns: None,
    };
    let config = lookalike::tasks::evaluate::EvaluateConfig {
        truth: Some(list(truth)),
        run: list(run),
        documents: None,
        thresholds: Vec::new(),
        judged: None,
        true_grade: 1,
        run_lists: Default::default(),
        disagreements: None,
        families: None,
        scratch: scratch.path().into(),
    };
    let stop = Stop::default();
    let context = Run::default().context(&stop, &Silent);
    lookalike::tasks::evaluate::evaluate(&config, &context).unwrap()
}

/// The exact duplicates of one side only were expanded: a run had a precision of .0015 against its
/// own pairs.
#[test]
fn a_truth_without_exact_duplicates_is_one_of_representatives() {
    let directory = crate::common::temporary();
    let (out, sampled) = (
        directory.path().join("out"),
        directory.path().join("sampled"),
    );
    let input = sample_corpora("trec-web");
    Run::default()
        .threshold("0.5")
        .run(&[&input], &out)
        .unwrap();
    Run::default()
        .threshold("0.5")
        .sampling("1/4")
        .run(&[&input], &sampled)
        .unwrap();
    let list = directory.path().join("list.tsv");
    fs::copy(out.join("pairs.tsv"), &list).unwrap();
    // The pairs of a directory and the list of them are the same truth.
    for run in [&out, &sampled] {
        let (whole, found) = (evaluated(&out, run), evaluated(&list, run));
        let all = |e: &lookalike::tasks::evaluate::Evaluation| e.pairs[0].documents.all;
        assert_eq!(all(&found), all(&whole));
        let representatives = found.pairs[0].representatives.as_ref().unwrap();
        assert!(all(&found).found > representatives.all.found);
        assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
        assert!(found.notes[0].contains("treated as a list of representatives"));
        assert!(whole.notes.is_empty());
    }
    // A truth that names pairs of identical documents is one of documents, and stands as it is.
    let duplicate = common::rows_of(&out, "exact-duplicates.tsv")[0].clone();
    let cells: Vec<&str> = duplicate.split('\t').collect();
    let text = format!("{}\t{}\n", cells[0], cells[1]);
    fs::write(&list, text).unwrap();
    let found = evaluated(&list, &out);
    assert_eq!(found.pairs[0].documents.all.true_pairs, 1);
    assert!(found.notes.is_empty());
    // A run that names none has missed them.
    fs::copy(out.join("pairs.tsv"), &list).unwrap();
    let found = evaluated(&out, &list);
    assert!(found.pairs[0].documents.all.counts.missed > 0);
    assert!(
        found.notes[0].contains("counts them as missed"),
        "{:?}",
        found.notes
    );
}

/// `--join probabilistic` was refused with a word about `--join count`.
#[test]
fn joins_that_count_are_refused_by_their_names() {
    let message = |run: Run| run.question.join.check().unwrap_err().to_string();
    for join in ["count", "probabilistic"] {
        let told = message(Run::default().join(join).pairs("none"));
        assert!(
            told.contains(&format!("`--join {join}` counts every pair")),
            "{told}"
        );
        assert!(!told.contains("max-postings"), "{told}");
    }
    let mut run = Run::default().join("auto").pairs("none");
    run.question.join.max_postings = Some(7);
    let told = message(run);
    assert!(
        told.contains("`--max-postings 7`") && !told.contains("--join"),
        "{told}"
    );
}

/// `inspect pairs.tsv` said `not a lookalike file ... damaged: delete it`.
#[test]
fn text_files_are_told_from_damaged_ones() {
    let directory = crate::common::temporary();
    let out = directory.path().join("out");
    Run::default()
        .run(&[&sample_corpora("trec-web")], &out)
        .unwrap();
    let told = |path: &Path| {
        let output = lookalike(&["check", "inspect", path.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    for (name, what) in [
        ("pairs.tsv", "the pairs that were found"),
        ("clusters.jsonl", "the clusters"),
        ("exact-duplicates.tsv", "the exact duplicates"),
        ("documents.tsv", "the documents"),
        ("rejects.jsonl", "rejects and warnings"),
        ("summary.json", "the counts and costs"),
        ("manifest.json", "the list of the committed files"),
        ("inputs.jsonl", "the list of the input files"),
    ] {
        let path = out.join(name);
        let told = told(&path);
        let start = format!("error: {} is a text file: {what}", path.display());
        assert!(told.starts_with(&start), "{told}");
        assert!(told.contains(&format!("help: read it with `less {}`", path.display())));
        assert!(
            !told.contains("delete") && !told.contains("damaged"),
            "{told}"
        );
    }
    // What is neither is still somebody else's, or damaged.
    let binary = directory.path().join("x");
    fs::write(&binary, [0u8, 1, 2, 3, 255, 254].repeat(20)).unwrap();
    assert!(told(&binary).contains("is not a lookalike file"));
}

/// `INPUT nothing is not possible`; and `ingest` and `query` of an empty directory ended with 0.
#[test]
fn an_empty_directory_is_named() {
    let directory = crate::common::temporary();
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_string();
    fs::create_dir(at("empty")).unwrap();
    fs::create_dir(at("bare")).unwrap();
    Run::default()
        .ingest(&[&sample_corpora("trec-web")], Path::new(&at("there")))
        .map(drop)
        .unwrap();
    let told = |arguments: &[&str]| {
        let output = lookalike(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let one = format!(
        "error: there is nothing to read: no file in {} is read\n",
        at("empty")
    );
    for arguments in [
        vec!["run", &at("empty"), "-o", &at("out")],
        vec!["stage", "ingest", &at("empty"), "-o", &at("out")],
        vec!["query", &at("there"), &at("empty")],
        vec![
            "lab",
            "perturb",
            &at("empty"),
            "-o",
            &at("out"),
            "--recipe",
            "cherkasova",
        ],
    ] {
        assert!(told(&arguments).starts_with(&one), "{}", told(&arguments));
    }
    let both = told(&["run", &at("empty"), &at("bare"), "-o", &at("out")]);
    assert!(
        both.contains(&format!("in any of {}, {}", at("empty"), at("bare"))),
        "{both}"
    );
    assert!(both.contains("help: give a file, or a directory"), "{both}");
    assert!(!Path::new(&at("out")).exists());
}

/// `run --precision` on a small collection took all shingles without a word.
#[test]
fn a_plan_that_saves_nothing_says_so() {
    let directory = crate::common::temporary();
    let out = directory.path().join("out");
    let (out, input) = (out.to_str().unwrap(), sample_corpora("trec-web"));
    let input = input.to_str().unwrap();
    // Made, and taken from the manifest the second time.
    for _ in 0..2 {
        let output = lookalike(&["run", input, "-o", out, "--precision", "0.85"]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{told}");
        let warning = told
            .lines()
            .find(|line| line.starts_with("warning: the plan takes "));
        let warning = warning.unwrap_or_else(|| panic!("{told}"));
        assert!(warning.contains("100.0 % of the shingles"), "{warning}");
        assert!(warning.contains("too few pairs in the subset"), "{warning}");
    }
    let help = lookalike(&["plan", "--help"]).stdout;
    let help = String::from_utf8(help).unwrap().replace(['\n', ' '], "");
    assert!(
        help.contains("10%ofthedocumentshaveabout1%ofthepairs") && !help.contains("drawntogether")
    );
}

/// One permutation has a precision of .02 at .85 on short documents, and did not warn.
#[test]
fn one_permutation_warns() {
    let directory = crate::common::temporary();
    let out = directory.path().join("out");
    let input = sample_corpora("trec-web");
    drop(Run::default().keep_text().ingest(&[&input], &out).unwrap());
    let out = out.to_str().unwrap();
    for (spec, warns) in [("minhash:one-permutation=true", true), ("minhash", false)] {
        let output = lookalike(&["lab", "method", spec, out]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{told}");
        let line = format!("warning: {spec}: documents with fewer shingles than bins (128)");
        assert_eq!(told.contains(&line), warns, "{told}");
    }
    let page = lookalike(&["lab", "method", "minhash"]).stdout;
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("pairs that have little in common"), "{page}");
}

/// A directory of three documents, of which the first two are nearly equal.
fn three_documents(place: &Path) -> PathBuf {
    documents_from(place, 0)
}

/// The same with other words.
fn documents_from(place: &Path, first: u32) -> PathBuf {
    let (input, out) = (place.join("in.jsonl"), place.join("out"));
    let words = |from: u32, to: u32| -> String {
        let words = first + from..first + to;
        words.map(|word| format!("w{word} ")).collect()
    };
    let texts = [words(0, 60), words(1, 60), words(500, 560)];
    let line = |text: &String| format!("{{\"text\":\"{text}\"}}\n");
    fs::write(&input, texts.iter().map(line).collect::<String>()).unwrap();
    Run::default()
        .threshold("0.5")
        .run(&[&input], &out)
        .unwrap();
    out
}

/// Opens a directory, changes its manifest, and commits that.
fn forge(out: &Path, change: impl FnOnce(&mut Workspace)) {
    let mut workspace = pipeline::open(out).unwrap();
    change(&mut workspace);
    workspace.manifest.remove::<ResultsEntry>();
    workspace.commit(&["pairs", "catalogue"]).unwrap();
}

/// The first error of `verify`.
fn verified(out: &Path, what: &str) -> String {
    match verify(out).unwrap().errors.first() {
        Some(error) => error.to_string(),
        None => panic!("{what} is not found"),
    }
}

/// Documents that do not exist were indexes beyond a column, and more shared fingerprints than a
/// set has were believed.
#[test]
fn pairs_that_no_join_writes_are_refused() {
    let place = common::temporary();
    let out = three_documents(place.path());
    assert!(verify(&out).unwrap().errors.is_empty());
    let documents = "two of 3 documents";
    let pairs = [
        ((u32::MAX, u32::MAX), 1, documents),
        ((0, 3), 40, documents),
        ((1, 0), 40, documents),
        ((0, 0), 40, documents),
        ((0, 1), u32::MAX, "the size of the smaller set"),
        ((0, 1), 3, "at least the threshold 0.5"),
    ];
    for (number, ((a, b), shared, says)) in (7..).zip(pairs) {
        let what = format!("({a}, {b}) with {shared}");
        forge(&out, |workspace| {
            let (directory, digest) = (workspace.path("pairs"), workspace.manifest.parameters());
            let how = None;
            let part = RunWriter::of(&directory, Header::new(Kind::Pairs, digest, number, 8), how);
            let mut part = part.unwrap();
            let (key, value) = (Pair::key(a, b), shared);
            part.push(Record { key, value }).unwrap();
            let pairs = workspace.manifest.get_mut::<PairsEntry>().unwrap();
            pairs.part = part.finish().unwrap();
        });
        let stop = Stop::default();
        let context = Run::default().context(&stop, &Silent);
        let mut workspace = pipeline::open(&out).unwrap();
        let error = pipeline::cluster(&mut workspace, &context).unwrap_err();
        drop(workspace);
        for error in [error.to_string(), verified(&out, &what)] {
            let part = format!("{number:06}.pairs");
            assert!(
                error.contains(says) && error.contains(&part),
                "{what}: {error}"
            );
        }
    }
}

/// A segment of seven million documents in a collection of fourteen made `join` panic.
#[test]
fn the_parts_of_a_directory_have_the_same_documents() {
    let place = common::temporary();
    let out = three_documents(place.path());
    type Change = fn(&mut Manifest);
    let changes: [(&str, Change); 4] = [
        ("catalogue", |manifest| {
            manifest
                .get_mut::<CatalogueEntry>()
                .unwrap()
                .stats
                .documents += 1;
        }),
        ("sample", |manifest| {
            manifest.get_mut::<SampleEntry>().unwrap().sizes[0].records -= 1;
        }),
        ("in a segment", |manifest| {
            segments_mut(manifest)[0].documents.records = 7_000_000;
        }),
        ("from number 1", |manifest| {
            segments_mut(manifest)[0].first_document = 1
        }),
    ];
    for (says, change) in changes {
        let mut workspace = pipeline::open(&out).unwrap();
        let before = workspace.manifest.clone();
        change(&mut workspace.manifest);
        workspace.commit(&[]).unwrap();
        let error = pipeline::look(&out).unwrap_err().to_string();
        assert!(
            error.contains("3 documents") || error.contains("0 documents"),
            "{error}"
        );
        assert!(
            error.contains(says) && error.contains("manifest.json"),
            "{says}: {error}"
        );
        workspace.manifest = before;
        workspace.commit(&[]).unwrap();
    }
}

/// `verify` found nothing in columns that disagree with the documents.
#[test]
fn columns_say_what_the_documents_can_have() {
    let place = common::temporary();
    let out = three_documents(place.path());
    fn catalogue(manifest: &mut Manifest) -> &mut CatalogueEntry {
        manifest.get_mut().unwrap()
    }
    type Place = fn(&mut Manifest) -> &mut PartInfo;
    let columns: [(&str, Place, [u32; 3], &str); 3] = [
        (
            "sample",
            |of| &mut of.get_mut::<SampleEntry>().unwrap().sizes[0],
            [51, 50, 52],
            "size of the sample of document 2",
        ),
        (
            "catalogue",
            |of| &mut catalogue(of).first.representatives,
            [0, 0, 1],
            "represents itself",
        ),
        (
            "catalogue",
            |of| &mut catalogue(of).first.stored,
            [u32::MAX; 3],
            "stored fingerprints of document 0",
        ),
    ];
    for (number, (directory, place, numbers, says)) in (70..).zip(columns) {
        forge(&out, |workspace| {
            let header = Header {
                kind: Kind::Column,
                version: VERSION,
                parameters: workspace.manifest.parameters(),
                number,
                key_bytes: 4,
            };
            let mut part = PartWriter::create(&workspace.path(directory), &header).unwrap();
            for number in numbers {
                part.put(&number.to_le_bytes()).unwrap();
            }
            *place(&mut workspace.manifest) = part.finish(3, 0, 0).unwrap();
        });
        let error = verified(&out, says);
        assert!(error.contains(says), "{error}");
        if directory == "sample" {
            // It is refused where it is read, too.
            let workspace = pipeline::open(&out).unwrap();
            let read = Sampled::load(&workspace).unwrap_err().to_string();
            assert_eq!(read, error);
        }
    }
}

/// `verify` and `inspect` unpacked a block of any size.
#[test]
fn who_reads_a_part_keeps_to_the_memory() {
    let place = common::temporary();
    let out = three_documents(place.path());
    let mut name = String::new();
    forge(&out, |workspace| {
        let header = Header {
            kind: Kind::Documents,
            version: Kind::Documents.version(),
            parameters: workspace.manifest.parameters(),
            number: 7,
            key_bytes: 0,
        };
        let mut part = PartWriter::create(&workspace.path("collection"), &header).unwrap();
        let head = [3u32, 0].map(u32::to_le_bytes).concat();
        let sizes = [8 << 20, lookalike::store::checksum(&[])];
        part.put(&head).unwrap();
        part.put(&sizes.map(u64::to_le_bytes).concat()).unwrap();
        let made = part.finish(3, 0, 0).unwrap();
        name.clone_from(&made.name);
        segments_mut(&mut workspace.manifest)[0].documents = made;
    });
    // Columns without bits.
    let header = Header {
        kind: Kind::Postings,
        version: VERSION,
        parameters: 0,
        number: 7,
        key_bytes: 8,
    };
    let mut part = PartWriter::create(place.path(), &header).unwrap();
    let head = [1u32, 2 << 20, 0, 0].map(u32::to_le_bytes).concat();
    let sizes = [0, lookalike::store::checksum(&[])];
    part.put(&head).unwrap();
    part.put(&sizes.map(u64::to_le_bytes).concat()).unwrap();
    let postings = place.path().join(part.finish(1, 0, 2 << 20).unwrap().name);
    let part = out.join("collection").join(&name);
    let [out, part, postings] = [&out, &part, &postings].map(|path| path.to_str().unwrap());
    for (command, block) in [
        (["check", "verify", out], "8388608 bytes"),
        (["check", "inspect", part], "8388608 bytes"),
        (["check", "inspect", postings], "2097152 entries"),
    ] {
        let small = format!("--memory 63MiB is too small: a block of {block} in ");
        for (memory, says) in [("64MiB", "block"), ("63MiB", &*small)] {
            let output = lookalike(&[&command[..], &["--memory", memory]].concat());
            let told = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{command:?}: {told}");
            let small = told.contains("too small");
            assert!(
                told.contains(says) && small == (memory == "63MiB"),
                "{told}"
            );
        }
    }
}

/// `verify` found nothing in the facts of an index about other documents.
#[test]
fn facts_of_an_index_are_those_of_the_documents() {
    let places = [common::temporary(), common::temporary()];
    let outs = [0, 1000].map(|first| documents_from(places[(first > 0) as usize].path(), first));
    let stop = Stop::default();
    let context = Run::default().context(&stop, &Silent);
    let indexed = outs.each_ref().map(|out| {
        let mut workspace = pipeline::open(out).unwrap();
        pipeline::index(&mut workspace, None, &context).unwrap();
        workspace.manifest.get::<IndexEntry>().cloned().unwrap()
    });
    assert!(verify(&outs[0]).unwrap().errors.is_empty());
    let theirs = indexed[1].levels[0].facts.clone().unwrap();
    for part in [&theirs.0, &theirs.1] {
        let [to, from] = outs
            .each_ref()
            .map(|out| out.join("index").join(&part.name));
        fs::copy(from, to).unwrap();
    }
    forge(&outs[0], |workspace| {
        let entry = workspace.manifest.get_mut::<IndexEntry>().unwrap();
        entry.levels[0].facts = Some(theirs);
    });
    let error = verified(&outs[0], "facts");
    assert!(error.contains("facts about document 0"), "{error}");
}
