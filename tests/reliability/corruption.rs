//! A damaged file is found by `verify`, whatever it is and whatever is done to it. What is asked of
//! a damaged directory: `tests/corruption_answers.rs`; how it is mended:
//! `tests/corruption_remedies.rs`.

use crate::common::one_in;
use crate::damage;
use lookalike::Error;
use lookalike::tasks::inspect::verify;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use damage::{
    Damage, Replacement, Subject, Variant, cuts, every_byte, flipped, flips, kind_of, same_kind,
    watch,
};

/// Damages by kind of file.
type Done = BTreeMap<String, u64>;

/// Every damage to each of the files chosen by `which` is found.
fn every_damage_is_found(subject: &Subject, which: impl Fn(&str) -> bool) -> Done {
    let _lives = watch();
    let found = verify(&subject.out).unwrap();
    assert!(found.errors.is_empty(), "undamaged: {:?}", found.errors);
    let names = subject.names(which);
    let mut done = Done::new();
    let mut first = BTreeSet::new();
    let mut manifests = Vec::new();
    let mut others = Vec::new();
    for name in &names {
        // One segment, table or figure stands for all, and so does one of the directories of
        // trials: of the other files of the same kind, every eleventh place is damaged.
        let place = name.rsplit('/').nth(1).map(str::to_string);
        let rare = if first.insert((place, kind_of(name))) || every_byte() {
            1
        } else {
            11 * one_in(8)
        };
        let damages = all_damages(subject, name, rare);
        *done.entry(kind_of(name)).or_default() += damages.len() as u64;
        if name.ends_with("manifest.json") {
            manifests.push((name, damages));
        } else {
            others.push((name, damages));
        }
    }
    // A damaged manifest may keep `verify` from every other file.
    for (name, damages) in manifests {
        for damage in damages {
            damage.put(&subject.path(name), &subject.files[name]);
            if matches!(damage, Damage::Replaced(_, Replacement::Nothing)) {
                is_found_gone(subject, name);
            } else {
                subject.are_found(&[(name, damage.to_string())]);
            }
            subject.restore(name);
        }
    }
    // `verify` names every damaged file, however many there are: each has one damage at a time, and
    // all of them are looked for at once.
    let most = others.iter().map(|(_, damages)| damages.len()).max();
    for turn in 0..most.unwrap_or(0) {
        let mut damaged = Vec::new();
        for (name, damages) in &others {
            if let Some(damage) = damages.get(turn) {
                damage.put(&subject.path(name), &subject.files[*name]);
                damaged.push((name.as_str(), damage.to_string()));
            }
        }
        subject.are_found(&damaged);
        for (name, _) in damaged {
            subject.restore(name);
        }
    }
    // Two of a kind, one in the place of the other. Above, each of them alone was in the place of
    // every other: where not everything is tried, each is swapped with the next.
    let most = if every_byte() { usize::MAX } else { 1 };
    for a in &names {
        let differs =
            |b: &&String| *b > a && same_kind(a, b) && subject.files[a] != subject.files[*b];
        for b in names.iter().filter(differs).take(most) {
            fs::write(subject.path(a), &subject.files[b]).unwrap();
            fs::write(subject.path(b), &subject.files[a]).unwrap();
            // Of trials' manifests, see `is_whole`.
            if !a.ends_with("manifest.json") {
                subject.are_found(&[
                    (a, format!("swapped with {b}")),
                    (b, format!("swapped with {a}")),
                ]);
            }
            subject.restore(a);
            subject.restore(b);
        }
    }
    let found = verify(&subject.out).unwrap();
    assert!(found.errors.is_empty(), "restored: {:?}", found.errors);
    if every_byte() {
        for (kind, damages) in &done {
            println!("{kind}: {damages} damages, all found");
        }
    }
    done
}

/// The damages to a file: every `rare`th flip and cut, and all the others.
fn all_damages(subject: &Subject, name: &str, rare: usize) -> Vec<Damage> {
    let bytes = &subject.files[name];
    let flips = flips(name, bytes.len()).into_iter().step_by(rare);
    let cuts = cuts(name, bytes.len()).into_iter().step_by(rare);
    let more = [vec![0], vec![b'\n'], vec![0; 64], bytes.clone()];
    let replaced = subject.replacements(name).into_iter().filter(|(_, with)| {
        let of_trial = name.ends_with("/manifest.json");
        !(of_trial && is_whole(with))
    });
    flips
        .map(Damage::Flipped)
        .chain(cuts.map(Damage::Cut))
        .chain(
            more.into_iter()
                .filter(|more| !more.is_empty())
                .map(Damage::Longer),
        )
        .chain(replaced.map(|(what, with)| Damage::Replaced(what, with)))
        .collect()
}

/// The manifest of another trial is whole and may name nothing that is not there. It is harmless:
/// it does not say that it stands on what this trial stands on (`origin`), so that nothing it names
/// is used.
fn is_whole(replacement: &Replacement) -> bool {
    matches!(replacement, Replacement::Content(bytes) if bytes.starts_with(b"{\n  \"format\""))
}

/// A directory without its manifest says what it lacks; one of a trial begins anew, as if it had
/// been stopped before its first commit: nothing of it is used.
fn is_found_gone(subject: &Subject, name: &str) {
    let verified = verify(&subject.out);
    if name == "manifest.json" {
        let error = verified.unwrap_err();
        assert!(matches!(error, Error::NotOutput { .. }), "{error}");
    } else {
        verified.unwrap();
    }
}

fn kinds(done: &Done) -> Vec<&str> {
    done.keys().map(String::as_str).collect()
}

#[test]
fn verify_finds_every_damage_to_a_finished_run() {
    let subject = Subject::finished(Variant::PLAIN);
    let done = every_damage_is_found(&subject, |name| name != "manifest.json");
    let expected = [
        "col", "docs", "fps", "json", "jsonl", "names", "pairs", "post", "rejects", "text", "tsv",
    ];
    assert_eq!(kinds(&done), expected);
    assert!(subject.names(|name| name.ends_with(".docs")).len() > 1);
}

#[test]
fn verify_finds_every_damage_to_wide_fingerprints() {
    let subject = Subject::finished(Variant::MD5);
    let wide = |name: &str| ["fps", "post"].contains(&kind_of(name).as_str());
    assert_eq!(
        kinds(&every_damage_is_found(&subject, wide)),
        ["fps", "post"]
    );
}

#[test]
fn verify_finds_every_damage_to_the_manifest() {
    let subject = Subject::finished(Variant::PLAIN);
    every_damage_is_found(&subject, |name| name == "manifest.json");
}

#[test]
fn verify_finds_every_damage_to_runs() {
    for variant in [Variant::PLAIN, Variant::MD5] {
        let subject = Subject::sorted(variant);
        let first = |name: &str| name == "runs/000001.run";
        assert_eq!(kinds(&every_damage_is_found(&subject, first)), ["run"]);
    }
}

#[test]
fn verify_finds_every_damage_to_an_unfinished_join() {
    for variant in [Variant::PLAIN, Variant::MD5] {
        let subject = Subject::joining(variant);
        let of_join = |name: &str| name.starts_with("pairs/");
        assert_eq!(kinds(&every_damage_is_found(&subject, of_join)), ["run"]);
    }
}

#[test]
fn verify_finds_every_damage_to_a_collection_that_grows() {
    for (stage, expected) in [
        ("index", &["facts", "index", "jsonl", "pairs"][..]),
        ("join", &["facts", "index", "jsonl", "pairs", "run"]),
    ] {
        let subject = Subject::growing(stage);
        let of_addition = |name: &str| {
            let places = ["index/", "pairs/", "inputs.jsonl"];
            places.iter().any(|place| name.starts_with(place))
        };
        let done = every_damage_is_found(&subject, of_addition);
        assert_eq!(kinds(&done), expected);
        let levels = subject.names(|name| name.ends_with(".facts"));
        assert_eq!(levels.len(), 4, "{levels:?}");
        every_damage_is_found(&subject, |name| name == "manifest.json");
    }
}

#[test]
fn verify_finds_every_damage_to_summary_page_plan_and_study() {
    let subject = Subject::full();
    let written = |name: &str| {
        ["summary.json", "report.html", "plan.toml"].contains(&name) || name.starts_with("study/")
    };
    let done = every_damage_is_found(&subject, written);
    assert_eq!(kinds(&done), ["csv", "html", "json", "toml"]);
    let trials = subject.names(|name| name.starts_with("study/trials/"));
    assert_eq!(trials.len(), 3, "{trials:?}");
}

#[test]
fn verify_finds_every_damage_to_what_a_stopped_study_and_plan_left() {
    let subject = Subject::in_trials();
    let of_trial = |name: &str| name.starts_with("study/") || name.starts_with("plan/");
    let done = every_damage_is_found(&subject, of_trial);
    assert!(kinds(&done).contains(&"post"), "{done:?}");
}

#[cfg(feature = "faults")]
#[test]
fn verify_finds_every_damage_to_a_stopped_search() {
    let subject = Subject::searching();
    let of_search = |name: &str| name.starts_with("checkpoint/") || name == "manifest.json";
    let done = every_damage_is_found(&subject, of_search);
    assert_eq!(kinds(&done), ["json", "sorted"]);
}

/// Nothing is read from a lock: who has it, the system knows.
#[test]
fn a_damaged_lock_is_harmless() {
    let subject = Subject::finished(Variant::PLAIN);
    let bytes = &subject.files["lock"];
    for at in 0..bytes.len() {
        fs::write(subject.path("lock"), flipped(bytes, (at, 0xff))).unwrap();
        assert!(verify(&subject.out).unwrap().errors.is_empty());
    }
    fs::remove_file(subject.path("lock")).unwrap();
    assert!(verify(&subject.out).unwrap().errors.is_empty());
    subject.run.run(&[&subject.input], &subject.out).unwrap();
    assert!(verify(&subject.out).unwrap().errors.is_empty());
    fs::remove_file(subject.path("lock")).unwrap();
    fs::create_dir(subject.path("lock")).unwrap();
    let refused = subject.run.run(&[&subject.input], &subject.out);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("lock"), "{refused}");
}

#[test]
fn a_file_of_another_kind_is_told_by_name() {
    let subject = Subject::finished(Variant::PLAIN);
    let docs = subject.path("collection/000000.docs");
    fs::write(&docs, &subject.files["collection/000000.fps"]).unwrap();
    let found = verify(&subject.out).unwrap();
    assert_eq!(found.errors.len(), 1);
    let told = found.errors[0].to_string();
    assert!(
        told.ends_with(" is a fingerprints file, expected documents"),
        "{told}"
    );
    assert_eq!(found.errors[0].path(), Some(&*docs));
    // What is no file of ours at all.
    let foreign = "GIF89a and so on, for more bytes than a header and a footer have";
    fs::write(&docs, foreign.repeat(3)).unwrap();
    let found = verify(&subject.out).unwrap();
    assert!(matches!(&found.errors[0], Error::NotOurs { path, .. } if *path == docs));
}
