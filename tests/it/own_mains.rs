//! Test programs that have a `main` of their own.

use crate::support::libtest::Arguments;

fn parsed(arguments: &[&str]) -> Result<Arguments, String> {
    Arguments::parse(arguments.iter().map(ToString::to_string), &["--kills"])
}

/// Which of the tests `one`, `other` and `soak` are run.
fn run(arguments: &[&str]) -> Vec<&'static str> {
    let parsed = parsed(arguments).expect("these are options of every test");
    ["one", "other", "soak"].into_iter().filter(|name| parsed.runs(name)).collect()
}

#[test]
fn options_of_cargo_test_choose_the_same_of_tests_with_a_main_of_their_own() {
    let all = ["one", "other", "soak"];
    for arguments in [
        &[][..],
        &["--test-threads", "2"],
        &["--test-threads=2", "--nocapture", "-q"],
        &["--color", "always", "--format", "terse", "--include-ignored"],
        &["-Z", "unstable-options", "--shuffle-seed", "7", "--report-time"],
        &["-Zunstable-options", "--logfile", "one"],
        &["--skip", "x"],
    ] {
        assert_eq!(run(arguments), all, "{arguments:?}");
    }
    assert_eq!(run(&["--test-threads", "2", "o", "--skip", "th"]), ["one", "soak"]);
    assert_eq!(run(&["one", "soa", "--skip=two"]), ["one", "soak"]);
    assert_eq!(run(&["--exact", "one", "oth"]), ["one"]);
    for nothing in [&["--ignored"][..], &["--list"], &["2"]] {
        assert!(run(nothing).is_empty(), "{nothing:?}");
    }
}

#[test]
fn options_of_one_test_program_have_values_and_others_are_refused() {
    let own =
        parsed(&["--kills", "5", "--skip", "x", "--kills=7"]).expect("it has these options").own;
    assert_eq!(own, [("--kills".into(), "5".into()), ("--kills".into(), "7".into())]);
    for (arguments, expected) in [
        (&["--kill", "5"][..], "unknown option --kill"),
        (&["--exact=yes"], "unknown option --exact=yes"),
        (&["--kills"], "--kills takes a value"),
        (&["--test-threads"], "--test-threads takes a value"),
    ] {
        assert_eq!(parsed(arguments).expect_err("it is wrong"), expected);
    }
}
