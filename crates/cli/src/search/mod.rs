//! `xrsim search`: the best system of a space.

mod files;
mod journal;
mod options;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use xrsim_config::SearchDraft;
use xrsim_experiment::search::{ChangedAlone, PreparedSearch};
use xrsim_model::cancel;
use xrsim_model::digest::Digest;
use xrsim_model::hardware::{Accelerator, Flexibility, MappingObjective, System};
use xrsim_model::mapper::Store;
use xrsim_report::area_terms::{LargeTerms, Sizes};
use xrsim_report::network::grouped;
use xrsim_report::search::{AnswerReport, Names, answers_table, front_text};
use xrsim_search::{
    Answer, Claim, FreshRuns, Loads, Method, Progress as State, Quantity, Question, Search,
    SearchError, SearchSettings, Space, StopReason, Systems,
};
use xrsim_sim::schedule::Policy;
use xrsim_sim::sweep::grid::Shard;

use super::cluster::{self, Estimate, Form, Job};
use super::map::Saver;
use super::mappings::Mappings;
use super::message::{Failure, say, warn, with_hints};
use super::places::Places;
use super::progress::Progress;
use super::{interrupt, output, record, schedulers, table_style};
use journal::Journal;

pub(super) use files::{ANSWERS, EVALUATED, INTERRUPTED};
pub use journal::journal_lines;
pub(super) use journal::{FIRST_WORDS, NAME as JOURNAL};
pub(super) use options::SearchArgs;

/// Searches and prints the answers.
///
/// # Errors
///
/// Returns a failure for bad input, for output that cannot be written, and if a proof is required and not
/// reached.
pub(super) fn run(args: &SearchArgs) -> Result<(), Failure> {
    let (draft, spec) = args.draft()?;
    let prepared = with_hints(|notes| PreparedSearch::from_draft(&draft, notes))?;
    prepared.warnings.iter().for_each(|warning| warn(format_args!("{warning}")));
    require_bounds(args, &prepared)?;
    let n_systems = prepared.space.count();
    if n_systems == 0 {
        refuse!("no system of the space uses the whole budget");
    }
    if args.cluster.is_asked() {
        return hand_over(args, &draft, &prepared, n_systems);
    }
    refuse_large(&prepared, n_systems)?;
    Places::default()
        .reading(prepared.opened().into_iter().chain(spec))
        .reading(args.join.iter().map(|folder| folder.join(journal::NAME)))
        .folder(args.out.as_deref(), files::names(&prepared, &args.pictures))
        .check()?;
    record::refuse_other_kind(args.out.as_deref(), "search")?;
    let texts: Vec<_> = prepared.schedulers.iter().map(Policy::text).collect();
    schedulers::note_untracked(args.out.iter().flat_map(|_| texts.iter().map(String::as_str)));
    let identity = identity(draft.source.text(), &prepared);
    args.cluster.refuse_changed(|| identity.clone())?;
    let Opened { mut journal, runs, known } = open_journal(args, &identity)?;
    let started = Instant::now();
    let settings = SearchSettings {
        schedulers: prepared.schedulers.clone(),
        cost_model: &*prepared.cost_model.model,
        areas: Some(prepared.areas(&prepared.technology)),
        shard: args.shard.map(Shard::numbers),
        method: prepared.method,
        stop: prepared.stop,
    };
    let loads = Loads::new(&prepared.plans, prepared.draws).map_err(failure)?;
    let n_known = runs.len();
    let mut search = costed(&prepared, &loads, &settings, runs)?;
    let mappings = Mappings::of(search.chosen_mappings());
    known.iter().try_for_each(|it| it.check(&mappings))?;
    journal.iter_mut().try_for_each(|it| it.record_mappings(&mappings))?;
    // Until here an interruption ends the work at once; mappings that were found are kept.
    cancel::end_in_order();
    let mut session = Session { prepared: &prepared, journal, started, broken: None };
    session.say_space(&search, &loads, n_known);
    let mut reports = Vec::new();
    for question in &prepared.questions {
        let mut report = session.report(&mut search, question)?;
        report.part = args.shard.map(|shard| shard.to_string());
        reports.push(report);
    }
    for report in &mut reports {
        session.compare_technologies(&mut search, report)?;
    }
    if let Some(folder) = &args.out {
        files::write(folder, &prepared, &search, &reports, &identity, args)?;
    }
    print(&reports, &(large_terms(&prepared, &reports) + &objective_note(&prepared)))?;
    say(format_args!("{:.1} s", started.elapsed().as_secs_f64()));
    verdict(args, prepared.stop.gap, &reports)
}

/// What a search finds at its start.
struct Opened {
    /// The journal in the folder of the search.
    journal: Option<Journal>,
    /// Runs that are known from it and from the parts of `--join`.
    runs: Vec<FreshRuns>,
    /// Mappings of the parts.
    known: Vec<journal::Known>,
}

/// Opens the journal in the folder of `args`, and reads those of the parts of `--join`.
fn open_journal(args: &SearchArgs, identity: &str) -> Result<Opened, Failure> {
    let (mut runs, known) = journal::joined(&args.join, identity)?;
    let Some(folder) = &args.out else { return Ok(Opened { journal: None, runs, known }) };
    output::create_folder(folder)?;
    let (journal, own) = Journal::open(folder, identity, args.restart)?;
    if args.restart && args.shard.is_some() {
        files::remove_record(folder)?;
    }
    runs.extend(own);
    Ok(Opened { journal: Some(journal), runs, known })
}

/// Prints the answers. `note` is a line on areas, which stands below the first table that has some.
fn print(reports: &[AnswerReport], note: &str) -> Result<(), Failure> {
    if let [only] = reports {
        let mut text = only.text();
        if only.answer.question.is_front() {
            text.push_str(&front_text(only, table_style()));
        }
        return output::print_text(&(text + note));
    }
    let mut text = answers_table(reports, table_style()) + note;
    for report in reports {
        text.push_str(&format!("\n{}\n", report.answer.question.name));
        text.push_str(&report.text());
    }
    output::print_text(&text)
}

/// A line for searches for the least energy or power in which accelerators choose mappings by latency, of a space that
/// has some; otherwise empty.
fn objective_note(prepared: &PreparedSearch) -> String {
    let of_energy = |question: &Question| question.objectives.iter().any(|it| it.is_energy());
    let fast = |it: &Accelerator| {
        it.flexibility != Flexibility::None && it.mapping_objective == MappingObjective::Cycles
    };
    let is_asked = prepared.cost_model.model.chooses_mappings()
        && prepared.questions.iter().any(of_energy)
        && prepared.space.samples().any(|it| fast(&it));
    let text = "note: accelerators chose mappings by latency (mapping objective cycles), at any energy; the least \
                energy takes --set mapping_objective=edp, energy or deadline\n";
    if is_asked { text.into() } else { String::new() }
}

/// Lines on terms that take more than half of the areas that are printed: those of the best systems, or of fronts
/// over area.
fn large_terms(prepared: &PreparedSearch, reports: &[AnswerReport]) -> String {
    let networks = prepared.networks();
    let needed = |it: &Accelerator| {
        let fixed = Accelerator { flexibility: Flexibility::None, ..it.clone() };
        prepared.cost_model.model.local_buffers_of_all(&networks, &fixed)
    };
    let printed = reports.iter().flat_map(|report| {
        let question = &report.answer.question;
        let is_front = question.is_front();
        let n_printed = match is_front && question.objectives.contains(&Quantity::Area) {
            true => report.found.len(),
            false => usize::from(!is_front || reports.len() > 1),
        };
        report.found.iter().take(n_printed)
    });
    let is_needed = prepared.space.buffers(0).is_some();
    let mut terms = LargeTerms::new(if is_needed { Sizes::Needed } else { Sizes::Declared });
    let mut seen = HashSet::new();
    for found in printed.filter(|it| seen.insert(it.members.clone())) {
        if let Ok(system) = prepared.space.system(&found.members) {
            let system =
                System::clone(&system).in_technology(Some(Arc::clone(&prepared.technology)));
            terms.take(&found.system, &system, needed);
        }
    }
    terms.note()
}

/// Fails where a proof was required and not reached, or where nothing keeps the constraints.
fn verdict(args: &SearchArgs, gap: f64, reports: &[AnswerReport]) -> Result<(), Failure> {
    if interrupt::is_asked() {
        let how = match args.out {
            Some(_) => "the same command continues",
            None => "with --out DIR, the same command would continue",
        };
        return Err(Failure::Interrupted(format!("stopped before the end; {how}")));
    }
    let unproven = |report: &&AnswerReport| {
        report.answer.stop != StopReason::Proven || !report.answer.is_exact
    };
    let claim = Claim::ALL.into_iter().find(|(name, _)| *name == args.proof_for);
    let claim = claim.map_or(Claim::Listed, |(_, claim)| claim);
    let lacks = |report: &&AnswerReport| !report.answer.proves(claim, gap);
    if args.require_proof
        && let Some(report) = reports.iter().find(lacks)
    {
        let name = &report.answer.question.name;
        let what = claim.schedulers();
        return Err(Failure::Check(format!(
            "error: the answer for {name} is not proven for {what}"
        )));
    }
    let is_empty = |report: &&AnswerReport| {
        report.found.is_empty() && !unproven(report) && report.part.is_none()
    };
    match reports.iter().find(is_empty) {
        Some(report) => {
            let name = &report.answer.question.name;
            Err(Failure::Check(format!("error: no system of the space answers {name}")))
        }
        None => Ok(()),
    }
}

/// SHA-256 of everything that decides the runs.
fn identity(text: &str, prepared: &PreparedSearch) -> String {
    let mut all = text.to_string();
    for input in prepared.inputs() {
        all.push_str(&input.sha256);
    }
    all.push_str(&serde_json::Value::from(prepared.settings.effective()).to_string());
    Digest::compute(all.as_bytes()).hex()
}

/// Refuses ways of searching that prove nothing where a proof is required.
fn require_bounds(args: &SearchArgs, prepared: &PreparedSearch) -> Result<(), Failure> {
    if args.require_proof && prepared.method == Method::Evolve {
        refuse!("evolution gives no proof: --require-proof takes method bound or exhaustive");
    }
    args.parts().refuse_undivided(&[
        (
            args.require_proof && (args.shard.is_some() || args.cluster.has_parts()),
            "a part gives no proof for the whole space: give --require-proof when the parts are joined",
        ),
        (
            args.shard.is_some() && args.out.is_none(),
            "a part needs a folder: give --out DIR, and later --join DIR",
        ),
    ])
}

/// Refuses spaces that are too large to list, unless a method was chosen for them.
fn refuse_large(prepared: &PreparedSearch, n_systems: u64) -> Result<(), Failure> {
    if n_systems <= Systems::MAX || prepared.method != Method::Auto {
        return Ok(());
    }
    let systems = match n_systems {
        Space::UNCOUNTED => "more systems than can be counted".into(),
        n => format!("{n} systems"),
    };
    Err(Failure::Argument(format!(
        "{systems}, of which at most {} are listed: take a coarser `step` or fewer \
         accelerators, `method: bound` (depth first, may take long), or `method: evolve` (no proof)",
        Systems::MAX
    )))
}

/// Costs the types with progress and makes the search.
fn costed<'a>(
    prepared: &'a PreparedSearch,
    loads: &'a Loads,
    settings: &'a SearchSettings<'a>,
    known: Vec<FreshRuns>,
) -> Result<Search<'a>, Failure> {
    let total = prepared.space.types().len();
    let progress = Progress::counting("accelerators costed");
    let n_done = AtomicU64::new(0);
    let saver = Saver::new(Store::of_process());
    let done = |n: u64| {
        let before = n_done.fetch_add(n, Ordering::Relaxed);
        progress.set_of((before + n) as usize, total);
        saver.save();
    };
    let search = Search::new(&prepared.space, loads, settings, known, done).map_err(failure);
    drop(progress);
    search
}

/// A search under way.
struct Session<'p> {
    prepared: &'p PreparedSearch,
    journal: Option<Journal>,
    started: Instant,
    /// The first failure to write the journal.
    broken: Option<Failure>,
}

impl Session<'_> {
    fn say_space(&self, search: &Search<'_>, loads: &Loads, n_known: usize) {
        let (prepared, n) = (self.prepared, search.n_systems());
        let runs_a_system: u64 = (0..prepared.plans.len()).map(|it| loads.n_draws(it) as u64).sum();
        let all = n.saturating_mul(runs_a_system * prepared.schedulers.len() as u64);
        let types = prepared.space.types().len();
        say(format_args!(
            "space: {n} systems of {types} accelerators, {} schedulers, {} scenarios, {} draws; {all} runs \
             if all were made",
            prepared.schedulers.len(),
            prepared.plans.len(),
            prepared.draws
        ));
        if n_known > 0 {
            say(format_args!("{n_known} groups of runs are known from before"));
        }
    }

    /// Instant at which the time is up.
    fn end(&self) -> Option<Instant> {
        self.prepared.minutes.map(|it| self.started + Duration::from_secs_f64(it * 60.0))
    }

    /// Whether the time is up, or the user wants the command to end.
    fn is_over(&self) -> bool {
        is_over(self.end())
    }

    /// Answers a question; interruptions and the time limit stop it.
    fn solve(&mut self, search: &mut Search<'_>, question: &Question) -> Result<Answer, Failure> {
        let end = self.end();
        let progress = Progress::of_unknown_length("bounds of the systems");
        let (journal, broken) = (&mut self.journal, &mut self.broken);
        let mut observe = |state: &State<'_>| {
            progress.say(described(state));
            if let Some(journal) = journal
                && let Err(failure) = journal.add(&state.fresh)
            {
                broken.get_or_insert(failure);
            }
            match is_over(end) || broken.is_some() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let answer = search.solve(question, &mut observe).map_err(failure);
        drop(progress);
        match self.broken.take() {
            Some(failure) => Err(failure),
            None => answer,
        }
    }

    /// Answers a question, and confirms the answer on fresh draws if that is asked for.
    fn report(
        &mut self,
        search: &mut Search<'_>,
        question: &Question,
    ) -> Result<AnswerReport, Failure> {
        let prepared = self.prepared;
        let answer = self.solve(search, question)?;
        let confirmation = match (&prepared.confirm, answer.stop) {
            _ if search.is_part() => None,
            (Some(_), StopReason::Stopped) | (None, _) => None,
            (Some(confirm), _) => {
                let confirmed = search.confirm(&answer, confirm, &mut || self.is_over());
                confirmed.map_err(failure)?
            }
        };
        let names = Names {
            space: &prepared.space,
            schedulers: &prepared.schedulers,
            semantics: prepared.settings.semantics,
        };
        let report = AnswerReport::new(search, names, answer, confirmation.as_ref());
        let alone = report.found.first().filter(|_| !search.is_part()).and_then(|best| {
            let system = prepared.space.system(&best.members).ok()?;
            let ChangedAlone { network, here, alone } = prepared.changed_alone(&system)?;
            Some(format!(
                "alone, this system maps otherwise: {network} takes {alone:.3} in place of {here:.3} ms, since mappings are \
                 compared among all accelerators of a search; --effort full comes nearer (docs/explanation/mapper.md, \
                 section 6.3)"
            ))
        });
        Ok(AnswerReport { alone, ..report })
    }

    /// Answers a question again in the other technologies, where area or leakage matter to it.
    fn compare_technologies(
        &mut self,
        search: &mut Search<'_>,
        report: &mut AnswerReport,
    ) -> Result<(), Failure> {
        let question = report.answer.question.clone();
        let limits = question.constraints.iter().map(|it| it.quantity);
        let uses_area = question
            .objectives
            .iter()
            .copied()
            .chain(limits)
            .any(|it| matches!(it, Quantity::Area | Quantity::Power));
        let is_over = report.answer.stop != StopReason::Proven || question.is_front();
        if !uses_area || is_over || search.is_part() || report.found.is_empty() {
            return Ok(());
        }
        for technology in &self.prepared.other_technologies {
            search.set_areas(self.prepared.areas(technology));
            let answer = self.solve(search, &question)?;
            if answer.stop != StopReason::Proven {
                break;
            }
            let name = |it: &Answer| {
                it.best().map_or("no system keeps the limits".into(), |point| {
                    self.prepared.space.name(search.members(point.system))
                })
            };
            let other = name(&answer);
            let differs = report.found.first().is_none_or(|found| found.system != other);
            report.technologies.push((technology.name().into(), differs.then_some(other)));
        }
        search.set_areas(self.prepared.areas(&self.prepared.technology));
        Ok(())
    }
}

/// Whether the time is up at `end`, or the user wants the command to end.
fn is_over(end: Option<Instant>) -> bool {
    end.is_some_and(|end| Instant::now() >= end) || interrupt::is_asked()
}

/// State of a search in one line.
fn described(state: &State<'_>) -> String {
    let counts = state.counts;
    let done =
        counts.constrained + counts.infeasible + counts.bounded + counts.partly + counts.complete;
    let best =
        state.best.map_or("nothing yet".into(), |(_, value)| format!("best {:.4}", value.abs()));
    let open =
        state.upper.map_or(String::new(), |upper| format!(", open at most {:.4}", upper.abs()));
    let gap = state.gap.map_or(String::new(), |gap| format!(", gap {:.2} %", 100.0 * gap));
    format!(
        "{} of {} systems for {}: {best}{open}{gap}",
        grouped(done),
        grouped(counts.systems),
        state.question.name
    )
}

/// Prints the estimate of a search, or prints or submits the job of its parts.
fn hand_over(
    args: &SearchArgs,
    draft: &SearchDraft,
    prepared: &PreparedSearch,
    n_systems: u64,
) -> Result<(), Failure> {
    let (text, cpu_s) = estimate(prepared, n_systems)?;
    if args.cluster.dry_run {
        return output::print_text(&text);
    }
    refuse_large(prepared, n_systems)?;
    let job = Job {
        command: "search",
        things: "systems",
        n_things: n_systems,
        form: Form::Folder(journal::NAME),
        out: args.out.as_deref().unwrap_or(Path::new("")),
        spec: args.spec.as_deref(),
        digest: identity(draft.source.text(), prepared),
    };
    cluster::hand_over(&job, &args.cluster, || Ok(Estimate::told(n_systems, cpu_s)))
}

/// Types, systems and an estimate of time and memory in words, and the processor time from least to most \[s\].
fn estimate(prepared: &PreparedSearch, n_systems: u64) -> Result<(String, [f64; 2]), Failure> {
    let types = prepared.space.types().len();
    let networks: usize = prepared.plans.iter().map(|plan| plan.scenario.models().len()).sum();
    let loads = Loads::new(&prepared.plans, prepared.draws).map_err(failure)?;
    let n_draws: u64 = (0..prepared.plans.len()).map(|it| loads.n_draws(it) as u64).sum();
    let runs = n_systems.saturating_mul(n_draws * prepared.schedulers.len() as u64);
    // One type is costed, and its time stands for the others.
    let begun = Instant::now();
    let accelerator = prepared.space.accelerator(types / 2);
    let cost_model = prepared.cost_model.alone().model;
    for active in prepared.plans.iter().flat_map(|plan| plan.scenario.models()) {
        let cycles = accelerator.clock.whole_cycles_in(active.rate.period()).get();
        let accelerator = accelerator.within(Some(cycles));
        let _ = cost_model.network(&active.unit.network, &accelerator);
    }
    let costing =
        begun.elapsed().as_secs_f64() * types as f64 / rayon::current_num_threads() as f64;
    let text = format!(
        "types       {types} accelerators, costed for {networks} models of {} scenarios\n\
         systems     {n_systems}\n\
         schedulers  {}\n\
         runs        {runs} at most; bounds usually leave one in twenty or fewer\n\
         time        about {} to cost the types, and 70 us of a processor for a run\n\
         memory      about {} MiB for bounds and systems\n",
        prepared.plans.len(),
        prepared.schedulers.len(),
        seconds(costing),
        (types * networks * 24 + n_systems.min(Systems::MAX) as usize * 40) >> 20,
    );
    let most = RUN_S * runs as f64;
    let costing = costing * rayon::current_num_threads() as f64;
    Ok((text, [costing + most / 20.0, costing + most]))
}

/// Processor time of a run \[s\].
const RUN_S: f64 = 70e-6;

fn seconds(seconds: f64) -> String {
    match seconds {
        few if few < 1.0 => "a second or less".into(),
        some if some < 120.0 => format!("{some:.0} s"),
        many => format!("{:.0} min", many / 60.0),
    }
}

fn failure(error: SearchError) -> Failure {
    Failure::Argument(error.to_string())
}

/// Checks the search in the file at `path`, with every file that it refers to.
///
/// # Errors
///
/// Returns a failure with every problem of the search.
pub(super) fn check(path: &std::path::Path) -> Result<(), Failure> {
    let draft = xrsim_config::Catalog::new().search(&path.display().to_string())?;
    with_hints(|notes| PreparedSearch::from_draft(&draft, notes))?;
    Ok(())
}
