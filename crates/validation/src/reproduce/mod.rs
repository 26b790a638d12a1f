//! The published study of XRBench, made again: its figures and the numbers that its text quotes, its
//! conclusions, and the sources of the differences.
//!
//! [`Study`] makes the runs. [`FIGURES`] lists the figures that can be made again; each gives a drawing
//! with its data and a [`Deviation`] for every published number. [`conclusions`] checks the conclusions
//! of the paper on any scores, [`ablation`] measures the effect of every quirk of the published
//! artifact, and [`costs`] compares the cost models. [`scaling`] asks how networks scale with the number of
//! PEs, which the paper does not. Everything here is data: it prints nothing and
//! writes no file.

pub mod ablation;
pub mod conclusions;
pub mod costs;
mod deviation;
mod figure5;
mod figure6;
mod figure7;
mod figure8;
pub mod scaling;
pub mod study;

use thiserror::Error;

use xrsim_config::{ConfigError, Edition};
use xrsim_experiment::ExperimentError;
use xrsim_figures::Figure;
use xrsim_model::cost::CostError;
use xrsim_model::hardware::Flexibility;
use xrsim_sim::sweep::RunError;

pub use conclusions::StudyScores;
pub use deviation::Deviation;
pub use study::{Study, published};

/// A figure of the paper that can be made again.
pub struct FigureEntry {
    /// Number in the paper.
    pub number: u8,
    /// Whether the figure depends on the semantics of runs. A formula does not.
    pub depends_on_semantics: bool,
    reproduce: fn(&Study) -> Result<Reproduction, ReproduceError>,
}

/// Every figure that can be made again, in the order of the paper.
pub const FIGURES: &[FigureEntry] =
    &[figure5::ENTRY, figure6::ENTRY, figure7::ENTRY, figure8::ENTRY];

/// A figure made again.
pub struct Reproduction {
    /// The drawing with its data.
    pub drawing: Box<dyn Figure>,
    /// Every published number beside the one that was found.
    pub deviations: Vec<Deviation>,
}

impl FigureEntry {
    /// Makes the figure from runs under the rules of `study`.
    ///
    /// # Errors
    ///
    /// [`ReproduceError`] if an embedded input file is invalid or a run fails. The tests make every
    /// figure.
    pub fn reproduce(&self, study: &Study) -> Result<Reproduction, ReproduceError> {
        (self.reproduce)(study)
    }

    /// Name of the figure in file names, e.g. `figure5_principled`.
    pub fn file_stem(&self, study: &Study) -> String {
        match self.depends_on_semantics {
            true if study.flexibility != Flexibility::None => {
                format!("figure{}_{}_{}", self.number, study.semantics, study.flexibility)
            }
            true => format!("figure{}_{}", self.number, study.semantics),
            false => format!("figure{}", self.number),
        }
    }
}

/// Scores of Figure 5 as published, and those of the study under every semantics and edition of the
/// networks, for [`conclusions`]. The last ones are those of accelerators with `flexibility`, unless that
/// is none.
///
/// # Errors
///
/// [`ReproduceError`] if an embedded input file is invalid.
pub fn all_studies(flexibility: Flexibility) -> Result<Vec<StudyScores>, ReproduceError> {
    let expected = |name: &str, study: Study| -> Result<StudyScores, ReproduceError> {
        let points = study.outcomes()?.into_iter().map(|it| it.mean).collect();
        Ok(StudyScores { name: name.into(), points })
    };
    let reference = Study::principled(Edition::Reference);
    let mut studies = vec![
        StudyScores { name: "Figure 5".into(), points: published() },
        expected("mlsys2023", Study::mlsys2023())?,
        expected("principled, published layers", Study::principled(Edition::Artifact))?,
        expected("principled, true operators", reference)?,
    ];
    if flexibility != Flexibility::None {
        let name = format!("principled, true operators, {flexibility}");
        studies.push(expected(&name, reference.with_flexibility(flexibility))?);
    }
    Ok(studies)
}

/// Header and rows of a table of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Names of the columns.
    pub header: Vec<String>,
    /// The rows, each as long as the header.
    pub rows: Vec<Vec<String>>,
}

/// A column of a [`Table`]: its name, and the text of its cell for an item.
type Column<T> = (&'static str, fn(&T) -> String);

impl Table {
    /// A table with a row for each of `items`.
    fn of_items<T>(columns: &[Column<T>], items: &[T]) -> Self {
        let row = |item: &T| columns.iter().map(|(_, text)| text(item)).collect();
        Self {
            header: columns.iter().map(|(name, _)| (*name).into()).collect(),
            rows: items.iter().map(row).collect(),
        }
    }
}

/// Reason for which the study cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReproduceError {
    /// An input file is invalid.
    #[error(transparent)]
    Input(#[from] ConfigError),
    /// A network cannot run on an accelerator.
    #[error(transparent)]
    Cost(#[from] CostError),
    /// A run of a figure fails.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The study has no such point.
    #[error("the study has no {scenario} on {system} with {pes} PEs")]
    NoSuchPoint {
        /// Scenario that was asked for.
        scenario: String,
        /// System that was asked for.
        system: String,
        /// PEs that were asked for.
        pes: u64,
    },
    /// The runs, or an accelerator, cannot be made.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
}
