//! Directives for single layers: a dataflow may map every layer in a way of its own.

use std::fmt;

use super::Directives;

/// Input rows or columns of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LayerWindow {
    /// Distance of input positions of neighbouring outputs.
    pub stride: u32,
    /// Distance of input positions of neighbouring kernel positions.
    pub dilation: u32,
    /// Number of input positions in memory, without padding.
    pub stored: u32,
    /// Number of padding positions in front of the stored ones.
    pub padding: u32,
}

/// Shape of a layer as a loop nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LayerShape {
    /// Extents in the order of [`LayerShape::AXES`].
    pub extents: [u32; 8],
    /// Input rows (0) and columns (1).
    pub windows: [LayerWindow; 2],
    /// Whether the channels of the layer are its groups.
    pub depthwise: bool,
}

impl LayerShape {
    /// Spelling of the axes, in the order of the extents.
    pub const AXES: [&'static str; 8] = ["N", "G", "K", "C", "Y'", "X'", "R", "S"];

    /// Number of differences to another shape.
    fn distance(&self, other: &Self) -> usize {
        let numbers = |it: &Self| {
            let window = |it: &LayerWindow| [it.stride, it.dilation, it.stored, it.padding];
            let windows = it.windows.iter().flat_map(window).collect::<Vec<_>>();
            [&it.extents[..], &windows, &[u32::from(it.depthwise)]].concat()
        };
        numbers(self).iter().zip(numbers(other)).filter(|(a, b)| **a != *b).count()
    }
}

impl fmt::Display for LayerShape {
    /// Extents, and what differs from a dense layer of stride 1 without padding:
    /// `N 1, G 1, K 64, C 3, Y' 56, X' 56, R 3, S 3, input 58 x 58`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (axis, extent) in Self::AXES.iter().zip(self.extents) {
            write!(f, "{axis} {extent}, ")?;
        }
        let [rows, columns] = &self.windows;
        write!(f, "input {} x {}", rows.stored, columns.stored)?;
        let pairs = [
            ("stride", 1, [rows.stride, columns.stride]),
            ("dilation", 1, [rows.dilation, columns.dilation]),
            ("padding", 0, [rows.padding, columns.padding]),
        ];
        for (name, usual, [rows, columns]) in pairs {
            if [rows, columns] != [usual; 2] {
                write!(f, ", {name} {rows} x {columns}")?;
            }
        }
        if self.depthwise { f.write_str(", depthwise") } else { Ok(()) }
    }
}

/// Shared memory as a layer finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LayerMemory {
    /// Whether inputs, weights and outputs stay there.
    pub resident: [bool; 3],
    /// Bytes that are free for the layer.
    pub free: u64,
    /// Bytes that DRAM moves for operators that ride along and for the outputs; `None`: nothing rides along.
    pub group: Option<u64>,
}

impl LayerMemory {
    /// Names of the tensors, in the order of `resident`.
    pub const TENSORS: [&'static str; 3] = ["inputs", "weights", "outputs"];
}

/// Directives for one layer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LayerMapping {
    /// Name of the layer, for messages.
    pub layer: Box<str>,
    /// Shape of the layer.
    pub shape: LayerShape,
    /// Shared memory for which the directives are meant; `None`: any.
    pub memory: Option<LayerMemory>,
    /// Form in which the layer is computed; `None`: as it is written.
    pub form: Option<LayerShape>,
    /// Directives of all levels.
    pub directives: Directives,
}

/// The entry for a layer of this shape that finds shared memory like this: the one that is meant for
/// exactly this memory, or for any, or else the one with the most free memory that is there with the same
/// resident tensors, or else the first one of the shape.
pub(super) fn find<'a>(
    entries: &'a [LayerMapping],
    shape: &LayerShape,
    memory: &LayerMemory,
) -> Option<&'a LayerMapping> {
    let of_shape = || entries.iter().filter(|entry| entry.shape == *shape);
    let fits = |entry: &&LayerMapping| {
        let meant = entry.memory.filter(|it| it.resident == memory.resident)?;
        (meant.free <= memory.free).then_some(meant.free)
    };
    of_shape()
        .find(|entry| entry.memory.as_ref() == Some(memory))
        .or_else(|| of_shape().find(|entry| entry.memory.is_none()))
        .or_else(|| of_shape().filter(|it| fits(it).is_some()).max_by_key(|it| fits(it)))
        .or_else(|| of_shape().next())
}

/// The entry whose shape has the fewest differences to `shape`.
pub(super) fn nearest<'a>(
    entries: &'a [LayerMapping],
    shape: &LayerShape,
) -> Option<&'a LayerMapping> {
    entries.iter().min_by_key(|entry| entry.shape.distance(shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(layer: &str, k: u32, memory: Option<LayerMemory>) -> LayerMapping {
        let window = LayerWindow { stride: 1, dilation: 1, stored: 4, padding: 0 };
        let extents = [1, 1, k, 3, 4, 4, 1, 1];
        let shape = LayerShape { extents, windows: [window; 2], depthwise: false };
        LayerMapping {
            layer: layer.into(),
            shape,
            memory,
            form: None,
            directives: Directives::default(),
        }
    }

    fn memory(inputs: bool, free: u64) -> LayerMemory {
        LayerMemory { resident: [inputs, false, false], free, group: None }
    }

    #[test]
    fn the_entry_for_the_memory_of_a_layer_is_found() {
        let entries = [
            entry("a", 8, Some(memory(false, 100))),
            entry("b", 8, Some(memory(true, 60))),
            entry("c", 8, Some(memory(true, 80))),
            entry("d", 9, None),
        ];
        let of = |k, memory: LayerMemory| {
            find(&entries, &entry("", k, None).shape, &memory).map(|entry| &*entry.layer)
        };
        assert_eq!(of(8, memory(true, 80)), Some("c"));
        assert_eq!(of(8, memory(true, 79)), Some("b"));
        assert_eq!(of(8, memory(true, 10)), Some("a"));
        assert_eq!(of(9, memory(true, 10)), Some("d"));
        assert_eq!(of(7, memory(true, 10)), None);
        let near = nearest(&entries, &entry("", 7, None).shape).expect("there are entries");
        assert_eq!(&*near.layer, "a");
    }

    #[test]
    fn a_shape_says_what_is_unusual() {
        let mut shape = entry("a", 8, None).shape;
        assert_eq!(shape.to_string(), "N 1, G 1, K 8, C 3, Y' 4, X' 4, R 1, S 1, input 4 x 4");
        shape.windows[1].stride = 2;
        shape.depthwise = true;
        assert!(shape.to_string().ends_with("input 4 x 4, stride 1 x 2, depthwise"));
    }
}
