// The results that the page carries, unpacked; the inverse of data.rs.

/** One request. Times are in nanoseconds since the start of the run; missing values are null. */
class Request {
  /** Slack at the arrival (T_sl): from arrival to deadline. */
  get slack() {
    return this.deadline - this.arrival;
  }

  /** From arrival to end, waiting included. */
  get responseTime() {
    return this.isExecuted ? this.end - this.arrival : null;
  }

  get waiting() {
    return this.isExecuted ? this.responseTime - this.execution : null;
  }

  get execution() {
    return this.isExecuted ? sum(this.parts.map((part) => part.end - part.start)) : null;
  }

  /** The segments of the request, each as a request of its own; the request itself if it ran as one. */
  get parts() {
    if (!this.segments) return [this];
    return this.segments.split("; ").map((segment) => {
      const [, start, end, accelerator] = segment.match(/^([^-]*)-([^ ]*) (.*)$/);
      const ns = (ms) => Math.round(Number(ms) * 1e6);
      return Object.assign(Object.create(this), { start: ns(start), end: ns(end), accelerator, whole: this });
    });
  }

  /** From end to deadline; below zero if late. */
  get margin() {
    return this.isExecuted ? this.deadline - this.end : null;
  }

  get isExecuted() {
    return this.outcome === "executed";
  }

  /** Whether nothing asked for it: its upstream result did not trigger it, or a frame of a sensor is not there. */
  get isNotAsked() {
    return this.outcome === "not_triggered" || this.outcome === "not_captured";
  }

  get isLate() {
    return this.isExecuted && this.end > this.deadline;
  }

  get name() {
    return `${this.model.model} ${this.frame}`;
  }
}

/** One run. Its list of requests, `inferences`, is unpacked at the first use; `requests` is their number. */
class Run {
  #packed;
  #first;
  #requests = null;
  #slices = null;

  constructor(packed, first) {
    this.#packed = packed;
    this.#first = first;
  }

  get inferences() {
    this.#requests ??= this.#unpacked();
    return this.#requests;
  }

  /** Executed requests, or their segments, in order of start, by accelerator. */
  get slices() {
    this.#slices ??= Map.groupBy(
      this.inferences
        .filter((request) => request.isExecuted)
        .flatMap((request) => request.parts)
        .sort((a, b) => a.start - b.start),
      (request) => request.accelerator,
    );
    return this.#slices;
  }

  #unpacked() {
    const requests = [];
    let arrival = 0;
    for (let at = this.#first; at < this.#first + this.n_requests; at += 1) {
      arrival += this.#packed.requests.arrival[at];
      requests.push(this.#request(at, arrival));
    }
    return requests;
  }

  #request(at, arrival) {
    const { requests, names, numbers } = this.#packed;
    const since = (column) => (column[at] === null ? null : arrival + column[at]);
    const scores = this.#packed.columns.scores.map(({ key }) => [
      key,
      numbers[requests.scores[key][at]] ?? null,
    ]);
    return Object.assign(new Request(), {
      run: this,
      model: this.models[requests.model[at]],
      frame: requests.frame[at],
      arrival,
      deadline: since(requests.deadline),
      start: since(requests.start),
      end: since(requests.end),
      accelerator: names[requests.accelerator[at]],
      outcome: names[requests.outcome[at]],
      reason: names[requests.reason[at]],
      cause: names[requests.cause[at]],
      segments: names[requests.segments[at]],
      counted: names[requests.counted[at]],
      energy_mj: numbers[requests.energy[at]],
      scores: Object.fromEntries(scores),
    });
  }
}

/** Row `at` of a set of columns as an object. */
function row(columns, names, at) {
  return Object.fromEntries(names.map((name) => [name, columns[name][at]]));
}

function unpackRuns(packed) {
  const { runs, models } = packed;
  const label = packed.columns.label.map(({ key }) => key);
  const summary = packed.columns.summary.map(({ key }) => key);
  const device = packed.columns.device.map(({ key }) => key);
  let firstModel = 0;
  let firstRequest = 0;
  return runs.score.map((_, at) => {
    const run = new Run(packed, firstRequest);
    run.columns = packed.columns;
    Object.assign(run, row(runs, [...label, ...summary, ...device, "n_requests"], at));
    run.models = Array.from({ length: runs.n_models[at] }, (_, index) => ({
      run,
      ...row(models, ["model", "network", ...summary], firstModel + index),
    }));
    firstModel += runs.n_models[at];
    firstRequest += run.n_requests;
    return run;
  });
}
