//! `xrsim report`: the results of a run as one HTML page.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::figures::counted;
use crate::report::html::{self, Folder, Source};

use super::args::ReportArgs;
use super::message::{Failure, say};
use super::output;

/// Largest file that is read \[byte\]: more than the most requests of a page need.
const MAX_BYTES: u64 = 512 << 20;

/// A file of the folder.
struct Text {
    name: String,
    text: String,
}

/// Writes the page of a results folder.
///
/// # Errors
///
/// A file that is absent, wrong, or of other runs than the rest; output that cannot be written.
pub fn run(args: &ReportArgs) -> Result<(), Failure> {
    refuse_to_overwrite(args)?;
    let [scores, models, inferences, provenance] = [
        read(&args.folder, "scores.csv")?,
        read(&args.folder, "models.csv")?,
        read(&args.folder, "inferences.csv")?,
        read(&args.folder, "run.json")?,
    ];
    let page = html::page(&Folder {
        scores: scores.source(),
        models: models.source(),
        inferences: inferences.source(),
        provenance: provenance.source(),
    });
    let page = page.map_err(super::argument)?;
    output::write_text(&args.out, &page.html)?;
    let (n_runs, n_requests) = (page.n_runs, page.n_requests);
    let kib = page.html.len().div_ceil(1024);
    say(format_args!(
        "wrote {}: {}, {}, {kib} KiB",
        args.out.display(),
        counted(n_runs, "run"),
        counted(n_requests, "request")
    ));
    Ok(())
}

/// Refuses a page that would take the place of results.
fn refuse_to_overwrite(args: &ReportArgs) -> Result<(), Failure> {
    let ending = args.out.extension().unwrap_or_default();
    if ["csv", "json"].iter().any(|results| ending.eq_ignore_ascii_case(results)) {
        let message = format!("{}: the report is a page; name it .html", args.out.display());
        return Err(Failure::Argument(message));
    }
    Ok(())
}

fn read(folder: &Path, name: &str) -> Result<Text, Failure> {
    let path = folder.join(name);
    let name = path.display().to_string();
    let bytes = read_bounded(&path).map_err(|error| {
        Failure::Argument(format!(
            "{name}: {error}; `xrsim run --out DIR` writes what a report needs"
        ))
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        Failure::Argument(format!("{name}:{line}: not UTF-8 text"))
    })?;
    Ok(Text { name, text })
}

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("larger than {} MiB", MAX_BYTES >> 20)));
    }
    Ok(bytes)
}

impl Text {
    fn source(&self) -> Source<'_> {
        Source { name: &self.name, text: &self.text }
    }
}
