//! Names, addresses, titles, dates and texts of documents on the report pages: they stay text, and the
//! data for the script says what they are.

use lookalike::base::budget::ByteSize;
use lookalike::engine::collection::CollectionConfig;
use lookalike::engine::pipeline::{self, JoinParameters};
use lookalike::report::page::{self, PAGE_FILE, PageConfig, SPLIT_DIRECTORY};
use serde_json::{Value, json};

use super::controls::Controls;
use super::place;

/// Documents of a run.
const DOCUMENTS: usize = 12;

pub fn run(data: &[u8]) {
    let mut controls = Controls::new(data);
    let config = PageConfig {
        title: controls.flag().then(|| "</title><!--".to_string()),
        clusters: usize::from(controls.byte() % 4),
        pairs: usize::from(controls.byte() % 4),
        ..PageConfig::default()
    };
    // The strings of the documents, one after the other; those that come first come again.
    let strings: Vec<String> = controls
        .rest()
        .split(|&byte| byte == 0xff)
        .take(5 * DOCUMENTS)
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .collect();
    let string = |at: usize| {
        strings
            .get(at % strings.len().max(1))
            .map_or("", String::as_str)
    };
    let documents: Vec<Value> = (0..DOCUMENTS)
        .map(|n| {
            let text = format!(
                "one two three four {} five six seven eight",
                string(5 * n + 4)
            );
            json!({"id": string(5 * n), "url": string(5 * n + 1), "title": string(5 * n + 2),
                "date": string(5 * n + 3), "text": text})
        })
        .collect();
    let home = place::subdirectory("pages");
    let input = home.join("a.jsonl");
    let lines: String = documents.iter().map(|line| format!("{line}\n")).collect();
    place::put(&input, lines.as_bytes());
    let out = home.join("out");
    let _ = std::fs::remove_dir_all(&out);
    let mut collection = CollectionConfig::default();
    collection.shingle.shingle_size = 2;
    let question = JoinParameters {
        sampling: Default::default(),
        plan: None,
        join: lookalike::engine::join::JoinConfig {
            threshold: "0.3".parse().expect("a threshold"),
            ..Default::default()
        },
        results: Default::default(),
        spill: pipeline::Spill::Auto,
        all_postings: false,
        fan_in: None,
    };
    let inputs = pipeline::inputs(&[input], &out).expect("the input is listed");
    let (page, folder) = place::with_context(ByteSize::mib(256), |context| {
        pipeline::run(&inputs, &out, &collection, &question, false, context)
            .expect("the collection is run");
        let mut workspace = pipeline::open(&out).expect("the run is opened");
        let path = out.join(PAGE_FILE);
        page::write(&workspace, &config, &path, context).expect("a page is written");
        page::write_split(&mut workspace, &config, context).expect("pages are written");
        let folder = std::fs::read_dir(out.join(SPLIT_DIRECTORY)).expect("a folder");
        let folder: Vec<_> = folder.map(|entry| entry.expect("a page").path()).collect();
        (path, folder)
    });
    for path in folder.into_iter().chain([page]) {
        let html = String::from_utf8(std::fs::read(path).expect("a page")).expect("UTF-8");
        only_known_markup(&html);
    }
}

/// Every `<` begins an element that the program writes, and no attribute of it is an event.
fn only_known_markup(html: &str) {
    let (html, data) = match html.split_once("<script type=\"application/json\" id=\"data\">") {
        None => (html.to_string(), None),
        Some((before, rest)) => {
            let (data, after) = rest.split_once("</script>").expect("the data end");
            (format!("{before}{after}"), Some(data))
        }
    };
    if let Some(data) = data {
        assert!(!data.contains(['<', '>', '&', '\u{2028}', '\u{2029}']));
        let data: Value = serde_json::from_str(data).expect("JSON");
        let clusters = data["clusters"].as_array().expect("clusters");
        assert!(!clusters.is_empty());
    }
    let html = match html.split_once("<script>") {
        None => html,
        Some((before, rest)) => {
            assert!(data.is_some());
            before.to_string() + rest.split_once("</script>").expect("the script ends").1
        }
    };
    const KNOWN: &str = "!DOCTYPE html head meta title style body header h1 nav a main section ul li b \
                         span p h2 h3 div table caption thead tbody tr th td figure figcaption svg text \
                         rect details summary strong bdi br del ins code footer label input select option \
                         button";
    for part in html.split('<').skip(1) {
        let name = part.strip_prefix('/').unwrap_or(part);
        let end = name.find([' ', '>', '\n']).expect("an element ends");
        let known = KNOWN.split_whitespace().any(|known| known == &name[..end]);
        assert!(known, "<{part}");
        let inside = part.split('>').next().unwrap_or_default();
        // Quotes within values are escaped, so the values are every second piece.
        for outside in inside.split('"').step_by(2) {
            assert!(!outside.contains(" on"), "<{inside}>");
        }
    }
}
