//! Whoever finds a damaged file deletes it and repeats the command: then the directory is, byte for
//! byte, what it would be without the damage.

use crate::{common, damage};
use lookalike::Error;
use lookalike::engine::cluster::ResultsEntry;
use lookalike::engine::collection;
use lookalike::engine::pipeline;
use lookalike::tasks::inspect::verify;

use std::fs;
use std::path::Path;

use common::{assert_same_files, tree};
use damage::{
    Files, Subject, Variant, clear, flipped, page_made, plan_made, study_made, study_page_made,
    watch,
};

/// All files but those that say what was spent.
fn lasting(out: &Path) -> Files {
    let mut files = tree(out);
    files.retain(|name, _| {
        let cost = ["study/study.json", "study/study.html", "report.html"].contains(&name.as_str());
        let trial = name.starts_with("study/trials/");
        let file = name.rsplit('/').next().unwrap_or_default();
        !cost && !trial && !["lock", "manifest.json", "summary.json"].contains(&file)
    });
    files
}

/// For each file chosen: damaged, found, deleted, and the commands repeated.
fn every_file_is_mended(
    subject: &Subject,
    which: impl Fn(&str) -> bool,
    repeat: impl Fn(&Path) -> Result<(), Error>,
) {
    let _lives = watch();
    let whole = subject.home.path().join("whole");
    damage::copy(subject, &whole);
    repeat(&whole).unwrap();
    let expected = lasting(&whole);
    let names = subject.names(which);
    assert!(!names.is_empty());
    for name in names {
        let out = subject.home.path().join("mended");
        damage::copy(subject, &out);
        let (path, bytes) = (out.join(&name), &subject.files[&name]);
        fs::write(&path, flipped(bytes, (bytes.len() / 2, 0x10))).unwrap();
        let found = verify(&out);
        assert!(
            found.is_err() || !found.unwrap().errors.is_empty(),
            "{name}"
        );
        clear(&path);
        repeat(&out).unwrap_or_else(|error| panic!("{name} deleted: {error}"));
        assert_same_files(&lasting(&out), &expected, &format!("{name} deleted"));
        let found = verify(&out).unwrap();
        assert!(
            found.errors.is_empty(),
            "{name} deleted: {:?}",
            found.errors
        );
        fs::remove_dir_all(&out).unwrap();
    }
}

fn run_again(subject: &Subject) -> impl Fn(&Path) -> Result<(), Error> {
    |out| subject.run.run(&[&subject.input], out).map(drop)
}

#[test]
fn what_is_deleted_of_a_finished_run_is_made_again() {
    let subject = Subject::finished(Variant::PLAIN);
    every_file_is_mended(&subject, |_| true, run_again(&subject));
}

#[test]
fn runs_that_are_deleted_are_made_again() {
    for variant in [Variant::PLAIN, Variant::MD5] {
        let subject = Subject::sorted(variant);
        let runs = |name: &str| name == "runs/000001.run" || name.starts_with("sample/");
        every_file_is_mended(&subject, runs, run_again(&subject));
    }
}

#[test]
fn what_is_deleted_of_an_unfinished_join_is_made_again() {
    let subject = Subject::joining(Variant::PLAIN);
    let later = |name: &str| !name.starts_with("collection/");
    every_file_is_mended(&subject, later, run_again(&subject));
    let subject = Subject::joined();
    every_file_is_mended(
        &subject,
        |name| name.starts_with("pairs/"),
        run_again(&subject),
    );
}

#[test]
fn a_page_a_plan_and_a_study_that_are_deleted_are_made_again() {
    let subject = Subject::full();
    let mut kinds = std::collections::BTreeSet::new();
    let written = |name: &str| {
        ["summary.json", "report.html", "plan.toml"].contains(&name) || name.starts_with("study/")
    };
    // One table and one figure stand for all.
    let names = subject.names(written);
    let chosen: Vec<String> = names
        .into_iter()
        .filter(|name| kinds.insert(damage::kind_of(name)) || name.ends_with(".json"))
        .collect();
    let repeat = |out: &Path| {
        subject.run.run(&[&subject.input], out)?;
        for make in [plan_made, study_made, page_made] {
            make(&subject, out)?;
        }
        Ok(())
    };
    every_file_is_mended(&subject, |name| chosen.iter().any(|c| c == name), repeat);
}

#[test]
fn what_is_deleted_of_a_stopped_study_and_plan_is_made_again() {
    let subject = Subject::in_trials();
    let mut kinds = std::collections::BTreeSet::new();
    let names = subject.names(|name| name.starts_with("study/") || name.starts_with("plan/"));
    let chosen: Vec<String> = names
        .into_iter()
        .filter(|name| {
            let place = name.rsplit_once('/').map(|(place, _)| place.to_string());
            kinds.insert((place, damage::kind_of(name)))
        })
        .collect();
    let repeat = |out: &Path| {
        study_made(&subject, out)?;
        plan_made(&subject, out).map(drop)
    };
    every_file_is_mended(&subject, |name| chosen.iter().any(|c| c == name), repeat);
}

/// Without the inputs, nothing of the collection can be made: the file is named, and nothing is
/// dropped.
#[test]
fn a_collection_is_not_made_again_without_its_inputs() {
    let subject = Subject::finished(Variant::PLAIN);
    let path = subject.path("collection/000000.docs");
    fs::remove_file(&path).unwrap();
    let error = page_made(&subject, &subject.out).unwrap_err();
    assert!(
        error.to_string().contains(&path.display().to_string()),
        "{error}"
    );
    assert!(error.help().unwrap().contains("lookalike run INPUT..."));
    let manifest = pipeline::look(&subject.out).unwrap();
    assert!(collection::ingested(&manifest) && manifest.has::<ResultsEntry>());
}

/// Results of the right size were taken for whole, whatever was in them.
#[test]
fn a_damaged_result_of_the_same_size_is_written_again() {
    let subject = Subject::finished(Variant::PLAIN);
    for name in common::RESULTS {
        let bytes = &subject.files[name];
        let damaged = flipped(bytes, (bytes.len() / 2, 1));
        fs::write(subject.path(name), damaged).unwrap();
        subject.run.run(&[&subject.input], &subject.out).unwrap();
        assert!(fs::read(subject.path(name)).unwrap() == *bytes, "{name}");
    }
}

/// A trial in which a figure had changed was counted as it was.
#[test]
fn a_damaged_trial_is_run_again() {
    let subject = Subject::full();
    let expected = study_made(&subject, &subject.out).unwrap();
    let name = "study/trials/1-2-1.json";
    let text = String::from_utf8(subject.files[name].clone()).unwrap();
    let damaged = text.replacen("\"documents\":", "\"documents\":1", 1);
    assert!(damaged != text);
    fs::write(subject.path(name), damaged).unwrap();
    let found = study_made(&subject, &subject.out).unwrap();
    assert_same_files(&found, &expected, "a damaged trial");
}

/// Figures that had changed were shown.
#[test]
fn a_page_of_a_study_does_not_show_damaged_numbers() {
    let subject = Subject::full();
    for (name, what) in [
        ("study/study.json", "study.json"),
        ("study/trials/1-2-0.json", "no committed study"),
    ] {
        let text = String::from_utf8(subject.files[name].clone()).unwrap();
        fs::write(subject.path(name), text.replacen('1', "2", 1)).unwrap();
        let refused = study_page_made(&subject, &subject.out).unwrap_err();
        assert!(refused.to_string().contains(what), "{refused}");
        fs::write(subject.path(name), text).unwrap();
    }
    study_page_made(&subject, &subject.out).unwrap();
}

/// A manifest that could not be read was taken for none, and everything for scrap.
#[test]
fn a_manifest_that_cannot_be_read_is_not_taken_for_none() {
    let subject = Subject::finished(Variant::PLAIN);
    let path = subject.path("manifest.json");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("manifest.json", &path).unwrap();
    let refused = subject.run.run(&[&subject.input], &subject.out);
    assert!(matches!(refused, Err(Error::WrongFileType(wrong)) if wrong.path == path));
    assert!(subject.path("collection/000000.docs").exists());
    assert!(subject.path("pairs/000000.pairs").exists());
}

/// The list of inputs is written again from the same inputs only.
#[test]
fn a_list_of_inputs_is_not_made_from_others() {
    let subject = Subject::finished(Variant::PLAIN);
    fs::remove_file(subject.path("inputs.jsonl")).unwrap();
    fs::write(
        subject.input.join("one more.jsonl"),
        "{\"text\": \"more\"}\n",
    )
    .unwrap();
    let refused = subject.run.run(&[&subject.input], &subject.out);
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("inputs.jsonl is missing, and the inputs of this command"),
        "{refused}"
    );
    assert!(!subject.path("inputs.jsonl").exists());
    fs::remove_file(subject.input.join("one more.jsonl")).unwrap();
    subject.run.run(&[&subject.input], &subject.out).unwrap();
    assert!(verify(&subject.out).unwrap().errors.is_empty());
}
