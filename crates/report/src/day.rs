//! Results of a run of a profile: the first screen, and the files `device.csv`, `phases.csv` and `course.csv`.

pub(crate) mod course;
pub(crate) mod energy;
pub(crate) mod means;

use xrsim_figures::{Caption, Course};
use xrsim_model::hardware::System;
use xrsim_model::hardware::device::Supplied;
use xrsim_model::units::{SimSpan, SimTime};
use xrsim_results::device_cells;
use xrsim_sim::device::{Body, Limit, Sample, Section, Stop};
use xrsim_sim::load::Phases;
use xrsim_sim::sweep::day::{Day, DayMetrics, PhaseResult, Weighted};

use super::table::{Columns, Rows, Style};

pub use energy::{EnergyBars, EnergyQuantity, EnergySource, NoEnergy};
pub use means::{Replication, means, replications_csv};

/// A run of a profile with what describes it.
#[derive(Debug, Clone, Copy)]
pub struct DayReport<'a> {
    /// Phases of the profile.
    pub phases: &'a Phases,
    /// System.
    pub system: &'a System,
    /// Name of the device; `None` without one.
    pub device: Option<&'a str>,
    /// Supplies of the accelerators; empty without a device.
    pub supplied: &'a [Supplied],
    /// Name of the scheduler.
    pub scheduler: &'a str,
    /// Result.
    pub day: &'a Day,
}

/// End of a line that goes on in the next one.
const BREAK: &str = ";\n  ";

/// A phase with its result, and what the device did in it.
struct Row<'a> {
    number: usize,
    name: &'a str,
    scenario: &'a str,
    result: &'a PhaseResult,
    section: Option<&'a Section>,
}

impl Row<'_> {
    fn score(&self) -> Option<Weighted> {
        let scorecard = self.result.scorecard.as_ref()?;
        let total = &scorecard.total;
        (total.counts.requests > 0).then_some(Weighted { score: total.score, counts: total.counts })
    }

    fn seconds(&self) -> f64 {
        (self.result.end - self.result.begin).ns() as f64 / 1e9
    }

    /// Time of the device in the phase \[s\]: requests of the last one may end after it.
    fn of_device(&self) -> Option<f64> {
        let section = self.section?;
        Some((section.end - section.begin).ns() as f64 / 1e9)
    }

    fn watts(&self) -> Option<f64> {
        Some(self.section?.joules / self.of_device()?).filter(|it| it.is_finite())
    }

    fn capped(&self) -> Option<f64> {
        let section = self.section.filter(|it| !it.highest_c.is_empty())?;
        Some(section.capped.ns() as f64 / 1e9 / self.of_device()?).filter(|it| it.is_finite())
    }
}

impl DayReport<'_> {
    fn rows(&self) -> Vec<Row<'_>> {
        let sections = self.day.body.as_ref().map_or(&[][..], |body| body.sections());
        let row = |result| {
            let result: &PhaseResult = result;
            let phase = &self.phases.all()[result.phase];
            let scenario = self.phases.scenario_of(phase).map_or("-", |(it, _)| it.name());
            Row {
                number: result.phase,
                name: &phase.activity.name,
                scenario,
                result,
                section: sections.get(result.phase),
            }
        };
        self.day.phases.iter().map(row).collect()
    }

    /// Names of the nodes with temperatures.
    fn nodes(&self) -> Vec<&str> {
        let bodies = self.day.body.iter();
        bodies.flat_map(|body| body.highest().map(|(node, _)| node)).collect()
    }

    /// Name of the node that people feel; `None` without temperatures.
    pub fn outside(&self) -> Option<&str> {
        let node = self.day.body.as_ref()?.outside()?;
        self.nodes().get(node.index()).copied()
    }

    /// The first screen.
    pub fn text(&self, style: Style) -> String {
        let mut text = format!(
            "{} on {} with {} PEs, {}, {}\n",
            self.phases.name(),
            self.system.name(),
            self.system.pes(),
            self.device.map_or("no device".into(), |name| format!("device {name}")),
            self.scheduler,
        );
        text += &self.lines();
        text + "\n" + &self.table(style)
    }

    /// The answer: the lines of the first screen before its table, a sentence each.
    pub fn told(&self) -> Vec<String> {
        let joined = self.lines().replace(BREAK, "; ");
        joined.lines().map(|line| line.trim().to_string()).collect()
    }

    /// Charge, power, heat and score.
    fn lines(&self) -> String {
        let day = self.day;
        let mut text = self.length();
        let metrics = DayMetrics::of(day, self.phases.duration());
        if let (Some(mean_w), Some(peak_w), Some(share)) =
            (metrics.mean_w, metrics.peak_w, metrics.accelerator_share)
        {
            text += &format!(
                "power: {:.3} W on average, {:.3} W in the highest second{BREAK}{:.1} % of the energy is of the accelerators\n",
                mean_w,
                peak_w,
                100.0 * share
            );
        }
        text += &self.heat();
        let score = day.score();
        text +=
            &format!("score: {:.4}, {:.2} % of the requests missed\n", score.score, missed(&score));
        if let Some(at) = day.throttled_from() {
            let [before, after] = day.around(at);
            text += &format!(
                "  before throttling, the first {:.2} h: {:.4}, {:.2} % missed{BREAK}after it: {:.4}, {:.2} % missed\n",
                hours(at),
                before.score,
                missed(&before),
                after.score,
                missed(&after)
            );
        }
        text
    }

    /// How long the run lasts, and the charge that is left.
    fn length(&self) -> String {
        let (end, whole) = (hours(self.day.end), self.phases.duration().as_hours());
        let body = self.day.body.as_deref();
        let charge = body.and_then(|body| body.charge());
        match (body.and_then(|body| body.stopped()), charge) {
            (Some((_, Stop::Empty)), _) => {
                format!("battery: empty after {end:.2} h of {whole:.2} h\n")
            }
            (_, Some(charge)) => {
                let left = charge.left();
                let more = match left < 1.0 {
                    true => {
                        let time = self.of_device().as_hours();
                        format!("; at this rate, {:.2} h on a charge", time / (1.0 - left))
                    }
                    false => String::new(),
                };
                format!("battery: {:.1} % left after {end:.2} h{more}\n", 100.0 * left)
            }
            (_, None) => format!("time of use: {end:.2} h\n"),
        }
    }

    /// Time of the device: requests of the last phase may end after it.
    fn of_device(&self) -> SimSpan {
        self.day.ledger.as_ref().map_or(SimSpan::ZERO, |it| it.duration())
    }

    /// Highest temperatures, and the time in which they limit the accelerators.
    fn heat(&self) -> String {
        let Some(body) = self.day.body.as_deref() else { return String::new() };
        let Some(capped) = body.spent(|section| section.capped) else { return String::new() };
        let highest: Vec<_> = body.highest().map(|(node, c)| format!("{node} {c:.1} C")).collect();
        let percent =
            |spent: SimSpan| 100.0 * spent.ns() as f64 / self.of_device().ns().max(1) as f64;
        let halted = body.spent(|section| section.halted).map_or(0.0, percent);
        let halted = if halted > 0.0 { format!(", {halted:.1} % halted") } else { String::new() };
        format!(
            "heat: highest {}{BREAK}{:.1} % of the time throttled{halted}\n",
            highest.join(", "),
            percent(capped)
        )
    }

    fn table(&self, style: Style) -> String {
        let rows = self.rows();
        let number = |value: Option<f64>, digits: usize| {
            value.map_or("-".into(), |value| format!("{value:.digits$}"))
        };
        let mut columns = Columns::<Row<'_>>::new()
            .text("phase", |row| row.name)
            .text("scenario", |row| row.scenario)
            .number("min", |row| format!("{:.1}", row.seconds() / 60.0))
            .number("score", move |row| number(row.score().map(|it| it.score), 4))
            .number("missed %", move |row| number(row.score().map(|it| missed(&it)), 2));
        if self.day.body.is_some() {
            columns = columns.number("mean W", move |row| number(row.watts(), 3));
        }
        let outside = |body: &Body| Some(body.outside()?.index());
        if let (Some(node), Some(name)) =
            (self.day.body.as_deref().and_then(outside), self.outside())
        {
            let c = move |row: &Row<'_>| row.section.map(|it| it.highest_c[node]);
            columns = columns.number(format!("{name} C"), move |row| number(c(row), 1));
        }
        if rows.iter().any(|row| row.capped().is_some_and(|it| it > 0.0)) {
            let percent = |row: &Row<'_>| row.capped().map(|it| 100.0 * it);
            columns = columns.number("throttled %", move |row| number(percent(row), 1));
        }
        if self.day.body.as_ref().is_some_and(|body| body.charge().is_some()) {
            let charge = |row: &Row<'_>| Some(100.0 * row.section?.charge?);
            columns = columns.number("charge %", move |row| number(charge(row), 1));
        }
        columns.of(rows).text(style)
    }

    /// `phases.csv`: a row for each phase that took place.
    pub fn phases(&self) -> Rows {
        let nodes = self.nodes();
        let some = |value: Option<f64>| value.map_or(String::new(), |it| it.to_string());
        let count =
            |of: fn(&Weighted) -> u64| move |row: &Row<'_>| row.score().map_or(0, |it| of(&it));
        let highest = move |row: &Row<'_>| {
            let at = |(node, c): (&&str, &f64)| format!("{node}={c}");
            let highest = row.section.map_or(&[][..], |it| &it.highest_c);
            nodes.iter().zip(highest).map(at).collect::<Vec<_>>().join(";")
        };
        Columns::<Row<'_>>::new()
            .number("phase", |row| row.number)
            .text("name", |row| row.name)
            .text("scenario", |row| row.scenario)
            .number("start_s", |row| row.result.begin.ns() as f64 / 1e9)
            .number("end_s", |row| row.result.end.ns() as f64 / 1e9)
            .number("score", move |row| some(row.score().map(|it| it.score)))
            .number("requests", count(|it| it.counts.requests))
            .number("executed", count(|it| it.counts.executed))
            .number("dropped", count(|it| it.counts.dropped))
            .number("late", count(|it| it.counts.late))
            .number("energy_j", move |row| some(row.section.map(|it| it.joules)))
            .number("mean_w", move |row| some(row.watts()))
            .text("highest_c", highest)
            .number("capped_share", move |row| some(row.capped()))
            .number("charge", move |row| some(row.section.and_then(|it| it.charge)))
            .of(self.rows())
            .into_rows()
    }

    /// `device.csv`: one row; `None` without a device.
    pub fn device(&self) -> Option<Rows> {
        let ledger = self.day.ledger.as_ref()?;
        let cells = device_cells(ledger, self.day.body.as_deref());
        let (names, cells): (Vec<_>, Vec<_>) = cells.into_iter().unzip();
        Some((names.into_iter().map(str::to_string).collect(), vec![cells]))
    }

    /// `course.csv`: the device over time, at most about 2,000 rows; `None` without a device.
    pub fn course(&self) -> Option<Rows> {
        let body = self.day.body.as_ref()?;
        let nodes = self.nodes().into_iter().map(|node| format!("{node}_c"));
        let header = ["time_s", "power_w"].map(str::to_string).into_iter().chain(nodes);
        let further = ["steps", "cap_mhz", "halted", "charge", "clock_share"];
        let header = header.chain(further.map(str::to_string));
        let row = |it: &Sample| {
            let numbers = [it.at.ns() as f64 / 1e9, it.watts];
            let mut row: Vec<_> =
                numbers.iter().chain(&it.temperatures).map(f64::to_string).collect();
            let some = |value: Option<f64>| value.map_or(String::new(), |it| it.to_string());
            row.extend([it.limit.steps.to_string(), some(it.limit.clock_mhz)]);
            row.extend([u8::from(it.limit.halt).to_string(), some(it.charge)]);
            row.push(self.clock_share(&it.limit).to_string());
            row
        };
        Some((header.collect(), body.samples().iter().map(row).collect()))
    }
}

impl DayReport<'_> {
    /// The highest clock under `limit` as a share of the highest clock, least of all accelerators; 0 if nothing may start on some accelerator.
    fn clock_share(&self, limit: &Limit) -> f64 {
        let share = |it: &Supplied| {
            let clocks = || it.points.all().iter().map(|point| point.clock.as_mhz());
            let allowed = clocks().nth(limit.highest(clocks()));
            allowed.zip(clocks().next_back()).map_or(1.0, |(allowed, highest)| allowed / highest)
        };
        if limit.halt { 0.0 } else { self.supplied.iter().map(share).fold(1.0, f64::min) }
    }

    /// The day as a figure over time: phases, temperatures with the limits of `trips` (nodes and temperatures \[C\]), power,
    /// charge and the limit of the clock; `None` without a device.
    pub fn chart(&self, trips: &[(String, f64)]) -> Option<Course> {
        let panels = course::panels(&self.course()?, trips);
        let phases = course::phases(&self.phases());
        let caption = Caption {
            subtitle: format!(
                "{} with {} PEs, {}, {}",
                self.system.name(),
                self.system.pes(),
                self.device.unwrap_or("no device"),
                self.scheduler
            ),
            ..course::caption(self.phases.name(), trips)
        };
        // Tables of this report are as they have to be.
        Some(course::figure(caption, phases.ok()?, panels.ok()?))
    }
}

fn missed(score: &Weighted) -> f64 {
    100.0 * score.missed()
}

fn hours(at: SimTime) -> f64 {
    (at - SimTime::ZERO).as_hours()
}
