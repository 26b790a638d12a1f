//! Energy by item: of one run in pages, of several as bars.

use std::collections::HashMap;
use std::fmt;

use xrsim_figures::{Caption, Quantity, StackPanel, StackedBars};
use xrsim_model::text::cell;

use super::course::{Misread, all_numbers, numbers, place};
use crate::table::Rows;
use crate::words::capitalised;

/// Items of the energy of accelerators in `device.csv` by their columns, then those of all else.
pub(crate) const ITEMS: [(&str, &str, Owner); 8] = [
    ("dynamic_j", "layers", Owner::Accelerators),
    ("moved_j", "moved data", Owner::Accelerators),
    ("wake_j", "waking up", Owner::Accelerators),
    ("leak_running_j", "leakage while running", Owner::Accelerators),
    ("idle_j", "idling", Owner::Accelerators),
    ("gated_j", "gated", Owner::Accelerators),
    ("dram_background_j", "background of DRAM", Owner::Others),
    ("base_j", "base: display, cameras, radio", Owner::Others),
];

/// What is lost in the battery, which is no part of the energy of the device; empty without a battery.
const LOSS: (&str, &str) = ("battery_loss_j", "loss of the battery");

/// Owner of an item, in the order of their colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Accelerators, which systems and schedulers change.
    Accelerators,
    /// All else.
    Others,
}

/// Columns of `device.csv` over which the bars are means.
const DRAWS: [&str; 2] = ["seed", "replication"];

/// Largest share of a bar that is not shown as a part of its own.
const LEAST: f64 = 0.002;

/// First column after those that say what a row is of.
const FIRST: &str = "duration_s";

/// Quantity of the bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnergyQuantity {
    /// Mean power, which compares runs of different length.
    MeanW,
    /// Energy of the whole run.
    EnergyJ,
}

impl EnergyQuantity {
    /// The quantities by the names of their columns.
    pub const ALL: [(&str, Self); 2] = [("mean_w", Self::MeanW), ("energy_j", Self::EnergyJ)];
}

/// A `device.csv`, by the name that its runs have beside those of others; empty if it stands alone.
#[derive(Debug, Clone, Copy)]
pub struct EnergySource<'a> {
    /// Name.
    pub name: &'a str,
    /// Content of the file.
    pub text: &'a str,
}

/// A file that is no `device.csv`, with the number of the file, and the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoEnergy {
    /// Number of the source, from 0.
    pub source: usize,
    /// Line, from 1.
    pub line: usize,
    message: String,
}

impl fmt::Display for NoEnergy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Energy or mean power of several runs by item.
#[derive(Debug, Clone, PartialEq)]
pub struct EnergyBars {
    quantity: EnergyQuantity,
    /// Names of the runs.
    names: Vec<String>,
    /// Items that any run has, with the values of the runs.
    items: Vec<(&'static str, Vec<f64>)>,
    /// Most draws of a run.
    n_draws: usize,
}

/// Rows that differ in their draws only.
struct Group {
    name: String,
    /// Sums of the items of all rows.
    sums: Vec<f64>,
    n: usize,
}

impl EnergyBars {
    /// The runs of `sources`, each a mean over its draws.
    ///
    /// # Errors
    ///
    /// The first place at which a source differs from `device.csv`.
    pub fn read(sources: &[EnergySource<'_>], quantity: EnergyQuantity) -> Result<Self, NoEnergy> {
        let mut groups: Vec<Group> = Vec::new();
        for (source, it) in sources.iter().enumerate() {
            let of_source = |Misread { line, message }| NoEnergy { source, line, message };
            groups.extend(read(it, quantity).map_err(of_source)?);
        }
        let columns = ITEMS.iter().map(|(_, label, _)| *label).chain([LOSS.1]);
        let items = columns.enumerate().map(|(at, label)| {
            let mean = |group: &Group| group.sums[at] / group.n as f64;
            (label, groups.iter().map(mean).collect::<Vec<f64>>())
        });
        let items = items.filter(|(_, values)| values.iter().any(|it| *it != 0.0)).collect();
        let n_draws = groups.iter().map(|group| group.n).max().unwrap_or(0);
        Ok(Self { quantity, names: groups.into_iter().map(|it| it.name).collect(), items, n_draws })
    }

    /// Name and unit of the quantity.
    fn axis(&self) -> Quantity {
        match self.quantity {
            EnergyQuantity::MeanW => Quantity::new("Mean power", "W"),
            EnergyQuantity::EnergyJ => Quantity::new("Energy", "J"),
        }
    }

    /// Remark on the number of draws.
    pub fn draws(&self) -> String {
        match self.n_draws {
            0 | 1 => "one draw of each run".into(),
            n => format!("means of up to {n} draws"),
        }
    }

    /// The items above 0 as parts of bars: those that no bar shows are one part, and named in the remark.
    fn parts(&self) -> (Vec<(String, Vec<f64>)>, String) {
        let sums = self.sums();
        let is_shown = |values: &[f64]| values.iter().zip(&sums).any(|(it, sum)| *it > LEAST * sum);
        let items = self.items.iter().filter(|(_, values)| values.iter().any(|it| *it > 0.0));
        let (shown, hidden): (Vec<_>, Vec<_>) = items.partition(|(_, values)| is_shown(values));
        let mut parts: Vec<_> =
            shown.into_iter().map(|(label, values)| (label.to_string(), values.clone())).collect();
        if hidden.is_empty() {
            return (parts, String::new());
        }
        let sum = |at: usize| hidden.iter().fold(0.0, |sum, (_, values)| sum + values[at]);
        let others: Vec<_> = (0..self.names.len()).map(sum).collect();
        let shares = others.iter().zip(&sums).filter(|(_, sum)| **sum > 0.0);
        let most = shares.map(|(it, sum)| 100.0 * it / sum).fold(0.0, f64::max);
        parts.push(("other".into(), others));
        let names: Vec<_> = hidden.iter().map(|(label, _)| *label).collect();
        (parts, format!("Other, at most {most:.2} % of a bar: {}. ", names.join(", ")))
    }

    /// Sums of the items of the runs.
    fn sums(&self) -> Vec<f64> {
        let sum = |at: usize| self.items.iter().fold(0.0, |sum, (_, values)| sum + values[at]);
        (0..self.names.len()).map(sum).collect()
    }

    /// Name of the sums: what the cell gives if it loses something, which `mean_w` and `energy_j` leave out.
    fn all(&self) -> &'static str {
        match self.items.iter().any(|(label, _)| *label == LOSS.1) {
            true => "all that the cell gives",
            false => "all",
        }
    }

    /// Bars one below the other, with the parts of the accelerators first.
    pub fn figure(&self) -> StackedBars {
        let (parts, other) = self.parts();
        let draws = if self.n_draws > 1 { capitalised(&self.draws()) + "." } else { String::new() };
        StackedBars {
            caption: Caption {
                note: (other + &draws).trim().into(),
                ..Caption::titled(format!("{} by item", self.axis().label))
            },
            category_axis: "Run".into(),
            value_axis: self.axis(),
            categories: self.names.clone(),
            series: parts.iter().map(|(label, _)| label.clone()).collect(),
            panels: vec![StackPanel {
                title: String::new(),
                values: parts.into_iter().map(|(_, values)| values).collect(),
            }],
            shared_scale: true,
            in_rows: true,
        }
    }

    /// A row for each item and one for their sum, with a column for each run.
    pub fn by_item(&self) -> Rows {
        let mut header = vec![self.axis().title()];
        header.extend(self.names.iter().cloned());
        let row = |label: &str, values: &[f64]| {
            [label.to_string()].into_iter().chain(values.iter().copied().map(cell)).collect()
        };
        let items = self.items.iter().map(|(label, values)| row(label, values));
        (header, items.chain([row(self.all(), &self.sums())]).collect())
    }

    /// A row for each run: its name, its items, and their sum.
    pub fn rows(&self) -> Rows {
        let unit = self.axis().unit;
        let items = self.items.iter().map(|(label, _)| format!("{label} [{unit}]"));
        let header = ["run".to_string()].into_iter().chain(items);
        let row = |(at, name): (usize, &String)| {
            let values = self.items.iter().map(|(_, values)| values[at]);
            let sum = values.clone().fold(0.0, |sum, it| sum + it);
            [name.clone()].into_iter().chain(values.chain([sum]).map(cell)).collect()
        };
        let header = header.chain([format!("{} [{unit}]", self.all())]).collect();
        (header, self.names.iter().enumerate().map(row).collect())
    }
}

/// The runs of a source, in the order of their first rows.
fn read(source: &EnergySource<'_>, quantity: EnergyQuantity) -> Result<Vec<Group>, Misread> {
    let table = table(source.text)?;
    let (first, seconds) = (place(&table, FIRST)?, all_numbers(&table, FIRST)?);
    let mut items = ITEMS
        .iter()
        .map(|(column, ..)| all_numbers(&table, column))
        .collect::<Result<Vec<_>, _>>()?;
    let losses = numbers(&table, LOSS.0)?.into_iter();
    items.push(losses.map(Option::unwrap_or_default).collect());
    let (header, rows) = &table;
    // Of what runs are, the columns that tell them apart are their names.
    let labels = (0..first).filter(|&at| !DRAWS.contains(&&*header[at]));
    let labels: Vec<_> = labels.filter(|&at| rows.iter().any(|it| it[at] != rows[0][at])).collect();
    let (mut groups, mut places) = (Vec::<Group>::new(), HashMap::new());
    for (row, cells) in rows.iter().enumerate() {
        let own = labels.iter().map(|&at| cells[at].as_str());
        let own: Vec<_> = own.map(|it| if it.is_empty() { "-" } else { it }).collect();
        let misread = |message: String| Misread { line: row + 2, message };
        let name = [source.name].into_iter().filter(|it| !it.is_empty()).chain(own.iter().copied());
        let name = name.collect::<Vec<_>>().join(", ");
        let name = if name.is_empty() { "run".into() } else { name };
        let factor = match quantity {
            EnergyQuantity::EnergyJ => 1.0,
            EnergyQuantity::MeanW if seconds[row] > 0.0 => 1.0 / seconds[row],
            EnergyQuantity::MeanW => {
                let seconds = seconds[row];
                return Err(misread(format!("column `{FIRST}` is {seconds}; a mean needs time")));
            }
        };
        let place = *places.entry(own).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Group { name, sums: vec![0.0; items.len()], n: 0 });
        }
        let group = &mut groups[place];
        group.n += 1;
        for (sum, values) in group.sums.iter_mut().zip(&items) {
            *sum += factor * values[row];
            if values[row] < 0.0 || *sum > MOST {
                let (joules, seconds) = (values[row], seconds[row]);
                return Err(misread(format!("{joules} J in {seconds} s are not those of a run")));
            }
        }
    }
    match groups.is_empty() {
        true => Err(Misread { line: 2, message: "there is no run".into() }),
        false => Ok(groups),
    }
}

/// Largest sum of an item \[J, W\].
const MOST: f64 = 1e30;

/// Most rows of a source.
const MAX_ROWS: usize = 100_000;

fn table(text: &str) -> Result<Rows, Misread> {
    let failed = |error: csv::Error| {
        let line = error.position().map_or(1, |at| at.line() as usize);
        Misread { line, message: error.to_string() }
    };
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let cells = |record: &csv::StringRecord| record.iter().map(String::from).collect();
    let header: Vec<String> = cells(reader.headers().map_err(failed)?);
    let records = reader.records().take(MAX_ROWS + 1);
    let rows = records.map(|it| Ok(cells(&it.map_err(failed)?))).collect::<Result<Vec<_>, _>>()?;
    match rows.len() > MAX_ROWS {
        true => Err(Misread { line: MAX_ROWS + 2, message: format!("more than {MAX_ROWS} rows") }),
        false => Ok((header, rows)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ITEMS_OF: &str = "duration_s,energy_j,dynamic_j,moved_j,wake_j,leak_running_j,idle_j,gated_j,\
                            dram_background_j,base_j,battery_loss_j";

    fn read(sources: &[(&str, &str)], quantity: EnergyQuantity) -> Result<EnergyBars, NoEnergy> {
        let source = |&(name, text)| EnergySource { name, text };
        EnergyBars::read(&sources.iter().map(source).collect::<Vec<_>>(), quantity)
    }

    #[test]
    fn runs_of_different_length_have_mean_powers() {
        let [slow, fast] = ["2,8,4,0,0,0,0,0,0,4,1", "1,8,6,0,0,0,0,0,0,2,"];
        let [slow, fast] = [slow, fast].map(|row| format!("{ITEMS_OF}\n{row}\n"));
        let sources = [("slow", &*slow), ("fast", &*fast)];
        let (header, rows) = read(&sources, EnergyQuantity::MeanW).expect("both are read").rows();
        let [layers, base] = ["layers [W]", "base: display, cameras, radio [W]"];
        assert_eq!(
            header,
            ["run", layers, base, "loss of the battery [W]", "all that the cell gives [W]"]
        );
        assert_eq!(rows, [["slow", "2", "2", "0.5", "4.5"], ["fast", "6", "2", "0", "8"]]);
        let by_item = read(&sources, EnergyQuantity::MeanW).expect("both are read").by_item();
        assert_eq!(by_item.0, ["Mean power [W]", "slow", "fast"]);
        assert_eq!(
            (&by_item.1[0][0], &by_item.1[3]),
            (&"layers".into(), &vec!["all that the cell gives".into(), "4.5".into(), "8".into()])
        );
        let joules = read(&sources, EnergyQuantity::EnergyJ).expect("both are read").rows().1;
        assert_eq!(joules[0], ["slow", "4", "4", "1", "9"]);
    }

    #[test]
    fn parts_that_no_bar_shows_are_one_part() {
        let text = format!("{ITEMS_OF}\n1,1000,900,0,1,0,0,1,0,98,0\n");
        let bars = read(&[("", &text)], EnergyQuantity::EnergyJ).expect("it is read");
        let figure = bars.figure();
        assert_eq!(figure.series, ["layers", "base: display, cameras, radio", "other"]);
        assert_eq!(figure.panels[0].values, [[900.0], [98.0], [2.0]]);
        assert_eq!(figure.caption.note, "Other, at most 0.20 % of a bar: waking up, gated.");
    }

    #[test]
    fn rows_of_a_file_are_called_by_what_tells_them_apart_and_are_means_of_their_draws() {
        let rows = ["X,A,0", "X,A,1", "X,B,0"].iter().zip(["2", "4", "6"]);
        let rows = rows.map(|(label, j)| format!("{label},1,{j},{j},0,0,0,0,0,0,0,0\n"));
        let text = format!("scenario,system,seed,{ITEMS_OF}\n{}", rows.collect::<String>());
        let bars = read(&[("", &text)], EnergyQuantity::EnergyJ).expect("it is read");
        assert_eq!(bars.rows().1, [["A", "3", "3"], ["B", "6", "6"]]);
        assert_eq!(bars.figure().caption.note, "Means of up to 2 draws.");
        // Empty cells tell rows apart.
        let text = format!(
            "scenario,system,{ITEMS_OF}\nA,,1,1,1,0,0,0,0,0,0,0,0\n,A,1,3,3,0,0,0,0,0,0,0,0\n"
        );
        let bars = read(&[("", &text)], EnergyQuantity::EnergyJ).expect("it is read");
        assert_eq!(bars.rows().1, [["A, -", "1", "1"], ["-, A", "3", "3"]]);
    }

    #[test]
    fn what_is_no_account_of_energy_is_refused_with_its_place() {
        let of = |text: &str| {
            let error = read(&[("a", text)], EnergyQuantity::MeanW).expect_err("it is refused");
            format!("{}: {error}", error.line)
        };
        assert_eq!(of("a,b\n1,2\n"), "1: no column `duration_s`");
        assert_eq!(of(&format!("{ITEMS_OF}\n")), "2: there is no run");
        let row = |seconds: &str, joules: &str| {
            format!("{ITEMS_OF}\n{seconds},{joules},1,0,0,0,0,0,0,0,0\n")
        };
        assert_eq!(of(&row("0", "1")), "2: column `duration_s` is 0; a mean needs time");
        assert_eq!(
            of(&row("1", "1").replace(",1,1,0", ",1,-1,0")),
            "2: -1 J in 1 s are not those of a run"
        );
        assert_eq!(
            of(&row("1e-31", "1")),
            "2: 1 J in 0.0000000000000000000000000000001 s are not those of a run"
        );
        let no_number = format!("{ITEMS_OF}\n1,1,inf,0,0,0,0,0,0,0,0\n");
        assert_eq!(of(&no_number), "2: column `dynamic_j`: `inf` is no finite number");
    }
}
