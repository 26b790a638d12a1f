//! Words that the program is called with.

use std::process::Command;

#[test]
fn an_unknown_task_is_refused_with_those_that_there_are() {
    let called = Command::new(env!("CARGO_BIN_EXE_manual")).arg("genrate").output();
    let called = called.expect("it is built");
    assert_eq!(called.status.code(), Some(2));
    let told = String::from_utf8_lossy(&called.stderr);
    assert!(told.contains("generate"), "{told}");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let called = Command::new(env!("CARGO_BIN_EXE_manual"))
        .args(["run", "--xrsim", "no/such/program"])
        .output();
    let called = called.expect("it is built");
    assert_eq!(called.status.code(), Some(2));
    let told = String::from_utf8_lossy(&called.stderr);
    assert!(told.contains("no/such/program"), "{told}");
}
