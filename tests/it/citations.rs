//! Citations in comments and links between documents lead somewhere.
//!
//! The rule: a folder with a chapter in `docs/` cites its sections, equations, rules and quirks by
//! number alone. Every other citation of a section says right before or after it of what:
//! `XRBench section 4.1`, `section 4.1 of the paper`, `docs/explanation/cost-model-maestro.md, section 4.1`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use xrsim::compat::quirks;
use xrsim::plan::Ablation;

/// Folders with a chapter of their own.
const CHAPTERS: &[(&str, &str)] = &[
    ("crates/model/src/cost/loop_nest", "docs/explanation/cost-model-loop-nest.md"),
    ("crates/model/src/cost/maestro", MAESTRO),
    ("crates/sim/src/compat", RUNTIME),
];

const MAESTRO: &str = "docs/explanation/cost-model-maestro.md";
const RUNTIME: &str = "docs/explanation/artifact-runtime.md";

/// Words that name the source of a citation right before it, e.g. `XRBench section 4.1`.
const SOURCES: &[&str] = &["XRBench", "MLPerf", "Mobile", "paper", "paper's", "Inference"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Files with this extension in `folder` and below, in order.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(path);
        }
    }
    found
}

/// Marks of a chapter that a comment can cite: `4.1` of headings and labels, `R7`, `quirk 12`.
fn marks(document: &str) -> BTreeSet<String> {
    let mut marks = BTreeSet::new();
    for line in document.lines() {
        if let Some(heading) = line.strip_prefix('#') {
            let number = heading.trim_start_matches('#').split_whitespace().next();
            marks.extend(number.map(|number| number.trim_end_matches('.').to_owned()));
        }
        if let Some(label) = line.trim_end().strip_suffix(')').and_then(|it| it.rsplit('(').next())
            && is_number(label)
        {
            marks.insert(label.to_owned());
        }
        if let Some(quirk) = line.strip_prefix("**Quirk ") {
            let digits: String = quirk.chars().take_while(char::is_ascii_digit).collect();
            marks.insert(format!("quirk {digits}"));
        }
    }
    marks
}

/// Whether `text` is `4`, `4.1` or `4.1.2`.
fn is_number(text: &str) -> bool {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    text.split('.').all(is_digits)
}

/// A paragraph of comments and the line that it begins in, from 1.
struct Paragraph {
    line: usize,
    text: String,
}

/// Paragraphs of the comments of a source file, each on one line.
fn paragraphs(source: &str) -> Vec<Paragraph> {
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    let mut open = false;
    for (index, line) in source.lines().enumerate() {
        let comment = line.trim_start().strip_prefix("//");
        let text = comment.map(|text| text.trim_start_matches(['/', '!']).trim());
        match text {
            Some(text) if !text.is_empty() && open => {
                let paragraph = paragraphs.last_mut().expect("one is open");
                paragraph.text.push(' ');
                paragraph.text.push_str(text);
            }
            Some(text) if !text.is_empty() => {
                paragraphs.push(Paragraph { line: index + 1, text: text.into() });
                open = true;
            }
            _ => open = false,
        }
    }
    paragraphs
}

/// A citation, and whether its source stands right before or after it.
#[derive(Debug, PartialEq)]
struct Citation {
    mark: String,
    has_source: bool,
    /// Document in `docs/` that is the source.
    document: Option<String>,
}

/// Citations of a paragraph: `section 4.1`, `sections 4.1 and 4.2`, `Quirk 4`, `quirks 21 to 23`; and if
/// `all`, equations such as `(4.1)` and rules such as `R7` or `R5 to R10`.
fn citations(text: &str, all: bool) -> Vec<Citation> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let kind = words[at].trim_start_matches(['(', '[', '*']).to_lowercase();
        let (prefix, is_list) = match kind.as_str() {
            "section" | "sections" => ("", true),
            "quirk" | "quirks" => ("quirk ", true),
            _ => ("", false),
        };
        let first = at + usize::from(is_list);
        let mut end = first;
        let mut marks = Vec::new();
        while let Some(mark) = words.get(end).and_then(|word| mark(word, is_list, all)) {
            marks.push(mark);
            end += 1;
            let joins = words.get(end).is_some_and(|word| ["and", "to", "or"].contains(word));
            end += usize::from(joins);
        }
        if marks.is_empty() {
            at += 1;
            continue;
        }
        let before = at.checked_sub(1).map(|index| words[index].trim_matches([',', '(', ';']));
        let has_of = words.get(end) == Some(&"of") && !words[end - 1].ends_with(['.', ')', ',']);
        let after = words.get(end + 1).filter(|_| has_of).copied();
        let document = [before, after].into_iter().flatten().find_map(document);
        let has_source = has_of || before.is_some_and(|word| SOURCES.contains(&word));
        found.extend(marks.into_iter().map(|mark| {
            let mark = if mark.starts_with('R') { mark } else { format!("{prefix}{mark}") };
            Citation { mark, has_source, document: document.clone() }
        }));
        at = end.max(at + 1);
    }
    found
}

/// The document that a word is, as `docs/name.md`.
fn document(word: &str) -> Option<String> {
    let word = word.trim_matches(['(', ')', ',', ';', ':', '`']).trim_end_matches('.');
    (word.starts_with("docs/") && word.ends_with(".md")).then(|| word.into())
}

/// The mark that a word is: a number after a word like `section`; `(4.1)` or `R7` anywhere if `all`.
fn mark(word: &str, in_list: bool, all: bool) -> Option<String> {
    let bare = word.trim_matches(['(', ')', ',', '.', ';', ':', '*', '`']);
    let bare = bare.strip_suffix("'s").unwrap_or(bare);
    if in_list && is_number(bare) {
        return Some(bare.into());
    }
    let is_rule = bare.strip_prefix('R').is_some_and(|rest| is_number(rest) && !rest.contains('.'));
    let is_label = word.starts_with('(') && bare.len() <= "10.12".len() && is_number(bare);
    let is_label = is_label && bare.contains('.');
    (all && (is_rule || is_label)).then(|| bare.into())
}

/// Citations of a source file that lead nowhere, as `file:line: mark`.
fn dead_citations(path: &Path, source: &str, chapter: Option<&BTreeSet<String>>) -> Vec<String> {
    let mut dead = Vec::new();
    for paragraph in paragraphs(source) {
        for citation in citations(&paragraph.text, chapter.is_some()) {
            let Citation { mark, has_source, document } = citation;
            let is_known = match document {
                Some(document) => has_mark(&document, &mark),
                None => has_source || chapter.is_some_and(|marks| marks.contains(&mark)),
            };
            if !is_known {
                dead.push(format!("{}:{}: {mark}", path.display(), paragraph.line));
            }
        }
        dead.extend(dead_documents(path, &paragraph));
    }
    dead
}

/// Whether the document at this path of the repository has a mark.
fn has_mark(document: &str, mark: &str) -> bool {
    fs::read_to_string(root().join(document)).is_ok_and(|text| marks(&text).contains(mark))
}

/// Documents that a paragraph names and that do not exist.
fn dead_documents(path: &Path, paragraph: &Paragraph) -> Vec<String> {
    let names = paragraph.text.split("docs/").skip(1).filter_map(|rest| rest.split_once(".md"));
    let is_name =
        |name: &str| name.bytes().all(|it| it.is_ascii_alphanumeric() || b"-/".contains(&it));
    let dead = names.map(|(name, _)| name).filter(|name| {
        is_name(name) && !root().join("docs").join(name).with_extension("md").exists()
    });
    dead.map(|name| format!("{}:{}: docs/{name}.md", path.display(), paragraph.line)).collect()
}

#[test]
fn every_citation_of_a_comment_leads_somewhere() {
    let chapters: Vec<_> = CHAPTERS
        .iter()
        .map(|(folder, document)| (root().join(folder), marks(&read(&root().join(document)))))
        .collect();
    let sources = files(&root().join("crates"), "rs").into_iter();
    let dead = sources.flat_map(|path| {
        let chapter = chapters.iter().find(|(folder, _)| path.starts_with(folder));
        let shown = path.strip_prefix(root()).expect("it lies in the repository").to_owned();
        dead_citations(&shown, &read(&path), chapter.map(|(_, marks)| marks))
    });
    let dead: Vec<_> = dead.collect();
    assert!(dead.is_empty(), "citations without a place or a source:\n{}", dead.join("\n"));
}

#[test]
fn every_quirk_cites_a_rule_or_a_section_that_exists() {
    let [runtime, maestro] = [RUNTIME, MAESTRO].map(|path| marks(&read(&root().join(path))));
    for quirk in quirks::ALL {
        let found: Vec<_> = match quirk.rule.strip_prefix("cost model, ") {
            Some(section) => {
                citations(section, false).into_iter().map(|it| (it, &maestro)).collect()
            }
            None => citations(quirk.rule, true).into_iter().map(|it| (it, &runtime)).collect(),
        };
        assert!(!found.is_empty(), "{}", quirk.rule);
        for (Citation { mark, .. }, chapter) in found {
            assert!(chapter.contains(&mark), "{}: {mark}", quirk.name);
        }
    }
}

#[test]
fn the_chapter_lists_every_quirk_that_can_be_left_out() {
    let chapter = read(&root().join(RUNTIME));
    for (name, _) in Ablation::ALL {
        assert!(chapter.contains(&format!("| `{name}` |")), "{name}");
    }
}

/// Markdown files of the repository.
fn documents() -> Vec<PathBuf> {
    let entries = fs::read_dir(root()).expect("the repository can be read");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let of = |path: PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        match path.is_dir() {
            true if name.starts_with('.') || name == "target" => Vec::new(),
            true => files(&path, "md"),
            false if name.ends_with(".md") => vec![path],
            false => Vec::new(),
        }
    };
    let mut documents: Vec<_> = paths.flat_map(of).collect();
    documents.sort();
    documents
}

/// Anchors of the headings of a document, as GitHub makes them.
fn anchors(document: &str) -> BTreeSet<String> {
    let headings = prose(document).filter(|line| line.starts_with('#'));
    let slug = |line: &str| {
        let text = line.trim_start_matches('#').trim().to_lowercase();
        let kept = text.chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
        kept.map(|it| if it == ' ' { '-' } else { it }).collect()
    };
    headings.map(slug).collect()
}

/// Lines of a document outside of code blocks.
fn prose(document: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    document.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    })
}

/// Targets of the links `[text](target)` of a document.
fn links(document: &str) -> Vec<&str> {
    let in_line = |line: &'_ str| -> Vec<(usize, usize)> {
        let starts = line.match_indices("](").map(|(at, _)| at + 2);
        starts.filter_map(|at| Some((at, at + line[at..].find(')')?))).collect()
    };
    prose(document)
        .flat_map(|line| in_line(line).into_iter().map(|(from, to)| &line[from..to]))
        .collect()
}

/// Whether the target of a link in the document at `path` exists, with its anchor.
fn leads_somewhere(path: &Path, link: &str) -> bool {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => path.to_owned(),
        file => path.parent().expect("a file has a folder").join(file),
    };
    let is_document = target.extension().is_some_and(|it| it == "md");
    target.exists()
        && (anchor.is_empty() || !is_document || anchors(&read(&target)).contains(anchor))
}

#[test]
fn every_link_of_a_document_leads_somewhere() {
    let mut dead = Vec::new();
    for path in documents() {
        let document = read(&path);
        let local = links(&document).into_iter().filter(|link| !link.contains("://"));
        let broken = local.filter(|link| !leads_somewhere(&path, link));
        let shown = path.strip_prefix(root()).expect("it lies in the repository");
        dead.extend(broken.map(|link| format!("{}: {link}", shown.display())));
    }
    assert!(dead.is_empty(), "links that lead nowhere:\n{}", dead.join("\n"));
}

#[test]
fn citations_are_found_in_all_their_forms() {
    let bare = |text: &str, all| -> Vec<String> {
        citations(text, all).into_iter().filter(|it| !it.has_source).map(|it| it.mark).collect()
    };
    assert_eq!(
        bare("The cases (section 4): see sections 4.1, 4.2 and 5.", false),
        ["4", "4.1", "4.2", "5"]
    );
    assert_eq!(
        bare("N_part (6.2), of rules R5 to R10, and (4.1, section 4.3).", true),
        ["6.2", "R5", "R10", "4.1", "4.3"]
    );
    assert_eq!(
        bare("Quirks 21 to 23: none. Quirk 4: a stride.", true),
        ["quirk 21", "quirk 23", "quirk 4"]
    );
    assert_eq!(
        bare("XRBench section 4.1, section 3.7 of the paper, a share (0.5)", false),
        [""; 0]
    );
    assert_eq!(bare("a share (section 3.5: one second)", false), ["3.5"]);
}
