//! The document: a template, and what its places are filled with.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// Places are `{{name}}`.
const TEMPLATE: &str = include_str!("page.html");

const UPLOT: &str = include_str!("../../../assets/uplot/uPlot.iife.min.js");
const UPLOT_LICENCE: &str = include_str!("../../../assets/uplot/LICENSE");

const STYLE: [&str; 2] =
    [include_str!("../../../assets/uplot/uPlot.min.css"), include_str!("style.css")];

/// The program of the page, one module; its start comes last.
const APP: [&str; 14] = [
    include_str!("app/data.js"),
    include_str!("app/dom.js"),
    include_str!("app/format.js"),
    include_str!("app/why.js"),
    include_str!("app/view.js"),
    include_str!("app/table.js"),
    include_str!("app/scores.js"),
    include_str!("app/breakdown.js"),
    include_str!("app/models.js"),
    include_str!("app/requests.js"),
    include_str!("app/drawing.js"),
    include_str!("app/timeline.js"),
    include_str!("app/latency.js"),
    include_str!("app/main.js"),
];

/// The document that carries `data`, which is base64.
pub(super) fn fill(data: &str) -> String {
    let (style, app) = (STYLE.join("\n"), APP.join("\n"));
    let policy = policy(&style, &app);
    let content = |place: &str| match place {
        "policy" => &*policy,
        "style" => &style,
        "uplot_licence" => UPLOT_LICENCE,
        "uplot" => UPLOT,
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
fn policy(style: &str, app: &str) -> String {
    let [style, uplot, app] = [style, UPLOT, app]
        .map(|text| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text))));
    format!(
        "default-src 'none'; style-src {style}; script-src {uplot} {app}; base-uri 'none'; \
         form-action 'none'"
    )
}
