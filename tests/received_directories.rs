//! Directories that someone else made: whatever lies in one, nothing outside of it is changed, and
//! no command hangs. Links, FIFOs and names of the manifest that lead elsewhere are refused.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use common::{copy_directory, one_in, paths};
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::pipeline;
use serde_json::Value;
use tempfile::TempDir;

/// What hangs is killed after this: no command here takes a hundredth of it on an idle machine.
const HANGS: Duration = Duration::from_secs(120);

/// The most KiB of memory with `--memory 300MiB`, or of a command that needs little.
const MOST_PEAK: u64 = (300 + 64) << 10;

fn start(place: &Path, arguments: &[&str]) -> Output {
    start_measured(place, arguments).0
}

/// The same, with the most KiB of memory that it had when it was looked at.
fn start_measured(place: &Path, arguments: &[&str]) -> (Output, u64) {
    let child = Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .current_dir(place)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    common::ended(child.unwrap(), HANGS, &arguments.join(" "))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn done(place: &Path, arguments: &[&str]) -> Output {
    let output = start(place, arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {:?}: {}",
        output.status,
        said(&output)
    );
    output
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// The commands of a directory `d`, with the arguments that make it what [`finished`] is.
fn commands() -> BTreeMap<&'static str, Vec<&'static str>> {
    let lines = [
        ("report", "report d"),
        ("join", "stage join d --threshold 0.5 --spill always"),
        ("cluster", "stage cluster d"),
        ("query", "query d in.jsonl --threshold 0.5"),
        ("graph", "export graph d -o d/graph.dot"),
        ("plan", "plan d --ratios 1/2"),
        ("study", "lab study d --ratios 1/2 --thresholds 0.5"),
        ("run", "run in.jsonl --keep-text --threshold 0.5 -o d"),
        ("ingest", "stage ingest in.jsonl --keep-text -o d"),
        ("method", "lab method super-shingles d"),
        (
            "compare",
            "lab compare d --methods super-shingles --truth super-shingles",
        ),
        ("status", "status d"),
        ("verify", "check verify d"),
        ("index", "stage index d"),
        ("add", "add d new.jsonl"),
        ("against", "run new.jsonl --against d --threshold 0.5 -o m"),
        ("verify-method", "check verify d/methods/super-shingles"),
        ("evaluate", "evaluate d --truth d"),
        ("qrels", "lab qrels qrels.txt --clusters d"),
    ];
    lines.map(|(name, line)| (name, words(line))).into()
}

/// The order in which they make what a directory can hold.
const MAKE: [&str; 10] = [
    "ingest", "join", "cluster", "index", "plan", "study", "method", "compare", "report", "graph",
];

/// Names that would be taken for scrap of ours, and others.
const THEIRS: [&str; 6] = [
    "bashrc",
    "999999.run",
    "999999.pairs.tmp",
    "000000.docs",
    "sub/deeper/000001.col",
    "lock",
];

/// Inputs and an empty `v` beside no directory yet.
fn inputs(place: &Path) {
    let words = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";
    let mut lines = String::new();
    for i in 0..12 {
        let text = format!(
            "{words} {} {}",
            i / 2,
            if i % 3 == 0 { "more" } else { "less" }
        );
        lines += &format!("{{\"id\":\"D{i}\",\"text\":\"{text}\"}}\n");
    }
    fs::write(place.join("in.jsonl"), lines).unwrap();
    let new = format!("{{\"id\":\"N\",\"text\":\"{words} 1 new\"}}\n");
    fs::write(place.join("new.jsonl"), new).unwrap();
    fs::write(place.join("qrels.txt"), "301 0 D0 1\n301 0 D1 0\n").unwrap();
    for name in THEIRS {
        let path = place.join("v").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{name} of somebody else\n")).unwrap();
    }
}

/// A place with `in.jsonl`, `d`, a directory that every command has been at, and `v` beside it.
fn finished() -> TempDir {
    static MADE: OnceLock<TempDir> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let place = crate::common::temporary();
        inputs(place.path());
        for name in MAKE {
            done(place.path(), &commands()[name]);
        }
        place
    });
    let place = crate::common::temporary();
    // With the same times: an input that is newer has changed.
    for name in ["in.jsonl", "new.jsonl", "qrels.txt"] {
        let (from, to) = (made.path().join(name), place.path().join(name));
        fs::copy(&from, &to).unwrap();
        let modified = fs::metadata(from).unwrap().modified().unwrap();
        fs::File::options()
            .write(true)
            .open(to)
            .unwrap()
            .set_modified(modified)
            .unwrap();
    }
    for name in ["d", "v"] {
        copy_directory(&made.path().join(name), &place.path().join(name));
    }
    place
}

/// Everything below a directory: files with their content, links with their targets.
fn held(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut held = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let content = match fs::symlink_metadata(&path).unwrap().file_type() {
            kind if kind.is_dir() => {
                held.extend(self::held(&path));
                b"a directory".to_vec()
            }
            kind if kind.is_file() => fs::read(&path).unwrap(),
            kind => format!("{kind:?}").into_bytes(),
        };
        held.insert(path, content);
    }
    held
}

/// Runs a command; `v` must stay as it is, and the end be one of the program's own.
fn harmless(place: &Path, name: &str, what: &str) -> Output {
    let before = held(&place.join("v"));
    let output = start(place, &commands()[name]);
    assert!(
        before == held(&place.join("v")),
        "{name} with {what}: v is not what it was"
    );
    let code = output.status.code();
    assert!(
        matches!(code, Some(0..=2)),
        "{name} with {what}: {code:?}: {}",
        said(&output)
    );
    output
}

/// The same, and it must be refused with these words.
fn refused(place: &Path, name: &str, what: &str, says: &str) {
    let output = harmless(place, name, what);
    assert!(!output.status.success(), "{name} with {what} went on");
    let text = said(&output);
    assert!(text.contains(says), "{name} with {what}: {text}");
    assert!(text.contains("  help: "), "{name} with {what}: {text}");
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Removes a file or a directory with all that is in it.
fn clear(path: &Path) {
    if path.is_dir() && !path.is_symlink() {
        fs::remove_dir_all(path).unwrap();
    } else if fs::symlink_metadata(path).is_ok() {
        fs::remove_file(path).unwrap();
    }
}

/// A link from a place within `d` to `v` beside `d`, or to something in it.
fn link(place: &Path, at: &str, to: &str) {
    let up = "../".repeat(at.split('/').count());
    let path = place.join("d").join(at);
    clear(&path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(format!("{up}{to}"), path).unwrap();
}

/// Everything in the target of a link at `scratch` was removed.
#[test]
fn a_link_at_scratch_empties_nothing() {
    for name in commands().into_keys() {
        let place = finished();
        link(place.path(), "scratch", "v");
        let looks = [
            "status",
            "verify",
            "verify-method",
            "evaluate",
            "qrels",
            "query",
            "graph",
            "against",
        ];
        if looks.contains(&name) {
            harmless(place.path(), name, "a link at scratch");
        } else {
            let says = "d/scratch is a symbolic link, expected a directory";
            refused(place.path(), name, "a link at scratch", says);
        }
        // Without the link it goes on.
        fs::remove_file(place.path().join("d/scratch")).unwrap();
        done(place.path(), &commands()[name]);
    }
}

/// Every directory that the program makes in an output directory.
fn directories(place: &Path) -> BTreeSet<String> {
    let out = place.join("d");
    let mut found = BTreeSet::new();
    let mut waiting = vec![out.clone()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.insert(path.strip_prefix(&out).unwrap().to_str().unwrap().into());
                waiting.push(path);
            }
        }
    }
    // Those that are gone when a command has ended.
    let gone = [
        "plan",
        "plan/truth",
        "plan/trial",
        "plan/subset",
        "study/truth",
        "study/trial",
    ];
    found.extend(gone.map(String::from));
    found
}

/// Files in the targets of links at directories for parts were removed as scrap or written over.
#[test]
fn links_at_directories_lead_nowhere() {
    let all = directories(finished().path());
    for name in [
        "runs",
        "study/trials",
        "compare",
        "methods",
        "methods/super-shingles/runs",
    ] {
        assert!(all.contains(name), "{name} is not in {all:?}");
    }
    let mut turn = 0;
    for directory in &all {
        let names: &[&str] = match directory.split('/').next().unwrap() {
            "methods" | "compare" => &["method", "compare", "report", "verify"],
            "study" => &["study", "report", "verify", "join"],
            "plan" => &["plan", "study", "verify"],
            _ => &[
                "report", "join", "cluster", "query", "graph", "plan", "study", "run", "method",
                "verify", "index", "add", "against",
            ],
        };
        turn += 1;
        for name in names.iter().skip(turn % one_in(3)).step_by(one_in(3)) {
            let place = finished();
            let target = place.path().join("v/theirs");
            // Once with files of the same names as ours, so that nothing is found missing.
            let original = place.path().join("d").join(directory);
            if original.is_dir() {
                copy_directory(&original, &target);
            }
            link(place.path(), directory, "v/theirs");
            fs::create_dir_all(&target).unwrap();
            fs::write(target.join("999999.run"), "theirs").unwrap();
            fs::write(target.join("trial"), "theirs").unwrap();
            let what = format!("a link at {directory}");
            let output = harmless(place.path(), name, &what);
            let says = format!("d/{directory} is a symbolic link, expected a directory");
            // Some do not come to it; who does says so.
            let text = said(&output);
            assert!(
                output.status.success() || text.contains(&says),
                "{name} with {what}: {text}"
            );
        }
    }
}

/// One file of every kind and place, without the number in its name.
fn files(place: &Path) -> Vec<String> {
    let out = place.join("d");
    let mut kinds = BTreeMap::new();
    for path in paths(&out) {
        let name = path.strip_prefix(&out).unwrap().to_str().unwrap();
        let kind = name.replace(|c: char| c.is_ascii_digit(), "");
        kinds.entry(kind).or_insert_with(|| name.to_string());
    }
    kinds.into_values().collect()
}

/// A command that opened a FIFO waited for ever, and did not end at a SIGTERM.
#[test]
fn a_fifo_makes_nothing_wait() {
    let all = files(finished().path());
    assert!(all.len() > 40, "{all:?}");
    let mut met = BTreeSet::new();
    let all: Vec<String> = all.into_iter().step_by(one_in(3)).collect();
    for (turn, file) in all.iter().enumerate() {
        let names: &[&str] = match file.split('/').next().unwrap() {
            "methods" => &["method", "compare", "verify-method"],
            "study" | "compare" => &["study", "compare", "report", "verify"],
            _ => &[
                "report", "join", "cluster", "query", "verify", "run", "evaluate", "qrels",
                "graph", "add", "against",
            ],
        };
        // Another half of the commands for each file, and the others until one has named it.
        for (asked, at) in (turn..turn + names.len()).enumerate() {
            let name = names[at % names.len()];
            if met.contains(file) && asked > names.len() / 2 / one_in(3) {
                break;
            }
            let place = finished();
            let path = place.path().join("d").join(file);
            clear(&path);
            fifo(&path);
            let what = format!("a FIFO at {file}");
            let output = harmless(place.path(), name, &what);
            let says = format!("d/{file} is a FIFO, expected a regular file");
            if said(&output).contains(&says) {
                met.insert(file.clone());
            } else {
                let refused = said(&output).contains("it is a FIFO in an output directory");
                assert!(
                    output.status.success() || refused,
                    "{name} with {what}: {}",
                    said(&output)
                );
            }
        }
    }
    // What is named in the manifest is checked by one or the other.
    let unmet: Vec<&String> = all.iter().filter(|file| !met.contains(*file)).collect();
    assert!(unmet.is_empty(), "nothing was said of {unmet:?}");
}

/// A device, a socket and a directory are not files either.
#[test]
fn what_is_no_regular_file_is_refused() {
    let place = finished();
    let pairs = place.path().join("d/pairs.tsv");
    fs::remove_file(&pairs).unwrap();
    fs::create_dir(&pairs).unwrap();
    let says = "d/pairs.tsv is a directory, expected a regular file";
    refused(place.path(), "evaluate", "a directory", says);
    fs::remove_dir(&pairs).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(&pairs).unwrap();
    let says = "d/pairs.tsv is a socket, expected a regular file";
    refused(place.path(), "evaluate", "a socket", says);
    fs::remove_file(&pairs).unwrap();
    symlink("/dev/zero", &pairs).unwrap();
    let says = "d/pairs.tsv is a symbolic link, expected a regular file";
    refused(place.path(), "evaluate", "a link to a device", says);
}

/// What was written as `NAME.tmp` went to the target of a link of that name.
#[test]
fn links_at_temporary_names_are_not_written_through() {
    let reference = finished();
    for (what, hard) in [("links", false), ("hard links", true)] {
        let place = finished();
        let (out, target) = (place.path().join("d"), place.path().join("v/bashrc"));
        // All that is made of the inputs, to be made anew.
        clear(&out);
        done(place.path(), &commands()["ingest"]);
        for path in paths(&reference.path().join("d")) {
            let name = path.strip_prefix(reference.path().join("d")).unwrap();
            let mut name = out.join(name).into_os_string();
            name.push(".tmp");
            let path = PathBuf::from(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let made = match hard {
                true => fs::hard_link(&target, &path),
                false => symlink(&target, &path),
            };
            made.unwrap();
        }
        for name in &MAKE[1..] {
            let output = harmless(place.path(), name, what);
            assert!(
                output.status.success(),
                "{name} with {what}: {}",
                said(&output)
            );
        }
        for name in ["pairs.tsv", "report.html", "plan.toml", "study/study.json"] {
            assert!(out.join(name).is_file(), "{what}: {name}");
        }
    }
}

/// The text of a lock was written over what a link of its name led to.
#[test]
fn a_lock_that_is_no_file_of_its_own_is_refused() {
    let says = |what: &str| format!("d/lock is {what}, expected a regular file");
    for name in ["join", "run", "query", "report"] {
        let place = finished();
        link(place.path(), "lock", "v/bashrc");
        refused(
            place.path(),
            name,
            "a link at lock",
            &says("a symbolic link"),
        );
        let lock = place.path().join("d/lock");
        clear(&lock);
        fs::hard_link(place.path().join("v/bashrc"), &lock).unwrap();
        let hard = "a file with another name (a hard link)";
        match name {
            // It only reads, and a copy by hard links is a copy.
            "query" => drop(harmless(place.path(), name, "a hard link at lock")),
            _ => refused(place.path(), name, "a hard link at lock", &says(hard)),
        }
        clear(&lock);
        fifo(&lock);
        refused(place.path(), name, "a FIFO at lock", &says("a FIFO"));
        clear(&lock);
        done(place.path(), &commands()[name]);
    }
    // A corpus of `perturb` has one too.
    let place = finished();
    fs::create_dir(place.path().join("corpus")).unwrap();
    symlink("../v/bashrc", place.path().join("corpus/lock")).unwrap();
    let before = held(&place.path().join("v"));
    let perturb = words("lab perturb in.jsonl -o corpus --recipe cherkasova");
    let output = start(place.path(), &perturb);
    assert!(
        before == held(&place.path().join("v")),
        "perturb wrote to v"
    );
    assert!(
        said(&output).contains("corpus/lock is a symbolic link"),
        "{}",
        said(&output)
    );
}

/// Every name of a file in a manifest, by the path of JSON that leads to it.
fn names_in(value: &Value, at: &str, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            if let (Some(Value::String(name)), Some(_)) =
                (fields.get("name"), fields.get("checksum"))
            {
                found.insert(format!("{at}/name"), name.clone());
            }
            for (key, value) in fields {
                names_in(value, &format!("{at}/{key}"), found);
            }
        }
        Value::Array(values) => {
            for (n, value) in values.iter().enumerate() {
                names_in(value, &format!("{at}/{n}"), found);
            }
        }
        _ => {}
    }
}

fn read_manifest(place: &Path) -> Value {
    manifest_of(&place.join("d"))
}

fn manifest_of(directory: &Path) -> Value {
    let text = fs::read(directory.join("manifest.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// With the checksum that it must have.
fn put_manifest(place: &Path, manifest: &Value) {
    put_manifest_of(&place.join("d"), manifest);
}

fn put_manifest_of(directory: &Path, manifest: &Value) {
    let mut manifest = manifest.clone();
    manifest.as_object_mut().unwrap().remove("checksum");
    let text = serde_json::to_string_pretty(&manifest).unwrap();
    let covered = format!("{},\n  ", text.strip_suffix("\n}").unwrap());
    let sum = lookalike::store::checksum(covered.as_bytes());
    let text = format!("{covered}\"checksum\": \"{sum:016x}\"\n}}\n");
    fs::write(directory.join("manifest.json"), text).unwrap();
}

/// `study` removed what a name in the manifest led to.
#[test]
fn names_that_lead_out_of_the_directory_are_refused() {
    let place = finished();
    let manifest = read_manifest(place.path());
    let mut names = BTreeMap::new();
    names_in(&manifest, "", &mut names);
    assert!(names.len() > 20, "{names:?}");
    let absolute = place.path().join("v/bashrc");
    let elsewhere = [
        "study/../../v/bashrc",
        "../v/bashrc",
        "..",
        ".",
        "",
        "/",
        "study//x",
        "study/",
        "./x",
        "nul\0",
        absolute.to_str().unwrap(),
    ];
    for at in names.keys() {
        let part = !["/others", "/results", "/inputs"]
            .iter()
            .any(|other| at.starts_with(other));
        let more = part.then_some("sub/000000.docs");
        for name in elsewhere.into_iter().chain(more) {
            let mut changed = manifest.clone();
            *changed.pointer_mut(at).unwrap() = name.into();
            put_manifest(place.path(), &changed);
            let error = lookalike::engine::pipeline::look(&place.path().join("d")).unwrap_err();
            let named = place.path().join("d/manifest.json");
            assert!(
                matches!(&error, lookalike::Error::Corrupt { path, .. } if *path == named),
                "{at} {name:?}: {error}"
            );
        }
    }
    for name in ["study", "report", "cluster", "run"] {
        let mut changed = manifest.clone();
        let entry = serde_json::json!({
            "name": "study/../../v/bashrc", "bytes": 1, "checksum": "0000000000000000",
        });
        changed["others"].as_array_mut().unwrap().insert(0, entry);
        put_manifest(place.path(), &changed);
        refused(
            place.path(),
            name,
            "a name in the manifest",
            "d/manifest.json is corrupt",
        );
    }
}

/// `verify` compared the checksum alone.
#[test]
fn a_line_of_the_list_that_is_no_input_is_damage() {
    let place = finished();
    let path = place.path().join("d/inputs.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let mut line: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    // What is no path, and an address that nobody may print.
    for path_of in [
        serde_json::json!({}),
        "s3://user:secret@bucket/in.jsonl".into(),
    ] {
        line["path"] = path_of;
        let forged = format!("{line}\n");
        fs::write(&path, &forged).unwrap();
        let mut manifest = read_manifest(place.path());
        let list = manifest.pointer_mut("/inputs/list").unwrap();
        list["bytes"] = forged.len().into();
        let sum = lookalike::store::checksum(forged.as_bytes());
        list["checksum"] = format!("{sum:016x}").into();
        put_manifest(place.path(), &manifest);
        for command in [
            "check verify d",
            "report d -o p.html",
            "dedup --from d -o k",
        ] {
            let output = start(place.path(), &words(command));
            assert!(!output.status.success());
            let text = said(&output);
            assert!(
                text.contains("inputs.jsonl is corrupt at byte 0: line 1"),
                "{text}"
            );
            assert!(!text.contains("secret"), "{text}");
        }
    }
}

/// A tree of its JSON took fifty times its size, and a manifest without the parameters of its
/// collection ended in a panic.
#[test]
fn a_manifest_is_read_in_its_own_size_and_is_whole() {
    let place = finished();
    let mut whole = read_manifest(place.path());
    for without in [Some(Value::Null), None] {
        let mut changed = whole.clone();
        let fields = changed.as_object_mut().unwrap();
        fields.remove("collection");
        fields.extend(without.map(|null| ("collection".into(), null)));
        put_manifest(place.path(), &changed);
        for name in ["run", "ingest", "against", "join", "verify", "status"] {
            refused(
                place.path(),
                name,
                "no collection",
                "missing field `collection`",
            );
        }
    }
    whole.as_object_mut().unwrap().remove("checksum");
    let mut fields = serde_json::to_string(&whole).unwrap();
    fields.pop();
    fields.push_str(&format!(",\"more\":[{}[0]],", "[0],".repeat(900_000)));
    let sum = lookalike::store::checksum(fields.as_bytes());
    let json = format!("{fields}\"checksum\":\"{sum:016x}\"}}\n");
    fs::write(place.path().join("d/manifest.json"), json).unwrap();
    let (output, peak) = start_measured(place.path(), &["status", "d"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(peak < 100 << 10, "{peak} KiB");
}

/// The counts of a catalogue are added up, and `check verify` compares them with the documents.
#[test]
fn counts_of_a_catalogue_are_those_of_its_documents() {
    let place = finished();
    let whole = read_manifest(place.path());
    let stats = "/catalogue/stats";
    let forged = |changes: &[(&str, i64)]| {
        let mut changed = whole.clone();
        for (at, more) in changes {
            let value = changed.pointer_mut(&format!("{stats}/{at}")).unwrap();
            *value = (value.as_u64().unwrap().wrapping_add_signed(*more)).into();
        }
        put_manifest(place.path(), &changed);
    };
    for changes in [
        &[("exact_duplicates", i64::MAX)][..],
        &[("exact_duplicates", 1)],
        &[("groups/0/documents", 1 << 52)],
        &[("groups/0/shingles", 1), ("groups/1/shingles", 1)],
    ] {
        forged(changes);
        for command in ["report d -o p.html", "status d", "check verify d"] {
            let output = start(place.path(), &words(command));
            let text = said(&output);
            assert_eq!(
                output.status.code(),
                Some(1),
                "{command} {changes:?}: {text}"
            );
            assert!(text.contains("d/manifest.json is corrupt"), "{text}");
            assert!(text.contains("put back a copy of the file"), "{text}");
        }
    }
    // What only the documents refute.
    for changes in [
        &[
            ("representatives", -1),
            ("groups/0/documents", -1),
            ("exact_duplicates", 1),
        ][..],
        &[("shingles", 1), ("groups/0/shingles", 1)],
        &[("duplicated", 1)],
    ] {
        forged(changes);
        let output = start(place.path(), &words("check verify d"));
        let text = said(&output);
        assert_eq!(output.status.code(), Some(1), "{changes:?}: {text}");
        assert!(text.contains("counts of the catalogue"), "{text}");
    }
    // What is said to be complete, and lacks parts.
    for (at, empty) in [("/postings/parts", "{}"), ("/sample/sizes", "[]")] {
        let mut changed = whole.clone();
        *changed.pointer_mut(at).unwrap() = serde_json::from_str(empty).unwrap();
        put_manifest(place.path(), &changed);
        for command in [
            "report d -o p.html",
            "check verify d",
            "run --from d -t 0.5",
        ] {
            let text = said(&start(place.path(), &words(command)));
            assert!(
                text.contains("d/manifest.json is corrupt"),
                "{command}: {text}"
            );
        }
    }
    // Inputs behind this number would never be read.
    let mut changed = whole.clone();
    changed["inputs"]["files"] = 7.into();
    put_manifest(place.path(), &changed);
    for command in ["check verify d", "add d new.jsonl"] {
        let text = said(&start(place.path(), &words(command)));
        assert!(
            text.contains("inputs.jsonl is corrupt"),
            "{command}: {text}"
        );
    }
    put_manifest(place.path(), &whole);
    done(place.path(), &words("check verify d"));
}

/// The commands of `m`, which continues `d`.
const OF_COMPARED: [&str; 11] = [
    "check verify m",
    "status m",
    "query m in.jsonl --threshold 0.5",
    "export graph m",
    "report m",
    "stage index m",
    "stage cluster m",
    "stage join m --threshold 0.4",
    "add m in.jsonl",
    "run new.jsonl --against d --threshold 0.4 -o m",
    "dedup --from m -o kept",
];

/// A place with `m`, which was compared with `d`; both have an index.
fn compared() -> TempDir {
    static MADE: OnceLock<TempDir> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let place = crate::common::temporary();
        inputs(place.path());
        for name in ["ingest", "join", "cluster", "index", "against"] {
            done(place.path(), &commands()[name]);
        }
        done(place.path(), &["stage", "index", "m"]);
        place
    });
    let place = crate::common::temporary();
    assert!(
        Command::new("cp")
            .args(["-a", "."])
            .arg(place.path())
            .current_dir(made.path())
            .status()
            .unwrap()
            .success()
    );
    // By its path alone: the other directory is that of this copy.
    let mut manifest = manifest_of(&place.path().join("m"));
    manifest["base"].as_object_mut().unwrap().remove("real");
    put_manifest_of(&place.path().join("m"), &manifest);
    place
}

/// Runs a command over `m`. It changes `m` and what it makes beside it, and nothing else.
fn changes_only_its_own(place: &Path, line: &str, what: &str) -> Output {
    let arguments = words(line);
    let others = |place: &Path| {
        let mut held = held(place);
        let own = ["m", "kept"].map(|name| place.join(name));
        held.retain(|path, _| !own.iter().any(|own| path.starts_with(own)));
        held
    };
    let before = others(place);
    let output = start(place, &arguments);
    let after = others(place);
    let changed: Vec<_> = before
        .iter()
        .filter(|(path, content)| after.get(*path) != Some(content))
        .map(|(path, _)| path)
        .chain(after.keys().filter(|path| !before.contains_key(*path)))
        .collect();
    assert!(changed.is_empty(), "{arguments:?} with {what}: {changed:?}");
    let code = output.status.code();
    let text = said(&output);
    let own = matches!(code, Some(0..=2)) && !text.contains("panicked");
    assert!(own, "{arguments:?} with {what}: {code:?}: {text}");
    let says = ["  help: ", " is not possible: "];
    let says = says.iter().any(|says| text.contains(says));
    let helps = output.status.success() || says || arguments[1] == "verify";
    assert!(helps, "{arguments:?} with {what}: {text}");
    output
}

/// Where the manifest says that the other directory is decides what is read, never what is changed.
#[test]
fn another_directory_is_only_read_wherever_it_is() {
    for arguments in OF_COMPARED {
        let place = compared();
        let output = changes_only_its_own(place.path(), arguments, "nothing changed");
        let goes_on = output.status.success();
        assert!(
            goes_on || arguments.starts_with("add"),
            "{arguments:?}: {}",
            said(&output)
        );
    }
    let elsewhere = [
        "v",
        "..",
        ".",
        "",
        "/",
        "m",
        "./m",
        "d/../m",
        "m/../d",
        "m/../fifos",
        "fifos",
        "links",
        "fifo",
        "in.jsonl",
        "nowhere",
        "/dev/zero",
        "d/collection",
        "m/collection",
        "itself",
        "nul\0",
        "other",
    ];
    let mut turn = 0;
    for to in elsewhere.into_iter().step_by(one_in(2)) {
        for field in ["path", "real"] {
            let place = compared();
            let at = |name: &str| place.path().join(name);
            fifo(&at("fifo"));
            symlink("itself", at("itself")).unwrap();
            // As `d`, with a FIFO or a link in place of every file.
            for name in ["fifos", "links"] {
                copy_directory(&at("d"), &at(name));
                for path in paths(&at(name)) {
                    clear(&path);
                    match name {
                        "fifos" => fifo(&path),
                        _ => symlink(at("v/bashrc"), &path).unwrap(),
                    }
                }
            }
            copy_directory(&at("m"), &at("other"));
            let mut manifest = manifest_of(&at("m"));
            manifest["base"][field] = to.into();
            put_manifest_of(&at("m"), &manifest);
            let few = if field == "path" {
                &OF_COMPARED[..]
            } else {
                &OF_COMPARED[..3]
            };
            turn += 1;
            for arguments in few.iter().skip(turn % one_in(5)).step_by(one_in(5)) {
                let what = format!("{field} {to:?}");
                let output = changes_only_its_own(place.path(), arguments, &what);
                // Nothing of it is believed.
                let real = !to.is_empty() && at(to).is_dir();
                let right = ["m/../d"].contains(&to) || field == "real" && !real;
                let needs = ["verify", "query", "dedup"]
                    .iter()
                    .any(|name| arguments.starts_with(name));
                assert!(
                    right || !needs || !output.status.success(),
                    "{arguments:?} with {what} went on"
                );
            }
        }
    }
}

/// Which parts are the other directory's decides what is read.
#[test]
fn parts_that_are_said_to_be_of_another_directory_are_only_read() {
    let forged = |below: Value| {
        let place = compared();
        let mut manifest = manifest_of(&place.path().join("m"));
        manifest["base"]["below"] = below;
        put_manifest_of(&place.path().join("m"), &manifest);
        place
    };
    let (most, mut turn) = (u32::MAX, 0);
    for below in [
        serde_json::json!({}),
        serde_json::json!({"collection": 0, "index": 0}),
        serde_json::json!({"collection": most}),
        serde_json::json!({"collection": 1, "index": most}),
        serde_json::json!({"collection": 1, "index": 1, "pairs": most}),
        serde_json::json!({"collection": 1, "index": 1, "pairs": 1, "catalogue": most, "runs": most,
            "postings": most, "sample": most, "scratch": most, "..": most, "": 1}),
    ] {
        turn += 1;
        for arguments in OF_COMPARED.iter().skip(turn % one_in(3)).step_by(one_in(3)) {
            let place = forged(below.clone());
            changes_only_its_own(place.path(), arguments, &below.to_string());
        }
    }
    // Every number that the additions, the segments and the levels have.
    let place = compared();
    let whole = manifest_of(&place.path().join("m"));
    let mut numbers = Vec::new();
    for field in ["additions", "against", "segments", "index", "inputs"] {
        if let Some(value) = whole.get(field) {
            numbers_in(value, &format!("/{field}"), &mut numbers);
        }
    }
    assert!(numbers.len() > 20, "{numbers:?}");
    for (turn, at) in numbers.iter().enumerate().step_by(one_in(2)) {
        let all = [0u64, 1, u64::from(u32::MAX), u64::MAX];
        for to in all
            .into_iter()
            .skip(turn / 2 % one_in(4))
            .step_by(one_in(4))
        {
            let place = compared();
            let mut manifest = whole.clone();
            *manifest.pointer_mut(at).unwrap() = to.into();
            put_manifest_of(&place.path().join("m"), &manifest);
            for arguments in [OF_COMPARED[0], OF_COMPARED[2 + turn % 9]] {
                changes_only_its_own(place.path(), arguments, &format!("{at} {to}"));
            }
        }
    }
}

/// Where JSON has numbers.
fn numbers_in(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(at.to_string()),
        Value::Object(fields) => {
            let fields = fields.iter();
            fields.for_each(|(key, value)| numbers_in(value, &format!("{at}/{key}"), found));
        }
        Value::Array(values) => {
            let values = values.iter().enumerate();
            values.for_each(|(n, value)| numbers_in(value, &format!("{at}/{n}"), found));
        }
        _ => {}
    }
}

/// `--against` may name any directory; a directory that is not a collection is refused, and nothing
/// is made.
#[test]
fn what_is_compared_with_must_be_a_collection() {
    let place = compared();
    let at = |name: &str| place.path().join(name);
    fifo(&at("fifo"));
    symlink("itself", at("itself")).unwrap();
    fs::create_dir(at("locked")).unwrap();
    fifo(&at("locked/manifest.json"));
    for old in [
        "v",
        "..",
        ".",
        "m",
        "fifo",
        "in.jsonl",
        "nowhere",
        "/dev/zero",
        "itself",
        "locked",
        "new",
    ] {
        let arguments = [
            "run",
            "new.jsonl",
            "--against",
            old,
            "--threshold",
            "0.5",
            "-o",
            "new",
        ];
        let before = held(place.path());
        let output = start(place.path(), &arguments);
        assert!(held(place.path()) == before, "{old}: something has changed");
        let text = said(&output);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{old}: {text}");
        assert!(
            text.contains("  help: ") || text.contains("--against"),
            "{old}: {text}"
        );
    }
    // Beside the one that it is compared with, and in it.
    for (new, old) in [
        ("d", "d"),
        ("d/../d", "d"),
        ("d/collection", "d"),
        ("v", "d"),
    ] {
        let arguments = [
            "run",
            "new.jsonl",
            "--against",
            old,
            "--threshold",
            "0.5",
            "-o",
            new,
        ];
        let before = held(place.path());
        let output = start(place.path(), &arguments);
        let mut now = held(place.path());
        now.insert(at("d/lock"), before[&at("d/lock")].clone());
        assert!(now == before, "{new}: something has changed");
        assert!(!output.status.success(), "{new}: {}", said(&output));
    }
}

/// A user may name an output directory by a link, and what lies beside the program's files is the
/// user's.
#[test]
fn the_directory_itself_may_be_a_link() {
    let place = finished();
    fs::rename(place.path().join("d"), place.path().join("elsewhere")).unwrap();
    symlink("elsewhere", place.path().join("d")).unwrap();
    symlink("../v", place.path().join("elsewhere/mine")).unwrap();
    // With another input, `run` is not the same any more.
    let names = commands().into_keys().filter(|name| *name != "add");
    for name in names.chain(["add", "method", "report"]) {
        let output = harmless(place.path(), name, "a link to the directory");
        assert!(output.status.success(), "{name}: {}", said(&output));
    }
    assert!(place.path().join("d/mine").is_symlink());
    assert_eq!(
        place.path().join("elsewhere").file_name(),
        Some(OsStr::new("elsewhere"))
    );
}

/// Outputs that would replace what must stay, as arguments of `-o`, and what lies at each of them.
fn not_to_be_replaced(place: &Path) -> Vec<&'static str> {
    let linked = |to: &str, at: &str| symlink(place.join(to), place.join(at)).unwrap();
    linked("in.jsonl", "link-to-an-input");
    linked("d/manifest.json", "link-to-the-manifest");
    fs::hard_link(place.join("in.jsonl"), place.join("another-name.jsonl")).unwrap();
    fs::hard_link(
        place.join("d/collection/000000.docs"),
        place.join("another-name.docs"),
    )
    .unwrap();
    symlink("d", place.join("by-a-link")).unwrap();
    vec![
        "in.jsonl",
        "./v/../in.jsonl",
        "link-to-an-input",
        "another-name.jsonl",
        "link-to-the-manifest",
        "another-name.docs",
        "d/manifest.json",
        "d/../d/manifest.json",
        "by-a-link/manifest.json",
        "d/inputs.jsonl",
        "d/lock",
        "d/pairs.tsv",
        "d/rejects.jsonl",
        "d/summary.json",
        "d/collection/000000.docs",
        "d/runs/new.run",
        "d/study/study.json",
        "d/study/trials/1-2-0.json",
        "d/compare/compare.html",
        "d/methods/super-shingles/manifest.json",
        "d/methods/super-shingles/pairs/000000.pairs",
    ]
}

/// `report d -o d/manifest.json`, or an input, replaced it and ended with status 0.
#[test]
fn an_output_replaces_no_input_and_nothing_of_a_directory() {
    let report: &[&str] = &["report", "d"];
    let graph: &[&str] = &["export", "graph", "d"];
    let plan: &[&str] = &["plan", "d", "--ratios", "1/2"];
    let of_others = [
        (report, "d/report.html", ["d/plan.toml", "d/graph.dot"]),
        (graph, "d/graph.dot", ["d/plan.toml", "d/report.html"]),
        (plan, "d/plan.toml", ["d/report.html", "d/graph.dot"]),
    ];
    for (command, own, others) in of_others {
        let place = finished();
        let mut outputs = not_to_be_replaced(place.path());
        outputs.extend(others);
        let before = held(place.path());
        for output in outputs {
            let arguments: Vec<&str> = command.iter().copied().chain(["-o", output]).collect();
            let refused = start(place.path(), &arguments);
            assert_eq!(
                refused.status.code(),
                Some(2),
                "{arguments:?}: {}",
                said(&refused)
            );
            let words = format!("error: --output {output} is not possible: it is ");
            assert!(
                said(&refused).contains(&words),
                "{arguments:?}: {}",
                said(&refused)
            );
            let mut now = held(place.path());
            // Only the lock says who was there last.
            for name in ["d/lock", "d/methods/super-shingles/lock"] {
                now.insert(
                    place.path().join(name),
                    before[&place.path().join(name)].clone(),
                );
            }
            assert!(now == before, "{arguments:?}: something has changed");
        }
        // What it is there to write, and what is nobody's, it writes, also into an empty file.
        fs::write(place.path().join("mine"), "").unwrap();
        for output in [own, "by-a-link/mine", "mine", "d/../new", "d/mine"] {
            let arguments: Vec<&str> = command.iter().copied().chain(["-o", output]).collect();
            done(place.path(), &arguments);
        }
        assert!(
            done(place.path(), &["check", "verify", "d"])
                .status
                .success()
        );
    }
}

/// A file aside, `FILE.tmp`, is written and renamed: an input of that name was gone.
#[test]
fn an_input_that_is_called_like_a_temporary_file_stays() {
    let place = finished();
    let input = place.path().join("page.tmp");
    fs::copy(place.path().join("in.jsonl"), &input).unwrap();
    done(
        place.path(),
        &["run", "page.tmp", "--format", "jsonl", "-q", "-o", "other"],
    );
    let output = start(place.path(), &["report", "other", "-o", "page"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(input.exists());
}

/// Files with fixed names in a directory that the user names.
#[test]
fn a_directory_of_outputs_replaces_nothing_that_is_read() {
    let place = finished();
    let refused = |arguments: &[&str]| {
        let before = held(place.path());
        let output = start(place.path(), arguments);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{arguments:?}: {}",
            said(&output)
        );
        assert!(said(&output).contains("--output "), "{}", said(&output));
        assert!(
            held(place.path()) == before,
            "{arguments:?}: something has changed"
        );
    };
    fs::create_dir(place.path().join("thin")).unwrap();
    let qrels = ["lab", "qrels", "qrels.txt", "--clusters", "d", "-o", "thin"];
    for name in ["qrels", "contradictions.jsonl"] {
        let at = place.path().join("thin").join(name);
        symlink("../qrels.txt", &at).unwrap();
        refused(&qrels);
        fs::remove_file(&at).unwrap();
        fs::hard_link(place.path().join("d/clusters.jsonl"), &at).unwrap();
        refused(&qrels);
        fs::remove_file(&at).unwrap();
    }
    done(place.path(), &qrels);
    let perturb = words("lab perturb in.jsonl -o corpus --recipe cherkasova --edits 1");
    fs::create_dir(place.path().join("corpus")).unwrap();
    fs::hard_link(
        place.path().join("in.jsonl"),
        place.path().join("corpus/copies.jsonl"),
    )
    .unwrap();
    refused(&perturb);
    refused(&words(
        "lab perturb corpus/copies.jsonl -o corpus --recipe cherkasova",
    ));
    fs::remove_file(place.path().join("corpus/copies.jsonl")).unwrap();
    done(place.path(), &perturb);
    fs::write(place.path().join("d/compare/edits.jsonl"), "").unwrap();
    let edits = words(
        "lab compare d --methods super-shingles --truth super-shingles --edits d/compare/edits.jsonl",
    );
    let output = start(place.path(), &edits);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

/// Sorts go where `--scratch` says, make the same bytes, and leave nothing; what else lies there
/// stays.
#[test]
fn sorts_in_another_directory_change_no_byte() {
    let place = finished();
    let scratch = place.path().join("fast");
    fs::create_dir(&scratch).unwrap();
    fs::write(scratch.join("lookalike-theirs"), "theirs").unwrap();
    let run = |out: &str, more: &[&str]| {
        let arguments = ["run", "in.jsonl", "--threshold", "0.5", "-q", "-o", out];
        let arguments: Vec<&str> = arguments.into_iter().chain(more.iter().copied()).collect();
        start(place.path(), &arguments)
    };
    assert!(run("a", &[]).status.success());
    let output = run("b", &["--scratch", "fast"]);
    assert!(output.status.success(), "{}", said(&output));
    let (a, b) = (place.path().join("a"), place.path().join("b"));
    common::assert_same_files(&common::lasting(&b), &common::lasting(&a), "with --scratch");
    for name in commands().into_keys() {
        if [
            "report",
            "graph",
            "status",
            "verify",
            "verify-method",
            "evaluate",
            "qrels",
            // `run` would have to be given the new input from here on.
            "add",
        ]
        .contains(&name)
        {
            continue;
        }
        let mut arguments = commands()[name].clone();
        let at = arguments
            .iter()
            .position(|argument| argument.starts_with("--"));
        let at = at.unwrap_or(arguments.len());
        arguments.splice(at..at, ["--scratch", "fast"]);
        done(place.path(), &arguments);
    }
    let left: Vec<_> = held(&scratch).into_keys().collect();
    assert_eq!(left, [scratch.join("lookalike-theirs")]);
    // That it is used is seen where it cannot be.
    let output = run("c", &["--scratch", "nowhere"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(
        said(&output).contains("--scratch nowhere is not possible"),
        "{}",
        said(&output)
    );
}

/// Names of documents on standard output command no terminal, in any form.
#[test]
fn names_command_no_terminal() {
    let place = crate::common::temporary();
    let name = r"\u001b[2J\u009b2J\u007f\\x1b";
    let text = "one two three four five six seven eight nine ten eleven twelve";
    let lines: String = [1, 2]
        .map(|n| format!("{{\"id\":\"{name}{n}\",\"text\":\"{text} {n}\"}}\n"))
        .concat();
    fs::write(place.path().join("in.jsonl"), lines).unwrap();
    let run = ["run", "in.jsonl", "--threshold", "0.5", "-o", "d"];
    done(place.path(), &run);
    let commands: [(&[&str], &str); 7] = [
        (&["query", "d", "in.jsonl"], r"\x1b[2J\xc2\x9b2J\x7f\\x1b1"),
        (
            &["query", "d", "in.jsonl", "--json"],
            r"\u001b[2J\u009b2J\u007f\\x1b1",
        ),
        (
            &["export", "graph", "d"],
            r"\\x1b[2J\\xc2\\x9b2J\\x7f\\x1b1",
        ),
        (
            &["export", "graph", "d", "--format", "graphml"],
            "[2J&#155;2J&#127;\\x1b1",
        ),
        (
            &["export", "graph", "d", "--format", "tsv"],
            r"\x1b[2J\xc2\x9b2J\x7f\\x1b1",
        ),
        (&["check", "inspect", "d/collection/000000.docs"], "2J"),
        (&["check", "inspect", "d/catalogue/000000.names"], "2J"),
    ];
    for (arguments, says) in commands {
        let output = done(place.path(), arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(says), "{arguments:?}: {text:?}");
        let control = |c: char| c.is_control() && c != '\n' && c != '\t';
        assert!(!text.contains(control), "{arguments:?}: {text:?}");
    }
    // What is read back is what it was.
    let pairs = fs::read_to_string(place.path().join("d/pairs.tsv")).unwrap();
    assert!(pairs.contains(r"\x1b[2J\xc2\x9b2J\x7f\\x1b1"), "{pairs:?}");
    let output = done(
        place.path(),
        &["evaluate", "--truth", "d", "d/pairs.tsv", "--json"],
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let measured = &report["pairs"][0]["documents"]["all"];
    assert_eq!(measured["found"], 1, "{report:#}");
    assert_eq!(measured["recall"], 1.0, "{report:#}");
}

/// What a stranger sends names a program: it runs for none of these, unless they name it.
#[test]
fn no_directory_or_plan_chooses_a_program() {
    let place = crate::common::temporary();
    let at = |name: &str| place.path().join(name);
    fs::create_dir(at("in")).unwrap();
    let text: String = (0..60).map(|n| format!("{n} ")).collect();
    for (name, more) in [("in/a.txt", ""), ("in/b.txt", "61"), ("mine.txt", "7")] {
        fs::write(at(name), format!("{text}{more}")).unwrap();
    }
    fs::write(at("mine.md"), format!("{text}8")).unwrap();
    let ran = at("ran");
    let program = format!("txt=sh -c 'touch {}; cat'", ran.display());
    let make: [&[&str]; 4] = [
        &["run", "in", "-o", "d"],
        &["dedup", "in", "-o", "kept"],
        &["tasks", "plan", "in", "--tasks", "1", "-o", "ex"],
        &["run", "in", "-o", "unread", "--keep-text"],
    ];
    for arguments in make {
        done(
            place.path(),
            &[arguments, &["--convert", &program]].concat(),
        );
    }
    // What it refuses or shows, the flag names the program to give.
    let says = "--convert 'txt=sh -c '\\''touch ";
    let (refused, shown) = (true, false);
    let commands: [(&[&str], bool, &str); 15] = [
        (&["status", "d"], shown, ""),
        (&["check", "verify", "d"], shown, ""),
        (&["show", "d", "a.txt"], shown, ""),
        (&["show", "d", "a.txt", "--text"], shown, says),
        (&["show", "unread", "a.txt", "--text"], shown, ""),
        (&["diff", "d", "a.txt", "b.txt"], refused, says),
        (&["query", "d", "mine.txt"], refused, says),
        (&["query", "d", "mine.md"], shown, ""),
        (&["report", "d", "-o", "p.html"], shown, ""),
        (&["report", "kept", "-o", "k.html"], shown, ""),
        (&["passages", "d", "--length", "20"], refused, says),
        (&["add", "d", "mine.txt"], refused, says),
        (&["stage", "join", "d", "--threshold", "0.5"], shown, ""),
        (&["dedup", "--from", "d", "-o", "k2"], shown, ""),
        (&["tasks", "run", "ex", "--task", "0"], refused, says),
    ];
    for (arguments, refused, says) in commands {
        let _ = fs::remove_file(&ran);
        let output = start(place.path(), arguments);
        let text = said(&output) + &String::from_utf8_lossy(&output.stdout);
        assert!(!ran.exists(), "{arguments:?} ran the program: {text}");
        assert_eq!(!output.status.success(), refused, "{arguments:?}: {text}");
        assert!(text.contains(says), "{arguments:?}: {text}");
    }
    for (arguments, refused, _) in commands {
        if refused {
            let _ = fs::remove_file(&ran);
            done(
                place.path(),
                &[arguments, &["--convert", &program]].concat(),
            );
            assert!(ran.exists(), "{arguments:?}");
        }
    }
}

/// The file of the rows of a task of one place, with other rows, followed by zeros up to a length,
/// and with other facts, and the checksum that these must have.
fn forge(path: &Path, rows: Option<(&[u8], u64)>, change: impl Fn(&mut Value)) {
    const FOOTER: usize = 56;
    const HEAD: &[u8] = b"lookalike-rows 1\n";
    let bytes = fs::read(path).unwrap();
    let foot = &bytes[bytes.len() - FOOTER..];
    let number = |at: usize| u64::from_le_bytes(foot[at..at + 8].try_into().unwrap()) as usize;
    let (mut begin, length) = (number(0), number(8));
    let mut facts: Value = serde_json::from_slice(&bytes[begin..begin + length]).unwrap();
    change(&mut facts);
    let mut end = serde_json::to_vec(&facts).unwrap();
    let length = (end.len() as u64).to_le_bytes();
    end.extend(&bytes[begin + number(8)..bytes.len() - FOOTER]);
    let mut whole = bytes[..begin].to_vec();
    if let Some((rows, of)) = rows {
        let at = end.len() - 24;
        end[at + 8..at + 16].copy_from_slice(&of.to_le_bytes());
        whole = [HEAD, rows].concat();
        begin = HEAD.len() + of as usize;
    }
    end.extend((begin as u64).to_le_bytes());
    end.extend(length);
    end.extend(&foot[16..FOOTER - 8]);
    end.extend(lookalike::store::checksum(&end).to_le_bytes());
    fs::write(path, whole).unwrap();
    let mut file = fs::File::options().write(true).open(path).unwrap();
    file.set_len(begin as u64).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    file.write_all(&end).unwrap();
}

/// An exchange whose tasks are done, beside `v`.
fn exchange(more: &[&str]) -> TempDir {
    let place = crate::common::temporary();
    inputs(place.path());
    let plan = words("tasks plan in.jsonl --tasks 1 -o ex --keep-text");
    done(place.path(), &[&plan, more].concat());
    for task in ["0", "1", "2", "3", "4", "5", "6", "7"] {
        done(place.path(), &["tasks", "run", "ex", "--task", task]);
    }
    place
}

/// `tasks finish` replaced a file that the rows of a task named, and passed counts on.
#[test]
fn facts_of_tasks_name_their_own_parts_and_count_what_is_there() {
    let parts = ["documents", "fingerprints", "rejects", "text"];
    let names = [
        "../../v/bashrc",
        "../v/bashrc",
        "/etc/hostname",
        "..",
        "",
        "bashrc",
        "000000.run",
        "0.docs",
        "000000.docs\0",
        "\u{1b}[2J.docs",
    ];
    for more in [&[][..], &["--pairs-only"]] {
        let place = exchange(more);
        let path = place.path().join("ex/1-read/00000.rows");
        let (good, before) = (fs::read(&path).unwrap(), held(&place.path().join("v")));
        let large = 1u64 << 63;
        let of_parts = parts.iter().flat_map(|part| {
            let at = format!("/segments/0/{part}");
            let names = names.map(|name| (format!("{at}/name"), Value::from(name)));
            let counts = ["bytes", "records"].map(|field| (format!("{at}/{field}"), large.into()));
            names.into_iter().chain(counts)
        });
        let counts = ["/documents", "/largest", "/segments/0/stats/documents"];
        let counts = counts.map(|at| (at.to_string(), Value::from(large)));
        let wrong = [("/documents".to_string(), Value::from(99))];
        for (at, value) in of_parts.chain(counts).chain(wrong) {
            fs::write(&path, &good).unwrap();
            let mut there = false;
            forge(&path, None, |facts| {
                if let Some(field) = facts.pointer_mut(&at) {
                    *field = value.clone();
                }
            });
            there |= fs::read(&path).unwrap() != good;
            if !there {
                // With --pairs-only, there is no text.
                assert!(at.contains("/text/"), "{at}");
                continue;
            }
            let output = start(place.path(), &["tasks", "finish", "ex", "-o", "out"]);
            let text = said(&output);
            assert_eq!(output.status.code(), Some(1), "{at} {value}: {text}");
            assert!(
                text.contains("00000.rows is corrupt"),
                "{at} {value}: {text}"
            );
            assert!(!text.contains('\u{1b}'), "{text:?}");
            assert!(before == held(&place.path().join("v")), "{at} {value}");
        }
        fs::write(&path, &good).unwrap();
        done(place.path(), &["tasks", "finish", "ex", "-o", "out"]);
    }
}

/// A plan may say anything of the number of its inputs.
#[test]
fn a_plan_counts_what_can_be() {
    let place = exchange(&[]);
    let path = place.path().join("ex/plan.json");
    let good: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for at in ["/inputs", "/skipped/hidden", "/skipped/excluded"] {
        let mut plan = good.clone();
        *plan.pointer_mut(at).unwrap() = (1u64 << 63).into();
        fs::write(&path, serde_json::to_vec(&plan).unwrap()).unwrap();
        for command in ["status ex", "run ex --task 0", "finish ex -o out"] {
            let output = start(place.path(), &words(&format!("tasks {command}")));
            let text = said(&output);
            assert_eq!(output.status.code(), Some(1), "{at} {command}: {text}");
            let says = "plan.json is corrupt";
            assert!(text.contains(says), "{at} {command}: {text}");
        }
    }
}

/// What is opened to read it, because a stranger's file names it, is not changed by mistake.
#[test]
fn a_directory_that_is_opened_to_read_it_refuses_to_change() {
    let place = finished();
    let out = place.path().join("d");
    let stop = Stop::default();
    let context = common::Run::default().context(&stop, &Silent);
    let mut workspace = pipeline::open_shared(&out, &context).unwrap();
    let before = held(&out);
    assert!(workspace.commit(&[]).is_err());
    assert!(workspace.put_other("plan.toml", b"theirs").is_err());
    let scratch = workspace.scratch(&context).unwrap();
    assert!(!scratch.path().starts_with(&out));
    assert!(held(&out) == before);
}

/// Sparse files cost their sender nothing: whatever the memory, they were read whole.
#[test]
fn no_file_is_read_that_is_longer_than_what_it_describes() {
    const SIZE: u64 = 3 << 30;
    let place = exchange(&[]);
    let make: [&[&str]; 2] = [
        &["run", "in.jsonl", "-o", "d"],
        &["dedup", "in.jsonl", "-o", "kept", "--removed", "removed"],
    ];
    for arguments in make {
        done(place.path(), arguments);
    }
    let continued = ["dedup", "in.jsonl", "-o", "kept", "--removed", "removed"];
    let commands: [(&str, &[&str]); 13] = [
        ("d/manifest.json", &["check", "verify", "d"]),
        ("d/manifest.json", &["status", "d"]),
        ("d/manifest.json", &["report", "d", "-o", "p.html"]),
        ("d/inputs.jsonl", &["check", "verify", "d"]),
        ("d/inputs.jsonl", &["report", "d", "-o", "p.html"]),
        ("kept/.lookalike/dedup.json", &["report", "kept"]),
        ("kept/.lookalike/dedup.json", &continued),
        ("kept/.lookalike/source.json", &["report", "kept"]),
        ("kept/.lookalike/files.jsonl", &continued),
        ("ex/plan.json", &["tasks", "status", "ex"]),
        ("ex/inputs.jsonl", &["tasks", "finish", "ex", "-o", "o"]),
        (
            "ex/1-read/00000.rows",
            &["tasks", "finish", "ex", "-o", "o"],
        ),
        (
            "ex/collection/000000.docs",
            &["tasks", "finish", "ex", "-o", "o"],
        ),
    ];
    for (name, arguments) in commands {
        let path = place.path().join(name);
        let good = fs::read(&path).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_len(SIZE).unwrap();
        let (output, peak) = start_measured(place.path(), arguments);
        let text = said(&output);
        assert!(!output.status.success(), "{name} {arguments:?}");
        let file = path.file_name().unwrap().to_str().unwrap();
        assert!(
            text.contains(file) && text.contains("  help: "),
            "{name} {arguments:?}: {text}"
        );
        assert!(peak < MOST_PEAK, "{name} {arguments:?}: {peak} KiB");
        // Nor is it copied.
        let copy = place.path().join("o/collection/000000.docs");
        assert!(!copy.exists(), "{name}");
        fs::write(&path, good).unwrap();
    }
    // Facts of a gibibyte are refused by their length.
    let path = place.path().join("ex/1-read/00000.rows");
    forge(&path, None, |facts| {
        facts["segments"][0]["later"] = "x".repeat(17 << 20).into()
    });
    let text = said(&start(place.path(), &["tasks", "finish", "ex", "-o", "o"]));
    assert!(text.contains("facts of at most"), "{text}");
}

/// A number of 7 bits a byte.
fn number(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 128 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A row of a few bytes became gibibytes, and a long one was read whole: `--memory` bounds both.
#[test]
fn rows_of_tasks_keep_to_the_memory() {
    let place = exchange(&[]);
    let long = (1u64 << 30) - 64;
    let large = number(1 << 40);
    let pairs = [&number(2048)[..], &number(32), &[0; 32]].concat();
    let run = |task| vec!["tasks", "run", "ex", "--task", task, "--memory", "300MiB"];
    let finish = vec!["tasks", "finish", "ex", "-o", "o", "--memory", "300MiB"];
    // The first bytes of a row, its length, who wrote it, and who reads it.
    let cases = [
        (vec![], long, "1-read", run("1")),
        (vec![], long, "8-results", finish),
        ([&[1, 0][..], &large, &[0]].concat(), 0, "1-read", run("1")),
        (
            [&[3, 0, 0][..], &large, &[0]].concat(),
            0,
            "3-classes",
            run("3"),
        ),
        (
            [&[6][..], &pairs.repeat(40_000)].concat(),
            0,
            "7-verify",
            run("7"),
        ),
        ([&[7][..], &large, &[0]].concat(), 0, "7-verify", run("7")),
        (vec![8], 100 << 20, "7-verify", run("7")),
    ];
    for (row, length, step, arguments) in cases {
        let path = place.path().join("ex").join(step).join("00000.rows");
        let (good, length) = (fs::read(&path).unwrap(), length.max(row.len() as u64));
        let rows = [number(length), row].concat();
        let of = number(length).len() as u64 + length;
        forge(&path, Some((&rows[..], of)), |_| ());
        for entry in fs::read_dir(place.path().join("ex")).unwrap() {
            let later = entry.unwrap().path();
            if later.file_name() > path.parent().unwrap().file_name() && arguments[1] == "run" {
                let _ = fs::remove_file(later.join("00000.rows"));
            }
        }
        let (output, peak) = start_measured(place.path(), &arguments);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(1), "{step} {length}: {text}");
        let says = "--memory 300MiB is too small: ";
        assert!(text.contains(says), "{step} {length}: {text}");
        assert!(peak < MOST_PEAK, "{step} {length}: {peak} KiB");
        fs::write(&path, good).unwrap();
        (0..8).for_each(|task| {
            _ = start(
                place.path(),
                &["tasks", "run", "ex", "--task", &task.to_string()],
            )
        });
    }
}

/// The way from the kept records to the work directory leads to a directory, and is a name as others.
#[test]
fn the_way_to_a_work_directory_is_plain() {
    let place = finished();
    done(place.path(), &["dedup", "in.jsonl", "-o", "kept"]);
    let path = place.path().join("kept/.lookalike/source.json");
    let good: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let absolute = place.path().join("kept.work");
    for work in [
        "",
        ".",
        "../v/../kept.work",
        "nul\0",
        absolute.to_str().unwrap(),
        "../v",
    ] {
        let mut changed = good.clone();
        changed["work"] = work.into();
        fs::write(&path, changed.to_string()).unwrap();
        let before = held(&place.path().join("v"));
        let output = start(place.path(), &["report", "kept", "-o", "p.html"]);
        let text = said(&output);
        assert!(!output.status.success(), "{work:?}: {text}");
        let is_told = work == "../v" || text.contains("source.json is corrupt");
        assert!(is_told, "{work:?}: {text}");
        assert!(before == held(&place.path().join("v")), "{work:?}");
    }
    fs::write(&path, good.to_string()).unwrap();
    done(place.path(), &["report", "kept", "-o", "p.html"]);
}
