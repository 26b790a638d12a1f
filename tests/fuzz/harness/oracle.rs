//! Conditions that hold for every call and every input.

use xrsim::{cli, text};

/// A call of the command line in this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    pub status: u8,
    pub out: String,
    pub err: String,
}

/// Columns of text. In all others a cell is a number, empty, or a word.
const TEXT: [&str; 30] = [
    "scenario",
    "system",
    "semantics",
    "cost_model",
    "scheduler",
    "model",
    "network",
    "layer",
    "accelerator",
    "outcome",
    "reason",
    "cause",
    "segments",
    "dataflow",
    "task",
    "load",
    "metric",
    "unit",
    "verdict",
    "error",
    "kind",
    "bound",
    "operator",
    "name",
    "id",
    "what",
    "title",
    "tenant",
    "messages",
    "group",
];

/// Columns of shares, from 0 to 1.
const SHARES: [&str; 6] = ["realtime", "energy", "accuracy", "qoe", "score", "score_executed_mean"];

/// Tolerance of a share above its bound, for rounding.
const ROUNDING: f64 = 1e-12;

/// Calls the command line and checks the conditions that hold for every call.
pub fn call(arguments: &[&str]) -> Result<Called, String> {
    let cli::Called { status, written, .. } = cli::call(arguments, None);
    let utf8 = |bytes: Vec<u8>| {
        String::from_utf8(bytes).map_err(|_| format!("{arguments:?} wrote what is no UTF-8 text"))
    };
    let called = Called { status, out: utf8(written.out)?, err: utf8(written.err)? };
    called
        .check(arguments.first() == Some(&"show"))
        .map_err(|reason| format!("{arguments:?}: {reason}"))?;
    Ok(called)
}

impl Called {
    /// `show` prints files without a change.
    fn check(&self, is_shown: bool) -> Result<(), String> {
        if self.status > 2 {
            return Err(format!("status {}", self.status));
        }
        if self.status != 0 && self.err.trim().is_empty() {
            return Err(format!("status {} without a word", self.status));
        }
        if self.status == 2 && self.err.contains("internal error") {
            return Err(self.err.clone());
        }
        if !is_shown {
            message(&self.out)?;
        }
        message(&self.err)
    }

    /// Fails unless the status is one of `allowed`.
    pub fn expect(&self, what: &str, allowed: &[u8]) -> Result<(), String> {
        if allowed.contains(&self.status) {
            return Ok(());
        }
        let err: String = self.err.chars().take(500).collect();
        Err(format!("{what}: status {}, expected {allowed:?}: {err}", self.status))
    }
}

/// A message is safe for a terminal: it has no control sequences.
pub fn message(text: &str) -> Result<(), String> {
    match text.chars().find(|c| text::is_obeyed(*c)) {
        Some(c) => {
            Err(format!("a message with {c:?}: {:?}", text.chars().take(300).collect::<String>()))
        }
        None => Ok(()),
    }
}

/// A table of results has no NaN and no infinity, and its shares are from 0 to 1.
pub fn table(name: &str, text: &str) -> Result<(), String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let broken = |error: csv::Error| format!("{name}: {error}");
    let header = reader.headers().map_err(broken)?.clone();
    for record in reader.records() {
        let record = record.map_err(broken)?;
        for (column, cell) in header.iter().zip(&record) {
            if TEXT.contains(&column) {
                continue;
            }
            let number: Option<f64> = cell.parse().ok();
            if number.is_some_and(|number| !number.is_finite()) {
                return Err(format!("{name}: column {column} is `{cell}`"));
            }
            let is_share = SHARES.contains(&column);
            let is_off = |share: f64| !(0.0..=1.0 + ROUNDING).contains(&share);
            if is_share && number.is_some_and(is_off) {
                return Err(format!("{name}: the share {column} is {cell}"));
            }
        }
    }
    Ok(())
}

/// Frames of a row of scores: every request has exactly one outcome.
pub fn counts(name: &str, text: &str) -> Result<(), String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let place = |name: &str| header.iter().position(|column| column == name);
    let places = ["requests", "executed", "dropped", "not_triggered"].map(place);
    let [Some(requests), Some(executed), Some(dropped), Some(_)] = places else {
        return Err(format!("{name}: the columns of counts are not there"));
    };
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let count = |at: usize| record.get(at).and_then(|cell| cell.parse::<u64>().ok());
        let ends =
            count(executed).zip(count(dropped)).map(|(executed, dropped)| executed + dropped);
        if count(requests) != ends {
            return Err(format!("{name}: requests is not executed and dropped: {record:?}"));
        }
    }
    Ok(())
}
