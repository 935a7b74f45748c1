//! HTML under construction: the program's own markup is written as it is, everything else as text.
//!
//! # Invariants
//! - [`Html::raw`] takes only literals of this program (`&'static str`). The contents of documents,
//!   file names and arguments can enter only through [`Html::text`] and [`Html::link`].
//! - A character that would change how its surroundings are read, or that is invisible, is made
//!   visible.

use std::fmt::Display;

use crate::report::charts::{BarRow, bars};
use crate::utf8::is_deceptive;

/// Markup in memory.
#[derive(Debug, Default)]
pub(super) struct Html(String);

/// The output for a character.
enum Written {
    AsIs,
    Entity(&'static str),
    /// U+FFFD: a control character, or a code point that is no character.
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

impl Html {
    /// Appends markup of this program.
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Appends text from any source.
    pub fn text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            match written(c) {
                Written::AsIs => self.0.push(c),
                Written::Entity(entity) => self.0.push_str(entity),
                Written::Replaced => self.0.push(char::REPLACEMENT_CHARACTER),
                Written::CodePoint => {
                    self.0.push_str("<span class=\"code\">U+");
                    self.0.push_str(&format!("{:04X}", c as u32));
                    self.0.push_str("</span>");
                }
            }
        }
        self
    }

    /// Appends a displayable value, such as a number, as text.
    pub fn show(&mut self, value: impl Display) -> &mut Self {
        self.text(&value.to_string())
    }

    /// Appends text whose direction is isolated from its surroundings.
    pub fn isolated(&mut self, text: &str) -> &mut Self {
        self.raw("<bdi>").text(text).raw("</bdi>")
    }

    /// Appends a URL: as a link if it is a web address, otherwise as text.
    pub fn link(&mut self, address: &str) -> &mut Self {
        if !is_web_address(address) {
            return self.isolated(address);
        }
        self.raw("<a rel=\"noopener noreferrer nofollow\" href=\"")
            .text(address)
            .raw("\">")
            .isolated(address)
            .raw("</a>")
    }

    /// Appends bars, which take their colours from the page. `what` describes them to readers who
    /// do not see them.
    pub fn bars(&mut self, what: &str, rows: &[BarRow]) -> &mut Self {
        self.0.push_str(bars(what, rows).text());
        self
    }

    /// Appends an SVG file as an image: whatever the file contains, browsers run no script of it
    /// and load nothing for it. `alternative` describes it to readers who do not see it.
    pub fn image(&mut self, svg: &[u8], alternative: &str) -> &mut Self {
        self.raw("<img alt=\"").text(alternative);
        self.raw("\" src=\"data:image/svg+xml;base64,");
        base64(svg, &mut self.0);
        self.raw("\">")
    }

    /// Returns the markup.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Removes all markup.
    pub fn clear(&mut self) {
        self.0.clear();
    }
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

/// Whether this begins with `http://` or `https://` and has only visible characters.
fn is_web_address(address: &str) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> String {
        let mut html = Html::default();
        html.text(text);
        html.0
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
    }

    #[test]
    fn an_image_holds_no_markup_of_its_file() {
        let mut html = Html::default();
        html.image(b"\"><script>x</script>", "\"><b>");
        assert_eq!(
            html.0,
            "<img alt=\"&quot;&gt;&lt;b&gt;\" src=\"data:image/svg+xml;base64,Ij48c2NyaXB0Png8L3NjcmlwdD4=\">"
        );
    }

    #[test]
    fn only_addresses_of_the_web_are_followed() {
        for address in ["http://a/b?c=d&e", "HTTPS://a/\"onclick=alert(1)"] {
            let mut html = Html::default();
            html.link(address);
            assert!(
                html.0
                    .starts_with("<a rel=\"noopener noreferrer nofollow\" href=\"h")
                    || html.0.contains("href=\"HTTPS")
            );
            assert_eq!(html.0.matches('"').count(), 4, "{}", html.0);
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
            let mut html = Html::default();
            html.link(address);
            assert!(!html.0.contains("href"), "{address}");
        }
    }
}
