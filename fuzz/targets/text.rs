//! A document's bytes to tokens and fingerprints: charsets declared and guessed, markup, words.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use lookalike::base::ids::{FingerprintKind, Key};
use lookalike::engine::shingle::{ShingleConfig, Shingler, Short};
use lookalike::text::parse::{
    Code, Comments, Fold, Language, ParseConfig, Parser, TITLE_CHARS, TokenConsumer, TokenKind,
    Tokens,
};
use lookalike::text::read::{ContentKind, RawDocument};

use super::controls::Controls;

const CHARSETS: [&str; 16] = [
    "utf-8",
    "utf-16",
    "utf-16le",
    "utf-16be",
    "windows-1252",
    "shift_jis",
    "euc-jp",
    "iso-2022-jp",
    "gb18030",
    "big5",
    "euc-kr",
    "koi8-r",
    "x-user-defined",
    "replacement",
    "utf-32",
    "no such charset",
];

/// Keeps all text, and takes it in whole tokens.
#[derive(Default)]
struct Kept {
    text: Vec<u8>,
    tokens: u64,
}

impl TokenConsumer for Kept {
    fn take(&mut self, tokens: Tokens<'_>, last: bool) -> usize {
        assert!(tokens.starts.is_sorted_by(|a, b| a < b));
        self.tokens += tokens.len() as u64;
        let done = if last {
            tokens.bytes.len()
        } else {
            tokens
                .starts
                .last()
                .copied()
                .unwrap_or(0)
                .min(tokens.bytes.len())
        };
        self.text.extend_from_slice(&tokens.bytes[..done]);
        done
    }
}

pub fn run(data: &[u8]) {
    let mut controls = Controls::new(data);
    let flags = controls.byte();
    let declared = controls.byte();
    let kind = controls.byte();
    let tokens = match kind % 4 {
        0 | 1 => TokenKind::Words,
        2 if kind < 128 => TokenKind::Whitespace,
        2 => {
            let language = usize::from(controls.byte()) % Language::ALL.len();
            let comments = usize::from(controls.byte()) % Comments::ALL.len();
            TokenKind::Code(Code {
                language: Language::ALL[language],
                comments: Comments::ALL[comments],
            })
        }
        _ => TokenKind::Bytes(
            NonZeroU32::new(u32::from(controls.byte()) + 1).unwrap_or(NonZeroU32::MIN),
        ),
    };
    let shingle_size = u32::from(controls.byte() % 12) + 1;
    let own_label;
    let charset = match declared % 20 {
        n if usize::from(n) < CHARSETS.len() => Some(CHARSETS[usize::from(n)]),
        16 => {
            let length = usize::from(controls.byte() % 32);
            own_label = String::from_utf8_lossy(controls.bytes(length)).into_owned();
            Some(&own_label[..])
        }
        _ => None,
    };
    let body = controls.rest();
    let document = RawDocument {
        docno: "d".into(),
        title: (flags & 1 != 0).then(|| " a  title ".into()),
        content: if flags & 2 != 0 {
            ContentKind::Markup
        } else {
            ContentKind::Text
        },
        charset: charset.map(Into::into),
        body: body.into(),
        ..RawDocument::default()
    };
    let config = ShingleConfig {
        parse: ParseConfig {
            // Two share a bit.
            fold: match (&tokens, flags & 32 != 0, flags & 64 != 0) {
                (TokenKind::Bytes(_), ..) => Fold::default(),
                (TokenKind::Code(_) | TokenKind::Auto(_), identifiers, others) => Fold {
                    identifiers,
                    literals: others,
                    ..Fold::default()
                },
                (TokenKind::Words | TokenKind::Whitespace, compat, others) => Fold {
                    compat,
                    diacritics: others,
                    digits: others,
                    ..Fold::default()
                },
            },
            tokens,
            detector: flags & 4 != 0,
            ..ParseConfig::default()
        },
        shingle_size,
        short: if flags & 8 != 0 {
            Short::Skip
        } else {
            Short::Whole
        },
        fingerprint: if flags & 16 != 0 {
            FingerprintKind::Md5
        } else {
            FingerprintKind::Xxh3
        },
        seed: 1,
        excluded: None,
    };
    let text = tokens_of(&config, &document);
    match config.fingerprint {
        FingerprintKind::Xxh3 => shingles::<u64>(&config, &document),
        FingerprintKind::Md5 => shingles::<u128>(&config, &document),
    }
    same_in_wide_encodings(&config, &document, &text);
    same_of_kept_text(&config, &document, &text);
}

/// The text that is kept of it is UTF-8 and has the same tokens.
fn same_of_kept_text(config: &ShingleConfig, document: &RawDocument<'_>, tokens: &[u8]) {
    let mut parser = Parser::new(&config.parse);
    let (mut text, mut both) = (Vec::new(), Vec::new());
    parser.text(document, &mut text);
    parser.parse_keeping(document, &mut Kept::default(), &mut both);
    assert_eq!(text, both);
    let text = String::from_utf8(text).expect("kept text is UTF-8");
    let gaps = |a: char, b: char| a.is_whitespace() && b.is_whitespace();
    let folded = text
        .chars()
        .zip(text.chars().skip(1))
        .all(|(a, b)| !gaps(a, b));
    assert!(folded && text.trim() == text, "{text:?}");
    let plain = RawDocument::of_text(&text, ContentKind::Text);
    let mut kept = Kept::default();
    parser.parse(&plain, &mut kept);
    assert_eq!(
        String::from_utf8_lossy(&kept.text),
        String::from_utf8_lossy(tokens),
        "the tokens of {text:?}"
    );
}

/// The canonical document; what is promised of it.
fn tokens_of(config: &ShingleConfig, document: &RawDocument<'_>) -> Vec<u8> {
    let mut kept = Kept::default();
    let facts = Parser::new(&config.parse).parse(document, &mut kept);
    let text = std::str::from_utf8(&kept.text).expect("canonical text is UTF-8");
    let words = text.split(' ').filter(|word| !word.is_empty()).count() as u64;
    assert_eq!(facts.words, words, "words of {text:?}");
    assert!(!text.contains("  ") && !text.starts_with(' ') && !text.ends_with(' '));
    if let Some(title) = &facts.title {
        assert!(title.chars().count() <= TITLE_CHARS && title.trim() == title);
    }
    let letters = |c: char| c.is_alphanumeric() || c == '\'' || c == ' ' || !c.is_ascii();
    assert!(
        config.parse.tokens != TokenKind::Words || text.chars().all(letters),
        "{text:?}"
    );
    kept.text
}

/// Sets of ranges make up the whole set; nothing depends on what came before.
fn shingles<K: Key + Ord>(config: &ShingleConfig, document: &RawDocument<'_>) {
    let mut shingler = Shingler::<K>::new(config);
    let (mut all, mut part) = (Vec::new(), Vec::new());
    let facts = shingler.shingle(document, (K::from_u128(0), K::MAX), &mut all);
    assert!(all.is_sorted_by(|a, b| a < b));
    let mut union = BTreeSet::new();
    let middle = K::from_u128(K::MAX.to_u128() / 2);
    let above = K::from_u128(K::MAX.to_u128() / 2 + 1);
    for range in [(K::from_u128(0), middle), (above, K::MAX)] {
        let again = shingler.shingle_undigested(document, range, &mut part);
        assert_eq!((again.words, again.short), (facts.words, facts.short));
        assert_eq!(shingler.digests(), [facts.md5]);
        union.extend(part.iter().copied());
    }
    assert!(
        union.into_iter().eq(all.iter().copied()),
        "ranges differ from the whole"
    );
    if config.short == Short::Whole && facts.words > 0 {
        assert!(!all.is_empty(), "a document of words has no shingle");
    }
    assert!(all.len() <= shingler.most_fingerprints(document.body.len()).max(1));
}

/// The same text in UTF-16, which is decoded in pieces, has the same tokens.
fn same_in_wide_encodings(config: &ShingleConfig, document: &RawDocument<'_>, tokens: &[u8]) {
    let Ok(text) = std::str::from_utf8(&document.body) else {
        return;
    };
    // In UTF-16, a mark and a NUL look like the mark of UTF-32.
    let declared = document.charset.as_deref() == Some("utf-8");
    if !declared || text.starts_with(['\u{feff}', '\0']) {
        return;
    }
    let units = || text.encode_utf16();
    let encoded: [(&str, &[u8], Vec<u8>); 2] = [
        (
            "UTF-16LE",
            b"\xff\xfe",
            units().flat_map(u16::to_le_bytes).collect(),
        ),
        (
            "UTF-16BE",
            b"\xfe\xff",
            units().flat_map(u16::to_be_bytes).collect(),
        ),
    ];
    for (name, mark, units) in encoded {
        let wide = RawDocument {
            charset: None,
            body: [mark, &units].concat().into(),
            ..document.clone()
        };
        let mut kept = Kept::default();
        let facts = Parser::new(&config.parse).parse(&wide, &mut kept);
        assert_eq!(facts.charset, name);
        assert_eq!(
            String::from_utf8_lossy(&kept.text),
            String::from_utf8_lossy(tokens),
            "UTF-8 and {name} differ"
        );
    }
}
