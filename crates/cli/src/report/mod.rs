//! `xrsim report`: results as one HTML page.

mod command;
mod comparison;
mod day;
mod explain;
mod joint;
mod mlperf;
mod search;
mod sensitivity;
mod sweep;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use xrsim_config::read_bounded;
use xrsim_model::text::counted;
use xrsim_report::html::mlperf::Kind;
use xrsim_report::html::{self, Folder, Page, Source};

use super::message::{Failure, hint, say};
use super::output;
use super::places::Places;
use super::record::{self, Recorded};
use super::results::TABLES;
use xrsim_model::digest::Digest;

/// Write results as one HTML page that needs no internet connection (runs, load tests, comparisons, searches, sensitivities, explanations, a day or a sweep).
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    xrsim run --out results && xrsim report results -o report.html\n  \
    xrsim sweep pe_scaling && xrsim report pe_scaling.csv -o sweep.html\n  \
    xrsim compare --scheduler edf --scheduler rm --out comparison && xrsim report comparison\n    \
    xrsim search styles --out found && xrsim report found -o found.html")]
pub(super) struct ReportArgs {
    /// Folder that a command wrote with --out, or the file of a sweep. Commands: run, compare, search, sensitivity, explain, day, mlperf.
    #[arg(value_name = "DIR|FILE.csv")]
    pub folder: PathBuf,
    /// Page to write.
    #[arg(long, short, value_name = "FILE.html", default_value = "report.html")]
    pub out: PathBuf,
}

/// Largest file that is read \[byte\]. The most requests of a page need less.
const MAX_BYTES: u64 = 512 << 20;

/// Tables of runs. A folder with the first one is a folder of runs.
const SCORES: &str = TABLES[0];

/// A file of the folder.
struct Text {
    name: String,
    text: String,
}

/// A page, and a description of its contents.
struct Made {
    html: String,
    contents: String,
}

/// Writes the page of a results folder.
///
/// # Errors
///
/// Returns a failure if a file is missing, invalid or of other results than the rest, or if the page
/// cannot be written.
pub(super) fn run(args: &ReportArgs) -> Result<(), Failure> {
    refuse_to_overwrite(args)?;
    let made =
        if args.folder.is_file() { sweep::page(&args.folder)? } else { folder(&args.folder)? };
    output::write_text(&args.out, &made.html)?;
    let kib = made.html.len().div_ceil(1024);
    say(format_args!("wrote {}: {}, {kib} KiB", args.out.display(), made.contents));
    Ok(())
}

/// Makes a page of a folder.
type Make = fn(&Path) -> Result<Made, Failure>;

/// Kinds of results, by the file that every folder of the kind has. Load tests are not among them: whether a folder
/// has them depends on its record.
const KINDS: [(&str, Make); 7] = [
    (SCORES, runs),
    (record::COMPARE, comparison::page),
    (record::SEARCH, search::page),
    (record::JOINT, joint::page),
    (record::SENSITIVITY, sensitivity::page),
    (record::EXPLAIN, explain::page),
    (record::DAY, day::page),
];

/// What has a page.
const SHOWN: &str = "pages show the folders that `xrsim run`, `xrsim compare`, `xrsim search`, `xrsim sensitivity`, \
    `xrsim explain`, `xrsim day` and `xrsim mlperf` write with `--out DIR`, and the file of `xrsim sweep`";

/// Makes the page of a folder of results; one without any is taken for runs, whose files are then missed.
fn folder(folder: &Path) -> Result<Made, Failure> {
    let tests = mlperf::Reader::new(folder)?;
    let of_tests = Kind::ALL.into_iter().filter(|it| tests.has(it.file()));
    let of_tests: Vec<_> = of_tests.map(|it| (it.file(), Err(it))).collect();
    let others = KINDS.into_iter().filter(|(file, _)| folder.join(file).exists());
    let others = others.map(|(file, make)| (file, Ok::<Make, Kind>(make)));
    let found: Vec<_> = others.chain(of_tests).collect();
    match found[..] {
        [] => runs(folder),
        [(_, Ok(make))] => make(folder),
        [(_, Err(kind))] => mlperf::page(tests, kind),
        [(first, _), (second, _), ..] => Err(Failure::Argument(format!(
            "{} has both {first} and {second}; a page shows one of them; move one to a folder of its own",
            folder.display()
        ))),
    }
}

/// Makes the page of runs.
fn runs(folder: &Path) -> Result<Made, Failure> {
    let read = |name: &str| read(&folder.join(name), MAX_BYTES, None);
    let [scores, models, inferences] = TABLES.map(read);
    let [scores, models, inferences] = [scores?, models?, inferences?];
    let (provenance, recorded) = open(folder, record::RUN, MAX_BYTES)?;
    for (name, table) in TABLES.into_iter().zip([&scores, &models, &inferences]) {
        table.check(name, &recorded)?;
    }
    let command = command::of_folder("run", &provenance.text);
    let page = html::page(&Folder {
        scores: scores.source(),
        models: models.source(),
        inferences: inferences.source(),
        provenance: provenance.source(),
        command: command.as_deref(),
    });
    let Page { html, n_runs, n_requests, renamed, .. } = page.map_err(super::argument)?;
    for change in renamed {
        hint(change);
    }
    let contents = format!("{}, {}", counted(n_runs, "run"), counted(n_requests, "request"));
    Ok(Made { html, contents })
}

/// Refuses a page that would overwrite results.
fn refuse_to_overwrite(args: &ReportArgs) -> Result<(), Failure> {
    if is_result(&args.out) {
        refuse!(
            "{}: the report is an HTML page; use a name that ends in .html",
            args.out.display()
        );
    }
    let mut results = Vec::new();
    if args.folder.is_file() {
        results = vec![args.folder.clone(), super::sweep::record_of(&args.folder)];
    }
    find_results(&args.folder, DEPTH, &mut results);
    Places::default().reading(results).writing([&args.out]).check()
}

/// Depth of a folder of results, counted from the folder itself.
const DEPTH: usize = 3;

/// Whether a file has an ending of results.
fn is_result(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default();
    ["csv", "json", "svg", "pdf", "png", "tex", "txt"]
        .iter()
        .any(|it| ending.eq_ignore_ascii_case(it))
}

/// Collects the results in `folder` and its subfolders down to `depth`.
fn find_results(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if is_result(&path) {
            found.push(path);
        } else if depth > 1 && path.is_dir() {
            find_results(&path, depth - 1, found);
        }
    }
}

/// The record called `name` of a folder. Files that it lists are as the command wrote them.
///
/// # Errors
///
/// Returns a failure if there is no record, or if it or one of these files was changed.
fn open(folder: &Path, name: &str, max: u64) -> Result<(Text, Recorded), Failure> {
    let path = folder.join(name);
    let text = read(&path, max, None)?;
    let recorded = Recorded::parse(&path, &text.text)?;
    recorded.warn();
    recorded.check_all(folder)?;
    Ok((text, recorded))
}

/// Reads a file of at most `max` bytes. The message for a larger file is `too_large`, if given.
fn read(path: &Path, max: u64, too_large: Option<&str>) -> Result<Text, Failure> {
    let name = path.display().to_string();
    let bytes = read_bounded(path, max).map_err(|error| {
        let is_too_large = error.kind() == io::ErrorKind::FileTooLarge;
        let own = error.to_string();
        let error = too_large.filter(|_| is_too_large).unwrap_or(&own);
        Failure::Argument(format!("{name}: {error}; {SHOWN}"))
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        Failure::Argument(format!("{name}:{line}: not UTF-8 text"))
    })?;
    Ok(Text { name, text })
}

impl Text {
    /// Refuses the text if it differs from the record of the file called `name`.
    fn check(&self, name: &str, recorded: &Recorded) -> Result<(), Failure> {
        recorded.check(name, Path::new(&self.name), Digest::compute(self.text.as_bytes()))
    }

    fn source(&self) -> Source<'_> {
        Source { name: &self.name, text: &self.text }
    }
}
