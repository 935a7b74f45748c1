//! Edits of words: their definition, how to apply them and how to draw them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::config::{Cherkasova, Chowdhury, EditPlaces, Operation};
use super::words::{TermList, words};
use lookalike_base::Random;

/// Memory of an edit with its strings and its place in a growing list, without the bytes of its
/// words.
pub(super) const EDIT_BYTES: u64 = 256;

/// One edit of a text, at a word of the original, counted from 0. The edits of a list are ordered
/// by place, and each place of the original is changed only once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Edit {
    /// Inserts a word before the word at `at`, or after the last if `at` is the number of words.
    Insert {
        /// The place.
        at: u64,
        /// The word.
        word: String,
    },
    /// Removes a word.
    Remove {
        /// Its place.
        at: u64,
        /// The word.
        word: String,
    },
    /// Swaps a word with the next.
    Swap {
        /// The place of the first word.
        at: u64,
        /// The first word.
        word: String,
        /// The next word.
        next: String,
    },
}

impl Edit {
    /// Its name.
    pub fn kind(&self) -> &'static str {
        match self {
            Edit::Insert { .. } => "insert",
            Edit::Remove { .. } => "remove",
            Edit::Swap { .. } => "swap",
        }
    }

    /// The place of the edit in the original.
    pub fn at(&self) -> u64 {
        match self {
            Edit::Insert { at, .. } | Edit::Remove { at, .. } | Edit::Swap { at, .. } => *at,
        }
    }
}

/// Applies edits to a text of words separated by white space; the words of the copy are joined by
/// one space.
///
/// ```
/// use lookalike_lab::perturb::{Edit, apply};
/// let edits = [
///     Edit::Swap { at: 0, word: "b".into(), next: "a".into() },
///     Edit::Insert { at: 2, word: "x".into() },
///     Edit::Remove { at: 2, word: "d".into() },
/// ];
/// assert_eq!(apply("b a d", &edits).unwrap(), "a b x");
/// assert!(apply("c a d", &edits).is_err());
/// ```
///
/// # Errors
/// The number of the first edit that names a word other than the one at its place, or that is out
/// of order, and the word that is there.
pub fn apply(original: &str, edits: &[Edit]) -> Result<String, (usize, String)> {
    fn push(copy: &mut String, word: &str) {
        if !copy.is_empty() {
            copy.push(' ');
        }
        copy.push_str(word);
    }
    let mut copy = String::with_capacity(original.len() + edits.len() * 8);
    let mut left = words(original);
    let mut position = 0u64;
    for (number, edit) in edits.iter().enumerate() {
        let misfit = |found: &str| (number, found.to_string());
        if edit.at() < position {
            return Err(misfit("an earlier edit"));
        }
        while position < edit.at() {
            let word = left.next().ok_or_else(|| misfit("the end of the text"))?;
            push(&mut copy, word);
            position += 1;
        }
        let mut take = |expected: &str| match left.next() {
            Some(found) if found == expected => Ok(()),
            found => Err(misfit(found.unwrap_or("the end of the text"))),
        };
        match edit {
            Edit::Insert { word, .. } => push(&mut copy, word),
            Edit::Remove { word, .. } => {
                take(word)?;
                position += 1;
            }
            Edit::Swap { word, next, .. } => {
                take(word)?;
                take(next)?;
                position += 2;
                push(&mut copy, next);
                push(&mut copy, word);
            }
        }
    }
    left.for_each(|word| push(&mut copy, word));
    Ok(copy)
}

/// Edits, and draws that gave none.
pub(super) struct Drawn {
    pub edits: Vec<Edit>,
    /// Swaps drawn for a last word.
    pub no_next: u64,
}

/// Draws the edits of Chowdhury et al. 2002, section 4.3.
pub(super) fn chowdhury(recipe: &Chowdhury, text: &str, terms: &TermList, seed: u64) -> Drawn {
    let mut random = Random::new(seed);
    let (mut edits, mut no_next) = (Vec::new(), 0);
    let every = u64::from(recipe.every.max(1));
    let mut left = words(text).peekable();
    let mut at = 0u64;
    while let Some(word) = left.next() {
        let looked_at = (at + 1).is_multiple_of(every);
        at += 1;
        if !looked_at {
            continue;
        }
        // From 1 to 10.
        let number = 1 + random.below(10);
        if number <= u64::from(recipe.alpha) {
            continue;
        }
        let here = at - 1;
        let word = word.to_string();
        match random.below(3) {
            0 => edits.push(Edit::Remove { at: here, word }),
            1 => match left.peek() {
                None => no_next += 1,
                Some(&next) => {
                    let next = next.to_string();
                    edits.push(Edit::Swap {
                        at: here,
                        word,
                        next,
                    });
                    // If every word is considered, this one has already had its turn.
                    if every == 1 {
                        left.next();
                        at += 1;
                    }
                }
            },
            _ => {
                let word = terms.draw(&mut random).to_string();
                edits.push(Edit::Insert { at, word });
            }
        }
    }
    Drawn { edits, no_next }
}

/// Draws `count` edits of Cherkasova et al. 2009, section 3, for a text of `words` words; `None` if
/// it has too few.
pub(super) fn cherkasova(
    recipe: &Cherkasova,
    text: &str,
    words: u64,
    count: u32,
    seed: u64,
) -> Option<Drawn> {
    let mut random = Random::new(seed);
    let count = u64::from(count);
    let evenly = |places: u64| (0..count).map(move |j| (2 * j + 1) * places / (2 * count));
    let edits = match recipe.edit {
        Operation::Insert => {
            let places = words + 1;
            let mut at: Vec<u64> = match recipe.spread {
                EditPlaces::Uniform => evenly(places).collect(),
                EditPlaces::Random => (0..count).map(|_| random.below(places)).collect(),
            };
            at.sort_unstable();
            let insert = |at| Edit::Insert {
                at,
                word: recipe.word.clone(),
            };
            at.into_iter().map(insert).collect()
        }
        Operation::Remove if count > words => return None,
        Operation::Remove => {
            let at: BTreeSet<u64> = match recipe.spread {
                EditPlaces::Uniform => evenly(words).collect(),
                EditPlaces::Random => sample(count, words, &mut random),
            };
            let mut at = at.into_iter().peekable();
            let mut edits = Vec::with_capacity(at.len());
            for (position, word) in (0u64..).zip(super::words::words(text)) {
                if at.next_if_eq(&position).is_some() {
                    edits.push(Edit::Remove {
                        at: position,
                        word: word.to_string(),
                    });
                }
            }
            edits
        }
    };
    Some(Drawn { edits, no_next: 0 })
}

/// Draws `count` different numbers below `bound`, each set of them equally probable (Floyd's
/// algorithm: Bentley & Floyd, *A sample of brilliance*, 1987).
fn sample(count: u64, bound: u64, random: &mut Random) -> BTreeSet<u64> {
    let mut drawn = BTreeSet::new();
    for most in bound.saturating_sub(count)..bound {
        let number = random.below(most + 1);
        if !drawn.insert(number) {
            drawn.insert(most);
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_set_is_drawn_as_often() {
        let mut random = Random::new(3);
        let mut times = std::collections::BTreeMap::new();
        const DRAWS: u32 = 20_000;
        for _ in 0..DRAWS {
            *times.entry(sample(2, 5, &mut random)).or_insert(0u32) += 1;
        }
        assert_eq!(times.len(), 10);
        let mean = f64::from(DRAWS) / 10.0;
        for n in times.values() {
            assert!(
                (f64::from(*n) - mean).abs() <= 5.0 * mean.sqrt(),
                "{times:?}"
            );
        }
        assert_eq!(sample(5, 5, &mut random), (0..5).collect());
        assert_eq!(sample(0, 5, &mut random), BTreeSet::new());
    }

    #[test]
    fn edits_that_do_not_fit_are_refused() {
        let remove = |at, word: &str| Edit::Remove {
            at,
            word: word.into(),
        };
        let insert = |at| Edit::Insert {
            at,
            word: "x".into(),
        };
        assert_eq!(apply("", &[insert(0)]).unwrap(), "x");
        assert_eq!(apply("a b", &[insert(2), insert(2)]).unwrap(), "a b x x");
        let misfit = |text, edits: &[Edit]| apply(text, edits).unwrap_err().0;
        assert_eq!(misfit("a b", &[insert(3)]), 0);
        assert_eq!(misfit("a b", &[remove(1, "b"), remove(1, "b")]), 1);
        assert_eq!(misfit("a b", &[remove(0, "a"), remove(1, "c")]), 1);
        assert_eq!(misfit("a", &[remove(0, "a"), remove(1, "b")]), 1);
        let swap = Edit::Swap {
            at: 1,
            word: "b".into(),
            next: "c".into(),
        };
        assert_eq!(misfit("a b", &[swap]), 0);
    }

    proptest! {
        #[test]
        fn the_walk_of_chowdhury_edits_what_it_looks_at(
            count in 0usize..40, every in 1u32..5, alpha in 0u32..=10, seed in any::<u64>(),
        ) {
            let text: Vec<String> = (0..count).map(|n| format!("w{n}")).collect();
            let recipe = Chowdhury { copies: 1, every, alpha };
            let terms = TermList::of(["term"]);
            let drawn = chowdhury(&recipe, &text.join(" "), &terms, seed);
            let mut most = 0;
            for edit in &drawn.edits {
                let word = match edit {
                    Edit::Insert { at, .. } => *at,
                    other => other.at() + 1,
                };
                prop_assert!(word > most && word.is_multiple_of(u64::from(every)));
                most = word;
            }
            if alpha == 10 {
                prop_assert!(drawn.edits.is_empty());
            }
            if alpha == 0 && every > 1 {
                let looked_at = count as u64 / u64::from(every);
                prop_assert_eq!(drawn.edits.len() as u64 + drawn.no_next, looked_at);
            }
            let copy = apply(&text.join(" "), &drawn.edits).unwrap();
            let change = |kind| drawn.edits.iter().filter(|edit| edit.kind() == kind).count();
            prop_assert_eq!(words(&copy).count(), count + change("insert") - change("remove"));
        }
    }
}
