// Tables whose rows are lists of cells, as article.rs writes them.

/** A number with four decimals; one that is smaller and not 0 says so. */
function fixed(value) {
  const text = value.toFixed(4);
  return value !== 0 && Number(text) === 0 ? `${value < 0 ? "-" : ""}<0.0001` : text;
}

/** How the numbers of a column are written: whole, with four decimals if none is above 10, or with four digits each. */
function writerOf(values) {
  const present = values.filter((value) => value !== null);
  if (present.every(Number.isInteger)) return count;
  return present.every((value) => Math.abs(value) <= 10) ? fixed : short;
}

/** The first number of a text such as `0.988 ± 0.001` or `-<0.0001`; null without one. */
function numberIn(text) {
  const found = Number.parseFloat(text.replace("<", ""));
  return Number.isNaN(found) ? null : found;
}

/** A table that sorts; rows are lists of cells. */
function tableOfCells({ caption, columns, rows }) {
  const described = columns.map(({ label, title, is_text: isText, is_written: isWritten }, at) => {
    const write = isText || isWritten ? String : writerOf(rows.map((row) => row[at]));
    return {
      label,
      title: title || null,
      isText,
      value: (row) => (isWritten && !isText ? numberIn(row[at]) : row[at]),
      text: (row) => (row[at] === null ? NOTHING : write(row[at])),
    };
  });
  const table = new Table({ caption, columns: described, pageSize: 100 });
  table.setRows(rows);
  table.element.classList.add("cells");
  return table.element;
}
