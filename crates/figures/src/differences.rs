//! Differences to a reference: means with their intervals and their parts, in rows with names.

use super::chart::{self, Chart};
use super::check::{self, Allowed};
use super::grid::Grid;
use super::marker::{Marker, RADIUS_PX};
use super::named_rows::NamedRows;
use super::page::{GAP_PX, LegendEntry, Page, X_AXIS_PX, base_line, x_axis, x_grid};
use super::scale::{Scale, extent};
use super::scene::{Align, LABEL_PX, Rect, Scene, Text};
use super::text::width_px as text_px;
use super::{Caption, FigureError, Ink, Quantity, Rows, Sheet};
use xrsim_model::text::counted;

/// Differences to a reference at 0, a row for each name: schedulers to the best one, with their parts by scenario.
///
/// A disc with a line is the mean with its interval, rings are the parts. The part that is farthest from 0 is named
/// where there is room.
#[derive(Debug, Clone, PartialEq)]
pub struct Differences {
    /// Texts around the data.
    pub caption: Caption,
    /// The difference to the right.
    pub value_axis: Quantity,
    /// Meaning of one part: `one scenario`.
    pub part: String,
    /// The rows, from the top down: 1 to 100.
    pub rows: Vec<DifferenceRow>,
}

/// One row of [`Differences`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DifferenceRow {
    /// Name of the row.
    pub name: String,
    /// Mean; `None` where there is no result, which is marked by a cross.
    pub mean: Option<f64>,
    /// Ends of the interval of the mean.
    pub interval: Option<(f64, f64)>,
    /// Names and values of the parts: 0 to 100.
    pub parts: Vec<(String, f64)>,
}

const MAX_ROWS: usize = 100;
const MAX_PARTS: usize = 100;

/// Radius of the ring of a part \[px\].
const RING_PX: f64 = 2.9;

impl DifferenceRow {
    fn values(&self) -> impl Iterator<Item = f64> {
        let parts = self.parts.iter().map(|(_, value)| *value);
        chart::ends(self.interval).chain(self.mean).chain(parts)
    }

    /// The part that is farthest from 0.
    fn farthest(&self) -> Option<&(String, f64)> {
        self.parts.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
    }

    fn draw(&self, scene: &mut Scene, (area, y): (&Rect, f64), scale: &Scale) {
        let Some(mean) = self.mean else {
            Marker::Cross.draw(scene, (scale.at(0.0), y), 2.6, Ink::AXIS);
            return;
        };
        if let Some((low, high)) = self.interval {
            scene.whisker([low, high].map(|end| (scale.at(end), y)), (0.0, 3.0), 1.3);
        }
        for (_, value) in &self.parts {
            Marker::Disc.draw_open(scene, (scale.at(*value), y), RING_PX, Ink::series(0));
        }
        Marker::Disc.draw(scene, (scale.at(mean), y), RADIUS_PX, Ink::series(0));
        if let Some((name, value)) = self.farthest() {
            self.name_part(scene, (area, y), (scale, name, *value));
        }
    }

    /// Writes the name of a part on the side away from 0, or on the other one, unless a mark is in the way.
    fn name_part(
        &self,
        scene: &mut Scene,
        (area, y): (&Rect, f64),
        (scale, name, value): (&Scale, &str, f64),
    ) {
        let x = scale.at(value);
        // Near 0 every part is as good as the others.
        if (x - scale.at(0.0)).abs() < 4.0 * RADIUS_PX {
            return;
        }
        let width = text_px(name, LABEL_PX, false);
        let left = (x - GAP_PX - width, x - GAP_PX, Align::End);
        let right = (x + GAP_PX, x + GAP_PX + width, Align::Start);
        let sides = if value < 0.0 { [left, right] } else { [right, left] };
        let marks: Vec<f64> = self.values().map(|it| scale.at(it)).collect();
        let is_free = |&(from, to, _): &(f64, f64, Align)| {
            let is_clear = |&at: &f64| at + RADIUS_PX < from || at - RADIUS_PX > to;
            from >= area.x && to <= area.right() && marks.iter().all(is_clear)
        };
        if let Some((_, _, align)) = sides.into_iter().find(is_free) {
            let at = if align == Align::End { x - GAP_PX } else { x + GAP_PX };
            scene.text(Text::label(name.to_string(), (at, y)).aligned(align).centred());
        }
    }
}

impl Chart for Differences {
    fn check(&self) -> Result<(), FigureError> {
        check::amounts(&[(self.rows.len(), MAX_ROWS, "rows")])?;
        for row in &self.rows {
            let what = || format!("parts of `{}`", row.name);
            if row.parts.len() > MAX_PARTS {
                check::length(row.parts.len(), MAX_PARTS, what)?;
            }
            for value in row.values() {
                check::number(value, Allowed::Finite, || format!("`{}`", row.name))?;
            }
        }
        Ok(())
    }

    fn description(&self) -> String {
        let names: Vec<_> = self.rows.iter().map(|row| row.name.as_str()).collect();
        format!(
            "{} with intervals in {}, from the top down: {}.",
            self.value_axis.title(),
            counted(self.rows.len(), "row"),
            names.join(", "),
        )
    }

    fn legend(&self, _sheet: &Sheet) -> Vec<LegendEntry> {
        if self.rows.iter().all(|row| row.parts.is_empty()) {
            return Vec::new();
        }
        let mean = LegendEntry::new("mean, 95 % interval", |scene, key| {
            let y = key.centre_y();
            scene.whisker([(key.x, y), (key.right(), y)], (0.0, 3.0), 1.3);
            Marker::Disc.draw(scene, (key.centre_x(), y), RADIUS_PX, Ink::series(0));
        });
        let part = LegendEntry::new(&self.part, |scene, key| {
            let at = (key.centre_x(), key.centre_y());
            Marker::Disc.draw_open(scene, at, RING_PX, Ink::series(0));
        });
        vec![mean, part]
    }

    fn draw(&self, page: &mut Page) {
        let all: Vec<_> = self.rows.iter().map(|row| row.name.clone()).collect();
        let names = NamedRows::new(&all, page.right_px() - page.side_px());
        let left = page.side_px() + names.width_px;
        let width = page.right_px() - left;
        let grid = Grid::starting_at(page, left, names.height_px());
        let area = grid.areas(page, &[""], 0.0, X_AXIS_PX).remove(0);
        let values = self.rows.iter().flat_map(DifferenceRow::values);
        let (low, high) = extent(values.chain([0.0]));
        let scale = Scale::linear(low, high, ((width / 60.0) as usize).max(2));
        let scale = scale.onto(area.x, area.right());
        x_grid(&mut page.scene, &area, &scale);
        let zero = scale.at(0.0);
        page.scene.line(vec![(zero, area.y), (zero, area.bottom())], 1.0, Ink::AXIS);
        for (index, row) in self.rows.iter().enumerate() {
            row.draw(&mut page.scene, (&area, NamedRows::middle(&area, index)), &scale);
        }
        base_line(&mut page.scene, &area, area.bottom());
        names.draw(&mut page.scene, &area);
        x_axis(&mut page.scene, &area, &scale);
        page.x_title(&self.value_axis.title(), left);
    }

    /// `name,part,difference,low,high`: the mean of a row has no part, and a part has no interval.
    fn table(&self) -> Rows {
        let mut rows = Vec::new();
        for row in &self.rows {
            let mut add = |part: &str, value: Option<f64>, interval| {
                let mut cells = vec![row.name.clone(), part.to_string()];
                cells.extend(chart::cells(value, interval));
                rows.push(cells);
            };
            add("", row.mean, row.interval);
            row.parts.iter().for_each(|(part, value)| add(part, Some(*value), None));
        }
        Rows::new(["name", "part", "difference", "low", "high"], rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Figure as _;
    use super::super::tests::{Sample, VALUE, caption, strokes};
    use super::*;

    fn row(name: &str, mean: Option<f64>, interval: Option<(f64, f64)>) -> DifferenceRow {
        DifferenceRow { name: name.into(), mean, interval, parts: Vec::new() }
    }

    impl Sample for Differences {
        const TEXTS: &[&str] = &["edf", "rm", "Score"];

        fn sample(value: f64) -> Self {
            Self {
                caption: caption(),
                value_axis: Quantity::new("Score", ""),
                part: "one scenario".into(),
                rows: vec![row("edf", Some(value), Some((value, value))), row("rm", None, None)],
            }
        }

        fn empty() -> (Self, &'static str) {
            (Self { rows: vec![], ..Self::sample(VALUE) }, "rows")
        }

        fn crowded(names: Vec<String>) -> Option<(Self, &'static str)> {
            let rows = names.iter().map(|name| row(name, Some(VALUE), None)).collect();
            Some((Self { rows, ..Self::sample(VALUE) }, "rows"))
        }
    }

    #[test]
    fn an_interval_lies_around_its_mean_in_proportion() {
        let rows = vec![
            row("a", Some(-0.5), Some((-1.0, 0.0))),
            row("b", Some(-0.5), Some((-0.75, -0.25))),
        ];
        let chart = Differences { rows, ..Differences::sample(VALUE) };
        let scene = chart.scene().expect("the chart can be drawn");
        let lines = strokes(&scene, Ink::TEXT);
        // Each interval is a cap, the line between the ends, and a cap.
        let ends = |at: usize| (lines[at][2], lines[at][3]);
        let length = |at: usize| ends(at).1.0 - ends(at).0.0;
        assert!((length(0) - 2.0 * length(1)).abs() < 1e-9);
        assert_eq!(ends(1).0.1 - ends(0).0.1, super::super::named_rows::ROW_PX);
    }

    #[test]
    fn the_farthest_part_is_named_unless_it_is_near_zero() {
        let named = |values: [f64; 2]| {
            let parts = vec![("near".to_string(), values[0]), ("far".to_string(), values[1])];
            let wide = row("b", Some(1.0), None);
            let rows = vec![DifferenceRow { parts, ..row("a", Some(-0.1), None) }, wide];
            let chart = Differences { rows, ..Differences::sample(VALUE) };
            let scene = chart.scene().expect("the chart can be drawn");
            scene.texts().filter(|it| ["near", "far"].contains(&it.as_str())).count()
        };
        assert_eq!(named([-0.01, -0.5]), 1);
        assert_eq!(named([-0.001, -0.002]), 0);
    }
}
