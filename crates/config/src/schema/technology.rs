//! Schema of `technology:` files, and of the key `technology` of hardware.

use super::form::{Form, Key, any_of, name, number, object, optional, reference, required, text};
use crate::Kind;
use crate::technology::NODES;
use xrsim_model::hardware::Technology;
use xrsim_model::hardware::technology::Constant;

pub(super) fn technology() -> Form {
    let source = |constant: Constant| {
        let meaning = format!("Source of `{}`, or the word `choice`", constant.name());
        optional(constant.name(), text().allowed("").says(meaning))
    };
    let sources = object(Constant::ALL.map(source)).with("minProperties", 1);
    let head = [
        required("name", name().says("Name of the technology")),
        required("node_nm", number(NODES).says("Process node [nm]")),
    ];
    let tail = [required("sources", sources.says("Source of every number"))];
    object(head.into_iter().chain(sections()).chain(tail))
        .says("Technology: constants of area and leakage, each with its source")
}

/// The key `technology` of a system or platform.
pub(super) fn choice() -> Form {
    let like = || reference(&[Kind::Technology], "technology", "technologies");
    let changes = [optional(
        "like",
        like().or(Technology::DEFAULT).says("Technology that has the other constants"),
    )];
    let changes = object(changes.into_iter().chain(sections()));
    any_of([like(), changes.allowed("the constants that differ")])
        .or(Technology::DEFAULT)
        .says("Constants of area and leakage")
}

fn sections() -> Vec<Key> {
    let section = |&section: &&'static str| {
        let constants = Constant::ALL.into_iter().filter(|it| it.section() == section);
        let constants = constants
            .map(|it| optional(it.name(), number(it.least()..=it.most()).says(meaning(it))));
        let meaning = match section {
            "area" => "Areas of logic",
            "sram" => "Areas of memories",
            "network" => {
                "Area of the NoC as a bus and an arbiter, in place of `register_um2_per_bit`"
            }
            _ => "Leakage; without this section the technology has none",
        };
        optional(section, object(constants).says(meaning))
    };
    Constant::SECTIONS.iter().map(section).collect()
}

fn meaning(constant: Constant) -> &'static str {
    match constant {
        Constant::AcceleratorMm2 => "Area of an accelerator that does not depend on any size [mm2]",
        Constant::PeUm2 => {
            "Area of a PE without its scratchpad, for each multiply-accumulate per cycle [um2]"
        }
        Constant::RegisterUm2PerBit => "Area of one bit of a port of the NoC [um2/bit]",
        Constant::FixedMm2 => "Area outside of the accelerators [mm2]",
        Constant::SmallBytes => "Size up to which memories are registers [byte]",
        Constant::SmallUm2PerByte => "Area of a byte of such a memory [um2/byte]",
        Constant::LargeBytes => "Size from which on memories have the density of large ones [byte]",
        Constant::LargeUm2PerByte => "Area of a byte of such a memory [um2/byte]",
        Constant::ScratchpadBlockBytes => "Size of the blocks of scratchpads [byte]",
        Constant::ScratchpadBlockUm2 => "Area of such a block [um2]",
        Constant::BlockBytes => "Size of the blocks of other memories [byte]",
        Constant::BlockUm2 => "Area of such a block [um2]",
        Constant::BusUm2 => "Area of a bus for each byte per cycle, as a factor [um2]",
        Constant::BusPerUnit => "Growth of the area of a bus with the number of units",
        Constant::BusOffset => "Part of the area of a bus that does not grow",
        Constant::ArbiterUm2 => "Area of an arbiter, as a factor [um2]",
        Constant::ArbiterPerUnitSquared => {
            "Growth of the area of an arbiter with the square of the number of units"
        }
        Constant::ArbiterPerUnit => "Growth of the area of an arbiter with the number of units",
        Constant::ArbiterOffset => "Part of the area of an arbiter that does not grow",
        Constant::PeUw => {
            "Leakage of the logic of a PE, for each multiply-accumulate per cycle [uW]"
        }
        Constant::SramNwPerByte => "Leakage of a byte of memory [nW/byte]",
    }
}
