//! Requests of a run, taken one after another.

use xrsim_model::ids::RequestId;

use super::{Generator, PhasedGenerator, Request, RequestStream};

/// Requests of a run in order of (arrival, deadline, model, frame), taken one after another: those of a stream, or
/// requests that are made as they are taken, so that memory does not grow with the duration.
pub struct Feed<'a> {
    source: Source<'a>,
    n_taken: usize,
}

enum Source<'a> {
    Known(&'a RequestStream),
    Made(Box<Generator<'a>>),
    Phased(Box<PhasedGenerator<'a>>),
}

impl<'a> From<&'a RequestStream> for Feed<'a> {
    fn from(stream: &'a RequestStream) -> Self {
        Self { source: Source::Known(stream), n_taken: 0 }
    }
}

impl<'a> From<Generator<'a>> for Feed<'a> {
    fn from(generator: Generator<'a>) -> Self {
        Self { source: Source::Made(Box::new(generator)), n_taken: 0 }
    }
}

impl<'a> From<PhasedGenerator<'a>> for Feed<'a> {
    fn from(generator: PhasedGenerator<'a>) -> Self {
        Self { source: Source::Phased(Box::new(generator)), n_taken: 0 }
    }
}

impl<'a> Feed<'a> {
    /// Number of requests in all.
    pub fn n_requests(&self) -> usize {
        match &self.source {
            Source::Known(stream) => stream.requests().len(),
            Source::Made(generator) => generator.n_requests(),
            Source::Phased(generator) => generator.n_requests(),
        }
    }

    /// Every request, taken or not; `None` if they are made as they are taken.
    pub fn known(&self) -> Option<&'a RequestStream> {
        match self.source {
            Source::Known(stream) => Some(stream),
            Source::Made(_) | Source::Phased(_) => None,
        }
    }

    /// Takes the next request. The requests whose results it needs replace the content of `upstream`; their data can
    /// arrive later than its own.
    pub fn take(&mut self, upstream: &mut Vec<RequestId>) -> Option<Request> {
        match &mut self.source {
            Source::Known(stream) => {
                let request = *stream.requests().get(self.n_taken)?;
                upstream.clear();
                upstream.extend_from_slice(stream.upstream(RequestId::new(self.n_taken)));
                self.n_taken += 1;
                Some(request)
            }
            Source::Made(generator) => generator.take(upstream),
            Source::Phased(generator) => generator.take(upstream),
        }
    }
}
