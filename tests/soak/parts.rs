//! Kills of a part of a search for mappings, which goes on where it ended.

use std::time::Instant;

use super::faults::kill;
use super::sweeps::hold_rows;
use super::world::World;

const FOLDER: &str = "part";
const ROWS: &str = "part/part.csv";
const SEARCH: [&str; 10] = [
    "map",
    "--no-cache",
    "--network",
    "ES",
    "--dataflow",
    "WS",
    "--pes",
    "1000",
    "--effort",
    "default",
];

pub fn soak(world: &mut World, kills: u64) {
    let part = [&SEARCH[..], &["--shard", "1/1", "--out", FOLDER]].concat();
    let joined = [&SEARCH[..], &["--join", FOLDER]].concat();
    let start = Instant::now();
    world.done(&part);
    let usual = start.elapsed();
    let whole = world.read(ROWS);
    let answer = world.done(&joined).stdout;
    world.remove(FOLDER);
    let mut n_killed = 0;
    while n_killed < kills {
        let before = world.read(ROWS);
        let (command, folder) = (world.command(&part), world.path(FOLDER));
        n_killed += u64::from(kill(world, command, usual, &folder));
        let found = world.read(ROWS);
        hold_rows(world, &before, &found, &whole);
        if found.len() == whole.len() || world.below(8) == 0 {
            world.done(&part);
            let is_whole = world.read(ROWS) == whole;
            world.hold(is_whole, || "a part is not the same bytes after kills".into());
            world.hold_no_parts(FOLDER);
            let is_right = world.done(&joined).stdout == answer;
            world.hold(is_right, || "joined, a killed part gives another answer".into());
            world.remove(FOLDER);
        }
    }
}
