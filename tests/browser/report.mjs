// `xrsim report` in a real browser: what the page shows and how it answers pointer and keys.
//
// Not part of `cargo test`. It needs Node 20, Debian's `chromium` (or CHROMIUM=/path/to/it), and in the
// folder that it is run from two npm packages, which are not committed:
//
//   npm install playwright-core axe-core
//   node …/tests/browser/report.mjs …/target/release/xrsim [folder for screenshots]

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const require = createRequire(join(process.cwd(), "x.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [xrsim, pictures] = process.argv.slice(2).map((path) => resolve(path));
const folder = mkdtempSync(join(tmpdir(), "xrsim-report-"));
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A results folder of a command. */
function resultsOf(command, name, ...args) {
  const out = join(folder, name);
  execFileSync(xrsim, [command, ...args, "--out", out], { stdio: "ignore" });
  return out;
}

/** A results folder of `xrsim run`. */
const results = (name, ...args) => resultsOf("run", name, ...args);

/** The page of a results folder. */
function report(from) {
  const page = `${from}.html`;
  execFileSync(xrsim, ["report", from, "-o", page], { stdio: "ignore" });
  return page;
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: FLAGS,
});
let failed = 0;

/** Opens a page and hands it over; anything on its console, and any request but for itself, is a failure. */
async function check(title, path, act, context = {}) {
  const tab = await (
    await browser.newContext({ viewport: { width: 1280, height: 900 }, ...context })
  ).newPage();
  const noise = [];
  tab.on("console", (message) => noise.push(`${message.type()}: ${message.text()}`));
  tab.on("pageerror", (error) => noise.push(String(error)));
  tab.on(
    "request",
    (request) => request.url() === `file://${path}` || noise.push(`request of ${request.url()}`),
  );
  try {
    await tab.goto(`file://${path}`);
    await tab.waitForSelector("main:not([hidden])", { timeout: 20000 });
    await act(tab);
    assert.deepEqual(noise, []);
    console.log(`ok      ${title}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${title}\n${error.stack}`);
  }
  await tab.context().close();
}

const heading = (tab, section, label) =>
  tab.locator(`#${section} thead th`).filter({ has: tab.getByRole("button", { name: label, exact: true }) });

/** Cells of a column, in the order of the table. */
async function column(tab, section, label) {
  const labels = await tab
    .locator(`#${section} thead button`)
    .evaluateAll((all) => all.map((button) => button.firstChild.textContent));
  const at = labels.indexOf(label) + 1;
  return tab.locator(`#${section} tbody tr > :nth-child(${at})`).allTextContents();
}

const numbers = (cells) => cells.map((cell) => Number(cell.replaceAll(",", "")));
const isSorted = (values, direction) =>
  values.every((value, at) => at === 0 || direction * (value - values[at - 1]) >= 0);

async function choose(tab, ...filters) {
  for (const [label, value] of filters) await combobox(tab, label).selectOption(value);
}

function combobox(tab, label) {
  return tab.getByRole("combobox", { name: label, exact: true });
}

/** Moves over a lane of the timeline until a request is explained; its terms and values. */
async function hover(tab, lane) {
  await tab.locator("#timeline canvas").scrollIntoViewIfNeeded();
  const box = await tab.locator("#timeline canvas").boundingBox();
  for (let share = 0.2; share < 0.95; share += 0.01) {
    await tab.mouse.move(box.x + box.width * share, box.y + 24 + 26 * (lane + 0.5));
    if (await tab.locator(".tip").isVisible()) return tip(tab);
  }
  assert.fail(`nothing in lane ${lane}`);
}

async function tip(tab) {
  const terms = await tab.locator(".tip dt").allTextContents();
  const values = await tab.locator(".tip dd").allTextContents();
  return Object.fromEntries(terms.map((term, at) => [term, values[at]]));
}

const suite = report(results("suite"));
const published = report(results("published", "--semantics", "mlsys2023"));
console.log(`page of 182 runs: ${statSync(suite).size} byte`);
assert.ok(statSync(suite).size < 2e6);

await check("loads from disk, with its load time", suite, async (tab) => {
  const { loadEventEnd, duration } = await tab.evaluate(() =>
    performance.getEntriesByType("navigation")[0].toJSON(),
  );
  const shown = await tab.evaluate(() => performance.now());
  console.log(
    `        loaded after ${Math.round(loadEventEnd || duration)} ms, everything drawn before ${Math.round(shown)} ms`,
  );
  assert.match(
    await tab.locator("#summary").textContent(),
    /^182 runs · 7 scenarios · [\d,]+ requests · .* seed 0 · xrsim \d/,
  );
  assert.equal(await tab.locator("#scores tbody tr").count(), 182);
});

await check("sorts by number and by text, in either direction", suite, async (tab) => {
  const sort = (label) => heading(tab, "scores", label).getByRole("button").click();
  await sort("Score");
  assert.ok(isSorted(numbers(await column(tab, "scores", "Score")), -1));
  assert.equal(await heading(tab, "scores", "Score").getAttribute("aria-sort"), "descending");
  await sort("Score");
  assert.ok(isSorted(numbers(await column(tab, "scores", "Score")), 1));
  await sort("Energy [mJ]");
  assert.ok(isSorted(numbers(await column(tab, "scores", "Energy [mJ]")), -1));
  assert.equal(await heading(tab, "scores", "Score").getAttribute("aria-sort"), "none");
  await sort("System");
  const systems = await column(tab, "scores", "System");
  assert.deepEqual(systems, systems.toSorted());
});

await check("filters by choice and by words", suite, async (tab) => {
  await choose(tab, ["Scenario", "AR_gaming"], ["PEs", "8192"]);
  assert.equal(await tab.locator("#scores tbody tr").count(), 13);
  await tab.getByLabel("Search").fill("j ar_gam");
  assert.deepEqual(await column(tab, "scores", "System"), ["J"]);
  await tab.getByLabel("Search").fill("nothing like this");
  assert.equal(await tab.locator("#scores tbody tr").count(), 0);
  await tab.getByRole("button", { name: "Show all" }).click();
  assert.equal(await tab.locator("#scores tbody tr").count(), 182);
});

for (const [name, page] of [
  ["principled", suite],
  ["mlsys2023", published],
]) {
  await check(`breaks every score of ${name} down into parts of 1`, page, async (tab) => {
    const bars = await tab
      .locator(".bars button")
      .evaluateAll((all) => all.map((bar) => [bar.title, bar.lastChild.textContent]));
    assert.equal(bars.length, 182);
    for (const [title, score] of bars) {
      const parts = title.split("\n").map((line) => Number(line.match(/-?[\d.]+$/)[0]));
      assert.ok(
        parts.every((part) => part >= -0.001),
        title,
      );
      assert.ok(Math.abs(parts.reduce((a, b) => a + b) - 1) < 0.003, `${title}: parts of 1, each rounded`);
      assert.ok(
        Math.abs(parts[0] - Number(score)) < 0.0011,
        `${title}: the mean over models is the score of the run, ${score}`,
      );
    }
  });
}

await check("shows models, timeline and latencies of the run that is chosen", suite, async (tab) => {
  await choose(tab, ["Scenario", "VR_gaming"], ["System", "K"], ["PEs", "4096"]);
  await tab.locator("#scores tbody button").click();
  for (const section of ["models", "timeline", "latency"]) {
    assert.equal(
      await tab.locator(`#${section} .chosen`).textContent(),
      "Chosen run: VR_gaming, K, 4096 PEs",
    );
  }
  assert.deepEqual((await column(tab, "models", "Model")).toSorted(), ["ES", "GE", "HT"]);
  const listed = numbers(await column(tab, "scores", "Released"))[0];
  assert.match(await tab.locator("#timeline .pager span").textContent(), new RegExp(` of ${listed}$`));
  assert.match(await tab.locator(".chart").getAttribute("aria-label"), new RegExp(`Of ${listed} requests`));
  await combobox(tab, "Run").selectOption({ label: "AR_gaming, J, 4096 PEs" });
  assert.equal(await tab.locator("#models .chosen").textContent(), "Chosen run: AR_gaming, J, 4096 PEs");
});

await check("explains a request under the pointer, zooms, and comes back", suite, async (tab) => {
  await combobox(tab, "Run").selectOption({ label: "AR_gaming, K, 4096 PEs" });
  const canvas = tab.locator("#timeline canvas");
  await canvas.scrollIntoViewIfNeeded();
  const onAccelerator = await hover(tab, 0);
  for (const term of [
    "Request",
    "Arrival",
    "Start",
    "End",
    "Deadline",
    "Slack",
    "Accelerator",
    "Energy",
    "Outcome",
    "Why",
  ]) {
    assert.ok(onAccelerator[term], term);
  }
  const onModel = await hover(tab, 2);
  assert.match(onModel.Request, /^HT \d+ /);
  const picture = () => canvas.evaluate((element) => element.toDataURL());
  await tab.mouse.move(0, 0);
  const whole = await picture();
  const box = await canvas.boundingBox();
  await tab.mouse.move(box.x + box.width * 0.4, box.y + 40);
  await tab.mouse.down();
  await tab.mouse.move(box.x + box.width * 0.5, box.y + 40, { steps: 3 });
  await tab.mouse.up();
  await tab.mouse.move(0, 0);
  assert.notEqual(await picture(), whole);
  await canvas.dblclick({ position: { x: 300, y: 12 } });
  await tab.mouse.move(0, 0);
  assert.equal(await picture(), whole);
});

await check("gives reasons that add up", suite, async (tab) => {
  await combobox(tab, "Run").selectOption({ label: "AR_gaming, K, 4096 PEs" });
  const [outcomes, reasons] = [
    await column(tab, "timeline", "Outcome"),
    await column(tab, "timeline", "Why"),
  ];
  const left = await column(tab, "timeline", "Left [ms]");
  assert.ok(outcomes.includes("executed, late") && outcomes.includes("dropped"));
  outcomes.forEach((outcome, at) => {
    if (outcome === "executed, late")
      assert.ok(reasons[at].startsWith(`${left[at].slice(1)} ms late; `), reasons[at]);
    if (outcome === "executed") assert.equal(reasons[at], `${left[at]} ms before its deadline`);
    if (outcome === "dropped")
      assert.match(reasons[at], /still waiting at its deadline|depends on was dropped/);
  });
});

await check("works without a pointer", suite, async (tab) => {
  await tab.keyboard.press("Tab");
  assert.equal(await tab.evaluate(() => document.activeElement.textContent), "Skip to the scores");
  await tab.keyboard.press("Enter");
  assert.equal(await tab.evaluate(() => document.activeElement.id), "scores");
  await tab.locator("#scores tbody button").first().focus();
  await tab.keyboard.press("ArrowDown");
  await tab.keyboard.press("ArrowDown");
  await tab.keyboard.press("Enter");
  assert.equal(
    await tab.locator("#models .chosen").textContent(),
    "Chosen run: social_interactionA, C, 4096 PEs",
  );
  assert.equal(await tab.locator("#scores tbody button[aria-pressed=true]").count(), 1);
  await tab.locator("#timeline canvas").focus();
  await tab.keyboard.press("ArrowRight");
  const first = await tip(tab);
  await tab.keyboard.press("ArrowRight");
  assert.notEqual((await tip(tab)).Request, first.Request);
  await tab.keyboard.press("ArrowDown");
  assert.match(await tab.locator("#timeline p.unseen").textContent(), /^Request: \w+ \d+ .*\. Deadline: /);
  await tab.keyboard.press("+");
  await tab.keyboard.press("0");
  await tab.keyboard.press("Escape");
  assert.ok(await tab.locator(".tip").isHidden());
});

await check(
  "answers a finger",
  suite,
  async (tab) => {
    const canvas = tab.locator("#timeline canvas");
    await canvas.scrollIntoViewIfNeeded();
    for (let x = 90; x < 380 && (await tab.locator(".tip").isHidden()); x += 4) {
      await canvas.tap({ position: { x, y: 24 + 26 * 1.5 } });
    }
    assert.match((await tip(tab)).Request, /^ES \d+ /);
  },
  { hasTouch: true, viewport: { width: 400, height: 900 } },
);

await check("draws latencies against the deadline, by share and by distance", suite, async (tab) => {
  const chart = tab.locator(".chart");
  await chart.scrollIntoViewIfNeeded();
  const box = await tab.locator(".u-over").boundingBox();
  await tab.mouse.move(box.x + box.width * 0.9, box.y + box.height / 2);
  const values = await tab.locator(".u-legend .u-value").allTextContents();
  assert.ok(
    values.slice(1).every((value) => /^\d+\.\d %$/.test(value)),
    values.join(),
  );
  const axis = () => tab.locator(".u-legend .u-label").first().textContent();
  assert.equal(await axis(), "Latency [% of the slack]");
  await tab.getByLabel("distance to the deadline").check();
  assert.equal(await axis(), "End after the deadline [ms]");
  await tab.locator("#latency").getByLabel("all runs listed above").check();
  assert.match(await chart.getAttribute("aria-label"), /Of 1\d,\d{3} requests/);
});

await check("tells where the results come from", suite, async (tab) => {
  await tab.locator("#provenance summary", { hasText: "Input files" }).click();
  assert.ok(await tab.getByText("scenarios/AR_gaming.yaml").isVisible());
  const text = await tab.locator("#provenance").textContent();
  assert.match(text, /score\.k_per_ms15/);
  assert.match(text, /scenarios\/AR_gaming\.yaml[0-9a-f]{64}/);
});

await check("changes its theme", suite, async (tab) => {
  const paper = () => tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  await tab.getByRole("button", { name: "Dark theme" }).click();
  assert.notEqual(await paper(), light);
  await tab.getByRole("button", { name: "Light theme" }).click();
  assert.equal(await paper(), light);
});

for (const colorScheme of ["light", "dark"]) {
  await check(
    `breaks no rule of accessibility that a program can check (${colorScheme})`,
    suite,
    async (tab) => {
      await tab.locator("details").evaluateAll((all) => all.forEach((details) => (details.open = true)));
      await tab.evaluate(axe);
      const { violations } = await tab.evaluate(() => axe.run());
      assert.deepEqual(
        violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`),
        [],
      );
    },
    { colorScheme, bypassCSP: true },
  );
  for (const width of [1280, 400]) {
    await check(
      `fits ${width} pixels (${colorScheme})`,
      suite,
      async (tab) => {
        assert.equal(await tab.evaluate(() => document.documentElement.scrollWidth), width);
        if (pictures)
          await tab.screenshot({
            path: join(pictures, `report-${colorScheme}-${width}.png`),
            fullPage: true,
          });
      },
      { colorScheme, viewport: { width, height: 900 } },
    );
  }
}

const HOSTILE = `</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">'`;
const hostile = results("hostile", "--scenario", "AR_gaming", "--pes", "4096");
for (const name of ["scores.csv", "models.csv", "inferences.csv"]) {
  const path = join(hostile, name);
  const quoted = `"${HOSTILE.replaceAll('"', '""')}"`;
  const text = readFileSync(path, "utf8")
    .replaceAll("AR_gaming", quoted)
    .replaceAll(",HT,", `,${quoted},`)
    .replaceAll(",WS-0,", `,${quoted},`);
  writeFileSync(path, text);
}
await check("shows hostile names as they are, and runs none", report(hostile), async (tab) => {
  await hover(tab, 0);
  assert.equal(await tab.evaluate(() => window.hacked), undefined);
  assert.equal((await column(tab, "scores", "Scenario"))[0], HOSTILE);
  assert.ok((await column(tab, "models", "Model")).includes(HOSTILE));
  assert.ok((await tab.locator(".u-legend .u-label").allTextContents()).includes(HOSTILE));
});

// Load tests

const tests = resultsOf("mlperf", "tests", "inference", "--curve", "5");
const testsPage = report(tests);
console.log(`page of 20 load tests: ${statSync(testsPage).size} byte`);

await check("shows load tests, with verdicts in words, and sorts them", testsPage, async (tab) => {
  assert.equal(await tab.locator("h1").textContent(), "MLPerf inference_v0.5 on A@4096");
  assert.match(await tab.locator("#summary").textContent(), /^20 tests · 2 not valid · rules of v0.5/);
  assert.equal(await tab.locator("#tests tbody tr").count(), 20);
  const verdicts = await column(tab, "tests", "Verdict");
  assert.deepEqual([...new Set(verdicts)].sort(), ["✓ VALID", "✗ INVALID"]);
  await heading(tab, "tests", "Mean power [W]").getByRole("button").click();
  const powers = numbers(await column(tab, "tests", "Mean power [W]"));
  assert.ok(isSorted(powers, -1));
  assert.equal(await tab.locator("#curves svg").count(), 5);
  const first = tab.locator("#summaries summary").first();
  await first.focus();
  await tab.keyboard.press("Enter");
  assert.match(await tab.locator("#summaries pre").textContent(), /Result is : VALID/);
});

for (const colorScheme of ["light", "dark"]) {
  await check(
    `breaks no rule of accessibility with load tests, and fits (${colorScheme})`,
    testsPage,
    async (tab) => {
      if (pictures) {
        await tab.screenshot({ path: join(pictures, `tests-${colorScheme}.png`), fullPage: true });
      }
      await tab.locator("details").evaluateAll((all) => all.forEach((details) => (details.open = true)));
      await tab.waitForSelector("#summaries pre");
      await tab.evaluate(axe);
      const { violations } = await tab.evaluate(() => axe.run());
      assert.deepEqual(
        violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`),
        [],
      );
      for (const width of [1280, 400]) {
        await tab.setViewportSize({ width, height: 900 });
        assert.equal(await tab.evaluate(() => document.documentElement.scrollWidth), width);
      }
    },
    { colorScheme, bypassCSP: true },
  );
}

const suiteOfTests = join(tests, "suite.csv");
const evil = HOSTILE.replaceAll("/", "");
for (const load of ["single-stream", "multi-stream", "server", "offline"]) {
  const from = join(tests, "machine_translation", load);
  cpSync(from, join(tests, evil, load), { recursive: true });
}
rmSync(join(tests, "mlperf.json"));
writeFileSync(
  suiteOfTests,
  readFileSync(suiteOfTests, "utf8").replaceAll("machine_translation", `"${evil.replaceAll('"', '""')}"`),
);
await check("shows hostile names of tasks as they are, and runs none", report(tests), async (tab) => {
  assert.equal(await tab.evaluate(() => window.hacked), undefined);
  assert.ok((await column(tab, "tests", "Task")).includes(evil));
  assert.equal(await tab.locator("main img").count(), 0);
});

await browser.close();
rmSync(folder, { recursive: true });
console.log(failed === 0 ? "all well" : `${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
