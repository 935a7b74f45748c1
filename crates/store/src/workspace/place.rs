//! Which directories are output directories of this program.
//!
//! There are three kinds. The directory of a run has a manifest. A directory of records, which
//! `dedup` and `passages --remove` write, has a state in its private directory. The directory of
//! `contamination` and of commands of the laboratory has a lock file. Other programs also write files called `manifest.json` and
//! `lock`, so the content decides.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::inputs::INPUTS_FILE;
use super::lock::{LOCK_FILE, Lock};
use super::manifest::MANIFEST_FILE;
use crate::{disk, remote};
use lookalike_base::{Error, Result};

/// The program's own subdirectory in a directory of records. Walks of directories skip hidden
/// names.
pub const PRIVATE: &str = ".lookalike";
/// The file that says from which files and with which parameters a directory of records was made.
pub const STATE_FILE: &str = "dedup.json";
/// The file that says where the records of a directory were searched.
pub const SOURCE_FILE: &str = "source.json";

/// How a manifest says that this program wrote it.
const PROGRAM: &[u8] = b"\"program\": \"lookalike ";
/// The most bytes of a manifest before that.
const HEAD_BYTES: u64 = 4096;

/// Kinds of output directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// A collection and the results of searches in it.
    Run,
    /// Records that were written again.
    Records,
    /// Files that another command wrote, or a run that has just begun.
    Files,
}

/// The kind of an output directory; `None` for any other path.
///
/// # Errors
/// `Io`.
pub fn output_kind(directory: &Path) -> Result<Option<OutputKind>> {
    // Only records are elsewhere than on this machine.
    let here = !remote::is_address(directory);
    Ok(if here && is_run(directory)? {
        Some(OutputKind::Run)
    } else if has_records(directory)? {
        Some(OutputKind::Records)
    } else {
        let locked = here && is_there(&directory.join(LOCK_FILE))?;
        // A lock that cannot be read is not known to be ours.
        let left = locked && Lock::is_left(directory, false).unwrap_or(false);
        left.then_some(OutputKind::Files)
    })
}

/// Whether a path leads to a directory with records that were written again.
pub fn has_records(path: &Path) -> Result<bool> {
    is_there(&path.join(PRIVATE).join(STATE_FILE))
}

/// Whether a directory has a manifest of this program. If the manifest does not say so, because it
/// is damaged, the files that always accompany it do.
pub(crate) fn is_run(directory: &Path) -> Result<bool> {
    let manifest = directory.join(MANIFEST_FILE);
    if !is_there(&manifest)? {
        return Ok(false);
    }
    let mut head = Vec::new();
    // Something that cannot be opened or read is not known to be ours.
    let read =
        disk::open_input(&manifest).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    if read.is_err() {
        head.clear();
    }
    is_run_with(directory, &head)
}

/// As [`is_run`], of a directory whose manifest begins with these bytes.
pub(super) fn is_run_with(directory: &Path, manifest: &[u8]) -> Result<bool> {
    let head = &manifest[..manifest.len().min(HEAD_BYTES as usize)];
    let says = memchr::memmem::find(head, PROGRAM).is_some();
    Ok(says || is_there(&directory.join(LOCK_FILE))? && is_there(&directory.join(INPUTS_FILE))?)
}

/// Whether something has this name.
fn is_there(path: &Path) -> Result<bool> {
    use std::io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    match disk::metadata(path) {
        Ok(_) => Ok(true),
        // Nothing has a path that is too long.
        Err(e) if matches!(e.kind(), NotFound | NotADirectory | InvalidFilename) => Ok(false),
        Err(e) => Err(e).map_err(Error::io("inspect", path)),
    }
}

/// The innermost output directory above a real path, and its kind. The path itself does not count.
///
/// # Errors
/// `Io`.
pub fn holder(real: &Path) -> Result<Option<(&Path, OutputKind)>> {
    for directory in real.ancestors().skip(1) {
        if let Some(kind) = output_kind(directory)? {
            return Ok(Some((directory, kind)));
        }
    }
    Ok(None)
}

/// Refuses a new output directory, given by `parameter`, below another output directory: commands
/// that work there remove what they do not know, and a directory of records has the names of the
/// inputs and no others.
///
/// # Errors
/// `BadParameter`; `Io`.
pub fn refuse_below_another(parameter: &'static str, directory: &Path) -> Result<()> {
    refuse_remote(directory)?;
    for at in directory.ancestors().filter(|at| *at != Path::new("")) {
        if !disk::is_gone(at)? && !disk::exists(at)? {
            let what = "is a symbolic link to something that does not exist; create that, or give \
                        another directory";
            let limit = format!("{} {what}", at.display());
            return Err(Error::parameter(parameter, directory.display()).because(limit));
        }
    }
    refuse_held(parameter, directory)
}

/// As [`refuse_below_another`], for a place that may be an address.
pub fn refuse_held(parameter: &'static str, directory: &Path) -> Result<()> {
    match holder(&resolved(directory)?)? {
        None => Ok(()),
        Some((holder, _)) => Err(Error::parameter(parameter, directory.display()).because(
            format!(
                "it lies in {}, an output directory of lookalike; give a place outside of it",
                holder.display()
            ),
        )),
    }
}

/// Schemes of addresses that look like paths.
const SCHEMES: &str = "s3 s3a s3n gs gcs az abfs abfss adl wasb wasbs hdfs dbfs oss cos hf http https \
                       ftp ftps sftp scp ssh file";

/// Refuses the address of something that is not on this machine, where a path is expected: it would
/// be taken for a directory that is called `s3:`. The address may have lost a slash, as in a `Path`
/// of Python.
///
/// # Errors
/// `Remote`.
pub fn refuse_remote(path: &Path) -> Result<()> {
    let text = path.to_string_lossy();
    let scheme = text
        .split_once(":/")
        .map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme.filter(|scheme| SCHEMES.split(' ').any(|known| known == scheme)) {
        None => Ok(()),
        Some(scheme) => Err(Error::Remote {
            path: path.into(),
            scheme,
        }),
    }
}

/// Refuses an address with a password or a signature in it, which would be printed and stored.
///
/// # Errors
/// `BadParameter`, with the rest of the address.
pub fn check_secret(path: &Path) -> Result<()> {
    match remote::secret(path) {
        Some((shown, why)) => Err(Error::parameter("address", shown).because(why)),
        None => Ok(()),
    }
}

/// Refuses the address of something that this program cannot write.
///
/// # Errors
/// `BadParameter`, which names the parameter; `Remote`.
pub fn check_address(parameter: &'static str, path: &Path) -> Result<()> {
    if !remote::is_address(path) {
        return refuse_remote(path);
    }
    remote::check_writable(path).map_err(|error| {
        let why = error.to_string();
        let why = why
            .strip_prefix(&format!("{}: ", path.display()))
            .unwrap_or(&why);
        Error::parameter(parameter, path.display()).because(why)
    })
}

/// How much the name of another file must resemble a mistyped one (Jaro & Winkler 1990), and how
/// many names are compared.
const NEAR_ENOUGH: f64 = 0.85;
const COMPARED: usize = 10_000;

/// A path that a user named and that does not exist.
pub fn missing(path: &Path) -> Error {
    match refuse_remote(path) {
        Err(error) => error,
        Ok(()) => Error::Other {
            message: format!("no such file or directory: {}", path.display()),
            help: match near(path, |_| true) {
                Some(near) if near == path => {
                    "it is a symbolic link to something that does not exist; check that".into()
                }
                Some(near) => format!("did you mean {}?", near.display()),
                None => "check the path".into(),
            },
            path: Some(path.into()),
        },
    }
}

/// The path of almost the same name in the same directory that fits.
pub(super) fn near(path: &Path, fits: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?.to_lowercase();
    let parent = path.parent()?;
    let entries = disk::entries(disk::directory_of(path))
        .ok()?
        .take(COMPARED)
        .flatten();
    let alike = entries.filter_map(|entry| {
        let other = entry.file_name().into_string().ok()?;
        let alike = strsim::jaro_winkler(&name, &other.to_lowercase());
        Some((alike, parent.join(other)))
    });
    let alike = alike.filter(|(alike, other)| *alike >= NEAR_ENOUGH && fits(other));
    alike
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, other)| other)
}

/// The real path of what exists of a path, and the rest of it. An address in its one spelling.
pub fn resolved(path: &Path) -> Result<PathBuf> {
    if remote::is_address(path) {
        return Ok(remote::normal(path));
    }
    let mut rest = Vec::new();
    let mut at = match path.is_absolute() {
        true => path.to_path_buf(),
        false => Path::new(".").join(path),
    };
    loop {
        match disk::canonical(&at) {
            Ok(real) => return Ok(rest.iter().rev().fold(real, |real, name| real.join(name))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).map_err(Error::io("inspect", &at)),
        }
        let (Some(name), Some(parent)) = (at.file_name(), at.parent()) else {
            return Ok(path.to_path_buf());
        };
        rest.push(name.to_os_string());
        at = parent.to_path_buf();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_content_of_a_manifest_decides() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let put = |name: &str, text: &str| {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), text).unwrap();
        };
        put(
            "app/manifest.json",
            "{\"name\":\"app\",\"version\":\"1.0\"}\n",
        );
        put("list/manifest.json", "[1]");
        fs::create_dir_all(at("odd/manifest.json")).unwrap();
        put(
            "run/manifest.json",
            "{\n  \"format\": 1,\n  \"program\": \"lookalike 9\",\n}\n",
        );
        for file in ["manifest.json", "lock", "inputs.jsonl"] {
            put(&format!("damaged/{file}"), "");
        }
        put("kept/.lookalike/dedup.json", "{}");
        put("found/lock", "process 1 on nowhere\n");
        put("theirs/lock", "me");
        for (name, kind) in [
            ("app", None),
            ("list", None),
            ("odd", None),
            ("missing", None),
            ("app/manifest.json", None),
            ("run", Some(OutputKind::Run)),
            ("damaged", Some(OutputKind::Run)),
            ("kept", Some(OutputKind::Records)),
            ("found", Some(OutputKind::Files)),
            ("theirs", None),
        ] {
            assert_eq!(output_kind(&at(name)).unwrap(), kind, "{name}");
        }
        assert!(refuse_remote("s3://bucket/out".as_ref()).is_err());
        assert!(refuse_remote("S3://bucket/out".as_ref()).is_err());
        assert!(refuse_remote("s3:/bucket/out".as_ref()).is_err());
        assert!(refuse_remote("x/s3:/out".as_ref()).is_ok());
        assert!(refuse_remote("notes://x".as_ref()).is_ok());
        for (below, refused) in [
            ("app/x", false),
            ("run/x", true),
            ("kept/x/y", true),
            ("found/x", true),
            ("theirs/x", false),
        ] {
            let answer = refuse_below_another("output", &at(below));
            assert_eq!(answer.is_err(), refused, "{below}");
        }
    }
}
