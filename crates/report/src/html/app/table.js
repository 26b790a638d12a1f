// Tables that sort and turn pages.

/** Places where a line may break: after a sign that joins words, and within very long words. */
const BREAKS = /(?<=[_:=,/|-])(?=\p{L})|(?<=[^\s_:=,/|-]{14})(?=[^\s_:=,/|-]{14})/u;

/** Content of a cell, with places where lines may break. */
function breakable(content) {
  if (typeof content !== "string") return [content];
  return content.split(BREAKS).flatMap((part, at) => (at > 0 ? [h("wbr"), part] : [part]));
}

function classOf({ isText, isProse }) {
  return isProse ? "text prose" : isText ? "text" : null;
}

/**
 * A table of `columns`: `label`, `value(row)` to sort by, and optionally `text(row)` to show (text or
 * element), `title` (meaning of the column), `isText`, `isProse` (whole sentences). The button in the first column calls `onpick`.
 */
class Table {
  constructor({ caption, columns, pageSize = 250, sortBy = null, onpick = null, onsort = () => {} }) {
    Object.assign(this, { columns, pageSize, onpick, onsort });
    this.rows = [];
    this.picked = null;
    this.page = 0;
    this.order = sortBy;
    this.head = h("tr", {}, ...columns.map((column) => this.#heading(column)));
    this.body = h("tbody");
    this.stepIn = rove(this.body);
    const table = h(
      "table",
      {},
      h("caption", { class: "unseen" }, caption),
      h("thead", {}, this.head),
      this.body,
    );
    this.status = h("span", { "aria-live": "polite" });
    this.turns = [this.#turn("Previous", -1), this.#turn("Next", 1)];
    this.pager = h("div", { class: "pager" }, this.status, ...this.turns);
    const scroll = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, table);
    this.element = h("div", { class: "table" }, scroll, this.pager);
  }

  #heading(column) {
    const sign = h("span", { class: "sign", "aria-hidden": "true" });
    const button = h("button", { type: "button", onclick: () => this.#sortBy(column) }, column.label, sign);
    return h(
      "th",
      { scope: "col", title: column.title ?? null, class: classOf(column) },
      button,
    );
  }

  #turn(text, step) {
    return h("button", { type: "button", onclick: () => this.#turnTo(this.page + step) }, text);
  }

  #turnTo(page) {
    this.page = page;
    this.#show();
  }

  /** Sorts words upwards and numbers downwards, at the second click the other way; the third restores the order. */
  #sortBy(column) {
    const first = column.isText ? 1 : -1;
    const direction = this.order?.column === column ? this.order.direction : 0;
    this.order =
      { 0: { column, direction: first }, [first]: { column, direction: -first } }[direction] ?? null;
    this.update();
    this.onsort(this.rows);
  }

  /** The sorted column and its direction, as an address has them; empty without one. */
  get sorted() {
    if (!this.order?.column.key) return "";
    return `${this.order.column.key},${this.order.direction > 0 ? "up" : "down"}`;
  }

  /** Sorts as an address says. */
  set sorted(text) {
    const [key, direction] = text.split(",");
    const column = this.columns.find((column) => column.key === key);
    this.order = column && key ? { column, direction: direction === "up" ? 1 : -1 } : null;
  }

  /** Shows `rows` in the chosen order. */
  setRows(rows) {
    this.given = rows;
    this.page = 0;
    this.update();
  }

  update() {
    this.rows = this.order ? this.#sorted() : this.given;
    this.columns.forEach((column, index) => {
      const direction = this.order?.column === column ? this.order.direction : 0;
      const heading = this.head.children[index];
      heading.setAttribute("aria-sort", { 1: "ascending", "-1": "descending" }[direction] ?? "none");
      heading.querySelector(".sign").textContent = { 1: "▲", "-1": "▼" }[direction] ?? "";
    });
    this.#show();
  }

  /** Rows without a value come last in either direction. */
  #sorted() {
    const { column, direction } = this.order;
    const compare = column.isText ? sorting.compare : (a, b) => a - b;
    const keyed = this.given.map((row) => [column.value(row), row]);
    keyed.sort(([a], [b]) =>
      a === null || b === null ? (a === null) - (b === null) : direction * compare(a, b),
    );
    return keyed.map(([, row]) => row);
  }

  /** Marks a row as chosen, and shows its page. */
  pick(row) {
    this.picked = row;
    const at = this.rows.indexOf(row);
    if (at >= 0) this.page = Math.floor(at / this.pageSize);
    this.#show();
  }

  #show() {
    const first = this.page * this.pageSize;
    const rows = this.rows.slice(first, first + this.pageSize);
    this.body.replaceChildren(...rows.map((row) => this.#row(row)));
    this.stepIn();
    const last = first + rows.length;
    this.status.textContent =
      rows.length === this.rows.length
        ? plural(rows.length, "row")
        : `rows ${first + 1} to ${last} of ${count(this.rows.length)}`;
    const [previous, next] = this.turns;
    previous.disabled = first === 0;
    next.disabled = last === this.rows.length;
    previous.hidden = next.hidden = this.rows.length <= this.pageSize;
  }

  #row(row) {
    const isPicked = row === this.picked;
    const cells = this.columns.map((column, index) => {
      const content = breakable((column.text ?? column.value)(row) || NOTHING);
      const picks = index === 0 && this.onpick !== null;
      const button = () =>
        h(
          "button",
          {
            type: "button",
            class: "link",
            "aria-pressed": String(isPicked),
            onclick: () => this.onpick(row),
          },
          ...content,
        );
      return h(
        index === 0 ? "th" : "td",
        { class: classOf(column), scope: index === 0 ? "row" : null },
        ...(picks ? [button()] : content),
      );
    });
    return h("tr", { class: isPicked ? "picked" : null }, ...cells);
  }
}
