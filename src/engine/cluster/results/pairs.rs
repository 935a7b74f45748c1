//! `pairs.tsv`.
//!
//! One thread reads the pairs, others make lines of them, and one writes these in the order of the
//! pairs.

use crate::Result;
use crate::base::measure::Measure;
use crate::base::progress::Context;
use crate::base::workers::in_order;
use crate::engine::collection::Names;
use crate::engine::join::{JoinConfig, Pair, Pairs, each_pair};
use crate::engine::sample::Sampled;
use crate::store::disk::AtomicFile;
use crate::store::workspace::{ResultFile, Workspace};

use super::STAGE;
use super::lines::{cell, finished, push_column, size_column};

/// Pairs that a thread makes lines of at a time.
const BLOCK: usize = 4096;
/// Bytes of lines that are passed on at once. Docnos may be long.
const PIECE: usize = 256 << 10;
/// Memory of each thread that makes lines: a block and its lines, and the same for two blocks that
/// wait for their turn.
pub(super) const THREAD_BYTES: u64 = 3 * ((BLOCK * size_of::<Pair>() + PIECE) as u64);

/// Writes the pair list. `threads` is the number of threads that make lines.
pub(super) fn write_pairs(
    workspace: &Workspace,
    config: &JoinConfig,
    header: &str,
    (names, sampled): (&Names, &Sampled),
    threads: usize,
    context: &Context<'_>,
) -> Result<ResultFile> {
    let measure = config.measure;
    let mut out = AtomicFile::create(&workspace.directory().join("pairs.tsv"))?;
    out.put(header.as_bytes())?;
    let column = measure.column();
    let size = match measure.of_words() {
        true => "words",
        false => size_column(&workspace.manifest),
    };
    let columns =
        format!("docno_a\tdocno_b\t{column}\tshared\t{size}_a\t{size}_b\tdocument_a\tdocument_b\n");
    out.put(columns.as_bytes())?;
    if config.pairs == Pairs::None {
        return finished("pairs.tsv", out);
    }
    let lines = Lines {
        names,
        sampled,
        measure,
    };
    in_order(
        STAGE,
        threads,
        |hand_out| each_block(workspace, context, hand_out),
        |block: Vec<Pair>, pass| {
            let mut pass = |text: &mut String| pass(std::mem::take(text));
            lines.of(&block, &mut String::new(), &mut pass)
        },
        |text: String| out.put(text.as_bytes()),
    )?;
    finished("pairs.tsv", out)
}

/// Passes all pairs on in blocks.
fn each_block(
    workspace: &Workspace,
    context: &Context<'_>,
    mut pass: impl FnMut(Vec<Pair>) -> Result<()>,
) -> Result<()> {
    let mut block = Vec::with_capacity(BLOCK);
    each_pair(workspace, |pair| {
        block.push(pair);
        if block.len() < BLOCK {
            return Ok(());
        }
        context.stop.check(STAGE)?;
        pass(std::mem::replace(&mut block, Vec::with_capacity(BLOCK)))
    })?;
    context.stop.check(STAGE)?;
    pass(block)
}

/// What the lines of pairs say.
struct Lines<'l> {
    names: &'l Names,
    sampled: &'l Sampled,
    measure: Measure,
}

impl Lines<'_> {
    /// Makes the lines of a block in `text`, and passes them on whenever there are many.
    fn of(
        &self,
        block: &[Pair],
        text: &mut String,
        pass: &mut dyn FnMut(&mut String) -> Result<()>,
    ) -> Result<()> {
        text.clear();
        // Pairs come in the order of their first documents.
        let (mut first, mut docno_a) = (None, String::new());
        for pair in block {
            let (a, b) = self.sampled.measured(pair.a, pair.b);
            let amount = pair.amount(self.measure);
            let resemblance = self.measure.text(amount, a.into(), b.into());
            if first.replace(pair.a) != Some(pair.a) {
                docno_a = cell(&self.names.get(pair.a)?).into_owned();
            }
            let docno_b = self.names.get(pair.b)?;
            let docno_b = cell(&docno_b);
            text.push_str(&docno_a);
            text.push('\t');
            text.push_str(&docno_b);
            text.push('\t');
            text.push_str(&resemblance);
            for number in [pair.shared, a, b, pair.a, pair.b] {
                push_column(text, Some(number.into()));
            }
            text.push('\n');
            if text.len() >= PIECE {
                pass(text)?;
                text.clear();
            }
        }
        pass(text)
    }
}
