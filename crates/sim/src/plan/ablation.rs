//! Quirks of the artifact that a run can leave out, to see the effect of each.

/// Quirks of the published artifact that a run leaves out. All `false` is the artifact as it is.
///
/// The names in [`Ablation::ALL`] are those of [`quirks::ALL`](crate::compat::quirks::ALL), except
/// `printed-score`: that is no quirk but a reading of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Ablation {
    /// Periods are 1000 / FPS, not rounded down to whole milliseconds.
    pub integer_period: bool,
    /// Frames arrive at their nominal time, not at the next event.
    pub injection_at_events: bool,
    /// Jobs end at their completion time, not up to 0.01 ms earlier.
    pub early_retire: bool,
    /// A frame waits for the same frame of its upstream model, not for as many completions.
    pub completion_count: bool,
    /// Requests that run or wait at the last injection are finished or dropped, not lost.
    pub early_end: bool,
    /// Frames are released for one second, not for 700 ms.
    pub window_700_ms: bool,
    /// A frame is dropped at its deadline, not at the first event after it.
    pub late_drop: bool,
    /// Models are served by deadline, not in order of name.
    pub name_order: bool,
    /// The score of a scenario is the mean over executed frames times QoE (section 3.7 of the XRBench
    /// paper), not Definition 15 as printed.
    pub printed_score: bool,
}

/// Leaves one quirk out.
pub(crate) type LeaveOut = fn(&mut Ablation);

impl Ablation {
    /// Every quirk that can be left out, by name, with the way to do so.
    pub const ALL: [(&'static str, LeaveOut); 9] = [
        ("integer-period", |it| it.integer_period = true),
        ("injection-at-events", |it| it.injection_at_events = true),
        ("early-retire", |it| it.early_retire = true),
        ("completion-count", |it| it.completion_count = true),
        ("early-end", |it| it.early_end = true),
        ("window-700-ms", |it| it.window_700_ms = true),
        ("late-drop", |it| it.late_drop = true),
        ("name-order", |it| it.name_order = true),
        ("printed-score", |it| it.printed_score = true),
    ];
}
