//! Grouped bars: a few quantities of many things, in a grid of panels.

use super::chart::{self, Chart};
use super::check::{self, Allowed};
use super::grid::Grid;
use super::marker::Marker;
use super::page::{Categories, LegendEntry, Page, base_line, y_axis, y_grid};
use super::scale::Scale;
use super::scene::{Point, Rect, Scene};
use super::{Caption, FigureError, Ink, Quantity, Rows};
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

/// Widest bar \[px\].
const MAX_BAR_PX: f64 = 40.0;

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

    fn has_published(&self) -> bool {
        let mut bars = self.panels.iter().flat_map(GroupPanel::bars);
        bars.any(|bar| bar.is_some_and(|bar| bar.published.is_some()))
    }
}

impl GroupPanel {
    fn bars(&self) -> impl Iterator<Item = &Option<Bar>> {
        self.bars.iter().flatten()
    }

    /// Least and largest value, and zero.
    fn extent(&self) -> (f64, f64) {
        let values = self.bars().flatten().flat_map(Bar::values);
        values.fold((0.0, 0.0), |(low, high), value| (low.min(value), high.max(value)))
    }

    /// Every bar with its series, left edge and width \[px\].
    fn placed(&self, area: Rect) -> impl Iterator<Item = (usize, (f64, f64), &Option<Bar>)> {
        let slot = area.width / self.bars.first().map_or(0, Vec::len) as f64;
        let width = (FILLED * slot / self.bars.len() as f64).min(MAX_BAR_PX);
        let first = area.x + (slot - width * self.bars.len() as f64) / 2.0;
        self.bars.iter().enumerate().flat_map(move |(series, bars)| {
            bars.iter().enumerate().map(move |(group, bar)| {
                let left = first + group as f64 * slot + series as f64 * width;
                (series, (left, width), bar)
            })
        })
    }

    /// Draws all bars, then the marks that may overlap neighbours.
    fn draw(&self, scene: &mut Scene, area: &Rect, scale: &Scale) {
        for (series, (left, width), bar) in self.placed(*area) {
            let value = bar.map_or(0.0, |bar| bar.value);
            let bar = Rect::between((left, scale.at(0.0)), (left + width, scale.at(value)));
            if bar.height > 0.0 {
                scene.rect(bar, Ink::series(series));
            }
        }
        for (_, (left, width), bar) in self.placed(*area) {
            let x = left + width / 2.0;
            match bar {
                Some(bar) => bar.draw_marks(scene, x, width, scale),
                None => draw_missing(scene, (x, scale.at(0.0) - 4.0)),
            }
        }
    }
}

impl Bar {
    /// Draws the range and the published value around the middle `x` of the bar.
    fn draw_marks(&self, scene: &mut Scene, x: f64, width: f64, scale: &Scale) {
        if let Some((low, high)) = self.range {
            let ends = [low, high].map(|end| (x, scale.at(end)));
            scene.whisker(ends, ((width * 0.3).min(4.0), 0.0), [1.0, 1.0]);
        }
        if let Some(published) = self.published {
            Marker::published(scene, (x, scale.at(published)), (width * 0.7).clamp(1.8, 4.5));
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

    fn legend(&self) -> Vec<LegendEntry> {
        let mut entries = chart::areas(&self.series);
        let bars = || self.panels.iter().flat_map(GroupPanel::bars);
        if self.has_published() {
            entries.push(LegendEntry::published(&self.published));
        }
        if bars().any(|bar| bar.is_none()) {
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
        let between = if names.are_level() { names.depth_px() + 2.0 } else { 8.0 };
        let titles: Vec<_> = self.panels.iter().map(|panel| panel.title.as_str()).collect();
        let top = page.top;
        let areas = grid.areas(page, &titles, between, names.depth_px());
        for (index, ((panel, scale), area)) in
            self.panels.iter().zip(&scales).zip(&areas).enumerate()
        {
            let scale = scale.onto(area.bottom(), area.y);
            match self.shared_scale && !grid.is_first(index) {
                true => y_grid(&mut page.scene, area, &scale),
                false => y_axis(&mut page.scene, area, &scale),
            }
            panel.draw(&mut page.scene, area, &scale);
            base_line(&mut page.scene, area, scale.at(0.0));
            let lowest = index + columns >= self.panels.len();
            if lowest || names.are_level() {
                names.draw(&mut page.scene, area);
            } else {
                names.ticks(&mut page.scene, area);
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
            &["A", "B", "Real-time", "Energy", "AR gaming", "Paper", "no result", "Score"];

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
        let whisker = &strokes(&scene, Ink::TEXT)[0];
        assert_eq!(whisker[0], (rect.centre_x(), rect.y + 65.0));
        assert_eq!(whisker[1], (rect.centre_x(), rect.y - 65.0));
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

    #[test]
    fn the_grid_of_the_paper_fits_on_a_page() {
        let bars = vec![vec![Some(Bar::plain(0.5)); 13]; 4];
        let panel = GroupPanel { title: "AR gaming, 4K".into(), bars: bars.clone() };
        let chart = GroupedBars { columns: 2, panels: vec![panel; 16], ..chart(bars) };
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
