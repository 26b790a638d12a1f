//! The document: a template and the contents of its places.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// Places are `{{name}}`.
const TEMPLATE: &str = include_str!("page.html");

const UPLOT_LICENCE: &str = include_str!("../../uplot/LICENSE");

/// A kind of page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A set of runs.
    Runs,
    /// Load tests.
    Tests,
    /// Sections with figures and tables.
    Article,
}

/// Scripts in their order, each with the pages whose program it belongs to. The program is one module; its start is the
/// last script.
const SCRIPTS: [(&str, &[Kind]); 20] = [
    (include_str!("app/data.js"), &[Kind::Runs]),
    (include_str!("app/dom.js"), &Kind::ALL),
    (include_str!("app/format.js"), &Kind::ALL),
    (include_str!("app/why.js"), &[Kind::Runs]),
    (include_str!("app/view.js"), &[Kind::Runs]),
    (include_str!("app/columns.js"), &Kind::ALL),
    (include_str!("app/table.js"), &Kind::ALL),
    (include_str!("app/cells.js"), &[Kind::Runs, Kind::Article]),
    (include_str!("app/shell.js"), &Kind::ALL),
    (include_str!("app/address.js"), &[Kind::Runs]),
    (include_str!("app/scores.js"), &[Kind::Runs]),
    (include_str!("app/breakdown.js"), &[Kind::Runs]),
    (include_str!("app/models.js"), &[Kind::Runs]),
    (include_str!("app/requests.js"), &[Kind::Runs]),
    (include_str!("app/drawing.js"), &[Kind::Runs]),
    (include_str!("app/timeline.js"), &[Kind::Runs]),
    (include_str!("app/latency.js"), &[Kind::Runs]),
    (include_str!("app/main.js"), &[Kind::Runs]),
    (include_str!("app/tests.js"), &[Kind::Tests]),
    (include_str!("app/article.js"), &[Kind::Article]),
];

const STYLE: &str = include_str!("style.css");
const UPLOT_STYLE: &str = include_str!("../../uplot/uPlot.min.css");
const TESTS_STYLE: &str = include_str!("tests.css");

impl Kind {
    const ALL: [Self; 3] = [Self::Runs, Self::Tests, Self::Article];

    /// First section, the target of the skip link; then links and sections.
    fn body(self) -> [&'static str; 2] {
        match self {
            Self::Runs => ["answer", include_str!("runs.html")],
            Self::Tests => ["tests", include_str!("tests.html")],
            Self::Article => ["contents", include_str!("article.html")],
        }
    }

    /// The script that draws charts, if any.
    fn uplot(self) -> Option<&'static str> {
        let script = include_str!("../../uplot/uPlot.iife.min.js");
        (self == Self::Runs).then_some(script)
    }

    /// The document that carries `data`, which is base64.
    pub(super) fn fill(self, data: &str) -> String {
        let app =
            SCRIPTS.iter().filter(|(_, kinds)| kinds.contains(&self)).map(|(script, _)| *script);
        let app = app.collect::<Vec<_>>().join("\n");
        let style = match self {
            Self::Runs => [UPLOT_STYLE, STYLE],
            Self::Tests | Self::Article => [STYLE, TESTS_STYLE],
        };
        let style = style.join("\n");
        let [first, body] = self.body();
        let policy = self.policy(&style, &app);
        let uplot = self.uplot().map_or(String::new(), uplot);
        let content = |place: &str| match place {
            "policy" => &*policy,
            "style" => &style,
            "first" => first,
            "body" => body,
            "uplot" => &uplot,
            "data" => data,
            "app" => &app,
            _ => unreachable!("the template has no other place"),
        };
        let mut pieces = TEMPLATE.split("{{");
        let mut page = pieces.next().unwrap_or_default().to_string();
        for piece in pieces {
            let (place, text) = piece.split_once("}}").expect("a place of the template ends");
            page.push_str(content(place));
            page.push_str(text);
        }
        page
    }

    /// The content security policy: the page's own style and scripts, and nothing from anywhere.
    fn policy(self, style: &str, app: &str) -> String {
        let digest = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
        let scripts: Vec<_> = self.uplot().into_iter().chain([app]).map(digest).collect();
        format!(
            "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
            digest(style),
            scripts.join(" ")
        )
    }
}

/// uPlot with its licence.
fn uplot(script: &str) -> String {
    format!(
        "<!-- uPlot, in the script below, is under this licence:\n{UPLOT_LICENCE}-->\n\
         <script>{script}</script>\n"
    )
}

/// Level of the compressor, from 0 to 10.
const LEVEL: u8 = 9;

/// A document of columns and text as the page carries it.
pub(super) fn deflated(document: &impl Serialize) -> String {
    let text = serde_json::to_vec(document).expect("columns and text serialise");
    STANDARD.encode(miniz_oxide::deflate::compress_to_vec(&text, LEVEL))
}
