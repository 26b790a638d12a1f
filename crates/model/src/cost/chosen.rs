//! Digests of the mappings that accelerators chose, for records: results with other mappings are not mixed.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::digest::FastDigest;
use crate::hardware::{Accelerator, System};
use crate::ids::AccelId;
use crate::model::Network;
use crate::scenario::Scenario;

use super::{Choices, CostTable};

/// Digests of the mappings of accelerators. The number of accelerators and of networks of each is bounded: of more,
/// those stay whose names have the least digests. They are therefore the same for every order in which they are
/// added, and those of a whole are found from those of its parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChosenMappings {
    accelerators: BTreeMap<String, ChosenBy>,
}

/// Digests of the mappings of one accelerator.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChosenBy {
    /// Objective of the choices.
    pub objective: String,
    /// Name of the effort of the searches.
    pub effort: String,
    /// Digests by network.
    pub networks: BTreeMap<String, String>,
}

impl ChosenBy {
    /// Digest of the mappings of all networks in the order of their names, 16 hexadecimal digits.
    pub fn digest(&self) -> String {
        let of_network = |(network, digest): (&String, &String)| format!("{network} {digest}\n");
        let all: String = self.networks.iter().map(of_network).collect();
        FastDigest::of_text(&all).short()
    }

    fn add(&mut self, network: &str, digest: &str) -> bool {
        if self.networks.get(network).is_some_and(|known| known == digest) {
            return false;
        }
        let has_room = make_room(&mut self.networks, ChosenMappings::MAX_NETWORKS, network);
        if has_room {
            self.networks.insert(network.into(), digest.into());
        }
        has_room
    }
}

impl ChosenMappings {
    /// Most accelerators that are kept.
    pub const MAX_ACCELERATORS: usize = 64;

    /// Most networks of an accelerator that are kept.
    pub const MAX_NETWORKS: usize = 64;

    /// Whether no accelerator chose a mapping.
    pub fn is_empty(&self) -> bool {
        self.accelerators.is_empty()
    }

    /// Accelerators with their names, in the order of these. A name is `DATAFLOW@PES` or `NAME@PES`, a blank, and
    /// digits that tell accelerators of one name apart.
    pub fn accelerators(&self) -> impl Iterator<Item = (&str, &ChosenBy)> {
        self.accelerators.iter().map(|(name, it)| (&**name, it))
    }

    /// Adds the choices of an accelerator for a network. Returns whether anything changed.
    pub fn note(
        &mut self,
        accelerator: &Accelerator,
        network: &Network,
        choices: &Choices,
    ) -> bool {
        let name = named(&label(accelerator), choices.chooser.digest);
        let by = ChosenBy {
            objective: accelerator.mapping_objective.name().into(),
            effort: choices.chooser.effort.into(),
            networks: BTreeMap::new(),
        };
        let network = named(network.name(), network.digest());
        self.add(&name, by, [(&*network, &*choices.digest.short())])
    }

    /// Adds the choices for the models of a scenario on a system, whose costs are `costs`. Returns whether anything
    /// changed.
    pub fn note_run(&mut self, scenario: &Scenario, system: &System, costs: &CostTable) -> bool {
        let mut is_changed = false;
        let mut variants = vec![0; scenario.models().len()];
        for (model, network) in scenario.variants() {
            let variant = &mut variants[model.index()];
            let work = costs.variant(model, *variant);
            *variant += 1;
            for (at, accelerator) in system.accelerators().iter().enumerate() {
                let execution = work.map(|work| costs.on(work, AccelId::new(at)));
                if let Some(choices) = execution.and_then(|it| it.network().choices()) {
                    is_changed |= self.note(accelerator, network, choices);
                }
            }
        }
        is_changed
    }

    /// Adds digests of the mappings of an accelerator. Returns whether anything changed.
    pub fn add<'d>(
        &mut self,
        name: &str,
        by: ChosenBy,
        digests: impl IntoIterator<Item = (&'d str, &'d str)>,
    ) -> bool {
        let is_known = self.accelerators.contains_key(name);
        if !is_known && !make_room(&mut self.accelerators, Self::MAX_ACCELERATORS, name) {
            return false;
        }
        let accelerator = self.accelerators.entry(name.into()).or_insert(by);
        let changes = digests.into_iter().filter(|(network, it)| accelerator.add(network, it));
        changes.count() > 0 || !is_known
    }

    /// Adds those of `other`. Returns whether anything changed.
    pub fn merge(&mut self, other: &Self) -> bool {
        let mut is_changed = false;
        for (name, by) in &other.accelerators {
            let digests = by.networks.iter().map(|(network, it)| (&**network, &**it));
            let empty = ChosenBy { networks: BTreeMap::new(), ..by.clone() };
            is_changed |= self.add(name, empty, digests);
        }
        is_changed
    }

    /// The first network and accelerator whose mappings are others than in `other`, in words.
    pub fn difference(&self, other: &Self) -> Option<String> {
        self.accelerators.iter().find_map(|(name, by)| {
            let known = &other.accelerators.get(name)?.networks;
            let differs = |(network, it): &(&String, &String)| {
                known.get(*network).is_some_and(|known| known != *it)
            };
            let (network, _) = by.networks.iter().find(differs)?;
            Some(format!("{} on {}", without_digits(network), without_digits(name)))
        })
    }

    /// The accelerators in words, such as `WS@1024` or `WS@1024 and 2 more`; empty without any.
    pub fn names(&self) -> String {
        let mut names: Vec<_> = self.accelerators.keys().map(|name| without_digits(name)).collect();
        names.dedup();
        match &names[..] {
            [] => String::new(),
            [only] => (*only).into(),
            [first, more @ ..] => format!("{first} and {} more", more.len()),
        }
    }
}

/// Mappings that are noted by several threads.
#[derive(Debug, Default)]
pub struct ChosenLog(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    chosen: ChosenMappings,
    /// Whether anything changed since it was last asked for.
    is_changed: bool,
}

impl ChosenLog {
    /// Lets `note` add mappings; it returns whether anything changed.
    pub fn note(&self, note: impl FnOnce(&mut ChosenMappings) -> bool) {
        let Noted { chosen, is_changed } = &mut *self.lock();
        *is_changed |= note(chosen);
    }

    /// The mappings, if anything changed since the last call.
    pub fn changes(&self) -> Option<ChosenMappings> {
        let mut noted = self.lock();
        std::mem::take(&mut noted.is_changed).then(|| noted.chosen.clone())
    }

    /// The mappings.
    pub fn all(&self) -> ChosenMappings {
        self.lock().chosen.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Name of an accelerator for people: that of its dataflow, unless it has one of its own, and its PEs.
fn label(accelerator: &Accelerator) -> String {
    let Accelerator { name, dataflow, pes, .. } = accelerator;
    let dataflow = dataflow.name();
    // Styles number their accelerators: `WS-0`.
    let number = name.strip_prefix(dataflow).and_then(|rest| rest.strip_prefix('-'));
    let is_numbered = number.is_some_and(|it| it.bytes().all(|digit| digit.is_ascii_digit()));
    format!("{}@{pes}", if is_numbered { dataflow } else { name })
}

fn named(label: &str, digest: FastDigest) -> String {
    format!("{label} {}", &digest.short()[..8])
}

fn without_digits(name: &str) -> &str {
    name.rsplit_once(' ').map_or(name, |(name, _)| name)
}

/// Makes room for `name` among at most `most` names. Returns whether it belongs to them.
fn make_room<T>(names: &mut BTreeMap<String, T>, most: usize, name: &str) -> bool {
    if names.len() < most || names.contains_key(name) {
        return true;
    }
    let largest = names.keys().max_by_key(|it| FastDigest::of_text(it)).cloned();
    let Some(largest) = largest.filter(|it| FastDigest::of_text(name) < FastDigest::of_text(it))
    else {
        return false;
    };
    names.remove(&largest);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, network: &str, digest: &str) -> ChosenMappings {
        let mut chosen = ChosenMappings::default();
        let by =
            ChosenBy { objective: "edp".into(), effort: "default".into(), ..ChosenBy::default() };
        assert!(chosen.add(name, by, [(network, digest)]));
        chosen
    }

    fn all(parts: &[ChosenMappings]) -> ChosenMappings {
        let mut all = ChosenMappings::default();
        for part in parts {
            all.merge(part);
        }
        all
    }

    #[test]
    fn another_mapping_is_named_with_network_and_accelerator() {
        let both = all(&[one("WS@64 01", "KD 02", "aa"), one("OS@64 03", "KD 02", "bb")]);
        assert_eq!(both.difference(&one("WS@64 01", "KD 02", "aa")), None);
        let other = one("WS@64 01", "KD 02", "ab");
        assert_eq!(both.difference(&other).as_deref(), Some("KD on WS@64"));
        // Another accelerator, and another network, of the same name.
        assert_eq!(both.difference(&one("WS@64 04", "KD 02", "ab")), None);
        assert_eq!(both.difference(&one("WS@64 01", "KD 05", "ab")), None);
        assert_eq!(both.names(), "OS@64 and 1 more");
        let digest = |it: &ChosenMappings| it.accelerators().next().map(|(_, by)| by.digest());
        assert_ne!(digest(&one("WS@64 01", "KD 02", "aa")), digest(&other));
    }

    /// 300 accelerators, of which 64 stay: those of 100 parts of three, in whatever order.
    #[test]
    fn what_is_kept_is_bounded_and_depends_on_no_order_and_no_parts() {
        let singles: Vec<_> =
            (0..300).map(|it| one(&format!("WS@{it} {it:08x}"), "KD 02", "aa")).collect();
        let whole = all(&singles);
        assert_eq!(whole.accelerators().count(), ChosenMappings::MAX_ACCELERATORS);
        let mut reversed = singles.clone();
        reversed.reverse();
        assert_eq!(all(&reversed), whole);
        let mut parts: Vec<_> = singles.chunks(3).map(all).collect();
        parts.rotate_left(37);
        assert_eq!(all(&parts), whole);
        assert!(!whole.clone().merge(&all(&singles[..100])), "nothing is new");
    }

    #[test]
    fn the_networks_of_an_accelerator_are_bounded() {
        let singles = (0..100).map(|it| one("WS@64 01", &format!("N{it} {it:08x}"), "aa"));
        let singles: Vec<_> = singles.collect();
        let whole = all(&singles);
        let networks = whole.accelerators().map(|(_, by)| by.networks.len());
        assert_eq!(networks.collect::<Vec<_>>(), [ChosenMappings::MAX_NETWORKS]);
        let parts: Vec<_> = singles.rchunks(7).map(all).collect();
        assert_eq!(all(&parts), whole);
    }
}
