//! Settings that `--set key=value` reaches. One table feeds the parser, its messages, `xrsim list
//! settings` and the record of effective settings.

use std::ops::RangeInclusive;

use serde_json::{Map, Value, json};

use crate::config::nearest;
use crate::hardware::platform::BudgetChange;
use crate::load::{FrameMapping, LoadSettings};
use crate::plan::{DeadlineMiss, Division, EngineSettings};
use crate::score::{NeverTriggered, ScoreSettings};
use crate::sweep::Semantics;
use crate::units::{Bytes, ClockRate, Millijoules, SimSpan};

/// Everything about a run that is neither scenario, system nor policy.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Arrivals.
    pub load: LoadSettings,
    /// Rules.
    pub engine: EngineSettings,
    /// Scores.
    pub score: ScoreSettings,
    /// Clock of every accelerator in place of the platform's.
    pub clock: Option<ClockRate>,
    /// Bandwidth and memory of the whole chip in place of the platform's, for styles.
    pub budget: BudgetChange,
}

/// One key.
pub struct Key {
    /// Name, `group.key_unit`.
    pub name: &'static str,
    /// What it is.
    pub help: &'static str,
    /// What is allowed.
    pub allowed: &'static str,
    /// Whether `mlsys2023` semantics knows it too; the artifact fixes everything else.
    pub in_mlsys2023: bool,
    set: fn(&mut Settings, &str) -> Option<()>,
    get: fn(&Settings) -> Value,
}

/// Every key.
pub const KEYS: &[Key] = &[
    Key {
        name: "score.k_per_ms",
        help: "sensitivity k of the real-time score to the deadline (Definition 10)",
        allowed: ANY,
        in_mlsys2023: false,
        set: |s, text| any(text).map(|k| s.score.k_per_ms = k),
        get: |s| json!(s.score.k_per_ms),
    },
    Key {
        name: "score.energy_max_mj",
        help: "energy of one inference that scores 0 (Definition 11)",
        allowed: POSITIVE,
        in_mlsys2023: false,
        set: |s, text| positive(text).map(|mj| s.score.energy_max = Millijoules::new(mj)),
        get: |s| json!(s.score.energy_max.get()),
    },
    Key {
        name: "score.epsilon",
        help: "epsilon of lower-is-better accuracy scores (Definition 12)",
        allowed: POSITIVE,
        in_mlsys2023: false,
        set: |s, text| positive(text).map(|epsilon| s.score.epsilon = epsilon),
        get: |s| json!(s.score.epsilon),
    },
    Key {
        name: "score.warm_up_ms",
        help: "frames before this are played but not counted",
        allowed: TIME_MS,
        in_mlsys2023: false,
        set: |s, text| SimSpan::from_ms(any(text)?).map(|span| s.score.warm_up = span),
        get: |s| json!(s.score.warm_up.as_ms()),
    },
    Key {
        name: "score.never_triggered",
        help: "score of a model that nothing asked for",
        allowed: "excluded, one or zero",
        in_mlsys2023: false,
        set: |s, text| value(&NEVER_TRIGGERED, text).map(|it| s.score.never_triggered = it),
        get: |s| json!(name(&NEVER_TRIGGERED, s.score.never_triggered)),
    },
    Key {
        name: "load.frame_mapping",
        help: "sensor frame of a model frame where the rates differ",
        allowed: "floor, ceil or nominal",
        in_mlsys2023: false,
        set: |s, text| value(&FRAME_MAPPINGS, text).map(|it| s.load.frame_mapping = it),
        get: |s| json!(name(&FRAME_MAPPINGS, s.load.frame_mapping)),
    },
    Key {
        name: "load.jitter",
        help: "whether sensors jitter (Table 3)",
        allowed: "true or false",
        in_mlsys2023: false,
        set: |s, text| text.parse().ok().map(|jitter| s.load.jitter = jitter),
        get: |s| json!(s.load.jitter),
    },
    Key {
        name: "load.random_phase",
        help: "whether each sensor starts at a random phase of its period in place of time 0",
        allowed: "true or false",
        in_mlsys2023: false,
        set: |s, text| text.parse().ok().map(|random| s.load.random_phase = random),
        get: |s| json!(s.load.random_phase),
    },
    Key {
        name: "load.trigger_probability",
        help: "probability of every control dependency in place of the scenario's",
        allowed: "a number from 0 to 1, or `scenario`",
        in_mlsys2023: true,
        set: |s, text| {
            s.load.trigger_probability = match text {
                "scenario" => None,
                _ => Some(number(text, 0.0..=1.0)?),
            };
            Some(())
        },
        get: |s| s.load.trigger_probability.map_or(json!("scenario"), |p| json!(p)),
    },
    Key {
        name: "engine.late",
        help: "what happens to a run that is still going at its deadline",
        allowed: "finish or abort",
        in_mlsys2023: false,
        set: |s, text| value(&LATE, text).map(|it| s.engine.deadline_miss = it),
        get: |s| json!(name(&LATE, s.engine.deadline_miss)),
    },
    Key {
        name: "engine.grace_ms",
        help: "how long after its deadline a waiting request is kept",
        allowed: TIME_MS,
        in_mlsys2023: false,
        set: |s, text| SimSpan::from_ms(any(text)?).map(|span| s.engine.grace = span),
        get: |s| json!(s.engine.grace.as_ms()),
    },
    Key {
        name: "engine.replace_by_newer",
        help: "whether a new frame replaces a waiting older frame of its model",
        allowed: "true or false",
        in_mlsys2023: false,
        set: |s, text| text.parse().ok().map(|replace| s.engine.replace_by_newer = replace),
        get: |s| json!(s.engine.replace_by_newer),
    },
    Key {
        name: "effects.switch",
        help: "whether bringing another model or request onto an accelerator takes time and energy",
        allowed: "true or false",
        in_mlsys2023: false,
        set: |s, text| text.parse().ok().map(|on| s.engine.effects.switch.enabled = on),
        get: |s| json!(s.engine.effects.switch.enabled),
    },
    Key {
        name: "effects.switch_fixed_us",
        help: "time of a context switch before anything is moved (a choice without source)",
        allowed: TIME_US,
        in_mlsys2023: false,
        set: |s, text| us(text).map(|span| s.engine.effects.switch.fixed = span),
        get: |s| json!(in_us(s.engine.effects.switch.fixed)),
    },
    Key {
        name: "effects.switch_dram_pj_per_bit",
        help: "energy of what a context switch moves to and from DRAM (SCAR, MICRO 2024)",
        allowed: ANY,
        in_mlsys2023: false,
        set: |s, text| any(text).map(|pj| s.engine.effects.switch.dram_pj_per_bit = pj),
        get: |s| json!(s.engine.effects.switch.dram_pj_per_bit),
    },
    Key {
        name: "effects.migration",
        help: "whether going on with a request on another accelerator takes time and energy",
        allowed: "true or false",
        in_mlsys2023: false,
        set: |s, text| text.parse().ok().map(|on| s.engine.effects.migration.enabled = on),
        get: |s| json!(s.engine.effects.migration.enabled),
    },
    Key {
        name: "effects.migration_hop_us",
        help: "latency of a hop between two accelerators (SCAR, MICRO 2024, unverified)",
        allowed: TIME_US,
        in_mlsys2023: false,
        set: |s, text| us(text).map(|span| s.engine.effects.migration.hop = span),
        get: |s| json!(in_us(s.engine.effects.migration.hop)),
    },
    Key {
        name: "effects.dram_gb_per_s",
        help: "DRAM bandwidth that all accelerators share (LPDDR-class: 64)",
        allowed: RATE,
        in_mlsys2023: false,
        set: |s, text| rate(text).map(|rate| s.engine.effects.bandwidth.dram = rate),
        get: |s| in_gb_per_s(s.engine.effects.bandwidth.dram),
    },
    Key {
        name: "effects.noc_gb_per_s",
        help: "on-chip bandwidth, at the shared memory, that all accelerators share",
        allowed: RATE,
        in_mlsys2023: false,
        set: |s, text| rate(text).map(|rate| s.engine.effects.bandwidth.noc = rate),
        get: |s| in_gb_per_s(s.engine.effects.bandwidth.noc),
    },
    Key {
        name: "effects.division",
        help: "how shared bandwidth is divided where the scheduler does not (proportional: MAGMA)",
        allowed: "max-min or proportional",
        in_mlsys2023: false,
        set: |s, text| value(&DIVISIONS, text).map(|it| s.engine.effects.bandwidth.division = it),
        get: |s| json!(name(&DIVISIONS, s.engine.effects.bandwidth.division)),
    },
    Key {
        name: "effects.exposed",
        help: "share of the shorter of computing and DRAM transfer that is not hidden (MoCA: 0.5)",
        allowed: "a number from 0 to 1",
        in_mlsys2023: false,
        set: |s, text| {
            s.engine.effects.non_overlapped = number(text, 0.0..=1.0)?;
            Some(())
        },
        get: |s| json!(s.engine.effects.non_overlapped),
    },
    Key {
        name: "hardware.clock_mhz",
        help: "clock of every accelerator (the artifact's runtime has 1 GHz built in)",
        allowed: CLOCK,
        in_mlsys2023: false,
        set: |s, text| {
            s.clock = match text {
                "platform" => None,
                _ => Some(ClockRate::from_mhz(number(text, 1e-6..=1e6)?)?),
            };
            Some(())
        },
        get: |s| s.clock.map_or(json!("platform"), |clock| json!(clock.as_mhz())),
    },
    Key {
        name: "hardware.noc_bandwidth_bytes_per_cycle",
        help: "on-chip bandwidth of the whole chip, at every level of its network, for styles",
        allowed: BANDWIDTH,
        in_mlsys2023: true,
        set: |s, text| or_platform(text, bandwidth).map(|it| s.budget.noc_bandwidth = it),
        get: |s| s.budget.noc_bandwidth.map_or(json!("platform"), |it| json!(it)),
    },
    Key {
        name: "hardware.shared_memory_kib",
        help: "shared memory of the whole chip, for styles",
        allowed: MEMORY,
        in_mlsys2023: true,
        set: |s, text| or_platform(text, kib).map(|it| s.budget.shared_memory = it),
        get: |s| s.budget.shared_memory.map_or(json!("platform"), in_kib),
    },
    Key {
        name: "hardware.local_memory_kib",
        help: "memory of every PE, for styles",
        allowed: MEMORY,
        in_mlsys2023: true,
        set: |s, text| or_platform(text, kib).map(|it| s.budget.scratchpad = it),
        get: |s| s.budget.scratchpad.map_or(json!("platform"), in_kib),
    },
    Key {
        name: "hardware.offchip_bandwidth_bytes_per_cycle",
        help: "off-chip bandwidth of the whole chip, for styles",
        allowed: BANDWIDTH,
        in_mlsys2023: true,
        set: |s, text| or_platform(text, bandwidth).map(|it| s.budget.dram_bandwidth = it),
        get: |s| s.budget.dram_bandwidth.map_or(json!("platform"), |it| json!(it)),
    },
    Key {
        name: "hardware.noc_undivided",
        help: "whether each accelerator of a style has the whole on-chip bandwidth, not its share",
        allowed: "true or false",
        in_mlsys2023: false,
        set: |s, text| text.parse().ok().map(|whole| s.budget.unpartitioned.noc = whole),
        get: |s| json!(s.budget.unpartitioned.noc),
    },
    Key {
        name: "hardware.offchip_undivided",
        help: "whether each accelerator of a style has the whole off-chip bandwidth, not its share",
        allowed: "true or false",
        in_mlsys2023: false,
        set: |s, text| text.parse().ok().map(|whole| s.budget.unpartitioned.dram = whole),
        get: |s| json!(s.budget.unpartitioned.dram),
    },
];

/// Numbers far beyond any that means something, so that products of a few stay finite.
const ANY: &str = "a number from 0 to 1e100";

const POSITIVE: &str = "a number from 1e-100 to 1e100";

const TIME_MS: &str = "a number from 0 to 9007199254";

const TIME_US: &str = "a number from 0 to 9007199254000";

const RATE: &str = "a number from 1e-100 to 1e100, or `unlimited`";

const CLOCK: &str = "a number from 0.000001 to 1000000, or `platform`";

const BANDWIDTH: &str = "a whole number from 1 to 4294967296, or `platform`";

const MEMORY: &str =
    "a number from 0.0009765625 to 274877906944 that is a whole number of bytes, or `platform`";

const FRAME_MAPPINGS: [(&str, FrameMapping); 3] = [
    ("floor", FrameMapping::Floor),
    ("ceil", FrameMapping::Ceil),
    ("nominal", FrameMapping::Nominal),
];

const LATE: [(&str, DeadlineMiss); 2] =
    [("finish", DeadlineMiss::Finish), ("abort", DeadlineMiss::Abort)];

const DIVISIONS: [(&str, Division); 2] =
    [("max-min", Division::MaxMin), ("proportional", Division::Proportional)];

const NEVER_TRIGGERED: [(&str, NeverTriggered); 3] = [
    ("excluded", NeverTriggered::Excluded),
    ("one", NeverTriggered::One),
    ("zero", NeverTriggered::Zero),
];

/// The value spelt `text`.
fn value<T: Copy>(spellings: &[(&str, T)], text: &str) -> Option<T> {
    spellings.iter().find(|(name, _)| *name == text).map(|&(_, value)| value)
}

/// The spelling of `value`.
fn name<T: PartialEq>(spellings: &[(&'static str, T)], value: T) -> &'static str {
    let found = spellings.iter().find(|(_, known)| *known == value);
    found.expect("every value has a spelling").0
}

fn number(text: &str, allowed: RangeInclusive<f64>) -> Option<f64> {
    text.parse().ok().filter(|value| allowed.contains(value))
}

/// As [`ANY`] says.
fn any(text: &str) -> Option<f64> {
    number(text, 0.0..=1e100)
}

/// As [`POSITIVE`] says.
fn positive(text: &str) -> Option<f64> {
    number(text, 1e-100..=1e100)
}

/// `None` for `platform`, else what `read` makes of the text, if it can.
fn or_platform<T>(text: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<Option<T>> {
    if text == "platform" { Some(None) } else { read(text).map(Some) }
}

/// Bytes per ns; `None` for `unlimited`.
fn rate(text: &str) -> Option<Option<f64>> {
    if text == "unlimited" { Some(None) } else { positive(text).map(Some) }
}

fn in_gb_per_s(rate: Option<f64>) -> Value {
    rate.map_or(json!("unlimited"), |rate| json!(rate))
}

fn us(text: &str) -> Option<SimSpan> {
    SimSpan::from_ms(number(text, 0.0..=9_007_199_254_000.0)? / 1e3)
}

fn in_us(span: SimSpan) -> f64 {
    span.ns() as f64 / 1e3
}

fn bandwidth(text: &str) -> Option<u64> {
    text.parse().ok().filter(|value| (1..=1 << 32).contains(value))
}

/// A size of up to 256 TiB, below which numbers of KiB are exact.
fn kib(text: &str) -> Option<Bytes> {
    let bytes = positive(text)? * 1024.0;
    let whole = (1.0..=2f64.powi(48)).contains(&bytes) && bytes.fract() == 0.0;
    whole.then_some(Bytes::new(bytes as u64))
}

fn in_kib(size: Bytes) -> Value {
    json!(size.get() as f64 / 1024.0)
}

impl Key {
    /// Its value unless it is set; `-` where the platform or the system decides.
    pub fn default_text(&self) -> String {
        match (self.get)(&Settings::default()) {
            Value::Null => "-".into(),
            Value::String(text) => text,
            value => value.to_string(),
        }
    }

    /// The key called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// The key and the value of `key=value`.
    ///
    /// # Errors
    ///
    /// If there is no such key.
    pub fn split(assignment: &str) -> Result<(&'static Self, &str), String> {
        let Some((name, value)) = assignment.split_once('=') else {
            return Err(format!("--set takes key=value, found `{assignment}`"));
        };
        let key = Self::find(name.trim()).ok_or_else(|| {
            let hint = nearest(name, KEYS.iter().map(|key| key.name))
                .map(|name| format!("; did you mean `{name}`?"))
                .unwrap_or_default();
            format!("no setting named `{name}`{hint} (see `xrsim list settings`)")
        })?;
        Ok((key, value.trim()))
    }

    /// Gives `settings` the value written `text`.
    ///
    /// # Errors
    ///
    /// What is allowed.
    pub fn assign(&self, settings: &mut Settings, text: &str) -> Result<(), String> {
        (self.set)(settings, text)
            .ok_or_else(|| format!("{} is `{text}`; allowed is {}", self.name, self.allowed))
    }
}

impl Settings {
    /// Value of every key that `semantics` knows.
    pub fn effective(&self, semantics: Semantics) -> Map<String, Value> {
        let known = |key: &&Key| semantics == Semantics::Principled || key.in_mlsys2023;
        let entry = |key: &Key| (key.name.to_string(), (key.get)(self));
        KEYS.iter().filter(known).map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_can_be_set_again() {
        let defaults = Settings::default();
        for key in KEYS {
            let value = match (key.get)(&defaults) {
                Value::String(text) => text,
                other => other.to_string(),
            };
            let mut settings = Settings::default();
            let assignment = format!("{}={value}", key.name);
            let (found, value) = Key::split(&assignment).unwrap();
            found.assign(&mut settings, value).unwrap();
            assert_eq!((key.get)(&settings), (key.get)(&defaults), "{}", key.name);
        }
    }

    /// The limits that `allowed` prints, if it prints any.
    fn limits(allowed: &str) -> Option<[f64; 2]> {
        let words: Vec<_> = allowed.split([' ', ',']).collect();
        let after = |word| words.iter().position(|it| *it == word).map(|at| words[at + 1]);
        let [least, most] = [after("from")?, after("to")?].map(|text| text.parse().unwrap());
        Some([least, most])
    }

    /// Both limits are accepted; the next number below and above is not. Whole numbers have whole
    /// neighbours.
    #[test]
    fn what_is_printed_as_allowed_is_exactly_what_is_accepted() {
        let mut n_ranges = 0;
        for key in KEYS {
            let accepts = |value: &str| key.assign(&mut Settings::default(), value).is_ok();
            let default = (key.get)(&Settings::default());
            let Some([least, most]) = limits(key.allowed) else {
                assert!(!default.is_number(), "{} prints no limits", key.name);
                continue;
            };
            n_ranges += 1;
            let outside = match key.allowed.starts_with("a whole number from") {
                true => [least - 1.0, most + 1.0],
                false => [least.next_down(), most.next_up()],
            };
            for value in [least, most] {
                assert!(accepts(&value.to_string()), "{} is {value}", key.name);
            }
            for value in outside.into_iter().chain([f64::NAN, f64::INFINITY, -f64::INFINITY]) {
                assert!(!accepts(&value.to_string()), "{} is {value}", key.name);
            }
        }
        assert!(n_ranges > 12, "{n_ranges}");
    }

    #[test]
    fn slips_are_answered_with_the_nearest_key_and_what_is_allowed() {
        fn apply(assignment: &str) -> Result<(), String> {
            let (key, value) = Key::split(assignment)?;
            key.assign(&mut Settings::default(), value)
        }
        let unknown = apply("score.k_pre_ms=3").unwrap_err();
        assert!(unknown.contains("did you mean `score.k_per_ms`?"), "{unknown}");
        let range = apply("load.trigger_probability=1.5").unwrap_err();
        assert!(range.contains("0 to 1"), "{range}");
        let nan = apply("score.k_per_ms=NaN").unwrap_err();
        assert!(nan.contains("from 0 to 1e100"), "{nan}");
        assert!(apply("score").is_err());
        for size in ["0", "0.0001", "1e300"] {
            let size = apply(&format!("hardware.shared_memory_kib={size}")).unwrap_err();
            assert!(size.contains("whole number of bytes"), "{size}");
        }
    }
}
