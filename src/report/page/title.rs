//! The title of a page.

use std::path::{Component, Path};

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
    // The components of the path that all inputs share so far, the last one of the first included.
    let mut shared: Option<Vec<String>> = None;
    while let Some(entry) = inputs.next()? {
        let path = components(Path::new(&entry.path));
        shared = Some(match shared {
            None => path,
            Some(shared) => {
                let same = shared.iter().zip(&path).take_while(|(a, b)| a == b);
                let same = same.count();
                shared.into_iter().take(same).collect()
            }
        });
    }
    // A directory named by a number says nothing.
    let says = |name: &String| name.chars().any(char::is_alphabetic);
    let name = shared.and_then(|shared| shared.into_iter().rfind(says));
    Ok(name.unwrap_or_else(|| {
        let directory = workspace.directory();
        let name = directory.file_name().unwrap_or(directory.as_os_str());
        name.to_string_lossy().into_owned()
    }))
}

fn components(path: &Path) -> Vec<String> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    });
    names.collect()
}
