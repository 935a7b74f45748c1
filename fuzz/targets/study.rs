//! What a study leaves: the counts of trials, and the figures and costs that the report page shows.

use lookalike::budget::ByteSize;
use lookalike::experiments::study::{Study, StudyCost, comparison, figures};
use lookalike::pipeline;
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
    let lower = html.to_ascii_lowercase();
    // What the page itself has of these, it has once; a figure adds none.
    static OWN: OnceLock<usize> = OnceLock::new();
    let scripts = lower.matches("<script").count();
    if place_of % 3 == 1 {
        let own = OWN.get_or_init(|| {
            // The first page that is written without the drawing being shown or not has what is ours.
            html_scripts_of_own(&lower)
        });
        assert_eq!(scripts, *own, "a figure brought a script");
    }
}

/// Scripts outside of the figures.
fn html_scripts_of_own(lower: &str) -> usize {
    let mut rest = lower;
    let mut count = 0;
    while let Some(at) = rest.find("<script") {
        let inside_figure =
            rest[..at].matches("<svg").count() > rest[..at].matches("</svg").count();
        count += usize::from(!inside_figure);
        rest = &rest[at + 7..];
    }
    count
}
