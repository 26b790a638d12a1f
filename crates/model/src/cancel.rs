//! Cancellation: an interrupt ends long work at its next check.
//!
//! Loops call [`check`] at least every few milliseconds. After a request it unwinds the stack with [`Cancelled`], as a
//! panic does but without a message, up to [`catch`]. Functions that compute therefore need no further kind of
//! error. What was written stays, and files that are not complete are removed on the way.
//!
//! A request is one of the process, or of a [`Token`], for callers with several calls at a time.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

/// Request to end work early.
#[derive(Debug, Clone, Default)]
pub struct Token(Arc<AtomicBool>);

/// Reason for the end of work that was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// Request to end all work of the process that has no token of its own.
static PROCESS: LazyLock<Token> = LazyLock::new(Token::default);

/// Whether work without a token is not unwound, because it asks by itself and ends in order.
static IS_ORDERLY: AtomicBool = AtomicBool::new(false);

thread_local! {
    static OWN: RefCell<Option<Token>> = const { RefCell::new(None) };
}

impl Token {
    /// The token of all work that has no other.
    pub fn of_process() -> Self {
        PROCESS.clone()
    }

    /// Asks work with this token to end.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Takes the request back, for the next work with this token.
    pub fn reset(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether work with this token should end.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Makes this the token of the work of the calling thread, from now on.
    pub fn adopt(self) {
        OWN.set(Some(self));
    }

    /// The flag itself, for a handler of signals.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

/// Whether the work of this thread should end.
pub fn is_asked() -> bool {
    OWN.with_borrow(|own| own.as_ref().map(Token::is_cancelled))
        .unwrap_or_else(|| PROCESS.is_cancelled())
}

/// Asks all work with the token of this thread to end.
pub fn ask() {
    let own = OWN.with_borrow(Clone::clone);
    own.unwrap_or_else(Token::of_process).cancel();
}

/// Ends the work of this thread if that was asked for: unwinds to [`catch`].
#[inline]
pub fn check() {
    if is_asked() {
        unwind();
    }
}

#[cold]
fn unwind() {
    let is_own = OWN.with_borrow(Option::is_some);
    if is_own || !IS_ORDERLY.load(Ordering::Relaxed) {
        panic::resume_unwind(Box::new(Cancelled));
    }
}

/// From now on, work without a token of its own is not unwound: it looks at [`is_asked`] and ends in order.
pub fn end_in_order() {
    IS_ORDERLY.store(true, Ordering::Relaxed);
}

/// Does `work`.
///
/// # Errors
///
/// [`Cancelled`] if [`check`] ended it.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Cancelled> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        match payload.downcast::<Cancelled>() {
            Ok(cancelled) => *cancelled,
            Err(other) => panic::resume_unwind(other),
        }
    })
}

/// Checks now and then in a loop whose steps are short.
#[derive(Debug, Clone, Default)]
pub struct Steps(u32);

impl Steps {
    /// Steps between two checks.
    const EACH: u32 = 1024;

    /// Counts a step; every so often it checks.
    #[inline]
    pub fn step(&mut self) {
        self.0 += 1;
        if self.0 == Self::EACH {
            self.0 = 0;
            check();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn work_with_a_token_ends_at_its_next_check_and_other_work_goes_on() {
        let token = Token::default();
        let own = token.clone();
        let worker = thread::spawn(move || {
            own.clone().adopt();
            check();
            own.cancel();
            let mut steps = Steps::default();
            let mut n = 0;
            let ended = catch(|| {
                while n < 10_000 {
                    n += 1;
                    steps.step();
                }
            });
            (ended, n)
        });
        assert_eq!(worker.join().expect("no panic"), (Err(Cancelled), 1024));
        assert!(token.is_cancelled() && !is_asked());
        token.reset();
        assert!(!token.is_cancelled());
        assert_eq!(catch(|| 3), Ok(3));
    }

    #[test]
    fn a_panic_is_no_cancellation() {
        let caught = panic::catch_unwind(|| catch(|| panic::resume_unwind(Box::new(7_i32))));
        assert_eq!(caught.expect_err("it goes on").downcast_ref(), Some(&7_i32));
    }
}
