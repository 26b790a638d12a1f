//! Rows that are written while further ones are made, so that a process that is killed loses those of some
//! seconds.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::panic;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use xrsim_model::cancel;

use super::super::message::Failure;

/// Time between two times that rows reach the file.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// Longest time that a row waits for those of earlier points. Then it is written before them; the rows are
/// put in order in the end.
const HOLD: Duration = Duration::from_secs(10);

/// Destination of results, such as a file of rows.
pub(in super::super) trait Sink<T>: Send {
    /// Takes a result by its index.
    ///
    /// # Errors
    ///
    /// Returns a failure if it cannot be written.
    fn take(&mut self, index: usize, result: T) -> Result<(), Failure>;

    /// Hands everything so far to the system.
    ///
    /// # Errors
    ///
    /// Returns a failure if it cannot be written.
    fn flush(&mut self) -> Result<(), Failure>;
}

/// Lets `make` make results, and passes them to `sink`: in order, but for results that would wait long for
/// earlier ones. `make` delivers each with its index, on any thread and in any order, and should end when a
/// delivery breaks.
///
/// # Errors
///
/// The first failure of `sink`, which gets nothing after it.
///
/// # Panics
///
/// Unwinds if the work is cancelled, after everything that was delivered has reached the sink.
pub(in super::super) fn as_made<T: Send>(
    sink: &mut impl Sink<T>,
    make: impl FnOnce(&(dyn Fn(usize, T) -> ControlFlow<()> + Sync)),
) -> Result<(), Failure> {
    let state = Mutex::new(State::of(sink));
    let (stop, stopped) = mpsc::channel::<()>();
    let made = thread::scope(|scope| {
        let shared = &state;
        let tick = move || {
            while stopped.recv_timeout(FLUSH_EVERY) == Err(RecvTimeoutError::Timeout) {
                lock(shared).tick(Instant::now(), HOLD);
            }
        };
        // Without a further thread, rows reach the file at the end of the block.
        let ticker = thread::Builder::new().name("rows".into()).spawn_scoped(scope, tick);
        let deliver = |index, result| lock(shared).deliver(index, result, Instant::now());
        let made = cancel::catch(|| make(&deliver));
        drop((stop, ticker));
        made
    });
    state.into_inner().unwrap_or_else(PoisonError::into_inner).end()?;
    made.map_err(|cancelled| panic::resume_unwind(Box::new(cancelled)))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct State<'s, T, S> {
    sink: &'s mut S,
    /// The first result that the sink does not have.
    next: usize,
    /// Results after it that the sink does not have, with the instant at which each came.
    held: BTreeMap<usize, (Instant, T)>,
    /// Results after it that the sink has.
    early: BTreeSet<usize>,
    failure: Option<Failure>,
}

impl<'s, T, S: Sink<T>> State<'s, T, S> {
    fn of(sink: &'s mut S) -> Self {
        let (held, early) = (BTreeMap::new(), BTreeSet::new());
        Self { sink, next: 0, held, early, failure: None }
    }

    fn deliver(&mut self, index: usize, result: T, now: Instant) -> ControlFlow<()> {
        self.held.insert(index, (now, result));
        loop {
            if let Some((_, result)) = self.held.remove(&self.next) {
                self.pass(self.next, result);
            } else if !self.early.remove(&self.next) {
                break;
            }
            self.next += 1;
        }
        match self.failure {
            None => ControlFlow::Continue(()),
            Some(_) => ControlFlow::Break(()),
        }
    }

    fn pass(&mut self, index: usize, result: T) {
        if self.failure.is_none() {
            self.failure = self.sink.take(index, result).err();
        }
    }

    /// Flushes, after the results that wait for `hold` or longer.
    fn tick(&mut self, now: Instant, hold: Duration) {
        self.pass_held(|since| now.saturating_duration_since(since) >= hold);
        if self.failure.is_none() {
            self.failure = self.sink.flush().err();
        }
    }

    /// Passes the results that wait since an instant that `is_due` takes.
    fn pass_held(&mut self, is_due: impl Fn(Instant) -> bool) {
        for (index, (since, result)) in std::mem::take(&mut self.held) {
            if is_due(since) {
                self.pass(index, result);
                self.early.insert(index);
            } else {
                self.held.insert(index, (since, result));
            }
        }
    }

    fn end(mut self) -> Result<(), Failure> {
        self.pass_held(|_| true);
        self.failure.map_or_else(|| self.sink.flush(), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results in the order in which they came, and the numbers of them that flushes saw.
    #[derive(Default)]
    struct Taken(Vec<usize>, Vec<usize>);

    impl Sink<()> for Taken {
        fn take(&mut self, index: usize, (): ()) -> Result<(), Failure> {
            match index {
                99 => Err(Failure::Output("full".into())),
                _ => {
                    self.0.push(index);
                    Ok(())
                }
            }
        }

        fn flush(&mut self) -> Result<(), Failure> {
            self.1.push(self.0.len());
            Ok(())
        }
    }

    const LONG: Duration = Duration::from_secs(3600);

    #[test]
    fn a_result_waits_for_its_own_time_only() {
        let mut taken = Taken::default();
        let mut state = State::of(&mut taken);
        let (start, hold) = (Instant::now(), Duration::from_secs(10));
        let after = |seconds| start + Duration::from_secs(seconds);
        // 1 comes first, and 3 when 1 has waited for nine seconds.
        for (index, at) in [(1, 0), (3, 9), (0, 9)] {
            assert!(state.deliver(index, (), after(at)).is_continue());
        }
        state.tick(after(18), hold);
        assert_eq!(state.sink.0, [0, 1]);
        assert!(state.deliver(5, (), after(18)).is_continue());
        state.tick(after(19), hold);
        assert_eq!(state.sink.0, [0, 1, 3]);
    }

    #[test]
    fn results_go_on_in_order_unless_they_would_wait_long() {
        let mut taken = Taken::default();
        let mut state = State::of(&mut taken);
        let now = Instant::now();
        for index in [1, 2, 0, 4, 5] {
            assert!(state.deliver(index, (), now).is_continue());
        }
        state.tick(now, LONG);
        assert_eq!(state.sink.0, [0, 1, 2]);
        state.tick(now, Duration::ZERO);
        assert_eq!(state.sink.0, [0, 1, 2, 4, 5]);
        for index in [7, 3, 6] {
            assert!(state.deliver(index, (), now).is_continue());
        }
        assert!(state.end().is_ok());
        assert_eq!(taken.0, [0, 1, 2, 4, 5, 3, 6, 7]);
        assert_eq!(taken.1, [3, 5, 8]);
    }

    #[test]
    fn results_of_work_that_is_cancelled_are_kept() {
        let mut taken = Taken::default();
        let cancelled = cancel::catch(|| {
            as_made(&mut taken, |deliver| {
                let _ = deliver(1, ());
                panic::resume_unwind(Box::new(cancel::Cancelled));
            })
        });
        assert!(cancelled.is_err());
        assert_eq!((taken.0, taken.1), (vec![1], vec![1]));
    }

    #[test]
    fn a_sink_that_fails_ends_the_work() {
        let mut taken = Taken::default();
        let failed = as_made(&mut taken, |deliver| {
            let broken = (0..200).find(|index| deliver(*index, ()).is_break());
            assert_eq!(broken, Some(99));
        });
        assert_eq!(failed.map_err(|it| it.reason()), Err("full".into()));
        assert_eq!(taken.0.len(), 99);
    }

    #[test]
    fn results_of_a_block_that_ends_early_are_kept() {
        let mut taken = Taken::default();
        let done = as_made(&mut taken, |deliver| {
            let _ = deliver(3, ());
        });
        assert!(done.is_ok());
        assert_eq!(taken.0, [3]);
    }
}
