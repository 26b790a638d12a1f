//! `xrsim import`: files in other formats as YAML.

use std::path::PathBuf;

use clap::Args;

use crate::config::{Source, export};

use super::message::Failure;
use super::output::{self, OutputSet};
use super::places::Places;

/// Convert a file of the published artifact (.m) to YAML.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    xrsim import WS_OS.m                 print the YAML\n  \
    xrsim import AR_gaming.m --out my/   one YAML file per network, and the scenario")]
pub(super) struct ImportArgs {
    /// File to convert.
    file: PathBuf,
    /// Folder to write to, one file per network, scenario or dataflow [default: standard output].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Writes the YAML to standard output, or to a folder.
///
/// # Errors
///
/// Returns a failure if the file is invalid, or if the folder cannot be written to.
pub(super) fn run(args: &ImportArgs) -> Result<(), Failure> {
    let source = Source::read(&args.file)?;
    let files = export::import(&source)?;
    let Some(folder) = &args.out else {
        let texts: Vec<_> = files.into_iter().map(|(_, text)| text).collect();
        return output::print(&texts.join("---\n"));
    };
    let names = files.iter().map(|(name, _)| name);
    Places::default().reading([args.file.clone()]).folder(Some(folder), names).check()?;
    let mut set = OutputSet::create(folder)?;
    let mut list = String::new();
    for (name, text) in files {
        set.bytes(&name, text.as_bytes())?;
        list += &format!("{}\n", folder.join(name).display());
    }
    set.rename()?;
    output::print_text(&list)
}
