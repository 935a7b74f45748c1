//! One direction of dependencies: a crate uses only crates that stand before it in [`CRATES`], and
//! in a crate no module uses, over however many others, a module that uses it. And a size: a crate
//! may only become smaller ([`SIZES`]). And names: one word for one thing ([`REPEATED`]). And
//! comments: sentences with a named noun and a verb ([`HABITS`]).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates from the ground up, and the modules of a crate whose order has a meaning, in this
/// order. A module that is not in the list may use all that are, and none of them may use it. The
/// modules of the other crates only have to be free of circles. A module whose children have an
/// order stands behind them: it names what they offer, and they do not ask it.
const CRATES: &[(&str, &[&str])] = &[
    (
        "base",
        &[
            "keywords",
            "utf8",
            "words",
            "ids",
            "bits",
            "random",
            "rate",
            "numbers",
            "byte_size",
            "resource",
            "error",
            "budget",
            "command",
            "threads",
            "memory",
            "measure",
            "precision",
            "union_find",
            "wide",
            "process",
            "progress",
            "workers",
            "limits",
            "least",
            "ratio",
        ],
    ),
    ("store", &[]),
    ("source", &[]),
    (
        "text",
        &[
            "read::inputs",
            "read::ground",
            "read::look",
            "read::markup",
            "read::web",
            "read::mail",
            "read::json",
            "read::table",
            "read::parquet",
            "read::plain",
            "read::formats",
            "read::interpret",
            "read::reader",
            "read::pieces",
            "read::each",
            "read",
            "parse",
        ],
    ),
    ("rewrite", &[]),
    (
        "engine",
        &[
            "shingle",
            "scan",
            "collection",
            "excluded",
            "sample",
            "sort",
            "index",
            "merge",
            "join",
            "cluster",
            "outputs",
            "pipeline",
            "align",
            "document",
            "trial",
        ],
    ),
    ("methods", &[]),
    (
        "tasks",
        &[
            "query",
            "evaluate",
            "dedup",
            "passages",
            "contamination",
            "distributed",
            "jobs",
            "audit",
            "inspect",
            "plan",
        ],
    ),
    ("lab", &["qrels", "transfer"]),
    ("lookalike", &["report", "facade", "cli"]),
];

/// Modules that do not use each other, either way.
const APART: &[&[&str]] = &[&["tasks::query", "tasks::evaluate", "tasks::dedup"]];

/// The directory of the sources of a crate.
fn source(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    match name {
        "lookalike" => root.join("src"),
        name => root.join("crates").join(name).join("src"),
    }
}

/// The code of a file: without comments, and without the tests at its end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let code = |line: &str| line.split("//").next().unwrap_or(line).to_string() + "\n";
    text.lines().map(code).collect()
}

/// A path in the code, or a module: the names between the colons.
type Names = Vec<String>;

fn names(path: &str) -> Names {
    path.split("::").map(String::from).collect()
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Every path of the code that begins with `crate`, `self`, `super` or the name of a crate of ours,
/// with its line. A list in braces is as many paths as it has elements.
fn paths(code: &str) -> Vec<(usize, Names)> {
    let mut found = Vec::new();
    let crates = CRATES.iter().map(|(name, _)| format!("lookalike_{name}"));
    for first in crates.chain(["crate", "self", "super"].map(String::from)) {
        for (at, _) in code.match_indices(&format!("{first}::")) {
            // `super::super::a` is found at its first name.
            if !code[..at].ends_with(|c: char| is_name(c) || c == ':') {
                let line = code[..at].matches('\n').count() + 1;
                let mut all = Vec::new();
                expand(&code[at..], &mut Names::new(), &mut all);
                found.extend(all.into_iter().map(|path| (line, path)));
            }
        }
    }
    found
}

/// Adds the paths at the start of `text`, each behind the names of `before`, to `out`. Returns the
/// text behind them.
fn expand<'t>(text: &'t str, before: &mut Names, out: &mut Vec<Names>) -> &'t str {
    let mut text = text.trim_start();
    let depth = before.len();
    if let Some(mut list) = text.strip_prefix('{') {
        loop {
            list = expand(list, before, out).trim_start();
            match list.strip_prefix(',') {
                Some(rest) if !rest.trim_start().starts_with('}') => list = rest,
                Some(rest) => return rest.trim_start().strip_prefix('}').unwrap_or(rest),
                None => return list.strip_prefix('}').unwrap_or(list),
            }
        }
    }
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    before.push(text[..end].to_string());
    text = &text[end..];
    match text.strip_prefix("::") {
        Some(rest) if rest.trim_start().starts_with(|c| is_name(c) || c == '{') => {
            text = expand(rest, before, out);
        }
        _ => out.push(before.clone()),
    }
    before.truncate(depth);
    // A list may give an element another name.
    if let Some(renamed) = text.trim_start().strip_prefix("as ") {
        let end = renamed.find(|c| !is_name(c)).unwrap_or(renamed.len());
        text = &renamed[end..];
    }
    text.strip_prefix("::*").unwrap_or(text)
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

/// The module of a file of a crate: the crate, and the names in it; none of `lib.rs`.
fn module(of: &str, path: &Path) -> Names {
    let inside = path.strip_prefix(source(of)).unwrap().with_extension("");
    let parts = inside.iter().map(|part| part.to_str().unwrap().to_string());
    let mut names: Names = [of.to_string()].into_iter().chain(parts).collect();
    if ["mod", "lib", "main"].contains(&names.last().unwrap().as_str()) {
        names.pop();
    }
    names
}

/// The module that a path in `from` leads to: as much of it as is the name of a module.
fn resolve(from: &Names, path: &Names, modules: &BTreeSet<Names>) -> Names {
    let mut at = from.clone();
    for name in path {
        match name.as_str() {
            "crate" => at.truncate(1),
            "self" => {}
            "super" => {
                at.pop();
            }
            name if name.starts_with("lookalike_") => {
                at = Names::from([name["lookalike_".len()..].to_string()]);
            }
            name => {
                at.push(name.to_string());
                if !modules.contains(&at) {
                    at.pop();
                    break;
                }
            }
        }
    }
    at
}

/// One module that uses another, with the place where it does so.
#[derive(Clone, Debug)]
struct Use {
    from: Names,
    to: Names,
    place: String,
}

impl Use {
    fn text(&self) -> String {
        format!("{} uses {}", self.place, self.to.join("::"))
    }
}

/// Returns the modules of the library that a file uses.
fn uses(from: &Names, name: &str, text: &str, modules: &BTreeSet<Names>) -> Vec<Use> {
    let found = paths(&code(text)).into_iter();
    let found = found.map(|(line, path)| Use {
        from: from.clone(),
        to: resolve(from, &path, modules),
        place: format!("{name}:{line}"),
    });
    let mut found: Vec<Use> = found.filter(|used| !used.to.is_empty()).collect();
    found.sort_by(|a, b| (&a.place, &a.to).cmp(&(&b.place, &b.to)));
    found.dedup_by(|a, b| (&a.place, &a.to) == (&b.place, &b.to));
    found
}

/// The modules of the crates, and what each uses.
fn library() -> (BTreeSet<Names>, Vec<Use>) {
    let mut all = Vec::new();
    for (name, _) in CRATES {
        let mut of = Vec::new();
        files(&source(name), &mut of);
        all.extend(of.into_iter().map(|path| (module(name, &path), path)));
    }
    all.sort();
    assert!(all.len() > 150, "{} files", all.len());
    let modules: BTreeSet<Names> = all.iter().map(|(module, _)| module.clone()).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut used = Vec::new();
    // The first file of the library names the crates, and the program is not part of the library.
    for (module, path) in all.iter().filter(|(module, _)| module[..] != ["lookalike"]) {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        let text = fs::read_to_string(path).unwrap();
        used.extend(uses(module, &name, &text, &modules));
    }
    assert!(used.len() > 1500, "{} imports were found", used.len());
    (modules, used)
}

/// The place of a module in [`CRATES`]: of its crate, and in it if that has an order.
fn rank(module: &Names) -> (usize, Option<usize>) {
    let room = CRATES.iter().position(|(name, _)| *name == module[0]);
    let room = room.unwrap_or_else(|| panic!("{} is no crate: see CRATES", module[0]));
    let ordered = CRATES[room].1;
    let is = |known: &&str| module[1..].starts_with(&names(known));
    let place = ordered.iter().position(is).unwrap_or(ordered.len());
    (room, (module.len() > 1).then_some(place))
}

/// Whether it goes up, or between modules that are apart.
fn is_wrong(used: &Use) -> bool {
    let ((from_room, from), (to_room, to)) = (rank(&used.from), rank(&used.to));
    let start = |names: &Names| names.iter().take(2).cloned().collect::<Vec<_>>().join("::");
    let (one, other) = (start(&used.from), start(&used.to));
    let apart = |names: &&[&str]| names.contains(&&*one) && names.contains(&&*other);
    let up = from_room == to_room && from.is_some() && to.is_some() && to > from;
    to_room > from_room || up || one != other && APART.iter().any(apart)
}

#[test]
fn no_module_uses_what_stands_above_it() {
    let (_, used) = library();
    let wrong = used.iter().filter(|used| is_wrong(used)).map(Use::text);
    let wrong: Vec<String> = wrong.collect();
    assert!(
        wrong.is_empty(),
        "imports that go up:\n{}\nMove what both need down, or hand it over as a parameter.",
        wrong.join("\n")
    );
}

/// The circles between the children of each module, where a child has all that is below it. A
/// module and its parent may use each other.
fn circles(used: &[Use]) -> Vec<Vec<Names>> {
    // For each parent: which of its children use which.
    let mut parents: BTreeMap<Names, BTreeMap<Names, BTreeSet<Names>>> = BTreeMap::new();
    for Use { from, to, .. } in used {
        let shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        if shared < from.len() && shared < to.len() {
            let children = parents.entry(from[..shared].to_vec()).or_default();
            let child = children.entry(from[..=shared].to_vec()).or_default();
            child.insert(to[..=shared].to_vec());
        }
    }
    let mut circles = Vec::new();
    for children in parents.values() {
        let reached = |start: &Names| {
            let (mut reached, mut open) = (BTreeSet::new(), vec![start]);
            while let Some(next) = open.pop() {
                let more = children.get(next).into_iter().flatten();
                open.extend(more.filter(|child| reached.insert((*child).clone())));
            }
            reached
        };
        let mut known = BTreeSet::new();
        for child in children.keys() {
            let of_child = reached(child);
            if of_child.contains(child) && !known.contains(child) {
                let back = |other: &&Names| reached(other).contains(child);
                let circle: Vec<Names> = of_child.iter().filter(back).cloned().collect();
                known.extend(circle.clone());
                circles.push(circle);
            }
        }
    }
    circles
}

/// A circle, and a place of each arrow in it.
fn tie(circle: &[String], used: &[Use]) -> String {
    let child = |names: &Names| {
        let name = names.join("::") + "::";
        circle
            .iter()
            .position(|one| name.starts_with(&format!("{one}::")))
    };
    let mut arrows = BTreeMap::new();
    for used in used {
        if let (Some(from), Some(to)) = (child(&used.from), child(&used.to))
            && from != to
        {
            arrows.entry((from, to)).or_insert(used);
        }
    }
    let places: Vec<String> = arrows.values().map(|used| used.text()).collect();
    format!("a circle of {}:\n{}", circle.join(", "), places.join("\n"))
}

#[test]
fn no_modules_use_each_other_in_a_circle() {
    let (_, used) = library();
    let circles: Vec<String> = circles(&used)
        .iter()
        .map(|circle| {
            let circle: Vec<String> = circle.iter().map(|names| names.join("::")).collect();
            tie(&circle, &used)
        })
        .collect();
    assert!(
        circles.is_empty(),
        "{}\nMove what the modules of a circle need into one below them.",
        circles.join("\n\n")
    );
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
    let (modules, _) = library();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let there = fs::read_dir(root.join("crates")).unwrap();
    let mut there: BTreeSet<String> = there
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.insert("lookalike".into());
    let known = CRATES.iter().map(|(name, _)| name.to_string());
    assert_eq!(there, known.collect());
    for (name, ordered) in CRATES {
        for module in *ordered {
            let path = format!("{name}::{module}");
            assert!(modules.contains(&names(&path)), "{path}");
        }
    }
}

#[test]
fn what_goes_up_is_found_however_it_is_written() {
    let (modules, _) = library();
    let wrong = |module: &str, text: &str| -> Vec<Names> {
        let used = uses(&names(module), "made.rs", text, &modules);
        let wrong = used.into_iter().filter(is_wrong);
        wrong.map(|used| used.to).collect()
    };
    for text in [
        "use crate::cluster::run;",
        "use crate::cluster;",
        "use crate::{Error, sample, cluster::{self, run}};",
        "use crate::{\n    Error,\n    cluster,\n};",
        "use lookalike_engine::{cluster as c, sample};",
        "use super::{super::cluster::run, Form};",
        "fn f() { lookalike_engine::cluster::run() }",
        "macro_rules! m { () => { $crate::cluster::run() } }",
        "pub(in crate::cluster) fn f() {}",
        "pub use crate::cluster as c;",
    ] {
        assert_eq!(
            wrong("engine::sort::form", text),
            [names("engine::cluster")],
            "{text}"
        );
        let below = text.replace("crate", "lookalike_engine");
        let below = below.replace("super::{super::", "lookalike_engine::{");
        assert!(wrong("tasks::query", &below).is_empty(), "{below}");
    }
    for text in [
        "// crate::cluster::run",
        "/// [`crate::cluster`]",
        "use lookalike_store as store;",
        "use mycrate::cluster;",
        "use crate::{Error, merge_cluster};",
        "#[cfg(test)]\nmod tests { use crate::cluster; }",
    ] {
        assert!(wrong("engine::sort", text).is_empty(), "{text}");
    }
    // Apart, either way.
    for (module, text) in [
        ("tasks::query", "use crate::evaluate::list;"),
        ("tasks::evaluate::list", "use crate::query::batch;"),
    ] {
        assert_eq!(wrong(module, text).len(), 1, "{module}");
    }
}

#[test]
fn circles_are_found_over_other_modules() {
    let found = |arrows: &[(&str, &str)]| -> Vec<String> {
        let used = arrows.iter().map(|(from, to)| Use {
            from: names(from),
            to: names(to),
            place: String::new(),
        });
        let circles = circles(&used.collect::<Vec<_>>());
        let text = |circle: &Vec<Names>| {
            let names: Vec<String> = circle.iter().map(|names| names.join("::")).collect();
            names.join(" ")
        };
        circles.iter().map(text).collect()
    };
    assert_eq!(
        found(&[("a::b", "a::c"), ("a::c", "a::d"), ("a::d", "a::b")]),
        ["a::b a::c a::d"]
    );
    assert_eq!(
        found(&[("a::b::c", "a::d"), ("a::d", "a::b::e")]),
        ["a::b a::d"]
    );
    // Parents and children, and what only uses a circle.
    assert!(found(&[("a::b", "a"), ("a", "a::b"), ("a::b", "a::c")]).is_empty());
    assert_eq!(
        found(&[("a::b", "a::c"), ("a::c", "a::b"), ("a::d", "a::b")]),
        ["a::b a::c"]
    );
}

/// A crate and its size.
type Row = (&'static str, [usize; 3]);

/// The size of each crate: lines of code, without comments and tests; functions of more than 80 of
/// these lines; public items. It only falls: a crate above its line fails, and so does one with
/// fewer lines than [`SLACK`] allows, until the new numbers stand here. A crate that needs more
/// takes it from another crate, in the same commit.
const SIZES: &[Row] = &[
    ("base", [3370, 0, 334]),
    ("store", [7734, 1, 607]),
    ("source", [2909, 0, 65]),
    ("text", [21937, 8, 573]),
    ("rewrite", [2915, 0, 139]),
    ("engine", [22549, 7, 1304]),
    ("methods", [3072, 0, 95]),
    ("tasks", [21637, 12, 1148]),
    ("lab", [10680, 2, 593]),
    ("lookalike", [12622, 4, 356]),
];

/// A crate may be smaller than its line by one part of this.
const SLACK: usize = 50;

/// The text of a program in which comments, and what stands in strings, are spaces.
fn bare(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let end = if rest.starts_with("//") {
            at + rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            at + rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(hashes) = raw_string(text, at) {
            let close = format!("\"{}", "#".repeat(hashes));
            let start = at + 2 + hashes;
            start + text[start..].find(&close).unwrap() + close.len()
        } else if rest.starts_with('"') {
            let mut end = at + 1;
            while bytes[end] != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            end + 1
        } else if let Some(length) = character(rest) {
            at + length
        } else {
            at += rest.chars().next().unwrap().len_utf8();
            continue;
        };
        // A string is code, so its lines have something left.
        let keep = if rest.starts_with('/') { b' ' } else { b'.' };
        for byte in &mut out[at..end] {
            if *byte != b'\n' {
                *byte = keep;
            }
        }
        at = end;
    }
    String::from_utf8(out).unwrap()
}

/// The number of `#` of the raw string that begins here.
fn raw_string(text: &str, at: usize) -> Option<usize> {
    let rest = text[at..].strip_prefix('r')?;
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    let before = text[..at].chars().next_back();
    let alone = !before.is_some_and(|c| is_name(c) && c != 'b');
    (alone && rest[hashes..].starts_with('"')).then_some(hashes)
}

/// The bytes of the character literal that begins here. A lifetime is none.
fn character(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('\'')?;
    let first = inside.chars().next()?;
    let length = match first {
        '\\' => 1 + inside[1..].chars().next()?.len_utf8() + inside[2..].find('\'')?,
        _ => first.len_utf8(),
    };
    inside[length..].starts_with('\'').then_some(length + 2)
}

/// The place behind the braces that open first.
fn behind_braces(code: &str) -> usize {
    let mut depth = 0;
    for (at, c) in code.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 && (c == '}' || c == ';') {
            return at + 1;
        }
    }
    code.len()
}

/// Code without the items that only tests have.
fn without_tests(mut code: String) -> String {
    while let Some(at) = code.find("#[cfg(test)]") {
        let end = at + behind_braces(&code[at..]);
        code.replace_range(at..end, "");
    }
    code
}

fn lines(code: &str) -> usize {
    code.lines().filter(|line| !line.trim().is_empty()).count()
}

fn size(name: &str) -> [usize; 3] {
    let mut all = Vec::new();
    files(&source(name), &mut all);
    let mut size = [0; 3];
    for path in all.iter().filter(|path| !path.ends_with("tests.rs")) {
        let code = without_tests(bare(&fs::read_to_string(path).unwrap()));
        size[0] += lines(&code);
        let functions = code.match_indices("fn ").filter(|(at, _)| {
            !code[..*at].ends_with(is_name) && code[at + 3..].starts_with(is_name)
        });
        let long = |at: &usize| lines(&code[*at..][..behind_braces(&code[*at..])]) > 80;
        size[1] += functions.map(|(at, _)| at).filter(long).count();
        let public = |line: &&str| line.trim_start().starts_with("pub ");
        size[2] += code.lines().filter(public).count();
    }
    size
}

#[test]
fn no_crate_grows() {
    let sizes: Vec<Row> = CRATES.iter().map(|(name, _)| (*name, size(name))).collect();
    let fits = |(now, known): (&Row, &Row)| {
        let up = now.1.iter().zip(&known.1).any(|(now, most)| now > most);
        now.0 == known.0 && !up && now.1[0] >= known.1[0] - known.1[0] / SLACK
    };
    let rows = sizes
        .iter()
        .map(|(name, size)| format!("    (\"{name}\", {size:?}),\n"));
    assert!(
        sizes.len() == SIZES.len() && sizes.iter().zip(SIZES).all(fits),
        "a crate grew, or is smaller than its line in SIZES. Take what it grew by from somewhere. \
         The sizes are now:\n{}",
        rows.collect::<String>()
    );
}

#[test]
fn lines_of_code_are_counted() {
    let text = "//! Page\n\nuse a; // why\n/* no\ncode */\nfn f<'a>(x: &'a str) -> char {\n    \
                let s = \"{ // \\\" \";\n    let r = r#\"\n{ \"\n\"#;\n    '{'\n}\n\n#[cfg(test)]\n\
                mod tests {\n    fn g() {}\n}\n";
    let code = without_tests(bare(text));
    assert_eq!(lines(&code), 8, "{code}");
    assert_eq!(lines(&code[code.find("fn").unwrap()..]), 7, "{code}");
}

/// Names of types that the crates use more than twice, with how often. One word should stand for one
/// thing, so no other name gets into the list, and a number only falls.
const REPEATED: &[(&str, usize)] = &[
    ("Options", 27),
    ("State", 10),
    ("Kind", 8),
    ("Place", 8),
    ("Rows", 8),
    ("Source", 8),
    ("Column", 7),
    ("Member", 7),
    ("Named", 7),
    ("Columns", 6),
    ("Found", 6),
    ("Kept", 6),
    ("Known", 6),
    ("Line", 6),
    ("Lines", 6),
    ("Names", 6),
    ("Search", 6),
    ("Texts", 6),
    ("Compared", 5),
    ("Counts", 5),
    ("Documents", 5),
    ("Facts", 5),
    ("Group", 5),
    ("Held", 5),
    ("Listed", 5),
    ("Out", 5),
    ("Pair", 5),
    ("Part", 5),
    ("Run", 5),
    ("Step", 5),
    ("Table", 5),
    ("Task", 5),
    ("Worker", 5),
    ("Block", 4),
    ("Blocks", 4),
    ("Cell", 4),
    ("Entry", 4),
    ("Field", 4),
    ("Fields", 4),
    ("Form", 4),
    ("Head", 4),
    ("Layout", 4),
    ("Level", 4),
    ("List", 4),
    ("Look", 4),
    ("Match", 4),
    ("Output", 4),
    ("Piece", 4),
    ("Places", 4),
    ("Ranked", 4),
    ("Side", 4),
    ("Text", 4),
    ("Value", 4),
    ("Walk", 4),
    ("Window", 4),
    ("Asked", 3),
    ("Before", 3),
    ("Choice", 3),
    ("Chosen", 3),
    ("Chunks", 3),
    ("Classes", 3),
    ("Copies", 3),
    ("Copy", 3),
    ("Cuts", 3),
    ("Cutter", 3),
    ("Done", 3),
    ("Failure", 3),
    ("Format", 3),
    ("Header", 3),
    ("Keys", 3),
    ("Left", 3),
    ("Levels", 3),
    ("Limits", 3),
    ("Lists", 3),
    ("Made", 3),
    ("Mark", 3),
    ("Marks", 3),
    ("Measured", 3),
    ("Members", 3),
    ("Memory", 3),
    ("Open", 3),
    ("Outcome", 3),
    ("Outputs", 3),
    ("Page", 3),
    ("Parts", 3),
    ("Pieces", 3),
    ("Placed", 3),
    ("Ranks", 3),
    ("Reading", 3),
    ("Scan", 3),
    ("Scope", 3),
    ("Shape", 3),
    ("Share", 3),
    ("Shared", 3),
    ("Stop", 3),
    ("Stretch", 3),
    ("Values", 3),
    ("Waiting", 3),
    ("Wanted", 3),
];

/// How often each name of a type is used.
fn types() -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for (name, _) in CRATES {
        let mut of = Vec::new();
        files(&source(name), &mut of);
        for path in of {
            let text = fs::read_to_string(path).unwrap();
            for line in code(&text).lines() {
                let words = line.split_whitespace();
                let words: Vec<_> = words.skip_while(|word| word.starts_with("pub")).collect();
                if let ["struct" | "enum" | "trait", name, ..] = words[..] {
                    let name = name.split(|c| !is_name(c)).next().unwrap_or_default();
                    *counts.entry(name.to_string()).or_default() += 1;
                }
            }
        }
    }
    counts
}

#[test]
fn no_name_of_a_type_is_used_more_often() {
    let more: Vec<_> = (types().into_iter())
        .filter(|(name, count)| {
            let stated = REPEATED.iter().find(|(repeated, _)| repeated == name);
            *count > stated.map_or(2, |(_, most)| *most)
        })
        .collect();
    assert!(
        more.is_empty(),
        "give the new type a name of its own: {more:?}"
    );
}

/// Habits of comments in the `src` directories of the crates, with how often they are left: a
/// sentence that begins with "What", and phrases that hide their noun. A number only falls.
const HABITS: [(&str, usize); 3] = [("What", 3), ("is no, are no", 1), ("one that", 9)];

/// The comments of a source text, each paragraph on one line; trailing comments are left out.
fn comments(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for line in text.lines() {
        let comment = line.trim_start().strip_prefix("//").unwrap_or_default();
        match comment.trim_start_matches(['/', '!']).trim() {
            "" => all.push(String::new()),
            words => all.last_mut().unwrap().extend([words, " "]),
        }
    }
    all
}

#[test]
fn comments_have_no_more_bad_habits() {
    let mut counts = [0; HABITS.len()];
    for (name, _) in CRATES {
        let mut of = Vec::new();
        files(&source(name), &mut of);
        let texts = of.iter().map(|path| fs::read_to_string(path).unwrap());
        for comment in texts.flat_map(|text| comments(&text)) {
            let count = |phrase: &str| comment.matches(phrase).count();
            let begins = usize::from(comment.starts_with("What "));
            counts[0] += begins + count(". What ") + count("? What ") + count("! What ");
            counts[1] += count(" is no ") - count("here is no ");
            counts[1] += count(" are no ") - count("here are no ");
            counts[2] += count(" one that ");
        }
    }
    for ((habit, most), count) in HABITS.iter().zip(counts) {
        assert_eq!(count, *most, "{habit:?}");
    }
}
