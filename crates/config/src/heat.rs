//! Keys `thermal` and `battery` of `device:` files.

use std::sync::Arc;

use xrsim_model::hardware::Tasks;
use xrsim_model::hardware::device::{
    Battery, Heat, HeatPaths, Link, NodeId, Peukert, ThermalError, ThermalNetwork, ThermalNode,
    Trip, TripAction,
};
use xrsim_model::units::SimSpan;

use super::hardware::names_once;
use super::quantities::{positive, quantity};
use super::yaml::Node;
use super::yaml::keys::keys;
use super::yaml::read::{At, Problems, unknown_name};
use super::yaml::values::{Reader, at, at_most, list, named, number, text, value};
use super::{Problem, form};

/// Name of what all heat goes to.
const AIR: &str = "air";

/// Value of the key `thermal`.
pub(super) fn thermal() -> impl Reader<Value = Heat> {
    keys_of_heat().then(HeatKeys::check)
}

keys! {
    /// Temperatures: nodes with a heat capacity, the ways of heat between them, and limits.
    fn keys_of_heat() -> struct HeatKeys: "a thermal network" {
        /// Temperature of the air, and of all nodes at the start [C].
        ambient_c: f64 = or(25, temperature());
        /// Time between two readings of the temperatures [ms].
        poll_ms: SimSpan = or(100, poll());
        /// Nodes by name, 1 to 16.
        nodes: Vec<(At<Box<str>>, NodeKeys)> = required(named("nodes", node()));
        /// Nodes that are heated. Heat without a node leaves the device.
        heat: Option<PathKeys> = optional(paths());
        /// Limits of temperatures, at most 16.
        trips: Option<Vec<TripKeys>> = optional(at_most(Heat::MAX_TRIPS, list("trips", trip())));
    }
}

keys! {
    /// A node of the thermal network.
    fn node() -> struct NodeKeys: "a node" {
        /// Heat capacity [J/K].
        j_per_k: f64 = required(number(1e-6..=ThermalNetwork::MAX));
        /// Resistances to other nodes, and to `air`, by name [K/W]. That between two nodes stands at one of them.
        k_per_w: Option<Vec<(At<Box<str>>, f64)>> =
            optional(named("resistances", number(1e-6..=1e6)));
    }
}

keys! {
    /// Nodes that the parts of the device heat.
    fn paths() -> struct PathKeys: "the heated nodes" {
        /// Node of the accelerators.
        accelerators: Option<At<Box<str>>> = optional(at(text()));
        /// Nodes of single accelerators of the system by their names.
        named: Option<Vec<(At<Box<str>>, At<Box<str>>)>> = optional(named("nodes", at(text())));
        /// Node of DRAM.
        dram: Option<At<Box<str>>> = optional(at(text()));
        /// Node of everything that takes base power.
        base: Option<At<Box<str>>> = optional(at(text()));
        /// Node of the losses of the battery.
        battery: Option<At<Box<str>>> = optional(at(text()));
    }
}

keys! {
    /// A limit of a temperature, read every `poll_ms`.
    fn trip() -> struct TripKeys: "a trip" {
        /// Node.
        node: At<Box<str>> = required(at(text()));
        /// Temperature from which it acts [C].
        at_c: f64 = required(temperature());
        /// It acts until the temperature is this much below `at_c` [K].
        hysteresis_k: f64 = or(1, number(0.0..=100.0));
        action as "do": TripAction = required(action());
        /// Names of the accelerators of the system that it limits. Without it, all.
        of: Option<Tasks> = optional(names_once("accelerators"));
    }
}

keys! {
    fn cap() -> struct CapKeys: "a cap" {
        /// Highest clock [MHz].
        cap_mhz: f64 = required(number(super::quantities::CLOCKS));
    }
}

fn temperature() -> impl Reader<Value = f64> {
    number(Heat::TEMPERATURES)
}

/// Time between two ticks: they cost time of the simulation.
fn poll() -> impl Reader<Value = SimSpan> {
    const MS: std::ops::RangeInclusive<f64> = 1.0..=1e6;
    quantity("a time", MS, "ms", |ms| SimSpan::from_ms(ms).filter(|_| MS.contains(&ms)))
}

fn action() -> impl Reader<Value = TripAction> {
    let read = |node: &Node<'_>, problems: &mut Problems| match node.scalar() {
        Some("step") => Some(TripAction::Step),
        Some("halt") => Some(TripAction::Halt),
        Some(_) => {
            problems.push(node.mismatch(&"`step`, `halt` or `{cap_mhz: MHZ}`"));
            None
        }
        None => cap().read(node, problems).map(|it| TripAction::Cap(it.cap_mhz)),
    };
    value(read, || form::any_of([form::word(["step", "halt"]), cap().form()])).says(
        "Effect on the accelerators. With `step`, the highest operating point that is allowed goes down by one at each \
         reading at which the node is too hot and does not cool, and up by one at each at which it is cool enough. With \
         `cap_mhz`, no point above this clock is allowed. With `halt`, nothing starts.",
    )
}

impl HeatKeys {
    fn check(self, node: &Node<'_>, problems: &mut Problems) -> Option<Heat> {
        let names = || self.nodes.iter().map(|(name, _)| &*name.value);
        let find = |name: &At<Box<str>>, problems: &mut Problems| {
            let place = names().position(|it| it == &*name.value).map(NodeId::new);
            if place.is_none() {
                problems.push(unknown_name("node", name, names()));
            }
            place
        };
        let mut nodes = Vec::new();
        let mut links: Vec<Link> = Vec::new();
        for (index, (name, keys)) in self.nodes.iter().enumerate() {
            if &*name.value == AIR {
                let message = "`air` is what all heat goes to, and no node";
                problems.push(Problem::new(name.span.clone(), message));
            }
            let mut to_air = 0.0;
            for (other, k_per_w) in keys.k_per_w.iter().flatten() {
                if &*other.value == AIR {
                    to_air = 1.0 / k_per_w;
                    continue;
                }
                let Some(end) = names().position(|it| it == &*other.value) else {
                    let known = names().filter(|it| *it != &*name.value && *it != AIR);
                    problems.push(unknown_name("node", other, known.chain([AIR])));
                    continue;
                };
                if end == index {
                    let message = format!("`{}` has no resistance to itself", name.value);
                    problems.push(Problem::new(other.span.clone(), message));
                    continue;
                }
                let between = [index, end].map(NodeId::new);
                if links.iter().any(|it| it.between == [between[1], between[0]]) {
                    let message = format!(
                        "the resistance between `{}` and `{}` stands at both; give one",
                        other.value, name.value
                    );
                    problems.push(Problem::new(other.span.clone(), message));
                }
                links.push(Link { between, w_per_k: 1.0 / k_per_w });
            }
            let name = name.value.clone();
            nodes.push(ThermalNode { name, j_per_k: keys.j_per_k, to_air });
        }
        let mut path = |name: Option<&At<Box<str>>>| name.and_then(|name| find(name, problems));
        let heat = self.heat.as_ref();
        let paths = HeatPaths {
            accelerators: path(heat.and_then(|it| it.accelerators.as_ref())),
            dram: path(heat.and_then(|it| it.dram.as_ref())),
            base: path(heat.and_then(|it| it.base.as_ref())),
            battery: path(heat.and_then(|it| it.battery.as_ref())),
        };
        let own = heat.and_then(|it| it.named.as_deref()).unwrap_or_default();
        let own =
            own.iter().filter_map(|(name, node)| Some((name.value.clone(), path(Some(node))?)));
        let named = own.collect();
        let mut trips = Vec::new();
        for trip in self.trips.iter().flatten() {
            let &TripKeys { at_c, hysteresis_k, action, .. } = trip;
            let of = trip.of.clone().unwrap_or_default();
            let at = find(&trip.node, problems);
            trips.extend(at.map(|node| Trip { node, at_c, hysteresis_k, action, of }));
        }
        // Without a link that could not be read, another message would be wrong.
        if problems.iter().any(|it| it.span.start >= node.span.start) {
            return None;
        }
        match ThermalNetwork::new(nodes, &links) {
            Ok(network) => {
                let (ambient_c, poll) = (self.ambient_c, self.poll_ms);
                Some(Heat { network: Arc::new(network), ambient_c, poll, paths, named, trips })
            }
            Err(error) => {
                let named = match &error {
                    ThermalError::NoPath(name) => self.nodes.iter().find(|it| it.0.value == *name),
                    _ => None,
                };
                let span = named.map_or(node.span.clone(), |(name, _)| name.span.clone());
                problems.push(Problem::new(span, error.to_string()));
                None
            }
        }
    }
}

keys! {
    /// Battery of the device.
    pub(super) fn battery() -> Battery: "a battery" {
        /// Energy of the full cell [Wh].
        wh = required(energy());
        /// Share of the energy of the cell that reaches the load.
        efficiency = or(1, share());
        /// Peukert's law: the cell gives less at high power. Without it, the same at any power.
        peukert = optional(peukert());
    }
}

keys! {
    /// Peukert's law in terms of power.
    fn peukert() -> Peukert: "Peukert's law" {
        /// Exponent; 1 has no effect.
        exponent = required(number(1.0..=1.5));
        /// Power at which the energy of the cell was rated [W].
        rated_w = required(positive());
    }
}

/// An energy \[Wh\].
fn energy() -> impl Reader<Value = f64> {
    number(1e-6..=Battery::MAX_WH)
}

/// An efficiency.
fn share() -> impl Reader<Value = f64> {
    number(1e-3..=1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;

    fn read<T>(reader: impl Reader<Value = T>, text: &str) -> Result<T, Vec<String>> {
        let mut problems = Problems::default();
        let root = parse(text, &mut problems).expect("it is YAML");
        let value = reader.read(&root, &mut problems);
        let messages: Vec<_> = problems.into_vec().into_iter().map(|it| it.message).collect();
        value.filter(|_| messages.is_empty()).ok_or(messages)
    }

    const HEADSET: &str = "
poll_ms: 1000
nodes:
  die: {j_per_k: 0.025, k_per_w: {board: 4}}
  board: {j_per_k: 40, k_per_w: {skin: 1}}
  skin: {j_per_k: 515, k_per_w: {air: 1.4}}
heat: {accelerators: die, dram: board, base: skin}
trips:
  - {node: skin, at_c: 43, hysteresis_k: 2, do: step}
  - {node: die, at_c: 95, do: {cap_mhz: 800}}
  - {node: die, at_c: 110, do: halt}
";

    /// 18 K over 1.4 K/W: 12.86 W keep the skin at 43 C in air of 25 C.
    #[test]
    fn a_thermal_network_has_its_nodes_paths_and_trips() {
        let heat = read(thermal(), HEADSET).expect("it is right");
        let [die, board, skin] = [0, 1, 2].map(NodeId::new);
        assert_eq!((heat.ambient_c, heat.poll), (25.0, SimSpan::from_ns(1_000_000_000)));
        let expected = HeatPaths {
            accelerators: Some(die),
            dram: Some(board),
            base: Some(skin),
            battery: None,
        };
        assert_eq!(heat.paths, expected);
        let trip = |node, at_c, hysteresis_k, action| Trip {
            node,
            at_c,
            hysteresis_k,
            action,
            of: Tasks::default(),
        };
        let trips = [
            trip(skin, 43.0, 2.0, TripAction::Step),
            trip(die, 95.0, 1.0, TripAction::Cap(800.0)),
            trip(die, 110.0, 1.0, TripAction::Halt),
        ];
        assert_eq!(heat.trips, trips);
        let sustainable = 18.0 / heat.network.resistance(skin, skin);
        assert!((sustainable - 12.857_142_857).abs() < 1e-6);
    }

    #[test]
    fn single_accelerators_have_nodes_and_trips_of_their_own() {
        let text = HEADSET
            .replace("heat: {accelerators: die,", "heat: {accelerators: die, named: {WS-0: board},")
            .replace("do: halt}", "do: halt, of: [WS-0, OS-1]}");
        let heat = read(thermal(), &text).expect("it is right");
        let [die, board] = [0, 1].map(NodeId::new);
        assert_eq!((heat.node_of("WS-0"), heat.node_of("OS-1")), (Some(board), Some(die)));
        let [step, _, halt] = &heat.trips[..] else { panic!("three trips") };
        assert!(step.limits("WS-0") && halt.limits("OS-1") && !halt.limits("RS-2"));
        for (from, to, expected) in [
            ("WS-0: board", "WS-0: bord", "no node named `bord`"),
            ("[WS-0, OS-1]", "[]", "this list of accelerators is empty"),
        ] {
            let messages = read(thermal(), &text.replace(from, to)).expect_err(to);
            assert!(messages.iter().any(|it| it.contains(expected)), "{messages:?} for {to}");
        }
    }

    #[test]
    fn a_wrong_thermal_network_is_refused_where_it_is_wrong() {
        for (from, to, expected) in [
            ("air: 1.4", "die: 1.4", "node `die` has no path to the air"),
            ("node: skin", "node: sikn", "no node named `sikn`"),
            ("board: 4", "bord: 4", "no node named `bord`"),
            ("board: 4", "die: 4", "`die` has no resistance to itself"),
            ("base: skin", "base: shell", "no node named `shell`"),
            (
                "skin: 1}",
                "skin: 1, die: 4}",
                "the resistance between `die` and `board` stands at both",
            ),
            ("board: 4", "board: 0", "expected a number from 0.000001 to 1000000, found `0`"),
            ("do: halt", "do: stop", "expected `step`, `halt` or `{cap_mhz: MHZ}`, found `stop`"),
            ("at_c: 43", "at_c: 400", "expected a number from -40 to 200"),
            ("poll_ms: 1000", "poll_ms: 0.5", "expected a time from 1 to 1000000 ms"),
            ("poll_ms: 1000", "poll_ms: 0", "expected a time from 1 to 1000000 ms, found `0`"),
            ("cap_mhz", "cap", "has no key `cap`"),
            ("  die:", "  air:", "`air` is what all heat goes to"),
        ] {
            assert!(HEADSET.contains(from));
            let messages = read(thermal(), &HEADSET.replace(from, to)).expect_err(to);
            assert!(messages.iter().any(|it| it.contains(expected)), "{messages:?} for {to}");
            let other = messages.iter().any(|it| it.contains("has no path"));
            assert!(!other || expected.contains("has no path"), "{messages:?} for {to}");
        }
        let many: String =
            (0..17).map(|n| format!("  n{n}: {{j_per_k: 1, k_per_w: {{air: 1}}}}\n")).collect();
        let messages = read(thermal(), &format!("nodes:\n{many}")).expect_err("17 nodes");
        assert_eq!(messages, ["a thermal network has 17 nodes; allowed are 1 to 16"]);
    }

    #[test]
    fn a_battery_has_energy_efficiency_and_a_law() {
        let full = read(battery(), "{wh: 18.88}").expect("it is right");
        assert_eq!(full, Battery { wh: 18.88, efficiency: 1.0, peukert: None });
        let law =
            read(battery(), "{wh: 1, efficiency: 0.85, peukert: {exponent: 1.05, rated_w: 4}}");
        let peukert = Some(Peukert { exponent: 1.05, rated_w: 4.0 });
        assert_eq!(law, Ok(Battery { wh: 1.0, efficiency: 0.85, peukert }));
        for wrong in
            ["{wh: 0}", "{wh: -1}", "{wh: .inf}", "{efficiency: 1}", "{wh: 1, efficiency: 0}"]
        {
            assert!(read(battery(), wrong).is_err(), "{wrong}");
        }
    }
}
