//! Counters of a device: temperatures, power, the limit of the clock, charge, and clocks of accelerators.

use std::io::{self, Write};

use xrsim_model::hardware::device::Supplied;
use xrsim_model::ids::AccelId;
use xrsim_model::units::SimTime;
use xrsim_sim::device::{Body, Limit};

use super::counters::Sample;
use super::{DEVICE, Writer};

/// Most samples of a counter.
const MAX_SAMPLES: usize = 20_000;

/// Key of a value, which Perfetto does not add to the name of its counter. The name has the unit.
const VALUE: &str = "value";

impl<W: Write> Writer<'_, W> {
    /// Counters of `body`, if the run has a device.
    pub(super) fn device(&mut self) -> io::Result<()> {
        let Some(body) = self.result.body.as_deref() else { return Ok(()) };
        let supplied = self.plan.supplied().unwrap_or_default();
        for (node, (name, _)) in body.highest().enumerate() {
            let name = format!("temperature {name} [C]");
            let celsius = body.samples().iter().map(|it| (it.at, it.temperatures[node]));
            self.sampled(&name, celsius)?;
        }
        self.sampled("power [W]", power(body))?;
        if body.thermal().is_some() {
            let cap = body.samples().iter().map(|it| (it.at, cap_mhz(&supplied, &it.limit)));
            self.sampled("cap [MHz]", cap)?;
        }
        let charge = body.samples().iter();
        let charge = charge.filter_map(|it| Some((it.at, 100.0 * it.charge?)));
        self.sampled("charge [%]", charge)?;
        let (system, trace) = (&self.plan.system, &self.result.trace);
        for (index, (accelerator, supplied)) in
            system.accelerators().iter().zip(&supplied).enumerate()
        {
            let changes = trace.points().of(AccelId::new(index)).iter();
            let mhz = |point| supplied.points.get(point).clock.as_mhz();
            let clocks = changes.map(|it| (it.at, it.point.map_or(0.0, mhz)));
            self.sampled(&format!("clock {} [MHz]", accelerator.name), clocks)?;
        }
        Ok(())
    }

    fn sampled(
        &mut self,
        name: &str,
        samples: impl Iterator<Item = Sample<f64>>,
    ) -> io::Result<()> {
        let samples: Vec<_> = samples.collect();
        let step = samples.len().div_ceil(MAX_SAMPLES).max(1);
        let kept: Vec<_> = samples.into_iter().step_by(step).collect();
        self.counter(DEVICE, name, VALUE, &kept)
    }
}

/// Mean power until the next sample \[W\]: a sample of a body has that since the one before.
fn power(body: &Body) -> impl Iterator<Item = Sample<f64>> {
    let samples = body.samples();
    let begins = [SimTime::ZERO].into_iter().chain(samples.iter().map(|it| it.at));
    begins.zip(samples.iter().map(|it| it.watts))
}

/// The highest clock that any accelerator may have \[MHz\]; 0 if nothing may start.
fn cap_mhz(supplied: &[Supplied], limit: &Limit) -> f64 {
    let allowed = |it: &Supplied| {
        let clocks = || it.points.all().iter().map(|point| point.clock.as_mhz());
        clocks().nth(limit.highest(clocks())).unwrap_or(0.0)
    };
    if limit.halt { 0.0 } else { supplied.iter().map(allowed).fold(0.0, f64::max) }
}
