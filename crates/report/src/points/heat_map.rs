//! A column over two settings, as colours.

use xrsim_figures::{Caption, HeatMap};

use super::front::spacing;
use super::measure::axis;
use super::{PointTable, PointsError, Setting};

/// Means of `value` for all values of the settings `x` (from the left) and `y` (from the bottom up if
/// they are numbers). A cell without scores is empty.
///
/// # Errors
///
/// A column that is missing, or a `value` without numbers.
pub fn heat_map(table: &PointTable, x: &str, y: &str, value: &str) -> Result<HeatMap, PointsError> {
    let setting = |name: &str| table.setting(name).ok_or_else(|| table.no_column(name));
    let (across, up) = (setting(x)?, setting(y)?);
    let numbers = table.numbers(value)?;
    let (columns, mut rows) = (order(across), order(up));
    if is_numeric(up) {
        rows.reverse();
    }
    let mut sums = vec![vec![(0.0, 0.0); across.values.len()]; up.values.len()];
    for (row, number) in numbers.iter().enumerate().filter(|(_, number)| number.is_finite()) {
        let (sum, n) = &mut sums[up.of_row[row] as usize][across.of_row[row] as usize];
        *sum += number;
        *n += 1.0;
    }
    let (value_axis, scale) = axis(value);
    let mean = |&(sum, n): &(f64, f64)| (n > 0.0).then_some(sum / n * scale);
    let values: Vec<Vec<_>> = rows
        .iter()
        .map(|&row| columns.iter().map(|&column| mean(&sums[row][column])).collect())
        .collect();
    let names = |setting: &Setting, order: &[usize]| {
        order.iter().map(|&at| setting.values[at].clone()).collect()
    };
    Ok(HeatMap {
        caption: caption(table, &value_axis.label, across, up),
        column_axis: axis(x).0.label,
        row_axis: axis(y).0.label,
        value_axis,
        spacing: spacing(values.iter().flatten().flatten().copied()),
        columns: names(across, &columns),
        rows: names(up, &rows),
        values,
    })
}

fn caption(table: &PointTable, value: &str, across: &Setting, up: &Setting) -> Caption {
    let n_cells = across.values.len() * up.values.len();
    let others = table.settings.iter().filter(|it| it.values.len() > 1);
    let others = others.filter(|it| it.name != across.name && it.name != up.name);
    let others: Vec<_> = others.map(|it| it.name.as_str()).collect();
    let over = match &others[..] {
        [] => format!("; {}", table.draws()),
        others => format!("; means over {}{}", others.join(", "), table.stops()),
    };
    let note = match table.n_infeasible() {
        0 => String::new(),
        n => format!("{n} points without scores are left out."),
    };
    Caption {
        title: format!("{value} by {} and {}", axis(&across.name).0.label, axis(&up.name).0.label),
        subtitle: format!("{} points in {n_cells} cells{over}", table.n_rows()),
        note,
    }
}

fn is_numeric(setting: &Setting) -> bool {
    setting.values.iter().all(|value| value.parse::<f64>().is_ok_and(f64::is_finite))
}

/// Order of the values of a setting: numbers ascending, others as they come.
fn order(setting: &Setting) -> Vec<usize> {
    let mut order: Vec<_> = (0..setting.values.len()).collect();
    if is_numeric(setting) {
        let number = |at: usize| setting.values[at].parse().unwrap_or(0.0);
        order.sort_by(|&a, &b| f64::total_cmp(&number(a), &number(b)));
    }
    order
}
