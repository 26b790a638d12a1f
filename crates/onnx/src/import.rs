//! Import of a file as a network.

use std::collections::HashSet;
use std::path::Path;

use super::file;
use super::layers::{self, Counts, Made, Row};
use super::options::{ImportError, Options};
use super::problems::Problems;
use super::{graph, trace};
use xrsim_model::model::Network;
use xrsim_model::text::{in_line, in_one_line};

/// A network made of an ONNX file.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The network.
    pub network: Network,
    /// Its task.
    pub task: Box<str>,
    /// Name of its graph, if that tells anything.
    pub title: Box<str>,
    /// Sensors that it reads.
    pub inputs: Vec<Box<str>>,
    /// Parameters that no layer has as weights.
    pub other_parameters: u64,
    /// Channels of batch normalisations that are folded.
    pub batch_norm_channels: u64,
    /// Decisions that change the network, in plain words.
    pub deviations: Vec<Box<str>>,
    /// Warnings about the file, in plain words.
    pub warnings: Vec<String>,
    /// Remarks on what the user may add, in plain words.
    pub remarks: Vec<String>,
    /// Facts about every layer.
    pub rows: Vec<Row>,
    /// Counts of nodes by their fate.
    pub counts: Counts,
}

/// Names of graphs that exporters give to every graph.
const USUAL_TITLES: [&str; 8] =
    ["main_graph", "torch_jit", "torch-jit-export", "tf2onnx", "main", "graph", "onnx-graph", ""];

/// Imports the file at `path`.
///
/// # Errors
///
/// Everything that is wrong with the file, not supported, or left open, at once.
pub fn import(path: &Path, options: &Options) -> Result<Imported, ImportError> {
    let (model, warnings) = file::read(path).map_err(|error| ImportError {
        problems: vec![error.to_string()],
        ..ImportError::default()
    })?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let stem = stem.filter(|stem| !stem.is_empty()).unwrap_or_else(|| "network".into());
    let name = options.name.clone().unwrap_or(stem);
    let folder = path.parent();
    match of_model(&model, &name, options, folder) {
        Ok(mut imported) => {
            imported.warnings.splice(0..0, warnings);
            Ok(imported)
        }
        // A warning may tell the cause.
        Err(mut error) => {
            error.problems.extend(warnings);
            Err(error)
        }
    }
}

/// Imports a model that was read.
pub(super) fn of_model(
    model: &graph::Model,
    name: &str,
    options: &Options,
    folder: Option<&Path>,
) -> Result<Imported, ImportError> {
    let mut problems = Problems::default();
    find_unsupported(model, &mut problems);
    let rule_of = |node: &graph::Node| layers::find(node).map(|operator| operator.rule);
    let trace = trace::trace(model, rule_of, options, folder, &mut problems);
    let grows = |port: &graph::Port| {
        let mut dims = port.dims.iter().flatten();
        dims.any(|dim| matches!(dim, graph::Dim::Named(name) if options.cached.contains(&**name)))
    };
    let ports = model.graph.inputs.iter().filter(|port| grows(port));
    let names: HashSet<&str> = ports.map(|port| &*port.name).collect();
    let inputs = trace.inputs.iter().copied();
    let caches = inputs.filter(|id| names.contains(trace.tensor(*id).name)).collect();
    let made = layers::make(&trace, name, caches, &mut problems);
    let inputs = sensors(&trace, options, &mut problems);
    let made = match made {
        Some(made) if problems.is_empty() => made,
        _ => return Err(problems.into_error()),
    };
    let Made { network, rows, other_parameters, batch_norm_channels, counts, decisions } = made;
    let mut deviations: Vec<String> = trace.decisions.clone();
    deviations.extend(decisions);
    deviations.extend(widths(&rows));
    if counts.shared > 0 {
        let layers = if counts.shared == 1 { "layer uses" } else { "layers use" };
        deviations.push(format!("{} {layers} weights of a layer before", counts.shared));
    }
    let title = USUAL_TITLES.iter().all(|usual| *model.graph.name != **usual);
    let title = if title { in_one_line(&model.graph.name) } else { String::new() };
    Ok(Imported {
        task: options.task.as_deref().unwrap_or(name).into(),
        title: title.into(),
        network,
        inputs,
        other_parameters,
        batch_norm_channels,
        deviations: deviations.into_iter().map(Into::into).collect(),
        warnings: trace.warnings.clone(),
        remarks: remarks(&trace, options),
        rows,
        counts,
    })
}

/// Reports every node of a file whose operator is not supported, whether an output needs it or not.
fn find_unsupported(model: &graph::Model, problems: &mut Problems) {
    let functions: HashSet<_> = model.functions.iter().map(graph::Function::key).collect();
    let bodies = model.functions.iter().flat_map(|function| &function.nodes);
    let mut open: Vec<&graph::Node> = bodies.chain(&model.graph.nodes).collect();
    open.reverse();
    while let Some(node) = open.pop() {
        let is_function = functions.contains(&(&*node.domain, &*node.operator, &*node.overload));
        let is_known = || layers::find(node).is_some_and(|operator| operator.layer.is_some());
        if !is_function && !trace::is_control(node) && !is_known() {
            problems.unsupported(&trace::operator_name(node), node.known_as());
        }
        for (_, attribute) in node.attributes.iter().rev() {
            if let graph::Attribute::Graph(graph) = attribute {
                open.extend(graph.nodes.iter().rev());
            }
        }
    }
}

/// Sensors in the order of the inputs that they feed.
fn sensors(trace: &trace::Trace<'_>, options: &Options, problems: &mut Problems) -> Vec<Box<str>> {
    let [inputs, outputs] = [&trace.inputs, &trace.outputs]
        .map(|ids| ids.iter().map(|id| trace.tensor(*id).name).collect::<Vec<&str>>());
    let mut check = |kind: &str, name: &String, names: &[&str]| {
        if !names.contains(&name.as_str()) {
            let known: Vec<_> = names.iter().map(|name| in_line(name)).collect();
            let (shown, known) = (in_line(name), known.join(", "));
            problems.add(format!("no {kind} is called `{shown}`; there are {known}"));
        }
    };
    let named = options.sensors.keys().chain(options.states.keys());
    named.for_each(|input| check("input", input, &inputs));
    options.states.values().for_each(|output| check("output", output, &outputs));
    let sensors = inputs.iter().filter_map(|name| options.sensors.get(*name));
    sensors.map(|name| (**name).into()).collect()
}

/// Remarks on inputs: those without a sensor, and those that look like the state of the frame before.
fn remarks(trace: &trace::Trace<'_>, options: &Options) -> Vec<String> {
    let name = |id: &trace::TensorId| trace.tensor(*id).name;
    let outputs: Vec<&str> = trace.outputs.iter().map(name).collect();
    let is_state = |input: &str| options.states.contains_key(input);
    let mut remarks = Vec::new();
    let mut open = Vec::new();
    for id in &trace.inputs {
        let input = name(id);
        let is_number = trace.fact(*id).is_none_or(|fact| fact.element.is_integer());
        if is_number || is_state(input) || options.sensors.contains_key(input) {
            continue;
        }
        match outputs.iter().find(|output| looks_like_state(input, output)) {
            Some(output) => {
                let (input, output) = (in_line(input), in_line(output));
                let option = format!("--state {input}={output}");
                remarks.push(format!("{input} looks like {output} of the frame before: {option}"));
            }
            None => open.push(in_line(input)),
        }
    }
    if !open.is_empty() {
        let (first, all) = (open[0].clone(), open.join(", "));
        remarks.push(format!(
            "no sensor feeds {all}, so that frames arrive at their nominal time: --input {first}=SENSOR"
        ));
    }
    remarks
}

/// Whether names are those of a state before and after a frame.
fn looks_like_state(input: &str, output: &str) -> bool {
    let pairs = [("past", "present"), ("_in", "_out"), ("h0", "hn"), ("c0", "cn"), ("h_0", "h_n")];
    pairs
        .iter()
        .any(|(before, after)| input.contains(before) && input.replacen(before, after, 1) == output)
}

/// A sentence for each pair of widths that is not eight and eight bits.
fn widths(rows: &[Row]) -> Vec<String> {
    let mut kinds: Vec<([Option<u32>; 2], usize)> = Vec::new();
    for row in rows {
        let bits = [row.weight_bits, row.activation_bits];
        let is_usual = bits.iter().flatten().all(|&bits| bits == 8);
        if is_usual {
            continue;
        }
        match kinds.iter_mut().find(|(known, _)| *known == bits) {
            Some((_, count)) => *count += 1,
            None => kinds.push((bits, 1)),
        }
    }
    let of = |bits: Option<u32>| bits.map_or("other".to_string(), |bits| format!("{bits}-bit"));
    let sentence = |([weights, activations], count): &([Option<u32>; 2], usize)| {
        let (layers, have) = if *count == 1 { ("layer", "has") } else { ("layers", "have") };
        format!(
            "{count} {layers} {have} {} weights and {} activations",
            of(*weights),
            of(*activations)
        )
    };
    kinds.iter().map(sentence).collect()
}
