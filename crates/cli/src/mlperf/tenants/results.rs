//! Results of tenants as a table, CSV, JSON and files.

use serde_json::{Map, Value, json};

use xrsim_mlperf::benchmark::{MultiTenantResult, TenantResult, TestOptions, Trial};
use xrsim_mlperf::logs::{LoggedRun, files};
use xrsim_mlperf::sut::Tenant;
use xrsim_report::mlperf::{TENANT_COLUMNS, verdict};
use xrsim_report::table::heading;

use super::super::super::message::Failure;
use super::super::super::options::Format;
use super::super::super::output::{self, OutputSet};
use super::super::super::record;
use super::super::logs;
use super::super::results::{device_document, once, powers, reason, short, unscored, write_device};
use super::super::target::Accelerators;
use super::Asked;

/// Results of all tenants.
pub(super) struct Results<'a> {
    pub(super) system: String,
    pub(super) accelerators: &'a Accelerators,
    pub(super) options: &'a TestOptions,
    /// SHA-256 of the files that were read.
    pub(super) inputs: Map<String, Value>,
    pub(super) asked: &'a [Asked<'a>],
    pub(super) measured: MultiTenantResult,
}

/// Columns of the queries of a tenant.
const QUERY_COLUMNS: &str = "query,scheduled_ns,completed_ns,latency_ns";

/// Path in `--out` of a file of a tenant, counted from 1.
fn file(tenant: usize, asked: &Asked<'_>, name: &str) -> String {
    format!("{tenant}_{}/{name}", asked.test.task.name)
}

/// Every file of `--out` for these tenants.
pub(super) fn files(asked: &[Asked<'_>], has_device: bool) -> Vec<String> {
    let of_tenant = |(index, asked)| {
        let names = files::LOGS.into_iter().chain([files::QUERIES]);
        names.map(|name| file(index + 1, asked, name)).collect::<Vec<_>>()
    };
    let tenants = asked.iter().enumerate().flat_map(of_tenant);
    let whole =
        [files::TENANTS, files::RECORD].into_iter().chain(has_device.then_some(files::DEVICE));
    tenants.chain(whole.map(String::from)).collect()
}

impl Results<'_> {
    /// Prints all results.
    ///
    /// # Errors
    ///
    /// Output that cannot be printed.
    pub(super) fn print(&self, format: Format) -> Result<(), Failure> {
        format.print(|| self.text(), || self.json(), || self.csv())
    }

    fn rows(&self) -> impl Iterator<Item = (usize, &Asked<'_>, &TenantResult)> {
        let pairs = self.asked.iter().zip(&self.measured.tenants).enumerate();
        pairs.map(|(index, (asked, result))| (index + 1, asked, result))
    }

    /// The cells of [`TENANT_COLUMNS`].
    fn cells(&self, number: impl Fn(f64) -> String) -> Vec<Vec<String>> {
        let row = |(tenant, asked, result): (usize, &Asked<'_>, &TenantResult)| {
            let it = &result.performance;
            // A test that the device ended has no results.
            let measured = |value: f64| match it.validity.is_finished {
                true => number(value),
                false => String::new(),
            };
            let [p50, p90, _, _, p99, _] = it.latency.percentiles.map(|it| measured(it.as_ms()));
            let queries = it.queries as f64;
            vec![
                tenant.to_string(),
                asked.test.task.name.to_string(),
                verdict(result.is_valid()).into(),
                it.scheduled_rate().map_or(String::new(), measured),
                it.completed_rate().map_or(String::new(), measured),
                p50,
                p90,
                p99,
                number(asked.tenant.relative_deadline.as_ms()),
                measured(100.0 * it.overlatency as f64 / queries),
                measured(result.energy.get() / queries),
                it.queries.to_string(),
            ]
        };
        self.rows().map(row).collect()
    }

    fn text(&self) -> String {
        let header = TENANT_COLUMNS.map(heading);
        let scheduler = self.accelerators.scheduler.label();
        let shown = |cell: String| if cell.is_empty() { "n/a".into() } else { cell };
        let rows =
            self.cells(short).into_iter().map(|row| row.into_iter().map(shown).collect::<Vec<_>>());
        let mut text = format!(
            "tenants at once under the rules of {} on {}, {scheduler}\n{}",
            self.options.round.name,
            self.system,
            output::table_text(&header, rows, 3)
        );
        if !self.measured.trials.is_empty() {
            let factor = short(self.measured.factor);
            text.push_str(
                &match self.measured.tenants.iter().all(TenantResult::meets_constraint) {
                    true => format!("all bounds hold at up to {factor} times the rates given\n"),
                    false => {
                        format!("not all bounds hold even at {factor} times the rates given\n")
                    }
                },
            );
        }
        for (tenant, asked, result) in self.rows().filter(|(.., result)| !result.is_valid()) {
            let reason = self.reason_of(result);
            text.push_str(&format!("{tenant}, {}: {reason}\n", asked.test.task.name));
        }
        if let Some(scenario) = self.accelerators.beside() {
            text.push_str(&match &self.measured.background {
                Some(beside) => format!(
                    "{scenario} beside scores {:.3}, {:.3} without the tenants\n",
                    beside.with_queries.score_executed_mean, beside.alone.score_executed_mean
                ),
                None => unscored(scenario),
            });
        }
        let settings = self.measured.tenants.iter().map(|result| &result.settings);
        let tasks = self.rows().map(|(_, asked, _)| &*asked.test.task);
        let device = self.measured.device.iter();
        text + &powers(self.accelerators.device_name(), device)
            + &self.accelerators.assumed(tasks)
            + &once(settings, self.options.round)
    }

    fn csv(&self) -> String {
        output::csv_text(&TENANT_COLUMNS, &self.cells(xrsim_model::text::cell))
    }

    fn json(&self) -> Map<String, Value> {
        let tenants = self.rows().map(|(tenant, asked, result)| {
            let it = &result.performance;
            let measured = |value: f64| it.validity.is_finished.then_some(value);
            json!({
                "tenant": tenant, "task": asked.test.task.name, "verdict": verdict(result.is_valid()),
                "reason": (!result.is_valid()).then(|| self.reason_of(result)),
                "scheduled_qps": it.scheduled_rate().and_then(measured),
                "completed_qps": it.completed_rate().and_then(measured),
                "percentile": asked.load.settings.percentile.get(),
                "latency_ms": measured(it.latency.target.as_ms()), "bound_ms": asked.tenant.relative_deadline.as_ms(),
                "late": it.overlatency, "queries": it.queries, "energy_mj": measured(result.energy.get()),
                "max_batch": asked.tenant.batching.max,
                "batch_wait_ms": asked.tenant.batching.wait.as_ms(),
            })
        });
        let trial = |trial: &Trial| json!({"factor": trial.value, "passes": trial.passes});
        let mut record = record::of_results(json!({
            "command_line": super::super::super::cluster::line("mlperf"),
            "round": self.options.round.name, "system": self.system,
            "cost_model": self.accelerators.costs.name,
            "scheduler": &**self.accelerators.scheduler.label(),
            "factor": self.measured.factor,
            "trials": self.measured.trials.iter().map(trial).collect::<Vec<_>>(),
            "beside_score": self.measured.background.map(|it| it.with_queries.score_executed_mean),
            "beside_score_alone": self.measured.background.map(|it| it.alone.score_executed_mean),
            "inputs_sha256": self.inputs, "tenants": tenants.collect::<Vec<Value>>(),
        }));
        let networks = self.rows().map(|(_, asked, _)| {
            let Tenant { network, batching, .. } = &asked.tenant;
            (&**network, batching.max)
        });
        self.accelerators.record(networks, &mut record);
        if let Some(device) = &self.measured.device {
            record.insert("device_account".into(), device_document(device));
        }
        record
    }

    fn reason_of(&self, result: &TenantResult) -> String {
        match &self.measured.device {
            Some(device) if !result.performance.validity.is_finished => device.why_stopped(),
            _ => reason(&result.settings, &result.performance, result.unsustained.as_ref()),
        }
    }

    /// Writes a folder for each tenant and the table of all tenants.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub(super) fn write(&self, mut set: OutputSet) -> Result<(), Failure> {
        for (tenant, asked, result) in self.rows() {
            let place = |name: &str| file(tenant, asked, name);
            let (settings, performance) = (&result.settings, &result.performance);
            logs::write(
                &mut set,
                place,
                settings,
                &LoggedRun::of_tenant(result),
                performance,
                &self.system,
            )?;
            let queries = result.queries.iter().enumerate().map(|(query, (due, done))| {
                [query as u64, due.ns(), done.ns(), done.saturating_since(*due).ns()]
            });
            logs::write_queries(&mut set, &place(files::QUERIES), QUERY_COLUMNS, queries)?;
        }
        set.bytes(files::TENANTS, self.csv().as_bytes())?;
        let rows = self.measured.device.iter().map(|run| ([], run));
        let device = write_device(&mut set, rows)?;
        let files = format_args!("{}{device} and a folder for every tenant", files::TENANTS);
        set.commit_and_say(files::RECORD, self.json(), files)
    }
}
