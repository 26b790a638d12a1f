//! Scripts of a job: the array of its parts, and the job that joins them.

use std::fmt::Write as _;

use clap::Arg;

use super::super::message::Failure;
use super::{ClusterOptions, Form, Job, is_own, words};

/// Times in a row that a script puts a task back into the queue which has made no row since.
const RETRIES: u32 = 5;

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
            array: array(job, &texts, &sbatch, parts),
            join: join(job, &texts, &sbatch, parts),
        })
    }
}

/// Pieces of the scripts, quoted for the shell.
struct Texts {
    /// Words that start the program, and its command with all options but those of the part.
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
        let program = words::start()?;
        let mut definition = super::super::program();
        definition.build();
        let command = definition.find_subcommand(job.command).expect("it is being run");
        let is_of_part = |it: &Arg| is_own(it) || it.get_id() == "out";
        let words = words::words(command, is_of_part)?;
        words.iter().try_for_each(|word| words::refuse_given(word))?;
        let expected = format!("--expect={}:{}", env!("CARGO_PKG_VERSION"), job.digest);
        let words = program.iter().cloned().chain([job.command.into()]).chain(words);
        let all = |words: &mut dyn Iterator<Item = String>| {
            words.map(|word| quoted(&word)).collect::<Result<Vec<_>, _>>().map(|it| it.join(" "))
        };
        let (folder, out) = (path(&job.folder())?, path(&job.result())?);
        let prefix = quoted(&format!("{folder}/{}", job.stem()))?;
        let log = quoted_for_sbatch(&folder.replace('%', "%%"))?;
        Ok(Self {
            command: all(&mut words.chain([expected]))?,
            program: all(&mut program.into_iter())?,
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
        let shown = xrsim_model::text::in_line(word);
        return Err(Failure::Argument(format!(
            "a line break in `{shown}`: a script cannot have it"
        )));
    }
    match shlex::try_quote(word) {
        Ok(quoted) => Ok(quoted.into_owned()),
        Err(error) => {
            Err(Failure::Argument(format!("`{}`: {error}", xrsim_model::text::in_line(word))))
        }
    }
}

/// A path within double quotes as sbatch reads it in a line of a script.
fn quoted_for_sbatch(word: &str) -> Result<String, Failure> {
    if word.contains(['"', '\\', '\n', '\r']) {
        let shown = xrsim_model::text::in_line(word);
        let message = format!("`{shown}`: sbatch takes no path with `\"`, `\\` or a line break");
        return Err(Failure::Argument(message));
    }
    Ok(word.into())
}

/// Whether a word after `--` is an option of sbatch, and not the value of one: `-5` is that of `--nice`.
fn is_option(word: &str) -> bool {
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
    name.is_some_and(|name| name.starts_with(|it: char| it.is_ascii_alphabetic()))
}

/// Options of sbatch with their values, one a line. sbatch joins the words of all lines, so that they mean what they
/// mean on its command line.
fn directives(options: &[String]) -> Result<Vec<String>, Failure> {
    let mut lines: Vec<String> = Vec::new();
    for word in options {
        if word.is_empty() {
            let message = "an empty word after `--`: sbatch takes none in a script; write --option= for an empty value";
            return Err(Failure::Argument(message.into()));
        }
        let plain = quoted_for_sbatch(word)?;
        // To sbatch, `#` begins a comment, and a word that begins with `:` is an error.
        let is_special = |it: char| it.is_whitespace() || "'#".contains(it);
        let shown = match word.starts_with(':') || word.contains(is_special) {
            true => format!("\"{plain}\""),
            false => plain,
        };
        match lines.last_mut() {
            _ if is_option(word) => lines.push(shown),
            Some(line) => {
                line.push(' ');
                line.push_str(&shown);
            }
            None => {
                let message =
                    format!("`{word}` after `--` is no option of sbatch, such as --mem=2G");
                return Err(Failure::Argument(message));
            }
        }
    }
    Ok(lines)
}

/// Whether the job that joins takes a line of options: those of the array alone are what it is, where it writes, and
/// the signal that its script waits for. sbatch takes any beginning of a long name that is that of one option.
fn is_of_join(line: &str) -> bool {
    const LONG: [&str; 4] = ["--array", "--signal", "--output", "--error"];
    let line = line.strip_prefix('"').unwrap_or(line);
    let name = line.split(['=', ' ']).next().unwrap_or_default();
    let is_long = |long: &&str| name.len() > "--s".len() && long.starts_with(name);
    let is_short = ["-a", "-o", "-e"].iter().any(|short| line.starts_with(short));
    !is_short && !LONG.iter().any(is_long)
}

/// Name of a job: letters that every tool of Slurm shows.
fn job_name(job: &Job<'_>) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "._-".contains(it);
    let stem = job.stem();
    format!("xrsim-{}", stem.replace(|it| !is_plain(it), "_"))
}

/// Lines of a script. Writing to a string cannot fail.
#[derive(Debug, Default)]
struct Lines(String);

impl Lines {
    fn push(&mut self, line: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.0, "{line}");
    }
}

fn array(job: &Job<'_>, texts: &Texts, sbatch: &[String], parts: u64) -> String {
    let Texts { command, folder, prefix, log, .. } = texts;
    let (ending, rows) = match job.form {
        Form::File => (".csv", String::new()),
        Form::Folder(name) => ("", format!("/{name}")),
    };
    let mut lines = Lines(format!("#!/bin/bash\n#SBATCH --job-name={}\n", job_name(job)));
    let mut line = |text: std::fmt::Arguments<'_>| lines.push(text);
    line(format_args!("#SBATCH --array=1-{parts}"));
    line(format_args!("#SBATCH --cpus-per-task=1\n#SBATCH --requeue\n#SBATCH --open-mode=append"));
    line(format_args!("#SBATCH --output=\"{log}/%a.log\""));
    line(format_args!("#SBATCH --signal=B:USR1@{NOTICE}"));
    sbatch.iter().for_each(|it| line(format_args!("#SBATCH {it}")));
    line(format_args!("{}", origin(job, parts)));
    line(format_args!(
        "# Slurm writes logs into this folder, which has to be there before: mkdir -p {folder}"
    ));
    line(format_args!("# When all tasks are done, this joins the parts:"));
    for it in joining(job, texts, parts).lines() {
        line(format_args!("#   {it}"));
    }
    line(format_args!("set -u"));
    line(format_args!("task=${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}"));
    line(format_args!("export RAYON_NUM_THREADS=${{SLURM_CPUS_PER_TASK:-1}}"));
    line(format_args!("part={prefix}.$SLURM_ARRAY_TASK_ID-of-{parts}{ending}"));
    line(format_args!("tries={folder}/$SLURM_ARRAY_TASK_ID.tries"));
    line(format_args!(
        "rows() {{ if [ -f \"$part{rows}\" ]; then wc -l <\"$part{rows}\"; else echo 0; fi; }}"
    ));
    line(format_args!(
        "# Tries in a row that made no row, and the rows after the last of them. Preemption and other causes for which"
    ));
    line(format_args!("# Slurm itself puts the task back into the queue do not count."));
    line(format_args!(
        "[ \"${{SLURM_RESTART_COUNT:-0}}\" -gt 0 ] || echo \"0 $(rows)\" >\"$tries\""
    ));
    line(format_args!("requeued="));
    line(format_args!("again() {{"));
    line(format_args!("    [ -z \"$requeued\" ] || return 0"));
    line(format_args!("    local n=0 before=0 now"));
    line(format_args!("    now=$(rows)"));
    line(format_args!("    read -r n before <\"$tries\""));
    line(format_args!(
        "    if [ \"$now\" -eq \"${{before:-0}}\" ]; then n=$((n + 1)); else n=0; fi"
    ));
    line(format_args!("    echo \"$n $now\" >\"$tries\" || return 1"));
    line(format_args!("    if [ \"$n\" -gt {RETRIES} ]; then"));
    line(format_args!(
        "        echo \"$n tries in a row made no row: the task does not go back into the queue\" >&2; return 1"
    ));
    line(format_args!("    fi"));
    line(format_args!("    scontrol requeue \"$task\" && requeued=yes"));
    line(format_args!("}}"));
    line(format_args!(
        "# Before the time limit the task goes back into the queue; what it has written stays."
    ));
    line(format_args!("trap again USR1"));
    line(format_args!("{command} --shard \"$SLURM_ARRAY_TASK_ID/{parts}\" --out \"$part\" &"));
    line(format_args!("child=$!"));
    line(format_args!("wait \"$child\"; status=$?"));
    line(format_args!("# A signal ends the wait, not the child."));
    line(format_args!("while kill -0 \"$child\" 2>/dev/null; do wait \"$child\"; status=$?; done"));
    line(format_args!(
        "# 128 and above: ended by a signal, such as that of a kernel that is short of memory. 75: another process \
         writes to\n# the part, such as this task on a node that was given up."
    ));
    line(format_args!("if [ \"$status\" -ge 128 ] || [ \"$status\" -eq 75 ]; then"));
    line(format_args!("    again && sleep 60"));
    line(format_args!("fi"));
    line(format_args!("exit \"$status\""));
    lines.0
}

/// A comment that says what a script was made of.
fn origin(job: &Job<'_>, parts: u64) -> String {
    let from =
        job.spec.map_or_else(String::new, |it| format!(" from {}", xrsim_model::text::in_line(it)));
    format!(
        "# Made by xrsim {}{from}, SHA-256 {}; {} {}, at most {} a task.",
        env!("CARGO_PKG_VERSION"),
        job.digest,
        job.n_things,
        job.things,
        job.n_things.div_ceil(parts)
    )
}

/// The commands that join the parts, for bash.
fn joining(job: &Job<'_>, texts: &Texts, parts: u64) -> String {
    let Texts { command, program, prefix, out, .. } = texts;
    match job.form {
        Form::File => format!("{program} merge {prefix}.*-of-{parts}.csv --out {out}\n"),
        Form::Folder(_) => format!(
            "parts=()\nfor part in {{1..{parts}}}; do parts+=(--join {prefix}.\"$part\"-of-{parts}); done\n\
             {command} \"${{parts[@]}}\" --out {out}\n"
        ),
    }
}

fn join(job: &Job<'_>, texts: &Texts, sbatch: &[String], parts: u64) -> String {
    let (name, log) = (job_name(job), &texts.log);
    let mut lines = Lines(format!(
        "#!/bin/bash\n#SBATCH --job-name={name}-join\n#SBATCH --cpus-per-task=1\n#SBATCH --output=\"{log}/join.log\"\n"
    ));
    for line in sbatch.iter().filter(|line| is_of_join(line)) {
        lines.push(format_args!("#SBATCH {line}"));
    }
    lines.push(format_args!("set -eu\nexport RAYON_NUM_THREADS=${{SLURM_CPUS_PER_TASK:-1}}"));
    lines.0 + &joining(job, texts, parts)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use clap::parser::ValueSource;

    use super::super::super::program;
    use super::super::note;
    use super::*;

    const DIGEST: &str = "0123";

    /// Values of every argument that `words` give, by its name; flags have none.
    type Values = BTreeMap<String, Vec<String>>;

    /// Command and values of a command line, which becomes that of this thread.
    fn parsed(words: &[&str]) -> (String, Values) {
        let matches = program().try_get_matches_from(words);
        let matches = matches.unwrap_or_else(|error| panic!("{words:?}: {error}"));
        let (name, matches) = matches.subcommand().expect("a command is required");
        note(matches);
        let mut definition = program();
        definition.build();
        let definition = definition.find_subcommand(name).expect("it was found").clone();
        let ids = definition.get_arguments().map(|it| it.get_id().as_str());
        let is_given = |id: &&str| {
            matches!(matches.try_contains_id(id), Ok(true))
                && matches.value_source(id) == Some(ValueSource::CommandLine)
        };
        let values = |id: &str| {
            let values = matches.get_raw(id).into_iter().flatten();
            values.map(|it| it.to_str().expect("it is text").to_string()).collect()
        };
        (name.into(), ids.filter(is_given).map(|id| (id.into(), values(id))).collect())
    }

    /// Arguments of `line` of a script, as the shell reads them for part 2 of 3.
    fn read(line: &str) -> Vec<String> {
        let line = line.replace("$SLURM_ARRAY_TASK_ID", "2");
        shlex::split(&line).unwrap_or_else(|| panic!("{line}"))
    }

    fn job<'a>(command: &'static str, out: &'a str) -> Job<'a> {
        let form = match command {
            "sweep" => Form::File,
            _ => Form::Folder("part.csv"),
        };
        let (out, digest) = (Path::new(out), DIGEST.into());
        Job { command, things: "points", n_things: 9, form, out, spec: None, digest }
    }

    /// Checks that part and join of `given` have its arguments.
    fn check(command: &'static str, given: &[&str], out: &str) {
        let result = if out.starts_with('-') { format!("./{out}") } else { out.into() };
        let of_job = ["--sbatch", "3", "--", "-p", "long"];
        let (_, mut values) = parsed(&[&["xrsim"], given, &of_job].concat());
        let scripts = Scripts::of(&job(command, out), &ClusterOptions::default(), 3);
        let Scripts { array, join } =
            scripts.unwrap_or_else(|it| panic!("{given:?}: {}", it.reason()));
        values
            .retain(|id, _| !["out", "dry_run", "sbatch", "sbatch_options"].contains(&id.as_str()));
        let own = format!("{}:{DIGEST}", env!("CARGO_PKG_VERSION"));
        let mut expected = values.clone();
        let entries = [("expect", own.as_str()), ("shard", "2/3"), ("out", "$part")];
        expected.extend(entries.map(|(id, value)| (id.into(), vec![value.into()])));
        let line = array.lines().find_map(|line| line.strip_suffix(" &")).expect("it runs a part");
        let words = read(line);
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        assert_eq!(parsed(&words), (command.to_string(), expected), "{line}");
        // The comment has the commands of the script that joins.
        let (_, commands) = join.split_once("CPUS_PER_TASK:-1}\n").expect("it joins");
        for line in commands.lines() {
            assert!(array.contains(&format!("\n#   {line}\n")), "{line}\n{array}");
        }
        let last = join.lines().next_back().expect("it joins");
        let part = |part| {
            let line = array.lines().find_map(|line| line.strip_prefix("part="));
            read(&line.expect("it names the part").replace("$SLURM_ARRAY_TASK_ID", part)).concat()
        };
        if command == "sweep" {
            let words = read(last);
            assert_eq!(words[1..], ["merge".into(), part("*"), "--out".into(), result]);
            return;
        }
        let parts =
            ["1", "2", "3"].map(|it| shlex::try_quote(&part(it)).expect("text").into_owned());
        let parts = parts.map(|part| format!("--join {part}")).join(" ");
        let words = read(&last.replace("\"${parts[@]}\"", &parts));
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let mut expected = values;
        expected.insert("expect".into(), vec![own]);
        expected.insert("join".into(), ["1", "2", "3"].map(part).to_vec());
        expected.insert("out".into(), vec![result]);
        assert_eq!(parsed(&words), (command.to_string(), expected), "{last}");
    }

    #[test]
    fn parts_and_joins_have_the_arguments_that_were_given() {
        let outs = ["found", "a b's $x", "-o", "--out", "far/from here/-x", "100%", "ü#1"];
        let cases: [(&'static str, &[&str]); 13] = [
            ("sweep", &["sweep", "my spec.yaml", "--quiet"]),
            ("sweep", &["--no-cache", "--color", "never", "sweep", "it's \"so\".yaml"]),
            ("sweep", &["sweep", "", "--dry-run"]),
            (
                "sweep",
                &["sweep", "--set=a= -b", "--set", "x='1',\"2\"", "--set=", "--replications", "3"],
            ),
            (
                "sweep",
                &[
                    "sweep",
                    "--pes",
                    "1024,4096",
                    "--system",
                    "J,WS:3 + OS:1",
                    "--scenario=-x,--y,$z",
                ],
            ),
            (
                "search",
                &[
                    "search",
                    "-q",
                    "--scenario",
                    "a b,`c`",
                    "--exactly",
                    "--constraint",
                    "area_mm2<=60",
                ],
            ),
            (
                "search",
                &[
                    "search",
                    "two_way",
                    "--constraint=-power_w>=-1",
                    "--objective=-a,b",
                    "--audit",
                    "--out",
                    "o",
                ],
            ),
            (
                "search",
                &[
                    "search",
                    "--set",
                    "flexibility=none",
                    "--stop",
                    "minutes=10",
                    "--stop",
                    "runs=5",
                ],
            ),
            (
                "search",
                &[
                    "search",
                    "--scheduler=-s",
                    "--scheduler",
                    "edf:a=b c",
                    "--technology=--",
                    "--over",
                    "min",
                ],
            ),
            ("compare", &["compare", "--scheduler", "edf", "--scheduler=-p -q", "--system", "A,J"]),
            (
                "compare",
                &[
                    "compare",
                    "--scheduler",
                    "./sched \\ \"$HOME\"!",
                    "--replications",
                    "12",
                    "--enumerate",
                ],
            ),
            (
                "map",
                &[
                    "map",
                    "--network",
                    "my net.yaml",
                    "--pes",
                    "64",
                    "--levels",
                    "1..2",
                    "--gap",
                    "1.5",
                ],
            ),
            (
                "map",
                &[
                    "map",
                    "--network=-n",
                    "--dataflow",
                    "WS",
                    "--dataflow=a;b|c>d",
                    "--format",
                    "csv",
                ],
            ),
        ];
        for (command, given) in cases {
            for out in outs {
                check(command, given, out);
            }
        }
    }

    #[test]
    fn options_of_sbatch_keep_their_words() {
        let lines = |words: &[&str]| {
            let words: Vec<_> = words.iter().map(|it| it.to_string()).collect();
            directives(&words).map_err(|it| it.reason())
        };
        let given = [
            "--nice",
            "-5",
            "-p",
            "long",
            "--comment=a #b",
            "-J",
            ":x",
            "--mem=2G",
            "-c2",
            "-D",
            "it's",
        ];
        let expected = [
            "--nice -5",
            "-p long",
            "\"--comment=a #b\"",
            "-J \":x\"",
            "--mem=2G",
            "-c2",
            "-D \"it's\"",
        ];
        assert_eq!(lines(&given), Ok(expected.map(String::from).to_vec()));
        for first in ["long", "-5", "-", "--"] {
            assert!(
                lines(&[first]).is_err_and(|it| it.contains("is no option of sbatch")),
                "{first}"
            );
        }
        assert!(lines(&["--comment", ""]).is_err_and(|it| it.contains("an empty word")));
        assert!(lines(&["--comment=a\\b"]).is_err_and(|it| it.contains("sbatch takes no path")));
    }

    #[test]
    fn options_of_the_array_are_not_those_of_the_join() {
        let of_array = [
            "--array=1-4%2",
            "--arr 1-4",
            "-a1-4",
            "-o x",
            "--output=x",
            "--signal=TERM@9",
            "-e x",
            "\"--error=x y\"",
        ];
        assert!(of_array.iter().all(|line| !is_of_join(line)));
        let of_both = [
            "--account=a",
            "-A a",
            "-p long",
            "--mem=2G",
            "--exclusive",
            "--oversubscribe",
            "--nice -5",
        ];
        assert!(of_both.iter().all(|line| is_of_join(line)));
    }
}
