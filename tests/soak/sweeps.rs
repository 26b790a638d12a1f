//! Faults in sweeps, merges and their plots.

use std::time::Instant;

use super::Share;
use super::faults::{damage, kill};
use super::world::World;

/// A sweep that is long enough to be killed in the middle.
const LONG: &str = "sweep: {name: s, grid: {scenario: VR_gaming, system: A, pes: [4096, 8192]}, replications: 1500}";

/// A sweep with all kinds of rows.
const SHORT: &str = "\
sweep:
  name: short
  grid:
    scenario: [VR_gaming, AR_gaming]
    system: [\"WS:3 + OS:1\", A]
    pes: [4096, 1000, 96]
";

const LONG_ROWS: &str = "s/long.csv";
const RUN_LONG: [&str; 4] = ["sweep", "long.yaml", "--out", LONG_ROWS];
const RUN_SHORT: [&str; 4] = ["sweep", "short.yaml", "--out", "short.csv"];
const PARTS: [&str; 2] = ["short.1-of-2.csv", "short.2-of-2.csv"];

pub fn soak(world: &mut World, share: &Share) {
    world.write("long.yaml", LONG.as_bytes());
    world.write("short.yaml", SHORT.as_bytes());
    std::fs::create_dir(world.path("s")).expect("a folder can be made");
    let start = Instant::now();
    world.done(&RUN_LONG);
    let usual = start.elapsed();
    let whole = world.read(LONG_ROWS);
    world.remove(LONG_ROWS);
    while_killed(world, share.kills, usual, &whole);
    on_full_disks(world, share.disks, &whole);
    with_two_writers(world, share.writers, &whole);
    damaged(world, share.damages);
}

/// Complete lines of a file.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")).collect()
}

/// Every complete row of `found` is in `whole`, and all rows of `before` are in `found`. A header without
/// rows may be written again.
pub(super) fn hold_rows(world: &mut World, before: &[u8], found: &[u8], whole: &[u8]) {
    let [before, found, whole] = [before, found, whole].map(lines);
    world.hold(whole.starts_with(&found), || "a row is wrong or out of order".into());
    world.hold(found.len() >= before.len() || before.len() == 1, || {
        format!("{} rows were there, {} are left", before.len(), found.len())
    });
}

fn while_killed(world: &mut World, n: u64, usual: std::time::Duration, whole: &[u8]) {
    let mut n_killed = 0;
    while n_killed < n {
        let before = world.read(LONG_ROWS);
        let command = world.command(&RUN_LONG);
        let folder = world.path("s");
        n_killed += u64::from(kill(world, command, usual, &folder));
        let found = world.read(LONG_ROWS);
        hold_rows(world, &before, &found, whole);
        if found.len() == whole.len() || world.below(8) == 0 {
            world.done(&RUN_LONG);
            let is_whole = world.read(LONG_ROWS) == whole;
            world.hold(is_whole, || "a sweep is not the same bytes after kills".into());
            world.hold_no_parts("s");
            world.remove("s");
            std::fs::create_dir(world.path("s")).expect("a folder can be made");
        }
    }
}

fn on_full_disks(world: &mut World, n: u64, whole: &[u8]) {
    let blocks = whole.len() as u64 / 512;
    for _ in 0..n {
        world.count("full disks");
        let before = world.read(LONG_ROWS);
        let limit = world.below(blocks);
        let status = world.limited(limit, &RUN_LONG).status().expect("it starts");
        let found = world.read(LONG_ROWS);
        hold_rows(world, &before, &found, whole);
        // A file that was larger before may have been complete.
        let is_said = status.code() == Some(2) || found == whole;
        world.hold(is_said, || format!("a full disk gives {status}"));
        if world.below(4) == 0 {
            world.done(&RUN_LONG);
            let is_whole = world.read(LONG_ROWS) == whole;
            world.hold(is_whole, || "a sweep is not the same bytes after full disks".into());
            world.hold_no_parts("s");
            world.remove("s");
            std::fs::create_dir(world.path("s")).expect("a folder can be made");
        }
    }
}

fn with_two_writers(world: &mut World, n: u64, whole: &[u8]) {
    for _ in 0..n {
        world.count("pairs of writers");
        world.remove("s");
        std::fs::create_dir(world.path("s")).expect("a folder can be made");
        let mut writers = [(); 2].map(|()| world.command(&RUN_LONG).spawn().expect("it starts"));
        let codes = writers.each_mut().map(|it| it.wait().expect("it can be waited for").code());
        let are_told =
            codes.contains(&Some(0)) && codes.iter().all(|it| [Some(0), Some(75)].contains(it));
        world.hold(are_told, || format!("two writers end with {codes:?}"));
        let is_whole = world.read(LONG_ROWS) == whole;
        world.hold(is_whole, || "two writers leave other bytes".into());
    }
}

/// Damages rows, records and parts, and asks all readers.
fn damaged(world: &mut World, n: u64) {
    world.done(&RUN_SHORT);
    for part in ["1/2", "2/2"] {
        world.done(&["sweep", "short.yaml", "--shard", part]);
    }
    let files = ["short.csv", "short.csv.json", PARTS[0], "short.2-of-2.csv.json"];
    let good = files.map(|name| world.read(name));
    let plot = ["plot", "short.csv", "--kind", "best"];
    let plotted = world.done(&plot).stdout;
    for _ in 0..n {
        let which = world.below(files.len() as u64) as usize;
        let bytes = damage(world, &good[which]);
        world.write(files[which], &bytes);
        if bytes == good[which] {
            continue;
        }
        let (name, whole) = (files[which], &good[0]);
        if which < 2 {
            let output = world.output(&plot);
            // Complete rows up to a cut are an incomplete sweep, and the plot says so.
            let is_cut = which == 0 && good[0].starts_with(&bytes);
            let is_said = String::from_utf8_lossy(&output.stderr).contains(" points; the same");
            let is_right =
                !output.status.success() || output.stdout == plotted || (is_cut && is_said);
            world.hold(is_right, || format!("damage of {name} is plotted"));
            let output = world.output(&RUN_SHORT);
            let rows = world.read("short.csv");
            let is_right = match output.status.success() {
                true => rows == *whole,
                // Refused and not changed.
                false => output.status.code() == Some(2) && (which == 1 || rows == bytes),
            };
            world.hold(is_right, || format!("damage of {name} is taken for rows"));
            world.count(if output.status.success() {
                "(damages mended)"
            } else {
                "(damages refused)"
            });
        } else {
            let output =
                world.output(&["parts", "merge", PARTS[0], PARTS[1], "--out", "joined.csv"]);
            let is_right = !output.status.success() || world.read("joined.csv") == *whole;
            world.hold(is_right, || format!("damage of {name} is joined"));
        }
        for (name, bytes) in files.iter().zip(&good) {
            world.write(name, bytes);
        }
    }
}
