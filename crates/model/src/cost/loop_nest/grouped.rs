//! What groups of layers move, by what stays in shared memory (docs/explanation/cost-model-loop-nest.md, section 6.10).

use crate::model::{Operator, TensorRole};

use super::Riders;
use super::fusion::Role;
use super::prepared::{Copies, Placed, PreparedNetwork};

impl PreparedNetwork<'_> {
    /// Whether the output of a layer stays in shared memory.
    fn stays(&self, layer: usize) -> bool {
        self.plan.layers[layer].output
    }

    /// Whether DRAM receives the output of a layer, in its own place or in that of a concatenation.
    fn is_written(&self, layer: usize) -> bool {
        !self.stays(layer) || self.groups.place(layer).is_some_and(|it| !self.stays(it))
    }

    fn outputs(&self, layer: usize) -> u64 {
        self.network.layers()[layer].operator.outputs()
    }

    /// Bytes in DRAM of the output of a layer.
    fn output_bytes(&self, layer: usize) -> u64 {
        self.machine(layer).dram_bytes(TensorRole::Output, self.outputs(layer))
    }

    /// What rides along with a layer with products.
    pub(super) fn riders(&self, index: usize) -> Option<Riders> {
        if matches!(self.network.layers()[index].operator, Operator::Vector(_)) {
            return None;
        }
        let group = self.groups.of(index);
        if group.riders.is_empty() {
            let is_extra = self.stays(index) && self.is_written(index);
            let written = if is_extra { self.output_bytes(index) } else { 0 };
            return is_extra.then(|| Riders { written, ..Riders::default() });
        }
        let (mut sum, mut before) = (Riders::default(), index);
        for &rider in &group.riders {
            let rider = rider as usize;
            let operator = &self.network.layers()[rider].operator;
            let machine = self.machine(rider);
            let bytes = machine.widths.input.bytes(operator.inputs() - self.outputs(before));
            let from_dram = (bytes as f64 * self.dram_share(rider, before)).ceil() as u64;
            sum.read = sum.read.saturating_add(machine.compression.input.of(from_dram));
            sum.operands = sum.operands.saturating_add(bytes);
            if let Operator::Vector(shape) = operator {
                sum.operations = sum.operations.saturating_add(shape.operations);
            }
            before = rider;
        }
        let written = group.written.iter().map(|&it| it as usize).filter(|&it| self.is_written(it));
        sum.written = written.map(|it| self.output_bytes(it)).fold(0, u64::saturating_add);
        let sum = sum.bounded();
        let cycles = self.machine(index).post_cycles(sum.operations);
        Some(Riders { cycles, ..sum })
    }

    /// Share of the operands of an operator other than the output of `before` that DRAM supplies, from 0 to 1.
    /// All sources weigh the same. As of a layer whose only source stays, constants are not counted.
    fn dram_share(&self, rider: usize, before: usize) -> f64 {
        let (mut n_others, mut n_resident) = (0u32, 0u32);
        for (at, source) in self.network.layers()[rider].sources.iter().enumerate() {
            if source.writer(rider) != Some(before) {
                n_others += 1;
                n_resident += u32::from(self.plan.layers[rider].source(at));
            }
        }
        match n_others {
            0 => 0.0,
            _ => 1.0 - f64::from(n_resident) / f64::from(n_others),
        }
    }

    /// What an operator without products moves because of concatenations in place.
    pub(super) fn placed(&self, index: usize) -> Placed {
        let layer = &self.network.layers()[index];
        if !matches!(layer.operator, Operator::Vector(_)) {
            return Placed::default();
        }
        let is_extra = self.stays(index) && self.is_written(index);
        let also_written = if is_extra { self.outputs(index) } else { 0 };
        if self.groups.role(index) != Role::InPlace {
            return Placed { copies: None, also_written };
        }
        let (mut in_place, mut loaded) = (0u64, 0u64);
        let (mut n_copied, mut n_resident) = (0u32, 0u32);
        for (at, source) in layer.sources.iter().enumerate() {
            let is_resident = self.plan.layers[index].source(at);
            match source.writer(index) {
                Some(writer) if self.groups.is_placed(index, at) => {
                    let outputs = self.outputs(writer);
                    in_place += outputs;
                    // A part that is not there comes to its place beside those that are.
                    loaded += if self.stays(index) && !is_resident { outputs } else { 0 };
                }
                _ => {
                    n_copied += 1;
                    n_resident += u32::from(is_resident);
                }
            }
        }
        let copied = if n_copied > 0 { self.outputs(index).saturating_sub(in_place) } else { 0 };
        let share = 1.0 - f64::from(n_resident) / f64::from(n_copied.max(1));
        let from_dram = (copied as f64 * share).ceil() as u64 + loaded;
        Placed { copies: Some(Copies { elements: copied + loaded, from_dram }), also_written }
    }
}
