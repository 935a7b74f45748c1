//! The help, what it promises, and what surrounds the commands: completions, manual pages, the
//! choice of files.

use crate::common;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use lookalike::engine::pipeline::Summary;
use lookalike::lab::perturb::{Cherkasova, Chowdhury};
use lookalike::report::ledger;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_lookalike");

/// The names of all commands.
static COMMANDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let described = lookalike::cli::described();
    let names = described
        .get_subcommands()
        .map(|command| command.get_name());
    names.map(String::from).collect()
});

fn lookalike<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> Output {
    let mut command = Command::new(PROGRAM);
    command.stdin(Stdio::null()).args(arguments);
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What a command that succeeds prints.
fn printed<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> String {
    let output = lookalike(arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn help(command: &str) -> String {
    printed([command, "--help"])
}

#[test]
fn the_overview_fits_a_screen_and_has_every_command_in_a_group() {
    let overview = printed(["--help"]);
    let nothing = lookalike([""; 0]);
    assert_eq!(nothing.status.code(), Some(2));
    assert_eq!(text(&nothing.stderr), overview);
    assert!(overview.lines().count() <= COMMANDS.len() + 6, "{overview}");
    for line in overview.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for group in ["Find", "Look", "Evaluate", "Maintain"] {
        assert!(
            overview.lines().any(|line| line.starts_with(group)),
            "{group}"
        );
    }
    assert!(overview.contains("lookalike run FOLDER -o out"));
    let listed: BTreeSet<String> = overview
        .lines()
        .skip(3)
        .take_while(|line| !line.is_empty())
        .map(|line| line[9..].split(' ').next().unwrap().into())
        .collect();
    assert_eq!(listed, COMMANDS.iter().cloned().collect());
    for status in ["0 done", "1 failed", "2 wrong usage", "130 stopped"] {
        assert!(overview.contains(status), "{status}");
    }
}

#[test]
fn short_help_fits_a_screen_and_first_lines_are_short() {
    let described = lookalike::cli::described();
    let inner = described.get_subcommands().flat_map(|command| {
        let inner = command.get_subcommands();
        inner.map(|inner| format!("{} {}", command.get_name(), inner.get_name()))
    });
    for command in COMMANDS.iter().cloned().chain(inner) {
        let of = |flag| printed(command.split(' ').chain([flag]));
        let short = of("-h");
        assert!(short.lines().count() <= 50, "{short}");
        let long = of("--help");
        let about = long.lines().next().unwrap();
        assert!(about.chars().count() <= 72, "{about}");
        assert!(!about.ends_with('.'), "{about}");
        let mut lines = long.lines().peekable();
        while let Some(line) = lines.next() {
            let flag = line.starts_with("  -") || line.starts_with("      --");
            if let Some(first) = lines.peek().filter(|_| flag) {
                let first = first.trim();
                assert!(
                    (1..=72).contains(&first.chars().count()),
                    "{command}: {first}"
                );
            }
        }
    }
}

/// A directory with `sample-corpora` in it, in which examples run.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        let directory = crate::common::temporary();
        let corpora = common::sample_corpora("");
        std::os::unix::fs::symlink(corpora, directory.path().join("sample-corpora")).unwrap();
        // The program of an example, which not every machine has.
        let program = directory.path().join("pdftotext");
        fs::write(&program, "#!/bin/sh\ncat\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Place(directory)
    }

    fn shell(&self, line: &str) {
        let programs = Path::new(PROGRAM).parent().unwrap().to_str().unwrap();
        let own = self.0.path().to_str().unwrap();
        let path = format!("{programs}:{own}:{}", std::env::var("PATH").unwrap());
        let output = Command::new("sh")
            .args(["-c", line])
            .current_dir(self.0.path())
            .env("PATH", path)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    }
}

#[test]
fn examples_of_commands_run() {
    for command in COMMANDS.iter() {
        let help = help(command);
        let (_, examples) = help.split_once("Examples:\n").expect(command);
        let place = Place::new();
        let mut shown = false;
        for line in examples.lines() {
            let line = line.trim_start();
            shown |= line.starts_with(&format!("lookalike {command}"));
            place.shell(line);
        }
        assert!(shown, "{command}");
    }
}

/// Arguments that are shown for a flag.
fn examples_of_flags(command: &str) -> Vec<String> {
    let mut found = Vec::new();
    let help = help(command);
    let mut lines = help.lines();
    while let Some(line) = lines.next() {
        if let Some(example) = line.trim_start().strip_prefix("Example: ") {
            let mut example = example.to_string();
            for more in lines.by_ref().take_while(|line| !line.trim().is_empty()) {
                example = format!("{example} {}", more.trim());
            }
            found.push(example);
        }
    }
    found
}

#[test]
fn examples_of_flags_run() {
    let bases = [
        ("run", "run sample-corpora/trec-web/b.gz -o @"),
        ("ingest", "ingest sample-corpora/trec-web/b.gz -o @"),
        ("join", "join out"),
        ("query", "query out sample-corpora/trec-web/b.gz"),
        ("report", "report out"),
        ("dedup", "dedup sample-corpora/warc -o @"),
        ("graph", "graph out"),
        ("inspect", "inspect out/pairs/000000.pairs"),
        ("evaluate", "evaluate --truth out --run out"),
        ("compare", "compare out"),
        ("plan", "plan out"),
        ("study", "study out"),
        ("perturb", "perturb sample-corpora/trec-web/b.gz -o @"),
        (
            "contamination",
            "contamination sample-corpora/trec-web --against test.jsonl",
        ),
        (
            "passages",
            "passages sample-corpora/jsonl/text.jsonl.zst -o @",
        ),
    ];
    let place = Place::new();
    place.shell("printf '{\"task_id\":7,\"question\":\"one\",\"text\":\"two\"}\\n' > test.jsonl");
    place.shell("cp sample-corpora/files/a/PG-000001.html template.txt");
    place.shell("printf 'PG-000064 PG-000065 2\\nPG-000064 PG-000066 0\\n' > judged.txt");
    place.shell("lookalike dedup sample-corpora/warc -o kept -q");
    place.shell("lookalike run sample-corpora/trec-web/b.gz --keep-text -o ran -q");
    let mut run = BTreeSet::new();
    for (command, base) in bases {
        // Anew for each: an example may ask the directory another question.
        place.shell("rm -rf out; cp -r ran out");
        if command == "report" {
            // For `report --study`.
            place.shell("lookalike study out --ratios 1/2 -q");
        }
        for example in examples_of_flags(command) {
            // A flag that commands share is tried with the first of them.
            if !run.insert(example.clone()) || run.len() % common::one_in(2) > 0 {
                continue;
            }
            let audits = ["--by", "--samples", "--review"];
            let base = match command {
                "report" if audits.iter().any(|flag| example.starts_with(flag)) => "report kept",
                // The others need fields and lists that these pages do not have.
                "dedup" if !example.contains("--report") => continue,
                _ => base,
            };
            let base = base.replace('@', &format!("out-{}", run.len()));
            let more = if command == "perturb" && !example.contains("--recipe") {
                "--recipe cherkasova"
            } else {
                ""
            };
            place.shell(&format!("lookalike {base} {example} {more}"));
        }
    }
    assert!(run.len() > 50, "{run:?}");
}

#[test]
fn defaults_in_words_are_those_of_the_library() {
    let (chowdhury, cherkasova) = (Chowdhury::default(), Cherkasova::default());
    let help = printed(["perturb", "-h"]);
    for (flag, default) in [
        ("--copies", chowdhury.copies.to_string()),
        ("--every", chowdhury.every.to_string()),
        ("--alpha", chowdhury.alpha.to_string()),
        ("--edit ", cherkasova.edit.to_string()),
        ("--word", cherkasova.word),
    ] {
        let line = help.lines().find(|line| line.contains(flag)).unwrap();
        assert!(line.ends_with(&format!("[default: {default}]")), "{line}");
    }
    let counts = "1..50".parse().unwrap();
    assert_eq!(cherkasova.edits, counts);
    assert!(help.contains("[default: 1..50]"));
}

#[test]
fn completions_and_manual_pages_have_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = printed(["completions", shell]);
        for command in COMMANDS.iter() {
            assert!(script.contains(command), "{shell} {command}");
        }
        assert!(script.contains("max-postings"), "{shell}");
    }
    let directory = crate::common::temporary();
    let pages = directory.path().join("man1");
    printed(["man".as_ref(), pages.as_os_str()]);
    let page = |name: &str| fs::read_to_string(pages.join(name)).unwrap();
    let main = page("lookalike.1");
    assert!(
        main.contains("\n.SH EXIT STATUS\n") && main.contains("130"),
        "{main}"
    );
    for command in COMMANDS.iter() {
        let page = page(&format!("lookalike-{command}.1"));
        assert!(page.contains("\n.SH EXAMPLES\n"), "{page}");
    }
    assert_eq!(fs::read_dir(&pages).unwrap().count(), COMMANDS.len() + 1);
}

fn docnos(out: &Path) -> Vec<String> {
    let rows = common::rows_of(out, "documents.tsv");
    rows.iter()
        .map(|row| row.split('\t').next().unwrap().into())
        .collect()
}

/// A walk used to read `.git/config`.
#[test]
fn a_walk_skips_hidden_files_and_what_globs_exclude() {
    let directory = crate::common::temporary();
    let at = |name: &str| directory.path().join(name);
    for name in [
        "in/a.txt",
        "in/sub/b.txt",
        "in/sub/.c.txt",
        "in/.git/config",
        "in/.git/more",
        "in/README.md",
        "in/sub/lewis.dtd",
    ] {
        fs::create_dir_all(at(name).parent().unwrap()).unwrap();
        fs::write(at(name), format!("the text of {name}")).unwrap();
    }
    std::os::unix::fs::symlink(at("in/a.txt"), at("in/.link")).unwrap();
    let run = |name: &str, arguments: &[&str]| {
        let out = at(name);
        let mut command = Command::new(PROGRAM);
        command
            .current_dir(directory.path())
            .args(["run", "-v"])
            .args(arguments);
        let output = command.arg("-o").arg(&out).output().unwrap();
        (out, output)
    };
    let read = |name: &str, arguments: &[&str]| {
        let (out, output) = run(name, arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
        (docnos(&out), text(&output.stdout))
    };
    let counts = |ledger: &str, label: &str| {
        let row = ledger.lines().find(|row| row.trim().starts_with(label));
        row.map(|row| row.trim()[label.len()..].trim().to_string())
    };
    let (found, told) = read("default", &["in"]);
    assert_eq!(found, ["README.md", "a.txt", "sub/b.txt", "sub/lewis.dtd"]);
    // .git, .link and .c.txt.
    assert_eq!(counts(&told, "hidden, not read").as_deref(), Some("3"));
    assert!(printed(["status".as_ref(), at("default").as_os_str()]).contains("hidden, not read"));

    let (found, told) = read("hidden", &["in", "--hidden"]);
    assert_eq!(found.len(), 7, "{found:?}");
    assert_eq!(counts(&told, "hidden"), None);

    let (mut found, _) = read("named", &["in/.git", "in/sub/.c.txt"]);
    found.sort();
    assert_eq!(found, [".c.txt", "config", "more"]);

    let (found, told) = read(
        "globs",
        &["in", "--exclude", "README*", "--exclude", "*.dtd"],
    );
    assert_eq!(found, ["a.txt", "sub/b.txt"]);
    let excluded = counts(&told, "excluded by globs, not read");
    assert_eq!(excluded.as_deref(), Some("2"));
    let include = [
        "in",
        "in/README.md",
        "--include",
        "*.txt",
        "--exclude",
        "sub/*",
    ];
    let (found, _) = read("include", &include);
    assert_eq!(found, ["README.md", "a.txt"]);

    // Other globs choose more inputs, which are added, or leave out what was read.
    let (found, _) = read("globs", &["in", "--exclude", "*.dtd"]);
    assert_eq!(found, ["a.txt", "sub/b.txt", "README.md"]);
    let (_, output) = run("globs", &["in", "--exclude", "*.dtd", "--exclude", "a.txt"]);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("results of other inputs") && message.contains("--exclude"),
        "{message}"
    );
    let (_, output) = run("other", &["in", "--exclude", "a[b"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}

/// Long labels and long numbers used to touch.
#[test]
fn columns_of_the_ledger_stand_apart() {
    let directory = crate::common::temporary();
    let out = directory.path().join("out");
    let corpus = common::sample_corpora("trec-web/a.gz");
    let run = [
        "run".as_ref(),
        corpus.as_os_str(),
        "-o".as_ref(),
        out.as_os_str(),
        "-q".as_ref(),
    ];
    printed(
        run.into_iter()
            .chain(["--shingle-size".as_ref(), "1000".as_ref()]),
    );
    let summary = fs::read(out.join("summary.json")).unwrap();
    let mut summary: Summary = serde_json::from_slice(&summary).unwrap();
    for cost in summary.costs.values_mut() {
        cost.wall_seconds = 1e9;
        cost.cpu_seconds = 1e9;
        cost.peak_bytes = u64::MAX;
    }
    let ledger = ledger(&summary);
    let label = "short documents (under 1,000 words)";
    let (rows, stages) = ledger.split_once("\n\n").unwrap();
    let row = rows.lines().find(|row| row.starts_with(label)).unwrap();
    assert!(row[label.len()..].starts_with("  "), "{row}");
    for stage in stages.lines() {
        let cells: Vec<&str> = stage.split("  ").filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells.len(), 4, "{stage}");
    }
}
