//! Tornado chart: horizontal bars from zero, a row for each thing, the longest first.

use super::chart::{self, Chart};
use super::check::{self, Allowed};
use super::page::{GAP_PX, Page, X_AXIS_PX, base_line, x_axis, x_grid};
use super::scale::Scale;
use super::scene::{Align, LABEL_PX, Rect, Scene, Text};
use super::text::{fit, width_px};
use super::{Caption, FigureError, Ink, Quantity, Rows};
use xrsim_model::text::counted;

/// Bars from zero to both sides in rows, such as changes of a score by the level of a factor. Panels stand side
/// by side and share the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Tornado {
    /// Texts around the data.
    pub caption: Caption,
    /// Panels side by side: 1 to 3.
    pub panels: Vec<TornadoPanel>,
    /// Rows from top to bottom: 1 to 60.
    pub rows: Vec<TornadoRow>,
}

/// One panel of a [`Tornado`].
#[derive(Debug, Clone, PartialEq)]
pub struct TornadoPanel {
    /// Quantity of its bars.
    pub axis: Quantity,
}

/// One row of a [`Tornado`].
#[derive(Debug, Clone, PartialEq)]
pub struct TornadoRow {
    /// Name on the left.
    pub name: String,
    /// Bars of every panel, `[panel][bar]`: 1 to 8 bars in each.
    pub bars: Vec<Vec<TornadoBar>>,
}

/// One bar of a [`Tornado`], from zero to its value.
#[derive(Debug, Clone, PartialEq)]
pub struct TornadoBar {
    /// Name at its end, such as the level of a factor. May be empty.
    pub label: String,
    /// Its length, with its sign.
    pub value: f64,
    /// Interval of the value, drawn as a whisker.
    pub range: Option<(f64, f64)>,
}

const MAX_PANELS: usize = 3;
const MAX_ROWS: usize = 60;
const MAX_BARS: usize = 8;

/// Height of a bar \[px\]: that of its label.
const BAR_PX: f64 = 12.0;

/// Space between two rows \[px\].
const BETWEEN_PX: f64 = 5.0;

/// Space between two panels \[px\].
const GUTTER_PX: f64 = 14.0;

/// Largest share of the page that names take.
const NAMES: f64 = 0.38;

impl TornadoBar {
    fn values(&self) -> impl Iterator<Item = f64> {
        chart::ends(self.range).chain([self.value])
    }

    /// Draws the bar with its upper end at `y`.
    fn draw(&self, scene: &mut Scene, scale: &Scale, area: &Rect, y: f64, ink: Ink) {
        let (zero, end) = (scale.at(0.0), scale.at(self.value));
        let bar = Rect::between((zero, y + 1.0), (end, y + BAR_PX - 1.0));
        if bar.width > 0.0 {
            scene.rect(bar, ink);
        }
        let middle = y + BAR_PX / 2.0;
        let mut ends = [zero.min(end), zero.max(end)];
        if let Some((low, high)) = self.range {
            let [low, high] = [low, high].map(|it| scale.at(it));
            scene.whisker([(low, middle), (high, middle)], (0.0, 2.5), [1.0, 1.0]);
            ends = [ends[0].min(low), ends[1].max(high)];
        }
        // A bar of no length needs no name: the row says that there is no effect.
        if bar.width > 0.0 || self.range.is_some() {
            self.write_label(scene, area, ends, middle);
        }
    }

    /// Writes the label beyond the outer end of the bar, or on its other side if there is no room.
    fn write_label(&self, scene: &mut Scene, area: &Rect, [left, right]: [f64; 2], y: f64) {
        let width = width_px(&self.label, LABEL_PX, false) + 4.0;
        let fits_right = right + width <= area.right();
        let fits_left = left - width >= area.x;
        let text = Text::label(self.label.clone(), (right + 4.0, y));
        let text = match (self.value < 0.0, fits_left, fits_right) {
            (true, true, _) | (false, true, false) => {
                Text { at: (left - 4.0, text.at.1), ..text.aligned(Align::End) }
            }
            _ => text,
        };
        scene.text(text.centred());
    }
}

impl TornadoRow {
    /// Height of the row with the space to the next \[px\].
    fn height_px(&self) -> f64 {
        self.bars.iter().map(Vec::len).max().unwrap_or(0) as f64 * BAR_PX + BETWEEN_PX
    }
}

impl Tornado {
    /// Draws panels side by side, with the names of the rows on their left.
    fn draw_beside(&self, page: &mut Page, panels: &[usize]) {
        let widest = self.rows.iter().map(|row| width_px(&row.name, LABEL_PX, false));
        let most = NAMES * (page.right_px() - page.side_px());
        let names = widest.fold(0.0, f64::max).min(most);
        let left = page.side_px() + names + GAP_PX;
        let n = panels.len() as f64;
        let width = (page.right_px() - left - GUTTER_PX * (n - 1.0)) / n;
        page.top += 8.0;
        let top = page.top;
        let height: f64 = self.rows.iter().map(TornadoRow::height_px).sum();
        for (column, &panel) in panels.iter().enumerate() {
            let x = left + column as f64 * (width + GUTTER_PX);
            self.draw_panel(&mut page.scene, panel, Rect { x, y: top, width, height });
        }
        let mut y = top;
        for row in &self.rows {
            let name = fit(&row.name, LABEL_PX, false, names);
            let at = (left - GAP_PX, y + row.height_px() / 2.0);
            page.scene.text(Text::label(name, at).aligned(Align::End).centred());
            y += row.height_px();
        }
        page.top = top + height + X_AXIS_PX + 18.0;
    }

    fn draw_panel(&self, scene: &mut Scene, panel: usize, area: Rect) {
        let scale = self.scale(panel, area.width).onto(area.x, area.right());
        x_grid(scene, &area, &scale);
        let mut y = area.y + BETWEEN_PX / 2.0;
        for row in &self.rows {
            for (index, bar) in row.bars[panel].iter().enumerate() {
                bar.draw(scene, &scale, &area, y + index as f64 * BAR_PX, Ink::series(index));
            }
            y += row.height_px();
        }
        let zero = scale.at(0.0);
        scene.segment((zero, area.y), (zero, area.bottom()), 1.0, Ink::AXIS);
        base_line(scene, &area, area.bottom());
        x_axis(scene, &area, &scale);
        let title = fit(&self.panels[panel].axis.title(), LABEL_PX, false, area.width);
        let at = (area.centre_x(), area.bottom() + X_AXIS_PX + 13.0);
        scene.text(Text::label(title, at).aligned(Align::Middle));
    }

    /// Scale of a panel, with room for the labels at both sides.
    fn scale(&self, panel: usize, width: f64) -> Scale {
        let bars = || self.rows.iter().flat_map(|row| &row.bars[panel]);
        let values = bars().flat_map(TornadoBar::values);
        let (low, high) =
            values.fold((0.0f64, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        let span = if high > low { high - low } else { 1.0 };
        let widths = bars().map(|bar| width_px(&bar.label, LABEL_PX, false) + 8.0);
        let label = widths.fold(0.0, f64::max).min(width / 3.0);
        let room = label / (width - 2.0 * label).max(1.0) * span;
        let low = if low < 0.0 { low - room } else { 0.0 };
        Scale::exact(low, high.max(if low < 0.0 { 0.0 } else { span * 1e-3 }) + room, 4)
    }
}

impl Chart for Tornado {
    fn check(&self) -> Result<(), FigureError> {
        check::amounts(&[
            (self.panels.len(), MAX_PANELS, "panels"),
            (self.rows.len(), MAX_ROWS, "rows"),
        ])?;
        for row in &self.rows {
            let (found, expected) = (row.bars.len(), self.panels.len());
            check::length(found, expected, || format!("lists of bars of `{}`", row.name))?;
            for bars in &row.bars {
                check::amount(bars.len(), MAX_BARS, "bars in a row")?;
                for bar in bars {
                    for value in bar.values() {
                        let what = || format!("`{}` of `{}`", bar.label, row.name);
                        check::number(value, Allowed::Finite, what)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn description(&self) -> String {
        let axes: Vec<_> = self.panels.iter().map(|panel| panel.axis.title()).collect();
        format!(
            "Horizontal bars from zero in {}, from top to bottom: {}.",
            counted(self.rows.len(), "row"),
            axes.join(", ")
        )
    }

    fn draw(&self, page: &mut Page) {
        // The names of the rows take about the width of a panel.
        let columns = page.sheet().columns(self.panels.len() + 1) - 1;
        let panels: Vec<usize> = (0..self.panels.len()).collect();
        panels.chunks(columns.max(1)).for_each(|panels| self.draw_beside(page, panels));
    }

    /// `row,panel,label,value,low,high`, a row for each bar.
    fn table(&self) -> Rows {
        let mut rows = Vec::new();
        for row in &self.rows {
            for (panel, bars) in self.panels.iter().zip(&row.bars) {
                for bar in bars {
                    let mut cells = vec![row.name.clone(), panel.axis.title(), bar.label.clone()];
                    cells.extend(chart::cells(Some(bar.value), bar.range));
                    rows.push(cells);
                }
            }
        }
        Rows::new(["row", "panel", "label", "value", "low", "high"], rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Figure as _;
    use super::super::tests::{Sample, VALUE, caption, rects};
    use super::*;

    impl Sample for Tornado {
        const TEXTS: &[&str] = &["bandwidth", "energy", "x0.5", "x2", "Change of score", "1 - tau"];

        fn sample(value: f64) -> Self {
            let bar = |label: &str, value: f64| TornadoBar {
                label: label.into(),
                value,
                range: Some((value, value)),
            };
            let panel = |axis| TornadoPanel { axis: Quantity::new(axis, "") };
            let row = |name: &str| TornadoRow {
                name: name.into(),
                bars: vec![vec![bar("x0.5", -1.0), bar("x2", value)], vec![bar("x0.5", 0.5)]],
            };
            Self {
                caption: caption(),
                panels: ["Change of score", "1 - tau"].map(panel).to_vec(),
                rows: ["bandwidth", "energy"].map(row).to_vec(),
            }
        }

        fn empty() -> (Self, &'static str) {
            (Self { rows: Vec::new(), ..Self::sample(VALUE) }, "rows")
        }

        fn unequal() -> Option<Self> {
            let mut chart = Self::sample(VALUE);
            chart.rows[1].bars.pop();
            Some(chart)
        }
    }

    #[test]
    fn bars_leave_zero_to_the_side_of_their_sign_in_proportion_to_their_values() {
        let chart = Tornado::sample(2.0);
        let scene = chart.scene().expect("the chart can be drawn");
        let [left, ..] = rects(&scene, Ink::series(0))[..] else {
            panic!("bars of the first level")
        };
        let right = rects(&scene, Ink::series(1))[0];
        assert!((left.right() - right.x).abs() < 1e-9, "both begin at zero");
        assert!((right.width - 2.0 * left.width).abs() < 1e-9, "{left:?} {right:?}");
        assert_eq!(right.y - left.y, BAR_PX);
    }
}
