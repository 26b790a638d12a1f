//! Heat maps: one quantity over two others.

use super::chart::Chart;
use super::check::{self, Allowed};
use super::grid::Grid;
use super::marker::Marker;
use super::named_rows::NamedRows;
use xrsim_model::text::{cell, counted};

use super::number::{alike, short};
use super::page::{Categories, KEY_PX, LINE_PX, Page};
use super::scale::{Scale, Spacing, extent};
use super::scene::{Align, HALF_CAPITAL, LABEL_PX, Rect, Scene, Text};
use super::text::{broken, fits, width_px};
use super::{Caption, FigureError, Ink, Quantity, Rows};

/// A table of numbers as colours, with the numbers if there is space.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    /// Texts around the data.
    pub caption: Caption,
    /// Kind of the columns.
    pub column_axis: String,
    /// Kind of the rows.
    pub row_axis: String,
    /// Quantity of the colours.
    pub value_axis: Quantity,
    /// Spacing of the values over the colours.
    pub spacing: Spacing,
    /// Names of the columns, from the left: 1 to 200.
    pub columns: Vec<String>,
    /// Names of the rows, from the top down: 1 to 100.
    pub rows: Vec<String>,
    /// The numbers, `[row][column]`; `None` where there is no result, which is marked by a cross.
    pub values: Vec<Vec<Option<f64>>>,
}

const MAX_COLUMNS: usize = 200;
const MAX_ROWS: usize = 100;

/// Least and largest height of a row \[px\]; the least has space for a name.
const ROW_PX: (f64, f64) = (13.0, 30.0);

/// Height of all rows, within the limits of a single row \[px\].
const HEIGHT_PX: f64 = 480.0;

/// Most lines of the name of an axis.
const MAX_LINES: usize = 4;

/// Widest name of a row \[px\].
const MAX_NAME_PX: f64 = 150.0;

/// Greatest and least width of the scale of colours, and its height \[px\].
const SCALE_WIDTH_PX: (f64, f64) = (240.0, 120.0);
const SCALE_HEIGHT_PX: f64 = 10.0;

impl HeatMap {
    fn present(&self) -> impl Iterator<Item = f64> {
        self.values.iter().flatten().flatten().copied()
    }

    /// The scale of colours, from the least to the largest value; a logarithmic one has round ends.
    fn scale(&self) -> Scale {
        let (low, high) = extent(self.present());
        match self.spacing {
            Spacing::Linear => Scale::exact(low, high, 5),
            Spacing::Log => Scale::log(low, high),
        }
    }

    fn row_height(&self) -> f64 {
        (HEIGHT_PX / self.rows.len() as f64).clamp(ROW_PX.0, ROW_PX.1)
    }

    /// Draws the meaning of the colours: a strip with ticks, and the sign of a missing result.
    fn draw_key(&self, page: &mut Page, scale: &Scale) {
        let (side, right) = (page.side_px(), page.right_px());
        let title = format!("{}:", self.value_axis.title());
        let has_gaps = self.values.iter().flatten().any(Option::is_none);
        let space = if has_gaps { 110.0 } else { 16.0 };
        let lines = broken(&title, LABEL_PX, false, right - side, MAX_LINES);
        let mut x = side + lines.last().map_or(0.0, |it| width_px(it, LABEL_PX, false)) + 16.0;
        let y = page.top + 8.0 + LINE_PX * (lines.len() - 1) as f64;
        for (line, above) in lines.iter().rev().zip(0..) {
            let middle = y + SCALE_HEIGHT_PX / 2.0 - LINE_PX * f64::from(above);
            page.scene.text(Text::label(line, (side, middle)).centred());
        }
        let y = match right - x - space < SCALE_WIDTH_PX.1 {
            true => {
                x = side + 10.0;
                y + SCALE_HEIGHT_PX + 6.0
            }
            false => y,
        };
        let width = (right - x - space).clamp(20.0, SCALE_WIDTH_PX.0);
        let strip = Rect { x, y, width, height: SCALE_HEIGHT_PX };
        draw_strip(&mut page.scene, &strip, &scale.onto(strip.x, strip.right()));
        if has_gaps {
            let key = Rect { x: strip.right() + 24.0, y, width: KEY_PX, height: SCALE_HEIGHT_PX };
            let at = (key.right() + 5.0, key.centre_y());
            draw_missing(&mut page.scene, &key);
            page.scene.text(Text::label("no result", at).centred());
        }
        page.top = strip.bottom() + 20.0;
    }

    /// Writes the kind of the rows above them, level, as their height is too small for it.
    fn name_rows_above(&self, page: &mut Page) {
        let (side, right) = (page.side_px(), page.right_px());
        for line in broken(&self.row_axis, LABEL_PX, false, right - side, MAX_LINES) {
            page.scene.text(Text::label(line, (side, page.top + 10.0)));
            page.top += LINE_PX;
        }
    }

    fn draw_cells(&self, scene: &mut Scene, area: &Rect, scale: &Scale) {
        let (width, height) = (area.width / self.columns.len() as f64, self.row_height());
        let numbers = self.numbers(width - 4.0);
        let mut cells = Vec::new();
        scene.crisp_group("cells", |scene| {
            for (row, values) in self.values.iter().enumerate() {
                for (column, value) in values.iter().enumerate() {
                    let (x, y) = (area.x + column as f64 * width, area.y + row as f64 * height);
                    let cell = Rect { x, y, width, height };
                    match value {
                        Some(value) => {
                            let ink = Ink::sequential(scale.share(*value));
                            scene.rect(cell, ink);
                            cells.push((cell, ink));
                        }
                        None => draw_missing(scene, &cell),
                    }
                }
            }
        });
        scene.group("numbers", |scene| {
            for ((cell, ink), number) in cells.into_iter().zip(numbers.into_iter().flatten()) {
                let number = Text::label(number, (cell.centre_x(), cell.centre_y()));
                scene.text(number.aligned(Align::Middle).inked(ink.text_on()).centred());
            }
        });
    }

    /// The numbers of all cells with one precision; `None` if one of them does not fit into a cell.
    fn numbers(&self, max_px: f64) -> Option<Vec<String>> {
        let numbers = alike(&self.present().collect::<Vec<_>>());
        let fit = |number: &String| width_px(number, LABEL_PX, false) <= max_px;
        numbers.iter().all(fit).then_some(numbers)
    }
}

fn draw_strip(scene: &mut Scene, strip: &Rect, scale: &Scale) {
    scene.ramp(*strip);
    for tick in &scale.ticks {
        let x = scale.at(tick.value);
        scene.segment((x, strip.bottom()), (x, strip.bottom() + 3.0), 1.0, Ink::AXIS);
        let baseline = strip.bottom() + 5.0 + 2.0 * HALF_CAPITAL * LABEL_PX;
        scene.text(Text::label(tick.label.clone(), (x, baseline)).aligned(Align::Middle));
    }
}

fn draw_missing(scene: &mut Scene, cell: &Rect) {
    scene.rect(*cell, Ink::GRID);
    let radius = (cell.width.min(cell.height) / 3.0).min(3.0);
    Marker::Cross.draw(scene, (cell.centre_x(), cell.centre_y()), radius, Ink::AXIS);
}

impl Chart for HeatMap {
    fn check(&self) -> Result<(), FigureError> {
        check::amounts(&[
            (self.columns.len(), MAX_COLUMNS, "columns"),
            (self.rows.len(), MAX_ROWS, "rows"),
        ])?;
        let names = (&*self.rows, &*self.columns);
        check::matrix(&self.values, names, ("values", None), |it| *it, Allowed::on(self.spacing))
    }

    fn description(&self) -> String {
        let (low, high) = extent(self.present());
        format!(
            "Heat map of {} from {} to {}: {} ({}) by {} ({}).",
            self.value_axis.title(),
            short(low),
            short(high),
            counted(self.rows.len(), "row"),
            self.row_axis,
            counted(self.columns.len(), "column"),
            self.column_axis,
        )
    }

    fn draw(&self, page: &mut Page) {
        let scale = self.scale();
        self.draw_key(page, &scale);
        let height = self.row_height() * self.rows.len() as f64;
        let rows = NamedRows::within(&self.rows, MAX_NAME_PX);
        let is_upright = fits(&self.row_axis, LABEL_PX, false, height);
        let beside = if is_upright { 17.0 } else { 0.0 };
        let grid = Grid::starting_at(page, page.side_px() + beside + rows.width_px, height);
        if !is_upright {
            self.name_rows_above(page);
        }
        let names = Categories::new(&self.columns, grid.width);
        let area = grid.areas(page, &[""], 0.0, names.depth_px())[0];
        self.draw_cells(&mut page.scene, &area, &scale);
        let middle = |row: usize| area.y + (row as f64 + 0.5) * self.row_height();
        rows.draw_at(&mut page.scene, area.x, middle);
        names.draw(&mut page.scene, &area);
        if is_upright {
            page.y_title(&self.row_axis, area.y, area.bottom());
        }
        page.x_title(&self.column_axis, grid.left);
    }

    /// `row,column,value`, a row for each cell; the value of a missing result is empty.
    fn table(&self) -> Rows {
        let rows = self.rows.iter().zip(&self.values).flat_map(|(row, values)| {
            self.columns.iter().zip(values).map(move |(column, value)| {
                vec![row.clone(), column.clone(), value.map_or_else(String::new, cell)]
            })
        });
        Rows::new(["row", "column", "value"], rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Figure as _;
    use super::super::tests::{Sample, VALUE, caption, names, rects};
    use super::*;

    impl Sample for HeatMap {
        const TEXTS: &[&str] =
            &["16", "32", "256", "512", "2.5", "Bandwidth", "PEs", "Latency [s]:", "no result"];

        fn sample(value: f64) -> Self {
            Self {
                caption: caption(),
                column_axis: "Bandwidth".into(),
                row_axis: "PEs".into(),
                value_axis: Quantity::new("Latency", "s"),
                spacing: Spacing::Linear,
                columns: names(&["16", "32"]),
                rows: names(&["256", "512"]),
                values: vec![vec![Some(value), None], vec![Some(1.0), Some(2.0)]],
            }
        }

        fn empty() -> (Self, &'static str) {
            (Self { rows: vec![], ..Self::sample(VALUE) }, "rows")
        }

        fn crowded(names: Vec<String>) -> Option<(Self, &'static str)> {
            Some((Self { columns: names, ..Self::sample(VALUE) }, "columns"))
        }

        fn unequal() -> Option<Self> {
            let mut chart = Self::sample(VALUE);
            chart.values[0].pop();
            Some(chart)
        }
    }

    fn chart(values: Vec<Vec<Option<f64>>>) -> HeatMap {
        HeatMap {
            caption: Caption::default(),
            column_axis: "Bandwidth".into(),
            row_axis: "PEs".into(),
            value_axis: Quantity::new("Latency", "s"),
            spacing: Spacing::Linear,
            columns: (0..values[0].len()).map(|column| format!("c{column}")).collect(),
            rows: (0..values.len()).map(|row| format!("r{row}")).collect(),
            values,
        }
    }

    #[test]
    fn the_least_value_is_darkest_and_the_largest_lightest() {
        let chart = chart(vec![vec![Some(0.0), Some(10.0)], vec![Some(5.0), None]]);
        let scene = chart.scene().expect("the chart can be drawn");
        let cell = |position| rects(&scene, Ink::sequential(position)).pop().expect("it is there");
        let (least, most, middle) = (cell(0.0), cell(1.0), cell(0.5));
        assert_eq!((least.right(), least.y), (most.x, most.y));
        assert_eq!((middle.x, middle.y), (least.x, least.bottom()));
        let missing = rects(&scene, Ink::GRID).pop().expect("the missing cell is drawn");
        assert_eq!((missing.x, missing.y), (most.x, middle.y));
    }

    #[test]
    fn numbers_are_written_in_all_cells_or_in_none() {
        let wide = chart(vec![vec![Some(0.125), Some(0.25)]]);
        let texts = |chart: &HeatMap| {
            let scene = chart.scene().expect("the chart can be drawn");
            scene.texts().filter(|text| *text == "0.125").count()
        };
        assert_eq!(texts(&wide), 1);
        let narrow = chart(vec![vec![Some(0.125); 100]]);
        assert_eq!(texts(&narrow), 0);
    }
}
