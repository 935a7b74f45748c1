//! The promises of the help of a program: a size, examples that run, completions and manual pages.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::common;
use tempfile::TempDir;

/// A program whose help is looked at.
pub struct Program {
    pub path: PathBuf,
    /// How its commands are started.
    pub started: &'static str,
    pub described: clap::Command,
    /// Commands that start another program, whose help is its own.
    pub others: &'static [&'static str],
}

/// The most flags in the short help of a command.
const MOST_FLAGS: usize = 30;

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

impl Program {
    /// The names of its commands.
    fn commands(&self) -> Vec<&str> {
        let all = self.described.get_subcommands();
        let all = all.map(|command| command.get_name());
        all.filter(|name| !self.others.contains(name)).collect()
    }

    /// The names of its commands, and of those within them.
    fn all_commands(&self) -> Vec<String> {
        let inner = self.described.get_subcommands().flat_map(|command| {
            let inner = command.get_subcommands();
            inner.map(|inner| format!("{} {}", command.get_name(), inner.get_name()))
        });
        let own = self.commands().into_iter().map(String::from);
        own.chain(inner).collect()
    }

    pub fn run<A: AsRef<std::ffi::OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Output {
        let mut command = Command::new(&self.path);
        command.stdin(Stdio::null()).args(arguments);
        command.output().unwrap()
    }

    /// Returns the output of a command that succeeds.
    pub fn printed<A: AsRef<std::ffi::OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    }

    fn help(&self, command: &str) -> String {
        self.printed(command.split(' ').chain(["--help"]))
    }

    /// The overview fits a screen, has every command in one of these groups, and says this.
    pub fn check_overview(&self, groups: &[&str], first: &str) {
        let overview = self.printed(["--help"]);
        let nothing = self.run([""; 0]);
        assert_eq!(nothing.status.code(), Some(2));
        assert_eq!(text(&nothing.stderr), overview);
        let all: BTreeSet<&str> = (self.commands().into_iter())
            .chain(self.others.iter().copied())
            .collect();
        assert!(overview.lines().count() <= all.len() + 7, "{overview}");
        for line in overview.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        for group in groups {
            let mut lines = overview.lines();
            assert!(lines.any(|line| line.starts_with(group)), "{group}");
        }
        assert!(overview.contains(first));
        let listed = overview.lines().skip(3);
        let listed = listed.take_while(|line| !line.is_empty());
        let listed = listed.map(|line| line[9..].split(' ').next().unwrap());
        assert_eq!(listed.collect::<BTreeSet<_>>(), all);
        for status in ["0 done", "1 failed", "2 wrong usage", "130 stopped"] {
            assert!(overview.contains(status), "{status}");
        }
    }

    /// Short help fits a screen, and first lines are short. Returns the number of flags in the help of
    /// all commands together, and of words.
    pub fn check_lengths(&self) -> (usize, usize) {
        let (mut entries, mut words) = (0, 0);
        let is_flag = |line: &&str| {
            let short = line.starts_with("  -") && !line.starts_with("  --");
            short || line.starts_with("      --")
        };
        for command in self.all_commands() {
            let of = |flag| {
                let output = self.run(command.split(' ').chain([flag]));
                assert!(output.status.success() && output.stderr.is_empty());
                let help = text(&output.stdout);
                for line in help.lines() {
                    assert!(line.chars().count() <= 100, "{line}");
                }
                help
            };
            let short = of("-h");
            assert!(short.lines().count() <= 50, "{short}");
            let usage = format!("Usage: {} {command} ", self.started);
            assert!(short.contains(&usage), "{short}");
            let long = of("--help");
            let flags = short.lines().filter(is_flag).count();
            assert!(flags <= MOST_FLAGS, "{command} -h has {flags} flags");
            entries += long.lines().filter(is_flag).count();
            words += long.split_whitespace().count();
            let about = long.lines().next().unwrap();
            assert!(about.chars().count() <= 72, "{about}");
            assert!(!about.ends_with('.'), "{about}");
            let mut lines = long.lines().peekable();
            while let Some(line) = lines.next() {
                if let Some(first) = lines.peek().filter(|_| is_flag(&line)) {
                    let first = first.trim();
                    assert!(
                        (1..=72).contains(&first.chars().count()),
                        "{command}: {first}"
                    );
                }
            }
        }
        (entries, words)
    }

    /// The examples of commands run, except those with an object store.
    pub fn check_examples(&self) {
        for command in self.all_commands() {
            // The commands of a search on many machines have one example together.
            if command.starts_with("tasks ") {
                continue;
            }
            let help = self.help(&command);
            let (_, examples) = help.split_once("Examples:\n").expect(&command);
            let place = Place::new(&self.path);
            let mut shown = false;
            for line in examples.lines() {
                let line = line.trim_start();
                shown |= line.starts_with(&format!("{} {command}", self.started));
                if !line.contains("s3://") {
                    place.shell(line);
                }
            }
            assert!(shown, "{command}");
        }
    }

    /// Arguments that are shown for a flag.
    pub fn examples_of_flags(&self, command: &str) -> Vec<String> {
        let mut found = Vec::new();
        let help = self.help(command);
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

    /// Completions and manual pages have every command.
    pub fn check_completions_and_pages(&self) {
        let name = self.path.file_name().unwrap().to_str().unwrap();
        for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
            let script = self.printed(["completions", shell]);
            for command in self.commands().iter().chain(self.others) {
                assert!(script.contains(command), "{shell} {command}");
            }
            assert!(
                script.contains(name) && script.contains("threads"),
                "{shell}"
            );
        }
        let directory = common::temporary();
        let pages = directory.path().join("man1");
        self.printed(["man".as_ref(), pages.as_os_str()]);
        let page = |name: &str| fs::read_to_string(pages.join(name)).unwrap();
        let main = page(&format!("{name}.1"));
        assert!(
            main.contains("\n.SH EXIT STATUS\n") && main.contains("130"),
            "{main}"
        );
        for command in self.all_commands() {
            let page = page(&format!("{name}-{}.1", command.replace(' ', "-")));
            let is_task = command.starts_with("tasks ");
            assert!(is_task || page.contains("\n.SH EXAMPLES\n"), "{page}");
        }
        // A page has the flags that the help only names.
        let command = if self.others.is_empty() {
            "perturb"
        } else {
            "run"
        };
        let page = page(&format!("{name}-{command}.1"));
        assert!(page.contains("max\\-ratio"), "{page}");
        let count = 1 + self.all_commands().len() + self.others.len();
        assert_eq!(fs::read_dir(&pages).unwrap().count(), count);
    }
}

/// A directory with `sample-corpora` in it, in which examples run.
pub struct Place {
    directory: TempDir,
    programs: PathBuf,
}

impl Place {
    /// For examples of a program, with those beside it.
    pub fn new(program: &Path) -> Place {
        let directory = common::temporary();
        let corpora = common::sample_corpora("");
        std::os::unix::fs::symlink(corpora, directory.path().join("sample-corpora")).unwrap();
        // The program of an example, which not every machine has.
        let other = directory.path().join("pdftotext");
        fs::write(&other, "#!/bin/sh\ncat\n").unwrap();
        fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
        Place {
            directory,
            programs: program.parent().unwrap().into(),
        }
    }

    pub fn shell(&self, line: &str) {
        let own = self.directory.path();
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{}:{path}", self.programs.display(), own.display());
        let output = Command::new("sh")
            .args(["-c", line])
            .current_dir(own)
            .env("PATH", path)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    }
}
