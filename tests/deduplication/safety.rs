//! Nothing is overwritten, nothing is written outside of the outputs, and a refusal leaves
//! everything as it was.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use lookalike::store::checksum;

use super::support::{Ran, call, dedup, done, place, written};
use crate::common::copy_directory;

const LINES: &[u8] = b"{\"id\":1,\"text\":\"one two\"}\n{\"id\":2,\"text\":\"one two\"}\n{\"id\":3,\"text\":\"three\"}\n";
const KEPT: &[u8] = b"{\"id\":1,\"text\":\"one two\"}\n{\"id\":3,\"text\":\"three\"}\n";

/// Everything below a directory: files with their content, links with their targets.
fn held(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut held = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        let content = match kind {
            _ if kind.is_dir() => {
                held.extend(self::held(&path));
                Vec::new()
            }
            _ if kind.is_symlink() => fs::read_link(&path)
                .unwrap()
                .into_os_string()
                .into_encoded_bytes(),
            _ => fs::read(&path).unwrap(),
        };
        held.insert(path, content);
    }
    held
}

/// A place with an input and a finished run of it.
fn ran() -> (tempfile::TempDir, PathBuf) {
    let (guard, place) = place(&[
        ("in/a.jsonl", LINES),
        ("in/b/whole.jsonl", b"{\"id\":4,\"text\":\"four\"}\n"),
    ]);
    done(&place, "run in -o run --quiet");
    (guard, place)
}

/// The command must be refused with these words and with advice, and must change nothing.
fn refused(place: &Path, arguments: &str, says: &str) -> Ran {
    let lock = |path: &PathBuf| path.ends_with("lock");
    let state = |place| {
        let mut held = held(place);
        held.retain(|path, _| !lock(path));
        held
    };
    let before = state(place);
    let ran = call(place, arguments);
    assert!(matches!(ran.code, Some(1 | 2)), "{arguments}: {ran:?}");
    assert!(ran.stderr.contains(says), "{arguments}: {}", ran.stderr);
    let now = state(place);
    let changed: Vec<&PathBuf> = now
        .iter()
        .filter(|(path, bytes)| before.get(*path) != Some(bytes))
        .map(|(path, _)| path)
        .collect();
    assert!(
        changed.is_empty() && now.len() == before.len(),
        "{arguments}: changed {changed:?}"
    );
    ran
}

#[test]
fn outputs_that_are_taken_are_refused() {
    let (_guard, place) = ran();
    fs::create_dir(place.join("taken")).unwrap();
    fs::write(place.join("taken/mine.txt"), "mine").unwrap();
    fs::write(place.join("file"), "a file").unwrap();
    symlink("taken", place.join("link-to-taken")).unwrap();
    symlink("nowhere", place.join("dangling")).unwrap();
    fs::create_dir(place.join("hidden")).unwrap();
    fs::write(place.join("hidden/.mine"), "mine").unwrap();
    for (output, says) in [
        ("-o taken", "it is not empty"),
        ("-o link-to-taken", "it is not empty"),
        ("-o hidden", "it is not empty"),
        ("-o file", "it is a file"),
        ("-o file/below", ""),
        ("-o dangling", ""),
        ("-o new --removed taken", "it is not empty"),
        ("-o run", "the work directory"),
        ("-o run/below", "the work directory"),
        ("-o .", ""),
        ("-o new --removed new", "the kept files"),
        ("-o new --removed new/below", "the kept files"),
        ("-o new/below --removed new", "the kept files"),
        ("-o new --removed run/removed", "the work directory"),
        ("-o in", ""),
        ("-o in/b", ""),
        // What the pairs are was decided when they were found.
        ("-o new --where a.x==b.x", "cannot be used with"),
        ("-o new --shingle-size 3", "cannot be used with"),
        ("-o new --text-field body", "cannot be used with"),
    ] {
        refused(&place, &format!("dedup --from run {output}"), says);
    }
    let links = "--where a.file!=b.file --pairs none";
    refused(
        &place,
        &format!("dedup in -o new {links}"),
        "--where decides on each pair",
    );
    done(&place, &format!("run in -o links {links} --quiet"));
    refused(
        &place,
        "dedup --from links -o new",
        "`lookalike run --from links --pairs all`",
    );
    let parted = "--where a.file!=b.file --quiet";
    done(&place, &format!("run in -o parted {parted}"));
    refused(
        &place,
        "dedup --from parted -o new --identical text",
        "decides on each pair; leave --identical out",
    );
    // Before anything is read, too.
    for (output, says) in [
        ("-o taken", "it is not empty"),
        ("-o file", "it is a file"),
        ("-o new --removed taken", "it is not empty"),
        ("-o in/new", "it lies in the input in"),
        ("-o new --removed in/b/new", "it lies in the input in"),
    ] {
        refused(&place, &format!("dedup in {output}"), says);
        refused(&place, &format!("dedup in {output} --work work"), says);
    }
    refused(&place, "dedup in -o new --work new", "the work directory");
    refused(
        &place,
        "dedup in -o new --work new/below",
        "the work directory",
    );
}

#[test]
fn a_link_to_an_empty_directory_is_an_output() {
    let (_guard, place) = ran();
    fs::create_dir(place.join("empty")).unwrap();
    symlink("empty", place.join("link")).unwrap();
    dedup(&place, "--from run -o link");
    assert_eq!(written(&place.join("empty"))["a.jsonl"], KEPT);
}

#[test]
fn standard_input_is_refused() {
    let (_guard, place) = place(&[("a.jsonl", LINES)]);
    let ran = refused(&place, "dedup - -o kept", "standard input");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("file"), "{}", ran.stderr);
}

/// Replaces the list of inputs of a directory, with the checksums that it must have.
fn put_list(directory: &Path, list: &str) {
    fs::write(directory.join("inputs.jsonl"), list).unwrap();
    let path = directory.join("manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let entry = &mut manifest["inputs"]["list"];
    entry["bytes"] = list.len().into();
    entry["checksum"] = format!("{:016x}", checksum(list.as_bytes())).into();
    let mut body = serde_json::to_vec_pretty(&manifest).unwrap();
    body.push(b'\n');
    let sum = checksum(&body);
    body.extend(format!("{sum:016x}\n").bytes());
    fs::write(path, body).unwrap();
}

/// The name of an input decides where it is written, and a list of inputs may be anybody's.
#[test]
fn names_that_lead_out_of_the_output_are_refused() {
    // Each directory of a name was made by opening all those before it again.
    let (deep, long) = ("p/".repeat(300) + "x", "x".repeat(5000));
    for name in [
        &*deep,
        &long,
        "../../x",
        "../x",
        "/tmp/x",
        "b/../../x",
        ".",
        "..",
        "",
        "b//x",
        "b/./x",
        "nul\\u0000",
    ] {
        let (_guard, place) = ran();
        let list = place.join("run/inputs.jsonl");
        let text = fs::read_to_string(&list).unwrap();
        let changed = text.replace("\"name\":\"a.jsonl\"", &format!("\"name\":\"{name}\""));
        assert_ne!(text, changed);
        put_list(&place.join("run"), &changed);
        let ran = refused(
            &place,
            "dedup --from run -o kept --removed removed",
            "inputs.jsonl",
        );
        assert!(
            ran.stderr.contains("name of an input in line 1"),
            "{name}: {}",
            ran.stderr
        );
    }
}

/// A new directory in which `both` is a copy of another.
fn place_of(from: &Path) -> (tempfile::TempDir, PathBuf) {
    let (guard, parent) = place(&[]);
    for name in ["x", "y"] {
        copy_directory(&from.join(name), &parent.join("both").join(name));
    }
    (guard, parent)
}

/// Two inputs of one name would be written to one file, so they have longer names.
#[test]
fn names_that_repeat_are_told_apart() {
    let (_guard, place) = place(&[("x/a.jsonl", LINES), ("y/a.jsonl", LINES)]);
    dedup(&place, "x y -o kept --work work");
    assert_eq!(written(&place.join("kept"))["x/a.jsonl"], KEPT);
    // A list of inputs that somebody else wrote may have equal names.
    let list = fs::read_to_string(place.join("work/inputs.jsonl")).unwrap();
    put_list(
        &place.join("work"),
        &list.replace("\"x/a.jsonl\"", "\"y/a.jsonl\""),
    );
    let ran = call(&place, "dedup --from work -o again");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.stderr
            .contains("another input also has the name y/a.jsonl"),
        "{}",
        ran.stderr
    );
    assert!(!place.join("again").exists());
    let (_guard, parent) = place_of(&place);
    dedup(&parent, "both -o kept");
    assert_eq!(written(&parent.join("kept"))["x/a.jsonl"], KEPT);
}

/// A format that cannot be annotated is refused before the inputs are read.
#[test]
fn formats_that_cannot_be_annotated_are_refused_first() {
    let warc = b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:a>\r\nContent-Length: 3\r\n\r\nx y\r\n\r\n";
    let trec = b"<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>one two</TEXT>\n</DOC>\n";
    for (name, bytes, format) in [
        ("in/z.warc", &warc[..], "WARC"),
        ("in/z.trec", trec, "TREC"),
        (
            "in/z.mbox",
            b"From a@b Mon Jan  5 10:00:00 2004\nFrom: a@b\n\none\n",
            "mbox",
        ),
        ("in/z.txt", b"one two", "text or HTML"),
    ] {
        let (_guard, place) = place(&[("in/a.jsonl", LINES), (name, bytes)]);
        let ran = refused(&place, "dedup in -o kept --annotate", name);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(
            ran.stderr.contains(&format!("its format is {format}, ")),
            "{}",
            ran.stderr
        );
        // So is a finished run.
        done(&place, "run in -o run --quiet");
        refused(&place, "dedup --from run -o kept --annotate", name);
        dedup(
            &place,
            &format!("in -o kept --annotate --exclude {}", &name[3..]),
        );
    }
    // An input without documents is copied.
    let (_guard, place) = place(&[
        ("in/a.jsonl", LINES),
        ("in/b.gif", b"GIF89a\0\0\0\0"),
        ("in/c.txt", b""),
    ]);
    dedup(&place, "in -o kept --annotate");
    assert_eq!(written(&place.join("kept")).len(), 3);
}

/// Such names were refused after the run, as damage of its list of inputs or as a change.
#[test]
fn names_that_cannot_be_written_are_refused_first() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let (_guard, place) = place(&[("in/.lookalike/a.jsonl", LINES)]);
    let ran = refused(&place, "dedup in --hidden -o kept", "keeps its own files");
    assert!(
        ran.stderr.contains("in/.lookalike/a.jsonl"),
        "{}",
        ran.stderr
    );
    done(&place, "run in --hidden -o run --quiet");
    refused(&place, "dedup --from run -o kept", "keeps its own files");

    let other = place.join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join(OsStr::from_bytes(b"\xff.jsonl")), LINES).unwrap();
    fs::write(other.join("a.jsonl"), LINES).unwrap();
    refused(&place, "dedup other -o kept", "is not UTF-8");
    done(&place, "run other -o second --quiet");
    // A file whose name is the altered one was written in place of the input.
    for there in [false, true] {
        if there {
            fs::write(other.join("\u{fffd}.jsonl"), LINES).unwrap();
        }
        for command in [
            "dedup --from second -o kept",
            "passages second --length 5",
            "export versions second --by id",
        ] {
            refused(&place, command, "is not UTF-8");
        }
    }

    for name in ["removed.jsonl", "referred.jsonl"] {
        fs::write(place.join(name), LINES).unwrap();
        let line = format!("dedup {name} -o kept --removed r");
        refused(&place, &line, "the name of the file with the reasons");
    }

    let deep = format!("deep/{}a.jsonl", "a/".repeat(256));
    fs::create_dir_all(place.join(&deep).parent().unwrap()).unwrap();
    fs::write(place.join(&deep), LINES).unwrap();
    refused(&place, "dedup deep -o kept", "256 names");
}

/// Of estimated or missing pairs it is not known what may go.
#[test]
fn pairs_that_are_not_exact_are_refused() {
    let (_guard, place) = place(&[("in/a.jsonl", LINES)]);
    for (run, flag) in [
        ("sampled", "--sampling 1/2"),
        ("verified", "--sampling 1/2 --verified"),
        ("dropped", "--max-postings 2"),
    ] {
        done(&place, &format!("run in -o {run} {flag} --quiet"));
        let ran = call(&place, &format!("dedup --from {run} -o kept"));
        assert_eq!(ran.code, Some(2), "{flag}: {ran:?}");
        assert!(ran.stderr.contains("--from"), "{flag}: {}", ran.stderr);
    }
    done(&place, "run in -o base --method shingles --quiet");
    let ran = call(&place, "dedup --from base/methods/shingles -o kept");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    // Links do not say how a cluster falls apart without the listed documents.
    done(&place, "run in -o clusters --pairs none --quiet");
    fs::write(place.join("list.tsv"), "file\trecord\na.jsonl\t3\n").unwrap();
    for (arguments, says) in [
        (
            "--from clusters --rule cluster --remove list.tsv",
            "it needs all pairs",
        ),
        (
            "in --pairs none --rule none --remove list.tsv",
            "it needs all pairs",
        ),
        (
            "in --pairs none --against clusters",
            "--against lists pairs",
        ),
        ("in --pairs across", "lists all or none"),
    ] {
        let ran = call(&place, &format!("dedup {arguments} -o kept"));
        assert_eq!(ran.code, Some(2), "{arguments}: {ran:?}");
        assert!(ran.stderr.contains(says), "{arguments}: {}", ran.stderr);
    }
    assert!(!place.join("kept.work").exists());
    assert!(!place.join("kept").exists());
}

/// The refusal comes before the inputs are read. What is needed depends on their compression: each
/// output of an .xz file has a compressor of 96 MiB.
#[test]
fn too_little_memory_is_refused_first() {
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 6);
    xz.write_all(LINES).unwrap();
    let xz = xz.finish().unwrap();
    let (_guard, place) = place(&[("in/a.jsonl", LINES), ("xz/a.jsonl.xz", &xz)]);
    let refused = |arguments: &str, least: &str| {
        let ran = call(&place, &format!("dedup {arguments} --max-document 1MiB"));
        assert_eq!(ran.code, Some(1), "{arguments}: {ran:?}");
        assert!(ran.stderr.contains(least), "{arguments}: {}", ran.stderr);
        assert!(!place.join("kept.work").exists() && !place.join("kept").exists());
    };
    refused("in -o kept --memory 29MiB", "30MiB");
    refused("xz -o kept --memory 123MiB", "124MiB");
    refused("xz -o kept --removed removed --memory 219MiB", "220MiB");
    for (arguments, memory) in [
        ("in -o kept1", "100MiB"),
        ("xz -o kept2", "125MiB"),
        ("xz -o kept3 --removed removed3", "221MiB"),
    ] {
        let how = format!("{arguments} --max-document 1MiB --memory {memory}");
        dedup(&place, &how);
    }
}

/// Two commands would give their unfinished files the same names.
#[test]
fn an_output_that_is_being_written_is_refused() {
    let (_guard, place) = place(&[("in/a.jsonl", LINES)]);
    done(&place, "run in -o run --quiet");
    fs::create_dir_all(place.join("kept/.lookalike")).unwrap();
    let lock = fs::File::create(place.join("kept/.lookalike/lock")).unwrap();
    lock.lock().unwrap();
    let ran = call(&place, "dedup --from run -o kept");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("kept/.lookalike"), "{}", ran.stderr);
    drop(lock);
    dedup(&place, "--from run -o kept");
}

/// The evidence has a name, too.
#[test]
fn an_input_does_not_replace_the_evidence() {
    let (_guard, place) = place(&[("in/removed.jsonl", LINES)]);
    let ran = call(&place, "dedup in -o kept --removed removed");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("removed.jsonl"), "{}", ran.stderr);
    dedup(&place, "in -o kept --work work");
    assert_eq!(written(&place.join("kept"))["removed.jsonl"], KEPT);
}

#[test]
fn a_changed_input_is_refused() {
    for change in ["longer", "shorter", "gone", "another"] {
        let (_guard, place) = ran();
        let input = place.join("in/a.jsonl");
        match change {
            "longer" => fs::write(&input, [LINES, LINES].concat()).unwrap(),
            "shorter" => fs::write(&input, &LINES[..40]).unwrap(),
            "gone" => fs::remove_file(&input).unwrap(),
            // Of the same length, at another time.
            _ => {
                fs::write(&input, LINES.to_ascii_uppercase()).unwrap();
                let then = std::time::SystemTime::UNIX_EPOCH;
                fs::File::options()
                    .write(true)
                    .open(&input)
                    .unwrap()
                    .set_modified(then)
                    .unwrap();
            }
        }
        for more in ["", " --keep newest:date"] {
            let out = format!("kept{}", more.len());
            let ran = call(&place, &format!("dedup --from run -o {out}{more}"));
            assert_eq!(ran.code, Some(1), "{change}: {ran:?}");
            assert!(
                ran.stderr.contains("in/a.jsonl") && ran.stderr.contains("help:"),
                "{change}: {}",
                ran.stderr
            );
            assert!(!place.join(&out).join("a.jsonl").exists(), "{change}");
        }
    }
}

/// An input that only looks like the one that was read: its records are elsewhere.
#[test]
fn an_input_with_other_records_is_refused() {
    let (_guard, place) = ran();
    let input = place.join("in/a.jsonl");
    let modified = fs::metadata(&input).unwrap().modified().unwrap();
    // The records are as long together, so that neither size nor time differ.
    let other = [&[b' '; 70][..], &[b'\n'; 300]].concat();
    fs::write(&input, &other[..LINES.len()]).unwrap();
    fs::File::options()
        .write(true)
        .open(&input)
        .unwrap()
        .set_modified(modified)
        .unwrap();
    let ran = call(&place, "dedup --from run -o kept --keep max:n");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(!place.join("kept/a.jsonl").exists());
}

/// What somebody puts into the output between two calls is neither followed nor replaced.
#[test]
fn links_inside_the_output_are_not_followed() {
    for at in [
        "b",
        "a.jsonl",
        ".lookalike",
        ".lookalike/0.tmp",
        ".lookalike/dedup.json",
    ] {
        let (_guard, place) = ran();
        dedup(&place, "--from run -o kept");
        let theirs = place.join("theirs");
        fs::create_dir(&theirs).unwrap();
        fs::write(theirs.join("mine"), "mine").unwrap();
        for name in ["a.jsonl", "b/whole.jsonl"] {
            fs::remove_file(place.join("kept").join(name)).unwrap();
        }
        let link = place.join("kept").join(at);
        if link.is_dir() {
            fs::rename(&link, place.join("aside")).unwrap();
            if at == ".lookalike" {
                copy_directory(&place.join("aside"), &theirs);
            }
        } else if link.exists() {
            fs::remove_file(&link).unwrap();
        }
        let target = if at.contains('.') && !at.ends_with("lookalike") {
            theirs.join("new")
        } else {
            theirs.clone()
        };
        symlink(&target, &link).unwrap();
        let before = held(&theirs);
        let ran = call(&place, "dedup --from run -o kept");
        assert!(ran.code.is_some(), "{at}: {ran:?}");
        assert!(held(&theirs) == before, "{at}: {ran:?}");
    }
}

/// The same command goes on, and another one is refused.
#[test]
fn an_output_belongs_to_its_command() {
    let (_guard, place) = ran();
    let first = dedup(&place, "--from run -o kept --removed removed");
    let (kept, removed) = (
        written(&place.join("kept")),
        written(&place.join("removed")),
    );
    fs::remove_file(place.join("kept/a.jsonl")).unwrap();
    fs::remove_file(place.join("removed/removed.jsonl")).unwrap();
    assert_eq!(dedup(&place, "--from run -o kept --removed removed"), first);
    assert!(written(&place.join("kept")) == kept && written(&place.join("removed")) == removed);
    // Another directory for what is removed gets all of it.
    dedup(&place, "--from run -o kept --removed other");
    assert!(written(&place.join("other")) == removed);
    for other in [
        "--rule none --removed removed",
        "--keep last --removed removed",
        "--annotate",
        "",
    ] {
        refused(
            &place,
            &format!("dedup --from run -o kept {other}"),
            "made from other inputs or with other parameters",
        );
    }
}

/// What somebody changed in an output is neither trusted nor overwritten.
#[test]
fn a_changed_output_is_refused() {
    let warc = b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:a>\r\nContent-Length: 3\r\n\r\nx y\r\n\r\n";
    for (kind, options, files) in [
        (
            "records",
            "--removed removed",
            &[
                "kept/a.jsonl",
                "kept/b/whole.jsonl",
                "removed/a.jsonl",
                "removed/removed.jsonl",
            ][..],
        ),
        ("link", "--link", &["kept/a.jsonl", "kept/b/whole.jsonl"]),
        (
            "lists",
            "--ids-only",
            &["kept/kept.tsv", "kept/removed.tsv"],
        ),
        (
            "tables",
            "--ids-only --results parquet",
            &["kept/kept.parquet", "kept/removed.parquet"],
        ),
    ] {
        let (_guard, place) = ran();
        let command = format!("dedup --from run -o kept {options}");
        done(&place, &command);
        let state = || {
            let mut state = held(&place);
            state.retain(|path, _| !path.ends_with("lock"));
            state
        };
        let all = state();
        for name in files {
            let path = place.join(name);
            let before = fs::read(&path).unwrap();
            let mut same_length = before.clone();
            same_length[3] ^= 1;
            for changed in [
                [&before[..], b"\n"].concat(),
                before[1..].to_vec(),
                same_length,
                warc.to_vec(),
            ] {
                // A link must be replaced, not the input changed.
                fs::remove_file(&path).unwrap();
                fs::write(&path, &changed).unwrap();
                let ran = refused(&place, &command, name);
                assert_eq!(ran.code, Some(1), "{kind}: {ran:?}");
                assert!(ran.stderr.contains("delete it"), "{kind}: {}", ran.stderr);
            }
            // Without it, the command writes it again.
            fs::remove_file(&path).unwrap();
            done(&place, &command);
            assert_eq!(fs::read(&path).unwrap(), before, "{kind}: {name}");
        }
        assert!(state() == all, "{kind}");
        // A file that no command finished is not ours, whatever it holds.
        for file in ["kept", "removed"].map(|name| place.join(name).join(".lookalike/files.jsonl"))
        {
            if file.exists() {
                fs::write(&file, "").unwrap();
            }
        }
        refused(&place, &command, "none was finished");
    }
}

/// A line may be cut off, and what was not finished is written.
#[test]
fn a_cut_record_of_finished_files_is_continued() {
    let (_guard, place) = ran();
    let command = "dedup --from run -o kept --removed removed";
    done(&place, command);
    let all = held(&place);
    let list = place.join("kept/.lookalike/files.jsonl");
    let text = fs::read_to_string(&list).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
    let last = text.trim_end().rfind('\n').unwrap() + 1;
    fs::write(&list, &text[..last + 20]).unwrap();
    // The line is on the disk before the file has its name.
    fs::remove_file(place.join("kept/b/whole.jsonl")).unwrap();
    done(&place, command);
    let mut now = held(&place);
    now.retain(|path, _| !path.ends_with("lock"));
    for (path, bytes) in now {
        assert!(all[&path] == bytes, "{}", path.display());
    }
}

/// Requests that went with a response count, also if another call removed them.
#[test]
fn a_second_call_counts_the_same() {
    let response = |n: usize| {
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:r{n}>\r\nWARC-Target-URI: http://e.org/{n}\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: 27\r\n\r\n\
             HTTP/1.1 200 OK\r\n\r\none two\n\r\n\r\n\
             WARC/1.0\r\nWARC-Type: request\r\nWARC-Record-ID: <urn:q{n}>\r\nWARC-Concurrent-To: <urn:r{n}>\r\n\
             Content-Length: 2\r\n\r\nhi\r\n\r\n"
        )
    };
    let warc = response(1) + &response(2);
    let (_guard, place) = place(&[("in/a.warc", warc.as_bytes())]);
    let first = dedup(&place, "in -o kept");
    assert_eq!(
        (&first["kept"], &first["companions"]),
        (&1.into(), &1.into()),
        "{first}"
    );
    assert_eq!(dedup(&place, "in -o kept"), first);
}

#[test]
fn files_that_lose_nothing_are_linked() {
    let (_guard, place) = ran();
    symlink("../b/whole.jsonl", place.join("in/b/by-link.jsonl")).unwrap_or(());
    dedup(&place, "--from run -o kept --link");
    let number = |path: &str| fs::metadata(place.join(path)).unwrap().ino();
    assert_eq!(number("kept/b/whole.jsonl"), number("in/b/whole.jsonl"));
    assert_ne!(number("kept/a.jsonl"), number("in/a.jsonl"));
    dedup(&place, "--from run -o copied");
    assert_ne!(number("copied/b/whole.jsonl"), number("in/b/whole.jsonl"));
    // Of a link, the file is linked that it leads to.
    let linked = place.join("linked.jsonl");
    symlink("in/b/whole.jsonl", &linked).unwrap();
    dedup(&place, "linked.jsonl -o of-link --link");
    assert!(
        fs::symlink_metadata(place.join("of-link/linked.jsonl"))
            .unwrap()
            .is_file()
    );
}

/// Calls the program with this failure or trace of its operations on files.
fn with_faults(place: &Path, arguments: &str, faults: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .current_dir(place)
        .args(arguments.split_whitespace())
        .env("LOOKALIKE_FAULTS", faults)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Each directory and the list of finished files are synced once for many small files, and never
/// after the names that depend on them.
#[test]
fn small_files_get_their_names_together() {
    let (_guard, place) = ran();
    for n in 0..300 {
        let file = place.join(format!("in/{}/{n}.txt", n % 3));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, format!("file {n} has words {} of its own", n * n)).unwrap();
    }
    done(&place, "run in -o all --quiet");
    for options in ["", " --link"] {
        let command = format!("dedup --from all -o kept{options}");
        let calls = with_faults(&place, &command, "trace=trace").wait_with_output();
        assert!(calls.unwrap().status.success());
        let trace = fs::read_to_string(place.join("trace")).unwrap();
        let lines: Vec<Vec<&str>> = trace.lines().map(|l| l.split('\t').collect()).collect();
        let (mut synced, mut listed, mut named) = (0, 0, 0);
        for line in &lines {
            let name = line[1].rsplit('/').next().unwrap();
            let number = name.strip_suffix(".tmp").map(str::parse::<u32>);
            match line[0] {
                "sync-done" if name == "files.jsonl" => listed = synced,
                "sync-done" if matches!(number, Some(Ok(_))) => synced += 1,
                // A link has no bytes to be synced.
                "create" if line.len() > 2 => synced += 1,
                "rename" if line[2].ends_with(".txt") => {
                    named += 1;
                    assert!(named <= listed, "{line:?}");
                }
                _ => {}
            }
        }
        assert_eq!(named, 300);
        let count = |op: &str, on: &str| {
            let of = |line: &&Vec<&str>| line[0] == op && line[1].ends_with(on);
            lines.iter().filter(of).count()
        };
        let lists = count("sync", "files.jsonl");
        assert!((2..=10).contains(&lists), "{lists}");
        let directories = count("sync-directory", "kept/0");
        assert!((2..=6).contains(&directories), "{directories}");
        fs::remove_dir_all(place.join("kept")).unwrap();
        fs::remove_file(place.join("trace")).unwrap();
    }
}

/// A file that someone puts where a copy is about to be is not overwritten.
#[test]
fn a_file_that_appears_meanwhile_is_kept() {
    for (options, created) in [("", "0.tmp"), ("--link", "1.tmp")] {
        let (_guard, place) = ran();
        let held = place.join("held");
        let command = format!("dedup --from run -o kept --threads 1 {options}");
        let faults = format!(
            "op=create on=.lookalike/{created} do=hold:{}",
            held.display()
        );
        let child = with_faults(&place, &command, &faults);
        while !held.exists() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        fs::write(place.join("kept/a.jsonl"), "of the user").unwrap();
        fs::remove_file(&held).unwrap();
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(
            told.contains("kept/a.jsonl") && told.contains("another file"),
            "{told}"
        );
        assert_eq!(
            fs::read(place.join("kept/a.jsonl")).unwrap(),
            b"of the user"
        );
        refused(&place, &command, "none was finished");
        fs::remove_file(place.join("kept/a.jsonl")).unwrap();
        done(&place, &command);
    }
}

/// A list of inputs that names a FIFO makes no command wait.
#[test]
fn a_fifo_in_place_of_an_input_makes_nothing_hang() {
    let (_guard, place) = ran();
    let input = place.join("in/a.jsonl");
    fs::remove_file(&input).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(&input)
            .status()
            .unwrap()
            .success()
    );
    let mut child = Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .current_dir(&place)
        .args(["dedup", "--from", "run", "-o", "kept", "--quiet"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Ten times what an overloaded machine needs.
    for _ in 0..1200 {
        if let Some(status) = child.try_wait().unwrap() {
            assert_eq!(status.code(), Some(1));
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    child.kill().unwrap();
    panic!("it hangs");
}

/// A document without words, or of which only a subject was read, duplicates nothing.
#[test]
fn what_was_not_read_is_kept() {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("in");
    fs::create_dir(&from).unwrap();
    let scan = |n: u32| {
        format!(
            "From \nSubject: Scan\nMessage-ID: <{n}@x.example>\nContent-Type: application/pdf\n\n%PDF-{n}\n\n"
        )
    };
    let row = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    let files = [
        ("scans.mbox", scan(1) + &scan(2)),
        (
            "rows.jsonl",
            row("r1", "") + &row("r2", " ") + &row("r3", "a row") + &row("r4", "A row."),
        ),
        ("a.html", "<title></title><img src='a'>".into()),
        ("b.html", "<title></title><img src='b'>".into()),
    ];
    for (name, text) in &files {
        fs::write(from.join(name), text).unwrap();
    }
    let unread = |rejects: &str| {
        let lines = fs::read_to_string(place.path().join(rejects)).unwrap();
        let unread = lines
            .lines()
            .filter(|line| line.contains("\"text not comparable\""));
        assert!(
            lines
                .lines()
                .all(|line| line.contains("\"document\":\"used\"")),
            "{lines}"
        );
        unread.count()
    };
    done(place.path(), "dedup in -o kept --quiet");
    assert_eq!(unread("kept.work/rejects.jsonl"), 6);
    done(place.path(), "run in -o old --quiet");
    assert_eq!(unread("old/rejects.jsonl"), 6);
    // Against a collection with the same documents, only those with words are removed.
    done(place.path(), "dedup in --against old -o new --quiet");
    for (directory, rows) in [("kept", 3), ("new/in", 2)] {
        for (name, text) in &files {
            let kept = fs::read_to_string(place.path().join(directory).join(name)).unwrap();
            match *name {
                "rows.jsonl" => assert_eq!(kept.lines().count(), rows, "{directory}: {kept}"),
                _ => assert_eq!(&kept, text),
            }
        }
    }
    // No pair and no exact duplicate has one of them.
    let table = done(place.path(), "query old in").stdout;
    let found = table
        .lines()
        .skip(1)
        .map(|line| line.split('\t').next().unwrap());
    let found: Vec<&str> = found.collect();
    assert!(
        !found.is_empty() && found.iter().all(|query| ["r3", "r4"].contains(query)),
        "{table}"
    );
}

/// A condition parts equal documents. A pair of them is found as if they were others, but what
/// removes one says that they are equal.
#[test]
fn equal_documents_that_a_condition_parts_are_called_equal() {
    let text = |end: &str| (0..30).map(|n| format!("w{n} ")).collect::<String>() + end;
    let line = |(n, (source, text)): (usize, &(&str, String))| {
        format!("{{\"id\":\"d{n}\",\"s\":\"{source}\",\"text\":\"{text}\"}}\n")
    };
    let documents = [
        ("x", text("end")),
        ("x", text("end")),
        ("y", text("end")),
        ("z", text("END.")),
        ("y", text("other")),
    ];
    let lines: String = documents.iter().enumerate().map(line).collect();
    let (_guard, place) = place(&[("in.jsonl", lines.as_bytes())]);
    let search = "in.jsonl --where a.s!=b.s --threshold 0.8 -o";
    let said = done(&place, &format!("run {search} out")).stdout;
    let found = "4 of 5 documents (80.0 %) are redundant.\n\
                 1 cluster; the largest has 5 documents: d0 and 4 others. \
                 8 pairs for which a.s!=b.s have a resemblance of 0.8 or more.\n";
    assert!(said.contains(found), "{said}");
    let ledger = done(&place, "status out").stdout;
    assert!(
        ledger.contains("condition (--where)               a.s!=b.s\n"),
        "{ledger}"
    );
    let said = done(&place, "dedup --from out -o kept --removed removed").stdout;
    let removed = "1 identical copy, 1 with the same words, 1 near-duplicate.";
    assert!(said.contains(removed), "{said}");
    let list = fs::read_to_string(place.join("removed/removed.jsonl")).unwrap();
    for (docno, reason) in [("d2", "identical"), ("d3", "same words"), ("d4", "near")] {
        let line = list
            .lines()
            .find(|line| line.contains(&format!("\"docno\":\"{docno}\"")));
        let reason = format!("\"reason\":\"{reason}\"");
        assert!(
            line.is_some_and(|line| line.contains(&reason)),
            "{docno}: {list}"
        );
    }
    // The first two are connected by others, but are not a pair.
    let rule = "--rule one-per-cluster";
    let said = done(&place, &format!("dedup --from out -o one {rule}")).stdout;
    let removed =
        "1 identical copy, 1 with the same words, 1 near-duplicate, 1 connected by a chain.";
    assert!(said.contains(removed), "{said}");
    done(&place, "report out -o page.html --quiet");
    let page = fs::read_to_string(place.join("page.html")).unwrap();
    assert!(
        page.contains(" of documents for which a.s!=b.s have"),
        "{page}"
    );
}
