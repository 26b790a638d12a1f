//! Requests that are submitted from outside.

use crate::load::Request;
use xrsim_model::ids::RequestId;
use xrsim_model::units::SimTime;

use super::Engine;
use crate::engine::event::RequestEvent;

impl Engine<'_> {
    /// Requests will be submitted from outside.
    pub(in crate::engine) fn expect_submissions(&mut self) {
        self.effects.expect_submissions();
    }

    /// Submits a request that is ready at `now`. No event before `now` may be played afterwards.
    pub(in crate::engine) fn submit(&mut self, request: Request, now: SimTime) -> RequestId {
        let id = self.requests.submit(&request);
        self.submissions.push((id, now));
        id
    }

    /// Changes the number of samples of a submitted request that has not started.
    pub(in crate::engine) fn set_batch(&mut self, id: RequestId, batch: u32) {
        let request = self.requests.get_mut(id);
        request.variant = batch.saturating_sub(1);
        let work = request.work(self.costs);
        self.state.set_work(id, work);
    }

    /// Swaps the events of submitted requests since the last call for an empty list.
    pub(in crate::engine) fn swap_request_events(&mut self, empty: &mut Vec<RequestEvent>) {
        std::mem::swap(&mut self.request_events, empty);
    }
}
