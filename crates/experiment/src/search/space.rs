//! The space of a search: dataflows, parts and chips within a budget, or a list of systems.

use std::sync::Arc;

use super::super::keys::Key;
use super::super::systems::{
    changed_platform, for_scenario, full_system, mapped, mapping, style_system,
};
use super::super::{ExperimentError, Settings};
use super::{Reader, Text, set};
use xrsim_config::{At, Hardware, resolve};
use xrsim_model::dataflow::Dataflow;
use xrsim_model::hardware::platform::Platform;
use xrsim_model::hardware::{Change, MemoryEnergy, System};
use xrsim_model::scenario::Scenario;
use xrsim_model::units::ClockRate;
use xrsim_search::{Chip, Fraction, Parts, Space, SpaceSettings};

/// Settings of a chip, and the values of the keys in which chips differ.
type Varied = (Settings, Vec<(Box<str>, Box<str>)>);

impl Reader<'_> {
    pub(super) fn space(
        &mut self,
        scenarios: &[Arc<Scenario>],
    ) -> Result<Option<Space>, ExperimentError> {
        let draft = self.draft;
        if !draft.body.systems.is_empty() {
            return self.listed(scenarios);
        }
        let lookup = |name: &str| self.catalog.dataflows(name);
        let dataflows = resolve(draft.body.dataflows.iter(), lookup, &mut self.problems)?;
        for (name, found) in draft.body.dataflows.iter().zip(dataflows.iter().flatten()) {
            let reference = super::reference(draft, &name.value);
            self.references.extend(found.iter().map(|it| (it.name().into(), reference.clone())));
        }
        self.refuse_repeated(draft.body.dataflows.iter());
        for (_, values) in &draft.body.chips {
            self.refuse_repeated(values.iter());
        }
        let chips = self.chips()?;
        let Some((dataflows, chips)) = dataflows.zip(chips) else { return Ok(None) };
        let dataflows: Vec<Arc<Dataflow>> = dataflows.into_iter().flatten().collect();
        let Some(first) = chips.first().cloned().filter(|_| self.problems.is_empty()) else {
            return Ok(None);
        };
        let mut settings = SpaceSettings::new(first, dataflows);
        settings.chips = chips;
        if let Some((from, to)) = draft.body.accelerators {
            settings.accelerators = from as usize..=to as usize;
        }
        if let Some(At { value: (pes, is_exact), .. }) = draft.body.pes {
            (settings.pes, settings.is_exact) = (pes, is_exact);
        }
        settings.step =
            draft.body.step.as_ref().map_or(settings.step.min(settings.pes), |it| it.value);
        for (parts, share) in settings.parts.iter_mut().zip(&draft.body.shares) {
            if let Some(share) = share {
                let fractions = share.value.iter().filter_map(|&(n, d)| Fraction::new(n, d));
                let mut fractions: Vec<_> = fractions.collect();
                fractions.sort();
                fractions.dedup();
                *parts = Parts::Fractions(fractions);
            }
        }
        let place = draft.body.step.as_ref().map(|it| it.span.clone());
        let place = place.or(draft.body.pes.as_ref().map(|it| it.span.clone())).unwrap_or(0..0);
        match Space::new(&settings) {
            Ok(space) => Ok(Some(space)),
            Err(error) => {
                self.problem(&place, error.to_string());
                Ok(None)
            }
        }
    }

    /// The space of systems that are given one by one.
    fn listed(&mut self, scenarios: &[Arc<Scenario>]) -> Result<Option<Space>, ExperimentError> {
        let draft = self.draft;
        let given = [
            draft.body.accelerators.is_some(),
            !draft.body.dataflows.is_empty(),
            draft.body.step.is_some(),
            !draft.body.chips.is_empty(),
            draft.body.shares.iter().any(Option::is_some),
        ];
        if given.contains(&true) {
            let message = "`systems` beside a budget: a space has one of the two; with systems, only \
                           `pes` and `scheduler` have a meaning";
            self.problem(&draft.body.systems[0].span, message);
        }
        let pes = draft.body.pes.as_ref().map_or(4096, |it| it.value.0);
        let platform = self.catalog.platform(self.settings.platform())?;
        let lookup = |name: &str| self.catalog.hardware(name);
        let Some(found) = resolve(draft.body.systems.iter(), lookup, &mut self.problems)? else {
            return Ok(None);
        };
        let mut systems: Vec<Arc<System>> = Vec::new();
        for (hardware, name) in found.into_iter().zip(&draft.body.systems) {
            let system = match hardware {
                Hardware::Style(style) => style_system(&style, pes, &platform, &self.settings),
                Hardware::System(system) => full_system(system, &self.settings),
                Hardware::Instances(_) => Err(ExperimentError::Conflict(
                    "a hardware file of the artifact has no dataflows".into(),
                )),
            };
            match system {
                Ok(system) if systems.iter().any(|it| it.name() == system.name()) => {
                    let message = format!("system `{}` is given twice", system.name());
                    self.problem(&name.span, message);
                }
                Ok(system) => {
                    let system = mapped(system, &self.settings.mapping)?;
                    match self.pinned_in_all(&system, scenarios) {
                        Ok(system) => systems.push(system),
                        Err(error) => self.problem(&name.span, error.to_string()),
                    }
                }
                Err(error) => self.problem(&name.span, error.to_string()),
            }
        }
        Ok(self.problems.is_empty().then(|| Space::of_systems(systems)))
    }

    /// The system with the weights in shared memory that stay there, which have to be those of the same networks in all
    /// scenarios.
    fn pinned_in_all(
        &self,
        system: &Arc<System>,
        scenarios: &[Arc<Scenario>],
    ) -> Result<Arc<System>, ExperimentError> {
        let all = scenarios.iter().map(|it| for_scenario(system, it, &self.catalog));
        let all = all.collect::<Result<Vec<_>, _>>()?;
        if all.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(ExperimentError::Conflict(format!(
                "system `{}` keeps weights in its shared memory (key `pinned`) that differ between the scenarios of this \
                 search",
                system.name()
            )));
        }
        Ok(all.into_iter().next().unwrap_or_else(|| Arc::clone(system)))
    }

    /// Refuses buffers as large as needed where the energy of a byte does not follow from their size.
    fn check_needed_memory(&mut self, platform: &Platform) {
        let Some(At { span, value: true }) = &self.draft.body.needed_memory else { return };
        let energy = &platform.byte_energy;
        for (name, energy) in [("scratchpad", energy.scratchpad), ("cluster", energy.cluster)] {
            if energy != MemoryEnergy::BySize {
                let message = format!(
                    "`local_memory: needed` sizes memories, but the energy of a byte of the {name} does not \
                     follow its size"
                );
                let help =
                    format!("set `{name}_per_byte: by-size` under `energy_pj` of the platform");
                self.problem_with_help(span, message, help);
            }
        }
    }

    /// Chips: the platform under every combination of the values of their keys.
    fn chips(&mut self) -> Result<Option<Vec<Chip>>, ExperimentError> {
        let draft = self.draft;
        let platform = self.catalog.platform(self.settings.platform())?;
        self.check_needed_memory(&platform);
        let Some(combinations) = self.combinations(&platform) else { return Ok(None) };
        let points = &draft.body.operating_points;
        if let Some(At { span, .. }) = points.first()
            && self.settings.has("hardware.clock_mhz")
        {
            let message = "`operating_points` beside a clock of all chips; give one of the two";
            self.problem(span, message);
        }
        let combinations = match points.is_empty() {
            true => combinations,
            false => combinations
                .iter()
                .flat_map(|it| points.iter().filter_map(move |point| at_point(it, point.value)))
                .collect(),
        };
        let chip = |(settings, varied): Varied| {
            let mut chip = Chip::new(Arc::new(changed_platform(&platform, &settings)?));
            chip.varied = varied;
            chip.mapping = mapping(&settings);
            // The accelerators of such a space are made without a scenario.
            if chip.mapping.pinned.as_ref().is_some_and(|it| !it.is_empty()) {
                return Err(ExperimentError::Conflict(
                    "`hardware.pinned` has no meaning for a search over a budget; list the `systems`, and let these keep \
                     weights (key `pinned`)"
                        .into(),
                ));
            }
            chip.change = settings.accelerator;
            Ok(chip)
        };
        let chips: Result<Vec<_>, ExperimentError> = combinations.into_iter().map(chip).collect();
        Ok(chips.map_or_else(
            |error| {
                let at = draft.body.chips.first().map_or(0..0, |(key, _)| key.span.clone());
                self.problem(&at, error.to_string());
                None
            },
            Some,
        ))
    }

    /// Settings under every combination of the values of the keys of chips; `None` if there are too many, or if a
    /// value is wrong.
    fn combinations(&mut self, platform: &Platform) -> Option<Vec<Varied>> {
        const MAX_CHIPS: usize = 10_000;
        let mut combinations: Vec<Varied> = vec![(self.settings.clone(), Vec::new())];
        for (key, values) in &self.draft.body.chips {
            self.check_dimension(key, values, platform);
            let mut next = Vec::new();
            for (settings, varied) in &combinations {
                for value in values {
                    let (mut settings, mut varied) = (settings.clone(), varied.clone());
                    if let Err(problem) = set(&mut settings, key, value) {
                        self.problems.push(problem);
                        return None;
                    }
                    if let Err(error) = settings.check_dram() {
                        self.problem(&value.span, error.to_string());
                        return None;
                    }
                    if values.len() > 1 {
                        varied.push((key.value.clone(), value.value.clone()));
                    }
                    next.push((settings, varied));
                }
            }
            combinations = next;
            if combinations.len() > MAX_CHIPS {
                let message =
                    format!("{} chips; at most {MAX_CHIPS} are allowed", combinations.len());
                self.problem(&key.span, message);
                return None;
            }
        }
        Some(combinations)
    }

    /// Refuses a dimension of chips that nothing bounds: the search would return its largest value.
    fn check_dimension(&mut self, key: &Text, values: &[Text], platform: &Platform) {
        type Dimension = (&'static str, Option<fn(&Platform) -> MemoryEnergy>);
        const WITH_AREA: [Dimension; 4] = [
            ("hardware.noc_bandwidth_bytes_per_cycle", None),
            ("hardware.shared_memory_kib", Some(|it| it.byte_energy.shared_memory)),
            ("hardware.scratchpad_kib", Some(|it| it.byte_energy.scratchpad)),
            ("hardware.cluster_memory_kib", Some(|it| it.byte_energy.cluster)),
        ];
        if values.len() < 2 {
            return;
        }
        let name = Key::find(&key.value).map_or(&*key.value, |(key, _)| key.name);
        let Some((_, energy)) = WITH_AREA.iter().find(|(known, _)| *known == name) else {
            let message = format!("nothing bounds `{}`: give one value", key.value);
            let known: Vec<_> = WITH_AREA.iter().map(|(name, _)| *name).collect();
            let help = match name {
                "hardware.clock_mhz" => {
                    "`operating_points: [{clock_mhz: 500, energy_scale: 0.6}, ..]` vary it with its energy".into()
                }
                _ => format!("dimensions with an area are {}", known.join(", ")),
            };
            self.problem_with_help(&key.span, message, help);
            return;
        };
        let bounding = ["area_mm2", "power_with_leakage_mw", "power_mw"];
        let body = self.body();
        let limits = body.constraints.iter().map(|(name, ..)| name);
        let objectives = body.objective.iter().flat_map(|it| it.value.quantities.iter());
        let names = limits.chain(objectives.map(|(name, _)| name));
        let is_bounded = names.into_iter().any(|it| bounding.contains(&&*it.value));
        if !is_bounded {
            let message = format!("nothing bounds `{}`", key.value);
            let help = "give a constraint such as `area_mm2: \"<= 60\"`, an objective on area or power, \
                        or one value";
            self.problem_with_help(&key.span, message, help);
        }
        // The default energy of the shared memory follows its size.
        let follows = |energy: MemoryEnergy| {
            energy == MemoryEnergy::BySize
                || (name == "hardware.shared_memory_kib" && energy == MemoryEnergy::Usual)
        };
        if energy.map(|energy| energy(platform)).is_some_and(|it| !follows(it)) {
            let message = format!("the energy of `{}` does not follow its size", key.value);
            let help =
                "a platform for this search gives the energy per byte of this memory as `by-size`";
            self.problem_with_help(&key.span, message, help);
        }
    }
}

/// Settings of a chip at an operating point: a clock \[MHz\] and the multiple of the energies of the chip. `None` for
/// a clock that is out of range.
fn at_point((settings, varied): &Varied, (mhz, scale): (f64, f64)) -> Option<Varied> {
    let mut settings = settings.clone();
    settings.accelerator.clock = Some(Change::To(ClockRate::from_mhz(mhz)?));
    settings.accelerator.energy.on_chip = Some(scale);
    let value = format!("{mhz} MHz x{scale}").into();
    Some((settings, [&varied[..], &[("operating_point".into(), value)]].concat()))
}
