//! Transposed convolutions as convolutions of their phases (section 1.3).

use std::collections::BTreeSet;

use xrsim::cost::loop_nest::lower::lower;
use xrsim::cost::loop_nest::{Axis, Nest};
use xrsim::model::{ConvKind, ConvShape, Operator, Padding};

use super::population::assert_enough;

/// One direction of a transposed convolution.
#[derive(Debug, Clone, Copy)]
struct Line {
    inputs: u32,
    kernel: u32,
    stride: u32,
    /// Outputs that are cut off in front and at the end.
    crop: [u32; 2],
}

impl Line {
    fn outputs(&self) -> u32 {
        (self.inputs - 1) * self.stride + self.kernel - self.crop[0] - self.crop[1]
    }

    /// (Output, tap) pairs on the grid of inputs with the input that each reads, which may lie outside the
    /// stored inputs: input i adds to outputs i * stride + r - crop.
    fn pairs(&self) -> Vec<(u32, u32, i64)> {
        let all = (0..self.outputs()).flat_map(|y| (0..self.kernel).map(move |r| (y, r)));
        let read = |y: u32, r: u32| {
            let position = i64::from(y + self.crop[0]) - i64::from(r);
            let stride = i64::from(self.stride);
            (position.rem_euclid(stride) == 0).then(|| position.div_euclid(stride))
        };
        all.filter_map(|(y, r)| Some((y, r, read(y, r)?))).collect()
    }
}

/// All lines with up to 5 inputs, up to 5 taps, strides to 4 and crops to 2.
fn lines() -> Vec<Line> {
    let mut lines = Vec::new();
    for code in 0..5 * 5 * 4 * 3 * 3u32 {
        let [inputs, kernel, stride] = [1 + code % 5, 1 + code / 5 % 5, 1 + code / 25 % 4];
        let crop = [code / 100 % 3, code / 300];
        if crop[0] + crop[1] < (inputs - 1) * stride + kernel {
            lines.push(Line { inputs, kernel, stride, crop });
        }
    }
    lines
}

/// Nests of a transposed convolution with these rows and columns, 2 images, 3 input and 4 output channels.
fn lowered(rows: Line, columns: Line) -> Vec<Nest> {
    let [top, bottom] = rows.crop;
    let [left, right] = columns.crop;
    let shape = ConvShape {
        kind: ConvKind::Transposed,
        n: 2,
        k: 4,
        c: 3,
        y: rows.inputs,
        x: columns.inputs,
        r: rows.kernel,
        s: columns.kernel,
        stride_y: rows.stride,
        stride_x: columns.stride,
        padding: Padding { top, bottom, left, right },
        ..ConvShape::UNIT
    };
    lower(&Operator::Conv(shape)).expect("it is small")
}

/// Invariant 11.
#[test]
fn phases_execute_the_pairs_of_outputs_and_kernel_elements_on_the_grid() {
    let lines = lines();
    for (index, &rows) in lines.iter().enumerate() {
        let columns = lines[index * 7 % lines.len()];
        let macs: u64 = lowered(rows, columns).iter().map(Nest::macs).sum();
        let pairs = rows.pairs().len() * columns.pairs().len();
        assert_eq!(macs, 2 * 4 * 3 * pairs as u64, "{rows:?} {columns:?}");
    }
    assert_enough("transposed convolutions", lines.len());
}

/// Outputs, taps and stored inputs of every phase. The taps of a phase have the same remainder modulo the
/// stride.
#[test]
fn phases_have_the_outputs_weights_and_inputs_of_their_pairs() {
    let one = Line { inputs: 1, kernel: 1, stride: 1, crop: [0; 2] };
    for line in lines() {
        let distinct = |of: &dyn Fn(&(u32, u32, i64)) -> i64, phase: u32| {
            let pairs = line.pairs().into_iter().filter(|(_, r, _)| r % line.stride == phase);
            pairs.map(|pair| of(&pair)).collect::<BTreeSet<_>>()
        };
        let expected = (0..line.stride).filter_map(|phase| {
            let outputs = distinct(&|pair| pair.0.into(), phase).len();
            let kernel = distinct(&|pair| pair.1.into(), phase).len();
            let mut inputs = distinct(&|pair| pair.2, phase);
            inputs.retain(|input| (0..i64::from(line.inputs)).contains(input));
            (outputs > 0).then_some([outputs, kernel, inputs.len()])
        });
        let expected: Vec<_> = expected.collect();
        for at in [0, 1] {
            let nests = if at == 0 { lowered(line, one) } else { lowered(one, line) };
            let of_nest = |nest: &Nest| {
                let [outputs, kernel] = Axis::WINDOWS[at].map(|axis| nest.extent(axis) as usize);
                [outputs, kernel, (nest.touched_inputs() / (2 * 3)) as usize]
            };
            assert_eq!(nests.iter().map(of_nest).collect::<Vec<_>>(), expected, "{line:?}");
        }
    }
}
