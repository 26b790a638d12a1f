//! Keys of a sweep and what their values mean.

use crate::compat::Ablation;
use crate::config::{Edition, nearest};
use crate::external;
use crate::hardware::Accelerator;
use crate::renamed;
use crate::schedule::{Policy, PolicyError};
use crate::sweep::Semantics;
use crate::sweep::grid::Point;

use super::super::conditions::{self, Conditions};
use super::super::message::hint;
use super::super::schedulers;
use super::super::settings::{self, Key, Settings};

/// Keys beside those of `--set`, as columns of results call them.
pub const OWN: [&str; 12] = [
    "scenario",
    "system",
    "pes",
    "semantics",
    "networks",
    "cost_model",
    "platform",
    "scheduler",
    "without",
    "duration_ms",
    "seed",
    "replication",
];

/// A run as the settings of a point ask for it.
#[derive(Clone, Default)]
pub struct Choice<'a> {
    /// Scenario.
    pub scenario: &'a str,
    /// System.
    pub system: &'a str,
    /// PEs, for styles.
    pub pes: Option<u32>,
    /// Replication.
    pub replication: u64,
    /// Everything else.
    pub conditions: Conditions<'a>,
}

/// A setting that cannot be made.
pub enum Slip {
    /// There is no such key; the nearest that there is.
    Key(Option<&'static str>),
    /// The value is no name of a `kind`.
    Name {
        /// What it should name.
        kind: &'static str,
        /// Every name.
        known: Vec<&'static str>,
    },
    /// The value is none; what is allowed.
    Value(String),
    /// The value names a policy that is not so.
    Policy(PolicyError),
}

impl<'a> Choice<'a> {
    /// What a point of a checked grid asks for.
    ///
    /// # Errors
    ///
    /// None if every key and value of the grid was taken before.
    pub fn of(point: &Point<'a>) -> Result<Self, Slip> {
        let mut choice = Self::default();
        for (key, value) in point.settings() {
            choice.take(key, value)?;
        }
        Ok(choice)
    }

    /// Makes one setting. Names of files are taken as they are.
    ///
    /// # Errors
    ///
    /// [`Slip`].
    pub fn take(&mut self, key: &str, value: &'a str) -> Result<(), Slip> {
        let it = &mut self.conditions;
        match key {
            "scenario" => self.scenario = value,
            "system" => self.system = value,
            "pes" => self.pes = Some(pes(value)?),
            "semantics" => it.semantics = named("semantics", &SEMANTICS, value)?,
            "networks" => {
                let editions = Edition::ALL.map(|(edition, name)| (name, edition));
                let (value, renamed) = renamed::current(&Edition::RENAMED, value);
                renamed.into_iter().for_each(hint);
                it.networks = Some(named("edition of networks", &editions, value)?);
            }
            "cost_model" => it.cost_model = Some(value),
            "platform" => it.platform = Some(value),
            "scheduler" => it.scheduler = Some(scheduler(value)?),
            "without" => it.without = without(value)?,
            "duration_ms" => {
                let span = value.parse().ok().and_then(conditions::duration);
                it.duration = Some(span.ok_or_else(|| allowed(conditions::DURATION))?);
            }
            "seed" => it.seed = whole(value)?,
            "replication" => self.replication = whole(value)?,
            _ => it.set.push((checked(key, value)?, value)),
        }
        Ok(())
    }
}

/// Semantics by name.
pub const SEMANTICS: [(&str, Semantics); 2] =
    [("principled", Semantics::Principled), ("mlsys2023", Semantics::Mlsys2023)];

fn allowed(what: &str) -> Slip {
    Slip::Value(what.into())
}

fn pes(value: &str) -> Result<u32, Slip> {
    let pes = value.parse().ok().filter(|pes| (1..=Accelerator::MAX_PES).contains(pes));
    let max = Accelerator::MAX_PES;
    pes.ok_or_else(|| Slip::Value(format!("a whole number from 1 to {max}")))
}

fn whole(value: &str) -> Result<u64, Slip> {
    value.parse().map_err(|_| allowed("a whole number from 0 to 2^64 - 1"))
}

fn named<T: Copy>(kind: &'static str, names: &[(&'static str, T)], value: &str) -> Result<T, Slip> {
    let found = names.iter().find(|(name, _)| *name == value).map(|&(_, found)| found);
    found.ok_or_else(|| Slip::Name { kind, known: names.iter().map(|&(name, _)| name).collect() })
}

fn scheduler(value: &str) -> Result<Policy, Slip> {
    external::policy(value).map_err(|error| match error {
        PolicyError::Name(_) => {
            Slip::Name { kind: "scheduler", known: schedulers::names().collect() }
        }
        error => Slip::Policy(error),
    })
}

/// Quirks between `+`, or `none`.
fn without(value: &str) -> Result<Ablation, Slip> {
    if value == "none" {
        return Ok(Ablation::default());
    }
    let names = value.split('+').map(str::trim);
    let known = || Ablation::ALL.map(|(name, _)| name).to_vec();
    conditions::without(names).map_err(|_| Slip::Name { kind: "quirk", known: known() })
}

/// The setting called `key`, which can have this value.
fn checked(key: &str, value: &str) -> Result<&'static Key, Slip> {
    let known = || OWN.into_iter().chain(settings::KEYS.iter().map(|key| key.name));
    let key = Key::find(key).ok_or_else(|| Slip::Key(nearest(key, known())))?;
    let assigned = key.assign(&mut Settings::default(), value);
    assigned.map(|()| key).map_err(|_| allowed(key.allowed))
}
