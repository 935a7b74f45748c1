//! Documents as they are named to readers: what they are called, and where they are.

use std::collections::HashMap;
use std::sync::Arc;

use crate::collection::each_place_with_others;
use lookalike_base::{Context, Memory, Result, cut_after};
use lookalike_store::{InputList, Workspace};

use super::inputs::Wanted;

/// Characters of a docno, title or address that are kept.
const NAME_CHARS: usize = 300;

/// The data of a document that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownDocument {
    pub docno: String,
    pub url: Option<String>,
    pub title: Option<String>,
    /// The stored date of a capture.
    pub date: Option<String>,
    pub words: u64,
    /// The name of its file.
    pub file: Arc<str>,
    /// The number of its record there; `None` in the directory of a method.
    pub record: Option<u64>,
    /// By which it is read again.
    pub place: Wanted,
}

impl ShownDocument {
    /// File and record: `a.jsonl:12`.
    pub fn place(&self) -> String {
        let record = self.record.map(|record| format!(":{record}"));
        self.file.to_string() + &record.unwrap_or_default()
    }

    /// Bytes of its names, including the allocator's overhead.
    fn name_bytes(&self) -> usize {
        // Pages keep the date twice.
        let others = [&self.url, &self.title, &self.date, &self.date];
        let others = others.into_iter().flatten();
        let names = others.chain([&self.docno]);
        names.map(|name| name.capacity() + 16).sum()
    }
}

/// The records of some documents, as long as there is room for their names.
pub fn look_up(
    workspace: &Workspace,
    mut wanted: Vec<u32>,
    memory: &mut Memory,
    stage: &'static str,
    context: &Context<'_>,
) -> Result<HashMap<u32, ShownDocument>> {
    wanted.sort_unstable();
    wanted.dedup();
    let mut found = HashMap::with_capacity(wanted.len());
    let mut wanted = wanted.into_iter().peekable();
    // The directory of a method has no rejected records, so it cannot number the records.
    let numbered = workspace.manifest.method.is_none();
    let cut = |text: &str| cut_after(text.to_string(), NAME_CHARS);
    let mut inputs = InputList::open(workspace.directory())?;
    let mut file = (u32::MAX, Arc::<str>::default());
    each_place_with_others(workspace, |number, record, document| {
        context.tick(stage, number)?;
        if wanted.next_if_eq(&number).is_none() {
            return Ok(());
        }
        if file.0 != document.file {
            file = (document.file, inputs.name_of(document.file)?.into());
        }
        let document = ShownDocument {
            docno: cut(document.docno),
            url: document.url.map(cut),
            title: document.title.map(cut),
            date: document.date.0.map(cut),
            words: document.words,
            file: file.1.clone(),
            record: numbered.then_some(record),
            place: Wanted {
                file: document.file,
                offset: document.offset,
                number,
                md5: document.md5,
            },
        };
        if memory.take(document.name_bytes() as u64) {
            found.insert(number, document);
        }
        Ok(())
    })?;
    Ok(found)
}
