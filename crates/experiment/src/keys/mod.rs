//! The table of keys: everything that an experiment can be asked for by name and value.
//!
//! [`KEYS`] feeds the options of the command line, the keys of sweep files, `--set`, the labels and
//! records of results, and `xrsim list settings`. A further key is one further entry in the
//! file of its group.

mod effects;
mod engine;
mod hardware;
mod load;
mod own;
mod parameters;
mod score;
mod values;

use std::fmt;

use serde_json::{Value, json};

use xrsim_config::nearest;
use xrsim_model::column::RENAMED_KEYS;
use xrsim_model::renamed::{self, Renamed};
use xrsim_sim::schedule::PolicyError;

use super::Settings;

pub(crate) use own::{EDITIONS, SEMANTICS, UNPARTITIONED};
pub(super) use parameters::{all_set, parts as task_and_parameter};

/// One key of an experiment.
#[derive(Clone, Copy)]
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
    /// Value where that does not say one.
    or_else: Option<&'static str>,
    /// Option of the command line.
    pub option: Option<KeyOption>,
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
    pub fn is_number(self) -> bool {
        matches!(self, Self::Number(_) | Self::Whole(_))
    }

    /// `text` as JSON: a number where values are numbers.
    pub fn json(self, text: &str) -> Value {
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
pub struct KeyOption {
    /// Name without the dashes.
    pub long: &'static str,
    /// Placeholder of its value in help texts.
    pub placeholder: &'static str,
    /// Value that a command takes if the option is left out, and records.
    pub default: Option<&'static str>,
    /// Meaning of further values.
    pub several: Several,
}

/// Meaning of several values of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Several {
    /// Not allowed in one run.
    No,
    /// A run for each of them.
    Runs,
    /// Parts of one value, joined by `+`.
    Parts,
}

/// How a value is set.
#[derive(Clone, Copy)]
enum Set {
    /// `None` if the value is not allowed.
    Value(fn(&mut Settings, &str) -> Option<()>),
    /// The value names something that may have parameters.
    Named(fn(&mut Settings, &str) -> Result<(), Slip>),
    /// The name of the key has the task and the parameter of a network.
    Parameter,
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
    or_else: None,
    option: None,
    renamed: &[],
    in_mlsys2023: false,
    set: Set::Value(|_, _| None),
    get: |_| Value::Null,
};

impl KeyOption {
    /// An option that takes one value.
    const fn new(long: &'static str, placeholder: &'static str) -> Self {
        Self::several(long, placeholder, Several::No)
    }

    /// An option whose further values mean `several`.
    const fn several(long: &'static str, placeholder: &'static str, several: Several) -> Self {
        Self { long, placeholder, default: None, several }
    }

    /// The same option with the value that a command takes if it is left out.
    const fn default(self, value: &'static str) -> Self {
        Self { default: Some(value), ..self }
    }
}

const BOOL: &[&str] = &["true", "false"];

/// A [`KEY`] that has its value in the field of [`Settings`] at a path. A function reads the value from text,
/// and another one makes it JSON, unless the value of the field is printed as it is.
macro_rules! field {
    ($($part:ident).+, $read:expr) => {
        field!($($part).+, $read, |it| json!(it))
    };
    ($($part:ident).+, $read:expr, $write:expr) => {
        Key {
            set: $crate::keys::Set::Value(|s, text| {
                let read = $read;
                s.$($part).+ = read(text)?;
                Some(())
            }),
            get: |s| $crate::keys::written(s.$($part).+, $write),
            ..KEY
        }
    };
}

/// A [`KEY`] like that of `field!` whose values have the names of a list.
macro_rules! word {
    ($($part:ident).+, $names:ident) => {
        Key {
            allowed: $crate::keys::Allowed::Word(
                const { &$crate::keys::values::names(&$names) },
            ),
            ..field!(
                $($part).+,
                |text| $crate::keys::values::value(&$names, text),
                |it| json!($crate::keys::values::name(&$names, it))
            )
        }
    };
}

use {field, word};

fn written<T>(value: T, write: impl FnOnce(T) -> Value) -> Value {
    write(value)
}

const GROUPS: [&[Key]; 7] = [
    own::KEYS,
    score::KEYS,
    load::KEYS,
    engine::KEYS,
    effects::KEYS,
    hardware::KEYS,
    parameters::KEYS,
];

/// Every key: first those with an option of their own, in the order in which options of a sweep vary,
/// the first one slowest.
pub const KEYS: &[Key] = &joined::<{ n_keys() }>();

const fn n_keys() -> usize {
    let mut count = 0;
    let mut group = 0;
    while group < GROUPS.len() {
        count += GROUPS[group].len();
        group += 1;
    }
    count
}

/// The keys of all groups, one after the other.
const fn joined<const N: usize>() -> [Key; N] {
    let mut keys = [KEY; N];
    let mut count = 0;
    let mut group = 0;
    while group < GROUPS.len() {
        let mut index = 0;
        while index < GROUPS[group].len() {
            keys[count] = GROUPS[group][index];
            count += 1;
            index += 1;
        }
        group += 1;
    }
    keys
}

impl Key {
    /// The key called `name`, which may be a name up to version 0.1.
    pub(crate) fn find(name: &str) -> Result<(&'static Self, Option<Renamed>), Slip> {
        let (name, renamed) = renamed::current(&RENAMED_KEYS, name);
        match KEYS.iter().find(|key| key.name == name).or_else(|| parameters::find(name)) {
            Some(key) => Ok((key, renamed)),
            None => Err(Slip::Key { nearest: Self::nearest(name) }),
        }
    }

    /// The key that `name` may stand for: one whose last word it is or begins, as `clock` for `hardware.clock_mhz`, or
    /// the most similar one.
    pub(crate) fn nearest(name: &str) -> Option<&'static str> {
        let last = |key: &&Self| key.name.rsplit('.').next().unwrap_or_default();
        let begins = |key: &&Self| name.len() > 2 && last(key).starts_with(name);
        let of_last =
            KEYS.iter().find(|key| last(key) == name).or_else(|| KEYS.iter().find(begins));
        let similar = || nearest(name, KEYS.iter().map(|key| key.name));
        of_last.map(|key| key.name).or_else(similar)
    }

    /// Its option of the command line, without the dashes; `None` if it is set with `--set`.
    pub fn option_name(&self) -> Option<&'static str> {
        self.option.map(|option| option.long)
    }

    /// Value unless one is given.
    pub fn default_text(&self) -> String {
        match (self.default, self.or_else, (self.get)(&Settings::default())) {
            (Some(text), Some(or_else), _) => format!("{text}, or else {or_else}"),
            (Some(text), None, _) => text.into(),
            (None, _, Value::String(text)) => text,
            (None, _, value) => value.to_string(),
        }
    }

    /// Its value in `settings`; null where each run has its own.
    pub fn value(&self, settings: &Settings) -> Value {
        match self.set {
            Set::Parameter => parameters::value(self.name, settings),
            _ => (self.get)(settings),
        }
    }

    /// Names of values up to version 0.1.
    pub fn old_values(&self) -> impl Iterator<Item = &'static str> {
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
            Set::Parameter => {
                parameters::set(self.name, settings, text).ok_or(Slip::Value(self.allowed))
            }
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
    use xrsim_results::RunLabel;

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
