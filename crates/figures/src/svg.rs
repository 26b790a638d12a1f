//! SVG files.

use std::fmt::Write as _;

use super::scene::{Align, Point, Scene, Shape, Text, Turn};
use super::text::{FAMILIES, TOP_TO_BASELINE, legible, top};
use super::{Ink, Sheet};

/// Units of a document for a pixel of the page: coordinates are whole numbers, exact to a tenth of a
/// pixel.
const SCALE: f64 = 10.0;

/// The document of a scene.
pub(super) fn document(scene: &Scene) -> String {
    let (width, height) = (scene.width_px(), scene.height_px.ceil());
    let mut writer = Writer { text: String::new() };
    writer.line(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" \
         viewBox=\"0 0 {} {}\" role=\"img\" font-family=\"{FAMILIES}\">",
        size(scene, width),
        size(scene, height),
        unit(width),
        unit(height),
    ));
    writer.line(format_args!("<title>{}</title>", escaped(&scene.title)));
    writer.line(format_args!("<desc>{}</desc>", escaped(&scene.description)));
    writer.rect((0.0, 0.0), (width, height), Ink::WHITE);
    for shape in &scene.shapes {
        writer.shape(shape);
    }
    writer.line(format_args!("</svg>"));
    writer.text
}

/// A side of the document: pixels of a screen, or points in print.
fn size(scene: &Scene, px: f64) -> String {
    match scene.sheet == Sheet::default() || scene.sheet == Sheet::default().untitled() {
        true => px.to_string(),
        false => format!("{:.3}pt", px * scene.sheet.unit_pt),
    }
}

/// Writes elements, each in a line of its own.
struct Writer {
    text: String,
}

impl Writer {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.text, "{line}").expect("writing to a string cannot fail");
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Rect { rect, ink } => {
                self.rect((rect.x, rect.y), (rect.right(), rect.bottom()), *ink);
            }
            Shape::Line { points, width_px, ink } => self.polyline(points, *width_px, *ink),
            Shape::Polygon { points, ink } => {
                let points = points.iter().map(|&point| units(point));
                self.line(format_args!("<polygon{} points=\"{}\"/>", fill(*ink), list(points)));
            }
            Shape::Disc { centre, radius_px, ink } => {
                let (x, y) = units(*centre);
                self.line(format_args!(
                    "<circle cx=\"{x}\" cy=\"{y}\" r=\"{}\"{}/>",
                    length(*radius_px),
                    fill(*ink)
                ));
            }
            Shape::Text(text) => self.label(text),
        }
    }

    /// Rounds both corners and not the size, so that rectangles that touch on the page touch here.
    fn rect(&mut self, upper_left: Point, lower_right: Point, ink: Ink) {
        let ((x, y), (right, bottom)) = (units(upper_left), units(lower_right));
        if x >= right || y >= bottom {
            return;
        }
        let (width, height) = (right - x, bottom - y);
        self.line(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"{}/>",
            fill(ink)
        ));
    }

    fn polyline(&mut self, points: &[Point], width_px: f64, ink: Ink) {
        let mut points: Vec<_> = points.iter().map(|&point| units(point)).collect();
        points.dedup();
        self.line(format_args!(
            "<polyline fill=\"none\"{} stroke=\"{}\" stroke-width=\"{}\" points=\"{}\"/>",
            opacity(ink),
            colour(ink),
            length(width_px),
            list(points.into_iter())
        ));
    }

    /// A text is placed by its top, as PNG files have it, and moved down to its baseline.
    fn label(&mut self, text: &Text) {
        let (x, y) = top(text, SCALE);
        let anchor = match text.align {
            Align::Start => "start",
            Align::Middle => "middle",
            Align::End => "end",
        };
        let weight = if text.bold { " font-weight=\"bold\"" } else { "" };
        let turn = match text.turn {
            Turn::Level => String::new(),
            Turn::Up => format!(" transform=\"rotate(270, {x}, {y})\""),
        };
        self.line(format_args!(
            "<text x=\"{x}\" y=\"{y}\" dy=\"{TOP_TO_BASELINE}em\" text-anchor=\"{anchor}\" \
             font-size=\"{}\"{}{weight}{turn}>",
            text.size_px * SCALE,
            fill(text.ink)
        ));
        self.line(format_args!("{}\n</text>", quoted(&text.text)));
    }
}

fn units((x, y): Point) -> (i32, i32) {
    (unit(x), unit(y))
}

fn unit(px: f64) -> i32 {
    (px * SCALE).round() as i32
}

/// A length of at least one unit, so that no stroke vanishes.
fn length(px: f64) -> i32 {
    unit(px).max(1)
}

/// The attribute of the opacity; nothing for opaque inks.
fn opacity(ink: Ink) -> String {
    if ink.opacity == 1.0 { String::new() } else { format!(" opacity=\"{}\"", ink.opacity) }
}

/// The attributes of a shape that is filled.
fn fill(ink: Ink) -> String {
    format!("{} fill=\"{}\"", opacity(ink), colour(ink))
}

fn colour(ink: Ink) -> String {
    let (red, green, blue) = ink.rgb;
    format!("#{red:02X}{green:02X}{blue:02X}")
}

fn list(points: impl Iterator<Item = (i32, i32)>) -> String {
    let mut text = String::new();
    for (x, y) in points {
        write!(text, "{x},{y} ").expect("writing to a string cannot fail");
    }
    text
}

/// Text without control characters, escaped for XML.
fn escaped(text: &str) -> String {
    legible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The same with escaped quotes.
fn quoted(text: &str) -> String {
    escaped(text).replace('"', "&quot;").replace('\'', "&apos;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_a_file() {
        assert_eq!(
            escaped("a\u{0}<\u{7F}&\n\u{FFFF}>é"),
            "a\u{FFFD}&lt;\u{FFFD}&amp;\u{FFFD}\u{FFFD}&gt;é"
        );
    }

    #[test]
    fn opaque_inks_have_no_attribute_of_opacity() {
        assert_eq!(opacity(Ink::WHITE), "");
        assert_eq!(opacity(Ink::WHITE.faded(0.2)), " opacity=\"0.2\"");
    }
}
