//! Choices that are kept, so that equal ones are made once: in memory, in the table that comes with the
//! program, and in a folder.
//!
//! Choices that answer one kind of question make a section, which is one file. Its name is a digest of
//! everything that its choices depend on: accelerator, objective, effort, and what cost model and search compute.
//! A line of a file in a folder is an answer only if it is checked for the layer that is asked for; otherwise the
//! layer is searched again. Lines of the table that comes with the program are checked by a test instead, one by one.
//! A value therefore never depends on what is kept.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

use crate::cost::loop_nest::Machine;
use crate::digest::{Digest, FastDigest};
use crate::hardware::Accelerator;

use super::files;
use super::kept::{Kept, LayerKey};
use super::problem::Limits;
use super::question::Question;
use super::row;
use super::search::{Effort, Status};
use super::table::{self, REMARK, Shipped};

/// Text of what cost model and search compute, which is known when it is first asked for.
pub(super) type Version = fn() -> &'static str;

/// Choices by everything that they depend on.
#[derive(Debug, Default)]
pub struct Store {
    /// Folder of the files.
    folder: Mutex<Option<PathBuf>>,
    /// Files of a table, in the order of their sections.
    table: &'static [Shipped],
    sections: Mutex<Sections>,
    refused: Arc<Refused>,
}

#[derive(Debug, Default)]
struct Sections {
    by_key: HashMap<Box<str>, Arc<Section>>,
    /// Sections of accelerators by hashes, so that a key is written once for an accelerator.
    by_accelerator: HashMap<u64, Vec<(Accelerator, Effort, Arc<Section>)>>,
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

    /// Writes every section with new choices into the folder, if there is one.
    ///
    /// # Errors
    ///
    /// The error of the first file that cannot be written.
    pub fn save(&self) -> io::Result<()> {
        let Some(folder) = lock(&self.folder).clone() else { return Ok(()) };
        let sections: Vec<_> = lock(&self.sections).by_key.values().cloned().collect();
        sections.iter().try_for_each(|section| section.save(&folder))?;
        files::remove_leftovers(&folder);
        Ok(())
    }

    /// Files, and lines of files, that were no answers so that layers were searched again: for every file its path
    /// and the first reason, in the order of the paths.
    pub fn refused(&self) -> Vec<(String, String)> {
        self.refused.list()
    }

    /// The choices for an accelerator by searches with an effort.
    pub(super) fn section(
        &self,
        accelerator: &Accelerator,
        effort: Effort,
        version: Version,
    ) -> Arc<Section> {
        let hash = hash(accelerator);
        let known = |sections: &Sections| {
            let alike = sections.by_accelerator.get(&hash)?.iter();
            let mut alike = alike.filter(|(_, other, _)| *other == effort);
            let found = alike.find(|(other, ..)| other.costs_as(accelerator))?;
            Some(Arc::clone(&found.2))
        };
        if let Some(section) = known(&lock(&self.sections)) {
            return section;
        }
        let section = self.section_of(key(accelerator, effort), version);
        let mut sections = lock(&self.sections);
        // Another thread may have been faster.
        if known(&sections).is_none() {
            let entry = (accelerator.clone(), effort, Arc::clone(&section));
            sections.by_accelerator.entry(hash).or_default().push(entry);
        }
        section
    }

    /// The choices that depend on everything in `key`, and on the version.
    pub(super) fn section_of(&self, key: Box<str>, version: Version) -> Arc<Section> {
        if let Some(section) = lock(&self.sections).by_key.get(&*key) {
            return Arc::clone(section);
        }
        let section = Section { key: key.clone(), version, ..Section::new(&self.refused) };
        let folder = lock(&self.folder).clone();
        let section = section.reading(self.table, folder.as_deref());
        Arc::clone(lock(&self.sections).by_key.entry(key).or_insert(Arc::new(section)))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hash that is equal for accelerators that cost the same, and rarely equal for others.
fn hash(accelerator: &Accelerator) -> u64 {
    let Accelerator { pes, clock, noc, memory, datapath, .. } = accelerator;
    let mut hasher = DefaultHasher::new();
    (pes, clock, noc, memory, datapath).hash(&mut hasher);
    hasher.finish()
}

/// Text of everything of an accelerator and an effort that choices depend on.
fn key(accelerator: &Accelerator, effort: Effort) -> Box<str> {
    let machine = Machine::from_accelerator(accelerator);
    let limits = Limits::from_accelerator(accelerator);
    let Accelerator { flexibility, mapping_objective: objective, .. } = accelerator;
    let flow = &accelerator.dataflow;
    let flow = (flow.directives(), flow.layers(), flow.stationary());
    format!("{effort:?} {flexibility} {objective} {machine:?} {limits:?} {flow:?}").into()
}

/// Files and lines that were no answers: reasons by file and layer, without a layer for whole files.
#[derive(Debug, Default)]
struct Refused(Mutex<BTreeMap<String, BTreeMap<String, String>>>);

impl Refused {
    fn add(&self, file: &str, layer: &str, reason: &str) {
        let mut files = lock(&self.0);
        files.entry(file.into()).or_default().entry(layer.into()).or_insert(reason.into());
    }

    fn list(&self) -> Vec<(String, String)> {
        let of_file = |(file, reasons): (&String, &BTreeMap<String, String>)| {
            let reason = reasons.values().next().cloned().unwrap_or_default();
            (file.clone(), reason)
        };
        lock(&self.0).iter().map(of_file).collect()
    }
}

/// Choices that answer one kind of question.
#[derive(Debug)]
pub struct Section {
    key: Box<str>,
    version: Version,
    /// Name of its file, without its ending.
    name: OnceLock<String>,
    /// Digest of the key.
    question: OnceLock<FastDigest>,
    /// Name and lines with choices of the file of the table.
    shipped: Option<(&'static str, &'static str)>,
    /// Path and lines with choices of the file of the folder.
    file: Option<(PathBuf, String)>,
    state: Mutex<State>,
    refused: Arc<Refused>,
}

#[derive(Debug, Default)]
struct State {
    choices: FxHashMap<LayerKey, Entry>,
    /// Whether there are choices that its file does not have.
    is_new: bool,
}

#[derive(Debug)]
struct Entry {
    /// A kilobyte, which would be copied whenever the table of all grows.
    kept: Box<Kept>,
    /// Whether a search of this process found it.
    is_own: bool,
}

impl Section {
    fn new(refused: &Arc<Refused>) -> Self {
        Self {
            key: Box::default(),
            version: || "",
            name: OnceLock::new(),
            question: OnceLock::new(),
            shipped: None,
            file: None,
            state: Mutex::default(),
            refused: Arc::clone(refused),
        }
    }

    /// Digest of everything that its choices depend on, by which files are called.
    pub fn name(&self) -> &str {
        self.name.get_or_init(|| {
            let text = format!("{} {}", (self.version)(), self.key);
            Digest::compute(text.as_bytes()).hex()[..32].into()
        })
    }

    /// Digest of everything that its choices depend on but the version.
    pub(super) fn question(&self) -> FastDigest {
        *self.question.get_or_init(|| FastDigest::of_text(&self.key))
    }

    /// The section with its file of a table and that of a folder.
    fn reading(mut self, table: &[Shipped], folder: Option<&Path>) -> Self {
        // The version of the searches that make the version itself is not known yet.
        if !table.is_empty() {
            let at = table.binary_search_by_key(&self.name(), |file| file.section);
            self.shipped = at.ok().map(|at| (table[at].name, table::choices_of(table[at].text)));
        }
        if let Some(folder) = folder {
            let path = self.path(folder);
            self.file = self.read(&path).map(|text| (path, table::choices_of(&text).into()));
        }
        self
    }

    fn path(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.txt", self.name()))
    }

    /// Contents of a file; `None` without one that is read.
    fn read(&self, path: &Path) -> Option<String> {
        files::read(path, &self.first_line()).unwrap_or_else(|reason| {
            self.refused.add(&path.display().to_string(), "", &reason);
            None
        })
    }

    fn first_line(&self) -> String {
        format!("{REMARK}xrsim mappings {}", (self.version)())
    }

    /// The known choice of a layer, or that of `search`, which is kept. Two threads that ask for the same
    /// unknown layer at once both search, and find the same.
    pub(super) fn get_or_search(
        &self,
        key: &LayerKey,
        question: &Question<'_>,
        search: impl FnOnce() -> Option<Kept>,
    ) -> Option<Kept> {
        if let Some(kept) = self.get(key).or_else(|| self.look_up(key, question)) {
            return Some(kept);
        }
        let kept = search()?;
        let kept = Kept { is_inside: question.contains(&kept.choice), ..kept };
        self.put(key, &kept, true);
        Some(kept)
    }

    /// The choice of a layer in the files, if it is one. That of the folder is kept.
    fn look_up(&self, key: &LayerKey, question: &Question<'_>) -> Option<Kept> {
        if self.shipped.is_none() && self.file.is_none() {
            return None;
        }
        let layer = row::key(key);
        let find = |lines| table::find(lines, &layer)?.get(layer.len() + 1..);
        let refuse = |file: &dyn Fn() -> String, reason| self.refused.add(&file(), &layer, reason);
        let shipped = self.shipped.and_then(|(name, lines)| {
            let stated = question.stated(key, find(lines)?);
            stated.map_err(|reason| refuse(&|| name.into(), reason)).ok()
        });
        // What ships needs no check, and is found again as fast.
        shipped.or_else(|| {
            let (path, lines) = self.file.as_ref()?;
            let answer = question.answer(key, find(lines)?);
            let answer = answer.map_err(|reason| refuse(&|| path.display().to_string(), reason));
            self.put(key, answer.as_ref().ok()?, false);
            answer.ok()
        })
    }

    /// The choice of a layer that was asked for before in this process, but for those that ship.
    pub fn get(&self, key: &LayerKey) -> Option<Kept> {
        lock(&self.state).choices.get(key).map(|entry| (*entry.kept).clone())
    }

    fn put(&self, key: &LayerKey, kept: &Kept, is_own: bool) {
        let mut state = lock(&self.state);
        state.is_new |= is_own && is_written(kept);
        state.choices.insert(key.clone(), Entry { kept: Box::new(kept.clone()), is_own });
    }

    /// Every choice that was asked for in this process but for those that ship, in the order of their lines.
    pub fn all(&self) -> Vec<(LayerKey, Kept)> {
        let state = lock(&self.state);
        let all = state.choices.iter();
        let mut all: Vec<_> = all.map(|(key, it)| (key.clone(), (*it.kept).clone())).collect();
        all.sort_by_cached_key(|(key, _)| row::key(key));
        all
    }

    fn save(&self, folder: &Path) -> io::Result<()> {
        let mut state = lock(&self.state);
        if !state.is_new {
            return Ok(());
        }
        let path = self.path(folder);
        let others = self.read(&path).unwrap_or_default();
        // A line of another process stays until it is asked for: it is not known what it answers.
        let others = table::choices_of(&others).lines();
        let mut lines: BTreeMap<&str, &str> = others.filter_map(row::split).collect();
        let own = state.choices.iter().filter(|(_, it)| it.is_own && is_written(&it.kept));
        let own: Vec<_> = own.map(|(key, it)| row::write(key, &it.kept)).collect();
        lines.extend(own.iter().filter_map(|line| row::split(line)));
        let mut text = self.first_line();
        text.push('\n');
        for (key, answer) in lines {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{key} {answer}");
        }
        std::fs::create_dir_all(folder)?;
        files::replace(&path, &files::finish(text))?;
        state.is_new = false;
        Ok(())
    }

    /// The choices that were asked for in this process as a file of the table that comes with the program, below
    /// remarks for people with these names and values.
    pub fn table_text(&self, remarks: &[(&str, String)]) -> String {
        let all = self.all();
        let cycles: u64 = all.iter().filter_map(|(_, kept)| kept.cycles()).sum();
        let bound: u64 = all.iter().map(|(_, kept)| kept.bound.cycles).sum();
        let above = 100.0 * (cycles as f64 / bound.max(1) as f64 - 1.0);
        let own = [
            ("version", (self.version)().into()),
            ("section", self.name().into()),
            ("layers", all.len().to_string()),
            ("cycles", cycles.to_string()),
            ("bound", format!("{bound} cycles, the mappings are {above:.2} % above it")),
        ];
        let mut text = String::new();
        for (name, value) in remarks.iter().chain(&own) {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{REMARK}{name}: {value}");
        }
        for (key, kept) in all.iter().filter(|(_, kept)| is_written(kept)) {
            text.push_str(&row::write(key, kept));
            text.push('\n');
        }
        files::finish(text)
    }
}

/// Whether a choice is written into files: a mapping that exceeds capacities is none.
fn is_written(kept: &Kept) -> bool {
    kept.status != Status::NoLegalMapping
}

/// Whether a file ends with the digest of its other lines, and has its lines in order.
pub fn is_sound(text: &str) -> bool {
    files::is_whole(text) && table::choices_of(text).lines().is_sorted()
}
