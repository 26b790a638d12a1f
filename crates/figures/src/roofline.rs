//! The roofline: bounds of the speed of layers by computation and by bandwidth.

use super::chart::{self, Chart, Frame};
use super::check::{self, Allowed};
use super::dashes::Dashes;
use super::marker::Marker;
use xrsim_model::text::{cell, counted};

use super::number::short;
use super::page::{LegendEntry, Page};
use super::placement::{Placement, beside_level};
use super::scale::{Scale, extent};
use super::scene::{Point, Scene};
use super::{Caption, FigureError, Ink, Quantity, Rows, Sheet};

/// Points under roofs, both axes logarithmic (Williams et al., CACM 2009): performance over
/// arithmetic intensity.
#[derive(Debug, Clone, PartialEq)]
pub struct Roofline {
    /// Texts around the data.
    pub caption: Caption,
    /// Arithmetic intensity, such as \[MAC/byte\].
    pub intensity_axis: Quantity,
    /// Performance, such as \[MAC/cycle\].
    pub performance_axis: Quantity,
    /// Horizontal roofs, in units of performance: 1 to 8.
    pub peaks: Vec<Ceiling>,
    /// Slanted roofs, in units of performance over units of intensity: up to 8. Each ends at the
    /// highest peak.
    pub bandwidths: Vec<Ceiling>,
    /// The points, at most 20 000 in at most 24 series.
    pub series: Vec<PointSeries>,
}

/// A limit of a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Ceiling {
    /// Name of the limit.
    pub name: String,
    /// The limit, above zero.
    pub value: f64,
}

/// Points of one colour and shape.
#[derive(Debug, Clone, PartialEq)]
pub struct PointSeries {
    /// Name of the series, such as a dataflow.
    pub name: String,
    /// The points.
    pub points: Vec<RooflinePoint>,
}

/// A layer under the roofs.
#[derive(Debug, Clone, PartialEq)]
pub struct RooflinePoint {
    /// Name of the layer.
    pub name: String,
    /// Arithmetic intensity, above zero.
    pub intensity: f64,
    /// Performance, above zero.
    pub performance: f64,
    /// Its share of the time, from 0 to 1: the area of its mark.
    pub share: f64,
    /// Whether its name is written, 200 at most.
    pub labelled: bool,
}

const MAX_CEILINGS: usize = 8;
const MAX_SERIES: usize = 24;
const MAX_POINTS: usize = 20_000;

/// Radius of a mark of all of the time, and the least one \[px\].
const WHOLE_PX: f64 = 12.0;
const LEAST_PX: f64 = 1.6;

/// Shares of the time in the legend.
const KEYS: [f64; 2] = [0.01, 0.25];

/// Width of the line of a roof \[px\].
const ROOF_PX: f64 = 1.6;

/// The ends of a roof on the page \[px\].
type Line = (Point, Point);

impl Roofline {
    fn points(&self) -> impl Iterator<Item = &RooflinePoint> {
        self.series.iter().flat_map(|series| &series.points)
    }

    fn highest_peak(&self) -> f64 {
        self.peaks.iter().map(|peak| peak.value).fold(0.0, f64::max)
    }

    /// Intensity above which a bandwidth does not limit the performance.
    fn ridge(&self, bandwidth: &Ceiling) -> f64 {
        self.highest_peak() / bandwidth.value
    }

    /// Scales that contain all points, peaks and ridges, with space for labels above.
    fn scales(&self) -> (Scale, Scale) {
        let ridges = self.bandwidths.iter().map(|bandwidth| self.ridge(bandwidth));
        let (x_low, x_high) = extent(self.points().map(|point| point.intensity).chain(ridges));
        let peaks = self.peaks.iter().map(|peak| peak.value);
        let (y_low, y_high) = extent(self.points().map(|point| point.performance).chain(peaks));
        (Scale::log(x_low / 1.5, x_high * 1.5), Scale::log(y_low / 1.5, y_high * 1.8))
    }

    /// The ends of every roof on the page: of the peaks, then of the bandwidths.
    fn roofs(&self, frame: &Frame) -> (Vec<Line>, Vec<Line>) {
        let peak = self.highest_peak();
        let steepest = self.bandwidths.iter().map(|bandwidth| bandwidth.value).fold(0.0, f64::max);
        let level = |ceiling: &Ceiling| {
            let start = if steepest > 0.0 { ceiling.value / steepest } else { 0.0 };
            let y = frame.y.at(ceiling.value);
            ((frame.x.at(start), y), (frame.area.right(), y))
        };
        let slant = |bandwidth: &Ceiling| self::slant(frame, bandwidth.value, peak);
        (self.peaks.iter().map(level).collect(), self.bandwidths.iter().map(slant).collect())
    }

    /// Draws the points series by series, large ones first, so that none is hidden within its series.
    fn draw_points(&self, scene: &mut Scene, frame: &Frame) {
        for (index, series) in self.series.iter().enumerate() {
            let mut points: Vec<&RooflinePoint> = series.points.iter().collect();
            points.sort_by(|a, b| b.share.total_cmp(&a.share));
            scene.group(&series.name, |scene| {
                for point in points {
                    let at = frame.at(point.intensity, point.performance);
                    Marker::series(index).draw(scene, at, radius(point.share), Ink::series(index));
                }
            });
        }
    }

    fn draw_roofs(&self, scene: &mut Scene, (peaks, slants): &(Vec<Line>, Vec<Line>)) {
        for &(from, to) in peaks {
            scene.segment(from, to, ROOF_PX, Ink::TEXT);
        }
        for (index, slant) in slants.iter().enumerate() {
            draw_slant(scene, index, *slant);
        }
    }

    /// Names the peaks, over points if necessary, then the points if there is space.
    fn draw_labels(
        &self,
        scene: &mut Scene,
        frame: &Frame,
        (peaks, slants): &(Vec<Line>, Vec<Line>),
    ) {
        let mut placement = Placement::within(frame.area);
        self.points().for_each(|point| {
            let at = frame.at(point.intensity, point.performance);
            placement.keep_clear(at, radius(point.share));
        });
        peaks.iter().chain(slants).for_each(|&(from, to)| placement.keep_clear_of_line(from, to));
        for (ceiling, line) in self.peaks.iter().zip(peaks) {
            let text = ceiling.text(&self.performance_axis.unit);
            placement.write_surely(scene, &text, &beside_level(*line, 8));
        }
        for point in self.points().filter(|point| point.labelled) {
            let at = frame.at(point.intensity, point.performance);
            placement.name_surely(scene, &point.name, at, radius(point.share));
        }
    }

    /// The unit of performance over that of intensity: `MAC/cycle` over `MAC/byte` is `byte/cycle`.
    fn bandwidth_unit(&self) -> String {
        let (performance, intensity) = (&self.performance_axis.unit, &self.intensity_axis.unit);
        match (performance.split_once('/'), intensity.split_once('/')) {
            (Some((work, time)), Some((same, data))) if work == same => format!("{data}/{time}"),
            _ => String::new(),
        }
    }
}

impl Ceiling {
    fn text(&self, unit: &str) -> String {
        format!("{}: {} {unit}", self.name, short(self.value)).trim_end().to_owned()
    }
}

/// Radius of the mark of a share of the time \[px\].
fn radius(share: f64) -> f64 {
    (share.clamp(0.0, 1.0).sqrt() * WHOLE_PX).max(LEAST_PX)
}

/// Draws the slanted roof at `index`; slanted roofs differ in their dashes.
fn draw_slant(scene: &mut Scene, index: usize, (from, to): Line) {
    scene.dashed(vec![from, to], Dashes::series(index), ROOF_PX, Ink::TEXT);
}

/// The ends of the roof of a bandwidth: where it enters the area, and its ridge at `peak`.
fn slant(frame: &Frame, bandwidth: f64, peak: f64) -> Line {
    let start = frame.x.ends().0.max(frame.y.ends().0 / bandwidth);
    (frame.at(start, start * bandwidth), frame.at(peak / bandwidth, peak))
}

impl Chart for Roofline {
    fn check(&self) -> Result<(), FigureError> {
        check::amount(self.peaks.len(), MAX_CEILINGS, "peaks")?;
        check::at_most(self.bandwidths.len(), MAX_CEILINGS, "bandwidths")?;
        check::at_most(self.series.len(), MAX_SERIES, "series")?;
        check::at_most(self.points().count(), MAX_POINTS, "points")?;
        for ceiling in self.peaks.iter().chain(&self.bandwidths) {
            check::number(ceiling.value, Allowed::Positive, || format!("`{}`", ceiling.name))?;
        }
        for point in self.points() {
            let name = &point.name;
            let positive = Allowed::Positive;
            check::number(point.intensity, positive, || format!("intensity of `{name}`"))?;
            check::number(point.performance, positive, || format!("performance of `{name}`"))?;
            check::number(point.share, Allowed::NonNegative, || format!("share of `{name}`"))?;
        }
        Ok(())
    }

    fn description(&self) -> String {
        format!(
            "Roofline: {} over {}, both logarithmic; {} in {} series under {}.",
            self.performance_axis.title(),
            self.intensity_axis.title(),
            counted(self.points().count(), "point"),
            self.series.len(),
            counted(self.peaks.len() + self.bandwidths.len(), "roof"),
        )
    }

    fn legend(&self, _sheet: &Sheet) -> Vec<LegendEntry> {
        let mut entries = chart::points(self.series.iter().map(|series| &series.name));
        let roofs = self.bandwidths.iter().enumerate().map(|(index, bandwidth)| {
            LegendEntry::new(bandwidth.text(&self.bandwidth_unit()), move |scene, key| {
                let y = key.centre_y();
                draw_slant(scene, index, ((key.x, y), (key.right(), y)));
            })
        });
        entries.extend(roofs);
        let keys = KEYS.map(|share| format!("{:.0} %", 100.0 * share)).join(" and ");
        entries.push(LegendEntry::new(format!("{keys} of the time"), |scene, key| {
            for (share, x) in KEYS.into_iter().zip([key.x + 3.0, key.right() - radius(KEYS[1])]) {
                Marker::Disc.draw(scene, (x, key.centre_y()), radius(share), Ink::AXIS);
            }
        }));
        entries
    }

    fn draw(&self, page: &mut Page) {
        let (x, y) = self.scales();
        let axes = (&self.intensity_axis, &self.performance_axis);
        let frame = Frame::of_page(page, (&x, &y), axes);
        let roofs = self.roofs(&frame);
        self.draw_roofs(&mut page.scene, &roofs);
        self.draw_points(&mut page.scene, &frame);
        self.draw_labels(&mut page.scene, &frame, &roofs);
    }

    /// `kind,series,name,intensity,performance,share`; roofs have a value in the column they limit, and
    /// the value of a bandwidth is its performance at an intensity of 1.
    fn table(&self) -> Rows {
        let row = |kind: &str, names: [&str; 2], x: String, y: f64, share: String| {
            let [series, name] = names.map(String::from);
            vec![kind.to_owned(), series, name, x, cell(y), share]
        };
        let none = String::new;
        let peaks =
            self.peaks.iter().map(|it| row("peak", ["", &it.name], none(), it.value, none()));
        let slants = self
            .bandwidths
            .iter()
            .map(|it| row("bandwidth", ["", &it.name], cell(1.0), it.value, none()));
        let points = self.series.iter().flat_map(|series| {
            series.points.iter().map(move |it| {
                let names = [&*series.name, &*it.name];
                row("point", names, cell(it.intensity), it.performance, cell(it.share))
            })
        });
        let header = ["kind", "series", "name", "intensity", "performance", "share"];
        Rows::new(header, peaks.chain(slants).chain(points))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Figure as _;
    use super::super::tests::{Sample, VALUE, caption, strokes};
    use super::*;

    impl Sample for Roofline {
        const TEXTS: &[&str] =
            &["conv1", "conv2", "Row stationary", "Peak: 64 MAC/cycle", "DRAM: 4 byte/cycle"];

        fn sample(value: f64) -> Self {
            let point = |name: &str, intensity, performance| RooflinePoint {
                name: name.into(),
                intensity,
                performance,
                share: 0.5,
                labelled: true,
            };
            Self {
                caption: caption(),
                intensity_axis: Quantity::new("Intensity", "MAC/byte"),
                performance_axis: Quantity::new("Performance", "MAC/cycle"),
                peaks: vec![Ceiling { name: "Peak".into(), value: 64.0 }],
                bandwidths: vec![Ceiling { name: "DRAM".into(), value: 4.0 }],
                series: vec![PointSeries {
                    name: "Row stationary".into(),
                    points: vec![point("conv1", 1.0, 3.0), point("conv2", 100.0, value)],
                }],
            }
        }

        fn empty() -> (Self, &'static str) {
            (Self { peaks: vec![], ..Self::sample(VALUE) }, "peaks")
        }
    }

    fn chart(points: &[(f64, f64)]) -> Roofline {
        let point = |&(intensity, performance): &(f64, f64)| RooflinePoint {
            name: "layer".into(),
            intensity,
            performance,
            share: 0.0,
            labelled: false,
        };
        let points = points.iter().map(point).collect();
        Roofline {
            caption: Caption::default(),
            intensity_axis: Quantity::new("Intensity", "MAC/byte"),
            performance_axis: Quantity::new("Performance", "MAC/cycle"),
            peaks: vec![Ceiling { name: "Peak".into(), value: 100.0 }],
            bandwidths: vec![Ceiling { name: "DRAM".into(), value: 10.0 }],
            series: vec![PointSeries { name: "WS".into(), points }],
        }
    }

    /// The centres of the points, without that of the key.
    fn centres(scene: &Scene) -> Vec<Point> {
        let centre = |shape: &super::super::Shape| match shape {
            super::super::Shape::Disc { centre, ink, .. } if *ink == Ink::series(0) => {
                Some(*centre)
            }
            _ => None,
        };
        scene.marks().filter_map(centre).skip(1).collect()
    }

    #[test]
    fn a_layer_bound_by_bandwidth_lies_on_the_slant_and_one_bound_by_compute_on_the_level() {
        // 2 MAC/byte at 10 byte/cycle are 20 MAC/cycle; the ridge is at 100 / 10 = 10 MAC/byte.
        let chart = chart(&[(2.0, 20.0), (10.0, 100.0), (40.0, 100.0)]);
        let scene = chart.scene().expect("the chart can be drawn");
        let points = centres(&scene);
        // The key of the slant is drawn first, then the level roof, then the slant.
        let [_, level, slant] = &strokes(&scene, Ink::TEXT)[..] else { panic!("three lines") };
        assert_eq!(level[0], slant[1]);
        assert_eq!(points[1], slant[1]);
        assert_eq!(points[2].1, level[0].1);
        let rise = (slant[1].1 - slant[0].1) / (slant[1].0 - slant[0].0);
        let on_slant = slant[0].1 + rise * (points[0].0 - slant[0].0);
        assert!((points[0].1 - on_slant).abs() < 1e-9, "{} {on_slant}", points[0].1);
    }

    #[test]
    fn equal_ratios_are_equal_distances() {
        let scene = chart(&[(1.0, 1.0), (10.0, 10.0), (100.0, 100.0)]).scene();
        let points = centres(&scene.expect("the chart can be drawn"));
        let step = |a: Point, b: Point| (b.0 - a.0, a.1 - b.1);
        let (first, second) = (step(points[0], points[1]), step(points[1], points[2]));
        assert!((first.0 - second.0).abs() < 1e-9 && (first.1 - second.1).abs() < 1e-9);
        assert!(first.0 > 0.0 && first.1 > 0.0);
    }

    #[test]
    fn roofs_without_points_are_drawn() {
        let chart = Roofline { series: vec![], bandwidths: vec![], ..chart(&[]) };
        assert_eq!(strokes(&chart.scene().expect("roofs alone"), Ink::TEXT).len(), 1);
    }

    #[test]
    fn a_layer_without_work_is_refused_by_name() {
        let error = chart(&[(0.0, 1.0)]).scene().expect_err("zero has no logarithm");
        assert_eq!(error.to_string(), "intensity of `layer` is 0; allowed: 1e-100 to 1e100");
    }
}
