//! Reuses are the chains of the definition, and their clusters the components: found by a dynamic
//! programme and by spreading labels. The same bytes for any threads, memory and stops.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::support::{call, passages, refused};
use crate::common::corpus::Random;
use crate::common::{Run, one_in, temporary};
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::cluster::ResultFormat;
use lookalike::engine::pipeline;
use lookalike::tasks::passages::{
    self as search, MatchesConfig, PassagesConfig, ReuseConfig, Then,
};

const FILES: [&str; 4] = [
    "reuse.tsv",
    "reuse-matches.tsv",
    "reuse-clusters.tsv",
    "reuse-places.tsv",
];

/// A document: its words, which single spaces separate, its date, and its address if the record of a
/// capture has it.
pub struct Doc {
    pub words: Vec<String>,
    pub date: Option<String>,
    pub url: Option<String>,
}

impl Doc {
    fn bytes(&self, begin: usize, end: usize) -> String {
        let before: usize = self.words[..begin].iter().map(|word| word.len() + 1).sum();
        let length: usize = self.words[begin..end]
            .iter()
            .map(|word| word.len() + 1)
            .sum();
        format!("{before}\t{}", before + length - 1)
    }

    fn day(&self) -> &str {
        self.date.as_ref().map_or("-", |date| &date[..10])
    }

    /// The last cells of a row, if there are captures.
    fn captured(docs: &[Doc], of: &[usize]) -> String {
        let is_capture = |doc: &&Doc| doc.date.is_some();
        if docs.iter().all(|doc| doc.url.is_none()) || !docs.iter().any(|doc| is_capture(&doc)) {
            return String::new();
        }
        let captures = of.iter().map(|&n| Some(&docs[n]).filter(is_capture));
        let urls = captures.clone().map(|doc| doc?.url.as_deref());
        let dates = captures.map(|doc| doc?.date.as_deref());
        let cells = urls.chain(dates);
        cells
            .map(|cell| format!("\t{}", cell.unwrap_or("")))
            .collect()
    }
}

/// Two documents in the order of their dates or else of the input.
fn in_order(docs: &[Doc], a: usize, b: usize) -> (usize, usize) {
    match (&docs[a].date, &docs[b].date) {
        (Some(of_a), Some(of_b)) if of_b < of_a => (b, a),
        _ => (a, b),
    }
}

/// Where equal runs begin in both documents, and their words.
type Match = (usize, usize, usize);

/// The maximal equal runs of at least `k` words.
fn matches(a: &[String], b: &[String], k: usize) -> Vec<Match> {
    let mut all = Vec::new();
    for i in 0..a.len() {
        for j in 0..b.len() {
            if i > 0 && j > 0 && a[i - 1] == b[j - 1] {
                continue;
            }
            let same = a[i..].iter().zip(&b[j..]);
            let length = same.take_while(|(one, other)| one == other).count();
            if length >= k {
                all.push((i, j, length));
            }
        }
    }
    all
}

/// The best chain: by score, in twentieths, and then by its beginnings.
fn best(all: &[Match], gap: usize) -> Option<(i64, Vec<Match>)> {
    let mut from: Vec<(i64, Vec<Match>)> = Vec::new();
    for &(a, b, length) in all.iter().rev() {
        let mut best = (20 * length as i64, vec![(a, b, length)]);
        for (score, chain) in &from {
            let (next_a, next_b, _) = chain[0];
            let gaps = next_a
                .checked_sub(a + length)
                .zip(next_b.checked_sub(b + length));
            let Some((in_a, in_b)) = gaps.filter(|(in_a, in_b)| *in_a <= gap && *in_b <= gap)
            else {
                continue;
            };
            let score = score + 20 * length as i64 - (in_a + in_b) as i64;
            let chain = [&[(a, b, length)], &chain[..]].concat();
            if (Reverse(score), &chain) < (Reverse(best.0), &best.1) {
                best = (score, chain);
            }
        }
        from.push(best);
    }
    from.into_iter()
        .min_by_key(|(score, chain)| (Reverse(*score), chain.clone()))
}

/// The reuses of two documents, in the order of their beginnings.
fn reuses(a: &Doc, b: &Doc, config: &PassagesConfig) -> Vec<Vec<Match>> {
    let of = config.reuse().unwrap();
    let mut left = matches(&a.words, &b.words, of.match_length as usize);
    let mut found = Vec::new();
    while let Some((_, chain)) = best(&left, of.gap as usize) {
        left.retain(|one| !chain.contains(one));
        let (first, last) = (chain[0], chain[chain.len() - 1]);
        let span = last.2 + (last.0 - first.0).max(last.1 - first.1);
        let tokens: usize = chain.iter().map(|one| one.2).sum();
        let (share, whole) = (of.density.numerator(), of.density.denominator());
        if tokens >= config.length as usize && tokens as u64 * whole >= span as u64 * share {
            found.push(chain);
        }
    }
    found.sort();
    found
}

/// A place: document, beginning and end.
type Place = (usize, usize, usize);

/// The tables by the definitions.
fn expected(docs: &[Doc], config: &PassagesConfig) -> [String; 4] {
    let of = config.reuse().unwrap();
    let most = config.matches.unwrap().max_documents as usize;
    let mut grams: HashMap<&[String], BTreeSet<usize>> = HashMap::new();
    for (n, doc) in docs.iter().enumerate() {
        for gram in doc.words.windows(of.match_length as usize) {
            grams.entry(gram).or_default().insert(n);
        }
    }
    let mut pairs = BTreeSet::new();
    for all in grams.values().filter(|all| all.len() <= most) {
        for &a in all {
            pairs.extend(all.range(a + 1..).map(|&b| in_order(docs, a, b)));
        }
    }
    let mut found: Vec<(usize, usize, Vec<Match>)> = Vec::new();
    for (a, b) in pairs {
        let of_pair = reuses(&docs[a], &docs[b], config);
        found.extend(of_pair.into_iter().map(|chain| (a, b, chain)));
    }
    let mut spans: Vec<(Place, usize)> = Vec::new();
    for (n, (a, b, chain)) in found.iter().enumerate() {
        let (first, last) = (chain[0], chain[chain.len() - 1]);
        spans.push(((*a, first.0, last.0 + last.2), n));
        spans.push(((*b, first.1, last.1 + last.2), n));
    }
    let (place_of, cluster_of) = components(&spans);
    let mut text = [
        "reuse\tcluster\tdocno_a\tdocno_b\tbegin_a\tend_a\tbegin_b\tend_b\ttokens\tdensity\tmatches\
         \tbegin_byte_a\tend_byte_a\tbegin_byte_b\tend_byte_b\tdocument_a\tdocument_b",
        "reuse\tdocno_a\tdocno_b\tbegin_a\tbegin_b\ttokens\tbegin_byte_a\tend_byte_a\tbegin_byte_b\
         \tend_byte_b\tcommon\tdocument_a\tdocument_b",
        "cluster\tplaces\tdocuments\tlongest\tearliest_by\tdate\tdocno\tbegin_token\tend_token\
         \tbegin_byte\tend_byte\tdocument\treuse\ttokens\tdensity",
        "cluster\tdate\tdocno\tbegin_token\tend_token\tbegin_byte\tend_byte\tdocument\treuse\
         \ttokens\tdensity",
    ]
    .map(String::from);
    let are_captures = !Doc::captured(docs, &[0]).is_empty();
    for (n, head) in text.iter_mut().enumerate() {
        *head += match n {
            _ if !are_captures => "\n",
            0 | 1 => "\turl_a\turl_b\tdate_a\tdate_b\n",
            _ => "\turl\tcapture_date\n",
        };
    }
    let mut strengths: Vec<(Reverse<usize>, usize)> = Vec::new();
    // Clusters are numbered in the order of their first reuses.
    let mut numbers: Vec<usize> = Vec::new();
    for (n, (a, b, chain)) in found.iter().enumerate() {
        let root = cluster_of[2 * n];
        let known = numbers.iter().position(|one| *one == root);
        let cluster = known.unwrap_or_else(|| {
            numbers.push(root);
            numbers.len() - 1
        });
        let ((_, begin_a, end_a), (_, begin_b, end_b)) = (spans[2 * n].0, spans[2 * n + 1].0);
        let tokens: usize = chain.iter().map(|one| one.2).sum();
        let span = (end_a - begin_a).max(end_b - begin_b);
        let strength = strength(tokens, span);
        strengths.push((Reverse(tokens), span));
        let _ = writeln!(
            text[0],
            "{n}\t{cluster}\td{a}\td{b}\t{begin_a}\t{end_a}\t{begin_b}\t{end_b}\t{strength}\
             \t{}\t{}\t{}\t{a}\t{b}{}",
            chain.len(),
            docs[*a].bytes(begin_a, end_a),
            docs[*b].bytes(begin_b, end_b),
            Doc::captured(docs, &[*a, *b]),
        );
        for &(i, j, length) in chain {
            let mut own = docs[*a].words[i..i + length].windows(of.match_length as usize);
            let common = u8::from(own.all(|gram| grams[gram].len() > most));
            let (in_a, in_b) = (docs[*a].bytes(i, i + length), docs[*b].bytes(j, j + length));
            let captured = Doc::captured(docs, &[*a, *b]);
            let _ = writeln!(
                text[1],
                "{n}\td{a}\td{b}\t{i}\t{j}\t{length}\t{in_a}\t{in_b}\t{common}\t{a}\t{b}{captured}"
            );
        }
    }
    for (cluster, root) in numbers.iter().enumerate() {
        let own = (0..spans.len()).filter(|n| cluster_of[*n] == *root);
        let mut places: BTreeMap<usize, (Place, usize)> = BTreeMap::new();
        for n in own {
            let (span, reuse) = spans[n];
            let (place, strongest) = places.entry(place_of[n]).or_insert((span, reuse));
            (place.1, place.2) = (place.1.min(span.1), place.2.max(span.2));
            if (strengths[reuse], reuse) < (strengths[*strongest], *strongest) {
                *strongest = reuse;
            }
        }
        let mut places: Vec<(Place, usize)> = places.into_values().collect();
        // A date comes before none.
        places.sort_by_key(|(place, _)| {
            let date = docs[place.0].date.clone();
            (date.is_none(), date, *place)
        });
        let documents: BTreeSet<usize> = places.iter().map(|(place, _)| place.0).collect();
        let longest = places
            .iter()
            .map(|(place, _)| place.2 - place.1)
            .max()
            .unwrap();
        let row = |((document, begin, end), reuse): (Place, usize)| {
            let doc = &docs[document];
            let (day, bytes) = (doc.day(), doc.bytes(begin, end));
            let captured = Doc::captured(docs, &[document]);
            let strength = strength(strengths[reuse].0.0, strengths[reuse].1);
            format!(
                "{day}\td{document}\t{begin}\t{end}\t{bytes}\t{document}\t{reuse}\t{strength}{captured}\n"
            )
        };
        let by = docs[places[0].0.0]
            .date
            .as_ref()
            .map_or("order", |_| "date");
        let counts = format!("{}\t{}\t{longest}\t{by}", places.len(), documents.len());
        text[2] += &format!("{cluster}\t{counts}\t{}", row(places[0]));
        for place in places {
            text[3] += &format!("{cluster}\t{}", row(place));
        }
    }
    text
}

/// Matched tokens, and their share of a span.
fn strength(tokens: usize, span: usize) -> String {
    let millionths = tokens * 1_000_000 / span;
    let (whole, rest) = (millionths / 1_000_000, millionths % 1_000_000);
    format!("{tokens}\t{whole}.{rest:06}")
}

/// The place and the cluster of each span: the least span that belongs to it.
fn components(spans: &[(Place, usize)]) -> (Vec<usize>, Vec<usize>) {
    let same_place = |one: &Place, other: &Place| {
        let overlap = one.2.min(other.2).saturating_sub(one.1.max(other.1));
        let shorter = (one.2 - one.1).min(other.2 - other.1);
        one.0 == other.0 && 2 * overlap >= shorter
    };
    let spread = |linked: &dyn Fn(usize, usize) -> bool| {
        let mut label: Vec<usize> = (0..spans.len()).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for one in 0..spans.len() {
                for other in 0..spans.len() {
                    if linked(one, other) && label[one] > label[other] {
                        label[one] = label[other];
                        changed = true;
                    }
                }
            }
        }
        label
    };
    let at = |n: usize| &spans[n].0;
    let place_of = spread(&|one, other| same_place(at(one), at(other)));
    let linked = |one: usize, other: usize| {
        spans[one].1 == spans[other].1 || place_of[one] == place_of[other]
    };
    (place_of.clone(), spread(&linked))
}

/// Documents of new words and of parts of other documents, in which words are changed, left out and
/// added.
pub fn documents(seed: u64, count: usize, longest: usize) -> Vec<Doc> {
    let mut random = Random(seed);
    let vocabulary = [2, 3, 8, 40, 1000][random.below(5)];
    let noise = random.below(12) + 2;
    let mut docs: Vec<Doc> = Vec::new();
    for _ in 0..count {
        let mut words: Vec<String> = Vec::new();
        for _ in 0..random.below(5) + 1 {
            let length = random.below(longest);
            if docs.is_empty() || random.once_in(3) {
                let word = |random: &mut Random| format!("w{}", random.below(vocabulary));
                words.extend((0..length).map(|_| word(&mut random)));
                continue;
            }
            let from = &docs[random.below(docs.len())].words;
            let at = random.below(from.len().max(1));
            for word in from.iter().skip(at).take(length) {
                match random.below(3 * noise) {
                    0 => words.push(format!("w{}", random.below(vocabulary))),
                    1 => {}
                    2 => words.extend([word.clone(), format!("w{}", random.below(vocabulary))]),
                    _ => words.push(word.clone()),
                }
            }
        }
        let mut date = format!("18{:02}-03-0{}", random.below(3) + 70, random.below(2) + 1);
        if random.once_in(2) {
            let _ = write!(date, "T0{}:00:00Z", random.below(3) + 1);
        }
        let date = Some(date).filter(|_| !random.once_in(3));
        let url = None;
        docs.push(Doc { words, date, url });
    }
    docs
}

/// Writes documents as JSON, and those with addresses as records of WARC.
pub fn write(docs: &[Doc], to: &Path, files: usize) {
    fs::create_dir(to).unwrap();
    let each = docs.len().div_ceil(files);
    let numbered: Vec<_> = docs.iter().enumerate().collect();
    for (n, docs) in numbered.chunks(each).enumerate() {
        if docs.iter().any(|(_, doc)| doc.url.is_some()) {
            let records = docs.iter().map(|(number, doc)| record(*number, doc));
            fs::write(to.join(format!("{n}.warc")), records.collect::<String>()).unwrap();
            continue;
        }
        let line = |(number, doc): &(usize, &Doc)| {
            let (id, text) = (format!("d{number}"), doc.words.join(" "));
            match &doc.date {
                Some(date) => serde_json::json!({"id": id, "date": date, "text": text}),
                None => serde_json::json!({"id": id, "text": text}),
            }
        };
        let lines = docs.iter().map(|doc| line(doc).to_string() + "\n");
        fs::write(to.join(format!("{n}.jsonl")), lines.collect::<String>()).unwrap();
    }
}

/// A capture, or without a date a record that is none.
fn record(number: usize, doc: &Doc) -> String {
    let (text, url) = (doc.words.join(" "), doc.url.as_deref().unwrap_or_default());
    let date = doc.date.iter().map(|date| format!("WARC-Date: {date}\r\n"));
    // The server's clock is of no account.
    let block = format!(
        "HTTP/1.1 200 OK\r\nDate: Mon, 01 Jan 1990 00:00:0{} GMT\r\nContent-Type: text/plain\r\n\r\n{text}",
        number % 10
    );
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\n{}WARC-Target-URI: {url}\r\nWARC-TREC-ID: d{number}\r\n\
         WARC-Record-ID: <urn:uuid:{number}>\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        date.collect::<String>(),
        block.len()
    )
}

/// A table without its comments.
fn table(out: &Path, name: &str) -> String {
    let text = fs::read_to_string(out.join(name)).unwrap();
    let lines = text.lines().skip_while(|line| line.starts_with('#'));
    lines.map(|line| line.to_string() + "\n").collect()
}

/// Makes captures of documents, some of the same pages.
pub fn addressed(docs: &mut [Doc]) {
    for (n, doc) in docs.iter_mut().enumerate() {
        doc.url = Some(format!("http://e.org/{}", n % 5));
    }
}

fn compare(docs: &[Doc], random: &mut Random, seed: u64) -> usize {
    let home = temporary();
    let (input, out) = (home.path().join("in"), home.path().join("out"));
    write(docs, &input, 1 + random.below(3));
    let match_length = random.below(4) as u32 + 1;
    let density = ["0.5", "1", "0.8", "1/3", "0.05"][random.below(5)];
    let config = PassagesConfig {
        length: match_length + random.below(12) as u32,
        matches: Some(MatchesConfig {
            max_documents: [2, 100][random.below(2)],
            reuse: Some(ReuseConfig {
                gap: [1, 2, 5, 20, 1000][random.below(5)],
                match_length,
                density: density.parse().unwrap(),
            }),
        }),
        results: if seed.is_multiple_of(8) {
            ResultFormat::Parquet
        } else {
            ResultFormat::Tsv
        },
        ..PassagesConfig::default()
    };
    let run = Run::default().threads(1 + random.below(2));
    drop(run.ingest(&[&input], &out).unwrap());
    let mut workspace = pipeline::open(&out).unwrap();
    let stop = Stop::default();
    let context = run.context(&stop, &Silent);
    let stats = search::run(&mut workspace, &config, Then::End, &context).unwrap();
    let expected = expected(docs, &config);
    for (name, expected) in FILES.iter().zip(&expected) {
        assert_eq!(
            &table(&out, name),
            expected,
            "{name}, seed {seed}, {config:?}"
        );
    }
    assert_eq!(stats.reuses as usize, expected[0].lines().count() - 1);
    assert_eq!(
        stats.reuse_clusters as usize,
        expected[2].lines().count() - 1
    );
    assert!(!out.join("matches.tsv").exists());
    assert_eq!(out.join("reuse.parquet").exists(), seed.is_multiple_of(8));
    stats.reuses as usize
}

#[test]
fn of_random_pairs_those_of_the_definition() {
    let mut found = 0;
    for seed in 0..200 / one_in(4) as u64 {
        let mut random = Random(seed + 1000);
        let mut docs = documents(seed, 2, 30);
        if seed.is_multiple_of(3) {
            addressed(&mut docs);
        }
        found += compare(&docs, &mut random, seed);
    }
    assert!(found > 20, "{found}");
}

#[test]
fn of_random_collections_those_of_the_definition() {
    let mut found = 0;
    for seed in 0..20 / one_in(2) as u64 {
        let mut random = Random(seed + 5000);
        let mut docs = documents(seed + 300, 12, 20);
        if seed.is_multiple_of(2) {
            addressed(&mut docs);
        }
        found += compare(&docs, &mut random, seed);
    }
    assert!(found > 20, "{found}");
}

/// The tables of reuses, as bytes.
fn bytes(out: &Path) -> Vec<Vec<u8>> {
    FILES
        .iter()
        .map(|name| fs::read(out.join(name)).unwrap())
        .collect()
}

const GAPS: &str = "--length 10 --gap 15 --match-length 3 --density 0.4";

#[test]
fn the_same_bytes_for_any_threads_memory_and_stops() {
    let home = temporary();
    let at = home.path();
    write(&documents(77, 60, 150), &at.join("in"), 7);
    let found = passages(at, &format!("in -o one {GAPS} --threads 1"));
    assert!(found["reuses"].as_u64().unwrap() > 10, "{found}");
    let expected = bytes(&at.join("one"));
    passages(
        at,
        &format!("in -o two {GAPS} --threads 2 --memory 96MiB --max-document 64KiB"),
    );
    // The header states the largest document.
    for (name, expected) in FILES.iter().zip(&expected) {
        let rows = |text: &[u8]| String::from_utf8(text.to_vec()).unwrap();
        assert!(
            rows(expected).ends_with(&table(&at.join("two"), name)),
            "{name}"
        );
    }
    #[cfg(feature = "faults")]
    for (n, on) in ["passages:+matches", "passages:+spans"].iter().enumerate() {
        let command = format!("in -o stop{n} {GAPS} --threads 1");
        let faults = format!("op=point on={on} do=kill; do=items:500");
        assert_eq!(call(at, &command, Some(&faults)).code, None);
        assert_eq!(call(at, &format!("{command} --quiet"), None).code, Some(0));
        assert_eq!(bytes(&at.join(format!("stop{n}"))), expected, "{on}");
    }
}

/// Words that occur nowhere else.
fn words(name: &str, n: usize) -> String {
    (0..n).map(|at| format!("{name}{at} ")).collect()
}

#[test]
fn a_search_with_gaps_and_without() {
    let home = temporary();
    let at = home.path();
    fs::create_dir(at.join("in")).unwrap();
    let put = |name: &str, text: String| fs::write(at.join("in").join(name), text).unwrap();
    let [one, two, three] = ["p", "q", "r"].map(|name| words(name, 9));
    put("a.txt", format!("{one}{}{two}x y {three}", words("a", 4)));
    put(
        "b.txt",
        format!("{}{one}{two}{}{three}", words("b", 30), words("c", 6)),
    );
    let template = words("c", 6);
    fs::write(at.join("template.txt"), template.repeat(3)).unwrap();
    passages(at, "in -o plain --length 27");
    let plain = fs::read(at.join("plain/matches.tsv")).unwrap();
    passages(at, "in -o zero --length 27 --gap 0");
    assert_eq!(fs::read(at.join("zero/matches.tsv")).unwrap(), plain);
    let found = passages(at, "in -o out --length 27 --gap 6");
    assert_eq!(
        (&found["reuses"], &found["matches"]),
        (&1.into(), &3.into())
    );
    let row = "0\t0\ta.txt\tb.txt\t0\t33\t30\t63\t27\t0.818181\t3\t";
    assert!(table(&at.join("out"), "reuse.tsv").contains(row));
    // Flags of the last search are kept, and its files are not.
    let ran = call(at, "out --length 28", None);
    assert!(
        ran.stderr.contains("gap 6, match-length 8, density 0.5"),
        "{ran:?}"
    );
    assert!(!at.join("out/matches.tsv").exists());
    assert_eq!(
        passages(at, "out --length 27 --gap 5")["reuses"],
        serde_json::Value::Null
    );
    // Excluded words are in no gap.
    let excluded = "--exclude-text template.txt --shingle-size 6";
    let found = passages(
        at,
        &format!("in -o excluded --length 27 --gap 4 {excluded}"),
    );
    assert_eq!(found["reuses"], 1);
    let row = "0\t0\ta.txt\tb.txt\t0\t33\t30\t63\t27\t0.818181\t3\t";
    assert!(table(&at.join("excluded"), "reuse.tsv").contains(row));
    // The page shows them with their gaps.
    let ran = call(at, "out --gap 6 --report --quiet", None);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let page = fs::read_to_string(at.join("out/report.html")).unwrap();
    assert!(
        page.contains(" in a stretch of 33 in the first document and 33 in the second"),
        "{page}"
    );
    assert!(
        page.contains("with gaps of at most 6") && !page.contains("not shown here"),
        "{page}"
    );
    // So are those on which a flag depends.
    passages(at, "out --density 0.9");
    let rows = fs::read_to_string(at.join("out/reuse.tsv")).unwrap();
    assert!(
        rows.contains("# gap: 6\n") && rows.contains("# density: 0.9\n"),
        "{rows}"
    );
    passages(at, "out --gap 0 --length 9");
    assert!(!at.join("out/reuse.tsv").exists() && at.join("out/matches.tsv").exists());
    for (flags, said) in [
        ("--gap 10001", "0 to 10000 tokens"),
        ("--gap 5 --match-length 51", "1 to 50 tokens"),
        ("--gap 5 --density 0", "not a threshold"),
        ("--density 0.5", "--gap"),
        ("--gap 5 --remove", "--remove"),
    ] {
        let refused = refused(at, &format!("in -o bad {flags}"));
        assert!(refused.contains(said), "{flags}: {refused}");
    }
}
