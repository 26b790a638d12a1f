// The page of load tests: suites, or tenants at once.

/** Most parts that are shown open. */
const MAX_OPEN = 6;

/** A table of rows in their order. */
function tableOf(caption, columns, rows) {
  const table = new Table({ caption, columns, pageSize: 100 });
  table.setRows(rows);
  return table.element;
}

/** A folded part, which is filled when it is first opened. */
function folded(title, isOpen, fill) {
  const part = h("details", {}, h("summary", {}, title));
  part.addEventListener("toggle", () => part.append(fill()), { once: true });
  part.open = isOpen;
  return part;
}

/** A name that identifies a test. */
function testName({ kind }, test) {
  return kind === "suite" ? `${test.task}, ${test.load}` : `Tenant ${test.tenant}, ${test.task}`;
}

/** Removes a section that has nothing to show. */
function drop(id) {
  document.getElementById(id).remove();
  document.querySelector(`nav a[href="#${id}"]`).remove();
}

/** Columns that name a test. */
const NAMING_TESTS = ["tenant", "task", "load"];

/**
 * Columns of the table of tests. A narrow window has the name in one column, with value and verdict beside it.
 */
function testColumns(results, described) {
  if (!matchMedia("(max-width: 600px)").matches) return columnsOf(described);
  const name = { key: "test", label: "Test", isText: true, value: (test) => testName(results, test) };
  const [answer, others] = [true, false].map((wanted) =>
    described.filter(({ key }) => !NAMING_TESTS.includes(key) && ["value", "verdict"].includes(key) === wanted),
  );
  return [name, ...columnsOf([...answer, ...others])];
}

/** The table of all tests, without columns that are empty for every test. */
function showTests(section, results) {
  const isThere = ({ key }) => results.tests.some((test) => ![null, "", 0].includes(test[key]));
  const columns = results.columns.tests.filter(isThere);
  section.append(tableOf("All tests", testColumns(results, columns), results.tests));
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

function showShares(section, { shares, shares_svg: svg, columns }) {
  const headings = columnsOf(columns.shares);
  if (shares.length === 0) return drop("shares");
  if (svg) section.append(h("figure", { tabindex: 0 }, drawing(svg)));
  section.append(tableOf("Throughput of server and offline", headings, shares));
}

function showCurves(section, { curves, columns }) {
  const headings = columnsOf(columns.curves);
  if (curves.length === 0) return drop("curves");
  const parts = curves.map(({ task, svg, points }) =>
    folded(task, curves.length <= MAX_OPEN, () => {
      const caption = `Latency over rate of ${task}`;
      const numbers = folded("Numbers", false, () => tableOf(caption, headings, points));
      return h("figure", { tabindex: 0 }, ...(svg ? [drawing(svg)] : []), numbers);
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
    section.append(h("p", { class: "note" }, "The folder has no mlperf.json, which would describe the measurement."));
  section.append(pairs("Measurement", ["Key", "Value"], facts, true));
  if (deviations.length === 0) return;
  const items = deviations.map((deviation) => h("li", {}, deviation));
  section.append(
    h(
      "details",
      {},
      h("summary", {}, `Deviations from the published rules (${items.length})`),
      h("ul", {}, ...items),
    ),
  );
}

/** Title of the page, as far as suite and system are known. */
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
