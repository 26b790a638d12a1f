//! Lists the data files that `src/embedded.rs` compiles into the program, and parses them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

// The parser of the crate itself. It names `crate::Problem`.
#[allow(dead_code)]
#[path = "src/yaml/packed.rs"]
mod packed;
#[allow(dead_code)]
#[path = "src/problem.rs"]
mod problem;
#[allow(dead_code)]
#[path = "src/yaml/tree.rs"]
mod tree;

use problem::Problem;

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
    paths.sort();
    let mut table =
        String::from("/// Path, contents and tree of every data file, in order of path.\n");
    table += "const FILES: &[(&str, &str, Option<&[u8]>)] = &[\n";
    for (at, path) in paths.iter().enumerate() {
        let name = path.strip_prefix(&root).expect("found below the root");
        let name = name.to_str().expect("data files have plain names").replace('\\', "/");
        let tree = tree(path, &out.join(format!("{at}.tree")))?;
        writeln!(table, "    ({name:?}, include_str!({path:?}), {tree}),").expect("it is a string");
    }
    fs::write(out.join("embedded.rs"), table + "];\n")
}

/// Code of the tree of a file, which it writes to `packed`.
fn tree(path: &Path, packed: &Path) -> io::Result<String> {
    let text = fs::read_to_string(path)?;
    let mut problems = Vec::new();
    match tree::parse(&text, &mut problems).filter(|_| problems.is_empty()) {
        Some(root) => {
            fs::write(packed, packed::pack(&root, &text))?;
            Ok(format!("Some(include_bytes!({packed:?}))"))
        }
        None => Ok("None".into()),
    }
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
