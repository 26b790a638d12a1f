//! One HTML page of load tests, made of what `xrsim mlperf --out` leaves.
//!
//! ```text
//! mlperf.json ──────────────── header ─┐
//! suite.csv or tenants.csv ─── table ──┼─ page
//! TASK/LOAD/mlperf_log_summary.txt ────┤
//! TASK/server/curve.csv ────── curve ──┘
//! ```
//!
//! [`Tests::read`] checks the table and says by [`Tests::places`] in which folders the rest lies;
//! [`Tests::page`] takes it. Figures are drawn here, from the numbers; no picture of the folder is used.

mod curve;
mod header;
mod table;

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::figures::{Figure, FigureError, Format, render};
use crate::report::mlperf::{RateResult, server_share, server_to_offline};

use super::columns::{self, Column};
use super::provenance::Pair;
use super::{ReadError, Source, data, page};

pub use header::Header;
pub use table::{Kind, MAX_TESTS};

use curve::Curve;
use table::Test;

/// Tests of a folder.
#[derive(Debug)]
pub struct Tests {
    kind: Kind,
    header: Option<Header>,
    tests: Vec<Test>,
}

/// Where the files of a test lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Folder below that of all tests, with `/`; it never leads out of that.
    pub folder: String,
    /// Whether there may be a curve.
    pub may_have_curve: bool,
}

/// The files of a test.
#[derive(Debug, Clone, Copy)]
pub struct Files<'a> {
    /// Text of `mlperf_log_summary.txt`.
    pub summary: &'a str,
    /// `curve.csv`.
    pub curve: Option<Source<'a>>,
}

/// What the page carries.
#[derive(Serialize)]
struct Document<'a> {
    kind: &'static str,
    suite: Option<&'a str>,
    system: Option<&'a str>,
    facts: &'a [Pair],
    deviations: &'a [String],
    columns: Columns,
    tests: Vec<Map<String, Value>>,
    shares: Vec<Share<'a>>,
    shares_svg: Option<String>,
    curves: Vec<Curve<'a>>,
}

/// Those of its tables.
#[derive(Serialize)]
struct Columns {
    tests: Vec<Column>,
    shares: Vec<Column>,
    curves: Vec<Column>,
}

/// Throughput of a task under two loads \[1/s\].
#[derive(Serialize)]
struct Share<'a> {
    task: &'a str,
    server: f64,
    offline: f64,
    share: f64,
}

impl Share<'_> {
    const KEYS: [&'static str; 4] = ["task", "server", "offline", "share"];
}

impl Columns {
    fn of(kind: Kind) -> Self {
        let of = |keys: &[&'static str]| columns::of(keys, columns::TESTS);
        Self { tests: of(&kind.keys()), shares: of(&Share::KEYS), curves: of(&curve::keys()) }
    }
}

impl Tests {
    /// The tests of a table.
    ///
    /// # Errors
    ///
    /// The first place where the table is not what `xrsim mlperf --out` writes, or is of other tests than
    /// the header.
    pub fn read(kind: Kind, source: Source<'_>, header: Option<Header>) -> Result<Self, ReadError> {
        let tests = table::read(kind, source).and_then(|tests| match &header {
            Some(header) => header.check(source, &tests).map(|()| tests),
            None => Ok(tests),
        });
        let tests = tests.map_err(|error| explained(error, header.as_ref()))?;
        Ok(Self { kind, header, tests })
    }

    /// The folder of every test.
    pub fn places(&self) -> impl Iterator<Item = Place> {
        self.tests.iter().map(|test| test.place())
    }

    /// The page; `files` are those of the tests in their order. The same files give the same bytes.
    ///
    /// # Errors
    ///
    /// A curve that is not what `xrsim mlperf --out` writes.
    ///
    /// # Panics
    ///
    /// If there are not as many `files` as tests.
    pub fn page(&self, files: &[Files<'_>]) -> Result<String, ReadError> {
        assert_eq!(files.len(), self.tests.len(), "every test has its files");
        let header = self.header.as_ref();
        let shares = self.shares();
        let document = Document {
            kind: self.kind.name(),
            suite: header.and_then(|it| it.suite.as_deref()),
            system: header.map(|it| &*it.system),
            facts: header.map_or(&[], |it| &it.facts),
            deviations: header.map_or(&[], |it| &it.deviations),
            columns: Columns::of(self.kind),
            tests: (0..files.len()).map(|index| self.row(index, files[index].summary)).collect(),
            shares_svg: self.draw(&shares),
            shares,
            curves: self.curves(files).map_err(|error| explained(error, header))?,
        };
        Ok(page::TESTS.fill(&data::deflated(&document)))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.tests.len()
    }

    fn system(&self) -> &str {
        self.header.as_ref().map_or("", |header| &*header.system)
    }

    /// Cells, reason and summary of a test.
    fn row(&self, index: usize, summary: &str) -> Map<String, Value> {
        let mut row = self.tests[index].cells.clone();
        let reason = self.header.as_ref().and_then(|header| header.reason(index));
        row.insert("reason".into(), reason.into());
        row.insert("summary".into(), summary.into());
        row
    }

    fn curves(&self, files: &[Files<'_>]) -> Result<Vec<Curve<'_>>, ReadError> {
        let curve = |(index, files): (usize, &Files<'_>)| Some(self.curve(index, files.curve?));
        files.iter().enumerate().filter_map(curve).collect()
    }

    fn curve(&self, index: usize, source: Source<'_>) -> Result<Curve<'_>, ReadError> {
        let bound = self.header.as_ref().and_then(|header| header.bound(index));
        Curve::read(source, (self.tests[index].task(), self.system()), bound)
    }

    /// Every task that has both loads, with results that count.
    fn shares(&self) -> Vec<Share<'_>> {
        let of_load = |load: &'static str| {
            let tests = self.tests.iter().filter(move |test| test.load() == Some(load));
            tests.map(|test| (test.task(), test.rate()))
        };
        let offline: HashMap<&str, RateResult> = of_load("offline").collect();
        of_load("server")
            .filter_map(|(task, server)| {
                let offline = *offline.get(task)?;
                let share = server_share(server, offline).ok()?;
                Some(Share { task, server: server.per_s?, offline: offline.per_s?, share })
            })
            .collect()
    }

    /// The shares as a picture, if there are any and one holds as many.
    fn draw(&self, shares: &[Share<'_>]) -> Option<String> {
        let pairs: Vec<_> = shares.iter().map(|it| (it.task, it.share)).collect();
        svg(&server_to_offline(&pairs, self.system())).ok()
    }
}

fn svg(figure: &dyn Figure) -> Result<String, FigureError> {
    let bytes = render(figure, Format::Svg)?;
    String::from_utf8(bytes).map_err(|error| FigureError::Encode(error.to_string()))
}

/// The same error; where the folder is of another version of the program, it says so.
fn explained(error: ReadError, header: Option<&Header>) -> ReadError {
    match header {
        Some(header) => error.in_folder_of(&header.version),
        None => error,
    }
}
