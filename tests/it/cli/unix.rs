//! Files, pipes and signals of Unix.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::Stdio;

use super::binary::process;
use super::{output, tempdir};

fn full() -> File {
    File::options().write(true).open("/dev/full").expect("the device is there")
}

fn status(arguments: &[&str], stdout: impl Into<Stdio>, stderr: impl Into<Stdio>) -> i32 {
    let status = process(arguments).stdout(stdout).stderr(stderr).status();
    status.expect("the binary starts").code().expect("it is not killed")
}

#[test]
#[cfg(target_os = "linux")]
fn full_devices_are_errors_and_no_panics() {
    let scope = ["run", "--scenario", "VR_gaming", "--system", "A", "--format"];
    for format in ["table", "csv", "json"] {
        let arguments = [&scope[..], &[format]].concat();
        assert_eq!(status(&arguments, full(), Stdio::null()), 2, "{format}");
    }
    assert_eq!(status(&["show", "nothing"], Stdio::null(), full()), 2);
    assert_eq!(status(&["check", "nothing.yaml"], Stdio::null(), full()), 1);
}

#[test]
fn files_are_written_though_nobody_reads_the_output() {
    for format in ["table", "csv", "json"] {
        let folder = tempdir().expect("a folder can be made");
        let path = folder.path().to_str().expect("the path is UTF-8");
        let (reader, writer) = std::io::pipe().expect("a pipe can be made");
        drop(reader);
        let arguments = ["run", "--out", path, "--format", format];
        assert_eq!(status(&arguments, writer, Stdio::null()), 0, "{format}");
        let scores = fs::read_to_string(folder.path().join("scores.csv"));
        let scores = scores.expect("the file was written");
        assert_eq!(scores.lines().count(), 1 + 7 * 13 * 2, "{format}");
    }
}

/// Nobody reads the output, yet the exit status reports the failed check.
#[test]
fn a_failed_check_counts_although_nobody_reads_the_output() {
    let folder = tempdir().expect("a folder can be made");
    let table = folder.path().join("wrong.csv");
    let header = "N,G,K,C,Yo,Xo,R,S,pes,mapping,macs_executed\n";
    let row = "1,1,2,3,1,1,1,1,2,\"SpatialMap(1,1) K;\",";
    fs::write(&table, format!("{header}{row}7\n")).expect("a file can be written");
    let table = table.to_str().expect("the path is UTF-8");
    let good = concat!(env!("CARGO_MANIFEST_DIR"), "/dataflows/WS.yaml");
    for (arguments, expected) in
        [(&["validate", "cost", "--cases", table][..], 1), (&["check", good], 0)]
    {
        let (reader, writer) = std::io::pipe().expect("a pipe can be made");
        drop(reader);
        assert_eq!(status(arguments, writer, Stdio::null()), expected, "{arguments:?}");
    }
}

#[test]
fn devices_are_written_to_and_links_followed_instead_of_replaced() {
    let folder = tempdir().expect("a folder can be made");
    let target = folder.path().join("target");
    fs::write(&target, "earlier").expect("a file can be written");
    let out = folder.path().join("out");
    fs::create_dir(&out).expect("a folder can be made");
    for (name, original) in [("scores.csv", target.as_path()), ("models.csv", "/dev/null".as_ref())]
    {
        symlink(original, out.join(name)).expect("a link can be made");
    }
    output(&["run", "--system", "A", "--out", out.to_str().expect("the path is UTF-8")]);
    for name in ["scores.csv", "models.csv"] {
        assert!(out.join(name).is_symlink(), "{name}");
    }
    let scores = fs::read_to_string(&target).expect("the target is there");
    assert!(scores.starts_with("scenario,"), "{scores}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_standard_output_is_warned_of() {
    let shell = |redirection: &str| {
        let program = crate::support::binary::program();
        let line = format!("exec \"$0\" list models {redirection}");
        let output = std::process::Command::new("sh").arg("-c").arg(line).arg(program).output();
        let output = output.expect("a shell");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (_, said) = shell(">&-");
    assert!(said.contains("standard output is closed, or a null device"), "{said}");
    assert_eq!(shell(">/dev/null"), (Some(0), String::new()));
}

#[test]
fn a_path_that_is_no_text_is_named() {
    use std::os::unix::ffi::OsStrExt as _;
    let mut command = crate::support::binary::xrsim(&["run", "--scenario"]);
    let assert = command.arg(std::ffi::OsStr::from_bytes(b"bad\xff.yaml")).assert().code(2);
    let said = crate::support::binary::stderr(&assert);
    assert!(said.contains("`bad\u{fffd}.yaml` is no UTF-8 text"), "{said}");
}
