//! Sign of life of a process that makes rows: the modification time of their file.

use std::fs::File;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

/// Sets the modification time of a file again and again until it is dropped, so that a process whose rows take
/// long can be told from one that was killed.
#[derive(Debug)]
pub(in super::super) struct Pulse {
    /// Its end stops the thread.
    stop: Option<Sender<()>>,
    /// Absent where the system gave no further descriptor or thread; then rows alone tell that the process lives.
    thread: Option<JoinHandle<()>>,
}

impl Pulse {
    /// Time between two signs.
    pub(in super::super) const EVERY: Duration = Duration::from_secs(30);

    /// The sign of life of this process in `file`.
    pub(in super::super) fn start(file: &File) -> Self {
        Self::with_period(file, Self::EVERY)
    }

    fn with_period(file: &File, period: Duration) -> Self {
        let (stop, stopped) = mpsc::channel();
        let thread = file.try_clone().and_then(|file| {
            let name = thread::Builder::new().name("pulse".into());
            name.spawn(move || beat(&file, &stopped, period))
        });
        Self { stop: Some(stop), thread: thread.ok() }
    }
}

fn beat(file: &File, stopped: &Receiver<()>, period: Duration) {
    while stopped.recv_timeout(period) == Err(RecvTimeoutError::Timeout) {
        // A file that cannot be marked is written all the same.
        let _ = file.set_modified(SystemTime::now());
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It does nothing that could panic.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_file_moves_on_while_its_process_lives() {
        let file = tempfile::tempfile().expect("a file can be made");
        let modified = || file.metadata().and_then(|it| it.modified()).expect("files have times");
        file.set_modified(SystemTime::UNIX_EPOCH).expect("it is ours");
        let pulse = Pulse::with_period(&file, Duration::from_millis(1));
        while modified() == SystemTime::UNIX_EPOCH {
            thread::yield_now();
        }
        drop(pulse);
        file.set_modified(SystemTime::UNIX_EPOCH).expect("it is ours");
        thread::sleep(Duration::from_millis(5));
        assert_eq!(modified(), SystemTime::UNIX_EPOCH);
    }
}
