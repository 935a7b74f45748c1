//! Parts that several pages share: tables, shares and headlines.

use super::markup::{Markup, html, visible};
use lookalike_base::{count, numbers::share};

/// A table, which scrolls sideways on a narrow screen. The caption and the heads of columns may be
/// empty.
pub(super) fn table(caption: &str, columns: &[&str], rows: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                @if !caption.is_empty() { caption { (caption) } }
                @if !columns.is_empty() { thead { tr { (heads(columns)) } } }
                tbody { (rows) }
            }
        }
    }
}

/// The heads of columns. A name after `>` is the name of a column of numbers, which is aligned
/// right.
pub fn heads(columns: &[&str]) -> Markup {
    html! {
        @for column in columns {
            @match column.strip_prefix('>') {
                Some(name) => th.n scope="col" { (visible(name)) },
                None => th scope="col" { (visible(column)) },
            }
        }
    }
}

/// A part of a whole in per cent; a dash if the whole is 0.
pub fn part(part: u64, whole: u64) -> String {
    share(part, whole).unwrap_or_else(|| "–".into())
}

/// A score with three decimals, of which only 1 is 1.000. A number of common features is whole.
pub(super) fn short(score: &str) -> String {
    short_below(score, 1.0)
}

/// The same. A score below the threshold never looks like a score that reaches it.
pub(super) fn short_below(score: &str, threshold: f64) -> String {
    match score.parse::<f64>() {
        Ok(value) if score.contains('.') => {
            let mut thousandths = (value * 1e3).round();
            let reaches = |least: f64| value < least && thousandths > least * 1e3 - 1e-6;
            if reaches(threshold) || reaches(1.0) {
                thousandths -= 1.0;
            }
            format!("{:.3}", thousandths / 1e3)
        }
        _ => score.into(),
    }
}

/// The first words of a text, in about 80 characters.
pub(super) fn shorter(text: &str) -> &str {
    let Some((end, _)) = text.char_indices().nth(80) else {
        return text.trim_end();
    };
    let whole = text[..end].rfind(char::is_whitespace);
    text[..whole.unwrap_or(end)].trim_end()
}

/// A share, beside a bar that is as long as it.
pub(super) fn share_bar(part: u64, whole: u64) -> Markup {
    let length = (part as f64 / whole.max(1) as f64 * 60.0).round();
    html! {
        svg.share aria-hidden="true" viewBox="0 0 60 8" width="60" height="8" {
            rect.all width="60" height="8" {}
            rect.part width=(length) height="8" {}
        }
        span.percent { (self::part(part, whole)) }
    }
}

/// The figure of a page, with the sentence that it begins, and a bar of the parts of the whole. A
/// part without documents is left out. The style has the colour of each, by its name.
pub(super) fn headline(figure: u64, says: &str, parts: &[(&str, u64)]) -> Markup {
    let whole: u64 = parts.iter().map(|(_, n)| n).sum();
    let mut at = 0;
    let there = parts.iter().filter(|(_, n)| *n > 0);
    let drawn = there.map(|(name, n)| {
        let from = at;
        at += n;
        let x = |n: u64| n as f64 * 1000.0 / whole.max(1) as f64;
        (*name, *n, (x(from), x(*n).max(2.0)))
    });
    let drawn: Vec<_> = drawn.collect();
    html! {
        p.headline { b { (count(figure)) } " " (says) }
        @if whole > 0 {
            svg.whole aria-hidden="true" viewBox="0 0 1000 10" preserveAspectRatio="none" {
                @for (name, _, (x, width)) in &drawn {
                    rect class=(name) x={ (format_args!("{x:.1}")) } width={ (format_args!("{width:.1}")) } height="10" {}
                }
            }
            ul.legend {
                @for (name, n, _) in &drawn {
                    li { span class={ "key " (name) } {} b { (count(*n)) } " " (name) " "
                        span.soft { (part(*n, whole)) } }
                }
            }
        }
    }
}

/// A cell with a number.
pub fn number(text: &str) -> Markup {
    html! { td.n { (text) } }
}

#[cfg(test)]
mod tests {
    use super::super::frame::STYLE;
    use super::short_below;
    use std::collections::BTreeMap;

    /// The colours of the style: in light mode, and in dark mode.
    fn palettes() -> [BTreeMap<&'static str, [f64; 3]>; 2] {
        let mut light = BTreeMap::new();
        let mut dark = BTreeMap::new();
        let mut mode = 0;
        for line in STYLE.lines() {
            match line.trim() {
                "@media (prefers-color-scheme: dark) {" => mode = 1,
                _ if line.starts_with('}') => mode = 0,
                _ => {}
            }
            for part in line.split("--").skip(1) {
                let Some((name, value)) = part.split_once(": #") else {
                    continue;
                };
                let digits: Vec<u8> = value.bytes().take_while(u8::is_ascii_hexdigit).collect();
                let digits = String::from_utf8(digits).unwrap();
                let width = digits.len() / 3;
                let each = [0, 1, 2].map(|n| {
                    let text = &digits[n * width..(n + 1) * width];
                    let text = text.repeat(2 / width);
                    f64::from(u8::from_str_radix(&text, 16).unwrap()) / 255.0
                });
                if mode == 0 {
                    light.insert(name, each);
                } else {
                    dark.insert(name, each);
                }
            }
        }
        [light, dark]
    }

    /// WCAG 2.2, "contrast ratio".
    fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
        let luminance = |colour: [f64; 3]| {
            let [r, g, b] = colour.map(|c| match c <= 0.04045 {
                true => c / 12.92,
                false => ((c + 0.055) / 1.055).powf(2.4),
            });
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn colours_have_contrast_in_light_and_in_dark() {
        assert!((contrast([0.0; 3], [1.0; 3]) - 21.0).abs() < 1e-9);
        let text = [
            ("ink", "paper"),
            ("soft", "paper"),
            ("link", "paper"),
            ("ink", "tint"),
            ("soft", "tint"),
            ("link", "tint"),
            ("ink", "del"),
            ("ink", "ins"),
            // The labels of lines and marks.
            ("one", "paper"),
            ("two", "paper"),
            ("three", "paper"),
            ("ink", "heat-1"),
            ("ink", "heat-2"),
            ("ink", "heat-3"),
            ("ink", "heat-4"),
            ("ink", "heat-5"),
        ];
        let graphics = [
            ("one", "paper"),
            ("two", "paper"),
            ("three", "paper"),
            ("four", "paper"),
            ("edge", "paper"),
        ];
        for (palette, mode) in palettes().iter().zip(["light", "dark"]) {
            for (pairs, least) in [(&text[..], 4.5), (&graphics[..], 3.0)] {
                for (front, back) in pairs {
                    let found = contrast(palette[front], palette[back]);
                    assert!(found >= least, "{mode}: {front} on {back}: {found:.2}");
                }
            }
        }
    }

    #[test]
    fn no_score_below_the_threshold_looks_like_it() {
        for (score, shown) in [
            ("0.849624", "0.849"),
            ("0.849400", "0.849"),
            ("0.850000", "0.850"),
            ("0.850600", "0.851"),
            ("0.999999", "0.999"),
            ("1.000000", "1.000"),
            ("12", "12"),
        ] {
            assert_eq!(short_below(score, 0.85), shown);
        }
    }
}
