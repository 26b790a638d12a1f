// Scores and response times of models.

/** Quantile of sorted numbers (nearest rank); null without numbers. */
function quantile(sorted, share) {
  return sorted.length > 0 ? sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] : null;
}

/** Response times of the executed requests of a model as shares of their slack, sorted. */
function relativeResponseTimes(model) {
  model.relativeResponseTimes ??= model.run.inferences
    .filter((request) => request.model === model && request.isExecuted && request.slack > 0)
    .map((request) => request.responseTime / request.slack)
    .sort((a, b) => a - b);
  return model.relativeResponseTimes;
}

function responseTimeColumn(label, title, share) {
  const value = (model) => quantile(relativeResponseTimes(model), share);
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
      responseTimeColumn("Response time, median", "Median response time of executed requests, as a share of their slack", 0.5),
      responseTimeColumn("Response time, 95 %", "95 of 100 executed requests took at most this share of their slack", 0.95),
      responseTimeColumn("Response time, largest", "Largest response time of an executed request, as a share of its slack", 1),
    ];
    const name = text("Run", (model) => runName(model.run, varying));
    const table = (columns) => new Table({ caption: "Scores of models", columns, pageSize: 100 });
    this.ofOne = table(columns);
    this.ofAll = table(varying.length === 0 ? columns : columns.toSpliced(2, 0, name));
    this.place = h("div");
    const scope = scopeOf("Models", (only) => {
      this.only = only;
      this.#show();
    });
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
