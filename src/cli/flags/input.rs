//! Flags that select the inputs and define how documents become fingerprint sets.

use std::path::{Path, PathBuf};

use clap::Args;
use globset::Glob;
use lookalike_base::{Context, FingerprintKind, Result, budget::ByteSize, refuse};
use lookalike_engine::collection::{CollectionConfig, Condition, SizeGroups};
use lookalike_engine::excluded::excluded;
use lookalike_engine::pipeline::{self, InputChoice};
use lookalike_engine::shingle::{ShingleConfig, Short};
use lookalike_text::parse::{Fold, ParseConfig, TokenKind};
use lookalike_text::read::{
    Converter, Format, Inputs, Markup, ReadConfig, Selection, SplitAt, UrlGlobs, bad_globs,
};

/// Which files of a directory are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub struct WalkFlags {
    /// Read only the files of directories that match GLOB (repeatable)
    ///
    /// GLOB is matched against the path of the file below the directory that the command line
    /// names. `*` matches any text, also across `/`; `?` one character; `[ab]` and `{one,two}`
    /// alternatives. Files that the command line names are always read.
    ///
    /// Example: --include '*.html' --include '*.gz'
    #[arg(long, value_name = "GLOB")]
    include: Vec<Glob>,
    /// Read no files of directories that match GLOB (repeatable)
    ///
    /// It wins over --include.
    ///
    /// Example: --exclude 'README*' --exclude '*.dtd'
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<Glob>,
    /// Also read hidden files and directories
    ///
    /// Their names begin with a dot, as in .git. The ledger counts what a run skips.
    #[arg(long)]
    hidden: bool,
    /// Also read the files of output directories of runs
    ///
    /// By default, a directory that `lookalike run` wrote is not an input: its results would be
    /// read as documents. Below another directory it is skipped, and the ledger counts it.
    #[arg(long)]
    read_outputs: bool,
}

impl WalkFlags {
    /// The selection in the form that the library takes.
    pub fn selection(&self) -> Selection {
        Selection {
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            hidden: self.hidden,
            read_outputs: self.read_outputs,
        }
    }
}

/// How to detect the format of inputs, and which JSON fields to read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub struct Reading {
    /// Read every input in this format [default: detect by content]
    ///
    /// One of trec-web, trec-sgml, warc, arc, jsonl, csv, tsv, parquet, mbox, eml, text and html.
    /// By default the first bytes of each file, after decompression, decide its format. A record in
    /// another format is rejected.
    ///
    /// Example: --format trec-web
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// Split markup into records at the elements of this name
    ///
    /// For XML dumps and other markup in which many documents have one root: `page` for MediaWiki,
    /// PubmedArticle, row, item, DOCUMENT. Without this flag, a file of markup is one document. In
    /// XML, upper and lower case differ. All text of an element counts, or what --text-field names.
    /// --text-field, --id-field and --url-field name elements or attributes: revision.text, @Body.
    /// The flag changes nothing for files that are not markup.
    ///
    /// Example: --record DOC
    #[arg(long, value_name = "ELEMENT")]
    pub record: Option<String>,
    /// Make a document of each element of a list in JSON objects
    ///
    /// For files that are one object around all records, as exports of chats are: PATH leads to the
    /// list. --text-field and --id-field then name fields of its elements. The rest of the object
    /// is not read, and copies keep it. The object may be of any size.
    ///
    /// Example: --records 'messages[]'
    #[arg(long, value_name = "PATH")]
    pub records: Option<String>,
    /// Begin a record at every line of a text that REGEX matches
    ///
    /// For text with many documents in a file: references (RIS, MEDLINE, BibTeX), directories (LDIF,
    /// vCard), corpora, chats and logs. Without this flag, a file of text is one document. REGEX is
    /// looked for in each line; ^ and $ are its beginning and its end. A group called docno names
    /// the record; a line with a group called end ends the records. Lines before the first record and
    /// from such an end on are rejected in one line each. The flag changes nothing
    /// for files in other formats, such as JSON and tables; with --format text, every file is split.
    ///
    /// Example: --split-at '^TY  - '
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true)]
    pub split_at: Option<SplitAt>,
    /// JSON field or column with the text [default: text, body, ...]
    ///
    /// The default is the first of text, contents, content, body, html, raw_content and article
    /// that a record has. Dots lead into objects: page.body. Several fields, separated by commas,
    /// are joined by a line break: prompt,completion; of fields with bars between, the first that a
    /// record has counts: 'full_text|text'. Brackets lead into lists: messages[].content takes the
    /// field of every element, and messages.0.content the field of the first. --markup says whether
    /// tags count. A column of CSV or TSV has a name or a number, from 1.
    ///
    /// Example: --text-field body
    #[arg(long, value_name = "FIELD")]
    pub text_field: Option<String>,
    /// JSON field or column with the docno [default: id, docno, ...]
    ///
    /// The default is the first of id, _id, docno, doc_id, docid, uuid and the fields of the URL
    /// that a record has. The value is a string or a number. Dots lead into objects: meta.id. Of
    /// fields with bars between, the first that a record has counts. A record without this field
    /// gets the docno FILE:RECORD, where RECORD is its number in the file, from 1.
    ///
    /// Example: --id-field id
    #[arg(long, value_name = "FIELD")]
    pub id_field: Option<String>,
    /// What separates the cells of tables [default: comma, tab, ; or |]
    ///
    /// One to eight characters. A control character has a name (tab, DC4, US), or is written as ^A
    /// or \\x01. A text file whose first row has the delimiter is then a table. Rows end with lines;
    /// if cells are separated by US, rows may end with RS.
    ///
    /// Example: --delimiter DC4
    #[arg(long, value_name = "MARK", allow_hyphen_values = true)]
    pub delimiter: Option<String>,
    /// The character that encloses cells of tables [default: "]
    ///
    /// It is written as for --delimiter; none means that no character does. It is doubled in a cell.
    ///
    /// Example: --quote þ
    #[arg(long, value_name = "MARK", allow_hyphen_values = true)]
    pub quote: Option<String>,
    /// Names of the columns of CSV and TSV files without a header
    ///
    /// Give a name for each column, separated by commas. By default, the first row has the names.
    ///
    /// Example: --columns id,text
    #[arg(long, value_name = "NAMES")]
    pub columns: Option<String>,
    /// Take fields with this VALUE as empty (repeatable)
    ///
    /// For words that programs write for nothing: NULL, nan, None. The whole value of a field of
    /// JSON, CSV or Parquet is compared, and upper and lower case differ. In CSV and TSV, `\N` is
    /// always empty.
    ///
    /// Example: --null NULL --null nan
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub null: Vec<String>,
    /// Read fields as markup: auto, never, always [default: declared]
    ///
    /// The texts of JSON, CSV and Parquet are plain text, in which tags are words, except declared
    /// markup, of which only the visible text counts: the text of a field called html, or a text for
    /// which a field content_type, mime or type has a media type such as text/html. auto also takes
    /// a text as markup if it begins like a page; never takes none, and always all. The flag does
    /// not change how other formats are read: WARC, ARC, TREC, mail, and files of HTML or text
    /// say what they are. query reads as the collection was read.
    ///
    /// Example: --markup auto
    #[arg(long, value_name = "WHEN")]
    pub markup: Option<Markup>,
    /// WARC record types to read [default: response,resource,conversion]
    ///
    /// A list of response, resource, conversion, metadata, request, revisit and warcinfo. The
    /// ledger counts the records of other types.
    ///
    /// Example: --warc-type response
    #[arg(long, value_name = "LIST")]
    pub warc_type: Option<String>,
    /// Read only records of web archives whose URL matches GLOB (repeatable)
    ///
    /// GLOB is matched against the whole URL. `*` matches any text, also across `/`; `?` one
    /// character; `[ab]` and `{one,two}` alternatives. Records that a crawler stores beside the
    /// pages, such as its log (metadata://...) and the text of pages (urn:text:...), are read only
    /// if a GLOB matches their URL.
    ///
    /// Example: --include-url 'https://*.example.org/*'
    #[arg(long, value_name = "GLOB")]
    pub include_url: Vec<Glob>,
    /// Read no records of web archives with URLs that match GLOB (repeatable)
    ///
    /// It wins over --include-url.
    ///
    /// Example: --exclude-url '*/robots.txt'
    #[arg(long, value_name = "GLOB")]
    pub exclude_url: Vec<Glob>,
    /// Convert documents of a kind to text with a program (repeatable)
    ///
    /// KIND is an extension of files, such as pdf, or a media type of records in web archives, such
    /// as application/pdf; pdf stands for both. The program takes the document on standard input
    /// and prints its text in UTF-8, or markup if KIND is followed by :html. COMMAND is split into
    /// words as a shell does, with quotes, but no shell runs it. A document for which the program
    /// fails is rejected. The directory keeps the command and the version of the program, and
    /// commands that read documents again run it only if they are given the same --convert.
    ///
    /// Example: --convert 'pdf=pdftotext -enc UTF-8 - -'
    #[arg(long, value_name = "KIND=COMMAND")]
    pub convert: Vec<Converter>,
    /// Seconds that the program of --convert has for a document [default: 60]
    ///
    /// A program that takes longer is ended, and the document is rejected.
    ///
    /// Example: --convert-timeout 300
    #[arg(long, value_name = "SECONDS")]
    pub convert_timeout: Option<u64>,
    /// Memory of a program of --convert, on Linux [default: 2GiB]
    ///
    /// The limit is on the address space of each process of the program. It is not part of
    /// --memory. At most one program runs for each thread.
    ///
    /// Example: --convert-memory 8GiB
    #[arg(long, value_name = "SIZE")]
    pub convert_memory: Option<ByteSize>,
}

/// The programs that a command over a directory may run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub struct Programs {
    /// Allow a program with which the documents were converted (repeatable)
    ///
    /// Give what the directory was made with. The directory keeps the command, but it may come from
    /// someone else, so it cannot start a program. Without this flag, converted documents are not
    /// read again.
    ///
    /// Example: --convert 'pdf=pdftotext -enc UTF-8 - -'
    #[arg(long, value_name = "KIND=COMMAND")]
    pub convert: Vec<Converter>,
}

impl Reading {
    /// The parameters of reading that these flags give; the others have their defaults.
    pub fn config(&self, usual: ReadConfig) -> Result<ReadConfig> {
        let urls = |name, globs: &[Glob], usual| match globs.is_empty() {
            true => Ok(usual),
            false => UrlGlobs::try_from(globs.to_vec()).map_err(bad_globs(name)),
        };
        let or = |given: &Option<String>, usual| given.clone().or(usual);
        Ok(ReadConfig {
            format: self.format.or(usual.format),
            record: or(&self.record, usual.record),
            records: or(&self.records, usual.records),
            split_at: self.split_at.clone().or(usual.split_at),
            text_field: or(&self.text_field, usual.text_field),
            id_field: or(&self.id_field, usual.id_field),
            delimiter: or(&self.delimiter, usual.delimiter),
            quote: or(&self.quote, usual.quote),
            columns: or(&self.columns, usual.columns),
            null: match self.null.is_empty() {
                true => usual.null,
                false => self.null.clone(),
            },
            markup: self.markup.or(usual.markup),
            warc_type: or(&self.warc_type, usual.warc_type),
            include_url: urls("include-url", &self.include_url, usual.include_url)?,
            exclude_url: urls("exclude-url", &self.exclude_url, usual.exclude_url)?,
            convert: match self.convert.is_empty() {
                true => usual.convert,
                false => self.convert.clone(),
            },
            convert_timeout: self.convert_timeout.or(usual.convert_timeout),
            convert_memory: self.convert_memory.or(usual.convert_memory),
            ..usual
        })
    }
}

/// Limits on reading, and the fallback for the charset.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub struct ReadLimits {
    /// Reject documents that are larger than this, before decoding
    ///
    /// The reader skips such a document without keeping it in memory. The smallest possible
    /// --memory grows with this size: it is about two and a half times this size plus 57 MiB, and
    /// up to four times this size above 100 MiB.
    ///
    /// Example: --max-document 8MiB
    #[arg(long, value_name = "SIZE", default_value = "64MiB")]
    pub max_document: ByteSize,
    /// Stop reading a file that decompresses to more than N times its size
    ///
    /// Applies to files and to compressed bodies in them, after their first 16 MiB. Documents that
    /// were read before that point remain in the collection.
    ///
    /// Example: --max-ratio 5000
    #[arg(long, value_name = "N", default_value = "1000")]
    pub max_ratio: u64,
    /// Guess the charset of text that declares none and is not UTF-8
    ///
    /// With false, such text is read as windows-1252.
    ///
    /// Example: --detect-charset false
    #[arg(
        long,
        value_name = "BOOL",
        default_value_t = ParseConfig::default().detector,
        action = clap::ArgAction::Set
    )]
    pub detect_charset: bool,
}

/// The inputs, and the flags for reading them.
#[derive(Debug, Args)]
pub struct InputFlags {
    /// Files, directories, or `-` for standard input
    ///
    /// Formats: TREC web and SGML bundles, WARC, ARC and WET, JSON and JSONL, CSV and TSV, Parquet,
    /// mailboxes (mbox), mail messages (.eml), saved pages (.mht), plain text and HTML. Files may
    /// be compressed with gzip, zstd, bzip2, xz or compress. The content of a file decides, not its
    /// name.
    ///
    /// All files of a directory and of its subdirectories are read, except hidden ones, whose names
    /// begin with a dot. Symbolic links are followed. --include, --exclude and --hidden change
    /// which files are read.
    #[arg(required = true, value_name = "INPUT", help_heading = None)]
    pub inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub walk: WalkFlags,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub limits: ReadLimits,
}

impl InputFlags {
    /// The files to read. A command that writes to the directory `out` does not read it.
    pub fn files(&self, out: &Path) -> Result<Inputs> {
        let inputs = pipeline::selected_inputs(&self.inputs, &self.walk.selection(), out)?;
        inputs.check_readable()?;
        Ok(inputs)
    }

    /// The parameters of reading.
    pub fn read(&self) -> Result<ReadConfig> {
        Ok(ReadConfig {
            max_document: self.limits.max_document,
            max_ratio: self.limits.max_ratio,
            ..self.reading.config(ReadConfig::default())?
        })
    }

    /// The parameters of parsing.
    pub fn parse(&self) -> ParseConfig {
        ParseConfig {
            detector: self.limits.detect_charset,
            ..ParseConfig::default()
        }
    }
}

/// How a document becomes a set of fingerprints.
#[derive(Debug, Args)]
#[command(next_help_heading = "Shingles")]
pub(crate) struct ShingleFlags {
    /// Cut text into words, whitespace, code, auto or bytes:N
    ///
    /// words: runs of letters and digits with their marks, in lower case; an apostrophe between two
    /// letters is part of a word. In scripts without spaces between words, the tokens are shorter
    /// than words: each Han, Hiragana or Katakana character is one, and in Thai, Lao, Khmer, Burmese
    /// and related scripts each letter with its vowel signs and tones (a grapheme cluster). Ten of
    /// these are three to five words, so raise --shingle-size there. whitespace: runs of anything
    /// else than white space, with their case kept. bytes:N: every window of N bytes of the text is
    /// a shingle, and --shingle-size does not apply. This flag changes results more than any other.
    ///
    /// code is for programs, formulas and queries: names, numbers, operators, brackets, and the
    /// words of strings and comments, with their case kept. code:LANGUAGE knows the strings and
    /// comments of c, java, python, javascript, rust, go, sql, shell or latex; code alone those
    /// that most languages share. code:drop and code:LANGUAGE:drop leave comments out. code:auto
    /// takes the language from the end of the document's name, such as .py.
    ///
    /// auto (or auto:drop) is code:auto for documents whose names end like those of programs, and
    /// words for all others. The output says how many documents had which tokens.
    ///
    /// Example: --tokens bytes:20
    #[arg(long, value_name = "KIND", default_value = "words")]
    tokens: TokenKind,
    /// Ignore differences: compat, diacritics, digits, arabic, hyphens, ...
    ///
    /// A list with commas, or none. compat takes characters and their compatibility forms (Unicode
    /// NFKC) as the same: ligatures and their letters, full width and half width, circled and
    /// superscript digits. A character whose form is more than one token is not folded. diacritics
    /// leaves out accents, points and vowel marks of Latin, Greek, Cyrillic, Hebrew, Arabic and
    /// Syriac, and tatweel. digits takes the decimal digits of all scripts as the same. arabic takes
    /// the forms of alef, heh, yeh and kaf as the same, with teh marbuta and alef maksura. hyphens
    /// joins words that are divided at line ends. Composed and decomposed characters are always the
    /// same, and characters that nobody sees never count.
    ///
    /// identifiers, with --tokens code or auto, takes all names that are not keywords of the
    /// language as the same, so that a program with other names is a copy. Without a language,
    /// keywords of C, C++, Java, Python, JavaScript, TypeScript, Rust, Go, the shell and SQL stay.
    /// Words of strings and comments also stay. literals takes all numbers as the same, and the
    /// content of all strings.
    ///
    /// Example: --fold compat,digits
    #[arg(long, value_name = "LIST", default_value = "none")]
    fold: Fold,
    /// Tokens in a shingle
    ///
    /// Smaller shingles find looser resemblance, and more of it by chance. Broder and Ye use 10; 5
    /// is common for training data of language models. In scripts without spaces between words, 20
    /// to 28 tokens compare like ten words (see --tokens).
    ///
    /// Example: --shingle-size 5
    #[arg(long, value_name = "W", default_value = "10")]
    shingle_size: u32,
    /// Documents shorter than a shingle have one (whole) or none (skip)
    ///
    /// whole makes one shingle of the whole document. skip, as in the papers, makes none. Exact
    /// duplicates are found either way, and the ledger counts the short documents.
    ///
    /// Example: --short skip
    #[arg(long, value_name = "MODE", default_value = "whole")]
    short: Short,
    /// Hash of a shingle: 64 (bits, xxh3) or md5 (128 bits)
    ///
    /// Among 678 million distinct shingles, 0.01 pairs of 64-bit fingerprints are expected to be
    /// equal by chance. md5 rules that out. In our measurements it took 1.7 times the CPU time.
    ///
    /// Example: --fingerprint md5
    #[arg(long, value_name = "HASH", default_value = "64")]
    fingerprint: FingerprintKind,
    /// Seed of the 64-bit hash
    ///
    /// With --sampling, another seed draws other samples. Without sampling it changes no result.
    ///
    /// Example: --seed 1
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u64,
}

impl ShingleFlags {
    /// The parameters of shingling that these flags and `input` give.
    pub fn config(&self, input: &InputFlags) -> Result<ShingleConfig> {
        let config = ShingleConfig {
            parse: ParseConfig {
                tokens: self.tokens.clone(),
                fold: self.fold,
                ..input.parse()
            },
            shingle_size: self.shingle_size,
            short: self.short,
            fingerprint: self.fingerprint,
            seed: self.seed,
            excluded: None,
        };
        config.check()?;
        Ok(config)
    }
}

/// A collection: its inputs, its directory and its parameters.
#[derive(Debug, Args)]
pub struct CollectionFlags {
    /// Output directory, which is created if it is missing
    ///
    /// A directory that an earlier run made from the same inputs with the same parameters is
    /// continued.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Fail if any record is rejected
    ///
    /// The run ends after reading and writes rejects.jsonl. By default rejects are only counted and
    /// listed. Warnings about documents that were accepted do not count.
    #[arg(long)]
    pub strict: bool,
    /// Succeed even if no document is found
    ///
    /// By default, a run that finds no document in its inputs fails, reports what it found instead,
    /// and leaves no new directory.
    #[arg(long)]
    pub allow_empty: bool,
    /// Leave out inputs that cannot be opened
    ///
    /// By default, a file without read permission or a symbolic link that leads nowhere ends the
    /// run before it reads anything. With this flag, rejects.jsonl lists such inputs.
    #[arg(long)]
    pub skip_unreadable: bool,
    #[command(flatten)]
    pub input: InputFlags,
    /// JSON field or column with the URL [default: url, uri, link, ...]
    ///
    /// The URL only appears in documents.tsv.
    ///
    /// Example: --url-field url
    #[arg(long, value_name = "FIELD", help_heading = "Reading")]
    pub url_field: Option<String>,
    /// Keep the texts of documents, for `method`, `compare`, `query --method`
    ///
    /// The collection keeps the text of every document that is not an exact duplicate: decoded,
    /// without markup, with white space folded, compressed with zstd. Given for a directory that
    /// keeps no texts, it reads the inputs again. A directory that keeps texts continues to keep
    /// them.
    #[arg(long, help_heading = "Reading")]
    pub keep_text: bool,
    /// List only pairs for which EXPR holds, such as a.source != b.source
    ///
    /// EXPR is an expression in CEL about two documents, of which `a` comes first in the input, and
    /// their fields: a path in JSON, a column, an element, a header of WARC, HTTP or mail, or docno,
    /// file, url, host, path, date, words. Operators: == != < <= > >= in && || ! ?: + - * /.
    /// Functions: abs, contains, date, days, double, endsWith, has, hours, size, startsWith, string.
    /// A comparison with a missing field is false; has(a.date) asks for it. Clusters and removals
    /// follow from these pairs, even for documents with the same words. The directory keeps EXPR
    /// and the values of its fields, for `add` and `--from`.
    ///
    /// Example: --where 'a.host != b.host && abs(a.words - b.words) < 100'
    #[arg(long = "where", value_name = "EXPR", help_heading = "Pairs")]
    #[arg(allow_hyphen_values = true)]
    pub condition: Option<Condition>,
    #[command(flatten)]
    shingles: ShingleFlags,
    /// Leave out the text of FILE, such as a template (repeatable)
    ///
    /// The shingles of its documents count for nobody, so resemblance is computed over what remains
    /// of each document: without a template, a licence or an assignment. FILE is read as the inputs
    /// are, and may be a directory. A document of which nothing remains has no shingle and only
    /// duplicates documents with the same words. The directory keeps the shingles, which `add` and
    /// `query` also leave out.
    ///
    /// Example: --exclude-text template.txt
    #[arg(long, value_name = "FILE", help_heading = "Shingles")]
    pub(crate) exclude_text: Vec<PathBuf>,
    /// Lower bounds, in words, of the size groups after the first
    ///
    /// Documents are counted, sampled and evaluated by size group. The default is the 11 groups of
    /// Ye, Wen & Ma 2008.
    ///
    /// Example: --size-groups 100,1000,10000
    #[arg(
        long,
        value_name = "LIST",
        default_value_t = SizeGroups::default(),
        help_heading = "Shingles"
    )]
    size_groups: SizeGroups,
    /// Commit what was read after about this many bytes of documents
    ///
    /// A crash while reading loses at most one segment. Larger segments make fewer files; use
    /// 512MiB for crawls of hundreds of gigabytes.
    ///
    /// Example: --segment-size 1MiB
    #[arg(
        long,
        value_name = "SIZE",
        default_value_t = CollectionConfig::default().segment_size,
        help_heading = "Reading"
    )]
    pub segment_size: ByteSize,
}

impl CollectionFlags {
    /// The files to read.
    pub fn choice(&self) -> InputChoice {
        InputChoice {
            paths: self.input.inputs.clone(),
            selection: self.input.walk.selection(),
            need_documents: !self.allow_empty,
            skip_unreadable: self.skip_unreadable,
        }
    }

    /// The parameters in the form that the library takes, with the shingles of the texts that are
    /// excluded.
    pub fn config(&self, context: &Context<'_>) -> Result<CollectionConfig> {
        let mut config = self.all_texts()?;
        config.shingle.excluded = excluded(&self.exclude_text, &config, context)?;
        Ok(config)
    }

    /// The parameters without texts that are excluded.
    pub fn all_texts(&self) -> Result<CollectionConfig> {
        let read = ReadConfig {
            url_field: self.url_field.clone(),
            ..self.input.read()?
        };
        let shingle = self.shingles.config(&self.input)?;
        if self.segment_size < ByteSize(1 << 10) {
            return refuse("segment-size", self.segment_size, "at least 1KiB");
        }
        Ok(CollectionConfig {
            read,
            shingle,
            size_groups: self.size_groups.clone(),
            segment_size: self.segment_size,
            text: self.keep_text,
            condition: None,
        }
        .with_condition(self.condition.clone()))
    }
}
