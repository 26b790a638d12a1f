//! Windows of convolutions and pools: strides, padding and outputs along each spatial axis.

use xrsim_model::text::in_line;

use super::super::fact::Fact;
use super::{Call, Fault, invalid, shape};

/// Window along one spatial axis, with all padding resolved.
///
/// Of a convolution or pool `output = (input + pad_begin + pad_end - reach) / stride + 1`, rounded down, where
/// `reach = dilation (kernel - 1) + 1`. Of a transposed convolution
/// `output = stride (input - 1) + reach - pad_begin - pad_end + output_padding`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    /// Elements of the kernel, from 1.
    pub kernel: u64,
    /// Distance of neighbouring windows, from 1.
    pub stride: u64,
    /// Distance of neighbouring elements of the kernel, from 1.
    pub dilation: u64,
    /// Extents before the first element; of a transposed convolution, those that are cut off.
    pub pad_begin: u64,
    /// Extents after the last element, extended or shortened by `ceil_mode`.
    pub pad_end: u64,
    /// Extents that a transposed convolution adds after the last.
    pub output_padding: u64,
    /// Extent of the output.
    pub output: u64,
}

/// Index of the data and, of a convolution, of its weights among the inputs.
pub(super) fn operands(call: &Call<'_>) -> (usize, usize) {
    match call.operator() {
        "QLinearConv" => (0, 3),
        _ => (0, 1),
    }
}

/// Windows of `Conv`, `ConvTranspose`, a pool or an operator that is like them, for each spatial axis.
///
/// # Errors
///
/// [`Fault::Invalid`] of settings that do not fit each other, and of a kernel that does not fit into its input;
/// [`Fault::Unsupported`] of other operators.
pub(crate) fn windows(call: &Call<'_>) -> Result<Vec<Window>, Fault> {
    let data = call.input(0)?;
    let Some(spatial) = data.shape.get(2..).filter(|spatial| !spatial.is_empty()) else {
        return invalid(format!("a window over {}", shape::text(&data.shape)));
    };
    let transposed = match call.operator() {
        "MaxPool" | "AveragePool" | "LpPool" | "QLinearAveragePool" => false,
        "ConvTranspose" => true,
        "Conv" | "ConvInteger" | "QLinearConv" | "FusedConv" => false,
        _ => return Err(Fault::Unsupported),
    };
    let kernel = kernel(call, spatial.len())?;
    let settings = Settings::new(call, kernel)?;
    if transposed { settings.transposed(call, spatial) } else { settings.sliding(call, spatial) }
}

/// Kernel of the attribute or of the weights, which have to agree.
fn kernel(call: &Call<'_>, axes: usize) -> Result<Vec<u64>, Fault> {
    let given = per_axis(call, "kernel_shape", axes)?;
    let has_weights = call.operator().contains("Conv");
    let own = if has_weights { Some(of_weights(call, axes)?) } else { None };
    match (given, own) {
        (Some(given), Some(own)) if given != own => {
            let (given, own) = (shape::text(&given), shape::text(&own));
            invalid(format!("a {given} kernel against {own} of its weights"))
        }
        (Some(kernel), _) | (None, Some(kernel)) => Ok(kernel),
        (None, None) => invalid("`kernel_shape` is missing"),
    }
}

fn of_weights(call: &Call<'_>, axes: usize) -> Result<Vec<u64>, Fault> {
    let weights: &Fact = call.input(operands(call).1)?;
    shape::has_rank(weights, axes + 2, "the weights")?;
    let kernel = weights.shape[2..].to_vec();
    if kernel.contains(&0) {
        return invalid(format!("a {} kernel", shape::text(&kernel)));
    }
    Ok(kernel)
}

/// An attribute with a number from 1 on for each axis.
fn per_axis(call: &Call<'_>, name: &str, axes: usize) -> Result<Option<Vec<u64>>, Fault> {
    let Some(list) = call.ints(name)? else { return Ok(None) };
    if list.len() != axes {
        return invalid(format!("{} numbers in `{name}` for {axes} axes", list.len()));
    }
    let values: Vec<u64> =
        list.iter().map(|&value| shape::extent(value, name)).collect::<Result<_, _>>()?;
    if values.contains(&0) {
        return invalid(format!("a 0 in `{name}`"));
    }
    Ok(Some(values))
}

/// Pairs of numbers for each axis, all beginnings before all ends.
fn pads(call: &Call<'_>, axes: usize) -> Result<Vec<(u64, u64)>, Fault> {
    let Some(list) = call.ints("pads")? else { return Ok(vec![(0, 0); axes]) };
    if list.len() != 2 * axes {
        return invalid(format!("{} pads for {axes} axes", list.len()));
    }
    let pad = |axis: usize| shape::extent(list[axis], "`pads`");
    (0..axes).map(|axis| Ok((pad(axis)?, pad(axes + axis)?))).collect()
}

/// How padding is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Auto {
    /// As given.
    No,
    /// None.
    Valid,
    /// As much as the output needs; the odd one after the last element.
    Upper,
    /// As much as the output needs; the odd one before the first element.
    Lower,
}

struct Settings {
    kernel: Vec<u64>,
    strides: Vec<u64>,
    dilations: Vec<u64>,
    pads: Vec<(u64, u64)>,
    auto: Auto,
}

impl Settings {
    fn new(call: &Call<'_>, kernel: Vec<u64>) -> Result<Self, Fault> {
        let axes = kernel.len();
        let ones = || vec![1; axes];
        let auto = match call.text("auto_pad", "NOTSET")? {
            "NOTSET" | "" => Auto::No,
            "VALID" => Auto::Valid,
            "SAME_UPPER" => Auto::Upper,
            "SAME_LOWER" => Auto::Lower,
            other => return invalid(format!("`auto_pad` of {}", in_line(other))),
        };
        let pads = if auto == Auto::No { pads(call, axes)? } else { vec![(0, 0); axes] };
        Ok(Self {
            strides: per_axis(call, "strides", axes)?.unwrap_or_else(ones),
            dilations: per_axis(call, "dilations", axes)?.unwrap_or_else(ones),
            kernel,
            pads,
            auto,
        })
    }

    /// The extent that a kernel covers. All factors are at most 2^48.
    fn reach(&self, axis: usize) -> i128 {
        i128::from(self.dilations[axis]) * (i128::from(self.kernel[axis]) - 1) + 1
    }

    fn window(&self, axis: usize) -> Window {
        let (pad_begin, pad_end) = self.pads[axis];
        Window {
            kernel: self.kernel[axis],
            stride: self.strides[axis],
            dilation: self.dilations[axis],
            pad_begin,
            pad_end,
            output_padding: 0,
            output: 0,
        }
    }

    fn sliding(&self, call: &Call<'_>, spatial: &[u64]) -> Result<Vec<Window>, Fault> {
        // **Deviation**: with VALID, the text of `MaxPool` does not round up; ONNX Runtime and ONNX do.
        let rounds_up = call.flag("ceil_mode")?;
        (0..spatial.len())
            .map(|axis| {
                let found = match self.auto {
                    Auto::Upper | Auto::Lower => self.same(axis, spatial[axis]),
                    _ => self.slide(axis, spatial[axis], rounds_up),
                };
                found.ok_or_else(|| self.misfit(spatial))
            })
            .collect()
    }

    /// Window with explicit padding.
    fn slide(&self, axis: usize, input: u64, rounds_up: bool) -> Option<Window> {
        let mut window = self.window(axis);
        let stride = i128::from(window.stride);
        let begin = i128::from(input) + i128::from(window.pad_begin);
        let free = begin + i128::from(window.pad_end) - self.reach(axis);
        let down = free.div_euclid(stride) + 1;
        let mut output = down;
        if rounds_up {
            output = (free + stride - 1).div_euclid(stride) + 1;
            // A window that would begin in the padding after the input is left out.
            if (output - 1) * stride >= begin {
                output -= 1;
            }
        }
        if output != down {
            let end = (output - 1) * stride + self.reach(axis) - begin;
            window.pad_end = u64::try_from(end.max(0)).ok()?;
        }
        window.output = u64::try_from(output).ok().filter(|&output| output > 0)?;
        Some(window)
    }

    /// Window whose output is the input over the stride, rounded up.
    fn same(&self, axis: usize, input: u64) -> Option<Window> {
        let mut window = self.window(axis);
        window.output = input.div_ceil(window.stride);
        let span = (i128::from(window.output) - 1) * i128::from(window.stride) + self.reach(axis);
        let total = u64::try_from((span - i128::from(input)).max(0)).ok()?;
        (window.pad_begin, window.pad_end) = self.halves(total);
        (input > 0).then_some(window)
    }

    /// Padding in two parts; SAME_UPPER has the larger one at the end.
    fn halves(&self, total: u64) -> (u64, u64) {
        let (less, more) = (total / 2, total - total / 2);
        if self.auto == Auto::Upper { (less, more) } else { (more, less) }
    }

    fn misfit(&self, spatial: &[u64]) -> Fault {
        let reach: Vec<u64> = (0..spatial.len())
            .map(|axis| u64::try_from(self.reach(axis)).unwrap_or(u64::MAX))
            .collect();
        let padded: Vec<u64> = spatial
            .iter()
            .zip(&self.pads)
            .map(|(&extent, &(begin, end))| extent.saturating_add(begin).saturating_add(end))
            .collect();
        let kernel = shape::text(&self.kernel);
        let dilated = if reach == self.kernel {
            String::new()
        } else {
            format!(", dilated to {},", shape::text(&reach))
        };
        let with = if padded == spatial { "" } else { " with padding" };
        let padded = shape::text(&padded);
        Fault::Invalid(format!("a {kernel} kernel{dilated} does not fit into {padded}{with}"))
    }

    fn transposed(&self, call: &Call<'_>, spatial: &[u64]) -> Result<Vec<Window>, Fault> {
        let axes = spatial.len();
        let extra = match call.ints("output_padding")? {
            None => vec![0; axes],
            Some(list) if list.len() == axes => list
                .iter()
                .map(|&value| shape::extent(value, "`output_padding`"))
                .collect::<Result<_, _>>()?,
            Some(list) => {
                return invalid(format!(
                    "{} numbers in `output_padding` for {axes} axes",
                    list.len()
                ));
            }
        };
        let wanted = self.output_shape(call, spatial, &extra)?;
        (0..axes)
            .map(|axis| {
                let wanted = wanted.as_ref().map(|wanted| wanted[axis]);
                self.grown(axis, spatial[axis], extra[axis], wanted)
            })
            .collect()
    }

    /// Extents of the output, if the file asks for them: padding follows from them.
    fn output_shape(
        &self,
        call: &Call<'_>,
        spatial: &[u64],
        extra: &[u64],
    ) -> Result<Option<Vec<u64>>, Fault> {
        if let Some(list) = call.ints("output_shape")?.filter(|list| !list.is_empty()) {
            // Some exporters give all extents, with batch and channels.
            let skip = if list.len() == spatial.len() + 2 { 2 } else { 0 };
            if list.len() - skip != spatial.len() {
                let axes = spatial.len();
                return invalid(format!(
                    "{} numbers in `output_shape` for {axes} axes",
                    list.len()
                ));
            }
            let extent = |&value: &i64| shape::extent(value, "`output_shape`");
            return list[skip..].iter().map(extent).collect::<Result<_, _>>().map(Some);
        }
        if !matches!(self.auto, Auto::Upper | Auto::Lower) {
            return Ok(None);
        }
        // Runtimes do not extend an output whose kernels leave gaps.
        let wanted = |axis: usize| {
            let last = i128::from(self.strides[axis]) * (i128::from(spatial[axis]) - 1);
            let full = last + self.reach(axis) + i128::from(extra[axis]);
            let full = u64::try_from(full).unwrap_or(u64::MAX);
            spatial[axis].saturating_mul(self.strides[axis]).min(full)
        };
        Ok(Some((0..spatial.len()).map(wanted).collect()))
    }

    /// Window of a transposed convolution, checked.
    fn grown(
        &self,
        axis: usize,
        input: u64,
        extra: u64,
        wanted: Option<u64>,
    ) -> Result<Window, Fault> {
        let Some(window) = self.grow(axis, input, extra, wanted) else {
            let (begin, end) = self.pads[axis];
            return invalid(format!("pads {begin} and {end} leave nothing of axis {}", axis + 2));
        };
        // What a wanted output lacks is added as far as the last window reaches.
        let most = match window.output_padding > extra {
            true => window.stride,
            false => window.stride.max(window.dilation),
        };
        match window.output_padding {
            added if added < most => Ok(window),
            added => invalid(format!("an output padding of {added} for a stride of {most}")),
        }
    }

    /// Window of a transposed convolution.
    fn grow(&self, axis: usize, input: u64, extra: u64, wanted: Option<u64>) -> Option<Window> {
        let mut window = self.window(axis);
        window.output_padding = extra;
        let input = i128::from(input);
        if input == 0 {
            return None;
        }
        let full = i128::from(window.stride) * (input - 1) + self.reach(axis) + i128::from(extra);
        if let Some(wanted) = wanted {
            let total = full - i128::from(wanted);
            if total < 0 {
                let missing = u64::try_from(-total).ok()?;
                window.output_padding = extra.checked_add(missing)?;
            }
            let total = u64::try_from(total.max(0)).ok()?;
            (window.pad_begin, window.pad_end) = self.halves(total);
        }
        let output = full - i128::from(window.pad_begin) - i128::from(window.pad_end)
            + i128::from(window.output_padding - extra);
        window.output = u64::try_from(output).ok().filter(|&output| output > 0)?;
        Some(window)
    }
}
