// A browser, its pages, and the results of the checks.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { join } from "node:path";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Time limit for a page [ms]; machines may be slow. */
const PATIENCE = 300_000;

/** Opens a page, which must show its results. */
export async function showsResults(tab, path) {
  await tab.goto(`file://${path}`);
  await tab.waitForFunction(() => !/^Reading/.test(document.getElementById("summary").textContent));
  const summary = await tab.locator("#summary").textContent();
  assert.ok(await tab.locator("main").isVisible(), summary);
}

export class Harness {
  #browser;
  #words;
  #checks = [];

  constructor(browser, axe, { words }) {
    Object.assign(this, { axe, passed: 0, failed: 0 });
    this.#browser = browser;
    this.#words = words;
  }

  /** A harness with the packages in a folder. */
  static async start(tools, options) {
    const require = createRequire(join(tools, "x.js"));
    const browser = await require("playwright-core").chromium.launch({
      executablePath: process.env.CHROMIUM,
      args: FLAGS,
      timeout: PATIENCE,
    });
    const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
    return new Harness(browser, axe, options);
  }

  stop() {
    return this.#browser.close();
  }

  /** Adds a check if it is wanted. */
  check(title, act) {
    if (this.#words.length > 0 && !this.#words.some((word) => title.includes(word))) return;
    this.#checks.push([title, act]);
  }

  /** Runs all checks in order, as many at once as there are processors. */
  async run() {
    const left = this.#checks.values();
    const work = async () => {
      for (const [title, act] of left) await this.#run(title, act);
    };
    await Promise.all(Array.from({ length: availableParallelism() }, work));
  }

  async #run(title, act) {
    const started = performance.now();
    try {
      await act();
      this.passed += 1;
      console.log(`ok      ${title} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
    } catch (error) {
      this.failed += 1;
      console.log(`FAILED  ${title}\n${error.stack}`);
    }
  }

  /** Passes a new tab to `act` and collects its messages and requests. */
  async tab(context, act) {
    const own = await this.#browser.newContext({ viewport: { width: 1280, height: 900 }, ...context });
    own.setDefaultTimeout(PATIENCE);
    const tab = await own.newPage();
    const noise = [];
    tab.on("console", (message) => noise.push(`${message.type()}: ${message.text()}`));
    tab.on("pageerror", (error) => noise.push(String(error)));
    tab.on("request", (request) => noise.push(`request of ${request.url()}`));
    try {
      return await act(tab, noise);
    } finally {
      await own.close();
    }
  }

  /** Opens a page of the program: it must show its results without messages, and load nothing else. */
  open(path, context, act) {
    return this.tab(context, async (tab, noise) => {
      await showsResults(tab, path);
      await act(tab);
      assert.deepEqual(
        noise.filter((it) => it !== `request of file://${path}`),
        [],
      );
    });
  }

  /** `check` of an opened page. */
  page(title, path, act, context = {}) {
    this.check(title, () => this.open(path, context, act));
  }
}
