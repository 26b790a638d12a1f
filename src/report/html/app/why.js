// Why a request ended as it did, from the requests of its run.

const DROPPED = new Map([
  ["upstream", "a request that it depends on was dropped"],
  ["aborted", "it was still running at its deadline, and late runs are aborted"],
  ["replaced", "a newer frame of the same model could start in its place"],
  ["scheduler", "the scheduler gave it up"],
]);

/** The outcome of a request in words. */
function outcomeOf(request) {
  if (request.isLate) return "executed, late";
  return request.outcome.replace("_", " ");
}

/** A sentence on what decided the outcome. */
function why(request) {
  switch (request.outcome) {
    case "executed":
      return request.isLate ? whyLate(request) : `${ms(request.margin)} ms before its deadline`;
    case "dropped":
      return request.reason === "deadline"
        ? whyNeverStarted(request)
        : (DROPPED.get(request.reason) ?? request.reason);
    case "not_triggered":
      return "its upstream result did not ask for it";
    default:
      return request.reason;
  }
}

function whyLate(request) {
  const late = `${ms(-request.margin)} ms late: `;
  if (request.execution > request.slack) {
    return `${late}execution alone takes ${ms(request.execution)} ms of a slack of ${ms(request.slack)} ms`;
  }
  const jobs = jobsBetween(request, request.arrival, request.start, request.accelerator);
  const idle = request.waiting - sum(jobs.map((job) => job.overlap));
  const parts = [`waited ${ms(request.waiting)} ms`];
  if (jobs.length > 0) parts.push(`${request.accelerator} ran ${listed(jobs)}`);
  if (idle > 0)
    parts.push(`it was free for ${ms(idle)} ms, so an upstream result or the policy held the request back`);
  return late + parts.join("; ");
}

function whyNeverStarted(request) {
  const accelerators = [...request.run.slices.keys()].sort(sorting.compare);
  const load = accelerators.map((name) => {
    const jobs = jobsBetween(request, request.arrival, request.end, name);
    const busy = ms(sum(jobs.map((job) => job.overlap)));
    return jobs.length > 0 ? `${name} was busy for ${busy} ms with ${listed(jobs)}` : `${name} was free`;
  });
  return [
    `still waiting at its deadline, ${ms(request.end - request.arrival)} ms after its arrival`,
    ...load,
  ].join("; ");
}

/** Requests that ran on an accelerator in a span of time, with how long; the longest first. */
function jobsBetween(request, from, to, accelerator) {
  const slices = request.run.slices.get(accelerator) ?? [];
  const jobs = [];
  for (let at = firstAfter(slices, from); at < slices.length && slices[at].start < to; at += 1) {
    const { name, start, end } = slices[at];
    const overlap = Math.min(end, to) - Math.max(start, from);
    if (slices[at] !== request && overlap > 0) jobs.push({ name, overlap });
  }
  return jobs.sort((a, b) => b.overlap - a.overlap);
}

/** Index of the first of consecutive slices that ends after a time. */
function firstAfter(slices, time) {
  let [low, high] = [0, slices.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (slices[middle].end > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The first three jobs by name. */
function listed(jobs) {
  const names = jobs.slice(0, 3).map((job) => `${job.name} (${ms(job.overlap)} ms)`);
  return jobs.length > 3 ? `${names.join(", ")} and ${jobs.length - 3} more` : names.join(", ");
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
