//! Heat and charge against closed forms and reference values, which were computed apart from this crate with 40 to 50
//! digits (`tests/reference/device`, and the examples below).

use std::sync::Arc;

use proptest::prelude::*;

use super::{Body, Charge, Item, Ledger, Limit, Thermal, Trips};
use xrsim_model::hardware::Device;
use xrsim_model::hardware::device::{
    Battery, Link, NodeId, Peukert, Points, ThermalNetwork, ThermalNode, Trip, TripAction,
};
use xrsim_model::units::{ClockRate, SimSpan, SimTime};

fn seconds(s: f64) -> SimSpan {
    SimSpan::from_s(s).expect("it is a span")
}

/// A network with these capacities \[J/K\], links (one, other, W/K) and conductances to the air \[W/K\].
fn network(capacities: &[f64], links: &[(usize, usize, f64)], air: &[f64]) -> Arc<ThermalNetwork> {
    let node = |(&j_per_k, &to_air)| ThermalNode { name: "node".into(), j_per_k, to_air };
    let link = |&(one, other, w_per_k)| Link { between: [one, other].map(NodeId::new), w_per_k };
    let links: Vec<_> = links.iter().map(link).collect();
    let nodes = capacities.iter().zip(air).map(node).collect();
    Arc::new(ThermalNetwork::new(nodes, &links).expect("it is a network"))
}

/// 10 K/W and 60 J/K: 600 s.
fn skin() -> Arc<ThermalNetwork> {
    network(&[60.0], &[], &[0.1])
}

/// A die of 0.05 J/K on a skin of 60 J/K, with 8 K/W between them and 10 K/W to the air.
fn glasses() -> Arc<ThermalNetwork> {
    network(&[0.05, 60.0], &[(0, 1, 1.0 / 8.0)], &[0.0, 0.1])
}

fn assert_close(found: f64, expected: f64, relative: f64) {
    let error = (found - expected).abs() / expected.abs().max(1.0);
    assert!(error <= relative, "{found} in place of {expected}: {error:e}");
}

/// 1e-12 is the tolerance of the specification; a step of 50 digits rounded to double precision has 1e-16.
#[test]
fn a_thousand_steps_are_those_of_matrix_exponentials() {
    let text = include_str!("../../../../tests/reference/device/thermal.csv");
    let numbers = |text: &str| -> Vec<f64> {
        let parts = text.split(';').filter(|part| !part.is_empty());
        parts.map(|part| part.parse().expect("it is a number")).collect()
    };
    let (mut n_steps, mut n_compared) = (0, 0);
    let mut thermal = Thermal::new(skin(), 0.0);
    for row in text.lines().skip(1) {
        let cells: Vec<_> = row.split(',').collect();
        let [_, _, capacities, edges, air, step, h, ambient, power, temperatures] = cells[..]
        else {
            panic!("a row has ten cells")
        };
        if step == "0" {
            let edge = |edge: &str| {
                let (ends, w_per_k) = edge.split_once(':').expect("it has a conductance");
                let (one, other) = ends.split_once('-').expect("it has two ends");
                let index = |text: &str| text.parse().expect("it is an index");
                (index(one), index(other), w_per_k.parse().expect("it is a number"))
            };
            let edges: Vec<_> = edges.split(';').filter(|it| !it.is_empty()).map(edge).collect();
            thermal = Thermal::new(network(&numbers(capacities), &edges, &numbers(air)), 25.0);
        }
        thermal.set_ambient(ambient.parse().expect("it is a number"));
        thermal.advance(&numbers(power), seconds(h.parse().expect("it is a number")));
        for (found, expected) in thermal.temperatures().iter().zip(numbers(temperatures)) {
            assert_close(*found, expected, 1e-12);
            n_compared += 1;
        }
        n_steps += 1;
    }
    assert_eq!((n_steps, n_compared), (1000, 754));
}

#[test]
fn one_node_approaches_its_steady_temperature() {
    for (time, expected) in [
        (1.0, 25.0416319637),
        (60.0, 27.3790645491),
        (600.0, 40.8030139707),
        (763.779405488, 43.0),
        (3600.0, 49.9380311956),
    ] {
        let mut thermal = Thermal::new(skin(), 25.0);
        thermal.advance(&[2.5], seconds(time));
        // Expected values have 12 digits.
        assert_close(thermal.temperatures()[0], expected, 2e-12);
    }
}

#[test]
fn a_die_on_a_skin_has_two_time_constants() {
    let rates = glasses();
    let mut rates: Vec<_> = rates.modes().rates().to_vec();
    rates.sort_by(f64::total_cmp);
    assert_close(rates[0], 0.0016652780099919, 1e-15);
    assert_close(rates[1], 2.50208472199001, 1e-14);
    for (time, die, skin) in [
        (0.4, 35.1153102732482, 25.0049027341162),
        (60.0, 42.8776188161355, 26.8896903372852),
        (3600.0, 60.9501100875253, 44.950143319755),
        (1e6, 61.0, 45.0),
    ] {
        let mut thermal = Thermal::new(glasses(), 25.0);
        thermal.advance(&[2.0, 0.0], seconds(time));
        assert_close(thermal.temperatures()[0], die, 1e-14);
        assert_close(thermal.temperatures()[1], skin, 1e-14);
    }
}

/// 2 W for 60 s, then none. The die warms the skin for 0.941 s more, from 26.88969 C; in the step of 60 s that follows, neither
/// end is the highest. Computed apart with 40 digits.
#[test]
fn the_highest_temperature_may_lie_within_a_step() {
    let mut thermal = Thermal::new(glasses(), 25.0);
    thermal.advance(&[2.0, 0.0], seconds(60.0));
    thermal.advance(&[0.0, 0.0], seconds(60.0));
    assert_close(thermal.highest()[0], 42.8776188161355, 1e-14);
    assert!((thermal.highest()[1] - 26.8987659329816).abs() <= 1e-6);
    assert!(thermal.temperatures()[1] < 26.8);
    let now = thermal.temperatures().to_vec();
    thermal.take_highest();
    assert_eq!(thermal.highest(), now);
}

/// 5 W for 2 s of every 10 s. The rise of a node ends at P R (1 - e^(-2/tau)) / (1 - e^(-10/tau)) in every period.
#[test]
fn periodic_power_gives_a_ripple() {
    for (resistance, capacity, expected) in
        [(8.0, 0.05, 39.7304821206), (5.0, 6.0, 5.6878429059), (10.0, 60.0, 10.0667775301)]
    {
        let mut thermal = Thermal::new(network(&[capacity], &[], &[1.0 / resistance]), 0.0);
        for _ in 0..2000 {
            thermal.advance(&[0.0], seconds(8.0));
            thermal.advance(&[5.0], seconds(2.0));
        }
        // Expected values have 10 decimals.
        let found = thermal.temperatures()[0];
        assert!((found - expected).abs() < 1e-10, "{found} {expected}");
    }
}

/// 1.5 W and leakage of 0.3 W e^(0.035 (T - 55)), sampled at the start of each step.
#[test]
fn sampled_leakage_converges_to_its_fixed_point() {
    for (n_steps, step, expected) in [
        (180, 10.0, 40.8866049515),
        (1800, 1.0, 40.8877807853),
        (18_000, 0.1, 40.8878977817),
        (100_000, 10.0, 41.8964587776276),
    ] {
        let mut thermal = Thermal::new(skin(), 25.0);
        for _ in 0..n_steps {
            let leakage = 0.3 * libm::exp(0.035 * (thermal.temperatures()[0] - 55.0));
            thermal.advance(&[1.5 + leakage], seconds(step));
        }
        assert!((thermal.temperatures()[0] - expected).abs() < 1e-10);
    }
}

/// A load takes 3.4, 2.6, 2.0 or 1.6 W at 1000, 900, 800 or 700 MHz; a trip at 43 C with 1 K steps every second. Mean
/// clock and highest temperature as computed beside the table.
#[test]
fn a_trip_that_steps_throttles_tick_by_tick() {
    let clocks = [700.0, 800.0, 900.0, 1000.0];
    let trip = Trip {
        node: NodeId::new(0),
        at_c: 43.0,
        hysteresis_k: 1.0,
        action: TripAction::Step,
        of: Default::default(),
    };
    let mut thermal = Thermal::new(skin(), 25.0);
    let mut trips = Trips::new(&[trip], thermal.temperatures(), clocks.len());
    let mut changes = Vec::new();
    let mut cycles = 0.0;
    for tick in 1..=7200 {
        let level = trips.limit().steps;
        let point = trips.limit().highest(clocks);
        cycles += clocks[point];
        thermal.advance(&[[1.6, 2.0, 2.6, 3.4][point]], seconds(1.0));
        trips.tick(thermal.temperatures());
        let now = trips.limit().steps;
        if now != level {
            changes.push((tick, thermal.temperatures()[0], level, now));
        }
    }
    let expected = include_str!("../../../../tests/reference/device/throttle.csv");
    let mut n_changes = 0;
    for (row, found) in expected.lines().skip(1).zip(&changes) {
        let cells: Vec<f64> = row.split(',').map(|it| it.parse().expect("a number")).collect();
        assert_eq!([cells[0], cells[2], cells[3]], [found.0, found.2, found.3].map(|it| it as f64));
        assert_close(found.1, cells[1], 1e-14);
        n_changes += 1;
    }
    assert_eq!((n_changes, changes.len()), (23, 23));
    assert!((thermal.highest()[0] - 43.0362043448).abs() < 1e-10);
    // 752.81 MHz.
    assert!((cycles / 7200.0 - 752.81).abs() < 0.005);
}

#[test]
fn caps_and_halts_hold_until_it_is_cooler_by_the_hysteresis() {
    let clocks = [600.0, 800.0, 1000.0];
    let trip = |at_c, action| Trip {
        node: NodeId::new(0),
        at_c,
        hysteresis_k: 2.0,
        action,
        of: Default::default(),
    };
    let both = [trip(40.0, TripAction::Cap(850.0)), trip(50.0, TripAction::Halt)];
    let mut trips = Trips::new(&both, &[25.0], clocks.len());
    let states = [
        (39.9, 2, false),
        (40.0, 1, false),
        (38.0, 1, false),
        (50.0, 1, true),
        (48.0, 1, true),
        (47.9, 1, false),
        (37.9, 2, false),
    ];
    for (temperature, point, halt) in states {
        trips.tick(&[temperature]);
        let limit = trips.limit();
        assert_eq!((limit.highest(clocks), limit.halt), (point, halt), "at {temperature}");
    }
    // A clock below all points leaves the lowest one.
    let mut low = Trips::new(&[trip(40.0, TripAction::Cap(1.0))], &[25.0], clocks.len());
    low.tick(&[60.0]);
    assert_eq!(low.limit().highest(clocks), 0);
    // It takes nothing from an accelerator without another point.
    let at = |mhz| Points::only(ClockRate::from_mhz(mhz).expect("it is a clock"));
    assert!(!low.limit().takes_from(&at(1000.0)));
    assert!(Limit { halt: true, ..Limit::default() }.takes_from(&at(1000.0)));
    // An accelerator with fewer points than steps keeps the lowest one.
    let mut steps = Trips::new(&[trip(40.0, TripAction::Step)], &[25.0], clocks.len());
    (0..5).for_each(|k| steps.tick(&[60.0 + f64::from(k)]));
    assert_eq!((steps.limit().steps, steps.limit().highest([800.0])), (2, 0));
    steps.tick(&[59.0]);
    assert_eq!(steps.limit().steps, 2);
}

/// 18.88 Wh rated at 3.776 W, with the exponent 1.05, against the ideal cell.
#[test]
fn a_battery_lasts_as_long_as_in_closed_form() {
    let battery = |peukert| Battery { wh: 18.88, efficiency: 1.0, peukert };
    let law = Peukert { exponent: 1.05, rated_w: 3.776 };
    for (load, hours, ideal) in
        [(8.6, 2.106834, 2.195349), (15.0, 1.174783, 1.258667), (2.0, 9.744781, 9.44)]
    {
        for (peukert, hours) in [(Some(law), hours), (None, ideal)] {
            let after = Charge::new(battery(peukert)).empties_after(load).expect("it empties");
            assert!((after.ns() as f64 / 3.6e12 - hours).abs() < 6e-7);
        }
    }
}

#[test]
fn a_battery_gives_its_energy_and_no_more() {
    let mut charge = Charge::new(Battery { wh: 1.0, efficiency: 0.8, peukert: None });
    // 3600 J: 10 W take 12.5 W.
    assert_eq!(charge.advance(0.0, seconds(100.0)), None);
    assert_eq!(charge.advance(10.0, seconds(144.0)), None);
    assert_eq!((charge.left_j(), charge.left()), (1800.0, 0.5));
    assert_eq!(charge.loss_j(), 360.0);
    assert_eq!(charge.advance(10.0, seconds(145.0)), Some(seconds(144.0)));
    assert!(charge.is_empty());
    assert_eq!((charge.left_j(), charge.taken_j(), charge.loss_j()), (0.0, 3600.0, 720.0));
    assert_eq!(charge.advance(10.0, seconds(1.0)), None);
    assert_eq!(charge.taken_j(), 3600.0);
    // Exactly at the end of a span counts.
    let mut exact = Charge::new(Battery { wh: 1.0, efficiency: 1.0, peukert: None });
    assert_eq!(exact.advance(3600.0, seconds(1.0)), Some(seconds(1.0)));
}

/// 10,000 ms of a run that was to last one: 4,000 samples are merged after 4 s, and 2,000 + 2,000 after 8 s.
#[test]
fn samples_of_a_long_run_are_merged() {
    let mut body = Body::new(&Device::default(), &[], [], SimSpan::from_ns(1_000_000));
    let mut ledger = Ledger::new(&[]);
    for number in 0..10_000 {
        let [from, to] = [number, number + 1].map(|ms| SimTime::from_ns(ms * 1_000_000));
        let watts = (number % 7) as f64;
        ledger.book(Item::Base, watts * 1e6);
        if body.draw(from, to, &[0.0, watts]) {
            ledger.sample(body.samples().len());
        }
    }
    let joules: Vec<f64> = ledger.sampled_joules(Item::Base).collect();
    assert_eq!((body.samples().len(), joules.len()), (2500, 2500));
    let mut begin = SimTime::ZERO;
    for (sample, joules) in body.samples().iter().zip(joules) {
        let span = sample.at - begin;
        assert_eq!(span.ns(), 4_000_000);
        assert!((joules - sample.watts * span.ns() as f64 / 1e9).abs() < 1e-9);
        begin = sample.at;
    }
}

/// Powers and spans of a course.
type Course = Vec<(Vec<f64>, f64)>;

prop_compose! {
    /// Networks as those of the golden steps, with any links, and a course of steps.
    fn courses()(n in 1usize..=6)(
        capacities in prop::collection::vec(-2.0..3.0f64, n),
        chain in prop::collection::vec(-2.0..1.0f64, n - 1),
        more in prop::collection::vec((0..n, 0..n, -2.0..1.0f64), 0..=n),
        air in prop::collection::vec(prop::option::of(-2.0..0.0f64), n),
        steps in prop::collection::vec((prop::collection::vec(0.0..8.0f64, n), -4.0..3.0f64), 1..12),
    ) -> (Arc<ThermalNetwork>, Course) {
        let ten = |exponent: f64| 10f64.powf(exponent);
        let capacities: Vec<_> = capacities.into_iter().map(ten).collect();
        let mut air: Vec<_> = air.into_iter().map(|it| it.map_or(0.0, ten)).collect();
        if air.iter().all(|it| *it == 0.0) {
            air[0] = 0.1;
        }
        let chain = chain.into_iter().enumerate().map(|(at, it)| (at, at + 1, ten(it)));
        let more = more.into_iter().filter(|(one, other, _)| one != other);
        let links: Vec<_> = chain.chain(more.map(|(one, other, it)| (one, other, ten(it)))).collect();
        let steps = steps.into_iter().map(|(power, h)| (power, ten(h)));
        (network(&capacities, &links, &air), steps.collect())
    }
}

/// Temperatures after a course from `ambient`, with each power times `factor`.
fn after(network: &Arc<ThermalNetwork>, course: &Course, ambient: f64, factor: f64) -> Thermal {
    let mut thermal = Thermal::new(network.clone(), ambient);
    for (power, span) in course {
        let power: Vec<_> = power.iter().map(|it| it * factor).collect();
        thermal.advance(&power, seconds(*span));
    }
    thermal
}

/// Energy that a course brings \[J\].
fn energy(course: &Course) -> f64 {
    let one = |(power, span): &(Vec<f64>, f64)| {
        power.iter().sum::<f64>() * (seconds(*span).ns() as f64 / 1e9)
    };
    course.iter().map(one).sum()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20261),
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_span_in_one_step_or_two_is_the_same((network, course) in courses(), share in 0.0..1.0f64) {
        let (mut whole, mut parts) = (Thermal::new(network.clone(), 25.0), Thermal::new(network, 25.0));
        for (power, span) in &course {
            let span = seconds(*span);
            let first = SimSpan::from_ns((span.ns() as f64 * share) as u64);
            whole.advance(power, span);
            parts.advance(power, first);
            parts.advance(power, SimSpan::from_ns(span.ns() - first.ns()));
            for (one, other) in whole.temperatures().iter().zip(parts.temperatures()) {
                prop_assert!((one - other).abs() <= 1e-12 * one.abs().max(1.0) * 4.0);
            }
        }
        for (one, other) in whole.highest().iter().zip(parts.highest()) {
            prop_assert!((one - other).abs() <= 2e-6 + 4e-12 * one.abs());
        }
        prop_assert!((whole.released_j() - parts.released_j()).abs() <= 1e-9 * energy(&course).max(1e-3));
    }

    /// Rises add up, and a rise does not depend on the temperature of the air.
    #[test]
    fn rises_of_courses_add_up((network, course) in courses()) {
        let [one, three, warm] =
            [(25.0, 1.0), (25.0, 3.0), (40.0, 1.0)].map(|(c, factor)| after(&network, &course, c, factor));
        for node in 0..network.nodes().len() {
            let [one, three, warm] = [&one, &three, &warm].map(|it| it.temperatures()[node] - it.ambient_c());
            prop_assert!((3.0 * one - three).abs() <= 1e-11 * three.abs().max(1.0));
            prop_assert!((one - warm).abs() <= 1e-11 * one.abs().max(1.0));
        }
    }

    /// A watt in one node heats another one as a watt there heats this one, at every time.
    #[test]
    fn heat_is_reciprocal((network, _) in courses(), span in -4.0..4.0f64) {
        let n = network.nodes().len();
        let rises: Vec<_> = (0..n).map(|source| {
            let mut thermal = Thermal::new(network.clone(), 0.0);
            let mut power = vec![0.0; n];
            power[source] = 1.0;
            thermal.advance(&power, seconds(10f64.powf(span)));
            thermal.temperatures().to_vec()
        }).collect();
        for (one, of_one) in rises.iter().enumerate() {
            for (other, of_other) in rises.iter().enumerate() {
                prop_assert!((of_one[other] - of_other[one]).abs() <= 1e-11 * of_one[other].max(1e-2));
            }
        }
    }

    /// Heat that stays and heat that goes to the air are the heat that came.
    #[test]
    fn no_heat_is_lost((network, course) in courses(), ambients in prop::collection::vec(-20.0..45.0f64, 12)) {
        let mut thermal = Thermal::new(network.clone(), 25.0);
        let mut moved = 0.0;
        for ((power, span), ambient) in course.iter().zip(ambients) {
            let before = thermal.released_j();
            thermal.set_ambient(ambient);
            thermal.advance(power, seconds(*span));
            moved += (thermal.released_j() - before).abs();
        }
        let stays = |(node, at_c): (&ThermalNode, &f64)| node.j_per_k * (at_c - 25.0);
        let stays: f64 = network.nodes().iter().zip(thermal.temperatures()).map(stays).sum();
        let error = (stays + thermal.released_j() - energy(&course)).abs();
        // The rounding of a temperature, 4e-15 K, in up to 12 steps and twice, times the capacities.
        let rounding: f64 = network.nodes().iter().map(|node| node.j_per_k * 1e-13).sum();
        prop_assert!(error <= 1e-9 * (energy(&course) + moved) + rounding, "{error:e}");
    }

    /// The temperatures of rounding: 1e-9 K.
    #[test]
    fn power_and_warm_air_cool_nothing((network, course) in courses()) {
        let base = after(&network, &course, 25.0, 1.0);
        for node in 0..network.nodes().len() {
            let at = |thermal: &Thermal| thermal.temperatures()[node];
            prop_assert!(at(&base) >= 25.0 - 1e-9);
            prop_assert!(at(&after(&network, &course, 25.0, 1.5)) >= at(&base) - 1e-9);
            prop_assert!(at(&after(&network, &course, 30.0, 1.0)) >= at(&base) - 1e-9);
        }
    }

    /// Drains of 30 s each until the sum is the energy of the cell.
    #[test]
    fn a_battery_empties_at_the_instant_of_its_closed_form(
        loads in prop::collection::vec(0.1..20.0f64, 1..40), exponent in 1.0..1.5f64, efficiency in 0.1..1.0f64,
    ) {
        let peukert = Some(Peukert { exponent, rated_w: 4.0 });
        let mut charge = Charge::new(Battery { wh: 0.5, efficiency, peukert });
        let mut left = 1800.0;
        for load in loads {
            let drain = load * (load / 4.0).powf(exponent - 1.0) / efficiency;
            let emptied = charge.advance(load, seconds(30.0));
            // An instant is a whole nanosecond.
            prop_assert_eq!(emptied.is_some(), left / drain <= 30.0);
            if let Some(after) = emptied {
                prop_assert!((after.ns() as f64 / 1e9 - left / drain).abs() < 2e-9);
                break;
            }
            left -= 30.0 * drain;
            prop_assert!((charge.left_j() - left).abs() < 1e-9);
        }
    }
}
