//! The report page: what it shows is what was found, and nothing of a document is ever markup.

use crate::common;
use lookalike::Error;
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::pipeline;
use lookalike::engine::pipeline::Summary;
use lookalike::methods::{self, Spec};
use lookalike::report::page::{self, MEMBERS_SHOWN, PageConfig, PageStats};

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use common::Run;
use html5gum::{Token, Tokenizer};

/// Writes the page of a directory.
fn report(run: &Run, out: &Path, config: &PageConfig) -> Result<(String, PageStats), Error> {
    let workspace = pipeline::open(out)?;
    let stop = Stop::default();
    let path = out.join("report.html");
    let stats = page::write(&workspace, config, &path, &run.context(&stop, &Silent))?;
    Ok((fs::read_to_string(path).unwrap(), stats))
}

/// The page, taken apart: its text, and every element it has with its attributes.
struct Parsed {
    text: String,
    elements: BTreeSet<String>,
    attributes: Vec<(String, String, String)>,
}

/// The text of every element of this name without attributes, or with these; and the rest.
fn take_out(page: &str, open: &str, close: &str) -> (Vec<String>, String) {
    let (mut taken, mut rest, mut from) = (Vec::new(), String::new(), page);
    while let Some((before, after)) = from.split_once(open) {
        let (content, after) = after.split_once(close).unwrap();
        taken.push(content.to_string());
        rest.push_str(before);
        from = after;
    }
    rest.push_str(from);
    (taken, rest)
}

/// The data that a page has for its script, if it has one.
fn data_of(page: &str) -> Option<serde_json::Value> {
    let open = "<script type=\"application/json\" id=\"data\">";
    let (data, _) = take_out(page, open, "</script>");
    assert!(data.len() <= 1);
    let data = data.first()?;
    assert!(!data.contains(['<', '>', '&', '\u{2028}', '\u{2029}']));
    Some(serde_json::from_str(data).unwrap())
}

/// The page without its script and the data for it. Its policy must allow its own style and script,
/// by their digests, and nothing else.
fn without_scripts(page: &str) -> String {
    let digest = |text: &str| format!("'sha256-{}'", base64(&sha256(text.as_bytes())));
    let (_, rest) = take_out(
        page,
        "<script type=\"application/json\" id=\"data\">",
        "</script>",
    );
    let (scripts, rest) = take_out(&rest, "<script>", "</script>");
    let (styles, _) = take_out(&rest, "<style>", "</style>");
    assert!(styles.len() == 1 && scripts.len() <= 1);
    let mut policy = format!("default-src 'none'; style-src {}", digest(&styles[0]));
    if let Some(script) = scripts.first() {
        assert!(script.len() < 20_000);
        policy += &format!("; script-src {}", digest(script));
    }
    policy += "; base-uri 'none'; form-action 'none'";
    let expected = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">");
    assert!(rest.contains(&expected), "{expected}");
    assert_eq!(rest.matches("http-equiv").count(), 1);
    assert!(!rest.contains("<script") && !rest.contains("</script"));
    rest
}

/// Takes a page apart and checks that its elements are nested as they should be.
fn parse(page: &str) -> Parsed {
    let page = &without_scripts(page);
    let mut parsed = Parsed {
        text: String::new(),
        elements: BTreeSet::new(),
        attributes: Vec::new(),
    };
    let mut open: Vec<String> = Vec::new();
    let utf8 = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    for token in Tokenizer::new(page) {
        match token.unwrap() {
            Token::StartTag(tag) => {
                let name = utf8(&tag.name);
                for (attribute, value) in &tag.attributes {
                    let attribute = (name.clone(), utf8(attribute), utf8(value));
                    parsed.attributes.push(attribute);
                }
                if !tag.self_closing && !["meta", "br", "img", "input"].contains(&name.as_str()) {
                    open.push(name.clone());
                }
                parsed.elements.insert(name);
            }
            Token::EndTag(tag) => assert_eq!(open.pop(), Some(utf8(&tag.name))),
            Token::String(text) => parsed.text.push_str(&utf8(&text)),
            Token::Comment(comment) => panic!("a comment: {comment:?}"),
            Token::Doctype(_) => {}
            Token::Error(error) => panic!("{error:?}"),
        }
    }
    assert_eq!(open, Vec::<String>::new(), "elements left open");
    parsed
}

/// How the address of every image begins: browsers run no script of what is loaded by it.
const IMAGE: &str = "data:image/svg+xml;base64,";

/// Only elements and attributes that the page itself writes, and no address but of the web.
fn assert_harmless(page: &str) -> Parsed {
    assert_harmless_in(page, &[])
}

/// The same, for one of several pages that link to each other.
fn assert_harmless_in(page: &str, pages: &[&str]) -> Parsed {
    let parsed = parse(page);
    let known = "html head meta title style body header h1 nav a main section ul li b span p h2 h3 div \
                 table caption thead tbody tr th td figure figcaption svg text rect img details summary \
                 strong bdi br del ins code footer label input select option button";
    let known: BTreeSet<&str> = known.split_whitespace().collect();
    for element in &parsed.elements {
        assert!(known.contains(element.as_str()), "<{element}>");
    }
    for (element, attribute, value) in &parsed.attributes {
        match attribute.as_str() {
            "href" => assert!(
                ["#", "http://", "https://"]
                    .iter()
                    .chain(pages)
                    .any(|start| value.to_lowercase().starts_with(start)),
                "{value}"
            ),
            "rel" => assert_eq!(value, "noopener noreferrer nofollow"),
            "src" => {
                assert_eq!(element, "img");
                assert!(value.starts_with(IMAGE), "{value}");
            }
            "alt" => assert_eq!(element, "img"),
            "type" | "min" | "step" | "value" | "autocomplete" | "spellcheck" => {
                assert!(["input", "option", "button"].contains(&element.as_str()));
            }
            "tabindex" => assert_eq!(value, "0"),
            "hidden" | "aria-hidden" => {}
            "preserveAspectRatio" | "preserveaspectratio" => assert_eq!(element, "svg"),
            "class" | "id" | "lang" | "charset" | "name" | "content" | "http-equiv" | "scope"
            | "role" | "aria-label" | "dir" | "open" => {}
            "viewBox" | "viewbox" | "x" | "y" | "width" | "height" | "text-anchor" => {
                assert!(["svg", "rect", "text"].contains(&element.as_str()));
            }
            other => panic!("<{element} {other}={value:?}>"),
        }
    }
    for c in page.chars() {
        let bidi = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        assert!(!bidi && (c == '\n' || !c.is_control()), "{c:?}");
    }
    parsed
}

fn numbered(from: usize, to: usize) -> String {
    (from..to).map(|n| format!("w{n} ")).collect()
}

/// A directory with one file of JSON lines.
struct Corpus {
    directory: tempfile::TempDir,
}

impl Corpus {
    fn new(documents: &[serde_json::Value]) -> Corpus {
        let directory = common::temporary();
        let lines: String = documents.iter().map(|line| format!("{line}\n")).collect();
        fs::create_dir(directory.path().join("in")).unwrap();
        fs::write(directory.path().join("in/a.jsonl"), lines).unwrap();
        Corpus { directory }
    }

    fn input(&self) -> PathBuf {
        self.directory.path().join("in")
    }

    fn out(&self) -> PathBuf {
        self.directory.path().join("out")
    }

    fn run(&self, run: &Run) -> lookalike::engine::pipeline::Summary {
        run.run(&[&self.input()], &self.out()).unwrap()
    }
}

fn document(id: &str, text: &str) -> serde_json::Value {
    serde_json::json!({"id": id, "text": text})
}

/// Two documents of which each has one word that the other has not.
fn two() -> Corpus {
    Corpus::new(&[
        document(
            "one",
            &format!("{}Before, {}", numbered(0, 100), numbered(100, 300)),
        ),
        document(
            "two",
            &format!("{}Behind. {}", numbered(0, 100), numbered(100, 300)),
        ),
    ])
}

/// So many documents, of which all are more or less alike.
fn many(n: usize) -> Corpus {
    let documents: Vec<_> = (0..n)
        .map(|i| {
            document(
                &format!("d{i}"),
                &format!("{}{}", numbered(0, 200), numbered(1000, 1000 + i)),
            )
        })
        .collect();
    Corpus::new(&documents)
}

#[test]
fn what_documents_say_stays_text() {
    let hostile = "<script>alert(1)</script> </title></style> \" onmouseover=\"alert(2) ' </bdi></div>\
                   </details> <!-- &lt; &#x3c; ]]> <img src=x onerror=alert(3)> a\u{0}b \u{202e}evil\u{202c} \
                   \u{2066}x\u{2069} \u{200f}y \u{85} ";
    let text = |word: &str| {
        format!(
            "{hostile}{}{word} {hostile}{}",
            numbered(0, 100),
            numbered(100, 200)
        )
    };
    let corpus = Corpus::new(&[
        serde_json::json!({"id": "<img src=x onerror=alert(4)>", "url": "javascript:alert(5)",
            "title": "</title><script>alert(6)</script>", "text": text("first")}),
        serde_json::json!({"id": "\"><svg onload=alert(7)>", "title": "' onclick='alert(8)",
            "url": "https://e.example/?a=\"onclick=alert(9)&b='<x>", "text": text("second")}),
        serde_json::json!({"id": "a\u{202e}b\u{0}c", "url": "data:text/html,<script>alert(10)</script>",
            "text": text("first")}),
        serde_json::json!({"id": "p", "url": "HTTP://e.example/\u{202e}x",
            "html": format!("<title>T&lt;b&gt;</title><p>{}", text("third").replace('<', "&lt;"))}),
    ]);
    let run = Run::default().threshold("0.7");
    let summary = corpus.run(&run);
    assert!(summary.join.unwrap().pairs >= 1);
    let (page, stats) = report(&run, &corpus.out(), &PageConfig::default()).unwrap();
    assert_eq!(stats.missing, 0);
    let parsed = assert_harmless(&page);
    // All of it can be read, nothing was lost on the way.
    for said in [
        "<img src=x onerror=alert(4)>",
        "javascript:alert(5)",
        "</title><script>alert(6)</script>",
        "\"><svg onload=alert(7)>",
        "' onclick='alert(8)",
        "https://e.example/?a=\"onclick=alert(9)&b='<x>",
        "<script>alert(1)</script> </title></style> \" onmouseover=\"alert(2) '",
        "aU+202Eb\u{fffd}c",
        "U+202EevilU+202C U+2066xU+2069 U+200Fy",
    ] {
        assert!(parsed.text.contains(said), "{said}");
    }
    let links: BTreeSet<&str> = parsed
        .attributes
        .iter()
        .filter(|(_, name, value)| name == "href" && !value.starts_with('#'))
        .map(|(_, _, value)| value.as_str())
        .collect();
    let only = "https://e.example/?a=\"onclick=alert(9)&b='<x>";
    assert_eq!(links.into_iter().collect::<Vec<_>>(), [only]);
    // The data for the script has the same names, as they are.
    let data = data_of(&page).unwrap();
    let members = data["clusters"][0][3].as_array().unwrap();
    let member = |docno: &str| members.iter().find(|member| member[1] == docno).unwrap();
    let hostile_member = member("<img src=x onerror=alert(4)>");
    assert_eq!(hostile_member[7], "</title><script>alert(6)</script>");
    assert_eq!(hostile_member[8], "javascript:alert(5)");
    assert!(
        hostile_member[10]
            .as_str()
            .unwrap()
            .starts_with("<script>alert(1)</script> </title>")
    );
    member("a\u{202e}b\u{0}c");

    // The page of two documents has the same texts, and the same rules.
    let path = corpus.directory.path().join("two.html");
    let compared = std::process::Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .arg("diff")
        .arg(corpus.out())
        .args(["a.jsonl:1", "a.jsonl:2", "--length", "2", "--full", "-o"])
        .arg(&path)
        .output()
        .unwrap();
    assert!(compared.status.success(), "{compared:?}");
    let page = fs::read_to_string(path).unwrap();
    let parsed = assert_harmless(&page);
    for said in [
        "<img src=x onerror=alert(4)>",
        "javascript:alert(5)",
        "\"><svg onload=alert(7)>",
        "<script>alert(1)</script> </title></style> \" onmouseover=\"alert(2) '",
        "U+202EevilU+202C U+2066xU+2069 U+200Fy",
    ] {
        assert!(parsed.text.contains(said), "{said}");
    }
    assert!(page.contains("<del>first</del>") && page.contains("<ins>second</ins>"));
}

#[test]
fn both_texts_are_shown_with_what_differs() {
    let corpus = two();
    let run = Run::default();
    corpus.run(&run);
    let (page, stats) = report(&run, &corpus.out(), &PageConfig::default()).unwrap();
    assert_eq!((stats.pairs, stats.missing), (1, 0));
    assert_harmless(&page);
    // The first text has also what is only in the second, for narrow screens.
    for marked in [
        "<del>Before,</del><ins class=\"also\">Behind.</ins>",
        "<ins>Behind.</ins>",
    ] {
        let expected = format!("w98 w99 </span>{marked} <span class=\"same\">w100 w101 ");
        assert_eq!(page.matches(&expected).count(), 1, "{expected}");
    }
    // What is alike is folded, and counted.
    assert!(
        page.contains("… 85\u{a0}words in common …")
            && page.contains("… 185\u{a0}words in common …")
    );
    // It can be unfolded, and is there once on each side.
    assert!(page.matches("w50 ").count() == 2 && page.matches("w250 ").count() == 2);
    let folded = page.split("<details class=\"fold\">").skip(1);
    let folded: Vec<&str> = folded
        .map(|part| part.split("</details>").next().unwrap())
        .collect();
    assert!(folded[0].contains("w50 ") && folded[1].contains("w250 "));
}

#[test]
fn numbers_are_those_of_the_summary() {
    let directory = common::temporary();
    let out = directory.path().join("out");
    let run = Run::default();
    run.run(&[&common::sample_corpora("trec-web")], &out)
        .unwrap();
    let (page, _) = report(&run, &out, &PageConfig::default()).unwrap();
    let parsed = assert_harmless(&page);
    let summary: serde_json::Value =
        serde_json::from_slice(&fs::read(out.join("summary.json")).unwrap()).unwrap();
    let number = |pointer: &str| summary.pointer(pointer).unwrap().as_u64().unwrap();
    let [documents, exact, redundant] = [
        "/catalogue/documents",
        "/catalogue/exact_duplicates",
        "/cluster/redundant",
    ]
    .map(number);
    for shown in [
        format!("<b>{redundant}</b> of {documents}\u{a0}documents"),
        format!("<b>{}</b> kept", documents - redundant),
        format!("<b>{}</b> near-duplicates", redundant - exact),
        format!("<b>{exact}</b> exact duplicates"),
        format!(
            "{}\u{a0}pairs of different texts have a resemblance of 0.85 or more",
            number("/join/pairs")
        ),
        format!("form {}\u{a0}clusters", number("/cluster/clusters")),
    ] {
        assert!(page.contains(&shown), "{shown}");
    }
    // The ledger that the command prints, row by row.
    let summary = serde_json::from_value(summary).unwrap();
    for (name, value) in lookalike::report::ledger_rows(&summary) {
        let row = format!("{}</th><td>{value}</td>", name.trim_start());
        assert!(page.contains(&row), "{row}");
    }
    for (stage, cost) in lookalike::report::cost_rows(&summary) {
        let row = format!("{stage}</th><td class=\"n\">{:.2}</td>", cost.wall_seconds);
        assert!(page.contains(&row), "{row}");
    }
    // The pairs nearest the threshold are the first of the list when it is sorted.
    let mut rows: Vec<(String, String)> = common::rows_of(&out, "pairs.tsv")
        .iter()
        .map(|row| {
            let cells: Vec<&str> = row.split('\t').collect();
            (
                cells[2].to_string(),
                format!("{} and {}", cells[0], cells[1]),
            )
        })
        .collect();
    rows.sort();
    let nearest = parsed
        .text
        .split("Pairs nearest the threshold")
        .nth(2)
        .unwrap();
    let (mut nearest, random) = nearest.split_once("Pairs at random").unwrap();
    for (resemblance, docnos) in rows.iter().take(10) {
        let shown = format!("{}{docnos}", in_short(resemblance));
        let at = nearest.find(&shown).unwrap_or_else(|| panic!("{shown}"));
        nearest = &nearest[at..];
        assert!(!random.contains(&shown), "{shown} twice");
    }
    let shown = rows
        .iter()
        .filter(|(r, d)| random.contains(&format!("{}{d}", in_short(r))));
    assert_eq!(shown.count(), 10);
}

/// A score of a result file as pages have it: three decimals, of which only 1 is 1.000.
fn in_short(score: &str) -> String {
    match score.parse::<f64>() {
        Ok(value) if score.contains('.') && value < 1.0 => format!("{:.3}", value.min(0.999)),
        Ok(value) if score.contains('.') => format!("{value:.3}"),
        _ => score.into(),
    }
}

/// Every cluster on the page is one of the result file, member by member, the largest first; their
/// sizes.
fn assert_clusters(page: &str, out: &Path, column: &str, below: &str) -> Vec<usize> {
    let section = page.split("<section id=\"clusters\">").nth(1).unwrap();
    let section = section.split("</section>").next().unwrap();
    let lines = fs::read_to_string(out.join("clusters.jsonl")).unwrap();
    let mut last = usize::MAX;
    let mut sizes = Vec::new();
    for shown in section.split("<details id=\"c").skip(1) {
        let docno = |text: &str| text.split("</bdi>").next().unwrap().to_string();
        let rows: Vec<&str> = shown.split("<td class=\"name\"><bdi>").skip(1).collect();
        assert!(rows.len() <= last, "the largest first");
        last = rows.len();
        sizes.push(rows.len());
        let id = docno(rows[0]);
        let line = lines
            .lines()
            .find(|line| line.contains(&format!("\"representative\":\"{id}\"")))
            .unwrap();
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let members = line["members"].as_array().unwrap();
        assert_eq!(members.len(), rows.len());
        for (row, member) in rows.iter().zip(members) {
            assert_eq!(docno(row), member["docno"].as_str().unwrap());
            let kind = format!("<td>{}</td>", member["kind"].as_str().unwrap());
            assert!(row.contains(&kind));
            let score = match &member[column] {
                serde_json::Value::Null => format!(">{below}<"),
                whole if whole.is_u64() => format!(">{whole}<"),
                score => format!(">{}<", in_short(&format!("{:.6}", score.as_f64().unwrap()))),
            };
            assert!(row.contains(&score), "{row}: {member}");
        }
    }
    assert_eq!(sizes.len(), lines.lines().count());
    sizes
}

/// Every pair on the page is one of the list, with what it says there; how many there are.
fn assert_pairs(page: &str, out: &Path) -> usize {
    let rows: BTreeSet<String> = common::rows_of(out, "pairs.tsv")
        .iter()
        .map(|row| {
            let fields: Vec<&str> = row.split('\t').collect();
            format!("{} {} {}", in_short(fields[2]), fields[0], fields[1])
        })
        .collect();
    let shown = page.split("<details").filter_map(|shown| {
        let (score, rest) = shown.split_once("<summary><b>")?.1.split_once("</b>")?;
        let (names, _) = rest.split_once("</summary>")?;
        let (a, b) = names.split_once(" and ")?;
        let docno = |name: &str| {
            Some(
                name.split_once("<bdi>")?
                    .1
                    .split_once("</bdi>")?
                    .0
                    .to_string(),
            )
        };
        Some(format!("{score} {} {}", docno(a)?, docno(b)?))
    });
    let shown: Vec<String> = shown.collect();
    for pair in &shown {
        assert!(rows.contains(pair), "{pair}");
    }
    shown.len()
}

/// What is measured, and by what, is what the page says.
#[test]
fn other_scores_and_methods() {
    let directory = common::temporary();
    let out = directory.path().join("out");
    let run = Run::default().keep_text();
    run.run(&[&common::sample_corpora("trec-web")], &out)
        .unwrap();
    let config = PageConfig {
        clusters: 1000,
        ..PageConfig::default()
    };
    let listed = |summary: &Summary, says: &str| {
        let found = summary.join.as_ref().unwrap().pairs;
        format!("{found}\u{a0}pairs of different texts have {says}.")
    };
    for (score, threshold, says) in [
        ("containment", "0.9", "a containment of 0.9 or more"),
        ("cosine", "0.9", "a cosine of 0.9 or more"),
        ("dice", "0.9", "a Dice coefficient of 0.9 or more"),
        ("s1:100", "1", "100 shingles or more in common"),
        ("s2", "0.5", "a score of 0.5 or more"),
        ("s3", "0.25", "a score of 0.25 or more"),
        ("s4", "0.05", "a score of 0.05 or more"),
    ] {
        let mut run = Run::default().threshold(threshold);
        run.question.join.measure = score.parse().unwrap();
        let out = directory.path().join(score.replace(':', "-"));
        let summary = run
            .run(&[&common::sample_corpora("trec-web")], &out)
            .unwrap();
        let (page, stats) = report(&run, &out, &config).unwrap();
        let parsed = assert_harmless(&page);
        assert!(parsed.text.contains(&listed(&summary, says)));
        assert!(!parsed.text.contains("resemblance"), "{score}");
        let below = format!("below {}", score.strip_prefix("s1:").unwrap_or(threshold));
        let clusters = assert_clusters(&page, &out, "score", &below);
        assert_eq!(stats.clusters as usize, clusters.len());
        assert_eq!(assert_pairs(&page, &out), 20);
    }
    for (spec, says, least) in [
        ("i-match", "1 feature or more in common", "1"),
        ("cosine", "a cosine of 0.9 or more", "0.9"),
        ("sketch", "a similarity of 0.7 or more", "0.7"),
    ] {
        let spec = Spec::read(spec).unwrap();
        let base = pipeline::open(&out).unwrap();
        let stop = Stop::default();
        let context = run.context(&stop, &Silent);
        let (made, summary) = methods::run(&base, &spec, &context).unwrap();
        let place = made.directory().to_path_buf();
        drop((made, base));
        let (page, _) = report(&run, &place, &config).unwrap();
        let parsed = assert_harmless(&page);
        assert!(parsed.text.contains(&listed(&summary, says)));
        assert!(parsed.text.contains(&format!("the method {spec} ")));
        for word in ["resemblance", "shingle", "nothing is estimated"] {
            assert!(!parsed.text.contains(word), "{spec}: {word}");
        }
        assert_clusters(&page, &place, "score", &format!("below {least}"));
        assert_eq!(assert_pairs(&page, &place), 20);
    }
}

#[test]
fn clusters_are_those_of_the_result_files() {
    let directory = common::temporary();
    let out = directory.path().join("out");
    let run = Run::default();
    run.run(&[&common::sample_corpora("trec-web")], &out)
        .unwrap();
    let config = PageConfig {
        clusters: 1000,
        ..PageConfig::default()
    };
    let (page, stats) = report(&run, &out, &config).unwrap();
    let sizes = assert_clusters(&page, &out, "resemblance", "below 0.85");
    assert_eq!(stats.clusters as usize, sizes.len());
    assert!(sizes.len() == 60 && sizes.contains(&4) && sizes.contains(&2));
}

#[test]
fn long_lists_are_cut() {
    let corpus = many(MEMBERS_SHOWN + 5);
    let run = Run::default().threshold("0.5");
    let summary = corpus.run(&run);
    assert_eq!(summary.cluster.unwrap().largest, MEMBERS_SHOWN as u64 + 5);
    let config = PageConfig {
        pairs: 3,
        ..PageConfig::default()
    };
    let (page, stats) = report(&run, &corpus.out(), &config).unwrap();
    assert_eq!((stats.clusters, stats.pairs), (1, 6));
    assert_eq!(page.matches("<td class=\"name\">").count(), MEMBERS_SHOWN);
    assert!(page.contains(&format!(
        "The first 50 of {}\u{a0}documents",
        MEMBERS_SHOWN + 5
    )));
    let none = PageConfig {
        pairs: 0,
        clusters: 0,
        ..PageConfig::default()
    };
    let (page, stats) = report(&run, &corpus.out(), &none).unwrap();
    // The script lists what is not there as a table.
    assert_eq!((stats.clusters, stats.pairs), (1, 0));
    assert!(!page.contains("<td class=\"name\">"));
    let members = data_of(&page).unwrap()["clusters"][0][3].clone();
    assert_eq!(members.as_array().unwrap().len(), MEMBERS_SHOWN + 5);
    assert_harmless(&page);
}

#[test]
fn the_same_bytes_every_time() {
    let corpus = many(30);
    let run = Run::default().threshold("0.5");
    corpus.run(&run);
    let page = |out: &Path, run: &Run, seed| {
        let config = PageConfig {
            seed,
            pairs: 5,
            ..PageConfig::default()
        };
        let mut workspace = pipeline::open(out).unwrap();
        // What it cost is the only thing that differs between two runs.
        workspace.manifest.costs.clear();
        let (stop, path) = (Stop::default(), out.join("page.html"));
        page::write(&workspace, &config, &path, &run.context(&stop, &Silent)).unwrap();
        fs::read(path).unwrap()
    };
    let first = page(&corpus.out(), &run, 0);
    assert!(first == page(&corpus.out(), &run, 0));
    assert!(first == page(&corpus.out(), &run.clone().memory(64 << 20).threads(1), 0));
    assert!(first != page(&corpus.out(), &run, 1), "the seed chooses");
    // Each thread reads files of its own.
    let lines = fs::read_to_string(corpus.input().join("a.jsonl")).unwrap();
    let files = corpus.directory.path().join("files");
    fs::create_dir(&files).unwrap();
    for (number, line) in lines.lines().enumerate() {
        fs::write(files.join(format!("{number:02}.jsonl")), line).unwrap();
    }
    let out = corpus.directory.path().join("of-files");
    run.run(&[&files], &out).unwrap();
    let of_files = page(&out, &run.clone().threads(1), 0);
    for threads in [2, 3, 8] {
        let run = run.clone().threads(threads).memory(2 << 30);
        assert!(of_files == page(&out, &run, 0), "{threads} threads");
    }
    let shown = String::from_utf8(of_files).unwrap();
    assert!(!shown.contains("is not shown: ") && shown.matches("<ins>").count() > 5);
    let again = corpus.directory.path().join("again");
    let other = run.clone().threads(1).segment_size(2000);
    other.run(&[&corpus.input()], &again).unwrap();
    assert!(first == page(&again, &run, 0));
    // Postings are large, and nothing on the page is read from them.
    for path in common::paths(&again.join("postings")) {
        fs::remove_file(path).unwrap();
    }
    assert!(first == page(&again, &run, 0), "without postings");
}

#[test]
fn inputs_that_are_gone_or_others_are_told() {
    let corpus = two();
    let run = Run::default();
    corpus.run(&run);
    let file = corpus.input().join("a.jsonl");
    let whole = fs::read(&file).unwrap();
    let told = |what: &str, missing: u64| {
        let (page, stats) = report(&run, &corpus.out(), &PageConfig::default()).unwrap();
        let parsed = assert_harmless(&page);
        assert_eq!(stats.missing, missing, "{what}");
        assert!(parsed.text.contains("is not shown: "), "{what}");
        assert!(parsed.text.contains(what), "{what}");
        assert_eq!(page.matches("<del>").count(), 1, "{what}: the legend alone");
    };
    // Another word, the same length.
    let other = String::from_utf8(whole.clone()).unwrap();
    fs::write(&file, other.replace("Before", "Beforf")).unwrap();
    told("another record is in its place", 1);
    // Not even the beginning of another text is on the page, or its date.
    let other = other.replace("\"w0 w1 ", "\"x0 x1 ");
    assert_eq!(other.len(), whole.len());
    fs::write(&file, &other).unwrap();
    told("another record is in its place", 2);
    let (page, _) = report(&run, &corpus.out(), &PageConfig::default()).unwrap();
    assert!(!page.contains("x0 x1") && !page.contains("w2 w3"));
    fs::write(&file, &whole[..whole.len() - 1]).unwrap();
    told("bytes but had", 2);
    fs::write(&file, vec![b' '; whole.len()]).unwrap();
    told("another record is in its place", 2);
    fs::remove_file(&file).unwrap();
    told("a.jsonl: ", 2);
    fs::create_dir(&file).unwrap();
    told("is not a file", 2);
    fs::remove_dir(&file).unwrap();
    fs::write(&file, &whole).unwrap();
    let (_, stats) = report(&run, &corpus.out(), &PageConfig::default()).unwrap();
    assert_eq!(stats.missing, 0);
}

#[test]
fn every_kind_of_run_has_a_page() {
    // Nothing alike; nothing at all.
    let corpus = Corpus::new(&[
        document("a", &numbered(0, 50)),
        document("b", &numbered(50, 99)),
    ]);
    let run = Run::default();
    corpus.run(&run);
    let (page, stats) = report(&run, &corpus.out(), &PageConfig::default()).unwrap();
    assert_eq!((stats.clusters, stats.pairs), (0, 0));
    let parsed = assert_harmless(&page);
    assert!(
        parsed
            .text
            .contains("No pair of documents has a resemblance of 0.85 or more.")
    );
    assert!(parsed.text.contains("The comparison is exact"));
    let corpus = Corpus::new(&[]);
    corpus.run(&run);
    let (page, _) = report(&run, &corpus.out(), &PageConfig::default()).unwrap();
    assert!(
        assert_harmless(&page)
            .text
            .contains("gave 0\u{a0}documents")
    );

    // Pairs not listed: the same clusters.
    let corpus = many(20);
    let none = Run::default().threshold("0.5").pairs("none");
    corpus.run(&none);
    let (page, stats) = report(&none, &corpus.out(), &PageConfig::default()).unwrap();
    assert_eq!((stats.clusters, stats.pairs), (1, 0));
    let parsed = assert_harmless(&page);
    assert!(parsed.text.contains("Pairs were not listed") && page.contains(">not listed<"));
    assert!(!page.contains("id=\"nearest\"") && !parsed.text.contains("Pairs at random"));

    // Sampled: estimates.
    let sampled = Run::default().threshold("0.5").sampling("1/4");
    let out = corpus.directory.path().join("sampled");
    sampled.run(&[&corpus.input()], &out).unwrap();
    let (page, _) = report(&sampled, &out, &PageConfig::default()).unwrap();
    let parsed = assert_harmless(&page);
    assert!(parsed.text.contains("These figures are estimates"));
    assert!(!parsed.text.contains("The comparison is exact"));

    // Other tokens.
    for tokens in ["whitespace", "bytes:20"] {
        let run = Run::default().tokens(tokens).fingerprint("md5");
        let out = corpus.directory.path().join(tokens);
        let summary = run.run(&[&corpus.input()], &out).unwrap();
        assert!(summary.join.unwrap().pairs > 0);
        let (page, stats) = report(&run, &out, &PageConfig::default()).unwrap();
        assert_harmless(&page);
        assert_eq!(stats.missing, 0);
    }
}

#[test]
fn what_is_not_there_is_named() {
    let corpus = two();
    let run = Run::default();
    let stop = Stop::default();
    let mut workspace = run.ingest(&[&corpus.input()], &corpus.out()).unwrap();
    workspace.commit(&[]).unwrap();
    drop(workspace);
    let refused = |stage: &str| {
        let error = report(&run, &corpus.out(), &PageConfig::default()).unwrap_err();
        assert!(
            matches!(error, Error::StageMissing { stage: s, .. } if s == stage),
            "{error}"
        );
        error.help().unwrap()
    };
    refused("join");
    let mut workspace = pipeline::open(&corpus.out()).unwrap();
    pipeline::join(&mut workspace, &run.question, &run.context(&stop, &Silent)).unwrap();
    workspace.commit(&[]).unwrap();
    drop(workspace);
    assert!(refused("cluster").contains("`lookalike stage cluster "));
    corpus.run(&run);
    let small = run.clone().memory(8 << 20);
    let error = report(&small, &corpus.out(), &PageConfig::default()).unwrap_err();
    let Error::BudgetTooSmall { least, .. } = error else {
        panic!("{error}");
    };
    let enough = run.clone().memory(least.0);
    report(&enough, &corpus.out(), &PageConfig::default()).unwrap();
    let all = PageConfig {
        pairs: usize::MAX,
        clusters: usize::MAX,
        ..PageConfig::default()
    };
    // More than there is takes no more memory than what there is.
    report(&run, &corpus.out(), &all).unwrap();
}

/// A run without pairs shows the closest pair, as counting by hand finds it, and what to try.
#[test]
fn without_pairs_the_closest_is_shown() {
    let text = |from: usize, changed: &[usize]| -> String {
        let word = |n: usize| match changed.contains(&n) {
            true => format!("x{n}y{from} "),
            false => format!("w{n} "),
        };
        (from..from + 60).map(word).collect()
    };
    let corpus = Corpus::new(&[
        document("alone", &numbered(1000, 1060)),
        document("first", &text(0, &[])),
        document("far", &text(0, &[15, 30, 45])),
        document("near", &text(0, &[30])),
        document("shifted", &text(20, &[])),
    ]);
    let run = Run::default();
    let summary = corpus.run(&run);
    assert_eq!(summary.join.unwrap().pairs, 0);
    let (page, stats) = report(&run, &corpus.out(), &PageConfig::default()).unwrap();
    assert_eq!((stats.clusters, stats.pairs, stats.missing), (0, 1, 0));
    let parsed = assert_harmless(&page);
    // One changed word of 60 changes 10 of 51 shingles: 41 / 61.
    assert!(page.contains("<summary><b>0.672</b><bdi>first</bdi> and <bdi>near</bdi>"));
    assert!(page.contains("<del>w30</del><ins class=\"also\">x30y0</ins>"));
    for said in [
        "0 of 5\u{a0}documents duplicate another one",
        "--threshold 0.67 lists the pair above",
        "--shingle-size 5",
    ] {
        assert!(parsed.text.contains(said), "{said}: {}", parsed.text);
    }
    let sections = page.split("<section").skip(1);
    let sections: String = sections
        .take_while(|part| !part.contains("id=\"ledger\""))
        .collect();
    for absent in [
        "There are no",
        ">0.0",
        "that remain",
        "id=\"clusters\"",
        "id=\"random\"",
    ] {
        assert!(!sections.contains(absent), "{absent}");
    }
    // Less memory and fewer threads find the same.
    let small = run.clone().threads(1).memory(64 << 20);
    let (again, _) = report(&small, &corpus.out(), &PageConfig::default()).unwrap();
    assert_eq!(page.contains("0.672131"), again.contains("0.672131"));
}

/// The texts of a cluster are on the page, and the commands have the name of the directory.
#[test]
fn clusters_have_their_texts() {
    let corpus = many(6);
    let run = Run::default().threshold("0.5");
    corpus.run(&run);
    let config = PageConfig {
        pairs: 0,
        directory: Some("out dir".into()),
        ..PageConfig::default()
    };
    let (page, _) = report(&run, &corpus.out(), &config).unwrap();
    assert_harmless(&page);
    for n in 1..6 {
        let beside = format!("<bdi>d{n}</bdi> beside <bdi>d0</bdi>");
        assert_eq!(page.matches(&beside).count(), 1, "{beside}");
        assert!(page.contains(&format!("id=\"pair-0-{n}\"")));
    }
    assert_eq!(data_of(&page).unwrap()["directory"], "out dir");
    let none = PageConfig {
        clusters: 0,
        ..config
    };
    let (page, _) = report(&run, &corpus.out(), &none).unwrap();
    assert!(!page.contains(" beside "));
}

/// Base64 (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let mut bits = 0u32;
        for place in 0..3 {
            bits = bits << 8 | u32::from(group.get(place).copied().unwrap_or(0));
        }
        for place in 0..4 {
            match place <= group.len() {
                true => text.push(digits[(bits >> (18 - 6 * place) & 63) as usize] as char),
                false => text.push('='),
            }
        }
    }
    text
}

fn sha256(bytes: &[u8]) -> Vec<u8> {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).to_vec()
}

/// The data for the script says what the result files say, cluster by cluster.
#[test]
fn the_script_gets_every_cluster() {
    let directory = common::temporary();
    let run = Run::default();
    for (corpus, name) in [("trec-web", "web"), ("warc", "warc"), ("mail", "mail")] {
        let out = directory.path().join(name);
        run.run(&[&common::sample_corpora(corpus)], &out).unwrap();
        let (page, stats) = report(&run, &out, &PageConfig::default()).unwrap();
        let data = data_of(&page).unwrap();
        let clusters = data["clusters"].as_array().unwrap();
        let lines = fs::read_to_string(out.join("clusters.jsonl")).unwrap();
        let lines: Vec<serde_json::Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(clusters.len(), lines.len(), "{corpus}");
        assert_eq!(stats.clusters as usize, lines.len());
        let documents = fs::read_to_string(out.join("documents.tsv")).unwrap();
        let rows = documents.lines().filter(|line| !line.starts_with('#'));
        let places: std::collections::HashMap<u64, (String, u64, u64)> = rows
            .skip(1)
            .map(|row| {
                let cells: Vec<&str> = row.split('\t').collect();
                let number = |at: usize| cells[at].parse().unwrap();
                (number(6), (cells[7].to_string(), number(8), number(2)))
            })
            .collect();
        let pairs: BTreeSet<(String, String, String)> = common::rows_of(&out, "pairs.tsv")
            .iter()
            .map(|row| {
                let cells: Vec<&str> = row.split('\t').collect();
                (cells[0].into(), cells[1].into(), cells[2].into())
            })
            .collect();
        let mut last = u64::MAX;
        let mut dates = 0;
        for cluster in clusters {
            let size = cluster[0].as_u64().unwrap();
            assert!(size <= last, "the largest first");
            last = size;
            let line = &lines[cluster[2].as_u64().unwrap() as usize];
            let listed = line["members"].as_array().unwrap();
            let members = cluster[3].as_array().unwrap();
            assert_eq!((members.len(), size as usize), (listed.len(), listed.len()));
            let mut exact = 0;
            for (at, (member, listed)) in members.iter().zip(listed).enumerate() {
                assert_eq!(member[1], listed["docno"]);
                let (file, record, words) = &places[&member[0].as_u64().unwrap()];
                assert_eq!(data["names"][member[2].as_u64().unwrap() as usize], *file);
                assert_eq!(
                    (&member[3], &member[4]),
                    (&(*record).into(), &(*words).into())
                );
                let is_exact = member[5].as_u64().unwrap() as usize != at;
                assert_eq!(is_exact, listed["kind"] == "exact", "{corpus}");
                exact += u64::from(is_exact);
                let score = member
                    .get(6)
                    .and_then(|score| score.as_str())
                    .unwrap_or_default();
                match &listed["resemblance"] {
                    serde_json::Value::Null => assert_eq!(score, ""),
                    _ if at == 0 => assert_eq!(score, ""),
                    listed => {
                        let expected = listed.as_f64().unwrap();
                        assert_eq!(score, format!("{expected:.6}"));
                    }
                }
                dates += usize::from(member.get(9).is_some_and(|date| date != ""));
            }
            assert_eq!(cluster[1].as_u64().unwrap(), exact);
            // The links are pairs of the list, and they connect all that are not exact duplicates.
            let mut groups: Vec<usize> = (0..members.len()).collect();
            let links = cluster[4].as_array().unwrap();
            for link in links.chunks(3) {
                let [a, b] = [0, 1].map(|at| link[at].as_u64().unwrap() as usize);
                let docno = |at: usize| members[at][1].as_str().unwrap().to_string();
                let pair = (docno(a), docno(b), link[2].as_str().unwrap().to_string());
                assert!(pairs.contains(&pair), "{pair:?}");
                let (from, to) = (groups[b], groups[a]);
                groups
                    .iter_mut()
                    .filter(|group| **group == from)
                    .for_each(|group| *group = to);
            }
            for (at, member) in members.iter().enumerate() {
                let first = member[5].as_u64().unwrap() as usize;
                assert_eq!(groups[first], groups[0], "{corpus}: {at}");
            }
        }
        assert!(dates > 0, "{corpus} states dates");
    }
}

/// Every cluster and every document of one is on a page, and each link leads to the right place.
#[test]
fn a_folder_of_pages_has_every_cluster() {
    let directory = common::temporary();
    let out = directory.path().join("out");
    let run = Run::default();
    run.run(&[&common::sample_corpora("trec-web")], &out)
        .unwrap();
    let stop = Stop::default();
    let write = |run: &Run| {
        let mut workspace = pipeline::open(&out).unwrap();
        let context = run.context(&stop, &Silent);
        page::write_split(&mut workspace, &PageConfig::default(), &context).unwrap();
        let names = ["index", "clusters-0001", "documents-0001", "texts-0001"];
        names.map(|name| {
            let path = out.join("report").join(format!("{name}.html"));
            fs::read_to_string(path).unwrap()
        })
    };
    let pages = write(&run);
    assert!(
        pages == write(&run.clone().threads(1).memory(96 << 20)),
        "the same bytes"
    );
    let [front, clusters, documents, texts] = pages;
    let page = |n: u32| fs::read_to_string(out.join(format!("report/texts-{n:04}.html")));
    let mut texts = vec![texts];
    texts.extend((2..).map_while(|n| page(n).ok()));
    let all = [
        "clusters-0001.html",
        "documents-0001.html",
        "index.html",
        "texts-000",
    ];
    for page in [&front, &clusters, &documents, &texts[0]] {
        let parsed = assert_harmless_in(page, &all);
        assert!(!page.contains("<script"), "{}", parsed.text);
    }
    let texts = texts.concat();
    let lines = fs::read_to_string(out.join("clusters.jsonl")).unwrap();
    let mut members = 0;
    for (number, line) in lines.lines().enumerate() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let place = clusters
            .split(&format!("<details id=\"c{number}\">"))
            .nth(1)
            .unwrap();
        let place = place.split("</details>").next().unwrap();
        for member in line["members"].as_array().unwrap() {
            let docno = member["docno"].as_str().unwrap();
            assert!(place.contains(&format!("<td class=\"name\"><bdi>{docno}</bdi>")));
            let entry = format!(
                "<bdi>{docno}</bdi> <a href=\"clusters-0001.html#c{number}\">cluster {number}</a>"
            );
            assert!(documents.contains(&entry), "{entry}");
            members += 1;
            // A member with other words has its text beside the first one.
            let first = line["representative"].as_str().unwrap();
            let beside = format!("<bdi>{docno}</bdi> beside <bdi>{first}</bdi>");
            assert_eq!(
                texts.contains(&beside),
                member["kind"] == "near",
                "{beside}"
            );
            assert!(member["kind"] != "near" || place.contains("The texts side by side"));
        }
    }
    assert_eq!(documents.matches("<li>").count(), members);
    // Pages of other pairs would mislead: they go with the results.
    let later = Run::default().threshold("0.95");
    later
        .run(&[&common::sample_corpora("trec-web")], &out)
        .unwrap();
    assert!(!out.join("report/index.html").exists());
    assert!(
        !fs::read_to_string(out.join("manifest.json"))
            .unwrap()
            .contains("report/")
    );
    run.run(&[&common::sample_corpora("trec-web")], &out)
        .unwrap();
    write(&run);
    // The manifest names the pages, so a damaged one is found.
    let manifest = fs::read_to_string(out.join("manifest.json")).unwrap();
    for name in ["index", "clusters-0001", "documents-0001"] {
        assert!(manifest.contains(&format!("report/{name}.html")));
    }
}
