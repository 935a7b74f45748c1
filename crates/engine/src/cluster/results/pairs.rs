//! `pairs.tsv` and `pairs.parquet`, and the same for pairs to be reviewed.
//!
//! For the text file, one thread reads the pairs, others make lines of them, and one writes these
//! in the order of the pairs.

use std::borrow::Cow;

use crate::collection::{self, Captured};
use crate::join::{List, Pair, Pairs, each_measured_pair};
use lookalike_base::{Measure, Result, in_order};
use lookalike_store::{
    AtomicFile, Cell, Column, ResultFile, Table, cells, columns, only_if, push_row,
};

use super::lines::{parameters, size_column};
use super::{Clustered, STAGE, TABLES};

/// Pairs that a thread makes lines of at a time.
const BLOCK: usize = 4096;
/// Bytes of lines that are passed on at once. Docnos may be long.
const PIECE: usize = 256 << 10;
/// Memory of each thread that makes lines: a block and its lines, and the same for two blocks that
/// wait for their turn.
pub(super) const THREAD_BYTES: u64 = 3 * ((BLOCK * size_of::<Pair>() + PIECE) as u64);

/// Writes the pair list. `threads` is the number of threads that make lines.
pub(super) fn write_pairs(of: &Clustered<'_>, list: List, threads: usize) -> Result<ResultFile> {
    let rows = PairRows::new(of, list);
    let mut out = rows.create("tsv")?;
    if of.config.pairs == Pairs::None {
        return out.done();
    }
    in_order(
        STAGE,
        threads,
        |hand_out| rows.each_block(STAGE, hand_out),
        |block: Vec<Pair>, pass| {
            let mut text = String::new();
            rows.cells(&block, |cells| {
                push_row(&mut text, &rows.columns, cells);
                match text.len() >= PIECE {
                    true => pass(std::mem::take(&mut text)),
                    false => Ok(()),
                }
            })?;
            pass(text)
        },
        |text: String| out.put(&text),
    )?;
    out.done()
}

/// Writes the pairs as a table.
pub(super) fn pairs_table(of: &Clustered<'_>, list: List) -> Result<ResultFile> {
    let rows = PairRows::new(of, list);
    let mut out = rows.create("parquet")?;
    if of.config.pairs != Pairs::None {
        rows.each_block(TABLES, |block| rows.cells(&block, |cells| out.row(cells)))?;
    }
    out.done()
}

/// The columns of a pair list. Their names depend on the measure, and on whether the `keys` of
/// documents are shingles. With `captures`, their addresses and dates follow.
pub fn pair_columns(keys: &str, measure: Measure, captures: bool) -> [Column; 13] {
    let mut columns = columns! {
        docno_a: Text, docno_b: Text, resemblance: F64, shared: U32, shingles_a: U32,
        shingles_b: U32, document_a: U32, document_b: U32, shingles_union: I64 in Parquet,
        url_a: Text or "", url_b: Text or "", date_a: Text or "", date_b: Text or "",
    };
    columns[2].name = measure.column();
    let sizes = match keys {
        _ if measure.of_words() => ["words_a", "words_b", "words_union"],
        "keys" => ["keys_a", "keys_b", "keys_union"],
        _ => ["shingles_a", "shingles_b", "shingles_union"],
    };
    for (column, name) in [4, 5, 8].into_iter().zip(sizes) {
        columns[column].name = name;
    }
    // Sets have a union; lengths in words have none.
    only_if(&mut columns[8..9], !measure.of_words());
    only_if(&mut columns[9..], captures);
    columns
}

/// The source of the rows of pairs.
struct PairRows<'r> {
    of: &'r Clustered<'r>,
    list: List,
    columns: [Column; 13],
}

impl<'r> PairRows<'r> {
    fn new(of: &'r Clustered<'r>, list: List) -> PairRows<'r> {
        let (manifest, measure) = (&of.workspace.manifest, of.config.measure);
        let captures = collection::has_captures(manifest);
        let columns = pair_columns(size_column(manifest), measure, captures);
        PairRows { of, list, columns }
    }

    fn create(&self, format: &str) -> Result<Table<AtomicFile>> {
        let mut parameters = parameters(&self.of.workspace.manifest);
        let review = self.of.config.review.filter(|_| self.list == List::Review);
        parameters.extend(review.map(|review| ("review", review.to_string())));
        let name = format!("{}.{format}", self.list);
        Table::create(
            self.of.workspace.directory(),
            &name,
            &parameters,
            &self.columns,
        )
    }

    /// Passes all pairs on in blocks.
    fn each_block(
        &self,
        stage: &'static str,
        mut pass: impl FnMut(Vec<Pair>) -> Result<()>,
    ) -> Result<()> {
        let stop = self.of.context.stop;
        let mut block = Vec::with_capacity(BLOCK);
        each_measured_pair(self.of.workspace, self.list, &self.of.sampled, |pair, _| {
            block.push(pair);
            if block.len() < BLOCK {
                return Ok(());
            }
            stop.check(stage)?;
            pass(std::mem::replace(&mut block, Vec::with_capacity(BLOCK)))
        })?;
        stop.check(stage)?;
        pass(block)
    }

    /// Passes the rows of a block to `take`.
    fn cells(&self, block: &[Pair], mut take: impl FnMut(&[Cell<'_>]) -> Result<()>) -> Result<()> {
        let (measure, names) = (self.of.config.measure, &self.of.names);
        // Pairs come in the order of their first documents.
        let (mut first, mut docno_a, mut at_a) = (None, Cow::Borrowed(""), Captured::default());
        for pair in block {
            let (a, b) = self.of.sampled.measured(pair.a, pair.b);
            if first.replace(pair.a) != Some(pair.a) {
                (docno_a, at_a) = names.named(pair.a)?;
            }
            let union = (u64::from(a) + u64::from(b)).saturating_sub(pair.shared.into());
            let (docno_b, at_b) = names.named(pair.b)?;
            let value = Cell::Measured(measure, [pair.amount(measure), a.into(), b.into()]);
            take(&cells! {
                &docno_a, &docno_b, value, pair.shared, a, b, pair.a, pair.b, union,
                at_a.url.as_ref(), at_b.url.as_ref(), at_a.date.as_ref(), at_b.date.as_ref(),
            })?;
        }
        Ok(())
    }
}
