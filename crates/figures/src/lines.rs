//! Lines: quantities over another quantity, with their uncertainty.

use super::chart::{self, Chart, Frame};
use super::check::{self, Allowed};
use super::dashes::{Dashes, length};
use super::grid::Grid;
use super::marker::{Marker, RADIUS_PX};
use super::page::{LegendEntry, Page, X_AXIS_PX};
use super::placement::{Placement, beside_level};
use super::scale::{Scale, Spacing, extent};
use super::scene::{Point, Rect, Scene};
use super::{Caption, FigureError, Ink, Quantity, Rows, Sheet};
use xrsim_model::text::{cell, counted};

/// Lines with bands of uncertainty and published values, in a grid of panels.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines {
    /// Texts around the data.
    pub caption: Caption,
    /// Quantity of the x axis.
    pub x_axis: Quantity,
    /// Spacing of its values.
    pub x_spacing: Spacing,
    /// Quantity of the y axis.
    pub y_axis: Quantity,
    /// Spacing of its values.
    pub y_spacing: Spacing,
    /// Names of the lines of every panel: 1 to 27.
    pub series: Vec<String>,
    /// Panels side by side: 1 to 4.
    pub columns: usize,
    /// The panels, row by row, all with the same scales: 1 to 16.
    pub panels: Vec<LinePanel>,
    /// Limits of y, drawn as level lines with their names.
    pub limits: Vec<Limit>,
    /// The result that the lines are about, on every panel: an upright line up to a point, with its name.
    pub answer: Option<Answer>,
    /// Source of the published values, which are open marks in the colour and shape of their series. May be empty.
    pub published: String,
}

/// A limit of the quantity upwards.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Name of the limit.
    pub name: String,
    /// Its value.
    pub value: f64,
}

/// A point that the lines lead to.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Its name.
    pub name: String,
    /// Quantity of the x axis.
    pub x: f64,
    /// Quantity of the y axis.
    pub y: f64,
}

/// One panel of [`Lines`].
#[derive(Debug, Clone, PartialEq)]
pub struct LinePanel {
    /// Title of the panel. May be empty.
    pub title: String,
    /// A line for every series; a line without points is not drawn.
    pub lines: Vec<Line>,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Line {
    /// Points of the line in order; at most 20 000 in all panels.
    pub points: Vec<LinePoint>,
    /// Values (x, y) published elsewhere, drawn as open marks.
    pub published: Vec<(f64, f64)>,
}

/// A point of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinePoint {
    /// Quantity of the x axis.
    pub x: f64,
    /// Mean of the measured values.
    pub mean: f64,
    /// Ends of its interval, drawn as a band.
    pub interval: Option<(f64, f64)>,
}

const MAX_SERIES: usize = 27;
const MAX_COLUMNS: usize = 4;
const MAX_PANELS: usize = 16;
const MAX_POINTS: usize = 20_000;

/// Lines with more points than this are drawn without marking each.
const MARKED_POINTS: usize = 30;

/// Width of lines \[px\].
pub(super) const LINE_WIDTH_PX: f64 = 1.6;

/// Radius of open marks \[px\].
const OPEN_PX: f64 = 4.2;

/// Most limits.
const MAX_LIMITS: usize = 8;

/// Opacity of bands.
const BAND: f64 = 0.2;

/// Most lines with their names beside them.
const MAX_NAMED: usize = 8;

/// Space between the title of a panel and marks at the upper end of its scale \[px\].
const HEAD_PX: f64 = 4.0;

/// Points along a line at which its distance to others is measured.
const N_SAMPLES: usize = 100;

impl LinePoint {
    /// Every value of y at the point.
    fn values(&self) -> impl Iterator<Item = f64> {
        chart::ends(self.interval).chain([self.mean])
    }
}

impl Line {
    /// Every value of x.
    fn xs(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|point| point.x).chain(self.published.iter().map(|point| point.0))
    }

    /// Every value of y.
    fn ys(&self) -> impl Iterator<Item = f64> {
        let points = self.points.iter().flat_map(LinePoint::values);
        points.chain(self.published.iter().map(|point| point.1))
    }

    /// Points of the page along the line, at most about [`N_SAMPLES`].
    fn sampled(&self, frame: &Frame) -> Vec<Point> {
        let points = self.points.iter().step_by(self.points.len().div_ceil(N_SAMPLES).max(1));
        points.map(|point| frame.at(point.x, point.mean)).collect()
    }

    fn draw(&self, scene: &mut Scene, index: usize, (x, y): (&Scale, &Scale)) {
        let ink = Ink::series(index);
        let points: Vec<Point> =
            self.points.iter().map(|point| (x.at(point.x), y.at(point.mean))).collect();
        if points.len() > 1 {
            scene.dashed(points.clone(), Dashes::series(index), LINE_WIDTH_PX, ink);
        }
        for point in points.iter().filter(|_| points.len() <= MARKED_POINTS) {
            Marker::series(index).draw(scene, *point, RADIUS_PX, ink);
        }
    }

    /// Fills the intervals of every stretch of points that have one.
    fn draw_band(&self, scene: &mut Scene, index: usize, (x, y): (&Scale, &Scale)) {
        let ends = |point: &LinePoint| {
            point.interval.map(|(low, high)| (x.at(point.x), y.at(low), y.at(high)))
        };
        let ends: Vec<_> = self.points.iter().map(ends).collect();
        for stretch in ends.split(Option::is_none).filter(|stretch| stretch.len() > 1) {
            let stretch = || stretch.iter().flatten();
            let lower = stretch().map(|&(x, low, _)| (x, low));
            let upper = stretch().rev().map(|&(x, _, high)| (x, high));
            scene.polygon(lower.chain(upper).collect(), Ink::series(index).faded(BAND));
        }
    }
}

impl Lines {
    fn lines(&self) -> impl Iterator<Item = &Line> {
        self.panels.iter().flat_map(|panel| &panel.lines)
    }

    /// Height of the data of a panel \[px\].
    fn panel_height(&self) -> f64 {
        match self.panels.len().div_ceil(self.columns) {
            1 => 300.0,
            2 => 200.0,
            _ => 130.0,
        }
    }

    /// Whether lines have their names beside them and not in the legend: a few in one panel, without marks.
    fn names_lines(&self) -> bool {
        let is_marked = |line: &Line| line.points.len() <= MARKED_POINTS;
        self.panels.len() == 1
            && (2..=MAX_NAMED).contains(&self.series.len())
            && !self.lines().any(is_marked)
    }

    /// Writes the name of every line beside it, where it is farthest from the others.
    fn draw_names(&self, scene: &mut Scene, frame: &Frame) {
        let Some(panel) = self.panels.first() else { return };
        let paths: Vec<Vec<Point>> = panel.lines.iter().map(|line| line.sampled(frame)).collect();
        let mut placement = Placement::within(frame.area);
        let pairs = paths.iter().flat_map(|path| path.windows(2));
        pairs.for_each(|pair| placement.keep_clear_of_line(pair[0], pair[1]));
        name_lines(scene, &mut placement, self.series.iter().map(String::as_str), &paths);
    }

    /// Draws the answer: a line up from the axis to a ring, with the name.
    fn draw_answer(&self, scene: &mut Scene, placement: &mut Placement, frame: &Frame) {
        let Some(answer) = &self.answer else { return };
        let (x, y) = frame.at(answer.x, answer.y);
        let ends = [(x, frame.area.bottom()), (x, y)];
        scene.dashed(ends.to_vec(), Dashes::LIMIT, 1.2, Ink::TEXT);
        Marker::Disc.draw_open(scene, (x, y), OPEN_PX, Ink::TEXT);
        placement.keep_clear((x, y), OPEN_PX);
        placement.keep_clear_of_line(ends[0], ends[1]);
        placement.name_surely(scene, &answer.name, (x, y), OPEN_PX);
    }

    fn keep_clear_of_lines(&self, placement: &mut Placement, panel: &LinePanel, frame: &Frame) {
        for line in &panel.lines {
            for pair in line.points.windows(2) {
                let [from, to] = [0, 1].map(|at: usize| frame.at(pair[at].x, pair[at].mean));
                placement.keep_clear_of_line(from, to);
            }
        }
        for limit in &self.limits {
            let y = frame.y.at(limit.value);
            placement.keep_clear_of_line((frame.area.x, y), (frame.area.right(), y));
        }
    }

    /// The scales of all panels. A linear y axis that would begin in the lower half of its values begins at zero.
    fn scales(&self, columns: usize, height: f64) -> (Scale, Scale) {
        let limits = self.limits.iter().map(|limit| limit.value);
        let (low, high) = extent(self.lines().flat_map(Line::ys).chain(limits));
        let low = if low > 0.0 && low < 0.5 * high { 0.0 } else { low };
        let y = match self.y_spacing {
            Spacing::Linear => {
                let (low, high) = self.y_axis.ends((low, high));
                Scale::linear(low, high, (height / 40.0) as usize)
            }
            Spacing::Log => Scale::of_values(
                Spacing::Log,
                self.lines().flat_map(Line::ys).chain(self.limits.iter().map(|it| it.value)),
                0,
            ),
        };
        (Scale::of_values(self.x_spacing, self.lines().flat_map(Line::xs), 8 / columns), y)
    }

    /// Draws the limits across a panel, each with its name where the lines leave space.
    fn draw_limits(&self, scene: &mut Scene, placement: &mut Placement, frame: &Frame) {
        self.limits.iter().for_each(|limit| draw_limit(scene, placement, limit, frame, 8));
    }
}

/// Writes the names of lines, each beside its line where that is farthest from the others.
pub(super) fn name_lines<'a>(
    scene: &mut Scene,
    placement: &mut Placement,
    names: impl Iterator<Item = &'a str>,
    paths: &[Vec<Point>],
) {
    for (at, (name, path)) in names.zip(paths).enumerate() {
        let others = || paths.iter().enumerate().filter(|it| it.0 != at).flat_map(|it| it.1);
        let distance = |&(x, y): &Point| {
            let far = others().map(|&(a, b)| length((a - x, b - y)));
            far.fold(f64::INFINITY, f64::min)
        };
        let farthest = path.iter().max_by(|a, b| distance(a).total_cmp(&distance(b)));
        if let Some(&point) = farthest {
            placement.name_surely(scene, name, point, 1.0);
        }
    }
}

/// Draws a limit across a panel, with its name at one of `n_places`, where the lines leave space.
pub(super) fn draw_limit(
    scene: &mut Scene,
    placement: &mut Placement,
    limit: &Limit,
    frame: &Frame,
    n_places: u32,
) {
    let y = frame.y.at(limit.value);
    let ends = ((frame.area.x, y), (frame.area.right(), y));
    scene.dashed(vec![ends.0, ends.1], Dashes::LIMIT, 1.2, Ink::TEXT);
    placement.write_surely(scene, &limit.name, &beside_level(ends, n_places));
}

impl LinePanel {
    /// Draws the lines, which have the names of `series`.
    fn draw(&self, scene: &mut Scene, series: &[String], frame: &Frame) {
        let scales = (&frame.x, &frame.y);
        for (index, line) in self.lines.iter().enumerate() {
            line.draw_band(scene, index, scales);
        }
        for (index, (line, name)) in self.lines.iter().zip(series).enumerate() {
            scene.group(name, |scene| line.draw(scene, index, scales));
        }
        for (index, (line, name)) in self.lines.iter().zip(series).enumerate() {
            scene.group(&format!("{name}, published"), |scene| {
                for &(x, y) in &line.published {
                    let (mark, ink) = (Marker::series(index), Ink::series(index));
                    mark.draw_open(scene, frame.at(x, y), OPEN_PX, ink);
                }
            });
        }
        frame.draw_x_axis(scene);
    }
}

impl Chart for Lines {
    fn check(&self) -> Result<(), FigureError> {
        check::amounts(&[
            (self.series.len(), MAX_SERIES, "series"),
            (self.columns, MAX_COLUMNS, "columns"),
            (self.panels.len(), MAX_PANELS, "panels"),
        ])?;
        for panel in &self.panels {
            let what = || format!("lines of `{}`", panel.title);
            check::length(panel.lines.len(), self.series.len(), what)?;
        }
        check::amount(self.lines().flat_map(Line::xs).count(), MAX_POINTS, "points")?;
        check::at_most(self.limits.len(), MAX_LIMITS, "limits")?;
        let (x, y) = (Allowed::on(self.x_spacing), Allowed::on(self.y_spacing));
        for line in self.lines() {
            line.xs().try_for_each(|value| check::number(value, x, || self.x_axis.title()))?;
            line.ys().try_for_each(|value| check::number(value, y, || self.y_axis.title()))?;
        }
        for limit in &self.limits {
            check::number(limit.value, y, || format!("limit `{}`", limit.name))?;
        }
        self.answer.iter().try_for_each(|answer| {
            check::number(answer.x, x, || format!("`{}`", answer.name))?;
            check::number(answer.y, y, || format!("`{}`", answer.name))
        })
    }

    fn description(&self) -> String {
        format!(
            "Lines of {} over {} in {}: {}.",
            self.y_axis.title(),
            self.x_axis.title(),
            counted(self.panels.len(), "panel"),
            self.series.join(", "),
        )
    }

    fn legend(&self, _sheet: &Sheet) -> Vec<LegendEntry> {
        let marked = self.lines().all(|line| line.points.len() <= MARKED_POINTS);
        let entry = |(index, name): (usize, &String)| {
            LegendEntry::new(name, move |scene, key| {
                let (y, ink) = (key.centre_y(), Ink::series(index));
                let ends = vec![(key.x, y), (key.right(), y)];
                scene.dashed(ends, Dashes::series(index), LINE_WIDTH_PX, ink);
                if marked {
                    Marker::series(index).draw(scene, (key.centre_x(), y), RADIUS_PX, ink);
                }
            })
        };
        let named = if self.names_lines() { &[][..] } else { &self.series };
        let mut entries: Vec<_> = named.iter().enumerate().map(entry).collect();
        if self.lines().any(|line| !line.published.is_empty()) {
            let source = if self.published.is_empty() { "published" } else { &self.published };
            entries.push(LegendEntry::new(format!("open: {source}"), |scene, key| {
                let at = (key.centre_x(), key.centre_y());
                Marker::Disc.draw_open(scene, at, OPEN_PX, Ink::AXIS);
            }));
        }
        entries
    }

    fn draw(&self, page: &mut Page) {
        let height = page.sheet().height_px(self.panel_height());
        let columns = page.sheet().columns(self.columns);
        let (x, y) = self.scales(columns, height);
        let grid = Grid::sharing(page, &y, columns, height);
        let titles: Vec<_> = self.panels.iter().map(|panel| panel.title.as_str()).collect();
        let top = page.top;
        let areas = grid.areas(page, &titles, X_AXIS_PX + 2.0, X_AXIS_PX);
        for (index, (panel, area)) in self.panels.iter().zip(&areas).enumerate() {
            let head = if panel.title.is_empty() { 0.0 } else { HEAD_PX };
            let area = Rect { y: area.y + head, height: area.height - head, ..*area };
            let frame = Frame::on(area, (&x, &y));
            match grid.is_first(index) {
                true => frame.draw_grid(&mut page.scene),
                false => frame.draw_lines_of_grid(&mut page.scene),
            }
            panel.draw(&mut page.scene, &self.series, &frame);
            let mut placement = Placement::within(frame.area);
            self.keep_clear_of_lines(&mut placement, panel, &frame);
            self.draw_answer(&mut page.scene, &mut placement, &frame);
            self.draw_limits(&mut page.scene, &mut placement, &frame);
            if self.names_lines() {
                self.draw_names(&mut page.scene, &frame);
            }
        }
        page.y_title(&self.y_axis.title(), top, areas[areas.len() - 1].bottom());
        page.x_title(&self.x_axis.title(), grid.left);
    }

    /// `panel,series,kind,x,mean,low,high`, a row for each point and limit; `kind` is `point`, `published`,
    /// `limit`, which has no panel and no x, or `answer`, which has no panel.
    fn table(&self) -> Rows {
        let mut rows = Vec::new();
        for panel in &self.panels {
            for (series, line) in self.series.iter().zip(&panel.lines) {
                let row = |kind: &str, x, y, interval: Option<(f64, f64)>| {
                    let mut row = vec![panel.title.clone(), series.clone(), kind.to_owned()];
                    row.push(cell(x));
                    row.extend(chart::cells(Some(y), interval));
                    row
                };
                rows.extend(line.points.iter().map(|p| row("point", p.x, p.mean, p.interval)));
                rows.extend(line.published.iter().map(|&(x, y)| row("published", x, y, None)));
            }
        }
        rows.extend(self.limits.iter().map(|limit| {
            let mut row = vec![String::new(), limit.name.clone(), "limit".to_owned()];
            row.push(String::new());
            row.extend(chart::cells(Some(limit.value), None));
            row
        }));
        rows.extend(self.answer.iter().map(|answer| {
            let mut row = vec![String::new(), answer.name.clone(), "answer".to_owned()];
            row.push(cell(answer.x));
            row.extend(chart::cells(Some(answer.y), None));
            row
        }));
        Rows::new(["panel", "series", "kind", "x", "mean", "low", "high"], rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Sample, VALUE, caption, names, strokes};
    use super::super::{Figure as _, Shape};
    use super::*;

    impl Sample for Lines {
        const TEXTS: &[&str] = &[
            "mean",
            "Accelerator B",
            "Probability",
            "Latency [s]",
            "open: Paper",
            "bound",
            "result",
        ];

        fn sample(value: f64) -> Self {
            let point = |x, mean| LinePoint { x, mean, interval: Some((mean, mean * 1.5)) };
            Self {
                caption: caption(),
                x_axis: Quantity::new("Probability", ""),
                x_spacing: Spacing::Linear,
                y_axis: Quantity::new("Latency", "s"),
                y_spacing: Spacing::Log,
                series: names(&["mean"]),
                columns: 1,
                panels: vec![LinePanel {
                    title: "Accelerator B".into(),
                    lines: vec![Line {
                        points: vec![point(0.0, 1.0), point(1.0, value)],
                        published: vec![(0.5, value)],
                    }],
                }],
                limits: vec![Limit { name: "bound".into(), value }],
                answer: Some(Answer { name: "result".into(), x: 0.25, y: value }),
                published: "Paper".into(),
            }
        }

        fn empty() -> (Self, &'static str) {
            (Self { panels: vec![], ..Self::sample(VALUE) }, "panels")
        }

        fn crowded(names: Vec<String>) -> Option<(Self, &'static str)> {
            Some((Self { series: names, ..Self::sample(VALUE) }, "series"))
        }

        fn unequal() -> Option<Self> {
            let mut chart = Self::sample(VALUE);
            chart.series.push("another".into());
            Some(chart)
        }
    }

    fn chart(points: Vec<LinePoint>) -> Lines {
        let line = Line { points, published: vec![] };
        Lines {
            caption: Caption::default(),
            x_axis: Quantity::new("Probability", ""),
            x_spacing: Spacing::Linear,
            y_axis: Quantity::new("Score", ""),
            y_spacing: Spacing::Linear,
            series: vec!["overall".into()],
            columns: 1,
            panels: vec![LinePanel { title: String::new(), lines: vec![line] }],
            limits: vec![],
            answer: None,
            published: String::new(),
        }
    }

    fn point(x: f64, mean: f64, interval: Option<(f64, f64)>) -> LinePoint {
        LinePoint { x, mean, interval }
    }

    fn bands(scene: &Scene) -> Vec<Vec<Point>> {
        let band = |shape: &Shape| match shape {
            Shape::Polygon { points, ink } if ink.opacity == BAND => Some(points.clone()),
            _ => None,
        };
        scene.marks().filter_map(band).collect()
    }

    #[test]
    fn a_line_goes_through_its_points_in_proportion() {
        // Both scales go from 0 to 1; y over 300 px.
        let points = vec![point(0.0, 0.0, None), point(0.5, 0.25, None), point(1.0, 1.0, None)];
        let scene = chart(points).scene().expect("the chart can be drawn");
        let line = strokes(&scene, Ink::series(0)).pop().expect("the line is drawn");
        assert_eq!((line[0].1 - line[1].1, line[0].1 - line[2].1), (75.0, 300.0));
        assert_eq!(line[1].0 - line[0].0, line[2].0 - line[1].0);
    }

    #[test]
    fn a_band_goes_along_the_lower_ends_and_back_along_the_upper() {
        let ends = Some((0.0, 1.0));
        let scene = chart(vec![point(0.0, 0.5, ends), point(1.0, 0.5, ends)]).scene();
        let bands = bands(&scene.expect("the chart can be drawn"));
        let [low_left, low_right, high_right, high_left] = bands[0][..] else {
            panic!("{bands:?}")
        };
        assert_eq!((low_left.0, low_right.0), (high_left.0, high_right.0));
        assert_eq!((low_left.1 - high_left.1, low_right.1 - high_right.1), (300.0, 300.0));
    }

    #[test]
    fn a_point_without_interval_interrupts_the_band() {
        let ends = Some((0.0, 1.0));
        let has = [ends, ends, None, ends, ends, None, ends];
        let points = has.iter().enumerate().map(|(x, &ends)| point(x as f64, 0.5, ends)).collect();
        let bands = bands(&chart(points).scene().expect("the chart can be drawn"));
        assert_eq!(bands.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4]);
    }

    #[test]
    fn published_values_are_open_marks_of_their_series_and_rows_of_their_own() {
        let mut chart = chart(vec![point(0.0, 0.0, None), point(1.0, 1.0, None)]);
        chart.panels[0].lines[0].published = vec![(1.0, 0.5)];
        let scene = chart.scene().expect("the chart can be drawn");
        let drawn = strokes(&scene, Ink::series(0));
        let (line, open) = (&drawn[1], &drawn[2]); // after the key
        // The first point of a circle is to the right of its middle by its radius.
        assert!((open[0].0 - 1.1 * OPEN_PX - line[1].0).abs() < 1e-9);
        assert_eq!(open[0].1, (line[0].1 + line[1].1) / 2.0);
        assert_eq!(chart.rows().rows[2], ["", "overall", "published", "1", "0.5", "", ""]);
    }
}
