//! Page of the output files: every column of every file that commands write.
//!
//! The columns are read from files that the commands write here, so that none is missing. Their sentences
//! are those of the library where it has them, and otherwise those of `columns.txt`.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::Path;

use xrsim::bounds::ClassBounds;
use xrsim::column::Column;
use xrsim::experiment::KEYS;
use xrsim::metrics::{DeviceMetrics, Drops, Freshness, RunMetrics, Service, Shown};
use xrsim::score::{InferenceScore, Score};
use xrsim::sweep::day::DayMetrics;

use super::markdown::{Page, code, sentence};

/// Sentences of columns that the library has none of: `[FILE]` or `[COMMAND: FILE]`, then `COLUMN: SENTENCE` in lines.
const SENTENCES: &str = include_str!("columns.txt");

/// Where those sentences are.
const PLACE: &str = "crates/manual/src/reference/columns.txt";

/// Section of sentences that hold for every file.
const ANY: &str = "*";

/// A run that every command makes quickly.
const RUN: &[&str] =
    &["--scenario", "AR_gaming", "--system", "J", "--pes", "4096", "--flexibility", "none"];

/// A profile of seconds: columns do not depend on the hours.
const PROFILE: &str = "short.yaml";
const SHORT: &str = "profile:
  name: short
  phases:
    - {name: game, scenario: VR_gaming, minutes: 0.02}
";

/// A run of the profile.
const OF_DAY: &[&str] = &[
    "--profile",
    PROFILE,
    "--device",
    "headset",
    "--system",
    "J",
    "--pes",
    "4096",
    "--flexibility",
    "none",
];

/// A load test of MLPerf that takes little time.
const TEST: &[&str] =
    &["mlperf", "inference", "--min-duration", "1", "--flexibility", "none", "--load", "server"];

/// An output file with its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct File {
    /// Command that writes it.
    pub(super) command: &'static str,
    /// Its name, without folders.
    pub(super) name: &'static str,
    /// Content, in a phrase.
    pub(super) content: &'static str,
    /// Names of its columns, in order.
    pub(super) columns: Vec<String>,
}

/// A command that writes files.
struct Writer {
    /// As the page names it.
    command: &'static str,
    /// Its arguments; they end with the option that takes the folder or the file.
    arguments: Vec<&'static str>,
    /// Paths of its files below the folder, and their contents; the empty path is the file itself.
    files: &'static [(&'static str, &'static str, &'static str)],
}

fn writers() -> Vec<Writer> {
    let of_run = |first: &[&'static str], rest: &[&'static str]| [first, RUN, rest].concat();
    let of_test = |rest: &[&'static str]| [TEST, rest].concat();
    vec![
        Writer {
            command: "xrsim run --out DIR",
            arguments: of_run(&["run"], &["--out"]),
            files: &[
                (
                    "scores.csv",
                    "scores.csv",
                    "a row for each run. Where frames of sensors can be missing (recorded sensors, gates), the columns `lost` and \
                     `gated` follow: requests that are not there for this reason",
                ),
                (
                    "models.csv",
                    "models.csv",
                    "a row for each model of a run, with `lost` and `gated` as in scores.csv",
                ),
                (
                    "inferences.csv",
                    "inferences.csv",
                    "a row for each request. On a device with several operating points, the column `clock_mhz` follows, the clocks \
                     at which the request ran, in order, such as `1000;700`; where requests run one of several networks, the \
                     column `variant`, the name of the network; where counts differ from frame to frame, the column `count`, the counts of the frame in the \
                     order of the scenario",
                ),
            ],
        },
        Writer {
            command: "xrsim run --arrivals FILE.csv",
            arguments: of_run(&["run"], &["--arrivals"]),
            files: &[("", "arrivals.csv", "a row for each frame of a sensor, which a scenario can read")],
        },
        Writer {
            command: "xrsim run --out DIR",
            arguments: "run --scenario AR_agent --system A --pes 4096 --flexibility none --out"
                .split(' ')
                .collect(),
            files: &[(
                "sequences.csv",
                "sequences.csv",
                "a row for each start of a sequence; only of scenarios with sequences",
            )],
        },
        Writer {
            command: "xrsim run --out DIR",
            arguments: of_run(&["run"], &["--device", "headset", "--out"]),
            files: &[("device.csv", "device.csv", "a row for each run; only of runs with a device")],
        },
        Writer {
            command: "xrsim day --out DIR",
            arguments: [&["day"][..], OF_DAY, &["--no-changes", "--replications", "2", "--out"]].concat(),
            files: &[
                ("device.csv", "device.csv", "one row: the whole run"),
                ("phases.csv", "phases.csv", "a row for each phase that took place"),
                ("course.csv", "course.csv", "the device over time, at most about 2,000 rows"),
                (
                    "replications.csv",
                    "replications.csv",
                    "a row for each replication; only of several (`--replications`)",
                ),
            ],
        },
        Writer {
            command: "xrsim sweep --out FILE.csv",
            arguments: of_run(&["sweep"], &["--out"]),
            files: &[(
                "",
                "sweep.csv",
                "a row for each point; settings that vary have columns of their own. On devices, the column `stopped_at_s` \
                 follows the results: the instant at which the battery was empty \\[s\\]",
            )],
        },
        Writer {
            command: "xrsim sweep --profile P --out FILE.csv",
            arguments: [&["sweep"][..], OF_DAY, &["--out"]].concat(),
            files: &[("", "days.csv", "a row for each point of a sweep of profiles")],
        },
        Writer {
            command: "xrsim compare --out DIR",
            arguments: of_run(
                &["compare"],
                &["--scheduler", "edf", "--scheduler", "rm", "--replications", "3", "--out"],
            ),
            files: &[
                (
                    "policies.csv",
                    "policies.csv",
                    "a row for each scheduler, over all scenarios and in each",
                ),
                ("pairs.csv", "pairs.csv", "a row for each pair of schedulers"),
                (
                    "configurations.csv",
                    "configurations.csv",
                    "a row for each configuration and scheduler",
                ),
                (
                    "metrics.csv",
                    "metrics.csv",
                    "a row for each model and chain of a configuration. With the display of a device, `vsync_age_mean_ms`, \
                     `vsync_age_p99_ms`, `vsync_age_max_ms` and `motion_to_photon_ms` follow \
                     ([freshness](../explanation/freshness.md#4-what-a-display-shows))",
                ),
            ],
        },
        Writer {
            command: "xrsim compare --profile P --out DIR",
            arguments: [
                &["compare"][..],
                OF_DAY,
                &["--scheduler", "edf,rm", "--replications", "2", "--out"],
            ]
            .concat(),
            files: &[
                (
                    "policies.csv",
                    "policies.csv",
                    "a row for each scheduler, over all profiles and in each; `pairs.csv` is that of scenarios",
                ),
                (
                    "configurations.csv",
                    "configurations.csv",
                    "a row for each configuration and scheduler. With several devices the column `device` follows `pes`, and \
                     `scenario` in `policies.csv` and `pairs.csv` has both names, as in `evening/headset`. The same holds for scenarios with several devices",
                ),
            ],
        },
        Writer {
            command: "xrsim mlperf --out DIR",
            arguments: of_test(&["--task", "image_classification_light", "--curve", "2", "--out"]),
            files: &[
                ("suite.csv", "suite.csv", "a row for each test"),
                (
                    "image_classification_light/server/curve.csv",
                    "curve.csv",
                    "a row for each rate (`--curve`)",
                ),
                (
                    "image_classification_light/server/queries.csv",
                    "queries.csv",
                    "a row for each query of a test",
                ),
            ],
        },
        Writer {
            command: "xrsim mlperf --device D --out DIR",
            arguments: of_test(&[
                "--task",
                "image_classification_light",
                "--device",
                "headset",
                "--qps",
                "50",
                "--out",
            ]),
            files: &[("device.csv", "device.csv", "a row for each test: the run that counts")],
        },
        Writer {
            command: "xrsim mlperf --tenant TASK:qps=RATE --out DIR",
            arguments: [
                &["mlperf", "inference", "--min-duration", "1", "--flexibility", "none"][..],
                &["--tenant", "image_classification_light:qps=50", "--out"],
            ]
            .concat(),
            files: &[("tenants.csv", "tenants.csv", "a row for each tenant")],
        },
        Writer {
            command: "xrsim sensitivity --out DIR",
            arguments: of_run(
                &["sensitivity"],
                &["--factor", "score.k_per_ms=5", "--only", "--replications", "2", "--out"],
            ),
            files: &[("sensitivity.csv", "sensitivity.csv", "a row for each level of a factor")],
        },
        Writer {
            command: "xrsim sensitivity --joint N --out DIR",
            arguments: "sensitivity --scenario VR_gaming --system A,J --pes 4096 --flexibility none --joint 20 --out"
                .split(' ')
                .collect(),
            files: &[("joint.csv", "joint.csv", "a row for each system")],
        },
        Writer {
            command: "xrsim explain --out DIR",
            arguments: of_run(&["explain"], &["--replications", "2", "--out"]),
            files: &[
                ("losses.csv", "losses.csv", "a row for each model, the largest loss first"),
                (
                    "accelerators.csv",
                    "accelerators.csv",
                    "a row for each accelerator, and for each model that ran on it",
                ),
                ("layers.csv", "layers.csv", "a row for each layer that ran, the longest time first"),
                ("changes.csv", "changes.csv", "a row for each single change, the best score first"),
            ],
        },
        Writer {
            command: "xrsim explain --against SYSTEM --out DIR",
            arguments: of_run(&["explain"], &["--against", "A", "--replications", "2", "--out"]),
            files: &[(
                "differences.csv",
                "differences.csv",
                "a row for each model and cause, the largest difference first",
            )],
        },
        Writer {
            command: "xrsim explain MODEL:FRAME --out DIR",
            arguments: "explain PD:0 --scenario AR_gaming --system J --pes 1024 --flexibility none --out"
                .split(' ')
                .collect(),
            files: &[
                ("parts.csv", "parts.csv", "a row for each part of the time of a frame that took time"),
                ("changes.csv", "changes.csv", "the same, with the effects on the frame"),
            ],
        },
        Writer {
            command: "xrsim search --out DIR",
            arguments: vec![
                "search",
                "--accelerators",
                "1..1",
                "--step",
                "4096",
                "--scenario",
                "VR_gaming",
                "--set",
                "flexibility=none",
                "--replications",
                "2",
                "--objective",
                "score_executed_mean,area_mm2",
                "--out",
            ],
            files: &[
                ("answers.csv", "answers.csv", "a row for each answer"),
                (
                    "evaluated.csv",
                    "evaluated.csv",
                    "a row for each system and scheduler that was simulated",
                ),
            ],
        },
        Writer {
            command: "xrsim cost --format csv",
            arguments: vec![
                "cost",
                "--network",
                "KD",
                "--dataflow",
                "WS",
                "--pes",
                "1024",
                "--format",
                "csv",
            ],
            files: &[("", "costs", "a row for each layer on each accelerator")],
        },
        Writer {
            command: "xrsim cost --batch N --format csv",
            arguments: vec![
                "cost",
                "--network",
                "KD",
                "--dataflow",
                "WS",
                "--pes",
                "1024",
                "--batch",
                "2",
                "--format",
                "csv",
            ],
            files: &[("", "batches", "a row for each batch on each accelerator")],
        },
        Writer {
            command: "xrsim map --format csv",
            arguments: vec![
                "map",
                "--network",
                "KD",
                "--dataflow",
                "WS",
                "--pes",
                "1024",
                "--effort",
                "quick",
                "--format",
                "csv",
            ],
            files: &[("", "mappings", "a row for each layer")],
        },
        Writer {
            command: "xrsim area --format csv",
            arguments: vec!["area", "--system", "J", "--pes", "4096", "--format", "csv"],
            files: &[("", "areas", "a row for each accelerator, and one for the system")],
        },
    ]
}

/// Every file that commands write, made by them.
///
/// # Errors
///
/// An error that names a command that fails, or a file that it does not write.
pub(super) fn written() -> Result<Vec<File>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let profile = folder.path().join(PROFILE);
    fs::write(&profile, SHORT)?;
    let mut files = Vec::new();
    for (index, writer) in writers().into_iter().enumerate() {
        let out = folder.path().join(format!("{index}.csv"));
        let argument = |it: &&str| match *it {
            PROFILE => profile.to_string_lossy().into_owned(),
            other => other.to_string(),
        };
        let mut arguments: Vec<String> = writer.arguments.iter().map(argument).collect();
        let is_printed = arguments.last().is_some_and(|it| it == "csv");
        if !is_printed {
            arguments.push(out.to_string_lossy().into_owned());
        }
        arguments.extend(["--quiet", "--no-cache"].map(String::from));
        let xrsim::cli::Called { status, written: printed, .. } =
            xrsim::cli::call(&arguments, None);
        if status != 0 {
            let message = String::from_utf8_lossy(&printed.err);
            return Err(format!("{} ends with {status}: {message}", arguments.join(" ")).into());
        }
        for (path, name, content) in writer.files {
            let text = match is_printed {
                true => String::from_utf8_lossy(&printed.out).into_owned(),
                false => read(&out, path)?,
            };
            let columns =
                text.lines().next().unwrap_or_default().split(',').map(String::from).collect();
            files.push(File { command: writer.command, name, content, columns });
        }
    }
    Ok(files)
}

fn read(out: &Path, path: &str) -> Result<String, Box<dyn Error>> {
    let file = if path.is_empty() { out.to_path_buf() } else { out.join(path) };
    fs::read_to_string(&file).map_err(|error| format!("{path}: {error}").into())
}

/// The page.
///
/// # Errors
///
/// An error that names a column without a sentence, or a sentence without a column.
pub(super) fn page(files: &[File]) -> Result<String, Box<dyn Error>> {
    let sentences = sentences()?;
    let of_library = of_library();
    let mut used = BTreeSet::new();
    let mut page = Page::new(
        "Output files",
        "Every file is CSV with a header. Names of columns end in the unit of their values. The same command with the \
         same seed writes the same bytes, for any number of threads. An empty cell has no value.",
    );
    page.paragraph(
        "A folder has a record too, such as `run.json`: the version, the requested and the effective settings, the seed, \
         what is drawn at random in every scenario (`random`), the SHA-256 of every file that was read or written, and a digest of the mappings of each accelerator \
         (explanation/mapper.md, section 7.1).",
    );
    let mut missing = Vec::new();
    let mut command = "";
    for file in files {
        if command != file.command {
            command = file.command;
            page.heading(2, &format!("`{command}`"));
        }
        page.paragraph(&format!("{}: {}.", code(file.name), file.content));
        let mut rows = Vec::new();
        for column in &file.columns {
            let here = format!("{command}: {}", file.name);
            let own = [&*here, file.name, ANY].map(|it| (it.to_string(), column.clone()));
            let written = own.iter().find_map(|key| Some((key, sentences.get(key)?)));
            let text = match (written, of_library.get(column)) {
                (Some((key, text)), _) => {
                    used.insert(key.clone());
                    text.clone()
                }
                (None, Some(text)) => text.clone(),
                (None, None) => {
                    missing.push(format!("`{column}` of {}", file.name));
                    continue;
                }
            };
            rows.push(vec![code(column), sentence(&text)]);
        }
        page.table(&["column", "meaning"], &rows);
    }
    if !missing.is_empty() {
        return Err(format!("columns without a sentence in {PLACE}: {}", missing.join(", ")).into());
    }
    let unused = sentences.keys().filter(|key| !used.contains(*key));
    let unused: Vec<_> = unused.map(|(file, column)| format!("`{column}` of [{file}]")).collect();
    match unused.is_empty() {
        true => Ok(page.finish()),
        false => {
            Err(format!("{PLACE} has sentences that no file needs: {}", unused.join(", ")).into())
        }
    }
}

/// Sentences by file and column.
fn sentences() -> Result<BTreeMap<(String, String), String>, Box<dyn Error>> {
    let mut sentences = BTreeMap::new();
    let mut section = ANY;
    for (index, line) in SENTENCES.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        if let Some(name) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            section = name;
            continue;
        }
        let Some((column, text)) = line.split_once(": ") else {
            return Err(format!("columns.txt:{}: expected COLUMN: SENTENCE", index + 1).into());
        };
        if sentences.insert((section.into(), column.into()), text.into()).is_some() {
            return Err(format!("columns.txt:{}: `{column}` comes twice", index + 1).into());
        }
    }
    Ok(sentences)
}

/// Sentences of the library by column.
fn of_library() -> BTreeMap<String, String> {
    let mut sentences = BTreeMap::new();
    for key in KEYS {
        sentences.insert(key.name.into(), with_unit(key.help, key.unit));
    }
    add(&mut sentences, Service::COLUMNS);
    add(&mut sentences, Freshness::COLUMNS);
    add(&mut sentences, Shown::COLUMNS);
    add(&mut sentences, Drops::COLUMNS);
    add(&mut sentences, RunMetrics::COLUMNS);
    add(&mut sentences, DeviceMetrics::COLUMNS);
    add(&mut sentences, DayMetrics::COLUMNS);
    add(&mut sentences, ClassBounds::COLUMNS);
    add(&mut sentences, InferenceScore::SCORES);
    add(&mut sentences, Score::columns());
    sentences
}

fn add<'a, T: 'a>(
    sentences: &mut BTreeMap<String, String>,
    columns: impl IntoIterator<Item = &'a Column<T>>,
) {
    for column in columns {
        sentences.insert(column.name.into(), with_unit(column.help, column.unit));
    }
}

/// The sentence with a capital letter, and the unit in brackets.
fn with_unit(text: &str, unit: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|it| it.to_uppercase().collect::<String>()).unwrap_or_default();
    let unit = if unit.is_empty() { String::new() } else { format!(" [{unit}]") };
    format!("{first}{}{unit}", letters.as_str())
}
