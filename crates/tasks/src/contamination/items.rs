//! The items of the test sets, in memory.

use std::collections::BTreeMap;
use std::ops::Range;

use super::stats::SetReport;
use super::{ContaminationConfig, STAGE};
use lookalike_base::{Context, Memory, Result, count, counted, flag_word, listed, refuse, words};
use lookalike_text::parse::{Parser, SpanFinder, TokenConsumer, Tokens};
use lookalike_text::read::{
    FileRecords, InputFile, Interpreted, RawDocument, ReadConfig, Reason, Record, RecordKind,
    Reject, SourceSpan, TEXT_FIELDS, fields_in, interpret, retracted, suggested,
    warnings as warnings_of,
};

/// Fields that name an item, if it has none of the usual ones.
const ITEM_IDS: [&str; 8] =
    words("qid question_id query_id task_id problem_id sample_id item_id uid");

/// The most bytes of tokens that the test sets can have together.
const MOST_BYTES: usize = u32::MAX as usize;

/// Bytes of memory for each byte of the tokens' text, which grows by doubling.
const TEXT_BYTES: u64 = 3;
/// Bytes of memory for each token, of its beginning and its place in the field; the same.
const TOKEN_BYTES: u64 = 3 * (4 + 8);
/// Bytes of memory for each item, besides its name; for each field of one; and for each record
/// while its file is read.
const ITEM_BYTES: u64 = 3 * 64;
const FIELD_BYTES: u64 = 3 * 48;
const SLOT_BYTES: u64 = 3 * 32;

/// The number of something that is not there.
pub(super) const NONE: u32 = u32::MAX;

/// A field of an item that is looked for.
pub(super) struct Field {
    /// The place of its record in the file.
    place: Place,
    /// The number of its name.
    pub name: usize,
    /// Its tokens, among the tokens of all test sets.
    pub tokens: Range<usize>,
    /// It has fewer tokens than an n-gram.
    pub short: bool,
    /// Its text as read, if a page shows it.
    pub text: String,
}

/// A record of a test set.
pub(super) struct Item {
    /// The number of its test set.
    pub set: usize,
    pub id: Box<str>,
    /// Its fields that are looked for.
    fields: Range<usize>,
    /// The tokens of these.
    pub tokens: u32,
}

impl Item {
    pub(super) fn fields<'s>(
        &self,
        sets: &'s TestSets,
    ) -> impl Iterator<Item = &'s Field> + use<'s> {
        let fields = sets.fields.get(self.fields.clone());
        fields.unwrap_or_default().iter()
    }
}

/// All items.
#[derive(Default)]
pub(super) struct TestSets {
    /// The report of each test set.
    pub sets: Vec<SetReport>,
    /// The names of the fields.
    pub names: Vec<String>,
    pub items: Vec<Item>,
    pub fields: Vec<Field>,
    /// The tokens of all fields, each followed by a space.
    text: Vec<u8>,
    /// Where each token begins in `text`, and where the next one would.
    starts: Vec<u32>,
    /// The bytes of each token in the text of its field.
    spans: Vec<(u32, u32)>,
    /// Bytes of memory.
    pub bytes: u64,
}

/// The place of a record: offset and length.
type Place = (u64, u64);

/// A record of a file while the file is read: the name of its item, or why it has no text.
type Slot = std::result::Result<Box<str>, Reason>;

impl TestSets {
    /// Number of tokens.
    pub(super) fn tokens(&self) -> usize {
        self.spans.len()
    }

    /// Some tokens, joined by a space each.
    pub(super) fn stretch(&self, token: usize, tokens: usize) -> &[u8] {
        let place = |token: usize| self.starts.get(token).map_or(0, |&start| start as usize);
        let end = place(token + tokens).saturating_sub(1);
        self.text.get(place(token)..end).unwrap_or_default()
    }

    /// The bytes of some tokens in the text of their field.
    pub(super) fn span(&self, tokens: Range<usize>) -> Range<usize> {
        let of = |token: usize| self.spans.get(token).copied().unwrap_or_default();
        of(tokens.start).0 as usize..of(tokens.end.saturating_sub(1)).1 as usize
    }

    /// Names the items and tokens that need the memory, for an error.
    pub(super) fn what(&self) -> String {
        format!(
            "{} with {}",
            counted(self.items.len() as u64, "test item"),
            counted(self.tokens() as u64, "token")
        )
    }

    /// Reads the test sets. `fixed` bytes and `per_item` for each item are needed by the later
    /// steps.
    pub(super) fn read(
        inputs: &[InputFile],
        config: &ContaminationConfig,
        fixed: u64,
        per_item: u64,
        per_token: u64,
        context: &Context<'_>,
    ) -> Result<TestSets> {
        let mut reading = Reading {
            sets: TestSets {
                names: match &config.fields[..] {
                    [] => vec!["text".into()],
                    fields => fields.to_vec(),
                },
                starts: vec![0],
                ..TestSets::default()
            },
            set: SetReport::default(),
            config,
            context,
            parser: Parser::new(&config.parse),
            memory: Memory::new(&context.budget, fixed),
            per_item: per_item + ITEM_BYTES,
            per_token: per_token + TOKEN_BYTES,
            items: 0,
            tokens: 0,
        };
        for (n, input) in inputs.iter().enumerate() {
            reading.file(n, input)?;
        }
        reading.memory.check(|| {
            let items = counted(reading.items, "test item");
            format!(
                "looking for {items} with {}",
                counted(reading.tokens, "token")
            )
        })?;
        let mut sets = reading.sets;
        sets.bytes = reading.memory.used - fixed;
        sets.text.shrink_to_fit();
        sets.starts.shrink_to_fit();
        sets.spans.shrink_to_fit();
        Ok(sets)
    }
}

/// The tokens of a text, unchanged.
struct Collect<'t> {
    text: &'t mut Vec<u8>,
    starts: &'t mut Vec<u32>,
    /// Bytes that may be added.
    room: usize,
    over: bool,
}

impl TokenConsumer for Collect<'_> {
    fn take(&mut self, tokens: Tokens<'_>, last: bool) -> usize {
        let bytes = tokens.whole(last);
        let done = bytes.len();
        let space = usize::from(last && !tokens.is_empty());
        self.over |= done + space > self.room;
        if self.over {
            return done;
        }
        self.room -= done + space;
        let base = self.text.len();
        self.text.extend_from_slice(bytes);
        self.text.extend(std::iter::repeat_n(b' ', space));
        let next = tokens.starts.iter().skip(1);
        self.starts.extend(next.map(|start| (base + start) as u32));
        done
    }
}

/// The test sets while they are read.
struct Reading<'c> {
    sets: TestSets,
    /// The report of the test set that is being read.
    set: SetReport,
    config: &'c ContaminationConfig,
    context: &'c Context<'c>,
    parser: Parser,
    memory: Memory,
    per_item: u64,
    per_token: u64,
    items: u64,
    tokens: u64,
}

impl Reading<'_> {
    fn file(&mut self, number: usize, input: &InputFile) -> Result<()> {
        let path = input.path.to_string_lossy();
        self.set = SetReport::new(&input.docno, &path);
        self.records(number, input)?;
        let fields = self.sets.names.len() as u64;
        let set = &mut self.set;
        set.fields.missing = set.items * fields - set.fields.found();
        if set.items == 0 {
            let first = set.first.as_deref().unwrap_or_default();
            let other = "name the fields of its records with --fields (by default the text is in `text`, \
                         `content` or `body`)";
            let limit = format!("it has no item; {}", advice("--fields", first, other));
            return refuse("test-set", input.path.display(), limit);
        }
        self.sets.sets.push(std::mem::take(set));
        Ok(())
    }

    /// Reads the records of a file, once for each field. A record with one of the fields is an
    /// item.
    fn records(&mut self, number: usize, input: &InputFile) -> Result<()> {
        let (mut read, fields) = self.how(number, input);
        let mut slots: BTreeMap<Place, Slot> = BTreeMap::new();
        let mut at = self.sets.fields.len();
        let mut first: Option<Reject> = None;
        // The fields that the first record without a text has.
        let mut has: Option<(u64, String)> = None;
        for name in 0..self.sets.names.len() {
            read.text_field = fields.get(name).cloned();
            input.check_path()?;
            read.check_programs(self.context)?;
            let stop = self.context.stop;
            let mut records = FileRecords::open(input, number as u32, &read, STAGE, stop);
            while let Some((record, bytes)) = records.next_record()? {
                if record.retracts {
                    return Err(retracted(input));
                }
                let document = match self.text(record, bytes, &read) {
                    Interpreted::Skipped(_) => continue,
                    Interpreted::Rejected(reject) => Err(reject),
                    Interpreted::Document(document) => Ok(document),
                };
                let place = (record.source.offset, record.source.length);
                // An n-gram that does not fit is only counted, so that the error can say how much
                // is needed.
                let room = slots.contains_key(&place) || self.memory.take(SLOT_BYTES);
                let (new, mut counted) = (Err(Reason::MissingText), Err(Reason::MissingText));
                let slot = match room {
                    true => slots.entry(place).or_insert(new),
                    false => &mut counted,
                };
                match document {
                    Ok(document) => {
                        if slot.is_err() {
                            *slot = Ok(self.item(&document.docno));
                        }
                        self.field(name, &document)?;
                    }
                    Err(reject) => {
                        let _ = slot.as_mut().map_err(|why| *why = reject.reason);
                        let missing = reject.reason == Reason::MissingText;
                        if missing && has.as_ref().is_none_or(|(offset, _)| place.0 < *offset) {
                            has = Some((place.0, reject.detail.clone()));
                        }
                        let before = |other: &Reject| place.0 < other.source.offset;
                        if !missing && first.as_ref().is_none_or(before) {
                            first = Some(reject);
                        }
                    }
                }
            }
            records.reader.check_unchanged(input)?;
        }
        // A record that cannot be read says more than one without the fields, if no record has them.
        let none = slots.values().all(Slot::is_err);
        if let (true, Some(reject)) = (none, &first) {
            (self.set.first).get_or_insert_with(|| reject.line(&input.docno));
        }
        self.sets.fields[at..].sort_by_key(|field| field.place);
        for (place, slot) in slots {
            let reason = match slot {
                Ok(id) => {
                    let own = self.sets.fields[at..].iter();
                    let own = own.take_while(|field| field.place == place);
                    let tokens: Vec<u32> = own.map(|field| field.tokens.len() as u32).collect();
                    let fields = at..at + tokens.len();
                    at = fields.end;
                    let tokens = tokens.iter().sum();
                    self.sets.items.push(Item {
                        set: number,
                        id,
                        fields,
                        tokens,
                    });
                    continue;
                }
                Err(reason) => reason,
            };
            let known = first
                .as_ref()
                .filter(|first| first.source.offset == place.0);
            let reject = known.cloned().unwrap_or_else(|| Reject {
                source: SourceSpan {
                    file: number as u32,
                    offset: place.0,
                    length: place.1,
                },
                docno: None,
                reason,
                detail: match reason {
                    Reason::MissingText => self.missing(place.0, has.as_ref()),
                    _ => String::new(),
                },
            });
            // Without an output no file lists it.
            let memory = self.config.output.as_ref().map(|_| &mut self.memory);
            self.set.reject(&input.docno, &reject, memory);
        }
        Ok(())
    }

    /// How a file is read, and the fields of its items. If it is one JSON object, and they go through a
    /// list, the elements of the list are the items.
    fn how(&self, number: usize, input: &InputFile) -> (ReadConfig, Vec<String>) {
        let mut fields = self.config.fields.clone();
        let mut read = ReadConfig {
            format: None,
            split_at: None,
            id_field: self.config.item_id.clone(),
            url_field: None,
            delimiter: None,
            quote: None,
            columns: None,
            ..self.config.read.clone()
        };
        if let Some((list, within)) = list_of(&fields) {
            let whole = ReadConfig {
                records: None,
                text_field: Some(fields.join("|")),
                ..read.clone()
            };
            // An object with a name of its own is an item.
            if let Some((docno, true)) = self.first(number, input, &whole)
                && docno == format!("{}:1", input.docno)
            {
                read.records = Some(list.into());
                fields = within;
            }
        }
        read.text_field = fields.first().cloned();
        if read.id_field.is_none() {
            read.id_field = self.usual_id(number, input, &read);
        }
        (read, fields)
    }

    /// The docno of the first record of a file, and whether it is a JSON object and the only record.
    fn first(&self, number: usize, input: &InputFile, read: &ReadConfig) -> Option<(String, bool)> {
        let stop = self.context.stop;
        let mut records = FileRecords::open(input, number as u32, read, STAGE, stop);
        let (record, bytes) = records.next_record().ok()??;
        let Interpreted::Document(document) = interpret(record, bytes, read) else {
            return None;
        };
        let (docno, is_object) = (document.docno.to_string(), record.kind == RecordKind::Json);
        let is_alone = is_object && matches!(records.next_record(), Ok(None));
        Some((docno, is_alone))
    }

    /// The field of [`ITEM_IDS`] that names the first item of a file, if no usual field does.
    fn usual_id(&self, number: usize, input: &InputFile, read: &ReadConfig) -> Option<String> {
        let named = |id_field: Option<&str>| {
            let id_field = id_field.map(String::from);
            let read = ReadConfig {
                id_field,
                ..read.clone()
            };
            Some(self.first(number, input, &read)?.0)
        };
        let place = named(None)?;
        // A record without a name has that of its place.
        let usual = place != format!("{}:1", input.docno);
        let mut names = ITEM_IDS.into_iter().filter(|_| !usual);
        let found = names.find(|name| named(Some(name)).is_some_and(|name| name != place));
        found.map(String::from)
    }

    /// The fields that a record lacks. `has` is the offset of the first such record of its file and
    /// the detail of its reject, which lists the fields that it has.
    fn missing(&self, at: u64, has: Option<&(u64, String)>) -> String {
        let fields = &self.config.fields;
        let none = match &fields[..] {
            [] => format!("none of {}", TEXT_FIELDS.join(", ")),
            fields => format!("none of {}", fields.join(", ")),
        };
        match has.filter(|(offset, _)| *offset == at) {
            Some((_, detail)) if fields.len() < 2 => detail.clone(),
            Some((_, detail)) => none + fields_in(detail),
            None => none,
        }
    }

    /// A field of a record. Only JSON, Parquet and elements of markup have fields with names.
    fn text<'r>(&self, record: &Record, bytes: &'r [u8], read: &ReadConfig) -> Interpreted<'r> {
        let fields = matches!(
            record.kind,
            RecordKind::Json
                | RecordKind::Cells(_)
                | RecordKind::Row(_)
                | RecordKind::Element(_)
                | RecordKind::Rejected(_)
        );
        if fields || self.config.fields.is_empty() {
            return interpret(record, bytes, read);
        }
        let detail = "only JSON, Parquet, CSV and elements of --record have the fields of --fields";
        Interpreted::Rejected(Reject {
            source: record.source,
            docno: None,
            reason: Reason::WrongFormat,
            detail: detail.into(),
        })
    }

    /// Counts an item, and returns its name if it fits.
    fn item(&mut self, id: &str) -> Box<str> {
        self.set.items += 1;
        self.items += 1;
        let fits = self.memory.take(self.per_item + 2 * id.len() as u64);
        if fits { id.into() } else { Box::default() }
    }

    /// Adds a field of an item.
    fn field(&mut self, name: usize, document: &RawDocument<'_>) -> Result<()> {
        let sets = &mut self.sets;
        let (text, tokens) = (sets.text.len(), sets.spans.len());
        let mut collect = Collect {
            room: MOST_BYTES - text,
            text: &mut sets.text,
            starts: &mut sets.starts,
            over: false,
        };
        let facts = self.parser.parse(document, &mut collect);
        let (words, over) = (facts.words, collect.over);
        self.parser.shrink();
        for warning in warnings_of(document, words, facts.notices) {
            self.set.warn(&warning, &mut self.memory);
        }
        if over {
            let limit = "all test sets together can have 4GiB of text; give fewer";
            return refuse("test-set", &self.set.name, limit);
        }
        let (ngram, least) = (self.config.ngram.into(), self.config.least.into());
        let counts = &mut self.set.fields;
        let searched = words >= least;
        match words {
            0 => counts.empty += 1,
            _ if !searched => counts.left_out += 1,
            _ if words >= ngram => counts.long += 1,
            _ => counts.short += 1,
        }
        let bytes = (sets.text.len() - text) as u64;
        if searched && words > 0 {
            self.tokens += words;
            (self.memory).take(FIELD_BYTES + words * self.per_token + bytes * TEXT_BYTES);
        }
        if !searched || words == 0 || !self.memory.fits() {
            self.sets.text.truncate(text);
            self.sets.starts.truncate(tokens + 1);
            return Ok(());
        }
        let spans = &mut self.sets.spans;
        let mut add = |span: Range<usize>, _| spans.push((span.start as u32, span.end as u32));
        let mut finder = SpanFinder::new(&self.config.parse);
        let (shown, mut as_read) = (self.config.page.is_some(), String::new());
        self.parser.as_read_in_pieces(document, &mut |piece| {
            finder.push(piece, &mut add);
            if shown && self.memory.take(piece.len() as u64) {
                as_read.push_str(piece);
            }
        });
        finder.finish(&mut add);
        let end = self.sets.starts.len() - 1;
        debug_assert_eq!(self.sets.spans.len(), end, "both find the same tokens");
        self.sets.spans.resize(end, (0, 0));
        self.sets.fields.push(Field {
            place: (document.source.offset, document.source.length),
            name,
            tokens: tokens..end,
            short: words < ngram,
            text: as_read,
        });
        Ok(())
    }
}

/// The innermost list that all fields go through, and the fields of an element.
fn list_of(fields: &[String]) -> Option<(&str, Vec<String>)> {
    let first = fields.first()?;
    let lists = first
        .match_indices("[].")
        .filter_map(|(at, dot)| first.get(..at + dot.len()));
    let all = |list: &&str| fields.iter().all(|field| field.starts_with(*list));
    let list = lists.filter(all).last()?;
    // Conditions, numbers and quotes, and other ways to a field.
    let odd = list.replace("[]", "").contains(['[', '"', '\\']) || fields.concat().contains('|');
    let within = fields.iter().filter_map(|field| field.strip_prefix(list));
    (!odd).then(|| (list.trim_end_matches('.'), within.map(Into::into).collect()))
}

/// Advises about a file whose records have no text: give the flag that names its field, if the
/// first record says which one, or `other`.
pub(super) fn advice(flag: &str, first: &str, other: &str) -> String {
    let advice = suggested(first).map(|field| format!("give {}", flag_word(flag, field)));
    let advice = advice.unwrap_or_else(|| other.into());
    match first {
        "" => advice,
        first => format!("{advice}; the first record: {first}"),
    }
}

/// A line for each test set with rejected records, or with fields that are not looked for.
pub(super) fn warnings(sets: &[SetReport], config: &ContaminationConfig) -> Vec<String> {
    let mut lines = Vec::new();
    for set in sets {
        let rejected: u64 = set.rejected.values().sum();
        if let (true, Some(first)) = (rejected > 0, &set.first) {
            lines.push(format!(
                "warning: {}: {} rejected; the first: {}",
                set.name,
                counted(rejected, "test item"),
                first.trim_end()
            ));
        }
        if let (warned, Some(first)) = &set.warned {
            lines.push(format!(
                "warning: {}: {}; the first: {first}",
                set.name,
                counted(*warned, "warning"),
            ));
        }
        let reasons = [
            ("missing", set.fields.missing),
            ("shorter than --least", set.fields.left_out),
            ("without words", set.fields.empty),
        ];
        let reasons = reasons.iter().filter(|(_, n)| *n > 0);
        let each = |(reason, n): &(&str, u64)| format!("{} {reason}", count(*n));
        let reasons = listed(", ", reasons, each);
        if !reasons.is_empty() {
            let what = match config.least {
                1 => String::new(),
                least => format!(" (at least {})", counted(least.into(), "word")),
            };
            lines.push(format!(
                "warning: {}: fields that are not looked for{what}: {reasons}",
                set.name
            ));
        }
    }
    lines
}
