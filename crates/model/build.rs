//! Lists the files of mappings that `src/mapper/table.rs` compiles into the program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folder of the table of mappings.
const MAPPINGS: &str = "mappings";

fn main() -> io::Result<()> {
    let root =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join("../..");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    println!("cargo::rerun-if-changed=../../{MAPPINGS}");
    let (folder, mut paths) = (root.join(MAPPINGS), Vec::new());
    collect(&folder, "txt", &mut paths)?;
    let mappings = table("MAPPINGS", "Name and contents of every file of mappings", &folder, paths);
    fs::write(out.join("mappings.rs"), mappings)
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
