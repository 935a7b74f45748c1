//! A crawl made up from a seed: every document a function of the seed and its number.
//!
//! # In and out
//! In: a seed, the shares of repetitions, a number of documents. Out: bundles in TREC web form, as
//! .GOV and GOV2 have them, 1,600 documents each, or files of short texts (`short.rs`);
//! `truth.tsv.gz`, what every document is; `stats.json`, what was made.
//!
//! # Algorithm
//! A bundle is the unit of work. What a document repeats is found from numbers alone (`plan.rs`),
//! and the original's text is made again from the original's own stream (`text.rs`), so nothing
//! is kept from one document to the next, and any bundle can be made by itself.
//!
//! # Invariants
//! - The bytes depend on the parameters and the number of documents: not on threads.
//! - A smaller crawl is the beginning of a larger one.
//!
//! # Cost
//! Memory: the vocabulary and a few pages for each thread. A repetition makes its original's text
//! once more.

mod page;
mod plan;
mod random;
pub mod short;
pub mod sizes;
mod text;
mod vocabulary;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use page::{Charset, Page, Style};
use plan::{Origin, Place, Plan};
use random::{Purpose, Random};
use text::{Edit, Text, Writer};
use vocabulary::Vocabulary;

pub use plan::Parameters;

/// Documents of a bundle: about 20 MB.
pub const BUNDLE: u64 = 1_600;
/// The folder of the folders of bundles: what is to be read, and nothing else.
pub const BUNDLES: &str = "bundles";
/// Bundles of a folder.
const FOLDER: u64 = 100;
/// Bytes of a document in its bundle, on average: measured over 1,056,911 documents of seed 1.
pub const MEAN_DOCUMENT: u64 = 12_235;
/// Originals with accents.
const ACCENTS: f64 = 0.05;
/// Texts that belong to no document have numbers of their own, above those of documents.
const FORM_TEXT: u64 = 1 << 40;
const LINKS_TEXT: u64 = 2 << 40;
const CLOSING_TEXT: u64 = 3 << 40;

/// What was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub documents: u64,
    /// Of the bundles, before compression.
    pub bytes: u64,
    pub page_bytes: u64,
    pub words: u64,
    pub originals: u64,
    pub forms: u64,
    pub edited: u64,
    pub exact_duplicates: u64,
    /// Documents with other bytes than ASCII.
    pub not_ascii: u64,
    /// Documents by size group of Ye, Wen & Ma 2008, Table 3: all, and without exact duplicates.
    pub by_size: [u64; 11],
    pub by_size_without_exact: [u64; 11],
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        self.documents += other.documents;
        self.bytes += other.bytes;
        self.page_bytes += other.page_bytes;
        self.words += other.words;
        self.originals += other.originals;
        self.forms += other.forms;
        self.edited += other.edited;
        self.exact_duplicates += other.exact_duplicates;
        self.not_ascii += other.not_ascii;
        for (sum, part) in self.by_size.iter_mut().zip(other.by_size) {
            *sum += part;
        }
        let parts = other.by_size_without_exact;
        for (sum, part) in self.by_size_without_exact.iter_mut().zip(parts) {
            *sum += part;
        }
    }
}

/// What cannot be done, with which file.
#[derive(Debug)]
pub struct WriteError {
    pub path: PathBuf,
    pub source: io::Error,
}

fn at(path: &Path) -> impl Fn(io::Error) -> WriteError {
    move |source| WriteError {
        path: path.to_path_buf(),
        source,
    }
}

/// A document's name: folder, bundle, and place in the bundle.
pub fn docno(number: u64) -> String {
    let bundle = number / BUNDLE;
    format!(
        "GX{:03}-{:02}-{:07}",
        bundle / FOLDER,
        bundle % FOLDER,
        number % BUNDLE
    )
}

/// Room for the texts and the bytes of one document.
#[derive(Default)]
struct Desk {
    original: Text,
    edited: Text,
    links: Text,
    closing: Text,
    page: Vec<u8>,
}

/// A crawl.
pub struct Crawl {
    plan: Plan,
    vocabulary: Vocabulary,
    documents: u64,
}

impl Crawl {
    pub fn new(parameters: Parameters, documents: u64) -> Self {
        Crawl {
            plan: Plan(parameters),
            vocabulary: Vocabulary::new(parameters.seed),
            documents,
        }
    }

    fn bundle_documents(&self) -> u64 {
        match self.plan.0.short {
            true => short::FILE,
            false => BUNDLE,
        }
    }

    /// Makes the crawl in a directory, which must be empty or not there.
    pub fn write(&self, out: &Path, gzip: bool, threads: usize) -> Result<Counts, WriteError> {
        fs::create_dir_all(out).map_err(at(out))?;
        if fs::read_dir(out).map_err(at(out))?.next().is_some() {
            return Err(at(out)(io::Error::from(io::ErrorKind::DirectoryNotEmpty)));
        }
        let bundles = self.documents.div_ceil(self.bundle_documents());
        let mut folders: Vec<PathBuf> = (0..bundles.div_ceil(FOLDER))
            .map(|folder| out.join(BUNDLES).join(format!("GX{folder:03}")))
            .collect();
        if self.plan.0.short {
            folders = vec![out.join(short::TEXTS)];
        }
        for path in folders {
            fs::create_dir_all(&path).map_err(at(&path))?;
        }
        let truth_path = out.join("truth.tsv.gz");
        let file = File::create_new(&truth_path).map_err(at(&truth_path))?;
        let mut truth = GzEncoder::new(BufWriter::new(file), Compression::new(6));
        let head: &[u8] = match self.plan.0.short {
            true => short::TRUTH,
            false => b"docno\tkind\tof\tedit\trate\tplace\twords\n",
        };
        truth.write_all(head).map_err(at(&truth_path))?;

        let next = AtomicU64::new(0);
        let stop = AtomicBool::new(false);
        let (sender, receiver) = mpsc::sync_channel(2 * threads.max(1));
        let mut counts = Counts::default();
        std::thread::scope(|scope| {
            for _ in 0..threads.max(1) {
                let (sender, next, stop) = (sender.clone(), &next, &stop);
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        let bundle = next.fetch_add(1, Ordering::Relaxed);
                        if bundle >= bundles {
                            break;
                        }
                        let made = self.bundle_file(out, bundle, gzip);
                        if sender.send((bundle, made)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            // Bundles are finished in any order, and told of in theirs.
            let mut early = BTreeMap::new();
            let mut due = 0;
            for (bundle, made) in receiver {
                let taken = made.and_then(|made| {
                    early.insert(bundle, made);
                    while let Some((lines, part)) = early.remove(&due) {
                        truth.write_all(&lines).map_err(at(&truth_path))?;
                        counts.add(&part);
                        due += 1;
                    }
                    Ok(())
                });
                if taken.is_err() {
                    stop.store(true, Ordering::Relaxed);
                    return taken;
                }
            }
            Ok(())
        })?;
        let finished = truth.finish().and_then(|mut file| file.flush());
        finished.map_err(at(&truth_path))?;
        self.write_stats(out, &counts)?;
        Ok(counts)
    }

    fn write_stats(&self, out: &Path, counts: &Counts) -> Result<(), WriteError> {
        let Parameters {
            seed,
            edited,
            exact,
            forms,
            short,
        } = self.plan.0;
        let path = out.join("stats.json");
        let stats = serde_json::json!({
            "parameters": {
                "seed": seed,
                "documents": self.documents,
                "edited": edited,
                "exact_duplicates": exact,
                "forms": forms,
                "short": short,
            },
            "made": counts,
        });
        let mut text = format!("{stats:#}");
        text.push('\n');
        fs::write(&path, text).map_err(at(&path))
    }

    fn bundle_file(
        &self,
        out: &Path,
        bundle: u64,
        gzip: bool,
    ) -> Result<(Vec<u8>, Counts), WriteError> {
        let mut name = match self.plan.0.short {
            true => format!("{}/{bundle:05}.jsonl", short::TEXTS),
            false => format!("{BUNDLES}/GX{:03}/{:02}", bundle / FOLDER, bundle % FOLDER),
        };
        if gzip {
            name.push_str(".gz");
        }
        let path = out.join(name);
        let file = File::create_new(&path).map_err(at(&path))?;
        let mut file = BufWriter::with_capacity(1 << 20, file);
        let made = if gzip {
            let mut encoder = GzEncoder::new(&mut file, Compression::new(1));
            let made = self.bundle(bundle, &mut encoder);
            made.and_then(|made| encoder.finish().map(|_| made))
        } else {
            self.bundle(bundle, &mut file)
        };
        made.and_then(|made| file.flush().map(|()| made))
            .map_err(at(&path))
    }

    /// Writes a bundle. Returns its lines of the truth, and what it counts.
    pub fn bundle(&self, bundle: u64, out: &mut dyn Write) -> io::Result<(Vec<u8>, Counts)> {
        let first = bundle * self.bundle_documents();
        let last = (first + self.bundle_documents()).min(self.documents);
        if self.plan.0.short {
            let short = short::Short {
                parameters: self.plan.0,
                vocabulary: &self.vocabulary,
            };
            return short.file(first..last, out);
        }
        let mut desk = Desk::default();
        let (mut truth, mut counts) = (Vec::new(), Counts::default());
        let mut header = Vec::new();
        for number in first..last {
            let (source, place) = match self.plan.origin(number) {
                Origin::Exact { of } => {
                    let mut random = self.random(Purpose::Layout, number);
                    let place = self.page_place(of);
                    // A copy is on the original's host or on any other; the page stays the same.
                    let own = Place {
                        host: random.skewed(plan::HOSTS),
                        ..place
                    };
                    (of, if random.chance(0.5) { place } else { own })
                }
                _ => (number, self.page_place(number)),
            };
            let (words, charset) = self.page(source, &mut desk);
            header.clear();
            self.header(number, place, charset, desk.page.len(), &mut header)?;
            out.write_all(&header)?;
            out.write_all(&desk.page)?;
            out.write_all(b"</DOC>\n")?;

            self.truth_line(number, words, place, &mut truth)?;
            counts.documents += 1;
            counts.bytes += (header.len() + desk.page.len() + b"</DOC>\n".len()) as u64;
            counts.page_bytes += desk.page.len() as u64;
            counts.words += words as u64;
            counts.not_ascii += u64::from(!desk.page.is_ascii());
            let group = sizes::group_of(words as u32);
            counts.by_size[group] += 1;
            match self.plan.origin(number) {
                Origin::Original => counts.originals += 1,
                Origin::Form { .. } => counts.forms += 1,
                Origin::Edited { .. } => counts.edited += 1,
                Origin::Exact { .. } => {
                    counts.exact_duplicates += 1;
                    continue;
                }
            }
            counts.by_size_without_exact[group] += 1;
        }
        Ok((truth, counts))
    }

    fn random(&self, purpose: Purpose, number: u64) -> Random {
        Random::new(self.plan.0.seed, purpose, number)
    }

    /// Where the page of a document stands that is no exact duplicate.
    fn page_place(&self, number: u64) -> Place {
        match self.plan.origin(number) {
            Origin::Edited { of } => self.plan.edited_place(number, of).0,
            _ => self.plan.layout(number).1,
        }
    }

    /// Makes the text of an original or of a form. Returns whether it has accents.
    fn original(&self, number: u64, text: &mut Text) -> bool {
        let (words, _) = self.plan.layout(number);
        let mut writer = self.writer(false);
        if let Origin::Form { family } = self.plan.origin(number) {
            let mut random = self.random(Purpose::Text, FORM_TEXT | family);
            writer.body(text, words, &mut random);
            let mut places: Vec<usize> = (0..random.between(1, 3))
                .map(|_| random.below(words) as usize)
                .collect();
            places.sort_unstable();
            places.dedup();
            let mut own = self.random(Purpose::Text, number);
            text.fill_in(&places, number as u32, &mut own);
            return false;
        }
        let mut random = self.random(Purpose::Text, number);
        writer.accents = random.chance(ACCENTS);
        writer.body(text, words, &mut random);
        writer.accents
    }

    fn writer(&self, accents: bool) -> Writer<'_> {
        Writer {
            seed: self.plan.0.seed,
            vocabulary: &self.vocabulary,
            accents,
        }
    }

    /// Makes the page of a document that is no exact duplicate. Returns its words.
    fn page(&self, number: u64, desk: &mut Desk) -> (usize, Charset) {
        let accents = match self.plan.origin(number) {
            Origin::Edited { of } => {
                let accents = self.original(of, &mut desk.original);
                let mut random = self.random(Purpose::Text, number);
                desk.edited.edit(
                    &desk.original,
                    self.plan.edit(number),
                    number as u32,
                    &mut random,
                    &self.writer(accents),
                );
                std::mem::swap(&mut desk.original, &mut desk.edited);
                accents
            }
            _ => self.original(number, &mut desk.original),
        };
        let place = self.page_place(number);
        let writer = self.writer(false);
        let of_host = LINKS_TEXT | place.host;
        let of_section = CLOSING_TEXT | place.host << 4 | place.section;
        let mut random = self.random(Purpose::Text, of_host);
        writer.links(&mut desk.links, place.links, &mut random);
        let mut random = self.random(Purpose::Text, of_section);
        writer.closing(&mut desk.closing, place.closing, &mut random);
        let charset = match self.random(Purpose::Header, number).below(10) {
            0..7 if accents => Charset::Latin1,
            7..9 if accents => Charset::Utf8,
            _ => Charset::Entities,
        };
        desk.page.clear();
        let page = Page {
            seed: self.plan.0.seed,
            vocabulary: &self.vocabulary,
            style: Style::of(self.plan.0.seed, place.host),
            charset,
            body: &desk.original,
            links: &desk.links,
            closing: &desk.closing,
        };
        page::write(&page, number, &mut desk.page);
        let words = desk.original.len() + desk.links.len() + desk.closing.len();
        (words, charset)
    }

    /// Everything of a document before its page.
    fn header(
        &self,
        number: u64,
        place: Place,
        charset: Charset,
        length: usize,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        const SERVERS: [&str; 4] = [
            "Apache/1.3.20 (Unix)",
            "Microsoft-IIS/4.0",
            "Netscape-Enterprise/4.1",
            "Apache/1.3.12 (Unix) PHP/3.0.18",
        ];
        const MONTHS: [&str; 12] = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ];
        let mut random = self.random(Purpose::Header, number);
        // Drawn by the page: see there.
        random.next();
        let form = |rank: u64| String::from_utf8_lossy(self.vocabulary.form(rank as u32));
        let host = form(300 + place.host);
        let section = form(10_000 + place.host * 16 + place.section);
        let name = form(u64::from(random.between(100, 5_000)));
        writeln!(out, "<DOC>\n<DOCNO>{}</DOCNO>\n<DOCHDR>", docno(number))?;
        writeln!(out, "http://www.{host}.gov/{section}/{name}{number}.html")?;
        let (hour, minute, second) = (random.below(24), random.below(60), random.below(60));
        writeln!(
            out,
            "HTTP/1.1 200 OK\nDate: Wed, 30 Jan 2002 {hour:02}:{minute:02}:{second:02} GMT\nServer: {}",
            SERVERS[place.host as usize % SERVERS.len()],
        )?;
        let (day, month) = (random.between(1, 28), random.below(12) as usize);
        writeln!(
            out,
            "Last-Modified: Fri, {day:02} {} {} {hour:02}:{second:02}:{minute:02} GMT\nAccept-Ranges: bytes",
            MONTHS[month],
            random.between(1996, 2001),
        )?;
        // Some servers say the charset, some leave it to the page.
        let label = charset.label().filter(|_| place.host.is_multiple_of(2));
        let (before, label) = label.map_or(("", ""), |label| ("; charset=", label));
        writeln!(
            out,
            "Content-Length: {length}\nConnection: close\nContent-Type: text/html{before}{label}\n</DOCHDR>"
        )
    }

    fn truth_line(
        &self,
        number: u64,
        words: usize,
        place: Place,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let own = docno(number);
        match self.plan.origin(number) {
            Origin::Original => writeln!(out, "{own}\toriginal\t\t\t\t\t{words}"),
            Origin::Form { family } => writeln!(out, "{own}\tform\tform-{family}\t\t\t\t{words}"),
            Origin::Edited { of } => {
                let Edit { rate, moves } = self.plan.edit(number);
                let edit = match (rate > 0.0, moves > 0) {
                    (true, false) => "words",
                    (false, _) => "moves",
                    (true, true) => "both",
                };
                let (_, same) = self.plan.edited_place(number, of);
                let place = if same { "same-host" } else { "other-host" };
                let of = docno(of);
                writeln!(
                    out,
                    "{own}\tedited\t{of}\t{edit}\t{rate:.6}\t{place}\t{words}"
                )
            }
            Origin::Exact { of } => {
                let same = self.page_place(of).host == place.host;
                let place = if same { "same-host" } else { "other-host" };
                writeln!(out, "{own}\texact\t{}\t\t\t{place}\t{words}", docno(of))
            }
        }
    }
}
