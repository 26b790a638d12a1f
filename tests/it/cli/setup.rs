//! Completions for shells, and manual pages.

use std::fs;

use tempfile::tempdir;

use crate::support::binary::{output, path};

#[test]
fn completions_and_manual_page_are_printed() {
    assert!(output(&["completions", "bash"]).contains("_xrsim"));
    assert!(output(&["man"]).contains(".TH xrsim"));
    assert!(output(&["--help"]).contains("Examples:"));
    assert!(output(&["run", "--help"]).contains("--replications"));
}

/// Words that a real bash offers for the last of `words`; `None` without bash.
fn offered(words: &[&str]) -> Option<Vec<String>> {
    let script = "eval \"$1\"; shift\n\
        COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=()\n\
        _xrsim xrsim \"${@: -1}\" \"${@: -2:1}\" 2>/dev/null\n\
        printf '%s\\n' \"${COMPREPLY[@]}\"";
    let completions = output(&["completions", "bash"]);
    let mut bash = std::process::Command::new("bash");
    let done = bash.args(["--norc", "-c", script, "bash", &completions]).args(words).output();
    let Ok(done) = done else {
        println!("skipped: there is no bash");
        return None;
    };
    let text = String::from_utf8(done.stdout).expect("names are UTF-8");
    Some(text.lines().map(String::from).collect())
}

#[test]
fn bash_completes_the_names_of_inputs() {
    for (words, name) in [
        (&["xrsim", "run", "--scenario", ""][..], "AR_gaming"),
        (&["xrsim", "run", "--scenario", "AR_g"], "AR_gaming"),
        (&["xrsim", "run", "--system", ""], "J"),
        (&["xrsim", "compare", "--scheduler", "ed"], "edf"),
        (&["xrsim", "cost", "--network", "K"], "KD"),
        (&["xrsim", "run", "--platform", "h"], "headset"),
        (&["xrsim", "sweep", "pe"], "pe_scaling"),
        (&["xrsim", "show", "AR_g"], "AR_gaming"),
        (&["xrsim", "run", "--set", "score.k"], "score.k_per_ms="),
        (&["xrsim", "mlperf", "inference", "--task", "image"], "image_classification_light"),
        (&["xrsim", "run", "--format", ""], "json"),
    ] {
        let Some(offered) = offered(words) else { return };
        assert!(offered.iter().any(|it| it == name), "{words:?}: {offered:?}");
        let start = words[words.len() - 1];
        assert!(offered.iter().all(|it| it.starts_with(start)), "{words:?}: {offered:?}");
    }
}

#[test]
fn every_command_has_the_manual_page_that_the_first_one_points_to() {
    let folder = tempdir().expect("a folder can be made");
    let first = output(&["man"]);
    output(&["man", "--out", &path(&folder, "man")]);
    let mut pointed_to = 0;
    for word in first.split_whitespace().filter(|word| word.ends_with("(1)")) {
        let page = word.replace('\\', "").replace("(1)", ".1");
        let page = page.trim_start_matches("fB").trim_start_matches("fR").to_string();
        let text = fs::read_to_string(folder.path().join("man").join(&page));
        assert!(text.is_ok_and(|text| text.contains(".TH")), "{page}");
        pointed_to += 1;
    }
    assert!(pointed_to > 10, "{first}");
}
