//! Explanation of a whole run: where its score is lost, which layers take its time, and what its
//! accelerators do.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::table::{Style, new_table, render, with_half_width};
use xrsim_model::cost::{CostModel, CostTable, Quantity};
use xrsim_model::ids::{AccelId, ModelId, RequestId};
use xrsim_model::scenario::{ActiveModel, weight_bytes};
use xrsim_model::statistics::{PairedDifference, Summary};
use xrsim_model::trace::Outcome;
use xrsim_model::units::{SimSpan, SimTime};
use xrsim_results::model_names;
use xrsim_results::model_parts::{Cause, losses};
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::RunResult;

use crate::sensitivity::change_text;
use xrsim_results::why::{Part, Why};

/// Sums over the replications of one scenario on one system.
pub struct WholeRun<'p> {
    plan: &'p Plan,
    names: Vec<&'p str>,
    /// Score of every replication.
    scores: Vec<f64>,
    /// Losses of every replication, `[replication][model][cause]`.
    losses: Vec<Vec<[f64; 4]>>,
    /// Indexed by [`ModelId`].
    models: Vec<ModelUse>,
    /// Busy time of every model on every accelerator \[ms\], `[accelerator][model]`.
    busy_ms: Vec<Vec<f64>>,
    /// Time that the runs took together, up to the end of the last execution \[ms\].
    span_ms: f64,
    /// How often each layer ran to its end, and its costs.
    layers: BTreeMap<(ModelId, AccelId), Vec<LayerUse>>,
    /// Costs of the last replication.
    costs: Option<Arc<CostTable>>,
}

/// Requests of one model.
#[derive(Debug, Clone, Copy, Default)]
struct ModelUse {
    requests: u64,
    executed: u64,
    late: u64,
    /// Waits for an accelerator, of all requests that ran or were dropped \[ms\].
    waited_ms: f64,
    waits: u64,
}

/// Executions of one layer on one accelerator.
#[derive(Debug, Clone, Copy, Default)]
struct LayerUse {
    times: u64,
    latency: SimSpan,
    dram_bytes: u64,
}

/// Most rows of a table of layers.
const MAX_LAYERS: usize = 6;

/// Most models that are named beside an accelerator.
const MAX_NAMED: usize = 3;

impl<'p> WholeRun<'p> {
    /// A summary without any replication of `plan`.
    pub fn new(plan: &'p Plan) -> Self {
        let names = model_names(&plan.scenario);
        let n_accelerators = plan.system.accelerators().len();
        Self {
            plan,
            scores: Vec::new(),
            losses: Vec::new(),
            models: vec![ModelUse::default(); names.len()],
            busy_ms: vec![vec![0.0; names.len()]; n_accelerators],
            span_ms: 0.0,
            layers: BTreeMap::new(),
            costs: None,
            names,
        }
    }

    /// Adds a replication.
    pub fn add(&mut self, plan: &Plan, result: &RunResult) {
        self.scores.push(result.scorecard.total.score);
        self.losses.push(losses(plan, result));
        let why = Why::new(plan, result);
        let trace = &result.trace;
        for (index, record) in trace.records().iter().enumerate() {
            let it = &mut self.models[record.model.index()];
            let id = RequestId::new(index);
            it.requests += u64::from(!matches!(
                record.outcome,
                Outcome::NotTriggered | Outcome::NotCaptured(_)
            ));
            if let Outcome::Executed { end, .. } = record.outcome {
                it.executed += 1;
                it.late += u64::from(end > record.deadline);
            }
            if let Some(account) = why.account(id) {
                it.waited_ms += account.parts.ms(Part::Accelerator).max(0.0);
                it.waits += 1;
            }
            self.add_layers(result, id);
        }
        let mut last = SimTime::ZERO + plan.load.duration;
        for interval in trace.busy_intervals() {
            let end = interval.end.unwrap_or(interval.start);
            last = last.max(end);
            let model = trace.record(interval.request).model.index();
            let busy = &mut self.busy_ms[interval.accelerator.index()][model];
            *busy += end.saturating_since(interval.start).as_ms();
        }
        self.span_ms += last.as_ms();
        self.costs = Some(Arc::clone(&result.costs));
    }

    /// Adds the layers that a request ran to their end.
    fn add_layers(&mut self, result: &RunResult, id: RequestId) {
        let (trace, costs) = (&result.trace, &result.costs);
        let record = trace.record(id);
        // The layers of a model are those of its network.
        if trace.variant_of(id) > 0 {
            return;
        }
        let mut add = |accelerator: AccelId, layers: std::ops::Range<u32>| {
            let execution = costs.on(record.model, accelerator);
            let known = self.layers.entry((record.model, accelerator)).or_insert_with(|| {
                let of = |layer: u32| LayerUse {
                    times: 0,
                    latency: execution.time_of(layer..layer + 1),
                    dram_bytes: execution.layer(layer).map_or(0, |cost| cost.dram_bytes),
                };
                (0..execution.n_layers()).map(of).collect()
            });
            for layer in known.iter_mut().take(layers.end as usize).skip(layers.start as usize) {
                layer.times += 1;
            }
        };
        match (trace.segments_of(id), record.outcome) {
            ([], Outcome::Executed { accelerator, .. }) => {
                add(accelerator, 0..costs.n_layers(record.model));
            }
            (segments, _) => {
                segments.iter().for_each(|it| add(it.accelerator, it.first_layer..it.end_layer));
            }
        }
    }

    /// Mean score of the replications.
    pub fn score(&self) -> f64 {
        Summary::of(self.scores.iter().copied()).mean
    }

    fn n(&self) -> f64 {
        self.scores.len().max(1) as f64
    }

    /// Mean losses of every model, by [`Cause::ALL`]; with the score they add up to 1.
    fn mean_losses(&self) -> Vec<[f64; 4]> {
        let mut means = vec![[0.0; 4]; self.names.len()];
        for losses in &self.losses {
            for (mean, loss) in means.iter_mut().zip(losses) {
                mean.iter_mut().zip(loss).for_each(|(mean, loss)| *mean += loss / self.n());
            }
        }
        means
    }

    /// Where the score goes: models, accelerators and layers. `cost_model` says what bounds layers.
    pub fn text(&self, cost_model: &dyn CostModel, style: Style) -> String {
        let score = with_half_width(&Summary::of(self.scores.iter().copied()), 3, style);
        let mut text = format!("score {score}, so {:.3} of 1 is lost\n", 1.0 - self.score());
        text += "\nModels, largest loss first\n";
        text += &self.models_table(style);
        text += "\nAccelerators\n";
        text += &self.accelerators_table(style);
        text += &self.sequences_text();
        let bounds = Bounds { run: self, cost_model, known: BTreeMap::new() };
        text + &self.layers_text(bounds, style)
    }

    fn models_table(&self, style: Style) -> String {
        let mut header = vec!["model", "lost"];
        header.extend(Cause::ALL.map(Cause::name));
        header.extend(["requests", "executed", "ended late", "waited ms"]);
        let mut table = new_table(style, &header, 1);
        let losses = self.mean_losses();
        let lost = |model: usize| losses[model].iter().sum::<f64>();
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by(|a, b| lost(*b).total_cmp(&lost(*a)));
        for model in order {
            let it = self.models[model];
            let mut row = vec![self.names[model].to_string(), format!("{:.3}", lost(model))];
            row.extend(losses[model].map(|loss| format!("{loss:.3}")));
            let counts = [it.requests, it.executed, it.late].map(|n| n as f64 / self.n());
            row.extend(counts.map(|n| format!("{n:.1}")));
            row.push(format!("{:.3}", it.waited_ms / it.waits.max(1) as f64));
            table.add_row(row);
        }
        render(&table)
    }

    fn accelerators_table(&self, style: Style) -> String {
        let mut table = new_table(style, &["accelerator", "busy", "with"], 1);
        for (accelerator, busy) in self.plan.system.accelerators().iter().zip(&self.busy_ms) {
            let all: f64 = busy.iter().sum();
            let mut order: Vec<usize> = (0..busy.len()).filter(|&at| busy[at] > 0.0).collect();
            order.sort_by(|a, b| busy[*b].total_cmp(&busy[*a]));
            let share = |&model: &usize| {
                format!("{} {:.1} %", self.names[model], 100.0 * busy[model] / self.span_ms)
            };
            let named: Vec<_> = order.iter().take(MAX_NAMED).map(share).collect();
            let busy = format!("{:.1} %", 100.0 * all / self.span_ms);
            table.add_row([accelerator.name.to_string(), busy, named.join(", ")]);
        }
        render(&table)
    }

    /// Upper bounds of the tokens a second of sequences by DRAM.
    fn sequences_text(&self) -> String {
        let accelerators = self.plan.system.accelerators().iter();
        let gb_per_s = accelerators.map(|it| it.dram_gb_per_s()).fold(0.0, f64::max);
        let models = self.plan.scenario.models().iter().zip(&self.names);
        let line = |(model, name): (&ActiveModel, &&str)| {
            let sequence = model.sequence.as_ref()?;
            let network = &model.unit.network;
            let (first, last) = sequence.lengths().into_inner();
            let [most, least] =
                [first, last].map(|past| sequence.most_tokens_per_s(network, past, gb_per_s));
            let (weights, cache) = (weight_bytes(network), sequence.cache_bytes);
            Some(format!(
                "\n{name}: at most {most:.2} tokens/s with {first} tokens in the cache, {least:.2} with {last}: DRAM of \
                 {gb_per_s:.1} GB/s over {:.1} MB of weights and {:.1} KiB a token\n",
                weights as f64 / 1e6,
                cache as f64 / 1024.0
            ))
        };
        models.filter_map(line).collect()
    }

    fn layers_text(&self, mut bounds: Bounds<'_, '_>, style: Style) -> String {
        let layers = self.layers.iter().flat_map(|(&(model, accelerator), layers)| {
            let used = layers.iter().enumerate().filter(|(_, it)| it.times > 0);
            used.map(move |(layer, it)| (model, accelerator, layer, *it))
        });
        let mut layers: Vec<_> = layers.collect();
        let ms = |it: &LayerUse| it.times as f64 * it.latency.as_ms();
        let bytes = |it: &LayerUse| it.times as f64 * it.dram_bytes as f64;
        let [all_ms, all_bytes] = [
            layers.iter().map(|(.., it)| ms(it)).sum::<f64>(),
            layers.iter().map(|(.., it)| bytes(it)).sum::<f64>(),
        ];
        let mut text = String::new();
        type Measure<'a> = &'a dyn Fn(&LayerUse) -> f64;
        let by: [(&str, Measure<'_>); 2] =
            [("Layers that take most time", &ms), ("Layers that move most bytes of DRAM", &bytes)];
        for (title, size) in by {
            layers.sort_by(|a, b| size(&b.3).total_cmp(&size(&a.3)));
            let header = ["layer", "on", "bound by", "ms a run", "of all", "DRAM MB", "of all"];
            let mut table = new_table(style, &header, 3);
            for (model, accelerator, layer, it) in layers.iter().take(MAX_LAYERS) {
                if size(it) == 0.0 {
                    break;
                }
                let network = &self.plan.scenario.model(*model).unit.network;
                let place = &self.plan.system.accelerators()[accelerator.index()].name;
                let name = network.layers().get(*layer).map_or("all", |layer| &layer.name);
                let percent =
                    |part: f64, all: f64| format!("{:.1} %", 100.0 * part / all.max(1e-9));
                table.add_row([
                    format!("{} {name}", self.names[model.index()]),
                    place.to_string(),
                    bounds.of(*model, *accelerator, *layer),
                    format!("{:.3}", ms(it) / self.n()),
                    percent(ms(it), all_ms),
                    format!("{:.3}", bytes(it) / 1e6 / self.n()),
                    percent(bytes(it), all_bytes),
                ]);
            }
            if table.row_count() > 0 {
                text += &format!("\n{title}\n{}", render(&table));
            }
        }
        text
    }

    /// Difference of this run and `other`, which is the same scenario on equal draws on another system: the
    /// score, and the losses of every model by cause.
    pub fn against(&self, other: &Self, style: Style) -> String {
        let pairs = self.scores.iter().copied().zip(other.scores.iter().copied());
        let all = PairedDifference::from_pairs(pairs).difference;
        let [mine, theirs] = [self, other].map(|it| it.plan.system.name());
        let mut rows = Vec::new();
        for (model, name) in self.names.iter().enumerate() {
            for (at, cause) in Cause::ALL.into_iter().enumerate() {
                let loss = |run: &Self, replication: usize| run.losses[replication][model][at];
                let n = self.losses.len().min(other.losses.len());
                // What the other one loses more, this one gains.
                let gains = (0..n).map(|it| loss(other, it) - loss(self, it));
                let mean = |run: &Self| Summary::of((0..n).map(|it| loss(run, it))).mean;
                rows.push((*name, cause, mean(self), mean(other), Summary::of(gains)));
            }
        }
        rows.sort_by(|a, b| b.4.mean.abs().total_cmp(&a.4.mean.abs()));
        let lost = [mine, theirs].map(|name| format!("lost on {name}"));
        let gain = format!("{mine} gains");
        let header = ["model", "by", &lost[0], &lost[1], &gain];
        let mut table = new_table(style, &header, 2);
        for (name, cause, own, others, gain) in rows {
            if own < 0.0005 && others < 0.0005 {
                continue;
            }
            let cells =
                [name.into(), cause.name().into(), format!("{own:.3}"), format!("{others:.3}")];
            table.add_row(cells.into_iter().chain([change_text(&gain)]));
        }
        let sums = [self, other].map(|it| format!("{:.3}", 1.0 - it.score()));
        let [own, others] = sums;
        table.add_row(["all".into(), String::new(), own, others, change_text(&all)]);
        format!(
            "{mine} scores {:.3} and {theirs} {:.3}, a difference of {}\n\n\
             Models and causes that make the difference, the largest first\n{}",
            self.score(),
            other.score(),
            change_text(&all),
            render(&table)
        )
    }
}

/// What bounds the layers of models on accelerators, asked for once.
struct Bounds<'r, 'p> {
    run: &'r WholeRun<'p>,
    cost_model: &'r dyn CostModel,
    known: BTreeMap<(ModelId, AccelId), Vec<String>>,
}

impl Bounds<'_, '_> {
    /// The resource that bounds a layer; `-` if the cost model does not say.
    fn of(&mut self, model: ModelId, accelerator: AccelId, layer: usize) -> String {
        let Self { run, cost_model, known } = self;
        let bounds = known.entry((model, accelerator)).or_insert_with(|| {
            let network = &run.plan.scenario.model(model).unit.network;
            let limit = run.costs.as_ref().and_then(|it| it.limit_cycles(model, accelerator));
            let place = run.plan.system.accelerators()[accelerator.index()].within(limit);
            let layers = cost_model.explain_network(network, &place).unwrap_or_default();
            let bound = |layer: &Vec<(&str, Quantity)>| {
                let found = layer.iter().find(|(name, _)| *name == "bound");
                match found {
                    Some((_, Quantity::Text(bound))) => bound.clone(),
                    _ => "-".into(),
                }
            };
            layers.iter().map(bound).collect()
        });
        bounds.get(layer).cloned().unwrap_or_else(|| "-".into())
    }
}
