//! Links the program at a fixed address on Linux. At an address that each process draws, the start of a command would
//! write 109,000 addresses into 330 pages of the program first, for a quarter of the time of short commands.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |key: &str, value: &str| env::var(key).is_ok_and(|found| found == value);
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    // A static program is linked with other files for the start, which do not fit.
    let is_static = features.split(',').any(|it| it == "crt-static");
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
