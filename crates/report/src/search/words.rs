//! Answers of a search in words.

use super::{AnswerReport, Found};
use xrsim_model::column::Better;
use xrsim_model::text::counted;
use xrsim_search::{Claim, Quantity, StopReason};
use xrsim_sim::bounds::Class;

impl AnswerReport {
    /// The answer in words, several lines.
    pub fn text(&self) -> String {
        let mut lines = match self.answer.question.is_front() {
            true => self.front_lines(),
            false => self.best_lines(),
        };
        lines.extend(self.units.iter().cloned());
        lines.push(self.work());
        lines.extend(self.confirmation());
        lines.extend(self.technology_lines());
        lines.join("\n") + "\n"
    }

    fn best_lines(&self) -> Vec<String> {
        let Some(best) = self.found.first() else { return vec![self.nothing()] };
        let quantity = self.objective();
        let mut parts = vec![best.system.clone()];
        let value = best.value(quantity).map_or("none".into(), |value| number(quantity, value));
        let half = best.half_width.map_or(String::new(), |half| format!(" +- {}", short(half)));
        parts.push(format!("{} {value}{half}", quantity.name()));
        if quantity != Quantity::Area
            && let Some(area) = best.value(Quantity::Area)
        {
            parts.push(format!("area {area:.1} mm2 (+-30 %)"));
        }
        if self.answer.question.needs_runs() {
            parts.push(best.scheduler.clone());
        }
        let mut lines = vec![format!("best   {}", parts.join("   "))];
        lines.extend(best.memories.iter().map(|it| format!("       {it}")));
        if best.idle_pes > 0 {
            lines.push(format!(
                "       {} cannot be used by its dataflows",
                counted(best.idle_pes as usize, "PE")
            ));
        }
        lines.push(self.proof(quantity));
        lines.extend(self.certificates(quantity));
        lines.extend(self.alone.clone());
        lines
    }

    fn proof(&self, quantity: Quantity) -> String {
        let answer = &self.answer;
        let gap = answer.gap().map_or(String::new(), |gap| format!("{} %", short(100.0 * gap)));
        if let Some(part) = &self.part {
            return format!(
                "best of part {part} only: join all parts for a statement about the whole space"
            );
        }
        match (answer.stop, answer.is_exact) {
            (StopReason::Proven, true) if !answer.question.needs_runs() => {
                "proven: the optimum of the space; costs decide it without runs".into()
            }
            (StopReason::Proven, true) => format!(
                "proven: the optimum of the space under {}, in these draws",
                Claim::Listed.schedulers()
            ),
            (_, true) => format!(
                "not proven ({}): systems that are not excluded can reach {}, a gap of {gap}",
                answer.stop.name(),
                answer.upper.map_or("anything".into(), |upper| number(quantity, upper.abs())),
            ),
            (_, false) => "found by evolution, without proof".into(),
        }
    }

    /// The largest values of any system, by class of schedulers.
    fn certificates(&self, quantity: Quantity) -> Option<String> {
        let value = self.found[0].value(quantity).filter(|_| self.part.is_none())?;
        let of = |class: Class| {
            let bound = self.answer.certificates.of(class)?;
            let above = 100.0 * (bound - value).max(0.0) / value;
            let above = match above.is_finite() {
                // Bounds are sums of rounded numbers.
                true if above < 0.001 => " (less than 0.001 % above the best)".into(),
                true => format!(" ({} % above the best)", short(above)),
                false => String::new(),
            };
            Some(format!("{} under {}{above}", number(quantity, bound), class.name()))
        };
        let bounds: Vec<_> = [Class::Keeping, Class::Any].into_iter().filter_map(of).collect();
        (!bounds.is_empty())
            .then(|| format!("no system exceeds, in these draws: {}", bounds.join("; ")))
    }

    fn nothing(&self) -> String {
        let answer = &self.answer;
        if let Some(part) = &self.part {
            return format!("part {part} has no system that can be the answer");
        }
        match answer.stop {
            StopReason::Proven if answer.question.constraints.is_empty() => {
                "no system of the space can run".into()
            }
            StopReason::Proven => {
                let limits: Vec<_> =
                    answer.question.constraints.iter().map(|it| it.to_string()).collect();
                format!("no system of the space keeps {}", limits.join(" and "))
            }
            _ => "no system was simulated completely before the search was stopped".into(),
        }
    }

    fn front_lines(&self) -> Vec<String> {
        if self.found.is_empty() {
            return vec![self.nothing()];
        }
        let names: Vec<_> = self.answer.question.objectives.iter().map(|it| it.name()).collect();
        let exact = match (self.answer.is_exact, self.answer.stop) {
            _ if self.part.is_some() => "of one part only; join all parts",
            (true, StopReason::Proven) => {
                "exact: every other system of the space is worse in one and better in none"
            }
            (true, _) => "the search was stopped: others may be better",
            _ => "found by evolution, without proof",
        };
        let mut lines = vec![format!(
            "front of {} in {} ({exact})",
            counted(self.found.len(), "system"),
            names.join(", ")
        )];
        if self.found.len() > 1 {
            let (volume, reference) = self.hypervolume();
            let reference: Vec<_> = reference.iter().map(|&value| short(value)).collect();
            lines.push(format!("hypervolume {} above ({})", short(volume), reference.join(", ")));
        }
        lines
    }

    /// Hypervolume of the front, and its reference point: the worst corner of the evaluated systems, a
    /// tenth of their range further.
    pub fn hypervolume(&self) -> (f64, Vec<f64>) {
        let objectives = &self.answer.question.objectives;
        let sign = |quantity: Quantity| match quantity.better() {
            Better::Higher => 1.0,
            Better::Lower => -1.0,
        };
        let good = |found: &Found| {
            let of = |&it: &Quantity| sign(it) * found.value(it).unwrap_or(f64::NAN);
            objectives.iter().map(of).collect::<Vec<f64>>()
        };
        let points: Vec<_> = self.found.iter().map(good).collect();
        let reference = (0..objectives.len()).map(|at| {
            let values = points.iter().map(|point| point[at]);
            let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| {
                (low.min(it), high.max(it))
            });
            low - 0.1 * (high - low).max(1e-9 * low.abs())
        });
        let reference: Vec<f64> = reference.collect();
        let volume = xrsim_search::front::hypervolume(&points, &reference);
        let signed = reference.iter().zip(objectives).map(|(value, &it)| sign(it) * value);
        (volume, signed.collect())
    }

    fn work(&self) -> String {
        let counts = self.answer.counts;
        let simulated = counts.partly + counts.complete;
        let mut parts = vec![format!(
            "simulated {simulated} of {}, {} in all draws, {} runs",
            counted(counts.systems as usize, "system"),
            counts.complete,
            self.answer.runs
        )];
        for (n, what) in [
            (counts.bounded, "excluded by bounds"),
            (counts.constrained, "by constraints"),
            (counts.infeasible, "cannot run a model"),
        ] {
            if n > 0 {
                parts.push(format!("{n} {what}"));
            }
        }
        parts.join("; ")
    }

    fn confirmation(&self) -> Option<String> {
        let (candidates, draws) = self.confirmed.as_ref()?;
        let settings = self.confirm_settings?;
        let quantity = self.objective();
        let mut left: Vec<_> = candidates.iter().filter(|it| !it.5).collect();
        left.sort_by(|a, b| match quantity.better() {
            Better::Higher => b.2.total_cmp(&a.2),
            Better::Lower => a.2.total_cmp(&b.2),
        });
        let best = *left.first()?;
        let half = best.3.map_or(String::new(), |half| format!(" +- {}", short(half)));
        let mean = number(quantity, best.2) + &half;
        let found = self.found.first()?;
        let is_same = best.0 == found.system;
        let procedure = format!(
            "Kim and Nelson, {} %, difference {}",
            short(100.0 * (1.0 - settings.alpha.get())),
            short(settings.delta)
        );
        let others = candidates.len() - left.len();
        let cut = if self.is_cut { "; others within the difference were left out" } else { "" };
        Some(match left.len() {
            1 if others == 0 => format!(
                "on {draws} fresh draws: {mean}; no other system that was simulated in all draws is within {}",
                short(settings.delta)
            ),
            _ if is_same && left.iter().all(|it| it.0 == best.0) => {
                let schedulers: Vec<_> = left.iter().map(|it| &*it.1).collect();
                let which = match schedulers[..] {
                    [_] => String::new(),
                    _ => format!("; its schedulers {} are not separated", schedulers.join(", ")),
                };
                format!(
                    "confirmed on {draws} fresh draws: {mean}, ahead of {} ({procedure}){which}{cut}",
                    counted(others, "other")
                )
            }
            1 => format!(
                "not confirmed: on {draws} fresh draws {} ({}) is selected with {mean}; it is better, or the two \
                 differ by less than the difference ({procedure}){cut}",
                best.0, best.1
            ),
            n => {
                let mut names: Vec<&str> = Vec::new();
                for it in &left {
                    if names.len() < 4 && !names.contains(&&*it.0) {
                        names.push(&it.0);
                    }
                }
                let more = if left.iter().any(|it| !names.contains(&&*it.0)) { ", .." } else { "" };
                format!(
                    "not separated on {draws} fresh draws: {n} candidates, the best with {mean}: {}{more} ({procedure}){cut}",
                    names.join(", ")
                )
            }
        })
    }

    fn technology_lines(&self) -> Vec<String> {
        if self.technologies.is_empty() {
            return Vec::new();
        }
        let same = self.technologies.iter().all(|(_, other)| other.is_none());
        let names: Vec<_> = self.technologies.iter().map(|(name, _)| &**name).collect();
        match same {
            true => vec![format!("the same system is best in {}", names.join(" and "))],
            false => {
                let differs = self.technologies.iter().filter_map(|(name, other)| {
                    Some(format!("in {name} {} is best", other.as_deref()?))
                });
                vec![format!(
                    "depends on the technology: {}",
                    differs.collect::<Vec<_>>().join("; ")
                )]
            }
        }
    }
}

/// A value of a quantity as it is printed.
pub(super) fn number(quantity: Quantity, value: f64) -> String {
    let unit = quantity.unit();
    let digits = if unit.is_empty() { format!("{value:.6}") } else { short(value) };
    if unit.is_empty() { digits } else { format!("{digits} {unit}") }
}

/// About three digits.
fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        large if large >= 1000.0 => format!("{value:.0}"),
        large if large >= 10.0 => format!("{value:.1}"),
        large if large >= 0.1 => format!("{value:.2}"),
        large if large >= 0.001 => format!("{value:.4}"),
        _ => format!("{value:.1e}"),
    }
}
