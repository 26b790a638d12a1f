//! Server runs against queueing theory: Poisson arrivals, and waiting times of one server.
//!
//! Latencies of one run are correlated. Their error is therefore computed from the means of 64 stretches
//! of the run, each of which is many busy periods long. Seeds are fixed, so that results never vary.
//! Tolerances are four standard errors, which a correct generator exceeds with one seed in 16,000.

use xrsim::mlperf::benchmark::{Measurement, measure};
use xrsim::mlperf::settings::{
    EffectiveSettings, LoadGenVersion, LoadScenario, QuerySampleLibrary, Seeds, TestSettings,
};
use xrsim::mlperf::sut::{Discipline, ServerSystem, ServiceTime};
use xrsim::units::{SimSpan, SimTime};

const QUERIES: u64 = 270_336;

/// Service time D \[s\].
const SERVICE: f64 = 0.005;

/// Run of one server with the service time `time` and queries at `rate` per second.
fn served(rate: f64, time: &ServiceTime, seed: u64) -> Measurement {
    let requested = TestSettings {
        server_target_qps: rate,
        min_query_count: QUERIES,
        min_duration_ms: 60_000,
        seeds: Seeds { qsl: seed, sample_index: seed, schedule: seed },
        ..TestSettings::new(LoadScenario::Server)
    };
    let library = QuerySampleLibrary { performance_samples: 1024, total_samples: 1024 };
    let settings = EffectiveSettings::new(&requested, library, LoadGenVersion::V6_0).unwrap();
    let mut service = ServerSystem::new(time.clone(), Discipline::Fifo, vec![1.0]);
    measure(&settings, &mut service).unwrap()
}

/// Mean of `values` and its standard error, from the means of 64 stretches.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let means: Vec<_> = values.chunks_exact(values.len() / 64).map(mean).collect();
    let centre = mean(&means);
    let variance = means.iter().map(|one| (one - centre).powi(2)).sum::<f64>() / 63.0;
    (centre, (variance / 64.0).sqrt())
}

/// Whether the mean of `values` is `expected` within four standard errors.
fn check(what: &str, values: &[f64], expected: f64) {
    let (mean, error) = mean_and_error(values);
    // A probability of nearly 1 has hardly any spread in a run; one value in the run is its grain.
    let tolerance = 4.0 * error + 1.0 / values.len() as f64;
    assert!((mean - expected).abs() <= tolerance, "{what}: {mean} +- {error}, not {expected}");
}

/// P[W ≤ t] of M/D/1 (Erlang 1909; Crommelin 1932 for one server):
///
/// ```text
/// (1 − λD) Σ_{k=0}^{⌊t/D⌋} (−λ(t − kD))^k / k! · e^{λ(t − kD)}
/// ```
///
/// The sum alternates; up to t = 8 D and λD = 0.9 its largest term is below 1e4, which leaves 12 of 16
/// digits.
fn waiting_cdf(rate: f64, t: f64) -> f64 {
    let mut sum = 0.0;
    let mut factorial = 1.0;
    for k in 0..=(t / SERVICE).floor() as i32 {
        factorial *= f64::from(k.max(1));
        let x = rate * (t - f64::from(k) * SERVICE);
        sum += (-x).powi(k) / factorial * x.exp();
    }
    (1.0 - rate * SERVICE) * sum
}

/// P[W = 0] = 1 − ρ; P[W ≤ t] = (1 − ρ) e^{λt} up to one service time.
#[test]
fn the_closed_form_begins_as_it_must() {
    assert!((waiting_cdf(140.0, 0.0) - 0.3).abs() < 1e-15);
    assert!((waiting_cdf(140.0, 0.004) - 0.3 * (0.56f64).exp()).abs() < 1e-15);
    let grows = (0..80).map(|step| waiting_cdf(140.0, f64::from(step) * SERVICE / 10.0));
    assert!(grows.clone().zip(grows.skip(1)).all(|(before, after)| before < after && after < 1.0));
}

#[test]
fn waiting_times_are_those_of_m_d_1() {
    let time = ServiceTime::Constant(SimSpan::from_ns(5_000_000));
    for (rate, seed) in [(60.0, 1), (100.0, 2), (140.0, 3), (160.0, 4)] {
        let run = served(rate, &time, seed).run;
        let waits: Vec<_> =
            run.queries.iter().map(|query| query.latency().as_ms() / 1e3 - SERVICE).collect();
        // Waits are whole nanoseconds; none is within one of the points but at zero.
        for multiple in [0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0] {
            let t = multiple * SERVICE;
            let within: Vec<_> =
                waits.iter().map(|&wait| f64::from(u8::from(wait <= t + 5e-10))).collect();
            let what = format!("P[W <= {multiple} D] at {rate}/s");
            check(&what, &within, waiting_cdf(rate, t));
        }
        let load = rate * SERVICE;
        check("mean wait", &waits, load * SERVICE / (2.0 * (1.0 - load)));
    }
}

/// Pollaczek-Khinchine: E[W] = λ E[S²] / (2 (1 − λ E[S])). One of eight samples takes 16 ms, the others
/// 4 ms: E[S] = 5.5 ms, E[S²] = 46 ms².
#[test]
fn mean_waits_follow_from_two_moments_of_the_service() {
    let [slow, fast] = [16_000_000, 4_000_000].map(SimSpan::from_ns);
    let time = ServiceTime::Bimodal { modulus: 8, slow, fast };
    let found = served(100.0, &time, 5);
    let waits: Vec<_> = found
        .run
        .queries
        .iter()
        .map(|query| {
            let index = found.schedule.samples(query.index).next().unwrap();
            (query.latency().ns() - time.of(index, 1).ns()) as f64 / 1e6
        })
        .collect();
    check("mean wait", &waits, 0.1 * 46.0 / (2.0 * (1.0 - 0.55)));
}

fn gaps(rate: f64, seed: u64) -> Vec<f64> {
    let time = ServiceTime::Constant(SimSpan::ZERO);
    let offsets = served(rate, &time, seed).schedule.offsets;
    offsets.windows(2).map(|pair| (pair[1] - pair[0]).ns() as f64 / 1e9).collect()
}

/// Mean 1/λ, mean square 2/λ², and no correlation from one gap to the next: E[g g'] = 1/λ².
#[test]
fn gaps_have_the_moments_of_their_distribution() {
    for seed in [1, 2, 3_507_442_325_620_259_414] {
        let gaps = gaps(100.0, seed);
        check("mean gap", &gaps, 0.01);
        let squares: Vec<_> = gaps.iter().map(|gap| gap * gap).collect();
        check("mean square", &squares, 2e-4);
        let products: Vec<_> = gaps.windows(2).map(|pair| pair[0] * pair[1]).collect();
        check("product of neighbours", &products, 1e-4);
    }
}

/// Kolmogorov-Smirnov test: for n gaps the largest distance of the empirical distribution from 1 − e^{−λg} is
/// below 1.63/√n with probability 0.99.
#[test]
fn gaps_are_exponential() {
    let mut gaps = gaps(100.0, 7);
    gaps.sort_by(f64::total_cmp);
    let n = gaps.len() as f64;
    let distance = |(rank, gap): (usize, &f64)| {
        let cdf = 1.0 - (-100.0 * gap).exp();
        (cdf - rank as f64 / n).abs().max((cdf - (rank as f64 + 1.0) / n).abs())
    };
    let largest = gaps.iter().enumerate().map(distance).fold(0.0, f64::max);
    assert!(largest * n.sqrt() < 1.63, "{}", largest * n.sqrt());
}

/// Arrivals in windows of 0.1 s: mean and variance are both 10.
#[test]
fn counts_in_windows_are_poisson() {
    let time = ServiceTime::Constant(SimSpan::ZERO);
    let offsets = served(100.0, &time, 11).schedule.offsets;
    let window = |at: &SimTime| (at.ns() / 100_000_000) as usize;
    let mut counts = vec![0.0; window(offsets.last().unwrap())];
    for at in &offsets {
        if let Some(count) = counts.get_mut(window(at)) {
            *count += 1.0;
        }
    }
    check("count", &counts, 10.0);
    let squares: Vec<_> = counts.iter().map(|count| (count - 10.0f64).powi(2)).collect();
    check("variance of the count", &squares, 10.0);
}
