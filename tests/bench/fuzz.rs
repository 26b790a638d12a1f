//! Long run of the fuzzing harness.
//!
//! ```text
//! cargo bench --bench fuzz -- --seconds 600 --seed 1 --jobs 2
//! cargo bench --bench fuzz -- --kind network --seed 1 --only 4711
//! ```
//!
//! Every job is a process of its own, so that a stack that overflows, memory beyond the bound and a
//! program that hangs end that job alone: the supervisor records the input, which follows from seed, kind
//! and number, and starts the job again after it. `tests/fuzz/README.md` has the options.

#[path = "../fuzz/harness/mod.rs"]
mod harness;

use std::alloc::System;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cap::Cap;
use harness::kind::Kind;
use harness::pipeline::Shop;
use harness::{Depth, Fuzzer};

/// Counts what is allocated; beyond its limit an allocation fails, which ends the job.
#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

/// Time for which a kind is fuzzed before the next kind follows.
const TURN: Duration = Duration::from_millis(400);

/// Interval at which the supervisor checks its jobs.
const LOOK: Duration = Duration::from_millis(50);

/// Largest number of inputs that are kept for findings with the same message.
const MAX_KEPT: u64 = 3;

/// Counters of a kind: executions, accepted inputs, executions through the whole pipeline, findings.
const N_COUNTERS: usize = 4;

/// Numbers in the state of a job: kind and number of the execution, a count of executions, and the
/// counters of every kind.
const N_STATE: usize = 3 + N_COUNTERS * Kind::ALL.len();

#[derive(Clone)]
struct Options {
    seconds: f64,
    seed: u64,
    jobs: u64,
    kinds: Vec<Kind>,
    only: Option<u64>,
    depth: Depth,
    corpus: Option<PathBuf>,
    out: PathBuf,
    limit: Duration,
    memory: usize,
    /// State file of the job that this process is.
    worker: Option<PathBuf>,
}

impl Options {
    fn parse(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            seconds: 60.0,
            seed: 1,
            jobs: 1,
            kinds: Vec::new(),
            only: None,
            depth: Depth { accepted: 64, refused: 1024 },
            corpus: None,
            out: harness::seeds::root().join("target/fuzz"),
            limit: Duration::from_secs(30),
            memory: 512 << 20,
            worker: None,
        };
        let mut words = words.filter(|word| word != "--bench");
        while let Some(option) = words.next() {
            let value = words.next().ok_or_else(|| format!("{option} needs a value"))?;
            let number = || value.parse::<u64>().map_err(|_| format!("{option}: `{value}`"));
            match &*option {
                "--seconds" => options.seconds = number()? as f64,
                "--seed" => options.seed = number()?,
                "--jobs" => options.jobs = number()?.max(1),
                "--kind" => options.kinds.push(
                    Kind::named(&value).ok_or_else(|| format!("no kind is called `{value}`"))?,
                ),
                "--only" => options.only = Some(number()?),
                "--deep" => options.depth.accepted = number()?,
                "--deep-refused" => options.depth.refused = number()?,
                "--corpus" => options.corpus = Some(absolute(&value)),
                "--out" => options.out = absolute(&value),
                "--limit" => options.limit = Duration::from_secs(number()?),
                "--memory" => options.memory = (number()? as usize) << 20,
                "--worker" => options.worker = Some(absolute(&value)),
                _ => return Err(format!("no option is called {option}")),
            }
        }
        if options.kinds.is_empty() {
            options.kinds = Kind::all().collect();
        }
        Ok(options)
    }

    /// The fuzzers of these options, one a kind.
    fn fuzzers<'s>(&self, shop: &'s Shop) -> Vec<Fuzzer<'s>> {
        let corpus = self.corpus.as_deref().map(corpus).unwrap_or_default();
        let fuzzer = |&kind: &Kind| {
            let mut fuzzer = Fuzzer::new(kind, self.seed, shop, self.depth);
            let texts = corpus.iter().filter(|(it, _)| *it == kind);
            texts.for_each(|(_, text)| fuzzer.learn(text));
            fuzzer
        };
        self.kinds.iter().map(fuzzer).collect()
    }
}

fn absolute(path: &str) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.into())
}

/// Texts of a folder outside the repository. The kind is a part of a file's name, between `-`.
fn corpus(folder: &Path) -> Vec<(Kind, String)> {
    let mut texts = Vec::new();
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let kind = name.split('-').find_map(Kind::named);
        texts.extend(kind.zip(fs::read_to_string(&path).ok()));
    }
    texts
}

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    harness::keep_place_of_panics();
    if let Some(state) = options.worker.clone() {
        work(&options, &state);
        return ExitCode::SUCCESS;
    }
    if let Some(number) = options.only {
        return only(&options, number);
    }
    supervise(&options)
}

/// Repeats one execution and prints its input.
fn only(options: &Options, number: u64) -> ExitCode {
    let shop = Shop::open();
    let depth = Depth { accepted: 1, refused: 1 };
    let options = Options { depth, ..options.clone() };
    for fuzzer in options.fuzzers(&shop) {
        println!("{}", String::from_utf8_lossy(&fuzzer.input(number)));
        println!("{}: {:?}", fuzzer.kind.name(), fuzzer.execute(number));
    }
    ExitCode::SUCCESS
}

/// State of a job: its current execution and its counters. It is a file, so that it outlives the job.
#[derive(Clone, Copy, PartialEq, Eq)]
struct State([u64; N_STATE]);

impl State {
    fn read(path: &Path) -> Self {
        let mut bytes = Vec::new();
        let _ = File::open(path).map(|mut file| file.read_to_end(&mut bytes));
        let mut state = [0; N_STATE];
        for (number, bytes) in state.iter_mut().zip(bytes.chunks_exact(8)) {
            *number = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        }
        Self(state)
    }

    fn write(&self, file: &mut File) {
        let bytes: Vec<u8> = self.0.iter().flat_map(|number| number.to_le_bytes()).collect();
        let written = file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(&bytes));
        written.expect("the state can be written");
    }

    fn counters(&self, kind: Kind) -> &[u64] {
        &self.0[3 + N_COUNTERS * kind as usize..][..N_COUNTERS]
    }

    fn counters_mut(&mut self, kind: Kind) -> &mut [u64] {
        &mut self.0[3 + N_COUNTERS * kind as usize..][..N_COUNTERS]
    }

    fn begin(&mut self, kind: Kind, number: u64) {
        self.0[0] = kind as u64;
        self.0[1] = number;
        self.0[2] += 1;
    }
}

/// Fuzzes until the supervisor ends this process.
fn work(options: &Options, path: &Path) {
    let shop = Shop::open();
    let fuzzers = options.fuzzers(&shop);
    let mut state = State::read(path);
    let mut file = File::options().write(true).open(path).expect("the supervisor made it");
    let mut known = HashMap::new();
    loop {
        for fuzzer in &fuzzers {
            let start = Instant::now();
            while start.elapsed() < TURN {
                let kind = fuzzer.kind;
                let number = state.counters(kind)[0];
                state.begin(kind, number);
                state.write(&mut file);
                let limit = MEMORY.allocated() + options.memory;
                MEMORY.set_limit(limit).expect("more than is allocated");
                let outcome = fuzzer.execute(number);
                MEMORY.set_limit(usize::MAX).expect("no limit");
                let counters = state.counters_mut(kind);
                counters[0] += 1;
                counters[1] += u64::from(outcome.accepted);
                counters[2] += u64::from(outcome.deep);
                if let Some(finding) = outcome.finding {
                    counters[3] += 1;
                    keep(options, fuzzer, number, &finding, &mut known);
                }
            }
        }
    }
}

/// Writes the input of a finding and prints a note, unless enough findings have the same message.
fn keep(
    options: &Options,
    fuzzer: &Fuzzer<'_>,
    number: u64,
    finding: &str,
    known: &mut HashMap<String, u64>,
) {
    let letters = finding.chars().filter(|c| c.is_ascii_alphabetic() || *c == ' ');
    let words: String = letters.take(50).collect();
    let n = known.entry(format!("{} {words}", fuzzer.kind.name())).or_default();
    *n += 1;
    if *n > MAX_KEPT {
        return;
    }
    let name = format!("{}-{}-{number}", fuzzer.kind.name(), options.seed);
    println!("{name}: {finding}");
    fs::create_dir_all(&options.out).expect("the folder of findings can be made");
    let path = options.out.join(&name);
    fs::write(&path, fuzzer.input(number)).expect("an input can be written");
    fs::write(path.with_extension("txt"), finding).expect("a finding can be written");
}

/// A job as the supervisor sees it.
struct Job {
    options: Options,
    state: PathBuf,
    child: Child,
    /// The last state that was seen, when it changed, and the time of the processor until then.
    seen: (State, Instant, Duration),
}

/// Wall time for each second of the limit, after which a job that computes nothing hangs.
const WALL: u32 = 20;

/// Time of the processor that a child has had, where the system tells it; zero elsewhere.
fn processor_time(child: &Child) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    // Fields after the name, which is in parentheses: user and system time are the 12th and 13th, in hundredths.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|it| it.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}

impl Job {
    fn start(options: &Options, state: &Path) -> Self {
        let program = std::env::current_exe().expect("a program knows its file");
        let mut command = Command::new(program);
        let number = |number: u64| number.to_string();
        command.arg("--worker").arg(state).arg("--out").arg(&options.out);
        command.args(["--seed", &number(options.seed)]);
        command.args(["--memory", &number(options.memory as u64 >> 20)]);
        command.args(["--deep", &number(options.depth.accepted)]);
        command.args(["--deep-refused", &number(options.depth.refused)]);
        command.args(options.kinds.iter().flat_map(|kind| ["--kind", kind.name()]));
        command.args(options.corpus.iter().flat_map(|it| ["--corpus".as_ref(), it.as_os_str()]));
        let errors = File::create(state.with_extension("err")).expect("a file can be made");
        let child = command.stdin(Stdio::null()).stderr(errors).spawn().expect("it can start");
        let seen = (State::read(state), Instant::now(), Duration::ZERO);
        Self { options: options.clone(), state: state.into(), child, seen }
    }

    /// Checks whether the job still runs. If not, records the reason and restarts the job.
    fn look(&mut self) {
        let state = State::read(&self.state);
        if state != self.seen.0 {
            self.seen = (state, Instant::now(), processor_time(&self.child));
        }
        let ended = self.child.try_wait().expect("a child can be asked");
        let reason = match ended {
            Some(status) => {
                let errors = fs::read(self.state.with_extension("err")).unwrap_or_default();
                let errors = String::from_utf8_lossy(&errors).into_owned();
                format!("the process ended: {status}: {}", errors.trim())
            }
            None if self.is_too_long() => {
                format!("longer than {} s", self.options.limit.as_secs())
            }
            None => return,
        };
        self.end();
        self.record(&reason);
        *self = Self::start(&self.options, &self.state);
    }

    /// Whether the execution exceeds the limit of processor time, so that a busy machine makes no finding.
    fn is_too_long(&self) -> bool {
        let (_, since, before) = &self.seen;
        let limit = self.options.limit;
        since.elapsed() > limit
            && (processor_time(&self.child).saturating_sub(*before) > limit
                || since.elapsed() > WALL * limit)
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Records the execution that ended the job, and skips it.
    fn record(&self, reason: &str) {
        let mut state = State::read(&self.state);
        let (kind, number) = (Kind::ALL[state.0[0] as usize].0, state.0[1]);
        let counters = state.counters_mut(kind);
        counters[0] = number + 1;
        counters[3] += 1;
        let mut file = File::options().write(true).open(&self.state).expect("it is there");
        state.write(&mut file);
        let shop = Shop::open();
        let options = Options { kinds: vec![kind], ..self.options.clone() };
        let fuzzers = options.fuzzers(&shop);
        keep(&options, &fuzzers[0], number, reason, &mut HashMap::new());
    }
}

fn supervise(options: &Options) -> ExitCode {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let job = |number: u64| {
        let state = folder.path().join(format!("{number}.state"));
        File::create(&state).expect("a file can be made");
        let seed = options.seed.wrapping_add(number);
        Job::start(&Options { seed, ..options.clone() }, &state)
    };
    let mut jobs: Vec<Job> = (0..options.jobs).map(job).collect();
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < options.seconds {
        thread::sleep(LOOK);
        jobs.iter_mut().for_each(Job::look);
    }
    jobs.iter_mut().for_each(Job::end);
    let states: Vec<State> = jobs.iter().map(|job| State::read(&job.state)).collect();
    let findings = print(options, &states, start.elapsed().as_secs_f64());
    ExitCode::from(u8::from(findings > 0))
}

/// Prints the counters of every kind and returns the number of findings.
fn print(options: &Options, states: &[State], seconds: f64) -> u64 {
    println!("kind                executions      1/s   accepted     deep  findings");
    let line = |name: &str, [executions, accepted, deep, findings]: [u64; N_COUNTERS], s: f64| {
        let share = 100.0 * accepted as f64 / executions.max(1) as f64;
        let rate = executions as f64 / s;
        println!("{name:18} {executions:>11} {rate:>8.0} {share:>8.1} % {deep:>8} {findings:>9}");
    };
    let mut total = [0; N_COUNTERS];
    let turn = seconds * states.len() as f64 / options.kinds.len() as f64;
    for &kind in &options.kinds {
        let mut sum = [0; N_COUNTERS];
        for state in states {
            sum.iter_mut().zip(state.counters(kind)).for_each(|(sum, it)| *sum += it);
        }
        line(kind.name(), sum, turn);
        total.iter_mut().zip(sum).for_each(|(total, it)| *total += it);
    }
    line("all", total, seconds);
    total[3]
}
