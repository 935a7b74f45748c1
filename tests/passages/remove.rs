//! Copies without repeated text: what goes is what the definitions say, and nothing else changes.

use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::{Value, json};

use super::support::{passages, texts, tokens};
use crate::common::corpus::Random;
use crate::common::{one_in, parquet_rows, temporary};

/// The cuts of a text: ranges of it, and whether a space takes their place.
type Cuts = Vec<(Range<usize>, bool)>;

/// The removable ranges of each document, by docno, in bytes.
fn removable(work: &Path) -> HashMap<String, Vec<Range<usize>>> {
    let text = fs::read_to_string(work.join("removable.tsv")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let mut all: HashMap<_, Vec<_>> = HashMap::new();
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        let range = cells[3].parse().unwrap()..cells[4].parse().unwrap();
        all.entry(cells[0].to_string()).or_default().push(range);
    }
    all
}

/// The atoms of a text, and whether each goes.
fn atoms(text: &str, goes: &dyn Fn(usize) -> bool, align: &str) -> Vec<(Range<usize>, bool)> {
    let tokens = tokens(text);
    if align == "token" {
        let atoms = tokens.into_iter().map(|(range, _)| range);
        return atoms
            .map(|range| (range.clone(), goes(range.start)))
            .collect();
    }
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let (mut at, mut blank) = (0, true);
    for line in text.split_inclusive('\n') {
        let content = line.strip_suffix('\n').unwrap_or(line);
        let range = at..at + content.strip_suffix('\r').unwrap_or(content).len();
        at += line.len();
        let is_blank = line.trim().is_empty();
        match blocks.last_mut() {
            _ if is_blank => {}
            Some(last) if align == "paragraph" && !blank => last.end = range.end,
            _ => blocks.push(range),
        }
        blank = is_blank;
    }
    let all = |block: &Range<usize>| {
        let own = tokens
            .iter()
            .filter(|(range, _)| block.contains(&range.start));
        let own: Vec<usize> = own.map(|(range, _)| range.start).collect();
        !own.is_empty() && own.into_iter().all(goes)
    };
    blocks
        .into_iter()
        .map(|block| (block.clone(), all(&block)))
        .collect()
}

/// Returns the cuts of a text by the definition.
fn cuts(text: &str, removable: &[Range<usize>], align: &str) -> Cuts {
    let goes = |at: usize| removable.iter().any(|range| range.contains(&at));
    let all = tokens(text);
    if !all.is_empty() && all.iter().all(|(range, _)| goes(range.start)) {
        return vec![(0..text.len(), false)];
    }
    let atoms = atoms(text, &goes, align);
    let mut cuts = Vec::new();
    let mut at = 0;
    while at < atoms.len() {
        if !atoms[at].1 {
            at += 1;
            continue;
        }
        let end = (at..atoms.len())
            .find(|n| !atoms[*n].1)
            .unwrap_or(atoms.len());
        let (first, last) = (atoms[at].0.start, atoms[end - 1].0.end);
        let before = at.checked_sub(1).map(|n| atoms[n].0.clone());
        let after = atoms.get(end).map(|atom| atom.0.clone());
        cuts.push(match (before, after) {
            (None, None) => (first..last, false),
            (None, Some(after)) => (first..after.start, false),
            (Some(before), None) => (before.end..last, false),
            (Some(before), Some(after)) => {
                let left = &text[before.end..first];
                let right = &text[last..after.start];
                let feeds = |text: &str| text.matches('\n').count();
                let (range, stays) = match feeds(left) < feeds(right) {
                    true => (before.end..last, right),
                    false => (first..after.start, left),
                };
                let together = [&text[before.clone()], stays, &text[after.clone()]].concat();
                let apart = tokens(&together).len()
                    == tokens(&text[before]).len() + tokens(&text[after]).len()
                    || stays.contains(|c: char| c.is_ascii_whitespace());
                (range, !apart)
            }
        });
        at = end;
    }
    cuts
}

fn without(text: &str, cuts: &Cuts) -> String {
    let (mut out, mut at) = (String::new(), 0);
    for (range, space) in cuts {
        out += &text[at..range.start];
        out += if *space { " " } else { "" };
        at = range.end;
    }
    out + &text[at..]
}

/// Each character as it may stand in a JSON string.
fn escaped(text: &str, random: &mut Random) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    for (at, c) in text.char_indices() {
        let units = || {
            let mut units = [0; 2];
            let units = c.encode_utf16(&mut units);
            units
                .iter()
                .map(|unit| format!("\\u{unit:04x}"))
                .collect::<String>()
        };
        let plain = match c {
            '\n' => "\\n".into(),
            '"' => "\\\"".into(),
            '\\' => "\\\\".into(),
            c if c < ' ' => units(),
            c => c.to_string(),
        };
        out.push((at, if random.once_in(9) { units() } else { plain }));
    }
    out
}

/// A document, with the bytes of its record.
struct Doc {
    docno: String,
    text: String,
    /// Without the byte order mark that its reader leaves out.
    shift: usize,
    before: String,
    escaped: Vec<(usize, String)>,
    after: String,
}

impl Doc {
    fn new(docno: String, text: String, random: &mut Random) -> Doc {
        let shift = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let escaped = escaped(&text, random);
        let before = match random.below(5) {
            0 => format!("{{\"id\":\"{docno}\",\"text\":\""),
            4 => format!("{{\"text\":\"the first does not count\",\"id\":\"{docno}\",\"text\":\""),
            1 => format!("{{ \"n\" : 1.50 ,\"id\": \"{docno}\", \"te\\u0078t\" : \""),
            2 => format!("{{\"o\":{{\"text\":\"no\"}},\"id\":\"{docno}\",\"text\":\""),
            _ => format!("{{\"z\":[1,\"]\\\"\"],\"id\":\"{docno}\",\"text\":\""),
        };
        let after = match random.below(2) {
            0 => "\"}",
            _ => "\" ,\"é\":\"\\u00e9\", \"x\": { } }",
        };
        Doc {
            docno,
            text,
            shift,
            before,
            escaped,
            after: after.into(),
        }
    }

    fn read(&self) -> &str {
        &self.text[self.shift..]
    }

    /// Its record, without the parts of its text that are cut.
    fn record(&self, cuts: &Cuts) -> String {
        let mut out = self.before.clone();
        for (at, raw) in &self.escaped {
            let cut = cuts
                .iter()
                .find(|(range, _)| *at >= range.start + self.shift && *at < range.end + self.shift);
            match cut {
                None => out += raw,
                Some((range, true)) if range.start + self.shift == *at => out.push(' '),
                Some(_) => {}
            }
        }
        out + &self.after
    }
}

/// Files of JSON lines, of an array, compressed and not.
fn write(place: &Path, docs: &[Doc], cuts: &dyn Fn(&Doc) -> Option<Cuts>) {
    fs::create_dir_all(place).unwrap();
    let each = docs.len().div_ceil(3).max(1);
    for (n, docs) in docs.chunks(each).enumerate() {
        let records = docs.iter().filter_map(|doc| Some(doc.record(&cuts(doc)?)));
        let records: Vec<String> = records.collect();
        let (name, text) = match n {
            0 => (
                "a.jsonl",
                records.iter().map(|r| format!("{r}\n")).collect::<String>(),
            ),
            1 => ("b.jsonl.gz", records.join("\r\n")),
            _ => ("c.json", format!("[ {}\n]\n", records.join(",\n "))),
        };
        let bytes = match n {
            1 => {
                use std::io::Write;
                let mut out =
                    flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
                out.write_all(text.as_bytes()).unwrap();
                out.finish().unwrap()
            }
            _ => text.into_bytes(),
        };
        fs::write(place.join(name), bytes).unwrap();
    }
}

fn content(path: &Path) -> String {
    use std::io::Read;
    let bytes = fs::read(path).unwrap();
    let mut text = String::new();
    match path.extension().is_some_and(|ending| ending == "gz") {
        true => flate2::read::MultiGzDecoder::new(&bytes[..])
            .read_to_string(&mut text)
            .unwrap(),
        false => (&bytes[..]).read_to_string(&mut text).unwrap(),
    };
    text
}

/// The k-grams of texts, and how often each occurs.
fn grams<'t>(texts: impl Iterator<Item = &'t str>, length: usize) -> HashMap<Vec<String>, usize> {
    let mut all = HashMap::new();
    for text in texts {
        let words: Vec<String> = tokens(text).into_iter().map(|(_, word)| word).collect();
        for gram in words.windows(length) {
            *all.entry(gram.to_vec()).or_insert(0) += 1;
        }
    }
    all
}

#[test]
fn of_random_texts_what_the_definition_says() {
    let (mut spaces, mut emptied, mut dropped) = (0, 0, 0);
    for seed in 0..100 / one_in(2) as u64 {
        let home = temporary();
        let place = home.path();
        let mut random = Random(seed);
        let texts = texts(seed);
        let docs = texts.into_iter().enumerate();
        let docs: Vec<Doc> = docs
            .map(|(n, text)| Doc::new(format!("d{n}"), text, &mut random))
            .collect();
        write(&place.join("in"), &docs, &|_| Some(Vec::new()));
        let length = [1, 2, 3, 5, 13][seed as usize % 5];
        let align = ["token", "token", "line", "paragraph"][seed as usize % 4];
        let empty = ["keep", "drop"][random.below(2)];
        let summary = passages(
            place,
            &format!(
                "in --remove -o kept --removed removed --length {length} --align {align} \
                 --empty {empty} --threads {}",
                1 + seed % 2
            ),
        );
        let ranges = removable(&place.join("kept.work"));
        let mut lines = Vec::new();
        let (mut changed, mut tokens_removed, mut kept_texts) = (0, 0, Vec::new());
        let mut all_cuts = HashMap::new();
        for doc in &docs {
            let own = ranges.get(&doc.docno).map_or(&[][..], Vec::as_slice);
            let cuts = cuts(doc.read(), own, align);
            spaces += cuts.iter().filter(|(_, space)| *space).count();
            changed += u64::from(!cuts.is_empty());
            let (before, after) = (tokens(doc.read()), without(doc.read(), &cuts));
            let stays = tokens(&after);
            tokens_removed += (before.len() - stays.len()) as u64;
            // The tokens that stay, and those in the cuts, are all tokens.
            let cut = |at: usize| cuts.iter().any(|(range, _)| range.contains(&at));
            let kept = before.iter().filter(|(range, _)| !cut(range.start));
            assert!(
                kept.map(|(_, token)| token)
                    .eq(stays.iter().map(|(_, token)| token))
            );
            if align == "token" {
                let inside = |at: usize| own.iter().any(|range| range.contains(&at));
                assert!(
                    before
                        .iter()
                        .all(|(range, _)| inside(range.start) == cut(range.start))
                );
            }
            emptied += usize::from(!before.is_empty() && stays.is_empty());
            for (range, space) in &cuts {
                let number = |at: usize| before.iter().filter(|(r, _)| r.start < at).count();
                let mut line = serde_json::json!({
                    "docno": doc.docno,
                    "begin_byte": range.start,
                    "end_byte": range.end,
                    "begin_token": number(range.start),
                    "end_token": number(range.end),
                    "text": &doc.read()[range.clone()],
                });
                if *space {
                    line["space"] = true.into();
                }
                lines.push(line);
            }
            let out = empty == "drop" && stays.is_empty();
            dropped += usize::from(out);
            if !out {
                kept_texts.push(after);
            }
            all_cuts.insert(&doc.docno, (!out).then_some(cuts));
        }
        write(&place.join("expected"), &docs, &|doc| {
            all_cuts[&doc.docno].clone()
        });
        for name in ["a.jsonl", "b.jsonl.gz", "c.json"] {
            let expected = place.join("expected").join(name);
            if !expected.exists() {
                continue;
            }
            let expected = content(&expected).replace("[ \n]", "[ ]");
            let kept = place.join("kept").join(name);
            // A file that is one record and nothing else goes with it.
            if !kept.exists() && expected.is_empty() {
                continue;
            }
            let found = content(&kept);
            // Where records are left out, the separators of the rest are those of dedup.
            if empty == "keep" {
                assert_eq!(found, expected, "seed {seed} {name}");
            }
            let records = |text: &str| -> Vec<String> {
                let records = text
                    .split(['\n', '\r'])
                    .map(|r| r.trim_matches([',', ' ', '[', ']']));
                records.filter(|r| !r.is_empty()).map(Into::into).collect()
            };
            assert_eq!(records(&found), records(&expected), "seed {seed} {name}");
        }
        // The removed text beside them.
        let mut found = Vec::new();
        for name in ["a.jsonl", "b.jsonl.gz", "c.json"] {
            let path = place.join(format!("removed/{name}.removed.jsonl"));
            let text = fs::read_to_string(path).unwrap_or_default();
            for line in text.lines() {
                let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
                let members = line.as_object_mut().unwrap();
                assert_eq!(members.remove("file").unwrap(), name);
                assert!(members.remove("record").unwrap().as_u64() > Some(0));
                found.push(line);
            }
        }
        assert_eq!(found, lines, "seed {seed}");
        let removal = &summary["removal"];
        assert_eq!(removal["changed"], changed, "seed {seed}");
        assert_eq!(removal["ranges"], lines.len() as u64);
        assert_eq!(removal["removed_tokens"], tokens_removed);
        assert_eq!(removal["documents"], docs.len() as u64);
        // Every passage still occurs.
        let before = grams(docs.iter().map(Doc::read), length);
        let after = grams(kept_texts.iter().map(String::as_str), length);
        for (gram, _) in before.iter().filter(|(_, count)| **count > 1) {
            assert!(after.contains_key(gram), "seed {seed}: {gram:?}");
        }
    }
    assert!(
        spaces * one_in(2) > 5 && emptied * one_in(2) > 10 && dropped * one_in(2) > 10,
        "{spaces} {emptied} {dropped}"
    );
}

/// Fields of a text, in the order of the columns. They are named in another order.
const FIELDS: [&str; 3] = ["a", "b", "c"];
const NAMED: [usize; 3] = [1, 0, 2];

/// The values of the fields; `None` if a document does not have one.
type Fields = [Option<String>; 3];

/// Cuts a text into fields, between tokens more often than within.
fn split(text: &str, random: &mut Random) -> Fields {
    let mut places: Vec<usize> = Vec::new();
    let ends: Vec<usize> = tokens(text)
        .into_iter()
        .map(|(range, _)| range.end)
        .collect();
    for _ in 0..2 {
        let mut at = random.below(text.len() + 1);
        if !ends.is_empty() && !random.once_in(4) {
            at = *random.pick(&ends);
        }
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        // Some fields are empty.
        let again = places.last().filter(|_| random.once_in(3));
        places.push(*again.unwrap_or(&at));
    }
    places.sort_unstable();
    let parts = [0..places[0], places[0]..places[1], places[1]..text.len()];
    let mut fields = Fields::default();
    for (part, field) in parts.into_iter().zip(NAMED) {
        let is_missing = part.is_empty() && random.once_in(2);
        fields[field] = (!is_missing).then(|| text[part].to_string());
    }
    fields
}

fn write_fields(place: &Path, docs: &[Fields], group: usize) {
    for name in ["lines", "rows"] {
        fs::create_dir(place.join(name)).unwrap();
    }
    let line = |(n, doc): (usize, &Fields)| {
        let mut value = json!({"id": format!("d{n}"), "n": n});
        for (field, text) in FIELDS.iter().zip(doc) {
            if let Some(text) = text {
                value[field] = text.as_str().into();
            }
        }
        format!("{value}\n")
    };
    let lines: String = docs.iter().enumerate().map(line).collect();
    fs::write(place.join("lines/x.jsonl"), lines).unwrap();
    let schema = "message rows { required binary id (STRING); optional binary a (STRING);
        optional binary b (STRING); optional binary c (STRING); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let file = fs::File::create(place.join("rows/x.parquet")).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
    let ids: Vec<_> = (0..docs.len()).map(|n| format!("d{n}")).collect();
    for (docs, ids) in docs.chunks(group).zip(ids.chunks(group)) {
        let mut out = writer.next_row_group().unwrap();
        for column in 0..4 {
            let texts = |n: usize| match column {
                0 => Some(&ids[n]),
                column => docs[n][column - 1].as_ref(),
            };
            let all = (0..docs.len()).map(texts);
            let values = all.clone().flatten();
            let values: Vec<_> = values.map(|text| ByteArray::from(text.as_str())).collect();
            let levels: Vec<_> = all.map(|text| i16::from(text.is_some())).collect();
            let levels = (column > 0).then_some(&levels[..]);
            let mut column = out.next_column().unwrap().unwrap();
            let typed = column.typed::<ByteArrayType>();
            typed.write_batch(&values, levels, None).unwrap();
            column.close().unwrap();
        }
        out.close().unwrap();
    }
    writer.close().unwrap();
}

/// Of JSON and of Parquet alike: the text is the fields, joined by line feeds, and each field loses
/// its part of what is removable.
#[test]
fn of_several_fields_each_loses_its_part() {
    let (mut across, mut nulls, mut dropped) = (0, 0, 0);
    for seed in 0..60 / one_in(3) as u64 {
        let home = temporary();
        let place = home.path();
        let mut random = Random(seed);
        let docs: Vec<Fields> = texts(seed)
            .iter()
            .map(|text| match random.once_in(15) {
                true => Fields::default(),
                false => split(text, &mut random),
            })
            .chain([["one".to_string(), "two".into(), "three".into()].map(Some)])
            .collect();
        write_fields(place, &docs, 1 + random.below(5));
        let align = ["token", "token", "line", "paragraph"][seed as usize % 4];
        let empty = ["keep", "drop"][random.below(2)];
        let how = format!(
            "--text-field b,a,c --remove --length {} --align {align} --empty {empty}",
            [1, 2, 3, 5][random.below(4)],
        );
        let mut summaries = Vec::new();
        for from in ["lines", "rows"] {
            let call = format!("{from} -o {from}-kept --removed {from}-gone {how}");
            let summary = passages(place, &call);
            let again = passages(place, &call);
            assert_eq!(summary["removal"], again["removal"], "seed {seed}");
            summaries.push(summary);
        }
        assert_eq!(summaries[0]["removal"], summaries[1]["removal"]);
        let ranges = removable(&place.join("rows-kept.work"));
        assert_eq!(ranges, removable(&place.join("lines-kept.work")));

        let (mut kept, mut gone) = (Vec::new(), Vec::new());
        for (n, doc) in docs.iter().enumerate() {
            let id = format!("d{n}");
            let own = ranges.get(&id).map_or(&[][..], Vec::as_slice);
            let present: Vec<usize> = NAMED.into_iter().filter(|f| doc[*f].is_some()).collect();
            let (mut begin, mut token, mut stays) = (0, 0, 0);
            let mut expected = doc.clone();
            for (at, &field) in present.iter().enumerate() {
                let text = doc[field].as_ref().unwrap();
                // A byte order mark at the beginning is not text.
                let mark = match text.strip_prefix('\u{feff}') {
                    Some(_) if at == 0 => "\u{feff}",
                    _ => "",
                };
                let text = &text[mark.len()..];
                let end = begin + text.len();
                across += own.iter().filter(|r| r.start < end && r.end > end).count();
                let own = own.iter().filter(|r| r.start < end && r.end > begin);
                let own = own.map(|r| r.start.max(begin) - begin..r.end.min(end) - begin);
                let cuts = cuts(text, &own.collect::<Vec<_>>(), align);
                let all = tokens(text);
                for (range, space) in &cuts {
                    let number = |at| token + all.iter().filter(|(r, _)| r.start < at).count();
                    let mut line = json!({
                        "record": n + 1,
                        "docno": id,
                        "begin_byte": begin + range.start,
                        "end_byte": begin + range.end,
                        "begin_token": number(range.start),
                        "end_token": number(range.end),
                        "text": text[range.clone()],
                    });
                    if *space {
                        line["space"] = true.into();
                    }
                    gone.push(line);
                }
                let left = without(text, &cuts);
                stays += tokens(&left).len();
                token += all.len();
                expected[field] = Some(format!("{mark}{left}"));
                begin = end + 1;
            }
            nulls += usize::from(!own.is_empty() && present.len() < 3);
            if empty == "drop" && stays == 0 && !present.is_empty() {
                dropped += 1;
                continue;
            }
            let values = expected.map(Value::from);
            kept.push([&[Value::from(id)], &values[..]].concat());
        }
        let lines = fs::read_to_string(place.join("lines-kept/x.jsonl")).unwrap();
        let lines = lines.lines().map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            ["id", "a", "b", "c"]
                .map(|name| line[name].clone())
                .to_vec()
        });
        assert_eq!(lines.collect::<Vec<_>>(), kept, "seed {seed}");
        let rows = parquet_rows(&place.join("rows-kept/x.parquet"));
        let rows = rows
            .iter()
            .map(|row| ["id", "a", "b", "c"].map(|name| row[name].clone()).to_vec());
        assert_eq!(rows.collect::<Vec<_>>(), kept, "seed {seed}");
        for (name, file) in [("lines", "x.jsonl"), ("rows", "x.parquet")] {
            let path = place.join(format!("{name}-gone/{file}.removed.jsonl"));
            let lines = fs::read_to_string(path).unwrap_or_default();
            let lines = lines.lines().map(|line| {
                let mut line: Value = serde_json::from_str(line).unwrap();
                assert_eq!(line.as_object_mut().unwrap().remove("file").unwrap(), file);
                line
            });
            assert_eq!(lines.collect::<Vec<_>>(), gone, "seed {seed}, {name}");
        }
    }
    assert!(
        across * one_in(3) > 50 && nulls * one_in(3) > 10 && dropped * one_in(3) > 5,
        "{across} {nulls} {dropped}"
    );
}
