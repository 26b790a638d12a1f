//! Scatter plots of designs, with the Pareto front.

use super::chart::{self, Chart, Frame};
use super::check::{self, Allowed};
use super::marker::{Marker, RADIUS_PX};
use super::page::{LegendEntry, Page};
use super::placement::Placement;
use super::scale::{Scale, Spacing, extent};
use super::scene::{Point, Rect, Scene};
use super::{Caption, FigureError, Ink, Quantity, Rows};
use crate::text::{cell, counted};

/// Points in two quantities; those on the Pareto front are joined, the others faint.
#[derive(Debug, Clone, PartialEq)]
pub struct Scatter {
    /// Texts around the data.
    pub caption: Caption,
    /// The quantity to the right.
    pub x_axis: Quantity,
    /// Spacing of its values.
    pub x_spacing: Spacing,
    /// The quantity upwards.
    pub y_axis: Quantity,
    /// Spacing of its values.
    pub y_spacing: Spacing,
    /// The points by series: 1 to 27 series of 20 000 points in all.
    pub series: Vec<ScatterSeries>,
}

/// Points of one colour and shape.
#[derive(Debug, Clone, PartialEq)]
pub struct ScatterSeries {
    /// Name of the series.
    pub name: String,
    /// The points.
    pub points: Vec<ScatterPoint>,
}

/// One design.
#[derive(Debug, Clone, PartialEq)]
pub struct ScatterPoint {
    /// Name of the design.
    pub name: String,
    /// Its value to the right.
    pub x: f64,
    /// Its value upwards.
    pub y: f64,
    /// Whether it is on the Pareto front. Names of designs on the front are written beside them if there
    /// is space, 200 at most.
    pub front: bool,
}

const MAX_SERIES: usize = 27;
const MAX_POINTS: usize = 20_000;

/// Share of white in points off the front.
const FAINT: f64 = 0.6;

impl Scatter {
    fn points(&self) -> impl Iterator<Item = &ScatterPoint> {
        self.series.iter().flat_map(|series| &series.points)
    }

    fn has_front(&self) -> bool {
        self.points().any(|point| point.front)
    }

    fn scales(&self) -> (Scale, Scale) {
        let (left, right) = extent(self.points().map(|point| point.x));
        let (low, high) = extent(self.points().map(|point| point.y));
        let x = Scale::spaced(self.x_spacing, left, right, 7);
        (x, Scale::spaced(self.y_spacing, low, high, 7))
    }

    /// Draws the points on the front, or the points off the front.
    fn draw_points(&self, scene: &mut Scene, at: &impl Fn(&ScatterPoint) -> Point, front: bool) {
        for (index, series) in self.series.iter().enumerate() {
            let ink = Ink::series(index);
            let faint = self.has_front() && !front;
            let ink = if faint { ink.mixed(Ink::WHITE, FAINT) } else { ink };
            let radius = if front { RADIUS_PX + 0.8 } else { RADIUS_PX };
            for point in series.points.iter().filter(|point| point.front == front) {
                Marker::series(index).draw(scene, at(point), radius, ink);
            }
        }
    }

    /// Joins the points of the front from left to right.
    fn draw_front(&self, scene: &mut Scene, at: &impl Fn(&ScatterPoint) -> Point) {
        let mut front: Vec<Point> = self.points().filter(|point| point.front).map(at).collect();
        front.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        if front.len() > 1 {
            scene.line(front, 1.2, Ink::TEXT);
        }
    }

    fn draw_names(&self, scene: &mut Scene, area: Rect, at: &impl Fn(&ScatterPoint) -> Point) {
        let mut placement = Placement::within(area);
        self.points().for_each(|point| placement.keep_clear(at(point), RADIUS_PX + 1.0));
        for point in self.points().filter(|point| point.front) {
            placement.name(scene, &point.name, at(point));
        }
    }
}

impl Chart for Scatter {
    fn caption(&self) -> &Caption {
        &self.caption
    }

    fn check(&self) -> Result<(), FigureError> {
        check::amounts(&[
            (self.series.len(), MAX_SERIES, "series"),
            (self.points().count(), MAX_POINTS, "points"),
        ])?;
        let (x, y) = (Allowed::on(self.x_spacing), Allowed::on(self.y_spacing));
        for point in self.points() {
            let named = |axis: &Quantity| format!("{} of `{}`", axis.title(), point.name);
            check::number(point.x, x, || named(&self.x_axis))?;
            check::number(point.y, y, || named(&self.y_axis))?;
        }
        Ok(())
    }

    fn description(&self) -> String {
        format!(
            "Scatter plot of {} over {}: {}, {} of them on the Pareto front.",
            self.y_axis.title(),
            self.x_axis.title(),
            counted(self.points().count(), "point"),
            self.points().filter(|point| point.front).count(),
        )
    }

    fn legend(&self) -> Vec<LegendEntry> {
        let mut entries = chart::points(self.series.iter().map(|series| &series.name));
        if self.has_front() {
            entries.push(LegendEntry::new("Pareto front", |scene, key| {
                let y = key.centre_y();
                scene.segment((key.x, y), (key.right(), y), 1.2, Ink::TEXT);
            }));
        }
        entries
    }

    fn draw(&self, page: &mut Page) {
        let (x, y) = self.scales();
        let frame = Frame::of_page(page, (&x, &y), (&self.x_axis, &self.y_axis));
        let at = |point: &ScatterPoint| frame.at(point.x, point.y);
        let scene = &mut page.scene;
        self.draw_points(scene, &at, false);
        self.draw_front(scene, &at);
        self.draw_points(scene, &at, true);
        self.draw_names(scene, frame.area, &at);
    }

    /// `series,name,x,y,front`, a row for each point.
    fn table(&self) -> Rows {
        let rows = self.series.iter().flat_map(|series| {
            series.points.iter().map(move |point| {
                let (x, y) = (cell(point.x), cell(point.y));
                vec![series.name.clone(), point.name.clone(), x, y, point.front.to_string()]
            })
        });
        Rows::new(["series", "name", "x", "y", "front"], rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Figure as _;
    use super::super::chart::PLOT_PX;
    use super::super::tests::{Sample, VALUE, caption, strokes};
    use super::*;

    impl Sample for Scatter {
        const TEXTS: &[&str] = &["J-4K", "edf", "Pareto front", "Latency [s]", "Energy [J]"];

        fn sample(value: f64) -> Self {
            let point = |name: &str, x, y, front| ScatterPoint { name: name.into(), x, y, front };
            Self {
                caption: caption(),
                x_axis: Quantity::new("Latency", "s"),
                x_spacing: Spacing::Linear,
                y_axis: Quantity::new("Energy", "J"),
                y_spacing: Spacing::Linear,
                series: vec![ScatterSeries {
                    name: "J-4K".into(),
                    points: vec![point("edf", 1.0, value, true), point("fifo", 2.0, 3.0, false)],
                }],
            }
        }

        fn empty() -> (Self, &'static str) {
            (Self { series: vec![], ..Self::sample(VALUE) }, "series")
        }
    }

    #[test]
    fn the_front_joins_its_points_from_left_to_right() {
        let point = |x: f64, y: f64, front| ScatterPoint { name: format!("{x}"), x, y, front };
        let points = vec![
            point(3.0, 1.0, true),
            point(1.0, 4.0, true),
            point(4.0, 4.0, false),
            point(2.0, 2.0, true),
        ];
        let chart = Scatter {
            caption: Caption::default(),
            x_axis: Quantity::new("Latency", "s"),
            x_spacing: Spacing::Linear,
            y_axis: Quantity::new("Energy", "J"),
            y_spacing: Spacing::Linear,
            series: vec![ScatterSeries { name: "all".into(), points }],
        };
        let scene = chart.scene().expect("the chart can be drawn");
        let front = strokes(&scene, Ink::TEXT).pop().expect("the front is drawn");
        // y from 1 to 4 over 380 px; the points lie at x = 1, 2, 3.
        assert_eq!(front.len(), 3);
        assert!((front[1].0 - front[0].0 - (front[2].0 - front[1].0)).abs() < 1e-9);
        assert!((front[2].1 - front[0].1 - PLOT_PX).abs() < 1e-9);
        let named: Vec<_> =
            scene.texts().filter(|text| ["1", "2", "3", "4"].contains(&text.as_str())).collect();
        assert!(named.len() >= 3, "{named:?}");
    }
}
