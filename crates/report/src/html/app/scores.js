// The table of all runs, with filters.

/** Name of a run: the values of the columns `varying`. */
function runName(run, varying) {
  return varying.map((key) => (key === "pes" ? `${run.pes} PEs` : run[key])).join(", ");
}

/** Columns that name a run even if their values are the same for all runs. */
const NAMING = ["scenario", "system", "pes"];

/**
 * Table and filters, with `columns` as the data describes them. `onlist` gets the visible runs in their
 * order; `onpick` gets the chosen run.
 */
class Scores {
  constructor(runs, columns, { onlist, onpick }) {
    Object.assign(this, { runs, onlist, label: columns.label });
    this.varying = columns.label.filter(({ key }) => distinct(runs, key).length > 1);
    this.wanted = {};
    const labels = columns.label.filter((it) => NAMING.includes(it.key) || this.varying.includes(it));
    this.table = new Table({
      caption: "Scores of all runs",
      columns: columnsOf([...labels, ...columns.summary, ...columns.device]),
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
    const selects = this.varying.map(({ key, label }) => {
      const options = distinct(this.runs, key).map((value) => [value, value]);
      return choice(label, [["", "all"], ...options], (value) => this.#want(key, value));
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
    const text = this.label
      .map(({ key }) => run[key])
      .join(" ")
      .toLowerCase();
    return (
      words.every((word) => text.includes(word)) &&
      this.varying.every(({ key }) => !this.wanted[key] || run[key] === this.wanted[key])
    );
  }

  #list() {
    this.table.setRows(this.runs.filter((run) => this.#matches(run)));
    this.onlist(this.table.rows);
  }
}
