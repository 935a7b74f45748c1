//! Commands that read a directory share it and leave it as it is, and `query` answers other
//! programs line by line.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const PROGRAM: &str = env!("CARGO_BIN_EXE_lookalike");
/// An answer comes within this, or the command waits for more input. Much longer than it takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Says so even if the test passes: what `eprintln` prints is shown only of a test that fails.
fn left_out(what: &str) {
    let line = format!("LEFT OUT: {what}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn lookalike(place: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.current_dir(place).args(arguments);
    command.stdin(Stdio::null()).output().unwrap()
}

fn done(place: &Path, arguments: &[&str]) -> String {
    let output = lookalike(place, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// A directory with the sample corpora, and `out` with a collection, its texts, its results and its
/// indexes.
fn made() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let corpora = root().join("sample-corpora");
    std::os::unix::fs::symlink(corpora, place.path().join("sample-corpora")).unwrap();
    let make: [&[&str]; 4] = [
        &["run", "sample-corpora/trec-web", "-o", "out", "--keep-text"],
        &["stage", "index", "out"],
        &["stage", "index", "out", "--method", "super-shingles"],
        &["stage", "index", "out", "--method", "i-match"],
    ];
    for arguments in make {
        done(place.path(), &[arguments, &["--quiet"]].concat());
    }
    place
}

/// Everything below a directory: for each path its kind, size, time of change and bytes.
fn everything(directory: &Path) -> BTreeMap<PathBuf, (u32, u64, i64, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![directory.to_path_buf()];
    while let Some(path) = waiting.pop() {
        let facts = fs::symlink_metadata(&path).unwrap();
        let mut bytes = Vec::new();
        if facts.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            waiting.extend(entries.map(|entry| entry.unwrap().path()));
        } else {
            bytes = fs::read(&path).unwrap();
        }
        let (second, nano) = (facts.mtime(), facts.mtime_nsec());
        found.insert(path, (facts.mode(), facts.size(), second, nano, bytes));
    }
    found
}

/// The commands that read a directory.
fn readers() -> Vec<Vec<&'static str>> {
    let page = "sample-corpora/files/a/PG-000025.html";
    let commands = [
        format!("query out {page}"),
        format!("query out {page} --json"),
        format!("query out {page} --method super-shingles"),
        format!("query out {page} --method i-match"),
        "report out -o page.html".into(),
        "export graph out".into(),
        "export graph out --format tsv -o graph.tsv".into(),
        "evaluate out --truth out".into(),
        "status out --json".into(),
        "check verify out".into(),
        "check inspect out/catalogue/000000.names".into(),
    ];
    let words = |command: String| {
        let words = command.split(' ').map(|word| &*word.to_string().leak());
        words.collect()
    };
    commands.into_iter().map(words).collect()
}

/// A `query` whose standard input stays open.
struct Client {
    process: Child,
    input: Option<Box<dyn Write>>,
    answers: Receiver<String>,
}

impl Client {
    fn start(place: &Path, arguments: &[&str], socket: bool) -> Client {
        let mut command = Command::new(PROGRAM);
        command.current_dir(place).arg("query").args(arguments);
        command.stdout(Stdio::piped());
        let mut ours = None;
        if socket {
            let (here, there) = UnixStream::pair().unwrap();
            command.stdin(Stdio::from(OwnedFd::from(there)));
            ours = Some(Box::new(here) as Box<dyn Write>);
        } else {
            command.stdin(Stdio::piped());
        }
        let mut process = command.spawn().unwrap();
        let pipe = process.stdin.take();
        let input = ours.or_else(|| pipe.map(|pipe| Box::new(pipe) as Box<dyn Write>));
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (to, answers) = channel();
        std::thread::spawn(move || lines.for_each(|line| to.send(line.unwrap()).unwrap_or(())));
        Client {
            process,
            input,
            answers,
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    fn answer(&self) -> String {
        let answer = self.answers.recv_timeout(PATIENCE);
        answer.expect("no answer while the input is open")
    }

    /// Closes the input: the answers that are still to come.
    fn end(mut self) -> Vec<String> {
        self.input = None;
        assert!(self.process.wait().unwrap().success());
        self.answers.iter().collect()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Texts of the sample corpus, parts of them, and lines that are not documents.
fn lines() -> Vec<String> {
    let page =
        |name: &str| fs::read_to_string(root().join("sample-corpora/files/a").join(name)).unwrap();
    let (one, other) = (page("PG-000025.html"), page("PG-000026.html"));
    let document = |id: &str, text: &str| serde_json::json!({"id": id, "html": text}).to_string();
    let half = |text: &str| text.lines().skip(30).collect::<Vec<_>>().join("\n");
    vec![
        document("first", &one),
        "{\"id\": \"no end".into(),
        document("part", &half(&one)),
        "not an object".into(),
        "[1, 2]".into(),
        "{\"id\": \"no text\", \"text\": 7}".into(),
        document("other", &other),
        document("empty", ""),
        // Larger than what is read at a time.
        document(
            "large",
            &format!("{other} {}", "word after word ".repeat(40_000)),
        ),
        "{\"id\": 1} {\"id\": 2}".into(),
        document("new", "a text that is not in the collection"),
    ]
}

#[test]
fn each_line_is_answered_before_the_next_one_is_written() {
    let place = made();
    let place = place.path();
    let lines = lines();
    let mut expected = None;
    for index in [true, false] {
        if !index {
            let mut manifest = fs::read_to_string(place.join("out/manifest.json")).unwrap();
            assert!(manifest.contains("\"index\""));
            // A part that is lost makes the index unusable.
            manifest.clear();
            fs::remove_file(place.join("out/index/000000.index")).unwrap();
        }
        let flags = [
            "out",
            "-",
            "--json",
            "--format",
            "jsonl",
            "--containing",
            "0.5",
        ];
        // All lines at once.
        let mut client = Client::start(place, &flags, false);
        client.write((lines.join("\n") + "\n").as_bytes());
        let at_once = client.end();
        assert_eq!(at_once.len(), lines.len(), "{at_once:#?}");
        let expected = expected.get_or_insert(at_once.clone());
        assert_eq!(*expected, at_once);
        for socket in [false, true] {
            let mut client = Client::start(place, &flags, socket);
            for (line, expected) in lines.iter().zip(&*expected) {
                client.write(format!("{line}\n").as_bytes());
                assert_eq!(
                    client.answer(),
                    *expected,
                    "{}",
                    &line[..line.len().min(99)]
                );
            }
            // A line that comes in pieces, with empty lines around it; the last one has no end.
            client.write(b"\n \r\n{\"id\": \"in ");
            std::thread::sleep(Duration::from_millis(300));
            client.write(b"pieces\", \"text\": \"\"}\r\n\n");
            assert!(client.answer().contains("\"in pieces\""));
            client.write(lines[0].as_bytes());
            assert_eq!(client.end(), [expected[0].clone()]);
        }
        // Without --format, the first line has to look like an object.
        let mut client =
            Client::start(place, &["out", "-", "--json", "--containing", "0.5"], false);
        for (line, expected) in lines.iter().zip(&*expected) {
            client.write(format!("{line}\n").as_bytes());
            assert_eq!(client.answer(), *expected);
        }
        assert_eq!(client.end(), [""; 0]);
    }
    let expected = expected.unwrap();
    let fields = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
    let rejected: Vec<_> = expected.iter().map(|line| fields(line)).collect();
    let rejected = rejected.iter().map(|line| line["rejected"].as_str());
    let rejected: Vec<_> = rejected.map(|reason| reason.is_some()).collect();
    let of = [1, 3, 4, 5, 9];
    let wanted: Vec<_> = (0..lines.len()).map(|line| of.contains(&line)).collect();
    assert_eq!(rejected, wanted, "{expected:#?}");
    assert_eq!(fields(&expected[0])["matches"][0]["docno"], "PG-000025");
    assert_eq!(fields(&expected[0])["matches"][0]["match"], "same words");
    assert_eq!(fields(&expected[2])["matches"][0]["match"], "contains");
    assert_eq!(fields(&expected[10])["found"], 0);
}

/// Where a document ends is not known by lines: the whole input is waited for.
#[test]
fn an_object_of_several_lines_is_one_document() {
    let place = made();
    let ask = |input: &str| {
        let mut client = Client::start(place.path(), &["out", "-", "--json"], false);
        client.write(input.as_bytes());
        client.end()
    };
    let one = ask("{\n \"id\": \"a\",\n \"text\": \"b c\"\n}\n");
    assert_eq!(one.len(), 1);
    assert!(one[0].starts_with("{\"query\":\"a\","), "{one:?}");
    assert_eq!(ask("{\"id\": \"a\", \"text\": \"b c\"}\n"), one);
    assert_eq!(ask("\u{feff}{\"id\": \"a\", \"text\": \"b c\"}"), one);
    let two = ask("[{\"id\": \"a\", \"text\": \"b c\"},\n{\"id\": \"a\", \"text\": \"b c\"}]\n");
    assert_eq!(two, [one[0].clone(), one[0].clone()]);
    // A page is a document of many lines.
    assert_eq!(ask("<html>\n<p>b\n<p>c\n").len(), 1);
}

/// The columns of the table and the fields of the lines have the same names and values.
#[test]
fn both_forms_have_the_same_fields() {
    let place = made();
    let page = "sample-corpora/files/a/PG-000025.html";
    let table = done(place.path(), &["query", "out", page]);
    let mut rows = table
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>());
    let columns = rows.next().unwrap();
    let line = done(place.path(), &["query", "out", page, "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
    let matches = answer["matches"].as_array().unwrap();
    let rows: Vec<_> = rows.collect();
    assert_eq!(rows.len(), matches.len());
    assert!(!rows.is_empty());
    for (row, found) in rows.iter().zip(matches) {
        for (column, cell) in columns.iter().zip(row) {
            let field = found.get(*column).or_else(|| answer.get(*column));
            let shown = match field.unwrap_or_else(|| panic!("no field {column}")) {
                serde_json::Value::String(text) => text.clone(),
                number if number.is_u64() => number.to_string(),
                number => format!("{:.6}", number.as_f64().unwrap()),
            };
            assert_eq!(shown, *cell, "{column}");
        }
    }
}

#[test]
fn commands_that_read_a_directory_share_it_and_change_nothing() {
    let place = made();
    let place = place.path();
    let before = everything(&place.join("out"));
    let alone: Vec<_> = readers()
        .iter()
        .map(|command| done(place, command))
        .collect();
    let lock = File::open(place.join("out/lock")).unwrap();
    // A lock like that of a command that reads.
    lock.lock_shared().unwrap();
    let held: Vec<_> = ["", "--method=super-shingles", "--method=i-match"]
        .into_iter()
        .map(|flag| {
            let flags = ["out", "-", "--json", "--quiet", flag];
            let used = if flag.is_empty() { 4 } else { 5 };
            let mut client = Client::start(place, &flags[..used], false);
            client.write(b"{\"id\": \"a\", \"text\": \"b c\"}\n");
            assert!(client.answer().starts_with("{\"query\":\"a\""));
            client
        })
        .collect();
    std::thread::scope(|scope| {
        for (command, alone) in readers().into_iter().zip(&alone) {
            for _ in 0..2 {
                let command = command.clone();
                scope.spawn(move || {
                    // Two of them must not write the same file.
                    let own = tempfile::tempdir_in(place).unwrap();
                    let output = own.path().join("file");
                    let output = output.to_str().unwrap();
                    let writes = command.contains(&"-o");
                    let with = |word: &&'static str| match *word {
                        "page.html" | "graph.tsv" => output,
                        word => word,
                    };
                    let arguments: Vec<&str> = command.iter().map(with).collect();
                    let said = done(place, &arguments);
                    if writes {
                        let first = fs::read(place.join(command.last().unwrap()));
                        let first = first.or_else(|_| fs::read(place.join("page.html")));
                        assert_eq!(fs::read(output).unwrap(), first.unwrap(), "{command:?}");
                    } else {
                        assert_eq!(said, *alone, "{command:?}");
                    }
                });
            }
        }
    });
    // Commands that change the directory wait until it is free.
    for command in [
        "report out",
        "export graph out -o out/graph.dot",
        "stage index out",
        "stage cluster out",
    ] {
        let words: Vec<_> = command.split(' ').collect();
        let output = lookalike(place, &words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(
            error.contains("is in use by a process that reads it"),
            "{command}: {error}"
        );
    }
    for client in held {
        assert_eq!(client.end(), [""; 0]);
    }
    drop(lock);
    let after = everything(&place.join("out"));
    let paths = |all: &BTreeMap<PathBuf, _>| all.keys().cloned().collect::<Vec<_>>();
    assert_eq!(paths(&before), paths(&after));
    for (path, facts) in &before {
        assert!(after[path] == *facts, "{} has changed", path.display());
    }
    // The page in the directory is named in its manifest.
    done(place, &["report", "out"]);
    assert!(place.join("out/report.html").exists());
    assert!(done(place, &["check", "verify", "out"]).ends_with(" 0 damaged\n"));
}

/// Who asks line by line keeps nobody from adding documents, and goes on answering from what there
/// was when it began, also when the parts of the index that it reads have been replaced.
#[test]
fn documents_are_added_while_others_look_documents_up() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let corpora = root().join("sample-corpora");
    std::os::unix::fs::symlink(corpora, place.join("sample-corpora")).unwrap();
    done(
        place,
        &["run", "sample-corpora/trec-web", "-o", "out", "--quiet"],
    );
    done(place, &["stage", "index", "out", "--quiet"]);
    let flags = [
        "out",
        "-",
        "--json",
        "--format",
        "jsonl",
        "--containing",
        "0.5",
    ];
    let mut lines = lines();
    let own = |number: usize| {
        let words: Vec<String> = (0..60 + number)
            .map(|n| format!("word{number}x{n}"))
            .collect();
        words.join(" ")
    };
    for number in 0..4 {
        let id = format!("own {number}");
        lines.push(serde_json::json!({"id": id, "text": own(number)}).to_string());
    }
    let text = lines.join("\n") + "\n";
    let answers = || {
        let mut client = Client::start(place, &flags, false);
        client.write(text.as_bytes());
        client.end()
    };
    let ask = |client: &mut Client, expected: &[String], what: &str| {
        for (line, expected) in lines.iter().zip(expected) {
            client.write(format!("{line}\n").as_bytes());
            let start = &line[..line.len().min(40)];
            assert_eq!(client.answer(), *expected, "{what}: {start}");
        }
    };
    let levels = || {
        let manifest = lookalike::engine::pipeline::look(&place.join("out")).unwrap();
        let index = manifest
            .get::<lookalike::engine::index::IndexEntry>()
            .unwrap();
        index
            .levels
            .iter()
            .map(|level| level.number)
            .collect::<Vec<_>>()
    };
    let before = answers();
    let mut clients: Vec<(Client, Vec<String>)> = Vec::new();
    for socket in [false, true] {
        let mut client = Client::start(place, &flags, socket);
        ask(&mut client, &before, "before");
        clients.push((client, before.clone()));
    }
    let mut all_levels = vec![levels()];
    for number in 0..4 {
        // The last addition is larger than the collection: all levels become one.
        let name = format!("new-{number}.jsonl");
        let mut new =
            serde_json::json!({"id": format!("N{number}"), "text": own(number)}).to_string();
        new.push('\n');
        if number == 3 {
            for n in 0..2000 {
                let words: Vec<String> = (0..300).map(|w| format!("w{n}x{w}")).collect();
                let document = serde_json::json!({"id": format!("M{n}"), "text": words.join(" ")});
                new += &format!("{document}\n");
            }
        }
        fs::write(place.join(&name), new).unwrap();
        let adding = std::thread::scope(|scope| {
            let adding = scope.spawn(|| lookalike(place, &["add", "out", &name, "--quiet"]));
            loop {
                for (client, expected) in &mut clients {
                    ask(client, expected, "while documents are added");
                }
                if adding.is_finished() {
                    return adding.join().unwrap();
                }
            }
        });
        let error = String::from_utf8_lossy(&adding.stderr);
        assert!(adding.status.success(), "{error}");
        for (client, expected) in &mut clients {
            ask(client, expected, "after documents were added");
        }
        all_levels.push(levels());
        // A new one finds what is there now.
        let now = answers();
        let found = |answers: &[String], line: usize| {
            let answer: serde_json::Value = serde_json::from_str(&answers[line]).unwrap();
            answer["matches"].as_array().unwrap().len()
        };
        let first = lines.len() - 4;
        for line in 0..4 {
            assert_eq!(found(&before, first + line), 0);
            assert_eq!(
                found(&now, first + line),
                usize::from(line <= number),
                "{number}"
            );
        }
        let same = |lines: &[String]| lines[..first].to_vec();
        assert_eq!(same(&now), same(&before));
        let mut client = Client::start(place, &flags, false);
        ask(&mut client, &now, "a new one");
        clients.push((client, now));
    }
    assert_eq!(all_levels.first().unwrap().len(), 1);
    assert!(all_levels[1].len() > 1, "{all_levels:?}");
    // What the first clients read is gone.
    assert_eq!(all_levels.last().unwrap().len(), 1, "{all_levels:?}");
    for (client, _) in clients {
        assert_eq!(client.end(), [""; 0]);
    }
    assert!(done(place, &["check", "verify", "out"]).ends_with(" 0 damaged\n"));
}

/// Permissions do not bind the superuser, so the directory is mounted again.
#[test]
fn a_directory_on_a_read_only_medium_can_be_read() {
    let place = made();
    let place = place.path();
    let mount = "mount --bind out out && mount -o remount,bind,ro out";
    let unshared = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-ec", script]);
        command.current_dir(place).stdin(Stdio::null()).output()
    };
    let read_only = format!("{mount} && ! touch out/new 2>/dev/null");
    match unshared(&read_only) {
        Ok(output) if output.status.success() => {}
        other => {
            let why = other.map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
            left_out(&format!(
                "reading from a read-only medium, which cannot be mounted: {why:?}"
            ));
            return;
        }
    }
    for command in readers() {
        let expected = done(place, &command);
        let script = format!("{mount} && {PROGRAM} {}", command.join(" "));
        let output = unshared(&script).unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {error}");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            expected,
            "{command:?}"
        );
    }
    // Without the directory's lock, and with a lost index.
    fs::remove_file(place.join("out/lock")).unwrap();
    fs::remove_file(place.join("out/index/000000.index")).unwrap();
    for command in readers()
        .into_iter()
        .filter(|command| command[1] != "verify")
    {
        let output = unshared(&format!("{mount} && {PROGRAM} {}", command.join(" "))).unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {error}");
    }
    assert!(!place.join("out/lock").exists());
}

/// Memory is taken for the documents that come, not for the largest that may come.
#[test]
fn a_page_needs_little_memory_and_a_large_document_says_what_it_needs() {
    let place = made();
    let place = place.path();
    let page = "sample-corpora/files/a/PG-000025.html";
    let little = ["--threads", "4", "--memory", "64MiB"];
    let expected = done(place, &["query", "out", page]);
    assert_eq!(
        done(place, &[&["query", "out", page][..], &little].concat()),
        expected
    );
    let large = "many words ".repeat(3 << 20);
    let lines = [("small", "b c"), ("large", &large)];
    let lines = lines.map(|(id, text)| serde_json::json!({"id": id, "text": text}).to_string());
    fs::write(place.join("large.jsonl"), lines.join("\n")).unwrap();
    let refused = lookalike(
        place,
        &[&["query", "out", "large.jsonl"][..], &little].concat(),
    );
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success());
    let (_, least) = error.split_once("help: give --memory ").expect(&error);
    let least = least.split(' ').next().unwrap();
    let needs = |least: &str| least.strip_suffix("MiB").unwrap().parse::<u64>().unwrap();
    assert!((80..160).contains(&needs(least)), "{error}");
    // What is refused first is the record; its words may need more.
    let mut least = least.to_string();
    for _ in 0..3 {
        let flags = ["query", "out", "large.jsonl", "--json", "--memory", &least];
        let output = lookalike(place, &flags);
        if output.status.success() {
            assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 2);
            return;
        }
        let error = String::from_utf8(output.stderr).unwrap();
        let (_, more) = error.split_once("help: give --memory ").expect(&error);
        let more = more.split(' ').next().unwrap().to_string();
        assert!(needs(&more) > needs(&least), "{error}");
        least = more;
    }
    panic!("{least} is not enough, either");
}

/// The client that the guide shows, as it stands there.
#[test]
fn the_client_of_the_guide_looks_documents_up() {
    if Command::new("python3").arg("--version").output().is_err() {
        left_out("the client in docs/guide/looking-up.md, because there is no python3");
        return;
    }
    let guide = fs::read_to_string(root().join("docs/guide/looking-up.md")).unwrap();
    let (_, code) = guide.split_once("```python\n").unwrap();
    let (code, _) = code.split_once("```\n").unwrap();
    let (code, shown) = code.split_at(code.find("\n\nlook_up = ").unwrap());
    let place = made();
    let texts = r#"{"id": "one", "text": "one text that is in the collection"}"#;
    fs::write(place.path().join("texts.jsonl"), texts).unwrap();
    done(
        place.path(),
        &["stage", "ingest", "texts.jsonl", "-o", "texts", "--quiet"],
    );
    let more = r#"
look_up = LookUp("texts")
for _ in range(3):
    matches = look_up("one text that is in the collection", docno="it")["matches"]
    assert [(match["docno"], match["match"]) for match in matches] == [("one", "identical")], matches
    assert look_up("a text \n that nobody \u2028 wrote", docno="é")["query"] == "é"
assert look_up(None)["rejected"], "null is not text"
look_up.close()
assert look_up.process.returncode == 0
look_up = LookUp("nothing")
try:
    look_up("a text")
except (RuntimeError, BrokenPipeError):
    pass
else:
    assert False, "there is no such directory"
"#;
    let program = Path::new(PROGRAM).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    for code in [format!("{code}\n{shown}"), format!("{code}\n{more}")] {
        let mut python = Command::new("python3");
        python.args(["-c", &code]).current_dir(place.path());
        python.env("PATH", format!("{}:{path}", program.display()));
        let output = python.stdin(Stdio::null()).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{error}");
    }
}
