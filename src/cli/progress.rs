//! Shows progress: a bar on a terminal, and a line when a stage ends.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use lookalike_base::{Progress, Unit, lock};

/// Columns of a terminal that does not report its size, and of output to a file.
pub(crate) const WIDTH: usize = 80;

/// The columns of a terminal.
pub(crate) fn columns_of(terminal: &impl std::os::fd::AsFd) -> usize {
    let size = rustix::termios::tcgetwinsize(terminal).ok();
    let columns = size.map(|size| usize::from(size.ws_col));
    columns.filter(|&columns| columns > 0).unwrap_or(WIDTH)
}

/// Stages that take less time have no rate.
const LEAST_TIME: Duration = Duration::from_secs(1);

/// Columns of a terminal whose bar also names the unit that it counts.
const WITH_UNIT: usize = 80;

/// Shows the progress of a run on standard error.
pub(crate) struct Terminal {
    quiet: bool,
    /// The stages of the command, in order; empty if it has only one.
    stages: &'static [&'static str],
    /// Where the bar is drawn, and the columns there; `None` without a bar.
    target: Option<(fn() -> ProgressDrawTarget, usize)>,
    current: Mutex<Current>,
}

/// The stage that runs.
struct Current {
    bar: ProgressBar,
    stage: &'static str,
    unit: Unit,
    began: Instant,
    /// Work done in parts of the stage that have ended, and in this part.
    done: (u64, u64),
}

impl Terminal {
    /// With `quiet`, it shows nothing. The bar and the line of a stage have its number in `stages`.
    pub fn new(quiet: bool, stages: &'static [&'static str]) -> Terminal {
        let bars = !quiet && std::io::stderr().is_terminal();
        let target: fn() -> ProgressDrawTarget = || ProgressDrawTarget::stderr_with_hz(8);
        let columns = columns_of(&std::io::stderr());
        Terminal::on(quiet, stages, bars.then_some((target, columns)))
    }

    fn on(
        quiet: bool,
        stages: &'static [&'static str],
        target: Option<(fn() -> ProgressDrawTarget, usize)>,
    ) -> Terminal {
        let current = Mutex::new(Current {
            bar: ProgressBar::hidden(),
            stage: "",
            unit: Unit::Bytes,
            began: Instant::now(),
            done: (0, 0),
        });
        Terminal {
            quiet,
            stages,
            target,
            current,
        }
    }

    fn current(&self) -> std::sync::MutexGuard<'_, Current> {
        lock(&self.current)
    }

    /// The stage with its number: `3 of 7 merge`.
    fn numbered(&self, stage: &str) -> String {
        let number = self.stages.iter().position(|&name| name == stage);
        number.map_or_else(
            || stage.into(),
            |n| format!("{} of {} {stage}", n + 1, self.stages.len()),
        )
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.current().bar.finish_and_clear();
    }
}

/// A bar on one line that fits a terminal of 60 columns.
fn bar(stage: String, unit: Unit, total: Option<u64>, columns: usize) -> ProgressBar {
    let what = match unit {
        Unit::Count(what) if columns >= WITH_UNIT => format!(" {what}"),
        _ => String::new(),
    };
    let template = format!(
        "{{prefix}} {{share}} {{wide_bar}} {{done}}{what} {{rate}} {{spinner}} {{elapsed}}{{left}}"
    );
    let style = ProgressStyle::with_template(&template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("share", |state: &ProgressState, out: &mut dyn Write| {
            // Rounded down, so that only a finished stage shows 100 %.
            let _ = match state.len() {
                Some(len) => {
                    let share = u128::from(state.pos()) * 100 / u128::from(len.max(1));
                    write!(out, "{share:>3} %")
                }
                None => Ok(()),
            };
        })
        .with_key("done", move |state: &ProgressState, out: &mut dyn Write| {
            let _ = match state.len() {
                Some(len) => write!(out, "{}/{}", short(unit, state.pos()), short(unit, len)),
                None => write!(out, "{}", short(unit, state.pos())),
            };
        })
        .with_key("rate", move |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}/s", short(unit, state.per_sec() as u64));
        })
        .with_key("left", |state: &ProgressState, out: &mut dyn Write| {
            // The estimate is 0 until some work is done.
            let left = state.eta();
            if !left.is_zero() {
                let _ = write!(out, " eta {:#}", HumanDuration(left));
            }
        })
        .progress_chars("=> ");
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
    bar.set_style(style);
    bar.set_prefix(stage);
    bar
}

/// An amount of work.
fn short(unit: Unit, n: u64) -> String {
    match unit {
        Unit::Bytes => shortened(n, 1024, &["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]),
        Unit::Count(_) => shortened(n, 1000, &["", "k", "M", "G", "T", "P", "E"]),
    }
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
        let mut current = self.current();
        // A stage can have several parts, which may count other things.
        if current.stage != stage || current.unit != unit {
            (current.stage, current.unit) = (stage, unit);
            (current.began, current.done) = (Instant::now(), (0, 0));
        }
        current.done = (current.done.0 + current.done.1, 0);
        if let Some((target, columns)) = self.target {
            // The bar of the last part would remain on the screen.
            current.bar.finish_and_clear();
            current.bar = bar(self.numbered(stage), unit, total, columns);
            current.bar.set_draw_target(target());
            current.bar.enable_steady_tick(Duration::from_millis(250));
        }
    }

    fn at(&self, done: u64) {
        let mut current = self.current();
        current.done.1 = done;
        current.bar.set_position(done);
    }

    fn end(&self, line: &str) {
        let current = self.current();
        current.bar.finish_and_clear();
        if self.quiet {
            return;
        }
        let (stage, rest) = line.split_once(':').unwrap_or((line, ""));
        let mut line = match stage == line {
            true => self.numbered(stage),
            false => format!("{}:{rest}", self.numbered(stage)),
        };
        let (began, done) = (current.began.elapsed(), current.done.0 + current.done.1);
        if stage == current.stage && began >= LEAST_TIME && done > 0 {
            let rate = short(current.unit, (done as f64 / began.as_secs_f64()) as u64);
            let what = match current.unit {
                Unit::Bytes => String::new(),
                Unit::Count(what) => format!(" {what}"),
            };
            let _ = write!(line, ", {rate}{what}/s");
        }
        super::tell(&line);
    }

    fn note(&self, line: &str) {
        if !self.quiet {
            self.lost(line);
        }
    }

    fn lost(&self, line: &str) {
        // A docno or a header can contain line ends.
        let line = line.replace('\n', "\\x0a");
        self.aside(&mut || super::tell(&line));
    }

    fn aside(&self, print: &mut dyn FnMut()) {
        self.current().bar.suspend(print);
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
                ("1 of 7 ingest", Unit::Bytes, 1023 << 30),
                (
                    "2 of 7 catalogue",
                    Unit::Count("documents"),
                    999_949_999_999,
                ),
                (
                    "5 of 7 merge",
                    Unit::Count("posting entries"),
                    999_949_999_999,
                ),
            ] {
                let screen = InMemoryTerm::new(5, columns);
                let bar = bar(stage.into(), unit, Some(total), usize::from(columns));
                bar.set_draw_target(ProgressDrawTarget::term_like(Box::new(screen.clone())));
                bar.tick();
                let line = screen.contents();
                assert!(line.starts_with(&format!("{stage}   0 % ")), "{line}");
                assert!(line.ends_with(" 0s"), "{line}");
                bar.set_position(total - 1);
                bar.tick();
                let line = screen.contents();
                assert_eq!(line.lines().count(), 1, "{columns}: {line}");
                assert!(
                    line.starts_with(&format!("{stage}  99 % =")),
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
        let target: fn() -> ProgressDrawTarget = || {
            let screen = SCREEN.get_or_init(|| InMemoryTerm::new(5, 80));
            ProgressDrawTarget::term_like(Box::new(screen.clone()))
        };
        let terminal = Terminal::on(true, &["merge", "join"], Some((target, 80)));
        for unit in ["posting entries", "candidates"] {
            terminal.start("join", Unit::Count(unit), Some(10));
            terminal.at(10);
            terminal.current().bar.force_draw();
            assert_eq!(
                screen.contents().lines().count(),
                1,
                "{}",
                screen.contents()
            );
            assert!(screen.contents().contains(unit));
            let line = screen.contents();
            assert!(line.starts_with("2 of 2 join 100 %"), "{line}");
        }
        // A result is printed while a stage runs.
        terminal.aside(&mut || assert_eq!(screen.contents(), ""));
        assert!(screen.contents().contains("join"));
        // A command may end without the end of its last stage.
        drop(terminal);
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
