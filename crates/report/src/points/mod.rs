//! Results of a sweep: its rows are read back, and their designs are drawn and printed.
//!
//! A row belongs to a scenario and a *design*: all its settings but scenario, seed and replication.
//! Numbers of a design are means over seeds and replications, then over scenarios. The `score` of a
//! design is therefore the XRBench score (Definition 16) if the rows are those of the suite.

mod best;
mod front;
mod heat_map;
mod means;
mod measure;
mod names;
mod rows;

pub use best::Best;
pub use front::{Front, Objective};
pub use heat_map::heat_map;
pub use means::Means;

use std::collections::HashMap;
use std::io::Read;

use thiserror::Error;

use xrsim_model::column;
use xrsim_model::renamed::Renamed;
use xrsim_model::text::in_line;

use xrsim_results::rows::CHECK;

/// Columns that are neither settings nor results.
const NEITHER: [&str; 4] = ["point", "id", "highest_c", CHECK];

/// Column of the reasons of rows without results.
const REASON: &str = "reason";

/// Energy of a run, and that for each executed frame, which follows from it.
const TOTAL: &str = "energy_mj";
const PER_FRAME: &str = "energy_per_frame_mj";

/// Most text of distinct settings \[byte\].
const MAX_TEXT: usize = 64 << 20;

/// Settings that designs are averaged over. In a sweep of profiles, `scenario` has the name of the profile.
const AVERAGED: [&str; 4] = ["scenario", "profile", "seed", "replication"];

/// Rows of a sweep, or of the `scores.csv` of a run.
#[derive(Debug, Clone)]
pub struct PointTable {
    settings: Vec<Setting>,
    /// Why rows have no results.
    reasons: Option<Setting>,
    /// Columns of results, by name.
    measures: Vec<(&'static str, Vec<f64>)>,
    n_rows: usize,
    /// Design of every row.
    design_of: Vec<usize>,
    /// First row of every design, in the order of the rows.
    designs: Vec<usize>,
    /// Columns that have the name of an earlier version.
    renamed: Vec<Renamed>,
    /// Options that all of several schedulers have, which names of designs leave out.
    shared_options: Vec<String>,
}

/// A column of settings.
#[derive(Debug, Clone)]
struct Setting {
    name: String,
    /// Distinct values, in the order of the rows.
    values: Vec<String>,
    /// Value of every row.
    of_row: Vec<u32>,
    places: HashMap<String, u32>,
}

impl Setting {
    fn named(name: &str) -> Self {
        let name = name.into();
        Self { name, values: Vec::new(), of_row: Vec::new(), places: HashMap::new() }
    }

    /// Adds the value of the next row, and returns the number of bytes that it takes.
    fn push(&mut self, value: &str) -> usize {
        if let Some(&place) = self.places.get(value) {
            self.of_row.push(place);
            return 0;
        }
        let place = self.values.len() as u32;
        self.values.push(value.into());
        self.places.insert(value.into(), place);
        self.of_row.push(place);
        2 * value.len()
    }

    fn at(&self, row: usize) -> &str {
        &self.values[self.of_row[row] as usize]
    }
}

/// A file that is not the result of a sweep, or a request that it cannot fulfil.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PointsError {
    /// Not CSV, or not readable.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// A cell that should be a number.
    #[error("line {line}, column `{column}`: expected a number, found `{found}`")]
    Number {
        /// Line, from 1.
        line: u64,
        /// Column.
        column: String,
        /// The cell.
        found: String,
    },
    /// Settings with too much text.
    #[error("the settings are more than {} MiB of text; leave rows out with --where", MAX_TEXT >> 20)]
    TooMuchText,
    /// Too many rows.
    #[error("more than {} rows; leave some out with --where", PointTable::MAX_ROWS)]
    TooManyRows,
    /// No rows.
    #[error("no rows{0}")]
    Empty(&'static str),
    /// A column that is missing.
    #[error("no column `{name}`; known: {}", .known.join(", "))]
    NoColumn {
        /// The column.
        name: String,
        /// Existing columns.
        known: Vec<String>,
    },
    /// A first line without the column of the scenario.
    #[error(
        "no rows of a sweep or of runs; the first line is `{0}`; `xrsim sweep` and `xrsim run --out` write such files"
    )]
    Other(String),
    /// A column whose values are not numbers.
    #[error("column `{column}` has the value `{found}`, which is not a number")]
    Text {
        /// The column.
        column: String,
        /// Its first such value.
        found: String,
    },
    /// A column without a known direction.
    #[error("whether more or less of `{0}` is better is not known; say {0}:max or {0}:min")]
    Direction(String),
    /// No design has numbers in every scenario.
    #[error("no design has scores in every scenario")]
    Infeasible,
}

/// Longest part of a first line in a message \[byte\].
const FIRST_LINE: usize = 60;

/// A column, and the value that rows must have there.
pub(crate) type Condition<'a> = (&'a str, &'a str);

impl PointTable {
    /// Most rows.
    pub(crate) const MAX_ROWS: usize = 2_000_000;

    /// Reads the rows of `input` that meet all `conditions`.
    ///
    /// # Errors
    ///
    /// [`PointsError`].
    pub fn read(input: impl Read, conditions: &[Condition<'_>]) -> Result<Self, PointsError> {
        let mut rows = rows::Rows::new(input);
        let given = rows.next_row()?.cloned().unwrap_or_default();
        let header: csv::StringRecord = given.iter().map(column::current).collect();
        let conditions = conditions
            .iter()
            .map(|&(column, value)| Ok((position(&header, column)?, value)))
            .collect::<Result<Vec<_>, PointsError>>()?;
        let is_scenario = |name: &str| name == "scenario";
        if !header.iter().any(is_scenario) {
            let line = given.iter().collect::<Vec<_>>().join(",");
            return Err(PointsError::Other(in_line(&line[..line.floor_char_boundary(FIRST_LINE)])));
        }
        let mut table = Columns::of(&header);
        while let Some(row) = rows.next_row()? {
            if conditions.iter().all(|&(column, value)| row.get(column) == Some(value)) {
                table.push(row)?;
            }
        }
        match table.n_rows {
            0 if conditions.is_empty() => Err(PointsError::Empty("")),
            0 => Err(PointsError::Empty(" meet --where")),
            _ => {
                let renamed = column::changes(given.iter());
                Ok(PointTable { renamed, ..table.finish() })
            }
        }
    }

    /// Columns of the file that have the name of an earlier version.
    pub fn renamed(&self) -> &[Renamed] {
        &self.renamed
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of designs.
    pub(crate) fn n_designs(&self) -> usize {
        self.designs.len()
    }

    /// Names of the settings in which designs differ.
    pub(crate) fn varied(&self) -> Vec<&str> {
        self.design_settings().map(|setting| setting.name.as_str()).collect()
    }

    /// Header and rows of at most `most` designs: the settings in which they differ, and their means in `columns`.
    ///
    /// # Errors
    ///
    /// A column that is missing.
    pub(crate) fn designs(
        &self,
        columns: &[&str],
        most: usize,
    ) -> Result<(Vec<String>, Vec<Vec<String>>), PointsError> {
        let means = columns.iter().map(|column| Ok(self.means(&self.numbers(column)?)));
        let means = means.collect::<Result<Vec<_>, PointsError>>()?;
        let settings: Vec<_> = self.design_settings().collect();
        let header = settings.iter().map(|setting| setting.name.clone());
        let header = header.chain(columns.iter().map(|column| (*column).to_string())).collect();
        let row = |design: usize| {
            let own = settings.iter().map(|setting| setting.at(self.designs[design]).to_string());
            let mean = |column: &Vec<Vec<Option<f64>>>| {
                over_scenarios(&column[design]).map_or_else(String::new, xrsim_model::text::cell)
            };
            own.chain(means.iter().map(mean)).collect()
        };
        Ok((header, (0..self.designs.len().min(most)).map(row).collect()))
    }

    /// Number of draws (seeds and replications) for every design and scenario; `None` if it differs.
    fn n_draws(&self) -> Option<usize> {
        let scenario = self.scenario();
        let mut counts: HashMap<(usize, u32), usize> = HashMap::new();
        for (row, &design) in self.design_of.iter().enumerate() {
            *counts.entry((design, scenario.of_row[row])).or_default() += 1;
        }
        let mut counts = counts.into_values();
        let first = counts.next()?;
        counts.all(|n| n == first).then_some(first)
    }

    /// Remark on the number of draws.
    pub fn draws(&self) -> String {
        let without = if self.n_draws() == Some(1) { ", without intervals" } else { "" };
        self.number_of_draws() + without + &self.stops()
    }

    fn number_of_draws(&self) -> String {
        match self.n_draws() {
            Some(1) => "one draw of each run".into(),
            Some(n) => format!("means of {n} draws"),
            None => "means of unequal numbers of draws".into(),
        }
    }

    /// Rows without scores.
    fn n_infeasible(&self) -> usize {
        let scores = self.measures.first().map_or(&[][..], |(_, values)| values);
        scores.iter().filter(|value| value.is_nan()).count()
    }

    fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.name == name)
    }

    fn scenario(&self) -> &Setting {
        self.setting("scenario").expect("a table without scenarios is not read")
    }

    fn columns(&self) -> impl Iterator<Item = &str> {
        let settings = self.settings.iter().map(|setting| setting.name.as_str());
        settings.chain(self.measures.iter().map(|(name, _)| *name))
    }

    fn no_column(&self, name: &str) -> PointsError {
        PointsError::NoColumn { name: name.into(), known: self.columns().map(Into::into).collect() }
    }

    /// Values of a measure or of a numeric setting, row by row; NaN where there is none.
    fn numbers(&self, column: &str) -> Result<Vec<f64>, PointsError> {
        if let Some((_, values)) = self.measures.iter().find(|(it, _)| *it == column) {
            return Ok(values.clone());
        }
        let setting = self.setting(column).ok_or_else(|| self.no_column(column))?;
        let number = |value: &String| match value.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(PointsError::Text { column: column.into(), found: value.clone() }),
        };
        let values: Vec<f64> = setting.values.iter().map(number).collect::<Result<_, _>>()?;
        Ok(setting.of_row.iter().map(|&place| values[place as usize]).collect())
    }

    /// Mean of `numbers`, a number a row, for every design and scenario, `[design][scenario]`; `None`
    /// where a row is missing or has none.
    fn means(&self, numbers: &[f64]) -> Vec<Vec<Option<f64>>> {
        let scenario = self.scenario();
        let n_scenarios = scenario.values.len();
        let mut sums = vec![vec![(0.0, 0.0); n_scenarios]; self.designs.len()];
        for (row, &number) in numbers.iter().enumerate() {
            let (sum, n) = &mut sums[self.design_of[row]][scenario.of_row[row] as usize];
            *sum += number;
            *n += 1.0;
        }
        let mean = |&(sum, n): &(f64, f64)| Some(sum / n).filter(|mean| mean.is_finite());
        sums.iter().map(|scenarios| scenarios.iter().map(mean).collect()).collect()
    }

    /// Settings in which designs differ.
    fn design_settings(&self) -> impl Iterator<Item = &Setting> {
        let varied = |setting: &&Setting| setting.values.len() > 1;
        self.settings.iter().filter(|it| !AVERAGED.contains(&it.name.as_str())).filter(varied)
    }

    /// Name of a design: the settings in which designs differ, without the setting `known`.
    fn name(&self, design: usize, known: &str) -> String {
        let row = self.designs[design];
        let others = self.design_settings().filter(|setting| setting.name != known);
        let parts = others.map(|setting| match setting.name.as_str() {
            "scheduler" => names::short(setting.at(row), &self.shared_options),
            "system" | "platform" | "semantics" => setting.at(row).to_string(),
            "pes" => format!("{} PEs", setting.at(row)),
            name => format!("{}={}", name.rsplit('.').next().unwrap_or(name), setting.at(row)),
        });
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// Mean over scenarios; `None` if one is missing.
fn over_scenarios(means: &[Option<f64>]) -> Option<f64> {
    let sum = means.iter().copied().sum::<Option<f64>>()?;
    Some(sum / means.len() as f64)
}

fn position(header: &csv::StringRecord, name: &str) -> Result<usize, PointsError> {
    let found = header.iter().position(|known| known == name);
    found.ok_or_else(|| {
        let known = header.iter().map(Into::into).collect();
        PointsError::NoColumn { name: name.into(), known }
    })
}

/// Columns while they are read, with their places in the file.
struct Columns {
    settings: Vec<(usize, Setting)>,
    reasons: Option<(usize, Setting)>,
    measures: Vec<(usize, &'static str, Vec<f64>)>,
    n_rows: usize,
    /// Bytes of distinct settings.
    n_text: usize,
}

impl Columns {
    fn of(header: &csv::StringRecord) -> Self {
        let (settings, reasons, measures) = (Vec::new(), None, Vec::new());
        let mut columns = Self { settings, reasons, measures, n_rows: 0, n_text: 0 };
        for (at, name) in header.iter().enumerate() {
            match measure::result(name) {
                Some(measure) => columns.measures.push((at, measure, Vec::new())),
                None if NEITHER.contains(&name) => {}
                None if name == REASON => columns.reasons = Some((at, Setting::named(name))),
                None => columns.settings.push((at, Setting::named(name))),
            }
        }
        columns
    }

    fn push(&mut self, record: &csv::StringRecord) -> Result<(), PointsError> {
        if self.n_rows == PointTable::MAX_ROWS {
            return Err(PointsError::TooManyRows);
        }
        self.n_rows += 1;
        for (at, setting) in self.settings.iter_mut().chain(&mut self.reasons) {
            self.n_text += setting.push(record.get(*at).unwrap_or_default());
        }
        if self.n_text > MAX_TEXT {
            return Err(PointsError::TooMuchText);
        }
        for (at, measure, values) in &mut self.measures {
            let found = record.get(*at).unwrap_or_default();
            let number = if found.is_empty() { Some(f64::NAN) } else { finite(found) };
            values.push(number.ok_or_else(|| PointsError::Number {
                line: record.position().map_or(0, csv::Position::line),
                column: (*measure).into(),
                found: found.into(),
            })?);
        }
        Ok(())
    }

    fn finish(self) -> PointTable {
        let settings: Vec<_> = self.settings.into_iter().map(|(_, setting)| setting).collect();
        let own = settings.iter().filter(|it| !AVERAGED.contains(&it.name.as_str()));
        let own: Vec<_> = own.collect();
        let mut known: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut designs = Vec::new();
        let design_of = (0..self.n_rows).map(|row| {
            let key: Vec<_> = own.iter().map(|setting| setting.of_row[row]).collect();
            *known.entry(key).or_insert_with(|| {
                designs.push(row);
                designs.len() - 1
            })
        });
        let design_of = design_of.collect();
        let measures = self.measures.into_iter().map(|(_, measure, values)| (measure, values));
        let mut measures: Vec<(&'static str, Vec<f64>)> = measures.collect();
        let values = |name| measures.iter().find(|(it, _)| *it == name).map(|(_, values)| values);
        if let (None, Some(total), Some(executed)) =
            (values(PER_FRAME), values(TOTAL), values("executed"))
        {
            let of_row = |(total, executed): (&f64, &f64)| match executed > &0.0 {
                true => total / executed,
                false => f64::NAN,
            };
            let per_frame = total.iter().zip(executed).map(of_row).collect();
            measures.push((PER_FRAME, per_frame));
        }
        let schedulers = settings.iter().find(|it| it.name == "scheduler");
        PointTable {
            shared_options: schedulers.map_or(Vec::new(), |it| names::shared_options(&it.values)),
            settings,
            reasons: self.reasons.map(|(_, reasons)| reasons),
            measures,
            n_rows: self.n_rows,
            design_of,
            designs,
            renamed: Vec::new(),
        }
    }
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use xrsim_model::column::Better;

    /// Two scenarios, seeds 0 and 1 averaged; designs A@10, A@20 and B@10, the last without scores in
    /// one scenario.
    const ROWS: &str = "\
point,id,scenario,system,pes,seed,score,energy_mj,reason
0,a,X,A,10,0,0.2,1000,
1,b,X,A,10,1,0.4,3000,
2,c,X,A,20,0,0.5,4000,
3,d,X,A,20,1,0.5,4000,
4,e,X,B,10,0,0.9,500,
5,f,X,B,10,1,0.9,500,
6,g,Y,A,10,0,0.8,1000,
7,h,Y,A,10,1,0.8,1000,
8,i,Y,A,20,0,0.4,2000,
9,j,Y,A,20,1,0.4,2000,
10,k,Y,B,10,0,,,\"too few, alas\"
11,l,Y,B,10,1,,,\"too few, alas\"
";

    fn table(conditions: &[Condition<'_>]) -> PointTable {
        PointTable::read(ROWS.as_bytes(), conditions).expect("the rows can be read")
    }

    fn objective(column: &str) -> Objective {
        Objective { column: column.into(), better: None }
    }

    fn error(result: Result<impl Sized, PointsError>) -> String {
        result.err().expect("this is refused").to_string()
    }

    #[test]
    fn numbers_of_a_design_are_means_over_seeds_then_over_scenarios() {
        let table = table(&[]);
        let means = table.means(&table.numbers("score").unwrap());
        let close = |found: Option<f64>, expected: f64| {
            assert!(found.is_some_and(|found| (found - expected).abs() < 1e-12), "{found:?}");
        };
        close(means[0][0], 0.3); // (0.2 + 0.4) / 2
        close(over_scenarios(&means[0]), 0.55); // (0.3 + 0.8) / 2
        close(over_scenarios(&means[1]), 0.45); // (0.5 + 0.4) / 2
        assert_eq!((means[2][1], over_scenarios(&means[2])), (None, None));
        assert_eq!(table.name(1, ""), "A, 20 PEs");
        assert_eq!(table.name(1, "system"), "20 PEs");
    }

    /// A@10: score 0.55 and (2000 + 1000) / 2 mJ. A@20: 0.45 and 3000 mJ, worse in both, but with
    /// PEs as a third objective that are better if more.
    #[test]
    fn the_front_is_of_designs_with_scores_everywhere() {
        let table = table(&[]);
        let two = [objective("energy_mj"), objective("score")];
        let front = Front::compute(&table, &two).unwrap();
        let (header, rows) = front.rows();
        assert_eq!(header, ["system", "pes", "energy_mj", "score"]);
        assert_eq!(rows, [["A", "10", "1500", "0.55"]]);
        let more_pes = Objective { column: "pes".into(), better: Some(Better::Higher) };
        let three = [two[0].clone(), two[1].clone(), more_pes];
        let (header, rows) = Front::compute(&table, &three).unwrap().rows();
        assert_eq!(header, ["system", "energy_mj", "score", "pes"]);
        assert_eq!(rows.len(), 2);
        let scatter = Front::compute(&table, &two).unwrap().scatter();
        assert_eq!(scatter.series.len(), 1);
        assert_eq!(scatter.series[0].points[0].x, 1.5);
        assert_eq!(scatter.caption.note, "One design without scores is left out.");
    }

    #[test]
    fn designs_are_compared_by_the_energy_of_executed_frames_where_the_table_has_it() {
        assert_eq!(table(&[]).energy(), "energy_mj");
        let text =
            "scenario,system,score,executed,energy_mj\nX,A,0.2,2,10\nX,B,0.8,5,20\nX,C,0.1,0,1\n";
        let table = PointTable::read(text.as_bytes(), &[]).unwrap();
        // A needs less energy than B, as it drops frames: for each executed frame it is worse in both. C runs none.
        let both = [objective(table.energy()), objective("score")];
        let (_, rows) = Front::compute(&table, &both).unwrap().rows();
        assert_eq!(rows, [["B", "4", "0.8"]]);
    }

    #[test]
    fn the_best_of_a_scenario_may_fail_in_another() {
        let best = Best::find(&table(&[]), &objective("score")).unwrap();
        assert_eq!(best.header, ["scenario", "system", "pes", "score", "equal"]);
        assert_eq!(
            best.rows,
            [
                ["X", "B", "10", "0.9", "0"],
                ["Y", "A", "10", "0.8", "0"],
                ["mean of all", "A", "10", "0.55", "0"],
            ]
        );
        let least = Best::find(&table(&[("scenario", "X")]), &objective("energy_mj")).unwrap();
        assert_eq!(least.rows, [["B", "10", "500", "0"]].map(|row| [&["X"], &row[..]].concat()));
    }

    #[test]
    fn a_heat_map_has_numbers_upwards_and_holes_where_nothing_is() {
        let map = heat_map(&table(&[]), "system", "pes", "energy_mj").unwrap();
        assert_eq!(
            (map.columns, map.rows),
            (vec!["A".into(), "B".into()], vec!["20".into(), "10".into()])
        );
        // In joules: A@20 (4 + 4 + 2 + 2) / 4, A@10 (1 + 3 + 1 + 1) / 4, B@10 of the feasible rows.
        assert_eq!(map.values, [vec![Some(3.0), None], vec![Some(1.5), Some(0.5)]]);
        assert_eq!(map.caption.note, "2 points without scores are left out.");
        assert_eq!(map.caption.subtitle, "12 points in 4 cells; means over scenario, seed");
    }

    #[test]
    fn columns_of_an_earlier_version_are_read_under_their_present_names() {
        let text = "scenario,score,released\nX,0.5,3\n";
        let table = PointTable::read(text.as_bytes(), &[]).expect("the rows can be read");
        assert_eq!(table.numbers("requests").unwrap(), [3.0]);
        assert_eq!(table.renamed().len(), 1);
    }

    #[test]
    fn questions_without_answer_say_what_there_is() {
        let table = table(&[]);
        let known = "known: scenario, system, pes, seed, score, energy_mj";
        assert_eq!(error(table.numbers("qoe")), format!("no column `qoe`; {known}"));
        let text = "column `system` has the value `A`, which is not a number";
        assert_eq!(error(Front::compute(&table, &[objective("system")])), text);
        let direction = error(Best::find(&table, &objective("seed")));
        assert!(direction.contains("say seed:max or seed:min"), "{direction}");
        let read = |text: &str| error(PointTable::read(text.as_bytes(), &[]));
        assert_eq!(read("scenario,score\n"), "no rows");
        let other = "no rows of a sweep or of runs; the first line is `a,b`;";
        assert!(read("a,b\n1,2\n").starts_with(other));
        let number = "line 3, column `score`: expected a number, found `inf`";
        assert_eq!(read("scenario,score\nX,1\nX,inf\n"), number);
        let no_match = PointTable::read(ROWS.as_bytes(), &[("system", "C")]);
        assert_eq!(error(no_match), "no rows meet --where");
    }
}
