//! The Pareto front of designs in two or three columns.

use xrsim_figures::{Caption, Scatter, ScatterPoint, ScatterSeries, Spacing, is_power_of_two};
use xrsim_model::column::Better;
use xrsim_model::text::cell;
use xrsim_sim::sweep::pareto;

use crate::words::lowered;

use super::measure::{axis, better};
use super::{PointTable, PointsError, Setting, over_scenarios};

/// Most points of a picture, and most series.
const MAX_POINTS: usize = 20_000;
const MAX_SERIES: usize = 9;

/// A column in which designs are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objective {
    /// Column of results.
    pub column: String,
    /// Which values are better; `None` for the known direction of the column.
    pub better: Option<Better>,
}

/// Designs, and which of them are Pareto-optimal.
pub struct Front<'t> {
    table: &'t PointTable,
    objectives: Vec<(&'t str, Better)>,
    /// Designs with a number in every objective.
    designs: Vec<usize>,
    /// `[design][objective]`.
    values: Vec<Vec<f64>>,
    on_front: Vec<bool>,
}

impl<'t> Front<'t> {
    /// Compares the designs of `table` in two or three `objectives`.
    ///
    /// # Errors
    ///
    /// A column that is missing or has no numbers, or no design with numbers in all columns.
    pub fn compute(
        table: &'t PointTable,
        objectives: &'t [Objective],
    ) -> Result<Self, PointsError> {
        let mut columns = Vec::new();
        for objective in objectives {
            let means = table.means(&table.numbers(&objective.column)?);
            columns.push(means.iter().map(|means| over_scenarios(means)).collect::<Vec<_>>());
        }
        let directed = objectives.iter().map(|objective| {
            let column = objective.column.as_str();
            let direction = objective.better.or_else(|| better(column));
            let unknown = || PointsError::Direction(column.into());
            Ok((column, direction.ok_or_else(unknown)?))
        });
        let objectives = directed.collect::<Result<Vec<_>, PointsError>>()?;
        let (mut designs, mut values) = (Vec::new(), Vec::new());
        for design in 0..table.designs.len() {
            let row: Option<Vec<f64>> = columns.iter().map(|column| column[design]).collect();
            if let Some(row) = row {
                designs.push(design);
                values.push(row);
            }
        }
        if designs.is_empty() {
            return Err(PointsError::Infeasible);
        }
        let on_front = pareto::front(&costs(&objectives, &values));
        Ok(Self { table, objectives, designs, values, on_front })
    }

    /// Header and rows of the front, best in the first objective first: the settings in which designs
    /// differ, and their numbers.
    pub fn rows(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let settings: Vec<_> = self.settings().collect();
        let mut header: Vec<_> = settings.iter().map(|setting| setting.name.clone()).collect();
        header.extend(self.objectives.iter().map(|(column, _)| (*column).to_string()));
        let costs = costs(&self.objectives, &self.values);
        let mut front: Vec<_> = (0..self.designs.len()).filter(|&at| self.on_front[at]).collect();
        front.sort_by(|&a, &b| costs[a][0].total_cmp(&costs[b][0]));
        let row = |at: usize| {
            let first = self.table.designs[self.designs[at]];
            let settings = settings.iter().map(|setting| setting.at(first).to_string());
            settings.chain(self.values[at].iter().map(|&value| cell(value))).collect()
        };
        (header, front.into_iter().map(row).collect())
    }

    /// Number of columns of [`Front::rows`] that are text.
    pub fn n_settings(&self) -> usize {
        self.settings().count()
    }

    /// Settings in which designs differ, without the objectives.
    fn settings(&self) -> impl Iterator<Item = &'t Setting> {
        let is_objective = |name: &str| self.objectives.iter().any(|(column, _)| *column == name);
        self.table.design_settings().filter(move |setting| !is_objective(&setting.name))
    }

    /// A figure of the first two objectives. If there are too many designs, one in n is drawn, and the
    /// note says so; designs on the front are thinned only if they alone are too many.
    pub fn scatter(&self) -> Scatter {
        let thinning = Thinning::new(self.designs.len(), self.n_front());
        let mut seen = [0usize; 2];
        let drawn = (0..self.designs.len()).filter(|&at| {
            let (seen, nth) = match self.on_front[at] {
                true => (&mut seen[0], thinning.front),
                false => (&mut seen[1], thinning.others),
            };
            *seen += 1;
            (*seen - 1).is_multiple_of(nth)
        });
        let drawn: Vec<_> = drawn.collect();
        let [(x_axis, x_scale), (y_axis, y_scale)] = [0, 1].map(|at| axis(self.objectives[at].0));
        Scatter {
            caption: self.caption(thinning),
            x_spacing: spacing(drawn.iter().map(|&at| self.values[at][0])),
            y_spacing: spacing(drawn.iter().map(|&at| self.values[at][1])),
            less_x_is_better: self.objectives[0].1 == Better::Lower,
            series: self.series(&drawn, [x_scale, y_scale]),
            x_axis,
            y_axis,
        }
    }

    fn caption(&self, thinning: Thinning) -> Caption {
        let table = self.table;
        let scenarios = &table.scenario().values;
        let over = match &scenarios[..] {
            [one] => one.clone(),
            all => format!("means over {} scenarios", all.len()),
        };
        let better = self.objectives[..2].iter().map(|(column, better)| match better {
            Better::Higher => format!("more {column}"),
            Better::Lower => format!("less {column}"),
        });
        let better = better.collect::<Vec<_>>().join(" and ");
        let [x, y] = [0, 1].map(|at| axis(self.objectives[at].0).0.label);
        let left_out = match table.designs.len() - self.designs.len() {
            0 => String::new(),
            1 => "One design without scores is left out. ".into(),
            n => format!("{n} designs without scores are left out. "),
        };
        let thinned = match thinning {
            Thinning { front: 1, others: 1 } => String::new(),
            Thinning { front: 1, others } => {
                format!("One in {others} designs off the front is drawn.")
            }
            Thinning { front, others } => {
                format!("One in {front} designs on the front and one in {others} off it is drawn.")
            }
        };
        let (n_front, n_designs) = (self.n_front(), self.designs.len());
        let shared = match &table.shared_options[..] {
            [] => String::new(),
            options => format!("all with {}; ", options.join(",")),
        };
        Caption {
            title: format!("{y} over {}: the Pareto front", lowered(&x)),
            subtitle: format!(
                "{n_front} of {n_designs} designs, Pareto-optimal in {better}; {over}; {shared}{}",
                table.draws()
            ),
            note: format!("{left_out}{thinned}").trim().into(),
        }
    }

    fn n_front(&self) -> usize {
        self.on_front.iter().filter(|on_front| **on_front).count()
    }

    /// The drawn designs by system, or as one series if there are many systems.
    fn series(&self, drawn: &[usize], scale: [f64; 2]) -> Vec<ScatterSeries> {
        let system = self.table.setting("system");
        let system = system.filter(|it| (2..=MAX_SERIES).contains(&it.values.len()));
        let known = system.map_or("", |system| &system.name);
        let names = system.map_or(vec!["designs".to_string()], |system| system.values.clone());
        let mut series: Vec<_> =
            names.into_iter().map(|name| ScatterSeries { name, points: Vec::new() }).collect();
        for &at in drawn {
            let first = self.table.designs[self.designs[at]];
            let place = system.map_or(0, |system| system.of_row[first] as usize);
            series[place].points.push(ScatterPoint {
                name: self.table.name(self.designs[at], known),
                x: self.values[at][0] * scale[0],
                y: self.values[at][1] * scale[1],
                front: self.on_front[at],
            });
        }
        series.retain(|series| !series.points.is_empty());
        series
    }
}

/// Thinning of designs: one in this many is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Thinning {
    /// On the front.
    front: usize,
    /// Off the front.
    others: usize,
}

impl Thinning {
    /// A thinning by which at most [`MAX_POINTS`] of `n_designs` are drawn, of which `n_front` are on the
    /// front.
    fn new(n_designs: usize, n_front: usize) -> Self {
        let n_others = n_designs - n_front;
        let room = match n_others {
            0 => MAX_POINTS,
            _ => MAX_POINTS / 2,
        };
        let front = if n_front < room { 1 } else { n_front.div_ceil(room).max(1) };
        let left = MAX_POINTS - n_front.div_ceil(front);
        Self { front, others: n_others.div_ceil(left.max(1)).max(1) }
    }
}

/// Values that are smaller for better designs, three for each.
fn costs(objectives: &[(&str, Better)], values: &[Vec<f64>]) -> Vec<[f64; 3]> {
    let cost = |row: &Vec<f64>| {
        let mut costs = [0.0; 3];
        for ((cost, value), (_, better)) in costs.iter_mut().zip(row).zip(objectives) {
            *cost = match better {
                Better::Higher => -value,
                Better::Lower => *value,
            };
        }
        costs
    };
    values.iter().map(cost).collect()
}

/// Logarithmic for positive values over more than a decade, and for powers of two.
pub(super) fn spacing(values: impl Iterator<Item = f64> + Clone) -> Spacing {
    let ends = values.clone();
    let (low, high) =
        ends.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), it| (low.min(it), high.max(it)));
    let is_binary = high > low && values.clone().all(is_power_of_two);
    if low > 0.0 && (high / low > 10.0 || is_binary) { Spacing::Log } else { Spacing::Linear }
}
