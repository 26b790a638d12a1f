//! Standard output and standard error of a command: those of the process or, for a caller in the same
//! process, memory.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _, Write};

/// Where a command writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// What a command wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// On standard output.
    pub out: Vec<u8>,
    /// On standard error.
    pub err: Vec<u8>,
}

thread_local! {
    /// What the command of this thread wrote, if it writes into memory.
    static MEMORY: RefCell<Option<Written>> = const { RefCell::new(None) };

    /// Hints that the command of this thread has given.
    static HINTS: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// Whether the command of this thread has not given this hint yet.
pub fn is_first_hint(hint: &str) -> bool {
    HINTS.with_borrow_mut(|hints| hints.insert(hint.to_string()))
}

/// Does `command`, which writes on this thread, and gives what it wrote.
pub fn captured<T>(command: impl FnOnce() -> T) -> (T, Written) {
    /// Ends the capture, also where `command` panics.
    struct Capture;
    impl Drop for Capture {
        fn drop(&mut self) {
            MEMORY.take();
        }
    }
    MEMORY.set(Some(Written::default()));
    HINTS.take();
    let capture = Capture;
    let result = command();
    let written = MEMORY.take().unwrap_or_default();
    drop(capture);
    (result, written)
}

impl Stream {
    /// Whether it is memory.
    pub fn is_captured(self) -> bool {
        MEMORY.with_borrow(Option::is_some)
    }

    /// Whether a person reads it.
    pub fn is_terminal(self) -> bool {
        !self.is_captured()
            && match self {
                Self::Out => io::stdout().is_terminal(),
                Self::Err => io::stderr().is_terminal(),
            }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        MEMORY.with_borrow_mut(|memory| match (memory, self) {
            (Some(written), Self::Out) => written.out.write(bytes),
            (Some(written), Self::Err) => written.err.write(bytes),
            (None, Self::Out) => io::stdout().write(bytes),
            (None, Self::Err) => io::stderr().write(bytes),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        MEMORY.with_borrow(|memory| match (memory, self) {
            (Some(_), _) => Ok(()),
            (None, Self::Out) => io::stdout().flush(),
            (None, Self::Err) => io::stderr().flush(),
        })
    }
}
