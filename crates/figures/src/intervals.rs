//! Dot plots: means with their intervals, in rows with names, in panels that share both axes.

use super::chart::{self, Chart};
use super::check::{self, Allowed};
use super::grid::Grid;
use super::marker::{Marker, RADIUS_PX};
use super::named_rows::NamedRows;
use super::page::{Page, X_AXIS_PX, base_line, x_axis, x_grid};
use super::scale::{Scale, extent};
use super::scene::{Rect, Scene};
use super::{Caption, FigureError, Ink, Quantity, Rows};
use xrsim_model::text::counted;

/// Means with intervals, a row for each name, in panels side by side: schedulers by their score, a panel a scenario.
///
/// All panels have the same rows and the same scale. Points need no zero, so that the scale fits the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Intervals {
    /// Texts around the data.
    pub caption: Caption,
    /// The quantity to the right.
    pub value_axis: Quantity,
    /// Names of the rows, from the top down: 1 to 100.
    pub names: Vec<String>,
    /// Panels side by side: 1 to 4.
    pub columns: usize,
    /// The panels, row by row: 1 to 32.
    pub panels: Vec<IntervalPanel>,
}

/// One panel of [`Intervals`].
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalPanel {
    /// Title of the panel. May be empty.
    pub title: String,
    /// A mean for every name; `None` where there is no result, which is marked by a cross.
    pub means: Vec<Option<Mean>>,
}

/// A mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// Its value.
    pub value: f64,
    /// Ends of its interval.
    pub interval: Option<(f64, f64)>,
}

const MAX_NAMES: usize = 100;
const MAX_COLUMNS: usize = 4;
const MAX_PANELS: usize = 32;

/// Least width of the data of a panel \[px\].
const MIN_PANEL_PX: f64 = 80.0;

impl Mean {
    fn values(&self) -> impl Iterator<Item = f64> {
        chart::ends(self.interval).chain([self.value])
    }
}

impl Intervals {
    fn scale(&self, width_px: f64) -> Scale {
        let means = self.panels.iter().flat_map(|panel| panel.means.iter().flatten());
        let (low, high) = extent(means.flat_map(Mean::values));
        Scale::linear(low, high, ((width_px / 45.0) as usize).max(2))
    }
}

impl IntervalPanel {
    fn draw(&self, scene: &mut Scene, area: &Rect, scale: &Scale) {
        x_grid(scene, area, scale);
        for (index, mean) in self.means.iter().enumerate() {
            let y = NamedRows::middle(area, index);
            let Some(Mean { value, interval }) = mean else {
                Marker::Cross.draw(scene, (area.x + 6.0, y), 2.6, Ink::AXIS);
                continue;
            };
            if let Some((low, high)) = interval {
                let ends = [low, high].map(|end| (scale.at(*end), y));
                scene.whisker(ends, (0.0, 3.0), [1.4, 1.2]);
            }
            Marker::Disc.draw(scene, (scale.at(*value), y), RADIUS_PX, Ink::series(0));
        }
        base_line(scene, area, area.bottom());
    }
}

impl Chart for Intervals {
    fn check(&self) -> Result<(), FigureError> {
        check::amounts(&[
            (self.names.len(), MAX_NAMES, "names"),
            (self.columns, MAX_COLUMNS, "columns"),
            (self.panels.len(), MAX_PANELS, "panels"),
        ])?;
        for panel in &self.panels {
            let what = || format!("means of `{}`", panel.title);
            check::length(panel.means.len(), self.names.len(), what)?;
            for (name, mean) in self.names.iter().zip(&panel.means) {
                for value in mean.iter().flat_map(Mean::values) {
                    let what = || format!("`{name}` in `{}`", panel.title);
                    check::number(value, Allowed::Finite, what)?;
                }
            }
        }
        Ok(())
    }

    fn description(&self) -> String {
        format!(
            "Means of {} with intervals in {}, from the top down: {}.",
            self.value_axis.title(),
            counted(self.panels.len(), "panel"),
            self.names.join(", "),
        )
    }

    fn draw(&self, page: &mut Page) {
        let room = page.right_px() - page.side_px();
        let names = NamedRows::new(&self.names, room);
        let left = page.side_px() + names.width_px;
        let fitting = ((page.right_px() - left) / MIN_PANEL_PX) as usize;
        let columns = self.columns.min(fitting).max(1);
        let grid = Grid::columns(page, left, columns, names.height_px());
        let scale = self.scale(grid.width);
        let titles: Vec<_> = self.panels.iter().map(|panel| panel.title.as_str()).collect();
        let areas = grid.areas(page, &titles, 4.0, X_AXIS_PX);
        for (index, (panel, area)) in self.panels.iter().zip(&areas).enumerate() {
            let scale = scale.onto(area.x, area.right());
            panel.draw(&mut page.scene, area, &scale);
            if grid.is_first(index) {
                names.draw(&mut page.scene, area);
            }
            if index + columns >= self.panels.len() {
                x_axis(&mut page.scene, area, &scale);
            }
        }
        page.x_title(&self.value_axis.title(), grid.left);
    }

    /// `panel,name,mean,low,high`, a row for each mean; the cells of a missing result are empty.
    fn table(&self) -> Rows {
        let mut rows = Vec::new();
        for panel in &self.panels {
            for (name, mean) in self.names.iter().zip(&panel.means) {
                let interval = mean.and_then(|mean| mean.interval);
                let mut row = vec![panel.title.clone(), name.clone()];
                row.extend(chart::cells(mean.map(|mean| mean.value), interval));
                rows.push(row);
            }
        }
        Rows::new(["panel", "name", "mean", "low", "high"], rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Figure as _;
    use super::super::tests::{Sample, VALUE, caption, names, strokes};
    use super::*;

    impl Sample for Intervals {
        const TEXTS: &[&str] = &["edf", "rm", "AR gaming", "Score"];

        fn sample(value: f64) -> Self {
            let mean = Mean { value, interval: Some((value, value)) };
            Self {
                caption: caption(),
                value_axis: Quantity::new("Score", ""),
                names: names(&["edf", "rm"]),
                columns: 2,
                panels: vec![IntervalPanel {
                    title: "AR gaming".into(),
                    means: vec![Some(mean), None],
                }],
            }
        }

        fn empty() -> (Self, &'static str) {
            (Self { panels: vec![], ..Self::sample(VALUE) }, "panels")
        }

        fn crowded(names: Vec<String>) -> Option<(Self, &'static str)> {
            Some((Self { names, ..Self::sample(VALUE) }, "names"))
        }

        fn unequal() -> Option<Self> {
            let mut chart = Self::sample(VALUE);
            chart.panels[0].means.pop();
            Some(chart)
        }
    }

    #[test]
    fn an_interval_lies_around_its_mean_in_proportion() {
        let mean = |value, low, high| Some(Mean { value, interval: Some((low, high)) });
        let chart = Intervals {
            panels: vec![IntervalPanel {
                title: String::new(),
                means: vec![mean(0.5, 0.0, 1.0), mean(0.5, 0.25, 0.75)],
            }],
            columns: 1,
            ..Intervals::sample(VALUE)
        };
        let scene = chart.scene().expect("the chart can be drawn");
        let lines = strokes(&scene, Ink::TEXT);
        let length = |at: usize| lines[at][1].0 - lines[at][0].0;
        // Each interval is a line and two caps.
        assert!((length(0) - 2.0 * length(3)).abs() < 1e-9);
        assert_eq!(lines[3][0].1 - lines[0][0].1, super::super::named_rows::ROW_PX);
    }
}
