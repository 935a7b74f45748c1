//! A disk that fills up, has no room for another file or may not be written to, a limit on the size
//! of files, and terminals that are gone: errors that say so, after which the same command goes on.
#![cfg(target_os = "linux")]

use crate::common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::corpus::{Doc, few_more, write_jsonl};
use common::stopped::{corpus, uninterrupted};
use common::{assert_same_files, lasting, tree};

const PROGRAM: &str = env!("CARGO_BIN_EXE_lookalike");

/// The program and its arguments for a shell, with the parameters of [`corpus`].
fn command(input: &Path, out: &Path) -> String {
    format!(
        "{PROGRAM} run {} -o {} --shingle-size 3 --threshold 0.2 --segment-size 8KiB --max-document 64KiB \
         --memory 256MiB --threads 2 --spill always --ignore-disk-space",
        input.display(),
        out.display()
    )
}

fn shell(script: &str) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).stdin(Stdio::null());
    shell.output().unwrap()
}

/// How a shell is started in which file systems can be mounted that nobody else sees.
fn mounting() -> Option<Vec<&'static str>> {
    let place = common::temporary();
    for prefix in [["unshare", "-m"], ["unshare", "-rm"]] {
        let mount = format!(
            "mount -t tmpfs -o size=64k tmpfs {}",
            place.path().display()
        );
        let mut probe = Command::new(prefix[0]);
        probe.args(&prefix[1..]).args(["sh", "-c", &mount]);
        if probe.output().is_ok_and(|output| output.status.success()) {
            return Some(prefix.to_vec());
        }
    }
    eprintln!("LEFT OUT: file systems cannot be mounted here, not even in a namespace of users");
    None
}

struct Small {
    directory: tempfile::TempDir,
    prefix: Vec<&'static str>,
    input: PathBuf,
    /// The command to run, with its input and its output.
    command: fn(&Path, &Path) -> String,
}

/// What the program said on a file system that was too small, and then.
struct Said {
    status: i32,
    stderr: String,
}

impl Small {
    /// Runs the program on a file system that is mounted with `first`, changes it by `then`, and
    /// runs it again.
    fn twice(&self, first: &str, then: &str) -> (Said, Said) {
        let root = self.directory.path();
        let place = root.join("place");
        for name in ["place", "kept"] {
            let _ = fs::remove_dir_all(root.join(name));
        }
        fs::create_dir(&place).unwrap();
        let command = (self.command)(&self.input, &place.join("out"));
        let (root, place) = (root.display(), place.display());
        let script = format!(
            "mount -t tmpfs -o {first} tmpfs {place} || exit 9\n\
             {command} >/dev/null 2>{root}/1; echo $? >{root}/1.status\n\
             mount -o remount,{then} {place} || exit 9\n\
             {command} >/dev/null 2>{root}/2; echo $? >{root}/2.status\n\
             if [ -d {place}/out ]; then cp -r {place}/out {root}/kept; fi\n"
        );
        let mut shell = Command::new(self.prefix[0]);
        shell.args(&self.prefix[1..]).args(["sh", "-c", &script]);
        let output = shell.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let said = |name: &str| {
            let read = |name: String| fs::read_to_string(self.directory.path().join(name)).unwrap();
            Said {
                status: read(format!("{name}.status")).trim().parse().unwrap(),
                stderr: read(name.into()),
            }
        };
        (said("1"), said("2"))
    }
}

fn small() -> Option<Small> {
    let prefix = mounting()?;
    let directory = common::temporary();
    let (input, _) = corpus(directory.path(), 12);
    Some(Small {
        directory,
        prefix,
        input,
        command,
    })
}

/// Sweeps a limit from next to nothing to enough.
fn swept(limit: &dyn Fn(u64) -> String, least: u64) {
    let Some(small) = small() else { return };
    let (_, run) = corpus(common::temporary().path(), 12);
    let (expected, _) = uninterrupted(&run, &small.input);
    sweep(&small, &expected, lasting, limit, least);
}

/// Of the files that are left at last, `lasting` says which must be those of `expected`.
fn sweep(
    small: &Small,
    expected: &BTreeMap<String, Vec<u8>>,
    lasting: fn(&Path) -> BTreeMap<String, Vec<u8>>,
    limit: &dyn Fn(u64) -> String,
    least: u64,
) {
    let (mut at, mut refused) = (least, 0);
    loop {
        let (first, then) = small.twice(&limit(at), "size=64m,nr_inodes=10000");
        assert_eq!(then.status, 0, "{}: {}", limit(at), then.stderr);
        let out = small.directory.path().join("kept");
        assert_same_files(&lasting(&out), expected, &limit(at));
        if first.status == 0 {
            break;
        }
        refused += 1;
        let what = format!("{}: {}", limit(at), first.stderr);
        assert_eq!(first.status, 1, "{what}");
        assert!(first.stderr.contains("No space left on device"), "{what}");
        assert!(
            first.stderr.contains("help: free space on that disk"),
            "{what}"
        );
        assert!(!first.stderr.contains("panicked"), "{what}");
        at += (at / 5).max(least);
    }
    eprintln!("{refused} limits were too small; enough was {}", limit(at));
    assert!(refused > 4, "{refused}");
}

#[test]
fn a_disk_that_fills_up() {
    swept(&|kib| format!("size={kib}k"), 4);
}

#[test]
fn a_disk_that_has_no_room_for_another_file() {
    swept(&|inodes| format!("size=64m,nr_inodes={inodes}"), 2);
}

/// The work directory is on another disk, where there is room.
#[test]
fn a_disk_that_fills_up_with_copies() {
    let Some(mut small) = small() else { return };
    let work = small.directory.path().join("work");
    let ran = shell(&command(&small.input, &work));
    assert!(ran.status.success(), "{ran:?}");
    // The input lies beside the work directory.
    small.command = |input, out| {
        let work = input.parent().unwrap().join("work");
        let (work, out) = (work.display(), out.display());
        format!("{PROGRAM} dedup --from {work} -o {out}/kept --removed {out}/removed --threads 2")
    };
    let expected = small.directory.path().join("expected");
    let ran = shell(&(small.command)(&small.input, &expected));
    assert!(ran.status.success(), "{ran:?}");
    let copies = |out: &Path| {
        let mut copies = tree(out);
        // It has the way to the work directory, which differs from place to place.
        assert!(copies.remove("kept/.lookalike/source.json").is_some());
        copies
    };
    let expected = copies(&expected);
    for (limit, least) in [
        (&(|kib| format!("size={kib}k")) as &dyn Fn(u64) -> String, 4),
        (&|inodes| format!("size=64m,nr_inodes={inodes}"), 1),
    ] {
        sweep(&small, &expected, copies, limit, least);
    }
}

/// A collection grows on a disk that is too small for it.
#[test]
fn a_disk_that_fills_up_while_inputs_are_added() {
    let Some(mut small) = small() else { return };
    let begun = small.directory.path().join("begun");
    let ran = shell(&command(&small.input, &begun));
    assert!(ran.status.success(), "{ran:?}");
    let text = fs::read_to_string(small.input.join("000.jsonl")).unwrap();
    let doc = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        Doc {
            docno: value["id"].to_string(),
            url: None,
            text: value["text"].as_str().unwrap().to_string(),
        }
    };
    let few = few_more(&text.lines().map(doc).collect::<Vec<_>>());
    let few = write_jsonl(&small.directory.path().join("few"), &few, 1);
    fs::rename(
        few.join("000.jsonl"),
        small.directory.path().join("new.jsonl"),
    )
    .unwrap();
    // What was begun lies beside the input, and there is always room for it.
    small.command = |input, out| {
        let (root, out) = (input.parent().unwrap().display(), out.display());
        format!(
            "(set -e; [ -d {out} ] || cp -r {root}/begun {out}; \
             {PROGRAM} add {out} {root}/new.jsonl --memory 256MiB --threads 2 --ignore-disk-space)"
        )
    };
    let expected = small.directory.path().join("expected");
    let ran = shell(&(small.command)(&small.input, &expected));
    assert!(ran.status.success(), "{ran:?}");
    let pairs = common::manifest(&expected).pairs.unwrap();
    assert!(pairs.stats.added.is_some() && pairs.stats.pairs > 0);
    let expected = lasting(&expected);
    let size = |path: &Path| {
        let blocks = tree(path)
            .into_values()
            .map(|bytes| bytes.len().div_ceil(4096) as u64);
        blocks.sum::<u64>() * 4
    };
    let least = size(&begun);
    let (mut at, mut refused) = (least + 8, 0);
    loop {
        let (first, then) = small.twice(&format!("size={at}k"), "size=64m");
        let what = format!("{at} KiB: {}", first.stderr);
        assert_eq!(then.status, 0, "{what}, then {}", then.stderr);
        assert_same_files(
            &lasting(&small.directory.path().join("kept")),
            &expected,
            &what,
        );
        if first.status == 0 {
            break;
        }
        refused += 1;
        assert_eq!(first.status, 1, "{what}");
        assert!(first.stderr.contains("No space left on device"), "{what}");
        assert!(
            first.stderr.contains("help: free space on that disk"),
            "{what}"
        );
        at += 6;
    }
    assert!(refused > 4, "{refused}");
}

#[test]
fn a_disk_that_may_not_be_written_to() {
    let Some(small) = small() else { return };
    let (first, then) = small.twice("size=64m,ro", "rw");
    assert_eq!(first.status, 1, "{}", first.stderr);
    assert!(
        first.stderr.contains("Read-only file system"),
        "{}",
        first.stderr
    );
    assert!(
        first
            .stderr
            .contains("help: give a directory that can be written to")
    );
    assert_eq!(then.status, 0, "{}", then.stderr);
    // And one that holds a run that is to be looked at only.
    let (first, then) = small.twice("size=64m", "ro");
    assert_eq!(first.status, 0, "{}", first.stderr);
    assert_eq!(then.status, 1, "{}", then.stderr);
    assert!(
        then.stderr.contains("Read-only file system"),
        "{}",
        then.stderr
    );
}

/// The kernel ended the program without a word (SIGXFSZ).
#[test]
fn a_limit_on_the_size_of_files() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), 12);
    let (expected, _) = uninterrupted(&run, &input);
    let mut refused = 0;
    for (blocks, ignored) in [(0, false), (1, false), (8, true), (8, false), (40, false)] {
        let out = directory.path().join(format!("out-{blocks}-{ignored}"));
        let command = command(&input, &out);
        let trap = if ignored { "trap '' XFSZ; " } else { "" };
        // What it says goes through a pipe, which has no size.
        let limited = shell(&format!("{trap}ulimit -f {blocks}; {command}"));
        let stderr = String::from_utf8_lossy(&limited.stderr);
        if !limited.status.success() {
            assert_eq!(limited.status.code(), Some(1), "{blocks}: {stderr}");
            assert!(stderr.contains("File too large"), "{blocks}: {stderr}");
            assert!(stderr.contains("ulimit -f"), "{blocks}: {stderr}");
            refused += 1;
        }
        let again = shell(&command);
        assert!(again.status.success(), "{again:?}");
        assert_same_files(&lasting(&out), &expected, &format!("{blocks} blocks"));
    }
    assert!(refused >= 3, "{refused}");
}

/// A directory that may not be written to; to root everything may be.
#[test]
fn a_directory_that_may_not_be_written_to() {
    use std::os::unix::fs::PermissionsExt;
    let directory = common::temporary();
    let (input, _) = corpus(directory.path(), 12);
    let closed = directory.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(closed.join("probe"), "").is_ok() {
        eprintln!("LEFT OUT: this user may write wherever it likes");
        return;
    }
    let output = shell(&command(&input, &closed.join("out")));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("Permission denied") && stderr.contains("check the permissions"));
}

#[test]
fn standard_output_that_is_full_or_gone() {
    let directory = common::temporary();
    let (input, _) = corpus(directory.path(), 12);
    let command = command(&input, &directory.path().join("out"));
    let full = shell(&format!("{command} --json >/dev/full"));
    let stderr = String::from_utf8_lossy(&full.stderr);
    assert_eq!(full.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("cannot write standard output: No space left on device"),
        "{stderr}"
    );
    // Who reads has seen enough.
    let status = directory.path().join("status");
    let gone = shell(&format!(
        "({command} --json; echo $? >{}) | true",
        status.display()
    ));
    assert!(gone.status.success());
    assert_eq!(fs::read_to_string(&status).unwrap().trim(), "0", "{gone:?}");
    let stderr = String::from_utf8_lossy(&gone.stderr);
    assert!(
        !stderr.contains("panicked") && !stderr.contains("error"),
        "{stderr}"
    );
}

/// A line that could not be written to standard error was a panic, and ended a run that lacked
/// nothing.
#[test]
fn standard_error_that_is_full_or_gone() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), 12);
    let (expected, _) = uninterrupted(&run, &input);
    let status = directory.path().join("status");
    for (number, to) in ["2>/dev/full", "2>&-", "2>&1 >/dev/null | true"]
        .iter()
        .enumerate()
    {
        let out = directory.path().join(number.to_string());
        let (command, status_) = (command(&input, &out), status.display());
        let run = match to.split_once(" | ") {
            Some((to, reader)) => format!("({command}; echo $? >{status_}) {to} | {reader}"),
            None => format!("{command} {to}; echo $? >{status_}"),
        };
        shell(&run);
        assert_eq!(fs::read_to_string(&status).unwrap().trim(), "0", "{to}");
        assert_same_files(&lasting(&out), &expected, to);
    }
    // An error that cannot be told is an error all the same.
    let missing = directory.path().join("missing");
    let command = command(&missing, &directory.path().join("out"));
    assert_eq!(
        shell(&format!("{command} 2>/dev/full")).status.code(),
        Some(1)
    );
}

/// So many pairs of documents that their sort fills the disk: a part of it stays free.
#[cfg(feature = "faults")]
#[test]
fn pairs_that_fill_a_disk() {
    let Some(small) = small() else { return };
    let texts = (0..700).map(|n| format!("one footer of five words {n}"));
    let texts: Vec<String> = texts.collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let input = write_jsonl(
        &small.directory.path().join("footers"),
        &common::corpus::documents(&texts),
        1,
    );
    let small = Small {
        input,
        command: |input, out| {
            format!(
                "LOOKALIKE_FAULTS=do=items:5000 {PROGRAM} passages {} -o {} --length 5 \
                 --max-documents 1000 --max-document 64KiB --quiet --ignore-disk-space",
                input.display(),
                out.display()
            )
        },
        ..small
    };
    let (first, then) = small.twice("size=600k", "size=64m");
    assert_eq!(first.status, 2, "{}", first.stderr);
    for part in [
        "--max-documents 1000 is not possible",
        "pairs of documents take",
        "--scratch",
    ] {
        assert!(first.stderr.contains(part), "{}", first.stderr);
    }
    assert_eq!(then.status, 0, "{}", then.stderr);
    let overlaps = fs::read_to_string(small.directory.path().join("kept/overlaps.tsv")).unwrap();
    let pairs = overlaps
        .lines()
        .filter(|line| !line.starts_with('#'))
        .count()
        - 1;
    assert_eq!(pairs, 700 * 699 / 2);
}

/// The next command emptied the scratch space, whatever was mounted in it.
#[test]
fn what_is_mounted_in_the_scratch_space_stays() {
    let Some(prefix) = mounting() else {
        return;
    };
    let directory = common::temporary();
    let root = directory.path();
    let (input, _) = corpus(root, 3);
    let command = command(&input, &root.join("out"));
    assert!(shell(&command).status.success());
    let theirs = root.join("theirs");
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("precious"), "x").unwrap();
    for place in ["scratch", "scratch/lookalike-abcdef"] {
        let place = root.join("out").join(place);
        fs::create_dir_all(&place).unwrap();
        let script = format!(
            "mount --bind {} {} && {command}",
            theirs.display(),
            place.display()
        );
        let mut started = Command::new(prefix[0]);
        let output = started
            .args(&prefix[1..])
            .args(["sh", "-c", &script])
            .output();
        let said = String::from_utf8(output.unwrap().stderr).unwrap();
        assert!(
            said.contains("another file system is mounted in it"),
            "{said}"
        );
        assert!(theirs.join("precious").exists(), "{}", place.display());
    }
    assert!(shell(&command).status.success());
}
