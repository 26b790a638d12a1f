//! Replications of a run of a profile: their means, and `replications.csv`.

use xrsim_model::statistics::Summary;
use xrsim_model::text::cell;
use xrsim_sim::sweep::RunError;
use xrsim_sim::sweep::day::DayMetrics;

use crate::table::{Columns, Grid, Rows, Style, interval_meaning, with_half_width};

/// Quantities of a replication, or the reason that it has none.
pub type Replication = Result<DayMetrics, RunError>;

/// Rows of the table of means: column, heading, factor of the values, and decimals.
const SHOWN: [(&str, &str, f64, usize); 9] = [
    ("hours", "hours", 1.0, 3),
    ("score", "score", 1.0, 4),
    ("profile_score", "score of the whole profile", 1.0, 4),
    ("missed_share", "missed %", 100.0, 2),
    ("mean_w", "mean W", 1.0, 3),
    ("peak_w", "peak W", 1.0, 3),
    ("outside_c", "C", 1.0, 2),
    ("capped_share", "throttled %", 100.0, 2),
    ("charge_left", "charge left %", 100.0, 2),
];

/// Means of the quantities over the replications, with 95 % intervals. `outside` is the name of the node that people feel.
pub fn means(replications: &[Replication], outside: Option<&str>, style: Style) -> String {
    let made: Vec<_> = replications.iter().flatten().collect();
    let values = |name: &str| {
        let column = DayMetrics::column(name)?;
        made.iter().map(|it| column.of(it)).collect()
    };
    let n = made.len() as u64;
    let mut text = format!("\n{n} replications; {}\n\n", interval_meaning(n));
    text += &of_values(values, outside, style).text(style);
    let failed: Vec<_> = replications.iter().filter_map(|it| it.as_ref().err()).collect();
    if let Some(reason) = failed.first() {
        text += &format!("{} of {} have no result: {reason}\n", failed.len(), replications.len());
    }
    text
}

/// The table of means. `values` has those of a column of [`DayMetrics`], one for each replication that has a result; `None` if one
/// lacks it.
pub(crate) fn of_values(
    values: impl Fn(&str) -> Option<Vec<f64>>,
    outside: Option<&str>,
    style: Style,
) -> Grid {
    let row = |(name, heading, factor, decimals): (&str, &str, f64, usize)| {
        let values: Vec<f64> = values(name)?.into_iter().map(|it| factor * it).collect();
        let values = Some(values).filter(|it| !it.is_empty())?;
        let [least, most] = [f64::min, f64::max].map(|of| values.iter().copied().reduce(of));
        let number = |value: Option<f64>| format!("{:.decimals$}", value.unwrap_or_default());
        let name = match name {
            "outside_c" => format!("highest {} {heading}", outside.unwrap_or_default()),
            _ => heading.into(),
        };
        let mean = with_half_width(&Summary::of(values), decimals, style);
        Some([name, mean, number(least), number(most)])
    };
    Columns::<[String; 4]>::new()
        .text("", |row| row[0].clone())
        .number("mean", |row| row[1].clone())
        .number("least", |row| row[2].clone())
        .number("most", |row| row[3].clone())
        .of(SHOWN.into_iter().filter_map(row))
}

/// `replications.csv`: a row for each replication.
pub fn replications_csv(replications: &[Replication]) -> Rows {
    let names = DayMetrics::COLUMNS.iter().map(|column| column.name);
    let header = ["replication"].into_iter().chain(names).chain(["reason"]);
    let row = |(number, result): (usize, &Replication)| {
        let value = |metrics: &DayMetrics, at: usize| DayMetrics::COLUMNS[at].of(metrics);
        let cells = (0..DayMetrics::COLUMNS.len()).map(|at| match result {
            Ok(metrics) => value(metrics, at).map_or(String::new(), cell),
            Err(_) => String::new(),
        });
        let reason = result.as_ref().err().map_or(String::new(), ToString::to_string);
        [number.to_string()].into_iter().chain(cells).chain([reason]).collect()
    };
    let rows = replications.iter().enumerate().map(row).collect();
    (header.map(str::to_string).collect(), rows)
}
