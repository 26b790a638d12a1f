//! The font: how wide text is, and its glyphs as pixels.
//!
//! Layout needs the width of text before anything is drawn, and a bitmap needs its glyphs; both
//! come from the font compiled in, so neither depends on the machine.

use std::convert::Infallible;
use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, Glyph, OutlinedGlyph, ScaleFont, point};
use plotters_backend::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendTextStyle, FontFamily, FontStyle, FontTransform,
};

use super::scene::{Align, Text, Turn};

/// Fonts of an SVG in order of preference: the one measured with, one of the same widths, any.
pub(super) const FAMILIES: &str = "DejaVu Sans, Verdana, sans-serif";

static REGULAR: LazyLock<FontRef<'static>> =
    LazyLock::new(|| font(include_bytes!("../../assets/fonts/DejaVuSans.ttf")));

static BOLD: LazyLock<FontRef<'static>> =
    LazyLock::new(|| font(include_bytes!("../../assets/fonts/DejaVuSans-Bold.ttf")));

fn font(bytes: &'static [u8]) -> FontRef<'static> {
    FontRef::try_from_slice(bytes).expect("the font compiled in is whole")
}

fn face(bold: bool) -> &'static FontRef<'static> {
    if bold { &BOLD } else { &REGULAR }
}

/// The font at an em of `size_px`; the library itself scales by the height of a line.
fn scaled(size_px: f64, bold: bool) -> impl ScaleFont<&'static FontRef<'static>> {
    let font = face(bold);
    let per_em = font.units_per_em().map_or(1.0, |units| font.height_unscaled() / units);
    font.as_scaled(size_px as f32 * per_em)
}

/// Width of a line of text \[px\].
pub(super) fn width_px(text: &str, size_px: f64, bold: bool) -> f64 {
    let font = scaled(size_px, bold);
    text.chars().map(|c| f64::from(font.h_advance(font.glyph_id(c)))).sum()
}

/// Whether `text` is at most `max_px` wide, found without measuring what is much too long.
pub(super) fn fits(text: &str, size_px: f64, bold: bool, max_px: f64) -> bool {
    text.chars().nth(most_letters(size_px, max_px)).is_none()
        && width_px(text, size_px, bold) <= max_px
}

/// A number of letters that is wider than `max_px`: none is narrower than a tenth of the em.
fn most_letters(size_px: f64, max_px: f64) -> usize {
    (max_px.max(0.0) * 10.0 / size_px) as usize + 1
}

/// `text` if it is at most `max_px` wide, else its beginning and end around an ellipsis.
///
/// Names of layers and runs tend to share how they begin, so that most of the end is kept.
pub(super) fn fit(text: &str, size_px: f64, bold: bool, max_px: f64) -> String {
    if fits(text, size_px, bold, max_px) {
        return text.to_owned();
    }
    let most = most_letters(size_px, max_px);
    let letters: Vec<char> = text.chars().take(most).collect();
    let tail: Vec<char> = text.chars().rev().take(most).collect();
    let shortened = |kept: usize| {
        let head = kept.div_ceil(3);
        let end = kept - head;
        let end = tail[..end.min(tail.len())].iter().rev();
        letters[..head.min(letters.len())].iter().chain(&['…']).chain(end).collect::<String>()
    };
    let short_enough = |kept: &usize| width_px(&shortened(*kept), size_px, bold) <= max_px;
    let counts: Vec<usize> = (1..=letters.len()).collect();
    match counts.partition_point(short_enough) {
        0 => String::new(),
        kept => shortened(kept),
    }
}

/// Breaks text into at most `lines` lines of at most `max_px`; what remains is shortened.
pub(super) fn wrap(text: &str, size_px: f64, bold: bool, max_px: f64, lines: usize) -> Vec<String> {
    let mut wrapped: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let full = wrapped.len() == lines;
        match wrapped.last_mut() {
            Some(line) if width_px(&format!("{line} {word}"), size_px, bold) <= max_px => {
                line.push(' ');
                line.push_str(word);
            }
            // What does not fit is shortened below; it is kept to a length that can be measured.
            Some(line) if full => {
                line.push(' ');
                line.push_str(word);
                break;
            }
            _ => wrapped.push(word.to_owned()),
        }
    }
    wrapped.iter().map(|line| fit(line, size_px, bold, max_px)).collect()
}

/// Text in the units of a back end.
pub(super) struct Lettering<'a> {
    text: &'a Text,
    /// Size of the em in units of the back end.
    em: f64,
}

/// Where the baseline lies below the top that back ends place, in ems: the `dy` of their SVG.
const TOP_TO_BASELINE: f64 = 0.76;

/// What the SVG back end divides the size by.
const SVG_SIZE: f64 = 1.24;

impl<'a> Lettering<'a> {
    /// `text` where a pixel of the page has `scale` units of the back end.
    pub(super) fn new(text: &'a Text, scale: f64) -> Self {
        Self { text, em: text.size_px * scale }
    }

    /// Where the back end must place the text so that its baseline is where the page has it.
    pub(super) fn position(&self, scale: f64) -> BackendCoord {
        let (x, y) = (self.text.at.0 * scale, self.text.at.1 * scale);
        let up = TOP_TO_BASELINE * self.em;
        match self.text.turn {
            Turn::Level => (x.round() as i32, (y - up).round() as i32),
            Turn::Up => ((x - up).round() as i32, y.round() as i32),
        }
    }

    /// The outlines of the glyphs, the first starting at x = 0 with its baseline at `baseline`.
    fn outlines(&self, baseline: f32) -> impl Iterator<Item = OutlinedGlyph> {
        let font = scaled(self.em, self.text.bold);
        let mut x = 0.0;
        self.text.text.chars().filter_map(move |c| {
            let id = font.glyph_id(c);
            let glyph = Glyph { id, scale: font.scale(), position: point(x, baseline) };
            x += font.h_advance(id);
            font.outline_glyph(glyph)
        })
    }
}

/// How the back ends see text.
///
/// The crate `plotters` has an implementation of its own, which is not used: it places glyphs
/// without their side bearings, and letters bitmaps 6.5 % larger than SVGs.
impl BackendTextStyle for Lettering<'_> {
    type FontError = Infallible;

    fn color(&self) -> BackendColor {
        BackendColor { rgb: self.text.ink.rgb, alpha: self.text.ink.opacity }
    }

    fn size(&self) -> f64 {
        self.em * SVG_SIZE
    }

    fn transform(&self) -> FontTransform {
        match self.text.turn {
            Turn::Level => FontTransform::None,
            Turn::Up => FontTransform::Rotate270,
        }
    }

    fn style(&self) -> FontStyle {
        if self.text.bold { FontStyle::Bold } else { FontStyle::Normal }
    }

    fn anchor(&self) -> Pos {
        let horizontal = match self.text.align {
            Align::Start => HPos::Left,
            Align::Middle => HPos::Center,
            Align::End => HPos::Right,
        };
        Pos::new(horizontal, VPos::Top)
    }

    fn family(&self) -> FontFamily<'_> {
        FontFamily::Name(FAMILIES)
    }

    fn layout_box(&self, text: &str) -> Result<(BackendCoord, BackendCoord), Infallible> {
        let width = width_px(text, self.em, self.text.bold).round() as i32;
        Ok(((0, 0), (width, self.em.round() as i32)))
    }

    fn draw<E, DrawFunc: FnMut(i32, i32, BackendColor) -> Result<(), E>>(
        &self,
        _text: &str,
        (left, top): BackendCoord,
        mut draw: DrawFunc,
    ) -> Result<Result<(), E>, Infallible> {
        let ink = self.color();
        let mut result = Ok(());
        for glyph in self.outlines((TOP_TO_BASELINE * self.em).round() as f32) {
            let bounds = glyph.px_bounds();
            let (x0, y0) = (left + bounds.min.x as i32, top + bounds.min.y as i32);
            glyph.draw(|x, y, coverage| {
                let alpha = ink.alpha * f64::from(coverage.clamp(0.0, 1.0));
                if alpha > 0.0 && result.is_ok() {
                    result = draw(x0 + x as i32, y0 + y as i32, BackendColor { alpha, ..ink });
                }
            });
        }
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fonts_compiled_in_have_every_sign_that_figures_write() {
        let signs = (' '..='~').chain("…µ×·±≤≥→∞√ΩαλμσθÄé–—−�".chars());
        for sign in signs {
            for bold in [false, true] {
                assert_ne!(face(bold).glyph_id(sign).0, 0, "{sign} bold: {bold}");
            }
        }
    }

    #[test]
    fn a_width_is_the_sum_of_the_advances_of_the_font() {
        // DejaVu Sans has 2048 units to the em; its digits advance by 1303, its full stop by 651.
        let expected = 10.0 * (2.0 * 1303.0 + 651.0) / 2048.0;
        let width = width_px("1.5", 10.0, false);
        assert!((width - expected).abs() < 1e-4, "{width} {expected}"); // single precision
    }

    #[test]
    fn a_glyph_is_drawn_with_its_side_bearing() {
        let text = Text::label("l", (0.0, 0.0)).sized(100.0);
        let mut left = i32::MAX;
        let drawn: Result<Result<(), Infallible>, _> =
            Lettering::new(&text, 1.0).draw("l", (0, 0), |x, _, _| {
                left = left.min(x);
                Ok(())
            });
        assert!(drawn.is_ok());
        // The stem of DejaVu's l starts 193 of 2048 units right of its origin: 9.4 px.
        assert_eq!(left, 9);
    }

    #[test]
    fn text_that_fits_is_kept_and_other_text_loses_its_middle() {
        assert_eq!(fit("conv1", 11.0, false, 100.0), "conv1");
        let short = fit("encoder.block1.conv_dw.conv2", 11.0, false, 100.0);
        assert!(short.starts_with("enc") && short.ends_with("conv2"), "{short}");
        assert!(short.contains('…') && width_px(&short, 11.0, false) <= 100.0, "{short}");
        assert_eq!(fit("conv1", 11.0, false, 0.0), "");
        assert_eq!(fit("conv1", 11.0, false, -5.0), "");
        let endless = "m".repeat(1 << 20);
        assert!(fit(&endless, 11.0, false, 100.0).chars().count() < 20);
    }

    #[test]
    fn lines_break_at_blanks_and_the_last_is_shortened() {
        let lines = wrap("one two three four five six", 11.0, false, 60.0, 2);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0], "one two");
        assert!(lines[1].contains('…'), "{lines:?}");
        assert!(wrap("", 11.0, false, 60.0, 2).is_empty());
    }
}
