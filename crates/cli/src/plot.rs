//! `xrsim plot`: results of a sweep as pictures and tables.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use xrsim_config::read_bounded;
use xrsim_model::column::{self, Better};
use xrsim_model::renamed;
use xrsim_report::day::{EnergyBars, EnergyQuantity, EnergySource};
use xrsim_report::points::{Best, Front, Means, Objective, PointTable, PointsError, heat_map};
use xrsim_report::table::Rows;
use xrsim_results::rows::Checked;

use super::console::Stream;
use super::figure::PictureOptions;
use super::message::{Failure, hint, say};
use super::places::Places;
use super::record::{self, Recorded};
use super::{day, output, sweep, table_style};
use xrsim_model::digest::Digest;

/// Draw fronts, heat maps and energies by item, or print best designs or means.
#[derive(Debug, Args)]
#[command(
    after_help = "A design is everything that a sweep varies except scenario, seed and replication. Its numbers are means, \
    first over seeds and replications, then over scenarios. Designs without scores are left out.\n\n\
    Columns are those of the file. Higher is better for scores and executed frames; lower is better for energy, \
    drops, deadline misses, PEs and hardware. COLUMN:max and COLUMN:min choose the direction.\n\n\
    Examples:\n  \
    xrsim plot pe_scaling.csv --kind pareto --out front.svg    energy per frame, score\n  \
    xrsim plot pe_scaling.csv --kind pareto --x pes --y qoe --z energy_mj\n  \
    xrsim plot pe_scaling.csv --kind best\n  \
    xrsim plot pe_scaling.csv --kind heatmap --x pes --y system --where scheduler=edf --out map.png\n  \
    xrsim plot days.csv --kind means --columns hours,profile_score,outside_c\n  \
    xrsim plot slack race ondemand --kind energy --out energy.svg        folders of `xrsim day --out`\n  \
    xrsim plot pe_scaling.csv --kind pareto --width 3.35in --out front.pdf      for a column of a paper"
)]
pub(super) struct PlotArgs {
    /// Rows of a sweep, or the scores.csv of a run; for energy, folders or device.csv of `xrsim day` or `xrsim run --device`.
    #[arg(value_name = "FILE.csv|DIR", required = true)]
    pub file: Vec<PathBuf>,
    /// Kind of plot.
    #[arg(long, value_name = "KIND")]
    pub kind: PlotKind,
    /// First objective, columns of a heat map, or for energy mean_w or energy_j [default: energy_per_frame_mj, of profiles and
    /// energy mean_w, of heat maps pes].
    #[arg(long, value_name = "COLUMN")]
    pub x: Option<String>,
    /// Second objective, or rows of a heat map [default: score, of profiles profile_score, or system].
    #[arg(long, value_name = "COLUMN")]
    pub y: Option<String>,
    /// Third objective, objective of the best designs, or colours of a heat map [default: score, of profiles profile_score].
    #[arg(long, value_name = "COLUMN")]
    pub z: Option<String>,
    /// Columns of the table of means; repeat for several, or separate them by commas [default: score and energy; of profiles
    /// hours, scores, misses, power and temperature].
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Use only rows with this value in this column; repeat for more conditions.
    #[arg(long = "where", value_name = "COLUMN=VALUE")]
    pub conditions: Vec<String>,
    /// File to write (a picture as .svg, .pdf or .png with its data beside it as .csv, or a table as .csv).
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub pictures: PictureOptions,
}

/// Kind of plot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PlotKind {
    /// Pareto-optimal designs: of two objectives as a picture and a table, of three as a table.
    Pareto,
    /// The best design of every scenario, as a table.
    Best,
    /// One column over two settings, as a picture.
    Heatmap,
    /// Means of every design in every scenario with 95 % intervals, as a table.
    Means,
    /// Mean power or energy of runs on a device by item, as a picture or a table.
    Energy,
}

impl PlotKind {
    /// The options of columns and rows that the kind takes.
    fn takes(self) -> &'static [&'static str] {
        match self {
            Self::Pareto | Self::Heatmap => &["--x", "--y", "--z", "--where"],
            Self::Best => &["--z", "--where"],
            Self::Means => &["--columns", "--where"],
            Self::Energy => &["--x"],
        }
    }

    /// Refuses options that are for other kinds.
    fn check(self, args: &PlotArgs) -> Result<(), Failure> {
        let given = [
            ("--x", args.x.is_some()),
            ("--y", args.y.is_some()),
            ("--z", args.z.is_some()),
            ("--columns", !args.columns.is_empty()),
            ("--where", !args.conditions.is_empty()),
        ];
        let other = given.iter().find(|(name, is_given)| *is_given && !self.takes().contains(name));
        if let Some((name, _)) = other {
            let kinds: Vec<_> =
                Self::value_variants().iter().filter(|it| it.takes().contains(name)).collect();
            let kinds = kinds.iter().filter_map(|it| it.to_possible_value());
            let kinds: Vec<_> = kinds.map(|it| it.get_name().to_string()).collect();
            let own = self.to_possible_value();
            refuse!(
                "{name} is for --kind {}; --kind {} takes {}",
                kinds.join(", "),
                own.as_ref().map_or("", |it| it.get_name()),
                self.takes().join(", ")
            );
        }
        Ok(())
    }
}

/// Draws or prints the plot.
///
/// # Errors
///
/// Returns a failure if the file is not a result of a sweep or lacks a column, or if the output cannot be
/// written.
pub(super) fn run(args: &PlotArgs) -> Result<(), Failure> {
    args.kind.check(args)?;
    match args.kind {
        PlotKind::Pareto => pareto(args, &rows(args)?),
        PlotKind::Best => best(args, &rows(args)?),
        PlotKind::Heatmap => heatmap(args, &rows(args)?),
        PlotKind::Means => means(args, &rows(args)?),
        PlotKind::Energy => energy(args),
    }
}

/// Reads the rows of the one file of `args`.
fn rows(args: &PlotArgs) -> Result<PointTable, Failure> {
    let [file] = &args.file[..] else {
        refuse!("this kind takes one file, found {}; --kind energy takes several", args.file.len());
    };
    let conditions = args.conditions.iter().map(|condition| {
        let (column, value) = condition.split_once('=').ok_or_else(|| {
            Failure::Argument(format!("--where takes COLUMN=VALUE, found `{condition}`"))
        })?;
        Ok((column_name(column), value))
    });
    let conditions = conditions.collect::<Result<Vec<_>, Failure>>()?;
    Places::default()
        .reading([file.clone(), sweep::record_of(file)])
        .drawing(&args.pictures, &args.out)
        .check()?;
    points(file, &conditions)
}

/// Reads the rows of `path` that meet all `conditions`, and says what is remarkable about them.
///
/// # Errors
///
/// Returns a failure if the file is not a result of a sweep or of runs, or was changed.
pub(super) fn points(path: &Path, conditions: &[(&str, &str)]) -> Result<PointTable, Failure> {
    let failure = |error: PointsError| Failure::Argument(format!("{}: {error}", path.display()));
    let unreadable = |error: io::Error| Failure::Argument(format!("{}: {error}", path.display()));
    let n_points = sweep::check_header(path)?;
    check_folder(path, record::RUN)?;
    let file = File::open(path).map_err(unreadable)?;
    let mut rows = Checked::new(BufReader::new(file));
    let points = PointTable::read(&mut rows, conditions).map_err(failure)?;
    if let Some(n_points) = n_points.filter(|n_points| *n_points != rows.n_rows()) {
        let (path, n_rows) = (path.display(), rows.n_rows());
        say(format_args!(
            "note: {path} has {n_rows} of {n_points} points; the same `xrsim sweep` makes the others"
        ));
    }
    for &change in points.renamed() {
        hint(change);
    }
    Ok(points)
}

/// Refuses a file of a results folder that differs from the record of the folder, which is called `record`.
fn check_folder(path: &Path, record: &str) -> Result<(), Failure> {
    let record = path.with_file_name(record);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !record.is_file() {
        return Ok(());
    }
    let unreadable =
        |path: &Path, error: io::Error| Failure::Argument(format!("{}: {error}", path.display()));
    let bytes = read_bounded(&record, MAX_RECORD).map_err(|error| unreadable(&record, error))?;
    // Any file may be called that; one without a seal is not the record of a folder.
    let recorded = Recorded::parse(&record, &String::from_utf8_lossy(&bytes))?;
    match recorded.names(&name) {
        true => {
            let digest = Digest::of_file(path).map_err(|error| unreadable(path, error))?;
            recorded.check(&name, path, digest)
        }
        false => Ok(()),
    }
}

/// Largest record that is read \[byte\].
const MAX_RECORD: u64 = 256 << 20;

fn pareto(args: &PlotArgs, points: &PointTable) -> Result<(), Failure> {
    let x = args.x.as_deref().unwrap_or(points.energy());
    let y = args.y.as_deref().unwrap_or(points.score());
    let columns = [Some(x), Some(y), args.z.as_deref()].into_iter().flatten();
    let objectives: Vec<_> = columns.map(objective).collect();
    let front = Front::compute(points, &objectives).map_err(super::argument)?;
    let (header, rows) = front.rows();
    let text = Text { header, rows, n_text: front.n_settings(), draws: points.draws() };
    match &args.out {
        Some(out) if objectives.len() == 2 && !is_csv(out) => {
            args.pictures.write(out, &front.scatter())?;
            text.print()
        }
        Some(out) => text.write(out),
        None => text.print(),
    }
}

fn best(args: &PlotArgs, points: &PointTable) -> Result<(), Failure> {
    let objective = objective(args.z.as_deref().unwrap_or(points.score()));
    let Best { header, rows, n_text } = Best::find(points, &objective).map_err(super::argument)?;
    let text = Text { header, rows, n_text, draws: points.draws() };
    match &args.out {
        Some(out) => text.write(out),
        None => text.print(),
    }
}

fn means(args: &PlotArgs, points: &PointTable) -> Result<(), Failure> {
    let columns: Vec<_> = args.columns.iter().map(|name| column_name(name)).collect();
    let means = Means::of(points, &columns).map_err(super::argument)?;
    if let Some(out) = &args.out {
        return write_table(out, means.rows());
    }
    let ((header, rows), notes) = means.shown(table_style());
    let table = output::table_text(&header, &rows, means.n_text());
    output::print_text(&(table + &Stream::Out.broken(&notes)))
}

fn heatmap(args: &PlotArgs, points: &PointTable) -> Result<(), Failure> {
    let Some(out) = &args.out else {
        refuse!("a heat map needs a file: --out FILE.svg, FILE.pdf or FILE.png");
    };
    let x = column_name(args.x.as_deref().unwrap_or("pes"));
    let y = column_name(args.y.as_deref().unwrap_or("system"));
    let value = column_name(args.z.as_deref().unwrap_or(points.score()));
    args.pictures.write(out, &heat_map(points, x, y, value).map_err(super::argument)?)
}

/// Largest `device.csv` that is read \[byte\].
const MAX_DEVICE: u64 = 64 << 20;

fn energy(args: &PlotArgs) -> Result<(), Failure> {
    let known = EnergyQuantity::ALL;
    let quantity = match args.x.as_deref() {
        None => EnergyQuantity::MeanW,
        Some(x) => match known.iter().find(|(name, _)| *name == x) {
            Some((_, quantity)) => *quantity,
            None => {
                let known = known.map(|(name, _)| name).join(" or ");
                refuse!("--x of --kind energy is {known}, found `{x}`")
            }
        },
    };
    let in_folder =
        |path: &PathBuf| if path.is_dir() { path.join(day::DEVICE) } else { path.clone() };
    let paths: Vec<_> = args.file.iter().map(in_folder).collect();
    if let Some(at) = (1..paths.len()).find(|&at| paths[..at].contains(&paths[at])) {
        refuse!("{} is given twice", args.file[at].display());
    }
    Places::default().reading(paths.clone()).drawing(&args.pictures, &args.out).check()?;
    let texts = paths.iter().map(|path| {
        for record in [record::RUN, record::DAY] {
            check_folder(path, record)?;
        }
        let bytes = read_bounded(path, MAX_DEVICE);
        let bytes =
            bytes.map_err(|error| Failure::Argument(format!("{}: {error}", path.display())))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    });
    let texts = texts.collect::<Result<Vec<_>, Failure>>()?;
    // One run or file needs no name beside others.
    let name = |path: &PathBuf| match args.file.len() {
        1 => String::new(),
        _ => name_of(path),
    };
    let short: Vec<_> = args.file.iter().map(name).collect();
    // Runs of one name are called by their places.
    let full =
        |(path, name): (&PathBuf, &String)| match short.iter().filter(|it| *it == name).count() {
            1 => name.clone(),
            _ => path.display().to_string(),
        };
    let names: Vec<_> = args.file.iter().zip(&short).map(full).collect();
    let sources = names.iter().zip(&texts).map(|(name, text)| EnergySource { name, text });
    let sources: Vec<_> = sources.collect();
    let bars = EnergyBars::read(&sources, quantity).map_err(|error| {
        let path = paths[error.source].display();
        let what = match error.line {
            1 => "; --kind energy reads device.csv of `xrsim day` or of `xrsim run --device`",
            _ => "",
        };
        Failure::Argument(format!("{path}:{}: {error}{what}", error.line))
    })?;
    match &args.out {
        Some(out) if !is_csv(out) => args.pictures.write(out, &bars.figure()),
        Some(out) => write_table(out, bars.rows()),
        None => {
            let (header, rows) = bars.by_item();
            Text { header, rows, n_text: 1, draws: bars.draws() }.print()
        }
    }
}

/// Name of a run beside others: that of its folder, or of a file that is not called `device.csv`.
fn name_of(path: &Path) -> String {
    let is_device = path.file_name().is_some_and(|name| name == day::DEVICE);
    let name = match (path.is_dir(), is_device) {
        (true, _) => path.file_name(),
        (false, true) => path.parent().and_then(Path::file_name),
        (false, false) => path.file_stem(),
    };
    name.map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// Returns the current name of a column, with a hint for an old name.
fn column_name(name: &str) -> &str {
    let (name, renamed) = renamed::current(&column::RENAMED, name);
    renamed.into_iter().for_each(hint);
    name
}

/// Reads `COLUMN`, `COLUMN:max` or `COLUMN:min`.
fn objective(text: &str) -> Objective {
    let (column, better) = match text.rsplit_once(':') {
        Some((column, "max")) => (column, Some(Better::Higher)),
        Some((column, "min")) => (column, Some(Better::Lower)),
        _ => (text, None),
    };
    Objective { column: column_name(column).into(), better }
}

fn is_csv(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
}

/// A table of text.
struct Text {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Number of columns of text, which come first.
    n_text: usize,
    /// Remark on random draws.
    draws: String,
}

impl Text {
    fn print(&self) -> Result<(), Failure> {
        let cells = |row: &Vec<String>| {
            let (text, numbers) = row.split_at(self.n_text);
            let numbers = numbers.iter().map(|it| short(it));
            text.iter().cloned().chain(numbers).collect::<Vec<_>>()
        };
        let table = output::table_text(&self.header, self.rows.iter().map(cells), self.n_text);
        output::print_text(&format!("{table}{}\n", self.draws))
    }

    fn write(self, path: &Path) -> Result<(), Failure> {
        write_table(path, (self.header, self.rows))
    }
}

/// Writes a table as a CSV file.
fn write_table(path: &Path, rows: Rows) -> Result<(), Failure> {
    if !is_csv(path) {
        refuse!("{}: a table ends in .csv", path.display());
    }
    output::write_csv(path, rows)
}

/// Shortens a number for a table: a whole number stays, others have four decimals, or one from 100 on.
fn short(cell: &str) -> String {
    match cell.parse::<f64>() {
        Ok(number) if number.fract() == 0.0 => cell.into(),
        Ok(number) if number.abs() < 100.0 => format!("{number:.4}"),
        Ok(number) => format!("{number:.1}"),
        Err(_) => cell.into(),
    }
}
