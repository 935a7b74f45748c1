//! What a study leaves: the counts of trials and the costs, and the tables and the page of them.

use lookalike::base::budget::ByteSize;
use lookalike::engine::pipeline;
use lookalike::store::workspace::Workspace;
use lookalike_lab::report::study_files;
use lookalike_lab::study::{Study, StudyConfig, StudyCost, comparison};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::controls::Controls;
use super::place;

pub fn run(data: &[u8]) {
    let mut controls = Controls::new(data);
    if controls.flag() {
        let place = controls.byte();
        on_the_page(place, controls.rest());
    } else {
        counted(controls.rest());
    }
}

/// Counts of a study, as they are kept between two runs of it.
fn counted(json: &[u8]) {
    let Ok(study) = serde_json::from_slice::<Study>(json) else {
        return;
    };
    let few = study.trials.len() <= 64
        && study.groups.len() <= 32
        && study.config.thresholds.len() <= 20
        && study.config.ratios.len() <= 16
        && study.sizes.len() <= 1000;
    if !few {
        return;
    }
    let Ok(files) = study_files(&study) else {
        return;
    };
    assert_eq!(files, study_files(&study).expect("the same again"));
    assert!(files.first().is_some_and(|(name, _)| *name == "trials.csv"));
    if study.config.check().is_ok() {
        let sums = comparison(&study, &StudyCost::default()).expect("its tables agree");
        assert_eq!(sums.rows.is_empty(), study.trials.is_empty());
        let page = lookalike_lab::report::study_page(&study, &StudyCost::default(), "program");
        assert!(page.is_ok_and(|page| String::from_utf8(page).is_ok()));
    }
}

/// Files of a study, from which its page is written again.
fn on_the_page(place_of: u8, content: &[u8]) {
    static RUN: OnceLock<PathBuf> = OnceLock::new();
    let out = RUN.get_or_init(|| {
        let out = place::finished_run("study-run");
        let config = StudyConfig {
            ratios: vec![2],
            thresholds: ["0.5", "0.8"]
                .map(|t| t.parse().expect("a threshold"))
                .into(),
        };
        let mut workspace = pipeline::open(&out).expect("a run");
        place::with_context(ByteSize::mib(512), |context| {
            lookalike_lab::report::write_study(&mut workspace, &config, context)
        })
        .expect("a study");
        out
    });
    let (costs, trial) = ("study/study.json", "study/trials/1-2-1.json");
    static WHOLE: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
    let read = |name: &str| std::fs::read(out.join(name)).expect("a file of the study");
    let whole = WHOLE.get_or_init(|| [costs, trial].map(read));
    let kept = match place_of % 3 {
        0 => [content, &whole[1]],
        1 => [&whole[0], content],
        // Counts in the place of those of a trial.
        _ => {
            let Ok(counts) = serde_json::from_slice::<serde_json::Value>(content) else {
                return;
            };
            let mut kept: serde_json::Value = serde_json::from_slice(&whole[1]).expect("a trial");
            kept["trial"] = counts;
            return page_of(out, [&whole[0], kept.to_string().as_bytes()]);
        }
    };
    page_of(out, kept);
}

/// Writes the page of a study of which two files are given.
fn page_of(out: &Path, [costs, trial]: [&[u8]; 2]) {
    let Ok(mut workspace) = pipeline::open(out) else {
        panic!("the run is damaged");
    };
    for (name, content) in [
        ("study/study.json", costs),
        ("study/trials/1-2-1.json", trial),
    ] {
        workspace.put_other(name, content).expect("a file");
    }
    let write = |workspace: &mut Workspace| {
        place::with_context(ByteSize::mib(512), |context| {
            let page = lookalike_lab::report::write_study_page(workspace, context).ok()?;
            Some(std::fs::read(page).expect("a page"))
        })
    };
    let Some(page) = write(&mut workspace) else {
        return;
    };
    let page = String::from_utf8(page).expect("UTF-8");
    assert!(
        !page.contains("<script") && !page.contains("<img"),
        "other markup"
    );
    let again = write(&mut workspace).expect("the same again");
    assert_eq!(page.as_bytes(), again, "another page");
}
