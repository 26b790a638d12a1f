//! PNG files, drawn by the bitmap back end of plotters.

use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, DrawingBackend, DrawingErrorKind,
};
use plotters_bitmap::BitMapBackend;

use super::dashes::length;
use super::hatch::LINE_PX;
use super::scene::{Point, Rect, Scene, Shape};
use super::text::draw_glyphs;
use super::{FigureError, Ink, Sheet};

/// Samples for a pixel of a file, along each side: the back end leaves edges jagged.
const SAMPLES: u32 = 2;

/// The file of a scene.
pub(super) fn png(scene: &Scene) -> Result<Vec<u8>, FigureError> {
    let Sheet { resolution, .. } = scene.sheet;
    let pixels = |px: f64| (px * resolution).round().max(1.0) as u32;
    let (width, height) = (pixels(scene.width_px()), pixels(scene.height_px.ceil()));
    let found = width as usize * height as usize;
    if found > MAX_PIXELS {
        return Err(FigureError::TooMany { what: "pixels", found, max: MAX_PIXELS });
    }
    let (width, height) = (width * SAMPLES, height * SAMPLES);
    let mut samples = vec![0xFF; width as usize * height as usize * 3];
    let mut backend = BitMapBackend::with_buffer(&mut samples, (width, height));
    Pen { backend: &mut backend, scale: resolution * f64::from(SAMPLES) }.draw(scene)?;
    drop(backend);
    let pixels = averaged(&samples, width as usize);
    compressed(&pixels, (width / SAMPLES, height / SAMPLES), &scene.sheet)
}

/// Most pixels of a file: its bitmap takes 144 MB while it is drawn.
const MAX_PIXELS: usize = 12_000_000;

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

fn compressed(
    pixels: &[u8],
    (width, height): (u32, u32),
    sheet: &Sheet,
) -> Result<Vec<u8>, FigureError> {
    let failed = |error: png::EncodingError| FigureError::Encode(error.to_string());
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_pixel_dims(Some(dimensions(sheet)));
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(pixels).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(bytes)
}

/// A page is shown in its width, whatever its resolution.
fn dimensions(sheet: &Sheet) -> png::PixelDimensions {
    let per_inch = sheet.resolution * 72.0 / sheet.unit_pt;
    let per_metre = (per_inch / 0.0254).round() as u32;
    png::PixelDimensions { xppu: per_metre, yppu: per_metre, unit: png::Unit::Meter }
}

/// Draws shapes on a back end that has `scale` samples for a pixel of the page.
struct Pen<'a, B> {
    backend: &'a mut B,
    scale: f64,
}

/// Colour and width of a stroke \[sample\].
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
        let page = [(0.0, 0.0), (scene.width_px(), scene.height_px.ceil())];
        self.rect(page[0], page[1], Ink::WHITE).map_err(failed)?;
        for shape in scene.marks() {
            self.shape(shape).map_err(failed)?;
        }
        self.backend.present().map_err(failed)
    }

    fn shape(&mut self, shape: &Shape) -> Drawn<B> {
        match shape {
            Shape::Rect { rect, ink } => {
                self.rect((rect.x, rect.y), (rect.right(), rect.bottom()), *ink)
            }
            Shape::Ramp { rect } => self.ramp(rect),
            Shape::Hatch { rect, hatch, ink } => {
                hatch.lines(rect).iter().try_for_each(|ends| self.line(ends, LINE_PX, *ink))
            }
            Shape::Line { points, width_px, dashes, ink } => {
                let mut stretches = dashes.cut(points).into_iter();
                stretches.try_for_each(|stretch| self.line(&stretch, *width_px, *ink))
            }
            // Its marks are drawn one by one.
            Shape::Group { .. } => Ok(()),
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
            Shape::Text(text) => draw_glyphs(self.backend, text, self.scale),
        }
    }

    /// Rounds both corners and not the size, so that rectangles that touch on the page touch here.
    fn rect(&mut self, upper_left: Point, lower_right: Point, ink: Ink) -> Drawn<B> {
        let (from, to) = (self.unit(upper_left), self.unit(lower_right));
        if from.0 >= to.0 || from.1 >= to.1 {
            return Ok(());
        }
        self.backend.draw_rect(from, to, &Stroke { ink, width: 1 }, true)
    }

    /// Draws a rectangle for every column of samples.
    fn ramp(&mut self, rect: &Rect) -> Drawn<B> {
        let (from, to) = (self.unit((rect.x, rect.y)), self.unit((rect.right(), rect.bottom())));
        let width = f64::from((to.0 - from.0).max(1));
        (from.0..to.0).try_for_each(|x| {
            let ink = Ink::sequential((f64::from(x - from.0) + 0.5) / width);
            self.backend.draw_rect((x, from.1), (x + 1, to.1), &Stroke { ink, width: 1 }, true)
        })
    }

    /// Draws a line stretch by stretch with round joints: the back end fills the outline of a line,
    /// which leaves holes where the outline crosses itself at sharp turns.
    fn line(&mut self, points: &[Point], width_px: f64, ink: Ink) -> Drawn<B> {
        let mut points: Vec<_> = points.iter().map(|&point| self.unit(point)).collect();
        points.dedup();
        let stroke = Stroke { ink, width: self.length(width_px) };
        for stretch in stretches(&points) {
            self.backend.draw_path(stretch.iter().copied(), &stroke)?;
        }
        for triple in points.windows(3).filter(|triple| is_sharp(triple)) {
            self.backend.draw_circle(triple[1], stroke.width / 2, &stroke, true)?;
        }
        Ok(())
    }

    fn unit(&self, (x, y): Point) -> (i32, i32) {
        ((x * self.scale).round() as i32, (y * self.scale).round() as i32)
    }

    /// A length of at least one sample, so that no stroke vanishes.
    fn length(&self, length_px: f64) -> u32 {
        ((length_px * self.scale).round() as u32).max(1)
    }
}

/// The stretches of a line between its sharp turns; a turn belongs to both stretches beside it.
fn stretches(points: &[BackendCoord]) -> Vec<&[BackendCoord]> {
    let mut stretches = Vec::new();
    let mut start = 0;
    for end in 1..points.len() {
        let last = end + 1 == points.len();
        if last || is_sharp(&points[end - 1..end + 2]) {
            stretches.push(&points[start..=end]);
            start = end;
        }
    }
    stretches
}

/// Whether a line turns by more than 20 degrees at the second of three points.
fn is_sharp(triple: &[BackendCoord]) -> bool {
    let step =
        |from: BackendCoord, to: BackendCoord| (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
    let (a, b) = (step(triple[0], triple[1]), step(triple[1], triple[2]));
    let cosine = (a.0 * b.0 + a.1 * b.1) / (length(a) * length(b));
    cosine < 0.94
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_at_sharp_turns_only() {
        let line = [(0, 0), (10, 0), (20, 2), (20, 12), (20, 22)];
        assert_eq!(stretches(&line), [&line[..3], &line[2..]]);
        assert_eq!(stretches(&line[..2]), [&line[..2]]);
        assert!(stretches(&line[..1]).is_empty());
    }

    #[test]
    fn a_pixel_is_the_mean_of_its_samples() {
        // Four samples wide, two high: two pixels.
        let row = |levels: [u8; 4]| levels.map(|level| [level, 0, 255]).concat();
        let samples = [row([10, 20, 7, 7]), row([30, 41, 7, 8])].concat();
        // (10 + 20 + 30 + 41) / 4 = 25.25 and 29 / 4 = 7.25
        assert_eq!(averaged(&samples, 4), [25, 0, 255, 7, 0, 255]);
    }
}
