//! Systems under test: the interface that LoadGen issues queries to, and its implementations.

mod accelerator_system;
mod batching;
mod server_system;
mod single_queue;
mod system_under_test;
mod workload;

pub(crate) use accelerator_system::AcceleratorSystem;
pub use batching::Batching;
pub use server_system::{Discipline, ServerSystem, ServiceTime};
pub(crate) use single_queue::SingleQueueSystem;
pub use system_under_test::{Completions, Sample, SystemUnderTest};
pub(crate) use workload::Workload;
pub use workload::{Background, BedError, Tenant};
