//! A note about PEs that no mapping uses.

use std::sync::Arc;

use xrsim_model::hardware::{Accelerator, System};

/// A line about idle PEs of systems; empty if all PEs are used.
pub fn note(systems: &[Arc<System>]) -> String {
    let idle = systems.iter().flat_map(|system| {
        let name = move |it: &Accelerator| match system.accelerators().len() {
            1 => system.name().to_string(),
            _ => format!("{} of {}", it.name, system.name()),
        };
        system.accelerators().iter().filter_map(move |it| words(&name(it), it))
    });
    line(idle.collect())
}

/// A line about idle PEs of accelerators; empty if all PEs are used.
pub fn note_of(accelerators: &[Accelerator]) -> String {
    line(accelerators.iter().filter_map(|it| words(&it.name, it)).collect())
}

/// Idle PEs of an accelerator, with the step of its dataflow; `None` without any.
fn words(name: &str, accelerator: &Accelerator) -> Option<String> {
    let (idle, pes) = (accelerator.idle_pes(), accelerator.pes);
    let (dataflow, step) = (accelerator.dataflow.name(), accelerator.dataflow.pes_per_unit());
    let is_by_step = step > 1 && u64::from(pes) % step == u64::from(idle);
    let reason = if is_by_step {
        format!("{dataflow} works in steps of {step} PEs")
    } else {
        format!("{dataflow} cannot use them")
    };
    (idle > 0).then(|| format!("{idle} of {pes} PEs of {name} are idle: {reason}"))
}

/// Accelerators that are named.
const MOST_NAMED: usize = 3;

fn line(mut idle: Vec<String>) -> String {
    idle.sort();
    idle.dedup();
    if idle.is_empty() {
        return String::new();
    }
    let more = match idle.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        n => format!("; and so in {n} more"),
    };
    idle.truncate(MOST_NAMED);
    format!("note: {}{more}\n", idle.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_named_and_the_others_counted() {
        let all = |names: &[&str]| line(names.iter().map(|it| it.to_string()).collect());
        assert_eq!(all(&[]), "");
        assert_eq!(all(&["b", "a", "b"]), "note: a; b\n");
        assert_eq!(all(&["a", "b", "c", "d", "e"]), "note: a; b; c; and so in 2 more\n");
    }
}
