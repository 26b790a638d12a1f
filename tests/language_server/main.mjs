// Checks of the schemas in a real language server. `|` marks the cursor in the texts below.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Server } from "./server.mjs";

process.env.XRSIM_CACHE = "";
const [xrsim, tools, root] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "xrsim-language-server-"));
const quiet = { stdio: ["ignore", "pipe", "ignore"] };
execFileSync(xrsim, ["schema", "--all", "--out", join(folder, "schemas")], quiet);
const server = await Server.start(tools);
let [passed, failed, opened] = [0, 0, 0];

async function check(title, act) {
  try {
    await act();
    passed += 1;
    console.log(`ok      ${title}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${title}\n        ${error.message.replaceAll("\n", "\n        ")}`);
  }
}

/** A document with the line that names a schema, its cursor, and its problems. */
async function open(schema, marked) {
  const line = `# yaml-language-server: $schema=${join(folder, "schemas", `${schema}.schema.json`)}\n`;
  const at = (line + marked).indexOf("|");
  const text = (line + marked).replace("|", "");
  const before = text.slice(0, Math.max(at, 0)).split("\n");
  const place = { line: before.length - 1, character: before.at(-1).length };
  const path = join(folder, `${++opened}.yaml`);
  writeFileSync(path, text);
  return { path, place, problems: await server.open(path, text) };
}

async function completes(schema, marked, ...expected) {
  const { path, place } = await open(schema, marked);
  const labels = await server.complete(path, place);
  for (const label of expected) assert.ok(labels.includes(label), `no ${label} in ${labels}`);
}

async function explains(schema, marked, ...expected) {
  const { path, place } = await open(schema, marked);
  const text = (await server.hover(path, place)).replaceAll("\\", "");
  for (const part of expected) assert.ok(text.includes(part), `no "${part}" in "${text}"`);
}

/** Lines in which `xrsim check` finds problems. */
function judged(path) {
  const { stderr } = spawnSync(xrsim, ["check", path], { encoding: "utf8" });
  return [...stderr.matchAll(/\.yaml:(\d+):\d+: /g)].map(([, line]) => Number(line));
}

/** The server marks the lines that `xrsim check` names, and no others. */
async function marks(schema, text) {
  const { path, problems } = await open(schema, text);
  const inOrder = (lines) => [...new Set(lines)].sort((a, b) => a - b);
  const found = inOrder(problems.map(({ line }) => line));
  const expected = inOrder(judged(path));
  assert.ok(expected.length > 0, "xrsim check finds no problem");
  assert.deepEqual(found, expected, JSON.stringify(problems));
}

const sweep = "sweep:\n  name: mixes\n";
const platform = "platform:\n  name: mine\n  clock_mhz: 1000\n";
const search = "search:\n  name: mine\n";

for (const schema of ["sweep", "xrsim"]) {
  await check(`${schema}: completes keys of a sweep`, () =>
    completes(schema, `${sweep}  |`, "grid", "points", "replications"));
  await check(`${schema}: completes a setting`, () =>
    completes(schema, `${sweep}  grid:\n    sc|`, "scenario", "score.k_per_ms", "scheduler"));
  await check(`${schema}: completes the name of a scenario`, () =>
    completes(schema, `${sweep}  grid:\n    scenario: |\n`, "AR_gaming", "VR_gaming"));
  await check(`${schema}: completes the name of a scheduler in a list`, () =>
    completes(schema, `${sweep}  grid:\n    scheduler:\n      - |\n`, "edf", "latency-greedy"));
}
await check("xrsim: completes kinds", () => completes("xrsim", "|", "scenario", "sweep", "technology"));
await check("scenario: completes a network", () =>
  completes("scenario", "scenario:\n  name: s\n  models:\n    - network: |\n", "HT", "resnet50"));
await check("network: completes an operator", () =>
  completes("network", "network:\n  name: n\n  layers:\n    - |\n", "conv", "softmax", "repeat"));
await check("system: completes a dataflow", () =>
  completes("system", "system:\n  name: s\n  accelerators:\n    - name: a\n      dataflow: |\n", "WS", "OS"));
await check("search: completes a quantity", () =>
  completes("search", `${search}  objective:\n    maximise: |\n`, "score_executed_mean"));

await check("sweep: explains a setting with its unit and range", () =>
  explains("sweep", `${sweep}  grid:\n    score.k_per|_ms: 5\n`, "real-time score", "[1/ms]", "from 0"));
await check("platform: explains a clock with its unit and range", () =>
  explains("platform", "platform:\n  name: mine\n  clock|_mhz: 1000\n", "Clock [MHz]", "from 0.000001 to 1000000"));
await check("scenario: explains a rate", () =>
  explains("scenario", "scenario:\n  name: s\n  models:\n    - network: HT\n      fp|s: 30\n", "[frames/s]"));
await check("network: explains a kernel", () =>
  explains("network", "network:\n  name: n\n  layers:\n    - conv:\n        r|: 3\n", "Kernel rows"));
await check("mlperf: explains a bound", () =>
  explains("mlperf", "mlperf:\n  name: m\n  loads:\n    server:\n      bound|_ms: 15\n", "Latency bound [ms]"));

const wrong = {
  sweep: ["sweep:\n  name: a\n  grd:\n    pes: 1024\n  replications: 2\n", "sweep:\n  name: a\n  grid:\n    scenari: AR_gaming\n", `${sweep}  replications: 0\n`],
  scenario: ["scenario:\n  name: s\n  models:\n    - network: HT\n      fsp: 30\n      fps: 30\n", "scenario:\n  name: s\n  models:\n    - network: HT\n      fps: 0\n"],
  platform: [`${platform}  energy: {mac_nj: 1, scratchpad_per_mac: 1, shared_memory_per_mac: 6, dram_per_mac: 75}\n  colour: red\n  budget:\n    noc_bandwidth_bytes_per_cycle: 256\n    shared_memory_kib: 8192\n    scratchpad_kib: 8\n    dram_bandwidth_bytes_per_cycle: 0\n`],
  network: ["network:\n  name: n\n  layers:\n    - conv: {k: 1, c: 1, y: 8, x: 8, r: 1, s: 1}\n    - conv:\n        k: 1\n        c: 1\n        y: 8\n        x: 8\n        r: 1\n        s: 1\n        strde: 2\n"],
  style: ["style:\n  name: s\n  class: HAD\n  accelerators:\n    - {dataflow: WS, pe_share: 3}\n"],
  search: [`${search}  space:\n    dataflows: [WS]\n    accelerator: 2\n`],
  technology: ["technology:\n  name: t\n  node_nm: 28\n  area: {pe_um: 3}\n  sources: {pe_um2: choice}\n"],
};
for (const [kind, texts] of Object.entries(wrong)) {
  for (const [index, text] of texts.entries()) {
    await check(`${kind}: marks the line that xrsim check names (${index + 1})`, () => marks(kind, text));
    await check(`${kind}: marks it by the schema of all kinds (${index + 1})`, () => marks("xrsim", text));
  }
}

await check("every file that comes with the program has no problem", async () => {
  const folders = ["dataflows", "hw_configs", "models", "scenarios"];
  let n = 0;
  for (const name of folders) {
    for (const entry of readdirSync(join(root, name), { recursive: true })) {
      if (!entry.endsWith(".yaml")) continue;
      const { problems } = await open("xrsim", readFileSync(join(root, name, entry), "utf8").replaceAll("|", "/"));
      // An anchor without an alias is allowed.
      const others = problems.filter(({ message }) => !message.startsWith("Unused anchor"));
      assert.deepEqual(others, [], `${name}/${entry}`);
      n += 1;
    }
  }
  assert.ok(n >= 80, `${n} files`);
});

await check("`xrsim show NAME --schema` writes the line that the server reads", async () => {
  const schema = join(folder, "schemas/sweep.schema.json");
  const text = execFileSync(xrsim, ["show", "pe_scaling", "--schema", schema], { encoding: "utf8", ...quiet });
  const path = join(folder, "shown.yaml");
  writeFileSync(path, text);
  assert.deepEqual(await server.open(path, text), []);
  const broken = text.replace("grid:", "grd:");
  const line = broken.split("\n").findIndex((it) => it.includes("grd:")) + 1;
  const problems = await server.open(join(folder, "broken.yaml"), broken);
  assert.ok(problems.some((it) => it.line === line), JSON.stringify(problems));
});

server.stop();
rmSync(folder, { recursive: true });
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exitCode = failed > 0 ? 1 : 0;
