//! Calls of the binary as a user makes them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use tempfile::TempDir;

/// The binary: that of the variable `XRSIM_PROGRAM`, such as an optimised one, or that of the tests.
pub fn program() -> OsString {
    std::env::var_os("XRSIM_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_xrsim").into())
}

/// Folder of the mappings that calls of this process have chosen, so that equal ones are searched once. Those of
/// earlier processes, whose program may have been another one, are left out.
static CHOICES: LazyLock<PathBuf> = LazyLock::new(|| {
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("choices");
    let own = all.join(std::process::id().to_string());
    for folder in fs::read_dir(&all).into_iter().flatten().flatten() {
        let modified = folder.metadata().and_then(|it| it.modified());
        let is_old = modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > LEFT));
        if is_old || folder.path() == own {
            // One that stays takes space.
            let _ = fs::remove_dir_all(folder.path());
        }
    }
    own
});

/// Age from which on no process uses a folder of choices.
const LEFT: Duration = Duration::from_secs(3600);

/// A call with these arguments, which leaves the cache of the user alone.
pub fn xrsim(arguments: &[&str]) -> Command {
    Command::from_std(process(arguments))
}

/// The same call as a process that can be waited for.
pub fn process(arguments: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new(program());
    command.args(arguments).env("XRSIM_CACHE", &*CHOICES);
    command
}

/// The same call by a shell that runs `script` before, such as a limit.
pub fn after(script: &str, arguments: &[&str]) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{script}; exec \"$0\" \"$@\"")]).arg(program());
    shell.args(arguments).env("XRSIM_CACHE", &*CHOICES);
    shell
}

/// A call on this number of threads, which knows no mappings: choices depend on no number of threads either.
pub fn on_threads(threads: &str, arguments: &[&str]) -> Command {
    let mut command = xrsim(arguments);
    command.env("XRSIM_CACHE", "").env("RAYON_NUM_THREADS", threads);
    command
}

/// Standard output of a call that succeeds.
pub fn output(arguments: &[&str]) -> String {
    stdout(&xrsim(arguments).assert().success())
}

/// Standard error of a call that is refused as bad input.
pub fn refused(arguments: &[&str]) -> String {
    stderr(&xrsim(arguments).assert().code(2))
}

/// Standard output of a call.
pub fn stdout(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).expect("output is UTF-8")
}

/// Standard error of a call.
pub fn stderr(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stderr.clone()).expect("messages are UTF-8")
}

/// Path of a file in a folder, as an argument.
pub fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("the path is UTF-8").into()
}
