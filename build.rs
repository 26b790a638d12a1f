//! Lists the data files that `src/config/embedded.rs` compiles into the program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folders of data files, in the order of the table.
const FOLDERS: [&str; 6] = ["dataflows", "hw_configs", "mlperf", "models", "scenarios", "sweeps"];

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let mut paths = Vec::new();
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        collect(&root.join(folder), &mut paths)?;
    }
    paths.sort();
    let mut table = String::from("/// Path and contents of every data file, in order of path.\n");
    table += "const FILES: &[(&str, &str)] = &[\n";
    for path in &paths {
        let name = path.strip_prefix(&root).expect("found below the root");
        let name = name.to_str().expect("data files have plain names").replace('\\', "/");
        writeln!(table, "    ({name:?}, include_str!({path:?})),").expect("writing to a string");
    }
    table += "];\n";
    fs::write(out.join("embedded.rs"), table)
}

/// Adds every `.yaml` file below `folder`.
fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            paths.push(path);
        }
    }
    Ok(())
}
