//! Import of an ONNX file as a model and as YAML.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use crate::ConfigError;
use crate::export;
use crate::network::Model;
use crate::parameters;
use xrsim_model::model::Padding;
use xrsim_model::text::{in_line, is_name};
use xrsim_onnx::{self as onnx, Branch, ImportError, Options};

/// A network made of an ONNX file.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The network with everything that its file tells.
    pub model: Model,
    /// The same as YAML.
    pub text: String,
    /// Warnings about the file.
    pub warnings: Vec<String>,
    /// Where each layer comes from.
    pub origins: Vec<Origin>,
    /// What became of the nodes of the file.
    pub(super) nodes: String,
}

/// Where a layer comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Node, or the tensor that it writes if it has no name.
    pub node: Box<str>,
    /// Operator of ONNX.
    pub operator: Box<str>,
    /// Padding as the node has it; of a transposed convolution that of the layer can differ.
    pub padding: Padding,
}

/// Imports the file at `path`, which is named after the file unless `options` have a name.
///
/// # Errors
///
/// [`ConfigError::Import`] with everything that is wrong, not supported or left open.
pub fn import(path: &Path, options: &Options) -> Result<Imported, ConfigError> {
    let named = Options { name: Some(name(path, options)), ..options.clone() };
    let found = onnx::import(path, &named).map_err(|error| refusal(path, options, error))?;
    let nodes = found.counts.sentence(found.network.layers().len());
    let model = Model {
        task: found.task,
        title: found.title,
        inputs: found.inputs,
        other_parameters: found.other_parameters,
        batch_norm_channels: found.batch_norm_channels,
        deviations: found.deviations,
        ..Model::bare(Arc::new(found.network))
    };
    let rows = found.rows.into_iter();
    let origin = |row: onnx::Row| Origin {
        node: in_line(&row.node).into(),
        operator: row.operator,
        padding: row.padding,
    };
    let origins: Vec<Origin> = rows.map(origin).collect();
    let text = text(path, &model, &origins, &nodes);
    Ok(Imported { model, text, warnings: found.warnings, origins, nodes })
}

/// YAML of a network whose layers come from `origins`; `nodes` says what became of the nodes of the file.
pub(super) fn text(path: &Path, model: &Model, origins: &[Origin], nodes: &str) -> String {
    let names: Vec<&str> = origins.iter().map(|origin| &*origin.node).collect();
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    format!(
        "# Imported from {} by `xrsim import`. The comment after a layer names its node; in a repeated block, the node \
         of the first copy.\n{}# {nodes}\n",
        in_line(&file),
        export::model_of_nodes(model, &names),
    )
}

/// Name of the network: that of the options, or of the file if a network can have it.
fn name(path: &Path, options: &Options) -> String {
    let stem = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let usual = || Some(stem()).filter(|stem| is_name(stem)).unwrap_or_else(|| "network".into());
    options.name.clone().unwrap_or_else(usual)
}

fn refusal(path: &Path, options: &Options, error: ImportError) -> ConfigError {
    let ImportError { mut problems, missing, unused } = error;
    let used = without(options, &unused);
    let command = match missing.is_empty() {
        false => {
            let mut command = command(path, &used, &missing);
            if missing.iter().any(|option| option.starts_with("--dim ") && option.contains("past"))
            {
                command.push_str(
                    "\nhelp: of a step of a sequence, the tokens that it computes are `new`, those in its cache `past`, \
                     both `past+new`",
                );
            }
            Some(match in_reference(path, &used, &missing) {
                Some(reference) => format!("{command}\nhelp: {reference}"),
                None => command,
            })
        }
        true if unused.is_empty() => {
            let (fitting, change) = fitting(path, options).unzip();
            problems.extend(change);
            fitting.map(|it| command(path, &it, &[]))
        }
        true => None,
    };
    ConfigError::Import { path: path.into(), problems, command }
}

/// How a reference to the file gives the extents of open axes; `None` if it cannot answer all that is missing.
fn in_reference(path: &Path, options: &Options, missing: &[String]) -> Option<String> {
    let mut axes: Vec<_> =
        options.dims.iter().map(|(name, extent)| (&**name, extent.to_string())).collect();
    for option in missing {
        let (name, extent) = option.strip_prefix("--dim ")?.rsplit_once('=')?;
        axes.push((name, extent.into()));
    }
    let is_known = axes.iter().all(|(name, _)| parameters::is_name(name));
    if !is_known || *options != (Options { dims: options.dims.clone(), ..Options::default() }) {
        return None;
    }
    let joined = |equals: &str, comma: &str| {
        let pairs = axes.iter().map(|(name, extent)| format!("{name}{equals}{extent}"));
        pairs.collect::<Vec<_>>().join(comma)
    };
    Some(format!(
        "or keep the file as the network: {}:{}; in a scenario `parameters: {{{}}}`",
        quoted(&path.display().to_string()),
        joined("=", ","),
        joined(": ", ", ")
    ))
}

/// The options without those that name nothing in the file.
fn without(options: &Options, unused: &[(&'static str, String)]) -> Options {
    let mut used = options.clone();
    for (kind, name) in unused {
        match *kind {
            "dim" => drop(used.dims.remove(name)),
            "shape" => drop(used.shapes.remove(name)),
            "value" => drop(used.values.remove(name)),
            "trips" => drop(used.trips.remove(name)),
            "branch" => drop(used.branches.remove(name)),
            _ => drop(used.bounds.remove(name)),
        }
    }
    used
}

/// Most axes that are changed to see whether the file can be imported.
const MAX_CHANGED: usize = 8;

/// Options with one extent of `--dim` rounded up to a multiple of a power of two with which the file can be imported,
/// and the change in words: a network that halves an image several times takes such extents only.
fn fitting(path: &Path, options: &Options) -> Option<(Options, String)> {
    let factors = (1..=6).map(|power| 1u64 << power);
    factors.into_iter().find_map(|factor| {
        options.dims.iter().take(MAX_CHANGED).find_map(|(name, &extent)| {
            let next = extent.max(1).checked_next_multiple_of(factor)?;
            let mut changed = options.clone();
            changed.dims.insert(name.clone(), next);
            if next == extent || onnx::import(path, &changed).is_err() {
                return None;
            }
            let name = in_line(name);
            Some((
                changed,
                format!("from --dim {name}={extent}: {next}, a multiple of {factor}, fits"),
            ))
        })
    })
}

/// The command that imports the file with `options` and those that are `missing`.
fn command(path: &Path, options: &Options, missing: &[String]) -> String {
    let mut words =
        vec!["xrsim import".to_string(), quoted(&path.display().to_string()).into_owned()];
    let mut add = |option: &str, name: &str, value: &str| {
        words.push(format!("--{option} {}={}", quoted(name), quoted(value)));
    };
    let joined = |numbers: Vec<String>, sign| numbers.join(sign);
    for (name, extent) in &options.dims {
        add("dim", name, &extent.to_string());
    }
    for (name, extents) in &options.shapes {
        add("shape", name, &joined(extents.iter().map(u64::to_string).collect(), "x"));
    }
    for (name, elements) in &options.values {
        add("value", name, &joined(elements.iter().map(i64::to_string).collect(), ","));
    }
    for (name, trips) in &options.trips {
        add("trips", name, &trips.to_string());
    }
    for (name, branch) in &options.branches {
        let (word, _) = Branch::ALL[*branch as usize];
        add("branch", name, word);
    }
    for (name, bound) in &options.bounds {
        add("bound", name, &bound.to_string());
    }
    for (option, pairs) in [("input", &options.sensors), ("state", &options.states)] {
        pairs.iter().for_each(|(name, value)| add(option, name, value));
    }
    for (option, value) in [("task", &options.task), ("name", &options.name)] {
        words.extend(value.as_ref().map(|value| format!("--{option} {}", quoted(value))));
    }
    let is_bound = |option: &&String| option.starts_with("--bound ");
    let of_all = missing.iter().filter(is_bound).count() > MAX_BOUNDS;
    words.extend(of_all.then(|| format!("--bound {}=N", quoted(Options::ALL))));
    for option in missing.iter().filter(|option| !of_all || !is_bound(option)) {
        // The name is that of the file, and may hold anything; the value is ours.
        let (option, answer) = option.split_once(' ').unwrap_or((option, ""));
        let (name, value) = answer.rsplit_once('=').unwrap_or((answer, ""));
        words.push(format!("{option} {}={value}", quoted(name)));
    }
    words.join(" ")
}

/// Most bounds of nodes that are asked for one by one.
const MAX_BOUNDS: usize = 3;

/// `word` as a shell reads it.
fn quoted(word: &str) -> Cow<'_, str> {
    shlex::try_quote(word).unwrap_or(Cow::Borrowed(word))
}
