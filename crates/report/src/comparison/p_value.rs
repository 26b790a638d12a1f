//! p-values as text.

/// Least p-value that is written.
const LEAST_P: f64 = 1e-4;

/// `0.0123` or `<0.0001`.
pub(crate) fn p_text(p: f64) -> String {
    if p < LEAST_P { format!("<{LEAST_P}") } else { format!("{p:.4}") }
}

/// `= 0.0123` or `< 0.0001`.
pub(super) fn p_relation(p: f64) -> String {
    if p < LEAST_P { format!("< {LEAST_P}") } else { format!("= {p:.4}") }
}
