//! `mapspace:` files: mappings among which `xrsim map` searches.

use xrsim_model::cost::loop_nest::Axis;
use xrsim_model::dataflow::{self, Dataflow, Mapping, Stationary};
use xrsim_model::mapper::{AxisSet, DeclaredSpace, LevelSpace, Sizes, axis_of};

use super::dataflow::read_directive;
use super::maestro::{Line, Notation};
use super::yaml::read::{At, Problems, at, at_most, flag, list, number, one_of, proper_name, text};
use super::yaml::{Fields, Node, Value};
use super::{Problem, nearest};

/// Most numbers in a list of sizes.
pub(super) const MAX_SIZES: usize = 1000;

/// Reads the body of a `mapspace:` file, and the names of its seeds.
pub(super) fn read(
    node: &Node<'_>,
    problems: &mut Problems,
) -> Option<(DeclaredSpace, Vec<At<Box<str>>>)> {
    let mut fields = Fields::of(node, "a mapspace", problems)?;
    let name = fields.required("name", proper_name);
    let cluster = |node: &Node<'_>, problems: &mut Problems| cluster(node, problems);
    let clusters =
        fields.optional("clusters", at(at_most(MAX_CLUSTERS, list("clusters", cluster))));
    let sizes = fields.optional("sizes", sizes);
    let off_chip = fields.optional("off_chip", flag);
    let stationary = fields.optional("stationary", one_of(&Stationary::ALL));
    let levels = fields.optional("levels", at_most(MAX_CLUSTERS + 1, list("levels", level)));
    let seeds = fields.optional("seeds", list("dataflows", at(text)));
    let has = ["clusters", "sizes", "off_chip", "levels", "stationary", "seeds"]
        .map(|key| fields.given(key));
    fields.finish();
    let was_read = [
        clusters.is_some(),
        sizes.is_some(),
        off_chip.is_some(),
        levels.is_some(),
        stationary.is_some(),
        seeds.is_some(),
    ];
    if has != was_read {
        return None;
    }
    let mut space = DeclaredSpace::free(name?);
    if let Some(At { span, value }) = clusters {
        let lists = value.iter().map(Vec::len).fold(1, usize::saturating_mul);
        if lists > DeclaredSpace::MAX_LISTS {
            let most = DeclaredSpace::MAX_LISTS;
            let message = format!("{lists} lists of cluster sizes; at most {most} are allowed");
            problems.push(Problem::new(span, message));
            return None;
        }
        space.clusters = Some(value);
    }
    space.sizes = sizes.unwrap_or_default();
    space.levels = levels.unwrap_or_default();
    space.off_chip = off_chip.unwrap_or(false);
    space.stationary = stationary;
    Some((space, seeds.unwrap_or_default()))
}

/// Most clusters inside each other.
pub(super) const MAX_CLUSTERS: usize = Dataflow::MAX_LEVELS - 1;

/// Reads the sizes of a cluster: a number, or a list of them.
fn cluster(node: &Node<'_>, problems: &mut Problems) -> Option<Vec<u32>> {
    let size = number(1..=Dataflow::MAX_SIZE);
    match &node.value {
        Value::List(_) => at_most(MAX_SIZES, list("sizes", size))(node, problems),
        _ => size(node, problems).map(|size| vec![size]),
    }
}

/// Reads a family of sizes, or a list of them.
fn sizes(node: &Node<'_>, problems: &mut Problems) -> Option<Sizes> {
    if matches!(node.value, Value::List(_)) {
        let size = number(1..=Dataflow::MAX_SIZE);
        return at_most(MAX_SIZES, list("sizes", size))(node, problems).map(Sizes::List);
    }
    let word = text(node, problems)?;
    let found = Sizes::parse(&word);
    if found.is_none() {
        let problem = node.mismatch(&format_args!("{} or a list", Sizes::NAMES.join(", ")));
        problems.push(match nearest(&word, Sizes::NAMES) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem,
        });
    }
    found
}

/// Reads the choices of a level. What is not given is free.
fn level(node: &Node<'_>, problems: &mut Problems) -> Option<LevelSpace> {
    let mut fields = Fields::of(node, "a level", problems)?;
    let keys = ["spatial", "temporal", "order", "fixed"];
    let spatial = fields.optional("spatial", axes);
    let temporal = fields.optional("temporal", axes);
    let order = fields.optional("order", order);
    let fixed = fields.optional("fixed", list("directives", fixed));
    let has = keys.map(|key| fields.given(key));
    fields.finish();
    if has != [spatial.is_some(), temporal.is_some(), order.is_some(), fixed.is_some()] {
        return None;
    }
    let set = |axes: Option<Vec<Axis>>| axes.map_or(AxisSet::ALL, AxisSet::of);
    let fixed = fixed.unwrap_or_default();
    let spread = fixed.iter().filter(|(_, spread, _)| *spread).map(|(axis, ..)| *axis);
    let spread: Vec<_> = spread.collect();
    let spatial = if spread.is_empty() { set(spatial) } else { AxisSet::of(spread) };
    let fixed = fixed.into_iter().map(|(axis, _, size)| (axis, size)).collect();
    Some(LevelSpace { spatial, temporal: set(temporal), order: order.flatten(), fixed })
}

/// Reads a list of axes, which may be empty.
fn axes(node: &Node<'_>, problems: &mut Problems) -> Option<Vec<Axis>> {
    match &node.value {
        Value::List(items) if items.is_empty() => Some(Vec::new()),
        _ => list("axes", axis)(node, problems),
    }
}

fn axis(node: &Node<'_>, problems: &mut Problems) -> Option<Axis> {
    let word = text(node, problems)?;
    let axis = dataflow::Axis::parse(&word).map(axis_of);
    if axis.is_none() {
        let names = dataflow::Axis::ALL.map(|(_, name)| name).join(", ");
        problems.push(node.mismatch(&format_args!("one of the axes {names}")));
    }
    axis
}

/// Reads the order of the loops of a level; `any` is none.
fn order(node: &Node<'_>, problems: &mut Problems) -> Option<Option<Vec<Axis>>> {
    match &node.value {
        Value::Scalar { text, .. } if text == "any" => Some(None),
        _ => axes(node, problems).map(Some),
    }
}

/// Reads a directive with the size of an axis: the axis, whether it is spread, and the size.
fn fixed(node: &Node<'_>, problems: &mut Problems) -> Option<(Axis, bool, u32)> {
    let line = read_directive(node, Notation::Full, problems)?;
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
}
