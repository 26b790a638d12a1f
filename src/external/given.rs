//! Schedulers that a caller in this process gives, such as classes of a Python program: `python:NAME`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::schedule::{Arguments, Options, Policy, PolicyError, Scheduler, Setup};
use crate::text::is_unfit_in_line;

use super::ENTRY;

/// Start of the names.
pub(super) const PREFIX: &str = "python:";

/// A scheduler that is given, with the text that defines it.
struct Entry {
    policy: Policy,
    text: Arc<str>,
}

static ENTRIES: Mutex<BTreeMap<String, Entry>> = Mutex::new(BTreeMap::new());

fn entries() -> MutexGuard<'static, BTreeMap<String, Entry>> {
    ENTRIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A scheduler that can be named as long as this value lives.
#[derive(Debug)]
pub struct GivenScheduler(String);

impl GivenScheduler {
    /// Lets `make`, which makes a scheduler for every run, be named `python:NAME`, or `python:NAME-2` and so on while
    /// other ones have this name. `options` are parameters such as `preemption=layer-boundary`, `text` is what defines
    /// the scheduler, for records.
    ///
    /// # Errors
    ///
    /// [`PolicyError`] if an option is wrong, or if the name has a comma, a colon, or characters that do not fit
    /// into a line.
    pub fn new(
        name: &str,
        options: &[&str],
        text: &str,
        make: impl Fn(&Setup<'_>) -> Box<dyn Scheduler> + Send + Sync + 'static,
    ) -> Result<Self, PolicyError> {
        if name.is_empty() || name.contains([',', ':']) || name.contains(is_unfit_in_line) {
            let message = "the name of a scheduler has no comma, no colon and no line break";
            return Err(PolicyError::Together(message));
        }
        let arguments = Arguments::parse(&ENTRY, options.to_vec())?;
        let options = Options::of(&arguments);
        let mut entries = entries();
        let numbered = |n: u64| if n == 1 { name.into() } else { format!("{name}-{n}") };
        let free = (1..).map(numbered).find(|it| !entries.contains_key(it));
        let name = free.expect("numbers do not end");
        let label = arguments.label(&format!("{PREFIX}{name}"));
        let build = move |setup: &Setup<'_>| Ok(make(setup));
        let policy = Policy::new(label, options, ENTRY.work_conserving, Arc::new(build));
        entries.insert(name.clone(), Entry { policy, text: text.into() });
        Ok(Self(name))
    }

    /// Name for options that take a scheduler.
    pub fn name(&self) -> String {
        format!("{PREFIX}{}", self.0)
    }
}

impl Drop for GivenScheduler {
    fn drop(&mut self) {
        entries().remove(&self.0);
    }
}

/// The scheduler of this name, without `python:`.
pub(super) fn policy(name: &str) -> Result<Policy, PolicyError> {
    let entries = entries();
    let found = entries.get(name.trim()).map(|entry| entry.policy.clone());
    found.ok_or(PolicyError::Together(
        "python: names a class of a Python program, which exists in that program only",
    ))
}

/// The text that defines the scheduler `text`, if it is one that is given.
pub(crate) fn text_of(text: &str) -> Option<Arc<str>> {
    let name = text.trim().strip_prefix(PREFIX)?;
    entries().get(name.trim()).map(|entry| Arc::clone(&entry.text))
}
