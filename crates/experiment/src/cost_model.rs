//! Cost models by name, by file or as a value.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use xrsim_config::{Catalog, Kind, LIMITED_KEYS, Source, cost_csv, nearest};
use xrsim_model::cost::loop_nest::{ChosenLoopNest, Family, LoopNest};
use xrsim_model::cost::table::{CostRecords, Pair, style};
use xrsim_model::cost::{self, CostModel, Joined};
use xrsim_model::hardware::{Accelerator, CostOrigin};
use xrsim_model::mapper::{Chooser, Effort, Store};
use xrsim_model::renamed;
use xrsim_model::text;
use xrsim_model::text::counted;

use super::{ExperimentError, Settings};

/// A cost model and its name in results.
#[derive(Clone)]
pub struct NamedCostModel {
    /// Name in results.
    pub name: String,
    /// Cost model.
    pub model: Arc<dyn CostModel>,
    /// Table of a cost model of measurements.
    table: Option<Arc<Table>>,
    /// Whether the table comes with the program, so that its names are no slips.
    is_shipped: bool,
    /// Work of the search for mappings; `None` if the model does not choose them, or is one of the caller's.
    effort: Option<Effort>,
    /// Accelerators whose choices are compared; `None` if each chooses alone.
    family: Option<Arc<Family>>,
}

impl fmt::Debug for NamedCostModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The cost model `loop-nest` whose mappings are chosen with this effort.
fn loop_nest(effort: Effort) -> Arc<dyn CostModel> {
    let chooser = Chooser::new(effort, Store::of_process());
    Arc::new(ChosenLoopNest::new(Arc::new(chooser)))
}

/// A table of measurements with its places in the file.
#[derive(Clone)]
struct Table {
    file: String,
    records: Arc<CostRecords>,
    /// Line of every record.
    lines: Vec<usize>,
    /// How far distributions are from the quantiles of the table.
    misfit: Option<String>,
    /// Work of the search for mappings of accelerators beside processors.
    effort: Effort,
}

impl NamedCostModel {
    /// A cost model of the caller's, called `name` in results.
    pub fn own(name: impl Into<String>, model: impl CostModel + 'static) -> Self {
        Self::shared(name, Arc::new(model))
    }

    /// The cost model `model`, called `name` in results.
    pub(crate) fn shared(name: impl Into<String>, model: Arc<dyn CostModel>) -> Self {
        let model = Arc::new(Joined::alone(model));
        Self {
            name: name.into(),
            model,
            table: None,
            is_shipped: false,
            effort: None,
            family: None,
        }
    }

    /// The cost model called `text`, or the table of measurements in the CSV file `text`. Adds an old name
    /// to those of `catalog`.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Config`] if the name is unknown or the file is wrong;
    /// [`ExperimentError::Conflict`] if the model needs a file.
    pub fn find(catalog: &mut Catalog, text: &str) -> Result<Self, ExperimentError> {
        let (text, renamed) = renamed::current(&cost::RENAMED, text);
        renamed.into_iter().for_each(|renamed| catalog.note(renamed));
        if let Some(entry) = cost::ALL.iter().find(|entry| entry.name == text) {
            let Some(build) = entry.build else {
                let message = format!("cost model `{text}` needs data: give the CSV file instead");
                return Err(ExperimentError::Conflict(message));
            };
            return Ok(match entry.name {
                LoopNest::NAME => Self::chosen(Effort::default()),
                _ => Self::shared(text, build().into()),
            });
        }
        if let Some(source) = cost_csv::shipped(text) {
            let shipped = Self::of_source(catalog, text, &source)?;
            return Ok(Self { is_shipped: true, ..shipped });
        }
        let path = Path::new(text);
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
            return Self::of_file(catalog, path);
        }
        let known = cost::ALL.iter().map(|entry| entry.name).chain(cost_csv::shipped_names());
        Err(ExperimentError::unknown("cost model", text, known))
    }

    /// The cost model `loop-nest` whose mappings are chosen with this effort.
    fn chosen(effort: Effort) -> Self {
        let model = Arc::new(Joined::alone(loop_nest(effort)));
        Self {
            name: LoopNest::NAME.into(),
            model,
            table: None,
            is_shipped: false,
            effort: Some(effort),
            family: None,
        }
    }

    /// The same cost model for the accelerators of a command, whose choices of mappings are compared, unless
    /// there are too many. The same one if it chooses no mappings.
    #[must_use]
    pub fn among(&self, family: Family) -> Self {
        let Some(effort) = self.effort.filter(|_| !family.is_too_large() && family.is_related())
        else {
            return self.alone();
        };
        let chooser = Chooser::new(effort, Store::of_process());
        let model = Arc::new(ChosenLoopNest::among(Arc::new(chooser), family.clone()));
        Self {
            model: Arc::new(Joined::alone(model)),
            family: Some(Arc::new(family)),
            ..self.clone()
        }
    }

    /// The same cost model whose accelerators choose mappings each for itself.
    #[must_use]
    pub fn alone(&self) -> Self {
        match (self.effort, &self.family) {
            (Some(effort), Some(_)) => Self::chosen(effort),
            _ => self.clone(),
        }
    }

    /// Note that the choices of too many accelerators are not compared; `None` if the model chooses no mappings.
    pub(super) fn note_alone(&self) -> Option<String> {
        self.effort.map(|_| {
            let most = Family::MOST;
            format!(
                "more than {most} accelerators: each chooses mappings alone, so that one with more hardware may have \
                 worse ones"
            )
        })
    }

    /// The same cost model with this effort of its search for mappings, if it has one.
    pub fn with_effort(self, effort: Effort) -> Self {
        match (self.effort, &self.table) {
            (Some(_), _) => Self::chosen(effort),
            (None, Some(table)) => Self {
                is_shipped: self.is_shipped,
                ..Self::of_table(self.name, Table { effort, ..Table::clone(table) })
            },
            (None, None) => self,
        }
    }

    /// Work of the search for mappings, if the model is one of the program that chooses them.
    pub(crate) fn effort(&self) -> Option<Effort> {
        self.effort
    }

    fn of_file(catalog: &mut Catalog, path: &Path) -> Result<Self, ExperimentError> {
        let source = catalog.read(path)?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        Self::of_source(catalog, &name, &source)
    }

    /// The table `source`, called `name`.
    fn of_source(
        catalog: &mut Catalog,
        name: &str,
        source: &Arc<Source>,
    ) -> Result<Self, ExperimentError> {
        let folder = Path::new(source.name()).parent().unwrap_or(Path::new(""));
        let mut open = |name: &str| catalog.read(&folder.join(name));
        let records = cost_csv::parse_with(source, &mut open)?;
        let lines = cost_csv::lines(source);
        let file = source.name().to_string();
        let table = Table {
            file,
            records: Arc::new(records),
            lines,
            misfit: cost_csv::tail_misfit(source),
            effort: Effort::default(),
        };
        Ok(Self::of_table(format!("table:{name}"), table))
    }

    /// The rows of a table, and `loop-nest` for networks without a row on accelerators beside processors.
    fn of_table(name: String, table: Table) -> Self {
        let model = Joined::of_rows(Arc::clone(&table.records), loop_nest(table.effort));
        let table = Some(Arc::new(table));
        Self { name, model: Arc::new(model), table, is_shipped: false, effort: None, family: None }
    }

    /// Whether costs are rows of a table.
    pub fn is_table(&self) -> bool {
        self.table.is_some()
    }

    /// Whether the table, if there is one, has an energy in any row.
    pub(super) fn has_energies(&self) -> bool {
        self.table.as_ref().is_none_or(|table| table.records.has_energies())
    }

    /// Whether latencies of a network differ from request to request.
    pub(super) fn draws<'n>(&self, mut networks: impl Iterator<Item = &'n str>) -> bool {
        self.table.as_ref().is_some_and(|table| networks.any(|name| table.records.draws(name)))
    }

    /// Whether an accelerator chooses mappings.
    pub(super) fn chooses_mappings_on(&self, accelerator: &Accelerator) -> bool {
        let is_joined = accelerator.origin == CostOrigin::RowOrModel && self.table.is_some();
        self.model.chooses_mappings() || is_joined
    }

    /// Warning that flexibility has no effect; `None` if accelerators choose mappings.
    pub fn fixed_mappings(&self) -> Option<String> {
        let name = &self.name;
        let is_fixed = !self.model.chooses_mappings();
        is_fixed.then(|| {
            format!("the cost model `{name}` has no choice of mappings: flexibility has no effect")
        })
    }

    /// Warnings about keys of hardware, in files of `catalog` and among `settings`, of which the cost model makes no use.
    /// None for a table or a model of the caller's.
    pub fn unused_keys(&self, catalog: &Catalog, settings: &Settings) -> Vec<String> {
        if !self.is_built_in() {
            return Vec::new();
        }
        let of_settings = LIMITED_KEYS.iter().filter_map(|it| {
            let name = it.setting.filter(|name| settings.has(name))?;
            let is_unused = it.unused_by.contains(&&*self.name);
            is_unused.then(|| format!("the cost model `{}` makes no use of `{name}`", self.name))
        });
        catalog.unused_keys(&self.name).into_iter().chain(of_settings).collect()
    }

    /// Whether the model is one of the program, and not a table or a model of the caller's.
    pub(super) fn is_built_in(&self) -> bool {
        self.table.is_none() && cost::ALL.iter().any(|entry| entry.name == self.name)
    }

    /// Whether `other` is the same cost model, for the same accelerators if choices are compared.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let has_family_of = match (&self.family, &other.family) {
            (None, None) => true,
            (Some(a), Some(b)) => a.is_same(b),
            _ => false,
        };
        has_family_of && self.is_alike(other)
    }

    /// Whether `other` is the same cost model, for whatever accelerators.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        let file = |it: &Self| it.table.as_ref().map(|table| (table.file.clone(), table.effort));
        self.name == other.name && file(self) == file(other) && self.effort == other.effort
    }

    /// Warnings about rows of a table of measurements that match none of these networks and
    /// accelerators, where that looks like a slip: unknown names, and accelerators named twice.
    pub fn warnings<'n, 'a>(
        &self,
        catalog: &Catalog,
        networks: impl Iterator<Item = &'n str>,
        accelerators: impl Iterator<Item = &'a Accelerator>,
    ) -> Vec<String> {
        let Some(table) = self.table.as_ref().filter(|_| !self.is_shipped) else {
            return Vec::new();
        };
        let networks: BTreeSet<&str> = networks.collect();
        let accelerators: Vec<&Accelerator> = accelerators.collect();
        let warnings = [
            table.misfit.clone(),
            table.named_twice(&networks, &accelerators),
            table.unknown_networks(catalog, &networks),
            table.unknown_accelerators(catalog, &accelerators),
        ];
        warnings.into_iter().flatten().collect()
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

    /// Names the first of all unknown pairs, and counts their rows.
    fn unknown<'a>(
        &'a self,
        kind: &str,
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
            "{}: no {kind} is called `{}`, and the row is left aside{}{hint}",
            self.place(first.first),
            text::in_line(name(first)),
            more(n_rows - 1, "row"),
        ))
    }
}

/// Number of further items in words; empty without any.
fn more(count: usize, noun: &str) -> String {
    match count {
        0 => String::new(),
        _ => format!(" ({} more like it)", counted(count, noun)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xrsim_model::cost::loop_nest::LoopNest;

    #[test]
    fn an_effort_makes_another_model_of_those_that_search_for_mappings_only() {
        let mut catalog = Catalog::new();
        let mut with = |name: &str, effort| {
            NamedCostModel::find(&mut catalog, name).expect("it exists").with_effort(effort)
        };
        let [quick, full] = [Effort::QUICK, Effort::FULL].map(|effort| with("loop-nest", effort));
        assert!(!quick.is_same(&full) && quick.is_same(&quick.clone()));
        assert_eq!((&*full.name, full.effort), ("loop-nest", Some(Effort::FULL)));
        let [quick, full] = [Effort::QUICK, Effort::FULL].map(|effort| with("roofline", effort));
        assert!(quick.is_same(&full));
        let own = NamedCostModel::own("loop-nest", LoopNest).with_effort(Effort::FULL);
        assert_eq!(own.effort, None, "a model of the caller's stays");
    }
}
