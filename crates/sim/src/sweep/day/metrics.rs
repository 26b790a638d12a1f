//! Quantities by which runs of profiles are compared.

use crate::device::{Body, Item, Ledger, Section};
use xrsim_model::column::{Column, Kind};
use xrsim_model::hardware::Device;
use xrsim_model::units::SimSpan;

use super::{Day, Weighted};

/// Quantities of a run of a profile. Those of a device are `None` without one, or without the part of it that they are of.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct DayMetrics {
    /// Scores of the time that the run lasts.
    pub scores: Weighted,
    /// Score of the whole profile: the time after the device has stopped scores 0.
    pub profile_score: f64,
    /// Time that the run lasts \[h\].
    pub hours: f64,
    /// Energy of everything \[J\].
    pub energy_j: Option<f64>,
    /// Share of the accelerators in it \[0, 1\].
    pub accelerator_share: Option<f64>,
    /// Mean power \[W\].
    pub mean_w: Option<f64>,
    /// Highest mean power of a second \[W\].
    pub peak_w: Option<f64>,
    /// Highest temperature of the node that people feel \[C\].
    pub outside_c: Option<f64>,
    /// Share of the time in which trips took points from an accelerator or halted one \[0, 1\].
    pub capped_share: Option<f64>,
    /// Time in which nothing could start on some accelerator \[s\].
    pub halted_s: Option<f64>,
    /// Charge at the end \[0, 1\].
    pub charge_left: Option<f64>,
    /// Instant at which the device stopped \[s\]; `None` if it did not.
    pub stopped_at_s: Option<f64>,
    /// Names and highest temperatures of all nodes \[C\].
    pub highest_c: Vec<(Box<str>, f64)>,
}

/// A column of energy, power, temperature or time.
const fn of_device(
    name: &'static str,
    unit: &'static str,
    label: &'static str,
    value: fn(&DayMetrics) -> Option<f64>,
) -> Column<DayMetrics> {
    Column::quantity(name, unit, label, value)
}

impl DayMetrics {
    /// The quantities as columns, but for the temperatures of all nodes. Names are those of `device.csv` and `phases.csv`
    /// where these have them.
    pub const COLUMNS: &[Column<Self>] = &[
        Column::share("score", "Score", |it: &Self| Some(it.scores.score))
            .higher("score of the time that the run lasts"),
        Column::share("profile_score", "Score of the profile", |it: &Self| Some(it.profile_score))
            .higher("score of the whole profile; time after the device has stopped scores 0")
            .of_kind(Kind::Overall),
        Column::share("missed_share", "Missed requests", |it: &Self| Some(it.scores.missed()))
            .lower("share of the requests that were dropped or ended late"),
        of_device("hours", "h", "Time of use", |it| Some(it.hours))
            .higher("time that the run lasts"),
        of_device("energy_j", "J", "Energy", |it| it.energy_j).lower("energy of everything"),
        Column::share("accelerator_share", "Energy of the accelerators", |it: &Self| {
            it.accelerator_share
        })
        .lower("share of the accelerators in the energy"),
        of_device("mean_w", "W", "Mean power", |it| it.mean_w).lower("power on average"),
        of_device("peak_w", "W", "Peak power", |it| it.peak_w)
            .lower("highest mean power of a second"),
        of_device("outside_c", "C", "Highest temperature outside", |it| it.outside_c)
            .lower("highest temperature of the node that people feel"),
        Column::share("capped_share", "Throttled", |it: &Self| it.capped_share).lower(
            "share of the time in which trips took points from an accelerator or halted one",
        ),
        of_device("halted_s", "s", "Halted", |it| it.halted_s)
            .lower("time in which nothing could start on some accelerator"),
        Column::share("charge_left", "Charge left", |it: &Self| it.charge_left)
            .higher("charge of the battery at the end"),
        of_device("stopped_at_s", "s", "Stopped after", |it| it.stopped_at_s)
            .higher("instant at which the battery was empty; none if it was not"),
    ];

    /// The column called `name`.
    pub fn column(name: &str) -> Option<&'static Column<Self>> {
        Self::COLUMNS.iter().find(|column| column.name == name)
    }

    /// Whether every run on `device` has the quantity called `name`.
    pub fn is_of(name: &str, device: Option<&Device>) -> bool {
        match name {
            "score" | "profile_score" | "missed_share" | "hours" => true,
            "outside_c" | "capped_share" | "halted_s" => device.is_some_and(|it| it.heat.is_some()),
            "charge_left" => device.is_some_and(|it| it.battery.is_some()),
            "energy_j" | "accelerator_share" | "mean_w" | "peak_w" => device.is_some(),
            _ => false,
        }
    }

    /// The quantities of `day`, a run of a profile that lasts `whole`.
    pub fn of(day: &Day, whole: SimSpan) -> Self {
        let (scores, ledger, body) = (day.score(), day.ledger.as_deref(), day.body.as_deref());
        let seconds = |ns: u64| ns as f64 / 1e9;
        let time = seconds(day.end.ns());
        let spent = |of: fn(&Section) -> SimSpan| Some(seconds(body?.spent(of)?.ns()));
        let all = ledger.map_or(0.0, |it| seconds(it.duration().ns()));
        let highest = || body.into_iter().flat_map(Body::highest);
        let outside = body.and_then(Body::outside);
        Self {
            scores,
            profile_score: scores.score * (day.end.ns() as f64 / whole.ns().max(1) as f64),
            hours: time / 3600.0,
            energy_j: ledger.map(|it| it.total_microjoules() / 1e6),
            accelerator_share: ledger.and_then(share_of_accelerators),
            mean_w: ledger.map(Ledger::mean_w),
            peak_w: ledger.map(Ledger::peak_w),
            outside_c: outside.and_then(|node| Some(highest().nth(node.index())?.1)),
            capped_share: spent(|it| it.capped).filter(|_| all > 0.0).map(|capped| capped / all),
            halted_s: spent(|it| it.halted),
            charge_left: body.and_then(Body::charge).map(|charge| charge.left()),
            stopped_at_s: body.and_then(Body::stopped).map(|(at, _)| seconds(at.ns())),
            highest_c: highest().map(|(node, c)| (node.into(), c)).collect(),
        }
    }
}

/// Energy of the accelerators as a share of all \[0, 1\]; `None` without energy.
fn share_of_accelerators(ledger: &Ledger) -> Option<f64> {
    let beside = [Item::DramBackground, Item::Base].map(|item| ledger.microjoules(item));
    let all = ledger.total_microjoules();
    (all > 0.0).then(|| 1.0 - beside.iter().sum::<f64>() / all)
}
