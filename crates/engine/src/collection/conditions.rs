//! The condition of a collection, and the values of its documents.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;
use std::sync::{Mutex, OnceLock};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::catalogue::{Catalogue, each_document, own_rule, rule};
use super::condition::{Condition, FieldValues, READ, Rule, is_rounded, needed};
use super::records::config;
use lookalike_base::{Context, Result, count, counted, lock, refuse};
use lookalike_store::Workspace;
use lookalike_text::read::{FACTS, InputFile, RecordReader};

/// The outcomes of pairs of values that are remembered, and their memory.
const MOST_KNOWN: usize = 1 << 16;
const KNOWN_BYTES: u64 = 64 * MOST_KNOWN as u64;
/// Memory of a distinct tuple of values beside its bytes, and of each of them.
const TUPLE_BYTES: u64 = 96;
const VALUE_BYTES: u64 = 80;

/// Refuses a field of a condition that no document has, or that no document has in a form that can
/// be used, and warns about the other documents whose values cannot be used.
pub fn check(
    workspace: &Workspace,
    condition: Option<&Condition>,
    inputs: &[InputFile],
    context: &Context<'_>,
) -> Result<()> {
    let Some(rule) = rule(workspace, condition)? else {
        return Ok(());
    };
    let (fields, kinds) = (rule.condition.fields(), &rule.condition.kinds);
    // By field and outcome: the number of documents, and the docno or the value of the first one.
    let mut seen = vec![<[(u64, String); 4]>::default(); fields.len()];
    // Most documents have the values of others. Reading them takes longer than all the rest.
    let mut known: HashMap<u128, Vec<usize>> = HashMap::new();
    let mut documents = 0;
    each_document(workspace, |number, document| {
        context.tick("ingest", number)?;
        documents += 1;
        let kept = document.fields.0;
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        let outcomes = known.entry(xxh3_128(kept.as_bytes()));
        let outcomes = outcomes.or_insert_with(|| outcomes_of(&rule, kept));
        for (at, (&outcome, seen)) in outcomes.iter().zip(&mut seen).enumerate() {
            let (count, first) = &mut seen[outcome];
            *count += 1;
            if *count == 1 {
                let value = rule.values(kept).0.swap_remove(at);
                let value = value.map(|(text, ..)| text.inner().to_string());
                let text = value.unwrap_or_else(|| document.docno.into());
                *first = text.chars().take(64).collect();
            }
        }
        Ok(())
    })?;
    let warn = |line: String| context.progress.lost(&format!("warning: --where: {line}"));
    for ((field, kinds), seen) in fields.iter().zip(kinds).zip(seen) {
        let [(missing, without), (unread, example), (rounded, long), _] = seen;
        let found = documents - missing;
        if found == 0 && documents > 0 && !FACTS.contains(&&**field) {
            let read = &config(&workspace.manifest).read;
            let limit = match &**field {
                "folder" | "top_folder" => no_folders(inputs),
                _ => RecordReader::no_such_field(field, inputs, read),
            };
            return refuse("where", &rule.condition, limit);
        }
        if missing > 0 {
            warn(format!(
                "{} of {} without {field}, such as {}; comparisons with it are false",
                count(missing),
                counted(documents, "document"),
                without.escape_debug(),
            ));
        }
        let (numbers, needed) = (kinds.contains(READ), needed(kinds));
        if numbers && unread == found && found > 0 {
            let limit = format!("no value of {field} is {needed}, such as {example:?}");
            return refuse("where", &rule.condition, limit);
        }
        // Texts may be ordered, but not beside numbers.
        if unread > 0 && (numbers || kinds.contains('o') && unread < found) {
            warn(format!(
                "{} of {field} not {needed}, such as {example:?}; no comparison that needs one \
                 holds, nor its negation",
                counted(unread, "value"),
            ));
        }
        if rounded > 0 {
            warn(format!(
                "{} of {field} with too many digits, such as {long:?}; a comparison with a number \
                 or of a calculation takes them for the nearest number of 64 bits, which has about \
                 16",
                counted(rounded, "value"),
            ));
        }
    }
    Ok(())
}

/// Calls `take` with every document's value of each field that the condition of a collection names.
/// Returns whether all inputs have been read. If not, it does not call `take`, because missing values
/// would be unknown.
pub fn each_value(workspace: &Workspace, take: &mut dyn FnMut(&str, Option<&str>)) -> Result<bool> {
    if !super::ingested(&workspace.manifest) {
        return Ok(false);
    }
    let Some(rule) = own_rule(workspace)? else {
        return Ok(true);
    };
    each_document(workspace, |_, document| {
        let values = rule.values(document.fields.0).0;
        for (field, value) in rule.condition.fields().iter().zip(&values) {
            take(field, value.as_ref().map(|(text, ..)| text.inner()));
        }
        Ok(())
    })?;
    Ok(true)
}

/// By field, what its value is: missing, not what calculations need, rounded by them, or as it is.
fn outcomes_of(rule: &Rule, kept: &str) -> Vec<usize> {
    let values = rule.values(kept).0.into_iter().zip(&rule.condition.kinds);
    let outcome = values.map(|(value, kinds)| match value {
        None => 0,
        Some((_, [None, None], _)) => 1,
        Some((text, ..)) if is_rounded(kinds, text.inner()) => 2,
        Some(_) => 3,
    });
    outcome.collect()
}

/// Why no file has a top folder: if several folders were named, their parent is the input to give.
fn no_folders(inputs: &[InputFile]) -> String {
    let mut folders = inputs.iter().filter_map(|input| input.path.parent());
    let first = folders
        .next()
        .filter(|first| folders.any(|of| of != *first));
    let above = match first.and_then(Path::parent) {
        Some(above) if above.as_os_str().is_empty() => ": .".into(),
        Some(above) => format!(": {}", above.display()),
        None => String::new(),
    };
    format!(
        "no file is in a folder below an input; give the directory of the folders as input{above}"
    )
}

/// How a condition fared on the pairs on which it was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    pairs: u64,
    held: u64,
    undecided: u64,
    /// The first pair that could not be decided.
    pub(crate) first: Option<(u32, u32)>,
}

/// The condition of a collection, with the values of all documents.
pub struct Conditions {
    rule: Rule,
    /// The number of each document's values.
    numbers: Vec<u32>,
    /// Distinct values, as the collection keeps them, and read once for all pairs.
    values: Vec<(Box<str>, OnceLock<FieldValues>)>,
    /// The outcome of pairs of values.
    known: Mutex<HashMap<(u32, u32), Option<bool>>>,
    /// The bytes of memory that they take.
    pub bytes: u64,
}

impl Conditions {
    /// Reads the values; `None` without a condition.
    ///
    /// # Errors
    /// `BudgetTooSmall` if they take more than half of the memory; `BadParameter` if the collection
    /// does not keep them.
    pub fn open(
        workspace: &Workspace,
        condition: Option<&Condition>,
        context: &Context<'_>,
    ) -> Result<Option<Conditions>> {
        let Some(rule) = rule(workspace, condition)? else {
            return Ok(None);
        };
        let documents = Catalogue::stats(workspace)?.documents;
        let mut numbers = Vec::with_capacity(documents as usize);
        let (mut values, mut places) = (Vec::new(), HashMap::new());
        let of_values = rule.places.len() as u64 * VALUE_BYTES;
        let mut bytes = documents * 4 + KNOWN_BYTES;
        each_document(workspace, |number, document| {
            context.tick("join", number)?;
            let next = values.len() as u32;
            let entry = places.entry(xxh3_128(document.fields.0.as_bytes()));
            if let Entry::Vacant(_) = entry {
                bytes += TUPLE_BYTES + 2 * document.fields.0.len() as u64 + of_values;
                // A value that does not fit is only counted.
                if bytes * 2 > context.budget.memory.0 {
                    return Ok(());
                }
                values.push((document.fields.0.into(), OnceLock::new()));
            }
            numbers.push(*entry.or_insert(next));
            Ok(())
        })?;
        context.budget.require(bytes * 2, || {
            format!(
                "the values of --where of {}",
                counted(documents, "document")
            )
        })?;
        let known = Mutex::default();
        Ok(Some(Conditions {
            rule,
            numbers,
            values,
            known,
            bytes,
        }))
    }

    /// Whether the condition holds for a pair of documents, a < b. Counts the pair.
    pub fn hold_for(&self, (a, b): (u32, u32), tried: &mut Tried) -> bool {
        let decided = self.decide(a, b);
        let holds = decided == Some(true);
        tried.pairs += 1;
        tried.held += u64::from(holds);
        if decided.is_none() {
            tried.undecided += 1;
            tried.first.get_or_insert((a, b));
        }
        holds
    }

    /// Warns if it holds for none of the pairs on which it was tried because it has no answer for
    /// some. Returns how many, and why the first one has none.
    pub fn undecided(
        &self,
        workspace: &Workspace,
        tried: &Tried,
        context: &Context<'_>,
    ) -> Result<Option<String>> {
        let Some((a, b)) = tried.first.filter(|_| tried.held == 0) else {
            return Ok(None);
        };
        let names = Catalogue::names(workspace, &context.budget)?;
        let (one, other) = (names.get(a)?, names.get(b)?);
        let why = self.of_two(a, b).and_then(|(a, b)| self.rule.lacks(a, b));
        let other_why = "numbers and texts have no order, or a calculation no result";
        let line = format!(
            "--where holds for no pair and has no answer for {} of {}, such as {} and {}: {}",
            count(tried.undecided),
            count(tried.pairs),
            one.escape_debug(),
            other.escape_debug(),
            why.as_deref().unwrap_or(other_why)
        );
        context.progress.lost(&format!("warning: {line}"));
        Ok(Some(line))
    }

    /// The number of the values of a document.
    fn number(&self, document: u32) -> Option<u32> {
        self.numbers.get(document as usize).copied()
    }

    /// The values of two documents.
    fn of_two(&self, a: u32, b: u32) -> Option<(&FieldValues, &FieldValues)> {
        let of = |document| {
            let (kept, values) = self.values.get(self.number(document)? as usize)?;
            Some(values.get_or_init(|| self.rule.values(kept)))
        };
        of(a).zip(of(b))
    }

    fn decide(&self, a: u32, b: u32) -> Option<bool> {
        let key = self.number(a).zip(self.number(b))?;
        if let Some(&decided) = lock(&self.known).get(&key) {
            return decided;
        }
        let decided = self.of_two(a, b).and_then(|(a, b)| self.rule.decide(a, b));
        let mut known = lock(&self.known);
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(key, decided);
        decided
    }
}
