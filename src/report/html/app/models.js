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
    this.varying = varying;
    this.only = true;
    this.run = null;
    this.runs = [];
    const columns = [
      { label: "Model", value: (model) => model.model, isText: true },
      { label: "Network", value: (model) => model.network, isText: true },
      { label: "Run", value: (model) => runName(model.run, varying), isText: true },
      ...columnsOf(summary),
      latencyColumn("Latency, median", "Median latency of executed requests, as a share of their slack", 0.5),
      latencyColumn("Latency, 95 %", "95 of 100 executed requests took no larger share of their slack", 0.95),
      latencyColumn("Latency, most", "Largest latency of an executed request, as a share of its slack", 1),
    ];
    if (varying.length === 0) columns.splice(2, 1);
    this.table = new Table({ caption: "Scores of models", columns, pageSize: 100 });
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
    this.element = h("div", {}, scope, this.table.element);
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
    const runs = this.only ? [this.run] : this.runs;
    this.table.setRows(runs.flatMap((run) => run.models));
  }
}
