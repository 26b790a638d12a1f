//! Faults in folders of results: runs, comparisons, load tests, sensitivities, uncertainties.

use std::time::{Duration, Instant};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::Share;
use super::faults::{damage, kill};
use super::world::{Files, World};

/// A command that writes a folder, in two versions.
struct Job {
    name: &'static str,
    versions: [Vec<&'static str>; 2],
    record: &'static str,
    /// Whether `report` reads it.
    has_page: bool,
    usual: Duration,
    /// Files of both versions, and their pages.
    whole: [Files; 2],
    pages: [Vec<u8>; 2],
}

fn jobs() -> [Job; 5] {
    let job = |name, common: &'static str, version: [&'static str; 2], record, has_page| Job {
        name,
        versions: version.map(|version| {
            let words = [common, version].into_iter().flat_map(str::split_whitespace);
            words.chain(["--out", name]).collect()
        }),
        record,
        has_page,
        usual: Duration::ZERO,
        whole: Default::default(),
        pages: Default::default(),
    };
    let seeds = ["--seed 1", "--seed 2"];
    let run = "run --system A --pes 4096 --pes 8192 --scenario AR_gaming";
    let compare = "compare --scenario VR_gaming --system A --pes 4096 --replications 20 \
                   --scheduler edf --scheduler rm";
    let test =
        "mlperf inference --task image_classification_light --load single-stream --min-duration 1";
    let sensitivity = "sensitivity --scenario VR_gaming --system A --flexibility none \
                       --replications 5 --factor score.k_per_ms=5,10 --only";
    let joint = "sensitivity --joint 40 --scenario VR_gaming --system A,B --flexibility none";
    [
        job("run", run, seeds, "run.json", true),
        job("compare", compare, seeds, "compare.json", false),
        job("test", test, ["--pes 1024", "--pes 4096"], "mlperf.json", true),
        job("sensitivity", sensitivity, seeds, "sensitivity.json", false),
        job("joint", joint, seeds, "joint.json", true),
    ]
}

pub fn soak(world: &mut World, share: &Share) {
    let mut jobs = jobs();
    for job in &mut jobs {
        job.prepare(world);
    }
    let n = jobs.len() as u64;
    for (index, job) in jobs.iter().enumerate() {
        let part = |all: u64| all / n + u64::from((index as u64) < all % n);
        job.while_killed(world, part(share.kills));
        job.on_full_disks(world, part(share.disks));
        job.with_two_writers(world, part(share.writers));
        job.damaged(world, part(share.damages));
    }
}

impl Job {
    fn prepare(&mut self, world: &mut World) {
        for version in 0..2 {
            world.remove(self.name);
            let start = Instant::now();
            world.done(&self.versions[version]);
            self.usual = start.elapsed();
            self.whole[version] = world.files(self.name);
            if self.has_page {
                world.done(&["report", self.name, "--out", "page.html"]);
                self.pages[version] = world.read("page.html");
            }
        }
        world.hold(self.whole[0] != self.whole[1], || "the versions are alike".into());
    }

    /// Whether the folder is consistent: either it has the files of one version and record and reader accept
    /// it, or it is a mixture and they refuse it.
    fn hold_one_or_none(&self, world: &mut World, after: &str) {
        let files = world.files(self.name);
        let is_good = is_recorded(&files, self.record);
        // Part files of a killed writer may be present; the next writer removes them.
        let named: Files = files.into_iter().filter(|(name, _)| !name.ends_with(".part")).collect();
        let is_one = self.whole.contains(&named);
        world.hold(!is_good || is_one, || {
            format!("after {after}, the record of {} holds for a mixture", self.name)
        });
        world.hold(is_good || !is_one, || {
            format!("after {after}, the record of {} is none of its files", self.name)
        });
        world.count(if is_good { "(folders whole)" } else { "(folders known for mixtures)" });
        self.hold_page(world, after);
    }

    /// The page is that of one version, or absent.
    fn hold_page(&self, world: &mut World, after: &str) {
        if !self.has_page {
            return;
        }
        let output = world.output(&["report", self.name, "--out", "page.html"]);
        let is_right = match output.status.code() {
            Some(0) => self.pages.contains(&world.read("page.html")),
            code => code == Some(2),
        };
        world.hold(is_right, || {
            format!("after {after}, the page of {} is wrong ({:?})", self.name, output.status)
        });
    }

    fn hold_done(&self, world: &mut World, version: usize) {
        world.done(&self.versions[version]);
        let is_right = world.files(self.name) == self.whole[version];
        world.hold(is_right, || format!("another start of {} gives other bytes", self.name));
    }

    fn while_killed(&self, world: &mut World, n: u64) {
        let mut n_killed = 0;
        world.put(self.name, &self.whole[0]);
        while n_killed < n {
            let version = world.below(2) as usize;
            let command = world.command(&self.versions[version]);
            let folder = world.path(self.name);
            n_killed += u64::from(kill(world, command, self.usual, &folder));
            self.hold_one_or_none(world, "a kill");
            if world.below(8) == 0 {
                self.hold_done(world, version);
            }
        }
    }

    /// Either the old folder, byte for byte, or the new one.
    fn on_full_disks(&self, world: &mut World, n: u64) {
        let largest = self.whole[1].values().map(Vec::len).max().unwrap_or(0) as u64;
        for _ in 0..n {
            world.count("full disks");
            world.put(self.name, &self.whole[0]);
            let limit = world.below(largest / 512 + 2);
            let status = world.limited(limit, &self.versions[1]).status().expect("it starts");
            let expected = match status.code() {
                Some(0) => &self.whole[1],
                _ => &self.whole[0],
            };
            let is_right = world.files(self.name) == *expected;
            world.hold(is_right, || format!("a full disk changes {} ({status})", self.name));
        }
    }

    fn with_two_writers(&self, world: &mut World, n: u64) {
        for _ in 0..n {
            world.count("pairs of writers");
            let mut writers = [0, 1]
                .map(|version| world.command(&self.versions[version]).spawn().expect("it starts"));
            let codes =
                writers.each_mut().map(|it| it.wait().expect("it can be waited for").code());
            let are_told =
                codes.contains(&Some(0)) && codes.iter().all(|it| [Some(0), Some(75)].contains(it));
            world.hold(are_told, || format!("two writers of {} end with {codes:?}", self.name));
            let files = world.files(self.name);
            let is_one = self.whole.contains(&files);
            world.hold(is_one, || format!("two writers mix {}", self.name));
        }
    }

    /// Damages files of a folder and asks its reader.
    fn damaged(&self, world: &mut World, n: u64) {
        if !self.has_page {
            return;
        }
        let good = &self.whole[0];
        let names: Vec<&String> = good.keys().collect();
        for _ in 0..n {
            let name = names[world.below(names.len() as u64) as usize];
            let mut files = good.clone();
            files.insert(name.clone(), damage(world, &good[name]));
            world.put(self.name, &files);
            let output = world.output(&["report", self.name, "--out", "page.html"]);
            let is_right = match output.status.code() {
                Some(0) => world.read("page.html") == self.pages[0],
                code => code == Some(2),
            };
            world.hold(is_right, || format!("damage of {name} of {} is shown", self.name));
        }
        self.hold_done(world, 0);
    }
}

/// Whether the record describes exactly these files.
fn is_recorded(files: &Files, record: &str) -> bool {
    let Some(Ok(Value::Object(record))) =
        files.get(record).map(|bytes| serde_json::from_slice(bytes))
    else {
        return false;
    };
    let Some(entries) = record["files"].as_object() else { return false };
    entries.iter().all(|(name, entry)| {
        files.get(name).is_some_and(|bytes| {
            let hex: String =
                Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            entry["bytes"] == bytes.len() && entry["sha256"] == hex.as_str()
        })
    })
}
