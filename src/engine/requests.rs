//! The requests of a run: those of its load, and those that come as it goes.

use crate::ids::RequestId;
use crate::load::{Request, RequestStream};

/// The requests of a run. Submitted ones are numbered behind those of the load, and depend on nothing.
pub(super) struct Requests<'a> {
    load: &'a RequestStream,
    submitted: Vec<Request>,
}

impl<'a> Requests<'a> {
    pub(super) fn new(load: &'a RequestStream) -> Self {
        Self { load, submitted: Vec::new() }
    }

    /// Requests of the load.
    pub(super) fn n_loaded(&self) -> usize {
        self.load.requests().len()
    }

    /// Adds a request.
    pub(super) fn submit(&mut self, request: Request) -> RequestId {
        self.submitted.push(request);
        RequestId::new(self.n_loaded() + self.submitted.len() - 1)
    }

    /// A submitted request, to be changed.
    pub(super) fn submitted_mut(&mut self, id: RequestId) -> &mut Request {
        let first = self.n_loaded();
        &mut self.submitted[id.index() - first]
    }

    /// Whether a request was submitted.
    pub(super) fn is_submitted(&self, id: RequestId) -> bool {
        id.index() >= self.n_loaded()
    }

    pub(super) fn request(&self, id: RequestId) -> &Request {
        match id.index().checked_sub(self.n_loaded()) {
            Some(index) => &self.submitted[index],
            None => self.load.request(id),
        }
    }

    /// Requests whose results `id` needs.
    pub(super) fn upstream(&self, id: RequestId) -> &'a [RequestId] {
        if self.is_submitted(id) { &[] } else { self.load.upstream(id) }
    }

    /// Requests that need the result of `id`.
    pub(super) fn downstream(&self, id: RequestId) -> &'a [RequestId] {
        if self.is_submitted(id) { &[] } else { self.load.downstream(id) }
    }
}
