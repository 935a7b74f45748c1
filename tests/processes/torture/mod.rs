//! The program killed at every operation on a file and at random moments, and the machine's power
//! cut there: run again, it ends with the same bytes as if nothing had happened.
//!
//! Each *subject* is a command over a small corpus, with so little memory and so small parts that
//! segments, runs and generations are many. It is killed
//!
//! - before or after its n-th operation that changes something on the disk, for every n, or by
//!   SIGKILL at a random moment, up to ten times in one directory;
//! - and then what lies in the directory is left as it is; or what no manifest names is cut and
//!   garbled ([`garble`]); or the directory becomes one that the disk could hold had the power gone
//!   ([`power`]).
//!
//! What a test of every change takes is a part of it, the same part each time; `scripts/torture.sh`
//! does the whole and prints the figures of `docs/reliability.md`.

use crate::common;
mod garble;
mod power;
mod subject;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use common::corpus::Random;
use common::one_in;
use subject::{End, LEAST_THREADS, Subject, subjects};

/// A number from the environment, for the long version.
fn setting(name: &str, usual: usize) -> usize {
    std::env::var(name).map_or(usual, |text| {
        let bad = || panic!("{name} is no number: {text}");
        text.parse().unwrap_or_else(|_| bad())
    })
}

/// Counts the operations on the subjects.
#[derive(Debug, Default)]
struct Tally {
    kills: usize,
    power_cuts: usize,
    garbled: usize,
    directories: usize,
    most_kills: usize,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.kills += other.kills;
        self.power_cuts += other.power_cuts;
        self.garbled += other.garbled;
        self.directories += other.directories;
        self.most_kills = self.most_kills.max(other.most_kills);
    }

    fn print(&self, name: &str) {
        println!(
            "{name}: {} kills in {} directories (at most {} in one), {} of them with the power cut, \
             {} with what no manifest names garbled",
            self.kills, self.directories, self.most_kills, self.power_cuts, self.garbled
        );
    }
}

/// What becomes of the directory after a kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    Nothing,
    Garbled,
    PowerCut,
}

const AFTER: [After; 3] = [After::Nothing, After::Garbled, After::PowerCut];

/// Kills a run over a directory as `fault` says (or after `wait`) and does to the directory what is
/// to come after. Returns whether it was killed before its end.
fn kill(
    subject: &Subject,
    place: &Path,
    threads: usize,
    how: &Kill,
    after: After,
    random: &mut Random,
    tally: &mut Tally,
) -> bool {
    let journal = place.join("journal");
    let before = (after == After::PowerCut).then(|| power::Before::of(place, &subject.input));
    let mut faults = Vec::new();
    if before.is_some() {
        faults.push(format!("journal={}", journal.display()));
    }
    if let Kill::Operation(n, what) = how {
        faults.push(format!("changes=1 nth={n} do={what}"));
    }
    let wait = match how {
        Kill::Operation(..) => None,
        Kill::Moment(wait) => Some(*wait),
    };
    let end = subject.start(place, threads, &faults.join(";"), wait);
    let killed = match end {
        End::Killed => true,
        End::Done => false,
        End::Failed(text) => panic!("{}: {how:?}: {text}", subject.name),
    };
    tally.kills += usize::from(killed);
    match (after, before) {
        (After::PowerCut, Some(before)) => {
            // After the end too: what a finished run has said is there must be there.
            power::cut(place, &journal, before, random);
            tally.power_cuts += 1;
        }
        (After::Garbled, _) if killed => {
            garble::garble(&subject.out(place), random);
            tally.garbled += 1;
        }
        _ => {}
    }
    killed
}

#[derive(Debug)]
enum Kill {
    /// At the n-th operation that changes something, `kill` or `kill-after`.
    Operation(usize, &'static str),
    Moment(Duration),
}

/// The operations of a short version: one of each kind on each kind of file that no subject before
/// had, here the first of them, there the last; or of these kinds one in three.
fn chosen(
    operations: &[(String, String)],
    met: &mut BTreeSet<(String, String)>,
) -> BTreeSet<usize> {
    let mut kinds: BTreeMap<(String, String), (usize, usize)> = BTreeMap::new();
    for (i, (op, path)) in operations.iter().enumerate() {
        let kind = (op.clone(), subject::kind(path));
        kinds.entry(kind).or_insert((i + 1, 0)).1 = i + 1;
    }
    kinds.retain(|kind, _| met.insert(kind.clone()));
    let chosen = kinds.into_values().enumerate().step_by(one_in(3));
    chosen
        .map(|(i, (first, last))| if i % 2 == 0 { first } else { last })
        .collect()
}

/// Kills a command at these of its operations, each time in a new directory.
fn killed_at(
    subject: &Subject,
    operations: &[(String, String)],
    points: &BTreeSet<usize>,
) -> Tally {
    let all = points.len() == operations.len();
    let mut tally = Tally::default();
    for (i, &n) in points.iter().enumerate() {
        let what = |after: usize| ["kill", "kill-after"][(n + after) % 2];
        let ways = if all {
            (0..3).map(|after| (what(after), AFTER[after])).collect()
        } else {
            vec![(what(0), AFTER[i % 3])]
        };
        for (what, after) in ways {
            let random = &mut Random((n * 7 + after as usize) as u64);
            let place = subject.place();
            let how = Kill::Operation(n, what);
            let threads = subject.threads;
            let killed = kill(
                subject,
                place.path(),
                threads,
                &how,
                after,
                random,
                &mut tally,
            );
            // With more threads there may be some operations less.
            assert!(
                killed || threads > 1 && n > operations.len() * 9 / 10,
                "{}: operation {n} of {} never came",
                subject.name,
                operations.len()
            );
            tally.directories += 1;
            tally.most_kills = tally.most_kills.max(1);
            let (op, path) = &operations[n - 1];
            subject.finish(
                place.path(),
                1 + n % 2,
                &format!("{what} at operation {n} ({op} {path}), then {after:?}"),
            );
        }
    }
    let made = operations
        .iter()
        .filter(|(op, path)| op == "create" && path.contains(".run"));
    let runs = made.count();
    assert!(
        !subject.name.starts_with("join") || runs > 6,
        "{runs} runs: no generations"
    );
    tally.print(&format!(
        "{}: {} of {} operations ({runs} runs written)",
        subject.name,
        points.len(),
        operations.len()
    ));
    tally
}

#[test]
fn killed_at_every_operation() {
    let all = setting("LOOKALIKE_TORTURE_ALL", 0) == 1;
    let mut met = BTreeSet::new();
    let of_all: Vec<_> = subjects(|number| number % one_in(3) == one_in(3) / 2)
        .into_iter()
        .map(|subject| {
            let operations = subject.operations();
            let points = if all {
                (1..=operations.len()).collect()
            } else {
                chosen(&operations, &mut met)
            };
            (subject, operations, points)
        })
        .collect();
    let (next, total) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(of) = of_all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let tally = killed_at(&of.0, &of.1, &of.2);
                    total.lock().unwrap().add(&tally);
                }
            });
        }
    });
    total.into_inner().unwrap().print("at operations");
}

#[test]
fn killed_at_random_moments() {
    let least = setting("LOOKALIKE_TORTURE_KILLS", 24 / one_in(3));
    let seed = setting("LOOKALIKE_TORTURE_SEED", 1999);
    let random = &mut Random(seed as u64);
    let subjects = subjects(|number| number.is_multiple_of(one_in(6)));
    let mut total = Tally::default();
    for (number, subject) in subjects.iter().enumerate() {
        let whole = subject.duration();
        let mut tally = Tally::default();
        let least = (least * (number + 1) / subjects.len()) - (least * number / subjects.len());
        while tally.kills < least {
            let place = subject.place();
            let mut kills = 0;
            for _ in 0..1 + random.below(10) {
                let wait = Duration::from_micros(random.below(whole.as_micros() as usize) as u64);
                let threads = 1 + random.below(LEAST_THREADS);
                let after = AFTER[random.below(3)];
                let how = Kill::Moment(wait);
                kills += usize::from(kill(
                    subject,
                    place.path(),
                    threads,
                    &how,
                    after,
                    random,
                    &mut tally,
                ));
            }
            tally.directories += 1;
            tally.most_kills = tally.most_kills.max(kills);
            let threads = 1 + random.below(LEAST_THREADS);
            subject.finish(
                place.path(),
                threads,
                &format!("after {} kills, seed {seed}", tally.kills),
            );
            assert!(tally.directories < 50 * least, "it is never killed in time");
        }
        tally.print(&subject.name);
        total.add(&tally);
    }
    total.print("at random moments");
    assert!(total.kills >= least);
}

/// What a finished run has left is on the disk: the power goes when it has said that it is done.
#[test]
fn what_is_finished_survives_a_power_cut() {
    let seeds = setting("LOOKALIKE_TORTURE_CUTS", 3);
    for subject in subjects(|number| number % one_in(3) == one_in(3) - 1) {
        for seed in 0..seeds {
            let random = &mut Random(seed as u64);
            let place = subject.place();
            let journal = place.path().join("journal");
            let before = power::Before::of(place.path(), &subject.input);
            let faults = format!("journal={}", journal.display());
            let end = subject.start(place.path(), 2, &faults, None);
            assert_eq!(end, End::Done, "{}", subject.name);
            power::cut(place.path(), &journal, before, random);
            subject.assert_nothing_lost(place.path(), &format!("power cut {seed} at the end"));
        }
    }
}

/// The harness finds what it is to find: a program that does not sync loses, and is seen to.
#[test]
fn a_lost_sync_is_seen() {
    let subjects = subjects(|number| number == 0);
    let subject = &subjects[0];
    let seeds = 20 / one_in(3) as u64;
    let mut lost = 0;
    for seed in 0..seeds {
        let place = subject.place();
        let journal = place.path().join("journal");
        let before = power::Before::of(place.path(), &subject.input);
        let faults = format!("journal={}", journal.display());
        assert_eq!(subject.start(place.path(), 1, &faults, None), End::Done);
        // As if no sync had ever been done.
        let lines = std::fs::read_to_string(journal.join("journal")).unwrap();
        let lines: Vec<_> = lines.lines().filter(|l| !l.contains("-done\t")).collect();
        std::fs::write(journal.join("journal"), lines.join("\n") + "\n").unwrap();
        power::cut(place.path(), &journal, before, &mut Random(seed));
        lost += u64::from(!subject.is_whole(place.path()));
    }
    assert!(lost * 4 >= seeds * 3, "{lost} of {seeds}");
}
