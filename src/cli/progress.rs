//! Shows progress: a bar on a terminal, lines otherwise.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::Duration;

use crate::base::progress::{Progress, Unit};
use crate::base::threads::lock;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// Shows the progress of a run on standard error.
pub(crate) struct Terminal {
    quiet: bool,
    /// Where the bar is drawn; `None` without a bar.
    target: Option<fn() -> ProgressDrawTarget>,
    bar: Mutex<ProgressBar>,
}

impl Terminal {
    /// With `quiet`, it shows nothing.
    pub fn new(quiet: bool) -> Terminal {
        let bars = !quiet && std::io::stderr().is_terminal();
        Terminal {
            quiet,
            target: bars.then_some(|| ProgressDrawTarget::stderr_with_hz(8)),
            bar: Mutex::new(ProgressBar::hidden()),
        }
    }

    fn bar(&self) -> std::sync::MutexGuard<'_, ProgressBar> {
        lock(&self.bar)
    }
}

/// A bar on one line that fits a terminal of 60 columns. Everything but the bar takes at most 59
/// columns.
fn bar(
    stage: &'static str,
    unit: Unit,
    total: Option<u64>,
    target: ProgressDrawTarget,
) -> ProgressBar {
    let what = match unit {
        Unit::Bytes => String::new(),
        Unit::Count(what) => format!(" {what}"),
    };
    let short = move |n: u64| match unit {
        Unit::Bytes => shortened(n, 1024, &["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]),
        Unit::Count(_) => shortened(n, 1000, &["", "k", "M", "G", "T", "P", "E"]),
    };
    let template =
        format!("{{prefix}} {{share:>3}}% {{wide_bar}} {{done}}{what} {{rate}} eta {{left}}");
    let style = ProgressStyle::with_template(&template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("share", |state: &ProgressState, out: &mut dyn Write| {
            // Rounded down, so that only a finished stage shows 100 %.
            let len = state.len().unwrap_or(0).max(1);
            let _ = write!(out, "{}", u128::from(state.pos()) * 100 / u128::from(len));
        })
        .with_key("done", move |state: &ProgressState, out: &mut dyn Write| {
            let _ = match state.len() {
                Some(len) => write!(out, "{}/{}", short(state.pos()), short(len)),
                None => write!(out, "{}", short(state.pos())),
            };
        })
        .with_key("rate", move |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}/s", short(state.per_sec() as u64));
        })
        .with_key("left", |state: &ProgressState, out: &mut dyn Write| {
            // The estimate is 0 until some work is done.
            let left = state.eta();
            let _ = if left.is_zero() {
                out.write_str("-")
            } else {
                write!(out, "{:#}", HumanDuration(left))
            };
        })
        .progress_chars("=> ");
    let bar = ProgressBar::with_draw_target(total, target);
    bar.set_style(style);
    bar.set_prefix(stage);
    bar
}

/// A number and its unit. The number takes at most six characters.
fn shortened(n: u64, base: u64, units: &[&str]) -> String {
    let (mut value, mut at) = (n as f64, 0);
    // 999.95 would be printed as 1000.0.
    while value >= base as f64 - 0.05 && at + 1 < units.len() {
        value /= base as f64;
        at += 1;
    }
    let digits = usize::from(at > 0);
    format!("{value:.digits$}{}", units[at])
}

impl Progress for Terminal {
    fn start(&self, stage: &'static str, unit: Unit, total: Option<u64>) {
        let Some(target) = self.target else {
            return;
        };
        let mut current = self.bar();
        // A stage has several parts; the bar of the last one would remain on the screen.
        current.finish_and_clear();
        *current = bar(stage, unit, total, target());
        current.enable_steady_tick(Duration::from_millis(250));
    }

    fn at(&self, done: u64) {
        if self.target.is_some() {
            self.bar().set_position(done);
        }
    }

    fn end(&self, line: &str) {
        self.bar().finish_and_clear();
        if !self.quiet {
            super::tell(line);
        }
    }

    fn note(&self, line: &str) {
        if !self.quiet {
            self.lost(line);
        }
    }

    fn lost(&self, line: &str) {
        // A docno or a header can contain line ends.
        let line = line.replace('\n', "\\x0a");
        self.bar().suspend(|| super::tell(&line));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use indicatif::InMemoryTerm;

    use super::*;

    #[test]
    fn a_bar_is_one_line_and_its_estimate_waits_for_work() {
        for columns in [60, 80, 100] {
            for (stage, unit, total) in [
                ("ingest", Unit::Bytes, 1023 << 30),
                ("catalogue", Unit::Count("documents"), 999_949_999_999),
                ("merge", Unit::Count("posting entries"), 999_949_999_999),
            ] {
                let screen = InMemoryTerm::new(5, columns);
                let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
                let bar = bar(stage, unit, Some(total), target);
                bar.tick();
                let line = screen.contents();
                assert!(line.starts_with(&format!("{stage}   0% ")), "{line}");
                assert!(
                    line.ends_with(" 0B/s eta -") || line.ends_with(" 0/s eta -"),
                    "{line}"
                );
                bar.set_position(total - 1);
                bar.tick();
                let line = screen.contents();
                assert_eq!(line.lines().count(), 1, "{columns}: {line}");
                assert!(
                    line.starts_with(&format!("{stage}  99% =")),
                    "{columns}: {line}"
                );
                bar.finish_and_clear();
                assert_eq!(screen.contents(), "");
            }
        }
    }

    /// A join has several parts, each with a bar of its own, and ends once.
    #[test]
    fn no_bar_stays_behind() {
        static SCREEN: OnceLock<InMemoryTerm> = OnceLock::new();
        let screen = SCREEN.get_or_init(|| InMemoryTerm::new(5, 80));
        let terminal = Terminal {
            quiet: true,
            target: Some(|| {
                let screen = SCREEN.get_or_init(|| InMemoryTerm::new(5, 80));
                ProgressDrawTarget::term_like(Box::new(screen.clone()))
            }),
            bar: Mutex::new(ProgressBar::hidden()),
        };
        for unit in ["posting entries", "candidates"] {
            terminal.start("join", Unit::Count(unit), Some(10));
            terminal.at(10);
            terminal.bar().tick();
            assert_eq!(
                screen.contents().lines().count(),
                1,
                "{}",
                screen.contents()
            );
            assert!(screen.contents().contains(unit));
        }
        terminal.end("");
        assert_eq!(screen.contents(), "");
    }

    #[test]
    fn numbers_are_short() {
        let binary = |n| shortened(n, 1024, &["B", "KiB", "MiB"]);
        let decimal = |n| shortened(n, 1000, &["", "k", "M"]);
        for (n, text) in [
            (0, "0B"),
            (1023, "1023B"),
            (1024, "1.0KiB"),
            ((1 << 20) - 1, "1.0MiB"),
        ] {
            assert_eq!(binary(n), text);
        }
        for (n, text) in [
            (999, "999"),
            (1000, "1.0k"),
            (999_949, "999.9k"),
            (999_951, "1.0M"),
        ] {
            assert_eq!(decimal(n), text);
        }
        assert_eq!(decimal(u64::MAX), "18446744073709.6M");
    }
}
