#!/usr/bin/env python3
"""Runs gctrail.exe on a .NET program for Windows under Wine.

    windows_dotnet.py WINE FOLDER PROGRAM    FOLDER has gctrail.exe, and gctrail for this system

Each check prints a line. The exit code is 1 if one fails.
"""
import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time

wine, folder, program = sys.argv[1:]
archive = os.path.abspath("testdata/net8-win-x64-gcevents.etl.zip")
os.chdir(folder)
# Small budgets make collections come often.
quick = dict(os.environ, DOTNET_GCgen0size="0x200000")
failed = 0


def check(name, ok, detail=""):
    global failed
    failed += not ok
    print(("ok    " if ok else "FAIL  ") + name + (f": {detail}" if detail != "" else ""), flush=True)


def gctrail(*args):
    return subprocess.run([wine, "gctrail.exe", *args], capture_output=True, text=True, timeout=60)


class Client:
    """Speaks the Model Context Protocol with a program, which allocates to answer."""

    def __init__(self, command, env=quick):
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.errors = b""
        threading.Thread(target=self.drain, daemon=True).start()
        self.number = 0

    def drain(self):
        for line in self.process.stderr:
            self.errors += line

    def send(self, method, **rest):
        line = json.dumps({"jsonrpc": "2.0", "method": method, **rest})
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, **rest):
        self.number += 1
        self.send(method, id=self.number, **rest)
        return self.process.stdout.readline()

    def begin(self):
        self.ask("initialize", params={"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "ci", "version": "1"}})
        self.send("notifications/initialized")
        return self

    def work(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.ask("tools/list"):
            pass

    def end(self):
        self.process.stdin.close()
        return self.process.wait(30)


@contextlib.contextmanager
def working(client):
    """Has the client work until the block ends."""
    done = threading.Event()

    def work():
        while not done.is_set():
            client.work(0.2)

    t = threading.Thread(target=work)
    t.start()
    yield
    done.set()
    t.join()


class Console:
    """A console of a size, in which a gctrail runs."""

    def __init__(self, rows, columns, *args):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm-256color"
            os.execv(wine, [wine, "gctrail.exe", *args])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.shown = b""

    def show(self, seconds, until=None):
        """Reads for some time, or until something was shown."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not (until and until in self.shown):
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    self.shown += os.read(self.fd, 1 << 16)
                except OSError:
                    return

    def type(self, keys):
        os.write(self.fd, keys)

    def end(self, seconds=20):
        """The exit code; None if it does not end."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            self.show(0.2)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def collections(path):
    """The collections of a trace, as both systems read them."""
    there = gctrail("gcs", "--format", "jsonl", path)
    here = subprocess.run(["./gctrail", "gcs", "--format", "jsonl", path], capture_output=True, text=True, timeout=60)
    check(f"{path} reads alike on Windows and here", there.returncode == here.returncode == 0 and there.stdout == here.stdout,
          there.stderr[:300] + here.stderr[:300] if there.stdout != here.stdout else "")
    return [json.loads(line) for line in here.stdout.splitlines()]


def check_trace(name, path, complete=True, first=None):
    got = collections(path)
    # Collections that began and ended in a background one before the trace have numbers
    # after its own: only those that begin in the trace are without a gap.
    begun = [c for c in got if c["start_ms"] is not None]
    numbers = sorted(c["number"] for c in begun)  # two that overlap are in the order of what is known of their starts
    check(f"{name}: collections", len(begun) > 0, len(got))
    if not begun:
        return
    check(f"{name}: none is missing", numbers == list(range(numbers[0], numbers[0] + len(numbers))), f"{numbers[0]} to {numbers[-1]}")
    if first is not None:
        check(f"{name}: begins with the first", numbers[0] == first)
    # A background collection that runs when the trace begins or ends, and one in it, are not whole.
    whole = [c for c in got if c["complete"]]
    check(f"{name}: complete", len(got) - len(whole) <= (0 if complete else 4), f"{len(whole)} of {len(got)}")
    check(f"{name}: nothing lost", not any(c["affected_by_loss"] for c in got))
    check(f"{name}: process and runtime", all(c["process"] == "azmcp" and c["runtime"].startswith(".NET 10.") for c in got), got[0]["runtime"])
    bad = [c["number"] for c in whole if not (
        c["pause_ms"] > 0 and c["heap_before_bytes"] > 0 and c["heap_after_bytes"] > 0 and (c["kind"] == "background" or c["duration_ms"] <= c["pause_ms"]))]
    check(f"{name}: figures agree with each other", not bad, bad or "")


def running():
    client = Client([wine, program, "server", "start"]).begin()
    with working(client):
        time.sleep(1)
        listed = gctrail("ps", "--format", "jsonl")
        found = [json.loads(line) for line in listed.stdout.splitlines()]
        one = found[0] if found else {}
        pid = str(one.get("pid"))
        check("ps", len(found) == 1 and one["name"] == "azmcp" and one["os"] == "Windows" and one["runtime"].startswith(".NET 10."), listed.stdout[:200] + listed.stderr)
        r = gctrail("collect", "-n", "azmcp*", "--duration", "4s", "-o", "name.nettrace")
        check("collect -n", r.returncode == 0, r.stderr if r.returncode else "")
        r = gctrail("collect", "-p", pid, "--duration", "3s", "-o", "pid.nettrace", "--profile", "gc-verbose")
        check("collect -p", r.returncode == 0, r.stderr if r.returncode else "")
        r = gctrail("top", "--plain", "-p", pid, "--duration", "3s")
        check("top --plain", r.returncode == 0 and "azmcp" in r.stdout and "blocking" in r.stdout, r.stdout.count("blocking"))
        r = gctrail("collect", "-p", pid, "--until", "gen>=0", "--after", "1s", "-o", "until.nettrace")
        check("collect --until", r.returncode == 0, r.stderr if r.returncode else "")
        interrupted(pid)
        watched()
    check("the program ends", client.end() == 0)
    for name, path in ("collect -n", "name.nettrace"), ("collect -p", "pid.nettrace"), ("collect --until", "until.nettrace"), ("Ctrl-C", "ctrl-c.nettrace"):
        check_trace(name, path, complete=False)
    r = gctrail("collect", "-p", pid)
    check("a process that is gone: exit code", r.returncode == 4, r.stderr.strip())


def interrupted(pid):
    """Reads a trace that is being written, and ends it by Ctrl-C, which Wine makes of SIGINT."""
    p = subprocess.Popen([wine, "gctrail.exe", "collect", "-p", pid, "-o", "ctrl-c.nettrace"], stderr=subprocess.PIPE, text=True)
    time.sleep(4)
    r = gctrail("gcs", "--format", "jsonl", "ctrl-c.nettrace")
    check("a trace that is being written can be read", r.returncode == 0 and r.stdout.count("\n") > 0, r.stderr.strip() or r.stdout.count("\n"))
    p.send_signal(signal.SIGINT)
    said = p.communicate(timeout=30)[1]
    check("Ctrl-C", p.returncode == 0 and "ctrl-c.nettrace" in said, p.returncode)


def watched():
    """Watches on a console, until a key or Ctrl-C ends that. Wine draws it differently from Windows."""
    for name, keys in ("q", b"q"), ("Ctrl-C", b"\x03"):
        c = Console(30, 100, "top")
        c.show(20, until=b"azmcp")
        c.type(b"a")  # all GCs: the long ones alone may be none
        c.show(20, until=b"blocking")
        c.type(keys)
        code = c.end()
        check(f"top on a console, {name}", code == 0 and b"azmcp" in c.shown and b"blocking" in c.shown, code)


def launched():
    client = Client([wine, "gctrail.exe", "collect", "-o", "command.nettrace", "--", program, "server", "start"]).begin()
    client.work(3)
    check("collect -- COMMAND: exit code", client.end() == 0)
    check_trace("collect -- COMMAND", "command.nettrace", first=1)
    r = gctrail("report", "--format", "json", "--full", "command.nettrace")
    read = json.loads(r.stdout)["processes"][0]["processors"] if r.returncode == 0 else {}
    check("collect -- COMMAND: processor time", 0 < (read.get("thread_run_ms") or 0) and read["gc_cpu_ms"] is not None and read["gc_cpu_ms"] <= read["thread_run_ms"]
          and read["thread_wait_ms"] is None, f"{read.get('gc_cpu_ms')} of {read.get('thread_run_ms')} ms")


def dialled():
    port = subprocess.Popen([wine, "gctrail.exe", "collect", "--diagnostic-port", "gctrail-ci", "-o", "port.nettrace"], stderr=subprocess.PIPE, text=True)
    port.stderr.readline()  # it listens
    client = Client([wine, program, "server", "start"], dict(quick, DOTNET_DiagnosticPorts="gctrail-ci")).begin()
    client.work(2)
    client.end()
    port.send_signal(signal.SIGINT)
    port.communicate(timeout=30)
    check("collect --diagnostic-port: exit code", port.returncode == 0, port.returncode)
    check_trace("collect --diagnostic-port", "port.nettrace", first=1)


def paths():
    """Long paths, and names that are not ASCII."""
    deep = os.path.join(*["a folder with a long name, for a long path"] * 7)
    os.makedirs(deep, exist_ok=True)
    name = os.path.join(deep, "größe.nettrace")
    with open("command.nettrace", "rb") as f, open(name, "wb") as g:
        g.write(f.read())
    windows = "Z:" + os.path.abspath(name).replace("/", "\\")
    a, b = gctrail("gcs", "--format", "jsonl", windows), gctrail("gcs", "--format", "jsonl", "command.nettrace")
    check(f"a path of {len(windows)} characters", a.returncode == 0 and a.stdout == b.stdout, a.stderr.strip())
    out = windows[:-len(".nettrace")] + ".perfetto-trace"
    r = gctrail("convert", windows, "-o", out)
    check("convert to a long path", r.returncode == 0, r.stderr.strip() if r.returncode else "")
    r = gctrail("gcs", "Z:\\no such folder\\a.nettrace")
    check("no such file: exit code", r.returncode == 3 and "no such file" in r.stderr, r.stderr.strip())
    with open("command.nettrace", "rb") as f:
        r = subprocess.run([wine, "gctrail.exe", "gcs", "--format", "jsonl", "-"], stdin=f, capture_output=True, text=True, timeout=60)
    check("standard input", r.returncode == 0 and r.stdout == b.stdout)


def console():
    """What is written to a console has its width, its colours, and characters that its code page lacks."""
    for columns in 100, 60:
        c = Console(40, columns, "report", "command.nettrace")
        code = c.end()
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", c.shown.decode(errors="replace")).replace("\r", "")
        longest = max(map(len, text.splitlines()))
        check(f"a console of {columns} columns", code == 0 and columns // 2 < longest <= columns, longest)
        check("colours", b"\x1b[1m" in c.shown)
    c = Console(40, 100, "gcs", "größe µ.nettrace")
    check("a name that code page 437 lacks", c.end() == 3 and "größe µ.nettrace" in c.shown.decode(errors="replace"))


def temporary():
    """What comes through a pipe is stored in %TEMP%, and removed."""
    os.makedirs("a folder", exist_ok=True)
    env = dict(os.environ, TMP="Z:" + os.path.abspath("a folder").replace("/", "\\"))
    with open(archive, "rb") as f:
        r = subprocess.run([wine, "gctrail.exe", "gcs", "--format", "csv", "-"], stdin=f, env=env, capture_output=True, text=True, timeout=60)
    check("%TEMP%", r.returncode == 0 and r.stdout.count("\n") == 3 and not os.listdir("a folder"), r.stderr.strip() or os.listdir("a folder"))


LOADER = r"""
#include <stdio.h>
#include <windows.h>
int main(int count, char **arguments) {
	if (!LoadLibraryA(arguments[1])) return 1;
	puts("loaded");
	fflush(stdout);
	getchar();
	return 0;
}
"""
VERSION = """1 VERSIONINFO
FILEVERSION %s
{ BLOCK "VarFileInfo" { VALUE "Translation", 0x409, 1200 } }
"""


def build(output, *flags, version=None, source=""):
    """Compiles a program or library for Windows."""
    os.makedirs(os.path.dirname(output), exist_ok=True)
    with open("built.c", "w") as f:
        f.write(source)
    if version:
        with open("built.rc", "w") as f:
            f.write(VERSION % version)
        subprocess.run(["x86_64-w64-mingw32-windres", "built.rc", "built.o"], check=True)
        flags += ("built.o",)
    subprocess.run(["x86_64-w64-mingw32-gcc", "-s", *flags, "-o", output, "built.c"], check=True)
    return output


def framework():
    """Lists processes that have loaded libraries with the names of the runtime of .NET Framework."""
    runtimes = {
        "web4": ("Microsoft.NET/Framework64/v4.0.30319/clr.dll", "4,8,9181,0", ".NET Framework 4.8.9181.0"),
        "web2": ("Microsoft.NET/Framework64/v2.0.50727/mscorwks.dll", "2,0,50727,9179", ".NET Framework 2.0.50727.9179"),
        "neither": ("Microsoft.NET/Framework64/v4.0.30319/clrjit.dll", "4,8,9181,0", None),
    }
    processes, want = [], {}
    for name, (library, version, runtime) in runtimes.items():
        exe = build(f"framework/{name}.exe", source=LOADER)
        process = subprocess.Popen([wine, exe, build(library, "-shared", version=version)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        processes.append(process)
        check(f"{os.path.basename(library)} is loaded", process.stdout.readline().strip() == b"loaded")
        if runtime:
            want[name] = runtime
    r = gctrail("ps", "--format", "jsonl")
    found = [json.loads(line) for line in r.stdout.splitlines()]
    check("ps lists .NET Framework", r.returncode == 0 and {p["name"]: p["runtime"] for p in found} == want,
          r.stdout + r.stderr if len(found) != len(want) else ", ".join(p["runtime"] for p in found))
    for p in found:
        one = gctrail("ps", str(p["pid"]))
        check(f"ps {p['name']}", one.returncode == 4 and want[p["name"]] in one.stdout and one.stderr.endswith(f"gctrail collect --etw -p {p['pid']}\n"), one.stderr.strip())
    r = gctrail("ps", "neither")
    check("ps lists no other", r.returncode == 4, r.stderr.strip())
    for p in processes:
        p.communicate(b"\n")


def refused():
    """Wine says that it starts an ETW session, and writes nothing."""
    r = gctrail("collect", "--etw", "--duration", "5s")
    check("collect --etw without ETW: exit code", r.returncode == 5 and "writes no file" in r.stderr, r.stderr.strip())
    r = gctrail("collect", "--no-such-flag")
    check("a wrong flag: exit code", r.returncode == 2, r.stderr.strip())


for part in running, launched, dialled, paths, console, temporary, framework, refused:
    part()
print(f"{failed} of the checks failed" if failed else "all checks passed")
sys.exit(failed > 0)
