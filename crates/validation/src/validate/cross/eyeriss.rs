//! Eyeriss as it was run: AlexNet and VGG-16, pass by pass (docs/explanation/cost-model-loop-nest.md, sections 10.2 and
//! 10.4.4).

use std::sync::Arc;

use xrsim_config::cost_cases::parse_mapping;
use xrsim_config::cross_tables::CrossRow;
use xrsim_config::{Catalog, Problem};
use xrsim_experiment::whole_chip;
use xrsim_model::cost::loop_nest::{
    Axis, Evaluation, Machine, Mapping, Nest, evaluate, lower::lower,
};

use super::super::ValidateError;
use super::{Rule, Sheet};

const PLATFORM: &str = "eyeriss";
const PES: u32 = 168;
const CLOCK_HZ: f64 = 200e6;
const MIB: f64 = (1 << 20) as f64;

/// Networks that were measured: name in tables, network file, name of the source in results.
const NETWORKS: [(&str, &str, &str); 2] = [
    ("AlexNet", "alexnet/AlexNet", "Eyeriss, AlexNet"),
    ("VGG16", "vgg16/VGG16", "Eyeriss, VGG-16"),
];

/// Allowed relative differences of one layer. The chip is a measurement and the model leaves out control,
/// configuration and ramps between passes.
const LATENCY: f64 = 0.15;
const BUFFER: f64 = 0.10;
const DRAM: f64 = 0.20;
const POWER: f64 = 0.10;

/// Bits of a compressed word of DRAM for each of the three values in it, against 16 without compression.
const BITS_PER_VALUE: f64 = 64.0 / 3.0 / 16.0;

const COMPRESSED: &str =
    "DRAM holds run lengths of activations; zeros of the inputs stand for those of the outputs";
const CLOCK: &str = "zero inputs skip MACs and scratchpads; clock and control add 139 mW, which is fitted to these rows";
const ZEROS: &str = "zero inputs skip MACs and scratchpads; the energy of clock and control is fitted to these rows";
const INFERRED: &str = "the mapping is not published";
const CONV3: &str = "buffer accesses of CONV3 of AlexNet: no cause is known";

/// Both forms of the chip.
pub(super) struct Chips {
    catalog: std::cell::RefCell<Catalog>,
    /// Double-buffered, and with single-buffered weights.
    machines: [Machine; 2],
}

/// Parameters of a mapping as Table III of Chen et al., JSSC 2017, names them.
struct Pass {
    filters: u32,
    images: u32,
    columns: u32,
    filters_of_pe: u32,
    channels_of_pe: u32,
    channel_sets: u32,
    filter_sets: u32,
}

impl Chips {
    /// Makes the chip from the shipped platform.
    ///
    /// # Errors
    ///
    /// [`ValidateError`] if an embedded file is invalid.
    pub(super) fn new() -> Result<Self, ValidateError> {
        let mut catalog = Catalog::new();
        // The machine does not depend on the dataflow, which every layer replaces.
        let dataflow = catalog.dataflow("RS")?;
        let plain = whole_chip(&mut catalog, PLATFORM, &dataflow, PES)?;
        let mut single = plain.clone();
        single.noc.set(&[true, false], |level, single| level.single_weights = single);
        let machines = [&plain, &single].map(Machine::from_accelerator);
        Ok(Self { catalog: catalog.into(), machines })
    }

    /// Compares a layer.
    pub(super) fn compare<'a>(
        &self,
        file: &Arc<str>,
        row: &'a CrossRow,
    ) -> Result<Sheet<'a>, Problem> {
        let pass = Pass::from_row(row);
        let (source, nest) = self.nest(row, &pass)?;
        let [plain, single] = self.machines.each_ref().map(|machine| pass.run(row, &nest, machine));
        let (plain, single) = (plain?, single?);
        let repeat = f64::from(row.extent("repeat"));
        let mut sheet = Sheet::new(file, row, source, row.text("layer"));

        let ms = |it: &Evaluation| it.cycles as f64 * repeat / CLOCK_HZ * 1e3;
        let silicon = "silicon_processing_ms";
        sheet.compare("latency [ms], double-buffered", silicon, ms(&plain), LATENCY, Vec::new);
        sheet.compare("latency [ms], weights single", silicon, ms(&single), LATENCY, Vec::new);
        sheet.exact("active PEs", "silicon_active_pes", pass.active(&nest));

        let dram = &plain.memory.dram;
        let inferred = row.text("network") != "AlexNet";
        let open = || inferred.then(|| Rule::open(INFERRED));
        let outermost = &plain.levels()[0];
        let moved = outermost.sent.input + outermost.arrived + outermost.accumulated;
        let buffer = (2 * moved + dram.inputs_read + dram.outputs_written) as f64 * repeat / MIB;
        sheet.compare("buffer accesses [MiB]", "silicon_glb_mb", buffer, BUFFER, || {
            let unknown = row.text("network") == "AlexNet" && row.text("layer") == "CONV3";
            unknown.then(|| Rule::open(CONV3)).into_iter().chain(open()).collect()
        });

        let zeros = row.number("silicon_zero_ifmap").unwrap_or(0.0).min(1.0);
        let bytes = |activations: f64| {
            let plain = (dram.weights_read + dram.partial_sums_read) as f64;
            let moved = (dram.inputs_read + dram.outputs_written) as f64;
            (plain + moved * activations) * repeat / MIB
        };
        sheet.compare("DRAM [MiB]", "silicon_dram_mb", bytes(1.0), DRAM, || {
            let factor = ((1.0 - zeros) * BITS_PER_VALUE).min(1.0);
            let compressed = Rule::new(COMPRESSED, bytes(factor));
            std::iter::once(compressed).chain(open()).collect()
        });

        let energy = &plain.energy;
        let without_clock = energy.total() - energy.dram - energy.clock;
        let skipped = zeros * (energy.mac + energy.scratchpad);
        // The platform has 0.695 nJ a cycle, 139 mW at 200 MHz: the mean of what the model lacks on these
        // layers, and therefore no prediction.
        let with_clock = without_clock + energy.clock;
        // Picojoules in the time of the layer, in milliwatts.
        let power = |picojoules: f64| picojoules * repeat * 1e-9 / (ms(&plain) * 1e-3);
        let column = "silicon_power_mw";
        let by_rule = power(with_clock - skipped);
        sheet.compare("on-chip power [mW], no clock", column, power(without_clock), POWER, || {
            vec![Rule::new(CLOCK, by_rule)]
        });
        sheet.compare("on-chip power [mW], fitted clock", column, power(with_clock), POWER, || {
            vec![Rule::new(ZEROS, by_rule)]
        });
        Ok(sheet)
    }

    /// Name of the network in results, and the filters of one pass of the layer.
    fn nest(&self, row: &CrossRow, pass: &Pass) -> Result<(&'static str, Nest), Problem> {
        let (network, layer) = (row.text("network"), row.text("layer"));
        let known = NETWORKS.iter().find(|(name, ..)| *name == network);
        let Some(&(_, path, source)) = known else {
            let problem = row.problem("network", format!("unknown network `{network}`"));
            let names = NETWORKS.map(|(name, ..)| format!("`{name}`"));
            return Err(problem.help(format!("{} are known", names.join(" and "))));
        };
        let network = self.catalog.borrow_mut().network(path);
        let network = network.map_err(|error| row.problem("network", error.to_string()))?;
        let mut layers = network.layers().iter();
        let Some(layer) = layers.find(|it| &*it.name == layer) else {
            let names: Vec<_> = network.layers().iter().map(|it| &*it.name).collect();
            let problem = row.problem("layer", format!("unknown layer `{layer}`"));
            return Err(problem.help(format!("layers: {}", names.join(", "))));
        };
        let illegal = |illegal: xrsim_model::cost::loop_nest::Illegal| {
            row.problem("layer", illegal.to_string())
        };
        let nests = lower(&layer.operator).map_err(illegal)?;
        let [whole] = nests.as_slice() else {
            return Err(row.problem("layer", "the layer is not one loop nest"));
        };
        let filters = whole.extent(Axis::K);
        if pass.filters.saturating_mul(row.extent("repeat")) < filters {
            let message =
                format!("`repeat` times `m` is less than the {filters} filters of the layer");
            return Err(row.problem("repeat", message));
        }
        let mut extents = *whole.extents();
        extents[Axis::N as usize] = row.extent("batch");
        extents[Axis::K as usize] = pass.filters;
        Ok((source, Nest::new(extents, *whole.windows(), false).map_err(illegal)?))
    }
}

impl Pass {
    fn from_row(row: &CrossRow) -> Self {
        Self {
            filters: row.extent("m"),
            images: row.extent("n"),
            columns: row.extent("e"),
            filters_of_pe: row.extent("p"),
            channels_of_pe: row.extent("q"),
            channel_sets: row.extent("r"),
            filter_sets: row.extent("t"),
        }
    }

    /// Directives of the mapping. Kernel rows lie on the diagonal of a set of PEs, output rows on its
    /// columns; sets differ in filters or channels. The images of a pass share its weights.
    fn directives(&self, kernel_rows: u32) -> String {
        let Self { filters_of_pe: p, channels_of_pe: q, channel_sets: r, columns: e, .. } = *self;
        let spread = if self.filter_sets > 1 { "SpatialMap" } else { "TemporalMap" };
        let [outer, inner] = match self.images {
            1 => ["TemporalMap(1,1) N; ", ""],
            _ => ["", "TemporalMap(1,1) N; "],
        };
        let sets = match r {
            1 => String::new(),
            _ => format!("Cluster({r}); SpatialMap({q},{q}) C; "),
        };
        let channels = q.saturating_mul(r);
        format!(
            "{outer}TemporalMap(1,1) G; TemporalMap({e},{e}) Y'; TemporalMap({channels},{channels}) C; \
             {spread}({p},{p}) K; {inner}TemporalMap(1,1) X'; {sets}Cluster({e}); SpatialMap(1,1) Y'; \
             Cluster({kernel_rows}); SpatialMap(1,1) Y; SpatialMap(1,1) R; TemporalMap(Sz(S),Sz(S)) S"
        )
    }

    fn run(&self, row: &CrossRow, nest: &Nest, machine: &Machine) -> Result<Evaluation, Problem> {
        if self.images != 1 && self.images != nest.extent(Axis::N) {
            return Err(row.problem("n", "a pass has one image or all of them"));
        }
        let levels = parse_mapping(&self.directives(nest.extent(Axis::R)));
        let levels = levels.map_err(|_| row.problem("m", "the parameters make no mapping"))?;
        let machine = Machine { units_limit: Some(self.filter_sets), ..machine.clone() };
        let problem = |illegal: xrsim_model::cost::loop_nest::Illegal| {
            row.problem("m", format!("the parameters of the mapping: {illegal}"))
        };
        let mapping = Mapping::new(&levels, nest, &machine).map_err(problem)?;
        evaluate(nest, &mapping, &machine).map_err(problem)
    }

    /// PEs that a pass uses.
    fn active(&self, nest: &Nest) -> u64 {
        let factors = [self.filter_sets, self.channel_sets, self.columns, nest.extent(Axis::R)];
        factors.into_iter().map(u64::from).fold(1, u64::saturating_mul)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xrsim_config::{Source, cross_tables};

    #[test]
    fn the_shipped_dataflows_are_the_mappings_of_the_passes() {
        let table = include_str!("../../../../../tests/reference/crossval/eyeriss.csv");
        let table = cross_tables::read(&Source::new("eyeriss.csv", table)).expect("it is right");
        let layers = table.rows.iter().filter(|row| row.text("network") == "AlexNet");
        let kernels = [11, 5, 3, 3, 3];
        let mut n_layers = 0;
        for (row, kernel_rows) in layers.zip(kernels) {
            let levels = parse_mapping(&Pass::from_row(row).directives(kernel_rows));
            let dataflow = Catalog::new().dataflow(&format!("eyeriss/{}", row.text("layer")));
            let dataflow = dataflow.expect("it is shipped");
            assert_eq!(
                levels.expect("it is well formed"),
                *dataflow.directives(),
                "{}",
                dataflow.name()
            );
            n_layers += 1;
        }
        assert_eq!(n_layers, 5);
    }
}
