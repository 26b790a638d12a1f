//! Kinds of faults.

use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use super::world::World;

/// Starts `command` and kills it: at a random moment within `usual`, or as soon as a file in `folder` is new
/// or changed, or as soon as such a file is not a part file. Returns whether it was killed before its end.
pub fn kill(world: &mut World, mut command: Command, usual: Duration, folder: &Path) -> bool {
    let kind = world.below(3);
    let parts_too = kind == 1;
    let before = look(folder, parts_too);
    let mut child = command.spawn().expect("the program starts");
    match kind {
        0 => thread::sleep(part_of(world, usual)),
        _ => {
            wait_for_change(&mut child, usual, || look(folder, parts_too) != before);
            if parts_too || world.below(2) == 0 {
                thread::sleep(part_of(world, usual / 20));
            }
        }
    }
    let was_killed = child.try_wait().expect("it can be waited for").is_none();
    let _ = child.kill();
    child.wait().expect("it can be waited for");
    world.count(if was_killed { "kills" } else { "(ended before the kill)" });
    was_killed
}

fn part_of(world: &mut World, whole: Duration) -> Duration {
    Duration::from_micros(world.below(whole.as_micros() as u64 + 1))
}

fn wait_for_change(child: &mut Child, usual: Duration, has_changed: impl Fn() -> bool) {
    let start = Instant::now();
    while !has_changed() && start.elapsed() < 4 * usual {
        if child.try_wait().expect("it can be waited for").is_some() {
            return;
        }
        thread::sleep(Duration::from_micros(20));
    }
}

/// Names, numbers and lengths of the files in a folder, with or without part files.
fn look(folder: &Path, parts_too: bool) -> Vec<(std::ffi::OsString, u64, u64)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries
        .filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            let is_part = entry.file_name().to_string_lossy().ends_with(".part");
            (parts_too || !is_part).then_some(())?;
            Some((entry.file_name(), number(&metadata), metadata.len()))
        })
        .collect();
    found.sort();
    found
}

#[cfg(unix)]
fn number(metadata: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn number(_: &std::fs::Metadata) -> u64 {
    0
}

/// Some of the bytes changed, some cut off, or some cut out.
pub fn damage(world: &mut World, bytes: &[u8]) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    let length = bytes.len() as u64;
    match world.below(4) {
        0 => {
            world.count("cuts");
            damaged.truncate(world.below(length) as usize);
        }
        1 => {
            world.count("cuts");
            let start = world.below(length) as usize;
            let end = (start + 1 + world.below(40) as usize).min(bytes.len());
            damaged.drain(start..end);
        }
        2 => {
            // One digit becomes another, as in a typing error.
            world.count("flips");
            let at = world.below(length) as usize;
            let digit = damaged[at..].iter_mut().find(|byte| byte.is_ascii_digit());
            match digit {
                Some(digit) => *digit = b'0' + (*digit - b'0' + 1 + world.below(9) as u8) % 10,
                None => damaged[at] ^= 1,
            }
        }
        _ => {
            world.count("flips");
            for _ in 0..1 + world.below(4) {
                let at = world.below(length) as usize;
                damaged[at] ^= 1 << world.below(8);
            }
        }
    }
    damaged
}
