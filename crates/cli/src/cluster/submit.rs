//! Submission of a job.

use std::fs;
use std::io::{self, Write as _};
use std::process::{Command, Output, Stdio};

use super::super::message::{Failure, say, warn};
use super::super::output;
use super::Job;
use super::script::Scripts;

/// Names of the scripts in the folder of the parts.
pub(super) const ARRAY: &str = "array.sbatch";
const JOIN: &str = "join.sbatch";

/// Makes the folder of the parts, submits the array and the job that joins its parts, keeps their scripts in the
/// folder, and prints their numbers.
///
/// # Errors
///
/// Returns a failure if sbatch is absent, or refuses a job. Then no job and no new folder is left, and scripts of an
/// earlier submission stay.
pub(super) fn submit(job: &Job<'_>, scripts: &Scripts) -> Result<(), Failure> {
    let folder = job.folder();
    let is_new = !folder.exists();
    output::create_folder(&folder)?;
    let submitted = both(scripts);
    if submitted.is_err() && is_new {
        // The failure of the submission is the one that counts.
        let _ = fs::remove_dir(&folder);
    }
    let [array, join] = submitted?;
    for (name, script) in [(ARRAY, &scripts.array), (JOIN, &scripts.join)] {
        // The jobs are in the queue and need no script any more.
        if let Err(failure) = output::write_text(&folder.join(name), script) {
            warn(format_args!("the script of the job is not kept: {}", failure.reason()));
        }
    }
    let cluster = array.cluster.as_ref().map_or_else(String::new, |it| format!(" on {it}"));
    output::print(&format!("array {}, join {}{cluster}\n", array.number, join.number))?;
    say(format_args!("`xrsim parts status {}` shows its progress", folder.display()));
    Ok(())
}

/// A job in the queue.
#[derive(Debug, PartialEq, Eq)]
struct Submitted {
    number: String,
    /// Name of its cluster, where there are several.
    cluster: Option<String>,
}

impl Submitted {
    /// The job of what `sbatch --parsable` prints: `JOB`, or `JOB;CLUSTER`, after what a site may have to say.
    fn parse(text: &str) -> Option<Self> {
        let line = text.lines().next_back()?;
        let (number, cluster) = line.split_once(';').unwrap_or((line, ""));
        let is_number = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
        let cluster = (!cluster.is_empty()).then(|| cluster.into());
        is_number.then(|| Self { number: number.into(), cluster })
    }

    /// The option of commands of Slurm that names its cluster.
    fn option(&self) -> Option<String> {
        self.cluster.as_ref().map(|it| format!("--clusters={it}"))
    }
}

fn both(scripts: &Scripts) -> Result<[Submitted; 2], Failure> {
    let array = sbatch(&["--parsable".into()], &scripts.array)?;
    let depends = format!("--dependency=afterok:{}", array.number);
    let mut options = vec!["--parsable".into(), depends, "--kill-on-invalid-dep=yes".into()];
    // A job depends on those of its own cluster only.
    options.extend(array.option());
    match sbatch(&options, &scripts.join) {
        Ok(join) => Ok([array, join]),
        Err(failure) => {
            // Parts that nothing joins are not what was asked for.
            let words: Vec<_> = array.option().into_iter().chain([array.number]).collect();
            let cancelled = Command::new("scancel").args(&words).output();
            if !cancelled.is_ok_and(|it| it.status.success()) {
                warn(format_args!(
                    "the array is still there; `scancel {}` ends it",
                    words.join(" ")
                ));
            }
            Err(failure)
        }
    }
}

/// Submits a script, and returns the job.
fn sbatch(options: &[String], script: &str) -> Result<Submitted, Failure> {
    let failure = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            Failure::Argument("sbatch is not here; without --submit the script is printed".into())
        }
        _ => Failure::Argument(format!("sbatch cannot be started: {error}")),
    };
    let mut command = Command::new("sbatch");
    command.args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failure)?;
    if let Some(mut input) = child.stdin.take() {
        // Where sbatch ends before it has read all, its own words say why.
        let _ = input.write_all(script.as_bytes());
    }
    let Output { status, stdout, stderr } = child.wait_with_output().map_err(failure)?;
    let shown =
        |bytes: &[u8]| xrsim_model::text::shown(String::from_utf8_lossy(bytes).trim()).into_owned();
    if !status.success() {
        let words = format!("sbatch refuses the job: {}", shown(&stderr));
        return Err(match status.code() {
            Some(1) => Failure::Check(words),
            _ => Failure::Argument(words),
        });
    }
    let text = shown(&stdout);
    Submitted::parse(&text)
        .ok_or_else(|| Failure::Argument(format!("sbatch prints no number of a job: {text}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_job_is_in_the_last_line() {
        let of = |text| Submitted::parse(text).map(|it| (it.number.clone(), it.option()));
        assert_eq!(of("7"), Some(("7".into(), None)));
        assert_eq!(of("welcome\n12;north"), Some(("12".into(), Some("--clusters=north".into()))));
        for none in ["", ";north", "Submitted batch job 7", "7\nbye"] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
