//! Options of `xrsim search`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;

use xrsim_config::{At, Catalog, SearchDraft};
use xrsim_experiment::search::direction_of;
use xrsim_model::renamed::Renamed;
use xrsim_model::text::listed;
use xrsim_sim::sweep::grid::Shard;

use super::super::cluster::ClusterOptions;
use super::super::figure::PictureOptions;
use super::super::message::{Failure, warn};
use super::super::options::whole_number;
use super::super::parts::{PartOptions, shard};

/// Find the best system of a space, with a proof or with a stated gap.
#[derive(Debug, Args)]
#[command(
    after_help = "A search file has more keys, see docs/explanation/search.md. Options that are left out are as in `xrsim run`.\n\n\
    After an interruption the same command with the same --out continues where it stopped. Results are the same, byte for byte, \
    for every number of threads and of interruptions.\n\n\
    Examples:\n  \
    xrsim search two_way                            a search that comes with the program\n  \
    xrsim search mine.yaml --out found --require-proof\n  \
    xrsim search mine.yaml --scenario AR_gaming --replications 2 --flexibility none\n  \
    xrsim search --scenario AR_gaming --dataflow WS,OS,RS --accelerators 2 --max-pes 4096 --step 128\n\n\
    Exit status: 0 done, 1 a proof or a constraint that was required is not met, 2 bad input, 75 another process is \
    writing to the same folder (try later)."
)]
pub(crate) struct SearchArgs {
    /// Search file, or the name of a built-in search. Options replace its keys.
    #[arg(value_name = "SEARCH|FILE")]
    pub spec: Option<String>,
    /// Usage scenario: a name or a file; repeat for several, or separate them by commas [default: those of the suite].
    #[arg(long, value_name = "S", value_delimiter = ',')]
    pub scenario: Vec<String>,
    /// Dataflow of accelerators: a name or a file; repeat for several, or separate them by commas [default: WS, OS, RS].
    #[arg(long, value_name = "D|FILE", value_delimiter = ',')]
    pub dataflow: Vec<String>,
    /// Number of accelerators, or a range such as 1..3 [default: 1..2].
    #[arg(long, value_name = "N|FIRST..LAST")]
    pub accelerators: Option<String>,
    /// Most PEs of a system [default: 4096].
    #[arg(long, value_name = "N")]
    pub max_pes: Option<u32>,
    /// Name of --max-pes in version 0.1.
    #[arg(long, value_name = "N", hide = true, conflicts_with = "max_pes")]
    pub pes: Option<u32>,
    /// Take no smaller systems: all have exactly --max-pes PEs. A larger budget can then be worse.
    #[arg(long)]
    pub exactly: bool,
    /// PEs of an accelerator are multiples of N [default: 128].
    #[arg(long, value_name = "N")]
    pub step: Option<u32>,
    /// Scheduler, with its parameters; repeat for each, or separate them by commas: KEY=VALUE after a comma is one more
    /// parameter of the scheduler before it, and an external command goes to the end of its option [default:
    /// latency-greedy, edf:admission=hopeless, value:admission=hopeless].
    #[arg(long, value_name = "P[:KEY=VALUE,..]")]
    pub scheduler: Vec<String>,
    /// Quantity to optimise (two or three, separated by commas, for their front) [default:
    /// score_executed_mean].
    #[arg(long, value_name = "QUANTITY", value_delimiter = ',')]
    pub objective: Vec<String>,
    /// Treatment of several scenarios (mean, min for the worst, or each by itself); several are separated by commas.
    #[arg(long, value_name = "OVER", value_delimiter = ',')]
    pub over: Vec<String>,
    /// Limit of a quantity, such as 'area_mm2<=60'; repeat for several, or separate them by commas.
    #[arg(long, value_name = "QUANTITY<=X", value_delimiter = ',')]
    pub constraint: Vec<String>,
    /// Technology of areas and leakage.
    #[arg(long, value_name = "T|FILE")]
    pub technology: Option<String>,
    /// Draws of every scenario with random inputs [default: 30].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole_number(1..=SearchDraft::MAX_REPLICATIONS as i64))]
    pub replications: Option<u64>,
    /// Platform of the systems: clock, bandwidth and memory [default: headset].
    #[arg(long, value_name = "P|FILE")]
    pub platform: Option<String>,
    /// Choices of every accelerator for each layer [default: tiles].
    #[arg(long, value_name = "F")]
    pub flexibility: Option<String>,
    /// Work of the search for these choices in one layer [default: default].
    #[arg(long, value_name = "E")]
    pub effort: Option<String>,
    /// Any other setting of the runs (see `xrsim list settings`); repeat for several.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Method: auto, bound, exhaustive or evolve.
    #[arg(long, value_name = "METHOD")]
    pub method: Option<String>,
    /// Rule that ends the search early, such as gap_percent=0.5, minutes=10 or runs=1000000; repeat for
    /// several, or separate them by commas.
    #[arg(long, value_name = "RULE=VALUE", value_delimiter = ',')]
    pub stop: Vec<String>,
    /// Fail unless the answer is proven: the optimum of the space under the schedulers of --proof-for.
    #[arg(long)]
    pub require_proof: bool,
    /// Schedulers that --require-proof covers (listed: those of the search; keeping: all that keep a request where it
    /// began; any); for keeping and any, no system may be more than gap_percent (--stop) better.
    #[arg(long, value_name = "CLASS", default_value = "listed", requires = "require_proof", value_parser = ["listed", "keeping", "any"])]
    pub proof_for: String,
    /// Folder of the results (evaluated.csv, the front, the best system as a file, and a journal with which
    /// the same command continues).
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also write the bounds of excluded systems, so that a script can check the proof.
    #[arg(long, requires = "out")]
    pub audit: bool,
    /// Search the I-th of N parts of the systems only.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<Shard>,
    /// Folder of a part (--shard) whose runs are taken; repeat for each. The result is that of a search without parts.
    #[arg(long, value_name = "DIR")]
    pub join: Vec<PathBuf>,
    /// Begin again and discard the journal in the folder.
    #[arg(long, requires = "out")]
    pub restart: bool,
    #[command(flatten)]
    pub cluster: ClusterOptions,
    #[command(flatten)]
    pub pictures: PictureOptions,
}

impl SearchArgs {
    /// The options of its parts.
    pub(super) fn parts(&self) -> PartOptions<'_> {
        let Self { out, shard, join, restart, cluster, .. } = self;
        PartOptions { out, shard, join, restart, cluster }
    }

    /// The search as it was written, and the files that were read for it.
    ///
    /// # Errors
    ///
    /// Returns a failure if the file is not that of a search, or if an option has no value.
    pub(super) fn draft(&self) -> Result<(SearchDraft, Vec<PathBuf>), Failure> {
        if self.pes.is_some() {
            warn(format_args!("{}", Renamed { kind: "option", old: "--pes", new: "--max-pes" }));
        }
        let (mut draft, files) = match &self.spec {
            Some(spec) => {
                let mut catalog = Catalog::new();
                let mut draft = catalog.search(spec)?;
                self.replace_in(&mut draft)?;
                (draft, catalog.opened().collect())
            }
            None => (SearchDraft::of_options(self.text()?)?, Vec::new()),
        };
        self.override_in(&mut draft)?;
        Ok((draft, files))
    }

    /// Most PEs of a system, under either name of the option.
    fn most_pes(&self) -> Option<u32> {
        self.max_pes.or(self.pes)
    }

    /// The options as the text of a search file, of which places in messages are.
    fn text(&self) -> Result<String, Failure> {
        let mut text = String::from("search:\n  name: command_line\n");
        let mut line = |line: String| {
            let _ = writeln!(text, "  {line}");
        };
        if !self.scenario.is_empty() {
            line(format!("scenarios: {}", self.named_list(&self.scenario)));
        }
        if let Some(objective) = self.objective_text() {
            line(format!("objective: {{{objective}}}"));
        }
        if !self.constraint.is_empty() {
            let limits: Vec<_> =
                self.constraint.iter().map(|it| limit(it)).collect::<Result<_, _>>()?;
            line(format!("constraints: {{{}}}", limits.join(", ")));
        }
        line(format!("space: {{{}}}", self.space_text()));
        let set = self.settings();
        if !set.is_empty() {
            let settings = set.iter().map(|it| match it.split_once('=') {
                Some((key, value)) => {
                    Ok(format!("{}: {}", quoted(key.trim()), quoted(value.trim())))
                }
                None => Err(Failure::Argument(format!("--set takes key=value, found `{it}`"))),
            });
            line(format!("settings: {{{}}}", settings.collect::<Result<Vec<_>, _>>()?.join(", ")));
        }
        if let Some(technology) = &self.technology {
            line(format!("technology: {}", quoted(&self.named(technology))));
        }
        if let Some(replications) = self.replications {
            line(format!("replications: {replications}"));
        }
        Ok(text)
    }

    /// Settings of the runs, as `KEY=VALUE`.
    fn settings(&self) -> Vec<String> {
        let own = [
            ("platform", &self.platform),
            ("flexibility", &self.flexibility),
            ("effort", &self.effort),
        ];
        let own = own.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?)));
        // A path of an option is from here, beside a file too.
        let own = own.map(|(key, value)| format!("{key}={}", self.named(value)));
        own.chain(self.set.iter().cloned()).collect()
    }

    /// The entries of `objective`, if an option describes it.
    fn objective_text(&self) -> Option<String> {
        let over = match self.over.is_empty() {
            true => String::new(),
            false => format!(", over: {}", list(&self.over)),
        };
        match &self.objective[..] {
            [] if over.is_empty() => None,
            [] => Some(format!("maximise: score_executed_mean{over}")),
            [only] => Some(format!("{}: {}{over}", direction_of(only), quoted(only))),
            several => Some(format!("pareto: {}{over}", list(several))),
        }
    }

    /// The entries of `space`.
    fn space_text(&self) -> String {
        let dataflows = match self.dataflow.is_empty() {
            true => "[WS, OS, RS]".into(),
            false => self.named_list(&self.dataflow),
        };
        let accelerators = quoted(self.accelerators.as_deref().unwrap_or("1..2"));
        let (pes, step) = (self.most_pes().unwrap_or(4096), self.step.unwrap_or(128));
        let total = if self.exactly { "exactly" } else { "<=" };
        let scheduler = match self.scheduler.is_empty() {
            true => String::new(),
            false => format!(", scheduler: {}", list(&listed(&self.scheduler))),
        };
        format!(
            "dataflows: {dataflows}, accelerators: {accelerators}, pes: {{total: \"{total} {pes}\", step: \
             {step}}}{scheduler}"
        )
    }

    /// Whether an option says what a key of a file says, too.
    fn describes(&self) -> bool {
        let lists = [
            &self.scenario,
            &self.dataflow,
            &self.scheduler,
            &self.objective,
            &self.over,
            &self.constraint,
        ];
        lists.into_iter().any(|it| !it.is_empty())
            || !self.settings().is_empty()
            || self.accelerators.is_some()
            || self.most_pes().is_some()
            || self.exactly
            || self.step.is_some()
            || self.technology.is_some()
            || self.replications.is_some()
    }

    /// Replaces keys of a file by the options that are given. A limit replaces that of the same quantity and
    /// direction, a setting that of the same key; others stay.
    fn replace_in(&self, draft: &mut SearchDraft) -> Result<(), Failure> {
        if !self.describes() {
            return Ok(());
        }
        let given = draft.take_options(&self.text()?)?;
        let body = &mut draft.body;
        match (&mut body.objective, given.objective) {
            (Some(own), Some(given)) => {
                if !self.objective.is_empty() {
                    (own.span, own.value.quantities) = (given.span, given.value.quantities);
                }
                if !self.over.is_empty() {
                    own.value.over = given.value.over;
                }
            }
            (own, given) => *own = own.take().or(given),
        }
        for limit in given.constraints {
            body.constraints.retain(|it| (&it.0.value, it.1) != (&limit.0.value, limit.1));
            body.constraints.push(limit);
        }
        for setting in given.settings {
            body.settings.retain(|it| it.0.value != setting.0.value);
            body.settings.push(setting);
        }
        if let Some(given) = given.pes.filter(|_| self.most_pes().is_some() || self.exactly) {
            let (own, is_exact) = body.pes.as_ref().map_or((given.value.0, false), |it| it.value);
            let pes = if self.most_pes().is_some() { given.value.0 } else { own };
            body.pes = Some(At { span: given.span, value: (pes, is_exact || self.exactly) });
        }
        let lists = [
            (&mut body.dataflows, given.dataflows, &self.dataflow),
            (&mut body.schedulers, given.schedulers, &self.scheduler),
        ];
        for (own, given, option) in lists {
            if !option.is_empty() {
                *own = given;
            }
        }
        if !self.scenario.is_empty() {
            body.scenarios = given.scenarios;
        }
        if self.accelerators.is_some() {
            body.accelerators = given.accelerators;
        }
        if self.step.is_some() {
            body.step = given.step;
        }
        body.technology = given.technology.or(body.technology.take());
        body.replications = given.replications.or(body.replications.take());
        Ok(())
    }

    /// A name of an option, which is a path from here if it is one; beside a file, other paths are from its folder.
    fn named(&self, name: &str) -> String {
        let is_path = self.spec.is_some() && Path::new(name).is_file();
        let path = is_path.then(|| std::path::absolute(name).ok()).flatten();
        path.map_or(name.into(), |it| it.display().to_string())
    }

    /// A list of names of an option.
    fn named_list(&self, names: &[String]) -> String {
        list(&names.iter().map(|it| self.named(it)).collect::<Vec<_>>())
    }

    /// Options that stand beside a file, too.
    fn override_in(&self, draft: &mut SearchDraft) -> Result<(), Failure> {
        if let Some(method) = &self.method {
            let value = method.as_str().into();
            draft.body.method = Some(At { span: 0..0, value });
            let known = xrsim_search::Method::ALL.iter().map(|(name, _)| *name);
            if !known.clone().any(|name| name == method) {
                return Err(super::super::unknown("method", method, known));
            }
        }
        for rule in &self.stop {
            let (key, value) = rule.split_once('=').unwrap_or((rule, ""));
            let number = value.trim().parse::<f64>().ok().filter(|it| *it >= 0.0 && it.is_finite());
            let whole = value.trim().parse::<u64>().ok().filter(|it| *it > 0);
            let stop = &mut draft.body.stop;
            let is_set = match key.trim() {
                "gap_percent" => number.map(|it| stop.gap_percent = Some(it)).is_some(),
                "minutes" => {
                    let minutes = number.filter(|it| *it > 0.0);
                    minutes.map(|it| stop.minutes = Some(it)).is_some()
                }
                "runs" => whole.map(|it| stop.runs = Some(it)).is_some(),
                "evaluations" => whole.map(|it| stop.evaluations = Some(it)).is_some(),
                other => {
                    let known = ["gap_percent", "minutes", "runs", "evaluations"];
                    return Err(super::super::unknown("stop rule", other, known.into_iter()));
                }
            };
            if !is_set {
                refuse!("--stop takes RULE=VALUE with a number above 0, found `{rule}`");
            }
        }
        Ok(())
    }
}

/// A value as YAML text between quotes.
fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Values as a YAML list.
fn list(values: &[String]) -> String {
    let quoted: Vec<_> = values.iter().map(|it| quoted(it)).collect();
    format!("[{}]", quoted.join(", "))
}

/// `quantity<=x` as an entry of constraints.
fn limit(text: &str) -> Result<String, Failure> {
    let parts = ["<=", ">="].into_iter().find_map(|sign| Some((sign, text.split_once(sign)?)));
    match parts {
        Some((sign, (name, limit))) => {
            Ok(format!("{}: \"{sign} {}\"", quoted(name.trim()), limit.trim().replace('"', "")))
        }
        None => {
            let message = format!("--constraint takes QUANTITY<=X or QUANTITY>=X, found `{text}`");
            Err(Failure::Argument(message))
        }
    }
}
