//! The best schedule of a few tasks, by mixed-integer programming.
//!
//! ```text
//! maximise    sum over tasks, ways and levels of worth · x
//! subject to  sum of x of a task ≤ 1
//!             end ≤ by                          for the chosen level
//!             start ≥ end of upstream, if both run, and only if it runs
//!             no overlap: of two tasks on one accelerator one is first
//! ```
//!
//! `x` = 1 for a task that runs in this way (accelerator and duration) and ends within this *level*. The
//! worth of a task falls with its end, and levels are its steps: few and coarse at first, each worth
//! what its earliest end is worth. Where the schedule that is found gets more by a level than it is
//! worth in truth, that level is cut at the end in question and the program solved again. The
//! optimum of the program is an upper bound throughout, and the true worth of the schedule a lower
//! one; they meet.
//!
//! Cuts that follow from the program make it quick to solve: in any interval an
//! accelerator has so much time, of which every task takes at least what sticks out of its own
//! window neither to the left nor to the right (energetic reasoning, Baptiste, Le Pape & Nuijten).

use std::collections::{BTreeMap, BTreeSet};

use good_lp::{
    Constraint, Expression, ProblemVariables, Solution as _, SolverModel as _, Variable, microlp,
    variable,
};
use ordered_float::OrderedFloat;

/// Most programs that are solved for one optimum.
const ROUNDS: usize = 64;

/// How close the bounds of an optimum are, as a share of the most that a task is worth.
const TOLERANCE: f64 = 1e-10;

/// A task, times in nanoseconds.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) earliest_start: u64,
    /// The last instant at which it may start.
    pub(super) latest_start: u64,
    /// In how many ways it may run: on which accelerator for how long.
    pub(super) ways: Vec<Way>,
    /// Ends at which its worth is cut into levels, ascending; after the last it has no value.
    pub(super) steps: Vec<u64>,
    /// Tasks that must have ended before it starts.
    pub(super) upstream: Vec<usize>,
}

/// A way to run a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) accelerator: usize,
    pub(super) duration: u64,
}

/// Where and when a task runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placed {
    /// Index of its way.
    pub(super) way: usize,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// The best schedule.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Optimum {
    /// No schedule is worth more.
    pub(super) upper: f64,
    /// Value of this schedule.
    pub(super) reached: f64,
    /// Indexed like the tasks; `None` for those that do not run.
    pub(super) schedule: Vec<Option<Placed>>,
}

/// The best schedule of `tasks`, where the `worth` of (task, way, end) is not negative and does not
/// rise with the end; `None` if the solver fails.
pub(super) fn optimum(tasks: &[Task], worth: &Worth<'_>) -> Option<Optimum> {
    let mut levels = Levels::new(tasks, worth);
    let nothing = vec![None; tasks.len()];
    let mut best = Optimum { upper: f64::INFINITY, reached: 0.0, schedule: nothing };
    if levels.most == 0.0 {
        return Some(Optimum { upper: 0.0, ..best });
    }
    for _ in 0..ROUNDS {
        let (upper, order) = Program::new(tasks, &levels).solve()?;
        let schedule = left_shifted(tasks, order);
        let worths = schedule
            .iter()
            .enumerate()
            .map(|(task, placed)| placed.map_or(0.0, |placed| worth(task, placed.way, placed.end)));
        let reached = worths.sum();
        best.upper = best.upper.min(upper);
        let changed = levels.refine(worth, &schedule);
        if reached > best.reached {
            best = Optimum { reached, schedule, ..best };
        }
        if !changed || best.upper - best.reached <= TOLERANCE * levels.most {
            break;
        }
    }
    Some(Optimum { upper: best.upper.max(best.reached), ..best })
}

/// Value of a task in a way with an end.
pub(super) type Worth<'a> = dyn Fn(usize, usize, u64) -> f64 + 'a;

/// Largest value of a task that ends by an instant.
#[derive(Debug, Clone, Copy)]
struct Level {
    by: u64,
    worth: f64,
}

/// The levels of all tasks, `[task][way]`, ascending in time and falling in worth.
struct Levels {
    levels: Vec<Vec<Vec<Level>>>,
    /// The most that a task is worth.
    most: f64,
}

impl Levels {
    fn new(tasks: &[Task], worth: &Worth<'_>) -> Self {
        let limits = limits(tasks);
        let of_way = |task: usize, way: usize| {
            let Task { earliest_start, latest_start, ways, steps, .. } = &tasks[task];
            let duration = ways[way].duration;
            let earliest = earliest_start.saturating_add(duration);
            let (mut from, latest) = (earliest, latest_start.saturating_add(duration));
            let mut levels = Vec::new();
            if earliest_start > latest_start {
                return levels;
            }
            for &step in steps.iter().filter(|&&step| step >= earliest) {
                if from <= latest {
                    levels.push(Level { by: step.min(latest), worth: worth(task, way, from) });
                }
                from = step.saturating_add(1);
            }
            if from <= limits[task].min(latest) {
                levels.push(Level { by: limits[task].min(latest), worth: 0.0 });
            }
            levels
        };
        let of_task = |task: usize| {
            let ways = 0..tasks[task].ways.len();
            ways.map(|way| of_way(task, way)).collect()
        };
        let levels: Vec<Vec<Vec<Level>>> = (0..tasks.len()).map(of_task).collect();
        let worths = levels.iter().flatten().flatten().map(|level| level.worth);
        Self { most: worths.fold(0.0, f64::max), levels }
    }

    /// Cuts the levels that give a task of `schedule` more than it is worth; false if there are none.
    fn refine(&mut self, worth: &Worth<'_>, schedule: &[Option<Placed>]) -> bool {
        let mut changed = false;
        for (task, placed) in schedule.iter().enumerate() {
            let Some(Placed { way, end, .. }) = *placed else { continue };
            let levels = &mut self.levels[task][way];
            let Some(index) = levels.iter().position(|level| level.by >= end) else { continue };
            let (given, true_worth) = (levels[index].worth, worth(task, way, end));
            if given - true_worth <= TOLERANCE * self.most {
                continue;
            }
            changed = true;
            levels[index].worth = true_worth;
            if let Some(by) = end.checked_sub(1) {
                levels.insert(index, Level { by, worth: given });
            }
        }
        changed
    }
}

/// Until when each task may be useful: its last step, or that of what depends on it.
fn limits(tasks: &[Task]) -> Vec<u64> {
    let mut limits: Vec<_> = tasks.iter().map(|task| *task.steps.last().unwrap_or(&0)).collect();
    // A chain is at most as long as there are tasks.
    for _ in tasks {
        for (index, task) in tasks.iter().enumerate() {
            for &upstream in &task.upstream {
                limits[upstream] = limits[upstream].max(limits[index]);
            }
        }
    }
    limits
}

/// A task in one of its ways within one of its levels.
struct Choice {
    task: usize,
    way: usize,
    accelerator: usize,
    /// \[ms\]
    duration: f64,
    by: f64,
    runs: Variable,
}

/// A task that runs, as the solver says.
struct Started {
    start_ms: f64,
    task: usize,
    way: usize,
}

/// The program, times in milliseconds from the first earliest start.
struct Program<'a> {
    tasks: &'a [Task],
    origin: u64,
    choices: Vec<Choice>,
    starts: Vec<Variable>,
    /// Pairs of tasks that compete, with 1 for the first one being first.
    orders: Vec<(usize, usize, Variable)>,
    variables: ProblemVariables,
    worth: Expression,
    /// The most that a task is worth; the objective is in units of it.
    most: f64,
}

impl<'a> Program<'a> {
    fn new(tasks: &'a [Task], levels: &Levels) -> Self {
        let origin = tasks.iter().map(|task| task.earliest_start).min().unwrap_or(0);
        let mut program = Self {
            tasks,
            origin,
            choices: Vec::new(),
            starts: Vec::new(),
            orders: Vec::new(),
            variables: ProblemVariables::new(),
            worth: Expression::from(0.0),
            most: levels.most,
        };
        for (task, ways) in levels.levels.iter().enumerate() {
            for (way, levels) in ways.iter().enumerate() {
                levels.iter().for_each(|level| program.add_choice(task, way, level));
            }
            let [from, to] = [
                tasks[task].earliest_start,
                tasks[task].latest_start.max(tasks[task].earliest_start),
            ];
            let to = program.ms(to).min(program.latest(task)).max(program.ms(from));
            let start = variable().min(program.ms(from)).max(to);
            program.starts.push(program.variables.add(start));
        }
        program.add_orders();
        program
    }

    fn add_choice(&mut self, task: usize, way: usize, level: &Level) {
        let runs = self.variables.add(variable().binary());
        self.worth.add_mul(level.worth / self.most, runs);
        let Way { accelerator, duration } = self.tasks[task].ways[way];
        let duration = duration as f64 / 1e6;
        self.choices.push(Choice { task, way, accelerator, duration, by: self.ms(level.by), runs });
    }

    fn add_orders(&mut self) {
        for first in 0..self.tasks.len() {
            for second in first + 1..self.tasks.len() {
                let meet = |a: usize, b: usize| self.latest(a) > self.earliest_start(b);
                let compete = self.shared(first, second).next().is_some();
                if compete && meet(first, second) && meet(second, first) {
                    let order = self.variables.add(variable().binary());
                    self.orders.push((first, second, order));
                }
            }
        }
    }

    fn ms(&self, ns: u64) -> f64 {
        ns.saturating_sub(self.origin) as f64 / 1e6
    }

    fn earliest_start(&self, task: usize) -> f64 {
        self.ms(self.tasks[task].earliest_start)
    }

    fn of_task(&self, task: usize) -> impl Iterator<Item = &Choice> {
        self.choices.iter().filter(move |choice| choice.task == task)
    }

    /// The latest end of a task.
    fn latest(&self, task: usize) -> f64 {
        self.of_task(task).map(|choice| choice.by).fold(self.earliest_start(task), f64::max)
    }

    /// Accelerators on which both tasks may run, with the duration of each there.
    fn shared(&self, first: usize, second: usize) -> impl Iterator<Item = (usize, f64, f64)> {
        let ways = self.tasks[first].ways.iter();
        ways.filter_map(move |way| {
            let on =
                |task| move |it: &&Choice| it.task == task && it.accelerator == way.accelerator;
            let duration = |task| self.choices.iter().find(on(task)).map(|it| it.duration);
            Some((way.accelerator, duration(first)?, duration(second)?))
        })
    }

    /// Whether a task runs, as an expression.
    fn runs(&self, task: usize) -> Expression {
        self.of_task(task).map(|choice| choice.runs).sum()
    }

    fn runs_on(&self, task: usize, accelerator: usize) -> Expression {
        let there = self.of_task(task).filter(|choice| choice.accelerator == accelerator);
        there.map(|choice| choice.runs).sum()
    }

    /// When a task ends if it runs.
    fn end(&self, task: usize) -> Expression {
        let mut end = Expression::from(self.starts[task]);
        self.of_task(task).for_each(|choice| end.add_mul(choice.duration, choice.runs));
        end
    }

    /// The optimum, and the tasks that run.
    fn solve(mut self) -> Option<(f64, Vec<Started>)> {
        let constraints = [self.ends(), self.dependencies(), self.exclusions(), self.energies()];
        let worth = std::mem::take(&mut self.worth);
        let variables = std::mem::take(&mut self.variables);
        let mut program = variables.maximise(worth.clone()).using(microlp);
        for constraint in constraints.into_iter().flatten() {
            program.add_constraint(constraint);
        }
        let solution = program.solve().ok()?;
        let running = self.choices.iter().filter(|choice| solution.value(choice.runs) > 0.5);
        let order = running.map(|it| Started {
            start_ms: solution.value(self.starts[it.task]),
            task: it.task,
            way: it.way,
        });
        Some((solution.eval(&worth) * self.most, order.collect()))
    }

    /// A task runs once, and ends by the limit of its level.
    fn ends(&self) -> Vec<Constraint> {
        let tasks = (0..self.tasks.len()).filter(|&task| self.of_task(task).next().is_some());
        tasks
            .flat_map(|task| {
                let latest = self.latest(task);
                let mut end = self.end(task);
                self.of_task(task).for_each(|it| end.add_mul(latest - it.by, it.runs));
                [self.runs(task).leq(1.0), end.leq(latest)]
            })
            .collect()
    }

    /// A task runs after those that it depends on, and only if they run.
    fn dependencies(&self) -> Vec<Constraint> {
        let pair = |task: usize, upstream: usize| {
            let far = (self.latest(upstream) - self.earliest_start(task)).max(0.0);
            let after = self.end(upstream) - self.starts[task] + far * self.runs(task);
            [(self.runs(task) - self.runs(upstream)).leq(0.0), after.leq(far)]
        };
        let tasks = self.tasks.iter().enumerate();
        tasks
            .flat_map(|(task, it)| it.upstream.iter().flat_map(move |&up| pair(task, up)))
            .collect()
    }

    /// Of two tasks on one accelerator one is first.
    fn exclusions(&self) -> Vec<Constraint> {
        let mut constraints = Vec::new();
        for &(first, second, order) in &self.orders {
            for (accelerator, before, after) in self.shared(first, second) {
                let both = self.runs_on(first, accelerator) + self.runs_on(second, accelerator);
                let work = before + after;
                let fits = |a: usize, b: usize| self.earliest_start(a) + work <= self.latest(b);
                let (forth, back) = (fits(first, second), fits(second, first));
                // Where one order is impossible the other needs no variable.
                let is_first = if back { Expression::from(order) } else { 1.0.into() };
                let is_second = if forth { 1.0 - Expression::from(order) } else { 1.0.into() };
                if forth {
                    constraints.push(self.in_order(first, second, before, is_first, &both));
                }
                if back {
                    constraints.push(self.in_order(second, first, after, is_second, &both));
                }
                constraints.extend(self.clashes(first, second, accelerator));
            }
        }
        constraints
    }

    /// `second` starts after `first`, of that `duration`, if `both` run there (2) and `is_first` (1).
    fn in_order(
        &self,
        first: usize,
        second: usize,
        duration: f64,
        is_first: Expression,
        both: &Expression,
    ) -> Constraint {
        let far = self.latest(first) + duration - self.earliest_start(second);
        let gap = self.starts[first] + duration - self.starts[second];
        (gap + far * is_first + far * both.clone()).leq(3.0 * far)
    }

    /// Two tasks do not both end by the limits of these levels where there is no time for both.
    fn clashes(&self, first: usize, second: usize, accelerator: usize) -> Vec<Constraint> {
        let [first, second] = [first, second].map(|task| {
            let choices = self.of_task(task).filter(|it| it.accelerator == accelerator);
            choices.collect::<Vec<_>>()
        });
        let fits =
            |a: &Choice, b: &Choice| self.earliest_start(a.task) + a.duration + b.duration <= b.by;
        let clash = |at: usize, with: usize| match (first.get(at), second.get(with)) {
            (Some(a), Some(b)) => !fits(a, b) && !fits(b, a),
            _ => false,
        };
        let mut constraints = Vec::new();
        for at in 0..first.len() {
            for with in 0..second.len() {
                // Later levels that clash say more.
                if clash(at, with) && !clash(at + 1, with) && !clash(at, with + 1) {
                    let choices = first[..=at].iter().chain(&second[..=with]);
                    let sum: Expression = choices.map(|choice| choice.runs).sum();
                    constraints.push(sum.leq(1.0));
                }
            }
        }
        constraints
    }

    /// The time that tasks need on an accelerator within an interval does not exceed the interval.
    fn energies(&self) -> Vec<Constraint> {
        let instants = |ms: fn(&Self, &Choice) -> f64| -> BTreeSet<OrderedFloat<f64>> {
            self.choices.iter().map(|choice| OrderedFloat(ms(self, choice))).collect()
        };
        let earliest_starts = instants(|program, choice| program.earliest_start(choice.task));
        let limits = instants(|_, choice| choice.by);
        let accelerators: BTreeSet<_> = self.choices.iter().map(|it| it.accelerator).collect();
        let mut constraints = Vec::new();
        for &accelerator in &accelerators {
            for &OrderedFloat(from) in &earliest_starts {
                for &OrderedFloat(to) in limits.range(OrderedFloat(from)..) {
                    constraints.extend(self.energy(accelerator, from, to));
                }
            }
        }
        constraints
    }

    /// Time that tasks need on an accelerator between two instants; `None` if all fit at once.
    fn energy(&self, accelerator: usize, from: f64, to: f64) -> Option<Constraint> {
        let (mut needed, mut total) = (Expression::from(0.0), 0.0);
        for choice in self.choices.iter().filter(|choice| choice.accelerator == accelerator) {
            let left = (from - self.earliest_start(choice.task)).max(0.0);
            let right = (choice.by - to).max(0.0);
            let inside = (choice.duration - left.max(right)).min(to - from);
            if inside > 0.0 {
                needed.add_mul(inside, choice.runs);
                total += inside;
            }
        }
        (total > to - from).then(|| needed.leq(to - from))
    }
}

/// The tasks in order of their starts, each as early as those before it and its upstream tasks allow,
/// in whole nanoseconds. What rounding in the solver made too late does not run.
fn left_shifted(tasks: &[Task], mut order: Vec<Started>) -> Vec<Option<Placed>> {
    order.sort_by(|a, b| a.start_ms.total_cmp(&b.start_ms).then(a.task.cmp(&b.task)));
    let mut schedule: Vec<Option<Placed>> = vec![None; tasks.len()];
    let mut free = BTreeMap::new();
    for Started { task: index, way, .. } in order {
        let task = &tasks[index];
        let Way { accelerator, duration } = task.ways[way];
        let end_of = |&upstream: &usize| schedule[upstream].map(|placed| placed.end);
        let ends: Option<Vec<_>> = task.upstream.iter().map(end_of).collect();
        let idle = free.entry(accelerator).or_insert(0);
        let Some(ends) = ends else { continue };
        let start = ends.into_iter().fold(task.earliest_start.max(*idle), u64::max);
        if start <= task.latest_start {
            let end = start.saturating_add(duration);
            *idle = end;
            schedule[index] = Some(Placed { way, start, end });
        }
    }
    schedule
}
