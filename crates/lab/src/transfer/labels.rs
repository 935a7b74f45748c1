//! Labels of documents: judgements, or lists of docno and label.

use std::borrow::Cow;
use std::path::Path;

use serde_json::Value;

use super::LabelsFormat;
use crate::qrels::{Held, Judgement, Judgements, MOST_LINE_BYTES, QRELS_FILE, QrelsFormat};
use lookalike_base::{Error, Result};
use lookalike_engine::table::Table;
use lookalike_store::table::cell;
use lookalike_text::read::lines::{Lines, parsed, shorten};

/// Memory of a label besides what a judgement takes in `qrels`, where 94 bytes are for what is not
/// done here: its docno's key and document (16, 48), the document that is looked up (32, twice
/// while the table grows), its shingles, document, place and order (20), and a candidate (40,
/// twice).
pub(super) const LABEL_BYTES: u64 = 160;

/// The names of the columns of a list.
const DOCNO: &str = "docno";
const LABEL: &str = "label";

/// All labels of a file.
pub(super) struct Labels {
    /// Never [`LabelsFormat::Auto`].
    pub format: LabelsFormat,
    /// Whether a list begins with a line of names.
    header: bool,
    /// A list has one topic without a name. The label of a list is what a written judgement
    /// repeats.
    pub judgements: Judgements,
}

impl Labels {
    pub(crate) fn read(path: &Path, format: LabelsFormat, held: &mut Held<'_>) -> Result<Labels> {
        let format = match format {
            LabelsFormat::Auto => recognised(path)?,
            format => format,
        };
        // The forms of judgements have the same names there. If it is still `auto`, only all lines
        // decide between two of them.
        match format.text().parse::<QrelsFormat>() {
            Ok(qrels) => {
                let judgements = Judgements::read(path, qrels, held)?;
                Ok(Labels {
                    format: judgements.format.text().parse().unwrap_or_default(),
                    header: false,
                    judgements,
                })
            }
            Err(_) => Labels::read_list(path, format, held),
        }
    }

    fn read_list(path: &Path, format: LabelsFormat, held: &mut Held<'_>) -> Result<Labels> {
        let mut rows = Rows::open(path, format)?;
        let mut judgements = Judgements::list();
        let (mut count, mut room) = (0u64, true);
        while rows.next()? {
            held.stop(count)?;
            count += 1;
            let bytes = (rows.docno.len() + rows.label.len()) as u64;
            room = held.take_line(bytes) && room;
            if room {
                judgements.push((0, 0), (&rows.docno, rows.line()), 0, &rows.label);
            }
        }
        Ok(Labels {
            format,
            header: rows.header,
            judgements: judgements.settled(path, ("labels", count), held)?,
        })
    }

    fn is_list(&self) -> bool {
        use LabelsFormat::{Csv, Jsonl, Text, Tsv};
        matches!(self.format, Tsv | Text | Csv | Jsonl)
    }

    /// Whether two labels say the same.
    pub(crate) fn agree(&self, a: &Judgement, b: &Judgement) -> bool {
        a.grade == b.grade
            && (!self.is_list() || self.judgements.repeated(a) == self.judgements.repeated(b))
    }

    /// The label as text.
    pub(crate) fn text(&self, label: &Judgement) -> Cow<'_, str> {
        let text = self.judgements.repeated(label);
        match self.format {
            LabelsFormat::Jsonl => match serde_json::from_str(text) {
                Ok(Value::String(text)) => Cow::Owned(text),
                _ => Cow::Borrowed(text),
            },
            _ if self.is_list() => Cow::Borrowed(text),
            _ => Cow::Owned(label.grade.to_string()),
        }
    }

    /// The names of the fields besides the docno.
    pub(crate) fn columns(&self) -> &'static str {
        match self.format {
            LabelsFormat::Trec => "topic\titeration\trelevance",
            LabelsFormat::Ndeval => "topic\tsubtopic\trelevance",
            LabelsFormat::Prels => "topic\trelevance\tmethod\tprobability",
            _ => LABEL,
        }
    }

    /// The fields besides the docno, as cells of a table.
    pub(crate) fn cells(&self, label: &Judgement) -> String {
        let topic = cell(&self.judgements.topics[label.topic as usize]);
        let (repeated, grade) = (self.judgements.repeated(label), label.grade);
        match self.format {
            LabelsFormat::Trec | LabelsFormat::Ndeval => {
                format!("{topic}\t{}\t{grade}", cell(repeated))
            }
            LabelsFormat::Prels => {
                let (method, probability) = repeated.split_once(' ').unwrap_or((repeated, ""));
                format!("{topic}\t{grade}\t{}\t{}", cell(method), cell(probability))
            }
            _ => cell(&self.text(label)).into_owned(),
        }
    }

    /// The name of the file of labels that is written.
    pub(crate) fn file_name(&self) -> &'static str {
        match self.format {
            LabelsFormat::Tsv => "labels.tsv",
            LabelsFormat::Text => "labels.txt",
            LabelsFormat::Csv => "labels.csv",
            LabelsFormat::Jsonl => "labels.jsonl",
            _ => QRELS_FILE,
        }
    }

    /// The first line that is written, if it is not a label.
    pub(crate) fn first_line(&self) -> Option<String> {
        let separator = match self.format {
            LabelsFormat::Csv => ',',
            LabelsFormat::Tsv => '\t',
            _ => ' ',
        };
        self.header.then(|| format!("{DOCNO}{separator}{LABEL}\n"))
    }

    /// The line that gives a label to a document; `None` if its docno cannot stand in such a line.
    pub(crate) fn line(&self, label: &Judgement, docno: &str) -> Option<String> {
        let text = self.judgements.repeated(label);
        let breaks = |c: char| matches!(c, '\n' | '\r');
        let ends = |docno: &str| docno.is_empty() || docno.contains(breaks);
        match self.format {
            LabelsFormat::Tsv => {
                (!ends(docno) && !docno.contains('\t')).then(|| format!("{docno}\t{text}\n"))
            }
            LabelsFormat::Csv => {
                (!ends(docno)).then(|| format!("{},{}\n", quoted(docno), quoted(text)))
            }
            LabelsFormat::Jsonl => {
                let docno = Value::from(docno);
                Some(format!("{{\"{DOCNO}\":{docno},\"{LABEL}\":{text}}}\n"))
            }
            _ if docno.is_empty() || docno.contains(|c: char| c.is_ascii_whitespace()) => None,
            LabelsFormat::Text => Some(format!("{docno} {text}\n")),
            _ => Some(self.judgements.line(label, docno, label.grade)),
        }
    }
}

/// A field of comma-separated values.
fn quoted(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

/// The format of a file, by its first line. `Auto` stands for `Trec` or `Ndeval`, between which all
/// lines decide.
fn recognised(path: &Path) -> Result<LabelsFormat> {
    let mut lines = Lines::open(path, MOST_LINE_BYTES)?;
    if !lines.advance_to_text()? {
        return Ok(LabelsFormat::Auto);
    }
    let line = lines.line();
    let fields: Vec<&[u8]> = line
        .split(u8::is_ascii_whitespace)
        .filter(|field| !field.is_empty())
        .collect();
    let is_integer = |field: &[u8]| parsed::<i64>(field).is_some();
    let is_number = |field: &[u8]| parsed::<f64>(field).is_some();
    let commas = || line.split(|byte| *byte == b',');
    let named = |name: &str| {
        commas().any(|field| field == name.as_bytes() || field == format!("\"{name}\"").as_bytes())
    };
    Ok(match &fields[..] {
        _ if line.starts_with(b"{") => LabelsFormat::Jsonl,
        [_, _, relevance, _, probability] if is_integer(relevance) && is_number(probability) => {
            LabelsFormat::Prels
        }
        [_, _, _, relevance] if is_integer(relevance) => LabelsFormat::Auto,
        _ if line.iter().filter(|byte| **byte == b'\t').count() == 1 => LabelsFormat::Tsv,
        _ if named(DOCNO) && named(LABEL) => LabelsFormat::Csv,
        [_, _] => LabelsFormat::Text,
        _ => {
            return Err(lines.bad(
                "4 or 5 fields of judgements, 2 columns (docno, label), or CSV or JSON with docno and \
                 label",
                shorten(line),
            ));
        }
    })
}

/// Reads the rows of a list.
struct Rows {
    from: Source,
    format: LabelsFormat,
    header: bool,
    /// Whether no row was read yet.
    first: bool,
    /// The current row.
    docno: String,
    label: String,
    fields: Vec<Vec<u8>>,
}

enum Source {
    Lines(Lines),
    Table(Table),
}

impl Rows {
    fn open(path: &Path, format: LabelsFormat) -> Result<Rows> {
        let from = match format {
            LabelsFormat::Csv => {
                let mut table = Table::open_commas(path)?;
                table.want_names(&[DOCNO, LABEL])?;
                Source::Table(table)
            }
            _ => Source::Lines(Lines::open(path, MOST_LINE_BYTES)?),
        };
        Ok(Rows {
            from,
            format,
            header: format == LabelsFormat::Csv,
            first: true,
            docno: String::new(),
            label: String::new(),
            fields: Vec::new(),
        })
    }

    /// Reads the next row that is not empty; `false` at the end.
    fn next(&mut self) -> Result<bool> {
        loop {
            let found = match &mut self.from {
                Source::Table(table) => table.next(&mut self.fields)?,
                Source::Lines(lines) => lines.advance_to_text()?,
            };
            if !found {
                return Ok(false);
            }
            self.take()?;
            let first = std::mem::replace(&mut self.first, false);
            let names = self.docno == DOCNO && self.label == LABEL;
            let separated = matches!(self.format, LabelsFormat::Tsv | LabelsFormat::Text);
            if first && names && separated {
                self.header = true;
                continue;
            }
            if self.docno.is_empty() {
                return Err(self.bad("a docno", "an empty field"));
            }
            return Ok(true);
        }
    }

    /// Takes docno and label out of the current line.
    fn take(&mut self) -> Result<()> {
        let utf8 = |bytes: &[u8]| std::str::from_utf8(bytes).map(String::from).ok();
        let row = match &self.from {
            Source::Table(_) => match &self.fields[..] {
                [docno, label] => utf8(docno).zip(utf8(label)),
                // The file has no header, so it has no rows.
                _ => None,
            },
            Source::Lines(lines) => {
                let Ok(line) = std::str::from_utf8(lines.line()) else {
                    return Err(self.bad("UTF-8", shorten(lines.line())));
                };
                if self.format == LabelsFormat::Jsonl {
                    Some(self.json(line)?)
                } else {
                    let (fields, by): (Vec<&str>, _) = match self.format {
                        LabelsFormat::Tsv => (line.split('\t').collect(), "a tab"),
                        _ => (line.split_ascii_whitespace().collect(), "white space"),
                    };
                    let &[docno, label] = &fields[..] else {
                        let expected = format!("2 fields (docno, label) separated by {by}");
                        let found = format!("{}: {}", fields.len(), shorten(line.as_bytes()));
                        return Err(self.bad(&expected, found));
                    };
                    Some((docno.into(), label.into()))
                }
            }
        };
        let Some((docno, label)) = row else {
            let found = self.fields.iter().find(|field| utf8(field).is_none());
            return Err(self.bad("UTF-8", shorten(found.map_or(b"", |field| field))));
        };
        (self.docno, self.label) = (docno, label);
        Ok(())
    }

    /// The docno of a JSON object, and its label as JSON.
    fn json(&self, line: &str) -> Result<(String, String)> {
        let wrong = |expected: &str| self.bad(expected, shorten(line.as_bytes()));
        let Ok(Value::Object(object)) = serde_json::from_str(line) else {
            return Err(wrong("a JSON object"));
        };
        let docno = match object.get(DOCNO) {
            Some(Value::String(docno)) => docno.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => return Err(wrong("a string or a number in `docno`")),
        };
        match object.get(LABEL) {
            Some(label @ (Value::String(_) | Value::Number(_) | Value::Bool(_))) => {
                Ok((docno, label.to_string()))
            }
            _ => Err(wrong("a string, a number, true or false in `label`")),
        }
    }

    /// The number of the current line, from 1.
    fn line(&self) -> u64 {
        match &self.from {
            Source::Lines(lines) => lines.number(),
            Source::Table(table) => table.number(),
        }
    }

    fn bad(&self, expected: &str, found: impl ToString) -> Error {
        match &self.from {
            Source::Lines(lines) => lines.bad(expected, found),
            Source::Table(table) => table.bad(expected, found),
        }
    }
}
