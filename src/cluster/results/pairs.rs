//! `pairs.tsv`.

use crate::Result;
use crate::collection::Names;
use crate::join::{JoinConfig, Pairs, each_pair};
use crate::progress::Context;
use crate::sample::Sampled;
use crate::store::disk::AtomicFile;
use crate::workspace::{ResultFile, Workspace};
use std::fmt::Write;

use super::STAGE;
use super::lines::{cell, finished, size_column};

/// Writes the pair list.
pub(super) fn write_pairs(
    workspace: &Workspace,
    config: &JoinConfig,
    header: &str,
    (names, sampled): (&Names, &Sampled),
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
    let mut line = String::new();
    let mut n = 0u64;
    each_pair(workspace, |pair| {
        if n.is_multiple_of(4096) {
            context.stop.check(STAGE)?;
        }
        n += 1;
        let (a, b) = sampled.measured(pair.a, pair.b);
        let resemblance = measure.text(pair.amount(measure), a.into(), b.into());
        line.clear();
        let (docno_a, docno_b) = (cell(names.get(pair.a)?), cell(names.get(pair.b)?));
        let _ = writeln!(
            line,
            "{docno_a}\t{docno_b}\t{resemblance}\t{}\t{a}\t{b}\t{}\t{}",
            pair.shared, pair.a, pair.b
        );
        out.put(line.as_bytes())
    })?;
    finished("pairs.tsv", out)
}
