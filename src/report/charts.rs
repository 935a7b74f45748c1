//! Drawings for pages: SVG that takes its colours from the page's style.

use lookalike_base::utf8::is_deceptive;

/// A drawing for a page, with all text in it escaped.
#[derive(Clone, Debug)]
pub struct Drawing(pub String);

impl Drawing {
    /// The markup.
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// Text escaped for XML. Control characters become U+FFFD; characters that are invisible and change
/// how others look become code points.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if is_deceptive(c) => escaped.push_str(&format!("U+{:04X}", u32::from(c))),
            c if c.is_control() || c as u32 & 0xfffe == 0xfffe => {
                escaped.push(char::REPLACEMENT_CHARACTER)
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(
            escaped("<a b=\"\u{202e}\0\">&"),
            "&lt;a b=&quot;U+202E\u{fffd}&quot;&gt;&amp;"
        );
    }
}
