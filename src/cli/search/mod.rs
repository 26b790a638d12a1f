//! `xrsim search`: the best system of a space.

mod options;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::experiment::search::PreparedSearch;
use crate::search::{Answer, Loads, Progress as State, Search, SearchError, SearchSettings};

use super::message::{Failure, warn, with_hints};
use super::output;

pub(super) use options::SearchArgs;

/// Searches and prints the answers.
///
/// # Errors
///
/// Returns a failure for bad input, for output that cannot be written, and if a proof is required and not
/// reached.
pub(super) fn run(args: &SearchArgs) -> Result<(), Failure> {
    let (draft, _files) = args.draft()?;
    let prepared = with_hints(|old_names| PreparedSearch::of(&draft, old_names))?;
    prepared.warnings.iter().for_each(|warning| warn(format_args!("{warning}")));
    let settings = SearchSettings {
        schedulers: prepared.schedulers.clone(),
        cost_model: &*prepared.cost_model.model,
        areas: Some(prepared.areas(&prepared.technology)),
        shard: None,
        method: prepared.method,
        stop: prepared.stop,
    };
    let t0 = Instant::now();
    let loads = Loads::new(&prepared.plans, prepared.draws).map_err(failure)?;
    let mut search =
        Search::new(&prepared.space, &loads, &settings, Vec::new(), |_| {}).map_err(failure)?;
    eprintln!("costed {:?}", t0.elapsed());
    let mut answers: Vec<Answer> = Vec::new();
    let end = prepared.minutes.map(|it| t0 + Duration::from_secs_f64(it * 60.0));
    for question in &prepared.questions {
        let t1 = Instant::now();
        let mut observe = |_: &State<'_>| match end {
            Some(end) if Instant::now() >= end => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let answer = search.solve(question, &mut observe).map_err(failure)?;
        let t2 = t1.elapsed();
        for point in &answer.points {
            let name = prepared.space.name(search.members(point.system));
            let score = search.value(question, point.system, point.scheduler, question.objectives[0]);
            output::print_text(&format!("{} {name} {} {score:?} {:?} cert {:?} runs {} {:?} gap {:?} {t2:?}\n",
                question.name, settings.schedulers[point.scheduler].label(), answer.counts, answer.certificate, answer.runs, answer.stop, answer.gap()))?;
        }
        answers.push(answer);
    }
    eprintln!("solved {:?}", t0.elapsed());
    if let Some(confirm) = &prepared.confirm {
        for answer in &answers {
            let t2 = Instant::now();
            if let Some(found) = search.confirm(answer, confirm).map_err(failure)? {
                let left = found.left();
                eprintln!("{} {} candidates, {} draws, left {:?} {:?}", answer.question.name, found.candidates.len(), found.draws,
                    left.iter().map(|it| prepared.space.name(search.members(it.system))).collect::<Vec<_>>(), t2.elapsed());
            }
        }
    }
    Ok(())
}

fn failure(error: SearchError) -> Failure {
    Failure::Argument(error.to_string())
}
