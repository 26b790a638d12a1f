//! A day as a figure, from the rows of `phases.csv` and `course.csv`.

use xrsim_figures::{Caption, Course, CourseLine, CoursePanel, CoursePhase, Limit, Quantity};

use crate::table::Rows;

/// Temperatures from the hottest sample to the highest trip that the figure shows \[K\]: with one far above, the lines
/// would lie at its foot.
const SHOWN_K: f64 = 20.0;

/// Most points of a line, beside those where it steps.
const MAX_POINTS: usize = 800;

/// Most scenarios with a colour of their own.
const MAX_SCENARIOS: usize = 26;

/// A cell or column that no table of a day has, with the line of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misread {
    pub(crate) line: usize,
    pub(crate) message: String,
}

/// Place of the column called `name`.
pub(crate) fn place((header, _): &Rows, name: &str) -> Result<usize, Misread> {
    let found = header.iter().position(|known| known == name);
    found.ok_or_else(|| Misread { line: 1, message: format!("no column `{name}`") })
}

/// Finite numbers of the column called `name`; `None` where a cell is empty.
pub(crate) fn numbers(table: &Rows, name: &str) -> Result<Vec<Option<f64>>, Misread> {
    let at = place(table, name)?;
    let number = |(row, cells): (usize, &Vec<String>)| match cells[at].as_str() {
        "" => Ok(None),
        text => text.parse().ok().filter(|it: &f64| it.is_finite()).map(Some).ok_or_else(|| {
            let message = format!("column `{name}`: `{text}` is no finite number");
            Misread { line: row + 2, message }
        }),
    };
    table.1.iter().enumerate().map(number).collect()
}

/// The same numbers where no cell may be empty.
pub(crate) fn all_numbers(table: &Rows, name: &str) -> Result<Vec<f64>, Misread> {
    let filled = |(row, it): (usize, Option<f64>)| {
        let message = || format!("column `{name}` is empty");
        it.ok_or_else(|| Misread { line: row + 2, message: message() })
    };
    numbers(table, name)?.into_iter().enumerate().map(filled).collect()
}

/// Title of the figure of `profile`, and how to read it.
pub(crate) fn caption(profile: &str, trips: &[(String, f64)]) -> Caption {
    let mut note = "Blocks: phases, in the colours of their scenarios.".to_string();
    if !trips.is_empty() {
        let of = |(node, at_c): &(String, f64)| format!("{node} at {at_c} C");
        let trips: Vec<_> = trips.iter().map(of).collect();
        note += &format!(
            " Trips: {}. Highest clock: what trips allow, as a share of the highest point.",
            trips.join(", ")
        );
    }
    Caption { note, ..Caption::titled(format!("Heat, power and charge: {profile}")) }
}

/// The figure of phases over panels.
pub(crate) fn figure(
    caption: Caption,
    (kinds, phases): (Vec<String>, Vec<CoursePhase>),
    panels: Vec<CoursePanel>,
) -> Course {
    Course { caption, x_axis: Quantity::new("Time [h]", ""), kinds, phases, panels }
}

/// Scenarios, and phases in the colours of their scenarios.
pub(crate) fn phases(phases: &Rows) -> Result<(Vec<String>, Vec<CoursePhase>), Misread> {
    let [name, scenario] = [place(phases, "name")?, place(phases, "scenario")?];
    let [begin, end] = [all_numbers(phases, "start_s")?, all_numbers(phases, "end_s")?];
    let mut kinds: Vec<String> = Vec::new();
    let mut blocks = Vec::new();
    for (cells, (begin, end)) in phases.1.iter().zip(begin.into_iter().zip(end)) {
        let of_scenario = kinds.iter().position(|it| *it == cells[scenario]);
        let kind = of_scenario.unwrap_or_else(|| {
            if kinds.len() <= MAX_SCENARIOS {
                let is_one = kinds.len() < MAX_SCENARIOS;
                kinds.push(if is_one { cells[scenario].clone() } else { "others".into() });
            }
            kinds.len() - 1
        });
        let [begin, end] = [begin, end].map(hours);
        blocks.push(CoursePhase { name: cells[name].clone(), kind, begin, end });
    }
    Ok((kinds, blocks))
}

/// Temperatures, power, and shares over time. `trips` are nodes with the temperatures of their trips \[C\].
pub(crate) fn panels(course: &Rows, trips: &[(String, f64)]) -> Result<Vec<CoursePanel>, Misread> {
    let times = all_numbers(course, "time_s")?;
    let step = times.len().div_ceil(MAX_POINTS).max(1);
    let last_of = |values: Vec<Option<f64>>| -> Vec<(f64, f64)> {
        let chunks = times.chunks(step).zip(values.chunks(step));
        let point = |(times, values): (&[f64], &[Option<f64>])| {
            Some((hours(*times.last()?), (*values.last()?)?))
        };
        chunks.filter_map(point).collect()
    };
    let mut panels = Vec::new();
    let mut hottest = f64::NEG_INFINITY;
    let mut lines = Vec::new();
    for (column, node) in course.0.iter().filter_map(|it| Some((it, it.strip_suffix(CELSIUS)?))) {
        let values = numbers(course, column)?;
        hottest = values.iter().flatten().fold(hottest, |most, it| most.max(*it));
        lines.push(CourseLine { name: node.into(), points: last_of(values) });
    }
    if !lines.is_empty() {
        let limit =
            |(node, at_c): &(String, f64)| Limit { name: format!("{node} trip"), value: *at_c };
        let shown = trips.iter().filter(|(_, at_c)| *at_c <= hottest + SHOWN_K);
        let limits = shown.map(limit).take(8).collect();
        panels.push(CoursePanel { y_axis: Quantity::new("Temperature", "C"), lines, limits });
    }
    let points = means(&times, &all_numbers(course, "power_w")?, step);
    let watts = Quantity { span: Some((0.0, 0.0)), ..Quantity::new("Power", "W") };
    panels.push(panel(watts, vec![("power", points)]));
    let percent = |it: Option<f64>| it.map(|share| 100.0 * share);
    let charge = numbers(course, "charge")?.into_iter().map(percent).collect();
    let mut shares = vec![("charge", last_of(charge))];
    if panels.len() > 1 {
        let clocks: Vec<f64> = all_numbers(course, "clock_share")?;
        shares.push(("highest clock", steps(&times, &clocks, step)));
    }
    shares.retain(|(_, points)| !points.is_empty());
    if let [(only, _)] | [(only, _), _] = shares[..] {
        let title = match (shares.len(), only) {
            (1, "charge") => "Charge [%]",
            (1, _) => "Clock [%]",
            _ => "Share [%]",
        };
        let axis = Quantity { span: Some((0.0, 100.0)), ..Quantity::new(title, "") };
        panels.push(panel(axis, shares));
    }
    Ok(panels)
}

/// Ending of the columns of temperatures.
const CELSIUS: &str = "_c";

fn panel(y_axis: Quantity, lines: Vec<(&str, Vec<(f64, f64)>)>) -> CoursePanel {
    let line = |(name, points): (&str, _)| CourseLine { name: name.into(), points };
    CoursePanel { y_axis, lines: lines.into_iter().map(line).collect(), limits: Vec::new() }
}

/// Means of power over `step` samples each, of which every one holds since the one before.
fn means(times: &[f64], watts: &[f64], step: usize) -> Vec<(f64, f64)> {
    let mut before = 0.0;
    let mut points = Vec::new();
    for (times, watts) in times.chunks(step).zip(watts.chunks(step)) {
        let (mut joules, begin) = (0.0, before);
        for (time, watts) in times.iter().zip(watts) {
            joules += watts * (time - before);
            before = *time;
        }
        let span = before - begin;
        let mean = if span > 0.0 { joules / span } else { watts[0] };
        points.push((hours(before), mean));
    }
    points
}

/// The least share \[%\] of every `step` samples, as a line with steps.
fn steps(times: &[f64], shares: &[f64], step: usize) -> Vec<(f64, f64)> {
    let mut levels: Vec<(f64, f64, f64)> = Vec::new();
    for (times, shares) in times.chunks(step).zip(shares.chunks(step)) {
        let at = hours(times[times.len() - 1]);
        let share = 100.0 * shares.iter().fold(f64::INFINITY, |least, it| least.min(*it));
        match levels.last_mut() {
            Some((_, end, level)) if *level == share => *end = at,
            last => {
                let begin = last.map_or(0.0, |it| it.1);
                levels.push((begin, at, share));
            }
        }
    }
    levels.into_iter().flat_map(|(begin, end, share)| [(begin, share), (end, share)]).collect()
}

fn hours(seconds: f64) -> f64 {
    seconds / 3600.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(header: &str, rows: &[&str]) -> Rows {
        let cells = |line: &str| line.split(',').map(String::from).collect::<Vec<_>>();
        (cells(header), rows.iter().map(|row| cells(row)).collect())
    }

    #[test]
    fn a_day_has_panels_of_temperatures_power_and_shares() {
        let course = table(
            "time_s,power_w,die_c,steps,cap_mhz,halted,charge,clock_share",
            &["1800,2,50,0,,0,0.9,1", "3600,4,70,0,800,0,0.8,0.8", "5400,0,60,0,,1,0.8,0"],
        );
        let trips = [("die".to_string(), 72.0), ("die".to_string(), 95.0)];
        let [heat, power, shares] = &panels(&course, &trips).expect("it is a course")[..] else {
            panic!("three panels")
        };
        assert_eq!(heat.lines[0].points, [(0.5, 50.0), (1.0, 70.0), (1.5, 60.0)]);
        // A trip of 95 C is more than 20 K above 70 C.
        assert_eq!(heat.limits, [Limit { name: "die trip".into(), value: 72.0 }]);
        assert_eq!(power.lines[0].points, [(0.5, 2.0), (1.0, 4.0), (1.5, 0.0)]);
        assert_eq!(shares.lines[0].points, [(0.5, 90.0), (1.0, 80.0), (1.5, 80.0)]);
        let clock = [(0.0, 100.0), (0.5, 100.0), (0.5, 80.0), (1.0, 80.0), (1.0, 0.0), (1.5, 0.0)];
        assert_eq!(shares.lines[1].points, clock);
    }

    #[test]
    fn many_samples_become_means_of_power_and_the_least_share() {
        // Two samples a point: (1 s x 2 W + 3 s x 6 W) / 4 s = 5 W.
        assert_eq!(means(&[1.0, 4.0], &[2.0, 6.0], 2), [(4.0 / 3600.0, 5.0)]);
        assert_eq!(steps(&[1.0, 4.0], &[1.0, 0.5], 2), [(0.0, 50.0), (4.0 / 3600.0, 50.0)]);
    }

    #[test]
    fn a_day_without_battery_and_heat_has_power_alone() {
        let course =
            table("time_s,power_w,steps,cap_mhz,halted,charge,clock_share", &["1,2,0,,0,,1"]);
        let panels = panels(&course, &[]).expect("it is a course");
        assert_eq!(panels.iter().map(|it| it.lines.len()).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn a_cell_that_is_no_number_has_its_line() {
        let course = table("time_s,power_w,charge,clock_share", &["1,2,,1", "2,NaN,,1"]);
        let misread = panels(&course, &[]).expect_err("no power");
        let message = "column `power_w`: `NaN` is no finite number".into();
        assert_eq!(misread, Misread { line: 3, message });
        let misread = panels(&table("time_s", &[]), &[]).expect_err("no power");
        assert_eq!(misread, Misread { line: 1, message: "no column `power_w`".into() });
    }
}
