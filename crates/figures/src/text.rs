//! The font: widths of text, and glyphs as pixels.
//!
//! Layout needs the width of text before anything is drawn, and a bitmap needs its glyphs. Both come
//! from the font that is compiled in, so neither depends on the machine.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, Glyph, ScaleFont, point};
use plotters_backend::{BackendColor, DrawingBackend, DrawingErrorKind};

use super::scene::{Align, HALF_CAPITAL, Text, Turn};

/// Fonts of an SVG in order of preference: the one measured with, one of the same widths, any.
pub(super) const FAMILIES: &str = "DejaVu Sans, Verdana, sans-serif";

static REGULAR: LazyLock<FontRef<'static>> = LazyLock::new(|| font(font_bytes(false)));

static BOLD: LazyLock<FontRef<'static>> = LazyLock::new(|| font(font_bytes(true)));

/// The file of a face.
pub(super) fn font_bytes(bold: bool) -> &'static [u8] {
    match bold {
        true => include_bytes!("../fonts/DejaVuSans-Bold.ttf"),
        false => include_bytes!("../fonts/DejaVuSans.ttf"),
    }
}

fn font(bytes: &'static [u8]) -> FontRef<'static> {
    FontRef::try_from_slice(bytes).expect("the font compiled in is whole")
}

fn face(bold: bool) -> &'static FontRef<'static> {
    if bold { &BOLD } else { &REGULAR }
}

/// Number of the glyph of a letter in the file of its face; 0 for a letter that it lacks.
pub(super) fn glyph(letter: char, bold: bool) -> u16 {
    face(bold).glyph_id(letter).0
}

/// Measures of a face \[em/1000\].
pub(super) struct Metrics {
    pub ascent: f32,
    pub descent: f32,
    pub cap_height: f32,
    /// Left, lower, right and upper end of all glyphs.
    pub bounds: [f32; 4],
}

/// Measures of a face. The bounds are those of the tallest and widest letters that figures write.
pub(super) fn metrics(bold: bool) -> Metrics {
    let font = face(bold);
    let scale = 1000.0 / font.units_per_em().unwrap_or(2048.0);
    let (ascent, descent) = (font.ascent_unscaled() * scale, font.descent_unscaled() * scale);
    let cap_height = (2000.0 * HALF_CAPITAL) as f32;
    Metrics { ascent, descent, cap_height, bounds: [-100.0, descent, 1400.0, ascent] }
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

/// Whether `text` is at most `max_px` wide. Very long text is not measured.
pub(super) fn fits(text: &str, size_px: f64, bold: bool, max_px: f64) -> bool {
    text.chars().nth(most_letters(size_px, max_px)).is_none()
        && width_px(text, size_px, bold) <= max_px
}

/// A number of letters that is wider than `max_px`: no letter is narrower than a tenth of the em.
fn most_letters(size_px: f64, max_px: f64) -> usize {
    (max_px.max(0.0) * 10.0 / size_px) as usize + 1
}

/// `text` if it is at most `max_px` wide, else its beginning and end around an ellipsis.
///
/// Most of the end is kept, as names of layers and runs often begin alike.
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

/// Breaks text into at most `lines` lines of at most `max_px`. The last line is shortened if needed.
pub(super) fn wrap(text: &str, size_px: f64, bold: bool, max_px: f64, lines: usize) -> Vec<String> {
    let mut wrapped: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let full = wrapped.len() == lines;
        match wrapped.last_mut() {
            Some(line) if width_px(&format!("{line} {word}"), size_px, bold) <= max_px => {
                line.push(' ');
                line.push_str(word);
            }
            // The last line is shortened below; one more word is enough for that.
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

/// Breaks a name into at most `lines` lines of at most `max_px`, after blanks and signs that join words. The last line
/// is shortened if needed.
pub(super) fn broken(
    name: &str,
    size_px: f64,
    bold: bool,
    max_px: f64,
    lines: usize,
) -> Vec<String> {
    let mut broken: Vec<String> = vec![String::new()];
    for word in name.split_inclusive([' ', '_', ',', ':', '/', '-', '=']) {
        let n_lines = broken.len();
        let Some(line) = broken.last_mut() else { break };
        let joined = format!("{line}{word}");
        if line.is_empty() || n_lines == lines || fits(joined.trim_end(), size_px, bold, max_px) {
            *line = joined;
        } else {
            broken.push(word.to_owned());
        }
    }
    broken.iter().map(|line| fit(line.trim_end(), size_px, bold, max_px)).collect()
}

/// Text without control characters, most of which XML forbids.
pub(super) fn legible(text: &str) -> String {
    let forbidden = |c: char| c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}');
    text.chars().map(|c| if forbidden(c) { '\u{FFFD}' } else { c }).collect()
}

/// Distance from the top of a line of text to its baseline [em].
pub(super) const TOP_TO_BASELINE: f64 = 0.76;

/// Position of the top of a text, at the end that is aligned, where a pixel of the page has `scale`
/// units.
pub(super) fn top(text: &Text, scale: f64) -> (i32, i32) {
    let (x, y) = (text.at.0 * scale, text.at.1 * scale);
    let up = TOP_TO_BASELINE * text.size_px * scale;
    match text.turn {
        Turn::Level => (x.round() as i32, (y - up).round() as i32),
        Turn::Up => ((x - up).round() as i32, y.round() as i32),
    }
}

/// Draws the glyphs of a text on a back end that has `scale` units for a pixel of the page.
///
/// The lettering of the crate `plotters` is not used: it places glyphs without their side bearings.
///
/// # Errors
///
/// The error of the back end.
pub(super) fn draw_glyphs<B: DrawingBackend>(
    backend: &mut B,
    text: &Text,
    scale: f64,
) -> Result<(), DrawingErrorKind<B::ErrorType>> {
    let letters = legible(&text.text);
    let (left, top) = top(text, scale);
    let em = text.size_px * scale;
    let width = width_px(&letters, em, text.bold).round() as i32;
    let before = match text.align {
        Align::Start => 0,
        Align::Middle => width / 2,
        Align::End => width,
    };
    let page = backend.get_size();
    let mut result = Ok(());
    each_sample(&letters, em, text.bold, |x, y, coverage| {
        let (along, down) = (x - before, y);
        let (x, y) = match text.turn {
            Turn::Level => (left + along, top + down),
            Turn::Up => (left + down, top - along),
        };
        let inside = (0..page.0 as i32).contains(&x) && (0..page.1 as i32).contains(&y);
        if inside && result.is_ok() {
            let alpha = text.ink.opacity * coverage;
            result = backend.draw_pixel((x, y), BackendColor { rgb: text.ink.rgb, alpha });
        }
    });
    result
}

/// Calls `sample` with the position and coverage of every sample that the glyphs cover, from the top
/// left of the text.
fn each_sample(letters: &str, em: f64, bold: bool, mut sample: impl FnMut(i32, i32, f64)) {
    let font = scaled(em, bold);
    let baseline = (TOP_TO_BASELINE * em).round() as f32;
    let mut x = 0.0;
    for c in letters.chars() {
        let id = font.glyph_id(c);
        let glyph = Glyph { id, scale: font.scale(), position: point(x, baseline) };
        x += font.h_advance(id);
        let Some(outline) = font.outline_glyph(glyph) else { continue };
        let bounds = outline.px_bounds();
        let (x0, y0) = (bounds.min.x as i32, bounds.min.y as i32);
        outline.draw(|x, y, coverage| {
            let coverage = f64::from(coverage.clamp(0.0, 1.0));
            if coverage > 0.0 {
                sample(x0 + x as i32, y0 + y as i32, coverage);
            }
        });
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
        let mut left = i32::MAX;
        each_sample("l", 100.0, false, |x, _, _| left = left.min(x));
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
    fn names_break_after_signs_that_join_words() {
        let of = |name: &str| broken(name, 11.0, true, 90.0, 2);
        assert_eq!(of("VR_gaming"), ["VR_gaming"]);
        assert_eq!(of("social_interactionA"), ["social_", "interactionA"]);
        assert_eq!(of(""), [""]);
        let long = of("social_interaction_of_many_people");
        assert_eq!(long.len(), 2);
        assert!(long[1].contains('…'), "{long:?}");
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
