//! Seeds of the mutations: every shipped file, small files of the harness, committed cases, and files that
//! the program writes.

use std::fs;
use std::path::{Path, PathBuf};

use xrsim::config::Kind as FileKind;

use super::bundle;
use super::cells;
use super::kind::{Kind, Syntax};
use super::onnx_files::{BOOL, Function, Graph, Model, Node, Tensor};
use super::pipeline::Shop;
use super::random::Random;
use super::tokens;
use super::tree::Tree;
use super::values;

/// Folders of shipped data.
const SHIPPED: [&str; 4] = ["dataflows", "hw_configs", "models", "scenarios"];

/// Seeds of one kind.
pub struct Seeds {
    texts: Vec<Seed>,
}

struct Seed {
    text: String,
    tree: Option<Tree>,
}

impl Seeds {
    /// Seeds of `kind`.
    pub fn new(kind: Kind, shop: &Shop) -> Self {
        let mut seeds = Self { texts: Vec::new() };
        texts(kind, shop).iter().for_each(|text| seeds.add(text));
        assert!(!seeds.texts.is_empty(), "{} has no seeds", kind.name());
        seeds
    }

    pub fn add(&mut self, text: &str) {
        self.texts.push(Seed { text: text.into(), tree: Tree::parse(text) });
    }

    /// Every seed of `kind` without a mutation.
    pub fn inputs(&self, kind: Kind) -> impl Iterator<Item = Vec<u8>> {
        self.texts.iter().map(move |seed| bytes_of(kind, &seed.text))
    }

    /// A seed after some mutations. One in eight is mutated by bytes too.
    pub fn mutated(&self, kind: Kind, random: &mut Random) -> Vec<u8> {
        let (seed, donor) = (self.pick(random), self.pick(random));
        if kind.syntax() == Syntax::Bytes {
            let mut bytes = bytes_of(kind, &seed.text);
            if !random.one_in(8) {
                tokens::mutate_bytes(&mut bytes, random);
            }
            return bytes;
        }
        let text = match random.below(8) {
            0 => seed.text.clone(),
            _ => mutate(seed, donor, kind.syntax(), random),
        };
        let mut bytes = text.into_bytes();
        if random.one_in(8) {
            tokens::mutate_bytes(&mut bytes, random);
        }
        bytes
    }

    /// A seed. Short ones are more probable, for a high rate.
    fn pick(&self, random: &mut Random) -> &Seed {
        let candidates = [(); 5].map(|()| random.pick(&self.texts));
        match random.one_in(32) {
            true => candidates[0],
            false => candidates.into_iter().min_by_key(|seed| seed.text.len()).expect("some"),
        }
    }
}

fn mutate(seed: &Seed, donor: &Seed, syntax: Syntax, random: &mut Random) -> String {
    match (syntax, &seed.tree, &donor.tree) {
        (Syntax::Tree | Syntax::Json, Some(tree), Some(donor)) => {
            let mut tree = tree.clone();
            tree.mutate(donor, random);
            tree.to_text(syntax == Syntax::Json, random)
        }
        (Syntax::Cells, ..) => cells::mutate(&seed.text, random),
        (Syntax::Words, ..) => words(&seed.text, &donor.text, random),
        (Syntax::Bundle, ..) => bundle::change_one(&seed.text, random, |name, text, random| {
            let seed = Seed { text: text.into(), tree: None };
            let syntax = Syntax::of_file(name);
            match (syntax, Tree::parse(text).filter(|_| syntax == Syntax::Json)) {
                (Syntax::Json, Some(mut tree)) => {
                    let donor = tree.clone();
                    tree.mutate(&donor, random);
                    tree.to_text(true, random)
                }
                (Syntax::Json, None) => tokens::mutate(text, text, random),
                _ => mutate(&seed, &seed, syntax, random),
            }
        }),
        _ => tokens::mutate(&seed.text, &donor.text, random),
    }
}

/// One to four mutations of a command line: other values, added or removed options, options of another line.
fn words(text: &str, donor: &str, random: &mut Random) -> String {
    let mut words: Vec<String> = text.lines().map(str::to_string).collect();
    let donor: Vec<&str> = donor.lines().collect();
    for _ in 0..=random.small(4) {
        if words.len() < 2 {
            break;
        }
        // The command stays: the other commands are separate seeds.
        let at = 1 + random.below(words.len() - 1);
        match random.below(10) {
            0 => {
                words.remove(at);
            }
            1 => words.insert(at, words[at].clone()),
            2 if donor.len() > 2 => {
                let from = 1 + random.below(donor.len() - 2);
                words.insert(at, donor[from].into());
                words.insert(at + 1, donor[from + 1].into());
            }
            3 => {
                let changed = tokens::mutate(&words[at], text, random);
                words[at] = changed.replace('\n', " ");
            }
            _ => {
                let near = values::near(&words[at], random).filter(|_| random.one_in(2));
                words[at] = near.unwrap_or_else(|| values::word(random)).replace('\n', " ");
            }
        }
    }
    words.join("\n")
}

fn texts(kind: Kind, shop: &Shop) -> Vec<String> {
    let mut texts = committed("seeds", kind);
    texts.extend(committed("cases", kind));
    let files = |folder: &str, wanted: &dyn Fn(&str) -> bool| -> Vec<String> {
        let texts = paths(&root().join(folder)).into_iter().map(|path| read(&path));
        texts.filter(|text| wanted(text)).collect()
    };
    match kind {
        Kind::CostCases => texts.extend(rows_of_cost_cases()),
        Kind::Results => texts.push(shop.results()),
        Kind::Tests => texts.push(shop.tests()),
        Kind::Rows => texts.push(shop.rows()),
        Kind::Choices => texts.extend(choices()),
        Kind::Journal => texts.push(shop.journal()),
        Kind::Loadgen => texts.push(loadgen()),
        Kind::Onnx => texts.extend(models()),
        _ => {}
    }
    if let Some((_, key)) = FileKind::ALL.into_iter().find(|(_, key)| *key == kind.name()) {
        let is_of_kind = |text: &str| {
            let mut lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
            lines.next().is_some_and(|line| line == format!("{key}:"))
        };
        SHIPPED.iter().for_each(|folder| texts.extend(files(folder, &is_of_kind)));
    }
    texts
}

/// The header of every shipped table of cases with a few of its rows.
fn rows_of_cost_cases() -> Vec<String> {
    let tables = ["loop_nest_cases", "loop_nest_cases_big", "loop_nest_legality"];
    let table = |name: &str| {
        let text = read(&root().join(format!("tests/reference/{name}.csv")));
        let rows: Vec<&str> = text.lines().take(4).collect();
        rows.join("\n") + "\n"
    };
    tables.map(table).into()
}

/// First lines of shipped tables of mappings.
fn choices() -> Vec<String> {
    let tables = paths(&root().join("dataflows/mappings")).into_iter().step_by(7);
    let lines = tables.flat_map(|path| {
        let lines: Vec<_> = read(&path).lines().take(40).map(str::to_string).collect();
        lines
    });
    lines.collect::<Vec<_>>().chunks(4).map(|lines| lines.join("\n") + "\n").collect()
}

/// The shipped cases of the load generator that have few queries.
fn loadgen() -> String {
    let folder = root().join("tests/reference/loadgen");
    let vectors = read(&folder.join("rng_vectors.json"));
    let log = read(&folder.join("queries/ss04_too_few.csv"));
    let cases = read(&folder.join("cases.json"));
    let first = cases.split("\n{\"id\": \"ss06").next().expect("the first case");
    let first = first.trim_end_matches(',').to_string() + "]\n";
    bundle::join([
        ("cases.json", first.as_str()),
        ("queries/ss04_too_few.csv", &log),
        ("rng_vectors.json", &vectors),
    ])
}

/// The bytes that a seed stands for: of a kind that is not text, each character is a byte.
fn bytes_of(kind: Kind, text: &str) -> Vec<u8> {
    match kind.syntax() {
        Syntax::Bytes => text.chars().map(|c| c as u8).collect(),
        _ => text.as_bytes().to_vec(),
    }
}

/// Models in ONNX with every message: a graph with constants and shapes, control flow, and a function.
fn models() -> Vec<String> {
    let conv = Graph::new("g")
        .input("x", &[1, 3, 8, 8])
        .weight("w", &[4, 3, 3, 3])
        .ints("s", &[1, -1])
        .weight("v", &[144, 5])
        .node(Node::new("Conv", &["x", "w"], &["a"]).named("conv").ints("strides", &[1, 1]))
        .node(Node::new("Relu", &["a"], &["b"]))
        .node(Node::new("Reshape", &["b", "s"], &["c"]))
        .node(Node::new("Gemm", &["c", "v"], &["y"]).float("alpha", 0.5))
        .output("y");
    let body = Graph::new("body").node(Node::new("MatMul", &["x", "w"], &["z"])).output("z");
    let branch = Graph::new("g")
        .input("x", &[4, 4])
        .weight("w", &[4, 4])
        .constant(Tensor::new("c", BOOL, &[]).raw(&[1]))
        .node(
            Node::new("If", &["c"], &["a"])
                .graph("then_branch", body.clone())
                .graph("else_branch", body),
        )
        .node(Node::new("Twice", &["a"], &["y"]).domain("local").text("mode", "on"))
        .output("y");
    let twice = Function::new("local", "Twice", &["p"], &["q"])
        .node(Node::new("MatMul", &["p", "p"], &["q"]).of_function("mode", "mode"));
    let models = [Model::new(conv), Model::new(branch).opset("local", 1).function(twice)];
    models.map(|model| model.write().into_iter().map(char::from).collect()).into()
}

/// The files of `kind` in a folder of the harness.
pub fn committed(folder: &str, kind: Kind) -> Vec<String> {
    let bytes = committed_bytes(folder, kind).into_iter();
    bytes.filter_map(|(_, bytes)| String::from_utf8(bytes).ok()).collect()
}

/// The files as bytes, with their names.
pub fn committed_bytes(folder: &str, kind: Kind) -> Vec<(String, Vec<u8>)> {
    let folder = root().join("tests/fuzz").join(folder).join(kind.name());
    if !folder.is_dir() {
        return Vec::new();
    }
    let file = |path: PathBuf| {
        let name = path.file_name().expect("a file has a name").to_string_lossy().into();
        (name, fs::read(&path).expect("a file of the repository can be read"))
    };
    paths(&folder).into_iter().map(file).collect()
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a file of the repository is text")
}

/// Every file below `folder`, in order of path.
fn paths(folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of the repository can be listed") {
            let path = entry.expect("an entry can be read").path();
            if path.is_dir() { folders.push(path) } else { paths.push(path) }
        }
    }
    paths.retain(|path| path.extension().is_none_or(|extension| extension != "md"));
    paths.sort();
    paths
}
