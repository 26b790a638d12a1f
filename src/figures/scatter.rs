//! Scatter plots of designs, with those that no other beats.

use super::check::{self, Allowed};
use super::grid::Grid;
use super::marker::{Marker, RADIUS_PX};
use super::number::counted;
use super::page::{Entry, Page, X_AXIS_PX, base_line, x_axis, x_grid, y_axis};
use super::placement::Placement;
use super::scale::{Scale, Spacing, extent};
use super::scene::{Point, Rect, Scene};
use super::{Axis, Caption, Figure, FigureError, Ink, Rows, cell};

/// Points in two quantities; those on the Pareto front are joined, the others faint.
#[derive(Debug, Clone, PartialEq)]
pub struct Scatter {
    /// What is written around it.
    pub caption: Caption,
    /// The quantity to the right.
    pub x_axis: Axis,
    /// How it is spread.
    pub x_spacing: Spacing,
    /// The quantity upwards.
    pub y_axis: Axis,
    /// How it is spread.
    pub y_spacing: Spacing,
    /// The points by what they have in common: 1 to 27 series of 20 000 points in all.
    pub series: Vec<ScatterSeries>,
}

/// Points of one colour and shape.
#[derive(Debug, Clone, PartialEq)]
pub struct ScatterSeries {
    /// What they have in common.
    pub name: String,
    /// The points.
    pub points: Vec<ScatterPoint>,
}

/// One design.
#[derive(Debug, Clone, PartialEq)]
pub struct ScatterPoint {
    /// What it is.
    pub name: String,
    /// Its value to the right.
    pub x: f64,
    /// Its value upwards.
    pub y: f64,
    /// Whether it is on the Pareto front. If so its name is written beside it, if there is room; at
    /// most 200 are.
    pub front: bool,
}

const MAX_SERIES: usize = 27;
const MAX_POINTS: usize = 20_000;

/// Height of the data \[px\].
const HEIGHT_PX: f64 = 380.0;

/// Share of white in points off the front.
const FAINT: f64 = 0.6;

impl Scatter {
    fn check(&self) -> Result<(), FigureError> {
        check::amount(self.series.len(), MAX_SERIES, "series")?;
        check::amount(self.points().count(), MAX_POINTS, "points")?;
        let (x, y) = (Allowed::on(self.x_spacing), Allowed::on(self.y_spacing));
        for point in self.points() {
            let named = |axis: &Axis| format!("{} of `{}`", axis.title(), point.name);
            check::number(point.x, x, || named(&self.x_axis))?;
            check::number(point.y, y, || named(&self.y_axis))?;
        }
        Ok(())
    }

    fn points(&self) -> impl Iterator<Item = &ScatterPoint> {
        self.series.iter().flat_map(|series| &series.points)
    }

    fn has_front(&self) -> bool {
        self.points().any(|point| point.front)
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

    fn scales(&self) -> (Scale, Scale) {
        let (left, right) = extent(self.points().map(|point| point.x));
        let (low, high) = extent(self.points().map(|point| point.y));
        let x = Scale::spaced(self.x_spacing, left, right, 7);
        (x, Scale::spaced(self.y_spacing, low, high, 7))
    }

    fn legend(&self) -> Vec<Entry> {
        let entry = |(index, series): (usize, &ScatterSeries)| {
            Entry::new(&series.name, move |scene, key| {
                let at = (key.centre_x(), key.centre_y());
                Marker::series(index).draw(scene, at, RADIUS_PX, Ink::series(index));
            })
        };
        let mut entries: Vec<_> = self.series.iter().enumerate().map(entry).collect();
        if self.has_front() {
            entries.push(Entry::new("Pareto front", |scene, key| {
                let y = key.centre_y();
                scene.segment((key.x, y), (key.right(), y), 1.2, Ink::TEXT);
            }));
        }
        entries
    }

    /// Draws the points that are on the front or those that are not.
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

impl Figure for Scatter {
    fn scene(&self) -> Result<Scene, FigureError> {
        self.check()?;
        let mut page = Page::new(&self.caption, self.description());
        page.legend(self.legend());
        let (x, y) = self.scales();
        let grid = Grid::new([&y], 1, HEIGHT_PX);
        let area = grid.areas(&mut page, &[""], 0.0, X_AXIS_PX)[0];
        let (x, y) = (x.onto(area.x, area.right()), y.onto(area.bottom(), area.y));
        let scene = &mut page.scene;
        x_grid(scene, &area, &x);
        y_axis(scene, &area, &y);
        base_line(scene, &area, area.bottom());
        x_axis(scene, &area, &x);
        let at = |point: &ScatterPoint| (x.at(point.x), y.at(point.y));
        self.draw_points(scene, &at, false);
        self.draw_front(scene, &at);
        self.draw_points(scene, &at, true);
        self.draw_names(scene, area, &at);
        page.y_title(&self.y_axis.title(), area.y, area.bottom());
        page.x_title(&self.x_axis.title(), grid.left);
        Ok(page.finish(&self.caption.note))
    }

    /// `series,name,x,y,front`, a row a point.
    fn rows(&self) -> Rows {
        let rows = self.series.iter().flat_map(|series| {
            series.points.iter().map(move |point| {
                let (x, y) = (cell(point.x), cell(point.y));
                vec![series.name.clone(), point.name.clone(), x, y, point.front.to_string()]
            })
        });
        Rows { header: vec!["series", "name", "x", "y", "front"], rows: rows.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::strokes;
    use super::*;

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
            x_axis: Axis::new("Latency", "s"),
            x_spacing: Spacing::Linear,
            y_axis: Axis::new("Energy", "J"),
            y_spacing: Spacing::Linear,
            series: vec![ScatterSeries { name: "all".into(), points }],
        };
        let scene = chart.scene().expect("the chart can be drawn");
        let front = strokes(&scene, Ink::TEXT).pop().expect("the front is drawn");
        // y from 1 to 4 over 380 px; the points lie at x = 1, 2, 3.
        assert_eq!(front.len(), 3);
        assert!((front[1].0 - front[0].0 - (front[2].0 - front[1].0)).abs() < 1e-9);
        assert!((front[2].1 - front[0].1 - HEIGHT_PX).abs() < 1e-9);
        let named: Vec<_> =
            scene.texts().filter(|text| ["1", "2", "3", "4"].contains(&text.as_str())).collect();
        assert!(named.len() >= 3, "{named:?}");
    }
}
