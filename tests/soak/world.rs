//! The program under test, random numbers, and counts of the results.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// Every file below a folder with its bytes.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Most violations that are described.
const MAX_DESCRIBED: u64 = 20;

/// The program, a folder for its files, random numbers and counts.
pub struct World {
    binary: String,
    folder: TempDir,
    state: u64,
    counts: BTreeMap<&'static str, u64>,
    violations: u64,
}

impl World {
    pub fn new(binary: String, seed: u64) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        Self { binary, folder, state: seed, counts: BTreeMap::new(), violations: 0 }
    }

    /// A number below `end`, from SplitMix64.
    pub fn below(&mut self, end: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end.max(1)
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program with these arguments, in the folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        self.in_folder(command.args(arguments));
        command
    }

    /// The program where no file may be larger than `blocks` of 512 bytes.
    pub fn limited(&self, blocks: u64, arguments: &[&str]) -> Command {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        self.in_folder(command.args(["-c", &script, &self.binary]).args(arguments));
        command
    }

    /// Mappings are chosen once for all commands.
    fn in_folder(&self, command: &mut Command) {
        command.current_dir(self.folder.path()).env("XRSIM_CACHE", self.path("choices"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    }

    /// Result of a command without a fault.
    pub fn output(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.output().expect("the program starts")
    }

    /// Runs a command to its end.
    pub fn done(&mut self, arguments: &[&str]) -> Output {
        let output = self.output(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        self.hold(output.status.success(), || format!("{arguments:?} fails: {said}"));
        output
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_default()
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).expect("a file can be written");
    }

    pub fn remove(&self, name: &str) {
        let path = self.path(name);
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }

    pub fn files(&self, name: &str) -> Files {
        let mut found = Files::new();
        collect(&self.path(name), "", &mut found);
        found
    }

    /// Makes `folder` hold these files and no others.
    pub fn put(&self, folder: &str, files: &Files) {
        self.remove(folder);
        for (name, bytes) in files {
            let path = self.path(folder).join(name);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it can be made");
            fs::write(path, bytes).expect("a file can be written");
        }
    }

    /// Counts a fault.
    pub fn count(&mut self, what: &'static str) {
        let count = self.counts.entry(what).or_default();
        *count += 1;
        if (*count).is_multiple_of(100) {
            println!("soak: {count} {what}");
        }
    }

    /// Notes a violation unless `holds`.
    pub fn hold(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.violations += 1;
            if self.violations <= MAX_DESCRIBED {
                println!("VIOLATION: {}", what());
            }
        }
    }

    /// No part file is left in `folder`.
    pub fn hold_no_parts(&mut self, folder: &str) {
        let parts: Vec<_> =
            self.files(folder).into_keys().filter(|name| name.ends_with(".part")).collect();
        self.hold(parts.is_empty(), || format!("{folder} has {parts:?}"));
    }

    /// Prints the counts; fails if anything was violated.
    pub fn report(self, time: Duration) -> ExitCode {
        let faults: u64 =
            self.counts.iter().filter(|(what, _)| !is_outcome(what)).map(|it| it.1).sum();
        let counts: Vec<_> = self.counts.iter().map(|(what, n)| format!("{n} {what}")).collect();
        let seconds = time.as_secs_f64();
        println!(
            "soak: {}; {} violations; {faults} faults in {seconds:.1} s, {:.1}/s",
            counts.join(", "),
            self.violations,
            faults as f64 / seconds
        );
        ExitCode::from(u8::from(self.violations > 0))
    }
}

/// Counts in parentheses are results of faults.
fn is_outcome(what: &str) -> bool {
    what.starts_with('(')
}

fn collect(folder: &Path, prefix: &str, found: &mut Files) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), found);
        } else if let Ok(bytes) = fs::read(entry.path()) {
            found.insert(name, bytes);
        }
    }
}
