// The timeline of the chosen run: pointer and keys.

/** Steps of the arrow keys: lanes and requests. */
const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** Largest movement of a pointer during a click [px]. */
const STRAY = 4;

/** The request of a mark of the timeline. */
function whole({ request }) {
  return request.whole ?? request;
}

class Timeline {
  constructor() {
    this.canvas = h("canvas", {
      tabindex: 0,
      role: "application",
      "aria-label":
        "Timeline. Left and right arrow: request before and after in the lane. Up and down: other lane. " +
        "Plus and minus: zoom. Page up and page down: move. 0: whole run. The table below has the same requests.",
    });
    this.selection = h("div", { class: "selection", hidden: true });
    this.tip = h("div", { class: "tip", hidden: true });
    this.spoken = h("p", { class: "unseen", "aria-live": "polite" });
    const frame = h("div", { class: "frame" }, this.canvas, this.selection, this.tip);
    const buttons = viewButtons("timeline", (change) => this.#change(change));
    this.element = h("div", { class: "timeline" }, buttons, frame, this.spoken, this.#legend());
    new ResizeObserver(() => this.draw()).observe(frame);
    this.#listen();
  }

  #legend() {
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
    const help =
      "Drag to zoom in, or hold Ctrl and turn the wheel; double click shows the whole run. " +
      "With the keyboard: arrows, + and −.";
    return h("div", {}, h("ul", { class: "legend" }, ...items), h("p", { class: "note" }, help));
  }

  show(run) {
    this.drawing = new Drawing(this.canvas, run);
    this.#explain(null);
  }

  draw() {
    this.drawing?.draw();
  }

  /** Brings a request into view and explains it. */
  reveal(request) {
    const lane = this.drawing.lanes.findIndex((lane) => lane.model === request.model);
    this.#explain({ request, lane });
  }

  /** Brings a request into view, and shows and speaks the facts about it; null hides them. */
  #explain(found) {
    if (found) this.drawing.view.reveal(...this.drawing.extent(found));
    this.#point(found);
    const sentences = found ? facts(whole(found)).map(([term, value]) => `${term}: ${value}`) : [];
    this.spoken.textContent = sentences.join(". ");
  }

  /** Marks a request and shows its facts beside pixel `x`, or at its first mark. */
  #point(found, x = null) {
    this.drawing.focus = found;
    this.draw();
    this.tip.hidden = found === null;
    if (found === null) return;
    const entries = facts(whole(found)).map(([term, value]) => [h("dt", {}, term), h("dd", {}, value)]);
    this.tip.replaceChildren(h("dl", {}, ...entries.flat()));
    const [from] = this.drawing.extent(found);
    const wanted = (x ?? Math.max(this.drawing.x(from), this.drawing.left)) + 12;
    const left = Math.max(0, Math.min(wanted, this.canvas.clientWidth - this.tip.offsetWidth));
    const top = this.drawing.middle(found.lane) + LANE / 2 + 4;
    Object.assign(this.tip.style, { left: `${left}px`, top: `${top}px` });
  }

  #change(change) {
    change(this.drawing.view);
    this.#point(null);
  }

  #listen() {
    const on = (type, act, options) => this.canvas.addEventListener(type, act, options);
    on("keydown", (event) => this.#type(event));
    on("blur", () => this.#point(null));
    on("dblclick", () => this.#change(VIEW_KEYS["0"]));
    on("wheel", (event) => this.#turn(event), { passive: false });
    on("pointerdown", (event) => this.#press(event));
    on("pointermove", (event) => (this.pressed ? this.#drag(event) : this.#hover(event)));
    on("pointerup", (event) => this.#release(event));
    on("pointercancel", () => this.#letGo());
    // A finger leaves with every tap; the facts stay.
    on("pointerleave", (event) => event.pointerType === "touch" || this.#point(null));
  }

  // Keys

  #type(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (ARROWS[event.key]) this.#step(...ARROWS[event.key]);
    else if (VIEW_KEYS[event.key]) this.#change(VIEW_KEYS[event.key]);
    else if (event.key === "Escape") this.#explain(null);
    else return;
    event.preventDefault();
  }

  /** Goes to the request before or after in the lane, or to another lane at about the same time. */
  #step(lanes, requests) {
    const { focus } = this.drawing;
    const next =
      focus === null ? this.#first() : lanes ? this.#across(focus, lanes) : this.#along(focus, requests);
    if (next) this.#explain(next);
  }

  /** The first visible request of the first lane that has any. */
  #first() {
    const lane = this.drawing.lanes.findIndex((lane) => lane.requests.length > 0);
    if (lane < 0) return null;
    const { requests } = this.drawing.lanes[lane];
    const isVisible = (request) => lastTime(request) >= this.drawing.view.from;
    return { request: requests.find(isVisible) ?? requests[0], lane };
  }

  #along({ request, lane }, by) {
    const { requests } = this.drawing.lanes[lane];
    const next = requests[requests.indexOf(request) + by];
    return next && { request: next, lane };
  }

  #across(focus, by) {
    const [time] = this.drawing.extent(focus);
    let lane = focus.lane + by;
    while (this.drawing.lanes[lane]?.requests.length === 0) lane += by;
    const away = (request) => Math.abs(this.drawing.extent({ request, lane })[0] - time);
    const nearest = (best, request) => (away(request) < away(best) ? request : best);
    return this.drawing.lanes[lane] && { request: this.drawing.lanes[lane].requests.reduce(nearest), lane };
  }

  // Pointer

  #turn(event) {
    const { deltaX, deltaY, shiftKey, ctrlKey, metaKey } = event;
    const at = this.drawing.time(event.offsetX);
    if (ctrlKey || metaKey) this.#change((view) => view.zoom(1.0015 ** -deltaY, at));
    else if (shiftKey || Math.abs(deltaX) > Math.abs(deltaY)) {
      this.#change((view) => view.pan((deltaX || deltaY) / 1000));
    } else return;
    event.preventDefault();
  }

  #hover(event) {
    this.#point(this.drawing.find(event.offsetX, event.offsetY), event.offsetX);
  }

  #press(event) {
    if (event.button !== 0) return;
    this.pressed = { x: event.offsetX, from: this.drawing.view.from, isDrag: false };
    this.canvas.setPointerCapture(event.pointerId);
  }

  /** A finger moves the view; a mouse marks the range to zoom into. */
  #drag(event) {
    const { pressed, drawing } = this;
    pressed.isDrag ||= Math.abs(event.offsetX - pressed.x) > STRAY;
    if (!pressed.isDrag) return;
    if (event.pointerType === "touch") {
      const from = pressed.from + drawing.time(pressed.x) - drawing.time(event.offsetX);
      return this.#change((view) => view.pan((from - view.from) / view.length));
    }
    const [left, right] = this.#marked(event);
    this.selection.hidden = false;
    Object.assign(this.selection.style, { left: `${left}px`, width: `${right - left}px` });
  }

  /** The pixels between press and pointer. */
  #marked(event) {
    const inside = [this.pressed.x, event.offsetX].map((x) => Math.max(x, this.drawing.left));
    return inside.sort((a, b) => a - b);
  }

  #release(event) {
    if (!this.pressed) return;
    const { isDrag } = this.pressed;
    const [from, to] = this.#marked(event).map((x) => this.drawing.time(x));
    this.#letGo();
    if (!isDrag) this.#explain(this.drawing.find(event.offsetX, event.offsetY));
    else if (event.pointerType !== "touch") this.#change((view) => view.set(from, to));
  }

  #letGo() {
    this.pressed = null;
    this.selection.hidden = true;
  }
}
