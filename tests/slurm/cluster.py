"""A Slurm cluster of several nodes on this machine.

All daemons listen on 127.0.0.1, live in one folder, and end with it. Every node has namespaces of its own: a
host name, by which its daemon finds itself in the configuration, and processes, so that all of them end with
the first one, as when a machine loses power.
"""

import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import time

PACKAGES = ["slurm-wlm", "munge"]
PROGRAMS = ["slurmctld", "slurmd", "munged", "sbatch", "scontrol", "squeue", "sinfo"]
FIRST_PORT = 16917
#: Seconds after which a node that does not answer counts as down.
SILENCE = 5


class Absent(Exception):
    """The machine cannot have such a cluster."""


def install(packages, programs):
    """Installs packages of the distribution without starting their services."""
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    os.environ["PATH"] = path
    if all(shutil.which(program) for program in programs):
        return
    if os.geteuid() != 0:
        raise Absent(f"{' and '.join(packages)} are not installed, and installing them needs root")
    policy = pathlib.Path("/usr/sbin/policy-rc.d")
    made = not policy.exists()
    if made:
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
    try:
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for words in (
            ["apt-get", "update", "-qq"],
            ["apt-get", "install", "-qq", "-y", "--no-install-recommends", *packages],
        ):
            done = subprocess.run(words, env=environment, capture_output=True, text=True)
            if done.returncode != 0:
                raise Absent(f"`{' '.join(words)}` failed: {done.stderr.strip()[-300:]}")
    except FileNotFoundError:
        raise Absent("packages are installed by apt-get, which is not here") from None
    finally:
        if made:
            policy.unlink()


def require_namespaces():
    """Raises `Absent` where processes cannot have namespaces of their own."""
    if os.geteuid() != 0:
        raise Absent("nodes with namespaces of their own need root")
    words = ["unshare", "--uts", "--mount", "--pid", "--fork", "--mount-proc", "true"]
    try:
        done = subprocess.run(words, capture_output=True, text=True)
    except FileNotFoundError:
        raise Absent("`unshare` is not here") from None
    if done.returncode != 0:
        raise Absent(f"namespaces are not allowed: {done.stderr.strip()}")


class Cluster:
    """Nodes `node1`, `node2`, ... with one processor each, and the partitions `main` and `urgent`."""

    def __init__(self, folder, n_nodes):
        self.folder = pathlib.Path(folder)
        self.n_nodes = n_nodes
        self.processes = {}
        #: Jobs whose wait after a requeue is not cut short.
        self.patient = set()

    def __enter__(self):
        install(PACKAGES, PROGRAMS)
        require_namespaces()
        self.folder.chmod(0o755)
        (self.folder / "state").mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        hosts = ["localhost", *(f"node{n}" for n in self.nodes())]
        (self.folder / "hosts").write_text("".join(f"127.0.0.1 {host}\n" for host in hosts))
        self.configuration().write_text(self.settings())
        os.environ["SLURM_CONF"] = str(self.configuration())
        try:
            self.start_munge()
            self.start("slurmctld", ["slurmctld", "-D", "-c", "-f", str(self.configuration())])
            for n in self.nodes():
                self.start_node(n)
            self.wait(30, "all nodes are idle", lambda: self.n_idle() == self.n_nodes)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in sorted(self.processes, key=lambda name: not name.startswith("node")):
            self.end(name)

    def nodes(self):
        return range(1, self.n_nodes + 1)

    def configuration(self):
        return self.folder / "slurm.conf"

    def settings(self):
        user = subprocess.run(["id", "-un"], capture_output=True, text=True).stdout.strip()
        folder = self.folder
        settings = {
            "ClusterName": "loopback",
            "SlurmctldHost": "localhost(127.0.0.1)",
            "SlurmctldPort": FIRST_PORT,
            "SlurmUser": user,
            "SlurmdUser": user,
            "AuthType": "auth/munge",
            "AuthInfo": f"socket={folder}/munge.socket",
            "CredType": "cred/munge",
            "CommunicationParameters": "NoCtldInAddrAny,NoInAddrAny",
            "StateSaveLocation": f"{folder}/state",
            "SlurmdSpoolDir": f"{folder}/spool-%n",
            "SlurmctldPidFile": f"{folder}/slurmctld.pid",
            "SlurmdPidFile": f"{folder}/slurmd-%n.pid",
            "SlurmctldLogFile": f"{folder}/slurmctld.log",
            "SlurmdLogFile": f"{folder}/slurmd-%n.log",
            "MailProg": "/bin/true",
            # No control groups, which containers do not have.
            "ProctrackType": "proctrack/linuxproc",
            "TaskPlugin": "task/none",
            "JobAcctGatherType": "jobacct_gather/none",
            "AccountingStorageType": "accounting_storage/none",
            "JobCompType": "jobcomp/filetxt",
            "JobCompLoc": f"{folder}/jobs.txt",
            "SelectType": "select/cons_tres",
            "SelectTypeParameters": "CR_CPU",
            "SlurmdParameters": "config_overrides",
            "ReturnToService": 2,
            "SlurmdTimeout": SILENCE,
            "SlurmctldTimeout": 10,
            "MessageTimeout": 5,
            "KillWait": 3,
            "InactiveLimit": 0,
            "SchedulerParameters": "batch_sched_delay=1,sched_interval=2,bf_interval=2",
            "PreemptType": "preempt/partition_prio",
            "PreemptMode": "REQUEUE",
            "MaxArraySize": 10001,
        }
        lines = [f"{key}={value}" for key, value in settings.items()]
        lines += [
            f"NodeName=node{n} NodeHostname=node{n} NodeAddr=127.0.0.1 Port={FIRST_PORT + n} CPUs=1 State=UNKNOWN"
            for n in self.nodes()
        ]
        nodes = f"Nodes=node[1-{self.n_nodes}] MaxTime=INFINITE State=UP"
        lines.append(f"PartitionName=main {nodes} Default=YES PriorityTier=1 PreemptMode=REQUEUE")
        lines.append(f"PartitionName=urgent {nodes} PriorityTier=10 PreemptMode=OFF")
        return "\n".join(lines) + "\n"

    def start(self, name, words):
        log = open(self.folder / f"{name}.out", "wb")
        self.processes[name] = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )

    def start_munge(self):
        folder = self.folder
        socket = folder / "munge.socket"
        files = {"socket": socket, "key-file": folder / "munge.key", "pid-file": folder / "munged.pid",
                 "seed-file": folder / "munge.seed", "log-file": folder / "munged.log"}
        options = [f"--{option}={path}" for option, path in files.items()]
        self.start("munged", ["munged", "--foreground", "--force", "--num-threads=2", *options])
        self.wait(10, "munge listens", socket.exists)

    def start_node(self, n):
        (self.folder / f"spool-node{n}").mkdir(exist_ok=True)
        script = (
            f"mount --bind '{self.folder}/hosts' /etc/hosts && hostname node{n} && "
            f"exec slurmd -D -N node{n} -f '{self.configuration()}'"
        )
        namespaces = ["--uts", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child=KILL"]
        self.start(f"node{n}", ["unshare", *namespaces, "sh", "-c", script])

    def end(self, name):
        """Ends a daemon, and with a node all that runs there."""
        process = self.processes.pop(name, None)
        if process is None:
            return
        process.send_signal(signal.SIGKILL if name.startswith("node") else signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def daemon_of(self, n):
        """Process of the daemon of a node: the only child of the one that made the namespaces."""
        first = self.processes[f"node{n}"].pid
        children = pathlib.Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return int(children[0])

    def n_idle(self):
        return len(run("sinfo", "-h", "-N", "-p", "main", "-t", "idle", "-o", "%N").split())

    def jobs(self):
        """Jobs in the queue: state, node and reason by `ARRAY_TASK`."""
        lines = run("squeue", "-h", "-r", "-o", "%i|%T|%N|%r").splitlines()
        return {line.split("|")[0]: line.split("|")[1:] for line in lines}

    def restarts(self, name):
        """Number of times that a job, also one that has ended, was put back into the queue."""
        fields = run("scontrol", "show", "job", "-o", name).split()
        counts = [field.removeprefix("Restarts=") for field in fields if field.startswith("Restarts=")]
        return int(counts[0]) if counts else 0

    def wait(self, seconds, what, condition):
        """Waits until the condition holds, and returns its value."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = condition()
            if value:
                return value
            time.sleep(0.1)
        raise TimeoutError(f"after {seconds} s it does not hold that {what}\n{self.logs()}")

    def logs(self):
        texts = [f"== queue\n{run('squeue', '-r')}"]
        for path in sorted(self.folder.glob("*.out")):
            texts.append(f"== {path.name}\n{path.read_text(errors='replace')[-600:]}")
        return "\n".join(texts)


def run(*words, check=False, **options):
    """Standard output of a command."""
    done = subprocess.run(words, capture_output=True, text=True, **options)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout
