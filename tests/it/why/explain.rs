//! The command `explain`: proposed changes, what held the accelerators, and losses that add up.

use std::collections::HashMap;

use crate::support::binary::{output, path, refused};
use crate::support::page::data;

/// Rows of `inferences.csv` by model and frame: deadline, end and cause.
fn inferences(arguments: &[&str]) -> HashMap<String, (f64, Option<f64>, String)> {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let out = folder.path().to_str().expect("the path is UTF-8");
    output(&[&["run", "--out", out], arguments].concat());
    let mut reader = csv::Reader::from_path(folder.path().join("inferences.csv")).expect("a table");
    let header = reader.headers().expect("a header").clone();
    let at = |name: &str| header.iter().position(|it| it == name).expect("the column is there");
    let [model, frame, deadline, end] = ["model", "frame", "deadline_ms", "end_ms"].map(at);
    let [outcome, cause] = ["outcome", "cause"].map(at);
    let row = |row: csv::StringRecord| {
        let ended = (&row[outcome] == "executed").then(|| row[end].parse().expect("a number"));
        let deadline = row[deadline].parse().expect("a number");
        (format!("{}:{}", &row[model], &row[frame]), (deadline, ended, row[cause].to_string()))
    };
    reader.records().map(|record| row(record.expect("a row"))).collect()
}

/// The published study: with 4096 PEs all 62 frames are late or dropped, with 8192 it is 26.
const AR_ON_J: [&str; 6] = ["--scenario", "AR_gaming", "--system", "J", "--semantics", "mlsys2023"];

/// The score that `explain` predicts for a number of PEs is the score of `run`.
#[test]
fn proposed_pes_meet_the_deadline_when_they_are_asked_for() {
    let pes = |pes: &'static str| [&AR_ON_J[..], &["--pes", pes]].concat();
    let small = inferences(&pes("4096"));
    let large = inferences(&pes("8192"));
    let mut missed: Vec<_> = small.iter().filter(|(_, row)| !row.2.is_empty()).collect();
    missed.sort_by_key(|(name, _)| name.as_str());
    let mut n_proposed = 0;
    for (name, (_, _, cause)) in missed.into_iter().step_by(3) {
        let story = output(&[&["explain", name], &pes("4096")[..]].concat());
        let first_link = cause.split(" <- ").next().expect("a cause");
        assert!(story.contains(first_link), "{cause}\n{story}");
        let line = story.lines().find(|line| line.contains("PEs: 2 times as many (8192)"));
        let Some((_, rest)) = line.and_then(|line| line.split_once("in time, ")) else {
            continue;
        };
        let (margin, _) = rest.split_once(" ms to spare").expect("a margin");
        let (deadline, end, _) = &large[name];
        let end = end.unwrap_or_else(|| panic!("{name} was dropped on 8192 PEs"));
        assert_eq!(format!("{:.3}", deadline - end), margin, "{name}");
        n_proposed += 1;
    }
    assert!(n_proposed > 0, "the test compares something");
}

#[test]
fn explain_takes_one_run_and_a_frame_of_it() {
    let run = ["explain", "--scenario", "AR_gaming", "--system", "J"];
    let on = |frame| [&run[..], &["--pes", "4096", frame]].concat();
    let message = refused(&[&run[..], &["HT:1"]].concat());
    assert!(message.contains("takes one run, and these options make 2"), "{message}");
    let message = refused(&on("HTT:1"));
    assert!(message.contains("did you mean `HT`? (known: HT, DE, PD)"), "{message}");
    let message = refused(&on("HT:45"));
    assert!(message.contains("frames 0 to 44"), "{message}");
    for frame in ["HT", "HT:-1", "HT:", "HT:4294967296"] {
        let message = refused(&on(frame));
        assert!(message.contains("MODEL:FRAME"), "{message}");
    }
    let text = output(&on("ht:0"));
    assert!(text.contains("HT:0: executed on WS-0, in time"), "{text}");
    assert!(!text.contains("Cause") && text.is_ascii(), "{text}");
    let again = output(&[&on("HT:3")[..], &["--replication", "7"]].concat());
    assert!(again.contains("replication 7"), "{again}");
}

#[test]
fn explain_follows_the_artifacts_rules_too() {
    let run = ["--scenario", "AR_gaming", "--system", "J", "--pes", "4096"];
    let rules = ["--semantics", "mlsys2023"];
    let rows = inferences(&[&run[..], &rules[..]].concat());
    let missed = rows.iter().filter(|(_, row)| !row.2.is_empty()).min_by_key(|(name, _)| *name);
    let (name, (_, _, cause)) = missed.expect("J is overloaded at 4K");
    let text = output(&[&["explain", name], &run[..], &rules[..]].concat());
    assert!(text.contains("mlsys2023, artifact") && text.contains(&**cause), "{cause}\n{text}");
}

/// PD holds WS-0 for 275 ms, while DE:2 waits 18 ms for it and for OS-1.
#[test]
fn explain_names_what_held_the_accelerators_and_what_every_change_does_to_the_score() {
    let run =
        ["--flexibility", "none", "--scenario", "AR_gaming", "--system", "J", "--pes", "4096"];
    let run = [&run[..], &["--set", "hardware.fusion=none", "--platform", "paper"]].concat();
    let text = output(&[&["explain", "DE:2", "--replications", "3"], &run[..]].concat());
    assert!(text.contains("accelerator: 18.013 ms behind PD:0 on WS-0"), "{text}");
    let (_, jobs) = text.split_once("Frames that delayed DE:2").expect("jobs in its way");
    let first = jobs.lines().nth(1).expect("a job");
    assert!(
        first.contains("PD:0") && first.contains("it held WS-0") && first.contains("275."),
        "{text}"
    );
    // The parts of the execution have no start and end of their own.
    let line =
        |name: &str| text.lines().find(|line| line.starts_with(name)).expect(name).to_string();
    assert!(line("execution").contains("84.663  100.421"), "{text}");
    assert!(!line("- own latency").contains("100.421"), "{text}");
    // The effect of every change on the score is that of the runs, in the mean over the same draws.
    let score = |more: &[&str]| {
        let csv = output(&[&["run", "--format", "csv", "--replications", "3"], more].concat());
        let mut rows = csv::Reader::from_reader(csv.as_bytes());
        let at = rows.headers().expect("a header").iter().position(|it| it == "score");
        let number = |row: csv::StringRecord| row[at.expect("a column")].parse::<f64>();
        let scores = rows.records().map(|row| number(row.expect("a row")).expect("a number"));
        scores.sum::<f64>() / 3.0
    };
    let before = score(&run);
    let pes = score(&[&run[..6], &["--pes", "8192"], &run[8..]].concat());
    let scheduler = "edf:admission=hopeless";
    let hopeless = score(&[&run[..], &["--scheduler", scheduler]].concat());
    let change = |what: &str, after: f64, verdict: &str| {
        let line = text.lines().find(|line| line.contains(what)).expect(what);
        assert!(line.contains(&format!("{before:.3} -> {after:.3}")), "{line}");
        assert!(line.contains(verdict), "{line}");
    };
    assert!(pes < before && before < hopeless);
    change("PEs: 2 times as many (8192)", pes, "worse, not recommended");
    change(scheduler, hopeless, "better");
    let unchanged = text.lines().filter(|line| line.contains("no change"));
    assert!(unchanged.clone().count() > 0, "{text}");
    for line in unchanged {
        assert!(!line.contains("better") && !line.contains("worse"), "{line}");
    }
    let rows = text.lines().filter(|line| !line.starts_with("best single change"));
    let scores = rows.filter_map(|line| line.split_once(" -> ")?.1.get(..5)?.parse().ok());
    let scores: Vec<f64> = scores.collect();
    assert!(scores.len() > 8 && scores.is_sorted_by(|a, b| a >= b), "{text}");
    let latency = line("latency of DE: 90 % to 10 % of it");
    assert!(latency.contains("missed by all") && latency.contains("changes"), "{latency}");
    // Advice for the frame and for the run is one, and it is the best of all that can be asked for.
    let whole = output(&[&["explain", "--replications", "3"], &run[..]].concat());
    let best = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("best single change: "));
        line.expect("some change helps").to_string()
    };
    assert_eq!(best(&text), best(&whole));
    let (_, after) =
        best(&text).rsplit_once(" -> ").map(|(a, b)| (a.len(), b.to_string())).expect("scores");
    let after: f64 = after[..5].parse().expect("a number");
    assert!(after > hopeless - 0.0005, "{after} is below {hopeless}");
}

/// Numbers of a table's row after its name.
fn numbers(line: &str) -> Vec<f64> {
    line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn losses_of_models_and_the_score_of_a_run_add_up_to_one() {
    let run =
        ["--flexibility", "none", "--scenario", "AR_gaming", "--system", "J", "--pes", "4096"];
    let rules =
        ["--semantics", "mlsys2023", "--scenario", "AR_gaming", "--system", "J", "--pes", "4096"];
    for options in [&run[..], &rules[..]] {
        let against = ["--against", "J", "--replications", "2"];
        let text = output(&[&["explain"], options, &against[..]].concat());
        let all = text.lines().find(|line| line.starts_with("all ")).expect("a sum");
        let [lost, same] = numbers(all)[..] else { panic!("two losses in {all}") };
        assert_eq!(lost, same, "a system differs from itself");
        assert!(all.contains("none"), "{all}");
        let (_, score) = text.split_once("J scores ").expect("the score");
        let score: f64 = score[..5].parse().expect("a number");
        let rows = text.lines().skip_while(|line| !line.starts_with("model ")).skip(1);
        let rows = rows.take_while(|line| !line.starts_with("all "));
        let losses: f64 = rows.map(|row| numbers(row)[0]).sum();
        // Every printed number is rounded to 0.001, and losses below 0.0005 are left out: 12 at most.
        assert!((losses + score - 1.0).abs() < 0.007, "{losses} + {score}");
        assert!((lost + score - 1.0).abs() < 0.0011, "{lost} + {score}");
    }
}

#[test]
fn differences_of_two_systems_add_up_to_that_of_their_scores() {
    let run =
        ["--flexibility", "none", "--scenario", "AR_gaming", "--system", "J", "--pes", "4096"];
    let text = output(&[&["explain", "--against", "A", "--replications", "2"], &run[..]].concat());
    let rows: Vec<&str> =
        text.lines().skip_while(|line| !line.starts_with("model ")).skip(1).collect();
    let gain = |row: &&str| {
        let [own, other, ..] = numbers(row)[..] else { panic!("two losses in {row}") };
        other - own
    };
    let (all, causes) = rows.split_last().expect("a sum");
    let sum: f64 = causes.iter().map(gain).sum();
    assert!((sum - gain(all)).abs() < 0.012, "{sum} of {all}");
    let message = refused(&[&["explain", "--against", "AA"], &run[..]].concat());
    assert!(message.contains("AA"), "{message}");
}

/// The rows of a table of a folder, by the names of its columns.
fn table(folder: &str, name: &str) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_path(format!("{folder}/{name}")).expect("a table");
    reader.deserialize().collect::<Result<_, _>>().expect("rows")
}

#[test]
fn the_folder_of_an_explanation_has_what_the_terminal_says_and_its_page_begins_with_the_answer() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let [out, html] = ["why", "why.html"].map(|name| path(&folder, name));
    let run = ["--scenario", "AR_gaming", "--system", "J", "--pes", "4096", "--replications", "2"];
    let run =
        [&["explain", "--flexibility", "none", "--cost-model", "roofline"], &run[..]].concat();
    let said = output(&run);
    assert_eq!(output(&[&run[..], &["--out", &out]].concat()), said);
    output(&["report", &out, "-o", &html]);
    let page = data(&std::fs::read_to_string(&html).expect("a page"));

    let number = |row: &HashMap<String, String>, name: &str| row[name].parse::<f64>().expect(name);
    let score =
        said.split_once("score ").expect("a score").1[..5].parse::<f64>().expect("a number");
    let lost: f64 = table(&out, "losses.csv").iter().map(|row| number(row, "lost")).sum();
    // Losses and score are 1 together; the score is printed with three decimals.
    assert!((lost + score - 1.0).abs() < 0.0006, "{lost} {score}");
    let busy = table(&out, "accelerators.csv");
    let (all, models): (Vec<_>, Vec<_>) = busy.iter().partition(|row| row["model"] == "all");
    for row in all {
        let own = models.iter().filter(|it| it["accelerator"] == row["accelerator"]);
        let sum: f64 = own.map(|it| number(it, "busy_percent")).sum();
        assert!((sum - number(row, "busy_percent")).abs() < 1e-9, "{row:?}");
    }
    let layers = table(&out, "layers.csv");
    let of_time: f64 = layers.iter().map(|row| number(row, "of_time_percent")).sum();
    assert!((of_time - 100.0).abs() < 1e-9, "all layers are there: {of_time}");
    let changes = table(&out, "changes.csv");
    let shown = said.lines().filter(|line| line.contains(" -> ") && !line.starts_with("best "));
    assert_eq!(changes.len(), shown.count(), "{said}");
    for row in &changes {
        let change = number(row, "score") - number(row, "score_before");
        assert!((change - number(row, "score_change")).abs() < 1e-12, "{row:?}");
    }

    let summary = page["summary"].as_str().expect("a summary");
    let line = |start: &str| said.lines().find(|line| line.starts_with(start)).expect("a line");
    assert!(summary.starts_with(&format!("S{}.", &line("score ")[1..])), "{summary}");
    assert!(summary.ends_with(&format!("{}.", &line("best single change")[1..])), "{summary}");
    assert_eq!(page["title"], said.lines().next().expect("a heading"));
    let sections = page["sections"].as_array().expect("sections");
    let ids: Vec<_> = sections.iter().filter_map(|it| it["id"].as_str()).collect();
    assert_eq!(ids, ["models", "accelerators", "layers", "changes"]);
    assert_eq!(sections[2]["tables"].as_array().map(Vec::len), Some(2), "by time and by bytes");
    // The command on the page makes the same folder.
    let command = page["command"].as_str().expect("a command");
    let again = path(&folder, "again");
    let words = command.strip_prefix("xrsim ").expect("a command").replace("results", &again);
    output(&words.split(' ').collect::<Vec<_>>());
    let read =
        |folder: &str, name: &str| std::fs::read(format!("{folder}/{name}")).expect("a file");
    for name in ["losses.csv", "accelerators.csv", "layers.csv", "changes.csv", "explain.json"] {
        assert_eq!(read(&out, name), read(&again, name), "{name}");
    }
    std::fs::write(format!("{out}/losses.csv"), "model\n").expect("written");
    assert!(refused(&["report", &out, "-o", &html]).contains("losses.csv is not the file"));
    assert!(refused(&["run", "--out", &out]).contains("has results of `xrsim explain`"));
}

#[test]
fn folders_of_a_frame_and_of_a_choice_have_pages_too() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let run =
        ["explain", "--flexibility", "none", "--cost-model", "roofline", "--replications", "2"];
    let run = [&run[..], &["--scenario", "AR_gaming", "--system", "J", "--pes", "1024"]].concat();
    for (asked, name, section) in [
        (&["HT:10"][..], "parts.csv", "parts"),
        (&["--against", "A"], "differences.csv", "differences"),
    ] {
        let [out, html] = [section, "page.html"].map(|name| path(&folder, name));
        let said = output(&[&run[..], asked, &["--out", &out]].concat());
        assert!(!table(&out, name).is_empty(), "{said}");
        output(&["report", &out, "-o", &html]);
        let page = data(&std::fs::read_to_string(&html).expect("a page"));
        assert_eq!(page["sections"][0]["id"], section, "{said}");
        let command = page["command"].as_str().expect("a command");
        assert!(command.contains(&asked.join(" ")), "{command}");
        if section == "parts" {
            let points = page["sections"][0]["points"].to_string();
            let cause = said.split_once("\nCause\n").expect("a cause").1.lines().next();
            assert!(points.contains(cause.expect("a line").trim()), "{points}\n{said}");
            let summary = page["summary"].as_str().expect("a summary");
            assert!(
                summary.starts_with("HT:10: ") && summary.contains("est single change"),
                "{summary}"
            );
        }
    }
}
