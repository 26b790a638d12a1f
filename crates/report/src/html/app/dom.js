// Elements. Text reaches the document as text nodes and attributes only, never as markup.

/**
 * An element: `on…` properties are listeners, `class` and the rest are attributes; false and null
 * are left out.
 */
function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (value !== false && value !== null) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children);
  return element;
}

/** A labelled choice; `options` are pairs of value and text. */
function choice(label, options, onchange) {
  const select = h(
    "select",
    { onchange: () => onchange(select.value) },
    ...options.map(([value, text]) => h("option", { value }, text)),
  );
  return h("label", { class: "field" }, h("span", {}, label), select);
}

/** A group of radio buttons, the first chosen. */
function radios(label, options, onchange) {
  const name = `radio-${label.replace(/\W+/g, "-")}`;
  const buttons = options.map(([value, text], index) =>
    h(
      "label",
      {},
      h("input", { type: "radio", name, value, checked: index === 0, onchange: () => onchange(value) }),
      text,
    ),
  );
  return h("fieldset", { class: "radios" }, h("legend", {}, label), ...buttons);
}

/** A choice between the chosen run and all listed runs; `onchange` gets whether it is the chosen one. */
function scopeOf(things, onchange) {
  const options = [
    ["run", "the chosen run"],
    ["listed", "all runs listed above"],
  ];
  return radios(`${things} of`, options, (value) => onchange(value === "run"));
}

/** Makes all `button`s in `list` one stop of the tab key; arrow keys, Home and End move among them. */
function rove(list) {
  const buttons = () => [...list.querySelectorAll("button")];
  const enter = (button) => {
    buttons().forEach((other) => (other.tabIndex = other === button ? 0 : -1));
  };
  list.addEventListener("focusin", (event) => enter(event.target));
  list.addEventListener("keydown", (event) => {
    const all = buttons();
    const at = all.indexOf(event.target);
    const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: all.length - 1 }[event.key];
    if (at >= 0 && to !== undefined) {
      event.preventDefault();
      all[Math.max(0, Math.min(to, all.length - 1))].focus();
    }
  });
  return () => enter(buttons().find((button) => button.matches("[aria-pressed=true]")) ?? buttons()[0]);
}

/** A colour of the style sheet in the current theme. */
function colour(name) {
  const probe = document.getElementById("theme");
  probe.style.color = `var(--${name})`;
  const { color } = getComputedStyle(probe);
  probe.style.color = "";
  return color;
}

/** Names of models, in the order of lists. */
const modelOrder = [];

/** Number of colours, and the dashes, before they repeat. */
const N_COLOURS = 18;
const DASHES = [[], [7, 3], [2, 2], [9, 3, 2, 3]];

/** Place of every model in the palette, from the one table of figures and pages (figures/ink.rs). */
const modelPlace = new Map();

function modelColour(name) {
  return `series-${modelPlace.get(name) % N_COLOURS}`;
}

/** A dash that differs between neighbours, and between models of the same colour. */
function modelDash(name) {
  const at = modelPlace.get(name);
  return DASHES[(at + Math.floor(at / N_COLOURS)) % DASHES.length];
}
