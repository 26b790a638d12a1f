//! The law of power at operating points, as far as published powers show it. Nothing computes with it.

use super::{Point, Points};

/// P = a V^2 f + b V, or without b: a fit of the published powers of points by least squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerLaw {
    /// Energy of switching \[mW / (V^2 MHz)\].
    pub a: f64,
    /// Leakage \[mW / V\]; 0 without this term.
    pub b: f64,
    /// Largest and mean error of the powers, relative to the published ones.
    pub errors: [f64; 2],
}

impl PowerLaw {
    /// The law with and without leakage that fits `points` best; `None` without powers.
    pub fn of(points: &Points) -> Option<[Self; 2]> {
        let rows: Vec<[f64; 3]> = points
            .all()
            .iter()
            .zip(points.powers_mw())
            .map(|(&Point { clock, volt }, mw)| [volt * volt * clock.as_mhz(), volt, *mw])
            .collect();
        let product = |i: usize, j: usize| rows.iter().map(|row| row[i] * row[j]).sum::<f64>();
        let determinant = product(0, 0) * product(1, 1) - product(0, 1) * product(0, 1);
        if rows.is_empty() || rows.iter().any(|row| row[2] <= 0.0) {
            return None;
        }
        let fit = |a: f64, b: f64| {
            let errors = rows.iter().map(|row| ((a * row[0] + b * row[1]) / row[2] - 1.0).abs());
            let (largest, sum) =
                errors.fold((0.0, 0.0), |(largest, sum), it| (it.max(largest), sum + it));
            Self { a, b, errors: [largest, sum / rows.len() as f64] }
        };
        let alone = fit(product(0, 2) / product(0, 0), 0.0);
        if determinant <= 0.0 {
            return Some([alone; 2]);
        }
        let a = (product(0, 2) * product(1, 1) - product(1, 2) * product(0, 1)) / determinant;
        let b = (product(1, 2) * product(0, 0) - product(0, 2) * product(0, 1)) / determinant;
        Some([fit(a, b), alone])
    }
}
