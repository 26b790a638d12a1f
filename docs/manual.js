// Boxes that scroll can be reached by the keyboard, and have names.
"use strict";
for (const box of document.querySelectorAll("main .table-wrapper, main pre, main pre > code")) {
  if (box.scrollWidth <= box.clientWidth) continue;
  box.tabIndex = 0;
  if (box.matches(".table-wrapper")) {
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", "Table");
  }
}
