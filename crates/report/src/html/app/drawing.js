// Drawing of the timeline of a run: a lane for every accelerator and every model.

const LANE = 26;
const AXIS = 24;
const BAR = 14;
/** Space at the right for the last label of the axis [px]. */
const MARGIN = 12;
/** Largest distance of a pointer from the mark that it selects [px]. */
const REACH = 5;

/** Step of an axis: 1, 2 or 5 times a power of ten, for about `wanted` steps. */
function niceStep(length, wanted) {
  const rough = length / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((step) => step * power >= rough);
}

/** The last time at which a request has a mark that matters: deadlines of requests that nobody asked for do not. */
function lastTime(request) {
  if (request.isNotAsked) return request.arrival;
  return Math.max(request.deadline, request.end ?? 0, request.arrival);
}

/** Contents of the canvas and their positions. */
class Drawing {
  constructor(canvas, run) {
    Object.assign(this, { canvas, run, focus: null });
    this.lanes = [...this.#acceleratorLanes(), ...this.#modelLanes()];
    const last = run.inferences.reduce((last, request) => Math.max(last, lastTime(request)), 1);
    this.view = new View(0, last, 1000);
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
      requests: this.run.inferences
        .filter((request) => request.model === model)
        .sort((a, b) => a.arrival - b.arrival),
    }));
  }

  /** Draws everything in the width of the canvas. */
  draw() {
    this.width = this.canvas.clientWidth;
    if (this.width === 0) return;
    const { width } = this;
    const height = AXIS + this.lanes.length * LANE + 2;
    const pen = this.#pen(width, height);
    const labels = this.lanes.map((lane) => pen.measureText(lane.label).width);
    this.left = Math.min(Math.max(...labels) + 26, width / 3);
    this.colours = new Map();
    this.#drawAxis(pen, height);
    this.lanes.forEach((lane, index) => this.#drawLabel(pen, lane, index));
    pen.save();
    pen.beginPath();
    pen.rect(this.left, 0, width - this.left, height);
    pen.clip();
    this.lanes.forEach((lane, index) => this.#drawLane(pen, lane, index));
    pen.restore();
  }

  /** A pen for a canvas of this size in CSS pixels. */
  #pen(width, height) {
    const ratio = window.devicePixelRatio || 1;
    Object.assign(this.canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    this.canvas.style.height = `${height}px`;
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = `12px ${getComputedStyle(this.canvas).fontFamily}`;
    pen.textBaseline = "middle";
    return pen;
  }

  #colour(name) {
    if (!this.colours.has(name)) this.colours.set(name, colour(name));
    return this.colours.get(name);
  }

  /** Pixel of a time, kept near the canvas where the time is far from it. */
  x(time) {
    const { from, length } = this.view;
    const x = this.left + ((time - from) / length) * (this.width - this.left - MARGIN);
    return Math.min(Math.max(x, -1e4), 1e5);
  }

  time(x) {
    const { from, length } = this.view;
    return from + ((x - this.left) / (this.width - this.left - MARGIN)) * length;
  }

  middle(lane) {
    return AXIS + (lane + 0.5) * LANE;
  }

  #drawAxis(pen, height) {
    const step = niceStep(this.view.length, (this.width - this.left) / 90);
    const digits = Math.max(0, Math.min(6, Math.ceil(-Math.log10(step / 1e6) - 1e-9)));
    pen.textAlign = "center";
    for (let at = Math.ceil(this.view.from / step) * step; at <= this.view.to; at += step) {
      const x = this.x(at);
      pen.fillStyle = this.#colour("grid");
      pen.fillRect(x, AXIS - 4, 1, height);
      pen.fillStyle = this.#colour("quiet");
      pen.fillText((at / 1e6).toFixed(digits), x, AXIS / 2);
    }
    pen.textAlign = "left";
    pen.fillText("ms", 4, AXIS / 2);
  }

  #drawLabel(pen, lane, index) {
    const middle = this.middle(index);
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
    const visible = lane.requests.filter(
      (request) => lastTime(request) >= this.view.from && request.arrival <= this.view.to,
    );
    if (lane.accelerator !== undefined)
      return visible.forEach((request) => this.#drawSlice(pen, request, index));
    visible.forEach((request) => this.#drawRequest(pen, request, index));
    visible
      .filter((request) => !request.isExecuted)
      .forEach((request) => this.#drawEnd(pen, request, this.middle(index)));
  }

  #drawSlice(pen, request, lane) {
    const [from, to] = [this.x(request.start), this.x(request.end)];
    const top = this.middle(lane) - BAR / 2;
    pen.fillStyle = this.#colour(modelColour(request.model.model));
    pen.fillRect(from, top, Math.max(to - from - 0.5, 1), BAR);
    this.#drawName(pen, request, from, to, top);
    this.#drawFocus(pen, request, from, to, top);
  }

  /** Writes the name into its bar if it fits. */
  #drawName(pen, request, from, to, top) {
    const left = Math.max(from, this.left);
    if (to - left < 24) return;
    const text = [request.name, request.model.model].find(
      (text) => pen.measureText(text).width < to - left - 6,
    );
    if (!text) return;
    pen.fillStyle = this.#colour(`on-${modelColour(request.model.model)}`);
    pen.fillText(text, left + 3, top + BAR / 2 + 1);
  }

  #drawFocus(pen, request, from, to, top) {
    if (request !== this.focus?.request) return;
    pen.strokeStyle = this.#colour("text");
    pen.lineWidth = 2;
    pen.strokeRect(from - 2, top - 2, Math.max(to - from, 1) + 4, BAR + 4);
  }

  #drawRequest(pen, request, lane) {
    const middle = this.middle(lane);
    const ink = this.#colour(modelColour(request.model.model));
    const arrival = this.x(request.arrival);
    const waited = request.start ?? request.end ?? request.arrival;
    pen.fillStyle = ink;
    pen.globalAlpha = 0.55;
    pen.fillRect(arrival, middle - 1.5, this.x(waited) - arrival, 3);
    pen.globalAlpha = 1;
    pen.fillStyle = this.#colour("quiet");
    pen.fillRect(this.x(request.deadline) - 0.75, middle - LANE * 0.4, 1.5, LANE * 0.8);
    if (!request.isExecuted) return;
    const [from, to] = [this.x(request.start), this.x(request.end)];
    pen.fillStyle = ink;
    pen.fillRect(from, middle - 1.5, to - from, 3);
    for (const part of request.parts) {
      const [left, right] = [this.x(part.start), this.x(part.end)];
      pen.fillStyle = ink;
      pen.fillRect(left, middle - BAR / 2, Math.max(right - left - 0.5, 1), BAR);
      this.#drawName(pen, request, left, right, middle - BAR / 2);
    }
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
    const x = this.x(request.end ?? request.arrival);
    pen.beginPath();
    if (request.outcome === "dropped") {
      pen.moveTo(x - 4, middle - 4);
      pen.lineTo(x + 4, middle + 4);
      pen.moveTo(x - 4, middle + 4);
      pen.lineTo(x + 4, middle - 4);
    } else if (request.isNotAsked) {
      pen.arc(x, middle, 3.5, 0, 2 * Math.PI);
    } else {
      pen.rect(x - 3.5, middle - 3.5, 7, 7);
    }
    // A rim in the colour of the page separates the mark from bars below it.
    for (const [ink, width] of [
      ["paper", 4],
      ["text", 1.5],
    ]) {
      pen.strokeStyle = this.#colour(ink);
      pen.lineWidth = width;
      pen.stroke();
    }
    this.#drawFocus(pen, request, Math.min(this.x(request.arrival), x - 4), x + 4, middle - BAR / 2);
  }

  // Finding

  /** The request at a point of the canvas, with its lane. */
  find(x, y) {
    const lane = Math.floor((y - AXIS) / LANE);
    if (!this.lanes[lane] || x < this.left) return null;
    let best = null;
    for (const request of this.lanes[lane].requests) {
      const [from, to] = this.extent({ request, lane }).map((time) => this.x(time));
      const away = Math.max(from - x, x - to, 0) - this.#runsAt(request, x);
      // Where requests overlap, the one that runs there is selected, otherwise the later one.
      if (away <= REACH && (best === null || away <= best.away)) best = { request, lane, away };
    }
    return best && { request: best.request, lane };
  }

  /** 1 if a request runs at pixel `x`, 0 if not. */
  #runsAt(request, x) {
    return request.isExecuted && this.x(request.start) <= x && x <= this.x(request.end) ? 1 : 0;
  }

  /** First and last time of the marks of a request in a lane. */
  extent({ request, lane }) {
    if (this.lanes[lane].accelerator !== undefined) return [request.start, request.end];
    return [request.arrival, request.end ?? request.arrival];
  }
}
