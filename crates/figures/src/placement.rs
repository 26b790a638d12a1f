//! Placement of labels beside points.

use super::Ink;
use super::dashes::length;
use super::scene::{Align, HALF_CAPITAL, LABEL_PX, Point, Rect, Scene, Text};
use super::text::{fit, width_px};

/// Labels of a chart, which do not overlap each other or points.
#[derive(Clone)]
pub(super) struct Placement {
    bounds: Rect,
    taken: Vec<Rect>,
    /// Lines, which labels do not cover, but the line of a label may cross.
    lines: Vec<Rect>,
    /// The labels among what is taken.
    labels: Vec<Rect>,
    /// Number of points that may still be named.
    left: usize,
}

/// Most points with names. Every label is compared with all marks, and nobody reads more.
const MAX_NAMES: usize = 200;

/// Widest name of a point \[px\].
const MAX_NAME_PX: f64 = 160.0;

/// Possible place of a label, and the end of the label that is there.
pub(super) type Place = (Point, Align);

/// Half the height that a label takes \[px\].
const HALF_PX: f64 = 6.0;

impl Placement {
    /// Labels within `bounds`.
    pub(super) fn within(bounds: Rect) -> Self {
        Self { bounds, taken: Vec::new(), lines: Vec::new(), labels: Vec::new(), left: MAX_NAMES }
    }

    /// Keeps labels off a point.
    pub(crate) fn keep_clear(&mut self, (x, y): Point, radius_px: f64) {
        let r = radius_px;
        self.taken.push(Rect::between((x - r, y - r), (x + r, y + r)));
    }

    /// Keeps labels off an area.
    pub(super) fn keep_clear_of(&mut self, area: Rect) {
        self.taken.push(area);
    }

    /// Keeps labels off a straight line.
    pub(crate) fn keep_clear_of_line(&mut self, from: Point, to: Point) {
        self.lines.extend(along(from, to));
    }

    /// Writes `text` at the first free place of `places`, and returns whether there was one. A place is the
    /// middle of the height of the first or last letter.
    pub(super) fn write(&mut self, scene: &mut Scene, text: &str, places: &[Place]) -> bool {
        let label = self.place(text, places);
        let is_placed = label.is_some();
        label.into_iter().for_each(|label| scene.text(label));
        is_placed
    }

    /// Takes the first free place of `places` for `text`; `None` if none is free.
    pub(super) fn place(&mut self, text: &str, places: &[Place]) -> Option<Text> {
        let width = width_px(text, LABEL_PX, false);
        let free = |place: &&Place| {
            let area = covered(**place, width);
            let taken = || self.taken.iter().chain(&self.lines);
            inside(&area, &self.bounds) && !taken().any(|other| overlap(&area, other))
        };
        let &(at, align) = places.iter().find(free)?;
        self.taken.push(covered((at, align), width));
        self.labels.push(covered((at, align), width));
        Some(Text::label(text, at).aligned(align).centred())
    }

    /// Writes `text` at the first free place of `places`, or over other marks if none is free: at the first place that
    /// no other label has, else at the first one.
    pub(crate) fn write_surely(&mut self, scene: &mut Scene, text: &str, places: &[Place]) {
        if self.write(scene, text, places) {
            return;
        }
        let width = width_px(text, LABEL_PX, false);
        let is_open = |place: &&Place| {
            let area = covered(**place, width);
            inside(&area, &self.bounds) && !self.labels.iter().any(|it| overlap(&area, it))
        };
        if let Some(&place) = places.iter().find(is_open).or(places.first()) {
            self.over_marks(scene, text, place);
        }
    }

    /// Writes `text` on white at a place where other marks may be.
    fn over_marks(&mut self, scene: &mut Scene, text: &str, place: Place) {
        let area = covered(place, width_px(text, LABEL_PX, false));
        scene.rect(area, Ink::WHITE);
        self.taken.push(area);
        self.labels.push(area);
        scene.text(Text::label(text, place.0).aligned(place.1).centred());
    }

    /// Takes the first place of `far` for `text` to which a line from the point crosses no other point, label or line of
    /// a label, and runs along no line of the chart; `None` if there is none.
    pub(super) fn place_apart(&mut self, text: &str, point: Point, far: &[Place]) -> Option<Led> {
        let passes = |place: &&Place| {
            let line = leader(point, **place);
            let around = Rect::between(line.0, line.1);
            let mut others = self.taken.iter().filter(|it| !holds(it, point) && touch(it, &around));
            let squares = self.lines.iter().filter(|it| touch(it, &around) && crosses(line, it));
            !others.any(|other| crosses(line, other)) && squares.count() <= CROSSED
        };
        let clear: Vec<Place> = far.iter().filter(passes).copied().collect();
        let label = self.place(text, &clear)?;
        Some(self.led(label, point))
    }

    /// A label with the line from its point, which is kept clear.
    fn led(&mut self, label: Text, point: Point) -> Led {
        let middle = (label.at.0, label.at.1 - HALF_CAPITAL * LABEL_PX);
        let line = leader(point, (middle, label.align));
        self.taken.extend(along(line.0, line.1));
        Led { label, line: Some(line) }
    }

    /// Writes `text` farther off than beside a point, with a line from the point to it: past other marks if possible,
    /// otherwise over them.
    pub(super) fn lead(&mut self, scene: &mut Scene, text: &str, point: Point) {
        let far = farther(point);
        if let Some(led) = self.place_apart(text, point, &far) {
            led.draw(scene);
            return;
        }
        let width = width_px(text, LABEL_PX, false);
        let is_open = |place: &Place| {
            let line = leader(point, *place);
            !self.labels.iter().any(|label| crosses(line, label))
        };
        let open: Vec<Place> = far.iter().copied().filter(is_open).collect();
        let label = self.place(text, &open).or_else(|| {
            let fits = |place: &&Place| {
                let area = covered(**place, width);
                inside(&area, &self.bounds) && !self.labels.iter().any(|it| overlap(&area, it))
            };
            let &(at, align) = open.iter().chain(&far).find(fits).or(far.first())?;
            scene.rect(covered((at, align), width), Ink::WHITE);
            self.taken.push(covered((at, align), width));
            self.labels.push(covered((at, align), width));
            Some(Text::label(text, at).aligned(align).centred())
        });
        if let Some(label) = label {
            self.led(label, point).draw(scene);
        }
    }

    /// Writes the name of a point with a mark of this radius beside it, or farther off with a line to it.
    pub(super) fn name_surely(
        &mut self,
        scene: &mut Scene,
        name: &str,
        point: Point,
        radius_px: f64,
    ) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        let name = fit(name, LABEL_PX, false, MAX_NAME_PX);
        if !self.write(scene, &name, &around(point, radius_px)) {
            self.lead(scene, &name, point);
        }
    }

    /// Takes a place for the name of a bar beside its upper end at `point`, or above it with a line to it; `None` if
    /// none is free.
    pub(super) fn place_bar(&mut self, name: &str, point: Point, half_px: f64) -> Option<Led> {
        let name = fit(name, LABEL_PX, false, MAX_NAME_PX);
        let is_above = |((x, y), _): &Place| y + (x - point.0).abs() <= point.1 + 1e-9;
        let above: Vec<Place> = farther(point).into_iter().filter(is_above).collect();
        match self.place(&name, &beside_bar(point, half_px)) {
            Some(label) => Some(Led { label, line: None }),
            None => self.place_apart(&name, point, &above),
        }
    }
}

/// A label, and the line from its point to it if it is apart.
pub(super) struct Led {
    label: Text,
    line: Option<(Point, Point)>,
}

impl Led {
    pub(super) fn draw(self, scene: &mut Scene) {
        if let Some((from, to)) = self.line {
            scene.segment(from, to, 0.7, Ink::QUIET);
        }
        scene.text(self.label);
    }
}

/// Most squares of lines of the chart that the line to a label may cross: as many as where it crosses one.
const CROSSED: usize = 3;

/// Squares along a line, which cover it.
fn along(from: Point, to: Point) -> impl Iterator<Item = Rect> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let steps = (length((dx, dy)) / 3.0).ceil().max(1.0);
    (0..=steps as usize).map(move |step| {
        let share = step as f64 / steps;
        let (x, y) = (from.0 + share * dx, from.1 + share * dy);
        Rect::between((x - 1.5, y - 1.5), (x + 1.5, y + 1.5))
    })
}

/// Places beside the upper end of a bar: left, right, above, lower, and above to one side. No narrow bar fits between
/// them and the bar.
fn beside_bar((x, y): Point, half_px: f64) -> [Place; 7] {
    let (beside, up) = (half_px + 2.2, 8.9);
    [
        ((x - beside, y), Align::End),
        ((x + beside, y), Align::Start),
        ((x, y - up), Align::Middle),
        ((x - beside, y + up), Align::End),
        ((x + beside, y + up), Align::Start),
        ((x - half_px, y - up), Align::Start),
        ((x + half_px, y - up), Align::End),
    ]
}

/// Places around a point with a mark of this radius: right, left, above, below, and between these.
pub(super) fn around((x, y): Point, radius_px: f64) -> [Place; 8] {
    let (near, up) = (radius_px + 3.4, radius_px + 8.9);
    [
        ((x + near, y), Align::Start),
        ((x - near, y), Align::End),
        ((x, y - up), Align::Middle),
        ((x, y + up), Align::Middle),
        ((x + near, y - up), Align::Start),
        ((x + near, y + up), Align::Start),
        ((x - near, y - up), Align::End),
        ((x - near, y + up), Align::End),
    ]
}

/// Places farther from a point, the nearest first, in sixteen directions.
pub(super) fn farther((x, y): Point) -> Vec<Place> {
    let of_ring = |radius: f64| {
        (0..16).map(move |step| {
            let angle = f64::from(step) / 16.0 * std::f64::consts::TAU;
            let (dx, dy) = (radius * angle.cos(), radius * angle.sin());
            let align = match dx {
                _ if dx.abs() < 0.3 * radius => Align::Middle,
                dx if dx > 0.0 => Align::Start,
                _ => Align::End,
            };
            ((x + dx, y + dy), align)
        })
    };
    (1..=24).flat_map(|ring| of_ring(9.0 + 9.0 * f64::from(ring))).collect()
}

/// Places above and below a level line, at `n` parts of its length, starting at its right end.
pub(super) fn beside_level((from, to): (Point, Point), n: u32) -> Vec<Place> {
    (0..n)
        .map(|part| to.0 - 4.0 + (from.0 - to.0) * f64::from(part) / f64::from(n))
        .flat_map(|x| [((x, to.1 - 9.0), Align::End), ((x, to.1 + 9.0), Align::End)])
        .collect()
}

/// Space between a line and its label \[px\].
const GAP_PX: f64 = 3.0;

/// The line from a point to the label at a place.
fn leader(point: Point, ((x, y), align): Place) -> (Point, Point) {
    let end = match align {
        Align::Start => (x - GAP_PX, y),
        Align::Middle if y < point.1 => (x, y + HALF_PX),
        Align::Middle => (x, y - HALF_PX),
        Align::End => (x + GAP_PX, y),
    };
    (point, end)
}

/// Whether a line passes through a rectangle, to a twentieth of the line.
fn crosses((from, to): (Point, Point), area: &Rect) -> bool {
    (0..=20).map(|step| f64::from(step) / 20.0).any(|share| {
        let x = from.0 + share * (to.0 - from.0);
        let y = from.1 + share * (to.1 - from.1);
        holds(area, (x, y))
    })
}

/// Area of a label of this width.
fn covered(((x, y), align): Place, width: f64) -> Rect {
    let left = match align {
        Align::Start => x,
        Align::Middle => x - width / 2.0,
        Align::End => x - width,
    };
    Rect { x: left, y: y - HALF_PX, width, height: 2.0 * HALF_PX }
}

fn holds(area: &Rect, (x, y): Point) -> bool {
    (area.x..=area.right()).contains(&x) && (area.y..=area.bottom()).contains(&y)
}

/// Whether areas overlap or share an edge.
fn touch(a: &Rect, b: &Rect) -> bool {
    a.x <= b.right() && b.x <= a.right() && a.y <= b.bottom() && b.y <= a.bottom()
}

fn overlap(a: &Rect, b: &Rect) -> bool {
    a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()
}

fn inside(a: &Rect, b: &Rect) -> bool {
    a.x >= b.x && a.right() <= b.right() && a.y >= b.y && a.bottom() <= b.bottom()
}

#[cfg(test)]
mod tests {
    use super::super::{Shape, tests};
    use super::*;

    const BOUNDS: Rect = Rect { x: 0.0, y: 0.0, width: 200.0, height: 100.0 };

    /// Places and alignments of the names of points.
    fn named(points: &[Point]) -> Vec<Place> {
        let mut placement = Placement::within(BOUNDS);
        let mut scene = tests::blank();
        points.iter().for_each(|&point| placement.keep_clear(point, 3.0));
        points.iter().for_each(|&point| {
            placement.write(&mut scene, "conv", &around(point, 3.6));
        });
        let place = |shape: &Shape| match shape {
            Shape::Text(text) => Some((text.at, text.align)),
            _ => None,
        };
        scene.marks().filter_map(place).collect()
    }

    #[test]
    fn a_name_is_right_of_its_point_or_where_there_is_space() {
        let aligned =
            |points: &[Point]| named(points).iter().map(|place| place.1).collect::<Vec<_>>();
        assert_eq!(aligned(&[(50.0, 50.0)]), [Align::Start]);
        assert_eq!(aligned(&[(195.0, 50.0)]), [Align::End]);
        // The second point stands in the way of the first name and keeps its own.
        assert_eq!(aligned(&[(50.0, 50.0), (65.0, 50.0)]), [Align::End, Align::Start]);
    }

    #[test]
    fn names_without_space_are_left_out() {
        let crowd: Vec<Point> =
            (0..400).map(|i| (f64::from(i % 20) * 10.0, f64::from(i / 20) * 5.0)).collect();
        assert!(named(&crowd).is_empty());
        assert_eq!(named(&[(50.0, 50.0); 9]).len(), 4, "one on every side");
    }

    #[test]
    fn the_line_to_a_label_crosses_a_line_of_the_chart_but_does_not_run_along_it() {
        let point = (50.0, 50.0);
        let apart = |from: Point, to: Point, far: &[Place]| {
            let mut placement = Placement::within(BOUNDS);
            placement.keep_clear_of_line(from, to);
            placement.place_apart("a", point, far).map(|led| led.label.at.0)
        };
        let [right, below] = [((90.0, 50.0), Align::Start), ((50.0, 90.0), Align::Middle)];
        let level = ((40.0, 50.0), (80.0, 50.0));
        assert_eq!(apart(level.0, level.1, &[right]), None);
        assert_eq!(apart(level.0, level.1, &[right, below]), Some(50.0));
        assert_eq!(apart((70.0, 10.0), (70.0, 90.0), &[right, below]), Some(90.0));
    }

    #[test]
    fn a_label_that_is_required_is_written_over_other_marks() {
        let mut placement = Placement::within(BOUNDS);
        placement.keep_clear((50.0, 50.0), 40.0);
        let mut scene = tests::blank();
        placement.write_surely(&mut scene, "peak", &[((50.0, 50.0), Align::Middle)]);
        assert_eq!(scene.texts().collect::<Vec<_>>(), ["peak"]);
    }
}
