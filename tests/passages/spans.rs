//! The spans of a collection are those of the definition, on real and on random texts, and the same
//! bytes for any threads, memory and cut of the input.

use crate::common::corpus::Random;
use crate::common::{self, Run, one_in};
use lookalike::Error;
use lookalike::base::budget::ByteSize;
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::cluster::ResultFormat;
use lookalike::engine::pipeline;
use lookalike::tasks::passages::{
    self, BoilerplateConfig, By, MatchesConfig, Of, PassagesConfig, Stats, Then,
};

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
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

type Words = Vec<(Range<usize>, String)>;

fn takes_part(words: &[Words], config: &PassagesConfig) -> Vec<bool> {
    let mut seen = HashSet::new();
    let new = |words: &Words| {
        let all: Vec<&str> = words.iter().map(|(_, word)| word.as_str()).collect();
        // A document without words duplicates nothing.
        all.is_empty() || seen.insert(all.join(" ")) || config.of == Of::All
    };
    words.iter().map(new).collect()
}

/// The places of each k-gram: document and token.
fn places<'w>(
    words: &'w [Words],
    takes_part: &[bool],
    k: usize,
) -> HashMap<Vec<&'w str>, Vec<(usize, usize)>> {
    let mut places: HashMap<_, Vec<_>> = HashMap::new();
    for (n, of) in words.iter().enumerate().filter(|(n, _)| takes_part[*n]) {
        for (at, window) in of.windows(k).enumerate() {
            let gram: Vec<&str> = window.iter().map(|(_, word)| word.as_str()).collect();
            places.entry(gram).or_default().push((n, at));
        }
    }
    places
}

/// matches.tsv, overlaps.tsv, common.tsv and common-places.tsv by the definitions.
fn expected_matches(docs: &[Doc], config: &PassagesConfig) -> [String; 4] {
    let k = config.length as usize;
    let most = config.matches.unwrap().max_documents as usize;
    let words: Vec<_> = docs.iter().map(|doc| words(&doc.text)).collect();
    let takes_part = takes_part(&words, config);
    let places = places(&words, &takes_part, k);
    // The first place of the k-gram at a place, and the number of its documents.
    let mut of: HashMap<(usize, usize), ((usize, usize), usize)> = HashMap::new();
    let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
    for all in places.values().filter(|all| all.len() > 1) {
        let documents: BTreeSet<usize> = all.iter().map(|(n, _)| *n).collect();
        for &place in all {
            of.insert(place, (all[0], documents.len()));
        }
        if documents.len() <= most {
            for &a in &documents {
                pairs.extend(documents.range(a + 1..).map(|&b| (a, b)));
            }
        }
    }
    let bytes = |n: usize, begin: usize, tokens: usize| {
        let (first, last) = (&words[n][begin].0, &words[n][begin + tokens - 1].0);
        format!("{}\t{}", first.start, last.end)
    };
    let mut matches = "docno_a\tdocno_b\tbegin_a\tbegin_b\ttokens\tbegin_byte_a\tend_byte_a\
                       \tbegin_byte_b\tend_byte_b\tcommon\tdocument_a\tdocument_b\n"
        .to_string();
    let mut overlaps = "docno_a\tdocno_b\tmatches\tlongest\ttokens_a\tshare_a\ttokens_b\tshare_b\
                        \tdocument_a\tdocument_b\n"
        .to_string();
    for (a, b) in pairs {
        let (of_a, of_b) = (&words[a], &words[b]);
        let same = |i: usize, j: usize| of_a[i].1 == of_b[j].1;
        let (mut count, mut longest) = (0, 0);
        let (mut in_a, mut in_b) = (vec![false; of_a.len()], vec![false; of_b.len()]);
        for i in 0..of_a.len() {
            for j in 0..of_b.len() {
                if i > 0 && j > 0 && same(i - 1, j - 1) {
                    continue;
                }
                let ends = (of_a.len() - i).min(of_b.len() - j);
                let tokens = (0..ends).take_while(|n| same(i + n, j + n)).count();
                if tokens < k {
                    continue;
                }
                count += 1;
                longest = longest.max(tokens);
                in_a[i..i + tokens].fill(true);
                in_b[j..j + tokens].fill(true);
                let common = (0..=tokens - k).all(|n| of[&(a, i + n)].1 > most);
                let _ = writeln!(
                    matches,
                    "{}\t{}\t{i}\t{j}\t{tokens}\t{}\t{}\t{}\t{a}\t{b}",
                    docs[a].docno,
                    docs[b].docno,
                    bytes(a, i, tokens),
                    bytes(b, j, tokens),
                    usize::from(common)
                );
            }
        }
        let part = |marks: &[bool]| {
            let covered = marks.iter().filter(|mark| **mark).count();
            let millionths = covered * 1_000_000 / marks.len();
            format!(
                "{covered}\t{}.{:06}",
                millionths / 1_000_000,
                millionths % 1_000_000
            )
        };
        let _ = writeln!(
            overlaps,
            "{}\t{}\t{count}\t{longest}\t{}\t{}\t{a}\t{b}",
            docs[a].docno,
            docs[b].docno,
            part(&in_a),
            part(&in_b)
        );
    }
    let [common, all] = shared(docs, config, most, None);
    [matches, overlaps, common, all]
}

/// The group of a document, and how many passages are listed.
type Groups<'g> = (&'g dyn Fn(&Doc) -> String, usize);

/// The passages of which each k-gram is in more than `most` documents, and their places: common.tsv
/// and common-places.tsv; or, with groups, in more than `most` of these: boilerplate.tsv and
/// boilerplate-places.tsv.
fn shared(
    docs: &[Doc],
    config: &PassagesConfig,
    most: usize,
    groups: Option<Groups<'_>>,
) -> [String; 2] {
    let k = config.length as usize;
    let words: Vec<_> = docs.iter().map(|doc| words(&doc.text)).collect();
    let takes_part = takes_part(&words, config);
    let places = places(&words, &takes_part, k);
    let group = |n: usize| match groups {
        Some((group, _)) => group(&docs[n]),
        None => n.to_string(),
    };
    // The first place of the k-gram at a place, and the number of its documents or groups.
    let mut of: HashMap<(usize, usize), ((usize, usize), usize)> = HashMap::new();
    for all in places.values().filter(|all| all.len() > 1) {
        let counted: BTreeSet<String> = all.iter().map(|(n, _)| group(*n)).collect();
        for &place in all {
            of.insert(place, (all[0], counted.len()));
        }
    }
    let bytes = |n: usize, begin: usize, tokens: usize| {
        let (first, last) = (&words[n][begin].0, &words[n][begin + tokens - 1].0);
        first.start..last.end
    };
    let is_common = |place: (usize, usize)| {
        let found = of.get(&place);
        found.is_some_and(|(first, counted)| *first == place && *counted > most)
    };
    let mut passages: Vec<(usize, Range<usize>)> = Vec::new();
    let mut firsts: Vec<_> = of
        .keys()
        .copied()
        .filter(|place| is_common(*place))
        .collect();
    firsts.sort_unstable();
    for (n, at) in firsts {
        match passages.last_mut() {
            Some((of, run)) if *of == n && run.end == at => run.end += 1,
            _ => passages.push((n, at..at + 1)),
        }
    }
    let counted =
        |n: usize, run: &Range<usize>| run.clone().map(|at| of[&(n, at)].1).max().unwrap();
    if let Some((_, top)) = groups {
        passages.sort_by_key(|(n, run)| (Reverse(counted(*n, run)), Reverse(run.len())));
        passages.truncate(top);
    }
    let columns = "docno\tbegin_token\tend_token\tbegin_byte\tend_byte\tdocument";
    let (mut common, mut all) = match groups {
        None => (
            format!("passage\ttokens\tdocuments\tplaces\t{columns}\n"),
            format!("passage\t{columns}\n"),
        ),
        Some(_) => (
            format!("passage\ttokens\tgroups\tplaces\t{columns}\ttext\n"),
            format!("passage\tgroup\t{columns}\n"),
        ),
    };
    for (number, (n, run)) in passages.iter().enumerate() {
        let mut found: Vec<(usize, usize, usize, usize)> = Vec::new();
        for (m, of_m) in words.iter().enumerate() {
            for at in 0..of_m.len() {
                let Some(&((first, token), _)) = of.get(&(m, at)) else {
                    continue;
                };
                if first != *n || !run.contains(&token) {
                    continue;
                }
                match found.last_mut() {
                    Some((d, begin, from, count))
                        if *d == m && *begin + *count == at && *from + *count == token =>
                    {
                        *count += 1;
                    }
                    _ => found.push((m, at, token, 1)),
                }
            }
        }
        let tokens = run.len() - 1 + k;
        let range = bytes(*n, run.start, tokens);
        let _ = write!(
            common,
            "{number}\t{tokens}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{n}",
            counted(*n, run),
            found.len(),
            docs[*n].docno,
            run.start,
            run.start + tokens,
            range.start,
            range.end
        );
        if groups.is_some() {
            let _ = write!(
                common,
                "\t{}",
                lookalike::store::cell(&docs[*n].text[range])
            );
        }
        common.push('\n');
        for (m, at, _, count) in found {
            let tokens = count - 1 + k;
            let range = bytes(m, at, tokens);
            let group = match groups {
                Some(_) => format!("{}\t", group(m)),
                None => String::new(),
            };
            let _ = writeln!(
                all,
                "{number}\t{group}{}\t{at}\t{}\t{}\t{}\t{m}",
                docs[m].docno,
                at + tokens,
                range.start,
                range.end
            );
        }
    }
    [common, all]
}

/// The first three files by the definitions, without their comments.
fn expected(docs: &[Doc], config: &PassagesConfig) -> [String; 3] {
    let k = config.length as usize;
    let words: Vec<_> = docs.iter().map(|doc| words(&doc.text)).collect();
    let takes_part = takes_part(&words, config);
    let places = places(&words, &takes_part, k);
    let columns =
        "begin_token\tend_token\tbegin_byte\tend_byte\tbegin_line\tend_line\tfile\trecord";
    let mut spans = format!("docno\t{columns}\n");
    let mut removable = spans.clone();
    let mut coverage = "docno\ttokens\trepeated_tokens\tremovable_tokens\tspans\tlongest\tbytes\
                        \trepeated_bytes\tfile\trecord\tdocument\n"
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
            "{docno}\t{}\t{}\t{}\t{}\t{}\t{}\t{bytes}\t{file}\t{record}\t{n}",
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

/// The files that there are, without their comments.
fn found(out: &Path) -> Vec<String> {
    let files = passages::FILES.iter();
    let texts = files.filter_map(|name| fs::read_to_string(out.join(name)).ok());
    texts
        .map(|text| {
            let lines = text.lines().skip_while(|line| line.starts_with('#'));
            lines.fold(String::new(), |all, line| all + line + "\n")
        })
        .collect()
}

/// All files by the definitions.
fn expected_all(docs: &[Doc], config: &PassagesConfig) -> Vec<String> {
    let mut files = expected(docs, config).to_vec();
    if config.matches.is_some() {
        files.extend(expected_matches(docs, config));
    }
    if let Some(boilerplate) = &config.boilerplate {
        let group = |doc: &Doc| match &boilerplate.by {
            By::Field(_) => (doc.record % 3).to_string(),
            _ => doc.file.clone(),
        };
        files.extend(shared(
            docs,
            config,
            1,
            Some((&group, boilerplate.top as usize)),
        ));
    }
    files
}

/// The rows of a table as the text file has them.
fn rows(path: &Path) -> String {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let reader = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let names = schema.columns().iter().map(|column| column.name());
    let mut text = names.collect::<Vec<_>>().join("\t") + "\n";
    for row in reader.get_row_iter(None).unwrap() {
        let cells = row.unwrap();
        let cells = cells.get_column_iter().map(|(name, field)| match field {
            parquet::record::Field::Str(text) => lookalike::store::cell(text).into_owned(),
            parquet::record::Field::Double(share) => format!("{share:.6}"),
            parquet::record::Field::Long(number) => number.to_string(),
            parquet::record::Field::Null => "-".into(),
            other => panic!("{name}: {other:?}"),
        });
        text += &(cells.collect::<Vec<_>>().join("\t") + "\n");
    }
    text
}

fn search(out: &Path, run: &Run, config: &PassagesConfig) -> Result<Stats, Error> {
    let mut workspace = pipeline::open(out)?;
    let stop = Stop::default();
    let context = run.context(&stop, &Silent);
    passages::run(&mut workspace, config, Then::End, &context)
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
            let kind = (m + 1) % 3;
            lines += &serde_json::json!({"id": docno, "kind": kind, "text": text}).to_string();
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
    for seed in 0..200 / one_in(5) as u64 {
        let home = common::temporary();
        let input = home.path().join("in");
        let docs = write(&input, &texts(seed), 1 + seed as usize % 3);
        for (n, length) in [1, 2, 3, 5, 13, 50].into_iter().enumerate() {
            if !(n as u64 + seed).is_multiple_of(3) {
                continue;
            }
            let of = if seed % 4 == 0 {
                Of::Representatives
            } else {
                Of::All
            };
            let matches = Some(MatchesConfig {
                max_documents: [2, 3, 100][seed as usize % 3],
                reuse: None,
            });
            let config = PassagesConfig {
                units: None,
                excluded: None,
                condition: None,
                length,
                of,
                matches,
                boilerplate: Some(BoilerplateConfig {
                    by: match seed % 2 {
                        0 => By::Source,
                        _ => By::Field("kind".into()),
                    },
                    top: [1, 3, 1000][seed as usize % 3],
                }),
                results: match seed % 8 {
                    0 => ResultFormat::Parquet,
                    _ => ResultFormat::Tsv,
                },
            };
            let out = home.path().join(format!("out{length}"));
            let run = Run::default().threads(1 + seed as usize % 2);
            drop(run.ingest(&[&input], &out).unwrap());
            let stats = search(&out, &run, &config).unwrap();
            let expected = expected_all(&docs, &config);
            let found = found(&out);
            assert_eq!(found.len(), 9);
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found, expected, "seed {seed}, {config:?}");
            }
            assert_eq!(stats.matches as usize, expected[3].lines().count() - 1);
            if config.results == ResultFormat::Parquet {
                for (name, expected) in passages::FILES.iter().zip(&expected) {
                    let path = out.join(name.replace(".tsv", ".parquet"));
                    assert_eq!(&rows(&path), expected, "{name}");
                }
            }
            assert_eq!(stats.spans as usize, expected[0].lines().count() - 1);
        }
    }
}

/// Many short documents of a few words, so that most k-grams are in several documents, and runs of
/// k-grams in many documents begin and end side by side.
#[test]
fn documents_of_the_same_few_words() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let vocabulary = random.below(6) + 1;
        let longest = random.below(12) + 2;
        let texts: Vec<String> = (0..random.below(30) + 3)
            .map(|_| {
                let words = 0..random.below(longest);
                words.fold(String::new(), |text, _| {
                    text + &format!("w{} ", random.below(vocabulary))
                })
            })
            .collect();
        let home = common::temporary();
        let input = home.path().join("in");
        let docs = write(&input, &texts, 1 + seed as usize % 3);
        let out = home.path().join("out");
        let run = Run::default();
        drop(run.ingest(&[&input], &out).unwrap());
        for length in [1, 2, 4] {
            let config = PassagesConfig {
                units: None,
                excluded: None,
                condition: None,
                length,
                of: Of::All,
                matches: Some(MatchesConfig {
                    max_documents: [2, 3, 5, 9, 20, u32::MAX][random.below(6)],
                    reuse: None,
                }),
                boilerplate: Some(BoilerplateConfig {
                    by: [By::Source, By::Field("kind".into())][random.below(2)].clone(),
                    top: [2, 1000][random.below(2)],
                }),
                results: ResultFormat::Tsv,
            };
            search(&out, &run, &config).unwrap();
            let expected = expected_all(&docs, &config);
            assert_eq!(found(&out), expected, "seed {seed}, {config:?}");
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
        units: None,
        excluded: None,
        condition: None,
        length: 13,
        of: Of::All,
        matches: Some(MatchesConfig {
            max_documents: 3,
            reuse: None,
        }),
        boilerplate: None,
        results: ResultFormat::Tsv,
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
        assert_eq!(found.len(), 7);
        // The oracle would take minutes for the others.
        let known = expected.len();
        expected.extend(found.iter().skip(known).cloned());
        for (found, expected) in found.iter().zip(&mut expected) {
            assert!(found == expected, "{threads} threads, {memory} MiB");
        }
    }
}

/// A document with more ranges, in one span and in many, than are worked on at once.
#[test]
fn documents_of_very_many_ranges() {
    let home = common::temporary();
    let input = home.path().join("in");
    let count = 100_000;
    // `a` between words that come again later, and words of which every second one comes again.
    let first: String = (0..count).map(|n| format!("x{n} a\n")).collect();
    let second: String = (0..count).map(|n| format!("x{n} y{n}\n")).collect();
    let docs = write(&input, &[first, second], 1);
    let out = home.path().join("out");
    let run = Run::default().max_document(8 << 20);
    drop(run.ingest(&[&input], &out).unwrap());
    let config = PassagesConfig {
        length: 1,
        matches: None,
        ..PassagesConfig::default()
    };
    let stats = search(&out, &run, &config).unwrap();
    assert_eq!(stats.spans, 1 + count);
    let columns =
        "docno\tbegin_token\tend_token\tbegin_byte\tend_byte\tbegin_line\tend_line\tfile\trecord\n";
    let (mut spans, mut removable) = (columns.to_string(), columns.to_string());
    let end = docs[0].text.len() - 1;
    let _ = writeln!(
        spans,
        "d0\t0\t{}\t0\t{end}\t1\t{count}\t0.jsonl\t1",
        2 * count
    );
    for (n, doc) in docs.iter().enumerate() {
        let mut begin = 0;
        for (line, text) in doc.text.lines().enumerate() {
            let word = text.find(' ').unwrap();
            let (token, from, to) = match n {
                0 => (2 * line + 1, begin + word + 1, begin + text.len()),
                _ => (2 * line, begin, begin + word),
            };
            begin += text.len() + 1;
            let row = format!(
                "d{n}\t{token}\t{}\t{from}\t{to}\t{l}\t{l}\t0.jsonl\t{}\n",
                token + 1,
                n + 1,
                l = line + 1
            );
            if n == 1 {
                spans += &row;
            }
            // The first `a` stays.
            if (n, line) != (0, 0) {
                removable += &row;
            }
        }
    }
    let found = found(&out);
    assert!(found[0] == spans);
    assert!(found[1] == removable);
}

/// Many passages of boilerplate have as much memory as they need, or say how much that is.
#[test]
fn many_passages_of_boilerplate_need_memory() {
    let home = common::temporary();
    let input = home.path().join("in");
    let count = 4000;
    let text = |own: &str| (0..count).map(|n| format!("x{n} {own}{n}\n")).collect();
    let texts: Vec<String> = ["a", "b", "c", "d"].map(text).into();
    write(&input, &texts, 1);
    let out = home.path().join("out");
    let run = Run::default();
    drop(run.ingest(&[&input], &out).unwrap());
    let found_with = |top: u32| {
        let config = PassagesConfig {
            length: 1,
            matches: None,
            boilerplate: Some(BoilerplateConfig {
                by: By::Field("kind".into()),
                top,
            }),
            ..PassagesConfig::default()
        };
        common::least_memory(|memory| search(&out, &run.clone().memory(memory), &config))
    };
    let (of_one, stats) = found_with(1);
    assert_eq!(stats.boilerplate, count);
    let (of_all, stats) = found_with(u32::MAX);
    assert_eq!(stats.boilerplate, count);
    // An eighth of it has the text of each.
    assert!(
        of_all > of_one + (48 << 20),
        "{}, {}",
        ByteSize(of_one),
        ByteSize(of_all)
    );
}

/// A refusal for the names of groups says how much memory is enough for them.
#[test]
fn many_groups_need_memory() {
    let home = common::temporary();
    let input = home.path().join("in.jsonl");
    let long = "x".repeat(1000);
    let line = |n: u32| {
        let text = "the same words that every one of the documents has in common";
        format!("{{\"id\":{n},\"text\":\"{text}\",\"site\":\"{n}{long}\"}}\n")
    };
    fs::write(&input, (0..3000).map(line).collect::<String>()).unwrap();
    let out = home.path().join("out");
    let run = Run::default();
    drop(run.ingest(&[&input], &out).unwrap());
    let config = PassagesConfig {
        length: 5,
        matches: None,
        boilerplate: Some(BoilerplateConfig {
            by: By::Field("site".into()),
            top: 3,
        }),
        ..PassagesConfig::default()
    };
    let ask = |memory: u64| search(&out, &run.clone().memory(memory), &config);
    let refused = |memory: u64| match ask(memory) {
        Err(Error::BudgetTooSmall { least, what, .. }) => (least, what),
        other => panic!("with {memory} bytes: {other:?}"),
    };
    let (begin, _) = refused(1 << 20);
    let (least, what) = refused(begin.0);
    assert!(
        what.contains("the names of up to 3,000 groups by field:site"),
        "{what}"
    );
    // Eight times their bytes, of which some were there.
    assert!(least.0 - begin.0 < 3000 * 2200 * 8, "{begin}, {least}");
    assert_eq!(ask(least.0).unwrap().boilerplate, 1);
}

/// The peak memory of a call of `passages`, and whether it succeeded.
#[cfg(target_os = "linux")]
fn peak(out: &Path, arguments: &[&str]) -> (u64, std::process::Output) {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .arg("passages")
        .arg(out)
        .args(["--quiet", "--threads", "1"])
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(&status).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or(0) << 10);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    (peak, child.wait_with_output().unwrap())
}

/// Neither the places of a k-gram nor the repeats of a document take memory beyond the budget.
#[cfg(target_os = "linux")]
#[test]
fn a_word_repeated_millions_of_times_takes_no_more_memory() {
    let home = common::temporary();
    let input = home.path().join("in");
    write(&input, &["a ".repeat(4_000_000)], 1);
    let out = home.path().join("out");
    let run = Run::default().max_document(8 << 20);
    drop(run.ingest(&[&input], &out).unwrap());
    let (_, refused) = peak(&out, &["--memory", "1MiB"]);
    let message = String::from_utf8(refused.stderr).unwrap();
    let least = message.split("give --memory ").nth(1).unwrap();
    let least = least.split_whitespace().next().unwrap();
    let mib: u64 = least.trim_end_matches("MiB").parse().unwrap();
    let (peak, done) = peak(&out, &["--memory", least, "--length", "5"]);
    assert!(done.status.success(), "{done:?}");
    let most = mib + 16;
    assert!(peak > 0 && peak < most << 20, "{} of {mib} MiB", peak >> 20);
}

/// Two documents that repeat a word have a match for every pair of places.
#[test]
fn pairs_with_too_many_matches_are_counted() {
    let home = common::temporary();
    let input = home.path().join("in");
    let texts = [
        "a ".repeat(3000),
        format!("b c d e f {}", "a ".repeat(2000)),
        "g b c d e f h".to_string(),
    ];
    write(&input, &texts, 1);
    let out = home.path().join("out");
    let run = Run::default();
    drop(run.ingest(&[&input], &out).unwrap());
    let config = PassagesConfig {
        length: 5,
        ..PassagesConfig::default()
    };
    let stats = search(&out, &run, &config).unwrap();
    assert_eq!(
        (stats.pairs, stats.unlisted_pairs, stats.matches),
        (2, 1, 1)
    );
    let overlaps = &found(&out)[4];
    let lines: Vec<&str> = overlaps.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "d0\td1\t-\t-\t3000\t1.000000\t2000\t0.997506\t0\t1",
            "d1\td2\t1\t5\t5\t0.002493\t5\t0.714285\t1\t2"
        ]
    );
    // Only the matches of the second pair are listed.
    assert_eq!(found(&out)[3].lines().count(), 2);
    // A later search leaves no file of an earlier one.
    let config = PassagesConfig {
        matches: None,
        ..config
    };
    search(&out, &run, &config).unwrap();
    assert_eq!(found(&out).len(), 3);
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let home = common::temporary();
    let input = home.path().join("in");
    write(&input, &["a b c".to_string()], 1);
    let run = Run::default();
    for (tokens, length, name) in [
        ("words", 0, "length"),
        ("words", 501, "length"),
        ("bytes:5", 50, "tokens"),
    ] {
        let out = home.path().join(format!("{tokens}-{length}"));
        let run = run.clone().tokens(tokens);
        drop(run.ingest(&[&input], &out).unwrap());
        let config = PassagesConfig {
            length,
            ..PassagesConfig::default()
        };
        match search(&out, &run, &config) {
            Err(Error::BadParameter { name: found, .. }) => assert_eq!(found, name),
            other => panic!("{other:?}"),
        }
    }
    // The input must be what was read.
    let out = home.path().join("out");
    drop(run.ingest(&[&input], &out).unwrap());
    fs::write(
        input.join("0.jsonl"),
        "{\"id\": \"d0\", \"text\": \"a b d\"}\n",
    )
    .unwrap();
    let error = search(&out, &run, &PassagesConfig::default()).unwrap_err();
    assert!(matches!(error, Error::InputChanged { .. }), "{error}");
    for name in passages::FILES {
        assert!(!out.join(name).exists(), "{name}");
    }
}
