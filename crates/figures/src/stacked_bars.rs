//! Stacked bars: the parts of a quantity for many things side by side.

use super::chart::{self, Chart};
use super::check::{self, Allowed};
use super::grid::Grid;
use super::named_rows::{NamedRows, ROW_PX};
use super::number::{alike, brief};
use super::page::{
    Categories, GAP_PX, LegendEntry, Page, X_AXIS_PX, base_line, x_axis, x_grid, y_axis,
};
use super::placement::Placement;
use super::scale::Scale;
use super::scene::{Align, LABEL_PX, Point, Rect, Scene, Text};
use super::text::width_px;
use super::{Caption, FigureError, Ink, Quantity, Rows, Sheet};
use xrsim_model::text::{cell, counted};

/// A bar for every category, stacked from series, in panels below each other: energy by component
/// or cycles by bound, layer by layer and a panel a dataflow.
#[derive(Debug, Clone, PartialEq)]
pub struct StackedBars {
    /// Texts around the data.
    pub caption: Caption,
    /// Kind of the categories.
    pub category_axis: String,
    /// Quantity of the bars.
    pub value_axis: Quantity,
    /// Names of the bars: 1 to 2000. They stand below the bars if there is space for all side by side; otherwise bars
    /// lie in rows with names. Of more than 40 bars without space only the highest have names.
    pub categories: Vec<String>,
    /// Parts of the bars, from the bottom up: 1 to 16.
    pub series: Vec<String>,
    /// The panels, from the top down: 1 to 12, with at most 100 000 parts of bars in all.
    pub panels: Vec<StackPanel>,
    /// Whether all panels have one scale, that of the highest bar.
    pub shared_scale: bool,
    /// Whether bars lie in rows even if there is space for their names side by side. Their heights are then told apart.
    pub in_rows: bool,
}

/// One panel of [`StackedBars`].
#[derive(Debug, Clone, PartialEq)]
pub struct StackPanel {
    /// Title of the panel. May be empty.
    pub title: String,
    /// Heights, `[series][category]`, none negative.
    pub values: Vec<Vec<f64>>,
}

const MAX_CATEGORIES: usize = 2000;
const MAX_SERIES: usize = 16;
const MAX_PANELS: usize = 12;
const MAX_PARTS: usize = 100_000;

/// Least width of a category for bars with gaps; narrower bars touch \[px\].
const MIN_SLOT_PX: f64 = 5.0;

/// Widest bar \[px\].
const MAX_BAR_PX: f64 = 60.0;

/// Most bars of a panel that have names if not all have.
const N_NAMED: usize = 5;

/// Most bars one below the other, in all panels.
const MAX_ROWS: usize = 40;

/// Height of the total of an upright bar, and space between totals side by side \[px\].
const TOTAL_PX: f64 = 14.0;
const TOTAL_GAP_PX: f64 = 3.0;

/// Least height of parts with a line between them \[px\].
const MIN_PART_PX: f64 = 3.0;

impl StackedBars {
    /// A scale of about `count` steps for each panel.
    fn scales(&self, count: usize) -> Vec<Scale> {
        let highest: Vec<f64> = self.panels.iter().map(StackPanel::highest).collect();
        let of_all = highest.iter().copied().fold(0.0, f64::max);
        let count = count.max(2);
        let ends = highest.iter().map(|&own| if self.shared_scale { of_all } else { own });
        ends.map(|end| Scale::linear(0.0, end, count)).collect()
    }

    /// Height of the data of a panel \[px\].
    fn panel_height(&self) -> f64 {
        match self.panels.len() {
            1 => 300.0,
            2 => 200.0,
            _ => 140.0,
        }
    }

    /// Widest height of a bar as text \[px\].
    fn widest_total(&self) -> f64 {
        let totals = self.panels.iter().flat_map(|panel| self.total_texts(panel)).flatten();
        totals.map(|it| width_px(&it, LABEL_PX, false)).fold(0.0, f64::max)
    }

    /// Height of every bar of a panel as text; `None` of 0. Those of rows are told apart.
    fn total_texts(&self, panel: &StackPanel) -> Vec<Option<String>> {
        let totals = panel.totals();
        let texts = match self.in_rows {
            true => alike(&totals),
            false => totals.iter().map(|&it| brief(it)).collect(),
        };
        totals.iter().zip(texts).map(|(total, text)| (*total > 0.0).then_some(text)).collect()
    }

    /// Draws bars side by side, with names below them, or with those of the highest beside them.
    fn draw_upright(&self, page: &mut Page, names: &Categories, height: f64) {
        let scales = self.scales((height / 20.0) as usize);
        let width = Grid::new(page, &scales, 1, height).width;
        let slot = width / self.categories.len() as f64;
        let are_named = names.are_level();
        let has_totals = are_named && self.widest_total() + TOTAL_GAP_PX <= slot;
        let head = if has_totals { TOTAL_PX } else { 0.0 };
        let grid = Grid::new(page, &scales, 1, height + head);
        let titles: Vec<_> = self.panels.iter().map(|panel| panel.title.as_str()).collect();
        let top = page.top;
        let areas = grid.areas(page, &titles, 8.0, if are_named { names.depth_px() } else { 6.0 });
        for ((panel, scale), area) in self.panels.iter().zip(&scales).zip(&areas) {
            let area = Rect { y: area.y + head, height: area.height - head, ..*area };
            let bars = Bars::upright(area, scale, self.categories.len());
            y_axis(&mut page.scene, &area, &bars.scale);
            panel.draw(&mut page.scene, &self.series, &bars);
            base_line(&mut page.scene, &area, area.bottom());
            match are_named {
                true => names.ticks(&mut page.scene, &area),
                false => panel.name_highest(&mut page.scene, &self.categories, &bars),
            }
            if has_totals {
                panel.write_totals(&mut page.scene, &bars, self.total_texts(panel));
            }
        }
        let last = areas[areas.len() - 1];
        page.y_title(&self.value_axis.title(), top, last.bottom());
        if are_named {
            names.draw(&mut page.scene, &last);
            page.x_title(&self.category_axis, grid.left);
        } else {
            let (axis, n) = (&self.category_axis, self.categories.len());
            page.x_title(&format!("{axis}: {n} in order, the highest with their names"), grid.left);
        }
    }

    /// Draws bars one below the other, with names and heights at their ends.
    fn draw_rows(&self, page: &mut Page) {
        let names = NamedRows::new(&self.categories, page.right_px() - page.side_px());
        let left = page.side_px() + names.width_px;
        let width = page.right_px() - left;
        let room = (self.widest_total() + GAP_PX / 2.0).min(width / 2.0);
        let scales = self.scales((width / 60.0) as usize);
        let grid = Grid::starting_at(page, left, names.height_px());
        let titles: Vec<_> = self.panels.iter().map(|panel| panel.title.as_str()).collect();
        let areas = grid.areas(page, &titles, X_AXIS_PX, X_AXIS_PX);
        for ((panel, scale), area) in self.panels.iter().zip(&scales).zip(&areas) {
            let area = Rect { width: area.width - room, ..*area };
            let bars = Bars::in_rows(area, scale);
            x_grid(&mut page.scene, &area, &bars.scale);
            panel.draw(&mut page.scene, &self.series, &bars);
            names.draw(&mut page.scene, &area);
            panel.write_totals(&mut page.scene, &bars, self.total_texts(panel));
            base_line(&mut page.scene, &area, area.bottom());
            x_axis(&mut page.scene, &area, &bars.scale);
        }
        page.x_title(&self.value_axis.title(), left);
    }
}

impl StackPanel {
    /// Height of every stack.
    fn totals(&self) -> Vec<f64> {
        let categories = self.values.first().map_or(0, Vec::len);
        let total = |category: usize| self.values.iter().map(|series| series[category]).sum();
        (0..categories).map(total).collect()
    }

    /// Height of the highest stack.
    fn highest(&self) -> f64 {
        self.totals().into_iter().fold(0.0, f64::max)
    }

    /// Draws the parts series by series, each with the names of `series`.
    fn draw(&self, scene: &mut Scene, series: &[String], bars: &Bars) {
        let mut feet = vec![0.0; self.values.first().map_or(0, Vec::len)];
        for (index, (name, values)) in series.iter().zip(&self.values).enumerate() {
            let draw = |scene: &mut Scene| {
                for (category, (value, foot)) in values.iter().zip(&mut feet).enumerate() {
                    let part = bars.part(category, (*foot, *foot + value));
                    let is_upon = *foot > 0.0;
                    *foot += value;
                    let length = bars.length(&part);
                    if length <= 0.0 {
                        continue;
                    }
                    scene.area_of_series(part, index);
                    if bars.are_apart() && is_upon && length > MIN_PART_PX {
                        let [from, to] = bars.foot(&part);
                        scene.segment(from, to, 0.8, Ink::WHITE);
                    }
                }
            };
            match bars.are_apart() {
                true => scene.group(name, draw),
                false => scene.crisp_group(name, draw),
            }
        }
    }

    /// Writes the height of every bar after its end.
    fn write_totals(&self, scene: &mut Scene, bars: &Bars, texts: Vec<Option<String>>) {
        let totals = self.totals();
        scene.group("totals", |scene| {
            for (category, (total, text)) in totals.into_iter().zip(texts).enumerate() {
                let Some(text) = text else { continue };
                let (at, align) = bars.after(category, total);
                scene.text(Text::label(text, at).aligned(align).centred());
            }
        });
    }

    /// Writes the names of the highest bars beside their upper ends, of as many as have a place.
    fn name_highest(&self, scene: &mut Scene, names: &[String], bars: &Bars) {
        let totals = self.totals();
        let bar = |category: usize| bars.slot_of(category, totals[category]);
        let mut placement = Placement::within(bars.area);
        (0..totals.len()).for_each(|category| placement.keep_clear_of(bar(category)));
        let mut highest: Vec<usize> = (0..totals.len()).filter(|&it| totals[it] > 0.0).collect();
        highest.sort_by(|&a, &b| totals[b].total_cmp(&totals[a]).then(a.cmp(&b)));
        highest.truncate(N_NAMED);
        // The labels of `chosen`, of which each takes the place of the later ones; `None` for one without a place.
        let place = |chosen: &[usize]| {
            let mut placement = placement.clone();
            let label = |&category: &usize| {
                let bar = bar(category);
                placement.place_bar(&names[category], (bar.centre_x(), bar.y), bar.width / 2.0)
            };
            chosen.iter().map(label).collect::<Vec<_>>()
        };
        let place_all = |chosen: &[usize]| place(chosen).into_iter().collect::<Option<Vec<_>>>();
        // The more names have a place the better; the order decides about it.
        let placed = (1..=highest.len()).rev().find_map(|n| {
            let mut chosen = highest[..n].to_vec();
            chosen.sort_unstable();
            place_all(&chosen).or_else(|| {
                chosen.reverse();
                place_all(&chosen)
            })
        });
        let each = || place(&highest).into_iter().flatten().collect();
        placed.unwrap_or_else(each).into_iter().for_each(|label| label.draw(scene));
    }
}

/// Places of the bars of a panel.
struct Bars {
    area: Rect,
    scale: Scale,
    /// From the middle of a bar to that of the next \[px\].
    slot: f64,
    /// Width of a bar \[px\].
    width: f64,
    /// Whether bars stand side by side; otherwise they lie one below the other.
    upright: bool,
}

impl Bars {
    /// `count` bars that stand on the lower edge of `area`.
    fn upright(area: Rect, scale: &Scale, count: usize) -> Self {
        let slot = area.width / count as f64;
        let width = if slot >= MIN_SLOT_PX { (0.8 * slot).min(MAX_BAR_PX) } else { slot };
        Self { area, scale: scale.onto(area.bottom(), area.y), slot, width, upright: true }
    }

    /// Bars in the rows of `area`.
    fn in_rows(area: Rect, scale: &Scale) -> Self {
        let scale = scale.onto(area.x, area.right());
        Self { area, scale, slot: ROW_PX, width: 0.75 * ROW_PX, upright: false }
    }

    /// Whether there is space between bars.
    fn are_apart(&self) -> bool {
        self.width < self.slot
    }

    /// Middle of a bar across its length \[px\].
    fn middle(&self, category: usize) -> f64 {
        let first = if self.upright { self.area.x } else { self.area.y };
        first + (category as f64 + 0.5) * self.slot
    }

    /// The part of a bar between two values.
    fn part(&self, category: usize, values: (f64, f64)) -> Rect {
        self.stretch(category, values, self.width)
    }

    /// A bar up to `value` with the space around it.
    fn slot_of(&self, category: usize, value: f64) -> Rect {
        self.stretch(category, (0.0, value), self.slot)
    }

    fn stretch(&self, category: usize, (from, to): (f64, f64), width: f64) -> Rect {
        let first = self.middle(category) - width / 2.0;
        let (from, to) = (self.scale.at(from), self.scale.at(to));
        match self.upright {
            true => Rect::between((first, from), (first + width, to)),
            false => Rect::between((from, first), (to, first + width)),
        }
    }

    /// Length of a part along its bar \[px\].
    fn length(&self, part: &Rect) -> f64 {
        if self.upright { part.height } else { part.width }
    }

    /// The edge of a part next to the foot of its bar.
    fn foot(&self, part: &Rect) -> [Point; 2] {
        match self.upright {
            true => [(part.x, part.bottom()), (part.right(), part.bottom())],
            false => [(part.x, part.y), (part.x, part.bottom())],
        }
    }

    /// Place of a label after the end of a bar.
    fn after(&self, category: usize, value: f64) -> (Point, Align) {
        let (middle, end) = (self.middle(category), self.scale.at(value));
        match self.upright {
            true => ((middle, end - TOTAL_PX / 2.0), Align::Middle),
            false => ((end + GAP_PX / 2.0, middle), Align::Start),
        }
    }
}

impl Chart for StackedBars {
    fn check(&self) -> Result<(), FigureError> {
        let parts = self.categories.len() * self.series.len() * self.panels.len();
        check::amounts(&[
            (self.categories.len(), MAX_CATEGORIES, "categories"),
            (self.series.len(), MAX_SERIES, "series"),
            (self.panels.len(), MAX_PANELS, "panels"),
            (parts, MAX_PARTS, "parts of bars"),
        ])?;
        let names = (&*self.series, &*self.categories);
        self.panels.iter().try_for_each(|panel| {
            let title = ("values", Some(&*panel.title));
            check::matrix(&panel.values, names, title, |value| [*value], Allowed::NonNegative)
        })
    }

    fn description(&self) -> String {
        format!(
            "Stacked bars of {}: {} ({}) in {}; from the foot up: {}.",
            self.value_axis.title(),
            counted(self.categories.len(), "bar"),
            self.category_axis,
            counted(self.panels.len(), "panel"),
            self.series.join(", "),
        )
    }

    fn legend(&self, _sheet: &Sheet) -> Vec<LegendEntry> {
        chart::areas(&self.series)
    }

    fn draw(&self, page: &mut Page) {
        let height = page.sheet().height_px(self.panel_height());
        let scales = self.scales((height / 20.0) as usize);
        let width = Grid::new(page, &scales, 1, height).width;
        let names = Categories::new(&self.categories, width);
        let n_bars = self.categories.len() * self.panels.len();
        match !self.in_rows && names.are_level() || n_bars > MAX_ROWS {
            true => self.draw_upright(page, &names, height),
            false => self.draw_rows(page),
        }
    }

    /// `panel,category,series,value`, a row for each part of a bar.
    fn table(&self) -> Rows {
        let mut rows = Vec::new();
        for panel in &self.panels {
            for (series, values) in self.series.iter().zip(&panel.values) {
                for (category, value) in self.categories.iter().zip(values) {
                    rows.push(vec![
                        panel.title.clone(),
                        category.clone(),
                        series.clone(),
                        cell(*value),
                    ]);
                }
            }
        }
        Rows::new(["panel", "category", "series", "value"], rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Figure as _;
    use super::super::tests::{Sample, VALUE, caption, names, rects, strokes};
    use super::*;

    impl Sample for StackedBars {
        const TEXTS: &[&str] =
            &["conv1", "conv2", "MAC", "DRAM", "Weight stationary", "Layer", "Energy [J]"];

        fn sample(value: f64) -> Self {
            Self {
                caption: caption(),
                category_axis: "Layer".into(),
                value_axis: Quantity::new("Energy", "J"),
                categories: names(&["conv1", "conv2"]),
                series: names(&["MAC", "DRAM"]),
                panels: vec![StackPanel {
                    title: "Weight stationary".into(),
                    values: vec![vec![1.0, 2.0], vec![0.0, value]],
                }],
                shared_scale: false,
                in_rows: false,
            }
        }

        fn empty() -> (Self, &'static str) {
            (Self { categories: vec![], ..Self::sample(VALUE) }, "categories")
        }

        fn crowded(names: Vec<String>) -> Option<(Self, &'static str)> {
            Some((Self { series: names, ..Self::sample(VALUE) }, "series"))
        }

        fn unequal() -> Option<Self> {
            let mut chart = Self::sample(VALUE);
            chart.panels[0].values[1].pop();
            Some(chart)
        }
    }

    fn chart(panels: &[[[f64; 2]; 2]]) -> StackedBars {
        let panel = |values: &[[f64; 2]; 2]| StackPanel {
            title: String::new(),
            values: values.iter().map(|series| series.to_vec()).collect(),
        };
        StackedBars {
            caption: Caption::default(),
            category_axis: String::new(),
            value_axis: Quantity::new("Energy", "J"),
            categories: vec!["a".into(), "b".into()],
            series: vec!["MAC".into(), "DRAM".into()],
            panels: panels.iter().map(panel).collect(),
            shared_scale: true,
            in_rows: false,
        }
    }

    #[test]
    fn parts_of_a_bar_are_as_high_as_their_values_and_stand_on_each_other() {
        // The highest stack is 1 + 3 = 4, the scale 0 to 4 over 300 px: 75 px a joule.
        let scene = chart(&[[[1.0, 2.0], [3.0, 0.0]]]).scene().expect("the chart can be drawn");
        let legend = 1; // the first rectangle of a colour is its key
        let mac = &rects(&scene, Ink::series(0))[legend..];
        let dram = &rects(&scene, Ink::series(1))[legend..];
        let heights = |bars: &[Rect]| bars.iter().map(|bar| bar.height).collect::<Vec<_>>();
        assert_eq!((heights(mac), heights(dram)), (vec![75.0, 150.0], vec![225.0]));
        assert_eq!((dram[0].bottom(), dram[0].x, dram[0].width), (mac[0].y, mac[0].x, 60.0));
        assert_eq!(mac[0].bottom(), mac[1].bottom());
        let axis = &strokes(&scene, Ink::AXIS)[0];
        assert_eq!(axis[0].1, mac[0].bottom());
        // Two slots share the width of the axis, each with a bar in its middle.
        assert_eq!(mac[1].x - mac[0].x, (axis[1].0 - axis[0].0) / 2.0);
    }

    #[test]
    fn panels_share_a_scale_only_if_told_to() {
        let mut chart = chart(&[[[1.0, 0.0], [0.0, 0.0]], [[4.0, 0.0], [0.0, 0.0]]]);
        let heights = |chart: &StackedBars| {
            let scene = chart.scene().expect("the chart can be drawn");
            let bars = rects(&scene, Ink::series(0));
            bars[1..].iter().map(|bar| bar.height).collect::<Vec<_>>()
        };
        assert_eq!(heights(&chart), [50.0, 200.0]);
        chart.shared_scale = false;
        assert_eq!(heights(&chart), [200.0, 200.0]);
    }

    #[test]
    fn six_hundred_layers_touch_and_have_few_names() {
        let chart = StackedBars {
            categories: (0..600).map(|layer| format!("layer {layer}")).collect(),
            panels: vec![StackPanel { title: String::new(), values: vec![vec![1.0; 600]; 2] }],
            ..chart(&[])
        };
        let scene = chart.scene().expect("the chart can be drawn");
        let bars = &rects(&scene, Ink::series(0))[1..];
        assert_eq!(bars.len(), 600);
        assert!(bars.windows(2).all(|pair| (pair[0].right() - pair[1].x).abs() < 1e-9));
        let is_name = |text: &&String| text.starts_with("layer ");
        let named: Vec<_> = scene.texts().filter(is_name).collect();
        // Bars of equal heights take all of the panel.
        assert!(named.is_empty(), "{named:?}");
    }

    #[test]
    fn the_highest_of_many_bars_have_their_names_beside_them() {
        let height = |layer: usize| match layer {
            90 => 9.0,
            3 | 30 | 200 | 250 => 8.0,
            _ => 1.0,
        };
        let values = vec![(0..300).map(height).collect(), vec![0.0; 300]];
        let chart = StackedBars {
            categories: (0..300).map(|layer| format!("layer {layer}")).collect(),
            panels: vec![StackPanel { title: String::new(), values }],
            ..chart(&[])
        };
        let scene = chart.scene().expect("the chart can be drawn");
        let mut named: Vec<_> = scene.texts().filter(|it| it.starts_with("layer ")).collect();
        named.sort();
        assert_eq!(named, ["layer 200", "layer 250", "layer 3", "layer 30", "layer 90"]);
    }

    #[test]
    fn bars_whose_names_do_not_fit_side_by_side_lie_in_rows_with_all_names() {
        let names: Vec<String> =
            (0..14).map(|at| format!("a system with accelerator {at}")).collect();
        let values = vec![vec![1.0; 14], (0..14).map(f64::from).collect()];
        let chart = StackedBars {
            categories: names.clone(),
            panels: vec![StackPanel { title: String::new(), values }],
            ..chart(&[])
        };
        let scene = chart.scene().expect("the chart can be drawn");
        assert!(names.iter().all(|name| scene.texts().any(|text| text == name)));
        let bars = &rects(&scene, Ink::series(1))[1..];
        // The first is zero; all others end in proportion to their values.
        assert_eq!(bars.len(), 13);
        assert!((bars[12].width - 13.0 * bars[0].width).abs() < 1e-9);
        assert_eq!(bars[1].y - bars[0].y, ROW_PX);
        // The totals are 1 to 14.
        assert!(["1.0", "9.0", "14"].iter().all(|total| scene.texts().any(|text| text == total)));
    }

    #[test]
    fn bars_lie_in_rows_where_they_are_asked_to_and_their_heights_are_told_apart() {
        let bars = StackedBars { in_rows: true, ..chart(&[[[1.0, 1.0], [0.76, 0.81]]]) };
        let scene = bars.scene().expect("the chart can be drawn");
        let drawn = &rects(&scene, Ink::series(1))[1..];
        assert_eq!(drawn[1].y - drawn[0].y, ROW_PX);
        // With two digits both are 1.8.
        assert!(["1.76", "1.81"].iter().all(|total| scene.texts().any(|text| text == total)));
    }

    #[test]
    fn bars_that_are_all_zero_are_drawn_as_none() {
        let scene = chart(&[[[0.0; 2]; 2]]).scene().expect("the chart can be drawn");
        assert_eq!(rects(&scene, Ink::series(0)).len(), 1); // its key
    }

    #[test]
    fn a_negative_height_is_refused_by_name() {
        let error = chart(&[[[1.0, 2.0], [3.0, -4.0]]]).scene().expect_err("it has no height");
        assert_eq!(error.to_string(), "`DRAM` of `b` in `` is -4; allowed: 0 to 1e100");
    }
}
