//! Points and rectangles.

/// A point (x, y) \[px\].
pub(crate) type Point = (f64, f64);

/// An upright rectangle \[px\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width, not negative.
    pub width: f64,
    /// Height, not negative.
    pub height: f64,
}

impl Rect {
    /// The rectangle between two corners, in any order.
    pub(super) fn between((x0, y0): Point, (x1, y1): Point) -> Self {
        Self { x: x0.min(x1), y: y0.min(y1), width: (x1 - x0).abs(), height: (y1 - y0).abs() }
    }

    /// Right edge.
    pub(crate) fn right(&self) -> f64 {
        self.x + self.width
    }

    /// Lower edge.
    pub(crate) fn bottom(&self) -> f64 {
        self.y + self.height
    }

    /// Middle of the upper and lower edge.
    pub(super) fn centre_x(&self) -> f64 {
        self.x + self.width / 2.0
    }

    /// Middle of the left and right edge.
    pub(super) fn centre_y(&self) -> f64 {
        self.y + self.height / 2.0
    }

    /// The corners in order, the first again at the end.
    pub(super) fn loop_around(&self) -> Vec<Point> {
        let (left, top, right, bottom) = (self.x, self.y, self.right(), self.bottom());
        vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    }
}
