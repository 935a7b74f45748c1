//! The directory of a reproduction: its tables, pages and list of papers.

use std::collections::BTreeMap;
use std::path::Path;

use super::page::reproduced as page;
use super::reproduced::{Reproduced, ReproducedPaper, claims_tsv, exhibit_file, exhibit_tsv};
use crate::reproduce::{self, MADE, Paper, Reproduction};
use lookalike_base::{Context, Result};
use lookalike_engine::outputs;
use lookalike_store::{OwnDirectory, disk, json, put_file};

/// The list of the papers reproduced in a directory, written last.
pub const REPRODUCE_FILE: &str = "reproduce.json";
/// The page with the claims of all papers.
pub const REPRODUCE_PAGE: &str = "reproduce.html";
/// Those claims as a table.
const CLAIMS_FILE: &str = "claims.tsv";
/// The version of the files.
const FORMAT: u32 = 1;
/// Limit on the size of [`REPRODUCE_FILE`].
const MOST_BYTES: u64 = 4 << 20;

/// Whether this module writes files with this name.
fn is_ours(name: &str) -> bool {
    let named = [REPRODUCE_FILE, REPRODUCE_PAGE, CLAIMS_FILE, MADE].contains(&name);
    named || paper_of(name).is_some()
}

/// The paper to which a file belongs.
fn paper_of(name: &str) -> Option<Paper> {
    let (paper, _) = name.split_once('.')?;
    paper.parse().ok()
}

/// Reads the papers that earlier commands reproduced on the same collection.
fn earlier(out: &Path, collection: &str) -> Result<BTreeMap<Paper, ReproducedPaper>> {
    let path = out.join(REPRODUCE_FILE);
    if !disk::exists(&path)? || disk::size(&path)? > MOST_BYTES {
        return Ok(BTreeMap::new());
    }
    let found = serde_json::from_slice::<Reproduced>(&disk::read_all(&path)?).ok();
    let same = |found: &Reproduced| found.format == FORMAT && found.collection == collection;
    let papers = found.filter(same).map_or(Vec::new(), |found| found.papers);
    Ok(papers.into_iter().map(|of| (of.paper, of)).collect())
}

/// Reproduces papers on the collection of `directory`, and writes their tables, figures and claims
/// to the directory `out`. Papers of an earlier command about the same collection stay there.
///
/// # Errors
/// `BadParameter` for a directory with other files; those of [`reproduce::run`]; `Io`.
pub fn write_reproduction(
    papers: &[Paper],
    directory: &Path,
    out: &Path,
    labels: Option<&Path>,
    context: &Context<'_>,
) -> Result<Reproduced> {
    OwnDirectory::look(out, is_ours, "reproduce")?;
    outputs::check_own_directory("output", out)?;
    let (collection, program) = reproduce::collection_of(directory)?;
    let mut done = earlier(out, &collection)?;
    let own = OwnDirectory::create(out, REPRODUCE_FILE, |name| {
        // They belong to another collection, or are made again.
        paper_of(name).is_some_and(|paper| papers.contains(&paper) || !done.contains_key(&paper))
    })?;
    for &paper in papers {
        context
            .progress
            .note(&format!("{paper}: {}", paper.authors()));
        let made = reproduce::run(paper, directory, out, labels, context)?;
        done.insert(paper, write_paper(&own, &made, &program)?);
    }
    let reproduced = Reproduced {
        format: FORMAT,
        program,
        collection,
        papers: done.into_values().collect(),
    };
    put_file(
        own.path(),
        CLAIMS_FILE,
        claims_tsv(&reproduced.papers).as_bytes(),
    )?;
    put_file(own.path(), REPRODUCE_PAGE, &page::index(&reproduced))?;
    own.finish(&reproduced)?;
    Ok(reproduced)
}

fn write_paper(own: &OwnDirectory, made: &Reproduction, program: &str) -> Result<ReproducedPaper> {
    let paper = made.paper;
    let mut exhibits = Vec::with_capacity(made.exhibits.len());
    for exhibit in &made.exhibits {
        let file = exhibit_file(paper, exhibit);
        if let Some(file) = &file {
            put_file(own.path(), file, exhibit_tsv(exhibit).as_bytes())?;
        }
        exhibits.push((file, exhibit.place.clone(), exhibit.title.clone()));
    }
    let name = format!("{paper}.json");
    let text = json::pretty(made, own.path().join(&name))?;
    put_file(own.path(), &name, text.as_bytes())?;
    put_file(
        own.path(),
        &format!("{paper}.html"),
        &page::page(made, program),
    )?;
    Ok(ReproducedPaper {
        paper,
        claims: made.claims.clone(),
        exhibits,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_files_are_ours() {
        for name in [
            "reproduce.json",
            "ye-2008.table-3.tsv",
            "kolcz-2008.html",
            "claims.tsv",
            "made",
        ] {
            assert!(is_ours(name), "{name}");
        }
        for name in ["notes.txt", "ye-2008", "manifest.json", "x.ye-2008.tsv"] {
            assert!(!is_ours(name), "{name}");
        }
    }
}
