//! Area and power: the checks of docs/explanation/area.md, invariants, and bad files.

use crate::support::binary::{output, refused};

use xrsim::config::{Catalog, ConfigError, Hardware, Kind};
use xrsim::cost::CostModel as _;
use xrsim::cost::loop_nest::{Energies, LayerReport, LoopNest};
use xrsim::dataflow::Flexibility;
use xrsim::hardware::technology::{
    AcceleratorArea, AreaTerm, Constant, MemoryLaw, NetworkLaw, Technology, TechnologyError,
};
use xrsim::hardware::{Accelerator, Memory, MemoryEnergy, Noc, NocLevel, System};
use xrsim::metrics::Metrics;
use xrsim::units::Bytes;
use xrsim::{Experiment, Runs};

fn technology(name: &str) -> std::sync::Arc<Technology> {
    Catalog::new().technology(name).unwrap()
}

/// WS with these PEs, scratchpads, cluster buffers and shared memory \[byte\], and a network of 256 byte/cycle.
fn ws(pes: u32, scratchpad: u64, clusters: &[u64], shared: u64) -> Accelerator {
    let dataflow = Catalog::new().dataflow("WS").unwrap();
    let mut memory = Memory::new(Bytes::new(shared), Bytes::new(scratchpad), 128);
    memory.clusters = clusters.iter().copied().map(Bytes::new).collect();
    Accelerator::new("WS", dataflow, pes, Noc::uniform(NocLevel::new(256)), memory)
}

fn without_network(area: &AcceleratorArea) -> f64 {
    area.total() - area.network
}

#[test]
fn nvdla_is_reproduced_within_8_percent() {
    // NVDLA, doc/primer.rst: multiply-accumulates, KB of buffer, mm2 at 28 nm. The network, the scratchpads and the
    // overhead for each PE are inside of the published areas, and so of the constants.
    let published = [
        (2048, 512, 5.5),
        (1024, 256, 3.0),
        (512, 256, 2.3),
        (256, 256, 1.7),
        (128, 256, 1.4),
        (64, 128, 0.91),
        (32, 128, 0.85),
    ];
    let nvdla = technology("nvdla_28nm");
    for (macs, kib, mm2) in published {
        // No PE of WS is left over at a multiple of 256; the area does not depend on that.
        let accelerator = ws(macs, 0, &[], kib << 10);
        let found = without_network(&nvdla.area(&accelerator));
        assert!((found / mm2 - 1.0).abs() < 0.08, "{macs} MACs: {found} for {mm2}");
    }
}

#[test]
fn the_datapath_of_the_first_tpu_is_within_10_percent() {
    // 59 % (29 % unified buffer, 24 % matrix unit, 6 % accumulators) of a die of 331 mm2 at 28 nm.
    let accelerator = ws(65_536, 0, &[], 24 << 20);
    let nvdla = technology("nvdla_28nm");
    let accumulators = nvdla.memory().buffer_um2(Bytes::new(4 << 20)) / 1e6;
    let found = without_network(&nvdla.area(&accelerator)) + accumulators;
    assert!((found / (0.59 * 331.0) - 1.0).abs() < 0.10, "{found}");
    assert_eq!(format!("{found:.1}"), "203.0");
}

#[test]
fn the_worked_areas_are_exact_to_the_last_digit() {
    let nvdla = technology("nvdla_28nm");
    let area = nvdla.area(&ws(4096, 332, &[26_784, 5_312], 8 << 20));
    let round = |mm2: f64| format!("{mm2:.3}");
    let terms = [area.overhead, area.pes, area.scratchpads, area.clusters[0], area.clusters[1]];
    assert_eq!(terms.map(round), ["0.436", "6.960", "20.606", "2.028", "9.882"]);
    assert_eq!(area.clusters[2..], [0.0; 6]);
    assert_eq!(round(area.shared_memory), "26.063");
    assert_eq!(round(without_network(&area)), "65.976");
    let declared = nvdla.area(&ws(4096, 8 << 10, &[], 8 << 20));
    assert_eq!(round(without_network(&declared)), "250.847");
}

#[test]
fn the_density_of_memories_falls_with_their_size() {
    let nvdla = technology("nvdla_28nm");
    let sizes = [64.0, 332.0, 512.0, 5_312.0, 8_192.0, 26_784.0, 131_072.0];
    let densities = sizes.map(|size| nvdla.memory().um2_per_byte(size).unwrap());
    let printed = densities.map(|it| format!("{it:.3}"));
    assert_eq!(printed, ["23.442", "15.153", "13.509", "7.267", "6.479", "4.733", "3.107"]);
    let outside = [1.0, 1e9].map(|size| nvdla.memory().um2_per_byte(size));
    assert_eq!(outside, [Some(23.4416), Some(3.107)]);
}

#[test]
fn pes_and_memories_leak() {
    let nvdla = technology("nvdla_28nm");
    let leakage = |accelerator: &Accelerator| nvdla.leakage_mw(accelerator).unwrap();
    // 4,096 times 7.4 uW, and 8 MiB times 1.95 nW.
    assert!((leakage(&ws(4096, 0, &[], 0)) - 30.3104).abs() < 1e-9);
    let shared = leakage(&ws(4096, 0, &[], 8 << 20)) - leakage(&ws(4096, 0, &[], 0));
    assert!((shared - 16.357_785_6).abs() < 1e-9);
    assert_eq!(technology("maestro_2019").leakage_mw(&ws(256, 0, &[], 0)), None);
}

#[test]
fn ports_are_no_wider_than_their_pes_can_use() {
    // Of 512 PEs of WS, 2 units of 256 PEs could use 512 bytes each way down and 1,024 up: the bandwidth of 256
    // limits both. 32 clusters of 16 PEs use 32 down and 64 up, 512 PEs 2 down and 4 up.
    let area = technology("nvdla_28nm").area(&ws(512, 0, &[], 0));
    let bytes = 2.0 * 512.0 + 32.0 * 96.0 + 512.0 * 6.0;
    assert!((area.network - bytes * 8.0 * 2.93e-6).abs() < 1e-12, "{}", area.network);
}

#[test]
fn buses_and_arbiters_are_those_of_maestro() {
    let maestro = technology("maestro_2019");
    let NetworkLaw::Buses(law) = maestro.network() else {
        panic!("it has buses");
    };
    // A bus of 16 units at 256 byte/cycle, 6.87 mm2; an arbiter of 4,096 units, 8,559 mm2.
    let arbiter = law.um2(4096.0, 0.0) / 1e6;
    assert_eq!(format!("{arbiter:.0}"), "8559");
    let bus = (law.um2(16.0, 256.0) - law.um2(16.0, 0.0)) / 1e6;
    assert_eq!(format!("{bus:.2}"), "6.87");
    // The polynomial of an arbiter of one unit is negative; MAESTRO takes one arbiter then.
    assert_eq!(law.um2(1.0, 0.0), 395.473);
}

#[test]
fn areas_add_up_over_accelerators_and_grow_with_sizes() {
    for name in Catalog::new().names(Kind::Technology) {
        let technology = technology(&name);
        let one = ws(512, 300, &[2_000, 600], 40_000);
        let other = ws(768, 100, &[1_000, 500], 90_000);
        let sum = technology.area(&one).total() + technology.area(&other).total();
        let system = System::new("s", vec![one.clone(), other]).unwrap();
        let area = technology.system_area(&system);
        assert_eq!(area.total(), sum + technology.fixed_mm2());
        assert_eq!(technology.total_mm2(&system), area.total());
        let total = |accelerator: &Accelerator| technology.area(accelerator).total();
        for larger in [
            ws(1024, 300, &[2_000, 600], 40_000),
            ws(512, 70_000, &[2_000, 600], 40_000),
            ws(512, 300, &[70_000, 600], 40_000),
            ws(512, 300, &[2_000, 70_000], 40_000),
            ws(512, 300, &[2_000, 600], 140_000),
        ] {
            assert!(total(&larger) > total(&one), "{name}: {larger:?}");
        }
        // Every size from 1 byte on: no memory is smaller than a smaller one.
        let areas = |size| {
            let size = Bytes::new(size);
            let memory: &MemoryLaw = technology.memory();
            [memory.scratchpad_um2(size), memory.buffer_um2(size)]
        };
        for size in 1..200_000 {
            let ([a, b], [c, d]) = (areas(size), areas(size + 1));
            assert!(a <= c && b <= d, "{name}: {size}");
        }
    }
}

#[test]
fn all_areas_scale_with_their_constants() {
    let nvdla = technology("nvdla_28nm");
    let areas = Constant::ALL
        .into_iter()
        .filter(|it| it.name().contains("um2") || it.name().ends_with("mm2"));
    let doubled: Vec<_> = areas.filter_map(|it| Some((it, 2.0 * nvdla.value(it)?))).collect();
    let twice = nvdla.with("twice", &doubled, "twice").unwrap();
    let accelerator = ws(4096, 332, &[26_784, 5_312], 8 << 20);
    let [once, twice] = [&*nvdla, &twice].map(|it| it.area(&accelerator).total());
    // Rounding: the exponent of the density is computed from other numbers.
    assert!((twice / once - 2.0).abs() < 1e-12, "{once} {twice}");
}

#[test]
fn pes_outside_of_clusters_are_idle() {
    // 17 times 128 PEs are 8 clusters of 256 and 128 more.
    assert_eq!(ws(2176, 0, &[], 0).idle_pes(), 128);
    assert_eq!(ws(2048, 0, &[], 0).idle_pes(), 0);
    let mut limited = ws(2176, 0, &[], 0);
    limited.datapath.units_limit = Some(4);
    assert_eq!(limited.idle_pes(), 2176 - 4 * 256);
}

#[test]
fn a_technology_needs_whole_laws_and_sources() {
    let nvdla = technology("nvdla_28nm");
    let given: Vec<_> =
        Constant::ALL.into_iter().filter_map(|it| Some((it, nvdla.value(it)?))).collect();
    let sources: Vec<_> = given.iter().map(|(it, _)| (*it, Box::from("choice"))).collect();
    let new = |values: &[_], sources: &[_]| Technology::new("t", 28.0, values, sources);
    assert!(new(&given, &sources).is_ok());
    for without in 0..given.len() {
        let mut fewer = given.clone();
        let (constant, _) = fewer.remove(without);
        let error = new(&fewer, &sources).unwrap_err();
        assert_eq!(error, TechnologyError::IdleSource(constant));
        let mut of_fewer = sources.clone();
        of_fewer.remove(without);
        assert_eq!(new(&given, &of_fewer), Err(TechnologyError::NoSource(constant)));
        assert_eq!(new(&fewer, &of_fewer), Err(TechnologyError::Missing(constant)));
    }
    let with = |constant, value| nvdla.with("t", &[(constant, value)], "test");
    assert!(matches!(with(Constant::BusUm2, 1.0), Err(TechnologyError::Missing(_))));
    assert!(matches!(with(Constant::PeUm2, f64::NAN), Err(TechnologyError::Range { .. })));
    let shrinking = with(Constant::SmallUm2PerByte, 1e6);
    assert!(matches!(shrinking, Err(TechnologyError::Shrinking { .. })), "{shrinking:?}");
}

/// The problems of a technology file, or of a system file that changes one, each with its help.
fn problems(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.yaml");
    std::fs::write(&path, text).unwrap();
    match Catalog::new().check(&path) {
        Err(ConfigError::Invalid { file, problems }) => {
            let line = |problem: &xrsim::config::Problem| file.position(problem.span.start).0;
            let help = |problem: &xrsim::config::Problem| problem.help.clone().unwrap_or_default();
            let text = |it| format!("{}: {} ({})", line(it), it.message, help(it));
            problems.iter().map(text).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn bad_files_are_refused_at_their_places() {
    let shipped = Catalog::new().text("nvdla_28nm").unwrap().text().to_string();
    let line = |text: &str| 1 + shipped.lines().position(|line| line.contains(text)).unwrap();
    let changed = |from: &str, to: &str| {
        assert!(shipped.contains(from), "{from}");
        problems(&shipped.replacen(from, to, 1))
    };
    let [area, sram, source] = ["area:", "sram:", "    pe_uw:"].map(line);
    assert_eq!(
        changed("pe_um2: 1699.2", "pe_umm2: 1699.2")[0],
        format!("{area}: the section `area` has no key `pe_umm2` (did you mean `pe_um2`?)")
    );
    assert_eq!(
        changed("pe_um2: 1699.2, ", ""),
        [format!("{}: a source of `pe_um2`, which is not given ()", line("    pe_um2:"))]
    );
    assert_eq!(
        changed("    pe_um2: \"NVDLA, doc/primer.rst, least squares\"\n", ""),
        [format!(
            "{area}: `pe_um2` has no source; `sources` names one for every number, or says `choice` \
             (add `pe_um2: choice` to `sources`, or the source)"
        )]
    );
    assert_eq!(
        changed("    pe_uw:", "    pe_w:"),
        [format!("{source}: a source of `pe_w`, which is no number (did you mean `pe_uw`?)")]
    );
    assert_eq!(
        changed("pe_um2: 1699.2", "pe_um2: -1"),
        [format!("{area}: expected a number from 0 to 1000000000000, found `-1` ()")]
    );
    assert_eq!(
        changed("small_um2_per_byte: 23.4416", "small_um2_per_byte: 1e9")[0].split(": ").nth(1),
        Some(
            "a memory of 131072 bytes would have an area of 407240.704 um2, less than 64000000000 um2 of one of 64 bytes ()"
        ),
        "{sram}"
    );
    let system = Catalog::new().text("three_unequal").unwrap().text().to_string();
    let with = |technology: &str| {
        let text = system.replacen(
            "  accelerators:",
            &format!("  technology: {technology}\n  accelerators:"),
            1,
        );
        problems(&text)
            .into_iter()
            .map(|it| it.split_once(": ").unwrap().1.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        with("nvdla_28mn"),
        ["no technology named `nvdla_28mn` (did you mean `nvdla_28nm`?)"]
    );
    assert_eq!(
        with("{area: {pe_mm2: 3}}"),
        ["the section `area` has no key `pe_mm2` (did you mean `pe_um2`?)"]
    );
    assert_eq!(
        with("{like: maestro_2019, area: {register_um2_per_bit: 3}}"),
        ["`register_um2_per_bit` beside `bus_um2`: they belong to different laws ()"]
    );
}

#[test]
fn a_system_names_a_technology_or_changes_constants_of_one() {
    let system = Catalog::new().text("three_unequal").unwrap().text().to_string();
    let folder = tempfile::tempdir().unwrap();
    let found = |technology: &str| {
        let text = system.replacen(
            "  accelerators:",
            &format!("  technology: {technology}\n  accelerators:"),
            1,
        );
        let path = folder.path().join("own.yaml");
        std::fs::write(&path, text).unwrap();
        match Catalog::new().hardware(&path.to_string_lossy()).unwrap() {
            Hardware::System(system) => system.technology().unwrap().clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(found("maestro_2021"), technology("maestro_2021"));
    let changed = found("{area: {pe_um2: 2000, fixed_mm2: 5}}");
    assert_eq!(changed.name(), "nvdla_28nm-changed");
    assert_eq!(changed.fixed_mm2(), 5.0);
    assert_eq!(changed.value(Constant::PeUm2), Some(2000.0));
    assert_eq!(changed.source(Constant::SmallBytes), Some("choice"));
    assert!(changed.source(Constant::PeUm2).unwrap().ends_with("own.yaml"));
}

#[test]
fn needed_buffers_are_the_largest_units_of_all_layers() {
    let mut catalog = Catalog::new();
    let model = LoopNest;
    let all = ["KD", "ES"].map(|name| catalog.network(name).unwrap());
    // Declared buffers of one byte: without choices they have no effect on what is needed.
    let mut accelerator = ws(4096, 1, &[1, 1], 8 << 20);
    accelerator.flexibility = Flexibility::None;
    let needed = |it| model.local_buffers(it, &accelerator).unwrap().unwrap();
    let [first, second] = [needed(&all[0]), needed(&all[1])];
    let both = first.clone().and(&second);
    let fitted = accelerator.with_buffers(&both);
    for (network, own) in all.iter().zip([&first, &second]) {
        let reports = LayerReport::of_network(network, &fitted).unwrap();
        let levels = reports.iter().filter(|it| !it.levels.is_empty());
        let units = |level: usize| {
            let of = levels.clone().map(|it| it.levels[level].unit_bytes);
            Bytes::new(of.max().unwrap())
        };
        assert_eq!(own.scratchpad, units(2));
        assert_eq!(own.clusters, [units(0), units(1)]);
    }
    // One byte less on any level is too little for one of the networks.
    let less = |size: Bytes| Bytes::new(size.get() - 1);
    let mut tight = vec![both.clone(); 3];
    tight[0].scratchpad = less(both.scratchpad);
    tight[1].clusters[0] = less(both.clusters[0]);
    tight[2].clusters[1] = less(both.clusters[1]);
    for buffers in tight {
        let accelerator = accelerator.with_buffers(&buffers);
        assert!(all.iter().any(|it| LayerReport::of_network(it, &accelerator).is_err()));
    }
}

/// Values of the hardware columns in `scores.csv` of runs, row by row.
fn device_columns(runs: &Runs) -> Vec<[String; 5]> {
    let folder = tempfile::tempdir().unwrap();
    runs.write_tables(folder.path()).unwrap();
    let text = std::fs::read_to_string(folder.path().join("scores.csv")).unwrap();
    let mut rows = text.lines().map(|line| line.split(',').map(String::from).collect::<Vec<_>>());
    let header = rows.next().unwrap();
    let names =
        ["area_mm2", "idle_pes", "leakage_mw", "idle_leakage_mj", "power_without_leakage_mw"];
    let places = names.map(|name| header.iter().position(|it| it == name).unwrap());
    rows.map(|row| places.map(|at| row[at].clone())).collect()
}

#[test]
fn runs_have_area_leakage_and_power_beside_their_scores() {
    // Dataflows as they are written take no search.
    let usual = Experiment::new().scenario("VR_gaming").system("K").pes(4096);
    let experiment = || usual.clone().set("flexibility", "none");
    let runs = experiment().run().unwrap();
    let (plan, result) = (&runs[0].plan, runs[0].result().unwrap());
    let device = result.device;
    let nvdla = technology("nvdla_28nm");
    assert_eq!(plan.system.technology(), Some(&nvdla));
    assert_eq!(device.area_mm2, Some(nvdla.system_area(&plan.system).total()));
    assert_eq!(device.idle_pes, 0);
    // Busy and idle time of every accelerator make up the span.
    let metrics = Metrics::compute(
        &plan.scenario,
        &result.trace,
        &result.costs,
        (&plan.load, &plan.score),
        None,
        None,
    )
    .run;
    let leakage = plan.system.accelerators().iter().map(|it| nvdla.leakage_mw(it).unwrap());
    let idle = metrics.utilisation.iter().map(|busy| (1.0 - busy) * metrics.span_ms);
    let idle: f64 = leakage.zip(idle).map(|(mw, ms)| mw * ms / 1e3).sum();
    assert!((device.idle_leakage_mj.unwrap() / idle - 1.0).abs() < 1e-12);
    assert_eq!(device.power_without_leakage_mw, metrics.power_without_leakage_mw);
    let row = [
        device.area_mm2.unwrap().to_string(),
        "0".into(),
        device.leakage_mw.unwrap().to_string(),
        device.idle_leakage_mj.unwrap().to_string(),
        device.power_without_leakage_mw.to_string(),
    ];
    assert_eq!(device_columns(&runs), std::slice::from_ref(&row));
    // Another technology changes nothing but the area and the leakage.
    let other = experiment().set("technology", "maestro_2021").run().unwrap();
    assert_eq!(other[0].scorecard().unwrap(), runs[0].scorecard().unwrap());
    let [changed] = &device_columns(&other)[..] else { panic!("one run") };
    assert_ne!(changed[0], row[0]);
    assert_eq!(changed[1..], ["0", "", "", &row[4]].map(String::from));
    assert!(
        experiment()
            .set("technology", "nvdla")
            .run()
            .unwrap_err()
            .to_string()
            .contains("nvdla_28nm")
    );
}

#[test]
fn idle_pes_of_a_share_are_reported() {
    // 17/32 of 4,096 PEs are 2,176: 8 clusters of 256 and 128 idle PEs. 15/32 are 1,920: 7 and 128.
    let experiment = Experiment::new().scenario("VR_gaming").system("WS:15 + WS:17").pes(4096);
    // Dataflows as they are written take no search.
    let runs = experiment.set("flexibility", "none").run().unwrap();
    assert_eq!(device_columns(&runs)[0][1], "256");
}

#[test]
fn energies_by_size_follow_the_sizes() {
    // The law at 8 KiB, 32 KiB and 1 MiB is 1.25, 2.5 and 12.5 pJ/byte.
    let energies = |scratchpad, cluster, shared| {
        let mut accelerator = ws(256, scratchpad, &[cluster], shared);
        accelerator.byte_energy.scratchpad = MemoryEnergy::BySize;
        accelerator.byte_energy.cluster = MemoryEnergy::BySize;
        accelerator.byte_energy.shared_memory = MemoryEnergy::BySize;
        let found = Energies::from_accelerator(&accelerator);
        [found.scratchpad, found.cluster[0], found.shared]
    };
    // A power of a power of two is exact to a few units in the last place.
    let close = |found: [f64; 3], expected: [f64; 3]| {
        assert!(found.iter().zip(expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-12), "{found:?}");
    };
    close(energies(8 << 10, 32 << 10, 1 << 20), [1.25, 2.5, 12.5]);
    close(energies(32 << 10, 8 << 10, 32 << 10), [2.5, 1.25, 2.5]);
}

#[test]
fn a_term_of_more_than_half_is_named_with_its_sizes() {
    let note = |options: &[&str]| {
        let table = output(&[&["area", "--platform", "paper"], options].concat());
        let notes: Vec<_> = table.lines().filter(|it| it.starts_with("note:")).collect();
        notes.join("\n")
    };
    // 217.388 of 273.030 mm2. Both dataflows need at most the 332 bytes of the worked example without choices.
    assert_eq!(
        note(&["--system", "K", "--pes", "4096"]),
        "note: scratchpads take 80 % of the area of K@4096: 8192 bytes a PE are declared, 332 needed under \
         fixed directives"
    );
    let found = note(&["--system", "A,B,C,K", "--pes", "4096"]);
    let start = "note: scratchpads take 67 to 81 % of the area of 4 systems: 8192 bytes a PE are declared, ";
    assert!(found.starts_with(start), "{found}");
    // 20.606 of 67.320 mm2.
    let fitted = ["--system", "A", "--pes", "4096", "--sizes", "needed", "--flexibility", "none"];
    assert_eq!(note(&fitted), "");
    // Of choices within 8 KiB the sizes are no declared ones.
    let chosen = note(&["--system", "A", "--pes", "4096", "--sizes", "needed"]);
    assert!(
        chosen.contains(" bytes a PE are needed by the chosen mappings, 332 needed "),
        "{chosen}"
    );
}

#[test]
fn large_terms_take_more_than_half() {
    let nvdla = technology("nvdla_28nm");
    let term = |scratchpad, shared| {
        let accelerator = ws(4096, scratchpad, &[], shared);
        let area = nvdla.system_area(&System::new("s", vec![accelerator]).unwrap());
        let terms = AreaTerm::ALL.map(|term| area.accelerators[0].term(term));
        assert!((terms.iter().sum::<f64>() / area.total() - 1.0).abs() < 1e-12);
        area.large_term()
    };
    let (large, share) = term(8 << 10, 8 << 20).unwrap();
    assert_eq!((large.name(), format!("{share:.4}")), ("scratchpads", "0.8620".into()));
    assert_eq!(term(332, 8 << 20), None);
    assert_eq!(term(332, 1 << 30).map(|it| it.0), Some(AreaTerm::SharedMemory));
}

#[test]
fn the_command_prints_every_term_and_all_technologies() {
    let table = output(&["area", "--system", "A", "--pes", "4096", "--sizes", "needed"]);
    for word in ["+-30 %", "order of magnitude", "mm2 in maestro_2019", "technology nvdla_28nm"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    // Without choices WS needs the sizes of the worked example, and 1.344 mm2 of network.
    let needed =
        ["area", "--system", "A", "--pes", "4096", "--sizes", "needed", "--platform", "paper"];
    let csv = output(&[&needed[..], &["--flexibility", "none", "--format", "csv"]].concat());
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let cell = |name: &str| {
        let at = rows[0].iter().position(|it| *it == name).unwrap();
        rows[1][at]
    };
    assert_eq!(cell("scratchpad_bytes"), "332");
    assert_eq!(cell("cluster_bytes"), "26784;5312");
    let [area, network] = ["area_mm2", "network_mm2"].map(|it| cell(it).parse::<f64>().unwrap());
    assert_eq!(format!("{:.3}", area - network), "65.976");
    let said = refused(&["area", "--system", "A", "--set", "score.k_per_ms=3"]);
    assert!(said.contains("`hardware.`"), "{said}");
    let said = refused(&["area", "--system", "A", "--technology", "nvdla28nm"]);
    assert!(said.contains("did you mean `nvdla_28nm`"), "{said}");
}
