//! Rows with names along the left margin, one below the other.

use super::page::GAP_PX;
use super::scene::{Align, LABEL_PX, Rect, Scene, Text};
use super::text::{fit, width_px};

/// Height of a row \[px\].
pub(super) const ROW_PX: f64 = 17.0;

/// Largest share of the page that names take.
const MAX_SHARE: f64 = 0.6;

/// Names of rows, from the top down, and the space that they take.
pub(super) struct NamedRows {
    names: Vec<String>,
    /// Width from the margin to the data \[px\].
    pub width_px: f64,
}

impl NamedRows {
    /// Rows on a page `page_px` wide. Names are shortened only if they take more than 0.6 of it.
    pub(super) fn new(names: &[String], page_px: f64) -> Self {
        Self::within(names, MAX_SHARE * page_px)
    }

    /// Rows with names that are shortened to `most_px`.
    pub(super) fn within(names: &[String], most_px: f64) -> Self {
        let names: Vec<_> = names.iter().map(|name| fit(name, LABEL_PX, false, most_px)).collect();
        let widths = names.iter().map(|name| width_px(name, LABEL_PX, false));
        let width_px = widths.fold(0.0, f64::max) + GAP_PX;
        Self { names, width_px }
    }

    /// Height of all rows \[px\].
    pub(super) fn height_px(&self) -> f64 {
        self.names.len() as f64 * ROW_PX
    }

    /// Middle of the row at `index` of `area` \[px\].
    pub(super) fn middle(area: &Rect, index: usize) -> f64 {
        area.y + (index as f64 + 0.5) * ROW_PX
    }

    /// Writes the names to the left of `area`.
    pub(super) fn draw(&self, scene: &mut Scene, area: &Rect) {
        self.draw_at(scene, area.x, |index| Self::middle(area, index));
    }

    /// Writes the names to the left of `x`, each around the middle of its row.
    pub(super) fn draw_at(&self, scene: &mut Scene, x: f64, middle: impl Fn(usize) -> f64) {
        for (index, name) in self.names.iter().enumerate() {
            let at = (x - GAP_PX, middle(index));
            scene.text(Text::label(name.clone(), at).aligned(Align::End).centred());
        }
    }
}
