//! Plans as TOML files.

use std::fmt::Write;
use std::path::Path;

use serde::Deserialize;

use super::plan::{Estimate, Evidence, Plan, PlanConfig, PlannedGroup, Ratio, Subset, Target};
use crate::base::ids::{FingerprintKind, Threshold};
use crate::engine::collection::SizeGroups;
use crate::engine::shingle::{ShingleConfig, Short};
use crate::store::disk;
use crate::text::parse::{Fold, ParseConfig, TokenKind};
use crate::{Error, Result};

/// The format of plan files that this build writes and reads.
const FORMAT: u32 = 1;
/// The largest plan file that is read. Plans are small, so a longer file is not a plan.
const MOST_BYTES: u64 = 1 << 20;

/// Formats a plan as text.
pub fn write(plan: &Plan) -> String {
    let mut out = String::new();
    let target = &plan.config.target;
    let mut line = |text: std::fmt::Arguments<'_>| {
        let _ = out.write_fmt(text);
        out.push('\n');
    };
    line(format_args!(
        "# A sampling plan of lookalike: a ratio for each size group of documents, the smallest of which"
    ));
    line(format_args!(
        "# the lower end of the interval of precision was at the target. Apply it to this collection with"
    ));
    line(format_args!(
        "# --sampling THIS-FILE. Pairs across groups are compared on the coarser of two ratios."
    ));
    line(format_args!("format = {FORMAT}"));
    line(format_args!(""));
    line(format_args!("# The target."));
    line(format_args!("threshold = \"{}\"", target.threshold));
    line(format_args!("precision = \"{}\"", target.precision));
    if let Some(recall) = target.recall {
        line(format_args!("recall = \"{recall}\""));
    }
    let ratios: Vec<String> = plan
        .config
        .ratios
        .iter()
        .map(|&n| format!("\"{}\"", Ratio(n)))
        .collect();
    line(format_args!("ratios = [{}]", ratios.join(", ")));
    line(format_args!(""));
    match plan.config.subset {
        Some(subset) => {
            line(format_args!(
                "# Measured on a random subset with this number of representatives."
            ));
            line(format_args!("subset = \"{}\"", subset.share));
            line(format_args!("subset-seed = {}", subset.seed));
        }
        None => line(format_args!(
            "# Measured on the whole collection, which has this number of representatives."
        )),
    }
    line(format_args!("documents = {}", plan.documents));
    line(format_args!(""));
    line(format_args!("# The plan holds for these parameters only."));
    let shingle = &plan.shingle;
    for (name, value) in shingle.parse.parameters() {
        line(format_args!("{name} = \"{value}\""));
    }
    line(format_args!("detect-charset = {}", shingle.parse.detector));
    line(format_args!("shingle-size = {}", shingle.shingle_size));
    line(format_args!("short = \"{}\"", shingle.short));
    line(format_args!("fingerprint = \"{}\"", shingle.fingerprint));
    line(format_args!("seed = \"{}\"", shingle.seed));
    line(format_args!("size-groups = \"{}\"", plan.size_groups));
    line(format_args!(""));
    line(format_args!(
        "# A run with it processes about this share of all shingles; with the same ratio for every group,"
    ));
    line(format_args!(
        "# the coarsest that meets the target in each group is `uniform`, over all pairs together `uniform-overall`."
    ));
    line(format_args!("share = {:.6}", plan.share));
    line(format_args!("uniform = \"{}\"", plan.uniform));
    line(format_args!(
        "uniform-overall = \"{}\"",
        plan.uniform_overall
    ));
    for group in &plan.groups {
        line(format_args!(""));
        line(format_args!("[[group]]"));
        line(format_args!("words = \"{}\"", group.words));
        line(format_args!("documents = {}", group.documents));
        line(format_args!("shingles = {}", group.shingles));
        line(format_args!("ratio = \"{}\"", group.ratio));
        match group.evidence {
            Evidence::Own => line(format_args!("evidence = \"own\"")),
            Evidence::Pooled { first } => {
                let first_words = plan.groups.get(usize::from(first)).map_or("", |g| &g.words);
                line(format_args!(
                    "# Too few pairs in this group: measured together with the groups from \
                     {first_words} words on."
                ));
                line(format_args!("evidence = \"pooled\""));
                line(format_args!("pooled-from = {first}"));
            }
            Evidence::TooLittle => {
                line(format_args!(
                    "# Too few pairs to measure: every fingerprint is used."
                ));
                line(format_args!("evidence = \"too-little\""));
            }
        }
        for (name, estimate) in [("precision", group.precision), ("recall", group.recall)] {
            if let Some(Estimate {
                value,
                low,
                high,
                pairs,
                worth,
            }) = estimate
            {
                line(format_args!(
                    "{name} = {{ value = {value:.6}, low = {low:.6}, high = {high:.6}, pairs = {pairs}, worth = {worth:.1} }}"
                ));
            }
        }
    }
    out
}

#[derive(Deserialize)]
struct Versioned {
    format: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Raw {
    #[serde(rename = "format")]
    _format: u32,
    threshold: Threshold,
    precision: Threshold,
    recall: Option<Threshold>,
    ratios: Vec<Ratio>,
    subset: Option<Threshold>,
    subset_seed: Option<u64>,
    documents: u64,
    tokens: String,
    #[serde(default)]
    fold: Fold,
    detect_charset: bool,
    shingle_size: u32,
    short: String,
    fingerprint: String,
    seed: String,
    size_groups: SizeGroups,
    share: f64,
    uniform: Ratio,
    uniform_overall: Ratio,
    group: Vec<RawGroup>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct RawGroup {
    words: String,
    documents: u64,
    shingles: u64,
    ratio: Ratio,
    evidence: String,
    pooled_from: Option<u8>,
    precision: Option<Estimate>,
    recall: Option<Estimate>,
}

/// Reads a plan file.
pub fn read(path: &Path) -> Result<Plan> {
    let wrong = |what: String| Error::PlanFile {
        path: path.into(),
        what,
    };
    let bytes = disk::size(path)?;
    if bytes > MOST_BYTES {
        return Err(wrong(format!("it has {bytes} bytes, more than any plan")));
    }
    let text = String::from_utf8(disk::read_all(path)?).map_err(|e| wrong(e.to_string()))?;
    let unreadable = |e: toml::de::Error| wrong(e.to_string().trim().replace('\n', "; "));
    // Check the format before the fields, because another format may have other fields.
    let Versioned { format } = toml::from_str(&text).map_err(unreadable)?;
    if format != FORMAT {
        return Err(Error::Version {
            path: path.into(),
            found: format,
            least: FORMAT,
            most: FORMAT,
        });
    }
    let raw: Raw = toml::from_str(&text).map_err(unreadable)?;
    let groups: std::result::Result<Vec<PlannedGroup>, String> = raw
        .group
        .into_iter()
        .map(|group| {
            Ok(PlannedGroup {
                evidence: match (group.evidence.as_str(), group.pooled_from) {
                    ("own", None) => Evidence::Own,
                    ("pooled", Some(first)) => Evidence::Pooled { first },
                    ("too-little", None) => Evidence::TooLittle,
                    (other, _) => {
                        return Err(format!(
                            "evidence `{other}` of the group of {} words",
                            group.words
                        ));
                    }
                },
                words: group.words,
                documents: group.documents,
                shingles: group.shingles,
                ratio: group.ratio,
                precision: group.precision,
                recall: group.recall,
            })
        })
        .collect();
    let subset = match (raw.subset, raw.subset_seed) {
        (Some(share), Some(seed)) => Some(Subset { share, seed }),
        (None, None) => None,
        _ => return Err(wrong("subset and subset-seed belong together".into())),
    };
    let tokens: TokenKind = raw.tokens.parse().map_err(|e: String| wrong(e))?;
    let short: Short = raw.short.parse().map_err(|e: String| wrong(e))?;
    let fingerprint: FingerprintKind = raw.fingerprint.parse().map_err(|e: String| wrong(e))?;
    let seed = raw
        .seed
        .parse()
        .map_err(|_| wrong(format!("seed `{}` is no number", raw.seed)))?;
    let plan = Plan {
        config: PlanConfig {
            target: Target {
                threshold: raw.threshold,
                precision: raw.precision,
                recall: raw.recall,
            },
            ratios: raw.ratios.iter().map(|ratio| ratio.0).collect(),
            subset,
        },
        shingle: ShingleConfig {
            parse: ParseConfig {
                tokens,
                fold: raw.fold,
                detector: raw.detect_charset,
                ..ParseConfig::default()
            },
            shingle_size: raw.shingle_size,
            short,
            fingerprint,
            seed,
        },
        size_groups: raw.size_groups,
        documents: raw.documents,
        groups: groups.map_err(wrong)?,
        share: raw.share,
        uniform: raw.uniform,
        uniform_overall: raw.uniform_overall,
    };
    let count = plan.size_groups.count();
    if plan.groups.len() != count {
        let found = plan.groups.len();
        return Err(wrong(format!(
            "it has {found} groups, its size-groups are {count}"
        )));
    }
    check(&plan).map_err(wrong)?;
    // A person may have edited the ratios, and they still have to nest.
    let rates: Vec<String> = plan
        .groups
        .iter()
        .map(|group| group.ratio.to_string())
        .collect();
    rates
        .join(",")
        .parse::<crate::engine::sample::Sampling>()
        .map_err(wrong)?;
    Ok(plan)
}

/// Refuses values that cannot be written unchanged to the manifest and to another plan file.
fn check(plan: &Plan) -> std::result::Result<(), String> {
    if !plan.share.is_finite() {
        return Err(format!("share {} is no number", plan.share));
    }
    for (at, group) in plan.groups.iter().enumerate() {
        let expected = plan.size_groups.describe(at);
        if group.words != expected {
            let found = &group.words;
            return Err(format!("words {found:?} of the group of {expected} words"));
        }
        for estimate in group.precision.iter().chain(&group.recall) {
            let numbers = [estimate.value, estimate.low, estimate.high, estimate.worth];
            if let Some(number) = numbers.iter().find(|number| !number.is_finite()) {
                return Err(format!(
                    "an estimate of the group of {expected} words is {number}"
                ));
            }
        }
        if let Evidence::Pooled { first } = group.evidence
            && usize::from(first) > at
        {
            return Err(format!(
                "pooled-from {first} of the group of {expected} words, which is number {at}"
            ));
        }
    }
    Ok(())
}
