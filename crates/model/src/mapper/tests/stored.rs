//! Files of choices in every state: a value depends on none of them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;

use crate::cost::loop_nest::{Choice, Choose as _, Machine};
use crate::hardware::{Accelerator, Flexibility, MappingObjective};

use super::super::search::Effort;
use super::super::{Chooser, Store, files, table, version};

const EFFORT: Effort = Effort::new(30, 0, 2);

fn accelerator(flexibility: Flexibility) -> Accelerator {
    Accelerator { flexibility, ..version::accelerator().expect("legal") }
}

/// The choices for the layers of `version`, with a store in `folder`.
fn choices(store: &Arc<Store>, accelerator: &Accelerator) -> Vec<Option<Choice>> {
    let chooser = Chooser::new(EFFORT, Arc::clone(store));
    let machine = Machine::from_accelerator(accelerator);
    let chosen = chooser.on(accelerator).expect("it may choose");
    version::nests().iter().map(|nest| chosen.choose(nest, &machine)).collect()
}

fn store_in(folder: &Path) -> Arc<Store> {
    let store = Arc::new(Store::default());
    store.keep_in(folder);
    store
}

/// The file of an accelerator in a folder.
fn file_of(folder: &Path, accelerator: &Accelerator) -> std::path::PathBuf {
    let chooser = Chooser::new(EFFORT, Arc::default());
    folder.join(format!("{}.txt", chooser.section(accelerator).name()))
}

/// A folder with the choices for an accelerator, these choices, and the text of its file.
fn filled(accelerator: &Accelerator) -> (TempDir, Vec<Option<Choice>>, String) {
    let folder = TempDir::new().expect("a folder");
    let store = store_in(folder.path());
    let found = choices(&store, accelerator);
    store.save().expect("it is written");
    // Without a mapping that runs there is no file.
    let text = fs::read_to_string(file_of(folder.path(), accelerator)).unwrap_or_default();
    (folder, found, text)
}

/// What a store says of its files after it gave the choices that a search gives.
fn refused(folder: &Path, accelerator: &Accelerator, expected: &[Option<Choice>]) -> Vec<String> {
    let store = store_in(folder);
    assert_eq!(choices(&store, accelerator), expected);
    // A file that cannot be replaced, such as a folder, is told of elsewhere.
    let _ = store.save();
    store.refused().into_iter().map(|(_, reason)| reason).collect()
}

#[test]
fn choices_that_are_kept_are_those_of_a_search() {
    for flexibility in [Flexibility::Forms, Flexibility::Tiles, Flexibility::Axes, Flexibility::Any]
    {
        let accelerator = accelerator(flexibility);
        let (folder, found, text) = filled(&accelerator);
        assert!(found.iter().all(Option::is_some), "{flexibility}");
        assert_eq!(refused(folder.path(), &accelerator, &found), [""; 0], "{flexibility}");
        let file = file_of(folder.path(), &accelerator);
        assert_eq!(fs::read_to_string(&file).expect("a file"), text, "{flexibility}");
        // Every line was taken: a store without new choices writes nothing.
        fs::write(&file, &text).expect("a file");
        let before = fs::metadata(&file).and_then(|it| it.modified()).expect("a time");
        refused(folder.path(), &accelerator, &found);
        let after = fs::metadata(&file).and_then(|it| it.modified()).expect("a time");
        assert_eq!(before, after, "{flexibility}");
    }
}

/// Replaces word number `at` of every line with a choice.
fn with_word(text: &str, at: usize, word: &str) -> String {
    each_line(text, |words| words[at] = word.into())
}

fn each_line(text: &str, change: impl Fn(&mut Vec<String>)) -> String {
    let first = text.lines().next().expect("a line");
    let lines = table::choices_of(text).lines().map(|line| {
        let mut words: Vec<String> = line.split(' ').map(String::from).collect();
        change(&mut words);
        words.join(" ")
    });
    let mut lines: Vec<String> = lines.collect();
    lines.sort_unstable();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    files::finish(format!("{first}\n{text}"))
}

/// Place of the mark of a line that says whether the mapping lies in the mapspace.
const PLACE: usize = 8;

#[test]
fn lines_that_somebody_changed_are_searched_again() {
    let accelerator = accelerator(Flexibility::Tiles);
    let (folder, found, text) = filled(&accelerator);
    let file = file_of(folder.path(), &accelerator);
    let mapping = |levels: &'static [&'static str]| {
        each_line(&text, |words| {
            words.truncate(PLACE + 2);
            words.push("=".into());
            words.extend(levels.iter().map(|level| (*level).to_string()));
        })
    };
    let changed = [
        ("no mapping", with_word(&text, 3, "none")),
        ("less cycles", with_word(&text, 4, "1")),
        ("less energy", with_word(&text, 5, "1.5")),
        ("a bound above the value", with_word(&text, 6, "99999999")),
        (
            "optimal",
            each_line(&text, |words| {
                words[3] = "bound".into();
                words[6] = "1".into();
                words[7] = "0.5".into();
            }),
        ),
        ("another mapping", mapping(&["1:K1"])),
        ("more units than PEs", mapping(&["4294967295:K1s"])),
        ("no mapping at all", mapping(&[])),
        ("other words", with_word(&text, PLACE, "somewhere")),
        ("long lines", with_word(&text, 4, &"9".repeat(10_000))),
    ];
    for (what, changed) in changed {
        assert_ne!(changed, text, "{what}");
        fs::write(&file, &changed).expect("a file");
        let said = refused(folder.path(), &accelerator, &found);
        assert_eq!(said.len(), 1, "{what}: one reason for the file");
        assert_eq!(fs::read_to_string(&file).expect("a file"), text, "{what}: lines are replaced");
    }
}

#[test]
fn lines_of_another_accelerator_are_searched_again() {
    let small = accelerator(Flexibility::Any);
    let large = Accelerator { pes: 64, ..small.clone() };
    let (_, _, of_large) = filled(&large);
    let (folder, found, text) = filled(&small);
    let file = file_of(folder.path(), &small);
    fs::write(&file, &of_large).expect("a file");
    assert_eq!(refused(folder.path(), &small, &found).len(), 1);
    assert_eq!(fs::read_to_string(&file).expect("a file"), text);
}

#[test]
fn a_mapping_that_does_not_fit_is_searched_again() {
    let large = accelerator(Flexibility::Tiles);
    let mut small = large.clone();
    // A PE holds two of the smallest tiles of directives only.
    small.memory.clusters = vec![crate::units::Bytes::new(1)];
    let (_, _, of_large) = filled(&large);
    let (folder, found, text) = filled(&small);
    assert!(found.iter().all(Option::is_none), "no mapping runs");
    assert_eq!(text, "");
    fs::write(file_of(folder.path(), &small), &of_large).expect("a file");
    assert_eq!(refused(folder.path(), &small, &found).len(), 1);
}

#[test]
fn mappings_outside_of_the_mapspace_are_searched_again() {
    let any = accelerator(Flexibility::Any);
    let tiles = accelerator(Flexibility::Tiles);
    let (_, _, of_any) = filled(&any);
    let (folder, found, text) = filled(&tiles);
    let file = file_of(folder.path(), &tiles);
    fs::write(&file, &of_any).expect("a file");
    let store = store_in(folder.path());
    assert_eq!(choices(&store, &tiles).len(), found.len());
    // Those of the larger mapspace cost what they say, and are seeds at most.
    let said: Vec<_> = store.refused().into_iter().map(|(_, reason)| reason).collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert_ne!(text, of_any);
}

#[test]
fn files_that_are_none_are_not_read() {
    let accelerator = accelerator(Flexibility::Tiles);
    let (folder, found, text) = filled(&accelerator);
    let file = file_of(folder.path(), &accelerator);
    let said = |what: &str| {
        let said = refused(folder.path(), &accelerator, &found);
        assert_eq!(said.len(), 1, "{what}: {said:?}");
        said[0].clone()
    };
    for end in (0..text.len() - 1).step_by(97) {
        fs::write(&file, &text[..end]).expect("a file");
        assert!(said("cut").contains("cut or changed"));
        assert_eq!(fs::read_to_string(&file).expect("a file"), text, "it is made again");
    }
    fs::write(&file, text.replacen(' ', "  ", 3)).expect("a file");
    assert!(said("changed").contains("cut or changed"));
    fs::write(&file, [0xff, 0xfe, 0]).expect("a file");
    said("no text");
    let other = text.replacen("xrsim mappings ", "xrsim mappings 0", 1);
    let body = other[..other.rfind("sha256 ").expect("a last line")].to_string();
    fs::write(&file, files::finish(body)).expect("a file");
    assert!(said("another version").contains("cut or changed"));
    fs::File::create(&file).and_then(|it| it.set_len((64 << 20) + 1)).expect("a file");
    assert!(said("large").contains("larger than 64 MiB"));
    fs::remove_file(&file).expect("a file");
    fs::create_dir(&file).expect("a folder");
    assert!(said("a folder").contains("no regular file"));
}

#[cfg(unix)]
#[test]
fn files_that_never_end_and_files_of_others_are_not_read() {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::os::unix::net::UnixListener;

    let accelerator = accelerator(Flexibility::Tiles);
    let (folder, found, text) = filled(&accelerator);
    let file = file_of(folder.path(), &accelerator);
    let said = |what: &str| {
        let said = refused(folder.path(), &accelerator, &found);
        assert_eq!(said.len(), 1, "{what}: {said:?}");
        // What stood there is replaced by a file that only the user may write.
        let data = fs::symlink_metadata(&file).expect("a file");
        assert!(data.is_file(), "{what}");
        assert_eq!(data.permissions().mode() & 0o022, 0, "{what}");
        assert_eq!(fs::read_to_string(&file).expect("a file"), text, "{what}");
        fs::remove_file(&file).expect("a file");
        said[0].clone()
    };
    fs::remove_file(&file).expect("a file");
    for target in ["/dev/zero", "/dev/random", "nowhere"] {
        symlink(target, &file).expect("a link");
        assert!(said(target).contains("no regular file"));
    }
    let made = std::process::Command::new("mkfifo").arg(&file).status().expect("it starts");
    assert!(made.success());
    assert!(said("a pipe").contains("no regular file"));
    let short = TempDir::new().expect("a folder");
    let socket = short.path().join("socket");
    let _listener = UnixListener::bind(&socket).expect("a socket");
    fs::rename(&socket, &file).expect("a socket");
    assert!(said("a socket").contains("no regular file"));
    for mode in [0o666, 0o620, 0o602] {
        fs::write(&file, &text).expect("a file");
        fs::set_permissions(&file, Permissions::from_mode(mode)).expect("a mode");
        assert!(said("of others").contains("other users may write it"));
    }
}

#[test]
fn another_effort_or_objective_is_another_question() {
    let tiles = accelerator(Flexibility::Tiles);
    let name = |effort, accelerator: &Accelerator| {
        let chooser = Chooser::new(effort, Arc::default());
        chooser.section(accelerator).name().to_string()
    };
    let mut names =
        vec![name(EFFORT, &tiles), name(Effort::QUICK, &tiles), name(Effort::FULL, &tiles)];
    for mapping_objective in MappingObjective::OF_LAYERS {
        names.push(name(EFFORT, &Accelerator { mapping_objective, ..tiles.clone() }));
    }
    names.sort();
    names.dedup();
    // One of the objectives is that of the first names.
    assert_eq!(names.len(), 3 + MappingObjective::OF_LAYERS.len() - 1);
}

#[test]
fn processes_that_write_one_after_the_other_lose_nothing() {
    let accelerator = accelerator(Flexibility::Tiles);
    let (_, _, whole) = filled(&accelerator);
    let folder = TempDir::new().expect("a folder");
    let stores = [store_in(folder.path()), store_in(folder.path())];
    let machine = Machine::from_accelerator(&accelerator);
    let choosers = stores.clone().map(|store| Chooser::new(EFFORT, store));
    for (at, nest) in version::nests().iter().enumerate() {
        let chosen = choosers[at % 2].on(&accelerator).expect("it may choose");
        let _ = chosen.choose(nest, &machine);
        stores[at % 2].save().expect("it is written");
    }
    let text = fs::read_to_string(file_of(folder.path(), &accelerator)).expect("a file");
    assert_eq!(text, whole);
}

#[test]
fn accelerators_that_cost_the_same_share_a_section() {
    let tiles = accelerator(Flexibility::Tiles);
    let chooser = Chooser::new(EFFORT, Arc::default());
    let renamed = Accelerator { name: "other".into(), ..tiles.clone() };
    assert!(Arc::ptr_eq(&chooser.section(&tiles), &chooser.section(&renamed)));
    let larger = Accelerator { pes: 32, ..tiles.clone() };
    assert!(!Arc::ptr_eq(&chooser.section(&tiles), &chooser.section(&larger)));
}
