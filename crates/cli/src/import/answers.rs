//! Options that answer what an ONNX file leaves open.

use std::collections::BTreeMap;

use clap::Args;

use xrsim_config::onnx::{Branch, Options};
use xrsim_model::text::{NAME_RULE, is_name};

use super::super::message::Failure;

/// Answers to what an ONNX file leaves open. A name is that of the file; the value stands after its last `=`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for ONNX files")]
pub(super) struct Answers {
    /// Extent of an open axis, e.g. `batch=1`.
    #[arg(long, value_name = "NAME=N", value_parser = number)]
    dim: Vec<(String, u64)>,
    /// Shape of an input, e.g. `x=1x3x224x224`.
    #[arg(long, value_name = "INPUT=NxN", value_parser = shape)]
    shape: Vec<(String, Vec<u64>)>,
    /// Elements of an integer input on which shapes depend, e.g. `lengths=4,6`.
    #[arg(long, value_name = "INPUT=N,N", value_parser = elements, allow_hyphen_values = true)]
    value: Vec<(String, Vec<i64>)>,
    /// Trips of a loop.
    #[arg(long, value_name = "NODE=N", value_parser = number)]
    trips: Vec<(String, u64)>,
    /// Branch that an `If` takes, `then` or `else`.
    #[arg(long, value_name = "NODE=BRANCH", value_parser = branch)]
    branch: Vec<(String, Branch)>,
    /// Extent that depends on data, such as the number of boxes; `*` for every node without a bound of its own.
    #[arg(long, value_name = "NODE=N", value_parser = number)]
    bound: Vec<(String, u64)>,
    /// Sensor of an input, e.g. `image=camera`.
    #[arg(long, value_name = "INPUT=SENSOR", value_parser = pair)]
    input: Vec<(String, String)>,
    /// Output of one frame that is an input of the next frame.
    #[arg(long, value_name = "INPUT=OUTPUT", value_parser = pair)]
    state: Vec<(String, String)>,
    /// Task of the network [default: its name].
    #[arg(long, value_parser = name)]
    task: Option<String>,
    /// Name of the network [default: the name of the file without its extension].
    #[arg(long, value_parser = name)]
    name: Option<String>,
}

impl Answers {
    /// The first option that is given.
    pub(super) fn given(&self) -> Option<&'static str> {
        let options = [
            ("--dim", !self.dim.is_empty()),
            ("--shape", !self.shape.is_empty()),
            ("--value", !self.value.is_empty()),
            ("--trips", !self.trips.is_empty()),
            ("--branch", !self.branch.is_empty()),
            ("--bound", !self.bound.is_empty()),
            ("--input", !self.input.is_empty()),
            ("--state", !self.state.is_empty()),
            ("--task", self.task.is_some()),
            ("--name", self.name.is_some()),
        ];
        options.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }

    /// The answers by name.
    ///
    /// # Errors
    ///
    /// Returns a failure if there are two for a name.
    pub(super) fn options(&self) -> Result<Options, Failure> {
        Ok(Options {
            dims: by_name("--dim", &self.dim)?,
            shapes: by_name("--shape", &self.shape)?,
            values: by_name("--value", &self.value)?,
            trips: by_name("--trips", &self.trips)?,
            branches: by_name("--branch", &self.branch)?,
            bounds: by_name("--bound", &self.bound)?,
            sensors: by_name("--input", &self.input)?,
            states: by_name("--state", &self.state)?,
            name: self.name.clone(),
            task: self.task.clone(),
        })
    }
}

fn by_name<T: Clone>(option: &str, pairs: &[(String, T)]) -> Result<BTreeMap<String, T>, Failure> {
    let mut values = BTreeMap::new();
    for (name, value) in pairs {
        if values.insert(name.clone(), value.clone()).is_some() {
            refuse!("{option}: `{name}` is given twice");
        }
    }
    Ok(values)
}

/// Splits at the last `=`, as names of nodes can have others.
fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.rsplit_once('=').ok_or("a name, `=` and a value are needed")?;
    match name.is_empty() || value.is_empty() {
        true => Err("a name, `=` and a value are needed".into()),
        false => Ok((name.into(), value.into())),
    }
}

fn number(text: &str) -> Result<(String, u64), String> {
    let (name, value) = pair(text)?;
    Ok((name, whole(&value)?))
}

fn whole(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number"))
}

fn shape(text: &str) -> Result<(String, Vec<u64>), String> {
    let (name, value) = pair(text)?;
    Ok((name, value.split(['x', ',']).map(whole).collect::<Result<_, _>>()?))
}

fn elements(text: &str) -> Result<(String, Vec<i64>), String> {
    let (name, value) = pair(text)?;
    let element = |text: &str| text.parse().map_err(|_| format!("`{text}` is not an integer"));
    Ok((name, value.split(',').map(element).collect::<Result<_, _>>()?))
}

fn branch(text: &str) -> Result<(String, Branch), String> {
    let (name, value) = pair(text)?;
    let found = Branch::ALL.into_iter().find(|(word, _)| *word == value);
    found
        .map(|(_, branch)| (name, branch))
        .ok_or_else(|| format!("`{value}` is neither then nor else"))
}

fn name(text: &str) -> Result<String, String> {
    if is_name(text) { Ok(text.into()) } else { Err(NAME_RULE.into()) }
}
