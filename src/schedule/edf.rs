//! (in progress)
use super::{Decision, Entry, Scheduler, View};
pub(super) const ENTRY: Entry = Entry {
    name: "edf",
    help: "",
    source: "",
    work_conserving: true,
    build: || Box::new(P),
};
struct P;
impl Scheduler for P {
    fn decide(&mut self, _: &View<'_>) -> Decision {
        Decision::Wait
    }
}
