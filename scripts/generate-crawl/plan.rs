//! What each document is, by its number alone: an original, one of a family of forms, the edited
//! version of another, or its exact duplicate; and where it stands.
//!
//! # Algorithm
//! A document that repeats another chooses one of the documents before it: half of the time any,
//! half of the time one near the first, with i^(-2/3). If that one repeats another itself, its
//! original is taken: the sizes of families have a heavy tail. The most popular originals would
//! decide the whole collection if they were long, so a long document is never chosen for its
//! popularity, but by chance among the long: the shares of the size groups stay.
//!
//! # Invariants
//! - A document is planned without those that follow: a smaller crawl is the beginning of a larger.
//! - What is repeated has a lower number, so every chain ends, and its end is no repetition.

use super::random::{Purpose, Random};
use super::sizes;
use super::text::Edit;

/// Hosts of the whole crawl, however small; .GOV is of the same order.
pub const HOSTS: u64 = 8_000;
/// Originals of more words are not chosen for popularity.
const POPULAR_WORDS: u32 = 2_000;
/// A new family of forms for so many documents.
const FORM_EVERY: u64 = 1_024;
/// Words of a form, without what its host adds.
const FORM_WORDS: (u32, u32) = (150, 350);
/// Edited versions on the host of the original, the others being on any.
const SAME_HOST: f64 = 0.6;
/// The least resemblance that an edit aims at.
const LEAST_RESEMBLANCE: f64 = 0.3;

/// What decides the crawl, but for its size.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    pub seed: u64,
    /// The shares of documents that are edited versions, exact duplicates, and forms.
    pub edited: f64,
    pub exact: f64,
    pub forms: f64,
    /// Short texts in place of pages.
    pub short: bool,
}

/// What a document is.
#[derive(Clone, Copy)]
pub enum Origin {
    Original,
    Form { family: u64 },
    Edited { of: u64 },
    Exact { of: u64 },
}

/// Where a page stands, and so what its host adds.
#[derive(Clone, Copy)]
pub struct Place {
    pub host: u64,
    pub section: u64,
    /// The words of the section's closing paragraph, and of the host's links; none of either on
    /// pages that are short beside them.
    pub closing: u32,
    pub links: u32,
}

/// The plan of a crawl.
#[derive(Clone, Copy)]
pub struct Plan(pub Parameters);

#[derive(PartialEq)]
enum Kind {
    Original,
    Form,
    Edited,
    Exact,
}

impl Plan {
    fn random(&self, purpose: Purpose, number: u64) -> Random {
        Random::new(self.0.seed, purpose, number)
    }

    /// The kind, and what is left of the stream that drew it.
    fn kind(&self, number: u64) -> (Kind, Random) {
        let Parameters {
            edited,
            exact,
            forms,
            ..
        } = self.0;
        let mut random = self.random(Purpose::Origin, number);
        let u = random.unit();
        let kind = if number == 0 {
            Kind::Original
        } else if u < exact {
            Kind::Exact
        } else if u < exact + edited {
            Kind::Edited
        } else {
            // Forms are short, so they take the place of short documents only.
            let short = f64::from(sizes::GROUPS[0].documents)
                / sizes::GROUPS
                    .iter()
                    .map(|g| f64::from(g.documents))
                    .sum::<f64>();
            let share = forms / (1.0 - exact - edited) / short;
            if self.drawn_words(number) < sizes::GROUPS[1].low && random.chance(share) {
                Kind::Form
            } else {
                Kind::Original
            }
        };
        (kind, random)
    }

    pub fn origin(&self, number: u64) -> Origin {
        let (kind, mut random) = self.kind(number);
        match kind {
            Kind::Original => Origin::Original,
            Kind::Form => Origin::Form {
                family: random.skewed(1 + number / FORM_EVERY),
            },
            Kind::Edited => Origin::Edited {
                of: self.source(number, random, true),
            },
            Kind::Exact => Origin::Exact {
                of: self.source(number, random, false),
            },
        }
    }

    /// The document that `number` repeats: one that is no exact duplicate, nor edited if so asked.
    fn source(&self, number: u64, mut random: Random, unedited: bool) -> u64 {
        if random.chance(0.5) {
            let of = self.resolve(random.skewed(number), unedited);
            if self.root_words(of) <= POPULAR_WORDS {
                return of;
            }
            // About one in thirteen is long: hardly ever are there so many tries.
            for _ in 0..100 {
                let of = self.any(number, &mut random, unedited);
                if self.root_words(of) > POPULAR_WORDS {
                    return of;
                }
            }
        }
        self.any(number, &mut random, unedited)
    }

    fn any(&self, number: u64, random: &mut Random, unedited: bool) -> u64 {
        let chosen = (random.unit() * number as f64) as u64;
        self.resolve(chosen.min(number - 1), unedited)
    }

    fn resolve(&self, number: u64, unedited: bool) -> u64 {
        let (kind, random) = self.kind(number);
        match kind {
            Kind::Exact => self.resolve(self.source(number, random, false), unedited),
            Kind::Edited if unedited => self.source(number, random, true),
            _ => number,
        }
    }

    fn drawn_words(&self, number: u64) -> u32 {
        sizes::draw(&mut self.random(Purpose::Words, number))
    }

    fn root_words(&self, number: u64) -> u32 {
        self.drawn_words(self.resolve(number, true))
    }

    /// The words of the text of an original, or of a form, and where it stands.
    pub fn layout(&self, number: u64) -> (u32, Place) {
        if let Origin::Form { family } = self.origin(number) {
            let mut random = self.random(Purpose::Form, family);
            let words = random.between(FORM_WORDS.0, FORM_WORDS.1);
            return (words, self.place(&mut random).fitting(words));
        }
        let words = self.drawn_words(number);
        let place = self.place(&mut self.random(Purpose::Layout, number));
        let added = place.links + place.closing;
        let place = place.fitting(words.saturating_sub(added));
        (words - place.links - place.closing, place)
    }

    /// Where the edited version `number` of `of` stands, and whether that is on its host.
    pub fn edited_place(&self, number: u64, of: u64) -> (Place, bool) {
        let (words, place) = self.layout(of);
        let mut random = self.random(Purpose::Layout, number);
        if random.chance(SAME_HOST) {
            return (place, true);
        }
        let other = self.place(&mut random).fitting(words);
        (other, other.host == place.host)
    }

    /// How the edited version `number` differs: so that the resemblances are spread from
    /// [`LEAST_RESEMBLANCE`] to 1, more of them the higher.
    pub fn edit(&self, number: u64) -> Edit {
        let mut random = self.random(Purpose::Edit, number);
        let choice = random.below(10);
        let moves = if choice < 3 { random.between(1, 3) } else { 0 };
        let rate = if choice < 1 {
            0.0
        } else {
            let u = random.unit();
            let resemblance = 1.0 - (1.0 - LEAST_RESEMBLANCE) * u * u;
            // Both sides keep the share s of their shingles: s / (2 - s) is the resemblance. A
            // shingle of ten words stays if all ten do.
            1.0 - tenth_root(2.0 * resemblance / (1.0 + resemblance))
        };
        Edit { rate, moves }
    }

    fn place(&self, random: &mut Random) -> Place {
        let host = random.skewed(HOSTS);
        let mut of_host = self.random(Purpose::Host, host);
        let u = of_host.unit();
        let links = 5 + (35.0 * u * u) as u32;
        let section = random.skewed(u64::from(of_host.between(1, 12)));
        let u = self.random(Purpose::Section, host * 16 + section).unit();
        let closing = 15 + (95.0 * u * u) as u32;
        Place {
            host,
            section,
            closing,
            links,
        }
    }
}

impl Place {
    /// Without what the host adds if that is more than the page's own words.
    fn fitting(mut self, words: u32) -> Place {
        if words < self.links + self.closing {
            (self.links, self.closing) = (0, 0);
        }
        self
    }
}

/// By Newton's method, since `powf` may differ from machine to machine.
fn tenth_root(value: f64) -> f64 {
    let mut root = 1.0;
    for _ in 0..40 {
        let cube: f64 = root * root * root;
        let ninth = cube * cube * cube;
        root -= (ninth * root - value) / (10.0 * ninth);
    }
    root
}
