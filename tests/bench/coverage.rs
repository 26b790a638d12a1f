//! Coverage of the 95 % intervals of means: how many contain the mean of 40,000 replications, by scenario and number of
//! replications. `cargo bench --bench coverage` writes the table of docs/explanation/comparisons.md, section 2.1.
#![expect(clippy::disallowed_macros, reason = "a table is printed")]

use xrsim::Experiment;
use xrsim::statistics::{Fraction, Summary};

/// Replications of every scenario. Their mean stands for the true one, and parts of them for samples.
const REPLICATIONS: u64 = 40_000;

/// Sizes of the samples.
const SIZES: [usize; 9] = [5, 6, 8, 10, 20, 25, 30, 50, 100];

/// Student's quantiles at 97.5 %, to compare with, of one degree of freedom less than [`SIZES`].
const STUDENT: [f64; SIZES.len()] =
    [2.7764, 2.5706, 2.3646, 2.2622, 2.0930, 2.0639, 2.0452, 2.0096, 1.9842];

/// Name of a case, its runs, and two schedulers.
type Case = (&'static str, Experiment, [&'static str; 2]);

fn cases() -> Vec<Case> {
    let folder = "tests/reference/coverage";
    let three = on(&format!("{folder}/three.yaml"), "B", "1024")
        .set("cost_model", format!("{folder}/three.csv"))
        .set("load.random_phase", "true");
    let suite = ["AR_gaming", "VR_gaming", "AR_Assistant", "outdoor_activity_A"]
        .into_iter()
        .chain(["outdoor_activity_B", "social_interactionA", "social_interactionB"])
        .fold(Experiment::new().system("J").set("pes", "4096"), Experiment::scenario)
        .set("platform", "headset")
        .replications(REPLICATIONS);
    vec![
        ("three models, random phases", three, ["rm", "sjf"]),
        (
            "AR_Assistant, J, 1024, triggers 30 %",
            headset("AR_Assistant", "J", "1024").set("load.trigger_probability", "0.3"),
            ["latency-greedy", "edf:admission=hopeless"],
        ),
        ("AR_Assistant, J, 4096", headset("AR_Assistant", "J", "4096"), ["latency-greedy", "edf"]),
        ("outdoor_activity_A, M, 1024", headset("outdoor_activity_A", "M", "1024"), ["edf", "rm"]),
        ("outdoor_activity_B, A, paper", on("outdoor_activity_B", "A", "4096"), ["edf", "rm"]),
        ("AR_gaming, J, 1024", headset("AR_gaming", "J", "1024"), ["latency-greedy", "rm"]),
        ("AR_gaming, M, 1024", headset("AR_gaming", "M", "1024"), ["latency-greedy", "rm"]),
        (
            "social_interactionA, J, 1024, random phases",
            headset("social_interactionA", "J", "1024").set("load.random_phase", "true"),
            ["latency-greedy", "rm"],
        ),
        ("the seven of the suite, J, 4096", suite, ["latency-greedy", "edf"]),
    ]
}

/// Cases that had no part in the choice of the rule.
fn cases_apart() -> Vec<Case> {
    let admitted = ["edf:admission=hopeless", "value:admission=hopeless"];
    let phases = |scenario, system, pes| on(scenario, system, pes).set("load.random_phase", "true");
    vec![
        (
            "AR_Assistant, A, no choices",
            on("AR_Assistant", "A", "4096").set("flexibility", "none"),
            admitted,
        ),
        ("AR_Assistant, D, 2048, paper", on("AR_Assistant", "D", "2048"), ["llf", "srpt"]),
        (
            "AR_Assistant, M, 8192, triggers 70 %",
            on("AR_Assistant", "M", "8192").set("load.trigger_probability", "0.7"),
            ["sjf", "prema"],
        ),
        (
            "outdoor_activity_A, H, 1024",
            headset("outdoor_activity_A", "H", "1024"),
            ["fcfs", "dysta"],
        ),
        (
            "outdoor_activity_B, J, 1024, random phases",
            phases("outdoor_activity_B", "J", "1024"),
            ["rm", "planaria"],
        ),
        ("VR_gaming, B, 1024, random phases", phases("VR_gaming", "B", "1024"), ["edf", "mk-firm"]),
        (
            "social_interactionB, M, 2048, random phases",
            phases("social_interactionB", "M", "2048"),
            ["llf", "value"],
        ),
        ("AR_gaming, K, 2048, random phases", phases("AR_gaming", "K", "2048"), admitted),
    ]
}

/// Runs of a scenario on the platform `paper`.
fn on(scenario: &str, system: &str, pes: &str) -> Experiment {
    let experiment = Experiment::new().scenario(scenario).system(system);
    experiment.set("pes", pes).replications(REPLICATIONS)
}

fn headset(scenario: &str, system: &str, pes: &str) -> Experiment {
    on(scenario, system, pes).set("platform", "headset")
}

/// Mean score over the scenarios in every replication.
fn scores(experiment: &Experiment, scheduler: &str) -> Vec<f64> {
    let prepared = experiment.clone().schedulers([scheduler]).prepare().expect("inputs are valid");
    let mut sums = vec![0.0; REPLICATIONS as usize];
    let n_scenarios = prepared.n_runs() / sums.len();
    let made = prepared.score_each(|_, plan, result| {
        let score = result.expect("every run has a score").scorecard.total.score;
        sums[plan.load.replication as usize] += score / n_scenarios as f64;
        Ok::<_, std::convert::Infallible>(())
    });
    let Ok(()) = made;
    sums
}

/// `95.1`: percentage of printed intervals that contain the mean; with the share that is printed if that is not all; and
/// that of Student's interval in all samples.
fn coverage(values: &[f64], at: usize) -> String {
    let mean = Summary::of(values.iter().copied()).mean;
    let (mut n, mut printed, mut covered, mut by_student) = (0, 0, 0, 0);
    for sample in values.chunks_exact(SIZES[at]).take(4000) {
        let summary = Summary::of(sample.iter().copied());
        n += 1;
        let student = STUDENT[at] * summary.standard_error().unwrap_or(0.0);
        by_student += u32::from((summary.mean - mean).abs() <= student + 1e-12);
        if let Some(half) = summary.half_width(Fraction::P95) {
            printed += 1;
            covered += u32::from((summary.mean - mean).abs() <= half);
        }
    }
    let percent = |of: u32, all: u32| 100.0 * f64::from(of) / f64::from(all.max(1));
    let own = match printed {
        0 => "none".into(),
        _ if printed == n => format!("{:.1}", percent(covered, printed)),
        _ => format!("{:.1} of {:.0} %", percent(covered, printed), percent(printed, n)),
    };
    format!("{own} ({:.1})", percent(by_student, n))
}

fn main() {
    // Cases whose names contain a word of the command line, or all.
    let words: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with("--")).collect();
    let sizes: Vec<_> = SIZES.iter().map(ToString::to_string).collect();
    println!("| case | value | skewness | {} |", sizes.join(" | "));
    println!("|---|---|--:|{}", "--:|".repeat(SIZES.len()));
    for (name, experiment, schedulers) in cases().into_iter().chain(cases_apart()) {
        if !words.is_empty() && words.iter().all(|word| !name.contains(word.as_str())) {
            continue;
        }
        let [first, second] = schedulers.map(|scheduler| scores(&experiment, scheduler));
        let difference: Vec<f64> = first.iter().zip(&second).map(|(a, b)| a - b).collect();
        let rows = [(schedulers[0], first), (schedulers[1], second), ("difference", difference)];
        for (value, values) in rows {
            let all = Summary::of(values.iter().copied());
            if all.sd < 1e-9 {
                continue;
            }
            let cells: Vec<_> = (0..SIZES.len()).map(|at| coverage(&values, at)).collect();
            println!("| {name} | {value} | {:.1} | {} |", all.skewness, cells.join(" | "));
        }
    }
}
