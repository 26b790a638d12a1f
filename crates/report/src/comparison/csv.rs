//! A comparison for programs: tables as header and rows.

use xrsim_model::column::Column;
use xrsim_model::statistics::{Fraction, Summary};
use xrsim_model::text::cell;
use xrsim_results::model_names;
use xrsim_sim::bounds::Bounds;
use xrsim_sim::metrics::{DeviceMetrics, ModelMetrics, RunMetrics, chains};
use xrsim_sim::sweep::comparison::{Comparison, Configuration, Replication, Sample};

use super::{Measure, Pair, Ranking};

/// A header and rows of as many cells.
pub(super) type Rows = (Vec<String>, Vec<Vec<String>>);

/// Name of all scenarios together in the column `scenario`.
pub const ALL: &str = "all";

/// A row for each policy over all scenarios, the best first, and then in every scenario: the columns of the printed
/// tables, with half the widths of the 95 % intervals.
pub fn policies_csv(overall: &Ranking, by_scenario: &[Ranking]) -> Rows {
    let header = policies_header(overall.measure.name());
    let rankings = std::iter::once(overall).chain(by_scenario);
    (header, rankings.flat_map(policies_rows).collect())
}

fn policies_header(measure: &str) -> Vec<String> {
    let header = [
        "scenario",
        "scheduler",
        "replications",
        "configurations",
        measure,
        "half_width",
        "difference",
        "difference_half_width",
        "d_z",
        "p_holm",
        "won",
        "tied",
        "lost",
        "miss_ratio",
        "energy_mj",
        "gap_to_bound",
        "bound",
        "wins",
        "ties",
    ];
    header.map(String::from).into()
}

fn policies_rows(ranking: &Ranking) -> Vec<Vec<String>> {
    let rows = ranking.standings.iter().map(|standing| {
        let difference = standing.difference.map(|it| it.difference);
        let mut row = vec![
            ranking.scenario.as_deref().unwrap_or(ALL).to_string(),
            standing.policy.to_string(),
            ranking.n_replications.to_string(),
            ranking.n_configurations.to_string(),
        ];
        row.extend(mean_and_half_width(Some(standing.measure)));
        row.extend(mean_and_half_width(difference));
        row.push(number(standing.difference.and_then(|it| it.effect_size())));
        row.push(number(standing.p_value));
        let shares = standing.shares;
        row.extend(
            [shares.map(|it| it.won), shares.map(|it| it.tied), shares.map(|it| it.lost)]
                .map(number),
        );
        row.extend([standing.miss_ratio, standing.energy_mj, standing.gap].map(cell));
        row.push(ranking.bound.0.name().into());
        row.extend([standing.wins, standing.ties].map(|it| it.to_string()));
        row
    });
    rows.collect()
}

/// A row for each pair of policies over all scenarios, and then in every scenario.
pub fn pairs_csv(pairs: &[(String, Vec<Pair>)]) -> Rows {
    let header = [
        "scenario",
        "first",
        "second",
        "difference",
        "difference_half_width",
        "d_z",
        "p_holm",
        "won",
        "tied",
        "lost",
    ];
    let row = |scenario: &String, pair: &Pair| {
        let mut row = vec![scenario.clone(), pair.first.to_string(), pair.second.to_string()];
        row.extend(mean_and_half_width(Some(pair.difference.difference)));
        row.extend([pair.difference.effect_size(), pair.p_value].map(number));
        row.extend([pair.shares.won, pair.shares.tied, pair.shares.lost].map(cell));
        row
    };
    let rows = pairs.iter().flat_map(|(scenario, pairs)| pairs.iter().map(|it| row(scenario, it)));
    (header.map(String::from).into(), rows.collect())
}

/// A row for each policy on each configuration that could run: means over the replications of every
/// column of [`Sample`], half the width of the 95 % interval of the measure, bounds, and metrics.
pub fn configurations_csv(comparison: &Comparison, measure: Measure) -> Rows {
    let mut header: Vec<String> =
        ["scenario", "system", "pes", "scheduler", "replications"].map(String::from).into();
    header.extend(Sample::columns().map(|column| column.name.to_string()));
    header.push(format!("{}_half_width", measure.name()));
    header.extend(Bounds::COLUMNS.iter().map(|column| column.name.to_string()));
    header.extend(RunMetrics::COLUMNS.iter().map(|column| column.name.to_string()));
    // The metrics of the run have the power already.
    let is_new = |name: &str| RunMetrics::COLUMNS.iter().all(|column| column.name != name);
    let device = DeviceMetrics::COLUMNS.iter().enumerate();
    let device: Vec<_> = device.filter(|(_, column)| is_new(column.name)).collect();
    header.extend(device.iter().map(|(_, column)| column.name.to_string()));
    let mut rows = Vec::new();
    for (Configuration { plan, metrics, .. }, runs) in feasible(comparison) {
        for (index, policy) in comparison.policies().iter().enumerate() {
            let column = |column: usize| {
                Summary::of(runs.iter().map(|run| run.samples[index].values()[column]))
            };
            let mut row = vec![
                plan.scenario.name().to_string(),
                plan.system.name().to_string(),
                plan.system.pes().to_string(),
                policy.label().to_string(),
                runs.len().to_string(),
            ];
            row.extend(Sample::columns().enumerate().map(|(at, _)| cell(column(at).mean)));
            row.push(number(column(measure.at).half_width(Fraction::P95)));
            let bound = |bound: &Column<Bounds>| {
                Summary::of(runs.iter().filter_map(|it| bound.of(&it.bounds))).mean
            };
            row.extend(Bounds::COLUMNS.iter().map(|column| cell(bound(column))));
            row.extend(metrics[index].run.values().map(number));
            let values: Vec<_> = metrics[index].device.values().collect();
            row.extend(device.iter().map(|(at, _)| number(values.get(*at).copied().flatten())));
            rows.push(row);
        }
    }
    (header, rows)
}

/// Configurations that could run, with their replications.
fn feasible(comparison: &Comparison) -> impl Iterator<Item = (&Configuration, &[Replication])> {
    let runs = |it: &'_ Configuration| it.replications.is_ok();
    let feasible = comparison.configurations().iter().filter(move |it| runs(it));
    feasible.map(|it| (it, it.replications.as_deref().unwrap_or_default()))
}

/// A row for each model and each chain of dependent models under each policy on each configuration
/// that could run: means of its metrics over the replications. Cells that a chain does not have are
/// empty.
pub fn metrics_csv(comparison: &Comparison) -> Rows {
    let mut header: Vec<String> =
        ["scenario", "system", "pes", "scheduler", "of", "name"].map(String::from).into();
    header.extend(ModelMetrics::names().map(String::from));
    let mut rows = Vec::new();
    for (Configuration { plan, metrics, .. }, _) in feasible(comparison) {
        let names = model_names(&plan.scenario);
        let chains = chains(&plan.scenario).into_iter().map(|chain| {
            let names: Vec<_> = chain.iter().map(|model| names[model.index()]).collect();
            names.join(" > ")
        });
        let chains: Vec<String> = chains.collect();
        for (policy, metrics) in comparison.policies().iter().zip(metrics) {
            let models = names.iter().map(ToString::to_string).zip(&metrics.models);
            let models = models.map(|(name, means)| ("model", name, means));
            let chains = chains.iter().cloned().zip(&metrics.chains);
            let chains = chains.map(|(name, means)| ("chain", name, means));
            for (of, name, means) in models.chain(chains) {
                let mut row = vec![
                    plan.scenario.name().to_string(),
                    plan.system.name().to_string(),
                    plan.system.pes().to_string(),
                    policy.label().to_string(),
                    of.to_string(),
                    name,
                ];
                row.extend(means.values().map(number));
                row.resize(header.len(), String::new());
                rows.push(row);
            }
        }
    }
    (header, rows)
}

fn mean_and_half_width(summary: Option<Summary>) -> [String; 2] {
    let half_width = summary.and_then(|summary| summary.half_width(Fraction::P95));
    [number(summary.map(|summary| summary.mean)), number(half_width)]
}

/// The number, or an empty cell.
fn number(value: Option<f64>) -> String {
    value.map(cell).unwrap_or_default()
}
