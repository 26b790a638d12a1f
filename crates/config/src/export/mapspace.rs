//! Mapspaces as YAML text.

use serde::Serialize;
use serde_saphyr::{FlowMap, FlowSeq};

use xrsim_model::cost::loop_nest::Axis;
use xrsim_model::mapper::{AxisSet, DeclaredSpace, LevelSpace, Sizes};

use super::document;

#[derive(Serialize)]
struct Body<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    clusters: Option<FlowSeq<Vec<FlowSeq<&'a Vec<u32>>>>>,
    sizes: SizesBody<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    off_chip: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stationary: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    levels: Vec<FlowMap<Level>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    seeds: Vec<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum SizesBody<'a> {
    Family(String),
    List(FlowSeq<&'a [u32]>),
}

#[derive(Serialize)]
struct Level {
    #[serde(skip_serializing_if = "Option::is_none")]
    spatial: Option<FlowSeq<Vec<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temporal: Option<FlowSeq<Vec<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<FlowSeq<Vec<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<FlowSeq<Vec<String>>>,
}

/// The `mapspace:` file of `space`, called `name`. Seeds are written by their names.
pub fn mapspace(name: &str, space: &DeclaredSpace) -> String {
    let sizes = match &space.sizes {
        Sizes::List(sizes) => SizesBody::List(FlowSeq(sizes)),
        family => SizesBody::Family(family.to_string()),
    };
    let body = Body {
        name,
        clusters: space.clusters.as_ref().map(|it| FlowSeq(it.iter().map(FlowSeq).collect())),
        sizes,
        off_chip: space.off_chip,
        stationary: space.stationary.map(|it| it.name()),
        levels: space.levels.iter().map(level).collect(),
        seeds: space.seeds.iter().map(|seed| seed.name()).collect(),
    };
    document("mapspace", body)
}

fn level(level: &LevelSpace) -> FlowMap<Level> {
    let names = |axes: Vec<Axis>| FlowSeq(axes.iter().map(Axis::to_string).collect());
    let set = |set: AxisSet| (set != AxisSet::ALL).then(|| names(set.iter().collect()));
    let fixed = |(axis, size): &(Axis, u32)| format!("TemporalMap({size},{size}) {axis}");
    let fixed: Vec<_> = level.fixed.iter().map(fixed).collect();
    FlowMap(Level {
        spatial: set(level.spatial),
        temporal: set(level.temporal),
        order: level.order.clone().map(names),
        fixed: (!fixed.is_empty()).then_some(FlowSeq(fixed)),
    })
}
