//! Terms that take more than half of the area of a system, in one line: area that follows from a size that
//! was declared, rather than from what the networks need.

use xrsim_model::hardware::technology::AreaTerm;
use xrsim_model::hardware::{Accelerator, LocalBuffers, System};
use xrsim_model::text::counted;
use xrsim_model::units::Bytes;

use xrsim_results::span::Span;

/// Origin of the sizes of scratchpads and cluster buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sizes {
    /// The platform or system.
    Declared,
    /// The needs of the mappings that the accelerators choose.
    Needed,
}

/// Most systems that a line names.
const MOST_NAMES: usize = 3;

/// Large terms of some systems.
pub struct LargeTerms {
    sizes: Sizes,
    terms: Vec<LargeTerm>,
}

/// A term that takes more than half of the area of these systems.
struct LargeTerm {
    term: AreaTerm,
    systems: Vec<String>,
    /// Shares of their areas [%].
    shares: Span<f64>,
    /// Sizes of one memory \[byte\], if it is one.
    sizes: Span<u64>,
    /// Sizes that the networks need under fixed directives \[byte\], as far as they are known.
    needed: Span<u64>,
}

impl LargeTerms {
    /// No terms yet, of systems with such sizes.
    pub fn new(sizes: Sizes) -> Self {
        Self { sizes, terms: Vec::new() }
    }

    /// Adds the system called `name`, in its technology. `needed` finds the least memories of an accelerator under
    /// the fixed directives of its dataflow.
    pub fn take(
        &mut self,
        name: &str,
        system: &System,
        needed: impl Fn(&Accelerator) -> Option<LocalBuffers>,
    ) {
        let area = system.technology().map(|it| it.system_area(system));
        let Some((term, share)) = area.and_then(|it| it.large_term()) else { return };
        let at = self.terms.iter().position(|known| known.term == term);
        let at = at.unwrap_or_else(|| {
            let (shares, sizes, needed) = Default::default();
            self.terms.push(LargeTerm { term, systems: Vec::new(), shares, sizes, needed });
            self.terms.len() - 1
        });
        let large = &mut self.terms[at];
        large.systems.push(name.into());
        large.shares.hold(100.0 * share);
        for accelerator in system.accelerators() {
            let memory = &accelerator.memory;
            let hold = |span: &mut Span<u64>, sizes: &[Bytes]| {
                sizes.iter().for_each(|size| span.hold(size.get()));
            };
            match term {
                AreaTerm::Scratchpads => hold(&mut large.sizes, &[memory.scratchpad]),
                AreaTerm::Clusters => hold(&mut large.sizes, &memory.clusters),
                AreaTerm::SharedMemory => hold(&mut large.sizes, &[memory.shared]),
                AreaTerm::Overhead | AreaTerm::Pes | AreaTerm::Network => {}
            }
            match (term, needed(accelerator)) {
                (AreaTerm::Scratchpads, Some(it)) => hold(&mut large.needed, &[it.scratchpad]),
                (AreaTerm::Clusters, Some(it)) => hold(&mut large.needed, &it.clusters),
                _ => {}
            }
        }
    }

    /// A line for each term; empty if there is none.
    pub fn note(&self) -> String {
        self.terms.iter().map(|it| it.line(self.sizes)).collect()
    }
}

impl LargeTerm {
    fn line(&self, sizes: Sizes) -> String {
        let systems = match self.systems.len() {
            n if n > MOST_NAMES => counted(n, "system"),
            _ => self.systems.join(", "),
        };
        let verb = if self.term.is_plural() { "take" } else { "takes" };
        let share = self.shares.words(|it| format!("{it:.0}"));
        let head = format!("note: {} {verb} {share} % of the area of {systems}", self.term.name());
        let bytes = |span: &Span<u64>| span.words(u64::to_string);
        let unit = match self.term {
            AreaTerm::Scratchpads => "bytes a PE",
            AreaTerm::Clusters => "bytes a cluster",
            _ => "bytes",
        };
        let of = match sizes {
            Sizes::Declared => "are declared",
            Sizes::Needed => "are needed by the chosen mappings",
        };
        const FIXED: &str = "under fixed directives";
        let tail = match (self.sizes.is_empty(), self.needed.is_empty()) {
            (true, _) => String::new(),
            (false, true) => format!(": {} {unit} {of}", bytes(&self.sizes)),
            (false, false) if self.sizes == self.needed => {
                format!(": {} {unit} are needed {FIXED}", bytes(&self.sizes))
            }
            (false, false) => {
                format!(
                    ": {} {unit} {of}, {} needed {FIXED}",
                    bytes(&self.sizes),
                    bytes(&self.needed)
                )
            }
        };
        format!("{head}{tail}\n")
    }
}
