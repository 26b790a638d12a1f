//! Tables of other cost models and of measured chips, as CSV: a layer, a mapping and the numbers of the
//! other side in every row (docs/explanation/cost-model-loop-nest.md, section 10.4).
//!
//! The header decides the kind of a table. Columns of inputs and of numbers are checked. Columns of other
//! results of this program, whose names begin with `xrsim_` or `xr_`, are skipped.

use std::ops::Range;
use std::sync::Arc;

use xrsim_model::dataflow::Directives;

use super::cost_cases::parse_mapping;
use super::cost_csv::{self, rows};
use super::{ConfigError, Problem, Source, nearest};

/// Kind of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrossKind {
    /// Traffic between the buffers of Timeloop.
    TimeloopTraffic,
    /// DRAM traffic of Timeloop, with loops above the shared memory.
    TimeloopDram,
    /// Systolic arrays of SCALE-Sim.
    ScaleSim,
    /// An array with one weight register a PE in ZigZag.
    ZigZag,
    /// The chip Eyeriss.
    Silicon,
    /// The RTL of Gemmini under mappings in the notation of DOSA.
    Gemmini,
    /// Sizes of NVDLA with published frame rates and powers.
    NvdlaSizes,
    /// Layers in the published sheet of NVDLA.
    NvdlaLayers,
    /// Frame rates of networks on Rockchip's NPUs.
    Rockchip,
}

/// Columns of one kind of table. `#` in a name stands for a level, counted from 0.
struct Layout {
    kind: CrossKind,
    /// Tool or chip, for messages.
    title: &'static str,
    /// Column that only tables of this kind have.
    sign: &'static str,
    /// Inputs without a default.
    needed: &'static [&'static str],
    /// Further inputs and remarks.
    optional: &'static [&'static str],
    /// Numbers of the other side.
    numbers: &'static [&'static str],
}

const LAYOUTS: [Layout; 9] = [
    Layout {
        kind: CrossKind::Gemmini,
        title: "Gemmini, RTL",
        sign: "rtl_cycles_this_mapping",
        needed: &[
            "row",
            "c",
            "k",
            "n",
            "p",
            "q",
            "r",
            "s",
            "stride",
            "mapping",
            "spad_bytes",
            "accum_words_per_column",
        ],
        optional: &[],
        numbers: &[
            "rtl_cycles_this_mapping",
            "rtl_cycles_gemmini_own_tiling",
            "timeloop_cycles",
            "timeloop_energy_uj",
        ],
    },
    Layout {
        kind: CrossKind::NvdlaSizes,
        title: "NVDLA, sizes",
        sign: "resnet50_int8_fps",
        needed: &["macs_int8", "conv_buffer_kb", "clock_mhz"],
        optional: &["provenance"],
        numbers: &[
            "dram_gb_per_s",
            "area_mm2_28nm",
            "area_mm2_16nm",
            "resnet50_int8_fps",
            "peak_mw_16nm",
            "average_mw_16nm",
        ],
    },
    Layout {
        kind: CrossKind::NvdlaLayers,
        title: "NVDLA, layers",
        sign: "dram_kib",
        needed: &["layer", "kind", "c", "h", "w", "k", "r", "s", "stride", "p", "q", "leave"],
        optional: &["config", "provenance"],
        numbers: &["dram_kib", "dram_cycles", "mac_cycles", "max_cycles"],
    },
    Layout {
        kind: CrossKind::Rockchip,
        title: "Rockchip, frame rates",
        sign: "rk3588_single_core",
        needed: &["model", "network"],
        optional: &["provenance"],
        numbers: &[
            "rk3566_rk3568",
            "rk3562",
            "rk3588_single_core",
            "rk3576_single_core",
            "rv1109",
            "rv1126",
            "rk1808",
        ],
    },
    Layout {
        kind: CrossKind::TimeloopTraffic,
        title: "Timeloop, traffic",
        sign: "timeloop_cycles",
        needed: &["case", "pes", "N", "G", "K", "C", "P", "Q", "R", "S", "directives"],
        optional: &["stride", "dilation", "differs_because"],
        numbers: &[
            "timeloop_cycles",
            "timeloop_L#_sent_I",
            "timeloop_L#_sent_W",
            "timeloop_L#_fill_I",
            "timeloop_L#_fill_W",
            "timeloop_L#_upd_O",
            "timeloop_L#_acc_O",
            "timeloop_DRAM_rd_I",
            "timeloop_DRAM_rd_W",
            "timeloop_DRAM_upd_O",
            "timeloop_DRAM_rd_O",
            "enumerated_L#_sent_I",
            "enumerated_L#_fill_I",
        ],
    },
    Layout {
        kind: CrossKind::TimeloopDram,
        title: "Timeloop, DRAM",
        sign: "dram_loops",
        needed: &[
            "case",
            "N",
            "G",
            "K",
            "C",
            "P",
            "Q",
            "R",
            "S",
            "dram_loops",
            "directives",
            "l2_bytes",
        ],
        optional: &["stride", "dilation"],
        numbers: &["timeloop_rd_i", "timeloop_rd_w", "timeloop_wr_o", "timeloop_rd_o"],
    },
    Layout {
        kind: CrossKind::ScaleSim,
        title: "SCALE-Sim",
        sign: "scalesim_cycles",
        needed: &["dataflow", "array_rows", "array_cols", "gemm", "M", "N", "K", "directives"],
        optional: &["folds"],
        numbers: &[
            "scalesim_cycles",
            "scalesim_ifmap_reads",
            "scalesim_filter_reads",
            "scalesim_ofmap_writes",
        ],
    },
    Layout {
        kind: CrossKind::ZigZag,
        title: "ZigZag",
        sign: "zz_ideal",
        needed: &["layer", "order", "K", "C", "E", "R", "directives"],
        optional: &["stride"],
        numbers: &[
            "zz_ideal",
            "zz_latency",
            "zz_w_reg_writes",
            "zz_w_sram_reads",
            "zz_i_sram_reads",
            "zz_o_sram_writes",
            "zz_o_sram_psum_reads",
            "zz_dram_w",
            "zz_dram_i",
            "zz_dram_o",
        ],
    },
    Layout {
        kind: CrossKind::Silicon,
        title: "Eyeriss",
        sign: "silicon_processing_ms",
        needed: &["network", "layer", "batch", "repeat", "m", "n", "e", "p", "q", "r", "t"],
        optional: &["mapping_source", "note"],
        numbers: &[
            "silicon_processing_ms",
            "silicon_total_ms",
            "silicon_gmacs",
            "silicon_active_pes",
            "silicon_zero_ifmap",
            "silicon_glb_mb",
            "silicon_dram_mb",
            "silicon_power_mw",
        ],
    },
];

/// Inputs that are text.
const TEXTS: [&str; 17] = [
    "row",
    "mapping",
    "kind",
    "model",
    "config",
    "provenance",
    "case",
    "layer",
    "order",
    "dataflow",
    "gemm",
    "network",
    "dram_loops",
    "mapping_source",
    "note",
    "differs_because",
    "folds",
];

/// A table with checked cells.
#[derive(Debug, Clone)]
pub struct CrossTable {
    /// Kind of all rows.
    pub kind: CrossKind,
    /// Rows, in order; at least one.
    pub rows: Vec<CrossRow>,
}

/// One row.
#[derive(Debug, Clone)]
pub struct CrossRow {
    /// Line of the row, counted from 1.
    pub line: usize,
    names: Arc<[String]>,
    cells: Vec<(Range<usize>, Value)>,
}

#[derive(Debug, Clone)]
enum Value {
    /// An empty cell, or one that is skipped.
    Empty,
    /// An extent or size, at least 1.
    Extent(u32),
    /// A number of the other side.
    Number(f64),
    Text(Box<str>),
    Mapping(Box<str>, Directives),
}

impl CrossRow {
    fn value(&self, name: &str) -> &Value {
        let index = self.names.iter().position(|known| known == name);
        index.map_or(&Value::Empty, |index| &self.cells[index].1)
    }

    /// An extent or size; 1 if the column is absent or the cell empty.
    pub fn extent(&self, name: &str) -> u32 {
        match self.value(name) {
            Value::Extent(extent) => *extent,
            _ => 1,
        }
    }

    /// A number of the other side; `None` if the column is absent or the cell empty.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.value(name) {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// A text; empty if the column is absent.
    pub fn text(&self, name: &str) -> &str {
        match self.value(name) {
            Value::Text(text) => text,
            _ => "",
        }
    }

    /// The column `directives`; an empty cell is one level without maps.
    pub fn directives(&self) -> Directives {
        match self.value("directives") {
            Value::Mapping(_, directives) => directives.clone(),
            _ => Directives::default(),
        }
    }

    /// The same below an off-chip level with these directives, each followed by `;`.
    ///
    /// # Errors
    ///
    /// A problem of the row if the two do not fit together.
    pub fn directives_below(&self, off_chip: &str) -> Result<Directives, Problem> {
        let own = match self.value("directives") {
            Value::Mapping(text, _) => text,
            _ => "",
        };
        parse_mapping(&format!("{off_chip} OffChip; {own}")).map_err(|problems| {
            let messages: Vec<_> = problems.into_iter().map(|problem| problem.message).collect();
            self.problem("directives", messages.join("; "))
        })
    }

    /// A problem of the cell in column `name`.
    pub fn problem(&self, name: &str, message: impl Into<String>) -> Problem {
        let index = self.names.iter().position(|known| known == name).unwrap_or(0);
        Problem::new(self.cells[index].0.clone(), message)
    }
}

/// Reads a table.
///
/// # Errors
///
/// [`ConfigError::Invalid`] with every problem of the header, or of all rows if the header is right.
pub fn read(source: &Arc<Source>) -> Result<CrossTable, ConfigError> {
    read_text(source.text()).map_err(|problems| invalid(source, problems))
}

/// Error of a table with these problems.
pub fn invalid(source: &Arc<Source>, mut problems: Vec<Problem>) -> ConfigError {
    problems.sort_by_key(|problem| problem.span.start);
    ConfigError::Invalid { file: Arc::clone(source), problems }
}

fn read_text(text: &str) -> Result<CrossTable, Vec<Problem>> {
    let mut rows = rows(text);
    let Some(header) = rows.next() else {
        return Err(vec![Problem::new(0..0, "the table is empty")]);
    };
    let layout = layout(&header).map_err(|problem| vec![problem])?;
    layout.check(&header)?;
    let names: Arc<[String]> = header.cells.iter().map(str::to_owned).collect();
    let (mut table, mut problems) = (Vec::new(), Vec::new());
    let mut lines = super::cost_cases::Lines::new(text);
    for row in rows {
        let line = lines.at(row.line().start);
        match cells(&row, &names) {
            Ok(cells) => table.push(CrossRow { line, names: Arc::clone(&names), cells }),
            Err(found) => problems.extend(found),
        }
    }
    if table.is_empty() && problems.is_empty() {
        problems.push(Problem::new(text.len()..text.len(), "the table has no rows"));
    }
    if problems.is_empty() {
        Ok(CrossTable { kind: layout.kind, rows: table })
    } else {
        Err(problems)
    }
}

/// The layout that a header belongs to.
fn layout(header: &cost_csv::Row<'_>) -> Result<&'static Layout, Problem> {
    let has = |sign: &str| header.cells.iter().any(|name| name == sign);
    LAYOUTS.iter().find(|layout| has(layout.sign)).ok_or_else(|| {
        let known = LAYOUTS.iter().map(|layout| format!("`{}` ({})", layout.sign, layout.title));
        let known: Vec<_> = known.collect();
        let problem = Problem::new(header.line(), "the header belongs to no kind of table");
        problem.help(format!("one of these columns is needed: {}", known.join(", ")))
    })
}

impl Layout {
    fn columns(&self) -> impl Iterator<Item = &'static str> {
        self.needed.iter().chain(self.optional).chain(self.numbers).copied()
    }

    fn check(&self, header: &cost_csv::Row<'_>) -> Result<(), Vec<Problem>> {
        let mut problems = Vec::new();
        for (index, name) in header.cells.iter().enumerate() {
            let pattern = pattern(name);
            if header.cells.iter().take(index).any(|other| other == name) {
                problems.push(header.problem(index, format!("column `{name}` is named twice")));
            } else if !is_skipped(name) && self.columns().all(|known| known != pattern) {
                let problem = header.problem(index, format!("unknown column `{name}`"));
                problems.push(match nearest(&pattern, self.columns()) {
                    Some(near) => problem.help(format!("did you mean `{near}`?")),
                    None => problem,
                });
            }
        }
        for name in self.needed.iter().filter(|&&name| header.cells.iter().all(|it| it != name)) {
            problems.push(Problem::new(header.line(), format!("no column `{name}`")));
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

/// `name` with `#` in place of the number of a level.
fn pattern(name: &str) -> String {
    let Some((before, after)) = name.split_once("_L") else {
        return name.to_owned();
    };
    let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits != 1 { name.to_owned() } else { format!("{before}_L#{}", &after[1..]) }
}

/// Whether a column holds other results of this program.
fn is_skipped(name: &str) -> bool {
    name.starts_with("xrsim_") || name.starts_with("xr_")
}

fn cells(
    row: &cost_csv::Row<'_>,
    names: &[String],
) -> Result<Vec<(Range<usize>, Value)>, Vec<Problem>> {
    row.check_width(names.len()).map_err(|problem| vec![problem])?;
    let (mut cells, mut problems) = (Vec::new(), Vec::new());
    for (index, name) in names.iter().enumerate() {
        let span = row.cell(index);
        match value(name, &row.cells[index], &span) {
            Ok(value) => cells.push((span, value)),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() { Ok(cells) } else { Err(problems) }
}

fn value(name: &str, text: &str, span: &Range<usize>) -> Result<Value, Vec<Problem>> {
    if is_skipped(name) || text.is_empty() {
        return Ok(Value::Empty);
    }
    let problem = |message: String| vec![Problem::new(span.clone(), message)];
    if TEXTS.contains(&name) {
        return Ok(Value::Text(text.into()));
    }
    if name == "directives" {
        let levels = parse_mapping(text).map_err(|problems| {
            let place = |it: Problem| format!("{} in `{}`", it.message, &text[it.span]);
            problems.into_iter().map(|it| Problem::new(span.clone(), place(it))).collect::<Vec<_>>()
        });
        return levels.map(|directives| Value::Mapping(text.into(), directives));
    }
    let is_number = LAYOUTS.iter().flat_map(|layout| layout.numbers).any(|it| *it == pattern(name));
    if is_number {
        let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
        let message = || problem(format!("`{text}` is not a number of at least 0"));
        return number.map(Value::Number).ok_or_else(message);
    }
    let extent = text.parse().ok().filter(|&extent: &u32| extent >= 1);
    let message = || problem(format!("`{text}` is not a whole number from 1 to {}", u32::MAX));
    extent.map(Value::Extent).ok_or_else(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<CrossTable, String> {
        super::read(&Source::new("rows.csv", text)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_header_decides_the_kind_and_levels_are_numbered() {
        let text = "case,pes,N,G,K,C,P,Q,R,S,directives,timeloop_cycles,timeloop_L1_sent_I,xrsim_x\n\
                    a,2,1,1,2,3,1,1,1,1,\"SpatialMap(1,1) K\",3,,what\n";
        let table = read(text).expect("it is right");
        assert_eq!(table.kind, CrossKind::TimeloopTraffic);
        let row = &table.rows[0];
        assert_eq!([row.extent("C"), row.extent("stride")], [3, 1]);
        assert_eq!(row.number("timeloop_cycles"), Some(3.0));
        assert_eq!(row.number("timeloop_L1_sent_I"), None);
        assert_eq!((row.line, row.directives().levels.len()), (2, 1));
    }

    #[test]
    fn problems_name_line_column_and_the_nearest_name() {
        let header = "layer,order,K,C,E,R,directives,zz_ideal";
        let error = read(&format!("{header},zz_latencey\n")).expect_err("a name is wrong");
        assert!(error.contains("rows.csv:1:"), "{error}");
        assert!(error.contains("did you mean `zz_latency`?"), "{error}");
        let row = "a,b,0,x,3,3,Spatial(1) K,-2";
        let error = read(&format!("{header}\n{row}\n")).expect_err("four cells are wrong");
        for place in ["rows.csv:2:5:", "rows.csv:2:7:", "rows.csv:2:13:", "rows.csv:2:26:"] {
            assert!(error.contains(place), "{place} is not in {error}");
        }
        let error = read("a,b\n1,2\n").expect_err("no kind");
        assert!(error.contains("`dram_loops` (Timeloop, DRAM)"), "{error}");
        assert!(read(header).expect_err("no rows").contains("the table has no rows"));
        assert!(read("").expect_err("nothing").contains("the table is empty"));
        let short = read(&format!("{header}\na,b\n")).expect_err("cells are missing");
        assert!(short.contains("2 cells under 8 columns"), "{short}");
    }
}
