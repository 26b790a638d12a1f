//! Scripts of a job: the array of its parts, and the job that joins them.

use std::path::Path;

use clap::Arg;
use xrsim_model::text::in_line;

use super::super::build::Build;
use super::super::message::Failure;
use super::{ClusterOptions, Form, Job, is_own, words};

/// Template of the array: a task for each part.
const ARRAY: &str = include_str!("array.sh");

/// Template of the job that joins the parts.
const JOIN: &str = include_str!("join.sh");

/// Commands of that job where parts are files.
const JOIN_FILES: &str = include_str!("join_files.sh");

/// Commands of that job where parts are folders.
const JOIN_FOLDERS: &str = include_str!("join_folders.sh");

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
    pub(super) fn new(
        job: &Job<'_>,
        options: &ClusterOptions,
        parts: u64,
    ) -> Result<Self, Failure> {
        let program = words::start()?;
        let command = program.iter().cloned().chain(of_part(job)?);
        let (folder, out) = (path(&job.folder())?, path(&job.result())?);
        let mut values = vec![
            ("NAME", job_name(job)),
            ("PARTS", parts.to_string()),
            ("ORIGIN", origin(job, parts)),
            ("PREFIX", quoted(&format!("{folder}/{}", job.stem()))?),
            ("LOG", quoted_for_sbatch(&folder.replace('%', "%%"))?),
            ("COMMAND", shell_words(command)?),
            ("PROGRAM", shell_words(program.iter().cloned())?),
            ("FOLDER", quoted(&folder)?),
            ("OUT", quoted(&out)?),
        ];
        let (joining, ending, rows) = match job.form {
            Form::File => (JOIN_FILES, ".csv", String::new()),
            Form::Folder(name) => (JOIN_FOLDERS, "", format!("/{name}")),
        };
        let joining = filled(joining, &values).trim_end().to_string();
        values.extend([("ENDING", ending.into()), ("ROWS", rows)]);
        let sbatch = directives(&options.sbatch_options)?;
        let with = |template, sbatch: &[&String], joining: String| {
            let sbatch: String = sbatch.iter().map(|it| format!("\n#SBATCH {it}")).collect();
            let own = [("DIRECTIVES", sbatch), ("JOINING", joining)];
            filled(template, &[&values[..], &own].concat())
        };
        let of_join: Vec<_> = sbatch.iter().filter(|line| is_of_join(line)).collect();
        let of_array: Vec<_> = sbatch.iter().collect();
        Ok(Self {
            array: with(ARRAY, &of_array, joining.replace('\n', "\n#   ")),
            join: with(JOIN, &of_join, joining),
        })
    }
}

/// A template with the value of each `@@NAME@@` in its place.
fn filled(template: &str, values: &[(&str, String)]) -> String {
    let value = |name: &str| {
        let found = values.iter().find(|(known, _)| *known == name);
        &*found.unwrap_or_else(|| panic!("no value of `{name}`")).1
    };
    let pieces = template.split("@@").enumerate();
    pieces.map(|(at, piece)| if at % 2 == 0 { piece } else { value(piece) }).collect()
}

/// The command of a job with all options but those of the part.
fn of_part(job: &Job<'_>) -> Result<impl Iterator<Item = String>, Failure> {
    let mut definition = super::super::program();
    definition.build();
    let command = definition.find_subcommand(job.command).expect("it is being run");
    let is_of_part = |it: &Arg| is_own(it) || it.get_id() == "out";
    let words = words::words(command, is_of_part)?;
    words.iter().try_for_each(|word| words::refuse_given(word))?;
    let expected = format!("--expect={}:{}", Build::own().word(), job.digest);
    Ok([job.command.into()].into_iter().chain(words).chain([expected]))
}

/// Words of a command as the shell reads them.
fn shell_words(words: impl Iterator<Item = String>) -> Result<String, Failure> {
    let quoted: Vec<_> = words.map(|word| quoted(&word)).collect::<Result<_, _>>()?;
    Ok(quoted.join(" "))
}

fn path(path: &Path) -> Result<String, Failure> {
    let text = path.to_str();
    let text =
        text.ok_or_else(|| Failure::Argument(format!("`{}` is not text", path.display())))?;
    Ok(text.into())
}

/// A word as the shell reads it.
fn quoted(word: &str) -> Result<String, Failure> {
    if word.contains(['\n', '\r']) {
        let shown = in_line(word);
        refuse!("a line break in `{shown}`: a script cannot have it");
    }
    match shlex::try_quote(word) {
        Ok(quoted) => Ok(quoted.into_owned()),
        Err(error) => Err(Failure::Argument(format!("`{}`: {error}", in_line(word)))),
    }
}

/// A path within double quotes as sbatch reads it in a line of a script.
fn quoted_for_sbatch(word: &str) -> Result<String, Failure> {
    if word.contains(['"', '\\', '\n', '\r']) {
        let shown = in_line(word);
        refuse!("`{shown}`: sbatch takes no path with `\"`, `\\` or a line break");
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
            refuse!(
                "an empty word after `--`: sbatch takes none in a script; write --option= for an empty value"
            );
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
                refuse!("`{word}` after `--` is no option of sbatch, such as --mem=2G");
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

/// Words of a comment that say what a script was made of.
fn origin(job: &Job<'_>, parts: u64) -> String {
    let from = job.spec.map_or_else(String::new, |it| format!(" from {}", in_line(it)));
    format!(
        "{}{from}, SHA-256 {}; {} {}, at most {} a task.",
        Build::own().word(),
        job.digest,
        job.n_things,
        job.things,
        job.n_things.div_ceil(parts)
    )
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
        let scripts = Scripts::new(&job(command, out), &ClusterOptions::default(), 3);
        let Scripts { array, join } =
            scripts.unwrap_or_else(|it| panic!("{given:?}: {}", it.reason()));
        assert!(
            [&array, &join].iter().all(|script| !script.contains("@@")),
            "a place is not filled"
        );
        values
            .retain(|id, _| !["out", "dry_run", "sbatch", "sbatch_options"].contains(&id.as_str()));
        let own = format!("{}:{DIGEST}", Build::own().word());
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
            assert_eq!(
                words[1..],
                ["parts".into(), "merge".into(), part("*"), "--out".into(), result]
            );
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
