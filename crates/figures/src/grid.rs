//! Panels side by side and one below the other.

use super::page::{GAP_PX, Page, left_px};
use super::scale::Scale;
use super::scene::{LABEL_PX, Rect, Text};
use super::text::{broken, width_px};

/// Space between panels that share the labels of their y axis \[px\].
const GUTTER_PX: f64 = 28.0;

/// Height of a further line of a title \[px\].
const TITLE_PX: f64 = 13.0;

/// Most lines of a title.
const MAX_LINES: usize = 2;

/// Places of the panels of a chart: all of one size, row by row.
pub(super) struct Grid {
    columns: usize,
    /// Left end of the data of the first column \[px\].
    pub left: f64,
    /// From the left end of the data of a column to that of the next \[px\].
    pitch: f64,
    /// Width of the data of a panel \[px\].
    pub width: f64,
    height: f64,
}

impl Grid {
    /// Panels with data of this height in `columns`, with space for the labels of these y axes.
    pub(super) fn new<'a>(
        page: &Page,
        scales: impl IntoIterator<Item = &'a Scale>,
        columns: usize,
        height: f64,
    ) -> Self {
        let left = left_px(page.side_px(), scales);
        Self::spaced((left, page.right_px()), left - page.side_px(), columns, height)
    }

    /// Panels that share one y axis, whose labels stand left of the first column alone.
    pub(super) fn sharing(page: &Page, scale: &Scale, columns: usize, height: f64) -> Self {
        let left = left_px(page.side_px(), [scale]);
        Self::spaced((left, page.right_px()), GUTTER_PX, columns, height)
    }

    /// Panels from `left` to `right` with `room` between columns.
    fn spaced((left, right): (f64, f64), room: f64, columns: usize, height: f64) -> Self {
        let pitch = (right - left + room) / columns as f64;
        Self { columns, left, pitch, width: pitch - room, height }
    }

    /// One column of panels with data from `left` on.
    pub(crate) fn starting_at(page: &Page, left: f64, height: f64) -> Self {
        Self::spaced((left, page.right_px()), 0.0, 1, height)
    }

    /// Whether the panel at `index` is in the first column.
    pub(super) fn is_first(&self, index: usize) -> bool {
        index.is_multiple_of(self.columns)
    }

    /// Writes the titles of the panels down the page and returns the areas of their data. There is a space
    /// of `between_px` below every row, and of `below_px` below the last.
    pub(crate) fn areas(
        &self,
        page: &mut Page,
        titles: &[&str],
        between_px: f64,
        below_px: f64,
    ) -> Vec<Rect> {
        let mut areas = Vec::with_capacity(titles.len());
        for (row, titles) in titles.chunks(self.columns).enumerate() {
            page.top += if row == 0 { 0.0 } else { between_px };
            self.write_titles(page, titles);
            areas.extend((0..titles.len()).map(|column| self.area(column, page.top)));
            page.top += self.height;
        }
        page.top += below_px;
        areas
    }

    fn area(&self, column: usize, y: f64) -> Rect {
        let x = self.left + column as f64 * self.pitch;
        Rect { x, y, width: self.width, height: self.height }
    }

    fn write_titles(&self, page: &mut Page, titles: &[&str]) {
        if titles.iter().all(|title| title.is_empty()) {
            page.top += 8.0;
            return;
        }
        // A title may reach over the space between panels, but not to the next title.
        let most = self.width.max(self.pitch - GAP_PX);
        let lines = |title: &&str| broken(title, LABEL_PX, true, most, MAX_LINES);
        let titles: Vec<Vec<String>> = titles.iter().map(lines).collect();
        let n_lines = titles.iter().map(Vec::len).max().unwrap_or(1);
        for (column, lines) in titles.into_iter().enumerate() {
            // Titles of fewer lines stand beside the last ones, next to the data.
            let first = page.top + 14.0 + (n_lines - lines.len()) as f64 * TITLE_PX;
            for (line, baseline) in lines.into_iter().zip(0..) {
                let beyond = page.right_px() - width_px(&line, LABEL_PX, true);
                let x = self.area(column, 0.0).x.min(beyond.max(self.left));
                let at = (x, first + f64::from(baseline) * TITLE_PX);
                page.scene.text(Text::label(line, at).bold());
            }
        }
        page.top += 22.0 + n_lines.saturating_sub(1) as f64 * TITLE_PX;
    }
}
