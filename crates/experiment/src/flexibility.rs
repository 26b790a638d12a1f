//! The choice of mappings of systems, for results.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use xrsim_config::{Catalog, Hardware};
use xrsim_model::cost::loop_nest::LoopNest;
use xrsim_model::hardware::{Accelerator, Flexibility, Fusion, Share, System};
use xrsim_model::mapper::Effort;
use xrsim_model::sequence::distinct;
use xrsim_sim::plan::Semantics;

use super::systems::name_with_pes;
use super::{NamedCostModel, Prepared, Settings};

/// Flexibility of a system in words, e.g. `tiles`; one for each accelerator, such as `tiles + none`, if they
/// differ. It is `none` under a cost model without choice of mappings.
pub fn flexibility_of(system: &System, cost_model: &NamedCostModel) -> String {
    words(system, |accelerator| effective(accelerator, cost_model).name())
}

/// Objective of the choices of a system, as [`flexibility_of`]; `None` if it has no choices.
pub fn objective_of(system: &System, cost_model: &NamedCostModel) -> Option<String> {
    let chooses = |it: &Accelerator| effective(it, cost_model) != Flexibility::None;
    let any = system.accelerators().iter().any(chooses);
    any.then(|| words(system, |accelerator| accelerator.mapping_objective.name()))
}

/// Name of the effort of the search for the mappings of a system; `None` if it has no choices, or those of a model
/// of the caller's.
pub fn effort_of(system: &System, cost_model: &NamedCostModel) -> Option<&'static str> {
    objective_of(system, cost_model)?;
    cost_model.effort().map(Effort::name)
}

/// Part of the time that networks may fill on the accelerators of a system, as [`flexibility_of`]; `None` unless
/// one of them chooses mappings by it.
pub fn deadline_share_of(system: &System, cost_model: &NamedCostModel) -> Option<String> {
    let by_period = |it: &Accelerator| it.chooses_by_period();
    let any = cost_model.model.chooses_mappings() && system.accelerators().iter().any(by_period);
    let word = |it: &Accelerator| match by_period(it) {
        true => it.mapping_deadline.share.get().to_string(),
        false => "-".into(),
    };
    any.then(|| words(system, word))
}

/// Operators that ride along on a system, as [`flexibility_of`]; `None` if there are none.
pub fn fusion_of(system: &System, cost_model: &NamedCostModel) -> Option<String> {
    let any = system.accelerators().iter().any(|it| it.write_back.fusion != Fusion::None);
    let has_effect = cost_model.name == LoopNest::NAME;
    (any && has_effect).then(|| words(system, |it| it.write_back.fusion.name()))
}

/// Models whose weights stay in shared memory, as [`flexibility_of`]; `None` if there are none.
pub fn pinned_of(system: &System, cost_model: &NamedCostModel) -> Option<String> {
    let any = system.accelerators().iter().any(|it| !it.pinned.tasks().is_empty());
    let has_effect = cost_model.name == LoopNest::NAME;
    (any && has_effect).then(|| {
        words(system, |it| match it.pinned.tasks() {
            [] => "none".into(),
            tasks => tasks.join(", "),
        })
    })
}

/// Flexibility that has an effect on the costs of an accelerator.
fn effective(accelerator: &Accelerator, cost_model: &NamedCostModel) -> Flexibility {
    match cost_model.chooses_mappings_on(accelerator) {
        true => accelerator.flexibility,
        false => Flexibility::None,
    }
}

/// The word of every accelerator, or one word if they are equal.
fn words<W: Into<String>>(system: &System, word: impl Fn(&Accelerator) -> W) -> String {
    let words: Vec<String> = system.accelerators().iter().map(|it| word(it).into()).collect();
    match words.iter().all(|it| *it == words[0]) {
        true => words[0].clone(),
        false => words.join(" + "),
    }
}

/// Warnings about systems of which no power and no energy is known.
pub(super) fn powerless(
    cost_model: &NamedCostModel,
    systems: &[Arc<System>],
) -> impl Iterator<Item = String> {
    let knows = cost_model.has_energies();
    systems.iter().filter(move |system| !knows && system.is_powerless()).map(|system| {
        format!(
            "system `{}` has no power, and the table no energy: it has no energy score, which counts as 1",
            system.name()
        )
    })
}

impl Prepared {
    /// Whether an accelerator of the runs chooses mappings.
    pub fn chooses_mappings(&self) -> bool {
        self.systems().any(|(system, model)| objective_of(system, model).is_some())
    }

    /// Flexibility of the runs: a word, or an object with that of every system if they differ.
    pub(crate) fn flexibility(&self) -> Value {
        self.per_system(|system, model| Some(flexibility_of(system, model)))
    }

    /// Flexibility, objective and effort of the runs, as a record has them.
    pub fn mapping_record(&self) -> Map<String, Value> {
        let mut record = Map::from_iter([("flexibility".to_string(), self.flexibility())]);
        let objective = self.per_system(objective_of);
        record.extend((!objective.is_null()).then(|| ("mapping_objective".into(), objective)));
        let effort = self.per_system(|system, model| effort_of(system, model).map(Into::into));
        record.extend((!effort.is_null()).then(|| ("mapping_effort".into(), effort)));
        let share = self.per_system(deadline_share_of);
        record.extend((!share.is_null()).then(|| ("mapping_deadline_share".into(), share)));
        record
    }

    /// The text of all systems that have one: a string if they are equal, or else an object by system.
    fn per_system(&self, text: impl Fn(&System, &NamedCostModel) -> Option<String>) -> Value {
        let mut texts = Map::new();
        for (system, cost_model) in self.systems() {
            if let Some(text) = text(system, cost_model) {
                texts.insert(name_with_pes(system), json!(text));
            }
        }
        let mut values = texts.values();
        let Some(first) = values.next() else { return Value::Null };
        match values.all(|it| it == first) {
            true => first.clone(),
            false => texts.into(),
        }
    }
}

/// Whether a file says that an accelerator of this hardware chooses mappings.
pub(super) fn says_flexibility(hardware: &Hardware) -> bool {
    let chooses = |it: &Flexibility| *it != Flexibility::None;
    match hardware {
        Hardware::Style(style) => {
            let of_share = |share: &Share| {
                let of_dataflow = share.dataflow.flexibility();
                share.mapping.flexibility.or(style.mapping.flexibility).or(of_dataflow)
            };
            style.shares.iter().filter_map(of_share).any(|it| chooses(&it))
        }
        Hardware::System(system) => {
            // A system that has the default may say so, or nothing.
            let mut all = system.accelerators().iter().map(|it| it.flexibility);
            all.any(|it| chooses(&it) && it != Flexibility::DEFAULT)
        }
        Hardware::Instances(_) => false,
    }
}

/// Warnings about keys of what rides along that have no effect, because only concatenations are joined, or nothing.
pub(crate) fn ignored_riders(
    settings: &Settings,
    cost_model: &NamedCostModel,
    systems: &[Arc<System>],
    catalog: &Catalog,
) -> Vec<String> {
    let rides = |system: &Arc<System>| {
        let mut all = system.accelerators().iter();
        all.any(|it| it.write_back.fusion == Fusion::Elementwise)
    };
    if systems.iter().any(rides) || cost_model.name != LoopNest::NAME {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    for key in ["fused_reads", "post_ops_per_cycle"] {
        let places = systems.iter().filter_map(|it| catalog.place_of_key(it.name(), key));
        let setting = settings.has(&format!("hardware.{key}")).then(|| format!("hardware.{key}"));
        for place in distinct(places.chain(setting)) {
            warnings.push(format!(
                "{place}: `{key}` has no effect without operators that ride along (`fusion: elementwise`)"
            ));
        }
    }
    warnings
}

/// Warning about flexibility that has no effect under these settings, if there is any: that of a file with
/// `mlsys2023` semantics, and any other than `none` with a cost model that has no choice.
pub(crate) fn ignored_flexibility(
    settings: &Settings,
    cost_model: &NamedCostModel,
    hardware: &[(String, Hardware)],
) -> Option<String> {
    let of_file = hardware.iter().find(|(_, hardware)| says_flexibility(hardware));
    match (settings.semantics, settings.mapping.flexibility, of_file) {
        (Semantics::Mlsys2023, _, Some((name, _))) => Some(format!(
            "{name}: flexibility has no effect with --semantics mlsys2023, whose dataflows map every layer"
        )),
        (Semantics::Mlsys2023, ..) | (_, Some(Flexibility::None), _) | (_, None, None) => None,
        _ => cost_model.fixed_mappings(),
    }
}
