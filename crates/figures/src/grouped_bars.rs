//! Grouped bars: a few quantities of many things, in a grid of panels.

use super::chart::{self, Chart};
use super::check::{self, Allowed};
use super::grid::Grid;
use super::marker::Marker;
use super::page::{Categories, LegendEntry, Page, base_line, y_axis, y_grid};
use super::scale::Scale;
use super::scene::{Point, Rect, Scene};
use super::{Caption, FigureError, Ink, Quantity, Rows, Sheet};
use std::ops::Range;
use xrsim_model::text::{cell, counted};

/// Bars side by side in groups, in a grid of panels: scores of accelerators, a panel a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupedBars {
    /// Texts around the data.
    pub caption: Caption,
    /// Kind of the groups.
    pub group_axis: String,
    /// Quantity of the bars.
    pub value_axis: Quantity,
    /// Names along the x axis of every panel: 1 to 100.
    pub groups: Vec<String>,
    /// Names of the bars of a group: 1 to 9.
    pub series: Vec<String>,
    /// Panels side by side: 1 to 4.
    pub columns: usize,
    /// The panels, row by row: 1 to 32.
    pub panels: Vec<GroupPanel>,
    /// Whether all panels have one scale, that of the highest bar.
    pub shared_scale: bool,
    /// Source of the published values, which are open diamonds. May be empty.
    pub published: String,
    /// Meaning of the whiskers. May be empty.
    pub ranges: String,
    /// Index of the series that is drawn alone on a page that is too narrow for all.
    pub alone: Option<usize>,
}

/// One panel of [`GroupedBars`].
#[derive(Debug, Clone, PartialEq)]
pub struct GroupPanel {
    /// Title of the panel. May be empty.
    pub title: String,
    /// The bars, `[series][group]`; `None` where there is no result, which is marked by a cross.
    pub bars: Vec<Vec<Option<Bar>>>,
}

/// One bar, from zero to its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// Its length.
    pub value: f64,
    /// Least and largest of the values that the bar summarises, drawn as a whisker.
    pub range: Option<(f64, f64)>,
    /// A value published elsewhere, drawn as an open diamond.
    pub published: Option<f64>,
}

const MAX_GROUPS: usize = 100;
const MAX_SERIES: usize = 9;
const MAX_COLUMNS: usize = 4;
const MAX_PANELS: usize = 32;

/// Share of a group that its bars take.
const FILLED: f64 = 0.8;

/// Widest bar, and the least width that can be told apart from others \[px\].
const MAX_BAR_PX: f64 = 40.0;
const MIN_BAR_PX: f64 = 3.0;

impl Bar {
    /// A bar without range and published value.
    pub fn plain(value: f64) -> Self {
        Self { value, range: None, published: None }
    }

    /// Every value that the bar shows.
    fn values(&self) -> impl Iterator<Item = f64> {
        chart::ends(self.range).chain(self.published).chain([self.value])
    }
}

impl GroupedBars {
    /// Height of the data of a panel \[px\].
    fn panel_height(&self) -> f64 {
        match self.panels.len().div_ceil(self.columns) {
            1 => 260.0,
            2 => 180.0,
            3 | 4 => 130.0,
            _ => 60.0,
        }
    }

    /// A scale for each panel; all hold zero.
    fn scales(&self, height: f64) -> Vec<Scale> {
        let count = ((height / 40.0) as usize).max(2);
        let own: Vec<_> = self.panels.iter().map(GroupPanel::extent).collect();
        let all = own
            .iter()
            .fold((0.0, 0.0), |all: (f64, f64), own| (all.0.min(own.0), all.1.max(own.1)));
        let scale = |&own| self.value_axis.ends(if self.shared_scale { all } else { own });
        own.iter().map(scale).map(|(low, high)| Scale::linear(low, high, count)).collect()
    }

    fn bars(&self) -> impl Iterator<Item = &Option<Bar>> {
        self.panels.iter().flat_map(GroupPanel::bars)
    }

    fn has_published(&self) -> bool {
        self.bars().flatten().any(|bar| bar.published.is_some())
    }

    /// Width of a panel on `sheet` for bars that can be told apart, with one series in a group or with all
    /// \[px\].
    fn least_panel_px(&self, n_series: usize) -> f64 {
        self.groups.len() as f64 * n_series as f64 * MIN_BAR_PX / FILLED
    }

    /// Width of a panel on `sheet`, about \[px\].
    fn panel_px(&self, sheet: &Sheet) -> f64 {
        sheet.width_px() / sheet.columns(self.columns) as f64 - BESIDE_PX
    }

    /// The series that are drawn on `sheet`: all, or one where all are too narrow.
    fn shown(&self, sheet: &Sheet) -> Range<usize> {
        let all = 0..self.series.len();
        let is_narrow = self.panel_px(sheet) < self.least_panel_px(all.len());
        self.alone.filter(|it| is_narrow && all.contains(it)).map_or(all, |it| it..it + 1)
    }
}

/// Width beside the data of a panel, about \[px\].
const BESIDE_PX: f64 = 36.0;

impl GroupPanel {
    fn bars(&self) -> impl Iterator<Item = &Option<Bar>> {
        self.bars.iter().flatten()
    }

    /// Least and largest value, and zero.
    fn extent(&self) -> (f64, f64) {
        let values = self.bars().flatten().flat_map(Bar::values);
        values.fold((0.0, 0.0), |(low, high), value| (low.min(value), high.max(value)))
    }

    /// Every bar of the series at `series` of `shown`, with its left edge and width \[px\].
    fn placed(
        &self,
        area: Rect,
        (series, shown): (usize, &Range<usize>),
    ) -> impl Iterator<Item = ((f64, f64), &Option<Bar>)> {
        let slot = area.width / self.bars.first().map_or(0, Vec::len) as f64;
        let width = (FILLED * slot / shown.len() as f64).min(MAX_BAR_PX);
        let first = area.x + (slot - width * shown.len() as f64) / 2.0;
        let first = first + (series - shown.start) as f64 * width;
        let place = move |group: usize| (first + group as f64 * slot, width);
        self.bars[series].iter().enumerate().map(move |(group, bar)| (place(group), bar))
    }

    /// Draws the bars of the series `shown`, then the marks that may overlap neighbours. Bars of one series need no lines
    /// to be told apart.
    fn draw(
        &self,
        scene: &mut Scene,
        (names, shown): (&[String], &Range<usize>),
        area: &Rect,
        scale: &Scale,
    ) {
        for series in shown.clone() {
            scene.group(&names[series], |scene| {
                for ((left, width), bar) in self.placed(*area, (series, shown)) {
                    let value = bar.map_or(0.0, |bar| bar.value);
                    let ends = [(left, scale.at(0.0)), (left + width, scale.at(value))];
                    let bar = Rect::between(ends[0], ends[1]);
                    match bar.height > 0.0 {
                        true if shown.len() == 1 => scene.rect(bar, Ink::series(series)),
                        true => scene.area_of_series(bar, series),
                        false => {}
                    }
                }
            });
        }
        for series in shown.clone() {
            scene.group(&format!("{}, marks", names[series]), |scene| {
                for ((left, width), bar) in self.placed(*area, (series, shown)) {
                    let x = left + width / 2.0;
                    match bar {
                        Some(bar) => bar.draw_marks(scene, x, width, scale),
                        None => draw_missing(scene, (x, scale.at(0.0) - 4.0)),
                    }
                }
            });
        }
    }
}

impl Bar {
    /// Draws the range and the published value around the middle `x` of the bar.
    fn draw_marks(&self, scene: &mut Scene, x: f64, width: f64, scale: &Scale) {
        if let Some((low, high)) = self.range {
            let ends = [low, high].map(|end| (x, scale.at(end)));
            scene.whisker(ends, ((width * 0.3).min(4.0), 0.0), 1.0);
        }
        if let Some(published) = self.published {
            Marker::published(scene, (x, scale.at(published)), (width * 0.3).clamp(1.6, 4.0));
        }
    }
}

fn draw_missing(scene: &mut Scene, at: Point) {
    Marker::Cross.draw(scene, at, 2.6, Ink::AXIS);
}

impl Chart for GroupedBars {
    fn check(&self) -> Result<(), FigureError> {
        check::amounts(&[
            (self.groups.len(), MAX_GROUPS, "groups"),
            (self.series.len(), MAX_SERIES, "series"),
            (self.columns, MAX_COLUMNS, "columns"),
            (self.panels.len(), MAX_PANELS, "panels"),
        ])?;
        let names = (&*self.series, &*self.groups);
        let values = |bar: &Option<Bar>| bar.iter().flat_map(Bar::values).collect::<Vec<_>>();
        self.panels.iter().try_for_each(|panel| {
            let title = ("bars", Some(&*panel.title));
            check::matrix(&panel.bars, names, title, values, Allowed::Finite)
        })
    }

    fn description(&self) -> String {
        format!(
            "Grouped bars of {}: {} ({}) in {}; the bars of a group: {}.",
            self.value_axis.title(),
            counted(self.groups.len(), "group"),
            self.group_axis,
            counted(self.panels.len(), "panel"),
            self.series.join(", "),
        )
    }

    fn least_width_px(&self, sheet: &Sheet) -> f64 {
        let shown = self.shown(sheet).len();
        let missing = self.least_panel_px(shown) - self.panel_px(sheet);
        sheet.width_px() + missing * sheet.columns(self.columns) as f64
    }

    fn legend(&self, sheet: &Sheet) -> Vec<LegendEntry> {
        let series = self.shown(sheet);
        let is_alone = series.len() == 1;
        let entry = |index: usize| match is_alone {
            true => LegendEntry::fill(&self.series[index], Ink::series(index)),
            false => LegendEntry::area(&self.series[index], index),
        };
        let mut entries: Vec<_> = series.map(entry).collect();
        if !self.ranges.is_empty() && self.bars().flatten().any(|bar| bar.range.is_some()) {
            entries.push(LegendEntry::new(&self.ranges, |scene, key| {
                let x = key.centre_x();
                scene.whisker([(x, key.y), (x, key.bottom())], (3.0, 0.0), 1.0);
            }));
        }
        if self.has_published() {
            entries.push(LegendEntry::published(&self.published));
        }
        if self.bars().any(|bar| bar.is_none()) {
            entries.push(LegendEntry::new("no result", |scene, key| {
                draw_missing(scene, (key.centre_x(), key.centre_y()));
            }));
        }
        entries
    }

    fn draw(&self, page: &mut Page) {
        let height = page.sheet().height_px(self.panel_height());
        let columns = page.sheet().columns(self.columns);
        let scales = self.scales(height);
        let grid = match self.shared_scale {
            true => Grid::sharing(page, &scales[0], columns, height),
            false => Grid::new(page, &scales, columns, height),
        };
        let names = Categories::new(&self.groups, grid.width);
        let shown = self.shown(&page.sheet());
        let titles: Vec<_> = self.panels.iter().map(|panel| panel.title.as_str()).collect();
        let top = page.top;
        let areas = grid.areas(page, &titles, 8.0, names.depth_px());
        for (index, ((panel, scale), area)) in
            self.panels.iter().zip(&scales).zip(&areas).enumerate()
        {
            let scale = scale.onto(area.bottom(), area.y);
            match self.shared_scale && !grid.is_first(index) {
                true => y_grid(&mut page.scene, area, &scale),
                false => y_axis(&mut page.scene, area, &scale),
            }
            panel.draw(&mut page.scene, (&self.series, &shown), area, &scale);
            base_line(&mut page.scene, area, scale.at(0.0));
            match index + columns >= self.panels.len() {
                true => names.draw(&mut page.scene, area),
                false => names.ticks(&mut page.scene, area),
            }
        }
        page.y_title(&self.value_axis.title(), top, areas[areas.len() - 1].bottom());
        page.x_title(&self.group_axis, grid.left);
    }

    /// `panel,group,series,value,low,high,published`, a row for each bar. Missing values are empty, and the
    /// last column is left out if nothing was published.
    fn table(&self) -> Rows {
        let mut header = vec!["panel", "group", "series", "value", "low", "high", "published"];
        if !self.has_published() {
            header.pop();
        }
        let mut rows = Vec::new();
        for panel in &self.panels {
            for (series, bars) in self.series.iter().zip(&panel.bars) {
                for (group, bar) in self.groups.iter().zip(bars) {
                    let mut row = vec![panel.title.clone(), group.clone(), series.clone()];
                    let range = bar.and_then(|bar| bar.range);
                    row.extend(chart::cells(bar.map(|bar| bar.value), range));
                    let published = bar.and_then(|bar| bar.published);
                    row.push(published.map_or_else(String::new, cell));
                    row.truncate(header.len());
                    rows.push(row);
                }
            }
        }
        Rows::new(header, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Figure as _;
    use super::super::tests::{Sample, VALUE, caption, names, rects, strokes};
    use super::*;

    impl Sample for GroupedBars {
        const TEXTS: &[&str] =
            &["A", "B", "Real-time", "AR gaming", "Paper", "all draws", "no result", "Score"];

        fn sample(value: f64) -> Self {
            let bar = Bar { value, range: Some((value, value)), published: Some(value) };
            Self {
                caption: caption(),
                group_axis: "Accelerator".into(),
                value_axis: Quantity::new("Score", ""),
                groups: names(&["A", "B"]),
                series: names(&["Real-time", "Energy"]),
                columns: 2,
                panels: vec![GroupPanel {
                    title: "AR gaming".into(),
                    bars: vec![
                        vec![Some(bar), None],
                        vec![Some(Bar::plain(-1.0)), Some(Bar::plain(1.0))],
                    ],
                }],
                shared_scale: true,
                published: "Paper".into(),
                ranges: "all draws".into(),
                alone: None,
            }
        }

        fn empty() -> (Self, &'static str) {
            (Self { columns: 0, ..Self::sample(VALUE) }, "columns")
        }

        fn crowded(names: Vec<String>) -> Option<(Self, &'static str)> {
            Some((Self { groups: names, ..Self::sample(VALUE) }, "groups"))
        }

        fn unequal() -> Option<Self> {
            let mut chart = Self::sample(VALUE);
            chart.panels[0].bars.pop();
            Some(chart)
        }
    }

    fn chart(bars: Vec<Vec<Option<Bar>>>) -> GroupedBars {
        GroupedBars {
            caption: Caption::default(),
            group_axis: "Style".into(),
            value_axis: Quantity::new("Score", ""),
            groups: (0..bars[0].len()).map(|group| format!("G{group}")).collect(),
            series: (0..bars.len()).map(|series| format!("S{series}")).collect(),
            columns: 1,
            panels: vec![GroupPanel { title: "4K".into(), bars }],
            shared_scale: true,
            published: String::new(),
            ranges: String::new(),
            alone: Some(0),
        }
    }

    #[test]
    fn bars_rise_or_fall_from_zero_by_their_values() {
        // The scale is -1 to 1 over 260 px: 130 px a unit.
        let values = [[1.0, -1.0], [-0.5, 0.0]];
        let bars = values.map(|series| series.map(|value| Some(Bar::plain(value))).to_vec());
        let scene = chart(bars.to_vec()).scene().expect("the chart can be drawn");
        let [_, up, lowest] = rects(&scene, Ink::series(0))[..] else { panic!("two bars") };
        let [_, down] = rects(&scene, Ink::series(1))[..] else { panic!("one bar is zero") };
        assert_eq!((up.height, lowest.height, down.height), (130.0, 130.0, 65.0));
        assert_eq!(up.bottom(), down.y);
        assert!((up.right() - down.x).abs() < 1e-9, "neighbours touch");
    }

    #[test]
    fn whiskers_and_published_values_lie_where_their_values_do() {
        // The scale is 0 to 1 over 260 px.
        let bar = Bar { value: 0.5, range: Some((0.25, 0.75)), published: Some(1.0) };
        let scene = chart(vec![vec![Some(bar)]]).scene().expect("the chart can be drawn");
        let rect = rects(&scene, Ink::series(0))[1];
        // A cap, the line between the ends, and the other cap.
        let [_, _, low, high, _, _] = strokes(&scene, Ink::TEXT)[0][..] else {
            panic!("six points")
        };
        assert_eq!(low, (rect.centre_x(), rect.y + 65.0));
        assert_eq!(high, (rect.centre_x(), rect.y - 65.0));
        let diamond = strokes(&scene, Ink::BLACK).pop().expect("the published value is drawn");
        assert_eq!((diamond[0].1 + diamond[2].1) / 2.0, rect.y - 130.0);
        assert_eq!(diamond[0].0, rect.centre_x());
    }

    #[test]
    fn what_is_missing_is_marked_and_left_empty_in_the_table() {
        let chart = chart(vec![vec![Some(Bar::plain(1.0)), None]]);
        assert_eq!(chart.rows().rows[1], ["4K", "G1", "S0", "", "", ""]);
        assert_eq!(chart.rows().header.last(), Some(&"high"), "nothing was published");
        let published = GroupedBars {
            panels: vec![GroupPanel {
                title: "4K".into(),
                bars: vec![vec![Some(Bar { published: Some(0.5), ..Bar::plain(1.0) }), None]],
            }],
            ..chart.clone()
        };
        assert_eq!(published.rows().header.last(), Some(&"published"));
        assert_eq!(published.rows().rows[1], ["4K", "G1", "S0", "", "", "", ""]);
        let scene = chart.scene().expect("the chart can be drawn");
        assert!(scene.texts().any(|text| text == "no result"));
        assert_eq!(rects(&scene, Ink::series(0)).len(), 2); // its key and its bar
    }

    /// The grid of Figure 5.
    fn of_paper() -> GroupedBars {
        let bars = vec![vec![Some(Bar::plain(0.5)); 13]; 4];
        let panel = GroupPanel { title: "AR gaming, 4K".into(), bars: bars.clone() };
        GroupedBars { columns: 2, panels: vec![panel; 16], ..chart(bars) }
    }

    #[test]
    fn one_series_is_drawn_alone_on_a_narrow_page_or_the_page_is_refused() {
        let column = Sheet::printed(3.3 * 72.0).expect("a width that is allowed");
        let alone = GroupedBars { alone: Some(3), ..of_paper() };
        let scene = alone.scene_on(&column).expect("the chart can be drawn");
        assert_eq!(rects(&scene, Ink::series(3)).len(), 1 + 13 * 16); // with its key
        assert!(rects(&scene, Ink::series(0)).is_empty());
        let all = GroupedBars { alone: None, ..of_paper() };
        let error = all.scene_on(&column).expect_err("bars of 2 px");
        let FigureError::Narrow { least_in, found_in } = error else { panic!("{error}") };
        assert!((found_in - 3.3).abs() < 1e-9 && least_in > 4.0 && least_in < 5.0, "{least_in}");
        let wide = Sheet::printed(72.0 * least_in + 0.1).expect("a width that is allowed");
        assert!(all.scene_on(&wide).is_ok());
    }

    #[test]
    fn the_grid_of_the_paper_fits_on_a_page() {
        let chart = of_paper();
        let scene = chart.scene().expect("the chart can be drawn");
        let drawn = &rects(&scene, Ink::series(3))[1..];
        assert_eq!(drawn.len(), 13 * 16);
        let page = Rect { x: 0.0, y: 0.0, width: 720.0, height: scene.height_px };
        assert!(
            drawn.iter().all(|bar| bar.right() <= page.right() && bar.bottom() <= page.bottom())
        );
        assert!(drawn.iter().all(|bar| bar.width > 4.0), "bars can be told apart");
    }
}
