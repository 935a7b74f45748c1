//! Parameters that define tokens and the fallback for the charset.

use std::fmt;
use std::num::NonZeroU32;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::read::{extension, first_rule, is_first_rule};
use lookalike_base::{Error, keywords, refuse, stored_as_text};

/// The unit into which a document's text is cut.
///
/// The choice affects every result, so it is stored in the manifest and in the header of every
/// output, in the form that [`fmt::Display`] prints and [`FromStr`] reads.
///
/// ```
/// use lookalike_text::parse::TokenKind;
/// assert_eq!("bytes:20".parse::<TokenKind>().unwrap().to_string(), "bytes:20");
/// assert!("bytes:0".parse::<TokenKind>().is_err());
/// assert_eq!("code:python:drop".parse::<TokenKind>().unwrap().to_string(), "code:python:drop");
/// assert_eq!("code:common:keep".parse::<TokenKind>().unwrap().to_string(), "code");
/// assert_eq!("code:c++".parse::<TokenKind>().unwrap().to_string(), "code:c");
/// assert_eq!("code:ts:drop".parse::<TokenKind>().unwrap().to_string(), "code:javascript:drop");
/// assert_eq!("auto".parse::<TokenKind>().unwrap().of("src/a.py").to_string(), "code:python");
/// assert_eq!("auto".parse::<TokenKind>().unwrap().of("README").to_string(), "words");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TokenKind {
    /// Maximal runs of alphanumeric characters and their combining marks, lower-cased. An
    /// apostrophe inside a run is kept. Each Han, Hiragana or Katakana character is a token of its
    /// own, and so is each grapheme cluster of a script without spaces (Thai, Khmer).
    #[default]
    Words,
    /// Maximal runs of characters other than white space, case-sensitive (Ye, Wen & Ma 2008).
    Whitespace,
    /// The tokens of programs, formulas and queries: names, numbers, operators, brackets, and the
    /// words of literals and comments, with their case.
    Code(Code),
    /// Of documents whose names end like those of programs, the tokens of their language; of others,
    /// words ([`TokenKind::of`]).
    Auto(Comments),
    /// No tokens: each window of this many bytes of the text, with its white space folded, is a
    /// shingle (Cherkasova et al. 2009). The shingle size does not apply.
    Bytes(NonZeroU32),
}

impl TokenKind {
    /// The text itself: nothing but white space is folded.
    pub const RAW: TokenKind = TokenKind::Bytes(NonZeroU32::MIN);

    /// Whether the name of a document decides what its tokens are.
    pub fn is_by_name(&self) -> bool {
        self.of("") != *self
    }

    /// Returns the kind of tokens of a document with this name: without [`TokenKind::Auto`], and
    /// without [`Language::Auto`].
    pub fn of(&self, name: &str) -> TokenKind {
        match *self {
            TokenKind::Auto(comments) => match Language::of(name) {
                Some(language) => TokenKind::Code(Code { language, comments }),
                None => TokenKind::Words,
            },
            TokenKind::Code(Code {
                language: Language::Auto,
                comments,
            }) => {
                let language = Language::of(name).unwrap_or_default();
                TokenKind::Code(Code { language, comments })
            }
            _ => self.clone(),
        }
    }
}

impl fmt::Display for TokenKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenKind::Words => f.write_str("words"),
            TokenKind::Whitespace => f.write_str("whitespace"),
            TokenKind::Code(code) => {
                f.write_str("code")?;
                if code.language != Language::default() {
                    write!(f, ":{}", code.language)?;
                }
                if code.comments != Comments::default() {
                    write!(f, ":{}", code.comments)?;
                }
                Ok(())
            }
            TokenKind::Auto(Comments::Keep) => f.write_str("auto"),
            TokenKind::Auto(comments) => write!(f, "auto:{comments}"),
            TokenKind::Bytes(n) => write!(f, "bytes:{n}"),
        }
    }
}

impl FromStr for TokenKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is not a kind of token; use words, whitespace, auto, auto:drop, code, \
                 code:LANGUAGE, code:drop, code:LANGUAGE:drop or bytes:N"
            )
        };
        match text {
            "words" => Ok(TokenKind::Words),
            "whitespace" => Ok(TokenKind::Whitespace),
            "code" => Ok(TokenKind::Code(Code::default())),
            "auto" => Ok(TokenKind::Auto(Comments::default())),
            _ if text.starts_with("auto:") => {
                let comments = text.trim_start_matches("auto:").parse();
                comments.map(TokenKind::Auto).map_err(|_| wrong())
            }
            _ if text.starts_with("code:") => {
                let mut code = Code::default();
                let mut parts = text.split(':').skip(1).peekable();
                if let Some(language) = parts.next_if(|part| part.parse::<Comments>().is_err()) {
                    code.language = Language::called(language)?;
                }
                if let Some(comments) = parts.next() {
                    code.comments = comments.parse()?;
                }
                parts
                    .next()
                    .map_or(Ok(TokenKind::Code(code)), |_| Err(wrong()))
            }
            _ => {
                let digits = text.strip_prefix("bytes:");
                let digits = digits.filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
                let number = digits.and_then(|digits| digits.parse().ok());
                number.map(TokenKind::Bytes).ok_or_else(wrong)
            }
        }
    }
}

stored_as_text!(TokenKind);

/// How [`TokenKind::Code`] reads literals and comments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// The language, which decides what literals and comments are.
    pub language: Language,
    /// Whether comments count.
    pub comments: Comments,
}

keywords! {
    /// The treatment of comments with [`TokenKind::Code`].
    #[derive(Default)]
    pub enum Comments: "is not a treatment of comments; use" {
        /// Their words are tokens.
        #[default]
        Keep = "keep",
        /// They are left out.
        Drop = "drop",
    }
}

keywords! {
    /// The rules of comments and literals with [`TokenKind::Code`].
    #[derive(Default)]
    pub enum Language: "is not a language; use" {
        /// The rules that most languages share: `//` and `/* */`, quotes with escapes.
        #[default]
        Common = "common",
        /// C and C++.
        C = "c",
        /// Java.
        Java = "java",
        /// Python.
        Python = "python",
        /// JavaScript and TypeScript.
        Javascript = "javascript",
        /// Rust.
        Rust = "rust",
        /// Go.
        Go = "go",
        /// SQL.
        Sql = "sql",
        /// Shells.
        Shell = "shell",
        /// LaTeX.
        Latex = "latex",
        /// By the extension of the document's name; that of most languages if it says nothing.
        Auto = "auto",
    }
}

/// The extensions of the names of programs, by language. PHP is not among them: its files are markup,
/// of which only the visible text is read.
const EXTENSIONS: [(Language, &str); 10] = [
    (Language::C, "c cc cpp cu cuh cxx h hh hpp hxx inl m mm"),
    (
        Language::Common,
        "adb clj cs dart erl ex exs f90 gradle groovy hs jl kt kts lua ml pas pl pm proto \
         ps1 r rb scala sol swift vb zig",
    ),
    (Language::Go, "go"),
    (Language::Java, "java"),
    (Language::Javascript, "cjs cts js jsx mjs mts ts tsx"),
    (Language::Latex, "cls ltx sty tex"),
    (Language::Python, "py pyi pyw pyx"),
    (Language::Rust, "rs"),
    (Language::Shell, "bash ksh sh zsh"),
    (Language::Sql, "sql"),
];

impl Language {
    /// The language with this name, or what programs in it are called or end in: `typescript` and
    /// `ts` are `javascript`.
    fn called(name: &str) -> Result<Language, String> {
        let known: Result<Language, String> = name.parse();
        known.or_else(|wrong| match name {
            "c++" => Ok(Language::C),
            "golang" => Ok(Language::Go),
            "typescript" => Ok(Language::Javascript),
            name => Language::of(&format!(".{name}")).ok_or(wrong),
        })
    }

    /// The language of a document whose name ends in the extension of a program; `None` if it does
    /// not. An extension of a compressed file (`.gz`) may follow.
    pub fn of(name: &str) -> Option<Language> {
        let file = name.rsplit(['/', '\\']).next()?;
        let extension = extension(file).filter(|_| file.contains('.'))?;
        let has = |known: &str| known.split(' ').any(|known| known == extension);
        let mut languages = EXTENSIONS.iter();
        languages.find_map(|(language, known)| has(known).then_some(*language))
    }
}

/// Differences between characters that tokens leave out, beyond those that they always leave out.
///
/// ```
/// use lookalike_text::parse::Fold;
/// let fold: Fold = "digits,compat".parse().unwrap();
/// assert_eq!(fold.to_string(), "compat,digits");
/// assert!("case".parse::<Fold>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fold {
    /// Characters and their compatibility forms (NFKC): ligatures, full width and half width,
    /// circled and superscript digits. A character whose form is more than one token is not folded.
    pub compat: bool,
    /// Letters with and without accents, points or vowel marks, in Latin, Greek, Cyrillic, Hebrew,
    /// Arabic and Syriac.
    pub diacritics: bool,
    /// The decimal digits of all scripts.
    pub digits: bool,
    /// Arabic letters that keyboards and habits interchange: alef with and without hamza, heh and
    /// teh marbuta, yeh and alef maksura, and the kaf and yeh of Persian and Urdu; with vowel marks
    /// and without.
    pub arabic: bool,
    /// Words that a hyphen divides at the end of a line. Only with [`TokenKind::Words`] and
    /// [`TokenKind::Auto`].
    pub hyphens: bool,
    /// The names of programs that are not keywords of a usual language. Only with
    /// [`TokenKind::Code`].
    pub identifiers: bool,
    /// The numbers and the content of strings of programs. Only with [`TokenKind::Code`].
    pub literals: bool,
}

impl Fold {
    /// The folds, each with its name.
    fn named(&mut self) -> [(&'static str, &mut bool); 7] {
        [
            ("compat", &mut self.compat),
            ("diacritics", &mut self.diacritics),
            ("digits", &mut self.digits),
            ("arabic", &mut self.arabic),
            ("hyphens", &mut self.hyphens),
            ("identifiers", &mut self.identifiers),
            ("literals", &mut self.literals),
        ]
    }

    fn is_none(&self) -> bool {
        *self == Fold::default()
    }
}

impl fmt::Display for Fold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fold = *self;
        let named = fold.named().into_iter();
        let names: Vec<&str> = named.filter(|(_, on)| **on).map(|(name, _)| name).collect();
        match &names[..] {
            [] => f.write_str("none"),
            names => f.write_str(&names.join(",")),
        }
    }
}

impl FromStr for Fold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut fold = Fold::default();
        if text == "none" {
            return Ok(fold);
        }
        for name in text.split(',') {
            match fold.named().into_iter().find(|(known, _)| *known == name) {
                Some((_, on)) => *on = true,
                None => {
                    return Err(format!(
                        "`{name}` cannot be folded; use compat, diacritics, digits, arabic, \
                         hyphens, identifiers, literals, or none"
                    ));
                }
            }
        }
        Ok(fold)
    }
}

stored_as_text!(Fold);

/// The rule of tokens that this version follows ([`super`]).
///
/// - 1: version 0.1.0. Characters that nobody sees separated words, and the forms of a composed
///   character were different.
/// - 2: default-ignorable code points are dropped, and tokens are in NFC.
/// - 3: each grapheme cluster of a script without spaces is a token of `words`.
/// - 4: the final sigma is a sigma; a soft hyphen at the end of a line joins the word with the next
///   line; `--fold diacritics` drops tatweel.
pub const TOKEN_RULE: u32 = 4;

/// The oldest rule that this version can follow. A directory keeps the rule that it was made under.
pub const OLDEST_TOKEN_RULE: u32 = 3;

/// The parameters of stage 2.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParseConfig {
    /// The version of the rule by which text is cut: [`TOKEN_RULE`], unless another version of the
    /// program stored it.
    #[serde(default = "first_rule", skip_serializing_if = "is_first_rule")]
    pub token_rule: u32,
    /// The unit into which the text is cut.
    pub tokens: TokenKind,
    /// Which differences between characters tokens leave out.
    #[serde(default, skip_serializing_if = "Fold::is_none")]
    pub fold: Fold,
    /// Whether to guess the charset of a document that declares none and is not UTF-8. With
    /// `false`, such a document is decoded as windows-1252.
    pub detector: bool,
}

impl Default for ParseConfig {
    fn default() -> Self {
        ParseConfig {
            token_rule: TOKEN_RULE,
            tokens: TokenKind::default(),
            fold: Fold::default(),
            detector: true,
        }
    }
}

impl From<TokenKind> for ParseConfig {
    fn from(tokens: TokenKind) -> Self {
        ParseConfig {
            tokens,
            ..ParseConfig::default()
        }
    }
}

/// The error of a directory or file that was made under another rule of `what`: of tokens, or of
/// fields of inputs.
pub fn other_rule(path: &Path, what: &str, expected: u32, found: u32) -> Error {
    let help = if found < expected {
        "an earlier version made it, which read some texts as other words; run again into a new \
         directory with -o (commands that only read results still take the old one)"
    } else {
        "upgrade lookalike, or run again into a new directory with -o"
    };
    let rules =
        format!("rule {found} of {what}; this version of lookalike follows rule {expected}");
    Error::of(path, format!(" was made under {rules}"), help)
}

impl ParseConfig {
    /// Refuses a directory or file that was made under a rule of tokens that this version does not
    /// follow. `path` is where it is.
    ///
    /// # Errors
    /// `Other` if it follows another one.
    pub fn check_rule(&self, path: &Path) -> lookalike_base::Result<()> {
        if (OLDEST_TOKEN_RULE..=TOKEN_RULE).contains(&self.token_rule) {
            return Ok(());
        }
        Err(other_rule(path, "tokens", TOKEN_RULE, self.token_rule))
    }

    /// The parameters of a document with this name ([`TokenKind::of`]).
    pub fn of(&self, name: &str) -> ParseConfig {
        ParseConfig {
            tokens: self.tokens.of(name),
            ..self.clone()
        }
    }

    /// Names the differences that texts with the same tokens can have.
    pub fn overlooked(&self) -> String {
        let mut what = match self.tokens {
            TokenKind::Words | TokenKind::Auto(_) => vec!["case", "punctuation", "white space"],
            TokenKind::Whitespace | TokenKind::Code(_) | TokenKind::Bytes(_) => vec!["white space"],
        };
        if let TokenKind::Code(code) = self.tokens {
            let folds = [
                (code.comments == Comments::Drop, "comments"),
                (self.fold.identifiers, "names"),
                (self.fold.literals, "numbers and strings"),
            ];
            what.extend(folds.iter().filter(|(on, _)| *on).map(|(_, what)| what));
        }
        format!("{} or the like", what.join(", "))
    }

    /// The parameters that make tokens comparable, as name and value.
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let mut parameters = vec![("tokens", self.tokens.to_string())];
        if !self.fold.is_none() {
            parameters.push(("fold", self.fold.to_string()));
        }
        parameters
    }

    /// Refuses parameters that do not apply to the kind of token.
    ///
    /// # Errors
    /// `BadParameter`.
    pub fn check(&self) -> lookalike_base::Result<()> {
        let tokens = &self.tokens;
        let limit = match tokens {
            TokenKind::Bytes(_) if !self.fold.is_none() => {
                format!("--tokens {tokens} takes the bytes as they are; use none")
            }
            TokenKind::Whitespace | TokenKind::Code(_) if self.fold.hyphens => {
                format!("--tokens {tokens} keeps hyphens; use --tokens words, or leave hyphens out")
            }
            // The form of a character would be several tokens of code.
            TokenKind::Code(_) | TokenKind::Auto(_) if self.fold.compat => {
                "--tokens code has no compat, and neither has auto; use diacritics, digits, \
                 arabic, identifiers, literals or none"
                    .into()
            }
            TokenKind::Words | TokenKind::Whitespace
                if self.fold.identifiers || self.fold.literals =>
            {
                format!(
                    "--tokens {tokens} has no identifiers and literals; add --tokens code or --tokens auto"
                )
            }
            _ => return Ok(()),
        };
        refuse("fold", self.fold, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_read_and_print() {
        for text in [
            "words",
            "whitespace",
            "code",
            "code:c",
            "code:drop",
            "code:latex:drop",
            "code:auto",
            "auto",
            "auto:drop",
            "bytes:1",
            "bytes:4294967295",
        ] {
            let kind: TokenKind = text.parse().unwrap();
            assert_eq!(kind.to_string(), text);
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(json, format!("\"{text}\""));
            assert_eq!(serde_json::from_str::<TokenKind>(&json).unwrap(), kind);
        }
        for text in [
            "code:",
            "code::drop",
            "code:c:drop:",
            "code:c:x",
            "code:x",
            "code:drop:c",
            "coder",
            "auto:",
            "auto:c",
            "autos",
            "",
            "Words",
            "bytes",
            "bytes:",
            "bytes:0",
            "bytes:-1",
            "bytes:+1",
            "bytes:x",
        ] {
            assert!(text.parse::<TokenKind>().is_err(), "{text}");
        }
        assert!(serde_json::from_str::<TokenKind>("\"bytes:0\"").is_err());
    }

    #[test]
    fn names_decide() {
        let extensions = EXTENSIONS.map(|(_, extensions)| extensions).join(" ");
        let mut known: Vec<&str> = extensions.split(' ').collect();
        assert_eq!(known.len(), 65);
        known.sort_unstable();
        known.dedup();
        assert_eq!(known.len(), 65, "one of two languages");
        for (name, language) in [
            ("a.c", Some(Language::C)),
            ("src/deep/A.PY", Some(Language::Python)),
            ("x\\y\\main.rs", Some(Language::Rust)),
            ("query.sql.gz", Some(Language::Sql)),
            ("a.b.tsx", Some(Language::Javascript)),
            ("a.kt", Some(Language::Common)),
            ("notes.txt", None),
            ("page.html", None),
            ("c", None),
            ("a.c/b", None),
            ("a.gz", None),
            ("", None),
            ("a.", None),
        ] {
            assert_eq!(Language::of(name), language, "{name}");
            let code = |language| {
                TokenKind::Code(Code {
                    language,
                    comments: Comments::Drop,
                })
            };
            let auto: TokenKind = "auto:drop".parse().unwrap();
            assert_eq!(auto.of(name), language.map_or(TokenKind::Words, code));
            let by_name: TokenKind = "code:auto:drop".parse().unwrap();
            assert_eq!(by_name.of(name), code(language.unwrap_or_default()));
            assert_eq!(TokenKind::Whitespace.of(name), TokenKind::Whitespace);
        }
    }

    #[test]
    fn folds_read_and_print() {
        for text in [
            "none",
            "compat",
            "diacritics",
            "digits",
            "compat,diacritics",
            "diacritics,digits",
            "compat,diacritics,digits",
            "digits,identifiers,literals",
            "compat,diacritics,digits,arabic,hyphens",
        ] {
            let fold: Fold = text.parse().unwrap();
            assert_eq!(fold.to_string(), text);
            let json = serde_json::to_string(&fold).unwrap();
            assert_eq!(serde_json::from_str::<Fold>(&json).unwrap(), fold);
        }
        for text in [
            "",
            "Compat",
            "case",
            "digits,case",
            "compat,none",
            "compat,",
        ] {
            assert!(text.parse::<Fold>().is_err(), "{text}");
        }
    }

    /// Configurations of version 0.1.0 are stored in the same form, with the same digest.
    #[test]
    fn without_a_rule_it_is_the_first() {
        let stored = r#"{"tokens":"words","detector":true}"#;
        let config: ParseConfig = serde_json::from_str(stored).unwrap();
        assert_eq!(config.token_rule, 1);
        assert_eq!(serde_json::to_string(&config).unwrap(), stored);
        assert!(config.check_rule(Path::new("out")).is_err());
        let config = ParseConfig::default();
        let stored = serde_json::to_string(&config).unwrap();
        assert!(stored.contains(r#""token_rule":4"#), "{stored}");
        assert!(config.check_rule(Path::new("out")).is_ok());
    }
}
