//! Kinds of fuzzed input.

/// A kind of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Network,
    Dataflow,
    Style,
    Platform,
    System,
    Sensors,
    Scenario,
    Suite,
    Sweep,
    Mlperf,
    /// Networks in the artifact's format.
    MaestroNetworks,
    /// Dataflows in the artifact's format.
    MaestroDataflows,
    /// Accelerators in the artifact's format.
    MaestroHardware,
    /// Networks in ONNX.
    Onnx,
    /// A style as a mix of dataflows, `WS:3 + OS:1`.
    Mix,
    /// A policy with its parameters.
    Scheduler,
    /// Measured costs.
    Costs,
    /// Measured service times.
    Service,
    /// Cases of the loop-nest cost model.
    CostCases,
    /// Cases of the load generator: a bundle of a folder.
    Loadgen,
    /// Rows of a sweep, for pictures.
    Rows,
    /// Kept choices of mappings.
    Choices,
    /// Journal of a search.
    Journal,
    /// Results of a run: a bundle of a folder.
    Results,
    /// Results of load tests: a bundle of a folder.
    Tests,
    /// Answers of an external scheduler, line by line.
    Answers,
    /// A command line, a word a line.
    Command,
}

/// Notation of a kind of input. It determines how inputs are mutated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    Tree,
    Json,
    Cells,
    Tokens,
    Bundle,
    Words,
    /// Not text.
    Bytes,
}

impl Kind {
    /// Every kind with its name and the name of its input file. Folders of seeds and cases have the name of
    /// the kind.
    pub const ALL: [(Self, &'static str, &'static str); 27] = [
        (Self::Network, "network", "x.yaml"),
        (Self::Dataflow, "dataflow", "x.yaml"),
        (Self::Style, "style", "x.yaml"),
        (Self::Platform, "platform", "x.yaml"),
        (Self::System, "system", "x.yaml"),
        (Self::Sensors, "sensors", "x.yaml"),
        (Self::Scenario, "scenario", "x.yaml"),
        (Self::Suite, "suite", "x.yaml"),
        (Self::Sweep, "sweep", "x.yaml"),
        (Self::Mlperf, "mlperf", "x.yaml"),
        (Self::MaestroNetworks, "maestro_networks", "x.m"),
        (Self::MaestroDataflows, "maestro_dataflows", "x.m"),
        (Self::MaestroHardware, "maestro_hardware", "x.m"),
        (Self::Onnx, "onnx", "x.onnx"),
        (Self::Mix, "mix", "x.txt"),
        (Self::Scheduler, "scheduler", "x.txt"),
        (Self::Costs, "costs", "x.csv"),
        (Self::Service, "service", "x.csv"),
        (Self::CostCases, "cost_cases", "x.csv"),
        (Self::Loadgen, "loadgen", "x.bundle"),
        (Self::Rows, "rows", "x.csv"),
        (Self::Choices, "choices", "x.txt"),
        (Self::Journal, "journal", "x.csv"),
        (Self::Results, "results", "x.bundle"),
        (Self::Tests, "tests", "x.bundle"),
        (Self::Answers, "answers", "x.jsonl"),
        (Self::Command, "command", "x.words"),
    ];

    /// Every kind.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().map(|(kind, ..)| kind)
    }

    /// The kind called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|kind| kind.name() == name)
    }

    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Name of the file that an input is.
    pub fn file(self) -> &'static str {
        Self::ALL[self as usize].2
    }

    pub fn syntax(self) -> Syntax {
        match self {
            Self::Command => Syntax::Words,
            _ => Syntax::of_file(self.file()),
        }
    }

    /// Whether it is one of the kinds that `xrsim check` knows.
    pub fn is_checked(self) -> bool {
        matches!(self.file(), "x.yaml" | "x.m" | "x.onnx")
    }
}

impl Syntax {
    /// Notation of a file with this name.
    pub fn of_file(name: &str) -> Self {
        match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
            "yaml" => Self::Tree,
            "json" => Self::Json,
            "csv" => Self::Cells,
            "bundle" => Self::Bundle,
            "words" => Self::Words,
            "onnx" => Self::Bytes,
            _ => Self::Tokens,
        }
    }
}
