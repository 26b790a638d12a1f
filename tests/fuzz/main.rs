//! Short run of the fuzzing harness, with the same executions every time. `cargo bench --bench fuzz` makes
//! a long run.

mod bounds;
mod harness;

use std::alloc::System;

use cap::Cap;
use harness::kind::Kind;
use harness::pipeline::Shop;
use harness::seeds::{self, Seeds};
use harness::{Depth, Fuzzer, execute};

/// Counts allocations, so that an execution can be limited.
#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

/// Largest memory of the whole test \[byte\]. Further allocations fail.
const MAX_MEMORY: usize = 1 << 30;

/// Executions of a kind; few without optimisation, which makes them five times as slow.
const EXECUTIONS: u64 = if cfg!(debug_assertions) { 60 } else { 300 };

/// Findings that are printed.
const MAX_PRINTED: usize = 20;

/// Length from which a seed passes through its parser alone \[byte\]: shipped files take costly commands.
const LONG_SEED: usize = if cfg!(debug_assertions) { 300 } else { 1000 };

const DEPTH: Depth = Depth { accepted: 8, refused: 32 };

/// All parts work in the working directory of the process, so they are one test.
#[test]
fn every_parser_and_the_pipeline_after_it_holds() {
    MEMORY.set_limit(MAX_MEMORY).expect("less is used so far");
    harness::keep_place_of_panics();
    let shop = Shop::open();
    let mut findings = Vec::new();
    for kind in Kind::all() {
        seeds_hold(&shop, kind, &mut findings);
        cases_hold(&shop, kind, &mut findings);
        let fuzzer = Fuzzer::new(kind, 0, &shop, DEPTH);
        let found = (0..EXECUTIONS).filter_map(|number| {
            let finding = fuzzer.execute(number).finding?;
            Some(format!("{} {number}: {finding}", kind.name()))
        });
        findings.extend(found);
    }
    let first = &findings[..findings.len().min(MAX_PRINTED)];
    assert!(findings.is_empty(), "{} findings, first\n{}", findings.len(), first.join("\n"));
}

/// Seeds pass through their parser, and short ones through the whole pipeline, without a refusal.
fn seeds_hold(shop: &Shop, kind: Kind, findings: &mut Vec<String>) {
    for input in Seeds::new(kind, shop).inputs(kind) {
        let outcome = execute(shop, kind, &input, |_| input.len() < LONG_SEED);
        if let Some(finding) = outcome.finding {
            findings.push(format!("a seed of {}: {finding}", kind.name()));
        }
    }
}

/// Cases of earlier findings pass.
fn cases_hold(shop: &Shop, kind: Kind, findings: &mut Vec<String>) {
    for (name, bytes) in seeds::committed_bytes("cases", kind) {
        if let Some(finding) = execute(shop, kind, &bytes, |_| true).finding {
            findings.push(format!("cases/{}/{name}: {finding}", kind.name()));
        }
    }
}

#[test]
fn an_input_is_the_same_for_the_same_number() {
    let random = || harness::random::Random::new(7, "network", 11);
    assert_eq!(random().below(1 << 30), random().below(1 << 30));
}
