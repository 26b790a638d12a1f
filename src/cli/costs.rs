//! Cost models and accelerators as the command line names them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::config::{Catalog, Kind, cost_csv, nearest};
use crate::cost::table::{CostRecords, Pair, style};
use crate::cost::{self, CostModel};
use crate::dataflow::Dataflow;
use crate::figures::counted;
use crate::hardware::platform::{Instance, Platform};
use crate::hardware::{Accelerator, System};
use crate::renamed;
use crate::text;

use super::message::{Failure, hint, say};

/// A cost model and the name that results give it.
pub struct CostChoice {
    /// Name.
    pub name: String,
    /// Model.
    pub model: Box<dyn CostModel>,
    /// The table that it is, of measurements.
    table: Option<Table>,
}

/// A table of measurements with its places in the file.
struct Table {
    file: String,
    records: CostRecords,
    /// Line of every record.
    lines: Vec<usize>,
}

impl CostChoice {
    /// Warns of rows of a table of measurements that say nothing of these networks and accelerators, where
    /// that looks like a slip: names that nothing has, and accelerators that are named twice.
    pub fn warn<'n, 'a>(
        &self,
        catalog: &Catalog,
        networks: impl Iterator<Item = &'n str>,
        accelerators: impl Iterator<Item = &'a Accelerator>,
    ) {
        let Some(table) = &self.table else { return };
        let networks: BTreeSet<&str> = networks.collect();
        let accelerators: Vec<&Accelerator> = accelerators.collect();
        let warnings = [
            table.named_twice(&networks, &accelerators),
            table.unknown_networks(catalog, &networks),
            table.unknown_accelerators(catalog, &accelerators),
        ];
        for warning in warnings.into_iter().flatten() {
            say(format_args!("warning: {warning}"));
        }
    }
}

impl Table {
    fn place(&self, record: usize) -> String {
        format!("{}:{}", self.file, self.lines[record])
    }

    fn named_twice(
        &self,
        networks: &BTreeSet<&str>,
        accelerators: &[&Accelerator],
    ) -> Option<String> {
        let mut twice = Vec::new();
        for network in networks {
            for at in accelerators {
                let records = self.records.named_twice(network, at);
                twice.extend(records.map(|records| (records, *network, *at)));
            }
        }
        let &([by_name, by_style], network, at) =
            twice.iter().min_by_key(|(records, ..)| *records)?;
        let pairs: BTreeSet<_> = twice.iter().map(|(records, ..)| *records).collect();
        Some(format!(
            "{}: `{}` counts for network `{}`, not `{}` in line {}, which is the same accelerator{}",
            self.place(by_name),
            text::in_line(&at.name),
            text::in_line(network),
            text::in_line(&style(at)),
            self.lines[by_style],
            more(pairs.len() - 1, "pair"),
        ))
    }

    fn unknown_networks(&self, catalog: &Catalog, used: &BTreeSet<&str>) -> Option<String> {
        let mut known = catalog.names(Kind::Network);
        known.extend(catalog.mlperf_networks());
        known.extend(used.iter().map(|name| (*name).into()));
        let is_known = |pair: &Pair<'_>| known.iter().any(|name| **name == *pair.network);
        self.unknown("network", is_known, |pair| pair.network, &known)
    }

    fn unknown_accelerators(&self, catalog: &Catalog, used: &[&Accelerator]) -> Option<String> {
        let mut dataflows = catalog.names(Kind::Dataflow);
        dataflows.extend(used.iter().map(|at| at.dataflow.name().into()));
        let known: Vec<_> = used.iter().flat_map(|at| [at.name.to_string(), style(at)]).collect();
        // Tables may have rows for other systems than those of a command.
        let is_of_dataflow = |name: &str| {
            let parts = name.split_once('@').or_else(|| name.rsplit_once('-'));
            parts.is_some_and(|(dataflow, number)| {
                number.parse::<u32>().is_ok() && dataflows.iter().any(|known| known == dataflow)
            })
        };
        let is_known = |pair: &Pair<'_>| {
            known.iter().any(|name| **name == *pair.accelerator) || is_of_dataflow(pair.accelerator)
        };
        self.unknown("accelerator", is_known, |pair| pair.accelerator, &known)
    }

    /// Says once of all pairs that are not known which comes first, and how many rows there are.
    fn unknown<'a>(
        &'a self,
        what: &str,
        is_known: impl Fn(&Pair<'_>) -> bool,
        name: impl Fn(&Pair<'a>) -> &'a str,
        known: &[String],
    ) -> Option<String> {
        let unknown: Vec<_> =
            self.records.pairs().into_iter().filter(|pair| !is_known(pair)).collect();
        let first = unknown.first()?;
        let near = nearest(name(first), known.iter().map(String::as_str));
        let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        let n_rows = unknown.iter().map(|pair| pair.n_records).sum::<usize>();
        Some(format!(
            "{}: no {what} is called `{}`, and the row is left aside{}{hint}",
            self.place(first.first),
            text::in_line(name(first)),
            more(n_rows - 1, "row"),
        ))
    }
}

/// How many more there are of something.
fn more(count: usize, noun: &str) -> String {
    match count {
        0 => String::new(),
        _ => format!(" ({} more like it)", counted(count, noun)),
    }
}

/// The cost model called `text`, or the table of measurements in the CSV file `text`.
///
/// # Errors
///
/// An unknown name, or a file that cannot be used.
pub fn choose(catalog: &mut Catalog, text: &str) -> Result<CostChoice, Failure> {
    let (text, renamed) = renamed::current(&cost::RENAMED, text);
    renamed.into_iter().for_each(hint);
    if let Some(entry) = cost::ALL.iter().find(|entry| entry.name == text) {
        let Some(build) = entry.build else {
            let message = format!("cost model `{text}` needs data: give the CSV file in its place");
            return Err(Failure::Argument(message));
        };
        return Ok(CostChoice { name: text.into(), model: build(), table: None });
    }
    if Path::new(text).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
        let source = catalog.read(Path::new(text))?;
        let records = cost_csv::parse(&source)?;
        let name = Path::new(text).file_name().map_or(text.into(), |name| name.to_string_lossy());
        let lines = cost_csv::lines(&source);
        let table = Table { file: text.into(), records: records.clone(), lines };
        let model = Box::new(records);
        return Ok(CostChoice { name: format!("table:{name}"), model, table: Some(table) });
    }
    Err(super::unknown("cost model", text, cost::ALL.iter().map(|entry| entry.name)))
}

/// The system of `instances`, the i-th running the i-th dataflow, with the platform's clock and
/// energy. Instances beyond the last dataflow stay unused, as in the published artifact.
///
/// # Errors
///
/// Without dataflows or with more of them than instances, or what [`System::new`] says.
pub fn pair(
    name: &str,
    instances: &[Instance],
    dataflows: &[Arc<Dataflow>],
    platform: &Platform,
) -> Result<System, Failure> {
    if dataflows.is_empty() || dataflows.len() > instances.len() {
        return Err(Failure::Argument(format!(
            "{name} has {} accelerators and is given {} dataflows; each runs one dataflow (--dataflow, \
             in order)",
            instances.len(),
            dataflows.len()
        )));
    }
    let accelerators = instances
        .iter()
        .zip(dataflows)
        .map(|(instance, dataflow)| instance.with(instance.name.clone(), dataflow, platform))
        .collect();
    let stem = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
    if !text::is_name(&stem) {
        let message = format!("{name}: the system has the name of its file; {}", text::NAME_RULE);
        return Err(Failure::Argument(message));
    }
    System::new(stem, accelerators).map_err(super::argument)
}
