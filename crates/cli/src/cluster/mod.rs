//! Parts of a command on a cluster: the job script, its submission, an estimate before, and the state after.
//!
//! Slurm is the engine. A script makes every part by the command itself, with `--shard`, as a task that may be
//! killed at any time; a second job joins the parts. Nothing here schedules, watches or restarts.

mod estimate;
mod script;
mod status;
mod submit;
mod words;

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use clap::{Arg, Args};

use super::build::Build;
use super::message::{Failure, say, warn};
use super::output;

pub(super) use estimate::{Estimate, Shares};
pub(super) use status::{StatusArgs, status};
pub use words::start_with;
pub(super) use words::{line, note};

/// Number of parts of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    /// Parts of about half an hour.
    Auto,
    Parts(NonZeroU64),
}

/// Most parts of a job: the largest index of an array that Slurm has by default, and some more sites allow.
const MAX_PARTS: u64 = 10_000;

fn count(text: &str) -> Result<Count, String> {
    match text.trim() {
        "auto" => Ok(Count::Auto),
        text => {
            let parts =
                text.parse().ok().filter(|&parts| parts <= MAX_PARTS).and_then(NonZeroU64::new);
            parts.map(Count::Parts).ok_or_else(|| {
                format!("allowed is a number of parts from 1 to {MAX_PARTS}, or `auto`")
            })
        }
    }
}

/// Program and inputs that a script was made for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    build: Build,
    /// SHA-256 of all inputs.
    digest: String,
}

fn origin(text: &str) -> Result<Origin, &'static str> {
    let (version, digest) = text.split_once(':').ok_or("expected VERSION:SHA256")?;
    Ok(Origin { build: Build::parse(version), digest: digest.into() })
}

/// Options of a command that can be made in parts on a cluster.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ClusterOptions {
    /// Print points, time and parts, and write nothing: some points are timed on this machine.
    #[arg(long)]
    pub dry_run: bool,
    /// Print a job script of N parts for Slurm, which continues after kills, power cuts, preemption and time
    /// limits; `auto` makes parts of about half an hour. Options for sbatch follow after `--`.
    #[arg(long, value_name = "N|auto", value_parser = count, conflicts_with_all = ["shard", "restart"])]
    sbatch: Option<Count>,
    /// Submit the script of --sbatch, and a job that joins the parts.
    #[arg(long, requires = "sbatch")]
    submit: bool,
    /// Options for sbatch, such as `-- --partition=long --mem=2G`.
    #[arg(last = true, value_name = "SBATCH OPTION", requires = "sbatch")]
    sbatch_options: Vec<String>,
    /// Version and commit of the program and SHA-256 of the inputs that a script was made for.
    #[arg(long, hide = true, value_name = "VERSION:SHA256", value_parser = origin, conflicts_with = "sbatch")]
    expect: Option<Origin>,
}

impl ClusterOptions {
    /// Whether a job of parts is printed or submitted.
    pub(super) fn has_parts(&self) -> bool {
        self.sbatch.is_some() && !self.dry_run
    }

    /// Whether the command only describes what it would do, or hands it over.
    pub(super) fn is_asked(&self) -> bool {
        self.dry_run || self.sbatch.is_some()
    }

    /// Refuses to make or join a part of a job that was made by another version, or for inputs of another SHA-256
    /// than `digest`, while its tasks waited.
    ///
    /// # Errors
    ///
    /// Returns a failure that names both.
    pub(super) fn refuse_changed(&self, digest: impl FnOnce() -> String) -> Result<(), Failure> {
        let Some(Origin { build, digest: expected }) = &self.expect else { return Ok(()) };
        let other_build = Build::own().difference(build);
        let difference = match digest() {
            _ if other_build.is_some() => format!("it was {}", other_build.unwrap_or_default()),
            found if found != *expected => format!(
                "an input or an option has changed since then: their SHA-256 is {found}, and was {expected}"
            ),
            _ => return Ok(()),
        };
        Err(Failure::Argument(format!(
            "not of the job that --sbatch made: {difference}; take the earlier ones, or make the job again with \
             another --out"
        )))
    }
}

/// Output of a part, and how parts are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A file of rows; `xrsim parts merge` joins them.
    File,
    /// A folder with this file of rows; the command itself joins them, with `--join`.
    Folder(&'static str),
}

/// A command that can be made in parts.
#[derive(Debug)]
pub(super) struct Job<'a> {
    /// Name of the command.
    pub command: &'static str,
    /// One thing that is made, in the plural: `points`, `systems`.
    pub things: &'static str,
    pub n_things: u64,
    pub form: Form,
    /// File or folder of the result; empty if none was given.
    pub out: &'a Path,
    /// File of the inputs for people, if there is one.
    pub spec: Option<&'a str>,
    /// SHA-256 of all inputs.
    pub digest: String,
}

impl Job<'_> {
    /// Folder of the parts.
    fn folder(&self) -> PathBuf {
        let mut name = self.stem();
        name.push_str(".parts");
        not_an_option(self.out.with_file_name(name))
    }

    /// File or folder of the result.
    fn result(&self) -> PathBuf {
        not_an_option(self.out.into())
    }

    /// Name of the result without its extension.
    fn stem(&self) -> String {
        let name = match self.form {
            Form::File => self.out.file_stem(),
            Form::Folder(_) => self.out.file_name(),
        };
        name.map_or_else(|| self.command.into(), |name| name.to_string_lossy().into_owned())
    }
}

/// A path that no command takes for an option.
fn not_an_option(path: PathBuf) -> PathBuf {
    match path.as_os_str().as_encoded_bytes().first() {
        Some(b'-') => Path::new(".").join(path),
        _ => path,
    }
}

/// Prints the estimate, or the script of the job, or submits it.
///
/// # Errors
///
/// Returns a failure for names that a script cannot have, and if sbatch is absent or refuses the job.
pub(super) fn hand_over(
    job: &Job<'_>,
    options: &ClusterOptions,
    estimate: impl FnOnce() -> Result<Estimate, Failure>,
) -> Result<(), Failure> {
    if options.dry_run {
        return output::print_text(&estimate()?.text(job));
    }
    if options.sbatch.is_some() && job.out.as_os_str().is_empty() {
        refuse!("--sbatch takes --out: parts are written beside it");
    }
    let parts = match options.sbatch {
        None => return Ok(()),
        Some(Count::Parts(parts)) => parts.get(),
        Some(Count::Auto) => {
            let estimate = estimate()?;
            say(format_args!("{}", estimate.text(job).trim_end()));
            estimate.parts()
        }
    };
    if parts > job.n_things {
        warn(format_args!(
            "{parts} parts, but {} {}: some parts are empty",
            job.n_things, job.things
        ));
    }
    let scripts = script::Scripts::new(job, options, parts)?;
    if options.submit {
        return submit::submit(job, &scripts);
    }
    output::print(&scripts.array)
}

/// Whether an argument belongs to the options above.
fn is_own(id: &Arg) -> bool {
    ["dry_run", "sbatch", "submit", "sbatch_options", "expect"].contains(&id.get_id().as_str())
}
