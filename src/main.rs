//! The `xrsim` command; everything is in [`xrsim::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    xrsim::cli::run()
}
