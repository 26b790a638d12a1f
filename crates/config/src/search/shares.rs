//! Parts of the resources of a chip.

use super::super::Problem;
use super::super::form::{self, Form};
use super::super::yaml::Node;
use super::super::yaml::keys::mapping;
use super::super::yaml::read::{At, Problems, printable};
use super::super::yaml::values::{Reader, at, value};
use super::text::{lines, text_of};

/// Fractions as written: numerators and denominators.
pub(super) type Fractions = Vec<(u16, u16)>;

/// Parts of the NoC, the shared memory and the DRAM bandwidth.
pub(super) fn shares() -> impl Reader<Value = [Option<At<Fractions>>; 3]> {
    const KEYS: [(&str, &str); 3] = [
        ("noc", "Parts of the bandwidth of the NoC."),
        ("shared_memory", "Parts of the shared memory."),
        ("dram", "Parts of the DRAM bandwidth."),
    ];
    mapping("shares", |fields| {
        Some(KEYS.map(|(key, about)| {
            let share = fields.about(about).optional(key, at(fractions()));
            share.filter(|it| !it.value.is_empty())
        }))
    })
    .about("Parts of the resources of the chip that an accelerator may have.")
}

/// Fractions, a step from it to the whole (`step 1/16`), or `as-pes`, which is none.
fn fractions() -> impl Reader<Value = Fractions> {
    let read = |node: &Node<'_>, problems: &mut Problems| {
        let mut all = Vec::new();
        for written in lines(Form::default).read(node, problems)? {
            if &*written.value == "as-pes" {
                continue;
            }
            let Some((fraction, is_step)) = fraction(&written.value) else {
                let message = format!(
                    "expected a fraction above 0 and at most 1 such as 1/4, `step 1/16` or `as-pes`, found `{}`",
                    printable(&written.value)
                );
                problems.push(Problem::new(written.span, message));
                return None;
            };
            let (above, below) = fraction;
            match is_step {
                true => all.extend(
                    (1..).map(|n| n * above).take_while(|n| *n < below).map(|n| (n, below)),
                ),
                false => all.push(fraction),
            }
        }
        Some(all)
    };
    let form = || {
        let word = text_of(
            r"^\s*(?:as-pes|(?:step\s*)?[0-9]+(?:\s*/\s*[0-9]+)?)\s*$",
            "a fraction such as 1/4, `step 1/16`, or `as-pes`",
        );
        form::any_of([form::whole(1_u32..=1).allowed(""), word])
    };
    value(read, move || lines(form).form().or("as-pes"))
}

/// A fraction above 0 and at most 1, and whether it is a step.
fn fraction(text: &str) -> Option<((u16, u16), bool)> {
    let (is_step, rest) = match text.strip_prefix("step") {
        Some(rest) => (true, rest.trim()),
        None => (false, text),
    };
    let number = |text: &str| text.trim().parse::<u16>().ok();
    let (above, below) = match rest.split_once('/') {
        Some((above, below)) => (number(above)?, number(below)?),
        None => (number(rest)?, 1),
    };
    let is_allowed = above > 0 && above <= below && below <= 1024;
    is_allowed.then_some(((above, below), is_step))
}
