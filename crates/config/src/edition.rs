//! Editions of scenarios and networks.

use xrsim_model::renamed::Renamed;

/// Version of scenarios and layer tables, where the published artifact differs from the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Edition {
    /// Scenarios as in Table 2 of the XRBench paper; networks with their true operators: strides,
    /// padding, groups, attention, operators without MACs.
    #[default]
    Reference,
    /// Scenarios and networks of the published artifact; all layers are dense convolutions.
    Artifact,
}

impl Edition {
    /// Names of version 0.1.
    pub const RENAMED: [Renamed; 1] =
        [Renamed { kind: "edition of networks", old: "mlsys2023", new: "artifact" }];

    /// Every edition with its name on the command line.
    pub const ALL: [(Self, &'static str); 2] =
        [(Self::Reference, "reference"), (Self::Artifact, "artifact")];

    /// The edition of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|&(edition, _)| edition)
    }

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Folder of `scenarios/` that is searched first.
    pub(super) fn scenarios(self) -> &'static str {
        match self {
            Self::Reference => "",
            Self::Artifact => "artifact/",
        }
    }

    /// Folder of `models/` that is searched first.
    pub(super) fn networks(self) -> &'static str {
        match self {
            Self::Reference => "reference/",
            Self::Artifact => "artifact/",
        }
    }
}
