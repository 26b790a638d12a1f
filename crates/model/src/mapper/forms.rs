//! Equivalent forms of a layer: loop nests with the same products and the same tensors
//! (docs/explanation/mapper.md, section 2).

use crate::cost::loop_nest::{Axis, Extents, Nest, Window};

/// Loop nests that compute the same as `nest`, which is the first of them.
///
/// Where every output position reads one input position of its own (a matrix product, a 1x1 convolution
/// of stride 1, or a convolution with a single unpadded output position), images, rows and columns are
/// only numbers of rows of a matrix: they may be written as any product of rows and columns, or all as
/// images. In other layers rows and columns may be exchanged.
///
/// Several images beside rows are no form of their own: those in one axis with the rows take no more steps
/// on any units, as ceil(n y / u) is at most n ceil(y / u).
pub fn forms(nest: &Nest) -> Vec<Nest> {
    let mut forms = vec![nest.clone()];
    let as_rows = single_positions(nest).unwrap_or_else(|| nest.clone());
    if reads_single_positions(&as_rows) {
        let extents = *as_rows.extents();
        let of = |axis: Axis| u64::from(extents[axis as usize]);
        let rows = of(Axis::N) * of(Axis::OutputY) * of(Axis::OutputX);
        let factored = factors(rows).into_iter().filter_map(|rows| with_rows(&as_rows, rows));
        forms.extend(factored.filter(|form| form != nest));
    } else {
        forms.extend(exchanged(nest).filter(|form| form != nest));
    }
    forms
}

/// A convolution with one output position and without padding as a matrix product: its reduction runs
/// over all positions of the kernel. `None` for other layers.
fn single_positions(nest: &Nest) -> Option<Nest> {
    let one_output = nest.extent(Axis::OutputY) == 1 && nest.extent(Axis::OutputX) == 1;
    let [r, s] = [Axis::R, Axis::S].map(|axis| nest.extent(axis));
    let unpadded = |window: &Window, kernel| {
        let reach = window.reach(1, kernel);
        window.padding == 0 && reach <= window.stored
    };
    let [rows, columns] = nest.windows();
    if !one_output || (r, s) == (1, 1) || !unpadded(rows, r) || !unpadded(columns, s) {
        return None;
    }
    let mut extents = *nest.extents();
    let channels = nest.extent(Axis::C).checked_mul(r)?.checked_mul(s)?;
    extents[Axis::C as usize] = channels;
    extents[Axis::R as usize] = 1;
    extents[Axis::S as usize] = 1;
    Nest::new(extents, [Window::new(1, 1, 1); 2], false).ok()
}

/// Whether every output position reads one stored input position of its own.
fn reads_single_positions(nest: &Nest) -> bool {
    let own = |index: usize, window: &Window| {
        let [output, kernel] = Axis::WINDOWS[index].map(|axis| nest.extent(axis));
        let steps = window.stride == 1 || output == 1;
        kernel == 1 && steps && window.padding == 0 && output <= window.stored
    };
    nest.windows().iter().enumerate().all(|(index, window)| own(index, window))
}

/// Numbers of images, rows and columns with this product: every product of rows and columns, and all
/// images.
fn factors(product: u64) -> Vec<[u32; 3]> {
    let Ok(product) = u32::try_from(product) else { return Vec::new() };
    let small = (1..).take_while(|small: &u32| small.saturating_mul(*small) <= product);
    let pairs = small.filter(|small| product.is_multiple_of(*small));
    let mut columns: Vec<u32> = pairs.flat_map(|small| [small, product / small]).collect();
    columns.sort_unstable();
    columns.dedup();
    let mut factors: Vec<_> = columns.iter().map(|&it| [1, product / it, it]).collect();
    if product > 1 {
        factors.push([product, 1, 1]);
    }
    factors
}

fn with_rows(nest: &Nest, [images, rows, columns]: [u32; 3]) -> Option<Nest> {
    let mut extents: Extents = *nest.extents();
    extents[Axis::N as usize] = images;
    extents[Axis::OutputY as usize] = rows;
    extents[Axis::OutputX as usize] = columns;
    let windows = [Window::new(rows, 1, rows), Window::new(columns, 1, columns)];
    Nest::new(extents, windows, nest.is_depthwise()).ok()
}

/// The layer with rows and columns exchanged.
fn exchanged(nest: &Nest) -> Option<Nest> {
    let mut extents = *nest.extents();
    extents.swap(Axis::OutputY as usize, Axis::OutputX as usize);
    extents.swap(Axis::R as usize, Axis::S as usize);
    let [rows, columns] = *nest.windows();
    Nest::new(extents, [columns, rows], nest.is_depthwise()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::loop_nest::lower::lower;
    use crate::model::{ConvShape, MatmulShape, Operator, Padding};

    /// Nests of every kind of layer that has forms.
    fn layers() -> Vec<Nest> {
        let product = MatmulShape { instances: 3, rows: 12, k: 5, c: 7, activations: true };
        let regions = ConvShape { n: 10, k: 4, c: 3, y: 7, x: 7, r: 7, s: 7, ..ConvShape::UNIT };
        let point = ConvShape { n: 2, k: 4, c: 3, y: 6, x: 8, ..ConvShape::UNIT };
        let padding = Padding { top: 1, bottom: 1, ..Padding::default() };
        let conv = ConvShape {
            k: 2,
            c: 3,
            y: 9,
            x: 6,
            r: 3,
            s: 2,
            stride_x: 2,
            padding,
            ..ConvShape::UNIT
        };
        let operators = [Operator::Matmul(product), regions.into(), point.into(), conv.into()];
        operators.iter().flat_map(|operator| lower(operator).expect("small")).collect()
    }

    #[test]
    fn forms_have_the_same_products_and_tensors() {
        for nest in layers() {
            let forms = forms(&nest);
            assert!(forms.len() > 1, "{:?}", nest.extents());
            let whole = nest.footprints(nest.extents());
            for form in forms {
                let other = form.footprints(form.extents());
                assert_eq!(form.macs(), nest.macs());
                assert_eq!(form.touched_inputs(), nest.touched_inputs());
                assert_eq!([other.weight, other.output], [whole.weight, whole.output]);
            }
        }
    }

    #[test]
    fn a_strided_layer_has_no_rows_of_a_matrix() {
        let conv = ConvShape { k: 2, c: 3, y: 8, x: 8, stride_y: 2, ..ConvShape::UNIT };
        let nests = lower(&conv.into()).expect("small");
        let found: Vec<_> = forms(&nests[0]).iter().map(|form| *form.extents()).collect();
        assert_eq!(found, [[1, 1, 2, 3, 4, 8, 1, 1], [1, 1, 2, 3, 8, 4, 1, 1]]);
    }
}
