//! The roofline, the table of measurements, and the library that evaluates a cost model once for many
//! runs.

use std::sync::Arc;

use crate::support::{self, runs};
use xrsim::config::{Source, cost_csv};
use xrsim::cost::library::CostLibrary;
use xrsim::cost::maestro::Maestro;
use xrsim::cost::roofline::Roofline;
use xrsim::cost::table::{CostRecord, CostRecords, Latency, RecordError};
use xrsim::cost::{CostModel, Infeasible, LayerCost, Quantity};
use xrsim::hardware::{Accelerator, System};
use xrsim::ids::{AccelId, ModelId};
use xrsim::model::{ConvKind, ConvShape, Layer, Network};
use xrsim::scenario::Scenario;
use xrsim::units::{ClockRate, Cycles, Millijoules, SimSpan};

fn accelerator(name: &str, pes: u32, bandwidth: u64) -> Accelerator {
    let dataflow = support::published_dataflow("WS");
    let mut accelerator = support::accelerator(&dataflow, pes, &[bandwidth]);
    accelerator.name = name.into();
    accelerator
}

fn network(name: &str, layers: &[&str]) -> Network {
    let shape = support::shape(ConvKind::Conv, [19, 19, 24, 13, 3, 3]);
    let layers = layers.iter().map(|&name| Layer::new(name, shape));
    Network::new(name, layers.collect()).expect("a legal network")
}

fn roofs(shape: &ConvShape, accelerator: &Accelerator) -> Vec<Quantity> {
    let columns = Roofline.explain(&(*shape).into(), accelerator).expect("always feasible");
    columns.into_iter().map(|(_, quantity)| quantity).collect()
}

#[test]
fn the_roofline_is_the_slowest_of_computing_and_two_interfaces() {
    // Outputs 2x2x3: 2*6*3*9 = 324 MACs. Elements: input 3*4*5 = 60, weight 2*3*9 = 54, output 12.
    let shape = support::shape(ConvKind::Conv, [2, 3, 4, 5, 3, 3]);
    // 0.00288 nJ * (324 + 126 * (6 + 75)).
    let energy = Quantity::Real(0.00288 * 10_530.0);
    let expected = |cycles: [i64; 4], bound: &str| {
        let [cycles, compute, noc, dram] = cycles.map(Quantity::Count);
        let (macs, elements) = (Quantity::Count(324), Quantity::Count(126));
        let bound = Quantity::Text(bound.into());
        vec![cycles, energy.clone(), compute, noc, dram, macs, elements, bound]
    };
    let mut accelerator = accelerator("a", 10, 4);
    assert_eq!(roofs(&shape, &accelerator), expected([33, 33, 32, 1], "compute"));
    accelerator.noc.set(&[3, 1000], |level, bandwidth| level.bandwidth = bandwidth);
    assert_eq!(roofs(&shape, &accelerator), expected([42, 33, 42, 1], "noc"));
    accelerator.memory.dram_bandwidth = 2;
    assert_eq!(roofs(&shape, &accelerator), expected([63, 33, 42, 63], "dram"));
}

#[test]
fn the_roofline_heeds_batch_stride_and_depthwise_layers() {
    // 2 images of 3 channels, 5x5 to 2x2 at stride 2: 2*3*4*9 = 216 MACs. Elements: input 150,
    // weight 27 (one filter per channel), output 24.
    let shape = ConvShape {
        n: 2,
        stride_y: 2,
        stride_x: 2,
        ..support::shape(ConvKind::Depthwise, [3, 3, 5, 5, 3, 3])
    };
    let found = roofs(&shape, &accelerator("a", 1, 128));
    assert_eq!(found[5..7], [Quantity::Count(216), Quantity::Count(201)]);
}

fn record(accelerator: &str, layer: Option<&str>, ms: f64, mj: f64) -> CostRecord {
    CostRecord {
        network: "net".into(),
        accelerator: accelerator.into(),
        layer: layer.map(Box::from),
        latency: Latency::Time(SimSpan::from_ms(ms).expect("a span")),
        energy: Some(Millijoules::new(mj)),
        spread: None,
    }
}

#[test]
fn a_measured_network_costs_what_was_measured() {
    let table = CostRecords::new(vec![record("WS@2048", None, 1.5, 0.25)]).unwrap();
    let cost = table.network(&network("net", &["a", "b"]), &accelerator("x", 2048, 1)).unwrap();
    assert_eq!(cost.latency, SimSpan::from_ns(1_500_000));
    assert_eq!(cost.cycles, Cycles::new(1_500_000));
    assert_eq!(cost.energy(), Millijoules::new(0.25));
    assert!(cost.layers.is_empty());
    let explained = table.explain_network(&network("net", &["a"]), &accelerator("x", 2048, 1));
    assert_eq!(explained, Ok(vec![]));
}

#[test]
fn the_name_of_an_accelerator_comes_before_its_dataflow_and_pes() {
    let records = vec![record("WS@2048", None, 1.0, 0.0), record("WS-0", None, 2.0, 0.0)];
    let table = CostRecords::new(records).unwrap();
    let latency_ms = |name, pes| {
        let cost = table.network(&network("net", &["a"]), &accelerator(name, pes, 1));
        cost.map(|cost| cost.latency.as_ms())
    };
    assert_eq!(latency_ms("WS-0", 2048), Ok(2.0));
    assert_eq!(latency_ms("WS-0", 4096), Ok(2.0));
    assert_eq!(latency_ms("WS-1", 2048), Ok(1.0));
    assert_eq!(latency_ms("WS-1", 4096), Err(Infeasible::NotMeasured));
}

#[test]
fn measured_layers_add_up_in_execution_order() {
    let records = vec![record("x", Some("b"), 0.001, 0.5), record("x", Some("a"), 0.002, 0.25)];
    let table = CostRecords::new(records).unwrap();
    let mut slow = accelerator("x", 1024, 1);
    slow.clock = ClockRate::from_mhz(500.0).unwrap();
    // Layer `a` runs twice: 2000 ns at 500 MHz are 1000 cycles.
    let net = network("net", &["a", "b", "a"]);
    let cost = table.network(&net, &slow).unwrap();
    // The table has no traffic, so every tensor counts once: input 19*24*13 = 5928, weight
    // 19*19*9 = 3249, output 19*22*11 = 4598 bytes.
    let (dram_bytes, noc_bytes) = (13_775, 13_775);
    let layer = |cycles, mj: f64| {
        let energy_nj = mj * 1e6;
        LayerCost { cycles, energy_nj, dram_bytes, noc_bytes, ..LayerCost::default() }
    };
    assert_eq!(cost.layers, [layer(1000, 0.25), layer(500, 0.5), layer(1000, 0.25)]);
    assert_eq!(cost.latency, SimSpan::from_ns(5000));
    assert_eq!(cost.energy(), Millijoules::new(1.0));
    let rows = table.explain_network(&net, &slow).unwrap();
    assert_eq!(rows[1][0], ("runtime_cycles", Quantity::Count(500)));
}

#[test]
fn layers_that_are_missing_or_unknown_are_named_when_used() {
    let cost = |layers: &[&str]| {
        let records = layers.iter().map(|layer| record("x", Some(layer), 1.0, 1.0));
        let table = CostRecords::new(records.collect()).unwrap();
        table.network(&network("net", &["a", "b", "c"]), &accelerator("x", 1024, 1)).unwrap_err()
    };
    assert_eq!(cost(&["a", "c"]), Infeasible::LayerNotMeasured { layer: "b".into() });
    assert_eq!(cost(&["a", "b", "c", "d"]), Infeasible::UnknownLayer { layer: "d".into() });
}

#[test]
fn records_that_contradict_each_other_are_all_reported() {
    let records = vec![
        record("x", None, 1.0, 1.0),
        record("x", None, 2.0, 1.0),
        record("x", Some("a"), 1.0, 1.0),
        record("y", Some("a"), 1.0, 1.0),
        record("y", Some("a"), 1.0, 1.0),
        record("y", None, 1.0, 1.0),
        record("z", None, 1.0, -1.0),
        record("z", None, 1.0, f64::NAN),
    ];
    assert_eq!(
        CostRecords::new(records).unwrap_err(),
        [
            RecordError::Duplicate { record: 1, earlier: 0 },
            RecordError::WholeAndLayers { record: 2, earlier: 0 },
            RecordError::Duplicate { record: 4, earlier: 3 },
            RecordError::WholeAndLayers { record: 5, earlier: 3 },
            RecordError::Energy { record: 6 },
            RecordError::Energy { record: 7 },
        ]
    );
}

#[test]
fn a_table_of_measurements_does_not_know_shapes() {
    let table = CostRecords::new(vec![record("x", None, 1.0, 1.0)]).unwrap();
    let shape = support::shape(ConvKind::Conv, [1, 1, 1, 1, 1, 1]);
    let refused = table.layer(&shape.into(), &accelerator("x", 1024, 1));
    assert_eq!(refused, Err(Infeasible::UnnamedLayer));
}

fn parse(text: &str) -> Result<CostRecords, String> {
    cost_csv::parse(&Source::new("t.csv", text)).map_err(|error| error.to_string())
}

#[test]
fn columns_come_in_any_order_and_layer_may_be_left_out() {
    let text =
        "# measured in June\n\nenergy_mj, network,latency_ms,accelerator\n0.25,net,1.5,WS@2048\n";
    let expected = CostRecords::new(vec![record("WS@2048", None, 1.5, 0.25)]);
    assert_eq!(parse(text), Ok(expected.unwrap()));
    let text =
        "network,accelerator,layer,cycles,energy_mj\r\nnet,x,\"a,1\",2000,1e0\r\nnet,y,,7,1\r\n";
    let cycles =
        |cycles, record| CostRecord { latency: Latency::Cycles(Cycles::new(cycles)), ..record };
    let expected = CostRecords::new(vec![
        cycles(2000, record("x", Some("a,1"), 0.0, 1.0)),
        cycles(7, record("y", None, 0.0, 1.0)),
    ]);
    assert_eq!(parse(text), Ok(expected.unwrap()));
}

#[test]
fn every_problem_of_the_header_is_placed() {
    let columns = "columns: network, accelerator, layer, latency_ms, cycles, energy_mj, latency_p50_ms, \
                   latency_p95_ms, latency_p99_ms, samples";
    assert_eq!(parse(""), Err(format!("t.csv:1:1: the table is empty ({columns})")));
    assert_eq!(
        parse("network,acelerator,xyz,network,latency_ms,cycles\n"),
        Err([
            "t.csv:1:1: no column `accelerator`",
            "t.csv:1:9: unknown column `acelerator` (did you mean `accelerator`?)",
            &format!("t.csv:1:20: unknown column `xyz` ({columns})"),
            "t.csv:1:24: column `network` is named twice",
            "t.csv:1:43: both `latency_ms` and `cycles`; give one",
        ]
        .join("\n"))
    );
    assert_eq!(
        parse("network,accelerator,latency_ms,energy_mj\n"),
        Err("t.csv:2:1: the table has no rows".into())
    );
}

#[test]
fn every_problem_of_the_rows_is_placed() {
    let text = "network,accelerator,layer,latency_ms,energy_mj
net,,,1,1
net,x,,-1,nan
\"ä\",\"x\",\"a,\nb\",inf,1e400

net,y,1,1
,z,,,
";
    let ms = "milliseconds, from 0 to 9007199254";
    let mj = "millijoules, from 0 to 1000000000";
    assert_eq!(
        parse(text),
        Err([
            "t.csv:2:5: the accelerator is not named",
            &format!("t.csv:3:8: `-1` is no latency ({ms})"),
            &format!("t.csv:3:11: `nan` is no energy ({mj})"),
            &format!("t.csv:5:4: `inf` is no latency ({ms})"),
            &format!("t.csv:5:8: `1e400` is no energy ({mj})"),
            "t.csv:7:1: 4 cells under 5 columns",
            "t.csv:8:1: the network is not named",
            &format!("t.csv:8:5: `` is no latency ({ms})"),
        ]
        .join("\n"))
    );
}

#[test]
fn rows_that_contradict_each_other_name_the_earlier_line() {
    let text = "network,accelerator,latency_ms,energy_mj,layer
net,x,1,1,

net,x,1,1,
net,x,1,1,a
";
    assert_eq!(
        parse(text),
        Err([
            "t.csv:4:1: the same network, accelerator and layer were given before (see line 2)",
            "t.csv:5:1: both the whole network and single layers are given on this accelerator (see line 2)",
        ]
        .join("\n"))
    );
}

/// Spans from 2^53 ns on have no exact number of milliseconds, and 2^64 ns do not fit into a span.
#[test]
fn costs_beyond_every_time_are_refused_where_they_stand() {
    let of = |column: &str, value: &str| {
        parse(&format!("network,accelerator,{column},energy_mj\nnet,x,1,1\nnet,y,{value},1\n"))
    };
    for (column, most, beyond, allowed) in [
        (
            "cycles",
            "9007199254000000",
            "9007199254000001",
            "whole cycles, from 0 to 9007199254000000",
        ),
        ("cycles", "0", "18446744073709551615", "whole cycles, from 0 to 9007199254000000"),
        ("latency_ms", "9007199254", "9007199254.000002", "milliseconds, from 0 to 9007199254"),
        ("latency_ms", "0", "-0.0000001", "milliseconds, from 0 to 9007199254"),
    ] {
        assert!(of(column, most).is_ok(), "{column} {most}");
        let expected = format!("t.csv:3:7: `{beyond}` is no latency ({allowed})");
        assert_eq!(of(column, beyond), Err(expected));
    }
    let mut slow = accelerator("y", 1024, 1);
    slow.clock = ClockRate::from_mhz(1.0).unwrap();
    let table = of("cycles", "9007199254000000").unwrap();
    let found = table.network(&network("net", &["a"]), &slow).unwrap_err().to_string();
    assert!(found.contains("which take longer than 9007199254 ms at its clock"), "{found}");
    let cycles = Latency::Cycles(Cycles::new(u64::MAX));
    let record = CostRecord { latency: cycles, ..record("x", None, 0.0, 0.0) };
    assert_eq!(CostRecords::new(vec![record]), Err(vec![RecordError::Latency { record: 0 }]));
}

fn scenario(network: &Arc<Network>) -> Scenario {
    let mut model = runs::model("NT", 30.0);
    model.unit.network = Arc::clone(network);
    runs::scenario(vec![], vec![model])
}

#[test]
fn accelerators_of_one_make_are_costed_once_unless_names_matter() {
    let network = Arc::new(network("net", &["a"]));
    let scenario = scenario(&network);
    let accelerators = vec![accelerator("WS-0", 2048, 128), accelerator("WS-1", 2048, 128)];
    let system = System::new("twins", accelerators).unwrap();
    let table = |model: &dyn CostModel| {
        CostLibrary::evaluate(model, [(&scenario, &system)]).table(&scenario, &system).unwrap()
    };
    let (model, first, second) = (ModelId::new(0), AccelId::new(0), AccelId::new(1));

    let computed = table(&Maestro);
    let shared = |accelerator| Arc::as_ptr(computed.on(model, accelerator).network());
    assert_eq!(shared(first), shared(second));

    let records = vec![record("WS-0", None, 1.0, 1.0), record("WS-1", None, 2.0, 1.0)];
    let measured = table(&CostRecords::new(records).unwrap());
    assert_eq!(measured.on(model, first).latency().as_ms(), 1.0);
    assert_eq!(measured.on(model, second).latency().as_ms(), 2.0);
    assert_eq!(measured.best_latency(model).as_ms(), 1.0);
}
