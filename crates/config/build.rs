//! Lists the data files that `src/embedded.rs` compiles into the program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folders of data files, in the order of the table.
const FOLDERS: [&str; 4] = ["dataflows", "hw_configs", "models", "scenarios"];

fn main() -> io::Result<()> {
    let root =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join("../..");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let mut paths = Vec::new();
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed=../../{folder}");
        collect(&root.join(folder), "yaml", &mut paths)?;
    }
    let data = table("FILES", "Path and contents of every data file", &root, paths);
    fs::write(out.join("embedded.rs"), data)
}

/// Code of the table `constant` of paths below `root` and contents of files, in order of path.
fn table(constant: &str, what: &str, root: &Path, mut paths: Vec<PathBuf>) -> String {
    paths.sort();
    let mut table = format!("/// {what}, in order of path.\n");
    table += &format!("const {constant}: &[(&str, &str)] = &[\n");
    for path in &paths {
        let name = path.strip_prefix(root).expect("found below the root");
        let name = name.to_str().expect("data files have plain names").replace('\\', "/");
        writeln!(table, "    ({name:?}, include_str!({path:?})),").expect("writing to a string");
    }
    table + "];\n"
}

/// Adds every file below `folder` with this extension.
fn collect(folder: &Path, wanted: &str, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, wanted, paths)?;
        } else if path.extension().is_some_and(|extension| extension == wanted) {
            paths.push(path);
        }
    }
    Ok(())
}
