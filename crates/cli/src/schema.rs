//! `xrsim schema`: JSON Schemas of input files, for editors.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use xrsim_config::{Kind, nearest, printable};
use xrsim_experiment::{schema, schema_of_all};

use super::message::{Failure, say};
use super::output;

/// Print the JSON Schema of a kind of input files, with which editors complete and explain keys.
///
/// Without a kind and without `--all`, the names of all kinds are printed. `xrsim check` checks more than a schema: a
/// schema cannot check what depends on other files.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    xrsim schema                          names of all kinds\n  \
    xrsim schema sweep                    the schema of sweeps (JSON Schema, draft 7)\n  \
    xrsim schema --all --out schemas      schemas of all kinds, and xrsim.schema.json for any kind")]
pub(super) struct SchemaArgs {
    /// Kind of input files, such as `scenario`.
    #[arg(conflicts_with = "all")]
    kind: Option<String>,
    /// Every kind: one document, with each kind under `definitions`.
    #[arg(long)]
    all: bool,
    /// Folder for a file `KIND.schema.json` of each kind, and for `xrsim.schema.json`, which distinguishes them by their
    /// first key.
    #[arg(long, short, value_name = "DIR", requires = "all")]
    out: Option<PathBuf>,
}

/// Name of the schema of files of any kind.
const OF_ALL: &str = "xrsim.schema.json";

/// Prints schemas, or writes them to a folder.
///
/// # Errors
///
/// Returns a failure for an unknown kind, and if output cannot be written.
pub(super) fn run(args: &SchemaArgs) -> Result<(), Failure> {
    match (&args.kind, args.all, &args.out) {
        (Some(name), ..) => output::print_text(&text(&schema(kind(name)?))),
        (None, true, Some(folder)) => write(folder),
        (None, true, None) => output::print_text(&text(&schema_of_all())),
        (None, false, _) => {
            let names: String = Kind::EVERY.iter().map(|kind| format!("{kind}\n")).collect();
            output::print_text(&names)
        }
    }
}

/// The kind called `name`.
fn kind(name: &str) -> Result<Kind, Failure> {
    let names = || Kind::ALL.iter().map(|&(_, name)| name);
    let found = Kind::ALL.iter().find(|&&(_, known)| known == name);
    found.map(|&(kind, _)| kind).ok_or_else(|| {
        let help = match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known: {}", names().collect::<Vec<_>>().join(", ")),
        };
        Failure::Argument(format!("no kind named `{}`; {help}", printable(name)))
    })
}

fn text(schema: &Value) -> String {
    format!("{schema:#}\n")
}

/// Writes a schema of each kind and one of all to `folder`.
fn write(folder: &Path) -> Result<(), Failure> {
    output::create_folder(folder)?;
    for kind in Kind::EVERY {
        let path = folder.join(format!("{kind}.schema.json"));
        output::write_text(&path, &text(&schema(kind)))?;
    }
    let path = folder.join(OF_ALL);
    output::write_text(&path, &text(&schema_of_all()))?;
    if let Ok(line) = modeline(&path) {
        say(format_args!("note: the first line of a file for editors: {line}"));
    }
    Ok(())
}

/// Comment that tells editors the schema of a file, which is at `path`.
///
/// # Errors
///
/// Returns a failure if there is no such file, or if the comment cannot hold its path.
pub(super) fn modeline(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    if !path.is_file() {
        let help = "`xrsim schema --all --out DIR` writes schemas";
        refuse!("no file `{shown}`; {help}");
    }
    // A path from the root holds wherever the file is written to.
    let full = std::path::absolute(path)
        .map_err(|error| Failure::Argument(format!("`{shown}`: {error}")))?;
    match full.to_str().filter(|text| !text.contains(char::is_whitespace)) {
        Some(text) => Ok(format!("# yaml-language-server: $schema={text}")),
        None => Err(Failure::Argument(format!(
            "`{shown}`: a line for editors cannot hold a path with blanks"
        ))),
    }
}
