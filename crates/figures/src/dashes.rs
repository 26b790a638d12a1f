//! Dashes: lines that differ in colour differ in their dashes too.

/// A point (x, y) \[px\].
type Point = (f64, f64);

/// Length of a step (x, y) \[px\]. Steps lie within a page, so that squares do not overflow; `hypot` would tie the
/// program to the C library of 2022.
pub(super) fn length((x, y): Point) -> f64 {
    (x * x + y * y).sqrt()
}

/// Lengths of dashes and of the spaces after them, in turn \[px\]. An empty list is a solid line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dashes(pub(super) &'static [f64]);

const PATTERNS: [Dashes; 6] = [
    Dashes(&[]),
    Dashes(&[6.0, 2.5]),
    Dashes(&[2.0, 2.0]),
    Dashes(&[8.0, 2.5, 2.0, 2.5]),
    Dashes(&[11.0, 3.0]),
    Dashes(&[5.0, 2.0, 1.5, 2.0, 1.5, 2.0]),
];

/// Most stretches that a line is cut into; the rest of a longer line is solid.
const MAX_STRETCHES: usize = 4000;

impl Dashes {
    /// No dashes.
    pub(super) const SOLID: Self = Self(&[]);

    /// Short dashes, the sign of limits.
    pub(super) const LIMIT: Self = Self(&[4.0, 2.5]);

    /// Dashes of the series at `index`.
    pub(super) fn series(index: usize) -> Self {
        PATTERNS[index % PATTERNS.len()]
    }

    /// The drawn stretches of a line.
    pub(super) fn cut(self, points: &[Point]) -> Vec<Vec<Point>> {
        let Some(&first) = points.first() else { return Vec::new() };
        if self.0.is_empty() {
            return vec![points.to_vec()];
        }
        let (mut at, mut left, mut is_drawn) = (0, self.0[0], true);
        let (mut stretches, mut stretch) = (Vec::new(), vec![first]);
        for pair in points.windows(2) {
            let (mut from, to) = (pair[0], pair[1]);
            loop {
                let (dx, dy) = (to.0 - from.0, to.1 - from.1);
                let length = length((dx, dy));
                if length <= left || stretches.len() >= MAX_STRETCHES {
                    left -= length;
                    stretch.push(to);
                    break;
                }
                from = (from.0 + dx * left / length, from.1 + dy * left / length);
                stretch.push(from);
                if is_drawn {
                    stretches.push(std::mem::take(&mut stretch));
                }
                at = (at + 1) % self.0.len();
                (left, is_drawn, stretch) = (self.0[at], !is_drawn, vec![from]);
            }
        }
        if is_drawn && stretch.len() > 1 {
            stretches.push(stretch);
        }
        stretches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_follow_a_line_around_its_corners() {
        let corner = vec![(0.0, 0.0), (3.0, 0.0), (3.0, 10.0)];
        // Dashes of 4 and 2.5: 0 to 4, 6.5 to 10.5, and the space from there to the end at 13.
        assert_eq!(
            Dashes::LIMIT.cut(&corner),
            [vec![(0.0, 0.0), (3.0, 0.0), (3.0, 1.0)], vec![(3.0, 3.5), (3.0, 7.5)]]
        );
        assert_eq!(Dashes::series(0).cut(&corner), vec![corner]);
        assert!(Dashes::LIMIT.cut(&[]).is_empty());
    }

    #[test]
    fn a_line_of_any_length_is_cut_into_a_bounded_number() {
        let line = vec![(0.0, 0.0), (1e12, 0.0)];
        assert!(Dashes::series(2).cut(&line).len() <= MAX_STRETCHES + 1);
    }
}
