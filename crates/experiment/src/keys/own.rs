//! Keys with an option of their own, and the replication.

use serde_json::json;

use xrsim_config::Edition;
use xrsim_model::cost;
use xrsim_model::hardware::{Accelerator, Dram, Flexibility, MappingObjective, Technology};
use xrsim_model::mapper::Effort;
use xrsim_model::renamed::Renamed;
use xrsim_model::units::SimSpan;
use xrsim_sim::external;
use xrsim_sim::plan::{Ablation, Semantics};
use xrsim_sim::schedule::PolicyError;

use super::values::{names, value};
use super::{Allowed, KEY, Key, KeyOption, Set, Several, Slip, field, word};

/// Names of the semantics.
pub(crate) const SEMANTICS: [(&str, Semantics); 2] =
    [("principled", Semantics::Principled), ("mlsys2023", Semantics::Mlsys2023)];

/// Names of the editions of networks.
pub(crate) const EDITIONS: [(&str, Edition); 2] =
    [("reference", Edition::Reference), ("artifact", Edition::Artifact)];

const EFFORTS: [(&str, Effort); 3] = Effort::ALL;

/// Values of the old key `hardware.dram_unpartitioned`.
const DRAM_UNPARTITIONED: [Renamed; 2] = [
    Renamed { kind: "dram", old: UNPARTITIONED, new: "shared" },
    Renamed { kind: "dram", old: "false", new: "split" },
];

/// Old name of `dram: shared`, which did not limit what all accelerators have together.
pub(crate) const UNPARTITIONED: &str = "true";

/// The keys, in the order in which options of a sweep vary, the first one slowest.
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "scenario",
        help: "usage scenario: a name or a file",
        allowed: Allowed::Text("a name (`xrsim list scenarios`) or a file"),
        default: Some("the seven of the suite"),
        option: Some(KeyOption::several("scenario", "S", Several::Runs)),
        in_mlsys2023: true,
        set: Set::Value(|s, text| some(&mut s.scenario, text)),
        ..KEY
    },
    Key {
        name: "profile",
        help: "profile in place of scenarios, hours of use: a name or a file",
        allowed: Allowed::Text("a name (`xrsim list profiles`) or a file"),
        default: Some("none"),
        option: Some(KeyOption::new("profile", "P|FILE")),
        set: Set::Value(|s, text| some(&mut s.profile, text)),
        get: |s| json!(s.profile),
        ..KEY
    },
    Key {
        name: "pes",
        help: "PEs of the whole system, for styles",
        allowed: Allowed::Whole("a whole number from 1 to 16777216"),
        default: Some("4096, 8192"),
        option: Some(KeyOption::several("pes", "N", Several::Runs)),
        in_mlsys2023: true,
        set: Set::Value(|s, text| {
            let pes = text.parse().ok();
            s.pes = Some(pes.filter(|pes| (1..=Accelerator::MAX_PES).contains(pes))?);
            Some(())
        }),
        ..KEY
    },
    Key {
        name: "system",
        help: "system (a style A..M, a mix such as `WS:3 + OS:1`, or a file)",
        allowed: Allowed::Text("a name (`xrsim list systems`), shares of dataflows, or a file"),
        default: Some("A to M"),
        option: Some(KeyOption::several("system", "A..M|MIX|FILE", Several::Runs)),
        in_mlsys2023: true,
        set: Set::Value(|s, text| some(&mut s.system, text)),
        ..KEY
    },
    Key {
        name: "semantics",
        help: "rules of the run: by the intent of the paper, or as the published artifact ran them, to \
               the last digit",
        allowed: Allowed::Word(const { &names(&SEMANTICS) }),
        option: Some(KeyOption::new("semantics", "SEMANTICS").default("principled")),
        in_mlsys2023: true,
        set: Set::Named(|s, text| named("semantics", &SEMANTICS, text).map(|it| s.semantics = it)),
        get: |s| json!(s.semantics.name()),
        ..KEY
    },
    Key {
        name: "networks",
        help: "layers of the networks: their true operators (strides, padding, groups, attention), \
               or the dense convolutions of the published artifact",
        allowed: Allowed::Word(const { &names(&EDITIONS) }),
        option: Some(KeyOption::new("networks", "EDITION")),
        default: Some("reference; artifact with mlsys2023 semantics"),
        renamed: &Edition::RENAMED,
        in_mlsys2023: true,
        set: Set::Named(|s, text| {
            named("edition of networks", &EDITIONS, text).map(|it| s.networks = Some(it))
        }),
        get: |s| json!(s.networks().name()),
        ..KEY
    },
    Key {
        name: "cost_model",
        help: "cost model, or a CSV file of measurements",
        allowed: Allowed::Text("a name (`xrsim list cost-models`) or a CSV file"),
        option: Some(KeyOption::new("cost-model", "M|FILE.csv")),
        default: Some("loop-nest; maestro with mlsys2023 semantics"),
        renamed: &cost::RENAMED,
        in_mlsys2023: true,
        set: Set::Value(|s, text| some(&mut s.cost_model, text)),
        get: |s| json!(s.cost_model()),
        ..KEY
    },
    Key {
        name: "platform",
        help: "clock, bandwidth and memory of styles",
        allowed: Allowed::Text("a name (`xrsim list platforms`) or a file"),
        option: Some(KeyOption::new("platform", "P|FILE")),
        default: Some("headset; artifact with mlsys2023 semantics"),
        renamed: &[Renamed { kind: "platform", old: "mlsys2023", new: "artifact" }],
        in_mlsys2023: true,
        set: Set::Value(|s, text| some(&mut s.platform, text)),
        get: |s| json!(s.platform()),
        ..KEY
    },
    Key {
        name: "technology",
        help: "constants of area and leakage, on which no score depends",
        allowed: Allowed::Text("a name (`xrsim list technologies`) or a file"),
        option: Some(KeyOption::new("technology", "T|FILE")),
        default: Some("that of the system or platform"),
        or_else: Some(Technology::DEFAULT),
        in_mlsys2023: true,
        set: Set::Value(|s, text| some(&mut s.technology, text)),
        get: |s| json!(s.technology),
        ..KEY
    },
    Key {
        name: "device",
        help: "supply of the accelerators: operating points, leakage, gates, and the power around them",
        allowed: Allowed::Text("a name (`xrsim list devices`) or a file"),
        option: Some(KeyOption::new("device", "D|FILE")),
        default: Some("none"),
        set: Set::Value(|s, text| some(&mut s.device, text)),
        get: |s| json!(s.device),
        ..KEY
    },
    Key {
        name: "dram",
        help: "bandwidth of DRAM: each accelerator has its part, or the accelerators that run share all \
               of it",
        allowed: Allowed::Word(const { &names(&Dram::ALL) }),
        option: Some(KeyOption::new("dram", "D")),
        default: Some("that of the system or platform"),
        or_else: Some(Dram::Split.name()),
        renamed: &DRAM_UNPARTITIONED,
        set: Set::Named(|s, text| {
            named("kind of DRAM", &Dram::ALL, text).map(|it| s.dram = Some(it))
        }),
        get: |s| json!(s.dram.map(Dram::name)),
        ..KEY
    },
    Key {
        name: "flexibility",
        help: "choices of every accelerator for each layer: forms, sizes and orders of loops, spread \
               axes, clusters",
        allowed: Allowed::Word(const { &names(&Flexibility::ALL) }),
        option: Some(KeyOption::new("flexibility", "F")),
        default: Some("that of the accelerator, system, style or dataflow"),
        or_else: Some(Flexibility::DEFAULT.name()),
        set: Set::Named(|s, text| {
            let flexibility = named("flexibility", &Flexibility::ALL, text);
            flexibility.map(|it| s.mapping.flexibility = Some(it))
        }),
        get: |s| json!(s.mapping.flexibility.map(Flexibility::name)),
        ..KEY
    },
    Key {
        name: "mapping_objective",
        help: "objective of these choices: least latency and then energy among mappings within 1 %, \
               least energy, least product of both, or least energy of networks that keep the rates of their \
               models (`hardware.mapping_deadline_share`)",
        allowed: Allowed::Word(const { &names(&MappingObjective::ALL) }),
        option: Some(KeyOption::new("mapping-objective", "O")),
        default: Some("that of the accelerator, system or style"),
        or_else: Some(MappingObjective::DEFAULT.name()),
        set: Set::Named(|s, text| {
            let objective = named("mapping objective", &MappingObjective::ALL, text);
            objective.map(|it| s.mapping.objective = Some(it))
        }),
        get: |s| json!(s.mapping.objective.map(MappingObjective::name)),
        ..KEY
    },
    Key {
        name: "mapping_effort",
        help: "work of the search for these choices in one layer: `quick` takes an eighth of the time of \
               `default`, and `full` takes ten times as long and proves small mapspaces",
        option: Some(KeyOption::new("effort", "E")),
        ..word!(effort, EFFORTS)
    },
    Key {
        name: "scheduler",
        help: "scheduler, with its parameters (`edf`, `dream:alpha=0.5`)",
        allowed: Allowed::Text("a name (`xrsim list schedulers`) and parameters"),
        option: Some(KeyOption::new("scheduler", "P[:KEY=VALUE,..]")),
        set: Set::Named(|s, text| {
            s.scheduler = external::policy(text).map_err(|error| match error {
                PolicyError::Name(_) => Slip::Name {
                    kind: "scheduler",
                    known: super::super::scheduler_names().collect(),
                },
                error => Slip::Scheduler(error),
            })?;
            Ok(())
        }),
        get: |s| json!(s.scheduler.text()),
        ..KEY
    },
    Key {
        name: "without",
        help: "quirks that are left out: rules of the published artifact, with mlsys2023 semantics",
        allowed: Allowed::Text("quirks (`xrsim list quirks`) joined by `+`, or `none`"),
        option: Some(KeyOption::several("without", "QUIRK", Several::Parts)),
        in_mlsys2023: true,
        set: Set::Named(|s, text| without(text).map(|it| s.without = it)),
        get: |s| json!(s.without_text()),
        ..KEY
    },
    Key {
        name: "duration_ms",
        help: "span in which requests arrive",
        unit: "ms",
        allowed: Allowed::Number("a number of ms from 0.000001 to 9007199254"),
        option: Some(KeyOption::new("duration", "MS")),
        set: Set::Value(|s, text| {
            SimSpan::from_positive_ms(text.parse().ok()?).map(|span| s.load.duration = span)
        }),
        get: |s| json!(s.load.duration.as_ms()),
        ..KEY
    },
    Key {
        name: "seed",
        help: "seed of every random draw",
        allowed: Allowed::Whole("a whole number from 0 to 2^64 - 1"),
        option: Some(KeyOption::new("seed", "N").default("0")),
        in_mlsys2023: true,
        set: Set::Value(|s, text| text.parse().ok().map(|seed| s.load.seed = seed)),
        get: |s| json!(s.load.seed),
        ..KEY
    },
    Key {
        name: "replication",
        help: "independent replication of a run, which has random numbers of its own",
        allowed: Allowed::Whole("a whole number from 0 to 2^64 - 1"),
        default: Some("0"),
        in_mlsys2023: true,
        set: Set::Value(|s, text| text.parse().ok().map(|number| s.load.replication = number)),
        ..KEY
    },
];

fn some(field: &mut Option<Box<str>>, text: &str) -> Option<()> {
    *field = Some(text.into());
    Some(())
}

pub(super) fn named<T: Copy>(
    kind: &'static str,
    names: &[(&'static str, T)],
    text: &str,
) -> Result<T, Slip> {
    let unknown = || Slip::Name { kind, known: names.iter().map(|&(name, _)| name).collect() };
    value(names, text).ok_or_else(unknown)
}

/// Quirks between `+`, or `none`.
fn without(text: &str) -> Result<Ablation, Slip> {
    let mut without = Ablation::default();
    for name in text.split('+').map(str::trim).filter(|_| text != "none") {
        let found = Ablation::ALL.iter().find(|(known, _)| *known == name);
        let known = || Ablation::ALL.map(|(name, _)| name).to_vec();
        let (_, leave_out) = found.ok_or_else(|| Slip::Name { kind: "quirk", known: known() })?;
        leave_out(&mut without);
    }
    Ok(without)
}
