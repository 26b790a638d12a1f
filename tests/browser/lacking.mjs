// Sensitivity of the checks: every key of the data of every page is removed once, and the page must fail. A page
// that does not fail without a key does not show it.

import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { deflateRawSync, inflateRawSync } from "node:zlib";

import { showsResults } from "./harness.mjs";
import { holdsAllRules, WIDE } from "./rules.mjs";

const DATA = /(<script type="text\/plain" id="results">)([^<]*)(<)/;

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** Paths of all keys, `[]` for the elements of a list. */
function keys(value, path = "") {
  if (Array.isArray(value)) return new Set(value.slice(0, 50).flatMap((it) => [...keys(it, `${path}[]`)]));
  if (!isObject(value)) return new Set();
  const own = Object.entries(value);
  return new Set(own.flatMap(([key, it]) => [`${path}.${key}`, ...keys(it, `${path}.${key}`)]));
}

/** The value without a key. */
function without(value, missing, path = "") {
  if (Array.isArray(value)) return value.map((it) => without(it, missing, `${path}[]`));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => `${path}.${key}` !== missing);
  return Object.fromEntries(kept.map(([key, it]) => [key, without(it, missing, `${path}.${key}`)]));
}

/** A page with other data. */
function withData(html, change) {
  return html.replace(DATA, (_, before, data, after) => {
    const text = inflateRawSync(Buffer.from(data, "base64")).toString();
    return before + deflateRawSync(JSON.stringify(change(JSON.parse(text)))).toString("base64") + after;
  });
}

/** Whether a page holds all rules; it is opened in a tab that others were opened in. */
async function holds(tab, noise, path) {
  noise.length = 0;
  try {
    await showsResults(tab, path);
    await holdsAllRules(tab, null, WIDE);
    return noise.every((it) => it === `request of file://${path}`);
  } catch {
    return false;
  }
}

/** Removes key after key of a page; the original page passes before and after. */
async function checkKeys(harness, path) {
  const html = readFileSync(path, "utf8");
  const lacking = path.replace(/\.html$/, "-lacking.html");
  let all;
  withData(html, (data) => ((all = keys(data)), data));
  const unseen = await harness.tab({}, async (tab, noise) => {
    const unseen = [];
    assert.ok(await holds(tab, noise, path));
    for (const key of all) {
      writeFileSync(lacking, withData(html, (data) => without(data, key)));
      if (await holds(tab, noise, lacking)) unseen.push(key);
    }
    assert.ok(await holds(tab, noise, path));
    return unseen;
  });
  rmSync(lacking, { force: true });
  console.log(`        ${all.size} keys taken away, ${all.size - unseen.length} seen`);
  assert.deepEqual(unseen, []);
}

/** Checks of small pages of every form that the data has. */
export function checkLacking(harness, pages) {
  for (const kind of ["infeasible runs", "curves", "tenants"]) {
    harness.check(`a key that is missing in the data of ${kind} is seen`, () => checkKeys(harness, pages[kind]));
  }
}
