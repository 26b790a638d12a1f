//! A child process that is sent lines and answers lines.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::Duration;

use crate::schedule::Breakdown;

/// Longest answer \[byte\].
const MAX_LINE: u64 = 1 << 16;

/// How long a process may take to end by itself when its input has ended.
const FAREWELL: Duration = Duration::from_millis(500);

/// A child process. It ends with this value.
///
/// Two threads keep a process that does not read, or does not answer, from holding up the run. They
/// end with its pipes.
pub(super) struct Process {
    child: Child,
    /// To its standard input; `None` once that has ended.
    lines: Option<Sender<String>>,
    /// From its standard output.
    answers: Receiver<Result<String, String>>,
    timeout: Duration,
}

impl Process {
    /// Starts a process of these words, the program first.
    pub(super) fn start(words: &[String], timeout: Duration) -> Result<Self, Breakdown> {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let spawned = command.spawn();
        let cannot = |error| Breakdown::transient(format!("cannot start `{}`: {error}", words[0]));
        let mut child = spawned.map_err(cannot)?;
        let stdin = child.stdin.take().expect("its input is a pipe");
        let stdout = child.stdout.take().expect("its output is a pipe");
        let (lines, to_write) = mpsc::channel();
        // One answer waits at most: a process that writes without being asked is held up.
        let (to_send, answers) = mpsc::sync_channel(1);
        thread::spawn(move || write_lines(stdin, &to_write));
        thread::spawn(move || read_lines(stdout, &to_send));
        Ok(Self { child, lines: Some(lines), answers, timeout })
    }

    /// Sends a line. Whether it arrives shows in the answer.
    pub(super) fn send(&mut self, line: String) {
        if let Some(lines) = &self.lines {
            let _ = lines.send(line);
        }
    }

    /// The next line of its output, or why there is none.
    pub(super) fn receive(&mut self) -> Result<String, Breakdown> {
        match self.answers.recv_timeout(self.timeout) {
            Ok(answer) => answer.map_err(Breakdown::new),
            Err(RecvTimeoutError::Disconnected) => Err(Breakdown::new(self.end())),
            Err(RecvTimeoutError::Timeout) => {
                let ms = self.timeout.as_millis();
                Err(Breakdown::transient(format!("no answer within {ms} ms")))
            }
        }
    }

    /// How it ended, now that its output has.
    fn end(&mut self) -> String {
        match self.child.try_wait() {
            Ok(Some(status)) => format!("ended without an answer ({status})"),
            _ => "closed its output without an answer".into(),
        }
    }
}

/// Lets the process end by itself, and makes it end if it does not.
impl Drop for Process {
    fn drop(&mut self) {
        self.lines = None;
        let _ = self.answers.recv_timeout(FAREWELL);
        let _ = self.child.kill();
        let _ = self.child.wait();
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

/// The next line without its end; `None` behind the last one.
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
