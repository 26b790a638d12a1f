// Response times of executed requests against their deadlines, by model.

/** Points of a curve; response times are rounded up to this part of the visible range. */
const N_STEPS = 1500;

/**
 * The axes to choose from: quantity, position of the deadline, and the range that is visible at first.
 * The range is limited, as otherwise a few late requests would flatten the curves.
 */
const MEASURES = {
  share: {
    label: "Response time [% of the slack]",
    deadline: 100,
    of: (request) => (request.slack > 0 ? (100 * request.responseTime) / request.slack : null),
    first: [0, 300],
  },
  margin: {
    label: "End after the deadline [ms]",
    deadline: 0,
    of: (request) => -request.margin / 1e6,
    first: [-100, 100],
  },
};

/** Curves of all models in a view: [x, y of the first model, …] as uPlot takes them. */
function curves(requests, models, measure, { from, length }) {
  const step = length / N_STEPS;
  const done = new Map(models.map((name) => [name, new Float64Array(N_STEPS + 1)]));
  const counts = new Map(models.map((name) => [name, 0]));
  for (const request of requests) {
    const name = request.model.model;
    if (request.isNotAsked) continue;
    counts.set(name, counts.get(name) + 1);
    const value = request.isExecuted ? measure.of(request) : null;
    const at = value === null ? Infinity : Math.max(0, Math.ceil((value - from) / step - 1e-9));
    if (at <= N_STEPS) done.get(name)[at] += 1;
  }
  const x = Float64Array.from({ length: N_STEPS + 1 }, (_, index) => from + index * step);
  const shares = models.map((name) => {
    let total = 0;
    return Float64Array.from(done.get(name), (n) => (100 * (total += n)) / Math.max(counts.get(name), 1));
  });
  return [x, ...shares];
}

/** The measured values, sorted. */
function measured(requests, measure) {
  const values = requests.filter((request) => request.isExecuted).map(measure.of);
  return Float64Array.from(values.filter((value) => value !== null)).sort();
}

class ResponseTimes {
  constructor() {
    this.measure = MEASURES.share;
    this.only = true;
    this.runs = [];
    const scope = scopeOf("Requests", (only) => {
      this.only = only;
      this.draw();
    });
    const axis = radios(
      "Response time as",
      [
        ["share", "share of the slack"],
        ["margin", "distance to the deadline"],
      ],
      (value) => {
        this.measure = MEASURES[value];
        this.draw();
      },
    );
    this.chart = h("div", { class: "chart", tabindex: 0, role: "img" });
    this.chart.addEventListener("keydown", (event) => {
      if (!VIEW_KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.#act(VIEW_KEYS[event.key]);
    });
    const help =
      "Drag to zoom in, or use + and −; a click on a name hides its curve. The table of models has percentiles.";
    this.beyond = h("span");
    const buttons = viewButtons("distribution", (act) => this.#act(act));
    this.element = h(
      "div",
      {},
      h("div", { class: "filters" }, scope, axis, buttons),
      this.chart,
      h("p", { class: "note" }, help, this.beyond),
    );
    new ResizeObserver(() => this.#resize()).observe(this.chart);
  }

  pick(run) {
    this.run = run;
    if (this.only) this.draw();
  }

  list(runs) {
    this.runs = runs;
    if (!this.only) this.draw();
  }

  draw() {
    this.plot?.destroy();
    this.plot = null;
    const runs = this.only ? [this.run] : this.runs;
    const requests = runs.flatMap((run) => run.inferences);
    this.values = measured(requests, this.measure);
    this.chart.setAttribute("aria-label", this.#spoken(requests));
    this.chart.replaceChildren();
    if (this.values.length === 0) {
      this.chart.append(h("p", { class: "note" }, "Nothing was executed."));
      return;
    }
    const models = modelOrder.filter((name) => requests.some((request) => request.model.model === name));
    this.curves = () => curves(requests, models, this.measure, this.view);
    this.view = this.#firstView();
    this.plot = new uPlot(this.#options(models), this.curves(), this.chart);
    this.#count();
  }

  #firstView() {
    const [from, to] = this.measure.first;
    const view = new View(
      Math.min(this.values[0], from),
      Math.max(this.values.at(-1) * 1.02, to),
      (to - from) / 1000,
    );
    view.set(from, to);
    return view;
  }

  /** Shows how many response times lie to the right of the visible range. */
  #count() {
    const beyond = this.values.length - 1 - this.values.findLastIndex((value) => value <= this.view.to);
    this.beyond.textContent =
      beyond > 0 ? ` ${plural(beyond, "request")} took longer than the visible range: zoom out.` : "";
  }

  #spoken(requests) {
    const triggered = requests.filter((request) => !request.isNotAsked);
    const inTime = triggered.filter((request) => request.isExecuted && !request.isLate).length;
    const late = triggered.filter((request) => request.isLate).length;
    const share = (n) => percent(triggered.length > 0 ? n / triggered.length : 0);
    return `Cumulative distribution of response times against the deadline. Of ${plural(triggered.length, "request")}, ${share(inTime)} ended in time, ${share(late)} late, ${share(triggered.length - inTime - late)} never.`;
  }

  #options(models) {
    const axis = {
      stroke: colour("text"),
      grid: { stroke: colour("grid"), width: 1 },
      ticks: { stroke: colour("grid"), width: 1 },
    };
    const shown = (value) => (value === null || value === undefined ? NOTHING : `${value.toFixed(1)} %`);
    const series = models.map((name) => ({
      label: name,
      stroke: colour(modelColour(name)),
      dash: modelDash(name),
      width: 2,
      points: { show: false },
      paths: uPlot.paths.stepped({ align: 1 }),
      value: (_, value) => shown(value),
    }));
    const { label } = this.measure;
    return {
      width: this.chart.clientWidth,
      height: 340,
      scales: { x: { time: false, range: () => [this.view.from, this.view.to] }, y: { range: [0, 102] } },
      axes: [
        { ...axis, label, labelSize: 24, size: 36 },
        { ...axis, label: "Requests done [%]", labelSize: 20, size: 44 },
      ],
      series: [
        { label, value: (_, value) => (value === null || value === undefined ? NOTHING : value.toFixed(1)) },
        ...series,
      ],
      cursor: { drag: { x: true, y: false, setScale: false }, focus: { prox: 16 } },
      focus: { alpha: 0.35 },
      hooks: { draw: [(plot) => this.#drawDeadline(plot)], setSelect: [(plot) => this.#select(plot)] },
    };
  }

  #drawDeadline(plot) {
    const { ctx, bbox } = plot;
    const x = plot.valToPos(this.measure.deadline, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) return;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour("late");
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.setLineDash([]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.font = `${12 * devicePixelRatio}px ${getComputedStyle(this.chart).fontFamily}`;
    ctx.textBaseline = "bottom";
    ctx.textAlign = x > bbox.left + bbox.width / 2 ? "right" : "left";
    ctx.fillText(" deadline ", x, bbox.top + bbox.height - 4);
    ctx.restore();
  }

  #select(plot) {
    const { left, width } = plot.select;
    if (width < 4) return;
    const [from, to] = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.#act((view) => view.set(from, to));
  }

  #act(change) {
    if (!this.plot) return;
    change(this.view);
    this.plot.setData(this.curves());
    this.#count();
  }

  #resize() {
    this.plot?.setSize({ width: this.chart.clientWidth, height: 340 });
  }
}
