//! Find near-duplicates in a few lines: what most programs need of the library.
//!
//! The calls run the same stages as the commands of the same names, with the same defaults.

mod options;
mod results;

use std::fmt;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use crate::report;
use crate::report::page::{PAGE_FILE, PageConfig};
use lookalike_base::{Error, Result, budget::ByteSize, refuse};
use lookalike_engine::collection;
use lookalike_engine::pipeline::{self, Summary};
use lookalike_store::{Scratch, Workspace, checkpoint, disk};
use lookalike_tasks::dedup::{self, DedupConfig, DedupSummary};
use lookalike_tasks::passages::{self, PassagesConfig, Stats, Then};
use lookalike_tasks::query::{self, Answer, QueryConfig, Reply};
use lookalike_text::read::{Format, Inputs, ReadConfig, list_inputs};

pub use options::Options;
pub(crate) use options::Resources;
pub use results::{Cluster, Pair, ResultTable, Results};

/// Finds all pairs of texts whose resemblance reaches the threshold, exactly, and returns them in
/// the order of their indices.
///
/// A text with the same tokens as an earlier one is paired with the first such text only. A text
/// without tokens is in no pair.
///
/// Texts are plain text unless [`Options::markup`] says otherwise, and every text takes part, so [`Options::strict`] changes nothing, and
/// options about the reading of files are refused.
///
/// The texts are written to a temporary directory in [`Options::scratch`], or else in the system's
/// directory for temporary files, so they may be larger than [`Options::memory`]. The directory is
/// removed in the end. The pairs that are returned are not part of that memory.
///
/// ```
/// use lookalike::{Options, find_pairs};
///
/// let texts = ["one two three four", "something else entirely", "one two three four five"];
/// let pairs = find_pairs(&texts, Options::default().threshold(0.6).shingle_size(2))?;
/// assert_eq!((pairs[0].a, pairs[0].b, pairs[0].resemblance), (0, 2, 0.75));
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// `BadParameter`; `Limit` if the operating system allows less than the options; `BudgetTooSmall`
/// if a text is too long for the memory, `DiskSpace`; `Interrupted`; `Io`.
pub fn find_pairs<T: AsRef<str>>(
    texts: impl IntoIterator<Item = T>,
    mut options: Options,
) -> Result<Vec<Pair<usize>>> {
    if options.collection.read != ReadConfig::default() {
        let given = "with texts that are not in files";
        return refuse("read", given, "leave CollectionConfig::read as it is");
    }
    let texts = Texts::write(texts, &options)?;
    if texts.count == 0 {
        return Ok(Vec::new());
    }
    options.collection.read = texts.read();
    options.strict = true;
    let out = texts.place.path().join("run");
    let collection = Collection::create(out, [texts.path()], options)?;
    let index = |docno: String| {
        (docno.parse().ok().filter(|&index| index < texts.count)).ok_or_else(|| {
            Error::corrupt(&collection.directory, "a pair").expected("an index", docno)
        })
    };
    let mut pairs = Vec::new();
    for pair in collection.pairs()? {
        let pair = pair?;
        pairs.push(Pair {
            a: index(pair.a)?,
            b: index(pair.b)?,
            resemblance: pair.resemblance,
            shared: pair.shared,
            sizes: pair.sizes,
        });
    }
    pairs.sort_by_key(|pair| (pair.a, pair.b));
    Ok(pairs)
}

/// A collection of documents in a directory, with its pairs and clusters.
///
/// The directory is like an output directory of `lookalike run`. Its documents, pairs and clusters
/// are on disk.
///
/// ```
/// use lookalike::{Collection, Options};
///
/// # let place = tempfile::tempdir().unwrap();
/// # let out = place.path().join("out");
/// let options = Options::default().threshold(0.5);
/// let collection = Collection::create(out, ["sample-corpora/trec-web"], options)?;
/// for pair in collection.pairs()? {
///     let pair = pair?;
///     println!("{} and {}: {}", pair.a, pair.b, pair.resemblance);
/// }
/// # Ok::<(), lookalike::Error>(())
/// ```
pub struct Collection {
    directory: PathBuf,
    options: Options,
}

impl fmt::Debug for Collection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Collection").field(&self.directory).finish()
    }
}

impl Collection {
    /// Reads files and directories into a collection in `directory`, and finds its pairs and
    /// clusters. If a call was stopped, the same call continues its work; after a finished one, it
    /// does nothing.
    ///
    /// # Errors
    /// `BadParameter`, also if the directory has a collection with other parameters; `NoInput`,
    /// Of inputs that cannot be opened; `Rejected` if the options are strict; `Limit`, `BudgetTooSmall`,
    /// `DiskSpace`; `Interrupted`; `Io`.
    pub fn create<P: Into<PathBuf>>(
        directory: impl Into<PathBuf>,
        inputs: impl IntoIterator<Item = P>,
        options: Options,
    ) -> Result<Collection> {
        let directory = directory.into();
        let parameters = options.parameters()?;
        let context = options.context()?;
        Workspace::look_whether_free(&directory)?;
        let mut inputs = listed(inputs, &directory)?;
        inputs.need_documents = true;
        let (config, strict) = (options.collection_config(), options.strict);
        pipeline::run(&inputs, &directory, &config, &parameters, strict, &context)?;
        Ok(Collection { directory, options })
    }

    /// Opens the output directory of [`Collection::create`] or of `lookalike run`. The parameters
    /// of the collection are those that it was made with; only the limits in `options` apply.
    ///
    /// # Errors
    /// `NotOutput` if the directory has no collection; `Corrupt`; `Io`.
    pub fn open(directory: impl Into<PathBuf>, options: Options) -> Result<Collection> {
        let directory = directory.into();
        pipeline::look(&directory)?;
        Ok(Collection { directory, options })
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The parameters of the collection and the counts of all stages, as in `summary.json`.
    ///
    /// # Errors
    /// `Corrupt`, `Io`.
    pub fn summary(&self) -> Result<Summary> {
        Ok(Summary::of(&pipeline::look(&self.directory)?))
    }

    /// The pairs in the order of the documents, and after them the exact duplicates, each paired
    /// with the first document of the same tokens.
    ///
    /// # Errors
    /// `StageMissing` if the pairs were not found yet; `Corrupt` if a file has changed;
    /// `BadParameter`, `Limit` for options that cannot be met; `Io`.
    pub fn pairs(&self) -> Result<impl Iterator<Item = Result<Pair>> + use<>> {
        results::pairs(&self.directory, &self.options.context()?)
    }

    /// The clusters in the order of their representatives. One cluster at a time is in memory.
    ///
    /// # Errors
    /// Those of [`Collection::pairs`].
    pub fn clusters(&self) -> Result<impl Iterator<Item = Result<Cluster>> + use<>> {
        results::clusters(&self.directory)
    }

    /// A result file as rows of cells, for programs that need all its columns.
    ///
    /// # Errors
    /// `StageMissing` if there are no results yet; `Corrupt` if the file has changed; `Io`.
    pub fn table(&self, of: Results) -> Result<ResultTable> {
        ResultTable::open(&self.directory, of)
    }

    /// Adds files and directories to the collection, and brings its pairs and clusters up to date.
    /// Inputs that the collection has already are left out.
    ///
    /// # Errors
    /// Those of [`Collection::create`]; `InputChanged` if an input has changed since it was read.
    pub fn add<P: Into<PathBuf>>(&self, inputs: impl IntoIterator<Item = P>) -> Result<Summary> {
        let context = self.options.context()?;
        let inputs = listed(inputs, &self.directory)?;
        let strict = self.options.strict;
        pipeline::add(&self.directory, &inputs, strict, None, &context)
    }

    /// Finds the documents that resemble or contain each of these texts, and returns an answer for
    /// each text, in their order. [`Answer::query`] is the index of the text. `config.criterion`
    /// has the threshold; the threshold of the collection does not count.
    ///
    /// The texts are kept in a temporary file, as for [`find_pairs`]. Look-ups are faster if the
    /// directory has an index ([`Collection::index`]).
    ///
    /// # Errors
    /// `BadParameter`, also if a text cannot be looked up; `Limit`, `BudgetTooSmall`; `Interrupted`;
    /// `Corrupt`; `Io`.
    pub fn query<T: AsRef<str>>(
        &self,
        texts: impl IntoIterator<Item = T>,
        config: &QueryConfig,
    ) -> Result<Vec<Answer>> {
        let context = self.options.context()?;
        let texts = Texts::write(texts, &self.options)?;
        let base = pipeline::open_catalogued(&self.directory, &context)?;
        pipeline::has_texts(&base)?;
        let inputs = list_inputs(&[texts.path()])?;
        let theirs = collection::config(&base.manifest).read.markup();
        let read = ReadConfig {
            markup: self.options.markup.or(Some(theirs)),
            ..texts.read()
        };
        let mut answers = Vec::new();
        let take = |reply| {
            match reply {
                Reply::Answer(answer) => answers.push(answer),
                Reply::Rejected(rejected) => {
                    let text = rejected.query.unwrap_or_default();
                    return Err(Error::parameter("texts", text).because(rejected.detail));
                }
                Reply::Warning(_) => {}
            }
            Ok(())
        };
        query::run(&base, None, &inputs, &read, config, &context, take)?;
        Ok(answers)
    }

    /// Makes the index of the collection, unless it exists, for look-ups and additions.
    ///
    /// # Errors
    /// `BadParameter`, `Limit`, `BudgetTooSmall`, `DiskSpace`; `Interrupted`; `Io`.
    pub fn index(&self) -> Result<()> {
        let context = self.options.context()?;
        pipeline::index(&mut pipeline::open_texts(&self.directory)?, None, &context)?;
        Ok(())
    }

    /// Writes the inputs again to the new directory `kept`, without their near-duplicates. With
    /// `removed`, the removed records go to that directory, with a list of reasons.
    ///
    /// # Errors
    /// `StageMissing`; `BadParameter`; `InputChanged` if an input has changed since it was read;
    /// `Limit`, `BudgetTooSmall`, `DiskSpace`; `Interrupted`; `Io`.
    pub fn dedup(
        &self,
        kept: impl AsRef<Path>,
        removed: Option<&Path>,
        config: &DedupConfig,
    ) -> Result<DedupSummary> {
        let context = self.options.context()?;
        let workspace = pipeline::open(&self.directory)?;
        dedup::run(&workspace, config, (kept.as_ref(), removed), &context)
    }

    /// Finds the passages that occur twice or more, and writes them as tables into the directory.
    ///
    /// # Errors
    /// `BadParameter`; `InputChanged` if an input has changed since it was read; `Limit`,
    /// `BudgetTooSmall`, `DiskSpace`; `Interrupted`; `Io`.
    pub fn passages(&self, config: &PassagesConfig) -> Result<Stats> {
        let context = self.options.context()?;
        let mut workspace = pipeline::open_texts(&self.directory)?;
        pipeline::catalogued(&mut workspace, &context)?;
        let stats = passages::run(&mut workspace, config, Then::End, &context)?;
        checkpoint::end(&mut workspace)?;
        Ok(stats)
    }

    /// Writes the page about the pairs and clusters to `page`, or to `report.html` in the
    /// directory. Returns its path.
    ///
    /// # Errors
    /// `StageMissing`; `BadParameter`, also if the page would replace an input; `Limit`,
    /// `BudgetTooSmall`; `Interrupted`; `Io`.
    pub fn report(&self, page: Option<&Path>, config: &PageConfig) -> Result<PathBuf> {
        let context = self.options.context()?;
        let page = page.map_or_else(|| self.directory.join(PAGE_FILE), Path::to_path_buf);
        let mut workspace = pipeline::open_for(&self.directory, &page, &context)?;
        report::write_page(&mut workspace, config, &page, &context)?;
        Ok(page)
    }
}

/// Lists inputs, and refuses an input that cannot be read.
fn listed<P: Into<PathBuf>>(
    inputs: impl IntoIterator<Item = P>,
    directory: &Path,
) -> Result<Inputs> {
    let inputs: Vec<PathBuf> = inputs.into_iter().map(Into::into).collect();
    let inputs = pipeline::inputs(&inputs, directory)?;
    inputs.check_readable()?;
    Ok(inputs)
}

/// The members of a text in the file of texts.
const INDEX: &str = "index";
const TEXT: &str = "text";
/// The limit of a document is at least this.
const LEAST_MAX_DOCUMENT: ByteSize = ByteSize::mib(4);

/// Texts in a temporary file, as lines of JSON. Their docnos are their indices.
struct Texts {
    place: Scratch,
    count: usize,
    /// Bytes of the longest line.
    longest: usize,
}

impl Texts {
    fn write<T: AsRef<str>>(
        texts: impl IntoIterator<Item = T>,
        options: &Options,
    ) -> Result<Texts> {
        let context = options.context()?;
        let parent = context
            .scratch
            .map_or_else(std::env::temp_dir, Path::to_path_buf);
        let mut written = Texts {
            place: Scratch::within(&parent)?,
            count: 0,
            longest: 0,
        };
        let path = written.path();
        let failed = |error| Error::io("write", &path)(error);
        let mut out = BufWriter::new(disk::create(&path)?);
        for text in texts {
            context.tick("texts", written.count as u64)?;
            let text = serde_json::Value::from(text.as_ref());
            let line = format!("{{\"{INDEX}\":\"{}\",\"{TEXT}\":{text}}}\n", written.count);
            out.write_all(line.as_bytes()).map_err(failed)?;
            written.count += 1;
            written.longest = written.longest.max(line.len());
        }
        out.flush().map_err(failed)?;
        Ok(written)
    }

    fn path(&self) -> PathBuf {
        self.place.path().join("texts.jsonl")
    }

    /// How the file is read.
    fn read(&self) -> ReadConfig {
        ReadConfig {
            format: Some(Format::Jsonl),
            id_field: Some(INDEX.into()),
            text_field: Some(TEXT.into()),
            max_document: ByteSize(self.longest as u64).max(LEAST_MAX_DOCUMENT),
            ..ReadConfig::default()
        }
    }
}
