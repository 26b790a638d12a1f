//! Parts of `xrsim reproduce` that the paper does not have: rankings of two studies, and scaling.

use std::sync::Arc;

use xrsim::figures::{Format, render};
use xrsim::hardware::Flexibility;
use xrsim::mapper::{Chooser, Effort, Store};
use xrsim::reproduce::StudyScores;
use xrsim::reproduce::conclusions::best_systems;
use xrsim::reproduce::scaling::{Scaling, ScalingPoints};
use xrsim::reproduce::study::{MeanScores, Point};

/// Scores of three systems with 4,096 PEs on one scenario.
fn study(name: &str, scores: [f64; 3]) -> StudyScores {
    let point = |(system, overall): (&str, f64)| Point {
        scenario: "VR_gaming".into(),
        pes: 4096,
        system: system.into(),
        scores: MeanScores { overall, ..MeanScores::default() },
    };
    StudyScores {
        name: name.into(),
        points: ["A", "B", "C"].into_iter().zip(scores).map(point).collect(),
    }
}

/// Of three pairs, A and B change their order: (2 - 1) / 3. The order of the first study does not count.
#[test]
fn best_systems_end_with_the_agreement_of_the_last_two_rankings() {
    let studies =
        [study("first", [0.1; 3]), study("none", [0.1, 0.2, 0.3]), study("tiles", [0.6, 0.5, 0.9])];
    let table = best_systems(&studies);
    let header = ["scenario", "PEs", "first", "none", "tiles", "Kendall's tau of the last two"];
    assert_eq!(table.header, header);
    assert_eq!(table.rows[0], ["VR_gaming", "4096", "A 0.100", "C 0.300", "C 0.900", "0.33"]);
    // There are no runs with 8,192 PEs.
    assert_eq!(table.rows[1], ["VR_gaming", "8192", "not run", "not run", "not run", "-"]);
    assert_eq!(studies[0].agreement(&studies[1], "VR_gaming", 4096), None);
}

/// Speech recognition, with matrix products, and keyword detection, with convolutions, at two sizes.
fn small() -> ScalingPoints {
    let mut scaling = Scaling::default();
    scaling.networks = ["SR", "KD"].map(String::from).to_vec();
    scaling.dataflows = vec!["WS".into()];
    scaling.pes = vec![1024, 4096];
    scaling.flexibilities = vec![Flexibility::None, Flexibility::Forms, Flexibility::Tiles];
    let store = Arc::new(Store::default());
    let chooser = Chooser::new(Effort::new(10, 0, 1), store);
    scaling.measure(&chooser, &|_, _| {}).expect("the names are known")
}

/// The list WS spreads the columns of a product, of which matrix products have one: 16 times the PEs make
/// speech recognition no faster (mapping of rows: docs/explanation/mapper.md, section 1). Other forms do.
#[test]
fn scaling_says_which_networks_scale_and_what_limits_the_others() {
    let found = small();
    assert_eq!(found.points.len(), 12);
    for point in &found.points {
        let cycles = point.found.as_ref().expect("it runs").cycles;
        assert!(cycles >= point.least.cycles(), "{point:?}");
        let parts: u64 = point.found.iter().flat_map(|it| it.by_bound).sum();
        assert_eq!(parts, cycles, "every layer is limited by something: {point:?}");
    }
    for of_accelerator in found.points.chunks(3) {
        let cycles = of_accelerator.iter().map(|it| it.found.as_ref().expect("it runs").cycles);
        assert!(cycles.is_sorted_by(|less, more| less >= more), "{of_accelerator:?}");
    }
    let bound = &found.points[0].least;
    let larger = &found.points[3].least;
    assert!(bound.compute.abs_diff(4 * larger.compute) < 4, "{bound:?} {larger:?}");
    assert_eq!(bound.dram, larger.dram);

    let summary = found.summary();
    let header =
        ["network", "dataflow", "flexibility", "1024 PEs", "4096 PEs", "speedup", "limited by"];
    assert_eq!(summary.header, header);
    assert_eq!(summary.rows.len(), 8);
    let none = &summary.rows[1];
    assert_eq!(none[..3], ["SR", "WS", "none"]);
    assert_eq!(none[5], "1.0");
    assert!(none[6].contains("% of the PEs busy)"), "{none:?}");
    assert!(found.table().rows.iter().all(|row| row.len() == found.table().header.len()));
}

#[test]
fn scaling_is_the_same_every_time_and_can_be_drawn() {
    let found = small();
    assert_eq!(found, small());
    let [(dataflow, figure)] = &found.figures()[..] else { panic!("a figure for WS") };
    assert_eq!((&**dataflow, figure.panels.len(), figure.series.len()), ("WS", 2, 4));
    assert!(render(figure, Format::Svg).is_ok());
}
