//! Every package that is depended on has its reason in docs/packages.md, and `unsafe` is where it is
//! said to be.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The names of the packages of others in `[workspace.dependencies]`.
fn dependencies() -> BTreeSet<String> {
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let names = manifest["workspace"]["dependencies"]
        .as_table()
        .unwrap()
        .keys();
    let others = names.filter(|name| !name.starts_with("lookalike"));
    others.cloned().collect()
}

/// The names in `[dependencies]` of all crates: without those that only tests need.
fn compiled() -> BTreeSet<String> {
    let crates = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates")).unwrap();
    let crates = crates.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let manifests = crates.map(|name| format!("crates/{name}/Cargo.toml"));
    let mut names = BTreeSet::new();
    for manifest in manifests.chain(["Cargo.toml".to_string()]) {
        let manifest: toml::Table = read(&manifest).parse().unwrap();
        names.extend(manifest["dependencies"].as_table().unwrap().keys().cloned());
    }
    names.retain(|name| !name.starts_with("lookalike"));
    names
}

/// The names in the first column of the table of packages, in backquotes.
fn reasons() -> BTreeSet<String> {
    let text = read("docs/packages.md");
    let mut names = BTreeSet::new();
    for row in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        assert!(
            cells.len() == 3 && cells.iter().all(|cell| !cell.trim().is_empty()),
            "{row}"
        );
        // What is in parentheses is about the package before.
        let outside = cells[0]
            .split('(')
            .map(|part| part.split_once(')').map_or(part, |(_, after)| after));
        for part in outside {
            names.extend(part.split('`').skip(1).step_by(2).map(String::from));
        }
    }
    names
}

#[test]
fn every_dependency_has_its_reason() {
    let (there, told) = (dependencies(), reasons());
    assert!(there.len() > 20, "{there:?}");
    let missing: Vec<_> = there.difference(&told).collect();
    assert!(
        missing.is_empty(),
        "docs/packages.md does not say what these are for: {missing:?}"
    );
    let gone: Vec<_> = told.difference(&there).collect();
    assert!(
        gone.is_empty(),
        "docs/packages.md has packages that Cargo.toml does not: {gone:?}"
    );
}

fn rust_files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The compiler denies `unsafe` wherever it is not allowed by hand. It does not deny it in the
/// Python module, so a block counts as well.
#[test]
fn unsafe_is_in_the_files_that_the_page_names() {
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    assert_eq!(
        manifest["workspace"]["lints"]["rust"]["unsafe_code"].as_str(),
        Some("deny")
    );
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for directory in ["src", "crates", "tests", "benches", "scripts", "python/src"] {
        rust_files(&root.join(directory), &mut files);
    }
    assert!(files.len() > 100);
    // In two pieces: this file is one of them.
    let ends = ["_code)", "_code,", " {", " fn", " impl", " extern"];
    let marks = ends.map(|end| ["unsafe", end].concat());
    let allowing: Vec<PathBuf> = files
        .into_iter()
        .filter(|path| {
            let text = fs::read_to_string(path).unwrap();
            let marked = |line: &str| marks.iter().any(|mark| line.contains(mark));
            text.lines()
                .any(|line| marked(line) && !line.contains("deny("))
        })
        .map(|path| path.strip_prefix(root).unwrap().into())
        .collect();
    let page = read("docs/unsafe.md");
    let named = page.lines().filter_map(|line| line.strip_prefix("- `"));
    let named = named.map(|line| PathBuf::from(line.split('`').next().unwrap()));
    assert_eq!(BTreeSet::from_iter(allowing), named.collect());
}

/// The table of `docs/unsafe.md` has every direct dependency, by the version that is locked.
#[test]
fn the_table_of_unsafe_code_is_of_these_packages() {
    let page = read("docs/unsafe.md");
    let lock: toml::Table = read("Cargo.lock").parse().unwrap();
    let packages = lock["package"].as_array().unwrap();
    let version = |name: &str| {
        let found = packages
            .iter()
            .find(|package| package["name"].as_str() == Some(name));
        found.map(|package| package["version"].as_str().unwrap().to_string())
    };
    let mut rows = 0;
    for row in page
        .lines()
        .filter(|row| row.starts_with("| ") && row.contains(" | yes | "))
    {
        let (name, told) = row
            .trim_start_matches("| ")
            .split(" | ")
            .next()
            .unwrap()
            .split_once(' ')
            .unwrap();
        assert_eq!(
            version(name).as_deref(),
            Some(told),
            "{name}: run scripts/count-unsafe.py --write"
        );
        rows += 1;
    }
    assert!(rows > 10);
    for name in compiled() {
        assert!(
            page.contains(&format!("| {name} "))
                || page.contains(&format!(" {name},"))
                || page.contains(&format!(" {name}.")),
            "{name}: run scripts/count-unsafe.py --write"
        );
    }
}
