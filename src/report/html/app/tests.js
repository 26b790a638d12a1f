// The page of load tests: suites, or tenants at once.

/** Folded parts are open where there are no more of them. */
const MAX_OPEN = 6;

/** Decimals as the size of a number asks for them: four digits. */
function short(value) {
  const size = Math.abs(value);
  if (size > 0 && size < 0.001) return value.toExponential(2);
  const decimals = [1000, 100, 10].findIndex((least) => size >= least);
  const digits = decimals < 0 ? 3 : decimals;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

const word = (key, label, title = null) => ({ key, label, title, value: (row) => row[key], isText: true });
const number = (key, label, title = null) => ({
  key,
  label,
  title,
  value: (row) => row[key],
  text: (row) => (row[key] === null ? NOTHING : short(row[key])),
});
const whole = (key, label, title = null) => ({
  key,
  label,
  title,
  value: (row) => row[key],
  text: (row) => count(row[key]),
});

/** A word with a sign before it. */
function verdictMark({ verdict }) {
  const isValid = verdict === "VALID";
  const sign = h("span", { "aria-hidden": "true" }, isValid ? "✓ " : "✗ ");
  return h("span", { class: isValid ? "verdict" : "verdict invalid" }, sign, verdict);
}

function metricWithUnit({ metric, unit }) {
  return unit === "" ? metric : `${metric} [${unit}]`;
}

const VERDICT = {
  ...word("verdict", "Verdict", "Whether the test keeps LoadGen’s rules"),
  text: verdictMark,
};

const PERCENTILES = [
  number("p50_ms", "50th [ms]", "50th percentile of latency"),
  number("p90_ms", "90th [ms]", "90th percentile of latency"),
  number("p97_ms", "97th [ms]", "97th percentile of latency"),
  number("p99_ms", "99th [ms]", "99th percentile of latency"),
];

const ENERGY = number(
  "energy_mj_per_sample",
  "Energy per sample [mJ]",
  "That the accelerators take for a sample",
);

/** Columns by kind; what no row has is left out. */
const COLUMNS = {
  suite: [
    word("task", "Task"),
    word("load", "Load"),
    VERDICT,
    { ...word("metric", "Metric", "What the load is about"), text: metricWithUnit },
    number("value", "Value"),
    ...PERCENTILES,
    ENERGY,
    number("energy_mj_per_stream", "Energy per stream [mJ]", "Of a query, in single-stream and multi-stream"),
    number("mean_power_w", "Mean power [W]", "That energy over the duration of the test"),
    whole("queries", "Queries", "Of the run that counts"),
    whole("trials", "Trials", "Runs of the search before it"),
    number("beside_score", "Score beside", "Of the usage scenario beside, with the queries"),
    number("beside_score_alone", "Score beside, alone", "Of the usage scenario, without the queries"),
  ],
  tenants: [
    word("tenant", "Tenant"),
    word("task", "Task"),
    VERDICT,
    number("scheduled_qps", "Scheduled [1/s]", "Queries that were issued, per second"),
    number("completed_qps", "Completed [1/s]", "Queries that were completed, per second"),
    ...PERCENTILES,
    number("bound_ms", "Bound [ms]", "Longest latency that is no violation"),
    number("late_percent", "Late [%]", "Queries that took longer than the bound"),
    ENERGY,
    whole("queries", "Queries"),
  ],
};

const CURVE = [
  number("target_qps", "Target [1/s]", "Rate that was asked for"),
  number("scheduled_qps", "Scheduled [1/s]"),
  number("completed_qps", "Completed [1/s]"),
  ...PERCENTILES,
  number("p99_9_ms", "99.9th [ms]", "99.9th percentile of latency"),
  number("late_percent", "Late [%]", "Queries that took longer than the bound"),
  word("within_bound", "Within bound", "Whether the constraint of latency holds"),
];

const SHARES = [
  word("task", "Task"),
  number("server", "Server [1/s]"),
  number("offline", "Offline [1/s]"),
  { label: "Server / offline", value: (row) => row.share, text: (row) => percent(row.share) },
];

/** A table of rows in their order. */
function tableOf(caption, columns, rows) {
  const table = new Table({ caption, columns, pageSize: 100 });
  table.setRows(rows);
  return table.element;
}

/** A drawing of the program, which is an image by its role and has a title. */
function drawing(svg) {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
  return document.importNode(parsed.documentElement, true);
}

/** A part that is filled when it is first opened. */
function folded(title, isOpen, fill) {
  const part = h("details", {}, h("summary", {}, title));
  part.addEventListener("toggle", () => part.append(fill()), { once: true });
  part.open = isOpen;
  return part;
}

/** A name that tells a test from all others. */
function testName({ kind }, test) {
  return kind === "suite" ? `${test.task}, ${test.load}` : `Tenant ${test.tenant}, ${test.task}`;
}

/** Takes away a section that has nothing to show. */
function drop(id) {
  document.getElementById(id).remove();
  document.querySelector(`nav a[href="#${id}"]`).remove();
}

function showTests(section, results) {
  const isThere = ({ key }) => results.tests.some((test) => ![null, "", 0].includes(test[key]));
  const columns = COLUMNS[results.kind].filter(isThere);
  section.append(tableOf("All tests", columns, results.tests));
  const reasons = results.tests.filter((test) => test.reason);
  if (reasons.length === 0) return;
  const items = reasons.map((test) => h("li", {}, `${testName(results, test)}: ${test.reason}`));
  section.append(
    h(
      "details",
      { class: "reasons", open: reasons.length <= MAX_OPEN },
      h("summary", {}, `Why tests are not valid (${reasons.length})`),
      h("ul", {}, ...items),
    ),
  );
}

function showShares(section, { shares, shares_svg: svg }) {
  if (shares.length === 0) return drop("shares");
  if (svg) section.append(h("figure", {}, drawing(svg)));
  section.append(tableOf("Throughput of server and offline", SHARES, shares));
}

function showCurves(section, { curves }) {
  if (curves.length === 0) return drop("curves");
  const parts = curves.map(({ task, svg, points }) =>
    folded(task, curves.length <= MAX_OPEN, () => {
      const numbers = folded("Numbers", false, () => tableOf(`Latency over rate of ${task}`, CURVE, points));
      return h("figure", {}, drawing(svg), numbers);
    }),
  );
  section.append(h("div", { class: "figures" }, ...parts));
}

function showSummaries(section, results) {
  const parts = results.tests.map((test) => {
    const name = testName(results, test);
    return folded(`${name}: ${test.verdict}`, false, () =>
      h("pre", { tabindex: 0, role: "region", "aria-label": `Summary of ${name}` }, test.summary),
    );
  });
  section.append(...parts);
}

function showOrigin(section, { facts, deviations }) {
  if (facts.length === 0)
    section.append(h("p", { class: "note" }, "The folder has no mlperf.json, which says that."));
  section.append(pairs("What was measured", ["What", "Value"], facts, true));
  if (deviations.length === 0) return;
  const items = deviations.map((deviation) => h("li", {}, deviation));
  section.append(
    h(
      "details",
      {},
      h("summary", {}, `What deviates from what was published (${items.length})`),
      h("ul", {}, ...items),
    ),
  );
}

/** Words for what was measured, as far as that is known. */
function titleOf({ kind, suite, system }) {
  const what = kind === "suite" ? (suite ?? "suite") : "tenants";
  return `MLPerf ${what}${system ? ` on ${system}` : ""}`;
}

function summariseTests({ kind, tests, facts }) {
  const known = new Map(facts);
  const invalid = tests.filter(({ verdict }) => verdict !== "VALID").length;
  const fact = (key, name) => (known.has(key) ? [`${name} ${known.get(key)}`] : []);
  return [
    plural(tests.length, kind === "suite" ? "test" : "tenant"),
    invalid === 0 ? "all valid" : `${count(invalid)} not valid`,
    ...fact("round", "rules of"),
    ...fact("cost_model", "cost model"),
    ...fact("scheduler", "scheduler"),
    ...fact("version", "xrsim"),
  ].join(" · ");
}

await show((results) => {
  const section = (id) => document.getElementById(id);
  document.getElementById("title").textContent = titleOf(results);
  document.title = `${titleOf(results)} – xrsim report`;
  showTests(section("tests"), results);
  showShares(section("shares"), results);
  showCurves(section("curves"), results);
  showSummaries(section("summaries"), results);
  showOrigin(section("provenance"), results);
  document.querySelector("main").hidden = false;
  installTheme(() => {});
  return summariseTests(results);
});
