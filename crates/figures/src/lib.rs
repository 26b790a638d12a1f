//! Figures of results, as SVG, PDF and PNG, drawn from plain data.
//!
//! A chart is a struct of titles, names and values, and knows nothing about simulations.
//! [`Figure::scene`] gives the position of every mark on the page, and [`Figure::rows`] gives the same
//! data as a table, so that every figure comes with its numbers. [`render`] turns the scene into
//! bytes; nothing here reads or writes a file.
//!
//! A new chart is a module with an implementation of `Chart` (its check, description, legend, marks
//! and table), its `mod` line, and a line in the table of charts below.
//!
//! It uses `xrsim-model` for text alone.
//!
//! ```
//! use xrsim::figures::{Caption, Format, Quantity, StackPanel, StackedBars, render};
//!
//! let chart = StackedBars {
//!     caption: Caption::titled("Energy of two layers"),
//!     category_axis: "Layer".into(),
//!     value_axis: Quantity::new("Energy", "J"),
//!     categories: vec!["conv1".into(), "conv2".into()],
//!     series: vec!["MAC".into(), "DRAM".into()],
//!     panels: vec![StackPanel {
//!         title: String::new(),
//!         values: vec![vec![1e-3, 2e-3], vec![4e-3, 3e-3]],
//!     }],
//!     shared_scale: true,
//!     in_rows: false,
//! };
//! let svg = render(&chart, Format::Svg)?;
//! assert!(svg.starts_with(b"<svg"));
//! # Ok::<(), xrsim::figures::FigureError>(())
//! ```
//!
//! # Common properties of charts
//!
//! A page for screens is 720 px wide and as high as its content; text is 11 px, titles are 13 px. A
//! printed page ([`Sheet::printed`]) has the width that is asked for, text of 7.2 pt, and no title. Colours are
//! those of Okabe and Ito, which readers with common colour blindness can distinguish; series of
//! points differ in shape too, areas in hatching. The legend is above the data. The same data give the same bytes: no
//! clock, no font of the machine, no hash order.
//! The font that is compiled in has Latin-1, Greek and common signs; a PNG shows other signs as boxes.
//!
//! Every chart refuses data that it cannot draw faithfully with a [`FigureError`]: no data, NaN and
//! infinities, matrices of the wrong shape, too many marks.

#![warn(missing_docs, unreachable_pub)]
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

mod bitmap;
mod chart;
mod check;
mod dashes;
mod decimal;
mod differences;
mod grid;
mod hatch;
mod ink;
mod marker;
mod named_rows;
mod number;
mod output;
mod page;
mod pdf;
mod placement;
mod rect;
mod scale;
mod scene;
mod sheet;
mod svg;
mod text;

mod course;
mod critical_difference;
mod grouped_bars;
mod heat_map;
mod lines;
mod roofline;
mod scatter;
mod stacked_bars;
mod timeline;
mod tornado;

use thiserror::Error;

pub use dashes::Dashes;
pub use hatch::Hatch;
pub use ink::Ink;
pub use ink::model_places;
pub use output::Format;
pub use scale::Spacing;
pub use scale::is_power_of_two;
pub use scene::{Align, Rect, Scene, Shape, Text, Turn};
pub use sheet::Sheet;

/// A chart that can be drawn.
pub trait Figure {
    /// The geometry of a page for screens.
    ///
    /// # Errors
    ///
    /// The first part of the data that cannot be drawn.
    fn scene(&self) -> Result<Scene, FigureError> {
        self.scene_on(&Sheet::default())
    }

    /// The geometry of a page.
    ///
    /// # Errors
    ///
    /// The first part of the data that cannot be drawn.
    fn scene_on(&self, sheet: &Sheet) -> Result<Scene, FigureError>;

    /// Title, subtitle and note. A page without them needs them as its caption.
    fn texts(&self) -> &Caption;

    /// The data that are drawn, for a CSV file beside the picture.
    fn rows(&self) -> Rows;
}

/// Draws a figure on a page for screens in one of the formats. A PNG has two pixels for a pixel of the page
/// along each side.
///
/// # Errors
///
/// The first part of the data that cannot be drawn.
pub fn render(figure: &dyn Figure, format: Format) -> Result<Vec<u8>, FigureError> {
    render_on(&Sheet::default(), figure, format)
}

/// Draws a figure on `sheet` in one of the formats.
///
/// # Errors
///
/// The first part of the data that cannot be drawn, or a page that is too large.
pub fn render_on(
    sheet: &Sheet,
    figure: &dyn Figure,
    format: Format,
) -> Result<Vec<u8>, FigureError> {
    format.encode(&figure.scene_on(sheet)?)
}

/// A table of text: the data of a figure, a row for each mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// Names of the columns.
    pub header: Vec<&'static str>,
    /// The rows, each as long as the header; numbers read back to the value drawn.
    pub rows: Vec<Vec<String>>,
}

impl Rows {
    /// A table of these columns.
    fn new(
        header: impl IntoIterator<Item = &'static str>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        Self { header: header.into_iter().collect(), rows: rows.into_iter().collect() }
    }
}

/// Texts around the data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caption {
    /// Subject of the picture.
    pub title: String,
    /// Below the title: settings, units, how to read it. May be empty.
    pub subtitle: String,
    /// At the foot: seed, version, source. May be empty.
    pub note: String,
}

impl Caption {
    /// A caption of a title alone.
    pub fn titled(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Title, subtitle and note as sentences in a line.
    pub fn sentences(&self) -> String {
        let parts = [&self.title, &self.subtitle, &self.note].into_iter();
        let parts = parts.map(|text| text.trim().trim_end_matches('.')).filter(|it| !it.is_empty());
        let sentence = |text: &str| {
            let mut letters = text.chars();
            let first = letters.next().into_iter().flat_map(char::to_uppercase);
            first.chain(letters).chain(['.']).collect::<String>()
        };
        parts.map(sentence).collect::<Vec<_>>().join(" ")
    }
}

/// Quantity of an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// The quantity.
    pub label: String,
    /// Its unit without a prefix, as numbers get one of their own (`200k`, `5µ`). Empty for a pure
    /// number.
    pub unit: String,
    /// Ends of a linear axis of the quantity, which goes further only if data do. `None` for ends that follow
    /// from the data.
    pub span: Option<(f64, f64)>,
}

impl Quantity {
    /// An axis of the quantity `label` in `unit`.
    pub fn new(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { label: label.into(), unit: unit.into(), span: None }
    }

    /// An axis of a score or another share, from 0 to 1.
    pub fn share(label: impl Into<String>) -> Self {
        Self { span: Some((0.0, 1.0)), ..Self::new(label, "") }
    }

    /// The ends of the data and of the axis.
    fn ends(&self, (low, high): (f64, f64)) -> (f64, f64) {
        self.span.map_or((low, high), |(least, most)| (low.min(least), high.max(most)))
    }

    /// The title of the axis: `Energy [J]`.
    pub fn title(&self) -> String {
        if self.unit.is_empty() {
            self.label.clone()
        } else {
            format!("{} [{}]", self.label, self.unit)
        }
    }
}

/// Why a figure cannot be drawn.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum FigureError {
    /// Something that a figure needs is missing.
    #[error("nothing to draw: the figure has no {0}")]
    Empty(&'static str),
    /// A number that has no place on the axis.
    #[error("{what} is {value}; allowed: {allowed}")]
    Value {
        /// Name of the number.
        what: String,
        /// The number.
        value: f64,
        /// Numbers that have a place.
        allowed: &'static str,
    },
    /// Two lists that belong together differ in length.
    #[error("{what}: {found} given, {expected} expected")]
    Count {
        /// Name of the list.
        what: String,
        /// Its length.
        found: usize,
        /// The length it must have.
        expected: usize,
    },
    /// More of something than a picture can hold.
    #[error("{found} {what}: a figure holds at most {max}")]
    TooMany {
        /// Kind of the things.
        what: &'static str,
        /// Number of them.
        found: usize,
        /// Largest number.
        max: usize,
    },
    /// A mark refers to something that does not exist.
    #[error("{what} is number {found} of {count}")]
    Reference {
        /// The mark and the reference.
        what: String,
        /// The index given, from 0.
        found: usize,
        /// Number of things that it may refer to.
        count: usize,
    },
    /// A page on which the figure cannot be read.
    #[error(
        "a page of {found_in:.2} in is too narrow for this figure; allowed is {least_in:.2} in or more"
    )]
    Narrow {
        /// Width of the page \[in\].
        found_in: f64,
        /// Least width \[in\].
        least_in: f64,
    },
    /// An encoder or a back end failed. Valid scenes do not cause this.
    #[error("the picture could not be encoded: {0}")]
    Encode(String),
}

/// The table of charts: a line for each, with its module, its type, and the types of its parts. Every chart
/// of the table is tested with its `tests::Sample`.
macro_rules! charts {
    ($($module:ident { $chart:ident $(, $part:ident)* })+) => {
        $(pub use $module::{$chart $(, $part)*};)+

        $(impl chart::Captioned for $chart {
            fn caption(&self) -> &Caption {
                &self.caption
            }
        })+

        #[cfg(test)]
        const SAMPLES: &[tests::Samples] = &[$(tests::Samples::new::<$chart>()),+];
    };
}

charts! {
    course { Course, CourseLine, CoursePanel, CoursePhase }
    critical_difference { CriticalDifference }
    differences { Differences, DifferenceRow }
    grouped_bars { GroupedBars, Bar, GroupPanel }
    heat_map { HeatMap }
    lines { Lines, Answer, Limit, Line, LinePanel, LinePoint }
    roofline { Roofline, Ceiling, PointSeries, RooflinePoint }
    scatter { Scatter, ScatterPoint, ScatterSeries }
    stacked_bars { StackedBars, StackPanel }
    timeline { Timeline, DroppedRequest, Slice, TimelinePanel }
    tornado { Tornado, TornadoBar, TornadoRow }
}

#[cfg(test)]
mod tests;
