//! Systems under test: the interface that LoadGen issues queries to, and its implementations.
//!
//! [`SystemUnderTest`] is one run of a system. [`ServerSystem`] are servers of a known service time.
//! Accelerators with a scheduler, and the same as a single queue where that gives equal results, are
//! built by an [`AcceleratorBed`](crate::benchmark::AcceleratorBed).

mod accelerator_system;
mod batch_queue;
mod batching;
mod device_run;
mod server_system;
mod service_time;
mod single_queue;
mod system_under_test;
mod tenant;
mod workload;

pub(crate) use accelerator_system::AcceleratorSystem;
pub use batching::Batching;
pub use device_run::DeviceRun;
pub use server_system::{Discipline, ServerSystem};
pub use service_time::ServiceTime;
pub(crate) use single_queue::SingleQueueSystem;
pub use system_under_test::{Completions, Sample, SystemUnderTest};
pub use tenant::{Background, Tenant};
pub use workload::WorkloadError;
pub(crate) use workload::{Workload, check_scheduler};
