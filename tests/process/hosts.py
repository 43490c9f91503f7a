"""Hosts of a test on one machine: each has a network, a name, processes, shared memory and a /tmp of its own; the test's folder is shared."""

import os
import signal
import subprocess
import time
from pathlib import Path

from harness import LAUNCHERS, Skip, expect

OWN_MOUNTS = """
    mount --bind "$1" /mnt && mount -t tmpfs tmpfs /tmp && mkdir -p "$1" && mount --move /mnt "$1" && mount -t tmpfs tmpfs /dev/shm &&
"""
START = """
    hostname "$2" && ip link set lo up && mount --bind "$1/hosts" /etc/hosts && %s touch "$1/$2.up" && exec sleep 1000
"""
# What ssh would do: it starts a command on a host by a shell with an environment that knows nothing of this one.
AGENT = """#!/bin/sh
while case $1 in -*) true ;; *) false ;; esac; do shift; done
host=$1; shift
[ "$host" != "{late}" ] || {{ sleep 2; zone=UTC-9; }}
exec nsenter --target "$(cat "{folder}/$host.pid")" --net --uts --mount --pid -- env -i TZ="${{zone:-UTC}}" PATH=/usr/bin:/bin HOME="{folder}" sh -c "cd; $*"
"""
SETTINGS = {
    "openmpi": ["--mca", "plm_rsh_no_tree_spawn", "1", "--mca", "pml", "ob1", "--mca", "btl", "tcp,self,vader",
                "--mca", "btl_tcp_if_include", "10.77.0.0/24", "--mca", "oob_tcp_if_include", "10.77.0.0/24"],
    "mpich": ["-genv", "UCX_NET_DEVICES", "eth0"],
}


class Hosts:
    """node1, node2 ... and `login`, where the launcher runs and the cables meet. Each command of the job has new ones, since Job.run()
    ends all processes. `late`: a host on which the launcher's daemon starts seconds after the others, in another time zone."""

    def __init__(self, job, count, ranks_each, late=None):
        job.need("unshare", "nsenter", "ip", LAUNCHERS[job.mpi][0])
        self.job, self.count, self.each, self.folder, self.late = job, count, ranks_each, job.folder, late
        self.names = [f"node{i + 1}" for i in range(count)]
        job.launcher = self.launcher

    def boot(self):
        addresses = {"login": "10.77.0.100", **{name: f"10.77.0.{i + 1}" for i, name in enumerate(self.names)}}
        (self.folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in addresses.items()))
        self.agent = self.folder / "agent"
        self.agent.write_text(AGENT.format(folder=self.folder, late=self.late))
        self.agent.chmod(0o755)
        self.pids = {"login": self.start("login", [], "")}
        for name in self.names:
            self.pids[name] = self.start(name, ["--pid", "--fork", "--mount-proc"], OWN_MOUNTS)
            (self.folder / f"{name}.pid").write_text(str(self.pids[name]))
        self.connect(addresses)

    def start(self, name, more, mounts):
        """Returns the id of the process that keeps the host: with its end, all processes of a node end."""
        (self.folder / f"{name}.up").unlink(missing_ok=True)
        command = ["unshare", "--net", "--uts", "--mount", *more, "sh", "-c", START % mounts, "sh", str(self.folder), name]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for _ in range(500):
            if (self.folder / f"{name}.up").exists():
                children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
                return int(children[0]) if more else process.pid
            if process.poll() is not None:
                raise Skip(f"no hosts can be made here: {process.stderr.read().decode().strip()}")
            time.sleep(0.01)
        raise AssertionError(f"host {name} does not start")

    def ip(self, name, *words):
        command = ["nsenter", "--target", str(self.pids[name]), "--net", "ip", *words] if name else ["ip", *words]
        result = subprocess.run(command, capture_output=True, text=True, timeout=20)
        if result.returncode != 0:
            raise Skip(f"no network can be made here: ip {' '.join(words)}: {result.stderr.strip()}")

    def connect(self, addresses):
        self.ip("login", "link", "add", "br0", "type", "bridge")
        self.ip("login", "addr", "add", f"{addresses['login']}/24", "dev", "br0")
        self.ip("login", "link", "set", "br0", "up")
        for name in self.names:
            self.ip("", "link", "add", f"to-{name}", "netns", str(self.pids["login"]), "type", "veth",
                    "peer", "name", "eth0", "netns", str(self.pids[name]))
            self.ip("login", "link", "set", f"to-{name}", "master", "br0", "up")
            self.ip(name, "addr", "add", f"{addresses[name]}/24", "dev", "eth0")
            self.ip(name, "link", "set", "eth0", "up")

    def launcher(self, ranks):
        """In place of Job.launcher: the ranks are placed host by host."""
        expect(ranks == self.count * self.each, f"{ranks} ranks on {self.count} hosts")
        self.boot()
        there = ["sh", "-c", f'cd "{self.folder}" && exec "$@"', "sh"] # to enter a host leads out of the folder
        inside = ["nsenter", "--target", str(self.pids["login"]), "--net", "--uts", "--mount", "--", *there, *LAUNCHERS[self.job.mpi], *SETTINGS[self.job.mpi]]
        if self.job.mpi == "openmpi":
            hosts = ",".join(f"{name}:{self.each}" for name in self.names)
            return [*inside, "--mca", "plm_rsh_agent", str(self.agent), "--host", hosts, "-n", str(ranks)]
        return [*inside, "-launcher", "ssh", "-launcher-exec", str(self.agent), "-hosts", ",".join(self.names), "-ppn", str(self.each), "-n", str(ranks)]

    def kill(self, name):
        """All at once, the launcher's daemon, too, as when a host loses its power."""
        os.kill(self.pids[name], signal.SIGKILL)
