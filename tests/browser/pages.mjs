// All kinds of pages of the program.

import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Names with a meaning for HTML, a terminal, a spreadsheet, or the eye. */
export const HOSTILE = [
  `</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">'`,
  `=cmd|' /C calc'!A0`,
  "\u202eright to left\u200f \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
  "long".repeat(75),
  "\u001b[31mred\u001b[0m &amp; {{data}} --> ${1} %s",
];

/** A system whose scratchpads of 8 bytes hold no product: a PE needs 12. */
const tight = (yaml) =>
  yaml.replace(/scratchpad_kib: .*/g, "scratchpad_kib: 0.0078125").replace(/name: three_unequal/, "name: tight");

const csvCell = (text) => `"${text.replaceAll('"', '""')}"`;

export class Pages {
  constructor(xrsim, folder) {
    Object.assign(this, { xrsim, folder });
  }

  xrsimPrints(...args) {
    return execFileSync(this.xrsim, args, { cwd: this.folder, stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
  }

  /** A results folder of a command. */
  results(name, ...command) {
    this.xrsimPrints(...command, "--out", name);
    return name;
  }

  /** The page of a results folder. */
  report(name) {
    this.xrsimPrints("report", name, "-o", `${name}.html`);
    return join(this.folder, `${name}.html`);
  }

  page(name, ...command) {
    return this.report(this.results(name, ...command));
  }

  /** Pages by their kind. */
  all() {
    const one = ["run", "--scenario", "AR_gaming", "--system", "J", "--pes", "4096"];
    const fixed = ["--flexibility", "none"];
    const task = ["--task", "image_classification_light", "--min-duration", "1"];
    const layers = ["--scheduler", "edf:granularity=layer", "--set", "effects.switch=true"];
    writeFileSync(join(this.folder, "tight.yaml"), tight(this.xrsimPrints("show", "three_unequal")));
    return {
      // Under the directives of the dataflows requests are late, and are dropped.
      study: this.page("study", "run", ...fixed),
      "published study": this.page("published", "run", "--semantics", "mlsys2023"),
      "one run": this.page("one", ...one),
      replications: this.page("replications", ...one, "--replications", "3"),
      "infeasible runs": this.page("infeasible", ...one, "--system", "tight.yaml"),
      segments: this.page("segments", "run", "--scenario", "VR_gaming", "--system", "M", ...layers),
      "one load test": this.page("test", "mlperf", "inference", ...task, "--load", "single-stream"),
      "load tests": this.page("suite", "mlperf", "inference", ...task),
      curves: this.page("curves", "mlperf", "inference", "--curve", "3", "--min-duration", "1", ...fixed),
      mobile: this.page("mobile", "mlperf", "mobile", "--min-duration", "1"),
      tenants: this.page("tenants", "mlperf", "inference", "--min-duration", "1", "--beside", "VR_gaming",
        "--tenant", "image_classification_light:qps=50", "--tenant", "machine_translation:qps=5"),
      sweep: this.sweep(),
      comparison: this.page("comparison", "compare", "--pes", "4096", "--replications", "3",
        ...["edf", "rm", "value:admission=hopeless"].flatMap((name) => ["--scheduler", name])),
      search: this.page("search", "search", "two_way_fixed"),
      sensitivity: this.page("sensitivity", "sensitivity", ...fixed, "--scenario", "AR_gaming", "--system", "A,J", "--pes", "4096",
        "--replications", "3", "--only", "--factor", "hardware.dram_bandwidth_bytes_per_cycle=32,64", "--factor", "score.k_per_ms=5"),
      explanation: this.page("explanation", "explain", ...fixed, "--scenario", "AR_gaming", "--system", "J", "--pes", "4096",
        "--replications", "3"),
      "explained frame": this.page("frame", "explain", ...fixed, "--scenario", "AR_gaming", "--system", "J", "--pes", "4096",
        "--replications", "3", "DE:2"),
      day: this.page("day", "day", ...fixed, "--profile", "evening", "--device", "headset", "--system", "J", "--pes", "4096",
        "--platform", "paper", "--scheduler", "edf:admission=hopeless", "--no-changes"),
      "hostile runs": this.hostileRuns(),
      "hostile load tests": this.hostileTests(),
    };
  }

  /** The page of the file of a sweep. */
  sweep() {
    // Dataflows as they are written take no search.
    const spec = this.xrsimPrints("show", "pe_scaling").replace("  grid:\n", "  grid:\n    flexibility: [none]\n");
    writeFileSync(join(this.folder, "sweep.yaml"), spec);
    this.xrsimPrints("sweep", "sweep.yaml", "-o", "sweep.csv");
    this.xrsimPrints("report", "sweep.csv", "-o", "sweep.html");
    return join(this.folder, "sweep.html");
  }

  /** Runs whose scenario, system, model, network and accelerator have hostile names. */
  hostileRuns() {
    const folder = this.results("hostile", "run", "--scenario", "AR_gaming", "--system", "J", "--system", "K", "--pes", "4096");
    const [script, formula, backwards, long, escape] = HOSTILE.map(csvCell);
    for (const file of ["scores.csv", "models.csv", "inferences.csv"]) {
      const path = join(this.folder, folder, file);
      const text = readFileSync(path, "utf8")
        .replaceAll(/^AR_gaming,J,/gm, `${script},${long},`)
        .replaceAll(/^AR_gaming,K,/gm, `${script},${backwards},`)
        .replaceAll("latency-greedy", escape)
        .replaceAll(",HT,", `,${script},`)
        .replaceAll(",DE,", `,${formula},`)
        .replaceAll(",PD,", `,${long},`)
        .replaceAll(",WS-0,", `,${backwards},`)
        .replaceAll(",OS-1,", `,${long},`);
      writeFileSync(path, text);
    }
    this.unseal(folder, "run.json");
    return this.report(folder);
  }

  /** Removes the digests of files from a record, so that the files may be changed. */
  unseal(folder, record) {
    const path = join(this.folder, folder, record);
    const { files, record_sha256, ...rest } = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify(rest));
  }

  /** Load tests of tasks with hostile names, as far as they can be names of folders. */
  hostileTests() {
    const folder = this.results("evil", "mlperf", "inference", "--task", "machine_translation", "--min-duration", "1", "--curve", "3");
    const at = (...parts) => join(this.folder, folder, ...parts);
    const [header, ...rows] = readFileSync(at("suite.csv"), "utf8").trimEnd().split("\n");
    const names = HOSTILE_FOLDERS;
    const isShort = (path) => !/mlperf_log_detail|queries/.test(path);
    for (const name of names) cpSync(at("machine_translation"), at(name), { recursive: true, filter: isShort });
    rmSync(at("machine_translation"), { recursive: true });
    const evil = names.flatMap((name) => rows.map((row) => row.replace("machine_translation", csvCell(name))));
    writeFileSync(at("suite.csv"), [header, ...evil, ""].join("\n"));
    rmSync(at("mlperf.json"));
    return this.report(folder);
  }

  /** A trace of a run, or of another command that the words begin with. */
  trace(name, ...words) {
    const file = join(this.folder, `${name}.json`);
    const command = words[0].startsWith("--") ? ["run", ...words] : words;
    this.xrsimPrints(...command, "--trace", file);
    return file;
  }
}

/** Hostile names without characters that folders cannot have. */
export const HOSTILE_FOLDERS = HOSTILE.map((name) => name.replaceAll(/[/\\:\u0000-\u001f]/g, "").slice(0, 200));
