//! Dataflows as YAML text.

use serde::Serialize;
use serde_saphyr::{FlowMap, FlowSeq};

use xrsim_model::dataflow::{Dataflow, Directives, LayerMapping, LayerMemory, LayerShape};

use super::document;

#[derive(Serialize)]
struct Body<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    stationary: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flexibility: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    directives: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    layers: Vec<LayerBody<'a>>,
}

#[derive(Serialize)]
struct LayerBody<'a> {
    layer: &'a str,
    shape: FlowMap<Shape>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resident: Option<FlowSeq<Vec<&'static str>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    free_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<FlowMap<Shape>>,
    directives: Vec<String>,
}

#[derive(Serialize)]
struct Shape {
    #[serde(rename = "N")]
    n: u32,
    #[serde(rename = "G")]
    g: u32,
    #[serde(rename = "K")]
    k: u32,
    #[serde(rename = "C")]
    c: u32,
    #[serde(rename = "Y'")]
    y: u32,
    #[serde(rename = "X'")]
    x: u32,
    #[serde(rename = "R")]
    r: u32,
    #[serde(rename = "S")]
    s: u32,
    input: FlowSeq<[u32; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stride: Option<FlowSeq<[u32; 2]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dilation: Option<FlowSeq<[u32; 2]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    padding: Option<FlowSeq<[u32; 2]>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    depthwise: bool,
}

/// The `dataflow:` file of `dataflow`.
pub fn dataflow(dataflow: &Dataflow) -> String {
    let layers = dataflow.layers().iter().map(layer).collect();
    let directives = lines(dataflow.directives());
    let stationary = dataflow.stationary().map(|it| it.name());
    let flexibility = dataflow.flexibility().map(|it| it.name());
    let name = dataflow.name();
    document("dataflow", Body { name, stationary, flexibility, directives, layers })
}

fn layer(mapping: &LayerMapping) -> LayerBody<'_> {
    let resident = |memory: &LayerMemory| {
        let named = LayerMemory::TENSORS.into_iter().zip(memory.resident);
        FlowSeq(named.filter(|(_, is)| *is).map(|(name, _)| name).collect())
    };
    LayerBody {
        layer: &mapping.layer,
        shape: shape(&mapping.shape),
        resident: mapping.memory.as_ref().map(resident),
        free_bytes: mapping.memory.map(|memory| memory.free),
        group_bytes: mapping.memory.and_then(|memory| memory.group),
        form: mapping.form.as_ref().map(shape),
        directives: lines(&mapping.directives),
    }
}

fn shape(shape: &LayerShape) -> FlowMap<Shape> {
    let [n, g, k, c, y, x, r, s] = shape.extents;
    let [rows, columns] = &shape.windows;
    let unless = |usual: u32, pair: [u32; 2]| (pair != [usual; 2]).then_some(FlowSeq(pair));
    FlowMap(Shape {
        n,
        g,
        k,
        c,
        y,
        x,
        r,
        s,
        input: FlowSeq([rows.stored, columns.stored]),
        stride: unless(1, [rows.stride, columns.stride]),
        dilation: unless(1, [rows.dilation, columns.dilation]),
        padding: unless(0, [rows.padding, columns.padding]),
        depthwise: shape.depthwise,
    })
}

/// One directive a line.
fn lines(directives: &Directives) -> Vec<String> {
    directives.to_string().lines().map(Into::into).collect()
}
