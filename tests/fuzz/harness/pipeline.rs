//! The pipeline after a parser: check, cost, run, mlperf, sweep, report and plot with the parsed input,
//! through the command line, in this process and in a separate folder.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;
use xrsim::config::{Catalog, Source};

use super::bundle;
use super::kind::Kind;
use super::oracle::{self, Called, call};
use super::seeds;

/// Small files that inputs refer to. They are seeds too.
const HELPERS: [(&str, &str); 14] = [
    ("network", "tiny.yaml"),
    ("dataflow", "flow.yaml"),
    ("style", "style.yaml"),
    ("platform", "chip.yaml"),
    ("system", "system.yaml"),
    ("scenario", "scene.yaml"),
    ("scenario", "one.yaml"),
    ("sweep", "sweep.yaml"),
    ("mlperf", "mine.yaml"),
    ("maestro_networks", "two.m"),
    ("maestro_dataflows", "flow.m"),
    ("maestro_hardware", "dual.m"),
    ("costs", "cycles.csv"),
    ("service", "batch.csv"),
];

/// Options of every run: short, on small systems.
const SHORT: [&str; 2] = ["--duration", "30"];

/// Options of every load test: few queries.
const FEW: [&str; 4] = ["--min-duration", "0.01", "--min-queries", "16"];

/// A folder to work in. It is the working directory of the process, so that messages hold no absolute path.
pub struct Shop {
    folder: TempDir,
    helpers: Vec<Arc<Source>>,
}

impl Shop {
    /// Creates the folder with the helper files.
    pub fn open() -> Self {
        let memory = Path::new("/dev/shm");
        let folder = match memory.is_dir() {
            true => tempfile::tempdir_in(memory),
            false => tempfile::tempdir(),
        };
        let folder = folder.expect("a folder can be made");
        std::env::set_current_dir(folder.path()).expect("a folder can be entered");
        let helper = |(kind, name): (&str, &str)| {
            let path = seeds::root().join("tests/fuzz/seeds").join(kind).join(name);
            let text = fs::read_to_string(path).expect("a seed is text");
            Source::new(name, text)
        };
        let shop = Self { folder, helpers: HELPERS.map(helper).into() };
        shop.clean();
        shop
    }

    /// A catalog that knows the helpers without reading them.
    pub fn catalog(&self) -> Catalog {
        let mut catalog = Catalog::new();
        self.helpers.iter().for_each(|source| catalog.provide(Arc::clone(source)));
        catalog
    }

    /// Removes all files but the helper files.
    fn clean(&self) {
        for entry in fs::read_dir(self.folder.path()).expect("the folder can be listed") {
            let path = entry.expect("an entry can be read").path();
            let removed = match path.is_dir() && !path.is_symlink() {
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
            removed.expect("what a command wrote can be removed");
        }
        for helper in &self.helpers {
            write(helper.name(), helper.text().as_bytes());
        }
    }

    /// Files of a run, as a bundle.
    pub fn results(&self) -> String {
        self.fresh(&["run", "--scenario", "scene.yaml", "--system", "system.yaml"], &SHORT);
        let names = ["scores.csv", "models.csv", "inferences.csv", "run.json"];
        let text = self.bundle("o", &names);
        self.clean();
        text
    }

    /// Files of load tests, as a bundle.
    pub fn tests(&self) -> String {
        let suite = ["mlperf", "inference", "--suite", "mine.yaml", "--system", "system.yaml"];
        let more = ["--load", "server", "--load", "offline", "--qps", "100", "--curve", "2"];
        self.fresh(&[&suite[..], &more].concat(), &FEW);
        let names = [
            "suite.csv",
            "mlperf.json",
            "tiny/server/mlperf_log_summary.txt",
            "tiny/server/curve.csv",
            "tiny/offline/mlperf_log_summary.txt",
        ];
        let text = self.bundle("o", &names);
        self.clean();
        text
    }

    /// Rows of a sweep.
    pub fn rows(&self) -> String {
        let sweep = call(&["sweep", "sweep.yaml", "--out", "s.csv"]).expect("the seed is a sweep");
        assert_eq!(sweep.status, 0, "{}", sweep.err);
        let text = fs::read_to_string("s.csv").expect("the sweep has rows");
        self.clean();
        without_checks(&text)
    }

    /// Journal of a search, with mappings.
    pub fn journal(&self) -> String {
        let space = ["--dataflow", "WS", "--accelerators", "1", "--pes", "256"];
        self.fresh(&["search", "--scenario", "one.yaml"], &space);
        let text = fs::read_to_string("o/journal.csv").expect("the search has a journal");
        self.clean();
        text
    }

    fn fresh(&self, command: &[&str], more: &[&str]) {
        let called = call(&[command, more, &["--out", "o"]].concat()).expect("the seeds are good");
        assert_eq!(called.status, 0, "{}", called.err);
    }

    fn bundle(&self, folder: &str, names: &[&str]) -> String {
        let read = |name: &&str| {
            let text = fs::read_to_string(format!("{folder}/{name}"));
            let text = text.unwrap_or_else(|error| panic!("{name}: {error}"));
            (name.to_string(), if name.ends_with(".json") { without_seal(&text) } else { text })
        };
        let files: Vec<_> = names.iter().map(read).collect();
        bundle::join(files.iter().map(|(name, text)| (name.as_str(), text.as_str())))
    }

    /// Takes `input` through the whole pipeline. An error is a finding.
    pub fn whole_pipeline(&self, kind: Kind, input: &[u8], accepted: bool) -> Result<(), String> {
        let file = kind.file();
        if !matches!(
            kind,
            Kind::Loadgen | Kind::Results | Kind::Tests | Kind::Mix | Kind::Scheduler
        ) {
            write(file, input);
        }
        let done = match kind {
            _ if kind.is_checked() => checked(kind, file, accepted),
            _ => match std::str::from_utf8(input) {
                Ok(text) => self.text(kind, file, text, accepted),
                Err(_) => self.text(kind, file, "", false),
            },
        };
        self.clean();
        done
    }

    fn text(&self, kind: Kind, file: &str, text: &str, accepted: bool) -> Result<(), String> {
        let line = text.trim_end_matches('\n');
        match kind {
            Kind::Mix => {
                let called = ran(&["--scenario", "one.yaml", "--system", line, "--pes", "64"])?;
                refused_unless(accepted, &called, line)
            }
            Kind::Scheduler if line.starts_with("external") => Ok(()),
            Kind::Scheduler => {
                let scheduler = format!("--scheduler={line}");
                let called =
                    ran(&["--scenario", "scene.yaml", "--system", "system.yaml", &scheduler])?;
                refused_unless(accepted, &called, line)
            }
            Kind::Costs => {
                let command =
                    ["--scenario", "one.yaml", "--system", "system.yaml", "--cost-model", file];
                refused_unless(accepted, &ran(&command)?, file)
            }
            Kind::Service => service(file, accepted),
            Kind::CostCases => {
                let called = call(&["validate", "cost", "--cases", file])?;
                refused_unless(accepted, &called, file)
            }
            Kind::Loadgen => {
                unpack("f", text);
                if accepted && has_few_queries(text) {
                    let called = call(&["validate", "loadgen", "--cases", "f"])?;
                    called.expect("validate", &[0, 1, 2])?;
                }
                Ok(())
            }
            Kind::Rows => plotted(file, accepted),
            // They are read in memory, and by commands in folders of their own.
            Kind::Choices | Kind::Journal => Ok(()),
            Kind::Results => {
                unpack("f", text);
                let called = call(&["report", "f", "--out", "page.html"])?;
                refused_unless(accepted, &called, "f/")
            }
            Kind::Tests => {
                unpack("f", text);
                let called = call(&["report", "f", "--out", "page.html"])?;
                refused_unless(accepted, &called, "f/")
            }
            Kind::Answers => {
                let scheduler = format!("external:cat {file},timeout_ms=2000");
                let system = ["--system", "system.yaml", "--scheduler", &scheduler];
                ran(&[&["--scenario", "scene.yaml"][..], &system].concat()).map(drop)
            }
            Kind::Command => command(text),
            _ => unreachable!("every other kind is checked"),
        }
    }
}

/// Message of `check` for hardware on which no network runs.
const OF_NO_USE: &str = "can run none of the";

/// Rows without their checksums, which would refuse every change.
fn without_checks(rows: &str) -> String {
    let cut =
        |line: &str| line.rsplit_once(',').map_or(String::new(), |(row, _)| format!("{row}\n"));
    rows.lines().map(cut).collect()
}

/// A record without the digests of its files, which would refuse every change.
fn without_seal(record: &str) -> String {
    let mut record: Value = serde_json::from_str(record).expect("a record is JSON");
    if let Some(record) = record.as_object_mut() {
        record.remove("files");
        record.remove("record_sha256");
    }
    record.to_string()
}

/// Checks a file that `check` knows: `check` and the command that uses the file must say the same.
fn checked(kind: Kind, file: &str, accepted: bool) -> Result<(), String> {
    let check = call(&["check", file])?;
    // A sweep has more to it than its syntax, see below, and hardware is tried on networks.
    let is_of_no_use = check.status == 1 && check.err.contains(OF_NO_USE);
    if !accepted || (kind != Kind::Sweep && !is_of_no_use) {
        check.expect("check", if accepted { &[0] } else { &[1] })?;
    }
    if !accepted {
        has_place(&check, file)?;
    }
    let of_file = |called: Called| refused_unless(accepted, &called, file);
    match kind {
        Kind::Network => {
            cost(&["--network", file, "--dataflow", "flow.yaml", "--pes", "16"], accepted, file)?;
            if accepted {
                write("own.yaml", scenario_of(file).as_bytes());
                of_file(ran(&["--scenario", "own.yaml", "--system", "system.yaml"])?)?;
            }
            Ok(())
        }
        Kind::Dataflow => {
            cost(&["--network", "tiny.yaml", "--dataflow", file, "--pes", "64"], accepted, file)
        }
        Kind::Style => of_file(ran(&["--scenario", "one.yaml", "--system", file, "--pes", "64"])?),
        Kind::System => of_file(ran(&["--scenario", "scene.yaml", "--system", file])?),
        Kind::Platform => {
            let chip = ["--system", "style.yaml", "--pes", "64", "--platform", file];
            of_file(ran(&[&["--scenario", "one.yaml"][..], &chip].concat())?)
        }
        Kind::Scenario => {
            of_file(ran(&["--scenario", file, "--system", "system.yaml"])?)?;
            let system =
                ["--scenario", file, "--system", "system.yaml", "--duration", "30", "TN:0"];
            call(&[&["explain"][..], &system].concat())?.expect("explain", &[0, 2])
        }
        Kind::Sweep => swept(file, check.status == 0),
        Kind::Mlperf => {
            let suite = ["mlperf", "inference", "--suite", file, "--system", "system.yaml"];
            let load = ["--load", "single-stream", "--load", "offline", "--out", "o"];
            let called = call(&[&suite[..], &load, &FEW].concat())?;
            refused_unless(accepted, &called, file)?;
            reported(&called)
        }
        Kind::Onnx => {
            import(file, accepted)?;
            cost(&["--network", file, "--dataflow", "flow.yaml", "--pes", "16"], accepted, file)
        }
        Kind::MaestroNetworks => {
            import(file, accepted)?;
            ran(&["--scenario", file, "--system", "system.yaml"]).map(drop)
        }
        Kind::MaestroDataflows => {
            import(file, accepted)?;
            let cost = ["cost", "--network", "tiny.yaml", "--dataflow", file, "--pes", "64"];
            call(&cost)?.expect("cost", &[0, 2])
        }
        Kind::MaestroHardware => {
            import(file, accepted)?;
            let flows = ["--dataflow", "flow.yaml", "--dataflow", "flow.yaml"];
            ran(&[&["--scenario", "one.yaml", "--system", file][..], &flows].concat()).map(drop)
        }
        _ => Ok(()),
    }
}

/// A scenario with the network in `file`.
fn scenario_of(file: &str) -> String {
    let sensors =
        "sensors: {camera: {rate_fps: 60}, microphone: {rate_fps: 60}, lidar: {rate_fps: 60}}";
    format!(
        "scenario:\n  name: own\n  models: [{{network: {file}, task: OWN, fps: 30}}]\n  {sensors}\n"
    )
}

/// Runs with `options` and makes the page of the results; twice if the first run succeeds.
fn ran(options: &[&str]) -> Result<Called, String> {
    let run = |folder: &str| {
        let called = call(&[&["run"][..], options, &SHORT, &["--out", folder]].concat())?;
        called.expect("run", &[0, 2]).map(|()| called)
    };
    let called = run("o")?;
    if called.status == 0 && Path::new("o/scores.csv").exists() {
        for name in ["scores.csv", "models.csv", "inferences.csv"] {
            let text = fs::read_to_string(format!("o/{name}")).map_err(|it| it.to_string())?;
            oracle::table(name, &text)?;
            if name != "inferences.csv" {
                oracle::counts(name, &text)?;
            }
        }
        call(&["report", "o", "--out", "page.html"])?.expect("report of a run", &[0])?;
        run("o2")?;
        same("o", "o2", "inferences.csv")?;
        same("o", "o2", "scores.csv")?;
    }
    Ok(called)
}

fn same(one: &str, other: &str, name: &str) -> Result<(), String> {
    let read = |folder: &str| fs::read(format!("{folder}/{name}")).map_err(|it| it.to_string());
    if read(one)? == read(other)? { Ok(()) } else { Err(format!("{name} differs the second time")) }
}

fn cost(options: &[&str], accepted: bool, file: &str) -> Result<(), String> {
    for model in ["loop-nest", "maestro", "roofline"] {
        let form = ["--cost-model", model, "--format", "csv"];
        let called = call(&[&["cost"][..], options, &form].concat())?;
        called.expect("cost", &[0, 2])?;
        refused_unless(accepted, &called, file)?;
        if called.status == 0 {
            oracle::table("cost", &called.out)?;
        }
    }
    Ok(())
}

/// Makes a page of the results of load tests.
fn reported(called: &Called) -> Result<(), String> {
    if called.status == 0 && Path::new("o/suite.csv").exists() {
        call(&["report", "o", "--out", "page.html"])?.expect("report of load tests", &[0])?;
    }
    Ok(())
}

fn service(file: &str, accepted: bool) -> Result<(), String> {
    for load in ["single-stream", "offline"] {
        let suite = ["mlperf", "inference", "--suite", "mine.yaml", "--service", file];
        let form = ["--load", load, "--format", "csv"];
        let called = call(&[&suite[..], &form, &FEW].concat())?;
        called.expect("mlperf", &[0, 2])?;
        refused_unless(accepted, &called, file)?;
        if called.status == 0 {
            oracle::table("mlperf", &called.out)?;
        }
    }
    Ok(())
}

/// Runs at most two points of a sweep, draws them, and compares the rows with those of a second run.
fn swept(file: &str, is_good: bool) -> Result<(), String> {
    let sweep = |out: &str| {
        call(&["sweep", file, "--shard", "50000000/50000000", "--restart", "--out", out])
    };
    let called = sweep("s.csv")?;
    called.expect("sweep", if is_good { &[0, 2] } else { &[2] })?;
    if called.status == 0 {
        call(&["plot", "s.csv", "--kind", "best"])?.expect("plot", &[0, 2])?;
        sweep("t.csv")?;
        let [one, other] = ["s.csv", "t.csv"].map(fs::read);
        if one.ok() != other.ok() {
            return Err("the rows of a sweep differ the second time".into());
        }
    }
    Ok(())
}

fn import(file: &str, accepted: bool) -> Result<(), String> {
    call(&["import", file])?.expect("import", if accepted { &[0] } else { &[0, 2] })?;
    call(&["import", file, "--out", "i"])?.expect("import", &[0, 2])?;
    if !accepted {
        return Ok(());
    }
    for entry in fs::read_dir("i").map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = path.to_string_lossy().into_owned();
        let check = call(&["check", &name])?;
        if !check.err.contains(OF_NO_USE) {
            check.expect("check of what was imported", &[0])?;
        }
    }
    Ok(())
}

fn plotted(file: &str, accepted: bool) -> Result<(), String> {
    let best = call(&["plot", file, "--kind", "best"])?;
    let front = call(&["plot", file, "--kind", "pareto", "--out", "p.svg"])?;
    call(&["plot", file, "--kind", "heatmap", "--y", "scheduler", "--out", "h.png"])?;
    if accepted && best.status != 0 && front.status != 0 {
        return Err(format!("accepted in memory, refused as a file: {}{}", best.err, front.err));
    }
    Ok(())
}

fn command(text: &str) -> Result<(), String> {
    let words: Vec<&str> = text.lines().map(clamped).collect();
    let endless = ["--service", "external", "reproduce", "validate"];
    if words.iter().any(|word| word.starts_with("external") || endless[2..].contains(word)) {
        return Ok(());
    }
    for (name, text) in [("part1.csv", ""), ("part2.csv", "")] {
        write(name, text.as_bytes());
    }
    let words: Vec<&str> = bounded(&words);
    call(&words).map(drop)
}

/// Valid work that takes long is not a finding. Its numbers are therefore small or absurd.
fn bounded<'a>(words: &[&'a str]) -> Vec<&'a str> {
    const WORK: [&str; 8] = [
        "--duration",
        "--replications",
        "--min-queries",
        "--min-duration",
        "--qps",
        "--streams",
        "--curve",
        "--batch",
    ];
    let mut bounded = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let is_work = at > 0 && WORK.contains(&words[at - 1]);
        let is_long = |number: f64| number > 500.0 && number < 1e17;
        let is_long = is_work && word.parse::<f64>().is_ok_and(is_long);
        bounded.push(if is_long { "20" } else { word });
    }
    bounded
}

fn clamped(word: &str) -> &str {
    word.trim_end_matches('\r')
}

/// The command must refuse each input that the parser refused, for the same reason. It may refuse an
/// accepted input for another reason, such as a system that is too small, but not as a wrong file.
fn refused_unless(accepted: bool, called: &Called, name: &str) -> Result<(), String> {
    if !accepted {
        return called.expect("a refused input", &[1, 2]);
    }
    let names_file = match name.strip_suffix('/') {
        // A changed table may name a test whose files the bundle has not.
        Some(_) => called.err.contains(&format!("error: {name}")) && !called.err.contains(MISSING),
        None => name.contains('.') && called.err.contains(&format!("error: {name}:")),
    };
    match names_file {
        true => Err(format!("accepted by the parser, refused as wrong: {}", called.err)),
        false => Ok(()),
    }
}

/// End of the message for a file that does not exist.
const MISSING: &str = "(os error 2)";

/// Reasons why a file cannot be read. They have no position in the file.
const UNREADABLE: [&str; 2] = ["not UTF-8", "larger than"];

/// A refusal gives its position, `file:line:column`, or the reason why the file cannot be read.
fn has_place(check: &Called, file: &str) -> Result<(), String> {
    let first = check.err.lines().next().unwrap_or_default();
    let of_file = first.strip_prefix(&format!("error: {file}:")).unwrap_or_default();
    // Problems of a graph name nodes and tensors.
    if file.ends_with(".onnx") && !of_file.is_empty() {
        return Ok(());
    }
    let is_number = |text: Option<&str>| text.is_some_and(|text| text.parse::<usize>().is_ok());
    let mut place = of_file.splitn(3, ':');
    let has_place = is_number(place.next()) && is_number(place.next()) && place.next().is_some();
    match has_place || UNREADABLE.iter().any(|reason| of_file.trim_start().starts_with(reason)) {
        true => Ok(()),
        false => Err(format!("a refusal without a place: {first}")),
    }
}

fn has_few_queries(text: &str) -> bool {
    let counts = ["query_count\": ", "duration_ms\": ", "qps\": ", "samples_per_query\": "];
    let digits = |rest: &str| rest.chars().take_while(|c| !",}".contains(*c)).count();
    counts.iter().all(|key| text.split(key).skip(1).all(|rest| digits(rest) <= 4))
        && !text.contains("e1")
        && !text.contains("000000000")
}

fn unpack(folder: &str, text: &str) {
    for (name, text) in bundle::split(text) {
        let path = Path::new(folder).join(name);
        let is_inside = path.components().all(|it| matches!(it, std::path::Component::Normal(_)));
        let parent = path.parent().filter(|_| is_inside && name.len() < 100);
        if let Some(parent) = parent {
            let _ = fs::create_dir_all(parent);
            let _ = fs::write(&path, text);
        }
    }
}

fn write(name: &str, bytes: &[u8]) {
    fs::write(name, bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
}
