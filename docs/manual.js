// What the pages of mdBook lack for readers without a mouse or a screen.
"use strict";

// Boxes that scroll can be reached by the keyboard, and have names.
for (const box of document.querySelectorAll("main .table-wrapper, main pre, main pre > code")) {
  if (box.scrollWidth <= box.clientWidth) continue;
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", box.matches(".table-wrapper") ? "Table" : "Listing");
}

// The bar above a page is a landmark.
document.getElementById("mdbook-menu-bar")?.setAttribute("role", "banner");

// The label that opens the contents becomes a button, which the keyboard reaches.
const label = document.getElementById("mdbook-sidebar-toggle");
const box = document.getElementById("mdbook-sidebar-toggle-anchor");
if (label && box) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = label.className;
  button.append(...label.childNodes);
  for (const name of ["title", "aria-label", "aria-controls"]) button.setAttribute(name, label.getAttribute(name));
  const show = () => button.setAttribute("aria-expanded", String(box.checked));
  button.addEventListener("click", () => box.click());
  box.addEventListener("change", show);
  show();
  label.replaceWith(button);
}
