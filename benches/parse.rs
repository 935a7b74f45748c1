//! Stage 2: raw bytes to canonical text, by kind of content. Each bench checks the words it found.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lookalike::text::parse::{Code, ParseConfig, Parser, TokenConsumer, TokenKind, Tokens};
use lookalike::text::read::{ContentKind, RawDocument};

/// Words in a page.
const WORDS: usize = 2000;

/// A word of one to nine letters, the same for the same number.
fn word(number: usize, out: &mut String) {
    let mut state = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    for i in 0..=state % 9 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let letter = b'a' + (state >> 59) as u8 % 26;
        out.push(char::from(if i == 0 && number.is_multiple_of(7) {
            letter - 32
        } else {
            letter
        }));
    }
}

/// Plain text of [`WORDS`] words.
fn text() -> String {
    let mut text = String::new();
    for i in 0..WORDS {
        word(i, &mut text);
        text.push_str([" ", ", ", " ", ". ", " ", "\n"][i % 6]);
    }
    text
}

/// A page of [`WORDS`] words, a good half of it markup.
fn html() -> String {
    let mut page = String::from(
        "<!DOCTYPE html><html><head><style>p { margin: 0 }</style>\
         <script>if (a < b) { document.write('<p>'); }</script></head><body>\n",
    );
    for i in 0..WORDS {
        if i % 50 == 0 {
            write!(
                page,
                "</p>\n<!-- part {i} -->\n<p class=\"body text\" id='p{i}'>"
            )
            .unwrap();
        }
        if i % 9 == 0 {
            write!(
                page,
                "<a href=\"http://example.org/page{i}.html?x=1&amp;y=2\"><b>"
            )
            .unwrap();
        }
        word(i, &mut page);
        if i % 9 == 0 {
            page.push_str("</b></a>");
        }
        page.push_str([" ", ", ", "&nbsp;", ".\r\n", " &mdash; "][i % 5]);
    }
    page + "</body></html>"
}

/// A program in C of [`WORDS`] tokens.
fn program() -> String {
    const FUNCTION: &str = "static int sum(char *text, size_t length)\n{\n    \
                            for (size_t i = 0; i < length; i++) {\n        \
                            total += text[i] * 0x1f;\n    }\n    // done\n}\n";
    const TOKENS: usize = 40;
    FUNCTION.repeat(WORDS / TOKENS)
}

struct Drop;

impl TokenConsumer for Drop {
    fn take(&mut self, tokens: Tokens<'_>, last: bool) -> usize {
        black_box(tokens.bytes);
        if last {
            tokens.bytes.len()
        } else {
            tokens.starts[tokens.len()]
        }
    }
}

fn bench(c: &mut Criterion) {
    let cyrillic: String = text()
        .chars()
        .map(|c| {
            if c == 'a' {
                'ж'
            } else if c == 'E' {
                'Ж'
            } else {
                c
            }
        })
        .collect();
    let (koi, _, _) = encoding_rs::KOI8_R.encode(&cyrillic);
    let han: String = (0..WORDS as u32)
        .filter_map(|i| char::from_u32(0x4e00 + i))
        .collect();
    // A consonant with a vowel or a tone above it is a token.
    let thai: String = (0..WORDS as u32)
        .flat_map(|i| {
            let letter = char::from_u32(0xe01 + i % 46);
            let mark = char::from_u32(0xe47 + i % 6).filter(|_| i.is_multiple_of(2));
            let space = (i % 40 == 39).then_some(' ');
            [letter, mark, space].into_iter().flatten()
        })
        .collect();
    let small: String = html().chars().take(1000).collect();
    let inputs = [
        (
            "html",
            html().into_bytes(),
            ContentKind::Markup,
            None,
            TokenKind::Words,
        ),
        (
            "html-1KB",
            small.into_bytes(),
            ContentKind::Markup,
            None,
            TokenKind::Words,
        ),
        (
            "text",
            text().into_bytes(),
            ContentKind::Text,
            None,
            TokenKind::Words,
        ),
        (
            "text-whitespace",
            text().into_bytes(),
            ContentKind::Text,
            None,
            TokenKind::Whitespace,
        ),
        (
            "program",
            program().into_bytes(),
            ContentKind::Text,
            None,
            TokenKind::Code(Code::default()),
        ),
        (
            "cyrillic-koi8-r",
            koi.into_owned(),
            ContentKind::Text,
            Some("koi8-r"),
            TokenKind::Words,
        ),
        (
            "han",
            han.into_bytes(),
            ContentKind::Text,
            None,
            TokenKind::Words,
        ),
        (
            "thai",
            thai.into_bytes(),
            ContentKind::Text,
            None,
            TokenKind::Words,
        ),
    ];
    let mut group = c.benchmark_group("parse");
    for (name, body, content, charset, tokens) in inputs {
        let document = RawDocument {
            charset: charset.map(Cow::Borrowed),
            body: Cow::Borrowed(&body),
            ..RawDocument::of_text("", content)
        };
        let mut parser = Parser::new(&ParseConfig {
            tokens,
            ..ParseConfig::default()
        });
        let expected = if name == "html-1KB" {
            // Cut at a thousand characters: what it holds is what the first run finds.
            let words = parser.parse(&document, &mut Drop).words;
            assert!((20..200).contains(&words), "{words}");
            words
        } else {
            WORDS as u64
        };
        group.throughput(Throughput::Bytes(body.len() as u64));
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| {
                let facts = parser.parse(black_box(&document), &mut Drop);
                assert_eq!(facts.words, expected);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
