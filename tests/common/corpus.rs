//! Random corpora: families of near-duplicates, exact duplicates, boilerplate, short documents.

use std::fs;
use std::path::{Path, PathBuf};

/// SplitMix64 (Steele, Lea & Flood 2014): small, and the same on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// True once in `n`.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// A document of plain text.
#[derive(Clone, Debug, PartialEq)]
pub struct Doc {
    pub docno: String,
    pub url: Option<String>,
    pub text: String,
}

/// Documents of these texts, named by their numbers.
pub fn documents(texts: &[&str]) -> Vec<Doc> {
    let documents = texts.iter().enumerate().map(|(i, text)| Doc {
        docno: i.to_string(),
        url: None,
        text: (*text).into(),
    });
    documents.collect()
}

/// The shape of a random corpus.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub families: usize,
    /// Members of a family at most.
    pub members: usize,
    /// Words of a family's first member at most.
    pub words: usize,
    /// Distinct words.
    pub vocabulary: usize,
    /// Words of the boilerplate that half of the documents begin with.
    pub boilerplate: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Shape {
            families: 18,
            members: 4,
            words: 120,
            vocabulary: 150,
            boilerplate: 25,
        }
    }
}

/// Words that take some care: apostrophes, marks, letters of two bytes and more, lower case of
/// another length, scripts without spaces, digits.
const ODD_WORDS: [&str; 18] = [
    "don't",
    "DON\u{2019}T",
    "Müller",
    "cafe\u{301}",
    "ÉTÉ",
    "İstanbul",
    "Straße",
    "東京大学",
    "ひらがな",
    "カタカナ語",
    "mixed文字text",
    "1,000.50",
    "x86_64",
    "e-mail",
    "'quoted'",
    "rock'n'roll",
    "Ελλάδα",
    "привет",
];

fn word(number: usize) -> String {
    let mut word = String::new();
    let mut rest = number * 7 + 3;
    loop {
        word.push(char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
        if rest == 0 {
            return word;
        }
    }
}

fn random_word(random: &mut Random, vocabulary: usize) -> String {
    if random.once_in(40) {
        return (*random.pick(&ODD_WORDS)).to_string();
    }
    // The product of two uniform numbers is mostly small: frequent and rare words.
    let number = random.below(vocabulary) * random.below(vocabulary) / vocabulary;
    word(number)
}

fn random_words(random: &mut Random, count: usize, vocabulary: usize) -> Vec<String> {
    (0..count)
        .map(|_| random_word(random, vocabulary))
        .collect()
}

/// Words with white space between them, and perhaps with marks that are not words.
fn write(random: &mut Random, words: &[String], plain: bool) -> String {
    let mut text = String::new();
    for (i, word) in words.iter().enumerate() {
        if i > 0 {
            let space: &str = if plain {
                " "
            } else {
                random.pick::<&str>(&[
                    " ", " ", " ", "  ", "\n", "\t", "\r\n", "\u{a0}", "\u{3000}",
                ])
            };
            text.push_str(space);
        }
        text.push_str(word);
        if !plain && random.once_in(9) {
            let mark: &&str = random.pick(&[".", ",", "!", " -", "?"]);
            text.push_str(mark);
        }
    }
    text
}

/// Replaces, removes, adds or moves some words.
fn edit(random: &mut Random, words: &mut Vec<String>, vocabulary: usize) {
    let edits = [0, 1, 1, 2, 4, 8, words.len() / 8, words.len() / 3];
    for _ in 0..*random.pick(&edits) {
        let at = random.below(words.len().max(1));
        match random.below(4) {
            _ if words.is_empty() => words.push(random_word(random, vocabulary)),
            0 => words[at] = random_word(random, vocabulary),
            1 => {
                words.remove(at);
            }
            2 => words.insert(at, random_word(random, vocabulary)),
            _ => {
                let to = words.len().min(at + 1 + random.below(12));
                words[at..to].reverse();
            }
        }
    }
}

/// The corpus of a seed. Documents of a family are spread over the whole.
pub fn random_corpus(seed: u64, shape: Shape) -> Vec<Doc> {
    let random = &mut Random(seed);
    let boilerplate = random_words(random, shape.boilerplate, shape.vocabulary);
    let mut texts: Vec<String> = Vec::new();
    for _ in 0..shape.families {
        let count = random.below(shape.words) + 1;
        let mut words = random_words(random, count, shape.vocabulary);
        if random.once_in(2) {
            words.splice(0..0, boilerplate.iter().cloned());
        }
        for _ in 0..=random.below(shape.members) {
            texts.push(write(random, &words, false));
            if random.once_in(4) {
                // The same words, written otherwise: an exact duplicate where tokens are words.
                texts.push(write(random, &words, true));
            }
            if random.once_in(5) {
                // The same bytes.
                texts.push(texts[texts.len() - 1].clone());
            }
            edit(random, &mut words, shape.vocabulary);
        }
    }
    // Around the length of a shingle, of every size in use, some of them twice.
    for count in [0, 0, 1, 1, 2, 3, 4, 5, 5, 6, 8, 9, 10, 10, 11] {
        let all = random_words(&mut Random(seed ^ 99), 11, shape.vocabulary);
        texts.push(write(random, &all[..count], false));
    }
    // No word, but not empty; one word many times over; words without space.
    texts.push("... !? -".into());
    texts.push("again ".repeat(40));
    texts.push("吾輩は猫である名前はまだ無い".repeat(2));
    for i in (1..texts.len()).rev() {
        texts.swap(i, random.below(i + 1));
    }
    let docs = texts.into_iter().enumerate().map(|(i, text)| Doc {
        docno: format!("D{i:04}"),
        url: random
            .once_in(3)
            .then(|| format!("http://example.org/{i}?a=b")),
        text,
    });
    docs.collect()
}

/// A few documents that resemble some of these, so small that the fingerprints of all of them are
/// less than a sixth.
pub fn few_more(docs: &[Doc]) -> Vec<Doc> {
    let all: usize = docs.iter().map(|doc| doc.text.len()).sum();
    let sizes = 80..(all / 20).max(240);
    let like = docs.iter().filter(|doc| {
        let words = doc.text.split_whitespace().count();
        sizes.contains(&doc.text.len()) && words > 12
    });
    let more = like.take(2).enumerate().map(|(number, doc)| Doc {
        docno: format!("N{number}"),
        url: None,
        text: format!("{} and more", doc.text),
    });
    let more: Vec<Doc> = more.collect();
    assert_eq!(more.len(), 2);
    more
}

/// Writes JSONL, cut into `files` files, and returns the directory.
pub fn write_jsonl(directory: &Path, docs: &[Doc], files: usize) -> PathBuf {
    let place = directory.join("jsonl");
    fs::create_dir_all(&place).unwrap();
    for (number, docs) in docs.chunks(docs.len().div_ceil(files).max(1)).enumerate() {
        let mut out = String::new();
        for doc in docs {
            let value = match &doc.url {
                Some(url) => serde_json::json!({"id": doc.docno, "url": url, "text": doc.text}),
                None => serde_json::json!({"id": doc.docno, "text": doc.text}),
            };
            out.push_str(&value.to_string());
            out.push('\n');
        }
        fs::write(place.join(format!("{number:03}.jsonl")), out).unwrap();
    }
    place
}

/// Writes a file for each document that has something in it, and returns the directory and the
/// documents as they are to be read: in the order of paths, under the paths' names.
pub fn write_files(directory: &Path, docs: &[Doc]) -> (PathBuf, Vec<Doc>) {
    let place = directory.join("files");
    let mut read = Vec::new();
    for (i, doc) in docs
        .iter()
        .enumerate()
        .filter(|(_, doc)| !doc.text.is_empty())
    {
        let docno = format!("{}/{}.txt", i % 3, doc.docno);
        let path = place.join(&docno);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &doc.text).unwrap();
        read.push(Doc {
            docno,
            url: None,
            text: doc.text.clone(),
        });
    }
    read.sort_by(|a, b| a.docno.cmp(&b.docno));
    (place, read)
}
