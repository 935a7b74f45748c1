//! Plan files, written by hand or by the program.

use lookalike::engine::sample::Sampling;
use lookalike::tasks::plan;

use super::place;

pub fn run(data: &[u8]) {
    let path = place::directory().join("plan.toml");
    place::put(&path, data);
    let Ok(first) = plan::read(&path) else {
        return;
    };
    // What was read is written to the manifest and to another file, and read there.
    let written = plan::write(&first);
    place::put(&path, written.as_bytes());
    let second = plan::read(&path).expect("a plan that was written is read");
    assert_eq!(plan::write(&second), written, "writing a plan changes it");
    assert_eq!(second.config, first.config);
    assert_eq!(second.shingle, first.shingle);
    assert_eq!(second.size_groups, first.size_groups);
    let json = serde_json::to_string(&first).expect("a plan goes into the manifest");
    let third: plan::Plan = serde_json::from_str(&json).expect("a plan comes out of the manifest");
    assert_eq!(third, first, "the manifest changes a plan");
    let sampling = first.sampling();
    assert_eq!(sampling, second.sampling());
    let text = sampling.to_string();
    assert_eq!(
        text.parse::<Sampling>()
            .expect("a sampling reads what it prints"),
        sampling
    );
    let count = first.size_groups.count();
    sampling.check(count).expect("a ratio for each size group");
    let levels = sampling.levels(count);
    assert_eq!(levels.level_of_group.len(), count);
    let used = levels
        .level_of_group
        .iter()
        .map(|&level| usize::from(level));
    assert!(used.max() < Some(levels.rates.len()));
}
