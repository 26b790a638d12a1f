//! Spaces of systems: accelerator types, and the multisets of them that keep within a budget.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use rayon::prelude::*;
use thiserror::Error;

use crate::cost::CostModel;
use crate::dataflow::Dataflow;
use crate::hardware::platform::{Budget, Instance, Platform, Resources};
use crate::hardware::{
    Accelerator, AcceleratorChange, HardwareError, LocalBuffers, MappingSettings, Memory, System,
};
use crate::model::Network;
use crate::units::Bytes;

/// A chip whose resources the accelerators of a system divide.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Chip {
    /// Platform with a budget, after all changes.
    pub platform: Arc<Platform>,
    /// Values of the keys in which chips of a space differ, as text; empty if there is one chip.
    pub varied: Vec<(Box<str>, Box<str>)>,
    /// Choice of mappings of every accelerator, where it is not that of the dataflow.
    pub mapping: MappingSettings,
    /// Changes of every accelerator.
    pub change: AcceleratorChange,
}

impl Chip {
    /// A chip of `platform` without changes.
    pub fn new(platform: Arc<Platform>) -> Self {
        Self {
            platform,
            varied: Vec::new(),
            mapping: MappingSettings::default(),
            change: AcceleratorChange::default(),
        }
    }

    /// Its resources.
    ///
    /// # Errors
    ///
    /// [`SpaceError::NoBudget`] if the platform has tables.
    pub(crate) fn budget(&self) -> Result<&Budget, SpaceError> {
        match &self.platform.resources {
            Resources::Budget(budget) => Ok(budget),
            Resources::Tables(_) => {
                Err(SpaceError::NoBudget { platform: self.platform.name.clone() })
            }
        }
    }
}

/// Parts of a resource that an accelerator may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parts {
    /// As large a part as its PEs are of all PEs of the budget.
    AsPes,
    /// One of these fractions, whatever its PEs. Those of a system add up to at most 1.
    Fractions(Vec<Fraction>),
}

/// A fraction in (0, 1], in lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fraction {
    numerator: u16,
    denominator: u16,
}

impl Fraction {
    /// The whole.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// Largest denominator.
    pub const MAX_DENOMINATOR: u16 = 1024;

    /// `numerator / denominator`; `None` unless it is above 0, at most 1, and has a denominator of at most
    /// [`Fraction::MAX_DENOMINATOR`].
    pub fn new(numerator: u16, denominator: u16) -> Option<Self> {
        let fits = numerator > 0 && numerator <= denominator;
        let common = gcd(numerator.into(), denominator.into()) as u16;
        let reduced = || Self { numerator: numerator / common, denominator: denominator / common };
        (fits && denominator <= Self::MAX_DENOMINATOR).then(reduced)
    }

    /// `whole` times the fraction, rounded down, at least 1.
    fn of(self, whole: u64) -> u64 {
        part(whole, u32::from(self.numerator), u32::from(self.denominator))
    }

    /// Parts of one of `units` that it is; `units` is a multiple of the denominator.
    fn units(self, units: u32) -> u32 {
        units / u32::from(self.denominator) * u32::from(self.numerator)
    }
}

impl std::fmt::Display for Fraction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            _ => write!(f, "{}/{}", self.numerator, self.denominator),
        }
    }
}

/// Resources that the accelerators of a system divide.
pub(crate) const RESOURCES: [&str; 3] = ["noc", "shared_memory", "dram"];

/// Description of a space.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SpaceSettings {
    /// Chips; a system is on one of them.
    pub chips: Vec<Chip>,
    /// Dataflows that an accelerator may have.
    pub dataflows: Vec<Arc<Dataflow>>,
    /// Numbers of accelerators.
    pub accelerators: RangeInclusive<usize>,
    /// PEs of the budget.
    pub pes: u32,
    /// Whether systems use the whole budget: exactly as many PEs, and parts that add up to 1.
    pub is_exact: bool,
    /// PEs of an accelerator are multiples of this number.
    pub step: u32,
    /// Parts of the on-chip network, the shared memory and the DRAM bandwidth.
    pub parts: [Parts; 3],
}

impl SpaceSettings {
    /// One to two accelerators with at most 4,096 PEs in steps of 128, whose parts are as their PEs.
    pub fn new(chip: Chip, dataflows: Vec<Arc<Dataflow>>) -> Self {
        Self {
            chips: vec![chip],
            dataflows,
            accelerators: 1..=2,
            pes: 4096,
            is_exact: false,
            step: 128,
            parts: [Parts::AsPes, Parts::AsPes, Parts::AsPes],
        }
    }
}

/// Reason for which a space cannot be made.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SpaceError {
    /// The platform has no budget to divide.
    #[error("platform `{platform}` has fixed tables and no budget that a search could divide")]
    NoBudget {
        /// The platform.
        platform: Box<str>,
    },
    /// No system keeps within the budget.
    #[error("step {step} leaves no partition of {pes} PEs: {needs}")]
    Empty {
        /// The step.
        step: u32,
        /// The budget.
        pes: u32,
        /// PEs that the dataflows need at least.
        needs: String,
    },
    /// There are too many types to cost.
    #[error("{types} accelerator types; at most {} are costed", Space::MAX_TYPES)]
    TooManyTypes {
        /// Number of types.
        types: u64,
    },
    /// A number has no meaning in a space.
    #[error("{0}")]
    Number(&'static str),
    /// Hardware that cannot be built.
    #[error(transparent)]
    Hardware(#[from] HardwareError),
}

/// An accelerator of a space, as its parameters. [`Space::accelerator`] makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AcceleratorType {
    /// Index of the chip.
    pub chip: u16,
    /// Index of the dataflow.
    pub dataflow: u16,
    /// Number of PEs.
    pub pes: u32,
    /// Parts of the network, the shared memory and the DRAM bandwidth; `None` is as its PEs.
    pub parts: [Option<Fraction>; 3],
}

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
        let buffers = (0..self.types.len()).into_par_iter().map(needed).collect();
        self.buffers = buffers;
        self
    }

    /// Buffers of PEs and clusters of a type, where they are as large as needed.
    pub fn buffers(&self, index: usize) -> Option<&LocalBuffers> {
        self.buffers.get(index)?.as_ref()
    }

    fn add_types(&mut self, parts: &[Parts; 3]) -> Result<(), SpaceError> {
        let options = parts.each_ref().map(options);
        let n_parts = options.iter().map(|it| it.len() as u64).product::<u64>();
        let per_dataflow = u64::from(self.pes / self.step) * n_parts;
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
                for &noc in &options[0] {
                    for &shared in &options[1] {
                        self.types.extend(options[2].iter().map(|&dram| AcceleratorType {
                            chip: chip as u16,
                            dataflow: dataflow as u16,
                            pes,
                            parts: [noc, shared, dram],
                        }));
                    }
                }
            }
        }
        match self.types.len() {
            n if n > Self::MAX_TYPES => Err(SpaceError::TooManyTypes { types: n as u64 }),
            _ => Ok(()),
        }
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

    pub(super) fn empty(&self) -> SpaceError {
        let need = |it: &Arc<Dataflow>| format!("{} needs {} PEs", it.name(), it.pes_per_unit());
        let needs: Vec<_> = self.dataflows.iter().map(need).collect();
        SpaceError::Empty { step: self.step, pes: self.pes, needs: needs.join(", ") }
    }

    /// Accelerator types, in the order of chips, dataflows, PEs and parts.
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
            None => part(whole, it.pes, self.pes),
        };
        let (noc, memory, whole) = (&budget.noc, &budget.memory, budget.unpartitioned);
        let instance = Instance {
            name: dataflow.name().into(),
            pes: it.pes,
            noc: match whole.noc {
                true => noc.clone(),
                false => noc.shared(|bandwidth| of(0, bandwidth)),
            },
            memory: Memory {
                shared: Bytes::new(of(1, memory.shared.get())),
                dram_bandwidth: match whole.dram {
                    true => memory.dram_bandwidth,
                    false => of(2, memory.dram_bandwidth),
                },
                ..memory.clone()
            },
        };
        let name = instance.name.clone();
        let accelerator = instance.with(name, dataflow, &chip.platform).mapped(chip.mapping);
        let accelerator = chip.change.of(&accelerator);
        match self.buffers.get(index) {
            Some(Some(buffers)) => accelerator.with_buffers(buffers),
            _ => accelerator,
        }
    }

    /// The accelerator of type `index`, if it can be built.
    pub(super) fn checked_accelerator(&self, index: usize) -> Option<Accelerator> {
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
            let accelerator = self.accelerator(member as usize);
            let name = format!("{}-{index}", accelerator.dataflow.name()).into();
            Accelerator { name, ..accelerator }
        });
        let chip = usize::from(self.types[members[0] as usize].chip);
        let system = System::new(self.name(members), accelerators.collect())?;
        Ok(Arc::new(system.in_technology(self.chips[chip].platform.technology.clone())))
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

    /// Every system, in order: by chip, then by the types in it; each multiset of types once.
    ///
    /// # Errors
    ///
    /// The number of systems, or [`Systems::MAX`] + 1 for more, if there are too many to list;
    /// [`SpaceError::Empty`] if there is none.
    pub fn systems(&self) -> Result<Result<Systems, u64>, SpaceError> {
        let mut systems = Systems { members: Vec::new(), ends: Vec::new() };
        if !self.listed.is_empty() {
            let mut next = 0;
            for system in &self.listed {
                let n = system.accelerators().len() as u32;
                systems.members.extend(next..next + n);
                systems.ends.push(systems.members.len());
                next += n;
            }
            return Ok(Ok(systems));
        }
        let n_systems = self.count();
        if n_systems == 0 {
            return Err(self.empty());
        }
        if n_systems > Systems::MAX {
            return Ok(Err(n_systems));
        }
        let is_all = self.visit(&mut |members| {
            systems.members.extend_from_slice(members);
            systems.ends.push(systems.members.len());
            true
        });
        Ok(if is_all { Ok(systems) } else { Err(Self::UNCOUNTED) })
    }

    /// Number of systems; [`Space::UNCOUNTED`] stands for more than can be counted.
    pub fn count(&self) -> u64 {
        if !self.listed.is_empty() {
            return self.listed.len() as u64;
        }
        let most = *self.accelerators.end();
        let work = self.types.len() * most * (self.pes / self.step) as usize;
        if most == 1 {
            let fits = |it: &&AcceleratorType| self.is_complete(self.use_of(it));
            return self.types.iter().filter(fits).count() as u64;
        }
        if self.units == [0; 3] && work <= MAX_WORK {
            return self.count_partitions();
        }
        let mut n = 0u64;
        let is_all = self.visit(&mut |_| {
            n += 1;
            n <= Systems::MAX
        });
        if is_all { n } else { Self::UNCOUNTED }
    }

    /// Stands for more systems than can be counted.
    pub const UNCOUNTED: u64 = 1 << 40;

    /// Counts multisets of types by their generating function, chip by chip.
    fn count_partitions(&self) -> u64 {
        let (most, units) = (*self.accelerators.end(), (self.pes / self.step) as usize);
        let mut total = 0u64;
        for chip in 0..self.chips.len() {
            // Multisets of `k` types with `u` units of PEs, at [k][u].
            let mut ways = vec![vec![0u64; units + 1]; most + 1];
            ways[0][0] = 1;
            for it in self.types.iter().filter(|it| usize::from(it.chip) == chip) {
                let size = (it.pes / self.step) as usize;
                for k in 1..=most {
                    for u in size..=units {
                        ways[k][u] = ways[k][u].saturating_add(ways[k - 1][u - size]);
                    }
                }
            }
            for row in &ways[*self.accelerators.start()..] {
                let fitting = if self.is_exact { &row[units..] } else { &row[..] };
                total = fitting.iter().fold(total, |sum, &n| sum.saturating_add(n));
            }
        }
        total.min(Self::UNCOUNTED)
    }

    /// Calls `visit` with the types of every system in order, until it returns `false` or too many beginnings of
    /// systems were tried. Returns whether all were visited.
    pub(crate) fn visit(&self, visit: &mut impl FnMut(&[u32]) -> bool) -> bool {
        let mut members = Vec::with_capacity(*self.accelerators.end());
        let used = Used { pes: 0, parts: [0; 3] };
        let mut left = MAX_WORK;
        self.extend(&mut members, 0, used, &mut left, visit)
    }

    fn extend(
        &self,
        members: &mut Vec<u32>,
        from: usize,
        used: Used,
        left: &mut usize,
        visit: &mut impl FnMut(&[u32]) -> bool,
    ) -> bool {
        if members.len() >= *self.accelerators.start() && self.is_complete(used) && !visit(members)
        {
            return false;
        }
        if members.len() == *self.accelerators.end() {
            return true;
        }
        if let Some(last) = self.last_types(members, used) {
            for &index in last.iter().filter(|&&index| index as usize >= from) {
                members.push(index);
                let goes_on = visit(members);
                members.pop();
                if !goes_on {
                    return false;
                }
            }
            return true;
        }
        for index in from..self.types.len() {
            let Some(rest) = left.checked_sub(1) else { return false };
            *left = rest;
            let Some(used) = self.with(members, used, index) else { continue };
            members.push(index as u32);
            let goes_on = self.extend(members, index, used, left, visit);
            members.pop();
            if !goes_on {
                return false;
            }
        }
        true
    }

    /// Types that complete a system, if all of the budget must be used and one accelerator is missing.
    fn last_types(&self, members: &[u32], used: Used) -> Option<&[u32]> {
        let first = *members.first()?;
        let is_last = self.is_exact && members.len() + 1 == *self.accelerators.end();
        let mut left = Used { pes: self.pes.checked_sub(used.pes)?, parts: self.units };
        for (left, used) in left.parts.iter_mut().zip(used.parts) {
            *left = left.checked_sub(used)?;
        }
        let key = (self.types[first as usize].chip, left);
        is_last.then(|| self.by_use.get(&key).map_or(&[][..], Vec::as_slice))
    }

    /// Part of the budget that a type uses.
    fn use_of(&self, it: &AcceleratorType) -> Used {
        let mut parts = [0; 3];
        for ((part, fraction), units) in parts.iter_mut().zip(it.parts).zip(self.units) {
            *part = fraction.map_or(0, |fraction| fraction.units(units));
        }
        Used { pes: it.pes, parts }
    }

    /// What is used of the budget with one more accelerator; `None` if that is too much.
    pub(crate) fn with(&self, members: &[u32], used: Used, index: usize) -> Option<Used> {
        let it = &self.types[index];
        let is_elsewhere = |&first: &u32| self.types[first as usize].chip != it.chip;
        if members.first().is_some_and(is_elsewhere) {
            return None;
        }
        let pes = used.pes.checked_add(it.pes).filter(|&pes| pes <= self.pes)?;
        let mut parts = used.parts;
        for (resource, units) in self.units.into_iter().enumerate() {
            if let Some(fraction) = it.parts[resource] {
                parts[resource] += fraction.units(units);
                if parts[resource] > units {
                    return None;
                }
            }
        }
        Some(Used { pes, parts })
    }

    /// Whether a system that uses this much of the budget is one of the space.
    pub(crate) fn is_complete(&self, used: Used) -> bool {
        used.pes > 0 && (!self.is_exact || (used.pes == self.pes && used.parts == self.units))
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

/// Most steps of counting and listing systems: some seconds.
const MAX_WORK: usize = 300_000_000;

/// Part of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Used {
    pub(crate) pes: u32,
    parts: [u32; 3],
}

/// Systems of a space as lists of types.
#[derive(Debug, Clone, Default)]
pub struct Systems {
    members: Vec<u32>,
    /// End of every system in `members`.
    ends: Vec<usize>,
}

impl Systems {
    /// Most systems that are listed.
    pub const MAX: u64 = 10_000_000;

    /// Number of systems.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Adds a system and returns its index.
    pub(super) fn push(&mut self, members: &[u32]) -> u32 {
        self.members.extend_from_slice(members);
        self.ends.push(self.members.len());
        (self.ends.len() - 1) as u32
    }

    /// Types of system `index`, in ascending order.
    pub fn members(&self, index: usize) -> &[u32] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.members[start..self.ends[index]]
    }
}

/// Least common multiple of the denominators of the parts; 0 if they are as the PEs.
fn units(parts: &Parts) -> Result<u32, SpaceError> {
    let Parts::Fractions(fractions) = parts else { return Ok(0) };
    let mut lcm = 1u64;
    for fraction in fractions {
        let denominator = u64::from(fraction.denominator);
        lcm = lcm / u64::from(gcd(lcm as u32, u32::from(fraction.denominator))) * denominator;
        if lcm > 1 << 20 {
            let message = "fractions of one resource have a common denominator of at most 2^20";
            return Err(SpaceError::Number(message));
        }
    }
    Ok(lcm as u32)
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn options(parts: &Parts) -> Vec<Option<Fraction>> {
    match parts {
        Parts::AsPes => vec![None],
        Parts::Fractions(fractions) => fractions.iter().copied().map(Some).collect(),
    }
}

/// `whole` times `share` over `total`, rounded down, at least 1.
fn part(whole: u64, share: u32, total: u32) -> u64 {
    let part = u128::from(whole) * u128::from(share) / u128::from(total.max(1));
    u64::try_from(part).unwrap_or(whole).max(1)
}
