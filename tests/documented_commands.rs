//! Every command that README.md and the pages in `docs/` show is run, or its flags are checked.
//!
//! In the README, in `docs/guide/` and in `docs/laboratory/` a block fenced as `console` is run: a
//! line that begins with `$ ` is a command, the lines up to the next one are what it prints on
//! standard output. The commands of a page run in order, by `sh`, in one temporary directory that
//! has `sample-corpora` in it, with `lookalike` on the path. A command must succeed, unless the
//! next one begins with `echo $?`; of a command that fails the page shows standard error, too. In
//! the output a line `...` stands for any number of lines, and `...` within a line for any text.
//! Seconds and sizes differ from one run to the next: any number may stand in their place.
//!
//! A command that cannot be run here stands in an `sh` block, in a block that is indented by four
//! spaces, or in a code span. Of each `lookalike` command there, in all pages, every flag must be
//! in the help of its subcommand. A `lookalike` command anywhere else fails the test.
//!
//! `LOOKALIKE_BLESS=1 cargo test --test program documented_commands::` writes what the commands
//! print into the pages. It keeps the lines, with `...` or without, that still match.
#![cfg(unix)]

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn bless() -> bool {
    std::env::var_os("LOOKALIKE_BLESS").is_some_and(|value| value == "1")
}

/// The Markdown files in a directory, in the order of their names.
fn markdown(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    let mut pages: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    pages.sort();
    pages
}

/// The pages whose `console` blocks are run.
fn pages_that_run() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    for directory in ["docs/guide", "docs/laboratory"] {
        pages.extend(markdown(&root().join(directory)));
    }
    pages
}

/// All pages whose commands are checked.
fn all_pages() -> Vec<PathBuf> {
    let mut pages = pages_that_run();
    pages.extend(
        ["CONTRIBUTING.md", "FORMAT.md", "sample-corpora/README.md"].map(|p| root().join(p)),
    );
    pages.extend(markdown(&root().join("docs")));
    pages
}

// The content of a page.

#[derive(Debug, PartialEq)]
enum Piece {
    /// Lines that are not part of a command's output, as they stand.
    Text(Vec<String>),
    /// A line `$ COMMAND` of a `console` block, without the `$ `, and the lines below it.
    Shown {
        command: String,
        output: Vec<String>,
    },
}

/// Cuts a page into the commands to run and what stands between them.
fn pieces(page: &str) -> Vec<Piece> {
    let mut pieces = vec![Piece::Text(Vec::new())];
    let (mut fenced, mut console) = (false, false);
    for line in page.lines() {
        let command = line.strip_prefix("$ ").filter(|_| console);
        if let Some(language) = line.strip_prefix("```") {
            fenced = !fenced;
            console = fenced && language == "console";
            if !fenced || console {
                pieces.push(Piece::Text(Vec::new()));
            }
        }
        match (command, pieces.last_mut().unwrap()) {
            (Some(command), _) => pieces.push(Piece::Shown {
                command: command.into(),
                output: Vec::new(),
            }),
            (None, Piece::Text(lines)) => lines.push(line.into()),
            (None, Piece::Shown { output, .. }) => output.push(line.into()),
        }
    }
    pieces
}

/// The page again; `outputs` are those of its commands, in order.
fn page_of(pieces: &[Piece], mut outputs: impl Iterator<Item = Vec<String>>) -> String {
    let mut lines = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => lines.extend(text.iter().cloned()),
            Piece::Shown { command, .. } => {
                lines.push(format!("$ {command}"));
                lines.extend(outputs.next().unwrap());
            }
        }
    }
    lines.join("\n") + "\n"
}

// The output of a command, compared with the page.

/// A line with a `#` for every number of seconds or bytes, and single spaces between its words. A
/// number that has two decimals counts as seconds, as in the table of stages.
fn without_measurements(line: &str) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "s", "ms"];
    const AROUND: [char; 5] = [',', '(', ')', ';', ':'];
    let words: Vec<_> = line.split_whitespace().collect();
    let written = |(i, word): (usize, &&str)| {
        let bare = word.trim_matches(AROUND);
        let unit_at = bare.find(|c: char| c.is_ascii_alphabetic());
        let (number, unit) = bare.split_at(unit_at.unwrap_or(bare.len()));
        let next = words
            .get(i + 1)
            .map_or("", |next| next.trim_matches(AROUND));
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let counts = !whole.is_empty() && digits(whole) && digits(part);
        let measured = if unit.is_empty() {
            UNITS.contains(&next) || part.len() == 2
        } else {
            UNITS.contains(&unit)
        };
        if counts && measured {
            word.replace(number, "#")
        } else {
            word.to_string()
        }
    };
    let words: Vec<_> = words.iter().enumerate().map(written).collect();
    words.join(" ")
}

/// Is this line what the page shows, where `...` is any text?
fn matches(shown: &str, printed: &str) -> bool {
    let (shown, printed) = (without_measurements(shown), without_measurements(printed));
    let mut parts = shown.split("...");
    let first = parts.next().unwrap();
    let Some(mut rest) = printed.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<_> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Do these lines have at least half of their words in common, so that one may take the other's
/// place?
fn similar(shown: &str, printed: &str) -> bool {
    let (shown, printed) = (without_measurements(shown), without_measurements(printed));
    let words: Vec<_> = shown.split(' ').collect();
    let others: Vec<_> = printed.split(' ').collect();
    let common = words.iter().filter(|word| others.contains(word)).count();
    2 * common >= words.len().max(others.len())
}

/// The lines to show for what was printed, with as much as possible of what was shown before; and
/// whether that is all of it, so that nothing has to change.
///
/// `best[i][j]` is how much can be kept of the lines from `i` on for what is printed from `j` on. A
/// line that matches counts 3, a similar one that takes its place 2; one line that `...` stands for
/// counts 1, and so does the `...`. So nothing counts as much as keeping all, where that is
/// possible.
fn aligned(shown: &[String], printed: &[String]) -> (Vec<String>, bool) {
    let any = |i: usize| shown[i].trim() == "...";
    let kept = |i: usize, j: usize| {
        if any(i) || j == printed.len() {
            0
        } else if matches(&shown[i], &printed[j]) {
            3
        } else if similar(&shown[i], &printed[j]) {
            2
        } else {
            0
        }
    };
    let mut best = vec![vec![0u32; printed.len() + 1]; shown.len() + 1];
    for i in (0..shown.len()).rev() {
        for j in (0..=printed.len()).rev() {
            let mut most = best[i + 1][j] + u32::from(any(i));
            if j < printed.len() {
                most = most.max(best[i][j + 1] + u32::from(any(i)));
                most = most.max(best[i + 1][j + 1] + kept(i, j));
            }
            best[i][j] = most;
        }
    }
    let (mut lines, mut whole) = (Vec::new(), true);
    let (mut i, mut j) = (0, 0);
    while i < shown.len() || j < printed.len() {
        let wanted = best[i][j];
        if i == shown.len() {
            lines.push(printed[j].clone());
            whole = false;
            j += 1;
        } else if any(i) && wanted == best[i + 1][j] + 1 {
            lines.push(shown[i].clone());
            i += 1;
        } else if any(i) {
            j += 1;
        } else if kept(i, j) > 0 && wanted == best[i + 1][j + 1] + kept(i, j) {
            let same = kept(i, j) == 3;
            lines.push(if same { &shown[i] } else { &printed[j] }.clone());
            whole &= same;
            (i, j) = (i + 1, j + 1);
        } else if wanted == best[i + 1][j] {
            whole = false;
            i += 1;
        } else {
            lines.push(printed[j].clone());
            whole = false;
            j += 1;
        }
    }
    (lines, whole)
}

/// Runs a command of a page in its directory: what it prints, and its exit status.
fn run(command: &str, before: i32, directory: &Path) -> (Vec<String>, i32) {
    let program = Path::new(env!("CARGO_BIN_EXE_lookalike")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("(exit {before})\n{command}"))
        .current_dir(directory)
        .env("PATH", format!("{}:{path}", program.display()))
        .env_remove("LOOKALIKE_BLESS")
        .output()
        .unwrap();
    let mut bytes = output.stdout;
    if !output.status.success() {
        bytes.extend(output.stderr);
    }
    let text = String::from_utf8(bytes).unwrap();
    let lines = text.trim_end().lines().map(|line| line.trim_end().into());
    (lines.collect(), output.status.code().unwrap_or(-1))
}

/// Runs the commands of a page: what is wrong with it, or nothing. Rewrites it on demand.
fn run_page(path: &Path) -> String {
    let mut wrong = String::new();
    let page = fs::read_to_string(path).unwrap();
    let pieces = pieces(&page);
    let place = tempfile::tempdir().unwrap();
    let corpora = root().join("sample-corpora");
    std::os::unix::fs::symlink(corpora, place.path().join("sample-corpora")).unwrap();
    let shown: Vec<_> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Shown { command, output } => Some((command, output)),
            Piece::Text(_) => None,
        })
        .collect();
    let (mut outputs, mut status) = (Vec::new(), 0);
    for (number, (command, output)) in shown.iter().enumerate() {
        let printed;
        (printed, status) = run(command, status, place.path());
        let asked = shown
            .get(number + 1)
            .is_some_and(|(next, _)| next.starts_with("echo $?"));
        let (lines, whole) = aligned(output, &printed);
        if status != 0 && !asked {
            wrong += &format!(
                "{}: `{command}` ends with {status}:\n{}\n\n",
                path.display(),
                printed.join("\n")
            );
        } else if !whole && !bless() {
            let (shown, printed) = (output.join("\n"), printed.join("\n"));
            wrong += &format!(
                "{}: `{command}` shows\n{shown}\n\nand prints\n{printed}\n\n",
                path.display()
            );
        }
        outputs.push(lines);
    }
    if bless() && wrong.is_empty() {
        fs::write(path, page_of(&pieces, outputs.into_iter())).unwrap();
    }
    wrong
}

#[test]
fn pages_show_what_their_commands_print() {
    // Much of their time is waiting for the disk, so all pages are run at once.
    let wrong: String = std::thread::scope(|scope| {
        let pages = pages_that_run().into_iter();
        let running: Vec<_> = pages
            .map(|path| scope.spawn(move || run_page(&path)))
            .collect();
        let wrong = running.into_iter().map(|page| page.join().unwrap());
        wrong.collect()
    });
    assert!(
        wrong.is_empty(),
        "{wrong}(LOOKALIKE_BLESS=1 rewrites the pages)"
    );
}

// Commands that are not run.

/// The `lookalike` commands of a page that are not run; an error for one that stands where none
/// may.
fn commands_not_run(page: &str, runs: bool) -> Result<Vec<String>, String> {
    let mut commands = Vec::new();
    let mut language: Option<&str> = None;
    let (mut unfinished, mut paragraph) = (String::new(), String::new());
    for line in page.lines().chain([""]) {
        let fence = line.trim_start().strip_prefix("```");
        let indented = line.starts_with("    ");
        if language.is_none() && fence.is_none() && !indented && !line.trim().is_empty() {
            // A code span may go on in the next line.
            paragraph += line;
            paragraph.push(' ');
            continue;
        }
        for span in paragraph.split('`').skip(1).step_by(2) {
            commands.extend(simple_commands(span));
        }
        paragraph.clear();
        if let Some(after) = fence {
            language = language.is_none().then_some(after);
            continue;
        }
        let bare = line.trim_start();
        let prompt = bare.strip_prefix("$ ").unwrap_or(bare);
        let shell = match language {
            Some("sh") => true,
            Some("console") => !runs,
            Some(_) => false,
            None => indented,
        };
        if shell {
            unfinished += prompt;
            if let Some(part) = unfinished.strip_suffix('\\') {
                unfinished = part.into();
                continue;
            }
            commands.extend(simple_commands(&unfinished));
            unfinished.clear();
        } else if language != Some("console") && !simple_commands(prompt).is_empty() {
            return Err(format!("a command in a block that is not checked: {line}"));
        }
    }
    Ok(commands)
}

/// The `lookalike` commands of a line of the shell, from their subcommand on.
fn simple_commands(line: &str) -> Vec<String> {
    let line = line.split(" #").next().unwrap();
    let parts = line.split(['|', ';', '&', '(', ')', '<', '>']);
    let ours = |part: &str| {
        let part = part.trim();
        let cargo = (part.starts_with("cargo run") && !part.contains("--example"))
            .then(|| part.split_once(" -- "))
            .flatten();
        let arguments = cargo
            .map(|(_, rest)| rest)
            .or(part.strip_prefix("lookalike "));
        arguments.map(String::from)
    };
    parts.filter_map(ours).collect()
}

/// The flags of a command that its subcommand's help does not list.
fn unknown_flags(command: &str, helps: &mut HashMap<String, String>) -> Vec<String> {
    let mut words = command
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'', '[', ']', ',']));
    let subcommand = words.next().unwrap_or_default();
    // `lookalike --version`, and `lookalike COMMAND --help` for any of them.
    let top = subcommand.starts_with('-') || subcommand == "COMMAND";
    // A command with commands of its own.
    let inner = ["tasks", "lab", "stage", "export", "check", "help"]
        .contains(&subcommand)
        .then(|| words.next())
        .flatten();
    let named: Vec<&str> = [subcommand].into_iter().chain(inner).collect();
    let help = helps.entry(named.join(" ")).or_insert_with(|| {
        if top {
            // The overview does not list what every command has.
            return "-h --help -V --version".into();
        }
        let mut program = Command::new(env!("CARGO_BIN_EXE_lookalike"));
        let mut printed = program.args(&named).arg("--help").output().unwrap().stdout;
        // Flags that every command has.
        for page in ["stores", "resources"] {
            let mut program = Command::new(env!("CARGO_BIN_EXE_lookalike"));
            let output = program.args(["help", page]).output().unwrap();
            printed.extend(
                Some(output.stdout)
                    .filter(|_| !printed.is_empty())
                    .unwrap_or_default(),
            );
        }
        String::from_utf8(printed).unwrap()
    });
    if help.is_empty() {
        return vec![subcommand.into()];
    }
    // A negative number and a lone `-` are not flags.
    let flag = |word: &&str| word.starts_with("--") || word.len() == 2 && word.starts_with('-');
    let listed = |word: &str| {
        let name = word.split('=').next().unwrap();
        // Names of the version before still work.
        let all = <lookalike::cli::Commands as lookalike::cli::Program>::RENAMED;
        all.contains(name)
            || help
                .split(|c: char| c.is_whitespace() || c == ',')
                .any(|word| word == name)
    };
    let flags = words.chain(top.then_some(subcommand)).filter(flag);
    flags
        .filter(|word| *word != "--" && !listed(word))
        .map(String::from)
        .collect()
}

#[test]
fn pages_name_flags_that_there_are() {
    let (mut helps, mut wrong, mut checked) = (HashMap::new(), String::new(), 0);
    let running = pages_that_run();
    for path in all_pages() {
        let page = fs::read_to_string(&path).unwrap();
        match commands_not_run(&page, running.contains(&path)) {
            Err(error) => wrong += &format!("{}: {error}\n", path.display()),
            Ok(commands) => {
                for command in &commands {
                    let flags = unknown_flags(command, &mut helps);
                    if !flags.is_empty() {
                        wrong += &format!(
                            "{}: `lookalike {command}` has no {flags:?}\n",
                            path.display()
                        );
                    }
                }
                checked += commands.len();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(checked > 20, "only {checked} commands were found");
}

// Tables that are written by hand.

/// The code spans in the first column of the tables of a page in `docs/` that have this header.
fn listed(page: &str, header: &str) -> BTreeSet<String> {
    let page = fs::read_to_string(root().join("docs").join(page)).unwrap();
    let (mut names, mut within) = (BTreeSet::new(), false);
    for line in page.lines() {
        let first = line
            .strip_prefix("| ")
            .and_then(|cells| cells.split(" | ").next());
        within = first.is_some() && (within || first == Some(header));
        if within {
            let spans = first.unwrap().split('`').skip(1).step_by(2);
            names.extend(spans.map(String::from));
        }
    }
    names
}

/// Runs commands in a new directory: what each prints.
fn printed(commands: &[&str]) -> Vec<Vec<String>> {
    let place = tempfile::tempdir().unwrap();
    let corpora = root().join("sample-corpora");
    std::os::unix::fs::symlink(corpora, place.path().join("sample-corpora")).unwrap();
    let all = commands.iter().map(|command| {
        let (lines, status) = run(command, 0, place.path());
        assert_eq!(status, 0, "{command}: {lines:?}");
        lines
    });
    all.collect()
}

/// A line of the ledger by its name, without parameters; a method's features count as shingles.
fn ledger_line(line: &str) -> String {
    let name = line.trim_start().split("  ").next().unwrap();
    let name = name.split(" (").next().unwrap();
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ' ');
    let name = name.strip_suffix(" or above").unwrap_or(name);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ' ');
    name.replace("distinct features", "distinct shingles")
        .replace("features", "fingerprints")
}

#[test]
fn the_guide_lists_the_lines_of_the_ledger() {
    let ledgers = printed(&[
        "mkdir in && cp sample-corpora/trec-web/*.gz in && touch in/.hidden in/excluded",
        "lookalike run in sample-corpora/jsonl -o kept --keep-text --exclude excluded -v",
        "lookalike lab method super-shingles kept -v",
        "echo '{\"text\":\"one two three four five six seven eight nine ten\"}' > new.jsonl",
        "lookalike add kept new.jsonl -v",
        "lookalike run new.jsonl --against kept -o against -v",
        "lookalike run in -o sampled --sampling 1/32 --verified -v",
        "lookalike run in -o counted --max-postings 2 -v",
        "lookalike run in -o planned --precision 0.9 --pairs none -v",
        "mv sampled in && lookalike run in -o skipping -v",
    ]);
    let lines = ledgers.iter().flat_map(|ledger| {
        // Below the answer.
        let below = ledger.iter().skip_while(|line| !line.is_empty()).skip(1);
        let lines = below.take_while(|line| !line.is_empty());
        // Reasons stand below the lines that they add up to.
        lines.filter(|line| !line.starts_with("    "))
    });
    let lines: BTreeSet<String> = lines.map(|line| ledger_line(line)).collect();
    let listed = listed("guide/ledger.md", "line");
    let listed: BTreeSet<String> = listed.iter().map(|line| ledger_line(line)).collect();
    assert_eq!(lines, listed);
}

#[test]
fn the_guide_lists_the_columns_of_compare() {
    let tables = printed(&[
        "lookalike stage ingest sample-corpora/trec-web -o kept --keep-text --quiet",
        "lookalike lab compare kept --methods i-match --truth i-match",
    ]);
    let table = &tables[1];
    let heads = table.iter().filter(|line| line.starts_with("method"));
    let columns = heads.flat_map(|head| head.split("  ")).map(str::trim);
    // Precision and recall name their ground truth.
    let columns = columns.map(|column| column.strip_suffix(" i-match").unwrap_or(column));
    let columns = columns.filter(|column| !column.is_empty());
    let columns: BTreeSet<String> = columns.map(String::from).collect();
    assert_eq!(columns, listed("laboratory/methods.md", "column"));
}

#[test]
fn the_guide_lists_the_reasons_of_rejects() {
    let reasons = lookalike::text::read::Reason::ALL.iter();
    let reasons: BTreeSet<String> = reasons.map(ToString::to_string).collect();
    assert_eq!(reasons, listed("guide/formats.md", "reason"));
}

/// All Rust sources below a directory, one after the other.
fn sources(directory: &Path) -> String {
    let entries = fs::read_dir(directory).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let text = paths.iter().map(|path| {
        if path.is_dir() {
            sources(path)
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            fs::read_to_string(path).unwrap()
        } else {
            String::new()
        }
    });
    text.collect()
}

/// A path that a page names; `*` stands for the rest of a name.
fn exists(path: &str) -> bool {
    let Some((before, _)) = path.split_once('*') else {
        return root().join(path).exists();
    };
    let (directory, start) = before.rsplit_once('/').unwrap();
    let mut entries = fs::read_dir(root().join(directory)).into_iter().flatten();
    entries.any(|entry| {
        let name = entry.unwrap().file_name();
        name.to_str().unwrap().starts_with(start)
    })
}

#[test]
fn tests_that_pages_name_exist() {
    let tests = sources(&root().join("tests"))
        + &sources(&root().join("src"))
        + &sources(&root().join("crates"));
    let (mut wrong, mut checked) = (String::new(), 0);
    for path in markdown(&root().join("docs")) {
        let page = fs::read_to_string(&path).unwrap();
        for span in page.split('`').skip(1).step_by(2) {
            if span.starts_with("tests/") {
                checked += 1;
                if !exists(span) {
                    wrong += &format!("{}: there is no {span}\n", path.display());
                }
            }
        }
        let (_, defects) = page.split_once("## Defects found").unwrap_or_default();
        for row in defects.lines().filter(|line| line.starts_with("| ")) {
            let cell = row.rsplit(" | ").next().unwrap();
            for name in cell.split('`').skip(1).step_by(2) {
                checked += 1;
                let found = match name.split_once('/') {
                    Some(("tests", _)) => true,
                    Some(_) => exists(&format!("fuzz/regressions/{name}*")),
                    None => tests.contains(&format!("fn {name}(")),
                };
                if !found {
                    wrong += &format!("{}: there is no test {name}\n", path.display());
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(checked > 15, "only {checked} tests were found");
}

// The rules above, on pages small enough to read.

fn lines(text: &str) -> Vec<String> {
    text.lines().map(String::from).collect()
}

#[test]
fn a_page_is_cut_and_put_together() {
    let page = "text\n```console\n$ a -b\none\n$ c\n```\n$ not this\n```sh\n$ nor this\n```\n";
    let pieces = pieces(page);
    let outputs = || {
        pieces.iter().filter_map(|piece| match piece {
            Piece::Shown { output, .. } => Some(output.clone()),
            Piece::Text(_) => None,
        })
    };
    assert_eq!(outputs().collect::<Vec<_>>(), [lines("one"), lines("")]);
    assert_eq!(page_of(&pieces, outputs()), page);
}

#[test]
fn what_is_taken_for_equal() {
    assert!(matches(
        "ingest  0.04 0.03  19MiB",
        "ingest 12.10 0.00 7MiB"
    ));
    assert!(matches("took 3 s, 0.1 GiB", "took 12.5 s, 40 GiB"));
    assert!(!matches("pairs 77", "pairs 78"));
    assert!(!matches("precision 0.8916", "precision 0.8917"));
    assert!(matches("all ... of 9", "all 7 of 9"));
    assert!(!matches("all ... of 9", "all 7 of 8"));
    assert!(!matches("... 9", "7 9 8"));
}

#[test]
fn lines_that_match_are_kept() {
    let printed = lines("a\nb 2\nc\nd\ne");
    assert_eq!(
        aligned(&lines("a\nb ...\n...\ne"), &printed),
        (lines("a\nb ...\n...\ne"), true)
    );
    assert_eq!(
        aligned(&lines("...\nd\n..."), &printed),
        (lines("...\nd\n..."), true)
    );
    assert_eq!(
        aligned(&lines("a\nb 2\nc\nd"), &printed),
        (printed.clone(), false)
    );
    assert_eq!(
        aligned(&lines("x\nb ...\n..."), &printed),
        (lines("a\nb ...\n..."), false)
    );
    assert_eq!(aligned(&lines(""), &printed), (printed.clone(), false));
    assert_eq!(aligned(&lines("a\n..."), &lines("")), (lines("..."), false));
    // What takes the place of a line is shown, and not left to the `...` beside it.
    assert_eq!(
        aligned(
            &lines("...\npairs found 7\n..."),
            &lines("x\npairs listed 7\ny")
        ),
        (lines("...\npairs listed 7\n..."), false)
    );
}

#[test]
fn commands_and_their_flags_are_found() {
    let page = "`lookalike\nrun A -o B` and `lookalike`\n\n    lookalike check verify out   # lookalike no\n\
        ```sh\ncat x | lookalike query out - \\\n    --json\n```\n    cargo run --release -- run A -o out\n";
    let found = commands_not_run(page, true).unwrap();
    let expected = [
        "run A -o B",
        "check verify out",
        "query out - --json",
        "run A -o out",
    ];
    let squeezed = |command: &String| command.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(found.iter().map(squeezed).collect::<Vec<_>>(), expected);
    assert!(commands_not_run("```text\nlookalike run\n```\n", true).is_err());
    assert!(commands_not_run("```\n$ lookalike run\n```\n", true).is_err());
    let mut helps = HashMap::new();
    assert_eq!(
        unknown_flags("run A --output B -t 0.5", &mut helps),
        [""; 0]
    );
    assert_eq!(
        unknown_flags("run A --out B -y", &mut helps),
        ["--out", "-y"]
    );
    assert_eq!(unknown_flags("nothing A", &mut helps), ["nothing"]);
    assert_eq!(unknown_flags("--version", &mut helps), [""; 0]);
}
