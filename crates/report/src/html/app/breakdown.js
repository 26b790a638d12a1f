// Losses of the score of every run, by cause.

const PARTS = [
  ["score", "Score"],
  ["unexecuted", "Lost: never ran"],
  ["late", "Lost: late"],
  ["energy", "Lost: energy"],
  ["accuracy", "Lost: accuracy"],
];

/** Most bars of a panel. */
const MOST_BARS = 40;

/**
 * Shares of 1 of one model. Its score is QoE² · mean of (real time · energy · accuracy) over executed
 * requests. The loss below QoE² · mean real time is divided between energy and accuracy in proportion to
 * their distances from 1.
 */
function modelParts({ qoe, realtime, energy, accuracy, score }) {
  const ran = qoe * qoe;
  const inTime = ran * realtime;
  const [energyGap, accuracyGap] = [1 - energy, 1 - accuracy];
  const energyShare = energyGap + accuracyGap > 0 ? energyGap / (energyGap + accuracyGap) : 0;
  const rest = inTime - score;
  return {
    score,
    unexecuted: 1 - ran,
    late: ran - inTime,
    energy: rest * energyShare,
    accuracy: rest * (1 - energyShare),
  };
}

/**
 * Means over the models that count: those with requests. All models count in the published artifact, and
 * where the settings give a score to models that were never triggered.
 */
function runParts(run, countsUntriggered) {
  const countsAll = countsUntriggered || run.semantics === "mlsys2023";
  const models = run.models.filter((model) => countsAll || model.requests > 0).map(modelParts);
  const mean = ([key]) => [
    key,
    models.length > 0 ? sum(models.map((parts) => parts[key])) / models.length : 0,
  ];
  return Object.fromEntries(PARTS.map(mean));
}

/** A panel of bars for every scenario. */
class Breakdown {
  constructor({ varying, countsUntriggered, onpick }) {
    Object.assign(this, { countsUntriggered, onpick });
    this.naming = varying.filter((key) => key !== "scenario");
    if (this.naming.length === 0) this.naming = ["system"];
    this.panels = h("div", { class: "panels" });
    this.element = h("div", {}, this.#legend(), this.panels);
  }

  #legend() {
    const entries = PARTS.map(([key, label]) =>
      h("li", {}, h("span", { class: `swatch part-${key}` }), label),
    );
    return h("ul", { class: "legend" }, ...entries);
  }

  show(runs) {
    const scenarios = [...new Set(runs.map((run) => run.scenario))];
    const panels = scenarios.map((scenario) =>
      this.#panel(
        scenario,
        runs.filter((run) => run.scenario === scenario),
      ),
    );
    this.panels.replaceChildren(...panels);
  }

  #panel(scenario, runs) {
    const bars = h("ol", { class: "bars" }, ...runs.slice(0, MOST_BARS).map((run) => this.#bar(run)));
    rove(bars)();
    const more = runs.length - MOST_BARS;
    const note =
      more > 0
        ? [h("p", { class: "note" }, `and ${plural(more, "more run")}; filter or sort the table to see them`)]
        : [];
    return h("div", { class: "panel" }, h("h3", {}, scenario), bars, ...note);
  }

  #bar(run) {
    const parts = runParts(run, this.countsUntriggered);
    const lines = PARTS.map(([key, label]) => `${label} ${score(parts[key])}`);
    const name = this.naming.map((key) => run[key]).join(" ");
    const segments = PARTS.map(([key]) => {
      const segment = h("span", { class: `part-${key}` });
      segment.style.flexGrow = Math.max(0, parts[key]);
      return segment;
    });
    const stack = h(
      "span",
      { class: "stack", role: "img", "aria-label": lines.slice(1).join(", ") },
      ...segments,
    );
    const content = [
      h("span", { class: "name" }, name),
      stack,
      h("span", { class: "value" }, score(run.score)),
    ];
    return h(
      "li",
      {},
      h("button", { type: "button", title: lines.join("\n"), onclick: () => this.onpick(run) }, ...content),
    );
  }
}
