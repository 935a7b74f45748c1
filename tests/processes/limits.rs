//! Under the limits of an operating system (`ulimit`, control groups) the program makes the same
//! bytes, or refuses to begin and names the least that would do; and with that it makes the same
//! bytes.

#![cfg(target_os = "linux")]

use crate::common;
use crate::common::one_in;
use lookalike::base::budget::ByteSize;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::stopped::corpus;
use common::{assert_same_files, copy_directory, manifest, tree};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_lookalike");

/// The program, started by a shell that does `first` before.
fn under(first: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{first}; exec \"$0\" \"$@\""), PROGRAM]);
    command.args(arguments).stdin(Stdio::null());
    command.output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn done(output: &Output) {
    assert!(
        output.status.success(),
        "{}: {}",
        output.status,
        stderr(output)
    );
}

/// The least that a refusal names; it must be one of the limit `of`, and come at once.
fn least(output: &Output, of: &str) -> u64 {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(&format!("the limit of {of}")), "{text}");
    assert!(text.contains("help: "), "{text}");
    let line = text.lines().next().unwrap();
    let (_, least) = line.rsplit_once("needs at least ").unwrap();
    least.parse::<ByteSize>().unwrap().0
}

/// A collection, a finished run over it, and what each command makes of that.
struct Made {
    directory: TempDir,
    commands: Vec<Case>,
}

/// A command on a copy of the finished run, and the files there when it is done.
struct Case {
    name: &'static str,
    arguments: Vec<String>,
    expected: BTreeMap<String, Vec<u8>>,
    printed: Vec<u8>,
}

impl Made {
    fn new() -> Made {
        let directory = common::temporary();
        let (input, _) = corpus(directory.path(), 24);
        let place = directory.path().display().to_string();
        let input = input.display();
        let means = "--quiet --memory 96MiB --threads 2";
        let read = "--shingle-size 3 --segment-size 8KiB --max-document 64KiB";
        let lines = [
            (
                "run, prefix join",
                format!(
                    "run {input} -o COPY/new {read} --threshold 0.2 --spill always --join prefix {means}"
                ),
            ),
            (
                "run, count join",
                format!(
                    "run {input} -o COPY/new {read} --threshold 0.2 --spill always --join count {means}"
                ),
            ),
            (
                "ingest",
                format!("stage ingest {input} -o COPY/new {read} {means}"),
            ),
            (
                "join",
                format!("stage join COPY/base --threshold 0.4 {means}"),
            ),
            (
                "sampled, verified",
                format!("stage join COPY/base --threshold 0.4 --sampling 1/2 --verified {means}"),
            ),
            ("cluster", format!("stage cluster COPY/base {means}")),
            (
                "study",
                format!("lab study COPY/base --ratios 1/2,1/4 --thresholds 0.3,0.5 {means}"),
            ),
            (
                "plan",
                format!("plan COPY/base --ratios 1/2,1/4 --precision 0.8 --threshold 0.3 {means}"),
            ),
            (
                "evaluate",
                "evaluate --truth COPY/base --run COPY/base/pairs.tsv --thresholds 0.3,0.5 \
                     --quiet --memory 96MiB --scratch COPY"
                    .to_string(),
            ),
            ("report", "report COPY/base --quiet --memory 96MiB".into()),
        ];
        let base = format!("run {input} -o {place}/base {read} --threshold 0.2 {means}");
        done(&under(":", &base.split(' ').collect::<Vec<_>>()));
        let mut made = Made {
            directory,
            commands: Vec::new(),
        };
        for (name, line) in lines {
            let mut case = Case {
                name,
                arguments: line.split_whitespace().map(Into::into).collect(),
                expected: BTreeMap::new(),
                printed: Vec::new(),
            };
            let (output, files) = made.attempt(&case, ":");
            done(&output);
            (case.expected, case.printed) = (files, output.stdout);
            made.commands.push(case);
        }
        made
    }

    /// The command under a limit, and what lasts of the files.
    fn attempt(&self, case: &Case, first: &str) -> (Output, BTreeMap<String, Vec<u8>>) {
        let copy = common::temporary();
        copy_directory(
            &self.directory.path().join("base"),
            &copy.path().join("base"),
        );
        let place = copy.path().display().to_string();
        let arguments: Vec<String> = case
            .arguments
            .iter()
            .map(|argument| argument.replace("COPY", &place))
            .collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = under(first, &arguments);
        let mut files = tree(copy.path());
        // These say what a run cost, or stand at other places in each copy.
        files.retain(|name, _| {
            let name = Path::new(name).file_name().unwrap().to_str().unwrap();
            ![
                "lock",
                "manifest.json",
                "summary.json",
                "cost.json",
                "costs.json",
            ]
            .contains(&name)
        });
        (output, files)
    }

    /// Every command under a limit too narrow is refused, and under the least that is named it does
    /// the same.
    fn each_with_the_least(&self, of: &str, narrow: &str, limit: impl Fn(u64) -> String) {
        for case in self
            .commands
            .iter()
            .skip(of.len() % one_in(2))
            .step_by(one_in(2))
        {
            let (refused, _) = self.attempt(case, narrow);
            // A later step may need more: how much address space threads take is not certain.
            let mut first = limit(least(&refused, of));
            let (mut output, mut files) = self.attempt(case, &first);
            for _ in 0..2 {
                if output.status.success() {
                    break;
                }
                first = limit(least(&output, of));
                (output, files) = self.attempt(case, &first);
            }
            let what = format!("{} under `{first}`", case.name);
            assert!(output.status.success(), "{what}: {}", stderr(&output));
            self.same(case, &output, &files, &what);
        }
    }

    fn same(&self, case: &Case, output: &Output, files: &BTreeMap<String, Vec<u8>>, what: &str) {
        let lasting = |files: &BTreeMap<String, Vec<u8>>| {
            let mut files = files.clone();
            // Tables of a study say how long its trials took, and so does the page that shows them.
            files.retain(|name, _| !name.contains("/study/") && !name.ends_with("report.html"));
            files
        };
        assert_same_files(&lasting(files), &lasting(&case.expected), what);
        let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(files), names(&case.expected), "{what}");
        if case.name == "evaluate" {
            let text = |bytes: &[u8]| {
                let text = String::from_utf8_lossy(bytes).into_owned();
                // The first lines name the files, which are at another place.
                text.lines().skip(2).map(String::from).collect::<Vec<_>>()
            };
            assert_eq!(text(&output.stdout), text(&case.printed), "{what}");
        }
    }
}

#[test]
fn limits_change_no_byte() {
    let made = Made::new();
    made.each_with_the_least("open files", "ulimit -n 12", |n| format!("ulimit -n {n}"));
    made.each_with_the_least("address space", "ulimit -v 200000", |bytes| {
        format!("ulimit -v {}", bytes >> 10)
    });
    made.each_with_the_least("data", "ulimit -d 100000", |bytes| {
        format!("ulimit -d {}", bytes >> 10)
    });
    for case in &made.commands {
        let (output, files) = made.attempt(case, "ulimit -n 64");
        assert!(
            output.status.success(),
            "{}: {}",
            case.name,
            stderr(&output)
        );
        made.same(
            case,
            &output,
            &files,
            &format!("{} with 64 files", case.name),
        );
    }
}

/// The merge then takes fewer runs at a time than there are, and the results are the same bytes.
/// The limit needs a process of its own: the test starts itself again, with the variable set.
#[test]
fn few_open_files_make_more_generations() {
    const LIMITED: &str = "LOOKALIKE_TEST_WITH_32_FILES";
    if std::env::var_os(LIMITED).is_some() {
        return with_32_open_files();
    }
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 32; exec \"$0\" \"$@\""]);
    command.arg(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "processes::limits::few_open_files_make_more_generations",
    ]);
    command.args(["--test-threads", "1"]).env(LIMITED, "1");
    let output = command.stdin(Stdio::null()).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && printed.contains("1 passed"),
        "{printed}{}",
        stderr(&output)
    );
}

fn with_32_open_files() {
    use lookalike::base::progress::{Silent, Stop};
    use lookalike::engine::join;
    use lookalike::engine::merge;
    use lookalike::engine::pipeline;
    use lookalike::engine::sample;
    use lookalike::engine::sort;
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), 60);
    let run = run.threads(1).join("count");
    let (plain, _) = common::stopped::uninterrupted(&run, &input);
    let out = directory.path().join("out");
    let mut workspace = run.ingest(&[&input], &out).unwrap();
    let (stop, question) = (Stop::default(), &run.question);
    let context = run.context(&stop, &Silent);
    sample::run::<u64>(&mut workspace, &question.sampling, &context).unwrap();
    // Buffers so small that there are more runs than files may be open.
    common::least_memory(|memory| {
        let run = run.clone().memory(memory);
        sort::form_runs::<u64>(&mut workspace, &run.context(&stop, &Silent))
    });
    merge::run::<u64>(&mut workspace, None, &context).unwrap();
    join::run::<u64>(&mut workspace, &question.join, None, &context).unwrap();
    pipeline::cluster(&mut workspace, &context).unwrap();
    drop(workspace);
    assert_same_files(&common::lasting(&out), &plain, "32 files");
    let manifest = manifest(&out);
    let (runs, merge) = (
        manifest.runs.unwrap().stats.runs,
        manifest.postings.unwrap().stats,
    );
    assert!(
        runs > 16 && merge.fan_in < 16 && merge.generations >= 2,
        "{runs} runs, {merge:?}"
    );
}

/// Too few processes, as `ulimit -u` and `pids.max` allow: root is not held to the former.
#[test]
fn threads_that_cannot_be_started_are_refused() {
    let directory = common::temporary();
    let (input, _) = corpus(directory.path(), 2);
    let out = directory.path().join("out");
    let input = input.to_str().unwrap();
    let arguments = |threads| {
        [
            "run",
            input,
            "-o",
            out.to_str().unwrap(),
            "--quiet",
            "--threads",
            threads,
        ]
    };
    let Some(group) = Group::new("pids", "pids.max") else {
        eprintln!("LEFT OUT: no control group of processes can be made here");
        return;
    };
    group.limit("10");
    let refused = under(&group.enter(), &arguments("64"));
    assert!(least(&refused, "threads") > 64);
    done(&under(&group.enter(), &arguments("2")));
}

/// A control group of our own, where we may make one.
struct Group {
    place: PathBuf,
    file: &'static str,
}

impl Group {
    fn new(controller: &str, file: &'static str) -> Option<Group> {
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        let of = |wanted: &str| {
            let line = groups.lines().find(|line| {
                let controllers = line.split(':').nth(1).unwrap_or_default();
                controllers.split(',').any(|name| name == wanted)
            })?;
            line.splitn(3, ':')
                .nth(2)
                .map(|path| path.trim_start_matches('/').to_string())
        };
        let mount = Path::new("/sys/fs/cgroup");
        let above = match of(controller) {
            Some(path) => mount.join(controller).join(path),
            None => mount.join(of("")?),
        };
        let place = above.join(format!(
            "lookalike-test-{}-{controller}",
            std::process::id()
        ));
        fs::create_dir(&place).ok()?;
        let group = Group { place, file };
        group.place.join(file).exists().then_some(group)
    }

    fn limit(&self, limit: &str) {
        fs::write(self.place.join(self.file), limit).unwrap();
    }

    /// What a shell does to be in it.
    fn enter(&self) -> String {
        format!("echo $$ > {}/cgroup.procs", self.place.display())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.place);
    }
}

#[test]
fn a_control_group_is_looked_at() {
    let file = if Path::new("/sys/fs/cgroup/memory/memory.limit_in_bytes").exists() {
        "memory.limit_in_bytes"
    } else {
        "memory.max"
    };
    let Some(group) = Group::new("memory", file) else {
        eprintln!("LEFT OUT: no control group of memory can be made here");
        return;
    };
    let made = Made::new();
    // Set again for each command, from here: the group's processes are not to write it.
    for case in &made.commands {
        group.limit(&(100 << 20).to_string());
        let (refused, _) = made.attempt(case, &group.enter());
        let least = least(&refused, "memory (control group)");
        group.limit(&least.to_string());
        let (output, files) = made.attempt(case, &group.enter());
        assert!(
            output.status.success(),
            "{}: {}",
            case.name,
            stderr(&output)
        );
        made.same(case, &output, &files, case.name);
    }
}

/// Without `--memory` the limits decide, and then nothing has to be given by hand.
#[test]
fn the_default_of_memory_is_within_the_limits() {
    let directory = common::temporary();
    let (input, _) = corpus(directory.path(), 2);
    for (n, first) in ["ulimit -v 700000", "ulimit -d 250000", "ulimit -n 40"]
        .into_iter()
        .enumerate()
    {
        let out = directory.path().join(n.to_string());
        let line = format!(
            "run {} -o {} --quiet --threads 2 --max-document 64KiB",
            input.display(),
            out.display()
        );
        done(&under(first, &line.split(' ').collect::<Vec<_>>()));
    }
    // There is no room for any; `--memory 0B` was blamed, which nobody gave.
    let (input, out) = (input.display(), directory.path().join("none"));
    let line = format!(
        "run {input} -o {} --quiet --threads 2 --max-document 64KiB",
        out.display()
    );
    let refused = under("ulimit -v 200000", &line.split(' ').collect::<Vec<_>>());
    let least = least(&refused, "address space");
    let says = "; --memory 256MiB, the least default, with 2 threads needs at least ";
    assert!(stderr(&refused).contains(says), "{}", stderr(&refused));
    let first = format!("ulimit -v {}", least >> 10);
    done(&under(&first, &line.split(' ').collect::<Vec<_>>()));
}
