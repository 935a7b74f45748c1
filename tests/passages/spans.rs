//! The spans of a collection are those of the definition, on real and on random texts, and the same
//! bytes for any threads, memory and cut of the input.

use crate::common::corpus::Random;
use crate::common::{self, Run};
use lookalike::passages::{self, Of, PassagesConfig, Stats};
use lookalike::pipeline;
use lookalike::progress::{Silent, Stop};
use lookalike::{Error, budget::ByteSize};

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::path::Path;

/// A document as the oracle sees it.
struct Doc {
    docno: String,
    text: String,
    file: String,
    record: usize,
}

/// The words of a text in ASCII without apostrophes: where they are, and what they say.
fn words(text: &str) -> Vec<(Range<usize>, String)> {
    let mut words: Vec<(Range<usize>, String)> = Vec::new();
    for (at, c) in text.char_indices() {
        if !c.is_ascii_alphanumeric() {
            continue;
        }
        match words.last_mut() {
            Some((range, word)) if range.end == at => {
                range.end += 1;
                word.push(c.to_ascii_lowercase());
            }
            _ => words.push((at..at + 1, c.to_ascii_lowercase().to_string())),
        }
    }
    words
}

fn runs(marks: &[bool]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in marks.iter().enumerate().filter(|(_, mark)| **mark) {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// The three files by the definitions, without their comments.
fn expected(docs: &[Doc], config: &PassagesConfig) -> [String; 3] {
    let k = config.length as usize;
    let words: Vec<_> = docs.iter().map(|doc| words(&doc.text)).collect();
    let mut seen = std::collections::HashSet::new();
    let takes_part: Vec<bool> = words
        .iter()
        .map(|words| {
            let all: Vec<&str> = words.iter().map(|(_, word)| word.as_str()).collect();
            // A document without words duplicates nothing.
            all.is_empty() || seen.insert(all.join(" ")) || config.of == Of::All
        })
        .collect();
    let mut places: HashMap<Vec<&str>, Vec<(usize, usize)>> = HashMap::new();
    for (n, of) in words.iter().enumerate().filter(|(n, _)| takes_part[*n]) {
        for (at, window) in of.windows(k).enumerate() {
            let gram = window.iter().map(|(_, word)| word.as_str()).collect();
            places.entry(gram).or_default().push((n, at));
        }
    }
    let columns =
        "begin_token\tend_token\tbegin_byte\tend_byte\tbegin_line\tend_line\tfile\trecord";
    let mut spans = format!("docno\t{columns}\n");
    let mut removable = spans.clone();
    let mut coverage = "docno\ttokens\trepeated_tokens\tremovable_tokens\tspans\tlongest\tbytes\
                        \trepeated_bytes\tfile\trecord\n"
        .to_string();
    let mut repeated: Vec<_> = words.iter().map(|of| vec![false; of.len()]).collect();
    let mut first = repeated.clone();
    for of in places.values().filter(|of| of.len() > 1) {
        for (n, &(doc, at)) in of.iter().enumerate() {
            repeated[doc][at..at + k].fill(true);
            if n == 0 {
                first[doc][at..at + k].fill(true);
            }
        }
    }
    for (n, doc) in docs.iter().enumerate().filter(|(n, _)| takes_part[*n]) {
        let Doc {
            docno,
            text,
            file,
            record,
        } = doc;
        let can_go: Vec<bool> = (0..words[n].len())
            .map(|at| repeated[n][at] && !first[n][at])
            .collect();
        let mut bytes = 0;
        let mut put = |out: &mut String, runs: &[Range<usize>]| {
            bytes = 0;
            for run in runs {
                let (begin, end) = (words[n][run.start].0.start, words[n][run.end - 1].0.end);
                let line = |at: usize| text[..at].matches('\n').count() + 1;
                let _ = writeln!(
                    out,
                    "{docno}\t{}\t{}\t{begin}\t{end}\t{}\t{}\t{file}\t{record}",
                    run.start,
                    run.end,
                    line(begin),
                    line(end)
                );
                bytes += end - begin;
            }
            bytes
        };
        let (own, gone) = (runs(&repeated[n]), runs(&can_go));
        put(&mut removable, &gone);
        let bytes = put(&mut spans, &own);
        let _ = writeln!(
            coverage,
            "{docno}\t{}\t{}\t{}\t{}\t{}\t{}\t{bytes}\t{file}\t{record}",
            words[n].len(),
            own.iter().map(Range::len).sum::<usize>(),
            gone.iter().map(Range::len).sum::<usize>(),
            own.len(),
            own.iter().map(Range::len).max().unwrap_or(0),
            text.len()
        );
    }
    [spans, removable, coverage]
}

fn found(out: &Path) -> [String; 3] {
    passages::FILES.map(|name| {
        let text = fs::read_to_string(out.join(name)).unwrap();
        let lines = text.lines().skip_while(|line| line.starts_with('#'));
        lines.fold(String::new(), |all, line| all + line + "\n")
    })
}

fn search(out: &Path, run: &Run, config: &PassagesConfig) -> Result<Stats, Error> {
    let mut workspace = pipeline::open(out)?;
    let stop = Stop::default();
    passages::run(&mut workspace, config, &run.context(&stop, &Silent))
}

/// Writes documents as JSON lines in several files.
fn write(directory: &Path, texts: &[String], files: usize) -> Vec<Doc> {
    fs::create_dir(directory).unwrap();
    let each = texts.len().div_ceil(files).max(1);
    let mut docs = Vec::new();
    for (n, texts) in texts.chunks(each).enumerate() {
        let file = format!("{n}.jsonl");
        let mut lines = String::new();
        for (m, text) in texts.iter().enumerate() {
            let docno = format!("d{}", docs.len());
            lines += &serde_json::json!({"id": docno, "text": text}).to_string();
            lines.push('\n');
            docs.push(Doc {
                docno,
                text: text.clone(),
                file: file.clone(),
                record: m + 1,
            });
        }
        fs::write(directory.join(&file), lines).unwrap();
    }
    docs
}

/// Texts that share runs of words, from a few words or from many.
fn texts(seed: u64) -> Vec<String> {
    let mut random = Random(seed);
    let vocabulary = [2, 3, 12, 60, 1000][random.below(5)];
    let separators: [&str; 7] = [" ", " ", " ", "\n", ", ", ".\n\n", "  "];
    let word = |random: &mut Random| {
        let word = format!("w{}", random.below(vocabulary));
        match random.once_in(5) {
            true => word.to_uppercase(),
            false => word,
        }
    };
    let mut texts: Vec<Vec<String>> = Vec::new();
    for _ in 0..random.below(12) + 2 {
        let mut words: Vec<String> = Vec::new();
        for _ in 0..random.below(6) {
            let length = random.below(40);
            if !texts.is_empty() && random.once_in(2) {
                let from = random.below(texts.len());
                let from = if random.once_in(5) {
                    &words
                } else {
                    &texts[from]
                };
                let at = random.below(from.len().max(1));
                let run: Vec<String> = from.iter().skip(at).take(length).cloned().collect();
                words.extend(run);
            } else if random.once_in(6) {
                // The same few words over and over.
                let period: Vec<String> = (0..random.below(4) + 1)
                    .map(|_| word(&mut random))
                    .collect();
                words.extend(period.iter().cycle().take(length).cloned());
            } else {
                words.extend((0..length).map(|_| word(&mut random)));
            }
        }
        texts.push(words);
    }
    let join = |words: &Vec<String>| {
        let mut text = String::new();
        if random.once_in(3) {
            text += "\n- ";
        }
        for word in words {
            text += word;
            text += *random.pick(&separators[..]);
        }
        text
    };
    texts.iter().map(join).collect()
}

#[test]
fn of_random_texts_those_of_the_definition() {
    for seed in 0..120 {
        let home = common::temporary();
        let input = home.path().join("in");
        let docs = write(&input, &texts(seed), 1 + seed as usize % 3);
        for (n, length) in [1, 2, 3, 5, 13, 50].into_iter().enumerate() {
            if (n as u64 + seed) % 3 != 0 {
                continue;
            }
            let of = if seed % 4 == 0 {
                Of::Representatives
            } else {
                Of::All
            };
            let config = PassagesConfig { length, of };
            let out = home.path().join(format!("out{length}"));
            let run = Run::default().threads(1 + seed as usize % 2);
            drop(run.ingest(&[&input], &out).unwrap());
            let stats = search(&out, &run, &config).unwrap();
            let expected = expected(&docs, &config);
            for (found, expected) in found(&out).iter().zip(&expected) {
                assert_eq!(found, expected, "seed {seed}, {config:?}");
            }
            assert_eq!(stats.spans as usize, expected[0].lines().count() - 1);
        }
    }
}

/// A text of many words, of which parts come again, in a file that several threads read in pieces.
#[test]
fn the_same_bytes_for_any_threads_and_memory() {
    let home = common::temporary();
    let input = home.path().join("in");
    let mut random = Random(3);
    let mut all: Vec<String> = Vec::new();
    for n in 0..300 {
        let mut text = String::new();
        for _ in 0..random.below(400) + 20 {
            let _ = write!(text, "w{} ", random.below(5000));
        }
        if n > 2 {
            let from = &all[random.below(n)];
            let at = random.below(from.len() / 2);
            let at = at + from[at..].find(' ').unwrap_or(0);
            text += &from[at..];
        }
        all.push(text);
    }
    // A giant word, and a document that is larger than a batch.
    all.push("x".repeat(300_000));
    all.push(format!("{} {}", all[7], "y z ".repeat(200_000)));
    let docs = write(&input, &all, 2);
    let config = PassagesConfig {
        length: 13,
        of: Of::All,
    };
    let mut expected = expected(&docs, &config).to_vec();
    for (threads, memory) in [(1, 256), (2, 256), (4, 256), (1, 0), (3, 0)] {
        let run = Run::default()
            .segment_size(64 << 10)
            .threads(threads)
            .memory(memory << 20);
        let out = home.path().join(format!("{threads}-{memory}"));
        let ample = run.clone().memory(256 << 20);
        drop(ample.ingest(&[&input], &out).unwrap());
        let found_in = || found(&out).to_vec();
        if memory > 0 {
            search(&out, &run, &config).unwrap();
        } else {
            let (least, _) =
                common::least_memory(|memory| search(&out, &run.clone().memory(memory), &config));
            assert!(least < 100 << 20, "{}", ByteSize(least));
        }
        let found = found_in();
        for (found, expected) in found.iter().zip(&mut expected) {
            assert!(found == expected, "{threads} threads, {memory} MiB");
        }
    }
}
