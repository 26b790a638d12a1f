//! The page around the data: caption, legend, axes.

use super::decimal::round_up;
use super::marker::Marker;
use super::scale::Scale;
use super::scene::{Align, HALF_CAPITAL, LABEL_PX, Rect, Scene, Text};
use super::text::{broken, fit, width_px, wrap};
use super::{Caption, Ink, Sheet};

/// Height of a line of labels \[px\].
pub(super) const LINE_PX: f64 = 15.0;

const TITLE_PX: f64 = 13.0;

/// Length of the mark of a tick \[px\].
const TICK_PX: f64 = 4.0;

/// Space between an axis and its labels \[px\].
pub(super) const GAP_PX: f64 = 6.0;

/// Most entries of a legend; further ones are counted.
const MAX_ENTRIES: usize = 40;

/// Lines that a title, a subtitle and a note may take.
const MAX_LINES: usize = 6;

/// A page that is filled from the top.
pub(super) struct Page {
    /// Marks drawn so far.
    pub scene: Scene,
    /// Lower end of the filled part \[px\].
    pub top: f64,
}

impl Page {
    /// A page with title and subtitle, if the sheet has them.
    pub(super) fn new(sheet: Sheet, caption: &Caption, description: String) -> Self {
        let title = caption.title.clone();
        let scene = Scene { sheet, height_px: 0.0, title, description, shapes: Vec::new() };
        let mut page = Self { scene, top: (sheet.side_px - 2.0).max(0.0) };
        if sheet.titled {
            page.paragraph(&caption.title, true);
            page.paragraph(&caption.subtitle, false);
        }
        page
    }

    /// Left end of the drawing \[px\].
    pub(super) fn side_px(&self) -> f64 {
        self.scene.sheet.side_px
    }

    /// Right end of the drawing \[px\].
    pub(super) fn right_px(&self) -> f64 {
        self.scene.width_px() - self.side_px()
    }

    /// The sheet.
    pub(super) fn sheet(&self) -> Sheet {
        self.scene.sheet
    }

    fn paragraph(&mut self, text: &str, title: bool) {
        let (size_px, ink) = if title { (TITLE_PX, Ink::TEXT) } else { (LABEL_PX, Ink::QUIET) };
        let side = self.side_px();
        for line in wrap(text, size_px, title, self.right_px() - side, MAX_LINES) {
            let below = if title { 17.0 } else { LINE_PX };
            let mut text = Text::label(line, (side, self.top + below - 4.0)).sized(size_px);
            text.bold = title;
            self.scene.text(text.inked(ink));
            self.top += below;
        }
    }

    /// Draws the legend, in as many rows as it needs.
    pub(crate) fn legend(&mut self, entries: Vec<LegendEntry>) {
        if entries.is_empty() {
            return;
        }
        let hidden = entries.len().saturating_sub(MAX_ENTRIES);
        self.top += if self.scene.sheet.titled { 5.0 } else { 0.0 };
        let mut x = self.side_px();
        let widest = (self.right_px() - x - KEY_PX - 5.0).min(220.0);
        let (side, right, mut top) = (self.side_px(), self.right_px(), self.top);
        // Where an entry of this width begins; the next one begins after it.
        let mut place = |top: &mut f64, width: f64| {
            if x > side && x + width > right {
                x = side;
                *top += LINE_PX + 1.0;
            }
            let at = x;
            x += width + 14.0;
            at
        };
        self.scene.group("legend", |scene| {
            for entry in entries.into_iter().take(MAX_ENTRIES) {
                let name = fit(&entry.name, LABEL_PX, false, widest);
                let x = place(&mut top, KEY_PX + 5.0 + width_px(&name, LABEL_PX, false));
                let key = Rect { x, y: top + 2.5, width: KEY_PX, height: 10.0 };
                (entry.draw)(scene, key);
                scene.text(Text::label(name, (x + KEY_PX + 5.0, top + 7.5)).centred());
            }
            if hidden > 0 {
                let more = format!("and {hidden} more");
                let x = place(&mut top, width_px(&more, LABEL_PX, false));
                scene.text(Text::label(more, (x, top + 7.5)).centred());
            }
        });
        self.top = top + LINE_PX + 5.0;
    }

    /// Writes the title of an x axis below the filled part, centred under data that start at `left`.
    pub(crate) fn x_title(&mut self, title: &str, left: f64) {
        if title.is_empty() {
            return;
        }
        let right = self.right_px();
        for line in broken(title, LABEL_PX, false, right - left, MAX_LINES) {
            let at = ((left + right) / 2.0, self.top + 13.0);
            self.scene.text(Text::label(line, at).aligned(Align::Middle));
            self.top += LINE_PX;
        }
        self.top += 3.0;
    }

    /// Writes the title of a y axis along the left margin, centred between two heights.
    pub(crate) fn y_title(&mut self, title: &str, from_px: f64, to_px: f64) {
        let title = fit(title, LABEL_PX, false, (to_px - from_px).abs() + 20.0);
        // The title stays on the page, which ends above short data.
        let half = width_px(&title, LABEL_PX, false) / 2.0;
        let at = (self.side_px() + 4.0, ((from_px + to_px) / 2.0).max(half + 1.0));
        self.scene.text(Text::label(title, at).upwards().aligned(Align::Middle).centred());
    }

    /// Writes the note and ends the page.
    pub(super) fn finish(mut self, note: &str) -> Scene {
        if self.scene.sheet.titled {
            self.top += 4.0;
            self.paragraph(note, false);
        }
        self.scene.height_px = self.top + (self.side_px() - 4.0).max(1.0);
        self.scene
    }
}

/// Width of the key of a legend entry \[px\].
pub(super) const KEY_PX: f64 = 18.0;

/// Meaning of a colour or shape.
pub(super) struct LegendEntry {
    name: String,
    draw: Box<Key>,
}

/// Draws the key of an entry in a rectangle.
type Key = dyn Fn(&mut Scene, Rect);

impl LegendEntry {
    /// An entry whose key is drawn by `draw`.
    pub(super) fn new(name: impl Into<String>, draw: impl Fn(&mut Scene, Rect) + 'static) -> Self {
        Self { name: name.into(), draw: Box::new(draw) }
    }

    /// An entry for the areas of the series at `index`.
    pub(super) fn area(name: impl Into<String>, index: usize) -> Self {
        Self::new(name, move |scene, key| scene.area_of_series(key, index))
    }

    /// An entry for an area of one colour.
    pub(crate) fn fill(name: impl Into<String>, ink: Ink) -> Self {
        Self::new(name, move |scene, key| scene.rect(key, ink))
    }

    /// An entry for published values.
    pub(super) fn published(name: &str) -> Self {
        Self::new(if name.is_empty() { "published" } else { name }, |scene, key| {
            Marker::published(scene, (key.centre_x(), key.centre_y()), 4.5);
        })
    }
}

/// Left end of the data of charts with these y axes, after title, labels and ticks \[px\].
pub(super) fn left_px<'a>(side_px: f64, scales: impl IntoIterator<Item = &'a Scale>) -> f64 {
    let labels = scales.into_iter().flat_map(|scale| &scale.ticks);
    let widest = labels.map(|tick| width_px(&tick.label, LABEL_PX, false)).fold(0.0, f64::max);
    (side_px + 14.0 + widest + GAP_PX + 3.0).ceil()
}

/// Grid lines, labels and line of a y axis to the left of `area`.
pub(super) fn y_axis(scene: &mut Scene, area: &Rect, scale: &Scale) {
    y_grid(scene, area, scale);
    scene.group("y axis", |scene| {
        for tick in &scale.ticks {
            let y = scale.at(tick.value);
            let label = Text::label(tick.label.clone(), (area.x - GAP_PX, y));
            scene.text(label.aligned(Align::End).centred());
        }
    });
}

/// Grid lines of a y axis.
pub(super) fn y_grid(scene: &mut Scene, area: &Rect, scale: &Scale) {
    scene.group("grid", |scene| {
        for tick in &scale.ticks {
            let y = scale.at(tick.value);
            scene.segment((area.x, y), (area.right(), y), 0.7, Ink::GRID);
        }
    });
}

/// Ticks and labels of an x axis below `area`; labels that would touch are left out.
pub(super) fn x_axis(scene: &mut Scene, area: &Rect, scale: &Scale) {
    let mut free_from = f64::NEG_INFINITY;
    scene.group("x axis", |scene| {
        for tick in &scale.ticks {
            let x = scale.at(tick.value);
            x_tick(scene, area, x);
            let half = width_px(&tick.label, LABEL_PX, false) / 2.0;
            let middle = x.min(scene.width_px() - 1.0 - half); // the last label stays on the page
            if middle - half >= free_from {
                let baseline = area.bottom() + TICK_PX + 2.0 + 2.0 * HALF_CAPITAL * LABEL_PX;
                let label = Text::label(tick.label.clone(), (middle, baseline));
                scene.text(label.aligned(Align::Middle));
                free_from = middle + half + 6.0;
            }
        }
    });
}

/// Height of the ticks and labels that [`x_axis`] draws \[px\].
pub(super) const X_AXIS_PX: f64 = 18.0;

/// Grid lines of an x axis.
pub(super) fn x_grid(scene: &mut Scene, area: &Rect, scale: &Scale) {
    scene.group("grid", |scene| {
        for tick in &scale.ticks {
            let x = scale.at(tick.value);
            scene.segment((x, area.y), (x, area.bottom()), 0.7, Ink::GRID);
        }
    });
}

/// The mark of a tick below `area`.
pub(super) fn x_tick(scene: &mut Scene, area: &Rect, x: f64) {
    scene.segment((x, area.bottom()), (x, area.bottom() + TICK_PX), 1.0, Ink::AXIS);
}

/// The line that bars stand on, at the height `y` of `area`.
pub(super) fn base_line(scene: &mut Scene, area: &Rect, y: f64) {
    scene.segment((area.x, y), (area.right(), y), 1.0, Ink::AXIS);
}

/// Names along an x axis, with the same width for each.
pub(super) struct Categories {
    /// All names as they are written; not all of them may be shown.
    names: Vec<String>,
    /// Whether they are written upwards.
    upwards: bool,
    /// One in this many is shown.
    every: usize,
    /// Height that they take below the axis \[px\].
    depth_px: f64,
}

/// Widest name along an axis \[px\].
const MAX_NAME_PX: f64 = 150.0;

impl Categories {
    /// Horizontal names if all fit side by side, or if they are short enough to be thinned out; otherwise
    /// upright names, thinned out as needed.
    pub(super) fn new(names: &[String], width: f64) -> Self {
        let slot = width / names.len().max(1) as f64;
        let names: Vec<_> =
            names.iter().map(|name| fit(name, LABEL_PX, false, MAX_NAME_PX)).collect();
        let widths: Vec<f64> = names.iter().map(|name| width_px(name, LABEL_PX, false)).collect();
        let widest = widths.iter().copied().fold(0.0, f64::max);
        // Single letters need less space between them.
        let space = if widest < 12.0 { 2.0 } else { 6.0 };
        let pairs = widths.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
        let all_fit = pairs.fold(0.0, f64::max) + space <= slot;
        let upwards = !all_fit && widest > 32.0;
        let pitch = if upwards { 13.0 } else { widest + space };
        let every = if all_fit { 1 } else { round_count((pitch / slot).ceil()) };
        let depth_px = TICK_PX + 5.0 + if upwards { widest } else { LABEL_PX };
        Self { names, upwards, every, depth_px }
    }

    /// Height that the names take below the axis \[px\].
    pub(crate) fn depth_px(&self) -> f64 {
        self.depth_px
    }

    /// Whether all names are shown side by side.
    pub(crate) fn are_level(&self) -> bool {
        !self.upwards && self.every == 1
    }

    /// Writes the names below `area`.
    pub(super) fn draw(&self, scene: &mut Scene, area: &Rect) {
        let slot = area.width / self.names.len() as f64;
        scene.group("x axis", |scene| {
            for (index, name) in self.names.iter().enumerate().step_by(self.every) {
                let x = area.x + (index as f64 + 0.5) * slot;
                let y = area.bottom() + TICK_PX + 3.0;
                x_tick(scene, area, x);
                scene.text(if self.upwards {
                    Text::label(name.clone(), (x, y)).upwards().aligned(Align::End).centred()
                } else {
                    let baseline = y + 2.0 * HALF_CAPITAL * LABEL_PX;
                    Text::label(name.clone(), (x, baseline)).aligned(Align::Middle)
                });
            }
        });
    }

    /// Draws marks below `area` at the places of names.
    pub(crate) fn ticks(&self, scene: &mut Scene, area: &Rect) {
        let slot = area.width / self.names.len() as f64;
        for index in (0..self.names.len()).step_by(self.every) {
            x_tick(scene, area, area.x + (index as f64 + 0.5) * slot);
        }
    }
}

/// The least of 1, 2, 5, 10, 20, ... that is not below `count`.
fn round_count(count: f64) -> usize {
    round_up(count.max(1.0)) as usize
}

#[cfg(test)]
mod tests {
    use super::super::tests::blank;
    use super::*;

    fn names(count: usize, prefix: &str) -> Vec<String> {
        (0..count).map(|index| format!("{prefix}{index}")).collect()
    }

    #[test]
    fn names_are_level_where_they_fit_and_thinned_out_to_round_counts() {
        let shown = |names: &[String], width| {
            let categories = Categories::new(names, width);
            (!categories.upwards, categories.every)
        };
        assert_eq!(shown(&names(4, "conv"), 600.0), (true, 1));
        assert_eq!(shown(&names(40, "encoder.conv"), 600.0), (false, 1));
        // 13 px for 0.5 px: one in 26, rounded to 50.
        assert_eq!(shown(&names(1200, "encoder.conv"), 600.0), (false, 50));
        // Short names stay level: 28 px and 6 px between for 6 px, one in 6, rounded to 10.
        assert_eq!(shown(&names(100, "L1"), 600.0), (true, 10));
        assert_eq!(shown(&names(3, ""), 600.0), (true, 1));
        assert_eq!(shown(&vec![String::new(); 3], 600.0), (true, 1));
    }

    #[test]
    fn a_legend_breaks_into_rows_and_counts_what_it_leaves_out() {
        let entries = |count| {
            names(count, "series ").iter().map(|n| LegendEntry::fill(n, Ink::AXIS)).collect()
        };
        let rows = |count| {
            let mut page = Page { scene: blank(), top: 0.0 };
            page.legend(entries(count));
            let text = page.scene.texts().last().cloned();
            (page.top, text)
        };
        assert_eq!(rows(0), (0.0, None));
        let one_row = rows(3).0;
        assert!(rows(30).0 > one_row);
        assert_eq!(rows(MAX_ENTRIES + 7).1.as_deref(), Some("and 7 more"));
    }

    #[test]
    fn labels_of_an_axis_that_would_touch_are_left_out() {
        let mut scene = blank();
        let area = Rect { x: 0.0, y: 0.0, width: 60.0, height: 10.0 };
        x_axis(&mut scene, &area, &Scale::linear(0.0, 10.0, 10).onto(0.0, 60.0));
        // Ticks every 6 px; a digit is 7 px wide and 6 px are kept between: every third.
        assert_eq!(scene.texts().collect::<Vec<_>>(), ["0", "3", "6", "9"]);
    }
}
