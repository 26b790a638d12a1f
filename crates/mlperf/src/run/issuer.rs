//! Issuing of queries: a schedule against a system under test, in simulated time and without overhead of
//! the load generator.

use crate::load::QuerySchedule;
use crate::settings::{EffectiveSettings, LoadScenario};
use crate::sut::{Completions, Sample, SystemUnderTest};
use xrsim_model::cancel::Steps;
use xrsim_model::units::{SimSpan, SimTime};

use super::ending::Ending;
use super::issued::{Query, Run, RunError};

/// Issues the queries of `schedule`, which was generated from `settings`, to `sut`.
///
/// # Errors
///
/// [`RunError::NeverDone`] if the system does not complete a sample.
pub fn run_queries<S: SystemUnderTest + ?Sized>(
    settings: &EffectiveSettings,
    schedule: &QuerySchedule,
    sut: &mut S,
) -> Result<Run, RunError> {
    let n_samples = schedule.n_queries() * schedule.samples_per_query();
    let counts = settings.scenario == LoadScenario::Server && settings.max_async_queries > 0;
    let mut issuer = Issuer {
        settings,
        schedule,
        sut,
        completions: Completions::new(n_samples, counts),
        samples: Vec::with_capacity(schedule.samples_per_query()),
        queries: Vec::with_capacity(match settings.scenario {
            LoadScenario::Server => schedule.n_queries(),
            _ => 0,
        }),
        calls: 0,
        steps: Steps::default(),
    };
    let endings = match settings.scenario {
        LoadScenario::Server => issuer.server(),
        LoadScenario::MultiStream if settings.loadgen.has_fixed_interval() => {
            vec![issuer.fixed_interval()?]
        }
        _ => vec![issuer.on_completion()?],
    };
    issuer.finish(endings)
}

/// State of the load generator in a run.
struct Issuer<'a, S: ?Sized> {
    settings: &'a EffectiveSettings,
    schedule: &'a QuerySchedule,
    sut: &'a mut S,
    completions: Completions,
    /// Samples of the current call.
    samples: Vec<Sample>,
    /// Queries issued so far; their completion is filled in at the end.
    queries: Vec<Query>,
    calls: u64,
    steps: Steps,
}

impl<S: SystemUnderTest + ?Sized> Issuer<'_, S> {
    /// Identifiers of the samples of query `index`.
    fn ids(&self, index: usize) -> std::ops::Range<u32> {
        let n = self.schedule.samples_per_query();
        (index * n) as u32..((index + 1) * n) as u32
    }

    /// Adds query `index` to the call at `now`.
    fn add(&mut self, index: usize, scheduled: SimTime, now: SimTime, intervals: u64) {
        match self.schedule.samples_per_query() {
            1 => self
                .samples
                .push(Sample { id: index as u32, index: self.schedule.first_sample(index) }),
            _ => {
                let samples = self.ids(index).zip(self.schedule.samples(index));
                self.samples.extend(samples.map(|(id, index)| Sample { id, index }));
            }
        }
        self.queries.push(Query { index, scheduled, issued: now, completed: now, intervals });
    }

    /// Calls the system with the samples that were added; returns the instant at which the call returns.
    fn call(&mut self, now: SimTime) -> SimTime {
        self.calls += 1;
        self.steps.step();
        let returned = self.sut.issue(now, &self.samples, &mut self.completions);
        self.samples.clear();
        returned.max(now)
    }

    /// Advances the system until query `index` is done; returns that instant, or `None` if the system stops before.
    fn wait_for(&mut self, index: usize) -> Result<Option<SimTime>, RunError> {
        let mut last = SimTime::ZERO;
        for sample in self.ids(index) {
            last = last.max(loop {
                if let Some(at) = self.completions.at(sample) {
                    break at;
                }
                match self.sut.next_event() {
                    Some(next) => self.sut.advance(next, &mut self.completions),
                    None if self.sut.stopped().is_some() => return Ok(None),
                    None => return Err(RunError::NeverDone { sample }),
                }
            });
        }
        Ok(Some(last))
    }

    /// Reason to end after the queries issued so far, the last of them at `now`: a maximum is reached.
    fn ending(&self, now: SimTime, thread: usize, issued: u64) -> Option<Ending> {
        let elapsed = now - SimTime::ZERO;
        let stride = self.settings.threads as u64;
        let share = |total: u64| total / stride + u64::from((thread as u64) < total % stride);
        let too_many = self.settings.max_query_count.is_some_and(|most| issued >= share(most));
        let too_long = self.settings.max_duration.is_some_and(|longest| elapsed > longest);
        match (too_many, too_long) {
            (true, _) => Some(Ending::MaxQueries { thread, issued }),
            (_, true) => Some(Ending::MaxDuration { thread, elapsed }),
            _ => None,
        }
    }

    /// Reason to end a run that also ends with enough queries and time.
    fn ending_of_stream(&self, now: SimTime) -> Option<Ending> {
        let issued = self.queries.len() as u64;
        let least = match self.settings.scenario {
            LoadScenario::Offline => SimSpan::ZERO,
            _ => self.settings.min_duration,
        };
        if issued >= self.settings.min_query_count && now - SimTime::ZERO >= least {
            return Some(Ending::Natural);
        }
        self.ending(now, 0, issued)
    }

    /// Issues each query on completion of the one before, and the single query of Offline.
    fn on_completion(&mut self) -> Result<Ending, RunError> {
        let mut now = SimTime::ZERO;
        for index in 0..self.schedule.n_queries() {
            self.add(index, now, now, 0);
            let returned = self.call(now);
            if let Some(ending) = self.ending_of_stream(now) {
                return Ok(ending);
            }
            let Some(done) = self.wait_for(index)? else { return Ok(Ending::Stopped) };
            now = done.max(returned);
        }
        Ok(Ending::RanOut)
    }

    /// Issues each query at the next tick at which not too many queries are outstanding. The first tick
    /// comes after one interval.
    fn fixed_interval(&mut self) -> Result<Ending, RunError> {
        let outstanding = self.settings.max_async_queries as usize;
        let (mut now, mut tick) = (SimTime::ZERO, 0);
        for index in 0..self.schedule.n_queries() {
            if let Some(oldest) = index.checked_sub(outstanding) {
                let Some(done) = self.wait_for(oldest)? else { return Ok(Ending::Stopped) };
                now = now.max(done);
            }
            let (next, due) = self.tick_from(tick + 1, now);
            self.add(index, due, due, next - tick);
            tick = next;
            now = self.call(due);
            if let Some(ending) = self.ending_of_stream(due) {
                return Ok(ending);
            }
        }
        Ok(Ending::RanOut)
    }

    /// Number and instant of the first tick from number `tick` on that is not before `now`. The instant
    /// is `tick / qps`, cut to whole nanoseconds.
    fn tick_from(&self, tick: u64, now: SimTime) -> (u64, SimTime) {
        let qps = self.settings.target_qps;
        let due = |tick: u64| SimTime::from_ns((tick as f64 / qps * 1e9) as u64);
        let passed = (now.ns() as f64 / 1e9 * qps) as u64;
        let mut tick = tick.max(passed.saturating_sub(1));
        while due(tick) < now {
            tick += 1;
        }
        (tick, due(tick))
    }

    /// Issues each query when it is due, or when the call before it has returned, on threads that take
    /// turns in the schedule.
    fn server(&mut self) -> Vec<Ending> {
        let stride = self.settings.threads;
        let mut threads: Vec<_> = (0..stride).map(Thread::new).collect();
        while let Some((now, index)) = self.next_thread(&threads) {
            let thread = &mut threads[index];
            let first = self.queries.len();
            self.add_due(thread, stride, now);
            let returned = self.call(now);
            thread.free = returned;
            thread.issued += (self.queries.len() - first) as u64;
            let overload = self.too_many_outstanding(returned, index);
            thread.ending = overload.or_else(|| self.ending(now, index, thread.issued));
            if self.sut.stopped().is_some() {
                return vec![Ending::Stopped; stride];
            }
        }
        threads.into_iter().map(|thread| thread.ending.unwrap_or(Ending::Natural)).collect()
    }

    /// Thread that issues next, and the instant at which it does.
    fn next_thread(&self, threads: &[Thread]) -> Option<(SimTime, usize)> {
        let active = threads.iter().enumerate().filter(|(_, thread)| thread.ending.is_none());
        let ready = active.filter_map(|(index, thread)| {
            let due = *self.schedule.offsets.get(thread.next)?;
            Some((due.max(thread.free), index))
        });
        ready.min()
    }

    /// Adds the next query of `thread` to its call and, if queries coalesce, all others that are due.
    fn add_due(&mut self, thread: &mut Thread, stride: usize, now: SimTime) {
        let offsets = &self.schedule.offsets;
        loop {
            self.add(thread.next, offsets[thread.next], now, 0);
            thread.next += stride;
            let is_due = offsets.get(thread.next).is_some_and(|&due| due <= now);
            if !(self.settings.coalesce && is_due) {
                return;
            }
        }
    }

    fn too_many_outstanding(&mut self, now: SimTime, thread: usize) -> Option<Ending> {
        let most = self.settings.max_async_queries;
        if most == 0 {
            return None;
        }
        self.sut.advance(now, &mut self.completions);
        let issued = self.queries.len() as u64;
        let outstanding = issued - self.completions.count(now);
        let is_too_many = outstanding > most;
        is_too_many.then_some(Ending::TooManyOutstanding { thread, issued, outstanding })
    }

    /// Ends what the system had not done when it stopped `at`. Queries that came later are left out, but for the first.
    fn cut(&mut self, at: SimTime, queries: &mut Vec<Query>) {
        let first = queries.first().map(|query| query.index);
        queries.retain(|query| query.issued <= at || first == Some(query.index));
        for query in queries {
            let end = at.max(query.issued);
            for sample in self.ids(query.index) {
                let done = self.completions.at(sample);
                if done.is_none() {
                    self.completions.record(sample, end);
                }
                query.completed = query.completed.max(done.unwrap_or(end));
            }
        }
    }

    /// Advances the system until all queries are done, or it stops.
    fn finish(mut self, mut endings: Vec<Ending>) -> Result<Run, RunError> {
        let mut queries = std::mem::take(&mut self.queries);
        if self.settings.threads > 1 {
            queries.sort_unstable_by_key(|query| query.index);
        }
        for query in &mut queries {
            match self.wait_for(query.index)? {
                Some(done) => query.completed = done,
                None => endings.fill(Ending::Stopped),
            }
        }
        let mut done = Vec::new();
        if let Some(at) = self.sut.stopped().filter(|_| endings.contains(&Ending::Stopped)) {
            if self.settings.scenario == LoadScenario::Offline {
                done.extend(self.ids(0).filter_map(|sample| self.completions.at(sample)));
            }
            self.cut(at, &mut queries);
        }
        let samples_per_query = self.schedule.samples_per_query();
        let is_gapless = queries.last().is_none_or(|last| last.index + 1 == queries.len());
        let completed = match is_gapless {
            // Of the query of Offline, the samples that were done count.
            _ if !done.is_empty() => done,
            true => self.completions.into_first(queries.len() * samples_per_query),
            false => {
                let ids = queries.iter().flat_map(|query| self.ids(query.index));
                ids.filter_map(|id| self.completions.at(id)).collect()
            }
        };
        Ok(Run { queries, completed, samples_per_query, calls: self.calls, endings })
    }
}

/// An issuing thread of the server scenario.
struct Thread {
    /// Position of its next query in the schedule.
    next: usize,
    /// Instant at which its last call returned.
    free: SimTime,
    issued: u64,
    ending: Option<Ending>,
}

impl Thread {
    fn new(index: usize) -> Self {
        Self { next: index, free: SimTime::ZERO, issued: 0, ending: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{LoadGenVersion, QuerySampleLibrary, TestSettings};
    use crate::sut::{Discipline, ServerSystem, ServiceTime};

    const MS: u64 = 1_000_000;

    fn ms(ms: u64) -> SimSpan {
        SimSpan::from_ns(ms * MS)
    }

    fn settings(requested: &TestSettings, loadgen: LoadGenVersion) -> EffectiveSettings {
        let library = QuerySampleLibrary { performance_samples: 4, total_samples: 4 };
        EffectiveSettings::new(requested, library, loadgen).unwrap()
    }

    fn service(time: ServiceTime, discipline: Discipline) -> ServerSystem {
        ServerSystem::new(time, discipline, vec![1.0])
    }

    fn constant(time_ms: u64) -> ServerSystem {
        service(ServiceTime::Constant(ms(time_ms)), Discipline::Fifo)
    }

    fn generated(settings: &EffectiveSettings, sut: &mut impl SystemUnderTest) -> Run {
        let schedule = QuerySchedule::generate(settings).unwrap();
        run_queries(settings, &schedule, sut).unwrap()
    }

    /// Server run of queries that are due at `offsets_ms`.
    fn served(requested: &TestSettings, offsets_ms: &[u64], sut: &mut ServerSystem) -> Run {
        let settings = settings(requested, LoadGenVersion::V6_0);
        let offsets = offsets_ms.iter().map(|&at| SimTime::from_ns(at * MS)).collect();
        let schedule = QuerySchedule::at(&settings, offsets, SimTime::MAX);
        run_queries(&settings, &schedule, sut).unwrap()
    }

    fn latencies_ms(run: &Run) -> Vec<f64> {
        run.queries.iter().map(|query| query.latency().as_ms()).collect()
    }

    fn issued_ms(run: &Run) -> Vec<f64> {
        run.queries.iter().map(|query| query.issued.as_ms()).collect()
    }

    fn single_stream() -> TestSettings {
        TestSettings {
            single_stream_expected_latency_ns: 5 * MS,
            min_duration_ms: 10,
            min_query_count: 2,
            ..TestSettings::new(LoadScenario::SingleStream)
        }
    }

    fn server() -> TestSettings {
        TestSettings {
            min_duration_ms: 0,
            min_query_count: 1,
            ..TestSettings::new(LoadScenario::Server)
        }
    }

    /// Queries of 5 ms begin at 0, 5 and 10 ms; the last is the first at the minimum duration.
    #[test]
    fn a_stream_ends_with_the_first_query_after_the_minimum_duration() {
        let run = generated(&settings(&single_stream(), LoadGenVersion::V6_0), &mut constant(5));
        assert_eq!(issued_ms(&run), [0.0, 5.0, 10.0]);
        assert_eq!(latencies_ms(&run), [5.0; 3]);
        assert_eq!(run.endings, [Ending::Natural]);
    }

    /// Queries are generated for twice 10 ms at an expected 20 ms: two, due at 0 and 20 ms. They take
    /// 10 ms in total, and the second one begins at 5 ms.
    #[test]
    fn a_stream_runs_out_if_it_is_faster_than_expected() {
        let requested =
            TestSettings { single_stream_expected_latency_ns: 20 * MS, ..single_stream() };
        let run = generated(&settings(&requested, LoadGenVersion::V6_0), &mut constant(5));
        assert_eq!((run.queries.len(), &run.endings[..]), (2, &[Ending::RanOut][..]));
        assert!(
            run.endings[0].to_string().starts_with("Ending early: Ran out of generated queries")
        );
    }

    /// The query at 15 ms is the first of those at 0, 5, 10, 15 ms that exceeds 12 ms.
    #[test]
    fn a_stream_ends_at_the_maximum_of_queries_or_duration() {
        let long = TestSettings { min_query_count: 100, ..single_stream() };
        let few = TestSettings { max_query_count: 4, ..long };
        let run = generated(&settings(&few, LoadGenVersion::V6_0), &mut constant(5));
        assert_eq!(run.endings, [Ending::MaxQueries { thread: 0, issued: 4 }]);
        let short = TestSettings { max_duration_ms: 12, ..long };
        let run = generated(&settings(&short, LoadGenVersion::V6_0), &mut constant(5));
        assert_eq!(run.endings, [Ending::MaxDuration { thread: 0, elapsed: ms(15) }]);
        assert_eq!(
            run.endings[0].to_string(),
            "IssueQueryThread 0 Ending early: Max test duration reached. duration_ns 15000000"
        );
    }

    /// Samples take 1 ms one after another; the query is done with its last sample.
    #[test]
    fn a_query_is_done_with_its_last_sample() {
        let requested = TestSettings {
            multi_stream_samples_per_query: 3,
            min_duration_ms: 0,
            min_query_count: 2,
            ..TestSettings::new(LoadScenario::MultiStream)
        };
        let time = ServiceTime::Constant(ms(1));
        let mut sut = service(time, Discipline::SequentialSamples);
        let run = generated(&settings(&requested, LoadGenVersion::V6_0), &mut sut);
        assert_eq!(issued_ms(&run), [0.0, 3.0]);
        let samples: Vec<_> =
            run.sample_latencies().iter().map(|latency| latency.as_ms()).collect();
        assert_eq!(samples, [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
    }

    /// One server of 5 ms: 0 → 5, 1 → 10, 2 → 15, 20 → 25 ms. With two: 5, 6, 10, 25 ms.
    #[test]
    fn queries_of_a_server_wait_for_the_server_that_is_free_first() {
        let run = served(&server(), &[0, 1, 2, 20], &mut constant(5));
        assert_eq!(latencies_ms(&run), [5.0, 9.0, 13.0, 5.0]);
        let time = ServiceTime::Constant(ms(5));
        let mut two = ServerSystem::new(time, Discipline::Fifo, vec![1.0; 2]);
        let run = served(&server(), &[0, 1, 2, 20], &mut two);
        assert_eq!(latencies_ms(&run), [5.0, 5.0, 8.0, 5.0]);
        assert_eq!((run.calls, &run.endings[..]), (4, &[Ending::Natural][..]));
    }

    /// Calls of 4 ms and 0.5 ms a sample, at 0 (one query, until 4.5), 4.5 (two, until 9.5) and 10 ms
    /// (one, until 14.5). Without coalescing: 4.5, 9, 13.5, 18 ms.
    #[test]
    fn late_queries_coalesce_while_a_call_blocks() {
        let (per_call, per_sample) = (ms(4), SimSpan::from_ns(MS / 2));
        let mut sut = service(ServiceTime::Batch { per_call, per_sample }, Discipline::Blocking);
        let run = served(
            &TestSettings { server_coalesce_queries: true, ..server() },
            &[0, 1, 2, 10],
            &mut sut,
        );
        assert_eq!(latencies_ms(&run), [4.5, 8.5, 7.5, 4.5]);
        assert_eq!((issued_ms(&run), run.calls), (vec![0.0, 4.5, 4.5, 10.0], 3));
        let run = served(&server(), &[0, 1, 2, 10], &mut sut);
        assert_eq!(latencies_ms(&run), [4.5, 8.0, 11.5, 8.0]);
        assert_eq!(run.calls, 4);
    }

    /// Two threads have calls of 5 ms: thread 0 issues queries 0 and 2 (at 0 and 5 ms), thread 1 issues
    /// queries 1 and 3 (at 1 and 6 ms).
    #[test]
    fn every_thread_waits_for_its_own_calls() {
        let requested = TestSettings { server_num_issue_query_threads: 2, ..server() };
        let mut sut = service(ServiceTime::Constant(ms(5)), Discipline::Blocking);
        let run = served(&requested, &[0, 1, 2, 3], &mut sut);
        assert_eq!(issued_ms(&run), [0.0, 1.0, 5.0, 6.0]);
        assert_eq!(run.endings, [Ending::Natural; 2]);
        let few = TestSettings { max_query_count: 3, ..requested };
        let run = served(&few, &[0, 1, 2, 3], &mut sut);
        assert_eq!(run.queries.iter().map(|query| query.index).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(run.endings[1], Ending::MaxQueries { thread: 1, issued: 1 });
    }

    /// At 0, 1, 2 ms one, two, three queries of 5 ms are outstanding, which is more than two.
    #[test]
    fn too_many_outstanding_queries_end_a_server_run() {
        let requested = TestSettings { server_max_async_queries: 2, ..server() };
        let run = served(&requested, &[0, 1, 2, 3], &mut constant(5));
        assert_eq!(run.queries.len(), 3);
        assert_eq!(
            run.endings[0].to_string(),
            "IssueQueryThread 0 Ending early: Too many outstanding queries. issued 3 outstanding 3"
        );
        let slow = served(&requested, &[0, 1, 5, 10, 15], &mut constant(5));
        assert_eq!((slow.queries.len(), &slow.endings[..]), (5, &[Ending::Natural][..]));
    }

    /// Batches of up to two, 2 ms and 1 ms a sample: 0 → 3 (one), 3 → 7 (two of three waiting),
    /// 7 → 10 (the third).
    #[test]
    fn a_free_server_takes_the_samples_that_wait() {
        let time = ServiceTime::Batch { per_call: ms(2), per_sample: ms(1) };
        let discipline = Discipline::DynamicBatch { max_batch: 2, max_wait: SimSpan::ZERO };
        let run = served(&server(), &[0, 1, 2, 3], &mut service(time, discipline));
        assert_eq!(latencies_ms(&run), [3.0, 6.0, 5.0, 7.0]);
    }

    /// The query at 0 waits until 2 ms for a second one; the queries at 5 and 6 ms make a batch at 6 ms;
    /// the query at 20 ms waits without another one.
    #[test]
    fn a_free_server_waits_for_a_full_batch() {
        let time = ServiceTime::Batch { per_call: ms(2), per_sample: ms(1) };
        let discipline = Discipline::DynamicBatch { max_batch: 2, max_wait: ms(2) };
        let run = served(&server(), &[0, 5, 6, 20], &mut service(time, discipline));
        assert_eq!(latencies_ms(&run), [5.0, 5.0, 4.0, 5.0]);
    }

    /// Ten samples in pieces of 4, 4 and 2 with 1 ms a sample: on one server until 4, 8 and 10 ms; on
    /// two, of which the second one is three times slower, the pieces end at 4, 12 and 6 ms.
    #[test]
    fn offline_is_cut_into_pieces() {
        let requested = TestSettings {
            min_query_count: 10,
            min_duration_ms: 0,
            ..TestSettings::new(LoadScenario::Offline)
        };
        let settings = settings(&requested, LoadGenVersion::V6_0);
        let time = ServiceTime::Batch { per_call: SimSpan::ZERO, per_sample: ms(1) };
        let pieces = Discipline::Pieces { max_batch: 4 };
        let done_ms = |slowness| {
            let run = generated(&settings, &mut ServerSystem::new(time.clone(), pieces, slowness));
            run.completed.iter().map(|at| at.ns() / MS).collect::<Vec<_>>()
        };
        assert_eq!(done_ms(vec![1.0]), [4, 4, 4, 4, 8, 8, 8, 8, 10, 10]);
        assert_eq!(done_ms(vec![1.0, 3.0]), [4, 4, 4, 4, 12, 12, 12, 12, 6, 6]);
    }

    fn fixed_interval(service_ms: u64, outstanding: u64) -> Run {
        let requested = TestSettings {
            multi_stream_target_qps: 100.0,
            multi_stream_samples_per_query: 1,
            multi_stream_max_async_queries: outstanding,
            min_duration_ms: 0,
            min_query_count: 3,
            ..TestSettings::new(LoadScenario::MultiStream)
        };
        generated(&settings(&requested, LoadGenVersion::V0_5), &mut constant(service_ms))
    }

    /// Ticks come every 10 ms from 10 ms on. A query of 10 ms is done at the next tick, which is used; a
    /// query of 15 ms skips every second tick.
    #[test]
    fn ticks_are_skipped_while_a_query_is_outstanding() {
        let run = fixed_interval(10, 1);
        assert_eq!(issued_ms(&run), [10.0, 20.0, 30.0]);
        assert_eq!(run.queries.iter().map(|query| query.intervals).collect::<Vec<_>>(), [1, 1, 1]);
        let run = fixed_interval(15, 1);
        assert_eq!(issued_ms(&run), [10.0, 30.0, 50.0]);
        assert_eq!(run.queries.iter().map(|query| query.intervals).collect::<Vec<_>>(), [1, 2, 2]);
    }

    /// Two queries of 15 ms, issued at 10 and 20 ms to one server, are done at 25 and 40 ms; the third
    /// query waits for the first.
    #[test]
    fn as_many_queries_as_allowed_may_be_outstanding() {
        assert_eq!(issued_ms(&fixed_interval(15, 2)), [10.0, 20.0, 30.0]);
    }

    /// Queries of 10 ms, of which the third one is not done after 25 ms.
    #[test]
    fn a_run_ends_where_the_system_stops() {
        struct Stopping;
        impl SystemUnderTest for Stopping {
            fn issue(&mut self, now: SimTime, query: &[Sample], done: &mut Completions) -> SimTime {
                let end = now + ms(10);
                query.iter().filter(|_| end.ns() <= 25 * MS).for_each(|it| done.record(it.id, end));
                now
            }
            fn stopped(&self) -> Option<SimTime> {
                Some(SimTime::from_ns(25 * MS))
            }
        }
        let requested = TestSettings { min_query_count: 9, ..single_stream() };
        let run = generated(&settings(&requested, LoadGenVersion::V6_0), &mut Stopping);
        assert_eq!(issued_ms(&run), [0.0, 10.0, 20.0]);
        assert_eq!(run.completed.iter().map(|at| at.ns() / MS).collect::<Vec<_>>(), [10, 20, 25]);
        assert!(run.endings == [Ending::Stopped] && !run.is_finished());
    }

    #[test]
    fn a_system_that_forgets_a_sample_is_reported() {
        struct Forgetful;
        impl SystemUnderTest for Forgetful {
            fn issue(&mut self, now: SimTime, _: &[Sample], _: &mut Completions) -> SimTime {
                now
            }
        }
        let settings = settings(&single_stream(), LoadGenVersion::V6_0);
        let schedule = QuerySchedule::generate(&settings).unwrap();
        let error = run_queries(&settings, &schedule, &mut Forgetful).unwrap_err();
        assert_eq!(error, RunError::NeverDone { sample: 0 });
    }
}
