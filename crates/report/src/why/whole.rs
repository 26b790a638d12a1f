//! Explanation of a whole run: where its score is lost, which layers take its time, and what its
//! accelerators do.

use std::collections::BTreeMap;
use std::iter;
use std::sync::Arc;

use crate::table::{Columns, Grid, Style, cell_if_any, with_half_width};
use xrsim_model::cost::{CostModel, CostTable, Quantity};
use xrsim_model::ids::{AccelId, ModelId, RequestId};
use xrsim_model::scenario::{ActiveModel, weight_bytes};
use xrsim_model::statistics::{Fraction, PairedDifference, Summary};
use xrsim_model::text::cell;
use xrsim_model::trace::Outcome;
use xrsim_model::units::{SimSpan, SimTime};
use xrsim_results::model_names;
use xrsim_results::model_parts::{Cause, losses};
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::RunResult;

use crate::sensitivity::change_text;
use xrsim_results::why::{Part, Why};

use super::told::{ACCELERATORS, DIFFERENCES, LAYERS, LOSSES, TableFile, Told};

/// Sums over the replications of one scenario on one system.
pub struct WholeRun<'p> {
    plan: &'p Plan,
    names: Vec<&'p str>,
    /// Draws that have a score.
    draws: Vec<u64>,
    /// Number of draws in which no frame is counted.
    n_uncounted: usize,
    /// Score of every draw that has one.
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

/// Row of all models together.
const ALL: &str = "all";

/// Most models that are named beside an accelerator.
const MAX_NAMED: usize = 3;

impl<'p> WholeRun<'p> {
    /// A summary without any replication of `plan`.
    pub fn new(plan: &'p Plan) -> Self {
        let names = model_names(&plan.scenario);
        let n_accelerators = plan.system.accelerators().len();
        Self {
            plan,
            draws: Vec::new(),
            n_uncounted: 0,
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

    /// Adds a draw in which no frame is counted.
    pub fn add_uncounted(&mut self) {
        self.n_uncounted += 1;
    }

    /// Number of draws that have a score.
    pub fn n_draws(&self) -> usize {
        self.draws.len()
    }

    /// A line on draws that have no score; empty if all have one.
    fn uncounted(&self) -> String {
        let (n, name) = (self.draws.len(), self.plan.system.name());
        match self.n_uncounted {
            0 => String::new(),
            more => format!(
                "{n} of {} draws on {name} count; in the others no frame is counted\n",
                n + more
            ),
        }
    }

    /// Adds a replication.
    pub fn add(&mut self, plan: &Plan, result: &RunResult) {
        self.draws.push(plan.load.replication);
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
        // The layers of a model are those of its network with the planned counts.
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

    /// Where the score goes: models, accelerators and layers. `cost_model` says what bounds layers. `style` is that of
    /// means.
    pub fn told(&self, cost_model: &dyn CostModel, style: Style) -> Told {
        let score = with_half_width(&Summary::of(self.scores.iter().copied()), 3, style);
        let mut told = Told::default();
        told.answer(format!("score {score}, so {:.3} of 1 is lost\n", 1.0 - self.score()));
        told.lines(self.uncounted());
        self.models_table(&mut told);
        self.accelerators_table(&mut told);
        told.lines(self.sequences_text());
        self.layers_tables(Bounds { run: self, cost_model, known: BTreeMap::new() }, &mut told);
        told
    }

    fn models_table(&self, told: &mut Told) {
        let losses = self.mean_losses();
        let lost = |model: usize| losses[model].iter().sum::<f64>();
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by(|a, b| lost(*b).total_cmp(&lost(*a)));
        let counts = |model: usize| {
            let it = self.models[model];
            [it.requests, it.executed, it.late].map(|n| n as f64 / self.n())
        };
        let waited_ms =
            |model: usize| self.models[model].waited_ms / self.models[model].waits.max(1) as f64;
        let (losses, counts) = (&losses, &counts);
        let columns = |written: fn(f64, usize) -> String, heading: fn(&str) -> String| {
            let mut columns = Columns::<usize>::new()
                .text("model", |it| self.names[*it])
                .number("lost", move |it| written(lost(*it), 3));
            for (at, cause) in Cause::ALL.into_iter().enumerate() {
                columns =
                    columns.number(heading(cause.name()), move |it| written(losses[*it][at], 3));
            }
            for (at, name) in ["requests", "executed", "ended late"].into_iter().enumerate() {
                columns = columns.number(heading(name), move |it| written(counts(*it)[at], 1));
            }
            columns
                .number(heading("waited ms"), move |it| written(waited_ms(*it), 3))
                .of(order.clone())
        };
        let shown = columns(|value, digits| format!("{value:.digits$}"), str::to_string);
        let rows = columns(|value, _| cell(value), |name| name.replace(' ', "_")).into_rows();
        let file = TableFile { name: LOSSES, rows, top: None };
        told.table("Models, largest loss first", shown, file);
    }

    fn accelerators_table(&self, told: &mut Told) {
        let mut shown = Grid {
            header: ["accelerator", "busy", "with"].map(String::from).into(),
            is_text: vec![true, false, false],
            rows: Vec::new(),
        };
        let mut rows = Vec::new();
        for (accelerator, busy) in self.plan.system.accelerators().iter().zip(&self.busy_ms) {
            let all: f64 = busy.iter().sum();
            let mut order: Vec<usize> = (0..busy.len()).filter(|&at| busy[at] > 0.0).collect();
            order.sort_by(|a, b| busy[*b].total_cmp(&busy[*a]));
            let share = |&model: &usize| {
                format!("{} {:.1} %", self.names[model], 100.0 * busy[model] / self.span_ms)
            };
            let named: Vec<_> = order.iter().take(MAX_NAMED).map(share).collect();
            let percent = format!("{:.1} %", 100.0 * all / self.span_ms);
            let name = accelerator.name.to_string();
            shown.rows.push(vec![name.clone(), percent, named.join(", ")]);
            let of_models = order.iter().map(|&model| (self.names[model], busy[model]));
            rows.extend(iter::once((ALL, all)).chain(of_models).map(|(model, busy_ms)| {
                vec![name.clone(), model.into(), cell(100.0 * busy_ms / self.span_ms)]
            }));
        }
        let header = ["accelerator", "model", "busy_percent"].map(String::from).into();
        let file = TableFile { name: ACCELERATORS, rows: (header, rows), top: None };
        told.table("Accelerators", shown, file);
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

    fn layers_tables(&self, mut bounds: Bounds<'_, '_>, told: &mut Told) {
        let layers = self.layers.iter().flat_map(|(&(model, accelerator), layers)| {
            let used = layers.iter().enumerate().filter(|(_, it)| it.times > 0);
            used.map(move |(layer, it)| (model, accelerator, layer, *it))
        });
        let ms = |it: &LayerUse| it.times as f64 * it.latency.as_ms();
        let bytes = |it: &LayerUse| it.times as f64 * it.dram_bytes as f64;
        let layers: Vec<_> = layers
            .map(|(model, accelerator, layer, it)| {
                let network = &self.plan.scenario.model(model).unit.network;
                UsedLayer {
                    model: self.names[model.index()],
                    name: network.layers().get(layer).map_or("all", |layer| &layer.name),
                    accelerator: &self.plan.system.accelerators()[accelerator.index()].name,
                    bound_by: bounds.of(model, accelerator, layer),
                    ms: ms(&it),
                    bytes: bytes(&it),
                }
            })
            .collect();
        let all_ms = layers.iter().map(|it| it.ms).sum();
        let all_bytes = layers.iter().map(|it| it.bytes).sum();
        let percent = |part: f64, all: f64| 100.0 * part / all.max(1e-9);
        let mega = |bytes: f64| bytes / 1e6 / self.n();
        let shown = Columns::<&UsedLayer<'_>>::new()
            .text("layer", |it| format!("{} {}", it.model, it.name))
            .text("on", |it| it.accelerator)
            .text("bound by", |it| it.bound_by.clone())
            .number("ms a run", |it| format!("{:.3}", it.ms / self.n()))
            .number("of all", |it| format!("{:.1} %", percent(it.ms, all_ms)))
            .number("DRAM MB", |it| format!("{:.3}", mega(it.bytes)))
            .number("of all", |it| format!("{:.1} %", percent(it.bytes, all_bytes)));
        let file = Columns::<&UsedLayer<'_>>::new()
            .text("model", |it| it.model)
            .text("layer", |it| it.name)
            .text("accelerator", |it| it.accelerator)
            .text("bound_by", |it| it.bound_by.clone())
            .number("time_per_run_ms", |it| cell(it.ms / self.n()))
            .number("of_time_percent", |it| cell(percent(it.ms, all_ms)))
            .number("dram_per_run_mb", |it| cell(mega(it.bytes)))
            .number("of_dram_percent", |it| cell(percent(it.bytes, all_bytes)));
        let mut order: Vec<&UsedLayer<'_>> = layers.iter().collect();
        order.sort_by(|a, b| b.ms.total_cmp(&a.ms));
        let rows = file.of(order.iter().copied()).into_rows();
        type Measure = fn(&UsedLayer<'_>) -> f64;
        let by: [(&str, &'static str, Measure); 2] = [
            ("Layers that take most time", "time_per_run_ms", |it| it.ms),
            ("Layers that move most bytes of DRAM", "dram_per_run_mb", |it| it.bytes),
        ];
        for (title, column, size) in by {
            order.sort_by(|a, b| size(b).total_cmp(&size(a)));
            let largest = order.iter().copied().take(MAX_LAYERS);
            let largest = largest.take_while(|it| size(it) != 0.0);
            let top = Some((column, MAX_LAYERS));
            let file = TableFile { name: LAYERS, rows: rows.clone(), top };
            told.table(title, shown.of(largest), file);
        }
    }

    /// Difference of this run and `other`, which is the same scenario on equal draws on another system: the
    /// score, and the losses of every model by cause.
    pub fn against(&self, other: &Self) -> Told {
        let place =
            |(at, draw): (usize, &u64)| Some((at, other.draws.iter().position(|it| it == draw)?));
        let both: Vec<_> = self.draws.iter().enumerate().filter_map(place).collect();
        let pairs = both.iter().map(|&(own, others)| (self.scores[own], other.scores[others]));
        let all = PairedDifference::from_pairs(pairs).difference;
        let [mine, theirs] = [self, other].map(|it| it.plan.system.name());
        let mut rows = Vec::new();
        for (model, name) in self.names.iter().enumerate() {
            for (at, cause) in Cause::ALL.into_iter().enumerate() {
                let loss = |run: &Self, replication: usize| run.losses[replication][model][at];
                // What the other one loses more, this one gains.
                let gains = both.iter().map(|&(own, others)| loss(other, others) - loss(self, own));
                let mean =
                    |run: &Self| Summary::of((0..run.losses.len()).map(|it| loss(run, it))).mean;
                let (model, by) = (*name, cause.name());
                rows.push(Gain {
                    model,
                    by,
                    lost: [mean(self), mean(other)],
                    gain: Summary::of(gains),
                });
            }
        }
        rows.sort_by(|a, b| b.gain.mean.abs().total_cmp(&a.gain.mean.abs()));
        let lost = [self, other].map(|it| 1.0 - it.score());
        rows.push(Gain { model: ALL, by: "", lost, gain: all });
        let shown = Columns::<&Gain<'_>>::new()
            .text("model", |it| it.model)
            .text("by", |it| it.by)
            .number(format!("lost on {mine}"), |it| format!("{:.3}", it.lost[0]))
            .number(format!("lost on {theirs}"), |it| format!("{:.3}", it.lost[1]))
            .number(format!("{mine} gains"), |it| change_text(&it.gain))
            .of(rows.iter().filter(|it| it.model == ALL || it.lost.iter().any(|it| *it >= 0.0005)));
        let end = |it: &Gain<'_>| it.gain.interval(Fraction::P95);
        let file = Columns::<&Gain<'_>>::new()
            .text("model", |it| it.model)
            .text("by", |it| it.by)
            .number("lost_on_system", |it| cell(it.lost[0]))
            .number("lost_on_other", |it| cell(it.lost[1]))
            .number("gain", |it| cell(it.gain.mean))
            .number("low", |it| cell_if_any(end(it).map(|it| it.low)))
            .number("high", |it| cell_if_any(end(it).map(|it| it.high)))
            .of(&rows)
            .into_rows();
        let mut told = Told::default();
        told.answer(format!(
            "{mine} scores {:.3} and {theirs} {:.3}, a difference of {}\n",
            self.score(),
            other.score(),
            change_text(&all),
        ));
        told.lines(self.uncounted());
        told.lines(other.uncounted());
        let title = "Models and causes that make the difference, the largest first";
        told.table(title, shown, TableFile { name: DIFFERENCES, rows: file, top: None });
        told
    }
}

/// Executions of a layer on an accelerator, in all replications.
struct UsedLayer<'a> {
    model: &'a str,
    name: &'a str,
    accelerator: &'a str,
    bound_by: String,
    ms: f64,
    bytes: f64,
}

/// What one of two systems loses less of a model by a cause.
struct Gain<'a> {
    model: &'a str,
    by: &'a str,
    /// Mean losses on both systems.
    lost: [f64; 2],
    gain: Summary,
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
