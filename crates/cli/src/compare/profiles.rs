//! Comparisons on profiles: what they refuse, and how long they take.

use xrsim_experiment::Prepared;
use xrsim_report::comparison::Measure;
use xrsim_report::network::grouped;
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::comparison::Subject;
use xrsim_sim::sweep::day::DayMetrics;

use super::super::message::{Failure, say};
use super::CompareArgs;

/// CPU time of a request in the run of a profile \[s\]: 1 to 2.5 us on a processor of 2020.
const S_PER_REQUEST: f64 = 2.5e-6;

/// CPU time of which a user is told before it is taken \[s\].
const LONG: f64 = 60.0;

/// Prints a note if runs of profiles take long.
pub(super) fn note_time(args: &CompareArgs, prepared: &Prepared) {
    if !args.join.is_empty() || args.cluster.is_asked() {
        return;
    }
    let requests = |plan: &Plan| -> u64 {
        let phases = plan.phases.iter().flat_map(|phases| phases.all());
        phases.map(|phase| phase.n_requests as u64).sum()
    };
    let n_parts = args.shard.map_or(1, |shard| shard.numbers().1) as f64;
    let n_each = args.scheduler.len() as u64 * args.replications;
    let requests: u64 = prepared.plans().map(requests).fold(0, u64::saturating_add);
    let seconds = S_PER_REQUEST * requests as f64 * n_each as f64 / n_parts;
    if seconds >= LONG {
        let n_runs = (prepared.n_runs() as u64).saturating_mul(n_each) as f64 / n_parts;
        say(format_args!(
            "note: {}{} runs of profiles take about {}; fewer --replications or schedulers take less",
            if args.half_width.is_some() { "at least " } else { "" },
            grouped(n_runs.ceil() as u64),
            in_words(seconds),
        ));
    }
}

/// A CPU time in words.
fn in_words(seconds: f64) -> String {
    match seconds / 60.0 {
        minutes if minutes < 90.0 => format!("{:.0} minutes of CPU time", minutes.ceil()),
        minutes => format!("{:.1} hours of CPU time", minutes / 60.0),
    }
}

/// Refuses options of scenarios beside profiles.
///
/// # Errors
///
/// Returns a failure that says why.
pub(super) fn refuse_beside_profiles(args: &CompareArgs) -> Result<(), Failure> {
    if args.subject() == Subject::Scenarios {
        return Ok(());
    }
    let options = [
        (
            args.enumerate,
            "--enumerate",
            "counts the patterns of a scenario; a profile draws too many triggers",
        ),
        (
            args.window.is_some(),
            "--window",
            "bounds the score of a scenario; no bound knows a battery",
        ),
        (args.tune, "--tune", "searches for the least UXCost, which is one of a scenario"),
        (args.steady, "--steady", "sets a duration, and a profile has durations of its own"),
    ];
    match options.into_iter().find(|(is_given, ..)| *is_given) {
        Some((_, option, why)) => refuse!("{option} {why}; leave it out with --profile"),
        None => Ok(()),
    }
}

/// Refuses a measure of profiles that a run has not for want of a device.
///
/// # Errors
///
/// Returns a failure that names the device.
pub(super) fn refuse_unknown(measure: Measure, prepared: &Prepared) -> Result<(), Failure> {
    let name = measure.name();
    for plan in prepared.plans().filter(|plan| plan.phases.is_some()) {
        match plan.device.as_deref() {
            device if DayMetrics::is_of(name, device) => {}
            None => refuse!("runs without a device have no `{name}`; name one with --device"),
            Some(device) => refuse!("runs on the device `{}` have no `{name}`", device.name),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn a_time_is_in_minutes_and_then_in_hours() {
        assert_eq!(in_words(61.0), "2 minutes of CPU time");
        assert_eq!(in_words(5_399.0), "90 minutes of CPU time");
        assert_eq!(in_words(5_400.0), "1.5 hours of CPU time");
    }
}
