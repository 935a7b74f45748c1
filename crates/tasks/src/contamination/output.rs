//! The files of a search.

use std::cmp::Reverse;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

use serde_json::Value;

use super::listed::{DROP_FILE, Entry, Spill, share};
use super::search::Search;
use super::shown;
use super::stats::{ContaminationReport, ListedDocument, ShownItem};
use lookalike_base::{Context, Error, Least, Result, lock, refuse};
use lookalike_engine::cluster::DERIVED_FILES;
use lookalike_engine::outputs::{self, Home};
use lookalike_store::{AtomicFile, Column, OwnDirectory, Table, cells, columns, disk, resolved};
use lookalike_text::read::InputFile;

/// A line for each item of the test sets.
pub const ITEMS_FILE: &str = "items.tsv";
/// The documents in which each item was found, with the runs.
pub const FOUND_FILE: &str = "contaminated.jsonl";
/// The records of the corpus that are not documents.
pub const REJECTS_FILE: &str = "rejects.jsonl";
/// Parameters and counts. Written last, so if it exists the other files are complete.
pub const REPORT_FILE: &str = "contamination.json";

/// The page, which another crate writes.
const PAGE_FILE: &str = DERIVED_FILES[0];

const ALL: [&str; 6] = [
    ITEMS_FILE,
    FOUND_FILE,
    DROP_FILE,
    REJECTS_FILE,
    REPORT_FILE,
    PAGE_FILE,
];

const ITEMS: [Column; 10] = columns! {
    test_set: Text, item: Text, tokens: I64, covered: I64, share: F64 or "-", documents: I64,
    best_share: F64 or "-", best_file: Text or "", best_record: I64 or "", best_docno: Text or "",
};

const DROP: [Column; 8] = columns! {
    file: Text, record: I64, docno: Text, test_set: Text, item: Text, covered: I64, tokens: I64,
    share: F64,
};

/// The directory with the files.
pub(super) struct Output {
    directory: OwnDirectory,
    pub spill: Spill,
}

impl Output {
    /// Refuses a directory with files of others, or in which an input would be replaced, and a page
    /// elsewhere that would replace one.
    pub(super) fn check(
        directory: &Path,
        page: Option<&Path>,
        inputs: [&[InputFile]; 2],
    ) -> Result<()> {
        let reads: Vec<&Path> = (inputs.into_iter().flatten())
            .map(|input| input.path.as_path())
            .collect();
        if let Some(page) = page
            && !is_own(page, directory)?
        {
            let (place, own) = (resolved(page)?, resolved(directory)?);
            if place.starts_with(&own) || own.starts_with(&place) {
                let limit = format!(
                    "it overlaps with the output directory {}; give --report without a file, or a \
                     path outside of it",
                    directory.display()
                );
                return refuse("report", page.display(), limit);
            }
            outputs::check("report", page, Home::Files(&reads), &[outputs::PAGE])?;
        }
        outputs::check_files(directory, ALL, &[], &reads)?;
        OwnDirectory::look(directory, |name| ALL.contains(&name), "contamination")
    }

    /// Makes the directory. Files of an earlier command are replaced at the end, but its report and
    /// its page are removed at once.
    pub(super) fn create(
        directory: &Path,
        page: Option<&Path>,
        context: &Context<'_>,
    ) -> Result<Output> {
        let before = directory.join(PAGE_FILE);
        let kept = page.map(|page| is_own(page, directory)).transpose()?;
        if kept != Some(true) && disk::exists(&before)? {
            let line = format!("{PAGE_FILE} was about the last search, and is removed");
            context.progress.note(&line);
        }
        let is_stale = |name: &str| name == PAGE_FILE || disk::is_unnamed(name);
        Ok(Output {
            spill: Spill::new(directory),
            directory: OwnDirectory::create(directory, REPORT_FILE, is_stale)?,
        })
    }

    /// The items of which one document has the most, and then the first ones.
    pub(super) fn shown(&self, search: &Search<'_>) -> Result<Vec<ShownItem>> {
        let (sets, before) = (search.sets, search.scan.records_before());
        let listed = lock(&search.listed);
        let mut most = Least::new(shown::ITEMS);
        for (number, entries) in listed.items.iter().enumerate() {
            if let Some(best) = entries.first() {
                let share = (u64::from(best.covered) << 32) / u64::from(sets.items[number].tokens);
                most.offer((Reverse(share), number));
            }
        }
        let mut room = shown::PAGE_BYTES;
        let item = |(_, number): (_, usize)| {
            let item = &sets.items[number];
            let entries = listed.items[number].iter().take(shown::DOCUMENTS);
            let listed = entries.map(|entry| {
                let (_, texts) = self.spill.texts.get(entry.at)?;
                let mut texts = texts.unwrap_or_default();
                texts.limit(&mut room);
                let (file, record) = search.place(entry, &before);
                Ok(ListedDocument {
                    file: file.into(),
                    record,
                    covered: entry.covered,
                    texts,
                })
            });
            Ok(ShownItem {
                set: sets.sets[item.set].name.clone(),
                id: item.id.to_string(),
                tokens: item.tokens,
                covered: search.covered(item),
                documents: search.items[number].documents.load(Relaxed),
                listed: listed.collect::<Result<_>>()?,
            })
        };
        most.sorted().into_iter().map(item).collect()
    }

    /// Writes the files.
    pub(super) fn write(&self, search: &Search<'_>, report: &ContaminationReport) -> Result<()> {
        let (sets, before) = (search.sets, search.scan.records_before());
        let directory = &self.directory;
        let format = [("format", "lookalike 1".to_string())];
        let [mut of_items, mut of_drop] = [ITEMS.to_vec(), DROP.to_vec()];
        if search.captures.load(Relaxed) {
            of_items.extend(columns! { best_url: Text or "", best_date: Text or "" });
            of_drop.extend(columns! { url: Text or "", date: Text or "" });
        }
        let mut items = Table::create(directory.path(), ITEMS_FILE, &format, &of_items)?;
        let mut found = directory.file(FOUND_FILE)?;
        let listed = lock(&search.listed);
        for number in 0..sets.items.len() {
            let entries = &listed.items[number];
            self.item(number, entries, search, &before, &mut items, &mut found)?;
        }
        let mut drop = Table::create(directory.path(), DROP_FILE, &format, &of_drop)?;
        let mut rejects = directory.file(REJECTS_FILE)?;
        for (_, line) in sets.sets.iter().flat_map(|set| &set.lines) {
            rejects.put(line.as_bytes())?;
        }
        let mut places = std::mem::take(&mut *lock(&self.spill.places));
        places.sort_by_key(|(stretch, _)| *stretch);
        for (stretch, place) in places {
            let rows = self.spill.rows.get(place)?;
            rejects.put(rows.rejects.as_bytes())?;
            for row in rows.dropped {
                let (item, file) = (&sets.items[row.item as usize], row.file as usize);
                let (file, set) = (&search.inputs[file].docno, &sets.sets[item.set].name);
                let (record, covered) = (before[stretch as usize] + row.record, row.covered);
                drop.row(&cells! {
                    file, record, &row.docno, set, &item.id, covered, item.tokens,
                    share(covered, item.tokens), row.captured.url.as_ref(),
                    row.captured.date.as_ref(),
                })?;
            }
        }
        items.done()?;
        found.finish()?;
        drop.done()?;
        rejects.finish()?;
        directory.finish(report)
    }

    /// Writes the lines of an item.
    fn item(
        &self,
        number: usize,
        entries: &[Entry],
        search: &Search<'_>,
        before: &[u64],
        items: &mut Table<AtomicFile>,
        found: &mut AtomicFile,
    ) -> Result<()> {
        let item = &search.sets.items[number];
        let set = &search.sets.sets[item.set].name;
        let (tokens, covered) = (item.tokens, search.covered(item));
        let documents = search.items[number].documents.load(Relaxed);
        let place = |entry: &Entry| search.place(entry, before);
        let best = entries.first();
        let member = |best: &Entry| {
            let (text, _) = self.spill.texts.get(best.at)?;
            let member = serde_json::from_str(&format!("{{{text}"));
            Ok::<Value, Error>(member.unwrap_or_default())
        };
        let member = best.map(member).transpose()?;
        let named = |name| member.as_ref().and_then(|of: &Value| of[name].as_str());
        let best_share = best.map(|best| share(best.covered, tokens));
        let (file, record) = best.map(place).unzip();
        items.row(&cells! {
            set, &item.id, tokens, covered, share(covered, tokens), documents, best_share, file,
            record, named("docno"), named("url"), named("date"),
        })?;
        if entries.is_empty() {
            return Ok(());
        }
        let json = |text: &str| Value::from(text).to_string();
        let start = format!(
            "{{\"test_set\":{},\"item\":{},\"tokens\":{tokens},\"covered\":{covered},\"share\":{},\
             \"documents\":{documents},\"listed\":[",
            json(set),
            json(&item.id),
            share(covered, tokens).json(),
        );
        found.put(start.as_bytes())?;
        for (n, entry) in entries.iter().enumerate() {
            let (file, record) = place(entry);
            let comma = if n > 0 { "," } else { "" };
            let text = format!("{comma}{{\"file\":{},\"record\":{record},", json(file));
            found.put(text.as_bytes())?;
            found.put(self.spill.texts.get(entry.at)?.0.as_bytes())?;
        }
        found.put(b"]}\n")
    }
}

/// Whether a page is the one in the directory, however its path is spelled.
fn is_own(page: &Path, directory: &Path) -> Result<bool> {
    Ok(resolved(page)? == resolved(directory)?.join(PAGE_FILE))
}
