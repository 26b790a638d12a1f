//! Windows of convolutions and pools: strides, padding and outputs along each spatial axis.

use xrsim_model::text::in_line;

use super::{Call, Fault, invalid, shape};
use crate::fact::{Fact, text};

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

/// Weights of a convolution.
pub(super) fn weights<'a>(call: &Call<'a>) -> Result<&'a Fact, Fault> {
    call.input(if call.operator() == "QLinearConv" { 3 } else { 1 })
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
        return invalid(format!("a window over {data}"));
    };
    let has_weights = match call.operator() {
        "MaxPool" | "AveragePool" | "LpPool" | "QLinearAveragePool" => false,
        "Conv" | "ConvInteger" | "ConvTranspose" | "FusedConv" | "QLinearConv" => true,
        _ => return Err(Fault::Unsupported),
    };
    let axes = spatial.len();
    let kernel = kernel(call, axes, has_weights)?;
    let auto = Auto::of(call)?;
    let pads = if auto == Auto::No { pads(call, axes)? } else { vec![(0, 0); axes] };
    let strides = per_axis(call, "strides", axes)?.unwrap_or_else(|| vec![1; axes]);
    let dilations = per_axis(call, "dilations", axes)?.unwrap_or_else(|| vec![1; axes]);
    let window = |axis: usize| {
        let (kernel, (pad_begin, pad_end)) = (kernel[axis], pads[axis]);
        let (stride, dilation) = (strides[axis], dilations[axis]);
        Window { kernel, stride, dilation, pad_begin, pad_end, ..Window::ONE }
    };
    let windows = (0..axes).map(window).collect();
    match call.operator() {
        "ConvTranspose" => transposed(call, auto, spatial, windows),
        _ => sliding(call, auto, spatial, &windows),
    }
}

/// Kernel of the attribute or of the weights, which have to agree.
fn kernel(call: &Call<'_>, axes: usize, has_weights: bool) -> Result<Vec<u64>, Fault> {
    let given = per_axis(call, "kernel_shape", axes)?;
    if !has_weights {
        return given.ok_or_else(|| Fault::Invalid("`kernel_shape` is missing".to_owned()));
    }
    let weights = weights(call)?;
    shape::has_rank(weights, axes + 2, "the weights")?;
    let own = weights.shape[2..].to_vec();
    ensure!(!own.contains(&0), "a {} kernel", text(&own));
    match given {
        Some(given) if given != own => {
            invalid(format!("a {} kernel against {} of its weights", text(&given), text(&own)))
        }
        _ => Ok(own),
    }
}

/// An attribute with a number for each axis.
fn numbers(call: &Call<'_>, name: &str, axes: usize, of: &str) -> Result<Option<Vec<u64>>, Fault> {
    let Some(list) = call.ints(name)? else { return Ok(None) };
    ensure!(list.len() == axes, "{} numbers in `{name}` for {axes} axes", list.len());
    shape::extents(list, of).map(Some)
}

/// An attribute with a number from 1 on for each axis.
fn per_axis(call: &Call<'_>, name: &str, axes: usize) -> Result<Option<Vec<u64>>, Fault> {
    let values = numbers(call, name, axes, name)?;
    ensure!(!values.iter().flatten().any(|&value| value == 0), "a 0 in `{name}`");
    Ok(values)
}

/// Pairs of numbers for each axis, all beginnings before all ends.
fn pads(call: &Call<'_>, axes: usize) -> Result<Vec<(u64, u64)>, Fault> {
    let Some(list) = call.ints("pads")? else { return Ok(vec![(0, 0); axes]) };
    ensure!(list.len() == 2 * axes, "{} pads for {axes} axes", list.len());
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

impl Auto {
    fn of(call: &Call<'_>) -> Result<Self, Fault> {
        match call.text("auto_pad", "NOTSET")? {
            "NOTSET" | "" => Ok(Self::No),
            "VALID" => Ok(Self::Valid),
            "SAME_UPPER" => Ok(Self::Upper),
            "SAME_LOWER" => Ok(Self::Lower),
            other => invalid(format!("`auto_pad` of {}", in_line(other))),
        }
    }

    /// Whether padding follows from the output.
    fn is_same(self) -> bool {
        matches!(self, Self::Upper | Self::Lower)
    }

    /// Padding in two parts; SAME_UPPER has the larger one at the end.
    fn halves(self, total: u64) -> (u64, u64) {
        let (less, more) = (total / 2, total - total / 2);
        if self == Self::Upper { (less, more) } else { (more, less) }
    }
}

fn sliding(
    call: &Call<'_>,
    auto: Auto,
    spatial: &[u64],
    windows: &[Window],
) -> Result<Vec<Window>, Fault> {
    // **Deviation**: with VALID, the text of `MaxPool` does not round up; ONNX Runtime and ONNX do.
    let rounds_up = call.flag("ceil_mode")?;
    let placed = windows.iter().zip(spatial).map(|(window, &input)| match auto.is_same() {
        true => window.same(input, auto),
        false => window.slide(input, rounds_up),
    });
    placed.collect::<Option<_>>().ok_or_else(|| misfit(windows, spatial))
}

fn misfit(windows: &[Window], spatial: &[u64]) -> Fault {
    let of_all = |of: &dyn Fn(&Window) -> u64| windows.iter().map(of).collect::<Vec<_>>();
    let kernel = of_all(&|window| window.kernel);
    let reach = of_all(&|window| u64::try_from(window.reach()).unwrap_or(u64::MAX));
    let padding = of_all(&|window| window.pad_begin.saturating_add(window.pad_end));
    let padded = spatial.iter().zip(padding).map(|(extent, pad)| extent.saturating_add(pad));
    let padded: Vec<u64> = padded.collect();
    let dilated = match reach == kernel {
        true => String::new(),
        false => format!(", dilated to {},", text(&reach)),
    };
    let with = if padded == spatial { "" } else { " with padding" };
    let (kernel, padded) = (text(&kernel), text(&padded));
    Fault::Invalid(format!("a {kernel} kernel{dilated} does not fit into {padded}{with}"))
}

fn transposed(
    call: &Call<'_>,
    auto: Auto,
    spatial: &[u64],
    mut windows: Vec<Window>,
) -> Result<Vec<Window>, Fault> {
    let axes = spatial.len();
    let extra = numbers(call, "output_padding", axes, "`output_padding`")?;
    for (window, extra) in windows.iter_mut().zip(extra.into_iter().flatten()) {
        window.output_padding = extra;
    }
    let wanted = output_shape(call, auto, spatial, &windows)?;
    (0..axes)
        .map(|axis| {
            let wanted = wanted.as_ref().map(|wanted| wanted[axis]);
            windows[axis].grown(axis, spatial[axis], wanted, auto)
        })
        .collect()
}

/// Extents of the output, if the file asks for them: padding follows from them.
fn output_shape(
    call: &Call<'_>,
    auto: Auto,
    spatial: &[u64],
    windows: &[Window],
) -> Result<Option<Vec<u64>>, Fault> {
    let axes = spatial.len();
    if let Some(list) = call.ints("output_shape")?.filter(|list| !list.is_empty()) {
        // Some exporters give all extents, with batch and channels.
        let skip = if list.len() == axes + 2 { 2 } else { 0 };
        let fits = list.len() - skip == axes;
        ensure!(fits, "{} numbers in `output_shape` for {axes} axes", list.len());
        return shape::extents(&list[skip..], "`output_shape`").map(Some);
    }
    // Runtimes do not extend an output whose kernels leave gaps.
    let wanted = |(window, &input): (&Window, &u64)| {
        let full = u64::try_from(window.full(input)).unwrap_or(u64::MAX);
        input.saturating_mul(window.stride).min(full)
    };
    Ok(auto.is_same().then(|| windows.iter().zip(spatial).map(wanted).collect()))
}

impl Window {
    /// Window over an axis of one element.
    pub(crate) const ONE: Self = Self {
        kernel: 1,
        stride: 1,
        dilation: 1,
        pad_begin: 0,
        pad_end: 0,
        output_padding: 0,
        output: 1,
    };

    /// The extent that a kernel covers. All factors are at most 2^48.
    fn reach(&self) -> i128 {
        i128::from(self.dilation) * (i128::from(self.kernel) - 1) + 1
    }

    /// Window with explicit padding.
    fn slide(&self, input: u64, rounds_up: bool) -> Option<Self> {
        let mut window = *self;
        let stride = i128::from(window.stride);
        let begin = i128::from(input) + i128::from(window.pad_begin);
        let free = begin + i128::from(window.pad_end) - self.reach();
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
            let end = (output - 1) * stride + self.reach() - begin;
            window.pad_end = u64::try_from(end.max(0)).ok()?;
        }
        window.output = u64::try_from(output).ok().filter(|&output| output > 0)?;
        Some(window)
    }

    /// Window whose output is the input over the stride, rounded up.
    fn same(&self, input: u64, auto: Auto) -> Option<Self> {
        let output = input.div_ceil(self.stride);
        let span = (i128::from(output) - 1) * i128::from(self.stride) + self.reach();
        let total = u64::try_from((span - i128::from(input)).max(0)).ok()?;
        let (pad_begin, pad_end) = auto.halves(total);
        (input > 0).then_some(Self { pad_begin, pad_end, output, ..*self })
    }

    /// Output of a transposed convolution before anything is cut off.
    fn full(&self, input: u64) -> i128 {
        let last = i128::from(self.stride) * (i128::from(input) - 1);
        last + self.reach() + i128::from(self.output_padding)
    }

    /// Window of a transposed convolution, checked.
    fn grown(
        &self,
        axis: usize,
        input: u64,
        wanted: Option<u64>,
        auto: Auto,
    ) -> Result<Self, Fault> {
        let Some(window) = self.grow(input, wanted, auto) else {
            let (begin, end) = (self.pad_begin, self.pad_end);
            return invalid(format!("pads {begin} and {end} leave nothing of axis {}", axis + 2));
        };
        // What a wanted output lacks is added as far as the last window reaches.
        let most = match window.output_padding > self.output_padding {
            true => window.stride,
            false => window.stride.max(window.dilation),
        };
        let added = window.output_padding;
        ensure!(added < most, "an output padding of {added} for a stride of {most}");
        Ok(window)
    }

    /// Window of a transposed convolution.
    fn grow(&self, input: u64, wanted: Option<u64>, auto: Auto) -> Option<Self> {
        let mut window = *self;
        if input == 0 {
            return None;
        }
        let full = self.full(input);
        if let Some(wanted) = wanted {
            let total = full - i128::from(wanted);
            let missing = u64::try_from((-total).max(0)).ok()?;
            window.output_padding = window.output_padding.checked_add(missing)?;
            let total = u64::try_from(total.max(0)).ok()?;
            (window.pad_begin, window.pad_end) = auto.halves(total);
        }
        let output = full - i128::from(window.pad_begin) - i128::from(window.pad_end)
            + i128::from(window.output_padding - self.output_padding);
        window.output = u64::try_from(output).ok().filter(|&output| output > 0)?;
        Some(window)
    }
}
