//! Cases on which properties are checked, and changes of cases.

use xrsim::config::cost_cases::parse_mapping;
use xrsim::cost::loop_nest::{
    Axis, Compression, Evaluation, Fill, Level, Loop, Machine, Mapping, Nest, NocLevel, Window,
    evaluate,
};

use crate::loop_nest::enumerator::cases::{Case, N_CASES, cases};

/// Every case with its name: unchanged, enlarged, and enlarged with a spatial loop on every level. All are
/// without fill, which follows from the arrangement of units on levels and hides under nothing.
pub fn all() -> impl Iterator<Item = (String, Case)> {
    cases().flat_map(|(seed, mut case)| {
        case.machine.noc_levels.iter_mut().for_each(|noc| noc.fill = Fill::default());
        let enlarged = enlarged(seed, &case);
        let spread = spread(seed, &enlarged);
        [
            (format!("case {seed}"), case),
            (format!("case {seed}, enlarged"), enlarged),
            (format!("case {seed}, spread"), spread),
        ]
    })
}

/// All cases of a kind. Panics if there are too few.
pub fn of_kind(kind: &str, is: impl Fn(&Case) -> bool) -> Vec<(String, Case)> {
    let cases: Vec<_> = all().filter(|(_, case)| is(case)).collect();
    assert_enough(kind, cases.len());
    cases
}

/// Panics if `what` was seen in less than a quarter of the cases of a form, unless the user set the number of cases.
pub fn assert_enough(what: &str, seen: usize) {
    let is_full_run = std::env::var_os("XRSIM_CASES").is_none();
    assert!(seen >= N_CASES as usize / 4 || !is_full_run, "{what}: only {seen} cases");
}

/// The loops of a case on a layer whose axes are longer by factors from 1 to 4, with three times the units
/// on every level.
fn enlarged(seed: u64, case: &Case) -> Case {
    let factors = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    let mut extents = *case.nest.extents();
    for (extent, factor) in extents.iter_mut().zip(factors) {
        *extent *= 1 + u32::from(factor % 4);
    }
    let windows = [0, 1].map(|at| {
        let [before, now] = [case.nest.extents(), &extents].map(|of| reach(&case.nest, at, of));
        let window = case.nest.windows()[at];
        let [output, kernel] = Axis::WINDOWS[at].map(|axis| extents[axis as usize]);
        Window { stored: window.stored + now - before, ..window }.padded(output, kernel)
    });
    let nest = Nest::new(extents, windows, case.nest.is_depthwise()).expect("the layer is small");
    let mut levels = drafts(&case.mapping);
    levels.iter_mut().for_each(|level| level.units *= 3);
    let machine = Machine {
        pes: case.machine.pes * 3u32.pow(levels.len() as u32),
        units_limit: case.machine.units_limit.map(|limit| limit * 3),
        ..case.machine.clone()
    };
    Case { mapping: mapping(&levels, &nest, &machine), nest, machine }
}

/// The same case with a spatial loop on every level that has loops. For even seeds, maps repeat outputs
/// along all axes that they divide.
fn spread(seed: u64, case: &Case) -> Case {
    let machine = Machine { allow_overlap: seed.is_multiple_of(2), ..case.machine.clone() };
    let mut levels = drafts(&case.mapping);
    for Draft { loops, .. } in &mut levels {
        let chosen = seed as usize % loops.len().max(1);
        let has_none = loops.iter().all(|map| !map.spatial);
        for (index, map) in loops.iter_mut().enumerate() {
            let repeats = machine.allow_overlap && !map.axis.is_reduction();
            map.size = map.offset + u32::from(repeats);
            map.spatial |= has_none && index == chosen;
        }
    }
    Case { mapping: mapping(&levels, &case.nest, &machine), nest: case.nest.clone(), machine }
}

/// Number of input rows (0) or columns (1) under these extents, padding included.
fn reach(nest: &Nest, at: usize, extents: &[u32; 8]) -> u32 {
    let [output, kernel] = Axis::WINDOWS[at].map(|axis| extents[axis as usize]);
    nest.windows()[at].reach(output, kernel)
}

/// One level of a mapping, for changes.
#[derive(Clone)]
pub struct Draft {
    /// Size of its clusters; that of the outermost level follows from the machine.
    pub units: u32,
    pub loops: Vec<Loop>,
}

pub fn drafts(mapping: &Mapping) -> Vec<Draft> {
    let draft = |level: &Level| Draft { units: level.units(), loops: level.loops().to_vec() };
    mapping.levels().iter().map(draft).collect()
}

/// The mapping with these levels. Panics if it is illegal.
pub fn mapping(levels: &[Draft], nest: &Nest, machine: &Machine) -> Mapping {
    written(&text(levels, nest), nest, machine)
}

/// The mapping with these directives. Panics if it is illegal.
pub fn written(text: &str, nest: &Nest, machine: &Machine) -> Mapping {
    let directives = parse_mapping(text).expect("it is well formed");
    Mapping::new(&directives, nest, machine).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Levels as text. Level 0 maps batch and groups as a whole if it does not divide them, because they would
/// be divided if no level mapped them (section 3.4).
fn text(levels: &[Draft], nest: &Nest) -> String {
    let mut text = String::new();
    for axis in [Axis::N, Axis::G] {
        if levels[0].loops.iter().all(|map| map.axis != axis) {
            let whole = nest.extent(axis);
            text += &line(&Loop { axis, size: whole, offset: whole, spatial: false });
        }
    }
    for (index, Draft { units, loops }) in levels.iter().enumerate() {
        if index > 0 {
            text += &format!("Cluster({units},P); ");
        }
        text.extend(loops.iter().map(line));
    }
    text
}

fn line(map: &Loop) -> String {
    let Loop { axis, size, offset, spatial } = map;
    let kind = if *spatial { "SpatialMap" } else { "TemporalMap" };
    format!("{kind}({size},{offset}) {axis}; ")
}

/// The case with numbers of copies, resident tensors and compression that vary with `index`.
pub fn varied(index: usize, case: Case) -> Case {
    let copies = [[2, 2, 2], [1, 1, 1], [1, 3, 2]][index % 3];
    let resident = [1, 2, 4].map(|bit| index.is_multiple_of(4) && (index / 4) & bit > 0);
    let (shared_copies, resident) = (copies.into(), resident.into());
    let factors = [[1.0, 1.0, 1.0], [0.4, 1.0, 0.55], [1.3, 0.25, 0.7]][index % 5 % 3];
    let compression = factors.map(|it| Compression::new(it).expect("it is a factor")).into();
    let machine = Machine { shared_copies, resident, compression, ..case.machine };
    Case { machine, ..case }
}

/// Result of the model for a case.
pub fn run(case: &Case) -> Evaluation {
    evaluate(&case.nest, &case.mapping, &case.machine).expect("the layer is small")
}

/// Result of the model for a case on a changed machine.
pub fn run_on(case: &Case, change: impl FnOnce(&mut Machine)) -> Evaluation {
    let mut machine = case.machine.clone();
    change(&mut machine);
    evaluate(&case.nest, &case.mapping, &machine).expect("the layer is small")
}

/// Result of the model for a case with one changed NoC level.
pub fn run_with(case: &Case, level: usize, change: impl FnOnce(&mut NocLevel)) -> Evaluation {
    run_on(case, |machine| {
        machine.noc_levels = noc_levels(case);
        change(&mut machine.noc_levels[level]);
    })
}

/// NoC level of every level of the mapping.
pub fn noc_levels(case: &Case) -> Vec<NocLevel> {
    (0..case.mapping.levels().len()).map(|level| *case.machine.noc_level(level)).collect()
}

/// Number of units of a cluster that can work at the same time.
pub fn working_units(level: &Level) -> u64 {
    if level.spatial().is_some() { u64::from(level.units()) } else { 1 }
}
