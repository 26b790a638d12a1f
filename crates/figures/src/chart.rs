//! The parts of a chart, and the way in which they make a page.

use super::grid::Grid;
use super::marker::{Marker, RADIUS_PX};
use super::page::{LegendEntry, Page, X_AXIS_PX, base_line, x_axis, x_grid, y_axis, y_grid};
use super::scale::Scale;
use super::scene::{Point, Rect, Scene};
use super::{Caption, Figure, FigureError, Ink, Quantity, Rows, Sheet};
use xrsim_model::text::cell;

/// A chart with texts around its data.
pub(super) trait Captioned {
    /// Title, subtitle and note.
    fn caption(&self) -> &Caption;
}

/// A chart by its parts. Every chart is a [`Figure`].
pub(super) trait Chart: Captioned {
    /// Checks the data.
    ///
    /// # Errors
    ///
    /// The first part of the data that cannot be drawn.
    fn check(&self) -> Result<(), FigureError>;

    /// A sentence for readers who do not see the picture.
    fn description(&self) -> String;

    /// Width of the narrowest page on which it can be read, for pages such as `sheet` \[px\].
    fn least_width_px(&self, _sheet: &Sheet) -> f64 {
        0.0
    }

    /// Meanings of colours and shapes; none by default.
    fn legend(&self, _sheet: &Sheet) -> Vec<LegendEntry> {
        Vec::new()
    }

    /// Draws the data, which have been checked, below caption and legend.
    fn draw(&self, page: &mut Page);

    /// The data as a table, a row for each mark.
    fn table(&self) -> Rows;
}

impl<C: Chart> Figure for C {
    fn scene_on(&self, sheet: &Sheet) -> Result<Scene, FigureError> {
        self.check()?;
        sheet.refuse_below(self.least_width_px(sheet))?;
        let caption = self.caption();
        let mut page = Page::new(*sheet, caption, self.description());
        page.legend(self.legend(sheet));
        self.draw(&mut page);
        Ok(page.finish(&caption.note))
    }

    fn rows(&self) -> Rows {
        self.table()
    }

    fn texts(&self) -> &Caption {
        self.caption()
    }
}

/// Ends of an interval, if there is one.
pub(super) fn ends(interval: Option<(f64, f64)>) -> impl Iterator<Item = f64> {
    interval.into_iter().flat_map(|(low, high)| [low, high])
}

/// Cells of a table for a value and the ends of its interval; empty where there is none.
pub(super) fn cells(value: Option<f64>, interval: Option<(f64, f64)>) -> [String; 3] {
    let values = [value, interval.map(|ends| ends.0), interval.map(|ends| ends.1)];
    values.map(|value| value.map_or_else(String::new, cell))
}

/// Entries of the legend for series of areas.
pub(super) fn areas(series: &[String]) -> Vec<LegendEntry> {
    let entry = |(index, name): (usize, &String)| LegendEntry::area(name, index);
    series.iter().enumerate().map(entry).collect()
}

/// Entries of the legend for series of points.
pub(super) fn points<'a>(series: impl Iterator<Item = &'a String>) -> Vec<LegendEntry> {
    let entry = |(index, name): (usize, &String)| {
        LegendEntry::new(name, move |scene, key| {
            let at = (key.centre_x(), key.centre_y());
            Marker::series(index).draw(scene, at, RADIUS_PX, Ink::series(index));
        })
    };
    series.enumerate().map(entry).collect()
}

/// Height of the data of a plot of one panel on a page for screens \[px\].
pub(super) const PLOT_PX: f64 = 380.0;

/// The area of the data between two axes.
pub(super) struct Frame {
    pub area: Rect,
    pub x: Scale,
    pub y: Scale,
}

impl Frame {
    /// The scales on an area of the page.
    pub(super) fn on(area: Rect, (x, y): (&Scale, &Scale)) -> Self {
        Self { area, x: x.onto(area.x, area.right()), y: y.onto(area.bottom(), area.y) }
    }

    /// The only panel of a page, [`PLOT_PX`] high, with its grid, axes and titles.
    pub(crate) fn of_page(
        page: &mut Page,
        scales: (&Scale, &Scale),
        (x, y): (&Quantity, &Quantity),
    ) -> Self {
        let grid = Grid::new(page, [scales.1], 1, page.sheet().height_px(PLOT_PX));
        let area = grid.areas(page, &[""], 0.0, X_AXIS_PX)[0];
        let frame = Self::on(area, scales);
        frame.draw_grid(&mut page.scene);
        frame.draw_x_axis(&mut page.scene);
        page.y_title(&y.title(), area.y, area.bottom());
        page.x_title(&x.title(), grid.left);
        frame
    }

    /// Draws grid lines and the labels of the y axis.
    pub(crate) fn draw_grid(&self, scene: &mut Scene) {
        x_grid(scene, &self.area, &self.x);
        y_axis(scene, &self.area, &self.y);
    }

    /// Draws grid lines without labels.
    pub(super) fn draw_lines_of_grid(&self, scene: &mut Scene) {
        x_grid(scene, &self.area, &self.x);
        y_grid(scene, &self.area, &self.y);
    }

    /// Draws the line, the ticks and the labels of the x axis.
    pub(crate) fn draw_x_axis(&self, scene: &mut Scene) {
        base_line(scene, &self.area, self.area.bottom());
        x_axis(scene, &self.area, &self.x);
    }

    /// Position of a point \[px\].
    pub(super) fn at(&self, x: f64, y: f64) -> Point {
        (self.x.at(x), self.y.at(y))
    }
}
