//! Inputs without an end or without a bound, and how far they are read.

use std::fmt::Write as _;
use std::io::{self, Read};
use std::path::Path;

use xrsim::config::{Catalog, ConfigError, Source};
use xrsim::report::points::PointTable;

/// Problems of `text` as a file to check.
fn problems(text: &str) -> Vec<String> {
    let mut catalog = Catalog::new();
    catalog.provide(Source::new("x.yaml", text));
    match catalog.check(Path::new("x.yaml")) {
        Err(ConfigError::Invalid { problems, .. }) => {
            problems.into_iter().map(|problem| problem.message).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// A reader that searched all keys again for every unknown key would take quadratic time.
#[test]
fn of_many_unknown_keys_some_are_named_and_the_others_counted() {
    let mut text = String::from("scenario:\n  name: many\n  models: [{network: HT, fps: 1}]\n");
    (0..100_000).for_each(|key| writeln!(text, "  k{key}: 0").expect("text grows"));
    let problems = problems(&text);
    assert_eq!(problems.len(), 51);
    assert_eq!(problems[49], "a scenario has no key `k49`");
    assert_eq!(problems[50], "99950 more keys from here on that a scenario has not");
}

/// Message of reading rows from `input`.
fn refusal(input: impl Read) -> String {
    PointTable::read(input, &[]).expect_err("it is no table").to_string()
}

#[test]
fn a_row_without_an_end_is_refused() {
    assert_eq!(refusal(io::repeat(b'0')), "a row is longer than 1 MiB");
    let open_quote = "scenario,score\nA,\"".as_bytes().chain(io::repeat(b'\n'));
    assert_eq!(refusal(open_quote), "a row is longer than 1 MiB");
}

#[test]
fn settings_without_an_end_are_refused() {
    let row = |number: u64| format!("A,{number}{}\n", "x".repeat(1 << 19));
    let rows: String = (0..80).map(row).collect();
    let refusal = refusal(format!("scenario,name\n{rows}").as_bytes());
    assert_eq!(refusal, "the settings are more than 64 MiB of text; leave rows out with --where");
}

#[cfg(unix)]
#[test]
fn a_small_stack_of_the_process_is_enough() {
    let program = assert_cmd::cargo::cargo_bin("xrsim");
    let scenario = super::seeds::root().join("scenarios/VR_gaming.yaml");
    let mut command = assert_cmd::Command::new("sh");
    command.args(["-c", "ulimit -s 64 && exec \"$0\" check \"$1\""]).arg(program).arg(scenario);
    command.assert().success();
}
