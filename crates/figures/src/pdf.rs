//! PDF files: one page, with text as text in a subset of the font that is compiled in.
//!
//! The document is written directly from the scene. Fonts are embedded as TrueType, which publishers take, with
//! the letters of every glyph, so that text can be searched and copied.

use miniz_oxide::deflate::compress_to_vec_zlib;
use pdf_writer::types::{
    CidFontType, FontFlags, FunctionShadingType, LineCapStyle, LineJoinStyle, SystemInfo,
    UnicodeCmap,
};
use pdf_writer::writers::FunctionShading;
use pdf_writer::{Content, Filter, Finish as _, Name, Pdf, Ref, Str, TextStr};
use subsetter::GlyphRemapper;

use super::hatch::LINE_PX;
use super::scene::{Align, Point, Rect, Scene, Shape, Text, Turn};
use super::text::{Metrics, font_bytes, glyph, legible, metrics, width_px};
use super::{Dashes, FigureError, Ink};

/// Level of compression: most of the gain at little time.
const LEVEL: u8 = 6;

/// Names of the faces in the document: regular and bold.
const FACES: [(&str, &str); 2] = [("R", "XRSIMA+DejaVuSans"), ("B", "XRSIMB+DejaVuSans-Bold")];

/// Encoding of the glyphs: two bytes, the number of the glyph in the subset.
const IDENTITY: SystemInfo<'_> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// The document of a scene.
pub(super) fn document(scene: &Scene) -> Result<Vec<u8>, FigureError> {
    let mut writer = Writer::default();
    let unit = scene.sheet.unit_pt;
    let (width, height) = (scene.width_px() * unit, scene.height_px.ceil() * unit);
    // From pixels downwards to points upwards.
    writer.content.transform([unit as f32, 0.0, 0.0, -unit as f32, 0.0, height as f32]);
    writer.content.set_line_join(LineJoinStyle::RoundJoin);
    writer.content.set_line_cap(LineCapStyle::ButtCap);
    scene.marks().for_each(|shape| writer.shape(shape));
    writer.finish(scene, (width as f32, height as f32))
}

/// A face with the glyphs that are used.
struct Face {
    is_bold: bool,
    glyphs: GlyphRemapper,
    /// Letter of every glyph of the subset but the first, which is that of missing letters.
    letters: Vec<(u16, char)>,
}

impl Face {
    fn new(is_bold: bool) -> Self {
        Self { is_bold, glyphs: GlyphRemapper::new(), letters: Vec::new() }
    }

    /// The letters as numbers of glyphs in the subset.
    fn encoded(&mut self, letters: &str) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(2 * letters.len());
        for letter in letters.chars() {
            let known = self.glyphs.num_gids();
            let id = self.glyphs.remap(glyph(letter, self.is_bold));
            if self.glyphs.num_gids() > known {
                self.letters.push((id, letter));
            }
            bytes.extend(id.to_be_bytes());
        }
        bytes
    }
}

struct Writer {
    content: Content,
    faces: [Face; 2],
    /// Distinct opacities below 1.
    opacities: Vec<f64>,
    /// Whether something has the sequential colours.
    has_ramp: bool,
}

/// Name of the shading of the sequential colours.
const RAMP: Name<'static> = Name(b"S");

impl Default for Writer {
    fn default() -> Self {
        Self {
            content: Content::new(),
            faces: [Face::new(false), Face::new(true)],
            opacities: Vec::new(),
            has_ramp: false,
        }
    }
}

/// Numbers to a hundredth of a pixel.
fn short(px: f64) -> f32 {
    ((px * 100.0).round() / 100.0) as f32
}

fn rgb(ink: Ink) -> [f32; 3] {
    let (red, green, blue) = ink.rgb;
    [red, green, blue].map(|it| ((f32::from(it) / 255.0) * 1e4).round() / 1e4)
}

/// Distance of the control points of a quarter of a circle of radius 1.
const QUARTER: f64 = 0.552_284_75;

impl Writer {
    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Rect { rect, ink } if rect.width > 0.0 && rect.height > 0.0 => {
                self.filled(*ink, |content| {
                    rectangle(content, rect);
                });
            }
            Shape::Rect { .. } => {}
            Shape::Ramp { rect } => self.ramp(rect),
            Shape::Hatch { rect, hatch, ink } => {
                let lines = hatch.lines(rect);
                self.stroked(LINE_PX, *ink, |content| {
                    lines.iter().for_each(|ends| path(content, ends));
                });
            }
            Shape::Line { points, width_px, dashes, ink } if points.len() > 1 => {
                self.line(points, *width_px, *dashes, *ink);
            }
            // The marks of groups are drawn one by one.
            Shape::Line { .. } | Shape::Group { .. } => {}
            Shape::Polygon { points, ink } => self.filled(*ink, |content| path(content, points)),
            Shape::Disc { centre, radius_px, ink } => {
                self.filled(*ink, |content| disc(content, *centre, *radius_px));
            }
            Shape::Text(text) => self.text(text),
        }
    }

    /// Draws with an ink, whose state does not last.
    fn with_ink(&mut self, ink: Ink, draw: impl FnOnce(&mut Content)) {
        let is_faint = ink.opacity < 1.0;
        if is_faint {
            let known = self.opacities.iter().position(|it| *it == ink.opacity);
            let at = known.unwrap_or_else(|| {
                self.opacities.push(ink.opacity);
                self.opacities.len() - 1
            });
            self.content.save_state();
            self.content.set_parameters(Name(format!("G{at}").as_bytes()));
        }
        draw(&mut self.content);
        if is_faint {
            self.content.restore_state();
        }
    }

    fn filled(&mut self, ink: Ink, path: impl FnOnce(&mut Content)) {
        self.with_ink(ink, |content| {
            let [red, green, blue] = rgb(ink);
            content.set_fill_rgb(red, green, blue);
            path(content);
            content.fill_nonzero();
        });
    }

    fn line(&mut self, points: &[Point], width_px: f64, dashes: Dashes, ink: Ink) {
        let is_dashed = dashes != Dashes::SOLID;
        if is_dashed {
            self.content.save_state().set_dash_pattern(dashes.0.iter().map(|it| short(*it)), 0.0);
        }
        self.stroked(width_px, ink, |content| path(content, points));
        if is_dashed {
            self.content.restore_state();
        }
    }

    fn stroked(&mut self, width_px: f64, ink: Ink, path: impl FnOnce(&mut Content)) {
        self.with_ink(ink, |content| {
            let [red, green, blue] = rgb(ink);
            content.set_stroke_rgb(red, green, blue).set_line_width(short(width_px));
            path(content);
            content.stroke();
        });
    }

    /// Fills a rectangle with the sequential colours, whose shading goes from 0 to 1 along x.
    fn ramp(&mut self, rect: &Rect) {
        self.has_ramp = true;
        self.content.save_state();
        rectangle(&mut self.content, rect);
        self.content.clip_nonzero().end_path();
        self.content.transform([short(rect.width), 0.0, 0.0, 1.0, short(rect.x), 0.0]);
        self.content.shading(RAMP).restore_state();
    }

    fn text(&mut self, text: &Text) {
        let letters = legible(&text.text);
        let width = width_px(&letters, text.size_px, text.bold);
        let before = match text.align {
            Align::Start => 0.0,
            Align::Middle => width / 2.0,
            Align::End => width,
        };
        let (x, y) = text.at;
        let matrix = match text.turn {
            Turn::Level => [1.0, 0.0, 0.0, -1.0, short(x - before), short(y)],
            Turn::Up => [0.0, -1.0, -1.0, 0.0, short(x), short(y + before)],
        };
        let face = usize::from(text.bold);
        let glyphs = self.faces[face].encoded(&letters);
        self.with_ink(text.ink, |content| {
            let [red, green, blue] = rgb(text.ink);
            content.set_fill_rgb(red, green, blue).begin_text();
            content.set_font(Name(FACES[face].0.as_bytes()), short(text.size_px));
            content.set_text_matrix(matrix).show(Str(&glyphs)).end_text();
        });
    }

    fn finish(self, scene: &Scene, (width, height): (f32, f32)) -> Result<Vec<u8>, FigureError> {
        let mut next = 0;
        let mut new = || {
            next += 1;
            Ref::new(next)
        };
        let [catalog, pages, page, contents, info] = [(); 5].map(|()| new());
        let faces: Vec<(usize, Face)> = self.faces.into_iter().enumerate().collect();
        let faces = faces.into_iter().filter(|(_, face)| !face.letters.is_empty());
        let faces: Vec<_> = faces.map(|(at, face)| (at, face, [(); 5].map(|()| new()))).collect();
        let ramp = self.has_ramp.then(&mut new);
        let mut pdf = Pdf::new();
        pdf.catalog(catalog).pages(pages);
        pdf.document_info(info).title(TextStr(&scene.title)).creator(TextStr("xrsim"));
        pdf.pages(pages).kids([page]).count(1);
        let mut writer = pdf.page(page);
        writer.media_box(pdf_writer::Rect::new(0.0, 0.0, width, height)).parent(pages);
        writer.contents(contents);
        let mut resources = writer.resources();
        let mut fonts = resources.fonts();
        for (at, _, ids) in &faces {
            fonts.pair(Name(FACES[*at].0.as_bytes()), ids[0]);
        }
        fonts.finish();
        let mut states = resources.ext_g_states();
        for (at, &opacity) in self.opacities.iter().enumerate() {
            let state = states.insert(Name(format!("G{at}").as_bytes()));
            state
                .start::<pdf_writer::writers::ExtGraphicsState<'_>>()
                .stroking_alpha(opacity as f32)
                .non_stroking_alpha(opacity as f32);
        }
        states.finish();
        if let Some(ramp) = ramp {
            let mut shadings = resources.shadings();
            let mut shading = shadings.insert(RAMP).start::<FunctionShading<'_>>();
            shading.shading_type(FunctionShadingType::Axial);
            shading.color_space().device_rgb();
            shading.coords([0.0, 0.0, 1.0, 0.0]).function(ramp);
        }
        resources.finish();
        writer.finish();
        let content = self.content.finish();
        let packed = compress_to_vec_zlib(content.as_slice(), LEVEL);
        pdf.stream(contents, &packed).filter(Filter::FlateDecode);
        if let Some(ramp) = ramp {
            let colours: Vec<u8> =
                Ink::ramp().flat_map(|(_, Ink { rgb: (r, g, b), .. })| [r, g, b]).collect();
            let mut function = pdf.sampled_function(ramp, &colours);
            function.domain([0.0, 1.0]).range([0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
            function.size([(colours.len() / 3) as i32]).bits_per_sample(8);
        }
        for (at, face, ids) in &faces {
            embed(&mut pdf, FACES[*at].1, face, *ids)?;
        }
        Ok(pdf.finish())
    }
}

/// Embeds the glyphs of a face with the objects `ids`.
fn embed(pdf: &mut Pdf, name: &str, face: &Face, ids: [Ref; 5]) -> Result<(), FigureError> {
    let [font, cid_font, descriptor, letters, file] = ids;
    let failed = |error: subsetter::Error| FigureError::Encode(error.to_string());
    let subset = subsetter::subset(font_bytes(face.is_bold), 0, &face.glyphs).map_err(failed)?;
    let Metrics { ascent, descent, cap_height, bounds } = metrics(face.is_bold);
    let name = Name(name.as_bytes());
    let mut type0 = pdf.type0_font(font);
    type0.base_font(name).encoding_predefined(Name(b"Identity-H"));
    type0.descendant_font(cid_font).to_unicode(letters);
    type0.finish();
    let mut cid = pdf.cid_font(cid_font);
    cid.subtype(CidFontType::Type2).base_font(name).system_info(IDENTITY);
    cid.font_descriptor(descriptor).cid_to_gid_map_predefined(Name(b"Identity"));
    let mut widths = cid.widths();
    for (id, letter) in &face.letters {
        let mut text = [0; 4];
        let width = width_px(letter.encode_utf8(&mut text), 1000.0, face.is_bold);
        widths.consecutive(*id, [short(width)]);
    }
    widths.finish();
    cid.finish();
    let [left, bottom, right, top] = bounds;
    pdf.font_descriptor(descriptor)
        .name(name)
        .flags(FontFlags::NON_SYMBOLIC)
        .bbox(pdf_writer::Rect::new(left, bottom, right, top))
        .italic_angle(0.0)
        .ascent(ascent)
        .descent(descent)
        .cap_height(cap_height)
        .stem_v(if face.is_bold { 140.0 } else { 80.0 })
        .font_file2(file);
    let mut map = UnicodeCmap::new(Name(b"Letters"), IDENTITY);
    for &(id, letter) in &face.letters {
        map.pair(id, letter);
    }
    let map = map.finish();
    pdf.stream(letters, &compress_to_vec_zlib(map.as_slice(), LEVEL)).filter(Filter::FlateDecode);
    let packed = compress_to_vec_zlib(&subset, LEVEL);
    let mut stream = pdf.stream(file, &packed);
    stream.filter(Filter::FlateDecode);
    stream.pair(Name(b"Length1"), subset.len() as i32);
    Ok(())
}

fn rectangle(content: &mut Content, rect: &Rect) {
    content.rect(short(rect.x), short(rect.y), short(rect.width), short(rect.height));
}

fn path(content: &mut Content, points: &[Point]) {
    for (at, &(x, y)) in points.iter().enumerate() {
        match at {
            0 => content.move_to(short(x), short(y)),
            _ => content.line_to(short(x), short(y)),
        };
    }
}

/// A circle of four curves.
fn disc(content: &mut Content, (x, y): Point, r: f64) {
    let k = QUARTER * r;
    content.move_to(short(x + r), short(y));
    let curves = [
        [(x + r, y + k), (x + k, y + r), (x, y + r)],
        [(x - k, y + r), (x - r, y + k), (x - r, y)],
        [(x - r, y - k), (x - k, y - r), (x, y - r)],
        [(x + k, y - r), (x + r, y - k), (x + r, y)],
    ];
    for [a, b, to] in curves {
        content.cubic_to(short(a.0), short(a.1), short(b.0), short(b.1), short(to.0), short(to.1));
    }
}
