// Numbers as text.

const NOTHING = "–";

const sorting = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

function ms(ns) {
  return ns === null ? NOTHING : (ns / 1e6).toFixed(3);
}

function score(value) {
  return value === null ? NOTHING : value.toFixed(3);
}

function count(value) {
  return grouped.format(value);
}

function millijoules(value) {
  return value >= 1000 ? grouped.format(value) : Number(value.toPrecision(4)).toString();
}

function percent(share) {
  return share === null ? NOTHING : `${(share * 100).toFixed(1)} %`;
}

/** `one run`, `2 runs`. */
function plural(n, noun) {
  return n === 1 ? `one ${noun}` : `${count(n)} ${noun}s`;
}

/** Different values of a property, in natural order. */
function distinct(items, key) {
  return [...new Set(items.map((item) => item[key]))].sort(sorting.compare);
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
