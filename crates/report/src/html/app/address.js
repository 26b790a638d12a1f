// The address of a place on the page: section, chosen run, sorted column and filters.

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Section and values of the address: `#models&run=AR_gaming,J,4096&sort=score,down`. */
function readAddress() {
  const parts = location.hash.slice(1).split("&");
  const pairs = parts.filter((part) => part.includes("=")).map((part) => {
    const at = part.indexOf("=");
    return [part.slice(0, at), decoded(part.slice(at + 1))];
  });
  return { section: parts.find((part) => part !== "" && !part.includes("=")) ?? "", values: new Map(pairs) };
}

/** Writes the address; one that `isStep` is a step of its own for the buttons that go back and forth. */
function writeAddress({ section, values }, isStep) {
  const pairs = [...values].filter(([, value]) => value !== "");
  const readable = (value) => encodeURIComponent(value).replaceAll("%2C", ",").replaceAll("%3A", ":");
  const parts = pairs.map(([key, value]) => `${key}=${readable(value)}`);
  const hash = `#${(section === "" ? parts : [section, ...parts]).join("&")}`;
  if (hash === location.hash || (hash === "#" && location.hash === "")) return;
  history[isStep ? "pushState" : "replaceState"](null, "", hash);
}
