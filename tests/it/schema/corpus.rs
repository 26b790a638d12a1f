//! Files that readers and schemas are compared on: those that come with the program, and every text of a test or of the
//! source that looks like an input file.

use std::fs;
use std::path::{Path, PathBuf};

use xrsim::config::Kind;

use super::tree::Tree;

/// An input file.
#[derive(Debug)]
pub struct File {
    /// Where it stands.
    pub place: String,
    pub text: String,
    pub tree: Tree,
    pub kind: Kind,
}

impl File {
    /// The file with this text, if it has the top-level key of a kind.
    pub fn parse(place: &str, text: &str) -> Option<Self> {
        let tree = Tree::parse(text)?;
        let Tree::Mapping(entries) = &tree else { return None };
        let kind = |key: &str| Kind::ALL.iter().find(|(_, known)| *known == key);
        let (kind, _) = entries.iter().find_map(|(key, _)| kind(key))?;
        Some(Self { place: place.into(), text: text.into(), kind: *kind, tree })
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file under `folder` with this extension, in order.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![root().join(folder)], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|it| it == extension) => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> (String, String) {
    let place = path.strip_prefix(root()).expect("a file of the repository");
    (place.display().to_string(), fs::read_to_string(path).expect("text"))
}

/// Every input file that comes with the program.
pub fn shipped() -> Vec<File> {
    let folders = ["dataflows", "hw_configs", "models", "scenarios"];
    let paths = folders.iter().flat_map(|folder| files(folder, "yaml"));
    let files = paths.map(|path| {
        let (place, text) = read(&path);
        File::parse(&place, &text).unwrap_or_else(|| panic!("{place} is no input file"))
    });
    files.collect()
}

/// Every text of the tests and of the source that looks like an input file.
pub fn written() -> Vec<File> {
    let rust = ["tests/it", "src", "crates"].iter().flat_map(|folder| files(folder, "rs"));
    let mut found = Vec::new();
    for path in rust {
        let (place, source) = read(&path);
        for text in literals(&source) {
            // Texts of `format!` have doubled braces.
            let single = text.replace("{{", "{").replace("}}", "}");
            found.extend(File::parse(&place, &text).or_else(|| File::parse(&place, &single)));
        }
    }
    for path in files("tests/fuzz", "yaml") {
        let (place, text) = read(&path);
        found.extend(File::parse(&place, &text));
    }
    found
}

/// Values of the text literals of Rust source.
fn literals(source: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), source);
    while let Some(at) = rest.find(['"', '\'', '/']) {
        let before = &rest[..at];
        let hashes = before.len() - before.trim_end_matches('#').len();
        let is_raw = before.trim_end_matches('#').ends_with('r');
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.find('\n').map_or("", |end| &comment[end..]);
        } else if rest.starts_with("'\"'") {
            rest = &rest[3..];
        } else if let Some(text) = rest.strip_prefix('"') {
            let (value, after) = match is_raw {
                true => raw(text, hashes),
                false => escaped(text),
            };
            found.push(value);
            rest = after;
        } else {
            rest = &rest[1..];
        }
    }
    found
}

fn raw(text: &str, hashes: usize) -> (String, &str) {
    let end = format!("\"{}", "#".repeat(hashes));
    let at = text.find(&end).expect("the text ends");
    (text[..at].into(), &text[at + end.len()..])
}

fn escaped(text: &str) -> (String, &str) {
    let (mut value, mut chars) = (String::new(), text.chars());
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => match chars.next() {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some('\n') => {
                    let after = chars.as_str().trim_start();
                    chars = after.chars();
                }
                Some('u') => {
                    let code: String = chars.by_ref().skip(1).take_while(|it| *it != '}').collect();
                    value.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
                }
                Some(other) => value.push(other),
                None => {}
            },
            c => value.push(c),
        }
    }
    (value, chars.as_str())
}

#[test]
fn texts_of_source_are_found_as_rust_has_them() {
    let source = r##"
        // "comment"
        let a = "one\n\
                 two \"2\"";
        let b = ('"', r#"raw "text""#, r"back\n", b'/');
    "##;
    let expected = ["one\ntwo \"2\"", "raw \"text\"", "back\\n"];
    assert_eq!(literals(source), expected);
}
