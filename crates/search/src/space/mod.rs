//! Spaces of systems: accelerator types, and the multisets of them that keep within a budget.

mod budget;
mod systems;

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

pub(crate) use budget::RESOURCES;
pub use budget::{AcceleratorType, Chip, Fraction, Parts, SpaceError, SpaceSettings};
pub use systems::Systems;
pub(crate) use systems::Used;

use budget::{options, part, units};
use xrsim_model::cost::CostModel;
use xrsim_model::dataflow::Dataflow;
use xrsim_model::hardware::platform::Instance;
use xrsim_model::hardware::{Accelerator, Dram, HardwareError, LocalBuffers, System};
use xrsim_model::model::Network;
use xrsim_model::parallel;
use xrsim_model::units::Bytes;

/// Accelerator types and the systems of them.
#[derive(Debug, Clone)]
pub struct Space {
    chips: Vec<Chip>,
    dataflows: Vec<Arc<Dataflow>>,
    /// Systems that are given one by one, in place of a budget.
    listed: Vec<Arc<System>>,
    types: Vec<AcceleratorType>,
    /// Buffers of PEs and clusters of every type, in place of the declared ones; empty if these count.
    buffers: Vec<Option<LocalBuffers>>,
    accelerators: RangeInclusive<usize>,
    pes: u32,
    is_exact: bool,
    step: u32,
    /// Units that each resource is counted in; 0 if it is divided as the PEs.
    units: [u32; 3],
    /// Types by their chip and their part of the budget, where systems must use all of it.
    by_use: HashMap<(u16, Used), Vec<u32>>,
}

impl Space {
    /// Most types that are costed.
    pub const MAX_TYPES: usize = 1_000_000;

    /// Most accelerators of a system.
    pub const MAX_ACCELERATORS: usize = 16;

    /// The space that `settings` describe.
    ///
    /// Where some part is independent of the PEs, PEs that a dataflow cannot use ([`Accelerator`] without
    /// choices of clusters) are left out: an accelerator without them has the same costs in less of the
    /// budget.
    ///
    /// # Errors
    ///
    /// [`SpaceError`].
    pub fn new(settings: &SpaceSettings) -> Result<Self, SpaceError> {
        let SpaceSettings { chips, dataflows, accelerators, pes, is_exact, step, parts } = settings;
        if *step == 0 || *pes == 0 {
            return Err(SpaceError::Number("PEs and their step are above 0"));
        }
        if *accelerators.start() == 0 || *accelerators.end() > Self::MAX_ACCELERATORS {
            return Err(SpaceError::Number("a system has 1 to 16 accelerators"));
        }
        chips.iter().try_for_each(|chip| chip.budget().map(drop))?;
        let mut space = Self {
            chips: chips.clone(),
            dataflows: dataflows.clone(),
            listed: Vec::new(),
            types: Vec::new(),
            buffers: Vec::new(),
            accelerators: accelerators.clone(),
            pes: *pes,
            is_exact: *is_exact,
            step: *step,
            units: [units(&parts[0])?, units(&parts[1])?, units(&parts[2])?],
            by_use: HashMap::new(),
        };
        space.add_types(parts)?;
        if space.types.is_empty() {
            return Err(space.empty());
        }
        if space.is_exact {
            for (index, it) in space.types.iter().enumerate() {
                let key = (it.chip, space.use_of(it));
                space.by_use.entry(key).or_default().push(index as u32);
            }
        }
        Ok(space)
    }

    /// The space of these systems.
    pub fn of_systems(systems: Vec<Arc<System>>) -> Self {
        let mut types = Vec::new();
        for system in &systems {
            types.extend(system.accelerators().iter().map(|accelerator| AcceleratorType {
                chip: 0,
                dataflow: 0,
                pes: accelerator.pes,
                of: u32::MAX,
                parts: [None; 3],
            }));
        }
        let pes = systems.iter().map(|system| system.pes()).max().unwrap_or(0);
        let pes = u32::try_from(pes).unwrap_or(u32::MAX);
        Self {
            chips: Vec::new(),
            dataflows: Vec::new(),
            listed: systems,
            types,
            buffers: Vec::new(),
            accelerators: 1..=Self::MAX_ACCELERATORS,
            pes,
            is_exact: false,
            step: 1,
            units: [0; 3],
            by_use: HashMap::new(),
        }
    }

    /// The same space, in which the buffers of PEs and clusters of every type are as large as `networks` need
    /// there. Networks that a type cannot run do not count.
    #[must_use]
    pub fn with_needed_buffers(
        mut self,
        networks: &[Arc<Network>],
        cost_model: &dyn CostModel,
        done: &(impl Fn(u64) + Sync),
    ) -> Self {
        let needed = |index: usize| {
            let all = cost_model.local_buffers_of_all(networks, &self.accelerator(index));
            done(1);
            all
        };
        self.buffers = parallel::map_indices(self.types.len(), needed);
        self
    }

    /// Buffers of PEs and clusters of a type, where they are as large as needed.
    pub fn buffers(&self, index: usize) -> Option<&LocalBuffers> {
        self.buffers.get(index)?.as_ref()
    }

    fn add_types(&mut self, parts: &[Parts; 3]) -> Result<(), SpaceError> {
        let options = parts.each_ref().map(options);
        let n_parts = options.iter().map(|it| it.len() as u64).product::<u64>();
        let n_wholes = u64::from(self.pes.ilog2()) + 1;
        let per_dataflow = u64::from(self.pes / self.step) * n_parts * n_wholes;
        let all = per_dataflow * (self.dataflows.len() * self.chips.len()) as u64;
        if all > 64 * Self::MAX_TYPES as u64 {
            return Err(SpaceError::TooManyTypes { types: all });
        }
        let is_independent = self.units.iter().all(|&units| units > 0);
        for (chip, dataflow) in self.pairs() {
            let unit = self.dataflows[dataflow].pes_per_unit();
            let keeps_clusters = self.keeps_clusters(chip, dataflow);
            for pes in (1..=self.pes / self.step).map(|n| n * self.step) {
                let wasteful = !u64::from(pes).is_multiple_of(unit);
                if u64::from(pes) < unit || (is_independent && keeps_clusters && wasteful) {
                    continue;
                }
                for of in self.wholes(pes) {
                    for &noc in &options[0] {
                        for &shared in &options[1] {
                            self.types.extend(options[2].iter().map(|&dram| AcceleratorType {
                                chip: chip as u16,
                                dataflow: dataflow as u16,
                                pes,
                                of,
                                parts: [noc, shared, dram],
                            }));
                        }
                    }
                }
            }
        }
        match self.types.len() {
            n if n > Self::MAX_TYPES => Err(SpaceError::TooManyTypes { types: n as u64 }),
            _ => Ok(()),
        }
    }

    /// PEs that may have the whole of what is divided as the PEs, for an accelerator with this many.
    fn wholes(&self, pes: u32) -> Vec<u32> {
        if !self.divides_by_use() {
            return vec![self.pes];
        }
        let mut wholes: Vec<u32> = Vec::new();
        if *self.accelerators.start() == 1 {
            wholes.push(pes);
        }
        // Another accelerator needs a step at least.
        let least = pes.saturating_add(self.step);
        if *self.accelerators.end() > 1 && least <= self.pes {
            let (first, last) = (self.whole_of(least), self.whole_of(self.pes));
            let next = |it: &u32| it.checked_mul(2).filter(|it| *it <= last);
            wholes.extend(std::iter::successors(Some(first), next));
        }
        wholes
    }

    /// PEs that have the whole of what is divided as the PEs, in a system of several accelerators with `pes`: the least
    /// power of two of steps. It does not depend on the budget, so that a larger one is never worse.
    pub(super) fn whole_of(&self, pes: u32) -> u32 {
        let steps = pes.div_ceil(self.step).next_power_of_two();
        steps.saturating_mul(self.step)
    }

    /// Whether something is divided as the PEs of a system that need not use the whole budget.
    pub(super) fn divides_by_use(&self) -> bool {
        self.listed.is_empty() && !self.is_exact && self.units.contains(&0)
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let n_dataflows = self.dataflows.len();
        (0..self.chips.len()).flat_map(move |chip| (0..n_dataflows).map(move |it| (chip, it)))
    }

    /// Whether accelerators of `dataflow` on `chip` have the clusters of their directives.
    fn keeps_clusters(&self, chip: usize, dataflow: usize) -> bool {
        let own = self.dataflows[dataflow].flexibility().unwrap_or_default();
        !self.chips[chip].mapping.flexibility.unwrap_or(own).chooses_clusters()
    }

    pub(crate) fn empty(&self) -> SpaceError {
        let need = |it: &Arc<Dataflow>| format!("{} needs {} PEs", it.name(), it.pes_per_unit());
        let needs: Vec<_> = self.dataflows.iter().map(need).collect();
        SpaceError::Empty { step: self.step, pes: self.pes, needs: needs.join(", ") }
    }

    /// Accelerator types, in the order of chips, dataflows, PEs, wholes and parts.
    pub fn types(&self) -> &[AcceleratorType] {
        &self.types
    }

    /// Chips; none for a list of systems.
    pub fn chips(&self) -> &[Chip] {
        &self.chips
    }

    /// PEs of the budget.
    pub fn pes(&self) -> u32 {
        self.pes
    }

    /// PEs of an accelerator are multiples of this number.
    pub fn step(&self) -> u32 {
        self.step
    }

    /// The accelerator of type `index`.
    pub fn accelerator(&self, index: usize) -> Accelerator {
        let it = &self.types[index];
        if !self.listed.is_empty() {
            let mut all = self.listed.iter().flat_map(|system| system.accelerators());
            return all.nth(index).expect("every accelerator has a type").clone();
        }
        let chip = &self.chips[usize::from(it.chip)];
        let budget = chip.budget().expect("it was checked");
        let dataflow = &self.dataflows[usize::from(it.dataflow)];
        let of = |resource: usize, whole: u64| match it.parts[resource] {
            Some(fraction) => fraction.of(whole),
            None => part(whole, it.pes, it.of),
        };
        let (noc, memory) = (&budget.noc, &budget.memory);
        let mut memory = memory.clone();
        memory.shared = Bytes::new(of(1, memory.shared.get()));
        if chip.platform.dram == Dram::Split {
            memory.dram_bandwidth = of(2, memory.dram_bandwidth);
        }
        let instance = Instance {
            name: dataflow.name().into(),
            pes: it.pes,
            noc: match budget.noc_unpartitioned {
                true => noc.clone(),
                false => noc.shared(|bandwidth| of(0, bandwidth)),
            },
            memory,
        };
        let name = instance.name.clone();
        let accelerator = instance.with(name, dataflow, &chip.platform).mapped(&chip.mapping);
        let accelerator = chip.change.of(&accelerator);
        match self.buffers.get(index) {
            Some(Some(buffers)) => accelerator.with_buffers(buffers),
            _ => accelerator,
        }
    }

    /// An accelerator of each chip, or every one of a list of systems.
    pub fn samples(&self) -> impl Iterator<Item = Accelerator> {
        let is_first = |&index: &usize| {
            let is_of_chip = |other: usize| self.types[other].chip == self.types[index].chip;
            index == 0 || !self.listed.is_empty() || !is_of_chip(index - 1)
        };
        (0..self.types.len()).filter(is_first).map(|index| self.accelerator(index))
    }

    /// The accelerator of type `index`, if it can be built.
    pub(crate) fn checked_accelerator(&self, index: usize) -> Option<Accelerator> {
        let accelerator = self.accelerator(index);
        System::new("one", vec![accelerator.clone()]).ok().map(|_| accelerator)
    }

    /// The system of these types, in their order, of which there is at least one. Accelerators are named by
    /// dataflow and position.
    ///
    /// # Errors
    ///
    /// [`HardwareError`] if an accelerator cannot be built.
    pub fn system(&self, members: &[u32]) -> Result<Arc<System>, HardwareError> {
        if !self.listed.is_empty() {
            let first = members.first().map_or(0, |&it| it as usize);
            let mut before = 0;
            let found = self.listed.iter().find(|system| {
                let here = before == first;
                before += system.accelerators().len();
                here
            });
            return Ok(Arc::clone(found.expect("the members are those of a system")));
        }
        let accelerators = members.iter().enumerate().map(|(index, &member)| {
            let mut accelerator = self.accelerator(member as usize);
            accelerator.name = format!("{}-{index}", accelerator.dataflow.name()).into();
            accelerator
        });
        let chip = usize::from(self.types[members[0] as usize].chip);
        let platform = &self.chips[chip].platform;
        let system = System::new(self.name(members), accelerators.collect())?;
        Ok(Arc::new(system.in_technology(platform.technology.clone()).with_dram(platform.dram)))
    }

    /// Name of the system of these types: dataflows with their PEs, and parts that are not as the PEs. PEs
    /// are in steps of the space where systems use the whole budget, e.g. `WS:11 + WS:21`, and else plain, e.g.
    /// `WS@1408`.
    pub fn name(&self, members: &[u32]) -> String {
        if !self.listed.is_empty() {
            return self.system(members).map_or(String::new(), |system| system.name().into());
        }
        let of = |&member: &u32| {
            let it = &self.types[member as usize];
            let dataflow = self.dataflows[usize::from(it.dataflow)].name();
            let parts = RESOURCES.iter().zip(it.parts);
            let parts: Vec<_> =
                parts.filter_map(|(name, part)| Some(format!("{name} {}", part?))).collect();
            // Styles spell out shares of a whole budget in the same way.
            let pes = match self.is_exact {
                true => format!(":{}", it.pes / self.step),
                false => format!("@{}", it.pes),
            };
            match parts.is_empty() {
                true => format!("{dataflow}{pes}"),
                false => format!("{dataflow}{pes} ({})", parts.join(", ")),
            }
        };
        let names: Vec<_> = members.iter().map(of).collect();
        let chip =
            members.first().map(|&it| &self.chips[usize::from(self.types[it as usize].chip)]);
        let varied = chip.into_iter().flat_map(|chip| &chip.varied);
        let varied: Vec<_> = varied.map(|(key, value)| format!("{key}={value}")).collect();
        match varied.is_empty() {
            true => names.join(" + "),
            false => format!("{} @ {}", names.join(" + "), varied.join(", ")),
        }
    }

    /// PEs of these types that their dataflows cannot use.
    pub fn idle_pes(&self, members: &[u32]) -> u64 {
        let idle = |&member: &u32| {
            let it = &self.types[member as usize];
            match self.listed.is_empty() {
                true => {
                    let unit = self.dataflows[usize::from(it.dataflow)].pes_per_unit().max(1);
                    u64::from(it.pes) % unit
                }
                false => {
                    let dataflow = self.accelerator(member as usize).dataflow;
                    u64::from(it.pes) % dataflow.pes_per_unit().max(1)
                }
            }
        };
        members.iter().map(idle).sum()
    }

    /// Numbers of accelerators.
    pub(crate) fn accelerators(&self) -> RangeInclusive<usize> {
        self.accelerators.clone()
    }

    /// Whether systems have exactly as many PEs as the budget.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }
}
