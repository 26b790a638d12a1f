// Reasons for the outcome of a request, in words.

const DROPPED = new Map([
  ["upstream", "a request that it depends on was dropped"],
  ["aborted", "it was still running at its deadline, and late requests are aborted"],
  ["replaced", "a newer frame of the same model could start in its place"],
  ["scheduler", "the scheduler gave it up"],
]);

/** The outcome of a request in words. */
function outcomeOf(request) {
  if (request.isLate) return "executed, late";
  return request.outcome.replace("_", " ");
}

/** The reason for the outcome, in a sentence. */
function why(request) {
  switch (request.outcome) {
    case "executed":
      return request.isLate
        ? `${ms(-request.margin)} ms late; ${request.cause}`
        : `${ms(request.margin)} ms before its deadline`;
    case "dropped":
      return request.reason === "deadline"
        ? `still waiting at its deadline, ${ms(request.end - request.arrival)} ms after its arrival; ${request.cause}`
        : (DROPPED.get(request.reason) ?? request.reason);
    case "not_triggered":
      return "its upstream result did not trigger it";
    case "not_captured":
      return request.reason === "gated" ? "the gate of a sensor was off" : "a frame of a sensor is lost";
    default:
      return request.reason;
  }
}
