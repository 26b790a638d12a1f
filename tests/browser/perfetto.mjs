// Traces of `xrsim run --trace` in Perfetto: its trace processor must find all events of a trace.

import assert from "node:assert/strict";
import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".wasm": "application/wasm", ".svg": "image/svg+xml" };

// Events that Perfetto could not use, and events that it found; ns and counts.
const QUERIES = {
  complaints:
    "select group_concat(name || ' ' || value) from stats where value > 0 and severity != 'info'",
  slices: "select count(*) from slice where category in ('execution', 'wait', 'phase', 'gate')",
  instants: "select count(*) from slice where category in ('drop', 'deadline')",
  "nested slices": "select count(*) from slice where depth > 0 and category != 'drop'",
  arrows: "select count(*) from flow where slice_out is not null and slice_in is not null",
  "counter values": "select count(*) from counter",
  counters: "select group_concat(name, '; ') from (select distinct name from counter_track order by name)",
  "busy ns": "select coalesce(sum(dur), 0) from slice where category = 'execution'",
  "named tracks":
    "select count(distinct upid || ' ' || thread.name) from thread_track join thread using (utid) where thread.name is not null",
};

/** Contents of a trace, by the names of QUERIES. */
function expected(path) {
  const events = JSON.parse(readFileSync(path, "utf8")).traceEvents;
  const count = (kind) => String(events.filter((event) => event.ph === kind).length);
  const ran = events.filter((event) => event.cat === "execution");
  const onTracks = events.filter((event) => event.ph === "X" || event.ph === "i");
  return {
    complaints: null,
    slices: count("X"),
    instants: count("i"),
    "nested slices": "0",
    arrows: count("s"),
    "counter values": count("C"),
    counters: counterNames(events),
    "busy ns": String(ran.reduce((total, event) => total + Math.round(event.dur * 1000), 0)),
    "named tracks": String(new Set(onTracks.map((event) => `${event.pid} ${event.tid}`)).size),
  };
}

/** Names of the counters in order. Perfetto adds the key of a value. */
function counterNames(events) {
  const name = (event) => [event.name, ...Object.keys(event.args)].join(" ");
  return [...new Set(events.filter((event) => event.ph === "C").map(name))].sort().join("; ");
}

/** A server on this machine of the user interface in a folder, and of one trace. */
async function serve(folder, trace) {
  const server = createServer((request, answer) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    const send = (type, body) => answer.writeHead(200, { "Content-Type": type }).end(body);
    if (path.endsWith("vizviewer_info") || path.endsWith("file_info")) return send("application/json", "{}");
    let file = path.endsWith("localtrace") ? trace : join(folder, normalize(path));
    if (existsSync(file) && statSync(file).isDirectory()) file = join(file, "index.html");
    if (!existsSync(file)) return answer.writeHead(404).end();
    answer.writeHead(200, { "Content-Type": TYPES[extname(file)] ?? "application/octet-stream" });
    createReadStream(file).pipe(answer);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return server;
}

/** Contents of a trace according to Perfetto. */
async function load(harness, folder, trace, picture) {
  const server = await serve(folder, trace);
  const here = `http://127.0.0.1:${server.address().port}/`;
  try {
    return await harness.tab({ viewport: { width: 1600, height: 1100 } }, async (tab) => {
      // The interface asks its makers for updates; the request is blocked.
      await tab.route(/^https?:/, (route) => (route.request().url().startsWith(here) ? route.continue() : route.abort()));
      await tab.goto(here);
      await tab.waitForFunction(() => typeof app !== "undefined" && app.trace);
      const found = await tab.evaluate(query, QUERIES);
      if (picture) {
        // The interface draws the tracks after its plugins have run.
        await tab.waitForTimeout(10_000);
        await tab.screenshot({ path: picture });
      }
      return found;
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function query(queries) {
  const found = {};
  for (const [name, sql] of Object.entries(queries)) {
    const result = await app.trace.engine.query(sql);
    const value = result.iter({}).get(result.columns()[0]);
    found[name] = value === null ? null : String(value);
  }
  return found;
}

/** Checks of traces of a plain run, of one in segments, of one on a device, and of replications of many models. */
export function checkTraces(harness, pages, { perfetto, pictures }) {
  const traces = {
    "a run": ["--scenario", "AR_gaming", "--system", "J", "--pes", "4096"],
    "a run in segments": ["--scenario", "VR_gaming", "--system", "M", "--pes", "4096", "--scheduler", "edf:granularity=layer", "--set", "effects.switch=true"],
    "a run on a device": ["--scenario", "AR_gaming", "--system", "J", "--pes", "4096", "--device", "headset", "--scheduler", "edf:governor=ondemand"],
    "a day on a device": ["day", "--profile", "evening", "--device", "glasses", "--system", "J", "--pes", "4096", "--flexibility", "none", "--no-changes"],
    "the published semantics": ["--scenario", "outdoor_activity_A", "--system", "K", "--pes", "8192", "--semantics", "mlsys2023"],
  };
  for (const [title, command] of Object.entries(traces)) {
    harness.check(`Perfetto finds in a trace of ${title} what it holds`, async () => {
      const name = `trace of ${title}`.replaceAll(" ", "-");
      const trace = pages.trace(name, ...command);
      const wanted = expected(trace);
      assert.notEqual(wanted.slices, "0");
      assert.deepEqual(await load(harness, perfetto, trace, pictures && join(pictures, `${name}.png`)), wanted);
    });
  }
}
