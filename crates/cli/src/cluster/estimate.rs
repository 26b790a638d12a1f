//! Time that a command takes, from a few of its points.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::super::message::Failure;
use super::Job;

/// Most points of a sample.
const SAMPLE: u64 = 200;

/// Time after which a sample ends.
const PATIENCE: Duration = Duration::from_secs(10);

/// Length of a part of `--sbatch auto` \[s\]: clusters ask that a job take half an hour.
const PART_S: f64 = 1800.0;

/// Most parts of `--sbatch auto`.
const MAX_AUTO: u64 = 1000;

/// Positions from which the balance of parts is told.
const STRETCHES: usize = 8;

/// Work that points have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Shares {
    /// None: every point takes as long as the first time.
    Nothing,
    /// Costs of layers and what else is read or computed once. A point that is made again takes what each point
    /// takes by itself.
    Inputs,
}

/// A sample of points, made on one thread.
#[derive(Debug)]
pub(in super::super) struct Estimate {
    n_points: u64,
    /// Processor time by other evidence than a sample \[s\].
    told: Option<[f64; 2]>,
    /// Point, and seconds of the first and second time.
    sample: Vec<(u64, [f64; 2])>,
}

impl Estimate {
    /// Times points that are spread evenly, until there are enough or time is up. `make` makes a point.
    ///
    /// # Errors
    ///
    /// The failure of a point.
    pub(in super::super) fn measure(
        n_points: u64,
        shares: Shares,
        mut make: impl FnMut(u64) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let (started, mut sample) = (Instant::now(), Vec::new());
        for index in spread(n_points) {
            let mut timed = || {
                let start = Instant::now();
                make(index)?;
                Ok::<_, Failure>(start.elapsed().as_secs_f64())
            };
            let first = timed()?;
            let second = if shares == Shares::Inputs { timed()? } else { first };
            sample.push((index, [first, second]));
            if started.elapsed() > PATIENCE {
                break;
            }
        }
        Ok(Self { n_points, told: None, sample })
    }

    /// An estimate of `cpu_s`, from least to most \[s\], by other evidence than a sample.
    pub(in super::super) fn told(n_points: u64, cpu_s: [f64; 2]) -> Self {
        Self { n_points, told: Some(cpu_s), sample: Vec::new() }
    }

    /// Processor time of all points \[s\]: at least, if the other points share what the sample has made, and at
    /// most, if each makes its own.
    fn cpu_s(&self) -> [f64; 2] {
        if let Some(told) = self.told {
            return told;
        }
        let n = self.sample.len().max(1) as f64;
        let [first, second] = [0, 1].map(|at| self.sample.iter().map(|it| it.1[at]).sum::<f64>());
        let rest = self.n_points as f64 - n;
        [first + rest.max(0.0) * second / n, first.max(second) * self.n_points as f64 / n]
    }

    /// Parts of about half an hour.
    pub(super) fn parts(&self) -> u64 {
        let parts = (self.cpu_s()[1] / PART_S).ceil().clamp(1.0, MAX_AUTO as f64);
        (parts as u64).min(self.n_points.max(1))
    }

    /// Time of the slowest eighth of the points over that of all, in the order of the points.
    fn imbalance(&self) -> f64 {
        let mut sums = [(0.0, 0.0); STRETCHES];
        for &(point, [_, second]) in &self.sample {
            let at = (u128::from(point) * STRETCHES as u128 / u128::from(self.n_points)) as usize;
            sums[at].0 += second;
            sums[at].1 += 1.0;
        }
        let (seconds, n) = sums.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let mean = seconds / n;
        let means = sums.iter().filter(|it| it.1 >= 4.0).map(|(seconds, n)| seconds / n);
        means.fold(mean, f64::max) / mean
    }

    /// The estimate in words.
    pub(super) fn text(&self, job: &Job<'_>) -> String {
        let Job { n_things, things, .. } = job;
        let cpu = self.cpu_s();
        let threads = rayon::current_num_threads() as f64;
        let mut text = match self.sample.len() {
            0 => format!("{n_things} {things}\n"),
            n => format!("{n_things} {things}, {n} of them timed\n"),
        };
        let range = |scale: f64| match (cpu[0] / scale, cpu[1] / scale) {
            (least, most) if most < 1.5 * least => format!("about {}", span(most)),
            (least, most) => format!("{} to {}", span(least), span(most)),
        };
        let _ = writeln!(text, "processor time  {}", range(1.0));
        let _ = writeln!(text, "this machine    {} on {threads} threads", range(threads));
        let parts = self.parts();
        let _ = writeln!(text, "parts           {parts} of about half an hour (--sbatch auto)");
        if cpu[1] / threads < PART_S {
            text.push_str("A cluster is not needed: this machine finishes within half an hour.\n");
        }
        let imbalance = self.imbalance();
        if imbalance > 1.3 {
            let _ = writeln!(
                text,
                "Parts are unequal: the slowest eighth of the {things} takes {imbalance:.1} times the mean. The \
                 key that changes the cost most should vary fastest, as the last key of the file. Many parts also help."
            );
        }
        text
    }
}

/// Points of a sample, evenly spread wherever it ends: multiples of the golden ratio.
fn spread(n_points: u64) -> impl Iterator<Item = u64> {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let is_all = n_points <= SAMPLE;
    (0..SAMPLE.min(n_points)).map(move |at| match is_all {
        true => at,
        false => ((at as f64 * GOLDEN).fract() * n_points as f64) as u64,
    })
}

/// A time in words, with two digits.
pub(super) fn span(seconds: f64) -> String {
    match seconds {
        s if s < 0.95 => format!("{:.0} ms", (s * 1e3).max(1.0)),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 5_400.0 => format!("{:.0} min", s / 60.0),
        s if s < 2.0 * 86_400.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}
