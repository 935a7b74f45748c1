//! Parameters and limits of the calls.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use lookalike_base::{
    Budget, Context, Disk, Error, Progress, Result, Silent, Stop, budget::ByteSize, limits, refuse,
};
use lookalike_engine::collection::CollectionConfig;
use lookalike_engine::pipeline::JoinParameters;
use lookalike_store::{disk, refuse_remote};
use lookalike_text::parse::TokenKind;
use lookalike_text::read::Markup;

/// The memory, threads and disk space that a call may use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resources {
    /// Memory; a quarter of the free memory if it is not given.
    pub memory: Option<ByteSize>,
    /// Threads; one for each core if their number is not given.
    pub threads: Option<usize>,
    /// The disk space.
    pub disk: Disk,
    /// A directory for temporary files.
    pub scratch: Option<PathBuf>,
    /// The programs of `--convert` that the caller names: no directory names others.
    pub programs: Vec<String>,
}

impl Resources {
    /// The context of the call.
    ///
    /// # Errors
    /// `BadParameter`; `Limit` if the operating system allows less.
    pub fn context<'a>(
        &'a self,
        stop: &'a Stop,
        progress: &'a dyn Progress,
    ) -> Result<Context<'a>> {
        let threads = self.threads.unwrap_or_else(|| {
            std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
        });
        let budget = Budget {
            memory: self
                .memory
                .unwrap_or_else(|| limits::default_memory(threads)),
            threads,
            disk: self.disk,
        };
        budget.check()?;
        limits::check(&budget)?;
        if let Some(scratch) = &self.scratch
            && !disk::is_directory(scratch)?
        {
            refuse_remote(scratch)?;
            return refuse("scratch", scratch.display(), "give an existing directory");
        }
        Ok(Context {
            budget,
            stop,
            progress,
            scratch: self.scratch.as_deref(),
            programs: &self.programs,
        })
    }
}

/// Parameters and limits, with the defaults of the command line.
///
/// ```
/// use lookalike::Options;
///
/// let options = Options::default().threshold(0.5).shingle_size(5).memory(1 << 30);
/// ```
///
/// The order of the calls does not matter. A method that sets one parameter overrides
/// [`Options::collection`] and [`Options::join`], which set all parameters of their kind.
#[derive(Clone, Default)]
pub struct Options {
    pub(super) collection: CollectionConfig,
    shingle_size: Option<u32>,
    tokens: Option<TokenKind>,
    pub(super) markup: Option<Markup>,
    join: JoinParameters,
    /// As it was given. It is checked when it is used, so that methods can be chained.
    threshold: Option<String>,
    pub(super) strict: bool,
    pub(super) resources: Resources,
    progress: Option<Arc<dyn Progress>>,
    stop: Stop,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("collection", &self.collection_config())
            .field("join", &self.join)
            .field("threshold", &self.threshold)
            .field("strict", &self.strict)
            .field("resources", &self.resources)
            .finish_non_exhaustive()
    }
}

/// Methods that set one parameter.
macro_rules! setters {
    ($($(#[$about:meta])* $name:ident($value:ident: $type:ty) $($field:ident).+ = $set:expr;)*) => {
        impl Options {$(
            $(#[$about])*
            #[must_use]
            pub fn $name(mut self, $value: $type) -> Self {
                self.$($field).+ = $set;
                self
            }
        )*}
    };
}

setters! {
    /// Sets the lowest resemblance of a pair, above 0 and at most 1: a decimal such as `0.5`, or a
    /// fraction such as `"2/3"`. The default is 0.85. A decimal has at most nine digits behind the
    /// point; methods refuse others, such as `2.0 / 3.0`, with `BadParameter`.
    threshold(threshold: impl ToString) threshold = Some(threshold.to_string());

    /// Sets the number of tokens in a shingle, 1 to 1,000. The default is 10.
    shingle_size(tokens: u32) shingle_size = Some(tokens);

    /// Sets the kind of tokens. The default is words.
    tokens(tokens: TokenKind) tokens = Some(tokens);

    /// Sets which texts in memory, and which fields of JSON, CSV and Parquet, are markup, of which
    /// only the visible text counts. The default is [`Markup::Declared`], so texts in memory are
    /// plain text; look-ups read texts as the collection was read.
    markup(markup: Markup) markup = Some(markup);

    /// Sets all parameters of a collection: how inputs are read, and how documents become sets of
    /// fingerprints. [`Options::shingle_size`], [`Options::tokens`] and [`Options::markup`] override it.
    collection(collection: CollectionConfig) collection = collection;

    /// Sets all parameters of the search for pairs, including sampling and the measure.
    /// [`Options::threshold`] overrides it.
    join(join: JoinParameters) join = join;

    /// Fails if a record of the inputs cannot be read as a document. Otherwise such records are
    /// listed in `rejects.jsonl`.
    strict(strict: bool) strict = strict;

    /// Limits the memory for buffers and tables, in bytes. The default is a quarter of the free
    /// memory, between 256 MiB and 4 GiB. Results do not depend on it.
    memory(bytes: u64) resources.memory = Some(ByteSize(bytes));

    /// Sets the number of threads. The default is the number of cores. Results do not depend on it.
    threads(threads: usize) resources.threads = Some(threads);

    /// Limits the disk space that a call may need, which it estimates before it begins. The default
    /// is the free space of the disk.
    disk(disk: Disk) resources.disk = disk;

    /// Sets an existing directory for temporary files.
    scratch(directory: impl Into<PathBuf>) resources.scratch = Some(directory.into());

    /// Sets the receiver of progress reports and warnings. By default they are dropped.
    progress(progress: impl Progress + 'static) progress = Some(Arc::new(progress));

    /// Sets the request to stop, which another thread may make. A call that was stopped fails with
    /// `Interrupted`. To continue, open the collection with another [`Stop`] and make the same call;
    /// [`find_pairs`](crate::find_pairs) and look-ups begin again.
    stop(stop: Stop) stop = stop;
}

impl Options {
    /// The parameters of a collection.
    pub(super) fn collection_config(&self) -> CollectionConfig {
        let mut config = self.collection.clone();
        if let Some(size) = self.shingle_size {
            config.shingle.shingle_size = size;
        }
        if let Some(tokens) = &self.tokens {
            config.shingle.parse.tokens = tokens.clone();
        }
        config.read.markup = self.markup.or(config.read.markup);
        config
    }

    /// The parameters of the search for pairs.
    pub(super) fn parameters(&self) -> Result<JoinParameters> {
        let mut parameters = self.join.clone();
        if let Some(threshold) = &self.threshold {
            let wrong = |why: String| Error::parameter("threshold", threshold).because(why);
            parameters.join.threshold = threshold.parse().map_err(wrong)?;
        }
        Ok(parameters)
    }

    /// The context of a call.
    pub(super) fn context(&self) -> Result<Context<'_>> {
        let progress = self.progress.as_deref().unwrap_or(&Silent);
        self.resources.context(&self.stop, progress)
    }
}
