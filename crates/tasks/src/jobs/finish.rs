//! After the last step: the output directory of a run, or the lines of its pairs.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::distributed::Found;
use lookalike_base::{Context, Error, Result, Unit, count, counted, refuse};
use lookalike_engine::cluster::{
    ResultFormat, each_reject, pair_columns, parameters_of, reject_line,
};
use lookalike_engine::collection::{self, Captured, insert_segment};
use lookalike_engine::join::Take;
use lookalike_engine::outputs;
use lookalike_engine::pipeline::{self, JoinParameters, Summary};
use lookalike_store::{
    self as store, Cell, Column, PartFile, Workspace, cells, columns, disk, header, only_if,
    push_row, resolved,
};
use lookalike_text::read::SaidOnce;

use super::exchange::{Leaving, names, remove_left};
use super::plan::Plan;
use super::rows::Facts;
use super::steps::{Step, Task};
use super::{COLLECTION, LEAST_BYTES, STAGE, named_document, number_of};

/// How the files of [`pairs`] begin.
const HEADS: [&str; 2] = ["# format: lookalike 1\n", "{\"file\":"];
/// The most documents of an output directory.
const MOST_DOCUMENTS: u64 = u32::MAX as u64 - 1;

/// The memory that facts take, for each of their bytes.
const FACTS_TAKE: u64 = 4;

/// Counts the pairs and documents that [`pairs`] wrote.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Listed {
    /// Documents of all shares.
    pub documents: u64,
    /// Pairs of documents with different words.
    pub pairs: u64,
    /// Documents whose words an earlier one has.
    pub exact_duplicates: u64,
    /// Records that were rejected.
    pub rejects: u64,
}

impl Plan {
    /// Reads the facts that the tasks of the first step left.
    fn facts(&self, context: &Context<'_>) -> Result<Vec<Facts>> {
        let step = Step::Read;
        let mut held = LEAST_BYTES;
        let facts = (0..self.tasks()).map(|number| {
            let task = Task { step, number };
            let file = self.open(task)?;
            held += file.facts_bytes() * FACTS_TAKE;
            let tasks = || counted(self.tasks().into(), "task");
            let what = || format!("gathering the segments of {}", tasks());
            context.budget.require(held, what)?;
            let facts: Facts = file.facts()?;
            match facts.fits() {
                true => Ok(facts),
                false => Err(Error::corrupt(self.path(task), "facts of a task")
                    .expected("the names and counts of its segments", "others")),
            }
        });
        facts.collect()
    }

    /// Passes all pairs to `take`.
    fn each_found(
        &self,
        context: &Context<'_>,
        mut take: impl FnMut(Found) -> Result<()>,
    ) -> Result<()> {
        let step = Step::Results;
        for number in 0..self.tasks() {
            let file = self.open(Task { step, number })?;
            file.each(0, context, |blob| Found::each(blob, &mut take))?;
        }
        Ok(())
    }
}

/// The number of the first document of each share, and of all documents.
fn bases(facts: &[Facts]) -> Vec<u64> {
    let mut bases = vec![0u64];
    for share in facts {
        let before = bases.last().copied().unwrap_or(0);
        bases.push(before.saturating_add(share.documents));
    }
    bases
}

/// Numbers of the documents of a pair, their captures and docnos.
fn documents<'f>(bases: &[u64], found: &'f Found) -> Result<[(u64, (Captured, &'f str)); 2]> {
    let document = |name: &'f [u8]| {
        let (task, number, named) = named_document(name)?;
        Some((number_of(bases, task, number)?, Captured::split(named)))
    };
    match (document(&found.a), document(&found.b)) {
        (Some(a), Some(b)) => Ok([a, b]),
        _ => Err(
            Error::corrupt("(the pairs of the tasks)", "names of documents")
                .expected("documents of a share", "others"),
        ),
    }
}

/// Makes the output directory of a run over the inputs of a plan whose tasks are done. Calling it
/// again continues a call that was stopped.
///
/// # Errors
/// Of tasks that are missing; `BadParameter` if there are more documents than a directory can have; `Corrupt`; `BudgetTooSmall`; `DiskSpace`; `Io`.
pub fn finish(
    plan: &Plan,
    out: &Path,
    format: ResultFormat,
    context: &Context<'_>,
) -> Result<Summary> {
    let written = &plan.written;
    plan.need(&[Step::Read, Step::Results], Duration::ZERO, context)?;
    plan.remove_all_left()?;
    let facts = plan.facts(context)?;
    let bases = bases(&facts);
    let documents_there = bases.last().copied().unwrap_or(0);
    if documents_there > MOST_DOCUMENTS {
        let limit = format!(
            "a directory has at most {}; plan with --pairs-only for the pairs alone",
            count(MOST_DOCUMENTS)
        );
        return refuse("documents", count(documents_there), limit);
    }
    if resolved(out)?.starts_with(resolved(&plan.exchange)?) {
        let limit = "it lies in the exchange, which is removed later; give another place";
        return refuse("output", out.display(), limit);
    }
    let inputs = plan.inputs(true)?;
    let bring = |workspace: &mut Workspace| bring(plan, &facts, workspace, context);
    let mut workspace = pipeline::gather(&inputs, out, &written.collection, bring, context)?;
    let parameters = JoinParameters {
        join: written.join,
        sampling: written.sampling.clone(),
        results: format,
        ..JoinParameters::default()
    };
    let find = |take: &mut Take<'_>| {
        plan.each_found(context, |found| {
            if found.exact {
                return Ok(());
            }
            let [(a, _), (b, _)] = documents(&bases, &found)?;
            // The directory has fewer documents than 2^32.
            take(a as u32, b as u32, found.numbers[0])
        })
    };
    pipeline::join_found(&mut workspace, &parameters, find, context)?;
    pipeline::results(&mut workspace, format, context)
}

/// Copies the segments that a directory does not have yet.
fn bring(
    plan: &Plan,
    facts: &[Facts],
    workspace: &mut Workspace,
    context: &Context<'_>,
) -> Result<()> {
    context.start(STAGE, Unit::Count("shares"), Some(facts.len() as u64));
    for (done, share) in facts.iter().enumerate() {
        context.progress.at(done as u64);
        let there = collection::segments(&workspace.manifest).to_vec();
        let is_there = |name: &str| there.iter().any(|segment| segment.documents.name == name);
        let missing = share.segments.iter();
        let missing = missing.filter(|segment| !is_there(&segment.documents.name));
        for segment in missing {
            for (kind, part) in segment.parts() {
                let from = plan.exchange.join(COLLECTION).join(&part.name);
                let to = workspace.path(COLLECTION).join(&part.name);
                let damaged = |error| {
                    if matches!(error, Error::Io { .. }) {
                        return error;
                    }
                    let number = done as u32;
                    let step = Step::Read;
                    let rows = plan.path(Task { step, number });
                    let expected = format!(
                        "a whole part; delete it and {}, and run task {done} again",
                        rows.display()
                    );
                    Error::corrupt(&from, "part of the collection").expected(expected, error)
                };
                // One of another length could fill the disk before it is read again.
                PartFile::open(&from, kind, None, Some(part)).map_err(damaged)?;
                disk::copy(&from, &to, || context.stop.check(STAGE))?;
                store::verify_part(&to, kind, Some(part)).map_err(damaged)?;
            }
            insert_segment(&mut workspace.manifest, segment.clone());
        }
        workspace.commit(&[COLLECTION])?;
    }
    Ok(())
}

/// Writes the pairs of a plan whose tasks are done to a directory or below an address: `pairs.tsv`
/// with the rows of a run, and `same-words.tsv` with each document whose words an earlier one has.
/// Both are in no order, and number documents by up to 64 bits. `rejects.jsonl` has the lines of a
/// run, except for docnos that repeat, which nothing here compares. No memory is needed for documents or
/// pairs, however many there are.
///
/// # Errors
/// Of tasks that are missing; `BadParameter` if the plan was not made for it, or the place is not empty;
/// `Corrupt`; `Io`.
pub fn pairs(plan: &Plan, out: &Path, context: &Context<'_>) -> Result<Listed> {
    plan.need(&[Step::Read, Step::Results], Duration::ZERO, context)?;
    let paths = ["pairs.tsv", "same-words.tsv", "rejects.jsonl"].map(|name| out.join(name));
    for name in names(out)? {
        let path = out.join(&name);
        // A file of an earlier call is written again.
        let is_own = paths.contains(&path) && outputs::begins(&path, &HEADS)?;
        if !is_own && !name.starts_with("lookalike-") {
            return refuse("output", out.display(), "it is not empty; give a new place");
        }
    }
    plan.remove_all_left()?;
    let facts = plan.facts(context)?;
    let bases = bases(&facts);
    let measure = plan.written.join.measure;
    let mut segments = facts.iter().flat_map(|share| &share.segments);
    let captures = segments.any(|segment| segment.stats.captures > 0);
    let columns = pair_columns("shingles", measure, captures);
    let mut exact = columns! {
        docno: Text, representative: Text, document: I64, representative_document: I64,
        url: Text or "", date: Text or "", representative_url: Text or "",
        representative_date: Text or "",
    };
    only_if(&mut exact[4..], captures);
    let (written, some) = (&plan.written, Some(&plan.written.sampling));
    let parameters = parameters_of(None, &written.collection, some, Some(&written.join));
    let begin = |path: &Path, columns: &[Column]| {
        let mut file = Leaving::create(path)?;
        file.put(header(&parameters, columns).as_bytes())?;
        Ok::<_, Error>(file)
    };
    let (mut near, mut equal) = (begin(&paths[0], &columns)?, begin(&paths[1], &exact)?);
    let mut listed = Listed {
        documents: bases.last().copied().unwrap_or(0),
        ..Listed::default()
    };
    context.start(STAGE, Unit::Count("pairs"), None);
    let mut line = String::new();
    plan.each_found(context, |found| {
        context.advance(STAGE, listed.pairs + listed.exact_duplicates)?;
        let [(a, (at_a, docno_a)), (b, (at_b, docno_b))] = documents(&bases, &found)?;
        let texts = [&at_a.url, &at_b.url, &at_a.date, &at_b.date];
        let [url_a, url_b, date_a, date_b] = texts.map(Option::as_ref);
        line.clear();
        if found.exact {
            listed.exact_duplicates += 1;
            let cells = cells![docno_b, docno_a, b, a, url_b, date_b, url_a, date_a];
            push_row(&mut line, &exact, &cells);
            return equal.put(line.as_bytes());
        }
        listed.pairs += 1;
        let [shared, of_a, of_b] = found.numbers;
        let value = Cell::Measured(measure, [shared.into(), of_a.into(), of_b.into()]);
        // A text file has no union.
        let cells = cells![
            docno_a, docno_b, value, shared, of_a, of_b, a, b, 0u64, url_a, url_b, date_a, date_b,
        ];
        push_row(&mut line, &columns, &cells);
        near.put(line.as_bytes())
    })?;
    let mut rejects = Leaving::create(&paths[2])?;
    let inputs = plan.inputs(true)?;
    let parameters = written.collection.digest(&paths[2])?;
    let mut said = SaidOnce::default();
    for segment in facts.iter().flat_map(|share| &share.segments) {
        let path = plan.exchange.join(COLLECTION).join(&segment.rejects.name);
        let of = (&*path, parameters, &segment.rejects);
        each_reject(of, &mut said, |reject, kept| {
            let input = inputs.get(reject.source.file as usize);
            let file = input.map(|input| input.path.to_string_lossy());
            listed.rejects += u64::from(!kept);
            rejects.put(reject_line(&file.unwrap_or_default(), reject, kept).as_bytes())
        })?;
    }
    for file in [near, equal, rejects] {
        file.finish()?;
    }
    remove_left(out, |of| paths.contains(&out.join(of)))?;
    if listed.documents == 0 && plan.written.need_documents {
        let limit = "no document was read; rejects.jsonl says why (--allow-empty accepts it)";
        return refuse("EXCHANGE", plan.exchange.display(), limit);
    }
    Ok(listed)
}
