//! Tests of every chart, and functions that the tests of single charts share.

use super::*;

/// A number of the sample that has a place on both axes of most charts.
const VALUE: f64 = 2.5;

fn caption() -> Caption {
    Caption {
        title: "Title <of> the figure & more".into(),
        subtitle: "Subtitle \"quoted\"".into(),
        note: "Note: seed 1".into(),
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.into()).collect()
}

fn stacked(value: f64) -> StackedBars {
    StackedBars {
        caption: caption(),
        category_axis: "Layer".into(),
        value_axis: Axis::new("Energy", "J"),
        categories: names(&["conv1", "conv2"]),
        series: names(&["MAC", "DRAM"]),
        panels: vec![StackPanel {
            title: "Weight stationary".into(),
            values: vec![vec![1.0, 2.0], vec![0.0, value]],
        }],
        shared_scale: false,
    }
}

fn roofline(value: f64) -> Roofline {
    let point = |name: &str, intensity, performance| RooflinePoint {
        name: name.into(),
        intensity,
        performance,
        labelled: true,
    };
    Roofline {
        caption: caption(),
        intensity_axis: Axis::new("Intensity", "MAC/byte"),
        performance_axis: Axis::new("Performance", "MAC/cycle"),
        peaks: vec![Ceiling { name: "Peak".into(), value: 64.0 }],
        bandwidths: vec![Ceiling { name: "DRAM".into(), value: 4.0 }],
        series: vec![PointSeries {
            name: "Row stationary".into(),
            points: vec![point("conv1", 1.0, 3.0), point("conv2", 100.0, value)],
        }],
    }
}

fn grouped(value: f64) -> GroupedBars {
    let bar = Bar { value, range: Some((value, value)), published: Some(value) };
    GroupedBars {
        caption: caption(),
        group_axis: "Accelerator".into(),
        value_axis: Axis::new("Score", ""),
        groups: names(&["A", "B"]),
        series: names(&["Real-time", "Energy"]),
        columns: 2,
        panels: vec![GroupPanel {
            title: "AR gaming".into(),
            bars: vec![vec![Some(bar), None], vec![Some(Bar::plain(-1.0)), Some(Bar::plain(1.0))]],
        }],
        shared_scale: true,
        published: "Paper".into(),
    }
}

fn timeline(value: f64) -> Timeline {
    let slice = Slice { row: 0, model: 0, start_ms: 0.0, end_ms: 900.0, late: false };
    Timeline {
        caption: caption(),
        models: names(&["Hand tracking", "Eyes"]),
        window_ms: (0.0, 1000.0),
        panels: vec![TimelinePanel {
            title: "4K PEs".into(),
            rows: names(&["0: WS", "not run"]),
            slices: vec![slice, Slice { model: 1, late: true, end_ms: value, ..slice }],
            instants: vec![
                Instant { row: 1, model: 1, time_ms: 5.0, kind: InstantKind::Drop },
                Instant { row: 0, model: 1, time_ms: value, kind: InstantKind::Deadline },
            ],
        }],
    }
}

fn lines(value: f64) -> Lines {
    let point = |x, mean| LinePoint { x, mean, interval: Some((mean, mean * 1.5)) };
    Lines {
        caption: caption(),
        x_axis: Axis::new("Probability", ""),
        x_spacing: Spacing::Linear,
        y_axis: Axis::new("Latency", "s"),
        y_spacing: Spacing::Log,
        series: names(&["mean"]),
        columns: 1,
        panels: vec![LinePanel {
            title: "Accelerator B".into(),
            lines: vec![Line {
                points: vec![point(0.0, 1.0), point(1.0, value)],
                published: vec![(0.5, value)],
            }],
        }],
        published: "Paper".into(),
    }
}

fn heat_map(value: f64) -> HeatMap {
    HeatMap {
        caption: caption(),
        column_axis: "Bandwidth".into(),
        row_axis: "PEs".into(),
        value_axis: Axis::new("Latency", "s"),
        spacing: Spacing::Linear,
        columns: names(&["16", "32"]),
        rows: names(&["256", "512"]),
        values: vec![vec![Some(value), None], vec![Some(1.0), Some(2.0)]],
    }
}

fn scatter(value: f64) -> Scatter {
    let point = |name: &str, x, y, front| ScatterPoint { name: name.into(), x, y, front };
    Scatter {
        caption: caption(),
        x_axis: Axis::new("Latency", "s"),
        x_spacing: Spacing::Linear,
        y_axis: Axis::new("Energy", "J"),
        y_spacing: Spacing::Linear,
        series: vec![ScatterSeries {
            name: "J-4K".into(),
            points: vec![point("edf", 1.0, value, true), point("fifo", 2.0, 3.0, false)],
        }],
    }
}

/// One of every chart, with `value` among its data.
fn charts(value: f64) -> Vec<Box<dyn Figure>> {
    vec![
        Box::new(stacked(value)),
        Box::new(roofline(value)),
        Box::new(grouped(value)),
        Box::new(timeline(value)),
        Box::new(lines(value)),
        Box::new(heat_map(value)),
        Box::new(scatter(value)),
    ]
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
    Scene { height_px: 100.0, title: String::new(), description: String::new(), shapes: Vec::new() }
}

/// The rectangles of a scene in one colour, in the order drawn.
pub(super) fn rects(scene: &Scene, ink: Ink) -> Vec<Rect> {
    let rect = |shape: &Shape| match shape {
        Shape::Rect { rect, ink: found } if *found == ink => Some(*rect),
        _ => None,
    };
    scene.shapes.iter().filter_map(rect).collect()
}

/// The lines of a scene in one colour, in the order drawn.
pub(super) fn strokes(scene: &Scene, ink: Ink) -> Vec<Vec<(f64, f64)>> {
    let line = |shape: &Shape| match shape {
        Shape::Line { points, ink: found, .. } if *found == ink => Some(points.clone()),
        _ => None,
    };
    scene.shapes.iter().filter_map(line).collect()
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
    for (first, second) in charts(VALUE).iter().zip(charts(VALUE)) {
        for &format in Format::ALL {
            assert_eq!(render(&**first, format), render(&*second, format));
        }
    }
}

#[test]
fn every_name_stands_in_the_picture_as_text() {
    let expected: [&[&str]; 7] = [
        &["conv1", "conv2", "MAC", "DRAM", "Weight stationary", "Layer", "Energy [J]"],
        &["conv1", "conv2", "Row stationary", "Peak: 64 MAC/cycle", "DRAM: 4 byte/cycle"],
        &["A", "B", "Real-time", "Energy", "AR gaming", "Paper", "no result", "Score"],
        &["0: WS", "not run", "Hand tracking", "Eyes", "late", "dropped", "deadline", "4K PEs"],
        &["mean", "Accelerator B", "Probability", "Latency [s]", "Paper"],
        &["16", "32", "256", "512", "2.5", "Bandwidth", "PEs", "Latency [s]:", "no result"],
        &["J-4K", "edf", "Pareto front", "Latency [s]", "Energy [J]"],
    ];
    for (chart, expected) in charts(VALUE).iter().zip(expected) {
        let texts = texts(&svg(&**chart));
        let around = ["Title <of> the figure & more", "Subtitle \"quoted\"", "Note: seed 1"];
        for name in expected.iter().chain(&around) {
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
    let empty: [(Box<dyn Figure>, &str); 7] = [
        (Box::new(StackedBars { categories: vec![], ..stacked(VALUE) }), "categories"),
        (Box::new(Roofline { peaks: vec![], ..roofline(VALUE) }), "peaks"),
        (Box::new(GroupedBars { columns: 0, ..grouped(VALUE) }), "columns"),
        (Box::new(Timeline { panels: vec![], ..timeline(VALUE) }), "panels"),
        (Box::new(Lines { panels: vec![], ..lines(VALUE) }), "panels"),
        (Box::new(HeatMap { rows: vec![], ..heat_map(VALUE) }), "rows"),
        (Box::new(Scatter { series: vec![], ..scatter(VALUE) }), "series"),
    ];
    for (chart, what) in empty {
        assert_eq!(chart.scene(), Err(FigureError::Empty(what)));
    }
}

#[test]
fn more_than_a_picture_holds_is_refused() {
    let many = vec!["name".to_owned(); 5000];
    let refused: [(Box<dyn Figure>, &str); 5] = [
        (Box::new(StackedBars { series: many.clone(), ..stacked(VALUE) }), "series"),
        (Box::new(GroupedBars { groups: many.clone(), ..grouped(VALUE) }), "groups"),
        (Box::new(Timeline { models: many.clone(), ..timeline(VALUE) }), "models"),
        (Box::new(Lines { series: many.clone(), ..lines(VALUE) }), "series"),
        (Box::new(HeatMap { columns: many, ..heat_map(VALUE) }), "columns"),
    ];
    for (chart, expected) in refused {
        let error = chart.scene().expect_err("that is too much");
        let FigureError::TooMany { what, found: 5000, .. } = error else { panic!("{error}") };
        assert_eq!(what, expected);
    }
    let panel = grouped(VALUE).panels.remove(0);
    let high = GroupedBars { panels: vec![panel; 32], columns: 1, ..grouped(VALUE) };
    let error = render(&high, Format::Svg).expect_err("the page is too high");
    assert!(matches!(error, FigureError::TooMany { what: "pixels of height", .. }), "{error}");
}

#[test]
fn lists_that_belong_together_must_be_as_long() {
    let mut unequal: Vec<Box<dyn Figure>> = Vec::new();
    let mut chart = stacked(VALUE);
    chart.panels[0].values[1].pop();
    unequal.push(Box::new(chart));
    let mut chart = grouped(VALUE);
    chart.panels[0].bars.pop();
    unequal.push(Box::new(chart));
    let mut chart = lines(VALUE);
    chart.series.push("another".into());
    unequal.push(Box::new(chart));
    let mut chart = heat_map(VALUE);
    chart.values[0].pop();
    unequal.push(Box::new(chart));
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
            ..stacked(VALUE)
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
        value_axis: Axis::new(long.clone(), long.clone()),
        caption: Caption { title: long.clone(), subtitle: long.clone(), note: long.clone() },
        ..grouped(VALUE)
    };
    let scene = chart.scene().expect("the chart can be drawn");
    for shape in &scene.shapes {
        let Shape::Text(text) = shape else { continue };
        let length = text::width_px(&text.text, text.size_px, text.bold);
        let before = match text.align {
            Align::Start => 0.0,
            Align::Middle => length / 2.0,
            Align::End => length,
        };
        let (x, y) = text.at;
        let on_page = match text.turn {
            Turn::Level => x - before >= 0.0 && x - before + length <= scene::WIDTH_PX,
            Turn::Up => y + before <= scene.height_px && y + before - length >= 0.0,
        };
        assert!(on_page, "{text:?}");
    }
}
