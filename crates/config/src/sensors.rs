//! Sensors of a scenario: sources of frames, recordings of them, and their gates.

use std::sync::Arc;

use xrsim_model::scenario::{
    ActiveModel, Dwell, DwellDistribution, Dwells, Gate, InputStream, JitterDistribution, Recorded,
    Recording, Replay,
};
use xrsim_model::units::{FrameRate, SimSpan};

use super::quantities::{frame_rate, ms};
use super::recorded_csv;
use super::yaml::Node;
use super::yaml::keys::{keys, mapping};
use super::yaml::read::{At, Problems, unknown_name};
use super::yaml::values::{Reader, at, converted, flag, list, named, number, one_of, text};
use super::{ConfigError, Problem, Source, form};

/// Words of `jitter_distribution`.
const DISTRIBUTIONS: [(&str, JitterDistribution); 2] = [
    ("truncated_normal", JitterDistribution::TruncatedNormal),
    ("uniform", JitterDistribution::Uniform),
];

/// Words of the distribution of dwells. The exponential one has no coefficient of variation of its own.
const DWELL_DISTRIBUTIONS: [(&str, Option<DwellDistribution>); 3] = [
    ("lognormal", Some(DwellDistribution::Lognormal)),
    ("gamma", Some(DwellDistribution::Gamma)),
    ("exponential", None),
];

/// Body of a `sensors:` file, or of that key in a scenario.
pub(super) fn sensors() -> impl Reader<Value = Vec<RawSensor>> {
    let raw = |sensors: Vec<(At<Box<str>>, Sensor)>, _: &Node<'_>, _: &mut Problems| {
        Some(sensors.into_iter().map(|(name, sensor)| RawSensor { name, sensor }).collect())
    };
    let about = "Sources of frames by name (XRBench Definition 1).";
    named("sensors", sensor()).then(raw).says(about)
}

/// A sensor as a file describes it.
pub(super) struct RawSensor {
    name: At<Box<str>>,
    sensor: Sensor,
}

keys! {
    /// A source of frames.
    fn sensor() -> struct Sensor: "a sensor" {
        /// Streaming rate [frames/s]. Without it, a recorded sensor has the mean rate of its file.
        rate_fps: Option<FrameRate> = optional(frame_rate());
        /// Span before the first frame \[ms\].
        initial_latency_ms: SimSpan = or(0, ms());
        /// Largest deviation of an arrival, in either direction \[ms\].
        max_jitter_ms: SimSpan = or(0, ms());
        /// Distribution of the jitter. The standard deviation of the normal distribution is a third of the bound.
        jitter_distribution: JitterDistribution =
            or("truncated_normal", one_of(&DISTRIBUTIONS));
        /// File of recorded arrivals, CSV with the columns `sensor`, `frame` and `arrival_ms`. Every frame arrives at its
        /// instant; a frame that is absent is lost. Nominal starts and deadlines are those of the rate.
        arrivals: Option<At<Box<str>>> = optional(at(text()));
        /// Factor of the speed of a recording: 2 halves every period.
        speed: f64 = or("1.0", number(0.001..=1000.0));
        /// Whether a recording that is shorter than the runs begins again.
        repeat: bool = or(true, flag());
        /// Arrivals that are drawn from a file.
        jitter: Option<At<Box<str>>> = optional(jitter());
    }
    check(fields) {
        let recorded = ["arrivals", "jitter"].into_iter().find(|key| fields.given(key));
        let mut conflicts = Vec::new();
        match recorded {
            None if !fields.given("rate_fps") => fields.require_any(&["rate_fps"]),
            None => {}
            Some(file) => {
                conflicts.extend([("max_jitter_ms", file), ("jitter_distribution", file)]);
            }
        }
        if fields.given("arrivals") {
            conflicts.push(("jitter", "arrivals"));
        }
        conflicts.retain(|(key, _)| fields.given(key));
        for (key, other) in conflicts {
            let message = format!("`{key}` and `{other}` both say when frames arrive");
            fields.problem(Problem::new(fields.span_of(key), message).help("give one"));
        }
        for key in ["speed", "repeat"] {
            if fields.given(key) && !fields.given("arrivals") {
                let message = format!("`{key}` is about the file of `arrivals`, which is not given");
                fields.problem(Problem::new(fields.span_of(key), message));
            }
        }
    }
}

fn jitter() -> impl Reader<Value = At<Box<str>>> {
    mapping("the jitter of a sensor", |fields| {
        let about = "File of recorded arrivals as of `arrivals`. Blocks of 16 successive frames are drawn from it, with their \
                     periods and losses; the mean offset of a block from the nominal starts is zero.";
        fields.about(about).required("periods", at(text()))
    })
}

impl RawSensor {
    /// The file that it refers to.
    pub(super) fn file(&self) -> Option<&At<Box<str>>> {
        self.sensor.arrivals.as_ref().or(self.sensor.jitter.as_ref())
    }

    /// The stream, whose file has the text of `source`.
    fn stream(
        &self,
        source: Option<Arc<Source>>,
        problems: &mut Problems,
    ) -> Result<Option<InputStream>, ConfigError> {
        let Self { name, sensor } = self;
        let recorded = match (self.file(), source) {
            (Some(file), Some(source)) => {
                let recording = recorded_csv::arrivals(&source, &name.value, sensor.speed)?;
                let n_frames = recording.frames().len() as u64;
                if sensor.arrivals.is_none() && n_frames < Replay::BLOCK {
                    let message = format!(
                        "{n_frames} frames of `{}`; at least {} are needed",
                        name.value,
                        Replay::BLOCK
                    );
                    problems.push(Problem::new(file.span.clone(), message));
                    return Ok(None);
                }
                let n_before = recording.frames()[0].frame;
                if sensor.arrivals.is_some() && n_before > n_frames {
                    let message = format!(
                        "the recording of `{}` begins with frame {n_before}, and has {n_frames} frames: all before it \
                         would be lost",
                        name.value
                    );
                    let help =
                        "number the frames of the file from 0, and count its arrivals from there";
                    problems.push(Problem::new(file.span.clone(), message).help(help));
                    return Ok(None);
                }
                let replay = match sensor.arrivals {
                    Some(_) => Replay::Instants { repeats: sensor.repeat },
                    None => Replay::Blocks,
                };
                Some(Recorded { recording: Arc::new(recording), replay })
            }
            _ => None,
        };
        let of_file = || mean_rate(&recorded.as_ref()?.recording);
        let Some(rate) = sensor.rate_fps.or_else(of_file) else {
            let message = format!("the file has no mean rate of `{}`: give `rate_fps`", name.value);
            problems.push(Problem::new(name.span.clone(), message));
            return Ok(None);
        };
        Ok(Some(InputStream {
            initial_latency: sensor.initial_latency_ms,
            max_jitter: sensor.max_jitter_ms,
            distribution: sensor.jitter_distribution,
            recorded,
            ..InputStream::new(name.value.clone(), rate)
        }))
    }
}

/// Frames of a recording, lost ones included, over its time.
fn mean_rate(recording: &Recording) -> Option<FrameRate> {
    let (first, last) = (recording.frames()[0], recording.last());
    let ms = (last.arrival - first.arrival).as_ms();
    FrameRate::from_fps((last.frame - first.frame) as f64 / ms * 1e3)
}

/// The streams of `sensors`, whose files have the texts of `sources`, one for each that has a file.
///
/// # Errors
///
/// That of the first file that is wrong.
pub(super) fn streams(
    sensors: &[RawSensor],
    sources: Vec<Arc<Source>>,
    problems: &mut Problems,
) -> Result<Option<Vec<InputStream>>, ConfigError> {
    let mut sources = sources.into_iter();
    let mut streams = Vec::new();
    for sensor in sensors {
        let source = sensor.file().and_then(|_| sources.next());
        streams.push(sensor.stream(source, problems)?);
    }
    Ok(streams.into_iter().collect())
}

/// Value of the key `gates` of a scenario.
pub(super) fn gates() -> impl Reader<Value = Vec<RawGate>> {
    let raw = |gates: Vec<(At<Box<str>>, GateKeys)>, _: &Node<'_>, _: &mut Problems| {
        Some(gates.into_iter().map(|(name, keys)| RawGate { name, keys }).collect())
    };
    let about = "Gates by the name of the sensor or model that they are of, or by any name with `of`. While a gate is off, \
                 frames of the sensor are not captured, and models that read them have no requests; a model takes no \
                 frames, and those that depend on them have no requests.";
    named("gates", gate()).then(raw).says(about)
}

/// A gate as a file describes it.
pub(super) struct RawGate {
    name: At<Box<str>>,
    keys: GateKeys,
}

keys! {
    /// A gate of sensors and models.
    fn gate() -> struct GateKeys: "a gate" {
        /// File of recorded dwells, CSV with the columns `on_s` and `off_s` \[s\].
        on_off: Option<At<Box<str>>> = optional(at(text()));
        /// Distribution of the dwells. Measured dwells of speech and of hands vary more than exponential ones.
        distribution: Option<DwellDistribution> = or("lognormal", one_of(&DWELL_DISTRIBUTIONS));
        /// Dwells in which the gate is on.
        on_s: Option<At<DwellKeys>> = optional(at(dwell()));
        /// Dwells in which the gate is off.
        off_s: Option<At<DwellKeys>> = optional(at(dwell()));
        /// Sensors that a model of the scenario reads, and models, that it is of. Without it, that of its name.
        of: Option<Vec<At<Box<str>>>> = optional(list("sensors and models", at(text())));
    }
    check(fields) {
        match fields.given("on_off") {
            true => {
                for key in ["distribution", "on_s", "off_s"] {
                    if fields.given(key) {
                        let message = format!("`{key}` and `on_off` both say when the gate is on");
                        fields.problem(Problem::new(fields.span_of(key), message).help("give one"));
                    }
                }
            }
            false => ["on_s", "off_s"].into_iter().for_each(|key| fields.require_any(&[key])),
        }
        let is_exponential = matches!(distribution, Some(None));
        for dwell in [&on_s, &off_s].into_iter().flatten() {
            let message = match (is_exponential, dwell.value.cv) {
                (true, Some(_)) => "the coefficient of variation of an exponential distribution is 1",
                (false, None) => "these dwells lack `cv`, their coefficient of variation",
                _ => continue,
            };
            fields.problem(Problem::new(dwell.span.clone(), message));
        }
    }
}

keys! {
    fn dwell() -> struct DwellKeys: "dwells" {
        /// Mean \[s\].
        mean: SimSpan = required(positive_s());
        /// Coefficient of variation: standard deviation over mean.
        cv: Option<f64> = optional(number(0.01..=100.0));
    }
}

/// A span of time above 0 \[s\].
fn positive_s() -> impl Reader<Value = SimSpan> {
    let span = |s: f64| SimSpan::from_s(s).filter(|it| *it > SimSpan::ZERO);
    converted("a time above 0 s", form::positive, span)
}

impl RawGate {
    /// The file that it refers to.
    pub(super) fn file(&self) -> Option<&At<Box<str>>> {
        self.keys.on_off.as_ref()
    }

    /// What it is of.
    fn of(&self) -> &[At<Box<str>>] {
        self.keys.of.as_deref().unwrap_or(std::slice::from_ref(&self.name))
    }

    fn dwells(&self, source: Option<Arc<Source>>) -> Result<Option<Dwells>, ConfigError> {
        let keys = &self.keys;
        if let Some(source) = source {
            return recorded_csv::dwells(&source).map(|dwells| Some(Dwells::Recorded(dwells)));
        }
        let dwell = |keys: &Option<At<DwellKeys>>| {
            let dwell = &keys.as_ref()?.value;
            Some(Dwell { mean: dwell.mean, cv: dwell.cv.unwrap_or(1.0) })
        };
        let distribution = keys.distribution.unwrap_or(DwellDistribution::Gamma);
        let both = dwell(&keys.on_s).zip(dwell(&keys.off_s));
        Ok(both.map(|(on, off)| Dwells::Drawn { distribution, on, off }))
    }

    /// Mean time from one begin of the state on to the next.
    fn cycle(dwells: &Dwells) -> SimSpan {
        match dwells {
            Dwells::Drawn { on, off, .. } => on.mean + off.mean,
            Dwells::Recorded(pairs) => {
                let both = pairs.iter().map(|&(on, off)| on + off);
                let total = both.fold(SimSpan::ZERO, SimSpan::saturating_add);
                SimSpan::from_ns(total.ns() / pairs.len() as u64)
            }
        }
    }
}

/// Frames of a sensor or model in the mean time from one begin of the state on to the next, at least. Shorter dwells are not
/// seen, and cost time.
const LEAST_CYCLE: f64 = 0.1;

/// Adds `gates`, whose files have the texts of `sources`, to the streams and models that they are of. Sensors that no model
/// reads have no gate; the names of those that are known are `unread`.
///
/// # Errors
///
/// That of the first file that is wrong.
pub(super) fn add_gates(
    gates: &[RawGate],
    sources: Vec<Arc<Source>>,
    (streams, models): (&mut [InputStream], &mut [ActiveModel]),
    unread: &[&str],
    problems: &mut Problems,
) -> Result<(), ConfigError> {
    let mut sources = sources.into_iter();
    let mut gated: Vec<(&str, &str)> = Vec::new();
    for raw in gates {
        let source = raw.file().and_then(|_| sources.next());
        let n_before = problems.len();
        for name in raw.of() {
            let of_streams = streams.iter().map(|it| &*it.name);
            let known = of_streams.chain(models.iter().map(|it| &*it.unit.task));
            if unread.contains(&&*name.value) {
                let message = format!("no model reads the sensor `{}`", name.value);
                let help = "leave out its gate, or name it under `inputs` of a model";
                problems.push(Problem::new(name.span.clone(), message).help(help));
            } else if !known.clone().any(|it| it == &*name.value) {
                problems.push(unknown_name("sensor or model", name, known));
            }
            if let Some((_, other)) = gated.iter().find(|(it, _)| *it == &*name.value) {
                let message = format!("`{}` has a gate, `{other}`; give it one", name.value);
                problems.push(Problem::new(name.span.clone(), message));
            }
            gated.push((&name.value, &raw.name.value));
        }
        if problems.len() > n_before {
            continue;
        }
        let Some(dwells) = raw.dwells(source)? else { continue };
        let gate = Gate { name: raw.name.value.clone(), dwells };
        for name in raw.of() {
            let stream = streams.iter().position(|it| it.name == name.value);
            let model = models.iter().position(|it| it.unit.task == name.value);
            let (rate, place) = match (stream, model) {
                (Some(at), _) => (streams[at].rate, &mut streams[at].gate),
                (None, Some(at)) => (models[at].rate, &mut models[at].gate),
                (None, None) => continue,
            };
            let least = rate.period().ns() as f64 * LEAST_CYCLE;
            if (RawGate::cycle(&gate.dwells).ns() as f64) < least {
                let message = format!(
                    "the gate is on and off in less than {LEAST_CYCLE} periods of `{}`, which has {rate}",
                    name.value
                );
                problems.push(Problem::new(name.span.clone(), message));
            }
            *place = Some(gate.clone());
        }
    }
    Ok(())
}
