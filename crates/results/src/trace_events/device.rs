//! Counters of a device: temperatures, power by item, the limit of the clock, charge, clocks of accelerators, and ages of
//! the newest results of models.

use std::io::{self, Write};
use std::iter::once;

use xrsim_model::hardware::device::Supplied;
use xrsim_model::ids::AccelId;
use xrsim_model::units::{SimSpan, SimTime};
use xrsim_sim::device::{Body, Item, Ledger, Limit};
use xrsim_sim::metrics::newest_results;

use super::Writer;
use super::counters::Sample;
use super::event::{DEVICE, Events, MAX_SAMPLES};

/// Samples of an age from a result to the next one. Viewers draw steps, and an age rises all the time.
const STEPS: u64 = 4;

impl<W: Write> Writer<'_, W> {
    /// Counters of the device, if the run has one.
    pub(super) fn device(&mut self) -> io::Result<()> {
        let (Some(body), Some(ledger)) = (&self.result.body, &self.result.ledger) else {
            return Ok(());
        };
        let supplied = self.plan.supplied().unwrap_or_default();
        self.events.device(body, ledger, &supplied)?;
        let (system, trace) = (&self.plan.system, &self.result.trace);
        for (index, (accelerator, supplied)) in
            system.accelerators().iter().zip(&supplied).enumerate()
        {
            let changes = trace.points().of(AccelId::new(index)).iter();
            let mhz = |point| supplied.points.get(point).clock.as_mhz();
            let clocks = changes.map(|it| (it.at, it.point.map_or(0.0, mhz)));
            self.events.sampled(&format!("clock {}", accelerator.name), "[MHz]", clocks)?;
        }
        let end = SimTime::ZERO + ledger.duration();
        let results = newest_results(&self.plan.scenario, &self.plan.load, trace);
        let models = self.plan.scenario.models();
        for ((name, model), results) in self.names.iter().zip(models).zip(results) {
            // Nothing tells when the data of submitted requests came.
            if model.inputs.is_empty() && model.dependencies.is_empty() {
                continue;
            }
            self.events.sampled(&format!("age {name}"), "[ms]", ages(&results, end))?;
        }
        Ok(())
    }
}

impl<W: Write> Events<W> {
    /// Counters of a device at its samples.
    pub(super) fn device(
        &mut self,
        body: &Body,
        ledger: &Ledger,
        supplied: &[Supplied],
    ) -> io::Result<()> {
        for (node, (name, _)) in body.highest().enumerate() {
            let name = format!("temperature {name}");
            let celsius = body.samples().iter().map(|it| (it.at, it.temperatures[node]));
            self.sampled(&name, "[C]", celsius)?;
        }
        self.sampled(
            "power",
            "[W]",
            spans(body).zip(body.samples()).map(|((begin, _), it)| (begin, it.watts)),
        )?;
        for (item, name) in Item::ALL {
            let watts = |(joules, (begin, span)): (f64, (SimTime, SimSpan))| {
                (begin, joules / (span.ns() as f64 / 1e9))
            };
            let samples: Vec<_> = ledger.sampled_joules(item).zip(spans(body)).map(watts).collect();
            if samples.iter().any(|(_, watts)| *watts != 0.0) {
                let name = format!("power {}", name.replace('_', " "));
                self.sampled(&name, "[W]", samples.into_iter())?;
            }
        }
        if body.thermal().is_some() {
            let cap = body.samples().iter().map(|it| (it.at, cap_mhz(supplied, &it.limit)));
            self.sampled("cap", "[MHz]", cap)?;
        }
        let charge = body.samples().iter();
        let charge = charge.filter_map(|it| Some((it.at, 100.0 * it.charge?)));
        self.sampled("charge", "[%]", charge)
    }

    /// A counter. Perfetto appends the unit to its name.
    fn sampled(
        &mut self,
        name: &str,
        unit: &'static str,
        samples: impl Iterator<Item = Sample<f64>>,
    ) -> io::Result<()> {
        let samples: Vec<_> = samples.collect();
        let step = samples.len().div_ceil(MAX_SAMPLES).max(1);
        let kept: Vec<_> = samples.into_iter().step_by(step).collect();
        self.counter(DEVICE, name, unit, &kept)
    }
}

/// Begin and length of the time of each sample, which begins with the sample before: a sample has means since then, and a
/// counter holds its value until the next one.
fn spans(body: &Body) -> impl Iterator<Item = (SimTime, SimSpan)> {
    let ends = || body.samples().iter().map(|it| it.at);
    once(SimTime::ZERO).chain(ends()).zip(ends()).map(|(begin, end)| (begin, end - begin))
}

/// Age of the newest result \[ms\] from the first one to `end`, of results with their ends and their ages then.
fn ages(results: &[(SimTime, SimSpan)], end: SimTime) -> impl Iterator<Item = Sample<f64>> {
    let nexts = results.iter().skip(1).map(|(next, _)| *next).chain(once(end));
    results.iter().zip(nexts).flat_map(|(&(at, age), next)| {
        let whole = next.saturating_since(at).ns();
        (0..STEPS).map(move |step| {
            let since = SimSpan::from_ns(whole / STEPS * step);
            (at + since, age.saturating_add(since).as_ms())
        })
    })
}

/// The highest clock that any accelerator may have \[MHz\]; 0 if nothing may start.
fn cap_mhz(supplied: &[Supplied], limit: &Limit) -> f64 {
    let allowed = |it: &Supplied| {
        let clocks = || it.points.all().iter().map(|point| point.clock.as_mhz());
        clocks().nth(limit.highest(clocks())).unwrap_or(0.0)
    };
    if limit.halt { 0.0 } else { supplied.iter().map(allowed).fold(0.0, f64::max) }
}
