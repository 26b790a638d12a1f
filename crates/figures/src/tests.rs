//! Tests of every chart, and functions that the tests of single charts share.

use super::*;

/// A number of the sample that has a place on both axes of most charts.
pub(super) const VALUE: f64 = 2.5;

pub(super) fn caption() -> Caption {
    Caption {
        title: "Title <of> the figure & more".into(),
        subtitle: "Subtitle \"quoted\"".into(),
        note: "Note: seed 1".into(),
    }
}

pub(super) fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.into()).collect()
}

/// Data with which a chart is tested.
pub(super) trait Sample: Figure + Sized + 'static {
    /// Texts of the picture, without those of the caption.
    const TEXTS: &'static [&'static str];

    /// A chart with `value` among its data.
    fn sample(value: f64) -> Self;

    /// A sample without any of a part that a figure needs, and the name of the part.
    fn empty() -> (Self, &'static str);

    /// A sample with these names of a part, and the kind of the part; `None` if no part is a list of names.
    fn crowded(_names: Vec<String>) -> Option<(Self, &'static str)> {
        None
    }

    /// A sample with a matrix and names that differ in length; `None` if the chart has none.
    fn unequal() -> Option<Self> {
        None
    }
}

type BoxedFigure = Box<dyn Figure>;

/// The functions of [`Sample`] for one chart.
pub(super) struct Samples {
    texts: &'static [&'static str],
    sample: fn(f64) -> BoxedFigure,
    empty: fn() -> (BoxedFigure, &'static str),
    crowded: fn(Vec<String>) -> Option<(BoxedFigure, &'static str)>,
    unequal: fn() -> Option<BoxedFigure>,
}

impl Samples {
    pub(super) const fn new<S: Sample>() -> Self {
        fn boxed<S: Sample>((chart, part): (S, &'static str)) -> (BoxedFigure, &'static str) {
            (Box::new(chart), part)
        }
        Self {
            texts: S::TEXTS,
            sample: |value| Box::new(S::sample(value)),
            empty: || boxed(S::empty()),
            crowded: |names| S::crowded(names).map(boxed),
            unequal: || S::unequal().map(|chart| Box::new(chart) as BoxedFigure),
        }
    }
}

/// One of every chart, with `value` among its data.
fn charts(value: f64) -> Vec<BoxedFigure> {
    SAMPLES.iter().map(|it| (it.sample)(value)).collect()
}

fn svg(figure: &dyn Figure) -> String {
    String::from_utf8(render(figure, Format::Svg).expect("the sample can be drawn"))
        .expect("an SVG is UTF-8")
}

/// Checks that tags are closed in order, attributes are quoted and text is escaped.
fn assert_well_formed(xml: &str) {
    let mut open = Vec::new();
    for part in xml.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag ends");
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes of <{tag}>");
        for entity in text.split('&').skip(1) {
            let known = ["lt;", "gt;", "amp;", "quot;", "apos;"];
            assert!(known.iter().any(|known| entity.starts_with(known)), "&{entity}");
        }
        let name = tag.trim_start_matches('/').split([' ', '/']).next();
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) => assert_eq!(open.pop(), name, "</{tag}>"),
            (false, true) => {}
            (false, false) => open.push(name.expect("a tag has a name")),
        }
        if open.is_empty() {
            assert_eq!(text.trim(), "", "text after the document");
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

/// The texts of an SVG without escapes.
fn texts(svg: &str) -> Vec<String> {
    let bodies = svg.split("<text ").skip(1).map(|part| {
        let body = part.split_once('>').expect("a tag ends").1;
        body.split_once("</text>").expect("a text ends").0.trim()
    });
    let unescaped = |text: &str| {
        let text = text.replace("&lt;", "<").replace("&gt;", ">");
        text.replace("&quot;", "\"").replace("&apos;", "'").replace("&amp;", "&")
    };
    bodies.map(unescaped).collect()
}

/// A page without marks.
pub(super) fn blank() -> Scene {
    Scene {
        sheet: Sheet::default(),
        height_px: 100.0,
        title: String::new(),
        description: String::new(),
        shapes: Vec::new(),
    }
}

/// The rectangles of a scene in one colour, in the order drawn.
pub(super) fn rects(scene: &Scene, ink: Ink) -> Vec<Rect> {
    let rect = |shape: &Shape| match shape {
        Shape::Rect { rect, ink: found } if *found == ink => Some(*rect),
        _ => None,
    };
    scene.marks().filter_map(rect).collect()
}

/// The lines of a scene in one colour, in the order drawn.
pub(super) fn strokes(scene: &Scene, ink: Ink) -> Vec<Vec<(f64, f64)>> {
    let line = |shape: &Shape| match shape {
        Shape::Line { points, ink: found, .. } if *found == ink => Some(points.clone()),
        _ => None,
    };
    scene.marks().filter_map(line).collect()
}

#[test]
fn every_chart_is_well_formed_svg_with_title_and_description() {
    for chart in charts(VALUE) {
        let svg = svg(&*chart);
        assert_well_formed(&svg);
        assert!(svg.contains("<title>Title &lt;of&gt; the figure &amp; more</title>\n<desc>"));
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\""));
        assert!(svg.contains("viewBox=\"0 0 7200 "), "ten units a pixel");
    }
}

#[test]
fn the_same_data_give_the_same_bytes() {
    for (at, (first, second)) in charts(VALUE).iter().zip(charts(VALUE)).enumerate() {
        // Without optimisation, pixels take most of the time.
        let is_drawn = |format| !cfg!(debug_assertions) || at < 3 || format != Format::Png;
        for &format in Format::ALL.iter().filter(|&&format| is_drawn(format)) {
            assert_eq!(render(&**first, format), render(&*second, format));
        }
    }
}

#[test]
fn every_name_stands_in_the_picture_as_text() {
    for samples in SAMPLES {
        let texts = texts(&svg(&*(samples.sample)(VALUE)));
        let around = ["Title <of> the figure & more", "Subtitle \"quoted\"", "Note: seed 1"];
        for name in samples.texts.iter().chain(&around) {
            assert!(texts.iter().any(|text| text == name), "{name} in {texts:?}");
        }
    }
}

#[test]
fn a_png_is_twice_as_wide_as_the_page_and_not_empty() {
    for chart in charts(VALUE) {
        let height = chart.scene().expect("the sample can be drawn").height_px.ceil() as u32;
        let bytes = render(&*chart, Format::Png).expect("the sample can be drawn");
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
            .read_info()
            .expect("the bytes are a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("the size is known")];
        let info = reader.next_frame(&mut pixels).expect("the PNG has a frame");
        assert_eq!((info.width, info.height), (1440, 2 * height));
        let white = pixels.iter().filter(|&&channel| channel == 0xFF).count();
        assert!(white > pixels.len() / 4 && white < pixels.len(), "{white}");
    }
}

/// A page of the width of a column of a paper: 3.35 in.
fn column() -> Sheet {
    Sheet::printed(241.2).expect("a width that is allowed")
}

/// Area that a text covers, without the space above and below its letters \[px\].
fn covered(text: &Text) -> Rect {
    let length = text::width_px(&text.text, text.size_px, text.bold);
    let before = match text.align {
        Align::Start => 0.0,
        Align::Middle => length / 2.0,
        Align::End => length,
    };
    let (x, y) = text.at;
    let height = 2.0 * scene::HALF_CAPITAL * text.size_px;
    match text.turn {
        Turn::Level => Rect { x: x - before, y: y - height, width: length, height },
        Turn::Up => Rect { x: x - height, y: y + before - length, width: height, height: length },
    }
}

fn labels(scene: &Scene) -> Vec<&Text> {
    let texts = scene.marks().filter_map(|shape| match shape {
        Shape::Text(text) => Some(text),
        _ => None,
    });
    texts.filter(|text| !text.text.is_empty()).collect()
}

/// Pairs of texts of which one covers a part of the other.
pub(super) fn overlaps(scene: &Scene) -> Vec<(String, String)> {
    let labels = labels(scene);
    let mut found = Vec::new();
    for (at, a) in labels.iter().enumerate() {
        for b in &labels[at + 1..] {
            let [one, two] = [covered(a), covered(b)];
            let is_apart = one.right() <= two.x + 0.01
                || two.right() <= one.x + 0.01
                || one.bottom() <= two.y + 0.01
                || two.bottom() <= one.y + 0.01;
            if !is_apart {
                found.push((a.text.clone(), b.text.clone()));
            }
        }
    }
    found
}

#[test]
fn texts_of_printed_figures_are_large_enough_on_the_page_and_apart() {
    for sheet in [column(), Sheet::printed(504.0).expect("two columns"), Sheet::default()] {
        for chart in charts(VALUE) {
            let scene = chart.scene_on(&sheet).expect("the sample can be drawn");
            assert_eq!(overlaps(&scene), []);
            for text in labels(&scene) {
                assert!(text.size_px * sheet.unit_pt >= 7.0, "{text:?}");
                let area = covered(text);
                let is_on_page = area.x >= 0.0 && area.right() <= scene.width_px();
                assert!(
                    is_on_page && area.y >= 0.0 && area.bottom() <= scene.height_px,
                    "{text:?}"
                );
            }
        }
    }
}

#[test]
fn printed_figures_have_their_texts_in_the_caption_alone() {
    for chart in charts(VALUE) {
        let caption = chart.texts().sentences();
        assert_eq!(caption, "Title <of> the figure & more. Subtitle \"quoted\". Note: seed 1.");
        let scene = chart.scene_on(&column()).expect("the sample can be drawn");
        let titled = chart.scene().expect("the sample can be drawn");
        for text in ["Title <of> the figure & more", "Subtitle \"quoted\"", "Note: seed 1"] {
            assert!(titled.texts().any(|it| it == text) && scene.texts().all(|it| it != text));
        }
    }
}

#[test]
fn a_printed_svg_has_the_width_of_the_page() {
    for chart in charts(VALUE) {
        let bytes = render_on(&column(), &*chart, Format::Svg).expect("the sample can be drawn");
        let svg = String::from_utf8(bytes).expect("an SVG is UTF-8");
        assert_well_formed(&svg);
        assert!(svg.contains(" width=\"241.200pt\""), "{svg}");
    }
}

#[test]
fn a_printed_png_has_300_dots_per_inch() {
    for chart in charts(VALUE) {
        let bytes = render_on(&column(), &*chart, Format::Png).expect("the sample can be drawn");
        let reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a PNG");
        assert_eq!(reader.info().width, 1005); // 3.35 in
        let dots = reader.info().pixel_dims.expect("a size").xppu;
        assert_eq!(dots, 11811); // 300 / 0.0254
    }
}

/// Numbers of the first line after `key` in a PDF.
fn number_after(pdf: &[u8], key: &str) -> usize {
    let at = pdf.windows(key.len()).rposition(|window| window == key.as_bytes());
    let rest = &pdf[at.expect("the key is there") + key.len()..];
    let text = String::from_utf8_lossy(&rest[..rest.len().min(40)]).into_owned();
    let digits = text.trim_start().split(|c: char| !c.is_ascii_digit()).next();
    digits.and_then(|digits| digits.parse().ok()).expect("a number")
}

#[test]
fn a_pdf_has_objects_where_its_table_says_and_every_text() {
    for (chart, sheet) in charts(VALUE).iter().zip([column(), Sheet::default()].iter().cycle()) {
        let pdf = render_on(sheet, &**chart, Format::Pdf).expect("the sample can be drawn");
        assert!(pdf.starts_with(b"%PDF-1.") && pdf.trim_ascii_end().ends_with(b"%%EOF"));
        let table = number_after(&pdf, "startxref");
        assert!(pdf[table..].starts_with(b"xref"));
        let lines = String::from_utf8_lossy(&pdf[table..]).into_owned();
        let entries = lines.lines().filter(|line| line.trim_end().ends_with(" n"));
        let offsets: Vec<usize> =
            entries.map(|line| line[..10].parse().expect("an offset")).collect();
        assert!(offsets.len() > 5, "{offsets:?}");
        for (offset, number) in offsets.iter().zip(1..) {
            let object = format!("{number} 0 obj");
            assert!(pdf[*offset..].starts_with(object.as_bytes()), "object {number}");
        }
        // The contents are the object 4, and its stream is packed.
        let object = &pdf[offsets[3]..];
        let start = object.windows(7).position(|it| it == b"stream\n").expect("a stream") + 7;
        let end = object.windows(9).position(|it| it == b"endstream").expect("its end");
        let content = miniz_oxide::inflate::decompress_to_vec_zlib(&object[start..end]);
        let content = String::from_utf8_lossy(&content.expect("it is packed")).into_owned();
        let scene = chart.scene_on(sheet).expect("the sample can be drawn");
        assert_eq!(content.matches(" Tj").count(), scene.texts().count());
        assert!(!content.contains("NaN") && !content.contains("inf"), "{content}");
        let wide = format!("/MediaBox[0 0 {:.1}", sheet.width_pt());
        let spaceless = String::from_utf8_lossy(&pdf).replace("/MediaBox [", "/MediaBox[");
        assert!(spaceless.contains(wide.trim_end_matches(".0")), "{wide}");
    }
}

#[test]
fn names_of_the_front_are_neither_cut_nor_crossed_nor_covered() {
    let point = |at: usize, front| ScatterPoint {
        name: format!("{} PEs, edf:admission=hopeless, clock={at}", 1024 << (at % 5)),
        x: at as f64,
        y: if front { (at as f64).sqrt() } else { 0.3 * at as f64 / 20.0 },
        front,
    };
    for n in [1, 2, 5, 12, 29, 60] {
        let points = (0..n).map(|at| point(at, true)).chain((0..n).map(|at| point(at, false)));
        let chart = Scatter {
            series: vec![ScatterSeries { name: "all".into(), points: points.collect() }],
            ..Scatter::sample(VALUE)
        };
        for sheet in [column(), Sheet::default().untitled()] {
            let scene = chart.scene_on(&sheet).expect("it can be drawn");
            assert_eq!(overlaps(&scene), [], "{n}");
            assert!(scene.texts().all(|text| !text.contains('…')), "{n}");
            let staircase = strokes(&scene, Ink::TEXT).pop().unwrap_or_default();
            for text in labels(&scene) {
                let area = covered(text);
                let is_crossed = staircase.windows(2).any(|pair| {
                    let line = Rect::between(pair[0], pair[1]);
                    line.x < area.right() - 0.01
                        && line.right() > area.x + 0.01
                        && line.y < area.bottom() - 0.01
                        && line.bottom() > area.y + 0.01
                });
                assert!(n < 2 || !is_crossed, "{text:?}");
            }
        }
    }
}

#[test]
fn every_row_of_a_table_has_a_cell_for_every_column() {
    for chart in charts(VALUE) {
        let table = chart.rows();
        assert!(!table.rows.is_empty());
        assert!(table.rows.iter().all(|row| row.len() == table.header.len()), "{table:?}");
        assert!(table.rows.iter().flatten().any(|cell| cell == "2.5"), "{table:?}");
    }
}

#[test]
fn numbers_without_a_place_are_refused_by_every_chart() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e101] {
        for chart in charts(value) {
            let error = chart.scene().expect_err("the number has no place");
            assert!(matches!(error, FigureError::Value { .. }), "{error}");
        }
    }
}

#[test]
fn every_other_number_is_drawn_or_refused_without_a_trace_of_nan() {
    let numbers =
        [0.0, -0.0, 5e-324, -5e-324, 1e-100, 1e-30, 1.0, 2.0, 1e9, 1e9 + 1e-6, 1e100, -1.0, -1e100];
    for chart in numbers.into_iter().flat_map(charts) {
        match render(&*chart, Format::Svg) {
            Ok(bytes) => {
                let svg = String::from_utf8(bytes).expect("an SVG is UTF-8");
                assert_well_formed(&svg);
                assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{svg}");
            }
            Err(error) => assert!(matches!(error, FigureError::Value { .. }), "{error}"),
        }
    }
}

#[test]
fn charts_without_data_are_refused() {
    for samples in SAMPLES {
        let (chart, part) = (samples.empty)();
        assert_eq!(chart.scene(), Err(FigureError::Empty(part)));
    }
}

#[test]
fn more_than_a_picture_holds_is_refused() {
    let many = vec!["name".to_owned(); 5000];
    let refused: Vec<_> = SAMPLES.iter().filter_map(|it| (it.crowded)(many.clone())).collect();
    assert!(!refused.is_empty());
    for (chart, expected) in refused {
        let error = chart.scene().expect_err("that is too much");
        let FigureError::TooMany { what, found: 5000, .. } = error else { panic!("{error}") };
        assert_eq!(what, expected);
    }
    let panel = GroupedBars::sample(VALUE).panels.remove(0);
    let high = GroupedBars { panels: vec![panel; 32], columns: 1, ..GroupedBars::sample(VALUE) };
    let error = render(&high, Format::Svg).expect_err("the page is too high");
    assert!(matches!(error, FigureError::TooMany { what: "pixels of height", .. }), "{error}");
}

#[test]
fn lists_that_belong_together_must_be_as_long() {
    let unequal: Vec<_> = SAMPLES.iter().filter_map(|it| (it.unequal)()).collect();
    assert!(!unequal.is_empty());
    for chart in unequal {
        let error = chart.scene().expect_err("the lists differ in length");
        assert!(matches!(error, FigureError::Count { .. }), "{error}");
        chart.rows(); // does not panic
    }
}

#[test]
fn names_that_no_font_or_file_has_are_drawn() {
    let endless = "w".repeat(100_000);
    for name in ["", "\u{0}\u{1F}\u{FFFE}", "目 ﷽ 🦀", "]]>", &endless, "a\nb"] {
        let chart = StackedBars {
            categories: names(&[name, name]),
            series: names(&[name, name]),
            caption: Caption { title: name.into(), ..caption() },
            ..StackedBars::sample(VALUE)
        };
        let svg = svg(&chart);
        assert_well_formed(&svg);
        assert!(!svg.contains(['\u{0}', '\u{1F}', '\u{FFFE}']));
        render(&chart, Format::Png).expect("the name can be drawn");
    }
}

#[test]
fn text_stays_on_the_page() {
    let long = "a name that is much too long for the place that it has on the page ".repeat(5);
    let chart = GroupedBars {
        groups: names(&[&long, &long]),
        series: names(&[&long, &long]),
        group_axis: long.clone(),
        value_axis: Quantity::new(long.clone(), long.clone()),
        caption: Caption { title: long.clone(), subtitle: long.clone(), note: long.clone() },
        ..GroupedBars::sample(VALUE)
    };
    let scene = chart.scene().expect("the chart can be drawn");
    for shape in scene.marks() {
        let Shape::Text(text) = shape else { continue };
        let length = text::width_px(&text.text, text.size_px, text.bold);
        let before = match text.align {
            Align::Start => 0.0,
            Align::Middle => length / 2.0,
            Align::End => length,
        };
        let (x, y) = text.at;
        let on_page = match text.turn {
            Turn::Level => x - before >= 0.0 && x - before + length <= scene.width_px(),
            Turn::Up => y + before <= scene.height_px && y + before - length >= 0.0,
        };
        assert!(on_page, "{text:?}");
    }
}
