//! The best design of every scenario.

use xrsim_model::column::Better;
use xrsim_model::text::cell;

use super::measure::better;
use super::{Objective, PointTable, PointsError, over_scenarios};

/// The best design of every scenario and of all together.
pub struct Best {
    /// `scenario`, the settings in which designs differ, the column, and the number of other designs
    /// that are equally good.
    pub header: Vec<String>,
    /// A row for each scenario, in the order of the table; if there are several, a last row for the mean
    /// over all.
    pub rows: Vec<Vec<String>>,
    /// Number of columns that are text.
    pub n_text: usize,
}

impl Best {
    /// Finds the best designs of `table` in one column.
    ///
    /// # Errors
    ///
    /// A column that is missing, has no numbers, or whose direction is not known.
    pub fn find(table: &PointTable, objective: &Objective) -> Result<Self, PointsError> {
        let column = objective.column.as_str();
        let means = table.means(&table.numbers(column)?);
        let direction = objective.better.or_else(|| better(column));
        let direction = direction.ok_or_else(|| PointsError::Direction(column.into()))?;
        let settings: Vec<_> = table.design_settings().collect();
        let scenarios = &table.scenario().values;
        let row = |name: &str, values: Vec<Option<f64>>| {
            let mut cells = vec![name.to_string()];
            if let Some((design, value, n_equal)) = best(&values, direction) {
                let first = table.designs[design];
                cells.extend(settings.iter().map(|setting| setting.at(first).to_string()));
                cells.extend([cell(value), (n_equal - 1).to_string()]);
            }
            cells.resize(settings.len() + 3, "-".into());
            cells
        };
        let of_scenario = |at: usize| means.iter().map(|means| means[at]).collect();
        let mut rows: Vec<_> = scenarios
            .iter()
            .enumerate()
            .map(|(at, scenario)| row(scenario, of_scenario(at)))
            .collect();
        if scenarios.len() > 1 {
            rows.push(row("mean of all", means.iter().map(|it| over_scenarios(it)).collect()));
        }
        let mut header = vec!["scenario".to_string()];
        header.extend(settings.iter().map(|setting| setting.name.clone()));
        header.extend([column.to_string(), "equal".into()]);
        Ok(Self { header, rows, n_text: settings.len() + 1 })
    }
}

/// The first of the best designs, its value, and the number of designs with this value.
fn best(values: &[Option<f64>], direction: Better) -> Option<(usize, f64, usize)> {
    let value = direction.best(values.iter().flatten().copied())?;
    let is_best = |candidate: &Option<f64>| *candidate == Some(value);
    let design = values.iter().position(is_best)?;
    Some((design, value, values.iter().filter(|it| is_best(it)).count()))
}
