//! Plans as TOML files.

use std::fmt::Write;
use std::path::Path;

use serde::Deserialize;

use super::Sampling;
use super::plan::{Estimate, Evidence, Plan, PlanConfig, PlannedGroup, Ratio, Subset, Target};
use crate::collection::SizeGroups;
use crate::shingle::{ShingleConfig, Short};
use lookalike_base::{Error, FingerprintKind, Result, Threshold};
use lookalike_store::disk;
use lookalike_text::parse::{Fold, ParseConfig, TokenKind};

/// The format of plan files that this build writes and reads.
const FORMAT: u32 = 1;
/// The largest plan file that is read. Plans are small, so a longer file is not a plan.
const MOST_BYTES: u64 = 1 << 20;

/// How every plan file begins.
pub const HEAD: &str = "# A sampling plan of lookalike";

/// Formats a plan as text.
pub fn write(plan: &Plan) -> String {
    let Target {
        threshold,
        precision,
        recall,
    } = &plan.config.target;
    let recall = recall.map_or(String::new(), |recall| format!("\nrecall = \"{recall}\""));
    let ratios = plan.config.ratios.iter();
    let ratios: Vec<String> = ratios.map(|&n| format!("\"{}\"", Ratio(n))).collect();
    let ratios = ratios.join(", ");
    let measured = match plan.config.subset {
        Some(Subset { share, seed }) => format!(
            "# Measured on a random subset with this number of representatives.\n\
             subset = \"{share}\"\n\
             subset-seed = {seed}"
        ),
        None => "# Measured on the whole collection, which has this number of representatives."
            .to_string(),
    };
    let parsed = plan.shingle.parse.parameters().into_iter();
    let parsed: String = parsed
        .map(|(name, value)| format!("{name} = \"{value}\"\n"))
        .collect();
    let ShingleConfig {
        parse,
        shingle_size,
        short,
        fingerprint,
        seed,
        // A collection that excludes texts has no plan.
        excluded: _,
    } = &plan.shingle;
    let (detector, documents) = (parse.detector, plan.documents);
    let Plan {
        size_groups,
        share,
        uniform,
        uniform_overall,
        ..
    } = plan;
    let mut out = format!(
        r#"{HEAD}: a ratio for each size group of documents, the smallest of which
# the lower end of the interval of precision was at the target. Apply it to this collection with
# --sampling THIS-FILE. Pairs across groups are compared on the coarser of two ratios.
format = {FORMAT}

# The target.
threshold = "{threshold}"
precision = "{precision}"{recall}
ratios = [{ratios}]

{measured}
documents = {documents}

# The plan holds for these parameters only.
{parsed}detect-charset = {detector}
shingle-size = {shingle_size}
short = "{short}"
fingerprint = "{fingerprint}"
seed = "{seed}"
size-groups = "{size_groups}"

# A run with it processes about this share of all shingles; with the same ratio for every group,
# the coarsest that meets the target in each group is `uniform`, over all pairs together `uniform-overall`.
share = {share:.6}
uniform = "{uniform}"
uniform-overall = "{uniform_overall}"
"#
    );
    for group in &plan.groups {
        write_group(&mut out, plan, group);
    }
    out
}

fn write_group(out: &mut String, plan: &Plan, group: &PlannedGroup) {
    let evidence = match group.evidence {
        Evidence::Own => "evidence = \"own\"".to_string(),
        Evidence::Pooled { first } => {
            let first_words = plan.groups.get(usize::from(first)).map_or("", |g| &g.words);
            format!(
                "# Too few pairs in this group: measured together with the groups from \
                 {first_words} words on.\n\
                 evidence = \"pooled\"\n\
                 pooled-from = {first}"
            )
        }
        Evidence::TooLittle => "# Too few pairs to measure: every fingerprint is used.\n\
             evidence = \"too-little\""
            .to_string(),
    };
    let PlannedGroup {
        words,
        documents,
        shingles,
        ratio,
        ..
    } = group;
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        r#"
[[group]]
words = "{words}"
documents = {documents}
shingles = {shingles}
ratio = "{ratio}"
{evidence}
"#
    );
    for (name, estimate) in [("precision", group.precision), ("recall", group.recall)] {
        if let Some(Estimate {
            value,
            low,
            high,
            pairs,
            worth,
        }) = estimate
        {
            let _ = writeln!(
                out,
                "{name} = {{ value = {value:.6}, low = {low:.6}, high = {high:.6}, pairs = {pairs}, worth = {worth:.1} }}"
            );
        }
    }
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
    tokens: TokenKind,
    #[serde(default)]
    fold: Fold,
    detect_charset: bool,
    shingle_size: u32,
    short: Short,
    fingerprint: FingerprintKind,
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

impl RawGroup {
    fn planned(self) -> std::result::Result<PlannedGroup, String> {
        let evidence = match (self.evidence.as_str(), self.pooled_from) {
            ("own", None) => Evidence::Own,
            ("pooled", Some(first)) => Evidence::Pooled { first },
            ("too-little", None) => Evidence::TooLittle,
            (other, _) => {
                return Err(format!(
                    "evidence `{other}` of the group of {} words",
                    self.words
                ));
            }
        };
        Ok(PlannedGroup {
            evidence,
            words: self.words,
            documents: self.documents,
            shingles: self.shingles,
            ratio: self.ratio,
            precision: self.precision,
            recall: self.recall,
        })
    }
}

/// Reads a plan file.
pub fn read(path: &Path) -> Result<Plan> {
    let wrong = |what: String| {
        let what = format!(" is not a valid sampling plan: {what}");
        Error::of(
            path,
            what,
            "write it with `lookalike plan`, and change only its ratios",
        )
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
        return Err(Error::version(path, format, FORMAT..=FORMAT));
    }
    let raw: Raw = toml::from_str(&text).map_err(unreadable)?;
    let subset = match (raw.subset, raw.subset_seed) {
        (Some(share), Some(seed)) => Some(Subset { share, seed }),
        (None, None) => None,
        _ => return Err(wrong("subset and subset-seed belong together".into())),
    };
    let seed =
        (raw.seed.parse()).map_err(|_| wrong(format!("seed `{}` is not a number", raw.seed)))?;
    let groups = raw.group.into_iter().map(RawGroup::planned);
    let groups = groups
        .collect::<std::result::Result<_, _>>()
        .map_err(wrong)?;
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
                tokens: raw.tokens,
                fold: raw.fold,
                detector: raw.detect_charset,
                ..ParseConfig::default()
            },
            shingle_size: raw.shingle_size,
            short: raw.short,
            fingerprint: raw.fingerprint,
            seed,
            excluded: None,
        },
        size_groups: raw.size_groups,
        documents: raw.documents,
        groups,
        share: raw.share,
        uniform: raw.uniform,
        uniform_overall: raw.uniform_overall,
    };
    check(&plan).map_err(wrong)?;
    Ok(plan)
}

/// Refuses values that cannot be written unchanged to the manifest and to another plan file.
fn check(plan: &Plan) -> std::result::Result<(), String> {
    let (count, found) = (plan.size_groups.count(), plan.groups.len());
    if found != count {
        return Err(format!(
            "it has {found} groups, its size-groups are {count}"
        ));
    }
    if !plan.share.is_finite() {
        return Err(format!("share {} is not a number", plan.share));
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
    // A person may have edited the ratios, and they still have to nest.
    let rates: Vec<String> = plan.groups.iter().map(|g| g.ratio.to_string()).collect();
    rates.join(",").parse::<Sampling>().map(drop)
}
