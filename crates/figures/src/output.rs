//! From a scene to the bytes of a file.

use super::scene::Scene;
use super::{FigureError, bitmap, pdf, svg};

/// A file format for pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Scalable Vector Graphics, with text as text: for web pages and papers.
    Svg,
    /// Portable Document Format, with text as text in a font that is embedded: for papers.
    Pdf,
    /// Portable Network Graphics: 1440 pixels wide, or 300 dots per inch on a printed page.
    Png,
}

impl Format {
    /// Every format.
    pub const ALL: &[Self] = &[Self::Svg, Self::Pdf, Self::Png];

    /// The extension of its files, without a dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Pdf => "pdf",
            Self::Png => "png",
        }
    }

    pub(super) fn encode(self, scene: &Scene) -> Result<Vec<u8>, FigureError> {
        if scene.height_px > MAX_HEIGHT_PX {
            return Err(FigureError::TooMany {
                what: "pixels of height",
                found: scene.height_px as usize,
                max: MAX_HEIGHT_PX as usize,
            });
        }
        match self {
            Self::Svg => Ok(svg::document(scene).into_bytes()),
            Self::Pdf => pdf::document(scene),
            Self::Png => bitmap::png(scene),
        }
    }
}

/// Highest page \[px\].
const MAX_HEIGHT_PX: f64 = 3000.0;

#[cfg(test)]
mod tests {
    use super::super::{Caption, Figure, Ink, Quantity, StackPanel, StackedBars, tests::rects};
    use super::*;

    #[test]
    fn a_bar_lies_in_both_formats_where_the_scene_has_it() {
        let chart = StackedBars {
            caption: Caption::default(),
            category_axis: String::new(),
            value_axis: Quantity::new("Energy", "J"),
            categories: vec!["a".into()],
            series: vec!["MAC".into()],
            panels: vec![StackPanel { title: String::new(), values: vec![vec![1.0]] }],
            shared_scale: true,
            in_rows: false,
        };
        let scene = chart.scene().expect("the chart can be drawn");
        let bar = rects(&scene, Ink::series(0))[1];
        let document = svg::document(&scene);
        let expected = format!(
            "<rect x=\"{}\" y=\"{}\" width=\"600\" height=\"3000\" fill=\"#0072B2\"/>",
            (bar.x * 10.0).round(),
            (bar.y * 10.0).round(),
        );
        assert!(document.contains(&expected), "{expected} in {document}");
        let bytes = bitmap::png(&scene).expect("the scene can be drawn");
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
}
