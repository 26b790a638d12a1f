//! Groups of frames whose windows overlap, each by itself.
//!
//! Frames of different groups never compete. In a group of a few frames each one either runs on a listed route within
//! its window or is late: all choices are tried, depth first, and a choice counts only if the work that it makes may fit. On every
//! accelerator the work that must be done within an interval takes at most its length; a step that
//! nothing interrupts takes what sticks out of the interval neither at its earliest nor at its latest (energetic
//! reasoning, Baptiste, Le Pape & Nuijten). Larger groups, and routes that are not listed, are granted everything.

use xrsim_model::units::{SimSpan, SimTime};

use super::instance::{Frame, Instance};
use super::work::Route;

/// Most frames of a group in which choices are tried.
const MAX_FRAMES: usize = 12;

/// Choices that are tried for one bound; what is left is granted.
const MAX_NODES: usize = 4_000;

/// The sum of the best choices of all groups; infinite if none is small enough.
pub(super) fn bound(instance: &Instance<'_>) -> f64 {
    let frames = &instance.frames;
    let mut open: Vec<_> = (0..frames.len()).filter(|&it| frames[it].is_open()).collect();
    open.sort_by_key(|&it| (frames[it].start, it));
    let mut total = instance.constant;
    let granted = |frame: &Frame| instance.best(frame).max(frame.late);
    total += frames.iter().filter(|it| !it.is_open()).map(granted).sum::<f64>();
    let (mut n_nodes, mut is_any) = (0, false);
    let mut rest = &open[..];
    while let Some(&first) = rest.first() {
        let mut end = frames[first].end;
        let mut n = 1;
        while let Some(&next) = rest.get(n)
            && frames[next].start < end
        {
            end = end.max(frames[next].end);
            n += 1;
        }
        let (group, others) = rest.split_at(n);
        rest = others;
        let granted = group.iter().map(|&it| granted(&frames[it])).sum::<f64>();
        let is_small = n <= MAX_FRAMES && group.iter().all(|&it| is_listed(instance, &frames[it]));
        if is_small && n_nodes < MAX_NODES {
            total += Group::new(instance, group).best(&mut n_nodes).min(granted);
            is_any = true;
        } else {
            total += granted;
        }
    }
    if is_any { total } else { f64::INFINITY }
}

fn is_listed(instance: &Instance<'_>, frame: &Frame) -> bool {
    instance.routes[frame.model.index()].iter().all(|route| !route.pieces.is_empty())
}

/// A frame on a route within its window.
#[derive(Clone, Copy)]
struct Choice<'a> {
    route: &'a Route,
    worth: f64,
}

/// A frame of a group.
struct Member<'a> {
    start: u64,
    end: u64,
    late: f64,
    /// From the largest worth on.
    choices: Vec<Choice<'a>>,
    /// What it needs, by places in the group; those come before it.
    upstream: Vec<usize>,
    /// Largest sum of worths of the members from this one on.
    rest: f64,
}

struct Group<'a> {
    members: Vec<Member<'a>>,
    n_accelerators: usize,
    chosen: Vec<Option<Choice<'a>>>,
    reached: f64,
    /// Largest value of what was not tried.
    open: f64,
}

/// Work on one accelerator, all within a window \[ns\].
struct Item {
    start: u64,
    end: u64,
    time: u64,
    is_whole: bool,
}

impl<'a> Group<'a> {
    fn new(instance: &'a Instance<'a>, group: &[usize]) -> Self {
        // Windows of what is needed begin earlier, or at once where nothing takes time.
        let mut order: Vec<usize> = Vec::with_capacity(group.len());
        while order.len() < group.len() {
            let is_next = |it: &usize| {
                let mut needed = instance.upstream(&instance.frames[*it]);
                !order.contains(it) && needed.all(|up| order.contains(&up) || !group.contains(&up))
            };
            let next = group.iter().copied().find(is_next);
            order.push(next.expect("dependencies have no circle"));
        }
        let place = |it: usize| order.iter().position(|&known| known == it);
        let member = |&it: &usize| {
            let frame = &instance.frames[it];
            let worths = instance.worths(frame).iter();
            let routes = &instance.routes[frame.model.index()];
            let own = routes.iter().zip(worths).filter(|(it, _)| instance.can_take(frame, it));
            let choices = own.map(|(route, &worth)| Choice { route, worth });
            // A way that is worth no more than to be late may still be what others need.
            let mut choices: Vec<_> = choices
                .map(|it| Choice { worth: it.worth.max(frame.late), ..it })
                .filter(|it| fits(frame, it.route.shortest()))
                .collect();
            choices.sort_by(|a, b| b.worth.total_cmp(&a.worth));
            let upstream = instance.upstream(frame).filter_map(place).collect();
            let (start, end) = (frame.start.ns(), frame.end.ns());
            Member { start, end, late: frame.late, choices, upstream, rest: 0.0 }
        };
        let mut members: Vec<_> = order.iter().map(member).collect();
        let mut rest = 0.0;
        for member in members.iter_mut().rev() {
            rest += member.choices.first().map_or(member.late, |it| it.worth.max(member.late));
            member.rest = rest;
        }
        let chosen = vec![None; members.len()];
        let n_accelerators = instance.n_accelerators;
        Self { members, n_accelerators, chosen, reached: f64::NEG_INFINITY, open: 0.0 }
    }

    /// An upper bound of the worth of all choices that fit.
    fn best(mut self, n_nodes: &mut usize) -> f64 {
        self.extend(0, 0.0, n_nodes);
        self.reached.max(self.open) * (1.0 + 1e-14)
    }

    fn extend(&mut self, at: usize, sum: f64, n_nodes: &mut usize) {
        let Some(member) = self.members.get(at) else {
            self.reached = self.reached.max(sum);
            return;
        };
        if sum + member.rest <= self.reached {
            return;
        }
        if *n_nodes >= MAX_NODES {
            self.open = self.open.max(sum + member.rest);
            return;
        }
        let late = member.late;
        let is_ready = member.upstream.iter().all(|&up| self.chosen[up].is_some());
        for choice in 0..if is_ready { member.choices.len() } else { 0 } {
            *n_nodes += 1;
            let choice = self.members[at].choices[choice];
            self.chosen[at] = Some(choice);
            if self.may_fit() {
                self.extend(at + 1, sum + choice.worth, n_nodes);
            }
            self.chosen[at] = None;
        }
        self.extend(at + 1, sum + late, n_nodes);
    }

    /// Whether the work of what is chosen may fit into the windows.
    fn may_fit(&self) -> bool {
        let n = self.members.len();
        let time = |at: usize| self.chosen[at].map(|it| it.route.shortest().ns());
        let mut starts: Vec<_> = self.members.iter().map(|it| it.start).collect();
        let mut ends: Vec<_> = self.members.iter().map(|it| it.end).collect();
        for at in 0..n {
            for &up in &self.members[at].upstream {
                let after = starts[up].saturating_add(time(up).unwrap_or(0));
                starts[at] = starts[at].max(after);
            }
        }
        for at in (0..n).rev() {
            let Some(time) = time(at) else { continue };
            for &up in &self.members[at].upstream {
                ends[up] = ends[up].min(ends[at].saturating_sub(time));
            }
        }
        let mut items: Vec<Vec<Item>> = (0..self.n_accelerators).map(|_| Vec::new()).collect();
        for at in 0..n {
            let Some(choice) = self.chosen[at] else { continue };
            let mut before = 0;
            let all = choice.route.shortest().ns();
            if starts[at].saturating_add(all) > ends[at] {
                return false;
            }
            for piece in &choice.route.pieces {
                let time = piece.time.ns();
                items[piece.accelerator].push(Item {
                    start: starts[at] + before,
                    end: ends[at] - (all - before - time),
                    time,
                    is_whole: piece.is_whole,
                });
                before += time;
            }
        }
        items.iter().all(|items| has_room(items))
    }
}

/// Whether the work of an accelerator fits into every interval, as far as can be seen.
fn has_room(items: &[Item]) -> bool {
    if items.len() < 2 {
        return true;
    }
    let starts = items.iter().flat_map(|it| [it.start, it.end - it.time]);
    let mut starts: Vec<_> = starts.collect();
    starts.sort_unstable();
    starts.dedup();
    let ends = items.iter().flat_map(|it| [it.end, it.start + it.time]);
    let mut ends: Vec<_> = ends.collect();
    ends.sort_unstable();
    ends.dedup();
    starts.iter().all(|&from| {
        ends.iter().filter(|&&until| until > from).all(|&until| {
            let length = until - from;
            let within = |it: &Item| {
                // Time in the interval if the work is done as early or as late as can be.
                let early = (it.start + it.time).saturating_sub(from);
                let late = until.saturating_sub(it.end - it.time);
                let least = early.min(late).min(it.time);
                match it.is_whole {
                    true => least.min(length),
                    false => (early + late).saturating_sub(it.time).min(least),
                }
            };
            items.iter().map(within).fold(0u64, u64::saturating_add) <= length
        })
    })
}

fn fits(frame: &Frame, time: SimSpan) -> bool {
    let end: SimTime = frame.start + time;
    end <= frame.end
}
