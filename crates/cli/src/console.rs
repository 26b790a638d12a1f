//! Standard output and standard error of a command: those of the process or, for a caller in the same
//! process, memory.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, IsTerminal as _, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use terminal_size::{Width, terminal_size_of};

/// Stream that a command writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Text that a command wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// Text on standard output.
    pub out: Vec<u8>,
    /// Text on standard error.
    pub err: Vec<u8>,
}

/// Whether anything was written to the standard output of the process.
static OUT_IS_USED: AtomicBool = AtomicBool::new(false);

/// Whether what was written to standard output is lost because it was closed when the process began. The runtime then
/// opens the null device in its place, for reading and writing; `>/dev/null` opens it for writing only. Another program
/// may do as the runtime does, so that this is worth a warning and no failure.
pub(super) fn is_out_lost() -> bool {
    if !OUT_IS_USED.load(Ordering::Relaxed) {
        return false;
    }
    let Ok(place) = fs::read_link("/proc/self/fd/1") else { return false };
    let flags = || {
        let about = fs::read_to_string("/proc/self/fdinfo/1").ok()?;
        let digits = about.lines().find_map(|line| line.strip_prefix("flags:"))?;
        u32::from_str_radix(digits.trim(), 8).ok()
    };
    place == Path::new("/dev/null") && flags().is_some_and(|flags| flags & READ_AND_WRITE != 0)
}

/// Flag of a file that was opened for reading and writing, on Linux (`O_RDWR`).
const READ_AND_WRITE: u32 = 2;

thread_local! {
    /// Whether the command of this thread prints no notes and no progress.
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// Text of the command of this thread, if it writes to memory.
    static MEMORY: RefCell<Option<Written>> = const { RefCell::new(None) };

    /// Hints that the command of this thread has printed.
    static HINTS: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// Sets whether the command of this thread prints no notes and no progress.
pub(super) fn set_quiet(is_quiet: bool) {
    QUIET.set(is_quiet);
}

/// Whether the command of this thread prints no notes and no progress.
pub(super) fn is_quiet() -> bool {
    QUIET.get()
}

/// Whether the command of this thread has not printed this hint yet.
pub(super) fn is_first_hint(hint: &str) -> bool {
    HINTS.with_borrow_mut(|hints| hints.insert(hint.to_string()))
}

/// Runs `command`, which writes on this thread, and returns its result and its text.
pub(super) fn captured<T>(command: impl FnOnce() -> T) -> (T, Written) {
    /// Ends the capture, also if `command` panics.
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
    /// Whether the stream is memory.
    pub(super) fn is_captured(self) -> bool {
        MEMORY.with_borrow(Option::is_some)
    }

    /// Whether the stream is a terminal.
    pub(super) fn is_terminal(self) -> bool {
        !self.is_captured()
            && match self {
                Self::Out => io::stdout().is_terminal(),
                Self::Err => io::stderr().is_terminal(),
            }
    }
}

impl Stream {
    /// `text` for people; in a terminal, lines that are wider than it are broken between words. Lines with commands,
    /// which start with `help:`, stay whole, so that they can be pasted.
    pub(super) fn fitted<'t>(self, text: &'t str) -> Cow<'t, str> {
        match self.width() {
            Some(width) => fitted(text, width).into(),
            None => text.into(),
        }
    }

    /// `text` with lines that are broken between words also where it is piped, at [`PIPED`] characters.
    pub(super) fn broken(self, text: &str) -> String {
        fitted(text, self.width().unwrap_or(PIPED))
    }

    /// Width of the terminal; `None` if the stream is none.
    fn width(self) -> Option<usize> {
        let size = match self {
            _ if !self.is_terminal() => None,
            Self::Out => terminal_size_of(io::stdout()),
            Self::Err => terminal_size_of(io::stderr()),
        };
        size.map(|(Width(width), _)| usize::from(width))
    }
}

/// Width of text that is piped and broken.
const PIPED: usize = 80;

/// `text` with lines of at most `width` characters where words allow it. What continues a line is indented.
fn fitted(text: &str, width: usize) -> String {
    let mut fitted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let is_whole = line.trim_end().chars().count() <= width || line.contains('\u{1b}');
        if is_whole || line.starts_with("help:") {
            fitted += line;
            continue;
        }
        let blanks = line.len() - line.trim_start().len();
        fitted += &line[..blanks];
        let mut used = blanks;
        for (index, word) in line.split_whitespace().enumerate() {
            let length = word.chars().count();
            if index > 0 && used + 1 + length > width {
                fitted += "\n";
                fitted += &" ".repeat(blanks + 2);
                used = blanks + 2;
            } else if index > 0 {
                fitted.push(' ');
                used += 1;
            }
            fitted += word;
            used += length;
        }
        fitted += &line[line.trim_end().len()..];
    }
    fitted
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        MEMORY.with_borrow_mut(|memory| match (memory, self) {
            (Some(written), Self::Out) => written.out.write(bytes),
            (Some(written), Self::Err) => written.err.write(bytes),
            (None, Self::Out) => {
                OUT_IS_USED.store(true, Ordering::Relaxed);
                io::stdout().write(bytes)
            }
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

#[cfg(test)]
mod tests {
    use super::fitted;

    #[test]
    fn lines_are_broken_between_words() {
        let text =
            "one two three four\n  a bb ccc dddd\nunbreakable\nhelp: run this again\nshort\n";
        let expected = "one two\n  three\n  four\n  a bb\n    ccc\n    dddd\nunbreakable\nhelp: run this again\nshort\n";
        assert_eq!(fitted(text, 8), expected);
        assert_eq!(fitted("", 8), "");
        assert_eq!(fitted("a b c", 5), "a b c");
        assert_eq!(fitted("a b c", 4), "a b\n  c");
    }
}
