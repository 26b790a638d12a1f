//! Lines of the detailed log.

use std::fmt;

use xrsim_model::units::SimTime;

use super::super::number::six_digits;

/// Beginning of every line.
const MARKER: &str = ":::MLLOG";

/// Value in the format of LoadGen.
#[derive(Debug, Clone, PartialEq)]
pub enum LogValue {
    /// Text.
    Text(String),
    /// A whole number.
    Whole(u64),
    /// A number, with six significant digits.
    Number(f64),
    /// A Boolean.
    Flag(bool),
    /// Numbers of samples.
    Samples(Vec<u32>),
    /// An empty list of files.
    NoFiles,
}

/// Writes JSON.
impl fmt::Display for LogValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{}", serde_json::Value::from(text.as_str())),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Number(number) if !number.is_finite() => f.write_str("null"),
            Self::Number(number) => f.write_str(&six_digits(*number)),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Samples(samples) => {
                for (index, sample) in samples.iter().enumerate() {
                    write!(f, "{}{sample}", if index == 0 { "[" } else { "," })?;
                }
                f.write_str(if samples.is_empty() { "[]" } else { "]" })
            }
            Self::NoFiles => f.write_str("{}"),
        }
    }
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct LogRecord {
    /// Name of the value.
    pub key: String,
    /// Value of the key.
    pub value: LogValue,
    /// Whether the line reports an error.
    pub is_error: bool,
    /// Simulated instant of the line.
    pub at: SimTime,
}

impl fmt::Display for LogRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, value, is_error, at } = self;
        let (ms, ns) = (at.ns() / 1_000_000, at.ns() % 1_000_000);
        write!(
            f,
            "{MARKER} {{\"key\": \"{key}\", \"value\": {value}, \"time_ms\": {ms}.{ns:06}, \
             \"namespace\": \"mlperf::logging\", \"event_type\": \"POINT_IN_TIME\", \"metadata\": \
             {{\"is_error\": {is_error}, \"is_warning\": false, \"file\": \"xrsim\", \"line_no\": 0, \
             \"pid\": 0, \"tid\": 0}}}}"
        )
    }
}
