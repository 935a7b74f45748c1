//! The directories of kept and removed records.
//!
//! A directory is new or empty when a command begins. The command leaves `.lookalike/dedup.json` in
//! it, which says from what the directory is made, so that the same command can continue and no
//! other can. A file is written below `.lookalike`. When it is complete, it is renamed to its
//! place, several files at a time ([`super::batch`]). The content of each file is recorded
//! ([`super::finished`]). A command that continues a directory reads its files again and refuses a
//! file that has changed, because it would trust the wrong bytes, or overwrite the user's changes.
//!
//! An output may also be an address of a store (`objects`).

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::batch::{Batch, Complete};
use super::finished::{Content, Finished, FinishedList, NOT_FINISHED, changed};
use super::objects::{self, Objects, SHOWN_CHARS};
use super::{STAGE, again};
use lookalike_base::{Context, Error, Result, Stop, counted, cut_after, refuse, workers::share};
pub use lookalike_store::workspace::PRIVATE;
use lookalike_store::{
    Lock, STATE_FILE, disk, json, received, refuse_below_another, remote, resolved,
};
use lookalike_text::read::InputFile;

/// The inputs and parameters that a directory was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    program: String,
    /// Digest of the pairs, the inputs and the parameters.
    pub digest: String,
    /// Whether every file is in its place.
    pub complete: bool,
}

impl State {
    /// Reads the state of an output directory.
    pub fn read(directory: &Path) -> Result<State> {
        // The directory may come from someone else: no link or FIFO in it is opened.
        disk::claim(directory);
        let path = directory.join(PRIVATE).join(STATE_FILE);
        let bytes = received::read_whole(&path, received::RECORD)?;
        serde_json::from_slice(&bytes).map_err(|error| {
            Error::corrupt(path, "state of the output")
                .expected("what the command that writes the directory leaves", error)
        })
    }
}

/// A directory that mirrors the inputs, or the objects below an address that do.
pub struct OutputDirectory {
    directory: PathBuf,
    /// Where its lock, its state and its list are.
    private: PathBuf,
    /// If it is in a store.
    objects: Option<Objects>,
    digest: String,
    batch: Arc<Batch>,
    /// Two commands would give their unfinished files the same names.
    _lock: Lock,
}

impl OutputDirectory {
    /// Refuses a directory in which another program's files are. Returns whether a command began
    /// it.
    pub fn look(directory: &Path, parameter: &'static str, work: &Path) -> Result<bool> {
        if remote::is_address(directory) {
            return objects::look(directory, parameter, work);
        }
        refuse_below_another(parameter, directory)?;
        let refused = |limit| refuse(parameter, directory.display(), limit);
        let mut above = directory.ancestors().map(disk::directory_of);
        let above = above.find(|above| disk::is_directory(above).unwrap_or(true));
        if above.is_some_and(|above| !disk::is_writable(above)) {
            return refused("it cannot be created there; give another place");
        }
        let entries = match disk::exists(directory)? {
            true if !disk::is_directory(directory)? => {
                return refused("it is a file; give a new directory");
            }
            true => disk::list_all(directory)?,
            false => Vec::new(),
        };
        let begun = disk::exists(&directory.join(PRIVATE).join(STATE_FILE))?;
        // A command that was killed before it wrote its state left the private directory alone.
        if begun || entries.iter().all(|name| name == PRIVATE) {
            return Ok(begun);
        }
        refused("it is not empty; give a new directory")
    }

    /// Opens a directory and locks it. The local files of an output in a store are in `work`.
    /// [`OutputDirectory::begin`] must be called before a file is written.
    pub fn open(
        directory: &Path,
        parameter: &'static str,
        (work, digest): (&Path, &str),
    ) -> Result<OutputDirectory> {
        let begun = OutputDirectory::look(directory, parameter, work)?;
        let private = objects::private(directory, work);
        if !remote::is_address(directory) {
            disk::create_lasting_directory(directory)?;
            disk::claim(directory);
        }
        disk::create_lasting_directory(&private)?;
        let output = OutputDirectory {
            directory: directory.into(),
            digest: digest.into(),
            _lock: Lock::take(&private)?,
            objects: Objects::of(directory, &private)?,
            batch: Arc::new(Batch::new(directory, FinishedList::read(&private)?)),
            private,
        };
        if begun && output.state()?.digest != digest {
            let limit =
                "it was made from other inputs or with other parameters; give a new directory";
            return refuse(parameter, directory.display(), limit);
        }
        Ok(output)
    }

    /// Begins to write files with these names in the directory.
    pub fn begin(&self, names: &Names<'_>) -> Result<()> {
        for name in disk::list(&self.private)? {
            if name.ends_with(".tmp") {
                disk::remove(&self.private.join(name))?;
            }
        }
        let objects = self.objects.as_ref();
        let own = || names.iter().map(|(name, _)| &**name).collect();
        objects.map_or(Ok(()), |objects| objects.begin(own()))?;
        self.put_state(false)?;
        self.batch.list().begin(|name| self.has(name))
    }

    /// Reads the files again that an earlier command finished, and refuses the directory if one of
    /// them has changed. The files have these names, and may be links to these inputs.
    pub fn check_files(
        &self,
        names: &Names<'_>,
        threads: usize,
        context: &Context<'_>,
    ) -> Result<()> {
        share("checking", threads.max(1), names, |queue| {
            while let Some((name, input)) = queue.next() {
                context.stop.check(STAGE)?;
                if self.has(name)? {
                    let recorded = self.batch.list().of(name).to_vec();
                    let objects = self.objects.as_ref();
                    self.check_file((name, &recorded), *input, objects, context)?;
                }
            }
            Ok(())
        })
    }

    /// Refuses a file that matches none of its recorded contents. A content is a link to the `input`,
    /// or bytes, which `objects` may confirm without reading.
    fn check_file(
        &self,
        (name, recorded): (&str, &[Content]),
        input: Option<&Path>,
        objects: Option<&Objects>,
        context: &Context<'_>,
    ) -> Result<()> {
        let path = self.path(name);
        let is_there = objects.is_none_or(|objects| objects.has(name));
        let mut expected = NOT_FINISHED.to_string();
        let mut content = None;
        for recorded in recorded {
            match recorded {
                Content::Linked { .. } => {
                    let identity =
                        |path: &Path| disk::identity(path).map_err(Error::io("inspect", path));
                    let here = identity(&path)?;
                    if here.is_some() && input.map(identity).transpose()? == Some(here) {
                        return Ok(());
                    }
                    expected = "a link to the input".into();
                }
                Content::Bytes { bytes, xxh3, etag } => {
                    if let (Some(objects), Some(etag)) = (objects, etag)
                        && objects.is(name, *bytes, etag)
                    {
                        return Ok(());
                    }
                    let known = (*bytes, xxh3.clone());
                    if content.is_none() && is_there {
                        content = Some(disk::content(&path, || context.stop.check(STAGE))?);
                    }
                    if content.as_ref() == Some(&known) {
                        return Ok(());
                    }
                    expected = shown(&known);
                }
            }
        }
        let other = if is_there { "another file" } else { "nothing" };
        let found = content.map_or_else(|| other.into(), |content| shown(&content));
        Err(changed(&path, &expected, &found))
    }

    fn state(&self) -> Result<State> {
        State::read(&self.directory)
    }

    fn put_state(&self, complete: bool) -> Result<()> {
        let state = State {
            program: concat!("lookalike ", env!("CARGO_PKG_VERSION")).into(),
            digest: self.digest.clone(),
            complete,
        };
        let in_store = self.objects.as_ref().map(|_| self.directory.join(PRIVATE));
        // The file in the store tells other commands who owns the output, so it comes second.
        for private in [Some(&self.private), in_store.as_ref()]
            .into_iter()
            .flatten()
        {
            let path = private.join(STATE_FILE);
            disk::put(&path, json::line(&state, &path)?.as_bytes())?;
            // Without this sync, the directory could have files but no mark after a power cut.
            disk::sync_parent(&path)?;
        }
        Ok(())
    }

    /// Gives the last files their names, and says that every file is in its place.
    pub fn complete(&self, context: &Context<'_>) -> Result<()> {
        self.batch.finish()?;
        self.batch.list().complete()?;
        if let Some(objects) = &self.objects {
            self.check_placed(context)?;
            objects.complete()?;
            let list = self.batch.list();
            let name = list.log.path.file_name().unwrap_or_default();
            let path = self.directory.join(PRIVATE).join(name);
            disk::copy(&list.log.path, &path, || Ok(()))?;
        }
        self.put_state(true)
    }

    /// Refuses objects that are not those that were put there: a store has no locks, so a command on
    /// another machine may have put its own since.
    fn check_placed(&self, context: &Context<'_>) -> Result<()> {
        let Some(there) = Objects::of(&self.directory, &self.private)? else {
            return Ok(());
        };
        for (name, last) in self.batch.list().last() {
            // A file at an address is never a link.
            if let Content::Bytes { .. } = last {
                let last = std::slice::from_ref(last);
                self.check_file((name, last), None, Some(&there), context)?;
            }
        }
        Ok(())
    }

    /// The directory itself.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The place of a file.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Whether a file is in its place, complete.
    pub fn has(&self, name: &str) -> Result<bool> {
        match &self.objects {
            Some(objects) => Ok(objects.has(name)),
            None => disk::exists(&self.path(name)),
        }
    }

    /// Memory of the copy of an input while it is written, beside what a file takes.
    pub fn memory(&self, input: &InputFile) -> u64 {
        objects::memory([&*self.directory], std::slice::from_ref(input), true)
    }

    /// Where a file is until it is complete. `number` tells apart the files that a command writes.
    fn temporary(&self, number: u32) -> PathBuf {
        self.private.join(format!("{number}.tmp"))
    }

    /// Begins a file.
    pub fn create(&self, name: &str, number: u32) -> Result<OutputFile> {
        self.create_about(name, number, 0)
    }

    /// Begins the copy of an input.
    pub fn create_copy(&self, input: &InputFile, number: u32) -> Result<OutputFile> {
        self.create_about(&input.docno, number, objects::expected(input))
    }

    /// Begins a file of about this size.
    fn create_about(&self, name: &str, number: u32, expected: u64) -> Result<OutputFile> {
        let (file, temporary) = match &self.objects {
            Some(objects) => (objects.create(&self.path(name), name, expected)?, None),
            None => {
                let temporary = self.temporary(number);
                (disk::create(&temporary)?, Some(temporary))
            }
        };
        Ok(OutputFile {
            out: Some(BufWriter::with_capacity(disk::WRITE_BUFFER, file)),
            temporary,
            ..self.nothing(name)
        })
    }

    /// A file that is in its place. Data written to it is dropped.
    pub fn nothing(&self, name: &str) -> OutputFile {
        OutputFile {
            out: None,
            temporary: None,
            path: self.path(name),
            name: name.into(),
            hash: Xxh3::new(),
            bytes: 0,
            batch: self.batch.clone(),
        }
    }

    /// Makes a hard link of an input. Returns whether the file system can.
    pub fn link(&self, from: &Path, name: &str, number: u32) -> Result<bool> {
        let temporary = self.temporary(number);
        if let Err(error) = disk::link(from, &temporary) {
            use io::ErrorKind::{CrossesDevices, Unsupported};
            let permitted = Some(rustix::io::Errno::PERM.raw_os_error()) != error.raw_os_error();
            // Another file system, or one without links: the file is copied.
            if !permitted || [CrossesDevices, Unsupported].contains(&error.kind()) {
                return Ok(false);
            }
            return Err(Error::io("link", &self.path(name))(error));
        }
        let (name, path) = (name.to_string(), self.path(name));
        let content = Content::Linked { linked: true };
        let complete = Complete {
            finished: Finished { name, content },
            temporary: Some(temporary),
            path,
            file: None,
        };
        self.batch.add(complete).map(|()| true)
    }
}

/// Where a command writes: the directory of the copies, and perhaps a directory for the removed
/// records.
pub type Places<'p> = (&'p Path, Option<&'p Path>);

/// The directories with the parameters that name them.
pub fn named((kept, removed): Places<'_>) -> impl Iterator<Item = (&'static str, &Path)> {
    let removed = removed.map(|removed| ("removed", removed));
    [("output", kept)].into_iter().chain(removed)
}

/// The directories of a command.
pub struct Outputs {
    pub kept: OutputDirectory,
    pub removed: Option<OutputDirectory>,
}

/// Names of files, and the inputs to which they may be links.
pub type Names<'n> = Vec<(Cow<'n, str>, Option<&'n Path>)>;

impl Outputs {
    /// Looks at both directories ([`OutputDirectory::look`]).
    pub fn look(places: Places<'_>, work: &Path) -> Result<()> {
        named(places).try_for_each(|(parameter, output)| {
            OutputDirectory::look(output, parameter, work).map(|_| ())
        })
    }

    /// Opens and locks the directories ([`OutputDirectory::open`]). Neither is begun if the other one
    /// is refused.
    pub fn open(places: Places<'_>, by: (&Path, &str)) -> Result<Outputs> {
        Outputs::look(places, by.0)?;
        let removed = |removed| OutputDirectory::open(removed, "removed", by);
        Ok(Outputs {
            kept: OutputDirectory::open(places.0, "output", by)?,
            removed: places.1.map(removed).transpose()?,
        })
    }

    fn all(&self) -> impl Iterator<Item = &OutputDirectory> {
        [&self.kept].into_iter().chain(&self.removed)
    }

    /// Checks the files that an earlier command finished under these names in the kept and in the
    /// removed directory, and begins to write.
    pub fn begin(&self, names: (&Names<'_>, &Names<'_>), context: &Context<'_>) -> Result<()> {
        let all = || self.all().zip([names.0, names.1]);
        for (output, names) in all() {
            output.check_files(names, context.budget.threads, context)?;
        }
        all().try_for_each(|(output, names)| output.begin(names))
    }

    /// Says that every file is in its place.
    pub fn complete(&self, context: &Context<'_>) -> Result<()> {
        self.all().try_for_each(|output| output.complete(context))
    }
}

/// A file that is being written.
pub struct OutputFile {
    /// `None` if nothing is written.
    out: Option<BufWriter<disk::File>>,
    /// `None` if the file is an object of a store.
    temporary: Option<PathBuf>,
    /// Where the file will be.
    pub path: PathBuf,
    name: String,
    /// The checksum of the bytes that were written.
    hash: Xxh3,
    bytes: u64,
    batch: Arc<Batch>,
}

fn shown((bytes, xxh3): &(u64, String)) -> String {
    format!("{} with xxh3 {xxh3}", counted(*bytes, "byte"))
}

impl OutputFile {
    /// Says that the file is complete. It gets its name with others, at the latest when
    /// [`OutputDirectory::complete`] is called.
    pub fn finish(self) -> Result<()> {
        let Some(out) = self.out else { return Ok(()) };
        let file = out.into_inner().map_err(|error| error.into_error());
        let file = file.map_err(Error::io("write", &self.path))?;
        let content = Content::Bytes {
            bytes: self.bytes,
            xxh3: format!("{:016x}", self.hash.digest()),
            etag: None,
        };
        let name = self.name;
        self.batch.add(Complete {
            finished: Finished { name, content },
            temporary: self.temporary,
            path: self.path,
            file: Some(file),
        })
    }

    /// Removes the file.
    pub fn discard(self) -> Result<()> {
        let Some(out) = self.out else { return Ok(()) };
        drop(out.into_parts());
        self.temporary.as_deref().map_or(Ok(()), disk::remove)
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(out) = &mut self.out else {
            return Ok(bytes.len());
        };
        let written = out.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }
}

/// Whether an input of this name would be written into the program's own directory.
pub fn is_private(name: &str) -> bool {
    Path::new(name).components().next() == Some(Component::Normal(PRIVATE.as_ref()))
}

/// The name of an input file as a path below an output directory. A list of inputs from someone
/// else could hold any name.
pub fn plain_name(name: &str, list: &Path, line: usize) -> Result<()> {
    let parts = name.split('/').count();
    let expected = if !remote::is_short(name) {
        remote::short()
    } else if received::is_below(name) && !is_private(name) {
        return Ok(());
    } else {
        "a relative path of plain names".into()
    };
    let found = format!("{parts} names in {:?}", cut_after(name.into(), SHOWN_CHARS));
    Err(Error::corrupt(list, format!("name of an input in line {line}")).expected(expected, found))
}

/// Refuses a file or directory in another directory. The message has words before and after the
/// path of the directory.
fn refuse_inside(
    (parameter, file): (&'static str, &Path),
    directory: &Path,
    (before, after): (&str, &str),
) -> Result<()> {
    if !resolved(file)?.starts_with(resolved(directory)?) {
        return Ok(());
    }
    let limit = format!("it lies in {before}{}{after}", directory.display());
    refuse(parameter, file.display(), limit)
}

/// Refuses an output directory below a directory that is an input: the next call would read it.
pub fn check_outside(parameter: &'static str, directory: &Path, input: &Path) -> Result<()> {
    let words = ("the input ", "; give a directory outside of the inputs");
    let input = match remote::is_address(input) {
        // Without its glob.
        true => &remote::prefix(input),
        false => input,
    };
    refuse_inside((parameter, directory), input, words)
}

/// Refuses a file in a directory of kept records.
pub fn check_outside_kept(parameter: &'static str, file: &Path, kept: &Path) -> Result<()> {
    let after = ", which has the kept records and nothing else; give a file outside of it";
    refuse_inside((parameter, file), kept, ("", after))
}

/// Refuses a file in another directory that belongs to the same command.
pub fn check_outside_taken(parameter: &'static str, file: &Path, taken: &Path) -> Result<()> {
    let words = ("the output directory ", "; give a file outside of it");
    refuse_inside((parameter, file), taken, words)
}

/// Refuses an output directory in a place where it would change what the command reads.
fn check_place(parameter: &'static str, directory: &Path, taken: &[(&str, &Path)]) -> Result<()> {
    let mine = resolved(directory)?;
    for (what, other) in taken {
        let other = resolved(other)?;
        if mine.starts_with(&other) || other.starts_with(&mine) {
            let other = other.display();
            let limit = format!("it overlaps with {what}, {other}; give another directory");
            return refuse(parameter, directory.display(), limit);
        }
    }
    Ok(())
}

/// Refuses standard input, which cannot be read again, and output directories that overlap with each
/// other, the work directory or an input, or that hold other files.
pub fn check_outputs(inputs: &[PathBuf], work: &Path, places: Places<'_>) -> Result<()> {
    if inputs.iter().any(|input| input.as_os_str() == "-") {
        return Err(again::standard_input());
    }
    check_apart(work, places)?;
    for (parameter, output) in named(places) {
        for input in inputs {
            check_outside(parameter, output, input)?;
        }
    }
    Outputs::look(places, work)
}

/// Refuses output directories that overlap with each other, the work directory or the inputs.
pub fn check_places(
    work: &Path,
    inputs: &[InputFile],
    places: Places<'_>,
    stop: &Stop,
) -> Result<()> {
    check_apart(work, places)?;
    for (parameter, output) in named(places) {
        let here = disk::canonical(output).ok();
        for input in inputs {
            stop.check(STAGE)?;
            let real = disk::canonical(&input.path).ok();
            let mut both = real.zip(here.as_ref()).into_iter();
            if !both.any(|(file, here)| file.starts_with(here)) {
                continue;
            }
            let input = input.path.display();
            let limit = format!("it contains the input {input}; give a new directory");
            return refuse(parameter, output.display(), limit);
        }
    }
    Ok(())
}

fn check_apart(work: &Path, places: Places<'_>) -> Result<()> {
    let mut taken = vec![("the work directory", work)];
    for (parameter, output) in named(places) {
        check_place(parameter, output, &taken)?;
        taken.push(("the kept files", output));
    }
    Ok(())
}
