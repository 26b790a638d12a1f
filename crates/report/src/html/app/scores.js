// The table of all runs, with filters.

/** Name of a run: the values of the columns `varying`. */
function runName(run, varying) {
  return varying.map((key) => (key === "pes" ? `${run.pes} PEs` : run[key])).join(", ");
}

/** Columns that name a run even if their values are the same for all runs. */
const NAMING = ["scenario", "system", "pes"];

/**
 * Table and filters, with `columns` as the data describes them. `onlist` gets the visible runs in their
 * order; `onpick` gets the chosen run; `onchange` gets whether a change of order or filters is a step to go back to.
 */
class Scores {
  constructor(runs, columns, { onlist, onpick, onchange }) {
    Object.assign(this, { runs, onlist, onchange, label: columns.label });
    this.varying = columns.label.filter(({ key }) => distinct(runs, key).length > 1);
    this.wanted = {};
    const labels = columns.label.filter((it) => NAMING.includes(it.key) || this.varying.includes(it));
    const names = labels.map(({ key }) => key);
    const value = (run) => runName(run, names);
    // A narrow window has the name in one column, so that the score is beside it.
    const isNarrow = matchMedia("(max-width: 600px)").matches;
    const first = isNarrow ? [{ key: "run", label: "Run", isText: true, value }] : columnsOf(labels);
    this.table = new Table({
      caption: "Scores of all runs",
      columns: [...first, ...columnsOf([...columns.summary, ...columns.device])],
      onpick,
      onsort: (listed) => {
        onlist(listed);
        onchange(true);
      },
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
    this.fields = new Map([["words", search]]);
    const selects = this.varying.map(({ key, label }) => {
      const options = distinct(this.runs, key).map((value) => [value, value]);
      const field = choice(label, [["", "all"], ...options], (value) => this.#want(key, value));
      this.fields.set(key, field.querySelector("select"));
      return field;
    });
    const reset = h("button", { type: "reset" }, "Show all");
    const fields = [h("label", { class: "field" }, h("span", {}, "Search"), search), ...selects, reset];
    const form = h("form", { class: "filters", role: "search", "aria-label": "Filter runs" }, ...fields);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => {
      this.wanted = {};
      this.#list();
      this.onchange(true);
    });
    return form;
  }

  #want(key, value) {
    this.wanted[key] = value;
    this.#list();
    this.onchange(key !== "words");
  }

  /** Order and filters, as an address has them. */
  get state() {
    const wanted = [...this.fields.keys()].map((key) => [key, this.wanted[key] ?? ""]);
    return [["sort", this.table.sorted], ...wanted];
  }

  /** Takes order and filters from the `values` of an address. */
  restore(values) {
    this.table.sorted = values.get("sort") ?? "";
    this.wanted = {};
    for (const [key, field] of this.fields) {
      field.value = values.get(key) ?? "";
      this.wanted[key] = field.value;
    }
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
