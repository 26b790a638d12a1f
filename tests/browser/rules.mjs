// Rules for every page of the program.

import assert from "node:assert/strict";

export const WIDE = 1280;
export const NARROW = 390;

/** Opens all folds, including nested ones. */
export async function unfold(tab) {
  await tab.evaluate(async () => {
    for (let closed; (closed = document.querySelector("details:not([open])")); ) {
      closed.open = true;
      await new Promise((done) => setTimeout(done));
    }
    // Folds are filled by the event of their opening.
    await new Promise((done) => setTimeout(done, 50));
  });
  if ((await tab.locator("details:not([open])").count()) > 0) await unfold(tab);
}

/** Texts that a page must not show: gaps, and the forms of unexpected values. */
async function shows(tab) {
  const wrong = await tab.evaluate(() => {
    const wrong = [];
    const body = document.body.innerText;
    for (const word of [/\bundefined\b/, /\bNaN\b/, /\[object \w+\]/, /\bInfinity\b/, /cannot be shown/, /Reading the results/]) {
      if (word.test(body)) wrong.push(`the page says ${word}`);
    }
    for (const element of document.querySelectorAll("main td, main th, main h2, main h3, main li, main summary, main option")) {
      if (element.textContent.trim() === "") wrong.push(`an empty ${element.tagName} in ${element.closest("section")?.id}`);
    }
    for (const section of document.querySelectorAll("main section")) {
      const drawn = section.querySelectorAll("tbody tr, canvas, svg, pre, .bars li, .points li, .note").length;
      if (drawn === 0) wrong.push(`nothing in section ${section.id}`);
    }
    for (const link of document.querySelectorAll("nav a")) {
      if (!document.querySelector(link.getAttribute("href"))) wrong.push(`${link.textContent} leads nowhere`);
    }
    for (const table of document.querySelectorAll("main .table table")) {
      const heads = table.querySelectorAll("thead th").length;
      for (const row of table.querySelectorAll("tbody tr"))
        if (row.children.length !== heads) wrong.push(`${row.children.length} cells under ${heads} headings`);
    }
    return wrong;
  });
  assert.deepEqual(wrong, []);
}

/** Nothing extends beyond the window; wider tables scroll by themselves, and only in narrow windows. */
export async function fits(tab, width) {
  const found = await tab.evaluate(() => ({
    page: document.documentElement.scrollWidth,
    tables: [...document.querySelectorAll(".scroll")]
      .filter((scroll) => scroll.scrollWidth > scroll.clientWidth)
      .map((scroll) => {
        const visible = scroll.getBoundingClientRect().right;
        const cut = [...scroll.querySelectorAll("thead th")].filter(
          (heading) => heading.getBoundingClientRect().right > visible + 1,
        );
        return `${scroll.getAttribute("aria-label")}: ${cut.map((heading) => heading.innerText).join(", ")}`;
      }),
    over: [...document.querySelectorAll("body *")]
      .filter((element) => element.checkVisibility() && !element.closest(".scroll, .table-wrapper, .unseen, .skip, .links, pre, svg"))
      .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
      .map((element) => `${element.tagName}.${element.className}`),
  }));
  assert.equal(found.page, width, "the page is as wide as the window");
  assert.deepEqual(found.over, [], "nothing hangs over the right edge");
  if (width === WIDE) assert.deepEqual(found.tables, [], "no column is cut off");
}

/** No cell overlaps its neighbours. */
async function keepsToCells(tab) {
  const over = await tab.evaluate(() =>
    [...document.querySelectorAll("main td, main th")]
      .filter((cell) => cell.checkVisibility() && cell.scrollWidth > cell.clientWidth + 1)
      .map((cell) => `${cell.scrollWidth} px in ${cell.clientWidth}: ${cell.textContent.slice(0, 60)}`),
  );
  assert.deepEqual(over.slice(0, 3), []);
}

/** Rows of a table that are checked for accessibility; hundreds of rows have the same form. */
const ROWS = 20;

export async function isAccessible(tab, axe) {
  await tab.evaluate(axe);
  await tab.evaluate((rows) => {
    for (const row of document.querySelectorAll(`main tbody tr:nth-child(n + ${rows + 1}), .bars li:nth-child(n + ${rows + 1})`)) row.remove();
  }, ROWS);
  const { violations } = await tab.evaluate(() => axe.run({ resultTypes: ["violations"] }));
  assert.deepEqual(
    violations.map(({ id, nodes }) => `${id}: ${nodes[0].html} ${nodes[0].failureSummary}`),
    [],
  );
}

/** All rules, in one tab. */
export async function holdsAllRules(tab, axe, width) {
  await unfold(tab);
  await shows(tab);
  await fits(tab, width);
  await keepsToCells(tab);
  if (axe) await isAccessible(tab, axe);
}
