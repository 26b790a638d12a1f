// The timeline of one run: a lane for every accelerator and every model.

const LANE = 26;
const AXIS = 24;
const BAR = 14;
/** Room at the right for the last label of the axis. */
const MARGIN = 12;
/** How near a pointer must come to a mark [px]. */
const REACH = 5;

/** What a reader learns of a request: terms and values. */
function facts(request) {
  const pairs = [
    ["Request", `${request.name} (${request.model.network})`],
    ["Outcome", outcomeOf(request)],
    ["Why", why(request)],
    ["Arrival", `${ms(request.arrival)} ms`],
    ["Start", request.start === null ? NOTHING : `${ms(request.start)} ms`],
    ["End", request.end === null ? NOTHING : `${ms(request.end)} ms`],
    ["Deadline", `${ms(request.deadline)} ms`],
    ["Slack", `${ms(request.slack)} ms from arrival to deadline`],
  ];
  if (request.isExecuted) {
    const { realtime, energy, accuracy, inference } = request;
    pairs.push(
      ["Latency", `${ms(request.latency)} ms: ${ms(request.waiting)} waiting, ${ms(request.execution)} running`],
      ["Accelerator", request.accelerator],
      ["Scores", `real time ${score(realtime)}, energy ${score(energy)}, accuracy ${score(accuracy)}; product ${score(inference)}`],
    );
  }
  pairs.push(["Energy", `${millijoules(request.energy_mj)} mJ`]);
  return pairs;
}

/** Steps of an axis: 1, 2 or 5 times a power of ten, about `wanted` of them. */
function niceStep(length, wanted) {
  const rough = length / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((step) => step * power >= rough);
}

/** Canvas, its keys and pointer, and the box that explains a request. */
class Timeline {
  constructor() {
    this.canvas = h("canvas", {
      tabindex: 0,
      role: "application",
      "aria-label":
        "Timeline. Left and right arrow: request before and after in the lane. Up and down: other lane. " +
        "Plus and minus: zoom. Page up and page down: move. 0: whole run. The table below has the same requests.",
    });
    this.box = h("div", { class: "tip", hidden: true });
    this.spoken = h("p", { class: "unseen", "aria-live": "polite" });
    this.selection = h("div", { class: "selection", hidden: true });
    this.frame = h("div", { class: "frame" }, this.canvas, this.selection, this.box);
    const buttons = viewButtons("timeline", (act) => this.#act(act));
    this.element = h("div", { class: "timeline" }, buttons, this.frame, this.spoken, this.#key());
    this.#listen();
  }

  #key() {
    const entries = [
      ["▬", "execution, in the colour of the model"],
      ["━", "waiting"],
      ["|", "deadline"],
      ["▼", "late"],
      ["×", "dropped"],
      ["○", "not triggered"],
      ["□", "lost at the end of the run"],
    ];
    const items = entries.map(([sign, text]) => h("li", {}, h("b", { "aria-hidden": "true" }, sign), text));
    const help = "Drag to zoom in, or hold Ctrl and turn the wheel; double click shows the whole run. With the keyboard: arrows, + and −.";
    return h("div", {}, h("ul", { class: "legend" }, ...items), h("p", { class: "note" }, help));
  }

  show(run) {
    this.run = run;
    this.focus = null;
    this.lanes = [...this.#acceleratorLanes(), ...this.#modelLanes()];
    const last = run.requests.reduce((last, request) => Math.max(last, request.end ?? 0, request.deadline), 1);
    this.view = new View(0, last, 1000);
    this.#explain(null);
    this.draw();
  }

  /** Brings a request into view and explains it. */
  reveal(request) {
    const lane = this.lanes.findIndex((lane) => lane.model === request.model);
    this.#focusOn(request, lane);
  }

  #acceleratorLanes() {
    const { slices } = this.run;
    const names = [...slices.keys()].sort(sorting.compare);
    return names.map((name) => ({ label: name, accelerator: name, requests: slices.get(name) }));
  }

  #modelLanes() {
    return this.run.models.map((model) => ({
      label: model.model,
      model,
      requests: this.run.requests.filter((request) => request.model === model).sort((a, b) => a.arrival - b.arrival),
    }));
  }

  // Drawing

  draw() {
    const width = this.frame.clientWidth;
    if (!this.run || width === 0) return;
    const height = AXIS + this.lanes.length * LANE + 2;
    const ratio = window.devicePixelRatio || 1;
    Object.assign(this.canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    this.canvas.style.height = `${height}px`;
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = `12px ${getComputedStyle(this.canvas).fontFamily}`;
    pen.textBaseline = "middle";
    this.colours = new Map();
    this.width = width;
    const labels = this.lanes.map((lane) => pen.measureText(lane.label).width);
    this.left = Math.min(Math.max(...labels) + 26, width / 3);
    this.#drawAxis(pen, height);
    this.lanes.forEach((lane, index) => this.#drawLabel(pen, lane, index));
    pen.save();
    pen.beginPath();
    pen.rect(this.left, 0, width - this.left, height);
    pen.clip();
    this.lanes.forEach((lane, index) => this.#drawLane(pen, lane, index));
    pen.restore();
  }

  #colour(name) {
    if (!this.colours.has(name)) this.colours.set(name, colour(name));
    return this.colours.get(name);
  }

  /** Pixel of a time, kept near the canvas where the time is far from it. */
  #x(time) {
    const { from, length } = this.view;
    const x = this.left + ((time - from) / length) * (this.width - this.left - MARGIN);
    return Math.min(Math.max(x, -1e4), 1e5);
  }

  #time(x) {
    const { from, length } = this.view;
    return from + ((x - this.left) / (this.width - this.left - MARGIN)) * length;
  }

  #middle(lane) {
    return AXIS + (lane + 0.5) * LANE;
  }

  #drawAxis(pen, height) {
    const step = niceStep(this.view.length, (this.width - this.left) / 90);
    const digits = Math.max(0, Math.min(6, Math.ceil(-Math.log10(step / 1e6) - 1e-9)));
    pen.textAlign = "center";
    for (let at = Math.ceil(this.view.from / step) * step; at <= this.view.to; at += step) {
      const x = this.#x(at);
      pen.fillStyle = this.#colour("grid");
      pen.fillRect(x, AXIS - 4, 1, height);
      pen.fillStyle = this.#colour("quiet");
      pen.fillText((at / 1e6).toFixed(digits), x, AXIS / 2);
    }
    pen.textAlign = "left";
    pen.fillText("ms", 4, AXIS / 2);
  }

  #drawLabel(pen, lane, index) {
    const middle = this.#middle(index);
    pen.fillStyle = this.#colour("grid");
    pen.fillRect(0, middle - LANE / 2, this.width, lane.model && !this.lanes[index - 1]?.model ? 2 : 1);
    if (lane.model) {
      pen.fillStyle = this.#colour(modelColour(lane.label));
      pen.fillRect(4, middle - 5, 10, 10);
    }
    pen.fillStyle = this.#colour("text");
    pen.save();
    pen.beginPath();
    pen.rect(0, middle - LANE / 2, this.left - 6, LANE);
    pen.clip();
    pen.fillText(lane.label, lane.model ? 19 : 4, middle);
    pen.restore();
  }

  #drawLane(pen, lane, index) {
    const visible = lane.requests.filter((request) => this.#last(request) >= this.view.from && request.arrival <= this.view.to);
    if (lane.accelerator) return visible.forEach((request) => this.#drawSlice(pen, request, index));
    visible.forEach((request) => this.#drawRequest(pen, request, index));
    visible.filter((request) => !request.isExecuted).forEach((request) => this.#drawEnd(pen, request, this.#middle(index)));
  }

  #last(request) {
    return Math.max(request.deadline, request.end ?? 0, request.arrival);
  }

  #drawSlice(pen, request, lane) {
    const [from, to] = [this.#x(request.start), this.#x(request.end)];
    const top = this.#middle(lane) - BAR / 2;
    pen.fillStyle = this.#colour(modelColour(request.model.model));
    pen.fillRect(from, top, Math.max(to - from - 0.5, 1), BAR);
    this.#drawName(pen, request, from, to, top);
    this.#drawFocus(pen, request, from, to, top);
  }

  /** The name in its bar, if it fits. */
  #drawName(pen, request, from, to, top) {
    const left = Math.max(from, this.left);
    if (to - left < 24) return;
    const text = [request.name, request.model.model].find((text) => pen.measureText(text).width < to - left - 6);
    if (!text) return;
    pen.fillStyle = this.#colour(`on-${modelColour(request.model.model)}`);
    pen.fillText(text, left + 3, top + BAR / 2 + 1);
  }

  #drawFocus(pen, request, from, to, top) {
    if (request !== this.focus) return;
    pen.strokeStyle = this.#colour("text");
    pen.lineWidth = 2;
    pen.strokeRect(from - 2, top - 2, Math.max(to - from, 1) + 4, BAR + 4);
  }

  #drawRequest(pen, request, lane) {
    const middle = this.#middle(lane);
    const ink = this.#colour(modelColour(request.model.model));
    const arrival = this.#x(request.arrival);
    const waited = request.start ?? (request.outcome === "dropped" ? request.end : request.arrival);
    pen.fillStyle = ink;
    pen.globalAlpha = 0.55;
    pen.fillRect(arrival, middle - 1.5, this.#x(waited) - arrival, 3);
    pen.globalAlpha = 1;
    pen.fillStyle = this.#colour("quiet");
    pen.fillRect(this.#x(request.deadline) - 0.75, middle - LANE * 0.4, 1.5, LANE * 0.8);
    if (!request.isExecuted) return;
    const [from, to] = [this.#x(request.start), this.#x(request.end)];
    pen.fillStyle = ink;
    pen.fillRect(from, middle - BAR / 2, Math.max(to - from - 0.5, 1), BAR);
    this.#drawName(pen, request, from, to, middle - BAR / 2);
    if (request.isLate) this.#drawLate(pen, to, middle);
    this.#drawFocus(pen, request, Math.min(arrival, from), to, middle - BAR / 2);
  }

  #drawLate(pen, x, middle) {
    pen.fillStyle = this.#colour("late");
    pen.beginPath();
    pen.moveTo(x - 5, middle - BAR / 2 - 5);
    pen.lineTo(x + 5, middle - BAR / 2 - 5);
    pen.lineTo(x, middle - BAR / 2 + 3);
    pen.fill();
  }

  /** The mark of a request that was not executed. */
  #drawEnd(pen, request, middle) {
    const x = this.#x(this.#markTime(request));
    pen.beginPath();
    if (request.outcome === "dropped") {
      pen.moveTo(x - 4, middle - 4);
      pen.lineTo(x + 4, middle + 4);
      pen.moveTo(x - 4, middle + 4);
      pen.lineTo(x + 4, middle - 4);
    } else if (request.outcome === "not_triggered") {
      pen.arc(x, middle, 3.5, 0, 2 * Math.PI);
    } else {
      pen.rect(x - 3.5, middle - 3.5, 7, 7);
    }
    // A rim of paper keeps the mark apart from bars that it lies on.
    for (const [ink, width] of [["paper", 4], ["text", 1.5]]) {
      pen.strokeStyle = this.#colour(ink);
      pen.lineWidth = width;
      pen.stroke();
    }
    this.#drawFocus(pen, request, Math.min(this.#x(request.arrival), x - 4), x + 4, middle - BAR / 2);
  }

  #markTime(request) {
    return request.outcome === "dropped" ? request.end : request.arrival;
  }

  // Finding

  /** The request at a point of the canvas. */
  #at(x, y) {
    const lane = Math.floor((y - AXIS) / LANE);
    if (!this.lanes[lane] || x < this.left) return null;
    const distance = (request) => {
      const [from, to] = this.#extent(request, this.lanes[lane]).map((time) => this.#x(time));
      return Math.max(from - x, x - to, 0);
    };
    const near = this.lanes[lane].requests.map((request) => [distance(request), request]);
    // Of requests that overlap, the pointer means the one that runs there, then the later.
    const best = near.filter(([away]) => away <= REACH).sort(([a, left], [b, right]) => a - b || this.#runsAt(right, x) - this.#runsAt(left, x) || right.arrival - left.arrival)[0];
    return best ? { request: best[1], lane } : null;
  }

  #runsAt(request, x) {
    return request.isExecuted && this.#x(request.start) <= x && x <= this.#x(request.end) ? 1 : 0;
  }

  /** From when to when a request has marks in a lane. */
  #extent(request, lane) {
    if (lane.accelerator) return [request.start, request.end];
    return [request.arrival, request.end ?? this.#markTime(request)];
  }

  // Explaining

  #focusOn(request, lane) {
    this.view.reveal(...this.#extent(request, this.lanes[lane]));
    this.focus = request;
    this.lane = lane;
    this.draw();
    this.#explain({ request, lane });
    this.spoken.textContent = facts(request).map(([term, value]) => `${term}: ${value}`).join(". ");
  }

  /** Shows the box beside a request, or hides it. */
  #explain(found, x = null) {
    this.box.hidden = found === null;
    if (found === null) return;
    const { request, lane } = found;
    this.box.replaceChildren(h("dl", {}, ...facts(request).flatMap(([term, value]) => [h("dt", {}, term), h("dd", {}, value)])));
    const [from] = this.#extent(request, this.lanes[lane]);
    const wanted = (x ?? Math.max(this.#x(from), this.left)) + 12;
    const left = Math.max(0, Math.min(wanted, this.width - this.box.offsetWidth));
    Object.assign(this.box.style, { left: `${left}px`, top: `${this.#middle(lane) + LANE / 2 + 4}px` });
  }

  // Acting

  #act(change) {
    change(this.view);
    this.#explain(null);
    this.draw();
  }

  #listen() {
    new ResizeObserver(() => this.draw()).observe(this.frame);
    const { canvas } = this;
    canvas.addEventListener("keydown", (event) => this.#key_(event));
    canvas.addEventListener("blur", () => this.#explain(null));
    canvas.addEventListener("dblclick", () => this.#act(VIEW_KEYS["0"]));
    canvas.addEventListener("wheel", (event) => this.#turn(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.#press(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#release(event));
    canvas.addEventListener("pointercancel", () => this.#drop());
    canvas.addEventListener("pointerleave", () => this.#hover(null));
  }

  #key_(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (steps[event.key]) this.#step(...steps[event.key]);
    else if (VIEW_KEYS[event.key]) this.#act(VIEW_KEYS[event.key]);
    else if (event.key === "Escape") this.#explain(null);
    else return;
    event.preventDefault();
  }

  /** Moves the focus along a lane, or to the next lane at about the same time. */
  #step(along, across) {
    if (this.focus === null) {
      const lane = this.lanes.findIndex((lane) => lane.requests.length > 0);
      if (lane >= 0) this.#focusOn(this.lanes[lane].requests.find((request) => this.#last(request) >= this.view.from) ?? this.lanes[lane].requests[0], lane);
      return;
    }
    if (across !== 0) return this.#stepAcross(across);
    const { requests } = this.lanes[this.lane];
    const next = requests[requests.indexOf(this.focus) + along];
    if (next) this.#focusOn(next, this.lane);
  }

  #stepAcross(across) {
    const [time] = this.#extent(this.focus, this.lanes[this.lane]);
    for (let lane = this.lane + across; this.lanes[lane]; lane += across) {
      const { requests } = this.lanes[lane];
      if (requests.length === 0) continue;
      const away = (request) => Math.abs(this.#extent(request, this.lanes[lane])[0] - time);
      return this.#focusOn(requests.reduce((best, request) => (away(request) < away(best) ? request : best)), lane);
    }
  }

  #turn(event) {
    const { deltaX, deltaY, shiftKey, ctrlKey, metaKey } = event;
    if (ctrlKey || metaKey) this.#act((view) => view.zoom(1.0015 ** -deltaY, this.#time(event.offsetX)));
    else if (shiftKey || Math.abs(deltaX) > Math.abs(deltaY)) this.#act((view) => view.pan((deltaX || deltaY) / 1000));
    else return;
    event.preventDefault();
  }

  #press(event) {
    if (event.button !== 0) return;
    this.pressed = { x: event.offsetX, from: this.view.from, moved: false };
    this.canvas.setPointerCapture(event.pointerId);
  }

  #move(event) {
    if (!this.pressed) return this.#hover(event);
    const { pressed } = this;
    pressed.moved ||= Math.abs(event.offsetX - pressed.x) > 4;
    if (!pressed.moved) return;
    if (event.pointerType === "touch") {
      const by = this.#time(pressed.x) - this.#time(event.offsetX);
      return this.#act((view) => view.pan((pressed.from + by - view.from) / view.length));
    }
    const [left, right] = [pressed.x, event.offsetX].sort((a, b) => a - b);
    const from = Math.max(left, this.left);
    this.selection.hidden = false;
    Object.assign(this.selection.style, { left: `${from}px`, width: `${Math.max(right - from, 0)}px` });
  }

  #release(event) {
    const { pressed } = this;
    this.#drop();
    if (!pressed) return;
    if (!pressed.moved) return this.#click(event);
    if (event.pointerType === "touch") return;
    const [from, to] = [pressed.x, event.offsetX].map((x) => this.#time(Math.max(x, this.left))).sort((a, b) => a - b);
    this.#act((view) => view.set(from, to));
  }

  #drop() {
    this.pressed = null;
    this.selection.hidden = true;
  }

  #click(event) {
    const found = this.#at(event.offsetX, event.offsetY);
    if (found) this.#focusOn(found.request, found.lane);
  }

  #hover(event) {
    const found = event && this.run ? this.#at(event.offsetX, event.offsetY) : null;
    if (found?.request !== this.focus || found === null) {
      this.focus = found?.request ?? null;
      this.lane = found?.lane;
      this.draw();
    }
    this.#explain(found, event?.offsetX);
  }
}

/** The requests of the chosen run as a table. */
function requestTable(onpick) {
  const text = (label, value) => ({ label, value, isText: true });
  const time = (label, title, value) => ({ label: `${label} [ms]`, title, value, text: (request) => ms(value(request)) });
  return new Table({
    caption: "Requests of the chosen run",
    pageSize: 50,
    onpick,
    columns: [
      text("Request", (request) => request.name),
      text("Outcome", outcomeOf),
      time("Arrival", "Arrival of the input data", (request) => request.arrival),
      time("Deadline", "Nominal deadline", (request) => request.deadline),
      time("Start", "Start of execution", (request) => request.start),
      time("End", "End of execution, or when it was given up", (request) => request.end),
      time("Slack", "From arrival to deadline", (request) => request.slack),
      time("Latency", "From arrival to end, waiting included", (request) => request.latency),
      time("Left", "From end to deadline; below zero if late", (request) => request.margin),
      text("Accelerator", (request) => request.accelerator),
      { label: "Energy [mJ]", value: (request) => request.energy_mj, text: (request) => millijoules(request.energy_mj) },
      { label: "Inference score", title: "Definition 14", value: (request) => request.inference, text: (request) => score(request.inference) },
      text("Why", why),
    ],
  });
}
