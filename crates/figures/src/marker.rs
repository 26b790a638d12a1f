//! Shapes of points: series that differ in colour differ in shape too.

use super::Ink;
use super::scene::{Point, Scene};

/// The shape of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    Disc,
    Square,
    Up,
    Diamond,
    Down,
    Cross,
    Plus,
}

/// Radius of points \[px\].
pub(super) const RADIUS_PX: f64 = 3.6;

/// Width of the edge of points \[px\].
const EDGE_PX: f64 = 0.8;

/// Width of the bars of crosses \[px\].
const BAR_PX: f64 = 1.6;

const SHAPES: [Marker; 7] = [
    Marker::Disc,
    Marker::Square,
    Marker::Up,
    Marker::Diamond,
    Marker::Down,
    Marker::Cross,
    Marker::Plus,
];

impl Marker {
    /// The shape of the series at `index`. Seven shapes and eight hues make 56 pairs.
    pub(super) fn series(index: usize) -> Self {
        SHAPES[index % SHAPES.len()]
    }

    /// Draws the point with a white edge, so that points that overlap stay apart.
    pub(super) fn draw(self, scene: &mut Scene, at: Point, radius_px: f64, ink: Ink) {
        self.draw_edged(scene, at, radius_px, ink, Ink::WHITE);
    }

    /// Draws the point with an edge.
    pub(crate) fn draw_edged(
        self,
        scene: &mut Scene,
        at: Point,
        radius_px: f64,
        ink: Ink,
        edge: Ink,
    ) {
        self.fill(scene, at, (radius_px + EDGE_PX, BAR_PX + 2.0 * EDGE_PX), edge);
        self.fill(scene, at, (radius_px, BAR_PX), ink);
    }

    /// Draws the edge of a diamond, the sign of published values. Marks below it stay visible inside.
    pub(super) fn published(scene: &mut Scene, at: Point, radius_px: f64) {
        let mut around = diamond(at, radius_px);
        around.push(around[0]);
        // Small diamonds have thin edges, so that they stay open.
        let thin = (radius_px / 4.5).clamp(0.45, 1.0);
        scene.line(around.clone(), 2.6 * thin, Ink::WHITE);
        scene.line(around, 1.2 * thin, Ink::BLACK);
    }

    /// Draws the edge of the shape, the sign of published values of a series. Marks below it stay visible inside.
    pub(super) fn draw_open(self, scene: &mut Scene, at: Point, radius_px: f64, ink: Ink) {
        let around = self.edge(at, radius_px);
        scene.line(around.clone(), 2.8, Ink::WHITE);
        scene.line(around, 1.4, ink);
    }

    /// The edge as a closed line; crosses have a circle.
    fn edge(self, (x, y): Point, r: f64) -> Vec<Point> {
        let mut around = match self {
            Self::Square => vec![(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)],
            Self::Up => corners((x, y), 1.2 * r),
            Self::Down => corners((x, y), -1.2 * r),
            Self::Diamond => diamond((x, y), 1.3 * r),
            Self::Disc | Self::Cross | Self::Plus => (0..20)
                .map(|at| f64::from(at) / 20.0 * std::f64::consts::TAU)
                .map(|angle| (x + 1.1 * r * angle.cos(), y + 1.1 * r * angle.sin()))
                .collect(),
        };
        around.push(around[0]);
        around
    }

    /// Fills the shape; crosses are made of bars `bar_px` wide.
    fn fill(self, scene: &mut Scene, (x, y): Point, (r, bar_px): (f64, f64), ink: Ink) {
        match self {
            Self::Disc => scene.disc((x, y), r, ink),
            Self::Square => {
                let s = 0.88 * r;
                scene.polygon(
                    vec![(x - s, y - s), (x + s, y - s), (x + s, y + s), (x - s, y + s)],
                    ink,
                );
            }
            Self::Up => triangle(scene, (x, y), r, ink),
            Self::Down => triangle(scene, (x, y), -r, ink),
            Self::Diamond => scene.polygon(diamond((x, y), 1.2 * r), ink),
            Self::Cross => bars(scene, (x, y), (0.8 * r, 0.8 * r), bar_px, ink),
            Self::Plus => bars(scene, (x, y), (0.0, 1.1 * r), bar_px, ink),
        }
    }
}

fn diamond((x, y): Point, r: f64) -> Vec<Point> {
    vec![(x, y - r), (x + r, y), (x, y + r), (x - r, y)]
}

/// A triangle around (x, y) that points up by `r`, or down if that is negative.
fn triangle(scene: &mut Scene, at: Point, r: f64, ink: Ink) {
    scene.polygon(corners(at, r), ink);
}

fn corners((x, y): Point, r: f64) -> Vec<Point> {
    vec![(x, y - 1.15 * r), (x + 1.1 * r, y + 0.8 * r), (x - 1.1 * r, y + 0.8 * r)]
}

/// Two bars across (x, y), one to (dx, dy) and one at a right angle.
fn bars(scene: &mut Scene, (x, y): Point, (dx, dy): (f64, f64), width_px: f64, ink: Ink) {
    scene.segment((x - dx, y - dy), (x + dx, y + dy), width_px, ink);
    scene.segment((x - dy, y + dx), (x + dy, y - dx), width_px, ink);
}
