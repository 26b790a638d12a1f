//! Timelines: executions on accelerators over time, with late and dropped requests.

use super::chart::Chart;
use super::check::{self, Allowed};
use super::grid::Grid;
use super::marker::Marker;
use super::named_rows::NamedRows;
use super::page::{GAP_PX, LegendEntry, Page, X_AXIS_PX, base_line, x_axis, x_grid};
use super::scale::Scale;
use super::scene::{Align, LABEL_PX, Point, Rect, Scene, Text};
use super::text::{fits, width_px};
use super::{Caption, FigureError, Ink, Rows, model_places};
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
    /// Points in time.
    pub instants: Vec<Instant>,
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

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instant {
    /// Index of its row.
    pub row: usize,
    /// Index of its model.
    pub model: usize,
    /// Time \[ms\].
    pub time_ms: f64,
    /// Kind of event.
    pub kind: InstantKind,
}

/// Event of an [`Instant`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstantKind {
    /// The deadline of a request: a tick above the slices.
    Deadline,
    /// A request is dropped: a cross.
    Drop,
}

impl InstantKind {
    /// Name in the table of a figure.
    fn name(self) -> &'static str {
        match self {
            Self::Deadline => "deadline",
            Self::Drop => "drop",
        }
    }
}

const MAX_MODELS: usize = 27;
const MAX_PANELS: usize = 8;
const MAX_ROWS: usize = 32;
const MAX_MARKS: usize = 20_000;

/// Height of a row \[px\].
const ROW_PX: f64 = 24.0;

/// Height of a slice \[px\].
const SLICE_PX: f64 = 15.0;

/// Height of the tick of a deadline \[px\].
const DEADLINE_PX: f64 = 5.0;

/// Least width of a slice, so that none vanishes \[px\].
const MIN_SLICE_PX: f64 = 0.5;

/// Widest name of a row \[px\].
const MAX_NAME_PX: f64 = 150.0;

impl Timeline {
    fn check_panel(&self, panel: &TimelinePanel) -> Result<(), FigureError> {
        check::amount(panel.rows.len(), MAX_ROWS, "rows")?;
        let belongs = |mark: &str, row, model| {
            check::reference(row, panel.rows.len(), || format!("row of {mark}"))?;
            check::reference(model, self.models.len(), || format!("model of {mark}"))
        };
        for slice in &panel.slices {
            belongs("a slice", slice.row, slice.model)?;
            check::number(slice.start_ms, Allowed::Finite, || "start of a slice".to_owned())?;
            check::number(slice.end_ms, Allowed::Finite, || "end of a slice".to_owned())?;
            let length = slice.end_ms - slice.start_ms;
            check::number(length, Allowed::NonNegative, || "length of a slice".to_owned())?;
        }
        for instant in &panel.instants {
            belongs("an instant", instant.row, instant.model)?;
            check::number(instant.time_ms, Allowed::Finite, || "time of an instant".to_owned())?;
        }
        Ok(())
    }

    fn has(&self, kind: InstantKind) -> bool {
        let mut instants = self.panels.iter().flat_map(|panel| &panel.instants);
        instants.any(|instant| instant.kind == kind)
    }

    /// Height of the data of a panel \[px\].
    fn panel_height(&self) -> f64 {
        let rows = self.panels.iter().map(|panel| panel.rows.len()).max().unwrap_or(0);
        rows as f64 * ROW_PX + 6.0
    }

    /// Left end of the data, to the right of the names of rows \[px\].
    fn left(&self, side_px: f64) -> f64 {
        let widths = self.panels.iter().map(|panel| panel.names().width_px);
        side_px + widths.fold(GAP_PX, f64::max)
    }

    fn draw_panel(&self, scene: &mut Scene, panel: &TimelinePanel, area: &Rect, time: &Scale) {
        panel.names().draw_at(scene, area.x, |row| slices_top(area, row) + SLICE_PX / 2.0);
        let inks = self.inks();
        for slice in &panel.slices {
            self.draw_slice(scene, slice, area, (time, inks[slice.model]));
        }
        for instant in &panel.instants {
            draw_instant(scene, instant, area, (time, inks[instant.model]));
        }
    }

    /// Colour of every model.
    fn inks(&self) -> Vec<Ink> {
        model_places(&self.models).into_iter().map(Ink::series).collect()
    }

    fn draw_slice(
        &self,
        scene: &mut Scene,
        slice: &Slice,
        area: &Rect,
        (time, ink): (&Scale, Ink),
    ) {
        let (first, last) = time.ends();
        if slice.end_ms < first || slice.start_ms > last {
            return;
        }
        let (from, to) = (time.at(slice.start_ms), time.at(slice.end_ms));
        let top = slices_top(area, slice.row);
        let width = (to - from).max(MIN_SLICE_PX);
        let rect = Rect { x: from, y: top, width, height: SLICE_PX };
        scene.rect(rect, ink);
        if slice.late {
            hatch(scene, &rect, ink.text_on());
        }
        label_slice(scene, &rect, &self.models[slice.model], (ink, slice.late));
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

/// Writes the name of a model on its slice and over hatching, if there is space.
fn label_slice(scene: &mut Scene, rect: &Rect, name: &str, (ink, hatched): (Ink, bool)) {
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
    let spacing = 5.0;
    for index in 1..((rect.width + rect.height) / spacing).ceil() as usize {
        // The diagonal x + y = reach, in coordinates from the upper left corner.
        let reach = index as f64 * spacing;
        let lower = (reach - rect.height).max(0.0);
        let upper = reach.min(rect.width);
        let point = |x: f64| (rect.x + x, rect.y + reach - x);
        scene.segment(point(lower), point(upper), 0.8, ink);
    }
    scene.outline(*rect, 0.8, Ink::TEXT);
}

fn draw_instant(scene: &mut Scene, instant: &Instant, area: &Rect, (time, ink): (&Scale, Ink)) {
    let (first, last) = time.ends();
    if !(first..=last).contains(&instant.time_ms) {
        return;
    }
    let (x, top) = (time.at(instant.time_ms), slices_top(area, instant.row));
    match instant.kind {
        InstantKind::Deadline => draw_deadline(scene, (x, top), ink),
        InstantKind::Drop => draw_drop(scene, (x, top + SLICE_PX / 2.0), ink),
    }
}

/// A tick with its foot at a point.
fn draw_deadline(scene: &mut Scene, (x, y): Point, ink: Ink) {
    scene.segment((x, y - DEADLINE_PX), (x, y), 1.2, ink.mixed(Ink::BLACK, 0.25));
}

/// A cross with a dark edge, as some models have pale colours.
fn draw_drop(scene: &mut Scene, at: Point, ink: Ink) {
    Marker::Cross.draw_edged(scene, at, 4.0, ink, Ink::TEXT);
}

impl Chart for Timeline {
    fn check(&self) -> Result<(), FigureError> {
        check::amounts(&[
            (self.models.len(), MAX_MODELS, "models"),
            (self.panels.len(), MAX_PANELS, "panels"),
        ])?;
        check::number(self.window_ms.0, Allowed::Finite, || "first time shown".to_owned())?;
        check::number(self.window_ms.1, Allowed::Finite, || "last time shown".to_owned())?;
        let marks = self.panels.iter().map(|panel| panel.slices.len() + panel.instants.len());
        check::at_most(marks.sum(), MAX_MARKS, "slices and instants")?;
        self.panels.iter().try_for_each(|panel| self.check_panel(panel))
    }

    fn description(&self) -> String {
        let slices: usize = self.panels.iter().map(|panel| panel.slices.len()).sum();
        let titles: Vec<_> = self.panels.iter().map(|panel| panel.title.as_str()).collect();
        format!("Timeline of {}: {}.", counted(slices, "execution"), titles.join("; "))
    }

    fn legend(&self) -> Vec<LegendEntry> {
        let models = self.models.iter().zip(self.inks());
        let mut entries: Vec<_> = models.map(|(name, ink)| LegendEntry::fill(name, ink)).collect();
        if self.panels.iter().flat_map(|panel| &panel.slices).any(|slice| slice.late) {
            entries.push(LegendEntry::new("late", |scene, key| {
                scene.rect(key, Ink::GRID);
                hatch(scene, &key, Ink::TEXT);
            }));
        }
        if self.has(InstantKind::Deadline) {
            entries.push(LegendEntry::new("deadline", |scene, key| {
                draw_deadline(scene, (key.centre_x(), key.bottom()), Ink::TEXT);
            }));
        }
        if self.has(InstantKind::Drop) {
            entries.push(LegendEntry::new("dropped", |scene, key| {
                draw_drop(scene, (key.centre_x(), key.centre_y()), Ink::WHITE);
            }));
        }
        entries
    }

    fn draw(&self, page: &mut Page) {
        let left = self.left(page.side_px());
        let grid = Grid::starting_at(page, left, self.panel_height());
        let (first, last) = self.window_ms;
        let time = Scale::exact(first, last, 10).onto(grid.left, page.right_px());
        let titles: Vec<_> = self.panels.iter().map(|panel| panel.title.as_str()).collect();
        let areas = grid.areas(page, &titles, X_AXIS_PX, X_AXIS_PX);
        for (panel, area) in self.panels.iter().zip(&areas) {
            x_grid(&mut page.scene, area, &time);
            self.draw_panel(&mut page.scene, panel, area, &time);
            base_line(&mut page.scene, area, area.bottom());
            x_axis(&mut page.scene, area, &time);
        }
        page.x_title("Time [ms]", grid.left);
    }

    /// `panel,row,model,kind,start_ms,end_ms,late`, a row for each slice or instant, also where outside
    /// the window; an instant has no end.
    fn table(&self) -> Rows {
        let name = |names: &[String], index: usize| names.get(index).cloned().unwrap_or_default();
        let mut rows = Vec::new();
        for panel in &self.panels {
            let marked = |row, model, kind: &str| {
                let (row, model) = (name(&panel.rows, row), name(&self.models, model));
                vec![panel.title.clone(), row, model, kind.to_owned()]
            };
            rows.extend(panel.slices.iter().map(|slice| {
                let mut row = marked(slice.row, slice.model, "slice");
                row.extend([cell(slice.start_ms), cell(slice.end_ms), slice.late.to_string()]);
                row
            }));
            rows.extend(panel.instants.iter().map(|instant| {
                let mut row = marked(instant.row, instant.model, instant.kind.name());
                row.extend([cell(instant.time_ms), String::new(), String::new()]);
                row
            }));
        }
        Rows::new(["panel", "row", "model", "kind", "start_ms", "end_ms", "late"], rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Figure as _;
    use super::super::tests::{Sample, VALUE, blank, caption, names, rects, strokes};
    use super::*;

    impl Sample for Timeline {
        const TEXTS: &[&str] =
            &["0: WS", "not run", "Hand tracking", "Eyes", "late", "dropped", "deadline", "4K PEs"];

        fn sample(value: f64) -> Self {
            let slice = Slice { row: 0, model: 0, start_ms: 0.0, end_ms: 900.0, late: false };
            Self {
                caption: caption(),
                models: names(&["Hand tracking", "Eyes"]),
                window_ms: (0.0, 1000.0),
                panels: vec![TimelinePanel {
                    title: "4K PEs".into(),
                    rows: names(&["0: WS", "not run"]),
                    slices: vec![slice, Slice { model: 1, late: true, end_ms: value, ..slice }],
                    instants: vec![
                        Instant { row: 1, model: 1, time_ms: 5.0, kind: InstantKind::Drop },
                        Instant { row: 0, model: 1, time_ms: value, kind: InstantKind::Deadline },
                    ],
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

    fn chart(slices: Vec<Slice>, instants: Vec<Instant>) -> Timeline {
        let rows = vec!["0".into(), "1".into()];
        Timeline {
            caption: Caption::default(),
            models: vec!["hands".into(), "eyes".into()],
            window_ms: (0.0, 100.0),
            panels: vec![TimelinePanel { title: String::new(), rows, slices, instants }],
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
    fn a_deadline_stands_on_the_row_at_its_time() {
        let deadline = Instant { row: 1, model: 1, time_ms: 50.0, kind: InstantKind::Deadline };
        let chart = chart(vec![slice(1, 0.0, 100.0)], vec![deadline]);
        let scene = chart.scene().expect("the chart can be drawn");
        let slice = rects(&scene, Ink::series(0))[1];
        let tick = &strokes(&scene, Ink::series(1).mixed(Ink::BLACK, 0.25))[0];
        assert_eq!(tick[1], (slice.centre_x(), slice.y));
    }

    #[test]
    fn a_mark_of_a_row_or_model_that_is_not_there_is_refused() {
        let error = chart(vec![slice(2, 0.0, 1.0)], vec![]).scene().expect_err("no such row");
        assert_eq!(error.to_string(), "row of a slice is number 2 of 2");
        let drop = Instant { row: 0, model: 9, time_ms: 0.0, kind: InstantKind::Drop };
        let chart = chart(vec![], vec![drop]);
        assert_eq!(
            chart.scene().expect_err("no such model").to_string(),
            "model of an instant is number 9 of 2"
        );
        assert_eq!(chart.rows().rows[0], ["", "0", "", "drop", "0", "", ""]);
    }

    #[test]
    fn a_slice_that_ends_before_it_starts_is_refused() {
        let error = chart(vec![slice(0, 2.0, 1.0)], vec![]).scene().expect_err("no such length");
        assert_eq!(error.to_string(), "length of a slice is -1; allowed: 0 to 1e100");
    }

    #[test]
    fn hatching_stays_within_its_slice() {
        let mut scene = blank();
        let rect = Rect { x: 10.0, y: 20.0, width: 37.0, height: SLICE_PX };
        hatch(&mut scene, &rect, Ink::BLACK);
        let lines = strokes(&scene, Ink::BLACK);
        // Diagonals every 5 px along 37 + 15 = 52 px.
        assert_eq!(lines.len(), 10);
        let within = |&(x, y): &Point| {
            (rect.x..=rect.right()).contains(&x) && (rect.y..=rect.bottom()).contains(&y)
        };
        assert!(lines.iter().flatten().all(within), "{lines:?}");
    }
}
