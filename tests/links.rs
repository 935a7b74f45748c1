//! Every relative link of the pages leads to a file that exists, and every `#anchor` to a heading
//! of it. Every page of `docs/` is in the contents of the book, `docs/SUMMARY.md`. Figures that the
//! README repeats are the ones of `docs/measurements.md`.
//!
//! `scripts/docs.sh` checks the links of the built site as well. This test needs no other program.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Component, Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The Markdown files in a directory.
fn markdown(directory: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(directory)).unwrap();
    let paths = entries.map(|entry| Path::new(directory).join(entry.unwrap().file_name()));
    let mut pages: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    pages.sort();
    pages
}

/// The pages below `docs/`.
fn docs() -> Vec<PathBuf> {
    ["docs", "docs/guide", "docs/laboratory"]
        .map(markdown)
        .concat()
}

/// The lines of a page that are not code, without their code spans.
fn prose(page: &str) -> String {
    let (mut text, mut fenced) = (String::new(), false);
    for line in page.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !line.starts_with("    ") {
            // A code span may begin in one line and end in the next.
            text += line;
            text.push('\n');
        }
    }
    text.split('`').step_by(2).collect()
}

/// The targets of links and pictures in a page.
fn targets(page: &str) -> Vec<String> {
    let text = prose(page);
    let marks = [("](", ')'), ("src=\"", '"'), ("srcset=\"", '"')];
    let mut targets = Vec::new();
    for (mark, end) in marks {
        for after in text.split(mark).skip(1) {
            targets.push(after.split(end).next().unwrap_or_default().to_string());
        }
    }
    targets
}

/// The anchor of a heading, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    // Of a link the text counts.
    let mut text = String::new();
    for (i, part) in heading.split("](").enumerate() {
        let rest = if i == 0 {
            part
        } else {
            part.split_once(')').map_or("", |(_, rest)| rest)
        };
        text += rest;
    }
    let kept = text.trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        _ => c.is_alphanumeric().then_some(c),
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// The anchors of all headings of a page. A heading that is repeated gets a number.
fn anchors(page: &str) -> BTreeSet<String> {
    let (mut anchors, mut fenced) = (BTreeSet::new(), false);
    let mut seen: HashMap<String, usize> = HashMap::new();
    for line in page.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        let heading = line.trim_start_matches('#');
        if fenced || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let name = anchor(heading);
        let times = seen.entry(name.clone()).or_default();
        anchors.insert(match *times {
            0 => name,
            n => format!("{name}-{n}"),
        });
        *times += 1;
    }
    anchors
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Lists the broken links of a page.
fn broken(path: &Path, page: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for target in targets(page) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (file, name) = target.split_once('#').unwrap_or((&target, ""));
        let to = if file.is_empty() {
            path.to_path_buf()
        } else {
            plain(&path.parent().unwrap().join(file))
        };
        let found = root().join(&to);
        let named =
            || name.is_empty() || anchors(&fs::read_to_string(&found).unwrap()).contains(name);
        if !found.is_file() || !named() {
            wrong.push(format!("{}: {target}", path.display()));
        }
    }
    wrong
}

#[test]
fn links_lead_somewhere() {
    let others = [
        "README",
        "ARCHITECTURE",
        "CONTRIBUTING",
        "FORMAT",
        "CHANGELOG",
    ];
    let others = others.map(|name| PathBuf::from(format!("{name}.md")));
    let more = ["python/README.md", "sample-corpora/README.md"].map(PathBuf::from);
    let pages = docs().into_iter().chain(others).chain(more);
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for path in pages {
        let page = fs::read_to_string(root().join(&path)).unwrap();
        checked += targets(&page).len();
        wrong.extend(broken(&path, &page));
    }
    assert!(wrong.is_empty(), "broken links:\n{}", wrong.join("\n"));
    assert!(checked > 200, "only {checked} links were found");
}

/// Half of what they once were: a page that needs more words takes them from another one.
#[test]
fn the_pages_have_at_most_70_000_words() {
    let pages = docs().into_iter().chain(markdown(""));
    let words = pages
        .chain([PathBuf::from("python/README.md")])
        .map(|path| {
            let page = fs::read_to_string(root().join(path)).unwrap();
            page.split_whitespace().count()
        });
    let words: usize = words.sum();
    assert!((60_000..=70_000).contains(&words), "{words} words");
}

#[test]
fn the_book_has_every_page() {
    let contents = Path::new("docs/SUMMARY.md");
    let summary = fs::read_to_string(root().join(contents)).unwrap();
    let listed = targets(&summary);
    let paths: BTreeSet<_> = listed
        .iter()
        .map(|target| plain(&contents.parent().unwrap().join(target)))
        .collect();
    assert_eq!(paths.len(), listed.len(), "a page is listed twice");
    let missing: Vec<_> = docs()
        .into_iter()
        .filter(|page| page != contents && !paths.contains(page))
        .collect();
    assert!(missing.is_empty(), "not in docs/SUMMARY.md: {missing:?}");
}

/// The rows of the table of a page that has this header.
fn rows<'a>(page: &'a str, header: &str) -> Vec<&'a str> {
    let after = page.lines().skip_while(|line| *line != header);
    let rows = after.take_while(|line| line.starts_with('|')).skip(2);
    rows.collect()
}

/// The words right before each place in a page that says these words.
fn before<'a>(page: &'a str, words: &str) -> Vec<&'a str> {
    let pieces: Vec<_> = page.split(words).collect();
    let before = pieces[..pieces.len() - 1].iter();
    before
        .map(|piece| piece.rsplit(' ').next().unwrap())
        .collect()
}

/// A page as one line.
fn one_line(page: &str) -> String {
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_readme_has_the_figures_of_the_measurements() {
    const PEERS: &str = "| program | CPU s | peak MiB | precision | recall |";
    const CRAWL: &str = " seconds on two cores with `--memory 2GiB`";
    const MISSED: &str = "rensa's pairs have a precision of 0.";
    let read = |page: &Path| fs::read_to_string(root().join(page)).unwrap();
    let (readme, measured) = ("README.md", "docs/measurements.md");
    let [readme, measured] = [readme, measured].map(|page| read(Path::new(page)));
    let expected = rows(&measured, PEERS);
    assert_eq!(rows(&readme, PEERS), expected);
    assert!(expected.len() > 1);

    let [readme, measured] = [readme, measured].map(|page| one_line(&page));
    let after = |page: &str| {
        let (_, after) = page.split_once(MISSED).unwrap();
        after.split_once(". ").unwrap().0.to_string()
    };
    assert_eq!(after(&readme), after(&measured));

    let seconds = before(&measured, CRAWL);
    assert_eq!((seconds.len(), before(&readme, CRAWL).len()), (1, 1));
    for path in docs().into_iter().chain(["README.md".into()]) {
        for told in before(&one_line(&read(&path)), CRAWL) {
            assert_eq!(told, seconds[0], "{}: {told}{CRAWL}", path.display());
        }
    }
}

#[test]
fn a_broken_link_is_found() {
    let good = "[y](docs/README.md) `[z](no.md)`\n```text\n[z](no.md)\n```\n[f](FORMAT.md)\n";
    assert_eq!(broken(Path::new("README.md"), good), [""; 0]);
    let bad = "[`p`](docs/none.md) [q](FORMAT.md#nothing) <img src=\"no.png\">";
    let expected =
        ["docs/none.md", "FORMAT.md#nothing", "no.png"].map(|to| format!("README.md: {to}"));
    assert_eq!(broken(Path::new("README.md"), bad), expected);
}

#[test]
fn anchors_are_as_browsers_see_them() {
    let page = "# Pairs of [A](b.md) & `--flag`\n## Twice\n## Twice\n```sh\n# no\n```\n#no\n";
    let expected = ["pairs-of-a----flag", "twice", "twice-1"];
    assert_eq!(anchors(page), expected.map(String::from).into());
}
