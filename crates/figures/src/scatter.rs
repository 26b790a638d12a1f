//! Scatter plots of designs, with the Pareto front.

use super::chart::{self, Chart, Frame};
use super::check::{self, Allowed};
use super::marker::{Marker, RADIUS_PX};
use super::number::short;
use super::page::{LINE_PX, LegendEntry, Page};
use super::placement::{Placement, around, farther};
use super::scale::{Scale, Spacing, extent};
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

    /// Scales of the points that are not far from all others.
    fn scales(&self) -> (Scale, Scale) {
        let scale = |spacing, shown: (f64, f64), of: fn(&ScatterPoint) -> f64| {
            let values = self.points().map(of).filter(|it| (shown.0..=shown.1).contains(it));
            Scale::of_values(spacing, values, 7)
        };
        let (x, y) = self.shown();
        (scale(self.x_spacing, x, |it| it.x), scale(self.y_spacing, y, |it| it.y))
    }

    /// Least and largest value to the right, and upwards, that the axes show.
    fn shown(&self) -> ((f64, f64), (f64, f64)) {
        let shown = |spacing, of: fn(&ScatterPoint) -> f64| {
            without_outliers(spacing, self.points().map(|point| (of(point), point.front)).collect())
        };
        (shown(self.x_spacing, |it| it.x), shown(self.y_spacing, |it| it.y))
    }

    /// How far a point is beyond the axes: -1, 0 or 1 to the right and downwards.
    fn beyond(point: &ScatterPoint, (x, y): ((f64, f64), (f64, f64))) -> (f64, f64) {
        let side = |value: f64, (low, high): (f64, f64)| {
            f64::from(u8::from(value > high)) - f64::from(u8::from(value < low))
        };
        (side(point.x, x), -side(point.y, y))
    }

    /// Number of points beyond the axes, and the last of them if all are beyond the same end: `4 beyond the axis, to 0.893`.
    fn beyond_axis(&self, far: &[&ScatterPoint], side: (f64, f64)) -> String {
        let shown = self.shown();
        let n = format!("{} beyond the axis", far.len());
        let (xs, ys) = (extent(far.iter().map(|it| it.x)), extent(far.iter().map(|it| it.y)));
        let end = match side {
            _ if far.iter().any(|point| Self::beyond(point, shown) != side) => return n,
            (0.0, 1.0) => ys.0,
            (0.0, -1.0) => ys.1,
            (-1.0, 0.0) => xs.0,
            (1.0, 0.0) => xs.1,
            _ => return n,
        };
        format!("{n}, to {}", short(end))
    }

    /// Draws the points on the front, or the points off the front.
    fn draw_points(&self, scene: &mut Scene, at: &impl Fn(&ScatterPoint) -> Point, front: bool) {
        for (index, series) in self.series.iter().enumerate() {
            let ink = Ink::series(index);
            let faint = self.has_front() && !front;
            let ink = if faint { ink.mixed(Ink::WHITE, FAINT) } else { ink };
            let radius = if front { RADIUS_PX + 0.8 } else { RADIUS_PX };
            let name = if front { "front" } else { "off the front" };
            let shown = self.shown();
            scene.group(&format!("{}, {name}", series.name), |scene| {
                for point in series.points.iter().filter(|point| point.front == front) {
                    match Self::beyond(point, shown) {
                        (0.0, 0.0) => Marker::series(index).draw(scene, at(point), radius, ink),
                        beyond => draw_arrow(scene, at(point), beyond, Ink::series(index)),
                    }
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

    /// Name of a point of `front`, with that of its series where another point of it has the same.
    fn name_on_front(&self, point: &ScatterPoint, front: &[&ScatterPoint]) -> String {
        match front.iter().filter(|other| other.name == point.name).count() {
            0 | 1 => point.name.clone(),
            _ => self.full_name(point),
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
        let named = shown.iter().map(|point| (self.name_on_front(point, &front), at(point)));
        if shown.len() == front.len() && write_whole_names(page, &clear, &named.collect::<Vec<_>>())
        {
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

/// Writes the names of all points, beside them or apart with lines, or none; returns whether all have a place.
fn write_whole_names(page: &mut Page, clear: &Placement, points: &[(String, Point)]) -> bool {
    let mut placement = clear.clone();
    let beside: Vec<Option<Text>> = points
        .iter()
        .map(|(name, point)| placement.place(name, &around(*point, RADIUS_PX)))
        .collect();
    // Names apart come last, so that their lines can avoid the others.
    let apart = points.iter().zip(&beside).filter(|(_, label)| label.is_none()).map(
        |((name, point), _)| placement.place_apart(name, *point, &farther(*point)[..MAX_APART]),
    );
    let Some(apart) = apart.collect::<Option<Vec<_>>>() else { return false };
    beside.into_iter().flatten().for_each(|label| page.scene.text(label));
    apart.into_iter().for_each(|label| label.draw(&mut page.scene));
    true
}

/// Places apart from a point that whole names try: the six nearest rings.
const MAX_APART: usize = 96;

/// Least and largest value without those that are so far from the middle half of all that they take more than half
/// of an axis: farther than three times its length (Tukey's far-out values). Values of the front stay.
fn without_outliers(spacing: Spacing, values: Vec<(f64, bool)>) -> (f64, f64) {
    let of_axis = |value: f64| if spacing == Spacing::Log { value.ln() } else { value };
    let mut sorted: Vec<f64> = values.iter().map(|it| it.0).collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let (Some(&least), Some(&most)) = (sorted.first(), sorted.last()) else { return (0.0, 0.0) };
    let (low, high) = (of_axis(sorted[n / 4]), of_axis(sorted[n - 1 - n / 4]));
    let fence = FENCE * (high - low);
    let is_near = |&&(value, front): &&(f64, bool)| {
        front || (low - fence..=high + fence).contains(&of_axis(value))
    };
    let (first, last) = extent(values.iter().filter(is_near).map(|it| it.0));
    let length = |(from, to): (f64, f64)| of_axis(to) - of_axis(from);
    match n >= LEAST_FOR_OUTLIERS && 2.0 * length((first, last)) < length((least, most)) {
        true if first < last => (first, last),
        _ => (least, most),
    }
}

/// Lengths of the middle half from it to the values that are far out.
const FENCE: f64 = 3.0;

/// Fewest points of which some may be far out.
const LEAST_FOR_OUTLIERS: usize = 8;

/// Draws an arrow that ends at the edge of the data and points beyond it.
fn draw_arrow(scene: &mut Scene, (x, y): Point, (dx, dy): (f64, f64), ink: Ink) {
    let length = dx.hypot(dy).max(1.0);
    let (dx, dy) = (dx / length, dy / length);
    let [ahead, side] = [7.0, 3.6];
    let back = (x - ahead * dx, y - ahead * dy);
    let corner = |sign: f64| (back.0 - sign * side * dy, back.1 + sign * side * dx);
    scene.polygon(vec![(x, y), corner(1.0), corner(-1.0)], ink.mixed(Ink::WHITE, FAINT / 2.0));
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
            entries.push(LegendEntry::new("Pareto front (dark points)", |scene, key| {
                let y = key.centre_y();
                scene.segment((key.x, y), (key.right(), y), 1.2, Ink::TEXT);
            }));
        }
        let shown = self.shown();
        let beyond = |point: &&ScatterPoint| Self::beyond(point, shown) != (0.0, 0.0);
        let far: Vec<_> = self.points().filter(beyond).collect();
        if let Some(first) = far.first() {
            let side = Self::beyond(first, shown);
            let name = self.beyond_axis(&far, side);
            entries.push(LegendEntry::new(name, move |scene, key| {
                let at = (key.centre_x() + 3.5 * side.0, key.centre_y() + 3.5 * side.1);
                draw_arrow(scene, at, side, Ink::AXIS);
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
        const TEXTS: &[&str] =
            &["J-4K", "edf", "Pareto front (dark points)", "Latency [s]", "Energy [J]"];

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
    fn points_far_from_all_others_are_arrows_at_the_edge_and_counted() {
        let point = |at: u32, y: f64, front| ScatterPoint {
            name: format!("{at}"),
            x: f64::from(at),
            y,
            front,
        };
        // Nine from 0.90 to 0.98, their middle half from 0.92 to 0.96; 0.5 and 0.6 are farther than 3 times 0.04 below.
        let mut points: Vec<_> =
            (0..9).map(|at| point(at, 0.9 + 0.01 * f64::from(at), at == 8)).collect();
        points.extend([point(9, 0.6, false), point(10, 0.5, false)]);
        let of = |points: Vec<ScatterPoint>| {
            let series = vec![ScatterSeries { name: "all".into(), points }];
            Scatter { series, ..Scatter::sample(VALUE) }
        };
        let chart = of(points.clone());
        assert_eq!(chart.shown().1.0, 0.9);
        let scene = chart.scene().expect("the chart can be drawn");
        assert!(scene.texts().any(|text| text == "2 beyond the axis, to 0.5"));
        assert_eq!(chart.rows().rows.len(), 11, "the data have all points");
        // The front is always shown.
        points[10].front = true;
        assert_eq!(of(points.clone()).shown().1.0, 0.5);
        // Far points that leave half of the axis to the others are shown.
        points[10] = point(10, 0.85, false);
        points[9] = point(9, 0.86, false);
        assert_eq!(of(points).shown().1.0, 0.85);
    }

    #[test]
    fn equal_names_on_the_front_stand_beside_their_points_with_those_of_their_series() {
        let series = |name: &str, points: &[(&str, f64)]| {
            let point = |&(name, at): &(&str, f64)| ScatterPoint {
                name: name.to_string(),
                x: at,
                y: 4.0 - at,
                front: true,
            };
            ScatterSeries { name: name.into(), points: points.iter().map(point).collect() }
        };
        let series = vec![series("J", &[("edf", 1.0), ("rm", 2.0)]), series("K", &[("edf", 3.0)])];
        let chart = Scatter { series, ..Scatter::sample(VALUE) };
        let scene = chart.scene().expect("the chart can be drawn");
        let has = |name: &str| scene.texts().any(|text| text == name);
        assert!(has("J, edf") && has("K, edf") && has("rm") && !has("edf"));
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
