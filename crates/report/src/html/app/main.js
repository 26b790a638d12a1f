// The page of runs: its sections, and how a choice in one changes the others.

function summarise({ runs, provenance }) {
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
    `seed ${facts.get("seed") ?? NOTHING}`,
    `xrsim ${facts.get("version") ?? NOTHING}`,
  ].join(" · ");
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

function start({ runs, provenance, columns, places }) {
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
  const picker = choice("Run", options, (index) => pick(runs[index]));
  document.querySelector("nav").append(picker);
  const pick = (run) => {
    picker.querySelector("select").value = String(runs.indexOf(run));
    for (const name of names) name.textContent = `Chosen run: ${nameOf(run)}`;
    scores.table.pick(run);
    models.pick(run);
    timeline.show(run);
    requests.setRows(run.inferences);
    responseTimes.pick(run);
  };
  const breakdown = new Breakdown({ varying, countsUntriggered, onpick: pick });
  const list = (listed) =>
    [breakdown, models, responseTimes].forEach((view) => (view.show ?? view.list).call(view, listed));
  const scores = new Scores(runs, columns, { onlist: list, onpick: pick });
  section("scores").append(scores.element);
  section("breakdown").append(breakdown.element);
  section("models").append(models.element);
  section("timeline").append(timeline.element, requests.element);
  section("latency").append(responseTimes.element);
  showProvenance(section("provenance"), provenance, columns);
  document.querySelector("main").hidden = false;
  pick(runs[0]);
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
