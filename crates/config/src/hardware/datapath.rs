//! Datapaths: operations of PEs and widths of operands.

use serde_json::json;

use xrsim_model::hardware::{Datapath, Width, Widths};

use super::super::Problem;
use super::super::quantities::pes;
use super::super::yaml::Fields;
use super::super::yaml::keys::{Keys, keys, mapping};
use super::super::yaml::read::At;
use super::super::yaml::values::{Reader, at, number};

/// Operations of PEs and widths of operands.
pub(crate) fn datapath() -> impl Reader<Value = Datapath> {
    datapath_keys().shaped(|form| {
        let both = WIDTHS.map(|([bytes, bits], _)| json!({"not": {"required": [bytes, bits]}}));
        form.with("allOf", json!(both))
    })
}

keys! {
    /// Operations of PEs and widths of operands.
    fn datapath_keys() -> Datapath: "a datapath" {
        /// Multiply-accumulates per PE and cycle.
        macs_per_pe_cycle = or(1, number(1..=1 << 16));
        /// Operations per cycle on operators without multiply-accumulates. Without it, one per PE.
        vector_lanes = optional(pes());
        /// Most outermost units of a dataflow, if the array has a fixed shape.
        units_limit = optional(pes());
        widths = among(widths());
    }
}

/// Keys of widths in bytes and in bits, and the operands that have them.
const WIDTHS: [([&str; 2], &str); 4] = [
    (["input_bytes", "input_bits"], "inputs"),
    (["weight_bytes", "weight_bits"], "weights"),
    (["partial_sum_bytes", "partial_sum_bits"], "partial sums"),
    (["output_bytes", "output_bits"], "outputs"),
];

/// Widths of operands, each in bytes or in bits.
fn widths() -> Keys<impl Fn(&mut Fields<'_, '_, '_>) -> Option<Widths>> {
    mapping("widths", |fields| {
        let default = Widths::default();
        let mut width = |index: usize, default: Width| {
            let ([bytes, bits], operands) = WIDTHS[index];
            width(bytes, bits, operands, default, fields)
        };
        Some(Widths {
            input: width(0, default.input),
            weight: width(1, default.weight),
            partial_sum: width(2, default.partial_sum),
            output: width(3, default.output),
        })
    })
}

/// Width of `operands`, which one of two keys gives.
fn width(
    bytes: &'static str,
    bits: &'static str,
    operands: &'static str,
    default: Width,
    fields: &mut Fields<'_, '_, '_>,
) -> Width {
    let in_bytes = at(number(1..=64)).shaped(|form| {
        form.documented(&format!("Width of {operands} [byte].")).or(default.bits() / 8)
    });
    let in_bits = number(1..=Width::MAX.bits()).shaped(|form| {
        let about = format!("Width of {operands} [bit]. It stands in place of `{bytes}`.");
        form.documented(&about)
    });
    match (fields.optional(bytes, in_bytes), fields.optional(bits, in_bits)) {
        (None, None) => default,
        (Some(bytes), None) => Width::of_bytes(bytes.value),
        (None, Some(bits)) => Width::of_bits(bits),
        (Some(At { span, .. }), Some(_)) => {
            let message = format!("`{bytes}` and `{bits}` both give one width; leave one out");
            fields.problem(Problem::new(span, message));
            default
        }
    }
}
