//! Copies without repeated text: what goes is what the definitions say, and nothing else changes.

use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

use super::support::{passages, texts, tokens};
use crate::common::corpus::Random;
use crate::common::temporary;

/// What is cut out of a text: ranges of it, and whether a space takes their place.
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

/// What is cut out of a text, by the definition.
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
        let before = match random.below(4) {
            0 => format!("{{\"id\":\"{docno}\",\"text\":\""),
            1 => format!("{{ \"n\" : 1.50 ,\"id\": \"{docno}\", \"te\\u0078t\" : \""),
            2 => format!("{{\"o\":{{\"text\":\"no\"}},\"id\":\"{docno}\",\"text\":\""),
            _ => format!("{{\"z\":[1,\"]\\\"\"],\"id\":\"{docno}\",\"text\":\""),
        };
        let after = match random.below(3) {
            0 => "\"}",
            1 => "\",\"text\":\"the second does not count\"}",
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
    for seed in 0..100 {
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
        spaces > 5 && emptied > 10 && dropped > 10,
        "{spaces} {emptied} {dropped}"
    );
}
