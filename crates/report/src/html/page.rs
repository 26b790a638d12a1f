//! The document: a template and the contents of its places.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// Places are `{{name}}`.
const TEMPLATE: &str = include_str!("page.html");

const UPLOT_LICENCE: &str = include_str!("../../uplot/LICENSE");

/// Parts of a kind of page.
pub(super) struct Kind {
    /// Its first section, the target of the skip link.
    first: &'static str,
    /// Links and sections.
    body: &'static str,
    style: &'static [&'static str],
    /// The script that draws charts, if any.
    uplot: Option<&'static str>,
    /// The program of the page, one module; its start is the last file.
    app: &'static [&'static str],
}

/// The page of a set of runs.
pub(super) const RUNS: Kind = Kind {
    first: "scores",
    body: include_str!("runs.html"),
    style: &[include_str!("../../uplot/uPlot.min.css"), include_str!("style.css")],
    uplot: Some(include_str!("../../uplot/uPlot.iife.min.js")),
    app: &[
        include_str!("app/data.js"),
        include_str!("app/dom.js"),
        include_str!("app/format.js"),
        include_str!("app/why.js"),
        include_str!("app/view.js"),
        include_str!("app/columns.js"),
        include_str!("app/table.js"),
        include_str!("app/shell.js"),
        include_str!("app/scores.js"),
        include_str!("app/breakdown.js"),
        include_str!("app/models.js"),
        include_str!("app/requests.js"),
        include_str!("app/drawing.js"),
        include_str!("app/timeline.js"),
        include_str!("app/latency.js"),
        include_str!("app/main.js"),
    ],
};

/// The page of load tests.
pub(super) const TESTS: Kind = Kind {
    first: "tests",
    body: include_str!("tests.html"),
    style: &[include_str!("style.css"), include_str!("tests.css")],
    uplot: None,
    app: &[
        include_str!("app/dom.js"),
        include_str!("app/format.js"),
        include_str!("app/columns.js"),
        include_str!("app/table.js"),
        include_str!("app/shell.js"),
        include_str!("app/tests.js"),
    ],
};

/// A page of sections with figures and tables.
pub(super) const ARTICLE: Kind = Kind {
    first: "contents",
    body: include_str!("article.html"),
    style: &[include_str!("style.css"), include_str!("tests.css")],
    uplot: None,
    app: &[
        include_str!("app/dom.js"),
        include_str!("app/format.js"),
        include_str!("app/columns.js"),
        include_str!("app/table.js"),
        include_str!("app/shell.js"),
        include_str!("app/article.js"),
    ],
};

impl Kind {
    /// The document that carries `data`, which is base64.
    pub(super) fn fill(&self, data: &str) -> String {
        let (style, app) = (self.style.join("\n"), self.app.join("\n"));
        let policy = self.policy(&style, &app);
        let uplot = self.uplot.map_or(String::new(), uplot);
        let content = |place: &str| match place {
            "policy" => &*policy,
            "style" => &style,
            "first" => self.first,
            "body" => self.body,
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
    fn policy(&self, style: &str, app: &str) -> String {
        let digest = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
        let scripts: Vec<_> = self.uplot.into_iter().chain([app]).map(digest).collect();
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
