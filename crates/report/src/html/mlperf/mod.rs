//! HTML page of load tests, from the files of `xrsim mlperf --out`.
//!
//! ```text
//! mlperf.json ──────────────── header ─┐
//! suite.csv or tenants.csv ─── table ──┼─ page
//! TASK/LOAD/mlperf_log_summary.txt ────┤
//! TASK/server/curve.csv ────── curve ──┘
//! ```
//!
//! [`Tests::read`] checks the table, [`Tests::places`] gives the folders of the other files, and
//! [`Tests::page`] takes their texts. Figures are drawn here from the numbers; pictures in the folder are not
//! used.

mod curve;
mod header;
mod table;

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::mlperf::{CURVE_COLUMNS, RateResult, server_share, server_to_offline};
use xrsim_figures::{Figure, FigureError, Format, render};

use super::columns::{self, Column};
use super::provenance::Pair;
use super::{ReadError, Source, page};

pub use header::Header;
pub use table::Kind;

use curve::Curve;
use table::Test;

/// Tests of a folder.
#[derive(Debug)]
pub struct Tests {
    kind: Kind,
    header: Option<Header>,
    tests: Vec<Test>,
}

/// Place of the files of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Path below the folder of all tests, with `/`; it never leads out of that folder.
    pub folder: String,
    /// Whether the test may have a curve.
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

/// Data of the page.
#[derive(Serialize)]
struct Document<'a> {
    kind: &'static str,
    suite: Option<&'a str>,
    system: Option<&'a str>,
    command: Option<&'a str>,
    facts: &'a [Pair],
    deviations: &'a [String],
    columns: Columns,
    tests: Vec<Map<String, Value>>,
    shares: Vec<Share<'a>>,
    shares_svg: Option<String>,
    curves: Vec<Curve<'a>>,
}

/// Columns of the tables of the page.
#[derive(Serialize)]
struct Columns {
    tests: Vec<Column>,
    shares: Vec<Column>,
    curves: Vec<Column>,
}

/// Throughput of a task under two loads \[1/s\], and their ratio.
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
        Self { tests: of(kind.keys()), shares: of(&Share::KEYS), curves: of(&CURVE_COLUMNS) }
    }
}

impl Tests {
    /// The tests of a table.
    ///
    /// # Errors
    ///
    /// The first place at which the table differs from those of `xrsim mlperf --out`, or tests that are not
    /// those of the header.
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

    /// Page of the tests with `files`, in their order. Equal files give equal bytes.
    ///
    /// # Errors
    ///
    /// The first place at which a curve differs from those of `xrsim mlperf --out`.
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
            command: header.and_then(|it| it.command.as_deref()),
            facts: header.map_or(&[], |it| &it.facts),
            deviations: header.map_or(&[], |it| &it.deviations),
            columns: Columns::of(self.kind),
            tests: (0..files.len()).map(|index| self.row(index, files[index].summary)).collect(),
            shares_svg: self.draw(&shares),
            shares,
            curves: self.curves(files).map_err(|error| explained(error, header))?,
        };
        Ok(page::Kind::Tests.fill(&page::deflated(&document)))
    }

    /// Number of tests.
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
        let RateResult { per_s, is_valid } = self.tests[index].rate();
        let limits = (bound, per_s.filter(|_| is_valid));
        Curve::read(source, (self.tests[index].task(), self.system()), limits)
    }

    /// Shares of every task that has both loads, with valid results.
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

    /// Figure of the shares, if there are any and a figure holds that many.
    fn draw(&self, shares: &[Share<'_>]) -> Option<String> {
        let pairs: Vec<_> = shares.iter().map(|it| (it.task, it.share)).collect();
        svg(&server_to_offline(&pairs, self.system())).ok()
    }
}

fn svg(figure: &dyn Figure) -> Result<String, FigureError> {
    let bytes = render(figure, Format::Svg)?;
    String::from_utf8(bytes).map_err(|error| FigureError::Encode(error.to_string()))
}

/// The error with a hint if another version of the program wrote the folder.
fn explained(error: ReadError, header: Option<&Header>) -> ReadError {
    match header {
        Some(header) => error.in_folder_of(&header.version),
        None => error,
    }
}
