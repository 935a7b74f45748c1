//! Shows progress as JSON, one object on a line, for programs.
//!
//! Members: `stage`; `unit` (`bytes`, or what is counted); `done` and `total` of it (`total` only
//! if it is known); `seconds` since the command began; and `event`: `start`, `progress` or `end` of
//! a stage, or `note`. `end` and `note` have a `text`.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde::Serialize;

use lookalike_base::{Progress, Unit, lock};

/// The least time between two reports of a stage.
const EVERY: Duration = Duration::from_secs(1);

/// Passes a line to `print` for each report.
pub(crate) struct JsonLines<P> {
    print: P,
    begun: Instant,
    stage: Mutex<Option<Stage>>,
}

/// The stage that runs.
#[derive(Clone, Copy, Serialize)]
struct Stage {
    #[serde(rename = "stage")]
    name: &'static str,
    unit: &'static str,
    done: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
    #[serde(skip)]
    printed: Instant,
}

/// The content of a line.
#[derive(Serialize)]
struct Line<'l> {
    event: &'static str,
    #[serde(flatten)]
    stage: Option<&'l Stage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'l str>,
    seconds: f64,
}

impl<P: Fn(&str) + Send + Sync> JsonLines<P> {
    pub fn new(print: P) -> Self {
        JsonLines {
            print,
            begun: Instant::now(),
            stage: Mutex::new(None),
        }
    }

    fn put(&self, event: &'static str, stage: Option<&Stage>, text: Option<&str>) {
        let line = Line {
            event,
            stage,
            text,
            seconds: (self.begun.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
        };
        if let Ok(json) = serde_json::to_string(&line) {
            (self.print)(&super::plain_json(&json));
        }
    }
}

impl<P: Fn(&str) + Send + Sync> Progress for JsonLines<P> {
    fn start(&self, name: &'static str, unit: Unit, total: Option<u64>) {
        let stage = Stage {
            name,
            unit: match unit {
                Unit::Bytes => "bytes",
                Unit::Count(what) => what,
            },
            total,
            done: 0,
            printed: Instant::now(),
        };
        *lock(&self.stage) = Some(stage);
        self.put("start", Some(&stage), None);
    }

    fn at(&self, done: u64) {
        let now = Instant::now();
        let due = {
            let mut held = lock(&self.stage);
            let Some(stage) = &mut *held else { return };
            stage.done = stage.done.max(done);
            let due = now.saturating_duration_since(stage.printed) >= EVERY;
            if due {
                stage.printed = now;
            }
            due.then_some(*stage)
        };
        if let Some(stage) = due {
            self.put("progress", Some(&stage), None);
        }
    }

    fn end(&self, line: &str) {
        let stage = lock(&self.stage).take();
        self.put("end", stage.as_ref(), Some(line));
    }

    fn note(&self, line: &str) {
        let stage = *lock(&self.stage);
        self.put("note", stage.as_ref(), Some(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_is_reported_at_most_once_a_second() {
        let lines = Mutex::new(Vec::new());
        let progress = JsonLines::new(|line| lines.lock().unwrap().push(line.to_string()));
        progress.start("ingest", Unit::Bytes, Some(10));
        for done in [1, 2, 5, 3] {
            progress.at(done);
        }
        if let Some(stage) = &mut *lock(&progress.stage) {
            stage.printed -= EVERY;
        }
        progress.at(4);
        progress.at(6);
        progress.note("a\u{85}b\n");
        progress.end("ingest: done");
        progress.end("again");
        let lines = lines.into_inner().unwrap();
        let parsed: Vec<serde_json::Value> = lines
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let events = ["start", "progress", "note", "end", "end"];
        assert!(
            parsed.iter().map(|line| &line["event"]).eq(events),
            "{parsed:?}"
        );
        assert_eq!(parsed[0]["total"], 10);
        assert_eq!(parsed[1]["done"], 5);
        assert_eq!(
            (&parsed[2]["done"], &parsed[2]["text"]),
            (&6.into(), &"a\u{85}b\n".into())
        );
        assert_eq!(parsed[3]["stage"], "ingest");
        assert!(parsed[4].get("stage").is_none());
        assert!(
            lines
                .iter()
                .all(|line| !line.contains(|c: char| c.is_control()))
        );
    }
}
