// Requests in words and as a table.

function segmentText({ start, end, accelerator }) {
  return `${ms(start)} to ${ms(end)} ms on ${accelerator}`;
}

/** Facts about a request: pairs of term and value. */
function facts(request) {
  const pairs = [
    ["Request", `${request.name} (${request.model.network})`],
    ["Outcome", outcomeOf(request)],
    ["Why", why(request)],
    ["Arrival", `${ms(request.arrival)} ms`],
    ["Start", request.start === null ? NOTHING : `${ms(request.start)} ms`],
    ["End", request.end === null ? NOTHING : `${ms(request.end)} ms`],
    ["Deadline", `${ms(request.deadline)} ms`],
    ["Slack", `${ms(request.slack)} ms from arrival to deadline`],
  ];
  if (request.isExecuted) {
    const scores = request.run.columns.scores.map(({ key, label }) => `${label} ${score(request.scores[key])}`);
    pairs.push(
      [
        "Response time",
        `${ms(request.responseTime)} ms: ${ms(request.waiting)} waiting, ${ms(request.execution)} running`,
      ],
      ["Accelerator", request.accelerator],
      ...(request.segments ? [["Segments", request.parts.map(segmentText).join("; ")]] : []),
      ["Scores", scores.join(", ")],
    );
  }
  if (request.counted === "no") pairs.push(["Counted", "no: it belongs to the warm-up"]);
  pairs.push(["Energy", `${millijoules(request.energy_mj)} mJ`]);
  return pairs;
}

/** The requests of the chosen run as a table. */
function requestTable(columns, onpick) {
  const text = (label, value) => ({ label, value, isText: true });
  const time = (label, title, value) => ({
    label: `${label} [ms]`,
    title,
    value,
    text: (request) => ms(value(request)),
  });
  return new Table({
    caption: "Requests of the chosen run",
    pageSize: 50,
    onpick,
    columns: [
      text("Request", (request) => request.name),
      text("Outcome", outcomeOf),
      time("Arrival", "Arrival of the input data", (request) => request.arrival),
      time("Deadline", "Nominal deadline", (request) => request.deadline),
      time("Start", "Start of execution", (request) => request.start),
      time("End", "End of execution, or time at which the request was given up", (request) => request.end),
      time("Slack", "From arrival to deadline", (request) => request.slack),
      time("Response time", "From arrival to end, waiting included", (request) => request.responseTime),
      time("Left", "From end to deadline; below zero if late", (request) => request.margin),
      text("Accelerator", (request) => request.accelerator),
      {
        label: "Energy [mJ]",
        value: (request) => request.energy_mj,
        text: (request) => millijoules(request.energy_mj),
      },
      ...columns.filter(({ key }) => key === "inference").map((column) => columnOf(column, (request) => request.scores)),
      { ...text("Why", why), isProse: true },
    ],
  });
}
