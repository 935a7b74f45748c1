//! `pairs.parquet`, `clusters.parquet` and `documents.parquet`: the results with their types, for
//! databases and data frames.
//!
//! They are made from the same pairs as the text files, at any time after them. The manifest names
//! them in a record of its own, so that text files and tables can be made again one without the
//! other.

use crate::Result;
use crate::base::progress::{Context, Unit};
use crate::engine::collection::{self, Catalogue, Names, each_place};
use crate::engine::join::{JoinConfig, Pairs, PairsEntry, each_pair, sizes_of_pairs};
use crate::engine::sample::Sampled;
use crate::store::disk::{self, AtomicFile};
use crate::store::table::{Cell, ColumnSpec, ColumnType, TABLE_BYTES, Table};
use crate::store::workspace::{InputList, ResultFile, StageRecord, Workspace, check_file};
use serde::{Deserialize, Serialize};

use super::clusters::each_member;
use super::components::Components;
use super::lines::{finished, parameters, size_column};
use super::{ClusterStats, sort_memory};
use ColumnType::{F64, I64, Text, U32};

const STAGE: &str = "tables";

/// The files of this step, in the order in which they are written.
pub const TABLE_FILES: [&str; 3] = ["pairs.parquet", "clusters.parquet", "documents.parquet"];

/// The results as tables.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TablesEntry {
    /// Digest of the pairs that they were made from.
    pub digest: String,
    /// Name, size and checksum of each.
    pub files: Vec<ResultFile>,
}

impl StageRecord for TablesEntry {
    const NAME: &'static str = "tables";
    const OMITTED: bool = true;

    fn files(&self) -> &[ResultFile] {
        &self.files
    }
}

/// Writes the tables, unless complete tables of these pairs exist.
pub fn write_tables(workspace: &mut Workspace, context: &Context<'_>) -> Result<()> {
    let pairs = workspace.record::<PairsEntry>("join")?;
    let (digest, config) = (pairs.digest.clone(), pairs.config);
    let complete = |file| check_file(workspace.directory(), file).is_ok();
    let tables = workspace.manifest.get::<TablesEntry>();
    if tables.is_some_and(|tables| tables.digest == digest && tables.files.iter().all(complete)) {
        return Ok(());
    }
    if tables.is_some() {
        workspace.manifest.remove::<TablesEntry>();
        workspace.commit(&[])?;
    }
    let documents = Catalogue::stats(workspace)?.documents;
    let memory = sort_memory(workspace, config.measure, TABLE_BYTES, context)?;
    context.start(STAGE, Unit::Count("documents"), Some(documents));
    let names = Catalogue::names(workspace, &context.budget)?;
    let sampled = sizes_of_pairs(workspace)?;
    let from = (&names, &sampled);
    let pairs = pairs_table(workspace, &config, from, context)?;
    let components = Components::new(workspace, &mut ClusterStats::default(), context)?;
    let with_root = components.with_root(workspace, &config, &sampled)?;

    let measure = config.measure;
    let columns = [
        ColumnSpec::required("cluster", U32),
        ColumnSpec::required("representative", Text),
        ColumnSpec::required("docno", Text),
        ColumnSpec::required("kind", Text),
        ColumnSpec::optional(measure.column(), F64),
        ColumnSpec::required("representative_document", U32),
        ColumnSpec::required("document", U32),
    ];
    let mut table = begin(workspace, "clusters.parquet", &columns)?;
    let mut written = 0u64;
    each_member(
        workspace,
        (&components, &with_root),
        &sampled,
        memory,
        context,
        |member| {
            check(context, &mut written)?;
            table.row(&[
                Cell::U32(member.cluster),
                Cell::Text(&names.get(member.root)?),
                Cell::Text(&names.get(member.document)?),
                Cell::Text(member.kind),
                member.likeness.value(measure).into(),
                Cell::U32(member.root),
                Cell::U32(member.document),
            ])
        },
    )?;
    drop((with_root, sampled));
    let clusters = finished("clusters.parquet", table.finish()?)?;
    let documents = documents_table(workspace, &components, context)?;
    workspace.manifest.set(TablesEntry {
        digest,
        files: vec![pairs, clusters, documents],
    });
    workspace.commit(&[])
}

/// Removes the tables, unless they were made from the pairs with this digest.
pub(super) fn remove_stale(workspace: &mut Workspace, digest: &str) -> Result<()> {
    let tables = workspace.manifest.get::<TablesEntry>();
    match tables {
        Some(tables) if tables.digest == digest => return Ok(()),
        Some(_) => {
            workspace.manifest.remove::<TablesEntry>();
            workspace.commit(&[])?;
        }
        None => {}
    }
    let directory = workspace.directory();
    let mut names = TABLE_FILES.iter();
    names.try_for_each(|name| disk::remove(&directory.join(name)))
}

/// Stops if a stop was asked for, now and then.
fn check(context: &Context<'_>, rows: &mut u64) -> Result<()> {
    if rows.is_multiple_of(4096) {
        context.stop.check(STAGE)?;
    }
    *rows += 1;
    Ok(())
}

/// Begins a table, with the parameters of the text files as metadata.
fn begin(workspace: &Workspace, name: &str, columns: &[ColumnSpec]) -> Result<Table<AtomicFile>> {
    let path = workspace.directory().join(name);
    let parameters = parameters(&workspace.manifest).into_iter();
    let metadata = parameters.map(|(name, value)| (format!("lookalike.{name}"), value));
    let out = AtomicFile::create(&path)?;
    Table::new(&path, out, columns, metadata.collect())
}

/// Writes `pairs.parquet`.
fn pairs_table(
    workspace: &Workspace,
    config: &JoinConfig,
    (names, sampled): (&Names, &Sampled),
    context: &Context<'_>,
) -> Result<ResultFile> {
    let measure = config.measure;
    // Sets have a union; lengths in words have none.
    let (sizes, union) = match size_column(&workspace.manifest) {
        _ if measure.of_words() => (["words_a", "words_b"], None),
        "keys" => (["keys_a", "keys_b"], Some("keys_union")),
        _ => (["shingles_a", "shingles_b"], Some("shingles_union")),
    };
    let mut columns = vec![
        ColumnSpec::required("docno_a", Text),
        ColumnSpec::required("docno_b", Text),
        ColumnSpec::required(measure.column(), F64),
        ColumnSpec::required("shared", U32),
        ColumnSpec::required(sizes[0], U32),
        ColumnSpec::required(sizes[1], U32),
        ColumnSpec::required("document_a", U32),
        ColumnSpec::required("document_b", U32),
    ];
    columns.extend(union.map(|name| ColumnSpec::required(name, I64)));
    let mut table = begin(workspace, "pairs.parquet", &columns)?;
    if config.pairs == Pairs::None {
        return finished("pairs.parquet", table.finish()?);
    }
    let mut read = 0u64;
    each_pair(workspace, |pair| {
        check(context, &mut read)?;
        let (a, b) = sampled.measured(pair.a, pair.b);
        let union = (u64::from(a) + u64::from(b)).saturating_sub(pair.shared.into());
        let cells = [
            Cell::Text(&names.get(pair.a)?),
            Cell::Text(&names.get(pair.b)?),
            Cell::F64(measure.value(pair.amount(measure), a.into(), b.into())),
            Cell::U32(pair.shared),
            Cell::U32(a),
            Cell::U32(b),
            Cell::U32(pair.a),
            Cell::U32(pair.b),
            Cell::U64(union),
        ];
        table.row(&cells[..columns.len()])
    })?;
    finished("pairs.parquet", table.finish()?)
}

/// Writes `documents.parquet`.
fn documents_table(
    workspace: &Workspace,
    components: &Components,
    context: &Context<'_>,
) -> Result<ResultFile> {
    let columns = [
        ColumnSpec::required("docno", Text),
        ColumnSpec::optional("url", Text),
        ColumnSpec::required("words", I64),
        ColumnSpec::required(size_column(&workspace.manifest), U32),
        ColumnSpec::required("size_group", U32),
        ColumnSpec::optional("cluster", U32),
        ColumnSpec::required("document", U32),
        ColumnSpec::required("file", Text),
        ColumnSpec::optional("record", I64),
        ColumnSpec::required("offset", I64),
        ColumnSpec::optional("exact_duplicate_of", U32),
        ColumnSpec::required("md5", Text),
    ];
    let mut table = begin(workspace, "documents.parquet", &columns)?;
    let mut inputs = InputList::open(workspace.directory())?;
    // The directory of a method has no rejected records, so it cannot number the records.
    let numbered = workspace.manifest.method.is_none();
    let mut firsts = Catalogue::representatives_in_order(workspace)?;
    firsts.skip_to(collection::against(&workspace.manifest).documents)?;
    each_place(workspace, |number, record, document| {
        if number.is_multiple_of(4096) {
            context.stop.check(STAGE)?;
            context.progress.at(number.into());
        }
        let first = firsts.next()?.unwrap_or(number);
        let cluster = components.cluster(number).map(|(_, cluster)| cluster);
        let file = inputs.entry_of(document.file)?;
        let md5 = format!("{:032x}", u128::from_be_bytes(document.md5));
        table.row(&[
            Cell::Text(document.docno),
            document.url.into(),
            Cell::U64(document.words),
            Cell::U32(document.shingles),
            Cell::U32(document.group.into()),
            cluster.into(),
            Cell::U32(number),
            Cell::Text(file.map_or("", |input| &input.name)),
            numbered.then_some(record).into(),
            Cell::U64(document.offset),
            Some(first).filter(|&first| first != number).into(),
            Cell::Text(&md5),
        ])
    })?;
    firsts.finish()?;
    finished("documents.parquet", table.finish()?)
}
