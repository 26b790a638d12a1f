//! Courses: quantities over one time, in panels one below the other, under a strip of phases.

use super::chart::{Chart, Frame};
use super::check::{self, Allowed};
use super::dashes::Dashes;
use super::grid::Grid;
use super::lines::{LINE_WIDTH_PX, Limit, draw_limit, name_lines};
use super::page::{GAP_PX, LegendEntry, Page, X_AXIS_PX, base_line, x_axis, x_tick, y_axis};
use super::placement::Placement;
use super::scale::{Scale, extent};
use super::scene::{Align, LABEL_PX, Point, Rect, Scene, Text};
use super::text::fits;
use super::{Caption, FigureError, Ink, Quantity, Rows, Sheet};
use xrsim_model::text::{cell, counted};

/// Quantities over one time, each kind in a panel of its own, under a strip of phases.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    /// Texts around the data.
    pub caption: Caption,
    /// Time, which all panels share.
    pub x_axis: Quantity,
    /// Kinds of phases, which have colours: at most 27.
    pub kinds: Vec<String>,
    /// Phases, in order: at most 20 000.
    pub phases: Vec<CoursePhase>,
    /// Panels, from the top down: 1 to 8.
    pub panels: Vec<CoursePanel>,
}

/// A block of the strip.
#[derive(Debug, Clone, PartialEq)]
pub struct CoursePhase {
    /// Its name, which stands in the block if it fits.
    pub name: String,
    /// Index of its kind.
    pub kind: usize,
    /// Begin.
    pub begin: f64,
    /// End, not before the begin.
    pub end: f64,
}

/// A panel with a scale of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct CoursePanel {
    /// Quantity of the y axis.
    pub y_axis: Quantity,
    /// Its lines: 1 to 17.
    pub lines: Vec<CourseLine>,
    /// Limits of the quantity, drawn as level lines with their names: at most 8.
    pub limits: Vec<Limit>,
}

/// A line of a panel.
#[derive(Debug, Clone, PartialEq)]
pub struct CourseLine {
    /// Its name, which stands beside it if the panel has several lines.
    pub name: String,
    /// Points (time, value) in order; at most 20 000 in all panels.
    pub points: Vec<Point>,
}

const MAX_KINDS: usize = 27;
const MAX_PANELS: usize = 8;
const MAX_LINES: usize = 17;
const MAX_LIMITS: usize = 8;
const MAX_POINTS: usize = 20_000;
const MAX_PHASES: usize = 20_000;

/// Height of the strip, and space below it \[px\].
const STRIP_PX: (f64, f64) = (17.0, 5.0);

/// Space between panels \[px\].
const BETWEEN_PX: f64 = 11.0;

/// Height of a panel of one line on a page for screens, what further lines and limits add, and the most \[px\].
const PANEL_PX: (f64, f64, f64) = (96.0, 24.0, 180.0);

/// Share of white in the colour of a phase, so that lines stand out against it.
const PALE: f64 = 0.55;

/// Points along a line at which its distance to others is measured.
const N_SAMPLES: usize = 200;

/// Places along a limit at which its name may stand: lines jump at every phase.
const N_PLACES: u32 = 48;

/// Colour of phases of the kind at `index`.
fn pale(index: usize) -> Ink {
    Ink::series(index).mixed(Ink::WHITE, PALE)
}

impl CoursePanel {
    fn values(&self) -> impl Iterator<Item = f64> {
        let points = self.lines.iter().flat_map(|line| &line.points).map(|point| point.1);
        points.chain(self.limits.iter().map(|limit| limit.value))
    }

    /// Height of its data \[px\].
    fn height_px(&self, sheet: &Sheet) -> f64 {
        let (first, further, most) = PANEL_PX;
        let n = self.lines.len() + self.limits.len();
        sheet.height_px((first + further * n.saturating_sub(1) as f64).min(most))
    }

    fn scale(&self, height_px: f64) -> Scale {
        let (low, high) = self.y_axis.ends(extent(self.values()));
        Scale::linear(low, high, ((height_px / 24.0) as usize).clamp(2, 5))
    }

    /// Draws lines and limits; `first` is the index of the colour of its first line, which is solid.
    fn draw(&self, scene: &mut Scene, frame: &Frame, first: usize) {
        let mut placement = Placement::within(frame.area);
        let mut paths = Vec::new();
        for (index, line) in self.lines.iter().enumerate() {
            let (dashes, ink) = (Dashes::series(index), Ink::series(first + index));
            let path: Vec<Point> = line.points.iter().map(|it| frame.at(it.0, it.1)).collect();
            path.windows(2).for_each(|pair| placement.keep_clear_of_line(pair[0], pair[1]));
            scene.group(&line.name, |scene| {
                scene.dashed(path.clone(), dashes, LINE_WIDTH_PX, ink);
            });
            let step = path.len().div_ceil(N_SAMPLES).max(1);
            paths.push(path.into_iter().step_by(step).collect());
        }
        for limit in &self.limits {
            let y = frame.y.at(limit.value);
            placement.keep_clear_of_line((frame.area.x, y), (frame.area.right(), y));
        }
        for limit in &self.limits {
            draw_limit(scene, &mut placement, limit, frame, N_PLACES);
        }
        if self.lines.len() > 1 {
            let names = self.lines.iter().map(|line| line.name.as_str());
            name_lines(scene, &mut placement, names, &paths);
        }
    }
}

impl Course {
    fn points(&self) -> impl Iterator<Item = &Point> {
        self.panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.points)
    }

    /// First and last time.
    fn times(&self) -> (f64, f64) {
        let phases = self.phases.iter().flat_map(|phase| [phase.begin, phase.end]);
        extent(phases.chain(self.points().map(|point| point.0)))
    }

    /// Draws the phases between `top` and the height of the strip.
    fn draw_strip(&self, scene: &mut Scene, top: f64, time: &Scale) {
        let block = |phase: &CoursePhase| {
            let (x, right) = (time.at(phase.begin), time.at(phase.end));
            Rect { x, y: top, width: right - x, height: STRIP_PX.0 }
        };
        scene.crisp_group("phases", |scene| {
            for phase in &self.phases {
                scene.rect(block(phase), pale(phase.kind));
            }
        });
        for phase in &self.phases {
            let rect = block(phase);
            scene.segment((rect.x, rect.y), (rect.x, rect.bottom()), 0.7, Ink::WHITE);
            if fits(&phase.name, LABEL_PX, false, rect.width - 4.0) {
                let at = (rect.centre_x(), rect.centre_y());
                let label = Text::label(phase.name.clone(), at).aligned(Align::Middle);
                scene.text(label.centred().inked(pale(phase.kind).text_on()));
            }
        }
    }
}

impl Chart for Course {
    fn check(&self) -> Result<(), FigureError> {
        check::at_most(self.kinds.len(), MAX_KINDS, "kinds")?;
        check::at_most(self.phases.len(), MAX_PHASES, "phases")?;
        check::amount(self.panels.len(), MAX_PANELS, "panels")?;
        for phase in &self.phases {
            let of = |what: &str| format!("{what} of phase `{}`", phase.name);
            check::reference(phase.kind, self.kinds.len(), || of("kind"))?;
            check::number(phase.begin, Allowed::Finite, || of("begin"))?;
            check::number(phase.end, Allowed::Finite, || of("end"))?;
            check::number(phase.end - phase.begin, Allowed::NonNegative, || of("length"))?;
        }
        check::amount(self.points().count(), MAX_POINTS, "points")?;
        for panel in &self.panels {
            check::amount(panel.lines.len(), MAX_LINES, "lines")?;
            check::at_most(panel.limits.len(), MAX_LIMITS, "limits")?;
            panel
                .values()
                .try_for_each(|it| check::number(it, Allowed::Finite, || panel.y_axis.title()))?;
        }
        let mut times = self.points().map(|point| point.0);
        times.try_for_each(|it| check::number(it, Allowed::Finite, || self.x_axis.title()))
    }

    fn description(&self) -> String {
        let panels: Vec<_> = self.panels.iter().map(|panel| panel.y_axis.title()).collect();
        format!(
            "{} over {}, with {}.",
            panels.join(", "),
            self.x_axis.title(),
            counted(self.phases.len(), "phase")
        )
    }

    fn legend(&self, _sheet: &Sheet) -> Vec<LegendEntry> {
        let kinds = self.kinds.iter().enumerate();
        kinds.map(|(index, name)| LegendEntry::fill(name, pale(index))).collect()
    }

    fn draw(&self, page: &mut Page) {
        let sheet = page.sheet();
        let heights: Vec<f64> = self.panels.iter().map(|panel| panel.height_px(&sheet)).collect();
        let scales: Vec<Scale> =
            self.panels.iter().zip(&heights).map(|(panel, height)| panel.scale(*height)).collect();
        let grid = Grid::new(page, &scales, 1, 0.0);
        let (first, last) = self.times();
        let count = (grid.width / 60.0) as usize;
        let time = Scale::exact(first, last, count.max(2)).onto(grid.left, page.right_px());
        if !self.phases.is_empty() {
            self.draw_strip(&mut page.scene, page.top, &time);
            page.top += STRIP_PX.0 + STRIP_PX.1;
        }
        let mut n_lines = 0;
        for (index, (panel, (scale, height))) in
            self.panels.iter().zip(scales.iter().zip(heights)).enumerate()
        {
            page.top += if index == 0 { 0.0 } else { BETWEEN_PX };
            let area = Rect { x: grid.left, y: page.top, width: grid.width, height };
            let frame = Frame::on(area, (&time, scale));
            for phase in self.phases.iter().skip(1) {
                let x = time.at(phase.begin);
                page.scene.segment((x, area.y), (x, area.bottom()), 0.7, Ink::GRID);
            }
            y_axis(&mut page.scene, &area, &frame.y);
            panel.draw(&mut page.scene, &frame, n_lines);
            n_lines += panel.lines.len();
            base_line(&mut page.scene, &area, area.bottom());
            page.top += height;
            match index + 1 == self.panels.len() {
                true => x_axis(&mut page.scene, &area, &time),
                false => {
                    for tick in &time.ticks {
                        x_tick(&mut page.scene, &area, time.at(tick.value));
                    }
                }
            }
            page.y_title(&panel.y_axis.title(), area.y - GAP_PX, area.bottom() + GAP_PX);
        }
        page.top += X_AXIS_PX;
        page.x_title(&self.x_axis.title(), grid.left);
    }

    /// `part,name,kind,begin,end,value`, a row for each phase, point and limit: `part` is `phases` or the title of
    /// the axis of a panel, `kind` the kind of a phase, `point`, or `limit`.
    fn table(&self) -> Rows {
        let phases = self.phases.iter().map(|phase| {
            let kind = self.kinds.get(phase.kind).cloned().unwrap_or_default();
            let [begin, end] = [phase.begin, phase.end].map(cell);
            vec!["phases".into(), phase.name.clone(), kind, begin, end, String::new()]
        });
        let mut rows: Vec<_> = phases.collect();
        for panel in &self.panels {
            let row = |name: &String, kind: &str, at: String, value: f64| {
                let part = panel.y_axis.title();
                vec![part, name.clone(), kind.into(), at, String::new(), cell(value)]
            };
            for line in &panel.lines {
                let points = line.points.iter();
                rows.extend(points.map(|it| row(&line.name, "point", cell(it.0), it.1)));
            }
            let limits = panel.limits.iter();
            rows.extend(limits.map(|it| row(&it.name, "limit", String::new(), it.value)));
        }
        Rows::new(["part", "name", "kind", "begin", "end", "value"], rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Figure as _;
    use super::super::tests::{Sample, VALUE, caption, names, rects, strokes};
    use super::*;

    impl Sample for Course {
        const TEXTS: &[&str] = &[
            "VR_gaming",
            "game",
            "board",
            "skin",
            "Temperature [C]",
            "Power [W]",
            "trip",
            "Time [h]",
        ];

        fn sample(value: f64) -> Self {
            let line = |name: &str, points: &[Point]| CourseLine {
                name: name.into(),
                points: points.to_vec(),
            };
            Self {
                caption: caption(),
                x_axis: Quantity::new("Time", "h"),
                kinds: names(&["VR_gaming", "standby"]),
                phases: vec![
                    CoursePhase { name: "game".into(), kind: 0, begin: 0.0, end: 0.5 },
                    CoursePhase { name: "off".into(), kind: 1, begin: 0.5, end: 1.0 },
                ],
                panels: vec![
                    CoursePanel {
                        y_axis: Quantity::new("Temperature", "C"),
                        lines: vec![
                            line("board", &[(0.0, 1.0), (1.0, value)]),
                            line("skin", &[(0.0, 0.5), (1.0, 0.5)]),
                        ],
                        limits: vec![Limit { name: "trip".into(), value: 2.0 }],
                    },
                    CoursePanel {
                        y_axis: Quantity::new("Power", "W"),
                        lines: vec![line("power", &[(0.0, 0.0), (1.0, 4.0)])],
                        limits: vec![],
                    },
                ],
            }
        }

        fn empty() -> (Self, &'static str) {
            (Self { panels: vec![], ..Self::sample(VALUE) }, "panels")
        }

        fn crowded(names: Vec<String>) -> Option<(Self, &'static str)> {
            Some((Self { kinds: names, ..Self::sample(VALUE) }, "kinds"))
        }
    }

    #[test]
    fn phases_and_lines_share_the_time_and_panels_have_scales_of_their_own() {
        let scene = Course::sample(VALUE).scene().expect("the sample can be drawn");
        let [game, off] = [0, 1].map(|kind| rects(&scene, pale(kind))[1]); // after the key
        assert_eq!((game.right(), game.width), (off.x, off.width));
        let line = |index: usize| strokes(&scene, Ink::series(index)).remove(0);
        let (skin, power) = (line(1), line(2));
        assert_eq!((skin[0].0, skin[1].0), (game.x, off.right()));
        assert_eq!((power[0].0, power[1].0), (game.x, off.right()));
        // Power has a panel of 96 px from 0 to 4 W, below that of the temperatures.
        assert!((power[0].1 - power[1].1 - 96.0).abs() < 1e-9, "{power:?}");
        assert!(power[1].1 > skin[0].1);
    }

    #[test]
    fn a_name_that_does_not_fit_its_phase_is_left_to_the_key() {
        let mut course = Course::sample(VALUE);
        course.phases[0].name = "a game of many words".repeat(9);
        let scene = course.scene().expect("it can be drawn");
        assert!(scene.texts().all(|text| !text.contains("many words")));
        assert!(scene.texts().any(|text| text == "VR_gaming"));
        assert_eq!(course.rows().rows[0][2..], ["VR_gaming", "0", "0.5", ""]);
    }

    #[test]
    fn a_phase_of_no_kind_or_of_negative_length_is_refused() {
        let mut course = Course::sample(VALUE);
        course.phases[1].kind = 2;
        let error = course.scene().expect_err("no such kind");
        assert_eq!(error.to_string(), "kind of phase `off` is number 2 of 2");
        (course.phases[1].kind, course.phases[1].end) = (1, 0.25);
        let error = course.scene().expect_err("no such length");
        assert_eq!(error.to_string(), "length of phase `off` is -0.25; allowed: 0 to 1e100");
    }
}
