//! Options that answer what an ONNX file leaves open.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;
use clap::builder::{StringValueParser, TypedValueParser};

use xrsim_config::onnx::{self, Branch, Imported, Options, Tokens};
use xrsim_model::text::{NAME_RULE, is_name};

use super::super::message::Failure;

/// Answers to what an ONNX file leaves open. A name is that of the file; the value stands after its last `=`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for ONNX files")]
pub(super) struct Answers {
    /// Extent of an open axis, e.g. `batch=1`; several are separated by commas. Of a decoder, `new` is the number of tokens
    /// that a step computes, and `past` that of the tokens in its cache.
    #[arg(long, value_name = "NAME=N", value_parser = pairs(extent))]
    dim: Vec<Pairs<Extent>>,
    /// Shape of an input, e.g. `x=1x3x224x224`.
    #[arg(long, value_name = "INPUT=NxN", value_parser = shape)]
    shape: Vec<(String, Vec<u64>)>,
    /// Elements of an integer input, on which shapes depend, e.g. `lengths=4,6`.
    #[arg(long, value_name = "INPUT=N,N", value_parser = elements, allow_hyphen_values = true)]
    value: Vec<(String, Vec<i64>)>,
    /// Trips of a loop; several are separated by commas.
    #[arg(long, value_name = "NODE=N", value_parser = pairs(number))]
    trips: Vec<Pairs<u64>>,
    /// Branch that an `If` takes, `then` or `else`; several are separated by commas.
    #[arg(long, value_name = "NODE=BRANCH", value_parser = pairs(branch))]
    branch: Vec<Pairs<Branch>>,
    /// Extent that depends on data, such as the number of boxes; `*` for every node without a bound of its own; several
    /// are separated by commas.
    #[arg(long, value_name = "NODE=N", value_parser = pairs(number))]
    bound: Vec<Pairs<u64>>,
    /// Sensor of an input, e.g. `image=camera`; several are separated by commas.
    #[arg(long, value_name = "INPUT=SENSOR", value_parser = pairs(pair))]
    input: Vec<Pairs<String>>,
    /// Output that is an input of the next frame; several are separated by commas.
    #[arg(long, value_name = "INPUT=OUTPUT", value_parser = pairs(pair))]
    state: Vec<Pairs<String>>,
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

    /// The network of the file at `path`.
    ///
    /// # Errors
    ///
    /// Returns a failure if there are two answers for a name, or if the file cannot be imported.
    pub(super) fn import(&self, path: &Path) -> Result<Imported, Failure> {
        let (mut dims, mut tokens) = (BTreeMap::new(), BTreeMap::new());
        for (name, extent) in by_name("--dim", &self.dim.concat())? {
            match extent {
                Extent::Number(number) => drop(dims.insert(name, number)),
                Extent::Tokens(of) => drop(tokens.insert(name, of)),
            }
        }
        let options = Options { dims, ..self.options()? };
        Ok(match tokens.is_empty() {
            true => onnx::import(path, &options)?,
            false => onnx::import_step(path, &options, &tokens)?,
        })
    }

    /// The answers by name, but for extents of axes.
    fn options(&self) -> Result<Options, Failure> {
        Ok(Options {
            shapes: by_name("--shape", &self.shape)?,
            values: by_name("--value", &self.value)?,
            trips: by_name("--trips", &self.trips.concat())?,
            branches: by_name("--branch", &self.branch.concat())?,
            bounds: by_name("--bound", &self.bound.concat())?,
            sensors: by_name("--input", &self.input.concat())?,
            states: by_name("--state", &self.state.concat())?,
            name: self.name.clone(),
            task: self.task.clone(),
            ..Options::default()
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

/// Names of a file, each with a value.
type Pairs<T> = Vec<(String, T)>;

/// Parser of pairs between commas. A text in which a piece has no `=` is one pair, as names of nodes can have commas.
fn pairs<T: Clone + Send + Sync + 'static>(
    pair: fn(&str) -> Result<(String, T), String>,
) -> impl TypedValueParser<Value = Pairs<T>> {
    let parse = move |text: &str| match text.split(',').all(|piece| piece.contains('=')) {
        true => text.split(',').map(pair).collect(),
        false => Ok(vec![pair(text)?]),
    };
    StringValueParser::new().try_map(move |text| parse(&text))
}

/// Splits at the last `=`, as names of nodes can have others.
fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.rsplit_once('=').ok_or("a name, `=` and a value are needed")?;
    match name.is_empty() || value.is_empty() {
        true => Err("a name, `=` and a value are needed".into()),
        false => Ok((name.into(), value.into())),
    }
}

/// Extent of an open axis.
#[derive(Debug, Clone, Copy)]
enum Extent {
    Number(u64),
    Tokens(Tokens),
}

fn extent(text: &str) -> Result<(String, Extent), String> {
    let (name, value) = pair(text)?;
    let word = value.replace(' ', "");
    let tokens = Tokens::ALL.into_iter().find(|(known, _)| *known == word);
    let extent = match tokens {
        Some((_, tokens)) => Extent::Tokens(tokens),
        None => whole(&value).map(Extent::Number).map_err(|error| {
            format!("{error}, and none of new, past, past+new, which are tokens of a decoder")
        })?,
    };
    Ok((name, extent))
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
