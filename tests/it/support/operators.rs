//! Data flow between the layers of a network, and the reference tables of their operators.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use xrsim::model::{Layer, Source};

/// Positions of the layers that layer `index` reads, each once; `None` is the outside.
pub fn producers(layers: &[Layer], index: usize) -> BTreeSet<Option<usize>> {
    let position = |source: &Source| match *source {
        Source::Outside => None,
        Source::Back(back) => Some(index - back as usize),
    };
    layers[index].sources.iter().map(position).collect()
}

/// Positions of the layers that no other layer reads.
pub fn unread(layers: &[Layer]) -> Vec<usize> {
    let read: BTreeSet<_> =
        (0..layers.len()).flat_map(|index| producers(layers, index)).flatten().collect();
    (0..layers.len()).filter(|index| !read.contains(index)).collect()
}

/// Part of the outputs of its sources that a layer reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reads {
    /// Fewer elements than there are.
    Part,
    /// More elements than there are.
    More,
}

/// Number of layers of a class that read more or fewer elements than their sources give.
pub fn differences(layers: &[Layer]) -> BTreeMap<(&'static str, Reads), usize> {
    let mut found = BTreeMap::new();
    for (index, layer) in layers.iter().enumerate() {
        if let Some(reads) = difference(layers, index) {
            *found.entry((layer.operator.name(), reads)).or_default() += 1;
        }
    }
    found
}

/// Difference between the elements that a layer reads and those that its sources give, if there is one.
/// Inputs of the network have any size.
fn difference(layers: &[Layer], index: usize) -> Option<Reads> {
    let producers = producers(layers, index);
    let given: u64 = producers.iter().flatten().map(|&from| layers[from].operator.outputs()).sum();
    match layers[index].operator.inputs().cmp(&given) {
        Ordering::Less => Some(Reads::Part),
        Ordering::Greater if !producers.contains(&None) => Some(Reads::More),
        _ => None,
    }
}

/// One row of a table, by column.
#[derive(Debug, Clone)]
pub struct Row(BTreeMap<String, String>);

impl Row {
    /// The cell in `column`.
    pub fn text(&self, column: &str) -> &str {
        &self.0[column]
    }

    /// The number in `column`, `default` if that is empty.
    pub fn number_or(&self, column: &str, default: u64) -> u64 {
        match self.text(column) {
            "" => default,
            text => text.parse().unwrap(),
        }
    }

    /// The number in `column`, 1 if that is empty.
    pub fn number(&self, column: &str) -> u64 {
        self.number_or(column, 1)
    }

    /// The number in `column` as an extent of a layer.
    pub fn extent(&self, column: &str) -> u32 {
        self.number(column).try_into().unwrap()
    }
}

/// Rows of a table of the reference data, if the folder is present.
pub fn table(path: &str) -> Option<Vec<Row>> {
    let mut reader = csv::Reader::from_path(super::reference(path)?).unwrap();
    Some(reader.deserialize().map(|row| Row(row.unwrap())).collect())
}
