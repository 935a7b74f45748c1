//! One direction of dependencies: a module uses only what stands before it in this list.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the library from the ground up. ARCHITECTURE.md says what each is for.
const LAYERS: &[(&str, &[&str])] = &[
    (
        "ground",
        &[
            "ids",
            "bits",
            "random",
            "rate",
            "numbers",
            "byte_size",
            "resource",
            "error",
            "budget",
            "measure",
            "precision",
            "union_find",
            "utf8",
            "wide",
            "process",
            "progress",
            "threads",
            "workers",
            "limits",
            "least",
            "ratio",
        ],
    ),
    ("store", &["store"]),
    ("workspace", &["workspace", "checkpoint"]),
    (
        "stages",
        &[
            "read",
            "parse",
            "align",
            "shingle",
            "collection",
            "sample",
            "sort",
            "index",
            "merge",
            "join",
            "cluster",
        ],
    ),
    ("outputs", &["outputs"]),
    ("pipeline", &["pipeline"]),
    ("documents by name", &["document"]),
    ("methods", &["methods"]),
    (
        "experiments, evaluation, look-ups, deduplication",
        &["experiments", "evaluate", "query", "dedup"],
    ),
    ("transfer of labels", &["transfer"]),
    ("shared passages", &["passages"]),
    ("contamination by test sets", &["contamination"]),
    ("tasks for an engine", &["distributed"]),
    ("audit of a deduplication", &["audit"]),
    ("presentation", &["report", "inspect"]),
    ("command line", &["cli"]),
];

/// Layers whose modules do not use each other, either way.
const INDEPENDENT: &[&str] = &[
    "experiments, evaluation, look-ups, deduplication",
    "presentation",
];

/// Imports that go up the list and are known: each is to go away, none may come.
const KNOWN: &[(&str, &str)] = &[];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The code of a file: without comments, strings, and the tests at its end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let mut out = String::new();
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or(line);
        out.push_str(code);
        out.push('\n');
    }
    out
}

/// Every module that a file names after `crate::`, with its line. A list in braces counts once for
/// each.
fn imports(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let line = code[..at].lines().count().max(1);
        let rest = &code[at + "crate::".len()..];
        let names = match rest.strip_prefix('{') {
            Some(list) => top_level(list),
            None => vec![name(rest)],
        };
        found.extend(names.into_iter().map(|name| (line, name)));
    }
    found
}

fn name(text: &str) -> String {
    text.chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect()
}

/// The first names of the elements of a list in braces, up to its end.
fn top_level(list: &str) -> Vec<String> {
    let (mut names, mut depth, mut start) = (Vec::new(), 1, true);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => start = true,
            c if c.is_whitespace() => {}
            _ if start && depth == 1 => {
                names.push(name(&list[at..]));
                start = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

/// Every file of the library below a directory.
fn files(directory: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            out.push(path);
        }
    }
}

/// The module of a file below `src`.
fn module(path: &Path) -> String {
    let inside = path.strip_prefix(source()).unwrap();
    let first = inside.components().next().unwrap().as_os_str();
    first.to_string_lossy().trim_end_matches(".rs").to_string()
}

/// What goes up in a file of `module`, by the table of ranks.
fn upward(
    module: &str,
    text: &str,
    ranks: &BTreeMap<&str, (usize, usize)>,
) -> Vec<(usize, String)> {
    let Some(&(layer, rank)) = ranks.get(module) else {
        panic!("{module} stands in no layer: give it a place in tests/architecture.rs");
    };
    let apart = INDEPENDENT.contains(&LAYERS[layer].0);
    let mut found = imports(&code(text));
    found.retain(|(_, name)| {
        let Some(&(their_layer, their_rank)) = ranks.get(name.as_str()) else {
            return false;
        };
        name != module && (their_rank > rank || apart && their_layer == layer)
    });
    found
}

fn ranks() -> BTreeMap<&'static str, (usize, usize)> {
    let mut ranks = BTreeMap::new();
    for (layer, (_, modules)) in LAYERS.iter().enumerate() {
        for module in *modules {
            let rank = ranks.len();
            assert!(
                ranks.insert(*module, (layer, rank)).is_none(),
                "{module} twice"
            );
        }
    }
    ranks
}

#[test]
fn no_module_uses_what_stands_above_it() {
    let ranks = ranks();
    let mut all = Vec::new();
    files(&source(), &mut all);
    assert!(all.len() > 150, "{} files", all.len());
    let (mut wrong, mut met, mut seen) = (Vec::new(), Vec::new(), 0);
    for path in all {
        let module = module(&path);
        // The command line is a program of its own; `lib` names the modules.
        if ["cli", "main", "lib"].contains(&module.as_str()) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        seen += imports(&code(&text)).len();
        for (line, name) in upward(&module, &text, &ranks) {
            let inside = path.strip_prefix(source()).unwrap().display().to_string();
            match KNOWN.iter().position(|known| *known == (&inside, &name)) {
                Some(known) => met.push(known),
                None => wrong.push(format!("src/{inside}:{line} uses {name}")),
            }
        }
    }
    assert!(seen > 500, "{seen} imports were found");
    assert!(
        wrong.is_empty(),
        "imports that go up:\n{}\nMove what both need down, or hand it over as a parameter.",
        wrong.join("\n")
    );
    for (number, known) in KNOWN.iter().enumerate() {
        assert!(
            met.contains(&number),
            "{known:?} is gone: remove it from the list"
        );
    }
}

/// cargo looks for no programs of tests by itself (`autotests` in Cargo.toml), and rustc says
/// nothing of a file that no module names: its tests would never run.
#[test]
fn every_file_of_tests_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tests = root.join("tests");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let mut directories = vec![tests.clone()];
    let mut files = 0;
    while let Some(directory) = directories.pop() {
        let paths = || {
            fs::read_dir(&directory)
                .unwrap()
                .map(|entry| entry.unwrap().path())
        };
        let sources = || paths().filter(|path| path.extension().is_some_and(|ext| ext == "rs"));
        let all: String = sources()
            .map(|path| fs::read_to_string(path).unwrap())
            .collect();
        for path in sources() {
            files += 1;
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let declared = |line: &str| line.trim_start_matches("pub ") == format!("mod {stem};");
            let is_program =
                directory == tests && manifest.contains(&format!("[[test]]\nname = \"{stem}\"\n"));
            // `damage` has a path: it is for one program alone.
            let known = ["main", "mod", "damage"].contains(&stem) || is_program;
            assert!(
                known || all.lines().any(declared),
                "{} is in no program",
                path.display()
            );
        }
        for below in paths().filter(|path| path.is_dir() && !path.ends_with("fixtures")) {
            let name = below.file_name().unwrap().to_str().unwrap();
            let declared = all.lines().any(|line| line == format!("mod {name};"));
            let path = format!("path = \"tests/{name}/main.rs\"");
            assert!(
                declared || manifest.contains(&path),
                "{} is in no program",
                below.display()
            );
            directories.push(below);
        }
    }
    assert!(files > 70, "{files} files");
}

#[test]
fn every_module_has_a_place() {
    let ranks = ranks();
    let text = fs::read_to_string(source().join("lib.rs")).unwrap();
    let declared = text.lines().filter_map(|line| {
        let rest = line.strip_prefix("pub mod ").or(line.strip_prefix("mod "));
        let rest = rest.or(line.strip_prefix("pub(crate) mod "))?;
        rest.strip_suffix(';')
    });
    let declared: Vec<&str> = declared.collect();
    assert!(declared.len() > 20, "{declared:?}");
    for module in &declared {
        assert!(ranks.contains_key(module), "{module} stands in no layer");
    }
    for module in ranks.keys() {
        assert!(declared.contains(module), "{module} is no module");
    }
}

#[test]
fn what_goes_up_is_found_however_it_is_written() {
    let ranks = ranks();
    for text in [
        "use crate::cluster::run;",
        "use crate::cluster;",
        "use crate::{Error, cluster::{self, run}};",
        "use crate::{\n    Error,\n    cluster,\n};",
        "fn f() { crate::cluster::run() }",
        "pub(in crate::cluster) fn f() {}",
        "pub use crate::cluster as c;",
    ] {
        let found = upward("sort", text, &ranks);
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(found[0].1, "cluster", "{text}");
        assert!(upward("report", text, &ranks).is_empty(), "{text}");
    }
    for text in [
        "// crate::cluster::run",
        "/// [`crate::cluster`]",
        "use crate::store;",
        "use mycrate::cluster;",
        "use crate::{Error, merge_cluster};",
        "#[cfg(test)]\nmod tests { use crate::cluster; }",
    ] {
        assert!(upward("sort", text, &ranks).is_empty(), "{text}");
    }
    // Siblings are apart, either way.
    for (module, text) in [
        ("query", "use crate::evaluate::x;"),
        ("evaluate", "use crate::query::x;"),
    ] {
        assert_eq!(upward(module, text, &ranks).len(), 1, "{module}");
    }
}
