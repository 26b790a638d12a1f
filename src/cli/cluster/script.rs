//! Scripts of a job: the array of its parts, and the job that joins them.

use std::fmt::Write as _;

use clap::Arg;

use super::super::message::Failure;
use super::words::words;
use super::{ClusterOptions, Form, Job, is_own};

/// Times that a part begins again after a kill.
const RESTARTS: u32 = 5;

/// Seconds before a time limit at which a part goes back into the queue.
const NOTICE: u32 = 120;

/// The scripts of a job, for bash.
#[derive(Debug)]
pub(super) struct Scripts {
    /// Makes all parts, as tasks of an array.
    pub array: String,
    /// Joins them.
    pub join: String,
}

impl Scripts {
    /// Scripts that make `parts` parts of a job.
    ///
    /// # Errors
    ///
    /// Returns a failure for a word that a script cannot have.
    pub(super) fn of(job: &Job<'_>, options: &ClusterOptions, parts: u64) -> Result<Self, Failure> {
        let texts = Texts::of(job)?;
        let sbatch = directives(&options.sbatch_options)?;
        Ok(Self {
            array: array(job, &texts, &sbatch, parts)?,
            join: join(job, &texts, &sbatch, parts)?,
        })
    }
}

/// Pieces of the scripts, quoted for the shell.
struct Texts {
    /// Name of the program and its command with all options but those of the part.
    command: String,
    /// The program alone.
    program: String,
    folder: String,
    /// Path of a part without its number.
    prefix: String,
    out: String,
    /// Directory of logs in a line of sbatch.
    log: String,
}

impl Texts {
    fn of(job: &Job<'_>) -> Result<Self, Failure> {
        let program = match std::env::args_os().next() {
            Some(program) => path(std::path::Path::new(&program))?,
            None => "xrsim".into(),
        };
        let mut definition = super::super::program();
        definition.build();
        let command = definition.find_subcommand(job.command).expect("it is being run");
        let is_of_part =
            |it: &Arg| is_own(it) || ["out", "restart"].contains(&it.get_id().as_str());
        let words = words(command, is_of_part)?;
        let words = [program.clone(), job.command.into()].into_iter().chain(words);
        let (folder, out) = (path(&job.folder())?, path(job.out)?);
        let prefix = quoted(&format!("{folder}/{}", job.stem()))?;
        let log = quoted_for_sbatch(&folder.replace('%', "%%"))?;
        Ok(Self {
            command: words.map(|word| quoted(&word)).collect::<Result<Vec<_>, _>>()?.join(" "),
            program: quoted(&program)?,
            folder: quoted(&folder)?,
            prefix,
            out: quoted(&out)?,
            log,
        })
    }
}

fn path(path: &std::path::Path) -> Result<String, Failure> {
    let text = path.to_str();
    let text =
        text.ok_or_else(|| Failure::Argument(format!("`{}` is not text", path.display())))?;
    Ok(text.into())
}

/// A word as the shell reads it.
fn quoted(word: &str) -> Result<String, Failure> {
    if word.contains(['\n', '\r']) {
        let shown = crate::text::in_line(word);
        return Err(Failure::Argument(format!(
            "a line break in `{shown}`: a script cannot have it"
        )));
    }
    match shlex::try_quote(word) {
        Ok(quoted) => Ok(quoted.into_owned()),
        Err(error) => Err(Failure::Argument(format!("`{}`: {error}", crate::text::in_line(word)))),
    }
}

/// A path within double quotes as sbatch reads it in a line of a script.
fn quoted_for_sbatch(word: &str) -> Result<String, Failure> {
    if word.contains(['"', '\\', '\n', '\r']) {
        let shown = crate::text::in_line(word);
        let message = format!("`{shown}`: sbatch takes no path with `\"`, `\\` or a line break");
        return Err(Failure::Argument(message));
    }
    Ok(word.into())
}

/// Lines of sbatch for the options of the user. A word that is no option is the value of the one before.
fn directives(options: &[String]) -> Result<Vec<String>, Failure> {
    let mut lines: Vec<String> = Vec::new();
    for word in options {
        let plain = quoted_for_sbatch(word)?;
        let shown = match word.contains(|it: char| it.is_whitespace() || "'#".contains(it)) {
            true => format!("\"{plain}\""),
            false => plain,
        };
        match lines.last_mut() {
            Some(line) if !word.starts_with('-') => {
                line.push(' ');
                line.push_str(&shown);
            }
            None if !word.starts_with('-') => {
                let message =
                    format!("`{word}` after `--` is no option of sbatch, such as --mem=2G");
                return Err(Failure::Argument(message));
            }
            _ => lines.push(shown),
        }
    }
    Ok(lines)
}

/// Name of a job: letters that every tool of Slurm shows.
fn job_name(job: &Job<'_>) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "._-".contains(it);
    let stem = job.stem();
    format!("xrsim-{}", stem.replace(|it| !is_plain(it), "_"))
}

fn array(job: &Job<'_>, texts: &Texts, sbatch: &[String], parts: u64) -> Result<String, Failure> {
    let mut text = format!("#!/bin/bash\n#SBATCH --job-name={}\n", job_name(job));
    let each = job.n_things.div_ceil(parts);
    let from =
        job.spec.map_or_else(String::new, |spec| format!(" from {}", crate::text::in_line(spec)));
    let ending = if job.form == Form::File { ".csv" } else { "" };
    let Texts { command, folder, prefix, log, .. } = texts;
    let mut write = |arguments: std::fmt::Arguments<'_>| {
        text.write_fmt(arguments)
            .and_then(|()| text.write_char('\n'))
            .expect("writing to a string");
    };
    write(format_args!("#SBATCH --array=1-{parts}"));
    write(format_args!("#SBATCH --cpus-per-task=1\n#SBATCH --requeue\n#SBATCH --open-mode=append"));
    write(format_args!("#SBATCH --output=\"{log}/%a.log\""));
    write(format_args!("#SBATCH --signal=B:USR1@{NOTICE}"));
    sbatch.iter().for_each(|line| write(format_args!("#SBATCH {line}")));
    write(format_args!(
        "# Made by xrsim {}{from}, SHA-256 {}; {} {}, at most {each} a task.",
        env!("CARGO_PKG_VERSION"),
        job.digest,
        job.n_things,
        job.things
    ));
    write(format_args!(
        "# Slurm writes logs into this folder, which has to be there before: mkdir -p {folder}"
    ));
    write(format_args!("# The parts are joined by: {}", joining(job, texts, parts)));
    write(format_args!("set -u"));
    write(format_args!("task=${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}"));
    write(format_args!("export RAYON_NUM_THREADS=${{SLURM_CPUS_PER_TASK:-1}}"));
    write(format_args!(
        "# Before the time limit the task goes back into the queue; what it has written stays."
    ));
    write(format_args!("trap 'scontrol requeue \"$task\"' USR1"));
    write(format_args!("part={prefix}.$SLURM_ARRAY_TASK_ID-of-{parts}{ending}"));
    write(format_args!("{command} --shard \"$SLURM_ARRAY_TASK_ID/{parts}\" --out \"$part\" &"));
    write(format_args!("child=$!"));
    write(format_args!("wait \"$child\"; status=$?"));
    write(format_args!("# A signal ends the wait, not the child."));
    write(format_args!(
        "while kill -0 \"$child\" 2>/dev/null; do wait \"$child\"; status=$?; done"
    ));
    write(format_args!(
        "# 128 and above: ended by a signal, such as that of a kernel that is short of memory. 75: another process \
         writes to\n# the part, such as this task on a node that was given up. Up to {RESTARTS} times the task goes \
         back into the queue."
    ));
    write(format_args!(
        "if {{ [ \"$status\" -ge 128 ] || [ \"$status\" -eq 75 ]; }} && [ \"${{SLURM_RESTART_COUNT:-0}}\" -lt {RESTARTS} ]; then"
    ));
    write(format_args!("    scontrol requeue \"$task\"; sleep 60"));
    write(format_args!("fi"));
    write(format_args!("exit \"$status\""));
    Ok(text)
}

/// The command that joins the parts, in one line.
fn joining(job: &Job<'_>, texts: &Texts, parts: u64) -> String {
    let Texts { command, program, prefix, out, .. } = texts;
    match job.form {
        Form::File => format!("{program} merge {prefix}.*-of-{parts}.csv --out {out}"),
        Form::Folder => {
            format!(
                "{command} --join {prefix}.1-of-{parts} .. --join {prefix}.{parts}-of-{parts} --out {out}"
            )
        }
    }
}

fn join(job: &Job<'_>, texts: &Texts, sbatch: &[String], parts: u64) -> Result<String, Failure> {
    let Texts { command, prefix, out, log, .. } = texts;
    let mut text = format!(
        "#!/bin/bash\n#SBATCH --job-name={}-join\n#SBATCH --cpus-per-task=1\n#SBATCH --output=\"{log}/join.log\"\n",
        job_name(job)
    );
    // Options of the array alone: what it is, where it writes, and the signal that its script waits for.
    let of_array = ["--ar", "-a", "--signal", "--output", "-o", "--error", "-e"];
    let is_of_array = |line: &&String| of_array.iter().any(|option| line.starts_with(option));
    for line in sbatch.iter().filter(|line| !is_of_array(line)) {
        let _ = writeln!(text, "#SBATCH {line}");
    }
    text.push_str("set -eu\nexport RAYON_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}\n");
    match job.form {
        Form::File => {
            let _ = writeln!(text, "{}", joining(job, texts, parts));
        }
        Form::Folder => {
            let _ = writeln!(
                text,
                "parts=()\nfor part in $(seq {parts}); do parts+=(--join {prefix}.\"$part\"-of-{parts}); done\n\
                 {command} \"${{parts[@]}}\" --out {out}"
            );
        }
    }
    Ok(text)
}
