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
use std::str::FromStr;

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
    let mut words = line.split(' ');
    let key = read_key(&mut words)?;
    let kept = read_answer(&key, words, machine)?;
    Some((key, kept))
}

/// The choice that the words after the key of a line state; `None` if they state none, or a mapping that does not
/// compute the layer on `machine`.
pub(super) fn read_answer<'a>(
    key: &LayerKey,
    mut words: impl Iterator<Item = &'a str>,
    machine: &Machine,
) -> Option<Kept> {
    let status = words.next()?;
    let status = STATUS.iter().find(|(name, _)| *name == status)?.1;
    let value = read_value(&mut words)?;
    let bound = read_value(&mut words)?;
    let bound_edp =
        words.next()?.parse().ok().filter(|edp: &f64| edp.is_finite() && *edp >= 0.0)?;
    let is_inside = match words.next()? {
        INSIDE => true,
        OUTSIDE => false,
        _ => return None,
    };
    let counts = match words.next()? {
        "-" => Counts::default(),
        counts => {
            let [evaluated, infeasible, excluded, best] = numbers(counts)?;
            Counts { evaluated, infeasible, excluded, best }
        }
    };
    let form = words.next()?;
    let form = match form {
        "=" => key.nest.clone(),
        form => read_layer(form).filter(|form| is_form(form, &key.nest))?,
    };
    let mapping = read_mapping(&form, machine, words)?;
    let choice = Choice { nest: form, mapping, certainty: None };
    Some(Kept { status, value, bound, bound_edp, choice, is_inside, counts })
}

/// Lines with choices of a file.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    table::choices_of(text).lines()
}

/// The layer of a line; `None` if it has none.
pub fn layer_of(line: &str) -> Option<LayerKey> {
    read_key(&mut line.split(' '))
}

/// Whether a line is a choice for a machine of this many PEs with memories without limits.
pub fn is_choice(line: &str, pes: u32) -> bool {
    read(line, &Machine::new(pes)).is_some()
}

fn read_key<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<LayerKey> {
    let nest = read_layer(words.next()?)?;
    let word = words.next()?;
    let (letters, riders) = match word.split_once('+') {
        None => (word, None),
        Some((letters, riders)) => {
            let [read, written, operands, operations, cycles] = numbers(riders)?;
            (letters, Some(Riders { read, written, operands, operations, cycles }))
        }
    };
    let resident = PerTensor {
        input: letters.contains('i'),
        weight: letters.contains('w'),
        output: letters.contains('o'),
    };
    let shared_bytes = match words.next()? {
        "-" => None,
        bytes => Some(bytes.parse().ok()?),
    };
    Some(LayerKey { nest, resident, riders, shared_bytes })
}

fn read_value<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Value> {
    let cycles = words.next()?.parse().ok()?;
    let energy_pj: f64 = words.next()?.parse().ok()?;
    (energy_pj.is_finite() && energy_pj >= 0.0).then_some(Value { cycles, energy_pj })
}

fn layer(nest: &Nest) -> String {
    let (mut text, mut digits) = (String::with_capacity(USUAL_LAYER), itoa::Buffer::new());
    let mut list = |numbers: &[u32], end: &str| {
        for (at, number) in numbers.iter().enumerate() {
            text.push_str(if at > 0 { "," } else { "" });
            text.push_str(digits.format(*number));
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

fn read_layer(text: &str) -> Option<Nest> {
    let mut parts = text.split('/');
    let extents: Extents = numbers(parts.next()?)?;
    let mut window = || {
        let [stride, dilation, stored, padding] = numbers(parts.next()?)?;
        Some(Window { stride, dilation, stored, padding })
    };
    let windows = [window()?, window()?];
    let depthwise = match parts.next() {
        None => false,
        Some("d") => true,
        Some(_) => return None,
    };
    Nest::new(extents, windows, depthwise).ok()
}

fn numbers<T: FromStr + Default + Copy, const N: usize>(text: &str) -> Option<[T; N]> {
    let mut numbers = [T::default(); N];
    let mut words = text.split(',');
    for number in &mut numbers {
        *number = words.next()?.parse().ok()?;
    }
    words.next().is_none().then_some(numbers)
}

fn read_mapping<'a>(
    nest: &Nest,
    machine: &Machine,
    levels: impl Iterator<Item = &'a str>,
) -> Option<Mapping> {
    let mut off_chip = None;
    let mut on_chip = Vec::new();
    for (index, level) in levels.enumerate() {
        let (units, loops) = level.split_once(':')?;
        let loops = loops.split(',').filter(|it| !it.is_empty());
        let loops: Vec<_> = loops.map(read_loop).collect::<Option<_>>()?;
        match units {
            "dram" if index == 0 => off_chip = Some(loops),
            units => on_chip.push((units.parse().ok()?, loops)),
        }
    }
    let on_chip: Vec<_> = on_chip.iter().map(|(units, loops)| (*units, loops.as_slice())).collect();
    Mapping::of_loops(off_chip.as_deref(), &on_chip, nest, machine).ok()
}

fn read_loop(text: &str) -> Option<Loop> {
    let letter = text.chars().next()?;
    let axis = Axis::ALL.into_iter().find(|axis| axis.letter() == letter)?;
    let rest = &text[letter.len_utf8()..];
    let (size, spatial) = match rest.strip_suffix('s') {
        Some(size) => (size, true),
        None => (rest, false),
    };
    let size = size.parse().ok()?;
    Some(Loop::new(axis, size, spatial))
}

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
