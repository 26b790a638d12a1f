//! Diagrams of critical differences: mean ranks, with bars that join what is not told apart.

use super::chart::Chart;
use super::check::{self, Allowed};
use super::grid::Grid;
use super::marker::{Marker, RADIUS_PX};
use super::named_rows::NamedRows;
use super::page::{LINE_PX, LegendEntry, Page, X_AXIS_PX, base_line, x_axis, x_grid};
use super::scale::{Scale, extent};
use super::scene::{Align, Rect, Scene, Text};
use super::{Caption, FigureError, Ink, Rows, Sheet};
use xrsim_model::text::cell;

/// Mean ranks after a Nemenyi test (Demsar, JMLR 7, 2006), the best on top.
///
/// Demsar draws names on both sides of a level axis of ranks. Here every name has a row, so that names of any length
/// fit beside the data, and the bars that join groups are upright.
#[derive(Debug, Clone, PartialEq)]
pub struct CriticalDifference {
    /// Texts around the data.
    pub caption: Caption,
    /// Names: 2 to 100.
    pub names: Vec<String>,
    /// Mean rank of each, from 1 (the best) on.
    pub mean_ranks: Vec<f64>,
    /// Mean ranks that differ by this much or more are told apart.
    pub difference: f64,
    /// Groups of names that are not told apart: indices, neighbours in the order of ranks.
    pub groups: Vec<Vec<usize>>,
}

const MAX_NAMES: usize = 100;

/// Distance between the bars of groups \[px\].
const LANE_PX: f64 = 7.0;

/// Most lanes of bars; groups beyond share the last one.
const MAX_LANES: usize = 12;

/// Width of the bars of groups \[px\].
const BAR_PX: f64 = 3.2;

/// Least distance of a rank from an end of a cut axis.
const MARGIN: f64 = 0.05;

impl CriticalDifference {
    /// The names by rank, the best first.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by(|&a, &b| self.mean_ranks[a].total_cmp(&self.mean_ranks[b]));
        order
    }

    /// First and last place of every group in the order.
    fn spans(&self, order: &[usize]) -> Vec<(usize, usize)> {
        let place = |index: &usize| order.iter().position(|it| it == index).unwrap_or_default();
        let span = |group: &Vec<usize>| {
            let places = || group.iter().map(place);
            Some((places().min()?, places().max()?))
        };
        self.groups.iter().filter_map(span).collect()
    }

    /// Ranks that the axis shows: from 1 on, or from the last whole rank before all if the ranks and the critical
    /// difference would take less than half of the axis.
    fn ends(&self) -> (f64, f64) {
        let (low, high) = extent(self.mean_ranks.iter().copied());
        let all = (1.0_f64.min(low), high.max(1.0 + self.difference).max(self.names.len() as f64));
        let least = (low - MARGIN).floor().max(all.0);
        let most = (high + MARGIN).ceil().max(least + self.difference.ceil());
        match most - least < (all.1 - all.0) / 2.0 + 1e-9 {
            true => (least, most),
            false => all,
        }
    }

    /// Draws the length of the critical difference above the data.
    fn draw_difference(&self, scene: &mut Scene, area: &Rect, scale: &Scale) {
        let y = area.y - 7.0;
        let least = scale.ends().0;
        let (from, to) = (scale.at(least), scale.at(least + self.difference));
        scene.whisker([(from, y), (to, y)], (0.0, 3.0), 1.4);
        let text = format!("CD = {:.2}", self.difference);
        let width = super::text::width_px(&text, super::scene::LABEL_PX, false);
        // Right of the bar if there is space, otherwise above it.
        let (at, align) = match to + 6.0 + width <= scene.width_px() {
            true => ((to + 6.0, y), Align::Start),
            false => ((to, y - 10.0), Align::End),
        };
        scene.text(Text::label(text, at).aligned(align).centred());
    }
}

impl Chart for CriticalDifference {
    fn check(&self) -> Result<(), FigureError> {
        check::amount(self.names.len(), MAX_NAMES, "names")?;
        check::length(self.mean_ranks.len(), self.names.len(), || "mean ranks".to_owned())?;
        check::number(self.difference, Allowed::NonNegative, || "critical difference".to_owned())?;
        for (name, rank) in self.names.iter().zip(&self.mean_ranks) {
            check::number(*rank, Allowed::NonNegative, || format!("mean rank of `{name}`"))?;
        }
        let indices = self.groups.iter().flatten();
        indices.copied().try_for_each(|index| {
            check::reference(index, self.names.len(), || "name of a group".to_owned())
        })
    }

    fn description(&self) -> String {
        let entry = |index: usize| format!("{} {:.2}", self.names[index], self.mean_ranks[index]);
        let entries: Vec<_> = self.order().into_iter().map(entry).collect();
        format!(
            "Mean ranks, which differ significantly from a difference of {:.2} on: {}.",
            self.difference,
            entries.join(", ")
        )
    }

    fn legend(&self, _sheet: &Sheet) -> Vec<LegendEntry> {
        let bar = LegendEntry::new("not told apart", |scene, key| {
            let x = key.centre_x();
            scene.segment((x, key.y - 1.0), (x, key.bottom() + 1.0), BAR_PX, Ink::TEXT);
        });
        let difference = LegendEntry::new("CD: critical difference", |scene, key| {
            let y = key.centre_y();
            scene.whisker([(key.x, y), (key.right(), y)], (0.0, 3.0), 1.4);
        });
        let has_groups = self.groups.iter().any(|group| group.len() > 1);
        [Some(difference), has_groups.then_some(bar)].into_iter().flatten().collect()
    }

    fn draw(&self, page: &mut Page) {
        let order = self.order();
        let names: Vec<String> = order.iter().map(|&index| self.names[index].clone()).collect();
        let rows = NamedRows::new(&names, page.right_px() - page.side_px());
        let spans = self.spans(&order);
        let lanes = spans.len().min(MAX_LANES) as f64 * LANE_PX;
        page.top += LINE_PX + 4.0;
        let left = page.side_px() + rows.width_px;
        let grid = Grid::starting_at(page, left, rows.height_px());
        let area = grid.areas(page, &[""], 0.0, X_AXIS_PX)[0];
        let data = Rect { width: (area.width - lanes - 8.0).max(20.0), ..area };
        let count = ((data.width / 30.0) as usize).clamp(2, 12);
        let (least, most) = self.ends();
        let scale = Scale::exact(least, most, count).onto(data.x + 4.0, data.right() - 4.0);
        let scene = &mut page.scene;
        self.draw_difference(scene, &data, &scale);
        x_grid(scene, &data, &scale);
        for (lane, &(first, last)) in spans.iter().enumerate() {
            let x = data.right() + 8.0 + LANE_PX * lane.min(MAX_LANES - 1) as f64;
            let (from, to) = (NamedRows::middle(&area, first), NamedRows::middle(&area, last));
            scene.segment((x, from - 4.0), (x, to + 4.0), BAR_PX, Ink::TEXT);
        }
        for (row, &index) in order.iter().enumerate() {
            let at = (scale.at(self.mean_ranks[index]), NamedRows::middle(&area, row));
            scene.segment((data.x, at.1), at, 0.7, Ink::AXIS);
            Marker::Disc.draw(scene, at, RADIUS_PX, Ink::series(0));
        }
        rows.draw(scene, &area);
        base_line(scene, &data, data.bottom());
        x_axis(scene, &data, &scale);
        page.x_title("Mean rank (1: best)", data.x);
    }

    /// `name,mean_rank,groups`, a row for each name, the best first; `groups` are the numbers of the groups that the
    /// name is in, and names without a common one are told apart. The last row has the critical difference.
    fn table(&self) -> Rows {
        let mut rows: Vec<Vec<String>> = Vec::new();
        let order =
            if self.mean_ranks.len() == self.names.len() { self.order() } else { Vec::new() };
        for index in order {
            let groups = self.groups.iter().zip(1..).filter(|(group, _)| group.contains(&index));
            let groups: Vec<String> = groups.map(|(_, number)| number.to_string()).collect();
            let rank = cell(self.mean_ranks[index]);
            rows.push(vec![self.names[index].clone(), rank, groups.join(" ")]);
        }
        rows.push(vec!["critical difference".into(), cell(self.difference), String::new()]);
        Rows::new(["name", "mean_rank", "groups"], rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Figure as _;
    use super::super::tests::{Sample, VALUE, caption, names, strokes};
    use super::*;

    impl Sample for CriticalDifference {
        const TEXTS: &[&str] = &["edf", "rm", "fcfs", "CD = 1.25", "Mean rank (1: best)"];

        fn sample(value: f64) -> Self {
            Self {
                caption: caption(),
                names: names(&["rm", "edf", "fcfs"]),
                mean_ranks: vec![value, 1.0, 2.75],
                difference: 1.25,
                groups: vec![vec![0, 2]],
            }
        }

        fn empty() -> (Self, &'static str) {
            (Self { names: vec![], ..Self::sample(VALUE) }, "names")
        }

        fn crowded(names: Vec<String>) -> Option<(Self, &'static str)> {
            Some((Self { names, ..Self::sample(VALUE) }, "names"))
        }

        fn unequal() -> Option<Self> {
            let mut chart = Self::sample(VALUE);
            chart.names.pop();
            Some(chart)
        }
    }

    #[test]
    fn a_bar_joins_the_rows_of_its_group() {
        let scene = CriticalDifference::sample(VALUE).scene().expect("the chart can be drawn");
        let bars = strokes(&scene, Ink::TEXT).into_iter().filter(|line| line[0].0 == line[1].0);
        let longest = bars.map(|line| line[1].1 - line[0].1).fold(0.0, f64::max);
        // From the second row to the third, and 4 px beyond on either side.
        assert_eq!(longest, super::super::named_rows::ROW_PX + 8.0);
    }

    #[test]
    fn the_axis_is_cut_where_ranks_and_the_critical_difference_take_less_than_half_of_it() {
        let of = |mean_ranks: &[f64], difference: f64| {
            let names = (0..mean_ranks.len()).map(|at| at.to_string()).collect();
            let mean_ranks = mean_ranks.to_vec();
            let sample = CriticalDifference::sample(VALUE);
            CriticalDifference { names, mean_ranks, difference, ..sample }.ends()
        };
        // Of ranks 1 to 5, those from 2 to 4.
        assert_eq!(of(&[2.94, 2.96, 2.98, 3.06, 3.06], 0.45), (2.0, 4.0));
        assert_eq!(of(&[1.2, 2.5, 2.6, 3.9, 4.8], 0.45), (1.0, 5.0));
        assert_eq!(of(&[2.94, 2.96, 2.98, 3.06, 3.06], 2.8), (1.0, 5.0));
        // A critical difference beyond the last rank stays on the axis.
        assert_eq!(of(&[1.5, 1.5], 1.9), (1.0, 2.9));
    }

    #[test]
    fn the_table_has_the_order_of_the_ranks() {
        let rows = CriticalDifference::sample(VALUE).rows().rows;
        let of = |cells: [&str; 3]| cells.map(String::from).to_vec();
        assert_eq!(
            rows,
            [
                of(["edf", "1", ""]),
                of(["rm", "2.5", "1"]),
                of(["fcfs", "2.75", "1"]),
                of(["critical difference", "1.25", ""]),
            ]
        );
    }
}
