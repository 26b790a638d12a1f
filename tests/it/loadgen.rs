//! Load scenarios of MLPerf compared with runs of the real LoadGen: through the command line, with the
//! cases that come with the program, and with all cases if the folder of reference data lies beside this
//! checkout.

use crate::support;
use crate::support::binary;

use std::fs;
use std::path::{Path, PathBuf};

use binary::{stderr, stdout, xrsim};
use tempfile::TempDir;

use xrsim::config::Source;
use xrsim::config::loadgen_cases::{Case, CaseFiles, Cases};
use xrsim::mlperf::benchmark::{find_peak, measure};
use xrsim::mlperf::results::Performance;
use xrsim::mlperf::run::RunError;
use xrsim::mlperf::settings::TestMode;

/// Cases that come with the program.
fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/loadgen")
}

/// Status, standard output and standard error of `xrsim validate loadgen` for a folder.
fn validate(folder: &Path) -> (Option<i32>, String, String) {
    let assert = xrsim(&["validate", "loadgen", "--cases"]).arg(folder).assert();
    (assert.get_output().status.code(), stdout(&assert), stderr(&assert))
}

#[test]
fn the_shipped_cases_are_equal() {
    let (status, report, _) = validate(&shipped());
    assert_eq!(status, Some(0), "{report}");
    assert!(report.contains("cases.json: 13 of 13 cases equal"), "{report}");
    assert!(report.contains("rng_vectors.json: 348 of 348 equal"), "{report}");
}

#[test]
fn all_recorded_cases_are_equal() {
    if let Some(folder) = support::reference("loadgen") {
        let (status, report, _) = validate(&folder);
        assert_eq!(status, Some(0), "{report}");
        assert!(report.contains("cases.json: 32 of 32 cases equal"), "{report}");
    }
}

/// Recorded runs with LoadGen's detailed logs, as tables of their keys.
fn logs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/loadgen_logs")
}

#[test]
fn detailed_logs_have_the_keys_and_values_of_loadgen() {
    let (status, report, _) = validate(&logs());
    assert_eq!(status, Some(0), "{report}");
    assert!(report.contains("cases.json: 11 of 11 cases equal"), "{report}");
    let header = report.lines().next().expect("there is a table");
    let column = header.find("detail").expect("detailed logs have a column");
    let end = column + "detail".len();
    for row in report.lines().skip(1).take(11) {
        assert!(row[..end].ends_with(" equal"), "{row}\n{report}");
    }
}

/// A requested setting, an effective one, a message of the search, an error and a result.
#[test]
fn a_key_of_a_detailed_log_that_differs_is_found() {
    for (case, from, to, said) in [
        (
            "of_concatenated",
            "sample_count_override,false,48",
            "sample_count_override,false,0",
            "override: expected 0",
        ),
        (
            "ms_pairs",
            "generated_samples_per_query,false,2",
            "generated_samples_per_query,false,3",
            "expected 3, found 2",
        ),
        (
            "sv_findpeak",
            "performance field: 62.500000",
            "performance field: 62.600000",
            "generic_message: ",
        ),
        ("ss06_max_query", "error_runtime,true", "error_runtime,false", "error_runtime: "),
        ("sv_second", "num_errors,", "num_error,", "sv_second.csv: keys: "),
        (
            "ss04_too_few",
            "early_stopping_met,false,false",
            "early_stopping_met,false,true",
            "expected true, found false",
        ),
    ] {
        let (status, report, _) = with(&logs(), &format!("detail/{case}.csv"), from, to);
        assert_eq!(status, Some(1), "{report}");
        assert!(report.contains(&format!("first difference of {case} ")), "{report}");
        assert!(report.contains(said), "{report}");
    }
}

/// Both formats are read: a table, and the lines of LoadGen.
#[test]
fn detailed_logs_that_are_broken_are_refused_with_their_place() {
    let table = "detail/ms_pairs.csv";
    for (from, to, said) in [
        ("key,is_error,value", "key,value", "these are not the columns of a log"),
        ("num_errors,false,0", "num_errors,flase,0", "no row of a log"),
        ("num_errors,false,0", "num_errors,false,[", "no row of a log"),
        ("num_errors,false,0", "num_errors,false", "no row of a log"),
    ] {
        let (status, report, error) = with(&logs(), table, from, to);
        assert_eq!(status, Some(2), "{report}");
        assert!(error.contains(said) && error.contains("ms_pairs.csv:"), "{error}");
    }
    let copy = copy_of(&logs());
    for line in ["{", "{\"key\": 1}", "{\"key\": \"a\", \"value\": inf}"] {
        let text = format!(":::MLLOG {line}\n");
        fs::write(copy.path().join("detail/ms_pairs.txt"), text).unwrap();
        let (status, report, error) = validate(copy.path());
        assert_eq!(status, Some(2), "{report}");
        assert!(error.contains("ms_pairs.txt:1:1: no line of a log"), "{error}");
    }
}

/// Performance of a simulated case; at its peak if it searches for one.
fn simulate(case: &Case) -> Performance {
    match case.settings.mode {
        TestMode::PerformanceOnly => {
            measure(&case.settings, &mut case.service.clone()).unwrap().performance
        }
        TestMode::FindPeakPerformance => {
            let search = find_peak(&case.settings, |settings| {
                let found = measure(settings, &mut case.service.clone())?.performance;
                Ok::<_, RunError>((found.validity.performance == Some(true), found))
            });
            search.unwrap().peak.expect("the first rate passes").1
        }
    }
}

/// The reference data have another simulation of every case, also without overhead.
#[test]
fn simulations_are_equal_to_those_of_others_to_the_nanosecond() {
    let Some(folder) = support::reference("loadgen") else { return };
    let cases = Cases::read(&folder).unwrap().cases;
    let ideals = cases.iter().filter_map(|case| case.expected.ideal.map(|ideal| (case, ideal)));
    let mut compared = 0;
    for (case, ideal) in ideals {
        let found = simulate(case).latency;
        assert_eq!(found.percentiles, ideal.percentiles, "{}", case.id);
        assert_eq!((found.min, found.max, found.mean), (ideal.min, ideal.max, ideal.mean));
        assert_eq!(found.count as u64, ideal.count, "{}", case.id);
        compared += 1;
    }
    assert_eq!(compared, 31);
}

/// Copy of a folder of cases, with summaries if the reference data are available.
fn copy_of(folder: &Path) -> TempDir {
    let copy = TempDir::new().unwrap();
    for part in ["", "queries", "summary", "detail"] {
        let Ok(entries) = fs::read_dir(folder.join(part)) else { continue };
        fs::create_dir_all(copy.path().join(part)).unwrap();
        for entry in entries.map(|entry| entry.unwrap()).filter(|entry| entry.path().is_file()) {
            let target = copy.path().join(part).join(entry.file_name());
            fs::write(target, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
    copy
}

/// Report of a copy of `folder` in whose file `name` the only `from` was replaced by `to`.
fn with(folder: &Path, name: &str, from: &str, to: &str) -> (Option<i32>, String, String) {
    let copy = copy_of(folder);
    let path = copy.path().join(name);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches(from).count(), 1, "`{from}` in {name}");
    fs::write(&path, text.replace(from, to)).unwrap();
    validate(copy.path())
}

/// Changes of a nanosecond, a sample and a verdict are each reported with their place.
#[test]
fn a_difference_of_a_digit_is_found() {
    let cases = "cases.json";
    let log = "queries/sv_earlystop_fail.csv";
    for (file, from, to, said) in [
        (log, "4,4,185,107510867,", "4,4,185,107510868,", "sv_earlystop_fail.csv:6: scheduled_ns"),
        (log, "4,4,185,107510867,", "4,4,186,107510867,", "sv_earlystop_fail.csv:6: sample_idx"),
        (cases, "\"p97\": 9564179", "\"p97\": 9564178", "p97: expected 9564178, found 9564179"),
        (
            cases,
            "\"generated_query_duration\": 6028724653",
            "\"generated_query_duration\": 1",
            "found 6028724653",
        ),
        (cases, "[62.5, true]", "[62.5, false]", "ideal_search_path"),
        (cases, "\"final_target_qps\": \"62.5\"", "\"final_target_qps\": \"62.4\"", "found 62.5"),
    ] {
        let (status, report, error) = with(&shipped(), file, from, to);
        assert_eq!(status, Some(1), "{from} -> {to}: {report}");
        assert!(report.contains("12 of 13 cases equal"), "{report}");
        assert!(report.contains(said), "{from} -> {to}: {report}");
        assert_eq!(error, "1 cases differ\n");
    }
}

#[test]
fn a_simulated_percentile_that_is_not_near_is_found() {
    let (from, to) = ("\"b_ns\": 500000, \"max_batch\": 8", "\"b_ns\": 560000, \"max_batch\": 8");
    let (status, report, _) = with(&shipped(), "cases.json", from, to);
    assert_eq!(status, Some(1), "{report}");
    assert!(report.contains("first difference of sv_dynbatch_q500"), "{report}");
    assert!(report.contains("(simulated, ns): expected"), "{report}");
}

#[test]
fn a_line_of_a_summary_that_differs_is_found() {
    let Some(folder) = support::reference("loadgen") else { return };
    let (file, from) = ("summary/sv_md1_q140_p97.txt", "Scheduled samples per second : 145.60");
    let (status, report, _) = with(&folder, file, from, "Scheduled samples per second : 145.61");
    assert_eq!(status, Some(1), "{report}");
    assert!(report.contains("sv_md1_q140_p97.txt:25: expected `Scheduled"), "{report}");
}

/// Changes of a random draw and of a count of early stopping are reported.
#[test]
fn a_draw_that_differs_is_found() {
    for (from, to) in [("951, 911", "951, 912"), ("\"50\": 6848", "\"50\": 6849")] {
        let (status, report, _) = with(&shipped(), "rng_vectors.json", from, to);
        assert_eq!(status, Some(1), "{report}");
        assert!(report.contains("347 of 348 equal\n  first difference: "), "{report}");
    }
}

/// Invalid settings and broken files give a message with file and line, and the status of bad input.
#[test]
fn damaged_input_is_refused_with_its_place() {
    let cases = "cases.json";
    let log = "queries/ss04_too_few.csv";
    let first = "{\"id\": \"ss04_too_few\"";
    for (file, from, to, said) in [
        (cases, "\"server_target_qps\": 40", "\"server_target_qps\": 0", "server_target_qps is 0"),
        (cases, "\"server_target_qps\": 40", "\"server_target_qps\": \"x\"", "expected a number"),
        (cases, "\"server_target_qps\": 40", "\"server_target_pqs\": 40", "did you mean"),
        (cases, "\"server_target_qps\": 40", "\"server_target_qps\": 1e300", "allowed is a number"),
        (cases, first, "{\"id\": \"../../etc/passwd\"", "expected letters, digits"),
        (cases, first, "{\"id\": \"ms05_spq4\"", "a second case is called `ms05_spq4`"),
        (cases, first, "{\"it\": \"ss04_too_few\"", "a case lacks the key `id`"),
        (cases, "\"mod\": 10, ", "\"mod\": 0, ", "expected a whole number from 1"),
        (cases, "\"mode\": \"dyn\"", "\"mode\": \"dny\"", "expected `fifo` or `query`"),
        (cases, "\"speed\": [1, 3]", "\"speed\": [1, 3, 3]", "3 speeds of 2 servers"),
        (cases, "\"max_query_count\": 200", "\"max_query_count\": -1", "expected a whole number"),
        (log, "sample_seq,query_seq", "sample_seq,query", "these are not the columns of a log"),
        (log, "\n7,7,", "\n8,7,", "sample 8 where 7 is expected"),
        (log, "\n7,7,", "\n7,8,", "query 8 where 7 is expected"),
        (log, "\n7,7,", "\n7,-7,", "`-7` is no whole number"),
        (log, "\n7,7,", "\n7,7,7,", "7 cells under 6 columns"),
        ("rng_vectors.json", "[951, 911", "[951, null", "expected a whole number"),
        ("rng_vectors.json", "\"p=0.999\"", "\"p=9\"", "this key is out of place"),
    ] {
        let (status, report, error) = with(&shipped(), file, from, to);
        assert_eq!(status, Some(2), "{from} -> {to}: {report}{error}");
        assert!(error.contains(said), "{from} -> {to}: {error}");
        let place = error.split(&format!("{file}:")).nth(1).expect("the file is named");
        assert!(place.starts_with(|c: char| c.is_ascii_digit()), "{error}");
    }
}

#[test]
fn percentiles_outside_zero_and_one_are_refused() {
    let key = "\"single_stream_target_latency_percentile\": 0.9, \"single_stream_expected_latency_ns\": 4000000.0";
    for percentile in ["0", "1", "1.5", "-0.1", "99"] {
        let to = key.replace("0.9", percentile);
        let (status, _, error) = with(&shipped(), "cases.json", key, &to);
        assert_eq!(status, Some(2));
        assert!(error.contains("allowed is a fraction above 0 and below 1"), "{error}");
    }
}

#[test]
fn broken_files_are_refused() {
    for text in ["", "[", "{}", "[]", "[7]", "null", "[{}]", "\u{0}", &"[".repeat(100_000)] {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("cases.json"), text).unwrap();
        let (status, _, error) = validate(folder.path());
        assert_eq!(status, Some(2), "{text:.20}");
        assert!(error.contains("cases.json:1:"), "{error}");
    }
    let (status, _, error) = validate(Path::new("no/such/folder"));
    assert_eq!(status, Some(2));
    assert!(error.contains("no/such/folder/cases.json"), "{error}");
}

/// Every prefix of the files is read or refused, and nothing panics.
#[test]
fn cut_files_do_no_harm() {
    let text = fs::read_to_string(shipped().join("cases.json")).unwrap();
    let log = fs::read_to_string(shipped().join("queries/ss09_bimodal_n64.csv")).unwrap();
    for cut in (0..text.len()).step_by(173) {
        let source = Source::new("cases.json", &text[..cut]);
        assert!(Cases::parse(source, None, |_| Ok(CaseFiles::default())).is_err(), "{cut}");
    }
    for cut in (0..log.len()).step_by(31) {
        let source = Source::new("cases.json", &*text);
        let part = Source::new("log.csv", &log[..cut]);
        let _ = Cases::parse(source, None, |_| {
            Ok(CaseFiles { log: Some(part.clone()), ..CaseFiles::default() })
        });
    }
}
