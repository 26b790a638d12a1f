//! Choices as lines of text, for tables of mappings.
//!
//! A line has the layer, the tensors that are resident, the free shared memory, what is known of the choice, its
//! latency \[cycle\] and energy \[pJ\], the bounds of both and of their product, whether it lies in the mapspace that was asked for,
//! numbers of decided mappings, the form and the mapping, separated by spaces:
//!
//! ```text
//! 1,1,64,64,56,56,3,3/1,1,56,1/1,1,56,1 i 8388608 gap 90000 1e9 28224 9e8 2.6e13 inside - = 16:C16,X1s 16:K1s
//! ```
//!
//! The first three are the key of the line.
//!
//! Operators that ride along with the layer stand after its resident tensors: `+` and the five numbers of
//! [`Riders`], in their order, between commas.
//!
//! A layer is its extents and both windows (stride, dilation, stored positions, padding), with `d` at the
//! end if channels are groups. The form is `=` if the layer is computed as it is written. A level of a
//! mapping is its units and its loops, outermost first: axis, size, and `s` if it is spread. Loops above
//! the shared memory come first, with `dram` in place of units.

use std::fmt::Write as _;

use crate::cost::loop_nest::{
    Axis, Choice, Extents, Level, Loop, Machine, Mapping, Nest, Riders, Window, is_form,
};
use crate::model::PerTensor;

use super::exact::Counts;
use super::kept::{Kept, LayerKey};
use super::objective::Value;
use super::search::Status;
use super::table;

/// The key of the line of a layer.
pub(super) fn key(key: &LayerKey) -> String {
    let mut text = layer(&key.nest);
    text.push(' ');
    let PerTensor { input, weight, output } = key.resident;
    let letters = [(input, 'i'), (weight, 'w'), (output, 'o'), (!(input | weight | output), '-')];
    text.extend(letters.iter().filter(|(is, _)| *is).map(|(_, letter)| letter));
    if let Some(Riders { read, written, operands, operations, cycles }) = key.riders {
        // Writing to a string does not fail.
        let _ = write!(text, "+{read},{written},{operands},{operations},{cycles}");
    }
    let _ = match key.shared_bytes {
        Some(bytes) => write!(text, " {bytes}"),
        None => write!(text, " -"),
    };
    text
}

/// The key of a line and the rest; `None` if it is no line of a layer.
pub(super) fn split(line: &str) -> Option<(&str, &str)> {
    let (at, _) = line.match_indices(' ').nth(2)?;
    line.starts_with(|first: char| first.is_ascii_digit()).then(|| (&line[..at], &line[at + 1..]))
}

/// The line of a choice.
pub fn write(key: &LayerKey, kept: &Kept) -> String {
    let mut line = self::key(key);
    let status = STATUS.iter().find(|(_, status)| *status == kept.status).map_or("", |it| it.0);
    let Kept { value, bound, bound_edp, choice, .. } = kept;
    let place = if kept.is_inside { INSIDE } else { OUTSIDE };
    let Counts { evaluated, infeasible, excluded, best } = kept.counts;
    let counts = match kept.counts == Counts::default() {
        true => "-".into(),
        false => format!("{evaluated},{infeasible},{excluded},{best}"),
    };
    let form = if choice.nest == key.nest { "=".into() } else { layer(&choice.nest) };
    // Writing to a string does not fail.
    let _ = write!(
        line,
        " {status} {} {} {} {} {bound_edp} {place} {counts} {form}",
        value.cycles, value.energy_pj, bound.cycles, bound.energy_pj
    );
    line.push_str(&mapping(&choice.mapping));
    line
}

/// Words for mappings in the mapspace that was asked for, and for others.
const INSIDE: &str = "inside";
const OUTSIDE: &str = "outside";

/// Certainty about a choice, as lines write it.
const STATUS: [(&str, Status); 4] = [
    ("bound", Status::OptimalByBound),
    ("enumerated", Status::OptimalByEnumeration),
    ("gap", Status::Gap),
    ("none", Status::NoLegalMapping),
];

/// Text of a mapping, each level after a space.
pub(super) fn mapping(mapping: &Mapping) -> String {
    let level = |units: String, level: &Level| {
        let loops = level.loops().iter().map(|it| {
            let spread = if it.spatial { "s" } else { "" };
            format!("{}{}{spread}", it.axis.letter(), it.size)
        });
        format!(" {units}:{}", loops.collect::<Vec<_>>().join(","))
    };
    let off_chip = mapping.off_chip().map(|it| level("dram".into(), it));
    let on_chip = mapping.levels().iter().map(|it| level(it.units().to_string(), it));
    off_chip.into_iter().chain(on_chip).collect()
}

/// Text of a mapping, after its form if that is another loop nest than the written one.
pub fn mapping_text(written: &Nest, form: &Nest, mapping: &Mapping) -> String {
    let of_mapping = self::mapping(mapping);
    match form == written {
        true => of_mapping.trim_start().into(),
        false => {
            let extents = form.extents().map(|extent| extent.to_string());
            format!("as {}{of_mapping}", extents.join("x"))
        }
    }
}

/// The choice of a line; `None` if the line is not one, or its mapping does not compute the layer on `machine`.
pub(super) fn read(line: &str, machine: &Machine) -> Option<(LayerKey, Kept)> {
    let mut text = Text(line);
    let key = text.key()?;
    let kept = read_answer(&key, text.after(b' ')?, machine)?;
    Some((key, kept))
}

/// The choice that the text after the key of a line states; `None` if it states none, or a mapping that does not
/// compute the layer on `machine`.
pub(super) fn read_answer(key: &LayerKey, text: &str, machine: &Machine) -> Option<Kept> {
    let mut text = Text(text);
    let status = text.word();
    let status = STATUS.iter().find(|(name, _)| *name == status)?.1;
    text.skip(b' ')?;
    let value = text.value()?;
    let bound = text.value()?;
    let bound_edp = text.real()?;
    text.skip(b' ')?;
    let is_inside = match text.word() {
        INSIDE => true,
        OUTSIDE => false,
        _ => return None,
    };
    text.skip(b' ')?;
    let counts = match text.skip(b'-') {
        Some(()) => Counts::default(),
        None => {
            let [evaluated, infeasible, excluded, best] = text.numbers()?;
            Counts { evaluated, infeasible, excluded, best }
        }
    };
    text.skip(b' ')?;
    let form = match text.skip(b'=') {
        Some(()) => key.nest.clone(),
        None => text.layer().filter(|form| is_form(form, &key.nest))?,
    };
    let mapping = text.mapping(&form, machine)?;
    let choice = Choice { nest: form, mapping, certainty: None };
    Some(Kept { status, value, bound, bound_edp, choice, is_inside, counts })
}

/// Lines with choices of a file.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    table::choices_of(text).lines()
}

/// The layer of a line; `None` if it has none.
pub fn layer_of(line: &str) -> Option<LayerKey> {
    Text(line).key()
}

/// Whether a line is a choice for a machine of this many PEs with memories without limits.
pub fn is_choice(line: &str, pes: u32) -> bool {
    read(line, &Machine::new(pes)).is_some()
}

fn layer(nest: &Nest) -> String {
    let (mut text, mut digits) = (String::with_capacity(USUAL_LAYER), itoa::Buffer::new());
    let mut list = |numbers: &[u32], end: &str| {
        for (at, &number) in numbers.iter().enumerate() {
            if at > 0 {
                text.push(',');
            }
            match number {
                0..10 => text.push(char::from(b'0' + number as u8)),
                _ => text.push_str(digits.format(number)),
            }
        }
        text.push_str(end);
    };
    let [rows, columns] = nest.windows().map(|it| [it.stride, it.dilation, it.stored, it.padding]);
    list(nest.extents(), "/");
    list(&rows, "/");
    list(&columns, if nest.is_depthwise() { "/d" } else { "" });
    text
}

/// Bytes that the text of a layer usually takes, with what follows it in a key.
const USUAL_LAYER: usize = 96;

/// Text that is read from its begin. What is read is ASCII.
struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    /// Skips this character; `None` if another one is next.
    fn skip(&mut self, next: u8) -> Option<()> {
        self.0 = self.after(next)?;
        Some(())
    }

    /// The text after this character; `None` if another one is next.
    fn after(&self, next: u8) -> Option<&'a str> {
        self.0.strip_prefix(char::from(next))
    }

    /// Text up to the next space.
    fn word(&mut self) -> &'a str {
        let end = self.0.bytes().position(|it| it == b' ').unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        word
    }

    fn number<T: TryFrom<u64>>(&mut self) -> Option<T> {
        let (mut value, mut n_digits) = (0u64, 0);
        for digit in self.0.bytes().map(|it| it.wrapping_sub(b'0')).take_while(|it| *it < 10) {
            value = value.checked_mul(10)?.checked_add(digit.into())?;
            n_digits += 1;
        }
        self.0 = &self.0[n_digits..];
        T::try_from(value).ok().filter(|_| n_digits > 0)
    }

    /// Numbers between commas.
    fn numbers<T: TryFrom<u64> + Default + Copy, const N: usize>(&mut self) -> Option<[T; N]> {
        let mut numbers = [T::default(); N];
        for (at, number) in numbers.iter_mut().enumerate() {
            if at > 0 {
                self.skip(b',')?;
            }
            *number = self.number()?;
        }
        Some(numbers)
    }

    /// A finite number of at least 0.
    fn real(&mut self) -> Option<f64> {
        self.word().parse().ok().filter(|real: &f64| real.is_finite() && *real >= 0.0)
    }

    /// Latency and energy, each with the space after it.
    fn value(&mut self) -> Option<Value> {
        let cycles = self.number()?;
        self.skip(b' ')?;
        let energy_pj = self.real()?;
        self.skip(b' ')?;
        Some(Value { cycles, energy_pj })
    }

    /// The key of a line, up to the space after it.
    fn key(&mut self) -> Option<LayerKey> {
        let nest = self.layer()?;
        self.skip(b' ')?;
        let mut resident = PerTensor::splat(false);
        while let Some(first @ (b'i' | b'w' | b'o' | b'-')) = self.0.bytes().next() {
            match first {
                b'i' => resident.input = true,
                b'w' => resident.weight = true,
                b'o' => resident.output = true,
                _ => {}
            }
            self.skip(first)?;
        }
        let mut riders = None;
        if self.skip(b'+').is_some() {
            let [read, written, operands, operations, cycles] = self.numbers()?;
            riders = Some(Riders { read, written, operands, operations, cycles });
        }
        self.skip(b' ')?;
        let shared_bytes = match self.skip(b'-') {
            Some(()) => None,
            None => Some(self.number()?),
        };
        Some(LayerKey { nest, resident, riders, shared_bytes })
    }

    fn layer(&mut self) -> Option<Nest> {
        let extents: Extents = self.numbers()?;
        let mut window = || {
            self.skip(b'/')?;
            let [stride, dilation, stored, padding] = self.numbers()?;
            Some(Window { stride, dilation, stored, padding })
        };
        let windows = [window()?, window()?];
        let depthwise = self.skip(b'/').is_some();
        if depthwise {
            self.skip(b'd')?;
        }
        Nest::new(extents, windows, depthwise).ok()
    }

    /// The mapping of a loop nest, each level after a space, to the end.
    fn mapping(&mut self, nest: &Nest, machine: &Machine) -> Option<Mapping> {
        let (mut loops, mut levels) = (Vec::with_capacity(USUAL_LOOPS), Vec::new());
        let mut n_off_chip = None;
        while !self.0.is_empty() {
            self.skip(b' ')?;
            let first = loops.len();
            let units = match self.0.strip_prefix("dram") {
                Some(rest) if first == 0 && levels.is_empty() && n_off_chip.is_none() => {
                    self.0 = rest;
                    None
                }
                _ => Some(self.number()?),
            };
            self.skip(b':')?;
            while self.0.bytes().next().is_some_and(|next| next != b' ') {
                if loops.len() > first {
                    self.skip(b',')?;
                }
                loops.push(self.map()?);
            }
            match units {
                None => n_off_chip = Some(loops.len()),
                Some(units) => levels.push((units, first..loops.len())),
            }
        }
        let levels: Vec<_> =
            levels.into_iter().map(|(units, range)| (units, &loops[range])).collect();
        let off_chip = n_off_chip.map(|end| &loops[..end]);
        Mapping::of_loops(off_chip, &levels, nest, machine).ok()
    }

    fn map(&mut self) -> Option<Loop> {
        let letter = char::from(self.0.bytes().next()?);
        let axis = Axis::ALL.into_iter().find(|axis| axis.letter() == letter)?;
        self.skip(letter as u8)?;
        let size = self.number()?;
        Some(Loop::new(axis, size, self.skip(b's').is_some()))
    }
}

/// Number of loops that a mapping usually has at most.
const USUAL_LOOPS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_written() {
        let lines = [
            "1,1,64,64,56,56,3,3/1,1,56,1/1,1,56,1 i 8388608 gap 9 1.5 8 0.1 0.9 inside - = 16:C16,Y1,X1s 16:K1s 16:C1s",
            "1,1,8,3,1,1,7,7/1,1,7,0/1,1,7,0 io 1024 bound 8 2 8 2 16 outside - 1,1,8,147,1,1,1,1/1,1,1,0/1,1,1,0 4:K2s 2:",
            "1,1,8,4,6,1,1,1/1,1,6,0/1,1,1,0 - 1024 enumerated 9 1.5 8 0.1 0.8 inside 96,4,0,17 = dram:K4 4:K1s",
            "1,8,1,1,9,9,3,3/1,1,9,1/1,1,9,1/d - - none 8 2 8 2 16 inside - = 1:Y1",
        ];
        for line in lines {
            let (key, kept) = read(line, &Machine::new(4096)).expect("a line");
            assert_eq!(write(&key, &kept), line);
            let (first, rest) = split(line).expect("a line");
            assert_eq!((first, format!("{first} {rest}")), (&*super::key(&key), line.into()));
        }
    }

    #[test]
    fn lines_that_compute_something_else_are_no_choices() {
        let machine = Machine::new(1024);
        let layer = "1,1,8,4,6,1,1,1/1,1,6,0/1,1,1,0 - - gap 9 1 8 1 8 inside - =";
        for mapping in [
            "",
            " 4",
            " 0:K2",
            " 4:K2,K1",
            " 4:K2s,C2s",
            " 4:Z2",
            " 4:K0",
            " dram:K2",
            " dram:K2s 4:K1",
            // More PEs than there are.
            " 2048:K1s",
        ] {
            assert!(read(&format!("{layer}{mapping}"), &machine).is_none(), "{mapping}");
        }
        let other = "1,1,8,4,6,1,1,1/1,1,6,0/1,1,1,0 - - gap 9 1 8 1 8 inside - 1,1,8,4,5,1,1,1/1,1,5,0/1,1,1,0 4:K2";
        assert!(read(other, &machine).is_none());
        for counts in ["1,2,3", "1,2,3,4,5", "x", ""] {
            let line = format!("{} 4:K2", layer.replace(" - =", &format!(" {counts} =")));
            assert!(read(&line, &machine).is_none(), "{counts}");
        }
    }
}
