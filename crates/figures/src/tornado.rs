//! Tornado chart: horizontal bars from zero, a row for each thing, the longest first.

use super::chart::{self, Chart};
use super::check::{self, Allowed};
use super::number::short;
use super::page::{GAP_PX, LINE_PX, LegendEntry, Page, X_AXIS_PX, base_line, x_axis, x_grid};
use super::scale::Scale;
use super::scene::{Align, LABEL_PX, Rect, Scene, Text};
use super::text::{fit, width_px};
use super::{Caption, FigureError, Ink, Quantity, Rows, Sheet};
use xrsim_model::text::counted;

/// Bars from zero to both sides in rows, such as changes of a score by the level of a factor. Rows that have no space
/// are left out, and their number is written below.
#[derive(Debug, Clone, PartialEq)]
pub struct Tornado {
    /// Texts around the data.
    pub caption: Caption,
    /// Quantity of the bars.
    pub axis: Quantity,
    /// Meanings of the colours of the bars: 1 to 8. They are written if there are several.
    pub series: Vec<String>,
    /// Rows from top to bottom, that with the longest bar first: 1 to 1000.
    pub rows: Vec<TornadoRow>,
}

/// One row of a [`Tornado`].
#[derive(Debug, Clone, PartialEq)]
pub struct TornadoRow {
    /// Name on the left.
    pub name: String,
    /// Its bars: 1 to 8.
    pub bars: Vec<TornadoBar>,
}

/// One bar of a [`Tornado`], from zero to its value.
#[derive(Debug, Clone, PartialEq)]
pub struct TornadoBar {
    /// Index of its series, which has the colour.
    pub series: usize,
    /// Name at its end, such as the level of a factor. May be empty.
    pub label: String,
    /// Its length, with its sign.
    pub value: f64,
    /// Interval of the value, drawn as a whisker.
    pub range: Option<(f64, f64)>,
}

const MAX_SERIES: usize = 8;
const MAX_ROWS: usize = 1000;
const MAX_BARS: usize = 8;

/// Height of a bar \[px\]: that of its label.
const BAR_PX: f64 = 12.0;

/// Space between two rows \[px\].
const BETWEEN_PX: f64 = 5.0;

/// Most height of all rows, with which the figure is at most 6 in high in print \[px\].
const MAX_HEIGHT_PX: f64 = 560.0;

/// Largest share of the page that names take.
const NAMES: f64 = 0.46;

impl TornadoBar {
    fn values(&self) -> impl Iterator<Item = f64> {
        chart::ends(self.range).chain([self.value])
    }

    /// Draws the bar with its upper end at `y`.
    fn draw(&self, scene: &mut Scene, scale: &Scale, area: &Rect, y: f64) {
        let (zero, end) = (scale.at(0.0), scale.at(self.value));
        let bar = Rect::between((zero, y + 1.0), (end, y + BAR_PX - 1.0));
        if bar.width > 0.0 {
            scene.area_of_series(bar, self.series);
        }
        let middle = y + BAR_PX / 2.0;
        let mut ends = [zero.min(end), zero.max(end)];
        if let Some((low, high)) = self.range {
            let [low, high] = [low, high].map(|it| scale.at(it));
            scene.whisker([(low, middle), (high, middle)], (0.0, 2.5), 1.0);
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
        self.bars.len() as f64 * BAR_PX + BETWEEN_PX
    }

    /// Largest value without its sign.
    fn largest(&self) -> f64 {
        self.bars.iter().map(|bar| bar.value.abs()).fold(0.0, f64::max)
    }
}

impl Tornado {
    /// The rows that have space, and the others.
    fn shown(&self) -> (&[TornadoRow], &[TornadoRow]) {
        let mut height = 0.0;
        let has_space = |row: &&TornadoRow| {
            height += row.height_px();
            height <= MAX_HEIGHT_PX
        };
        let n = self.rows.iter().take_while(has_space).count();
        self.rows.split_at(n)
    }

    /// Scale with room for the labels at both sides.
    fn scale(rows: &[TornadoRow], axis: &Quantity, width: f64) -> Scale {
        let bars = || rows.iter().flat_map(|row| &row.bars);
        let values = bars().flat_map(TornadoBar::values);
        let ends =
            values.fold((0.0f64, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = axis.ends(ends);
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
            (self.series.len(), MAX_SERIES, "series"),
            (self.rows.len(), MAX_ROWS, "rows"),
        ])?;
        for row in &self.rows {
            check::amount(row.bars.len(), MAX_BARS, "bars in a row")?;
            for bar in &row.bars {
                let what = || format!("series of a bar of `{}`", row.name);
                check::reference(bar.series, self.series.len(), what)?;
                for value in bar.values() {
                    let what = || format!("`{}` of `{}`", bar.label, row.name);
                    check::number(value, Allowed::Finite, what)?;
                }
            }
        }
        Ok(())
    }

    fn description(&self) -> String {
        let names: Vec<_> = self.shown().0.iter().map(|row| row.name.as_str()).collect();
        format!(
            "Horizontal bars of {} from zero in {}, from the top down: {}.",
            self.axis.title(),
            counted(names.len(), "row"),
            names.join(", ")
        )
    }

    fn legend(&self, _sheet: &Sheet) -> Vec<LegendEntry> {
        if self.series.len() > 1 { chart::areas(&self.series) } else { Vec::new() }
    }

    fn draw(&self, page: &mut Page) {
        let (rows, others) = self.shown();
        let widest = rows.iter().map(|row| width_px(&row.name, LABEL_PX, false));
        let most = NAMES * (page.right_px() - page.side_px());
        let names = widest.fold(0.0, f64::max).min(most);
        let x = page.side_px() + names + GAP_PX;
        page.top += 8.0;
        let height = rows.iter().map(TornadoRow::height_px).sum();
        let area = Rect { x, y: page.top, width: page.right_px() - x, height };
        let scale = Self::scale(rows, &self.axis, area.width).onto(area.x, area.right());
        x_grid(&mut page.scene, &area, &scale);
        let mut y = area.y + BETWEEN_PX / 2.0;
        for row in rows {
            page.scene.group(&row.name, |scene| {
                for (bar, index) in row.bars.iter().zip(0..) {
                    bar.draw(scene, &scale, &area, y + f64::from(index) * BAR_PX);
                }
                let name = fit(&row.name, LABEL_PX, false, names);
                let at = (x - GAP_PX, y + (row.height_px() - BETWEEN_PX) / 2.0);
                scene.text(Text::label(name, at).aligned(Align::End).centred());
            });
            y += row.height_px();
        }
        let zero = scale.at(0.0);
        page.scene.segment((zero, area.y), (zero, area.bottom()), 1.0, Ink::AXIS);
        base_line(&mut page.scene, &area, area.bottom());
        x_axis(&mut page.scene, &area, &scale);
        page.top = area.bottom() + X_AXIS_PX;
        page.x_title(&self.axis.title(), x);
        if let Some(next) = others.first() {
            let more = counted(others.len(), "more row");
            let text = format!("{more} with bars of at most {}", short(next.largest()));
            let at = (page.side_px(), page.top + 10.0);
            page.scene.text(Text::label(text, at).inked(Ink::QUIET));
            page.top += LINE_PX;
        }
    }

    /// `row,series,label,value,low,high`, a row for each bar.
    fn table(&self) -> Rows {
        let mut rows = Vec::new();
        for row in &self.rows {
            for bar in &row.bars {
                let series = self.series.get(bar.series).cloned().unwrap_or_default();
                let mut cells = vec![row.name.clone(), series, bar.label.clone()];
                cells.extend(chart::cells(Some(bar.value), bar.range));
                rows.push(cells);
            }
        }
        Rows::new(["row", "series", "label", "value", "low", "high"], rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Figure as _;
    use super::super::tests::{Sample, VALUE, caption, names, rects};
    use super::*;

    fn bar(series: usize, label: &str, value: f64) -> TornadoBar {
        TornadoBar { series, label: label.into(), value, range: Some((value, value)) }
    }

    impl Sample for Tornado {
        const TEXTS: &[&str] = &["bandwidth", "energy", "x0.5", "x2", "Change of score", "less"];

        fn sample(value: f64) -> Self {
            let row = |name: &str| TornadoRow {
                name: name.into(),
                bars: vec![bar(0, "x0.5", -1.0), bar(1, "x2", value)],
            };
            Self {
                caption: caption(),
                axis: Quantity::new("Change of score", ""),
                series: names(&["less", "more"]),
                rows: ["bandwidth", "energy"].map(row).to_vec(),
            }
        }

        fn empty() -> (Self, &'static str) {
            (Self { rows: Vec::new(), ..Self::sample(VALUE) }, "rows")
        }
    }

    #[test]
    fn bars_leave_zero_to_the_side_of_their_sign_in_proportion_to_their_values() {
        let chart = Tornado::sample(2.0);
        let scene = chart.scene().expect("the chart can be drawn");
        // The first of each colour is its key.
        let [left, right] = [0, 1].map(|series| rects(&scene, Ink::series(series))[1]);
        assert!((left.right() - right.x).abs() < 1e-9, "both begin at zero");
        assert!((right.width - 2.0 * left.width).abs() < 1e-9, "{left:?} {right:?}");
        assert_eq!(right.y - left.y, BAR_PX);
    }

    #[test]
    fn rows_without_space_are_counted_and_no_page_is_higher_than_six_inches() {
        let row = |at: u32| TornadoRow {
            name: format!("factor {at}"),
            bars: vec![bar(0, "x0.5", -1.0 / f64::from(at)), bar(1, "x2", 0.0)],
        };
        let chart = Tornado { rows: (1..=40).map(row).collect(), ..Tornado::sample(VALUE) };
        let column = Sheet::printed(3.3 * 72.0).expect("a width that is allowed");
        let scene = chart.scene_on(&column).expect("the chart can be drawn");
        // 560 px are 19 rows of two bars: 19 x 29 = 551. The largest of the others is 1/20.
        assert!(scene.texts().any(|text| text == "21 more rows with bars of at most 0.05"));
        assert!(scene.texts().any(|text| text == "factor 19"));
        assert!(scene.height_px * column.width_pt() / scene.width_px() <= 6.0 * 72.0);
        assert_eq!(chart.rows().rows.len(), 80, "the data have all of them");
    }

    #[test]
    fn a_bar_of_a_series_that_is_not_there_is_refused() {
        let chart = Tornado { series: names(&["less"]), ..Tornado::sample(VALUE) };
        let error = chart.scene().expect_err("no such series");
        assert_eq!(error.to_string(), "series of a bar of `bandwidth` is number 1 of 1");
    }
}
