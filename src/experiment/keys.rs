//! The table of keys: everything that an experiment can be asked for by name and value.
//!
//! [`KEYS`] feeds the options of the command line, the keys of sweep files, `--set`, the labels and
//! records of results, and `xrsim list settings`. A further key is one further entry.

use std::fmt;

use serde_json::{Value, json};

use crate::column::RENAMED_KEYS;
use crate::config::{Edition, nearest};
use crate::cost;
use crate::external;
use crate::hardware::Accelerator;
use crate::load::FrameMapping;
use crate::plan::{Ablation, DeadlineMiss, Division, Semantics};
use crate::renamed::{self, Renamed};
use crate::schedule::PolicyError;
use crate::score::NeverTriggered;
use crate::units::{ClockRate, Millijoules, SimSpan};

use super::Settings;
use super::values::{
    ANY, BANDWIDTH, CLOCK, FRACTION, MEMORY, POSITIVE, RATE, TIME_MS, TIME_US, any, bandwidth,
    clock, fraction, gb_per_s, in_gb_per_s, in_kib, in_us, kib, name, names, or_platform, positive,
    us, value,
};

/// One key of an experiment.
pub struct Key {
    /// Name. Those with a dot are set with `--set`; all others have an option of their own.
    pub name: &'static str,
    /// Meaning, in one line.
    pub help: &'static str,
    /// Unit of its values; empty if they have none.
    pub unit: &'static str,
    /// Values that are allowed.
    pub allowed: Allowed,
    /// Value unless one is given, in words, where [`Key::value`] has none to show.
    default: Option<&'static str>,
    /// Option of the command line.
    pub(crate) option: Option<KeyOption>,
    /// Values whose names changed with version 0.2.
    renamed: &'static [Renamed],
    /// Whether `mlsys2023` semantics follows it too; the artifact fixes everything else.
    pub in_mlsys2023: bool,
    set: Set,
    get: fn(&Settings) -> Value,
}

/// Values that are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// One of these words.
    Word(&'static [&'static str]),
    /// A number, with its range in words.
    Number(&'static str),
    /// A whole number, with its range in words.
    Whole(&'static str),
    /// Text of this form.
    Text(&'static str),
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word([words @ .., last]) if !words.is_empty() => {
                write!(f, "{} or {last}", words.join(", "))
            }
            Self::Word(words) => f.write_str(&words.concat()),
            Self::Number(text) | Self::Whole(text) | Self::Text(text) => f.write_str(text),
        }
    }
}

impl Allowed {
    /// Whether values are numbers.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Number(_) | Self::Whole(_))
    }

    /// `text` as JSON: a number where values are numbers.
    pub(crate) fn json(self, text: &str) -> Value {
        let number = match self {
            Self::Whole(_) => text.trim().parse::<u64>().ok().map(|it| json!(it)),
            Self::Number(_) => text.trim().parse::<f64>().ok().map(|it| json!(it)),
            Self::Word(_) | Self::Text(_) => None,
        };
        number.unwrap_or_else(|| json!(text))
    }
}

/// Option of the command line for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyOption {
    /// Name without the dashes.
    pub(crate) long: &'static str,
    /// Placeholder of its value in help texts.
    pub(crate) placeholder: &'static str,
    /// Value that a command takes if the option is left out, and records.
    pub(crate) default: Option<&'static str>,
    /// Meaning of further values.
    pub(crate) several: Several,
}

/// Meaning of several values of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Several {
    /// Not allowed in one run.
    No,
    /// A run for each of them.
    Runs,
    /// Parts of one value, joined by `+`.
    Parts,
}

/// How a value is set.
enum Set {
    /// `None` if the value is not allowed.
    Value(fn(&mut Settings, &str) -> Option<()>),
    /// The value names something that may have parameters.
    Named(fn(&mut Settings, &str) -> Result<(), Slip>),
}

/// A setting that cannot be made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Slip {
    /// There is no such key.
    Key {
        /// The most similar key, if one is similar.
        nearest: Option<&'static str>,
    },
    /// The value is not one of the names of a `kind`.
    Name {
        /// Kind of the named thing.
        kind: &'static str,
        /// Every name.
        known: Vec<&'static str>,
    },
    /// The value is not allowed.
    Value(Allowed),
    /// The value names a scheduler whose parameters are wrong.
    Scheduler(PolicyError),
}

/// A key without option that only `principled` semantics follows, to be filled in.
const KEY: Key = Key {
    name: "",
    help: "",
    unit: "",
    allowed: Allowed::Word(BOOL),
    default: None,
    option: None,
    renamed: &[],
    in_mlsys2023: false,
    set: Set::Value(|_, _| None),
    get: |_| Value::Null,
};

/// An option that takes one value, to be filled in.
const OPTION: KeyOption =
    KeyOption { long: "", placeholder: "", default: None, several: Several::No };

const BOOL: &[&str] = &["true", "false"];

/// Names of the semantics.
pub(crate) const SEMANTICS: [(&str, Semantics); 2] =
    [("principled", Semantics::Principled), ("mlsys2023", Semantics::Mlsys2023)];

const SEMANTICS_NAMES: [&str; 2] = names(&SEMANTICS);

/// Names of the editions of networks.
pub(crate) const EDITIONS: [(&str, Edition); 2] =
    [("reference", Edition::Reference), ("artifact", Edition::Artifact)];

const EDITION_NAMES: [&str; 2] = names(&EDITIONS);

const FRAME_MAPPINGS: [(&str, FrameMapping); 3] = [
    ("floor", FrameMapping::Floor),
    ("ceil", FrameMapping::Ceil),
    ("nominal", FrameMapping::Nominal),
];

const FRAME_MAPPING_NAMES: [&str; 3] = names(&FRAME_MAPPINGS);

const DEADLINE_MISS: [(&str, DeadlineMiss); 2] =
    [("finish", DeadlineMiss::Finish), ("abort", DeadlineMiss::Abort)];

const DEADLINE_MISS_NAMES: [&str; 2] = names(&DEADLINE_MISS);

const DIVISIONS: [(&str, Division); 2] =
    [("max-min", Division::MaxMin), ("proportional", Division::Proportional)];

const DIVISION_NAMES: [&str; 2] = names(&DIVISIONS);

const NEVER_TRIGGERED: [(&str, NeverTriggered); 3] = [
    ("excluded", NeverTriggered::Excluded),
    ("one", NeverTriggered::One),
    ("zero", NeverTriggered::Zero),
];

const NEVER_TRIGGERED_NAMES: [&str; 3] = names(&NEVER_TRIGGERED);

/// Every key: first those with an option of their own, in the order in which options of a sweep vary,
/// the first one slowest.
pub const KEYS: &[Key] = &[
    Key {
        name: "scenario",
        help: "usage scenario: a name or a file",
        allowed: Allowed::Text("a name (`xrsim list scenarios`) or a file"),
        default: Some("the seven of the suite"),
        option: Some(KeyOption {
            long: "scenario",
            placeholder: "S",
            several: Several::Runs,
            ..OPTION
        }),
        in_mlsys2023: true,
        set: Set::Value(|s, text| some(&mut s.scenario, text)),
        ..KEY
    },
    Key {
        name: "pes",
        help: "PEs of the whole system, for styles",
        allowed: Allowed::Whole("a whole number from 1 to 16777216"),
        default: Some("4096, 8192"),
        option: Some(KeyOption { long: "pes", placeholder: "N", several: Several::Runs, ..OPTION }),
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
        help: "system: a style A..M, one spelt out such as `WS:3 + OS:1`, or a file",
        allowed: Allowed::Text("a name (`xrsim list systems`), shares of dataflows, or a file"),
        default: Some("A to M"),
        option: Some(KeyOption {
            long: "system",
            placeholder: "A..M|MIX|FILE",
            several: Several::Runs,
            ..OPTION
        }),
        in_mlsys2023: true,
        set: Set::Value(|s, text| some(&mut s.system, text)),
        ..KEY
    },
    Key {
        name: "semantics",
        help: "rules of the run: as the paper means them, or as the published artifact ran them, to \
               the last digit",
        allowed: Allowed::Word(&SEMANTICS_NAMES),
        option: Some(KeyOption {
            long: "semantics",
            placeholder: "SEMANTICS",
            default: Some("principled"),
            ..OPTION
        }),
        in_mlsys2023: true,
        set: Set::Named(|s, text| {
            s.semantics = named("semantics", &SEMANTICS, text)?;
            Ok(())
        }),
        get: |s| json!(s.semantics.name()),
        ..KEY
    },
    Key {
        name: "networks",
        help: "layers of the networks: their true operators (strides, padding, groups, attention), \
               or the dense convolutions of the published artifact",
        allowed: Allowed::Word(&EDITION_NAMES),
        option: Some(KeyOption { long: "networks", placeholder: "EDITION", ..OPTION }),
        default: Some("reference; artifact with mlsys2023 semantics"),
        renamed: &Edition::RENAMED,
        in_mlsys2023: true,
        set: Set::Named(|s, text| {
            s.networks = Some(named("edition of networks", &EDITIONS, text)?);
            Ok(())
        }),
        get: |s| json!(s.networks().name()),
        ..KEY
    },
    Key {
        name: "cost_model",
        help: "layer costs: a cost model, or a CSV file of measurements",
        allowed: Allowed::Text("a name (`xrsim list cost-models`) or a CSV file"),
        option: Some(KeyOption { long: "cost-model", placeholder: "M|FILE.csv", ..OPTION }),
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
        option: Some(KeyOption { long: "platform", placeholder: "P|FILE", ..OPTION }),
        default: Some("paper; artifact with mlsys2023 semantics"),
        renamed: &[Renamed { kind: "platform", old: "mlsys2023", new: "artifact" }],
        in_mlsys2023: true,
        set: Set::Value(|s, text| some(&mut s.platform, text)),
        get: |s| json!(s.platform()),
        ..KEY
    },
    Key {
        name: "scheduler",
        help: "scheduler, with its parameters (`edf`, `dream:alpha=0.5`)",
        allowed: Allowed::Text("a name (`xrsim list schedulers`) and parameters"),
        option: Some(KeyOption { long: "scheduler", placeholder: "P[:KEY=VALUE,..]", ..OPTION }),
        set: Set::Named(|s, text| {
            s.scheduler = external::policy(text).map_err(|error| match error {
                PolicyError::Name(_) => {
                    Slip::Name { kind: "scheduler", known: super::scheduler_names().collect() }
                }
                error => Slip::Scheduler(error),
            })?;
            Ok(())
        }),
        get: |s| json!(&**s.scheduler.label()),
        ..KEY
    },
    Key {
        name: "without",
        help: "quirks of the published artifact that runs with mlsys2023 semantics leave out",
        allowed: Allowed::Text("quirks (`xrsim list quirks`) joined by `+`, or `none`"),
        option: Some(KeyOption {
            long: "without",
            placeholder: "QUIRK",
            several: Several::Parts,
            ..OPTION
        }),
        in_mlsys2023: true,
        set: Set::Named(|s, text| {
            s.without = without(text)?;
            Ok(())
        }),
        get: |s| json!(s.without_text()),
        ..KEY
    },
    Key {
        name: "duration_ms",
        help: "span in which requests arrive",
        unit: "ms",
        allowed: Allowed::Number("a number of ms from 0.000001 to 9007199254"),
        option: Some(KeyOption { long: "duration", placeholder: "MS", ..OPTION }),
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
        option: Some(KeyOption { long: "seed", placeholder: "N", default: Some("0"), ..OPTION }),
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
    Key {
        name: "score.k_per_ms",
        help: "sensitivity k of the real-time score to the deadline (Definition 10)",
        unit: "1/ms",
        allowed: ANY,
        set: Set::Value(|s, text| any(text).map(|k| s.score.k_per_ms = k)),
        get: |s| json!(s.score.k_per_ms),
        ..KEY
    },
    Key {
        name: "score.energy_max_mj",
        help: "energy of one inference that scores 0 (Definition 11)",
        unit: "mJ",
        allowed: POSITIVE,
        set: Set::Value(|s, text| {
            positive(text).map(|mj| s.score.energy_max = Millijoules::new(mj))
        }),
        get: |s| json!(s.score.energy_max.get()),
        ..KEY
    },
    Key {
        name: "score.epsilon",
        help: "epsilon of lower-is-better accuracy scores (Definition 12)",
        allowed: POSITIVE,
        set: Set::Value(|s, text| positive(text).map(|epsilon| s.score.epsilon = epsilon)),
        get: |s| json!(s.score.epsilon),
        ..KEY
    },
    Key {
        name: "score.warm_up_ms",
        help: "first part of the duration, whose frames run but are not scored",
        unit: "ms",
        allowed: TIME_MS,
        set: Set::Value(|s, text| SimSpan::from_ms(any(text)?).map(|span| s.score.warm_up = span)),
        get: |s| json!(s.score.warm_up.as_ms()),
        ..KEY
    },
    Key {
        name: "score.never_triggered",
        help: "score of a model that was never triggered",
        allowed: Allowed::Word(&NEVER_TRIGGERED_NAMES),
        set: Set::Value(|s, text| {
            value(&NEVER_TRIGGERED, text).map(|it| s.score.never_triggered = it)
        }),
        get: |s| json!(name(&NEVER_TRIGGERED, s.score.never_triggered)),
        ..KEY
    },
    Key {
        name: "load.frame_mapping",
        help: "sensor frame of a model frame where the rates differ",
        allowed: Allowed::Word(&FRAME_MAPPING_NAMES),
        set: Set::Value(|s, text| value(&FRAME_MAPPINGS, text).map(|it| s.load.frame_mapping = it)),
        get: |s| json!(name(&FRAME_MAPPINGS, s.load.frame_mapping)),
        ..KEY
    },
    Key {
        name: "load.jitter",
        help: "whether sensors jitter (Table 3)",
        set: Set::Value(|s, text| text.parse().ok().map(|jitter| s.load.jitter = jitter)),
        get: |s| json!(s.load.jitter),
        ..KEY
    },
    Key {
        name: "load.random_phase",
        help: "whether each sensor starts at a random phase of its period instead of time 0",
        set: Set::Value(|s, text| text.parse().ok().map(|random| s.load.random_phase = random)),
        get: |s| json!(s.load.random_phase),
        ..KEY
    },
    Key {
        name: "load.trigger_probability",
        help: "probability of every control dependency instead of the scenario's",
        allowed: Allowed::Text("a number from 0 to 1, or `scenario`"),
        in_mlsys2023: true,
        set: Set::Value(|s, text| {
            s.load.trigger_probability = match text {
                "scenario" => None,
                _ => Some(fraction(text)?),
            };
            Some(())
        }),
        get: |s| s.load.trigger_probability.map_or(json!("scenario"), |p| json!(p)),
        ..KEY
    },
    Key {
        name: "engine.deadline_miss",
        help: "whether a request that runs past its deadline finishes or is aborted",
        allowed: Allowed::Word(&DEADLINE_MISS_NAMES),
        set: Set::Value(|s, text| {
            value(&DEADLINE_MISS, text).map(|it| s.engine.deadline_miss = it)
        }),
        get: |s| json!(name(&DEADLINE_MISS, s.engine.deadline_miss)),
        ..KEY
    },
    Key {
        name: "engine.grace_ms",
        help: "time after its deadline for which a waiting request is kept",
        unit: "ms",
        allowed: TIME_MS,
        set: Set::Value(|s, text| SimSpan::from_ms(any(text)?).map(|span| s.engine.grace = span)),
        get: |s| json!(s.engine.grace.as_ms()),
        ..KEY
    },
    Key {
        name: "engine.replace_by_newer",
        help: "whether a new frame replaces a waiting older frame of its model",
        set: Set::Value(|s, text| {
            text.parse().ok().map(|replace| s.engine.replace_by_newer = replace)
        }),
        get: |s| json!(s.engine.replace_by_newer),
        ..KEY
    },
    Key {
        name: "effects.switch",
        help: "whether a context switch takes time and energy",
        set: Set::Value(|s, text| text.parse().ok().map(|on| s.engine.effects.switch.enabled = on)),
        get: |s| json!(s.engine.effects.switch.enabled),
        ..KEY
    },
    Key {
        name: "effects.switch_fixed_us",
        help: "fixed time of a context switch (a choice without source)",
        unit: "us",
        allowed: TIME_US,
        set: Set::Value(|s, text| us(text).map(|span| s.engine.effects.switch.fixed = span)),
        get: |s| json!(in_us(s.engine.effects.switch.fixed)),
        ..KEY
    },
    Key {
        name: "effects.switch_dram_pj_per_bit",
        help: "energy of the bits that a context switch moves to and from DRAM (SCAR, MICRO 2024)",
        unit: "pJ/bit",
        allowed: ANY,
        set: Set::Value(|s, text| any(text).map(|pj| s.engine.effects.switch.dram_pj_per_bit = pj)),
        get: |s| json!(s.engine.effects.switch.dram_pj_per_bit),
        ..KEY
    },
    Key {
        name: "effects.migration",
        help: "whether a migration to another accelerator takes time and energy",
        set: Set::Value(|s, text| {
            text.parse().ok().map(|on| s.engine.effects.migration.enabled = on)
        }),
        get: |s| json!(s.engine.effects.migration.enabled),
        ..KEY
    },
    Key {
        name: "effects.migration_hop_us",
        help: "latency of a hop between two accelerators (SCAR, MICRO 2024, unverified)",
        unit: "us",
        allowed: TIME_US,
        set: Set::Value(|s, text| us(text).map(|span| s.engine.effects.migration.hop = span)),
        get: |s| json!(in_us(s.engine.effects.migration.hop)),
        ..KEY
    },
    Key {
        name: "effects.dram_gb_per_s",
        help: "DRAM bandwidth that all accelerators share (LPDDR-class: 64)",
        unit: "GB/s",
        allowed: RATE,
        set: Set::Value(|s, text| {
            gb_per_s(text).map(|rate| s.engine.effects.bandwidth.dram = rate)
        }),
        get: |s| in_gb_per_s(s.engine.effects.bandwidth.dram),
        ..KEY
    },
    Key {
        name: "effects.noc_gb_per_s",
        help: "NoC bandwidth at the shared memory that all accelerators share",
        unit: "GB/s",
        allowed: RATE,
        set: Set::Value(|s, text| gb_per_s(text).map(|rate| s.engine.effects.bandwidth.noc = rate)),
        get: |s| in_gb_per_s(s.engine.effects.bandwidth.noc),
        ..KEY
    },
    Key {
        name: "effects.division",
        help: "division of shared bandwidth unless the scheduler divides it (proportional: MAGMA)",
        allowed: Allowed::Word(&DIVISION_NAMES),
        set: Set::Value(|s, text| {
            value(&DIVISIONS, text).map(|it| s.engine.effects.bandwidth.division = it)
        }),
        get: |s| json!(name(&DIVISIONS, s.engine.effects.bandwidth.division)),
        ..KEY
    },
    Key {
        name: "effects.non_overlapped",
        help: "fraction of the shorter of computation and DRAM transfer that the longer one does \
               not hide (MoCA: 0.5)",
        allowed: FRACTION,
        set: Set::Value(|s, text| {
            fraction(text).map(|fraction| s.engine.effects.non_overlapped = fraction)
        }),
        get: |s| json!(s.engine.effects.non_overlapped),
        ..KEY
    },
    Key {
        name: "hardware.clock_mhz",
        help: "clock of every accelerator (the artifact's runtime has 1 GHz built in)",
        unit: "MHz",
        allowed: CLOCK,
        set: Set::Value(|s, text| or_platform(text, clock).map(|it| s.clock = it)),
        get: |s| or(s.clock.map(ClockRate::as_mhz)),
        ..KEY
    },
    Key {
        name: "hardware.noc_bandwidth_bytes_per_cycle",
        help: "NoC bandwidth of the whole chip at every level, for styles",
        unit: "byte/cycle",
        allowed: BANDWIDTH,
        in_mlsys2023: true,
        set: Set::Value(|s, text| {
            or_platform(text, bandwidth).map(|it| s.budget.noc_bandwidth = it)
        }),
        get: |s| or(s.budget.noc_bandwidth),
        ..KEY
    },
    Key {
        name: "hardware.shared_memory_kib",
        help: "shared memory of the whole chip, for styles",
        unit: "KiB",
        allowed: MEMORY,
        in_mlsys2023: true,
        set: Set::Value(|s, text| or_platform(text, kib).map(|it| s.budget.shared_memory = it)),
        get: |s| or(s.budget.shared_memory.map(in_kib)),
        ..KEY
    },
    Key {
        name: "hardware.scratchpad_kib",
        help: "scratchpad of every PE, for styles",
        unit: "KiB",
        allowed: MEMORY,
        in_mlsys2023: true,
        set: Set::Value(|s, text| or_platform(text, kib).map(|it| s.budget.scratchpad = it)),
        get: |s| or(s.budget.scratchpad.map(in_kib)),
        ..KEY
    },
    Key {
        name: "hardware.cluster_memory_kib",
        help: "buffer of every cluster at every level, for styles",
        unit: "KiB",
        allowed: MEMORY,
        in_mlsys2023: true,
        set: Set::Value(|s, text| or_platform(text, kib).map(|it| s.budget.cluster_memory = it)),
        get: |s| or(s.budget.cluster_memory.map(in_kib)),
        ..KEY
    },
    Key {
        name: "hardware.dram_bandwidth_bytes_per_cycle",
        help: "DRAM bandwidth of the whole chip, for styles",
        unit: "byte/cycle",
        allowed: BANDWIDTH,
        in_mlsys2023: true,
        set: Set::Value(|s, text| {
            or_platform(text, bandwidth).map(|it| s.budget.dram_bandwidth = it)
        }),
        get: |s| or(s.budget.dram_bandwidth),
        ..KEY
    },
    Key {
        name: "hardware.noc_unpartitioned",
        help: "whether each accelerator of a style has the whole NoC bandwidth, not its share",
        set: Set::Value(|s, text| {
            text.parse().ok().map(|whole| s.budget.unpartitioned.noc = whole)
        }),
        get: |s| json!(s.budget.unpartitioned.noc),
        ..KEY
    },
    Key {
        name: "hardware.dram_unpartitioned",
        help: "whether each accelerator of a style has the whole DRAM bandwidth, not its share",
        set: Set::Value(|s, text| {
            text.parse().ok().map(|whole| s.budget.unpartitioned.dram = whole)
        }),
        get: |s| json!(s.budget.unpartitioned.dram),
        ..KEY
    },
];

/// `value`, or `platform` where the platform decides.
fn or<T: serde::Serialize>(value: Option<T>) -> Value {
    value.map_or(json!("platform"), |value| json!(value))
}

fn some(field: &mut Option<Box<str>>, text: &str) -> Option<()> {
    *field = Some(text.into());
    Some(())
}

fn named<T: Copy>(kind: &'static str, names: &[(&'static str, T)], text: &str) -> Result<T, Slip> {
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

impl Key {
    /// The key called `name`, which may be a name up to version 0.1.
    pub(crate) fn find(name: &str) -> Result<(&'static Self, Option<Renamed>), Slip> {
        let (name, renamed) = renamed::current(&RENAMED_KEYS, name);
        match KEYS.iter().find(|key| key.name == name) {
            Some(key) => Ok((key, renamed)),
            None => Err(Slip::Key { nearest: nearest(name, KEYS.iter().map(|key| key.name)) }),
        }
    }

    /// Value unless one is given.
    pub fn default_text(&self) -> String {
        match (self.default, (self.get)(&Settings::default())) {
            (Some(text), _) => text.into(),
            (None, Value::String(text)) => text,
            (None, value) => value.to_string(),
        }
    }

    /// Its value in `settings`; null where each run has its own.
    pub fn value(&self, settings: &Settings) -> Value {
        (self.get)(settings)
    }

    /// Names of values up to version 0.1.
    pub(crate) fn old_values(&self) -> impl Iterator<Item = &'static str> {
        self.renamed.iter().map(|renamed| renamed.old)
    }

    /// The current name of the value `text`, and the hint if that is a name up to version 0.1.
    pub(super) fn current<'a>(&self, text: &'a str) -> (&'a str, Option<Renamed>) {
        renamed::current(self.renamed, text)
    }

    /// Gives `settings` the value written `text`, whose name is current.
    pub(super) fn assign(&self, settings: &mut Settings, text: &str) -> Result<(), Slip> {
        match &self.set {
            Set::Value(set) => set(settings, text).ok_or(Slip::Value(self.allowed)),
            Set::Named(set) => set(settings, text),
        }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::report::RunLabel;

    fn key(name: &str) -> &'static Key {
        Key::find(name).expect("there is such a key").0
    }

    #[test]
    fn names_are_unique_and_settings_have_no_option() {
        let mut seen = HashSet::new();
        for key in KEYS {
            assert!(seen.insert(key.name), "{key:?}");
            assert!(!(key.name.contains('.') && key.option.is_some()), "{key:?}");
        }
    }

    #[test]
    fn every_column_of_a_label_is_a_key() {
        for name in RunLabel::NAMES {
            assert_eq!(key(name).name, name);
        }
    }

    #[test]
    fn every_default_can_be_set_again() {
        let defaults = Settings::default();
        for key in KEYS.iter().filter(|key| !key.value(&defaults).is_null()) {
            let text = match key.value(&defaults) {
                Value::String(text) => text,
                other => other.to_string(),
            };
            let mut settings = Settings::default();
            assert_eq!(key.assign(&mut settings, &text), Ok(()), "{key:?}");
            assert_eq!(key.value(&settings), key.value(&defaults), "{key:?}");
        }
    }

    /// The limits that `allowed` prints, if it prints any.
    fn limits(allowed: &str) -> Option<[f64; 2]> {
        let words: Vec<_> = allowed.split([' ', ',']).collect();
        let after = |word| words.iter().position(|it| *it == word).map(|at| words[at + 1]);
        let number = |text: &str| match text {
            "2^64" => u64::MAX as f64,
            text => text.parse().expect("a limit is a number"),
        };
        let [least, most] = [after("from")?, after("to")?].map(number);
        Some([least, most])
    }

    /// Both limits are accepted; the next number below and above is not. Whole numbers have whole
    /// neighbours.
    #[test]
    fn the_printed_range_is_exactly_the_accepted_range() {
        let mut n_ranges = 0;
        for key in KEYS {
            let accepts = |value: &str| key.assign(&mut Settings::default(), value).is_ok();
            let allowed = key.allowed.to_string();
            let default = key.value(&Settings::default());
            let Some([least, most]) = limits(&allowed).filter(|_| !allowed.contains("2^64")) else {
                assert!(!default.is_number() || allowed.contains("2^64"), "{key:?}");
                continue;
            };
            n_ranges += 1;
            let outside = match allowed.starts_with("a whole number from") {
                true => [least - 1.0, most + 1.0],
                false => [least.next_down(), most.next_up()],
            };
            for value in [least, most] {
                assert!(accepts(&value.to_string()), "{key:?} is {value}");
            }
            for value in outside.into_iter().chain([f64::NAN, f64::INFINITY, -f64::INFINITY]) {
                assert!(!accepts(&value.to_string()), "{key:?} is {value}");
            }
        }
        assert!(n_ranges > 14, "{n_ranges}");
    }

    #[test]
    fn every_old_name_leads_to_a_key() {
        for renamed in RENAMED_KEYS {
            let (key, hint) = Key::find(renamed.old).expect("it is read");
            assert_eq!((key.name, hint), (renamed.new, Some(renamed)));
        }
    }

    #[test]
    fn a_value_is_recorded_as_a_number_where_it_is_one() {
        assert_eq!(key("pes").allowed.json("4096"), json!(4096));
        assert_eq!(key("duration_ms").allowed.json("1000"), json!(1000.0));
        assert_eq!(key("scenario").allowed.json("7"), json!("7"));
    }
}
