//! Processes of a policy: the one that is started, and every process that it starts.

use std::io;
use std::process::{Child, ChildStdin, Command, Stdio};
#[cfg(unix)]
use std::{thread, time::Duration};

/// A process group, which a guard holds. The guard ends all of it when its standard input ends: when
/// this value does, or when this program does, however it ends. It is the leader of the group and
/// waited for last, so that the number of the group is never that of another one.
///
/// A process that leaves the group (`setsid`) is beyond reach.
#[cfg(unix)]
pub(super) struct Group {
    guard: Child,
    /// Held open for as long as the group may live.
    leash: Option<ChildStdin>,
}

/// Script of the guard. A policy may end or stop its own group politely (`kill 0`), but not the guard.
#[cfg(unix)]
const SCRIPT: &str =
    "trap '' HUP INT QUIT TERM TSTP TTIN TTOU; while read -r line; do :; done; kill -KILL 0";

/// Script that replaces a guard that a policy has stopped (`kill -STOP 0`).
#[cfg(unix)]
const STAND_IN: &str = "kill -s KILL -- \"-$0\"";

/// How long the guard may take, in looks of a millisecond.
#[cfg(unix)]
const LOOKS: u32 = 500;

#[cfg(unix)]
impl Group {
    /// Program of the guard.
    pub(super) const GUARD: &str = "/bin/sh";

    /// A group of the guard alone.
    pub(super) fn new() -> io::Result<Self> {
        use std::os::unix::process::CommandExt as _;

        let mut command = Command::new(Self::GUARD);
        command.args(["-c", SCRIPT]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut guard = command.spawn()?;
        let leash = guard.stdin.take();
        Ok(Self { guard, leash })
    }

    /// Starts a process in the group.
    pub(super) fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        use std::os::unix::process::CommandExt as _;

        command.process_group(self.guard.id().cast_signed()).spawn()
    }

    /// Ends all processes of the group, of which `child` is one.
    pub(super) fn end(&mut self, child: &mut Child) {
        let _ = child.kill();
        let _ = child.wait();
        self.end_all();
    }

    /// Lets the guard end the group, or ends it from outside if the guard does not: no process can hold
    /// that up.
    fn end_all(&mut self) {
        self.leash = None;
        if !self.guard_ends() {
            let _ = self.stand_in();
            let _ = self.guard.kill();
        }
        let _ = self.guard.wait();
    }

    /// Whether the guard ends in time.
    fn guard_ends(&mut self) -> bool {
        (0..LOOKS).any(|_| {
            let has_ended = matches!(self.guard.try_wait(), Ok(Some(_)));
            if !has_ended {
                thread::sleep(Duration::from_millis(1));
            }
            has_ended
        })
    }

    /// Kills the group, whose number stands for it until the guard is waited for.
    fn stand_in(&self) -> io::Result<()> {
        let mut command = Command::new(Self::GUARD);
        command.args(["-c", STAND_IN, &self.guard.id().to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().map(drop)
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        self.end_all();
    }
}

/// Where there are no process groups, a process is alone.
#[cfg(not(unix))]
pub(super) struct Group;

#[cfg(not(unix))]
impl Group {
    pub(super) const GUARD: &str = "";

    pub(super) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    pub(super) fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        command.spawn()
    }

    pub(super) fn end(&mut self, child: &mut Child) {
        let _ = child.kill();
        let _ = child.wait();
    }
}
