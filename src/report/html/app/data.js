// The results that the page carries; the inverse of data.rs.

/** One request. Times are in nanoseconds since the start of the run; what is not there is null. */
class Request {
  /** T_sl: what the deadline leaves from the arrival on. */
  get slack() {
    return this.deadline - this.arrival;
  }

  /** L_inf: from arrival to end, waiting included. */
  get latency() {
    return this.isExecuted ? this.end - this.arrival : null;
  }

  get waiting() {
    return this.isExecuted ? this.latency - this.execution : null;
  }

  get execution() {
    return this.isExecuted ? sum(this.stretches.map((stretch) => stretch.end - stretch.start)) : null;
  }

  /** The request as it ran without interruption: itself, or one of it for each of its segments. */
  get stretches() {
    if (!this.segments) return [this];
    return this.segments.split("; ").map((segment) => {
      const [, start, end, accelerator] = segment.match(/^([^-]*)-([^ ]*) (.*)$/);
      const ns = (ms) => Math.round(Number(ms) * 1e6);
      return Object.assign(Object.create(this), { start: ns(start), end: ns(end), accelerator, whole: this });
    });
  }

  /** What was left at the end; below zero if late. */
  get margin() {
    return this.isExecuted ? this.deadline - this.end : null;
  }

  get isExecuted() {
    return this.outcome === "executed";
  }

  get isLate() {
    return this.isExecuted && this.end > this.deadline;
  }

  get name() {
    return `${this.model.model} ${this.frame}`;
  }
}

/** One run. Its requests are made when first asked for. */
class Run {
  #packed;
  #first;
  #requests = null;
  #slices = null;

  constructor(packed, first) {
    this.#packed = packed;
    this.#first = first;
  }

  get requests() {
    this.#requests ??= this.#unpacked();
    return this.#requests;
  }

  /** Executed requests, or their segments, in order of start, by accelerator. */
  get slices() {
    this.#slices ??= Map.groupBy(
      this.requests
        .filter((request) => request.isExecuted)
        .flatMap((request) => request.stretches)
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
    const score = (index) => numbers[requests.scores[index][at]] ?? null;
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
      realtime: score(0),
      energy: score(1),
      accuracy: score(2),
      inference: score(3),
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
  let firstModel = 0;
  let firstRequest = 0;
  return runs.score.map((_, at) => {
    const run = new Run(packed, firstRequest);
    Object.assign(run, row(runs, [...label, ...summary, "n_requests"], at));
    run.models = Array.from({ length: runs.n_models[at] }, (_, index) => ({
      run,
      ...row(models, ["model", "network", ...summary], firstModel + index),
    }));
    firstModel += runs.n_models[at];
    firstRequest += run.n_requests;
    return run;
  });
}
