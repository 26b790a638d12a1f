//! Finding blocks of a list that are repeated, so that each is written once.

use std::collections::HashMap;
use std::rc::Rc;

/// Longest block that is looked for.
const MAX_PERIOD: usize = 128;
/// Lines that a repeated block takes beside its contents: `repeat:` and `layers:`.
const HEADER_LINES: usize = 2;

/// A part of the written list: `times` copies of the `len` items from `start` on. Items that are not
/// repeated are parts of one item, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// First item.
    pub start: usize,
    /// Items of one copy.
    pub len: usize,
    /// Number of copies.
    pub times: usize,
    /// Parts of one copy; empty for a single item.
    pub parts: Rc<[Part]>,
}

/// The shortest way to write `items`, counted in lines, as items and repeated blocks of blocks.
pub(super) fn find(items: &[usize]) -> Rc<[Part]> {
    Finder { items, known: HashMap::new() }.shortest(0, items.len()).parts
}

struct Finder<'a> {
    items: &'a [usize],
    /// By start and length.
    known: HashMap<(usize, usize), Listing>,
}

#[derive(Clone)]
struct Listing {
    size: Size,
    parts: Rc<[Part]>,
}

/// Size to be minimised: first the lines, then the blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Size {
    lines: usize,
    blocks: usize,
}

impl Finder<'_> {
    /// The shortest listing of `len` items from `start` on, found from the end: each item is written
    /// by itself, or as the begin of all copies of a block that start there. Of listings of one size
    /// the one whose blocks start first is taken.
    fn shortest(&mut self, start: usize, len: usize) -> Listing {
        if let Some(listing) = self.known.get(&(start, len)) {
            return listing.clone();
        }
        let mut sizes = vec![Size::default(); len + 1];
        let mut chosen: Vec<Part> = Vec::with_capacity(len);
        let mut matches = Matches::new();
        for at in (0..len).rev() {
            matches.step(&self.items[start..start + len], at);
            let item = Part { start: start + at, len: 1, times: 1, parts: Rc::new([]) };
            let size = Size { lines: 1 + sizes[at + 1].lines, ..sizes[at + 1] };
            let mut best = (size, item);
            for period in matches.periods() {
                let times = 1 + matches.length[period] / period;
                let block = self.shortest(start + at, period);
                let size = block.size.repeated_before(sizes[at + period * times]);
                if size < best.0 || size == best.0 && best.1.times == 1 {
                    best =
                        (size, Part { start: start + at, len: period, times, parts: block.parts });
                }
            }
            sizes[at] = best.0;
            chosen.push(best.1);
        }
        chosen.reverse();
        let listing = Listing { size: sizes[0], parts: follow(&chosen) };
        self.known.insert((start, len), listing.clone());
        listing
    }
}

impl Size {
    /// Size of a block of this size with its header, and of the `rest` after it.
    fn repeated_before(self, rest: Self) -> Self {
        Self {
            lines: HEADER_LINES + self.lines + rest.lines,
            blocks: 1 + self.blocks + rest.blocks,
        }
    }
}

/// The chosen parts from the first item on, each starting where the one before ends.
fn follow(chosen: &[Part]) -> Rc<[Part]> {
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(part) = chosen.get(at) {
        parts.push(part.clone());
        at += part.len * part.times;
    }
    parts.into()
}

/// For each period the number of items, from the current one on, that equal the item one period
/// later.
struct Matches {
    length: [usize; MAX_PERIOD + 1],
}

impl Matches {
    fn new() -> Self {
        Self { length: [0; MAX_PERIOD + 1] }
    }

    /// Moves on to item `at`, the one before the current item.
    fn step(&mut self, items: &[usize], at: usize) {
        for period in 1..=MAX_PERIOD {
            let equal = items.get(at + period) == Some(&items[at]);
            self.length[period] = if equal { self.length[period] + 1 } else { 0 };
        }
    }

    /// Periods with at least two copies, whose block is not itself made of equal parts.
    fn periods(&self) -> impl Iterator<Item = usize> + use<> {
        let length = self.length;
        let repeats = move |period: usize, of: usize| length[period] + period >= of;
        (1..=MAX_PERIOD).filter(move |&period| {
            let made_of = |part| period % part == 0 && repeats(part, period);
            repeats(period, 2 * period) && !(1..=period / 2).any(made_of)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes `a` to `z` as found: `3(ab)` for three copies.
    fn check(items: &str, expected: &str) {
        fn write(items: &str, parts: &[Part]) -> String {
            let part = |part: &Part| match part.times {
                1 => items[part.start..=part.start].to_string(),
                times => format!("{times}({})", write(items, &part.parts)),
            };
            parts.iter().map(part).collect()
        }
        let symbols: Vec<_> = items.bytes().map(usize::from).collect();
        assert_eq!(write(items, &find(&symbols)), expected);
    }

    #[test]
    fn blocks_are_written_once_where_that_is_shorter() {
        check("", "");
        check("abc", "abc");
        check("aaa", "aaa"); // three lines either way
        check("aaaa", "4(a)");
        check("abab", "abab");
        check("xabcabcy", "x2(abc)y");
        check("abcabcabd", "2(abc)abd");
    }

    #[test]
    fn blocks_are_found_inside_blocks() {
        check("xaaaaayxaaaaay", "2(x5(a)y)");
        check("abcabcabcdabcabcabcd", "2(3(abc)d)");
    }

    #[test]
    fn long_constant_lists_are_one_block() {
        let symbols = vec![7; 20_000];
        let parts = find(&symbols);
        assert_eq!((parts.len(), parts[0].len, parts[0].times), (1, 1, 20_000));
    }
}
