//! Folders with small inputs, in which commands run with a folder of choices of mappings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use tempfile::TempDir;

use super::binary::process;

const SCENARIO: &str = "scenario: {name: small, models: [{network: KD, fps: 3}]}\n";

/// A search over `small.yaml`, with the settings `settings`.
fn search(settings: &str) -> String {
    format!(
        "search:\n  name: small\n  objective: {{maximise: score_executed_mean, over: [mean]}}\n  \
        scenarios: [small.yaml]\n  settings: {{{settings}}}\n  space:\n    accelerators: 2\n    \
        dataflows: [WS, OS]\n    pes: {{total: exactly 768, step: 256}}\n    \
        scheduler: [latency-greedy]\n"
    )
}

/// A folder with `small.yaml`, a scenario, and `search.yaml`, a search over it.
pub struct Folder {
    folder: TempDir,
}

impl Folder {
    pub fn new(settings: &str) -> Self {
        let folder = TempDir::new().expect("a folder");
        fs::write(folder.path().join("small.yaml"), SCENARIO).expect("a file");
        fs::write(folder.path().join("search.yaml"), search(settings)).expect("a file");
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("a file")
    }

    /// How a command ends with the folder of choices `cache`; an empty path is none.
    pub fn output(&self, cache: &Path, arguments: &[&str]) -> Output {
        let mut command = process(arguments);
        let command = command.current_dir(self.folder.path()).env("XRSIM_CACHE", cache);
        command.output().expect("it starts")
    }

    /// Output of a command that succeeds.
    pub fn succeed(&self, cache: &Path, arguments: &[&str]) -> Output {
        let output = self.output(cache, arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        output
    }
}
