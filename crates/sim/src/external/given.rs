//! Schedulers that a caller in this process gives, such as classes of a Python program: `python:NAME`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::schedule::{Arguments, Options, Policy, PolicyError, Scheduler, Setup};
use xrsim_model::text::is_unfit_in_line;

use super::ENTRY;

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
    /// Start of the names.
    pub const PREFIX: &str = "python:";

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
        let options = Options::from_arguments(&arguments);
        let mut entries = entries();
        let numbered = |n: u64| if n == 1 { name.into() } else { format!("{name}-{n}") };
        let free = (1..).map(numbered).find(|it| !entries.contains_key(it));
        let name = free.expect("numbers do not end");
        let label = arguments.label(&format!("{}{name}", Self::PREFIX));
        let build = move |setup: &Setup<'_>| Ok(make(setup));
        let policy = Policy::new(label, options, ENTRY.work_conserving, Arc::new(build));
        entries.insert(name.clone(), Entry { policy, text: text.into() });
        Ok(Self(name))
    }

    /// Name for options that take a scheduler.
    pub fn name(&self) -> String {
        format!("{}{}", Self::PREFIX, self.0)
    }
}

impl Drop for GivenScheduler {
    fn drop(&mut self) {
        let entry = entries().remove(&self.0);
        // Outside of the lock: a scheduler may own another one.
        drop(entry);
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
pub fn text_of(text: &str) -> Option<Arc<str>> {
    let name = text.trim().strip_prefix(GivenScheduler::PREFIX)?;
    entries().get(name.trim()).map(|entry| Arc::clone(&entry.text))
}

#[cfg(test)]
mod tests {
    use crate::schedule::{Decision, View};

    use super::*;

    struct Waits;

    impl Scheduler for Waits {
        fn decide(&mut self, _: &View<'_>) -> Decision {
            Decision::Wait
        }
    }

    #[test]
    fn a_scheduler_may_own_another_one() {
        let inner = GivenScheduler::new("of_a_test", &[], "inner", |_| Box::new(Waits));
        let inner = inner.expect("the name is free");
        let inner_name = inner.name();
        let outer = GivenScheduler::new("of_a_test", &[], "outer", move |_| {
            assert!(!inner.name().is_empty());
            Box::new(Waits)
        });
        let outer = outer.expect("it has a name of its own");
        let outer_name = outer.name();
        assert_eq!(text_of(&inner_name).as_deref(), Some("inner"));
        assert_eq!(text_of(&outer_name).as_deref(), Some("outer"));
        drop(outer);
        assert!(text_of(&inner_name).is_none() && text_of(&outer_name).is_none());
    }
}
