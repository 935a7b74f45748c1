//! What a user names: outputs onto devices, links and other directories, lists from pipes, output
//! directories as inputs, standard output that cannot be written, and the messages about them.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use crate::common;
use tempfile::TempDir;

/// What hangs is killed after this.
const HANGS: Duration = Duration::from_secs(120);

/// Runs a command line in a directory, in which `L` is the program.
fn shell(place: &Path, line: &str) -> Output {
    let child = Command::new("bash")
        .current_dir(place)
        .args(["-c", line])
        .env("L", env!("CARGO_BIN_EXE_lookalike"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    common::ended(child.unwrap(), HANGS, line).0
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn done(place: &Path, line: &str) -> String {
    let output = shell(place, line);
    assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// The message of a command that must fail.
#[track_caller]
fn refused(place: &Path, line: &str) -> String {
    let output = shell(place, line);
    let said = text(&output.stderr);
    assert!(!output.status.success(), "{line}: {said}");
    assert!(said.starts_with("error: "), "{line}: {said}");
    said
}

/// Words that no other document has.
fn words(of: usize) -> String {
    let words: Vec<String> = (0..40).map(|n| format!("w{of}x{n}")).collect();
    words.join(" ")
}

/// `in/a.jsonl` with a pair of duplicates, a run of it in `base`, and a deduplication in `k` and
/// `r`.
fn made() -> TempDir {
    static MADE: LazyLock<TempDir> = LazyLock::new(|| {
        let place = common::temporary();
        let at = place.path();
        fs::create_dir(at.join("in")).unwrap();
        let mut lines = String::new();
        for (id, of) in [("d1", 1), ("d2", 2), ("d3", 1), ("d4", 3)] {
            let more = if id == "d3" { " more" } else { "" };
            lines += &format!("{{\"id\":\"{id}\",\"text\":\"{}{more}\"}}\n", words(of));
        }
        fs::write(at.join("in/a.jsonl"), lines).unwrap();
        done(at, "$L run in -o base --quiet");
        done(at, "$L dedup in -o k --removed r --quiet");
        place
    });
    let copy = common::temporary();
    done(copy.path(), &format!("cp -a {}/. .", MADE.path().display()));
    copy
}

/// All files below a directory, with what they hold.
fn all(place: &Path, names: &[&str]) -> String {
    let names = names.join(" ");
    done(
        place,
        &format!("find {names} -type f ! -name lock | sort | xargs sha256sum"),
    )
}

const COMMANDS: [&str; 7] = [
    "report base -o node",
    "report k -o node",
    "diff base d1 d3 -o node",
    "export graph base -o node",
    "plan base --ratios 1/2 -o node",
    "dedup in -o k2 --report=node",
    "check count in -o node",
];

/// A device or FIFO is written to, a link stays a link, and so does a file of another program.
#[test]
fn outputs_replace_only_regular_files() {
    let place = made();
    let at = place.path();
    let node = at.join("node");
    let clean = || done(at, "rm -rf node target k2 k2.work");
    let kind = || fs::symlink_metadata(&node).unwrap().file_type();
    for command in COMMANDS {
        clean();
        let device = shell(at, "mknod node c 1 3");
        if device.status.success() {
            done(at, &format!("$L {command} --quiet || $L {command}"));
            assert!(kind().is_char_device(), "{command}");
        } else {
            eprintln!(
                "NOT TESTED: only root can make a device: {}",
                text(&device.stderr)
            );
        }

        clean();
        done(at, "mkfifo node");
        let reader = format!("cat node > got & $L {command} > said; wait");
        done(at, &reader);
        assert!(kind().is_fifo(), "{command}");
        let through = fs::read(at.join("got")).unwrap();

        let earlier = [&through[..], b"old"].concat();
        for target in [Some(&earlier), None] {
            clean();
            if let Some(target) = target {
                fs::write(at.join("target"), target).unwrap();
            }
            symlink("target", &node).unwrap();
            done(at, &format!("$L {command}"));
            assert!(kind().is_symlink(), "{command}");
            assert_eq!(fs::read_link(&node).unwrap(), Path::new("target"));
            let written = fs::read(at.join("target")).unwrap();
            assert!(written.len() > 20, "{command}");
            assert_eq!(written, through, "{command}");
        }

        clean();
        drop(UnixListener::bind(&node).unwrap());
        let said = refused(at, &format!("$L {command}"));
        assert!(said.contains("a socket"), "{said}");
        assert!(kind().is_socket(), "{command}");

        clean();
        fs::write(&node, "another program's").unwrap();
        let said = refused(at, &format!("$L {command}"));
        assert!(said.contains("lookalike did not write this file"), "{said}");
        assert_eq!(fs::read(&node).unwrap(), b"another program's");

        clean();
        fs::write(&node, earlier).unwrap();
        fs::write(at.join("node.tmp"), "mine").unwrap();
        done(at, &format!("$L {command}"));
        assert_eq!(fs::read(&node).unwrap(), through, "{command}");
        assert_eq!(fs::read(at.join("node.tmp")).unwrap(), b"mine");
        done(
            at,
            "rm node.tmp; test -z \"$(find . -name '*.lookalike.tmp')\"",
        );
    }
    // A name as long as names can be, and what is left of a file that cannot be written.
    done(
        at,
        "n=$(printf 'n%.0s' {1..255}); $L report base -o $n; rm $n",
    );
    refused(at, "(ulimit -f 2; exec $L report base -o node2)");
    done(at, "test -z \"$(ls -A | grep -e node2 -e lookalike.tmp)\"");
    // A link like that of standard output. The file may have more in it.
    symlink("/proc/self/fd/1", at.join("out")).unwrap();
    fs::write(at.join("log"), "more\n").unwrap();
    let said = refused(at, "$L export graph base -o out >> log");
    assert!(said.contains("regular file"), "{said}");
    assert_eq!(fs::read(at.join("log")).unwrap(), b"more\n");
    assert!(done(at, "$L export graph base -o out | cat").starts_with("graph"));
    done(at, "test -L out");
}

/// Directories of files, too: a name in one may be a link that someone else made.
#[test]
fn files_of_a_directory_replace_no_links() {
    let place = made();
    let at = place.path();
    fs::write(at.join("j.txt"), "1 0 d1 1\n1 0 d2 0\n").unwrap();
    fs::write(
        at.join("t.csv"),
        format!("id,question\nq,\"{}\"\n", words(2)),
    )
    .unwrap();
    for (name, command) in [
        ("qrels", "lab qrels j.txt --clusters base"),
        (
            "transferred.tsv",
            "lab transfer --labels j.txt --from base --to base",
        ),
        ("truth.tsv", "lab perturb in"),
        (
            "items.tsv",
            "contamination in --test-set t.csv --fields question",
        ),
    ] {
        fs::create_dir(at.join("o")).unwrap();
        fs::write(at.join("precious"), "precious").unwrap();
        symlink("../precious", at.join("o").join(name)).unwrap();
        refused(at, &format!("$L {command} -o o"));
        done(
            at,
            "test -L o/* && test $(cat precious) = precious && rm -r o",
        );
    }
}

/// Manual pages replaced the user's files, wrote through links out of the directory, and waited for
/// FIFOs.
#[test]
fn manual_pages_replace_only_manual_pages() {
    let place = common::temporary();
    let at = place.path();
    for program in ["$L", "$L lab"] {
        let man = format!("{program} man man");
        done(at, &format!("{man} && {man} && mv man pages && mkdir man"));
        let page = "man/$(ls pages | tail -n 1)";
        for (make, says) in [
            ("echo mine >", "lookalike did not write this file"),
            ("echo mine > mine; ln -s ../mine", "a symbolic link"),
            ("ln -s nowhere", "a symbolic link"),
            ("mkfifo", "a FIFO"),
            ("mkdir", "a directory"),
        ] {
            done(at, &format!("{make} {page}"));
            let said = refused(at, &man);
            assert!(said.contains(says), "{said}");
            done(at, &format!("test $(ls man | wc -l) = 1; rm -r {page}"));
        }
        done(at, "test $(cat mine) = mine && rm -r man pages mine");
    }
}

/// Nothing is written into what another command made, or into what the same command is to make.
#[test]
fn outputs_stay_out_of_other_output_directories() {
    let place = made();
    let at = place.path();
    fs::write(at.join("j.txt"), "1 0 d1 1\n").unwrap();
    fs::write(
        at.join("t.csv"),
        format!("id,question\nq,\"{}\"\n", words(2)),
    )
    .unwrap();
    let everything = ["base", "k", "r", "k.work", "in"];
    let before = all(at, &everything);
    for file in [
        "r/removed.jsonl",
        "r/a.jsonl",
        "r/new",
        "r/.lookalike/dedup.json",
        "k/a.jsonl",
        "k/new",
        "k.work/pairs.tsv",
        "k.work/new",
        "base/new",
        "base/scratch/new",
        "in/a.jsonl",
    ] {
        refused(at, &format!("$L report k -o {file}"));
        if !Path::new(&at.join(file)).exists() {
            refused(at, &format!("$L report k --verdicts {file} -o p.html"));
        }
        if !file.starts_with("base") {
            refused(at, &format!("$L report base -o {file}"));
        }
        assert!(!at.join("p.html").exists(), "{file}");
    }
    for directory in [
        "base",
        "base/scratch",
        "base/index",
        "k",
        "r",
        "k.work/pairs",
    ] {
        for command in [
            "dedup in --removed r2 --work w2",
            "run in",
            "stage ingest in",
            "passages in",
            "passages in --remove",
            "contamination in --test-set t.csv --fields question",
            "lab perturb in",
            "lab qrels j.txt --clusters base",
            "lab transfer --labels j.txt --from base --to base",
        ] {
            refused(at, &format!("$L {command} -o {directory}/x"));
        }
        refused(at, &format!("$L dedup in -o k2 --removed {directory}/x"));
        refused(at, &format!("$L dedup in -o k2 --work {directory}/x"));
    }
    done(at, "rm -rf k2 k2.work r2 w2");
    for file in [
        "r2/removed.jsonl",
        "r2/a.jsonl",
        "k2/x",
        "k2.work/pairs.tsv",
        "in/x",
        "no/x",
    ] {
        let said = refused(
            at,
            &format!("$L dedup in -o k2 --removed r2 --report={file}"),
        );
        assert!(said.starts_with("error: --report "), "{said}");
        assert!(!at.join("k2.work").exists(), "{file}: before the search");
    }
    assert_eq!(all(at, &everything), before);
}

/// A page replaces none of the results that it is about, and files of other programs that have the
/// names of results are nobody's to replace.
#[test]
fn contamination_replaces_only_what_it_wrote() {
    let place = made();
    let at = place.path();
    let item = format!("id,question\nq,\"{}\"\n", words(9));
    fs::write(at.join("t.csv"), item).unwrap();
    let search = "$L contamination in --test-set t.csv --fields question -q -o";
    let outside = "give --report without a file, or a path outside of it";
    for again in [false, true] {
        let before = all(at, &["."]);
        for page in [
            "c/drop.tsv",
            "c/items.tsv",
            "c/contaminated.jsonl",
            "c/contamination.json",
            "c/rejects.jsonl",
            "c/lock",
            "c/page.html",
            "./in/../c/new/page.html",
            "c",
        ] {
            let said = refused(at, &format!("{search} c --report={page}"));
            assert!(
                said.contains(page) && said.contains("overlaps") && said.contains(outside),
                "{said}"
            );
            assert_eq!(at.join("c").exists(), again, "{page}");
        }
        assert_eq!(all(at, &["."]), before);
        for page in ["--report", "--report=./in/../c/report.html"] {
            done(at, &format!("rm -f c/report.html; {search} c {page}"));
            let page = fs::read_to_string(at.join("c/report.html")).unwrap();
            assert!(page.contains("test item is in the corpus"), "{page}");
        }
    }

    // Known by the lock file: neither by names, nor by what the report is called.
    let perturb = "$L lab perturb in --recipe cherkasova -q -o";
    fs::write(at.join("j.txt"), "1 0 d1 1\n1 0 d3 0\n").unwrap();
    let qrels = "$L lab qrels j.txt --clusters base -q -o";
    let transfer = "$L lab transfer --labels j.txt --from base --to base -q -o";
    for (command, name) in [
        (search, "drop.tsv"),
        (search, "report.html"),
        (search, "contamination.json"),
        (search, "items.tsv.tmp"),
        (perturb, "truth.tsv"),
        (qrels, "contradictions.jsonl"),
        (transfer, "contradictions.jsonl"),
    ] {
        done(at, "mkdir o");
        fs::write(at.join("o").join(name), "{\"ngram\": 13}\n").unwrap();
        let files = "cd o; ls -A; cat *";
        for lock in [None, Some(""), Some("held by me\n")] {
            if let Some(text) = lock {
                fs::write(at.join("o/lock"), text).unwrap();
            }
            let before = done(at, files);
            let said = refused(at, &format!("{command} o"));
            assert!(said.contains("no lock file of an earlier "), "{said}");
            assert_eq!(done(at, files), before);
        }
        done(at, "rm -r o");
    }
    // A command that was stopped before it had written anything, or between its files.
    for lock in ["", "proc", "\0\0\0\0\0\0\0\0\0", "process 1 on nowhere\n"] {
        fs::create_dir(at.join("o")).unwrap();
        fs::write(at.join("o/lock"), lock).unwrap();
        done(at, &format!("{search} o && rm o/contamination.json"));
        done(
            at,
            &format!("{search} o && test -s o/contamination.json && rm -r o"),
        );
    }

    // Their own files are replaced, and not each other's, which have the same names.
    for _ in 0..2 {
        done(at, &format!("{qrels} q; {transfer} t"));
        for (command, says) in [
            (format!("{qrels} t"), "it contains transferred.tsv"),
            (format!("{transfer} q"), "it contains qrels"),
        ] {
            let said = refused(at, &command);
            assert!(said.contains(says), "{said}");
        }
    }

    // Files of one search are not outputs of another command.
    done(at, &format!("{search} o; {search} two"));
    let files = "cat o/*";
    let before = done(at, files);
    for command in [
        "two --report=o/drop.tsv",
        "two --report=o/mine.html",
        "o/two",
    ] {
        let said = refused(at, &format!("{search} {command}"));
        assert!(said.contains("output directory"), "{said}");
        assert_eq!(done(at, files), before);
    }
    let said = refused(at, "$L man o");
    assert!(said.contains("the files of another command"), "{said}");
    assert_eq!(done(at, "cat o/*"), before);
    done(at, "rm -r two");

    // All files are there when rejected records are an error.
    done(at, "echo '{}' >> in/a.jsonl");
    let said = refused(at, &format!("{search} o --strict --report"));
    assert!(said.contains("(--strict)"), "{said}");
    done(at, "test -s o/report.html && test -s o/contamination.json");

    let said = refused(at, "$L passages base --report=base/pairs.tsv -q");
    assert!(
        said.starts_with("error: --report base/pairs.tsv "),
        "{said}"
    );
}

/// A pipe gives the same answer as a file.
#[test]
fn lists_come_from_pipes() {
    let place = made();
    let at = place.path();
    fs::write(at.join("j.txt"), "1 0 d1 1\n1 0 d2 0\n").unwrap();
    fs::write(at.join("j.tsv"), "docno\tlabel\nd1\t1\nd2\t0\n").unwrap();
    fs::write(at.join("j.csv"), "docno,label\nd1,1\nd2,0\n").unwrap();
    fs::write(at.join("rm.tsv"), "file\trecord\na.jsonl\t4\n").unwrap();
    for (list, command) in [
        ("j.txt", "lab transfer --from base --to base --labels"),
        (
            "j.txt",
            "lab transfer --from base --to base --labels-format trec --labels",
        ),
        ("j.tsv", "lab transfer --from base --to base --labels"),
        ("j.csv", "lab transfer --from base --to base --labels"),
        ("j.txt", "lab qrels --clusters base"),
        ("base/pairs.tsv", "evaluate --truth base"),
    ] {
        let rest = |text: String| -> Vec<String> {
            // The shell takes the highest number that is free.
            let numbers = (50..64).map(|number| format!("/dev/fd/{number}"));
            let text = numbers.fold(text, |text, number| text.replace(&number, list));
            text.lines().skip(1).map(Into::into).collect()
        };
        let file = rest(done(at, &format!("$L {command} {list}")));
        let pipe = rest(done(at, &format!("$L {command} <(cat {list})")));
        assert_eq!(file, pipe, "{command} {list}");
    }
    done(at, "$L dedup in -o k1 --remove rm.tsv --quiet");
    done(at, "$L dedup in -o k2 --remove <(cat rm.tsv) --quiet");
    done(
        at,
        "cmp k1/a.jsonl k2/a.jsonl && test $(wc -l < k2/a.jsonl) = 2",
    );
    // The directory has its own copy of the list.
    done(at, "rm rm.tsv; $L report k1 && $L report k2");
}

/// A signal ends a command that waits for a FIFO, and a directory can make none wait or quote a
/// file.
#[test]
fn nothing_waits_for_a_fifo_for_ever() {
    #[cfg(target_os = "linux")]
    super::children_receive_signals();
    let place = made();
    let at = place.path();
    done(at, "mkfifo fifo");
    for command in [
        "dedup in -o k2 --remove fifo",
        "lab transfer --labels fifo --from base --to base",
        "report base -o fifo",
    ] {
        let line = format!("$L {command} & p=$!; sleep 0.5; kill -TERM $p; wait $p");
        assert_eq!(shell(at, &line).status.code(), Some(130), "{command}");
    }
    fs::write(at.join("secret"), "file\trecord\nvery secret\t1\n").unwrap();
    fs::write(at.join("rm.tsv"), "file\trecord\na.jsonl\t4\n").unwrap();
    done(
        at,
        "$L dedup in -o k3 --remove rm.tsv --quiet; mkfifo k3/fifo",
    );
    let source = fs::read_to_string(at.join("k3/.lookalike/source.json")).unwrap();
    let real = at.canonicalize().unwrap();
    let outside = real.join("secret").display().to_string();
    for list in ["fifo", "../fifo", "../secret", &outside, "/etc/passwd"] {
        let forged = source.replace(".lookalike/remove", list);
        assert_ne!(forged, source);
        fs::write(at.join("k3/.lookalike/source.json"), forged).unwrap();
        let said = refused(at, "$L report k3 -o p.html");
        assert!(
            !said.contains("very secret") && !said.contains("root:"),
            "{said}"
        );
    }
    fs::write(at.join("k3/.lookalike/source.json"), &source).unwrap();
    for copy in ["mkfifo", "ln -s ../../secret"] {
        done(at, &format!("cd k3/.lookalike; rm remove; {copy} remove"));
        let said = refused(at, "$L report k3 -o p.html");
        assert!(said.contains("expected a regular file"), "{said}");
    }
    // The inputs of a directory that someone else made.
    done(
        at,
        "cp -r in in2; $L run in2 -o b2 --quiet; rm in2/a.jsonl; mkfifo in2/a.jsonl",
    );
    shell(
        at,
        "$L show b2 d1; $L diff b2 d1 d3; $L report b2 -o p.html",
    );
    refused(at, "$L dedup --from b2 -o k4");
}

/// The content of manifest.json decides, and an output directory is not an input.
#[test]
fn output_directories_are_told_from_others() {
    let place = made();
    let at = place.path();
    fs::write(
        at.join("in/manifest.json"),
        "{\"name\":\"app\",\"version\":\"1.0\"}\n",
    )
    .unwrap();
    fs::write(
        at.join("t.csv"),
        format!("id,question\nq,\"{}\"\n", words(2)),
    )
    .unwrap();
    done(
        at,
        "$L contamination in --test-set t.csv --fields question -o c --quiet",
    );
    done(at, "$L passages in -o s --quiet");
    done(at, "$L run in/a.jsonl -o o --quiet");
    done(at, "$L query o in --quiet");
    done(at, "$L add o in --quiet");
    assert!(refused(at, "$L query in in").contains("another program wrote its manifest.json"));
    let said = refused(at, "$L run base/pairs.tsv -o in");
    assert!(
        said.contains("another program wrote its manifest.json"),
        "{said}"
    );

    for command in [
        "run base -o r1",
        "dedup base -o k1",
        "passages in base -o s1",
        "add o base",
        "query o base",
    ] {
        let said = refused(at, &format!("$L {command}"));
        assert!(
            said.contains("base is not possible: it is an output directory"),
            "{said}"
        );
        assert!(
            said.contains("--from") && said.contains("--read-outputs"),
            "{said}"
        );
    }
    assert!(done(at, "$L run base -o r1 --read-outputs").contains("Read "));
    // What was deduplicated is an input like any other.
    done(at, "$L run k -o r2 --quiet");

    let other = common::temporary();
    done(
        other.path(),
        &format!("cp {}/in/a.jsonl .; $L run . -o out1 --quiet", at.display()),
    );
    let again = done(other.path(), "$L run . -o out1; $L run . -o out2");
    let documents = again.lines().filter(|line| line.starts_with("Read "));
    assert!(
        documents
            .clone()
            .all(|line| line.starts_with("Read 4 documents from 1 file")),
        "{again}"
    );
    assert_eq!(documents.count(), 2, "{again}");
    assert_eq!(
        again.matches("left out: 1 output directory").count(),
        1,
        "{again}"
    );
}

/// Results that cannot be printed are an error of every command.
#[test]
fn standard_output_that_cannot_be_written_is_an_error() {
    let place = made();
    let at = place.path();
    fs::write(at.join("ro"), "x\n").unwrap();
    let full = shell(at, "mknod full c 1 7").status.success();
    if !full {
        eprintln!("NOT TESTED: only root can make a device that is full");
    }
    for command in [
        "query base in/a.jsonl --json",
        "query base in/a.jsonl",
        "export graph base",
        "show base d1",
        "diff base d1 d3",
        "status base",
        "check inspect base/pairs/*",
        "completions bash",
        "--help",
        "run --help",
        "--version",
        "lab method",
        "run in -o base",
        "lab transfer --labels <(echo 1 0 d1 1) --from base --to base",
    ] {
        done(at, &format!("$L {command} | head -c 1"));
        let mut outputs = vec!["1< ro", ">&-"];
        outputs.extend(full.then_some("> full"));
        for output in outputs {
            if command == "lab method" && output != ">&-" {
                continue;
            }
            let output_ = shell(at, &format!("$L {command} {output}"));
            let said = text(&output_.stderr);
            assert!(!output_.status.success(), "{command} {output}: {said}");
            assert!(
                said.contains("cannot write standard output"),
                "{command} {output}: {said}"
            );
        }
    }
    assert_eq!(fs::read(at.join("ro")).unwrap(), b"x\n");
}

/// Messages name the value, the place and the remedy.
#[test]
fn messages_say_what_to_do() {
    let place = made();
    let at = place.path();
    fs::write(at.join("empty"), "").unwrap();
    let big = (0..9000).map(|n| format!("{{\"id\":{n},\"text\":\"text number {n}\"}}\n"));
    fs::write(at.join("big.jsonl"), big.collect::<String>()).unwrap();
    let two = "{\"text\":\"one two\"}\n{\"text\":\"one\"}\n";
    fs::write(at.join("x.jsonl"), two).unwrap();
    symlink("nodir", at.join("nowhere")).unwrap();
    symlink("nodir/page.html", at.join("page-nowhere")).unwrap();
    let nowhere = "nowhere is a symbolic link to something that does not exist; create that, or";
    // A program that reads object stores asks them first.
    let (here, of_stores): (_, &[&str]) = match cfg!(feature = "remote") {
        true => ("give a directory or file here", &[]),
        false => (
            "copy the data here",
            &[
                "run s3://bucket/x -o o",
                "dedup in -o s3://bucket/x",
                "report base -o gs://bucket/x",
                "dedup in -o k2 --removed gs://a/b",
                "dedup in -o k2 --report s3://a/b",
                "query base https://host/page.html",
            ],
        ),
    };
    let of_stores = of_stores.iter().map(|&command| (command, here));
    for (command, expected) in [
        (
            "report base --by host",
            "--by host is not possible: base is not an output directory of `lookalike dedup`",
        ),
        ("report base --verdicts x", "--verdicts x is not"),
        (
            "report nodir",
            "error: nodir does not exist\n  help: give the directory that `lookalike run INPUT... -o \
             DIR` made",
        ),
        (
            "status \"$(printf 'no\\nerror: x')\"",
            "error: no\\x0aerror: x does not exist",
        ),
        (
            "status in",
            "in is not an output directory of lookalike: it has no manifest.json",
        ),
        ("status in/a.jsonl", "it is a file"),
        ("query k in", "did you mean k.work?"),
        ("dedup --from base -o named -q && $L status named", "did you mean base?"),
        (
            "-V && mkdir -p out/.lookalike && echo '{\"work\":\"../../'$(basename $PWD)'/base\"}' > \
             out/.lookalike/source.json && $L status out",
            "help: give the directory that `lookalike run INPUT... -o DIR` made",
        ),
        ("run in -o empty", "PATH empty is not possible: it is a file, not a directory"),
        ("passages in -o empty/x", "PATH empty is not possible"),
        ("tasks run empty --task 0", "PATH empty is not possible"),
        ("man empty", "PATH empty is not possible"),
        ("run in -o $(printf '%0300d' 0)", "a name in it is too long; give a shorter one"),
        (
            "dedup in -o k2 --drop base",
            "error: cannot read base: is a directory\n  help: give a file in it\n",
        ),
        ("report base --study", "use 'lookalike lab study DIR --page'"),
        (
            "run in -o o --threshold 0.9999999999999999999999",
            "at most 9 decimals",
        ),
        ("passages in", "--output is missing: give -o DIR"),
        (
            "run in/a.jsonl k/a.jsonl -o base2 --quiet && $L run k -o base2",
            "error: base2 holds results of other inputs: in/a.jsonl is not an input of this \
             command\n  help: use another -o, or add the new inputs to it with `lookalike add \
             base2 INPUT...`",
        ),
        (
            "run in/a.jsonl -o earlier --quiet && $L run k/a.jsonl --against earlier -o later --quiet && \
             $L run in/a.jsonl k/a.jsonl --against earlier -o later",
            "error: later holds results of other inputs: it was made without in/a.jsonl\n  help: use \
             another -o; to continue it, give the same INPUT",
        ),
        (
            "run mistyped -o o",
            "no such file or directory: mistyped\n  help: check the path\n",
        ),
        (
            "run in/aa.jsonl -o o",
            "no such file or directory: in/aa.jsonl\n  help: did you mean in/a.jsonl?\n",
        ),
        (
            "report bases",
            "error: bases does not exist\n  help: did you mean base?\n",
        ),
        (
            "evaluate base --truth basee",
            "no such file or directory: basee\n  help: did you mean base?\n",
        ),
        (
            "evaluate no --truth base",
            "no such file or directory: no\n  help: check",
        ),
        (
            "dedup in -o k2 --drop no",
            "no such file or directory: no\n  help: check",
        ),
        ("check inspect no", "no such file or directory: no\n  help: check"),
        ("report in/a.jsonl", "error: in/a.jsonl is not an output"),
        (
            "run in -o o --memory 10M",
            "or --memory 59MiB with --max-document 1MiB\n",
        ),
        ("run in -o o --memory 100M", ", or --max-document 16MiB\n"),
        ("in", "'lookalike run in -o DIR'"),
        ("evaluate base --truth s3://a/b", here),
        ("status hf://datasets/x", here),
        ("dedup in -o k2 --work s3://a/b", "s3://a/b is not"),
        ("dedup in -o k2 --work k", "--work k is not possible"),
        ("dedup in -o k2 --drop s3://a/b", here),
        ("run in -o o --scratch s3://a/b", here),
        (
            "check inspect base",
            "error: cannot read base: Is a directory\n  help: give a file",
        ),
        ("run file:///tmp/x -o o", "without file://"),
        (
            "contamination in --test-set big.jsonl --fields txt",
            "give --fields text; the first record: big.jsonl, offset 0: no text field: no field txt",
        ),
        ("find in", "'run'"),
        ("deduplicate in", "'dedup'"),
        ("check inspect page.html", "open it in a browser"),
        ("run in -o s3://bucket/x", here),
        ("dedup in -o k2 --against s3:/a/b", "s3:/a/b is not on this"),
        ("dedup in -o k2 --verdicts s3://a/b", here),
        (
            "evaluate base --truth base --judged s3://a/b",
            here,
        ),
        ("passages in -o s3://bucket/x", here),
        ("check count in -o s3://bucket/x", here),
        ("man s3://bucket/x", here),
        ("dedup in -o k2 --drop empty", "empty: expected"),
        (
            "dedup in -o k2 --keep max:nothing",
            "no record has a field nothing with a string or a number; the first record has id (",
        ),
        ("dedup in -o k2 --keep max:idd", "; did you mean id?"),
        (
            "dedup big.jsonl -o k2 --keep max:idd -q",
            "; did you mean id?",
        ),
        ("dedup in -o k2 --keep nothing", "is not a policy"),
        // What cannot be made is refused before anything is read.
        ("export graph base -o new/", "it is the name of a directory; give a file"),
        ("export graph base -o new/.", "it is the name of a directory; give a file"),
        ("report base -o page-nowhere", "./nodir does not exist; create it first"),
        ("run in -o nowhere", nowhere),
        ("stage ingest in -o nowhere", nowhere),
        ("dedup in -o nowhere", nowhere),
        ("dedup in -o k2 --removed nowhere/r", nowhere),
        ("dedup in -o k3 --work nowhere", nowhere),
        ("passages in -o nowhere", nowhere),
        ("tasks plan in --tasks 1 -o nowhere", nowhere),
        ("lab perturb in --recipe cherkasova -o nowhere", nowhere),
        ("man nowhere", nowhere),
        // What is written down is text.
        (
            "run in -o $'w\\xe9' -q && $L run x.jsonl -o o --against $'w\\xe9'",
            "path is not UTF-8",
        ),
        ("dedup in -o $'k\\xe9'", "path of its work directory is not UTF-8"),
        ("dedup in -o k2 --work $'v\\xe9'", "path of its work directory is not UTF-8"),
        (
            "dedup --from $'w\\xe9' -o k2",
            "path of its work directory is not UTF-8",
        ),
        // What a message says is so.
        (
            "dedup in -o k2 --drop page-nowhere",
            "no such file or directory: page-nowhere\n  help: it is a symbolic link to something that \
             does not exist",
        ),
        (
            "run x.jsonl -o x -q; tac x.jsonl > y; touch -r x.jsonl y; mv y x.jsonl; \
             $L passages x --length 2",
            "x.jsonl has something else at offset 19, had the document x.jsonl:2 there\n",
        ),
        // What a message advises can be pasted.
        (
            "run in/a.jsonl -o 'my base' -q && $L run k -o 'my base'",
            "`lookalike add 'my base' INPUT...`",
        ),
        (
            "tasks plan in --tasks 1 -o 'my ex' | grep \"tasks run 'my ex' --task\" && \
             $L tasks finish 'my ex' -o o",
            "`lookalike tasks status 'my ex'`",
        ),
        (
            "run in -o 'my links' --pairs none -q && $L export graph 'my links'",
            "error: DIR my links is not possible: its pairs were not listed; list them: `lookalike run \
             --from 'my links' --pairs all`",
        ),
        (
            "export versions 'my links'",
            "error: DIR my links is not possible: its pairs by resemblance are not listed; find them: \
             `lookalike run --from 'my links' --score",
        ),
        (
            "run in -o sampled --sampling 1/2 -q; $L export versions sampled",
            "error: DIR sampled is not possible: its pairs are not all exact pairs; find them: \
             `lookalike run --from sampled --sampling full`",
        ),
    ]
    .into_iter()
    .chain(of_stores)
    {
        if command.starts_with("check inspect") {
            done(at, "$L report base -o page.html");
        }
        let said = text(&shell(at, &format!("$L {command}")).stderr);
        assert!(said.starts_with("error: "), "{command}: {said}");
        assert!(said.contains(expected), "{command}: {said}");
        assert!(!said.contains("line 0"), "{command}: {said}");
        done(at, "test ! -e k2.work && test ! -e o && test ! -e s3:");
    }
}

/// A date that could not be read counted as missing.
#[test]
fn dates_that_cannot_be_read_are_reported() {
    let place = common::temporary();
    let at = place.path();
    let rows = ["2024-01-02", "02.01.2024", "Jan 3, 2024", "soon"];
    let rows = rows.map(|d| format!("{{\"id\":\"{d}\",\"text\":\"a b c\",\"d\":\"{d}\"}}\n"));
    fs::write(at.join("in.jsonl"), rows.concat()).unwrap();
    let said = text(&shell(at, "$L dedup in.jsonl -o k --keep newest:d -q").stderr);
    let expected = "warning: --keep newest:d: 2 of 4 values cannot be read as a date, such as \
                    \"02.01.2024\"; their documents come last";
    assert!(said.contains(expected), "{said}");
    // The page decides again, and the warning is not repeated; other copies say what they follow.
    let said = shell(
        at,
        "$L dedup --from k.work -o again --report --keep newest:d -q",
    );
    assert_eq!(text(&said.stderr).matches("2 of 4 values").count(), 1);
    let said = text(&shell(at, "$L dedup --from k.work -o more").stderr);
    assert!(
        said.contains("--keep first, the default; k was made with --keep newest:d"),
        "{said}"
    );
    let kept = fs::read_to_string(at.join("k/in.jsonl")).unwrap();
    assert_eq!(kept, rows[2]);
    fs::write(at.join("in.jsonl"), [&*rows[1], &*rows[3]].concat()).unwrap();
    let said = text(&shell(at, "$L dedup in.jsonl -o other --keep oldest:d -q").stderr);
    let expected = "error: --keep oldest:d is not possible: no value of d is a date that can be \
                    read, such as 2024-01-31; it has \"02.01.2024\"";
    assert!(said.contains(expected), "{said}");
    // A number beside dates is a year, but for `max` it is a number, which is told.
    let row = |d: &str| format!("{{\"text\":\"a b c\",\"d\":\"{d}\"}}\n");
    for (keep, other, kept, warns) in [
        ("newest", "2023-12-31", "2024", false),
        ("oldest", "2023-12-31", "2023-12-31", false),
        ("newest", "1971-01-01", "2024", false),
        ("max", "1971-01-01", "1971-01-01", true),
        ("max", "2023", "2024", false),
        ("max", "", "2024", false),
    ] {
        fs::write(at.join("y.jsonl"), row("2024") + &row(other)).unwrap();
        let how = format!("$L dedup y.jsonl -o y-{keep}{other} --keep {keep}:d -q");
        let said = text(&shell(at, &how).stderr);
        assert_eq!(said.contains("d has numbers and dates"), warns, "{said}");
        let found = fs::read_to_string(at.join(format!("y-{keep}{other}/y.jsonl"))).unwrap();
        assert_eq!(found, row(kept), "{keep} {other}");
    }
}

/// The command that contamination names reads the corpus as it did.
#[test]
fn contaminated_documents_are_dropped_by_the_command_that_is_named() {
    let place = common::temporary();
    let at = place.path();
    let words = (0..20)
        .map(|n| format!("w{n}"))
        .collect::<Vec<_>>()
        .join(" ");
    fs::create_dir(at.join("in")).unwrap();
    fs::write(at.join("in/a.csv"), format!("x;y\nu 1;-\nu 2;{words}\n")).unwrap();
    fs::write(at.join("in/b.txt"), "left out").unwrap();
    fs::write(at.join("test.jsonl"), format!("{{\"text\":\"{words}\"}}\n")).unwrap();
    let read = "--columns 'uid,content' --id-field uid --text-field content --delimiter ';' --null - \
                --null 'n a' --exclude '*.txt' --max-document 2MiB";
    let command = format!("$L contamination in --test-set test.jsonl -o found {read}");
    let said = text(&shell(at, &command).stdout);
    let next = said
        .lines()
        .find_map(|line| line.strip_prefix("Next: lookalike "));
    let next = next.unwrap_or_else(|| panic!("{said}"));
    let done = shell(at, &format!("$L {next}"));
    assert!(done.status.success(), "{next}: {}", text(&done.stderr));
    let kept = fs::read_to_string(at.join("clean/a.csv")).unwrap();
    assert_eq!(kept, "x;y\nu 1;-\n", "{next}");
    assert!(!at.join("clean/b.txt").exists());
    let said = text(&shell(at, &command).stdout);
    assert!(said.contains(" -o clean-2 "), "{said}");
}

/// A file from which no document was read is named at the very end, with the reason and the fields
/// that it has, also with --quiet and --json.
#[test]
fn unread_files_are_reported_last() {
    let place = made();
    let at = place.path();
    let rows = "{\"id\":1,\"story\":\"some words\"}\n".repeat(3);
    fs::write(at.join("in/bad.jsonl"), rows).unwrap();
    fs::copy(at.join("in/a.jsonl"), at.join("test.jsonl")).unwrap();
    let first = "warning: no document was read from in/bad.jsonl: no text field: none of text, \
                 contents, content, body, html, raw_content, article; it has id (integer), story \
                 (string); the longest text is in story\n  help: read such files with --text-field \
                 'text|story'";
    for (command, list) in [
        ("run in -o o1", "; o1/rejects.jsonl lists each record\n"),
        ("run in -o o1 --quiet", "; o1/rejects.jsonl"),
        ("run in -o o1 --json", "; o1/rejects.jsonl"),
        ("stage ingest in -o o2 --quiet", "\n"),
        ("dedup in -o o3 --quiet", "; o3.work/rejects.jsonl"),
        ("passages in -o o4 --quiet", "; o4/rejects.jsonl"),
        ("check count in --quiet", "\n"),
        ("contamination in --against test.jsonl --quiet", "\n"),
        (
            "contamination in --against test.jsonl -o o5 --quiet",
            "; o5/rejects.jsonl",
        ),
    ] {
        let output = shell(at, &format!("$L {command}"));
        let told = text(&output.stderr);
        assert!(output.status.success(), "{command}: {told}");
        if command.contains("-o") && command.contains("--quiet") {
            assert_eq!(text(&output.stdout), "", "{command}");
        }
        let found = told.find(first).map(|found| &told[found + first.len()..]);
        let rest = found.unwrap_or_else(|| panic!("{command}: {told}"));
        assert!(rest.starts_with(list), "{command}: {told}");
        assert_eq!(rest.lines().count(), 1, "{command}: {told}");
    }
    let told = shell(at, "$L query o1 in/bad.jsonl -q");
    let told = text(&told.stderr);
    assert!(
        told.contains("rejected; the first: bad.jsonl, document 1: no text field:"),
        "{told}"
    );
    let told = shell(at, "$L run in/a.jsonl -o o9 --id-field idd");
    let told = text(&told.stderr);
    let warning = "warning: no document has the field idd (--id-field), so all are named \
                   FILE:RECORD; the first record has id (";
    assert!(
        told.contains(warning) && told.ends_with("; did you mean id?\n"),
        "{told}"
    );
    // A file with a document, and an empty file.
    fs::write(
        at.join("in/bad.jsonl"),
        "{\"text\":\"a\"}\n{\"story\":\"b\"}\n",
    )
    .unwrap();
    fs::write(at.join("in/empty.jsonl"), "").unwrap();
    for command in ["run in -o o6 -q", "check count in -q"] {
        let told = text(&shell(at, &format!("$L {command}")).stderr);
        assert_eq!(told, "", "{command}");
    }
    // Files of several segments.
    let mut many = String::new();
    for n in 0..400 {
        many += &format!("{{\"id\":{n},\"text\":\"{}\"}}\n", "word ".repeat(20));
    }
    fs::write(at.join("in/b1.jsonl"), &many).unwrap();
    fs::write(at.join("in/b2.jsonl"), many.replace("text", "other")).unwrap();
    fs::write(at.join("in/b3.jsonl"), format!("{many}{{\"id\":1}}\n")).unwrap();
    let told = shell(at, "$L run in -o o7 -q --segment-size 1KiB");
    let told = text(&told.stderr);
    let named = told.lines().next().unwrap_or_default();
    assert!(
        named.starts_with("warning: no document was read from in/b2.jsonl: no text"),
        "{told}"
    );
    assert_eq!(told.lines().count(), 2, "{told}");
    // An addition warns of what it reads.
    fs::write(at.join("more.jsonl"), &many).unwrap();
    fs::write(at.join("worse.jsonl"), many.replace("text", "other")).unwrap();
    assert_eq!(text(&shell(at, "$L add o7 more.jsonl -q").stderr), "");
    let told = shell(at, "$L add o7 worse.jsonl -q");
    let told = text(&told.stderr);
    let first = "warning: no document was read from worse.jsonl: no text";
    assert!(told.starts_with(first), "{told}");
    let again = text(&shell(at, "$L add o7 worse.jsonl -q").stderr);
    assert!(again.starts_with(first), "{again}");
    assert!(!again.contains("b2.jsonl"), "{again}");
}

/// A threshold that is not given again is the default again, which a line says.
#[test]
fn a_threshold_that_is_not_given_again_is_told() {
    let place = made();
    let at = place.path();
    let told = |flags: &str| text(&shell(at, &format!("$L run in/a.jsonl -o o {flags}")).stderr);
    assert!(!told("--threshold 0.5 --pairs none").contains("had the pairs"));
    let said = told("");
    let line = "o had the pairs from 0.5 on, and now has the pairs from 0.85 on. To find the others \
                again, give --threshold 0.5\n";
    assert!(said.contains(line), "{said}");
    assert!(!told("").contains("had the pairs"));
    assert!(!told("--threshold 0.6").contains("had the pairs"));
    assert!(!told("--threshold 0.85").contains("had the pairs"));
    told("--threshold 0.6");
    let refused = told("--shingle-size 3");
    assert!(!refused.contains("had the pairs"), "{refused}");
}

/// A file none of whose records can be read is named, with the reason.
#[test]
fn rejected_records_are_reported_by_file() {
    let place = made();
    let at = place.path();
    let mut bad = fs::File::create(at.join("in/bad.jsonl")).unwrap();
    for n in 0..3 {
        writeln!(bad, "{{\"id\":{n},\"other\":\"x\"}}").unwrap();
    }
    let expected = |out: &str| {
        format!(
            "\nrejected, by file ({out}/rejects.jsonl has each record):\n  in/bad.jsonl: no text field 3\n"
        )
    };
    let not_used = |out: &str| {
        format!("\nNot used: 3 records (no text field 3). {out}/rejects.jsonl lists each.\n")
    };
    let told = done(at, "$L run in -o o");
    assert!(told.contains(&not_used("o")), "{told}");
    assert!(!told.contains("rejected, by file"), "{told}");
    let told = done(at, "$L run in -o o -v");
    assert!(told.contains(&expected("o")), "{told}");
    let told = done(at, "$L dedup in -o k5");
    assert!(told.contains(&not_used("k5.work")), "{told}");
    let told = done(at, "$L dedup in -o k6 -v");
    assert!(told.contains(&expected("k6.work")), "{told}");
    let told = done(at, "$L run in/a.jsonl -o o2");
    assert!(!told.contains("Not used"), "{told}");
    // Of many files, the first are named.
    for n in 10..25 {
        fs::copy(at.join("in/bad.jsonl"), at.join(format!("in/bad{n}.jsonl"))).unwrap();
    }
    let told = done(at, "$L run in -o o3");
    assert!(
        told.contains("\nNot used: 48 records (no text field 48). o3/"),
        "{told}"
    );
    for command in ["run in -o o3 -v", "status o3"] {
        let told = done(at, &format!("$L {command}"));
        assert!(
            told.contains("  in/bad18.jsonl: no text field 3\n  and 6 other files\n"),
            "{told}"
        );
    }
}
