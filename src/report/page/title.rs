//! The title of a page.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use lookalike_base::Result;
use lookalike_engine::collection;
use lookalike_store::workspace::{InputList, Workspace};

/// The name of a collection: the name of its only file, or of the directory that contains all its
/// files. The name of the output directory if that says nothing.
pub(super) fn collection_name(workspace: &Workspace) -> Result<String> {
    let mut inputs = InputList::open(workspace.directory())?;
    // The files of another collection are not its own.
    for _ in 0..collection::against(&workspace.manifest).files {
        inputs.next()?;
    }
    // The path that all inputs share so far, with the name of the first.
    let mut shared: Option<PathBuf> = None;
    while let Some(entry) = inputs.next()? {
        let path = Path::new(&entry.path);
        shared = Some(match &shared {
            None => path.into(),
            Some(shared) => {
                let mut places = shared.ancestors();
                let place = places.find(|place| path.starts_with(place));
                place.map_or_else(PathBuf::new, Path::to_path_buf)
            }
        });
    }
    // A directory named by a number says nothing.
    let says = |name: &Cow<'_, str>| name.chars().any(char::is_alphabetic);
    let directory = workspace.directory();
    let own = directory.file_name().unwrap_or(directory.as_os_str());
    let shared = shared.unwrap_or_default();
    let name = shared.iter().map(OsStr::to_string_lossy).rfind(says);
    Ok(name.unwrap_or(own.to_string_lossy()).into_owned())
}
