//! Energy of a run by item: `device.csv`, a row for each run on a device.

use serde_json::Value as Json;

use super::fields::{Field, Value};
use xrsim_model::units::SimSpan;
use xrsim_sim::device::{Body, Item, Ledger, Section};

/// Row of a run on a device.
pub(super) struct DeviceRow<'r> {
    pub(super) ledger: &'r Ledger,
    pub(super) body: Option<&'r Body>,
    /// Highest temperatures of the nodes \[C\]: `die=80.1;skin=42.9`.
    pub(super) highest: String,
    /// Shares of the running time by clock: `700=0.25;1000=0.75`.
    pub(super) shares: String,
}

impl<'r> DeviceRow<'r> {
    pub(super) fn new(ledger: &'r Ledger, body: Option<&'r Body>) -> Self {
        let share = |(mhz, share): (f64, f64)| format!("{mhz}={share}");
        let shares: Vec<_> = ledger.shares_by_clock().into_iter().map(share).collect();
        let highest = highest(body.into_iter().flat_map(Body::highest));
        Self { ledger, body, highest, shares: shares.join(";") }
    }

    /// Time of all sections \[s\]; `None` without temperatures.
    pub(super) fn spent(&self, of: fn(&Section) -> SimSpan) -> Option<f64> {
        Some(seconds(self.body?.spent(of)?.ns()))
    }

    /// The same as a share of the run.
    pub(super) fn share(&self, of: fn(&Section) -> SimSpan) -> Option<f64> {
        let all = seconds(self.ledger.duration().ns());
        self.spent(of).filter(|_| all > 0.0).map(|spent| spent / all)
    }

    /// Energy of an item \[J\].
    pub(super) fn joules(&self, item: Item) -> Option<f64> {
        Some(self.ledger.microjoules(item) / 1e6)
    }
}

/// Highest temperatures of nodes \[C\]: `die=80.1;skin=42.9`.
pub(super) fn highest<'n>(nodes: impl Iterator<Item = (&'n str, f64)>) -> String {
    nodes.map(|(node, c)| format!("{node}={c}")).collect::<Vec<_>>().join(";")
}

/// Column of these temperatures in rows of sweeps.
pub(super) const HIGHEST: Field<String> = Field::new("highest_c", Value::Text(|it| it));

/// Column of the instant at which the device stopped, in rows of sweeps.
pub(super) const STOPPED: Field<Option<f64>> =
    Field::<Option<f64>>::new("stopped_at_s", Value::Number(|it| *it)).later();

/// Instant at which a device stopped \[s\].
pub(super) fn stopped_at_s(body: Option<&Body>) -> Option<f64> {
    Some(seconds(body?.stopped()?.0.ns()))
}

pub(super) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Columns of `device.csv` after the label of a run, with their cells.
pub fn device_cells(ledger: &Ledger, body: Option<&Body>) -> Vec<(&'static str, String)> {
    let cell = |value| match value {
        Json::Null => String::new(),
        Json::String(text) => text,
        other => other.to_string(),
    };
    device_values(ledger, body).into_iter().map(|(name, value)| (name, cell(value))).collect()
}

/// The same columns with values of JSON.
pub fn device_values(ledger: &Ledger, body: Option<&Body>) -> Vec<(&'static str, Json)> {
    let row = DeviceRow::new(ledger, body);
    DeviceRow::COLUMNS.iter().map(|field| (field.name, field.json(&row))).collect()
}

impl DeviceRow<'_> {
    pub(super) const COLUMNS: [Field<Self>; 21] = [
        Field::new("duration_s", Value::Number(|it| Some(it.ledger.duration().ns() as f64 / 1e9))),
        Field::new("energy_j", Value::Number(|it| Some(it.ledger.total_microjoules() / 1e6))),
        Field::new("dynamic_j", Value::Number(|it| it.joules(Item::Dynamic))),
        Field::new("moved_j", Value::Number(|it| it.joules(Item::Moved))),
        Field::new("wake_j", Value::Number(|it| it.joules(Item::Wake))),
        Field::new("leak_running_j", Value::Number(|it| it.joules(Item::LeakRunning))),
        Field::new("idle_j", Value::Number(|it| it.joules(Item::Idle))),
        Field::new("gated_j", Value::Number(|it| it.joules(Item::Gated))),
        Field::new("dram_background_j", Value::Number(|it| it.joules(Item::DramBackground))),
        Field::new("base_j", Value::Number(|it| it.joules(Item::Base))),
        Field::new("mean_w", Value::Number(|it| Some(it.ledger.mean_w()))),
        Field::new("peak_w", Value::Number(|it| Some(it.ledger.peak_w()))),
        Field::new("transitions", Value::Whole(|it| it.ledger.transitions)),
        Field::new("wakes", Value::Whole(|it| it.ledger.wakes)),
        Field::new("share_by_mhz", Value::Text(|it| &it.shares)),
        Field::new("battery_loss_j", Value::Number(|it| Some(it.body?.charge()?.loss_j()))),
        Field::new("charge_left", Value::Number(|it| Some(it.body?.charge()?.left()))),
        Field::new("stopped_at_s", Value::Number(|it| stopped_at_s(it.body))),
        Field::new("highest_c", Value::Text(|it| &it.highest)),
        Field::new("capped_share", Value::Number(|it| it.share(|section| section.capped))),
        Field::new("halted_s", Value::Number(|it| it.spent(|section| section.halted))),
    ];
}
