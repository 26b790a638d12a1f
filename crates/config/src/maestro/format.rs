//! The text format as one of the formats of input files.

use std::sync::Arc;

use crate::document::{Document, wrong_kind};
use crate::format::{Contents, Format, References};
use crate::network::Model;
use crate::{ConfigError, Kind, Problem, extensions};

use super::{Blocks, detect, parse_dataflows, parse_hardware, parse_networks, scenario};

/// The published artifact's own text format.
pub(crate) const FORMAT: Format = Format {
    name: "MAESTRO",
    extensions: extensions::MAESTRO,
    kinds: KINDS,
    has_members: true,
    recognise,
    read,
};

const KINDS: &[Kind] = &[Kind::Network, Kind::Scenario, Kind::Dataflow, Kind::System];

fn recognise(file: &Document, allowed: &[Kind]) -> Result<Kind, ConfigError> {
    let found = kind(file).map_err(|problems| file.invalid(problems))?;
    match allowed.contains(&found) {
        true => Ok(found),
        false => Err(file.invalid(vec![wrong_kind(found, allowed)])),
    }
}

/// Kind of a file. Networks are a scenario if any of them has a rate.
fn kind(file: &Document) -> Result<Kind, Vec<Problem>> {
    Ok(match detect(&file.source).map_err(|problem| vec![problem])? {
        Blocks::Networks => {
            let blocks = parse_networks(&file.source)?;
            match blocks.iter().any(|block| block.fps.is_some()) {
                true => Kind::Scenario,
                false => Kind::Network,
            }
        }
        Blocks::Dataflows => Kind::Dataflow,
        Blocks::Hardware => Kind::System,
    })
}

fn read(file: &Document, kind: Kind, _: &mut dyn References) -> Result<Contents, ConfigError> {
    let source = &file.source;
    let contents = match kind {
        Kind::Network => parse_networks(source).map(|blocks| {
            let model = |network| Arc::new(Model::bare(Arc::new(network)));
            Contents::Networks(blocks.into_iter().map(|block| model(block.network)).collect())
        }),
        Kind::Scenario => {
            scenario(source, &file.stem()).map(|scenario| Contents::Scenario(Arc::new(scenario)))
        }
        Kind::Dataflow => parse_dataflows(source)
            .map(|dataflows| Contents::Dataflows(dataflows.into_iter().map(Arc::new).collect())),
        Kind::System => parse_hardware(source).map(Contents::Instances),
        _ => Err(vec![wrong_kind(kind, KINDS)]),
    };
    contents.map_err(|problems| file.invalid(problems))
}
