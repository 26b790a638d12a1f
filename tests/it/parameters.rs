//! Parameters of networks: expressions, values by reference, scenario, setting and sweep.

use std::fs;
use std::path::Path;

use xrsim::Experiment;
use xrsim::config::{Catalog, Edition, Parameters};
use xrsim::model::Network;

use crate::support::binary::{output, xrsim};

fn macs(reference: &str) -> u64 {
    let network = Catalog::new().network(reference);
    network.unwrap_or_else(|error| panic!("{reference}: {error}")).macs()
}

fn refused(reference: &str) -> String {
    Catalog::new().network(reference).expect_err("it is wrong").to_string()
}

/// The alternatives that `deviations` of the files name [GMAC], to their last digit.
#[test]
fn alternatives_have_the_sizes_that_the_files_state() {
    let alternatives = [
        ("PD", 34.906, 3),
        ("PD:detections=100", 106.76, 2),
        ("PD:regions=100", 19.45, 2),
        ("PD:regions=1,detections=1", 10.567, 3),
        ("OD", 0.980, 3),
        ("OD:regions=1", 0.441, 3),
        ("OD:regions=1000", 19.007, 3),
        ("gnmt", 23.394, 3),
    ];
    for (reference, gmacs, digits) in alternatives {
        let found = macs(reference) as f64 / 1e9;
        assert_eq!(format!("{found:.digits$}"), format!("{gmacs:.digits$}"), "{reference}");
    }
}

/// GNMT, by the operators of its reference: a word of the source takes 5 LSTMs (two of 2,048, one of 3,072 and
/// two of 2,048 inputs, 4,096 outputs) and a key of 1,024 x 1,024. A step of a beam takes four LSTMs of 3,072
/// inputs, a query of 1,024 x 1,024 and 36,548 x 1,024 words; a word of the source adds 2 x 1,024.
#[test]
fn gnmt_grows_with_words_and_beams() {
    let word = (4 * 2048 + 3072) * 4096 + 1024 * 1024;
    let step = 4 * 3072 * 4096 + 1024 * 1024 + 36548 * 1024;
    for [source, target, beams] in [[25, 25, 10], [2, 2, 1], [7, 40, 3], [100, 9, 4]] {
        let reference = format!("gnmt:source_words={source},target_words={target},beams={beams}");
        let expected = source * word + target * beams * (step + 2048 * source);
        assert_eq!(macs(&reference), expected, "{reference}");
    }
}

#[test]
fn values_make_other_networks_and_defaults_the_same() {
    let mut catalog = Catalog::new();
    let plain = catalog.network("PD").expect("it is embedded");
    let default = catalog.network("PD:detections=10,regions=1000").expect("it is the same");
    assert!(std::sync::Arc::ptr_eq(&plain, &default));
    let fewer = catalog.network("PD: regions=100").expect("it is smaller");
    assert_eq!(fewer.name(), "PD_planercnn_160x160:regions=100");
    assert_eq!(fewer.weights(), plain.weights());
    assert_eq!(fewer.layers().len(), plain.layers().len());
    let both = catalog.network("PD:detections=10,regions=100").expect("it is smaller");
    assert!(std::sync::Arc::ptr_eq(&fewer, &both));
    let batched = fewer.batched(2).expect("it is small enough");
    assert_eq!(batched.parameters(), fewer.parameters());
    let value = |network: &Network| network.parameters().iter().map(|it| it.value).sum::<u32>();
    assert_eq!([value(&plain), value(&fewer)], [1010, 110]);
    let gnmt = |reference: &str| Catalog::new().model(reference).expect("it is right");
    assert!(gnmt("gnmt").published.is_some() && gnmt("gnmt:beams=1").published.is_none());
}

#[test]
fn wrong_values_name_what_is_allowed() {
    assert_eq!(
        refused("PD:region=1"),
        "`PD:region=1`: the network has no parameter `region`; did you mean `regions`?"
    );
    assert_eq!(
        refused("gnmt:beams=1,target_words=1001"),
        "`gnmt:beams=1,target_words=1001`: `target_words` is 1001; allowed is a whole number from 2 to 1000"
    );
    assert_eq!(refused("KD:n=2"), "`KD:n=2`: the network has no parameters, and so no `n`");
    assert!(
        refused("PD:regions=-1").contains("`regions` is `-1`; allowed is a whole number from 0")
    );
    assert!(refused("PD:regions").contains("no network named `PD:regions`"));
    assert!(refused("artifact/PD:regions=1").contains("no parameters"));
    assert!(stderr_of(&["show", "PD:region=1"]).contains("did you mean `regions`?"));
}

/// Standard error of a command that may fail.
fn stderr_of(arguments: &[&str]) -> String {
    let output = xrsim(arguments).output().expect("it starts");
    String::from_utf8(output.stderr).expect("it is UTF-8")
}

const NETWORK: &str = "network:
  name: head
  parameters:
    regions: 30
    words: {default: 8, range: [1, 64], reason: a sentence}
  layers:
    - conv: {n: regions, k: 16, c: 3, y: 8, x: 8, r: 3, s: 3, pad: 1, from: words - words}
    - repeat: words
      layers:
        - conv: {n: regions, k: 16, c: 16, y: 8, x: 8, r: 3, s: 3, pad: 1}
    - matmul: {rows: regions, c: 1024, k: 10*(words + 1)/3}
";

/// Problems of [`NETWORK`] with these replacements.
fn problems(replacements: &[(&str, &str)]) -> String {
    let text = replacements.iter().fold(NETWORK.to_string(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    let mut catalog = Catalog::new();
    catalog.provide(xrsim::config::Source::new("head.yaml", text));
    catalog.network("head.yaml").expect_err("it is wrong").to_string()
}

#[test]
fn expressions_stand_for_numbers() {
    let mut catalog = Catalog::new();
    catalog.provide(xrsim::config::Source::new("head.yaml", NETWORK));
    // 90 / 3 = 30 columns of the product by default; 10 * 3 / 3 = 10 with two words, 10 * 2 / 3 = 7 with one.
    for (regions, words, columns) in [(30, 8, 30), (5, 2, 10), (1, 1, 7)] {
        let network = catalog.network(&format!("head.yaml:regions={regions},words={words}"));
        let convs = 64 * 9 * 16 * (3 + 16 * words);
        let expected = regions * (convs + 1024 * columns);
        assert_eq!(network.expect("it is right").macs(), expected);
    }
}

#[test]
fn problems_of_expressions_have_lines_and_nearest_names() {
    assert_eq!(
        problems(&[
            ("n: regions, k: 16, c: 3", "n: region, k: 16, c: 3"),
            ("repeat: words", "repeat: words *")
        ]),
        "head.yaml:7:17: no parameter named `region` (did you mean `regions`?)\n\
         head.yaml:8:15: `words *`: expected a whole number, or an expression of parameters and whole numbers \
         with `+`, `-`, `*`, `/` (rounded up) and parentheses"
    );
    let beyond = problems(&[("10*(words + 1)/3", "9223372036854775807*words")]);
    assert!(beyond.contains("11:43") && beyond.contains("beyond 64 bits"), "{beyond}");
    let large = problems(&[("10*(words + 1)/3", "1000000*words")]);
    assert_eq!(
        large,
        "head.yaml:11:43: expected a whole number from 1 to 1048576, found `8000000`"
    );
    let below = problems(&[("repeat: words", "repeat: words - 9")]);
    assert!(below.contains("from 1 to 50000, found `-1`"), "{below}");
    let divided = problems(&[("repeat: words", "repeat: words/(words - 8)")]);
    assert!(divided.contains("`/` takes"), "{divided}");
}

#[test]
fn problems_of_declarations_do_not_hide_behind_those_of_layers() {
    assert_eq!(
        problems(&[("regions: 30", "regions: 0")]),
        "head.yaml:4:14: expected a whole number from 1 to 1048576, found `0`"
    );
    assert_eq!(
        problems(&[("default: 8", "default: 80")]),
        "head.yaml:5:22: the default is 80; the range is from 1 to 64"
    );
    let unused = problems(&[("n: regions", "n: 30"), ("rows: regions", "rows: 30")]);
    assert_eq!(unused, "head.yaml:7:5: no layer uses the parameter `regions`");
    let named = problems(&[("regions: 30", "2nd: 30")]);
    assert!(named.starts_with("head.yaml:4:5: `2nd` is no name of a parameter"), "{named}");
    let range = problems(&[("[1, 64]", "[64, 1]")]);
    assert!(range.contains("expected [least, largest]"), "{range}");
}

fn scenario_file(folder: &Path, models: &str) -> String {
    fs::write(folder.join("head.yaml"), NETWORK).expect("it can be written");
    let path = folder.join("scenario.yaml");
    fs::write(&path, format!("scenario:\n  name: own\n  models:\n{models}"))
        .expect("it can be written");
    path.to_str().expect("it is UTF-8").into()
}

#[test]
fn a_scenario_sets_values_and_a_setting_replaces_them() {
    let folder = tempfile::tempdir().expect("there is a folder");
    let path = scenario_file(
        folder.path(),
        "    - {network: head.yaml, task: A, fps: 30, parameters: {regions: 5}}\n    \
         - {network: \"head.yaml:words=2\", task: B, fps: 30, parameters: {regions: 5}}\n    \
         - {network: head.yaml, task: C, fps: 30}\n",
    );
    let mut catalog = Catalog::new();
    let mut set = Parameters::default();
    let names = |catalog: &mut Catalog, set: &Parameters| {
        let scenario = catalog.scenario_with(&path, Edition::Reference, set).expect("it is right");
        let names = scenario.models().iter().map(|model| model.unit.network.name().to_string());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(&mut catalog, &set), ["head:regions=5", "head:regions=5,words=2", "head"]);
    set.set("B", "regions", 30);
    set.set("C", "words", 3);
    set.set("elsewhere", "words", 3);
    assert_eq!(names(&mut catalog, &set), ["head:regions=5", "head:words=2", "head:words=3"]);
    set.set("C", "words", 65);
    let error =
        catalog.scenario_with(&path, Edition::Reference, &set).expect_err("it is too large");
    assert!(error.to_string().contains("`words` is 65; allowed is a whole number from 1 to 64"));
}

#[test]
fn wrong_values_in_a_scenario_have_its_lines() {
    let folder = tempfile::tempdir().expect("there is a folder");
    let refused = |models| {
        let path = scenario_file(folder.path(), models);
        let error = Catalog::new().scenario(&path, Edition::Reference).expect_err("it is wrong");
        error.to_string().replace(&path, "FILE")
    };
    let unknown =
        refused("    - network: head.yaml\n      fps: 30\n      parameters:\n        wods: 3\n");
    assert!(unknown.starts_with("FILE:7:9: `head.yaml:wods=3`"), "{unknown}");
    assert!(unknown.ends_with("has no parameter `wods`; did you mean `words`?"), "{unknown}");
    let twice =
        refused("    - {network: \"head.yaml:words=3\", fps: 30, parameters: {words: 4}}\n");
    assert!(twice.starts_with("FILE:4:") && twice.contains("`words` is set twice"), "{twice}");
}

fn ar_gaming() -> Experiment {
    Experiment::new().scenario("AR_gaming").system("J").pes(4096).set("flexibility", "none")
}

#[test]
fn runs_take_values_by_the_task_of_a_model() {
    let energy = |experiment: Experiment| {
        let runs = experiment.run().expect("it is right");
        let total = |run: &xrsim::Run| run.result.as_ref().expect("it runs").scorecard.total;
        runs.iter().map(|run| format!("{:?}", total(run))).collect::<Vec<_>>()
    };
    let regions = |value: u32| ar_gaming().set("parameters.PD.regions", value);
    let plain = energy(ar_gaming());
    assert_eq!(energy(regions(1000)), plain);
    assert_ne!(energy(regions(100)), plain);
    let varied = energy(ar_gaming().vary("parameters.PD.regions", [100, 1000]));
    assert_eq!(varied, [energy(regions(100)), plain].concat());
    let refused = |key: &str, value: &str| {
        ar_gaming().set(key, value).run().expect_err("it is wrong").to_string()
    };
    assert!(refused("parameters.PX.regions", "1").contains("no scenario has a model `PX`"));
    assert!(refused("parameters.PD.region", "1").contains("did you mean `regions`?"));
    assert!(refused("parameters.PD.regions", "7000").contains("allowed is a whole number from 0"));
    assert!(refused("parameters.PD.regions", "many").contains("from 0 to 1048576"));
    assert!(refused("parameters.PD", "1").contains("no setting named `parameters.PD`"));
    let scenario = Catalog::new().scenario("AR_gaming", Edition::Reference).expect("it exists");
    let given = Experiment::new().scenario(scenario).system("J").set("parameters.PD.regions", 5);
    assert!(given.run().expect_err("it is too late").to_string().contains("given as a value"));
}

#[test]
fn defaults_and_their_reasons_are_printed() {
    let run = ["run", "--scenario", "AR_gaming", "--system", "J", "--pes", "4096"];
    let once = [&run[..], &["--replications", "1", "--flexibility", "none"]].concat();
    assert!(output(&once).contains("\nparameters: PD regions 1000, detections 10 ("));
    let set = [&once[..], &["--set", "parameters.PD.regions=10"]].concat();
    assert!(output(&set).contains("\nparameters: PD regions 10 instead of 1000, detections 10 ("));
    let none = once.iter().map(|word| word.replace("AR_", "VR_")).collect::<Vec<_>>();
    let none: Vec<_> = none.iter().map(String::as_str).collect();
    assert!(!output(&none).contains("\nparameters: "));
    let shown = output(&["show", "PD:regions=100"]);
    assert!(shown.contains("# with regions 100, from 0 to 6,402 (default 1,000: limit of"));
    assert!(shown.contains("# multiply-accumulates: 19,452,495,872\n"));
    assert!(output(&["list", "models"]).contains("OD       regions       30"));
}

#[test]
fn a_sweep_varies_a_parameter_and_checks_it() {
    let folder = tempfile::tempdir().expect("there is a folder");
    let path = folder.path().join("sweep.yaml");
    let sweep = |key: &str, values: &str| {
        let text = format!(
            "sweep:\n  name: regions\n  grid:\n    scenario: [AR_gaming, VR_gaming]\n    system: J\n    \
             pes: 4096\n    flexibility: none\n    {key}: {values}\n"
        );
        fs::write(&path, text).expect("it can be written");
        path.to_str().expect("it is UTF-8").to_string()
    };
    let checked = |key, values| {
        let path = sweep(key, values);
        stderr_of(&["check", &path])
    };
    let fine = checked("parameters.PD.regions", "[10, 100]");
    assert!(!fine.contains("error"), "{fine}");
    let zero = checked("parameters.PD.regions", "[10, 7000]");
    assert!(zero.contains(":8:33: `PD`: `regions` is 7000; allowed is"), "{zero}");
    let unknown = checked("parameters.PD.region", "[10, 20]");
    assert_eq!(unknown.matches("did you mean `regions`?").count(), 1, "{unknown}");
    assert!(
        checked("parameters.PX.regions", "10").contains("no model in these scenarios named `PX`")
    );
    let out = folder.path().join("out.csv");
    let path = sweep("parameters.PD.regions", "[10, 1000]");
    output(&["sweep", &path, "--out", out.to_str().expect("it is UTF-8")]);
    let mut rows = csv::Reader::from_path(&out).expect("it was written");
    let header = rows.headers().expect("it has a header").clone();
    let column = |name: &str| header.iter().position(|it| it == name).expect("there is a column");
    let (regions, energy) = (column("parameters.PD.regions"), column("energy"));
    let rows: Vec<_> = rows.records().map(|row| row.expect("it is CSV")).collect();
    let cells = rows.iter().map(|row| [&row[regions], &row[energy]]).collect::<Vec<_>>();
    assert_eq!(cells.iter().map(|row| row[0]).collect::<Vec<_>>(), ["10", "1000", "10", "1000"]);
    assert_ne!(cells[0][1], cells[1][1]);
    assert_eq!(cells[2][1], cells[3][1], "VR_gaming has no PD");
}

#[test]
fn mlperf_takes_values_by_task() {
    let refused = |set: &str| {
        let words = ["mlperf", "inference", "--task", "machine_translation", "--set", set];
        stderr_of(&words)
    };
    assert!(refused("parameters.machine_translation.beam=1").contains("did you mean `beams`?"));
    let task = refused("parameters.machine_translatio.beams=1");
    assert!(task.contains("did you mean `machine_translation`?"), "{task}");
    assert!(refused("seed=1").contains("--set takes parameters.TASK.NAME=N"));
    let mut set = Parameters::default();
    set.set("machine_translation", "beams", 1);
    let suite = Catalog::new().mlperf_suite_with("inference_v0.5", &set).expect("it is right");
    let test = suite.tests.iter().find(|test| *test.task.name == *"machine_translation");
    assert_eq!(test.expect("it has the task").task.network.name(), "gnmt_ts25_tt25_beam10:beams=1");
}
