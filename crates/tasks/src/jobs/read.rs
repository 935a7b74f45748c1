//! The first step: a share of the inputs.

use std::path::Path;

use crate::distributed::Intake;
use lookalike_base::{Context, Error, Result};
use lookalike_engine::collection::{self, Captured, DocumentReader, Share, TextReader};
use lookalike_engine::pipeline;
use lookalike_store::Kind;

use super::exchange::copy;
use super::plan::Plan;
use super::rows::{Facts, Writer};
use super::steps::Task;
use super::{COLLECTION, STAGE, document_name};

/// Reads a share: its documents to their parts, and its segments to the exchange.
pub(super) fn run(
    plan: &Plan,
    task: Task,
    scratch: &Path,
    rows: &mut Writer,
    context: &Context<'_>,
) -> Result<Facts> {
    let written = &plan.written;
    let inputs = plan.inputs(false)?;
    let share = Share {
        number: task.number,
        of: plan.tasks(),
    };
    let local = scratch.join("share");
    let workspace = pipeline::ingest_share(&inputs, &local, &written.collection, share, context)?;
    let mut intake = Intake::new(&written.config(scratch, 0), Vec::new())?;
    let (mut out, mut name, mut text) = (Vec::new(), Vec::new(), Vec::new());
    let (mut documents, mut largest) = (0u64, 0u64);
    let mut segments = collection::segments(&workspace.manifest).to_vec();
    for segment in &segments {
        let path = workspace.part(COLLECTION, &segment.documents.name);
        let parameters = Some(workspace.collection_parameters());
        let mut reader = DocumentReader::open(&path, parameters, Some(&segment.documents))?;
        let mut texts = TextReader::of(&workspace, segment)?;
        while let Some(document) = reader.next()? {
            context.tick(STAGE, documents)?;
            text.clear();
            if document.stored {
                let read = texts.as_mut().map(|texts| texts.next(&mut text));
                if !read.transpose()?.unwrap_or(false) {
                    let what = "texts of a segment";
                    return Err(Error::corrupt(&path, what).expected("one more", "none"));
                }
            }
            if document.words > 0 {
                let docno = match written.pairs_only {
                    true => Captured::of(&document).stored() + &document.docno,
                    false => String::new(),
                };
                document_name(task.number, documents, &docno, &mut name);
                intake.add_read((document.md5, document.words), &text, &name, &mut out)?;
                rows.take(&mut out)?;
            }
            documents += 1;
            largest = largest.max(document.shingles.into());
        }
        reader.finish()?;
        if let Some(texts) = texts {
            texts.finish()?;
        }
    }
    intake.finish(&mut out)?;
    rows.take(&mut out)?;
    for segment in &mut segments {
        if !written.collection.text {
            segment.text = None;
        }
        // Whatever is wanted, no record vanishes without a line.
        let wanted = |kind| kind == Kind::Rejects || !written.pairs_only;
        for (_, part) in segment.parts().filter(|(kind, _)| wanted(*kind)) {
            let from = workspace.part(COLLECTION, &part.name);
            let to = plan.exchange.join(COLLECTION).join(&part.name);
            copy(&from, &to, context)?;
        }
    }
    workspace.discard()?;
    Ok(Facts {
        documents,
        largest,
        segments,
    })
}
