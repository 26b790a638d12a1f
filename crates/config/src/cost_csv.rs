//! Tables of measured costs, as CSV.
//!
//! ```text
//! network,accelerator,layer,latency_ms,energy_mj
//! KD_res8_narrow,WS@2048,,0.13,0.16
//! ```
//!
//! Columns come in any order. `layer` may be left out, or empty for the whole network. `cycles`, of
//! the accelerator's clock, may take the place of `latency_ms`. Lines that are empty or start with
//! `#` are skipped.

use std::ops::Range;
use std::sync::Arc;

use csv::StringRecord;

use xrsim_model::cost::table::{CostRecord, CostRecords, Latency, RecordError};
use xrsim_model::units::{Cycles, Millijoules, SimSpan};

use super::{ConfigError, Problem, Source, nearest};

/// Every column.
const COLUMNS: [&str; 6] = ["network", "accelerator", "layer", "latency_ms", "cycles", "energy_mj"];

/// Reads a table of measured costs.
///
/// # Errors
///
/// [`ConfigError::Invalid`] with every problem of the header, or if that is right of the rows.
pub fn parse(source: &Arc<Source>) -> Result<CostRecords, ConfigError> {
    read(source.text()).map_err(|mut problems| {
        problems.sort_by_key(|problem| problem.span.start);
        ConfigError::Invalid { file: Arc::clone(source), problems }
    })
}

/// Line of every record of a table that [`parse`] takes, in order.
pub fn lines(source: &Source) -> Vec<usize> {
    let text = source.text();
    let (mut line, mut at) = (1, 0);
    let line_of = |row: Row<'_>| {
        line += text[at..row.start].matches('\n').count();
        at = row.start;
        line
    };
    rows(text).skip(1).map(line_of).collect()
}

fn read(text: &str) -> Result<CostRecords, Vec<Problem>> {
    let mut rows = rows(text);
    let Some(header) = rows.next() else {
        let problem = Problem::new(0..0, "the table is empty");
        return Err(vec![problem.help(format!("columns: {}", COLUMNS.join(", ")))]);
    };
    let columns = Columns::read(&header)?;
    let rows: Vec<Row> = rows.collect();
    if rows.is_empty() {
        return Err(vec![Problem::new(text.len()..text.len(), "the table has no rows")]);
    }
    let mut records = Vec::with_capacity(rows.len());
    let mut problems = Vec::new();
    for row in &rows {
        match columns.record(row) {
            Ok(record) => records.push(record),
            Err(found) => problems.extend(found),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    CostRecords::new(records).map_err(|errors| {
        let problems = errors.iter().map(|error| contradiction(text, &rows, error));
        problems.collect()
    })
}

/// Says of a record that contradicts an earlier one where that is.
fn contradiction(text: &str, rows: &[Row], error: &RecordError) -> Problem {
    let problem = Problem::new(rows[error.record()].line(), error.to_string());
    match error.earlier() {
        Some(earlier) => {
            let line = text[..rows[earlier].start].matches('\n').count() + 1;
            problem.help(format!("see line {line}"))
        }
        None => problem,
    }
}

/// One record of the text.
pub(super) struct Row<'a> {
    text: &'a str,
    /// Byte at which it starts.
    start: usize,
    pub(super) cells: StringRecord,
}

/// Every record, the header among them.
pub(super) fn rows(text: &str) -> impl Iterator<Item = Row<'_>> {
    let reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    reader.into_records().map(move |cells| {
        let cells = cells.expect("the text is UTF-8 and rows may be uneven");
        let before = cells.position().map_or(0, |position| position.byte());
        Row { text, start: skip_blank(text, before as usize), cells }
    })
}

/// The first byte from `start` on that is not on an empty line or a comment.
fn skip_blank(text: &str, start: usize) -> usize {
    let lines = text[start..].split_inclusive('\n');
    let blank = lines.take_while(|line| line.starts_with('#') || line.trim_end().is_empty());
    start + blank.map(str::len).sum::<usize>()
}

impl Row<'_> {
    /// Bytes of the first line of the record.
    pub(super) fn line(&self) -> Range<usize> {
        let rest = &self.text[self.start..];
        self.start..self.start + rest.find(['\r', '\n']).unwrap_or(rest.len())
    }

    /// These bytes of the text.
    pub(super) fn text(&self, span: Range<usize>) -> &str {
        self.text.get(span).unwrap_or_default()
    }

    /// Bytes of cell `index`.
    pub(super) fn cell(&self, index: usize) -> Range<usize> {
        let bytes = self.text.as_bytes();
        let mut begin = self.start;
        let mut left = index;
        let mut quoted = false;
        for at in self.start..bytes.len() {
            match bytes[at] {
                b'"' if bytes[begin] == b'"' => quoted = !quoted,
                b',' | b'\r' | b'\n' if !quoted => {
                    if left == 0 {
                        return begin..at;
                    }
                    left -= 1;
                    begin = at + 1;
                }
                _ => {}
            }
        }
        begin.min(bytes.len())..bytes.len()
    }

    /// Checks that there is a cell under each of `count` columns.
    pub(super) fn check_width(&self, count: usize) -> Result<(), Problem> {
        let message = format!("{} cells under {count} columns", self.cells.len());
        let is_right = self.cells.len() == count;
        if is_right { Ok(()) } else { Err(Problem::new(self.line(), message)) }
    }

    pub(super) fn problem(&self, index: usize, message: impl Into<String>) -> Problem {
        Problem::new(self.cell(index), message)
    }
}

/// Position of every column.
struct Columns {
    network: usize,
    accelerator: usize,
    layer: Option<usize>,
    latency: usize,
    /// Whether `latency` is in cycles rather than milliseconds.
    in_cycles: bool,
    energy: usize,
    count: usize,
}

impl Columns {
    fn read(header: &Row) -> Result<Self, Vec<Problem>> {
        let mut problems = misnamed(header, &COLUMNS);
        let find = |name| header.cells.iter().position(|cell| cell == name);
        let (milliseconds, cycles) = (find("latency_ms"), find("cycles"));
        if let (Some(_), Some(cycles)) = (milliseconds, cycles) {
            problems.push(header.problem(cycles, "both `latency_ms` and `cycles`; give one"));
        }
        let mut need = |name: &str, found: Option<usize>| {
            let message = || format!("no column `{name}`");
            problems.extend(found.is_none().then(|| Problem::new(header.line(), message())));
            found.unwrap_or_default()
        };
        let columns = Self {
            network: need("network", find("network")),
            accelerator: need("accelerator", find("accelerator")),
            layer: find("layer"),
            latency: need("latency_ms", milliseconds.or(cycles)),
            in_cycles: cycles.is_some(),
            energy: need("energy_mj", find("energy_mj")),
            count: header.cells.len(),
        };
        if problems.is_empty() { Ok(columns) } else { Err(problems) }
    }

    fn record(&self, row: &Row) -> Result<CostRecord, Vec<Problem>> {
        row.check_width(self.count).map_err(|problem| vec![problem])?;
        let layer = self.layer.map(|column| &row.cells[column]);
        match (
            row.name(self.network, "network"),
            row.name(self.accelerator, "accelerator"),
            row.latency(self.latency, self.in_cycles),
            row.energy(self.energy),
        ) {
            (Ok(network), Ok(accelerator), Ok(latency), Ok(energy)) => Ok(CostRecord {
                network,
                accelerator,
                layer: layer.filter(|name| !name.is_empty()).map(Box::from),
                latency,
                energy,
            }),
            (network, accelerator, latency, energy) => {
                let found = [network.err(), accelerator.err(), latency.err(), energy.err()];
                Err(found.into_iter().flatten().collect())
            }
        }
    }
}

/// Columns of the header that are unknown or named twice.
pub(super) fn misnamed(header: &Row, columns: &[&str]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, name) in header.cells.iter().enumerate() {
        if !columns.contains(&name) {
            let help = match nearest(name, columns.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("columns: {}", columns.join(", ")),
            };
            let problem = header.problem(index, format!("unknown column `{name}`"));
            problems.push(problem.help(help));
        } else if header.cells.iter().take(index).any(|other| other == name) {
            problems.push(header.problem(index, format!("column `{name}` is named twice")));
        }
    }
    problems
}

impl Row<'_> {
    pub(super) fn name(&self, index: usize, column: &str) -> Result<Box<str>, Problem> {
        match &self.cells[index] {
            "" => Err(self.problem(index, format!("the {column} is not named"))),
            name => Ok(name.into()),
        }
    }

    fn latency(&self, index: usize, in_cycles: bool) -> Result<Latency, Problem> {
        let text = &self.cells[index];
        let latency = if in_cycles {
            let cycles = text.parse().ok().map(Cycles::new);
            cycles.filter(|cycles| *cycles <= CostRecord::MAX_CYCLES).map(Latency::Cycles)
        } else {
            let span = text.parse().ok().and_then(SimSpan::from_ms);
            span.map(Latency::Time)
        };
        let allowed = match in_cycles {
            true => format!("whole cycles, from 0 to {}", CostRecord::MAX_CYCLES.get()),
            false => format!("milliseconds, from 0 to {}", SimSpan::MAX_MS),
        };
        latency.ok_or_else(|| self.problem(index, format!("`{text}` is no latency")).help(allowed))
    }

    fn energy(&self, index: usize) -> Result<Millijoules, Problem> {
        let text = &self.cells[index];
        let most = CostRecord::MAX_ENERGY.get();
        let energy = text.parse().ok().filter(|mj| (0.0..=most).contains(mj));
        energy.map(Millijoules::new).ok_or_else(|| {
            self.problem(index, format!("`{text}` is no energy"))
                .help(format!("millijoules, from 0 to {most}"))
        })
    }
}
