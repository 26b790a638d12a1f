//! Digests of mappings in records, by which results of other mappings are refused.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use xrsim_model::cost::{ChosenBy, ChosenMappings};
use xrsim_model::mapper::choices_version;

/// Key of records.
pub(super) const KEY: &str = "mappings";

/// Mappings of accelerators, in a record of rows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mappings {
    /// Version of cost model and search that chose them; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// By name of the accelerator.
    accelerators: BTreeMap<String, OfAccelerator>,
}

/// Mappings of an accelerator: who chose them, and a digest for each network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfAccelerator {
    objective: String,
    effort: String,
    networks: BTreeMap<String, String>,
}

impl Mappings {
    /// Mappings that this program chose.
    pub(super) fn of(chosen: &ChosenMappings) -> Self {
        let version = (!chosen.is_empty()).then(|| choices_version().to_string());
        Self { version, accelerators: accelerators(chosen) }
    }

    /// Whether the mappings of both are of one version.
    pub(super) fn is_of_version_of(&self, other: &Self) -> bool {
        self.version == other.version
    }

    /// Whether no accelerator chose a mapping.
    pub(super) fn is_empty(&self) -> bool {
        self.accelerators.is_empty()
    }

    /// The mappings without what tells of their origin.
    fn chosen(&self) -> ChosenMappings {
        let mut chosen = ChosenMappings::default();
        for (name, it) in &self.accelerators {
            let OfAccelerator { objective, effort, networks } = it;
            let (objective, effort) = (objective.clone(), effort.clone());
            let by = ChosenBy { objective, effort, networks: BTreeMap::new() };
            chosen.add(name, by, networks.iter().map(|(network, it)| (&**network, &**it)));
        }
        chosen
    }

    /// How these mappings differ from those of `earlier`, in words; `None` if nothing shows that they do.
    pub(super) fn difference(&self, earlier: &Self) -> Option<String> {
        match (&self.version, &earlier.version) {
            (Some(own), Some(other)) if own != other => Some(earlier.other_version(other, own)),
            _ => {
                let place = self.chosen().difference(&earlier.chosen())?;
                Some(format!("its mappings of {place} differ"))
            }
        }
    }

    /// Why this program makes no results with these mappings, in words; `None` if it does.
    pub(super) fn refusal(&self) -> Option<String> {
        // The version takes some time to compute.
        let version = self.version.as_deref()?;
        let own = choices_version();
        (version != own).then(|| self.other_version(version, own))
    }

    fn other_version(&self, version: &str, own: &str) -> String {
        let names = self.chosen().names();
        format!(
            "its mappings of {names} are those of another cost model or search, of version {version} and not {own}"
        )
    }

    /// Adds those of `other`, which do not differ. Returns whether anything changed.
    pub(super) fn merge(&mut self, other: &Self) -> bool {
        let mut chosen = self.chosen();
        let is_changed = chosen.merge(&other.chosen());
        self.accelerators = accelerators(&chosen);
        self.version = self.version.take().or_else(|| other.version.clone());
        is_changed
    }

    /// The same as one record for each accelerator.
    pub(super) fn each(&self) -> impl Iterator<Item = Self> {
        self.accelerators.iter().map(|(name, it)| Self {
            version: self.version.clone(),
            accelerators: BTreeMap::from([(name.clone(), it.clone())]),
        })
    }

    /// Adds the mappings to a record of results, with one digest for each accelerator; nothing without any.
    pub(super) fn add_to(&self, record: &mut Map<String, Value>) {
        let digest = |(name, by): (&str, &ChosenBy)| {
            let ChosenBy { objective, effort, .. } = by;
            let value = json!({ "objective": objective, "effort": effort, "digest": by.digest() });
            (name.to_string(), value)
        };
        let accelerators: Map<_, _> = self.chosen().accelerators().map(digest).collect();
        if !accelerators.is_empty() {
            let value = json!({ "version": self.version, "accelerators": accelerators });
            record.insert(KEY.into(), value);
        }
    }
}

fn accelerators(chosen: &ChosenMappings) -> BTreeMap<String, OfAccelerator> {
    let of = |(name, by): (&str, &ChosenBy)| {
        let ChosenBy { objective, effort, networks } = by.clone();
        (name.to_string(), OfAccelerator { objective, effort, networks })
    };
    chosen.accelerators().map(of).collect()
}
