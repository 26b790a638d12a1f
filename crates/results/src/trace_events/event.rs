//! Events of the trace-event format, streamed.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value};

use xrsim_model::units::SimTime;

/// One event. Fields that are `None` are left out.
#[derive(Debug, Default, Serialize)]
pub(super) struct Event<'a> {
    /// Name in the viewer.
    pub(super) name: &'a str,
    /// Kind: `X` slice, `i` instant, `s` and `f` ends of an arrow, `C` counter, `M` metadata.
    pub(super) ph: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cat: Option<&'static str>,
    /// Group of tracks.
    pub(super) pid: u32,
    /// Track.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tid: Option<u32>,
    /// Time \[us\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ts: Option<f64>,
    /// Length \[us\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dur: Option<f64>,
    /// Number that the two ends of an arrow share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<u64>,
    /// `e`: the arrow points to the slice around its end, not to the next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bp: Option<&'static str>,
    /// `t`: the instant belongs to its track.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) s: Option<&'static str>,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(super) args: Value,
}

/// Microseconds since the start of the run.
pub(super) fn us(time: SimTime) -> f64 {
    time.ns() as f64 / 1e3
}

/// Writer of the document, with one event in each line.
pub(super) struct Sink<W> {
    out: W,
    /// One event, reused.
    line: Vec<u8>,
    n_events: u64,
    n_bytes: u64,
}

impl<W: Write> Sink<W> {
    /// Starts a document about `run`.
    pub(super) fn new(out: W, run: &Map<String, Value>) -> io::Result<Self> {
        let mut sink = Self { out, line: Vec::new(), n_events: 0, n_bytes: 0 };
        sink.line.extend_from_slice(b"{\"displayTimeUnit\":\"ms\",\"otherData\":");
        serde_json::to_writer(&mut sink.line, run)?;
        sink.line.extend_from_slice(b",\"traceEvents\":[\n");
        sink.flush_line()?;
        Ok(sink)
    }

    /// Writes one event.
    pub(super) fn put(&mut self, event: &Event<'_>) -> io::Result<()> {
        if self.n_events > 0 {
            self.line.extend_from_slice(b",\n");
        }
        serde_json::to_writer(&mut self.line, event)?;
        self.n_events += 1;
        self.flush_line()
    }

    /// Ends the document and returns its length \[byte\].
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.line.extend_from_slice(b"\n]}\n");
        self.flush_line()?;
        self.out.flush()?;
        Ok(self.n_bytes)
    }

    fn flush_line(&mut self) -> io::Result<()> {
        self.out.write_all(&self.line)?;
        self.n_bytes += self.line.len() as u64;
        self.line.clear();
        Ok(())
    }
}
