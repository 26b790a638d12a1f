//! Tables of measured costs, as CSV.
//!
//! ```text
//! network,accelerator,layer,latency_ms,energy_mj
//! KD_res8_narrow,WS@2048,,0.13,0.16
//! ```
//!
//! Columns come in any order. `layer` may be left out, or empty for the whole network. `cycles`, of
//! the accelerator's clock, may take the place of `latency_ms`. `energy_mj` may be left out, or empty, for a processor
//! with a power while it runs. Lines that are empty or start with
//! `#` are skipped.
//!
//! A latency that differs from request to request is its median `latency_p50_ms` (or `latency_ms`) with
//! `latency_p95_ms`, and to compare `latency_p99_ms`; or `samples`, the path of a file with one latency \[ms\] a line,
//! relative to the table.

use std::ops::Range;
use std::sync::Arc;

use csv::StringRecord;

use xrsim_model::cost::Spread;
use xrsim_model::cost::table::{CostRecord, CostRecords, Latency, RecordError};
use xrsim_model::units::{Cycles, Millijoules, SimSpan};

use super::{ConfigError, Problem, Source, nearest};

/// Every column.
const COLUMNS: [&str; 10] = [
    "network",
    "accelerator",
    "layer",
    "latency_ms",
    "cycles",
    "energy_mj",
    "latency_p50_ms",
    "latency_p95_ms",
    "latency_p99_ms",
    "samples",
];

/// Most latencies of a file of samples.
const MAX_SAMPLES: usize = 1_000_000;

/// Reads the file of a path that a table names.
pub type Open<'a> = &'a mut dyn FnMut(&str) -> Result<Arc<Source>, ConfigError>;

/// Tables that come with the program.
const SHIPPED: [(&str, &str); 1] =
    [("xr2_gen2", include_str!("../../../hw_configs/examples/xr2_gen2.csv"))];

/// Names of the tables that come with the program.
pub fn shipped_names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|(name, _)| *name)
}

/// The table called `name` that comes with the program; `None` if there is none.
pub fn shipped(name: &str) -> Option<Arc<Source>> {
    let (name, text) = SHIPPED.iter().find(|(known, _)| *known == name)?;
    Some(Source::new(format!("hw_configs/examples/{name}.csv"), *text))
}

/// Reads a table of measured costs that names no files.
///
/// # Errors
///
/// [`ConfigError::Invalid`] with every problem of the header, or if that is right of the rows.
pub fn parse(source: &Arc<Source>) -> Result<CostRecords, ConfigError> {
    let name = |path: &str| ConfigError::Unreadable {
        path: path.into(),
        reason: "the table stands alone".into(),
    };
    parse_with(source, &mut |path| Err(name(path)))
}

/// Reads a table of measured costs, with the files of samples that `open` reads.
///
/// # Errors
///
/// [`ConfigError::Invalid`] with every problem of the header, or if that is right of the rows.
pub fn parse_with(source: &Arc<Source>, open: Open<'_>) -> Result<CostRecords, ConfigError> {
    read(source.text(), open).map_err(|mut problems| {
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

fn read(text: &str, open: Open<'_>) -> Result<CostRecords, Vec<Problem>> {
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
        match columns.record(row, open) {
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
    latency: Option<usize>,
    /// Whether `latency` is in cycles rather than milliseconds.
    in_cycles: bool,
    energy: Option<usize>,
    /// Quantiles of the latency at 0.5, 0.95 and 0.99.
    quantiles: [Option<usize>; 3],
    samples: Option<usize>,
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
            latency: milliseconds.or(cycles),
            in_cycles: cycles.is_some(),
            energy: find("energy_mj"),
            quantiles: ["latency_p50_ms", "latency_p95_ms", "latency_p99_ms"].map(find),
            samples: find("samples"),
            count: header.cells.len(),
        };
        let is_any = [columns.latency, columns.quantiles[0], columns.samples];
        if is_any.iter().all(Option::is_none) {
            problems.push(Problem::new(header.line(), "no column `latency_ms`"));
        }
        if problems.is_empty() { Ok(columns) } else { Err(problems) }
    }

    fn record(&self, row: &Row, open: Open<'_>) -> Result<CostRecord, Vec<Problem>> {
        row.check_width(self.count).map_err(|problem| vec![problem])?;
        let layer = self.layer.map(|column| &row.cells[column]);
        match (
            row.name(self.network, "network"),
            row.name(self.accelerator, "accelerator"),
            self.latency(row, open),
            self.energy.map_or(Ok(None), |column| row.energy(column)),
        ) {
            (Ok(network), Ok(accelerator), Ok((latency, spread)), Ok(energy)) => Ok(CostRecord {
                network,
                accelerator,
                layer: layer.filter(|name| !name.is_empty()).map(Box::from),
                latency,
                energy,
                spread,
            }),
            (network, accelerator, latency, energy) => {
                let found = [network.err(), accelerator.err(), latency.err(), energy.err()];
                Err(found.into_iter().flatten().collect())
            }
        }
    }

    /// Latency of a row, or its median and how it differs from request to request.
    fn latency(&self, row: &Row, open: Open<'_>) -> Result<(Latency, Option<Spread>), Problem> {
        let given = |column: Option<usize>| column.filter(|&it| !row.cells[it].is_empty());
        let [p50, p95, p99] = self.quantiles.map(given);
        let latency = given(self.latency);
        if let Some(samples) = given(self.samples) {
            let others = [latency, p50, p95, p99];
            return match others.into_iter().flatten().next() {
                Some(other) => Err(row.problem(other, "a row with `samples` has no other latency")),
                None => row.samples(samples, open),
            };
        }
        let median = match (latency, p50) {
            (Some(_), Some(p50)) => {
                return Err(row.problem(p50, "both a latency and its median; give one"));
            }
            (Some(latency), None) => row.latency(latency, self.in_cycles)?,
            (None, Some(p50)) => row.latency(p50, false)?,
            (None, None) => {
                let at = self.latency.or(self.quantiles[0]).or(self.samples).unwrap_or_default();
                return row.latency(at, self.in_cycles).map(|latency| (latency, None));
            }
        };
        if let (None, Some(p99)) = (p95, p99) {
            let message =
                "a 99th percentile without `latency_p95_ms`, which decides the distribution";
            return Err(row.problem(p99, message));
        }
        let mut below = median;
        for column in [p95, p99].into_iter().flatten() {
            let next = row.latency(column, false)?;
            if let (Latency::Time(least), Latency::Time(found)) = (below, next)
                && (found < least || least == SimSpan::ZERO)
            {
                let found = &row.cells[column];
                let problem = row.problem(column, format!("the quantile `{found}` is too small"));
                return Err(problem.help("quantiles ascend, from a median above 0"));
            }
            below = next;
        }
        match (median, p95) {
            (Latency::Time(median), Some(p95)) => {
                let p95 = ms_of(row, p95) / median.as_ms();
                Ok((Latency::Time(median), Some(Spread::log_normal(p95))))
            }
            (Latency::Cycles(_), Some(p95)) => {
                Err(row.problem(p95, "quantiles stand beside `latency_ms`, not cycles"))
            }
            (median, None) => Ok((median, None)),
        }
    }

    /// The quantile at 0.99 of a row, and that of its log-normal distribution \[ms\]; `None` without one of them.
    fn tail_ms(&self, row: &Row) -> Option<(f64, f64)> {
        let number = |column: Option<usize>| row.cells.get(column?)?.parse::<f64>().ok();
        let [p50, p95, p99] = self.quantiles.map(number);
        let median = p50.or_else(|| number(self.latency))?;
        Some((p99?, median * Spread::log_normal(p95? / median).p99()))
    }
}

fn ms_of(row: &Row, column: usize) -> f64 {
    row.cells[column].parse().unwrap_or(f64::NAN)
}

/// How far the log-normal distributions of a table that [`parse`] takes are from its quantiles at 0.99, in a line; `None`
/// without any.
pub fn tail_misfit(source: &Source) -> Option<String> {
    let mut rows = rows(source.text());
    let columns = Columns::read(&rows.next()?).ok()?;
    let lines = lines(source);
    let misfit = |(row, line): (Row<'_>, usize)| {
        let (given, made) = columns.tail_ms(&row)?;
        Some((made / given - 1.0, given, made, line))
    };
    let misfits: Vec<_> = rows.zip(lines).filter_map(misfit).collect();
    let (error, given, made, line) =
        *misfits.iter().max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()))?;
    Some(format!(
        "{}:{line}: the log-normal through p50 and p95 has a p99 of {made:.3} in place of {given} ms ({:+.0} %{})",
        source.name(),
        100.0 * error,
        match misfits.len() {
            1 => String::new(),
            n => format!(", the farthest of {n}"),
        }
    ))
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

    /// Median and distribution of the latencies in a file, one a line.
    fn samples(&self, index: usize, open: Open<'_>) -> Result<(Latency, Option<Spread>), Problem> {
        let file = open(&self.cells[index])
            .map_err(|error| self.problem(index, error.to_string().trim_end().to_string()))?;
        let wrong = |line: usize, text: &str| {
            let text = text.chars().take(40).collect::<String>();
            let message = format!("{}:{}: `{text}` is no latency", file.name(), line + 1);
            self.problem(index, message).help("milliseconds above 0, one a line")
        };
        let lines = file.text().lines().map(str::trim).enumerate();
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let mut spans = Vec::new();
        for (at, line) in lines {
            let span = line.parse().ok().and_then(SimSpan::from_ms);
            let span = span.filter(|it| *it > SimSpan::ZERO && spans.len() < MAX_SAMPLES);
            spans.push(span.ok_or_else(|| wrong(at, line))?);
        }
        spans.sort_unstable();
        let Some(&median) = spans.get(spans.len().saturating_sub(1) / 2) else {
            return Err(self.problem(index, format!("{} has no latencies", file.name())));
        };
        let factors = spans.iter().map(|it| it.ns() as f64 / median.ns() as f64);
        Ok((Latency::Time(median), Some(Spread::Samples(factors.collect()))))
    }

    /// An energy; `None` for an empty cell.
    fn energy(&self, index: usize) -> Result<Option<Millijoules>, Problem> {
        let text = &self.cells[index];
        if text.is_empty() {
            return Ok(None);
        }
        let most = CostRecord::MAX_ENERGY.get();
        let energy = text.parse().ok().filter(|mj| (0.0..=most).contains(mj));
        energy.map(|it| Some(Millijoules::new(it))).ok_or_else(|| {
            self.problem(index, format!("`{text}` is no energy"))
                .help(format!("millijoules, from 0 to {most}"))
        })
    }
}
