// The manual, opened from its folder.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { fits, isAccessible, WIDE } from "./rules.mjs";

/** Width of the narrowest window. */
const NARROWEST = 320;

/** A page of each kind. */
const KINDS = {
  start: "index.html",
  words: "reference/terms.html",
  command: "reference/commands/run.html",
  settings: "reference/settings.html",
  columns: "reference/output-files.html",
  validation: "reference/validation.html",
  "a folder of files": "reference/data/models.html",
  formulas: "explanation/cost-model-loop-nest.html",
};

/** Opens a page of the manual; nothing but files of its folder may be loaded, and nothing may go wrong. */
async function open(harness, site, page, context, act, { isKind = false } = {}) {
  await harness.tab(context, async (tab, noise) => {
    await tab.goto(`file://${join(site, page)}`);
    await tab.waitForSelector("mdbook-sidebar-scrollbox ol", { state: "attached" });
    await act(tab);
    const other = noise.filter((it) => !it.startsWith(`request of file://${site}/`) && !it.startsWith("request of data:"));
    assert.deepEqual(other, []);
    // Its messages are not those of the page: it asks for style sheets, which files may not be asked for.
    if (isKind) await isAccessible(tab, harness.axe);
  });
}

/** Every kind of page in light and dark, wide and narrow. */
function checkPages(harness, site, pictures) {
  for (const [kind, page] of Object.entries(KINDS)) {
    for (const colorScheme of ["light", "dark"]) {
      for (const width of [WIDE, NARROWEST]) {
        const context = { colorScheme, viewport: { width, height: 900 } };
        harness.check(`the manual's page of ${kind} holds all rules, ${colorScheme}, ${width} px`, () =>
          open(harness, site, page, context, async (tab) => {
            if (pictures) {
              const name = `manual ${kind} ${colorScheme} ${width}.png`.replaceAll(" ", "-");
              await tab.screenshot({ path: join(pictures, name) });
            }
            const isDark = await tab.evaluate(() => document.documentElement.classList.contains("navy"));
            assert.equal(isDark, colorScheme === "dark", "the page follows the colours of the system");
            await fits(tab, width);
          }, { isKind: true }),
        );
      }
    }
  }
}

/** Words that a reader looks up. */
const WORDS = ["deadline", "late", "dropped frame", "QoE", "energy", "RS", "DR", "pareto", "PD", "UB2"];

/** The words of a result, and those of the page that it leads to. */
function checkSearch(harness, site) {
  harness.check("the manual's search finds jitter from a folder, without a network", () =>
    open(harness, site, "index.html", {}, async (tab) => {
      await tab.locator("#mdbook-search-toggle").click();
      await tab.locator("#mdbook-searchbar").pressSequentially("jitter");
      const results = tab.locator("#mdbook-searchresults a");
      await results.first().waitFor();
      await results.first().click();
      await tab.waitForURL(/highlight=jitter/);
      assert.match(await tab.locator("main").innerText(), /jitter/i);
    }),
  );
  for (const word of WORDS) {
    harness.check(`the manual's search for ${word} finds its meaning among the first hits`, () =>
      open(harness, site, "index.html", {}, async (tab) => {
        await tab.locator("#mdbook-search-toggle").click();
        await tab.locator("#mdbook-searchbar").pressSequentially(word);
        const results = tab.locator("#mdbook-searchresults a");
        await results.first().waitFor();
        const first = await results.evaluateAll((all) => all.slice(0, 3).map((link) => link.getAttribute("href")));
        assert.ok(first.some((link) => link.includes("reference/terms.html")), first.join(" "));
      }),
    );
  }
  harness.check("the manual is read without scripts", () =>
    harness.tab({ javaScriptEnabled: false }, async (tab) => {
      await tab.goto(`file://${join(site, "reference/settings.html")}`);
      assert.match(await tab.locator("main h1").innerText(), /Settings/);
      assert.ok((await tab.locator("main td").count()) > 50);
    }),
  );
}

/** All checks of the manual. */
export function checkManual(harness, site, pictures) {
  for (const page of Object.values(KINDS)) assert.ok(existsSync(join(site, page)), `there is no ${page} in ${site}`);
  checkPages(harness, site, pictures);
  checkSearch(harness, site);
}
