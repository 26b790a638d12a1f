//! NVDLA: the closed form of its published sheet, and published frame rates and powers of seven sizes
//! (docs/explanation/validation.md).
//!
//! Neither is silicon: NVIDIA estimates both.

use std::sync::Arc;

use xrsim_config::cross_tables::{self, CrossRow};
use xrsim_config::{Problem, Source};
use xrsim_model::hardware::Accelerator;
use xrsim_model::hardware::technology::PeakPower;

use super::super::ValidateError;
use super::on_network::{Maker, Size};
use super::{Rule, Sheet};

/// ResNet-50 in the published sheet.
pub(super) const LAYERS: &str =
    include_str!("../../../../../tests/reference/crossval/nvdla_layers.csv");

const BANDWIDTH: &str = "dram_gb_per_s";
const NETWORK: &str = "mlperf/resnet50";

/// Buffer [KiB] and MACs of the sheet.
const SHEET: (f64, f64) = (512.0, 2048.0);
/// Channels are stored in blocks of so many.
const CHANNEL_BLOCK: f64 = 16.0;
/// Filters are computed in blocks of so many, which meets the sheet and the published rates.
const FILTER_BLOCK: f64 = 128.0;
/// Images among which a classifier shares its weights in the published rates.
const BATCH: f64 = 16.0;
/// Winograd's algorithm: multiplications of a 3x3 kernel that it saves, and the bytes of its weights.
const WINOGRAD: (f64, f64) = (2.25, 16.0 / 9.0);

/// Allowed relative difference of the closed form from published rates, which are rounded.
const RATE: f64 = 0.015;
const NEAR: f64 = 0.10;

const OURS: &str = "no Winograd, no batch of classifiers, our mappings; the sheet reads what does not fit by its own rule";
const POWER: &str =
    "energies are those of a 45 nm class and the estimate is for 16 nm; activity is not published";

/// Compares the closed form of a layer with the sheet.
pub(super) fn layer<'a>(file: &Arc<str>, row: &'a CrossRow) -> Sheet<'a> {
    let layer = Layer::from_row(row);
    let mut sheet = Sheet::new(file, row, "NVDLA, sheet", row.text("layer"));
    // The sheet stores up to four decimals.
    let dram = (layer.dram_kib(SHEET.0, 1.0) * 1e4).round() / 1e4;
    sheet.compare("DRAM [KiB], closed form", "dram_kib", dram, 0.0, Vec::new);
    let cycles = layer.mac_cycles(SHEET.1);
    sheet.compare("MAC cycles, closed form", "mac_cycles", cycles, 0.0, Vec::new);
    sheet
}

/// A layer as NVDLA stores it: of a strided one, the positions between strides are channels.
struct Layer {
    adds: bool,
    is_classifier: bool,
    /// Input channels, rows and columns.
    input: [f64; 3],
    filters: f64,
    /// Kernel rows and columns under these channels.
    kernel: [f64; 2],
    /// Outputs of a filter, and those that leave after a pool.
    outputs: f64,
    leaving: f64,
    /// MACs of an output for a channel of the input.
    taps: f64,
    winograd: bool,
}

impl Layer {
    fn from_row(row: &CrossRow) -> Self {
        let [c, h, w, k, r, s, stride, p, q, leave] =
            ["c", "h", "w", "k", "r", "s", "stride", "p", "q", "leave"]
                .map(|name| row.extent(name));
        let channels = f64::from(c) * f64::from(stride).powi(2);
        let over = |extent: u32| f64::from(extent.div_ceil(stride));
        Self {
            adds: row.text("kind").contains("elwise"),
            is_classifier: row.text("kind") == "fc",
            input: [in_blocks(channels, CHANNEL_BLOCK), over(h), over(w)],
            filters: k.into(),
            kernel: [over(r), over(s)],
            outputs: f64::from(p) * f64::from(q),
            leaving: leave.into(),
            taps: f64::from(r) * f64::from(s) / f64::from(stride).powi(2),
            winograd: (r, s) == (3, 3),
        }
    }

    /// What DRAM moves with a buffer of `buffer` KiB \[KiB\]; `batch` images share the weights of a classifier. The
    /// smaller of features and weights stays, the other is read as often as the first is divided.
    fn dram_kib(&self, buffer: f64, batch: f64) -> f64 {
        let [channels, rows, columns] = self.input;
        let [kernel_rows, kernel_columns] = self.kernel;
        let factor = if self.winograd { WINOGRAD.1 } else { 1.0 };
        let of_filter = channels * kernel_rows * kernel_columns * factor / 1024.0;
        let (features, weights) = (channels * rows * columns / 1024.0, of_filter * self.filters);
        let outputs = in_blocks(self.filters, CHANNEL_BLOCK) * self.leaving / 1024.0;
        if self.is_classifier {
            return features + weights / batch + outputs;
        }
        let moved = if features >= weights {
            let free = buffer - channels * columns * kernel_rows / 1024.0;
            features * if weights > free { (weights / free).ceil() } else { 1.0 } + weights
        } else {
            let free = buffer - (32.0 * of_filter).min(buffer / 2.0);
            weights * if features > free { (features / free).ceil() } else { 1.0 } + features
        };
        moved + outputs * if self.adds { 2.0 } else { 1.0 }
    }

    fn mac_cycles(&self, macs: f64) -> f64 {
        // Blocks of filters are not filled up in the classifier.
        let block = if self.is_classifier { 1.0 } else { FILTER_BLOCK };
        let products = self.input[0] * self.taps * self.outputs * in_blocks(self.filters, block);
        products / macs / if self.winograd { WINOGRAD.0 } else { 1.0 }
    }
}

/// `n` rounded up to whole blocks.
fn in_blocks(n: f64, block: f64) -> f64 {
    (n / block).ceil() * block
}

/// The published sizes.
pub(super) struct Chips {
    maker: Maker,
    layers: Vec<Layer>,
}

impl Chips {
    /// # Errors
    ///
    /// [`ValidateError`] if an embedded file is invalid.
    pub(super) fn new() -> Result<Self, ValidateError> {
        let table = cross_tables::read(&Source::new("nvdla_layers.csv", LAYERS))?;
        let layers = table.rows.iter().map(Layer::from_row).collect();
        Ok(Self { maker: Maker::new(&[])?, layers })
    }

    /// Compares frame rate and powers of a size.
    pub(super) fn compare<'a>(
        &mut self,
        file: &Arc<str>,
        row: &'a CrossRow,
    ) -> Result<Sheet<'a>, Problem> {
        let macs = row.extent("macs_int8");
        let mut sheet = Sheet::new(file, row, "NVDLA, 7 sizes", &format!("{macs} MACs"));
        let rate = self.rate(row);
        let published = "resnet50_int8_fps";
        sheet.compare("frames a second, closed form", published, rate, RATE, Vec::new);

        let network =
            self.maker.network_called(NETWORK).map_err(|it| row.problem("macs_int8", it))?;
        let chip = self.chip(row, true)?;
        let cost = self.maker.cost(row, "macs_int8", &network, &chip)?;
        let seconds = cost.latency.as_ms() * 1e-3;
        let ours = 1.0 / seconds;
        sheet.compare("frames a second, ours", published, ours, NEAR, || vec![Rule::open(OURS)]);

        let open = || vec![Rule::open(POWER)];
        let peak = PeakPower::compute(&self.chip(row, false)?);
        let on_chip = peak.total() - peak.dram;
        sheet.compare("peak power on chip [mW]", "peak_mw_16nm", on_chip, NEAR, open);
        let dram_bytes: u64 = cost.layers.iter().map(|layer| layer.dram_bytes).sum();
        let dram_nj = dram_bytes as f64 * chip.byte_energy.dram * 1e-3;
        let mean_mw = (cost.energy_nj - dram_nj) * 1e-6 / seconds;
        sheet.compare("mean power on chip [mW]", "average_mw_16nm", mean_mw, NEAR, open);
        Ok(sheet)
    }

    /// Frames a second by the closed form, a layer as long as DRAM or MACs take.
    fn rate(&self, row: &CrossRow) -> f64 {
        let [macs, buffer, clock] =
            ["macs_int8", "conv_buffer_kb", "clock_mhz"].map(|name| f64::from(row.extent(name)));
        let bytes_per_second = row.number(BANDWIDTH).unwrap_or(f64::INFINITY) * 1e9;
        let seconds = |layer: &Layer| {
            let dram = layer.dram_kib(buffer, BATCH) * 1024.0 / bytes_per_second;
            dram.max(layer.mac_cycles(macs) / (clock * 1e6))
        };
        1.0 / self.layers.iter().map(seconds).sum::<f64>()
    }

    /// The chip of a row. DRAM moves whole bytes in a cycle here: where it moves less, `as_fast` takes as many times
    /// the MACs at a lower clock, which are as fast; otherwise it moves a byte.
    fn chip(&mut self, row: &CrossRow, as_fast: bool) -> Result<Accelerator, Problem> {
        let (macs, clock) = (row.extent("macs_int8"), row.extent("clock_mhz"));
        let bytes = row.number(BANDWIDTH).unwrap_or(1.0) * 1e3 / f64::from(clock);
        let slower = if as_fast && bytes < 1.0 { (1.0 / bytes).round() as u32 } else { 1 };
        // Channels of a block in `hw/spec/defs` of nvdla/hw where a size is there, and between them.
        let channels = match macs {
            1024.. => 64,
            256.. => 32,
            128.. => 16,
            _ => 8,
        };
        let size = Size {
            pes: macs.saturating_mul(slower),
            channels,
            clock_mhz: clock / slower,
            memory_kib: row.extent("conv_buffer_kb"),
            dram: (bytes * f64::from(slower)).round().max(1.0) as u32,
        };
        self.maker.chip(size).map_err(|error| row.problem("macs_int8", error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strided_layer_has_its_positions_as_channels_and_reads_features_again() {
        // 256 channels of 56x56 to 512 of 28x28, 1x1, stride 2: 1024 channels of 28x28 are 784 KiB, the weights 512
        // KiB. 484 KiB are free beside a row of 28 KiB, so that the features are read twice.
        let layer = Layer {
            adds: false,
            is_classifier: false,
            input: [1024.0, 28.0, 28.0],
            filters: 512.0,
            kernel: [1.0, 1.0],
            outputs: 784.0,
            leaving: 784.0,
            taps: 0.25,
            winograd: false,
        };
        assert_eq!(layer.dram_kib(512.0, 1.0), 2.0 * 784.0 + 512.0 + 392.0);
        assert_eq!(layer.dram_kib(1024.0, 1.0), 784.0 + 512.0 + 392.0);
        assert_eq!(layer.mac_cycles(2048.0), 50176.0);
        let adds = Layer { adds: true, ..layer };
        assert_eq!(adds.dram_kib(1024.0, 1.0), 784.0 + 512.0 + 2.0 * 392.0);
    }
}
