//! Schemas of `dataflow:` and `mapspace:` files.

use serde_json::json;

use super::form::{
    Form, any_of, dataflow as dataflow_name, exactly, flag, list, name, object, optional, required,
    text, whole, word,
};
use super::hardware::flexibility;
use crate::dataflow::AXES;
use crate::mapspace::{MAX_CLUSTERS, MAX_SIZES};
use xrsim_model::cost::loop_nest::Nest;
use xrsim_model::dataflow::{Axis, Dataflow, LayerMemory, LayerShape, Stationary};
use xrsim_model::mapper::Sizes;

pub(super) fn dataflow() -> Form {
    object([
        required("name", name().says("Name of the dataflow")),
        optional(
            "axes",
            word(AXES.map(|(word, _)| word))
                .or("convolution")
                .says("Names of the axes in directives")
                .remark(
                    "`gemm`: rows M, columns N and reduction K of a product of matrices O = A B.",
                ),
        ),
        optional("stationary", stationary()),
        optional("flexibility", flexibility()),
        optional(
            "layers",
            list(layer())
                .says("Directives for single layers, beside `directives` or instead of them"),
        ),
        optional("directives", directives().says("Directives for all layers, the outermost first")),
    ])
    .with("anyOf", json!([{"required": ["directives"]}, {"required": ["layers"]}]))
    .says("Dataflow: order and distribution of the loops of a layer over time and PEs")
}

fn stationary() -> Form {
    word(Stationary::ALL.map(|(word, _)| word))
        .says("Tensor that a PE keeps in every mapping that the hardware may choose")
}

fn directives() -> Form {
    list(directive()).allowed("a list of directives")
}

fn directive() -> Form {
    let keywords = json!({
        "type": "string",
        "pattern": r"^\s*(?:SpatialMap|TemporalMap|Cluster|OffChip)\b",
        "patternErrorMessage": "a directive is SpatialMap(size,offset) AXIS, TemporalMap(size,offset) AXIS, Cluster(n) or OffChip",
    });
    Form::of(keywords, "`SpatialMap(size,offset) AXIS`, `TemporalMap(size,offset) AXIS`, `Cluster(n)` or `OffChip`")
        .says("A directive")
        .remark("Sizes are whole numbers, or sizes of the layer such as `Sz(R)`.")
}

fn layer() -> Form {
    let tensors = Form::of(
        json!({"type": "array", "items": {"enum": LayerMemory::TENSORS}}),
        "a list of inputs and outputs, which may be empty",
    );
    object([
        required("layer", text().says("Name of the layer, for messages")),
        required("shape", shape().says("Shape of the layers that these directives are for")),
        optional(
            "form",
            shape().says("Another shape with the same products, which the directives map"),
        ),
        optional(
            "free_bytes",
            whole(0..=u64::MAX).says("Bytes that are free in shared memory [byte]"),
        ),
        optional("resident", tensors.says("Tensors that stay in shared memory")),
        required("directives", directives().says("Directives of the layer, the outermost first")),
    ])
    .with("dependencies", json!({"free_bytes": ["resident"], "resident": ["free_bytes"]}))
    .says("Directives for the layers of one shape")
}

fn shape() -> Form {
    const MOST: u32 = Nest::MAX_EXTENT;
    let pair = |least: u32| exactly(2, whole(least..=MOST), "[rows, columns]");
    let extent = |axis: &str| {
        let meaning = match axis {
            "N" => "Batch",
            "G" => "Groups of channels",
            "K" => "Output channels of a group",
            "C" => "Input channels of a group",
            "Y'" => "Output rows",
            "X'" => "Output columns",
            "R" => "Kernel rows",
            _ => "Kernel columns",
        };
        optional(axis, whole(1..=MOST).or(1).says(meaning))
    };
    let further = [
        optional("stride", pair(1).or(json!([1, 1])).says("Strides")),
        optional("dilation", pair(1).or(json!([1, 1])).says("Dilations")),
        optional("padding", pair(0).or(json!([0, 0])).says("Padding in front")),
        optional(
            "input",
            pair(1).says("Input positions that memory stores").remark("Without it, all."),
        ),
        optional("depthwise", flag().or(false).says("Whether the layer is depthwise")),
    ];
    object(LayerShape::AXES.map(extent).into_iter().chain(further))
}

pub(super) fn mapspace() -> Form {
    let size = || whole(1..=Dataflow::MAX_SIZE);
    let sizes = || list(size()).at_most(MAX_SIZES);
    let cluster = any_of([size(), sizes()]).says("Sizes of this cluster");
    object([
        required("name", name().says("Name of the mapspace")),
        optional(
            "clusters",
            list(cluster)
                .allowed("")
                .at_most(MAX_CLUSTERS)
                .says("Sizes of the clusters, the outermost first, a number or a list for each")
                .remark("Without it, they are free."),
        ),
        optional(
            "sizes",
            any_of([word(Sizes::NAMES), sizes()]).or("balanced").says("Sizes of maps"),
        ),
        optional(
            "off_chip",
            flag().or(false).says("Whether loops above the shared memory are searched"),
        ),
        optional("stationary", stationary()),
        optional(
            "levels",
            list(level())
                .at_most(MAX_CLUSTERS + 1)
                .says("Choices of each level, the outermost first")
                .remark("Without it, they are free."),
        ),
        optional(
            "seeds",
            list(dataflow_name())
                .allowed("a list of names (`xrsim list dataflows`) or files")
                .says("Dataflows whose mappings are always evaluated"),
        ),
    ])
    .says("Mappings among which `xrsim map` searches")
}

fn level() -> Form {
    let axis = || word(Axis::ALL.map(|(_, name)| name));
    let axes = || {
        Form::of(
            json!({"type": "array", "items": axis().into_value()}),
            "a list of axes, which may be empty",
        )
    };
    let fixed = directive().remark("Size and offset are one number, as in `TemporalMap(4,4) K`.");
    object([
        optional("spatial", axes().says("Axes that may be spread over units")),
        optional("temporal", axes().says("Axes that may be cut over time")),
        optional(
            "order",
            any_of([word(["any"]), axes()])
                .or("any")
                .says("Order of the loops, the outermost first"),
        ),
        optional(
            "fixed",
            list(fixed).allowed("a list of maps").says("Maps with the size of their axis"),
        ),
    ])
    .says("Choices of a level")
}
