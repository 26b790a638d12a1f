//! Submission of a job.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Output};

use super::super::message::{Failure, say};
use super::super::output;
use super::Job;
use super::script::Scripts;

/// Names of the scripts in the folder of the parts.
pub(super) const ARRAY: &str = "array.sbatch";
const JOIN: &str = "join.sbatch";

/// Makes the folder of the parts, submits the array and the job that joins its parts, and prints their
/// numbers.
///
/// # Errors
///
/// Returns a failure if sbatch is absent, or refuses a job. Then no job and no new folder is left.
pub(super) fn submit(job: &Job<'_>, scripts: &Scripts) -> Result<(), Failure> {
    let folder = job.folder();
    let is_new = !folder.exists();
    output::create_folder(&folder)?;
    let submitted = both(&folder, scripts);
    if submitted.is_err() {
        let files = [ARRAY, JOIN].map(|name| folder.join(name));
        for file in files.iter().filter(|_| is_new) {
            // The failure of the submission is the one that counts.
            let _ = fs::remove_file(file);
        }
        if is_new {
            let _ = fs::remove_dir(&folder);
        }
    }
    let [array, join] = submitted?;
    output::print(&format!("array {array}, join {join}\n"))?;
    say(format_args!("`xrsim status {}` tells how far it is", folder.display()));
    Ok(())
}

fn both(folder: &Path, scripts: &Scripts) -> Result<[String; 2], Failure> {
    output::write_text(&folder.join(ARRAY), &scripts.array)?;
    output::write_text(&folder.join(JOIN), &scripts.join)?;
    let array = sbatch(&["--parsable"], &folder.join(ARRAY))?;
    let depends = format!("--dependency=afterok:{array}");
    match sbatch(&["--parsable", &depends, "--kill-on-invalid-dep=yes"], &folder.join(JOIN)) {
        Ok(join) => Ok([array, join]),
        Err(failure) => {
            // Parts that nothing joins are not what was asked for.
            let _ = Command::new("scancel").arg(&array).output();
            Err(failure)
        }
    }
}

/// Submits a script, and returns the number of the job.
fn sbatch(options: &[&str], script: &Path) -> Result<String, Failure> {
    let done = Command::new("sbatch").args(options).arg(script).output();
    let Output { status, stdout, stderr } = done.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Failure::Argument("sbatch is not here; without --submit the script is printed".into())
        }
        _ => Failure::Argument(format!("sbatch cannot be started: {error}")),
    })?;
    let shown =
        |bytes: &[u8]| crate::text::shown(String::from_utf8_lossy(bytes).trim()).into_owned();
    if !status.success() {
        let words = format!("sbatch refuses the job: {}", shown(&stderr));
        return Err(match status.code() {
            Some(1) => Failure::Check(words),
            _ => Failure::Argument(words),
        });
    }
    // `JOB`, or `JOB;CLUSTER`, after what a site may have to say.
    let text = shown(&stdout);
    let job = text.lines().next_back().and_then(|line| line.split(';').next()).unwrap_or_default();
    match !job.is_empty() && job.bytes().all(|it| it.is_ascii_digit()) {
        true => Ok(job.into()),
        false => Err(Failure::Argument(format!("sbatch prints no number of a job: {text}"))),
    }
}
