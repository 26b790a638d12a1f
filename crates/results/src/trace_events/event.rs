//! Events of the trace-event format, streamed.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value, json};

use xrsim_model::units::SimTime;

use super::counters::Sample;
use crate::{RunLabel, json};

/// Group of the counters of a device, which not every run has.
pub(super) const DEVICE: u32 = 4;
/// Group of the phases of a profile and of gates, which not every run has.
pub(super) const PHASES: u32 = 5;

/// Most samples of a counter, and slices of the track of a gate. Those of a body are fewer, so that no mean is left out.
pub(super) const MAX_SAMPLES: usize = 20_000;

/// Lowest number of a track. A viewer shows a track with the number of its group as the main track.
pub(super) const FIRST_TRACK: u32 = 10;

/// One end of an arrow: group, track and time.
pub(super) type End = (u32, u32, SimTime);

/// One event. Fields that are `None` are left out.
#[derive(Debug, Default, Serialize)]
struct Event<'a> {
    /// Name in the viewer.
    name: &'a str,
    /// Kind: `X` slice, `i` instant, `s` and `f` ends of an arrow, `C` counter, `M` metadata.
    ph: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    /// Group of tracks.
    pid: u32,
    /// Track.
    #[serde(skip_serializing_if = "Option::is_none")]
    tid: Option<u32>,
    /// Time \[us\].
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    /// Length \[us\].
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    /// Number that the two ends of an arrow share.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    /// `e`: the arrow points to the slice around its end, not to the next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'static str>,
    /// `t`: the instant belongs to its track.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    #[serde(skip_serializing_if = "Value::is_null")]
    args: Value,
}

/// Microseconds since the start of the run.
fn us(time: SimTime) -> f64 {
    time.ns() as f64 / 1e3
}

/// Counts of the written events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Executions and waits.
    pub slices: u64,
    /// Dependencies, and drops that caused other drops.
    pub arrows: u64,
    /// Drops and deadlines.
    pub instants: u64,
    /// Values of counters.
    pub samples: u64,
    /// Length of the document \[byte\].
    pub bytes: u64,
}

/// The events of a document, which are counted.
pub(super) struct Events<W> {
    sink: Sink<W>,
    summary: Summary,
}

impl<W: Write> Events<W> {
    /// Starts the document of the run with this label.
    pub(super) fn new(out: W, label: &RunLabel<'_>) -> io::Result<Self> {
        let mut about = json::label(label);
        about.insert("program".into(), json!("xrsim"));
        about.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
        Ok(Self { sink: Sink::new(out, &about)?, summary: Summary::default() })
    }

    /// Ends the document.
    pub(super) fn finish(self) -> io::Result<Summary> {
        Ok(Summary { bytes: self.sink.finish()?, ..self.summary })
    }

    /// Name and place of a group of tracks.
    pub(super) fn group(&mut self, pid: u32, name: &str) -> io::Result<()> {
        self.meta("process_name", pid, None, json!({ "name": name }))?;
        self.meta("process_sort_index", pid, None, json!({ "sort_index": pid }))
    }

    /// Name and place of a track.
    pub(super) fn track(&mut self, pid: u32, tid: u32, name: &str) -> io::Result<()> {
        self.meta("thread_name", pid, Some(tid), json!({ "name": name }))?;
        self.meta("thread_sort_index", pid, Some(tid), json!({ "sort_index": tid }))
    }

    fn meta(&mut self, name: &str, pid: u32, tid: Option<u32>, args: Value) -> io::Result<()> {
        self.sink.put(&Event { name, ph: "M", pid, tid, args, ..Event::default() })
    }

    pub(super) fn counter<V: Copy + Into<Value>>(
        &mut self,
        pid: u32,
        name: &str,
        unit: &str,
        samples: &[Sample<V>],
    ) -> io::Result<()> {
        for &(time, value) in samples {
            let args = json!({ unit: value.into() });
            let ts = Some(us(time));
            self.sink.put(&Event { name, ph: "C", pid, ts, args, ..Event::default() })?;
        }
        self.summary.samples += samples.len() as u64;
        Ok(())
    }

    pub(super) fn slice(
        &mut self,
        name: &str,
        cat: &'static str,
        (pid, tid): (u32, u32),
        (start, end): (SimTime, SimTime),
        args: Value,
    ) -> io::Result<()> {
        self.summary.slices += 1;
        let dur = Some((end - start).ns() as f64 / 1e3);
        let (cat, tid, ts) = (Some(cat), Some(tid), Some(us(start)));
        self.sink.put(&Event { name, ph: "X", cat, pid, tid, ts, dur, args, ..Event::default() })
    }

    pub(super) fn instant(
        &mut self,
        name: &str,
        cat: &'static str,
        (pid, tid): (u32, u32),
        at: SimTime,
    ) -> io::Result<()> {
        self.summary.instants += 1;
        let (cat, tid, ts, s) = (Some(cat), Some(tid), Some(us(at)), Some("t"));
        self.sink.put(&Event { name, ph: "i", cat, pid, tid, ts, s, ..Event::default() })
    }

    pub(super) fn arrow(&mut self, name: &'static str, from: End, to: End) -> io::Result<()> {
        let id = Some(self.summary.arrows);
        self.summary.arrows += 1;
        for (ph, bp, (pid, tid, at)) in [("s", None, from), ("f", Some("e"), to)] {
            let (cat, tid, ts) = (Some("dependency"), Some(tid), Some(us(at)));
            self.sink.put(&Event { name, ph, cat, pid, tid, ts, id, bp, ..Event::default() })?;
        }
        Ok(())
    }
}

/// Writer of the document, with one event in each line.
struct Sink<W> {
    out: W,
    /// One event, reused.
    line: Vec<u8>,
    n_events: u64,
    n_bytes: u64,
}

impl<W: Write> Sink<W> {
    /// Starts a document about `run`.
    fn new(out: W, run: &Map<String, Value>) -> io::Result<Self> {
        let mut sink = Self { out, line: Vec::new(), n_events: 0, n_bytes: 0 };
        sink.line.extend_from_slice(b"{\"displayTimeUnit\":\"ms\",\"otherData\":");
        serde_json::to_writer(&mut sink.line, run)?;
        sink.line.extend_from_slice(b",\"traceEvents\":[\n");
        sink.flush_line()?;
        Ok(sink)
    }

    /// Writes one event.
    fn put(&mut self, event: &Event<'_>) -> io::Result<()> {
        if self.n_events > 0 {
            self.line.extend_from_slice(b",\n");
        }
        serde_json::to_writer(&mut self.line, event)?;
        self.n_events += 1;
        self.flush_line()
    }

    /// Ends the document and returns its length \[byte\].
    fn finish(mut self) -> io::Result<u64> {
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
