//! `xrsim plot`: what a sweep found, as pictures and tables.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use crate::report::points::{Best, Better, Front, Objective, PointTable, PointsError, heat_map};
use crate::report::table;

use super::args::{PlotArgs, PlotKind};
use super::message::Failure;
use super::{figure, output, table_style};

/// Draws or prints what `args` ask for.
///
/// # Errors
///
/// A file that is no result of a sweep, columns that it does not have, or output that cannot be
/// written.
pub fn run(args: &PlotArgs) -> Result<(), Failure> {
    let path = &args.file;
    let failure = |error: PointsError| Failure::Argument(format!("{}: {error}", path.display()));
    let conditions = args.conditions.iter().map(|condition| {
        condition.split_once('=').ok_or_else(|| {
            Failure::Argument(format!("--where takes COLUMN=VALUE, found `{condition}`"))
        })
    });
    let conditions = conditions.collect::<Result<Vec<_>, _>>()?;
    let file = File::open(path)
        .map_err(|error| Failure::Argument(format!("{}: {error}", path.display())))?;
    let points = PointTable::read(BufReader::new(file), &conditions).map_err(failure)?;
    if let Some(out) = &args.out {
        refuse_overwriting(out, path)?;
    }
    match args.kind {
        PlotKind::Pareto => pareto(args, &points),
        PlotKind::Best => best(args, &points),
        PlotKind::Heatmap => heatmap(args, &points),
    }
}

/// Refuses a picture whose data would take the place of what it is drawn from.
fn refuse_overwriting(out: &Path, input: &Path) -> Result<(), Failure> {
    let same = |path: &Path| {
        fs::canonicalize(path).is_ok_and(|path| fs::canonicalize(input).is_ok_and(|it| it == path))
    };
    if same(out) || same(&out.with_extension("csv")) {
        let (out, input) = (out.display(), input.display());
        return Err(Failure::Argument(format!(
            "the data of {out} would take the place of {input}; choose another name"
        )));
    }
    Ok(())
}

fn pareto(args: &PlotArgs, points: &PointTable) -> Result<(), Failure> {
    let x = args.x.as_deref().unwrap_or("energy_mj");
    let y = args.y.as_deref().unwrap_or("score");
    let columns = [Some(x), Some(y), args.z.as_deref()].into_iter().flatten();
    let objectives: Vec<_> = columns.map(objective).collect();
    let front = Front::of(points, &objectives).map_err(super::argument)?;
    let (header, rows) = front.rows();
    let text = Text { header, rows, n_text: front.n_settings(), draws: points.draws() };
    match &args.out {
        Some(out) if objectives.len() == 2 && !is_csv(out) => {
            figure::write(out, &front.scatter())?;
            text.print()
        }
        Some(out) => text.write(out),
        None => text.print(),
    }
}

fn best(args: &PlotArgs, points: &PointTable) -> Result<(), Failure> {
    let objective = objective(args.z.as_deref().unwrap_or("score"));
    let Best { header, rows, n_text } = Best::of(points, &objective).map_err(super::argument)?;
    let text = Text { header, rows, n_text, draws: points.draws() };
    match &args.out {
        Some(out) => text.write(out),
        None => text.print(),
    }
}

fn heatmap(args: &PlotArgs, points: &PointTable) -> Result<(), Failure> {
    let Some(out) = &args.out else {
        let message = "a heat map needs a file: --out FILE.svg or FILE.png";
        return Err(Failure::Argument(message.into()));
    };
    let x = args.x.as_deref().unwrap_or("pes");
    let y = args.y.as_deref().unwrap_or("system");
    let value = args.z.as_deref().unwrap_or("score");
    figure::write(out, &heat_map(points, x, y, value).map_err(super::argument)?)
}

/// `COLUMN`, `COLUMN:max` or `COLUMN:min`.
fn objective(text: &str) -> Objective {
    let (column, better) = match text.rsplit_once(':') {
        Some((column, "max")) => (column, Some(Better::Higher)),
        Some((column, "min")) => (column, Some(Better::Lower)),
        _ => (text, None),
    };
    Objective { column: column.into(), better }
}

fn is_csv(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
}

/// A table of text.
struct Text {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Columns that are not numbers.
    n_text: usize,
    /// What is to be said of draws.
    draws: String,
}

impl Text {
    fn print(&self) -> Result<(), Failure> {
        let header: Vec<_> = self.header.iter().map(String::as_str).collect();
        let mut table = table::new_table(table_style(), &header, self.n_text);
        for row in &self.rows {
            let (text, numbers) = row.split_at(self.n_text);
            table.add_row(text.iter().cloned().chain(numbers.iter().map(|it| short(it))));
        }
        output::print(&format!("{}{}\n", table::render(&table), self.draws))
    }

    /// As a CSV file.
    fn write(&self, path: &Path) -> Result<(), Failure> {
        if !is_csv(path) {
            let message = format!("{}: a table ends in .csv", path.display());
            return Err(Failure::Argument(message));
        }
        output::write_csv(path, (self.header.clone(), self.rows.clone()))
    }
}

/// A number for people: whole, or with four decimals, or with one if it is large.
fn short(cell: &str) -> String {
    match cell.parse::<f64>() {
        Ok(number) if number.fract() == 0.0 => cell.into(),
        Ok(number) if number.abs() < 100.0 => format!("{number:.4}"),
        Ok(number) => format!("{number:.1}"),
        Err(_) => cell.into(),
    }
}
