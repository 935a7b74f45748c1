//! What a study leaves: the counts of trials, and the figures and costs that the report page shows.

use lookalike::budget::ByteSize;
use lookalike::experiments::study::{Study, StudyCost, comparison};
use lookalike::pipeline;
use lookalike::report::figures;
use lookalike::report::page::{self, PageConfig};
use std::path::PathBuf;
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
    let Ok(files) = figures::files(&study) else {
        return;
    };
    assert_eq!(files, figures::files(&study).expect("the same again"));
    assert!(files.last().is_some_and(|file| file.name == "figures.json"));
    if study.config.check().is_ok() {
        let sums = comparison(&study, &StudyCost::default());
        assert!(!sums.rows.is_empty());
    }
}

/// Files of a study on the report page of a small run.
fn on_the_page(place_of: u8, content: &[u8]) {
    static RUN: OnceLock<PathBuf> = OnceLock::new();
    let out = RUN.get_or_init(|| {
        let out = place::finished_run("study-run");
        std::fs::create_dir_all(out.join("study")).expect("a directory");
        out
    });
    let study = out.join("study");
    let list =
        br#"[{"file":"figure1.svg","title":"t","paper":"p","here":"h"},{"file":"table3.csv"}]"#;
    let drawing = b"<svg><g><path d=\"M0 0\"/></g></svg>";
    let cost = std::fs::remove_file(study.join("study.json"));
    drop(cost);
    let (mut figures, mut svg): (&[u8], &[u8]) = (list, drawing);
    match place_of % 3 {
        0 => figures = content,
        1 => svg = content,
        _ => place::put(&study.join("study.json"), content),
    }
    place::put(&study.join("figures.json"), figures);
    place::put(&study.join("figure1.svg"), svg);
    let Ok(workspace) = pipeline::open(out) else {
        panic!("the run is damaged");
    };
    let page = out.join("report.html");
    let _ = std::fs::remove_file(&page);
    let config = PageConfig {
        clusters: 1,
        pairs: 1,
        seed: 0,
    };
    let written = place::with_context(ByteSize::mib(512), |context| {
        page::write(&workspace, &config, &page, context)
    });
    if written.is_err() {
        return;
    }
    let html = String::from_utf8(std::fs::read(&page).expect("a page")).expect("UTF-8");
    if place_of % 3 == 1 {
        // A drawing changes the address that holds it, and nothing else of the page.
        let (before, behind) = html.split_once("base64,").expect("the drawing is shown");
        let (digits, after) = behind.split_once('"').expect("the address ends");
        let digit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
        assert!(digits.chars().all(digit), "an address of other characters");
        static OWN: OnceLock<String> = OnceLock::new();
        let own = format!("{before}{after}");
        assert_eq!(
            &own,
            OWN.get_or_init(|| own.clone()),
            "a drawing changed the page"
        );
    }
}
