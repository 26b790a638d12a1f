// Parts of every page: the theme, the results that it carries, and the message where they cannot be shown.

const root = document.documentElement;

/** Light or dark theme: that of the system until the reader chooses. */
function installTheme(onchange) {
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.style.colorScheme || (system.matches ? "dark" : "light")) === "dark";
  const show = () => {
    button.textContent = isDark() ? "Light theme" : "Dark theme";
    root.dataset.theme = isDark() ? "dark" : "light";
    onchange();
  };
  button.addEventListener("click", () => {
    root.style.colorScheme = isDark() ? "light" : "dark";
    show();
  });
  system.addEventListener("change", show);
  button.hidden = false;
  show();
}

/** A folded table of pairs. */
function pairs(title, [key, value], entries, isOpen) {
  if (entries.length === 0) return "";
  const columns = [
    { label: key, value: (pair) => pair[0], isText: true },
    { label: value, value: (pair) => pair[1], isText: true },
  ];
  const table = new Table({ caption: title, columns, pageSize: 100 });
  table.setRows(entries);
  return h("details", { open: isOpen }, h("summary", {}, `${title} (${entries.length})`), table.element);
}

/** A drawing of the program; its role is `img`, and it has a title. */
function drawing(svg) {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
  return document.importNode(parsed.documentElement, true);
}

/** An object that throws on missing keys, which would be shown as empty cells otherwise. */
function strict(object) {
  const get = (target, key) => {
    if (typeof key === "string" && !(key in target)) throw new Error(`the data has no “${key}”`);
    return target[key];
  };
  return new Proxy(object, { get });
}

/** The data of the page, as text. */
async function unpack() {
  const text = document.getElementById("results").textContent;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(inflated).text();
}

/** Parses the data; its objects are strict. */
function parse(text) {
  const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  return JSON.parse(text, (_, value) => (isObject(value) ? strict(value) : value));
}

/** The command that made the results, with a button that copies it. */
function commandLine(command) {
  const code = h("code", {}, command);
  const button = h("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command);
      button.textContent = "Copied";
    } catch {
      // Without access to the clipboard, the reader copies what is selected.
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
  });
  return h("div", { class: "command", role: "group", "aria-label": "Command of these results" }, code, button);
}

/** Passes the results to `start`, which fills the page and returns a summary. */
async function show(start) {
  const summary = document.getElementById("summary");
  try {
    const results = parse(await unpack());
    summary.textContent = start(results);
    if (results.command) summary.after(commandLine(results.command));
  } catch (error) {
    const message =
      typeof DecompressionStream === "undefined"
        ? "this browser is too old; one of 2024 or later is needed"
        : error;
    summary.textContent = `The results cannot be shown: ${message}`;
    throw error;
  }
}
