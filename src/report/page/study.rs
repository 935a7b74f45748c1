//! The figures of a sampling study, where there is one: `study/figures.json` and the SVGs that it names.

use std::path::Path;

use serde::Deserialize;

use crate::experiments::study::{COST_FILE, Comparison, DIRECTORY, FORMAT};
use crate::store::disk;
use crate::{Error, Result};

/// Bytes of a figure at most; ours have some ten thousand.
const MOST_BYTES: u64 = 4 << 20;

/// Bytes of all figures together at most: they are in memory, and in the page by a third longer.
const MOST_TOGETHER: u64 = 8 << 20;

/// An entry of `figures.json`.
#[derive(Debug, Deserialize)]
struct Entry {
    file: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    paper: String,
    #[serde(default)]
    here: String,
}

/// A figure and its sentences.
#[derive(Debug)]
pub(super) struct Figure {
    pub file: String,
    pub title: String,
    /// What the paper saw.
    pub paper: String,
    /// What is seen here.
    pub here: String,
    /// The file of the figure, or why it is not shown; `None` for a table.
    pub svg: Option<std::result::Result<Vec<u8>, String>>,
}

/// The figures of a directory, in the order of their list; none where there is no list.
pub(super) fn figures(directory: &Path) -> Result<Vec<Figure>> {
    let list = directory.join(DIRECTORY).join("figures.json");
    if !disk::exists(&list)? {
        return Ok(Vec::new());
    }
    let entries: Vec<Entry> =
        serde_json::from_slice(&bounded(&list, MOST_BYTES)?).map_err(|e| Error::Corrupt {
            path: list.clone(),
            offset_bytes: None,
            what: "list of figures".into(),
            expected: "JSON: file, title, paper, here of each".into(),
            found: e.to_string(),
        })?;
    let mut left = MOST_TOGETHER;
    let mut figures = Vec::new();
    for entry in entries {
        let Entry {
            file,
            title,
            paper,
            here,
        } = entry;
        let svg = file.ends_with(".svg").then(|| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            if !file.chars().all(plain) {
                return Err("its name is not that of a file beside the list".into());
            }
            let bytes = bounded(&directory.join(DIRECTORY).join(&file), MOST_BYTES.min(left))
                .map_err(|error| error.to_string())?;
            left = left.saturating_sub(bytes.len() as u64);
            Ok(bytes)
        });
        figures.push(Figure {
            file,
            title,
            paper,
            here,
            svg,
        });
    }
    Ok(figures)
}

/// Exact and sampled runs side by side; none where there is no study.
pub(super) fn comparison(directory: &Path) -> Result<Option<Comparison>> {
    #[derive(Deserialize)]
    struct Versioned {
        format: u32,
    }
    #[derive(Deserialize)]
    struct Costs {
        comparison: Comparison,
    }
    let path = directory.join(DIRECTORY).join(COST_FILE);
    if !disk::exists(&path)? {
        return Ok(None);
    }
    let json = bounded(&path, MOST_BYTES)?;
    let corrupt = |e: serde_json::Error| Error::Corrupt {
        path: path.clone(),
        offset_bytes: None,
        what: "what a study took".into(),
        expected: "JSON with a comparison".into(),
        found: e.to_string(),
    };
    // Before the fields: another format may have others.
    let Versioned { format } = serde_json::from_slice(&json).map_err(corrupt)?;
    if format != FORMAT {
        return Err(Error::Version {
            path,
            found: format,
            least: FORMAT,
            most: FORMAT,
        });
    }
    let costs: Costs = serde_json::from_slice(&json).map_err(corrupt)?;
    Ok(Some(costs.comparison))
}

/// A file of at most so many bytes.
fn bounded(path: &Path, most: u64) -> Result<Vec<u8>> {
    let size = disk::size(path)?;
    if size > most {
        return Err(Error::TooLong {
            path: path.into(),
            expected: most,
            found: size,
        });
    }
    disk::read_all(path)
}
