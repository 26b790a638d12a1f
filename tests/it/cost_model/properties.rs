//! The cost models on random dataflows, layers and accelerators.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::support::{self, cost_reference};
use xrsim::config::{Source, cost_csv};
use xrsim::cost::maestro::Maestro;
use xrsim::cost::roofline::Roofline;
use xrsim::cost::{CostModel, Infeasible, LayerCost, Quantity};
use xrsim::dataflow::{Axis, ClusterLevel, Dataflow, Directive, Size};
use xrsim::hardware::Accelerator;
use xrsim::model::{ConvKind, ConvShape, Layer, Network, Operator};

/// Settings that give the same cases on every machine and in every run.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(2023),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Ranges of map sizes, offsets and extents in a test.
#[derive(Clone, Copy)]
struct Sizes {
    maps: &'static [u32],
    offsets: &'static [u32],
    extents: &'static [u32],
    units: &'static [u32],
}

/// Ranges around the sizes of the published dataflows, with odd sizes between them.
const USUAL: Sizes = Sizes {
    maps: &[1, 1, 1, 2, 3, 4, 4, 7, 16, 64, 4000],
    offsets: &[1, 1, 1, 2, 3, 4, 5, 16],
    extents: &[1, 1, 2, 3, 3, 5, 7, 13, 19, 32, 100],
    units: &[1, 2, 3, 4, 16],
};

/// The largest ranges that inputs allow, so that most counts exceed 64 bits.
const HUGE: Sizes = Sizes {
    maps: &[1, 3, 1 << 12, Dataflow::MAX_SIZE],
    offsets: &[1, 7, Dataflow::MAX_SIZE],
    extents: &[1, 3, 1 << 10, ConvShape::MAX_EXTENT],
    units: &[1, 16, 1 << 12],
};

/// A level: some axes in any order, window axes as input or as output axes, one or two spatial maps.
fn directives(sizes: Sizes) -> impl Strategy<Value = Vec<Directive>> {
    let step = (prop::sample::select(sizes.maps), prop::sample::select(sizes.offsets));
    (
        Just([Axis::C, Axis::K, Axis::R, Axis::S, Axis::X, Axis::Y]).prop_shuffle(),
        prop::collection::vec(step, 1..=6),
        any::<[bool; 2]>(),
        prop::sample::subsequence(vec![0, 1, 2, 3, 4, 5], 1..=2),
    )
        .prop_map(|(axes, steps, by_output, spatial)| {
            let n = steps.len();
            let axes = axes.map(|axis| match axis {
                Axis::X if by_output[0] => Axis::OutputX,
                Axis::Y if by_output[1] => Axis::OutputY,
                other => other,
            });
            let is_spatial = |index: usize| spatial.iter().any(|place| place % n == index);
            let maps = axes.into_iter().zip(steps).enumerate();
            maps.map(|(index, (axis, (size, offset)))| match is_spatial(index) {
                true => Directive::spatial(size, offset, axis),
                false => Directive::temporal(size, offset, axis),
            })
            .collect()
        })
}

fn dataflow(sizes: Sizes) -> impl Strategy<Value = Arc<Dataflow>> {
    let inner = (prop::sample::select(sizes.units), directives(sizes));
    (directives(sizes), prop::collection::vec(inner, 0..=4)).prop_map(|(outermost, inner)| {
        let outermost = ClusterLevel { units: None, directives: outermost };
        let inner = inner.into_iter().map(|(units, directives)| ClusterLevel {
            units: Some(Size::Fixed(units)),
            directives,
        });
        let levels: Vec<_> = std::iter::once(outermost).chain(inner).collect();
        Arc::new(Dataflow::new("random", levels).expect("a legal dataflow"))
    })
}

/// An accelerator with enough PEs for 1 to 64 outermost units, and sometimes a few more.
fn accelerator(sizes: Sizes) -> impl Strategy<Value = Accelerator> {
    let bandwidth = prop::sample::select(&[1u64, 3, 16, 128, 256][..]);
    (dataflow(sizes), 1u64..=64, 0u64..1000, prop::collection::vec(bandwidth, 1..=3)).prop_map(
        |(dataflow, outermost, idle, bandwidth)| {
            let pes = dataflow.pes_per_unit().saturating_mul(outermost) + idle;
            let pes = u32::try_from(pes)
                .map_or(Accelerator::MAX_PES, |pes| pes.min(Accelerator::MAX_PES));
            support::accelerator(&dataflow, pes, &bandwidth)
        },
    )
}

fn shape(sizes: Sizes) -> impl Strategy<Value = ConvShape> {
    let extent = || prop::sample::select(sizes.extents);
    let kind = prop::sample::select(
        ConvKind::of_artifact().iter().map(|(kind, _)| *kind).collect::<Vec<_>>(),
    );
    (kind, [extent(), extent(), extent(), extent(), extent(), extent()])
        .prop_map(|(kind, extents)| support::shape(kind, extents))
        .prop_filter("a legal layer", |shape| Operator::Conv(*shape).check().is_ok())
}

/// Parts of tables of measured costs, well-formed and malformed.
const CELLS: &[&str] = &[
    ",",
    ",",
    ",",
    "\n",
    "\n",
    "\r\n",
    "\r",
    "\"",
    "\"\"",
    "#",
    " ",
    "ä",
    "net",
    "1",
    "1.5",
    "-1",
    "nan",
    "\u{feff}",
    "\nnet,x,,1,1",
    "\nnet,x,a,1,1",
];

/// Quantities that [`Maestro`] reports of a layer, in the form of the reference: counts, energy,
/// runtimes.
fn explained(columns: &[(&str, Quantity)]) -> (Vec<i128>, f64, String) {
    let mut counts = Vec::new();
    let (mut energy, mut runtimes) = (f64::NAN, String::new());
    for (_, quantity) in columns {
        match quantity {
            Quantity::Count(count) => counts.push(i128::from(*count)),
            Quantity::Real(real) => energy = *real,
            Quantity::Text(text) => runtimes.clone_from(text),
        }
    }
    (counts, energy, runtimes)
}

fn expected(counts: &cost_reference::Counts) -> (Vec<i128>, f64, String) {
    let runtimes: Vec<_> = counts.runtimes.iter().map(i128::to_string).collect();
    let mut columns = vec![counts.runtimes[0]];
    columns.extend(counts.counters);
    columns.push(counts.runtimes.len() as i128);
    (columns, counts.energy_nj, runtimes.join(";"))
}

/// Random cases of a test; a quarter without optimisation, which the reference takes most of its time for.
const CASES: u32 = if cfg!(debug_assertions) { 1000 } else { 4000 };

proptest! {
    #![proptest_config(config(CASES))]

    #[test]
    fn every_legal_dataflow_costs_what_blind_enumeration_says(
        accelerator in accelerator(USUAL),
        shape in shape(USUAL),
    ) {
        let found = Maestro.explain(&shape.into(), &accelerator);
        match (found, cost_reference::evaluate(&shape, &accelerator)) {
            (Ok(columns), Some(counts)) => {
                prop_assert_eq!(explained(&columns), expected(&counts));
            }
            (Err(Infeasible::TooManyLevels { .. }), None) => {}
            // The model refuses by a bound and not by the counts themselves; the bound must be close.
            (Err(Infeasible::Overflow), Some(counts)) => {
                prop_assert!(counts.peak > 1 << 56, "{:?}", counts);
            }
            (found, counts) => prop_assert!(false, "{:?} against {:?}", found, counts),
        }
    }

    #[test]
    fn no_input_however_large_makes_a_cost_model_panic(
        accelerator in accelerator(HUGE),
        shape in shape(HUGE),
    ) {
        let _ = Maestro.explain(&shape.into(), &accelerator);
        let _ = Roofline.explain(&shape.into(), &accelerator);
    }

    #[test]
    fn the_cost_of_a_layer_is_the_head_of_its_explanation(
        accelerator in accelerator(USUAL),
        shape in shape(USUAL),
    ) {
        for model in [&Maestro as &dyn CostModel, &Roofline] {
            let Ok(cost) = model.layer(&shape.into(), &accelerator) else { continue };
            let columns = model.explain(&shape.into(), &accelerator).unwrap();
            prop_assert_eq!(&columns[0].1, &Quantity::Count(cost.cycles as i64));
            prop_assert_eq!(&columns[1].1, &Quantity::Real(cost.energy_nj));
        }
    }

    #[test]
    fn a_network_costs_what_its_layers_cost_one_by_one(
        accelerator in accelerator(USUAL),
        shapes in prop::collection::vec(shape(USUAL), 1..12),
    ) {
        let layers = shapes.iter().map(|&shape| Layer::new("layer", shape));
        let network = Network::new("random", layers.collect()).expect("a legal network");
        let alone = shapes.iter().map(|shape| Maestro.layer(&(*shape).into(), &accelerator));
        let alone: Result<Vec<LayerCost>, Infeasible> = alone.collect();
        let together = Maestro.network(&network, &accelerator).map(|cost| cost.layers);
        prop_assert_eq!(together, alone);
    }

    #[test]
    fn no_text_makes_the_reader_of_measured_costs_panic(
        cells in prop::collection::vec(prop::sample::select(CELLS), 0..60),
    ) {
        let text = format!("network,accelerator,layer,latency_ms,energy_mj{}", cells.concat());
        if let Err(error) = cost_csv::parse(&Source::new("t.csv", text)) {
            prop_assert!(error.to_string().starts_with("t.csv:"));
        }
    }
}
