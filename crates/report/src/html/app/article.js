// Pages of sections with figures and tables: sweeps, comparisons, and other kinds that fill an article.

/** Sentences as a list, if there are any. */
function listOf(sentences) {
  const items = sentences.map((sentence) => h("li", {}, sentence));
  return items.length > 0 ? [h("ul", { class: "points" }, ...items)] : [];
}

function sectionOf({ id, title, lead, points, drawings, tables }) {
  const figures = drawings.map(({ svg, caption }) =>
    h("figure", { tabindex: 0 }, drawing(svg), h("figcaption", { class: "note" }, caption)),
  );
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title`, tabindex: -1 },
    h("h2", { id: `${id}-title` }, title),
    h("p", { class: "lead" }, lead),
    ...listOf(points),
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
    const provenance = { id: "provenance", title: "Provenance", lead, points: [], drawings: [], tables: [] };
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
