//! `mapspace:` files: mappings among which `xrsim map` searches.

use serde_json::json;

use xrsim_model::cost::loop_nest::Axis;
use xrsim_model::dataflow::{self, Dataflow, Mapping, Stationary};
use xrsim_model::mapper::{AxisSet, DeclaredSpace, LevelSpace, Sizes, axis_of};

use super::dataflow::{directive, stationary};
use super::form::{self, Form};
use super::maestro::{Line, Notation};
use super::yaml::keys::keys;
use super::yaml::read::{At, Problems};
use super::yaml::values::{
    Reader, at, at_most, flag, list, number, one_or_list, proper_name, text, value,
};
use super::yaml::{Node, Value};
use super::{Problem, nearest, reference};

/// Most numbers in a list of sizes.
const MAX_SIZES: usize = 1000;

/// Most clusters inside each other.
const MAX_CLUSTERS: usize = Dataflow::MAX_LEVELS - 1;

/// Body of a `mapspace:` file, and the names of its seeds.
pub(super) fn mapspace() -> impl Reader<Value = (DeclaredSpace, Vec<At<Box<str>>>)> {
    raw_space().then(|raw, _, problems| raw.check(problems))
}

keys! {
    /// Mappings among which `xrsim map` searches.
    fn raw_space() -> struct RawSpace: "a mapspace" {
        /// Name of the mapspace.
        name: Box<str> = required(proper_name());
        /// Sizes of the clusters, the outermost first, a number or a list for each. Without it, they are free.
        clusters: Option<At<Vec<Vec<u32>>>> = optional(at(clusters()));
        /// Sizes of maps.
        sizes: Sizes = or("balanced", family());
        /// Whether loops above the shared memory are searched.
        off_chip: bool = or(false, flag());
        stationary: Option<Stationary> = optional(stationary());
        /// Choices of each level, the outermost first. Without it, they are free.
        levels: Vec<LevelSpace> = or_default(at_most(MAX_CLUSTERS + 1, list("levels", level())));
        /// Dataflows whose mappings are always evaluated.
        seeds: Vec<At<Box<str>>> = or_default(seeds());
    }
    check(fields) {
        if fields.has_wrong_value() {
            return None;
        }
    }
}

fn clusters() -> impl Reader<Value = Vec<Vec<u32>>> {
    let cluster = one_or_list(size(), sizes()).says("Sizes of this cluster.");
    at_most(MAX_CLUSTERS, list("clusters", cluster).allowed(""))
}

fn seeds() -> impl Reader<Value = Vec<At<Box<str>>>> {
    list("dataflows", reference::dataflow())
        .allowed("a list of names (`xrsim list dataflows`) or files")
}

impl RawSpace {
    fn check(self, problems: &mut Problems) -> Option<(DeclaredSpace, Vec<At<Box<str>>>)> {
        let clusters = self.clusters.as_ref();
        let lists =
            clusters.map_or(1, |it| it.value.iter().map(Vec::len).fold(1, usize::saturating_mul));
        if let Some(clusters) = clusters
            && lists > DeclaredSpace::MAX_LISTS
        {
            let most = DeclaredSpace::MAX_LISTS;
            let message = format!("{lists} lists of cluster sizes; at most {most} are allowed");
            problems.push(Problem::new(clusters.span.clone(), message));
            return None;
        }
        let mut space = DeclaredSpace::free(self.name);
        space.clusters = self.clusters.map(|it| it.value);
        space.sizes = self.sizes;
        space.levels = self.levels;
        space.off_chip = self.off_chip;
        space.stationary = self.stationary;
        Some((space, self.seeds))
    }
}

fn size() -> impl Reader<Value = u32> {
    number(1..=Dataflow::MAX_SIZE)
}

fn sizes() -> impl Reader<Value = Vec<u32>> {
    at_most(MAX_SIZES, list("sizes", size()))
}

/// A family of sizes, or a list of them.
fn family() -> impl Reader<Value = Sizes> {
    let read = |node: &Node<'_>, problems: &mut Problems| {
        if matches!(node.value, Value::List(_)) {
            return sizes().read(node, problems).map(Sizes::List);
        }
        let word = text().read(node, problems)?;
        let found = Sizes::parse(&word);
        if found.is_none() {
            let problem = node.mismatch(&format_args!("{} or a list", Sizes::NAMES.join(", ")));
            problems.push(match nearest(&word, Sizes::NAMES) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem,
            });
        }
        found
    };
    value(read, || form::any_of([form::word(Sizes::NAMES), sizes().form()]))
}

fn level() -> impl Reader<Value = LevelSpace> {
    raw_level().then(|raw, _, _| Some(raw.space()))
}

keys! {
    /// Choices of a level.
    fn raw_level() -> struct RawLevel: "a level" {
        /// Axes that may be spread over units.
        spatial: Option<Vec<Axis>> = optional(axes());
        /// Axes that may be cut over time.
        temporal: Option<Vec<Axis>> = optional(axes());
        /// Order of the loops, the outermost first.
        order: Option<Vec<Axis>> = or("any", order());
        /// Maps with the size of their axis.
        fixed: Vec<(Axis, bool, u32)> = or_default(list("directives", fixed()).allowed("a list of maps"));
    }
    check(fields) {
        if fields.has_wrong_value() {
            return None;
        }
    }
}

impl RawLevel {
    /// The choices; those that are not given are free.
    fn space(self) -> LevelSpace {
        let set = |axes: Option<Vec<Axis>>| axes.map_or(AxisSet::ALL, AxisSet::from_axes);
        let spread = self.fixed.iter().filter(|(_, spread, _)| *spread).map(|(axis, ..)| *axis);
        let spread: Vec<_> = spread.collect();
        let spatial =
            if spread.is_empty() { set(self.spatial) } else { AxisSet::from_axes(spread) };
        let fixed = self.fixed.into_iter().map(|(axis, _, size)| (axis, size)).collect();
        LevelSpace { spatial, temporal: set(self.temporal), order: self.order, fixed }
    }
}

/// A list of axes, which may be empty.
fn axes() -> impl Reader<Value = Vec<Axis>> {
    let read = |node: &Node<'_>, problems: &mut Problems| match &node.value {
        Value::List(items) if items.is_empty() => Some(Vec::new()),
        _ => list("axes", axis).read(node, problems),
    };
    let form = || {
        let axis = form::word(dataflow::Axis::ALL.map(|(_, name)| name)).into_value();
        let keywords = json!({"type": "array", "items": axis});
        Form::new(keywords, "a list of axes, which may be empty")
    };
    value(read, form)
}

fn axis(node: &Node<'_>, problems: &mut Problems) -> Option<Axis> {
    let word = text().read(node, problems)?;
    let axis = dataflow::Axis::parse(&word).map(axis_of);
    if axis.is_none() {
        let names = dataflow::Axis::ALL.map(|(_, name)| name).join(", ");
        problems.push(node.mismatch(&format_args!("one of the axes {names}")));
    }
    axis
}

/// The order of the loops of a level; `any` is none.
fn order() -> impl Reader<Value = Option<Vec<Axis>>> {
    let read = |node: &Node<'_>, problems: &mut Problems| match &node.value {
        Value::Scalar { text, .. } if text == "any" => Some(None),
        _ => axes().read(node, problems).map(Some),
    };
    value(read, || form::any_of([form::word(["any"]), axes().form()]))
}

/// A directive with the size of an axis: the axis, whether it is spread, and the size.
fn fixed() -> impl Reader<Value = (Axis, bool, u32)> {
    let fixed = |line: Line, node: &Node<'_>, problems: &mut Problems| {
        let fixed = match line {
            Line::Directive(it) if it.size == it.offset => {
                let spread = it.mapping == Mapping::Spatial;
                it.size.fixed().map(|size| (axis_of(it.axis), spread, size))
            }
            _ => None,
        };
        if fixed.is_none() {
            let expected = "a map whose size and offset are one number, e.g. `TemporalMap(4,4) K`";
            problems.push(node.mismatch(&expected));
        }
        fixed
    };
    directive(Notation::Full)
        .then(fixed)
        .shaped(|form| form.remark("Size and offset are one number, as in `TemporalMap(4,4) K`."))
}
