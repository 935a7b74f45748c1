//! Programs of the user that convert documents: they give the texts that they print, and none of
//! them can stop a run, outlive it or be kept as the answer of an interrupted one.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{lasting, results, rows_of, temporary};

const PROGRAM: &str = env!("CARGO_BIN_EXE_lookalike");

/// Letters are exchanged, so a file that is read without its program has other words.
const HIDDEN: &str = "hid=tr a-zA-Z n-za-mN-ZA-M";

fn hidden(text: &str) -> String {
    let turned = |c: char, a: u8| char::from((c as u8 - a + 13) % 26 + a);
    text.chars()
        .map(|c| match c {
            'a'..='z' => turned(c, b'a'),
            'A'..='Z' => turned(c, b'A'),
            c => c,
        })
        .collect()
}

fn texts() -> Vec<String> {
    (0..40)
        .map(|n| {
            let words = (0..60).map(|w| match w == 7 && n % 2 == 1 {
                true => format!("changed{n}"),
                false => format!("word{}of{w}", n / 2),
            });
            words.collect::<Vec<_>>().join(" ")
        })
        .collect()
}

fn start(arguments: &[&str]) -> Command {
    super::children_receive_signals();
    let mut command = Command::new(PROGRAM);
    command.args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn lookalike(arguments: &[&str]) -> Output {
    start(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn succeeds(arguments: &[&str]) -> String {
    let output = lookalike(arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn run<'a>(input: &'a Path, out: &'a Path, convert: &'a str) -> Vec<&'a str> {
    let (input, out) = (input.to_str().unwrap(), out.to_str().unwrap());
    let mut arguments = vec!["run", input, "-o", out, "--quiet", "--threshold", "0.5"];
    if !convert.is_empty() {
        arguments.extend(["--convert", convert]);
    }
    arguments
}

fn write_texts(directory: &Path, extension: &str, of: impl Fn(&str) -> String) -> PathBuf {
    fs::create_dir(directory).unwrap();
    for (n, text) in texts().iter().enumerate() {
        fs::write(directory.join(format!("{n:02}.{extension}")), of(text)).unwrap();
    }
    directory.into()
}

fn warc(media_type: &str, of: impl Fn(&str) -> String) -> Vec<u8> {
    let mut all = String::new();
    for (n, text) in texts().iter().enumerate() {
        let text = of(text);
        let length = text.len();
        let http = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {media_type}; x=y\r\nContent-Length: {length}\r\n\r\n{text}"
        );
        all += &format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-TREC-ID: r{n:02}\r\n\
             Content-Type: application/http\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
            http.len()
        );
    }
    all.into_bytes()
}

/// The processes whose command line contains a text.
fn running(text: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(text)).count()
}

/// The pairs of files and of records are the pairs of the plain texts, for any number of threads.
#[test]
fn converted_documents_have_the_pairs_of_their_texts() {
    let directory = temporary();
    let at = |name: &str| directory.path().join(name);
    let plain = write_texts(&at("plain"), "txt", str::to_string);
    let files = write_texts(&at("files"), "hid", hidden);
    succeeds(&run(&plain, &at("plain.out"), ""));
    let pairs = |out: &str| rows_of(&at(out), "pairs.tsv");
    let expected = pairs("plain.out");
    assert_eq!(expected.len(), 20);
    let named = |rows: Vec<String>, from: &str| -> Vec<String> {
        rows.iter().map(|row| row.replace(from, ".txt")).collect()
    };
    let mut first: Option<BTreeMap<_, _>> = None;
    for threads in ["1", "2", "5"] {
        let out = format!("files.out{threads}");
        let out_path = at(&out);
        let mut arguments = run(&files, &out_path, HIDDEN);
        arguments.extend(["--threads", threads]);
        succeeds(&arguments);
        assert_eq!(named(pairs(&out), ".hid"), expected);
        let made = results(&out_path);
        assert_eq!(first.get_or_insert_with(|| made.clone()), &made);
    }
    // Without the program, the words are others: the files have the pairs, but no common word.
    let show = |out: &str, docno: &str, program: &str| {
        let out = at(out);
        let out = out.to_str().unwrap();
        succeeds(&["show", out, docno, "--text", "--convert", program])
    };
    assert!(show("files.out1", "00.hid", HIDDEN).contains("word0of1"));
    let out = at("files.out1");
    let out = out.to_str().unwrap();
    let output = lookalike(&["diff", out, "00.hid", "01.hid"]);
    let named = format!("repeat the command with --convert '{HIDDEN}'");
    assert!(stderr(&output).contains(&named), "{output:?}");
    let output = lookalike(&["report", out]);
    let named = format!("texts missing: if you know the programs, give --convert '{HIDDEN}'");
    assert!(stderr(&output).contains(&named), "{output:?}");
    for (name, kind, media_type) in [
        ("short", HIDDEN, "application/hid"),
        (
            "long",
            "Text/X-Hidden=tr a-zA-Z n-za-mN-ZA-M",
            "text/x-hidden",
        ),
    ] {
        let file = at(&format!("{name}.warc"));
        fs::write(&file, warc(media_type, hidden)).unwrap();
        let out = at(&format!("{name}.out"));
        succeeds(&run(&file, &out, kind));
        let rows = pairs(&format!("{name}.out"));
        let of_record =
            |row: &str, n: usize| row.replace(&format!("r{n:02}"), &format!("{n:02}.txt"));
        let rows: Vec<String> = rows
            .iter()
            .map(|row| (0..40).fold(row.clone(), |row, n| of_record(&row, n)))
            .collect();
        assert_eq!(rows, expected, "{name}");
    }
    // A query reads as the collection was read.
    let out = at("files.out1");
    let found = succeeds(&[
        "query",
        out.to_str().unwrap(),
        files.join("03.hid").to_str().unwrap(),
        "--convert",
        HIDDEN,
    ]);
    assert!(found.contains("02.hid"), "{found}");
}

/// `dedup` writes the files and records as they were, not their texts.
#[test]
fn copies_have_the_original_bytes() {
    let directory = temporary();
    let at = |name: &str| directory.path().join(name);
    let files = write_texts(&at("files"), "hid", hidden);
    let archive = at("a.warc");
    fs::write(&archive, warc("application/hid", hidden)).unwrap();
    for (input, out) in [(&files, at("kept")), (&archive, at("kept-records"))] {
        let arguments = [
            "dedup",
            input.to_str().unwrap(),
            "-o",
            out.to_str().unwrap(),
            "--threshold",
            "0.5",
            "--convert",
            HIDDEN,
            "--quiet",
        ];
        succeeds(&arguments);
    }
    for n in 0..40 {
        let name = format!("{n:02}.hid");
        let kept =
            fs::read(at("kept").join("files").join(&name)).or(fs::read(at("kept").join(&name)));
        match n % 2 {
            0 => assert_eq!(kept.unwrap(), fs::read(files.join(&name)).unwrap()),
            _ => assert!(kept.is_err(), "{name}"),
        }
    }
    let kept = fs::read(at("kept-records").join("a.warc")).unwrap();
    let all = fs::read(&archive).unwrap();
    let text = String::from_utf8(kept).unwrap();
    assert_eq!(text.matches("WARC/1.0").count(), 20);
    for record in text.split_inclusive("\r\n\r\nWARC/1.0") {
        let record = record.trim_end_matches("WARC/1.0");
        let found = all
            .windows(record.len())
            .any(|bytes| bytes == record.as_bytes());
        assert!(found, "{record}");
    }
}

/// What the program does is the first line of the document.
const ODD: &str = r#"
read mode
case $mode in
ok) cat;;
fail) printf '\n  bad \033[31mheader\nmore\n' >&2; exit 3;;
traces) printf 'Traceback (most recent call last):\n  File "x"\nValueError: bad\n\n' >&2; exit 1;;
nothing) echo ' ';;
forever) yes;;
noise) yes >&2;;
sleep) sleep 31417;;
orphan) sleep 31417 & echo the text of a parent that ends;;
closes) exec <&-; echo a text of a program that reads one line;;
invalid) printf 'caf\351 au lait\n';;
binary) head -c 100 /dev/zero;;
killed) kill -9 $$;;
memory) head -c 300000000 /dev/zero | tail -n 1;;
limited) test "$(ulimit -v)" = 102400 && echo a text of a program that found its limit when it began;;
esac
"#;

#[test]
fn programs_that_misbehave_cost_their_document_only() {
    let directory = temporary();
    let at = |name: &str| directory.path().join(name);
    let script = at("odd.sh");
    fs::write(&script, ODD).unwrap();
    let input = at("in");
    fs::create_dir(&input).unwrap();
    for mode in [
        "ok", "fail", "nothing", "forever", "noise", "sleep", "orphan", "closes", "invalid",
        "binary", "killed", "memory", "limited", "traces",
    ] {
        let mut text = format!("{mode}\nthe text of a document that is well\n");
        if mode == "closes" {
            text += &"x".repeat(300_000);
        }
        fs::write(input.join(format!("{mode}.odd")), text).unwrap();
    }
    let convert = format!("odd=sh '{}'", script.to_str().unwrap());
    let mut made = Vec::new();
    for threads in ["1", "3"] {
        let out = at(&format!("out{threads}"));
        let mut arguments = run(&input, &out, &convert);
        arguments.extend(["--threads", threads, "--convert-timeout", "2"]);
        arguments.extend(["--convert-memory", "100MiB", "--max-document", "1MiB"]);
        let begin = Instant::now();
        succeeds(&arguments);
        // Two of them take two seconds, and one that has ended is not waited for.
        assert!(begin.elapsed() < Duration::from_secs(30));
        assert_eq!(running("sleep 31417"), 0);
        made.push(results(&out));
    }
    assert_eq!(made[0], made[1]);
    let documents = rows_of(&at("out1"), "documents.tsv").join("\n");
    for mode in ["ok", "orphan", "closes", "invalid", "limited"] {
        assert!(
            documents.contains(&format!("{mode}.odd")),
            "{mode}: {documents}"
        );
    }
    let rejects = fs::read_to_string(at("out1/rejects.jsonl")).unwrap();
    let not_converted = "not converted by --convert";
    for (mode, reason, detail) in [
        (
            "fail",
            not_converted,
            r"exit status: 3: bad \u{1b}[31mheader",
        ),
        ("traces", not_converted, "exit status: 1: ValueError: bad"),
        ("nothing", not_converted, "it printed no text"),
        (
            "forever",
            "larger than --max-document",
            "more than 1048576 bytes",
        ),
        ("noise", not_converted, "it took more than 2 s"),
        ("sleep", not_converted, "it took more than 2 s"),
        ("binary", not_converted, "are NUL"),
        ("killed", not_converted, "signal: 9"),
        (
            "memory",
            not_converted,
            "exit status: 1: tail: memory exhausted; if it lacks memory, give --convert-memory 400",
        ),
        ("invalid", "wrong charset declared", "byte 3 is not"),
    ] {
        let values = rejects
            .lines()
            .map(serde_json::from_str::<serde_json::Value>);
        let mut values = values.map(Result::unwrap);
        let docno = format!("{mode}.odd");
        let found = values.find(|value| value["docno"] == docno.as_str());
        let found = found.unwrap_or_else(|| panic!("{mode}: {rejects}"));
        assert_eq!(found["reason"], reason, "{found}");
        assert!(
            found["detail"].as_str().unwrap().contains(detail),
            "{found}"
        );
    }
}

/// A program that changes its input ended with status 0: the file had been read by then.
#[test]
fn a_program_that_changes_its_input_is_told() {
    let directory = temporary();
    let at = |name: &str| directory.path().join(name);
    let files = write_texts(&at("files"), "txt", str::to_string);
    let last = files.join("39.txt");
    let appends = format!("txt=sh -c 'cat; echo more >> {}'", last.display());
    for threads in ["1", "3"] {
        let out = at(threads);
        let mut arguments = run(&files, &out, &appends);
        arguments.extend(["--threads", threads]);
        for _ in 0..2 {
            let output = lookalike(&arguments);
            let says = format!("input changed since it was read: {} has ", last.display());
            assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
            assert!(stderr(&output).contains(&says), "{}", stderr(&output));
        }
    }
}

/// A stop ends the program at once, and the document is converted again by the next run.
#[test]
fn an_interrupted_conversion_is_made_again() {
    let directory = temporary();
    let at = |name: &str| directory.path().join(name);
    let files = write_texts(&at("files"), "hid", hidden);
    let script = at("slow.sh");
    let ready = at("ready");
    let text = format!(
        "[ -e '{}' ] || sleep 31419\ntr a-zA-Z n-za-mN-ZA-M\n",
        ready.display()
    );
    fs::write(&script, text).unwrap();
    let convert = format!("hid=sh {}", script.to_str().unwrap());
    let out = at("out");
    let mut child = start(&run(&files, &out, &convert)).spawn().unwrap();
    let begin = Instant::now();
    while running("sleep 31419") == 0 {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let begin = Instant::now();
    assert!(!child.wait().unwrap().success());
    assert!(
        begin.elapsed() < Duration::from_secs(2),
        "{:?}",
        begin.elapsed()
    );
    assert_eq!(running("sleep 31419"), 0);
    fs::write(&ready, "").unwrap();
    succeeds(&run(&files, &out, &convert));
    succeeds(&run(&files, &at("whole"), &convert));
    assert_eq!(fs::read_to_string(out.join("rejects.jsonl")).unwrap(), "");
    assert_eq!(lasting(&out), lasting(&at("whole")));
}

fn write_program(path: &Path, version: &str, does: &str) {
    let text =
        format!("#!/bin/sh\nif [ \"$1\" = --version ]; then echo {version}; exit; fi\n{does}\n");
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn another_command_or_version_is_refused_and_another_text_is_found() {
    let directory = temporary();
    let at = |name: &str| directory.path().join(name);
    let files = write_texts(&at("files"), "hid", str::to_string);
    let program = at("tool");
    write_program(&program, "tool 1.0", "cat");
    let tool = format!("hid={}", program.display());
    let out = at("out");
    succeeds(&run(&files, &out, &tool));
    let manifest = fs::read_to_string(out.join("manifest.json")).unwrap();
    assert!(manifest.contains("tool 1.0"), "{manifest}");

    let more = at("more");
    fs::create_dir(&more).unwrap();
    fs::write(more.join("new.hid"), &texts()[2]).unwrap();
    let add = [
        "add",
        out.to_str().unwrap(),
        more.to_str().unwrap(),
        "--quiet",
        "--convert",
        &tool,
    ];
    let refused = |arguments: &[&str], parts: &[&str]| {
        let before = lasting(&out);
        let output = lookalike(arguments);
        assert!(!output.status.success());
        let text = stderr(&output);
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(before, lasting(&out));
    };
    refused(
        &run(&files, &out, "hid=cat"),
        &["--convert", "hid=cat", "tool 1.0"],
    );
    refused(&run(&files, &out, ""), &["--convert", "tool 1.0"]);
    write_program(&program, "tool 2.0", "cat");
    refused(
        &run(&files, &out, &tool),
        &["--convert", "tool 1.0", "tool 2.0"],
    );
    refused(&add, &["convert", "tool 1.0", "tool 2.0"]);

    write_program(&program, "tool 1.0", "sed s/word/other/g");
    let show = [
        "show",
        out.to_str().unwrap(),
        "00.hid",
        "--text",
        "--convert",
        &tool,
    ];
    let text = succeeds(&show);
    assert!(text.contains("gave another text"), "{text}");
    let passages = [
        "passages",
        out.to_str().unwrap(),
        "--length",
        "20",
        "--quiet",
        "--convert",
        &tool,
    ];
    for (does, what) in [
        ("sed s/word/other/g", "it gave another text"),
        (
            "echo no memory >&2; exit 7",
            "it failed: exit status: 7: no memory",
        ),
    ] {
        write_program(&program, "tool 1.0", does);
        let text = stderr(&lookalike(&passages));
        assert!(
            text.contains(what) && !text.contains("input changed"),
            "{text}"
        );
    }
    write_program(&program, "tool 1.0", "cat");
    succeeds(&add);
    assert!(succeeds(&show).contains("word0of1"));
    succeeds(&passages);
    let kept = at("kept");
    let removal = [
        "passages",
        out.to_str().unwrap(),
        "--remove",
        "-o",
        kept.to_str().unwrap(),
    ];
    refused(&removal, &["converted document"]);

    fs::remove_file(&program).unwrap();
    refused(&add, &["cannot be started"]);
    let nowhere = at("nowhere");
    refused(&run(&files, &nowhere, &tool), &["cannot be started"]);
    assert!(!nowhere.exists());
    for wrong in ["hid", "=cat", "hid=", "hid='cat", "a.b=cat", "a b=cat"] {
        refused(&run(&files, &nowhere, wrong), &["--convert"]);
    }
    let mut twice = run(&files, &nowhere, "hid=cat");
    twice.extend(["--convert", "hid=tac"]);
    refused(&twice, &["hid", "one command for each kind"]);

    // What is stored can be used without the program, and does not start it.
    let started = at("started");
    write_program(&program, "tool 3.0", "cat");
    let logging = fs::read_to_string(&program).unwrap();
    let logging = logging.replace("sh\n", &format!("sh\ntouch {}\n", started.display()));
    for gone in [false, true] {
        match gone {
            true => fs::remove_file(&program).unwrap(),
            false => fs::write(&program, &logging).unwrap(),
        }
        for command in ["status", "verify"] {
            succeeds(&[command, out.to_str().unwrap()]);
        }
        let copy = at(if gone { "copy" } else { "other-copy" });
        succeeds(&[
            "dedup",
            "--from",
            out.to_str().unwrap(),
            "-o",
            copy.to_str().unwrap(),
        ]);
        assert!(!started.exists());
        let output = lookalike(&show);
        let said = stderr(&output) + &String::from_utf8_lossy(&output.stdout);
        let why = ["tool 3.0", "cannot be started"][usize::from(gone)];
        assert!(said.contains(why), "{said}");
        assert!(!said.contains("corrupt"), "{said}");
        assert_eq!(started.exists(), !gone);
        if !gone {
            fs::remove_file(&started).unwrap();
        }
    }
    for command in ["join", "cluster"] {
        succeeds(&[command, out.to_str().unwrap()]);
    }
}

/// A PDF file of one page with these lines.
fn pdf(text: &str) -> Vec<u8> {
    let mut content = "BT /F1 9 Tf 40 740 Td 12 TL\n".to_string();
    for line in text.split(' ').collect::<Vec<_>>().chunks(8) {
        content += &format!("({}) Tj T*\n", line.join(" "));
    }
    content += "ET";
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_string(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".into(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources \
         << /Font << /F1 5 0 R >> >> >>"
            .into(),
        format!(
            "<< /Length {} >>\nstream\n{content}\nendstream",
            content.len()
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".into(),
    ];
    let mut file = "%PDF-1.4\n".to_string();
    let mut table = "xref\n0 6\n0000000000 65535 f \n".to_string();
    for (n, object) in objects.iter().enumerate() {
        table += &format!("{:010} 00000 n \n", file.len());
        file += &format!("{} 0 obj\n{object}\nendobj\n", n + 1);
    }
    let at = file.len();
    file += &format!("{table}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n{at}\n%%EOF\n");
    file.into_bytes()
}

#[test]
fn pdftotext_converts_files_and_records() {
    if Command::new("pdftotext").arg("-v").output().is_err() {
        eprintln!("NOT TESTED: pdftotext (package poppler-utils) is not installed");
        return;
    }
    let directory = temporary();
    let at = |name: &str| directory.path().join(name);
    let files = at("files");
    fs::create_dir(&files).unwrap();
    let plain = write_texts(&at("plain"), "txt", str::to_string);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    for (n, words) in texts().iter().enumerate() {
        fs::write(files.join(format!("{n:02}.PDF")), pdf(words)).unwrap();
    }
    fs::write(files.join("broken.pdf"), b"%PDF-1.4 and no more").unwrap();
    fs::write(
        files.join("z.warc"),
        warc("application/pdf", |words| text(pdf(words))),
    )
    .unwrap();
    let convert = "pdf=pdftotext -enc UTF-8 - -";
    succeeds(&run(&files, &at("out"), convert));
    succeeds(&run(&plain, &at("plain.out"), ""));
    let expected = rows_of(&at("plain.out"), "pairs.tsv");
    let pairs = rows_of(&at("out"), "pairs.tsv").join("\n");
    for row in expected {
        assert!(
            pairs.contains(&row.replace(".txt", ".PDF")),
            "{row}: {pairs}"
        );
    }
    // A file and the record with its bytes are exact duplicates.
    let documents = rows_of(&at("out"), "documents.tsv");
    assert_eq!(documents.len(), 80);
    let rejects = fs::read_to_string(at("out/rejects.jsonl")).unwrap();
    assert_eq!(rejects.lines().count(), 1, "{rejects}");
    assert!(rejects.contains("exit status: 1: Syntax"), "{rejects}");
}

/// The lines of the guide for office documents.
#[test]
fn programs_for_office_documents_convert_them() {
    let directory = temporary();
    let at = |name: &str| directory.path().join(name);
    let plain = write_texts(&at("plain"), "txt", str::to_string);
    for n in 6..40 {
        fs::remove_file(plain.join(format!("{n:02}.txt"))).unwrap();
    }
    succeeds(&run(&plain, &at("plain.out"), ""));
    let expected = rows_of(&at("plain.out"), "pairs.tsv");
    assert_eq!(expected.len(), 3);
    for (program, kind, convert) in [
        ("pandoc", "docx", "docx=pandoc -fdocx -tplain"),
        ("pandoc", "odt", "odt=pandoc -fodt -tplain"),
        ("docx2txt", "docx", "docx=docx2txt - -"),
    ] {
        let is_there = |name: &str| Command::new(name).arg("--version").output().is_ok();
        if !is_there("pandoc") || !is_there(program) {
            eprintln!("NOT TESTED: {program}, or pandoc, is not installed");
            continue;
        }
        let files = at(&format!("{program}-{kind}"));
        fs::create_dir(&files).unwrap();
        for file in fs::read_dir(&plain).unwrap() {
            let file = file.unwrap().path();
            let made = files.join(file.with_extension(kind).file_name().unwrap());
            let mut pandoc = Command::new("pandoc");
            let done = pandoc
                .arg("-f")
                .arg("markdown")
                .arg(&file)
                .arg("-o")
                .arg(&made);
            assert!(done.status().unwrap().success());
        }
        fs::write(files.join(format!("broken.{kind}")), b"PK and no more").unwrap();
        let out = at(&format!("{program}-{kind}.out"));
        succeeds(&run(&files, &out, convert));
        let pairs = rows_of(&out, "pairs.tsv").join("\n");
        let found = pairs.replace(&format!(".{kind}"), ".txt");
        assert_eq!(found, expected.join("\n"), "{convert}");
        let rejects = fs::read_to_string(out.join("rejects.jsonl")).unwrap();
        assert_eq!(rejects.lines().count(), 1, "{rejects}");
        assert!(rejects.contains("not converted by --convert"), "{rejects}");
    }
}
