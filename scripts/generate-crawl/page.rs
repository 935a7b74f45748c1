//! From a text to a page of HTML as of 2002: tables for layout, fonts, scripts, comments.
//!
//! # Invariants
//! - Markup adds no word to those of the page's texts: no other text stands in the page, and no tag
//!   within a word.
//! - Each host has its own style; all else of the markup is drawn page by page.
//!
//! # Where we depart from real pages
//! The markup is valid, every page is whole, and nothing is nested deeply.

use super::random::{Purpose, Random};
use super::text::{BlockKind, Text, Word};
use super::vocabulary::Vocabulary;

/// How what is not ASCII is written, and what is said of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Charset {
    /// ASCII with entities; nothing is declared.
    Entities,
    Latin1,
    Utf8,
}

impl Charset {
    pub fn label(self) -> Option<&'static str> {
        match self {
            Charset::Entities => None,
            Charset::Latin1 => Some("iso-8859-1"),
            Charset::Utf8 => Some("utf-8"),
        }
    }
}

/// How a host writes its pages.
pub struct Style {
    upper: bool,
    /// A font tag in every cell and paragraph.
    fonts: bool,
    /// Each cell says its width and alignment.
    wide_cells: bool,
    /// Spacer images and rules in the links.
    images: bool,
    script: u32,
    doctype: usize,
    comments: bool,
}

impl Style {
    pub fn of(seed: u64, host: u64) -> Style {
        let mut random = Random::new(seed, Purpose::Markup, 1 << 40 | host);
        Style {
            upper: random.chance(0.5),
            fonts: random.chance(0.5),
            wide_cells: random.chance(0.6),
            images: random.chance(0.7),
            script: random.below(5).saturating_sub(1),
            doctype: random.below(4) as usize,
            comments: random.chance(0.6),
        }
    }
}

const DOCTYPES: [&str; 4] = [
    "",
    "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\" \
     \"http://www.w3.org/TR/html4/loose.dtd\">\n",
    "<!doctype html public \"-//w3c//dtd html 4.0 transitional//en\">\n",
    "<!DOCTYPE HTML PUBLIC \"-//IETF//DTD HTML//EN\">\n",
];

const SCRIPT: &str = "function swapImage(name, source) {
  if (document.images && document.images[name]) {
    document.images[name].src = source;
  }
  return true;
}
function openWindow(url, name, width, height) {
  var features = 'width=' + width + ',height=' + height + ',scrollbars=yes,resizable=yes';
  var opened = window.open(url, name, features);
  if (opened.focus) { opened.focus(); }
  return false;
}
";

const SHEET: &str = "body { font-family: Arial, Helvetica, sans-serif; font-size: 10pt; }
a:link { color: #003366; text-decoration: none; }
a:hover { color: #990000; text-decoration: underline; }
td.nav { background-color: #e6e6cc; font-size: 9pt; }
.footer { font-size: 8pt; color: #666666; }
";

const FONT: &str = "font face=\"Arial, Helvetica, sans-serif\" size=\"2\"";

/// What a page is made of.
pub struct Page<'a> {
    pub seed: u64,
    pub vocabulary: &'a Vocabulary,
    pub style: Style,
    pub charset: Charset,
    pub body: &'a Text,
    pub links: &'a Text,
    pub closing: &'a Text,
}

/// Writes the page of that number.
pub fn write(page: &Page<'_>, number: u64, out: &mut Vec<u8>) {
    let mut writer = Writer {
        page,
        random: Random::new(page.seed, Purpose::Markup, number),
        out,
        until_link: 10,
    };
    writer.head();
    writer.links();
    for (kind, words) in page.body.blocks() {
        writer.block(kind, words);
    }
    writer.closing();
}

struct Writer<'a> {
    page: &'a Page<'a>,
    random: Random,
    out: &'a mut Vec<u8>,
    /// Words to the next link in running text.
    until_link: u32,
}

impl Writer<'_> {
    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// A tag, its name in the host's case.
    fn open(&mut self, tag: &str) {
        self.out.push(b'<');
        let name = tag.find(' ').unwrap_or(tag.len());
        let start = self.out.len();
        self.put(tag);
        if self.page.style.upper {
            self.out[start..start + name].make_ascii_uppercase();
        }
        self.out.push(b'>');
    }

    fn close(&mut self, tag: &str) {
        self.put("</");
        let start = self.out.len();
        self.put(tag);
        if self.page.style.upper {
            self.out[start..].make_ascii_uppercase();
        }
        self.out.push(b'>');
    }

    fn font(&mut self) {
        if self.page.style.fonts {
            self.open(FONT);
        }
    }

    fn end_font(&mut self) {
        if self.page.style.fonts {
            self.close("font");
        }
    }

    fn word(&mut self, word: Word, capital: bool) {
        if word.is_number() {
            push_number(self.out, word.value());
            return;
        }
        let start = self.out.len();
        let form = self.page.vocabulary.form(word.value());
        if word.has_accent() {
            push_accented(self.out, form, self.page.charset);
        } else {
            self.out.extend_from_slice(form);
        }
        if capital {
            self.out[start..start + 1].make_ascii_uppercase();
        }
    }

    /// Words with spaces between: a heading, a cell, the text of a link.
    fn phrase(&mut self, words: &[Word]) {
        for (i, &word) in words.iter().enumerate() {
            if i > 0 {
                self.out.push(b' ');
            }
            self.word(word, i == 0);
        }
    }

    /// Words as sentences, with links and stress.
    fn sentences(&mut self, words: &[Word]) {
        let mut capital = true;
        let mut linked = 0;
        for (i, &word) in words.iter().enumerate() {
            let bits = self.random.next();
            if i > 0 {
                self.out.push(if i % 14 == 0 { b'\n' } else { b' ' });
            }
            if linked == 0 && self.until_link == 0 {
                self.anchor();
                linked = 1 + (bits >> 60) as u32 % 4;
                self.until_link = 10 + (bits >> 40) as u32 % 60;
            }
            self.until_link = self.until_link.saturating_sub(1);
            let stressed = bits as u8 == 0;
            if stressed {
                self.open("b");
            }
            self.word(word, capital);
            if stressed {
                self.close("b");
            }
            let last = i + 1 == words.len();
            if linked > 0 {
                linked -= 1;
                if linked == 0 || last {
                    self.close("a");
                    linked = 0;
                }
            }
            capital = word.ends() || last;
            if capital {
                self.out.push(b'.');
            } else {
                match (bits >> 8) as u8 {
                    0..18 => self.out.push(b','),
                    18..20 => self.put(" &amp;"),
                    20..22 => self.put("&nbsp;"),
                    _ => {}
                }
            }
        }
    }

    fn anchor(&mut self) {
        self.put(if self.page.style.upper {
            "<A HREF=\""
        } else {
            "<a href=\""
        });
        self.address();
        self.put("\">");
    }

    /// An address within the host.
    fn address(&mut self) {
        for _ in 0..self.random.between(1, 2) {
            let rank = self.random.between(100, 3_000);
            self.out.push(b'/');
            self.out.extend_from_slice(self.page.vocabulary.form(rank));
        }
        let number = self.random.below(10_000);
        push_number(self.out, number);
        self.put(if self.page.style.upper {
            ".htm"
        } else {
            ".html"
        });
    }

    fn head(&mut self) {
        let page = self.page;
        self.put(DOCTYPES[page.style.doctype]);
        self.open("html");
        self.out.push(b'\n');
        self.open("head");
        self.out.push(b'\n');
        if let Some(label) = page.charset.label() {
            self.put("<meta http-equiv=\"Content-Type\" content=\"text/html; charset=");
            self.put(label);
            self.put("\">\n");
        }
        if let Some((BlockKind::Title, words)) = page.body.blocks().next() {
            self.open("title");
            self.phrase(words);
            self.close("title");
            self.out.push(b'\n');
            self.meta("keywords", ", ");
            self.meta("description", " ");
        }
        if page.style.script > 0 {
            self.open("style type=\"text/css\"");
            self.put("\n<!--\n");
            self.put(SHEET);
            self.put("-->\n");
            self.close("style");
            self.out.push(b'\n');
            self.open("script language=\"JavaScript\"");
            self.put("\n<!--\n");
            for _ in 1..page.style.script {
                self.put(SCRIPT);
            }
            for _ in 0..2 * page.style.script {
                self.put("var image = new Image(); image.src = \"");
                self.address();
                self.put("\";\n");
            }
            self.put("// -->\n");
            self.close("script");
            self.out.push(b'\n');
        }
        self.close("head");
        self.out.push(b'\n');
        self.open("body bgcolor=\"#FFFFFF\" text=\"#000000\" link=\"#003366\" vlink=\"#666699\"");
        self.out.push(b'\n');
    }

    /// Words that are in the page, and not in its text.
    fn meta(&mut self, name: &str, separator: &str) {
        self.put("<meta name=\"");
        self.put(name);
        self.put("\" content=\"");
        for i in 0..self.random.between(3, 25) {
            if i > 0 {
                self.put(separator);
            }
            let vocabulary = self.page.vocabulary;
            let rank = vocabulary.draw(&mut self.random);
            self.out.extend_from_slice(vocabulary.form(rank));
        }
        self.put("\">\n");
    }

    fn links(&mut self) {
        let style = &self.page.style;
        if self.page.links.len() == 0 {
            return;
        }
        if style.comments {
            self.put("<!-- begin navigation bar: do not edit below this line -->\n");
        }
        self.open("table width=\"100%\" border=\"0\" cellspacing=\"0\" cellpadding=\"2\"");
        for (_, words) in self.page.links.blocks() {
            for item in words.split_inclusive(|word| word.ends()) {
                self.put("\n");
                self.open("tr");
                self.open("td class=\"nav\" valign=\"top\" nowrap");
                if style.images {
                    self.put(
                        "<img src=\"/images/spacer.gif\" width=\"8\" height=\"12\" border=\"0\">",
                    );
                }
                self.font();
                self.anchor();
                self.phrase(item);
                self.close("a");
                self.end_font();
                self.close("td");
                self.close("tr");
            }
        }
        self.out.push(b'\n');
        self.close("table");
        self.put(if style.comments {
            "\n<!-- end navigation bar -->\n"
        } else {
            "\n"
        });
    }

    fn block(&mut self, kind: BlockKind, words: &[Word]) {
        match kind {
            BlockKind::Title => {}
            BlockKind::Heading => {
                self.open("h3");
                self.put("<a name=\"s");
                let number = self.random.below(1_000);
                push_number(self.out, number);
                self.put("\"></a>");
                self.font();
                self.phrase(words);
                self.end_font();
                self.close("h3");
                self.out.push(b'\n');
            }
            BlockKind::Paragraph => {
                self.open("p align=\"left\"");
                self.font();
                self.sentences(words);
                self.end_font();
                self.close("p");
                self.out.push(b'\n');
            }
            BlockKind::List => {
                self.open("ul");
                for item in words.split_inclusive(|word| word.ends()) {
                    self.out.push(b'\n');
                    self.open("li");
                    self.font();
                    let linked = self.random.chance(0.5);
                    if linked {
                        self.anchor();
                    }
                    self.phrase(item);
                    if linked {
                        self.close("a");
                    }
                    self.end_font();
                    self.close("li");
                }
                self.out.push(b'\n');
                self.close("ul");
                self.out.push(b'\n');
            }
            BlockKind::Table(columns) => self.table(columns, words),
        }
    }

    fn table(&mut self, columns: u32, words: &[Word]) {
        self.open(
            "table width=\"90%\" border=\"1\" cellspacing=\"0\" cellpadding=\"4\" align=\"center\"",
        );
        for (i, cell) in words.split_inclusive(|word| word.ends()).enumerate() {
            if (i as u32).is_multiple_of(columns) {
                if i > 0 {
                    self.close("tr");
                }
                self.out.push(b'\n');
                self.open("tr");
            }
            self.open(match (self.page.style.wide_cells, cell[0].is_number()) {
                (true, true) => "td width=\"15%\" align=\"right\" valign=\"top\"",
                (true, false) => "td width=\"25%\" align=\"left\" valign=\"top\"",
                (false, _) => "td",
            });
            self.font();
            self.phrase(cell);
            self.end_font();
            self.close("td");
        }
        self.close("tr");
        self.out.push(b'\n');
        self.close("table");
        self.out.push(b'\n');
    }

    fn closing(&mut self) {
        self.put(
            "<img src=\"/images/seal.gif\" width=\"120\" height=\"64\" border=\"0\" alt=\"\">\n",
        );
        self.put("<hr width=\"100%\" size=\"1\" noshade>\n");
        for (_, words) in self.page.closing.blocks() {
            self.open("p class=\"footer\"");
            self.put("&copy; ");
            self.sentences(words);
            self.close("p");
            self.out.push(b'\n');
        }
        self.close("body");
        self.out.push(b'\n');
        self.close("html");
        self.out.push(b'\n');
    }
}

/// A number in decimal digits.
pub fn push_number(out: &mut Vec<u8>, number: u32) {
    let mut digits = [0; 10];
    let mut at = digits.len();
    let mut left = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// A form with an acute accent on its first vowel behind the first letter.
fn push_accented(out: &mut Vec<u8>, form: &[u8], charset: Charset) {
    const VOWELS: [(u8, u8); 5] = [
        (b'a', 0xe1),
        (b'e', 0xe9),
        (b'i', 0xed),
        (b'o', 0xf3),
        (b'u', 0xfa),
    ];
    let found = form.iter().enumerate().skip(1).find_map(|(at, letter)| {
        let vowel = VOWELS.iter().find(|(plain, _)| plain == letter)?;
        Some((at, *vowel))
    });
    let Some((at, (plain, latin1))) = found else {
        out.extend_from_slice(form);
        return;
    };
    out.extend_from_slice(&form[..at]);
    match charset {
        Charset::Entities => {
            out.extend_from_slice(&[b'&', plain, b'a', b'c', b'u', b't', b'e', b';'])
        }
        Charset::Latin1 => out.push(latin1),
        // U+00C0 to U+00FF in UTF-8.
        Charset::Utf8 => out.extend_from_slice(&[0xc3, latin1 - 0x40]),
    }
    out.extend_from_slice(&form[at + 1..]);
}
