//! Markup: templates that the compiler checks, and text that is escaped.
//!
//! # Invariants
//! - [`maud`] escapes whatever a template splices in, unless it is `PreEscaped`. Only this module
//!   uses that type, for this program's own markup: style, script and drawings.
//! - The contents of documents, file names and arguments go through [`visible`], [`isolated`] or
//!   [`link`]: a character that would change how its surroundings are read, or that is invisible,
//!   is made visible.
//! - Data for a script ([`json_block`]) is JSON without `<`, `>`, `&`, U+2028 and U+2029, so it
//!   cannot end its element, begin a comment, or end a line of script.

use std::fmt::Write;

use maud::PreEscaped;
pub use maud::{Markup, Render, html};
use sha2::{Digest, Sha256};

use lookalike_base::is_deceptive;

/// The output for a character.
enum Written {
    AsIs,
    Entity(&'static str),
    /// U+FFFD: a control character, or a code point that is never a character.
    Replaced,
    /// Its code point, set apart.
    CodePoint,
}

fn written(c: char) -> Written {
    match c {
        '&' => Written::Entity("&amp;"),
        '<' => Written::Entity("&lt;"),
        '>' => Written::Entity("&gt;"),
        '"' => Written::Entity("&quot;"),
        '\'' => Written::Entity("&#39;"),
        '\n' | '\t' => Written::Entity(" "),
        c if is_deceptive(c) => Written::CodePoint,
        c if c.is_control() || c as u32 & 0xfffe == 0xfffe => Written::Replaced,
        '\u{fdd0}'..='\u{fdef}' => Written::Replaced,
        _ => Written::AsIs,
    }
}

/// Text from any source ([`visible`], [`lines`]).
#[derive(Clone, Copy, Debug)]
pub struct Visible<'t> {
    text: &'t str,
    /// Whether line feeds are kept.
    lines: bool,
}

/// Text from any source, in one line.
pub fn visible(text: &str) -> Visible<'_> {
    Visible { text, lines: false }
}

/// Text from any source, with its lines. Empty lines are narrow, and several are one.
pub(super) fn lines(text: &str) -> Visible<'_> {
    Visible { text, lines: true }
}

impl Render for Visible<'_> {
    fn render_to(&self, out: &mut String) {
        let mut breaks = 0;
        for c in self.text.chars() {
            if self.lines && c == '\n' {
                breaks += 1;
                match breaks {
                    1 => out.push('\n'),
                    2 => out.push_str("<span class=\"gap\"></span>"),
                    _ => {}
                }
                continue;
            }
            if breaks > 0 && c.is_whitespace() {
                continue;
            }
            breaks = 0;
            match written(c) {
                Written::AsIs => out.push(c),
                Written::Entity(entity) => out.push_str(entity),
                Written::Replaced => out.push(char::REPLACEMENT_CHARACTER),
                Written::CodePoint => {
                    // Writing to a string does not fail.
                    let _ = write!(out, "<span class=\"code\">U+{:04X}</span>", c as u32);
                }
            }
        }
    }
}

/// Text from any source for an attribute: a deceptive character becomes U+FFFD.
pub fn plain(text: &str) -> String {
    let each = text.chars().map(|c| match written(c) {
        Written::Replaced | Written::CodePoint => char::REPLACEMENT_CHARACTER,
        Written::Entity(" ") => ' ',
        _ => c,
    });
    each.collect()
}

/// Text from any source, whose direction is isolated from its surroundings.
pub fn isolated(text: &str) -> Markup {
    html! { bdi { (visible(text)) } }
}

/// A URL: a link if it is a web address, otherwise text.
pub(super) fn link(address: &str) -> Markup {
    named_link(address, isolated(address))
}

/// A link with a name of its own if the URL is a web address, otherwise the name.
pub(super) fn named_link(address: &str, name: Markup) -> Markup {
    match is_web_address(address) {
        true => html! { a rel="noopener noreferrer nofollow" href=(address) { (name) } },
        false => name,
    }
}

/// Whether this begins with `http://` or `https://` and has only visible characters.
pub(super) fn is_web_address(address: &str) -> bool {
    let scheme = |name: &str| {
        address
            .get(..name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name))
    };
    (scheme("http://") || scheme("https://"))
        && !address.chars().any(|c| {
            c.is_whitespace() || matches!(written(c), Written::Replaced | Written::CodePoint)
        })
}

/// The beginning of an element whose content is put in pieces.
pub(super) fn begin(element: &'static str, id: &'static str) -> Markup {
    PreEscaped(format!("<{element} id=\"{id}\">"))
}

/// Like [`begin`], with a class.
pub(super) fn begin_class(element: &'static str, class: &'static str) -> Markup {
    PreEscaped(format!("<{element} class=\"{class}\">"))
}

/// The end of an element.
pub(super) fn end(element: &'static str) -> Markup {
    PreEscaped(format!("</{element}>"))
}

/// A style sheet or script of this program.
pub(super) fn own(text: &'static str) -> PreEscaped<&'static str> {
    PreEscaped(text)
}

/// The source of a style or script in a Content-Security-Policy: the digest of its text.
pub(super) fn digest_source(text: &str) -> String {
    let mut source = "'sha256-".to_string();
    base64(&Sha256::digest(text.as_bytes()), &mut source);
    source + "'"
}

/// Data for a script: an element that browsers do not run.
pub(super) fn json_block(id: &str, json: &str) -> Markup {
    html! { script type="application/json" id=(id) { (PreEscaped(harmless_json(json))) } }
}

/// JSON in which the characters that mean something to HTML or to old scripts are escaped. They
/// occur only within strings.
pub(super) fn harmless_json(json: &str) -> String {
    escaped_json(json, |c| match c {
        '<' | '>' | '&' | '\u{7f}' => true,
        c => c > '\u{7f}' && !matches!(written(c), Written::AsIs),
    })
}

/// JSON with escapes in place of some characters of its strings.
pub(crate) fn escaped_json(json: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 64);
    for c in json.chars() {
        if is_escaped(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string does not fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8], text: &mut String) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    text.reserve(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = bits >> (18 - 6 * place) & 63;
            // One byte fills two digits, two bytes three.
            let filled = place <= group.len();
            text.push(if filled {
                char::from(DIGITS[digit as usize])
            } else {
                '='
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> String {
        visible(text).render().into_string()
    }

    #[test]
    fn text_stays_text() {
        assert_eq!(
            text("<b a='1' c=\"2\">&</b>"),
            "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;&lt;/b&gt;"
        );
        assert_eq!(
            text("a\0b\u{7f}\u{85}\u{ffff}\u{1fffe}"),
            "a\u{fffd}b\u{fffd}\u{fffd}\u{fffd}\u{fffd}"
        );
        assert_eq!(text("a\u{202e}b"), "a<span class=\"code\">U+202E</span>b");
        assert_eq!(text("ä 漢 👩\u{200d}🔬 \t\n"), "ä 漢 👩\u{200d}🔬   ");
        assert_eq!(lines("a\n<\tb").render().into_string(), "a\n&lt; b");
        let gap = "a\n<span class=\"gap\"></span>b";
        assert_eq!(lines("a\n\n\nb").render().into_string(), gap);
        assert_eq!(lines("a\n \r\n\t\n b").render().into_string(), gap);
        assert_eq!(plain("a\u{202e}b\0\n\"<"), "a\u{fffd}b\u{fffd} \"<");
    }

    #[test]
    fn bytes_are_written_as_digits() {
        // RFC 4648, section 10.
        for (bytes, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            let mut text = String::new();
            base64(bytes.as_bytes(), &mut text);
            assert_eq!(text, expected);
        }
        let mut text = String::new();
        base64(&[0xfb, 0xff, 0xbf, 0], &mut text);
        assert_eq!(text, "+/+/AA==");
        // FIPS 180-4, the example of one block.
        let source = digest_source("abc");
        assert_eq!(
            source,
            "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='"
        );
    }

    #[test]
    fn data_for_a_script_ends_no_element_and_is_the_same_data() {
        let strings = [
            "</script><script>alert(1)</script>",
            "<!-- <script>",
            "]]>&lt;",
            "a\u{2028}b\u{2029}c\u{202e}d\0e\u{7f}\u{85}\u{ffff}\u{1fffe}",
            "\"\\' ä 漢 👩\u{200d}🔬\n",
        ];
        let json = serde_json::to_string(&strings).unwrap();
        let out = harmless_json(&json);
        assert!(!out.contains(['<', '>', '&', '\u{2028}', '\u{2029}', '\u{202e}', '\u{7f}']));
        assert!(out.contains("ä 漢"));
        assert_eq!(serde_json::from_str::<Vec<String>>(&out).unwrap(), strings);
    }

    proptest::proptest! {
        #[test]
        fn any_text_stays_text(text in "\\PC*|[\u{0}-\u{ffff}]*") {
            let html = html! { p title=(plain(&text)) { (visible(&text)) (lines(&text)) (link(&text)) } };
            let html = html.into_string();
            for markup in ["<p ", "</p>"] {
                proptest::prop_assert_eq!(html.matches(markup).count(), 1);
            }
            let known = ["p title=", "/p>", "span class=\"code\">U+", "span class=\"gap\">", "/span>", "bdi>", "/bdi>", "a rel=", "/a>"];
            for after in html.split('<').skip(1) {
                proptest::prop_assert!(known.iter().any(|known| after.starts_with(known)), "{}", after);
            }
            let json = serde_json::to_string(&text).unwrap();
            let out = harmless_json(&json);
            let any = out.contains(['<', '>', '&', '\u{2028}', '\u{2029}', '\u{7f}']);
            proptest::prop_assert!(!any);
            proptest::prop_assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
        }
    }

    #[test]
    fn only_addresses_of_the_web_are_followed() {
        for address in ["http://a/b?c=d&e", "HTTPS://a/\"onclick=alert(1)"] {
            let html = link(address).into_string();
            assert!(html.starts_with("<a rel=\"noopener noreferrer nofollow\" href=\""));
            assert_eq!(html.matches('"').count(), 4, "{html}");
        }
        for address in [
            "javascript:alert(1)",
            " http://a",
            "http://a b",
            "http://a\u{202e}b",
            "http:/a",
            "//a",
            "data:text/html,x",
            "httpß",
            "",
        ] {
            assert!(!link(address).into_string().contains("href"), "{address}");
        }
    }
}
