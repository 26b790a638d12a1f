//! `xrsim import`: files in other formats as YAML.

mod answers;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use xrsim_config::onnx::{self, Imported};
use xrsim_config::{Source, export};
use xrsim_report::layers::{LayerRow, write_csv};
use xrsim_validation::validate::networks::facts;

use super::message::{Failure, say, warn};
use super::output::{self, OutputSet};
use super::places::Places;
use answers::Answers;

/// Convert an ONNX file, a topology of SCALE-Sim (.csv), or a file of the published artifact (.m), to YAML.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    xrsim import net.onnx > net.yaml     the network, with the decisions of the import\n  \
    xrsim import net.onnx --dim tokens=128 --value lengths=128\n  \
    xrsim import net.onnx --format csv   a row a layer\n  \
    xrsim import alexnet.csv             a topology of SCALE-Sim\n  \
    xrsim import WS_OS.m                 print the YAML\n  \
    xrsim import AR_gaming.m --out my/   one YAML file per network, and the scenario\n\n\
    An ONNX file is recognised by its contents or its ending. Its weights are never read. Everything that is missing or \
    not supported is reported at once, with the options that supply it.")]
pub(super) struct ImportArgs {
    /// File to convert.
    file: PathBuf,
    /// Folder to write to, one file per network, scenario or dataflow [default: standard output].
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Output format; `csv` has a row for each layer of an ONNX file and a last one with the totals.
    #[arg(long, value_enum, default_value_t = Format::Yaml)]
    format: Format,
    #[command(flatten)]
    answers: Answers,
}

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Yaml,
    Csv,
}

/// Writes the YAML to standard output, or to a folder.
///
/// # Errors
///
/// Returns a failure if the file is invalid, or if the folder cannot be written to.
pub(super) fn run(args: &ImportArgs) -> Result<(), Failure> {
    let files = if args.file.is_file() && onnx::is_model(&args.file) {
        vec![of_onnx(args)?]
    } else {
        args.refuse_options_of_onnx()?;
        export::import(&Source::read(&args.file)?)?
    };
    let Some(folder) = &args.out else {
        let texts: Vec<_> = files.into_iter().map(|(_, text)| text).collect();
        return output::print(&texts.join("---\n"));
    };
    write(&args.file, folder, files)
}

impl ImportArgs {
    fn refuse_options_of_onnx(&self) -> Result<(), Failure> {
        let format = (self.format != Format::Yaml).then_some("--format");
        match self.answers.given().or(format) {
            None => Ok(()),
            Some(option) => {
                let file = self.file.display();
                Err(Failure::Argument(format!("{option}: {file} is not an ONNX file")))
            }
        }
    }
}

/// Name and text of the file that an ONNX file becomes. Says what was decided.
fn of_onnx(args: &ImportArgs) -> Result<(String, String), Failure> {
    let imported = onnx::import(&args.file, &args.answers.options()?)?;
    let file = args.file.display();
    imported.warnings.iter().for_each(|warning| warn(format_args!("{file}: {warning}")));
    imported.model.deviations.iter().for_each(|it| say(format_args!("note: {file}: {it}")));
    let name = export::file_name(imported.model.network.name());
    Ok(match args.format {
        Format::Yaml => {
            let text = imported.text.clone() + &facts(&imported.model).to_comments();
            (name, text)
        }
        Format::Csv => {
            (Path::new(&name).with_extension("csv").display().to_string(), csv(&imported))
        }
    })
}

fn csv(imported: &Imported) -> String {
    let layers = imported.model.network.layers().iter();
    let rows = layers.zip(&imported.origins).map(|(layer, origin)| LayerRow {
        layer,
        node: &origin.node,
        operator: &origin.operator,
        padding: origin.padding,
    });
    output::in_memory(|out| write_csv(rows, out))
}

fn write(read: &Path, folder: &Path, files: Vec<(String, String)>) -> Result<(), Failure> {
    let names = files.iter().map(|(name, _)| name);
    Places::default().reading([read.to_path_buf()]).folder(Some(folder), names).check()?;
    let mut set = OutputSet::create(folder)?;
    let mut list = String::new();
    for (name, text) in files {
        set.bytes(&name, text.as_bytes())?;
        list += &format!("{}\n", folder.join(name).display());
    }
    set.rename()?;
    output::print_text(&list)
}
