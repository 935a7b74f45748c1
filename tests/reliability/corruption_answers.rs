//! A damaged file never makes another answer: whatever is asked of the directory then, the answer
//! is right, or an error, without panic, hang, or more memory than a sound directory takes.

use crate::common::one_in;
use crate::damage;

use std::collections::BTreeSet;
use std::fs;

use damage::{
    ASKS, Ask, JoinParameters, RUNS, Subject, Variant, cuts, every_byte, flipped, flips, kind_of,
    passages_made, some, study_page_made, watch,
};

/// Flips and cuts of a file after which something is asked.
fn how_many(of: usize) -> usize {
    if every_byte() {
        of.min(200)
    } else {
        3 / one_in(3)
    }
}

/// Replacements of a file after which something is asked, unless every byte is damaged. They are
/// taken evenly from all of them, so that each kind is met at some file.
const REPLACEMENTS: usize = 5;

/// Asks a subject questions after some damage to each of the files chosen by `which`, one question
/// for each damage, in turn. Says how often, and how often it was answered.
fn every_damage_leaves_the_answer(
    subject: &Subject,
    asks: &[Ask],
    which: impl Fn(&str) -> bool,
) -> (usize, usize) {
    let _lives = watch();
    let questions = subject.questions(asks);
    for question in &questions {
        let sound = subject.answers(question, "undamaged");
        assert_eq!(sound, question.expected.is_some());
    }
    let (mut asked, mut answered) = (0, 0);
    let mut turn = 0;
    let mut next = |question: &mut Option<usize>| -> usize {
        turn += 1;
        *question.insert(turn % questions.len())
    };
    let mut done = BTreeSet::new();
    for (number, name) in subject.names(which).into_iter().enumerate() {
        // Of segments, of tables and figures one is as good as the other.
        let first = done.insert((name.split('/').next().unwrap().to_string(), kind_of(&name)));
        if !first && number >= 20 && !number.is_multiple_of(one_in(3)) {
            continue;
        }
        if !first && ["docs", "fps", "rejects", "csv", "svg"].contains(&kind_of(&name).as_str()) {
            continue;
        }
        let (path, bytes) = (subject.path(&name), &subject.files[&name]);
        let mut ask = |what: String| {
            let question: &JoinParameters = &questions[next(&mut None)];
            if name == "manifest.json" && what.contains("stranger") && question.name == "status" {
                // It is whole, and says what it says.
                return;
            }
            asked += 1;
            answered += usize::from(subject.answers(question, &format!("{name}, {what}")));
        };
        let all = flips(&name, bytes.len());
        for flip in some(&all, how_many(all.len())) {
            fs::write(&path, flipped(bytes, flip)).unwrap();
            ask(format!("byte {} flipped by {:#x}", flip.0, flip.1));
        }
        let all = cuts(&name, bytes.len());
        for length in some(&all, how_many(all.len()) / 3) {
            fs::write(&path, &bytes[..length]).unwrap();
            ask(format!("cut to {length} bytes"));
        }
        fs::write(&path, [&bytes[..], &[0; 64]].concat()).unwrap();
        ask("64 bytes more".into());
        let all = subject.replacements(&name);
        let most = if every_byte() {
            all.len()
        } else {
            REPLACEMENTS / one_in(2)
        };
        for (what, replacement) in some(&all.iter().collect::<Vec<_>>(), most) {
            replacement.put(&path);
            ask(what.clone());
            subject.restore(&name);
        }
        subject.restore(&name);
    }
    assert!(asked > 0);
    // Damage that does not matter to a question must not always prevent its answer.
    assert!(answered > 0 && answered < asked, "{answered} of {asked}");
    if every_byte() {
        println!("{asked} asked, {answered} answered");
    }
    (asked, answered)
}

#[test]
fn a_damaged_finished_run_gives_no_other_answer() {
    let subject = Subject::finished(Variant::PLAIN);
    every_damage_leaves_the_answer(&subject, &ASKS, |_| true);
}

#[test]
fn damaged_wide_fingerprints_give_no_other_answer() {
    let subject = Subject::finished(Variant::MD5);
    let wide = |name: &str| ["fps", "post", "pairs"].contains(&kind_of(name).as_str());
    every_damage_leaves_the_answer(&subject, &RUNS, wide);
}

#[test]
fn damaged_runs_give_no_other_answer() {
    for variant in [Variant::PLAIN, Variant::MD5] {
        let subject = Subject::sorted(variant);
        every_damage_leaves_the_answer(&subject, &RUNS, |name| name == "runs/000001.run");
    }
}

#[test]
fn a_damaged_unfinished_join_gives_no_other_answer() {
    for variant in [Variant::PLAIN, Variant::MD5] {
        let subject = Subject::joining(variant);
        every_damage_leaves_the_answer(&subject, &RUNS, |name| name.starts_with("pairs/"));
    }
}

/// The same command continues the addition, and reads what was there before it.
#[test]
fn a_damaged_collection_that_grows_gives_no_other_answer() {
    for stage in ["join", "index"].into_iter().step_by(one_in(2)) {
        let subject = Subject::growing(stage);
        let of_addition = |name: &str| !name.starts_with("postings/");
        every_damage_leaves_the_answer(&subject, &RUNS, of_addition);
    }
}

#[test]
fn a_damaged_pair_list_gives_no_other_answer() {
    let subject = Subject::joined();
    let pairs = |name: &str| name.starts_with("pairs/");
    every_damage_leaves_the_answer(&subject, &ASKS[..5], pairs);
}

#[test]
fn damaged_summary_page_plan_and_study_give_no_other_answer() {
    let subject = Subject::full();
    // The page of a directory links to that of its study as long as it is there.
    let written = |name: &str| {
        ["summary.json", "report.html", "plan.toml"].contains(&name)
            || name.starts_with("study/") && name != "study/study.html"
    };
    // `study --page` shows the trials, `study` goes on with them.
    let page: Ask = ("study --page", study_page_made);
    let asks = [ASKS[2], ASKS[4], page, ASKS[6], ASKS[7]];
    every_damage_leaves_the_answer(&subject, &asks, written);
}

#[test]
fn damage_to_what_a_stopped_study_and_plan_left_gives_no_other_answer() {
    let subject = Subject::in_trials();
    let of_trial = |name: &str| name.starts_with("study/") || name.starts_with("plan/");
    every_damage_leaves_the_answer(&subject, &ASKS[6..8], of_trial);
}

#[cfg(feature = "faults")]
#[test]
fn a_damaged_search_for_passages_gives_no_other_answer() {
    let subject = Subject::searching();
    let of_search = |name: &str| name.starts_with("checkpoint/") || name == "manifest.json";
    let asks: [Ask; 2] = [("passages", passages_made), ASKS[2]];
    every_damage_leaves_the_answer(&subject, &asks, of_search);
}
