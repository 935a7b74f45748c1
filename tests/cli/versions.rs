//! `export versions`, against versions by the definition.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

use lookalike::base::random::Random;
use serde_json::{Value, json};

use crate::common;

fn lookalike(place: &Path, arguments: &str) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_lookalike"));
    program
        .current_dir(place)
        .args(arguments.split(' '))
        .output()
        .unwrap()
}

fn done(place: &Path, arguments: &str) -> String {
    let output = lookalike(place, arguments);
    assert!(output.status.success(), "{arguments}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A capture that is planted.
#[derive(Clone)]
struct Planted {
    /// The page, and how its address is spelled.
    page: String,
    url: String,
    crawl: usize,
    date: String,
    what: What,
}

#[derive(Clone, PartialEq)]
enum What {
    /// Words, what stands between them, and markup without text.
    Page(Vec<String>, &'static str, &'static str),
    /// Of a capture by its number and its id, or by its address and date; or of none of the inputs.
    Revisit(Option<(usize, bool)>),
    /// A status, and where the server leads.
    Status(&'static str, Option<String>),
}

/// The capture that has the text of a capture.
fn text(all: &[Planted], n: usize) -> Option<usize> {
    match &all[n].what {
        What::Page(..) => Some(n),
        What::Revisit(of) => text(all, of.as_ref()?.0),
        What::Status(..) => None,
    }
}

const CRAWLS: [&str; 3] = ["jan", "feb", "mar"];
const MONTHS: [&str; 3] = ["01", "02", "03"];

/// Crawls with pages that stay, change, move, go and come back, in the order of the inputs.
fn planted(seed: u64) -> Vec<Planted> {
    let mut random = Random::new(seed);
    let mut below = |n: u64| random.below(n);
    let word = |n: u64| format!("w{n}");
    let bases: Vec<Vec<String>> = (0..14)
        .map(|base| (0..60 + base).map(|n| word(base * 1000 + n)).collect())
        .collect();
    let mut last: BTreeMap<String, What> = BTreeMap::new();
    let mut all: Vec<Planted> = Vec::new();
    for (crawl, month) in MONTHS.iter().enumerate() {
        let mut captures = Vec::new();
        for n in 0..40 {
            // A slash at the end makes another page.
            let page = format!("http://e.org/p/{}{}", n / 2, ["", "/"][n % 2]);
            let times = [0, 1, 1, 1, 2][below(5) as usize];
            for _ in 0..times {
                let spelled = ["http://e.org", "HTTP://E.org:80", "http://E.ORG"];
                let mut url = page.replace("http://e.org", spelled[below(3) as usize]);
                if below(4) == 0 {
                    url += "#part";
                }
                let other = || What::Page(Vec::new(), " ", "");
                let before = last.get(&page).cloned().unwrap_or_else(other);
                let What::Page(mut words, mut between, mut markup) = before else {
                    continue;
                };
                match below(9) {
                    0..2 => {}
                    2 => markup = ["", " class=x", " id=y"][below(3) as usize],
                    3 => between = [" ", ", ", ". "][below(3) as usize],
                    4..6 if !words.is_empty() => {
                        let at = below(words.len() as u64) as usize;
                        words[at] = format!("new{}", below(1_000_000));
                    }
                    _ => words = bases[below(14) as usize].clone(),
                }
                if words.is_empty() {
                    words = bases[below(14) as usize].clone();
                }
                let is_page = What::Page(words, between, markup);
                let status = [
                    "404 Not Found",
                    "410 Gone",
                    "500 No",
                    "302 Found",
                    "301 Moved",
                    "308 M",
                ];
                let what = match below(16) {
                    0 => What::Revisit(None),
                    1..3 if !all.is_empty() => {
                        let of = below(all.len() as u64) as usize;
                        What::Revisit(text(&all, of).map(|_| (of, below(2) == 0)))
                    }
                    3..6 => {
                        let status = status[below(6) as usize];
                        // Also to the page itself, and to pages without a document.
                        let to = format!("/p/{}{}", below(22), ["", "/"][below(2) as usize]);
                        let host = ["", "http://E.org"][below(2) as usize];
                        What::Status(
                            status,
                            status.starts_with('3').then_some(host.to_owned() + &to),
                        )
                    }
                    _ => is_page,
                };
                if let What::Page(..) = what {
                    last.insert(page.clone(), what.clone());
                }
                captures.push((page.clone(), url, what));
            }
        }
        for (n, (page, url, what)) in captures.into_iter().enumerate() {
            // Later records of a file need not be later captures.
            let date = format!("2024-{month}-01T00:{:02}:{:02}Z", n * 7 % 60, n % 60);
            all.push(Planted {
                page,
                url,
                crawl,
                date,
                what,
            });
        }
    }
    all
}

fn record(all: &[Planted], number: usize) -> Vec<u8> {
    let planted = &all[number];
    let (kind, more, block) = match &planted.what {
        What::Page(words, between, markup) => {
            let body = format!(
                "<html><body><p{markup}>{}</p></body></html>",
                words.join(between)
            );
            (
                "response",
                String::new(),
                format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Number: {number}\r\n\r\n{body}"
                ),
            )
        }
        What::Status(status, to) => {
            let to = to.iter().map(|to| format!("Location: {to}\r\n"));
            let head = format!("HTTP/1.1 {status}\r\n{}\r\nno", to.collect::<String>());
            // A `revisit` record of an error is an error.
            (["response", "revisit"][number % 2], String::new(), head)
        }
        What::Revisit(of) => {
            let to = match of {
                Some((of, true)) => format!("WARC-Refers-To: <urn:uuid:{of:08}>\r\n"),
                _ => {
                    let (url, date) = target(all, planted, *of);
                    format!("WARC-Refers-To-Target-URI: {url}\r\nWARC-Refers-To-Date: {date}\r\n")
                }
            };
            ("revisit", to, "HTTP/1.1 200 OK\r\n\r\n".into())
        }
    };
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {}\r\nWARC-Date: {}\r\n\
         WARC-Record-ID: <urn:uuid:{number:08}>\r\nContent-Type: application/http; msgtype=response\r\n\
         {more}Content-Length: {}\r\n\r\n{block}\r\n\r\n",
        planted.url, planted.date, block.len()
    )
    .into_bytes()
}

/// The address and the date to which a `revisit` record refers.
fn target<'p>(
    all: &'p [Planted],
    own: &'p Planted,
    of: Option<(usize, bool)>,
) -> (&'p str, &'p str) {
    of.map_or((&own.url, "2000-01-01T00:00:00Z"), |(of, _)| {
        (&all[of].url, &all[of].date)
    })
}

/// Writes the crawls, each as a folder with two files of which one is compressed.
fn write(all: &[Planted], place: &Path) {
    for (crawl, name) in CRAWLS.iter().enumerate() {
        fs::create_dir(place.join(name)).unwrap();
        let mut plain = Vec::new();
        let mut packed = Vec::new();
        let of_crawl = all.iter().enumerate().filter(|(_, it)| it.crawl == crawl);
        for (at, (number, _)) in of_crawl.enumerate() {
            let bytes = record(all, number);
            if at < 12 {
                plain.extend(bytes);
            } else {
                let mut member = flate2::write::GzEncoder::new(&mut packed, Default::default());
                member.write_all(&bytes).unwrap();
                member.finish().unwrap();
            }
        }
        fs::write(place.join(name).join("1.warc"), plain).unwrap();
        fs::write(place.join(name).join("2.warc.gz"), packed).unwrap();
    }
}

fn shingles(words: &[String]) -> BTreeSet<String> {
    words.windows(10).map(|window| window.join(" ")).collect()
}

/// Shared shingles, and all of both.
fn shared(a: &What, b: &What) -> (usize, usize) {
    let [What::Page(a, ..), What::Page(b, ..)] = [a, b] else {
        unreachable!()
    };
    let [a, b] = [shingles(a), shingles(b)];
    (a.intersection(&b).count(), a.union(&b).count())
}

/// The scheme and the host of an address.
fn origin(url: &str) -> &str {
    &url[..url.find("/p/").unwrap()]
}

/// The page to which the server leads.
fn moved(to: &str) -> String {
    format!("http://e.org{}", &to[to.find("/p/").unwrap()..])
}

type Row = BTreeMap<String, String>;

/// The rows by the definition, of captures in the order of the inputs.
fn expected(all: &[Planted], names: [&str; 3], until: Option<&str>) -> Vec<Row> {
    let mut pages: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, planted) in all.iter().enumerate() {
        if until.is_none_or(|until| planted.date.as_str() <= until) {
            pages.entry(&planted.page).or_default().push(number);
        }
    }
    let crawls: BTreeSet<usize> = pages.values().flatten().map(|&n| all[n].crawl).collect();
    for captures in pages.values_mut() {
        captures.sort_by_key(|&n| (all[n].crawl, all[n].date.clone(), n));
    }
    // Which crawls had ended by the date: the others do not say that a page is gone.
    let is_later = |it: &&Planted| until.is_some_and(|until| it.date.as_str() > until);
    let whole = all.iter().filter(is_later).map(|it| it.crawl).min();
    let whole = whole.unwrap_or(names.len());
    let is_page = |n: &usize| text(all, *n).is_some();
    let content = |n: usize| &all[text(all, n).unwrap()].what;
    pages.retain(|_, captures| captures.iter().any(is_page));
    // By page: crawl, document before, capture, whether the page is gone, and whether it was.
    let mut events = Vec::new();
    for (&page, captures) in &pages {
        let (mut of_page, mut before, mut was_gone) = (Vec::new(), None, false);
        for &crawl in &crawls {
            let own = captures.iter().filter(|n| all[**n].crawl == crawl);
            let own: Vec<usize> = own.copied().collect();
            if own.is_empty() && crawl < whole && !was_gone && before.is_some() {
                of_page.push((crawl, before, None, true, false));
                was_gone = true;
            }
            for n in own {
                let left = match &all[n].what {
                    What::Status(status, None) => status.starts_with('4'),
                    What::Status(status, Some(to)) => *status != "302 Found" && moved(to) != *page,
                    _ => false,
                };
                let is_gone = left && !was_gone && before.is_some();
                // The last version of a page that is gone is that it is.
                if until.is_none() || is_gone || !left || before.is_none() {
                    of_page.push((crawl, before, Some(n), is_gone, was_gone));
                }
                was_gone &= matches!(all[n].what, What::Status(..));
                was_gone |= is_gone;
                before = Some(n).filter(is_page).or(before);
            }
        }
        events.push((captures, of_page));
    }
    // From where a new page has moved, and to where a page that is gone: what the server says first.
    let (mut from, mut away) = (BTreeMap::new(), BTreeMap::new());
    let gone: Vec<_> = events
        .iter()
        .flat_map(|(_, events)| events)
        .filter(|event| event.3)
        .collect();
    for &&(crawl, before, n, ..) in &gone {
        let target = n.and_then(|n| match &all[n].what {
            What::Status(_, to) => pages.get(moved(to.as_ref()?).as_str()),
            _ => None,
        });
        if let (Some(target), Some(before)) = (target, before) {
            away.insert((crawl, before), target[0]);
            let at = all[target[0]].crawl;
            if at > 0 && at >= crawl && is_page(&target[0]) {
                let first = from.entry(target[0]).or_insert(before);
                *first = before.min(*first);
            }
        }
    }
    let (led, by_server) = (from.clone(), away.clone());
    for (&first, crawl) in pages
        .values()
        .map(|captures| (&captures[0], all[captures[0]].crawl))
    {
        if crawl == 0 || !is_page(&first) {
            continue;
        }
        let sources = gone.iter().filter(|event| event.0 == crawl);
        let sources = sources.filter_map(|event| event.1.filter(|&n| all[n].crawl < crawl));
        let reached = sources.filter(|&n| {
            let (both, either) = shared(content(n), content(first));
            both * 20 >= either * 17
        });
        let closer = |of: usize, a: usize, b: usize| {
            let [(p, q), (r, s)] = [a, b].map(|n| shared(content(n), content(of)));
            (r * q).cmp(&(p * s)).then(a.cmp(&b))
        };
        for old in reached {
            if !by_server.contains_key(&(crawl, old)) {
                let to = away.entry((crawl, old)).or_insert(first);
                *to = std::cmp::min_by(*to, first, |&a, &b| closer(old, a, b));
            }
            if !led.contains_key(&first) {
                let source = from.entry(first).or_insert(old);
                *source = std::cmp::min_by(*source, old, |&a, &b| closer(first, a, b));
            }
        }
    }
    let (mut rows, mut left) = (Vec::new(), Vec::new());
    for (captures, mut of_page) in events {
        let is_there = |n: &&usize| !matches!(all[**n].what, What::Status(..));
        let (first, last) = (captures[0], *captures.iter().rfind(is_there).unwrap());
        let seen = *captures.iter().find(is_there).unwrap();
        let from_row = until.map_or(0, |_| of_page.len() - 1);
        for (crawl, before, n, is_gone, was_gone) in of_page.split_off(from_row) {
            let source = n
                .filter(|&n| n == first)
                .and_then(|n| from.get(&n))
                .copied();
            let is_revisit = n.is_some_and(|n| matches!(all[n].what, What::Revisit(_)));
            let is_visited = captures
                .iter()
                .any(|&n| all[n].crawl < crawl && matches!(all[n].what, What::Revisit(_)));
            let compared = match (
                n.filter(is_page).map(content),
                before.or(source).map(content),
            ) {
                _ if is_gone && away.contains_key(&(crawl, before.unwrap())) => "moved away",
                _ if is_gone => "gone",
                (None, _) if is_revisit => "revisit",
                (None, _) => "unread",
                (_, None) if crawl == 0 || is_visited => "first",
                (_, None) => "new",
                _ if source.is_some() => "moved",
                (Some(What::Page(words, ..)), Some(What::Page(others, ..)))
                    if words == others && is_revisit =>
                {
                    "revisit"
                }
                (Some(what), Some(earlier)) if what == earlier => "same bytes",
                (Some(What::Page(words, between, _)), Some(What::Page(others, other, _)))
                    if words == others =>
                {
                    if between == other {
                        "same text"
                    } else {
                        "same words"
                    }
                }
                (Some(what), Some(earlier)) => {
                    let (both, either) = shared(earlier, what);
                    if both * 20 >= either * 17 {
                        "edited"
                    } else {
                        "rewritten"
                    }
                }
            };
            let to = before
                .filter(|_| is_gone)
                .and_then(|before| away.get(&(crawl, before)));
            let is_back = was_gone && !is_gone && (is_revisit || n.is_some_and(|n| is_page(&n)));
            let kind = if is_back { "returned" } else { compared };
            let event = (crawl, kind, compared, before.or(source), n);
            left.push((event, seen, last, to.copied()));
        }
    }
    for ((crawl, kind, compared, before, n), first, last, to) in left {
        let both = before.zip(n).filter(|(_, n)| is_page(n));
        let score = both.map(|(a, b)| shared(content(a), content(b)));
        let of = |n: Option<usize>, field: fn(&Planted) -> &str| {
            n.map_or(String::new(), |n| field(&all[n]).into())
        };
        let docno = |n: Option<usize>| {
            n.map_or(String::new(), |n| {
                format!("{:08}", text(all, n).unwrap_or(n))
            })
        };
        let note = match n.map(|n| &all[n]) {
            Some(Planted {
                what: What::Status(status, to),
                ..
            }) => {
                let to = to.as_ref().map(|to| match to.starts_with('/') {
                    true => format!(": {}{to}", origin(&all[n.unwrap()].url)),
                    false => format!(": {to}"),
                });
                format!("{status}{}", to.unwrap_or_default())
            }
            Some(
                own @ Planted {
                    what: What::Revisit(of),
                    ..
                },
            ) => match of {
                Some((of, true)) => format!("urn:uuid:{of:08}"),
                _ => {
                    let (url, date) = target(all, own, *of);
                    format!("{url} {date}")
                }
            },
            _ if kind == "returned" && before.is_some() => compared.into(),
            _ => String::new(),
        };
        let page: fn(&Planted) -> &str = |it| &it.page;
        let date: fn(&Planted) -> &str = |it| &it.date;
        let name = |n: Option<usize>| n.map_or(String::new(), |n| names[all[n].crawl].into());
        let row = [
            ("address", of(n.or(before), page)),
            ("kind", kind.into()),
            (
                "resemblance",
                score.map_or(String::new(), |(p, q)| {
                    format!("{:.6}", p as f64 / q as f64)
                }),
            ),
            ("crawl_a", name(before)),
            ("date_a", of(before, date)),
            ("docno_a", docno(before)),
            ("address_a", of(before, page)),
            ("crawl_b", names[crawl].into()),
            ("date_b", of(n, date)),
            ("docno_b", docno(n)),
            ("first_seen", of(Some(first), date)),
            ("last_seen", of(Some(last), date)),
            ("note", note),
            ("moved_to", of(to, page)),
        ];
        rows.push(
            row.into_iter()
                .map(|(name, cell)| (name.into(), cell))
                .collect(),
        );
    }
    rows.sort();
    rows
}

fn rows(place: &Path, arguments: &str) -> Vec<Row> {
    let out = place.join("versions.tsv");
    done(
        place,
        &format!("export versions {arguments} --quiet --output versions.tsv"),
    );
    let mut rows = common::cells_of(&out);
    rows.sort();
    rows
}

fn assert_same(found: &[Row], wanted: &[Row], what: &str) {
    let only = |of: &[Row], other: &[Row]| {
        let rows = of.iter().filter(|row| !other.contains(row));
        rows.map(|row| format!("{row:?}"))
            .take(5)
            .collect::<Vec<_>>()
            .join("\n")
    };
    let [more, fewer] = [only(found, wanted), only(wanted, found)];
    assert!(found == wanted, "{what}\nfound:\n{more}\nwanted:\n{fewer}");
}

#[test]
fn versions_follow_the_definition() {
    let mut kinds = BTreeSet::new();
    for seed in 0..6 {
        let all = planted(seed);
        let place = common::temporary();
        let place = place.path();
        write(&all, place);
        // The inputs of one command are in the order of their names, which is not that of time.
        done(place, "run jan feb mar -o joint --quiet");
        done(place, "run jan -o grown --quiet");
        done(place, "add grown feb --quiet");
        done(place, "add grown mar --quiet");
        let wanted = expected(&all, CRAWLS, None);
        kinds.extend(wanted.iter().map(|row| row["kind"].clone()));
        assert_same(&rows(place, "grown"), &wanted, "grown");
        for more in ["", " --threads 1 --memory 300MiB"] {
            let joint = rows(place, &format!("joint{more}"));
            // Ties of sources are in the order of the inputs.
            let same = |row: &Row| {
                row["kind"] != "moved" && row["kind"] != "moved away" && row["kind"] != "gone"
            };
            let pick = |rows: &[Row]| {
                rows.iter()
                    .filter(|row| same(row))
                    .cloned()
                    .collect::<Vec<_>>()
            };
            assert_same(&pick(&joint), &pick(&wanted), "joint");
            assert_eq!(joint.len(), wanted.len());
        }
        for until in [
            "2024-01-01T00:30:00Z",
            "2024-02-01T00:30:00Z",
            "2024-03-01T23:59:59Z",
        ] {
            let at = if until.contains("23:") {
                "2024-03-01"
            } else {
                until
            };
            let wanted = expected(&all, CRAWLS, Some(until));
            assert_same(&rows(place, &format!("grown --at {at}")), &wanted, until);
        }
        let two: Vec<Planted> = all.iter().filter(|it| it.crawl < 2).cloned().collect();
        done(place, "run jan -o old --quiet");
        done(place, "run feb --against old -o new --quiet");
        assert_same(
            &rows(place, "new"),
            &expected(&two, CRAWLS, None),
            "against",
        );
    }
    assert_eq!(kinds.len(), 13, "{kinds:?}");
}

/// `revisit` records in place of captures with the same payload leave the same history.
#[test]
fn copies_with_revisit_records_have_the_same_versions() {
    let mut revisits = BTreeSet::new();
    for seed in 0..3 {
        let all = planted(seed);
        let place = common::temporary();
        let place = place.path();
        write(&all, place);
        done(place, "run jan feb mar -o originals --quiet");
        done(
            place,
            "dedup jan feb mar -o copies --revisit --identical payload --keep oldest --quiet",
        );
        done(place, "run copies -o found --quiet");
        let wanted = rows(place, "originals");
        let mut found = rows(place, "found");
        for row in &mut found {
            let of = |name: &str| row[name].clone();
            // The docno of a `revisit` record is that of the document with its text.
            let same = |other: &&Row| {
                ["address", "crawl_b", "date_b", "crawl_a"]
                    .iter()
                    .all(|&name| row[name] == other[name])
            };
            let other = wanted
                .iter()
                .find(same)
                .unwrap_or_else(|| panic!("{row:?}"));
            let is_same = ["same bytes", "same text", "same words"].contains(&&*other["kind"]);
            if is_same && of("kind") == "revisit" {
                revisits.insert(other["kind"].clone());
                row.insert("kind".into(), other["kind"].clone());
            }
            for name in ["docno_a", "docno_b", "note"] {
                row.insert(name.into(), other[name].clone());
            }
        }
        found.sort();
        assert_same(&found, &wanted, "copies");
    }
    assert!(revisits.contains("same bytes"), "{revisits:?}");
}

/// A record for a text that is only similar does not say that the page is unchanged.
#[test]
fn a_similar_text_is_edited() {
    let place = common::temporary();
    let place = place.path();
    let words = |crawl: usize| {
        let words = (0..99).map(|n| format!("w{n}"));
        words.chain([format!("end{crawl}")]).collect::<Vec<_>>()
    };
    let page = |crawl: usize, words| Planted {
        page: String::new(),
        url: "http://e.org/a".into(),
        crawl,
        date: format!("2024-0{}-01T00:00:00Z", crawl + 1),
        what: What::Page(words, " ", ""),
    };
    write(
        &[page(0, words(0)), page(1, words(1)), page(2, words(0))],
        place,
    );
    done(
        place,
        "dedup jan feb mar -o copies --revisit=all --keep oldest --quiet",
    );
    done(place, "run copies -o found --quiet");
    let found = rows(place, "found");
    let row = |kind: &str| {
        let cells = |row: &&Row| [&row["resemblance"], &row["note"]].map(String::clone);
        let of = found.iter().filter(|row| row["kind"] == kind);
        of.map(|row| cells(&row)).collect::<Vec<_>>()
    };
    let to = "http://e.org/a 2024-01-01T00:00:00Z";
    let none = String::new();
    // The last text is compared with one that is unknown, so it is not said to be unchanged. Each
    // text has 91 shingles, of which the last one differs.
    let edited = [
        [none.clone(), to.into()],
        [none.clone(), format!("{to} (similar text, 0.978261)")],
    ];
    assert_eq!(row("first"), [[none.clone(), none]], "{found:?}");
    assert_eq!(row("edited"), edited, "{found:?}");
    // The second text of a page is removed because it resembles that of another page. That it was
    // edited stays possible, or not.
    let place = common::temporary();
    let place = place.path();
    let words = |from: usize, to: usize| {
        let of = |n: usize| {
            if (from..to).contains(&n) {
                "w"
            } else {
                "other"
            }
        };
        (0..100)
            .map(|n| format!("{}{n}", of(n)))
            .collect::<Vec<_>>()
    };
    let page = |path: &str, crawl, words| Planted {
        url: format!("http://e.org/{path}"),
        ..page(crawl, words)
    };
    let all = [
        page("a", 0, words(0, 96)),
        page("b", 0, words(7, 100)),
        page("c", 0, words(90, 100)),
        page("b", 1, words(0, 100)),
        page("c", 1, words(0, 100)),
    ];
    write(&all, place);
    done(
        place,
        "dedup jan feb -o copies --revisit=all --keep oldest --quiet",
    );
    for inputs in ["jan feb", "copies"] {
        done(
            place,
            &format!("run {inputs} -o {}-found --quiet", &inputs[..3]),
        );
    }
    for directory in ["jan-found", "cop-found"] {
        let found = rows(place, directory);
        let kind = |path: &str| {
            let is_row = |row: &&Row| row["address"].ends_with(path) && row["crawl_b"] == "feb";
            found.iter().find(is_row).unwrap()["kind"].clone()
        };
        assert_eq!(
            [kind("/b"), kind("/c")],
            ["edited", "rewritten"],
            "{found:?}"
        );
    }
}

/// The rows that name one document or none say so, and name the document.
#[test]
fn a_row_of_one_document_is_not_compared() {
    let place = common::temporary();
    let place = place.path();
    let said = |arguments: &str| {
        let told = lookalike(place, arguments);
        assert!(!told.status.success(), "{arguments}");
        String::from_utf8(told.stderr).unwrap()
    };
    let words = |from: usize| {
        (from..from + 40)
            .map(|n| format!("w{n}"))
            .collect::<Vec<_>>()
    };
    let page = |url: &str, crawl: usize, what| Planted {
        page: String::new(),
        url: url.into(),
        crawl,
        date: format!("2024-0{}-01T00:00:00Z", crawl + 1),
        what,
    };
    let text = |from| What::Page(words(from), " ", "");
    let all = [
        page("HTTP://E.org:80/a#x", 0, text(0)),
        page("http://e.org/b", 0, text(100)),
        page("http://e.org/c", 0, What::Status("500 No", None)),
        page("http://e.org/d", 0, text(400)),
        page("http://E.org/a", 1, text(200)),
        page("http://e.org/b", 1, What::Status("404 Not Found", None)),
        page("http://e.org/c", 1, text(300)),
        page("http://e.org/d", 1, What::Revisit(None)),
    ];
    write(&all, place);
    done(place, "run jan feb -o out --quiet");
    done(place, "export versions out --quiet --output versions.tsv");
    let table = fs::read_to_string(place.join("versions.tsv")).unwrap();
    let row = |kind: &str| {
        let is_row = |line: &&str| line.split('\t').nth(1) == Some(kind);
        table.lines().position(|line| is_row(&line)).unwrap() + 1
    };
    for (kind, document) in [
        ("first", Some(0)),
        ("new", Some(6)),
        ("gone", Some(1)),
        ("unread", None),
        ("revisit", Some(3)),
    ] {
        let said = said(&format!("diff out --pair versions.tsv:{}", row(kind)));
        let wanted = match document {
            Some(n) => format!(
                "the row `{kind}` has one document, not two; show it: `lookalike show out {n:08}`"
            ),
            None => format!("the row `{kind}` has no document"),
        };
        assert!(said.contains(&wanted), "{said}");
    }
    let shown = done(
        place,
        &format!("diff out --pair versions.tsv:{}", row("rewritten")),
    );
    assert!(shown.contains("w239"), "{shown}");
    // Another spelling of an address is the same address, unless a document has this spelling.
    assert!(done(place, "show out HTTP://e.org/b#part").contains("00000001"));
    assert!(said("show out http://e.org/a").contains("2 documents are called"));
    assert!(done(place, "show out http://E.org/a").contains("00000004"));
    // An ending that names another format is not a table.
    for (command, file) in [
        ("export versions out", "x.csv"),
        ("check count jan", "x.tsv.gz"),
    ] {
        let said = said(&format!("{command} --output {file}"));
        assert!(
            said.contains("with this ending is not written; use .html, ."),
            "{said}"
        );
        assert!(!place.join(file).exists());
    }
    // What would have moved is decided by the condition.
    done(
        place,
        "run jan feb -o limited --quiet --where a.host==b.host",
    );
    let said = said("export versions limited");
    assert!(
        said.contains("its pairs have a condition (--where)"),
        "{said}"
    );
}

#[test]
fn pages_are_told_apart_by_ids() {
    let place = common::temporary();
    let place = place.path();
    let text = |n: usize| {
        (0..50)
            .map(|word| format!("t{}", n * 100 + word))
            .collect::<Vec<_>>()
            .join(" ")
    };
    for (crawl, pages) in [("a", [1, 2, 3]), ("b", [1, 5, 3])] {
        let folder = place.join("crawls").join(crawl);
        fs::create_dir_all(folder.join("sub")).unwrap();
        for (n, page) in pages.into_iter().enumerate() {
            fs::write(folder.join(format!("sub/{n}.txt")), text(page)).unwrap();
        }
        let lines = pages
            .iter()
            .zip(10..)
            .map(|(&page, id)| json!({"id": id, "text": text(page)}));
        fs::write(
            folder.join("rows.jsonl"),
            lines.map(|line| format!("{line}\n")).collect::<String>(),
        )
        .unwrap();
    }
    for inputs in ["crawls", "crawls/a crawls/b"] {
        done(place, &format!("run {inputs} -o out --quiet"));
        for (more, [from, to]) in [("", ["a", "b"]), (" --crawl b --crawl a", ["b", "a"])] {
            let found = rows(place, &format!("out{more}"));
            let kinds = |id: &str, crawl: &str| {
                let of = found
                    .iter()
                    .filter(|row| row["address"] == id && row["crawl_b"] == crawl);
                of.map(|row| row["kind"].clone()).collect::<Vec<_>>()
            };
            for (id, kind) in [
                ("sub/0.txt", "same bytes"),
                ("sub/1.txt", "rewritten"),
                ("10", "same bytes"),
                ("11", "rewritten"),
            ] {
                assert_eq!(
                    (kinds(id, from), kinds(id, to)),
                    (vec!["first".into()], vec![kind.into()]),
                    "{id}"
                );
            }
            assert_eq!(found.len(), 12);
        }
        let told = lookalike(place, "export versions out --by address");
        assert!(String::from_utf8_lossy(&told.stderr).contains("no document has an address"));
        let told = lookalike(place, "export versions out --crawl c");
        assert!(String::from_utf8_lossy(&told.stderr).contains("the crawls are a, b"));
        let told: Value = serde_json::from_str(&done(place, "export versions out --json")).unwrap();
        assert_eq!(
            (&told["order"], &told["by"]),
            (&json!("inputs"), &json!("id"))
        );
        fs::remove_dir_all(place.join("out")).unwrap();
    }
}

#[test]
fn hostile_addresses_break_no_table_and_no_page() {
    let place = common::temporary();
    let place = place.path();
    let odd = [
        "http://e.org/a\tb\nc\u{202e}",
        "http://e.org/<script>alert(1)</script>",
        "http://e.org/\"><img src=x onerror=alert(1)>",
        "javascript:alert(1)",
    ];
    let long = format!("http://e.org/{}", "x".repeat(1 << 20));
    for (crawl, more) in [("a", "one"), ("b", "two")] {
        fs::create_dir(place.join(crawl)).unwrap();
        let pages = odd.iter().copied().chain([long.as_str()]).zip(0..);
        let lines =
            pages.map(|(url, n)| json!({"url": url, "text": format!("{more} text number {n}")}));
        let lines: String = lines.map(|line| format!("{line}\n")).collect();
        fs::write(place.join(crawl).join("x.jsonl"), lines).unwrap();
    }
    done(
        place,
        "run a b -o out --text-field text --url-field url --quiet",
    );
    // A user's file is kept, whatever its ending is, and an earlier table is replaced.
    for ending in ["", ".tsv", ".html", ".parquet"] {
        let mine = format!("mine{ending}");
        for notes in ["my notes\n", "PAR1 PAR1"] {
            fs::write(place.join(&mine), notes).unwrap();
            let refused = lookalike(place, &format!("export versions out --output {mine}"));
            let said = String::from_utf8(refused.stderr).unwrap();
            assert!(said.contains("lookalike did not write"), "{said}");
            assert_eq!(fs::read(place.join(&mine)).unwrap(), notes.as_bytes());
        }
        for _ in 0..2 {
            done(
                place,
                &format!("export versions out --output table{ending}"),
            );
        }
    }
    let told = done(place, "export versions out --output page.html");
    assert!(
        told.contains("2 documents without an address are left out"),
        "{told}"
    );
    let found = rows(place, "out");
    let rewritten = found.iter().filter(|row| row["kind"] == "rewritten");
    let addresses: BTreeSet<&str> = rewritten.map(|row| row["address"].as_str()).collect();
    assert_eq!((found.len(), addresses), (8, odd.into()));
    let page = fs::read_to_string(place.join("page.html")).unwrap();
    for bad in ["<script>alert", "<img", "href=\"javascript", "\u{202e}"] {
        assert!(!page.contains(bad), "{bad}");
    }
    assert_eq!(page.matches("class=\"side").count(), 8, "{page}");
    let unlisted = "leaves out what did not change (first); a table with --output versions.tsv";
    assert!(page.contains(unlisted), "{page}");
    // What is missing is said.
    done(
        place,
        "stage ingest a -o pairless --quiet --text-field text",
    );
    assert!(
        !lookalike(place, "export versions pairless")
            .status
            .success()
    );
    fs::remove_dir_all(place.join("a")).unwrap();
    let told = lookalike(place, "export versions out");
    let told = String::from_utf8_lossy(&told.stderr);
    assert!(
        told.contains("a/x.jsonl") && told.contains("restore"),
        "{told}"
    );
}

/// A crawl that was cut off makes pages gone, and of several old and new pages the most similar one
/// counts.
#[test]
fn crawls_that_were_cut_off_are_named() {
    let place = common::temporary();
    let place = place.path();
    let words = |n: usize, end: usize| {
        let own = (0..60).map(|word| format!("w{}", n * 100 + word));
        own.chain([format!("end{end}")]).collect::<Vec<_>>()
    };
    let page = |path: &str, crawl: usize, words| Planted {
        page: String::new(),
        url: format!("http://e.org/{path}"),
        crawl,
        date: format!("2024-0{}-01T00:00:00Z", crawl + 1),
        what: What::Page(words, " ", ""),
    };
    let mut all: Vec<Planted> = (0..9)
        .map(|n| page(&format!("p{n}"), 0, words(n, 0)))
        .collect();
    // Two pages that are gone have become one.
    all.extend([
        page("old", 0, words(50, 1)),
        page("older", 0, words(50, 1)),
        page("oldest", 0, words(50, 2)),
    ]);
    all.extend([
        page("new", 1, words(50, 2)),
        page("p0", 1, words(0, 0)),
        page("p1", 1, words(1, 0)),
    ]);
    let write = |cut: usize| {
        for (n, name) in ["jan.warc", "feb.warc"].iter().enumerate() {
            let of = (0..all.len()).filter(|&at| all[at].crawl == n);
            let bytes: Vec<u8> = of.flat_map(|at| record(&all, at)).collect();
            fs::write(place.join(name), &bytes[..bytes.len() - n * cut]).unwrap();
        }
    };
    let told = |arguments: &str| String::from_utf8(lookalike(place, arguments).stderr).unwrap();
    write(0);
    done(place, "run jan.warc feb.warc -o out --quiet");
    let said = told("export versions out --quiet --output page.html");
    let wanted = "warning: feb.warc makes 7 pages gone only because it has no capture of them, and it \
                  has 3 captures, where jan.warc has 12. If it was cut off, leave it out: name the other \
                  crawls with --crawl\n";
    assert_eq!(said, wanted);
    let shown = fs::read_to_string(place.join("page.html")).unwrap();
    assert!(shown.contains("feb.warc makes 7 pages gone"), "{shown}");
    let found = rows(place, "out");
    let row = |page: &str| {
        let is_row = |row: &&Row| row["address"].ends_with(page) && row["crawl_b"] == "feb.warc";
        let row = found.iter().find(is_row).unwrap();
        ["kind", "address_a", "moved_to"].map(|name| row[name].as_str())
    };
    for old in ["/old", "/older", "/oldest"] {
        let address = format!("http://e.org{old}");
        assert_eq!(row(old), ["moved away", &*address, "http://e.org/new"]);
    }
    assert_eq!(row("/new"), ["moved", "http://e.org/oldest", ""]);
    // A crawl is found by the beginning of its name and by its path, too.
    for (crawl, pages) in [("jan", 12), ("./feb.warc", 3), ("../x/feb", 3)] {
        assert_eq!(
            rows(place, &format!("out --crawl {crawl}")).len(),
            pages,
            "{crawl}"
        );
    }
    for crawl in ["j", "jan.", "x/.", ""] {
        let said = told(&format!("export versions out --crawl={crawl}"));
        assert!(said.contains("the crawls are feb.warc, jan.warc"), "{said}");
    }
    write(100);
    done(place, "run jan.warc feb.warc -o cut --quiet");
    let said = told("export versions cut --quiet --crawl jan --crawl feb.warc");
    assert!(
        said.contains("feb.warc was not read whole (record cut off). Read"),
        "{said}"
    );
    // The first crawl makes nothing gone.
    let whole = fs::read(place.join("jan.warc")).unwrap();
    fs::write(place.join("jan.warc"), &whole[..whole.len() - 100]).unwrap();
    done(place, "run jan.warc feb.warc -o first --quiet");
    let said = told("export versions first --quiet");
    let wanted = "jan.warc may lack pages, which are new in a later crawl, because jan.warc was";
    assert!(said.contains(wanted), "{said}");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// After a damaged member of gzip, a page is what it was.
#[test]
fn a_damaged_member_makes_no_other_page_gone() {
    let directory = common::temporary();
    let place = directory.path();
    let words = |n: usize| (0..60).map(|k| format!("w{n}x{k} ")).collect::<String>();
    let member = |crawl: u32, n: usize| {
        let body = words(n);
        let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{body}");
        let record = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-{crawl:06}{n:06}>\r\n\
             WARC-Date: 2024-0{crawl}-01T00:00:0{n}Z\r\nWARC-Target-URI: http://e.org/{n}\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
            http.len()
        );
        gzip(record.as_bytes())
    };
    let all = |crawl| (0..6).map(|n| member(crawl, n)).collect::<Vec<_>>();
    let jan = all(1).concat();
    fs::write(place.join("jan.warc.gz"), jan).unwrap();
    for damaged in 0..6 {
        for back in [1, 20] {
            let mut feb = all(2);
            let at = feb[damaged].len() - back - 4;
            feb[damaged][at] ^= 1;
            fs::write(place.join("feb.warc.gz"), feb.concat()).unwrap();
            done(place, "run jan.warc.gz feb.warc.gz -o out --quiet");
            let found = rows(place, "out");
            for n in 0..6 {
                let is_row = |row: &&Row| {
                    row["address"].ends_with(&format!("/{n}")) && row["crawl_b"] != "jan.warc.gz"
                };
                let row = found.iter().find(is_row).unwrap();
                let expected = if n == damaged { "gone" } else { "same bytes" };
                assert_eq!(row["kind"], expected, "{damaged} {back} {n}");
            }
            fs::remove_dir_all(place.join("out")).unwrap();
        }
    }
}

/// A `revisit` record has no header of the server, and refers to an error. A page is gone once.
#[test]
fn revisits_of_errors_are_errors_and_a_page_is_gone_once() {
    let place = common::temporary();
    let place = place.path();
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nsome words of a page";
    let [gone, failed] = ["404 Not Found", "500 No"].map(|it| format!("HTTP/1.1 {it}\r\n\r\nno"));
    let crawls = [
        ("jan", [page, page]),
        ("feb", [&*gone, &*gone]),
        ("mar", ["", &*failed]),
        ("apr", [&*gone, &*gone]),
    ];
    for (number, (crawl, answers)) in (1..).zip(crawls) {
        let mut all = String::new();
        for (name, block) in ["a", "b"].into_iter().zip(answers) {
            let (kind, to) = match block {
                "" => ("revisit", "WARC-Refers-To: <urn:uuid:a-2>\r\n"),
                _ => ("response", ""),
            };
            all += &format!(
                "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://e.org/{name}\r\n\
                 WARC-Date: 2024-0{number}-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:{name}-{number}>\r\n\
                 Content-Type: application/http; msgtype=response\r\n{to}Content-Length: {}\r\n\r\n\
                 {block}\r\n\r\n",
                block.len()
            );
        }
        fs::write(place.join(format!("{crawl}.warc")), all).unwrap();
    }
    done(
        place,
        "run jan.warc feb.warc mar.warc apr.warc -o out --quiet",
    );
    for row in ["a", "b"] {
        let address = format!("http://e.org/{row}");
        let of_page = rows(place, "out")
            .into_iter()
            .filter(|row| row["address"] == address);
        let mut kinds: Vec<[String; 3]> = of_page
            .map(|row| ["date_b", "kind", "note"].map(|name| row[name].clone()))
            .collect();
        kinds.sort();
        let kinds: Vec<&str> = kinds.iter().map(|it| &*it[1]).collect();
        assert_eq!(kinds, ["first", "gone", "unread", "unread"], "{address}");
    }
}

/// Several pages with the same words that move to another scheme keep their paths. The page of it has
/// a filter by crawl, and says how many texts it lacks.
#[test]
fn pages_with_the_same_words_move_to_their_paths() {
    let place = common::temporary();
    let place = place.path();
    let text = (0..50).map(|n| format!("w{n} ")).collect::<String>();
    for (crawl, scheme) in [("jan", "http"), ("feb", "https")] {
        let lines = (0..9).map(|n| {
            let url = format!("{scheme}://e.org/search?q={}", (n * 5) % 9);
            format!(
                "{}\n",
                json!({"id": format!("{crawl}{n}"), "url": url, "text": text})
            )
        });
        fs::write(
            place.join(format!("{crawl}.jsonl")),
            lines.collect::<String>(),
        )
        .unwrap();
    }
    done(place, "run jan.jsonl feb.jsonl -o out --quiet");
    let found = rows(place, "out --crawl jan --crawl feb");
    let moved = found.iter().filter(|row| row["kind"] == "moved");
    let away = found.iter().filter(|row| row["kind"] == "moved away");
    let moved: Vec<_> = moved
        .map(|row| (&row["address_a"], &row["address"]))
        .collect();
    let away: Vec<_> = away
        .map(|row| (&row["address"], &row["moved_to"]))
        .collect();
    assert_eq!((moved.len(), away.len()), (9, 9));
    for (from, to) in moved.into_iter().chain(away) {
        assert_eq!(from.replace("http:", "https:"), *to);
    }
    let page = "export versions out --crawl jan --crawl feb --samples 4 --output v.html --replay";
    done(
        place,
        &format!("{page} https://archive.org/{{timestamp}}/{{url}}"),
    );
    let page = fs::read_to_string(place.join("v.html")).unwrap();
    for part in [
        "<option value=\"feb.jsonl\">feb.jsonl</option>",
        "texts of the first 4 of",
        "--samples 9 shows all",
        "data-crawl=\"feb.jsonl\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
}
