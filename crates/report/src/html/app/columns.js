// Columns as the data describes them: keys, headings, and the writing of cells.

/** A number with four digits. */
function short(value) {
  const size = Math.abs(value);
  if (size > 0 && size < 0.001) return Number(value.toPrecision(2)).toString();
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

/** A verdict after its sign. */
function verdictMark(verdict) {
  const isValid = verdict === "VALID";
  const sign = h("span", { "aria-hidden": "true" }, isValid ? "✓ " : "✗ ");
  return h("span", { class: isValid ? "verdict" : "verdict invalid" }, sign, verdict);
}

function metricWithUnit(metric, { unit }) {
  return unit ? `${metric} [${unit}]` : metric;
}

/** Writes the cells of numbers, by the kinds of columns.rs. */
const NUMBER_KINDS = { number: short, count, score, bar: scoreBar, percent, millijoules };

/** Writes the cells of words. */
const WORD_KINDS = { word: String, verdict: verdictMark, metric: metricWithUnit, any: String };

/** Title of a heading: the meaning of its column, and which values are better. */
function titleOfColumn({ title, better }) {
  return better ? `${title}; ${better} is better` : title;
}

/** A column of a table from its description in the data; `record` gets what has the value of a row. */
function columnOf(described, record = (row) => row) {
  const { key, label, kind } = described;
  const title = titleOfColumn(described);
  const value = (row) => record(row)[key] ?? null;
  const isText = kind in WORD_KINDS;
  const write = (isText ? WORD_KINDS : NUMBER_KINDS)[kind];
  const text = (row) => (value(row) === null ? NOTHING : write(value(row), record(row)));
  return { key, label, title, isText, value, text };
}

/** Columns of a table; columns that are part of another one are left out. */
function columnsOf(described) {
  return described.filter(({ kind }) => kind !== "part").map((column) => columnOf(column));
}
