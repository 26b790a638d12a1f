//! Lists the files of mappings that `src/mapper/table.rs` compiles into the program.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folder of the table of mappings. A file is called after platform and accelerator,
/// `paper/WS-2048-of-4096.txt`; the program knows it by the digest in its line `# section: DIGEST`.
const MAPPINGS: &str = "../../dataflows/mappings";

/// Begin of the line with the digest of everything that the mappings of a file depend on.
const SECTION: &str = "# section: ";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={MAPPINGS}");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let mut files = Vec::new();
    for folder in fs::read_dir(root.join(MAPPINGS))? {
        let folder = folder?.path();
        if folder.is_dir() {
            for entry in fs::read_dir(&folder)? {
                files.extend(shipped(&folder, &entry?.path())?);
            }
        }
    }
    files.sort();
    let list: String = files.iter().map(|(_, line)| line.as_str()).collect();
    let table = format!("const MAPPINGS: &[Shipped] = &[\n{list}];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    fs::write(out.join("mappings.rs"), table)
}

/// The section of a file, and the line of the table; `None` for a file that is none of the table.
fn shipped(folder: &Path, path: &Path) -> io::Result<Option<(String, String)>> {
    let plain = |path: &Path| {
        path.file_name().and_then(|name| name.to_str()).expect("plain names").to_string()
    };
    let name = format!("{}/{}", plain(folder), plain(path));
    if !name.ends_with(".txt") {
        return Ok(None);
    }
    let text = fs::read_to_string(path)?;
    let mut remarks = text.lines().take_while(|line| line.starts_with('#'));
    let Some(section) = remarks.find_map(|line| line.strip_prefix(SECTION)) else {
        return Ok(None);
    };
    let line = format!(
        "    Shipped {{ section: {section:?}, name: {name:?}, text: include_str!({path:?}) }},\n"
    );
    Ok(Some((section.into(), line)))
}
