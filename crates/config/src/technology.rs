//! `technology:` files: constants of area and leakage with their sources. A system or platform may name one, or
//! change single constants of one.

use std::ops::Range;
use std::sync::Arc;

use xrsim_model::hardware::Technology;
use xrsim_model::hardware::technology::{Constant, TechnologyError};

use super::Problem;
use super::nearest;
use super::yaml::read::{At, Problems, at, named, number, printable, proper_name, text};
use super::yaml::tree::Entry;
use super::yaml::{Fields, Node, Value};

/// Process nodes \[nm\].
pub(super) const NODES: std::ops::RangeInclusive<f64> = 0.1..=1e4;

/// A value of a constant, and where it stands.
type Given = (Constant, At<f64>);

/// Reads the body of a `technology:` file.
pub(super) fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Technology> {
    let mut fields = Fields::of(node, "a technology", problems)?;
    let name = fields.required("name", proper_name);
    let node_nm = fields.required("node_nm", number(NODES));
    let values = sections(&mut fields);
    let sources = fields.required("sources", named("sources", source));
    fields.finish();
    let (name, node_nm, values, sources) = (name?, node_nm?, values?, sources?);
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

/// Reads the sections with the constants; `None` if any value is wrong.
fn sections(fields: &mut Fields<'_, '_, '_>) -> Option<Vec<Given>> {
    let mut values = Vec::new();
    let mut wrong = false;
    for section in Constant::SECTIONS {
        let read = |node: &Node<'_>, problems: &mut Problems| constants(section, node, problems);
        match fields.optional(section, read) {
            Some(found) => values.extend(found),
            None => wrong |= fields.given(section),
        }
    }
    (!wrong).then_some(values)
}

/// Reads the constants of a section.
fn constants(
    section: &'static str,
    node: &Node<'_>,
    problems: &mut Problems,
) -> Option<Vec<Given>> {
    let before = problems.len();
    let mut fields = Fields::of(node, section_of(section), problems)?;
    let mut values = Vec::new();
    for constant in Constant::ALL.into_iter().filter(|it| it.section() == section) {
        let allowed = constant.least()..=constant.most();
        let value = fields.optional(constant.name(), at(number(allowed)));
        values.extend(value.map(|value| (constant, value)));
    }
    fields.finish();
    (problems.len() == before).then_some(values)
}

/// Noun for a section in messages.
fn section_of(section: &str) -> &'static str {
    match section {
        "area" => "the section `area`",
        "sram" => "the section `sram`",
        "network" => "the section `network`",
        _ => "the section `leakage`",
    }
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
    let source = text(&entry.value, problems);
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

/// Reads the key `technology` of a system or platform: a name, or constants that differ from those of the technology
/// `like`, by default the default one.
pub(super) fn read_choice(node: &Node<'_>, problems: &mut Problems) -> Option<RawTechnology> {
    if !matches!(node.value, Value::Mapping(_)) {
        let name = at(text)(node, problems)?;
        return Some(RawTechnology { name, changes: Vec::new() });
    }
    let mut fields = Fields::of(node, "changes of a technology", problems)?;
    let name = fields.optional("like", at(text));
    let wrong = fields.given("like") && name.is_none();
    let changes = sections(&mut fields);
    fields.finish();
    let default = || At { span: node.span.clone(), value: Technology::DEFAULT.into() };
    let changes = changes.filter(|_| !wrong)?;
    Some(RawTechnology { name: name.unwrap_or_else(default), changes })
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
