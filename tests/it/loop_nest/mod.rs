//! The cost model `loop-nest` (docs/explanation/cost-model-loop-nest.md): reference tables and worked examples, an
//! enumeration of its execution, loops above the shared memory, invariants, and whole networks.

mod cases;
mod cross;
mod enumerator;
mod invariants;
mod networks;
mod off_chip;
mod systolic;
