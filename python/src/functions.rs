//! Computes the results of the stages of a run for single texts.

use lookalike::base::ids::{FingerprintKind, Key};
use lookalike::base::measure::Measure;
use lookalike::engine::shingle::{ShingleConfig, Shingler, Short};
use lookalike::text::parse::{ParseConfig, Parser, TokenConsumer, TokenKind, Tokens};
use lookalike::text::read::{ContentKind, RawDocument};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::memory::SURROGATE;

/// The text of an argument.
fn utf8<'t>(name: &str, text: &'t Bound<'_, PyString>) -> PyResult<&'t str> {
    text.to_str()
        .map_err(|_| wrong(format!("{name} {SURROGATE}")))
}

/// A text as a document.
fn document(text: &str) -> RawDocument<'_> {
    RawDocument::of_text(text, ContentKind::Text)
}

/// Collects the tokens of a document.
#[derive(Default)]
struct Collected(Vec<String>);

impl TokenConsumer for Collected {
    fn take(&mut self, tokens: Tokens<'_>, _last: bool) -> usize {
        let found = tokens
            .windows(1)
            .map(|token| String::from_utf8_lossy(token).into_owned());
        self.0.extend(found);
        tokens
            .starts
            .last()
            .copied()
            .unwrap_or(0)
            .min(tokens.bytes.len())
    }
}

fn wrong(text: impl ToString) -> PyErr {
    PyValueError::new_err(text.to_string())
}

fn tokens_of(text: &str, kind: &str, fold: &str) -> PyResult<Vec<String>> {
    let tokens: TokenKind = kind.parse().map_err(wrong)?;
    if let TokenKind::Bytes(_) = tokens {
        return Err(wrong(format!("`{kind}` has windows of bytes, not tokens")));
    }
    let config = ParseConfig {
        tokens,
        fold: fold.parse().map_err(wrong)?,
        ..ParseConfig::default()
    };
    let mut collected = Collected::default();
    Parser::new(&config).parse(&document(text), &mut collected);
    Ok(collected.0)
}

/// The tokens of a text, in order.
#[pyfunction]
#[pyo3(name = "tokens", signature = (text, tokens, fold))]
pub fn tokens(
    py: Python<'_>,
    text: &Bound<'_, PyString>,
    tokens: &str,
    fold: &str,
) -> PyResult<Vec<String>> {
    let text = utf8("the text", text)?;
    py.detach(|| tokens_of(text, tokens, fold))
}

/// The shingles of a text, in order, each as its tokens with a space between them.
#[pyfunction]
#[pyo3(signature = (text, shingle_size, tokens, fold, short))]
pub fn shingles(
    py: Python<'_>,
    text: &Bound<'_, PyString>,
    shingle_size: u32,
    tokens: &str,
    fold: &str,
    short: &str,
) -> PyResult<Vec<String>> {
    config(shingle_size, tokens, fold, short, "64", 0)?;
    let text = utf8("the text", text)?;
    let short: Short = short.parse().map_err(wrong)?;
    py.detach(|| {
        let tokens = tokens_of(text, tokens, fold)?;
        let size = shingle_size as usize;
        if tokens.len() < size {
            let whole = short == Short::Whole && !tokens.is_empty();
            return Ok(whole.then(|| tokens.join(" ")).into_iter().collect());
        }
        Ok(tokens
            .windows(size)
            .map(|tokens| tokens.join(" "))
            .collect())
    })
}

fn config(
    shingle_size: u32,
    tokens: &str,
    fold: &str,
    short: &str,
    fingerprint: &str,
    seed: u64,
) -> PyResult<ShingleConfig> {
    let config = ShingleConfig {
        parse: ParseConfig {
            tokens: tokens.parse().map_err(wrong)?,
            fold: fold.parse().map_err(wrong)?,
            ..ParseConfig::default()
        },
        shingle_size,
        short: short.parse().map_err(wrong)?,
        fingerprint: fingerprint.parse().map_err(wrong)?,
        seed,
        ..ShingleConfig::default()
    };
    config.check().map_err(wrong)?;
    Ok(config)
}

fn set<K: Key>(shingler: &mut Shingler<K>, text: &str) -> Vec<K> {
    let mut set = Vec::new();
    shingler.shingle(&document(text), (K::default(), K::MAX), &mut set);
    set
}

/// The distinct fingerprints of a text, in order of value.
#[pyfunction]
#[pyo3(signature = (text, shingle_size, tokens, fold, short, fingerprint, seed))]
#[expect(clippy::too_many_arguments, reason = "the parameters of a run")]
pub fn fingerprints(
    py: Python<'_>,
    text: &Bound<'_, PyString>,
    shingle_size: u32,
    tokens: &str,
    fold: &str,
    short: &str,
    fingerprint: &str,
    seed: u64,
) -> PyResult<Vec<u128>> {
    let config = config(shingle_size, tokens, fold, short, fingerprint, seed)?;
    let text = utf8("the text", text)?;
    Ok(py.detach(|| match config.fingerprint {
        FingerprintKind::Xxh3 => set(&mut Shingler::<u64>::new(&config), text)
            .into_iter()
            .map(u128::from)
            .collect(),
        FingerprintKind::Md5 => set(&mut Shingler::<u128>::new(&config), text),
    }))
}

fn score_of<K: Key>(config: &ShingleConfig, a: &str, b: &str, measure: Measure) -> f64 {
    let mut shingler = Shingler::<K>::new(config);
    let (a, b) = (set(&mut shingler, a), set(&mut shingler, b));
    let shared = a.iter().filter(|key| b.binary_search(key).is_ok()).count();
    measure.value(shared as u64, a.len() as u64, b.len() as u64)
}

/// The resemblance or the containment of two texts.
#[pyfunction]
#[pyo3(signature = (a, b, measure, shingle_size, tokens, fold, short, fingerprint, seed))]
#[expect(clippy::too_many_arguments, reason = "the parameters of a run")]
pub fn score(
    py: Python<'_>,
    a: &Bound<'_, PyString>,
    b: &Bound<'_, PyString>,
    measure: &str,
    shingle_size: u32,
    tokens: &str,
    fold: &str,
    short: &str,
    fingerprint: &str,
    seed: u64,
) -> PyResult<f64> {
    let config = config(shingle_size, tokens, fold, short, fingerprint, seed)?;
    let (a, b) = (utf8("the text a", a)?, utf8("the text b", b)?);
    let measure = match measure {
        "resemblance" => Measure::Resemblance,
        "containment" => Measure::Containment,
        _ => {
            return Err(wrong(format!(
                "`{measure}` is neither resemblance nor containment"
            )));
        }
    };
    Ok(py.detach(|| match config.fingerprint {
        FingerprintKind::Xxh3 => score_of::<u64>(&config, a, b, measure),
        FingerprintKind::Md5 => score_of::<u128>(&config, a, b, measure),
    }))
}
