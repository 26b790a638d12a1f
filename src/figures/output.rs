//! From a scene to the bytes of a file.
//!
//! Both formats come from the drawing back ends of plotters. Those take whole numbers, so that a
//! pixel of the page has several of their units.

use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, DrawingBackend, DrawingErrorKind,
};
use plotters_bitmap::BitMapBackend;
use plotters_svg::SVGBackend;

use super::scene::{Point, Scene, Shape, WIDTH_PX};
use super::text::{FAMILIES, Lettering};
use super::{FigureError, Ink};

/// A file format for pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Scalable Vector Graphics, with text as text: for web pages and papers.
    Svg,
    /// Portable Network Graphics, 1440 pixels wide.
    Png,
}

impl Format {
    /// Every format.
    pub const ALL: &[Self] = &[Self::Svg, Self::Png];

    /// The extension of its files, without a dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
        }
    }

    pub(super) fn encode(self, scene: &Scene) -> Result<Vec<u8>, FigureError> {
        if scene.height_px > MAX_HEIGHT_PX {
            let found = scene.height_px as usize;
            return Err(FigureError::TooMany {
                what: "pixels of height",
                found,
                max: MAX_HEIGHT_PX as usize,
            });
        }
        match self {
            Self::Svg => svg(scene).map(String::into_bytes),
            Self::Png => png(scene),
        }
    }
}

/// Highest page \[px\]; its bitmap takes 104 MB while it is drawn.
const MAX_HEIGHT_PX: f64 = 3000.0;

/// Units of an SVG for a pixel of the page: its coordinates are exact to a tenth.
const SVG_SCALE: f64 = 10.0;

/// Pixels of a PNG for a pixel of the page.
const PNG_SCALE: u32 = 2;

/// Samples for a pixel of a PNG, along each side: the back end leaves edges jagged.
const SAMPLES: u32 = 2;

/// The document, with the size of the page in place of that of the back end, and without attributes
/// that say what holds anyway.
fn svg(scene: &Scene) -> Result<String, FigureError> {
    let (width, height) = (WIDTH_PX, scene.height_px.ceil());
    let units = ((width * SVG_SCALE) as u32, (height * SVG_SCALE) as u32);
    let mut drawn = String::new();
    let mut backend = SVGBackend::with_string(&mut drawn, units);
    Pen { backend: &mut backend, scale: SVG_SCALE, split: false }.draw(scene)?;
    drop(backend);
    let body = drawn.split_once('>').map_or("", |(_, body)| body);
    let font = format!(" font-family=\"{FAMILIES}\"");
    // Quotes are escaped in text, so that only attributes are taken out.
    let body = [" opacity=\"1\"", " stroke=\"none\"", &font]
        .iter()
        .fold(body.to_owned(), |body, default| body.replace(default, ""));
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {} {}\" role=\"img\"{font}>\n<title>{}</title>\n<desc>{}</desc>{body}",
        units.0,
        units.1,
        escaped(&scene.title),
        escaped(&scene.description),
    ))
}

/// Text as it stands in XML.
fn escaped(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for c in legible(text).chars() {
        match c {
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '&' => xml.push_str("&amp;"),
            c => xml.push(c),
        }
    }
    xml
}

/// Text without control characters, most of which XML forbids.
fn legible(text: &str) -> String {
    let forbidden = |c: char| c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}');
    text.chars().map(|c| if forbidden(c) { '\u{FFFD}' } else { c }).collect()
}

fn png(scene: &Scene) -> Result<Vec<u8>, FigureError> {
    let scale = PNG_SCALE * SAMPLES;
    let (width, height) = (WIDTH_PX as u32 * scale, scene.height_px.ceil() as u32 * scale);
    let mut samples = vec![0xFF; width as usize * height as usize * 3];
    let mut backend = BitMapBackend::with_buffer(&mut samples, (width, height));
    Pen { backend: &mut backend, scale: f64::from(scale), split: true }.draw(scene)?;
    drop(backend);
    let pixels = averaged(&samples, width as usize);
    compressed(&pixels, width / SAMPLES, height / SAMPLES)
}

/// The mean of every square of samples; `width` is in samples.
fn averaged(samples: &[u8], width: usize) -> Vec<u8> {
    let side = SAMPLES as usize;
    let mut pixels = Vec::with_capacity(samples.len() / (side * side));
    for rows in samples.chunks_exact(3 * width * side) {
        let mut sums = vec![SAMPLES * SAMPLES / 2; 3 * width / side]; // rounds to nearest
        for row in rows.chunks_exact(3 * width) {
            for (sums, square) in sums.chunks_exact_mut(3).zip(row.chunks_exact(3 * side)) {
                for sample in square.chunks_exact(3) {
                    sums[0] += u32::from(sample[0]);
                    sums[1] += u32::from(sample[1]);
                    sums[2] += u32::from(sample[2]);
                }
            }
        }
        pixels.extend(sums.iter().map(|sum| (sum / (SAMPLES * SAMPLES)) as u8));
    }
    pixels
}

fn compressed(pixels: &[u8], width: u32, height: u32) -> Result<Vec<u8>, FigureError> {
    let failed = |error: png::EncodingError| FigureError::Encode(error.to_string());
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_pixel_dims(Some(dimensions()));
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(pixels).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(bytes)
}

/// A page is shown 720 CSS pixels of 1/96 inch wide, whatever its resolution.
fn dimensions() -> png::PixelDimensions {
    let per_metre = (f64::from(96 * PNG_SCALE) / 0.0254).round() as u32;
    png::PixelDimensions { xppu: per_metre, yppu: per_metre, unit: png::Unit::Meter }
}

/// Draws shapes on a back end that has `scale` units for a pixel of the page.
struct Pen<'a, B> {
    backend: &'a mut B,
    scale: f64,
    /// Whether lines are drawn piece by piece with round joints. The bitmap back end fills the
    /// outline of a line, which leaves holes where it crosses itself at sharp turns.
    split: bool,
}

/// Colour and width of a stroke in units of a back end.
struct Stroke {
    ink: Ink,
    width: u32,
}

impl BackendStyle for Stroke {
    fn color(&self) -> BackendColor {
        BackendColor { rgb: self.ink.rgb, alpha: self.ink.opacity }
    }

    fn stroke_width(&self) -> u32 {
        self.width
    }
}

type Drawn<B> = Result<(), DrawingErrorKind<<B as DrawingBackend>::ErrorType>>;

impl<B: DrawingBackend> Pen<'_, B> {
    fn draw(&mut self, scene: &Scene) -> Result<(), FigureError> {
        let failed = |error: DrawingErrorKind<_>| FigureError::Encode(error.to_string());
        let page = [(0.0, 0.0), (WIDTH_PX, scene.height_px.ceil())];
        self.rect(page[0], page[1], Ink::WHITE).map_err(failed)?;
        for shape in &scene.shapes {
            self.shape(shape).map_err(failed)?;
        }
        self.backend.present().map_err(failed)
    }

    fn shape(&mut self, shape: &Shape) -> Drawn<B> {
        match shape {
            Shape::Rect { rect, ink } => {
                self.rect((rect.x, rect.y), (rect.right(), rect.bottom()), *ink)
            }
            Shape::Line { points, width_px, ink } => self.line(points, *width_px, *ink),
            Shape::Polygon { points, ink } => {
                let points: Vec<_> = points.iter().map(|&point| self.unit(point)).collect();
                self.backend.fill_polygon(points, &Stroke { ink: *ink, width: 1 })
            }
            Shape::Disc { centre, radius_px, ink } => {
                let radius = self.length(*radius_px);
                self.backend.draw_circle(
                    self.unit(*centre),
                    radius,
                    &Stroke { ink: *ink, width: 1 },
                    true,
                )
            }
            Shape::Text(text) => {
                let style = Lettering::new(text, self.scale);
                self.backend.draw_text(&legible(&text.text), &style, style.position(self.scale))
            }
        }
    }

    /// Both corners are rounded, not the size, so that what touches on the page touches here.
    fn rect(&mut self, upper_left: Point, lower_right: Point, ink: Ink) -> Drawn<B> {
        let (from, to) = (self.unit(upper_left), self.unit(lower_right));
        if from.0 >= to.0 || from.1 >= to.1 {
            return Ok(());
        }
        self.backend.draw_rect(from, to, &Stroke { ink, width: 1 }, true)
    }

    fn line(&mut self, points: &[Point], width_px: f64, ink: Ink) -> Drawn<B> {
        let mut points: Vec<_> = points.iter().map(|&point| self.unit(point)).collect();
        points.dedup();
        let stroke = Stroke { ink, width: self.length(width_px) };
        if !self.split {
            return self.backend.draw_path(points, &stroke);
        }
        for piece in pieces(&points) {
            self.backend.draw_path(piece.iter().copied(), &stroke)?;
        }
        for triple in points.windows(3).filter(|triple| is_sharp(triple)) {
            self.backend.draw_circle(triple[1], stroke.width / 2, &stroke, true)?;
        }
        Ok(())
    }

    fn unit(&self, (x, y): Point) -> (i32, i32) {
        ((x * self.scale).round() as i32, (y * self.scale).round() as i32)
    }

    /// At least one unit: a stroke never vanishes.
    fn length(&self, length_px: f64) -> u32 {
        ((length_px * self.scale).round() as u32).max(1)
    }
}

/// The stretches of a line between its sharp turns, which belong to both sides.
fn pieces(points: &[BackendCoord]) -> Vec<&[BackendCoord]> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for end in 1..points.len() {
        let last = end + 1 == points.len();
        if last || is_sharp(&points[end - 1..end + 2]) {
            pieces.push(&points[start..=end]);
            start = end;
        }
    }
    pieces
}

/// Whether a line turns by more than 20 degrees at the second of three points.
fn is_sharp(triple: &[BackendCoord]) -> bool {
    let step =
        |from: BackendCoord, to: BackendCoord| (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
    let (a, b) = (step(triple[0], triple[1]), step(triple[1], triple[2]));
    let cosine = (a.0 * b.0 + a.1 * b.1) / (a.0.hypot(a.1) * b.0.hypot(b.1));
    cosine < 0.94
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Caption, Figure, StackPanel, StackedBars, tests::rects};
    use super::*;

    #[test]
    fn a_line_is_split_at_sharp_turns_only() {
        let line = [(0, 0), (10, 0), (20, 2), (20, 12), (20, 22)];
        assert_eq!(pieces(&line), [&line[..3], &line[2..]]);
        assert_eq!(pieces(&line[..2]), [&line[..2]]);
        assert!(pieces(&line[..1]).is_empty());
    }

    #[test]
    fn a_pixel_is_the_mean_of_its_samples() {
        // Four samples wide, two high: two pixels.
        let row = |levels: [u8; 4]| levels.map(|level| [level, 0, 255]).concat();
        let samples = [row([10, 20, 7, 7]), row([30, 41, 7, 8])].concat();
        // (10 + 20 + 30 + 41) / 4 = 25.25 and 29 / 4 = 7.25
        assert_eq!(averaged(&samples, 4), [25, 0, 255, 7, 0, 255]);
    }

    #[test]
    fn a_bar_lies_in_both_formats_where_the_scene_has_it() {
        let chart = StackedBars {
            caption: Caption::default(),
            category_axis: String::new(),
            value_axis: Axis::new("Energy", "J"),
            categories: vec!["a".into()],
            series: vec!["MAC".into()],
            panels: vec![StackPanel { title: String::new(), values: vec![vec![1.0]] }],
            shared_scale: true,
        };
        let scene = chart.scene().expect("the chart can be drawn");
        let bar = rects(&scene, Ink::series(0))[1];
        let document = svg(&scene).expect("the scene can be drawn");
        let expected = format!(
            "<rect x=\"{}\" y=\"{}\" width=\"600\" height=\"3000\" fill=\"#0072B2\"/>",
            (bar.x * 10.0).round(),
            (bar.y * 10.0).round(),
        );
        assert!(document.contains(&expected), "{expected} in {document}");
        let bytes = png(&scene).expect("the scene can be drawn");
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        reader.next_frame(&mut pixels).expect("a frame");
        let pixel = |x: f64, y: f64| {
            let at = 3 * ((2.0 * y) as usize * 1440 + (2.0 * x) as usize);
            (pixels[at], pixels[at + 1], pixels[at + 2])
        };
        let blue = Ink::series(0).rgb;
        let (left, top) = (bar.x, bar.y);
        assert_eq!(pixel(bar.centre_x(), bar.centre_y()), blue);
        assert_eq!(
            (pixel(left + 1.0, top + 1.0), pixel(left - 1.0, top + 1.0)),
            (blue, (255, 255, 255))
        );
    }

    #[test]
    fn control_characters_do_not_reach_a_file() {
        assert_eq!(
            escaped("a\u{0}<\u{7F}&\n\u{FFFF}>é"),
            "a\u{FFFD}&lt;\u{FFFD}&amp;\u{FFFD}\u{FFFD}&gt;é"
        );
    }
}
