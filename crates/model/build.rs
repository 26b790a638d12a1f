//! Lists the files of mappings that `src/mapper/table.rs` compiles into the program.

use std::path::PathBuf;
use std::{env, fs, io};

/// Folder of the table of mappings. A file is called after an accelerator, `WS-2048-of-4096.DIGEST.txt`; the
/// program knows it as `DIGEST.txt`, by the digest of everything that its mappings depend on.
const MAPPINGS: &str = "../../dataflows/mappings";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={MAPPINGS}");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let mut lines = Vec::new();
    for entry in fs::read_dir(root.join(MAPPINGS))? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("plain names");
        if let Some((_, known_as)) = name.split_once('.').filter(|_| name.ends_with(".txt")) {
            lines.push(format!("    ({known_as:?}, include_str!({path:?})),\n"));
        }
    }
    lines.sort();
    let table = format!("const MAPPINGS: &[(&str, &str)] = &[\n{}];\n", lines.concat());
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    fs::write(out.join("mappings.rs"), table)
}
