//! Lines over areas: series that differ in colour differ in their lines too.

use super::rect::{Point, Rect};

/// Direction of the lines over an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hatch {
    /// From the lower left to the upper right.
    Rising,
    /// From the upper left to the lower right.
    Falling,
    /// Both of them.
    Crossed,
    /// From left to right.
    Level,
    /// From the top down.
    Upright,
}

/// Distance between lines along either axis \[px\]: the side of the square that repeats.
pub(super) const PITCH_PX: f64 = 6.0;

/// Width of the lines \[px\].
pub(super) const LINE_PX: f64 = 0.8;

/// Lines of the series, in the order of their colours. Colours without lines differ in lightness. Level lines come late,
/// as they look like the edges between the parts of a stack.
const SERIES: [Option<Hatch>; 9] = [
    None, // blue
    None, // orange
    Some(Hatch::Rising),
    Some(Hatch::Falling),
    Some(Hatch::Crossed),
    Some(Hatch::Upright),
    None, // yellow
    Some(Hatch::Level),
    None, // black
];

impl Hatch {
    /// Lines of the series at `index`.
    pub(super) fn series(index: usize) -> Option<Self> {
        SERIES[index % SERIES.len()]
    }

    /// Name in files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rising => "rising",
            Self::Falling => "falling",
            Self::Crossed => "crossed",
            Self::Level => "level",
            Self::Upright => "upright",
        }
    }

    /// The lines within a rectangle. They go on from one rectangle to the next, as all begin at the corner of the page.
    pub(super) fn lines(self, rect: &Rect) -> Vec<[Point; 2]> {
        let (left, top, right, bottom) = (rect.x, rect.y, rect.right(), rect.bottom());
        let multiples = |from: f64, to: f64| {
            let (first, last) = ((from / PITCH_PX).ceil(), (to / PITCH_PX).floor());
            let count = (last - first + 1.0).clamp(0.0, MAX_LINES) as u32;
            (0..count).map(move |index| (first + f64::from(index)) * PITCH_PX)
        };
        match self {
            // x + y is constant along a line.
            Self::Rising => multiples(left + top, right + bottom)
                .map(|sum| {
                    let (from, to) = ((sum - bottom).max(left), (sum - top).min(right));
                    [(from, sum - from), (to, sum - to)]
                })
                .collect(),
            // y - x is constant along a line.
            Self::Falling => multiples(top - right, bottom - left)
                .map(|difference| {
                    let (from, to) =
                        ((top - difference).max(left), (bottom - difference).min(right));
                    [(from, from + difference), (to, to + difference)]
                })
                .collect(),
            Self::Crossed => {
                let both = [Self::Rising, Self::Falling].map(|it| it.lines(rect));
                both.concat()
            }
            Self::Level => multiples(top, bottom).map(|y| [(left, y), (right, y)]).collect(),
            Self::Upright => multiples(left, right).map(|x| [(x, top), (x, bottom)]).collect(),
        }
    }
}

/// Most lines of a rectangle, more than a page has.
const MAX_LINES: f64 = 2000.0;

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Hatch; 5] =
        [Hatch::Rising, Hatch::Falling, Hatch::Crossed, Hatch::Level, Hatch::Upright];

    #[test]
    fn lines_stay_within_their_rectangle() {
        let rect = Rect { x: 10.0, y: 20.0, width: 37.0, height: 15.0 };
        for hatch in ALL {
            let lines = hatch.lines(&rect);
            let within = |&(x, y): &Point| {
                (rect.x - 1e-9..=rect.right() + 1e-9).contains(&x)
                    && (rect.y - 1e-9..=rect.bottom() + 1e-9).contains(&y)
            };
            assert!(lines.iter().flatten().all(within), "{hatch:?}: {lines:?}");
        }
        // x + y from 30 to 82: the multiples of 6 from 30 to 78.
        assert_eq!(Hatch::Rising.lines(&rect).len(), 9);
        // y from 20 to 35: 24, 30.
        assert_eq!(Hatch::Level.lines(&rect).len(), 2);
    }

    #[test]
    fn lines_go_on_across_rectangles_that_touch() {
        let whole = Rect { x: 3.0, y: 7.0, width: 20.0, height: 11.0 };
        let parts = [whole, Rect { x: 13.0, ..whole }].map(|it| Rect { width: 10.0, ..it });
        for hatch in ALL {
            let length = |rect: &Rect| {
                let lines = hatch.lines(rect).into_iter();
                lines.map(|[a, b]| (b.0 - a.0).abs().max((b.1 - a.1).abs())).sum::<f64>()
            };
            let of_parts = parts.iter().map(length).sum::<f64>();
            assert!((length(&whole) - of_parts).abs() < 1e-9, "{hatch:?}");
        }
    }

    #[test]
    fn a_rectangle_of_any_size_has_a_bounded_number_of_lines() {
        let rect = Rect { x: -1e300, y: 0.0, width: 2e300, height: 1e12 };
        assert!(ALL.into_iter().all(|hatch| hatch.lines(&rect).len() <= 4000));
    }
}
