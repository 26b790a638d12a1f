// A scheduler of one's own, compared with three of the program.
//
//     cargo run --release --example own_scheduler

use xrsim::{Decision, Dispatch, Experiment, ExperimentError, Scheduler, View};

/// Starts the ready request with the least slack that it can still meet on its fastest accelerator.
struct LeastMeetableSlack;

impl Scheduler for LeastMeetableSlack {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        let margin = |job: &xrsim::Job, at| view.slack_ms(job) - view.remaining(job, at).as_ms();
        let fastest = view.ready.iter().filter_map(|job| Some((job, view.fastest_idle(job)?)));
        let meetable = fastest.filter(|&(job, at)| margin(job, at) >= 0.0);
        match meetable.min_by(|a, b| margin(a.0, a.1).total_cmp(&margin(b.0, b.1))) {
            Some((job, at)) => Dispatch::new(job.request, at).into(),
            None => Decision::Drop(view.ready[0].request), // late in any case
        }
    }
}

fn main() -> Result<(), ExperimentError> {
    let runs = Experiment::new()
        .scenario("AR_gaming")
        .system("J")
        .pes(4096)
        .schedulers(["latency-greedy", "edf", "edf:admission=hopeless"])
        .own_scheduler("least-meetable-slack", |_| LeastMeetableSlack)
        .run()?;
    for run in &runs {
        let total = &run.scorecard()?.total;
        println!("{:>24}: score {:.3}, QoE {:.3}", run.label().scheduler, total.score, total.qoe);
    }
    Ok(())
}
