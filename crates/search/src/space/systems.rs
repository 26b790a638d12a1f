//! The systems of a space: counted, listed and visited in order.

use std::collections::BTreeSet;

use super::{AcceleratorType, Space, SpaceError};

impl Space {
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
        let wholes: BTreeSet<_> = self.types.iter().map(|it| (it.chip, it.of)).collect();
        for whole in wholes {
            // Multisets of `k` types with `u` units of PEs, at [k][u].
            let mut ways = vec![vec![0u64; units + 1]; most + 1];
            ways[0][0] = 1;
            for it in self.types.iter().filter(|it| (it.chip, it.of) == whole) {
                let size = (it.pes / self.step) as usize;
                for k in 1..=most {
                    for u in size..=units {
                        ways[k][u] = ways[k][u].saturating_add(ways[k - 1][u - size]);
                    }
                }
            }
            for n in self.accelerators.clone() {
                let is_one = |u: usize| {
                    let pes = u as u32 * self.step;
                    self.is_complete(Used { pes, of: whole.1, n: n as u32, parts: self.units })
                };
                let fitting = ways[n].iter().enumerate().filter(|(u, _)| is_one(*u));
                total = fitting.fold(total, |sum, (_, n)| sum.saturating_add(*n));
            }
        }
        total.min(Self::UNCOUNTED)
    }

    /// Calls `visit` with the types of every system in order, until it returns `false` or too many beginnings of
    /// systems were tried. Returns whether all were visited.
    pub(crate) fn visit(&self, visit: &mut impl FnMut(&[u32]) -> bool) -> bool {
        let mut members = Vec::with_capacity(*self.accelerators.end());
        let used = Used::default();
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
        let pes = self.pes.checked_sub(used.pes)?;
        let mut left = Used { pes, of: used.of, n: 1, parts: self.units };
        for (left, used) in left.parts.iter_mut().zip(used.parts) {
            *left = left.checked_sub(used)?;
        }
        let key = (self.types[first as usize].chip, left);
        is_last.then(|| self.by_use.get(&key).map_or(&[][..], Vec::as_slice))
    }

    /// Part of the budget that a type uses.
    pub(super) fn use_of(&self, it: &AcceleratorType) -> Used {
        let mut parts = [0; 3];
        for ((part, fraction), units) in parts.iter_mut().zip(it.parts).zip(self.units) {
            *part = fraction.map_or(0, |fraction| fraction.units(units));
        }
        Used { pes: it.pes, of: it.of, n: 1, parts }
    }

    /// What is used of the budget with one more accelerator; `None` if that is too much.
    pub(crate) fn with(&self, members: &[u32], used: Used, index: usize) -> Option<Used> {
        let it = &self.types[index];
        let is_elsewhere = |&first: &u32| {
            let first = &self.types[first as usize];
            (first.chip, first.of) != (it.chip, it.of)
        };
        if members.first().is_some_and(is_elsewhere) {
            return None;
        }
        let most = self.pes.min(it.of);
        let pes = used.pes.checked_add(it.pes).filter(|&pes| pes <= most)?;
        let mut parts = used.parts;
        for (resource, units) in self.units.into_iter().enumerate() {
            if let Some(fraction) = it.parts[resource] {
                parts[resource] += fraction.units(units);
                if parts[resource] > units {
                    return None;
                }
            }
        }
        Some(Used { pes, of: it.of, n: used.n + 1, parts })
    }

    /// Whether a system that uses this much of the budget is one of the space.
    pub(crate) fn is_complete(&self, used: Used) -> bool {
        if used.pes == 0 || used.pes > self.pes {
            return false;
        }
        if self.is_exact {
            return used.pes == self.pes && used.parts == self.units;
        }
        !self.divides_by_use()
            || used.pes == used.of
            || (used.n > 1 && self.whole_of(used.pes) == used.of)
    }

    /// Types as these, as many as the budget can pay, whose parts that are as the PEs are those in one system.
    pub(crate) fn in_one_system(&self, members: &[u32]) -> Vec<u32> {
        let mut kept: Vec<u32> = Vec::new();
        let mut pes = 0u32;
        for &member in members {
            let it = &self.types[member as usize];
            let fits = pes.saturating_add(it.pes) <= self.pes;
            let is_here = |&first: &u32| self.types[first as usize].chip == it.chip;
            if fits && kept.first().is_none_or(is_here) {
                kept.push(member);
                pes += it.pes;
            }
        }
        if self.divides_by_use() {
            let of = if kept.len() == 1 { pes } else { self.whole_of(pes) };
            for member in &mut kept {
                let wanted = AcceleratorType { of, ..self.types[*member as usize] };
                let key = |it: &AcceleratorType| (it.chip, it.dataflow, it.pes, it.of, it.parts);
                let found = self.types.binary_search_by_key(&key(&wanted), key);
                *member = found.map_or(*member, |index| index as u32);
            }
        }
        kept.sort_unstable();
        kept
    }
}

/// Most steps of counting and listing systems: some seconds.
const MAX_WORK: usize = 300_000_000;

/// Part of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Used {
    pub(crate) pes: u32,
    /// PEs that have the whole of what is divided as the PEs.
    of: u32,
    /// Number of accelerators.
    n: u32,
    pub(super) parts: [u32; 3],
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
    pub(crate) fn push(&mut self, members: &[u32]) -> u32 {
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
