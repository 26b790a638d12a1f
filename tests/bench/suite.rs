//! Wall time and peak memory of the main job as a user starts it: the binary makes all 182
//! `mlsys2023` runs, costs computed from scratch, four files written.
//!
//! ```text
//! cargo bench --bench suite            11 runs after a warm-up
//! cargo bench --bench suite -- 51      51 runs
//! ```

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// One run of the binary: wall time, and the largest resident set seen [KiB].
fn measure(arguments: &[&str]) -> (Duration, u64) {
    let start = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_xrsim"))
        .args(arguments)
        .env("XRSIM_CACHE", "")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let peak_kib = watch(&mut child);
    (start.elapsed(), peak_kib)
}

/// Waits for `child`. The kernel keeps the high-water mark, so the last reading before the end counts.
fn watch(child: &mut Child) -> u64 {
    let status = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    loop {
        peak_kib = high_water_mark(&status).unwrap_or(0).max(peak_kib);
        if let Some(status) = child.try_wait().expect("the child can be waited for") {
            assert!(status.success(), "the run failed");
            return peak_kib;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

fn high_water_mark(status: &str) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn main() {
    let n_runs = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(11);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let out = folder.path().to_str().expect("the folder's name is UTF-8");
    for semantics in ["mlsys2023", "principled"] {
        let arguments = ["run", "--semantics", semantics, "--out", out];
        measure(&arguments);
        let mut runs: Vec<_> = (0..n_runs).map(|_| measure(&arguments)).collect();
        runs.sort();
        let ms = |index: usize| runs[index].0.as_secs_f64() * 1e3;
        let peak_mib = runs.iter().map(|run| run.1).max().unwrap_or(0) as f64 / 1024.0;
        println!(
            "182 {semantics} runs, files written: {:.1} ms median ({:.1} to {:.1}), {peak_mib:.1} MiB peak",
            ms(n_runs / 2),
            ms(0),
            ms(n_runs - 1),
        );
    }
}
