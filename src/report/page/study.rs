//! The figures of a sampling study, where there is one: `study/figures.json` and the SVGs that it names.

use std::path::Path;

use serde::Deserialize;

use crate::experiments::study::{COST_FILE, Comparison, DIRECTORY, FORMAT};
use crate::store::disk;
use crate::{Error, Result};

/// Bytes of a figure at most; ours have some ten thousand.
const MOST_BYTES: u64 = 4 << 20;

/// Bytes of all figures together at most.
const MOST_TOGETHER: u64 = 32 << 20;

/// Elements that a figure may have: what draws, and nothing that loads, runs or holds HTML.
const ELEMENTS: [&str; 19] = [
    "svg",
    "g",
    "rect",
    "circle",
    "ellipse",
    "line",
    "polyline",
    "polygon",
    "path",
    "text",
    "tspan",
    "title",
    "desc",
    "defs",
    "clipPath",
    "pattern",
    "linearGradient",
    "stop",
    "marker",
];

/// An entry of `figures.json`.
#[derive(Debug, Deserialize)]
struct Entry {
    file: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    paper: String,
    #[serde(default)]
    here: String,
}

/// A figure and its sentences.
#[derive(Debug)]
pub(super) struct Figure {
    pub file: String,
    pub title: String,
    /// What the paper saw.
    pub paper: String,
    /// What is seen here.
    pub here: String,
    /// The figure, or why it is not shown; nothing for what is a table.
    pub svg: Option<std::result::Result<CheckedSvg, String>>,
}

/// SVG that is safe to stand in a page.
#[derive(Debug)]
pub(super) struct CheckedSvg(String);

impl CheckedSvg {
    /// The markup.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Looks an SVG through; the error says what it must not have.
    pub(super) fn new(text: &str) -> std::result::Result<CheckedSvg, String> {
        let mut text = text.trim_start_matches('\u{feff}').trim();
        if let Some(declared) = text.strip_prefix("<?xml") {
            let end = declared
                .find("?>")
                .ok_or("an XML declaration without end")?;
            text = declared.get(end + 2..).unwrap_or_default().trim_start();
        }
        if !text.starts_with("<svg") || !text.ends_with("</svg>") {
            return Err("something beside an <svg> element".into());
        }
        if let Some(c) = text.chars().find(|&c| c.is_control() && !c.is_whitespace()) {
            return Err(format!("the control character U+{:04X}", c as u32));
        }
        let (mut rest, mut open) = (text, Vec::new());
        while let Some(at) = rest.find('<') {
            if open.is_empty() && rest.len() < text.len() {
                return Err("something behind its <svg> element".into());
            }
            let tag = rest.get(at + 1..).unwrap_or_default();
            let (closing, tag) = match tag.strip_prefix('/') {
                Some(tag) => (true, tag),
                None => (false, tag),
            };
            let name_end = tag
                .find(|c: char| !c.is_ascii_alphanumeric())
                .unwrap_or(tag.len());
            let (name, behind) = tag.split_at(name_end);
            if !ELEMENTS.contains(&name) {
                return Err(format!("<{}", tag.chars().take(20).collect::<String>()));
            }
            if closing {
                rest = behind
                    .trim_start_matches(SPACE)
                    .strip_prefix('>')
                    .ok_or(NO_TAG)?;
                if open.pop() != Some(name) {
                    return Err(format!("</{name}> without its start"));
                }
                continue;
            }
            // Within these HTML's own rules hold again (a <title> there is not SVG's).
            if let Some(holder) = open.last().filter(|name| ["title", "desc"].contains(name)) {
                return Err(format!("an element within <{holder}>"));
            }
            let behind = check_attributes(behind)?;
            rest = match behind.strip_prefix("/>") {
                Some(behind) => behind,
                None => {
                    open.push(name);
                    behind.strip_prefix('>').ok_or(NO_TAG)?
                }
            };
        }
        if !open.is_empty() {
            return Err("an element without end".into());
        }
        Ok(CheckedSvg(text.into()))
    }
}

/// What is neither a start tag with quoted attributes nor an end tag. HTML and XML read the same in what is left:
/// in both a tag ends at the first `>` outside of a value, and a value at its second quotation mark.
const NO_TAG: &str = "a tag that is not <name attribute=\"value\" …>, </name> or <name/>";

/// What is space in a tag to HTML and to XML; other spaces begin names and values.
const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// Looks through the attributes of a start tag, from behind its name; what follows them.
fn check_attributes(mut rest: &str) -> std::result::Result<&str, String> {
    loop {
        let behind = rest.trim_start_matches(SPACE);
        if behind.starts_with(['>', '/']) {
            return Ok(behind);
        }
        if behind.len() == rest.len() {
            return Err(NO_TAG.into());
        }
        let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
        let name_end = behind.find(|c| !letter(c)).ok_or(NO_TAG)?;
        let (name, behind) = behind.split_at(name_end);
        let behind = behind.trim_start_matches(SPACE);
        let behind = behind.strip_prefix('=').ok_or(NO_TAG)?;
        let behind = behind.trim_start_matches(SPACE);
        let quote = behind.chars().next().filter(|&c| matches!(c, '"' | '\''));
        let quote = quote.ok_or(NO_TAG)?;
        let (value, behind) = behind
            .get(1..)
            .and_then(|behind| behind.split_once(quote))
            .ok_or(NO_TAG)?;
        check_attribute(name, value)?;
        rest = behind;
    }
}

fn check_attribute(name: &str, value: &str) -> std::result::Result<(), String> {
    let name = name.to_ascii_lowercase();
    if name.is_empty() {
        return Err(NO_TAG.into());
    }
    if name.starts_with("on") || name.ends_with("href") || name == "src" || name == "xml:base" {
        return Err(format!("the attribute {name}"));
    }
    let mut value = value.to_ascii_lowercase();
    for reference in ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;"] {
        value = value.replace(reference, " ");
    }
    let loads = value.match_indices("url(").any(|(at, _)| {
        let inside = value.get(at + 4..).unwrap_or_default();
        !inside.starts_with('#')
    });
    for (found, what) in [
        (loads, "an address in url()"),
        (value.contains("image-set("), "image-set()"),
        (value.contains("javascript:"), "javascript:"),
        (value.contains("@import"), "@import"),
        // XML has none there, and whoever searches the page for tags is not to find one.
        (value.contains('<'), "a < in an attribute"),
        // What the checks above do not see.
        (value.contains('\\'), "a backslash in an attribute"),
        (
            value.contains('&'),
            "a rare character reference in an attribute",
        ),
    ] {
        if found {
            return Err(what.into());
        }
    }
    Ok(())
}

/// The figures of a directory, in the order of their list; none where there is no list.
pub(super) fn figures(directory: &Path) -> Result<Vec<Figure>> {
    let list = directory.join(DIRECTORY).join("figures.json");
    if !disk::exists(&list)? {
        return Ok(Vec::new());
    }
    let entries: Vec<Entry> =
        serde_json::from_slice(&bounded(&list, MOST_BYTES)?).map_err(|e| Error::Corrupt {
            path: list.clone(),
            offset_bytes: None,
            what: "list of figures".into(),
            expected: "JSON: file, title, paper, here of each".into(),
            found: e.to_string(),
        })?;
    let mut left = MOST_TOGETHER;
    let mut figures = Vec::new();
    for entry in entries {
        let Entry {
            file,
            title,
            paper,
            here,
        } = entry;
        let svg = file.ends_with(".svg").then(|| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            if !file.chars().all(plain) {
                return Err("its name is not that of a file beside the list".into());
            }
            let bytes = bounded(&directory.join(DIRECTORY).join(&file), MOST_BYTES.min(left))
                .map_err(|error| error.to_string())?;
            left = left.saturating_sub(bytes.len() as u64);
            let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_string())?;
            CheckedSvg::new(&text).map_err(|what| format!("it contains {what}"))
        });
        figures.push(Figure {
            file,
            title,
            paper,
            here,
            svg,
        });
    }
    Ok(figures)
}

/// Exact and sampled runs side by side; none where there is no study.
pub(super) fn comparison(directory: &Path) -> Result<Option<Comparison>> {
    #[derive(Deserialize)]
    struct Versioned {
        format: u32,
    }
    #[derive(Deserialize)]
    struct Costs {
        comparison: Comparison,
    }
    let path = directory.join(DIRECTORY).join(COST_FILE);
    if !disk::exists(&path)? {
        return Ok(None);
    }
    let json = bounded(&path, MOST_BYTES)?;
    let corrupt = |e: serde_json::Error| Error::Corrupt {
        path: path.clone(),
        offset_bytes: None,
        what: "what a study took".into(),
        expected: "JSON with a comparison".into(),
        found: e.to_string(),
    };
    // Before the fields: another format may have others.
    let Versioned { format } = serde_json::from_slice(&json).map_err(corrupt)?;
    if format != FORMAT {
        return Err(Error::Version {
            path,
            found: format,
            least: FORMAT,
            most: FORMAT,
        });
    }
    let costs: Costs = serde_json::from_slice(&json).map_err(corrupt)?;
    Ok(Some(costs.comparison))
}

/// A file of at most so many bytes.
fn bounded(path: &Path, most: u64) -> Result<Vec<u8>> {
    let size = disk::size(path)?;
    if size > most {
        return Err(Error::TooLong {
            path: path.into(),
            expected: most,
            found: size,
        });
    }
    disk::read_all(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_draw_pass() {
        for text in [
            "<svg></svg>",
            "<?xml version=\"1.0\"?>\n<svg viewBox='0 0 1 1'><g><path d=\"M0 0\"/></g></svg>\n",
            "<svg><text x='1'>a &lt; b &amp; on = 1, href</text><rect fill=\"url(#p)\"/></svg>",
            "<svg><svg></svg><title>a > b</title></svg>",
            "<svg\n x = '\"on=1, href=x' y=\"'a > b'\"\n><g /><g a='/'></g ></svg>",
        ] {
            let svg = CheckedSvg::new(text).unwrap();
            assert!(svg.text().starts_with("<svg"));
        }
    }

    #[test]
    fn figures_that_do_more_do_not() {
        for text in [
            "",
            "plain",
            "<svg>",
            "<svg></svg><p>x</p><svg></svg>",
            "<svg></svg></svg>",
            "<svg><script>x</script></svg>",
            "<svg><SCRIPT>x</SCRIPT></svg>",
            "<svg><g onload='x'></g></svg>",
            "<svg><g\nONCLICK = 'x'></g></svg>",
            "<svg><g a='1'onload='x'></g></svg>",
            "<svg onload=x></svg>",
            "<svg/onload=x></svg>",
            "<svg><a href='http://x'>x</a></svg>",
            "<svg><use xlink:href='#x'/></svg>",
            "<svg><rect xlink:href='#x'/></svg>",
            "<svg><image src='x'/></svg>",
            "<svg><foreignObject></foreignObject></svg>",
            "<svg><style>@import 'x'</style></svg>",
            "<svg><rect fill='url(http://x)'/></svg>",
            "<svg><rect style='background:u\\72l(x)'/></svg>",
            "<svg><rect fill='&#117;rl(x)'/></svg>",
            "<svg><!-- --><p></svg>",
            "<svg><![CDATA[<p>]]></svg>",
            "<!DOCTYPE svg><svg></svg>",
            "<svg></p></svg>",
            "<svg><g></svg>",
            "<svg><text>\u{0}</text></svg>",
            // To HTML the first tag of these ends at the first `>`: outside a quoted value a quotation mark
            // is a character like others.
            "<svg a=b'><script>x</script>'></svg>",
            "<svg b'><script>x</script>'></svg>",
            "<svg a='1'b'><script>x</script>'></svg>",
            "<svg a='1' 'b><script>x</script>'></svg>",
            // Nothing in HTML, but not XML either, and not what a drawing has.
            "<svg viewBox='0 0 1 <script1'></svg>",
            "<svg><g x=1></g></svg>",
            "<svg><g x></g></svg>",
            "<svg><g / x='1'></g></svg>",
            "<svg></g x='1'></svg>",
            "<svg x='1></svg>",
            "<svg x='1'y='2'></svg>",
            "<svg ='1'></svg>",
            "<svg x='1'/ ></svg>",
            // To HTML these are no space: an unquoted value begins, and `onload` is an attribute.
            "<svg a=\u{a0}\"x onload=y \"></svg>",
            "<svg a=\u{b}\"x onload=y \"></svg>",
            "<svg\u{2003}a='1'></svg>",
            "<svg><g></g\u{a0}></svg>",
            "<svg><g fill='image-set(\"x\" 1x)'></g></svg>",
            // HTML would take all up to </title> for text.
            "<svg><desc><title></desc></svg>",
            "<svg><desc><title></title></desc></svg>",
            "<svg><g><text></g></text></svg>",
        ] {
            assert!(CheckedSvg::new(text).is_err(), "{text}");
        }
    }
}
