//! Rockchip's NPUs: times of networks on silicon (docs/explanation/validation.md).

use std::fmt::Write as _;
use std::sync::Arc;

use xrsim_config::Problem;
use xrsim_config::cross_tables::CrossRow;
use xrsim_model::hardware::Accelerator;

use super::super::ValidateError;
use super::on_network::{Maker, Size};
use super::{Rule, Sheet};

/// One core of the RK3588: a third of the 6 TOPS of 8 bits that Rockchip states are 1,024 MACs at 1 GHz. Its buffer has
/// 384 KiB in the open driver of Linux (`rocket`, 12 banks of 32 KiB). Its bandwidth of DRAM is not known.
const CORE: Size = Size { pes: 1024, channels: 32, clock_mhz: 1000, memory_kib: 384, dram: 0 };

/// Bandwidths that are tried [byte/cycle], each with its quantity.
const BANDWIDTHS: [(u32, &str); 3] =
    [(4, "time [ms], DRAM 4 GB/s"), (8, "time [ms], DRAM 8 GB/s"), (16, "time [ms], DRAM 16 GB/s")];

const UNKNOWN: &str =
    "bandwidth of DRAM, buffer and mappings are not published, and the runtime of the host counts";

const NEAR: f64 = 0.10;

/// Name under which a table has [`mobilenet_v2`].
const MOBILENET_V2: &str = "mobilenet_v2";

/// The core with each bandwidth.
pub(super) struct Chips {
    maker: Maker,
    chips: Vec<(&'static str, Accelerator)>,
}

impl Chips {
    /// # Errors
    ///
    /// [`ValidateError`] if a chip cannot be made.
    pub(super) fn new() -> Result<Self, ValidateError> {
        let mut maker = Maker::new(&[(FILE, mobilenet_v2())])?;
        let chips =
            BANDWIDTHS.map(|(dram, quantity)| Ok((quantity, maker.chip(Size { dram, ..CORE })?)));
        let chips = chips.into_iter().collect::<Result<_, ValidateError>>()?;
        Ok(Self { maker, chips })
    }

    /// Compares the times of a network.
    pub(super) fn compare<'a>(
        &mut self,
        file: &Arc<str>,
        row: &'a CrossRow,
    ) -> Result<Sheet<'a>, Problem> {
        let name = if row.text("network") == MOBILENET_V2 { FILE } else { row.text("network") };
        let network = self.maker.network_called(name).map_err(|it| row.problem("network", it))?;
        let mut sheet = Sheet::new(file, row, "Rockchip RK3588, a core", row.text("model"));
        for (quantity, chip) in &self.chips {
            let cost = self.maker.cost(row, "network", &network, chip)?;
            let ms = cost.latency.as_ms();
            sheet.compare_with(
                quantity,
                "rk3588_single_core",
                ms,
                |fps| 1e3 / fps,
                NEAR,
                || vec![Rule::open(UNKNOWN)],
            );
        }
        Ok(sheet)
    }
}

/// Name of the file that stands for [`mobilenet_v2`] in the catalog.
const FILE: &str = "./mobilenet_v2.yaml";

/// MobileNetV2 for 224x224 (Sandler et al., CVPR 2018, table 2) as a network file.
fn mobilenet_v2() -> String {
    // Expansion, channels, repetitions and stride of the first of them.
    const STAGES: [[u32; 4]; 7] = [
        [1, 16, 1, 1],
        [6, 24, 2, 2],
        [6, 32, 3, 2],
        [6, 64, 4, 2],
        [6, 96, 3, 1],
        [6, 160, 3, 2],
        [6, 320, 1, 1],
    ];
    let mut text = String::from(
        "network:\n  name: mobilenet_v2_224\n  task: mobilenet_v2\n  title: MobileNetV2\n  dataset: ImageNet\n  layers:\n    \
         - conv: {k: 32, c: 3, y: 224, x: 224, r: 3, s: 3, stride: 2, pad: 1}\n",
    );
    let conv = |k: u32, c: u32, y: u32| {
        format!("    - conv: {{k: {k}, c: {c}, y: {y}, x: {y}, r: 1, s: 1}}\n")
    };
    let (mut channels, mut rows) = (32, 112);
    for [expansion, to, times, first] in STAGES {
        for time in 0..times {
            let (stride, wide) = (if time == 0 { first } else { 1 }, expansion * channels);
            if expansion > 1 {
                text += &conv(wide, channels, rows);
            }
            let _ = writeln!(
                text,
                "    - dwconv: {{c: {wide}, y: {rows}, x: {rows}, r: 3, s: 3, stride: {stride}, pad: 1}}"
            );
            rows /= stride;
            text += &conv(to, wide, rows);
            if time > 0 {
                let _ =
                    writeln!(text, "    - add: {{k: {to}, y: {rows}, x: {rows}, from: [4, 1]}}");
            }
            channels = to;
        }
    }
    text += &conv(1280, 320, 7);
    text + "    - global_pool: {k: 1280, y: 7, x: 7}\n    - matmul: {rows: 1, c: 1280, k: 1000}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 300.8 M products and 3.47 M weights and biases less those of the normalisations (torchvision).
    #[test]
    fn mobilenet_v2_has_its_published_size() {
        let mut maker = Maker::new(&[(FILE, mobilenet_v2())]).expect("the default cost model");
        let network = maker.network_called(FILE).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((network.macs(), network.weights()), (300_774_272, 3_469_760));
    }
}
