//! Causes in words, short enough for a cell of a table.

use std::fmt::{self, Write as _};

use xrsim_model::ids::{AccelId, ModelId, RequestId};
use xrsim_model::trace::{Absence, Outcome};

use super::super::digits::Ms;
use super::{Account, Blocker, Cause, Part, Why, missed};

impl Why<'_> {
    /// Model and frame of a request, e.g. `HT:12`; with its number of samples if it is a larger batch,
    /// e.g. `HT x4:12`; of a sequence with its start and token, e.g. `AG:1 token 7`; with counts of its own, e.g.
    /// `PD:3 regions 346`, or the network that was chosen in place of the first one, e.g. `OD:4 by OD_dsmask`.
    pub fn name(&self, id: RequestId) -> String {
        let record = self.trace.record(id);
        let model = self.plan.scenario.model(record.model);
        let mut text = String::from(self.names[record.model.index()]);
        let mut add = |part: fmt::Arguments<'_>| {
            text.write_fmt(part).expect("writing to a string cannot fail");
        };
        match self.costs.batch_of(self.work_of(id)) {
            1 => {}
            samples => add(format_args!(" x{samples}")),
        }
        add(format_args!(":{}", model.start_of(record.frame)));
        match model.sequence.as_ref().map(|it| it.place(record.frame).1) {
            Some(Some(token)) => add(format_args!(" token {token}")),
            Some(None) => add(format_args!(" prompt")),
            None => {}
        }
        let variant = self.trace.variant_of(id);
        let counts = model.work.as_ref().and_then(|work| Some((work, work.counts_of(variant)?)));
        if let Some((work, counts)) = counts {
            for ((name, _), n) in work.counts().iter().zip(counts) {
                add(format_args!(" {name} {n}"));
            }
        } else if model.choice.is_some() && variant > 0 {
            add(format_args!(" by {}", model.network_of(variant).name()));
        }
        text
    }

    /// Name of an accelerator.
    pub fn accelerator(&self, id: AccelId) -> &str {
        &self.plan.system.accelerators()[id.index()].name
    }

    /// The cause of a missed deadline; `None` for every other request. If an upstream request is the
    /// cause, the cause of that request follows after an arrow:
    ///
    /// ```text
    /// upstream: 9.100 ms for ES:12 (dropped) <- accelerator: 7.310 ms behind PD:3 on WS-0
    /// ```
    pub fn short(&self, id: RequestId) -> Option<String> {
        let account = missed(self.trace.record(id)).then(|| self.account(id))??;
        let mut links = self.chain(id, account).map(|(_, account)| self.describe(&account));
        let first = links.next()?;
        Some(links.fold(first, |text, link| text + " <- " + &link))
    }

    /// A request and the chain of upstream requests that caused its end.
    pub fn chain(
        &self,
        id: RequestId,
        account: Account,
    ) -> impl Iterator<Item = (RequestId, Account)> {
        // Every link leads to an upstream model of an acyclic graph.
        std::iter::successors(Some((id, account)), |(_, account)| match account.cause {
            Cause::Upstream(need) => {
                let upstream = need.decided_by?;
                Some((upstream, self.account(upstream)?))
            }
            _ => None,
        })
    }

    /// The model of a request and the models in the cause of its end, each once.
    pub fn involved(&self, id: RequestId) -> Vec<ModelId> {
        let mut models = Vec::new();
        let mut name = |id: RequestId| {
            let model = self.trace.record(id).model;
            if !models.contains(&model) {
                models.push(model);
            }
        };
        name(id);
        for (link, account) in self.account(id).into_iter().flat_map(|it| self.chain(id, it)) {
            name(link);
            if let Cause::Accelerator(Some(job))
            | Cause::Preempted(Some(job))
            | Cause::Placement { job: Some(job), .. } = account.cause
            {
                name(job.request);
            }
        }
        models
    }

    /// One link of the chain.
    pub fn describe(&self, account: &Account) -> String {
        let ms = |part| Ms(account.parts.ns(part));
        match account.cause {
            Cause::Sensor => format!("sensor: {} ms", ms(Part::Sensor)),
            Cause::Upstream(need) => match need.decided_by {
                Some(id) if need.makes_room => {
                    format!("memory: {} ms for the cache of {}", ms(Part::Upstream), self.name(id))
                }
                Some(id) => {
                    let (name, state) = (self.name(id), self.state(id));
                    format!("upstream: {} ms for {name} ({state})", ms(Part::Upstream))
                }
                None => format!("upstream: {} never ran", self.names[need.model.index()]),
            },
            Cause::Accelerator(job) => {
                let wait = ms(Part::Accelerator);
                match job {
                    Some(job) => format!("accelerator: {wait} ms behind {}", self.job(job)),
                    None => format!("policy: {wait} ms"),
                }
            }
            Cause::Preempted(job) => {
                let behind = job.map(|job| format!(" behind {}", self.job(job)));
                format!("preempted: {} ms{}", ms(Part::Preempted), behind.unwrap_or_default())
            }
            Cause::Interference => format!("interference: {} ms", ms(Part::Interference)),
            Cause::Placement { fastest, job } => {
                let fastest = self.accelerator(fastest);
                let instead = match job {
                    Some(job) => format!("while {fastest} ran {}", self.name(job.request)),
                    None => format!("in place of {fastest}"),
                };
                format!("slower accelerator: {} ms {instead}", ms(Part::Placement))
            }
            Cause::Latency => {
                let budget = Ms(account.budget_ns());
                format!("own latency: {} of {budget} ms", ms(Part::Latency))
            }
        }
    }

    fn job(&self, job: Blocker) -> String {
        format!("{} on {}", self.name(job.request), self.accelerator(job.accelerator))
    }

    /// Outcome of a request, in one or two words.
    pub fn state(&self, id: RequestId) -> &'static str {
        let record = self.trace.record(id);
        match record.outcome {
            Outcome::Executed { end, .. } if end > record.deadline => "late",
            Outcome::Executed { .. } => "in time",
            Outcome::Dropped { .. } => "dropped",
            Outcome::NotTriggered => "not triggered",
            Outcome::NotCaptured(Absence::Lost) => "lost by a sensor",
            Outcome::NotCaptured(Absence::Gated) => "not captured, as a gate was off",
            Outcome::Lost { .. } => "lost",
        }
    }
}
