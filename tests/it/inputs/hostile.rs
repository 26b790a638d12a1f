//! Files that are large, deep or damaged.

use xrsim::config::Catalog;

use super::{check, messages};
use crate::support::binary::{path, stderr, xrsim};

#[test]
fn hostile_files_are_refused_in_bounded_memory() {
    let mut bomb = String::from("network: &n0 [x, x]\n");
    for level in 1..40 {
        bomb += &format!("k{level}: &n{level} [*n{0}, *n{0}]\n", level - 1);
    }
    let found = messages(bomb.as_bytes());
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("more than 500000 values in aliases"), "{}", found[0]);
    let deep = format!("network: {}", "[".repeat(1_000_000));
    check(&deep, &["1:58: nested more than 48 levels deep"]);
    let many = format!("network: [{}]", "x, ".repeat(3_000_000));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("many.yaml"), many).unwrap();
    // The program, where it is an optimised one, takes a tenth of the time.
    let found = stderr(&xrsim(&["check", &path(&folder, "many.yaml")]).assert().code(1));
    assert!(found.contains("more than 2500000 values up to here"), "{found}");
    let long = format!("network:\n  name: N\n  {}: 1\n", "k".repeat(1000));
    assert_eq!(messages(long.as_bytes()).len(), 2);
    let wrong = "    - conv: {k: 0}\n".repeat(10_000);
    let found = messages(format!("network:\n  name: N\n  layers:\n{wrong}").as_bytes());
    assert_eq!(found.len(), 101);
    assert!(found[100].ends_with("and 59900 more problems"), "{}", found[100]);
}

/// Numbers of a linear congruential generator (Knuth's MMIX constants), the same in every run.
fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |below| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    }
}

#[test]
fn damaged_files_are_read_without_panic() {
    const PARTS: [&str; 16] = [
        "0",
        "-1",
        "99999999999999999999",
        "1e308",
        "NaN",
        "[",
        "{",
        "}",
        "*a",
        "&a ",
        "!x ",
        "'",
        "\n",
        ": ",
        "\u{2028}",
        "- ",
    ];
    let names = ["KD", "OS", "L", "paper", "three_unequal", "AR_Assistant", "sensors", "suite"];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.yaml");
    let mut below = numbers(7);
    let mut n_refused = 0;
    for name in names.iter().cycle().take(800) {
        let mut text = Catalog::new().text(name).unwrap().text().to_string();
        for _ in 0..=below(3) {
            let start = below(text.len());
            let end = (start + below(12)).min(text.len());
            if text.is_char_boundary(start) && text.is_char_boundary(end) {
                text.replace_range(start..end, PARTS[below(PARTS.len())]);
            }
        }
        std::fs::write(&path, text).unwrap();
        if let Err(error) = Catalog::new().check(&path) {
            assert!(error.to_string().contains("damaged.yaml:"), "{error}");
            n_refused += 1;
        }
    }
    assert!(n_refused > 400, "only {n_refused} of 800 damaged files were refused");
}
