//! The loop-nest cost model against other cost models and a measured chip
//! (docs/explanation/cost-model-loop-nest.md, section 10.4).

use crate::support;

use xrsim::config::Source;
use xrsim::validate::cross::{self, Agreement, Number, Summary};

fn shipped() -> Vec<Number> {
    cross::shipped().expect("the shipped tables are right")
}

/// Numbers of `source`, or of all sources if it is empty, that `is` holds for.
fn count(numbers: &[Number], source: &str, is: impl Fn(Agreement) -> bool) -> usize {
    let of = numbers.iter().filter(|it| it.source.starts_with(source));
    of.filter(|it| is(it.agreement)).count()
}

fn check(numbers: &[Number]) {
    let differs: Vec<_> = numbers.iter().filter(|it| it.agreement == Agreement::Differs).collect();
    assert!(differs.is_empty(), "{differs:#?}");
}

#[test]
fn every_shipped_number_agrees_or_has_a_stated_reason() {
    let numbers = shipped();
    check(&numbers);
    // 11 counts of five mappings in Timeloop are the only ones of a tool that no rule reproduces.
    let is_open = |it: Agreement| matches!(it, Agreement::Open(_));
    assert_eq!(count(&numbers, "Timeloop", is_open), 11);
    assert_eq!(count(&numbers, "ZigZag", is_open), 0);
    assert_eq!(count(&numbers, "SCALE-Sim", is_open), 0);
}

#[test]
fn latencies_of_the_chip_have_the_stated_mean_errors() {
    let summaries = Summary::of(&shipped());
    let error = |source: &str, quantity: &str| {
        let of = |it: &&Summary| it.source == source && it.quantity.ends_with(quantity);
        let error = summaries.iter().find(of).and_then(Summary::mean_error);
        format!("{:.1}", 100.0 * error.expect("it is compared"))
    };
    assert_eq!(error("Eyeriss, AlexNet", "double-buffered"), "5.8");
    assert_eq!(error("Eyeriss, AlexNet", "weights single"), "4.5");
    assert_eq!(error("Eyeriss, VGG-16", "double-buffered"), "3.9");
    assert_eq!(error("Eyeriss, VGG-16", "weights single"), "1.9");
}

#[test]
fn counts_that_do_not_depend_on_a_rule_are_equal() {
    for it in Summary::of(&shipped()) {
        let exact = ["computation", "weights", "DRAM, whole", "partial sums sent up"];
        let is_exact = exact.iter().any(|quantity| it.quantity.starts_with(quantity));
        if it.source == "Timeloop" && is_exact {
            assert_eq!(it.n, it.n_equal, "{}", it.quantity);
        }
    }
}

#[test]
fn all_rows_of_the_full_tables_agree_or_have_a_stated_reason() {
    for (file, n_rows) in [
        ("timeloop_traffic.csv", 156),
        ("timeloop_dram.csv", 35),
        ("zigzag.csv", 16),
        ("scalesim.csv", 56),
        ("eyeriss_silicon.csv", 12),
    ] {
        let Some(path) = support::reference(&format!("crossval/data/{file}")) else { return };
        let source = Source::read(&path).expect("the table can be read");
        let numbers = cross::compare(&source).unwrap_or_else(|error| panic!("{error}"));
        check(&numbers);
        let mut lines: Vec<_> = numbers.iter().map(|it| it.line).collect();
        lines.dedup();
        assert_eq!(lines.len(), n_rows, "{file}");
    }
}
