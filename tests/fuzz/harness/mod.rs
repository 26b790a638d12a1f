//! Fuzzing harness for everything that reads user input, and for the pipeline after it.
//!
//! An *execution* is an input and the answer of the program to it. The input is a function of kind, seed
//! and number alone ([`Fuzzer::input`]), so every execution can be repeated. The input is first parsed in
//! memory. Some accepted inputs then pass through the whole pipeline: the command line in this process,
//! with small systems and short durations ([`pipeline`]). [`oracle`] has the conditions that hold for every
//! call.

// Test and benchmark use different parts.
#![allow(dead_code, missing_docs)]

pub mod bundle;
pub mod kind;
pub mod oracle;
pub mod parse;
pub mod pipeline;
pub mod random;
pub mod seeds;

mod cells;
#[path = "../../it/support/onnx_files.rs"]
mod onnx_files;
mod tokens;
mod tree;
mod values;

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};

use kind::{Kind, Syntax};
use pipeline::Shop;
use random::Random;
use seeds::Seeds;

/// Longest input \[byte\]; a mutation that makes a longer one is cut off.
const MAX_INPUT: usize = 1 << 16;

/// One of this many executions passes through the whole pipeline.
#[derive(Debug, Clone, Copy)]
pub struct Depth {
    /// For accepted inputs.
    pub accepted: u64,
    /// For refused inputs.
    pub refused: u64,
}

/// Generator of the inputs of one kind, and their execution.
pub struct Fuzzer<'s> {
    pub kind: Kind,
    seed: u64,
    seeds: Seeds,
    shop: &'s Shop,
    depth: Depth,
}

/// Result of an execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Whether the parser accepted the input.
    pub accepted: bool,
    /// Whether it passed through the whole pipeline.
    pub deep: bool,
    /// The condition that did not hold.
    pub finding: Option<String>,
}

impl<'s> Fuzzer<'s> {
    pub fn new(kind: Kind, seed: u64, shop: &'s Shop, depth: Depth) -> Self {
        Self { kind, seed, seeds: Seeds::new(kind, shop), shop, depth }
    }

    /// Adds a seed, e.g. from a corpus that is not in the repository.
    pub fn learn(&mut self, text: &str) {
        self.seeds.add(text);
    }

    /// Input `number` of this seed.
    pub fn input(&self, number: u64) -> Vec<u8> {
        let mut random = Random::new(self.seed, self.kind.name(), number);
        let mut input = self.seeds.mutated(self.kind, &mut random);
        input.truncate(MAX_INPUT);
        input
    }

    /// Execution `number`.
    pub fn execute(&self, number: u64) -> Outcome {
        let input = self.input(number);
        let is_deep = |accepted: bool| {
            let one_in = if accepted { self.depth.accepted } else { self.depth.refused };
            // Answers have a meaning only for a scheduler that is asked.
            let one_in = if self.kind == Kind::Answers { one_in.min(1) } else { one_in };
            one_in > 0 && number.is_multiple_of(one_in)
        };
        execute(self.shop, self.kind, &input, is_deep)
    }
}

/// Parses `input`, and takes it through the whole pipeline where `is_deep` of its acceptance is true.
pub fn execute(
    shop: &Shop,
    kind: Kind,
    input: &[u8],
    is_deep: impl FnOnce(bool) -> bool,
) -> Outcome {
    let mut outcome = Outcome { accepted: false, deep: false, finding: None };
    let parsed = match std::str::from_utf8(input) {
        _ if kind.syntax() == Syntax::Bytes => caught(|| parse::bytes(shop, kind, input)),
        Ok(text) => caught(|| parse::parse(shop, kind, text)),
        Err(_) => {
            // In memory a text is UTF-8. The command line reads files with other bytes.
            outcome.deep = is_deep(false);
            if outcome.deep {
                outcome.finding = caught(|| shop.whole_pipeline(kind, input, false)).err();
            }
            return outcome;
        }
    };
    match parsed {
        Ok(accepted) => outcome.accepted = accepted,
        Err(finding) => {
            outcome.finding = Some(finding);
            return outcome;
        }
    }
    outcome.deep = is_deep(outcome.accepted);
    if outcome.deep {
        outcome.finding = caught(|| shop.whole_pipeline(kind, input, outcome.accepted)).err();
    }
    outcome
}

thread_local! {
    /// Position of the last panic of this thread, while a panic would be a finding.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Stores the position of a panic that is a finding, instead of printing it.
pub fn keep_place_of_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let is_finding = PLACE.with_borrow_mut(|kept| kept.as_mut().map(|kept| *kept = place));
        if is_finding.is_none() {
            print(info);
        }
    }));
}

/// Result of `work`. A panic is a finding.
fn caught<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    PLACE.set(Some(String::new()));
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    let place = PLACE.take().unwrap_or_default();
    done.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("panic at {}: {}", place, text.unwrap_or("of unknown words")))
    })
}
