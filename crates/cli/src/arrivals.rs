//! `xrsim run --arrivals`: arrivals of the frames of sensors, as a recording that a scenario can read.

use std::io::{self, Write};
use std::path::Path;

use xrsim_experiment::Prepared;
use xrsim_model::units::{SimSpan, SimTime};
use xrsim_sim::load;
use xrsim_sim::plan::{Plan, Semantics};

use super::message::{Failure, say};
use super::output::{OutputFile, csv_text};

/// Writes the arrivals of the runs of one scenario, its replications one after the other.
///
/// # Errors
///
/// Returns a failure for several scenarios, for runs of the artifact, whose models read no sensors, and if the file
/// cannot be written.
pub(super) fn write(path: &Path, prepared: &Prepared) -> Result<(), Failure> {
    let mut plans: Vec<&Plan> = prepared.plans().collect();
    let Some(first) = plans.first().copied() else { return Ok(()) };
    if plans.iter().any(|it| it.scenario.name() != first.scenario.name()) {
        refuse!("--arrivals takes one scenario; choose one with --scenario");
    }
    if first.semantics != Semantics::Principled {
        refuse!("--arrivals takes --semantics principled: models of the artifact read no sensors");
    }
    // Systems see the same arrivals.
    plans.sort_by_key(|it| it.load.replication);
    plans.dedup_by_key(|it| it.load.replication);
    let mut file = OutputFile::create(path)?;
    let rows =
        rows(&mut file, &plans).map_err(|error| Failure::writing(&path.display(), &error))?;
    file.finish()?;
    say(format_args!("wrote {}: {rows} frames", path.display()));
    Ok(())
}

/// Writes header and rows, sensor by sensor, and returns the number of rows.
fn rows(out: &mut impl Write, plans: &[&Plan]) -> io::Result<u64> {
    writeln!(out, "sensor,frame,arrival_ms")?;
    let mut n_rows = 0;
    for (at, stream) in plans[0].scenario.streams().iter().enumerate() {
        let name = csv_text(&[&*stream.name], &[]);
        // Arrivals of a recording do not go back.
        let mut last = SimTime::ZERO;
        for plan in plans {
            let (window, stream) = (plan.load.replication, &plan.scenario.streams()[at]);
            let n_before = window.saturating_mul(stream.rate.frames_before(plan.load.duration));
            let begin = plan.load.duration.ns().saturating_mul(window);
            let arrivals = load::arrivals(stream, &plan.load).map_err(io::Error::other)?;
            for (frame, arrival) in arrivals {
                last = last.max(arrival + SimSpan::from_ns(begin));
                let (ms, ns) = (last.ns() / 1_000_000, last.ns() % 1_000_000);
                let frame = n_before.saturating_add(frame);
                writeln!(out, "{},{frame},{ms}.{ns:06}", name.trim_end())?;
                n_rows += 1;
            }
        }
    }
    Ok(n_rows)
}
