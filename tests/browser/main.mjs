// All checks in a browser; started by `run`.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { checkAnswers } from "./answers.mjs";
import { Harness } from "./harness.mjs";
import { checkLacking } from "./lacking.mjs";
import { checkManual } from "./manual.mjs";
import { Pages } from "./pages.mjs";
import { checkTraces } from "./perfetto.mjs";
import { holdsAllRules, NARROW, WIDE } from "./rules.mjs";

const { values: options, positionals: words } = parseArgs({
  allowPositionals: true,
  options: Object.fromEntries(["xrsim", "manual", "tools", "perfetto", "pictures"].map((name) => [name, { type: "string" }])),
});

/** Every page in light and dark, wide and narrow. */
function checkRules(harness, pages, pictures) {
  for (const [kind, path] of Object.entries(pages)) {
    for (const colorScheme of ["light", "dark"]) {
      for (const width of [WIDE, NARROW]) {
        const look = async (tab) => {
          if (pictures) {
            const name = `${kind} ${colorScheme} ${width}.png`.replaceAll(" ", "-");
            await tab.screenshot({ path: join(pictures, name), fullPage: true });
          }
          await holdsAllRules(tab, harness.axe, width);
        };
        // The policy of the page would keep the rules of accessibility out.
        const context = { colorScheme, viewport: { width, height: 900 }, bypassCSP: true };
        harness.page(`the page of ${kind} holds all rules, ${colorScheme}, ${width} px`, path, look, context);
      }
    }
  }
}

const folder = mkdtempSync(join(tmpdir(), "xrsim-browser-"));
const harness = await Harness.start(options.tools, { words });
try {
  const pictures = options.pictures && resolve(options.pictures);
  if (pictures) mkdirSync(pictures, { recursive: true });
  const maker = new Pages(options.xrsim, folder);
  const pages = maker.all();
  checkLacking(harness, pages);
  checkRules(harness, pages, pictures);
  checkAnswers(harness, pages);
  checkManual(harness, options.manual, pictures);
  checkTraces(harness, maker, { perfetto: options.perfetto, pictures });
  await harness.run();
} finally {
  await harness.stop();
  rmSync(folder, { recursive: true });
}
const seconds = Math.round(performance.now() / 1000);
console.log(`${harness.passed} passed, ${harness.failed} failed in ${seconds} s`);
process.exitCode = harness.failed > 0 || harness.passed === 0 ? 1 : 0;
