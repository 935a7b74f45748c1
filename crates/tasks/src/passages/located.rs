//! The bytes of places: all are found in one pass over the texts.

use std::ops::Range;
use std::sync::Mutex;

use super::places::{PIECE_BYTES, Place, Repeat};
use super::repeats::Search;
use super::spans::Positions;
use lookalike_base::{Result, boundary_before, lock, unlocked};
use lookalike_store::{Cell, Sort, Sorted, UnitSort, cells, item};

/// The most bytes of the text of a passage in `BOILERPLATE_FILE`.
pub const TEXT_BYTES: usize = 2000;

item! {
    /// The bytes of a place in its text. The places are numbered in the order of the calls.
    pub(super) struct Located {
        number: u64,
        begin: u64,
        length: u32,
    }
}

item! {
    /// A match of two documents, with the tokens where it begins in each.
    pub(super) struct ListedMatch {
        a: u32,
        b: u32,
        begin_a: u32,
        begin_b: u32,
        tokens: u32,
        common: u32,
    }
}

/// Places that are to be found in the texts, in the order in which they are given.
pub(super) struct Places {
    /// The places, with their number as the first occurrence, and their number of tokens.
    sorter: Sort<Repeat>,
    count: u64,
}

impl Places {
    pub fn new(search: &Search<'_, '_>) -> Result<Places> {
        Ok(Places {
            sorter: search.sorter("places", 4)?,
            count: 0,
        })
    }

    pub fn push(&mut self, place: Place, tokens: u32) -> Result<()> {
        self.sorter
            .push(Repeat::new(place, Place::of(self.count), tokens))?;
        self.count += 1;
        Ok(())
    }

    /// Finds the bytes of all places; they come back in order, as the first byte and a length. Also
    /// returns the texts of the first `shown` places, each cut off after [`TEXT_BYTES`].
    pub fn located(
        self,
        search: &Search<'_, '_>,
        shown: usize,
    ) -> Result<(Sorted<Located>, Vec<String>)> {
        let (places, _) = search.write(self.sorter.finish()?, false)?;
        let sorter = UnitSort::temporary(search.sorter("bytes", 4)?);
        let texts = Mutex::new(vec![String::new(); shown]);
        let ends = |place: &Repeat| [place.place.token, place.place.token + place.count - 1];
        search.each_unit(|unit, parser| {
            let mut reader = places.reader(PIECE_BYTES);
            let mut wanted = Vec::new();
            let mut text = String::new();
            let mut positions = Positions::default();
            let mut found = Vec::new();
            search.reread.each(
                unit,
                |number| places.has(number),
                |number, document, raw| {
                    text.clear();
                    parser.text_as_read(raw, &mut text);
                    let parse = search.parse.of(&raw.docno);
                    positions.begin();
                    reader.begin(number);
                    while reader.next(&mut wanted)? {
                        let all = wanted.iter().flat_map(ends);
                        positions.find(&text, &parse, all);
                        for place in &wanted {
                            let [first, last] = ends(place).map(|token| positions.of(token));
                            let Some((first, last)) = first.zip(last) else {
                                return Err(search.reread.changed(document));
                            };
                            let number = place.first.number();
                            if number < shown as u64 {
                                let end = last.end.min(first.begin + TEXT_BYTES);
                                let passage = first.begin..boundary_before(&text, end);
                                lock(&texts)[number as usize].push_str(&text[passage]);
                            }
                            found.push(Located {
                                number,
                                begin: first.begin as u64,
                                length: (last.end - first.begin) as u32,
                            });
                        }
                        if let Some(last) = wanted.last() {
                            positions.go_on(last.place.token);
                        }
                        sorter.push(&mut found)?;
                    }
                    Ok(())
                },
            )
        })?;
        Ok((sorter.into_sorter().finish()?, unlocked(texts)))
    }
}

/// The bytes of the next place.
pub(super) fn next_bytes(located: &mut Sorted<Located>) -> Result<Range<u64>> {
    let next = located.next()?;
    Ok(next.map_or(0..0, |Located { begin, length, .. }| {
        begin..begin + u64::from(length)
    }))
}

impl ListedMatch {
    /// The cells of its row between the docnos and the numbers of its documents, with its bytes in
    /// both.
    pub fn cells(&self, bytes: &[Range<u64>; 2]) -> [Cell<'static>; 8] {
        let [of_a, of_b] = bytes;
        cells! {
            self.begin_a, self.begin_b, self.tokens, of_a.start, of_a.end, of_b.start, of_b.end,
            self.common,
        }
    }
}
