//! Times of searches over systems, as a user starts them: the standard question, larger spaces, and parts of
//! resources that are independent of the PEs. Costs are computed from scratch.
//!
//! ```text
//! cargo bench --bench search
//! ```

use std::fs;
use std::process::Command;
use std::time::Instant;

/// A search without choices of mappings: scenarios, accelerators, further keys of the space.
fn spec(scenarios: &str, over: &str, space: &str) -> String {
    format!(
        "search:\n  name: bench\n{scenarios}  objective: {{maximise: score_executed_mean, over: {over}}}\n  \
         settings: {{flexibility: none}}\n  space:\n    dataflows: [WS, OS, RS]\n    \
         pes: {{total: exactly 4096, step: 128}}\n    {space}\n"
    )
}

fn main() {
    let folder = std::env::temp_dir().join(format!("xrsim-search-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder can be made");
    let parts =
        "accelerators: 2\n    shares: {noc: step 1/16, shared_memory: step 1/16, dram: step 1/16}";
    let cases = [
        ("S1  138 systems, 8 questions", spec("", "[each, mean]", "accelerators: 2")),
        ("S2  2,166 systems, 8 questions", spec("", "[each, mean]", "accelerators: 1..3")),
        ("S2  16,878 systems, 8 questions", spec("", "[each, mean]", "accelerators: 1..4")),
        ("S5  parts in sixteenths", spec("  scenarios: [AR_gaming]\n", "mean", parts)),
    ];
    for (name, text) in cases {
        let file = folder.join("spec.yaml");
        fs::write(&file, text).expect("it can be written");
        let out = folder.join("out");
        let _ = fs::remove_dir_all(&out);
        let start = Instant::now();
        let done = Command::new(env!("CARGO_BIN_EXE_xrsim"))
            .arg("search")
            .args([&file])
            .arg("--out")
            .args([&out])
            .arg("--require-proof")
            .env("XRSIM_CACHE", "")
            .output()
            .expect("the binary starts");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let record = fs::read_to_string(out.join("search.json")).expect("it is written");
        let record: serde_json::Value = serde_json::from_str(&record).expect("it is JSON");
        let answers = record["answers"].as_array().expect("answers");
        let sum = |key: &str| answers.iter().filter_map(|it| it[key].as_u64()).sum::<u64>();
        let seconds = start.elapsed().as_secs_f64();
        println!("{name}: {seconds:.2} s, {} runs, all proven", sum("runs"));
    }
    let _ = fs::remove_dir_all(&folder);
}
