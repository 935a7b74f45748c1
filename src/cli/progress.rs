//! Progress: a bar on a terminal, lines otherwise.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use lookalike::progress::{Progress, Unit};

/// Watches a run on standard error.
pub struct Terminal {
    quiet: bool,
    bars: bool,
    bar: Mutex<ProgressBar>,
}

impl Terminal {
    /// A watcher; a quiet one shows nothing.
    pub fn new(quiet: bool) -> Terminal {
        let bars = !quiet && std::io::stderr().is_terminal();
        Terminal {
            quiet,
            bars,
            bar: Mutex::new(ProgressBar::hidden()),
        }
    }

    fn bar(&self) -> std::sync::MutexGuard<'_, ProgressBar> {
        self.bar
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Progress for Terminal {
    fn start(&self, stage: &'static str, unit: Unit, total: Option<u64>) {
        if !self.bars {
            return;
        }
        let counts = match unit {
            Unit::Bytes => "{bytes}/{total_bytes} {bytes_per_sec}".to_string(),
            Unit::Count(what) => format!("{{human_pos}}/{{human_len}} {what} {{rate}}"),
        };
        let template = format!("{{prefix:9}} [{{bar:24}}] {{percent:>3}} % {counts} eta {{eta}}");
        let style = ProgressStyle::with_template(&template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .with_key(
                "rate",
                |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                    let _ = write!(out, "{}/s", HumanCount(state.per_sec() as u64));
                },
            )
            .progress_chars("=> ");
        let bar = match total {
            Some(total) => ProgressBar::new(total),
            None => ProgressBar::no_length(),
        };
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        bar.set_style(style);
        bar.set_prefix(stage);
        bar.enable_steady_tick(Duration::from_millis(250));
        *self.bar() = bar;
    }

    fn at(&self, done: u64) {
        if self.bars {
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
            // A docno or a header may have line ends.
            super::tell(&line.replace('\n', "\\x0a"));
        }
    }
}
