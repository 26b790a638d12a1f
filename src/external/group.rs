//! The processes of a policy: the one that is started and all that it starts in turn.

use std::io;
use std::process::{Child, ChildStdin, Command, Stdio};

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

/// What the guard does. A policy may end its own group politely (`kill 0`), but not the guard.
#[cfg(unix)]
const SCRIPT: &str = "trap '' HUP INT QUIT TERM; while read -r line; do :; done; kill -KILL 0";

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
        self.leash = None;
        let _ = child.kill();
        let _ = child.wait();
        let _ = self.guard.wait();
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        self.leash = None;
        let _ = self.guard.wait();
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
