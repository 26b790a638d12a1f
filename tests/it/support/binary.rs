//! Calls of the binary as a user makes them.

use std::ffi::OsString;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use tempfile::TempDir;

/// The binary: that of the variable `XRSIM_PROGRAM`, such as an optimised one, or that of the tests.
pub fn program() -> OsString {
    std::env::var_os("XRSIM_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_xrsim").into())
}

/// A call with these arguments.
pub fn xrsim(arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    // Tests leave the cache of the user alone.
    command.args(arguments).env("XRSIM_CACHE", "");
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
