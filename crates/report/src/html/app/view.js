// The visible part of an axis.

/** A range from `from` to `to`, within limits. */
class View {
  constructor(from, to, smallest) {
    this.limits = { from, to, smallest };
    this.reset();
  }

  reset() {
    this.set(this.limits.from, this.limits.to);
  }

  set(from, to) {
    const { limits } = this;
    const length = Math.min(Math.max(to - from, limits.smallest), limits.to - limits.from);
    this.from = Math.min(Math.max(from, limits.from), limits.to - length);
    this.to = this.from + length;
  }

  get length() {
    return this.to - this.from;
  }

  get isWhole() {
    return this.from === this.limits.from && this.to === this.limits.to;
  }

  /** Divides the length by `factor`; `at` keeps its position. */
  zoom(factor, at = (this.from + this.to) / 2) {
    this.set(at - (at - this.from) / factor, at + (this.to - at) / factor);
  }

  /** Moves by a share of the visible length. */
  pan(share) {
    const by = this.length * share;
    const { limits } = this;
    const from = Math.min(Math.max(this.from + by, limits.from), limits.to - this.length);
    this.set(from, from + this.length);
  }

  /** Moves, and widens if needed, so that `from` to `to` is visible. */
  reveal(from, to) {
    if (from >= this.from && to <= this.to) return;
    const length = Math.max(this.length, (to - from) * 1.5);
    const middle = (from + to) / 2;
    this.set(middle - length / 2, middle + length / 2);
  }
}

/** Actions of keys and buttons on a view, by key. */
const VIEW_KEYS = {
  "+": (view) => view.zoom(2),
  "=": (view) => view.zoom(2),
  "-": (view) => view.zoom(0.5),
  0: (view) => view.reset(),
  PageUp: (view) => view.pan(-0.5),
  PageDown: (view) => view.pan(0.5),
};

/** Buttons of a view. */
function viewButtons(what, act) {
  const buttons = [
    ["−", "Zoom out", "-"],
    ["+", "Zoom in", "+"],
    ["◀", "Earlier", "PageUp"],
    ["▶", "Later", "PageDown"],
    ["Reset", "Show everything", "0"],
  ];
  return h(
    "div",
    { class: "buttons", role: "group", "aria-label": `Zoom of the ${what}` },
    ...buttons.map(([text, title, key]) =>
      h(
        "button",
        { type: "button", title, onclick: () => act(VIEW_KEYS[key]) },
        h("span", { "aria-hidden": "true" }, text),
        h("span", { class: "unseen" }, title),
      ),
    ),
  );
}
