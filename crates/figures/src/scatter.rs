//! Scatter plots of designs, with the Pareto front.

use super::chart::{self, Chart, Frame};
use super::check::{self, Allowed};
use super::marker::{Marker, RADIUS_PX};
use super::page::{LINE_PX, LegendEntry, Page};
use super::placement::{Placement, around};
use super::scale::{Scale, Spacing};
use super::scene::{LABEL_PX, Point, Rect, Scene, Text};
use super::text::{width_px, wrap};
use super::{Caption, FigureError, Ink, Quantity, Rows, Sheet};
use xrsim_model::text::{cell, counted};

/// Points in two quantities; those on the Pareto front are joined by a staircase, the others faint.
///
/// Points on the front have their whole names beside them if there is space for all, and otherwise numbers, whose
/// names are listed below.
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
    /// Whether points further left are better, so that each step of the staircase goes to the right first.
    pub less_x_is_better: bool,
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
    /// Whether it is on the Pareto front.
    pub front: bool,
}

const MAX_SERIES: usize = 27;
const MAX_POINTS: usize = 20_000;

/// Most points on the front that have names.
const MAX_NAMED: usize = 30;

/// Space between the columns of the list of names \[px\].
const LIST_GAP_PX: f64 = 18.0;

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
        let x = Scale::of_values(self.x_spacing, self.points().map(|point| point.x), 7);
        (x, Scale::of_values(self.y_spacing, self.points().map(|point| point.y), 7))
    }

    /// Draws the points on the front, or the points off the front.
    fn draw_points(&self, scene: &mut Scene, at: &impl Fn(&ScatterPoint) -> Point, front: bool) {
        for (index, series) in self.series.iter().enumerate() {
            let ink = Ink::series(index);
            let faint = self.has_front() && !front;
            let ink = if faint { ink.mixed(Ink::WHITE, FAINT) } else { ink };
            let radius = if front { RADIUS_PX + 0.8 } else { RADIUS_PX };
            let name = if front { "front" } else { "off the front" };
            scene.group(&format!("{}, {name}", series.name), |scene| {
                for point in series.points.iter().filter(|point| point.front == front) {
                    Marker::series(index).draw(scene, at(point), radius, ink);
                }
            });
        }
    }

    /// The points on the front from left to right.
    fn front(&self) -> Vec<&ScatterPoint> {
        let mut front: Vec<_> = self.points().filter(|point| point.front).collect();
        front.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
        front
    }

    /// Name of a point, after that of its series if there are several.
    fn full_name(&self, point: &ScatterPoint) -> String {
        let is_of =
            |series: &&ScatterSeries| series.points.iter().any(|it| std::ptr::eq(it, point));
        match self.series.iter().find(is_of) {
            Some(series) if self.series.len() > 1 && point.name.is_empty() => series.name.clone(),
            Some(series) if self.series.len() > 1 => format!("{}, {}", series.name, point.name),
            _ => point.name.clone(),
        }
    }

    /// The staircase through the front, which bounds what some design reaches: between two points the worse one
    /// counts.
    fn staircase(&self, at: &impl Fn(&ScatterPoint) -> Point) -> Vec<Point> {
        let front: Vec<Point> = self.front().into_iter().map(at).collect();
        let mut line: Vec<Point> = front.first().copied().into_iter().collect();
        for pair in front.windows(2) {
            let [(x0, y0), (x1, y1)] = [pair[0], pair[1]];
            line.push(if self.less_x_is_better { (x1, y0) } else { (x0, y1) });
            line.push((x1, y1));
        }
        line.dedup();
        line
    }

    /// Names the points on the front: whole names if all of them have a place, otherwise numbers, which are listed
    /// below the data.
    fn draw_names(&self, page: &mut Page, area: Rect, at: &impl Fn(&ScatterPoint) -> Point) {
        let front = self.front();
        let shown = &front[..front.len().min(MAX_NAMED)];
        let mut clear = Placement::within(area);
        self.points().for_each(|point| clear.keep_clear(at(point), RADIUS_PX + 1.5));
        for pair in self.staircase(at).windows(2) {
            clear.keep_clear_of_line(pair[0], pair[1]);
        }
        let names: Vec<String> = shown.iter().map(|point| point.name.clone()).collect();
        let mut placement = clear.clone();
        let points = shown.iter().zip(&names);
        let whole =
            points.map(|(point, name)| placement.place(name, &around(at(point), RADIUS_PX)));
        let whole: Option<Vec<Text>> = whole.collect();
        if let (Some(whole), true) = (whole, shown.len() == front.len()) {
            whole.into_iter().for_each(|label| page.scene.text(label));
            return;
        }
        let numbers: Vec<String> = (1..=shown.len()).map(|number| number.to_string()).collect();
        // Numbers that have a place beside their points come first, so that lines to the others can avoid them.
        let beside = |(point, number): (&&ScatterPoint, &String)| {
            !clear.write(&mut page.scene, number, &around(at(point), RADIUS_PX))
        };
        let apart: Vec<bool> = shown.iter().zip(&numbers).map(beside).collect();
        for ((point, number), _) in shown.iter().zip(&numbers).zip(&apart).filter(|it| *it.1) {
            clear.lead(&mut page.scene, number, at(point));
        }
        let listed = numbers.iter().zip(shown);
        let mut entries: Vec<_> =
            listed.map(|(number, point)| format!("{number}: {}", self.full_name(point))).collect();
        if let Some(more) = (front.len() - shown.len()).checked_sub(1) {
            entries.push(format!("and {} more", more + 1));
        }
        draw_list(page, &entries);
    }
}

/// Writes entries below the data, in as many columns as the widest one leaves space for; an entry that is wider than
/// the page is broken into lines.
fn draw_list(page: &mut Page, entries: &[String]) {
    let (left, room) = (page.side_px(), page.right_px() - page.side_px());
    let widths = entries.iter().map(|entry| width_px(entry, LABEL_PX, false));
    let widest = widths.fold(1.0, f64::max) + LIST_GAP_PX;
    let columns = (((room + LIST_GAP_PX) / widest) as usize).max(1);
    let rows = entries.len().div_ceil(columns);
    page.top += 4.0;
    if columns == 1 {
        for line in entries.iter().flat_map(|it| wrap(it, LABEL_PX, false, room, MAX_LINES)) {
            page.scene.text(Text::label(line, (left, page.top + 11.0)));
            page.top += LINE_PX;
        }
        return;
    }
    for (index, entry) in entries.iter().enumerate() {
        let (column, row) = (index / rows, index % rows);
        let at = (left + column as f64 * widest, page.top + row as f64 * LINE_PX + 11.0);
        page.scene.text(Text::label(entry.clone(), at));
    }
    page.top += rows as f64 * LINE_PX;
}

/// Most lines of one name.
const MAX_LINES: usize = 4;

impl Chart for Scatter {
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

    fn legend(&self, _sheet: &Sheet) -> Vec<LegendEntry> {
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
        let staircase = self.staircase(&at);
        if staircase.len() > 1 {
            scene.line(staircase, 1.2, Ink::TEXT);
        }
        self.draw_points(scene, &at, true);
        self.draw_names(page, frame.area, &at);
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
                less_x_is_better: true,
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
    fn the_front_is_a_staircase_from_left_to_right() {
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
            less_x_is_better: true,
            series: vec![ScatterSeries { name: "all".into(), points }],
        };
        let scene = chart.scene().expect("the chart can be drawn");
        let front = strokes(&scene, Ink::TEXT).pop().expect("the front is drawn");
        // y from 1 to 4 over 380 px; the points lie at x = 1, 2, 3, with a corner before each further one.
        assert_eq!(front.len(), 5);
        assert!((front[2].0 - front[0].0 - (front[4].0 - front[2].0)).abs() < 1e-9);
        assert!((front[4].1 - front[0].1 - PLOT_PX).abs() < 1e-9);
        // Less x is better: up to x = 2, nothing is better than the first point.
        assert_eq!(front[1], (front[2].0, front[0].1));
        let turned = Scatter { less_x_is_better: false, ..chart };
        let scene = turned.scene().expect("the chart can be drawn");
        let front = strokes(&scene, Ink::TEXT).pop().expect("the front is drawn");
        assert_eq!(front[1], (front[0].0, front[2].1));
        let named: Vec<_> =
            scene.texts().filter(|text| ["1", "2", "3", "4"].contains(&text.as_str())).collect();
        assert_eq!(named.len(), 3, "{named:?}");
    }

    #[test]
    fn every_number_of_the_key_stands_beside_its_point() {
        // Points on the front so close that numbers have no place beside all of them.
        let point = |at: u32| ScatterPoint {
            name: format!("a design whose name is too long to stand beside it, {at}"),
            x: f64::from(at) * 1e-3,
            y: f64::from(at) * 1e-3,
            front: true,
        };
        let far = ScatterPoint { x: 1.0, y: 1.0, ..point(0) };
        let points: Vec<_> = (0..12).map(point).chain([far]).collect();
        let sample = Scatter::sample(VALUE);
        let series = vec![ScatterSeries { name: "all".into(), points }];
        let scene = Scatter { series, ..sample }.scene().expect("the chart can be drawn");
        for number in 1..=13 {
            let is_number = |text: &&String| **text == number.to_string();
            assert_eq!(scene.texts().filter(is_number).count(), 1, "{number}");
            let listed = scene.texts().filter(|text| text.starts_with(&format!("{number}: ")));
            assert_eq!(listed.count(), 1, "{number}");
        }
    }
}
