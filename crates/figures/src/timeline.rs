//! Timelines: executions on accelerators over time, with late and dropped requests.

use super::chart::Chart;
use super::check::{self, Allowed};
use super::dashes::Dashes;
use super::grid::Grid;
use super::hatch::Hatch;
use super::named_rows::NamedRows;
use super::page::{GAP_PX, LegendEntry, Page, X_AXIS_PX, base_line, x_axis, x_grid};
use super::scale::Scale;
use super::scene::{Align, LABEL_PX, Point, Rect, Scene, Text};
use super::text::{fits, width_px};
use super::{Caption, FigureError, Ink, Rows, Sheet, model_places};
use xrsim_model::text::{cell, counted};

/// Slices of time in rows, coloured by model: execution on the accelerators of a system, a panel a
/// system.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// Texts around the data.
    pub caption: Caption,
    /// The models, which have the colours: 1 to 27.
    pub models: Vec<String>,
    /// First and last time shown \[ms\].
    pub window_ms: (f64, f64),
    /// Last arrival of a request, which executions may outlast: a dashed line \[ms\].
    pub last_arrival_ms: Option<f64>,
    /// The panels, from the top down, over the same time: 1 to 8.
    pub panels: Vec<TimelinePanel>,
}

/// One panel of [`Timeline`].
#[derive(Debug, Clone, PartialEq)]
pub struct TimelinePanel {
    /// Title of the panel. May be empty.
    pub title: String,
    /// Names of the rows, from the top down: 1 to 32. Every panel has the height of the one with the most
    /// rows.
    pub rows: Vec<String>,
    /// Executions.
    pub slices: Vec<Slice>,
    /// Requests that are dropped. Every model that loses a request in some panel has a lane below the rows, with
    /// the number of its drops at the right.
    pub drops: Vec<DroppedRequest>,
}

/// One execution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slice {
    /// Index of its row.
    pub row: usize,
    /// Index of its model.
    pub model: usize,
    /// Start \[ms\].
    pub start_ms: f64,
    /// End \[ms\], not before the start.
    pub end_ms: f64,
    /// Whether it ended after its deadline, which is drawn as hatching.
    pub late: bool,
}

/// A request that is dropped: a tick in the lane of its model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DroppedRequest {
    /// Index of its model.
    pub model: usize,
    /// Time of the drop \[ms\].
    pub time_ms: f64,
}

const MAX_MODELS: usize = 27;
const MAX_PANELS: usize = 8;
const MAX_ROWS: usize = 32;
const MAX_MARKS: usize = 20_000;

/// Height of a row \[px\].
const ROW_PX: f64 = 24.0;

/// Height of a slice \[px\].
const SLICE_PX: f64 = 15.0;

/// Height of the lane of the drops of a model, and of a tick in it \[px\].
const LANE_PX: f64 = 13.0;
const DROP_PX: f64 = 9.0;

/// Space between the rows and the lanes of drops \[px\].
const ABOVE_LANES_PX: f64 = 4.0;

/// Least width of a slice, so that none vanishes \[px\].
const MIN_SLICE_PX: f64 = 0.5;

/// Widest name of a row \[px\].
const MAX_NAME_PX: f64 = 150.0;

impl Timeline {
    fn check_panel(&self, panel: &TimelinePanel) -> Result<(), FigureError> {
        check::amount(panel.rows.len(), MAX_ROWS, "rows")?;
        for slice in &panel.slices {
            check::reference(slice.row, panel.rows.len(), || "row of a slice".to_owned())?;
            check::reference(slice.model, self.models.len(), || "model of a slice".to_owned())?;
            check::number(slice.start_ms, Allowed::Finite, || "start of a slice".to_owned())?;
            check::number(slice.end_ms, Allowed::Finite, || "end of a slice".to_owned())?;
            let length = slice.end_ms - slice.start_ms;
            check::number(length, Allowed::NonNegative, || "length of a slice".to_owned())?;
        }
        for drop in &panel.drops {
            check::reference(drop.model, self.models.len(), || "model of a drop".to_owned())?;
            check::number(drop.time_ms, Allowed::Finite, || "time of a drop".to_owned())?;
        }
        Ok(())
    }

    /// The models that lose a request in some panel: every panel has a lane for each.
    fn lanes(&self) -> Vec<usize> {
        let loses = |model: &usize| {
            let mut drops = self.panels.iter().flat_map(|panel| &panel.drops);
            drops.any(|drop| drop.model == *model)
        };
        (0..self.models.len()).filter(loses).collect()
    }

    /// Names of the lanes of drops.
    fn names_of_lanes(&self, lanes: &[usize]) -> NamedRows {
        let name = |&model: &usize| format!("{} dropped", self.models[model]);
        NamedRows::within(&lanes.iter().map(name).collect::<Vec<_>>(), MAX_NAME_PX)
    }

    /// Height of the rows of a panel \[px\].
    fn rows_height(&self) -> f64 {
        let rows = self.panels.iter().map(|panel| panel.rows.len()).max().unwrap_or(0);
        rows as f64 * ROW_PX + 6.0
    }

    /// Height of the data of a panel \[px\].
    fn panel_height(&self, n_lanes: usize) -> f64 {
        let above = if n_lanes > 0 { ABOVE_LANES_PX } else { 0.0 };
        self.rows_height() + above + n_lanes as f64 * LANE_PX
    }

    /// Left end of the data, to the right of the names of rows and lanes \[px\].
    fn left(&self, side_px: f64, lanes: &NamedRows) -> f64 {
        let widths = self.panels.iter().map(|panel| panel.names().width_px);
        side_px + widths.fold(lanes.width_px, f64::max)
    }

    fn draw_panel(&self, scene: &mut Scene, panel: &TimelinePanel, area: &Rect, time: &Scale) {
        panel.names().draw_at(scene, area.x, |row| slices_top(area, row) + SLICE_PX / 2.0);
        let inks = self.inks();
        for (model, &ink) in inks.iter().enumerate() {
            scene.group(&self.models[model], |scene| {
                for slice in panel.slices.iter().filter(|slice| slice.model == model) {
                    if let Some(rect) = place_of(slice, area, time) {
                        draw_slice(scene, &rect, slice.late, ink);
                    }
                }
            });
        }
        if let Some(x) = self.last_arrival_ms.filter(|it| is_shown(time, *it)).map(|it| time.at(it))
        {
            draw_last_arrival(scene, [(x, area.y), (x, area.bottom())]);
        }
        // Names stand over the line.
        scene.group("names", |scene| {
            for slice in &panel.slices {
                let name = (&*self.models[slice.model], inks[slice.model]);
                if let Some(rect) = place_of(slice, area, time) {
                    label_slice(scene, &rect, name, slice.late);
                }
            }
        });
        let lanes = self.lanes();
        let first = area.y + self.rows_height() + ABOVE_LANES_PX;
        let middle = |lane: usize| first + (lane as f64 + 0.5) * LANE_PX;
        self.names_of_lanes(&lanes).draw_at(scene, area.x, middle);
        for (lane, &model) in lanes.iter().enumerate() {
            let drops = panel.drops.iter().filter(|drop| drop.model == model);
            scene.group(&format!("{} dropped", self.models[model]), |scene| {
                for drop in drops.clone() {
                    draw_drop(scene, (time, drop.time_ms), middle(lane), inks[model]);
                }
            });
            let at = (area.right() + GAP_PX, middle(lane));
            scene.text(Text::label(drops.count().to_string(), at).centred());
        }
    }

    /// Colour of every model.
    fn inks(&self) -> Vec<Ink> {
        model_places(&self.models).into_iter().map(Ink::series).collect()
    }
}

impl TimelinePanel {
    fn names(&self) -> NamedRows {
        NamedRows::within(&self.rows, MAX_NAME_PX)
    }
}

/// Upper edge of the slices of a row, which deadlines stand on \[px\].
fn slices_top(area: &Rect, row: usize) -> f64 {
    area.y + row as f64 * ROW_PX + ROW_PX - SLICE_PX
}

/// Place of a slice; `None` outside the times that are shown.
fn place_of(slice: &Slice, area: &Rect, time: &Scale) -> Option<Rect> {
    let (first, last) = time.ends();
    let (from, to) = (time.at(slice.start_ms), time.at(slice.end_ms));
    let (y, width) = (slices_top(area, slice.row), (to - from).max(MIN_SLICE_PX));
    let is_shown = slice.end_ms >= first && slice.start_ms <= last;
    is_shown.then_some(Rect { x: from, y, width, height: SLICE_PX })
}

fn draw_slice(scene: &mut Scene, rect: &Rect, late: bool, ink: Ink) {
    scene.rect(*rect, ink);
    if late {
        hatch(scene, rect, ink.text_on());
    }
}

/// Writes the name of a model on its slice, over hatching and lines, if there is space.
fn label_slice(scene: &mut Scene, rect: &Rect, (name, ink): (&str, Ink), hatched: bool) {
    if !fits(name, LABEL_PX, false, rect.width - 6.0) {
        return;
    }
    let (x, y) = (rect.centre_x(), rect.centre_y());
    if hatched {
        let half = width_px(name, LABEL_PX, false) / 2.0 + 3.0;
        let top = SLICE_PX / 2.0 - 0.4; // leaves the edge
        scene.rect(Rect::between((x - half, y - top), (x + half, y + top)), ink);
    }
    let label = Text::label(name, (x, y)).inked(ink.text_on());
    scene.text(label.aligned(Align::Middle).centred());
}

/// Draws diagonal lines over a rectangle, and its edge.
fn hatch(scene: &mut Scene, rect: &Rect, ink: Ink) {
    if rect.width < 3.0 {
        scene.segment((rect.centre_x(), rect.y), (rect.centre_x(), rect.bottom()), 0.6, ink);
        return;
    }
    scene.hatch(*rect, Hatch::Rising, ink);
    scene.outline(*rect, 0.8, Ink::TEXT);
}

fn is_shown(time: &Scale, time_ms: f64) -> bool {
    let (first, last) = time.ends();
    (first..=last).contains(&time_ms)
}

/// A tick of the colour of its model around the height `y`, darker, as some models have pale colours.
fn draw_drop(scene: &mut Scene, (time, time_ms): (&Scale, f64), y: f64, ink: Ink) {
    if is_shown(time, time_ms) {
        let (x, half) = (time.at(time_ms), DROP_PX / 2.0);
        scene.segment((x, y - half), (x, y + half), 1.2, ink.mixed(Ink::BLACK, 0.25));
    }
}

fn draw_last_arrival(scene: &mut Scene, ends: [Point; 2]) {
    scene.dashed(ends.to_vec(), Dashes::LIMIT, 1.0, Ink::TEXT);
}

impl Chart for Timeline {
    fn check(&self) -> Result<(), FigureError> {
        check::amounts(&[
            (self.models.len(), MAX_MODELS, "models"),
            (self.panels.len(), MAX_PANELS, "panels"),
        ])?;
        check::number(self.window_ms.0, Allowed::Finite, || "first time shown".to_owned())?;
        check::number(self.window_ms.1, Allowed::Finite, || "last time shown".to_owned())?;
        if let Some(time_ms) = self.last_arrival_ms {
            check::number(time_ms, Allowed::Finite, || "last arrival".to_owned())?;
        }
        let marks = self.panels.iter().map(|panel| panel.slices.len() + panel.drops.len());
        check::at_most(marks.sum(), MAX_MARKS, "slices and drops")?;
        self.panels.iter().try_for_each(|panel| self.check_panel(panel))
    }

    fn description(&self) -> String {
        let panel = |panel: &TimelinePanel| {
            let executed = counted(panel.slices.len(), "execution");
            let lost = counted(panel.drops.len(), "dropped request");
            format!("{}: {executed}, {lost}", panel.title)
        };
        let panels: Vec<_> = self.panels.iter().map(panel).collect();
        format!("Timeline of {}.", panels.join("; "))
    }

    fn legend(&self, _sheet: &Sheet) -> Vec<LegendEntry> {
        let models = self.models.iter().zip(self.inks());
        let mut entries: Vec<_> = models.map(|(name, ink)| LegendEntry::fill(name, ink)).collect();
        if self.panels.iter().flat_map(|panel| &panel.slices).any(|slice| slice.late) {
            entries.push(LegendEntry::new("late", |scene, key| {
                scene.rect(key, Ink::GRID);
                hatch(scene, &key, Ink::TEXT);
            }));
        }
        if self
            .last_arrival_ms
            .is_some_and(|it| (self.window_ms.0..=self.window_ms.1).contains(&it))
        {
            entries.push(LegendEntry::new("last arrival", |scene, key| {
                draw_last_arrival(
                    scene,
                    [(key.centre_x(), key.y - 2.0), (key.centre_x(), key.bottom() + 2.0)],
                );
            }));
        }
        entries
    }

    fn draw(&self, page: &mut Page) {
        let lanes = self.lanes();
        let left = self.left(page.side_px(), &self.names_of_lanes(&lanes));
        let grid = Grid::starting_at(page, left, self.panel_height(lanes.len()));
        let (first, last) = self.window_ms;
        let counts = self.panels.iter().map(|panel| panel.drops.len().to_string());
        let counts = counts.map(|count| width_px(&count, LABEL_PX, false)).fold(0.0, f64::max);
        let room = if lanes.is_empty() { 0.0 } else { GAP_PX + counts };
        let time = Scale::exact(first, last, 10).onto(grid.left, page.right_px() - room);
        let titles: Vec<_> = self.panels.iter().map(|panel| panel.title.as_str()).collect();
        let areas = grid.areas(page, &titles, X_AXIS_PX, X_AXIS_PX);
        for (panel, area) in self.panels.iter().zip(&areas) {
            let area = &Rect { width: area.width - room, ..*area };
            x_grid(&mut page.scene, area, &time);
            self.draw_panel(&mut page.scene, panel, area, &time);
            base_line(&mut page.scene, area, area.bottom());
            x_axis(&mut page.scene, area, &time);
        }
        page.x_title("Time [ms]", grid.left);
    }

    /// `panel,row,model,kind,start_ms,end_ms,late`, a row for each slice or drop, also where outside
    /// the window; a drop is in the row `dropped` and has no end.
    fn table(&self) -> Rows {
        let name = |names: &[String], index: usize| names.get(index).cloned().unwrap_or_default();
        let mut rows = Vec::new();
        for panel in &self.panels {
            let marked = |row: String, model, kind: &str| {
                vec![panel.title.clone(), row, name(&self.models, model), kind.to_owned()]
            };
            rows.extend(panel.slices.iter().map(|slice| {
                let mut row = marked(name(&panel.rows, slice.row), slice.model, "slice");
                row.extend([cell(slice.start_ms), cell(slice.end_ms), slice.late.to_string()]);
                row
            }));
            rows.extend(panel.drops.iter().map(|drop| {
                let mut row = marked("dropped".into(), drop.model, "drop");
                row.extend([cell(drop.time_ms), String::new(), String::new()]);
                row
            }));
        }
        Rows::new(["panel", "row", "model", "kind", "start_ms", "end_ms", "late"], rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Figure as _;
    use super::super::Shape;
    use super::super::tests::{Sample, VALUE, caption, names, rects, strokes};
    use super::*;

    impl Sample for Timeline {
        const TEXTS: &[&str] =
            &["0: WS", "Eyes dropped", "Hand tracking", "Eyes", "late", "last arrival", "4K PEs"];

        fn sample(value: f64) -> Self {
            let slice = Slice { row: 0, model: 0, start_ms: 0.0, end_ms: 900.0, late: false };
            Self {
                caption: caption(),
                models: names(&["Hand tracking", "Eyes"]),
                window_ms: (0.0, 1000.0),
                last_arrival_ms: Some(500.0),
                panels: vec![TimelinePanel {
                    title: "4K PEs".into(),
                    rows: names(&["0: WS"]),
                    slices: vec![slice, Slice { model: 1, late: true, end_ms: value, ..slice }],
                    drops: vec![DroppedRequest { model: 1, time_ms: value }],
                }],
            }
        }

        fn empty() -> (Self, &'static str) {
            (Self { panels: vec![], ..Self::sample(VALUE) }, "panels")
        }

        fn crowded(names: Vec<String>) -> Option<(Self, &'static str)> {
            Some((Self { models: names, ..Self::sample(VALUE) }, "models"))
        }
    }

    fn chart(slices: Vec<Slice>, drops: Vec<DroppedRequest>) -> Timeline {
        let rows = vec!["0".into(), "1".into()];
        Timeline {
            caption: Caption::default(),
            models: vec!["hands".into(), "eyes".into()],
            window_ms: (0.0, 100.0),
            last_arrival_ms: None,
            panels: vec![TimelinePanel { title: String::new(), rows, slices, drops }],
        }
    }

    fn slice(row: usize, start_ms: f64, end_ms: f64) -> Slice {
        Slice { row, model: 0, start_ms, end_ms, late: false }
    }

    #[test]
    fn a_slice_is_as_long_as_its_time_and_cut_at_the_window() {
        let slices = vec![
            slice(0, 0.0, 100.0),
            slice(1, 25.0, 50.0),
            slice(1, 75.0, 400.0),
            slice(1, 100.5, 101.0),
        ];
        let scene = chart(slices, vec![]).scene().expect("the chart can be drawn");
        let drawn = &rects(&scene, Ink::series(0))[1..];
        assert_eq!(drawn.len(), 3);
        let whole = drawn[0];
        assert!((drawn[1].x - whole.x - whole.width / 4.0).abs() < 1e-9);
        assert!((drawn[1].width - whole.width / 4.0).abs() < 1e-9);
        assert!((drawn[2].right() - whole.right()).abs() < 1e-9);
        assert_eq!(drawn[1].y - whole.y, ROW_PX);
    }

    #[test]
    fn a_slice_without_length_is_still_seen() {
        let scene = chart(vec![slice(0, 5.0, 5.0)], vec![]).scene().expect("it can be drawn");
        assert_eq!(rects(&scene, Ink::series(0))[1].width, MIN_SLICE_PX);
    }

    #[test]
    fn every_drop_is_a_tick_in_the_lane_of_its_model_which_counts_them() {
        // Both models lose requests at the same instants: one of them must not hide the other.
        let drop = |model, time_ms| DroppedRequest { model, time_ms };
        let drops = vec![drop(0, 25.0), drop(1, 25.0), drop(0, 50.0), drop(1, 50.0), drop(1, 75.0)];
        let chart = chart(vec![slice(1, 0.0, 100.0)], drops);
        let scene = chart.scene().expect("the chart can be drawn");
        let whole = rects(&scene, Ink::series(0))[1];
        let ticks = |model| strokes(&scene, Ink::series(model).mixed(Ink::BLACK, 0.25));
        let (hands, eyes) = (ticks(0), ticks(1));
        let shares = |ticks: &[Vec<Point>]| {
            ticks
                .iter()
                .map(|it| ((it[0].0 - whole.x) / whole.width * 1e6).round() / 1e6)
                .collect::<Vec<_>>()
        };
        assert_eq!((shares(&hands), shares(&eyes)), (vec![0.25, 0.5], vec![0.25, 0.5, 0.75]));
        assert_eq!(eyes[0][0].1 - hands[0][0].1, LANE_PX);
        assert!(hands[0][0].1 > whole.bottom());
        let label = |text: &str| {
            let texts = scene.marks().filter_map(|shape| match shape {
                Shape::Text(it) if it.text == text => Some(it.at),
                _ => None,
            });
            texts.collect::<Vec<_>>()
        };
        // The count stands at the height of the name of its lane.
        for (name, count) in [("hands dropped", "2"), ("eyes dropped", "3")] {
            assert_eq!(label(name)[0].1, label(count)[0].1, "{name}");
        }
    }

    #[test]
    fn models_without_drops_have_no_lane() {
        let lossless = chart(vec![slice(0, 0.0, 1.0)], vec![]);
        let lossy = chart(vec![], vec![DroppedRequest { model: 1, time_ms: 5.0 }]);
        let texts = |chart: &Timeline| {
            let scene = chart.scene().expect("the chart can be drawn");
            scene.texts().filter(|text| text.ends_with(" dropped")).cloned().collect::<Vec<_>>()
        };
        assert!(texts(&lossless).is_empty());
        assert_eq!(texts(&lossy), ["eyes dropped"]);
    }

    #[test]
    fn a_mark_of_a_row_or_model_that_is_not_there_is_refused() {
        let error = chart(vec![slice(2, 0.0, 1.0)], vec![]).scene().expect_err("no such row");
        assert_eq!(error.to_string(), "row of a slice is number 2 of 2");
        let drop = DroppedRequest { model: 9, time_ms: 0.0 };
        let chart = chart(vec![], vec![drop]);
        assert_eq!(
            chart.scene().expect_err("no such model").to_string(),
            "model of a drop is number 9 of 2"
        );
        assert_eq!(chart.rows().rows[0], ["", "dropped", "", "drop", "0", "", ""]);
    }

    #[test]
    fn a_slice_that_ends_before_it_starts_is_refused() {
        let error = chart(vec![slice(0, 2.0, 1.0)], vec![]).scene().expect_err("no such length");
        assert_eq!(error.to_string(), "length of a slice is -1; allowed: 0 to 1e100");
    }
}
