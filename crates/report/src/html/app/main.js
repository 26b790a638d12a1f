// The page of runs: its sections, and how a choice in one changes the others.

function summarise({ runs, provenance, answer }) {
  const facts = new Map(provenance.facts);
  const requests = sum(runs.map((run) => run.n_requests));
  const shared = ["semantics", "cost_model", "scheduler"].map((key) => [
    key.replace("_", " "),
    distinct(runs, key).join(", "),
  ]);
  return [
    plural(runs.length, "run"),
    plural(distinct(runs, "scenario").length, "scenario"),
    plural(requests, "request"),
    ...shared.map(([name, value]) => `${name} ${value}`),
    answer.head,
    `seed ${facts.get("seed") ?? NOTHING}`,
    `xrsim ${facts.get("version") ?? NOTHING}`,
  ].join(" · ");
}

/** Scenarios and systems, by name where there is one of them. */
function titleOfRuns(runs) {
  const named = (key, noun) => {
    const all = distinct(runs, key);
    return all.length === 1 ? all[0] : plural(all.length, noun);
  };
  return `${named("scenario", "scenario")} on ${named("system", "system")}`;
}

/** The answer: what the runs say, in sentences and a table. */
function showAnswer(section, { sentences, draws, table, legend }) {
  const items = legend.map((line) => h("li", {}, line));
  section.append(
    ...sentences.map((sentence) => h("p", { class: "answer" }, sentence)),
    tableOfCells(table),
    h("p", { class: "note" }, draws),
    h("details", { class: "legend-of-columns" }, h("summary", {}, "Meaning of the columns"), h("ul", {}, ...items)),
  );
}

function infeasible(entries, columns) {
  if (entries.length === 0) return "";
  const caption = "Runs that could not be made";
  const table = new Table({ caption, columns: columnsOf(columns), pageSize: 100 });
  table.setRows(entries);
  return h(
    "details",
    { open: true },
    h("summary", {}, `Runs that could not be made (${entries.length})`),
    table.element,
  );
}

function showProvenance(section, provenance, columns) {
  const { facts, effective, requested, inputs } = provenance;
  section.append(
    infeasible(provenance.infeasible, columns.infeasible),
    pairs("Program and seed", ["Key", "Value"], facts, true),
    pairs("Settings that applied", ["Setting", "Value"], effective, false),
    pairs("Settings that were requested", ["Option", "Value"], requested, false),
    pairs("Input files", ["File", "SHA-256"], inputs, false),
  );
}

function start({ runs, provenance, columns, places, answer }) {
  const section = (id) => document.getElementById(id);
  modelOrder.push(
    ...new Set(runs.flatMap((run) => run.models.map((model) => model.model)).sort(sorting.compare)),
  );
  places.forEach(([name, place]) => modelPlace.set(name, place));
  const neverTriggered = new Map(provenance.effective).get("score.never_triggered");
  const countsUntriggered = ["one", "zero"].includes(neverTriggered);
  const label = columns.label.map(({ key }) => key);
  const varying = label.filter((key) => distinct(runs, key).length > 1);
  const naming = label.filter((key) => NAMING.includes(key) || varying.includes(key));
  const nameOf = (run) => runName(run, naming);
  const keyOf = (run) => naming.map((key) => run[key]).join(",");
  document.title = `${titleOfRuns(runs)} – xrsim report`;
  document.getElementById("title").textContent = titleOfRuns(runs);
  showAnswer(section("answer"), answer);
  const timeline = new Timeline();
  const requests = requestTable(columns.scores, (request) => {
    requests.pick(request);
    timeline.reveal(request);
    timeline.element.scrollIntoView({ block: "nearest" });
  });
  const models = new Models({ varying, summary: columns.summary });
  const responseTimes = new ResponseTimes();
  const names = ["models", "timeline", "latency"].map((id) => {
    const name = h("p", { class: "chosen" });
    section(id).querySelector("h2").after(name);
    return name;
  });
  const options = runs.map((run, index) => [String(index), nameOf(run)]);
  const picker = choice("Run", options, (index) => choose(runs[index]));
  document.querySelector("nav").append(picker);
  let picked = null;
  const pick = (run) => {
    picked = run;
    picker.querySelector("select").value = String(runs.indexOf(run));
    for (const name of names) name.textContent = `Chosen run: ${nameOf(run)}`;
    scores.table.pick(run);
    models.pick(run);
    timeline.show(run);
    requests.setRows(run.inferences);
    responseTimes.pick(run);
  };
  const stateOf = () => new Map([["run", picked === runs[0] ? "" : keyOf(picked)], ...scores.state]);
  const note = (isStep) => writeAddress({ section: readAddress().section, values: stateOf() }, isStep);
  const choose = (run) => {
    pick(run);
    note(true);
  };
  const breakdown = new Breakdown({ varying, countsUntriggered, onpick: choose });
  const list = (listed) =>
    [breakdown, models, responseTimes].forEach((view) => (view.show ?? view.list).call(view, listed));
  const scores = new Scores(runs, columns, { onlist: list, onpick: choose, onchange: note });
  section("scores").append(scores.element);
  section("breakdown").append(breakdown.element);
  section("models").append(models.element);
  section("timeline").append(timeline.element, requests.element);
  section("latency").append(responseTimes.element);
  showProvenance(section("provenance"), provenance, columns);
  document.querySelector("main").hidden = false;
  const enter = () => {
    const { section: id, values } = readAddress();
    scores.restore(values);
    pick(runs.find((run) => keyOf(run) === values.get("run")) ?? runs[0]);
    if (values.size > 0) document.getElementById(id)?.scrollIntoView();
  };
  enter();
  addEventListener("hashchange", () => {
    const { section: id, values } = readAddress();
    // A link to a section keeps the run and the filters.
    if (id !== "" && values.size === 0) note(false);
    else enter();
  });
  installTheme(() => {
    timeline.draw();
    responseTimes.draw();
  });
}

await show((packed) => {
  const results = { ...packed, runs: unpackRuns(packed) };
  start(results);
  return summarise(results);
});
