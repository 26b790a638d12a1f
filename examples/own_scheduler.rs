// A scheduler of one's own, compared with three of the program.
//
//     cargo run --release --example own_scheduler

use xrsim::{Decision, Dispatch, Experiment, ExperimentError, Scheduler, View};

/// Starts the ready request with the least slack that it can still meet on its fastest accelerator.
struct LeastMeetableSlack;

impl Scheduler for LeastMeetableSlack {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        let margin = |job: &&xrsim::Job| {
            let fastest = view.remaining(job, view.fastest_idle(job));
            view.slack_ms(job) - fastest.as_ms()
        };
        let meetable = view.ready.iter().filter(|job| margin(job) >= 0.0);
        let Some(job) = meetable.min_by(|a, b| margin(a).total_cmp(&margin(b))) else {
            return Decision::Drop(view.ready[0].request); // late in any case
        };
        Dispatch::new(job.request, view.fastest_idle(job)).into()
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
