//! The option `--tenant TASK:KEY=VALUE,..`.

use std::collections::BTreeMap;
use std::sync::Arc;

use xrsim_mlperf::benchmark::{TenantTest, TestOptions};
use xrsim_mlperf::load::{Arrivals, Bursts};
use xrsim_mlperf::rules::{Load, Suite, Test};
use xrsim_mlperf::settings::{EffectiveSettings, LoadScenario, QuerySampleLibrary};
use xrsim_mlperf::sut::{Batching, Tenant};
use xrsim_model::units::SimSpan;

use super::super::super::key_values;
use super::super::super::message::Failure;
use super::super::known_task;
use super::super::options::MlperfArgs;
use super::super::target::wait;
use super::Asked;

const KEYS: [&str; 10] = [
    "qps",
    "arrivals",
    "burst_qps",
    "burst_ms",
    "period_ms",
    "group",
    "bound_ms",
    "percentile",
    "max_batch",
    "batch_wait_ms",
];

/// Option of one tenant.
pub(super) struct TenantOption<'a> {
    option: String,
    test: &'a Test,
    values: BTreeMap<&'static str, &'a str>,
    args: &'a MlperfArgs,
    options: &'a TestOptions,
}

impl<'a> TenantOption<'a> {
    /// Reads `text`.
    ///
    /// # Errors
    ///
    /// An unknown task or key.
    pub(super) fn new(
        text: &'a str,
        args: &'a MlperfArgs,
        suite: &'a Suite,
        options: &'a TestOptions,
    ) -> Result<Self, Failure> {
        let (task, values) = text.split_once(':').unwrap_or((text, ""));
        let of_task = |test: &&Test| *test.task.name == *task;
        let is_server = |test: &&Test| matches!(test.load, Load::Server { .. });
        let server = suite.tests.iter().filter(of_task).find(is_server);
        let test = server.map_or_else(|| known_task(suite, task), Ok)?;
        let option = format!("--tenant {task}");
        let values = key_values::parse(&option, values, &KEYS)?;
        Ok(Self { option, test, values, args, options })
    }

    fn number(&self, key: &str) -> Result<Option<f64>, Failure> {
        key_values::number(&self.option, &self.values, key)
    }

    fn ms(&self, key: &str) -> Result<Option<SimSpan>, Failure> {
        let ms = self.number(key)?;
        ms.map(|ms| wait(&format!("{key} of {}", self.option), ms)).transpose()
    }

    /// A whole number from 1 to `most`.
    fn count(&self, key: &str, most: u32) -> Result<Option<u32>, Failure> {
        let parse = |text: &&str| {
            text.parse()
                .ok()
                .filter(|count| (1..=most).contains(count))
                .ok_or_else(|| self.wrong(key, text, &format!("a whole number from 1 to {most}")))
        };
        self.values.get(key).map(parse).transpose()
    }

    fn wrong(&self, key: &str, found: &str, allowed: &str) -> Failure {
        Failure::Argument(format!("{}: {key} is `{found}`; allowed is {allowed}", self.option))
    }

    fn missing(&self, key: &str, what: &str) -> Failure {
        Failure::Argument(format!("{} needs {key}, {what}", self.option))
    }

    fn arrivals(&self) -> Result<Arrivals, Failure> {
        let qps = self.number("qps")?;
        let burst = ["burst_qps", "burst_ms", "period_ms"];
        if burst.iter().chain(&["group"]).any(|key| self.values.contains_key(key)) {
            if self.values.contains_key("arrivals") {
                refuse!("{}: bursts have Poisson arrivals; leave out arrivals", self.option);
            }
            let within = self.number("burst_qps")?;
            let within = within.ok_or_else(|| self.missing(burst[0], "the rate within a burst"))?;
            let length = self.ms("burst_ms")?;
            let length = length.ok_or_else(|| self.missing(burst[1], "how long a burst lasts"))?;
            let period = self.ms("period_ms")?;
            let period = period.ok_or_else(|| {
                self.missing(burst[2], "from the begin of a burst to that of the next")
            })?;
            let group = self.count("group", u32::MAX)?.unwrap_or(1);
            let bursts = Bursts::new(period, length, [within, qps.unwrap_or(0.0)], group);
            let failure = |error| Failure::Argument(format!("{}: {error}", self.option));
            return bursts.map(Arrivals::Bursts).map_err(failure);
        }
        let qps = qps.ok_or_else(|| self.missing("qps", "queries per second"))?;
        if !(1e-9..=1e9).contains(&qps) {
            return Err(self.wrong("qps", &qps.to_string(), "a number from 1e-9 to 1e9"));
        }
        match self.values.get("arrivals") {
            None | Some(&"poisson") => Ok(Arrivals::Poisson(qps)),
            Some(&"periodic") => Ok(Arrivals::Periodic(SimSpan::from_ns((1e9 / qps) as u64))),
            Some(other) => Err(self.wrong("arrivals", other, "poisson or periodic")),
        }
    }

    /// Given latency bound, or that of the server test of the task.
    fn bound(&self) -> Result<SimSpan, Failure> {
        match (self.ms("bound_ms")?, self.test.load) {
            (Some(bound), _) => Ok(bound),
            (None, Load::Server { bound, .. }) => Ok(bound),
            _ => {
                Err(self.missing("bound_ms", "the latency bound, as the task has none of a server"))
            }
        }
    }

    /// Requested tenant.
    ///
    /// # Errors
    ///
    /// An invalid or missing value.
    pub(super) fn tenant(&self) -> Result<Asked<'a>, Failure> {
        let bound = self.bound()?;
        let wait = self.ms("batch_wait_ms")?;
        let wait = wait.map_or_else(|| wait_of(self.args), Ok)?;
        let max = self.count("max_batch", Batching::MAX)?.unwrap_or(self.args.max_batch);
        let load = TenantTest { arrivals: self.arrivals()?, settings: self.settings(bound)? };
        let network = Arc::clone(&self.test.task.network);
        let tenant = Tenant { network, batching: Batching { max, wait }, relative_deadline: bound };
        Ok(Asked { test: self.test, tenant, load })
    }

    /// LoadGen's settings of a server with this latency bound. All tenants last equally long, which replaces
    /// a minimum number of queries.
    fn settings(&self, bound: SimSpan) -> Result<EffectiveSettings, Failure> {
        let Self { test, options, .. } = self;
        let percentile = match (self.number("percentile")?, test.load) {
            (Some(percent), _) => percent * 0.01,
            (None, Load::Server { .. }) => test.percentile.unwrap_or(0.99),
            _ => 0.99,
        };
        let samples = test.task.performance_samples;
        let mut requested = options.round.settings(LoadScenario::Server, percentile, samples);
        requested.server_target_qps = self.arrivals()?.mean_rate();
        requested.server_target_latency_ns = bound.ns();
        requested.min_query_count = 1;
        if let Some(duration) = options.min_duration {
            requested.min_duration_ms = duration.ns() / 1_000_000;
        } else if !options.counts_of_round {
            requested.min_duration_ms = test.min_duration.ns() / 1_000_000;
        }
        if requested.min_duration_ms == 0 && options.min_queries.is_none() {
            refuse!("tenants play for a time; --min-duration must be at least 0.001 s");
        }
        let library = QuerySampleLibrary { performance_samples: samples, total_samples: samples };
        EffectiveSettings::new(&requested, library, options.round.loadgen)
            .map_err(|error| Failure::Argument(format!("{}: {error}", self.option)))
    }
}

fn wait_of(args: &MlperfArgs) -> Result<SimSpan, Failure> {
    wait("--batch-wait", args.batch_wait)
}
