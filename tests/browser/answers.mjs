// Reactions of pages to pointer and keys, and correctness of their contents.

import assert from "node:assert/strict";
import { statSync } from "node:fs";

import { HOSTILE, HOSTILE_FOLDERS } from "./pages.mjs";

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

/** Width of a sheet of paper across, without its margins [px]. */
const PAPER = 1047;

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

/** Checks of pages of runs and of load tests. */
export function checkAnswers(harness, pages) {
  const { study, curves } = pages;
  const published = pages["published study"];
  harness.page("loads from disk, with its load time", study, async (tab) => {
    assert.ok(statSync(study).size < 2e6);
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

  harness.page("answers first: the best system, and one draw without an interval", study, async (tab) => {
    assert.equal(await tab.locator("main section").first().getAttribute("id"), "answer");
    assert.match(await tab.locator("#answer .answer").first().textContent(), /^XRBench score~: .* has the highest score of 13 systems with 4096 PEs, 0\.\d{3}/);
    assert.match(await tab.locator("#summary").textContent(), /one draw of triggers and jitter; no interval/);
    assert.equal(await tab.locator("#answer tbody tr").count(), 16, "seven scenarios and their mean, in two sizes");
    assert.match(await tab.locator(".command code").textContent(), /^xrsim run --flexibility none --out results$/);
    const numbers = await tab.locator("#answer tbody tr > :nth-child(2)").allTextContents();
    assert.ok(numbers.every((text) => /^[01]\.\d{3}$/.test(text)), numbers.join());
  });

  harness.page("has the run, the order and the filters in its address, and goes back", study, async (tab) => {
    await choose(tab, ["Scenario", "AR_gaming"]);
    await combobox(tab, "Run").selectOption({ label: "AR_gaming, K, 4096 PEs" });
    await heading(tab, "scores", "Score").getByRole("button").click();
    const hash = () => tab.evaluate(() => location.hash);
    assert.equal(await hash(), "#run=AR_gaming,K,4096&sort=score,down&scenario=AR_gaming");
    const chosen = () => tab.locator("#models .chosen").textContent();
    await tab.getByRole("link", { name: "Models" }).click();
    await tab.waitForFunction(() => location.hash.startsWith("#models&run="));
    await tab.reload();
    await tab.waitForFunction(() => !/^Reading/.test(document.getElementById("summary").textContent));
    assert.equal(await chosen(), "Chosen run: AR_gaming, K, 4096 PEs");
    assert.equal(await tab.locator("#scores tbody tr").count(), 26);
    assert.equal(await heading(tab, "scores", "Score").getAttribute("aria-sort"), "descending");
    for (let steps = 0; steps < 5 && (await hash()) !== ""; steps += 1) await tab.goBack();
    assert.equal(await chosen(), "Chosen run: social_interactionA, A, 4096 PEs");
    assert.equal(await tab.locator("#scores tbody tr").count(), 182);
  });

  harness.page("begins the page of a day with the charge, and has the day as a figure and the energy by item", pages.day, async (tab) => {
    assert.match(await tab.locator("#summary").textContent(), /^Battery: empty after \d\.\d\d h of 3\.17 h\.$/);
    const told = await tab.locator("#answer li").allTextContents();
    const begins = ["Power: ", "Heat: ", "Score: ", "Before throttling, "];
    assert.deepEqual(told.map((line, at) => line.startsWith(begins[at])), begins.map(() => true), told.join("\n"));
    const shown = (await tab.locator("#course svg text").allTextContents()).map((text) => text.trim());
    for (const text of ["Temperature [C]", "Power [W]", "skin trip", "highest clock", "social_interactionA"]) {
      assert.ok(shown.includes(text), text);
    }
    const throttled = await column(tab, "phases", "Throttled");
    assert.ok(throttled.some((share) => parseFloat(share) > 90), throttled.join());
    const shares = (await column(tab, "energy", "Share")).map(parseFloat);
    assert.ok(Math.abs(shares.reduce((a, b) => a + b) - 100) < 0.5, shares.join());
  });

  for (const [kind, path] of Object.entries(pages)) {
    const context = { viewport: { width: PAPER, height: 700 }, colorScheme: "dark" };
    harness.page(`prints ${kind} with its colours, and cuts nothing off`, path, async (tab) => {
      await tab.emulateMedia({ media: "print" });
      const found = await tab.evaluate(() => ({
        adjust: getComputedStyle(document.querySelector("main section")).printColorAdjust,
        paper: getComputedStyle(document.body).backgroundColor,
        page: document.documentElement.scrollWidth,
        cut: [...document.querySelectorAll(".scroll")]
          .filter((scroll) => scroll.checkVisibility() && scroll.scrollWidth > scroll.clientWidth + 1)
          .map((scroll) => `${scroll.getAttribute("aria-label")}: ${scroll.scrollWidth} of ${scroll.clientWidth} px`),
      }));
      assert.equal(found.adjust, "exact");
      assert.equal(found.paper, "rgb(255, 255, 255)");
      assert.deepEqual(found.cut, []);
      assert.ok(found.page <= PAPER, `${found.page} px`);
      assert.match((await tab.pdf({ preferCSSPageSize: true })).subarray(0, 5).toString(), /^%PDF-/);
    }, context);
  }

  harness.page("sorts by number and by text, in either direction", study, async (tab) => {
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

  harness.page("filters by choice and by words", study, async (tab) => {
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
    ["principled", study],
    ["mlsys2023", published],
  ]) {
    harness.page(`breaks every score of ${name} down into parts of 1`, page, async (tab) => {
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

  harness.page("shows models, timeline and latencies of the run that is chosen", study, async (tab) => {
    await choose(tab, ["Scenario", "VR_gaming"], ["System", "K"], ["PEs", "4096"]);
    await tab.locator("#scores tbody button").click();
    for (const section of ["models", "timeline", "latency"]) {
      assert.equal(
        await tab.locator(`#${section} .chosen`).textContent(),
        "Chosen run: VR_gaming, K, 4096 PEs",
      );
    }
    assert.deepEqual((await column(tab, "models", "Model")).toSorted(), ["ES", "GE", "HT"]);
    const listed = numbers(await column(tab, "scores", "Requests"))[0];
    assert.match(await tab.locator("#timeline .pager span").textContent(), new RegExp(` of ${listed}$`));
    assert.match(await tab.locator(".chart").getAttribute("aria-label"), new RegExp(`Of ${listed} requests`));
    await combobox(tab, "Run").selectOption({ label: "AR_gaming, J, 4096 PEs" });
    assert.equal(await tab.locator("#models .chosen").textContent(), "Chosen run: AR_gaming, J, 4096 PEs");
  });

  harness.page("explains a request under the pointer, zooms, and comes back", study, async (tab) => {
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

  harness.page("gives reasons that add up", study, async (tab) => {
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

  harness.page("works without a pointer", study, async (tab) => {
    await tab.keyboard.press("Tab");
    assert.equal(await tab.evaluate(() => document.activeElement.textContent), "Skip to the answer");
    await tab.keyboard.press("Enter");
    assert.equal(await tab.evaluate(() => document.activeElement.id), "answer");
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

  harness.page(
    "answers a finger",
    study,
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

  harness.page("draws latencies against the deadline, by share and by distance", study, async (tab) => {
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
    assert.equal(await axis(), "Response time [% of the slack]");
    await tab.getByLabel("distance to the deadline").check();
    assert.equal(await axis(), "End after the deadline [ms]");
    await tab.locator("#latency").getByLabel("all runs listed above").check();
    assert.match(await chart.getAttribute("aria-label"), /Of 1\d,\d{3} requests/);
  });

  harness.page("tells where the results come from", study, async (tab) => {
    await tab.locator("#provenance summary", { hasText: "Input files" }).click();
    assert.ok(await tab.getByText("scenarios/AR_gaming.yaml").isVisible());
    const text = await tab.locator("#provenance").textContent();
    assert.match(text, /score\.k_per_ms15/);
    assert.match(text, /scenarios\/AR_gaming\.yaml[0-9a-f]{64}/);
  });

  harness.page("changes its theme", study, async (tab) => {
    const paper = () => tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper();
    await tab.getByRole("button", { name: "Dark theme" }).click();
    assert.notEqual(await paper(), light);
    await tab.getByRole("button", { name: "Light theme" }).click();
    assert.equal(await paper(), light);
  });

  harness.page("shows hostile names as they are, and runs none", pages["hostile runs"], async (tab) => {
    const [script, formula, backwards, long, escape] = HOSTILE;
    await hover(tab, 0);
    assert.equal(await tab.evaluate(() => window.hacked), undefined);
    assert.equal(await tab.locator("main img, body > script:not([id]):not([type]) ~ img").count(), 0);
    assert.equal((await column(tab, "scores", "Scenario"))[0], script);
    assert.deepEqual(await column(tab, "scores", "System"), [long, backwards]);
    assert.deepEqual((await column(tab, "models", "Model")).sort(), [script, formula, long].sort());
    assert.ok((await tab.locator("#summary").textContent()).includes(escape));
    assert.ok((await tab.locator(".u-legend .u-label").allTextContents()).includes(script));
  });

  harness.page("shows load tests, with verdicts in words, and sorts them", curves, async (tab) => {
    assert.equal(await tab.locator("h1").textContent(), "MLPerf inference_v0.5 on A@4096");
    assert.match(await tab.locator("#summary").textContent(), /^20 tests · 3 not valid · rules of v0.5/);
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

  harness.page("shows hostile names of tasks as they are, and runs none", pages["hostile load tests"], async (tab) => {
    assert.equal(await tab.evaluate(() => window.hacked), undefined);
    assert.deepEqual([...new Set(await column(tab, "tests", "Task"))], HOSTILE_FOLDERS);
    assert.equal(await tab.locator("main img").count(), 0);
  });
}
