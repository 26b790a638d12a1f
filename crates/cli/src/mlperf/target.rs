//! System under test: accelerators with a scheduler, or servers of a known service time.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use xrsim_config::{Catalog, Edition, Hardware, ServiceTables, service_csv};
use xrsim_experiment::{self as experiment, DEFAULT_PLATFORM, NamedCostModel};
use xrsim_mlperf::benchmark::{AcceleratorBed, ServerBed, TestBed};
use xrsim_mlperf::rules::{Task, Test};
use xrsim_mlperf::sut::{Background, Batching, ServiceTime, Tenant};
use xrsim_model::cost::loop_nest::Family;
use xrsim_model::cost::{ChosenMappings, NetworkCost};
use xrsim_model::hardware::{Device, System};
use xrsim_model::model::Network;
use xrsim_model::units::SimSpan;
use xrsim_sim::schedule::Policy;

use super::super::assumed;
use super::super::costs::{warn, warn_of_fixed_mappings};
use super::super::mappings::Mappings;
use super::super::message::{Failure, hint};
use super::options::{MlperfArgs, parameters};

/// System under test with its batching.
pub(super) struct Target {
    pub kind: Kind,
    pub batching: Batching,
}

/// Kind of a system under test.
pub(super) enum Kind {
    /// Accelerators with a scheduler.
    Accelerators(Box<Accelerators>),
    /// Servers of a known service time, by task.
    Servers {
        /// Name that the user gave.
        name: String,
        tables: ServiceTables,
        servers: u32,
    },
}

/// Accelerators with a scheduler.
pub(super) struct Accelerators {
    pub system: Arc<System>,
    pub costs: NamedCostModel,
    pub scheduler: Policy,
    pub background: Option<Background>,
    pub device: Option<Arc<Device>>,
    /// Platform of a style.
    platform: Option<String>,
}

impl Target {
    /// The system that `args` name.
    ///
    /// # Errors
    ///
    /// Unknown names and bad values.
    pub(super) fn new(args: &MlperfArgs, catalog: &mut Catalog) -> Result<Self, Failure> {
        let batching =
            Batching { max: args.max_batch, wait: wait("--batch-wait", args.batch_wait)? };
        let kind = match &args.service {
            None => Kind::Accelerators(Box::new(Accelerators::new(args, catalog)?)),
            Some(service) => Kind::Servers {
                name: service.clone(),
                tables: tables(service, catalog)?,
                servers: args.servers,
            },
        };
        Ok(Self { kind, batching })
    }

    /// The accelerators; `None` for servers of a known latency.
    pub(super) fn accelerators(&self) -> Option<&Accelerators> {
        match &self.kind {
            Kind::Accelerators(accelerators) => Some(accelerators),
            Kind::Servers { .. } => None,
        }
    }

    /// Warns of rows of a table of costs that look like mistakes.
    pub(super) fn warn<'a>(&self, catalog: &Catalog, networks: impl Iterator<Item = &'a str>) {
        if let Some(it) = self.accelerators() {
            warn(&it.costs, catalog, networks, it.system.accelerators().iter());
        }
    }

    /// Test bed of a test.
    ///
    /// # Errors
    ///
    /// A network that cannot run on the system, or a task without measured times.
    pub(super) fn bed(&self, test: &Test) -> Result<Box<dyn TestBed>, Failure> {
        match &self.kind {
            Kind::Accelerators(accelerators) => {
                let tenant = Tenant::of_test(test, self.batching);
                Ok(Box::new(accelerators.bed(vec![tenant])?))
            }
            Kind::Servers { name, tables, servers } => {
                let time = tables.of(&test.task.name).ok_or_else(|| {
                    let task = &test.task.name;
                    let message =
                        format!("{name} has no row of the task {task}; choose with --task");
                    Failure::Argument(message)
                })?;
                if self.batching.max > 1 && time.depends_on_sample() {
                    refuse!(
                        "{name} has latencies by sample, which say nothing of --max-batch {}",
                        self.batching.max
                    );
                }
                Ok(Box::new(ServerBed::new(time.clone(), *servers as usize, self.batching)))
            }
        }
    }

    /// Name of the system in results.
    pub(super) fn name(&self) -> String {
        match &self.kind {
            Kind::Accelerators(it) => format!("{}@{}", it.system.name(), it.system.pes()),
            Kind::Servers { name, servers: 1, .. } => name.clone(),
            Kind::Servers { name, servers, .. } => format!("{servers} x {name}"),
        }
    }

    /// Names of the cost model and the scheduler in results.
    pub(super) fn model_and_scheduler(&self) -> (&str, &str) {
        match &self.kind {
            Kind::Accelerators(it) => (&it.costs.name, it.scheduler.label()),
            Kind::Servers { .. } => ("service", "first come, first served"),
        }
    }

    /// Lines that say what the costs of `tasks` assume; empty for servers of a known latency.
    pub(super) fn assumed<'a>(&'a self, tasks: impl Iterator<Item = &'a Task>) -> String {
        self.accelerators().map_or(String::new(), |it| it.assumed(tasks))
    }

    /// Adds flexibility, objective and effort of the accelerators to a record, and the mappings of `tasks`.
    pub(super) fn record<'a>(
        &self,
        tasks: impl Iterator<Item = &'a Task>,
        record: &mut Map<String, Value>,
    ) {
        let networks = tasks.map(|task| (&*task.network, self.batching.max));
        match self.accelerators() {
            Some(it) => it.record(networks, record),
            None => {
                let keys = ["flexibility", "mapping_objective"];
                record.extend(keys.map(|key| (key.into(), Value::Null)));
            }
        }
    }

    /// Name of the usage scenario in the background.
    pub(super) fn beside(&self) -> Option<&str> {
        self.accelerators()?.beside()
    }

    /// Name of the device.
    pub(super) fn device_name(&self) -> Option<&str> {
        self.accelerators()?.device_name()
    }
}

impl Accelerators {
    /// Adds flexibility, objective and effort to a record, and the mappings of `networks`, each with its largest batch.
    pub(super) fn record<'a>(
        &self,
        networks: impl Iterator<Item = (&'a Network, u32)>,
        record: &mut Map<String, Value>,
    ) {
        let Self { system, costs, .. } = self;
        let flexibility = experiment::flexibility_of(system, costs);
        record.insert("flexibility".into(), json!(flexibility));
        record.insert("mapping_objective".into(), json!(experiment::objective_of(system, costs)));
        let effort = experiment::effort_of(system, costs);
        record.extend(effort.map(|effort| ("mapping_effort".into(), json!(effort))));
        record.extend(self.device_name().map(|device| ("device".into(), json!(device))));
        Mappings::of(&self.chosen(networks)).add_to(record);
    }

    /// Mappings of `networks` with batches of one sample and of the most, and those of the usage scenario.
    fn chosen<'a>(&self, networks: impl Iterator<Item = (&'a Network, u32)>) -> ChosenMappings {
        let mut chosen = ChosenMappings::default();
        let models = self.background.iter().flat_map(|it| it.scenario.models());
        let alone = models.map(|model| (*model.unit.network).clone());
        let batched = networks.flat_map(|(network, most)| {
            let sizes = if most > 1 { vec![1, most] } else { vec![1] };
            sizes.into_iter().filter_map(|size| network.batched(size).ok())
        });
        for network in alone.chain(batched) {
            for accelerator in self.system.accelerators() {
                // They were found before, and are known.
                let cost = self.costs.model.network(&network, accelerator).ok();
                if let Some(choices) = cost.as_ref().and_then(NetworkCost::choices) {
                    chosen.note(accelerator, &network, choices);
                }
            }
        }
        chosen
    }

    /// Lines that say what the costs of `tasks` assume.
    pub(super) fn assumed<'a>(&'a self, tasks: impl Iterator<Item = &'a Task>) -> String {
        let mut choices = vec![("flexibility", assumed::flexibility(&self.system, &self.costs))];
        choices.extend(self.platform.clone().map(|name| ("platform", name)));
        choices.extend(assumed::drams([&*self.system].into_iter()));
        choices.extend(self.device_name().map(|name| ("device", name.into())));
        choices.push(("cost model", self.costs.name.clone()));
        choices.push(("scheduler", self.scheduler.label().to_string()));
        let models = self.background.iter().flat_map(|it| it.scenario.models());
        let models = models.map(|model| (&*model.unit.task, &*model.unit.network));
        let networks = tasks.map(|task| (&*task.name, &*task.network)).chain(models);
        assumed::line("mlperf", &choices) + &assumed::parameters_of(networks)
    }

    /// Name of the device.
    pub(super) fn device_name(&self) -> Option<&str> {
        self.device.as_ref().map(|device| &*device.name)
    }

    /// Name of the usage scenario in the background.
    pub(super) fn beside(&self) -> Option<&str> {
        self.background.as_ref().map(|it| it.scenario.name())
    }

    /// The system that `args` name.
    ///
    /// # Errors
    ///
    /// Unknown names and bad values.
    pub(super) fn new(args: &MlperfArgs, catalog: &mut Catalog) -> Result<Self, Failure> {
        let name = args.platform.as_deref().unwrap_or(DEFAULT_PLATFORM);
        let platform = catalog.platform(name)?;
        let mut platform_of_style = None;
        let system = match catalog.hardware(&args.system)? {
            Hardware::Style(style) => {
                platform_of_style = Some(name.to_string());
                let system = style.instantiate(args.pes, &platform);
                Arc::new(system.map_err(super::super::argument)?)
            }
            Hardware::System(system) => system,
            Hardware::Instances(_) => {
                refuse!("--system takes a style or a system file, not a hardware file (.m)");
            }
        };
        let system = experiment::mapped(system, &args.mapping.settings())?;
        let background = args.beside.as_deref().map(|name| {
            let edition = Edition::Reference;
            let scenario = catalog.scenario_with(name, edition, &parameters(&args.set)?)?;
            Ok::<_, Failure>(Background::new(scenario, args.seed))
        });
        let scheduler = experiment::scheduler(args.scheduler.as_deref().unwrap_or("fcfs"))?;
        scheduler.renamed().iter().copied().for_each(hint);
        let device = args.device.as_deref().map(|name| catalog.device(name)).transpose()?;
        experiment::check_device(device.as_deref(), &system, &scheduler)?;
        AcceleratorBed::check_scheduler(&scheduler).map_err(super::super::argument)?;
        let costs =
            NamedCostModel::find(catalog, args.cost_model.as_deref().unwrap_or("loop-nest"))?;
        let costs = costs.with_effort(args.mapping.effort());
        let costs = costs.among(Family::new(system.accelerators(), []));
        warn_of_fixed_mappings(&costs, args.mapping.settings());
        let (background, platform) = (background.transpose()?, platform_of_style);
        Ok(Self { system, costs, scheduler, background, device, platform })
    }

    /// Test bed of `tenants`.
    ///
    /// # Errors
    ///
    /// A network that cannot run on the system.
    pub(super) fn bed(&self, tenants: Vec<Tenant>) -> Result<AcceleratorBed, Failure> {
        AcceleratorBed::builder(Arc::clone(&self.system), &*self.costs.model)
            .tenants(tenants)
            .background(self.background.clone())
            .scheduler(self.scheduler.clone())
            .device(self.device.clone())
            .build()
            .map_err(super::super::argument)
    }
}

/// Range of [`wait`].
const WAIT: &str = "a number of ms from 0 to 9007199254";

/// A time in milliseconds, as `option` gives it.
///
/// # Errors
///
/// A negative time, or text that is not a number.
pub(super) fn wait(option: &str, ms: f64) -> Result<SimSpan, Failure> {
    SimSpan::from_ms(ms)
        .ok_or_else(|| Failure::Argument(format!("{option} is {ms}; allowed is {WAIT}")))
}

/// Service times that `text` names.
fn tables(text: &str, catalog: &mut Catalog) -> Result<ServiceTables, Failure> {
    if Path::new(text).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
        let source = catalog.read(Path::new(text))?;
        return Ok(service_csv::parse(&source)?);
    }
    let (name, values) = text.split_once(':').unwrap_or((text, ""));
    let keys: &[&str] = match name {
        "constant" => &["ms"],
        "batch" => &["ms", "sample_ms"],
        _ => {
            let known = ["constant:ms=L", "batch:ms=A,sample_ms=B", "FILE.csv"];
            return Err(super::super::unknown("service", name, known.into_iter()));
        }
    };
    let values = super::super::key_values::parse("--service", values, keys)?;
    let span = |key: &str| {
        let text = values.get(key).ok_or_else(|| {
            Failure::Argument(format!("--service {name} needs {key}, a number of ms"))
        })?;
        let option = format!("--service {name}");
        let ms: f64 = text.parse().map_err(|_| {
            Failure::Argument(format!("{option}: {key} is `{text}`; allowed is {WAIT}"))
        })?;
        wait(&format!("{key} of {option}"), ms)
    };
    Ok(ServiceTables::of_all(match name {
        "constant" => ServiceTime::Constant(span("ms")?),
        _ => ServiceTime::Batch { per_call: span("ms")?, per_sample: span("sample_ms")? },
    }))
}
