// Pages of sections with figures and tables: sweeps, comparisons, and other kinds that fill an article.

/** A number of a cell. */
function figureOf(value) {
  return Number.isInteger(value) ? count(value) : short(value);
}

/** A table that sorts; rows are lists of cells. */
function tableOfCells({ caption, columns, rows }) {
  const described = columns.map(({ label, is_text: isText }, at) => ({
    // Names of columns may break after their underscores and full stops.
    label: label.replaceAll(/[_.]/g, "$&\u200b"),
    isText,
    value: (row) => row[at],
    text: (row) => (row[at] === null ? NOTHING : isText ? row[at] : figureOf(row[at])),
  }));
  const table = new Table({ caption, columns: described, pageSize: 100 });
  table.setRows(rows);
  return table.element;
}

function sectionOf({ id, title, lead, drawings, tables }) {
  const figures = drawings.map(({ svg, caption }) =>
    h("figure", {}, drawing(svg), h("figcaption", { class: "note" }, caption)),
  );
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title`, tabindex: -1 },
    h("h2", { id: `${id}-title` }, title),
    h("p", { class: "lead" }, lead),
    ...figures,
    ...tables.map(tableOfCells),
  );
}

await show(({ title, summary, sections, facts }) => {
  document.getElementById("title").textContent = title;
  document.title = `${title} – xrsim report`;
  const main = document.querySelector("main");
  main.append(...sections.map(sectionOf));
  const links = sections.map((section) => [section.id, section.title]);
  if (facts.length > 0) {
    const lead = "Program, settings and seed of the results.";
    const provenance = { id: "provenance", title: "Provenance", lead, drawings: [], tables: [] };
    const section = sectionOf(provenance);
    section.append(pairs("Settings", ["Key", "Value"], facts, true));
    main.append(section);
    links.push([provenance.id, provenance.title]);
  }
  document.getElementById("links").append(...links.map(([id, text]) => h("a", { href: `#${id}` }, text)));
  main.hidden = false;
  installTheme(() => {});
  return summary;
});
