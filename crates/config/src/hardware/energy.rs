//! Energies of accelerators, which a file gives in multiples of a multiply-accumulate, in pJ, or both.

use std::ops::Range;

use serde_json::json;

use xrsim_model::hardware::{ByteEnergy, EnergyTable, Memory, MemoryEnergy, Widths};
use xrsim_model::renamed::Renamed;

use super::super::Problem;
use super::super::form::Form;
use super::super::yaml::keys::{Keys, keys, mapping};
use super::super::yaml::read::{At, Problems};
use super::super::yaml::values::{Reader, at, number, number_or, tried};
use super::super::yaml::{Fields, Node};

/// Old keys of `energy`.
const OLD_ENERGY: [Renamed; 2] = [
    Renamed::key("l1_per_mac", "scratchpad_per_mac"),
    Renamed::key("l2_per_mac", "shared_memory_per_mac"),
];
/// Old keys of `energy_pj`.
const OLD_BYTE_ENERGY: [Renamed; 3] = [
    Renamed::key("l1_per_byte", "scratchpad_per_byte"),
    Renamed::key("l2_per_byte", "shared_memory_per_byte"),
    Renamed::key("network_per_byte", "noc_per_byte"),
];
/// Two values of one energy differ if they do by more than this part.
const TOLERANCE: f64 = 1e-3;

/// Either of these gives the energies of an accelerator.
pub(crate) const KEYS: [&str; 2] = ["energy", "energy_pj"];

/// What a schema says of a mapping that has to give its energies.
pub(crate) fn given() -> serde_json::Value {
    json!({"anyOf": KEYS.map(|key| json!({"required": [key]}))})
}

/// The form of a mapping that may have energies.
pub(crate) fn alone(form: Form) -> Form {
    form.with("not", json!({"required": ["energy", "maestro_energy"]}))
}

/// Energies that a system, an accelerator or a platform gives.
pub(crate) struct RawEnergies {
    table: Option<RawTable>,
    bytes: Option<At<RawBytes>>,
    maestro: Option<RawTable>,
    /// Whether a value is wrong, which is a problem already.
    pub(crate) is_wrong: bool,
}

/// The keys of energies, which stand beside others. If they are `needed`, their absence is a problem.
pub(crate) fn energies(
    needed: bool,
) -> Keys<impl Fn(&mut Fields<'_, '_, '_>) -> Option<RawEnergies>> {
    mapping("energies", move |fields| {
        if needed {
            fields.require_any(&KEYS);
        }
        let about = "Energies in multiples of a multiply-accumulate, of every cost model. Those that it does not have \
                     are multiples of `mac_nj`, see `energy_pj`. One of `energy` and `energy_pj` has to be given.";
        let table = fields.about(about).optional("energy", tried(table()));
        let about = "Energies in pJ, of every cost model. It goes before what follows from `energy`; two values of one \
                     energy must not differ by more than 0.1 %.";
        let bytes = fields.about(about).optional("energy_pj", tried(at(byte_energy())));
        let about = "Energies of the cost models `maestro` and `roofline` alone, where they are to differ from those of \
                     `energy_pj`. It stands in place of `energy`.";
        let maestro = fields.about(about).optional("maestro_energy", tried(table_of_maestro()));
        if fields.given("energy") && fields.given("maestro_energy") {
            let message =
                "`energy` and `maestro_energy` both give the energies of the cost model `maestro`";
            let help = "give those of `loop-nest` as `energy_pj`, and leave `energy` out";
            let problem = Problem::new(fields.span_of("maestro_energy"), message).help(help);
            fields.problem(problem);
        }
        let is_wrong = matches!(table, Some(None))
            || matches!(bytes, Some(None))
            || matches!(maestro, Some(None));
        let (table, bytes, maestro) = (table.flatten(), bytes.flatten(), maestro.flatten());
        Some(RawEnergies { table, bytes, maestro, is_wrong })
    })
}

/// Energies of an accelerator.
pub(crate) struct Energies {
    pub(crate) bytes: ByteEnergy,
    maestro: Option<EnergyTable>,
}

impl Energies {
    /// The table of an accelerator, for cost models that count accesses.
    pub(crate) fn table(&self, widths: &Widths, memory: &Memory) -> EnergyTable {
        let of_bytes = || EnergyTable::from_byte_energy(&self.bytes, widths, memory);
        self.maestro.unwrap_or_else(of_bytes)
    }

    /// The table, unless it follows from the energies in pJ.
    pub(crate) fn own_table(&self) -> Option<EnergyTable> {
        self.maestro
    }
}

impl RawEnergies {
    /// Whether it gives the energies of an accelerator.
    pub(crate) fn is_given(&self) -> bool {
        self.is_wrong || self.table.is_some() || self.bytes.is_some()
    }

    /// Place of `energy_pj`, if the buffers of clusters have the energy of their size.
    pub(crate) fn cluster_by_size(&self) -> Option<&Range<usize>> {
        let At { span, value } = self.bytes.as_ref()?;
        let cluster = value.cluster.as_ref()?.value;
        (cluster == MemoryEnergy::BySize).then_some(span)
    }

    /// The energies of an accelerator with these `widths`. What is given here goes before what the system `above` it
    /// gives. Two values that one mapping gives for one energy are a problem unless they agree.
    pub(crate) fn over(
        &self,
        above: Option<&Self>,
        widths: &Widths,
        problems: &mut Problems,
    ) -> Energies {
        let table = self.table.as_ref().or(above.and_then(|it| it.table.as_ref()));
        let bytes = self.bytes.as_ref().or(above.and_then(|it| it.bytes.as_ref()));
        for (table, bytes) in
            [Some(self), above].into_iter().flatten().filter_map(RawEnergies::both)
        {
            table.refuse_others(bytes, widths, problems);
        }
        let is_table_nearer = self.table.is_some() && self.bytes.is_none();
        let of_table = table.map(|it| ByteEnergy::from_table(&it.table(), widths));
        let bytes = match (of_table, bytes) {
            (None, None) => ByteEnergy::default(),
            (Some(it), None) => it,
            (of_table, Some(At { value: bytes, .. })) => {
                bytes.over(of_table.unwrap_or_default(), !is_table_nearer)
            }
        };
        let maestro = self.maestro.as_ref().or(match self.table {
            Some(_) => None,
            None => above.and_then(|it| it.maestro.as_ref()),
        });
        // A table is that of the accelerator to the last bit, unless nearer energies in pJ change it.
        let is_changed = self.table.is_none() && self.bytes.is_some();
        let maestro = maestro.or(table.filter(|_| !is_changed)).map(RawTable::table);
        Energies { bytes, maestro }
    }

    fn both(&self) -> Option<(&RawTable, &RawBytes)> {
        self.table.as_ref().zip(self.bytes.as_ref().map(|it| &it.value))
    }
}

keys! {
    /// Energies in multiples of a multiply-accumulate.
    fn table() -> struct RawTable: "an energy table", OLD_ENERGY {
        /// Energy of a multiply-accumulate \[nJ\].
        mac_nj: At<f64> = required(at(number(0.0..=1e6)));
        /// Energy of an access to a scratchpad, by one input, in multiples of `mac_nj`.
        scratchpad_per_mac: At<f64> = required(at(number(0.0..=1e6)));
        /// Energy of an access to the shared memory, by one input, in multiples of `mac_nj`.
        shared_memory_per_mac: At<f64> = required(at(number(0.0..=1e6)));
        /// Energy of an access to DRAM, by one input, in multiples of `mac_nj`.
        dram_per_mac: At<f64> = required(at(number(0.0..=1e6)));
    }
}

/// The same keys for the cost model `maestro` alone.
fn table_of_maestro() -> impl Reader<Value = RawTable> {
    table().about("Energies of the cost models `maestro` and `roofline` alone.")
}

impl RawTable {
    fn table(&self) -> EnergyTable {
        EnergyTable {
            mac_nj: self.mac_nj.value,
            scratchpad_per_mac: self.scratchpad_per_mac.value,
            shared_memory_per_mac: self.shared_memory_per_mac.value,
            dram_per_mac: self.dram_per_mac.value,
        }
    }

    /// Refuses energies of `bytes` that differ from those of the table.
    fn refuse_others(&self, bytes: &RawBytes, widths: &Widths, problems: &mut Problems) {
        let of_table = ByteEnergy::from_table(&self.table(), widths);
        let pj =
            |it: &At<f64>| At { span: it.span.clone(), value: MemoryEnergy::PerByte(it.value) };
        let all = [
            ("mac", "mac_nj", &self.mac_nj, bytes.mac.as_ref().map(pj), {
                MemoryEnergy::PerByte(of_table.mac.unwrap_or_default())
            }),
            (
                "scratchpad_per_byte",
                "scratchpad_per_mac",
                &self.scratchpad_per_mac,
                bytes.scratchpad.clone(),
                of_table.scratchpad,
            ),
            (
                "shared_memory_per_byte",
                "shared_memory_per_mac",
                &self.shared_memory_per_mac,
                bytes.shared_memory.clone(),
                of_table.shared_memory,
            ),
            ("dram_per_byte", "dram_per_mac", &self.dram_per_mac, bytes.dram.as_ref().map(pj), {
                MemoryEnergy::PerByte(of_table.dram)
            }),
        ];
        for (key, key_of_table, other, given, follows) in all {
            let (Some(given), MemoryEnergy::PerByte(follows)) = (given, follows) else { continue };
            let unit = if key == "mac" { "pJ" } else { "pJ/byte" };
            let said = match given.value {
                MemoryEnergy::PerByte(it)
                    if (it - follows).abs() <= TOLERANCE * it.max(follows) =>
                {
                    continue;
                }
                MemoryEnergy::PerByte(it) => format!("{it} {unit}"),
                _ => "`by-size`".into(),
            };
            let message = format!(
                "`{key}` of `energy_pj` is {said}, but by `{key_of_table}: {}` of `energy` it is {follows} {unit}",
                other.value
            );
            let help = "leave one out; energies of the cost models maestro and roofline alone are `maestro_energy` in \
                        place of `energy`";
            let place = format!("`{key_of_table}` is here");
            let problem =
                Problem::new(given.span, message).help(help).place(other.span.clone(), place);
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
    }
}

/// Energy of a byte of a memory \[pJ\], or `by-size`.
fn memory_energy() -> impl Reader<Value = MemoryEnergy> {
    let energy = |energy: Option<f64>, _: &Node<'_>, _: &mut Problems| {
        Some(energy.map_or(MemoryEnergy::BySize, MemoryEnergy::PerByte))
    };
    number_or("by-size", 0.0..=1e9).then(energy)
}

/// An energy \[pJ\].
fn pj() -> impl Reader<Value = f64> {
    number(0.0..=1e9)
}

keys! {
    /// Energies in pJ.
    fn byte_energy() -> struct RawBytes: "an energy table in pJ", OLD_BYTE_ENERGY {
        /// Energy of a byte of a scratchpad [pJ/byte]. `by-size`: by the size of the memory. Without it and `energy`,
        /// that of 0.5 KiB.
        scratchpad as "scratchpad_per_byte": Option<At<MemoryEnergy>> = optional(at(memory_energy()));
        /// Energy of a byte of the buffer of a cluster [pJ/byte]. `by-size`: by the size of the memory. Without it, 9.4
        /// multiply-accumulates of `energy`, between scratchpad and shared memory; without both, that of 8 KiB.
        cluster as "cluster_per_byte": Option<At<MemoryEnergy>> = optional(at(memory_energy()));
        /// Energy of a byte of the shared memory [pJ/byte]. `by-size`: by the size of the memory. Without it and
        /// `energy`, `by-size`.
        shared_memory as "shared_memory_per_byte": Option<At<MemoryEnergy>> = optional(at(memory_energy()));
        /// Energy of a multiply-accumulate \[pJ\]. Without it and `energy`, by the widths of operands: 0.3 for 8 bits.
        mac: Option<At<f64>> = optional(at(pj()));
        /// Energy of a byte of a register [pJ/byte]. Without it, 0.1 multiply-accumulates of `energy`; without both,
        /// 0.03.
        register as "register_per_byte": Option<f64> = optional(pj());
        /// Energy of a byte on the NoC [pJ/byte]. Without it, 2 multiply-accumulates of `energy`; without both, 0.6.
        noc as "noc_per_byte": Option<f64> = optional(pj());
        /// Energy of a byte from one unit to its neighbour [pJ/byte]. Without it, 2 multiply-accumulates of `energy`;
        /// without both, 0.6.
        forward as "forward_per_byte": Option<f64> = optional(pj());
        /// Energy of a byte of DRAM [pJ/byte]. Without it and `energy`, 162.5.
        dram as "dram_per_byte": Option<At<f64>> = optional(at(pj()));
        /// Leakage of a computing accelerator [pJ/cycle].
        leakage as "leakage_per_cycle": f64 = or(ByteEnergy::default().leakage, pj());
        /// Energy of clock and control of a computing accelerator [pJ/cycle].
        clock as "clock_per_cycle": f64 = or(ByteEnergy::default().clock, pj());
        /// Energy of an idle accelerator [pJ/cycle]. Runs report the sum, and no score counts it.
        idle as "idle_per_cycle": f64 = or(ByteEnergy::default().idle, pj());
    }
}

impl RawBytes {
    /// These energies, and those of `base` where there are none. Those that `base` gives of its own go before these
    /// unless `is_first`.
    fn over(&self, base: ByteEnergy, is_first: bool) -> ByteEnergy {
        let memory = |it: &Option<At<MemoryEnergy>>, base| it.as_ref().map_or(base, |it| it.value);
        let own = ByteEnergy {
            mac: self.mac.as_ref().map(|it| it.value).or(base.mac),
            register: self.register.unwrap_or(base.register),
            scratchpad: memory(&self.scratchpad, base.scratchpad),
            cluster: memory(&self.cluster, base.cluster),
            shared_memory: memory(&self.shared_memory, base.shared_memory),
            noc: self.noc.unwrap_or(base.noc),
            forward: self.forward.unwrap_or(base.forward),
            dram: self.dram.as_ref().map_or(base.dram, |it| it.value),
            leakage: self.leakage,
            clock: self.clock,
            idle: self.idle,
        };
        if is_first {
            return own;
        }
        let ByteEnergy { mac, scratchpad, shared_memory, dram, .. } = base;
        ByteEnergy { mac, scratchpad, shared_memory, dram, ..own }
    }
}
