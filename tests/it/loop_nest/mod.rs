//! The cost model `loop-nest`: its reference tables, an enumeration of its semantics, invariants, and
//! whole networks.

mod cases;
mod enumerator;
mod invariants;
mod networks;
