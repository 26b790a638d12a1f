//! A comparison for programs: tables as header and rows.

use crate::table::{Columns, Rows, cell_if_any};
use xrsim_model::column::Column;
use xrsim_model::statistics::{Fraction, Summary};
use xrsim_model::text::cell;
use xrsim_results::model_names;
use xrsim_sim::bounds::ClassBounds;
use xrsim_sim::metrics::{
    DeviceMetrics, Freshness, ModelMetrics, RunMetrics, Service, Shown, chains,
};
use xrsim_sim::sweep::comparison::{Comparison, Configuration, Replication, Sample};

use super::{Measure, Pair, Ranking, Shares, Standing};

/// Name of all scenarios together in the column `scenario`.
pub const ALL: &str = "all";

/// A row for each policy over all scenarios, the best first, and then in every scenario: the columns of the printed
/// tables, with half the widths of the 95 % intervals.
pub fn policies_csv(overall: &Ranking, by_scenario: &[Ranking]) -> Rows {
    let rankings = std::iter::once(overall).chain(by_scenario);
    let rows = rankings.flat_map(|ranking| ranking.standings.iter().map(move |it| (ranking, it)));
    let difference = |it: &Standing| it.difference.map(|it| it.difference);
    let share = |of: fn(Shares) -> f64| {
        move |(_, it): &(&Ranking, &Standing)| cell_if_any(it.shares.map(of))
    };
    let columns = Columns::<(&Ranking, &Standing)>::new()
        .text("scenario", |(ranking, _)| ranking.scenario.clone().unwrap_or_else(|| ALL.into()))
        .text("scheduler", |(_, it)| it.policy.clone())
        .number("replications", |(ranking, _)| ranking.n_replications)
        .number("configurations", |(ranking, _)| ranking.n_configurations)
        .number(overall.measure.name(), |(_, it)| cell(it.measure.mean))
        .number("half_width", |(_, it)| half_width(Some(it.measure)))
        .number("difference", |(_, it)| cell_if_any(difference(it).map(|it| it.mean)))
        .number("difference_half_width", |(_, it)| half_width(difference(it)))
        .number("d_z", |(_, it)| cell_if_any(it.difference.and_then(|it| it.effect_size())))
        .number("p_holm", |(_, it)| cell_if_any(it.p_value))
        .number("won", share(|it| it.won))
        .number("tied", share(|it| it.tied))
        .number("lost", share(|it| it.lost))
        .number("miss_ratio", |(_, it)| cell(it.miss_ratio))
        .number("energy_mj", |(_, it)| cell(it.energy_mj))
        .number("gap_to_bound", |(_, it)| cell(it.gap))
        .text("bound", |(_, it)| it.bound.0.name())
        .text("bound_for", |(_, it)| it.class.short())
        .number("wins", |(_, it)| it.wins)
        .number("ties", |(_, it)| it.ties);
    columns.of(rows).into_rows()
}

/// A row for each pair of policies over all scenarios, and then in every scenario.
pub fn pairs_csv(pairs: &[(String, Vec<Pair>)]) -> Rows {
    let rows = pairs.iter().flat_map(|(scenario, of)| of.iter().map(move |it| (scenario, it)));
    let columns = Columns::<(&String, &Pair)>::new()
        .text("scenario", |(scenario, _)| scenario.to_string())
        .text("first", |(_, it)| it.first.clone())
        .text("second", |(_, it)| it.second.clone())
        .number("difference", |(_, it)| cell(it.difference.difference.mean))
        .number("difference_half_width", |(_, it)| half_width(Some(it.difference.difference)))
        .number("d_z", |(_, it)| cell_if_any(it.difference.effect_size()))
        .number("p_holm", |(_, it)| cell_if_any(it.p_value))
        .number("won", |(_, it)| cell(it.shares.won))
        .number("tied", |(_, it)| cell(it.shares.tied))
        .number("lost", |(_, it)| cell(it.shares.lost));
    columns.of(rows).into_rows()
}

/// A row for each policy on each configuration that could run: means over the replications of every
/// column of [`Sample`], half the width of the 95 % interval of the measure, bounds, and metrics.
pub fn configurations_csv(comparison: &Comparison, measure: Measure) -> Rows {
    let mut header: Vec<String> =
        ["scenario", "system", "pes", "scheduler", "replications"].map(String::from).into();
    header.extend(Sample::columns().map(|column| column.name.to_string()));
    header.push(format!("{}_half_width", measure.name()));
    header.extend(ClassBounds::COLUMNS.iter().map(|column| column.name.to_string()));
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
            row.push(half_width(Some(column(measure.at))));
            let bound = |bound: &Column<ClassBounds>| {
                Summary::of(runs.iter().filter_map(|it| bound.of(&it.bounds))).mean
            };
            row.extend(ClassBounds::COLUMNS.iter().map(|column| cell(bound(column))));
            row.extend(metrics[index].run.values().map(cell_if_any));
            let values: Vec<_> = metrics[index].device.values().collect();
            row.extend(
                device.iter().map(|(at, _)| cell_if_any(values.get(*at).copied().flatten())),
            );
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
    let (n_columns, n_of_model) = (header.len(), ModelMetrics::names().count());
    let n_of_chain = Service::COLUMNS.len() + Freshness::COLUMNS.len();
    let display = |it: &Configuration| it.plan.device.as_ref()?.display;
    if feasible(comparison).any(|(it, _)| display(it).is_some()) {
        header.extend(Shown::COLUMNS.iter().map(|column| column.name.into()));
    }
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
            let models = models.map(|(name, means)| (("model", n_of_model), name, means));
            let chains = chains.iter().cloned().zip(&metrics.chains);
            let chains = chains.map(|(name, means)| (("chain", n_of_chain), name, means));
            for ((of, n_own), name, means) in models.chain(chains) {
                let mut row = vec![
                    plan.scenario.name().to_string(),
                    plan.system.name().to_string(),
                    plan.system.pes().to_string(),
                    policy.label().to_string(),
                    of.to_string(),
                    name,
                ];
                let values: Vec<_> = means.values().map(cell_if_any).collect();
                let (own, shown) = values.split_at(n_own.min(values.len()));
                row.extend_from_slice(own);
                row.resize(n_columns, String::new());
                row.extend_from_slice(shown);
                row.resize(header.len(), String::new());
                rows.push(row);
            }
        }
    }
    (header, rows)
}

/// Half the width of the 95 % interval, or an empty cell.
fn half_width(summary: Option<Summary>) -> String {
    cell_if_any(summary.and_then(|summary| summary.half_width(Fraction::P95)))
}
