//! Schemas of `sweep:` and `search:` files, which describe runs.

use serde_json::{Value, json};

use super::Words;
use super::form::{
    Form, Key, any_of, dataflow, flag, list, name, named, number, object, one_or_list, optional,
    reference, required, whole, word,
};
use crate::search::MAX_ENTRIES;
use crate::sweep::{MAX_KEYS, MAX_VALUES, SweepDraft};
use crate::{Kind, SearchDraft};
use xrsim_model::model::Parameter;

/// Names of keys that set a parameter of a network.
const PARAMETER: &str = r"^parameters\.[^.]+\.[A-Za-z_][A-Za-z0-9_]*$";

/// Text of a range of numbers.
const RANGE: &str = r"^\s*[-+]?[0-9.][^.]*\.\.";

pub(super) fn sweep(words: &Words) -> Form {
    let grid = settings(&words.settings, grid_values);
    let point = settings(&words.settings, |form| form).says("Values of a point");
    object([
        required("name", super::form::text().says("Name of the sweep")),
        optional(
            "points",
            list(point.with("maxProperties", MAX_KEYS))
                .at_most(MAX_VALUES)
                .says("Points that are listed one by one")
                .remark("Each is combined with the whole grid."),
        ),
        optional(
            "grid",
            grid.with("maxProperties", MAX_KEYS)
                .says("Keys with a value, a range such as `1024..16384 step x2`, or a list of both")
                .remark("Every combination is a point. The first key varies slowest."),
        ),
        optional(
            "replications",
            whole(1..=SweepDraft::MAX_REPLICATIONS)
                .or(1)
                .says("Independent replications of every point"),
        ),
    ])
    .with(
        "anyOf",
        json!([
            {"required": ["grid"]},
            {"required": ["points"]},
            {"required": ["replications"]},
        ]),
    )
    .says("Sweep: settings that many runs vary")
}

/// A mapping of settings to the values that `values` makes of each.
fn settings(known: &[(&'static str, Form)], values: impl Fn(Form) -> Form) -> Form {
    let parameter =
        values(whole(0..=Parameter::MAX).says("Value of a parameter of the network of a model"));
    let keys = known.iter().map(|(name, form)| optional(*name, values(form.clone())));
    object(keys)
        .with("minProperties", 1)
        .with("patternProperties", json!({PARAMETER: parameter.into_value()}))
}

/// A value, a range of numbers, or a list of such.
fn grid_values(form: Form) -> Form {
    form.or_text(RANGE).or_list()
}

pub(super) fn search(words: &Words) -> Form {
    let known = |(name, _): &&(&'static str, Form)| !words.not_in_searches.contains(name);
    let own: Vec<_> = words.settings.iter().filter(known).cloned().collect();
    object([
        required("name", name().says("Name of the search")),
        optional("scenarios", scenarios()),
        optional("objective", objective(words)),
        optional("constraints", constraints(words)),
        required("space", space(words)),
        optional("settings", settings(&own, |form| form).says("Settings of all runs")),
        optional(
            "technology",
            reference(&[Kind::Technology], "technology", "technologies")
                .says("Constants of area and leakage"),
        ),
        optional(
            "replications",
            whole(1..=SearchDraft::MAX_REPLICATIONS)
                .or(30)
                .says("Draws that every system is evaluated on"),
        ),
        optional("confirm", confirm()),
        optional(
            "method",
            word(words.methods.iter().copied()).or("auto").says("Method of the search"),
        ),
        optional("stop", stop()),
        optional("seed", whole(0..=u64::MAX).or(0).says("Seed of every random draw")),
    ])
    .says("Search: a question about the systems of a space")
}

fn scenarios() -> Form {
    let name = || reference(&[Kind::Scenario], "scenario", "scenarios");
    let weights =
        named(number(1e-6..=1e6).says("Weight of this scenario")).allowed("weights by name");
    let several = list(name()).at_most(MAX_ENTRIES).allowed("a list of such");
    any_of([name(), several, weights])
        .says("Scenarios of the search")
        .remark("Without it, those of the suite.")
}

fn objective(words: &Words) -> Form {
    let quantity = || word(words.quantities.iter().map(|(name, _)| *name)).allowed("a quantity");
    let front = list(quantity())
        .with("minItems", 2)
        .at_most(3)
        .allowed("a list of two or three quantities");
    object([
        optional("maximise", quantity().says("Quantity that is to be large")),
        optional("minimise", quantity().says("Quantity that is to be small")),
        optional(
            "pareto",
            front.says("Quantities of which the Pareto-optimal systems are searched"),
        ),
        optional(
            "over",
            one_or_list(word(["mean", "min", "each"]))
                .or("mean")
                .says("Treatment of several scenarios"),
        ),
    ])
    .with(
        "oneOf",
        json!([{"required": ["maximise"]}, {"required": ["minimise"]}, {"required": ["pareto"]}]),
    )
    .says("What is searched: `maximise`, `minimise` or `pareto`")
    .remark("Without it, the largest mean score.")
}

fn constraints(words: &Words) -> Form {
    let limit = json!({
        "type": "string",
        "pattern": r"^\s*[<>]=\s*[-+]?[0-9.]",
        "patternErrorMessage": "a limit is \"<= 60\" or \">= 0.5\", in quotes",
    });
    let key = |&(name, unit): &(&'static str, &str)| {
        let unit = if unit.is_empty() { String::new() } else { format!(" [{unit}]") };
        let form = Form::of(limit.clone(), "`\"<= X\"` or `\">= X\"`");
        optional(name, form.says(format!("Limit of `{name}`{unit}")))
    };
    object(words.quantities.iter().map(key)).with("minProperties", 1).says("Limits of quantities")
}

fn space(words: &Words) -> Form {
    let own: [Key; 8] = [
        optional(
            "accelerators",
            any_of([whole(1_u32..=16), text_of(r"^\s*\d+\s*\.\.\s*\d+\s*$", "a range such as 1..4")])
                .says("Number of accelerators"),
        ),
        optional(
            "dataflows",
            names(dataflow()).says("Dataflows that accelerators may have"),
        ),
        optional(
            "systems",
            names(reference(&[Kind::Style, Kind::System], "system", "systems"))
                .says("Systems that are given one by one, in place of `dataflows` and a budget"),
        ),
        optional("pes", pes()),
        optional("shares", shares()),
        optional(
            "local_memory",
            word(["declared", "needed"]).or("declared").says(
                "Sizes of scratchpads and cluster buffers: those of the chip, or the least that the \
                 networks need",
            ),
        ),
        optional("scheduler", names(words.scheduler.clone()).says("Schedulers")),
        optional("operating_points", operating_points()),
    ];
    let of_chips = words.settings.iter().filter(|(name, _)| name.contains('.'));
    let of_chips = of_chips.map(|(name, form)| optional(*name, grid_values(form.clone())));
    object(own.into_iter().chain(of_chips))
        .with("anyOf", json!([{"required": ["dataflows"]}, {"required": ["systems"]}]))
        .says("Systems that are searched: a budget for some dataflows, or a list")
        .remark("Settings whose names have a point vary the chip.")
}

/// One name, or a list of names.
fn names(name: Form) -> Form {
    let allowed = format!("{}, or a list of such", name.words());
    any_of([name.clone(), list(name).at_most(MAX_ENTRIES)]).allowed(allowed)
}

/// Text of this pattern.
fn text_of(pattern: &str, allowed: &str) -> Form {
    Form::of(json!({"type": "string", "pattern": pattern}), allowed)
}

fn pes() -> Form {
    let total = || {
        let words = text_of(r"^\s*(?:exactly|<=)?\s*\d+\s*$", "`<= N` or `exactly N`");
        any_of([whole(1_u32..=1 << 24), words])
    };
    let budget = object([
        required("total", total().says("Number of PEs of all accelerators")),
        optional("step", whole(1_u32..=1 << 24).says("Step of the PEs of an accelerator")),
    ]);
    any_of([total(), budget.allowed("{total, step}")]).or(4096).says("Budget of PEs")
}

fn shares() -> Form {
    let fractions = || {
        let word = text_of(
            r"^\s*(?:as-pes|(?:step\s*)?[0-9]+(?:\s*/\s*[0-9]+)?)\s*$",
            "a fraction such as 1/4, `step 1/16`, or `as-pes`",
        );
        names(any_of([whole(1_u32..=1).allowed(""), word])).or("as-pes")
    };
    object([
        optional("noc", fractions().says("Parts of the bandwidth of the NoC")),
        optional("shared_memory", fractions().says("Parts of the shared memory")),
        optional("dram", fractions().says("Parts of the DRAM bandwidth")),
    ])
    .says("Parts of the resources of the chip that an accelerator may have")
}

fn operating_points() -> Form {
    let point = object([
        required("clock_mhz", number(1e-6..=1e6).says("Clock [MHz]")),
        required(
            "energy_scale",
            number(1e-3..=1e3).says("Multiple of the energies of the chip at its voltage"),
        ),
    ])
    .says("A clock with the energy that it takes");
    list(point).at_most(100).says("Clocks of the chip, with their energies")
}

fn confirm() -> Form {
    let parameters = object([
        optional("delta", number(1e-9..=1e9).or(0.001).says("Least difference that counts")),
        optional("alpha", number(1e-4..=0.5).or(0.05).says("Probability of an error")),
    ]);
    any_of([flag(), parameters.allowed("{delta, alpha}")])
        .or(Value::Bool(true))
        .says("Comparison of the best systems on fresh draws")
}

fn stop() -> Form {
    object([
        optional(
            "gap_percent",
            number(0.0..=100.0).says("Distance from the bound at which the search ends [percent]"),
        ),
        optional("minutes", number(1e-3..=1e6).says("Longest time [min]")),
        optional("runs", whole(1..=u64::MAX).says("Most runs")),
        optional("evaluations", whole(1_u32..=10_000_000).says("Most systems that are evaluated")),
    ])
    .says("Rules that end the search early")
}
