//! `technology:` files: constants of area and leakage with their sources. A system or platform may name one, or
//! change single constants of one.

use std::ops::Range;
use std::sync::Arc;

use xrsim_model::hardware::Technology;
use xrsim_model::hardware::technology::{Constant, TechnologyError};

use super::form::{self, Key};
use super::yaml::keys::{Keys, keys, mapping};
use super::yaml::read::{At, Problems, printable};
use super::yaml::tree::Entry;
use super::yaml::values::{Reader, at, entries, number, proper_name, text, tried, value};
use super::yaml::{Fields, Node, Value};
use super::{Problem, nearest, reference};

/// A value of a constant, and where it stands.
type Given = (Constant, At<f64>);

/// Body of a `technology:` file.
pub(super) fn technology() -> impl Reader<Value = Technology> {
    raw_technology().then(|raw, node, problems| raw.check(node, problems))
}

keys! {
    /// Technology: constants of area and leakage, each with its source.
    fn raw_technology() -> struct RawConstants: "a technology" {
        /// Name of the technology.
        name: Box<str> = required(proper_name());
        /// Process node \[nm\].
        node_nm: f64 = required(number(0.1..=1e4));
        values: Vec<Given> = among(sections());
        /// Source of every number.
        sources: Vec<(Constant, At<Box<str>>)> = required(sources());
    }
}

impl RawConstants {
    fn check(self, node: &Node<'_>, problems: &mut Problems) -> Option<Technology> {
        let Self { name, node_nm, values, sources } = self;
        let numbers: Vec<_> = values.iter().map(|(constant, at)| (*constant, at.value)).collect();
        let texts: Vec<_> = sources.iter().map(|(of, at)| (*of, at.value.clone())).collect();
        let error = match Technology::new(name, node_nm, &numbers, &texts) {
            Ok(technology) => return Some(technology),
            Err(error) => error,
        };
        let idle = match error {
            TechnologyError::IdleSource(constant) => sources.iter().find(|(of, _)| *of == constant),
            _ => None,
        };
        let whole = idle.map_or(node.span.clone(), |(_, at)| at.span.clone());
        problems.push(problem(error, &values, whole));
        None
    }
}

/// Sections with the constants.
fn sections() -> Keys<impl Fn(&mut Fields<'_, '_, '_>) -> Option<Vec<Given>>> {
    mapping("the sections", |fields| {
        let section = |section| fields.optional(section, tried(constants(section)));
        let found: Vec<_> = Constant::SECTIONS.into_iter().filter_map(section).collect();
        Some(found.into_iter().collect::<Option<Vec<_>>>()?.concat())
    })
}

/// Constants of a section.
fn constants(section: &'static str) -> impl Reader<Value = Vec<Given>> {
    let (noun, about) = match section {
        "area" => ("the section `area`", "Areas of logic."),
        "sram" => ("the section `sram`", "Areas of memories."),
        "network" => (
            "the section `network`",
            "Area of the NoC as a bus and an arbiter, in place of `register_um2_per_bit`.",
        ),
        _ => ("the section `leakage`", "Leakage; without this section the technology has none."),
    };
    let read = move |fields: &mut Fields<'_, '_, '_>| {
        let mut values = Vec::new();
        for constant in Constant::ALL.into_iter().filter(|it| it.section() == section) {
            let value = at(number(constant.least()..=constant.most()));
            let value = fields.about(meaning(constant)).optional(constant.name(), value);
            values.extend(value.map(|value| (constant, value)));
        }
        Some(values)
    };
    mapping(noun, read).about(about).whole()
}

fn meaning(constant: Constant) -> &'static str {
    match constant {
        Constant::AcceleratorMm2 => {
            "Area of an accelerator that does not depend on any size [mm2]."
        }
        Constant::PeUm2 => {
            "Area of a PE without its scratchpad, for each multiply-accumulate per cycle [um2]."
        }
        Constant::RegisterUm2PerBit => "Area of one bit of a port of the NoC [um2/bit].",
        Constant::FixedMm2 => "Area outside of the accelerators [mm2].",
        Constant::SmallBytes => "Size up to which memories are registers [byte].",
        Constant::SmallUm2PerByte => "Area of a byte of such a memory [um2/byte].",
        Constant::LargeBytes => {
            "Size from which on memories have the density of large ones [byte]."
        }
        Constant::LargeUm2PerByte => "Area of a byte of such a memory [um2/byte].",
        Constant::ScratchpadBlockBytes => "Size of the blocks of scratchpads [byte].",
        Constant::ScratchpadBlockUm2 => "Area of such a block [um2].",
        Constant::BlockBytes => "Size of the blocks of other memories [byte].",
        Constant::BlockUm2 => "Area of such a block [um2].",
        Constant::BusUm2 => "Area of a bus for each byte per cycle, as a factor [um2].",
        Constant::BusPerUnit => "Growth of the area of a bus with the number of units.",
        Constant::BusOffset => "Part of the area of a bus that does not grow.",
        Constant::ArbiterUm2 => "Area of an arbiter, as a factor [um2].",
        Constant::ArbiterPerUnitSquared => {
            "Growth of the area of an arbiter with the square of the number of units."
        }
        Constant::ArbiterPerUnit => "Growth of the area of an arbiter with the number of units.",
        Constant::ArbiterOffset => "Part of the area of an arbiter that does not grow.",
        Constant::PeUw => {
            "Leakage of the logic of a PE, for each multiply-accumulate per cycle [uW]."
        }
        Constant::SramNwPerByte => "Leakage of a byte of memory [nW/byte].",
    }
}

/// Sources of constants.
fn sources() -> impl Reader<Value = Vec<(Constant, At<Box<str>>)>> {
    entries("sources", source).shaped(|_| {
        let key = |it: Constant| {
            let about = format!("Source of `{}`, or the word `choice`", it.name());
            Key::new(it.name(), form::text().allowed("").says(about), false)
        };
        form::object(Constant::ALL.map(key)).with("minProperties", 1)
    })
}

/// Reads the source of a constant.
fn source(entry: &Entry<'_>, problems: &mut Problems) -> Option<(Constant, At<Box<str>>)> {
    let constant = Constant::named(&entry.key);
    if constant.is_none() {
        let message = format!("a source of `{}`, which is no number", printable(&entry.key));
        let problem = Problem::new(entry.key_span.clone(), message);
        problems.push(match nearest(&entry.key, Constant::ALL.map(Constant::name)) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem,
        });
    }
    let source = text().read(&entry.value, problems);
    Some((constant?, At { span: entry.key_span.clone(), value: source? }))
}

/// The problem at the constant that an error is about, or else at `whole`.
fn problem(error: TechnologyError, values: &[Given], whole: Range<usize>) -> Problem {
    let given = |constant| values.iter().find(|(known, _)| *known == constant);
    let place = error.constant().and_then(given).map(|(_, at)| at.span.clone());
    let text = error.to_string();
    let problem = Problem::new(place.unwrap_or(whole), text);
    match error {
        TechnologyError::Missing(constant) => {
            let section = constant.section();
            problem.help(format!("give `{}` in the section `{section}`", constant.name()))
        }
        TechnologyError::NoSource(constant) => {
            problem.help(format!("add `{}: choice` to `sources`, or the source", constant.name()))
        }
        _ => problem,
    }
}

/// The key `technology` of a system or platform, while its technology is still a name.
pub(super) struct RawTechnology {
    /// Name of the technology.
    name: At<Box<str>>,
    /// Values of constants that differ.
    changes: Vec<Given>,
}

/// Value of the key `technology` of a system or platform: a name, or constants that differ from those of the technology
/// `like`, by default the default one.
pub(super) fn choice() -> impl Reader<Value = RawTechnology> {
    let read = |node: &Node<'_>, problems: &mut Problems| match node.value {
        Value::Mapping(_) => {
            let changes = changes().read(node, problems)?;
            let default = || At { span: node.span.clone(), value: Technology::DEFAULT.into() };
            Some(RawTechnology {
                name: changes.like.unwrap_or_else(|| Some(default()))?,
                changes: changes.values,
            })
        }
        _ => Some(RawTechnology { name: at(text()).read(node, problems)?, changes: Vec::new() }),
    };
    let form = || {
        let changes = changes().form().allowed("the constants that differ");
        form::any_of([reference::technology(), changes])
            .or(Technology::DEFAULT)
            .says("Constants of area and leakage")
    };
    value(read, form)
}

keys! {
    fn changes() -> struct Changes: "changes of a technology" {
        /// Technology that has the other constants.
        like: Option<Option<At<Box<str>>>> = optional(tried(at(text()))
            .shaped(|_| reference::technology().or(Technology::DEFAULT)));
        values: Vec<Given> = among(sections());
    }
}

impl RawTechnology {
    /// Name of the technology, with its place.
    pub(super) fn name(&self) -> &At<Box<str>> {
        &self.name
    }

    /// The technology `found` with the changes, which the file called `file` makes.
    pub(crate) fn resolve(
        &self,
        found: Arc<Technology>,
        file: &str,
        problems: &mut Problems,
    ) -> Option<Arc<Technology>> {
        if self.changes.is_empty() {
            return Some(found);
        }
        let numbers: Vec<_> = self.changes.iter().map(|(it, at)| (*it, at.value)).collect();
        let name = format!("{}-changed", found.name());
        match found.with(name, &numbers, file) {
            Ok(technology) => Some(Arc::new(technology)),
            Err(error) => {
                problems.push(problem(error, &self.changes, self.name.span.clone()));
                None
            }
        }
    }
}
