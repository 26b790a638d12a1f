//! Choices that are kept, so that equal ones are made once: in memory, in the table that comes with the
//! program, and in a folder.
//!
//! Choices for one accelerator under one objective make a section, which is one file. Its name is a digest
//! of everything that its choices depend on, and its last line is a digest of all others: a file of
//! another version has another name, and one that was cut or changed is not read. A file is written
//! aside and renamed, with the choices that other processes wrote meanwhile.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::cost::loop_nest::Machine;
use crate::digest::Digest;
use crate::hardware::Accelerator;

use super::kept::{Kept, LayerKey};
use super::problem::Limits;
use super::row;
use super::table::{self, Table};

/// Version of the cost model and of the mapper: choices of other versions are not read. It is raised when
/// an evaluation or a search changes.
pub(super) const VERSION: u32 = 3;

/// Choices by everything that they depend on.
#[derive(Debug, Default)]
pub struct Store {
    /// Folder of the files.
    folder: Mutex<Option<PathBuf>>,
    /// Files of a table by name, without their folder.
    table: Table,
    /// Whether the table is left aside.
    is_aside: AtomicBool,
    sections: Mutex<HashMap<Box<str>, Arc<Section>>>,
}

/// Choices of this process.
static OF_PROCESS: LazyLock<Arc<Store>> =
    LazyLock::new(|| Arc::new(Store { table: table::FILES, ..Store::default() }));

impl Store {
    /// The store that all cost models of the process share. It knows the table that comes with the
    /// program.
    pub fn of_process() -> Arc<Self> {
        Arc::clone(&OF_PROCESS)
    }

    /// Keeps choices in `folder` too: sections are read from it when they are first needed, and written by
    /// [`Store::save`].
    pub fn keep_in(&self, folder: impl Into<PathBuf>) {
        *lock(&self.folder) = Some(folder.into());
    }

    /// Leaves the table that comes with the program aside, for comparisons of accelerators of which it has only some:
    /// it was made with full effort, and a quick search of the others would look like a loss. Choices that were
    /// taken from it before stay.
    pub fn leave_table_aside(&self) {
        self.is_aside.store(true, Ordering::Relaxed);
    }

    /// Whether the table that comes with the program has choices for an accelerator.
    pub fn ships(&self, accelerator: &Accelerator) -> bool {
        let name = file_name(&section_key(accelerator));
        self.table.binary_search_by_key(&&*name, |(name, _)| name).is_ok()
    }

    /// Writes every section with new choices into the folder, if there is one.
    ///
    /// # Errors
    ///
    /// The error of the first file that cannot be written.
    pub fn save(&self) -> io::Result<()> {
        let Some(folder) = lock(&self.folder).clone() else { return Ok(()) };
        let sections: Vec<_> = lock(&self.sections).values().cloned().collect();
        sections.iter().try_for_each(|section| section.save(&folder))?;
        remove_leftovers(&folder);
        Ok(())
    }

    /// The choices for an accelerator.
    pub fn section(&self, accelerator: &Accelerator) -> Arc<Section> {
        self.section_of(section_key(accelerator))
    }

    /// The choices that depend on everything in `key`.
    pub(super) fn section_of(&self, key: Box<str>) -> Arc<Section> {
        let mut sections = lock(&self.sections);
        if let Some(section) = sections.get(&*key) {
            return Arc::clone(section);
        }
        let name = file_name(&key);
        let mut choices = HashMap::new();
        let shipped = self.table.binary_search_by_key(&&*name, |(name, _)| name).ok();
        let shipped = shipped.filter(|_| !self.is_aside.load(Ordering::Relaxed));
        if let Some(text) = shipped.map(|at| self.table[at].1) {
            merge(&mut choices, read(text));
        }
        if let Some(folder) = &*lock(&self.folder) {
            merge(&mut choices, read_file(&folder.join(&name)));
        }
        let state = State { choices, is_new: false };
        let section = Arc::new(Section { name, state: Mutex::new(state) });
        sections.insert(key, Arc::clone(&section));
        section
    }
}

/// Name of the file of a section.
pub fn file_name(key: &str) -> String {
    format!("{}.txt", &Digest::compute(key.as_bytes()).hex()[..32])
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Choices for one accelerator under one objective.
#[derive(Debug)]
pub struct Section {
    /// Name of its file.
    name: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    choices: HashMap<LayerKey, Kept>,
    /// Whether there are choices that its file does not have.
    is_new: bool,
}

impl Section {
    /// The known choice of a layer, or that of `search`, which is kept. A choice of a quick search does
    /// not count as known if a `full` one is asked for. Two threads that ask for the same unknown layer
    /// at once both search, and find the same.
    pub(super) fn get_or_search(
        &self,
        key: LayerKey,
        full: bool,
        search: impl FnOnce() -> Option<Kept>,
    ) -> Option<Kept> {
        let known = self.get(&key).filter(|kept| kept.full || !full);
        if known.is_some() {
            return known;
        }
        let kept = search()?;
        self.put(key, kept.clone());
        Some(kept)
    }

    /// The known choice of a layer.
    pub fn get(&self, key: &LayerKey) -> Option<Kept> {
        lock(&self.state).choices.get(key).cloned()
    }

    /// Keeps a choice.
    pub(super) fn put(&self, key: LayerKey, kept: Kept) {
        let mut state = lock(&self.state);
        state.is_new = true;
        state.choices.insert(key, kept);
    }

    /// Every known choice, in no order.
    pub fn all(&self) -> Vec<(LayerKey, Kept)> {
        let state = lock(&self.state);
        state.choices.iter().map(|(key, kept)| (key.clone(), kept.clone())).collect()
    }

    fn save(&self, folder: &Path) -> io::Result<()> {
        let mut state = lock(&self.state);
        if !state.is_new {
            return Ok(());
        }
        let path = folder.join(&self.name);
        merge(&mut state.choices, read_file(&path));
        std::fs::create_dir_all(folder)?;
        let aside = folder.join(format!("{}.{}", self.name, std::process::id()));
        let written = std::fs::write(&aside, text(&state.choices));
        let renamed = written.and_then(|()| std::fs::rename(&aside, &path));
        if renamed.is_err() {
            let _ = std::fs::remove_file(&aside);
        }
        state.is_new = renamed.is_err();
        renamed
    }
}

/// Age from which on a file written aside was left by a process that was killed.
const LEFT: Duration = Duration::from_secs(3600);

/// Removes files that killed processes wrote aside. One that cannot be removed does no harm.
fn remove_leftovers(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.rsplit_once(".txt."));
        let is_aside = process.is_some_and(|(_, id)| id.parse::<u32>().is_ok());
        let modified = entry.metadata().and_then(|data| data.modified());
        let is_old = || modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > LEFT));
        if is_aside && is_old() {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Adds choices. Those of a full search replace those of a quick one.
fn merge(choices: &mut HashMap<LayerKey, Kept>, others: Vec<(LayerKey, Kept)>) {
    for (key, kept) in others {
        let known = choices.get(&key);
        if known.is_none_or(|known| kept.full && !known.full) {
            choices.insert(key, kept);
        }
    }
}

/// Contents of a file: a first line, choices in the order of their lines, and the digest of them.
fn text(choices: &HashMap<LayerKey, Kept>) -> String {
    let mut lines: Vec<_> = choices.iter().map(|(key, kept)| row::write(key, kept)).collect();
    lines.sort_unstable();
    let mut text = format!("{}\n", first_line());
    lines.iter().for_each(|line| {
        text.push_str(line);
        text.push('\n');
    });
    // Writing to a string does not fail.
    let digest = Digest::compute(text.as_bytes()).hex();
    let _ = writeln!(text, "sha256 {digest}");
    text
}

fn first_line() -> String {
    format!("xrsim mappings {VERSION}")
}

/// Largest file that is read \[byte\].
const MAX_BYTES: u64 = 64 << 20;

fn read_file(path: &Path) -> Vec<(LayerKey, Kept)> {
    let is_small = std::fs::metadata(path).is_ok_and(|data| data.len() <= MAX_BYTES);
    let text = is_small.then(|| std::fs::read_to_string(path).ok()).flatten();
    text.map_or(Vec::new(), |text| read(&text))
}

/// Choices of a file; none of a file that is not whole, or of another version.
fn read(text: &str) -> Vec<(LayerKey, Kept)> {
    let Some(end) = text.trim_end_matches('\n').rfind('\n') else { return Vec::new() };
    let (body, last) = text.split_at(end + 1);
    let digest = Digest::compute(body.as_bytes()).hex();
    let whole = last.trim_end().strip_prefix("sha256 ") == Some(&digest);
    let mut lines = body.lines();
    if !whole || lines.next() != Some(&first_line()) {
        return Vec::new();
    }
    lines.filter_map(row::read).collect()
}

/// Text of everything of an accelerator that choices depend on.
pub fn section_key(accelerator: &Accelerator) -> Box<str> {
    let mut text = String::new();
    let machine = Machine::from_accelerator(accelerator);
    let limits = Limits::from_accelerator(accelerator);
    let Accelerator { flexibility, mapping_objective: objective, .. } = accelerator;
    let flow = &accelerator.dataflow;
    let flow = (flow.directives(), flow.layers(), flow.stationary());
    // Writing to a string does not fail.
    let _ = write!(text, "{VERSION} {flexibility} {objective} {machine:?} {limits:?} {flow:?}");
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "xrsim mappings 3\n\
        1,1,8,4,6,1,1,1/1,1,6,0/1,1,1,0 - - full bound 90 5.5 90 2 = 4:K2\n\
        1,1,8,4,7,1,1,1/1,1,7,0/1,1,1,0 - - quick gap 90 5.5 80 2 = 4:K2\n";

    fn whole() -> String {
        format!("{LINES}sha256 {}\n", Digest::compute(LINES.as_bytes()).hex())
    }

    #[test]
    fn a_file_is_written_as_it_was_read() {
        let mut choices = HashMap::new();
        merge(&mut choices, read(&whole()));
        assert_eq!(choices.len(), 2);
        assert_eq!(text(&choices), whole());
    }

    #[test]
    fn a_file_that_was_cut_or_changed_or_is_of_another_version_is_not_read() {
        let whole = whole();
        for end in 0..whole.len() - 1 {
            assert!(read(&whole[..end]).is_empty(), "cut at {end}");
        }
        assert!(read(&whole.replace("4:K2", "4:K4")).is_empty());
        let other = LINES.replace("mappings 3", "mappings 2");
        let other = format!("{other}sha256 {}\n", Digest::compute(other.as_bytes()).hex());
        assert!(read(&other).is_empty());
    }

    #[test]
    fn a_full_search_wins() {
        let mut choices = HashMap::new();
        merge(&mut choices, read(&whole()));
        let mut others = read(&whole());
        for (_, kept) in &mut others {
            kept.full = !kept.full;
            kept.value.cycles = 70;
        }
        merge(&mut choices, others);
        assert!(choices.values().all(|kept| kept.full));
        assert_eq!(choices.values().filter(|kept| kept.value.cycles == 70).count(), 1);
    }
}
