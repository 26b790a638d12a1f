//! A child process that is sent lines and answers lines.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::schedule::Breakdown;
use xrsim_model::cancel;

use super::group::Group;

/// Longest answer \[byte\].
const MAX_LINE: u64 = 1 << 16;

/// How long a process may take to end by itself when its input has ended, and how long an answer may
/// be under way when its process has ended.
const FAREWELL: Duration = Duration::from_millis(500);

/// How often a process is looked after while it is waited for.
const LOOK: Duration = Duration::from_millis(10);

/// A child process. It ends with this value, and so does every process that it has started.
///
/// Two threads keep a process that does not read, or does not answer, from holding up the run. They
/// end with its pipes.
pub(super) struct Process {
    child: Child,
    group: Group,
    /// To its standard input; `None` once that has ended.
    lines: Option<Sender<String>>,
    /// From its standard output.
    answers: Receiver<Result<String, String>>,
    threads: Vec<JoinHandle<()>>,
    timeout: Duration,
}

impl Process {
    /// Starts a process of these words, the program first.
    pub(super) fn start(words: &[String], timeout: Duration) -> Result<Self, Breakdown> {
        let cannot = |error| not_started(&words[0], &error);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let group = Group::new().map_err(|error| not_started(Group::GUARD, &error))?;
        let mut child = group.spawn(&mut command).map_err(cannot)?;
        let stdin = child.stdin.take().expect("its input is a pipe");
        let stdout = child.stdout.take().expect("its output is a pipe");
        let (lines, to_write) = mpsc::channel();
        // One answer waits at most: a process that writes without being asked is held up.
        let (to_send, answers) = mpsc::sync_channel(1);
        let mut process =
            Self { child, group, lines: Some(lines), answers, threads: Vec::new(), timeout };
        let writer = thread::Builder::new().spawn(move || write_lines(stdin, &to_write));
        process.threads.push(writer.map_err(cannot)?);
        let reader = thread::Builder::new().spawn(move || read_lines(stdout, &to_send));
        process.threads.push(reader.map_err(cannot)?);
        Ok(process)
    }

    /// Sends a line. Whether it arrives shows in the answer.
    pub(super) fn send(&mut self, line: String) {
        if let Some(lines) = &self.lines {
            let _ = lines.send(line);
        }
    }

    /// The next line of its output, or why there is none: what became of the process decides that,
    /// never which of its pipes closes first.
    pub(super) fn receive(&mut self) -> Result<String, Breakdown> {
        let mut left = self.timeout;
        while !left.is_zero() {
            cancel::check();
            let look = left.min(LOOK);
            left -= look;
            match self.answers.recv_timeout(look) {
                Ok(answer) => return answer.map_err(Breakdown::new),
                Err(RecvTimeoutError::Disconnected) => return Err(self.silence(left)),
                Err(RecvTimeoutError::Timeout) => {}
            }
            // A process that it has started may keep its output open.
            if let Ok(Some(status)) = self.child.try_wait() {
                let answer = self.answers.recv_timeout(FAREWELL).map_err(|_| ended(status));
                return answer.and_then(|answer| answer.map_err(Breakdown::new));
            }
        }
        let ms = self.timeout.as_millis();
        Err(Breakdown::transient(format!("no answer within {ms} ms")))
    }

    /// Why its output has ended. It ends before the process does, which has as long as for an answer.
    fn silence(&mut self, left: Duration) -> Breakdown {
        match self.wait(left.max(FAREWELL)) {
            Some(status) => ended(status),
            None => Breakdown::transient("closed its output without an answer"),
        }
    }

    /// How it ends, if it does so in time.
    fn wait(&mut self, mut left: Duration) -> Option<ExitStatus> {
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            if left.is_zero() {
                return None;
            }
            let look = left.min(LOOK / 10);
            left -= look;
            thread::sleep(look);
        }
    }

    /// Whether its pipes have ended, and the threads with them.
    fn is_over(&self) -> bool {
        self.threads.iter().all(JoinHandle::is_finished)
    }
}

fn not_started(program: &str, error: &io::Error) -> Breakdown {
    Breakdown::transient(format!("cannot start `{program}`: {error}"))
}

/// Why a process does not answer that has ended. It may do better next time: whether the machine lacked something
/// does not show.
fn ended(status: ExitStatus) -> Breakdown {
    Breakdown::transient(format!("ended without an answer ({status})"))
}

/// Lets the process end by itself, or ends it; then ends every process that it has started.
impl Drop for Process {
    fn drop(&mut self) {
        self.lines = None;
        // What it says now is not asked for, and must not hold it up.
        let (_, nothing) = mpsc::sync_channel(0);
        drop(std::mem::replace(&mut self.answers, nothing));
        self.wait(FAREWELL);
        self.group.end(&mut self.child);
        let mut left = FAREWELL;
        while !self.is_over() && !left.is_zero() {
            thread::sleep(LOOK / 10);
            left = left.saturating_sub(LOOK / 10);
        }
        // A process that has left its group may hold the pipes; its threads are not waited for.
        for thread in self.threads.drain(..).filter(JoinHandle::is_finished) {
            let _ = thread.join();
        }
    }
}

fn write_lines(mut stdin: ChildStdin, lines: &Receiver<String>) {
    for mut line in lines {
        line.push('\n');
        if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(stdout: ChildStdout, answers: &SyncSender<Result<String, String>>) {
    let mut reader = BufReader::new(stdout);
    while let Some(line) = next_line(&mut reader).transpose() {
        let is_last = line.is_err();
        if answers.send(line).is_err() || is_last {
            return;
        }
    }
}

/// The next line without its end; `None` after the last one.
fn next_line(reader: &mut impl BufRead) -> Result<Option<String>, String> {
    let mut line = Vec::new();
    let read = reader.take(MAX_LINE + 1).read_until(b'\n', &mut line);
    read.map_err(|error: io::Error| format!("its output cannot be read: {error}"))?;
    if line.len() as u64 > MAX_LINE {
        return Err(format!("answered a line of more than {MAX_LINE} bytes"));
    }
    if line.is_empty() {
        return Ok(None);
    }
    let text = String::from_utf8(line);
    let text = text.map_err(|_| "answered a line that is no UTF-8 text".to_string())?;
    Ok(Some(text.trim_end_matches(['\r', '\n']).to_string()))
}
