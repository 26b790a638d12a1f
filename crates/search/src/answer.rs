//! Answers, and the claims about them that can be proven.

use xrsim_sim::bounds::Class;

use super::StopReason;
use super::exact::{Counts, Point, gap};
use super::goal::{Question, is_below};

/// The largest value of an objective that any system of a space can have, whatever the schedulers of the search are;
/// `None` where no bound is known.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Certificates {
    /// Under schedulers that keep a request where it began.
    pub keeping: Option<f64>,
    /// Under any scheduler.
    pub any: Option<f64>,
}

impl Certificates {
    /// The certificate of a class.
    pub fn of(self, class: Class) -> Option<f64> {
        match class {
            Class::Any => self.any,
            Class::Keeping => self.keeping,
        }
    }
}

/// Share of a certificate that is granted to rounding.
const ROUNDING: f64 = 1e-11;

/// A statement about an answer that can be proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// No system of the space is better under the schedulers of the search, in these draws.
    Listed,
    /// No system of the space exceeds it under the schedulers of a class, in these draws.
    Class(Class),
}

impl Claim {
    /// Every claim with its name, from the weakest on.
    pub const ALL: [(&'static str, Self); 3] = [
        ("listed", Self::Listed),
        ("keeping", Self::Class(Class::Keeping)),
        ("any", Self::Class(Class::Any)),
    ];

    /// The schedulers that it is about.
    pub fn schedulers(self) -> &'static str {
        match self {
            Self::Listed => "the listed schedulers",
            Self::Class(class) => class.name(),
        }
    }
}

/// Answer to a question.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Answer {
    /// The question.
    pub question: Question,
    /// The best point, or the points of the front in falling order of the first objective; empty if no
    /// system keeps the constraints.
    pub points: Vec<Point>,
    /// Largest value of the objective that a system can have which the search left open; `None` if it
    /// left none.
    pub upper: Option<f64>,
    /// Largest values of the objective that any system can have, by class of schedulers.
    pub certificates: Certificates,
    /// Systems by what became of them.
    pub counts: Counts,
    /// Runs of this question, but for those that an earlier one had made.
    pub runs: u64,
    /// Reason of the end.
    pub stop: StopReason,
    /// Whether the method can prove: not `Method::Evolve`.
    pub is_exact: bool,
}

impl Answer {
    /// The best point of a single objective.
    pub fn best(&self) -> Option<&Point> {
        self.points.first()
    }

    /// Whether a claim is proven. What is about a class of schedulers holds up to a relative `gap`.
    pub fn proves(&self, claim: Claim, gap: f64) -> bool {
        match claim {
            Claim::Listed => self.stop == StopReason::Proven && self.is_exact,
            Claim::Class(class) => self.points.first().is_some_and(|best| {
                let certificate = self.certificates.of(class);
                certificate
                    .is_some_and(|it| !is_below(best.goods[0], it * (1.0 - gap.max(ROUNDING))))
            }),
        }
    }

    /// Relative distance between the objective and the largest value that is left open; `None` if nothing
    /// bounds it.
    pub fn gap(&self) -> Option<f64> {
        let best = self.points.first()?.goods[0];
        gap(best, self.upper)
    }
}
