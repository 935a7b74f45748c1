//! Reads documents from the input files again.

use crate::collection;
use crate::shingle::{ShingleConfig, Shingler};
use lookalike_base::{Context, Error, FingerprintKind, Result, workers::share};
use lookalike_source::lasting;
use lookalike_store::{InputEntry, InputList, Metadata, Workspace, disk};
use lookalike_text::parse::{OLDEST_TOKEN_RULE, ParseConfig, Parser, TokenKind};
use lookalike_text::read::{
    FileRecords, InputFile, Interpreted, RawDocument, Record, RecordKind, Reject, interpret,
};
use std::cmp::Reverse;

/// Buffers of a reader, and of its decompressor.
pub const READER_BYTES: u64 = 16 << 20;

/// The most memory of the record being read: its bytes, and the same again before decoding.
pub fn record_bytes(workspace: &Workspace) -> u64 {
    collection::config(&workspace.manifest).read.max_document.0 * 5 / 2
}

/// A document that is read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// Its file.
    pub file: u32,
    /// Its offset there.
    pub offset: u64,
    /// Its number.
    pub number: u32,
    /// The MD5 of its words, by which it is recognised.
    pub md5: [u8; 16],
}

/// A document that was read again.
pub struct Again<'a> {
    pub document: &'a RawDocument<'a>,
    record: &'a Record,
    bytes: &'a [u8],
}

impl Again<'_> {
    /// The date that its record states ([`RecordKind::date`]).
    pub fn date(&self) -> Option<String> {
        self.record.kind.date(self.bytes)
    }
}

/// A document that is still in its place, and a parser that gives its tokens as runs between white
/// space; or why it is not there.
pub type Reread<'r> = std::result::Result<(&'r Again<'r>, &'r mut Parser), String>;

/// Takes the documents that are read again, by their numbers. Threads call it at the same time.
pub type Take<'t> = dyn Fn(u32, Reread<'_>) + Sync + 't;

/// Reads documents again. Each input file is read once, up to the last document that is wanted.
/// At most `threads` threads read files at the same time, each with a record and
/// [`READER_BYTES`] in memory.
///
/// An input that is missing or was changed is not an error: the reason comes in place of the
/// document.
pub fn read_again(
    workspace: &Workspace,
    mut wanted: Vec<Wanted>,
    threads: usize,
    stage: &'static str,
    context: &Context<'_>,
    take: &Take<'_>,
) -> Result<()> {
    wanted.sort_unstable();
    wanted.dedup();
    let mut inputs = InputList::open(workspace.directory())?;
    let mut files = Vec::new();
    for of_file in wanted.chunk_by(|a, b| a.file == b.file) {
        let Some(first) = of_file.first() else {
            continue;
        };
        let problem = match inputs.entry_of(first.file)? {
            None => "the list of inputs does not name its file".to_string(),
            Some(entry) => match open(entry)? {
                Err(problem) => problem,
                Ok(input) => {
                    files.push((input, of_file));
                    continue;
                }
            },
        };
        for wanted in of_file {
            take(wanted.number, Err(problem.clone()));
        }
    }
    // The largest first: no thread is left with it when the others have ended.
    files.sort_by_key(|(input, _)| Reverse(input.size()));
    let threads = threads.clamp(1, files.len().max(1));
    share(stage, threads, files, |queue| {
        let mut reader = Rereader::new(workspace, stage, context);
        while let Some((input, of_file)) = queue.next() {
            reader.file(&input, of_file, take)?;
        }
        Ok(())
    })
}

/// The input of an entry of the list if it is still there; otherwise the reason why it is not read.
fn open(entry: &InputEntry) -> Result<std::result::Result<InputFile, String>> {
    let Some(identity) = &entry.identity else {
        return Ok(Err(if entry.path == "-" {
            "it was read from standard input, which cannot be read again".into()
        } else {
            format!("{} could not be read", entry.path)
        }));
    };
    let mut found = None;
    for place in entry.places() {
        let there = disk::metadata(place);
        let is_file = there.as_ref().is_ok_and(Metadata::is_file);
        found = Some((place, there));
        if is_file {
            break;
        }
    }
    let Some((path, found)) = found else {
        let path = &entry.path;
        return Ok(Err(format!(
            "the path {path} is not UTF-8, so it cannot be found again"
        )));
    };
    Ok(match found {
        Err(error) if !lasting(&error) => return Err(error).map_err(Error::io("inspect", path)),
        Err(error) => {
            let from_here = if path.is_relative() {
                "; the path is relative to where the run was started"
            } else {
                ""
            };
            Err(format!("{}: {error}{from_here}", entry.path))
        }
        // Opening a FIFO could wait forever.
        Ok(metadata) if !metadata.is_file() => Err(format!("{} is not a file", entry.path)),
        Ok(metadata) if metadata.size() != identity.size => Err(format!(
            "{} has {} bytes but had {} when it was read",
            entry.path,
            metadata.size(),
            identity.size
        )),
        Ok(_) => Ok(InputFile::of_entry(entry, path, None)),
    })
}

struct Rereader<'w> {
    workspace: &'w Workspace,
    stage: &'static str,
    context: &'w Context<'w>,
    /// Computes only the MD5 of the canonical document, and no fingerprints.
    shingler: Shingler<u64>,
    parser: Parser,
}

impl<'w> Rereader<'w> {
    fn new(
        workspace: &'w Workspace,
        stage: &'static str,
        context: &'w Context<'w>,
    ) -> Rereader<'w> {
        let shingle = &collection::config(&workspace.manifest).shingle;
        Rereader {
            workspace,
            stage,
            context,
            shingler: Shingler::new(&ShingleConfig {
                fingerprint: FingerprintKind::Xxh3,
                ..shingle.clone()
            }),
            parser: Parser::new(&ParseConfig {
                tokens: TokenKind::RAW,
                ..shingle.parse.clone()
            }),
        }
    }

    /// Reads the documents of one file.
    fn file(&mut self, input: &InputFile, all: &[Wanted], take: &Take<'_>) -> Result<()> {
        let (stage, context) = (self.stage, self.context);
        let config = &collection::config(&self.workspace.manifest).read;
        let gone = |wanted: &Wanted, why: Option<&Reject>| {
            let path = input.path.display();
            if let Some(Reject { reason, detail, .. }) = why {
                return take(wanted.number, Err(format!("{path}: {reason}: {detail}")));
            }
            let program = match config.convert.is_empty() {
                true => "",
                false => ", or its program of --convert gave another text",
            };
            let problem = format!(
                "{path} has changed since it was read: another record is in its place{program}, or \
                 another version of lookalike reads the file otherwise; run again"
            );
            take(wanted.number, Err(problem));
        };
        let mut left = all.iter().peekable();
        let Some(first) = left.peek() else {
            return Ok(());
        };
        config.check_named_programs(context)?;
        let mut records = FileRecords::open(input, first.file, config, stage, context.stop);
        while let Some(&&wanted) = left.peek()
            && let Some((record, bytes)) = records.next_record()?
        {
            if record.source.offset < wanted.offset
                || matches!(record.kind, RecordKind::Rejected(_))
            {
                continue;
            }
            left.next();
            if record.source.offset != wanted.offset {
                gone(&wanted, None);
                continue;
            }
            let found = interpret(record, bytes, config);
            if let Some(document) = self.same(&found, &wanted)? {
                self.shingler.shrink();
                let again = Again {
                    document,
                    record,
                    bytes,
                };
                take(wanted.number, Ok((&again, &mut self.parser)));
                self.parser.shrink();
            } else {
                gone(&wanted, found.not_converted());
            }
        }
        left.for_each(|wanted| gone(wanted, None));
        Ok(())
    }

    /// Returns the document if it is still the one read before.
    fn same<'d, 'b>(
        &mut self,
        found: &'d Interpreted<'b>,
        wanted: &Wanted,
    ) -> Result<Option<&'d RawDocument<'b>>> {
        // A stop ends the conversion of a document.
        self.context.stop.check(self.stage)?;
        Ok(match found {
            Interpreted::Document(document) if self.is(document, wanted) => Some(document),
            Interpreted::Document(_) => {
                // Perhaps it is the document, read by another rule.
                let config = collection::config(&self.workspace.manifest);
                config.check_rule(self.workspace.directory())?;
                None
            }
            _ => None,
        })
    }

    /// Whether this is the document that was read before.
    fn is(&mut self, document: &RawDocument<'_>, wanted: &Wanted) -> bool {
        let parse = &collection::config(&self.workspace.manifest).shingle.parse;
        if parse.token_rule < OLDEST_TOKEN_RULE {
            // The MD5 belongs to other tokens. The file is the same, and the record is in its
            // place.
            return true;
        }
        let facts = self.shingler.shingle(document, (1, 0), &mut Vec::new());
        facts.md5 == wanted.md5
    }
}
