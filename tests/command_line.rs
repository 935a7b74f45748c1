//! The help, what it promises, and what surrounds the commands: completions, manual pages, the
//! laboratory, the choice of files.

use crate::common;
use crate::help::{Place, Program, text};

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use lookalike::engine::pipeline::Summary;
use lookalike::report::ledger;

const PROGRAM: &str = env!("CARGO_BIN_EXE_lookalike");

fn program() -> Program {
    Program {
        path: PROGRAM.into(),
        started: "lookalike",
        described: lookalike::cli::described::<lookalike::cli::Commands>(),
        others: &["lab"],
    }
}

#[test]
fn the_overview_fits_a_screen_and_has_every_command_in_a_group() {
    let groups = ["Find", "Look", "Measure", "Research", "More"];
    program().check_overview(&groups, "lookalike run FOLDER -o out");
}

#[test]
fn short_help_fits_a_screen_and_first_lines_are_short() {
    let (flags, words) = program().check_lengths();
    assert!(
        flags <= 400 && words <= 18_000,
        "{flags} flags, {words} words"
    );
    let flags = |command| {
        let short = printed([command, "-h"]);
        let is_flag = |line: &&str| {
            let short = line.starts_with("  -") && !line.starts_with("  --");
            short || line.starts_with("      --")
        };
        short.lines().filter(is_flag).count()
    };
    assert!(flags("run") <= 25, "{}", flags("run"));
    // The flags that the guide uses.
    let short = printed(["run", "-h"]);
    for flag in [
        "--score",
        "--results",
        "--convert",
        "--exclude-text",
        "--from",
        "--review",
    ] {
        assert!(short.contains(flag), "{flag}");
    }
    for (command, shown) in [
        ("dedup", "--report --revisit --pairs"),
        ("report", "--samples --verdicts"),
    ] {
        let short = printed([command, "-h"]);
        let mut flags = shown.split(' ');
        assert!(flags.all(|flag| short.contains(flag)), "{short}");
    }
    for (command, hidden) in [
        ("passages", "--of --no-matches"),
        ("query", "--tsv"),
        ("plan", "--subset --ratios --plan-seed"),
    ] {
        let [short, long] = ["-h", "--help"].map(|help| printed([command, help]));
        for flag in hidden.split(' ').map(|flag| format!(" {flag}")) {
            assert!(!short.contains(&flag) && long.contains(&flag), "{flag}");
        }
    }
}

/// Each flag is in the help of its command, or named there and described on one page.
#[test]
fn flags_that_many_commands_have_are_described_on_a_page() {
    let described = program().described;
    let run = described.find_subcommand("run").unwrap();
    let help = printed(["run", "--help"]);
    let pages = ["inputs", "shingles", "sampling", "resources", "stores"];
    let pages = pages.map(|name| printed(["help", name])).concat();
    let all = run.get_arguments().chain(described.get_arguments());
    for flag in all.filter_map(|argument| argument.get_long()) {
        let entry = format!("--{flag}");
        let own = |text: &str| {
            let mut lines = text.lines().map(|line| line.trim_start());
            lines.any(|line| {
                line.split([' ', ',', '['])
                    .take(3)
                    .any(|word| word == entry)
            })
        };
        assert!(own(&help) || own(&pages), "{entry}");
    }
    assert!(
        help.contains("--max-ratio") && pages.contains("--max-ratio <N>"),
        "{help}"
    );
}

/// Names of the version before work and tell the names of today, except with --quiet.
#[test]
fn names_of_the_version_before_work() {
    let place = common::temporary();
    let out = place.path().join("out");
    let out = out.to_str().unwrap();
    let input = common::sample_corpora("trec-web/b.gz");
    let input = input.to_str().unwrap();
    let said = |line: &str| {
        let output = program().run(line.split(' '));
        assert!(output.status.success(), "{line}: {}", text(&output.stderr));
        text(&output.stderr)
    };
    let told = said(&format!("ingest {input} -o {out}"));
    assert!(
        told.starts_with("`lookalike ingest` is now `lookalike stage ingest`\n"),
        "{told}"
    );
    assert_eq!(said(&format!("join {out} -q")), "");
    assert_eq!(
        said(&format!("evaluate --truth {out} --run {out} --columns 1,2")),
        "`lookalike evaluate --run VALUE` is now `lookalike evaluate VALUE`\n\
         `lookalike evaluate --columns VALUE` is now `lookalike evaluate --pair-columns VALUE`\n"
    );
    assert_eq!(said(&format!("evaluate --truth {out} {out}")), "");
    let told = said(&format!("count --progress json {input}"));
    let first: serde_json::Value = serde_json::from_str(told.lines().next().unwrap()).unwrap();
    assert_eq!(first["event"], "note");
}

/// Another search of a finished directory takes none of the flags about what is read.
#[test]
fn run_from_searches_what_was_read() {
    let place = common::temporary();
    let out = place.path().join("out");
    let out = out.to_str().unwrap();
    let input = common::sample_corpora("trec-web/b.gz");
    let run = |more: &str| program().run(format!("run -q {more}").split(' '));
    assert!(
        run(&format!("{} -o {out}", input.display()))
            .status
            .success()
    );
    assert!(
        run(&format!("--from {out} --threshold 0.3"))
            .status
            .success()
    );
    let status = printed(["status", out]);
    assert!(status.contains("done (threshold 0.3)"), "{status}");
    for more in [
        "-o other",
        "other",
        "--shingle-size 4",
        "--text-field a",
        "--against other",
    ] {
        let output = run(&format!("--from {out} {more}"));
        assert_eq!(output.status.code(), Some(2), "{more}");
        let told = text(&output.stderr);
        assert!(told.contains("cannot be used with"), "{told}");
        // And no other flag of its group.
        assert!(
            !told.contains("--fold") && !told.contains("--record"),
            "{told}"
        );
        assert!(told.contains("lookalike run INPUT... -o OTHER"), "{told}");
    }
    for (more, missing) in [
        ("--threshold 0.3", "<INPUT>"),
        ("in", "--output"),
        ("in -o ", "--output"),
    ] {
        let output = run(more);
        let told = text(&output.stderr);
        assert!(
            told.contains(missing) && output.status.code() == Some(2),
            "{told}"
        );
    }
}

#[test]
fn examples_of_commands_run() {
    program().check_examples();
}

#[test]
fn examples_of_flags_run() {
    let bases = [
        ("run", "run sample-corpora/trec-web/b.gz -o @"),
        (
            "help inputs",
            "stage ingest sample-corpora/trec-web/b.gz -o @",
        ),
        (
            "help shingles",
            "stage ingest sample-corpora/trec-web/b.gz -o @",
        ),
        ("help sampling", "run --from out"),
        ("help resources", "run --from out"),
        ("stage join", "stage join out"),
        ("query", "query out sample-corpora/trec-web/b.gz"),
        ("report", "report out"),
        ("dedup", "dedup sample-corpora/warc -o @"),
        ("export graph", "export graph out"),
        ("check inspect", "check inspect out/pairs/000000.pairs"),
        ("evaluate", "evaluate out --truth out"),
        ("plan", "plan out"),
        (
            "contamination",
            "contamination sample-corpora/trec-web --test-set test.jsonl -o @",
        ),
        (
            "passages",
            "passages sample-corpora/jsonl/text.jsonl.zst -o @",
        ),
    ];
    let place = Place::new(PROGRAM.as_ref());
    place.shell("printf '{\"task_id\":7,\"question\":\"one\",\"text\":\"two\"}\\n' > test.jsonl");
    place.shell("cp sample-corpora/files/a/PG-000001.html template.txt");
    place.shell("printf 'PG-000096 PG-000097 2\\nPG-000096 PG-000098 0\\n' > judged.txt");
    place.shell("lookalike dedup sample-corpora/warc -o kept -q");
    place.shell("lookalike run sample-corpora/trec-web/b.gz --keep-text -o ran -q");
    let mut run = BTreeSet::new();
    for (command, base) in bases {
        // Anew for each: an example may ask the directory another question.
        place.shell("rm -rf out; cp -r ran out");
        for example in program().examples_of_flags(command) {
            // A flag that commands share is tried with the first of them.
            if !run.insert(example.clone()) || run.len() % common::one_in(2) > 0 {
                continue;
            }
            let audits = ["--by", "--verdicts"];
            let base = match command {
                "run" if example.contains("--from") => "run",
                "report" if audits.iter().any(|flag| example.starts_with(flag)) => "report kept",
                // The others need fields and lists that these pages do not have.
                "dedup" if !example.contains("--report") => continue,
                _ => base,
            };
            let base = base.replace('@', &format!("out-{}", run.len()));
            place.shell(&format!("lookalike {base} {example}"));
        }
    }
    assert!(run.len() > 50, "{run:?}");
}

/// A search again changes what its flags say, and a sampling with all that belongs to it.
#[test]
fn run_from_keeps_what_no_flag_changes() {
    let place = common::temporary();
    let out = place.path().join("out");
    let input = common::sample_corpora("trec-web/b.gz");
    let (out, input) = (out.to_str().unwrap(), input.to_str().unwrap());
    printed(
        format!(
            "run {input} -o {out} -q --threshold 0.6 --score containment --join prefix --pairs none"
        )
        .split(' '),
    );
    for (more, expected) in [
        ("", "prefix 0.6 containment none full null"),
        (
            "--pairs all --results parquet",
            "prefix 0.6 containment all full null",
        ),
        (
            "--score resemblance --join auto",
            "auto 0.6 null all full null",
        ),
        ("--sampling 1/2 --verified", "auto 0.6 null all 1/2 0.6"),
        ("--threshold 0.5", "auto 0.5 null all 1/2 0.5"),
        ("--candidates 0.4", "auto 0.5 null all 1/2 0.4"),
        ("--threshold 0.6", "auto 0.6 null all 1/2 0.4"),
        ("--sampling 1/4", "auto 0.6 null all 1/4 null"),
        (
            "--sampling full --results tsv",
            "auto 0.6 null all full null",
        ),
    ] {
        let line = format!("run --from {out} --json {more}");
        let summary: serde_json::Value =
            serde_json::from_str(&printed(line.split_whitespace())).unwrap();
        let join = &summary["join_config"];
        let found = ["join", "threshold", "measure", "pairs"].map(|name| join[name].to_string());
        let found = format!(
            "{} {} {}",
            found.join(" "),
            summary["sampling"],
            join["candidates"]
        );
        assert_eq!(found.replace('"', ""), expected, "{more}");
        let tables = expected.contains(" all ") && !more.contains("tsv");
        assert_eq!(
            Path::new(out).join("pairs.parquet").exists(),
            tables,
            "{more}"
        );
    }
}

/// A search that is refused leaves the parameters of the last one, and a plan is made for the
/// threshold.
#[test]
fn run_from_keeps_plans_and_what_was_asked() {
    let place = common::temporary();
    let out = place.path().join("out");
    let out = out.to_str().unwrap();
    let input = common::sample_corpora("trec-web/b.gz");
    let input = input.to_str().unwrap();
    let run = |line: &str| {
        let output = program().run(format!("run {line} --json").split_whitespace());
        let summary = serde_json::from_slice::<serde_json::Value>(&output.stdout);
        (text(&output.stderr), summary.unwrap_or_default())
    };
    let (said, made) = run(&format!("{input} -o {out} --precision 0.8 --verified"));
    assert_eq!(made["join_config"]["candidates"], "0.85", "{said}");
    run(&format!("--from {out} --precision 0.8"));
    let (said, _) = run(&format!("--from {out} --precision 0.9 --score s2"));
    assert!(said.contains("use `--sampling full`"), "{said}");
    let (said, again) = run(&format!("--from {out} --threshold 0.5"));
    assert_eq!(again["join_config"]["threshold"], "0.5", "{said}");
    assert_eq!(
        again["join_config"]["candidates"],
        serde_json::Value::Null,
        "{said}"
    );
    let plan = std::fs::read_to_string(Path::new(out).join("plan.toml")).unwrap();
    assert!(plan.contains("threshold = \"0.5\""), "{plan}");
    let (said, _) = run(&format!(
        "--from {out} --sampling broder97 --max-postings 7"
    ));
    assert!(!said.contains("error"), "{said}");
    let (said, last) = run(&format!("--from {out} --threshold 0.6"));
    assert_eq!(last["join_config"]["max_postings"], 7, "{said}");
    let has = |name: &str| Path::new(out).join(name).exists();
    assert!(has("pairs.tsv") && has("summary.json"));
    let (said, _) = run(&format!("--from {out} --results none"));
    assert!(!has("pairs.tsv") && !has("summary.json"), "{said}");
}

/// The flags have the defaults of the library.
#[test]
fn defaults_of_flags_are_those_of_the_library() {
    use lookalike::base::measure::Criterion;
    use lookalike::engine::collection::CollectionConfig;
    use lookalike::engine::join::JoinConfig;
    use lookalike::engine::pipeline::JoinParameters;
    use lookalike::report::page::PageConfig;
    use lookalike::tasks::contamination::ContaminationConfig;
    use lookalike::tasks::passages::{MatchesConfig, PassagesConfig};
    use lookalike::tasks::plan::PlanConfig;
    use lookalike::tasks::query::QueryConfig;
    let (collection, join) = (CollectionConfig::default(), JoinParameters::default());
    let (criterion, shingle) = (Criterion::default(), &collection.shingle);
    let (read, contamination) = (&collection.read, ContaminationConfig::default());
    let passages = PassagesConfig::default();
    let most = MatchesConfig::default().max_documents.to_string();
    let help = printed(["passages", "-h"]);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for default in [passages.length.to_string(), most] {
        assert!(help.contains(&format!("[default: {default}]")), "{help}");
    }
    let all: [(&str, &[(&str, String)]); 5] = [
        (
            "run",
            &[
                ("threshold", criterion.threshold.to_string()),
                ("score", criterion.measure.to_string()),
                ("sampling", join.sampling.to_string()),
                ("join", JoinConfig::default().join.to_string()),
                ("pairs", join.join.pairs.to_string()),
                ("results", join.results.to_string()),
                ("spill", join.spill.to_string()),
                ("max-document", read.max_document.to_string()),
                ("max-ratio", read.max_ratio.to_string()),
                ("tokens", shingle.parse.tokens.to_string()),
                ("fold", shingle.parse.fold.to_string()),
                ("shingle-size", shingle.shingle_size.to_string()),
                ("short", shingle.short.to_string()),
                ("fingerprint", shingle.fingerprint.to_string()),
                ("seed", shingle.seed.to_string()),
            ],
        ),
        (
            "contamination",
            &[
                ("ngram", contamination.ngram.to_string()),
                ("least", contamination.least.to_string()),
                ("drop-at", contamination.drop_at.to_string()),
                ("most", contamination.most.to_string()),
            ],
        ),
        (
            "query",
            &[("top", QueryConfig::default().top.unwrap().to_string())],
        ),
        (
            "plan",
            &[(
                "precision",
                PlanConfig::default().target.precision.to_string(),
            )],
        ),
        (
            "report",
            &[
                ("clusters", PageConfig::default().clusters.to_string()),
                ("sample-seed", PageConfig::default().seed.to_string()),
            ],
        ),
    ];
    let described = program().described;
    for (command, flags) in all {
        let command = described.find_subcommand(command).unwrap();
        for (flag, expected) in flags {
            let mut flags = command.get_arguments();
            let found = flags.find(|found| found.get_long() == Some(flag)).unwrap();
            assert_eq!(found.get_default_values(), [expected.as_str()], "{flag}");
        }
    }
}

/// Help is asked for by names of before and those within a command, also behind `--`.
#[test]
fn help_has_the_names_of_commands_within_commands() {
    assert_eq!(printed(["help", "help"]), printed(["help"]));
    for (asked, named) in [
        ("help verify", "check verify"),
        ("help check verify", "check verify"),
        ("help run", "run"),
        ("-- verify --help", "check verify"),
    ] {
        let help = printed(named.split(' ').chain(["--help"]));
        assert_eq!(printed(asked.split(' ')), help, "{asked}");
    }
    let told = text(
        &program()
            .run("contamination --against T CORPUS".split(' '))
            .stderr,
    );
    assert!(
        told.contains("--against VALUE` is now `lookalike contamination --test-set VALUE`"),
        "{told}"
    );
}

/// No message has a password of an address on the command line.
#[test]
fn messages_leave_passwords_out() {
    for line in [
        "s3://user:secret@bucket/x",
        "run in -o s3://key:sec/ret@bucket",
        "run https://host/a?X-Amz-Signature=secret -o out",
        "run s3://bucket/a?X-Amz-Signature=secret -o out",
        "run https:/user:secret@host/a -o out",
        "diff nothing https://user:secret@host/a b",
        "status ftp://user:secret@host/a",
        "run --threshold s3://user:secret@bucket",
    ] {
        let told = text(&program().run(line.split(' ')).stderr);
        let has = ["secret", "sec/ret"]
            .iter()
            .any(|secret| told.contains(secret));
        assert!(told.starts_with("error: ") && !has, "{told}");
    }
}

/// The script of Bash completes what these lines begin.
#[test]
fn completions_have_pages_and_values() {
    let place = common::temporary();
    fs::write(
        place.path().join("script"),
        printed(["completions", "bash"]),
    )
    .unwrap();
    for (line, expected) in [
        ("help in", "inputs"),
        ("help check v", "verify"),
        ("check verify --me", "--memory"),
        ("run --join p", "prefix probabilistic"),
        ("run --score co", "containment cosine"),
        ("stage join --pairs a", "all across"),
        ("dedup --rule s", "star"),
        ("run --format trec-s", "trec-sgml"),
    ] {
        let script = format!(
            ". ./script; COMP_WORDS=(lookalike {line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _lookalike lookalike \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; echo ${{COMPREPLY[*]}}"
        );
        let output = Command::new("bash")
            .args(["-c", &script])
            .current_dir(place.path())
            .output();
        assert_eq!(text(&output.unwrap().stdout).trim_end(), expected, "{line}");
    }
}

#[test]
fn completions_and_manual_pages_have_every_command() {
    program().check_completions_and_pages();
}

fn printed<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> String {
    program().printed(arguments)
}

/// A copy of this program in a directory, with another program as the laboratory beside it.
fn with_laboratory(place: &Path, script: &str) -> std::path::PathBuf {
    let own = place.join("lookalike");
    fs::copy(PROGRAM, &own).unwrap();
    if !script.is_empty() {
        let other = place.join("lookalike-lab");
        fs::write(&other, script).unwrap();
        fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
    }
    own
}

#[test]
fn the_laboratory_gets_the_arguments_and_its_end_is_that_of_the_command() {
    let (beside, here) = (common::temporary(), common::temporary());
    let own = with_laboratory(
        beside.path(),
        "#!/bin/sh\nprintf '<%s>' \"$@\"\necho $X $$\nexit 7\n",
    );
    // Not what lies where the user is.
    with_laboratory(here.path(), "#!/bin/sh\necho wrong\n");
    for (line, handed) in [
        ("lab", "<>"),
        ("lab study out --ratios 1/2", "<study><out><--ratios><1/2>"),
        ("lab --help", "<--help>"),
        ("lab study -h", "<study><-h>"),
        ("--progress json lab -x lab", "<--progress><json><-x><lab>"),
        ("study out", "<study><out>"),
        ("--anonymous method -h", "<--anonymous><method><-h>"),
    ] {
        let mut command = Command::new(&own);
        command.args(line.split(' ')).env("X", "y");
        command.env("PATH", "").current_dir(here.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let id = child.id();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(7), "{line}");
        assert_eq!(text(&output.stdout), format!("{handed}y {id}\n"), "{line}");
        let told = text(&output.stderr);
        let old = line
            .split(' ')
            .find(|word| ["study", "method"].contains(word));
        match old.filter(|_| !line.contains("lab")) {
            Some(name) => assert_eq!(
                told,
                format!("`lookalike {name}` is now `lookalike lab {name}`\n")
            ),
            None => assert_eq!(told, ""),
        }
    }
}

#[test]
fn without_the_laboratory_its_installation_is_named() {
    let (beside, here, path) = (
        common::temporary(),
        common::temporary(),
        common::temporary(),
    );
    let own = with_laboratory(beside.path(), "");
    with_laboratory(here.path(), "#!/bin/sh\necho wrong\n");
    let start = |path: &str| {
        let mut command = Command::new(&own);
        command.args(["lab", "study"]).current_dir(here.path());
        command.env("PATH", path).output().unwrap()
    };
    for path in ["", ".", ":/nothing:"] {
        let output = start(path);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("cargo install --path crates/lab"), "{told}");
    }
    with_laboratory(path.path(), "#!/bin/sh\necho found\n");
    let output = start(&format!(".:{}", path.path().display()));
    assert_eq!(text(&output.stdout), "found\n");
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
