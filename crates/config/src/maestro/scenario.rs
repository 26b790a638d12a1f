//! Network files as usage scenarios (rule R2 of the replay semantics).

use std::collections::HashMap;
use std::sync::Arc;

use crate::{At, Problem, Source, nearest};
use xrsim_model::ids::ModelId;
use xrsim_model::scenario::{
    ActiveModel, Dependency, DependencyKind, Scenario, ScenarioError, UnitModel,
};
use xrsim_model::units::FrameRate;

use super::networks::{MAX_MODELS, NetworkBlock, parse_networks};
use super::parser::{MAX_PROBLEMS, quote};

/// Longest name that a mistyped one is compared with \[byte\].
const MAX_COMPARED: usize = 64;

/// Reads a network file as the scenario called `name`.
///
/// Models are named by their networks, read no input stream (frames are ready at their nominal time)
/// and meet their quality goal. A block with a `Probability` is triggered by the first model that it
/// depends on, with that probability, and needs the results of the others.
///
/// # Errors
///
/// Every problem of the file: those of its networks, or else a missing `FPS`, a name used
/// twice, a dependency on an unknown model, on itself or twice on the same one, a probability below 1
/// without a dependency, and models that wait for each other.
pub fn scenario(source: &Source, name: &str) -> Result<Scenario, Vec<Problem>> {
    let blocks = parse_networks(source)?;
    if let Some(excess) = blocks.get(MAX_MODELS) {
        let message = format!("more than {MAX_MODELS} networks in one scenario");
        return Err(vec![Problem::new(excess.name_span.clone(), message)]);
    }
    let mut resolver = Resolver::new(&blocks);
    let models = blocks.iter().map(|block| resolver.model(block));
    let models: Vec<_> = models.collect();
    let mut problems = resolver.problems;
    if problems.is_empty() {
        let models = models.into_iter().flatten().collect();
        match Scenario::new(name, Vec::new(), models) {
            Ok(scenario) => return Ok(scenario),
            Err(errors) => problems.extend(errors.iter().map(|error| place(error, &blocks))),
        }
    }
    problems.sort_by_key(|problem| problem.span.start);
    Err(problems)
}

/// Turns blocks into models, and names into ids.
struct Resolver<'a> {
    blocks: &'a [NetworkBlock],
    ids: HashMap<&'a str, ModelId>,
    problems: Vec<Problem>,
}

impl<'a> Resolver<'a> {
    fn new(blocks: &'a [NetworkBlock]) -> Self {
        let mut ids = HashMap::new();
        let mut problems = Vec::new();
        for (index, block) in blocks.iter().enumerate() {
            if ids.insert(&*block.name, ModelId::new(index)).is_some() {
                let message = format!("a second network is called {}", quote(&block.name));
                let problem = Problem::new(block.name_span.clone(), message);
                problems.push(problem.help("in a scenario every network has its own name"));
            }
        }
        Self { blocks, ids, problems }
    }

    /// `None` if something is wrong, and noted.
    fn model(&mut self, block: &NetworkBlock) -> Option<ActiveModel> {
        let rate = self.rate(block);
        let dependencies = self.dependencies(block);
        let unit = UnitModel::new(block.name.clone(), Arc::new(block.network.clone()));
        let mut model = ActiveModel::new(unit, rate?);
        model.dependencies = dependencies;
        Some(model)
    }

    fn rate(&mut self, block: &NetworkBlock) -> Option<FrameRate> {
        let Some(At { span, value: fps }) = &block.fps else {
            let message = format!("network {} has no `FPS`", quote(&block.name));
            let problem = Problem::new(block.name_span.clone(), message);
            self.problems
                .push(problem.help("every network of a scenario needs a rate, e.g. FPS: 30"));
            return None;
        };
        let rate = FrameRate::from_fps(f64::from(*fps));
        if rate.is_none() {
            let problem = Problem::new(span.clone(), format!("FPS is `{fps}`"));
            self.problems.push(problem.help("allowed: whole numbers from 1 to 1000000"));
        }
        rate
    }

    fn dependencies(&mut self, block: &NetworkBlock) -> Vec<Dependency> {
        let mut dependencies: Vec<Dependency> = Vec::new();
        for At { span, value: name } in &block.dependencies {
            if self.problems.len() >= MAX_PROBLEMS {
                break;
            }
            match self.upstream(block, name, &dependencies) {
                Ok(upstream) => {
                    dependencies.push(Dependency { upstream, kind: DependencyKind::Data })
                }
                Err((message, help)) => {
                    let problem = Problem { help, ..Problem::new(span.clone(), message) };
                    self.problems.push(problem);
                }
            }
        }
        self.add_trigger(block, &mut dependencies);
        dependencies
    }

    /// The model called `name`, or the problem with it and a hint.
    fn upstream(
        &self,
        block: &NetworkBlock,
        name: &str,
        others: &[Dependency],
    ) -> Result<ModelId, (String, Option<String>)> {
        let Some(&upstream) = self.ids.get(name) else {
            let names = self.blocks.iter().map(|block| &*block.name);
            let known = nearest(name, names.filter(|known| known.len() <= MAX_COMPARED));
            let help = known.map(|known| format!("did you mean `{known}`?"));
            return Err((format!("no network of the file is called {}", quote(name)), help));
        };
        if name == &*block.name {
            return Err((format!("{} depends on itself", quote(name)), None));
        }
        if others.iter().any(|other| other.upstream == upstream) {
            return Err((format!("{} is named twice", quote(name)), None));
        }
        Ok(upstream)
    }

    fn add_trigger(&mut self, block: &NetworkBlock, dependencies: &mut [Dependency]) {
        let Some(probability) = block.probability else {
            return;
        };
        match dependencies {
            [first, ..] => first.kind = DependencyKind::Control { probability: widen(probability) },
            [] if probability < 1.0 && block.dependencies.is_empty() => {
                let message = format!(
                    "network {} has a `Probability` below 1 but no `Dependency`",
                    quote(&block.name)
                );
                let problem = Problem::new(block.name_span.clone(), message);
                self.problems.push(problem.help("name the network whose results trigger it"));
            }
            [] => {}
        }
    }
}

/// The decimal fraction that a single-precision number was read from, e.g. 0.2 and not
/// 0.20000000298; it rounds back to the same single.
fn widen(single: f32) -> f64 {
    let shortest: Option<f64> = single.to_string().parse().ok();
    shortest.filter(|&double| double as f32 == single).unwrap_or(single.into())
}

/// The bytes that an error of the whole scenario is about: the first model of a cycle.
fn place(error: &ScenarioError, blocks: &[NetworkBlock]) -> Problem {
    let block = match error {
        ScenarioError::Cycle(names) => {
            blocks.iter().find(|block| names.iter().any(|name| **name == *block.name))
        }
        _ => blocks.first(),
    };
    let span = block.map_or(0..0, |block| block.name_span.clone());
    Problem::new(span, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYER: &str = "Layer l { Type CONV Dimensions { K 1 C 1 Y 1 X 1 R 1 S 1 } }";

    /// A file with one network a line, each with its items.
    fn file(networks: &[&str]) -> Arc<Source> {
        let lines: Vec<_> = networks
            .iter()
            .map(|network| {
                let (name, items) = network.split_once(' ').unwrap_or((network, ""));
                format!("Network {name} {{ {items} {LAYER} }}")
            })
            .collect();
        Source::new("scenario.m", lines.join("\n"))
    }

    fn check(networks: &[&str], expected: &[&str]) {
        let source = file(networks);
        let problems = scenario(&source, "s").expect_err("the file has problems");
        let found: Vec<_> = problems
            .iter()
            .map(|problem| {
                let (line, _) = source.position(problem.span.start);
                let place = &source.text()[problem.span.clone()];
                format!("{line} {place}: {}", problem.message)
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn networks_become_models_in_file_order() {
        let source = file(&[
            "b FPS 3 Probability 0.2 Dependency { a c }",
            "a FPS 60",
            "c FPS 45 Dependency { a }",
        ]);
        let scenario = scenario(&source, "s").unwrap();
        let [b, a, c] = scenario.models() else { panic!() };
        assert_eq!((b.unit.network.name(), &*b.unit.task), ("b", "b"));
        let control = DependencyKind::Control { probability: 0.2 };
        let of = |upstream, kind| Dependency { upstream: ModelId::new(upstream), kind };
        assert_eq!(b.dependencies, [of(1, control), of(2, DependencyKind::Data)]);
        assert_eq!(a.rate, FrameRate::from_fps(60.0).unwrap());
        assert_eq!(c.dependencies, [of(1, DependencyKind::Data)]);
        assert!(a.inputs.is_empty() && a.relative_deadline.is_none());
    }

    #[test]
    fn probabilities_mean_the_decimal_and_round_back_to_the_single() {
        for text in ["0.2", "0.1", "0.3333333", "0.123456789012345", "1e-40", "0"] {
            let single: f32 = text.parse().unwrap();
            assert_eq!(widen(single) as f32, single, "{text}");
        }
        assert_eq!(widen(0.2), 0.2f64);
        assert_ne!(f64::from(0.2f32), 0.2f64);
    }

    #[test]
    fn what_a_scenario_needs_is_checked_at_its_place() {
        check(
            &["a", "b FPS 2000000 Dependency { a b c a }", "b FPS 1"],
            &[
                "1 a: network `a` has no `FPS`",
                "2 2000000: FPS is `2000000`",
                "2 b: `b` depends on itself",
                "2 c: no network of the file is called `c`",
                "2 a: `a` is named twice",
                "3 b: a second network is called `b`",
            ],
        );
    }

    #[test]
    fn a_probability_below_1_needs_a_dependency() {
        check(
            &["a FPS 1 Probability 0.5"],
            &["1 a: network `a` has a `Probability` below 1 but no `Dependency`"],
        );
        let source = file(&["a FPS 1 Probability 1.0"]);
        assert!(scenario(&source, "s").is_ok());
    }

    #[test]
    fn models_that_wait_for_each_other_are_refused() {
        check(
            &["a FPS 1", "b FPS 1 Dependency { c }", "c FPS 1 Dependency { b }"],
            &["2 b: these models wait for each other: b -> c"],
        );
    }
}
