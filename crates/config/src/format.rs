//! Format of input files: how a file is recognised and read, whatever it describes.

use std::path::Path;
use std::sync::Arc;

use xrsim_mlperf::rules::Suite as MlperfSuite;
use xrsim_model::dataflow::Dataflow;
use xrsim_model::hardware::device::Points;
use xrsim_model::hardware::platform::{Instance, Platform};
use xrsim_model::hardware::{Device, Style, System, Technology};
use xrsim_model::mapper::DeclaredSpace;
use xrsim_model::scenario::{InputStream, Profile, Scenario};

use super::document::Document;
use super::network::Model;
use super::suite::Suite;
use super::uncertainty::Uncertainty;
use super::{ConfigError, Kind, SearchDraft, Source, SweepDraft};

/// A format of input files.
#[derive(Debug)]
#[non_exhaustive]
pub struct Format {
    /// Name, e.g. `YAML`.
    pub name: &'static str,
    /// Extensions of its files, without a dot and in lower case. A reference that ends in one is a path.
    pub extensions: &'static [&'static str],
    /// Kinds of files that it has.
    pub kinds: &'static [Kind],
    /// Whether a file can hold several networks, of which `FILE#NAME` picks one.
    pub has_members: bool,
    /// Returns the kind of a file, which is one of the given kinds.
    pub(super) recognise: fn(&Document, &[Kind]) -> Result<Kind, ConfigError>,
    /// Reads a file as one of the kind, with the files that it refers to.
    pub(super) read: fn(&Document, Kind, &mut dyn References) -> Result<Contents, ConfigError>,
}

/// Contents of an input file, in any format.
#[derive(Debug, Clone)]
pub(super) enum Contents {
    /// Networks, in the order of the file.
    Networks(Vec<Arc<Model>>),
    /// Dataflows, in the order of the file.
    Dataflows(Vec<Arc<Dataflow>>),
    /// Dataflows and their shares of the PEs.
    Style(Style),
    /// Clock, energy, bandwidths and memories of a chip.
    Platform(Arc<Platform>),
    /// Complete accelerators.
    System(Arc<System>),
    /// Accelerators that need a dataflow each.
    Instances(Vec<Instance>),
    /// Models with rates and dependencies.
    Scenario(Arc<Scenario>),
    /// Input sources.
    Sensors(Arc<[InputStream]>),
    /// Default of a run.
    Suite(Suite),
    /// Settings that many runs vary.
    Sweep(SweepDraft),
    /// Tasks of MLPerf.
    Mlperf(MlperfSuite),
    /// Systems to search.
    Search(Box<SearchDraft>),
    /// Mappings to search.
    Mapspace(Arc<DeclaredSpace>),
    /// Constants of area and leakage.
    Technology(Arc<Technology>),
    /// Ranges of constants.
    Uncertainty(Arc<Uncertainty>),
    /// Operating points.
    Points(Arc<Points>),
    /// Supply of accelerators, and the power around them.
    Device(Arc<Device>),
    /// Scenarios that follow each other.
    Profile(Arc<Profile>),
}

impl Contents {
    /// Kind of the file.
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Networks(_) => Kind::Network,
            Self::Dataflows(_) => Kind::Dataflow,
            Self::Style(_) => Kind::Style,
            Self::Platform(_) => Kind::Platform,
            Self::System(_) | Self::Instances(_) => Kind::System,
            Self::Scenario(_) => Kind::Scenario,
            Self::Sensors(_) => Kind::Sensors,
            Self::Suite(_) => Kind::Suite,
            Self::Sweep(_) => Kind::Sweep,
            Self::Mlperf(_) => Kind::Mlperf,
            Self::Mapspace(_) => Kind::Mapspace,
            Self::Search(_) => Kind::Search,
            Self::Technology(_) => Kind::Technology,
            Self::Uncertainty(_) => Kind::Uncertainty,
            Self::Points(_) => Kind::Points,
            Self::Device(_) => Kind::Device,
            Self::Profile(_) => Kind::Profile,
        }
    }
}

/// Files that a file refers to. A name is resolved from the folder of the file, if it has one.
pub(super) trait References {
    /// The network called `name`.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is unknown, its file is invalid, or a count of 0 leaves layers without work.
    fn model(&mut self, name: &str, folder: Option<&Path>) -> Result<Arc<Model>, ConfigError>;

    /// The network called `name`, of which counts of single frames may be 0.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is unknown or its file is invalid.
    fn model_of_frame(
        &mut self,
        name: &str,
        folder: Option<&Path>,
    ) -> Result<Arc<Model>, ConfigError>;

    /// The dataflow called `name`.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is unknown, or if its file is invalid or holds several.
    fn dataflow(&mut self, name: &str, folder: Option<&Path>)
    -> Result<Arc<Dataflow>, ConfigError>;

    /// The technology called `name`.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is unknown or its file is invalid.
    fn technology(
        &mut self,
        name: &str,
        folder: Option<&Path>,
    ) -> Result<Arc<Technology>, ConfigError>;

    /// The scenario called `name`.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is unknown or its file is invalid.
    fn scenario(&mut self, name: &str, folder: Option<&Path>)
    -> Result<Arc<Scenario>, ConfigError>;

    /// The operating points called `name`.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is unknown or its file is invalid.
    fn points(&mut self, name: &str, folder: Option<&Path>) -> Result<Arc<Points>, ConfigError>;

    /// The text of the file at `path` in none of the formats of input files, such as a recording.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Unreadable`].
    fn source(&mut self, path: &str, folder: Option<&Path>) -> Result<Arc<Source>, ConfigError>;

    /// Sensors of scenarios that have none of their own.
    ///
    /// # Errors
    ///
    /// Returns an error if their file is invalid.
    fn sensors(&mut self) -> Result<Arc<[InputStream]>, ConfigError>;

    /// Names of the files of `kind` that come with the program.
    fn names(&self, kind: Kind) -> Vec<String>;
}
