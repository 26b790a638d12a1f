//! The document: a template, and what its places are filled with.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

const TEMPLATE: &str = include_str!("page.html");

const STYLE: &[&str] =
    &[include_str!("../../../assets/uplot/uPlot.min.css"), include_str!("style.css")];

const UPLOT: &[&str] = &[include_str!("../../../assets/uplot/uPlot.iife.min.js")];

const UPLOT_LICENCE: &str = include_str!("../../../assets/uplot/LICENSE");

/// The program of the page, one module whose parts build on those before them.
const APP: &[&str] = &[
    include_str!("app/data.js"),
    include_str!("app/dom.js"),
    include_str!("app/format.js"),
    include_str!("app/why.js"),
    include_str!("app/table.js"),
    include_str!("app/scores.js"),
    include_str!("app/breakdown.js"),
    include_str!("app/models.js"),
    include_str!("app/timeline.js"),
    include_str!("app/latency.js"),
    include_str!("app/provenance.js"),
    include_str!("app/main.js"),
];

/// The document that carries `data`.
pub(super) fn fill(data: &str) -> String {
    let style = STYLE.join("\n");
    let uplot = UPLOT.join("\n");
    let app = APP.join("\n");
    let mut page = String::with_capacity(TEMPLATE.len() + style.len() + uplot.len() + app.len() + data.len());
    let mut rest = TEMPLATE;
    while let Some((before, (place, after))) =
        rest.split_once("{{").and_then(|(before, rest)| Some((before, rest.split_once("}}")?)))
    {
        page.push_str(before);
        page.push_str(&match place {
            "style" => style.clone(),
            _ => todo!(),
        });
        rest = after;
    }
    page.push_str(rest);
    page
}
