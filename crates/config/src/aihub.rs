//! Measurements of Qualcomm AI Hub (`perf.yaml`) as measured networks and a table of their costs.
//!
//! ```text
//! precisions: {w8a8: {components: {HandDetector: {performance_metrics: {"QCS8450 (Proxy)": {tflite: {
//!   inference_time_milliseconds: 0.451, primary_compute_unit: NPU}}}}}}}
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use xrsim_model::model::Network;
use xrsim_model::text::nearest;
use xrsim_model::units::SimSpan;

use super::export;
use super::yaml::read::{Problems, printable};
use super::yaml::tree::Entry;
use super::yaml::{Node, Value};
use super::{ConfigError, Problem, Source};

/// Frames per second of the scenarios.
const FPS: u32 = 30;

/// Latencies of the networks of some files on a device: the best runtime of each component, precision and unit.
#[derive(Debug, Default)]
pub struct Measurements {
    /// By model and precision: components in the order of the file, each with its latencies by unit.
    chains: BTreeMap<(String, String), Vec<Component>>,
    /// Devices of all files.
    devices: BTreeSet<String>,
}

#[derive(Debug)]
struct Component {
    network: String,
    /// Latency \[ms\] as written, and the runtime, by unit in lower case.
    units: BTreeMap<String, (SimSpan, String, String)>,
}

impl Measurements {
    /// Adds what `source` has of `device`, a file of the model called `model`.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Invalid`] if the file is no YAML, or none of AI Hub, or a latency is none.
    pub fn add(
        &mut self,
        source: &Arc<Source>,
        model: &str,
        device: &str,
    ) -> Result<(), ConfigError> {
        let mut problems = Problems::default();
        let root = source.tree(&mut problems);
        let precisions = root.as_ref().and_then(|root| root.entry("precisions"));
        if precisions.is_none() && problems.is_empty() {
            let problem = Problem::new(0..0, "this is no `perf.yaml` of Qualcomm AI Hub");
            problems.push(problem.help("it has the key `precisions`"));
        }
        for precision in precisions.iter().flat_map(|it| entries(&it.value)) {
            let mut chain = Vec::new();
            for component in below(precision, "components") {
                let network = format!("{model}.{}.{}", component.key, precision.key);
                let mut units = BTreeMap::new();
                for of_device in below(component, "performance_metrics") {
                    self.devices.insert(of_device.key.to_string());
                    if of_device.key == device {
                        add_runtimes(&of_device.value, &mut units, &mut problems);
                    }
                }
                if !units.is_empty() {
                    chain.push(Component { network: word(&network), units });
                }
            }
            if !chain.is_empty() {
                let name = (word(model), word(&precision.key));
                if self.chains.insert(name, chain).is_some() {
                    let message = format!("two models are called `{}`", word(model));
                    problems.push(Problem::new(precision.key_span.clone(), message));
                }
            }
        }
        if problems.is_empty() {
            return Ok(());
        }
        Err(ConfigError::Invalid { file: Arc::clone(source), problems: problems.into_vec() })
    }

    /// Why there is nothing of `device`; `None` if there is something.
    pub fn lacks(&self, device: &str) -> Option<String> {
        if !self.chains.is_empty() {
            return None;
        }
        let known = || self.devices.iter().map(String::as_str);
        let help = match nearest(device, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known: {}", known().collect::<Vec<_>>().join(", ")),
        };
        Some(format!("no latency was measured on `{}`; {help}", printable(device)))
    }

    /// Names and texts of the files: a network for each component and precision, `costs.csv`, a system of the units,
    /// and a scenario for each model and precision of several components, each of which needs the one before it.
    pub fn files(&self, device: &str) -> Vec<(String, String)> {
        let about = format!(
            "# Latencies that Qualcomm AI Hub measured on {}, alone on the device (`xrsim import aihub`).\n",
            printable(device)
        );
        let mut table = about.clone() + "network,accelerator,latency_ms\n";
        let (mut units, mut files) = (BTreeSet::new(), Vec::new());
        for ((model, precision), chain) in &self.chains {
            let mut scenario =
                format!("{about}scenario:\n  name: {model}.{precision}\n  models:\n");
            for (at, component) in chain.iter().enumerate() {
                let network = &component.network;
                let file = export::file_name(network);
                let before = at.checked_sub(1).map_or(String::new(), |before| {
                    format!(", depends_on: {{{}: data}}", chain[before].network)
                });
                _ = writeln!(scenario, "    - {{network: ./{file}, fps: {FPS}{before}}}");
                let mut runtimes = String::new();
                for (unit, (_, latency, runtime)) in &component.units {
                    _ = writeln!(table, "{network},{unit},{latency}");
                    runtimes += &format!("# Best runtime on {unit}: {}.\n", printable(runtime));
                    units.insert(unit);
                }
                let text = export::network(&Network::measured(network.as_str()));
                files.push((file, about.clone() + &runtimes + &text));
            }
            if chain.len() > 1 {
                files.push((export::file_name(&format!("{model}.{precision}")), scenario));
            }
        }
        let mut system = format!("{about}system:\n  name: aihub\n  accelerators:\n");
        for unit in units {
            _ = writeln!(system, "    - processor: {{name: {unit}}}");
        }
        files.push(("system.yaml".into(), system));
        files.push(("costs.csv".into(), table));
        files
    }
}

/// Adds the runtimes of a component on the device, the fastest of each unit.
fn add_runtimes(
    node: &Node<'_>,
    units: &mut BTreeMap<String, (SimSpan, String, String)>,
    problems: &mut Problems,
) {
    for runtime in entries(node) {
        let text = |key| runtime.value.entry(key).and_then(|it| it.value.scalar());
        // Jobs that failed have no time.
        let Some(latency) = text("inference_time_milliseconds").filter(|it| *it != "null") else {
            continue;
        };
        let unit = word(&text("primary_compute_unit").unwrap_or("unknown").to_lowercase());
        let span = latency.parse().ok().and_then(SimSpan::from_ms);
        let Some(span) = span.filter(|it| *it > SimSpan::ZERO) else {
            let message = format!("`{}` is no latency", printable(latency));
            problems.push(Problem::new(runtime.key_span.clone(), message).help("ms above 0"));
            continue;
        };
        let found = (span, latency.to_string(), runtime.key.to_string());
        let best = units.entry(unit).or_insert_with(|| found.clone());
        if found.0 < best.0 {
            *best = found;
        }
    }
}

/// Entries of a mapping below a key of the value of an entry.
fn below<'n>(entry: &'n Entry<'n>, key: &str) -> impl Iterator<Item = &'n Entry<'n>> {
    entry.value.entry(key).into_iter().flat_map(|it| entries(&it.value))
}

fn entries<'n>(node: &'n Node<'n>) -> impl Iterator<Item = &'n Entry<'n>> {
    let found: &[Entry<'n>] = match &node.value {
        Value::Mapping(entries) => entries,
        _ => &[],
    };
    found.iter()
}

/// The text as a name in files: letters, digits and `_-.`.
fn word(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '_' };
    let word: String = text.chars().map(plain).collect();
    word.trim_start_matches(['-', '.']).to_string()
}
