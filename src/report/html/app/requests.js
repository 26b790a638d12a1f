// Requests in words and as a table.

function segmentText({ start, end, accelerator }) {
  return `${ms(start)} to ${ms(end)} ms on ${accelerator}`;
}

/** What a reader learns of a request: terms and values. */
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
    const { realtime, energy, accuracy, inference } = request;
    pairs.push(
      [
        "Latency",
        `${ms(request.latency)} ms: ${ms(request.waiting)} waiting, ${ms(request.execution)} running`,
      ],
      ["Accelerator", request.accelerator],
      ...(request.segments ? [["Segments", request.stretches.map(segmentText).join("; ")]] : []),
      [
        "Scores",
        `real time ${score(realtime)}, energy ${score(energy)}, accuracy ${score(accuracy)}; product ${score(inference)}`,
      ],
    );
  }
  if (request.counted === "no") pairs.push(["Counted", "no: it belongs to the warm-up"]);
  pairs.push(["Energy", `${millijoules(request.energy_mj)} mJ`]);
  return pairs;
}

/** The requests of the chosen run as a table. */
function requestTable(onpick) {
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
      time("End", "End of execution, or when it was given up", (request) => request.end),
      time("Slack", "From arrival to deadline", (request) => request.slack),
      time("Latency", "From arrival to end, waiting included", (request) => request.latency),
      time("Left", "From end to deadline; below zero if late", (request) => request.margin),
      text("Accelerator", (request) => request.accelerator),
      {
        label: "Energy [mJ]",
        value: (request) => request.energy_mj,
        text: (request) => millijoules(request.energy_mj),
      },
      {
        label: "Inference score",
        title: "Definition 14",
        value: (request) => request.inference,
        text: (request) => score(request.inference),
      },
      { ...text("Why", why), isProse: true },
    ],
  });
}
