//! Fronts: dominance and hypervolume. Larger is better in every objective.

use super::goal::is_below;

/// Whether `a` is at least as good as `b` in every objective, up to rounding.
pub(super) fn covers(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(&a, &b)| !is_below(a, b))
}

/// Volume that `points` dominate above `reference`, in two or three objectives. Points that are not above it
/// in every objective add nothing.
///
/// In two objectives the area under a staircase; in three the sum over slabs between successive values of
/// the third. Takes O(n²) time.
pub fn hypervolume(points: &[Vec<f64>], reference: &[f64]) -> f64 {
    let above = |point: &&Vec<f64>| point.iter().zip(reference).all(|(at, low)| at > low);
    let mut points: Vec<&[f64]> = points.iter().filter(above).map(Vec::as_slice).collect();
    match reference {
        [x, y] => area(&points, *x, *y),
        [x, y, z] => {
            points.sort_by(|a, b| b[2].total_cmp(&a[2]));
            let mut volume = 0.0;
            for end in 1..=points.len() {
                let below = points.get(end).map_or(*z, |next| next[2]);
                let height = points[end - 1][2] - below;
                if height > 0.0 {
                    volume += height * area(&points[..end], *x, *y);
                }
            }
            volume
        }
        _ => f64::NAN,
    }
}

/// Area that points dominate above (`x`, `y`) in their first two objectives.
fn area(points: &[&[f64]], x: f64, y: f64) -> f64 {
    let mut points: Vec<_> = points.iter().map(|point| (point[0], point[1])).collect();
    points.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut area, mut top) = (0.0, y);
    for (at, height) in points {
        if height > top {
            area += (at - x) * (height - top);
            top = height;
        }
    }
    area
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_volume_of_a_staircase_is_that_of_its_rectangles() {
        let points = vec![vec![1.0, 3.0], vec![2.0, 2.0], vec![3.0, 1.0], vec![1.0, 1.0]];
        assert_eq!(hypervolume(&points, &[0.0, 0.0]), 6.0);
        assert_eq!(hypervolume(&points, &[1.0, 0.0]), 3.0);
        assert_eq!(hypervolume(&[], &[0.0, 0.0]), 0.0);
    }

    /// Two unit-deep boxes of 2 x 2 and 1 x 3 whose common part is 1 x 2, and a third above the first.
    #[test]
    fn the_volume_of_boxes_counts_common_parts_once() {
        let points = vec![vec![2.0, 2.0, 1.0], vec![1.0, 3.0, 1.0], vec![1.0, 1.0, 2.0]];
        assert_eq!(hypervolume(&points, &[0.0, 0.0, 0.0]), 6.0 - 1.0 + 1.0);
    }

    #[test]
    fn equal_points_cover_each_other() {
        assert!(covers(&[1.0, 2.0], &[1.0, 2.0]) && covers(&[1.0, 2.0], &[1.0, 1.0]));
        assert!(!covers(&[1.0, 2.0], &[2.0, 1.0]));
    }

    /// 0.1 + 0.2 is more than 0.3 by rounding alone.
    #[test]
    fn the_order_of_a_sum_does_not_part_two_points() {
        let (a, b) = ([0.5, -(0.1 + 0.2)], [0.4, -0.3]);
        assert!(a[1] < b[1] && covers(&a, &b) && !covers(&b, &a));
        assert!(!covers(&[0.5, -0.3 * (1.0 + 1e-11)], &b));
    }
}
