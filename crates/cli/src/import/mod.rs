//! `xrsim import`: files in other formats as YAML.

mod answers;

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use xrsim_config::aihub::Measurements;
use xrsim_config::onnx::{self, Imported};
use xrsim_config::{Source, export};
use xrsim_report::layers::{LayerRow, write_csv};
use xrsim_validation::validate::networks::facts;

use super::message::{Failure, say, warn};
use super::output::{self, OutputSet};
use super::places::Places;
use answers::Answers;

/// Convert files of other tools to YAML (ONNX, SCALE-Sim, .m, AI Hub).
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    xrsim import net.onnx > net.yaml     the network, with the decisions of the import\n  \
    xrsim import net.onnx --dim tokens=128 --value lengths=128\n  \
    xrsim import net.onnx --format csv   a row a layer\n  \
    xrsim import alexnet.csv             a topology of SCALE-Sim\n  \
    xrsim import WS_OS.m                 print the YAML\n  \
    xrsim import AR_gaming.m --out my/   one YAML file per network, and the scenario\n  \
    xrsim import aihub perf.yaml --device 'QCS8450 (Proxy)' --out my/   networks and their table\n\n\
    An ONNX file is recognised by its contents or its ending. Its weights are never read. Everything that is missing or \
    not supported is reported at once, with the options that supply it.")]
pub(super) struct ImportArgs {
    /// File to convert; with the word `aihub` before it a `perf.yaml` of Qualcomm AI Hub, or a folder of them.
    #[arg(num_args = 1..=2, required = true, value_names = ["FILE", "FILE"])]
    file: Vec<PathBuf>,
    /// Device of AI Hub whose times are imported.
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
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
    let file = args.path()?;
    let files = if let Some(device) = &args.device {
        args.refuse_options_of_onnx()?;
        of_aihub(file, device)?
    } else if file.is_file() && onnx::is_model(file) {
        vec![of_onnx(args)?]
    } else {
        args.refuse_options_of_onnx()?;
        export::import(&Source::read(file)?)?
    };
    let Some(folder) = &args.out else {
        let texts: Vec<_> = files.into_iter().map(|(_, text)| text).collect();
        return output::print(&texts.join("---\n"));
    };
    write(file, folder, files)
}

impl ImportArgs {
    /// The file to convert.
    fn path(&self) -> Result<&Path, Failure> {
        let is_aihub = self.device.is_some();
        match &self.file[..] {
            [file] if !is_aihub => Ok(file),
            [word, file] if word.as_os_str() == "aihub" && is_aihub => Ok(file),
            [word, _] if word.as_os_str() == "aihub" => {
                Err(Failure::Argument("aihub: name the --device whose times are taken".into()))
            }
            [_] => {
                Err(Failure::Argument("--device: the word `aihub` stands before the file".into()))
            }
            files => Err(Failure::Argument(format!(
                "{}: one file is converted at a time",
                files[1].display()
            ))),
        }
    }

    fn refuse_options_of_onnx(&self) -> Result<(), Failure> {
        let format = (self.format != Format::Yaml).then_some("--format");
        match self.answers.given().or(format) {
            None => Ok(()),
            Some(option) => {
                let file = self.path()?.display();
                Err(Failure::Argument(format!("{option}: {file} is not an ONNX file")))
            }
        }
    }
}

/// Most files of AI Hub in a folder.
const MAX_FILES: usize = 10_000;

/// Names and texts of the files that times of AI Hub on a device become.
fn of_aihub(path: &Path, device: &str) -> Result<Vec<(String, String)>, Failure> {
    let mut measurements = Measurements::default();
    for file in perf_files(path)? {
        let model = file.parent().and_then(Path::file_name).filter(|_| path.is_dir());
        let model = model.or(file.file_stem()).unwrap_or_default().to_string_lossy();
        measurements.add(&Source::read(&file)?, &model, device)?;
    }
    match measurements.lacks(device) {
        Some(message) => Err(Failure::Argument(format!("{}: {message}", path.display()))),
        None => Ok(measurements.files(device)),
    }
}

/// The file, or each `perf.yaml` in a folder and the folders in it, in order.
fn perf_files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.into()]);
    }
    let unreadable =
        |error: std::io::Error| Failure::Argument(format!("{}: {error}", path.display()));
    let mut files = Vec::new();
    let mut entries: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)?.take(MAX_FILES) {
        entries.push(entry.map_err(unreadable)?.path());
    }
    entries.sort();
    for entry in entries {
        let file = if entry.is_dir() { entry.join("perf.yaml") } else { entry };
        let is_one = file.file_name().is_some_and(|name| name == "perf.yaml");
        files.extend((is_one && file.is_file()).then_some(file));
    }
    match files.is_empty() {
        true => Err(Failure::Argument(format!("{}: no perf.yaml in this folder", path.display()))),
        false => Ok(files),
    }
}

/// Name and text of the file that an ONNX file becomes. Says what was decided.
fn of_onnx(args: &ImportArgs) -> Result<(String, String), Failure> {
    let path = args.path()?;
    let imported = args.answers.import(path)?;
    let file = path.display();
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
