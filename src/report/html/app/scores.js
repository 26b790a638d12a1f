// The table of all runs, with filters.

/** Headings of the columns of a label. */
const LABEL_HEADINGS = {
  scenario: "Scenario",
  system: "System",
  pes: "PEs",
  semantics: "Semantics",
  cost_model: "Cost model",
  scheduler: "Scheduler",
  seed: "Seed",
  replication: "Replication",
};

/** Columns of scores and counts, for runs and models alike. */
function summaryColumns() {
  const unit = (key, label, title) => ({
    label,
    title,
    value: (row) => row[key],
    text: (row) => score(row[key]),
  });
  const number = (key, label, title) => ({
    label,
    title,
    value: (row) => row[key],
    text: (row) => count(row[key]),
  });
  return [
    {
      label: "Score",
      title: "Definition 15: sum of inference scores over released frames, times QoE",
      value: (row) => row.score,
      text: scoreBar,
    },
    unit("realtime", "Real time", "Definition 10, mean over executed requests"),
    unit("energy", "Energy", "Definition 11, mean over executed requests"),
    unit("accuracy", "Accuracy", "Definition 12, mean over executed requests"),
    unit("qoe", "QoE", "Definition 13: executed part of the released frames"),
    unit("score_executed_mean", "Score, executed mean", "Section 3.7: mean over executed frames, times QoE"),
    number("released", "Released", "Requests that were due"),
    number("executed", "Executed", "Requests that ran to completion, on time or late"),
    number("dropped", "Dropped", "Requests that never finished"),
    number("deadline_misses", "Late", "Executed requests that ended after their deadline"),
    number("not_triggered", "Not triggered", "Requests that their upstream result did not ask for"),
    {
      label: "Energy [mJ]",
      title: "Energy of all executions",
      value: (row) => row.energy_mj,
      text: (row) => millijoules(row.energy_mj),
    },
  ];
}

/** A score as a number over a bar. */
function scoreBar(row) {
  const cell = h("span", { class: "bar" }, score(row.score));
  cell.style.setProperty("--share", Math.max(0, Math.min(row.score, 1)));
  return cell;
}

/** Name of a run without what all runs share. */
function runName(run, varying) {
  return varying.map((key) => (key === "pes" ? `${run.pes} PEs` : run[key])).join(", ");
}

/** Table and filters; `onlist` gets the visible runs in their order, `onpick` the chosen one. */
class Scores {
  constructor(runs, { onlist, onpick }) {
    Object.assign(this, { runs, onlist });
    this.varying = LABEL.filter((key) => distinct(runs, key).length > 1);
    this.wanted = {};
    const shown = new Set(["scenario", "system", "pes", ...this.varying]);
    const labels = LABEL.filter((key) => shown.has(key)).map((key) => ({
      label: LABEL_HEADINGS[key],
      value: (run) => run[key],
      isText: true,
    }));
    this.table = new Table({
      caption: "Scores of all runs",
      columns: [...labels, ...summaryColumns()],
      onpick,
      onsort: onlist,
    });
    this.element = h("div", {}, this.#filters(), this.table.element);
    this.#list();
  }

  #filters() {
    const search = h("input", {
      type: "search",
      placeholder: "words of a row",
      oninput: () => this.#want("words", search.value),
    });
    const selects = this.varying.map((key) => {
      const options = distinct(this.runs, key).map((value) => [value, value]);
      return choice(LABEL_HEADINGS[key], [["", "all"], ...options], (value) => this.#want(key, value));
    });
    const reset = h("button", { type: "reset" }, "Show all");
    const fields = [h("label", { class: "field" }, h("span", {}, "Search"), search), ...selects, reset];
    const form = h("form", { class: "filters", role: "search", "aria-label": "Filter runs" }, ...fields);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => {
      this.wanted = {};
      this.#list();
    });
    return form;
  }

  #want(key, value) {
    this.wanted[key] = value;
    this.#list();
  }

  #matches(run) {
    const words = (this.wanted.words ?? "").toLowerCase().split(/\s+/);
    const text = LABEL.map((key) => run[key])
      .join(" ")
      .toLowerCase();
    return (
      words.every((word) => text.includes(word)) &&
      this.varying.every((key) => !this.wanted[key] || run[key] === this.wanted[key])
    );
  }

  #list() {
    this.table.setRows(this.runs.filter((run) => this.#matches(run)));
    this.onlist(this.table.rows);
  }
}
