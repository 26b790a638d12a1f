//! Topologies of SCALE-Sim: networks as CSV, a row for each layer in the order of execution.
//!
//! ```text
//! Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,
//! Conv1, 227, 227, 11, 11, 3, 96, 4,
//! ```
//!
//! Inputs have their padding in them. A ninth column has the horizontal stride if it is another one. A layer with `DP` in
//! its name is depthwise: every channel has its own filters. The second form has products of an MxK matrix of inputs
//! and a KxN matrix of weights, under the header `Layer, M, N, K,`. Columns have this order; a comma may end each row.
//!
//! Source: `topology_utils.py` of SCALE-Sim 2.0. **Deviation**: SCALE-Sim counts a last window that ends outside of the
//! input, and a convolution here has none.

use std::ops::Range;
use std::sync::Arc;

use xrsim_model::model::{Connections, ConvKind, ConvShape, Layer, MatmulShape, Network, Operator};
use xrsim_model::text::{NAME_RULE, is_name};

use super::cost_csv::{Row, rows};
use super::document::Document;
use super::format::{Contents, Format, References};
use super::network::Model;
use super::yaml::read::printable;
use super::{ConfigError, Kind, Problem, extensions};

/// Topologies of SCALE-Sim.
pub(super) const FORMAT: Format = Format {
    name: "SCALE-Sim",
    extensions: extensions::CSV,
    kinds: &[Kind::Network],
    has_members: false,
    recognise: |_, _| Ok(Kind::Network),
    read,
};

/// Columns of convolutions; the last one may be missing.
const CONVOLUTIONS: [&str; 9] = [
    "Layer name",
    "IFMAP Height",
    "IFMAP Width",
    "Filter Height",
    "Filter Width",
    "Channels",
    "Num Filter",
    "Strides",
    "Stride Width",
];

/// Columns of matrix products.
const PRODUCTS: [&str; 4] = ["Layer", "M", "N", "K"];

/// Other spellings of columns.
const SPELLINGS: [(&str, &str); 5] = [
    ("Layer", "Layer name"),
    ("Layer name", "Layer"),
    ("Num Filters", "Num Filter"),
    ("Stride", "Strides"),
    ("Stride Height", "Strides"),
];

fn read(file: &Document, _: Kind, _: &mut dyn References) -> Result<Contents, ConfigError> {
    let text = file.source.text();
    let layers = layers(text).map_err(|problems| file.invalid(problems))?;
    let stem = file.stem();
    let name = if is_name(&stem) { stem } else { "network".into() };
    let network = Network::new(name, layers);
    let network =
        network.map_err(|error| file.invalid(vec![Problem::new(0..0, error.to_string())]))?;
    // Pools and sums are left out of the format.
    let network = network.connected(Connections::Incomplete);
    Ok(Contents::Networks(vec![Arc::new(Model::bare(Arc::new(network)))]))
}

/// Layers of a topology, or every problem of its header, or of its rows.
fn layers(text: &str) -> Result<Vec<Layer>, Vec<Problem>> {
    let mut rows = rows(text);
    let form = Form::of_header(rows.next())?;
    let (mut layers, mut problems) = (Vec::new(), Vec::new());
    for row in rows {
        match form.layer(&row) {
            Ok(layer) => layers.push(layer),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(layers) } else { Err(problems) }
}

/// Form of a topology, by its header.
struct Form {
    columns: &'static [&'static str],
    is_of_products: bool,
}

impl Form {
    fn of_header(header: Option<Row<'_>>) -> Result<Self, Vec<Problem>> {
        let [convolutions, products] = [&CONVOLUTIONS[..8], &PRODUCTS].map(|it| it.join(", "));
        let help = format!(
            "a CSV file that is a network is a topology of SCALE-Sim, with the columns {convolutions}; or {products}"
        );
        let Some(header) = header else {
            return Err(vec![Problem::new(0..0, "the file is empty").help(help)]);
        };
        let n_columns = width(&header);
        let is_of_products = header.cells.get(1).is_some_and(|it| is_spelt(it, "M"));
        let known: &[&str] = if is_of_products { &PRODUCTS } else { &CONVOLUTIONS };
        let least = if is_of_products { PRODUCTS.len() } else { CONVOLUTIONS.len() - 1 };
        let is_known =
            |at: usize| known.get(at).is_some_and(|name| is_spelt(&header.cells[at], name));
        if let Some(at) = (0..n_columns).find(|&at| !is_known(at)) {
            let found = printable(&header.cells[at]);
            let message = match known.get(at) {
                Some(name) => format!("column {} is `{found}`, not `{name}`", at + 1),
                None => format!("a column `{found}` after `{}`", known[known.len() - 1]),
            };
            return Err(vec![Problem::new(place(&header, at), message).help(help)]);
        }
        if n_columns < least {
            let message = format!("no column `{}`", known[n_columns]);
            return Err(vec![Problem::new(header.line(), message).help(help)]);
        }
        Ok(Self { columns: &known[..n_columns], is_of_products })
    }

    fn layer(&self, row: &Row<'_>) -> Result<Layer, Problem> {
        let n_cells = width(row);
        if n_cells != self.columns.len() {
            let message = format!("{n_cells} cells under {} columns", self.columns.len());
            return Err(Problem::new(row.line(), message));
        }
        let name = &row.cells[0];
        if !is_name(name) {
            let message = format!("`{}` is no name of a layer", printable(name));
            return Err(Problem::new(place(row, 0), message).help(NAME_RULE));
        }
        let number = |at: usize| {
            let (text, column) = (&row.cells[at], self.columns[at]);
            let number = text.parse().ok().filter(|it| (1..=ConvShape::MAX_EXTENT).contains(it));
            number.ok_or_else(|| {
                let message = format!("`{column}` is `{}`", printable(text));
                let help = format!("a whole number from 1 to {}", ConvShape::MAX_EXTENT);
                Problem::new(place(row, at), message).help(help)
            })
        };
        let operator = match self.is_of_products {
            true => {
                let [rows, k, c] = [number(1)?, number(2)?, number(3)?];
                Operator::Matmul(MatmulShape { instances: 1, rows, k, c, activations: false })
            }
            false => {
                let [y, x, r, s] = [number(1)?, number(2)?, number(3)?, number(4)?];
                let [c, filters, stride_y] = [number(5)?, number(6)?, number(7)?];
                let stride_x = if self.columns.len() > 8 { number(8)? } else { stride_y };
                for (kernel, input, at) in [(r, y, 3), (s, x, 4)] {
                    if kernel > input {
                        let [filter, ifmap] = [self.columns[at], self.columns[at - 2]];
                        let message = format!("`{filter}` is {kernel}, and `{ifmap}` only {input}");
                        return Err(Problem::new(place(row, at), message));
                    }
                }
                let shape = ConvShape { c, y, x, r, s, stride_y, stride_x, ..ConvShape::UNIT };
                Operator::Conv(match (name.contains("DP"), filters) {
                    (false, k) => ConvShape { k, ..shape },
                    (true, 1) => ConvShape { kind: ConvKind::Depthwise, k: c, ..shape },
                    (true, each) => ConvShape { k: c.saturating_mul(each), groups: c, ..shape },
                })
            }
        };
        operator.check().map_err(|error| Problem::new(row.line(), error.to_string()))?;
        Ok(Layer::new(name, operator))
    }
}

/// Number of cells, without an empty one after a comma at the end.
fn width(row: &Row<'_>) -> usize {
    let n_cells = row.cells.len();
    n_cells - usize::from(n_cells > 1 && row.cells[n_cells - 1].is_empty())
}

/// Bytes of a cell without the blanks around it.
fn place(row: &Row<'_>, at: usize) -> Range<usize> {
    let Range { start, end } = row.cell(at);
    let text = row.text(start..end);
    let blanks = text.len() - text.trim_start().len();
    start + blanks..(start + text.trim_end().len()).max(start + blanks)
}

/// Whether `cell` is a spelling of the column called `name`, in any case and with any blanks.
fn is_spelt(cell: &str, name: &str) -> bool {
    let letters = |text: &str| text.replace([' ', '_'], "").to_ascii_lowercase();
    let is = |spelling: &str| letters(cell) == letters(spelling);
    is(name) || SPELLINGS.iter().any(|(spelling, of)| *of == name && is(spelling))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    const HEAD: &str = "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,\n";

    fn macs(text: &str) -> Vec<u64> {
        let layers = layers(text).expect("the topology is right");
        layers.iter().map(|layer| layer.operator.macs()).collect()
    }

    /// Problems of a text: line, column, message and help of each.
    fn shown(text: &str) -> Vec<String> {
        let source = Source::new("net.csv", text);
        let problems = layers(text).expect_err("the topology is wrong");
        let shown = |it: &Problem| {
            let (line, column) = source.position(it.span.start);
            format!("{line}:{column} {} ({})", it.message, it.help.as_deref().unwrap_or("-"))
        };
        problems.iter().map(shown).collect()
    }

    /// AlexNet as SCALE-Sim has it: (227 - 11) / 4 + 1 = 55 rows of outputs, so that the first layer has 55 * 55 * 96 outputs
    /// of 11 * 11 * 3 products; (31 - 5) / 1 + 1 = 27, so that the second has 27 * 27 * 256 of 5 * 5 * 96.
    #[test]
    fn convolutions_have_the_products_of_a_count_by_hand() {
        let rows = "Conv1, 227, 227, 11, 11, 3, 96, 4,\nConv2,31,31,5,5,96,256,1,\n";
        let expected = [55 * 55 * 96 * 11 * 11 * 3, 27 * 27 * 256 * 5 * 5 * 96];
        assert_eq!(macs(&format!("{HEAD}{rows}")), expected);
        let bare = format!("{HEAD}{rows}").replace(",\n", "\n");
        assert_eq!(macs(&bare), expected, "a comma at the end has no meaning");
        // Strides of 2 and 4: (9 - 3) / 2 + 1 = 4 rows, (11 - 3) / 4 + 1 = 3 columns.
        let two = "Layer,IFMAP height,IFMAP width,Filter height,Filter width,Channels,Num filter,Stride height,\
                   Stride width,\nc,9,11,3,3,2,5,2,4,\n";
        assert_eq!(macs(two), [4 * 3 * 5 * 3 * 3 * 2]);
    }

    /// (10 - 3) / 1 + 1 = 8 rows and columns of outputs in each of 32 channels.
    #[test]
    fn layers_with_dp_in_their_name_are_depthwise() {
        let rows = "DP_1, 10, 10, 3, 3, 32, 1, 1,\nDP_2, 10, 10, 3, 3, 32, 2, 1,\n";
        assert_eq!(macs(&format!("{HEAD}{rows}")), [8 * 8 * 32 * 9, 8 * 8 * 32 * 2 * 9]);
    }

    #[test]
    fn products_have_rows_columns_and_a_common_extent() {
        let layers = layers("Layer, M, N, K,\nqkv, 64, 384, 128,\n").expect("it is right");
        let shape = MatmulShape { instances: 1, rows: 64, k: 384, c: 128, activations: false };
        assert_eq!(layers[0].operator, Operator::Matmul(shape));
    }

    #[test]
    fn every_wrong_row_is_named_with_its_place() {
        let text = format!(
            "{HEAD}a, 9, 9, 3, x, 1, 1, 1,\nb, 9, 9, 3, 3, 1, 1,\nc, 9, 2, 3, 3, 1, 1, 1,\n, 9, 9, 3, 3, 1, 1, 1,\n"
        );
        assert_eq!(
            shown(&text),
            [
                "2:13 `Filter Width` is `x` (a whole number from 1 to 1048576)".to_string(),
                "3:1 7 cells under 8 columns (-)".into(),
                "4:13 `Filter Width` is 3, and `IFMAP Width` only 2 (-)".into(),
                format!("5:1 `` is no name of a layer ({NAME_RULE})"),
            ]
        );
        let huge = "Layer, M, N, K,\na, 1048576, 1048576, 1048576,\n";
        assert!(
            shown(huge)[0].starts_with("2:1 the layer has more than 2^48"),
            "{:?}",
            shown(huge)
        );
    }

    #[test]
    fn another_table_is_told_apart_by_its_header() {
        let costs = shown("network,accelerator,latency_ms,energy_mj\nKD,WS@2048,1,1\n");
        assert!(costs[0].starts_with("1:1 column 1 is `network`, not `Layer name` (a CSV file"));
        assert!(shown("")[0].starts_with("1:1 the file is empty"));
        assert!(shown("Layer, M, N\n")[0].starts_with("1:1 no column `K`"));
        let sparse = HEAD.replace("Strides,", "Strides, Stride Width, Sparsity,");
        assert!(shown(&sparse)[0].contains("a column `Sparsity` after `Stride Width`"));
    }
}
