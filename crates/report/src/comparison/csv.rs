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
use xrsim_sim::plan::Plan;
use xrsim_sim::schedule::Policy;
use xrsim_sim::sweep::comparison::{Comparison, Configuration, Subject};

use super::{Beside, Measure, Pair, Ranking, Shares, Standing};

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
        .number("lost", share(|it| it.lost));
    let columns = match overall.measure.subject {
        Subject::Scenarios => beside_scenarios(columns),
        Subject::Profiles => beside_profiles(columns, overall.measure),
    };
    let columns = columns.number("wins", |(_, it)| it.wins).number("ties", |(_, it)| it.ties);
    columns.of(rows).into_rows()
}

type OfStandings<'c> = Columns<'c, (&'c Ranking, &'c Standing)>;

fn beside_scenarios(columns: OfStandings<'_>) -> OfStandings<'_> {
    let number = |of: fn(&Beside) -> Option<f64>| {
        move |(_, it): &(&Ranking, &Standing)| cell_if_any(of(&it.beside))
    };
    let text = |of: fn(&Beside) -> Option<&'static str>| {
        move |(_, it): &(&Ranking, &Standing)| of(&it.beside).unwrap_or_default()
    };
    columns
        .number("miss_ratio", number(|it| Some(it.of_scenarios()?.miss_ratio)))
        .number("energy_mj", number(|it| Some(it.of_scenarios()?.energy_mj)))
        .number("gap_to_bound", number(|it| Some(it.of_scenarios()?.gap)))
        .text("bound", text(|it| Some(it.of_scenarios()?.bound.0.name())))
        .text("bound_for", text(|it| Some(it.of_scenarios()?.class.short())))
}

/// Adds all columns of samples of profiles but the measure.
fn beside_profiles(columns: OfStandings<'_>, measure: Measure) -> OfStandings<'_> {
    let others = Subject::Profiles.columns().into_iter().enumerate();
    let others = others.filter(|(at, _)| *at != measure.at);
    others.fold(columns, |columns, (at, column)| {
        columns.number(column.name, move |(_, it)| cell_if_any(it.beside.of_profiles(at)))
    })
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
/// column of `Sample`, half the width of the 95 % interval of the measure, bounds, and metrics.
pub fn configurations_csv(comparison: &Comparison, measure: Measure) -> Rows {
    let has_devices = has_devices(comparison);
    let mut header = label_names(has_devices);
    header.push("replications".into());
    let columns = measure.subject.columns();
    header.extend(columns.iter().map(|column| column.name.to_string()));
    header.push(format!("{}_half_width", measure.name()));
    // The metrics of the run have the power already.
    let is_new = |name: &str| RunMetrics::COLUMNS.iter().all(|column| column.name != name);
    let device = DeviceMetrics::COLUMNS.iter().enumerate();
    let device: Vec<_> = device.filter(|(_, column)| is_new(column.name)).collect();
    // Profiles have no bounds, and no metrics of a run beside their columns.
    let is_of_scenarios = measure.subject == Subject::Scenarios;
    if is_of_scenarios {
        header.extend(ClassBounds::COLUMNS.iter().map(|column| column.name.to_string()));
        header.extend(RunMetrics::COLUMNS.iter().map(|column| column.name.to_string()));
        header.extend(device.iter().map(|(_, column)| column.name.to_string()));
    }
    let mut rows = Vec::new();
    for (Configuration { plan, metrics, .. }, runs) in comparison.feasible() {
        for (index, policy) in comparison.policies().iter().enumerate() {
            let column = |column: usize| {
                Summary::of(runs.iter().map(|run| run.samples[index].values()[column]))
            };
            let mut row = label(plan, policy, has_devices);
            row.push(runs.len().to_string());
            let means = (0..columns.len()).map(|at| column(at).mean);
            row.extend(means.map(|mean| cell_if_any(Some(mean).filter(|it| !it.is_nan()))));
            row.push(half_width(Some(column(measure.at))));
            if !is_of_scenarios {
                rows.push(row);
                continue;
            }
            let bound = |bound: &Column<ClassBounds>| {
                Summary::of(runs.iter().filter_map(|it| bound.of(it.bounds.as_ref()?))).mean
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

/// Whether rows have the column `device`: if the configurations have several devices.
fn has_devices(comparison: &Comparison) -> bool {
    comparison.configurations().iter().any(|it| *it.name != *it.plan.scenario.name())
}

/// Names of the columns that say which configuration and policy a row is of.
fn label_names(has_devices: bool) -> Vec<String> {
    let device = has_devices.then_some("device");
    let names = ["scenario", "system", "pes"].into_iter().chain(device).chain(["scheduler"]);
    names.map(String::from).collect()
}

/// The cells of [`label_names`].
fn label(plan: &Plan, policy: &Policy, has_devices: bool) -> Vec<String> {
    let device = plan.device.as_ref().map_or(String::new(), |device| device.name.to_string());
    let (scenario, system) = (plan.scenario.name().to_string(), plan.system.name().to_string());
    let of_plan = [scenario, system, plan.system.pes().to_string()].into_iter();
    of_plan.chain(has_devices.then_some(device)).chain([policy.label().to_string()]).collect()
}

/// A row for each model and each chain of dependent models under each policy on each configuration
/// of a scenario that could run: means of its metrics over the replications. Cells that a chain does not have are
/// empty.
pub fn metrics_csv(comparison: &Comparison) -> Rows {
    let has_devices = has_devices(comparison);
    let mut header = label_names(has_devices);
    header.extend(["of", "name"].map(String::from));
    header.extend(ModelMetrics::names().map(String::from));
    let (n_columns, n_of_model) = (header.len(), ModelMetrics::names().count());
    let n_of_chain = Service::COLUMNS.len() + Freshness::COLUMNS.len();
    let display = |it: &Configuration| it.plan.device.as_ref()?.display;
    if comparison.feasible().any(|(it, _)| display(it).is_some()) {
        header.extend(Shown::COLUMNS.iter().map(|column| column.name.into()));
    }
    let mut rows = Vec::new();
    for (Configuration { plan, metrics, .. }, _) in comparison.feasible() {
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
                let mut row = label(plan, policy, has_devices);
                row.extend([of.to_string(), name]);
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
