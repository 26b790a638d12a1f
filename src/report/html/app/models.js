// Scores and latencies of models.

/** The value below which a share of sorted numbers lies (nearest rank); null without numbers. */
function quantile(sorted, share) {
  return sorted.length > 0 ? sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] : null;
}

/** Latencies of the executed requests of a model as shares of their slack, sorted. */
function relativeLatencies(model) {
  model.relativeLatencies ??= model.run.requests
    .filter((request) => request.model === model && request.isExecuted && request.slack > 0)
    .map((request) => request.latency / request.slack)
    .sort((a, b) => a - b);
  return model.relativeLatencies;
}

function latencyColumn(label, title, share) {
  const value = (model) => quantile(relativeLatencies(model), share);
  return { label, title, value, text: (model) => percent(value(model)) };
}

/** The models of the chosen run, or of every run that is listed. */
class Models {
  constructor({ varying, summary }) {
    this.only = true;
    this.run = null;
    this.runs = [];
    const text = (label, value) => ({ label, value, isText: true });
    const columns = [
      text("Model", (model) => model.model),
      text("Network", (model) => model.network),
      ...columnsOf(summary),
      latencyColumn("Latency, median", "Median latency of executed requests, as a share of their slack", 0.5),
      latencyColumn("Latency, 95 %", "95 of 100 executed requests took no larger share of their slack", 0.95),
      latencyColumn("Latency, most", "Largest latency of an executed request, as a share of its slack", 1),
    ];
    const name = text("Run", (model) => runName(model.run, varying));
    const table = (columns) => new Table({ caption: "Scores of models", columns, pageSize: 100 });
    this.ofOne = table(columns);
    this.ofAll = table(varying.length === 0 ? columns : columns.toSpliced(2, 0, name));
    this.place = h("div");
    const scope = radios(
      "Models of",
      [
        ["run", "the chosen run"],
        ["listed", "all runs listed above"],
      ],
      (value) => {
        this.only = value === "run";
        this.#show();
      },
    );
    this.element = h("div", {}, scope, this.place);
  }

  pick(run) {
    this.run = run;
    this.#show();
  }

  list(runs) {
    this.runs = runs;
    if (!this.only) this.#show();
  }

  #show() {
    const [table, runs] = this.only ? [this.ofOne, [this.run]] : [this.ofAll, this.runs];
    table.setRows(runs.flatMap((run) => run.models));
    this.place.replaceChildren(table.element);
  }
}
