//! Page of a day, from the files of `xrsim day --out`: the answer, the course, the phases, and the energy by item.

use serde::Deserialize;
use serde_json::Value;

use xrsim_figures::{Caption, Quantity, Tornado, TornadoBar, TornadoRow};

use crate::day::course::{self, Misread, all_numbers, numbers, place};
use crate::day::energy::ITEMS;
use crate::day::means;
use crate::table::{Columns, Rows, Style, interval_meaning, percent};
use crate::words::capitalised;

use super::article::{Article, Section};
use super::comparison::{Table, draw, problem};
use super::provenance::pairs;
use super::sweep::facts_of;
use super::{ReadError, Source};

/// The files of a day. Those of a device are absent without one.
#[derive(Debug, Clone, Copy)]
pub struct DayFiles<'a> {
    /// `day.json`.
    pub record: Source<'a>,
    /// `phases.csv`.
    pub phases: Source<'a>,
    /// `device.csv`.
    pub device: Option<Source<'a>>,
    /// `course.csv`.
    pub course: Option<Source<'a>>,
    /// `replications.csv`, if there are several replications.
    pub replications: Option<Source<'a>>,
    /// The command that wrote the folder, if it is known.
    pub command: Option<&'a str>,
}

/// What the page takes from the record.
#[derive(Deserialize)]
struct Record {
    effective: Effective,
    told: Vec<String>,
    trips: Vec<Trip>,
}

#[derive(Deserialize)]
struct Effective {
    profile: String,
    scheduler: String,
    system: Vec<String>,
    device: Option<String>,
}

#[derive(Deserialize)]
struct Trip {
    node: String,
    at_c: f64,
}

/// Owners of the energy, in the order of their colours.
const OWNERS: [&str; 2] = ["accelerators", "others"];

/// Page of a day, and the number of its phases.
///
/// # Errors
///
/// The first place at which a file differs from those of `xrsim day --out`.
pub fn day_page(files: &DayFiles<'_>) -> Result<(String, usize), ReadError> {
    let all: Value =
        serde_json::from_str(files.record.text).map_err(|error| no_json(files.record, &error))?;
    let record =
        Record::deserialize(&all).map_err(|error| problem(files.record, 1, error.to_string()))?;
    let about = &record.effective;
    if about.device.is_some() && (files.device.is_none() || files.course.is_none()) {
        let message = "the run has a device, so that device.csv and course.csv belong to the folder; run the command again";
        return Err(problem(files.record, 1, message.into()));
    }
    let phases = read(files.phases, &["phase", "name", "scenario"])?;
    let device = about.device.as_ref().map_or(String::new(), |name| format!("device {name}, "));
    let lead =
        format!("{} on {}, {device}{}.", about.profile, about.system.join(", "), about.scheduler);
    let mut told = record.told.iter().map(|line| capitalised(line) + ".");
    let summary = told.next().unwrap_or_default();
    let drawn = files.replications.map(Drawn::read).transpose()?;
    let (title, lead) = match &drawn {
        None => (format!("Day {}", about.profile), lead),
        Some(drawn) => {
            let title = format!("Day {}, draw 1 of {}", about.profile, drawn.n);
            let more = "Answer, figure, phases and energy are those of draw 1; the means of all are in the table of draws.";
            (title, format!("{lead} {more}"))
        }
    };
    let mut answer = Section::new("answer", "Answer", &lead);
    answer.points = told.collect();
    let mut sections = vec![answer];
    sections.extend(drawn.as_ref().map(Drawn::section));
    if let Some(source) = files.course {
        sections.push(course_of(&record, &phases, files.phases, source)?);
    }
    let lead = "Phases that took place. Missed: requests that were dropped or late. Throttled: share of the time in which \
                trips take points from an accelerator or halt one.";
    let mut table = Section::new("phases", "Phases", lead);
    table.add_written("Phases of the profile", phases_of(&phases, files.phases)?);
    sections.push(table);
    if let Some(source) = files.device {
        sections.push(energy(source)?);
    }
    let [settings, inputs] = ["effective", "inputs_sha256"].map(|key| pairs(&all[key]));
    let article = Article {
        title,
        summary,
        command: files.command.map(String::from),
        sections,
        facts: [facts_of(&all), settings, inputs].concat(),
    };
    Ok((article.page(), phases.1.len()))
}

/// `replications.csv`.
struct Drawn {
    n: usize,
    /// Columns by name, with the values of the draws that have a result.
    columns: Vec<(String, Vec<Option<f64>>)>,
}

impl Drawn {
    fn read(source: Source<'_>) -> Result<Self, ReadError> {
        let (header, rows) = read(source, &["replication", "score"])?;
        let n = rows.len();
        let made: Vec<_> = rows.into_iter().filter(|row| !row[1].is_empty()).collect();
        let table = (header, made);
        let values = |name: &String| {
            let values = numbers(&table, name).map_err(misread(source))?;
            Ok((name.clone(), values))
        };
        let names = table.0.iter().filter(|name| *name != "reason");
        let columns = names.map(values).collect::<Result<_, ReadError>>()?;
        Ok(Self { n, columns })
    }

    fn section(&self) -> Section {
        let values = |name: &str| {
            let (_, values) = self.columns.iter().find(|(known, _)| known == name)?;
            values.iter().copied().collect()
        };
        let n_made = self.columns.first().map_or(0, |(_, values)| values.len());
        let mut lead =
            format!("{}.", capitalised(&interval_meaning(n_made as u64).replace("+-", "±")));
        if n_made < self.n {
            lead += &format!(" {} of {} draws have no result.", self.n - n_made, self.n);
        }
        let mut section = Section::new("draws", "Draws", &lead);
        let grid = means::of_values(values, Some("outside"), Style::Lines);
        section.add_written(&format!("Means of {n_made} draws"), grid);
        section
    }
}

/// A record that is no JSON. The place stands before the message, not in it.
fn no_json(source: Source<'_>, error: &serde_json::Error) -> ReadError {
    let (line, column, text) = (error.line(), error.column(), error.to_string());
    let place = format!(" at line {line} column {column}");
    problem(source, line, text.strip_suffix(&place).unwrap_or(&text).into())
}

/// A table that begins with the columns `first`.
fn read(source: Source<'_>, first: &[&str]) -> Result<Rows, ReadError> {
    let Table { header, rows } = Table::read(source, first)?;
    Ok((header, rows))
}

/// Where a table of `source` is misread.
fn misread(source: Source<'_>) -> impl Fn(Misread) -> ReadError + '_ {
    move |Misread { line, message }| problem(source, line, message)
}

/// The figure of the whole run.
fn course_of(
    record: &Record,
    phases: &Rows,
    of_phases: Source<'_>,
    source: Source<'_>,
) -> Result<Section, ReadError> {
    let rows = read(source, &["time_s", "power_w"])?;
    let trips: Vec<_> = record.trips.iter().map(|it| (it.node.clone(), it.at_c)).collect();
    let blocks = course::phases(phases).map_err(misread(of_phases))?;
    let panels = course::panels(&rows, &trips).map_err(misread(source))?;
    let mut section = Section::new(
        "course",
        "Over time",
        "Power is a mean over some seconds; temperatures are those at the end of them.",
    );
    let caption = course::caption(&record.effective.profile, &trips);
    draw(&mut section, &course::figure(caption, blocks, panels), source)?;
    Ok(section)
}

/// The table of phases.
fn phases_of(phases: &Rows, source: Source<'_>) -> Result<crate::table::Grid, ReadError> {
    let misread = misread(source);
    let place = |name: &str| place(phases, name).map_err(&misread);
    let all = |name: &str| all_numbers(phases, name).map_err(&misread);
    let some = |name: &str| numbers(phases, name).map_err(&misread);
    let [name, scenario, highest] = [place("name")?, place("scenario")?, place("highest_c")?];
    let [begin, end] = [all("start_s")?, all("end_s")?];
    let [requests, dropped, late] = [all("requests")?, all("dropped")?, all("late")?];
    let [score, watts] = [some("score")?, some("mean_w")?];
    let [capped, charge] = [some("capped_share")?, some("charge")?];
    let cell = |at: usize| move |row: &usize| phases.1[*row][at].clone();
    let missed = |row: usize| match requests[row] > 0.0 {
        true => percent((dropped[row] + late[row]) / requests[row]),
        false => "-".into(),
    };
    let written = |value: Option<f64>, digits: usize| {
        value.map_or("-".into(), |value| format!("{value:.digits$}"))
    };
    let share = |value: Option<f64>| value.map_or("-".into(), percent);
    let mut columns = Columns::<usize>::new()
        .text("Phase", cell(name))
        .text("Scenario", cell(scenario))
        .number("Length [min]", |row| format!("{:.1}", (end[*row] - begin[*row]) / 60.0))
        .number("Score", |row| written(score[*row], 4))
        .number("Missed", |row| missed(*row));
    if watts.iter().any(Option::is_some) {
        columns = columns.number("Mean power [W]", |row| written(watts[*row], 3));
    }
    if phases.1.iter().any(|row| !row[highest].is_empty()) {
        columns = columns.text("Highest [C]", |row| temperatures(&phases.1[*row][highest]));
        columns = columns.number("Throttled", |row| share(capped[*row]));
    }
    if charge.iter().any(Option::is_some) {
        columns = columns.number("Charge at the end", |row| share(charge[*row]));
    }
    Ok(columns.of(0..phases.1.len()))
}

/// `die=80.123;skin=42.9` as `die 80.1, skin 42.9`.
fn temperatures(cell: &str) -> String {
    let short = |part: &str| match part.split_once('=') {
        Some((node, c)) => c.parse::<f64>().map_or(part.into(), |c| format!("{node} {c:.1}")),
        None => part.to_string(),
    };
    cell.split(';').map(short).collect::<Vec<_>>().join(", ")
}

/// Energy by item, as bars and as a table.
fn energy(source: Source<'_>) -> Result<Section, ReadError> {
    let table = read(source, &["duration_s", "energy_j"])?;
    let first = |name: &str| -> Result<f64, ReadError> {
        let values = all_numbers(&table, name).map_err(misread(source))?;
        values.first().copied().ok_or_else(|| problem(source, 2, "the run has no row".into()))
    };
    let all = first("energy_j")?;
    let mut items = Vec::new();
    for (column, name, owner) in ITEMS {
        items.push((name, owner as usize, first(column)?));
    }
    items.retain(|(.., joules)| *joules > 0.0);
    items.sort_by(|a, b| b.2.total_cmp(&a.2));
    let share = |joules: f64| if all > 0.0 { percent(joules / all) } else { "-".into() };
    let row = |&(name, series, joules): &(&str, usize, f64)| {
        let (label, value) = (share(joules), joules);
        let bar = TornadoBar { series, label, value, range: None };
        TornadoRow { name: name.into(), bars: vec![bar] }
    };
    let mut section = Section::new(
        "energy",
        "Energy",
        "Energy that the device takes, by item. A better system or scheduler changes that of the accelerators alone.",
    );
    if items.is_empty() {
        return Ok(section);
    }
    let bars = Tornado {
        caption: Caption::titled("Energy by item, with its share"),
        axis: Quantity::new("Energy", "J"),
        series: OWNERS.map(String::from).to_vec(),
        rows: items.iter().map(row).collect(),
    };
    draw(&mut section, &bars, source)?;
    let grid = Columns::<(&str, usize, f64)>::new()
        .text("Item", |it| it.0)
        .text("Of", |it| OWNERS[it.1])
        .number("Energy [J]", |it| format!("{:.1}", it.2))
        .number("Share", |it| share(it.2))
        .of(items);
    section.add_written("Energy by item", grid);
    Ok(section)
}
