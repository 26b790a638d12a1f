//! Schemas of `scenario:`, `sensors:` and `suite:` files.

use serde_json::json;

use super::form::{
    Form, any_of, list, name, named, number, object, optional, reference, required, text, whole,
    word,
};
use crate::scenario::{DISTRIBUTIONS, MAX_MODELS};
use crate::{Catalog, Kind};
use xrsim_model::hardware::Accelerator;
use xrsim_model::model::Parameter;

/// Longest span of time \[ms\].
pub(super) const MAX_MS: f64 = 9_007_199_254.0;

/// Shortest span of time above 0 \[ms\].
pub(super) const MIN_MS: f64 = 1e-6;

pub(super) fn scenario() -> Form {
    let models = list(model().says("A model of the scenario")).at_most(MAX_MODELS);
    object([
        required("name", name().says("Name of the scenario")),
        required(
            "models",
            models
                .says("Models that are active together (XRBench Definition 4)")
                .remark("Where a scheduler sees no difference, earlier models go first."),
        ),
        optional(
            "sensors",
            sensors().remark(
                "They stand in place of those that come with the program (`xrsim show sensors`): repeat \
                 those that you keep.",
            ),
        ),
    ])
    .says("Usage scenario: the models that are active together, with their rates and dependencies")
}

fn model() -> Form {
    object([
        required("network", network().says("Network of the model")),
        parameters(),
        required(
            "fps",
            rate()
                .says("Target processing rate [frames/s]")
                .remark("It is at most the rate of each sensor that the model reads."),
        ),
        optional(
            "task",
            name()
                .says("Another name of the model, to use one network twice")
                .remark("Without it, the task of the network."),
        ),
        optional(
            "network_name",
            name()
                .says("Name that the source of the scenario gives to the network")
                .remark("Results show it, and the artifact's runtime orders models by it."),
        ),
        optional(
            "inputs",
            list(text().says("Name of a sensor"))
                .allowed("a list of names")
                .says("Sensors that the model reads, the primary one first")
                .remark("Without it, those of the network."),
        ),
        optional(
            "depends_on",
            named(dependency()).says(
                "Models of this scenario that this model depends on, each with `data` or \
                 `{control: {probability: P}}`",
            ),
        ),
        optional(
            "relative_deadline_ms",
            number(MIN_MS..=MAX_MS)
                .says("Span from the nominal start of a frame to its deadline [ms]")
                .remark("Without it, the period of `fps`."),
        ),
    ])
}

/// A network by name or path.
pub(super) fn network() -> Form {
    reference(&[Kind::Network], "network", "models")
        .remark("Values of its parameters may follow, as in `PD:regions=100`.")
}

/// The key `parameters` beside a reference to a network.
pub(super) fn parameters() -> super::form::Key {
    let value = whole(0..=Parameter::MAX).says("Value of this parameter of the network");
    optional(
        "parameters",
        named(value)
            .says("Values of parameters of the network, such as `{regions: 100}`")
            .remark("Without it, the defaults of the network."),
    )
}

fn rate() -> Form {
    number(0.001..=1e6)
}

fn dependency() -> Form {
    let probability = number(0.0..=1.0)
        .says("Probability that the result of the upstream model triggers a frame of this one");
    let control = object([required("probability", probability)])
        .says("Control dependency: the result of the upstream model triggers the frame");
    any_of([
        word(["data"]),
        object([required("control", control)]).allowed("{control: {probability: P}}"),
    ])
    .says("Kind of the dependency")
    .remark(
        "With `data`, a frame needs the upstream result of the same frame. With `control`, a frame that \
         the upstream result does not trigger does not run.",
    )
}

pub(super) fn sensors() -> Form {
    let time = || number(0.0..=MAX_MS).or(0);
    let sensor = object([
        required("rate_fps", rate().says("Streaming rate [frames/s]")),
        optional("initial_latency_ms", time().says("Span before the first frame [ms]")),
        optional(
            "max_jitter_ms",
            time().says("Largest deviation of an arrival, in either direction [ms]"),
        ),
        optional(
            "jitter_distribution",
            word(DISTRIBUTIONS.map(|(word, _)| word))
                .or("truncated_normal")
                .says("Distribution of the jitter")
                .remark(
                    "The standard deviation of the normal distribution is a third of the bound.",
                ),
        ),
    ]);
    named(sensor.says("A source of frames"))
        .says("Sources of frames by name (XRBench Definition 1)")
}

pub(super) fn suite() -> Form {
    let names = |kind| json!({"enum": Catalog::new().names(kind)});
    let of = |kind, allowed: &str| list(Form::of(names(kind), "")).allowed(allowed);
    object([
        required(
            "scenarios",
            of(Kind::Scenario, "a list of names (`xrsim list scenarios`)")
                .says("Scenarios of a run without arguments, in the order of reports"),
        ),
        required(
            "systems",
            of(Kind::Style, "a list of names (`xrsim list systems`)")
                .says("Styles of a run without arguments, in the order of reports"),
        ),
        required(
            "pes",
            list(whole(1..=Accelerator::MAX_PES))
                .says("Total numbers of PEs that every style is built at"),
        ),
    ])
    .says("Scenarios and systems of a run without arguments (XRBench Definition 5)")
}
