//! Mappings that accelerators choose.

use std::sync::Arc;

use xrsim::Catalog;
use xrsim::cost::CostModel as _;
use xrsim::cost::loop_nest::{ChosenLoopNest, LoopNest};
use xrsim::hardware::{Accelerator, Flexibility, Memory, Noc, NocLevel};
use xrsim::mapper::{Chooser, Effort};
use xrsim::units::Bytes;

#[test]
fn more_flexibility_is_never_slower() {
    let mut catalog = Catalog::new();
    let network = catalog.network("KD").expect("a network");
    for dataflow in ["WS", "OS", "RS"] {
        let memory = Memory::new(Bytes::new(8 << 20), Bytes::new(8192), 128);
        let noc = Noc::uniform(NocLevel::new(256));
        let dataflow = catalog.dataflow(dataflow).expect("a dataflow");
        let mut accelerator = Accelerator::new("one", dataflow, 1024, noc, memory);
        let given = LoopNest.network(&network, &accelerator).expect("it runs");
        let chooser = Chooser::new(Effort::new(40, 0, 2), Arc::default());
        let model = ChosenLoopNest::new(Arc::new(chooser));
        let mut least = given.layers;
        for (name, flexibility) in Flexibility::ALL {
            accelerator.flexibility = flexibility;
            let cost = model.network(&network, &accelerator).expect("it runs");
            for (layer, before) in cost.layers.iter().zip(&least) {
                assert!(layer.cycles <= before.cycles, "{name} {layer:?} {before:?}");
            }
            least = cost.layers;
        }
    }
}
