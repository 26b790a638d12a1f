//! Soak test: kills, flipped and cut bytes, full disks and two writers, repeated many times.
//!
//! After every fault, no wrong row or file is accepted, no finished row is lost, a restart gives the same
//! bytes, and no temporary file stays. Without arguments it runs for a few seconds with the other tests. The
//! full test takes minutes to hours:
//!
//! ```text
//! cargo test --release --test soak -- --kills 1000 --damages 2000 --disks 300 --writers 200
//! ```
//!
//! `--seed N` gives other moments and bytes, `--binary FILE` another program, as `XRSIM_PROGRAM` does.

mod faults;
mod folders;
#[path = "../it/support/libtest.rs"]
mod libtest;
mod parts;
mod sweeps;
mod world;

use std::process::ExitCode;
use std::time::Instant;

use libtest::Arguments;
use world::World;

/// Name of this test.
const NAME: &str = "soak";

/// Options of this test alone.
const OPTIONS: [&str; 6] = ["--kills", "--damages", "--disks", "--writers", "--seed", "--binary"];

/// Number of repetitions of each fault.
struct Plan {
    kills: u64,
    damages: u64,
    disks: u64,
    writers: u64,
    seed: u64,
    binary: String,
}

impl Plan {
    /// A plan of a few seconds, or the plan of the arguments; `None` if they select other tests.
    fn of_arguments() -> Result<Option<Self>, String> {
        let built = || env!("CARGO_BIN_EXE_xrsim").to_string();
        let binary = std::env::var("XRSIM_PROGRAM").unwrap_or_else(|_| built());
        let mut plan = Self { kills: 4, damages: 24, disks: 6, writers: 4, seed: 1, binary };
        let arguments = Arguments::parse(std::env::args().skip(1), &OPTIONS)?;
        if !arguments.runs(NAME) {
            return Ok(None);
        }
        for (option, value) in arguments.own {
            let number = || value.parse().map_err(|_| format!("{option} takes a number"));
            match option.as_str() {
                "--kills" => plan.kills = number()?,
                "--damages" => plan.damages = number()?,
                "--disks" => plan.disks = number()?,
                "--writers" => plan.writers = number()?,
                "--seed" => plan.seed = number()?,
                _ => plan.binary = value,
            }
        }
        Ok(Some(plan))
    }

    fn share(&self, part: fn(u64) -> u64) -> Share {
        Share {
            kills: part(self.kills),
            damages: part(self.damages),
            disks: part(self.disks),
            writers: part(self.writers),
        }
    }
}

/// Repetitions of one half of the plan.
struct Share {
    kills: u64,
    damages: u64,
    disks: u64,
    writers: u64,
}

fn main() -> ExitCode {
    let plan = match Plan::of_arguments() {
        Ok(Some(plan)) => plan,
        Ok(None) => return ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    if cfg!(not(unix)) {
        println!("soak: signals, limits and permissions are those of Unix; nothing is done here");
        return ExitCode::SUCCESS;
    }
    let start = Instant::now();
    let mut world = World::new(plan.binary.clone(), plan.seed);
    sweeps::soak(&mut world, &plan.share(|n| n.div_ceil(2)));
    folders::soak(&mut world, &plan.share(|n| n / 2));
    parts::soak(&mut world, plan.kills.div_ceil(4));
    world.report(start.elapsed())
}
