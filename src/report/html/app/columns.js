// Columns as the data describes them: their keys, their headings, and how cells are written.

/** Decimals as the size of a number asks for them: four digits. */
function short(value) {
  const size = Math.abs(value);
  if (size > 0 && size < 0.001) return value.toExponential(2);
  const decimals = [1000, 100, 10].findIndex((least) => size >= least);
  const digits = decimals < 0 ? 3 : decimals;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A score as a number over a bar. */
function scoreBar(value) {
  const cell = h("span", { class: "bar" }, score(value));
  cell.style.setProperty("--share", Math.max(0, Math.min(value, 1)));
  return cell;
}

/** A word with a sign before it. */
function verdictMark(verdict) {
  const isValid = verdict === "VALID";
  const sign = h("span", { "aria-hidden": "true" }, isValid ? "✓ " : "✗ ");
  return h("span", { class: isValid ? "verdict" : "verdict invalid" }, sign, verdict);
}

function metricWithUnit(metric, { unit }) {
  return unit ? `${metric} [${unit}]` : metric;
}

/** What a cell of a number shows, by the kinds of columns.rs. */
const NUMBER_KINDS = { number: short, count, score, bar: scoreBar, percent, millijoules };

/** The same for words. */
const WORD_KINDS = { word: String, verdict: verdictMark, metric: metricWithUnit, any: String };

/** A column of a table, of the description that the data has of it. */
function columnOf({ key, label, title, kind }) {
  const value = (row) => row[key] ?? null;
  const isText = kind in WORD_KINDS;
  const write = (isText ? WORD_KINDS : NUMBER_KINDS)[kind];
  const text = (row) => (value(row) === null ? NOTHING : write(value(row), row));
  return { key, label, title, isText, value, text };
}

/** Columns of a table; those that are part of another are left out. */
function columnsOf(described) {
  return described.filter(({ kind }) => kind !== "part").map(columnOf);
}
