//! SVG files.

use std::fmt::Write as _;

use super::hatch::{Hatch, LINE_PX, PITCH_PX};
use super::scene::{Align, Point, Scene, Shape, Text, Turn};
use super::text::{FAMILIES, TOP_TO_BASELINE, legible, top};
use super::{Dashes, Ink, Sheet};

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
    writer.definitions(scene);
    writer.rect((0.0, 0.0), (width, height), &fill(Ink::WHITE));
    scene.shapes.iter().for_each(|shape| writer.shape(shape));
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

    /// Patterns and colours that shapes refer to. Their names say what they look like, so that several documents in one
    /// page may have the same ones.
    fn definitions(&mut self, scene: &Scene) {
        let mut known = Vec::new();
        let mut has_ramp = false;
        for shape in scene.marks() {
            match shape {
                Shape::Hatch { hatch, ink, .. } if !known.contains(&(*hatch, *ink)) => {
                    known.push((*hatch, *ink));
                }
                Shape::Ramp { .. } => has_ramp = true,
                _ => {}
            }
        }
        if known.is_empty() && !has_ramp {
            return;
        }
        self.line(format_args!("<defs>"));
        for (hatch, ink) in known {
            self.pattern(hatch, ink);
        }
        if has_ramp {
            self.line(format_args!("<linearGradient id=\"{RAMP}\">"));
            for (share, ink) in Ink::ramp() {
                self.line(format_args!(
                    "<stop offset=\"{share}\" stop-color=\"{}\"/>",
                    colour(ink)
                ));
            }
            self.line(format_args!("</linearGradient>"));
        }
        self.line(format_args!("</defs>"));
    }

    fn pattern(&mut self, hatch: Hatch, ink: Ink) {
        let (side, half) = (unit(PITCH_PX), unit(PITCH_PX / 2.0));
        // Diagonals go through the corners of the square, and a bit of each neighbour shows there.
        let rising = format!(
            "M{} {half}L{half} {}M{half} {}L{} {half}",
            -half,
            -half,
            side + half,
            side + half
        );
        let falling = format!(
            "M{} {half}L{half} {}M{half} {}L{} {half}",
            -half,
            side + half,
            -half,
            side + half
        );
        let rising = format!("{rising}M0 {side}L{side} 0");
        let falling = format!("{falling}M0 0L{side} {side}");
        let path = match hatch {
            Hatch::Rising => rising,
            Hatch::Falling => falling,
            Hatch::Crossed => rising + &falling,
            Hatch::Level => format!("M0 0H{side}M0 {side}H{side}"),
            Hatch::Upright => format!("M0 0V{side}M{side} 0V{side}"),
        };
        self.line(format_args!(
            "<pattern id=\"{}\" patternUnits=\"userSpaceOnUse\" width=\"{side}\" height=\"{side}\">\
             <path d=\"{path}\"{} stroke=\"{}\" stroke-width=\"{}\" fill=\"none\"/></pattern>",
            name(hatch, ink),
            opacity(ink),
            colour(ink),
            length(LINE_PX),
        ));
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Rect { rect, ink } => {
                self.rect((rect.x, rect.y), (rect.right(), rect.bottom()), &fill(*ink));
            }
            Shape::Ramp { rect } => {
                let fill = format!(" fill=\"url(#{RAMP})\"");
                self.rect((rect.x, rect.y), (rect.right(), rect.bottom()), &fill);
            }
            Shape::Hatch { rect, hatch, ink } => {
                let fill = format!(" fill=\"url(#{})\"", name(*hatch, *ink));
                self.rect((rect.x, rect.y), (rect.right(), rect.bottom()), &fill);
            }
            Shape::Group { name, is_crisp, shapes } => {
                let edges = if *is_crisp { " shape-rendering=\"crispEdges\"" } else { "" };
                self.line(format_args!("<g{edges}>\n<title>{}</title>", escaped(name)));
                shapes.iter().for_each(|shape| self.shape(shape));
                self.line(format_args!("</g>"));
            }
            Shape::Line { points, width_px, dashes, ink } => {
                self.polyline(points, *width_px, *dashes, *ink);
            }
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
    fn rect(&mut self, upper_left: Point, lower_right: Point, fill: &str) {
        let ((x, y), (right, bottom)) = (units(upper_left), units(lower_right));
        if x >= right || y >= bottom {
            return;
        }
        let (width, height) = (right - x, bottom - y);
        self.line(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"{fill}/>"
        ));
    }

    fn polyline(&mut self, points: &[Point], width_px: f64, dashes: Dashes, ink: Ink) {
        let mut points: Vec<_> = points.iter().map(|&point| units(point)).collect();
        points.dedup();
        self.line(format_args!(
            "<polyline fill=\"none\"{} stroke=\"{}\" stroke-width=\"{}\"{} points=\"{}\"/>",
            opacity(ink),
            colour(ink),
            length(width_px),
            dash_array(dashes),
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

/// The attribute of dashes; nothing for solid lines.
fn dash_array(Dashes(lengths): Dashes) -> String {
    let lengths: Vec<_> = lengths.iter().map(|it| unit(*it).to_string()).collect();
    if lengths.is_empty() {
        String::new()
    } else {
        format!(" stroke-dasharray=\"{}\"", lengths.join(" "))
    }
}

/// Name of the sequential colours in a document.
const RAMP: &str = "ramp";

/// Name of a pattern in a document.
fn name(hatch: Hatch, ink: Ink) -> String {
    let opacity = if ink.opacity == 1.0 { String::new() } else { format!("-{}", ink.opacity) };
    format!("{}-{}{opacity}", hatch.name(), &colour(ink)[1..])
}

fn colour(ink: Ink) -> String {
    let (red, green, blue) = ink.rgb;
    format!("#{red:02X}{green:02X}{blue:02X}")
}

fn list(points: impl Iterator<Item = (i32, i32)>) -> String {
    points.map(|(x, y)| format!("{x},{y}")).collect::<Vec<_>>().join(" ")
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
