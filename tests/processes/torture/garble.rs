//! What no manifest names may be anything.

use crate::common::corpus::Random;
use crate::common::paths;
use lookalike::engine::cluster::ResultsEntry;
use lookalike::engine::pipeline;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Cuts, garbles, empties or lengthens every file that the manifest does not name: what was begun,
/// what was written and not yet committed.
pub fn garble(out: &Path, random: &mut Random) {
    if !out.exists() {
        return;
    }
    let mut named: BTreeSet<String> = ["manifest.json", "lock"].map(String::from).into();
    if let Ok(manifest) = pipeline::look(out) {
        let parts = manifest.parts();
        named.extend(
            parts
                .iter()
                .map(|(d, _, part)| format!("{d}/{}", part.name)),
        );
        let results = manifest
            .get::<ResultsEntry>()
            .into_iter()
            .flat_map(|r| &r.files);
        named.extend(
            results
                .chain([&manifest.inputs.list])
                .map(|f| f.name.clone()),
        );
    }
    if out.join("new").is_dir() {
        garble(&out.join("new"), random);
    }
    for path in paths(out) {
        let name = path
            .strip_prefix(out)
            .unwrap()
            .to_str()
            .unwrap()
            .to_string();
        // What is only read keeps its bytes.
        if name.starts_with("old/") {
            continue;
        }
        // A study, a plan and a method have directories of their own, with manifests of their own;
        // of what `dedup` writes, a file is complete when it has its name.
        let places = [
            "study/", "plan/", "methods/", "work/", "kept/", "removed/", "new/",
        ];
        let own = places.iter().any(|place| name.starts_with(place));
        if named.contains(&name) || own && !name.ends_with(".tmp") {
            continue;
        }
        let mut bytes = fs::read(&path).unwrap();
        match random.below(4) {
            0 => bytes.truncate(random.below(bytes.len() + 1)),
            1 => bytes.iter_mut().for_each(|b| *b = random.next() as u8),
            2 => bytes.clear(),
            _ => bytes.extend((0..100).map(|_| random.next() as u8)),
        }
        // It may be a link of an input.
        fs::remove_file(&path).unwrap();
        fs::write(&path, bytes).unwrap();
    }
}
