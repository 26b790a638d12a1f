//! The geometry of a page: marks and their places, before any format.
//!
//! Coordinates are pixels of the layout, x to the right and y down from the upper left corner. The size of a
//! pixel in print is that of the [`Sheet`].

use super::dashes::Dashes;
use super::hatch::Hatch;
pub(crate) use super::rect::Point;
pub use super::rect::Rect;
pub(super) use super::sheet::LABEL_PX;
use super::{Ink, Sheet};

/// End of a text that is at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// The first letter.
    Start,
    /// The middle.
    Middle,
    /// The last letter.
    End,
}

/// Direction of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// To the right.
    Level,
    /// Upwards.
    Up,
}

/// A line of text.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// The text.
    pub text: String,
    /// A point of the baseline \[px\].
    pub at: Point,
    /// Size of the em \[px\].
    pub size_px: f64,
    /// End of the text that is at `at`.
    pub align: Align,
    /// Direction.
    pub turn: Turn,
    /// Bold or regular.
    pub bold: bool,
    /// Colour.
    pub ink: Ink,
}

/// Half the height of a capital, as a share of the em: the distance of the baseline from the middle.
pub(super) const HALF_CAPITAL: f64 = 0.3645;

impl Text {
    /// A level, regular label that starts at `at`.
    pub(super) fn label(text: impl Into<String>, at: Point) -> Self {
        Self {
            text: text.into(),
            at,
            size_px: LABEL_PX,
            align: Align::Start,
            turn: Turn::Level,
            bold: false,
            ink: Ink::TEXT,
        }
    }

    pub(super) fn aligned(mut self, align: Align) -> Self {
        self.align = align;
        self
    }

    pub(super) fn bold(mut self) -> Self {
        self.bold = true;
        self
    }

    pub(super) fn sized(mut self, size_px: f64) -> Self {
        self.size_px = size_px;
        self
    }

    pub(super) fn inked(mut self, ink: Ink) -> Self {
        self.ink = ink;
        self
    }

    /// Moves the baseline so that `at` is in the middle of the height of capitals.
    pub(super) fn centred(mut self) -> Self {
        let down = HALF_CAPITAL * self.size_px;
        match self.turn {
            Turn::Level => self.at.1 += down,
            Turn::Up => self.at.0 += down,
        }
        self
    }

    /// Turns the text upwards.
    pub(super) fn upwards(mut self) -> Self {
        self.turn = Turn::Up;
        self
    }
}

/// One mark.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A filled rectangle.
    Rect {
        /// Its place.
        rect: Rect,
        /// Its fill.
        ink: Ink,
    },
    /// A rectangle over which the sequential colours run, from the least at its left edge to the most at its right edge.
    Ramp {
        /// Its place.
        rect: Rect,
    },
    /// Lines over a rectangle.
    Hatch {
        /// Its place.
        rect: Rect,
        /// Direction of the lines.
        hatch: Hatch,
        /// Colour of the lines.
        ink: Ink,
    },
    /// A line through points.
    Line {
        /// The points.
        points: Vec<Point>,
        /// Width of the stroke \[px\].
        width_px: f64,
        /// Dashes along it.
        dashes: Dashes,
        /// Its colour.
        ink: Ink,
    },
    /// A filled polygon.
    Polygon {
        /// The corners.
        points: Vec<Point>,
        /// Its fill.
        ink: Ink,
    },
    /// A filled disc.
    Disc {
        /// The centre.
        centre: Point,
        /// The radius \[px\].
        radius_px: f64,
        /// Its fill.
        ink: Ink,
    },
    /// A line of text.
    Text(Text),
    /// Marks that belong together, such as those of a series or an axis.
    Group {
        /// Name of the group, which editors and readers of the picture show.
        name: String,
        /// Whether edges lie on whole pixels of a screen, so that rectangles that touch have no seams.
        is_crisp: bool,
        /// The marks, from back to front.
        shapes: Vec<Shape>,
    },
}

impl Shape {
    /// Every mark, those of groups in place of the group.
    pub(super) fn flat(shapes: &[Self]) -> impl Iterator<Item = &Self> {
        let mut open = vec![shapes.iter()];
        std::iter::from_fn(move || {
            loop {
                match open.last_mut()?.next() {
                    Some(Self::Group { shapes, .. }) => open.push(shapes.iter()),
                    Some(shape) => return Some(shape),
                    None => drop(open.pop()),
                }
            }
        })
    }
}

/// Everything on a page, from back to front.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// The page, which has the width.
    pub sheet: Sheet,
    /// Height of the page \[px\].
    pub height_px: f64,
    /// Title, for readers who do not see the picture.
    pub title: String,
    /// Description, for the same readers.
    pub description: String,
    /// The marks.
    pub shapes: Vec<Shape>,
}

impl Scene {
    /// Width of the page \[px\].
    pub fn width_px(&self) -> f64 {
        self.sheet.width_px
    }

    /// Every mark on the page, without groups.
    pub fn marks(&self) -> impl Iterator<Item = &Shape> {
        Shape::flat(&self.shapes)
    }

    /// Every text on the page.
    pub fn texts(&self) -> impl Iterator<Item = &String> {
        self.marks().filter_map(|shape| match shape {
            Shape::Text(text) => Some(&text.text),
            _ => None,
        })
    }

    /// Draws marks that belong together.
    pub(super) fn group(&mut self, name: &str, draw: impl FnOnce(&mut Self)) {
        self.grouped(name, false, draw);
    }

    /// Draws rectangles that touch each other.
    pub(super) fn crisp_group(&mut self, name: &str, draw: impl FnOnce(&mut Self)) {
        self.grouped(name, true, draw);
    }

    fn grouped(&mut self, name: &str, is_crisp: bool, draw: impl FnOnce(&mut Self)) {
        let outside = std::mem::take(&mut self.shapes);
        draw(self);
        let shapes = std::mem::replace(&mut self.shapes, outside);
        if !shapes.is_empty() {
            self.shapes.push(Shape::Group { name: name.into(), is_crisp, shapes });
        }
    }

    /// Fills a rectangle with the colour of the series at `index`, and its lines.
    pub(super) fn area_of_series(&mut self, rect: Rect, index: usize) {
        self.rect(rect, Ink::series(index));
        // Lines over a thin area show nothing.
        if let Some(hatch) = Hatch::series(index).filter(|_| rect.height.min(rect.width) > 1.5) {
            self.hatch(rect, hatch, Ink::WHITE);
        }
    }

    pub(super) fn ramp(&mut self, rect: Rect) {
        self.shapes.push(Shape::Ramp { rect });
    }

    pub(super) fn hatch(&mut self, rect: Rect, hatch: Hatch, ink: Ink) {
        self.shapes.push(Shape::Hatch { rect, hatch, ink });
    }

    pub(super) fn rect(&mut self, rect: Rect, ink: Ink) {
        self.shapes.push(Shape::Rect { rect, ink });
    }

    pub(super) fn line(&mut self, points: Vec<Point>, width_px: f64, ink: Ink) {
        self.dashed(points, Dashes::SOLID, width_px, ink);
    }

    pub(super) fn segment(&mut self, from: Point, to: Point, width_px: f64, ink: Ink) {
        self.line(vec![from, to], width_px, ink);
    }

    /// Draws a line between the ends of an interval, with caps from -(dx, dy) to (dx, dy) around the ends, in one
    /// stroke.
    pub(super) fn whisker(&mut self, [from, to]: [Point; 2], (dx, dy): (f64, f64), width_px: f64) {
        let [before, after] =
            [-1.0, 1.0].map(|side| move |(x, y): Point| (x + side * dx, y + side * dy));
        let points = vec![before(from), after(from), from, to, before(to), after(to)];
        self.line(points, width_px, Ink::TEXT);
    }

    /// Draws a line through points in dashes. A line without pattern is solid.
    pub(super) fn dashed(&mut self, points: Vec<Point>, dashes: Dashes, width_px: f64, ink: Ink) {
        self.shapes.push(Shape::Line { points, width_px, dashes, ink });
    }

    /// The edge of a rectangle.
    pub(super) fn outline(&mut self, rect: Rect, width_px: f64, ink: Ink) {
        self.line(rect.loop_around(), width_px, ink);
    }

    pub(super) fn polygon(&mut self, points: Vec<Point>, ink: Ink) {
        self.shapes.push(Shape::Polygon { points, ink });
    }

    pub(super) fn disc(&mut self, centre: Point, radius_px: f64, ink: Ink) {
        self.shapes.push(Shape::Disc { centre, radius_px, ink });
    }

    pub(super) fn text(&mut self, text: Text) {
        self.shapes.push(Shape::Text(text));
    }
}
