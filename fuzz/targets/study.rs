//! What a study leaves: the counts of trials, from which its tables and figures are made.

use lookalike::experiments::study::{Study, StudyCost, comparison};
use lookalike::report::figures;

use super::controls::Controls;

pub fn run(data: &[u8]) {
    let mut controls = Controls::new(data);
    // Older inputs begin with a byte that chose between two parts.
    controls.byte();
    counted(controls.rest());
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
