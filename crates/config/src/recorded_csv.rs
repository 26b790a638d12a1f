//! Recordings of sensors and gates, as CSV.
//!
//! ```text
//! sensor,frame,arrival_ms
//! camera,0,0.000000
//! camera,1,15.131911
//! ```
//!
//! ```text
//! on_s,off_s
//! 4.2,9.1
//! ```
//!
//! Columns may be in any order, and others are left out. Empty lines and lines that begin with `#` are skipped.

use std::sync::Arc;

use xrsim_model::scenario::{RecordedFrame, Recording};
use xrsim_model::units::{SimSpan, SimTime};

use super::cost_csv::{Row, rows};
use super::yaml::read::printable;
use super::{ConfigError, Problem, Source};

/// Columns of arrivals.
const ARRIVALS: [&str; 3] = ["sensor", "frame", "arrival_ms"];

/// Columns of dwells.
const DWELLS: [&str; 2] = ["on_s", "off_s"];

/// Largest number of a frame.
const MAX_FRAME: u64 = 1 << 40;

/// Most problems of a file that are reported.
const MAX_PROBLEMS: usize = 20;

/// Most sensors that a message names.
const MAX_NAMED: usize = 5;

/// Arrivals of the frames of a sensor, `speed` times as fast as the file says.
///
/// # Errors
///
/// [`ConfigError::Invalid`] with the problems of the header or, if that is right, of the rows: frames that do not
/// ascend, arrivals that go back, no row of the sensor.
pub(super) fn arrivals(
    source: &Arc<Source>,
    sensor: &str,
    speed: f64,
) -> Result<Recording, ConfigError> {
    read_arrivals(source, sensor, speed).map_err(|problems| invalid(source, problems))
}

/// Pairs of dwells of a gate, on and off.
///
/// # Errors
///
/// [`ConfigError::Invalid`] as of [`arrivals`].
pub(super) fn dwells(source: &Arc<Source>) -> Result<Arc<[(SimSpan, SimSpan)]>, ConfigError> {
    read_dwells(source.text()).map_err(|problems| invalid(source, problems))
}

fn invalid(source: &Arc<Source>, problems: Vec<Problem>) -> ConfigError {
    ConfigError::Invalid { file: Arc::clone(source), problems }
}

fn read_arrivals(source: &Source, sensor: &str, speed: f64) -> Result<Recording, Vec<Problem>> {
    let mut frames: Vec<RecordedFrame> = Vec::new();
    let mut others: Vec<Box<str>> = Vec::new();
    let mut end = 0;
    each(source.text(), &ARRIVALS, |row, [of, frame, arrival]| {
        if row.cells[of] != *sensor {
            let other = &row.cells[of];
            if others.len() < MAX_NAMED && others.iter().all(|it| **it != *other) {
                others.push(printable(other).into());
            }
            return Ok(());
        }
        let next = RecordedFrame {
            frame: number(row, frame, "frame", "a whole number from 0", |text| {
                text.parse().ok().filter(|it| *it <= MAX_FRAME)
            })?,
            arrival: number(row, arrival, "arrival", "milliseconds from 0", |text| {
                let ms: f64 = text.parse().ok()?;
                SimSpan::from_ms(ms).and(SimSpan::from_ms(ms / speed)).map(|it| SimTime::ZERO + it)
            })?,
        };
        if let Some(last) = frames.last() {
            if next.frame <= last.frame {
                let message = format!("frame {} after frame {}", next.frame, last.frame);
                return Err(row.problem(frame, message).help("frames ascend"));
            }
            if next.arrival < last.arrival {
                let message = format!("this arrival is before that of frame {}", last.frame);
                return Err(row.problem(arrival, message).help("arrivals do not go back"));
            }
        }
        frames.push(next);
        end = row.line().start;
        Ok(())
    })?;
    if frames.is_empty() {
        let message = format!("no row of the sensor `{}`", printable(sensor));
        let problem = Problem::new(0..0, message);
        return Err(vec![match others.is_empty() {
            true => problem,
            false => problem.help(format!("sensors in this file: {}", others.join(", "))),
        }]);
    }
    let (line, _) = source.position(end);
    Ok(Recording::new(format!("{}:{line}", source.name()), frames))
}

fn read_dwells(text: &str) -> Result<Arc<[(SimSpan, SimSpan)]>, Vec<Problem>> {
    let mut dwells = Vec::new();
    each(text, &DWELLS, |row, [on, off]| {
        let dwell = |at, what| {
            number(row, at, what, "seconds from 0", |text| {
                text.parse().ok().and_then(SimSpan::from_s)
            })
        };
        dwells.push((dwell(on, "dwell on")?, dwell(off, "dwell off")?));
        Ok(())
    })?;
    match dwells.is_empty() {
        true => Err(vec![Problem::new(text.len()..text.len(), "the table has no rows")]),
        false => Ok(dwells.into()),
    }
}

/// Hands every row to `read` with the places of `columns`.
fn each<const N: usize>(
    text: &str,
    columns: &[&str; N],
    mut read: impl FnMut(&Row<'_>, [usize; N]) -> Result<(), Problem>,
) -> Result<(), Vec<Problem>> {
    let help = || format!("columns: {}", columns.join(", "));
    let mut rows = rows(text);
    let Some(header) = rows.next() else {
        return Err(vec![Problem::new(0..0, "the table is empty").help(help())]);
    };
    let mut places = [0; N];
    let mut problems = Vec::new();
    for (place, column) in places.iter_mut().zip(columns) {
        match header.cells.iter().position(|cell| cell == *column) {
            Some(at) => *place = at,
            None => problems
                .push(Problem::new(header.line(), format!("no column `{column}`")).help(help())),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let count = header.cells.len();
    for row in rows {
        if problems.len() == MAX_PROBLEMS {
            break;
        }
        let read = row.check_width(count).and_then(|()| read(&row, places));
        problems.extend(read.err());
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// The value of a cell.
fn number<T>(
    row: &Row<'_>,
    at: usize,
    what: &str,
    allowed: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, Problem> {
    let text = &row.cells[at];
    let problem = || row.problem(at, format!("`{}` is no {what}", printable(text))).help(allowed);
    read(text).ok_or_else(problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> String {
        let source = Source::new("camera.csv", text);
        arrivals(&source, "camera", 1.0).expect_err("it is wrong").to_string()
    }

    #[test]
    fn frames_that_are_absent_are_lost_and_speed_divides_instants() {
        let text = "provenance,arrival_ms,frame,sensor\n,0,0,camera\n\n# a note\n,9,1,lidar\n,50.5,3,camera\n";
        let recording = arrivals(&Source::new("a.csv", text), "camera", 2.0).expect("it is right");
        assert_eq!(recording.arrival(3), Some(SimTime::from_ns(25_250_000)));
        assert_eq!((recording.arrival(1), recording.n_lost()), (None, 2));
        assert_eq!(recording.place(), "a.csv:6");
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let of = |rows: &str| problems(&format!("sensor,frame,arrival_ms\n{rows}"));
        let back = of("camera,0,5\ncamera,1,4.5\n");
        assert!(
            back.contains("camera.csv:3:10") && back.contains("before that of frame 0"),
            "{back}"
        );
        let order = of("camera,3,5\ncamera,3,6\n");
        assert!(
            order.contains("camera.csv:3:8") && order.contains("frame 3 after frame 3"),
            "{order}"
        );
        assert!(of("lidar,0,0\neye,0,0\n").contains("sensors in this file: lidar, eye"));
        assert!(of("camera,-1,0\n").contains("`-1` is no frame"));
        assert!(of("camera,0,NaN\n").contains("`NaN` is no arrival"));
        assert!(of("camera,0\n").contains("2 cells under 3 columns"));
        assert!(problems("sensor,frames,arrival_ms\n").contains("no column `frame`"));
        assert!(problems("").contains("the table is empty"));
    }
}
